// Text: paths are flattened to segments, and the ink of a pixel depends on its distance to the
// nearest segment. Cost: pixels of the glyph's box times segments of its path.
#include "io/picture/font.h"

#include "io/picture/font_glyphs.h"
#include "io/text/text.h"

#include <math.h>
#include <string.h>

enum {
    EM = 20,             // grid units to the em
    MOST_SEGMENTS = 128, // of one glyph; the richest has 13 curves
    CURVE_SEGMENTS = 7,
};

static const double glyph_gap = 3.5; // between two glyphs, in grid units
static const char missing_path[] = "M0 0L0 14L8 14L8 0L0 0";
static const double missing_width = 8;

typedef struct segment {
    float ax, ay, bx, by;
} segment;

// The next character, advancing the cursor; a byte that is not valid UTF-8 becomes an unknown
// character.
static uint32_t next_character(const char **at, const char *end) {
    SN_ASSERT(*at < end);
    int length = sn_utf8_length(*at, end);
    unsigned char lead = (unsigned char)**at;
    uint32_t code = length <= 1 ? lead : lead & (0x7fu >> length);

    for (int k = 1; k < length; k++) {
        code = code << 6 | ((unsigned char)(*at)[k] & 0x3fu);
    }

    *at += length ? length : 1;
    return length ? code : 0xfffd;
}

static const sn_glyph_path *find_glyph(uint32_t code_point) {
    for (int i = 0; i < SN_GLYPH_PATHS; i++) {
        if (sn_glyph_paths[i].code_point == code_point) {
            return &sn_glyph_paths[i];
        }
    }
    return NULL;
}

bool sn_font_has(uint32_t code_point) {
    return find_glyph(code_point) != NULL;
}

sn_text_style sn_text_style_default(double size) {
    return (sn_text_style){
        .size = size, .weight = 0.08, .color = sn_color_hex(0x2b3138), .anchor = SN_TEXT_LEFT};
}

double sn_text_width(const sn_text_style *style, const char *text) {
    double units = 0;
    for (const char *end = text + strlen(text); text < end;) {
        const sn_glyph_path *glyph = find_glyph(next_character(&text, end));
        units += (glyph ? glyph->width : missing_width) + glyph_gap;
    }
    return units * style->size / EM;
}

// A number of a path, such as -4.5 or .8; advances the cursor.
static float read_number(const char **cursor) {
    const char *p = *cursor;
    while (*p == ' ') {
        p++;
    }

    // Sign, whole part and fraction.
    float sign = *p == '-' ? -1.0f : 1.0f;
    float value = 0;
    float digit = 1;
    if (*p == '-') {
        p++;
    }

    for (; *p >= '0' && *p <= '9'; p++) {
        value = value * 10 + (float)(*p - '0');
    }

    if (*p == '.') {
        p++;
    }

    for (; *p >= '0' && *p <= '9'; p++) {
        value += (digit *= 0.1f) * (float)(*p - '0');
    }

    *cursor = p;
    return sign * value;
}

typedef struct pen {
    float x, y, scale; // the glyph's origin, and pixels per unit
} pen;

static int add_curve(segment *segments, int count, segment chord, float cx, float cy) {
    float x = chord.ax;
    float y = chord.ay;
    for (int k = 1; k <= CURVE_SEGMENTS; k++) {
        float t = (float)k / CURVE_SEGMENTS;
        float s = 1 - t;
        float px = s * s * chord.ax + 2 * s * t * cx + t * t * chord.bx;
        float py = s * s * chord.ay + 2 * s * t * cy + t * t * chord.by;
        segments[count++] = (segment){x, y, px, py};
        x = px;
        y = py;
    }

    return count;
}

// Flattens a path to segments in pixels. Returns their number.
static int flatten(segment *segments, const char *path, pen pen) {
    int count = 0;
    float x = 0, y = 0;
    while (*path) {
        char command = *path++;
        SN_ASSERT(command == 'M' || command == 'L' || command == 'Q');

        // The control point of a curve, then the end.
        float cx = 0, cy = 0;
        if (command == 'Q') {
            cx = pen.x + pen.scale * read_number(&path);
            cy = pen.y - pen.scale * read_number(&path);
        }

        float nx = pen.x + pen.scale * read_number(&path);
        float ny = pen.y - pen.scale * read_number(&path);

        // A move draws nothing.
        SN_ASSERT(count + CURVE_SEGMENTS <= MOST_SEGMENTS);
        if (command == 'L') {
            segments[count++] = (segment){x, y, nx, ny};
        }
        if (command == 'Q') {
            count = add_curve(segments, count, (segment){x, y, nx, ny}, cx, cy);
        }

        x = nx;
        y = ny;
    }

    return count;
}

