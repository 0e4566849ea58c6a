// sinew modes: natural frequencies and shapes of a body of a scene, or of a mesh with a material.
#include "command.h"
#include "mesh_file.h"
#include "progress.h"

#include "base/memory.h"
#include "io/text/json_write.h"
#include "io/mesh/write.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

typedef struct modes_options {
    const char *body, *output;
    int64_t count;
    cli_list settings;
    cli_optional_text json;
} modes_options;

static void print_table(const sinew_body *body, const double *frequencies, int64_t count) {
    printf("%s: %d nodes, %d elements\n  mode   frequency [Hz]\n", sinew_body_get_name(body),
           sinew_body_get_node_count(body), sinew_body_get_element_count(body));
    for (int64_t i = 0; i < count; i++) {
        printf("  %4lld   %.6g%s\n", (long long)(i + 1), frequencies[i],
               frequencies[i] == 0 ? "  (rigid)" : "");
    }
}

static sinew_status print_json(sinew_context *context, const sinew_body *body,
                               const double *frequencies, int64_t count, const char *path) {
    sn_buffer out = sn_buffer_create(context);
    sn_json_writer json = sn_json_writer_create(&out, false);

    sn_json_begin_object(&json);
    sn_json_write_key(&json, "body");
    sn_json_write_string(&json, sinew_body_get_name(body));
    sn_json_write_key(&json, "frequencies");
    sn_json_write_numbers(&json, frequencies, (int32_t)count);
    sn_json_end_object(&json);
    sn_buffer_add_text(&out, "\n");

    sinew_status status = sn_buffer_status(&out);
    if (status == SINEW_OK && path) {
        status = cli_write_file(context, path, out.data, out.size);
    }
    if (status == SINEW_OK && !path) {
        fwrite(out.data, 1, out.size, stdout);
    }

    sn_buffer_destroy(&out);
    return status;
}

// One VTU whose point fields are the shapes.
static sinew_status write_shapes(sinew_context *context, const sinew_mesh *mesh,
                                 const double *shapes, int64_t count, const char *folder) {
    sn_arena arena = sn_arena_create(context);
    sn_buffer out = sn_buffer_create(context);
    sn_field *fields = SN_PUSH(&arena, sn_field, count);

    char(*names)[16] = sn_arena_push(&arena, (size_t)count, sizeof *names);
    char path[4096];

    sinew_status status = sn_arena_status(&arena);
    for (int64_t i = 0; status == SINEW_OK && i < count; i++) {
        snprintf(names[i], sizeof *names, "mode_%03d", (int)(i + 1));
        fields[i] = (sn_field){names[i], 3, shapes + (size_t)i * 3 * (size_t)mesh->point_count};
    }

    if (status == SINEW_OK) {
        sn_fields all = {.point_count = (int32_t)count, .point = fields};
        sn_mesh_view view = sn_mesh_view_of(mesh);
        status = sn_write_vtu(&view, &all, NULL, &out);
    }

    if (status == SINEW_OK) {
        status = cli_make_folder(context, folder);
    }

    snprintf(path, sizeof path, "%s/modes.vtu", folder);
    if (status == SINEW_OK) {
        status = cli_write_file(context, path, out.data, out.size);
    }

    sn_buffer_destroy(&out);
    sn_arena_destroy(&arena);

    return status;
}

static sinew_status compute(sinew_context *context, sinew_body *body, const sinew_mesh *mesh,
                            const modes_options *options) {
    size_t count = (size_t)options->count;
    size_t size = count * 3 * (size_t)mesh->point_count;
    sn_arena arena = sn_arena_create(context);
    double *frequencies = SN_PUSH(&arena, double, count);
    double *shapes = SN_PUSH(&arena, double, size);
    sinew_status status = sn_arena_status(&arena);
    cli_activity activity;

    cli_activity_begin(&activity, "finding the modes");
    if (status == SINEW_OK) {
        status = sinew_body_compute_modes(body, (int32_t)options->count, frequencies, shapes);
    }

    cli_activity_end(&activity);
    if (status == SINEW_OK && options->json.given) {
        status = print_json(context, body, frequencies, options->count, options->json.text);
    }
    if (status == SINEW_OK && !options->json.given) {
        print_table(body, frequencies, options->count);
    }
    if (status == SINEW_OK && options->output) {
        status = write_shapes(context, mesh, shapes, options->count, options->output);
    }

    sn_arena_destroy(&arena);
    return status;
}

