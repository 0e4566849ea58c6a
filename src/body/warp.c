// Warped stiffness: the linear model with a rotation per vertex.
//
// With K the constant stiffness of the linear model and R_i the rotation of vertex i,
//
//   f_i = -R_i sum_j K_ij (R_i' x_j - X_j)     (paper, eq. 12).
//
// Because neighbouring rotations differ, these forces have a net force and torque on a free body; a
// correction proportional to mass removes both. The Jacobian of the paper, R_i K_ij R_i', is not
// symmetric. We use R_i K_ij R_j', which is symmetric, is as definite as K, and agrees with the
// paper's where rotations vary slowly. The forces have no energy.
//
// The rotation of a vertex is the polar factor of the linear map that fits its edges best or, in
// quick mode, the paper's frame of three edges.
// Cost: a product with K in 3x3 blocks, and one polar decomposition per vertex.
#include "body/warp.h"

#include "base/threads.h"
#include "body/elastic.h"
#include "math/svd.h"

#include <math.h>
#include <string.h>

enum { CHUNK = 256, FRAME_EDGES = 3 };

typedef struct warp {
    sn_body_ops ops;         // those of the elastic body, with the forces replaced
    sn_body_ops elastic_ops; // the original ones, for F, stress and materials
    double *stiffness;       // K, both triangles
    sn_mat3 *rotation;       // [node], at the last evaluation
    bool quick;
    // [node]: inverse covariance of the rest edges; in quick mode the transposed rest frame.
    sn_mat3 *rest_inverse;
    // [node]: the neighbours that define the quick frame, the last one for its second axis.
    int32_t (*edges)[FRAME_EDGES];
} warp;

// The covariance of the edges at node i, sum_j (x_j - x_i) (y_j - y_i)'. Times the inverse of the
// rest covariance it is the linear map F that fits x_j - x_i = F (X_j - X_i) best.
static sn_mat3 edge_covariance(const sinew_body *body, int32_t i, const double *x,
                               const double *y) {
    const sn_bsr *pattern = &body->pattern;
    sn_mat3 sum = {{{0}}};
    for (int32_t k = pattern->starts[i]; k < pattern->starts[i + 1]; k++) {
        int32_t j = pattern->columns[k];
        sn_vec3 a = sn_sub(sn_load3(x + 3 * j), sn_load3(x + 3 * i));
        sn_vec3 b = sn_sub(sn_load3(y + 3 * j), sn_load3(y + 3 * i));
        sum = sn_mat3_add(sum, sn_outer(a, b));
    }

    return sum;
}

// The frame of three edges (paper, section 3.1): the first axis is along their mean, the second
// perpendicular to the first and the last edge, the third perpendicular to both.
static sn_mat3 edge_frame(const int32_t *edges, int32_t i, const double *x) {
    sn_vec3 edge[FRAME_EDGES], mean = {0, 0, 0};
    for (int k = 0; k < FRAME_EDGES; k++) {
        edge[k] = sn_normalize(sn_sub(sn_load3(x + 3 * edges[k]), sn_load3(x + 3 * i)));
        mean = sn_add(mean, edge[k]);
    }

    sn_vec3 n1 = sn_normalize(mean);
    sn_vec3 n2 = sn_normalize(sn_cross(n1, edge[FRAME_EDGES - 1]));

    return sn_mat3_columns(n1, n2, sn_cross(n1, n2));
}

typedef struct warp_job {
    const sinew_body *body;
    const warp *model;
    const double *q;
    double *force;
} warp_job;

static void compute_rotations(void *data, int32_t begin, int32_t end, int32_t chunk) {
    (void)chunk;
    const warp_job *job = data;
    for (int32_t i = begin; i < end; i++) {
        sn_mat3 R;
        if (job->model->quick) {
            R = sn_mat3_mul(edge_frame(job->model->edges[i], i, job->q),
                            job->model->rest_inverse[i]);
            if (!(fabs(sn_mat3_det(R) - 1) < 1e-6)) {
                R = sn_mat3_identity(); // edges have collapsed
            }
        } else {
            R = sn_polar3(NULL, sn_mat3_mul(edge_covariance(job->body, i, job->q, job->body->rest),
                                            job->model->rest_inverse[i]));
        }

        job->model->rotation[i] = R;
    }
}

// f_i = -R_i sum_j K_ij (R_i' x_j - X_j).
static void compute_forces(void *data, int32_t begin, int32_t end, int32_t chunk) {
    (void)chunk;
    const warp_job *job = data;
    const sn_bsr *pattern = &job->body->pattern;

    for (int32_t i = begin; i < end; i++) {
        sn_mat3 R = job->model->rotation[i];
        sn_vec3 sum = {0, 0, 0};
        for (int32_t k = pattern->starts[i]; k < pattern->starts[i + 1]; k++) {
            int32_t j = pattern->columns[k];
            sn_vec3 u = sn_sub(sn_mat3_apply_transposed(R, sn_load3(job->q + 3 * j)),
                               sn_load3(job->body->rest + 3 * j));
            const double *K = job->model->stiffness + 9 * (size_t)k;
            sum = sn_add(sum, sn_v3(K[0] * u.x + K[1] * u.y + K[2] * u.z,
                                    K[3] * u.x + K[4] * u.y + K[5] * u.z,
                                    K[6] * u.x + K[7] * u.y + K[8] * u.z));
        }

        sn_store3(job->force + 3 * i, sn_scale(-1, sn_mat3_apply(R, sum)));
    }
}

