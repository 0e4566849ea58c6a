// The scene and its state as JSON, for the page's panels.
#include "internal.h"

#include <stdio.h>

static void write_number(sinew_json_writer *w, const char *key, double value) {
    sinew_json_write_key(w, key);
    sinew_json_write_number(w, value);
}

static void write_integer(sinew_json_writer *w, const char *key, int64_t value) {
    sinew_json_write_key(w, key);
    sinew_json_write_integer(w, value);
}

static void write_text(sinew_json_writer *w, const char *key, const char *value) {
    sinew_json_write_key(w, key);
    sinew_json_write_string(w, value ? value : "");
}

static void write_vector(sinew_json_writer *w, const char *key, const double *values,
                         int32_t count) {
    sinew_json_write_key(w, key);
    sinew_json_write_numbers(w, values, count);
}

// The name of a law as scenes have it.
static const char *name_law(const studio *s, const sinew_material_def *def) {
    for (int32_t i = 0; i < sinew_material_law_count(); i++) {
        sinew_material_def named = *def;
        const char *name = sinew_material_law_name(i);
        if (sinew_material_set_law(s->context, name, &named) == SINEW_OK && named.law == def->law &&
            named.strain == def->strain) {
            return name;
        }
    }
    return "";
}

static void write_materials(const studio *s, sinew_json_writer *w, int32_t body) {
    sinew_json_write_key(w, "materials");
    sinew_json_begin_array(w);
    for (int32_t i = 0; i < s->material_count; i++) {
        const studio_material *material = &s->materials[i];
        if (material->body != body) {
            continue;
        }

        sinew_json_begin_object(w);
        write_integer(w, "number", material->number);
        write_integer(w, "label", material->label);
        write_text(w, "name", material->name);
        write_text(w, "law", name_law(s, &material->def));
        write_number(w, "young", material->def.young);
        write_number(w, "poisson", material->def.poisson);
        write_number(w, "density", material->def.density);
        sinew_json_end_object(w);
    }
    sinew_json_end_array(w);
}

// The rest positions of the frames and their kinds.
static void write_frames(const sinew_body *body, sinew_json_writer *w) {
    sinew_json_write_key(w, "nodesOfFrames");
    sinew_json_begin_array(w);
    for (int32_t i = 0; i < sinew_frame_body_get_node_count(body); i++) {
        double rest[3] = {0};
        sinew_node_kind kind = SINEW_NODE_RIGID;
        sinew_frame_body_get_rest(body, i, rest);
        sinew_frame_body_get_kind(body, i, &kind);

        sinew_json_begin_object(w);
        write_vector(w, "position", rest, 3);
        write_text(w, "kind", sinew_words_get(SINEW_WORDS_NODE_KINDS, (int32_t)kind));
        sinew_json_end_object(w);
    }
    sinew_json_end_array(w);
}

static void write_body(const studio *s, sinew_json_writer *w, int32_t index) {
    sinew_body *body = sinew_world_get_body(s->world, index);
    const sinew_mesh *surface = sinew_body_get_surface(body);

    // Bodies that were dropped into the page are not part of the scene.
    sinew_scene_body_info info = {.model = "elements"};
    bool own = index >= sinew_scene_get_body_count(s->scene);
    if (!own) {
        sinew_scene_get_body_info(s->scene, index, &info);
    }
    sinew_measures measures;
    sinew_body_get_measures(body, &measures);

    // What it is made of.
    sinew_json_begin_object(w);
    write_text(w, "name", sinew_body_get_name(body));
    write_text(w, "model", info.model);
    write_integer(w, "vertices", surface->point_count);
    write_integer(w, "triangles", surface->element_count);
    write_integer(w, "nodes", sinew_body_get_node_count(body));
    write_integer(w, "elements", sinew_body_get_element_count(body));
    write_integer(w, "frames", sinew_frame_body_get_node_count(body));
    write_frames(body, w);
    write_number(w, "mass", measures.mass);
    write_number(w, "volume", measures.rest_volume);
    sinew_json_write_key(w, "dropped");
    sinew_json_write_boolean(w, own);
    write_materials(s, w, index);
    const sinew_field *field = own ? NULL : studio_get_field(s, index);
    bool fibres = field && sinew_field_get_kind(field) == SINEW_FIELD_FIBRES;
    write_text(w, "field", fibres ? "fibres" : field ? "frames" : "");
    sinew_json_end_object(w);
}

