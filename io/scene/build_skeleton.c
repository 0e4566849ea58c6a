#include "io/scene/build_skeleton.h"

#include "sinew/io/motion_file.h"

#include "io/text/json_check.h"
#include "io/scene/build_frames.h"
#include "math/rigid.h"

#include <math.h>
#include <string.h>

// A skeleton in its motion.
struct sn_bones {
    sinew_skeleton *skeleton;
    sinew_motion *motion;
    sinew_transform *pose; // of the joints in the world
};

// What of a body follows which joint. Of a body of frames, `nodes` are frames.
struct sn_bound {
    const sn_bones *bones;
    sinew_rig *rig;   // NULL where all nodes are skinned
    sinew_skin *skin; // of all nodes
    sinew_rig_report report;
    int32_t count;
    int32_t *nodes, *joints;  // the bound ones, and what they follow
    sinew_transform *offsets; // of each joint, from rest to the present pose
    double *positions;        // of all nodes; NULL for frames
    double *targets;          // of the bound ones; NULL for frames
};

sinew_status sn_builder_make_flesh(const sn_builder *b, const sn_scene_shape *shape,
                                   sinew_mesh **flesh) {
    sn_character character;
    SN_TRY(sn_character_create(b->context, &shape->character, &character));
    *flesh = character.flesh;
    character.flesh = NULL;
    sn_character_destroy(&character);
    return SINEW_OK;
}

sinew_status sn_builder_make_skin(const sn_builder *b, const sn_scene_shape *shape,
                                  sinew_mesh **skin) {
    sn_character_def def = shape->character;
    def.without_flesh = true;
    sn_character character;
    SN_TRY(sn_character_create(b->context, &def, &character));
    *skin = character.skin;
    character.skin = NULL;
    sn_character_destroy(&character);

    return SINEW_OK;
}

static sinew_status read_file(const sn_builder *b, const char *name, double unit,
                              const char *animation, sn_bones *bones) {
    const void *data;
    size_t size;
    SN_TRY(sn_fetch(b->context, b->fetch, b->fetch_user, name, &data, &size));

    sinew_source source = {name, data, size, b->fetch, b->fetch_user, true};
    sinew_motion_read_def def = sinew_default_motion_read_def();
    def.unit = unit;
    def.animation = animation;

    return sinew_motion_read(b->context, &source, &def, &bones->skeleton, &bones->motion);
}

static sinew_status make_skeleton(const sn_builder *b, const sn_scene_skeleton *scene,
                                  sn_bones *bones) {
    if (scene->file) {
        return read_file(b, scene->file, scene->unit, scene->animation, bones);
    }

    sn_character_def def = scene->character;
    def.without_flesh = true;

    sn_character character;
    SN_TRY(sn_character_create(b->context, &def, &character));
    bones->skeleton = character.skeleton;
    bones->motion = character.motion;
    character.skeleton = NULL;
    character.motion = NULL;
    sn_character_destroy(&character);

    return SINEW_OK;
}

// Takes the motion of another file in place of the skeleton's own.
static sinew_status retarget(const sn_builder *b, const sn_scene_retarget *scene, sn_bones *bones) {
    sn_bones source = {0};
    SN_TRY(read_file(b, scene->file, scene->unit, NULL, &source));

    sinew_motion *motion = NULL;
    sinew_retarget_report report;
    sinew_status status = sinew_motion_retarget(b->context, source.skeleton, source.motion,
                                                bones->skeleton, &scene->def, &report, &motion);

    sinew_skeleton_destroy(source.skeleton);
    sinew_motion_destroy(source.motion);
    if (status != SINEW_OK) {
        return status;
    }

    sinew_motion_destroy(bones->motion);
    bones->motion = motion;

    return SINEW_OK;
}

sinew_status sn_builder_make_bones(sn_builder *b) {
    sn_scene_world *world = b->world;
    world->bones = SN_PUSH(&world->arena, sn_bones, b->scene->skeleton_count);
    SN_TRY(sn_arena_status(&world->arena));

    sinew_status status = SINEW_OK;
    for (int32_t i = 0; i < b->scene->skeleton_count; i++) {
        const sn_scene_skeleton *scene = &b->scene->skeletons[i];
        sn_bones *bones = &world->bones[i];
        sinew_status made = sn_builder_note(b, scene->json, make_skeleton(b, scene, bones));
        if (made == SINEW_OK && scene->motion.file) {
            made = sn_builder_note(b, scene->motion.json, retarget(b, &scene->motion, bones));
        }

        if (made == SINEW_OK) {
            bones->pose = SN_PUSH(&world->arena, sinew_transform,
                                  sinew_skeleton_joint_count(bones->skeleton));
            made = sn_arena_status(&world->arena);
        }

        if (made != SINEW_OK) {
            status = made;
        }
    }

    return status;
}