static int run_scene(sinew_context *context, const cli_command *command, const char *path,
                     const modes_options *options) {
    cli_scene_file file;
    sn_scene_world *world = NULL;
    int status = cli_scene_open(context, command, path, &options->settings, &file);
    if (status == CLI_OK) {
        status = cli_scene_build(context, command, &file, &world);
    }

    if (status == CLI_OK) {
        int32_t index = 0;
        while (options->body && index < file.scene.body_count &&
               strcmp(file.scene.bodies[index].name, options->body) != 0) {
            index++;
        }

        if (index == file.scene.body_count) {
            status =
                cli_fail(command, CLI_USAGE, "%s has no body called '%s'", path, options->body);
        } else if (!world->members[index].mesh) {
            status = cli_fail(command, CLI_BAD_INPUT,
                              "body '%s' is a frame body; modes need a body of elements",
                              file.scene.bodies[index].name);
        } else if (compute(context, world->members[index].body, world->members[index].mesh,

                           options) != SINEW_OK) {
            status = cli_fail_call(command, context);
        }
    }

    sn_scene_world_destroy(world);
    cli_scene_close(context, &file);

    return status;
}

// A mesh of the default material, free.
static int run_mesh(sinew_context *context, const cli_command *command, const char *path,
                    const modes_options *options) {
    cli_mesh_file file;
    int status = cli_mesh_open(context, command, path, &file);
    if (status == CLI_OK) {
        sinew_mesh mesh = sinew_mesh_file_get_best(file.mesh);
        sinew_world_def world_def = sinew_default_world_def();
        sinew_body_def def = sinew_default_body_def();
        sinew_world *world = NULL;
        sinew_body *body = NULL;

        def.name = path;
        def.mesh = &mesh;

        sinew_status made = sinew_world_create(context, &world_def, &world);
        if (made == SINEW_OK) {
            made = sinew_body_create(world, &def, &body);
        }
        if (made == SINEW_OK) {
            made = compute(context, body, &mesh, options);
        }

        if (made != SINEW_OK) {
            status = cli_fail_file(command, context, path);
        }

        sinew_world_destroy(world);
    }

    cli_mesh_close(context, &file);
    return status;
}

static int run(const cli_command *command, int argc, char **argv) {
    modes_options o = {.count = 10};
    const cli_option table[] = {
        {"count", 'n', CLI_INTEGER, &o.count, "N", "number of modes, from the lowest (default: 10)",
         1, 1000},
        {"body", 'b', CLI_TEXT, &o.body, "NAME", "body of the scene (default: the first)", 0, 0},
        {"output", 'o', CLI_TEXT, &o.output, "DIR", "write the shapes to DIR/modes.vtu", 0, 0},
        {"set", 's', CLI_LIST, &o.settings, "PATH=VALUE", "change the scene first", 0, 0},
        CLI_ALLOW_OUTSIDE,
        {"json", 0, CLI_OPTIONAL_TEXT, &o.json, "FILE",
         "write the frequencies as JSON (default: to standard output)", 0, 0},
    };
    const char *path;
    int count;
    bool finished;
    int status = cli_parse(command, table, sizeof table / sizeof *table, argc, argv, &path, 1,
                           &count, &finished);

    if (finished) {
        return status;
    }
    if (count == 0) {
        return cli_fail(command, CLI_USAGE, "which scene or mesh? usage: sinew modes FILE");
    }

    sinew_context *context = cli_create_context(command, 2);
    if (!context) {
        return CLI_BAD_INPUT;
    }

    const char *dot = strrchr(path, '.');
    bool scene = dot && strcmp(dot, ".json") == 0;

    status = scene ? run_scene(context, command, path, &o) : run_mesh(context, command, path, &o);
    sinew_context_destroy(context);

    return status;
}

const cli_command cli_command_modes = {
    .name = "modes",
    .summary = "Compute natural frequencies and mode shapes of a body.",
    .arguments = "SCENE.json|MESH",
    .details =
        "A body of a scene keeps its supports and materials. A mesh file is simulated free, with\n"
        "the default material. Rigid modes come first, with frequency 0.",
    .run = run,
};
