// Numbers along an axis: the positions of the ticks and their labels. For legends and plots.
#ifndef SN_IO_PICTURE_TICKS_H
#define SN_IO_PICTURE_TICKS_H

#include "io/bytes/buffer.h"

enum { SN_TICKS_MOST = 24, SN_TICK_LABEL_SIZE = 64 };

typedef struct sn_ticks {
    int32_t count;
    double step; // between two ticks; logarithmic: in decades, or 0 if there are ticks within them
    double values[SN_TICKS_MOST];
} sn_ticks;

// Round numbers (1, 2 or 5 times a power of ten apart) in [low, high], about `wanted` of them, at
// most twice as many. A range that is empty or not finite has none.
sn_ticks sn_ticks_linear(double low, double high, int32_t wanted);

// Powers of ten in [low, high]: all of them, every n-th if there are many, and also 2 and 5 times
// them if there are few.
sn_ticks sn_ticks_logarithmic(double low, double high, int32_t wanted);

// A value as UTF-8 with the digits that a step between ticks requires: "0.25", "−3", "1.5e−7".
void sn_tick_label(char label[SN_TICK_LABEL_SIZE], double value, double step);

// Appends a finite number with a fixed number of decimals in [0, 15] and a plain hyphen, rounded
// half up.
void sn_buffer_add_fixed(sn_buffer *buffer, double value, int32_t decimals);

#endif
