// Shape functions: checks the input, calls the requested kind of weights, and measures for the
// report how well they interpolate.
#include "frame/weights/weights.h"

#include "frame/weights/table.h"

#include <string.h>

static const double JUMP =
    0.5; // a warning is given if a weight jumps by more than this within a voxel

enum { LABELS = SN_LABELS, MAX_NODES = 65535, MAX_LEVELS = 16 };

sinew_tissue sinew_default_tissue(void) {
    return (sinew_tissue){.label = 1, .young = 1e5, .density = 1000, .node = -1};
}

sinew_weights_def sinew_default_weights_def(void) {
    return (sinew_weights_def){.filled = SN_DEF_FILLED,
                               .metric = SINEW_METRIC_COMPLIANCE,
                               .levels = 2,
                               .falloff = 2,
                               .axis = {1, 0, 0},
                               .tolerance = 1e-10,
                               .max_iterations = 200,
                               .cutoff = 1e-6,
                               .nodes_per_voxel = 16,
                               .normalize = true};
}

static sinew_status check_def(sinew_context *context, const sinew_weights_def *def) {
    SN_TRY(SN_CHECK_DEF(context, def, "sinew_default_weights_def"));
    if (def->kind < SINEW_WEIGHTS_VORONOI || def->kind > SINEW_WEIGHTS_AUTO ||
        def->metric < SINEW_METRIC_EUCLIDEAN || def->metric > SINEW_METRIC_COMPLIANCE) {
        return sn_fail(context, SINEW_INVALID_ARGUMENT, "unknown kind of weights %d or metric %d",
                       (int)def->kind, (int)def->metric);
    }

    // Options of single kinds are checked even if the kind does not use them.
    if (def->levels < 1 || def->levels > MAX_LEVELS) {
        return sn_fail(context, SINEW_INVALID_ARGUMENT, "%d Voronoi levels; valid are 1 to %d",
                       def->levels, MAX_LEVELS);
    }

    if (!(def->range >= 0) || !(def->falloff >= 1 && def->falloff <= 8) ||
        !(def->node_radius >= 0)) {
        return sn_fail(context, SINEW_INVALID_ARGUMENT,
                       "range %g m and node radius %g m must not be negative, and the falloff %g "
                       "must be in [1, 8]",
                       def->range, def->node_radius, def->falloff);
    }

    if (!(def->tolerance > 0 && def->tolerance < 1) || def->max_iterations < 1) {
        return sn_fail(context, SINEW_INVALID_ARGUMENT,
                       "tolerance %g must be in (0, 1), and %d iterations at least 1",
                       def->tolerance, def->max_iterations);
    }

    if (!(def->cutoff >= 0 && def->cutoff < 0.5)) {
        return sn_fail(context, SINEW_INVALID_ARGUMENT, "a cutoff of %g; valid is [0, 0.5)",
                       def->cutoff);
    }

    if (def->nodes_per_voxel < 1 || def->nodes_per_voxel > SN_VOXEL_NODES) {
        return sn_fail(context, SINEW_INVALID_ARGUMENT, "%d nodes per voxel; valid are 1 to %d",
                       def->nodes_per_voxel, SN_VOXEL_NODES);
    }

    if (def->kind == SINEW_WEIGHTS_USER && !def->values) {
        return sn_fail(context, SINEW_INVALID_ARGUMENT, "weights of the user's own need values");
    }

    return SINEW_OK;
}

