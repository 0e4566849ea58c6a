// Definitions of contact and obstacles.
#include "dynamics/contact_touch.h"
#include "dynamics/integrator.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

sinew_contact_def sinew_default_contact_def(void) {
    return (sinew_contact_def){
        .mode = SINEW_CONTACT_INTERACTIVE,
        .bodies = true,
        .friction = 0.5,
        .filled = SN_DEF_FILLED,
    };
}

sinew_body_contact_def sinew_default_body_contact_def(void) {
    return (sinew_body_contact_def){.on = true, .friction = -1, .filled = SN_DEF_FILLED};
}

sinew_obstacle_def sinew_default_obstacle_def(void) {
    return (sinew_obstacle_def){.kind = SINEW_OBSTACLE_PLANE,
                                .rotation = {0, 0, 0, 1},
                                .radius = 0.5,
                                .size = {1, 1, 1},
                                .length = 1,
                                .friction = -1,
                                .filled = SN_DEF_FILLED};
}

static sinew_status check_not_negative(sinew_context *context, const char *what, double value) {
    if (value >= 0 && isfinite(value)) {
        return SINEW_OK;
    }
    return sn_fail(context, SINEW_INVALID_ARGUMENT, "%s is %g; it must be finite and at least 0",
                   what, value);
}

// A coefficient, or a number below 0 for the world's; and a number of the table of pairs.
static sinew_status check_grip(sinew_context *context, double friction, int32_t material) {
    if (!isfinite(friction)) {
        return sn_fail(context, SINEW_INVALID_ARGUMENT,
                       "friction is %g; it must be finite and at least 0, or below 0 for the "
                       "world's",
                       friction);
    }
    if (material < 0) {
        return sn_fail(context, SINEW_INVALID_ARGUMENT,
                       "the material of a contact surface is %d; it must be at least 0",
                       (int)material);
    }
    return SINEW_OK;
}

sinew_status sn_contact_check_integrator(const sinew_world *world, sinew_integrator integrator) {
    const char *reason = sn_integrator_get(integrator, false)->contact_refusal;
    if (!reason || !world->contact || !world->contact->on) {
        return SINEW_OK;
    }
    return sn_fail(world->context, SINEW_UNSUPPORTED,
                   "contact does not work with this integrator: %s. Choose implicit Euler, "
                   "Newton Euler or BDF2 (implicit-euler, newton-euler or bdf2 in scenes)",
                   reason);
}

sinew_status sn_contact_get(sinew_world *world, sn_contact **out) {
    if (!world->contact) {
        sn_contact *made = sn_allocate(world->context, 1, sizeof *made);
        if (!made) {
            return SINEW_OUT_OF_MEMORY;
        }
        made->context = world->context;
        made->def = sinew_default_contact_def();
        made->report.smallest_gap = INFINITY;
        world->contact = made;
    }

    *out = world->contact;
    return SINEW_OK;
}

sinew_status sinew_world_set_contact(sinew_world *world, const sinew_contact_def *def) {
    SN_NEED(NULL, world);

    sn_contact *contact;

    // Off: multipliers of the last step mean nothing later.
    if (!def) {
        if (world->contact) {
            world->contact->on = false;
            world->contact->memory_count = 0;
        }
        sn_world_forget_islands(world);
        return SINEW_OK;
    }

    SN_TRY(SN_CHECK_DEF(world->context, def, "sinew_default_contact_def"));
    if (def->mode != SINEW_CONTACT_INTERACTIVE && def->mode != SINEW_CONTACT_RELIABLE) {
        return sn_fail(world->context, SINEW_INVALID_ARGUMENT,
                       "the mode of contact is %d; valid are 0 and 1", (int)def->mode);
    }
    SN_TRY(check_not_negative(world->context, "friction", def->friction));
    SN_TRY(check_not_negative(world->context, "friction_speed", def->friction_speed));
    SN_TRY(check_not_negative(world->context, "thickness", def->thickness));
    if ((int)def->overlaps < 0 || def->overlaps > SINEW_OVERLAP_REFUSE) {
        return sn_fail(world->context, SINEW_INVALID_ARGUMENT,
                       "overlaps is %d; it must be one of SINEW_OVERLAP_HEAL, _IGNORE and _REFUSE",
                       (int)def->overlaps);
    }

    // The check asks whether contact is on, so switch it on first.
    bool was_on = world->contact && world->contact->on;
    SN_TRY(sn_contact_get(world, &contact));
    contact->on = true;
    sinew_status status = sn_contact_check_integrator(world, world->def.integrator);
    if (status != SINEW_OK) {
        contact->on = was_on;
        return status;
    }

    contact->def = *def;
    contact->tangled = true;
    sn_world_forget_islands(world);
    return SINEW_OK;
}

