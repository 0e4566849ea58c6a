// Loads on triangles of a body's surface, or on those faces of a body of elements whose nodes are
// all selected.
//
// The force on a triangle is divided equally among its corners and mapped to the rows from there
// (see sn_surface_ops). The force on a face (traction times area, or pressure times area normal) is
// divided among its nodes by the integrals of their shape functions: a third each for a triangle, a
// quarter for a quadrilateral; for the six-node face of the ten-node tet a third for each mid-edge
// node and nothing for the corners.
#include "body/load.h"

#include "body/point.h"
#include "body/surface.h"
#include "geom/mesh/mesh.h"

#include <math.h>
#include <string.h>

typedef struct face {
    int32_t node_count, corner_count;
    int32_t node[SN_MAX_FACE_NODES];
} face;

// A load has either faces or triangles.
struct sn_load {
    sn_load *next;
    sinew_load_kind kind;
    double traction[3], pressure, scale;
    int32_t face_count;
    face *faces;
    int32_t triangle_count;
    int32_t *triangles;
};

static sn_load *find_load(const sinew_body *body, int32_t index) {
    SN_ASSERT(index >= 0 && index < body->load_count);
    sn_load *load = body->loads; // newest first
    for (int32_t i = body->load_count - 1; i > index; i--) {
        load = load->next;
    }
    return load;
}

sinew_load_def sinew_default_load_def(void) {
    return (sinew_load_def){.kind = SINEW_LOAD_TRACTION, .filled = SN_DEF_FILLED};
}

// The outward normal of a face times its area; for the edge of a plane triangle, its length times
// the thickness.
static sn_vec3 area_vector(const sinew_body *body, const face *f, const double *x) {
    sn_vec3 a = sn_load3(x + 3 * f->node[0]);
    sn_vec3 b = sn_load3(x + 3 * f->node[1]);
    if (f->corner_count == 2) {
        return sn_scale(body->thickness, sn_v3(b.y - a.y, a.x - b.x, 0));
    }

    sn_vec3 c = sn_load3(x + 3 * f->node[2]);
    if (f->corner_count == 3) {
        return sn_scale(0.5, sn_cross(sn_sub(b, a), sn_sub(c, a)));
    }

    sn_vec3 d = sn_load3(x + 3 * f->node[3]);
    return sn_scale(0.5, sn_cross(sn_sub(c, a), sn_sub(d, b)));
}

// Divides the force on a face among its nodes; see above for the shares.
static void add_face_force(const face *f, sn_vec3 force, double *forces) {
    bool quadratic = f->node_count > f->corner_count;
    int32_t first = quadratic ? f->corner_count : 0;
    double share = 1.0 / (f->node_count - first);
    for (int32_t a = first; a < f->node_count; a++) {
        sn_add_to3(forces + 3 * f->node[a], sn_scale(share, force));
    }
}

static sn_vec3 face_force(const sinew_body *body, const sn_load *load, const face *f) {
    if (load->kind == SINEW_LOAD_TRACTION) {
        return sn_scale(load->scale * sn_length(area_vector(body, f, body->rest)),
                        sn_load3(load->traction));
    }
    return sn_scale(-load->scale * load->pressure, area_vector(body, f, body->q));
}

void sn_loads_add_face_forces(sinew_body *body, double *force) {
    for (const sn_load *load = body->loads; load; load = load->next) {
        for (int32_t i = 0; i < load->face_count; i++) {
            add_face_force(&load->faces[i], face_force(body, load, &load->faces[i]), force);
        }
    }
}

// Twice the area of a triangle as a vector along its normal.
static sn_vec3 triangle_area(const double *points, const int32_t *t) {
    sn_vec3 a = sn_load3(points + 3 * (size_t)t[0]);
    sn_vec3 b = sn_load3(points + 3 * (size_t)t[1]);
    return sn_cross(sn_sub(b, a), sn_sub(sn_load3(points + 3 * (size_t)t[2]), a));
}

static const int32_t *corners_of(const sinew_body *body, const sn_load *load, int32_t i) {
    return body->surface->indices + 3 * (size_t)load->triangles[i];
}

