// VTK XML unstructured grids (.vtu): arrays as text, as inline base64 or appended (raw or base64),
// plain or compressed by zlib, of either byte order. Triangles, tets of 4 and 10 nodes and
// hexahedra are kept; quadrilaterals, polygons and strips of a single triangle become triangles;
// points and lines are skipped. A cell array of integers with one of the usual names becomes the
// labels; other arrays are ignored. Several pieces become one mesh.
#include "io/mesh/build.h"

#include "io/bytes/base64.h"
#include "io/bytes/bytes.h"
#include "io/bytes/inflate.h"
#include "io/text/xml.h"

#include <string.h>

typedef enum encoding { TEXT, BASE64, APPENDED } encoding;

typedef struct array {
    bool given;
    sn_number_type type;
    encoding encoding;
    int64_t components;
    const char *at;          // of the tag, for messages
    const char *begin, *end; // the text between the tags
    int64_t offset;          // in the appended data
} array;

// The arrays of a piece that are read.
typedef enum role { POINTS, CONNECTIVITY, OFFSETS, TYPES, LABELS, ROLES } role;

typedef struct piece {
    int64_t point_count, cell_count;
    array arrays[ROLES];
} piece;

typedef struct reader {
    sinew_context *context;
    const sn_source *source;
    sn_mesh_file *file;
    sn_xml xml;
    bool big, wide, compressed; // byte order; headers of 64 bits; zlib
    bool appended_raw;
    const char *appended; // the first byte after the '_', or NULL
    uint64_t claimed;     // bytes of all arrays so far
    sn_buffer pieces;     // of piece
    sn_buffer bytes;      // a decoded array
    sn_buffer packed;     // a compressed block, decoded from base64
    sn_buffer numbers[ROLES];
} reader;

#define FAIL(r, at, ...)                                                                           \
    sn_source_fail_at((r)->context, (r)->source, SINEW_INVALID_DATA, (at), __VA_ARGS__)
#define REFUSE(r, at, ...)                                                                         \
    sn_source_fail_at((r)->context, (r)->source, SINEW_UNSUPPORTED, (at), __VA_ARGS__)

static sinew_status read_count(reader *r, const sn_xml_tag *tag, const char *name, int64_t *out) {
    sn_word value = sn_xml_attribute(tag, name);
    const char *at = value.at;

    // An array of numbers takes at least a bit of the file for each: a bound that stops absurd
    // counts before anything else.
    uint64_t size = r->source->size;
    int64_t largest =
        (int64_t)(size < INT64_MAX / 8192 ? size : INT64_MAX / 8192) * SN_INFLATE_RATIO;

    if (at && sn_text_integer(&at, value.at + value.size, out) == SN_NUMBER_OK && *out >= 0 &&
        *out <= largest) {
        return SINEW_OK;
    }

    char shown[SN_TEXT_FOUND_SIZE];
    if (!value.at) {
        return FAIL(r, tag->at, "the attribute %s is missing", name);
    }

    return FAIL(r, value.at, "%s is %s, which the file cannot hold", name,
                sn_text_found(value.at, value.at + value.size, shown));
}

static sinew_status read_type(reader *r, const sn_xml_tag *tag, sn_number_type *type) {
    static const char *const names[] = {"Int8",   "UInt8", "Int16",  "UInt16",  "Int32",
                                        "UInt32", "Int64", "UInt64", "Float32", "Float64"};

    sn_word word = sn_xml_attribute(tag, "type");
    if (word.at) {
        for (int i = 0; i < 10; i++) {
            if (!sn_word_is(word, names[i])) {
                continue;
            }
            *type = (sn_number_type)i;
            return SINEW_OK;
        }
    }

    return FAIL(r, tag->at,
                "a DataArray has the type \"%.*s\"; valid are Int8 to Int64, UInt8 to UInt64, "
                "Float32, Float64",
                (int)(word.size < 40 ? word.size : 40), word.at ? word.at : "");
}

