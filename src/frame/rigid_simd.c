// Rigid nodes in lanes. Every node's share of a sample is the 9 x 6 matrix A = dF/d(w, t), rows (i, k) -> 3 i + k, columns the
// rotation and translation of the node; then
//
//   force -= V A' P,     stiffness of a pair += V A_i' H A_j
//
// Linear blending, F e_k = sum dw_k x_i + w R_i e_k:   A_t,k = dw_k I,   A_w,k = -[dw_k R_i d + w R_i e_k]x.
//
// Dual quaternions, with p, q of frame/dualquat.h, d = x - t_i, P_k = sum dw_k p_i, Q_k = sum dw_k q_i, R_k = R e_k:
//
//   (tau, sigma) = (w vec P_k, dw_k - w P_k,s) p*,                       A_t,k = sigma I + [tau]x
//   (tau', sigma') = (w vec P_k, dw_k - w P_k,s) q* + w (-R_k / 2, -Q_k,s) p*
//   A_w,k = (sigma' - w p.F_k / 2) I + [tau' - w p_s F_k / 2]x + w (p F_k' + F_k p') / 2 - A_t,k [d]x
//
// Cost per sample: 81 x 6 multiply-adds for each node and 9 x 36 for each pair of nodes.
#include "frame/rigid_kernels.h"

#include "frame/rigid_geometric.h"

// Places in the workspace, in lanes of SN_BLOCK: of each node p, q, d (11), then A (54) and its map to quaternions (48); of
// each sample P_k (12), Q_k,s (3), R (9); the sums of a run, force (6 a node) and matrix (36 a pair).
enum { NODE_VALUES = 11, SAMPLE_VALUES = 24, A_VALUES = 54 };

typedef struct work_places {
    double *node, *sample, *A, *map, *force, *matrix;
} work_places;

SN_INLINE work_places find_places(double *work, int32_t width) {
    work_places places = {.sample = work};
    places.node = places.sample + SAMPLE_VALUES * SN_BLOCK;
    places.A = places.node + (size_t)width * NODE_VALUES * SN_BLOCK;
    places.map = places.A + (size_t)width * A_VALUES * SN_BLOCK;
    places.force = places.map + (size_t)width * SN_GEOMETRIC_MAP * SN_BLOCK;
    places.matrix = places.force + (size_t)width * 6 * SN_BLOCK;
    return places;
}

// A component of the table of nodes for the lanes from `index` on.
SN_INLINE sn_lanes take(const double *table, const int32_t *index, bool uniform, int component) {
    if (uniform) return sn_lanes_all(table[(size_t)index[0] * SN_RIGID_TABLE + (size_t)component]);
    sn_lanes x = {0};
    for (int l = 0; l < SN_LANES; l++) x[l] = table[(size_t)index[l] * SN_RIGID_TABLE + (size_t)component];
    return x;
}

SN_INLINE sn_lanes_quat take_quat(const double *table, const int32_t *index, bool uniform) {
    return (sn_lanes_quat){take(table, index, uniform, 0), take(table, index, uniform, 1), take(table, index, uniform, 2),
                           take(table, index, uniform, 3)};
}

SN_INLINE sn_lanes_vec take_vec(const double *table, const int32_t *index, bool uniform, int first) {
    return (sn_lanes_vec){take(table, index, uniform, first), take(table, index, uniform, first + 1),
                          take(table, index, uniform, first + 2)};
}

// R_i d with d = X - X_i.
SN_INLINE sn_lanes_vec take_arm(const double *table, const int32_t *index, bool uniform, const double *position) {
    sn_lanes_vec d = sn_lanes_sub3(sn_lanes_load3(position), take_vec(table, index, uniform, SN_RIGID_ORIGIN));
    return (sn_lanes_vec){sn_lanes_dot3(take_vec(table, index, uniform, SN_RIGID_ROTATION), d),
                          sn_lanes_dot3(take_vec(table, index, uniform, SN_RIGID_ROTATION + 3), d),
                          sn_lanes_dot3(take_vec(table, index, uniform, SN_RIGID_ROTATION + 6), d)};
}