bool sinew_world_get_contact(const sinew_world *world, sinew_contact_def *def) {
    SN_NEED_OR(false, world);
    bool on = world->contact && world->contact->on;
    if (on && def) {
        *def = world->contact->def;
    }
    return on;
}

sinew_status sinew_body_set_contact(sinew_body *body, const sinew_body_contact_def *def) {
    SN_NEED(NULL, body);

    SN_TRY(SN_CHECK_DEF(body->context, def, "sinew_default_body_contact_def"));
    SN_TRY(check_grip(body->context, def->friction, def->material));
    SN_TRY(check_not_negative(body->context, "thickness", def->thickness));

    if (!body->contact) {
        sinew_body_contact_def *own = SN_PUSH(&body->arena, sinew_body_contact_def, 1);
        SN_TRY(sn_arena_status(&body->arena));
        body->contact = own;
    }
    *body->contact = *def;
    sn_world_forget_islands(body->world);
    return SINEW_OK;
}

static sinew_status check_length(const sinew_world *world, const char *what, double value) {
    if (value > 0 && isfinite(value)) {
        return SINEW_OK;
    }
    return sn_fail(world->context, SINEW_INVALID_ARGUMENT,
                   "the %s of an obstacle is %g m; it must be finite and above 0", what, value);
}

// The pose of numbers from outside.
static sinew_status read_pose(const sinew_world *world, const double position[3],
                              const double rotation[4], sn_rigid *pose) {
    sinew_transform transform;
    memcpy(transform.translation, position, sizeof transform.translation);
    memcpy(transform.rotation, rotation, sizeof transform.rotation);
    if (!sn_transform_is_valid(&transform)) {
        return sn_fail(world->context, SINEW_INVALID_ARGUMENT,
                       "an obstacle at (%g, %g, %g) m rotated by (%g, %g, %g, %g): all numbers "
                       "must be finite, and the quaternion not zero",
                       position[0], position[1], position[2], rotation[0], rotation[1], rotation[2],
                       rotation[3]);
    }

    *pose = sn_rigid_load(&transform);
    return SINEW_OK;
}

static sinew_status read_shape(const sinew_world *world, const sinew_obstacle_def *def,
                               sn_obstacle_shape *shape) {
    *shape = (sn_obstacle_shape){.kind = SN_OBSTACLE_PLANE};
    switch (def->kind) {
    case SINEW_OBSTACLE_PLANE:
    case SINEW_OBSTACLE_MESH: return SINEW_OK;
    case SINEW_OBSTACLE_SPHERE:
        *shape = (sn_obstacle_shape){.kind = SN_OBSTACLE_SPHERE, .radius = def->radius};
        return check_length(world, "radius", def->radius);
    case SINEW_OBSTACLE_BOX:
        *shape = (sn_obstacle_shape){.kind = SN_OBSTACLE_BOX,
                                     .half = sn_scale(0.5, sn_load3(def->size))};
        for (int k = 0; k < 3; k++) {
            SN_TRY(check_length(world, "size", def->size[k]));
        }
        return SINEW_OK;
    case SINEW_OBSTACLE_CAPSULE:
        *shape = (sn_obstacle_shape){.kind = SN_OBSTACLE_CAPSULE,
                                     .radius = def->radius,
                                     .half = sn_v3(0, 0, 0.5 * def->length)};
        SN_TRY(check_not_negative(world->context, "the length of a capsule", def->length));
        return check_length(world, "radius", def->radius);
    }
    return sn_fail(world->context, SINEW_INVALID_ARGUMENT,
                   "the kind of an obstacle is %d; valid are 0 to 4", (int)def->kind);
}

static void release_obstacle(sn_contact *contact, sinew_obstacle *obstacle) {
    sinew_mesh_destroy(obstacle->surface);
    sn_arena_destroy(&obstacle->arena);
    sn_release(contact->context, obstacle, 1, sizeof *obstacle);
}

