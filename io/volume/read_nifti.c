// The header of NIfTI-1 and NIfTI-2. The transform is the sform if its code is set, otherwise the
// qform, otherwise only the sizes of the cells.
#include "io/volume/raw.h"

#include <math.h>
#include <string.h>

enum { SIZE_1 = 348, SIZE_2 = 540 };

// The offsets of the fields in the two versions, and their width.
typedef struct layout {
    int dim, datatype, pixdim, offset, slope, intercept, qform, sform, quaternion, shift, rows,
        units, magic;
    bool wide; // 64-bit sizes, doubles, 32-bit codes
} layout;

typedef struct reader {
    sinew_context *context;
    const sn_source *source;
    const uint8_t *data;
    layout at;
    bool big;
} reader;

static double number(const reader *r, int offset, int index) {
    return r->at.wide ? sn_load_f64(r->data + offset + 8 * index, r->big)
                      : (double)sn_load_f32(r->data + offset + 4 * index, r->big);
}

static int64_t integer(const reader *r, int offset, int index) {
    return r->at.wide ? (int64_t)sn_load_u64(r->data + offset + 8 * index, r->big)
                      : (int16_t)sn_load_u16(r->data + offset + 2 * index, r->big);
}

static int32_t code(const reader *r, int offset) {
    return r->at.wide ? (int32_t)sn_load_u32(r->data + offset, r->big)
                      : (int16_t)sn_load_u16(r->data + offset, r->big);
}

static sinew_status read_type(const reader *r, sn_number_type *type) {
    static const struct {
        int32_t code;
        sn_number_type type;
    } types[] = {{2, SN_TYPE_U8},     {4, SN_TYPE_I16},   {8, SN_TYPE_I32},   {16, SN_TYPE_F32},
                 {64, SN_TYPE_F64},   {256, SN_TYPE_I8},  {512, SN_TYPE_U16}, {768, SN_TYPE_U32},
                 {1024, SN_TYPE_I64}, {1280, SN_TYPE_U64}};

    int32_t given = r->at.wide ? (int16_t)sn_load_u16(r->data + r->at.datatype, r->big)
                               : code(r, r->at.datatype);
    for (size_t i = 0; i < sizeof types / sizeof *types; i++) {
        if (types[i].code != given) {
            continue;
        }
        *type = types[i].type;
        return SINEW_OK;
    }

    return sn_source_fail(
        r->context, r->source, SINEW_UNSUPPORTED,
        "data of type %d; integers and floating-point numbers of 8 to 64 bits are read", given);
}

// The rotation from the vector part of the quaternion; the third axis is reversed if pixdim[0] is
// negative (NIfTI-1, method 2).
static void read_qform(const reader *r, sn_volume_header *h) {
    double b = number(r, r->at.quaternion, 0);
    double c = number(r, r->at.quaternion, 1);
    double d = number(r, r->at.quaternion, 2);
    double rest = 1 - (b * b + c * c + d * d);
    double a = 0;

    // The scalar part follows from unit length.
    if (rest > 1e-7) {
        a = sqrt(rest);
    } else {
        double length = sqrt(b * b + c * c + d * d);
        b /= length;
        c /= length;
        d /= length;
    }

    const double columns[3][3] = {
        {a * a + b * b - c * c - d * d, 2 * (b * c + a * d), 2 * (b * d - a * c)},
        {2 * (b * c - a * d), a * a + c * c - b * b - d * d, 2 * (c * d + a * b)},
        {2 * (b * d + a * c), 2 * (c * d - a * b), a * a + d * d - b * b - c * c}};
    double last = number(r, r->at.pixdim, 0) < 0 ? -1 : 1;

    for (int j = 0; j < 3; j++) {
        double length = number(r, r->at.pixdim, 1 + j) * (j == 2 ? last : 1);
        for (int k = 0; k < 3; k++) {
            h->step[j][k] = length * columns[j][k];
        }
        h->origin[j] = number(r, r->at.shift, j);
    }
}

static void read_frame(const reader *r, sn_volume_header *h) {
    h->has_origin = true;
    if (code(r, r->at.sform) > 0) {
        for (int row = 0; row < 3; row++) {
            for (int j = 0; j < 3; j++) {
                h->step[j][row] = number(r, r->at.rows, 4 * row + j);
            }
            h->origin[row] = number(r, r->at.rows, 4 * row + 3);
        }
    } else if (code(r, r->at.qform) > 0) {
        read_qform(r, h);
    } else {
        for (int j = 0; j < 3; j++) {
            h->step[j][j] = number(r, r->at.pixdim, 1 + j);
        }
        h->has_origin = false;
    }
}