// One group of lanes of a block.
typedef struct lane_view {
    int32_t width;
    bool uniform;
    const int32_t *node;                      // of node c at node + c * SN_BLOCK
    const double *weight, *position, *volume; // weights of node c at weight + 4 * c * SN_BLOCK
    const int32_t *slots;                     // of pair n at slots + n * SN_BLOCK
} lane_view;

SN_INLINE lane_view view_lanes(const sn_rigid_group *group, int32_t block, int lane) {
    size_t width = (size_t)group->width, pairs = width * (width + 1) / 2, b = (size_t)block;
    return (lane_view){group->width,
                       group->uniform[block],
                       group->node + b * width * SN_BLOCK + lane,
                       group->weight + b * width * 4 * SN_BLOCK + lane,
                       group->position + b * 3 * SN_BLOCK + lane,
                       group->volume + b * SN_BLOCK + lane,
                       group->slots + b * pairs * SN_BLOCK + lane};
}

// p and the point that each node carries (relative to the first one's) into the workspace; returns sum w x p.
SN_INLINE sn_lanes_quat sum_points(const lane_view *v, const double *table, double *node, sn_lanes_quat b, sn_lanes inverse,
                                   sn_lanes_vec *reference) {
    sn_lanes_quat sum = {{0}, {0}, {0}, {0}};
    for (int32_t c = 0; c < v->width; c++, node += NODE_VALUES * SN_BLOCK) {
        const int32_t *index = v->node + c * SN_BLOCK;
        sn_lanes w = inverse * sn_lanes_load(v->weight + 4 * c * SN_BLOCK);
        sn_lanes_vec x = sn_lanes_add3(take_arm(table, index, v->uniform, v->position),
                                       take_vec(table, index, v->uniform, SN_RIGID_TRANSLATION));
        if (c == 0) *reference = x;
        x = sn_lanes_sub3(x, *reference);
        sn_lanes_quat p = sn_lanes_quat_mul_conjugate(take_quat(table, index, v->uniform), b);
        sum = sn_lanes_quat_madd(sum, w, sn_lanes_quat_mul_vec(x, p));
        sn_lanes_quat_store(node, sn_lanes_quat_scale(inverse, p));
        sn_lanes_store3(node + 4 * SN_BLOCK, x);
    }
    return sum;
}

// The sums over the nodes that F and its derivative need: P_k and Q_k.
SN_INLINE void sum_gradients(const lane_view *v, const double *table, double *node, sn_lanes_quat x, sn_lanes_vec reference,
                             sn_lanes_quat P[3], sn_lanes_quat Q[3]) {
    sn_lanes s = 0.5 * x.w;
    for (int32_t c = 0; c < v->width; c++, node += NODE_VALUES * SN_BLOCK) {
        sn_lanes_quat p = sn_lanes_quat_load(node);
        sn_lanes_vec y = sn_lanes_sub3(sn_lanes_load3(node + 4 * SN_BLOCK), (sn_lanes_vec){x.x, x.y, x.z});
        sn_lanes_vec t = take_vec(table, v->node + c * SN_BLOCK, v->uniform, SN_RIGID_TRANSLATION);
        sn_lanes_vec d = sn_lanes_add3(sn_lanes_sub3(reference, t), (sn_lanes_vec){x.x, x.y, x.z});
        sn_lanes_quat q = sn_lanes_quat_mul_vec(y, p);
        q = sn_lanes_quat_madd(sn_lanes_quat_scale(sn_lanes_all(0.5), q), -s, p);
        for (int k = 0; k < 3; k++) {
            sn_lanes dw = sn_lanes_load(v->weight + (4 * c + 1 + k) * SN_BLOCK);
            P[k] = sn_lanes_quat_madd(P[k], dw, p);
            Q[k] = sn_lanes_quat_madd(Q[k], dw, q);
        }
        sn_lanes_quat_store(node + 4 * SN_BLOCK, q);
        sn_lanes_store3(node + 8 * SN_BLOCK, d);
    }
}

