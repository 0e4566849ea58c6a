// The order of projections: every tet once, blocks and parallel chunks without common nodes, layers
// by distance, and the mesh's own order reproduced bit by bit.
#include "pbd/body.h"

static void check_cover(const sinew_pbd *pbd, const uint8_t *left_out) {
    const sn_pbd_schedule *schedule = &pbd->schedule;
    int *seen = calloc((size_t)pbd->tet_count, sizeof *seen);
    int *stamp = calloc((size_t)pbd->node_count, sizeof *stamp);

    for (int32_t b = 0; b < schedule->block_count; b++) {
        for (int l = 0; l < SN_BLOCK; l++) {
            int32_t tet = schedule->lanes[b * SN_BLOCK + l];
            if (tet < 0) {
                continue;
            }

            seen[tet]++;
            for (int k = 0; k < 4; k++) {
                assert_true(stamp[pbd->tets[4 * tet + k]] != b + 1);
                stamp[pbd->tets[4 * tet + k]] = b + 1;
            }
        }
    }

    for (int32_t t = 0; t < pbd->tet_count; t++) {
        assert_int_equal(seen[t], !left_out[t]);
    }

    assert_int_equal(schedule->chunk_blocks[schedule->chunk_count], schedule->block_count);
    free(seen);
    free(stamp);
}

// Checks by brute force that chunks are neighbours exactly if they share a node.
static void check_neighbors(const sinew_pbd *pbd) {
    const sn_pbd_schedule *schedule = &pbd->schedule;
    uint8_t *uses = calloc((size_t)schedule->chunk_count * (size_t)pbd->node_count, 1);
    for (int32_t c = 0; c < schedule->chunk_count; c++) {
        for (int32_t l = schedule->chunk_blocks[c] * SN_BLOCK;
             l < schedule->chunk_blocks[c + 1] * SN_BLOCK; l++) {
            if (schedule->lanes[l] >= 0) {
                for (int k = 0; k < 4; k++) {
                    uses[c * pbd->node_count + pbd->tets[4 * schedule->lanes[l] + k]] = 1;
                }
            }
        }
    }

    for (int32_t a = 0; a < schedule->chunk_count; a++) {
        uint8_t *listed = calloc((size_t)schedule->chunk_count, 1);
        for (int32_t i = schedule->sweeps.offsets[a]; i < schedule->sweeps.offsets[a + 1]; i++) {
            listed[schedule->sweeps.neighbors[i]]++;
        }

        for (int32_t b = 0; b < schedule->chunk_count; b++) {
            int shared = 0;
            for (int32_t i = 0; i < pbd->node_count; i++) {
                shared |= uses[a * pbd->node_count + i] & uses[b * pbd->node_count + i];
            }
            assert_int_equal(listed[b], a != b && shared);
        }

        free(listed);
    }

    free(uses);
}

static void test_orders(void **state) {
    (void)state;
    sinew_context *context = test_context(1);
    sinew_mesh *mesh = make_box(context, 5);
    uint8_t *kinematic = hold_bottom(mesh, -1.2);
    uint8_t *still = calloc((size_t)mesh->element_count, 1);

    for (int32_t t = 0; t < mesh->element_count; t++) {
        still[t] = 1;
        for (int k = 0; k < 4; k++) {
            still[t] &= kinematic[mesh->indices[4 * t + k]];
        }
    }

    for (int order = SINEW_PBD_LAYERED; order <= SINEW_PBD_SEQUENCE; order++) {
        sinew_pbd_def def = sinew_default_pbd_def();
        def.gravity[1] = -9.81;
        def.gravity[2] = 0;
        def.order = (sinew_pbd_order)order;
        def.kinematic = kinematic;

        sinew_pbd *pbd = make_body(context, mesh, &def);
        check_cover(pbd, still);
        check_neighbors(pbd);

        int32_t layer_count = 0;
        const int32_t *layers = sinew_pbd_layers(pbd, &layer_count);

        // Cells are 0.2 m, nodes up to z = -1.3 are held: a tet's layer follows from its lowest
        // node.
        for (int32_t t = 0; t < mesh->element_count; t++) {
            double lowest = INFINITY;
            for (int k = 0; k < 4; k++) {
                lowest = fmin(lowest, mesh->points[3 * mesh->indices[4 * t + k] + 2]);
            }

            int32_t expected =
                order == SINEW_PBD_LAYERED ? (int32_t)floor((lowest + 1.3) / 0.2 + 0.5) : 0;
            assert_int_equal(layers[t], still[t] ? -1 : expected);
        }

        assert_int_equal(layer_count, order == SINEW_PBD_LAYERED ? 14 : 1);

        // Few lanes are empty.
        int32_t moving = 0;
        for (int32_t t = 0; t < mesh->element_count; t++) {
            moving += !still[t];
        }

        if (order == SINEW_PBD_COLORED) {
            assert_true(moving > 0.9 * SN_BLOCK * pbd->schedule.block_count);
        }

        sinew_pbd_destroy(pbd);
    }

    free(kinematic);
    free(still);
    sinew_mesh_destroy(mesh);
    sinew_context_destroy(context);
}

