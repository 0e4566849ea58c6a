// Bad input of contact: numbers that make no sense are refused with a reason; obstacles faster than
// anything, bodies inside one another and torn surfaces do no harm, and a million bodies end with
// an error if memory does.
#include "support/kinds.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static void expect(sinew_context *context, sinew_status status, const char *text) {
    assert_int_equal(status, SINEW_INVALID_ARGUMENT);
    if (!strstr(sinew_context_message(context), text)) {
        fail_msg("\"%s\" does not mention \"%s\"", sinew_context_message(context), text);
    }
}

static void test_numbers(void **state) {
    (void)state;
    test_kinds t = test_kinds_create(TEST_TET4);
    const double bad[] = {-1, NAN, INFINITY};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        sinew_contact_def def = sinew_default_contact_def();
        def.friction = bad[i];
        expect(t.context, sinew_world_set_contact(t.world, &def), "friction");
        def = sinew_default_contact_def();
        def.thickness = bad[i];
        expect(t.context, sinew_world_set_contact(t.world, &def), "thickness");

        sinew_obstacle_def ball = sinew_default_obstacle_def();
        ball.kind = SINEW_OBSTACLE_SPHERE;
        ball.radius = bad[i];
        expect(t.context, sinew_obstacle_create(t.world, &ball, NULL), "radius");
    }
    assert_false(sinew_world_get_contact(t.world, NULL));
    assert_int_equal(sinew_world_get_obstacle_count(t.world), 0);
    test_kinds_destroy(&t);
}

// A ball of 0.1 m crosses the bar, 1 m at a step: it stops in front of it, and the bar stays whole.
static void test_fast_obstacle(void **state) {
    (void)state;
    for (test_kind kind = 0; kind < TEST_POSITIONS; kind++) {
        test_kinds t = test_kinds_create(kind);
        sinew_obstacle_def def = sinew_default_obstacle_def();
        def.kind = SINEW_OBSTACLE_SPHERE;
        def.radius = 0.1;
        def.position[2] = 0.5;
        sinew_obstacle *ball = NULL;
        assert_int_equal(sinew_obstacle_create(t.world, &def, &ball), SINEW_OK);

        int32_t count = sinew_body_get_surface(t.body)->point_count;
        double *x = calloc(3 * (size_t)count, sizeof *x);
        assert_non_null(x);
        for (int i = 0; i < 10; i++) {
            const double target[3] = {0, 0, 0.5 - (i + 1)};
            double now[3];
            assert_int_equal(sinew_obstacle_move(ball, target, def.rotation), SINEW_OK);
            if (sinew_world_step(t.world, NULL) != SINEW_OK) {
                fail_msg("%s: %s", test_kind_name(kind), sinew_context_message(t.context));
            }

            sinew_obstacle_get_pose(ball, now, NULL);
            sinew_body_compute_surface(t.body, x, NULL);
            for (int32_t v = 0; v < count; v++) {
                const double *p = x + 3 * v;
                double distance = hypot(hypot(p[0] - now[0], p[1] - now[1]), p[2] - now[2]);
                if (!(distance > 0.1)) {
                    fail_msg("%s: vertex %d is %g m inside the ball in step %d",
                             test_kind_name(kind), v, 0.1 - distance, i);
                }
            }
        }
        free(x);
        test_kinds_destroy(&t);
    }
}

// A bar at the very place of another: steps succeed, and positions stay finite.
static void test_same_place(void **state) {
    (void)state;
    test_kinds t = test_kinds_create(TEST_TET4);
    sinew_contact_def def = sinew_default_contact_def();
    assert_int_equal(sinew_world_set_contact(t.world, &def), SINEW_OK);
    sinew_body *other = test_kinds_add(&t, TEST_TET4, (double[]){0.01, 0.02, 0.005});
    for (int i = 0; i < 20; i++) {
        if (sinew_world_step(t.world, NULL) != SINEW_OK) {
            fail_msg("%s", sinew_context_message(t.context));
        }
    }
    sinew_measures measures;
    sinew_body_get_measures(other, &measures);
    assert_true(isfinite(measures.kinetic_energy) && isfinite(measures.elastic_energy));
    test_kinds_destroy(&t);
}

