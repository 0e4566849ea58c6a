// Skeletons of a scene: built-in characters or files, with the motion they perform, which may come
// from another skeleton.
#include "io/scene/build_skeleton.h"

#include "sinew/io/motion_file.h"

#include <string.h>

// A skeleton in its motion.
struct sn_bones {
    sinew_skeleton *skeleton;
    sinew_motion *motion;
    sinew_transform *pose; // of the joints in the world
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

        // Skeleton, motion and room for its pose; mistakes of all skeletons are collected.
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

static sinew_status pose_bones(const sn_scene_skeleton *scene, sn_bones *bones, double time,
                               bool *ended) {
    if (!sinew_motion_sample(bones->motion, scene->start + scene->speed * time, scene->end,
                             bones->pose)) {
        *ended = true;
    }
    return sinew_skeleton_compute_world(bones->skeleton, bones->pose, bones->pose);
}

// What the scene says of a binding, as a definition.
static sinew_binding_def binding_def(const sn_scene_body *body) {
    static const sinew_binding_mode modes[] = {
        [SN_BINDING_BONES] = SINEW_BINDING_BONES,
        [SN_BINDING_LINEAR] = SINEW_BINDING_LINEAR,
        [SN_BINDING_DUAL_QUATERNIONS] = SINEW_BINDING_DUAL_QUATERNION,
    };

    sinew_binding_def def = sinew_default_binding_def();
    def.mode = modes[body->binding];
    memcpy(def.placement.translation, body->def.position, sizeof def.placement.translation);
    memcpy(def.placement.rotation, body->def.rotation, sizeof def.placement.rotation);
    return def;
}

static sinew_status bind(sn_builder *b, sn_scene_member *member) {
    sn_bones *bones = &b->world->bones[member->scene->skeleton];
    sinew_binding_def def = binding_def(member->scene);
    SN_TRY(sinew_binding_create(member->body, bones->skeleton, &def, &member->binding_report,
                                &member->binding));

    bool ended = false;
    SN_TRY(pose_bones(&b->scene->skeletons[member->scene->skeleton], bones, 0, &ended));
    return sinew_binding_set_pose(member->binding, bones->pose);
}

sinew_status sn_builder_bind(sn_builder *b, sn_scene_member *member) {
    // A skeleton that could not be made has been noted.
    if (member->scene->skeleton < 0 || !b->world->bones[member->scene->skeleton].pose) {
        return SINEW_OK;
    }
    return sn_builder_note(b, member->scene->json, bind(b, member));
}

// Entries that hold some directions of a bound node leave the others to the skeleton.
static void copy_targets(sn_scene_member *member) {
    int32_t count;
    const int32_t *nodes = sinew_binding_get_bound(member->binding, &count);
    const double *targets = sinew_binding_get_targets(member->binding);
    for (int32_t k = 0; k < count; k++) {
        memcpy(member->targets + 3 * (size_t)nodes[k], targets + 3 * (size_t)k, 3 * sizeof(double));
    }
}

sinew_status sn_bones_apply(sn_scene_world *world, double time) {
    for (int32_t i = 0; i < world->scene->skeleton_count; i++) {
        SN_TRY(
            pose_bones(&world->scene->skeletons[i], &world->bones[i], time, &world->motion_ended));
    }

    for (int32_t i = 0; i < world->scene->body_count; i++) {
        sn_scene_member *member = &world->members[i];
        if (!member->binding) {
            continue;
        }
        SN_TRY(sinew_binding_drive(member->binding, world->bones[member->scene->skeleton].pose));
        if (member->targets) {
            copy_targets(member);
        }
    }

    return SINEW_OK;
}

const sinew_rig_report *sn_scene_member_rigging(const sn_scene_member *member) {
    const sinew_rig_report *report = &member->binding_report.elements;
    return member->binding && report->bound_elements > 0 ? report : NULL;
}

void sn_bones_destroy(sn_scene_world *world) {
    if (world->bones) {
        for (int32_t i = 0; i < world->scene->skeleton_count; i++) {
            sinew_skeleton_destroy(world->bones[i].skeleton);
            sinew_motion_destroy(world->bones[i].motion);
        }
    }
}
