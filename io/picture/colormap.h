// Colour maps: from a number in [0, 1] to a colour, with steps that look equal; and a palette for
// named things.
//
// A map is a curve through a few control points in CIELAB, traversed at constant speed, so that
// equal differences of the value look equally different (the ratio of the largest to the smallest
// step is tested). Sequential maps rise or fall in lightness throughout; the diverging map rises to
// its middle and falls again symmetrically.
#ifndef SN_IO_PICTURE_COLORMAP_H
#define SN_IO_PICTURE_COLORMAP_H

#include "io/picture/picture.h"

typedef enum sn_colormap_kind {
    SN_COLORMAP_LAGOON, // indigo, teal, green, pale yellow
    SN_COLORMAP_EMBER,  // cream, orange, crimson, aubergine: small values stay light
    SN_COLORMAP_TIDE,   // diverging: blue, almost white, red
    SN_COLORMAP_KINDS
} sn_colormap_kind;

enum { SN_COLORMAP_STEPS = 256 };

typedef struct sn_colormap {
    sn_color steps[SN_COLORMAP_STEPS];
} sn_colormap;

void sn_colormap_init(sn_colormap *map, sn_colormap_kind kind);

// The colour at t, clamped to [0, 1]. NaN becomes a grey that no map contains.
sn_color sn_colormap_at(const sn_colormap *map, double t);

enum { SN_PALETTE_SIZE = 10 };

// Colour `index` of the palette, modulo its size; indices may be negative.
sn_color sn_palette(int32_t index);
uint32_t sn_palette_hex(int32_t index); // as 0xRRGGBB

// The palette mixed by weights: the colour of a point that follows several frames. Negative weights
// count as zero; without a positive weight the colour is grey.
sn_color sn_palette_blend(const double *weights, int32_t count);

#endif
