// STL, text or binary. The format repeats the corners of each triangle, so equal corners are
// merged. Its normals are ignored, because they follow from the corners. Several solids in a text
// file become groups.
#include "io/mesh/build.h"

#include "io/bytes/bytes.h"
#include "io/mesh/weld.h"

#include <string.h>

enum { HEADER_SIZE = 80, TRIANGLE_SIZE = 50 };

typedef struct reader {
    sinew_context *context;
    const sn_source *source;
    sn_mesh_file *file;
    sn_text text;
} reader;

#define FAIL(r, at, ...)                                                                           \
    sn_source_fail_at((r)->context, (r)->source, SINEW_INVALID_DATA, (at), __VA_ARGS__)

// Merges equal points; before, every three points are a triangle.
static sinew_status weld(reader *r) {
    size_t count = sn_mesh_point_count(r->file);
    if (count > INT32_MAX / 4) {
        return sn_source_fail(r->context, r->source, SINEW_UNSUPPORTED,
                              "%zu triangles; at most %d are read", count / 3, INT32_MAX / 12);
    }

    int32_t *nodes = (int32_t *)(void *)r->file->nodes[SINEW_ELEMENT_TRIANGLE].data;
    int32_t kept = 0;

    SN_ASSERT(sn_mesh_cell_count(r->file, SINEW_ELEMENT_TRIANGLE) * 3 == count);
    if (count) {
        SN_TRY(sn_weld_points(r->context, (double *)(void *)r->file->points.data, (int32_t)count,
                              nodes, &kept));
    }

    r->file->points.size = (size_t)kept * 3 * sizeof(double);
    return SINEW_OK;
}

static sinew_status read_binary(reader *r) {
    const uint8_t *data = r->source->data;
    uint32_t count = sn_load_u32(data + HEADER_SIZE, false);
    size_t left = r->source->size - HEADER_SIZE - 4;

    if (left / TRIANGLE_SIZE < count) {
        return sn_source_fail_byte(
            r->context, r->source, SINEW_INVALID_DATA, data + HEADER_SIZE,
            "binary STL announces %u triangles; the %zu bytes that follow hold %zu", count, left,
            left / TRIANGLE_SIZE);
    }

    // Every triangle brings its own three points; welding merges them.
    double *points = sn_mesh_add_points(r->file, 3 * (size_t)count);
    if (!points || !sn_mesh_add_nodes(r->file, SINEW_ELEMENT_TRIANGLE, count)) {
        return SINEW_OUT_OF_MEMORY;
    }

    // Each record holds a normal, which is skipped, three corners and an attribute.
    const uint8_t *at = data + HEADER_SIZE + 4;
    for (size_t i = 0; i < count; i++, at += TRIANGLE_SIZE) {
        for (size_t k = 0; k < 9; k++) {
            points[9 * i + k] = (double)sn_load_f32(at + 12 + 4 * k, false);
        }
    }

    return weld(r);
}

static sinew_status expect(reader *r, const char *first, const char *second) {
    const char *words[2] = {first, second};
    for (int i = 0; i < 2 && words[i]; i++) {
        sn_text_skip_spaces(&r->text);
        const char *begin = r->text.at;
        if (sn_word_is_like(sn_text_word(&r->text), words[i])) {
            continue;
        }

        char shown[SN_TEXT_FOUND_SIZE];
        return FAIL(r, begin, "found %s, expected \"%s\"", sn_text_found(begin, r->text.end, shown),
                    words[i]);
    }

    return SINEW_OK;
}

static sinew_status read_vector(reader *r, double out[3]) {
    for (int i = 0; i < 3; i++) {
        sn_text_skip_spaces(&r->text);
        const char *begin = r->text.at;
        char shown[SN_TEXT_FOUND_SIZE];
        if (sn_text_double(&r->text.at, r->text.end, &out[i]) == SN_NUMBER_OK) {
            continue;
        }

        return FAIL(r, begin, "found %s, expected a number",
                    sn_text_found(begin, r->text.end, shown));
    }

    return SINEW_OK;
}

// Reads the rest of "facet normal x y z" up to "endfacet". The normal is skipped as words, because
// some files contain NaN for flat triangles.
static sinew_status read_facet(reader *r, int32_t label) {
    SN_TRY(expect(r, "normal", NULL));
    for (int i = 0; i < 3; i++) {
        sn_text_word(&r->text);
    }

    SN_TRY(expect(r, "outer", "loop"));
    for (int i = 0; i < 3; i++) {
        double point[3];
        SN_TRY(expect(r, "vertex", NULL));
        SN_TRY(read_vector(r, point));
        sn_mesh_add_point(r->file, point[0], point[1], point[2]);
    }

    SN_TRY(expect(r, "endloop", "endfacet"));
    int32_t nodes[3] = {0};

    sn_mesh_add_cell(r->file, SINEW_ELEMENT_TRIANGLE, nodes, label);
    return r->file->points.failed || r->file->nodes[SINEW_ELEMENT_TRIANGLE].failed
               ? SINEW_OUT_OF_MEMORY
               : SINEW_OK;
}

static sinew_status read_solid(reader *r, int32_t label) {
    sn_word name = sn_text_rest_of_line(&r->text);
    if (name.size) {
        sn_mesh_add_group(r->file, name, 2, label);
    }

    // Facets until the end of the solid.
    for (;;) {
        sn_text_skip_spaces(&r->text);
        const char *begin = r->text.at;
        sn_word word = sn_text_word(&r->text);
        if (sn_word_is_like(word, "endsolid")) {
            break;
        }

        char shown[SN_TEXT_FOUND_SIZE];
        if (!sn_word_is_like(word, "facet")) {
            return FAIL(r, begin, "found %s, expected \"facet\" or \"endsolid\"",
                        sn_text_found(begin, r->text.end, shown));
        }

        SN_TRY(read_facet(r, label));
    }

    sn_text_skip_line(&r->text);
    return SINEW_OK;
}

static sinew_status read_text(reader *r) {
    int32_t label = 0;
    for (sn_text_skip_spaces(&r->text); !sn_text_at_end(&r->text); sn_text_skip_spaces(&r->text)) {
        SN_TRY(expect(r, "solid", NULL));
        SN_TRY(read_solid(r, ++label));
    }

    r->file->has_labels = label > 1;
    return weld(r);
}

// Binary files may start with "solid", too, so the following words decide: a text file soon
// contains "facet" or "endsolid".
static bool is_text(const sn_source *source) {
    sn_text text = sn_source_text(source);
    if (!sn_word_is_like(sn_text_word(&text), "solid")) {
        return false;
    }

    if (source->size >= HEADER_SIZE + 4) {
        uint64_t count = sn_load_u32((const uint8_t *)source->data + HEADER_SIZE, false);
        if (source->size == HEADER_SIZE + 4 + count * TRIANGLE_SIZE) {
            return false;
        }
    }

    sn_text_skip_line(&text);
    sn_word word = sn_text_word(&text);

    return sn_word_is_like(word, "facet") || sn_word_is_like(word, "endsolid") || word.size == 0 ||
           source->size < HEADER_SIZE + 4;
}

sinew_status sn_read_stl(sinew_context *context, const sn_source *source, sn_mesh_file *file) {
    reader r = {context, source, file, sn_source_text(source)};
    if (is_text(source)) {
        return read_text(&r);
    }

    if (source->size < HEADER_SIZE + 4) {
        return sn_source_fail(
            context, source, SINEW_INVALID_DATA,
            "%zu bytes; a binary STL has at least 84, a text STL starts with \"solid\"",
            source->size);
    }

    return read_binary(&r);
}
