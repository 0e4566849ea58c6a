// Making bodies from definitions: every check before any change.
#include "body/elastic.h"
#include "body/surface.h"
#include "body/warp.h"
#include "dynamics/origin.h"
#include "dynamics/world.h"
#include "frame/body/frame_body.h"
#include "geom/mesh/mesh.h"
#include "material/material.h"
#include "math/quat.h"
#include "pbd/pbd_body.h"

#include <math.h>
#include <string.h>

sinew_body_def sinew_default_body_def(void) {
    return (sinew_body_def){.thickness = 1, .rotation = {0, 0, 0, 1}, .filled = SN_DEF_FILLED};
}

static sinew_status check_numbers(sinew_context *context, const char *name, const double *values,
                                  int count) {
    for (int i = 0; i < count; i++) {
        if (!isfinite(values[i])) {
            return sn_fail(context, SINEW_INVALID_ARGUMENT, "%s[%d] is %g; it must be finite", name,
                           i, values[i]);
        }
    }

    return SINEW_OK;
}

static sinew_status check_materials(sinew_context *context, const sinew_body_def *def) {
    if (def->material_count < 0 || (def->material_count > 0 && !def->materials)) {
        return sn_fail(context, SINEW_INVALID_ARGUMENT,
                       "material_count is %d but materials is NULL", def->material_count);
    }

    if (def->material_count > 1 && !def->material_labels) {
        return sn_fail(context, SINEW_INVALID_ARGUMENT,
                       "%d materials need material_labels that say which elements take which",
                       def->material_count);
    }

    for (int32_t i = 0; i < def->material_count; i++) {
        SN_TRY(sinew_check_material(context, &def->materials[i]));
    }

    return SINEW_OK;
}

// A plane body has a thickness, and stays in the plane of x and y.
static sinew_status check_plane(sinew_context *context, const sinew_body_def *def) {
    if (!(def->thickness > 0 && isfinite(def->thickness))) {
        return sn_fail(context, SINEW_INVALID_ARGUMENT, "thickness is %g m; it must be above 0",
                       def->thickness);
    }

    // Rotation, position and velocities keep to the plane.
    const double *r = def->rotation;
    if (r[0] != 0 || r[1] != 0) {
        return sn_fail(context, SINEW_INVALID_ARGUMENT,
                       "rotation (%g, %g, %g, %g) leaves the plane of x and y, in which a body of "
                       "triangles lives; it may rotate about z only",
                       r[0], r[1], r[2], r[3]);
    }

    if (def->position[2] != 0 || def->velocity[2] != 0) {
        return sn_fail(context, SINEW_INVALID_ARGUMENT,
                       "position[2] is %g m and velocity[2] %g m/s; a body of triangles lives in "
                       "the plane of x and y, so both must be 0",
                       def->position[2], def->velocity[2]);
    }

    const double *w = def->angular_velocity;
    if (w[0] != 0 || w[1] != 0) {
        return sn_fail(
            context, SINEW_INVALID_ARGUMENT,
            "angular_velocity (%g, %g, %g) rad/s leaves the plane of x and y, in which a "
            "body of triangles lives; it may rotate about z only",
            w[0], w[1], w[2]);
    }

    return SINEW_OK;
}

static sinew_status check_body(sinew_context *context, const sinew_body_def *def) {
    if (!def->mesh) {
        return sn_fail(context, SINEW_INVALID_ARGUMENT, "a body needs a mesh");
    }

    SN_TRY(sinew_mesh_check(context, def->mesh));
    SN_TRY(check_materials(context, def));
    if (def->material_axes) {
        SN_TRY(sn_check_material_axes(context, def->material_axes, def->mesh->element_count));
    }

    // How dilatation is integrated.
    if ((int)def->volume < SINEW_VOLUME_AUTO || def->volume > SINEW_VOLUME_AVERAGED) {
        return sn_fail(context, SINEW_INVALID_ARGUMENT, "volume is %d; valid are 0 to %d",
                       (int)def->volume, (int)SINEW_VOLUME_AVERAGED);
    }
    if (def->volume == SINEW_VOLUME_AVERAGED && def->model != SINEW_MODEL_ELASTIC) {
        return sn_fail(context, SINEW_UNSUPPORTED,
                       "a warped body cannot average its dilatation; choose the elastic model");
    }
    for (int32_t i = 0; i < def->material_count; i++) {
        if (def->volume == SINEW_VOLUME_AVERAGED &&
            def->materials[i].law == SINEW_MATERIAL_CUSTOM) {
            return sn_fail(context, SINEW_UNSUPPORTED,
                           "material %d: the dilatation of a custom law cannot be averaged, as its "
                           "volume strain is unknown; choose the standard volume",
                           i);
        }
    }

    // The initial motion.
    SN_TRY(check_numbers(context, "position", def->position, 3));
    SN_TRY(check_numbers(context, "rotation", def->rotation, 4));
    SN_TRY(check_numbers(context, "velocity", def->velocity, 3));
    SN_TRY(check_numbers(context, "angular_velocity", def->angular_velocity, 3));

    double length = 0;
    for (int k = 0; k < 4; k++) {
        length += def->rotation[k] * def->rotation[k];
    }

    if (!(length > 1e-12)) {
        return sn_fail(context, SINEW_INVALID_ARGUMENT,
                       "rotation is a zero quaternion; (0, 0, 0, 1) is no turn");
    }

    if (!(def->mass_damping >= 0 && isfinite(def->mass_damping)) ||
        !(def->stiffness_damping >= 0 && isfinite(def->stiffness_damping))) {
        return sn_fail(context, SINEW_INVALID_ARGUMENT,
                       "damping is %g 1/s and %g s; both must be finite and not negative",
                       def->mass_damping, def->stiffness_damping);
    }

    return def->mesh->element == SINEW_ELEMENT_TRIANGLE ? check_plane(context, def) : SINEW_OK;
}

