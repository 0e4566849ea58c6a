// A rig as a scene: frames where they were placed, materials as they were given, and the labels in
// a volume beside it. `sinew run` makes the same model of it.
#include "io/rig/rig.h"

#include "sinew/io/words.h"

#include "io/public/bytes.h"
#include "io/text/json_write.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { SHOWN_PER_SECOND = 25 }; // images that a run writes; there may be many more steps

sinew_rig_file_def sinew_default_rig_file_def(void) {
    return (sinew_rig_file_def){.name = "body", .filled = SN_DEF_FILLED};
}

sinew_status sn_rig_check(sinew_context *context, const sinew_rig_file_def *def) {
    SN_TRY(SN_CHECK_DEF(context, def, "sinew_default_rig_file_def"));
    if (!def->name || !def->body || !def->report || !def->autorig || !def->autorig->voxels) {
        return sn_fail(context, SINEW_INVALID_ARGUMENT,
                       "a rig needs its name, its body, its report and a definition with voxels");
    }
    if (sinew_frame_body_get_node_count(def->body) == 0) {
        return sn_fail(context, SINEW_INVALID_ARGUMENT, "body \"%s\" has no frames",
                       sinew_body_get_name(def->body));
    }
    return SINEW_OK;
}

int32_t sn_rig_tissue_count(const sinew_rig_file_def *def) {
    return def->tissues ? def->tissues->count : 0;
}

int32_t sn_rig_count_voxels(const sinew_rig_file_def *def, int32_t tissue) {
    const uint16_t *labels = sinew_voxels_get_labels(def->autorig->voxels);
    int32_t count = 0;
    for (int32_t v = 0; v < sinew_voxels_get_count(def->autorig->voxels); v++) {
        count += labels[v] == def->tissues->tissues[tissue].label;
    }
    return count;
}

static void write_materials(const sinew_tissue_table *table, sn_json_writer *w) {
    sn_json_write_key(w, "materials");
    sn_json_begin_object(w);
    for (int32_t i = 0; i < table->entry_count; i++) {
        const sn_tissue_entry *entry = &table->entries[i];
        sn_json_write_key(w, entry->name);
        if (entry->source) {
            sn_json_write_tree(w, entry->source);
            continue;
        }

        sn_json_begin_object(w);
        sn_json_write_number_pair(w, "young", entry->tissue.material.young);
        sn_json_write_number_pair(w, "poisson", entry->tissue.material.poisson);
        sn_json_write_number_pair(w, "density", entry->tissue.material.density);
        sn_json_end_object(w);
    }

    sn_json_end_object(w);
}

// Something must hold each part of the solid: (*held)[i] says whether frame i is the first in its
// part.
static sinew_status find_held(const sinew_rig_file_def *def, sn_arena *arena, bool **held) {
    const sinew_voxels *voxels = def->autorig->voxels;
    int32_t nodes = sinew_frame_body_get_node_count(def->body);
    int32_t *parts = SN_PUSH(arena, int32_t, sinew_voxels_get_count(voxels));
    *held = SN_PUSH(arena, bool, nodes);
    SN_TRY(sn_arena_status(arena));

    int32_t count;
    SN_TRY(sinew_voxels_compute_parts(voxels, parts, &count));
    bool *done = SN_PUSH(arena, bool, count);
    SN_TRY(sn_arena_status(arena));

    for (int32_t i = 0; i < nodes; i++) {
        double position[3];
        SN_TRY(sinew_frame_body_get_rest(def->body, i, position));
        int32_t part = parts[sinew_voxels_find_nearest(voxels, position, INFINITY)];
        (*held)[i] = !done[part];
        done[part] = true;
    }

    return SINEW_OK;
}

static void write_nodes(const sinew_body *body, const bool *held, sn_json_writer *w) {
    sn_json_write_key(w, "nodes");
    sn_json_begin_array(w);
    for (int32_t i = 0; i < sinew_frame_body_get_node_count(body); i++) {
        double position[3];
        sinew_node_kind kind = SINEW_NODE_RIGID;
        sinew_frame_body_get_rest(body, i, position);
        sinew_frame_body_get_kind(body, i, &kind);

        sn_json_begin_object(w);
        sn_json_write_string_pair(w, "kind",
                                  sinew_words_get(SINEW_WORDS_NODE_KINDS, (int32_t)kind));
        sn_json_write_key(w, "position");
        sn_json_write_numbers(w, position, 3);
        if (held[i]) {
            sn_json_write_string_pair(w, "hold", "all");
        }
        sn_json_end_object(w);
    }

    sn_json_end_array(w);
}

// Labels that are rigid, and that a voxel has.
static void write_tissues(const sinew_rig_file_def *def, sn_json_writer *w) {
    sn_json_write_key(w, "tissues");
    sn_json_begin_object(w);
    for (int32_t i = 0; i < sn_rig_tissue_count(def); i++) {
        const sinew_autorig_tissue *tissue = &def->tissues->tissues[i];
        if (!tissue->rigid || sn_rig_count_voxels(def, i) == 0) {
            continue;
        }

        char label[16];
        snprintf(label, sizeof label, "%d", (int)tissue->label);
        sn_json_write_key(w, label);
        sn_json_begin_object(w);
        sn_json_write_key(w, "rigid");
        sn_json_write_boolean(w, true);
        sn_json_end_object(w);
    }

    sn_json_end_object(w);
}