sinew_status sinew_obstacle_create(sinew_world *world, const sinew_obstacle_def *def,
                                   sinew_obstacle **out) {
    SN_NEED(NULL, world);

    sn_obstacle_shape shape;
    sn_rigid pose;
    SN_TRY(SN_CHECK_DEF(world->context, def, "sinew_default_obstacle_def"));
    SN_TRY(read_shape(world, def, &shape));
    SN_TRY(read_pose(world, def->position, def->rotation, &pose));
    SN_TRY(check_grip(world->context, def->friction, def->material));

    if (!sinew_world_get_contact(world, NULL)) {
        sinew_contact_def contact_def = sinew_default_contact_def();
        SN_TRY(sinew_world_set_contact(world, &contact_def));
    }

    // Room in the list before the obstacle itself, so that a failure leaves nothing behind.
    sn_contact *contact = world->contact;
    void *list = contact->obstacles;
    SN_TRY(sn_grow(world->context, &list, &contact->obstacle_capacity,
                   (size_t)contact->obstacle_count, (size_t)contact->obstacle_count + 1,
                   sizeof *contact->obstacles));
    contact->obstacles = list;
    sinew_obstacle *obstacle = sn_allocate(world->context, 1, sizeof *obstacle);
    if (!obstacle) {
        return SINEW_OUT_OF_MEMORY;
    }

    *obstacle = (sinew_obstacle){.world = world,
                                 .index = contact->obstacle_count,
                                 .number = contact->next_number++,
                                 .shape = shape,
                                 .grip = {def->friction, def->material},
                                 .pose = pose,
                                 .target = pose,
                                 .trial = pose};
    snprintf(obstacle->name, sizeof obstacle->name, "%s", def->name ? def->name : "obstacle");
    obstacle->arena = sn_arena_create(world->context);
    if (def->kind == SINEW_OBSTACLE_MESH) {
        sinew_status status = sn_contact_read_mesh(world->context, def->mesh, &obstacle->arena,
                                                   &obstacle->surface, &obstacle->surface_shape);
        if (status != SINEW_OK) {
            release_obstacle(contact, obstacle);
            return status;
        }
        sn_world_forget_islands(world);
    }

    contact->obstacles[contact->obstacle_count++] = obstacle;
    if (out) {
        *out = obstacle;
    }
    return SINEW_OK;
}

void sinew_obstacle_destroy(sinew_obstacle *obstacle) {
    if (!obstacle) {
        return;
    }

    sn_contact *contact = obstacle->world->contact;
    contact->obstacle_count--;
    for (int32_t i = obstacle->index; i < contact->obstacle_count; i++) {
        contact->obstacles[i] = contact->obstacles[i + 1];
        contact->obstacles[i]->index = i;
    }

    // The lists of the last step may name it, and islands may have its surface.
    contact->contact_count = 0;
    contact->event_count = 0;
    if (obstacle->surface) {
        sn_world_forget_islands(obstacle->world);
    }
    release_obstacle(contact, obstacle);
}

sinew_status sinew_obstacle_move(sinew_obstacle *obstacle, const double position[3],
                                 const double rotation[4]) {
    SN_NEED(NULL, obstacle && position && rotation);
    return read_pose(obstacle->world, position, rotation, &obstacle->target);
}

void sinew_obstacle_get_pose(const sinew_obstacle *obstacle, double position[3],
                             double rotation[4]) {
    SN_NEED_OR(, obstacle);
    sn_rigid pose = obstacle->pose;
    if (position) {
        sn_store3(position, pose.t);
    }
    if (rotation) {
        memcpy(rotation, (double[]){pose.q.x, pose.q.y, pose.q.z, pose.q.w}, 4 * sizeof *rotation);
    }
}

void sinew_obstacle_get_force(const sinew_obstacle *obstacle, double force[3], double torque[3]) {
    SN_NEED_OR(, obstacle);
    if (force) {
        sn_store3(force, obstacle->force);
    }
    if (torque) {
        sn_store3(torque, obstacle->torque);
    }
}

const char *sinew_obstacle_get_name(const sinew_obstacle *obstacle) {
    SN_NEED_OR("", obstacle);
    return obstacle->name;
}

