// Describes the machine and measures time, for reports.
#define _DEFAULT_SOURCE // getloadavg

#include "machine.h"

#include "clock.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

// The first "model name" of /proc/cpuinfo, where there is one.
static void read_processor(char *name, size_t size) {
    snprintf(name, size, "unknown processor");
    FILE *file = fopen("/proc/cpuinfo", "r");
    if (!file) {
        return;
    }

    char line[256];
    while (fgets(line, sizeof line, file)) {
        const char *colon = strchr(line, ':');
        if (strncmp(line, "model name", 10) != 0 || !colon) {
            continue;
        }

        line[strcspn(line, "\n")] = 0;
        snprintf(name, size, "%s", colon + 1 + strspn(colon + 1, " "));
        break;
    }

    fclose(file);
}

void cli_describe_machine(char *text, size_t size) {
    char processor[128];
    double load = 0;
    read_processor(processor, sizeof processor);
    long cores = sysconf(_SC_NPROCESSORS_ONLN);

    if (getloadavg(&load, 1) == 1) {
        snprintf(text, size, "%s, %ld cores, load average %.1f", processor, cores, load);
    } else {
        snprintf(text, size, "%s, %ld cores", processor, cores);
    }
}

double cli_measured_seconds(const sinew_context *context) {
    if (sinew_context_get_thread_count(context) > 1) {
        return cli_seconds();
    }

    struct timespec used;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &used);
    return (double)used.tv_sec + 1e-9 * (double)used.tv_nsec;
}
