// Frame bodies: the solid, its frames, how they are blended, weighted and sampled.
#include "io/scene/frames.h"
#include "io/scene/read.h"

#include <math.h>
#include <string.h>

enum { MOST_NODES = 65535 };

static void read_count(const sn_scene_reader *reader, const sn_json *object, const char *key,
                       int64_t low, int64_t high, int32_t *out) {
    int64_t value = *out;
    if (sn_json_integer(reader->mistakes, sn_json_get(object, key), low, high, &value)) {
        *out = (int32_t)value;
    }
}

static void read_word(const sn_scene_reader *reader, const sn_json *object, const char *key,
                      const char *const *words, int32_t count, int32_t *out) {
    sn_json_word(reader->mistakes, sn_json_get(object, key), words, count, out);
}

// A length that must not be negative; `positive`: nor zero.
static void read_extent(const sn_scene_reader *reader, const sn_json *object, const char *key,
                        bool positive, double *out) {
    const sn_json *json = sn_json_get(object, key);
    double value = *out;
    if (!json || !sn_scene_read_length(reader, json, &value)) {
        return;
    }

    if (value < 0 || (positive && value == 0)) {
        sn_json_mistake(reader->mistakes, json, "%g: valid is a length %s 0",
                        value / reader->scene->unit, positive ? "above" : "of at least");
        return;
    }

    *out = value;
}

void sn_scene_read_solids(const sn_scene_reader *reader, const sn_json *json,
                          sn_scene_shape *shape) {
    static const char *const operations[] = {"add", "cut", "paint"};
    if (!sn_json_is(reader->mistakes, json, SN_JSON_ARRAY)) {
        return;
    }
    if (json->count == 0) {
        sn_json_mistake(reader->mistakes, json, "needs at least one solid");
    }

    sinew_solid_def *solids = sn_scene_push(reader, json->count, sizeof *solids);
    if (solids) {
        for (int32_t i = 0; i < json->count; i++) {
            const sn_json *item = &json->items[i];
            sinew_solid_def *solid = &solids[i];

            *solid = sinew_default_solid_def();

            // Defaults are in the scene's unit.
            for (int k = 0; k < 3; k++) {
                solid->size[k] = reader->scene->unit;
            }

            solid->thickness = 0.25 * reader->scene->unit;
            if (!sn_scene_check_object(reader, item,
                                       SN_KEYS("kind", "operation", "label", "center", "size",
                                               "thickness", "rotation"))) {
                continue;
            }

            int32_t kind = 0, operation = 0;
            read_word(reader, item, "kind", SN_WORDS(SINEW_WORDS_SOLIDS), &kind);
            read_word(reader, item, "operation", operations, 3, &operation);
            solid->solid = (sinew_solid)kind;
            solid->operation = (sinew_solid_operation)operation;
            read_count(reader, item, "label", 1, 65535, &solid->label);
            sn_scene_read_lengths(reader, sn_json_get(item, "center"), solid->center);
            sn_scene_read_lengths(reader, sn_json_get(item, "size"), solid->size);
            read_extent(reader, item, "thickness", true, &solid->thickness);
            sn_scene_read_rotation(reader, sn_json_get(item, "rotation"), solid->rotation);
        }
    }

    shape->solids = solids;
    shape->solid_count = solids ? json->count : 0;
}

// {"translate": [0, 0, 0.1], "rotation": {...}, "velocity": [1, 0, 0]}: how a frame begins, from
// its rest.
static void read_initial(const sn_scene_reader *reader, const sn_json *json, sn_scene_node *node) {
    if (!json || !sn_scene_check_object(reader, json,
                                        SN_KEYS("translate", "rotation", "velocity", "spin"))) {
        return;
    }

    node->moved = sn_json_get(json, "translate") || sn_json_get(json, "rotation");
    node->thrown = sn_json_get(json, "velocity") || sn_json_get(json, "spin");
    sn_scene_read_lengths(reader, sn_json_get(json, "velocity"), node->velocity);
    sn_json_numbers(reader->mistakes, sn_json_get(json, "spin"), 3, node->spin);
    sn_scene_read_lengths(reader, sn_json_get(json, "translate"), node->translate);
    sn_scene_read_rotation(reader, sn_json_get(json, "rotation"), node->rotation);
}

