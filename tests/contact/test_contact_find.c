// The candidates of the search compared with all pairs of features, one by one.
#include "closest_reference.h"
#include "contact_support.h"

#include "support/hash.h"

#include <stdlib.h>

// Checks of every pair of features, found or not.
typedef struct census {
    touch_scene *t;
    const double *x, *y;
    double reach;
    uint64_t *keys;     // of the pairs found, ascending
    double *samples[4]; // positions at random in the boxes
    int64_t wanted, missing;
} census;

static int compare_keys(const void *a, const void *b) {
    uint64_t p = *(const uint64_t *)a, q = *(const uint64_t *)b;
    return (p > q) - (p < q);
}

static double distance_at(const sn_contact_pair *pair, const double *x) {
    sn_contact_pair measured = *pair;
    sn_vec3 p[4];
    for (int k = 0; k < 4; k++) {
        p[k] = sn_load3(sn_at3(x, pair->vertex[k]));
    }
    closest_reference(&measured, p);
    return measured.distance;
}

// Whether the triangles that own two features of a part share a vertex: then they may be left out
// although they are close.
static bool are_neighbors(const touch_scene *t, const sn_contact_pair *pair) {
    const sn_contact_part *part = &t->scene->parts[pair->part[0]];
    const sn_contact_shape *shape = part->shape;
    if (pair->part[0] != pair->part[1]) {
        return false;
    }

    int32_t a, b;
    if (pair->kind == SN_CONTACT_VERTEX_TRIANGLE) {
        a = shape->vertex_owner[pair->feature[0] - part->first_vertex];
        b = pair->feature[1] - part->first_triangle;
    } else {
        a = shape->edge_faces[2 * (pair->feature[0] - part->first_edge)];
        b = shape->edge_faces[2 * (pair->feature[1] - part->first_edge)];
    }

    for (int i = 0; i < 9; i++) {
        if (sn_at3(shape->triangles, a)[i / 3] == sn_at3(shape->triangles, b)[i % 3]) {
            return true;
        }
    }
    return false;
}

// A pair that is not listed is not close now or at y, and cannot touch anywhere in the boxes.
static void visit_pair(census *c, const sn_contact_pair *pair) {
    const uint8_t *held = c->t->scene->held;
    int first_side = sn_contact_first_side(pair->kind);
    bool all_held = true, shared = false;
    for (int i = 0; i < 4; i++) {
        all_held = all_held && held[pair->vertex[i]];
        for (int k = 0; k < i; k++) {
            shared =
                shared || (k < first_side && i >= first_side && pair->vertex[i] == pair->vertex[k]);
        }
    }

    uint64_t key = sn_contact_pair_key(pair);
    bool found =
        bsearch(&key, c->keys, (size_t)c->t->scene->pair_count, sizeof key, compare_keys) != NULL;
    if (all_held || shared) {
        assert_false(found);
        return;
    }

    bool close = distance_at(pair, c->x) <= c->reach || distance_at(pair, c->y) <= c->reach;
    c->wanted += close;
    if (found) {
        return;
    }
    c->missing += close;
    assert_true(!close || are_neighbors(c->t, pair));
    for (int k = 0; k < 4; k++) {
        assert_true(distance_at(pair, c->samples[k]) > 0);
    }
}

static void visit_parts(census *c, int32_t a, int32_t b) {
    const sn_contact_part *p = &c->t->scene->parts[a], *q = &c->t->scene->parts[b];
    int32_t first = p->first_vertex, second = q->first_vertex;
    for (int32_t v = 0; v < p->shape->vertex_count; v++) {
        if (p->shape->vertex_owner[v] < 0) {
            continue;
        }
        for (int32_t k = 0; k < q->shape->triangle_count; k++) {
            const int32_t *corner = sn_at3(q->shape->triangles, k);
            sn_contact_pair pair = {
                .kind = SN_CONTACT_VERTEX_TRIANGLE,
                .part = {a, b},
                .feature = {first + v, q->first_triangle + k},
                .vertex = {first + v, second + corner[0], second + corner[1], second + corner[2]}};
            visit_pair(c, &pair);
        }
    }

    if (a > b) {
        return;
    }
    for (int32_t e = 0; e < p->shape->edge_count; e++) {
        for (int32_t k = a == b ? e + 1 : 0; k < q->shape->edge_count; k++) {
            const int32_t *s = p->shape->edges + 2 * (size_t)e;
            const int32_t *r = q->shape->edges + 2 * (size_t)k;
            sn_contact_pair pair = {
                .kind = SN_CONTACT_EDGE_EDGE,
                .part = {a, b},
                .feature = {p->first_edge + e, q->first_edge + k},
                .vertex = {first + s[0], first + s[1], second + r[0], second + r[1]}};
            visit_pair(c, &pair);
        }
    }
}

