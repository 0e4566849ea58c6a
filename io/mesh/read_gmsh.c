// Gmsh .msh, versions 2.2 and 4.1, text and binary of either byte order. Triangles, tets of 4 and
// 10 nodes and hexahedra are kept, quadrilaterals are split, points and lines are skipped, other
// elements are errors. Labels are the physical groups or, in files without any, the elementary
// entities; $PhysicalNames contains the names. Second-order triangles are reduced to their corners.
// One pass; a million tets as text take about a tenth of a second.
#include "io/mesh/read_gmsh.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

sinew_status sn_gmsh_fail(sn_gmsh *g, sinew_status status, const char *at, const char *format,
                          ...) {
    char message[600];
    va_list arguments;

    va_start(arguments, format);
    vsnprintf(message, sizeof message, format, arguments);
    va_end(arguments);

    if (g->binary) {
        return sn_source_fail_byte(g->context, g->source, status, at, "%s", message);
    }

    return sn_source_fail_at(g->context, g->source, status, at, "%s", message);
}

sinew_status sn_gmsh_integer(sn_gmsh *g, size_t size, const char *what, int64_t *out) {
    if (g->binary) {
        if ((size_t)(g->text.end - g->text.at) < size) {
            return sn_mesh_fail_short(g->context, g->source, g->text.at, what);
        }
        *out = sn_load_integer(g->text.at, size == 4 ? SN_TYPE_I32 : SN_TYPE_I64, g->big);
        g->text.at += size;
        return SINEW_OK;
    }

    sn_text_skip_spaces(&g->text);
    return sn_mesh_read_integer(g->context, g->source, &g->text, what, out);
}

sinew_status sn_gmsh_double(sn_gmsh *g, const char *what, double *out) {
    if (g->binary) {
        if (g->text.end - g->text.at < 8) {
            return sn_mesh_fail_short(g->context, g->source, g->text.at, what);
        }
        *out = sn_load_f64(g->text.at, g->big);
        g->text.at += 8;
        return SINEW_OK;
    }

    sn_text_skip_spaces(&g->text);
    return sn_mesh_read_double(g->context, g->source, &g->text, what, out);
}

sinew_status sn_gmsh_count(sn_gmsh *g, size_t size, const char *what, size_t numbers,
                           size_t number_size, int64_t *out) {
    if (!g->binary) {
        sn_text_skip_spaces(&g->text);
    }

    const char *begin = g->text.at;
    SN_TRY(sn_gmsh_integer(g, size, what, out));

    size_t left = (size_t)(g->text.end - g->text.at);
    size_t smallest = numbers * (g->binary ? number_size : 2); // a digit and a space
    if (*out >= 0 && (uint64_t)*out <= left / smallest && *out <= INT32_MAX / 16) {
        return SINEW_OK;
    }

    return sn_gmsh_fail(g, SINEW_INVALID_DATA, begin,
                        "%s is %lld; the %zu bytes that follow hold at most %zu", what,
                        (long long)*out, left, left / smallest);
}

sinew_status sn_gmsh_find_type(sn_gmsh *g, int64_t type, const char *at, const sn_gmsh_type **out) {
    static const sn_gmsh_type types[] = {
        {1, 2, SN_GMSH_SKIP, "line"},
        {2, 3, SN_GMSH_TRIANGLE, "triangle"},
        {3, 4, SN_GMSH_QUADRANGLE, "quadrangle"},
        {4, 4, SN_GMSH_TET, "tetrahedron"},
        {5, 8, SN_GMSH_HEX, "hexahedron"},
        {6, 6, SN_GMSH_REFUSE, "prism"},
        {7, 5, SN_GMSH_REFUSE, "pyramid"},
        {8, 3, SN_GMSH_SKIP, "second-order line"},
        {9, 6, SN_GMSH_TRIANGLE, "second-order triangle"},
        {10, 9, SN_GMSH_QUADRANGLE, "9-node quadrangle"},
        {11, 10, SN_GMSH_TET10, "10-node tetrahedron"},
        {12, 27, SN_GMSH_REFUSE, "27-node hexahedron"},
        {13, 18, SN_GMSH_REFUSE, "18-node prism"},
        {14, 14, SN_GMSH_REFUSE, "14-node pyramid"},
        {15, 1, SN_GMSH_SKIP, "point"},
        {16, 8, SN_GMSH_QUADRANGLE, "8-node quadrangle"},
        {17, 20, SN_GMSH_REFUSE, "20-node hexahedron"},
        {18, 15, SN_GMSH_REFUSE, "15-node prism"},
        {19, 13, SN_GMSH_REFUSE, "13-node pyramid"},
        {26, 4, SN_GMSH_SKIP, "third-order line"},
    };

    // Known types are used, skipped or refused by name.
    for (size_t i = 0; i < sizeof types / sizeof *types; i++) {
        if (types[i].type != type) {
            continue;
        }

        *out = &types[i];
        if (types[i].use != SN_GMSH_REFUSE) {
            return SINEW_OK;
        }

        return sn_gmsh_fail(g, SINEW_UNSUPPORTED, at,
                            "elements of type %lld (%s) are not read; tets of 4 and 10 nodes, "
                            "hexahedra of 8, triangles and quadrangles are",
                            (long long)type, types[i].name);
    }

    return sn_gmsh_fail(g, SINEW_UNSUPPORTED, at, "unknown element type %lld", (long long)type);
}

