// Wavefront OBJ: v, vt, vn and f. The names of usemtl become labels or, in files without, those of
// g and o. Faces with more than three corners become fans. Lines, points, smoothing groups and
// material libraries are skipped; free-form surfaces are errors.
#include "io/mesh/build.h"

#include "io/text/names.h"
#include "io/text/suggest.h"

#include <string.h>

enum { LARGEST_FACE = 65536 };

typedef struct corner {
    int32_t index[3]; // point, texture coordinate, normal; -1 if there is none
} corner;

typedef struct reader {
    sinew_context *context;
    const sn_source *source;
    sn_mesh_file *file;
    sn_text text;
    sn_buffer corners;     // of the current face
    sn_buffer part_labels; // of the triangles, by g and o
    sn_names materials, parts;
    int32_t material, part;          // current labels
    bool without_uv, without_normal; // some triangle does not have them
} reader;

#define FAIL(r, at, ...)                                                                           \
    sn_source_fail_at((r)->context, (r)->source, SINEW_INVALID_DATA, (at), __VA_ARGS__)

// A backslash at the end of a line continues it.
static void skip_blanks(reader *r) {
    for (;;) {
        sn_text_skip_blanks(&r->text);
        const char *c = r->text.at;
        if (c + 1 >= r->text.end || *c != '\\') {
            return;
        }

        if (c[1] == '\n') {
            r->text.at += 2;
        } else if (c[1] == '\r' && c + 2 < r->text.end && c[2] == '\n') {
            r->text.at += 3;
        } else {
            return;
        }
    }
}

static bool at_line_end(const reader *r) {
    return r->text.at >= r->text.end || *r->text.at == '\n' || *r->text.at == '#';
}

// Reads `needed` to `count` numbers; missing ones are 0.
static sinew_status read_numbers(reader *r, const char *what, int needed, int count, double *out) {
    for (int i = 0; i < count; i++) {
        skip_blanks(r);
        out[i] = 0;
        if (i >= needed && at_line_end(r)) {
            continue;
        }

        // A number ends at a space.
        const char *begin = r->text.at;
        char shown[SN_TEXT_FOUND_SIZE];
        sn_number_result result = sn_text_double(&r->text.at, r->text.end, &out[i]);
        bool ends = r->text.at >= r->text.end || sn_text_is_space(*r->text.at);

        if (result == SN_NUMBER_OK && ends) {
            continue;
        }

        return FAIL(r, begin, "found %s, expected number %d of %d of a %s",
                    begin < r->text.end && *begin == '\n'
                        ? "the end of the line"
                        : sn_text_found(begin, r->text.end, shown),
                    i + 1, needed, what);
    }

    return SINEW_OK;
}

// One of the up to three numbers of a corner, counted from 1, or backwards from -1 for the last.
static sinew_status read_index(reader *r, const char *what, size_t count, int32_t *out) {
    const char *begin = r->text.at;
    char shown[SN_TEXT_FOUND_SIZE];
    int64_t index = 0;
    sn_number_result result = sn_text_integer(&r->text.at, r->text.end, &index);

    if (result == SN_NUMBER_NONE) {
        return FAIL(r, begin, "found %s, expected the number of a %s",
                    sn_text_found(begin, r->text.end, shown), what);
    }

    int64_t last = (int64_t)count;
    if (result == SN_NUMBER_TOO_LARGE || index == 0 || index > last || index < -last) {
        return FAIL(r, begin,
                    "%s is no %s; %zu are defined above, numbered from 1 (or from -1 backwards)",
                    sn_text_found(begin, r->text.at, shown), what, count);
    }

    *out = (int32_t)(index > 0 ? index - 1 : last + index);
    return SINEW_OK;
}

// a, a/b, a/b/c or a//c
static sinew_status read_corner(reader *r, corner *out) {
    sn_text *text = &r->text;
    size_t uv_count = r->file->uvs.size / (2 * sizeof(double));
    size_t normal_count = r->file->normals.size / (3 * sizeof(double));

    *out = (corner){{-1, -1, -1}};
    SN_TRY(read_index(r, "point", sn_mesh_point_count(r->file), &out->index[0]));

    // The texture coordinate may be left out between two slashes.
    if (text->at < text->end && *text->at == '/') {
        text->at++;
        if (text->at >= text->end || *text->at != '/') {
            SN_TRY(read_index(r, "texture coordinate", uv_count, &out->index[1]));
        }

        if (text->at < text->end && *text->at == '/') {
            text->at++;
            SN_TRY(read_index(r, "normal", normal_count, &out->index[2]));
        }
    }

    // Nothing else may follow.
    char shown[SN_TEXT_FOUND_SIZE];
    if (text->at < text->end && !sn_text_is_space(*text->at) && *text->at != '\\') {
        return FAIL(r, text->at, "found %s after a corner; valid are a, a/b, a//c and a/b/c",
                    sn_text_found(text->at, text->end, shown));
    }

    return SINEW_OK;
}