// A random point of each vertex's box, corners preferred; drifts are 0 here, so that all boxes are
// in space.
static double *sample_boxes(const touch_scene *t, sn_arena *arena, sn_random *random) {
    double *at = SN_PUSH(arena, double, 3 * (size_t)t->vertex_count);
    for (int32_t v = 0; v < t->vertex_count; v++) {
        sn_box box = t->scene->boxes[v];
        sn_vec3 size = sn_box_size(box);
        double s[3];
        for (int k = 0; k < 3; k++) {
            s[k] = fmin(fmax(sn_random_range(random, -0.5, 1.5), 0), 1);
        }
        sn_store3(sn_at3(at, v),
                  sn_add(box.lower, sn_v3(s[0] * size.x, s[1] * size.y, s[2] * size.z)));
    }
    return at;
}

// The number of pairs left out although they are close.
static int64_t check_all_pairs(touch_scene *t, const double *y, double reach) {
    assert_ok(t->context, sn_contact_find(t->scene, t->x, y, reach));
    sn_arena arena = sn_arena_create(t->context);
    sn_random random = sn_random_seed(17);
    census c = {.t = t, .x = t->x, .y = y, .reach = reach};
    int32_t count = t->scene->pair_count;
    assert_true(count > 0);
    for (int k = 0; k < 4; k++) {
        c.samples[k] = sample_boxes(t, &arena, &random);
    }

    c.keys = SN_PUSH(&arena, uint64_t, count);
    for (int32_t i = 0; i < count; i++) {
        const sn_contact_pair *pair = &t->scene->pairs[i];
        assert_int_equal(pair->kind == SN_CONTACT_EDGE_EDGE, i >= t->scene->vertex_triangle_count);
        c.keys[i] = sn_contact_pair_key(pair);
    }
    qsort(c.keys, (size_t)count, sizeof *c.keys, compare_keys);
    for (int32_t i = 1; i < count; i++) {
        assert_true(c.keys[i] != c.keys[i - 1]);
    }

    for (int32_t a = 0; a < t->part_count; a++) {
        for (int32_t b = 0; b < t->part_count; b++) {
            if (!t->scene->filter || t->scene->filter(t->scene->filter_user, a, b)) {
                visit_parts(&c, a, b);
            }
        }
    }
    assert_true(c.wanted > 0);
    sn_arena_destroy(&arena);
    return c.missing;
}

static void test_all_pairs_are_found(void **state) {
    (void)state;
    sinew_context *context = test_context(1);
    sn_random random = sn_random_seed(7);

    for (int round = 0; round < 12; round++) {
        touch_scene t = touch_begin(context);
        touch_add_shape(&t, SINEW_SHAPE_SPHERE, 1, 5, sn_v3(0, 0, 0));
        touch_add_shape(&t, SINEW_SHAPE_BOX, 1, 3, sn_v3(1.02, 0.1, 0));
        touch_add_soup(&t, &random, 40, 30, 1);
        touch_create(&t);
        for (int32_t v = 0; v < t.vertex_count; v++) {
            t.scene->held[v] = round % 3 == 2 && sn_random_u32(&random) % 2;
        }

        // One held vertex each, so that nothing drifts.
        for (int32_t p = 0; p < t.part_count; p++) {
            t.scene->held[t.scene->parts[p].first_vertex] = 1;
        }

        double *y = SN_PUSH(&t.arena, double, 3 * (size_t)t.vertex_count);
        random_motion(&t, &random, round % 2 ? 0.1 : 0, round % 2 ? 0.02 : 0, y);
        check_all_pairs(&t, y, 0.02);
        touch_end(&t);
    }

    sinew_context_destroy(context);
}

