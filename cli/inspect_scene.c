// Scenes: read, built, and counted.
#include "inspect.h"
#include "scene_file.h"

#include "sinew/frame_body.h"

#include <stdio.h>

static void tell_frames(inspect_report *report, const sinew_scene *scene, int32_t index,
                        int32_t voxels) {
    const sinew_body *body = sinew_scene_get_body(scene, index);
    sinew_weights_report weights = {0};
    sinew_sampling_report sampling = {0};

    sinew_frame_body_get_report(body, &weights, &sampling);
    inspect_count(report, "frames", sinew_frame_body_get_node_count(body));
    inspect_count(report, "voxels", voxels);
    inspect_count(report, "samples", sampling.sample_count);
    inspect_number(report, "frames at a voxel", weights.mean_nodes);
    if (weights.iterations > 0) {
        inspect_number(report, "residual of the weights", weights.residual);
    }

    double shape;
    double volume = sinew_voxels_get_volume(sinew_frame_body_get_voxels(body), &shape);
    inspect_number(report, "volume", volume);
    if (shape > 0) {
        inspect_number(report, "error of the volume", volume / shape - 1);
    }

    inspect_number(report, "mass", sampling.mass);
    inspect_count(report, "surface points", sinew_scene_get_surface(scene, index)->point_count);
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

static void tell_materials_of(inspect_report *report, const sinew_scene *scene, int32_t body,
                              int32_t count) {
    for (int32_t i = 0; i < count; i++) {
        int32_t label;
        int32_t material = sinew_scene_get_body_material(scene, body, i, &label);
        char key[40] = "material";
        if (label >= 0) {
            snprintf(key, sizeof key, "material of label %d", (int)label);
        }
        inspect_text(report, key, sinew_scene_get_material(scene, material, NULL));
    }
}

static void tell_body(inspect_report *report, const sinew_scene *scene, int32_t index) {
    const sinew_mesh *mesh = sinew_scene_get_body_mesh(scene, index);
    const sinew_field *field = sinew_scene_get_body_field(scene, index);
    sinew_scene_body_info body;
    sinew_scene_get_body_info(scene, index, &body);

    inspect_begin_item(report);
    inspect_text(report, "name", body.name);
    if (mesh) {
        inspect_count(report, "nodes", mesh->point_count);
        inspect_count(report, "elements", mesh->element_count);
    } else {
        tell_frames(report, scene, index, body.voxel_count);
    }

    tell_materials_of(report, scene, index, body.material_count);
    if (field) {
        tell_field(report, field);
    }
    inspect_count(report, "supports", body.support_count);
    inspect_count(report, "loads", body.load_count);
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
static void tell_material(inspect_report *report, const char *name, const sinew_material_def *def) {
    const sinew_orthotropic *o = &def->orthotropic;
    const sinew_transverse *t = &def->transverse;

    inspect_begin_item(report);
    inspect_text(report, "name", name);
    inspect_text(report, "law", law_name(report->context, def));

    // Laws with axes have constants of their own.
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

static void tell_probes(inspect_report *report, const sinew_scene *scene) {
    int32_t count = sinew_scene_get_probe_count(scene);
    inspect_begin_list(report, "probes", count);
    for (int32_t i = 0; i < count; i++) {
        double point[3];
        int32_t body = sinew_scene_get_probe_body(scene, i, point);
        inspect_begin_item(report);
        inspect_text(report, "name", sinew_scene_get_probe_name(scene, i));
        inspect_text(report, "body", sinew_scene_get_body_name(scene, body));
        inspect_vector(report, "point", point);
        inspect_end_item(report);
    }
    inspect_end_list(report);
}

static void tell_scene(inspect_report *report, const sinew_scene *scene) {
    sinew_scene_info info;
    sinew_scene_get_info(scene, &info);

    inspect_text(report, "kind", "scene");
    if (info.title) {
        inspect_text(report, "title", info.title);
    }
    inspect_count(report, "steps", info.steps);
    inspect_number(report, "step", info.step);
    inspect_number(report, "duration", info.steps * info.step);

    // Bodies and materials.
    int32_t bodies = sinew_scene_get_body_count(scene);
    inspect_begin_list(report, "bodies", bodies);
    for (int32_t i = 0; i < bodies; i++) {
        tell_body(report, scene, i);
    }
    inspect_end_list(report);

    inspect_begin_list(report, "materials", info.material_count);
    for (int32_t i = 0; i < info.material_count; i++) {
        sinew_material_def def;
        const char *name = sinew_scene_get_material(scene, i, &def);
        tell_material(report, name, &def);
    }
    inspect_end_list(report);

    inspect_count(report, "attachments", info.attachment_count);
    tell_probes(report, scene);
}

int inspect_scene(inspect_report *report, const char *path) {
    cli_scene_file file;
    cli_list settings = {0};
    int status = cli_scene_open(report->context, report->command, path, &settings, &file);
    if (status == CLI_OK) {
        status = cli_scene_build(report->context, report->command, &file);
    }
    if (status == CLI_OK) {
        tell_scene(report, file.scene);
    }

    cli_scene_close(&file);
    return status;
}