// From the skeleton's own coordinates to where the body was placed.
static sn_rigid placement_of(const sn_scene_member *member) {
    const double *r = member->scene->def.rotation;
    return (sn_rigid){sn_quat_normalize((sn_quat){r[0], r[1], r[2], r[3]}),
                      sn_load3(member->scene->def.position)};
}

static sinew_status pose_bones(const sn_scene_skeleton *scene, sn_bones *bones, double time,
                               bool *ended) {
    if (!sinew_motion_sample(bones->motion, scene->start + scene->speed * time, scene->end,
                             bones->pose)) {
        *ended = true;
    }
    return sinew_skeleton_compute_world(bones->skeleton, bones->pose, bones->pose);
}

// Where the bound nodes are in the present pose.
static void find_targets(const sn_scene_member *member) {
    sn_bound *bound = member->bound;
    sn_rigid placement = placement_of(member);
    bool linear = member->scene->binding == SN_BINDING_LINEAR;

    if (!bound->rig) {
        sinew_skin_compute(bound->skin, bound->bones->pose,
                           linear ? SINEW_SKIN_LINEAR : SINEW_SKIN_DUAL_QUATERNION,
                           bound->positions);
    } else {
        sinew_skeleton_compute_offsets(bound->bones->skeleton, bound->bones->pose, bound->offsets);
    }

    for (int32_t i = 0; i < bound->count; i++) {
        size_t at = 3 * (size_t)bound->nodes[i];
        sn_vec3 x = sn_load3(bound->positions + at);
        if (bound->rig) {
            x = sn_rigid_apply(sn_rigid_load_unit(&bound->offsets[bound->joints[i]]),
                               sn_load3(member->mesh->points + at));
        }

        sn_store3(bound->targets + 3 * (size_t)i, sn_rigid_apply(placement, x));
    }
}

// A bone that runs through a rigid core takes all of it along. `joints`: of each node, or -1.
static void bind_cores(const sn_scene_member *member, const sinew_rig *rig, int32_t *joints,
                       int32_t *core_joints) {
    const sn_scene_positions *positions = &member->scene->positions;
    const sinew_mesh *mesh = member->mesh;
    for (int32_t core = 0; core < positions->core_count; core++) {
        core_joints[core] = -1;
    }

    for (int pass = 0; pass < 2; pass++) {
        for (int32_t t = 0; t < mesh->element_count; t++) {
            int32_t core = 0;
            while (core < positions->core_count && mesh->labels[t] != positions->cores[core]) {
                core++;
            }

            if (core == positions->core_count) {
                continue;
            }

            int32_t joint = sinew_rig_element_joints(rig)[t];
            if (pass == 0 && core_joints[core] < 0) {
                core_joints[core] = joint;
            }

            for (int k = 0; pass == 1 && core_joints[core] >= 0 && k < 4; k++) {
                joints[mesh->indices[4 * (size_t)t + (size_t)k]] = core_joints[core];
            }
        }
    }
}

static sinew_status list_bound_nodes(sn_builder *b, sn_scene_member *member) {
    sn_bound *bound = member->bound;
    sn_arena *arena = &b->world->arena;
    const sinew_mesh *mesh = member->mesh;
    int32_t *joints = SN_PUSH(arena, int32_t, mesh->point_count);
    int32_t *core_joints = SN_PUSH(arena, int32_t, member->scene->positions.core_count);

    bound->nodes = SN_PUSH(arena, int32_t, mesh->point_count);
    bound->joints = SN_PUSH(arena, int32_t, mesh->point_count);
    bound->targets = SN_PUSH(arena, double, 3 * (size_t)mesh->point_count);
    bound->positions = SN_PUSH(arena, double, 3 * (size_t)mesh->point_count);
    bound->offsets =
        SN_PUSH(arena, sinew_transform, sinew_skeleton_joint_count(bound->bones->skeleton));
    SN_TRY(sn_arena_status(arena));

    for (int32_t i = 0; i < mesh->point_count; i++) {
        joints[i] = bound->rig ? sinew_rig_node_joints(bound->rig)[i] : 0;
    }

    if (bound->rig && mesh->labels && mesh->element == SINEW_ELEMENT_TET4) {
        bind_cores(member, bound->rig, joints, core_joints);
    }

    for (int32_t i = 0; i < mesh->point_count; i++) {
        if (joints[i] < 0) {
            continue;
        }
        bound->nodes[bound->count] = i;
        bound->joints[bound->count++] = joints[i];
    }

    return SINEW_OK;
}

