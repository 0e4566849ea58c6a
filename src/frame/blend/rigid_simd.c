// Rigid nodes in lanes. Every node's share of a sample is the 9 x 6 matrix A = dF/d(w, t), with
// rows (i, k) -> 3 i + k and columns for the rotation and translation of the node; then
//
//   force -= V A' P,     stiffness of a pair += V A_i' H A_j
//
// Linear blending, F e_k = sum dw_k x_i + w R_i e_k:
//
//   A_t,k = dw_k I,      A_w,k = -[dw_k R_i d + w R_i e_k]x
//
// Dual quaternions, with p, q of dualquat.h, d = x - t_i, P_k = sum dw_k p_i, Q_k = sum dw_k q_i
// and R_k = R e_k:
//
//   (tau, sigma)   = (w vec P_k, dw_k - w P_k,s) p*
//   (tau', sigma') = (w vec P_k, dw_k - w P_k,s) q* + w (-R_k / 2, -Q_k,s) p*
//   A_t,k = sigma I + [tau]x
//   A_w,k = (sigma' - w p.F_k / 2) I + [tau' - w p_s F_k / 2]x + w (p F_k' + F_k p') / 2
//           - A_t,k [d]x
//
// A motion that all nodes share only rotates F: dF_k = w x F_k. So the last node of a sample needs
// no A. If its own motion (w_l, t_l) is taken as the shared one, the others move relative to it by
// w_c - w_l and t_c - t_l - w_l x a_c, with a_c from the last node to node c, and
//
//   dF = sum A_c (w_c - w_l, t_c - t_l + a_c x w_l) + [w_l]x F
//
// Forces and stiffness are summed over a run in these relative motions; only the sums are converted
// to the motions of all nodes (rigid_expand.h).
//
// Cost per sample with n nodes: 81 x 6 + 285 multiply-adds for each of n - 1 nodes, 9 x 36 for each
// pair of them, 200 for the shared rotation and 108 for it with each node.
#include "frame/blend/rigid_expand.h"
#include "frame/blend/rigid_geometric.h"

// A 3 x 3 block.
typedef struct lanes_block {
    sn_lanes m[3][3];
} lanes_block;

// scalar I + [axis]x
SN_INLINE lanes_block turn_block(sn_lanes scalar, sn_lanes_vec axis) {
    return (lanes_block){
        {{scalar, -axis.z, axis.y}, {axis.z, scalar, -axis.x}, {-axis.y, axis.x, scalar}}};
}

// B + a b'
SN_INLINE void add_outer(lanes_block *B, sn_lanes_vec a, sn_lanes_vec b) {
    const sn_lanes left[3] = {a.x, a.y, a.z};
    const sn_lanes right[3] = {b.x, b.y, b.z};
    for (int i = 0; i < 3; i++) {
        for (int j = 0; j < 3; j++) {
            B->m[i][j] = sn_lanes_fma(left[i], right[j], B->m[i][j]);
        }
    }
}

// Writes block k of A at column `first`: the rows (i, k).
SN_INLINE void store_block(double *A, int k, int first, const lanes_block *B) {
    for (int i = 0; i < 3; i++) {
        for (int j = 0; j < 3; j++) {
            sn_lanes_store(A + (6 * (3 * i + k) + first + j) * SN_LANES, B->m[i][j]);
        }
    }
}

SN_INLINE void find_linear_A(double *A, const lane_view *v, const double *table,
                             const work_places *places, int32_t c, int lane) {
    const int32_t *index = v->node + c * SN_BLOCK;
    sn_lanes_vec arm = sn_lanes_load3(places->node + c * NODE_VALUES * SN_BLOCK + lane);
    sn_lanes w = sn_lanes_load(v->weight + 4 * c * SN_BLOCK);
    sn_lanes zero = {0};

    for (int k = 0; k < 3; k++) {
        sn_lanes dw = sn_lanes_load(v->weight + (4 * c + 1 + k) * SN_BLOCK);
        sn_lanes_vec column = {take(table, index, v->uniform, SN_RIGID_ROTATION + k),
                               take(table, index, v->uniform, SN_RIGID_ROTATION + 3 + k),
                               take(table, index, v->uniform, SN_RIGID_ROTATION + 6 + k)};
        lanes_block turn = turn_block(zero, sn_lanes_madd3(sn_lanes_scale3(-w, column), -dw, arm));
        lanes_block move = turn_block(dw, (sn_lanes_vec){zero, zero, zero});
        store_block(A, k, 0, &turn);
        store_block(A, k, 3, &move);
    }
}