static sinew_status read_array(reader *r, const sn_xml_tag *tag, array *out) {
    *out = (array){.given = true,
                   .components = 1,
                   .at = tag->at,
                   .begin = r->xml.text.at,
                   .end = r->xml.text.at};
    SN_TRY(read_type(r, tag, &out->type));

    if (sn_xml_attribute(tag, "NumberOfComponents").at) {
        SN_TRY(read_count(r, tag, "NumberOfComponents", &out->components));
    }

    sn_word format = sn_xml_attribute(tag, "format");
    if (!format.at || sn_word_is(format, "ascii")) {
        out->encoding = TEXT;
    } else if (sn_word_is(format, "binary")) {
        out->encoding = BASE64;
    } else if (sn_word_is(format, "appended")) {
        out->encoding = APPENDED;
    } else {
        return FAIL(r, tag->at, "unknown format of a DataArray; valid are ascii, binary, appended");
    }

    // Appended data is found by its offset, inline data ends at the next tag.
    if (out->encoding == APPENDED) {
        sn_word offset = sn_xml_attribute(tag, "offset");
        const char *at = offset.at;
        if (!at || sn_text_integer(&at, offset.at + offset.size, &out->offset) != SN_NUMBER_OK ||
            out->offset < 0) {
            return FAIL(r, tag->at, "an appended DataArray needs an offset of at least 0");
        }
    } else if (!tag->empty) {
        const char *close = memchr(out->begin, '<', (size_t)(r->xml.text.end - out->begin));
        if (!close) {
            return FAIL(r, tag->at, "this DataArray is never closed");
        }
        out->end = close;
    }

    return SINEW_OK;
}

static bool is_label_name(sn_word name) {
    static const char *const names[] = {"label",         "labels",    "Label",         "material",
                                        "MaterialIds",   "medit:ref", "gmsh:physical", "cell_tags",
                                        "CellEntityIds", "region",    "PhysicalGroup"};

    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        if (sn_word_is(name, names[i])) {
            return true;
        }
    }

    return false;
}

// The member of the piece for a DataArray, by its enclosing element and its name; NULL if it is not
// used.
static array *find_array(piece *p, sn_word section, const sn_xml_tag *tag) {
    sn_word name = sn_xml_attribute(tag, "Name");
    if (sn_word_is(section, "Points")) {
        return &p->arrays[POINTS];
    }

    if (sn_word_is(section, "Cells") && name.at) {
        if (sn_word_is(name, "connectivity")) {
            return &p->arrays[CONNECTIVITY];
        }
        if (sn_word_is(name, "offsets")) {
            return &p->arrays[OFFSETS];
        }
        if (sn_word_is(name, "types")) {
            return &p->arrays[TYPES];
        }
    }

    if (sn_word_is(section, "CellData") && name.at && is_label_name(name) &&
        !p->arrays[LABELS].given) {
        return &p->arrays[LABELS];
    }

    return NULL;
}

static sinew_status read_head(reader *r, const sn_xml_tag *tag) {
    sn_word type = sn_xml_attribute(tag, "type");
    sn_word order = sn_xml_attribute(tag, "byte_order");
    sn_word header = sn_xml_attribute(tag, "header_type");
    sn_word compressor = sn_xml_attribute(tag, "compressor");

    if (!type.at || !sn_word_is(type, "UnstructuredGrid")) {
        return REFUSE(r, tag->at, "a VTK file of type \"%.*s\"; only UnstructuredGrid is read",
                      (int)(type.size < 40 ? type.size : 40), type.at ? type.at : "");
    }

    r->big = order.at && sn_word_is(order, "BigEndian");
    r->wide = header.at && sn_word_is(header, "UInt64");
    r->compressed = compressor.at && compressor.size > 0;

    if (r->compressed && !sn_word_is(compressor, "vtkZLibDataCompressor")) {
        return REFUSE(r, tag->at, "compressed by %.*s; only vtkZLibDataCompressor is read",
                      (int)(compressor.size < 40 ? compressor.size : 40), compressor.at);
    }

    return SINEW_OK;
}

static sinew_status find_appended(reader *r, const sn_xml_tag *tag) {
    sn_word encoding = sn_xml_attribute(tag, "encoding");
    r->appended_raw = encoding.at && sn_word_is(encoding, "raw");
    sn_text_skip_spaces(&r->xml.text);
    if (tag->empty || sn_text_at_end(&r->xml.text) || *r->xml.text.at != '_') {
        return FAIL(r, tag->at, "appended data must start with _");
    }

    r->appended = r->xml.text.at + 1;
    return SINEW_OK;
}

