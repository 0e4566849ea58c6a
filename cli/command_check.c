// sinew check: reads and builds a scene without running it.
#include "command.h"
#include "scene_file.h"

#include <stdio.h>

// The Poisson ratio above which standard elements lock noticeably.
static const double LOCKING = 0.45;

// Standard elements lock where a material is nearly incompressible.
static void recommend_averages(const sn_scene *scene, const sn_scene_world *world) {
    for (int32_t i = 0; i < scene->body_count; i++) {
        const sn_scene_member *member = &world->members[i];
        const sn_scene_body *body = member->scene;
        bool fits = member->mesh && !body->positions.used &&
                    body->def.model == SINEW_MODEL_ELASTIC &&
                    body->def.volume == SINEW_VOLUME_STANDARD;
        for (int32_t k = 0; fits && k < member->material_count; k++) {
            const sinew_material_def *def = &scene->materials[member->materials[k]].def;
            if (!(def->poisson > LOCKING)) {
                continue;
            }
            printf("%s: with a Poisson ratio of %g elements are too stiff; consider \"volume\": "
                   "\"averaged\"\n",
                   body->name, def->poisson);
            break;
        }
    }
}

static int check(sinew_context *context, const cli_command *command, const char *path,
                 const cli_list *settings) {
    cli_scene_file file;
    sn_scene_world *world = NULL;
    int status = cli_scene_open(context, command, path, settings, &file);
    if (status == CLI_OK) {
        status = cli_scene_build(context, command, &file, &world);
    }

    if (status == CLI_OK) {
        int64_t elements = 0, frames = 0;
        for (int32_t i = 0; i < file.scene.body_count; i++) {
            const sn_scene_member *member = &world->members[i];
            if (member->mesh) {
                elements += member->mesh->element_count;
            }
            frames += sn_scene_member_frame_count(member);
        }

        printf("%s: no mistakes; %d bod%s, %lld elements, ", path, file.scene.body_count,
               file.scene.body_count == 1 ? "y" : "ies", (long long)elements);
        if (frames > 0) {
            printf("%lld frames, ", (long long)frames);
        }

        printf("%d steps of %g s\n", file.scene.steps, file.scene.world.step);
        cli_scene_print_loads(&file.scene, world, 0);
        recommend_averages(&file.scene, world);
        cli_scene_print_fields(&file.scene, world);
    }

    sn_scene_world_destroy(world);
    cli_scene_close(context, &file);

    return status;
}

static int run(const cli_command *command, int argc, char **argv) {
    cli_list settings = {0};
    const cli_option table[] = {
        {"set", 's', CLI_LIST, &settings, "PATH=VALUE", "change the scene before checking it", 0,
         0},
        CLI_ALLOW_OUTSIDE,
    };
    const char *path;
    int count;
    bool finished;
    int status = cli_parse(command, table, 2, argc, argv, &path, 1, &count, &finished);

    if (finished) {
        return status;
    }
    if (count == 0) {
        return cli_fail(command, CLI_USAGE, "which scene? usage: sinew check SCENE.json");
    }

    sinew_context *context = cli_create_context(command, 1);
    if (!context) {
        return CLI_BAD_INPUT;
    }

    status = check(context, command, path, &settings);
    sinew_context_destroy(context);

    return status;
}

const cli_command cli_command_check = {
    .name = "check",
    .summary = "Check a scene without running it.",
    .arguments = "SCENE.json",
    .details =
        "Reports every mistake with its line, its path in the scene and what would be valid.",
    .run = run,
};
