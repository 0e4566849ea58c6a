// The machine that a measurement was made on, in words for a report.
#ifndef CLI_MACHINE_H
#define CLI_MACHINE_H

#include "sinew/base.h"

// "AMD EPYC, 2 cores, load average 1.2"
void cli_describe_machine(char *text, size_t size);

// The clock of all measurements. With one thread it is the processor time of the program, which
// other programs on the machine disturb less; with more it is the wall clock.
double cli_measured_seconds(const sinew_context *context);

#endif
