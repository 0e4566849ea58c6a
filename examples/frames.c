// A body of four frames from a closed surface, and a finger that pokes it: where it touches, a
// frame joins the running body, presses a dent, and leaves again.
#include <sinew/sinew.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

static int fail(sinew_context *context, const char *what) {
    fprintf(stderr, "%s: %s\n", what, sinew_context_message(context));
    return 1;
}

static sinew_status step(sinew_world *world, int count) {
    sinew_status status = SINEW_OK;
    while (count-- > 0 && status == SINEW_OK) {
        status = sinew_world_step(world, NULL);
    }
    return status;
}

int main(void) {
    sinew_context_def context_def = sinew_default_context_def();
    sinew_context *context = sinew_context_create(&context_def);
    if (!context) {
        return 1;
    }

    // Triangles from anywhere will do, if they are closed; here an egg, 0.4 m long. Voxels fill it.
    sinew_shape_def shape = sinew_default_shape_def();

    shape.shape = SINEW_SHAPE_SPHERE;
    shape.element = SINEW_ELEMENT_TRIANGLE;
    shape.size[0] = 0.4;
    shape.size[1] = shape.size[2] = 0.3;
    shape.cell_size = 0.02;

    sinew_mesh *egg = NULL;
    if (sinew_mesh_create_shape(context, &shape, &egg)) {
        return fail(context, "surface");
    }

    sinew_labelled_surface labelled = {.mesh = egg, .label = 1};
    sinew_voxel_def grid = sinew_default_voxel_def();

    grid.resolution = 40;
    sinew_voxels *voxels = NULL;
    if (sinew_voxels_create_from_surfaces(context, &labelled, 1, &grid, &voxels, NULL)) {
        return fail(context, "voxels");
    }

    sinew_world_def world_def = sinew_default_world_def();
    sinew_world *world = NULL;
    if (sinew_world_create(context, &world_def, &world)) {
        return fail(context, "world");
    }

    // Frames are placed where they cover the solid well. The surface that was given follows them.
    enum { FRAMES = 4 };

    double places[3 * FRAMES];
    sinew_placement_def placement = sinew_default_placement_def();

    placement.count = FRAMES;
    if (sinew_place_nodes(context, voxels, NULL, 0, &placement, places, NULL)) {
        return fail(context, "placement");
    }

    sinew_frame_node nodes[FRAMES];
    for (int i = 0; i < FRAMES; i++) {
        nodes[i] = (sinew_frame_node){SINEW_NODE_AFFINE,
                                      {places[3 * i], places[3 * i + 1], places[3 * i + 2]}};
    }

    sinew_material_def gel = sinew_default_material_def();
    gel.young = 1e5; // Pa

    sinew_frame_body_def def = sinew_default_frame_body_def();
    def.voxels = voxels;
    def.surface = egg;
    def.nodes = nodes;
    def.node_count = FRAMES;
    def.materials = &gel;
    def.material_count = 1;
    def.stiffness_damping = 0.02; // s

    sinew_body *body = NULL;
    if (sinew_frame_body_create(world, &def, &body)) {
        return fail(context, "body");
    }

    // The lowest frame is held; the others sag under the weight.
    int lowest = 0;
    for (int i = 1; i < FRAMES; i++) {
        lowest = places[3 * i + 2] < places[3 * lowest + 2] ? i : lowest;
    }

    if (sinew_frame_body_hold(body, lowest, SINEW_HOLD_ALL)) {
        return fail(context, "hold");
    }
    if (step(world, 100)) {
        return fail(context, "step");
    }

    // A finger touches the highest point of the surface as it is now.
    double *points = malloc(3 * (size_t)egg->point_count * sizeof *points);
    if (!points) {
        return 1;
    }

    sinew_body_compute_surface(body, points, NULL);
    int32_t top = 0;
    for (int32_t i = 1; i < egg->point_count; i++) {
        top = points[3 * i + 2] > points[3 * top + 2] ? i : top;
    }

    double touch[3] = {points[3 * top], points[3 * top + 1], points[3 * top + 2]};
    printf("%d frames carry %d voxels; the top is at %.1f mm\n", FRAMES,
           sinew_voxels_get_count(voxels), 1000 * touch[2]);

    // A frame joins there, just below the surface. It reaches 0.12 m, so that the rest of the body
    // hardly feels it.
    sinew_frame_insert_def finger = sinew_default_frame_insert_def();

    finger.position[0] = touch[0];
    finger.position[1] = touch[1];
    finger.position[2] = touch[2] - 0.02;
    finger.deformed = true;
    finger.range = 0.12;

    int32_t node;
    if (sinew_frame_body_insert(body, &finger, &node)) {
        return fail(context, "insert");
    }

    sinew_frame_change change;
    if (sinew_frame_body_get_last_change(body, &change)) {
        return fail(context, "change");
    }

    printf("a frame that touches %d voxels and %d points of the surface joins\n",
           change.voxel_count, change.vertex_count);
    if (sinew_frame_body_hold(body, node, SINEW_HOLD_TRANSLATION)) {
        return fail(context, "hold");
    }

    double at[3];
    if (sinew_frame_body_get_node(body, node, at, NULL)) {
        return fail(context, "node");
    }

    for (int i = 0; i < 40; i++) {
        at[2] -= 0.001; // 1 mm a step: 0.1 m/s
        if (sinew_frame_body_move(body, node, at, NULL) || step(world, 1)) {
            return fail(context, "poke");
        }
    }

    double force[3];
    if (sinew_frame_body_get_reaction(body, node, force, NULL)) {
        return fail(context, "reaction");
    }

    sinew_body_compute_surface(body, points, NULL);
    printf("pressed 40 mm down with %.2f N; the top is %.1f mm lower\n", fabs(force[2]),
           1000 * (touch[2] - points[3 * top + 2]));

    // The finger lets go, and its frame leaves.
    if (sinew_frame_body_remove(body, node, 0.2) || step(world, 200)) {
        return fail(context, "remove");
    }

    sinew_body_compute_surface(body, points, NULL);
    double left = touch[2] - points[3 * top + 2];

    printf("two seconds after it is %.1f mm lower\n", 1000 * left);

    free(points);
    sinew_world_destroy(world);
    sinew_voxels_destroy(voxels);
    sinew_mesh_destroy(egg);
    sinew_context_destroy(context);

    return fabs(left) > 0.005;
}