static sinew_status find_data(reader *r, bool pair, sn_volume_header *h) {
    double offset = r->at.wide ? (double)integer(r, r->at.offset, 0)
                               : (double)sn_load_f32(r->data + r->at.offset, r->big);
    size_t smallest = pair ? 0 : (size_t)(r->at.wide ? SIZE_2 : SIZE_1);

    if (!(offset >= (double)smallest && offset < 1e15)) {
        return sn_source_fail(r->context, r->source, SINEW_INVALID_DATA,
                              "the data starts at byte %g; valid is %zu and above", offset,
                              smallest);
    }

    h->offset = (size_t)offset;
    return SINEW_OK;
}

// .hdr with .img: the data is in another file of the same name.
static sinew_status fetch_image(reader *r, sn_volume_header *h) {
    char name[1024];
    const char *slash = strrchr(r->source->name, '/');
    const char *own = slash ? slash + 1 : r->source->name;
    size_t length = strlen(own);
    if (length < 4 || length + 1 > sizeof name) {
        return sn_source_fail(r->context, r->source, SINEW_INVALID_DATA,
                              "the name must end in .hdr");
    }

    memcpy(name, own, length + 1);
    memcpy(name + length - 4, ".img", 4);

    const void *data = NULL;
    size_t size = 0;
    SN_TRY(sn_source_fetch(r->context, r->source, name, &data, &size));

    h->data = (sn_source){.name = r->source->name, .data = data, .size = size};
    return SINEW_OK;
}

sinew_status sn_read_nifti_header(sinew_context *context, const sn_source *source,
                                  sn_volume_header *h) {
    static const layout layouts[2] = {
        {40, 70, 76, 108, 112, 116, 252, 254, 256, 268, 280, 123, 344, false},
        {16, 12, 104, 168, 176, 184, 344, 348, 352, 376, 400, 500, 4, true},
    };
    reader r = {.context = context, .source = source, .data = source->data};

    if (source->size < SIZE_1) {
        return sn_source_fail(context, source, SINEW_INVALID_DATA,
                              "%zu bytes; a NIfTI header has 348 or 540", source->size);
    }

    // The size of the header reveals the byte order and the version.
    uint32_t little = sn_load_u32(r.data, false);
    uint32_t size = little;
    if (little != SIZE_1 && little != SIZE_2) {
        r.big = true;
        size = sn_load_u32(r.data, true);
    }

    if ((size != SIZE_1 && size != SIZE_2) || source->size < size) {
        return sn_source_fail(context, source, SINEW_INVALID_DATA,
                              "a NIfTI header starts with its size, 348 or 540, in full");
    }

    r.at = layouts[size == SIZE_2];
    const char *magic = (const char *)r.data + r.at.magic;
    bool pair = magic[0] == 'n' && magic[1] == 'i';

    if (magic[0] != 'n' || (magic[1] != '+' && magic[1] != 'i') ||
        magic[2] != (r.at.wide ? '2' : '1') || magic[3] != 0) {
        return sn_source_fail(context, source, SINEW_INVALID_DATA,
                              "the magic word of NIfTI is missing");
    }

    // Dimensions beyond the third must have a single entry.
    int64_t dimensions = integer(&r, r.at.dim, 0);
    if (dimensions < 1 || dimensions > 7) {
        return sn_source_fail(context, source, SINEW_INVALID_DATA,
                              "%lld dimensions; valid is 1 to 7", (long long)dimensions);
    }

    for (int j = 0; j < 7; j++) {
        int64_t cells = j < dimensions ? integer(&r, r.at.dim, 1 + j) : 1;
        if (j < 3) {
            h->size[j] = cells;
        } else if (cells > 1) {
            return sn_source_fail(context, source, SINEW_UNSUPPORTED,
                                  "dimension %d has %lld entries; a label volume has three", j + 1,
                                  (long long)cells);
        }
    }

    SN_TRY(read_type(&r, &h->type));
    h->big = r.big;

    // Scaling of the values; zero means none.
    double slope = number(&r, r.at.slope, 0);
    if (slope != 0 && isfinite(slope) && isfinite(number(&r, r.at.intercept, 0))) {
        h->slope = slope;
        h->intercept = number(&r, r.at.intercept, 0);
    }

    // The unit of length, and the grid's frame.
    static const double units[8] = {0, 1, 1e-3, 1e-6, 0, 0, 0, 0};
    h->unit =
        units[r.at.wide ? sn_load_u32(r.data + r.at.units, r.big) & 7 : r.data[r.at.units] & 7];
    read_frame(&r, h);
    SN_TRY(find_data(&r, pair, h));

    return pair ? fetch_image(&r, h) : SINEW_OK;
}