static void add_face(reader *r, const corner *corners, size_t count) {
    sn_mesh_file *file = r->file;
    for (size_t i = 2; i < count; i++) {
        const corner *triangle[3] = {&corners[0], &corners[i - 1], &corners[i]};
        int32_t nodes[3], uvs[3], normals[3];
        for (int k = 0; k < 3; k++) {
            nodes[k] = triangle[k]->index[0];
            uvs[k] = triangle[k]->index[1];
            normals[k] = triangle[k]->index[2];
            r->without_uv = r->without_uv || uvs[k] < 0;
            r->without_normal = r->without_normal || normals[k] < 0;
        }

        sn_mesh_add_cell(file, SINEW_ELEMENT_TRIANGLE, nodes, r->material);
        sn_buffer_add(&r->part_labels, &r->part, sizeof r->part);
        sn_buffer_add(&file->triangle_uvs, uvs, sizeof uvs);
        sn_buffer_add(&file->triangle_normals, normals, sizeof normals);
    }
}

static sinew_status read_face(reader *r) {
    const char *begin = r->text.at;
    sn_buffer_clear(&r->corners);

    size_t count = 0;
    for (skip_blanks(r); !at_line_end(r); skip_blanks(r)) {
        corner c;
        SN_TRY(read_corner(r, &c));
        if (++count > LARGEST_FACE) {
            return FAIL(r, begin, "a face of more than %d corners", LARGEST_FACE);
        }
        sn_buffer_add(&r->corners, &c, sizeof c);
    }

    if (count < 3) {
        return FAIL(r, begin, "a face of %zu corners; at least 3 are needed", count);
    }

    SN_TRY(sn_buffer_status(&r->corners));
    add_face(r, (const corner *)(const void *)r->corners.data, count);

    return SINEW_OK;
}

static sinew_status read_name(reader *r, sn_names *names, int32_t *label) {
    sn_text line = r->text; // the name may hold spaces; stay on this line
    sn_word name = sn_text_rest_of_line(&line);
    if (name.size == 0) {
        name = (sn_word){"default", 7};
    }

    int32_t index = sn_names_add(names, name);
    if (index < 0) {
        return SINEW_OUT_OF_MEMORY;
    }

    *label = index + 1;
    return SINEW_OK;
}

static sinew_status refuse_word(reader *r, sn_word word) {
    static const char *const known[] = {"v", "vt", "vn", "f",      "g",     "o",
                                        "s", "l",  "p",  "usemtl", "mtllib"};
    static const char *const free_form[] = {"cstype", "deg",  "bmat", "step", "curv",
                                            "curv2",  "surf", "parm", "trim"};

    char text[32] = {0}, shown[SN_TEXT_FOUND_SIZE];
    memcpy(text, word.at, word.size < sizeof text ? word.size : sizeof text - 1);
    sn_text_found(word.at, word.at + word.size, shown);

    // Free-form geometry is valid OBJ, but not a mesh.
    for (size_t i = 0; i < sizeof free_form / sizeof *free_form; i++) {
        if (!sn_word_is(word, free_form[i])) {
            continue;
        }
        return sn_source_fail_at(r->context, r->source, SINEW_UNSUPPORTED, word.at,
                                 "%s belongs to a free-form surface; only polygons are read",
                                 shown);
    }

    // Anything else is a mistake; suggest the closest word.
    int32_t nearest = sn_suggest(text, known, sizeof known / sizeof *known);
    return FAIL(
        r, word.at,
        "unknown word %s%s%s%s; valid in OBJ are v, vt, vn, f, g, o, s, l, p, usemtl, mtllib",
        shown, nearest < 0 ? "" : "; did you mean \"", nearest < 0 ? "" : known[nearest],
        nearest < 0 ? "" : "\"?");
}

