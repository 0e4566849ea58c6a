// Binding of bodies to skeletons: what nodes and frames share, and the calls of sinew/binding.h.
//
// A bound node or frame with rest position X follows its joint rigidly: x = A M T^-1 X, where T is
// the joint's transform at rest, M that of the pose and A the placement of the body.
#include "skeleton/binding.h"

#include "sinew/reduced.h"

#include "frame/body/frame_body.h"

#include <math.h>
#include <string.h>

sinew_binding_def sinew_default_binding_def(void) {
    return (sinew_binding_def){.mode = SINEW_BINDING_BONES,
                               .placement = {.rotation = {0, 0, 0, 1}},
                               .filled = SN_DEF_FILLED};
}

sinew_status sn_binding_allocate(sinew_binding *binding, int32_t most) {
    sn_arena *arena = &binding->arena;
    binding->bound = SN_PUSH(arena, int32_t, most);
    binding->joints = SN_PUSH(arena, int32_t, most);
    binding->rest = SN_PUSH(arena, double, 3 * (size_t)most);
    binding->targets = SN_PUSH(arena, double, 3 * (size_t)most);
    binding->offsets = SN_PUSH(arena, sinew_transform, binding->skeleton->joint_count);
    return sn_arena_status(arena);
}

sinew_status sn_binding_add(sinew_binding *binding, int32_t item, int32_t joint,
                            const double rest[3]) {
    if (joint == -1) {
        return SINEW_OK;
    }
    if (joint < -1 || joint >= binding->skeleton->joint_count) {
        return sn_fail(binding->body->context, SINEW_INVALID_ARGUMENT,
                       "number %d of body \"%s\" is to follow joint %d; valid are 0 to %d, or -1 "
                       "for none",
                       item, binding->body->name, joint, binding->skeleton->joint_count - 1);
    }

    binding->bound[binding->count] = item;
    binding->joints[binding->count] = joint;
    memcpy(binding->rest + 3 * (size_t)binding->count, rest, 3 * sizeof(double));
    binding->count++;
    return SINEW_OK;
}

static sinew_status check(const sinew_body *body, const sinew_skeleton *skeleton,
                          const sinew_binding_def *def) {
    sinew_context *context = body->context;
    SN_TRY(SN_CHECK_DEF(context, def, "sinew_default_binding_def"));
    if (!skeleton) {
        return sn_fail(context, SINEW_INVALID_ARGUMENT, "body \"%s\" is bound to no skeleton: NULL",
                       body->name);
    }
    if (def->mode < SINEW_BINDING_BONES || def->mode > SINEW_BINDING_DUAL_QUATERNION) {
        return sn_fail(context, SINEW_INVALID_ARGUMENT, "binding mode %d; valid are 0 to %d",
                       (int)def->mode, (int)SINEW_BINDING_DUAL_QUATERNION);
    }

    // Options that do not fit the body or the mode.
    if (sinew_body_is_reduced(body)) {
        return sn_fail(
            context, SINEW_UNSUPPORTED,
            "body \"%s\" is reduced: its nodes follow modes and cannot be bound to bones",
            body->name);
    }
    if (def->mode != SINEW_BINDING_BONES && sn_frame_model_of(body)) {
        return sn_fail(context, SINEW_UNSUPPORTED,
                       "frames are bound to bones only: they are a skin by themselves");
    }
    if (def->mode != SINEW_BINDING_BONES && def->joints) {
        return sn_fail(context, SINEW_INVALID_ARGUMENT,
                       "joints of single nodes are given, but all nodes follow by weights; they "
                       "are for SINEW_BINDING_BONES");
    }
    if (!(def->reach >= 0) || !isfinite(def->reach)) {
        return sn_fail(context, SINEW_INVALID_ARGUMENT,
                       "the reach of a binding is %g m; it must be at least 0 and finite",
                       def->reach);
    }
    if (!sn_transform_is_valid(&def->placement)) {
        return sn_fail(context, SINEW_INVALID_ARGUMENT,
                       "the placement of a binding must be finite, its quaternion not zero");
    }
    return SINEW_OK;
}

static sinew_status build(sinew_binding *binding, const sinew_binding_def *def) {
    SN_TRY(binding->ops->find(binding, def));
    binding->report.bound_count = binding->count;
    return binding->ops->hold(binding, true);
}

static void release(sinew_binding *binding) {
    sinew_skin_destroy(binding->skin);
    sn_arena arena = binding->arena; // the struct lives in it
    sn_arena_destroy(&arena);
}

sinew_status sinew_binding_create(sinew_body *body, const sinew_skeleton *skeleton,
                                  const sinew_binding_def *def, sinew_binding_report *report,
                                  sinew_binding **out) {
    SN_NEED(NULL, body);
    SN_NEED(body->context, out);

    SN_TRY(check(body, skeleton, def));

    sn_arena arena = sn_arena_create(body->context);
    sinew_binding *binding = SN_PUSH(&arena, sinew_binding, 1);
    SN_TRY(sn_arena_status(&arena));

    // Frames follow bones by their nodes, elements by theirs.
    binding->arena = arena;
    binding->ops = sn_frame_model_of(body) ? &sn_frame_binding : &sn_node_binding;
    binding->body = body;
    binding->skeleton = skeleton;
    binding->mode = def->mode;
    binding->placement = sn_rigid_load(&def->placement);

    // Find what each bone moves.
    sinew_status status = build(binding, def);
    if (status != SINEW_OK) {
        release(binding);
        return status;
    }

    if (report) {
        *report = binding->report;
    }
    *out = binding;
    return SINEW_OK;
}

void sinew_binding_destroy(sinew_binding *binding) {
    if (!binding) {
        return;
    }
    sinew_status status = binding->ops->hold(binding, false);
    SN_ASSERT(status == SINEW_OK); // they exist
    (void)status;
    release(binding);
}

static sinew_status check_pose(const sinew_binding *binding, const sinew_transform *pose) {
    for (int32_t i = 0; i < binding->skeleton->joint_count; i++) {
        if (sn_transform_is_valid(&pose[i])) {
            continue;
        }
        return sn_fail(
            binding->body->context, SINEW_INVALID_ARGUMENT,
            "pose of joint %d ('%s'): all numbers must be finite, the quaternion not zero", i,
            binding->skeleton->names[i]);
    }
    return SINEW_OK;
}

sinew_status sinew_binding_drive(sinew_binding *binding, const sinew_transform *pose) {
    SN_NEED(NULL, binding && pose);
    SN_TRY(check_pose(binding, pose));
    return binding->ops->drive(binding, pose);
}

sinew_status sinew_binding_set_pose(sinew_binding *binding, const sinew_transform *pose) {
    SN_NEED(NULL, binding && pose);
    SN_TRY(check_pose(binding, pose));
    return binding->ops->set_pose(binding, pose);
}

const int32_t *sinew_binding_get_bound(const sinew_binding *binding, int32_t *count) {
    SN_NEED_OR(NULL, binding && count);
    *count = binding->count;
    return binding->bound;
}

const int32_t *sinew_binding_get_joints(const sinew_binding *binding) {
    SN_NEED_OR(NULL, binding);
    return binding->mode == SINEW_BINDING_BONES ? binding->joints : NULL;
}

const double *sinew_binding_get_targets(const sinew_binding *binding) {
    SN_NEED_OR(NULL, binding);
    return binding->targets;
}
