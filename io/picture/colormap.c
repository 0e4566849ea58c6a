// Colour maps by interpolation in CIELAB: a Catmull-Rom curve through the control points, evaluated
// at equal steps of its arc length. The control points were chosen so that no point of a curve
// leaves the screen's gamut (tested).
#include "io/picture/colormap.h"

#include <math.h>
#include <string.h>

enum { CURVE_STEPS = 2048, CONTROL_POINTS = 5 };

typedef struct control {
    double L, chroma, hue; // CIELAB in polar form, hue in degrees
} control;

// Lightness in equal steps, hue changing in one direction, chroma large but within the gamut.
static const control controls[SN_COLORMAP_KINDS][CONTROL_POINTS] = {
    [SN_COLORMAP_LAGOON] =
        {{25, 50, 304}, {41, 44, 282}, {58, 31, 215}, {76, 48, 143}, {93, 66, 103}},
    [SN_COLORMAP_EMBER] = {{94, 17, 94}, {76, 58, 72}, {57, 66, 34}, {39, 56, 352}, {21, 38, 308}},
    [SN_COLORMAP_TIDE] = {{36, 46, 281}, {66, 32, 264}, {95, 0, 0}, {66, 44, 42}, {36, 58, 28}},
};

// The first six colours are distinct even without red or green cones (tested), their lightness
// is medium so that shading shows, and neighbours in the list differ strongly.
static const uint32_t palette[SN_PALETTE_SIZE] = {0x2468a6, 0xd9792b, 0x58c0a0, 0xc93c58, 0xa883ec,
                                                  0xd8c544, 0x5cc7e8, 0xd886b6, 0x74562f, 0x70697c};

static sn_lab control_lab(const control *c) {
    double hue = c->hue * (3.14159265358979323846 / 180);
    return (sn_lab){c->L, c->chroma * cos(hue), c->chroma * sin(hue)};
}

static double catmull_rom(double p0, double p1, double p2, double p3, double t) {
    double c1 = 0.5 * (p2 - p0);
    double c2 = p0 - 2.5 * p1 + 2 * p2 - 0.5 * p3;
    double c3 = 0.5 * (p3 - p0) + 1.5 * (p1 - p2);
    return p1 + t * (c1 + t * (c2 + t * c3));
}

// The point at u in [0, 1] of the curve through points [first, last] of `points`; it is extended
// straight at the ends.
static sn_lab curve_at(const sn_lab *points, int first, int last, double u) {
    double at = first + u * (last - first);
    int i = (int)at < last ? (int)at : last - 1;
    sn_lab b = points[i];
    sn_lab c = points[i + 1];
    sn_lab before = {2 * b.L - c.L, 2 * b.a - c.a, 2 * b.b - c.b};
    sn_lab after = {2 * c.L - b.L, 2 * c.a - b.a, 2 * c.b - b.b};
    sn_lab a = i > first ? points[i - 1] : before;
    sn_lab d = i + 2 <= last ? points[i + 2] : after;
    double t = at - i;

    return (sn_lab){catmull_rom(a.L, b.L, c.L, d.L, t), catmull_rom(a.a, b.a, c.a, d.a, t),
                    catmull_rom(a.b, b.b, c.b, d.b, t)};
}

// Fills steps [begin, end) with the curve through control points [first, last], at equal perceived
// distances.
static void fill_steps(sn_color *steps, int begin, int end, const sn_lab *points, int first,
                       int last) {
    SN_ASSERT(end - begin >= 2 && last > first);
    double length[CURVE_STEPS + 1] = {0};
    sn_lab previous = curve_at(points, first, last, 0);

    for (int k = 1; k <= CURVE_STEPS; k++) {
        sn_lab lab = curve_at(points, first, last, (double)k / CURVE_STEPS);
        length[k] = length[k - 1] + sn_lab_distance(previous, lab);
        previous = lab;
    }

    int k = 0;
    for (int i = begin; i < end; i++) {
        double wanted = length[CURVE_STEPS] * (i - begin) / (end - 1 - begin);
        while (k < CURVE_STEPS - 1 && length[k + 1] < wanted) {
            k++;
        }
        double u = (k + (wanted - length[k]) / (length[k + 1] - length[k])) / CURVE_STEPS;
        steps[i] = sn_color_from_lab(curve_at(points, first, last, u));
    }
}

void sn_colormap_init(sn_colormap *map, sn_colormap_kind kind) {
    SN_ASSERT(kind >= 0 && kind < SN_COLORMAP_KINDS);
    sn_lab points[CONTROL_POINTS];
    for (int i = 0; i < CONTROL_POINTS; i++) {
        points[i] = control_lab(&controls[kind][i]);
    }

    if (kind == SN_COLORMAP_TIDE) { // two halves, so that the middle stays in the middle
        fill_steps(map->steps, 0, SN_COLORMAP_STEPS / 2, points, 0, CONTROL_POINTS / 2);

        fill_steps(map->steps, SN_COLORMAP_STEPS / 2, SN_COLORMAP_STEPS, points, CONTROL_POINTS / 2,
                   CONTROL_POINTS - 1);
    } else {
        fill_steps(map->steps, 0, SN_COLORMAP_STEPS, points, 0, CONTROL_POINTS - 1);
    }
}

sn_color sn_colormap_at(const sn_colormap *map, double t) {
    if (isnan(t)) {
        return sn_color_hex(0x9a9a9a);
    }

    double at = fmin(fmax(t, 0), 1) * (SN_COLORMAP_STEPS - 1);
    SN_ASSERT(at >= 0 && at <= SN_COLORMAP_STEPS - 1);
    int i = (int)at < SN_COLORMAP_STEPS - 1 ? (int)at : SN_COLORMAP_STEPS - 2;

    return sn_color_mix(map->steps[i], map->steps[i + 1], (float)(at - i));
}

uint32_t sn_palette_hex(int32_t index) {
    int32_t i = index % SN_PALETTE_SIZE;
    return palette[i < 0 ? i + SN_PALETTE_SIZE : i];
}

sn_color sn_palette(int32_t index) {
    return sn_color_hex(sn_palette_hex(index));
}

sn_color sn_palette_blend(const double *weights, int32_t count) {
    sn_color sum = {0, 0, 0};
    double total = 0;
    for (int32_t i = 0; i < count; i++) {
        if (!(weights[i] > 0)) {
            continue;
        }
        sum = sn_color_madd(sum, (float)weights[i], sn_palette(i));
        total += weights[i];
    }

    return total > 0 && isfinite(total) ? sn_color_scale((float)(1 / total), sum)
                                        : sn_color_hex(0x9a9a9a);
}