// A surface of triangles around the bar of the kinds, with the last triangles left out and one
// triangle without area added.
static sinew_mesh *make_torn_surface(sinew_context *context) {
    sinew_shape_def shape = sinew_default_shape_def();
    shape.element = SINEW_ELEMENT_TRIANGLE;
    shape.size[0] = 1;
    shape.size[1] = shape.size[2] = 0.2;
    shape.cells[0] = 5;
    shape.cells[1] = shape.cells[2] = 1;
    sinew_mesh *whole = NULL, *torn = NULL;
    assert_int_equal(sinew_mesh_create_shape(context, &shape, &whole), SINEW_OK);

    int32_t count = whole->element_count;
    int32_t *indices = malloc(3 * (size_t)count * sizeof *indices);
    assert_non_null(indices);
    memcpy(indices, whole->indices, 3 * (size_t)count * sizeof *indices);
    indices[3 * (count - 1) + 2] = indices[3 * (count - 1) + 1]; // without area
    sinew_mesh part = *whole;
    part.indices = indices;
    assert_int_equal(sinew_mesh_copy(context, &part, &torn), SINEW_OK);
    free(indices);
    sinew_mesh_destroy(whole);
    return torn;
}

// A body with an open surface, one triangle of which has no area, lands on the floor like others:
// its vertices stay above it.
static void test_torn_surface(void **state) {
    (void)state;
    test_kinds t = test_kinds_create_world();
    sinew_mesh *torn = make_torn_surface(t.context);
    sinew_shape_def shape = sinew_default_shape_def();
    shape.size[0] = 1;
    shape.size[1] = shape.size[2] = 0.2;
    shape.cells[0] = 5;
    shape.cells[1] = shape.cells[2] = 1;
    sinew_mesh *mesh = NULL;
    assert_int_equal(sinew_mesh_create_shape(t.context, &shape, &mesh), SINEW_OK);

    sinew_body_def def = sinew_default_body_def();
    def.mesh = mesh;
    def.surface = torn;
    def.position[2] = 0.11;
    def.velocity[2] = -1;
    sinew_body *body = NULL;
    sinew_obstacle_def floor = sinew_default_obstacle_def();
    assert_int_equal(sinew_body_create(t.world, &def, &body), SINEW_OK);
    assert_int_equal(sinew_obstacle_create(t.world, &floor, NULL), SINEW_OK);

    double *x = calloc(3 * (size_t)torn->point_count, sizeof *x);
    assert_non_null(x);
    bool touched = false;
    for (int i = 0; i < 20; i++) {
        if (sinew_world_step(t.world, NULL) != SINEW_OK) {
            fail_msg("%s", sinew_context_message(t.context));
        }
        touched = touched || sinew_world_get_contact_report(t.world).active > 0;
        sinew_body_compute_surface(body, x, NULL);
        for (int32_t v = 0; v < torn->point_count; v++) {
            assert_true(x[3 * v + 2] > 0);
        }
    }
    assert_true(touched);
    free(x);
    sinew_mesh_destroy(mesh);
    sinew_mesh_destroy(torn);
    test_kinds_destroy(&t);
}

// A small cube inside a large one, with nothing crossing: steps succeed, and both stay finite and
// where they are, since no force can tell which way is out.
static void test_body_inside(void **state) {
    (void)state;
    test_kinds t = test_kinds_create_world();
    sinew_contact_def contact = sinew_default_contact_def();
    assert_int_equal(sinew_world_set_contact(t.world, &contact), SINEW_OK);
    sinew_body *bodies[2];
    for (int i = 0; i < 2; i++) {
        sinew_shape_def shape = sinew_default_shape_def();
        shape.size[0] = shape.size[1] = shape.size[2] = i == 0 ? 1 : 0.2;
        shape.cells[0] = shape.cells[1] = shape.cells[2] = 2;
        sinew_mesh *mesh = NULL;
        assert_int_equal(sinew_mesh_create_shape(t.context, &shape, &mesh), SINEW_OK);
        sinew_body_def def = sinew_default_body_def();
        def.mesh = mesh;
        assert_int_equal(sinew_body_create(t.world, &def, &bodies[i]), SINEW_OK);
        sinew_mesh_destroy(mesh);
    }

    for (int i = 0; i < 20; i++) {
        if (sinew_world_step(t.world, NULL) != SINEW_OK) {
            fail_msg("%s", sinew_context_message(t.context));
        }
    }
    for (int i = 0; i < 2; i++) {
        sinew_measures measures;
        sinew_body_get_measures(bodies[i], &measures);
        assert_true(isfinite(measures.kinetic_energy) && measures.kinetic_energy < 1e-3);
    }
    test_kinds_destroy(&t);
}

