// Rigging (Cai 2016, 6.3.2, 6.5.1): an element cut by the bones of exactly one joint is bound to
// that joint; elements cut by several stay free, and so do nodes shared by bound elements of
// several joints. Bound nodes move by v = M T^-1 v0.
//
// A bone cuts an element if a part of it is inside, up to the tolerances below: a bone along an
// edge or a face cuts all elements around it, one that touches a corner cuts none. Cost: elements
// times bones, most of them comparisons of boxes.
#include "base/threads.h"
#include "geom/mesh/mesh.h"
#include "skeleton/skeleton.h"

#include <stdatomic.h>
#include <string.h>

struct sinew_rig {
    sn_arena arena;
    int32_t joint_count, bound_count;
    int32_t *element_joints, *node_joints;
    int32_t *bound_nodes;   // the nodes with a joint
    double *bound_rest;     // their rest positions
    sn_rigid *rest_inverse; // T^-1 of each joint
    sn_rigid *offsets;      // M T^-1, written at each move
};

enum { FREE = -1, SHARED = -2 }; // in place of a joint, during construction
enum { NAMED_BONES = 8 };        // in warnings

enum { ELEMENT_CHUNK = 1024, NODE_CHUNK = 4096 };

// The corners of the tets that represent an element in the test; those of a hexahedron share the
// diagonal 06.
static const int8_t hex_tets[6][4] = {{0, 1, 2, 6}, {0, 2, 3, 6}, {0, 3, 7, 6},
                                      {0, 7, 4, 6}, {0, 4, 5, 6}, {0, 5, 1, 6}};
static const int8_t one_tet[1][4] = {{0, 1, 2, 3}};

// Barycentric coordinates down to minus this count as inside.
static const double INSIDE_TOLERANCE = 1e-9;
// The shortest part of a bone inside an element that counts, relative to the element's longest edge
// at its first corner.
static const double SHORTEST_STRETCH = 1e-6;

// Whether a part of the segment from `a` to `b` is inside the tet. Barycentric coordinates are
// linear along the segment, so each of the four limits the parameters [0, 1] to an interval.
static bool segment_cuts_tet(sn_vec3 a, sn_vec3 b, const sn_vec3 p[4]) {
    sn_vec3 e1 = sn_sub(p[1], p[0]);
    sn_vec3 e2 = sn_sub(p[2], p[0]);
    sn_vec3 e3 = sn_sub(p[3], p[0]);
    sn_mat3 D = sn_mat3_columns(e1, e2, e3);

    if (sn_mat3_det(D) == 0) {
        return false;
    }

    // Barycentric coordinates of both ends.
    sn_mat3 inverse = sn_mat3_inverse(D);
    sn_vec3 at_a = sn_mat3_apply(inverse, sn_sub(a, p[0]));
    sn_vec3 at_b = sn_mat3_apply(inverse, sn_sub(b, p[0]));
    double from[4] = {at_a.x, at_a.y, at_a.z, 1 - at_a.x - at_a.y - at_a.z};
    double to[4] = {at_b.x, at_b.y, at_b.z, 1 - at_b.x - at_b.y - at_b.z};
    double low = 0, high = 1;

    // Clip the segment by the four faces.
    for (int k = 0; k < 4; k++) {
        double f = from[k] + INSIDE_TOLERANCE;
        double g = to[k] + INSIDE_TOLERANCE;
        if (f < 0 && g < 0) {
            return false;
        }
        if (f < 0) {
            low = fmax(low, f / (f - g));
        }
        if (g < 0) {
            high = fmin(high, f / (f - g));
        }
    }

    double size = fmax(sn_length(e1), fmax(sn_length(e2), sn_length(e3)));
    return (high - low) * sn_distance(a, b) > SHORTEST_STRETCH * size;
}

typedef struct search {
    const sinew_mesh *mesh;
    const int8_t (*tets)[4]; // of one element
    int tet_count;
    const sinew_bone *bones;
    int32_t bone_count;
    int32_t *element_joints;
    // [bone] becomes 1 when it cuts an element; the order of these writes does not matter.
    _Atomic uint8_t *cuts;
} search;

static bool boxes_touch(sn_box box, const sinew_bone *bone) {
    sn_vec3 a = sn_load3(bone->from);
    sn_vec3 b = sn_load3(bone->to);
    sn_vec3 low = sn_min3(a, b);
    sn_vec3 high = sn_max3(a, b);
    return low.x <= box.upper.x && high.x >= box.lower.x && low.y <= box.upper.y &&
           high.y >= box.lower.y && low.z <= box.upper.z && high.z >= box.lower.z;
}

