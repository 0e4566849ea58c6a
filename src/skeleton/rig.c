// Rigging (Cai 2016, 6.3.2, 6.5.1): an element cut by the bones of exactly one joint is bound to that joint, elements cut by
// several stay free, and so do nodes that bound elements of several joints share. Bound nodes move by v = M T^-1 v0.
//
// A bone cuts an element if a stretch of it lies inside, up to the tolerances below: a bone that runs along an edge or a face
// cuts all elements around it, one that touches a corner cuts none. Cost: tets times bones, most of them comparisons of boxes.
#include "base/threads.h"
#include "skeleton/skeleton.h"

#include <stdatomic.h>
#include <string.h>

struct sinew_rig {
    sn_arena arena;
    int32_t joint_count, bound_count;
    int32_t *tet_joints, *node_joints;
    int32_t *bound_nodes;   // the nodes with a joint
    double *bound_rest;     // their rest positions
    sn_rigid *rest_inverse; // T^-1 of each joint
    sn_rigid *offsets;      // M T^-1, written at each move
};

enum { FREE = -1, SHARED = -2 }; // in place of a joint, during construction

enum { TET_CHUNK = 1024, NODE_CHUNK = 4096 };

// How far outside an element still counts as inside (barycentric coordinate), and the shortest stretch inside that counts, as
// a part of the element's longest edge at its first corner.
static const double INSIDE_TOLERANCE = 1e-9, SHORTEST_STRETCH = 1e-6;

// Whether the segment from `a` to `b` has a stretch inside the tet. Its barycentric coordinates are linear along the segment,
// so each of the four cuts the parameters [0, 1] to an interval.
static bool segment_cuts_tet(sn_vec3 a, sn_vec3 b, const sn_vec3 p[4]) {
    sn_vec3 e1 = sn_sub(p[1], p[0]), e2 = sn_sub(p[2], p[0]), e3 = sn_sub(p[3], p[0]);
    sn_mat3 D = sn_mat3_columns(e1, e2, e3);
    if (sn_mat3_det(D) == 0) return false;
    sn_mat3 inverse = sn_mat3_inverse(D);
    sn_vec3 at_a = sn_mat3_apply(inverse, sn_sub(a, p[0])), at_b = sn_mat3_apply(inverse, sn_sub(b, p[0]));
    double from[4] = {at_a.x, at_a.y, at_a.z, 1 - at_a.x - at_a.y - at_a.z};
    double to[4] = {at_b.x, at_b.y, at_b.z, 1 - at_b.x - at_b.y - at_b.z};
    double low = 0, high = 1;
    for (int k = 0; k < 4; k++) {
        double f = from[k] + INSIDE_TOLERANCE, g = to[k] + INSIDE_TOLERANCE;
        if (f < 0 && g < 0) return false;
        if (f < 0) low = fmax(low, f / (f - g));
        if (g < 0) high = fmin(high, f / (f - g));
    }
    double size = fmax(sn_length(e1), fmax(sn_length(e2), sn_length(e3)));
    return (high - low) * sn_distance(a, b) > SHORTEST_STRETCH * size;
}

typedef struct search {
    const double *points;
    const int32_t *tets;
    const sinew_bone *bones;
    int32_t bone_count;
    int32_t *tet_joints;
    _Atomic uint8_t *cuts; // [bone] becomes 1 when it cuts a tet; the order of such writes does not matter
} search;

static bool boxes_touch(sn_vec3 low, sn_vec3 high, const sinew_bone *bone) {
    sn_vec3 a = sn_load3(bone->from), b = sn_load3(bone->to);
    sn_vec3 bone_low = sn_min3(a, b), bone_high = sn_max3(a, b);
    return bone_low.x <= high.x && bone_high.x >= low.x && bone_low.y <= high.y && bone_high.y >= low.y &&
           bone_low.z <= high.z && bone_high.z >= low.z;
}

