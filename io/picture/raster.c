// The rasteriser. Edge functions use 64-bit integers: coordinates are below 2^23, products below
// 2^47.
#include "io/picture/raster.h"

#include "base/assert.h"

#include <math.h>

// Each row and each column of an 8 x 8 grid contains one sample, so that nearly vertical and
// horizontal edges get eight steps.
const int8_t sn_raster_offsets[SN_RASTER_SAMPLES][2] = {{1, -3}, {-1, 3},  {5, 1}, {-3, -5},
                                                        {-5, 5}, {-7, -1}, {3, 7}, {7, -7}};

enum {
    SAMPLE_UNIT = SN_RASTER_UNIT / 16,
    SAMPLE_REACH = 7 * SAMPLE_UNIT,
    MOST_CORNERS = 3 + 5 + 1
};

// ---- clipping ----

// Signed distance to one of the planes: in front of the eye, then the four sides of the band.
static double clip_distance(const sn_raster_vertex *v, int plane, double near) {
    switch (plane) {
    case 0: return v->w - near;
    case 1: return v->x + SN_RASTER_BAND * v->w;
    case 2: return SN_RASTER_BAND * v->w - v->x;
    case 3: return v->y + SN_RASTER_BAND * v->w;
    default: return SN_RASTER_BAND * v->w - v->y;
    }
}

// Clips a convex polygon by one plane (Sutherland and Hodgman 1974). A cut runs from the vertex
// inside to the one outside in both triangles of a shared edge, so both compute the same point.
// Rounding may make a sliver cross a plane more than twice; one with too many corners is dropped.
static int clip_by(sn_raster_vertex *result, const sn_raster_vertex *polygon, int count, int plane,
                   double near) {
    int kept = 0;
    for (int i = 0; i < count; i++) {
        const sn_raster_vertex *a = &polygon[i];
        const sn_raster_vertex *b = &polygon[(i + 1) % count];
        double da = clip_distance(a, plane, near);
        double db = clip_distance(b, plane, near);

        if (kept + 2 > MOST_CORNERS) {
            return 0;
        }
        if (da >= 0) {
            result[kept++] = *a;
        }
        if ((da >= 0) == (db >= 0)) {
            continue;
        }

        // The point on the plane; rounding must not put it behind the eye.
        const sn_raster_vertex *in = da >= 0 ? a : b;
        const sn_raster_vertex *out = da >= 0 ? b : a;
        double t = da >= 0 ? da / (da - db) : db / (db - da);
        double w = fmax(in->w + t * (out->w - in->w), near);

        result[kept++] =
            (sn_raster_vertex){in->x + t * (out->x - in->x), in->y + t * (out->y - in->y), w};
    }

    SN_ASSERT(kept <= MOST_CORNERS);
    return kept;
}

static int clip(sn_raster_vertex *polygon, double near) {
    int count = 3;
    for (int plane = 0; plane < 5 && count >= 3; plane++) {
        bool outside = false;
        for (int i = 0; i < count; i++) {
            outside |= !(clip_distance(&polygon[i], plane, near) >= 0);
        }

        if (!outside) {
            continue;
        }

        sn_raster_vertex cut[MOST_CORNERS];
        count = clip_by(cut, polygon, count, plane, near);
        for (int i = 0; i < count; i++) {
            polygon[i] = cut[i];
        }
    }

    return count >= 3 ? count : 0;
}

// ---- set-up ----

// With M = (v0 v1 v2), v = (x w, y w, w), a screen position p = (x, y, 1) satisfies b / w = M^-1 p:
// the rows of the inverse are planes. Positions are relative to the first visible corner, so that
// the planes are accurate enough in single precision.
static bool compute_planes(sn_raster_planes *planes, const sn_raster_vertex *v, double near,
                           double ox, double oy) {
    double x[3], y[3];
    for (int i = 0; i < 3; i++) {
        x[i] = v[i].x - ox * v[i].w;
        y[i] = v[i].y - oy * v[i].w;
    }

    double rows[3][3];
    for (int i = 0; i < 3; i++) {
        int j = (i + 1) % 3;
        int k = (i + 2) % 3;
        rows[i][0] = x[j] * y[k] - x[k] * y[j];
        rows[i][1] = y[j] * v[k].w - y[k] * v[j].w;
        rows[i][2] = v[j].w * x[k] - v[k].w * x[j];
    }

    // Scale by the determinant, and bound the depth.
    double determinant = v[0].w * rows[0][0] + x[0] * rows[0][1] + y[0] * rows[0][2];
    double inverse = 1 / determinant;

    planes->x = (float)ox;
    planes->y = (float)oy;
    planes->low = (float)(1 / fmax(fmax(v[0].w, v[1].w), v[2].w));
    planes->high = (float)(1 / fmax(fmin(fmin(v[0].w, v[1].w), v[2].w), near));

    for (int c = 0; c < 3; c++) {
        planes->b1[c] = (float)(inverse * rows[1][c]);
        planes->b2[c] = (float)(inverse * rows[2][c]);
        planes->depth[c] = (float)(inverse * (rows[0][c] + rows[1][c] + rows[2][c]));
    }

    for (int c = 0; c < 3; c++) {
        if (!isfinite(planes->depth[c]) || !isfinite(planes->b1[c]) || !isfinite(planes->b2[c])) {
            return false;
        }
    }

    return true;
}