SN_INLINE void find_dual_A(double *A, const lane_view *v, const double *F,
                           const work_places *places, int32_t c, int lane) {
    const double *node = places->node + c * NODE_VALUES * SN_BLOCK + lane;
    const double *sample = places->sample + lane;
    sn_lanes w = sn_lanes_load(v->weight + 4 * c * SN_BLOCK);
    sn_lanes half = 0.5 * w;

    SN_KEEP_LOOP
    for (int k = 0; k < 3; k++) {
        sn_lanes_quat p = sn_lanes_quat_load(node);
        sn_lanes_quat q = sn_lanes_quat_load(node + 4 * SN_BLOCK);
        sn_lanes_vec d = sn_lanes_load3(node + 8 * SN_BLOCK);
        sn_lanes_vec p_vec = {p.x, p.y, p.z};
        sn_lanes dw = sn_lanes_load(v->weight + (4 * c + 1 + k) * SN_BLOCK);
        sn_lanes_quat P = sn_lanes_quat_load(sample + 4 * k * SN_BLOCK);
        sn_lanes_quat m = sn_lanes_quat_scale(w, P);

        m.w = dw - m.w;
        sn_lanes_quat t = sn_lanes_quat_mul_conjugate(m, p);
        sn_lanes_vec tau = {t.x, t.y, t.z};
        lanes_block move = turn_block(t.w, tau);

        store_block(A, k, 3, &move);
        sn_lanes_vec R = sn_lanes_load3(sample + (15 + 3 * k) * SN_BLOCK);
        sn_lanes_quat side = {-half * R.x, -half * R.y, -half * R.z,
                              -w * sn_lanes_load(sample + (12 + k) * SN_BLOCK)};
        sn_lanes_quat r = sn_lanes_quat_add(sn_lanes_quat_mul_conjugate(m, q),
                                            sn_lanes_quat_mul_conjugate(side, p));
        sn_lanes_vec F_k = {half * sn_lanes_load(F + (0 + k) * SN_BLOCK + lane),
                            half * sn_lanes_load(F + (3 + k) * SN_BLOCK + lane),
                            half * sn_lanes_load(F + (6 + k) * SN_BLOCK + lane)};

        // -A_t [d]x = -sigma [d]x - d tau' + (tau . d) I
        sn_lanes scalar = r.w - sn_lanes_dot3(p_vec, F_k) + sn_lanes_dot3(tau, d);
        sn_lanes_vec axis = sn_lanes_madd3((sn_lanes_vec){r.x, r.y, r.z}, -p.w, F_k);
        lanes_block turn = turn_block(scalar, sn_lanes_madd3(axis, -t.w, d));

        add_outer(&turn, p_vec, F_k);
        add_outer(&turn, F_k, p_vec);
        add_outer(&turn, d, sn_lanes_scale3(sn_lanes_all(-1), tau));
        store_block(A, k, 0, &turn);
    }
}

// Computes A of the first `count` nodes.
SN_INLINE void find_A(const lane_view *v, const work_places *places, const double *table,
                      const double *F, int32_t count, bool dual, int lane) {
    for (int32_t c = 0; c < count; c++) {
        double *A = places->A + c * A_VALUES * SN_LANES;
        if (dual) {
            find_dual_A(A, v, F, places, c, lane);
        } else {
            find_linear_A(A, v, table, places, c, lane);
        }
    }
}

// Columns k of a 3 x 3 matrix with rows (i, k) -> 3 i + k, scaled.
SN_INLINE void load_columns(sn_lanes_vec columns[3], const double *block, sn_lanes scale,
                            int lane) {
    for (int k = 0; k < 3; k++) {
        columns[k] = (sn_lanes_vec){scale * sn_lanes_load(block + (0 + k) * SN_BLOCK + lane),
                                    scale * sn_lanes_load(block + (3 + k) * SN_BLOCK + lane),
                                    scale * sn_lanes_load(block + (6 + k) * SN_BLOCK + lane)};
    }
}

