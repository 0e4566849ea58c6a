// The projection of tet.h for blocks of eight tets, one per lane. Floats process twice as many tets
// at once as doubles: node positions stay in double, and only their differences within a tet and
// the corrections are rounded, to about 1e-7 of the tet's size. The order of the seven constraints
// and all guards are those of sn_pbd_project.
#include "pbd/project.h"

#include "math/simd_float.h"

typedef struct vec {
    sn_floats x, y, z;
} vec;

SN_INLINE sn_floats dot(vec a, vec b) {
    return a.x * b.x + a.y * b.y + a.z * b.z;
}

SN_INLINE vec cross(vec a, vec b) {
    return (vec){a.y * b.z - a.z * b.y, a.z * b.x - a.x * b.z, a.x * b.y - a.y * b.x};
}

SN_INLINE vec scale(sn_floats s, vec a) {
    return (vec){s * a.x, s * a.y, s * a.z};
}

// a + s b
SN_INLINE vec madd(vec a, sn_floats s, vec b) {
    return (vec){a.x + s * b.x, a.y + s * b.y, a.z + s * b.z};
}

// Eight tets during their projection, as in tet.c. A is symmetric: entries A[i][j] with i <= j are
// used, the others are copies.
typedef struct tets {
    vec g[3], p[3];
    sn_floats A[3][3];
    sn_floats softening; // not 0, so that lanes without a tet stay finite
    sn_floats soft_A[3]; // A[i][i] + softening
    sn_floats expansion; // upper limit of a stretch's push: 0 while inverted, large otherwise
} tets;

SN_INLINE sn_floats metric(const tets *t, const vec h[3]) {
    return t->A[0][0] * dot(h[0], h[0]) + t->A[1][1] * dot(h[1], h[1]) +
           t->A[2][2] * dot(h[2], h[2]) +
           2.0f * (t->A[0][1] * dot(h[0], h[1]) + t->A[1][2] * dot(h[1], h[2]) +
                   t->A[0][2] * dot(h[0], h[2]));
}

SN_INLINE sn_floats determinant(const tets *t) {
    return dot(t->g[0], cross(t->g[1], t->g[2]));
}

// Rare: some lanes are inverted. They are pushed through the axis of smallest height
// (sn_pbd_height, make_upright).
SN_OUTLINE void make_upright(tets *t, sn_floats J) {
    vec h[3];
    sn_floats area[3];

    // The axis of smallest height has the largest opposite area.
    for (int i = 0; i < 3; i++) {
        h[i] = cross(t->g[(i + 1) % 3], t->g[(i + 2) % 3]);
        area[i] = dot(h[i], h[i]);
    }

    sn_float_mask inverted = (sn_float_mask)(J < 0.0f);
    sn_float_mask second = (sn_float_mask)(area[1] > area[0]);
    sn_float_mask third = (sn_float_mask)(area[2] > sn_floats_select(second, area[1], area[0]));
    sn_float_mask chosen[3] = {inverted & ~second & ~third, inverted & second & ~third,
                               inverted & third};
    vec g[3] = {t->g[0], t->g[1], t->g[2]};

    // Push the height of the chosen axis up to SN_PBD_UPRIGHT.
    for (int i = 0; i < 3; i++) {
        int j = (i + 1) % 3;
        int k = (i + 2) % 3;
        sn_floats over_a = 1.0f / sn_floats_sqrt(area[i] + 1e-30f);
        sn_floats y = J * over_a;
        vec q[3];

        q[i] = scale(over_a, h[i]);
        q[j] = scale(over_a, madd(h[j], -y, cross(g[k], q[i])));
        q[k] = scale(over_a, madd(h[k], -y, cross(q[i], g[j])));

        sn_floats s = ((float)SN_PBD_UPRIGHT - y) / (metric(t, q) + t->softening);
        s = sn_floats_select(chosen[i], s, sn_floats_all(0));
        for (int m = 0; m < 3; m++) {
            t->p[m] = madd(t->p[m], s, q[m]);
            for (int n = 0; n < 3; n++) {
                t->g[m] = madd(t->g[m], s * t->A[m][n], q[n]);
            }
        }
    }

    // Lanes that are still inverted must not be stretched further.
    t->expansion =
        sn_floats_select((sn_float_mask)(determinant(t) < 0.0f), sn_floats_all(0), t->expansion);
}

