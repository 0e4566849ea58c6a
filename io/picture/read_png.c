// A strict reader of PNG (ISO/IEC 15948): header, palette, data; other chunks are skipped. Widths
// and heights are limited, and checksums of the chunks that are used are verified.
#include "io/picture/read_png.h"

#include "io/bytes/inflate.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_PIXELS = 1 << 26, MOST_SIDE = 1 << 15 };

enum { GREY = 0, COLOR = 2, PALETTE = 3, GREY_ALPHA = 4, COLOR_ALPHA = 6 };

typedef struct png {
    sinew_context *context;
    const sn_source *source;
    sn_arena *arena;
    const uint8_t *bytes;
    size_t size;
    int32_t width, height, depth, type;
    int32_t channels;
    uint8_t palette[256]; // the red of its entries
    int32_t palette_count;
    sn_buffer packed, rows;
} png;

static uint32_t read_big(const uint8_t *p) {
    return (uint32_t)p[0] << 24 | (uint32_t)p[1] << 16 | (uint32_t)p[2] << 8 | p[3];
}

static sinew_status refuse(const png *p, const char *what) {
    return sn_source_fail(p->context, p->source, SINEW_INVALID_DATA, "%s", what);
}

static sinew_status read_header(png *p, const uint8_t *data, size_t size) {
    if (size != 13) {
        return refuse(p, "its header is not 13 bytes long");
    }
    uint32_t width = read_big(data), height = read_big(data + 4);
    p->depth = data[8];
    p->type = data[9];
    if (width < 1 || height < 1 || width > MOST_SIDE || height > MOST_SIDE ||
        (uint64_t)width * height > MOST_PIXELS) {
        return sn_source_fail(p->context, p->source, SINEW_UNSUPPORTED,
                              "a picture of %u x %u pixels; sides are between 1 and %d, and it has "
                              "at most %d pixels",
                              width, height, MOST_SIDE, MOST_PIXELS);
    }
    p->width = (int32_t)width;
    p->height = (int32_t)height;

    // The depths that each type allows, as bits.
    static const int32_t depths[7] = {1 << 1 | 1 << 2 | 1 << 4 | 1 << 8 | 1 << 16,
                                      0,
                                      1 << 8 | 1 << 16,
                                      1 << 1 | 1 << 2 | 1 << 4 | 1 << 8,
                                      1 << 8 | 1 << 16,
                                      0,
                                      1 << 8 | 1 << 16};
    static const int32_t channels[7] = {1, 0, 3, 1, 2, 0, 4};
    if (p->type > 6 || p->depth > 16 || !(depths[p->type] >> p->depth & 1)) {
        return sn_source_fail(p->context, p->source, SINEW_INVALID_DATA,
                              "color type %d with depth %d does not exist", (int)p->type,
                              (int)p->depth);
    }
    p->channels = channels[p->type];
    if (data[10] != 0 || data[11] != 0 || data[12] != 0) {
        return sn_source_fail(p->context, p->source, SINEW_UNSUPPORTED,
                              "it is interlaced; save it without interlacing");
    }
    return SINEW_OK;
}

static sinew_status read_palette(png *p, const uint8_t *data, size_t size) {
    if (size % 3 != 0 || size < 3 || size > 768) {
        return refuse(p, "its palette does not have between 1 and 256 colors");
    }
    p->palette_count = (int32_t)(size / 3);
    for (size_t i = 0; i < size / 3; i++) {
        p->palette[i] = data[3 * i];
    }
    return SINEW_OK;
}

// Chunks up to the end: length, name, data, checksum of name and data.
static sinew_status read_chunks(png *p) {
    static const uint8_t signature[8] = {0x89, 'P', 'N', 'G', '\r', '\n', 0x1a, '\n'};
    if (p->size < 8 || memcmp(p->bytes, signature, 8) != 0) {
        return refuse(p, "it is not a PNG file");
    }

    for (size_t at = 8; at + 12 <= p->size;) {
        size_t size = read_big(p->bytes + at);
        const uint8_t *name = p->bytes + at + 4, *data = name + 4;
        if (size > p->size - at - 12) {
            return refuse(p, "it ends within a chunk");
        }

        bool header = memcmp(name, "IHDR", 4) == 0, palette = memcmp(name, "PLTE", 4) == 0;
        bool packed = memcmp(name, "IDAT", 4) == 0;
        bool used = header || palette || packed;
        if (used && sn_crc32(name, size + 4) != read_big(data + size)) {
            return refuse(p, "a checksum does not match");
        }
        if (used && header != (p->width == 0)) {
            return refuse(p, "its header is not the first chunk");
        }

        if (header) {
            SN_TRY(read_header(p, data, size));
        } else if (palette) {
            SN_TRY(read_palette(p, data, size));
        } else if (packed) {
            sn_buffer_add(&p->packed, data, size);
        } else if (memcmp(name, "IEND", 4) == 0) {
            break;
        }
        at += size + 12;
    }

    if (p->packed.failed) {
        return sn_buffer_status(&p->packed);
    }
    return p->width > 0 ? SINEW_OK : refuse(p, "it has no header");
}