// Subtracts the rigid acceleration field m_i (a + w x r_i) that carries the net force and torque.
static void remove_net_force(const sinew_body *body, const double *q, double *force) {
    sn_vec3 net = {0, 0, 0}, center = {0, 0, 0}, torque = {0, 0, 0};
    double mass = 0;

    // Net force, mass and centre of mass.
    for (int32_t i = 0; i < body->rows; i++) {
        mass += body->row_mass[i];
        center = sn_madd(center, body->row_mass[i], sn_load3(q + 3 * i));
        net = sn_add(net, sn_load3(force + 3 * i));
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

    // Subtract the rigid acceleration with this net force and torque.
    sn_vec3 spin =
        sn_mat3_det(inertia) > 0 ? sn_mat3_apply(sn_mat3_inverse(inertia), torque) : sn_v3(0, 0, 0);
    for (int32_t i = 0; i < body->rows; i++) {
        sn_vec3 field =
            sn_add(sn_scale(1 / mass, net), sn_cross(spin, sn_sub(sn_load3(q + 3 * i), center)));
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
    warp_job job = {body, model, evaluation->q, evaluation->force};

    sn_parallel_for(body->context, body->rows, CHUNK, compute_rotations, &job);
    if (evaluation->force) {
        sn_parallel_for(body->context, body->rows, CHUNK, compute_forces, &job);
        remove_net_force(body, evaluation->q, evaluation->force);
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

// Chooses three neighbours whose edges lie in one half space. The last edge is the most
// perpendicular to their mean.
static void choose_edges(const sinew_body *body, int32_t i, int32_t *edges) {
    const sn_bsr *pattern = &body->pattern;
    sn_vec3 first = {0, 0, 0};
    double best[2] = {-2, -2};

    edges[0] = edges[1] = edges[2] = i;
    for (int32_t k = pattern->starts[i]; k < pattern->starts[i + 1]; k++) {
        int32_t j = pattern->columns[k];
        if (j == i) {
            continue;
        }

        sn_vec3 edge =
            sn_normalize(sn_sub(sn_load3(body->rest + 3 * j), sn_load3(body->rest + 3 * i)));
        if (edges[0] == i) {
            edges[0] = j;
            first = edge;
            continue;
        }

        // Keep the two edges closest to the first in direction, in that order.
        double cosine = sn_dot(first, edge);
        if (cosine > 0.95) {
            cosine = -1; // nearly parallel: of no use for the second axis
        }

        if (cosine > best[0]) {
            best[1] = best[0];
            edges[2] = edges[1] == i ? j : edges[1];
            best[0] = cosine;
            edges[1] = j;
        } else if (cosine > best[1]) {
            best[1] = cosine;
            edges[2] = j;
        }
    }
}

static void prepare_rotations(const sinew_body *body, warp *model) {
    for (int32_t i = 0; i < body->rows; i++) {
        if (model->quick) {
            choose_edges(body, i, model->edges[i]);
            model->rest_inverse[i] = sn_mat3_transpose(edge_frame(model->edges[i], i, body->rest));
        } else {
            model->rest_inverse[i] =
                sn_mat3_inverse(edge_covariance(body, i, body->rest, body->rest));
        }
    }
}

sinew_status sn_warp_build(sinew_body *body, const sinew_body_def *def) {
    if (body->mesh.element != SINEW_ELEMENT_TET4) {
        return sn_fail(body->context, SINEW_UNSUPPORTED, "a warped body is made of four-node tets");
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
    warp *model = SN_PUSH(&body->arena, warp, 1);
    double *stiffness = sn_bsr_push_values(&body->arena, &body->pattern);
    sn_mat3 *rotation = SN_PUSH(&body->arena, sn_mat3, body->rows);
    sn_mat3 *rest_inverse = SN_PUSH(&body->arena, sn_mat3, body->rows);

    int32_t(*edges)[FRAME_EDGES] = sn_arena_push(&body->arena, (size_t)body->rows, sizeof *edges);
    SN_TRY(sn_arena_status(&body->arena));
    *model = (warp){.ops = *body->ops,
                    .elastic_ops = *body->ops,
                    .stiffness = stiffness,
                    .rotation = rotation,
                    .quick = def->model == SINEW_MODEL_WARPED_EDGES,
                    .rest_inverse = rest_inverse,
                    .edges = edges};
    model->ops.elasticity.has_energy = false;
    model->ops.elasticity.evaluate = evaluate;
    model->ops.elasticity.set_material = set_material;
    model->ops.elasticity.set_fibre_stress = NULL; // forces come from the displacements alone
    compute_stiffness(body, model);
    prepare_rotations(body, model);
    body->ops = &model->ops;

    return SINEW_OK;
}
