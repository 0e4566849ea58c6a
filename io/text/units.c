// The table of units, and the longer names that headers of volumes use for some of them.
#include "io/text/units.h"

const char *const sn_unit_names[SN_UNIT_COUNT] = {"m", "cm", "mm", "um", "nm", "in", "ft"};
static const double metres[SN_UNIT_COUNT] = {1, 1e-2, 1e-3, 1e-6, 1e-9, 0.0254, 0.3048};

static const struct {
    const char *name;
    double metres;
} others[] = {{"meter", 1},         {"metre", 1},         {"meters", 1},       {"metres", 1},
              {"millimeter", 1e-3}, {"millimetre", 1e-3}, {"\xC2\xB5m", 1e-6}, {"micron", 1e-6},
              {"microns", 1e-6},    {"micrometer", 1e-6}};

double sn_unit_find(sn_word name) {
    for (size_t i = 0; i < SN_UNIT_COUNT; i++) {
        if (sn_word_is_like(name, sn_unit_names[i])) {
            return metres[i];
        }
    }

    for (size_t i = 0; i < sizeof others / sizeof *others; i++) {
        if (sn_word_is_like(name, others[i].name)) {
            return others[i].metres;
        }
    }

    return 0;
}
