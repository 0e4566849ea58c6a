// What a number of frames misses: natural frequencies of models with fewer and with more frames.
//
// In: the definition of a model, numbers of frames. Out: for each of them the expected error of the
// six lowest elastic frequencies, free in space. All models are made on a coarse copy of the grid,
// of at most COARSE_VOXELS voxels, so that the estimate costs a fraction of the set-up of a large
// model. Two models with spectral weights, n and 2 n frames, give the frequencies of the solid:
//
//   w(n) = w (1 + C n^-p),   so   w = w(2n) - (w(n) - w(2n)) / (2^p - 1)
//
// Frames only stiffen a solid, so w(n) falls as frames are added. What the voxels, the samples and
// the reference itself miss is not included. Checked by: validate W6,
// tests/dynamics/test_rig_error.c.
#include "sinew/autorig.h"

#include "dynamics/world.h"
#include "frame/weights/weights.h"

#include <math.h>
#include <string.h>

enum { COARSE_VOXELS = 20000, MODES = 6, REFERENCE = 4 };

// The order at which frequencies converge: that of a bar between 4 and 6 frames.
static const double order = 1.25;

typedef struct estimate {
    sinew_context *context;
    const sinew_autorig_def *def;
    const sinew_voxels *voxels; // coarse, or those of the definition
    int32_t parts;              // disconnected ones: each floats by itself
    int32_t fewest;             // frames: one for each part that is rigid or disconnected
} estimate;

static bool is_rigid(const sinew_autorig_def *def, uint16_t label) {
    for (int32_t i = 0; i < def->tissue_count; i++) {
        if (def->tissues[i].label == label) {
            return def->tissues[i].rigid;
        }
    }
    return false;
}

// The lowest elastic frequencies of a model on the coarse grid, infinite if it has too few
// unknowns.
static sinew_status measure(const estimate *e, const sinew_autorig_def *def, int32_t frames,
                            double frequency[MODES]) {
    sinew_autorig_def own = *def;
    own.voxels = e->voxels;
    own.surfaces = NULL;
    own.surface_count = 0;
    own.surface = NULL;
    own.placement.count = frames;

    sinew_world_def world_def = sinew_default_world_def();
    sinew_world *world = NULL;
    sinew_body *body = NULL;
    SN_TRY(sinew_world_create(e->context, &world_def, &world));

    // Rigid motions of each part come first.
    int32_t count = 6 * e->parts + MODES;
    double *all = sn_allocate(e->context, (size_t)count, sizeof *all);
    sinew_status status = all ? SINEW_OK : SINEW_OUT_OF_MEMORY;
    if (status == SINEW_OK) {
        status = sinew_autorig_create(world, &own, NULL, &body);
    }
    for (int k = 0; k < MODES; k++) {
        frequency[k] = INFINITY;
    }
    if (status == SINEW_OK && sn_body_size(body) >= count) {
        status = sinew_body_compute_modes(body, count, all, NULL);
        memcpy(frequency, all + count - MODES, MODES * sizeof *frequency);
    }

    sn_release(e->context, all, (size_t)count, sizeof *all);
    sinew_world_destroy(world);
    return status;
}

// Whether voxels of more than one tissue exist.
static bool has_several_tissues(const estimate *e) {
    for (int32_t v = 1; v < e->voxels->count; v++) {
        if (e->voxels->label[v] != e->voxels->label[0]) {
            return e->def->tissue_count > 1;
        }
    }
    return false;
}

// The frequencies of the solid, from two models with spectral weights.
static sinew_status find_reference(const estimate *e, double frequency[MODES]) {
    sinew_autorig_def def = sinew_default_autorig_def();
    def.tissues = e->def->tissues;
    def.tissue_count = e->def->tissue_count;
    def.weights.kind = SINEW_WEIGHTS_SPECTRAL;
    def.placement.kind = SINEW_PLACEMENT_SPECTRAL;
    def.kind = has_several_tissues(e) ? SINEW_NODE_COMPLIANT : SINEW_NODE_QUADRATIC;

    double few[MODES];
    int32_t soft = REFERENCE;
    SN_TRY(measure(e, &def, e->fewest - 1 + soft, few));
    SN_TRY(measure(e, &def, e->fewest - 1 + 2 * soft, frequency));

    double ratio = 1 / (pow(2, order) - 1);
    for (int k = 0; k < MODES; k++) {
        frequency[k] -= fmax(few[k] - frequency[k], 0) * ratio;
    }
    return SINEW_OK;
}

