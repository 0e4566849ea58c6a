// From curves to constraints. Input: frames along the curves; output: the rows of C and the frame
// each row requests.
//
// A frame guides the unknowns next to it. By element these are the element that contains it and
// those across its faces; by vertex, the nodes of its element. They are weighted by
// exp(-d^2 / d'^2) with d' the mean distance of neighbours (Cai 2016, 5.7, made independent of the
// unit of length). A part of the mesh that no frame reaches takes the nearest frame. Cost: one tree
// search per frame.
#include "field/field.h"

#include <string.h>

// ---- Frames -------------------------------------------------------------------------------------

static int32_t frame_count(const sinew_field *field, const sn_curve *curve) {
    double wanted = ceil(sn_curve_length(curve) / field->spacing) + 1;
    return wanted < 2 ? 2 : wanted > SN_CURVE_MAX_SAMPLES ? SN_CURVE_MAX_SAMPLES : (int32_t)wanted;
}

// All frames of one curve; the signs of the quaternions are continuous.
static sinew_status compute_frames(sn_arena *scratch, const sn_curve *curve, int32_t count,
                                   sn_vec3 *x, sn_quat *q) {
    sn_vec3 *t = SN_PUSH(scratch, sn_vec3, count);
    sn_vec3 *r = SN_PUSH(scratch, sn_vec3, count);

    SN_TRY(sn_arena_status(scratch));
    sn_curve_sample(curve, count, x, t);
    r[0] = sn_curve_first_axis(curve, t[0]);
    sn_double_reflection(r, x, t, count);

    for (int32_t i = 0; i < count; i++) {
        q[i] = sn_quat_from_mat3(sn_mat3_columns(r[i], sn_cross(t[i], r[i]), t[i]));
        if (i > 0 && sn_quat_dot(q[i], q[i - 1]) < 0) {
            q[i] = sn_quat_scale(-1, q[i]);
        }
    }

    return SINEW_OK;
}

// ---- Constraints --------------------------------------------------------------------------------

// The unknowns guided by a point in `element`; at most 1 + SN_MAX_FACES, or the element's nodes.
static int32_t list_guided(const sinew_field *field, int32_t element, int32_t *unknowns) {
    if (field->unknowns == SINEW_FIELD_BY_VERTEX) {
        int32_t count = sn_element_info_of(field->mesh->element)->nodes;
        memcpy(unknowns, sn_mesh_nodes(field->mesh, element), (size_t)count * sizeof(int32_t));
        return count;
    }

    int32_t begin = field->neighbors.offsets[element];
    int32_t count = field->neighbors.offsets[element + 1] - begin;

    unknowns[0] = element;
    memcpy(unknowns + 1, field->neighbors.items + begin, (size_t)count * sizeof(int32_t));

    return count + 1;
}

static void add_row(const sinew_field *field, sn_guides *guides, sn_vec3 x, int32_t element) {
    sn_constraints *rows = &guides->constraints;
    int32_t begin = rows->starts[rows->count];
    int32_t count = list_guided(field, element, rows->unknowns + begin);
    double scale = field->smoothing.mean_distance;
    double nearest = INFINITY;
    double sum = 0;
    double *w = rows->weights + begin;

    // Squared distances to the guided unknowns, in units of the mean distance.
    for (int32_t k = 0; k < count; k++) {
        double d = sn_distance(x, field->positions[rows->unknowns[begin + k]]);
        w[k] = scale > 0 ? d * d / (scale * scale) : 0;
        nearest = fmin(nearest, w[k]);
    }

    // Gaussian weights.
    for (int32_t k = 0; k < count; k++) {
        // A common factor cancels; this one avoids underflow at large distances.
        w[k] = exp(nearest - w[k]);
        sum += w[k];
    }

    // Normalise.
    for (int32_t k = 0; k < count; k++) {
        w[k] /= sum;
    }

    rows->points[rows->count] = x;
    rows->starts[++rows->count] = begin + count;
}

// Reports a curve none of whose frames guides the field.
static sinew_status refuse_curve(const sinew_field *field, const sn_curve *curve, int32_t count,
                                 double nearest) {
    if (count == SN_CURVE_MAX_SAMPLES) {
        return sn_fail(
            field->context, SINEW_INVALID_DATA,
            "%s is %g m long, so that its %d frames are %g m apart and miss the body; shorten it",
            curve->name, sn_curve_length(curve), (int)count, sn_curve_length(curve) / (count - 1));
    }

    return sn_fail(
        field->context, SINEW_INVALID_DATA,
        "%s lies outside of the body: it comes no nearer than %g m, and guides up to %g m",
        curve->name, nearest, field->reach);
}

