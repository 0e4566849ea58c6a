// Closest points in blocks of eight compared with one by one, for every instruction set, and the
// normal cones.
#include "closest_reference.h"
#include "contact_support.h"

static const double corners_of_two[18] = {0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0, 1, 1, 0, 1, 0, 1, 1};

static touch_scene two_triangles(sinew_context *context) {
    const int32_t triangle[3] = {0, 1, 2};
    sinew_mesh mesh = {.points = corners_of_two,
                       .point_count = 3,
                       .element = SINEW_ELEMENT_TRIANGLE,
                       .indices = triangle,
                       .element_count = 1};
    touch_scene t = touch_begin(context);
    touch_add(&t, &mesh, sn_v3(0, 0, 0));
    touch_add(&t, &mesh, sn_v3(0, 0, 1));
    touch_create(&t);
    assert_ok(context, sn_contact_find(t.scene, t.x, t.x, 1000));
    return t;
}

// Positions in general, on a coarse lattice (many parallel edges and flat triangles), and
// coincident.
static void set_positions(touch_scene *t, sn_random *random, int trial) {
    for (int i = 0; i < 18; i++) {
        double lattice = (double)(sn_random_u32(random) % 3);
        t->x[i] = trial % 2 ? lattice : sn_random_range(random, -1, 1);
    }
    if (trial % 5 == 0) {
        sn_store3(sn_at3(t->x, 4), sn_load3(sn_at3(t->x, 3)));
    }
}

static void test_blocks_agree(void **state) {
    (void)state;
    for (sn_isa isa = 0; isa < SN_ISA_COUNT; isa++) {
        if (!sn_isa_available(isa)) {
            continue;
        }

        sinew_context *context = test_context(1);
        context->isa = isa;
        touch_scene t = two_triangles(context);
        sn_random random = sn_random_seed(1);
        double worst = 0;
        for (int trial = 0; trial < 4000; trial++) {
            set_positions(&t, &random, trial);
            sn_contact_measure(t.scene, t.x);
            for (int32_t i = 0; i < t.scene->pair_count; i++) {
                const sn_contact_pair *pair = &t.scene->pairs[i];
                sn_contact_pair expected = *pair;
                sn_vec3 p[4], d = {0, 0, 0};
                double sum = 0;
                for (int k = 0; k < 4; k++) {
                    p[k] = sn_load3(sn_at3(t.x, pair->vertex[k]));
                    d = sn_madd(d, pair->b[k], p[k]);
                    sum += pair->b[k];
                }

                // Equal distances may belong to different points, so the points are not compared:
                // only that they are as close, and lie on the features.
                closest_reference(&expected, p);
                worst = fmax(worst, fabs(pair->distance - expected.distance));
                worst = fmax(worst, fabs(sn_length(d) - pair->distance));
                assert_true(fabs(sum) < 1e-12);
                for (int k = 0; k < 4; k++) {
                    bool first = k < sn_contact_first_side(pair->kind);
                    assert_true(first ? pair->b[k] >= 0 : pair->b[k] <= 0);
                }
                double length = sn_length(pair->n);
                assert_true(pair->distance > 0 ? fabs(length - 1) < 1e-12 : length == 0);
            }
        }

        // Nearly flat triangles lose digits with the square of their sine.
        print_message("%s: distances differ by %.2g\n", sn_isa_name(isa), worst);
        assert_true(worst < 1e-9);
        touch_end(&t);
        sinew_context_destroy(context);
    }
}

// Two boxes face to face, one offset: every usable pair pushes along the common normal, and
// together they cover the faces. Neighbouring faces and edges give no ghosts.
static void test_cones_of_flat_faces(void **state) {
    (void)state;
    sinew_context *context = test_context(1);
    touch_scene t = touch_begin(context);
    touch_add_shape(&t, SINEW_SHAPE_BOX, 1, 5, sn_v3(0, 0, 0));
    touch_add_shape(&t, SINEW_SHAPE_BOX, 0.7, 4, sn_v3(0.033, 0.021, 0.85 + 0.01));
    touch_create(&t);
    assert_ok(context, sn_contact_find(t.scene, t.x, t.x, 0.05));
    sn_contact_measure(t.scene, t.x);

    int32_t vertices = 0, edges = 0, ghosts = 0;
    for (int32_t i = 0; i < t.scene->pair_count; i++) {
        const sn_contact_pair *pair = &t.scene->pairs[i];
        if (!pair->usable) {
            ghosts += pair->part[0] != pair->part[1] && pair->distance < 0.05;
            continue;
        }
        assert_int_not_equal(pair->part[0], pair->part[1]);
        assert_true(fabs(pair->n.x) < 1e-9 && fabs(pair->n.y) < 1e-9);
        assert_true((pair->part[0] == 1) == (pair->n.z > 0));
        vertices += pair->kind == SN_CONTACT_VERTEX_TRIANGLE;
        edges += pair->kind == SN_CONTACT_EDGE_EDGE;
    }

    // 25 vertices of the upper box, and those of the lower box below it.
    assert_in_range(vertices, 25 + 9, 25 + 16);
    assert_true(edges > 20);
    assert_true(ghosts > 50);
    touch_end(&t);
    sinew_context_destroy(context);
}

// A thin plate does not touch itself through its inside; an open sheet is touched from both sides.
static void test_inside_and_outside(void **state) {
    (void)state;
    sinew_context *context = test_context(1);
    touch_scene t = touch_begin(context);
    sinew_shape_def def = sinew_default_shape_def();
    def.element = SINEW_ELEMENT_TRIANGLE;
    def.size[2] = 0.01;
    def.cells[0] = def.cells[1] = 4;
    def.cells[2] = 1;
    sinew_mesh *plate = make_shape(context, &def);
    touch_add(&t, plate, sn_v3(0, 0, 0));
    sinew_mesh_destroy(plate);

    touch_create(&t);
    assert_ok(context, sn_contact_find(t.scene, t.x, t.x, 0.05));
    assert_true(t.scene->pair_count > 50);
    sn_contact_measure(t.scene, t.x);
    for (int32_t i = 0; i < t.scene->pair_count; i++) {
        assert_false(t.scene->pairs[i].usable);
    }
    touch_end(&t);

    def.shape = SINEW_SHAPE_RECTANGLE;
    for (int below = 0; below < 2; below++) {
        t = touch_begin(context);
        sinew_mesh *sheet = make_shape(context, &def);
        touch_add(&t, sheet, sn_v3(0, 0, 0));
        touch_add_shape(&t, SINEW_SHAPE_BOX, 0.3, 2, sn_v3(0.01, 0.02, below ? -0.16 : 0.16));
        sinew_mesh_destroy(sheet);
        touch_create(&t);

        assert_ok(context, sn_contact_find(t.scene, t.x, t.x, 0.05));
        sn_contact_measure(t.scene, t.x);
        int32_t usable = 0;
        for (int32_t i = 0; i < t.scene->pair_count; i++) {
            usable += t.scene->pairs[i].usable;
        }
        assert_true(usable >= 9);
        touch_end(&t);
    }
    sinew_context_destroy(context);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_blocks_agree),
        cmocka_unit_test(test_cones_of_flat_faces),
        cmocka_unit_test(test_inside_and_outside),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
