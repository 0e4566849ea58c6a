// rig.png: the solid three times, coloured by tissue, by weights (one hue for each node, blended)
// and by the region of the sample behind each point; frames shine through. Where a tissue is hidden
// inside others the first is cut open.
#include "io/rig/rig.h"

#include "sinew/surface.h"

#include "io/picture/render.h"
#include "io/picture/sheet.h"
#include "io/public/picture.h"
#include "io/volume/volume.h"
#include "math/box.h"

#include <math.h>

enum { CELL_WIDTH = 480, CELL_HEIGHT = 400, SMOOTHING = 2, MOST_NAMES = 64 };

typedef enum view { VIEW_TISSUES, VIEW_WEIGHTS, VIEW_REGIONS, VIEWS } view;

typedef struct painter {
    sinew_context *context;
    const sinew_rig_file_def *def;
    const sinew_voxels *voxels;
    const uint16_t *labels; // voxel
    const sinew_mesh *surface;
    int32_t node_count;
    int32_t *sample_of;            // voxel
    int32_t *voxel_of;             // vertex
    const int32_t *starts, *nodes; // the weights of each vertex
    const double *weights;
    double *blend; // scratch: one for each node
    float *colors;
    double *points, *axes; // of the frames
    sinew_mesh *half;      // boundary of what lies behind the middle, or NULL: nothing is hidden
    float *half_colors;
} painter;

static int32_t tissue_of(const sinew_rig_file_def *def, int32_t label) {
    for (int32_t i = 0; i < sn_rig_tissue_count(def); i++) {
        if (def->tissues->tissues[i].label == label) {
            return i;
        }
    }
    return label;
}

static sn_color vertex_color(const painter *p, view view, int32_t i) {
    if (view == VIEW_TISSUES) {
        return sn_palette(tissue_of(p->def, p->labels[p->voxel_of[i]]));
    }
    if (view == VIEW_REGIONS) {
        return sn_palette(p->sample_of[p->voxel_of[i]]);
    }

    for (int32_t k = 0; k < p->node_count; k++) {
        p->blend[k] = 0;
    }
    for (int32_t k = p->starts[i]; k < p->starts[i + 1]; k++) {
        p->blend[p->nodes[k]] = p->weights[k];
    }
    return sn_palette_blend(p->blend, p->node_count);
}

static void set_color(float *colors, int32_t i, sn_color color) {
    float *place = colors + 3 * (size_t)i;
    place[0] = color.r;
    place[1] = color.g;
    place[2] = color.b;
}

static sinew_status prepare(painter *p, sn_arena *arena) {
    const sinew_body *body = p->def->body;
    p->sample_of = SN_PUSH(arena, int32_t, sinew_voxels_get_count(p->voxels));
    p->voxel_of = SN_PUSH(arena, int32_t, p->surface->point_count);
    p->blend = SN_PUSH(arena, double, p->node_count);
    p->colors = SN_PUSH(arena, float, 3 * (size_t)p->surface->point_count);
    p->points = SN_PUSH(arena, double, 3 * (size_t)p->node_count);
    p->axes = SN_PUSH(arena, double, 9 * (size_t)p->node_count);
    SN_TRY(sn_arena_status(arena));
    SN_TRY(sinew_frame_body_compute_regions(body, p->sample_of));

    for (int32_t i = 0; i < p->surface->point_count; i++) {
        p->voxel_of[i] =
            sinew_voxels_find_nearest(p->voxels, p->surface->points + 3 * (size_t)i, INFINITY);
    }

    for (int32_t i = 0; i < p->node_count; i++) {
        SN_TRY(sinew_frame_body_get_node(body, i, p->points + 3 * (size_t)i, NULL));
        SN_TRY(sinew_frame_body_get_matrix(body, i, p->axes + 9 * (size_t)i));
    }

    return SINEW_OK;
}

static bool is_flat(const sinew_mesh *surface) {
    sn_vec3 size = sn_box_size(sn_box_of_points(surface->points, surface->point_count));
    return size.z < 0.3 * fmin(size.x, size.y);
}

// From above a flat thing, from the side of an upright one: with y ahead.
static sn_camera find_camera(const sinew_mesh *surface) {
    sn_camera_fit fit = sn_camera_fit_begin(sn_v3(0, 0, 1), -1.2, is_flat(surface) ? 1.0 : 0.35,
                                            0.5, (double)CELL_WIDTH / CELL_HEIGHT, 0.08);
    sn_camera_fit_add(&fit, surface->points, surface->point_count);
    return sn_camera_fit_end(&fit);
}

// Marks the voxels that lie behind the middle of the solid along y.
static void clear_front(const sinew_voxels *voxels, const int32_t cells[3], uint16_t *labels) {
    const int32_t *cell = sinew_voxels_get_cells(voxels);
    int32_t first = INT32_MAX, last = 0;
    for (int32_t v = 0; v < sinew_voxels_get_count(voxels); v++) {
        int32_t row = cell[v] / cells[0] % cells[1];
        first = row < first ? row : first;
        last = row > last ? row : last;
    }

    for (int32_t v = 0; v < sinew_voxels_get_count(voxels); v++) {
        int32_t row = cell[v] / cells[0] % cells[1];
        if (row < first + (last - first) / 2) {
            labels[cell[v]] = 0;
        }
    }
}

