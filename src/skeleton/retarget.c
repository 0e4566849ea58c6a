// Transfers a motion from one skeleton to another. With Q the joints' rotations in the world, s the
// source joint and t the corresponding target joint:
//
//   Q_t = Q_s Qrest_s^-1 Qrest_t
//
// so a target joint rotates from its rest pose like its source, whatever the local axes are. The
// root's position is that of the source, scaled; all other offsets are the target's own, so its
// bones keep their lengths. If the target's root has no source, the first joint with one is used
// instead: everything above it keeps its rest pose.
#include "skeleton/skeleton.h"

#include <stdlib.h>

sinew_retarget_def sinew_default_retarget_def(void) {
    return (sinew_retarget_def){.scale = 1, .filled = SN_DEF_FILLED};
}

static sinew_status check_def(sinew_context *context, const sinew_skeleton *source,
                              const sinew_motion *motion, const sinew_skeleton *target,
                              const sinew_retarget_def *def) {
    SN_TRY(SN_CHECK_DEF(context, def, "sinew_default_retarget_def"));
    if (motion->joint_count != source->joint_count) {
        return sn_fail(context, SINEW_INVALID_ARGUMENT, "the motion has %d joints, its skeleton %d",
                       motion->joint_count, source->joint_count);
    }

    if (!(def->scale >= 0) || !isfinite(def->scale) || !sn_finite3(sn_load3(def->offset))) {
        return sn_fail(context, SINEW_INVALID_ARGUMENT,
                       "the scale must be finite and at least 0, not %g, and the offset finite",
                       def->scale);
    }

    // Pairs of joints.
    if (def->pair_count < 0 || (def->pair_count > 0 && !def->pairs)) {
        return sn_fail(context, SINEW_INVALID_ARGUMENT,
                       "pair_count is %d; it must be at least 0, and pairs not NULL above that",
                       def->pair_count);
    }

    for (int32_t i = 0; i < def->pair_count; i++) {
        const sinew_name_pair *pair = &def->pairs[i];
        if (sinew_skeleton_find(source, pair->source) < 0) {
            return sn_fail(context, SINEW_NOT_FOUND, "pair %d: the motion has no joint '%s'", i,
                           pair->source);
        }

        if (sinew_skeleton_find(target, pair->target) < 0) {
            return sn_fail(context, SINEW_NOT_FOUND, "pair %d: the skeleton has no joint '%s'", i,
                           pair->target);
        }
    }

    return SINEW_OK;
}

// For each joint of the target its source or -1. A name in a pair no longer matches an equal name.
static void match_joints(int32_t *sources, uint8_t *used, const sinew_skeleton *source,
                         const sinew_skeleton *target, const sinew_retarget_def *def) {
    for (int32_t i = 0; i < target->joint_count; i++) {
        sources[i] = -1;
    }

    // Explicit pairs first, then equal names.
    for (int32_t i = 0; i < def->pair_count; i++) {
        int32_t from = sinew_skeleton_find(source, def->pairs[i].source);
        sources[sinew_skeleton_find(target, def->pairs[i].target)] = from;
        used[from] = 1;
    }

    for (int32_t i = 0; i < target->joint_count; i++) {
        int32_t from = sinew_skeleton_find(source, target->names[i]);
        if (sources[i] >= 0 || from < 0 || used[from]) {
            continue;
        }
        sources[i] = from;
    }

    // Mark every source that is used.
    for (int32_t i = 0; i < target->joint_count; i++) {
        if (sources[i] >= 0) {
            used[sources[i]] = 1;
        }
    }
}

static int compare_doubles(const void *a, const void *b) {
    double x = *(const double *)a;
    double y = *(const double *)b;
    return (x > y) - (x < y);
}

// The median ratio, source over target, of the distances between matched joints and their nearest
// matched ancestors. Zero if there is none.
static double compute_size_ratio(double *ratios, const int32_t *sources,
                                 const sinew_skeleton *source, const sinew_skeleton *target) {
    int32_t count = 0;

    // Distances to the nearest matched ancestor, in both skeletons.
    for (int32_t i = 1; i < target->joint_count; i++) {
        int32_t ancestor = target->parents[i];
        while (ancestor >= 0 && sources[ancestor] < 0) {
            ancestor = target->parents[ancestor];
        }

        if (sources[i] < 0 || ancestor < 0) {
            continue;
        }

        const sinew_transform *from = source->rest_world;
        const sinew_transform *to = target->rest_world;
        double a = sn_distance(sn_load3(from[sources[i]].translation),
                               sn_load3(from[sources[ancestor]].translation));
        double b = sn_distance(sn_load3(to[i].translation), sn_load3(to[ancestor].translation));

        if (a > 0 && b > 0) {
            ratios[count++] = a / b;
        }
    }

    if (count == 0) {
        return 0;
    }

    qsort(ratios, (size_t)count, sizeof *ratios, compare_doubles);
    return ratios[count / 2];
}