static sinew_status copy_mesh(sinew_body *body, const sinew_mesh *mesh) {
    size_t width = (size_t)sinew_element_node_count(mesh->element);
    double *points = SN_PUSH(&body->arena, double, 3 * (size_t)mesh->point_count);
    int32_t *indices = SN_PUSH(&body->arena, int32_t, width * (size_t)mesh->element_count);
    int32_t *labels = SN_PUSH(&body->arena, int32_t, mesh->labels ? mesh->element_count : 0);

    SN_TRY(sn_arena_status(&body->arena));
    memcpy(points, mesh->points, 3 * (size_t)mesh->point_count * sizeof *points);
    memcpy(indices, mesh->indices, width * (size_t)mesh->element_count * sizeof *indices);
    if (mesh->labels) {
        memcpy(labels, mesh->labels, (size_t)mesh->element_count * sizeof *labels);
    }

    body->mesh = *mesh;
    body->mesh.points = points;
    body->mesh.indices = indices;
    body->mesh.labels = mesh->labels ? labels : NULL;
    body->rest = points;

    return SINEW_OK;
}

// Positions and velocities of the initial placement.
static void place(sinew_body *body, const sinew_body_def *def) {
    sn_quat rotation = sn_quat_normalize(
        (sn_quat){def->rotation[0], def->rotation[1], def->rotation[2], def->rotation[3]});
    sn_vec3 t = sn_load3(def->position);
    sn_vec3 v = sn_load3(def->velocity);
    sn_vec3 w = sn_load3(def->angular_velocity);
    bool turned = rotation.x != 0 || rotation.y != 0 || rotation.z != 0;

    for (int32_t i = 0; i < body->rows; i++) {
        sn_vec3 X = sn_load3(body->rest + 3 * i);
        sn_vec3 r = turned ? sn_quat_rotate(rotation, X) : X;
        sn_store3(body->q + 3 * i, sn_add(r, t));
        sn_store3(body->v + 3 * i, sn_add(v, sn_cross(w, r)));

        if (body->mesh.element == SINEW_ELEMENT_TRIANGLE) {
            body->mask[3 * i + 2] = 1;
        }
    }

    size_t bytes = (size_t)body->config_count * sizeof(double);
    memcpy(body->previous_q, body->q, bytes);
    memcpy(body->target, body->q, bytes);
    memcpy(body->balance_q, body->q, bytes);
}

static sinew_status build_body(sinew_body *body, const sinew_body_def *def) {
    SN_TRY(copy_mesh(body, def->mesh));
    body->rows = body->mesh.point_count;
    body->config_count = 3 * body->rows;
    body->thickness = def->thickness;
    body->mass_damping = def->mass_damping;
    body->stiffness_damping = def->stiffness_damping;
    SN_TRY(sn_body_allocate_state(body, &body->arena));
    SN_TRY(sn_element_surface_build(body, def->surface));
    SN_TRY(def->model == SINEW_MODEL_ELASTIC ? sn_elastic_build(body, def)
                                             : sn_warp_build(body, def));
    place(body, def);

    return SINEW_OK;
}

// An empty body in an arena of its own.
static sinew_status begin_body(sinew_world *world, const char *name, sinew_body **out) {
    sn_arena arena = sn_arena_create(world->context);
    sinew_body *body = SN_PUSH(&arena, sinew_body, 1);
    char *copy = SN_PUSH(&arena, char, strlen(name) + 1);

    if (sn_arena_status(&arena) != SINEW_OK) {
        sn_arena_destroy(&arena);
        return SINEW_OUT_OF_MEMORY;
    }

    body->context = world->context;
    body->world = world;
    body->name = strcpy(copy, name);
    body->arena = arena;
    *out = body;

    return SINEW_OK;
}

