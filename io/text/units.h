// Units of length by name: one table for scenes, headers of volumes and the command line.
#ifndef SN_IO_TEXT_UNITS_H
#define SN_IO_TEXT_UNITS_H

#include "io/text/text.h"

// The units that help and messages list: m, cm, mm, um, nm, in, ft, in this order.
enum { SN_UNIT_COUNT = 7 };
extern const char *const sn_unit_names[SN_UNIT_COUNT];

// Metres in a unit, by its name in any case or one of the longer names that headers use ("mm",
// "millimetre", "micron"); 0 if it is unknown.
double sn_unit_find(sn_word name);

#endif
