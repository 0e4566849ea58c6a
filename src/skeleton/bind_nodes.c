// Nodes of a body of elements that follow a skeleton: those of elements that a bone cuts (rig.c),
// or all of them by weights (skin.c).
#include "skeleton/binding.h"

#include "pbd/pbd_body.h"

#include <math.h>
#include <string.h>

static double diagonal(const double *points, int32_t count, size_t stride) {
    if (count == 0) {
        return 0;
    }

    sn_vec3 lower = sn_load3(points);
    sn_vec3 upper = lower;
    for (int32_t i = 1; i < count; i++) {
        sn_vec3 p = sn_load3(points + stride * (size_t)i);
        lower = sn_v3(fmin(lower.x, p.x), fmin(lower.y, p.y), fmin(lower.z, p.z));
        upper = sn_v3(fmax(upper.x, p.x), fmax(upper.y, p.y), fmax(upper.z, p.z));
    }
    return sn_distance(lower, upper);
}

static double size_ratio(const sinew_skeleton *skeleton, const sinew_mesh *mesh) {
    const size_t stride = sizeof(sinew_transform) / sizeof(double);
    return diagonal(skeleton->rest_world->translation, skeleton->joint_count, stride) /
           diagonal(mesh->points, mesh->point_count, 3);
}

// A skeleton that misses the body, or does not fit it, usually has another unit.
static sinew_status judge_fit(const sinew_binding *binding) {
    const char *name = binding->body->name;
    double ratio = binding->report.size_ratio;
    bool differs = ratio > 0 && (ratio < 0.2 || ratio > 2);
    if (binding->report.elements.bound_elements == 0) {
        return sn_fail(binding->body->context, SINEW_INVALID_DATA,
                       "no bone of the skeleton cuts an element of body \"%s\"; the skeleton is "
                       "%.3g times as large as the body%s",
                       name, ratio, differs ? ": does its unit fit?" : ", but lies elsewhere");
    }

    if (differs) {
        sn_log(binding->body->context, SINEW_LOG_WARNING,
               "the skeleton is %.3g times as large as body \"%s\": does its unit fit?", ratio,
               name);
    }
    return SINEW_OK;
}

// The joint of the first element of each core that a bone cuts, or -1.
static void find_core_joints(const int32_t *cores, const int32_t *element_joints, int32_t count,
                             int32_t *core_joints) {
    for (int32_t e = 0; e < count; e++) {
        core_joints[e] = -1; // there are at most as many cores as elements
    }

    for (int32_t e = 0; e < count; e++) {
        if (cores[e] >= 0 && core_joints[cores[e]] < 0) {
            core_joints[cores[e]] = element_joints[e];
        }
    }
}

// A bone that runs through a rigid core takes all of it along.
static void bind_cores(const sinew_mesh *mesh, const int32_t *cores, const int32_t *core_joints,
                       int32_t *joints) {
    for (int32_t e = 0; e < mesh->element_count; e++) {
        int32_t joint = cores[e] >= 0 ? core_joints[cores[e]] : -1;
        if (joint < 0) {
            continue;
        }
        for (size_t k = 0; k < 4; k++) {
            joints[mesh->indices[4 * (size_t)e + k]] = joint;
        }
    }
}

// The joint of each node that lies on a bone.
static sinew_status find_on_bones(sinew_binding *binding, int32_t *joints) {
    const sinew_mesh *mesh = &binding->body->mesh;
    const int32_t *cores = sn_pbd_body_get_cores(binding->body);
    int32_t *core_joints = SN_PUSH(&binding->arena, int32_t, cores ? mesh->element_count : 0);
    SN_TRY(sn_arena_status(&binding->arena));

    sinew_rig *rig = NULL;
    SN_TRY(sinew_rig_create(binding->body->context, binding->skeleton, mesh,
                            &binding->report.elements, &rig));
    memcpy(joints, sinew_rig_node_joints(rig), (size_t)mesh->point_count * sizeof *joints);
    if (cores) {
        find_core_joints(cores, sinew_rig_element_joints(rig), mesh->element_count, core_joints);
        bind_cores(mesh, cores, core_joints, joints);
    }

    sinew_rig_destroy(rig);
    return judge_fit(binding);
}