sinew_status sn_gmsh_add_element(sn_gmsh *g, const sn_gmsh_type *type, const int64_t *tags,
                                 int64_t label, const char *at) {
    if (type->use == SN_GMSH_SKIP) {
        return SINEW_OK;
    }

    if (label > INT32_MAX || label < INT32_MIN) {
        return sn_gmsh_fail(g, SINEW_INVALID_DATA, at, "the label %lld is beyond 32 bits",
                            (long long)label);
    }

    int32_t nodes[10];
    static const int32_t kept[] = {0, 3, 4, 4, 10, 8}; // nodes by use; second-order faces: corners
    for (int32_t i = 0; i < kept[type->use]; i++) {
        nodes[i] = sn_tags_find(&g->tags, tags[i]);
        if (nodes[i] >= 0) {
            continue;
        }

        return sn_gmsh_fail(g, SINEW_INVALID_DATA, at,
                            "a %s refers to node %lld, which $Nodes does not have", type->name,
                            (long long)tags[i]);
    }

    // Gmsh lists the last two mid-edge nodes in the opposite order.
    if (type->use == SN_GMSH_TET10) {
        int32_t node = nodes[8];
        nodes[8] = nodes[9];
        nodes[9] = node;
    }

    static const sinew_element elements[] = {SINEW_ELEMENT_TRIANGLE, SINEW_ELEMENT_TRIANGLE,
                                             SINEW_ELEMENT_TRIANGLE, SINEW_ELEMENT_TET4,
                                             SINEW_ELEMENT_TET10,    SINEW_ELEMENT_HEX8};

    if (type->use == SN_GMSH_QUADRANGLE) {
        sn_mesh_add_polygon(g->file, nodes, 4, (int32_t)label);
    } else {
        sn_mesh_add_cell(g->file, elements[type->use], nodes, (int32_t)label);
    }

    if (label) {
        g->file->has_labels = true;
    }

    return SINEW_OK;
}

sinew_status sn_gmsh_finish_nodes(sn_gmsh *g) {
    SN_TRY(sn_buffer_status(&g->file->points));
    SN_TRY(sn_buffer_status(&g->node_tags));

    const int64_t *tags = (const int64_t *)(const void *)g->node_tags.data;
    int32_t count = (int32_t)sn_mesh_point_count(g->file);
    int32_t twice = 0;

    // Tags must be usable as keys, and unique.
    for (int32_t i = 0; i < count; i++) {
        if (tags[i] >= 0 && tags[i] < INT64_MAX / 4) {
            continue;
        }
        return sn_gmsh_fail(g, SINEW_INVALID_DATA, g->text.at,
                            "node %d has the tag %lld; tags start from 1", i, (long long)tags[i]);
    }

    sinew_status status = sn_tags_create(g->context, tags, count, &g->tags, &twice);
    if (status == SINEW_INVALID_DATA) {
        return sn_gmsh_fail(g, status, g->text.at, "the node tag %lld occurs twice in $Nodes",
                            (long long)tags[twice]);
    }

    g->has_nodes = true;
    return status;
}

