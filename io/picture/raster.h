// The visibility buffer of one tile of the picture, with eight samples per pixel: which triangle is
// visible where.
//
// Vertices are snapped to 1/256 of a pixel, and coverage is decided in integers by edge functions.
// A sample on a shared edge belongs to exactly one side, so neighbouring triangles leave no gap and
// cover nothing twice, at any size. Depth is 1/w, which is linear on the screen; closer is larger.
// Barycentric coordinates follow from planes that need no clipping (Olano and Greer 1997); only the
// outline of a triangle is clipped.
#ifndef SN_IO_PICTURE_RASTER_H
#define SN_IO_PICTURE_RASTER_H

#include <stdbool.h>
#include <stdint.h>

enum {
    SN_RASTER_TILE = 16,    // pixels along the side of a tile
    SN_RASTER_SAMPLES = 8,  // of a pixel
    SN_RASTER_UNIT = 256,   // fixed-point units of a pixel
    SN_RASTER_BAND = 16384, // pixels from the picture's corner to which outlines are clipped
    SN_RASTER_NOTHING = -1, // a sample that no face covers
};

// Offsets of the samples from the pixel's middle, in sixteenths of a pixel, x then y.
extern const int8_t sn_raster_offsets[SN_RASTER_SAMPLES][2];

// An outline on the screen, in fixed-point units, in an order of positive area; part of one face.
typedef struct sn_raster_outline {
    int32_t x[3], y[3];
    int32_t face;
} sn_raster_outline;

// The planes of a face: value and slopes in x and y, relative to the pixel position (x, y).
typedef struct sn_raster_planes {
    float x, y;
    float depth[3];  // 1/w
    float low, high; // range over the vertices: a face seen edge on has meaningless slopes
    float b1[3];     // barycentric coordinate of the second vertex, over w
    float b2[3];     // and of the third
} sn_raster_planes;

typedef struct sn_raster_vertex {
    double x, y, w; // screen position times w [pixels], and the distance along the view direction
} sn_raster_vertex;

// Outlines of one clipped triangle: five planes add a vertex each, rounding possibly one more.
enum { SN_RASTER_MOST_OUTLINES = 7 };

typedef struct sn_raster_setup {
    int32_t count; // outlines; 0 if nothing is visible
    bool back;     // the vertices run clockwise on the screen, whose y points down
    sn_raster_outline outlines[SN_RASTER_MOST_OUTLINES];
    sn_raster_planes planes;
} sn_raster_setup;

// Clips a triangle to w >= near and to the band, snaps it and computes its planes. With
// `fronts_only`, backs are not visible.
void sn_raster_setup_triangle(sn_raster_setup *setup, const sn_raster_vertex vertices[3],
                              double near, bool fronts_only, int32_t face);

typedef struct sn_raster_tile {
    int32_t x, y; // the first pixel
    float depth[SN_RASTER_TILE * SN_RASTER_TILE][SN_RASTER_SAMPLES];
    int32_t face[SN_RASTER_TILE * SN_RASTER_TILE][SN_RASTER_SAMPLES];
} sn_raster_tile;

void sn_raster_clear(sn_raster_tile *tile, int32_t x, int32_t y);

// Draws one outline; at equal depth the earlier one stays.
void sn_raster_draw(sn_raster_tile *tile, const sn_raster_outline *outline,
                    const sn_raster_planes *planes);

// Perspective-correct barycentric coordinates at a pixel position, clamped to the triangle; returns
// w.
float sn_raster_barycentric(float b[3], const sn_raster_planes *planes, float x, float y);

#endif
