// The sections $Nodes, $Elements and $Entities of Gmsh files, version 2.2 and 4.1.
#include "io/mesh/read_gmsh.h"

#include <string.h>

static sinew_status read_node(sn_gmsh *g, double *point) {
    for (int k = 0; k < 3; k++) {
        SN_TRY(sn_gmsh_double(g, "a coordinate", &point[k]));
    }
    return SINEW_OK;
}

sinew_status sn_gmsh_read_nodes_2(sn_gmsh *g) {
    bool binary = g->binary;
    g->binary = false; // the count is text in every file

    int64_t count = 0;
    sinew_status status = sn_gmsh_count(g, 4, "the number of nodes", 4, 7, &count);
    if (binary) {
        sn_text_skip_line(&g->text);
    }

    g->binary = binary;
    SN_TRY(status);

    // The count is checked against the bytes that are left before anything is allocated.
    if (binary && (size_t)(g->text.end - g->text.at) / 28 < (size_t)count) {
        return sn_mesh_fail_short(g->context, g->source, g->text.at, "$Nodes");
    }

    double *points = sn_mesh_add_points(g->file, (size_t)count);
    int64_t *tags = sn_buffer_push(&g->node_tags, (size_t)count, sizeof *tags);
    if (!points || !tags) {
        return SINEW_OUT_OF_MEMORY;
    }

    for (int64_t i = 0; i < count; i++) {
        SN_TRY(sn_gmsh_integer(g, 4, "a node's tag", &tags[i]));
        SN_TRY(read_node(g, points + 3 * i));
    }

    return SINEW_OK;
}

// The tags before the nodes: physical group, elementary entity, possibly partitions.
static sinew_status read_element_2(sn_gmsh *g, const sn_gmsh_type *type, int64_t tag_count,
                                   const char *at) {
    int64_t label[2] = {0, 0};
    int64_t nodes[32], skipped;
    for (int64_t i = 0; i < tag_count; i++) {
        SN_TRY(sn_gmsh_integer(g, 4, "an element's tag", i < 2 ? &label[i] : &skipped));
    }

    for (int32_t i = 0; i < type->nodes; i++) {
        SN_TRY(sn_gmsh_integer(g, 4, "a node's tag", &nodes[i]));
    }

    if (label[0] != 0) {
        g->physical = true;
    }

    SN_TRY(sn_gmsh_add_element(g, type, nodes, label[0], at));

    // One elementary label for each element that was added; a polygon adds several.
    int32_t elementary = label[1] > INT32_MAX || label[1] < 0 ? 0 : (int32_t)label[1];
    for (int kind = 0; kind < SN_ELEMENT_KINDS; kind++) {
        sn_buffer *other = &g->elementary[kind];
        while (other->size < g->file->labels[kind].size && !other->failed) {
            sn_buffer_add(other, &elementary, sizeof elementary);
        }
    }

    return SINEW_OK;
}

// Elementary entities are labels in files without physical groups.
static sinew_status choose_labels(sn_gmsh *g) {
    for (int kind = 0; kind < SN_ELEMENT_KINDS; kind++) {
        sn_buffer *labels = &g->file->labels[kind];
        SN_TRY(sn_buffer_status(labels));
        SN_TRY(sn_buffer_status(&g->elementary[kind]));
        SN_ASSERT(labels->size == g->elementary[kind].size);

        if (g->physical || labels->size == 0) {
            continue;
        }

        memcpy(labels->data, g->elementary[kind].data, labels->size);
        g->file->has_labels = true;
    }

    return SINEW_OK;
}

