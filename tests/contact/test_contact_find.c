// The candidates of the search compared with all pairs of features, one by one.
#include "contact_support.h"

#include "support/hash.h"

#include <stdlib.h>

static sn_box vertex_box(const double *x, const double *y, int32_t v, double reach) {
    sn_vec3 from = sn_load3(sn_at3(x, v));
    sn_vec3 to = sn_load3(sn_at3(y, v));
    sn_box box = {sn_min3(from, to), sn_max3(from, to)};
    return sn_box_grown(box, 0.5 * reach + 0.1 * sn_distance(from, to));
}

static bool boxes_meet(const sn_box *boxes, const int32_t *v, int first_side) {
    sn_box a = sn_box_empty(), b = sn_box_empty();
    for (int k = 0; k < 4; k++) {
        if (k < first_side) {
            a = sn_box_union(a, boxes[v[k]]);
        } else {
            b = sn_box_union(b, boxes[v[k]]);
        }
    }
    return sn_box_overlaps(a, b);
}

// Whether four vertices of two features must be listed.
static bool is_wanted(const touch_scene *t, const sn_box *boxes, const int32_t *v, int first_side) {
    bool all_held = true;
    for (int i = 0; i < 4; i++) {
        all_held = all_held && t->scene->held[v[i]];
    }
    for (int i = 0; i < first_side; i++) {
        for (int k = first_side; k < 4; k++) {
            if (v[i] == v[k]) {
                return false;
            }
        }
    }
    return !all_held && boxes_meet(boxes, v, first_side);
}

static int compare_keys(const void *a, const void *b) {
    uint64_t p = *(const uint64_t *)a, q = *(const uint64_t *)b;
    return (p > q) - (p < q);
}

typedef struct key_list {
    uint64_t *keys;
    int32_t count, capacity;
} key_list;

static void add_wanted(const touch_scene *t, const sn_box *boxes, const sn_contact_pair *pair,
                       key_list *list) {
    if (is_wanted(t, boxes, pair->vertex, sn_contact_first_side(pair->kind))) {
        assert_true(list->count < list->capacity);
        list->keys[list->count++] = sn_contact_pair_key(pair);
    }
}

// All pairs of features of two parts, by brute force.
static void list_wanted(const touch_scene *t, const sn_box *boxes, int32_t a, int32_t b,
                        key_list *list) {
    const sn_contact_part *p = &t->scene->parts[a], *q = &t->scene->parts[b];
    for (int32_t v = 0; v < p->shape->vertex_count; v++) {
        if (p->shape->vertex_owner[v] < 0) {
            continue;
        }
        for (int32_t k = 0; k < q->shape->triangle_count; k++) {
            const int32_t *corner = sn_at3(q->shape->triangles, k);
            int32_t f = q->first_vertex;
            sn_contact_pair pair = {
                .kind = SN_CONTACT_VERTEX_TRIANGLE,
                .feature = {p->first_vertex + v, q->first_triangle + k},
                .vertex = {p->first_vertex + v, f + corner[0], f + corner[1], f + corner[2]}};
            add_wanted(t, boxes, &pair, list);
        }
    }

    for (int32_t e = 0; a <= b && e < p->shape->edge_count; e++) {
        for (int32_t k = a == b ? e + 1 : 0; k < q->shape->edge_count; k++) {
            const int32_t *s = p->shape->edges + 2 * (size_t)e;
            const int32_t *r = q->shape->edges + 2 * (size_t)k;
            sn_contact_pair pair = {.kind = SN_CONTACT_EDGE_EDGE,
                                    .feature = {p->first_edge + e, q->first_edge + k},
                                    .vertex = {p->first_vertex + s[0], p->first_vertex + s[1],
                                               q->first_vertex + r[0], q->first_vertex + r[1]}};
            add_wanted(t, boxes, &pair, list);
        }
    }
}

static void compare_with_all(touch_scene *t, const double *y, double reach) {
    assert_ok(t->context, sn_contact_find(t->scene, t->x, y, reach));
    sn_arena arena = sn_arena_create(t->context);
    sn_box *boxes = SN_PUSH(&arena, sn_box, t->vertex_count);
    for (int32_t v = 0; v < t->vertex_count; v++) {
        boxes[v] = vertex_box(t->x, y, v, reach);
    }

    enum { MOST = 1 << 20 };
    key_list wanted = {SN_PUSH(&arena, uint64_t, MOST), 0, MOST};
    key_list found = {SN_PUSH(&arena, uint64_t, MOST), 0, MOST};
    assert_false(arena.failed);
    for (int32_t a = 0; a < t->part_count; a++) {
        for (int32_t b = 0; b < t->part_count; b++) {
            if (!t->scene->filter || t->scene->filter(t->scene->filter_user, a, b)) {
                list_wanted(t, boxes, a, b, &wanted);
            }
        }
    }

    for (int32_t i = 0; i < t->scene->pair_count; i++) {
        const sn_contact_pair *pair = &t->scene->pairs[i];
        assert_int_equal(pair->kind == SN_CONTACT_EDGE_EDGE, i >= t->scene->vertex_triangle_count);
        found.keys[found.count++] = sn_contact_pair_key(pair);
    }

    assert_true(wanted.count > 0);
    assert_int_equal(found.count, wanted.count);
    qsort(wanted.keys, (size_t)wanted.count, sizeof *wanted.keys, compare_keys);
    qsort(found.keys, (size_t)found.count, sizeof *found.keys, compare_keys);
    assert_memory_equal(found.keys, wanted.keys, (size_t)wanted.count * sizeof *wanted.keys);
    sn_arena_destroy(&arena);
}

static void test_all_pairs_are_found(void **state) {
    (void)state;
    sinew_context *context = test_context(1);
    sn_random random = sn_random_seed(7);

    for (int round = 0; round < 12; round++) {
        touch_scene t = touch_begin(context);
        touch_add_shape(&t, SINEW_SHAPE_SPHERE, 1, 5, sn_v3(0, 0, 0));
        touch_add_shape(&t, SINEW_SHAPE_BOX, 1, 3, sn_v3(0.98, 0.1, 0));
        touch_add_soup(&t, &random, 40, 30, 1);
        touch_create(&t);
        for (int32_t v = 0; v < t.vertex_count; v++) {
            t.scene->held[v] = round % 3 == 2 && sn_random_u32(&random) % 2;
        }

        double *y = SN_PUSH(&t.arena, double, 3 * (size_t)t.vertex_count);
        random_motion(&t, &random, round % 2 ? 0.1 : 0, round % 2 ? 0.02 : 0, y);
        compare_with_all(&t, y, 0.02);
        touch_end(&t);
    }

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
    compare_with_all(&t, t.x, 0.01);
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
        cmocka_unit_test(test_filter_is_obeyed),
        cmocka_unit_test(test_partly_held_pairs_stay),
        cmocka_unit_test(test_threads_and_allocations),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