// ["translation", "turn-x", "turn-z"]: what is held, part by part.
static void read_parts(const sn_scene_reader *reader, const sn_json *json, int32_t *hold) {
    static const char *const parts[] = {"translation", "rotation", "x",      "y",
                                        "z",           "turn-x",   "turn-y", "turn-z"}; // the bits
    *hold = SINEW_HOLD_NOTHING;

    for (int32_t i = 0; i < json->count; i++) {
        int32_t part = 0;
        if (sn_json_word(reader->mistakes, &json->items[i], parts, 8, &part)) {
            *hold |= 1 << part;
        }
    }
}

// What is held of a frame at `position`, and where it goes.
static void read_hold(const sn_scene_reader *reader, const sn_json *json, const double position[3],
                      int32_t *hold, bool *scripted, sn_scene_motion *motion) {
    static const char *const holds[] = {"nothing", "translation", "rotation",
                                        "all"}; // in the order of the bits

    const sn_json *motion_json = sn_json_get(json, "motion");
    const sn_json *rotate = sn_json_get(motion_json, "rotate");

    // A frame with a motion is held completely unless "hold" says otherwise.
    *scripted = motion_json != NULL;
    *hold = motion_json ? SINEW_HOLD_ALL : SINEW_HOLD_NOTHING;

    const sn_json *held = sn_json_get(json, "hold");
    if (held && held->kind == SN_JSON_ARRAY) {
        read_parts(reader, held, hold);
    } else {
        sn_json_word(reader->mistakes, held, holds, 4, hold);
    }

    sn_scene_read_motion(reader, motion_json, motion);
    if (motion_json && *hold == SINEW_HOLD_NOTHING) {
        sn_json_key_mistake(reader->mistakes, motion_json,
                            "nothing of the frame is held, so nothing can follow a motion");
    }

    // A frame rotates about itself by default.
    if (rotate && !sn_json_get(rotate, "center")) {
        memcpy(motion->center, position, sizeof motion->center);
    }
}

static void read_node(const sn_scene_reader *reader, const sn_json *json,
                      sinew_node_kind default_kind, sn_scene_node *node) {
    *node = (sn_scene_node){.def = {.kind = default_kind}, .rotation = {0, 0, 0, 1}, .json = json};
    if (!sn_scene_check_object(reader, json,
                               SN_KEYS("kind", "position", "hold", "motion", "initial"))) {
        return;
    }

    int32_t kind = (int32_t)default_kind;
    read_word(reader, json, "kind", SN_WORDS(SINEW_WORDS_NODE_KINDS), &kind);
    node->def.kind = (sinew_node_kind)kind;
    sn_scene_read_lengths(reader, sn_json_require(reader->mistakes, json, "position"),
                          node->def.position);
    read_hold(reader, json, node->def.position, &node->hold, &node->scripted, &node->motion);
    read_initial(reader, sn_json_get(json, "initial"), node);
}

// Frames that are written down do not follow the weights: they are rigid unless the scene says
// otherwise.
static sinew_node_kind written_kind(const sn_scene_frames *frames) {
    return frames->kind == SINEW_NODE_AUTO ? SINEW_NODE_RIGID : frames->kind;
}

static void read_nodes(const sn_scene_reader *reader, const sn_json *json,
                       sn_scene_frames *frames) {
    if (!json || !sn_json_is(reader->mistakes, json, SN_JSON_ARRAY)) {
        return;
    }

    sn_scene_node *nodes = sn_scene_push(reader, json->count, sizeof *nodes);
    if (nodes) {
        for (int32_t i = 0; i < json->count; i++) {
            read_node(reader, &json->items[i], written_kind(frames), &nodes[i]);
        }
    }

    frames->nodes = nodes;
    frames->node_count = nodes ? json->count : 0;
}