static int32_t find_joint(const search *work, const int32_t *tet) {
    sn_vec3 p[4];
    for (int k = 0; k < 4; k++) p[k] = sn_load3(work->points + 3 * (size_t)tet[k]);
    sn_vec3 low = sn_min3(sn_min3(p[0], p[1]), sn_min3(p[2], p[3])), high = sn_max3(sn_max3(p[0], p[1]), sn_max3(p[2], p[3]));
    // The box grows by what the tolerance allows, so that a bone in a face that rounds to either side is not lost.
    sn_vec3 margin = sn_scale(INSIDE_TOLERANCE, sn_sub(high, low));
    low = sn_sub(low, margin);
    high = sn_add(high, margin);
    int32_t joint = FREE;
    for (int32_t b = 0; b < work->bone_count; b++) {
        const sinew_bone *bone = &work->bones[b];
        if (!boxes_touch(low, high, bone) || !segment_cuts_tet(sn_load3(bone->from), sn_load3(bone->to), p)) continue;
        atomic_store_explicit(&work->cuts[b], 1, memory_order_relaxed);
        joint = joint == FREE || joint == bone->joint ? bone->joint : SHARED;
    }
    return joint;
}

static void search_range(void *data, int32_t begin, int32_t end, int32_t chunk) {
    (void)chunk;
    search *work = data;
    for (int32_t t = begin; t < end; t++) work->tet_joints[t] = find_joint(work, work->tets + 4 * (size_t)t);
}

static sinew_status check_mesh(sinew_context *context, const double *points, int32_t point_count, const int32_t *tets,
                               int32_t tet_count) {
    if (point_count < 4 || tet_count < 1) {
        return sn_fail(context, SINEW_INVALID_ARGUMENT, "%d nodes, %d tets: a mesh has at least 4 and 1", point_count,
                       tet_count);
    }
    for (int32_t i = 0; i < point_count; i++) {
        if (!sn_finite3(sn_load3(points + 3 * (size_t)i))) {
            return sn_fail(context, SINEW_INVALID_DATA, "node %d is not at a finite place", i);
        }
    }
    for (size_t i = 0; i < 4 * (size_t)tet_count; i++) {
        if (tets[i] < 0 || tets[i] >= point_count) {
            return sn_fail(context, SINEW_INVALID_DATA, "tet %zu: node %d must be in [0, %d]", i / 4, tets[i],
                           point_count - 1);
        }
    }
    return SINEW_OK;
}

// Nodes take the joint of their bound tets, or none if these disagree.
static void bind_nodes(sinew_rig *rig, const int32_t *tets, int32_t tet_count, int32_t node_count) {
    for (int32_t i = 0; i < node_count; i++) rig->node_joints[i] = FREE;
    for (int32_t t = 0; t < tet_count; t++) {
        int32_t joint = rig->tet_joints[t];
        for (int k = 0; k < 4 && joint >= 0; k++) {
            int32_t *node = &rig->node_joints[tets[4 * (size_t)t + (size_t)k]];
            *node = *node == FREE || *node == joint ? joint : SHARED;
        }
    }
}

static void count_bound(sinew_rig *rig, int32_t tet_count, int32_t node_count, sinew_rig_report *report) {
    for (int32_t t = 0; t < tet_count; t++) {
        report->bound_tets += rig->tet_joints[t] >= 0;
        report->shared_tets += rig->tet_joints[t] == SHARED;
        if (rig->tet_joints[t] == SHARED) rig->tet_joints[t] = FREE;
    }
    for (int32_t i = 0; i < node_count; i++) {
        report->bound_nodes += rig->node_joints[i] >= 0;
        report->shared_nodes += rig->node_joints[i] == SHARED;
        if (rig->node_joints[i] == SHARED) rig->node_joints[i] = FREE;
    }
}

static void warn_of_idle_bones(sinew_context *context, const sinew_skeleton *skeleton, const search *work,
                               sinew_rig_report *report) {
    for (int32_t b = 0; b < work->bone_count; b++) {
        if (work->cuts[b]) continue;
        const sinew_bone *bone = &work->bones[b];
        report->idle_bones++;
        sn_log(context, SINEW_LOG_WARNING, "the bone from joint '%s' to %s%s cuts no element: nothing follows it",
               skeleton->names[bone->joint], bone->child >= 0 ? "joint " : "its tip",
               bone->child >= 0 ? skeleton->names[bone->child] : "");
    }
}