static sinew_status make_half(painter *p, const sinew_voxels *half, sn_arena *arena) {
    SN_TRY(sinew_voxels_create_surface(half, SMOOTHING, &p->half));
    p->half_colors = SN_PUSH(arena, float, 3 * (size_t)p->half->point_count);
    SN_TRY(sn_arena_status(arena));

    const uint16_t *labels = sinew_voxels_get_labels(half);
    for (int32_t i = 0; i < p->half->point_count; i++) {
        int32_t voxel = sinew_voxels_find_nearest(half, p->half->points + 3 * (size_t)i, INFINITY);
        set_color(p->half_colors, i, sn_palette(tissue_of(p->def, labels[voxel])));
    }
    return SINEW_OK;
}

// The solid without what lies before its middle, where that shows more than its surface does.
static sinew_status cut_open(painter *p, sn_arena *arena) {
    int32_t tissues = 0;
    for (int32_t i = 0; i < sn_rig_tissue_count(p->def); i++) {
        tissues += sn_rig_count_voxels(p->def, i) > 0;
    }
    if (tissues < 2 || is_flat(p->surface)) {
        return SINEW_OK;
    }

    sinew_label_grid grid;
    uint16_t *labels = sn_voxels_push_labels(p->voxels, arena, &grid);
    if (!labels) {
        return SINEW_OUT_OF_MEMORY;
    }

    clear_front(p->voxels, grid.cells, labels);
    sinew_voxels *half = NULL;
    sinew_status status = sinew_voxels_create_from_labels(p->context, &grid, SIZE_MAX, &half);
    if (status == SINEW_OK) {
        status = make_half(p, half, arena);
    }
    sinew_voxels_destroy(half);
    return status;
}

static sinew_status draw_view(painter *p, view view, sn_image image) {
    const sinew_mesh *surface = p->surface;

    // Tissues that are hidden inside are shown on a cut surface.
    bool open = view == VIEW_TISSUES && p->half;
    const sinew_mesh *shown = open ? p->half : surface;

    if (!open) {
        for (int32_t i = 0; i < surface->point_count; i++) {
            set_color(p->colors, i, vertex_color(p, view, i));
        }
    }

    sn_picture_mesh mesh = sn_picture_mesh_default();
    mesh.positions = shown->points;
    mesh.vertex_count = shown->point_count;
    mesh.triangles = shown->indices;
    mesh.triangle_count = shown->element_count;
    mesh.colors = open ? p->half_colors : p->colors;

    // The frames, drawn as axes.
    sn_picture_glyphs frames = sn_picture_glyphs_default(SN_GLYPH_FRAMES);
    sn_box box = sn_box_of_points(surface->points, surface->point_count);

    frames.points = p->points;
    frames.count = p->node_count;
    frames.vectors = p->axes;
    frames.scale = 0.05 * sn_box_diagonal(box);

    sn_camera camera = find_camera(surface);
    sn_picture_scene scene = sn_picture_scene_default(&camera);

    scene.meshes = &mesh;
    scene.mesh_count = 1;
    scene.glyphs = &frames;
    scene.glyph_count = 1;

    return sn_picture_render(p->context, &scene, image);
}

static sinew_status draw(painter *p, sn_arena *arena, const sn_sheet *sheet) {
    SN_TRY(prepare(p, arena));
    SN_TRY(cut_open(p, arena));
    for (int i = 0; i < VIEWS; i++) {
        SN_TRY(draw_view(p, (view)i, sn_sheet_cell(sheet, i)));
    }
    return SINEW_OK;
}

static sinew_status create_sheet(sinew_context *context, const sinew_rig_file_def *def,
                                 sn_sheet *sheet) {
    static const char *const captions[VIEWS] = {"tissues", "frame weights", "sample regions"};
    sn_sheet_def sheet_def = sn_sheet_def_default();
    sheet_def.count = sheet_def.columns = VIEWS;
    sheet_def.cell_width = CELL_WIDTH;
    sheet_def.cell_height = CELL_HEIGHT;
    sheet_def.title = def->name;
    sheet_def.captions = captions;

    // A legend, if there is something to tell apart and it fits.
    const char *names[MOST_NAMES];
    int32_t count = sn_rig_tissue_count(def);
    for (int32_t i = 0; i < count && i < MOST_NAMES; i++) {
        names[i] = sinew_tissue_table_get_name(def->tissues, i);
    }
    sn_legend legend = {.title = "tissues", .names = names, .name_count = count};
    if (count > 1 && count <= MOST_NAMES && sn_legend_width(&legend) < VIEWS * CELL_WIDTH) {
        sheet_def.legend = &legend;
    }

    return sn_sheet_create(context, &sheet_def, sheet);
}

sinew_status sinew_rig_render(sinew_context *context, const sinew_rig_file_def *def,
                              sinew_picture **picture) {
    SN_NEED(NULL, context);

    SN_TRY(sn_rig_check(context, def));
    painter p = {.context = context,
                 .def = def,
                 .voxels = def->autorig->voxels,
                 .labels = sinew_voxels_get_labels(def->autorig->voxels),
                 .surface = sinew_body_get_surface(def->body),
                 .node_count = sinew_frame_body_get_node_count(def->body)};
    SN_TRY(sinew_frame_body_get_surface_weights(def->body, &p.starts, &p.nodes, &p.weights));

    // Three views on one sheet.
    sn_sheet sheet;
    sn_arena arena = sn_arena_create(context);
    sinew_status status = create_sheet(context, def, &sheet);
    if (status == SINEW_OK) {
        status = draw(&p, &arena, &sheet);
        if (status == SINEW_OK) {
            status = sn_picture_take(context, &sheet.image, picture);
        }
        sn_sheet_destroy(context, &sheet);
    }

    sinew_mesh_destroy(p.half);
    sn_arena_destroy(&arena);
    return status;
}