// The force of a triangle on each of its corners, with the vertices at `positions`.
static sn_vec3 corner_force(const sinew_body *body, const sn_load *load, int32_t i,
                            const double *positions) {
    const int32_t *t = corners_of(body, load, i);
    if (load->kind == SINEW_LOAD_PRESSURE) {
        return sn_scale(-load->scale * load->pressure / 6, triangle_area(positions, t));
    }
    sn_vec3 area = triangle_area(body->surface->points, t);
    return sn_scale(load->scale * sn_length(area) / 6, sn_load3(load->traction));
}

// Whether any force acts on the vertices; `pressed` says whether it depends on their positions.
static bool is_surface_loaded(const sinew_body *body, bool *pressed) {
    bool loaded = body->surface_forces != NULL;
    *pressed = false;
    for (const sn_load *load = body->loads; load; load = load->next) {
        loaded = loaded || load->triangle_count > 0;
        *pressed = *pressed || (load->triangle_count > 0 && load->kind == SINEW_LOAD_PRESSURE);
    }
    return loaded;
}

void sn_loads_add_surface_forces(sinew_body *body, double *force) {
    bool pressed;
    if (!is_surface_loaded(body, &pressed)) {
        return;
    }

    size_t count = 3 * (size_t)body->surface->point_count;
    double *positions = body->surface_work;
    double *forces = body->surface_work + count;
    memset(forces, 0, count * sizeof *forces);
    if (body->surface_forces) {
        memcpy(forces, body->surface_forces, count * sizeof *forces);
    }
    if (pressed) {
        body->ops->surface.compute(body, body->q, positions);
    }

    // In the order in which the loads were added (the list has the newest first).
    for (int32_t index = 0; index < body->load_count; index++) {
        const sn_load *load = find_load(body, index);
        for (int32_t i = 0; i < load->triangle_count; i++) {
            const int32_t *t = corners_of(body, load, i);
            sn_vec3 share = corner_force(body, load, i, positions);
            for (int k = 0; k < 3; k++) {
                sn_add_to3(forces + 3 * (size_t)t[k], share);
            }
        }
    }

    body->ops->surface.add_forces(body, forces, force);
}

bool sn_loads_follow(const sinew_body *body) {
    bool rotates = body->ops->motion.retract != NULL;
    if (body->weight_follows) {
        return true;
    }
    if (sn_points_follow(body) || (rotates && body->surface_forces)) {
        return true;
    }

    for (const sn_load *load = body->loads; load; load = load->next) {
        bool pressure = load->kind == SINEW_LOAD_PRESSURE && load->pressure != 0;
        if (load->scale != 0 && (pressure || (rotates && load->triangle_count > 0))) {
            return true;
        }
    }

    return false;
}

double sn_load_get_scale(const sinew_body *body, int32_t index) {
    return find_load(body, index)->scale;
}

void sn_load_set_scale(sinew_body *body, int32_t index, double scale) {
    find_load(body, index)->scale = scale;
}

static sinew_status check_values(const sinew_body *body, const sinew_load_def *def) {
    if (def->kind != SINEW_LOAD_TRACTION && def->kind != SINEW_LOAD_PRESSURE) {
        return sn_fail(body->context, SINEW_INVALID_ARGUMENT,
                       "the kind of a load is %d; valid are %d (traction) and %d (pressure)",
                       (int)def->kind, (int)SINEW_LOAD_TRACTION, (int)SINEW_LOAD_PRESSURE);
    }

    for (int k = 0; k < 3; k++) {
        if (!isfinite(def->traction[k])) {
            return sn_fail(body->context, SINEW_INVALID_ARGUMENT,
                           "traction[%d] is %g; it must be finite", k, def->traction[k]);
        }
    }

    if (!isfinite(def->pressure)) {
        return sn_fail(body->context, SINEW_INVALID_ARGUMENT, "pressure is %g; it must be finite",
                       def->pressure);
    }

    return SINEW_OK;
}

