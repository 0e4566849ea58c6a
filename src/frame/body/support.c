// Face supports: definition, energy with its derivatives, reactions (support.h).
#include "frame/body/support.h"

#include "sinew/frame_support.h"

#include "frame/body/frame_body.h"

#include <math.h>
#include <string.h>

// Moments that the points of a dual-quaternion body share with the face.
enum { POINT_DEGREE = 3, MOST_POINTS = 20 };

sinew_frame_support_def sinew_default_frame_support_def(void) {
    return (sinew_frame_support_def){.axes = SINEW_AXIS_ALL, .filled = SN_DEF_FILLED};
}

// --- the controls or points of a support

// The rest control vectors of a node after a rigid motion.
static sn_vec3 target_control(const sn_node *node, int32_t c, sn_mat3 R, sn_vec3 t) {
    if (c == 0) {
        return sn_add(sn_mat3_apply(R, node->origin), t);
    }
    return c < 4 ? sn_mat3_column(R, c - 1) : sn_v3(0, 0, 0);
}

// Where each control of the nodes is in the part's list; -1: it is not.
static sinew_status list_controls(sn_arena *arena, const sn_frame_model *model,
                                  const sn_face_support *support, sn_shape_point *at,
                                  int32_t *place, sn_face_part *part) {
    const sn_nodes *nodes = &model->nodes;
    for (int32_t c = 0; c < nodes->control_count; c++) {
        place[c] = -1;
    }

    // Mark the controls that move any vertex of the face, then number them.
    for (int32_t v = 0; v < support->count; v++) {
        sn_frame_weights_at(model, sn_load3(sn_at3(support->rest, v)), at);
        for (int32_t k = 0; k < at->count; k++) {
            const sn_node *node = &nodes->items[at->node[k]];
            if (at->weight[k] != 0) {
                for (int32_t c = 0; c < node->control_count; c++) {
                    place[node->control + c] = 0;
                }
            }
        }
    }

    for (int32_t c = 0; c < nodes->control_count; c++) {
        if (place[c] == 0) {
            place[c] = part->count++;
        }
    }

    size_t count = (size_t)part->count;
    part->control = SN_PUSH(arena, int32_t, count);
    part->node = SN_PUSH(arena, int32_t, count);
    part->G = SN_PUSH(arena, double, count *count);
    part->share = SN_PUSH(arena, double, count);
    part->slot = SN_PUSH(arena, int32_t, count * count);
    part->gap = SN_PUSH(arena, double, 3 * count);
    part->product = SN_PUSH(arena, double, 3 * count);
    SN_TRY(sn_arena_status(arena));

    // Back again: control and node of each number.
    for (int32_t i = 0; i < nodes->count; i++) {
        for (int32_t c = 0; c < nodes->items[i].control_count; c++) {
            int32_t control = nodes->items[i].control + c;
            if (place[control] >= 0) {
                part->control[place[control]] = control;
                part->node[place[control]] = i;
            }
        }
    }

    return SINEW_OK;
}

// G += k N N' of one vertex.
static void add_vertex(const sn_nodes *nodes, sn_vec3 X, double k, const sn_shape_point *at,
                       const int32_t *place, sn_face_part *part, int32_t *list, double *N) {
    sn_rest_point rest = sn_rest_point_at(X);
    int32_t count = 0;

    // N: the weight of each control at the vertex.
    for (int32_t i = 0; i < at->count; i++) {
        const sn_node *node = &nodes->items[at->node[i]];
        double m[SN_NODE_MAX_CONTROLS];
        if (at->weight[i] == 0) {
            continue;
        }

        sn_node_monomials(node, &rest, m, NULL);
        for (int32_t c = 0; c < node->control_count; c++) {
            list[count] = place[node->control + c];
            N[count++] = at->weight[i] * m[c];
        }
    }

    // Add the dyad, and the row sums that the target position needs.
    for (int32_t a = 0; a < count; a++) {
        double *row = part->G + (size_t)list[a] * (size_t)part->count;
        part->share[list[a]] += k * N[a];
        for (int32_t b = 0; b < count; b++) {
            row[list[b]] += k * N[a] * N[b];
        }
    }
}

