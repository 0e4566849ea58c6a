// Medit .mesh, text, three-dimensional: Vertices, Triangles, Quadrilaterals, Tetrahedra and
// Hexahedra; references become labels. Other sections are skipped: their numbers end at the next
// word. Binary .meshb is not supported.
#include "io/mesh/build.h"

#include <string.h>

typedef struct reader {
    sinew_context *context;
    const sn_source *source;
    sn_mesh_file *file;
    sn_text text;
    bool has_vertices;
} reader;

#define FAIL(r, at, ...)                                                                           \
    sn_source_fail_at((r)->context, (r)->source, SINEW_INVALID_DATA, (at), __VA_ARGS__)

static sinew_status read_integer(reader *r, const char *what, int64_t *out) {
    sn_text_skip_comments(&r->text, '#');
    return sn_mesh_read_integer(r->context, r->source, &r->text, what, out);
}

// The number of items that follow, each of which takes `numbers` numbers.
static sinew_status read_count(reader *r, size_t numbers, int64_t *out) {
    sn_text_skip_comments(&r->text, '#');
    const char *begin = r->text.at;

    SN_TRY(read_integer(r, "how many follow", out));
    size_t left = (size_t)(r->text.end - r->text.at);

    if (*out >= 0 && (uint64_t)*out <= left / (2 * numbers)) {
        return SINEW_OK;
    }

    return FAIL(r, begin, "%lld items are announced; the %zu bytes that follow hold at most %zu",
                (long long)*out, left, left / (2 * numbers));
}

static sinew_status read_vertices(reader *r, const char *at) {
    if (r->has_vertices) {
        return FAIL(r, at, "the section Vertices appears twice");
    }

    r->has_vertices = true;
    int64_t count, reference;

    SN_TRY(read_count(r, 4, &count));
    double *points = sn_mesh_add_points(r->file, (size_t)count);
    if (!points) {
        return SINEW_OUT_OF_MEMORY;
    }

    for (int64_t i = 0; i < 3 * count; i++) {
        sn_text_skip_comments(&r->text, '#');
        SN_TRY(sn_mesh_read_double(r->context, r->source, &r->text, "a coordinate", &points[i]));
        if (i % 3 == 2) {
            SN_TRY(read_integer(r, "a reference", &reference));
        }
    }

    return SINEW_OK;
}

typedef struct section {
    const char *name;
    int32_t nodes;
    sinew_element element; // quadrilaterals become triangles
} section;

static sinew_status read_elements(reader *r, const section *s, const char *at) {
    if (!r->has_vertices) {
        return FAIL(r, at, "%s come before Vertices", s->name);
    }

    int64_t count;
    int64_t points = (int64_t)sn_mesh_point_count(r->file);

    SN_TRY(read_count(r, (size_t)s->nodes + 1, &count));
    for (int64_t i = 0; i < count; i++) {
        int32_t nodes[8];
        int64_t value;
        for (int32_t k = 0; k < s->nodes; k++) {
            SN_TRY(read_integer(r, "a vertex", &value));
            if (value < 1 || value > points) {
                return FAIL(r, r->text.at,
                            "item %lld of %s refers to vertex %lld; there are 1 to %lld",
                            (long long)i + 1, s->name, (long long)value, (long long)points);
            }

            nodes[k] = (int32_t)(value - 1);
        }

        // The reference is the label.
        SN_TRY(read_integer(r, "a reference", &value));
        if (value < INT32_MIN || value > INT32_MAX) {
            return FAIL(r, r->text.at, "the reference %lld is beyond 32 bits", (long long)value);
        }
        if (value) {
            r->file->has_labels = true;
        }

        if (s->nodes == 4 && s->element == SINEW_ELEMENT_TRIANGLE) {
            sn_mesh_add_polygon(r->file, nodes, 4, (int32_t)value);
        } else {
            sn_mesh_add_cell(r->file, s->element, nodes, (int32_t)value);
        }

        if (r->file->nodes[s->element].failed) {
            return SINEW_OUT_OF_MEMORY;
        }
    }

    return SINEW_OK;
}

static sinew_status read_dimension(reader *r, const char *at) {
    int64_t dimension;
    SN_TRY(read_integer(r, "the dimension", &dimension));
    if (dimension == 3) {
        return SINEW_OK;
    }

    return sn_source_fail_at(r->context, r->source, SINEW_UNSUPPORTED, at,
                             "dimension %lld; only meshes in space (3) are read",
                             (long long)dimension);
}

static bool is_letter(char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

// Skips to the next word that is not a number.
static void skip_numbers(reader *r) {
    for (;;) {
        sn_text_skip_comments(&r->text, '#');
        if (sn_text_at_end(&r->text) || is_letter(*r->text.at)) {
            return;
        }
        sn_text_word(&r->text);
    }
}

static sinew_status read_section(reader *r, sn_word word) {
    static const section sections[] = {{"Triangles", 3, SINEW_ELEMENT_TRIANGLE},
                                       {"Quadrilaterals", 4, SINEW_ELEMENT_TRIANGLE},
                                       {"Tetrahedra", 4, SINEW_ELEMENT_TET4},
                                       {"Hexahedra", 8, SINEW_ELEMENT_HEX8}};

    static const char *const refused[] = {"Prisms", "Pyramids", "TetrahedraP2", "HexahedraQ2",
                                          "TrianglesP2"};
    if (sn_word_is(word, "Dimension")) {
        return read_dimension(r, word.at);
    }
    if (sn_word_is(word, "Vertices")) {
        return read_vertices(r, word.at);
    }

    // Elements.
    for (size_t i = 0; i < sizeof sections / sizeof *sections; i++) {
        if (sn_word_is(word, sections[i].name)) {
            return read_elements(r, &sections[i], word.at);
        }
    }

    // Elements that would be lost silently are refused; all other sections are skipped.
    for (size_t i = 0; i < sizeof refused / sizeof *refused; i++) {
        if (!sn_word_is(word, refused[i])) {
            continue;
        }
        return sn_source_fail_at(
            r->context, r->source, SINEW_UNSUPPORTED, word.at,
            "%s are not read; Triangles, Quadrilaterals, Tetrahedra and Hexahedra are", refused[i]);
    }

    skip_numbers(r);
    return SINEW_OK;
}

sinew_status sn_read_medit(sinew_context *context, const sn_source *source, sn_mesh_file *file) {
    reader reading = {
        .context = context, .source = source, .file = file, .text = sn_source_text(source)};
    reader *r = &reading;

    sn_text_skip_comments(&r->text, '#');
    sn_word word = sn_text_word(&r->text);
    if (!sn_word_is(word, "MeshVersionFormatted")) {
        return FAIL(
            r, word.at,
            "a Medit file starts with MeshVersionFormatted; the binary form (.meshb) is not read");
    }

    int64_t version;
    SN_TRY(read_integer(r, "the version", &version));

    // Sections up to the word End.
    for (;;) {
        sn_text_skip_comments(&r->text, '#');
        word = sn_text_word(&r->text);

        char shown[SN_TEXT_FOUND_SIZE];
        if (word.size == 0) {
            return FAIL(r, word.at, "the file ends without the word End");
        }
        if (sn_word_is(word, "End")) {
            return SINEW_OK;
        }

        if (!is_letter(*word.at)) {
            return FAIL(r, word.at, "found %s, expected the name of a section, such as Vertices",
                        sn_text_found(word.at, r->text.end, shown));
        }

        SN_TRY(read_section(r, word));
    }
}