static double diagonal(const double *points, int32_t count, int32_t stride) {
    double lower[3] = {INFINITY, INFINITY, INFINITY};
    double upper[3] = {-INFINITY, -INFINITY, -INFINITY};
    for (int32_t i = 0; i < count; i++) {
        for (int k = 0; k < 3; k++) {
            lower[k] = fmin(lower[k], points[(size_t)i * (size_t)stride + (size_t)k]);
            upper[k] = fmax(upper[k], points[(size_t)i * (size_t)stride + (size_t)k]);
        }
    }

    return count > 0 ? sn_distance(sn_load3(lower), sn_load3(upper)) : 0;
}

// Motion files have no unit: a skeleton that does not fit its body is usually one of another unit.
static double size_ratio(const sn_bound *bound, const sinew_mesh *mesh) {
    const sinew_transform *rest = sinew_skeleton_rest_world(bound->bones->skeleton);
    const int32_t stride = (int32_t)(sizeof *rest / sizeof(double));
    double bones =
        diagonal(rest->translation, sinew_skeleton_joint_count(bound->bones->skeleton), stride);
    return bones / diagonal(mesh->points, mesh->point_count, 3);
}

static sinew_status bind_elements(sn_builder *b, sn_scene_member *member) {
    sn_bound *bound = member->bound;
    const sn_scene_skeleton *scene = &b->scene->skeletons[member->scene->skeleton];

    SN_TRY(sinew_rig_create(b->context, bound->bones->skeleton, member->mesh, &bound->report,
                            &bound->rig));

    double ratio = size_ratio(bound, member->mesh);
    bool differs = ratio > 0 && (ratio < 0.2 || ratio > 2);
    if (bound->report.bound_elements == 0) {
        return sn_fail(b->context, SINEW_INVALID_DATA,
                       "no bone of skeleton \"%s\" cuts an element of body \"%s\"; the skeleton is "
                       "%.3g times as large as the "
                       "body%s",
                       scene->name, member->scene->name, ratio,
                       differs ? ": does its unit fit?" : ", but lies elsewhere");
    }

    if (differs) {
        sn_log(b->context, SINEW_LOG_WARNING,
               "skeleton \"%s\" is %.3g times as large as body \"%s\": does its unit fit?",
               scene->name, ratio, member->scene->name);
    }

    return SINEW_OK;
}

// All nodes in the first pose: the bound ones where they belong, the free ones between them by
// skinning.
static sinew_status take_first_pose(const sn_scene_member *member) {
    sn_bound *bound = member->bound;
    sn_rigid placement = placement_of(member);
    bool linear = member->scene->binding == SN_BINDING_LINEAR;

    sinew_skin_compute(bound->skin, bound->bones->pose,
                       linear ? SINEW_SKIN_LINEAR : SINEW_SKIN_DUAL_QUATERNION, bound->positions);
    for (int32_t i = 0; i < member->mesh->point_count; i++) {
        double *x = bound->positions + 3 * (size_t)i;
        sn_store3(x, sn_rigid_apply(placement, sn_load3(x)));
    }

    find_targets(member);
    for (int32_t i = 0; i < bound->count && bound->rig; i++) {
        memcpy(bound->positions + 3 * (size_t)bound->nodes[i], bound->targets + 3 * (size_t)i,
               3 * sizeof(double));
    }

    return sinew_body_set_positions(member->body, bound->rig ? bound->positions : bound->targets);
}