static int32_t row_of(const sn_nodes *nodes, const sn_face_part *part, int32_t c) {
    const sn_node *node = &nodes->items[part->node[c]];
    return node->row + sn_node_row_of_control(node, part->control[c] - node->control);
}

static bool turns(const sn_nodes *nodes, const sn_face_part *part, int32_t c) {
    const sn_node *node = &nodes->items[part->node[c]];
    return sn_node_control_turns(node, part->control[c] - node->control);
}

static sinew_status build_controls(sinew_body *body, const sn_face_support *support,
                                   sn_arena *scratch, sn_face_part *part) {
    sn_frame_model *model = body->model;
    const sn_nodes *nodes = &model->nodes;
    sn_shape_point *at = SN_PUSH(scratch, sn_shape_point, 1);
    int32_t *place = SN_PUSH(scratch, int32_t, nodes->control_count);
    int32_t *list = SN_PUSH(scratch, int32_t, nodes->control_count);
    double *N = SN_PUSH(scratch, double, nodes->control_count);

    SN_TRY(sn_arena_status(scratch));
    SN_TRY(list_controls(&model->arena, model, support, at, place, part));

    // Integrate over the vertices, whose stiffness includes their area.
    for (int32_t v = 0; v < support->count; v++) {
        sn_vec3 X = sn_load3(sn_at3(support->rest, v));
        sn_frame_weights_at(model, X, at);
        add_vertex(nodes, X, support->stiffness[v], at, place, part, list, N);
    }

    // Where the blocks are in the body's matrix, of which only the lower triangle is stored.
    for (int32_t a = 0; a < part->count; a++) {
        for (int32_t b = 0; b < part->count; b++) {
            int32_t row = row_of(nodes, part, a);
            int32_t column = row_of(nodes, part, b);
            part->slot[a * part->count + b] =
                row >= column ? sn_bsr_find(&body->pattern, row, column) : -1;
        }
    }

    return SINEW_OK;
}

static sinew_status push_point(sn_arena *arena, const sn_frame_model *model, sn_vec3 X,
                               sn_shape_point *at, sn_blend_point *point, int32_t *rows) {
    sn_frame_weights_at(model, X, at);
    int32_t *node = SN_PUSH(arena, int32_t, at->count);
    double *weight = SN_PUSH(arena, double, at->count);
    SN_TRY(sn_arena_status(arena));

    *point = (sn_blend_point){.X = X, .node = node, .weight = weight};
    int32_t count = 0;
    for (int32_t k = 0; k < at->count; k++) {
        if (at->weight[k] == 0) {
            continue;
        }
        node[point->count] = at->node[k];
        weight[point->count++] = at->weight[k];
        count += model->nodes.items[at->node[k]].row_count;
    }

    *rows = count > *rows ? count : *rows;
    return SINEW_OK;
}

static sinew_status build_points(sinew_body *body, const sn_face_support *support,
                                 sn_arena *scratch, sn_face_part *part) {
    sn_frame_model *model = body->model;
    sn_arena *arena = &model->arena;
    sn_shape_point *at = SN_PUSH(scratch, sn_shape_point, 1);
    int32_t *chosen = SN_PUSH(scratch, int32_t, support->count);
    double *volumes = SN_PUSH(scratch, double, support->count);
    double *work = SN_PUSH(scratch, double, sn_select_work(POINT_DEGREE));

    SN_TRY(sn_arena_status(scratch));

    // A few points that integrate polynomials over the face as the vertices do.
    memcpy(volumes, support->stiffness, (size_t)support->count * sizeof *volumes);
    part->point_count =
        sn_select_points(POINT_DEGREE, support->rest, support->count, NULL, chosen, volumes, work);
    part->points = SN_PUSH(arena, sn_blend_point, part->point_count);
    part->stiffness = SN_PUSH(arena, double, part->point_count);
    SN_TRY(sn_arena_status(arena));

    int32_t rows = 0;
    for (int32_t i = 0; i < part->point_count; i++) {
        part->stiffness[i] = volumes[i];
        SN_TRY(push_point(arena, model, sn_load3(sn_at3(support->rest, chosen[i])), at,
                          &part->points[i], &rows));
    }

    // Scratch of the evaluation, sized for the point with most rows.
    part->row = SN_PUSH(arena, int32_t, rows);
    part->J = SN_PUSH(arena, sn_mat3, rows);
    part->curvature = SN_PUSH(arena, sn_mat3, (size_t)rows * (size_t)rows);
    return sn_arena_status(arena);
}

