// VTU: a short XML head that contains the offset of each array in the appended data, then the data.
// Raw data is copied once and not encoded. Compression, if requested, uses zlib's fastest level in
// blocks of BLOCK_SIZE.
#include "io/mesh/write.h"

#include "io/text/xml.h"

#include <math.h>
#include <string.h>
#if defined(SN_WITH_ZLIB)
#include <zlib.h>
#endif

enum { BLOCK_SIZE = 1 << 18 };

typedef struct writer {
    const sn_mesh_view *mesh;
    sn_vtu_options options;
    sn_buffer *out;
    sn_buffer data;  // everything after the '_'
    sn_buffer plain; // one array before compression
    int64_t cell_count;
} writer;

static const char *number_type(const writer *w) {
    return w->options.single ? "Float32" : "Float64";
}

#if defined(SN_WITH_ZLIB)
// Header: number of blocks, size of a block, size of the last one if it is shorter, compressed size
// of each; then the blocks.
static void add_compressed(writer *w) {
    size_t size = w->plain.size;
    size_t blocks = (size + BLOCK_SIZE - 1) / BLOCK_SIZE;

    sn_buffer_add_u64(&w->data, blocks);
    sn_buffer_add_u64(&w->data, BLOCK_SIZE);
    sn_buffer_add_u64(&w->data, size % BLOCK_SIZE);

    // The sizes are patched in as the blocks are compressed.
    size_t sizes = w->data.size;
    sn_buffer_add_zeros(&w->data, 8 * blocks);
    for (size_t i = 0; i < blocks; i++) {
        size_t begin = i * BLOCK_SIZE;
        size_t part = size - begin < BLOCK_SIZE ? size - begin : BLOCK_SIZE;
        uLongf packed = compressBound((uLong)part);
        char *room = sn_buffer_reserve(&w->data, packed);

        if (!room) {
            return;
        }

        if (compress2((Bytef *)room, &packed, (const Bytef *)w->plain.data + begin, (uLong)part,
                      1) != Z_OK) {
            sn_fail(w->out->context, SINEW_OUT_OF_MEMORY, "zlib ran out of memory");
            w->data.failed = true;
            return;
        }

        sn_buffer_patch_u32(&w->data, sizes + 8 * i, (uint32_t)packed);
        w->data.size += packed;
    }
}
#endif

// Names of the components of a symmetric tensor, as ParaView shows them.
static void add_component_names(sn_buffer *out) {
    static const char *const names[6] = {"XX", "YY", "ZZ", "XY", "YZ", "XZ"};
    for (int k = 0; k < 6; k++) {
        sn_buffer_print(out, " ComponentName%d=\"%s\"", k, names[k]);
    }
}

// Begins an array and returns the buffer for its bytes; end_array completes it.
static sn_buffer *begin_array(writer *w, const char *type, const char *name, int32_t components) {
    sn_buffer_print(w->out, "<DataArray type=\"%s\" Name=\"", type);
    sn_xml_add_escaped(w->out, name);
    sn_buffer_print(w->out, "\" NumberOfComponents=\"%d\"", components);
    if (components == 6) {
        add_component_names(w->out);
    }
    sn_buffer_print(w->out, " format=\"appended\" offset=\"%zu\"/>\n", w->data.size);
    sn_buffer_clear(&w->plain);

    if (w->options.compress) {
        return &w->plain;
    }

    sn_buffer_add_u64(&w->data, 0); // its size, known at the end
    return &w->data;
}

static void end_array(writer *w, size_t begin) {
#if defined(SN_WITH_ZLIB)
    if (w->options.compress) {
        if (w->plain.failed) {
            w->data.failed = true;
        }
        add_compressed(w);
        return;
    }
#endif
    uint64_t size = w->data.size - begin - 8;

    sn_buffer_patch_u32(&w->data, begin, (uint32_t)size);
    sn_buffer_patch_u32(&w->data, begin + 4, (uint32_t)(size >> 32));
}

static void add_numbers(writer *w, const char *name, int32_t components, const double *values,
                        size_t count) {
    size_t begin = w->data.size;
    sn_buffer *to = begin_array(w, number_type(w), name, components);
    if (w->options.single) {
        sn_buffer_add_f32s(to, values, count);
    } else {
        sn_buffer_add_f64s(to, values, count);
    }

    end_array(w, begin);
}

static void add_labels(writer *w) {
    size_t begin = w->data.size;
    sn_buffer *to = begin_array(w, "Int32", "label", 1);
    for (int kind = 0; kind < SN_ELEMENT_KINDS; kind++) {
        const sn_mesh_cells *cells = &w->mesh->cells[kind];
        if (cells->labels) {
            sn_buffer_add_i32s(to, cells->labels, (size_t)cells->count);
        } else {
            sn_buffer_add_zeros(to, 4 * (size_t)cells->count);
        }
    }

    end_array(w, begin);
}