// Memory that ends after so many bytes.
typedef struct purse {
    size_t left;
} purse;

static void *spend(void *user, size_t size, size_t alignment) {
    purse *p = user;
    if (size > p->left) {
        return NULL;
    }
    p->left -= size;
    return aligned_alloc(alignment, (size + alignment - 1) / alignment * alignment);
}

static void give_back(void *user, void *memory, size_t size) {
    purse *p = user;
    p->left += memory ? size : 0;
    free(memory);
}

// Puts tets in rows above a floor until there are `most`, or memory ends.
static sinew_status add_tets(sinew_world *world, int32_t most, int32_t *count) {
    static const double points[12] = {0, 0, 0, 0.1, 0, 0, 0, 0.1, 0, 0, 0, 0.1};
    static const int32_t indices[4] = {0, 1, 2, 3};
    const sinew_mesh mesh = {.element = SINEW_ELEMENT_TET4,
                             .points = points,
                             .point_count = 4,
                             .indices = indices,
                             .element_count = 1};
    for (*count = 0; *count < most; (*count)++) {
        sinew_body_def def = sinew_default_body_def();
        def.mesh = &mesh;
        def.position[0] = 0.2 * (*count % 100);
        def.position[1] = 0.2 * (*count / 100);
        def.position[2] = 1e-3;
        sinew_body *body;
        sinew_status status = sinew_body_create(world, &def, &body);
        if (status != SINEW_OK) {
            return status;
        }
    }
    return SINEW_OK;
}

// Many bodies: memory grows in proportion; where it ends, the call says so and the world goes on
// with those that it has.
static void test_many_bodies(void **state) {
    (void)state;
    size_t used[2];
    for (int i = 0; i < 2; i++) {
        test_kinds t = test_kinds_create_world();
        int32_t count, wanted = i == 0 ? 500 : 2000;
        sinew_obstacle_def floor = sinew_default_obstacle_def();
        assert_int_equal(sinew_obstacle_create(t.world, &floor, NULL), SINEW_OK);
        assert_int_equal(add_tets(t.world, wanted, &count), SINEW_OK);
        assert_int_equal(sinew_world_step(t.world, NULL), SINEW_OK);
        used[i] = sinew_context_get_memory(t.context);
        test_kinds_destroy(&t);
    }
    assert_true((double)used[1] < 4.4 * (double)used[0]);

    // Enough for some of a million.
    purse p = {.left = 20u << 20};
    sinew_context_def def = sinew_default_context_def();
    def.allocator.allocate = spend;
    def.allocator.release = give_back;
    def.allocator.user = &p;
    sinew_context *context = sinew_context_create(&def);
    sinew_world_def world_def = sinew_default_world_def();
    sinew_world *world = NULL;
    int32_t count;
    assert_non_null(context);
    assert_int_equal(sinew_world_create(context, &world_def, &world), SINEW_OK);
    assert_int_equal(add_tets(world, 1000000, &count), SINEW_OUT_OF_MEMORY);
    assert_true(count > 100 && count < 1000000);
    assert_int_equal(sinew_world_get_body_count(world), count);
    sinew_status status = sinew_world_step(world, NULL); // may need memory that is not there
    assert_true(status == SINEW_OK || status == SINEW_OUT_OF_MEMORY);
    sinew_world_destroy(world);
    sinew_context_destroy(context);
    assert_int_equal(p.left, 20u << 20);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_numbers),     cmocka_unit_test(test_fast_obstacle),
        cmocka_unit_test(test_same_place),  cmocka_unit_test(test_torn_surface),
        cmocka_unit_test(test_body_inside), cmocka_unit_test(test_many_bodies),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
