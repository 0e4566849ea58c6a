// A surface that follows joints by weights: weights by distance or given, and blending in parallel.
#include "skeleton/skin.h"

#include "base/threads.h"

#include <string.h>

enum { VERTEX_CHUNK = 1024 };

static double distance2_to_bone(sn_vec3 p, const sinew_bone *bone) {
    sn_vec3 a = sn_load3(bone->from);
    sn_vec3 ab = sn_sub(sn_load3(bone->to), a);
    sn_vec3 ap = sn_sub(p, a);
    double t = fmin(fmax(sn_dot(ap, ab) / sn_dot(ab, ab), 0), 1);
    sn_vec3 d = sn_madd(ap, -t, ab);
    return sn_dot(d, d);
}

typedef struct weigh_job {
    sinew_skin *skin;
    const sinew_skeleton *skeleton;
    double smallest2; // below this distance squared, distances count as equal
} weigh_job;

// The nearest joints, sorted by distance; unused slots repeat joint 0 with an infinite distance.
static void find_nearest(int32_t joints[SN_INFLUENCES], double distances2[SN_INFLUENCES], sn_vec3 p,
                         const sinew_skeleton *skeleton) {
    for (int k = 0; k < SN_INFLUENCES; k++) {
        joints[k] = 0;
        distances2[k] = INFINITY;
    }

    // Insert the distance of each joint, over all its bones, into the sorted list.
    for (int32_t b = 0; b < skeleton->bone_count;) {
        int32_t joint = skeleton->bones[b].joint;
        double d2 = INFINITY;
        for (; b < skeleton->bone_count && skeleton->bones[b].joint == joint; b++) {
            d2 = fmin(d2, distance2_to_bone(p, &skeleton->bones[b]));
        }

        int k = SN_INFLUENCES;
        while (k > 0 && d2 < distances2[k - 1]) {
            k--;
        }

        if (k == SN_INFLUENCES) {
            continue;
        }

        for (int other = SN_INFLUENCES - 1; other > k; other--) {
            joints[other] = joints[other - 1];
            distances2[other] = distances2[other - 1];
        }

        joints[k] = joint;
        distances2[k] = d2;
    }
}

static void weigh_range(void *data, int32_t begin, int32_t end, int32_t chunk) {
    (void)chunk;
    const weigh_job *work = data;
    for (int32_t i = begin; i < end; i++) {
        double d2[SN_INFLUENCES];
        double sum = 0;
        double *weights = work->skin->weights + (size_t)i * SN_INFLUENCES;

        find_nearest(work->skin->joints + (size_t)i * SN_INFLUENCES, d2,
                     sn_load3(sn_at3(work->skin->rest, i)), work->skeleton);
        for (int k = 0; k < SN_INFLUENCES; k++) {
            // 1/d^4 relative to the nearest, to avoid overflow.
            double ratio = fmax(d2[0], work->smallest2) / fmax(d2[k], work->smallest2);
            sum += weights[k] = ratio * ratio;
        }

        for (int k = 0; k < SN_INFLUENCES; k++) {
            weights[k] /= sum;
        }
    }
}

static sinew_status create(sinew_context *context, const sinew_skeleton *skeleton,
                           const double *points, int32_t point_count, sinew_skin **skin) {
    if (point_count < 1) {
        return sn_fail(context, SINEW_INVALID_ARGUMENT, "a skin has at least one vertex, not %d",
                       point_count);
    }

    for (int32_t i = 0; i < point_count; i++) {
        if (sn_finite3(sn_load3(sn_at3(points, i)))) {
            continue;
        }
        return sn_fail(context, SINEW_INVALID_DATA, "the position of vertex %d is not finite", i);
    }

    sinew_skin *made = sn_allocate(context, 1, sizeof *made);
    if (!made) {
        return SINEW_OUT_OF_MEMORY;
    }

    made->arena = sn_arena_create(context);
    made->joint_count = skeleton->joint_count;
    made->point_count = point_count;
    made->rest = SN_PUSH(&made->arena, double, 3 * (size_t)point_count);
    made->weights = SN_PUSH(&made->arena, double, SN_INFLUENCES *(size_t)point_count);
    made->joints = SN_PUSH(&made->arena, int32_t, SN_INFLUENCES * (size_t)point_count);
    made->rest_inverse = SN_PUSH(&made->arena, sn_rigid, skeleton->joint_count);
    made->transforms =
        SN_PUSH(&made->arena, double, SN_SKIN_COLUMNS *(size_t)skeleton->joint_count);

    if (sn_arena_status(&made->arena) != SINEW_OK) {
        sinew_skin_destroy(made);
        return SINEW_OUT_OF_MEMORY;
    }

    memcpy(made->rest, points, 3 * (size_t)point_count * sizeof *points);
    memcpy(made->rest_inverse, skeleton->rest_inverse,
           (size_t)skeleton->joint_count * sizeof *made->rest_inverse);

    // Kernels for this machine.
    sn_isa isa = sn_isa_detect();
    made->linear = SN_ISA_PICK(isa, sn_skin_linear);
    made->dual = SN_ISA_PICK(isa, sn_skin_dual);
    *skin = made;

    return SINEW_OK;
}

