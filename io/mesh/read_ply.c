// PLY, text or binary of either byte order: the element "vertex" with x y z (and nx ny nz, u v or s
// t), and the element "face" with a list "vertex_indices" or "vertex_index". Other elements and
// properties are skipped as the header describes them.
#include "io/mesh/build.h"

#include "io/bytes/bytes.h"

#include <string.h>

enum { LARGEST_HEADER = 64, LARGEST_PROPERTIES = 256, LARGEST_FACE = 65536 };

// The use of a property of a vertex or face.
typedef enum usage { SKIPPED, X, Y, Z, NX, NY, NZ, U, V, INDICES, USAGES } usage;

typedef struct property {
    bool list;
    sn_number_type count_type, type;
    usage use;
} property;

typedef struct element {
    sn_word name;
    int64_t count;
    int32_t property_count;
    property *properties;
} element;

typedef enum encoding { TEXT, LITTLE, BIG } encoding;

typedef struct reader {
    sinew_context *context;
    const sn_source *source;
    sn_mesh_file *file;
    sn_text text;
    encoding encoding;
    element elements[LARGEST_HEADER];
    int32_t element_count;
    sn_buffer face; // indices of the current face
} reader;

#define FAIL(r, at, ...)                                                                           \
    sn_source_fail_at((r)->context, (r)->source, SINEW_INVALID_DATA, (at), __VA_ARGS__)

static sinew_status read_type(reader *r, bool list_count, sn_number_type *type) {
    static const struct {
        const char *name;
        sn_number_type type;
    } types[] = {{"char", SN_TYPE_I8},    {"uchar", SN_TYPE_U8},   {"short", SN_TYPE_I16},
                 {"ushort", SN_TYPE_U16}, {"int", SN_TYPE_I32},    {"uint", SN_TYPE_U32},
                 {"float", SN_TYPE_F32},  {"double", SN_TYPE_F64}, {"int8", SN_TYPE_I8},
                 {"uint8", SN_TYPE_U8},   {"int16", SN_TYPE_I16},  {"uint16", SN_TYPE_U16},
                 {"int32", SN_TYPE_I32},  {"uint32", SN_TYPE_U32}, {"float32", SN_TYPE_F32},
                 {"float64", SN_TYPE_F64}};

    // Both generations of names are in use.
    sn_word word = sn_text_line_word(&r->text);
    for (size_t i = 0; i < sizeof types / sizeof *types; i++) {
        if (!sn_word_is(word, types[i].name)) {
            continue;
        }

        *type = types[i].type;
        if (list_count && !sn_type_is_integer(*type)) {
            return FAIL(r, word.at, "the length of a list must be of an integer type");
        }

        return SINEW_OK;
    }

    char shown[SN_TEXT_FOUND_SIZE];
    return FAIL(r, word.at,
                "unknown type %s; valid are char, uchar, short, ushort, int, uint, float, double",
                sn_text_found(word.at, word.at + word.size, shown));
}

static usage use_of(sn_word element_name, sn_word name, bool list) {
    static const struct {
        const char *name;
        usage use;
    } uses[] = {{"x", X},         {"y", Y},         {"z", Z},         {"nx", NX},      {"ny", NY},
                {"nz", NZ},       {"u", U},         {"v", V},         {"s", U},        {"t", V},
                {"texture_u", U}, {"texture_v", V}, {"texture_s", U}, {"texture_t", V}};

    // Faces give their corners only.
    if (sn_word_is(element_name, "face")) {
        return list && (sn_word_is(name, "vertex_indices") || sn_word_is(name, "vertex_index"))
                   ? INDICES
                   : SKIPPED;
    }

    // Vertices give positions, normals and texture coordinates.
    if (!sn_word_is(element_name, "vertex") || list) {
        return SKIPPED;
    }

    for (size_t i = 0; i < sizeof uses / sizeof *uses; i++) {
        if (sn_word_is(name, uses[i].name)) {
            return uses[i].use;
        }
    }

    return SKIPPED;
}

static sinew_status read_property(reader *r, const char *begin) {
    if (r->element_count == 0) {
        return FAIL(r, begin, "a property before the first element");
    }

    element *e = &r->elements[r->element_count - 1];
    if (e->property_count == LARGEST_PROPERTIES) {
        return FAIL(r, begin, "more than %d properties", LARGEST_PROPERTIES);
    }

    property p = {0};
    sn_text before = r->text;
    if (sn_word_is(sn_text_line_word(&r->text), "list")) {
        p.list = true;
        SN_TRY(read_type(r, true, &p.count_type));
    } else {
        r->text = before;
    }

    // Type and name.
    SN_TRY(read_type(r, false, &p.type));
    sn_word name = sn_text_line_word(&r->text);
    if (name.size == 0) {
        return FAIL(r, name.at, "the property has no name");
    }

    p.use = use_of(e->name, name, p.list);
    if (p.use != SKIPPED) {
        for (int32_t i = 0; i < e->property_count; i++) {
            if (e->properties[i].use == p.use) {
                return FAIL(r, name.at, "there is already a property for the same purpose");
            }
        }
    }

    if (p.use == INDICES && !sn_type_is_integer(p.type)) {
        return FAIL(r, name.at, "indices must be of an integer type");
    }

    e->properties[e->property_count++] = p;
    return SINEW_OK;
}