SN_INLINE sn_lanes_vec rotation_column(sn_lanes_quat q, sn_lanes inverse, int k) {
    sn_lanes x = q.x, y = q.y, z = q.z, w = q.w, two = 2.0 * inverse, one = sn_lanes_all(1);
    if (k == 0) return (sn_lanes_vec){one - two * (y * y + z * z), two * (x * y + z * w), two * (x * z - y * w)};
    if (k == 1) return (sn_lanes_vec){two * (x * y - z * w), one - two * (x * x + z * z), two * (y * z + x * w)};
    return (sn_lanes_vec){two * (x * z + y * w), two * (y * z - x * w), one - two * (x * x + y * y)};
}

void SN_ISA_NAME(sn_dual_compute_F)(double *F, const sn_rigid_group *group, int32_t block, const double *table, double *work) {
    work_places places = find_places(work, group->width);
    for (int lane = 0; lane < SN_BLOCK; lane += SN_LANES) {
        lane_view v = view_lanes(group, block, lane);
        sn_lanes_quat b = {{0}, {0}, {0}, {0}};
        for (int32_t c = 0; c < v.width; c++) {
            b = sn_lanes_quat_madd(b, sn_lanes_load(v.weight + 4 * c * SN_BLOCK),
                                   take_quat(table, v.node + c * SN_BLOCK, v.uniform));
        }
        // A blend that vanishes stays finite; sn_frame_body's check reports it.
        sn_lanes square = sn_lanes_max(sn_lanes_quat_dot(b, b), sn_lanes_all(1e-24)), inverse = 1.0 / square;
        sn_lanes_vec reference = {{0}, {0}, {0}};
        sn_lanes_quat x = sum_points(&v, table, places.node + lane, b, inverse, &reference);
        sn_lanes_quat P[3] = {{{0}, {0}, {0}, {0}}}, Q[3] = {{{0}, {0}, {0}, {0}}};
        sum_gradients(&v, table, places.node + lane, x, reference, P, Q);
        double *sample = places.sample + lane;
        for (int k = 0; k < 3; k++) {
            sn_lanes_vec R = rotation_column(b, inverse, k);
            sn_lanes_quat_store(sample + 4 * k * SN_BLOCK, P[k]);
            sn_lanes_store(sample + (12 + k) * SN_BLOCK, Q[k].w);
            sn_lanes_store3(sample + (15 + 3 * k) * SN_BLOCK, R);
            sn_lanes_store(F + (0 + k) * SN_BLOCK + lane, R.x + 2.0 * Q[k].x);
            sn_lanes_store(F + (3 + k) * SN_BLOCK + lane, R.y + 2.0 * Q[k].y);
            sn_lanes_store(F + (6 + k) * SN_BLOCK + lane, R.z + 2.0 * Q[k].z);
        }
    }
}