static sinew_status build_part(sinew_body *body, const sn_face_support *support,
                               sn_face_part *part) {
    const sn_frame_model *model = body->model;
    sn_arena scratch = sn_arena_create(body->context);
    sinew_status status = model->dual ? build_points(body, support, &scratch, part)
                                      : build_controls(body, support, &scratch, part);
    sn_arena_destroy(&scratch);
    return status;
}

sinew_status sn_face_parts_build(sinew_body *body) {
    sn_frame_model *model = body->model;
    model->parts = SN_PUSH(&model->arena, sn_face_part, model->support_count);
    SN_TRY(sn_arena_status(&model->arena));

    for (int32_t i = 0; i < model->support_count; i++) {
        SN_TRY(build_part(body, model->supports[i], &model->parts[i]));
    }

    return SINEW_OK;
}

// --- energy, forces, stiffness

static sn_vec3 mask_axes(sn_vec3 v, int32_t axes) {
    return sn_v3(axes & SINEW_AXIS_X ? v.x : 0, axes & SINEW_AXIS_Y ? v.y : 0,
                 axes & SINEW_AXIS_Z ? v.z : 0);
}

static sn_mat3 axes_matrix(int32_t axes, double s) {
    return (sn_mat3){{{axes & SINEW_AXIS_X ? s : 0, 0, 0},
                      {0, axes & SINEW_AXIS_Y ? s : 0, 0},
                      {0, 0, axes & SINEW_AXIS_Z ? s : 0}}};
}

// product = G gap
static void multiply(const sn_face_part *part) {
    for (int32_t a = 0; a < part->count; a++) {
        const double *row = part->G + (size_t)a * (size_t)part->count;
        sn_vec3 sum = sn_v3(0, 0, 0);
        for (int32_t b = 0; b < part->count; b++) {
            sum = sn_madd(sum, row[b], sn_load3(sn_at3(part->gap, b)));
        }
        sn_store3(sn_at3(part->product, a), sum);
    }
}

// Gaps of the controls from their targets, and G times them. Returns the energy.
static double find_gaps(const sn_frame_model *model, const sn_face_support *support,
                        const sn_face_part *part) {
    sn_mat3 R = sn_quat_to_mat3(support->R);
    double energy = 0;
    for (int32_t a = 0; a < part->count; a++) {
        const sn_node *node = &model->nodes.items[part->node[a]];
        sn_vec3 target = target_control(node, part->control[a] - node->control, R, support->t);
        sn_vec3 now = sn_load3(sn_at3(model->blend.controls, part->control[a]));
        sn_store3(sn_at3(part->gap, a), mask_axes(sn_sub(now, target), support->axes));
    }

    multiply(part);
    for (int32_t k = 0; k < 3 * part->count; k++) {
        energy += 0.5 * part->gap[k] * part->product[k];
    }

    return energy;
}

// rows += s B' product
static void add_to_rows(const sn_frame_model *model, const sn_face_part *part, double s,
                        double *rows) {
    for (int32_t a = 0; a < part->count; a++) {
        sn_vec3 p = sn_scale(s, sn_load3(sn_at3(part->product, a)));
        if (turns(&model->nodes, part, a)) {
            p = sn_cross(sn_load3(sn_at3(model->blend.controls, part->control[a])), p);
        }
        sn_add_to3(rows + 3 * (size_t)row_of(&model->nodes, part, a), p);
    }
}