static float squared_distance(const segment *s, float x, float y) {
    float dx = s->bx - s->ax;
    float dy = s->by - s->ay;
    float px = x - s->ax;
    float py = y - s->ay;
    float length = dx * dx + dy * dy;
    float t = length > 0 ? (px * dx + py * dy) / length : 0;

    t = t < 0 ? 0 : t > 1 ? 1 : t;
    px -= t * dx;
    py -= t * dy;

    return px * px + py * py;
}

static int32_t clamp_pixel(float value, int32_t limit) {
    return !(value > 0) ? 0 : value >= (float)limit ? limit : (int32_t)value;
}

// Draws strokes of half width `reach` around the segments. Blending acts on encoded values, where
// thin dark text looks right.
static void draw_segments(sn_image image, const segment *segments, int count, float reach,
                          const uint8_t ink[3]) {
    if (count == 0) {
        return;
    }

    // The pixels that the strokes can touch.
    float x0 = segments[0].ax;
    float x1 = x0;
    float y0 = segments[0].ay;
    float y1 = y0;

    for (int k = 0; k < count; k++) {
        x0 = fminf(x0, fminf(segments[k].ax, segments[k].bx));
        x1 = fmaxf(x1, fmaxf(segments[k].ax, segments[k].bx));
        y0 = fminf(y0, fminf(segments[k].ay, segments[k].by));
        y1 = fmaxf(y1, fmaxf(segments[k].ay, segments[k].by));
    }

    float border = reach + 1;
    int32_t left = clamp_pixel(x0 - border, image.width);
    int32_t right = clamp_pixel(x1 + border + 1, image.width);
    int32_t top = clamp_pixel(y0 - border, image.height);
    int32_t bottom = clamp_pixel(y1 + border + 1, image.height);

    // Coverage from the distance to the nearest segment.
    for (int32_t y = top; y < bottom; y++) {
        for (int32_t x = left; x < right; x++) {
            float nearest = 1e30f;
            for (int k = 0; k < count; k++) {
                nearest = fminf(nearest,
                                squared_distance(&segments[k], (float)x + 0.5f, (float)y + 0.5f));
            }

            float cover = reach + 0.5f - sqrtf(nearest);
            if (cover <= 0) {
                continue;
            }
            if (cover > 1) {
                cover = 1;
            }

            uint8_t *pixel = sn_image_at(image, x, y);
            for (int c = 0; c < 3; c++) {
                pixel[c] =
                    (uint8_t)((float)pixel[c] + cover * ((float)ink[c] - (float)pixel[c]) + 0.5f);
            }
        }
    }
}

void sn_text_draw(sn_image image, double x, double y, const sn_text_style *style,
                  const char *text) {
    double scale = style->size / EM;
    if (style->anchor != SN_TEXT_LEFT) {
        double width = sn_text_width(style, text) - glyph_gap * scale;
        x -= style->anchor == SN_TEXT_CENTER ? 0.5 * width : width;
    }

    uint8_t ink[3] = {(uint8_t)(255 * sn_srgb_encode(style->color.r) + 0.5),
                      (uint8_t)(255 * sn_srgb_encode(style->color.g) + 0.5),
                      (uint8_t)(255 * sn_srgb_encode(style->color.b) + 0.5)};
    float reach =
        0.5f * (float)fmax(style->weight * style->size, 1.0); // never thinner than a pixel

    y = floor(y) + 0.5; // the feet of the letters fall on one row of pixels, which keeps them crisp
    segment segments[MOST_SEGMENTS];
    for (const char *end = text + strlen(text); text < end;) {
        const sn_glyph_path *glyph = find_glyph(next_character(&text, end));
        int count = flatten(segments, glyph ? glyph->path : missing_path,
                            (pen){(float)x, (float)y, (float)scale});
        draw_segments(image, segments, count, reach, ink);
        x += ((glyph ? glyph->width : missing_width) + glyph_gap) * scale;
    }
}