// A closed surface whose vertices move little has no pairs with itself, even where the boxes of its
// features overlap; where it is creased it has.
static void test_calm_surface_needs_no_pairs(void **state) {
    (void)state;
    sinew_context *context = test_context(1);
    int32_t own[2];
    for (int creased = 0; creased < 2; creased++) {
        touch_scene t = touch_begin(context);
        touch_add_shape(&t, SINEW_SHAPE_BOX, 1, 6, sn_v3(0, 0, 0));
        touch_add_shape(&t, SINEW_SHAPE_SPHERE, 0.5, 6, sn_v3(0.1, 0.05, 0.755));
        touch_create(&t);

        // Fold a part of the upper face back over itself.
        for (int32_t v = 0; v < t.vertex_count && creased; v++) {
            double *x = sn_at3(t.x, v);
            if (t.scene->vertex_part[v] == 0 && x[2] > 0.49 && x[0] < -0.49) {
                x[0] = -0.1;
                x[2] = 0.52;
            }
        }

        check_all_pairs(&t, t.x, 0.02);
        own[creased] = 0;
        for (int32_t i = 0; i < t.scene->pair_count; i++) {
            const sn_contact_pair *pair = &t.scene->pairs[i];
            own[creased] += pair->part[0] == pair->part[1];
        }
        touch_end(&t);
    }

    assert_int_equal(own[0], 0);
    assert_true(own[1] > 20);
    sinew_context_destroy(context);
}

static bool only_other_parts(void *user, int32_t a, int32_t b) {
    (void)user;
    return a != b && a + b != 2;
}

static void test_filter_is_obeyed(void **state) {
    (void)state;
    sinew_context *context = test_context(1);
    touch_scene t = touch_begin(context);
    for (int i = 0; i < 4; i++) {
        touch_add_shape(&t, SINEW_SHAPE_BOX, 1, 2, sn_v3(0.3 * i, 0.2 * i, 0));
    }
    touch_create(&t);
    t.scene->filter = only_other_parts;
    check_all_pairs(&t, t.x, 0.01);
    for (int32_t i = 0; i < t.scene->pair_count; i++) {
        const sn_contact_pair *pair = &t.scene->pairs[i];
        assert_true(only_other_parts(NULL, pair->part[0], pair->part[1]));
    }
    touch_end(&t);
    sinew_context_destroy(context);
}

// A held vertex and a triangle with one held corner can still meet.
static void test_partly_held_pairs_stay(void **state) {
    (void)state;
    sinew_context *context = test_context(1);
    const double points[9] = {0, 0, 0, 1, 0, 0, 0, 1, 0};
    const int32_t triangle[3] = {0, 1, 2};
    sinew_mesh mesh = {.points = points,
                       .point_count = 3,
                       .element = SINEW_ELEMENT_TRIANGLE,
                       .indices = triangle,
                       .element_count = 1};
    touch_scene t = touch_begin(context);
    touch_add(&t, &mesh, sn_v3(0, 0, 0));
    touch_add(&t, &mesh, sn_v3(0.2, 0.2, 0.01));
    touch_create(&t);

    // All of the second triangle and one corner of the first.
    t.scene->held[0] = t.scene->held[3] = t.scene->held[4] = t.scene->held[5] = 1;
    assert_ok(context, sn_contact_find(t.scene, t.x, t.x, 0.05));
    bool found = false;
    for (int32_t i = 0; i < t.scene->vertex_triangle_count; i++) {
        const sn_contact_pair *pair = &t.scene->pairs[i];
        found = found || (pair->feature[0] == 3 && pair->feature[1] == 0);
    }
    assert_true(found);

    t.scene->held[1] = t.scene->held[2] = 1;
    assert_ok(context, sn_contact_find(t.scene, t.x, t.x, 0.05));
    assert_int_equal(t.scene->pair_count, 0);

    touch_end(&t);
    sinew_context_destroy(context);
}

// Motions beyond all measure do not list every pair there is.
static void test_long_motions_are_shortened(void **state) {
    (void)state;
    sinew_context *context = test_context(1);
    sn_random random = sn_random_seed(12);
    touch_scene t = touch_begin(context);
    touch_add_shape(&t, SINEW_SHAPE_SPHERE, 1, 16, sn_v3(0, 0, 0));
    touch_add_shape(&t, SINEW_SHAPE_SPHERE, 1, 16, sn_v3(1.05, 0, 0));
    touch_create(&t);
    double *y = SN_PUSH(&t.arena, double, 3 * (size_t)t.vertex_count);

    const double sizes[4] = {0.01, 1, 1e3, 1e300};
    for (int i = 0; i < 4; i++) {
        random_motion(&t, &random, sizes[i], sizes[i], y);
        assert_ok(context, sn_contact_find(t.scene, t.x, y, 0.06));
        print_message("motions of %g m: %.2g covered, %d pairs\n", sizes[i], t.scene->covered,
                      t.scene->pair_count);
        assert_true(i == 0 ? t.scene->covered == 1 : t.scene->covered < 1);
        assert_true(t.scene->pair_count > 0 &&
                    t.scene->pair_count < 64 * t.vertex_count + (1 << 14));
        for (int32_t k = 0; k < t.scene->pair_count; k++) {
            assert_true(t.scene->pairs[k].vertex[3] < t.vertex_count);
        }
    }
    touch_end(&t);
    sinew_context_destroy(context);
}

