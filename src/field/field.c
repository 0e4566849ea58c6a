// Fields of material axes. Input: a mesh and curves; output: three axes per element. A field is
// kept so that its curves can be rotated and moved.
//
// Method: frames along the curves (curve.c) guide the smoothest field of quaternions or direction
// tensors (guides.c, align.c, smoothing.c; Cai 2016, 4.5 and 5.4). This file checks definitions,
// builds the graph of the mesh and constructs fields; field_solve.c solves for them.
//
// Cost: about one sparse factorisation, or linear in the mesh with the iterative solver.
#include "field/field.h"

#include <string.h>

enum { WIDTH = SN_SMOOTHING_WIDTH };

sinew_field_def sinew_default_field_def(void) {
    return (sinew_field_def){.kind = SINEW_FIELD_FRAMES,
                             .unknowns = SINEW_FIELD_BY_ELEMENT,
                             .solver = SINEW_FIELD_SOLVER_AUTO,
                             .filled = SN_DEF_FILLED};
}

// Limits of the size of the mesh, so that sixth powers of distances within it stay finite. [m]
static const double MIN_SIZE = 1e-40, MAX_SIZE = 1e40;

// ---- The graph of the mesh ----------------------------------------------------------------------

static sinew_status build_element_graph(sinew_field *field) {
    const sinew_mesh *mesh = field->mesh;
    int32_t faces = sn_element_info_of(mesh->element)->faces;
    int32_t nodes = sn_element_info_of(mesh->element)->corners;
    sn_arena scratch = sn_arena_create(field->context);
    int32_t *across;
    int32_t n = mesh->element_count;
    sinew_status status = sn_build_element_neighbors(&scratch, mesh, &across);
    sn_adjacency *graph = &field->neighbors;

    *graph = (sn_adjacency){.rows = n, .offsets = SN_PUSH(&field->arena, int32_t, (size_t)n + 1)};
    field->positions = SN_PUSH(&field->arena, sn_vec3, n);
    if (status == SINEW_OK) {
        status = sn_arena_status(&field->arena);
    }

    if (status != SINEW_OK) {
        sn_arena_destroy(&scratch);
        return status;
    }

    // Count the neighbours of all elements.
    int32_t total = 0;
    for (int32_t k = 0; k < n * faces; k++) {
        total += across[k] >= 0;
    }

    graph->items = SN_PUSH(&field->arena, int32_t, total);
    if (field->arena.failed) {
        sn_arena_destroy(&scratch);
        return SINEW_OUT_OF_MEMORY;
    }

    // Each row: the elements across its faces, ascending, and its centre.
    for (int32_t e = 0; e < n; e++) {
        int32_t end = graph->offsets[e];
        for (int32_t f = 0; f < faces; f++) {
            int32_t other = across[e * faces + f];
            int32_t at = end;
            if (other < 0) {
                continue;
            }

            for (; at > graph->offsets[e] && graph->items[at - 1] > other; at--) {
                graph->items[at] = graph->items[at - 1];
            }

            graph->items[at] = other;
            end++;
        }

        graph->offsets[e + 1] = end;

        // Its position is the mean of its corners.
        sn_vec3 sum = {0};
        for (int32_t k = 0; k < nodes; k++) {
            sum = sn_add(sum, sn_mesh_point(mesh, sn_mesh_nodes(mesh, e)[k]));
        }

        field->positions[e] = sn_scale(1.0 / nodes, sum);
    }

    sn_arena_destroy(&scratch);
    return sn_build_face_components(&field->arena, mesh, &field->parts, &field->part_count);
}