static sinew_status fill_tables(sinew_context *context, const sinew_tissue *tissues, int32_t count,
                                double *young, double *density, bool *rigid, int32_t *bound_node) {
    for (int32_t i = 0; i < count; i++) {
        const sinew_tissue *t = &tissues[i];
        if (t->label < 1 || t->label >= LABELS) {
            return sn_fail(context, SINEW_INVALID_ARGUMENT,
                           "tissue %d has label %d; labels are in [1, 65535]", i, t->label);
        }

        // A modulus of 0 means that the label is not in the table yet.
        if (young[t->label] > 0) {
            return sn_fail(context, SINEW_INVALID_ARGUMENT,
                           "label %d is twice in the table of tissues", t->label);
        }

        if (!(t->young > 0) || !isfinite(t->young) || !(t->density > 0) || !isfinite(t->density)) {
            return sn_fail(
                context, SINEW_INVALID_ARGUMENT,
                "label %d has Young's modulus %g Pa and density %g kg/m3; both must be above 0",
                t->label, t->young, t->density);
        }

        young[t->label] = t->young;
        density[t->label] = t->density;
        rigid[t->label] = t->rigid;
        bound_node[t->label] = t->node;
    }

    return SINEW_OK;
}

sinew_status sn_read_tissues(sinew_context *context, const sinew_voxels *voxels,
                             const sinew_tissue *tissues, int32_t tissue_count, sn_arena *arena,
                             double **young, double **density, bool **rigid, int32_t **bound_node) {
    *young = SN_PUSH(arena, double, LABELS);
    *density = SN_PUSH(arena, double, LABELS);
    *rigid = SN_PUSH(arena, bool, LABELS);
    *bound_node = SN_PUSH(arena, int32_t, LABELS);
    SN_TRY(sn_arena_status(arena));
    memset(*bound_node, -1, LABELS * sizeof **bound_node);

    // Without a table every label has the default tissue.
    sinew_tissue standard = sinew_default_tissue();
    if (tissue_count == 0) {
        for (int32_t label = 1; label < LABELS; label++) {
            (*young)[label] = standard.young, (*density)[label] = standard.density;
        }
    }

    SN_TRY(fill_tables(context, tissues, tissue_count, *young, *density, *rigid, *bound_node));

    // Count all voxels without one, for the message.
    int32_t unknown = 0, first = 0;
    for (int32_t v = 0; v < voxels->count; v++) {
        if ((*young)[voxels->label[v]] > 0) {
            continue;
        }
        if (unknown++ == 0) {
            first = v;
        }
    }

    if (unknown) {
        sn_vec3 p = sn_voxel_center(voxels, first);
        return sn_fail(context, SINEW_NOT_FOUND,
                       "label %d is not in the table of tissues; %d voxels have no material, the "
                       "first at (%g, %g, %g) m: add "
                       "the label to the table, or make it 0 in the volume",
                       voxels->label[first], unknown, p.x, p.y, p.z);
    }

    return SINEW_OK;
}

double sn_outside_tolerance(const sinew_voxels *voxels) {
    return fmax(voxels->spacing[0], fmax(voxels->spacing[1], voxels->spacing[2]));
}

// Returns the distance of a point from the nearest voxel's box, and the centre of that voxel.
static double distance_from_solid(const sinew_voxels *voxels, sn_vec3 p, sn_vec3 *middle) {
    int32_t nearest[8];
    double distance;
    sn_nearest_voxels(voxels, p, INFINITY, nearest, &distance);
    *middle = sn_voxel_center(voxels, nearest[0]);
    sn_vec3 half =
        sn_v3(0.5 * voxels->spacing[0], 0.5 * voxels->spacing[1], 0.5 * voxels->spacing[2]);

    return sqrt(sn_box_distance2((sn_box){sn_sub(*middle, half), sn_add(*middle, half)}, p));
}

static sinew_status check_coincident(sn_shape *shape) {
    const double *h = shape->voxels->spacing;
    double limit = 1e-6 * fmin(h[0], fmin(h[1], h[2]));
    for (int32_t i = 0; i < shape->node_count; i++) {
        for (int32_t j = 0; j < i; j++) {
            sn_vec3 a = sn_load3(sn_at3(shape->node_position, i));
            sn_vec3 b = sn_load3(sn_at3(shape->node_position, j));
            if (sn_distance(a, b) > limit) {
                continue;
            }

            return sn_fail(shape->context, SINEW_INVALID_ARGUMENT,
                           "nodes %d and %d coincide at (%g, %g, %g) m: move one of them, best by "
                           "a voxel (%g m) or more",
                           j, i, a.x, a.y, a.z, fmin(h[0], fmin(h[1], h[2])));
        }
    }

    return SINEW_OK;
}

