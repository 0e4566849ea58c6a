// Fields of material axes: a mesh and curves in, three axes for each element out; kept so that
// curves can be turned and moved.
//
// Method: frames along the curves (curve.c) guide the smoothest field of quaternions or direction
// tensors (guides.c, align.c, smoothing.c; Cai 2016, 4.5 and 5.4). Turning a curve changes
// right-hand sides only, moving one a few rows of the system. Cost: about that of one
// factorisation, or linear in the mesh with iterations.
#include "field/field.h"

#include <string.h>

// Turns of so many curves are prepared by iterations unless otherwise wished: one solve serves as
// many.
enum { WIDTH = SN_SMOOTHING_WIDTH, MOST_AT_ONCE = SN_SMOOTHING_MOST_WIDTH / WIDTH };

sinew_field_def sinew_default_field_def(void) {
    return (sinew_field_def){.kind = SINEW_FIELD_FRAMES,
                             .unknowns = SINEW_FIELD_BY_ELEMENT,
                             .solver = SINEW_FIELD_SOLVER_AUTO};
}

// Across the mesh, so that sixth powers of the distances within it are finite. [m]
static const double LEAST_SIZE = 1e-40, MOST_SIZE = 1e40;

// ---- The graph of the mesh ----------------------------------------------------------------------

static sinew_status build_element_graph(sinew_field *field) {
    const sinew_mesh *mesh = field->mesh;
    int32_t faces = sn_element_info_of(mesh->element)->faces;
    int32_t nodes = sn_element_info_of(mesh->element)->corners;
    sn_arena scratch = sn_arena_create(field->context);
    int32_t *across;
    int32_t n = mesh->element_count;
    sinew_status status = sn_build_element_neighbours(&scratch, mesh, &across);
    sn_adjacency *graph = &field->neighbours;

    *graph = (sn_adjacency){.rows = n, .offsets = SN_PUSH(&field->arena, int32_t, (size_t)n + 1)};
    field->positions = SN_PUSH(&field->arena, sn_vec3, n);
    if (status == SINEW_OK) {
        status = sn_arena_status(&field->arena);
    }

    int32_t total = 0;
    for (int32_t k = 0; status == SINEW_OK && k < n * faces; k++) {
        total += across[k] >= 0;
    }

    graph->items = SN_PUSH(&field->arena, int32_t, total);
    if (status == SINEW_OK) {
        status = sn_arena_status(&field->arena);
    }

    for (int32_t e = 0; status == SINEW_OK && e < n; e++) {
        int32_t end = graph->offsets[e];
        for (int32_t f = 0; f < faces; f++) {
            int32_t other = across[e * faces + f];
            int32_t place = end;
            if (other < 0) {
                continue;
            }

            for (; place > graph->offsets[e] && graph->items[place - 1] > other; place--) {
                graph->items[place] = graph->items[place - 1];
            }

            graph->items[place] = other;
            end++;
        }

        graph->offsets[e + 1] = end;
        sn_vec3 sum = {0};
        for (int32_t k = 0; k < nodes; k++) {
            sum = sn_add(sum, sn_mesh_point(mesh, sn_mesh_nodes(mesh, e)[k]));
        }

        field->positions[e] = sn_scale(1.0 / nodes, sum);
    }

    sn_arena_destroy(&scratch);
    SN_TRY(status);

    return sn_build_face_components(&field->arena, mesh, &field->parts, &field->part_count);
}