static sinew_status read_physical_names(sn_gmsh *g) {
    bool binary = g->binary;
    g->binary = false; // this section is text in every file

    int64_t count = 0;
    sinew_status status = sn_gmsh_count(g, 4, "the number of physical names", 3, 4, &count);
    for (int64_t i = 0; i < count && status == SINEW_OK; i++) {
        int64_t dimension = 0, tag = 0;
        status = sn_gmsh_integer(g, 4, "a dimension", &dimension);
        if (status == SINEW_OK) {
            status = sn_gmsh_integer(g, 4, "a physical tag", &tag);
        }
        if (status != SINEW_OK) {
            break;
        }

        // The name itself ends the line.
        sn_word name = sn_text_rest_of_line(&g->text);
        if (name.size < 2 || name.at[0] != '"' || name.at[name.size - 1] != '"' ||
            tag > INT32_MAX || tag < INT32_MIN) {
            status = sn_gmsh_fail(g, SINEW_INVALID_DATA, name.at,
                                  "expected a physical name in double quotes");
            break;
        }

        name = (sn_word){name.at + 1, name.size - 2};
        if (dimension == 2 || dimension == 3) {
            sn_mesh_add_group(g->file, name, (int32_t)dimension, (int32_t)tag);
        }
    }

    // With physical names, their tags are the labels.
    if (count > 0) {
        g->physical = true;
    }

    g->binary = binary;
    return status;
}

static sinew_status read_format(sn_gmsh *g, int *version) {
    const char *begin = g->text.at;
    sn_word number = sn_text_line_word(&g->text);
    int64_t binary = 0, size = 0;

    SN_TRY(sn_gmsh_integer(g, 4, "the file type", &binary));
    SN_TRY(sn_gmsh_integer(g, 4, "the size of a number", &size));

    // The version.
    bool two = sn_word_is(number, "2.2") || sn_word_is(number, "2.1") || sn_word_is(number, "2") ||
               sn_word_is(number, "2.0");
    if (!two && !sn_word_is(number, "4.1")) {
        char shown[SN_TEXT_FOUND_SIZE];
        return sn_gmsh_fail(g, SINEW_UNSUPPORTED, begin,
                            "version %s is not read; 2.2 and 4.1 are (gmsh -format msh41 -save)",
                            sn_text_found(number.at, number.at + number.size, shown));
    }

    *version = two ? 2 : 4;

    // The encoding, and the size of numbers.
    if ((binary != 0 && binary != 1) || size != 8) {
        return sn_gmsh_fail(g, SINEW_UNSUPPORTED, begin,
                            "file type %lld with numbers of %lld bytes; valid are 0 or 1, and 8",
                            (long long)binary, (long long)size);
    }

    sn_text_skip_line(&g->text);
    if (!binary) {
        return SINEW_OK;
    }

    // A binary file shows its byte order by the integer 1.
    g->binary = true;
    if (g->text.end - g->text.at < 4) {
        return sn_mesh_fail_short(g->context, g->source, g->text.at, "the mark of the byte order");
    }

    g->big = sn_load_u32(g->text.at, true) == 1;
    if (!g->big && sn_load_u32(g->text.at, false) != 1) {
        return sn_gmsh_fail(g, SINEW_INVALID_DATA, g->text.at,
                            "the mark of the byte order must be the integer 1");
    }

    g->text.at += 4;
    return SINEW_OK;
}

// Skips a section that is not used: to the line "$EndName".
static sinew_status skip_section(sn_gmsh *g, sn_word name) {
    for (const char *c = g->text.at; c < g->text.end; c++) {
        c = memchr(c, '$', (size_t)(g->text.end - c));
        if (!c) {
            break;
        }

        sn_word rest = {c, (size_t)(g->text.end - c)};
        if (!sn_word_starts(rest, "$End") || rest.size < 4 + name.size ||
            memcmp(c + 4, name.at, name.size) != 0) {
            continue;
        }

        g->text.at = c;
        return SINEW_OK;
    }

    return sn_gmsh_fail(g, SINEW_INVALID_DATA, name.at, "the section $%.*s is never closed",
                        (int)name.size, name.at);
}