SN_INLINE void add_force(const lane_view *v, const work_places *places,
                         const sn_rigid_stress *stress, int lane) {
    sn_lanes S[9];
    sn_lanes V = sn_lanes_load(v->volume);
    sn_lanes_vec F[3];
    sn_lanes_vec torque = {{0}, {0}, {0}};

    // S = V P
    load_columns(F, stress->F, sn_lanes_all(1), lane);
    for (int r = 0; r < 9; r++) {
        S[r] = V * sn_lanes_load(stress->P + r * SN_BLOCK + lane);
    }

    // f_c = -A_c' S
    for (int32_t c = 0; c < v->width - 1; c++) {
        const double *A = places->A + c * A_VALUES * SN_LANES;
        sn_lanes f[6] = {{0}};
        for (int r = 0; r < 9; r++) {
            for (int a = 0; a < 6; a++) {
                f[a] -= S[r] * sn_lanes_load(A + (6 * r + a) * SN_LANES);
            }
        }

        for (int a = 0; a < 6; a++) {
            deposit(places->force + c * 6 * SN_LANES, a, f[a]);
        }
    }

    // All nodes rotating together: torque = sum_k S_k x F_k
    for (int k = 0; k < 3; k++) {
        torque =
            sn_lanes_add3(torque, sn_lanes_cross3((sn_lanes_vec){S[k], S[3 + k], S[6 + k]}, F[k]));
    }

    deposit(places->torque, 0, torque.x);
    deposit(places->torque, 1, torque.y);
    deposit(places->torque, 2, torque.z);
}

// B = H A, with H in full.
SN_INLINE void multiply_H(double *B, const double *H, const double *A) {
    SN_KEEP_LOOP
    for (int row = 0; row < 9; row += 3) {
        SN_KEEP_LOOP
        for (int column = 0; column < 6; column += 3) {
            // Three by three entries at a time stay in registers.
            sn_lanes sum[3][3] = {{{0}}};
            const double *left = H + row * SN_LANES;
            const double *right = A + column * SN_LANES;

            SN_KEEP_LOOP
            for (int q = 0; q < 9; q++, left += 9 * SN_LANES, right += 6 * SN_LANES) {
                for (int i = 0; i < 3; i++) {
                    sn_lanes h = sn_lanes_load(left + i * SN_LANES);
                    for (int j = 0; j < 3; j++) {
                        sum[i][j] = sn_lanes_fma(h, sn_lanes_load(right + j * SN_LANES), sum[i][j]);
                    }
                }
            }

            for (int i = 0; i < 3; i++) {
                for (int j = 0; j < 3; j++) {
                    sn_lanes_store(B + (6 * (row + i) + column + j) * SN_LANES, sum[i][j]);
                }
            }
        }
    }
}

// Two columns of A' B, from row `first` on: at most twelve sums.
SN_INLINE void multiply_columns(double *sum, const double *A, const double *B, int column,
                                int first) {
    sn_lanes K[6][2] = {{{0}}};
    const double *right = B + column * SN_LANES;

    SN_KEEP_LOOP
    for (int r = 0; r < 9; r++, A += 6 * SN_LANES, right += 6 * SN_LANES) {
        sn_lanes b[2] = {sn_lanes_load(right), sn_lanes_load(right + SN_LANES)};
        for (int a = first; a < 6; a++) {
            sn_lanes left = sn_lanes_load(A + a * SN_LANES);
            for (int c = 0; c < 2; c++) {
                K[a][c] = sn_lanes_fma(left, b[c], K[a][c]);
            }
        }
    }

    for (int a = first; a < 6; a++) {
        for (int c = 0; c < 2; c++) {
            deposit(sum, 6 * a + column + c, K[a][c]);
        }
    }
}

// The lower triangle of A' B, which is what a node with itself keeps.
SN_INLINE void multiply_own(double *sum, const double *A, const double *B) {
    multiply_columns(sum, A, B, 0, 0);
    multiply_columns(sum, A, B, 2, 2);
    multiply_columns(sum, A, B, 4, 4);
}

// The shared rotation's part of B, whose rows (i, k) are `stride` numbers apart: sum_k F_k x B_k.
SN_INLINE sn_lanes_vec turn_column(const sn_lanes_vec F[3], const double *B, int stride) {
    sn_lanes_vec sum = {{0}, {0}, {0}};
    for (int k = 0; k < 3; k++, B += stride * SN_LANES) {
        sn_lanes_vec b = {sn_lanes_load(B), sn_lanes_load(B + 3 * stride * SN_LANES),
                          sn_lanes_load(B + 6 * stride * SN_LANES)};
        sum = sn_lanes_add3(sum, sn_lanes_cross3(F[k], b));
    }

    return sum;
}