static sinew_status build_vertex_graph(sinew_field *field) {
    const sinew_mesh *mesh = field->mesh;
    int32_t n = mesh->point_count;
    int32_t *element_parts;
    sn_adjacency *graph = &field->neighbors;

    SN_TRY(sn_build_node_neighbors(&field->arena, mesh, graph));
    SN_TRY(sn_build_components(&field->arena, mesh, &element_parts, &field->part_count));
    field->positions = SN_PUSH(&field->arena, sn_vec3, n);
    field->parts = SN_PUSH(&field->arena, int32_t, n);
    SN_TRY(sn_arena_status(&field->arena));

    // Remove each node from its own list.
    int32_t end = 0, begin = 0;
    for (int32_t i = 0; i < n; i++) {
        int32_t next = graph->offsets[i + 1];

        for (int32_t k = begin; k < next; k++) {
            if (graph->items[k] != i) {
                graph->items[end++] = graph->items[k];
            }
        }

        begin = next;
        graph->offsets[i + 1] = end;
        field->positions[i] = sn_mesh_point(mesh, i);
    }

    // A node belongs to the part of its elements.
    int32_t nodes = sn_element_info_of(mesh->element)->nodes;
    for (int32_t e = 0; e < mesh->element_count; e++) {
        for (int32_t k = 0; k < nodes; k++) {
            field->parts[sn_mesh_nodes(mesh, e)[k]] = element_parts[e];
        }
    }

    return SINEW_OK;
}

// ---- Construction -------------------------------------------------------------------------------

static sinew_status check_kind(sinew_context *context, sinew_field_kind kind) {
    if (kind == SINEW_FIELD_FRAMES || kind == SINEW_FIELD_FIBRES) {
        return SINEW_OK;
    }
    return sn_fail(context, SINEW_INVALID_ARGUMENT,
                   "a field's kind %d is neither frames nor fibres", (int)kind);
}

static sinew_status check(sinew_context *context, const sinew_field_def *def) {
    // Arrays.
    if (def->mesh == NULL) {
        return sn_fail(context, SINEW_INVALID_ARGUMENT, "a field needs a mesh");
    }

    if (def->curves == NULL || def->curve_count < 1) {
        return sn_fail(context, SINEW_INVALID_ARGUMENT, "a field needs at least one curve, not %d",
                       (int)def->curve_count);
    }

    // Lengths.
    if (!(def->spacing >= 0) || !isfinite(def->spacing)) {
        return sn_fail(context, SINEW_INVALID_ARGUMENT,
                       "a field's spacing of %g m must be at least 0", def->spacing);
    }

    if (!(def->reach >= 0) || !isfinite(def->reach)) {
        return sn_fail(context, SINEW_INVALID_ARGUMENT,
                       "a field's reach of %g m must be at least 0", def->reach);
    }

    // Choices.
    if (def->unknowns == SINEW_FIELD_BY_VERTEX && def->mesh->element == SINEW_ELEMENT_TET10) {
        return sn_fail(context, SINEW_UNSUPPORTED,
                       "a field by vertex does not support ten-node tets; use a field by element");
    }

    if ((int)def->unknowns < SINEW_FIELD_BY_ELEMENT || (int)def->unknowns > SINEW_FIELD_BY_VERTEX) {
        return sn_fail(context, SINEW_INVALID_ARGUMENT,
                       "a field's unknowns %d are neither by element nor by vertex",
                       (int)def->unknowns);
    }

    if ((int)def->solver < SINEW_FIELD_SOLVER_AUTO ||
        (int)def->solver > SINEW_FIELD_SOLVER_ITERATIVE) {
        return sn_fail(context, SINEW_INVALID_ARGUMENT,
                       "a field's solver %d; valid: 0 to %d (see sinew_field_solver)",
                       (int)def->solver, (int)SINEW_FIELD_SOLVER_ITERATIVE);
    }

    if ((int)def->turns < SINEW_FIELD_TURNS_AUTO || (int)def->turns > SINEW_FIELD_TURNS_LATER) {
        return sn_fail(context, SINEW_INVALID_ARGUMENT,
                       "a field's turns %d; valid: 0 to %d (see sinew_field_turns)",
                       (int)def->turns, (int)SINEW_FIELD_TURNS_LATER);
    }

    return check_kind(context, def->kind);
}

