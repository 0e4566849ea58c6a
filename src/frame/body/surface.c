// The surface of a frame body (sn_surface_ops): positions of its vertices by the blend of the
// nodes, forces on them transferred to the nodes, and strain and stress there.
#include "frame/body/surface.h"

#include "base/sorted.h"
#include "base/threads.h"
#include "frame/body/frame_body.h"
#include "frame/body/state.h"
#include "math/quat.h"

#include <string.h>

// Numbers of all nodes' maps.
enum { MOST_NUMBERS = 2048 };

typedef struct surface_job {
    const sn_frame_model *model;
    const double *rest;
    const sn_vertex_weights *weights;
    double *positions;
    sn_surface_fn *kernel; // NULL: nodes that are no maps of the rest point, or too many
    const double *maps;
    sn_vec3 center; // of maps of higher degree
} surface_job;

// A node as an affine map of the rest point: columns of x = m[0] + X m[1] + Y m[2] + Z m[3].
static void find_linear_map(const sn_node *node, const double *controls, double *map) {
    sn_vec3 base = sn_load3(controls);
    sn_vec3 o = node->origin;

    base = sn_madd(base, -o.x, sn_load3(controls + 3));
    base = sn_madd(base, -o.y, sn_load3(controls + 6));
    base = sn_madd(base, -o.z, sn_load3(controls + 9));
    memset(map, 0, SN_SURFACE_LINEAR * sizeof *map);
    sn_store3(map, base);

    for (int c = 1; c < 4; c++) {
        memcpy(map + 4 * c, controls + 3 * c, 3 * sizeof *map);
    }
}

// A rigid node as a dual quaternion: q, and T q / 2 with x = R X + T.
static void find_dual_map(const double *table, double *map) {
    sn_quat q = {table[0], table[1], table[2], table[3]};
    sn_vec3 T = sn_sub(sn_load3(table + SN_RIGID_TRANSLATION),
                       sn_quat_rotate(q, sn_load3(table + SN_RIGID_ORIGIN)));
    sn_quat r = sn_quat_mul((sn_quat){0.5 * T.x, 0.5 * T.y, 0.5 * T.z, 0}, q);
    memcpy(map, table, 4 * sizeof *map);
    map[4] = r.x;
    map[5] = r.y;
    map[6] = r.z;
    map[7] = r.w;
}

// The columns of a node relative to a centre instead of its origin, `o` from there: d = x - o in
//
//   t + A d + Q (dd) = t - A o + Q (oo) + (A - 2 Q o) x + Q (xx)                      quadratic
//   t + A d + sum_a c_a (C_a + E_a d) = t - A o + A x + sum_a c_a (C_a - E_a o + E_a x)   compliant
static void find_columns(const sn_node *node, const double *controls, sn_vec3 center, double *map,
                         int columns) {
    // Products of two components of d, as the quadratic monomials are ordered.
    static const int pairs[6][2] = {{0, 0}, {1, 1}, {2, 2}, {0, 1}, {1, 2}, {2, 0}};
    double o[3];
    sn_store3(o, sn_sub(node->origin, center));

    memset(map, 0, 4 * (size_t)columns * sizeof *map);
    for (int32_t c = 0; c < node->control_count; c++) {
        memcpy(map + 4 * c, controls + 3 * c, 3 * sizeof *map);
    }

    for (int k = 0; k < 3; k++) {
        if (node->kind == SINEW_NODE_COMPLIANT) {
            for (int a = 0; a < 3; a++) {
                for (int b = 0; b < 3; b++) {
                    map[4 * (4 + a) + k] -= o[b] * map[4 * (7 + 3 * a + b) + k];
                }
            }
        }

        // The linear columns still are those of d while the constant takes them.
        for (int b = 0; b < 3 && node->control_count > 1; b++) {
            map[k] -= o[b] * map[4 * (1 + b) + k];
        }

        if (node->kind == SINEW_NODE_QUADRATIC) {
            for (int p = 0; p < 6; p++) {
                double q = map[4 * (4 + p) + k];
                map[k] += o[pairs[p][0]] * o[pairs[p][1]] * q;
                map[4 * (1 + pairs[p][0]) + k] -= o[pairs[p][1]] * q;
                map[4 * (1 + pairs[p][1]) + k] -= o[pairs[p][0]] * q;
            }
        }
    }
}

// Returns how many numbers a node's map has; 0 if the nodes have no maps in common.
static int32_t choose_maps(const sn_frame_model *model) {
    if (model->dual) {
        return SN_SURFACE_DUAL;
    }

    bool linear = true, quadratic = false, compliant = false;
    for (int32_t i = 0; i < model->nodes.count; i++) {
        sinew_node_kind kind = model->nodes.items[i].kind;
        linear = linear && (kind == SINEW_NODE_RIGID || kind == SINEW_NODE_AFFINE);
        quadratic = quadratic || kind == SINEW_NODE_QUADRATIC;
        compliant = compliant || kind == SINEW_NODE_COMPLIANT;
    }

    if (linear) {
        return SN_SURFACE_LINEAR;
    }
    if (compliant) {
        return quadratic ? 0 : SN_SURFACE_COMPLIANT;
    }
    return SN_SURFACE_QUADRATIC;
}

