// What automatic frames look like: the weights, the placement, the kind and the number that suit a
// solid. In: the solid and what the caller has already decided. Out: no setting is left automatic.
//
// A few frames with spectral weights deform as the solid does, so they come first. Each rigid part
// has a frame of its own, whose weight is 1 all over it, because modes are constant in what
// conducts without limit. Solids with bound parts, solids in several pieces, and many frames get
// Voronoi weights. Cost: one pass over the voxels.
#include "sinew/autorig.h"

#include "frame/weights/table.h"

#include "base/context.h"

#include <math.h>

enum {
    SPECTRAL_COUNT = 6, // frames by default
    SOFT_COUNT = 5,     // at least as many that are not in rigid parts, by default
    FEWEST_SOFT = 3,    // of those, if the caller gives the number
    VORONOI_COUNT = 10,
    MOST_SPECTRAL = 12,  // frames, all of which act on every voxel
    MOST_SOFT = 8,       // of those that are not in rigid parts; set-up and steps cost their square
    FEWEST_VOXELS = 200, // for modes that are worth it
    FEWEST_LAYERS = 2
};

// Ratio of the stiffest to the softest material from which on they count as several.
static const double SEVERAL = 1.2;

typedef struct solid {
    bool has_bound, has_soft;
    double contrast; // of the stiffness of soft voxels
    int32_t part_count, rigid_count;
    int32_t layers; // of voxels along the axis with the fewest
} solid;

static int32_t count_layers(const sinew_voxels *voxels) {
    int32_t lower[3] = {INT32_MAX, INT32_MAX, INT32_MAX};
    int32_t upper[3] = {0, 0, 0};
    for (int32_t v = 0; v < voxels->count; v++) {
        int32_t c[3];
        sn_cell_coordinates(voxels->cells, voxels->cell[v], c);
        for (int a = 0; a < 3; a++) {
            lower[a] = c[a] < lower[a] ? c[a] : lower[a];
            upper[a] = c[a] > upper[a] ? c[a] : upper[a];
        }
    }

    int32_t fewest = INT32_MAX;
    for (int a = 0; a < 3; a++) {
        int32_t layers = upper[a] - lower[a] + 1;
        fewest = layers < fewest ? layers : fewest;
    }
    return fewest;
}

static sinew_status survey(sinew_context *context, const sinew_voxels *voxels,
                           const sinew_tissue *tissues, int32_t tissue_count, sn_arena *scratch,
                           solid *out) {
    double *young, *density;
    bool *rigid;
    int32_t *bound, *parts;
    SN_TRY(sn_read_tissues(context, voxels, tissues, tissue_count, scratch, &young, &density,
                           &rigid, &bound));
    SN_TRY(sn_voxel_parts(voxels, scratch, NULL, &parts, &out->part_count));

    // Rigid parts, as the placement of nodes counts them.
    sn_metric clusters = sn_metric_euclidean(voxels);
    SN_TRY(sn_metric_find_clusters(voxels, scratch, rigid, &clusters));
    out->rigid_count = clusters.cluster_count;

    double least = INFINITY, most = 0;
    for (int32_t v = 0; v < voxels->count; v++) {
        uint16_t label = voxels->label[v];
        out->has_bound = out->has_bound || bound[label] >= 0;
        if (rigid[label] || bound[label] >= 0) {
            continue;
        }
        out->has_soft = true;
        double stiffness = young[label] * sn_voxel_stiffness(voxels, v);
        least = fmin(least, stiffness);
        most = fmax(most, stiffness);
    }

    out->contrast = most > 0 ? most / least : 1;
    out->layers = count_layers(voxels);
    return SINEW_OK;
}

// The number of frames with spectral weights.
static int32_t default_count(const solid *solid) {
    int32_t count = solid->rigid_count + SOFT_COUNT;
    return count > SPECTRAL_COUNT ? count : SPECTRAL_COUNT;
}