// Takes a body that was built into the world, or frees it.
static sinew_status finish_body(sinew_body *body, sinew_status status, sinew_body **out) {
    if (status == SINEW_OK) {
        status = sn_world_add_body(body->world, body);
    }

    if (status != SINEW_OK) {
        sn_body_destroy(body);
        return status;
    }

    if (out) {
        *out = body;
    }

    return SINEW_OK;
}

sinew_status sinew_body_create(sinew_world *world, const sinew_body_def *def, sinew_body **out) {
    SN_NEED(NULL, world);
    SN_TRY(SN_CHECK_DEF(world->context, def, "sinew_default_body_def"));
    SN_TRY(check_body(world->context, def));
    sinew_body *body;
    SN_TRY(begin_body(world, def->name ? def->name : "body", &body));
    sinew_status status = build_body(body, def);
    body->origin = status == SINEW_OK ? sn_origin_of_elements(def) : 0;
    return finish_body(body, status, out);
}

// The rest shape of a body of frames is its voxels, which cannot be rotated.
static sinew_status check_frame_rotation(sinew_context *context, const sinew_frame_body_def *def) {
    const double *r = def->rotation;
    if ((r[0] == 0 && r[1] == 0 && r[2] == 0) || def->springs) {
        return SINEW_OK;
    }

    if (def->materials) {
        for (int32_t i = 0; i < def->material_count; i++) {
            if (!sn_material_strains_by_rotation(&def->materials[i])) {
                continue;
            }
            return sn_fail(
                context, SINEW_UNSUPPORTED,
                "material %d has the infinitesimal strain, which takes the rotation of the "
                "placement for a strain; rotate the shape instead, or choose the "
                "corotational or the Green strain",
                i);
        }
    }

    return SINEW_OK;
}

sinew_status sinew_frame_body_create(sinew_world *world, const sinew_frame_body_def *def,
                                     sinew_body **out) {
    SN_NEED(NULL, world);
    SN_TRY(SN_CHECK_DEF(world->context, def, "sinew_default_frame_body_def"));
    SN_TRY(check_frame_rotation(world->context, def));
    sinew_body *body;
    SN_TRY(begin_body(world, def->name ? def->name : "frames", &body));
    sinew_status status = sn_frame_body_build(body, def);
    body->origin = status == SINEW_OK ? sn_origin_of_frames(def) : 0;
    return finish_body(body, status, out);
}

sinew_status sinew_rigid_body_create(sinew_world *world, const sinew_rigid_body_def *def,
                                     sinew_body **out) {
    SN_NEED(NULL, world);
    SN_TRY(SN_CHECK_DEF(world->context, def, "sinew_default_rigid_body_def"));
    sinew_body *body;
    SN_TRY(begin_body(world, def->name ? def->name : "rigid", &body));
    sinew_status status = sn_rigid_body_build(body, def);
    body->origin = status == SINEW_OK ? sn_origin_of_rigid(def) : 0;
    return finish_body(body, status, out);
}

sinew_pbd_body_def sinew_default_pbd_body_def(void) {
    return (sinew_pbd_body_def){
        .pbd = sinew_default_pbd_def(), .rotation = {0, 0, 0, 1}, .filled = SN_DEF_FILLED};
}

static sinew_status build_pbd_body(sinew_body *body, const sinew_pbd_body_def *def,
                                   const sinew_body_def *placement) {
    SN_TRY(copy_mesh(body, def->mesh));
    body->rows = body->mesh.point_count;
    SN_TRY(sn_element_surface_build(body, def->surface));
    SN_TRY(sn_pbd_body_build(body, &def->pbd, placement->rotation));
    place(body, placement);
    return SINEW_OK;
}

sinew_status sinew_pbd_body_create(sinew_world *world, const sinew_pbd_body_def *def,
                                   sinew_body **out) {
    SN_NEED(NULL, world);

    SN_TRY(SN_CHECK_DEF(world->context, def, "sinew_default_pbd_body_def"));
    sinew_body_def placement = sinew_default_body_def();
    placement.mesh = def->mesh;
    memcpy(placement.position, def->position, sizeof placement.position);
    memcpy(placement.rotation, def->rotation, sizeof placement.rotation);
    memcpy(placement.velocity, def->velocity, sizeof placement.velocity);
    memcpy(placement.angular_velocity, def->angular_velocity, sizeof placement.angular_velocity);
    SN_TRY(check_body(world->context, &placement));

    sinew_body *body;
    SN_TRY(begin_body(world, def->name ? def->name : "body", &body));

    sinew_status status = build_pbd_body(body, def, &placement);
    body->origin = status == SINEW_OK ? sn_origin_of_positions(def) : 0;
    return finish_body(body, status, out);
}