int32_t sinew_world_get_obstacle_count(const sinew_world *world) {
    SN_NEED_OR(0, world);
    return world->contact ? world->contact->obstacle_count : 0;
}

sinew_obstacle *sinew_world_get_obstacle(const sinew_world *world, int32_t index) {
    SN_NEED_OR(NULL, world);
    bool there = index >= 0 && index < sinew_world_get_obstacle_count(world);
    return there ? world->contact->obstacles[index] : NULL;
}

sinew_obstacle_def sinew_obstacle_get_def(const sinew_obstacle *obstacle) {
    SN_NEED_OR(((sinew_obstacle_def){0}), obstacle);

    const sn_obstacle_shape *shape = &obstacle->shape;
    sinew_obstacle_def def = sinew_default_obstacle_def();
    def.name = obstacle->name;
    def.kind = obstacle->surface ? SINEW_OBSTACLE_MESH : (sinew_obstacle_kind)shape->kind;
    def.mesh = obstacle->surface;
    def.friction = obstacle->grip.friction;
    def.material = obstacle->grip.material;
    sinew_obstacle_get_pose(obstacle, def.position, def.rotation);
    if (shape->radius > 0) {
        def.radius = shape->radius;
    }
    if (shape->kind == SN_OBSTACLE_BOX) {
        sn_store3(def.size, sn_scale(2, shape->half));
    }
    if (shape->kind == SN_OBSTACLE_CAPSULE) {
        def.length = 2 * shape->half.z;
    }
    return def;
}

void sn_contact_destroy(sinew_world *world) {
    sn_contact *contact = world->contact;
    if (!contact) {
        return;
    }

    sinew_context *context = contact->context;
    for (int32_t i = 0; i < contact->obstacle_count; i++) {
        release_obstacle(contact, contact->obstacles[i]);
    }

    sn_release(context, contact->obstacles, contact->obstacle_capacity, sizeof *contact->obstacles);
    sn_friction_table_destroy(context, &contact->table);
    sn_release(context, contact->memories, contact->memory_capacity, sizeof *contact->memories);
    sn_release(context, contact->spare_memories, contact->spare_memory_capacity,
               sizeof *contact->spare_memories);
    sn_release(context, contact->shares, contact->share_capacity, sizeof *contact->shares);
    sn_release(context, contact->groups, contact->group_capacity, sizeof *contact->groups);
    sn_release(context, contact->next_groups, contact->next_group_capacity,
               sizeof *contact->next_groups);
    sn_release(context, contact->boxes, contact->box_capacity, sizeof *contact->boxes);
    sn_release(context, contact->sweep, contact->sweep_capacity, sizeof *contact->sweep);
    sn_release(context, contact->place, contact->place_capacity, sizeof *contact->place);
    sn_release(context, contact->overlay, contact->overlay_capacity, sizeof *contact->overlay);
    sn_release(context, contact->contacts, contact->contact_capacity, sizeof *contact->contacts);
    sn_release(context, contact->events, contact->event_capacity, sizeof *contact->events);
    sn_release(context, contact, 1, sizeof *contact);
    world->contact = NULL;
}

bool sn_touch_key_without_body(sn_touch_key *key, int32_t index) {
    sn_touch_kind kind = sn_touch_key_kind(*key);
    bool bodies = sn_touch_key_is_of_bodies(*key);
    int32_t a = sn_touch_key_a(*key);
    int32_t b = sn_touch_key_b(*key);
    if (a == index || (bodies && b == index)) {
        return false;
    }

    uint64_t features = key->what;
    *key = sn_touch_make_key(kind, a - (a > index), (uint32_t)(b - (bodies && b > index)), 0, 0);
    key->what = features;
    return true;
}

void sn_contact_forget_body(sinew_world *world, int32_t index) {
    sn_contact *contact = world->contact;
    if (!contact) {
        return;
    }

    int32_t kept = 0;
    for (int32_t i = 0; i < contact->memory_count; i++) {
        sn_touch_memory memory = contact->memories[i];
        if (sn_touch_key_without_body(&memory.key, index)) {
            contact->memories[kept++] = memory;
        }
    }

    contact->memory_count = kept;
    contact->group_count = 0; // bodies are grouped again
    contact->overlay_valid = false;
    contact->contact_count = 0;
    contact->event_count = 0;
}
