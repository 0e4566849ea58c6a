// Samples in layers: a node that joins or leaves repacks only the samples it affects, and the body
// equals one that was packed with all nodes from the beginning.
#include "frame/adapt/adapting.h"

#include "support/hash.h"
#include "support/points.h"

// Hash of a sample's data in its layer: list of nodes, weights, slopes, volume.
static uint64_t hash_sample(const sn_frame_model *model, int32_t sample) {
    const sn_layer *layer = model->layers.layer_of[sample];
    int32_t place = model->layers.place_of[sample];
    uint64_t hash = test_hash(TEST_HASH_START, &layer, sizeof layer);

    for (int32_t p = sn_layer_first_point(layer, place); p < sn_layer_first_point(layer, place + 1);
         p++) {
        const sn_blend *blend = &layer->blend;
        int32_t group = blend->sample_group[p];
        int32_t lane = blend->sample_place[p];
        const int32_t where[2] = {group, lane};
        hash = test_hash(hash, where, sizeof where);
        if (!blend->is_rigid) {
            const sn_samples *packed = &blend->groups.items[group].samples;
            hash = test_hash(hash, &packed->volume[lane], sizeof(double));
            for (int32_t k = 0; k < 3 * packed->width; k++) {
                size_t at = (size_t)(lane / SN_BLOCK) * 3 * (size_t)packed->width + (size_t)k;
                hash = test_hash(hash, &packed->gradient[at * SN_BLOCK + (size_t)(lane % SN_BLOCK)],
                                 sizeof(double));
            }
            continue;
        }
        const sn_rigid_group *packed = &blend->rigid.items[group];
        hash = test_hash(hash, &packed->volume[lane], sizeof(double));
        for (int32_t k = 0; k < 4 * packed->width; k++) {
            size_t at = (size_t)(lane / SN_BLOCK) * 4 * (size_t)packed->width + (size_t)k;
            hash = test_hash(hash, &packed->weight[at * SN_BLOCK + (size_t)(lane % SN_BLOCK)],
                             sizeof(double));
        }
    }

    return hash;
}

static void check_untouched(adapting *f, const uint64_t *before, const sn_insertion *changed) {
    const sn_frame_model *model = f->body->model;
    int32_t kept = 0;
    for (int32_t s = 0; s < model->layers.sample_count; s++) {
        if (sn_insertion_find_sample(changed, s) >= 0) {
            continue;
        }
        assert_true(hash_sample(model, s) == before[s]);
        kept++;
    }

    assert_true(kept > model->layers.sample_count / 2);
    sinew_frame_change change;

    assert_int_equal(sinew_frame_body_get_last_change(f->body, &change), SINEW_OK);
    assert_int_equal(change.sample_count, model->layers.sample_count - kept);
    assert_int_equal(change.packed_count, change.sample_count);
    assert_int_equal(change.voxel_count, changed->voxel_count);
    assert_int_equal(change.vertex_count, changed->vertex_count);
    assert_true(change.vertex_count < model->surface->point_count / 2);
}

static uint64_t *hash_all(const sn_frame_model *model) {
    uint64_t *hash = calloc((size_t)model->layers.sample_count, sizeof *hash);
    for (int32_t s = 0; s < model->layers.sample_count; s++) {
        hash[s] = hash_sample(model, s);
    }
    return hash;
}

// Samples outside the range of a node are unchanged, bit for bit, when it joins and when it leaves.
static void test_the_rest_stays(void **state) {
    (void)state;
    const adapting cases[] = {{.kind = SINEW_NODE_RIGID},
                              {.kind = SINEW_NODE_RIGID, .dual = true},
                              {.kind = SINEW_NODE_AFFINE},
                              {.kind = SINEW_NODE_QUADRATIC, .regions = true}};

    for (int i = 0; i < 4; i++) {
        adapting f = cases[i];
        open_body(&f);

        const sn_frame_model *model = f.body->model;
        bend_body(f.body, 0.2, 3);

        uint64_t *hash = hash_all(model);
        int32_t node = join(&f, f.kind, 0.4, 0.09, 0.1);

        check_untouched(&f, hash, model->insertions[0]);
        free(hash);
        step_body(&f, 1);

        sn_insertion *gone = model->insertions[0];
        sn_insertion_hold(gone);
        hash = hash_all(model);
        assert_int_equal(sinew_frame_body_remove(f.body, node, 0.1), SINEW_OK);
        check_untouched(&f, hash, gone);
        free(hash);
        sn_insertion_release(gone);
        close_body(&f);
    }
}