// -k c / m, or the step of the multiplier -(c + alpha l)/(m + alpha).
SN_INLINE sn_floats step_of(sn_floats c, sn_floats m, sn_floats k, const float *multiplier) {
    if (!multiplier) {
        return -k * c / m;
    }
    return -(c + k * sn_floats_load(multiplier)) / (m + k);
}

SN_INLINE void keep_multiplier(float *multiplier, sn_floats s) {
    if (multiplier) {
        sn_floats_store(multiplier, sn_floats_load(multiplier) + s);
    }
}

// The three stretches and three shears depend on each other in sequence, so latency matters:
// whatever does not depend on the previous one is computed alongside it, and the division by the
// length waits for nothing but the square root.
SN_INLINE void project_stretch(tets *t, int i, sn_floats k, float *multiplier) {
    sn_floats length = sn_floats_sqrt(dot(t->g[i], t->g[i]) + 1e-20f);
    sn_floats over_length = 1.0f / length;
    sn_floats s;

    if (multiplier) {
        s = sn_floats_min(step_of(length - 1.0f, t->soft_A[i], k, multiplier), t->expansion);
        keep_multiplier(multiplier, s);
        s = s * over_length;
    } else {
        s = sn_floats_min((k / t->soft_A[i]) * (over_length - 1.0f), t->expansion);
    }

    vec g = t->g[i];
    t->p[i] = madd(t->p[i], s, g);
    for (int j = 0; j < 3; j++) {
        t->g[j] = madd(t->g[j], s * t->A[j][i], g);
    }
}

SN_INLINE void project_shear(tets *t, int i, int j, sn_floats k, float *multiplier) {
    vec a = t->g[i];
    vec b = t->g[j];
    sn_floats c = dot(a, b);
    sn_floats aa = dot(a, a) + 1e-10f;
    sn_floats bb = dot(b, b);
    sn_floats m = t->soft_A[i] * bb + t->soft_A[j] * aa + 2.0f * t->A[i][j] * c;
    sn_floats s = step_of(c, m, k, multiplier);

    keep_multiplier(multiplier, s);
    t->p[i] = madd(t->p[i], s, b);
    t->p[j] = madd(t->p[j], s, a);

    for (int n = 0; n < 3; n++) {
        t->g[n] = madd(madd(t->g[n], s * t->A[n][i], b), s * t->A[n][j], a);
    }
}

SN_INLINE void project_volume(tets *t, sn_floats k, float *multiplier) {
    vec h[3];
    for (int i = 0; i < 3; i++) {
        h[i] = cross(t->g[(i + 1) % 3], t->g[(i + 2) % 3]);
    }

    sn_floats s = step_of(dot(t->g[0], h[0]) - 1.0f, metric(t, h) + t->softening, k, multiplier);
    keep_multiplier(multiplier, s);
    for (int i = 0; i < 3; i++) {
        t->p[i] = madd(t->p[i], s, h[i]);
    }
}