// Collects the arrays of all pieces, up to the appended data, which is not XML.
static sinew_status read_tree(reader *r) {
    bool head = false;
    sn_word section = {"", 0};
    for (;;) {
        sn_xml_tag tag;
        SN_TRY(sn_xml_next(&r->xml, &tag));

        // Only tags that open something matter.
        if (tag.kind == SN_XML_END) {
            break;
        }
        if (tag.kind == SN_XML_CLOSE) {
            continue;
        }

        // Arrays belong to the last piece, and to the section that was opened last.
        size_t piece_count = r->pieces.size / sizeof(piece);
        if (sn_word_is(tag.name, "VTKFile")) {
            head = true;
            SN_TRY(read_head(r, &tag));
        } else if (!head) {
            return FAIL(r, tag.at, "a VTK file starts with <VTKFile");
        } else if (sn_word_is(tag.name, "Piece")) {
            piece p = {0};
            SN_TRY(read_count(r, &tag, "NumberOfPoints", &p.point_count));
            SN_TRY(read_count(r, &tag, "NumberOfCells", &p.cell_count));
            sn_buffer_add(&r->pieces, &p, sizeof p);
            SN_TRY(sn_buffer_status(&r->pieces));
        } else if (sn_word_is(tag.name, "AppendedData")) {
            return find_appended(r, &tag);
        } else if (sn_word_is(tag.name, "DataArray") && piece_count) {
            array *wanted =
                find_array((piece *)(void *)r->pieces.data + piece_count - 1, section, &tag);
            if (wanted) {
                SN_TRY(read_array(r, &tag, wanted));
            }
        } else if (!sn_word_is(tag.name, "DataArray")) {
            section = tag.name;
        }
    }

    return head ? SINEW_OK : FAIL(r, r->xml.text.begin, "a VTK file starts with <VTKFile");
}

// The source of binary data: raw bytes, or base64.
typedef struct stream {
    const uint8_t *at, *end; // raw
    sn_base64 base64;
    bool raw;
} stream;

static bool take(stream *s, void *out, size_t size) {
    if (!s->raw) {
        return sn_base64_read(&s->base64, out, size);
    }
    if ((size_t)(s->end - s->at) < size) {
        return false;
    }

    memcpy(out, s->at, size);
    s->at += size;

    return true;
}

static bool take_size(reader *r, stream *s, uint64_t *out) {
    uint8_t bytes[8];
    if (!take(s, bytes, r->wide ? 8 : 4)) {
        return false;
    }
    *out = r->wide ? sn_load_u64(bytes, r->big) : sn_load_u32(bytes, r->big);
    return true;
}

static size_t left_in(const stream *s) {
    return s->raw ? (size_t)(s->end - s->at) : sn_base64_left(&s->base64);
}

// Decompresses one block into r->bytes.
static sinew_status take_block(reader *r, stream *s, const array *a, uint64_t stated_size,
                               size_t limit) {
    const uint8_t *packed = s->at;
    if (stated_size > left_in(s)) {
        return FAIL(r, a->at, "a compressed block of this array ends after the end of the file");
    }

    // Raw data is used where it is; base64 must be decoded first.
    size_t packed_size = (size_t)stated_size;
    if (s->raw) {
        s->at += packed_size;
    } else {
        sn_buffer_clear(&r->packed);
        packed = (const uint8_t *)sn_buffer_reserve(&r->packed, packed_size);
        if (!packed) {
            return SINEW_OUT_OF_MEMORY;
        }
        if (!take(s, r->packed.data, packed_size)) {
            return FAIL(r, a->at, "the base64 data of this array is malformed");
        }
    }

    sn_inflate_result result = sn_inflate_zlib(packed, packed_size, limit, &r->bytes);
    if (result == SN_INFLATE_MEMORY) {
        return SINEW_OUT_OF_MEMORY;
    }

    return result == SN_INFLATE_OK
               ? SINEW_OK
               : FAIL(r, a->at, "compressed data of this array %s", sn_inflate_message(result));
}