// Whether spectral weights suit what the caller has decided, and the parts of the solid.
static bool suits_spectral(const solid *solid, const sinew_frame_choice *choice) {
    bool bends = choice->kind == SINEW_NODE_AUTO || choice->kind == SINEW_NODE_QUADRATIC ||
                 choice->kind == SINEW_NODE_COMPLIANT;
    int32_t count = choice->count > 0 ? choice->count : default_count(solid);
    return bends && choice->fixed_count == 0 && choice->blend == SINEW_BLEND_LINEAR &&
           solid->part_count == 1 && solid->has_soft && !solid->has_bound &&
           count <= MOST_SPECTRAL && count - solid->rigid_count <= MOST_SOFT &&
           (solid->rigid_count == 0 || count >= solid->rigid_count + FEWEST_SOFT);
}

static sinew_weights choose_weights(sinew_context *context, const sinew_voxels *voxels,
                                    const solid *solid, const sinew_frame_choice *choice) {
    if (!suits_spectral(solid, choice)) {
        return SINEW_WEIGHTS_VORONOI;
    }

    // Motions that are quadratic across a single layer have no strain at its voxels.
    if (voxels->count < FEWEST_VOXELS || solid->layers < FEWEST_LAYERS) {
        sn_log(context, SINEW_LOG_WARNING,
               "automatic frames have Voronoi weights, which are stiffer than the solid: spectral "
               "ones need at least %d voxels in %d layers along each axis, and here are %d in %d; "
               "a finer grid has them",
               FEWEST_VOXELS, FEWEST_LAYERS, voxels->count, solid->layers);
        return SINEW_WEIGHTS_VORONOI;
    }

    return SINEW_WEIGHTS_SPECTRAL;
}

sinew_frame_choice sinew_default_frame_choice(void) {
    return (sinew_frame_choice){.weights = SINEW_WEIGHTS_AUTO,
                                .placement = SINEW_PLACEMENT_AUTO,
                                .kind = SINEW_NODE_AUTO,
                                .filled = SN_DEF_FILLED};
}

sinew_status sinew_choose_frames(sinew_context *context, const sinew_voxels *voxels,
                                 const sinew_tissue *tissues, int32_t tissue_count,
                                 sinew_frame_choice *choice) {
    SN_NEED(NULL, context);
    SN_TRY(SN_CHECK_DEF(context, choice, "sinew_default_frame_choice"));
    if (!voxels || tissue_count < 0 || (tissue_count > 0 && !tissues) || choice->count < 0 ||
        choice->fixed_count < 0) {
        return sn_fail(context, SINEW_INVALID_ARGUMENT,
                       "a choice of frames needs voxels, tissues (here %d), and counts that are "
                       "not negative (%d frames, %d of them fixed)",
                       tissue_count, choice->count, choice->fixed_count);
    }

    sn_arena scratch = sn_arena_create(context);
    solid solid = {0};
    sinew_status status = survey(context, voxels, tissues, tissue_count, &scratch, &solid);
    sn_arena_destroy(&scratch);
    SN_TRY(status);

    if (choice->weights == SINEW_WEIGHTS_AUTO) {
        choice->weights = choose_weights(context, voxels, &solid, choice);
    }

    // The rest follows the weights.
    bool spectral = choice->weights == SINEW_WEIGHTS_SPECTRAL;
    if (choice->placement == SINEW_PLACEMENT_AUTO) {
        choice->placement = spectral ? SINEW_PLACEMENT_SPECTRAL : SINEW_PLACEMENT_EVEN;
    }
    if (choice->kind == SINEW_NODE_AUTO) {
        bool several = solid.contrast > SEVERAL || solid.rigid_count > 0;
        choice->kind = !spectral ? SINEW_NODE_AFFINE
                       : several ? SINEW_NODE_COMPLIANT
                                 : SINEW_NODE_QUADRATIC;
    }
    if (choice->count == 0) {
        choice->count = spectral ? default_count(&solid) : VORONOI_COUNT;
        choice->count = choice->count < choice->fixed_count ? choice->fixed_count : choice->count;
    }

    return SINEW_OK;
}