static sinew_status check_list(const sinew_body *body, const char *what, const int32_t *list,
                               int32_t count, int32_t limit) {
    if (count < 0 || (count > 0 && !list)) {
        return sn_fail(body->context, SINEW_INVALID_ARGUMENT,
                       "a load on %d %ss of body \"%s\" needs a list of them", count, what,
                       body->name);
    }

    for (int32_t i = 0; i < count; i++) {
        if (list[i] < 0 || list[i] >= limit) {
            return sn_fail(body->context, SINEW_INVALID_ARGUMENT,
                           "load %s %d of body \"%s\" is %d; %ss are 0 to %d", what, i, body->name,
                           list[i], what, limit - 1);
        }
    }

    return SINEW_OK;
}

static sinew_status check_load(const sinew_body *body, const sinew_load_def *def) {
    SN_TRY(SN_CHECK_DEF(body->context, def, "sinew_default_load_def"));
    SN_TRY(check_values(body, def));
    SN_TRY(check_list(body, "triangle", def->triangles, def->triangle_count,
                      body->surface->element_count));
    if (def->node_count != 0 && body->mesh.element_count == 0) {
        return sn_fail(body->context, SINEW_UNSUPPORTED,
                       "body \"%s\" has no nodes to select: name triangles of its surface",
                       body->name);
    }

    SN_TRY(check_list(body, "node", def->nodes, def->node_count, body->mesh.point_count));
    if ((def->node_count > 0) == (def->triangle_count > 0)) {
        return sn_fail(body->context, SINEW_INVALID_ARGUMENT,
                       "a load on body \"%s\" has %d nodes and %d triangles; it lies on faces of "
                       "selected nodes, or on selected triangles of the surface",
                       body->name, def->node_count, def->triangle_count);
    }

    return SINEW_OK;
}

// Stores the boundary faces whose nodes are all selected in `faces`, unless NULL; returns their
// number.
static int32_t collect_faces(const sinew_mesh *mesh, const sn_boundary *boundary,
                             const uint8_t *selected, face *faces) {
    const sn_element_info *info = sn_element_info_of(mesh->element);
    int32_t count = 0;
    for (int32_t i = 0; i < boundary->count; i++) {
        const int32_t *nodes = sn_mesh_nodes(mesh, boundary->elements[i]);
        const int8_t *local = info->face[boundary->faces[i]];
        face f = {.node_count = info->face_nodes, .corner_count = info->face_corners};
        bool inside = true;

        for (int32_t a = 0; a < f.node_count; a++) {
            f.node[a] = nodes[local[a]];
            inside = inside && selected[f.node[a]];
        }

        if (inside && faces) {
            faces[count] = f;
        }

        count += inside;
    }

    return count;
}

// Adds a load whose lists are already in the body's arena to the body's list.
static void append(sinew_body *body, const sinew_load_def *def, sn_load *load, int32_t *index) {
    load->next = body->loads;
    load->kind = def->kind;
    memcpy(load->traction, def->traction, sizeof load->traction);
    load->pressure = def->pressure;
    load->scale = 1;
    body->loads = load;
    if (index) {
        *index = body->load_count;
    }

    body->load_count++;
}

static sinew_status push_triangles(sinew_body *body, const sinew_load_def *def, sn_load *load) {
    load->triangle_count = def->triangle_count;
    load->triangles = SN_PUSH(&body->arena, int32_t, def->triangle_count);
    SN_TRY(sn_arena_status(&body->arena));
    memcpy(load->triangles, def->triangles, (size_t)def->triangle_count * sizeof *load->triangles);
    return SINEW_OK;
}

