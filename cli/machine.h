// The machine that a measurement was made on, in words for a report.
#ifndef CLI_MACHINE_H
#define CLI_MACHINE_H

#include <stddef.h>

// "AMD EPYC, 2 cores, load average 1.2"
void cli_describe_machine(char *text, size_t size);

#endif