// All samples with their current lists, in one layer.
static sn_layer *pack_all(const sinew_body *body) {
    const sn_frame_model *model = body->model;
    sn_arena arena = sn_arena_create(body->context);
    sn_layer_source source = sn_frame_layer_source(model);
    int32_t count = model->layers.sample_count;
    int32_t *list = SN_PUSH(&arena, int32_t, count);

    for (int32_t s = 0; s < count; s++) {
        list[s] = s;
    }

    sn_sample_rows rows;
    sn_layer *layer = NULL;

    assert_int_equal(sn_insertions_compute_rows(&arena, source.base, source.base_nodes,
                                                source.insertions, source.insertion_count, list,
                                                count, &rows),
                     SINEW_OK);
    assert_int_equal(
        sn_layer_create(body->context, &source, list, count, &rows, &body->pattern, &layer),
        SINEW_OK);
    sn_arena_destroy(&arena);

    return layer;
}

static double largest_of(const double *numbers, size_t count) {
    double largest = 0;
    for (size_t i = 0; i < count; i++) {
        largest = fmax(largest, fabs(numbers[i]));
    }
    return largest;
}

static void check_close(const char *name, const double *a, const double *b, size_t count,
                        double relative) {
    double size = largest_of(b, count);
    assert_true(size > 0);
    for (size_t i = 0; i < count; i++) {
        test_close(name, a[i], b[i], relative * size);
    }
}

// Energy, forces, stiffness and volumes of the layers compared with one layer of all samples.
static void check_energy(sinew_body *body) {
    const sn_frame_model *model = body->model;
    sn_layer *all = pack_all(body);
    size_t rows = (size_t)sn_body_size(body);
    size_t blocks = sn_bsr_value_count(&body->pattern);
    double *force[2], *matrix[2], energy[2], J[2][3];

    for (int i = 0; i < 2; i++) {
        force[i] = calloc(rows, sizeof(double));
        matrix[i] = calloc(blocks, sizeof(double));

        sn_blend_request request = {
            .q = body->q, .want_energy = true, .force = force[i], .matrix = matrix[i]};

        energy[i] =
            i == 0 ? sn_layers_evaluate(body->context, &model->layers, &body->pattern, &request)
                   : sn_blend_evaluate(body->context, &all->nodes, &all->blend, &body->pattern,
                                       &request);

        if (i == 0) {
            sn_layers_measure(&model->layers, body->q, &J[i][0], &J[i][1], &J[i][2]);
        } else {
            sn_blend_measure(&all->nodes, &all->blend, body->q, &J[i][0], &J[i][1], &J[i][2]);
        }
    }

    check_close("energy", &energy[0], &energy[1], 1, 1e-13);
    check_close("force", force[0], force[1], rows, 1e-13);
    // Sums of several thousand numbers in a different order.
    check_close("stiffness", matrix[0], matrix[1], blocks, 1e-12);
    check_close("volumes", J[0], J[1], 3, 1e-13);

    for (int i = 0; i < 2; i++) {
        free(force[i]);
        free(matrix[i]);
    }

    sn_layer_destroy(all);
}