sinew_status sn_check_nodes(sn_shape *shape) {
    for (int32_t i = 0; i < shape->node_count; i++) {
        double *position = sn_at3(shape->node_position, i);
        sn_vec3 p = sn_load3(position);
        sn_vec3 middle;

        if (!sn_finite3(p)) {
            return sn_fail(shape->context, SINEW_INVALID_ARGUMENT, "node %d has no finite position",
                           i);
        }

        // Smoothed surfaces cut cells at their centres, so nodes on them are a little outside.
        double distance = distance_from_solid(shape->voxels, p, &middle);
        if (distance <= sn_outside_tolerance(shape->voxels)) {
            continue;
        }

        if (!shape->def.adopt_outside) {
            return sn_fail(shape->context, SINEW_INVALID_ARGUMENT,
                           "node %d at (%g, %g, %g) m is %g m outside the solid; move it in, or "
                           "let it be moved to the nearest "
                           "voxel (adopt_outside of the weights)",
                           i, p.x, p.y, p.z, distance);
        }

        sn_store3(position, middle);
        shape->report.moved_nodes++;
    }

    return check_coincident(shape);
}

static sinew_status check_bound_nodes(sn_shape *shape) {
    for (int32_t label = 0; label < LABELS; label++) {
        int32_t node = shape->bound_node[label];
        if (node < -1 || node >= shape->node_count) {
            return sn_fail(shape->context, SINEW_INVALID_ARGUMENT,
                           "label %d is bound to node %d of %d", label, node, shape->node_count);
        }
    }

    return SINEW_OK;
}

typedef struct user_rows {
    const double *values;
    int32_t node_count;
} user_rows;

static void fill_user_row(const void *data, int32_t voxel, sn_row *row) {
    const user_rows *user = data;
    const double *values = user->values + (size_t)voxel * (size_t)user->node_count;
    for (int32_t i = 0; i < user->node_count; i++) {
        sn_row_add(row, i, values[i]);
    }
}

static sinew_status build_user(sn_shape *shape) {
    user_rows user = {shape->def.values, shape->node_count};
    for (int32_t v = 0; v < shape->voxels->count; v++) {
        for (int32_t i = 0; i < shape->node_count; i++) {
            double value = user.values[(size_t)v * (size_t)shape->node_count + (size_t)i];
            if (isfinite(value)) {
                continue;
            }
            return sn_fail(shape->context, SINEW_INVALID_ARGUMENT,
                           "the weight of node %d at voxel %d is not finite", i, v);
        }
    }

    return sn_build_table(shape, fill_user_row, &user);
}

static sinew_status build(sn_shape *shape) {
    switch (shape->def.kind) {
    case SINEW_WEIGHTS_AUTO:
    case SINEW_WEIGHTS_VORONOI: return sn_build_voronoi(shape);
    case SINEW_WEIGHTS_HARMONIC: return sn_build_harmonic(shape);
    case SINEW_WEIGHTS_GEODESIC: return sn_build_geodesic(shape);
    case SINEW_WEIGHTS_RADIAL: return sn_build_radial(shape);
    case SINEW_WEIGHTS_AXIS_LINEAR:
    case SINEW_WEIGHTS_AXIS_CUBIC: return sn_build_axis(shape);
    case SINEW_WEIGHTS_SPECTRAL: return sn_build_spectral(shape);
    case SINEW_WEIGHTS_USER: return build_user(shape);
    }

    return SINEW_INVALID_ARGUMENT;
}