static bool bone_cuts_element(const search *work, const sinew_bone *bone, const sn_vec3 *corners) {
    for (int t = 0; t < work->tet_count; t++) {
        const int8_t *tet = work->tets[t];
        sn_vec3 p[4] = {corners[tet[0]], corners[tet[1]], corners[tet[2]], corners[tet[3]]};
        if (segment_cuts_tet(sn_load3(bone->from), sn_load3(bone->to), p)) {
            return true;
        }
    }

    return false;
}

static int32_t find_joint(const search *work, int32_t element) {
    const int32_t *nodes = sn_mesh_nodes(work->mesh, element);
    sn_vec3 corners[SN_MAX_ELEMENT_NODES];
    sn_box box = sn_box_empty();

    for (int k = 0; k < sn_element_info_of(work->mesh->element)->corners; k++) {
        corners[k] = sn_mesh_point(work->mesh, nodes[k]);
        box = sn_box_with_point(box, corners[k]);
    }

    // Grow the box by the tolerance, so that a bone in a face is not lost to rounding.
    box = sn_box_grown(box, INSIDE_TOLERANCE * sn_distance(box.lower, box.upper));

    // Elements cut by bones of several joints are shared.
    int32_t joint = FREE;
    for (int32_t b = 0; b < work->bone_count; b++) {
        const sinew_bone *bone = &work->bones[b];
        if (!boxes_touch(box, bone) || !bone_cuts_element(work, bone, corners)) {
            continue;
        }
        atomic_store_explicit(&work->cuts[b], 1, memory_order_relaxed);
        joint = joint == FREE || joint == bone->joint ? bone->joint : SHARED;
    }

    return joint;
}

static void search_range(void *data, int32_t begin, int32_t end, int32_t chunk) {
    (void)chunk;
    search *work = data;
    for (int32_t e = begin; e < end; e++) {
        work->element_joints[e] = find_joint(work, e);
    }
}

// Nodes take the joint of their bound elements, or none if these disagree.
static void bind_nodes(sinew_rig *rig, const sinew_mesh *mesh) {
    for (int32_t i = 0; i < mesh->point_count; i++) {
        rig->node_joints[i] = FREE;
    }

    for (int32_t e = 0; e < mesh->element_count; e++) {
        int32_t joint = rig->element_joints[e];
        const int32_t *nodes = sn_mesh_nodes(mesh, e);
        if (joint < 0) {
            continue;
        }

        for (int k = 0; k < sn_element_info_of(mesh->element)->nodes; k++) {
            int32_t *node = &rig->node_joints[nodes[k]];
            *node = *node == FREE || *node == joint ? joint : SHARED;
        }
    }
}

// Counts bound and shared items, and frees the shared ones.
static void count_bound(int32_t *joints, int32_t count, int32_t *bound, int32_t *shared) {
    for (int32_t i = 0; i < count; i++) {
        *bound += joints[i] >= 0;
        *shared += joints[i] == SHARED;
        if (joints[i] == SHARED) {
            joints[i] = FREE;
        }
    }
}

static void warn_of_idle_bones(sinew_context *context, const sinew_skeleton *skeleton,
                               const search *work, sinew_rig_report *report) {
    for (int32_t b = 0; b < work->bone_count; b++) {
        if (work->cuts[b]) {
            continue;
        }

        // The first few by name.
        const sinew_bone *bone = &work->bones[b];
        if (report->idle_bones++ >= NAMED_BONES) {
            continue;
        }

        bool tip = bone->child < 0;
        sn_log(context, SINEW_LOG_WARNING,
               "the bone from joint '%s' to %s%s%s cuts no element: nothing follows it",
               skeleton->names[bone->joint], tip ? "its tip" : "joint '",
               tip ? "" : skeleton->names[bone->child], tip ? "" : "'");
    }

    // The rest by number.
    if (report->idle_bones <= NAMED_BONES) {
        return;
    }

    sn_log(context, SINEW_LOG_WARNING, "%d more bones cut no element",
           report->idle_bones - NAMED_BONES);
}

static void list_bound_nodes(sinew_rig *rig, const sinew_mesh *mesh) {
    for (int32_t i = 0; i < mesh->point_count; i++) {
        if (rig->node_joints[i] < 0) {
            continue;
        }
        sn_store3(sn_at3(rig->bound_rest, rig->bound_count), sn_mesh_point(mesh, i));
        rig->bound_nodes[rig->bound_count++] = i;
    }
}