static sinew_status read_element(reader *r, const char *begin) {
    if (r->element_count == LARGEST_HEADER) {
        return FAIL(r, begin, "more than %d elements", LARGEST_HEADER);
    }

    element *e = &r->elements[r->element_count];
    e->name = sn_text_line_word(&r->text);
    sn_text_skip_blanks(&r->text);

    const char *number = r->text.at;
    if (sn_text_integer(&r->text.at, r->text.end, &e->count) != SN_NUMBER_OK || e->count < 0) {
        char shown[SN_TEXT_FOUND_SIZE];
        return FAIL(r, number, "found %s, expected the number of these elements",
                    sn_text_found(number, r->text.end, shown));
    }

    e->properties = SN_PUSH(&r->file->arena, property, LARGEST_PROPERTIES);
    if (!e->properties) {
        return SINEW_OUT_OF_MEMORY;
    }

    r->element_count++;
    return SINEW_OK;
}

static sinew_status read_encoding(reader *r) {
    static const char *const names[] = {"ascii", "binary_little_endian", "binary_big_endian"};
    sn_word word = sn_text_line_word(&r->text);
    for (int i = 0; i < 3; i++) {
        if (!sn_word_is(word, names[i])) {
            continue;
        }
        r->encoding = (encoding)i;
        return SINEW_OK;
    }

    char shown[SN_TEXT_FOUND_SIZE];
    return FAIL(r, word.at,
                "unknown format %s; valid are ascii, binary_little_endian, binary_big_endian",
                sn_text_found(word.at, word.at + word.size, shown));
}

static sinew_status read_header(reader *r) {
    bool has_format = false;
    sn_word magic = sn_text_rest_of_line(&r->text);
    if (!sn_word_is(magic, "ply")) {
        return FAIL(r, magic.at, "a PLY file starts with the line \"ply\"");
    }

    // Lines up to end_header.
    for (;;) {
        const char *begin = r->text.at;
        sn_word word = sn_text_line_word(&r->text);
        char shown[SN_TEXT_FOUND_SIZE];

        if (sn_word_is(word, "format")) {
            SN_TRY(read_encoding(r));
            has_format = true;
        } else if (sn_word_is(word, "element")) {
            SN_TRY(read_element(r, begin));
        } else if (sn_word_is(word, "property")) {
            SN_TRY(read_property(r, begin));
        } else if (sn_word_is(word, "end_header")) {
            break;
        } else if (!sn_word_is(word, "comment") && !sn_word_is(word, "obj_info")) {
            return FAIL(r, begin,
                        "found %s, expected format, comment, element, property or end_header",
                        sn_text_found(begin, r->text.end, shown));
        }

        sn_text_skip_line(&r->text);
    }

    if (!has_format) {
        return FAIL(r, r->text.at, "the header has no format line");
    }

    sn_text_skip_line(&r->text);
    return SINEW_OK;
}

static sinew_status read_number(reader *r, sn_number_type type, double *out) {
    if (r->encoding == TEXT) {
        sn_text_skip_spaces(&r->text);
        const char *begin = r->text.at;
        char shown[SN_TEXT_FOUND_SIZE];
        if (sn_text_double(&r->text.at, r->text.end, out) == SN_NUMBER_OK) {
            return SINEW_OK;
        }

        return FAIL(r, begin, "found %s, expected a number",
                    sn_text_found(begin, r->text.end, shown));
    }

    if ((size_t)(r->text.end - r->text.at) < sn_type_size(type)) {
        return sn_mesh_fail_short(r->context, r->source, r->text.at, "the next number");
    }

    *out = sn_load_number(r->text.at, type, r->encoding == BIG);
    r->text.at += sn_type_size(type);

    return SINEW_OK;
}

static sinew_status read_whole(reader *r, sn_number_type type, double low, double high,
                               const char *what, int32_t *out) {
    double value;
    const char *begin = r->text.at;

    SN_TRY(read_number(r, type, &value));
    if (value >= low && value <= high && value == (double)(int32_t)value) {
        *out = (int32_t)value;
        return SINEW_OK;
    }

    if (r->encoding != TEXT) {
        return sn_source_fail_byte(r->context, r->source, SINEW_INVALID_DATA, begin,
                                   "%s is %.0f; valid is %.0f to %.0f", what, value, low, high);
    }

    char shown[SN_TEXT_FOUND_SIZE];
    while (begin < r->text.end && sn_text_is_space(*begin)) {
        begin++;
    }

    return FAIL(r, begin, "%s is %s; valid is a whole number from %.0f to %.0f", what,
                sn_text_found(begin, r->text.end, shown), low, high);
}