// Looks up the compliance coordinates of the vertices once they are needed. Returns whether they
// are known: without memory for them, each point is looked up by itself.
static bool find_compliance(const sinew_body *body) {
    sn_frame_model *model = body->model;
    sn_vertex_weights *vertices = &model->base_vertices;
    if (vertices->compliance) {
        return true;
    }

    sn_arena arena = sn_arena_create(body->context);
    if (sn_shape_compute_vertex_compliance(model->shape, &arena, model->surface->points,
                                           vertices) != SINEW_OK) {
        vertices->compliance = NULL;
        sn_arena_destroy(&arena);
        return false;
    }
    model->compliance_arena = arena;
    return true;
}

// Computes the maps of all nodes and chooses the kernel for them, if there are such maps.
static void find_maps(const sinew_body *body, double *maps, surface_job *job) {
    const sn_frame_model *model = body->model;
    const sn_nodes *nodes = &model->nodes;
    sn_isa isa = body->context->isa;
    int32_t numbers = choose_maps(model);

    if (numbers == 0 || (int64_t)nodes->count * numbers > MOST_NUMBERS) {
        return;
    }
    if (numbers == SN_SURFACE_COMPLIANT && !find_compliance(body)) {
        return;
    }

    switch (numbers) {
    case SN_SURFACE_DUAL: job->kernel = SN_ISA_PICK(isa, sn_surface_dual); break;
    case SN_SURFACE_LINEAR: job->kernel = SN_ISA_PICK(isa, sn_surface_linear); break;
    case SN_SURFACE_QUADRATIC: job->kernel = SN_ISA_PICK(isa, sn_surface_quadratic); break;
    default: job->kernel = SN_ISA_PICK(isa, sn_surface_compliant); break;
    }

    job->center = nodes->items[0].origin;
    for (int32_t i = 0; i < nodes->count; i++) {
        const sn_node *node = &nodes->items[i];
        double *map = maps + (size_t)i * (size_t)numbers;
        if (numbers == SN_SURFACE_DUAL) {
            find_dual_map(model->blend.rigid.table + (size_t)i * SN_RIGID_TABLE, map);
            continue;
        }

        const double *controls = sn_at3(model->blend.controls, node->control);
        if (numbers == SN_SURFACE_LINEAR) {
            find_linear_map(node, controls, map);
        } else {
            find_columns(node, controls, job->center, map, numbers / 4);
        }
    }
}

static void compute_vertices(void *data, int32_t begin, int32_t end, int32_t chunk) {
    (void)chunk;
    const surface_job *job = data;
    const sn_frame_model *model = job->model;
    const sn_vertex_weights *v = job->weights;

    if (job->kernel) {
        sn_surface_points points = {.rest = job->rest,
                                    .start = v->start,
                                    .node = v->node,
                                    .weight = v->weight,
                                    .compliance = v->compliance};
        sn_store3(points.center, job->center);
        job->kernel(job->positions, &points, job->maps, begin, end);
        return;
    }

    for (int32_t i = begin; i < end; i++) {
        sn_blend_point point = {.X = sn_load3(sn_at3(job->rest, i)),
                                .count = v->start[i + 1] - v->start[i],
                                .node = v->node + v->start[i],
                                .weight = v->weight + v->start[i]};
        sn_store3(sn_at3(job->positions, i),
                  sn_blend_get_position(&model->nodes, &model->blend, &point));
    }
}

// Updates the vertices that inserted nodes move as well.
static void move_patch(const sinew_body *body, const surface_job *whole, double *positions) {
    const sn_vertex_patch *patch = whole->model->patch;
    surface_job job = *whole;

    job.rest = patch->rest;
    job.weights = &patch->weights;
    if (choose_maps(whole->model) == SN_SURFACE_COMPLIANT) {
        job.kernel = NULL; // the coordinates of the patch are not kept
    }
    job.positions = patch->position;
    sn_parallel_for(body->context, patch->count, 1024, compute_vertices, &job);

    for (int32_t k = 0; k < patch->count; k++) {
        memcpy(sn_at3(positions, patch->vertex[k]), sn_at3(patch->position, k),
               3 * sizeof *positions);
    }
}

void sn_frame_surface_compute(const sinew_body *body, const double *q, double *positions) {
    const sn_frame_model *model = body->model;
    sn_blend_prepare(&model->nodes, &model->blend, q);
    double maps[MOST_NUMBERS] SN_ALIGNED;
    surface_job job = {.model = model,
                       .rest = model->surface->points,
                       .weights = &model->base_vertices,
                       .positions = positions,
                       .maps = maps};

    find_maps(body, maps, &job);
    sn_parallel_for(body->context, model->surface->point_count, 1024, compute_vertices, &job);
    if (model->patch) {
        move_patch(body, &job, positions);
    }

    sn_fade_move_vertices(&model->fade, &model->nodes, &model->blend, *body->age, positions);
}

