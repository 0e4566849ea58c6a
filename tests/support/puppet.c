// Builds and steps a character with flesh of position dynamics; see puppet.h.
#include "support/puppet.h"

#include "geom/mesh/mesh.h"

#include <string.h>

static sinew_status build(sn_puppet *puppet, const sn_character_def *character,
                          const sinew_pbd_def *flesh) {
    sn_arena *arena = &puppet->arena;
    SN_TRY(sn_character_create(arena->context, character, &puppet->character));

    const sinew_mesh *mesh = puppet->character.flesh;
    const sinew_skeleton *skeleton = puppet->character.skeleton;

    SN_TRY(sinew_rig_create(arena->context, skeleton, mesh, &puppet->rig_report, &puppet->rig));
    puppet->world = SN_PUSH(arena, sinew_transform, sinew_skeleton_joint_count(skeleton));
    puppet->targets = SN_PUSH(arena, double, 3 * (size_t)mesh->point_count);
    puppet->positions = SN_PUSH(arena, double, 3 * (size_t)mesh->point_count);

    uint8_t *kinematic = SN_PUSH(arena, uint8_t, mesh->point_count);
    SN_TRY(sn_arena_status(arena));
    memcpy(puppet->targets, mesh->points, 3 * (size_t)mesh->point_count * sizeof *puppet->targets);
    memcpy(puppet->positions, mesh->points,
           3 * (size_t)mesh->point_count * sizeof *puppet->positions);

    for (int32_t i = 0; i < mesh->point_count; i++) {
        kinematic[i] = sinew_rig_node_joints(puppet->rig)[i] >= 0;
    }

    sinew_pbd_def def = *flesh;
    def.kinematic = kinematic;

    return sinew_pbd_create(arena->context, mesh, &def, &puppet->pbd);
}

sinew_status sn_puppet_create(sinew_context *context, const sn_character_def *character,
                              const sinew_pbd_def *flesh, sn_puppet *puppet) {
    SN_ASSERT(!flesh->kinematic);
    *puppet = (sn_puppet){.arena = sn_arena_create(context)};
    sinew_status status = build(puppet, character, flesh);
    if (status != SINEW_OK) {
        sn_puppet_destroy(puppet);
    }

    return status;
}

void sn_puppet_destroy(sn_puppet *puppet) {
    sinew_pbd_destroy(puppet->pbd);
    sinew_rig_destroy(puppet->rig);
    sn_character_destroy(&puppet->character);
    sn_arena_destroy(&puppet->arena);
    *puppet = (sn_puppet){0};
}

sinew_status sn_puppet_step(sn_puppet *puppet, double h, double speed, sinew_motion_end end) {
    puppet->time += speed * h;
    sinew_motion_sample(puppet->character.motion, puppet->time, end, puppet->world);
    SN_TRY(sinew_skeleton_compute_world(puppet->character.skeleton, puppet->world, puppet->world));
    sinew_rig_move_nodes(puppet->rig, puppet->world, puppet->targets);
    SN_TRY(sinew_pbd_step(puppet->pbd, h, puppet->targets, NULL));
    sinew_pbd_get_positions(puppet->pbd, puppet->positions);

    return SINEW_OK;
}

static bool is_inside(sn_box box, sn_vec3 p) {
    return p.x >= box.lower.x && p.x <= box.upper.x && p.y >= box.lower.y && p.y <= box.upper.y &&
           p.z >= box.lower.z && p.z <= box.upper.z;
}

double sn_region_volume(const sinew_mesh *tets, const double *positions, sn_box region) {
    SN_ASSERT(tets->element == SINEW_ELEMENT_TET4);
    double volume = 0;
    for (int32_t t = 0; t < tets->element_count; t++) {
        const int32_t *nodes = sn_mesh_nodes(tets, t);
        sn_vec3 center = {0, 0, 0}, x[4];
        for (int k = 0; k < 4; k++) {
            center = sn_madd(center, 0.25, sn_mesh_point(tets, nodes[k]));
            x[k] = sn_load3(positions + 3 * (size_t)nodes[k]);
        }

        if (is_inside(region, center)) {
            volume += sn_tet_volume6(x[0], x[1], x[2], x[3]) / 6;
        }
    }

    return volume;
}