static int64_t doubled_area(const int32_t x[3], const int32_t y[3]) {
    return (int64_t)(x[1] - x[0]) * (y[2] - y[0]) - (int64_t)(y[1] - y[0]) * (x[2] - x[0]);
}

// To fixed point; cuts of huge triangles may be inaccurate.
static int32_t snap(double pixels) {
    return (int32_t)lrint(fmin(fmax(pixels, -SN_RASTER_BAND), SN_RASTER_BAND) * SN_RASTER_UNIT);
}

void sn_raster_setup_triangle(sn_raster_setup *setup, const sn_raster_vertex vertices[3],
                              double near, bool fronts_only, int32_t face) {
    setup->count = 0;
    setup->back = true;

    sn_raster_vertex polygon[MOST_CORNERS] = {vertices[0], vertices[1], vertices[2]};
    for (int i = 0; i < 3; i++) {
        if (!isfinite(vertices[i].x) || !isfinite(vertices[i].y) || !isfinite(vertices[i].w)) {
            return;
        }
    }

    // Clip, and snap the corners to fixed point.
    int corners = clip(polygon, near);
    int32_t x[MOST_CORNERS], y[MOST_CORNERS];
    for (int i = 0; i < corners; i++) {
        SN_ASSERT(polygon[i].w > 0);
        x[i] = snap(polygon[i].x / polygon[i].w);
        y[i] = snap(polygon[i].y / polygon[i].w);
    }

    // A fan of outlines with positive area; y points down, so a front has negative area here.
    for (int i = 2; i < corners; i++) {
        SN_ASSERT(setup->count < SN_RASTER_MOST_OUTLINES);

        sn_raster_outline *outline = &setup->outlines[setup->count];
        *outline = (sn_raster_outline){
            .x = {x[0], x[i - 1], x[i]}, .y = {y[0], y[i - 1], y[i]}, .face = face};
        int64_t area = doubled_area(outline->x, outline->y);
        if (area == 0) {
            continue;
        }
        if (area < 0) {
            setup->back = false;
            outline->x[1] = x[i];
            outline->y[1] = y[i];
            outline->x[2] = x[i - 1];
            outline->y[2] = y[i - 1];
        }
        setup->count++;
    }

    if (fronts_only && setup->back) {
        setup->count = 0;
    }
    if (setup->count == 0) {
        return;
    }

    // Planes of the original triangle.
    double ox = floor(polygon[0].x / polygon[0].w);
    double oy = floor(polygon[0].y / polygon[0].w);
    if (!compute_planes(&setup->planes, vertices, near, ox, oy)) {
        setup->count = 0;
    }
}

// ---- drawing ----

// An edge from a to b as the function (b - a) x (p - a), minus one if samples on the edge do not
// belong to it. They belong to edges that go up, or level to the right; neighbours traverse a
// shared edge in opposite directions. Inside is >= 0.
typedef struct edge {
    int64_t value;  // at the middle of the first pixel
    int64_t dx, dy; // change for a sixteenth of a pixel
    int64_t reach;  // bound of the difference between the samples of a pixel and its middle
} edge;

static edge make_edge(const sn_raster_outline *o, int i, int32_t px, int32_t py) {
    int j = (i + 1) % 3;
    int64_t dx = o->x[j] - o->x[i];
    int64_t dy = o->y[j] - o->y[i];
    int64_t mx = (int64_t)px * SN_RASTER_UNIT + SN_RASTER_UNIT / 2 - o->x[i];
    int64_t my = (int64_t)py * SN_RASTER_UNIT + SN_RASTER_UNIT / 2 - o->y[i];
    bool ours = dy < 0 || (dy == 0 && dx > 0);

    return (edge){.value = dx * my - dy * mx - (ours ? 0 : 1),
                  .dx = -dy * SAMPLE_UNIT,
                  .dy = dx * SAMPLE_UNIT,
                  .reach = ((dx < 0 ? -dx : dx) + (dy < 0 ? -dy : dy)) * SAMPLE_REACH};
}

