// Colour maps: from a number in [0, 1] to a colour, with steps that look equal; and a palette for
// things that have names.
//
// A map is a curve through a few control points in CIELAB, walked at constant speed, so that equal
// differences of the value are equal differences to the eye (the largest step over the smallest is
// tested). The sequential maps rise or fall in lightness all the way; the diverging one rises to
// its middle and falls again in the same way.
#ifndef SN_IO_PICTURE_COLORMAP_H
#define SN_IO_PICTURE_COLORMAP_H

#include "io/picture/picture.h"

typedef enum sn_colormap_kind {
    SN_COLORMAP_LAGOON, // indigo, teal, green, pale yellow
    SN_COLORMAP_EMBER,  // cream, orange, crimson, aubergine: what is at rest stays light
    SN_COLORMAP_TIDE,   // diverging: blue, near white, red
    SN_COLORMAP_KINDS
} sn_colormap_kind;

enum { SN_COLORMAP_STEPS = 256 };

typedef struct sn_colormap {
    sn_color steps[SN_COLORMAP_STEPS];
} sn_colormap;

void sn_colormap_init(sn_colormap *map, sn_colormap_kind kind);

// The colour at t, clamped to [0, 1]. A NaN is a grey that no map contains.
sn_color sn_colormap_at(const sn_colormap *map, double t);

enum { SN_PALETTE_SIZE = 10 };

// Colour `index` of the palette, counted round and round; negative indices too.
sn_color sn_palette(int32_t index);
uint32_t sn_palette_hex(int32_t index); // as 0xRRGGBB

// The palette mixed by weights: what a point looks like that follows several frames. Negative
// weights count as zero; no positive weight gives grey.
sn_color sn_palette_blend(const double *weights, int32_t count);

#endif