// Parallel levels give the same bits as tets projected one after the other, each alone in its
// block.
static void test_sequence_is_exact(void **state) {
    (void)state;
    sinew_context *context = test_context(2);
    sinew_mesh *mesh = make_box(context, 3);
    sinew_pbd_def def = sinew_default_pbd_def();
    def.gravity[1] = -9.81;
    def.gravity[2] = 0;

    def.order = SINEW_PBD_SEQUENCE;
    sinew_pbd *pbd = make_body(context, mesh, &def);
    for (int32_t i = 0; i < 4 * pbd->node_count; i++) {
        pbd->nodes[i] *= i % 4 < 3 ? 1 + 0.1 * sin(i) : 1;
    }

    // The parallel result.
    size_t size = 4 * (size_t)pbd->node_count * sizeof(double);
    double *nodes = aligned_alloc(64, (size + 63) / 64 * 64);

    memcpy(nodes, pbd->nodes, size);
    sn_pbd_iterate(pbd, 0, 3, 0, 0.01);

    sn_pbd_block *block = aligned_alloc(64, (sizeof *block + 63) / 64 * 64);
    sn_pbd_inertia *inertia = aligned_alloc(64, (sizeof *inertia + 63) / 64 * 64);

    // The same three iterations, one tet after the other in a block of its own.
    for (int round = 0; round < 3; round++) {
        for (int32_t t = 0; t < pbd->tet_count; t++) {
            memset(block, 0, sizeof *block);
            int32_t place = 0;
            while (pbd->schedule.lanes[place] != t) {
                place++;
            }

            for (int i = 0; i < 9; i++) {
                block->B[i][0] = pbd->blocks[place / SN_BLOCK].B[i][place % SN_BLOCK];
            }

            for (int i = 0; i < 7; i++) {
                block->stiffness[i][0] =
                    pbd->blocks[place / SN_BLOCK].stiffness[i][place % SN_BLOCK];
            }

            for (int i = 0; i < 4 * SN_BLOCK; i++) {
                block->nodes[i / SN_BLOCK][i % SN_BLOCK] = pbd->tets[4 * t + i / SN_BLOCK];
            }

            double w[4][SN_BLOCK];
            for (int i = 0; i < 4 * SN_BLOCK; i++) {
                w[i / SN_BLOCK][i % SN_BLOCK] =
                    pbd->inverse_masses[pbd->tets[4 * t + i / SN_BLOCK]];
            }

            sn_pbd_compute_inertia(inertia, block, w);
            sn_pbd_projection alone = {nodes, block, inertia, NULL, 0};

            pbd->project(&alone, 0, 1);
        }
    }

    assert_memory_equal(nodes, pbd->nodes, size);
    free(inertia);
    free(block);
    free(nodes);
    sinew_pbd_destroy(pbd);
    sinew_mesh_destroy(mesh);
    sinew_context_destroy(context);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_orders),
                                       cmocka_unit_test(test_sequence_is_exact)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