// The shared rotation with node j, whose H A is B: [3][6].
SN_INLINE void add_turn(double *sum, const sn_lanes_vec F[3], const double *B) {
    SN_KEEP_LOOP
    for (int column = 0; column < 6; column++) {
        sn_lanes_vec K = turn_column(F, B + column * SN_LANES, 6);
        deposit(sum, column, K.x);
        deposit(sum, 6 + column, K.y);
        deposit(sum, 12 + column, K.z);
    }
}

// The shared rotation with itself, all of [3][3]: H acts on e_a x F_k.
SN_INLINE void add_turn_own(double *sum, const sn_lanes_vec F[3], const double *H) {
    double B[27 * SN_LANES] SN_ALIGNED;
    SN_KEEP_LOOP
    for (int r = 0; r < 9; r++, H += 9 * SN_LANES) {
        sn_lanes_vec b = turn_column(F, H, 1);
        sn_lanes_store(B + (3 * r) * SN_LANES, b.x);
        sn_lanes_store(B + (3 * r + 1) * SN_LANES, b.y);
        sn_lanes_store(B + (3 * r + 2) * SN_LANES, b.z);
    }

    for (int column = 0; column < 3; column++) {
        sn_lanes_vec K = turn_column(F, B + column * SN_LANES, 3);
        deposit(sum, column, K.x);
        deposit(sum, 3 + column, K.y);
        deposit(sum, 6 + column, K.z);
    }
}

// V H in full.
SN_INLINE void unpack_H(double *H, const double *packed, sn_lanes V, int lane) {
    for (int r = 0; r < 9; r++) {
        for (int q = r; q < 9; q++, packed += SN_BLOCK) {
            sn_lanes h = V * sn_lanes_load(packed + lane);
            sn_lanes_store(H + (9 * r + q) * SN_LANES, h);
            sn_lanes_store(H + (9 * q + r) * SN_LANES, h);
        }
    }
}

SN_INLINE void add_stiffness(const lane_view *v, const work_places *places,
                             const sn_rigid_stress *stress, int lane) {
    double H[81 * SN_LANES] SN_ALIGNED, B[A_VALUES * SN_LANES] SN_ALIGNED;
    sn_lanes_vec F[3];

    load_columns(F, stress->F, sn_lanes_all(1), lane);
    unpack_H(H, stress->H, sn_lanes_load(v->volume), lane);

    // Pairs of nodes, the last one excepted: A_i' H A_j.
    for (int32_t j = 0; j < v->width - 1; j++) {
        const double *A_j = places->A + j * A_VALUES * SN_LANES;
        multiply_H(B, H, A_j);
        add_turn(places->turn + j * 18 * SN_LANES, F, B);

        for (int32_t i = j; i < v->width - 1; i++) {
            const double *A_i = places->A + i * A_VALUES * SN_LANES;
            double *sum = places->matrix + (sn_pair_count(i) + j) * 36 * SN_LANES;
            if (i == j) { // the lower triangle is enough
                multiply_own(sum, A_i, B);

            } else {
                SN_KEEP_LOOP
                for (int column = 0; column < 6; column += 2) {
                    multiply_columns(sum, A_i, B, column, 0);
                }
            }
        }
    }

    // The shared rotation with itself, from which the last node's rows follow.
    add_turn_own(places->turn_own, F, H);
}

// Adds the stiffness of each node with itself, from an A of its own.
SN_INLINE void add_own_stiffness(const lane_view *v, const work_places *places,
                                 const sn_rigid_stress *stress, int lane) {
    double H[81 * SN_LANES] SN_ALIGNED, B[A_VALUES * SN_LANES] SN_ALIGNED;
    unpack_H(H, stress->H, sn_lanes_load(v->volume), lane);
    for (int32_t c = 0; c < v->width; c++) {
        const double *A = places->A + c * A_VALUES * SN_LANES;
        multiply_H(B, H, A);
        multiply_own(places->matrix + (sn_pair_count(c) + c) * 36 * SN_LANES, A, B);
    }
}

