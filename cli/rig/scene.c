// The rig as a scene: frames written down where they were placed, materials as they were given, the
// labels as a volume beside it. `sinew run` makes the same model of it.
#include "rig/rig.h"

#include "frame/body/frame_body.h"
#include "geom/voxel/voxel.h"
#include "io/mesh/write.h"
#include "io/volume/volume.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { SHOWN_PER_SECOND = 25 }; // moments that a run writes; steps may be many more

static const char *const node_kinds[] = {"point", "rigid", "affine", "quadratic", "compliant"};

static void write_number(sn_json_writer *w, const char *key, double value) {
    sn_json_write_key(w, key);
    sn_json_write_number(w, value);
}

static void write_text(sn_json_writer *w, const char *key, const char *value) {
    sn_json_write_key(w, key);
    sn_json_write_string(w, value);
}

static void write_materials(const rig_run *rig, sn_json_writer *w) {
    sn_json_write_key(w, "materials");
    sn_json_begin_object(w);
    for (int32_t i = 0; i < rig->tissue_count; i++) {
        sn_json_write_key(w, rig->tissue_names[i]);
        if (rig->materials[i]) {
            sn_json_write_tree(w, rig->materials[i]);
            continue;
        }

        sn_json_begin_object(w);
        write_number(w, "young", rig->tissues[i].material.young);
        write_number(w, "poisson", rig->tissues[i].material.poisson);
        write_number(w, "density", rig->tissues[i].material.density);
        sn_json_end_object(w);
    }

    sn_json_end_object(w);
}

// Something must hold each part of the solid: (*held)[i] says whether frame i is the first in its
// part.
static sinew_status find_held(const rig_run *rig, sn_arena *arena, bool **held) {
    const sn_frame_model *model = sn_frame_model_of(rig->body);
    int32_t *parts, count;

    SN_TRY(sn_voxel_parts(model->shape->voxels, arena, false, &parts, &count));
    bool *done = SN_PUSH(arena, bool, count);

    *held = SN_PUSH(arena, bool, model->nodes.count);
    SN_TRY(sn_arena_status(arena));
    for (int32_t i = 0; i < model->nodes.count; i++) {
        double position[3];
        sn_store3(position, model->nodes.items[i].origin);
        int32_t part = parts[sinew_voxels_find_nearest(model->shape->voxels, position, INFINITY)];
        (*held)[i] = !done[part];
        done[part] = true;
    }

    return SINEW_OK;
}

static void write_nodes(const rig_run *rig, const bool *held, sn_json_writer *w) {
    const sn_frame_model *model = sn_frame_model_of(rig->body);
    sn_json_write_key(w, "nodes");
    sn_json_begin_array(w);

    for (int32_t i = 0; i < model->nodes.count; i++) {
        double position[3];
        sn_store3(position, model->nodes.items[i].origin);
        sn_json_begin_object(w);
        write_text(w, "kind", node_kinds[model->nodes.items[i].kind]);
        sn_json_write_key(w, "position");
        sn_json_write_numbers(w, position, 3);

        if (held[i]) {
            write_text(w, "hold", "all");
        }

        sn_json_end_object(w);
    }

    sn_json_end_array(w);
}

static void write_tissues(const rig_run *rig, sn_json_writer *w) {
    sn_json_write_key(w, "tissues");
    sn_json_begin_object(w);
    for (int32_t i = 0; i < rig->tissue_count; i++) {
        if (!rig->tissues[i].rigid || rig->tissue_voxels[i] == 0) {
            continue;
        }

        char label[16];
        snprintf(label, sizeof label, "%d", rig->tissues[i].label);
        sn_json_write_key(w, label);
        sn_json_begin_object(w);
        sn_json_write_key(w, "rigid");
        sn_json_write_boolean(w, true);
        sn_json_end_object(w);
    }

    sn_json_end_object(w);
}

static void write_frames(const rig_run *rig, const bool *held, sn_json_writer *w) {
    const sinew_autorig_def *def = &rig->def;
    sn_json_write_key(w, "frames");
    sn_json_begin_object(w);
    write_text(w, "blend", def->blend == SINEW_BLEND_LINEAR ? "linear" : "dual-quaternion");
    write_nodes(rig, held, w);
    sn_json_write_key(w, "weights");
    sn_json_begin_object(w);
    write_text(w, "metric",
               def->weights.metric == SINEW_METRIC_COMPLIANCE ? "compliance" : "euclidean");
    sn_json_write_key(w, "levels");
    sn_json_write_integer(w, def->weights.levels);

    if (rig->report.weights.unreached_voxels > 0) {
        sn_json_write_key(w, "adopt_unreached");
        sn_json_write_boolean(w, true);
    }

    sn_json_end_object(w);
    sn_json_write_key(w, "sampling");
    sn_json_begin_object(w);

    if (def->sampling.count > 0) {
        sn_json_write_key(w, "count");
        sn_json_write_integer(w, def->sampling.count);
    } else {
        write_number(w, "fit_error", def->sampling.fit_error);
    }

    sn_json_end_object(w);
    write_tissues(rig, w);
    sn_json_end_object(w);
}

