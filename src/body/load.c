// A load keeps the boundary faces that lie wholly in its selection. The force of a face, area times
// traction or pressure times area normal, goes to its nodes by the integrals of their shape
// functions: a third each for a triangle, a quarter for a quadrilateral, and for the ten-node tet's
// face a third to each middle and nothing to the corners.
#include "body/load.h"

#include "geom/mesh/mesh.h"

#include <math.h>

typedef struct face {
    int32_t node_count, corner_count;
    int32_t node[SN_MAX_FACE_NODES];
} face;

struct sn_load {
    sn_load *next;
    sinew_load_kind kind;
    double traction[3], pressure, scale;
    int32_t face_count;
    face *faces;
};

sinew_load_def sinew_default_load_def(void) {
    return (sinew_load_def){.kind = SINEW_LOAD_TRACTION};
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

static void add_face_force(const face *f, sn_vec3 force, double *forces) {
    bool quadratic = f->node_count > f->corner_count;
    int32_t first = quadratic ? f->corner_count : 0;
    double share = 1.0 / (f->node_count - first);
    for (int32_t a = first; a < f->node_count; a++) {
        sn_add_to3(forces + 3 * f->node[a], sn_scale(share, force));
    }
}

static void add_load(const sinew_body *body, const sn_load *load, double *forces) {
    for (int32_t i = 0; i < load->face_count; i++) {
        const face *f = &load->faces[i];
        sn_vec3 force;
        if (load->kind == SINEW_LOAD_TRACTION) {
            force = sn_scale(load->scale * sn_length(area_vector(body, f, body->rest)),
                             sn_load3(load->traction));
        } else {
            force = sn_scale(-load->scale * load->pressure, area_vector(body, f, body->q));
        }

        add_face_force(f, force, forces);
    }
}

void sn_loads_add_forces(sinew_body *body, double *force) {
    for (const sn_load *load = body->loads; load; load = load->next) {
        add_load(body, load, force);
    }
}

bool sn_loads_follow(const sinew_body *body) {
    for (const sn_load *load = body->loads; load; load = load->next) {
        if (load->kind == SINEW_LOAD_PRESSURE && load->pressure != 0 && load->scale != 0) {
            return true;
        }
    }
    return false;
}

static sn_load *find_load(const sinew_body *body, int32_t index) {
    SN_ASSERT(index >= 0 && index < body->load_count);
    sn_load *load = body->loads; // newest first
    for (int32_t i = body->load_count - 1; i > index; i--) {
        load = load->next;
    }
    return load;
}

double sn_load_get_scale(const sinew_body *body, int32_t index) {
    return find_load(body, index)->scale;
}

void sn_load_set_scale(sinew_body *body, int32_t index, double scale) {
    find_load(body, index)->scale = scale;
}

static sinew_status check_load(sinew_body *body, const sinew_load_def *def) {
    sinew_context *context = body->context;
    if (body->mesh.element_count == 0) {
        return sn_fail(context, SINEW_UNSUPPORTED, "body \"%s\" has no element faces to load",
                       body->name);
    }

    for (int k = 0; k < 3; k++) {
        if (!isfinite(def->traction[k])) {
            return sn_fail(context, SINEW_INVALID_ARGUMENT, "traction[%d] is %g; it must be finite",
                           k, def->traction[k]);
        }
    }

    if (!isfinite(def->pressure)) {
        return sn_fail(context, SINEW_INVALID_ARGUMENT, "pressure is %g; it must be finite",
                       def->pressure);
    }

    for (int32_t i = 0; i < def->node_count; i++) {
        if (def->nodes[i] < 0 || def->nodes[i] >= body->rows) {
            return sn_fail(context, SINEW_INVALID_ARGUMENT,
                           "load node %d of body \"%s\" is %d; nodes are 0 to %d", i, body->name,
                           def->nodes[i], body->rows - 1);
        }
    }

    return SINEW_OK;
}

// Collects the boundary faces that lie in the selection into faces (or only counts them if that is
// NULL).
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

sinew_status sinew_body_add_load(sinew_body *body, const sinew_load_def *def, int32_t *index) {
    SN_TRY(check_load(body, def));
    sn_arena scratch = sn_arena_create(body->context);
    uint8_t *selected = SN_PUSH(&scratch, uint8_t, body->rows);
    sn_boundary boundary = {0};
    sinew_status status = sn_arena_status(&scratch);

    if (status == SINEW_OK) {
        for (int32_t i = 0; i < def->node_count; i++) {
            selected[def->nodes[i]] = 1;
        }
        status = sn_build_boundary(&scratch, &body->mesh, &boundary);
    }

    int32_t count = status == SINEW_OK ? collect_faces(&body->mesh, &boundary, selected, NULL) : 0;
    if (status == SINEW_OK && count == 0) {
        status = sn_fail(body->context, SINEW_INVALID_ARGUMENT,
                         "the %d selected nodes of body \"%s\" hold no whole face of its surface",
                         def->node_count, body->name);
    }

    if (status == SINEW_OK) {
        sn_arena_mark before = sn_arena_get_mark(&body->arena);
        sn_load *load = SN_PUSH(&body->arena, sn_load, 1);
        face *faces = SN_PUSH(&body->arena, face, count);

        status = sn_arena_status(&body->arena);
        if (status == SINEW_OK) {
            collect_faces(&body->mesh, &boundary, selected, faces);
            *load = (sn_load){
                body->loads,   def->kind, {def->traction[0], def->traction[1], def->traction[2]},
                def->pressure, 1,         count,
                faces};
            body->loads = load;

            if (index) {
                *index = body->load_count;
            }

            body->load_count++;
        } else {
            sn_arena_rewind(&body->arena, before);
        }
    }

    sn_arena_destroy(&scratch);
    return status;
}

sinew_status sinew_body_set_load_scale(sinew_body *body, int32_t index, double scale) {
    if (index < 0 || index >= body->load_count || !isfinite(scale)) {
        return sn_fail(
            body->context, SINEW_INVALID_ARGUMENT,
            "load %d with scale %g of body \"%s\": there are %d loads, and a scale must be finite",
            index, scale, body->name, body->load_count);
    }

    sn_load_set_scale(body, index, scale);
    return SINEW_OK;
}