// How many frames there are in all, and how those are placed that are not written down.
static void read_placement(const sn_scene_reader *reader, const sn_json *json,
                           sn_scene_frames *frames) {
    sinew_placement_def *def = &frames->placement;
    *def = sinew_default_placement_def();
    def->kind = SINEW_PLACEMENT_AUTO;
    def->count = frames->node_count;

    // How many frames.
    const sn_json *count = sn_json_get(json, "count");
    const sn_json *placement = sn_json_get(json, "placement");

    read_count(reader, json, "count", 1, MOST_NODES, &def->count);
    if (!count && !sn_json_get(json, "nodes")) {
        sn_json_mistake(
            reader->mistakes, json,
            "needs \"nodes\", a list of frames, or \"count\", how many are to be placed");
    } else if (count && def->count < frames->node_count) {
        sn_json_mistake(reader->mistakes, count,
                        "%d frames are written down; valid is that many or more",
                        frames->node_count);
        def->count = frames->node_count;
    } else if (!count && frames->node_count == 0 &&

               sn_json_get(json, "nodes")->kind == SN_JSON_ARRAY) {
        sn_json_mistake(reader->mistakes, sn_json_get(json, "nodes"),
                        "a body needs at least one frame");
    }

    if (!placement ||
        !sn_scene_check_object(reader, placement,
                               SN_KEYS("kind", "metric", "relaxations", "rigid_parts"))) {
        return;
    }

    // How they are spread.
    static const char *const kinds[] = {"even", "spectral"};
    int32_t kind = (int32_t)def->kind;
    read_word(reader, placement, "kind", kinds, 2, &kind);
    def->kind = (sinew_placement)kind;

    int32_t metric = (int32_t)def->metric;
    read_word(reader, placement, "metric", SN_WORDS(SINEW_WORDS_METRICS), &metric);
    def->metric = (sinew_metric)metric;
    read_count(reader, placement, "relaxations", 0, 10000, &def->relaxations);
    sn_json_boolean(reader->mistakes, sn_json_get(placement, "rigid_parts"), &def->rigid_parts);
}

static void read_weights(const sn_scene_reader *reader, const sn_json *json,
                         sinew_weights_def *def) {
    if (!json) {
        return;
    }

    if (!sn_scene_check_object(reader, json,
                               SN_KEYS("kind", "metric", "levels", "range", "falloff", "axis",
                                       "node_radius", "tolerance", "iterations", "cutoff",
                                       "nodes_per_voxel", "normalize", "adopt_unreached",
                                       "adopt_outside"))) {
        return;
    }

    // What the weights are a function of.
    int32_t kind = (int32_t)def->kind;
    int32_t metric = (int32_t)def->metric;

    read_word(reader, json, "kind", SN_WORDS(SINEW_WORDS_WEIGHTS), &kind);
    read_word(reader, json, "metric", SN_WORDS(SINEW_WORDS_METRICS), &metric);
    def->kind = (sinew_weights)kind;
    def->metric = (sinew_metric)metric;
    read_count(reader, json, "levels", 1, 16, &def->levels);
    read_extent(reader, json, "range", false, &def->range);
    sn_json_number(reader->mistakes, sn_json_get(json, "falloff"), 1, 8, "", &def->falloff);
    sn_scene_read_direction(reader, sn_json_get(json, "axis"), def->axis);

    // Solver, and what is stored.
    read_extent(reader, json, "node_radius", false, &def->node_radius);
    sn_json_number_inside(reader->mistakes, sn_json_get(json, "tolerance"), 0, 1, "",
                          &def->tolerance);
    read_count(reader, json, "iterations", 1, 1000000, &def->max_iterations);
    sn_json_number(reader->mistakes, sn_json_get(json, "cutoff"), 0, 0.4999, "", &def->cutoff);
    read_count(reader, json, "nodes_per_voxel", 1, 64, &def->nodes_per_voxel);
    sn_json_boolean(reader->mistakes, sn_json_get(json, "normalize"), &def->normalize);
    sn_json_boolean(reader->mistakes, sn_json_get(json, "adopt_unreached"), &def->adopt_unreached);
    sn_json_boolean(reader->mistakes, sn_json_get(json, "adopt_outside"), &def->adopt_outside);
}

// Whole numbers along the axes, at least 1 each.
static void read_counts(const sn_scene_reader *reader, const sn_json *json, int32_t counts[3]) {
    double values[3];
    if (!json || !sn_json_numbers(reader->mistakes, json, 3, values)) {
        return;
    }

    for (int k = 0; k < 3; k++) {
        if (!(values[k] >= 1 && values[k] <= 100000 && values[k] == floor(values[k]))) {
            sn_json_mistake(reader->mistakes, json, "counts are whole numbers from 1 to 100000");
            return;
        }
    }
    for (int k = 0; k < 3; k++) {
        counts[k] = (int32_t)values[k];
    }
}