static void add_block(double *matrix, int32_t slot, sn_mat3 block) {
    double *out = matrix + 9 * (size_t)slot;
    for (int e = 0; e < 9; e++) {
        out[e] += block.m[e / 3][e % 3];
    }
}

// How a control moves with its row: J = I, or -[a]x for the columns of a rigid node.
static sn_mat3 control_motion(const sn_frame_model *model, const sn_face_part *part, int32_t c) {
    if (!turns(&model->nodes, part, c)) {
        return sn_mat3_identity();
    }
    return sn_mat3_scale(
        -1, sn_cross_matrix(sn_load3(sn_at3(model->blend.controls, part->control[c]))));
}

// Second derivative of p . a as a rotates by exp(w): that of p . (w x (w x a)) / 2.
static sn_mat3 turning_curvature(sn_vec3 a, sn_vec3 p) {
    sn_mat3 both = sn_mat3_add(sn_outer(a, p), sn_outer(p, a));
    return sn_mat3_sub(sn_mat3_scale(0.5, both), sn_mat3_scale(sn_dot(a, p), sn_mat3_identity()));
}

// The slot of a pair of controls on the pattern of the rows, or on a local pattern, which has pairs
// of the same node only.
static int32_t find_slot(const sinew_body *body, const sn_bsr *pattern, const sn_face_part *part,
                         int32_t a, int32_t b) {
    const sn_frame_model *model = body->model;
    if (pattern == &body->pattern) {
        return part->slot[a * part->count + b];
    }

    int32_t row = row_of(&model->nodes, part, a);
    int32_t column = row_of(&model->nodes, part, b);
    return part->node[a] == part->node[b] && row >= column ? sn_bsr_find(pattern, row, column) : -1;
}

// Pairs that are not in the pattern have weights too small to matter: the forces contain them.
static void add_matrix(const sinew_body *body, const sn_bsr *pattern,
                       const sn_face_support *support, const sn_face_part *part, bool curved,
                       double *matrix) {
    const sn_frame_model *model = body->model;
    for (int32_t a = 0; a < part->count; a++) {
        for (int32_t b = 0; b < part->count; b++) {
            int32_t slot = find_slot(body, pattern, part, a, b);
            if (slot < 0) {
                continue;
            }

            // The block is linear in the controls; rows of rotation multiply by their motion.
            sn_mat3 D = axes_matrix(support->axes, part->G[a * part->count + b]);
            if (turns(&model->nodes, part, a)) {
                D = sn_mat3_mul(sn_mat3_transpose(control_motion(model, part, a)), D);
            }
            if (turns(&model->nodes, part, b)) {
                D = sn_mat3_mul(D, control_motion(model, part, b));
            }
            add_block(matrix, slot, D);
        }

        // Second derivative of the rotated control.
        if (curved && turns(&model->nodes, part, a)) {
            sn_vec3 now = sn_load3(sn_at3(model->blend.controls, part->control[a]));
            add_block(matrix, find_slot(body, pattern, part, a, a),
                      turning_curvature(now, sn_load3(sn_at3(part->product, a))));
        }
    }
}

static sn_vec3 point_gap(const sn_frame_model *model, const sn_face_support *support,
                         const sn_blend_point *point) {
    sn_vec3 x = sn_blend_get_position(&model->nodes, &model->blend, point);
    sn_vec3 y = sn_add(sn_quat_rotate(support->R, point->X), support->t);
    return mask_axes(sn_sub(x, y), support->axes);
}