// Copies the mesh and allocates the arrays that every field has.
static sinew_status build_base(sinew_field *field, const sinew_mesh *mesh) {
    SN_TRY(sn_check_arrays(field->context, mesh));
    SN_TRY(sn_check_volumes(field->context, mesh));
    if (mesh->element_count < 1) {
        return sn_fail(field->context, SINEW_INVALID_DATA, "a field needs a mesh with elements");
    }

    SN_TRY(sinew_mesh_copy(field->context, mesh, &field->mesh));
    SN_TRY(sn_element_tree_build(&field->arena, field->mesh, &field->tree));
    field->unknown_count = field->unknowns == SINEW_FIELD_BY_VERTEX ? field->mesh->point_count
                                                                    : field->mesh->element_count;
    field->axes = SN_PUSH(&field->arena, double, 9 * (size_t)field->mesh->element_count);
    field->certainties = SN_PUSH(&field->arena, double, field->mesh->element_count);
    field->rotation = SN_PUSH(&field->arena, sn_quat, field->unknown_count);

    return sn_arena_status(&field->arena);
}

static sinew_status build_curves(sinew_field *field, const sinew_field_def *def) {
    field->curves = SN_PUSH(&field->arena, sn_field_curve, def->curve_count);
    field->factors = SN_PUSH(&field->arena, sn_quat, def->curve_count);
    SN_TRY(sn_arena_status(&field->arena));

    for (int32_t c = 0; c < def->curve_count; c++) {
        field->curves[c].arena = sn_arena_create(field->context);
        field->curve_count++;
        SN_TRY(
            sn_curve_build(&field->curves[c].arena, &def->curves[c], c, &field->curves[c].curve));
    }

    return SINEW_OK;
}

static sinew_status build(sinew_field *field, const sinew_field_def *def) {
    SN_TRY(check(field->context, def));
    SN_TRY(build_curves(field, def));
    if (def->unknowns == SINEW_FIELD_BY_VERTEX) {
        SN_TRY(sn_check_arrays(field->context, def->mesh));
        SN_TRY(sn_check_used(field->context, def->mesh));
    }

    // The mesh, whose size must allow sixth powers.
    SN_TRY(build_base(field, def->mesh));
    double diagonal = sn_box_diagonal(sn_mesh_box(field->mesh));
    if (!(diagonal > MIN_SIZE && diagonal < MAX_SIZE)) {
        return sn_fail(field->context, SINEW_INVALID_DATA,
                       "a field's mesh is %g m across; valid: %g to %g m", diagonal, MIN_SIZE,
                       MAX_SIZE);
    }

    // The graph of the unknowns and the system on it.
    SN_TRY(def->unknowns == SINEW_FIELD_BY_VERTEX ? build_vertex_graph(field)
                                                  : build_element_graph(field));
    SN_TRY(sn_smoothing_create(field->context, &field->neighbors, field->positions, def->solver,
                               &field->smoothing));
    field->components = field->kind == SINEW_FIELD_FRAMES ? WIDTH : 2 * WIDTH;

    size_t count = (size_t)field->unknown_count * (size_t)field->components;
    field->x = SN_PUSH(&field->arena, double, count);
    if (!field->smoothing.direct) {
        field->history = SN_PUSH(&field->arena, double, SN_SMOOTHING_PASSES *count);
    }

    SN_TRY(sn_arena_status(&field->arena));

    // Defaults that depend on the mesh.
    field->spacing = def->spacing > 0 ? def->spacing : field->smoothing.mean_distance;
    if (!(field->spacing > 0)) {
        field->spacing = diagonal;
    }

    field->reach = def->reach > 0 ? def->reach : 0.1 * diagonal;

    // Preparing for turns costs one solve per curve.
    bool cheap = field->smoothing.direct || field->curve_count <= SN_FIELD_BATCH;
    bool prepare =
        def->turns == SINEW_FIELD_TURNS_PREPARED || (def->turns == SINEW_FIELD_TURNS_AUTO && cheap);

    field->prepare_turns = prepare && field->curve_count <= SN_FIELD_RESPONSES;
    field->moved = true;

    return sinew_field_solve(field);
}