// Measures how far the shape functions are from interpolating at the nodes.
static void measure_node_error(sn_shape *shape) {
    for (int32_t i = 0; i < shape->node_count; i++) {
        sn_shape_point point;
        sn_shape_at_point(shape, sn_load3(sn_at3(shape->node_position, i)), &point);

        double own = 0;

        for (int32_t k = 0; k < point.count; k++) {
            if (point.node[k] == i) {
                own = point.weight[k];
            }
        }

        shape->report.node_error = fmax(shape->report.node_error, fabs(1 - own));
    }
}

// Marks the labels that a node inside them carries wholly. Returns whether there are any.
static bool mark_carried(const sn_shape *shape, bool *marks) {
    bool any = false;
    for (int32_t i = 0; i < shape->node_count; i++) {
        int32_t voxel =
            sinew_voxels_find_nearest(shape->voxels, sn_at3(shape->node_position, i), INFINITY);
        uint16_t label = shape->voxels->label[voxel];
        if (shape->bound_node[label] == i) {
            marks[label] = any = true;
        }
    }

    return any;
}

// Builds the Euclidean metric: every voxel costs the same, except carried ones.
static sinew_status find_lengths(sn_shape *shape, const bool *carried) {
    double *even = sn_allocate(shape->context, LABELS, sizeof *even);
    if (!even) {
        return SINEW_OUT_OF_MEMORY;
    }

    for (int32_t label = 0; label < LABELS; label++) {
        even[label] = 1;
    }

    sinew_voxels plain = *shape->voxels;
    plain.stiffness = NULL;

    sinew_status status =
        sn_metric_compliance(&plain, &shape->arena, even, carried, &shape->metric);

    shape->metric.voxels = shape->voxels;
    sn_release(shape->context, even, LABELS, sizeof *even);

    return status;
}

// Builds the metric, in which distances are measured. Voxels that a node inside them carries wholly
// cost nothing. If weights fell with the distance from the node's position, they would jump at the
// border of such a part, and the material on either side could separate without resistance. Voxels
// of rigid parts cost nothing in the compliance metric.
static sinew_status find_metric(sn_shape *shape) {
    bool *still = SN_PUSH(&shape->arena, bool, LABELS);
    bool euclidean = shape->def.metric == SINEW_METRIC_EUCLIDEAN;

    SN_TRY(sn_arena_status(&shape->arena));
    bool carries = mark_carried(shape, still);
    if (euclidean && carries) {
        return find_lengths(shape, still);
    }

    if (euclidean) {
        shape->metric = sn_metric_euclidean(shape->voxels);
        return SINEW_OK;
    }

    for (int32_t label = 0; label < LABELS; label++) {
        still[label] = still[label] || shape->rigid[label];
    }

    return sn_metric_compliance(shape->voxels, &shape->arena, shape->young, still, &shape->metric);
}

// Measures, for the report, the largest jump of a node's weight at the border of the part that is
// bound to it. Axis weights, radial weights and weights given by the user ignore parts, so a node
// outside its part causes a jump there.
static void measure_bound_jump(sn_shape *shape) {
    const sinew_voxels *voxels = shape->voxels;
    const sn_weight_table *table = &shape->table;
    int32_t worst = -1;

    for (int32_t v = 0; v < voxels->count; v++) {
        int32_t node = shape->bound_node[voxels->label[v]];
        if (node < 0) {
            continue;
        }

        // Across a face the weight should fall gradually.
        for (int d = 0; d < SN_VOXEL_FACES; d++) {
            int32_t u = voxels->neighbor[v][d];
            if (u < 0 || shape->bound_node[voxels->label[u]] >= 0) {
                continue;
            }

            double jump = 1;
            for (int64_t k = table->start[u]; k < table->start[u + 1]; k++) {
                jump -= table->node[k] == node ? table->weight[k] : 0;
            }

            if (jump > shape->report.bound_jump) {
                shape->report.bound_jump = jump;
                worst = v;
            }
        }
    }

    if (shape->report.bound_jump <= JUMP) {
        return;
    }

    sn_vec3 p = sn_voxel_center(voxels, worst);
    sn_log(shape->context, SINEW_LOG_WARNING,
           "the weight of node %d falls from 1 to %g within a voxel where label %d, which is bound "
           "to it, ends at (%g, %g, "
           "%g) m: "
           "the solid can tear there unnoticed. Put the node into the part, and take Voronoi, "
           "geodesic or harmonic weights",
           shape->bound_node[voxels->label[worst]], 1 - shape->report.bound_jump,
           voxels->label[worst], p.x, p.y, p.z);
}