// Adds P : d2F of a pair of nodes, column by column.
SN_INLINE void add_geometric_pair(const work_places *places, const geometric_sums *g,
                                  const geometric_node *nodes[2], int32_t i, int32_t j) {
    const double *map_i = places->map + i * MAP_VALUES * SN_LANES;
    const double *map_j = places->map + j * MAP_VALUES * SN_LANES;
    int32_t pair = sn_pair_count(i) + j;

    for (int c = 0; c < 6; c++) {
        sn_lanes form[8];
        apply_geometric(form, g, nodes[0], nodes[1], map_j + 8 * c * SN_LANES);
        for (int a = i == j ? c : 0; a < 6; a++) {
            sn_lanes K = {0};
            for (int e = 0; e < 8; e++) {
                K = sn_lanes_fma(sn_lanes_load(map_i + (8 * a + e) * SN_LANES), form[e], K);
            }
            deposit(places->matrix + pair * 36 * SN_LANES, 6 * a + c, K);
        }
    }
}

// Adds a symmetric block between w and w, lower triangle, and (-[axis]x + scalar I) between t and
// w.
SN_INLINE void deposit_own(const work_places *places, int32_t c, const sn_lanes ww[6],
                           sn_lanes_quat tw) {
    double *sum = places->matrix + (sn_pair_count(c) + c) * 36 * SN_LANES;
    static const int lower[6] = {0, 6, 7, 12, 13, 14};
    for (int e = 0; e < 6; e++) {
        deposit(sum, lower[e], ww[e]);
    }

    const sn_lanes block[9] = {tw.w, tw.z, -tw.y, -tw.z, tw.w, tw.x, tw.y, -tw.x, tw.w};
    for (int e = 0; e < 9; e++) {
        deposit(sum, 18 + 6 * (e / 3) + e % 3, block[e]);
    }
}

SN_INLINE geometric_node find_geometric_node(const lane_view *v, const sn_lanes_vec S[3],
                                             int32_t c) {
    geometric_node node = {sn_lanes_load(v->weight + 4 * c * SN_BLOCK), {{0}, {0}, {0}}};
    for (int k = 0; k < 3; k++) {
        node.S =
            sn_lanes_madd3(node.S, sn_lanes_load(v->weight + (4 * c + 1 + k) * SN_BLOCK), S[k]);
    }
    return node;
}

SN_INLINE void add_dual_geometric(const lane_view *v, const work_places *places,
                                  const sn_rigid_stress *stress, int lane) {
    sn_lanes_vec S[3], F[3];
    load_columns(S, stress->P, sn_lanes_load(v->volume), lane);
    load_columns(F, stress->F, sn_lanes_all(1), lane);

    geometric_sums g = sum_geometric(S, F, places->sample + lane);

    // Second derivatives of each node's own dual quaternion.
    for (int32_t j = 0; j < v->width; j++) {
        const double *node = places->node + j * NODE_VALUES * SN_BLOCK + lane;
        sn_lanes_quat p = sn_lanes_quat_load(node);
        sn_lanes_quat q = sn_lanes_quat_load(node + 4 * SN_BLOCK);
        sn_lanes_quat between;
        geometric_node of_j = find_geometric_node(v, S, j);
        sn_lanes diagonal, zero = {0};

        find_geometric_map(places->map + j * MAP_VALUES * SN_LANES, p, q,
                           sn_lanes_load3(node + 8 * SN_BLOCK));
        bend_geometric(&diagonal, &between, &g, &of_j, p, q);
        deposit_own(places, j, (const sn_lanes[6]){diagonal, zero, diagonal, zero, zero, diagonal},
                    between);
    }

    // Second derivatives of the blend, for each pair of nodes.
    for (int32_t j = 0; j < v->width; j++) {
        geometric_node of_j = find_geometric_node(v, S, j);
        for (int32_t i = j; i < v->width; i++) {
            geometric_node of_i = find_geometric_node(v, S, i);
            const geometric_node *nodes[2] = {&of_i, &of_j};
            add_geometric_pair(places, &g, nodes, i, j);
        }
    }
}

