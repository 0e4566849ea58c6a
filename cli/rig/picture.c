// rig.png: the solid three times, coloured by tissue, by weights (one hue for each node, blended)
// and by the region of the sample behind each point; frames shine through. Where a tissue is hidden
// inside others the first is cut open.
#include "rig/rig.h"

#include "frame/body/frame_body.h"
#include "geom/voxel/voxel.h"
#include "io/picture/png.h"
#include "io/picture/render.h"
#include "io/picture/sheet.h"

#include <math.h>

enum { CELL_WIDTH = 480, CELL_HEIGHT = 400, SMOOTHING = 2 };

typedef enum view { VIEW_TISSUES, VIEW_WEIGHTS, VIEW_REGIONS, VIEWS } view;

typedef struct painter {
    const rig_run *rig;
    const sn_frame_model *model;
    int32_t *sample_of; // voxel
    int32_t *voxel_of;  // vertex
    double *weights;    // scratch: one for each node
    float *colors;
    double *points, *axes; // of the frames
    sinew_mesh *half;      // boundary of what lies behind the middle, or NULL: nothing is hidden
    float *half_colors;
} painter;

static int32_t tissue_of(const rig_run *rig, int32_t label) {
    for (int32_t i = 0; i < rig->tissue_count; i++) {
        if (rig->tissues[i].label == label) {
            return i;
        }
    }
    return label;
}

static sn_color vertex_color(const painter *p, view view, int32_t i) {
    if (view == VIEW_TISSUES) {
        return sn_palette(tissue_of(p->rig, p->model->shape->voxels->label[p->voxel_of[i]]));
    }
    if (view == VIEW_REGIONS) {
        return sn_palette(p->sample_of[p->voxel_of[i]]);
    }

    for (int32_t k = 0; k < p->model->nodes.count; k++) {
        p->weights[k] = 0;
    }

    const sn_vertex_weights *vertices = &p->model->base_vertices;
    for (int32_t k = vertices->start[i]; k < vertices->start[i + 1]; k++) {
        p->weights[vertices->node[k]] = vertices->weight[k];
    }

    return sn_palette_blend(p->weights, p->model->nodes.count);
}

static void set_color(float *colors, int32_t i, sn_color color) {
    float *place = colors + 3 * (size_t)i;
    place[0] = color.r;
    place[1] = color.g;
    place[2] = color.b;
}

