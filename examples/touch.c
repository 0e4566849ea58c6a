// A hand touches two bodies, one of tetrahedra and one of frames, with the same code: a ray finds a
// point of the surface, a spring grabs it, drags it up and lets go.
#include <sinew/sinew.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

static int fail(sinew_context *context, const char *what) {
    fprintf(stderr, "%s: %s\n", what, sinew_context_message(context));
    return 1;
}

// A bar of tetrahedra along y, held at one end.
static sinew_status make_bar(sinew_context *context, sinew_world *world, sinew_body **bar) {
    // Mesh.
    sinew_shape_def shape = sinew_default_shape_def();
    shape.size[0] = shape.size[2] = 0.1;
    shape.size[1] = 0.4;
    shape.cell_size = 0.05;

    sinew_mesh *mesh = NULL;
    sinew_status status = sinew_mesh_create_shape(context, &shape, &mesh);
    if (status) {
        return status;
    }

    // Material and body.
    sinew_material_def gel = sinew_default_material_def();
    gel.young = 5e4; // Pa

    sinew_body_def def = sinew_default_body_def();
    def.mesh = mesh;
    def.materials = &gel;
    def.material_count = 1;
    def.stiffness_damping = 0.05; // s
    status = sinew_body_create(world, &def, bar);
    sinew_mesh_destroy(mesh);

    // Fix the nodes at one end.
    for (int32_t node = 0; !status && node < sinew_body_get_node_count(*bar); node++) {
        if (sinew_body_get_rest_positions(*bar)[3 * node + 1] < -0.199) {
            status = sinew_body_fix_nodes(*bar, &node, 1, SINEW_AXIS_ALL);
        }
    }

    return status;
}

// An ellipsoid beside it, driven by two frames, one of them held.
static sinew_status make_egg(sinew_context *context, sinew_world *world, sinew_voxels **voxels,
                             sinew_body **egg) {
    // The shape as voxels.
    sinew_solid_def solid = sinew_default_solid_def();
    solid.solid = SINEW_SOLID_SPHERE;
    solid.size[0] = solid.size[2] = 0.2;
    solid.size[1] = 0.4;
    solid.center[0] = 0.5;

    sinew_voxel_def grid = sinew_default_voxel_def();
    grid.resolution = 30;
    sinew_status status = sinew_voxels_create_from_solids(context, &solid, 1, &grid, voxels);
    if (status) {
        return status;
    }

    // Frames, material and body.
    const sinew_frame_node nodes[] = {{SINEW_NODE_AFFINE, {0.5, -0.1, 0}},
                                      {SINEW_NODE_AFFINE, {0.5, 0.1, 0}}};
    sinew_material_def gel = sinew_default_material_def();
    gel.young = 5e4; // Pa

    sinew_frame_body_def def = sinew_default_frame_body_def();
    def.voxels = *voxels;
    def.nodes = nodes;
    def.node_count = 2;
    def.materials = &gel;
    def.material_count = 1;
    def.stiffness_damping = 0.05; // s
    status = sinew_frame_body_create(world, &def, egg);

    return status ? status : sinew_frame_body_hold(*egg, 0, SINEW_HOLD_ALL);
}

// The highest vertex of a body's surface as it is now. [m]
static double find_top(const sinew_body *body) {
    int32_t count = sinew_body_get_surface(body)->point_count;
    double *positions = malloc(3 * (size_t)count * sizeof *positions);
    double top = -INFINITY;
    if (positions) {
        sinew_body_compute_surface(body, positions, NULL);
        for (int32_t i = 0; i < count; i++) {
            top = fmax(top, positions[3 * i + 2]);
        }
    }
    free(positions);
    return top;
}

// Grabs the point, drags it up by 5 cm in half a second, and lets go. `height` receives how high
// the point was lifted, `force` what the hand felt at last.
static sinew_status drag(sinew_world *world, sinew_point *point, double *height, double force[3]) {
    double start[3], now[3];

    // A spring between the point and a target that moves.
    sinew_attachment_def def = sinew_default_attachment_def();
    def.body = sinew_point_get_body(point);
    def.stiffness = 500; // N/m
    sinew_point_get_rest(point, def.rest);

    sinew_attachment *hand = NULL;
    sinew_status status = sinew_point_get_position(point, start);
    if (!status) {
        status = sinew_world_attach(world, &def, &hand);
    }

    // Move the target up, 1 mm a step.
    for (int i = 1; i <= 50 && !status; i++) {
        const double target[3] = {start[0], start[1], start[2] + 0.001 * i};
        status = sinew_attachment_set_target(hand, target);
        if (!status) {
            status = sinew_world_step(world, NULL);
        }
    }

    if (!status) {
        status = sinew_attachment_get_force(hand, force);
    }
    if (!status) {
        status = sinew_point_get_position(point, now);
        *height = now[2] - start[2];
    }

    sinew_attachment_destroy(hand);
    return status;
}

// Returns 0 if the body was found, followed the hand and came back.
static int touch(sinew_context *context, sinew_world *world, sinew_body *body, const char *name,
                 double x) {
    // A ray from above, near the free end. All bodies are in its way; it must find this one.
    const double origin[3] = {x + 0.01, 0.16, 1}, down[3] = {0, 0, -1};
    sinew_surface_hit hit;
    if (sinew_world_cast_ray(world, origin, down, INFINITY, &hit)) {
        return fail(context, "ray");
    }
    if (hit.body != body) {
        fprintf(stderr, "the ray misses the %s\n", name);
        return 1;
    }

    sinew_point *point = NULL;
    if (sinew_point_create_at(body, hit.position, &point)) {
        return fail(context, "point");
    }

    double before = find_top(body), height = 0, force[3] = {0};
    if (drag(world, point, &height, force)) {
        return fail(context, "drag");
    }
    double lifted = find_top(body);

    // Nobody holds it any more.
    for (int i = 0; i < 200; i++) {
        if (sinew_world_step(world, NULL)) {
            return fail(context, "step");
        }
    }

    double after = find_top(body);
    printf("%s: the hand lifts the point by %.1f mm with %.2f N, the surface by %.1f mm; "
           "released, %.1f mm remain\n",
           name, 1000 * height, force[2], 1000 * (lifted - before), 1000 * fabs(after - before));
    sinew_point_destroy(point);

    // The spring pulled with stiffness times what the point lagged behind the hand.
    bool followed = height > 0.005 && height < 0.05 && lifted - before > 0.005;
    bool pulled = fabs(force[2] - 500 * (0.05 - height)) < 1e-6 * force[2];
    bool returned = fabs(after - before) < 0.1 * (lifted - before);
    return followed && pulled && returned ? 0 : 1;
}

int main(void) {
    sinew_context_def context_def = sinew_default_context_def();
    sinew_context *context = sinew_context_create(&context_def);
    if (!context) {
        return 1;
    }

    // Without gravity only the hand moves the bodies.
    sinew_world_def world_def = sinew_default_world_def();
    world_def.gravity[2] = 0;

    sinew_world *world = NULL;
    sinew_voxels *voxels = NULL;
    sinew_body *bar = NULL, *egg = NULL;
    if (sinew_world_create(context, &world_def, &world)) {
        return fail(context, "world");
    }
    if (make_bar(context, world, &bar) || make_egg(context, world, &voxels, &egg)) {
        return fail(context, "body");
    }

    int failures = touch(context, world, bar, "bar", 0) + touch(context, world, egg, "egg", 0.5);

    sinew_world_destroy(world);
    sinew_voxels_destroy(voxels);
    sinew_context_destroy(context);

    return failures;
}