static int32_t predict(int32_t filter, int32_t left, int32_t above, int32_t before) {
    switch (filter) {
    case 1: return left;
    case 2: return above;
    case 3: return (left + above) / 2;
    case 4: {
        // The one closest to left + above - before.
        int32_t to_left = abs(above - before), to_above = abs(left - before);
        int32_t to_before = abs(left + above - 2 * before);
        if (to_left <= to_above && to_left <= to_before) {
            return left;
        }
        return to_above <= to_before ? above : before;
    }
    default: return 0;
    }
}

// Undoes the filter of each row, in place.
static sinew_status unfilter(png *p, uint8_t *rows, size_t stride, size_t pixel) {
    for (int32_t y = 0; y < p->height; y++) {
        uint8_t *row = rows + (size_t)y * (stride + 1), *above = y > 0 ? row - stride : NULL;
        int32_t filter = *row++;
        if (filter > 4) {
            return sn_source_fail(p->context, p->source, SINEW_INVALID_DATA,
                                  "row %d has filter %d, which does not exist", (int)y,
                                  (int)filter);
        }
        for (size_t i = 0; i < stride; i++) {
            int32_t left = i >= pixel ? row[i - pixel] : 0, up = above ? above[i] : 0;
            int32_t before = above && i >= pixel ? above[i - pixel] : 0;
            row[i] = (uint8_t)(row[i] + predict(filter, left, up, before));
        }
    }
    return SINEW_OK;
}

// The first channel of a pixel, between 0 and 1.
static float take(const png *p, const uint8_t *row, size_t x) {
    size_t bits = (size_t)p->depth * (size_t)p->channels * x;
    const uint8_t *at = row + bits / 8;
    if (p->depth == 16) {
        return (float)(at[0] << 8 | at[1]) / 65535;
    }
    int32_t most = (1 << p->depth) - 1;
    int32_t value = at[0] >> (8 - p->depth - (int32_t)(bits % 8)) & most;
    if (p->type == PALETTE) {
        return value < p->palette_count ? (float)p->palette[value] / 255 : 0;
    }
    return (float)value / (float)most;
}

static sinew_status read_pixels(png *p, sn_png_map *map) {
    size_t pixel_bits = (size_t)p->depth * (size_t)p->channels;
    size_t stride = ((size_t)p->width * pixel_bits + 7) / 8,
           size = (stride + 1) * (size_t)p->height;
    if (p->packed.size < size / SN_INFLATE_RATIO) {
        return refuse(p, "its data end too early");
    }

    sn_inflate_result result = sn_inflate_zlib(p->packed.data, p->packed.size, size, &p->rows);
    if (result == SN_INFLATE_MEMORY) {
        return sn_buffer_status(&p->rows);
    }
    if (result != SN_INFLATE_OK || p->rows.size != size) {
        return sn_source_fail(p->context, p->source, SINEW_INVALID_DATA, "its data %s",
                              result == SN_INFLATE_OK ? "end too early"
                                                      : sn_inflate_message(result));
    }

    uint8_t *rows = (uint8_t *)p->rows.data;
    SN_TRY(unfilter(p, rows, stride, pixel_bits < 8 ? 1 : pixel_bits / 8));

    float *values = SN_RESERVE(p->arena, float, (size_t)p->width *(size_t)p->height);
    SN_TRY(sn_arena_status(p->arena));
    for (size_t y = 0; y < (size_t)p->height; y++) {
        for (size_t x = 0; x < (size_t)p->width; x++) {
            values[y * (size_t)p->width + x] = take(p, rows + y * (stride + 1) + 1, x);
        }
    }
    *map = (sn_png_map){p->width, p->height, values};
    return SINEW_OK;
}

sinew_status sn_png_read(sinew_context *context, const sn_source *source, sn_arena *arena,
                         sn_png_map *map) {
    png p = {.context = context,
             .source = source,
             .arena = arena,
             .bytes = source->data,
             .size = source->size,
             .packed = sn_buffer_create(context),
             .rows = sn_buffer_create(context)};
    sinew_status status = read_chunks(&p);
    if (status == SINEW_OK) {
        status = read_pixels(&p, map);
    }
    sn_buffer_destroy(&p.packed);
    sn_buffer_destroy(&p.rows);
    return status;
}

double sn_png_sample(const sn_png_map *map, double u, double v) {
    // Centres of pixels are at half numbers.
    double x = (u - floor(u)) * map->width - 0.5, y = (v - floor(v)) * map->height - 0.5;
    int32_t left = (int32_t)floor(x), top = (int32_t)floor(y);
    double sum = 0;
    for (int k = 0; k < 4; k++) {
        int32_t column = (left + k % 2 + map->width) % map->width;
        int32_t row = (top + k / 2 + map->height) % map->height;
        double share = (k % 2 ? x - left : 1 - x + left) * (k / 2 ? y - top : 1 - y + top);
        sum += share * (double)map->values[(size_t)row * (size_t)map->width + (size_t)column];
    }
    return sum;
}