// Linear blending bends only through the nodes' own rotations: with v_k = dw_k R_i d + w R_i e_k,
// the block between w and w gains sum_k (v_k S_k' + S_k v_k') / 2 - (v_k . S_k) I.
SN_INLINE void add_linear_geometric(const lane_view *v, const work_places *places,
                                    const sn_rigid_stress *stress, int lane) {
    sn_lanes_vec S[3];
    load_columns(S, stress->P, sn_lanes_load(v->volume), lane);

    // The lower triangle xx, xy, yy, xz, yz, zz of each node's block.
    for (int32_t c = 0; c < v->width; c++) {
        const double *A = places->A + c * A_VALUES * SN_LANES;
        sn_lanes ww[6] = {{0}};
        sn_lanes trace = {0};
        sn_lanes zero = {0};

        for (int k = 0; k < 3; k++) { // A_w,k = -[v_k]x
            sn_lanes_vec u = {-sn_lanes_load(A + (6 * (6 + k) + 1) * SN_LANES),
                              -sn_lanes_load(A + (6 * k + 2) * SN_LANES),
                              -sn_lanes_load(A + (6 * (3 + k)) * SN_LANES)};

            trace += sn_lanes_dot3(u, S[k]);
            ww[0] += u.x * S[k].x;
            ww[2] += u.y * S[k].y;
            ww[5] += u.z * S[k].z;
            ww[1] += 0.5 * (u.x * S[k].y + u.y * S[k].x);
            ww[3] += 0.5 * (u.x * S[k].z + u.z * S[k].x);
            ww[4] += 0.5 * (u.y * S[k].z + u.z * S[k].y);
        }
        ww[0] -= trace;
        ww[2] -= trace;
        ww[5] -= trace;
        deposit_own(places, c, ww, (sn_lanes_quat){zero, zero, zero, zero});
    }
}

SN_INLINE void add_block(sn_rigid_chunk *chunk, const sn_rigid_group *group, int32_t block,
                         const double *table, const sn_rigid_stress *stress, bool dual) {
    work_places places = find_run_places(chunk->work, group->width);
    work_places left = find_sample_places(stress->work);

    places.sample = left.sample;
    places.node = left.node;
    for (int lane = 0; lane < SN_BLOCK; lane += SN_LANES) {
        lane_view v = view_lanes(group, block, lane);

        // The geometric terms of linear blending need A of every node, and so do diagonal blocks.
        bool all = stress->own || (stress->geometric && !dual);

        find_A(&v, &places, table, stress->F, all ? v.width : v.width - 1, dual, lane);
        if (stress->P) {
            add_force(&v, &places, stress, lane);
        }

        if (stress->own) {
            add_own_stiffness(&v, &places, stress, lane);
            flush_own(chunk, &v, &places);
        } else if (stress->H) {
            add_stiffness(&v, &places, stress, lane);
        }

        if (v.uniform && !stress->geometric) {
            continue; // the run goes on
        }

        bool matrix = stress->H && !stress->own;
        expand(&v, &places, table, stress->P, matrix);
        if (stress->geometric && dual) {
            add_dual_geometric(&v, &places, stress, lane); // of all nodes: not to be expanded
        }
        if (stress->geometric && !dual) {
            add_linear_geometric(&v, &places, stress, lane);
        }

        flush_lanes(chunk, &v, &places, stress->P, matrix);
    }
}

// Returns three numbers, from `first` on, of the motion of a node.
SN_INLINE sn_lanes_vec take_motion(const double *motion, const int32_t *index, bool uniform,
                                   int first) {
    sn_lanes x[3];
    for (int k = 0; k < 3; k++) {
        x[k] = sn_lanes_all(motion[6 * (ptrdiff_t)index[0] + first + k]);
        if (uniform) {
            continue;
        }

        for (int l = 1; l < SN_LANES; l++) {
            x[k][l] = motion[6 * (ptrdiff_t)index[l] + first + k];
        }
    }

    return (sn_lanes_vec){x[0], x[1], x[2]};
}