static sinew_status read_text_elements(sn_gmsh *g, int64_t count) {
    for (int64_t i = 0; i < count; i++) {
        sn_text_skip_spaces(&g->text);
        const char *at = g->text.at;
        int64_t number, type_number, tag_count;

        SN_TRY(sn_gmsh_integer(g, 4, "an element's number", &number));
        SN_TRY(sn_gmsh_integer(g, 4, "an element's type", &type_number));
        SN_TRY(sn_gmsh_integer(g, 4, "the number of tags", &tag_count));

        const sn_gmsh_type *type;
        SN_TRY(sn_gmsh_find_type(g, type_number, at, &type));
        if (tag_count < 0 || tag_count > 1000) {
            return sn_gmsh_fail(g, SINEW_INVALID_DATA, at,
                                "an element with %lld tags; valid is 0 to 1000",
                                (long long)tag_count);
        }

        SN_TRY(read_element_2(g, type, tag_count, at));
    }

    return SINEW_OK;
}

// Blocks of one type. Header: type, number of elements, number of tags; then number, tags and nodes
// of each element.
static sinew_status read_binary_elements(sn_gmsh *g, int64_t count) {
    for (int64_t done = 0; done < count;) {
        const char *at = g->text.at;
        int64_t type_number, block, tag_count;

        SN_TRY(sn_gmsh_integer(g, 4, "an element type", &type_number));
        SN_TRY(sn_gmsh_integer(g, 4, "the size of a block", &block));
        SN_TRY(sn_gmsh_integer(g, 4, "the number of tags", &tag_count));

        const sn_gmsh_type *type;
        SN_TRY(sn_gmsh_find_type(g, type_number, at, &type));
        if (block < 1 || block > count - done || tag_count < 0 || tag_count > 1000) {
            return sn_gmsh_fail(
                g, SINEW_INVALID_DATA, at,
                "a block of %lld elements with %lld tags; valid is 1 to %lld, and 0 to 1000",
                (long long)block, (long long)tag_count, (long long)(count - done));
        }

        // The block must fit in the rest of the file.
        size_t size = 4 * (size_t)(1 + tag_count + type->nodes);
        if ((size_t)(g->text.end - g->text.at) / size < (size_t)block) {
            return sn_mesh_fail_short(g->context, g->source, at, "a block of elements");
        }

        for (int64_t i = 0; i < block; i++) {
            const char *element = g->text.at;
            int64_t number;
            SN_TRY(sn_gmsh_integer(g, 4, "an element's number", &number));
            SN_TRY(read_element_2(g, type, tag_count, element));
        }

        done += block;
    }

    return SINEW_OK;
}

sinew_status sn_gmsh_read_elements_2(sn_gmsh *g) {
    bool binary = g->binary;
    g->binary = false;

    int64_t count = 0;
    sinew_status status = sn_gmsh_count(g, 4, "the number of elements", 4, 4, &count);
    if (binary) {
        sn_text_skip_line(&g->text);
    }

    g->binary = binary;
    SN_TRY(status);
    SN_TRY(binary ? read_binary_elements(g, count) : read_text_elements(g, count));

    return choose_labels(g);
}

// Tag, coordinates or box, physical groups and, except for points, the bounding entities.
static sinew_status read_entity(sn_gmsh *g, int32_t dimension) {
    int64_t tag, count, value;
    double skipped;

    SN_TRY(sn_gmsh_integer(g, 4, "an entity's tag", &tag));
    for (int i = 0; i < (dimension ? 6 : 3); i++) {
        SN_TRY(sn_gmsh_double(g, "a coordinate", &skipped));
    }

    int64_t group = 0;
    SN_TRY(sn_gmsh_count(g, 8, "the number of physical groups", 1, 4, &count));
    for (int64_t i = 0; i < count; i++) {
        SN_TRY(sn_gmsh_integer(g, 4, "a physical group", &value));
        if (i == 0) {
            group = value < 0 ? -value : value; // the sign is the orientation
        }
        if (dimension >= 2) {
            g->physical = true;
        }
    }

    // Bounding entities are not needed.
    if (dimension > 0) {
        SN_TRY(sn_gmsh_count(g, 8, "the number of bounding entities", 1, 4, &count));
        for (int64_t i = 0; i < count; i++) {
            SN_TRY(sn_gmsh_integer(g, 4, "a bounding entity", &value));
        }
    }

    if (dimension < 2) {
        return SINEW_OK;
    }

    if (tag < INT32_MIN || tag > INT32_MAX) {
        return sn_gmsh_fail(g, SINEW_INVALID_DATA, g->text.at,
                            "the entity tag %lld is beyond 32 bits", (long long)tag);
    }

    sn_buffer_add(&g->entity_tags[dimension - 2], &tag, sizeof tag);
    sn_buffer_add(&g->entity_groups[dimension - 2], &group, sizeof group);

    return SINEW_OK;
}