static sinew_status build_vertex_graph(sinew_field *field) {
    const sinew_mesh *mesh = field->mesh;
    int32_t n = mesh->point_count;
    int32_t *element_parts;
    sn_adjacency *graph = &field->neighbours;

    SN_TRY(sn_build_node_neighbours(&field->arena, mesh, graph));
    SN_TRY(sn_build_components(&field->arena, mesh, &element_parts, &field->part_count));
    field->positions = SN_PUSH(&field->arena, sn_vec3, n);
    field->parts = SN_PUSH(&field->arena, int32_t, n);
    SN_TRY(sn_arena_status(&field->arena));

    int32_t end = 0, begin = 0;
    for (int32_t i = 0; i < n; i++) { // leaves the node itself out
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
    if (def->mesh == NULL) {
        return sn_fail(context, SINEW_INVALID_ARGUMENT, "a field needs a mesh");
    }

    if (def->curves == NULL || def->curve_count < 1) {
        return sn_fail(context, SINEW_INVALID_ARGUMENT, "a field needs at least one curve, not %d",
                       (int)def->curve_count);
    }

    if (!(def->spacing >= 0) || !isfinite(def->spacing)) {
        return sn_fail(context, SINEW_INVALID_ARGUMENT,
                       "a field's spacing of %g m must be at least 0", def->spacing);
    }

    if (!(def->reach >= 0) || !isfinite(def->reach)) {
        return sn_fail(context, SINEW_INVALID_ARGUMENT,
                       "a field's reach of %g m must be at least 0", def->reach);
    }

    if (def->unknowns == SINEW_FIELD_BY_VERTEX && def->mesh->element == SINEW_ELEMENT_TET10) {
        return sn_fail(context, SINEW_UNSUPPORTED,
                       "a field by vertex on ten-node tets; take it by element");
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

// The mesh and what every field keeps.
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

    SN_TRY(build_base(field, def->mesh));
    double diagonal = sn_box_diagonal(sn_mesh_box(field->mesh));
    if (!(diagonal > LEAST_SIZE && diagonal < MOST_SIZE)) {
        return sn_fail(field->context, SINEW_INVALID_DATA,
                       "a field's mesh is %g m across; valid: %g to %g m", diagonal, LEAST_SIZE,
                       MOST_SIZE);
    }

    SN_TRY(def->unknowns == SINEW_FIELD_BY_VERTEX ? build_vertex_graph(field)
                                                  : build_element_graph(field));
    SN_TRY(sn_smoothing_create(field->context, &field->neighbours, field->positions, def->solver,
                               &field->smoothing));
    field->components = field->kind == SINEW_FIELD_FRAMES ? WIDTH : 2 * WIDTH;

    size_t count = (size_t)field->unknown_count * (size_t)field->components;
    field->x = SN_PUSH(&field->arena, double, count);
    if (!field->smoothing.direct) {
        field->history = SN_PUSH(&field->arena, double, SN_SMOOTHING_PASSES *count);
    }

    SN_TRY(sn_arena_status(&field->arena));
    field->spacing = def->spacing > 0 ? def->spacing : field->smoothing.mean_distance;
    if (!(field->spacing > 0)) {
        field->spacing = diagonal;
    }

    field->reach = def->reach > 0 ? def->reach : 0.1 * diagonal;
    bool cheap = field->smoothing.direct || field->curve_count <= MOST_AT_ONCE;
    bool wished =
        def->turns == SINEW_FIELD_TURNS_PREPARED || (def->turns == SINEW_FIELD_TURNS_AUTO && cheap);

    field->prepare_turns = wished && field->curve_count <= SN_FIELD_RESPONSES;
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

// ---- Solving ------------------------------------------------------------------------------------

// The five independent parts of the tensor of a direction.
static void store_tensor(double *values, sn_vec3 d) {
    values[0] = d.x * d.x;
    values[1] = d.y * d.y;
    values[2] = d.y * d.z;
    values[3] = d.z * d.x;
    values[4] = d.x * d.y;
}

static void store_quat(double *values, sn_quat q) {
    values[0] = q.x;
    values[1] = q.y;
    values[2] = q.z;
    values[3] = q.w;
}

// What the frames of each curve are multiplied by from the right: its turn, and the half turn that
// makes it agree.
static sinew_status compute_factors(const sinew_field *field, const sn_guides *guides,
                                    sn_quat *factors, sn_quat *aligned, sn_arena *scratch) {
    int32_t *cluster = SN_PUSH(scratch, int32_t, field->curve_count);
    sn_quat *sums = SN_PUSH(scratch, sn_quat, field->curve_count);
    SN_TRY(sn_arena_status(scratch));
    sn_align_guides(field, guides, cluster, sums, aligned);

    for (int32_t i = 0; i < guides->count; i++) {
        factors[guides->curves[i]] = sn_quat_mul(sn_quat_conjugate(guides->frames[i]), aligned[i]);
    }

    return SINEW_OK;
}

// What each constraint asks for, [row][component].
static void compute_values(const sinew_field *field, const sn_guides *guides,
                           const sn_quat *factors, double *values) {
    for (int32_t r = 0; r < guides->constraints.count; r++) {
        int32_t source = guides->sources[r];
        double *target = values + (size_t)r * (size_t)field->components;
        if (field->kind == SINEW_FIELD_FIBRES) {
            store_tensor(target, sn_quat_rotate(guides->frames[source], sn_v3(0, 0, 1)));
        } else {
            store_quat(target,
                       sn_quat_mul(guides->frames[source], factors[guides->curves[source]]));
        }
    }
}

static void show_guides(const sinew_field *field, sn_guides *guides) {
    for (int32_t i = 0; i < guides->count; i++) {
        double half = 0.5 * field->curves[guides->curves[i]].curve.turn;
        sn_quat q = sn_quat_mul(guides->frames[i], (sn_quat){0, 0, sin(half), cos(half)});
        sn_store3(guides->shown_points + 3 * (size_t)i, guides->points[i]);
        sn_store_axes(guides->shown_axes + 9 * (size_t)i, sn_quat_to_mat3(q));
    }
}

// Iterations start from what their passes came to the last time, and by how much the field was
// turned since.
static void carry_history(sinew_field *field) {
    size_t count = (size_t)field->unknown_count * (size_t)field->components;
    const double *last = field->history + (SN_SMOOTHING_PASSES - 1) * count;
    if (field->seam_count > 0) {
        return; // the field is another than what was smoothed then
    }

    for (int pass = 0; pass < SN_SMOOTHING_PASSES; pass++) {
        double *before = field->history + (size_t)pass * count;
        for (size_t i = 0; i < count; i++) {
            before[i] += field->x[i] - last[i];
        }
    }
}

static sinew_status solve_all(sinew_field *field, const sn_guides *guides, const sn_quat *factors,
                              sn_solve_report *report, sn_arena *scratch) {
    double *values =
        SN_PUSH(scratch, double, (size_t)guides->constraints.count *(size_t)field->components);

    SN_TRY(sn_arena_status(scratch));
    compute_values(field, guides, factors, values);

    bool resumed = field->history_known;
    field->history_known = false;
    if (resumed) {
        carry_history(field);
    }

    SN_TRY(sn_smoothing_solve(&field->smoothing, &guides->constraints, values, field->components,
                              field->x, field->history, resumed, report));
    field->history_known = field->history != NULL;

    return SINEW_OK;
}

// ---- Turning ------------------------------------------------------------------------------------

// The field is linear in the quaternions of the curves, and smoothing commutes with a constant
// factor: what one curve gives alone is found once, and turning that curve only changes the factor
// of its part.

static sn_response *response_of(sinew_field *field, int32_t curve) {
    return &field->responses[curve % SN_FIELD_RESPONSES];
}

static bool is_known(sinew_field *field, int32_t curve) {
    return response_of(field, curve)->curve == curve;
}

static bool are_all_known(sinew_field *field) {
    bool all = true;
    for (int32_t c = 0; c < field->curve_count; c++) {
        all = all && is_known(field, c);
    }
    return all;
}

static sn_quat load_quat(const double *x) {
    return (sn_quat){x[0], x[1], x[2], x[3]};
}

// x[unknown][4] += y[unknown][stride] times a factor
static void add_product(double *x, const double *y, size_t stride, sn_quat factor, int32_t count) {
    for (size_t i = 0; i < (size_t)count; i++) {
        double *target = x + WIDTH * i;
        store_quat(target,
                   sn_quat_add(load_quat(target), sn_quat_mul(load_quat(y + stride * i), factor)));
    }
}

// Memory of a response, which is of no curve until it is filled.
static sinew_status push_response(sinew_field *field, int32_t curve) {
    sn_response *response = response_of(field, curve);
    response->curve = -1;
    if (response->x != NULL) {
        return SINEW_OK;
    }

    response->x = SN_PUSH(&field->arena, double, (size_t)field->unknown_count *WIDTH);
    field->arena.failed = false; // a later try may have the memory

    return response->x != NULL ? SINEW_OK : SINEW_OUT_OF_MEMORY;
}

// What up to MOST_AT_ONCE curves give each alone, solved for side by side: x and history are
// [unknown][curve][4].
typedef struct batch {
    int32_t first, count; // curves
    size_t stride;
    double *x, *history;
} batch;

static sinew_status solve_batch(sinew_field *field, const sn_guides *guides, batch *made,
                                sn_solve_report *report, sn_arena *scratch) {
    made->stride = WIDTH * (size_t)made->count;
    size_t size = (size_t)field->unknown_count * made->stride;
    double *values = SN_PUSH(scratch, double, (size_t)guides->constraints.count * made->stride);

    made->x = SN_PUSH(scratch, double, size);
    SN_TRY(sn_arena_status(scratch));
    for (int32_t r = 0; r < guides->constraints.count; r++) {
        int32_t source = guides->sources[r];
        int32_t place = guides->curves[source] - made->first;
        if (place < 0 || place >= made->count) {
            continue;
        }

        store_quat(values + made->stride * (size_t)r + WIDTH * (size_t)place,
                   guides->frames[source]);
    }

    return sn_smoothing_solve(&field->smoothing, &guides->constraints, values,
                              (int32_t)made->stride, made->x, made->history, false, report);
}

static sinew_status keep_batch(sinew_field *field, const batch *made) {
    for (int32_t c = 0; c < made->count; c++) {
        SN_TRY(push_response(field, made->first + c));
        sn_response *response = response_of(field, made->first + c);
        const double *from = made->x + WIDTH * c;

        for (size_t i = 0; i < (size_t)field->unknown_count; i++) {
            memcpy(response->x + WIDTH * i, from + made->stride * i, WIDTH * sizeof(double));
        }

        response->curve = made->first + c;
    }

    return SINEW_OK;
}

static sinew_status find_response(sinew_field *field, const sn_guides *guides, int32_t curve,
                                  sn_solve_report *report, sn_arena *scratch) {
    if (is_known(field, curve)) {
        return SINEW_OK;
    }
    batch made = {.first = curve, .count = 1};
    SN_TRY(solve_batch(field, guides, &made, report, scratch));
    return keep_batch(field, &made);
}

// Adds what the passes of a batch came to, times factors, to the field's.
static void add_history(sinew_field *field, const batch *made, const sn_quat *factors) {
    size_t n = (size_t)field->unknown_count;
    for (size_t pass = 0; pass < SN_SMOOTHING_PASSES; pass++) {
        for (int32_t c = 0; c < made->count; c++) {
            add_product(field->history + pass * n * WIDTH,
                        made->history + pass * n * made->stride + WIDTH * c, made->stride,
                        factors[made->first + c], field->unknown_count);
        }
    }
}

static void sum_responses(sinew_field *field, const sn_quat *factors) {
    memset(field->x, 0, (size_t)field->unknown_count * WIDTH * sizeof(double));
    for (int32_t c = 0; c < field->curve_count; c++) {
        add_product(field->x, response_of(field, c)->x, WIDTH, factors[c], field->unknown_count);
    }
}

// The first solve, by what each curve gives alone.
static sinew_status solve_each(sinew_field *field, const sn_guides *guides, const sn_quat *factors,
                               sn_solve_report *report, sn_arena *scratch) {
    size_t n = (size_t)field->unknown_count;
    for (int32_t first = 0; first < field->curve_count; first += MOST_AT_ONCE) {
        int32_t left = field->curve_count - first;
        sn_arena_mark mark = sn_arena_get_mark(scratch);
        sn_solve_report part;
        batch made = {.first = first, .count = left < MOST_AT_ONCE ? left : MOST_AT_ONCE};

        if (field->history != NULL) {
            made.history =
                SN_PUSH(scratch, double, SN_SMOOTHING_PASSES *n *WIDTH *(size_t)made.count);
        }

        SN_TRY(solve_batch(field, guides, &made, &part, scratch));
        SN_TRY(keep_batch(field, &made));
        if (field->history != NULL) {
            add_history(field, &made, factors);
        }

        report->iterations += part.iterations;
        report->relative_residual = fmax(report->relative_residual, part.relative_residual);
        sn_arena_rewind(scratch, mark);
    }

    sum_responses(field, factors);
    field->history_known = field->history != NULL;

    return SINEW_OK;
}

static sn_quat change_of(const sinew_field *field, const sn_quat *factors, int32_t curve) {
    return sn_quat_add(factors[curve], sn_quat_scale(-1, field->factors[curve]));
}

// The only curve whose factor has changed; -1 if none has, -2 if several have.
static int32_t find_turned(const sinew_field *field, const sn_quat *factors) {
    int32_t found = -1;
    for (int32_t c = 0; c < field->curve_count; c++) {
        sn_quat change = change_of(field, factors, c);
        if (sn_quat_dot(change, change) < 1e-28) {
            continue;
        }
        if (found >= 0) {
            return -2;
        }

        found = c;
    }

    return found;
}

static sinew_status solve_linear(sinew_field *field, const sn_guides *guides,
                                 const sn_quat *factors, sn_solve_report *report,
                                 sn_arena *scratch) {
    if (field->prepare_turns) {
        return solve_each(field, guides, factors, report, scratch);
    }

    int32_t turned = field->moved || field->seam_count > 0 ? -2 : find_turned(field, factors);
    if (turned == -1) {
        return SINEW_OK;
    }

    if (!field->moved && are_all_known(field)) {
        sum_responses(field, factors);
    } else if (turned == -2) {
        return solve_all(field, guides, factors, report, scratch);
    } else {
        SN_TRY(find_response(field, guides, turned, report, scratch));
        add_product(field->x, response_of(field, turned)->x, WIDTH,
                    change_of(field, factors, turned), field->unknown_count);
    }

    return SINEW_OK;
}

static sinew_status solve_frames(sinew_field *field, const sn_guides *guides,
                                 sn_solve_report *report, sn_arena *scratch) {
    sn_quat *factors = SN_PUSH(scratch, sn_quat, field->curve_count);
    sn_quat *aligned = SN_PUSH(scratch, sn_quat, guides->count);

    SN_TRY(sn_arena_status(scratch));
    SN_TRY(compute_factors(field, guides, factors, aligned, scratch));
    SN_TRY(solve_linear(field, guides, factors, report, scratch));
    field->prepare_turns = false; // the first time
    field->seam_count = 0;

    if (sn_has_seam(field, guides, aligned)) {
        SN_TRY(sn_solve_seam(field, guides, aligned, report));
    }

    memcpy(field->factors, factors, (size_t)field->curve_count * sizeof(sn_quat));
    return SINEW_OK;
}

static sinew_status solve(sinew_field *field, sn_guides *guides, sn_arena *scratch) {
    sn_solve_report report = {0};
    if (field->moved) {
        for (int k = 0; k < SN_FIELD_RESPONSES; k++) {
            field->responses[k].curve = -1;
        }
        SN_TRY(sn_smoothing_set_constraints(&field->smoothing, &guides->constraints));
    }

    if (field->kind == SINEW_FIELD_FRAMES) {
        SN_TRY(solve_frames(field, guides, &report, scratch));
    } else if (field->moved) {
        SN_TRY(solve_all(field, guides, NULL, &report, scratch));
    }

    show_guides(field, guides);
    field->report = (sinew_field_report){.unknown_count = field->unknown_count,
                                         .constraint_count = guides->count,
                                         .ignored_count = guides->ignored,
                                         .part_count = field->part_count,
                                         .lonely_part_count = guides->lonely_count,
                                         .direct = field->smoothing.direct,
                                         .iterations = report.iterations,
                                         .relative_residual = report.relative_residual,
                                         .seam_count = field->seam_count};
    sn_field_finish(field);

    return SINEW_OK;
}

sinew_status sinew_field_solve(sinew_field *field) {
    if (!field->moved && !field->turned) {
        return SINEW_OK;
    }

    sn_guides fresh = {.arena = sn_arena_create(field->context)};
    if (field->moved) {
        SN_TRY(sn_guides_build(field, &fresh));
    }

    sn_arena scratch = sn_arena_create(field->context);
    sinew_status status = solve(field, field->moved ? &fresh : &field->guides, &scratch);

    sn_arena_destroy(&scratch);
    if (status != SINEW_OK) {
        sn_arena_destroy(&fresh.arena);
        field->moved = true; // what is kept may be of neither
        return status;
    }

    if (field->moved) {
        sn_arena_destroy(&field->guides.arena);
        field->guides = fresh;
    }

    field->moved = field->turned = false;
    return SINEW_OK;
}

static sinew_status check_curve(const sinew_field *field, int32_t curve) {
    if (curve >= 0 && curve < field->curve_count) {
        return SINEW_OK;
    }
    return sn_fail(field->context, SINEW_INVALID_ARGUMENT, "curve %d of a field that has %d",
                   (int)curve, (int)field->curve_count);
}

sinew_status sinew_field_set_turn(sinew_field *field, int32_t curve, double turn) {
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
    SN_TRY(check_curve(field, curve));
    const sn_curve *old = &field->curves[curve].curve;
    bool same = point_count == old->point_count;
    bool nurbs = old->kind == SINEW_CURVE_NURBS;
    sinew_curve_def def = {.name = old->name,
                           .kind = old->kind,
                           .points = points,
                           .point_count = point_count,
                           .weights = same && nurbs ? old->weights : NULL,
                           .knots = same && nurbs ? old->knots : NULL,
                           .turn = old->turn};

    sn_store3(def.normal, old->normal);
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

// A vector of any length but 0, however small or large, as one of length 1; the others are zero or
// not finite.
static sn_vec3 unit(const double *v) {
    sn_vec3 a = sn_load3(v);
    double largest = fmax(fabs(a.x), fmax(fabs(a.y), fabs(a.z)));
    return largest > 0 ? sn_normalize(sn_v3(a.x / largest, a.y / largest, a.z / largest)) : a;
}

// Third axis first, then the first as far as it is across; the second follows.
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
        sn_mat3 Q;
        if (axes != NULL) {
            SN_TRY(orthonormalize(field->context, e, axes + 9 * (size_t)e, &Q));
        } else {
            const double *d = directions + 3 * (size_t)e;
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
    return create_from_outside(context, mesh, kind, axes, NULL, field);
}

sinew_status sinew_field_create_from_directions(sinew_context *context, const sinew_mesh *mesh,
                                                const double *directions, sinew_field **field) {
    return create_from_outside(context, mesh, SINEW_FIELD_FIBRES, NULL, directions, field);
}
