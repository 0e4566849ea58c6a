// Reads PNG files as maps: the red of each pixel, or its grey, between 0 and 1.
#ifndef SN_IO_PICTURE_READ_PNG_H
#define SN_IO_PICTURE_READ_PNG_H

#include "base/memory.h"
#include "io/bytes/source.h"

typedef struct sn_png_map {
    int32_t width, height;
    const float *values; // row after row from the top
} sn_png_map;

// All color types and depths; interlaced files are refused. The values live in the arena. Cost:
// the size of the picture.
sinew_status sn_png_read(sinew_context *context, const sn_source *source, sn_arena *arena,
                         sn_png_map *map);

// The value at texture coordinates, between the four nearest pixels; (0, 0) is the upper left
// corner, and the picture repeats.
double sn_png_sample(const sn_png_map *map, double u, double v);

#endif
