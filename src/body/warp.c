// Warped stiffness: the linear model with a rotation per vertex.
//
// The paper evaluates the force on vertex i in the axes of that vertex (its eq. 12),
//
//   f_i = -R_i sum_j K_ij (R_i' x_j - X_j),
//
// which has no energy, pushes free bodies around, and pumps energy into soft ones until they
// explode. Here the stiffness is divided among the vertices instead: each vertex has a quarter of
// the stiffness K_e of every tet around it, and its share rotates with it:
//
//   f_e = -1/4 sum_a R_a K_e (R_a' x_e - X_e)
//
// Forces of each share add up to zero, and both forms agree with the linear model at rest and with
// each other where rotations vary slowly. A torque remains where R_a' F is not symmetric; it is
// removed by a rigid acceleration of the whole body.
//
// The Jacobian is taken to be R_i K_ij R_j': in axes that rotate with the vertices it is the
// constant matrix K.
//
// The rotation of a vertex is the polar factor of the linear map that fits its edges best or, in
// quick mode, the paper's frame of three edges. That frame is a good estimate only while its edges
// keep their angles; where one of these changes much, the vertex uses the fit.
// Cost: four evaluations of the linear law per tet, one polar decomposition per vertex, and for the
// matrix two products of 3x3 matrices per block.
#include "body/warp.h"

#include "base/threads.h"
#include "body/elastic.h"
#include "math/decompose.h"
#include "math/simd.h"

#include <math.h>
#include <string.h>

enum { CHUNK = 32, FRAME_EDGES = 3 }; // blocks of vertices per task; edges of a quick frame

// The cosine of an angle between edges may change by this much before the quick frame is given up.
// The paper's bar of E = 1e4 to 1e6 Pa stays bounded with steps of 2, 10 and 30 ms.
static const double largest_shear = 0.5;

typedef struct warp {
    sn_body_ops ops;         // those of the elastic body, with the forces replaced
    sn_body_ops elastic_ops; // the original ones, for F, stress and materials
    double *stiffness;       // K, both triangles
    sn_mat3 *rotation;       // [node], at the last evaluation
    // [slot of the pattern]: F = sum_j (x_j - x_i) (x) slope_ij is the linear map that fits the
    // edges of node i best. [1/m]
    sn_vec3 *slope;
    bool quick;
    sn_mat3 *rest_frame; // [node], transposed; quick mode only, as are the edges
    // [node]: the neighbours that define the quick frame, the last one for its second axis.
    int32_t (*edges)[FRAME_EDGES];
} warp;

// The linear map that fits the edges of node i, at the positions x.
static sn_mat3 fit_edges(const sinew_body *body, const warp *model, int32_t i, const double *x) {
    const sn_bsr *pattern = &body->pattern;
    sn_vec3 origin = sn_load3(x + 3 * i);
    sn_mat3 F = {{{0}}};
    for (int32_t k = pattern->starts[i]; k < pattern->starts[i + 1]; k++) {
        sn_vec3 edge = sn_sub(sn_load3(x + 3 * pattern->columns[k]), origin);
        F = sn_mat3_add(F, sn_outer(edge, model->slope[k]));
    }

    return F;
}

// The directions of the three edges that define the quick frame of node i.
static void find_edges(const int32_t *edges, int32_t i, const double *x,
                       sn_vec3 direction[FRAME_EDGES]) {
    for (int k = 0; k < FRAME_EDGES; k++) {
        direction[k] = sn_normalize(sn_sub(sn_load3(x + 3 * edges[k]), sn_load3(x + 3 * i)));
    }
}

// The frame of three edges (paper, section 3.1): the first axis is along their mean, the second
// perpendicular to the first and the last edge, the third perpendicular to both.
static sn_mat3 edge_frame(const sn_vec3 edge[FRAME_EDGES]) {
    sn_vec3 n1 = sn_normalize(sn_add(edge[0], sn_add(edge[1], edge[2])));
    sn_vec3 n2 = sn_normalize(sn_cross(n1, edge[FRAME_EDGES - 1]));

    return sn_mat3_columns(n1, n2, sn_cross(n1, n2));
}