static void add_cells(writer *w) {
    static const uint8_t types[SN_ELEMENT_KINDS] = {5, 10, 24, 12};

    // Nodes of all cells, one kind after the other.
    size_t begin = w->data.size;
    sn_buffer *to = begin_array(w, "Int32", "connectivity", 1);

    for (int kind = 0; kind < SN_ELEMENT_KINDS; kind++) {
        const sn_mesh_cells *cells = &w->mesh->cells[kind];
        sn_buffer_add_i32s(to, cells->nodes,
                           (size_t)cells->count * (size_t)sn_cell_node_count(kind));
    }

    end_array(w, begin);

    // Where each cell ends.
    begin = w->data.size;
    to = begin_array(w, "Int64", "offsets", 1);

    uint64_t offset = 0;
    for (int kind = 0; kind < SN_ELEMENT_KINDS; kind++) {
        for (int32_t i = 0; i < w->mesh->cells[kind].count; i++) {
            sn_buffer_add_u64(to, offset += (uint64_t)sn_cell_node_count(kind));
        }
    }

    end_array(w, begin);

    // VTK's number of each cell's type.
    begin = w->data.size;
    to = begin_array(w, "UInt8", "types", 1);
    for (int kind = 0; kind < SN_ELEMENT_KINDS; kind++) {
        size_t count = (size_t)w->mesh->cells[kind].count;
        char *at = sn_buffer_reserve(to, count);
        if (!at) {
            break;
        }

        memset(at, types[kind], count);
        to->size += count;
    }

    end_array(w, begin);
}

static bool has_labels(const sn_mesh_view *mesh) {
    for (int kind = 0; kind < SN_ELEMENT_KINDS; kind++) {
        if (mesh->cells[kind].labels) {
            return true;
        }
    }
    return false;
}

static void add_piece(writer *w, const sn_fields *fields) {
    const sn_mesh_view *mesh = w->mesh;

    // The order of the sections is fixed by the format.
    sn_buffer_print(
        w->out,
        "<UnstructuredGrid>\n<Piece NumberOfPoints=\"%d\" NumberOfCells=\"%lld\">\n<PointData>\n",
        mesh->point_count, (long long)w->cell_count);

    if (fields) {
        for (int32_t i = 0; i < fields->point_count; i++) {
            const sn_field *f = &fields->point[i];
            add_numbers(w, f->name, f->components, f->values,
                        (size_t)mesh->point_count * (size_t)f->components);
        }
    }

    sn_buffer_add_text(w->out, "</PointData>\n<CellData>\n");
    if (has_labels(mesh)) {
        add_labels(w);
    }

    if (fields) {
        for (int32_t i = 0; i < fields->cell_count; i++) {
            const sn_field *f = &fields->cell[i];
            add_numbers(w, f->name, f->components, f->values,
                        (size_t)w->cell_count * (size_t)f->components);
        }
    }

    sn_buffer_add_text(w->out, "</CellData>\n<Points>\n");
    add_numbers(w, "Points", 3, mesh->points, 3 * (size_t)mesh->point_count);
    sn_buffer_add_text(w->out, "</Points>\n<Cells>\n");
    add_cells(w);
    sn_buffer_add_text(w->out, "</Cells>\n</Piece>\n</UnstructuredGrid>\n");
}

sinew_status sn_write_vtu(const sn_mesh_view *mesh, const sn_fields *fields,
                          const sn_vtu_options *options, sn_buffer *out) {
    writer w = {.mesh = mesh,
                .out = out,
                .data = sn_buffer_create(out->context),
                .plain = sn_buffer_create(out->context)};

    if (options) {
        w.options = *options;
    }
#if !defined(SN_WITH_ZLIB)
    w.options.compress = false;
#endif
    for (int kind = 0; kind < SN_ELEMENT_KINDS; kind++) {
        w.cell_count += mesh->cells[kind].count;
    }

    // The head refers to the data that add_piece collects.
    sn_buffer_print(out,
                    "<?xml version=\"1.0\"?>\n<VTKFile type=\"UnstructuredGrid\" version=\"1.0\" "
                    "byte_order=\"LittleEndian\" header_type=\"UInt64\"%s>\n",
                    w.options.compress ? " compressor=\"vtkZLibDataCompressor\"" : "");
    add_piece(&w, fields);
    sn_buffer_add_text(out, "<AppendedData encoding=\"raw\">\n_");
    sn_buffer_add(out, w.data.data, w.data.size);
    sn_buffer_add_text(out, "\n</AppendedData>\n</VTKFile>\n");

    sinew_status status = w.data.failed ? SINEW_OUT_OF_MEMORY : sn_buffer_status(out);
    sn_buffer_destroy(&w.data);
    sn_buffer_destroy(&w.plain);

    return status;
}

sinew_status sn_write_pvd(const char *const *names, const double *times, int32_t count,
                          sn_buffer *out) {
    sn_buffer_add_text(
        out,
        "<?xml version=\"1.0\"?>\n<VTKFile type=\"Collection\" version=\"0.1\">\n<Collection>\n");

    for (int32_t i = 0; i < count; i++) {
        sn_buffer_add_text(out, "<DataSet timestep=\"");
        sn_buffer_add_double(out, times[i]);
        sn_buffer_add_text(out, "\" group=\"\" part=\"0\" file=\"");
        sn_xml_add_escaped(out, names[i]);
        sn_buffer_add_text(out, "\"/>\n");
    }

    sn_buffer_add_text(out, "</Collection>\n</VTKFile>\n");
    return sn_buffer_status(out);
}