// Computes dF of a motion: all nodes share the last node's motion, and the others move relative to
// it.
SN_INLINE void find_dF(sn_lanes dF[9], const lane_view *v, const work_places *places,
                       const double *table, const double *F, const double *motion, int lane) {
    sn_lanes_vec columns[3];
    const int32_t *last = v->node + (v->width - 1) * SN_BLOCK;
    sn_lanes_vec turn = take_motion(motion, last, v->uniform, 0);
    sn_lanes_vec move = take_motion(motion, last, v->uniform, 3);

    // dF = w x F for the shared rotation.
    load_columns(columns, F, sn_lanes_all(1), lane);
    for (int k = 0; k < 3; k++) {
        sn_lanes_vec turned = sn_lanes_cross3(turn, columns[k]);
        dF[k] = turned.x;
        dF[3 + k] = turned.y;
        dF[6 + k] = turned.z;
    }

    // Plus A times the motion relative to the last node.
    for (int32_t c = 0; c < v->width - 1; c++) {
        const double *A = places->A + c * A_VALUES * SN_LANES;
        const int32_t *index = v->node + c * SN_BLOCK;
        sn_lanes_vec w = sn_lanes_sub3(take_motion(motion, index, v->uniform, 0), turn);
        sn_lanes_vec t = sn_lanes_sub3(take_motion(motion, index, v->uniform, 3), move);

        t = sn_lanes_add3(t, sn_lanes_cross3(find_distance(v, table, c), turn));
        const sn_lanes parts[6] = {w.x, w.y, w.z, t.x, t.y, t.z};
        for (int r = 0; r < 9; r++) {
            for (int a = 0; a < 6; a++) {
                dF[r] = sn_lanes_fma(sn_lanes_load(A + (6 * r + a) * SN_LANES), parts[a], dF[r]);
            }
        }
    }
}

SN_INLINE void multiply_block(sn_rigid_chunk *chunk, const sn_rigid_group *group, int32_t block,
                              const double *table, const sn_rigid_stress *stress,
                              const double *motion, bool dual) {
    work_places places = find_run_places(chunk->work, group->width);
    work_places left = find_sample_places(stress->work);

    double dP[9 * SN_BLOCK] SN_ALIGNED;
    const sn_rigid_stress change = {.F = stress->F, .P = dP};

    places.sample = left.sample;
    places.node = left.node;
    for (int lane = 0; lane < SN_BLOCK; lane += SN_LANES) {
        lane_view v = view_lanes(group, block, lane);
        sn_lanes dF[9];

        // dF of the motion, then dP = H dF.
        find_A(&v, &places, table, stress->F, v.width - 1, dual, lane);
        find_dF(dF, &v, &places, table, stress->F, motion, lane);
        for (int r = 0; r < 9; r++) {
            sn_lanes sum = {0};
            for (int q = 0; q < 9; q++) {
                sum = sn_lanes_fma(sn_lanes_load(stress->H + sn_sym9(r, q) * SN_BLOCK + lane),
                                   dF[q], sum);
            }
            sn_lanes_store(dP + r * SN_BLOCK + lane, sum);
        }

        // Forces of dP are those of a stress.
        add_force(&v, &places, &change, lane);
        if (v.uniform) {
            continue; // the run goes on
        }

        expand(&v, &places, table, true, false);
        flush_lanes(chunk, &v, &places, true, false);
    }
}

void SN_ISA_NAME(sn_dual_multiply)(sn_rigid_chunk *chunk, const sn_rigid_group *group,
                                   int32_t block, const double *table,
                                   const sn_rigid_stress *stress, const double *motion) {
    multiply_block(chunk, group, block, table, stress, motion, true);
}

void SN_ISA_NAME(sn_linear_multiply)(sn_rigid_chunk *chunk, const sn_rigid_group *group,
                                     int32_t block, const double *table,
                                     const sn_rigid_stress *stress, const double *motion) {
    multiply_block(chunk, group, block, table, stress, motion, false);
}

void SN_ISA_NAME(sn_dual_add)(sn_rigid_chunk *chunk, const sn_rigid_group *group, int32_t block,
                              const double *table, const sn_rigid_stress *stress) {
    add_block(chunk, group, block, table, stress, true);
}

void SN_ISA_NAME(sn_linear_add)(sn_rigid_chunk *chunk, const sn_rigid_group *group, int32_t block,
                                const double *table, const sn_rigid_stress *stress) {
    add_block(chunk, group, block, table, stress, false);
}

void SN_ISA_NAME(sn_rigid_flush)(sn_rigid_chunk *chunk, const sn_rigid_group *group, int32_t block,
                                 const double *table, bool force, bool matrix) {
    work_places places = find_run_places(chunk->work, group->width);
    lane_view v = view_lanes(group, block, 0);
    expand(&v, &places, table, force, matrix);
    flush_lanes(chunk, &v, &places, force, matrix);
}
