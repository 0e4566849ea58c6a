// Scenes: read, built, and counted.
#include "inspect.h"
#include "scene_file.h"

#include "io/scene/build_frames.h"

#include <stdio.h>

static void tell_frames(inspect_report *report, const sn_scene_member *member) {
    sinew_weights_report weights = {0};
    sinew_sampling_report sampling = {0};

    sinew_frame_body_get_report(member->body, &weights, &sampling);
    inspect_count(report, "frames", sinew_frame_body_get_node_count(member->body));
    inspect_count(report, "voxels", sinew_voxels_get_count(member->frames->voxels));
    inspect_count(report, "samples", sampling.sample_count);
    inspect_number(report, "frames at a voxel", weights.mean_nodes);

    if (weights.iterations > 0) {
        inspect_number(report, "residual of the weights", weights.residual);
    }

    inspect_number(report, "mass", sampling.mass);
    inspect_count(report, "surface points", member->surface.mesh->point_count);
}

static void tell_field(inspect_report *report, const sinew_field *field) {
    sinew_field_report found;
    sinew_field_get_report(field, &found);
    inspect_text(report, "field",
                 sinew_field_get_kind(field) == SINEW_FIELD_FIBRES ? "fibres" : "frames");

    if (sinew_field_get_curve_count(field) == 0) {
        return;
    }

    inspect_count(report, "curves", sinew_field_get_curve_count(field));
    if (found.isolated_part_count > 0) {
        inspect_count(report, "parts without a curve", found.isolated_part_count);
    }

    inspect_number(report, "least certainty", found.least_certainty);
    inspect_vector(report, "least certain at", found.least_certain_at);
}

static void tell_body(inspect_report *report, const sn_scene *scene,
                      const sn_scene_member *member) {
    const sn_scene_body *body = member->scene;
    inspect_begin_item(report);
    inspect_text(report, "name", body->name);

    if (member->frames) {
        tell_frames(report, member);
    } else {
        inspect_count(report, "nodes", member->mesh->point_count);
        inspect_count(report, "elements", member->mesh->element_count);
    }

    if (body->label_count == 0) {
        inspect_text(report, "material", scene->materials[body->material].name);
    }

    for (int32_t i = 0; i < body->label_count; i++) {
        char key[40];
        snprintf(key, sizeof key, "material of label %d", (int)body->labels[i].label);
        inspect_text(report, key, scene->materials[body->labels[i].material].name);
    }

    if (member->field) {
        tell_field(report, member->field);
    }

    inspect_count(report, "supports", body->support_count);
    inspect_count(report, "loads", body->load_count);
    inspect_end_item(report);
}

static const char *law_name(sinew_context *context, const sinew_material_def *def) {
    for (int32_t i = 0; i < sinew_material_law_count(); i++) {
        sinew_material_def other = *def;
        sinew_material_set_law(context, sinew_material_law_name(i), &other);
        if (other.law == def->law && other.strain == def->strain) {
            return sinew_material_law_name(i);
        }
    }

    return "custom";
}

// The law and the moduli that it uses.
static void tell_material(inspect_report *report, const sn_scene_material *material) {
    const sinew_material_def *def = &material->def;
    const sinew_orthotropic *o = &def->orthotropic;
    const sinew_transverse *t = &def->transverse;

    inspect_begin_item(report);
    inspect_text(report, "name", material->name);
    inspect_text(report, "law", law_name(report->context, def));

    if (def->law == SINEW_MATERIAL_ORTHOTROPIC) {
        inspect_vector(report, "young", (const double[3]){o->young_1, o->young_2, o->young_3});
        if (o->four_parameters) {
            inspect_number(report, "poisson", def->poisson);
        }

        if (!o->four_parameters) {
            inspect_vector(report, "poisson",
                           (const double[3]){o->poisson_12, o->poisson_23, o->poisson_31});
        }

        if (!o->four_parameters) {
            inspect_vector(report, "shear",
                           (const double[3]){o->shear_12, o->shear_23, o->shear_31});
        }
    } else if (def->law == SINEW_MATERIAL_TRANSVERSE) {
        inspect_number(report, "young_fibre", t->young_fibre);
        inspect_number(report, "young_plane", t->young_plane);
        inspect_number(report, "poisson_fibre", t->poisson_fibre);
        inspect_number(report, "poisson_plane", t->poisson_plane);
        inspect_number(report, "shear_fibre", t->shear_fibre);
    } else {
        inspect_number(report, "young", def->young);
        inspect_number(report, "poisson", def->poisson);
    }

    inspect_number(report, "density", def->density);
    inspect_end_item(report);
}

static void tell_scene(inspect_report *report, const sn_scene *scene, const sn_scene_world *world) {
    inspect_text(report, "kind", "scene");
    if (scene->title) {
        inspect_text(report, "title", scene->title);
    }

    inspect_count(report, "steps", scene->steps);
    inspect_number(report, "step", scene->world.step);
    inspect_number(report, "duration", scene->steps * scene->world.step);
    inspect_begin_list(report, "bodies", scene->body_count);

    for (int32_t i = 0; i < scene->body_count; i++) {
        tell_body(report, scene, &world->members[i]);
    }

    inspect_end_list(report);
    inspect_begin_list(report, "materials", scene->material_count);
    for (int32_t i = 0; i < scene->material_count; i++) {
        tell_material(report, &scene->materials[i]);
    }

    inspect_end_list(report);
    inspect_count(report, "attachments", scene->attachment_count);
    inspect_begin_list(report, "probes", scene->probe_count);

    for (int32_t i = 0; i < scene->probe_count; i++) {
        inspect_begin_item(report);
        inspect_text(report, "name", scene->probes[i].name);
        inspect_text(report, "body", scene->bodies[scene->probes[i].body].name);
        inspect_vector(report, "point", scene->probes[i].point);
        inspect_end_item(report);
    }

    inspect_end_list(report);
}

int inspect_scene(inspect_report *report, const char *path) {
    cli_scene_file file;
    cli_list settings = {0};
    sn_scene_world *world = NULL;
    int status = cli_scene_open(report->context, report->command, path, &settings, &file);

    if (status == CLI_OK) {
        status = cli_scene_build(report->context, report->command, &file, &world);
    }
    if (status == CLI_OK) {
        tell_scene(report, &file.scene, world);
    }

    sn_scene_world_destroy(world);
    cli_scene_close(report->context, &file);

    return status;
}