static sinew_field *allocate(sinew_context *context, sinew_field_kind kind,
                             sinew_field_unknowns unknowns) {
    sn_arena arena = sn_arena_create(context);
    sinew_field *field = SN_PUSH(&arena, sinew_field, 1);
    if (field == NULL) {
        sn_arena_destroy(&arena);
        return NULL;
    }

    field->context = context;
    field->arena = arena;
    field->kind = kind;
    field->unknowns = unknowns;
    field->guides.arena = sn_arena_create(context);
    field->smoothing = (sn_smoothing){.context = context,
                                      .arena = sn_arena_create(context),
                                      .level_arena = sn_arena_create(context),
                                      .factored_arena = sn_arena_create(context)};

    return field;
}

sinew_status sinew_field_create(sinew_context *context, const sinew_field_def *def,
                                sinew_field **field) {
    SN_NEED(NULL, context);

    SN_TRY(SN_CHECK_DEF(context, def, "sinew_default_field_def"));
    sinew_field *made = allocate(context, def->kind, def->unknowns);
    if (made == NULL) {
        return SINEW_OUT_OF_MEMORY;
    }

    sinew_status status = build(made, def);
    if (status == SINEW_OK) {
        *field = made;
    } else {
        sinew_field_destroy(made);
    }

    return status;
}

void sinew_field_destroy(sinew_field *field) {
    if (field == NULL) {
        return;
    }

    sn_smoothing_destroy(&field->smoothing);
    sn_arena_destroy(&field->guides.arena);
    for (int32_t c = 0; c < field->curve_count; c++) {
        sn_arena_destroy(&field->curves[c].arena);
    }

    sinew_mesh_destroy(field->mesh);
    sn_arena arena = field->arena; // it holds the field

    sn_arena_destroy(&arena);
}

// ---- Changes ------------------------------------------------------------------------------------

static sinew_status check_curve(const sinew_field *field, int32_t curve) {
    if (curve >= 0 && curve < field->curve_count) {
        return SINEW_OK;
    }
    return sn_fail(field->context, SINEW_INVALID_ARGUMENT, "curve %d of a field that has %d",
                   (int)curve, (int)field->curve_count);
}

sinew_status sinew_field_set_turn(sinew_field *field, int32_t curve, double turn) {
    SN_NEED(NULL, field);
    SN_TRY(check_curve(field, curve));
    if (!isfinite(turn)) {
        return sn_fail(field->context, SINEW_INVALID_ARGUMENT, "a turn of %g is not finite", turn);
    }

    field->curves[curve].curve.turn = turn;
    field->turned = true;

    return SINEW_OK;
}

sinew_status sinew_field_move_curve(sinew_field *field, int32_t curve, const double *points,
                                    int32_t point_count) {
    SN_NEED(NULL, field);

    SN_TRY(check_curve(field, curve));
    const sn_curve *old = &field->curves[curve].curve;
    bool same = point_count == old->point_count;
    bool nurbs = old->kind == SINEW_CURVE_NURBS;
    sinew_curve_def def = sinew_default_curve_def();

    // Everything but the points is kept; weights and knots only if their number fits.
    def.name = old->name;
    def.kind = old->kind;
    def.points = points;
    def.point_count = point_count;
    def.weights = same && nurbs ? old->weights : NULL;
    def.knots = same && nurbs ? old->knots : NULL;
    def.turn = old->turn;
    sn_store3(def.normal, old->normal);

    // Replace the curve only if the new one is valid.
    sn_field_curve fresh = {.arena = sn_arena_create(field->context)};
    sinew_status status = sn_curve_build(&fresh.arena, &def, curve, &fresh.curve);

    if (status != SINEW_OK) {
        sn_arena_destroy(&fresh.arena);
        return status;
    }

    sn_arena_destroy(&field->curves[curve].arena);
    field->curves[curve] = fresh;
    field->moved = true;

    return SINEW_OK;
}