// A vertex with its weights; those that inserted nodes move have weights of their own.
static sn_blend_point vertex_point(const sinew_body *body, int32_t vertex) {
    const sn_frame_model *model = body->model;
    int32_t patched = model->patch ? sn_vertex_patch_find(model->patch, vertex) : -1;
    const sn_vertex_weights *v = patched < 0 ? &model->base_vertices : &model->patch->weights;
    int32_t start = v->start[patched < 0 ? vertex : patched];
    int32_t end = v->start[(patched < 0 ? vertex : patched) + 1];

    return (sn_blend_point){
        .X = sn_load3(sn_at3(body->surface->points, vertex)),
        .count = end - start,
        .node = v->node + start,
        .weight = v->weight + start,
        .off = sn_fade_offset_of_vertex(&model->fade, *body->age, vertex),
        .compliance = patched < 0 && v->compliance ? sn_at3(v->compliance, vertex) : NULL};
}

int32_t sn_frame_surface_get_jacobian(const sinew_body *body, int32_t vertex, int32_t *row,
                                      sn_mat3 *J) {
    const sn_frame_model *model = body->model;
    sn_blend_point point = vertex_point(body, vertex);
    if (J) {
        return sn_blend_get_jacobian(&model->nodes, &model->blend, &point, row, J);
    }

    int32_t count = 0;
    for (int32_t k = 0; k < point.count; k++) {
        const sn_node *node = &model->nodes.items[point.node[k]];
        for (int32_t r = 0; r < node->row_count; r++) {
            if (row) {
                row[count] = node->row + r;
            }
            count++;
        }
    }
    return count;
}

void sn_frame_surface_add_forces(const sinew_body *body, const double *forces, double *rows) {
    const sn_frame_model *model = body->model;
    sn_blend_prepare(&model->nodes, &model->blend, body->q);

    for (int32_t i = 0; i < body->surface->point_count; i++) {
        sn_vec3 f = sn_load3(sn_at3(forces, i));
        if (f.x == 0 && f.y == 0 && f.z == 0) {
            continue;
        }

        sn_blend_point point = vertex_point(body, i);
        sn_blend_add_force(&model->nodes, &model->blend, &point, f, rows);
    }
}

// Weights and gradients at all vertices, with every inserted node.
struct sn_surface_weights {
    sn_arena arena; // holds this struct too
    sn_frame_points points;
    uint64_t revision; // of the body, when they were looked up
};

void sn_frame_surface_release(sinew_body *body) {
    sn_frame_model *model = body->model;
    if (!model->surface_points) {
        return;
    }
    sn_arena arena = model->surface_points->arena; // a copy: the arena holds the struct
    model->surface_points = NULL;
    sn_arena_destroy(&arena);
}

static sinew_status find_points(sinew_body *body, sn_arena *arena,
                                struct sn_surface_weights **out) {
    struct sn_surface_weights *made = SN_PUSH(arena, struct sn_surface_weights, 1);
    SN_TRY(sn_arena_status(arena));
    made->revision = body->revision;
    *out = made;
    return sn_frame_points_create(arena, body, body->surface->points, body->surface->point_count,
                                  &made->points);
}

// Looks the vertices up at first, and again after nodes have joined or left.
static sinew_status get_points(sinew_body *body, const sn_frame_points **points) {
    sn_frame_model *model = body->model;
    if (!model->surface_points || model->surface_points->revision != body->revision) {
        sn_arena arena = sn_arena_create(body->context);
        struct sn_surface_weights *made = NULL;
        sinew_status status = find_points(body, &arena, &made);
        if (status != SINEW_OK) {
            sn_arena_destroy(&arena);
            return status;
        }

        sn_frame_surface_release(body);
        made->arena = arena;
        model->surface_points = made;
    }

    *points = &model->surface_points->points;
    return SINEW_OK;
}

sinew_status sn_frame_surface_measure(sinew_body *body, double *velocities,
                                      sinew_element_state *states) {
    const sn_frame_points *points;
    SN_TRY(get_points(body, &points));
    sn_frame_points_compute(points, body, NULL, velocities, states);
    return SINEW_OK;
}

sinew_status sinew_frame_body_get_surface_weights(sinew_body *body, const int32_t **starts,
                                                  const int32_t **nodes, const double **weights) {
    SN_NEED(NULL, body);

    if (!sn_frame_model_of(body)) {
        return sn_fail(body->context, SINEW_INVALID_ARGUMENT, "body \"%s\" has no frames",
                       body->name);
    }

    const sn_frame_points *points;
    SN_TRY(get_points(body, &points));
    if (starts) {
        *starts = points->start;
    }
    if (nodes) {
        *nodes = points->node;
    }
    if (weights) {
        *weights = points->weight;
    }
    return SINEW_OK;
}
