// Scenes: read, built, and counted.
#include "inspect.h"
#include "scene_file.h"

#include "io/scene/build_frames.h"

static void tell_frames(inspect_report *report, const sn_scene_member *member) {
    sinew_weights_report weights = {0};
    sinew_sampling_report sampling = {0};
    sinew_frame_body_get_report(member->body, &weights, &sampling);
    inspect_count(report, "frames", sinew_frame_body_get_node_count(member->body));
    inspect_count(report, "voxels", sinew_voxels_get_count(member->frames->voxels));
    inspect_count(report, "samples", sampling.sample_count);
    inspect_number(report, "frames at a voxel", weights.mean_nodes);
    if (weights.iterations > 0) inspect_number(report, "residual of the weights", weights.residual);
    inspect_number(report, "mass", sampling.mass);
    inspect_count(report, "surface points", member->surface.mesh->point_count);
}

static void tell_body(inspect_report *report, const sn_scene *scene, const sn_scene_member *member) {
    const sn_scene_body *body = member->scene;
    inspect_begin_item(report);
    inspect_text(report, "name", body->name);
    if (member->frames) {
        tell_frames(report, member);
    } else {
        inspect_count(report, "nodes", member->mesh->point_count);
        inspect_count(report, "elements", member->mesh->element_count);
    }
    inspect_text(report, "material", scene->materials[body->material].name);
    inspect_count(report, "supports", body->support_count);
    inspect_count(report, "loads", body->load_count);
    inspect_end_item(report);
}

static void tell_scene(inspect_report *report, const sn_scene *scene, const sn_scene_world *world) {
    inspect_text(report, "kind", "scene");
    if (scene->title) inspect_text(report, "title", scene->title);
    inspect_count(report, "steps", scene->steps);
    inspect_number(report, "step", scene->world.step);
    inspect_number(report, "duration", scene->steps * scene->world.step);
    inspect_begin_list(report, "bodies", scene->body_count);
    for (int32_t i = 0; i < scene->body_count; i++) tell_body(report, scene, &world->members[i]);
    inspect_end_list(report);
    inspect_begin_list(report, "materials", scene->material_count);
    for (int32_t i = 0; i < scene->material_count; i++) {
        inspect_begin_item(report);
        inspect_text(report, "name", scene->materials[i].name);
        inspect_number(report, "young", scene->materials[i].def.young);
        inspect_number(report, "poisson", scene->materials[i].def.poisson);
        inspect_number(report, "density", scene->materials[i].def.density);
        inspect_end_item(report);
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
    if (status == CLI_OK) status = cli_scene_build(report->context, report->command, &file, &world);
    if (status == CLI_OK) tell_scene(report, &file.scene, world);
    sn_scene_world_destroy(world);
    cli_scene_close(report->context, &file);
    return status;
}