static sinew_status bind(sn_builder *b, sn_scene_member *member) {
    sn_bound *bound = SN_PUSH(&b->world->arena, sn_bound, 1);
    SN_TRY(sn_arena_status(&b->world->arena));
    member->bound = bound;
    bound->bones = &b->world->bones[member->scene->skeleton];

    const sinew_mesh *mesh = member->mesh;
    if (member->scene->binding == SN_BINDING_BONES) {
        SN_TRY(bind_elements(b, member));
    }

    SN_TRY(sinew_skin_create(b->context, bound->bones->skeleton, mesh->points, mesh->point_count,
                             &bound->skin));
    SN_TRY(list_bound_nodes(b, member));

    bool ended = false;
    SN_TRY(pose_bones(&b->scene->skeletons[member->scene->skeleton],
                      &b->world->bones[member->scene->skeleton], 0, &ended));
    SN_TRY(take_first_pose(member));

    return sinew_body_fix_nodes(member->body, bound->nodes, bound->count, SINEW_AXIS_ALL);
}

static double distance_from_bone(const sinew_bone *bone, sn_vec3 p) {
    sn_vec3 from = sn_load3(bone->from);
    sn_vec3 way = sn_sub(sn_load3(bone->to), from);
    sn_vec3 d = sn_sub(p, from);
    double s = fmin(fmax(sn_dot(d, way) / sn_dot(way, way), 0), 1);
    return sn_length(sn_madd(d, -s, way));
}

// The joint whose bone a frame lies on, within `tolerance`; -1 if there is none, or several.
static int32_t joint_at(const sinew_skeleton *skeleton, sn_vec3 p, double tolerance) {
    int32_t count, joint = -1;
    const sinew_bone *bones = sinew_skeleton_bones(skeleton, &count);
    for (int32_t i = 0; i < count; i++) {
        if (distance_from_bone(&bones[i], p) > tolerance || bones[i].joint == joint) {
            continue;
        }
        if (joint >= 0) {
            return -1;
        }

        joint = bones[i].joint;
    }

    return joint;
}

// Says by how much the frames miss the bones.
static sinew_status refuse_frames(sn_builder *b, const sn_scene_member *member, double tolerance) {
    const sinew_skeleton *skeleton = member->bound->bones->skeleton;
    int32_t count, frame = -1, joint = -1;
    const sinew_bone *bones = sinew_skeleton_bones(skeleton, &count);
    double least = INFINITY;

    for (int32_t i = 0; i < member->frames->first_count; i++) {
        for (int32_t k = 0; k < count; k++) {
            double distance =
                distance_from_bone(&bones[k], sn_load3(member->frames->rest + 3 * (size_t)i));
            if (!(distance < least)) {
                continue;
            }

            least = distance;
            frame = i;
            joint = bones[k].joint;
        }
    }

    const char *name = b->scene->skeletons[member->scene->skeleton].name;
    if (frame < 0) {
        return sn_fail(b->context, SINEW_INVALID_DATA, "skeleton \"%s\" has no bones to follow",
                       name);
    }

    const double *p = member->frames->rest + 3 * (size_t)frame;
    return sn_fail(b->context, SINEW_INVALID_DATA,
                   "no frame of body \"%s\" lies on a bone of skeleton \"%s\" within a voxel (%.3g "
                   "m): the nearest, at (%.3g, "
                   "%.3g, %.3g) m, is %.3g m from that of \"%s\"%s",
                   member->scene->name, name, tolerance, p[0], p[1], p[2], least,
                   sinew_skeleton_joint_name(skeleton, joint),
                   least <= tolerance ? ", but where bones meet a frame is free" : "");
}

static sinew_status place_frames(const sn_scene_member *member, bool at_once) {
    const sn_bound *bound = member->bound;
    sn_rigid placement = placement_of(member);

    sinew_skeleton_compute_offsets(bound->bones->skeleton, bound->bones->pose, bound->offsets);
    for (int32_t i = 0; i < bound->count; i++) {
        sn_rigid motion =
            sn_rigid_mul(placement, sn_rigid_load_unit(&bound->offsets[bound->joints[i]]));
        const double rotation[4] = {motion.q.x, motion.q.y, motion.q.z, motion.q.w};
        double position[3];

        sn_store3(position, sn_rigid_apply(motion, sn_load3(member->frames->rest +
                                                            3 * (size_t)bound->nodes[i])));

        if (at_once) {
            SN_TRY(sinew_frame_body_set_node(member->body, bound->nodes[i], position, rotation));
        }

        SN_TRY(sinew_frame_body_move(member->body, bound->nodes[i], position, rotation));
    }

    return SINEW_OK;
}