// Mass and springs compared with those computed from scratch.
static void check_sums(sinew_body *body) {
    const sn_frame_model *model = body->model;
    sn_arena arena = sn_arena_create(body->context);
    sn_mass_base base = {0};
    sn_mass_source source = {.shape = model->shape,
                             .insertions = sn_frame_insertions(model),
                             .insertion_count = model->insertion_count,
                             .base = &base,
                             .base_arena = &arena};
    sn_frame_mass *mass = NULL;

    assert_int_equal(sn_frame_mass_create(&arena, &source, &model->nodes, model->mass->kind, &mass),
                     SINEW_OK);
    assert_int_equal(mass->count, model->mass->count);

    for (int32_t k = 0; k < mass->count; k++) {
        assert_true(mass->blocks[k].i == model->mass->blocks[k].i &&
                    mass->blocks[k].j == model->mass->blocks[k].j);
        size_t size = (size_t)model->nodes.items[mass->blocks[k].i].control_count *
                      (size_t)model->nodes.items[mass->blocks[k].j].control_count;

        for (size_t e = 0; e < size; e++) {
            test_close("mass", model->mass->blocks[k].G[e], mass->blocks[k].G[e], 1e-13 * 40);
        }
    }

    if (model->wants_springs) {
        double *K = sn_bsr_push_values(&arena, &body->pattern);
        sn_blend_request request = {.q = body->rest, .matrix = K};
        sn_layers_evaluate(body->context, &model->layers, &body->pattern, &request);
        // As above.
        check_close("springs", model->rest_stiffness, K, sn_bsr_value_count(&body->pattern), 1e-12);
    }

    sn_arena_destroy(&arena);
}

// The surface compared with points evaluated one by one.
static void check_surface(sinew_body *body) {
    const sinew_mesh *surface = sinew_body_get_surface(body);
    double *positions = calloc(3 * (size_t)surface->point_count, sizeof *positions);

    sinew_body_compute_surface(body, positions, NULL);

    for (int32_t i = 0; i < surface->point_count; i++) {
        double x[3];
        assert_int_equal(test_get_position(body, surface->points + 3 * i, x), SINEW_OK);
        assert_true(sn_distance(sn_load3(x), sn_load3(positions + 3 * i)) < 1e-13);
    }

    free(positions);
}

typedef struct event {
    double x, range; // joins at x; with range 0, node number x leaves
} event;

// Nodes join and leave in any order, with ranges from a corner to the whole body.
static void test_as_from_scratch(void **state) {
    (void)state;
    const adapting cases[] = {{.kind = SINEW_NODE_RIGID},
                              {.kind = SINEW_NODE_RIGID, .dual = true},
                              {.kind = SINEW_NODE_AFFINE},
                              {.kind = SINEW_NODE_QUADRATIC, .regions = true},
                              {.kind = SINEW_NODE_RIGID, .springs = true},
                              {.kind = SINEW_NODE_AFFINE, .consistent = true}};
    const event events[] = {{0.3, 0.12},  {0.2, 0.15}, {-0.4, 0.1}, {3, 0}, {-0.1, 0.2}, {0.1, 5},
                            {-0.3, 0.11}, {4, 0},      {6, 0},      {3, 0}, {0.44, 1},   {3, 0},
                            {-0.2, 3},    {3, 0},      {3, 0},      {3, 0}};

    for (int i = 0; i < 6; i += TEST_SANITIZED ? 3 : 1) {
        adapting f = cases[i];
        open_body(&f);

        const sn_frame_model *model = f.body->model;
        uint64_t *first = hash_all(model);
        for (size_t e = 0; e < sizeof events / sizeof *events; e++) {
            bool mixes = !f.dual && !f.springs && e % 3 == 1; // mixed kinds of node
            sinew_node_kind kind = mixes ? SINEW_NODE_POINT + (sinew_node_kind)(e % 4) : f.kind;
            if (events[e].range > 0) {
                join(&f, kind, events[e].x, events[e].range, 0);
            } else {
                assert_int_equal(sinew_frame_body_remove(f.body, (int32_t)events[e].x, 0),
                                 SINEW_OK);
            }

            // After every event the layers equal one layer of all samples.
            bend_body(f.body, 0.3, 7 + e);
            check_energy(f.body);
            check_sums(f.body);
            check_surface(f.body);

            int32_t packed = 0; // empty lanes cost at most a third of a step
            for (int32_t l = 0; l < model->layers.count; l++) {
                packed += model->layers.items[l]->left > 0 ? model->layers.items[l]->count : 0;
            }

            assert_true(3 * packed <= 4 * model->layers.sample_count);
        }

        // After all insertions have left, every sample is back in the first layer.
        assert_int_equal(model->insertion_count, 0);
        assert_int_equal(model->layers.count, 1);
        for (int32_t s = 0; s < model->layers.sample_count; s++) {
            assert_true(hash_sample(model, s) == first[s]);
        }

        free(first);
        close_body(&f);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_the_rest_stays),
                                       cmocka_unit_test(test_as_from_scratch)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
