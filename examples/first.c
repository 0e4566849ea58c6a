// A rubber bar, held at one end, bends under its own weight: a mesh, a world, a body, some steps.
#include <sinew/sinew.h>

#include <stdio.h>

static int fail(sinew_context *context, const char *what) {
    fprintf(stderr, "%s: %s\n", what, sinew_context_message(context));
    return 1;
}

int main(void) {
    sinew_context_def context_def = sinew_default_context_def();
    sinew_context *context = sinew_context_create(&context_def);
    if (!context) {
        return 1;
    }

    // 1 m long, 0.2 m by 0.2 m thick, in cells of 0.05 m.
    sinew_shape_def shape = sinew_default_shape_def();

    shape.size[0] = 1;
    shape.size[1] = shape.size[2] = 0.2;
    shape.cell_size = 0.05;

    sinew_mesh *mesh = NULL;
    if (sinew_mesh_create_shape(context, &shape, &mesh)) {
        return fail(context, "mesh");
    }

    sinew_world_def world_def = sinew_default_world_def();
    sinew_world *world = NULL;
    if (sinew_world_create(context, &world_def, &world)) {
        return fail(context, "world");
    }

    sinew_material_def rubber = sinew_default_material_def();
    rubber.young = 5e5;    // Pa
    rubber.density = 1000; // kg/m^3

    sinew_body_def body_def = sinew_default_body_def();
    body_def.mesh = mesh;
    body_def.materials = &rubber;
    body_def.material_count = 1;
    body_def.stiffness_damping = 0.02; // s

    sinew_body *bar = NULL;
    if (sinew_body_create(world, &body_def, &bar)) {
        return fail(context, "body");
    }

    // Hold the end at x = -0.5, and remember a node at the other one.
    const double *rest = sinew_body_get_rest_positions(bar);
    int32_t tip = 0;

    for (int32_t node = 0; node < sinew_body_get_node_count(bar); node++) {
        if (rest[3 * node] < -0.499 && sinew_body_fix_nodes(bar, &node, 1, SINEW_AXIS_ALL)) {
            return fail(context, "fix");
        }
        if (rest[3 * node] > 0.499) {
            tip = node;
        }
    }

    printf("sinew %s: a bar of %d tetrahedra\n", sinew_version(),
           sinew_body_get_element_count(bar));
    for (int step = 1; step <= 100; step++) {
        sinew_step_report report;
        if (sinew_world_step(world, &report)) {
            return fail(context, "step");
        }
        if (step % 20) {
            continue;
        }

        double z = sinew_body_get_positions(bar)[3 * tip + 2] -
                   sinew_body_get_rest_positions(bar)[3 * tip + 2];

        printf("after %.1f s the free end is %.0f mm lower\n", sinew_world_get_time(world),
               -1000 * z);
    }

    sinew_world_destroy(world);
    sinew_mesh_destroy(mesh);
    sinew_context_destroy(context);

    return 0;
}
