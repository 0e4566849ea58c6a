// Detects the format of a file and calls its reader.
#include "io/mesh/build.h"

#include <string.h>

static const struct {
    sn_mesh_format format;
    const char *name;
    const char *extension; // with the point, lower case
    sinew_status (*read)(sinew_context *context, const sn_source *source, sn_mesh_file *file);
} formats[] = {
    {SN_MESH_OBJ, "OBJ", ".obj", sn_read_obj},
    {SN_MESH_PLY, "PLY", ".ply", sn_read_ply},
    {SN_MESH_STL, "STL", ".stl", sn_read_stl},
    {SN_MESH_GLTF, "glTF", ".gltf", sn_read_gltf_mesh},
    {SN_MESH_GLTF, "glTF", ".glb", sn_read_gltf_mesh},
    {SN_MESH_GMSH, "Gmsh", ".msh", sn_read_gmsh},
    {SN_MESH_MEDIT, "Medit", ".mesh", sn_read_medit},
    {SN_MESH_TETGEN, "TetGen", ".node", sn_read_tetgen},
    {SN_MESH_VTU, "VTU", ".vtu", sn_read_vtu},
};
enum { FORMATS = sizeof formats / sizeof formats[0] };

const char *sn_mesh_format_name(sn_mesh_format format) {
    for (int i = 0; i < FORMATS; i++) {
        if (formats[i].format == format) {
            return formats[i].name;
        }
    }
    return "unknown";
}

static bool ends_like(const char *name, const char *end) {
    size_t size = strlen(name);
    size_t end_size = strlen(end);
    return size > end_size && sn_word_is_like((sn_word){name + size - end_size, end_size}, end);
}

sn_mesh_format sn_mesh_detect(const sn_source *source) {
    sn_text text = sn_source_text(source);
    sn_word start = {text.begin, source->size};

    // Formats with a magic word.
    if (sn_word_starts(start, "glTF")) {
        return SN_MESH_GLTF;
    }
    if (sn_word_starts(start, "ply\n") || sn_word_starts(start, "ply\r")) {
        return SN_MESH_PLY;
    }
    if (sn_word_starts(start, "$MeshFormat")) {
        return SN_MESH_GMSH;
    }

    for (int i = 0; i < FORMATS; i++) {
        if (ends_like(source->name, formats[i].extension)) {
            return formats[i].format;
        }
    }

    // Other formats, by their first word.
    sn_word word = sn_text_word(&text);
    if (sn_word_starts(word, "<?xml") || sn_word_starts(word, "<VTKFile")) {
        return SN_MESH_VTU;
    }
    if (sn_word_is(word, "MeshVersionFormatted")) {
        return SN_MESH_MEDIT;
    }
    if (sn_word_starts(word, "{")) {
        return SN_MESH_GLTF;
    }
    if (sn_word_is(word, "solid")) {
        return SN_MESH_STL;
    }

    return SN_MESH_UNKNOWN;
}

static void create(sinew_context *context, sn_mesh_format format, sn_mesh_file *file) {
    *file = (sn_mesh_file){.format = format, .arena = sn_arena_create(context)};
    sn_buffer *buffers[] = {&file->points,           &file->normals,      &file->uvs,
                            &file->triangle_normals, &file->triangle_uvs, &file->groups};

    for (size_t i = 0; i < sizeof buffers / sizeof *buffers; i++) {
        *buffers[i] = sn_buffer_create(context);
    }

    for (int kind = 0; kind < SN_ELEMENT_KINDS; kind++) {
        file->nodes[kind] = sn_buffer_create(context);
        file->labels[kind] = sn_buffer_create(context);
    }
}

void sn_mesh_file_destroy(sn_mesh_file *file) {
    sn_buffer *buffers[] = {&file->points,           &file->normals,      &file->uvs,
                            &file->triangle_normals, &file->triangle_uvs, &file->groups};
    for (size_t i = 0; i < sizeof buffers / sizeof *buffers; i++) {
        sn_buffer_destroy(buffers[i]);
    }

    for (int kind = 0; kind < SN_ELEMENT_KINDS; kind++) {
        sn_buffer_destroy(&file->nodes[kind]);
        sn_buffer_destroy(&file->labels[kind]);
    }

    sn_arena_destroy(&file->arena);
    file->view = (sn_mesh_view){0};
}

sinew_status sn_mesh_read_format(sinew_context *context, const sn_source *source,
                                 sn_mesh_format format, sn_mesh_file *file) {
    create(context, format, file);
    for (int i = 0; i < FORMATS; i++) {
        if (formats[i].format != format) {
            continue;
        }
        SN_TRY(formats[i].read(context, source, file));
        SN_TRY(sn_mesh_finish(context, source, file));
        if (format == SN_MESH_OBJ) {
            sn_mesh_file_rotate_up(file, 'y');
        }
        return SINEW_OK;
    }

    return sn_source_fail(
        context, source, SINEW_UNSUPPORTED,
        "this is no mesh file that is known here; valid are .obj, .ply, .stl, .gltf, .glb, .msh "
        "(Gmsh), .mesh (Medit), .node with .ele (TetGen) and .vtu");
}

void sn_mesh_file_rotate_up(sn_mesh_file *file, char axis) {
    bool rotate = axis == 'y';
    if (rotate == file->rotated) {
        return;
    }

    sn_buffer *buffers[] = {&file->points, &file->normals};
    for (int k = 0; k < 2; k++) {
        double *values = (double *)buffers[k]->data;
        size_t count = buffers[k]->size / (3 * sizeof(double));
        for (size_t i = 0; i < count; i++) {
            if (rotate) {
                sn_rotate_y_to_z(values + 3 * i, values + 3 * i);
            } else {
                sn_rotate_z_to_y(values + 3 * i, values + 3 * i);
            }
        }
    }
    file->rotated = rotate;
}

sinew_status sn_mesh_read(sinew_context *context, const sn_source *source, sn_mesh_file *file) {
    return sn_mesh_read_format(context, source, sn_mesh_detect(source), file);
}

sn_mesh_view sn_mesh_view_of(const sinew_mesh *mesh) {
    sn_mesh_view view = {.point_count = mesh->point_count, .points = mesh->points};
    view.cells[mesh->element] = (sn_mesh_cells){mesh->element_count, mesh->indices, mesh->labels};
    return view;
}