static void add_point_matrix(const sinew_body *body, const sn_bsr *pattern,
                             const sn_face_support *support, const sn_face_part *part, int32_t i,
                             sn_vec3 f, bool curved, double *matrix) {
    const sn_frame_model *model = body->model;
    const sn_blend_point *point = &part->points[i];
    int32_t count = sn_blend_get_jacobian(&model->nodes, &model->blend, point, part->row, part->J);
    sn_mat3 D = axes_matrix(support->axes, part->stiffness[i]);

    memset(part->curvature, 0, (size_t)count * (size_t)count * sizeof *part->curvature);
    if (curved) {
        sn_blend_add_curvature(&model->nodes, &model->blend, point, f, part->curvature);
    }

    // J' D J and the curvature, in the lower triangle.
    for (int32_t a = 0; a < count; a++) {
        sn_mat3 left = sn_mat3_mul(sn_mat3_transpose(part->J[a]), D);
        for (int32_t b = 0; b < count; b++) {
            int32_t slot = part->row[a] >= part->row[b]
                               ? sn_bsr_find(pattern, part->row[a], part->row[b])
                               : -1;
            if (slot >= 0) {
                add_block(
                    matrix, slot,
                    sn_mat3_add(sn_mat3_mul(left, part->J[b]), part->curvature[a * count + b]));
            }
        }
    }
}

static double evaluate_points(sinew_body *body, const sn_bsr *pattern,
                              const sn_face_support *support, const sn_face_part *part,
                              const sn_evaluation *evaluation) {
    const sn_frame_model *model = body->model;
    double energy = 0;
    for (int32_t i = 0; i < part->point_count; i++) {
        sn_vec3 gap = point_gap(model, support, &part->points[i]);
        sn_vec3 f = sn_scale(part->stiffness[i], gap);
        energy += 0.5 * sn_dot(f, gap);

        if (evaluation->force) {
            sn_blend_add_force(&model->nodes, &model->blend, &part->points[i], sn_scale(-1, f),
                               evaluation->force);
        }
        if (evaluation->matrix) {
            add_point_matrix(body, pattern, support, part, i, f, !evaluation->projected,
                             evaluation->matrix);
        }
    }

    return energy;
}

void sn_face_supports_evaluate(sinew_body *body, const sn_bsr *pattern, sn_evaluation *evaluation) {
    const sn_frame_model *model = body->model;
    if (model->support_count == 0) {
        return;
    }

    sn_blend_prepare(&model->nodes, &model->blend, evaluation->q);
    for (int32_t i = 0; i < model->support_count; i++) {
        const sn_face_support *support = model->supports[i];
        const sn_face_part *part = &model->parts[i];
        if (part->point_count > 0) {
            evaluation->energy += evaluate_points(body, pattern, support, part, evaluation);
            continue;
        }

        evaluation->energy += find_gaps(model, support, part);
        if (evaluation->force) {
            add_to_rows(model, part, -1, evaluation->force);
        }
        if (evaluation->matrix) {
            bool curved = !evaluation->projected && !evaluation->local;
            add_matrix(body, pattern, support, part, curved, evaluation->matrix);
        }
    }
}

void sn_face_supports_add_product(const sinew_body *body, double *y, const double *x) {
    const sn_frame_model *model = body->model;
    for (int32_t i = 0; i < model->support_count; i++) {
        const sn_face_support *support = model->supports[i];
        const sn_face_part *part = &model->parts[i];

        // Points of dual quaternions: y += J' k J x.
        for (int32_t k = 0; k < part->point_count; k++) {
            int32_t count = sn_blend_get_jacobian(&model->nodes, &model->blend, &part->points[k],
                                                  part->row, part->J);
            sn_vec3 d = sn_v3(0, 0, 0);
            for (int32_t a = 0; a < count; a++) {
                d = sn_add(d, sn_mat3_apply(part->J[a], sn_load3(x + 3 * (size_t)part->row[a])));
            }

            sn_blend_add_force(&model->nodes, &model->blend, &part->points[k],
                               sn_scale(part->stiffness[k], mask_axes(d, support->axes)), y);
        }

        // Controls of linear blending: y += J' G J x.
        for (int32_t a = 0; a < part->count; a++) {
            sn_vec3 rate = sn_load3(x + 3 * (size_t)row_of(&model->nodes, part, a));
            sn_store3(
                sn_at3(part->gap, a),
                mask_axes(sn_mat3_apply(control_motion(model, part, a), rate), support->axes));
        }

        multiply(part);
        add_to_rows(model, part, 1, y);
    }
}

