// Seconds since some fixed moment, for progress and reports.
#ifndef CLI_CLOCK_H
#define CLI_CLOCK_H

#include <time.h>

static inline double cli_seconds(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

#endif
