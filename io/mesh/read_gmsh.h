// Shared by the two versions of the Gmsh format: a cursor over text or binary data, nodes by tag,
// element types.
#ifndef SN_IO_MESH_READ_GMSH_H
#define SN_IO_MESH_READ_GMSH_H

#include "io/bytes/bytes.h"
#include "io/mesh/build.h"
#include "io/mesh/tags.h"

typedef struct sn_gmsh {
    sinew_context *context;
    const sn_source *source;
    sn_mesh_file *file;
    sn_text text;
    bool binary, big;
    bool physical; // the file has physical groups, which are then the labels
    bool has_nodes, has_elements;
    sn_buffer node_tags; // int64, in the order of the nodes
    sn_tags tags;
    sn_buffer elementary[SN_ELEMENT_KINDS]; // 2.2: labels for files without physical groups
    // 4.1: surfaces and volumes by tag, and the first physical group of each, or 0. All int64.
    sn_buffer entity_tags[2], entity_groups[2];
    sn_tags entities[2];
} sn_gmsh;

// How an element type is used.
typedef struct sn_gmsh_type {
    int32_t type, nodes;
    enum {
        SN_GMSH_SKIP,
        SN_GMSH_TRIANGLE,
        SN_GMSH_QUADRANGLE,
        SN_GMSH_TET,
        SN_GMSH_TET10,
        SN_GMSH_HEX,
        SN_GMSH_REFUSE
    } use;
    const char *name;
} sn_gmsh_type;

// A failure at `at`, located by line and column in text files, by byte in binary ones.
#if defined(__GNUC__)
__attribute__((format(printf, 4, 5)))
#endif
sinew_status
sn_gmsh_fail(sn_gmsh *g, sinew_status status, const char *at, const char *format, ...);

// The next number; `size` is its bytes in a binary file (4 or 8). `what` is for the message.
sinew_status sn_gmsh_integer(sn_gmsh *g, size_t size, const char *what, int64_t *out);
sinew_status sn_gmsh_double(sn_gmsh *g, const char *what, double *out);

// A number of items, each of which takes at least `numbers` numbers of `number_size` bytes.
sinew_status sn_gmsh_count(sn_gmsh *g, size_t size, const char *what, size_t numbers,
                           size_t number_size, int64_t *out);

sinew_status sn_gmsh_find_type(sn_gmsh *g, int64_t type, const char *at, const sn_gmsh_type **out);

// Adds an element whose nodes are given by tag.
sinew_status sn_gmsh_add_element(sn_gmsh *g, const sn_gmsh_type *type, const int64_t *tags,
                                 int64_t label, const char *at);

// To be called after all nodes: prepares the lookup by tag.
sinew_status sn_gmsh_finish_nodes(sn_gmsh *g);

// The sections of each version; the cursor is after the line "$Name".
sinew_status sn_gmsh_read_nodes_2(sn_gmsh *g);
sinew_status sn_gmsh_read_elements_2(sn_gmsh *g);
sinew_status sn_gmsh_read_entities_4(sn_gmsh *g);
sinew_status sn_gmsh_read_nodes_4(sn_gmsh *g);
sinew_status sn_gmsh_read_elements_4(sn_gmsh *g);

#endif