static void write_frames(const sinew_rig_file_def *def, const bool *held, sn_json_writer *w) {
    const sinew_autorig_def *rig = def->autorig;
    sn_json_write_key(w, "frames");
    sn_json_begin_object(w);
    sn_json_write_string_pair(w, "blend", sinew_words_get(SINEW_WORDS_BLENDS, (int32_t)rig->blend));
    write_nodes(def->body, held, w);

    // What differs from the defaults, so that the scene makes the same model.
    sn_json_write_key(w, "weights");
    sn_json_begin_object(w);
    sn_json_write_string_pair(
        w, "kind", sinew_words_get(SINEW_WORDS_WEIGHTS, (int32_t)def->report->chosen.weights));
    sn_json_write_string_pair(w, "metric",
                              sinew_words_get(SINEW_WORDS_METRICS, (int32_t)rig->weights.metric));
    sn_json_write_key(w, "levels");
    sn_json_write_integer(w, rig->weights.levels);
    if (def->report->weights.unreached_voxels > 0) {
        sn_json_write_key(w, "adopt_unreached");
        sn_json_write_boolean(w, true);
    }

    sn_json_end_object(w);
    sn_json_write_key(w, "sampling");
    sn_json_begin_object(w);

    if (rig->sampling.count > 0) {
        sn_json_write_key(w, "count");
        sn_json_write_integer(w, rig->sampling.count);
    } else {
        sn_json_write_number_pair(w, "fit_error", rig->sampling.fit_error);
    }

    sn_json_end_object(w);
    write_tissues(def, w);
    sn_json_end_object(w);
}

static void write_shape(const sinew_rig_file_def *def, sn_json_writer *w) {
    sn_json_write_key(w, "shape");
    sn_json_begin_object(w);
    if (def->specimen && !def->stiffness && sinew_voxels_get_stiffness(def->autorig->voxels)) {
        // Labels alone would forget the stiffness.
        sn_json_write_string_pair(w, "specimen", def->specimen);
        sn_json_write_key(w, "voxels");
        sn_json_write_integer(w, def->specimen_voxels);
    } else {
        sn_json_write_string_pair(w, "volume", "labels.nrrd");
    }
    if (def->stiffness) {
        sn_json_write_string_pair(w, "stiffness", def->stiffness);
    }
    if (def->density) {
        sn_json_write_string_pair(w, "density", def->density);
    }
    sn_json_end_object(w);
}

static void write_body(const sinew_rig_file_def *def, const bool *held, sn_json_writer *w) {
    sn_json_begin_object(w);
    sn_json_write_string_pair(w, "name", def->name);
    sn_json_write_string_pair(w, "model", "frames");
    write_shape(def, w);
    if (def->autorig->surface) {
        sn_json_write_string_pair(w, "surface", "surface.ply");
    }

    if (sn_rig_tissue_count(def) > 0) {
        sn_json_write_key(w, "materials");
        sn_json_begin_object(w);
        for (int32_t i = 0; i < def->tissues->count; i++) {
            char label[16];
            snprintf(label, sizeof label, "%d", (int)def->tissues->tissues[i].label);
            sn_json_write_string_pair(w, label, sinew_tissue_table_get_name(def->tissues, i));
        }
        sn_json_end_object(w);
    }

    write_frames(def, held, w);
    sn_json_end_object(w);
}

// A round number not above the advised step.
static double round_step(double step) {
    double power = pow(10, floor(log10(step)));
    double lead = step / power;
    return (lead >= 5 ? 5 : lead >= 2 ? 2 : 1) * power;
}

static void write_world(const sinew_rig_file_def *def, const bool *held, sn_buffer *out) {
    sn_json_writer w = sn_json_writer_create(out, false);
    char title[200];
    snprintf(title, sizeof title, "%s, %d frames", def->name,
             (int)sinew_frame_body_get_node_count(def->body));

    sn_json_begin_object(&w);
    sn_json_write_string_pair(
        &w, "//",
        "Written by sinew rig. The first frame of each part is held. Edit it as you like.");
    sn_json_write_key(&w, "version");
    sn_json_write_integer(&w, 1);
    sn_json_write_string_pair(&w, "title", title);

    // Time: a few seconds, and as many images as a film needs.
    double step = round_step(def->report->advised_step);
    sn_json_write_number_pair(&w, "step", step);
    sn_json_write_number_pair(&w, "duration", 2);
    sn_json_write_key(&w, "output");
    sn_json_begin_object(&w);
    sn_json_write_key(&w, "every");
    sn_json_write_integer(&w, (int64_t)fmax(1, round(1 / (SHOWN_PER_SECOND * step))));
    sn_json_end_object(&w);

    if (sn_rig_tissue_count(def) > 0) {
        write_materials(def->tissues, &w);
    }
    sn_json_write_key(&w, "bodies");
    sn_json_begin_array(&w);
    write_body(def, held, &w);
    sn_json_end_array(&w);
    sn_json_end_object(&w);
    sn_buffer_add_text(out, "\n");
}

sinew_status sinew_rig_write_scene(sinew_context *context, const sinew_rig_file_def *def,
                                   sinew_bytes *out) {
    SN_NEED(NULL, context);

    SN_TRY(sn_rig_check(context, def));
    sn_arena arena = sn_arena_create(context);
    bool *held = NULL;
    sinew_status status = find_held(def, &arena, &held);
    if (status == SINEW_OK) {
        write_world(def, held, &out->buffer);
        status = sn_buffer_status(&out->buffer);
    }

    sn_arena_destroy(&arena);
    return status;
}