static sinew_status read_line(reader *r, sn_word word) {
    static const char *const skipped[] = {"s",      "l",          "p",         "mtllib",  "vp",
                                          "lod",    "bevel",      "c_interp",  "mg",      "usemap",
                                          "maplib", "shadow_obj", "trace_obj", "d_interp"};

    // Points and what belongs to their corners.
    double numbers[4];
    if (sn_word_is(word, "v")) {
        SN_TRY(read_numbers(r, "point", 3, 4, numbers)); // a weight or a colour may follow
        sn_mesh_add_point(r->file, numbers[0], numbers[1], numbers[2]);
        return SINEW_OK;
    }

    if (sn_word_is(word, "vt")) {
        SN_TRY(read_numbers(r, "texture coordinate", 1, 3, numbers));
        sn_buffer_add(&r->file->uvs, numbers, 2 * sizeof(double));
        return SINEW_OK;
    }

    if (sn_word_is(word, "vn")) {
        SN_TRY(read_numbers(r, "normal", 3, 3, numbers));
        sn_buffer_add(&r->file->normals, numbers, 3 * sizeof(double));
        return SINEW_OK;
    }

    // Faces, and the names that apply to those that follow.
    if (sn_word_is(word, "f") || sn_word_is(word, "fo")) {
        return read_face(r);
    }
    if (sn_word_is(word, "usemtl")) {
        return read_name(r, &r->materials, &r->material);
    }
    if (sn_word_is(word, "g") || sn_word_is(word, "o")) {
        return read_name(r, &r->parts, &r->part);
    }

    // Valid words that a mesh does not need.
    for (size_t i = 0; i < sizeof skipped / sizeof *skipped; i++) {
        if (sn_word_is(word, skipped[i])) {
            return SINEW_OK;
        }
    }

    return refuse_word(r, word);
}

static void set_labels(reader *r) {
    sn_mesh_file *file = r->file;
    const sn_names *names = r->materials.count ? &r->materials : &r->parts;
    sn_buffer *labels = &file->labels[SINEW_ELEMENT_TRIANGLE];

    if (names == &r->parts && !r->part_labels.failed && labels->size == r->part_labels.size &&
        labels->size) {
        memcpy(labels->data, r->part_labels.data, labels->size);
    }

    file->has_labels = names->count > 0;
    for (int32_t i = 0; i < names->count; i++) {
        sn_mesh_add_group(file, sn_names_get(names, i), 2, i + 1);
    }
}

// Triangles without texture coordinates get an additional one, 0 0. Normals are used only if every
// triangle has them.
static void complete_corners(reader *r) {
    sn_mesh_file *file = r->file;
    if (r->without_normal) {
        sn_buffer_clear(&file->triangle_normals);
    }
    if (!r->without_uv || file->uvs.size == 0) {
        return;
    }

    int32_t added = (int32_t)(file->uvs.size / (2 * sizeof(double)));
    sn_buffer_add_zeros(&file->uvs, 2 * sizeof(double));

    int32_t *indices = (int32_t *)(void *)file->triangle_uvs.data;
    for (size_t i = 0; i < file->triangle_uvs.size / sizeof(int32_t); i++) {
        if (indices[i] < 0) {
            indices[i] = added;
        }
    }
}

static sinew_status read_all(reader *r) {
    while (!sn_text_at_end(&r->text)) {
        sn_text_skip_comments(&r->text, '#');
        sn_word word = sn_text_line_word(&r->text);
        if (word.size) {
            SN_TRY(read_line(r, word));
        }

        sn_text_skip_line(&r->text);
        if (r->file->points.failed || r->file->nodes[SINEW_ELEMENT_TRIANGLE].failed) {
            return SINEW_OUT_OF_MEMORY;
        }
    }

    set_labels(r);
    complete_corners(r);

    return sn_buffer_status(&r->part_labels);
}

sinew_status sn_read_obj(sinew_context *context, const sn_source *source, sn_mesh_file *file) {
    reader r = {.context = context,
                .source = source,
                .file = file,
                .text = sn_source_text(source),
                .corners = sn_buffer_create(context),
                .part_labels = sn_buffer_create(context),
                .materials = sn_names_create(&file->arena),
                .parts = sn_names_create(&file->arena)};
    sinew_status status = read_all(&r);

    sn_buffer_destroy(&r.corners);
    sn_buffer_destroy(&r.part_labels);
    sn_names_destroy(&r.materials);
    sn_names_destroy(&r.parts);

    return status;
}