static sinew_status prepare(sn_shape *shape, const sinew_tissue *tissues, int32_t tissue_count,
                            const double *positions) {
    shape->node_position = SN_PUSH(&shape->arena, double, 3 * (size_t)shape->node_count);
    SN_TRY(sn_arena_status(&shape->arena));
    memcpy(shape->node_position, positions, 3 * (size_t)shape->node_count * sizeof *positions);
    SN_TRY(sn_read_tissues(shape->context, shape->voxels, tissues, tissue_count, &shape->arena,
                           &shape->young, &shape->density, &shape->rigid, &shape->bound_node));
    SN_TRY(check_bound_nodes(shape));
    SN_TRY(sn_check_nodes(shape));

    return find_metric(shape);
}

sinew_status sn_shape_create(sinew_context *context, const sinew_voxels *voxels,
                             const sinew_tissue *tissues, int32_t tissue_count,
                             const double *node_positions, int32_t node_count,
                             const sinew_weights_def *def, sn_shape **shape) {
    if (node_count < 1 || node_count > MAX_NODES || !node_positions) {
        return sn_fail(context, SINEW_INVALID_ARGUMENT, "%d nodes; valid are 1 to %d", node_count,
                       MAX_NODES);
    }

    SN_TRY(check_def(context, def));
    sn_arena arena = sn_arena_create(context);
    sn_shape *made = SN_PUSH(&arena, sn_shape, 1);
    if (!made) {
        return SINEW_OUT_OF_MEMORY;
    }

    *made = (sn_shape){.context = context,
                       .arena = arena,
                       .voxels = voxels,
                       .def = *def,
                       .node_count = node_count};

    // Tissues and positions, then the weights of the requested kind.
    sinew_status status = prepare(made, tissues, tissue_count, node_positions);
    if (status == SINEW_OK) {
        status = build(made);
    }

    if (status != SINEW_OK) {
        sn_shape_destroy(made);
        return status;
    }

    // The caller's values are not kept.
    made->def.values = NULL;
    measure_node_error(made);
    measure_bound_jump(made);
    *shape = made;

    return SINEW_OK;
}

sinew_status sn_shape_create_field(const sn_shape *shape, int32_t count, sn_arena *arena,
                                   sn_shape *field) {
    *field = *shape;
    field->arena = sn_arena_create(shape->context);
    field->table = (sn_weight_table){0};
    field->report = (sinew_weights_report){0};
    field->node_count = count;
    field->def.kind = SINEW_WEIGHTS_SPECTRAL;
    field->def.normalize = false;
    field->def.cutoff = 0;
    field->def.nodes_per_voxel = SN_VOXEL_NODES;
    field->bound_node = SN_PUSH(arena, int32_t, LABELS);
    SN_TRY(sn_arena_status(arena));
    memset(field->bound_node, -1, LABELS * sizeof *field->bound_node);

    return SINEW_OK;
}

void sn_shape_destroy(sn_shape *shape) {
    if (!shape) {
        return;
    }
    if (shape->compliance) {
        sn_arena_destroy(&shape->compliance->arena);
    }
    sn_arena arena = shape->arena;
    sn_arena_destroy(&arena);
}