// ---- Fields from outside ------------------------------------------------------------------------

// The unit vector along a vector of any nonzero length, however small or large; otherwise zero or
// not finite.
static sn_vec3 unit(const double *v) {
    sn_vec3 a = sn_load3(v);
    double largest = fmax(fabs(a.x), fmax(fabs(a.y), fabs(a.z)));
    return largest > 0 ? sn_normalize(sn_v3(a.x / largest, a.y / largest, a.z / largest)) : a;
}

// The third axis first, then the part of the first that is normal to it; the second follows.
static sinew_status orthonormalize(sinew_context *context, int32_t element, const double *axes,
                                   sn_mat3 *Q) {
    sn_vec3 a1 = unit(axes);
    sn_vec3 a2 = unit(axes + 3);
    sn_vec3 a3 = unit(axes + 6);
    double volume = sn_dot(sn_cross(a1, a2), a3);

    if (!(volume > 0.5)) {
        return sn_fail(context, SINEW_INVALID_DATA,
                       "the axes of element %d span %g of the volume of a box; three right-handed "
                       "axes at right angles span 1",
                       (int)element, volume);
    }

    sn_vec3 r = sn_normalize(sn_madd(a1, -sn_dot(a1, a3), a3));
    *Q = sn_mat3_columns(r, sn_cross(a3, r), a3);

    return SINEW_OK;
}

static sinew_status fill_from_outside(sinew_field *field, const sinew_mesh *mesh,
                                      const double *axes, const double *directions) {
    if (mesh == NULL || (axes == NULL && directions == NULL)) {
        return sn_fail(field->context, SINEW_INVALID_ARGUMENT,
                       "a field from outside needs a mesh and numbers for each element");
    }

    SN_TRY(check_kind(field->context, field->kind));
    SN_TRY(build_base(field, mesh));
    for (int32_t e = 0; e < mesh->element_count; e++) {
        // Axes as given, or any that contain the given direction.
        sn_mat3 Q;
        if (axes != NULL) {
            SN_TRY(orthonormalize(field->context, e, axes + 9 * (size_t)e, &Q));
        } else {
            const double *d = sn_at3(directions, e);
            if (!sn_finite3(sn_load3(d)) || (d[0] == 0 && d[1] == 0 && d[2] == 0)) {
                return sn_fail(field->context, SINEW_INVALID_DATA,
                               "the direction of element %d is %g %g %g; it needs a length", (int)e,
                               d[0], d[1], d[2]);
            }

            Q = sn_mat3_basis(unit(d));
        }

        field->rotation[e] = sn_quat_from_mat3(Q);
        sn_store_axes(field->axes + 9 * (size_t)e, Q);
        field->certainties[e] = 1;
    }

    field->report =
        (sinew_field_report){.unknown_count = field->unknown_count, .least_certainty = 1};

    return SINEW_OK;
}

static sinew_status create_from_outside(sinew_context *context, const sinew_mesh *mesh,
                                        sinew_field_kind kind, const double *axes,
                                        const double *directions, sinew_field **field) {
    sinew_field *made = allocate(context, kind, SINEW_FIELD_BY_ELEMENT);
    if (made == NULL) {
        return SINEW_OUT_OF_MEMORY;
    }

    sinew_status status = fill_from_outside(made, mesh, axes, directions);
    if (status == SINEW_OK) {
        *field = made;
    } else {
        sinew_field_destroy(made);
    }

    return status;
}

sinew_status sinew_field_create_from_axes(sinew_context *context, const sinew_mesh *mesh,
                                          sinew_field_kind kind, const double *axes,
                                          sinew_field **field) {
    SN_NEED(NULL, context);
    return create_from_outside(context, mesh, kind, axes, NULL, field);
}

sinew_status sinew_field_create_from_directions(sinew_context *context, const sinew_mesh *mesh,
                                                const double *directions, sinew_field **field) {
    SN_NEED(NULL, context);
    return create_from_outside(context, mesh, SINEW_FIELD_FIBRES, NULL, directions, field);
}