static void write_obstacle(const sinew_obstacle *obstacle, sinew_json_writer *w) {
    static const char *const kinds[] = {"plane", "sphere", "box", "capsule", "mesh"};
    sinew_obstacle_def def = sinew_obstacle_get_def(obstacle);
    size_t kind = (size_t)def.kind;

    sinew_json_begin_object(w);
    write_text(w, "kind", kind < sizeof kinds / sizeof *kinds ? kinds[kind] : "other");
    write_vector(w, "position", def.position, 3);
    write_vector(w, "rotation", def.rotation, 4);
    write_vector(w, "size", def.size, 3);
    write_number(w, "radius", def.radius);
    write_number(w, "length", def.length);
    sinew_json_end_object(w);
}

static void write_scene(const studio *s, sinew_json_writer *w) {
    sinew_scene_info info;
    sinew_scene_get_info(s->scene, &info);
    sinew_world_def def = sinew_world_get_def(s->world);

    // Settings.
    sinew_json_begin_object(w);
    write_text(w, "title", info.title);
    write_number(w, "unit", info.unit);
    write_number(w, "step", def.step);
    write_integer(w, "steps", info.steps);
    write_text(w, "integrator", sinew_words_get(SINEW_WORDS_INTEGRATORS, (int32_t)def.integrator));
    write_vector(w, "gravity", def.gravity, 3);

    // Bodies and obstacles.
    sinew_json_write_key(w, "bodies");
    sinew_json_begin_array(w);
    for (int32_t i = 0; i < sinew_world_get_body_count(s->world); i++) {
        write_body(s, w, i);
    }
    sinew_json_end_array(w);

    sinew_json_write_key(w, "obstacles");
    sinew_json_begin_array(w);
    for (int32_t i = 0; i < sinew_world_get_obstacle_count(s->world); i++) {
        write_obstacle(sinew_world_get_obstacle(s->world, i), w);
    }
    sinew_json_end_array(w);
    sinew_json_end_object(w);
}

static void write_report(const studio *s, sinew_json_writer *w) {
    sinew_measures measures;
    sinew_world_get_measures(s->world, &measures);
    sinew_contact_report contact = sinew_world_get_contact_report(s->world);
    char hash[17];
    snprintf(hash, sizeof hash, "%016llx", (unsigned long long)sinew_world_get_hash(s->world));

    // State and energies.
    sinew_json_begin_object(w);
    write_number(w, "time", sinew_world_get_time(s->world));
    write_text(w, "hash", hash);
    write_number(w, "kinetic", measures.kinetic_energy);
    write_number(w, "elastic", measures.elastic_energy);
    write_number(w, "gravity", measures.gravity_energy);
    write_vector(w, "momentum", measures.momentum, 3);
    write_number(w, "mass", measures.mass);
    write_number(w, "volume", measures.volume);
    write_number(w, "restVolume", measures.rest_volume);
    write_number(w, "smallestJ", measures.smallest_J);

    // The last step.
    write_text(w, "outcome", sinew_outcome_name(s->report.outcome));
    write_integer(w, "newton", s->report.newton_iterations);
    write_integer(w, "solver", s->report.solver_iterations);
    write_integer(w, "rescued", s->report.rescued);
    write_number(w, "residual", s->report.newton_residual);
    write_number(w, "assemble", s->report.assemble_seconds);
    write_number(w, "solve", s->report.solve_seconds);
    write_number(w, "total", s->report.total_seconds);
    write_integer(w, "contacts", contact.active);
    write_number(w, "contactForce", contact.largest_force);
    write_integer(w, "memory", (int64_t)sinew_context_get_memory(s->context));
    sinew_json_end_object(w);
}

// Writes one object into the studio's text.
static const char *write(studio *s, void (*write_object)(const studio *, sinew_json_writer *)) {
    sinew_json_writer *w = NULL;
    sinew_bytes_clear(s->text);
    if (sinew_json_writer_create(s->text, true, &w) != SINEW_OK) {
        return "{}";
    }

    write_object(s, w);
    sinew_json_writer_destroy(w);
    return sinew_bytes_get_status(s->text) == SINEW_OK ? sinew_bytes_get_data(s->text) : "{}";
}

STUDIO_API const char *studio_describe(studio *s) {
    return write(s, write_scene);
}

STUDIO_API const char *studio_report(studio *s) {
    return write(s, write_report);
}