// Keeps the frames of a curve that are inside the solid or close to it; a curve without any is an
// error.
static sinew_status add_curve(const sinew_field *field, sn_guides *guides, int32_t index,
                              sn_arena *scratch) {
    const sn_curve *curve = &field->curves[index].curve;
    int32_t count = frame_count(field, curve);
    int32_t before = guides->count;
    sn_vec3 *x = SN_PUSH(scratch, sn_vec3, count);
    sn_quat *q = SN_PUSH(scratch, sn_quat, count);

    SN_TRY(sn_arena_status(scratch));
    SN_TRY(compute_frames(scratch, curve, count, x, q));

    // Searching the tree from a remote point visits much of it; the box of the solid settles most
    // such cases.
    sn_box box = sn_box_grown(field->tree.bvh.nodes[0].box, field->reach);
    double nearest = INFINITY;
    for (int32_t i = 0; i < count; i++) {
        double distance = sqrt(sn_box_distance2(box, x[i]));
        if (distance > 0) {
            nearest = fmin(nearest, distance + field->reach);
            guides->ignored++;
            continue;
        }

        // The element that contains the frame, or the nearest one within reach.
        sn_location location = sn_element_tree_locate(&field->tree, x[i]);
        nearest = fmin(nearest, location.distance);
        if (location.distance > field->reach) {
            guides->ignored++;
            continue;
        }

        guides->curves[guides->count] = index;
        guides->points[guides->count] = x[i];
        guides->frames[guides->count] = q[i];
        guides->sources[guides->count] = guides->count;
        guides->count++;
        add_row(field, guides, x[i], location.element);
    }

    return guides->count > before ? SINEW_OK : refuse_curve(field, curve, count, nearest);
}

// ---- Parts without a curve ----------------------------------------------------------------------

typedef struct nearest_search {
    const sn_guides *guides;
    sn_vec3 p;
} nearest_search;

static double guide_distance2(void *data, int32_t item, double best) {
    nearest_search *search = data;
    (void)best;
    sn_vec3 d = sn_sub(search->guides->points[item], search->p);
    return sn_dot(d, d);
}

// For each isolated part, the frame nearest to any of its unknowns.
static sinew_status find_sources(const sinew_field *field, const sn_guides *guides,
                                 const int32_t *isolated_of, int32_t *sources, sn_arena *scratch) {
    sn_box *boxes = SN_PUSH(scratch, sn_box, guides->count);
    double *best2 = SN_PUSH(scratch, double, field->part_count);

    SN_TRY(sn_arena_status(scratch));
    for (int32_t i = 0; i < guides->count; i++) {
        boxes[i] = (sn_box){guides->points[i], guides->points[i]};
    }

    for (int32_t i = 0; i < field->part_count; i++) {
        best2[i] = INFINITY;
    }

    sn_bvh bvh;
    SN_TRY(sn_bvh_build(scratch, boxes, guides->count, &bvh));

    // For every unknown of an isolated part, look for a closer frame than those found so far.
    for (int32_t i = 0; i < field->unknown_count; i++) {
        int32_t isolated = isolated_of[field->parts[i]];
        if (isolated < 0) {
            continue;
        }

        nearest_search search = {guides, field->positions[i]};
        double found2;
        int32_t found =
            sn_bvh_nearest(&bvh, search.p, best2[isolated], guide_distance2, &search, &found2);

        if (found < 0) {
            continue;
        }

        best2[isolated] = found2;
        sources[isolated] = found;
    }

    return SINEW_OK;
}

