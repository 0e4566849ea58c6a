// What automatic frames look like: the weights, the placement, the kind and the number that suit a
// solid. In: the solid and what the caller has already decided. Out: no setting is left automatic.
//
// A few frames with spectral weights deform as the solid does, so they come first. They do not suit
// solids with rigid or bound parts, which some frames carry alone, solids in several pieces, and
// many frames; those get Voronoi weights. Cost: one pass over the voxels.
#include "sinew/autorig.h"

#include "frame/weights/table.h"

#include "base/context.h"

#include <math.h>

enum {
    SPECTRAL_COUNT = 6, // frames by default
    VORONOI_COUNT = 10,
    MOST_SPECTRAL = 12, // frames, all of which act on every voxel
    FEWEST_VOXELS = 200 // for modes that are worth it
};

// Ratio of the stiffest to the softest material from which on they count as several.
static const double SEVERAL = 1.2;

typedef struct solid {
    bool has_carried; // rigid or bound parts
    double contrast;  // of the stiffness of the others
    int32_t part_count;
} solid;

static sinew_status survey(sinew_context *context, const sinew_voxels *voxels,
                           const sinew_tissue *tissues, int32_t tissue_count, sn_arena *scratch,
                           solid *out) {
    double *young, *density;
    bool *rigid;
    int32_t *bound, *parts;
    SN_TRY(sn_read_tissues(context, voxels, tissues, tissue_count, scratch, &young, &density,
                           &rigid, &bound));
    SN_TRY(sn_voxel_parts(voxels, scratch, NULL, &parts, &out->part_count));

    double least = INFINITY, most = 0;
    for (int32_t v = 0; v < voxels->count; v++) {
        uint16_t label = voxels->label[v];
        if (rigid[label] || bound[label] >= 0) {
            out->has_carried = true;
            continue;
        }
        double stiffness = young[label] * sn_voxel_stiffness(voxels, v);
        least = fmin(least, stiffness);
        most = fmax(most, stiffness);
    }

    out->contrast = most > 0 ? most / least : 1;
    return SINEW_OK;
}

static bool suits_spectral(const sinew_voxels *voxels, const solid *solid,
                           const sinew_frame_choice *choice) {
    bool bends = choice->kind == SINEW_NODE_AUTO || choice->kind == SINEW_NODE_QUADRATIC ||
                 choice->kind == SINEW_NODE_COMPLIANT;
    return bends && choice->fixed_count == 0 && choice->count <= MOST_SPECTRAL &&
           choice->blend == SINEW_BLEND_LINEAR && voxels->count >= FEWEST_VOXELS &&
           solid->part_count == 1 && !solid->has_carried;
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
        choice->weights =
            suits_spectral(voxels, &solid, choice) ? SINEW_WEIGHTS_SPECTRAL : SINEW_WEIGHTS_VORONOI;
    }

    // The rest follows the weights.
    bool spectral = choice->weights == SINEW_WEIGHTS_SPECTRAL;
    if (choice->placement == SINEW_PLACEMENT_AUTO) {
        choice->placement = spectral ? SINEW_PLACEMENT_SPECTRAL : SINEW_PLACEMENT_EVEN;
    }
    if (choice->kind == SINEW_NODE_AUTO) {
        choice->kind = !spectral                  ? SINEW_NODE_AFFINE
                       : solid.contrast > SEVERAL ? SINEW_NODE_COMPLIANT
                                                  : SINEW_NODE_QUADRATIC;
    }
    if (choice->count == 0) {
        choice->count = spectral ? SPECTRAL_COUNT : VORONOI_COUNT;
        choice->count = choice->count < choice->fixed_count ? choice->fixed_count : choice->count;
    }

    return SINEW_OK;
}