static sinew_status prepare(const rig_run *rig, sn_arena *arena, painter *p) {
    const sn_frame_model *model = sn_frame_model_of(rig->body);
    const sinew_mesh *surface = model->surface;
    const sinew_voxels *voxels = model->shape->voxels;
    int32_t nodes = model->nodes.count;

    *p = (painter){.rig = rig, .model = model};
    p->sample_of = SN_PUSH(arena, int32_t, voxels->count);
    p->voxel_of = SN_PUSH(arena, int32_t, surface->point_count);
    p->weights = SN_PUSH(arena, double, nodes);
    p->colors = SN_PUSH(arena, float, 3 * (size_t)surface->point_count);
    p->points = SN_PUSH(arena, double, 3 * (size_t)nodes);
    p->axes = SN_PUSH(arena, double, 9 * (size_t)nodes);
    SN_TRY(sn_arena_status(arena));

    for (int32_t s = 0; s < model->base_samples->count; s++) {
        for (int32_t k = model->base_samples->voxel_start[s];
             k < model->base_samples->voxel_start[s + 1]; k++) {
            p->sample_of[model->base_samples->voxel[k]] = s;
        }
    }

    for (int32_t i = 0; i < surface->point_count; i++) {
        p->voxel_of[i] =
            sinew_voxels_find_nearest(voxels, surface->points + 3 * (size_t)i, INFINITY);
    }

    for (int32_t i = 0; i < nodes; i++) {
        sinew_frame_body_get_node(rig->body, i, p->points + 3 * (size_t)i, NULL);
        sinew_frame_body_get_matrix(rig->body, i, p->axes + 9 * (size_t)i);
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

static int32_t row_of(const sinew_voxels *voxels, int32_t v) {
    int32_t cell[3];
    sn_cell_coordinates(voxels->cells, voxels->cell[v], cell);
    return cell[1];
}

// The solid without what lies before its middle, where that shows more than its surface does.
static sinew_status cut_open(painter *p, sn_arena *arena) {
    const rig_run *rig = p->rig;
    const sinew_voxels *voxels = rig->voxels;
    int32_t tissues = 0;

    for (int32_t i = 0; i < rig->tissue_count; i++) {
        tissues += rig->tissue_voxels[i] > 0;
    }

    if (tissues < 2 || is_flat(p->model->surface)) {
        return SINEW_OK;
    }

    sinew_label_grid grid;
    uint16_t *labels = rig_push_labels(rig, arena, &grid);
    if (!labels) {
        return SINEW_OUT_OF_MEMORY;
    }

    int32_t first = INT32_MAX;
    int32_t last = 0;
    for (int32_t v = 0; v < voxels->count; v++) {
        int32_t row = row_of(voxels, v);
        first = row < first ? row : first;
        last = row > last ? row : last;
    }

    for (int32_t v = 0; v < voxels->count; v++) {
        if (row_of(voxels, v) < first + (last - first) / 2) {
            labels[voxels->cell[v]] = 0;
        }
    }

    sinew_voxels *half = NULL;
    sinew_status status = sinew_voxels_create_from_labels(rig->context, &grid, SIZE_MAX, &half);
    if (status == SINEW_OK) {
        status = sinew_voxels_create_surface(half, SMOOTHING, &p->half);
    }

    if (status == SINEW_OK) {
        p->half_colors = SN_PUSH(arena, float, 3 * (size_t)p->half->point_count);
        status = sn_arena_status(arena);
    }

    for (int32_t i = 0; status == SINEW_OK && i < p->half->point_count; i++) {
        int32_t voxel = sinew_voxels_find_nearest(half, p->half->points + 3 * (size_t)i, INFINITY);
        set_color(p->half_colors, i, sn_palette(tissue_of(rig, half->label[voxel])));
    }

    sinew_voxels_destroy(half);
    return status;
}

static sinew_status draw_view(painter *p, view view, sn_image image) {
    const sinew_mesh *surface = p->model->surface;
    bool open = view == VIEW_TISSUES && p->half;
    const sinew_mesh *shown = open ? p->half : surface;

    for (int32_t i = 0; i < surface->point_count && !open; i++) {
        set_color(p->colors, i, vertex_color(p, view, i));
    }

    sn_picture_mesh mesh = sn_picture_mesh_default();
    mesh.positions = shown->points;
    mesh.vertex_count = shown->point_count;
    mesh.triangles = shown->indices;
    mesh.triangle_count = shown->element_count;
    mesh.colors = open ? p->half_colors : p->colors;

    sn_picture_glyphs frames = sn_picture_glyphs_default(SN_GLYPH_FRAMES);
    sn_box box = sn_box_of_points(surface->points, surface->point_count);

    frames.points = p->points;
    frames.count = p->model->nodes.count;
    frames.vectors = p->axes;
    frames.scale = 0.05 * sn_box_diagonal(box);

    sn_camera camera = find_camera(surface);
    sn_picture_scene scene = sn_picture_scene_default(&camera);

    scene.meshes = &mesh;
    scene.mesh_count = 1;
    scene.glyphs = &frames;
    scene.glyph_count = 1;

    return sn_picture_render(p->rig->context, &scene, image);
}

static sinew_status draw(const rig_run *rig, sn_arena *arena, sn_sheet *sheet) {
    painter p;
    SN_TRY(prepare(rig, arena, &p));
    sinew_status status = cut_open(&p, arena);

    for (int i = 0; i < VIEWS && status == SINEW_OK; i++) {
        status = draw_view(&p, (view)i, sn_sheet_cell(sheet, i));
    }

    sinew_mesh_destroy(p.half);
    return status;
}

sinew_status rig_write_picture(const rig_run *rig) {
    static const char *const captions[VIEWS] = {"tissues", "frame weights", "sample regions"};

    sn_sheet_def def = sn_sheet_def_default();
    def.count = def.columns = VIEWS;
    def.cell_width = CELL_WIDTH;
    def.cell_height = CELL_HEIGHT;
    def.title = rig->name;
    def.captions = captions;

    const char *names[RIG_TISSUES];
    for (int32_t i = 0; i < rig->tissue_count; i++) {
        names[i] = rig->tissue_names[i];
    }

    sn_legend legend = {.title = "tissues", .names = names, .name_count = rig->tissue_count};
    if (rig->tissue_count > 1 && sn_legend_width(&legend) < VIEWS * CELL_WIDTH) {
        def.legend = &legend;
    }

    sn_sheet sheet;
    SN_TRY(sn_sheet_create(rig->context, &def, &sheet));

    sn_arena arena = sn_arena_create(rig->context);
    sn_buffer out = sn_buffer_create(rig->context);
    sinew_status status = draw(rig, &arena, &sheet);
    if (status == SINEW_OK) {
        status = sn_png_write(rig->context, sheet.image, &out);
    }
    if (status == SINEW_OK) {
        status = rig_write_file(rig, "rig.png", &out);
    }

    sn_buffer_destroy(&out);
    sn_arena_destroy(&arena);
    sn_sheet_destroy(rig->context, &sheet);

    return status;
}