// The data for drawing one outline in one tile: pixels, edges and depths.
typedef struct drawing {
    int32_t left, right, top, bottom; // pixels, inclusive
    edge edges[3];
    float depth_offsets[SN_RASTER_SAMPLES];
    const sn_raster_planes *planes;
    int32_t face;
} drawing;

// Draws the samples of a pixel whose `outside` is not negative. Short loops without branches, which
// compilers vectorise.
static void draw_samples(float *restrict depth, int32_t *restrict face, const drawing *restrict d,
                         const int32_t outside[restrict SN_RASTER_SAMPLES], float z) {
    float low = d->planes->low;
    float high = d->planes->high;
    float at[SN_RASTER_SAMPLES];
    int32_t id = d->face;
    int32_t seen[SN_RASTER_SAMPLES]; // all bits, or none

    // Depths, inside the range of the triangle.
    for (int s = 0; s < SN_RASTER_SAMPLES; s++) {
        float value = z + d->depth_offsets[s];
        value = value > low ? value : low;
        at[s] = value < high ? value : high;
    }

    // Where the triangle is in front.
    for (int s = 0; s < SN_RASTER_SAMPLES; s++) {
        seen[s] = ((outside[s] >= 0) & (at[s] > depth[s])) ? -1 : 0;
    }

    // Take over face and depth there.
    for (int s = 0; s < SN_RASTER_SAMPLES; s++) {
        face[s] = (id & seen[s]) | (face[s] & ~seen[s]);
    }

    for (int s = 0; s < SN_RASTER_SAMPLES; s++) {
        depth[s] = seen[s] ? at[s] : depth[s];
    }
}

// Draws an outline small enough for 32 bits. The three functions of a sample are all >= 0 if their
// bitwise "or" is.
static void draw_small(sn_raster_tile *tile, const drawing *d) {
    int32_t value[3], step[3], row[3], reach[3], offsets[3][SN_RASTER_SAMPLES];
    for (int k = 0; k < 3; k++) {
        value[k] = (int32_t)d->edges[k].value;
        reach[k] = (int32_t)d->edges[k].reach;
        step[k] = (int32_t)d->edges[k].dx * 16;
        row[k] = (int32_t)d->edges[k].dy * 16;

        for (int s = 0; s < SN_RASTER_SAMPLES; s++) {
            offsets[k][s] = sn_raster_offsets[s][0] * (int32_t)d->edges[k].dx +
                            sn_raster_offsets[s][1] * (int32_t)d->edges[k].dy;
        }
    }

    const sn_raster_planes *planes = d->planes;

    // Walk the pixels row by row, updating functions and depth incrementally.
    for (int32_t y = d->top; y <= d->bottom; y++) {
        int32_t v0 = value[0];
        int32_t v1 = value[1];
        int32_t v2 = value[2];
        float z = planes->depth[0] + planes->depth[1] * ((float)d->left + 0.5f - planes->x) +
                  planes->depth[2] * ((float)y + 0.5f - planes->y);
        int32_t pixel = (y - tile->y) * SN_RASTER_TILE + d->left - tile->x;

        for (int32_t x = d->left; x <= d->right; x++, pixel++) {
            if (((v0 + reach[0]) | (v1 + reach[1]) | (v2 + reach[2])) >= 0) {
                int32_t outside[SN_RASTER_SAMPLES];
                for (int s = 0; s < SN_RASTER_SAMPLES; s++) {
                    outside[s] = (v0 + offsets[0][s]) | (v1 + offsets[1][s]) | (v2 + offsets[2][s]);
                }
                draw_samples(tile->depth[pixel], tile->face[pixel], d, outside, z);
            }

            v0 += step[0];
            v1 += step[1];
            v2 += step[2];
            z += planes->depth[1];
        }

        for (int k = 0; k < 3; k++) {
            value[k] += row[k];
        }
    }
}

// Draws any outline, in 64 bits.
static void draw_large(sn_raster_tile *tile, const drawing *d) {
    const sn_raster_planes *planes = d->planes;
    for (int32_t y = d->top; y <= d->bottom; y++) {
        for (int32_t x = d->left; x <= d->right; x++) {
            int32_t outside[SN_RASTER_SAMPLES] = {0};
            bool touched = true;

            // Test the samples only where an edge passes through the pixel.
            for (int k = 0; k < 3 && touched; k++) {
                const edge *e = &d->edges[k];
                int64_t value = e->value + 16 * ((x - d->left) * e->dx + (y - d->top) * e->dy);
                touched = value + e->reach >= 0;

                if (touched && value < e->reach) {
                    for (int s = 0; s < SN_RASTER_SAMPLES; s++) {
                        if (value + sn_raster_offsets[s][0] * e->dx +
                                sn_raster_offsets[s][1] * e->dy <
                            0) {
                            outside[s] = -1;
                        }
                    }
                }
            }

            if (!touched) {
                continue;
            }

            int32_t pixel = (y - tile->y) * SN_RASTER_TILE + x - tile->x;
            float z = planes->depth[0] + planes->depth[1] * ((float)x + 0.5f - planes->x) +
                      planes->depth[2] * ((float)y + 0.5f - planes->y);

            draw_samples(tile->depth[pixel], tile->face[pixel], d, outside, z);
        }
    }
}

