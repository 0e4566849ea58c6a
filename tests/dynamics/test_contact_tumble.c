// Rigid bodies and rigid frames that tumble into each other at random: no two of them intersect by
// the exact test after any step, and none comes much closer than the gap floor although its
// vertices move on arcs.
#include "support/test.h"
#include "support/touch.h"

#include "base/random.h"
#include "sinew/sinew.h"

#include <math.h>
#include <stdio.h>

enum { BODIES = 4, STEPS = 25, SCENES = TEST_SANITIZED ? 4 : 24 };

typedef struct setting {
    sinew_context *context;
    sinew_mesh *surface;
    sinew_voxels *voxels;
} setting;

static void check(const setting *s, sinew_status status) {
    if (status != SINEW_OK) {
        fail_msg("%s", sinew_context_message(s->context));
    }
}

static setting make_setting(void) {
    setting s = {.surface = NULL};
    sinew_context_def context = sinew_default_context_def();
    context.threads = 1;
    s.context = sinew_context_create(&context);
    assert_non_null(s.context);

    // Bricks of 0.3 m x 0.1 m x 0.1 m.
    sinew_shape_def shape = sinew_default_shape_def();
    sinew_solid_def solid = sinew_default_solid_def();
    sinew_voxel_def grid = sinew_default_voxel_def();
    shape.element = SINEW_ELEMENT_TRIANGLE;
    for (int k = 0; k < 3; k++) {
        shape.size[k] = solid.size[k] = k == 0 ? 0.3 : 0.1;
        shape.cells[k] = k == 0 ? 3 : 1;
        grid.spacing[k] = 0.02;
    }
    check(&s, sinew_mesh_create_shape(s.context, &shape, &s.surface));
    check(&s, sinew_voxels_create_from_solids(s.context, &solid, 1, &grid, &s.voxels));
    return s;
}

static void destroy_setting(setting *s) {
    sinew_voxels_destroy(s->voxels);
    sinew_mesh_destroy(s->surface);
    sinew_context_destroy(s->context);
}

// Around the origin and towards it, turning.
static void place(sn_random *random, int i, double *position, double *rotation, double *velocity,
                  double *spin) {
    double angle = 2 * 3.14159265 * i / BODIES;
    const double out[3] = {cos(angle), sin(angle), sn_random_range(random, -0.2, 0.2)};
    double speed = sn_random_range(random, 0.2, 3);
    for (int k = 0; k < 3; k++) {
        position[k] = 0.32 * out[k];
        velocity[k] = -speed * out[k];
        spin[k] = sn_random_range(random, -15, 15);
    }
    for (int k = 0; k < 4; k++) {
        rotation[k] = sn_random_range(random, -1, 1);
    }
}

static sinew_body *add_body(const setting *s, sinew_world *world, sn_random *random, int i) {
    sinew_body *body;
    if (i % 2 == 0) {
        sinew_rigid_body_def def = sinew_default_rigid_body_def();
        def.surface = s->surface;
        place(random, i, def.position, def.rotation, def.velocity, def.angular_velocity);
        check(s, sinew_rigid_body_create(world, &def, &body));
        return body;
    }

    // Two rigid frames, which bend.
    sinew_frame_node nodes[2] = {{.kind = SINEW_NODE_RIGID, .position = {-0.1, 0, 0}},
                                 {.kind = SINEW_NODE_RIGID, .position = {0.1, 0, 0}}};
    sinew_material_def material = sinew_default_material_def();
    material.young = 1e5;
    sinew_frame_body_def def = sinew_default_frame_body_def();
    def.voxels = s->voxels;
    def.nodes = nodes;
    def.node_count = 2;
    def.materials = &material;
    def.material_count = 1;
    def.surface = s->surface;
    def.blend = i == 1 ? SINEW_BLEND_LINEAR : SINEW_BLEND_DUAL_QUATERNION;
    place(random, i, def.position, def.rotation, def.velocity, def.angular_velocity);
    check(s, sinew_frame_body_create(world, &def, &body));
    return body;
}

// Intersections of different bodies.
static int64_t count_meetings(sinew_body **bodies) {
    int64_t count = test_count_body_crossings(bodies, BODIES);
    for (int i = 0; i < BODIES; i++) {
        count -= test_count_body_crossings(&bodies[i], 1);
    }
    return count;
}

static void test_tumble(void **state) {
    (void)state;
    setting s = make_setting();
    sn_random random = sn_random_seed(18);
    int64_t touching = 0;
    double least = INFINITY;
    int scenes = 0;
    for (int scene = 0; scene < SCENES; scene++) {
        sinew_world *world;
        sinew_world_def def = sinew_default_world_def();
        def.gravity[2] = 0;
        check(&s, sinew_world_create(s.context, &def, &world));
        sinew_contact_def contact = sinew_default_contact_def();
        contact.thickness = 1e-3;
        check(&s, sinew_world_set_contact(world, &contact));

        sinew_body *bodies[BODIES];
        for (int i = 0; i < BODIES; i++) {
            bodies[i] = add_body(&s, world, &random, i);
        }

        // Starts that overlap are not what is asked for.
        bool clear = count_meetings(bodies) == 0;
        for (int n = 0; n < STEPS && clear; n++) {
            check(&s, sinew_world_step(world, NULL));
            sinew_contact_report report = sinew_world_get_contact_report(world);
            touching += report.active > 0;
            least = fmin(least, report.smallest_gap);
            if (count_meetings(bodies) != 0) {
                fail_msg("scene %d intersects after step %d", scene, n + 1);
            }
        }
        scenes += clear;
        sinew_world_destroy(world);
    }

    printf("%d scenes, contact in %d steps, smallest gap %g m\n", scenes, (int)touching, least);
    assert_true(scenes > SCENES / 2);
    // The last floor of a commit: a hundredth of the gap that two bodies keep.
    assert_true(least >= 0.01 * 2e-3 * (1 - 1e-9));
    assert_true(touching > 2 * SCENES);
    destroy_setting(&s);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_tumble)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