static sinew_status read_section(sn_gmsh *g, sn_word name, int *version) {
    bool nodes = sn_word_is(name, "Nodes");
    bool elements = sn_word_is(name, "Elements");
    if (*version == 0 && !sn_word_is(name, "MeshFormat")) {
        return sn_gmsh_fail(g, SINEW_INVALID_DATA, name.at - 1,
                            "a Gmsh file starts with $MeshFormat");
    }

    // What comes before the mesh.
    if (sn_word_is(name, "MeshFormat")) {
        return read_format(g, version);
    }
    if (sn_word_is(name, "PhysicalNames")) {
        return read_physical_names(g);
    }
    if (sn_word_is(name, "Entities") && *version == 4) {
        return sn_gmsh_read_entities_4(g);
    }

    // The mesh: nodes, then elements, each once.
    if ((nodes && g->has_nodes) || (elements && g->has_elements)) {
        return sn_gmsh_fail(g, SINEW_INVALID_DATA, name.at - 1, "the section appears twice");
    }

    if (nodes) {
        SN_TRY(*version == 2 ? sn_gmsh_read_nodes_2(g) : sn_gmsh_read_nodes_4(g));
        return sn_gmsh_finish_nodes(g);
    }

    if (!elements) {
        return skip_section(g, name);
    }
    if (!g->has_nodes) {
        return sn_gmsh_fail(g, SINEW_INVALID_DATA, name.at - 1, "$Elements comes before $Nodes");
    }

    g->has_elements = true;
    return *version == 2 ? sn_gmsh_read_elements_2(g) : sn_gmsh_read_elements_4(g);
}

static sinew_status read_all(sn_gmsh *g) {
    int version = 0;
    for (sn_text_skip_spaces(&g->text); !sn_text_at_end(&g->text); sn_text_skip_spaces(&g->text)) {
        sn_word head = sn_text_word(&g->text);
        char shown[SN_TEXT_FOUND_SIZE];
        if (head.size < 2 || head.at[0] != '$') {
            return sn_gmsh_fail(g, SINEW_INVALID_DATA, head.at,
                                "found %s, expected the start of a section, such as $Nodes",
                                sn_text_found(head.at, g->text.end, shown));
        }

        // The section and the line that ends it.
        sn_word name = {head.at + 1, head.size < 64 ? head.size - 1 : 63};
        sn_text_skip_line(&g->text);
        SN_TRY(read_section(g, name, &version));
        sn_text_skip_spaces(&g->text);

        sn_word end = sn_text_word(&g->text);
        if (!sn_word_starts(end, "$End") || end.size != name.size + 4 ||
            memcmp(end.at + 4, name.at, name.size) != 0) {
            return sn_gmsh_fail(g, SINEW_INVALID_DATA, end.at, "found %s, expected $End%.*s",
                                sn_text_found(end.at, g->text.end, shown), (int)name.size, name.at);
        }
    }

    if (!g->has_elements) {
        return sn_source_fail(g->context, g->source, SINEW_INVALID_DATA,
                              "the file has no section $Elements");
    }

    return SINEW_OK;
}

sinew_status sn_read_gmsh(sinew_context *context, const sn_source *source, sn_mesh_file *file) {
    sn_gmsh g = {.context = context,
                 .source = source,
                 .file = file,
                 .text = sn_source_text(source),
                 .node_tags = sn_buffer_create(context)};

    // Scratch buffers.
    for (int kind = 0; kind < SN_ELEMENT_KINDS; kind++) {
        g.elementary[kind] = sn_buffer_create(context);
    }

    for (int i = 0; i < 2; i++) {
        g.entity_tags[i] = sn_buffer_create(context);
        g.entity_groups[i] = sn_buffer_create(context);
    }

    sinew_status status = read_all(&g);

    // All are freed, whether reading failed or not.
    for (int kind = 0; kind < SN_ELEMENT_KINDS; kind++) {
        sn_buffer_destroy(&g.elementary[kind]);
    }

    for (int i = 0; i < 2; i++) {
        sn_buffer_destroy(&g.entity_tags[i]);
        sn_buffer_destroy(&g.entity_groups[i]);
        sn_tags_destroy(&g.entities[i]);
    }

    sn_buffer_destroy(&g.node_tags);
    sn_tags_destroy(&g.tags);

    return status;
}