static int32_t smallest(const int32_t v[3]) {
    int32_t m = v[0] < v[1] ? v[0] : v[1];
    return m < v[2] ? m : v[2];
}

static int32_t largest(const int32_t v[3]) {
    int32_t m = v[0] > v[1] ? v[0] : v[1];
    return m > v[2] ? m : v[2];
}

// The pixel of a fixed-point coordinate, clipped to the tile [first, first + SN_RASTER_TILE).
static int32_t tile_pixel(int32_t coordinate, int32_t first) {
    SN_ASSERT(first >= 0 && first <= SN_RASTER_BAND);
    int32_t place = coordinate - first * SN_RASTER_UNIT;
    int32_t pixel = place < 0 ? 0 : place / SN_RASTER_UNIT;
    return first + (pixel < SN_RASTER_TILE ? pixel : SN_RASTER_TILE - 1);
}

void sn_raster_clear(sn_raster_tile *tile, int32_t x, int32_t y) {
    tile->x = x;
    tile->y = y;
    for (int i = 0; i < SN_RASTER_TILE * SN_RASTER_TILE; i++) {
        for (int s = 0; s < SN_RASTER_SAMPLES; s++) {
            tile->depth[i][s] = 0;
            tile->face[i][s] = SN_RASTER_NOTHING;
        }
    }
}

void sn_raster_draw(sn_raster_tile *tile, const sn_raster_outline *outline,
                    const sn_raster_planes *planes) {
    SN_ASSERT(doubled_area(outline->x, outline->y) > 0);
    int32_t x0 = smallest(outline->x);
    int32_t x1 = largest(outline->x);
    int32_t y0 = smallest(outline->y);
    int32_t y1 = largest(outline->y);
    const int32_t unit = SN_RASTER_UNIT;

    // Outside the tile.
    if (x1 < tile->x * unit || x0 >= (tile->x + SN_RASTER_TILE) * unit) {
        return;
    }
    if (y1 < tile->y * unit || y0 >= (tile->y + SN_RASTER_TILE) * unit) {
        return;
    }

    drawing d = {.left = tile_pixel(x0, tile->x),
                 .right = tile_pixel(x1, tile->x),
                 .planes = planes,
                 .face = outline->face};

    d.top = tile_pixel(y0, tile->y);
    d.bottom = tile_pixel(y1, tile->y);
    for (int k = 0; k < 3; k++) {
        d.edges[k] = make_edge(outline, k, d.left, d.top);
    }

    for (int s = 0; s < SN_RASTER_SAMPLES; s++) {
        d.depth_offsets[s] = ((float)sn_raster_offsets[s][0] * planes->depth[1] +
                              (float)sn_raster_offsets[s][1] * planes->depth[2]) /
                             16;
    }

    // Edges are within 2^14 units and pixels within a tile of them, so products and sums stay below
    // 2^31.
    if (x1 - x0 < 1 << 14 && y1 - y0 < 1 << 14) {
        draw_small(tile, &d);
    } else {
        draw_large(tile, &d);
    }
}

float sn_raster_barycentric(float b[3], const sn_raster_planes *planes, float x, float y) {
    float dx = x - planes->x;
    float dy = y - planes->y;
    float depth = planes->depth[0] + dx * planes->depth[1] + dy * planes->depth[2];
    float w = depth > 1e-12f ? 1 / depth : 1e12f;

    b[1] = w * (planes->b1[0] + dx * planes->b1[1] + dy * planes->b1[2]);
    b[2] = w * (planes->b2[0] + dx * planes->b2[1] + dy * planes->b2[2]);
    b[0] = 1 - b[1] - b[2];
    if (b[0] >= 0 && b[1] >= 0 && b[2] >= 0) {
        return w;
    }

    // A position between samples may be slightly outside, and planes of a sliver may give anything.
    for (int i = 0; i < 3; i++) {
        b[i] = b[i] > 0 ? b[i] < 1 ? b[i] : 1 : 0;
    }

    float sum = b[0] + b[1] + b[2];
    float inverse = sum > 0 ? 1 / sum : 1;
    if (!(sum > 0)) {
        b[0] = 1;
    }

    for (int i = 0; i < 3; i++) {
        b[i] *= inverse;
    }

    return w;
}