// Header: number of blocks, size of a block, size of the last one if it is shorter, and the
// compressed size of each.
static sinew_status take_compressed(reader *r, stream *s, const array *a, size_t size) {
    uint64_t blocks, block_size, last_size;
    if (!take_size(r, s, &blocks) || !take_size(r, s, &block_size) ||
        !take_size(r, s, &last_size) || blocks > left_in(s) / (r->wide ? 8 : 4)) {
        return FAIL(r, a->at, "the header of this array's compressed data is malformed");
    }

    sn_arena scratch = sn_arena_create(r->context);
    uint64_t *sizes = SN_PUSH(&scratch, uint64_t, blocks);
    uint64_t total = 0;
    sinew_status status = sn_arena_status(&scratch);

    for (uint64_t i = 0; i < blocks && status == SINEW_OK; i++) {
        if (!take_size(r, s, &sizes[i]) || sizes[i] > SIZE_MAX / 2) {
            status = FAIL(r, a->at, "the sizes of blocks are malformed");
        } else {
            total += sizes[i];
        }
    }

    if (status == SINEW_OK && (total > left_in(s) || size / SN_INFLATE_RATIO > total)) {
        status = FAIL(
            r, a->at,
            "%zu bytes are announced for this array; its compressed data cannot hold them", size);
    }

    // The sizes of blocks in the header are only upper bounds; the counts of the piece say how much
    // is needed.
    for (uint64_t i = 0; i < blocks && status == SINEW_OK; i++) {
        status =
            take_block(r, s, a, sizes[i], size - (r->bytes.size < size ? r->bytes.size : size));
    }

    sn_arena_destroy(&scratch);
    return status;
}

// Reads the `size` bytes of a binary array.
static sinew_status take_bytes(reader *r, const array *a, size_t size, const uint8_t **out) {
    stream s = {.raw = a->encoding == APPENDED && r->appended_raw};
    const char *end = (const char *)r->source->data + r->source->size;
    if (a->encoding == APPENDED) {
        if (!r->appended || a->offset > end - r->appended) {
            return FAIL(r, a->at, "the offset of this array is after the end of the data");
        }
        s.at = (const uint8_t *)r->appended + a->offset;
        s.end = (const uint8_t *)end;
        s.base64 = sn_base64_create(r->appended + a->offset, end);
    } else {
        s.base64 = sn_base64_create(a->begin, a->end);
    }

    sn_buffer_clear(&r->bytes);
    uint64_t given = 0;
    if (r->compressed) {
        SN_TRY(take_compressed(r, &s, a, size));
        given = r->bytes.size;
    } else {
        if (!take_size(r, &s, &given)) {
            return FAIL(r, a->at, "this array has no data");
        }
        if (given >= size && size > left_in(&s)) {
            return FAIL(r, a->at, "the file ends before this array's %zu bytes", size);
        }
    }

    if (given < size) {
        return FAIL(r, a->at, "this array has %llu bytes; %zu are needed",
                    (unsigned long long)given, size);
    }

    // Raw data needs no copy.
    if (!r->compressed && s.raw) {
        *out = s.at;
        return SINEW_OK;
    }

    if (!r->compressed) {
        if (!sn_buffer_reserve(&r->bytes, size)) {
            return SINEW_OUT_OF_MEMORY;
        }
        if (!take(&s, r->bytes.data, size)) {
            return FAIL(r, a->at, "the base64 data of this array is malformed");
        }
    }

    *out = (const uint8_t *)r->bytes.data;
    return SINEW_OK;
}

// Checks that `count` numbers can exist at all before memory is allocated. All arrays together
// cannot hold more than the file, or several pieces would use the same data.
static sinew_status check_possible(reader *r, const array *a, int64_t count) {
    uint64_t size = a->encoding == TEXT ? 1 : sn_type_size(a->type);
    uint64_t most = (uint64_t)r->source->size * (r->compressed ? SN_INFLATE_RATIO : 1);
    if (count >= 0 && (uint64_t)count <= (most - r->claimed) / size &&
        (uint64_t)count <= SIZE_MAX / 8) {
        r->claimed += (uint64_t)count * size;
        return SINEW_OK;
    }

    return FAIL(r, a->at, "%lld numbers are announced for this array; the file cannot hold them",
                (long long)count);
}

static sinew_status read_doubles(reader *r, const array *a, int64_t count, double *out) {
    const uint8_t *bytes;
    if (a->encoding == TEXT) {
        // Written as text.
        sn_text text = {a->begin, a->begin, a->end};
        for (int64_t i = 0; i < count; i++) {
            sn_text_skip_spaces(&text);
            const char *begin = text.at;
            char shown[SN_TEXT_FOUND_SIZE];
            if (sn_text_double(&text.at, text.end, &out[i]) == SN_NUMBER_OK) {
                continue;
            }

            return FAIL(r, begin, "found %s, expected a finite number",
                        sn_text_found(begin, r->xml.text.end, shown));
        }

        return SINEW_OK;
    }

    // Binary, of any type.
    size_t size = sn_type_size(a->type);
    SN_TRY(take_bytes(r, a, (size_t)count * size, &bytes));
    for (int64_t i = 0; i < count; i++) {
        out[i] = sn_load_number(bytes + (size_t)i * size, a->type, r->big);
    }

    return SINEW_OK;
}