// Frames on a bone follow it; those at joints and elsewhere are free.
static sinew_status bind_frames(sn_builder *b, sn_scene_member *member) {
    const sn_scene_skeleton *scene = &b->scene->skeletons[member->scene->skeleton];
    if (member->scene->binding != SN_BINDING_BONES) {
        return sn_fail(b->context, SINEW_UNSUPPORTED,
                       "frames are bound to \"bones\": they are a skin by themselves");
    }

    sn_bound *bound = SN_PUSH(&b->world->arena, sn_bound, 1);
    SN_TRY(sn_arena_status(&b->world->arena));
    member->bound = bound;
    bound->bones = &b->world->bones[member->scene->skeleton];

    int32_t count = member->frames->first_count;
    bound->nodes = SN_PUSH(&b->world->arena, int32_t, count);
    bound->joints = SN_PUSH(&b->world->arena, int32_t, count);
    bound->offsets = SN_PUSH(&b->world->arena, sinew_transform,
                             sinew_skeleton_joint_count(bound->bones->skeleton));
    SN_TRY(sn_arena_status(&b->world->arena));

    double spacing[3];
    sinew_voxels_get_grid(member->frames->voxels, NULL, spacing, NULL);

    double tolerance = fmax(spacing[0], fmax(spacing[1], spacing[2]));
    for (int32_t i = 0; i < count; i++) {
        int32_t joint = joint_at(bound->bones->skeleton,
                                 sn_load3(member->frames->rest + 3 * (size_t)i), tolerance);
        if (joint < 0) {
            continue;
        }

        bound->nodes[bound->count] = i;
        bound->joints[bound->count++] = joint;
        SN_TRY(sinew_frame_body_hold(member->body, i, SINEW_HOLD_ALL));
    }

    if (bound->count == 0) {
        return refuse_frames(b, member, tolerance);
    }

    bool ended = false;
    SN_TRY(pose_bones(scene, &b->world->bones[member->scene->skeleton], 0, &ended));

    return place_frames(member, true);
}

sinew_status sn_builder_bind(sn_builder *b, sn_scene_member *member) {
    // A skeleton that could not be made has been noted.
    if (member->scene->skeleton < 0 || !b->world->bones[member->scene->skeleton].pose) {
        return SINEW_OK;
    }
    return sn_builder_note(b, member->scene->json,
                           member->frames ? bind_frames(b, member) : bind(b, member));
}

sinew_status sn_bones_apply(sn_scene_world *world, double time) {
    for (int32_t i = 0; i < world->scene->skeleton_count; i++) {
        SN_TRY(
            pose_bones(&world->scene->skeletons[i], &world->bones[i], time, &world->motion_ended));
    }

    for (int32_t i = 0; i < world->scene->body_count; i++) {
        const sn_scene_member *member = &world->members[i];
        if (!member->bound) {
            continue;
        }

        if (member->frames) {
            SN_TRY(place_frames(member, false));
            continue;
        }

        // Entries that hold some directions of a bound node leave the others to the skeleton.
        find_targets(member);
        for (int32_t k = 0; k < member->bound->count; k++) {
            memcpy(member->targets + 3 * (size_t)member->bound->nodes[k],
                   member->bound->targets + 3 * (size_t)k, 3 * sizeof(double));
        }
        SN_TRY(sinew_body_move_nodes(member->body, member->bound->nodes, member->bound->count,
                                     member->bound->targets));
    }

    return SINEW_OK;
}

const int32_t *sn_bound_get_nodes(const sn_scene_member *member, int32_t *count) {
    *count = member->bound ? member->bound->count : 0;
    return member->bound ? member->bound->nodes : NULL;
}

const sinew_rig_report *sn_scene_member_rigging(const sn_scene_member *member) {
    return member->bound && member->bound->rig ? &member->bound->report : NULL;
}

void sn_bones_destroy(sn_scene_world *world) {
    for (int32_t i = 0; world->bones && i < world->scene->skeleton_count; i++) {
        sinew_skeleton_destroy(world->bones[i].skeleton);
        sinew_motion_destroy(world->bones[i].motion);
    }
}

void sn_bound_destroy(sn_bound *bound) {
    if (!bound) {
        return;
    }
    sinew_rig_destroy(bound->rig);
    sinew_skin_destroy(bound->skin);
}