static sinew_status build(sinew_rig *rig, const sinew_skeleton *skeleton, const sinew_mesh *mesh,
                          sinew_rig_report *report) {
    sn_arena *arena = &rig->arena;
    rig->joint_count = skeleton->joint_count;
    rig->element_joints = SN_PUSH(arena, int32_t, mesh->element_count);
    rig->node_joints = SN_PUSH(arena, int32_t, mesh->point_count);
    rig->rest_inverse = SN_PUSH(arena, sn_rigid, skeleton->joint_count);
    rig->offsets = SN_PUSH(arena, sn_rigid, skeleton->joint_count);

    bool hexahedra = mesh->element == SINEW_ELEMENT_HEX8;
    search work = {mesh,
                   hexahedra ? hex_tets : one_tet,
                   hexahedra ? 6 : 1,
                   skeleton->bones,
                   skeleton->bone_count,
                   rig->element_joints,
                   SN_PUSH(arena, _Atomic uint8_t, skeleton->bone_count)};

    SN_TRY(sn_arena_status(arena));
    memcpy(rig->rest_inverse, skeleton->rest_inverse,
           (size_t)skeleton->joint_count * sizeof *rig->rest_inverse);

    // Find the joints of the elements, then those of the nodes.
    sn_parallel_for(arena->context, mesh->element_count, ELEMENT_CHUNK, search_range, &work);
    bind_nodes(rig, mesh);
    count_bound(rig->element_joints, mesh->element_count, &report->bound_elements,
                &report->shared_elements);
    count_bound(rig->node_joints, mesh->point_count, &report->bound_nodes, &report->shared_nodes);
    warn_of_idle_bones(arena->context, skeleton, &work, report);

    rig->bound_nodes = SN_PUSH(arena, int32_t, report->bound_nodes);
    rig->bound_rest = SN_PUSH(arena, double, 3 * (size_t)report->bound_nodes);
    SN_TRY(sn_arena_status(arena));
    list_bound_nodes(rig, mesh);
    SN_ASSERT(rig->bound_count == report->bound_nodes);

    return SINEW_OK;
}

sinew_status sinew_rig_create(sinew_context *context, const sinew_skeleton *skeleton,
                              const sinew_mesh *mesh, sinew_rig_report *report, sinew_rig **rig) {
    SN_NEED(NULL, context);
    SN_NEED(context, skeleton && mesh && rig);

    SN_TRY(sn_check_arrays(context, mesh));
    if (mesh->element == SINEW_ELEMENT_TRIANGLE) {
        return sn_fail(context, SINEW_UNSUPPORTED,
                       "bones cut solid elements; the mesh has triangles");
    }

    // Build, all or nothing.
    sinew_rig *made = sn_allocate(context, 1, sizeof *made);
    if (!made) {
        return SINEW_OUT_OF_MEMORY;
    }

    made->arena = sn_arena_create(context);
    sinew_rig_report counts = {0};
    sinew_status status = build(made, skeleton, mesh, &counts);

    if (status != SINEW_OK) {
        sinew_rig_destroy(made);
        return status;
    }

    if (report) {
        *report = counts;
    }

    *rig = made;
    return SINEW_OK;
}

void sinew_rig_destroy(sinew_rig *rig) {
    if (!rig) {
        return;
    }
    sinew_context *context = rig->arena.context;
    sn_arena_destroy(&rig->arena);
    sn_release(context, rig, 1, sizeof *rig);
}

const int32_t *sinew_rig_element_joints(const sinew_rig *rig) {
    SN_NEED_OR(NULL, rig);
    return rig->element_joints;
}

const int32_t *sinew_rig_node_joints(const sinew_rig *rig) {
    SN_NEED_OR(NULL, rig);
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
        sn_store3(sn_at3(work->positions, node),
                  sn_rigid_apply(offset, sn_load3(sn_at3(work->rig->bound_rest, i))));
    }
}

void sinew_rig_move_nodes(sinew_rig *rig, const sinew_transform *world, double *positions) {
    SN_NEED_OR(, rig && world && positions);
    for (int32_t i = 0; i < rig->joint_count; i++) {
        rig->offsets[i] = sn_rigid_mul(sn_rigid_load(&world[i]), rig->rest_inverse[i]);
    }
    movement work = {rig, positions};
    sn_parallel_for(rig->arena.context, rig->bound_count, NODE_CHUNK, move_range, &work);
}