static sinew_status build(sinew_rig *rig, const sinew_skeleton *skeleton, const double *points, int32_t point_count,
                          const int32_t *tets, int32_t tet_count, sinew_rig_report *report) {
    sn_arena *arena = &rig->arena;
    rig->joint_count = skeleton->joint_count;
    rig->tet_joints = SN_PUSH(arena, int32_t, tet_count);
    rig->node_joints = SN_PUSH(arena, int32_t, point_count);
    rig->rest_inverse = SN_PUSH(arena, sn_rigid, skeleton->joint_count);
    rig->offsets = SN_PUSH(arena, sn_rigid, skeleton->joint_count);
    search work = {points, tets, skeleton->bones, skeleton->bone_count, rig->tet_joints, NULL};
    work.cuts = SN_PUSH(arena, _Atomic uint8_t, skeleton->bone_count);
    SN_TRY(sn_arena_status(arena));
    memcpy(rig->rest_inverse, skeleton->rest_inverse, (size_t)skeleton->joint_count * sizeof *rig->rest_inverse);
    sn_parallel_for(arena->context, tet_count, TET_CHUNK, search_range, &work);
    bind_nodes(rig, tets, tet_count, point_count);
    count_bound(rig, tet_count, point_count, report);
    warn_of_idle_bones(arena->context, skeleton, &work, report);
    rig->bound_nodes = SN_PUSH(arena, int32_t, report->bound_nodes);
    rig->bound_rest = SN_PUSH(arena, double, 3 * (size_t)report->bound_nodes);
    SN_TRY(sn_arena_status(arena));
    for (int32_t i = 0; i < point_count; i++) {
        if (rig->node_joints[i] < 0) continue;
        memcpy(rig->bound_rest + 3 * (size_t)rig->bound_count, points + 3 * (size_t)i, 3 * sizeof(double));
        rig->bound_nodes[rig->bound_count++] = i;
    }
    SN_ASSERT(rig->bound_count == report->bound_nodes);
    return SINEW_OK;
}

sinew_status sinew_rig_create(sinew_context *context, const sinew_skeleton *skeleton, const double *points,
                              int32_t point_count, const int32_t *tets, int32_t tet_count, sinew_rig_report *report,
                              sinew_rig **rig) {
    SN_ASSERT(context && skeleton && points && tets && rig);
    SN_TRY(check_mesh(context, points, point_count, tets, tet_count));
    sinew_rig *made = sn_allocate(context, 1, sizeof *made);
    if (!made) return SINEW_OUT_OF_MEMORY;
    made->arena = sn_arena_create(context);
    sinew_rig_report counts = {0};
    sinew_status status = build(made, skeleton, points, point_count, tets, tet_count, &counts);
    if (status != SINEW_OK) {
        sinew_rig_destroy(made);
        return status;
    }
    if (report) *report = counts;
    *rig = made;
    return SINEW_OK;
}

void sinew_rig_destroy(sinew_rig *rig) {
    if (!rig) return;
    sinew_context *context = rig->arena.context;
    sn_arena_destroy(&rig->arena);
    sn_release(context, rig, 1, sizeof *rig);
}

const int32_t *sinew_rig_tet_joints(const sinew_rig *rig) {
    return rig->tet_joints;
}

const int32_t *sinew_rig_node_joints(const sinew_rig *rig) {
    return rig->node_joints;
}

typedef struct movement {
    const sinew_rig *rig;
    double *positions;
} movement;

static void move_range(void *data, int32_t begin, int32_t end, int32_t chunk) {
    (void)chunk;
    const movement *work = data;
    for (int32_t i = begin; i < end; i++) {
        int32_t node = work->rig->bound_nodes[i];
        sn_rigid offset = work->rig->offsets[work->rig->node_joints[node]];
        sn_store3(work->positions + 3 * (size_t)node, sn_rigid_apply(offset, sn_load3(work->rig->bound_rest + 3 * (size_t)i)));
    }
}

void sinew_rig_move_nodes(sinew_rig *rig, const sinew_transform *world, double *positions) {
    for (int32_t i = 0; i < rig->joint_count; i++) {
        rig->offsets[i] = sn_rigid_mul(sn_rigid_load(&world[i]), rig->rest_inverse[i]);
    }
    movement work = {rig, positions};
    sn_parallel_for(rig->arena.context, rig->bound_count, NODE_CHUNK, move_range, &work);
}
