// TetGen .node (points) and .ele (tets of 4 or 10 nodes; the first attribute becomes the label).
// Points are numbered from 0 or 1, depending on the number of the first one. The .ele file has the
// name of the .node file.
#include "io/mesh/build.h"

#include <math.h>
#include <string.h>

typedef struct reader {
    sinew_context *context;
    sn_source source; // of the current file: .node, then .ele
    sn_mesh_file *file;
    sn_text text;
    int64_t first; // number of the first point
} reader;

#define FAIL(r, at, ...)                                                                           \
    sn_source_fail_at((r)->context, &(r)->source, SINEW_INVALID_DATA, (at), __VA_ARGS__)

static sinew_status read_integer(reader *r, const char *what, int64_t *out) {
    sn_text_skip_comments(&r->text, '#');
    return sn_mesh_read_integer(r->context, &r->source, &r->text, what, out);
}

static sinew_status read_double(reader *r, const char *what, double *out) {
    sn_text_skip_comments(&r->text, '#');
    return sn_mesh_read_double(r->context, &r->source, &r->text, what, out);
}

static sinew_status check_count(reader *r, const char *at, int64_t count, int64_t numbers) {
    size_t left = (size_t)(r->text.end - r->text.at) + 1;
    if (count >= 0 && (uint64_t)count <= left / (2 * (uint64_t)numbers)) {
        return SINEW_OK;
    }
    return FAIL(r, at, "%lld lines are announced; the %zu bytes that follow cannot hold them",
                (long long)count, left - 1);
}

// The .node file. Header: points, dimension, attributes, boundary marks. Then number, x, y, z,
// attributes and mark of each point.
static sinew_status read_nodes(reader *r) {
    int64_t head[4], number, value;
    static const char *const names[] = {"the number of points", "the dimension",
                                        "the number of attributes", "the boundary mark"};
    sn_text_skip_comments(&r->text, '#');

    const char *at = r->text.at;
    for (int i = 0; i < 4; i++) {
        SN_TRY(read_integer(r, names[i], &head[i]));
    }

    if (head[1] != 3 || head[2] < 0 || head[2] > 1000 || head[3] < 0 || head[3] > 1) {
        return FAIL(
            r, at,
            "dimension %lld, %lld attributes, boundary mark %lld; valid is 3, 0 to 1000, 0 or 1",
            (long long)head[1], (long long)head[2], (long long)head[3]);
    }

    SN_TRY(check_count(r, at, head[0], 4 + head[2] + head[3]));
    double *points = sn_mesh_add_points(r->file, (size_t)head[0]);
    double skipped;
    if (!points) {
        return SINEW_OUT_OF_MEMORY;
    }

    // Numbers must be consecutive.
    for (int64_t i = 0; i < head[0]; i++) {
        SN_TRY(read_integer(r, "a point's number", &number));
        if (i == 0) {
            r->first = number;
        }

        if ((number != 0 && number != 1 && i == 0) || number != r->first + i) {
            return FAIL(r, r->text.at,
                        "a point has the number %lld; they run from 0 or 1 without gaps",
                        (long long)number);
        }

        for (int k = 0; k < 3; k++) {
            SN_TRY(read_double(r, "a coordinate", &points[3 * i + k]));
        }

        for (int64_t k = 0; k < head[2]; k++) {
            SN_TRY(read_double(r, "an attribute", &skipped));
        }

        if (head[3]) {
            SN_TRY(read_integer(r, "a boundary mark", &value));
        }
    }

    return SINEW_OK;
}

static sinew_status read_tet(reader *r, int64_t node_count, int64_t attributes) {
    int64_t number;
    int64_t points = (int64_t)sn_mesh_point_count(r->file);
    int32_t nodes[10];

    SN_TRY(read_integer(r, "a tet's number", &number));
    for (int64_t k = 0; k < node_count; k++) {
        SN_TRY(read_integer(r, "a point", &number));
        if (number < r->first || number - r->first >= points) {
            return FAIL(r, r->text.at, "a tet refers to point %lld; there are %lld to %lld",
                        (long long)number, (long long)r->first, (long long)(r->first + points - 1));
        }
        nodes[k] = (int32_t)(number - r->first);
    }

    // The first attribute is the label if it is an integer.
    int32_t label = 0;
    for (int64_t k = 0; k < attributes; k++) {
        double value;
        SN_TRY(read_double(r, "an attribute", &value));
        if (k == 0 && value == floor(value) && fabs(value) < 2147483648.0) {
            label = (int32_t)value;
        }
    }

    if (attributes) {
        r->file->has_labels = true;
    }

    if (node_count == 10) {
        // TetGen's mid-edge nodes belong to the edges 23, 30, 01, 12, 13, 02; here 01, 12, 20, 03,
        // 13, 23.
        static const int middles[6] = {6, 7, 9, 5, 8, 4};
        int32_t ordered[10];

        memcpy(ordered, nodes, 4 * sizeof *nodes);

        for (int k = 0; k < 6; k++) {
            ordered[4 + k] = nodes[middles[k]];
        }

        sn_mesh_add_cell(r->file, SINEW_ELEMENT_TET10, ordered, label);
        return SINEW_OK;
    }

    sn_mesh_add_cell(r->file, SINEW_ELEMENT_TET4, nodes, label);
    return SINEW_OK;
}

// The .ele file. Header: tets, nodes of each, attributes.
static sinew_status read_tets(reader *r) {
    int64_t head[3];
    static const char *const names[] = {"the number of tets", "the nodes of a tet",
                                        "the number of attributes"};
    sn_text_skip_comments(&r->text, '#');

    const char *at = r->text.at;
    for (int i = 0; i < 3; i++) {
        SN_TRY(read_integer(r, names[i], &head[i]));
    }

    if ((head[1] != 4 && head[1] != 10) || head[2] < 0 || head[2] > 1000) {
        return FAIL(r, at,
                    "tets of %lld nodes and %lld attributes; valid is 4 or 10, and 0 to 1000",
                    (long long)head[1], (long long)head[2]);
    }

    SN_TRY(check_count(r, at, head[0], 1 + head[1] + head[2]));
    for (int64_t i = 0; i < head[0]; i++) {
        SN_TRY(read_tet(r, head[1], head[2]));
    }

    return SINEW_OK;
}

sinew_status sn_read_tetgen(sinew_context *context, const sn_source *source, sn_mesh_file *file) {
    reader r = {
        .context = context, .source = *source, .file = file, .text = sn_source_text(source)};

    SN_TRY(read_nodes(&r));

    // Replace the extension .node by .ele.
    const char *slash = strrchr(source->name, '/');
    const char *own = slash ? slash + 1 : source->name;
    size_t length = strlen(own);
    char *name = SN_PUSH(&file->arena, char, length + 5);
    if (!name) {
        return SINEW_OUT_OF_MEMORY;
    }

    memcpy(name, own, length);
    bool ends = length >= 5 && sn_word_is_like((sn_word){name + length - 5, 5}, ".node");

    memcpy(name + (ends ? length - 5 : length), ".ele", 5);
    const void *data = NULL;
    size_t size = 0;
    SN_TRY(sn_source_fetch(context, source, name, &data, &size));

    r.source = (sn_source){.name = name, .data = data, .size = size};
    r.text = sn_source_text(&r.source);

    return read_tets(&r);
}
