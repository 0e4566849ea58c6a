// What a person may change while the scene runs.
#include "internal.h"

#include <string.h>

STUDIO_API int32_t studio_set_gravity(studio *s, double x, double y, double z) {
    sinew_world_def def = sinew_world_get_def(s->world);
    def.gravity[0] = x;
    def.gravity[1] = y;
    def.gravity[2] = z;
    return studio_keep_message(s, sinew_world_set_def(s->world, &def));
}

STUDIO_API int32_t studio_set_step(studio *s, double seconds) {
    sinew_world_def def = sinew_world_get_def(s->world);
    def.step = seconds;
    return studio_keep_message(s, sinew_world_set_def(s->world, &def));
}

STUDIO_API int32_t studio_set_integrator(studio *s, const char *word) {
    int32_t integrator = sinew_words_find(SINEW_WORDS_INTEGRATORS, word);
    if (integrator < 0) {
        return studio_fail(s, "there is no such integrator");
    }

    sinew_world_def def = sinew_world_get_def(s->world);
    def.integrator = (sinew_integrator)integrator;
    return studio_keep_message(s, sinew_world_set_def(s->world, &def));
}

static sinew_status change_material(studio *s, const char *constant, double value, const char *word,
                                    sinew_material_def *def) {
    const struct {
        const char *name;
        double *field;
    } fields[] = {{"young", &def->young}, {"poisson", &def->poisson}, {"density", &def->density}};
    for (size_t i = 0; i < sizeof fields / sizeof *fields; i++) {
        if (strcmp(constant, fields[i].name) == 0) {
            *fields[i].field = value;
            return SINEW_OK;
        }
    }
    return sinew_material_set_law(s->context, word, def);
}

STUDIO_API int32_t studio_set_material(studio *s, int32_t body, int32_t number,
                                       const char *constant, double value, const char *word) {
    studio_material *material = studio_find_material(s, body, number);
    if (!material) {
        return studio_fail(s, "there is no such material");
    }

    sinew_material_def wanted = material->def;
    sinew_status status = change_material(s, constant, value, word, &wanted);
    if (status == SINEW_OK) {
        status = sinew_body_set_material(sinew_world_get_body(s->world, body), number, &wanted);
    }
    if (status == SINEW_OK) {
        material->def = wanted;
    }

    return studio_keep_message(s, status);
}

STUDIO_API int32_t studio_set_damping(studio *s, int32_t body, double mass, double stiffness) {
    return studio_keep_message(
        s, sinew_body_set_damping(sinew_world_get_body(s->world, body), mass, stiffness));
}

STUDIO_API int32_t studio_set_floor(studio *s, int32_t on, double height) {
    sinew_obstacle_destroy(s->floor);
    s->floor = NULL;
    if (!on) {
        return SINEW_OK;
    }

    sinew_obstacle_def def = sinew_default_obstacle_def();
    def.name = "floor";
    def.position[2] = height;
    return studio_keep_message(s, sinew_obstacle_create(s->world, &def, &s->floor));
}

// The mesh of what is dropped: a few hundred tets, so that a scene stays fast.
static sinew_status make_solid(studio *s, const char *kind, double size, sinew_mesh **mesh) {
    sinew_shape_def def = sinew_default_shape_def();
    bool ball = strcmp(kind, "ball") == 0;
    def.shape = ball ? SINEW_SHAPE_SPHERE : SINEW_SHAPE_BOX;
    for (int k = 0; k < 3; k++) {
        def.size[k] = size;
        def.cells[k] = ball ? 6 : 4;
    }
    return sinew_mesh_create_shape(s->context, &def, mesh);
}

STUDIO_API int32_t studio_add_solid(studio *s, const char *kind, double size, double x, double y,
                                    double z) {
    if (s->solid_count == STUDIO_SOLIDS) {
        return studio_fail(s, "there is no room for more");
    }

    sinew_mesh *mesh = NULL;
    sinew_status status = make_solid(s, kind, size, &mesh);
    if (status != SINEW_OK) {
        return studio_keep_message(s, status);
    }

    // As soft as it takes to be squeezed visibly by its own weight, whatever its size.
    studio_material material = {
        .body = sinew_world_get_body_count(s->world), .label = -1, .name = "gel"};
    material.def = sinew_default_material_def();
    material.def.poisson = 0.4;
    material.def.density = 400;
    material.def.young = 25 * material.def.density * 9.81 * size;

    sinew_body_def def = sinew_default_body_def();
    def.name = kind;
    def.mesh = mesh;
    def.materials = &material.def;
    def.material_count = 1;
    def.stiffness_damping = 0.004;
    def.position[0] = x;
    def.position[1] = y;
    def.position[2] = z;
    status = sinew_body_create(s->world, &def, &s->solids[s->solid_count]);
    sinew_mesh_destroy(mesh);

    if (status == SINEW_OK) {
        s->solid_count++;
        s->materials[s->material_count++] = material;
        studio_count_vertices(s);
    }
    return studio_keep_message(s, status);
}

STUDIO_API int32_t studio_remove_solid(studio *s) {
    if (s->solid_count == 0) {
        return studio_fail(s, "nothing was dropped");
    }

    // Its attachments go with it.
    sinew_body *body = s->solids[--s->solid_count];
    if (s->hand.attachment && s->hand.def.body == body) {
        studio_release(s);
    }
    sinew_body_destroy(body);
    s->material_count--;
    studio_count_vertices(s);

    return SINEW_OK;
}

STUDIO_API int32_t studio_insert_frame(studio *s, int32_t body, double x, double y, double z,
                                       double range) {
    sinew_frame_insert_def def = sinew_default_frame_insert_def();
    sinew_body *frames = sinew_world_get_body(s->world, body);
    sinew_frame_body_get_kind(frames, 0, &def.kind);
    def.position[0] = x;
    def.position[1] = y;
    def.position[2] = z;
    def.range = range;
    return studio_keep_message(s, sinew_frame_body_insert(frames, &def, NULL));
}

STUDIO_API int32_t studio_remove_frame(studio *s, int32_t body) {
    sinew_body *frames = sinew_world_get_body(s->world, body);
    int32_t last = sinew_frame_body_get_node_count(frames) - 1;
    return studio_keep_message(s, sinew_frame_body_remove(frames, last, 0.1));
}