// The rotation of node i by its edges; false where they have sheared, collapsed or turned inside
// out.
static bool find_quick_rotation(const sinew_body *body, const warp *model, int32_t i,
                                const double *x, sn_mat3 *R) {
    sn_vec3 now[FRAME_EDGES], rest[FRAME_EDGES];
    find_edges(model->edges[i], i, x, now);
    find_edges(model->edges[i], i, body->rest, rest);

    for (int k = 0; k < FRAME_EDGES; k++) {
        int next = (k + 1) % FRAME_EDGES;
        double shear = sn_dot(now[k], now[next]) - sn_dot(rest[k], rest[next]);
        if (!(fabs(shear) <= largest_shear)) {
            return false;
        }
    }

    double volume = sn_dot(now[0], sn_cross(now[1], now[2]));
    if (!(volume * sn_dot(rest[0], sn_cross(rest[1], rest[2])) > 0)) {
        return false;
    }

    *R = sn_mat3_mul(edge_frame(now), model->rest_frame[i]);
    return fabs(sn_mat3_det(*R) - 1) < 1e-6;
}

typedef struct warp_job {
    const sinew_body *body;
    const warp *model;
    const double *q;
} warp_job;

// The rotations of the nodes of some blocks.
static void compute_rotations(void *data, int32_t begin, int32_t end, int32_t chunk) {
    (void)chunk;
    const warp_job *job = data;
    const warp *model = job->model;
    int32_t rows = job->body->rows;

    for (int32_t block = begin; block < end; block++) {
        double F[9 * SN_BLOCK] SN_ALIGNED, R[9 * SN_BLOCK] SN_ALIGNED;
        bool fits[SN_BLOCK];
        int first = block * SN_BLOCK;
        int count = rows - first < SN_BLOCK ? rows - first : SN_BLOCK;
        int fit_count = 0;

        // Quick rotations, and the fits of the nodes that do not have one.
        for (int lane = 0; lane < SN_BLOCK; lane++) {
            int32_t i = first + lane;
            fits[lane] = lane < count &&
                         !(model->quick &&
                           find_quick_rotation(job->body, model, i, job->q, &model->rotation[i]));
            sn_mat3 fit = sn_mat3_identity();
            if (fits[lane]) {
                fit = fit_edges(job->body, model, i, job->q);
                fit_count++;
            }
            for (int e = 0; e < 9; e++) {
                F[e * SN_BLOCK + lane] = fit.m[e / 3][e % 3];
            }
        }
        if (fit_count == 0) {
            continue;
        }

        SN_ISA_PICK(job->body->context->isa, sn_decompose_polar)(R, NULL, F);
        for (int lane = 0; lane < SN_BLOCK; lane++) {
            if (!fits[lane]) {
                continue;
            }
            for (int e = 0; e < 9; e++) {
                model->rotation[first + lane].m[e / 3][e % 3] = R[e * SN_BLOCK + lane];
            }
        }
    }
}

// Subtracts the rigid acceleration field m_i (w x r_i) that carries the net torque.
static void remove_torque(const sinew_body *body, const double *q, double *force) {
    sn_vec3 center = {0, 0, 0}, torque = {0, 0, 0};
    double mass = 0;

    for (int32_t i = 0; i < body->rows; i++) {
        mass += body->row_mass[i];
        center = sn_madd(center, body->row_mass[i], sn_load3(q + 3 * i));
    }

    // Torque and inertia about the centre of mass.
    center = sn_scale(1 / mass, center);
    sn_mat3 inertia = {{{0}}};
    for (int32_t i = 0; i < body->rows; i++) {
        sn_vec3 r = sn_sub(sn_load3(q + 3 * i), center);
        torque = sn_add(torque, sn_cross(r, sn_load3(force + 3 * i)));
        sn_mat3 cross = sn_cross_matrix(r);
        inertia = sn_mat3_sub(inertia, sn_mat3_scale(body->row_mass[i], sn_mat3_mul(cross, cross)));
    }

    if (!(sn_mat3_det(inertia) > 0)) {
        return;
    }

    sn_vec3 spin = sn_mat3_apply(sn_mat3_inverse(inertia), torque);
    for (int32_t i = 0; i < body->rows; i++) {
        sn_vec3 field = sn_cross(spin, sn_sub(sn_load3(q + 3 * i), center));
        sn_add_to3(force + 3 * i, sn_scale(-body->row_mass[i], field));
    }
}