static sinew_status push_faces(sinew_body *body, const sinew_load_def *def, sn_arena *scratch,
                               sn_load *load) {
    uint8_t *selected = SN_PUSH(scratch, uint8_t, body->rows);
    sn_boundary boundary = {0};
    SN_TRY(sn_arena_status(scratch));
    for (int32_t i = 0; i < def->node_count; i++) {
        selected[def->nodes[i]] = 1;
    }

    // Two passes: count, then store.
    SN_TRY(sn_build_boundary(scratch, &body->mesh, &boundary));
    load->face_count = collect_faces(&body->mesh, &boundary, selected, NULL);
    if (load->face_count == 0) {
        return sn_fail(body->context, SINEW_INVALID_ARGUMENT,
                       "the %d selected nodes of body \"%s\" hold no whole face of its surface",
                       def->node_count, body->name);
    }

    load->faces = SN_PUSH(&body->arena, face, load->face_count);
    SN_TRY(sn_arena_status(&body->arena));
    collect_faces(&body->mesh, &boundary, selected, load->faces);
    return SINEW_OK;
}

static sinew_status push_load(sinew_body *body, const sinew_load_def *def, sn_load **load) {
    *load = SN_PUSH(&body->arena, sn_load, 1);
    SN_TRY(sn_arena_status(&body->arena));
    if (def->triangle_count > 0) {
        return push_triangles(body, def, *load);
    }

    sn_arena scratch = sn_arena_create(body->context);
    sinew_status status = push_faces(body, def, &scratch, *load);
    sn_arena_destroy(&scratch);
    return status;
}

sinew_status sinew_body_add_load(sinew_body *body, const sinew_load_def *def, int32_t *index) {
    SN_NEED(NULL, body);

    SN_TRY(check_load(body, def));
    if (def->triangle_count > 0) {
        SN_TRY(sn_surface_push_work(body)); // kept even if the load fails: before the mark
    }

    sn_arena_mark before = sn_arena_get_mark(&body->arena);
    sn_load *load;
    sinew_status status = push_load(body, def, &load);
    if (status != SINEW_OK) {
        sn_arena_rewind(&body->arena, before);
        return status;
    }

    append(body, def, load, index);
    return SINEW_OK;
}

static sinew_status check_index(const sinew_body *body, int32_t index) {
    if (index >= 0 && index < body->load_count) {
        return SINEW_OK;
    }
    return sn_fail(body->context, SINEW_INVALID_ARGUMENT, "load %d of body \"%s\": there are %d",
                   index, body->name, body->load_count);
}

static void measure_faces(const sinew_body *body, const sn_load *load, sinew_load_report *report) {
    for (int32_t i = 0; i < load->face_count; i++) {
        const face *f = &load->faces[i];
        report->rest_area += sn_length(area_vector(body, f, body->rest));
        report->area += sn_length(area_vector(body, f, body->q));
        sn_add_to3(report->force, face_force(body, load, f));
    }
}

static void measure_triangles(const sinew_body *body, const sn_load *load,
                              sinew_load_report *report) {
    double *positions = body->surface_work;
    body->ops->surface.compute(body, body->q, positions);
    for (int32_t i = 0; i < load->triangle_count; i++) {
        const int32_t *t = corners_of(body, load, i);
        report->rest_area += 0.5 * sn_length(triangle_area(body->surface->points, t));
        report->area += 0.5 * sn_length(triangle_area(positions, t));
        sn_add_to3(report->force, sn_scale(3, corner_force(body, load, i, positions)));
    }
}

sinew_status sinew_body_get_load(const sinew_body *body, int32_t index, sinew_load_report *report) {
    SN_NEED(NULL, body);
    SN_TRY(check_index(body, index));
    const sn_load *load = find_load(body, index);
    *report = (sinew_load_report){.kind = load->kind, .scale = load->scale};
    if (load->triangle_count > 0) {
        measure_triangles(body, load, report);
    } else {
        measure_faces(body, load, report);
    }

    return SINEW_OK;
}

sinew_status sinew_body_set_load_scale(sinew_body *body, int32_t index, double scale) {
    SN_NEED(NULL, body);
    SN_TRY(check_index(body, index));
    if (!isfinite(scale)) {
        return sn_fail(body->context, SINEW_INVALID_ARGUMENT,
                       "the scale of load %d of body \"%s\" is %g; it must be finite", index,
                       body->name, scale);
    }

    sn_load_set_scale(body, index, scale);
    return SINEW_OK;
}