static sinew_status read_integers(reader *r, const array *a, int64_t count, int64_t *out) {
    if (!sn_type_is_integer(a->type)) {
        return FAIL(r, a->at, "this array must be of an integer type");
    }

    if (a->encoding == TEXT) {
        // Written as text.
        sn_text text = {a->begin, a->begin, a->end};
        for (int64_t i = 0; i < count; i++) {
            sn_text_skip_spaces(&text);
            const char *begin = text.at;
            char shown[SN_TEXT_FOUND_SIZE];
            if (sn_text_integer(&text.at, text.end, &out[i]) == SN_NUMBER_OK) {
                continue;
            }

            return FAIL(r, begin, "found %s, expected a whole number",
                        sn_text_found(begin, r->xml.text.end, shown));
        }

        return SINEW_OK;
    }

    // Binary, of any type.
    size_t size = sn_type_size(a->type);
    const uint8_t *bytes;

    SN_TRY(take_bytes(r, a, (size_t)count * size, &bytes));
    for (int64_t i = 0; i < count; i++) {
        out[i] = sn_load_integer(bytes + (size_t)i * size, a->type, r->big);
    }

    return SINEW_OK;
}

static sinew_status read_role(reader *r, const piece *p, role which, int64_t count,
                              const int64_t **out) {
    const array *a = &p->arrays[which];
    sn_buffer *numbers = &r->numbers[which];

    SN_TRY(check_possible(r, a, count));
    sn_buffer_clear(numbers);

    int64_t *values = sn_buffer_push(numbers, (size_t)count, sizeof *values);

    if (!values) {
        return SINEW_OUT_OF_MEMORY;
    }

    *out = values;
    return read_integers(r, a, count, values);
}

static sinew_status add_cell(reader *r, int64_t type, const int32_t *nodes, int64_t count,
                             int32_t label, int64_t index) {
    enum {
        VERTEX = 1,
        POLY_VERTEX,
        LINE,
        POLY_LINE,
        TRIANGLE,
        STRIP,
        POLYGON,
        QUAD = 9,
        TET,
        HEX = 12,
        EDGE3 = 21,
        TRIANGLE6,
        QUAD8,
        TET10
    };
    static const struct {
        int type, nodes;
        sinew_element element;
    } solid[] = {{TRIANGLE, 3, SINEW_ELEMENT_TRIANGLE},  {STRIP, 3, SINEW_ELEMENT_TRIANGLE},
                 {TRIANGLE6, 6, SINEW_ELEMENT_TRIANGLE}, {TET, 4, SINEW_ELEMENT_TET4},
                 {TET10, 10, SINEW_ELEMENT_TET10},       {HEX, 8, SINEW_ELEMENT_HEX8}};

    if ((type >= VERTEX && type <= POLY_LINE) || type == EDGE3) {
        return SINEW_OK;
    }

    // Cells that are kept as they are.
    for (size_t i = 0; i < sizeof solid / sizeof *solid; i++) {
        if (solid[i].type != type || solid[i].nodes != count) {
            continue;
        }
        sn_mesh_add_cell(r->file, solid[i].element, nodes, label);
        return SINEW_OK;
    }

    // Cells that are split into triangles.
    if ((type == QUAD && count == 4) || (type == QUAD8 && count == 8) ||
        (type == POLYGON && count >= 3)) {
        sn_mesh_add_polygon(r->file, nodes, type == POLYGON ? (int32_t)count : 4, label);
        return SINEW_OK;
    }

    return sn_source_fail(r->context, r->source, SINEW_UNSUPPORTED,
                          "cell %lld is of VTK type %lld with %lld points; read are triangles (5), "
                          "quadrangles (9), polygons (7), tets (10, 24) and hexahedra (12)",
                          (long long)index, (long long)type, (long long)count);
}