sinew_status sinew_skin_create(sinew_context *context, const sinew_skeleton *skeleton,
                               const double *points, int32_t point_count, sinew_skin **skin) {
    SN_NEED(NULL, context);
    SN_NEED(context, skeleton && points && skin);

    if (skeleton->bone_count == 0) {
        return sn_fail(context, SINEW_INVALID_ARGUMENT,
                       "the skeleton has no bone to take a distance to");
    }

    SN_TRY(create(context, skeleton, points, point_count, skin));
    double longest = 0;
    for (int32_t b = 0; b < skeleton->bone_count; b++) {
        longest = fmax(longest, sn_distance(sn_load3(skeleton->bones[b].from),
                                            sn_load3(skeleton->bones[b].to)));
    }

    weigh_job work = {*skin, skeleton, 1e-12 * longest * longest};
    sn_parallel_for(context, point_count, VERTEX_CHUNK, weigh_range, &work);

    return SINEW_OK;
}

static sinew_status check_weights(sinew_context *context, const sinew_skeleton *skeleton,
                                  int32_t vertex, const int32_t *joints, const double *weights) {
    double sum = 0;
    for (int k = 0; k < SN_INFLUENCES; k++) {
        if (joints[k] < 0 || joints[k] >= skeleton->joint_count) {
            return sn_fail(context, SINEW_INVALID_DATA, "vertex %d: joint %d must be in [0, %d]",
                           vertex, joints[k], skeleton->joint_count - 1);
        }

        if (!(weights[k] >= 0) || !isfinite(weights[k])) {
            return sn_fail(context, SINEW_INVALID_DATA,
                           "vertex %d: the weight %g must be finite and not negative", vertex,
                           weights[k]);
        }

        sum += weights[k];
    }

    if (sum > 0) {
        return SINEW_OK;
    }

    return sn_fail(context, SINEW_INVALID_DATA, "vertex %d: all weights are zero", vertex);
}

sinew_status sinew_skin_create_from_weights(sinew_context *context, const sinew_skeleton *skeleton,
                                            const double *points, int32_t point_count,
                                            const int32_t *joints, const double *weights,
                                            sinew_skin **skin) {
    SN_NEED(NULL, context);
    SN_NEED(context, skeleton && points && joints && weights && skin);

    for (int32_t i = 0; i < point_count; i++) {
        size_t at = (size_t)i * SN_INFLUENCES;
        SN_TRY(check_weights(context, skeleton, i, joints + at, weights + at));
    }

    SN_TRY(create(context, skeleton, points, point_count, skin));
    memcpy((*skin)->joints, joints, (size_t)point_count * SN_INFLUENCES * sizeof *joints);

    // Normalise the weights.
    for (int32_t i = 0; i < point_count; i++) {
        const double *from = weights + (size_t)i * SN_INFLUENCES;
        double sum = 0;
        for (int k = 0; k < SN_INFLUENCES; k++) {
            sum += from[k];
        }

        for (int k = 0; k < SN_INFLUENCES; k++) {
            (*skin)->weights[(size_t)i * SN_INFLUENCES + (size_t)k] = from[k] / sum;
        }
    }

    return SINEW_OK;
}

void sinew_skin_destroy(sinew_skin *skin) {
    if (!skin) {
        return;
    }
    sinew_context *context = skin->arena.context;
    sn_arena_destroy(&skin->arena);
    sn_release(context, skin, 1, sizeof *skin);
}

const int32_t *sinew_skin_joints(const sinew_skin *skin) {
    SN_NEED_OR(NULL, skin);
    return skin->joints;
}

const double *sinew_skin_weights(const sinew_skin *skin) {
    SN_NEED_OR(NULL, skin);
    return skin->weights;
}

static void store_columns(double *columns, sn_rigid a) {
    sn_mat3 R = sn_quat_to_mat3(a.q);
    for (int c = 0; c < 3; c++) {
        sn_store3(columns + 4 * c, sn_mat3_column(R, c));
    }
    sn_store3(columns + 12, a.t);
}

static void store_dual(double *numbers, sn_rigid a) {
    sn_quat dual = sn_quat_scale(0.5, sn_quat_mul((sn_quat){a.t.x, a.t.y, a.t.z, 0}, a.q));
    memcpy(numbers,
           (double[SN_SKIN_DUAL]){a.q.x, a.q.y, a.q.z, a.q.w, dual.x, dual.y, dual.z, dual.w},
           SN_SKIN_DUAL * sizeof *numbers);
}

typedef struct blend_job {
    sn_skin_fn *blend;
    sn_skin_job job;
} blend_job;

static void blend_range(void *data, int32_t begin, int32_t end, int32_t chunk) {
    (void)chunk;
    const blend_job *work = data;
    work->blend(&work->job, begin, end);
}

void sinew_skin_compute(sinew_skin *skin, const sinew_transform *world, sinew_skin_method method,
                        double *positions) {
    SN_NEED_OR(, skin && world && positions);

    bool linear = method == SINEW_SKIN_LINEAR;
    for (int32_t i = 0; i < skin->joint_count; i++) {
        sn_rigid offset = sn_rigid_mul(sn_rigid_load(&world[i]), skin->rest_inverse[i]);
        if (linear) {
            store_columns(skin->transforms + (size_t)i * SN_SKIN_COLUMNS, offset);
        } else {
            store_dual(skin->transforms + (size_t)i * SN_SKIN_DUAL, offset);
        }
    }

    blend_job work = {linear ? skin->linear : skin->dual,
                      {skin->rest, skin->joints, skin->weights, skin->transforms, positions}};

    sn_parallel_for(skin->arena.context, skin->point_count, VERTEX_CHUNK, blend_range, &work);
}