void sn_face_supports_release(sinew_body *body) {
    sn_frame_model *model = body->model;
    for (int32_t i = 0; i < model->support_count; i++) {
        sn_arena arena = model->supports[i]->arena;
        sn_arena_destroy(&arena);
    }

    sn_release(body->context, model->supports, model->support_capacity, sizeof *model->supports);
    model->supports = NULL;
    model->support_count = 0;
    model->support_capacity = 0;
}

// --- definition

static sinew_status check_def(const sinew_body *body, const sinew_frame_support_def *def) {
    const sn_frame_model *model = sn_frame_model_of(body);
    SN_TRY(SN_CHECK_DEF(body->context, def, "sinew_default_frame_support_def"));
    if (!model) {
        return sn_fail(body->context, SINEW_INVALID_ARGUMENT,
                       "body \"%s\" has no frames; hold its nodes with sinew_body_fix_nodes",
                       body->name);
    }

    // Values, then indices.
    if (!def->vertices || def->vertex_count < 1 || !(def->softness >= 0) ||
        !isfinite(def->softness) || def->axes < 1 || def->axes > SINEW_AXIS_ALL) {
        return sn_fail(body->context, SINEW_INVALID_ARGUMENT,
                       "a support of %d vertices (at least 1) with a softness of %g m (at least 0) "
                       "along the axes %d (1 to 7)",
                       def->vertices ? def->vertex_count : 0, def->softness, def->axes);
    }

    for (int32_t i = 0; i < def->vertex_count; i++) {
        if (def->vertices[i] < 0 || def->vertices[i] >= body->surface->point_count) {
            return sn_fail(body->context, SINEW_INVALID_ARGUMENT,
                           "vertex %d of a support is %d; the surface of body \"%s\" has %d", i,
                           def->vertices[i], body->name, body->surface->point_count);
        }
    }

    return SINEW_OK;
}

// The share of each vertex in the area of the triangles whose corners are all selected or, if there
// is none, of all triangles that it touches.
static double share_area(const sinew_mesh *surface, const bool *selected, double *area) {
    double total = 0;
    for (int corners = 3; corners > 0 && !(total > 0); corners -= 2) {
        for (int32_t e = 0; e < surface->element_count; e++) {
            const int32_t *t = surface->indices + 3 * (size_t)e;
            if (selected[t[0]] + selected[t[1]] + selected[t[2]] < corners) {
                continue;
            }

            sn_vec3 a = sn_load3(sn_at3(surface->points, t[0]));
            sn_vec3 b = sn_sub(sn_load3(sn_at3(surface->points, t[1])), a);
            sn_vec3 c = sn_sub(sn_load3(sn_at3(surface->points, t[2])), a);
            double third = sn_length(sn_cross(b, c)) / 6;
            for (int k = 0; k < 3; k++) {
                area[t[k]] += selected[t[k]] ? third : 0;
                total += selected[t[k]] ? third : 0;
            }
        }
    }

    return total;
}

// A hundredth of the longest side of the solid.
static double default_softness(const sinew_voxels *voxels) {
    double longest = 0;
    for (int a = 0; a < 3; a++) {
        longest = fmax(longest, voxels->cells[a] * voxels->spacing[a]);
    }
    return longest / 100;
}

static double young_at(const sn_shape *shape, sn_vec3 X) {
    int32_t nearest[8];
    int32_t count = sn_nearest_voxels(shape->voxels, X, INFINITY, nearest, NULL);
    double sum = 0;
    for (int32_t i = 0; i < count; i++) {
        sum += shape->young[shape->voxels->label[nearest[i]]] *
               sn_voxel_stiffness(shape->voxels, nearest[i]);
    }
    return sum / count;
}