static void write_body(const rig_run *rig, const bool *held, sn_json_writer *w) {
    sn_json_begin_object(w);
    write_text(w, "name", rig->name);
    write_text(w, "model", "frames");
    sn_json_write_key(w, "shape");
    sn_json_begin_object(w);

    if (rig->voxels->stiffness) { // of a specimen: labels alone would forget it
        write_text(w, "specimen", rig->specimen);

        sn_json_write_key(w, "voxels");
        sn_json_write_integer(w, rig->specimen_voxels);
    } else {
        write_text(w, "volume", "labels.nrrd");
    }
    sn_json_end_object(w);

    if (rig->surface) {
        write_text(w, "surface", "surface.ply");
    }

    if (rig->tissue_count > 0) {
        sn_json_write_key(w, "materials");
        sn_json_begin_object(w);
        for (int32_t i = 0; i < rig->tissue_count; i++) {
            char label[16];
            snprintf(label, sizeof label, "%d", rig->tissues[i].label);
            write_text(w, label, rig->tissue_names[i]);
        }

        sn_json_end_object(w);
    }

    write_frames(rig, held, w);
    sn_json_end_object(w);
}

// A round number not above the advised step.
static double round_step(double step) {
    double power = pow(10, floor(log10(step)));
    double lead = step / power;
    return (lead >= 5 ? 5 : lead >= 2 ? 2 : 1) * power;
}

static void write_world(const rig_run *rig, const bool *held, sn_buffer *out) {
    sn_json_writer w = sn_json_writer_create(out, false);
    char title[200];

    snprintf(title, sizeof title, "%s, %d frames", rig->name,
             sinew_frame_body_get_node_count(rig->body));
    sn_json_begin_object(&w);
    write_text(&w, "//",
               "Written by sinew rig. The first frame of each part is held. Edit it as you like."
               "");
    sn_json_write_key(&w, "version");
    sn_json_write_integer(&w, 1);
    write_text(&w, "title", title);

    double step = round_step(rig->report.advised_step);
    write_number(&w, "step", step);
    write_number(&w, "duration", 2);
    sn_json_write_key(&w, "output");
    sn_json_begin_object(&w);
    sn_json_write_key(&w, "every");
    sn_json_write_integer(&w, (int64_t)fmax(1, round(1 / (SHOWN_PER_SECOND * step))));
    sn_json_end_object(&w);

    if (rig->tissue_count > 0) {
        write_materials(rig, &w);
    }

    sn_json_write_key(&w, "bodies");
    sn_json_begin_array(&w);
    write_body(rig, held, &w);
    sn_json_end_array(&w);
    sn_json_end_object(&w);
    sn_buffer_add_text(out, "\n");
}

static sinew_status write_scene(const rig_run *rig, sn_buffer *out) {
    sn_arena arena = sn_arena_create(rig->context);
    bool *held = NULL;
    sinew_status status = find_held(rig, &arena, &held);
    if (status == SINEW_OK) {
        write_world(rig, held, out);
    }

    sn_arena_destroy(&arena);
    return status;
}

uint16_t *rig_push_labels(const rig_run *rig, sn_arena *arena, sinew_label_grid *grid) {
    const sinew_voxels *voxels = rig->voxels;
    *grid = (sinew_label_grid){0};
    memcpy(grid->cells, voxels->cells, sizeof grid->cells);
    memcpy(grid->spacing, voxels->spacing, sizeof grid->spacing);
    memcpy(grid->lower, voxels->lower, sizeof grid->lower);

    uint16_t *labels = SN_PUSH(
        arena, uint16_t, (size_t)grid->cells[0] * (size_t)grid->cells[1] * (size_t)grid->cells[2]);
    for (int32_t v = 0; labels && v < voxels->count; v++) {
        labels[voxels->cell[v]] = voxels->label[v];
    }

    grid->labels16 = labels;
    return labels;
}

static sinew_status write_labels(const rig_run *rig, sn_buffer *out) {
    sn_arena arena = sn_arena_create(rig->context);
    sinew_label_grid grid;
    sinew_status status =
        rig_push_labels(rig, &arena, &grid) ? sn_write_nrrd(&grid, out) : SINEW_OUT_OF_MEMORY;
    sn_arena_destroy(&arena);
    return status;
}

static sinew_status write_surface(const rig_run *rig, sn_buffer *out) {
    sn_mesh_view view = sn_mesh_view_of(rig->surface);
    return sn_write_ply(&view, false, out);
}

sinew_status rig_write_scene(const rig_run *rig) {
    sn_buffer out = sn_buffer_create(rig->context);
    sinew_status status = write_scene(rig, &out);
    if (status == SINEW_OK) {
        status = rig_write_file(rig, "scene.json", &out);
    }

    sn_buffer_clear(&out);
    if (status == SINEW_OK) {
        status = write_labels(rig, &out);
    }
    if (status == SINEW_OK) {
        status = rig_write_file(rig, "labels.nrrd", &out);
    }

    sn_buffer_clear(&out);
    if (status == SINEW_OK && rig->surface) {
        status = write_surface(rig, &out);
    }
    if (status == SINEW_OK && rig->surface) {
        status = rig_write_file(rig, "surface.ply", &out);
    }

    sn_buffer_destroy(&out);
    return status;
}