// Lower triangle += R_i K_ij R_j'.
static void add_matrix(const sinew_body *body, const warp *model, double *matrix) {
    const sn_bsr *pattern = &body->pattern;
    for (int32_t i = 0; i < body->rows; i++) {
        for (int32_t k = pattern->starts[i]; k <= pattern->diagonal[i]; k++) {
            sn_mat3 K;
            memcpy(K.m, model->stiffness + 9 * (size_t)k, sizeof K.m);
            sn_mat3 Rt = sn_mat3_transpose(model->rotation[pattern->columns[k]]);
            sn_mat3 rotated = sn_mat3_mul(model->rotation[i], sn_mat3_mul(K, Rt));

            for (int e = 0; e < 9; e++) {
                matrix[9 * (size_t)k + (size_t)e] += rotated.m[e / 3][e % 3];
            }
        }
    }
}

static const warp *warp_of(const sinew_body *body) {
    return (const warp *)(const void *)body->ops; // the ops are its first member
}

static void evaluate(sinew_body *body, sn_evaluation *evaluation) {
    const warp *model = warp_of(body);
    warp_job job = {body, model, evaluation->q};
    int32_t blocks = (body->rows + SN_BLOCK - 1) / SN_BLOCK;
    sn_parallel_for(body->context, blocks, CHUNK, compute_rotations, &job);

    if (evaluation->force) {
        sn_elastic_add_warped_force(body, evaluation->q, model->rotation, evaluation->force);
        remove_torque(body, evaluation->q, evaluation->force);
    }
    if (evaluation->matrix) {
        add_matrix(body, model, evaluation->matrix);
    }

    evaluation->energy = NAN;
}

// K: the stiffness of the elastic body at rest.
static void compute_stiffness(sinew_body *body, warp *model) {
    sn_bsr_set_zero(body->context, &body->pattern, model->stiffness);
    sn_evaluation evaluation = {.q = body->rest, .matrix = model->stiffness};
    model->elastic_ops.elasticity.evaluate(body, &evaluation);
    sn_bsr_mirror(body->context, &body->pattern, model->stiffness);
}

static bool add_constant_stiffness(sinew_body *body, double *matrix) {
    if (matrix) {
        const warp *model = warp_of(body);
        sn_bsr_add_scaled(body->context, &body->pattern, matrix, 1, model->stiffness);
    }
    return true;
}

static const sn_mat3 *get_rotations(const sinew_body *body) {
    return warp_of(body)->rotation;
}

static sinew_status check_law(sinew_context *context, const sinew_material_def *material) {
    if (material->fibre_stress > 0) {
        return sn_fail(context, SINEW_UNSUPPORTED,
                       "a warped body has no fibres: fibre_stress is %g Pa; for fibres choose the "
                       "elastic model",
                       material->fibre_stress);
    }

    if (material->law == SINEW_MATERIAL_HOOKE) {
        return SINEW_OK;
    }

    return sn_fail(context, SINEW_UNSUPPORTED,
                   "a warped body takes the linear isotropic law; for others choose the elastic "
                   "model (corotational)");
}

static sinew_status set_material(sinew_body *body, int32_t index,
                                 const sinew_material_def *material) {
    warp *model = (warp *)(void *)(uintptr_t)warp_of(body);
    SN_TRY(check_law(body->context, material));
    sinew_material_def linear = *material;
    linear.strain = SINEW_STRAIN_INFINITESIMAL;
    SN_TRY(model->elastic_ops.elasticity.set_material(body, index, &linear));
    compute_stiffness(body, model);

    return SINEW_OK;
}

// Chooses three neighbours whose edges are as perpendicular to one another as possible, so that
// each of them says something about the rotation.
static void choose_edges(const sinew_body *body, int32_t i, int32_t edges[FRAME_EDGES]) {
    const sn_bsr *pattern = &body->pattern;
    sn_vec3 chosen[FRAME_EDGES];

    for (int n = 0; n < FRAME_EDGES; n++) {
        double best = -1;
        for (int32_t k = pattern->starts[i]; k < pattern->starts[i + 1]; k++) {
            int32_t j = pattern->columns[k];
            if (j == i) {
                continue;
            }

            // The length, area or volume that the edge spans with those before it.
            sn_vec3 edge =
                sn_normalize(sn_sub(sn_load3(body->rest + 3 * j), sn_load3(body->rest + 3 * i)));
            double spread = 1;
            if (n == 1) {
                spread = sn_length(sn_cross(chosen[0], edge));
            }
            if (n == 2) {
                spread = fabs(sn_dot(edge, sn_cross(chosen[0], chosen[1])));
            }

            if (spread > best) {
                best = spread;
                chosen[n] = edge;
                edges[n] = j;
            }
        }
    }
}