static sinew_status fill_support(const sinew_body *body, const sinew_frame_support_def *def,
                                 sn_arena *scratch, sn_face_support *support) {
    const sn_frame_model *model = body->model;
    const sinew_mesh *surface = body->surface;
    bool *selected = SN_PUSH(scratch, bool, surface->point_count);
    double *area = SN_PUSH(scratch, double, surface->point_count);

    SN_TRY(sn_arena_status(scratch));

    // The area of the selected faces, shared among their vertices.
    for (int32_t i = 0; i < def->vertex_count; i++) {
        selected[def->vertices[i]] = true;
    }

    support->axes = def->axes;
    support->area = share_area(surface, selected, area);
    support->softness = def->softness > 0 ? def->softness : default_softness(model->shape->voxels);
    if (!(support->area > 0)) {
        return sn_fail(body->context, SINEW_INVALID_ARGUMENT,
                       "the %d vertices of a support of body \"%s\" belong to no area",
                       def->vertex_count, body->name);
    }

    // Keep the vertices that received area.
    for (int32_t i = 0; i < surface->point_count; i++) {
        support->count += area[i] > 0;
    }

    support->rest = SN_PUSH(&support->arena, double, 3 * (size_t)support->count);
    support->stiffness = SN_PUSH(&support->arena, double, support->count);
    SN_TRY(sn_arena_status(&support->arena));

    // Stiffness of a layer as thick as the softness, of the material beneath.
    int32_t next = 0;
    for (int32_t i = 0; i < surface->point_count; i++) {
        if (!(area[i] > 0)) {
            continue;
        }
        sn_vec3 X = sn_load3(sn_at3(surface->points, i));
        support->stiffness[next] = area[i] * young_at(model->shape, X) / support->softness;
        sn_store3(sn_at3(support->rest, next++), X);
    }

    return SINEW_OK;
}

// Adds a support to the body's list, with its part.
static sinew_status append(sinew_body *body, sn_face_support *support) {
    sn_frame_model *model = body->model;
    void *list = model->supports;
    SN_TRY(sn_grow(body->context, &list, &model->support_capacity, (size_t)model->support_count,
                   (size_t)model->support_count + 1, sizeof *model->supports));
    model->supports = list;

    sn_face_part *before = model->parts;
    model->supports[model->support_count++] = support;
    sinew_status status = sn_face_parts_build(body);
    if (status != SINEW_OK) {
        model->parts = before;
        model->support_count--;
    }

    return status;
}

sinew_status sinew_frame_body_add_support(sinew_body *body, const sinew_frame_support_def *def,
                                          int32_t *index) {
    SN_NEED(NULL, body);

    SN_TRY(check_def(body, def));
    sn_frame_model *model = body->model;
    sn_arena arena = sn_arena_create(body->context);
    sn_arena scratch = sn_arena_create(body->context);
    sn_face_support *support = SN_PUSH(&arena, sn_face_support, 1);
    sinew_status status = sn_arena_status(&arena);

    // The target starts where the body is placed.
    if (status == SINEW_OK) {
        *support = (sn_face_support){.arena = arena, .R = model->placed_R, .t = model->placed_t};
        status = fill_support(body, def, &scratch, support);
        arena = support->arena;
    }
    if (status == SINEW_OK) {
        status = append(body, support);
    }

    sn_arena_destroy(&scratch);
    if (status != SINEW_OK) {
        sn_arena_destroy(&arena);
        return status;
    }

    // From here on nothing can fail.
    body->anchored = true;
    sn_body_note_energy_change(body);
    if (index) {
        *index = model->support_count - 1;
    }

    return SINEW_OK;
}

static sinew_status find_support(const sinew_body *body, int32_t index, sn_face_support **support) {
    const sn_frame_model *model = sn_frame_model_of(body);
    int32_t count = model ? model->support_count : 0;
    if (index < 0 || index >= count) {
        return sn_fail(body->context, SINEW_INVALID_ARGUMENT,
                       "support %d of body \"%s\": there are %d", index, body->name, count);
    }

    *support = model->supports[index];
    return SINEW_OK;
}