void SN_ISA_NAME(sn_linear_compute_F)(double *F, const sn_rigid_group *group, int32_t block, const double *table,
                                      double *work) {
    work_places places = find_places(work, group->width);
    for (int lane = 0; lane < SN_BLOCK; lane += SN_LANES) {
        lane_view v = view_lanes(group, block, lane);
        sn_lanes sum[9] = {{0}};
        double *node = places.node + lane;
        sn_lanes_vec first = {{0}, {0}, {0}};
        for (int32_t c = 0; c < v.width; c++, node += NODE_VALUES * SN_BLOCK) {
            const int32_t *index = v.node + c * SN_BLOCK;
            sn_lanes_vec arm = take_arm(table, index, v.uniform, v.position);
            // The gradients sum to zero, so positions may be taken from any point: the first node's keeps rounding small.
            sn_lanes_vec t = take_vec(table, index, v.uniform, SN_RIGID_TRANSLATION);
            if (c == 0) first = t;
            sn_lanes_vec x = sn_lanes_add3(arm, sn_lanes_sub3(t, first));
            sn_lanes w = sn_lanes_load(v.weight + 4 * c * SN_BLOCK);
            sn_lanes_store3(node, arm);
            for (int k = 0; k < 3; k++) {
                sn_lanes dw = sn_lanes_load(v.weight + (4 * c + 1 + k) * SN_BLOCK);
                sum[0 + k] += dw * x.x + w * take(table, index, v.uniform, SN_RIGID_ROTATION + 0 + k);
                sum[3 + k] += dw * x.y + w * take(table, index, v.uniform, SN_RIGID_ROTATION + 3 + k);
                sum[6 + k] += dw * x.z + w * take(table, index, v.uniform, SN_RIGID_ROTATION + 6 + k);
            }
        }
        for (int i = 0; i < 9; i++) sn_lanes_store(F + i * SN_BLOCK + lane, sum[i]);
    }
}

// A 3 x 3 block.
typedef struct lanes_block {
    sn_lanes m[3][3];
} lanes_block;

// scalar I + [axis]x
SN_INLINE lanes_block turn_block(sn_lanes scalar, sn_lanes_vec axis) {
    return (lanes_block){{{scalar, -axis.z, axis.y}, {axis.z, scalar, -axis.x}, {-axis.y, axis.x, scalar}}};
}

// B + a b'
SN_INLINE void add_outer(lanes_block *B, sn_lanes_vec a, sn_lanes_vec b) {
    const sn_lanes left[3] = {a.x, a.y, a.z}, right[3] = {b.x, b.y, b.z};
    for (int i = 0; i < 3; i++) {
        for (int j = 0; j < 3; j++) B->m[i][j] = sn_lanes_fma(left[i], right[j], B->m[i][j]);
    }
}

// Writes block k of A at column `first`: the rows (i, k).
SN_INLINE void store_block(double *A, int k, int first, const lanes_block *B) {
    for (int i = 0; i < 3; i++) {
        for (int j = 0; j < 3; j++) sn_lanes_store(A + (6 * (3 * i + k) + first + j) * SN_LANES, B->m[i][j]);
    }
}