static sinew_status finish_entities(sn_gmsh *g) {
    for (int i = 0; i < 2; i++) {
        SN_TRY(sn_buffer_status(&g->entity_tags[i]));
        SN_TRY(sn_buffer_status(&g->entity_groups[i]));

        const int64_t *tags = (const int64_t *)(const void *)g->entity_tags[i].data;
        int32_t twice = 0;
        int32_t count = (int32_t)(g->entity_tags[i].size / sizeof *tags);

        sn_tags_destroy(&g->entities[i]);
        sinew_status status = sn_tags_create(g->context, tags, count, &g->entities[i], &twice);
        if (status == SINEW_INVALID_DATA) {
            return sn_gmsh_fail(g, status, g->text.at,
                                "the entity tag %lld occurs twice in $Entities",
                                (long long)tags[twice]);
        }

        SN_TRY(status);
    }

    return SINEW_OK;
}

sinew_status sn_gmsh_read_entities_4(sn_gmsh *g) {
    int64_t counts[4];
    for (int i = 0; i < 4; i++) {
        SN_TRY(sn_gmsh_count(g, 8, "the number of entities", 4, 8, &counts[i]));
    }

    for (int32_t dimension = 0; dimension < 4; dimension++) {
        for (int64_t i = 0; i < counts[dimension]; i++) {
            SN_TRY(read_entity(g, dimension));
        }
    }

    return finish_entities(g);
}

// The physical group of an entity, or its own tag in files without groups.
static int64_t label_of(const sn_gmsh *g, int64_t dimension, int64_t tag) {
    if (!g->physical) {
        return tag;
    }
    if (dimension < 2 || dimension > 3) {
        return 0;
    }

    int32_t index = sn_tags_find(&g->entities[dimension - 2], tag);
    return index < 0 ? 0
                     : ((const int64_t *)(const void *)g->entity_groups[dimension - 2].data)[index];
}

static sinew_status read_node_block(sn_gmsh *g, int64_t left) {
    int64_t dimension, entity, parametric, count, value;
    SN_TRY(sn_gmsh_integer(g, 4, "an entity's dimension", &dimension));
    SN_TRY(sn_gmsh_integer(g, 4, "an entity's tag", &entity));
    SN_TRY(sn_gmsh_integer(g, 4, "the parametric mark", &parametric));

    const char *at = g->text.at;
    SN_TRY(sn_gmsh_count(g, 8, "the number of nodes in a block", 4, 8, &count));
    if (dimension < 0 || dimension > 3 || count > left) {
        return sn_gmsh_fail(g, SINEW_INVALID_DATA, at,
                            "a block of %lld nodes on an entity of dimension %lld; valid is at "
                            "most %lld, and 0 to 3",
                            (long long)count, (long long)dimension, (long long)left);
    }

    double *points = sn_mesh_add_points(g->file, (size_t)count);
    int64_t *tags = sn_buffer_push(&g->node_tags, (size_t)count, sizeof *tags);
    if (!points || !tags) {
        return SINEW_OUT_OF_MEMORY;
    }

    // First all tags, then all coordinates.
    for (int64_t i = 0; i < count; i++) {
        SN_TRY(sn_gmsh_integer(g, 8, "a node's tag", &tags[i]));
    }

    for (int64_t i = 0; i < count; i++) {
        SN_TRY(read_node(g, points + 3 * i));
        double skipped;
        if (parametric) {
            for (value = 0; value < dimension; value++) {
                SN_TRY(sn_gmsh_double(g, "a parameter", &skipped));
            }
        }
    }

    return SINEW_OK;
}