// The largest relative difference.
static double compare(const double own[MODES], const double reference[MODES]) {
    double worst = 0;
    for (int k = 0; k < MODES; k++) {
        worst = fmax(worst, fabs(own[k] / reference[k] - 1));
    }
    return worst;
}

// Counts parts that need a frame of their own.
static sinew_status count_parts(estimate *e) {
    sn_arena arena = sn_arena_create(e->context);
    uint64_t *key = SN_PUSH(&arena, uint64_t, e->voxels->count);
    int32_t *parts;
    int32_t pieces = 0;
    sinew_status status = sn_arena_status(&arena);
    if (status == SINEW_OK) {
        for (int32_t v = 0; v < e->voxels->count; v++) {
            uint16_t label = e->voxels->label[v];
            key[v] = is_rigid(e->def, label) ? label : 0;
        }
        status = sn_voxel_parts(e->voxels, &arena, NULL, &parts, &e->parts);
    }
    if (status == SINEW_OK) {
        status = sn_voxel_parts(e->voxels, &arena, key, &parts, &pieces);
    }

    e->fewest = pieces;
    sn_arena_destroy(&arena);
    return status;
}

static sinew_status coarsen(const sinew_autorig_def *def, sinew_context *context,
                            sinew_voxels **coarse) {
    int32_t factor = (int32_t)ceil(cbrt((double)def->voxels->count / COARSE_VOXELS) - 1e-9);
    *coarse = NULL;
    if (factor <= 1) {
        return SINEW_OK;
    }

    double *young = sn_allocate(context, SN_LABELS, sizeof *young);
    if (!young) {
        return SINEW_OUT_OF_MEMORY;
    }

    for (int32_t label = 0; label < SN_LABELS; label++) {
        young[label] = 1;
    }
    for (int32_t i = 0; i < def->tissue_count; i++) {
        young[def->tissues[i].label] = sinew_material_get_young(&def->tissues[i].material);
    }

    sinew_status status = sn_coarsen_voxels(def->voxels, factor, young, coarse);
    sn_release(context, young, SN_LABELS, sizeof *young);
    return status;
}

static sinew_status check(sinew_context *context, const sinew_autorig_def *def,
                          const int32_t *frames, int32_t count) {
    SN_TRY(SN_CHECK_DEF(context, def, "sinew_default_autorig_def"));
    if (!def->voxels || count < 1 || def->tissue_count < 0 ||
        (def->tissue_count > 0 && !def->tissues)) {
        return sn_fail(context, SINEW_INVALID_ARGUMENT,
                       "an estimate needs voxels, a table of tissues or none, and at least one "
                       "number of frames; here are %d numbers and %d tissues",
                       count, def->tissue_count);
    }

    for (int32_t i = 0; i < count; i++) {
        if (frames[i] < 1) {
            return sn_fail(context, SINEW_INVALID_ARGUMENT,
                           "number of frames %d is %d; valid is at least 1", i, frames[i]);
        }
    }
    for (int32_t i = 0; i < def->tissue_count; i++) {
        SN_TRY(sinew_check_material(context, &def->tissues[i].material));
        if (def->tissues[i].label < 1 || def->tissues[i].label >= SN_LABELS) {
            return sn_fail(context, SINEW_INVALID_ARGUMENT,
                           "tissue %d has the label %d; valid are 1 to %d", i,
                           def->tissues[i].label, SN_LABELS - 1);
        }
    }
    return SINEW_OK;
}

sinew_status sinew_autorig_estimate_error(sinew_context *context, const sinew_autorig_def *def,
                                          const int32_t *frames, int32_t count, double *errors) {
    SN_NEED(NULL, context);

    SN_TRY(check(context, def, frames, count));
    sinew_voxels *coarse;
    sinew_autorig_def resolved = *def;
    resolved.placement.count = 0; // the settings suit any number of frames
    SN_TRY(sinew_autorig_resolve(context, &resolved));
    SN_TRY(coarsen(def, context, &coarse));

    estimate e = {.context = context, .def = &resolved, .voxels = coarse ? coarse : def->voxels};
    double reference[MODES];
    sinew_status status = count_parts(&e);
    if (status == SINEW_OK) {
        status = find_reference(&e, reference);
    }

    for (int32_t i = 0; i < count && status == SINEW_OK; i++) {
        double own[MODES];
        errors[i] = INFINITY;
        if (frames[i] < e.fewest || frames[i] < def->placement.fixed_count) {
            continue;
        }

        status = measure(&e, &resolved, frames[i], own);
        if (status == SINEW_OK) {
            errors[i] = compare(own, reference);
        }
    }

    sinew_voxels_destroy(coarse);
    return status;
}