SN_INLINE void find_linear_A(double *A, const lane_view *v, const double *table, const work_places *places, int32_t c,
                             int lane) {
    const int32_t *index = v->node + c * SN_BLOCK;
    sn_lanes_vec arm = sn_lanes_load3(places->node + c * NODE_VALUES * SN_BLOCK + lane);
    sn_lanes w = sn_lanes_load(v->weight + 4 * c * SN_BLOCK), zero = {0};
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

SN_INLINE void find_dual_A(double *A, const lane_view *v, const double *F, const work_places *places, int32_t c, int lane) {
    const double *node = places->node + c * NODE_VALUES * SN_BLOCK + lane, *sample = places->sample + lane;
    sn_lanes w = sn_lanes_load(v->weight + 4 * c * SN_BLOCK), half = 0.5 * w;
    SN_KEEP_LOOP
    for (int k = 0; k < 3; k++) {
        sn_lanes_quat p = sn_lanes_quat_load(node), q = sn_lanes_quat_load(node + 4 * SN_BLOCK);
        sn_lanes_vec d = sn_lanes_load3(node + 8 * SN_BLOCK), p_vec = {p.x, p.y, p.z};
        sn_lanes dw = sn_lanes_load(v->weight + (4 * c + 1 + k) * SN_BLOCK);
        sn_lanes_quat P = sn_lanes_quat_load(sample + 4 * k * SN_BLOCK), m = sn_lanes_quat_scale(w, P);
        m.w = dw - m.w;
        sn_lanes_quat t = sn_lanes_quat_mul_conjugate(m, p);
        sn_lanes_vec tau = {t.x, t.y, t.z};
        lanes_block move = turn_block(t.w, tau);
        store_block(A, k, 3, &move);
        sn_lanes_vec R = sn_lanes_load3(sample + (15 + 3 * k) * SN_BLOCK);
        sn_lanes_quat side = {-half * R.x, -half * R.y, -half * R.z, -w * sn_lanes_load(sample + (12 + k) * SN_BLOCK)};
        sn_lanes_quat r = sn_lanes_quat_add(sn_lanes_quat_mul_conjugate(m, q), sn_lanes_quat_mul_conjugate(side, p));
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

// Adds a lane's worth of numbers to where they belong: to the run's sums, or lane by lane to the chunk's.
SN_INLINE void deposit(double *sum, double *chunk, int stride, const int32_t *slot, bool uniform, int component,
                       sn_lanes value) {
    if (uniform) {
        sn_lanes_store(sum + component * SN_LANES, sn_lanes_load(sum + component * SN_LANES) + value);
    } else {
        for (int l = 0; l < SN_LANES; l++) chunk[slot[l] * stride + component] += value[l];
    }
}

SN_INLINE void add_force(sn_rigid_chunk *chunk, const lane_view *v, const work_places *places, const double *P, int lane) {
    sn_lanes S[9], V = sn_lanes_load(v->volume);
    for (int r = 0; r < 9; r++) S[r] = V * sn_lanes_load(P + r * SN_BLOCK + lane);
    for (int32_t c = 0; c < v->width; c++) {
        const double *A = places->A + c * A_VALUES * SN_LANES;
        sn_lanes f[6] = {{0}};
        for (int r = 0; r < 9; r++) {
            for (int a = 0; a < 6; a++) f[a] -= S[r] * sn_lanes_load(A + (6 * r + a) * SN_LANES);
        }
        for (int a = 0; a < 6; a++) {
            deposit(places->force + c * 6 * SN_LANES, chunk->force, 6, v->node + c * SN_BLOCK, v->uniform, a, f[a]);
        }
    }
}

// B = H A, with H in full.
SN_INLINE void multiply_H(double *B, const double *H, const double *A) {
    SN_KEEP_LOOP
    for (int row = 0; row < 9; row += 3) {
        SN_KEEP_LOOP
        for (int column = 0; column < 6; column += 3) {
            sn_lanes sum[3][3] = {{{0}}};
            const double *left = H + row * SN_LANES, *right = A + column * SN_LANES;
            SN_KEEP_LOOP
            for (int q = 0; q < 9; q++, left += 9 * SN_LANES, right += 6 * SN_LANES) {
                for (int i = 0; i < 3; i++) {
                    sn_lanes h = sn_lanes_load(left + i * SN_LANES);
                    for (int j = 0; j < 3; j++) sum[i][j] = sn_lanes_fma(h, sn_lanes_load(right + j * SN_LANES), sum[i][j]);
                }
            }
            for (int i = 0; i < 3; i++) {
                for (int j = 0; j < 3; j++) sn_lanes_store(B + (6 * (row + i) + column + j) * SN_LANES, sum[i][j]);
            }
        }
    }
}

// Two columns of A' B, from row `first` on: at most twelve sums.
SN_INLINE void multiply_columns(double *sum, sn_rigid_chunk *chunk, const int32_t *slot, bool uniform, const double *A,
                                const double *B, int column, int first) {
    sn_lanes K[6][2] = {{{0}}};
    const double *right = B + column * SN_LANES;
    SN_KEEP_LOOP
    for (int r = 0; r < 9; r++, A += 6 * SN_LANES, right += 6 * SN_LANES) {
        sn_lanes b[2] = {sn_lanes_load(right), sn_lanes_load(right + SN_LANES)};
        for (int a = first; a < 6; a++) {
            sn_lanes left = sn_lanes_load(A + a * SN_LANES);
            for (int c = 0; c < 2; c++) K[a][c] = sn_lanes_fma(left, b[c], K[a][c]);
        }
    }
    for (int a = first; a < 6; a++) {
        for (int c = 0; c < 2; c++) deposit(sum, chunk->matrix, 36, slot, uniform, 6 * a + column + c, K[a][c]);
    }
}

SN_INLINE void add_stiffness(sn_rigid_chunk *chunk, const lane_view *v, const work_places *places, const double *packed,
                             int lane) {
    double H[81 * SN_LANES] SN_ALIGNED, B[A_VALUES * SN_LANES] SN_ALIGNED;
    sn_lanes V = sn_lanes_load(v->volume);
    for (int r = 0; r < 9; r++) {
        for (int q = r; q < 9; q++, packed += SN_BLOCK) {
            sn_lanes h = V * sn_lanes_load(packed + lane);
            sn_lanes_store(H + (9 * r + q) * SN_LANES, h);
            sn_lanes_store(H + (9 * q + r) * SN_LANES, h);
        }
    }
    for (int32_t j = 0; j < v->width; j++) {
        const double *A_j = places->A + j * A_VALUES * SN_LANES;
        multiply_H(B, H, A_j);
        for (int32_t i = j; i < v->width; i++) {
            const double *A_i = places->A + i * A_VALUES * SN_LANES;
            int32_t pair = sn_pair_count(i) + j;
            double *sum = places->matrix + pair * 36 * SN_LANES;
            const int32_t *slot = v->slots + pair * SN_BLOCK;
            if (i == j) { // the lower triangle is enough
                multiply_columns(sum, chunk, slot, v->uniform, A_i, B, 0, 0);
                multiply_columns(sum, chunk, slot, v->uniform, A_i, B, 2, 2);
                multiply_columns(sum, chunk, slot, v->uniform, A_i, B, 4, 4);
            } else {
                SN_KEEP_LOOP
                for (int column = 0; column < 6; column += 2) {
                    multiply_columns(sum, chunk, slot, v->uniform, A_i, B, column, 0);
                }
            }
        }
    }
}

// Adds P : d2F of a pair of nodes, column by column.
SN_INLINE void add_geometric_pair(sn_rigid_chunk *chunk, const lane_view *v, const work_places *places,
                                  const geometric_sums *g, const geometric_node *nodes[2], int32_t i, int32_t j) {
    const double *map_i = places->map + i * SN_GEOMETRIC_MAP * SN_LANES,
                 *map_j = places->map + j * SN_GEOMETRIC_MAP * SN_LANES;
    int32_t pair = sn_pair_count(i) + j;
    for (int c = 0; c < 6; c++) {
        sn_lanes form[8];
        apply_geometric(form, g, nodes[0], nodes[1], map_j + 8 * c * SN_LANES);
        for (int a = i == j ? c : 0; a < 6; a++) {
            sn_lanes K = {0};
            for (int e = 0; e < 8; e++) K = sn_lanes_fma(sn_lanes_load(map_i + (8 * a + e) * SN_LANES), form[e], K);
            deposit(places->matrix + pair * 36 * SN_LANES, chunk->matrix, 36, v->slots + pair * SN_BLOCK, v->uniform,
                    6 * a + c, K);
        }
    }
}

// Adds a symmetric block between w and w, lower triangle, and (-[axis]x + scalar I) between t and w.
SN_INLINE void deposit_own(sn_rigid_chunk *chunk, const lane_view *v, const work_places *places, int32_t c,
                           const sn_lanes ww[6], sn_lanes_quat tw) {
    int32_t pair = sn_pair_count(c) + c;
    double *sum = places->matrix + pair * 36 * SN_LANES;
    const int32_t *slot = v->slots + pair * SN_BLOCK;
    static const int lower[6] = {0, 6, 7, 12, 13, 14};
    for (int e = 0; e < 6; e++) deposit(sum, chunk->matrix, 36, slot, v->uniform, lower[e], ww[e]);
    const sn_lanes block[9] = {tw.w, tw.z, -tw.y, -tw.z, tw.w, tw.x, tw.y, -tw.x, tw.w};
    for (int e = 0; e < 9; e++) deposit(sum, chunk->matrix, 36, slot, v->uniform, 18 + 6 * (e / 3) + e % 3, block[e]);
}

SN_INLINE void load_columns(sn_lanes_vec columns[3], const double *block, sn_lanes scale, int lane) {
    for (int k = 0; k < 3; k++) {
        columns[k] = (sn_lanes_vec){scale * sn_lanes_load(block + (0 + k) * SN_BLOCK + lane),
                                    scale * sn_lanes_load(block + (3 + k) * SN_BLOCK + lane),
                                    scale * sn_lanes_load(block + (6 + k) * SN_BLOCK + lane)};
    }
}

SN_INLINE geometric_node find_geometric_node(const lane_view *v, const sn_lanes_vec S[3], int32_t c) {
    geometric_node node = {sn_lanes_load(v->weight + 4 * c * SN_BLOCK), {{0}, {0}, {0}}};
    for (int k = 0; k < 3; k++) {
        node.S = sn_lanes_madd3(node.S, sn_lanes_load(v->weight + (4 * c + 1 + k) * SN_BLOCK), S[k]);
    }
    return node;
}

SN_INLINE void add_dual_geometric(sn_rigid_chunk *chunk, const lane_view *v, const work_places *places,
                                  const sn_rigid_stress *stress, int lane) {
    sn_lanes_vec S[3], F[3];
    load_columns(S, stress->P, sn_lanes_load(v->volume), lane);
    load_columns(F, stress->F, sn_lanes_all(1), lane);
    geometric_sums g = sum_geometric(S, F, places->sample + lane);
    for (int32_t j = 0; j < v->width; j++) {
        const double *node = places->node + j * NODE_VALUES * SN_BLOCK + lane;
        sn_lanes_quat p = sn_lanes_quat_load(node), q = sn_lanes_quat_load(node + 4 * SN_BLOCK), between;
        geometric_node of_j = find_geometric_node(v, S, j);
        sn_lanes diagonal, zero = {0};
        find_geometric_map(places->map + j * SN_GEOMETRIC_MAP * SN_LANES, p, q, sn_lanes_load3(node + 8 * SN_BLOCK));
        bend_geometric(&diagonal, &between, &g, &of_j, p, q);
        deposit_own(chunk, v, places, j, (const sn_lanes[6]){diagonal, zero, diagonal, zero, zero, diagonal}, between);
    }
    for (int32_t j = 0; j < v->width; j++) {
        geometric_node of_j = find_geometric_node(v, S, j);
        for (int32_t i = j; i < v->width; i++) {
            geometric_node of_i = find_geometric_node(v, S, i);
            const geometric_node *nodes[2] = {&of_i, &of_j};
            add_geometric_pair(chunk, v, places, &g, nodes, i, j);
        }
    }
}

// Linear blending bends only through the nodes' own rotations: with v_k = dw_k R_i d + w R_i e_k, the block between w and w
// gains sum_k (v_k S_k' + S_k v_k') / 2 - (v_k . S_k) I.
SN_INLINE void add_linear_geometric(sn_rigid_chunk *chunk, const lane_view *v, const work_places *places,
                                    const sn_rigid_stress *stress, int lane) {
    sn_lanes_vec S[3];
    load_columns(S, stress->P, sn_lanes_load(v->volume), lane);
    for (int32_t c = 0; c < v->width; c++) {
        const double *A = places->A + c * A_VALUES * SN_LANES;
        sn_lanes ww[6] = {{0}}, trace = {0}, zero = {0};
        for (int k = 0; k < 3; k++) { // A_w,k = -[v_k]x
            sn_lanes_vec u = {-sn_lanes_load(A + (6 * (6 + k) + 1) * SN_LANES), -sn_lanes_load(A + (6 * k + 2) * SN_LANES),
                              -sn_lanes_load(A + (6 * (3 + k)) * SN_LANES)};
            trace += sn_lanes_dot3(u, S[k]);
            ww[0] += u.x * S[k].x, ww[2] += u.y * S[k].y, ww[5] += u.z * S[k].z;
            ww[1] += 0.5 * (u.x * S[k].y + u.y * S[k].x);
            ww[3] += 0.5 * (u.x * S[k].z + u.z * S[k].x);
            ww[4] += 0.5 * (u.y * S[k].z + u.z * S[k].y);
        }
        ww[0] -= trace, ww[2] -= trace, ww[5] -= trace;
        deposit_own(chunk, v, places, c, ww, (sn_lanes_quat){zero, zero, zero, zero});
    }
}

SN_INLINE void add_block(sn_rigid_chunk *chunk, const sn_rigid_group *group, int32_t block, const double *table,
                         const sn_rigid_stress *stress, bool dual) {
    work_places places = find_places(chunk->work, group->width);
    for (int lane = 0; lane < SN_BLOCK; lane += SN_LANES) {
        lane_view v = view_lanes(group, block, lane);
        for (int32_t c = 0; c < v.width; c++) {
            double *A = places.A + c * A_VALUES * SN_LANES;
            if (dual) {
                find_dual_A(A, &v, stress->F, &places, c, lane);
            } else {
                find_linear_A(A, &v, table, &places, c, lane);
            }
        }
        if (stress->P) add_force(chunk, &v, &places, stress->P, lane);
        if (stress->H) add_stiffness(chunk, &v, &places, stress->H, lane);
        if (stress->geometric && dual) add_dual_geometric(chunk, &v, &places, stress, lane);
        if (stress->geometric && !dual) add_linear_geometric(chunk, &v, &places, stress, lane);
    }
}

void SN_ISA_NAME(sn_dual_add)(sn_rigid_chunk *chunk, const sn_rigid_group *group, int32_t block, const double *table,
                              const sn_rigid_stress *stress) {
    add_block(chunk, group, block, table, stress, true);
}

void SN_ISA_NAME(sn_linear_add)(sn_rigid_chunk *chunk, const sn_rigid_group *group, int32_t block, const double *table,
                                const sn_rigid_stress *stress) {
    add_block(chunk, group, block, table, stress, false);
}

// chunk += the sum over lanes of each of `count` sums, which become zero.
SN_INLINE void flush(double *chunk, double *sums, int count) {
    for (int e = 0; e < count; e++) {
        sn_lanes value = sn_lanes_load(sums + e * SN_LANES);
        double total = 0;
        for (int l = 0; l < SN_LANES; l++) total += value[l];
        chunk[e] += total;
        sn_lanes_store(sums + e * SN_LANES, (sn_lanes){0});
    }
}

void SN_ISA_NAME(sn_rigid_flush)(sn_rigid_chunk *chunk, const sn_rigid_group *group, int32_t block, bool force, bool matrix) {
    work_places places = find_places(chunk->work, group->width);
    lane_view v = view_lanes(group, block, 0);
    for (int32_t c = 0; force && c < v.width; c++) {
        flush(chunk->force + 6 * v.node[c * SN_BLOCK], places.force + c * 6 * SN_LANES, 6);
    }
    for (int32_t pair = 0; matrix && pair < sn_pair_count(v.width); pair++) {
        flush(chunk->matrix + 36 * v.slots[pair * SN_BLOCK], places.matrix + pair * 36 * SN_LANES, 36);
    }
}