// The slopes of node i: its rest edges times the inverse of their covariance.
static void find_slopes(const sinew_body *body, const warp *model, int32_t i) {
    const sn_bsr *pattern = &body->pattern;
    sn_vec3 origin = sn_load3(body->rest + 3 * i);
    sn_mat3 covariance = {{{0}}};
    for (int32_t k = pattern->starts[i]; k < pattern->starts[i + 1]; k++) {
        sn_vec3 edge = sn_sub(sn_load3(body->rest + 3 * pattern->columns[k]), origin);
        covariance = sn_mat3_add(covariance, sn_outer(edge, edge));
    }

    sn_mat3 inverse = sn_mat3_inverse(covariance);
    for (int32_t k = pattern->starts[i]; k < pattern->starts[i + 1]; k++) {
        sn_vec3 edge = sn_sub(sn_load3(body->rest + 3 * pattern->columns[k]), origin);
        model->slope[k] = sn_mat3_apply(inverse, edge);
    }
}

static void prepare_rotations(const sinew_body *body, warp *model) {
    for (int32_t i = 0; i < body->rows; i++) {
        find_slopes(body, model, i);
        if (model->quick) {
            sn_vec3 edge[FRAME_EDGES];
            choose_edges(body, i, model->edges[i]);
            find_edges(model->edges[i], i, body->rest, edge);
            model->rest_frame[i] = sn_mat3_transpose(edge_frame(edge));
        }
    }
}

sinew_status sn_warp_build(sinew_body *body, const sinew_body_def *def) {
    if (body->mesh.element != SINEW_ELEMENT_TET4) {
        return sn_fail(body->context, SINEW_UNSUPPORTED, "a warped body is made of four-node tets");
    }

    if (def->mass == SINEW_MASS_CONSISTENT) {
        return sn_fail(
            body->context, SINEW_UNSUPPORTED,
            "the mass of a warped body is lumped: a consistent mass does not rotate with "
            "its vertices; choose lumped or auto, or the elastic model");
    }

    // The elastic body with infinitesimal strain supplies K, mass, F and stress.
    int32_t count = def->material_count > 0 ? def->material_count : 1;
    sinew_material_def *materials = SN_PUSH(&body->arena, sinew_material_def, count);

    SN_TRY(sn_arena_status(&body->arena));
    for (int32_t i = 0; i < count; i++) {
        materials[i] = def->material_count > 0 ? def->materials[i] : sinew_default_material_def();
        SN_TRY(check_law(body->context, &materials[i]));
        materials[i].strain = SINEW_STRAIN_INFINITESIMAL;
    }

    sinew_body_def linear = *def;
    linear.materials = materials;
    linear.material_count = count;
    SN_TRY(sn_elastic_build(body, &linear));

    // Replace its forces; everything else stays as it is.
    bool quick = def->model == SINEW_MODEL_WARPED_EDGES;
    size_t frames = quick ? (size_t)body->rows : 0;
    int32_t slots = body->pattern.starts[body->rows];
    warp *model = SN_PUSH(&body->arena, warp, 1);
    double *stiffness = sn_bsr_push_values(&body->arena, &body->pattern);
    sn_mat3 *rotation = SN_PUSH(&body->arena, sn_mat3, body->rows + 1); // kernels read beyond it
    sn_vec3 *slope = SN_PUSH(&body->arena, sn_vec3, slots);
    sn_mat3 *rest_frame = SN_PUSH(&body->arena, sn_mat3, frames);
    int32_t(*edges)[FRAME_EDGES] = sn_arena_push(&body->arena, frames, sizeof *edges);

    SN_TRY(sn_arena_status(&body->arena));
    *model = (warp){.ops = *body->ops,
                    .elastic_ops = *body->ops,
                    .stiffness = stiffness,
                    .rotation = rotation,
                    .slope = slope,
                    .quick = quick,
                    .rest_frame = rest_frame,
                    .edges = edges};
    model->ops.elasticity.has_energy = false;
    model->ops.elasticity.evaluate = evaluate;
    model->ops.elasticity.add_constant_stiffness = add_constant_stiffness;
    model->ops.elasticity.get_rotations = get_rotations;
    model->ops.elasticity.set_material = set_material;
    model->ops.elasticity.set_fibre_stress = NULL; // forces come from the displacements alone
    compute_stiffness(body, model);
    prepare_rotations(body, model);
    body->ops = &model->ops;

    return SINEW_OK;
}