static void read_sampling(const sn_scene_reader *reader, const sn_json *json,
                          sinew_sampling_def *def) {
    static const char *const kinds[] = {"midpoint", "regions", "points", "auto"};
    if (!json || !sn_scene_check_object(reader, json,
                                        SN_KEYS("kind", "count", "counts", "fit_error",
                                                "energy_error", "degree", "by_label"))) {
        return;
    }

    int32_t kind = (int32_t)def->kind;
    read_word(reader, json, "kind", kinds, 4, &kind);
    def->kind = (sinew_sampling)kind;
    read_count(reader, json, "count", 0, INT32_MAX, &def->count);
    read_counts(reader, sn_json_get(json, "counts"), def->counts);
    sn_json_number_inside(reader->mistakes, sn_json_get(json, "energy_error"), 0, 1, "",
                          &def->energy_error);
    sn_json_number_inside(reader->mistakes, sn_json_get(json, "fit_error"), 0, INFINITY, "",
                          &def->fit_error);
    read_count(reader, json, "degree", -1, 8, &def->degree);
    sn_json_boolean(reader->mistakes, sn_json_get(json, "by_label"), &def->by_label);
}

// {"2": {"rigid": true, "node": 0}}: what is special about a label.
static void read_tissues(const sn_scene_reader *reader, const sn_json *json,
                         sn_scene_frames *frames) {
    if (!json || !sn_json_is(reader->mistakes, json, SN_JSON_OBJECT)) {
        return;
    }

    sn_scene_tissue *tissues = sn_scene_push(reader, json->count, sizeof *tissues);
    if (tissues) {
        for (int32_t i = 0; i < json->count; i++) {
            const sn_json *item = &json->items[i];
            tissues[i] = (sn_scene_tissue){.node = -1, .json = item};
            sn_scene_read_label(reader, item, &tissues[i].label);
            if (!sn_scene_check_object(reader, item, SN_KEYS("rigid", "node"))) {
                continue;
            }

            // A rigid part, or one that a node of its own moves.
            sn_json_boolean(reader->mistakes, sn_json_get(item, "rigid"), &tissues[i].rigid);
            int32_t last = frames->placement.count > 0 ? frames->placement.count - 1
                                                       : 0; // without frames is another mistake

            read_count(reader, item, "node", 0, last, &tissues[i].node);
        }
    }

    frames->tissues = tissues;
    frames->tissue_count = tissues ? json->count : 0;
}

static void read_insertion(const sn_scene_reader *reader, const sn_json *json,
                           sinew_node_kind default_kind, sn_scene_insertion *insertion) {
    *insertion = (sn_scene_insertion){
        .leave = INFINITY, .def = sinew_default_frame_insert_def(), .json = json};
    if (!sn_scene_check_object(
            reader, json,
            SN_KEYS("time", "position", "range", "kind", "fade", "hold", "motion", "leave"))) {
        return;
    }

    sn_mistakes *mistakes = reader->mistakes;
    int32_t kind = (int32_t)default_kind;

    read_word(reader, json, "kind", SN_WORDS(SINEW_WORDS_NODE_KINDS), &kind);
    insertion->def.kind = (sinew_node_kind)kind;

    // When and where it joins, and when it leaves.
    sn_json_number(mistakes, sn_json_require(mistakes, json, "time"), 0, INFINITY, "s",
                   &insertion->time);
    sn_scene_read_lengths(reader, sn_json_require(mistakes, json, "position"),
                          insertion->def.position);
    sn_json_require(mistakes, json, "range");
    read_extent(reader, json, "range", true, &insertion->def.range);
    sn_json_number(mistakes, sn_json_get(json, "fade"), 0, INFINITY, "s", &insertion->def.fade);

    const sn_json *leave = sn_json_get(json, "leave");
    if (sn_json_number(mistakes, leave, 0, INFINITY, "s", &insertion->leave) &&
        !(insertion->leave > insertion->time)) {
        sn_json_mistake(mistakes, leave, "it joins at %g s and must leave later", insertion->time);
    }

    read_hold(reader, json, insertion->def.position, &insertion->hold, &insertion->scripted,
              &insertion->motion);
}