// Reads the nodes: G of the tets; A, the inverse masses w, and the four rows of B.
SN_INLINE void gather(tets *t, sn_floats w[4], sn_floats B[4][3], const sn_pbd_projection *work,
                      int32_t b, int first) {
    const sn_pbd_block *block = &work->blocks[b];
    const sn_pbd_inertia *inertia = &work->inertias[b];
    vec d[4];

    // Edges, inverse masses and B.
    for (int k = 1; k < 4; k++) {
        sn_floats row[3];
        sn_floats_load_rows(row, work->nodes, block->nodes[k] + first, block->nodes[0] + first);
        d[k] = (vec){row[0], row[1], row[2]};
    }

    for (int k = 0; k < 4; k++) {
        w[k] = sn_floats_load(inertia->w[k] + first);
    }

    // G = sum_k d_k B_k
    for (int i = 0; i < 3; i++) {
        for (int k = 1; k < 4; k++) {
            B[k][i] = sn_floats_load(block->B[3 * (k - 1) + i] + first);
        }
        B[0][i] = -(B[1][i] + B[2][i] + B[3][i]);
        t->g[i] = madd(madd(scale(B[1][i], d[1]), B[2][i], d[2]), B[3][i], d[3]);
        t->p[i] = (vec){sn_floats_all(0), sn_floats_all(0), sn_floats_all(0)};
    }

    // A, and the softening of the denominators.
    for (int i = 0; i < 3; i++) {
        int j = (i + 1) % 3;
        int k = (i + 2) % 3;
        t->A[i][i] = sn_floats_load(inertia->A[i] + first);
        t->A[j][k] = t->A[k][j] = sn_floats_load(inertia->A[3 + i] + first);
    }

    t->softening = (float)SN_PBD_SOFTENING * (t->A[0][0] + t->A[1][1] + t->A[2][2]) + 1e-20f;
    for (int i = 0; i < 3; i++) {
        t->soft_A[i] = t->A[i][i] + t->softening;
    }

    t->expansion = sn_floats_all(1e30f);
}

SN_INLINE void project(const sn_pbd_projection *work, int32_t b, int first, bool compliant) {
    const sn_pbd_block *block = &work->blocks[b];
    tets t;
    sn_floats w[4], B[4][3], k[SN_PBD_CONSTRAINTS];

    // Make inverted tets upright.
    gather(&t, w, B, work, b, first);
    sn_floats J = determinant(&t);
    if (sn_floats_any((sn_float_mask)(J < 0.0f))) {
        tets copy = t; // only the copy's address is taken: t stays in registers
        make_upright(&copy, J);
        t = copy;
    }

    // Stiffnesses, or compliances with their multipliers.
    float *l[SN_PBD_CONSTRAINTS] = {NULL};
    for (int i = 0; i < SN_PBD_CONSTRAINTS; i++) {
        k[i] = sn_floats_load(block->stiffness[i] + first);
        if (!compliant) {
            continue;
        }
        k[i] *= (float)work->compliance_scale;
        l[i] = work->multipliers[b].l[i] + first;
    }

    // Stretches, shears, volume.
    for (int i = 0; i < 3; i++) {
        project_stretch(&t, i, k[i], l[i]);
    }

    for (int i = 0; i < 3; i++) {
        project_shear(&t, (i + 1) % 3, (i + 2) % 3, k[3 + i], l[3 + i]);
    }

    project_volume(&t, k[6], l[6]);

    // Move the nodes by the accumulated impulses.
    for (int n = 0; n < 4; n++) {
        vec dx = madd(madd(scale(B[n][0], t.p[0]), B[n][1], t.p[1]), B[n][2], t.p[2]);
        sn_floats d[3] = {w[n] * dx.x, w[n] * dx.y, w[n] * dx.z};
        sn_floats_add_rows(work->nodes, block->nodes[n] + first, d);
    }
}

SN_INLINE void project_all(const sn_pbd_projection *projection, int32_t begin, int32_t end,
                           bool compliant) {
    for (int32_t b = begin; b < end; b++) {
        for (int first = 0; first < SN_BLOCK; first += SN_FLOAT_LANES) {
            project(projection, b, first, compliant);
        }
    }
}

// Two versions of the loop, compiled separately.
void SN_ISA_NAME(sn_pbd_project_blocks)(const sn_pbd_projection *projection, int32_t begin,
                                        int32_t end) {
    if (projection->multipliers) {
        project_all(projection, begin, end, true);
    } else {
        project_all(projection, begin, end, false);
    }
}