// Ties the first unknown of each isolated part to the nearest frame; the smoothest function is then
// constant there.
static sinew_status add_isolated_parts(const sinew_field *field, sn_guides *guides,
                                       sn_arena *scratch) {
    int32_t parts = field->part_count;
    int32_t isolated = 0;
    int32_t *isolated_of = SN_PUSH(scratch, int32_t, parts);
    int32_t *sources = SN_PUSH(scratch, int32_t, parts);

    SN_TRY(sn_arena_status(scratch));

    // Parts with a constraint are not isolated; number the others.
    for (int32_t k = 0; k < guides->constraints.starts[guides->constraints.count]; k++) {
        isolated_of[field->parts[guides->constraints.unknowns[k]]] = -1;
    }

    for (int32_t p = 0; p < parts; p++) {
        isolated_of[p] = isolated_of[p] < 0 ? -1 : isolated++;
    }

    guides->isolated_count = isolated;
    guides->isolated = SN_PUSH(&guides->arena, sinew_isolated_part, isolated);
    SN_TRY(sn_arena_status(&guides->arena));
    if (isolated == 0) {
        return SINEW_OK;
    }

    // Tie the first unknown of each part, and count its unknowns.
    SN_TRY(find_sources(field, guides, isolated_of, sources, scratch));
    for (int32_t i = 0; i < field->unknown_count; i++) {
        int32_t part = isolated_of[field->parts[i]];
        if (part < 0) {
            continue;
        }

        if (guides->isolated[part].count++ == 0) {
            sn_constraints *rows = &guides->constraints;
            int32_t entry = rows->starts[rows->count];
            guides->isolated[part].first = i;
            guides->isolated[part].curve = guides->curves[sources[part]];
            rows->unknowns[entry] = i;
            rows->weights[entry] = 1;
            rows->points[rows->count] = field->positions[i];
            guides->sources[rows->count] = sources[part];
            rows->starts[++rows->count] = entry + 1;
        }
    }

    // Warn.
    for (int32_t p = 0; p < isolated; p++) {
        const sinew_isolated_part *part = &guides->isolated[p];
        sn_vec3 location = field->positions[part->first];
        sn_log(field->context, SINEW_LOG_WARNING,
               "no curve reaches the part of %d %s%s from number %d on, near [%.3g, %.3g, %.3g] m: "
               "it takes the nearest frame, of %s",
               (int)part->count, field->unknowns == SINEW_FIELD_BY_VERTEX ? "node" : "element",
               part->count == 1 ? "" : "s", (int)part->first, location.x, location.y, location.z,
               field->curves[part->curve].curve.name);
    }

    return SINEW_OK;
}

// ---- All ----------------------------------------------------------------------------------------

static sinew_status push_guides(const sinew_field *field, sn_guides *guides) {
    int64_t frames = 0;
    for (int32_t c = 0; c < field->curve_count; c++) {
        frames += frame_count(field, &field->curves[c].curve);
    }

    // Upper bounds: one row per frame, and one per isolated part.
    int64_t rows = frames + field->part_count;
    int64_t most = 1 + SN_MAX_FACES > 8 ? 1 + SN_MAX_FACES : 8;
    if (rows * most > INT32_MAX) {
        return sn_fail(field->context, SINEW_INVALID_ARGUMENT,
                       "%lld frames along the curves are too many: enlarge the spacing",
                       (long long)frames);
    }

    sn_arena *arena = &guides->arena;
    guides->curves = SN_PUSH(arena, int32_t, frames);
    guides->points = SN_PUSH(arena, sn_vec3, frames);
    guides->frames = SN_PUSH(arena, sn_quat, frames);
    guides->sources = SN_PUSH(arena, int32_t, rows);
    guides->constraints.starts = SN_PUSH(arena, int32_t, rows + 1);
    guides->constraints.unknowns = SN_PUSH(arena, int32_t, rows * most);
    guides->constraints.weights = SN_PUSH(arena, double, rows *most);
    guides->constraints.points = SN_PUSH(arena, sn_vec3, rows);
    guides->shown_points = SN_PUSH(arena, double, 3 * frames);
    guides->shown_axes = SN_PUSH(arena, double, 9 * frames);

    return sn_arena_status(arena);
}

static sinew_status build(const sinew_field *field, sn_guides *guides, sn_arena *scratch) {
    SN_TRY(push_guides(field, guides));
    for (int32_t c = 0; c < field->curve_count; c++) {
        sn_arena_mark mark = sn_arena_get_mark(scratch);
        SN_TRY(add_curve(field, guides, c, scratch));
        sn_arena_rewind(scratch, mark);
    }

    SN_TRY(add_isolated_parts(field, guides, scratch));
    return field->kind == SINEW_FIELD_FRAMES ? sn_find_meetings(field, guides) : SINEW_OK;
}

sinew_status sn_guides_build(const sinew_field *field, sn_guides *guides) {
    *guides = (sn_guides){.arena = sn_arena_create(field->context)};
    sn_arena scratch = sn_arena_create(field->context);
    sinew_status status = build(field, guides, &scratch);

    sn_arena_destroy(&scratch);

    if (status != SINEW_OK) {
        sn_arena_destroy(&guides->arena);
        *guides = (sn_guides){.arena = sn_arena_create(field->context)};
    }

    return status;
}
