// A user's program that uses only the installed tree. One tetrahedron falls freely for a tenth of a
// second.
#include <sinew/sinew.h>

#include <math.h>
#include <stdio.h>

int main(void) {
    const double points[] = {0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0, 1};
    const int32_t indices[] = {0, 1, 2, 3};
    const sinew_mesh mesh = {points, 4, SINEW_ELEMENT_TET4, indices, 1, NULL};

    sinew_context_def context_def = sinew_default_context_def();
    sinew_context *context = sinew_context_create(&context_def);
    if (!context) {
        return 1;
    }

    sinew_world_def world_def = sinew_default_world_def();
    world_def.step = 0.05;

    sinew_world *world = NULL;
    sinew_body_def body_def = sinew_default_body_def();

    body_def.mesh = &mesh;
    sinew_body *body = NULL;
    if (sinew_world_create(context, &world_def, &world) ||
        sinew_body_create(world, &body_def, &body) || sinew_world_step(world, NULL) ||
        sinew_world_step(world, NULL)) {
        fprintf(stderr, "%s\n", sinew_context_message(context));
        return 1;
    }

    // Implicit Euler falls g h^2 (1 + 2).
    double fallen = -sinew_body_get_positions(body)[2];
    bool right = fabs(fallen - 9.81 * 0.05 * 0.05 * 3) < 1e-6;
    if (!right) {
        fprintf(stderr, "fell by %g m\n", fallen);
    }

    sinew_world_destroy(world);
    sinew_context_destroy(context);
    printf("sinew %s\n", sinew_version());

    return !right;
}