// A part that stands still keeps its boxes: the pairs are the same as if it were fitted again.
static void test_still_parts(void **state) {
    (void)state;
    sinew_context *context = test_context(1);
    touch_scene t = touch_begin(context);
    touch_add_shape(&t, SINEW_SHAPE_BOX, 1, 6, sn_v3(0, 0, 0));
    touch_add_shape(&t, SINEW_SHAPE_SPHERE, 1, 8, sn_v3(0.1, 0.2, 1.01));
    touch_create(&t);
    for (int32_t v = 0; v < t.shapes[0]->vertex_count; v++) {
        t.scene->held[v] = 1;
    }

    for (int round = 0; round < 6; round++) {
        double reach = round < 3 ? 0.05 : 0.08;
        sn_vec3 move = sn_v3(0.01 * round, 0, -0.001);
        for (int32_t v = t.scene->parts[1].first_vertex; v < t.vertex_count; v++) {
            sn_add_to3(sn_at3(t.x, v), move);
        }

        uint64_t hash[2];
        for (int still = 0; still < 2; still++) {
            t.scene->parts[0].still = still;
            assert_ok(context, sn_contact_find(t.scene, t.x, t.x, reach));
            assert_true(t.scene->pair_count > 10);
            hash[still] = TEST_HASH_START;
            for (int32_t i = 0; i < t.scene->pair_count; i++) {
                uint64_t key = sn_contact_pair_key(&t.scene->pairs[i]);
                hash[still] = test_hash(hash[still], &key, sizeof key);
            }
        }
        assert_true(hash[0] == hash[1]);
    }
    touch_end(&t);
    sinew_context_destroy(context);
}

static uint64_t find_and_hash(sinew_context *context, void *user) {
    (void)user;
    sn_random random = sn_random_seed(3);
    touch_scene t = touch_begin(context);
    for (int i = 0; i < 4; i++) {
        touch_add_shape(&t, SINEW_SHAPE_SPHERE, 1, 14, sn_v3(0.95 * i, 0.1 * i, 0.05 * i));
    }
    touch_create(&t);
    double *y = SN_PUSH(&t.arena, double, 3 * (size_t)t.vertex_count);
    random_motion(&t, &random, 0.05, 0.01, y);

    uint64_t hash = TEST_HASH_START;
    assert_ok(context, sn_contact_find(t.scene, t.x, y, 0.02));
    sn_contact_measure(t.scene, t.x);
    for (int32_t i = 0; i < t.scene->pair_count; i++) {
        const sn_contact_pair *pair = &t.scene->pairs[i];
        uint64_t key = sn_contact_pair_key(pair);
        hash = test_hash(hash, &key, sizeof key);
        hash = test_hash(hash, pair->b, sizeof pair->b);
        hash = test_hash(hash, &pair->n, sizeof pair->n);
        hash = test_hash(hash, &pair->usable, sizeof pair->usable);
    }

    // A second search allocates nothing.
    int64_t allocations = context->allocations;
    assert_ok(context, sn_contact_find(t.scene, t.x, y, 0.02));
    sn_contact_measure(t.scene, t.x);
    assert_int_equal(context->allocations, allocations);

    touch_end(&t);
    return hash;
}

static void test_threads_and_allocations(void **state) {
    (void)state;
    test_over_threads("pairs", find_and_hash, NULL);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_all_pairs_are_found),
        cmocka_unit_test(test_calm_surface_needs_no_pairs),
        cmocka_unit_test(test_long_motions_are_shortened),
        cmocka_unit_test(test_still_parts),
        cmocka_unit_test(test_filter_is_obeyed),
        cmocka_unit_test(test_partly_held_pairs_stay),
        cmocka_unit_test(test_threads_and_allocations),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