static void read_insertions(const sn_scene_reader *reader, const sn_json *json,
                            sn_scene_frames *frames) {
    if (!json || !sn_json_is(reader->mistakes, json, SN_JSON_ARRAY)) {
        return;
    }

    sn_scene_insertion *items = sn_scene_push(reader, json->count, sizeof *items);
    if (items) {
        for (int32_t i = 0; i < json->count; i++) {
            read_insertion(reader, &json->items[i], written_kind(frames), &items[i]);
            if (i > 0 && items[i].time < items[i - 1].time) {
                sn_json_mistake(reader->mistakes, &json->items[i],
                                "times must not descend: %g follows %g", items[i].time,
                                items[i - 1].time);
            }
        }
    }

    frames->insertions = items;
    frames->insertion_count = items ? json->count : 0;
}

static void read_grid(const sn_scene_reader *reader, const sn_json *json, sinew_voxel_def *grid) {
    *grid = sinew_default_voxel_def();
    const sn_json *resolution = sn_json_get(json, "resolution");
    const sn_json *cell = sn_json_get(json, "cell");

    if (resolution && cell) {
        sn_json_key_mistake(reader->mistakes, cell,
                            "\"resolution\" is given too; one of both is enough");
    }

    grid->resolution = 32;
    read_count(reader, json, "resolution", 1, 4096, &grid->resolution);

    double size = 0;
    read_extent(reader, json, "cell", true, &size);
    for (int k = 0; k < 3; k++) {
        grid->spacing[k] = size;
    }
}

void sn_scene_read_frames(sn_scene_reader *reader, const sn_json *body_json, bool wanted,
                          sn_scene_body *body) {
    const sn_json *json = sn_json_get(body_json, "frames");
    if (!wanted) {
        if (json) {
            sn_json_key_mistake(reader->mistakes, json, "this belongs to \"model\": \"frames\"");
        }
        return;
    }

    // Defaults are in place before anything can fail.
    sn_scene_frames *frames = sn_scene_push(reader, 1, sizeof *frames);
    if (!frames) {
        return;
    }

    body->frames = frames;
    if (!json) {
        json = sn_json_require(reader->mistakes, body_json, "frames");
    }

    *frames = (sn_scene_frames){.json = json,
                                .kind = SINEW_NODE_AUTO,
                                .weights = sinew_default_weights_def(),
                                .sampling = sinew_default_sampling_def(),
                                .assumed_strain = true};
    frames->weights.kind = SINEW_WEIGHTS_AUTO;

    if (!sn_scene_check_object(reader, json,
                               SN_KEYS("resolution", "cell", "nodes", "count", "kind", "placement",
                                       "blend", "weights", "sampling", "mass", "springs",
                                       "geometric_stiffness", "assumed_strain", "tissues",
                                       "insertions"))) {
        return;
    }

    // Words first, since parts depend on them.
    static const char *const masses[] = {"auto", "row-sum", "consistent"};
    int32_t kind = SINEW_NODE_AUTO;
    int32_t blend = SINEW_BLEND_LINEAR;
    int32_t mass = SINEW_FRAME_MASS_AUTO;

    read_grid(reader, json, &frames->grid);
    read_word(reader, json, "kind", SN_WORDS(SINEW_WORDS_NODE_KINDS), &kind);
    read_word(reader, json, "blend", SN_WORDS(SINEW_WORDS_BLENDS), &blend);
    read_word(reader, json, "mass", masses, 3, &mass);
    frames->kind = (sinew_node_kind)kind;
    frames->mass = (sinew_frame_mass)mass;
    frames->blend = (sinew_blend)blend;

    // Parts; placement follows the weights, which have a placement of their own.
    read_nodes(reader, sn_json_get(json, "nodes"), frames);
    read_weights(reader, sn_json_get(json, "weights"), &frames->weights);
    read_placement(reader, json, frames); // suits the weights
    read_sampling(reader, sn_json_get(json, "sampling"), &frames->sampling);
    sn_json_boolean(reader->mistakes, sn_json_get(json, "springs"), &frames->springs);
    sn_json_boolean(reader->mistakes, sn_json_get(json, "geometric_stiffness"),
                    &frames->geometric_stiffness);
    sn_json_boolean(reader->mistakes, sn_json_get(json, "assumed_strain"), &frames->assumed_strain);
    read_tissues(reader, sn_json_get(json, "tissues"), frames);
    read_insertions(reader, sn_json_get(json, "insertions"), frames);
}
