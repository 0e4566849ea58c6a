// Contact and obstacles of a scene: made with its world, moved with time.
#include "io/scene/builder.h"
#include "io/scene/rigid.h"

#include "math/quat.h"

static sinew_status make_obstacle(sn_builder *b, const sn_scene_obstacle *scene,
                                  sinew_obstacle **obstacle) {
    sinew_obstacle_def def = scene->def;
    sinew_mesh *surface = NULL;
    if (scene->shape) {
        SN_TRY(sn_builder_make_closed(b, scene->shape, &surface));
    }

    def.mesh = surface;
    sinew_status status = sinew_obstacle_create(b->world->world, &def, obstacle);
    sinew_mesh_destroy(surface);
    return status;
}

sinew_status sn_builder_make_contact(sn_builder *b) {
    const sn_scene *scene = b->scene;
    if (!scene->contact.on) {
        return SINEW_OK;
    }

    sinew_world *world = b->world->world;
    SN_TRY(sn_builder_note(b, scene->contact.json,
                           sinew_world_set_contact(world, &scene->contact.def)));

    // Obstacles.
    b->world->obstacles = SN_PUSH(&b->world->arena, sinew_obstacle *, scene->obstacle_count);
    SN_TRY(sn_arena_status(&b->world->arena));
    for (int32_t i = 0; i < scene->obstacle_count; i++) {
        const sn_scene_obstacle *obstacle = &scene->obstacles[i];
        SN_TRY(sn_builder_note(b, obstacle->json,
                               make_obstacle(b, obstacle, &b->world->obstacles[i])));
    }

    // Friction of pairs of materials, and what single bodies set.
    for (int32_t i = 0; i < scene->contact.pair_count; i++) {
        const sn_scene_friction *pair = &scene->contact.pairs[i];
        SN_TRY(sn_builder_note(
            b, pair->json,
            sinew_world_set_friction(world, pair->material[0], pair->material[1], pair->friction)));
    }

    for (int32_t i = 0; i < scene->body_count; i++) {
        if (scene->bodies[i].contact_given) {
            SN_TRY(sinew_body_set_contact(b->world->members[i].body, &scene->bodies[i].contact));
        }
        if (scene->bodies[i].contact_frames_given) {
            SN_TRY(
                sn_builder_note(b, scene->bodies[i].json,
                                sinew_frame_body_set_contact_frames(
                                    b->world->members[i].body, &scene->bodies[i].contact_frames)));
        }
    }
    return SINEW_OK;
}

sinew_status sn_builder_make_glue(sn_builder *b) {
    int32_t count = b->scene->glue_count;
    b->world->glues = SN_PUSH(&b->world->arena, sinew_glue *, count);
    SN_TRY(sn_arena_status(&b->world->arena));
    for (int32_t i = 0; i < count; i++) {
        const sn_scene_glue *glue = &b->scene->glues[i];
        sinew_glue_def def = glue->def;
        def.body = b->world->members[glue->body].body;
        def.target = b->world->members[glue->target].body;
        SN_TRY(sn_builder_note(b, glue->json,
                               sinew_glue_create(b->world->world, &def, &b->world->glues[i])));
    }
    return SINEW_OK;
}

sinew_status sn_scene_world_move_obstacles(sn_scene_world *world, double time) {
    for (int32_t i = 0; i < world->scene->obstacle_count; i++) {
        const sn_scene_obstacle *obstacle = &world->scene->obstacles[i];
        if (!obstacle->moves || !world->obstacles) {
            continue;
        }

        const double *r = obstacle->def.rotation;
        sn_quat turn = sn_scene_motion_turn(&obstacle->motion, time);
        sn_quat q = sn_quat_mul(turn, (sn_quat){r[0], r[1], r[2], r[3]});
        double position[3], rotation[4] = {q.x, q.y, q.z, q.w};
        sn_store3(position,
                  sn_scene_motion_at(&obstacle->motion, sn_load3(obstacle->def.position), time));
        SN_TRY(sinew_obstacle_move(world->obstacles[i], position, rotation));
    }
    return SINEW_OK;
}