static sinew_status make_report(sinew_context *context, sinew_retarget_report *report, double ratio,
                                const int32_t *sources, const uint8_t *used,
                                const sinew_skeleton *source, const sinew_skeleton *target,
                                double scale) {
    *report = (sinew_retarget_report){.size_ratio = ratio * scale,
                                      .fitting_scale = ratio > 0 ? 1 / ratio : 0};

    // Count matched and unmatched joints.
    for (int32_t i = 0; i < target->joint_count; i++) {
        report->matched += sources[i] >= 0;
    }

    for (int32_t i = 0; i < source->joint_count; i++) {
        report->source_unmatched += !used[i];
    }

    report->target_unmatched = target->joint_count - report->matched;
    report->sizes_differ = ratio > 0 && (report->size_ratio < 0.8 || report->size_ratio > 1.25);
    if (report->matched == 0) {
        return sn_fail(context, SINEW_NOT_FOUND,
                       "no joint of the motion ('%s', ...) has the name of one of the skeleton "
                       "('%s', ...); give pairs of names",
                       source->names[0], target->names[0]);
    }

    if (report->sizes_differ) {
        sn_log(context, SINEW_LOG_WARNING,
               "the motion's bones are %.3g times as long as the skeleton's; a scale of %.4g "
               "instead of %.4g would fit",
               report->size_ratio, report->fitting_scale, scale);
    }

    return SINEW_OK;
}

typedef struct transfer {
    const sinew_skeleton *source, *target;
    const int32_t *sources;
    int32_t first; // of the matched joints of the target
    double scale;
    sn_vec3 offset;
    sinew_transform *source_world; // scratch
    sn_quat *target_world;         // scratch
} transfer;

static sn_vec3 transform_root(const transfer *work, int32_t joint, sn_vec3 source_position) {
    sn_vec3 position = sn_madd(work->offset, work->scale, source_position);
    int32_t parent = work->target->parents[joint];
    return parent < 0 ? position : sn_rigid_apply(work->target->rest_inverse[parent], position);
}

static void transfer_frame(const transfer *work, const sinew_transform *from, sinew_transform *to) {
    const sinew_skeleton *source = work->source;
    const sinew_skeleton *target = work->target;

    sn_skeleton_compute_world(source, from, work->source_world);
    for (int32_t i = 0; i < target->joint_count; i++) {
        sn_rigid local = sn_rigid_load(&target->rest_local[i]);
        sn_quat parent = i > 0 ? work->target_world[target->parents[i]] : sn_quat_identity();
        int32_t s = work->sources[i];

        // Q_t = Q_s Qrest_s^-1 Qrest_t
        if (s >= 0) {
            sn_quat rotation =
                sn_quat_mul(sn_rigid_load(&work->source_world[s]).q, source->rest_inverse[s].q);
            sn_quat world = sn_quat_mul(rotation, sn_rigid_load(&target->rest_world[i]).q);
            local.q = sn_quat_mul(sn_quat_conjugate(parent), world);

            if (i == work->first) {
                local.t = transform_root(work, i, sn_load3(work->source_world[s].translation));
            }
        }

        work->target_world[i] = sn_quat_mul(parent, local.q);
        sn_rigid_store(&to[i], local);
    }
}

static sinew_status retarget(sn_arena *scratch, const sinew_skeleton *source,
                             const sinew_motion *motion, const sinew_skeleton *target,
                             const sinew_retarget_def *def, sinew_retarget_report *report,
                             sinew_motion **retargeted) {
    sinew_context *context = scratch->context;
    int32_t *sources = SN_PUSH(scratch, int32_t, target->joint_count);
    uint8_t *used = SN_PUSH(scratch, uint8_t, source->joint_count);
    double *ratios = SN_PUSH(scratch, double, target->joint_count);
    transfer work = {source, target, sources, 0, def->scale, sn_load3(def->offset), NULL, NULL};

    work.source_world = SN_PUSH(scratch, sinew_transform, source->joint_count);
    work.target_world = SN_PUSH(scratch, sn_quat, target->joint_count);
    SN_TRY(sn_arena_status(scratch));
    match_joints(sources, used, source, target, def);

    double ratio = compute_size_ratio(ratios, sources, source, target);
    if (!(work.scale > 0)) {
        work.scale = ratio > 0 ? 1 / ratio : 1;
    }
    SN_TRY(make_report(context, report, ratio, sources, used, source, target, work.scale));
    while (sources[work.first] < 0) {
        work.first++;
    }

    SN_TRY(sn_motion_create_empty(context, target->joint_count, motion->frame_count,
                                  motion->frame_time, retargeted));

    // Frame by frame.
    for (int32_t frame = 0; frame < motion->frame_count; frame++) {
        sinew_transform *to = (*retargeted)->frames + (size_t)frame * (size_t)target->joint_count;
        transfer_frame(&work, sinew_motion_frame(motion, frame), to);
    }

    return SINEW_OK;
}

sinew_status sinew_motion_retarget(sinew_context *context, const sinew_skeleton *source,
                                   const sinew_motion *motion, const sinew_skeleton *target,
                                   const sinew_retarget_def *def, sinew_retarget_report *report,
                                   sinew_motion **retargeted) {
    SN_NEED(NULL, context);
    SN_NEED(context, source && motion && target && retargeted);
    SN_ASSERT(context && source && motion && target && retargeted);
    SN_TRY(check_def(context, source, motion, target, def));
    sinew_retarget_report unread;
    sn_arena scratch = sn_arena_create(context);
    sinew_status status =
        retarget(&scratch, source, motion, target, def, report ? report : &unread, retargeted);
    sn_arena_destroy(&scratch);

    return status;
}