static sinew_status read_list(reader *r, const property *p, int64_t points) {
    int32_t count = 0;
    SN_TRY(read_whole(r, p->count_type, 0, LARGEST_FACE, "the length of a list", &count));
    sn_buffer_clear(&r->face);

    for (int32_t i = 0; i < count; i++) {
        // Lists that are not used still have to be read.
        if (p->use != INDICES) {
            double skipped;
            SN_TRY(read_number(r, p->type, &skipped));
            continue;
        }

        int32_t index;
        SN_TRY(read_whole(r, p->type, 0, (double)points - 1, "a point's index", &index));
        sn_buffer_add(&r->face, &index, sizeof index);
    }

    SN_TRY(sn_buffer_status(&r->face));
    if (p->use == INDICES) {
        sn_mesh_add_polygon(r->file, (const int32_t *)(const void *)r->face.data, count, 0);
    }

    return SINEW_OK;
}

static const element *find_element(const reader *r, const char *name) {
    for (int32_t i = 0; i < r->element_count; i++) {
        if (sn_word_is(r->elements[i].name, name)) {
            return &r->elements[i];
        }
    }
    return NULL;
}

static bool has_use(const element *e, usage use) {
    if (e) {
        for (int32_t i = 0; i < e->property_count; i++) {
            if (e->properties[i].use == use) {
                return true;
            }
        }
    }
    return false;
}

// The smallest number of bytes that one item of the element can take.
static size_t smallest_item(const reader *r, const element *e) {
    size_t size = 0;
    for (int32_t i = 0; i < e->property_count; i++) {
        const property *p = &e->properties[i];
        size += r->encoding == TEXT ? 2 : sn_type_size(p->list ? p->count_type : p->type);
    }
    return size;
}

static sinew_status read_items(reader *r, const element *e, int64_t points) {
    bool vertices = sn_word_is(e->name, "vertex");
    bool normals = vertices && has_use(e, NX) && has_use(e, NY) && has_use(e, NZ);
    bool uvs = vertices && has_use(e, U) && has_use(e, V);
    size_t smallest = smallest_item(r, e);
    size_t left = (size_t)(r->text.end - r->text.at) + 1; // the last number needs no space after it

    if (e->property_count == 0) {
        return SINEW_OK;
    }

    // The count must be plausible for the rest of the file.
    if ((uint64_t)e->count > left / smallest) {
        return sn_source_fail_byte(
            r->context, r->source, SINEW_INVALID_DATA, r->text.at,
            "the header announces %lld of \"%.*s\"; the %zu bytes that follow cannot hold them",
            (long long)e->count, (int)(e->name.size < 40 ? e->name.size : 40), e->name.at,
            left - 1);
    }

    for (int64_t i = 0; i < e->count; i++) {
        double values[USAGES] = {0};
        for (int32_t k = 0; k < e->property_count; k++) {
            const property *p = &e->properties[k];
            if (p->list) {
                SN_TRY(read_list(r, p, points));
            } else {
                SN_TRY(read_number(r, p->type, &values[p->use]));
            }
        }

        if (!vertices) {
            continue;
        }

        sn_mesh_add_point(r->file, values[X], values[Y], values[Z]);
        if (normals) {
            sn_buffer_add(&r->file->normals, &values[NX], 3 * sizeof(double));
        }
        if (uvs) {
            sn_buffer_add(&r->file->uvs, &values[U], 2 * sizeof(double));
        }
        if (r->file->points.failed) {
            return SINEW_OUT_OF_MEMORY;
        }
    }

    return SINEW_OK;
}

static sinew_status read_all(reader *r) {
    SN_TRY(read_header(r));
    const element *vertex = find_element(r, "vertex");
    const element *face = find_element(r, "face");

    if (!vertex || !has_use(vertex, X) || !has_use(vertex, Y) || !has_use(vertex, Z)) {
        return sn_source_fail(
            r->context, r->source, SINEW_INVALID_DATA,
            "the header has no element \"vertex\" with the properties x, y and z");
    }

    if (!face || !has_use(face, INDICES)) {
        return sn_source_fail(r->context, r->source, SINEW_UNSUPPORTED,
                              "the header has no element \"face\" with a list \"vertex_indices\"; "
                              "clouds of points and strips of triangles are not supported");
    }

    for (int32_t i = 0; i < r->element_count; i++) {
        SN_TRY(read_items(r, &r->elements[i], vertex->count));
    }

    // Normals and texture coordinates belong to points, so the corners use the indices of the
    // points.
    const sn_buffer *nodes = &r->file->nodes[SINEW_ELEMENT_TRIANGLE];
    if (r->file->normals.size) {
        sn_buffer_add(&r->file->triangle_normals, nodes->data, nodes->size);
    }
    if (r->file->uvs.size) {
        sn_buffer_add(&r->file->triangle_uvs, nodes->data, nodes->size);
    }

    return SINEW_OK;
}

sinew_status sn_read_ply(sinew_context *context, const sn_source *source, sn_mesh_file *file) {
    reader r = {.context = context,
                .source = source,
                .file = file,
                .text = sn_source_text(source),
                .face = sn_buffer_create(context)};
    sinew_status status = read_all(&r);
    sn_buffer_destroy(&r.face);

    return status;
}
