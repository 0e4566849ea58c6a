// Seconds since some fixed moment, for reports. Never part of a result.
#ifndef SN_BASE_CLOCK_H
#define SN_BASE_CLOCK_H

#include <time.h>

static inline double sn_seconds(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

#endif