sinew_status sn_gmsh_read_nodes_4(sn_gmsh *g) {
    int64_t blocks, count, skipped;
    SN_TRY(sn_gmsh_count(g, 8, "the number of blocks", 4, 4, &blocks));
    SN_TRY(sn_gmsh_count(g, 8, "the number of nodes", 4, 8, &count));
    SN_TRY(sn_gmsh_integer(g, 8, "the smallest tag", &skipped));
    SN_TRY(sn_gmsh_integer(g, 8, "the largest tag", &skipped));

    // One allocation for all blocks.
    if (!sn_buffer_reserve(&g->file->points, (size_t)count * 3 * sizeof(double))) {
        return SINEW_OUT_OF_MEMORY;
    }

    if (!sn_buffer_reserve(&g->node_tags, (size_t)count * sizeof(int64_t))) {
        return SINEW_OUT_OF_MEMORY;
    }

    for (int64_t i = 0; i < blocks; i++) {
        SN_TRY(read_node_block(g, count - (int64_t)sn_mesh_point_count(g->file)));
    }

    if ((int64_t)sn_mesh_point_count(g->file) == count) {
        return SINEW_OK;
    }

    return sn_gmsh_fail(g, SINEW_INVALID_DATA, g->text.at,
                        "$Nodes announces %lld nodes; its blocks hold %zu", (long long)count,
                        sn_mesh_point_count(g->file));
}

static sinew_status read_element_block(sn_gmsh *g, int64_t left, int64_t *read) {
    int64_t dimension, entity, type_number, number, nodes[32];

    // The head of the block: its entity, the type of its elements, and their number.
    SN_TRY(sn_gmsh_integer(g, 4, "an entity's dimension", &dimension));
    SN_TRY(sn_gmsh_integer(g, 4, "an entity's tag", &entity));
    if (!g->binary) {
        sn_text_skip_spaces(&g->text);
    }

    const char *at = g->text.at;
    SN_TRY(sn_gmsh_integer(g, 4, "an element type", &type_number));

    const sn_gmsh_type *type;
    SN_TRY(sn_gmsh_find_type(g, type_number, at, &type));
    SN_TRY(
        sn_gmsh_count(g, 8, "the number of elements in a block", 1 + (size_t)type->nodes, 8, read));

    if (*read > left) {
        return sn_gmsh_fail(g, SINEW_INVALID_DATA, at,
                            "a block of %lld elements; only %lld are left of what was announced",
                            (long long)*read, (long long)left);
    }

    // The elements.
    int64_t label = label_of(g, dimension, entity);
    for (int64_t i = 0; i < *read; i++) {
        if (!g->binary) {
            sn_text_skip_spaces(&g->text);
        }

        at = g->text.at;
        SN_TRY(sn_gmsh_integer(g, 8, "an element's tag", &number));
        for (int32_t k = 0; k < type->nodes; k++) {
            SN_TRY(sn_gmsh_integer(g, 8, "a node's tag", &nodes[k]));
        }

        SN_TRY(sn_gmsh_add_element(g, type, nodes, label, at));
    }

    return SINEW_OK;
}

sinew_status sn_gmsh_read_elements_4(sn_gmsh *g) {
    int64_t blocks, count, skipped, done = 0;
    SN_TRY(sn_gmsh_count(g, 8, "the number of blocks", 4, 4, &blocks));
    SN_TRY(sn_gmsh_count(g, 8, "the number of elements", 2, 8, &count));
    SN_TRY(sn_gmsh_integer(g, 8, "the smallest tag", &skipped));
    SN_TRY(sn_gmsh_integer(g, 8, "the largest tag", &skipped));

    for (int64_t i = 0; i < blocks; i++) {
        int64_t read = 0;
        SN_TRY(read_element_block(g, count - done, &read));
        done += read;
    }

    if (done == count) {
        return SINEW_OK;
    }

    return sn_gmsh_fail(g, SINEW_INVALID_DATA, g->text.at,
                        "$Elements announces %lld elements; its blocks hold %lld", (long long)count,
                        (long long)done);
}