static sinew_status find(sinew_binding *binding, const sinew_binding_def *def) {
    const sinew_mesh *mesh = &binding->body->mesh;
    int32_t *joints = SN_PUSH(&binding->arena, int32_t, mesh->point_count);
    binding->positions = SN_PUSH(&binding->arena, double, 3 * (size_t)mesh->point_count);
    SN_TRY(sn_arena_status(&binding->arena));
    SN_TRY(sn_binding_allocate(binding, mesh->point_count));
    SN_TRY(sinew_skin_create(binding->body->context, binding->skeleton, mesh->points,
                             mesh->point_count, &binding->skin));

    binding->report.size_ratio = size_ratio(binding->skeleton, mesh);

    // Joints given by the host, or found from the bones.
    if (def->joints) {
        memcpy(joints, def->joints, (size_t)mesh->point_count * sizeof *joints);
    } else if (binding->mode == SINEW_BINDING_BONES) {
        SN_TRY(find_on_bones(binding, joints));
    }

    for (int32_t i = 0; i < mesh->point_count; i++) {
        SN_TRY(sn_binding_add(binding, i, joints[i], mesh->points + 3 * (size_t)i));
    }
    return SINEW_OK;
}

static sinew_status hold(sinew_binding *binding, bool held) {
    return sinew_body_fix_nodes(binding->body, binding->bound, binding->count,
                                held ? SINEW_AXIS_ALL : 0);
}

// All nodes by weights, in the coordinates of the skeleton.
static void compute_skin(sinew_binding *binding, const sinew_transform *pose) {
    bool linear = binding->mode == SINEW_BINDING_LINEAR;
    sinew_skin_compute(binding->skin, pose, linear ? SINEW_SKIN_LINEAR : SINEW_SKIN_DUAL_QUATERNION,
                       binding->positions);
}

static void compute_targets(sinew_binding *binding, const sinew_transform *pose) {
    bool rigid = binding->mode == SINEW_BINDING_BONES;
    if (rigid) {
        sinew_skeleton_compute_offsets(binding->skeleton, pose, binding->offsets);
    } else {
        compute_skin(binding, pose);
    }

    for (int32_t i = 0; i < binding->count; i++) {
        sn_vec3 x;
        if (rigid) {
            x = sn_rigid_apply(sn_rigid_load_unit(&binding->offsets[binding->joints[i]]),
                               sn_load3(binding->rest + 3 * (size_t)i));
        } else {
            x = sn_load3(binding->positions + 3 * (size_t)binding->bound[i]);
        }
        sn_store3(binding->targets + 3 * (size_t)i, sn_rigid_apply(binding->placement, x));
    }
}

static sinew_status drive(sinew_binding *binding, const sinew_transform *pose) {
    compute_targets(binding, pose);
    return sinew_body_move_nodes(binding->body, binding->bound, binding->count, binding->targets);
}

static sinew_status set_pose(sinew_binding *binding, const sinew_transform *pose) {
    compute_targets(binding, pose);
    if (binding->mode != SINEW_BINDING_BONES) {
        return sinew_body_set_positions(binding->body, binding->targets); // of all nodes
    }

    // Free nodes lie between the bound ones by skinning.
    compute_skin(binding, pose);
    for (int32_t i = 0; i < binding->body->mesh.point_count; i++) {
        double *x = binding->positions + 3 * (size_t)i;
        sn_store3(x, sn_rigid_apply(binding->placement, sn_load3(x)));
    }

    for (int32_t i = 0; i < binding->count; i++) {
        memcpy(binding->positions + 3 * (size_t)binding->bound[i], binding->targets + 3 * (size_t)i,
               3 * sizeof(double));
    }
    return sinew_body_set_positions(binding->body, binding->positions);
}

const sn_binding_ops sn_node_binding = {
    .find = find, .hold = hold, .drive = drive, .set_pose = set_pose};