sinew_status sinew_frame_body_move_support(sinew_body *body, int32_t index,
                                           const double position[3], const double rotation[4]) {
    SN_NEED(NULL, body);

    sn_face_support *support = NULL;
    SN_TRY(find_support(body, index, &support));

    double norm = 1;
    if (rotation) {
        norm = 0;
        for (int k = 0; k < 4; k++) {
            norm += rotation[k] * rotation[k];
        }
    }

    if ((position && !sn_finite3(sn_load3(position))) || !(norm > 1e-12) || !isfinite(norm)) {
        return sn_fail(body->context, SINEW_INVALID_ARGUMENT,
                       "the target of support %d of body \"%s\" must be finite, its quaternion not "
                       "zero",
                       index, body->name);
    }

    // The parts that are given replace the target's.
    if (position) {
        support->t = sn_load3(position);
    }
    if (rotation) {
        support->R =
            sn_quat_normalize((sn_quat){rotation[0], rotation[1], rotation[2], rotation[3]});
    }

    sn_body_note_energy_change(body);
    return SINEW_OK;
}

// The force and the torque about the origin of the linear form: with f_c = -(G gap)_c on controls,
// the sum of S_c gap_c and of a_c x f_c.
static void add_reactions(const sn_frame_model *model, const sn_face_support *support,
                          const sn_face_part *part, sn_vec3 *force, sn_vec3 *torque) {
    find_gaps(model, support, part);
    for (int32_t a = 0; a < part->count; a++) {
        sn_vec3 now = sn_load3(sn_at3(model->blend.controls, part->control[a]));
        *force = sn_madd(*force, -part->share[a], sn_load3(sn_at3(part->gap, a)));
        *torque = sn_sub(*torque, sn_cross(now, sn_load3(sn_at3(part->product, a))));
    }
}

sinew_status sinew_frame_body_get_support(sinew_body *body, int32_t index,
                                          sinew_frame_support_state *state) {
    SN_NEED(NULL, body);

    sn_face_support *support = NULL;
    SN_TRY(find_support(body, index, &support));
    const sn_frame_model *model = body->model;
    const sn_face_part *part = &model->parts[index];
    sn_vec3 force = sn_v3(0, 0, 0);
    sn_vec3 torque = force;

    // Force and torque on the body, about the origin: of the controls, then of the points.
    sn_blend_prepare(&model->nodes, &model->blend, body->q);
    add_reactions(model, support, part, &force, &torque);
    for (int32_t i = 0; i < part->point_count; i++) {
        sn_vec3 x = sn_blend_get_position(&model->nodes, &model->blend, &part->points[i]);
        sn_vec3 f = sn_scale(-part->stiffness[i], point_gap(model, support, &part->points[i]));
        force = sn_add(force, f);
        torque = sn_add(torque, sn_cross(x, f));
    }

    // Root mean square of the gap, weighted by the stiffness.
    double squares = 0, total = 0;
    for (int32_t v = 0; v < support->count; v++) {
        sn_vec3 X = sn_load3(sn_at3(support->rest, v));
        sn_vec3 y = sn_add(sn_quat_rotate(support->R, X), support->t);
        sn_vec3 gap = mask_axes(sn_sub(sn_frame_motion_at(body, X, NULL).x, y), support->axes);
        squares += support->stiffness[v] * sn_dot(gap, gap);
        total += support->stiffness[v];
    }

    *state = (sinew_frame_support_state){.area = support->area,
                                         .softness = support->softness,
                                         .vertex_count = support->count,
                                         .gap = sqrt(squares / total)};
    sn_store3(state->force, force);
    sn_store3(state->torque, torque);

    return SINEW_OK;
}

int32_t sinew_frame_body_get_support_count(const sinew_body *body) {
    SN_NEED_OR(0, body);
    const sn_frame_model *model = sn_frame_model_of(body);
    return model ? model->support_count : 0;
}

void sinew_frame_body_clear_supports(sinew_body *body) {
    SN_NEED_OR(, body);
    if (sn_frame_model_of(body)) {
        sn_face_supports_release(body);
        body->anchored = false;
        sn_body_note_energy_change(body);
    }
}