static sinew_status read_cells(reader *r, const piece *p, int32_t first_point) {
    const int64_t *offsets, *types, *connectivity, *labels = NULL;
    for (int i = CONNECTIVITY; i <= TYPES; i++) {
        if (!p->arrays[i].given) {
            return FAIL(r, r->xml.text.begin,
                        "a Piece needs connectivity, offsets and types in its Cells");
        }
    }

    SN_TRY(read_role(r, p, OFFSETS, p->cell_count, &offsets));
    SN_TRY(read_role(r, p, TYPES, p->cell_count, &types));

    const array *label_array = &p->arrays[LABELS];
    if (label_array->given && label_array->components == 1 &&
        sn_type_is_integer(label_array->type)) {
        SN_TRY(read_role(r, p, LABELS, p->cell_count, &labels));
        r->file->has_labels = true;
    }

    // Offsets ascend; the last one is the length of the connectivity.
    int64_t last = 0;
    for (int64_t i = 0; i < p->cell_count; i++) {
        if (offsets[i] < last) {
            return FAIL(r, p->arrays[OFFSETS].at, "offset %lld is less than the one before",
                        (long long)i);
        }
        last = offsets[i];
    }

    SN_TRY(read_role(r, p, CONNECTIVITY, last, &connectivity));
    int32_t nodes[64];

    for (int64_t i = 0; i < p->cell_count; i++) {
        int64_t begin = i ? offsets[i - 1] : 0;
        int64_t count = offsets[i] - begin;
        int64_t kept = count < 64 ? count : 64;

        if (count > 64) {
            return FAIL(r, p->arrays[OFFSETS].at, "cell %lld has %lld points; at most 64 are read",
                        (long long)i, (long long)count);
        }

        for (int64_t k = 0; k < kept; k++) {
            int64_t node = connectivity[begin + k];
            if (node < 0 || node >= p->point_count) {
                return FAIL(r, p->arrays[CONNECTIVITY].at,
                            "cell %lld refers to point %lld; there are 0 to %lld", (long long)i,
                            (long long)node, (long long)p->point_count - 1);
            }

            nodes[k] = first_point + (int32_t)node;
        }

        int64_t label = labels ? labels[i] : 0;
        if (label > INT32_MAX || label < INT32_MIN) {
            return FAIL(r, label_array->at, "the label %lld of cell %lld is beyond 32 bits",
                        (long long)label, (long long)i);
        }

        SN_TRY(add_cell(r, types[i], nodes, count, (int32_t)label, i));
    }

    return SINEW_OK;
}

static sinew_status read_piece(reader *r, const piece *p) {
    const array *points = &p->arrays[POINTS];
    size_t before = sn_mesh_point_count(r->file);
    if (p->point_count == 0 && p->cell_count == 0) {
        return SINEW_OK;
    }

    if (!points->given || points->components != 3) {
        return FAIL(r, points->given ? points->at : r->xml.text.begin,
                    "a Piece needs Points with three components");
    }

    if (p->point_count > INT32_MAX / 4 || before > INT32_MAX / 4) {
        return REFUSE(r, points->at, "more than %d points", INT32_MAX / 4);
    }

    SN_TRY(check_possible(r, points, 3 * p->point_count));
    double *out = sn_mesh_add_points(r->file, (size_t)p->point_count);
    if (!out) {
        return SINEW_OUT_OF_MEMORY;
    }

    SN_TRY(read_doubles(r, points, 3 * p->point_count, out));
    return read_cells(r, p, (int32_t)before);
}

static sinew_status read_all(reader *r) {
    SN_TRY(read_tree(r));
    const piece *pieces = (const piece *)(const void *)r->pieces.data;
    for (size_t i = 0; i < r->pieces.size / sizeof(piece); i++) {
        SN_TRY(read_piece(r, &pieces[i]));
    }
    return SINEW_OK;
}

sinew_status sn_read_vtu(sinew_context *context, const sn_source *source, sn_mesh_file *file) {
    reader r = {.context = context,
                .source = source,
                .file = file,
                .xml = sn_xml_create(context, source),
                .pieces = sn_buffer_create(context),
                .bytes = sn_buffer_create(context),
                .packed = sn_buffer_create(context)};

    for (int i = 0; i < ROLES; i++) {
        r.numbers[i] = sn_buffer_create(context);
    }

    sinew_status status = read_all(&r);
    sn_buffer_destroy(&r.pieces);
    sn_buffer_destroy(&r.bytes);
    sn_buffer_destroy(&r.packed);

    for (int i = 0; i < ROLES; i++) {
        sn_buffer_destroy(&r.numbers[i]);
    }

    return status;
}
