// sinew modes: natural frequencies and shapes of a body of a scene, or of a mesh with a material.
#include "command.h"
#include "files.h"
#include "mesh_file.h"
#include "progress.h"

#include "sinew/contact.h"
#include "sinew/frame_body.h"
#include "sinew/io/json.h"
#include "sinew/io/output.h"

#include <stdio.h>
#include <stdlib.h>

enum { MOST_MODES = 1000 };

typedef struct modes_options {
    const char *body, *output;
    int64_t count;
    bool in_place; // about the equilibrium, with contact and attachments
    cli_list settings;
    cli_optional_text json;
} modes_options;

static void print_table(const sinew_body *body, const double *frequencies, int32_t count) {
    int32_t frames = sinew_frame_body_get_node_count(body);
    if (frames > 0) {
        printf("%s: %d frames\n", sinew_body_get_name(body), frames);
    } else {
        printf("%s: %d nodes, %d elements\n", sinew_body_get_name(body),
               sinew_body_get_node_count(body), sinew_body_get_element_count(body));
    }

    printf("  mode   frequency [Hz]\n");
    for (int32_t i = 0; i < count; i++) {
        printf("  %4d   %.6g%s\n", (int)(i + 1), frequencies[i],
               frequencies[i] == 0 ? "  (rigid)" : "");
    }
}

static sinew_status write_json(sinew_context *context, const sinew_body *body,
                               const double *frequencies, int32_t count, const char *path) {
    sinew_bytes *out = NULL;
    sinew_json_writer *json = NULL;
    sinew_status status = sinew_bytes_create(context, &out);
    if (status == SINEW_OK) {
        status = sinew_json_writer_create(out, false, &json);
    }

    if (status == SINEW_OK) {
        sinew_json_begin_object(json);
        sinew_json_write_key(json, "body");
        sinew_json_write_string(json, sinew_body_get_name(body));
        sinew_json_write_key(json, "frequencies");
        sinew_json_write_numbers(json, frequencies, count);
        sinew_json_end_object(json);
        sinew_bytes_add_text(out, "\n");
        status = cli_write_result(context, path, out);
    }

    sinew_json_writer_destroy(json);
    sinew_bytes_destroy(out);
    return status;
}

// Writes one VTU whose point fields are the shapes.
static sinew_status write_shapes(sinew_context *context, const sinew_mesh *mesh,
                                 const double *shapes, int32_t count, const char *folder) {
    CLI_TRY(sinew_folder_create(context, folder));

    // One vector field for each mode.
    char names[MOST_MODES][16], path[4096];
    sinew_values fields[MOST_MODES];
    for (int32_t i = 0; i < count; i++) {
        snprintf(names[i], sizeof *names, "mode_%03d", (int)(i + 1));
        const double *shape = shapes + (size_t)i * 3 * (size_t)mesh->point_count;
        fields[i] = (sinew_values){names[i], 3, shape};
    }

    sinew_mesh_write_def def = sinew_default_mesh_write_def();
    def.point_values = fields;
    def.point_value_count = count;
    def.compress = false;
    snprintf(path, sizeof path, "%s/modes.vtu", folder);

    // Written in one piece.
    sinew_bytes *out = NULL;
    CLI_TRY(sinew_bytes_create(context, &out));
    sinew_status status = sinew_mesh_write(context, mesh, path, &def, out);
    if (status == SINEW_OK) {
        status = cli_write_result(context, path, out);
    }

    sinew_bytes_destroy(out);
    return status;
}

static sinew_status compute(sinew_context *context, sinew_body *body, const sinew_mesh *mesh,
                            const modes_options *options, double *frequencies, double *shapes) {
    int32_t count = (int32_t)options->count;
    cli_activity activity;
    cli_activity_begin(&activity, "finding the modes");
    sinew_status status = options->in_place
                              ? sinew_body_compute_present_modes(body, count, frequencies, shapes)
                              : sinew_body_compute_modes(body, count, frequencies, shapes);
    cli_activity_end(&activity);

    if (status == SINEW_OK && options->json.given) {
        status = write_json(context, body, frequencies, count, options->json.text);
    }
    if (status == SINEW_OK && !options->json.given) {
        print_table(body, frequencies, count);
    }
    if (status == SINEW_OK && options->output) {
        status = write_shapes(context, mesh, shapes, count, options->output);
    }

    return status;
}

// Computes the modes of a body and reports them. `path`, which may be NULL, goes before a message.
static int report_modes(sinew_context *context, const cli_command *command, sinew_body *body,
                        const sinew_mesh *mesh, const modes_options *options, const char *path) {
    double *frequencies = calloc((size_t)options->count, sizeof *frequencies);
    double *shapes = calloc((size_t)options->count, 3 * (size_t)mesh->point_count * sizeof *shapes);
    int status = CLI_OK;
    if (!frequencies || !shapes) {
        status = cli_fail(command, CLI_BAD_INPUT, "out of memory");
    } else if (compute(context, body, mesh, options, frequencies, shapes) != SINEW_OK) {
        status = path ? cli_fail_file(command, context, path) : cli_fail_call(command, context);
    }

    free(frequencies);
    free(shapes);
    return status;
}

// Brings the scene to rest if asked to; otherwise says what is left out.
static int settle_scene(sinew_context *context, const cli_command *command, sinew_scene *scene,
                        const modes_options *options) {
    if (!options->in_place) {
        sinew_scene_info info;
        sinew_contact_def contact;
        sinew_scene_get_info(scene, &info);
        if (info.attachment_count > 0 ||
            sinew_world_get_contact(sinew_scene_get_world(scene), &contact)) {
            fprintf(stderr,
                    "sinew modes: contact and attachments are left out; --static has them\n");
        }
        return CLI_OK;
    }

    sinew_step_report report;
    cli_activity activity;
    cli_activity_begin(&activity, "solving for equilibrium");
    sinew_status status = sinew_scene_solve_static(scene, &report);
    cli_activity_end(&activity);
    if (status != SINEW_OK) {
        return cli_fail_call(command, context);
    }
    if (report.outcome != SINEW_OUTCOME_CONVERGED) {
        return cli_fail(command, CLI_DIVERGED, "no equilibrium was found: %s",
                        sinew_outcome_name(report.outcome));
    }
    return CLI_OK;
}

static int run_scene(sinew_context *context, const cli_command *command, const char *path,
                     const modes_options *options) {
    cli_scene_file file;
    int status = cli_scene_open(context, command, path, &options->settings, &file);
    if (status == CLI_OK) {
        status = cli_scene_build(context, command, &file);
    }
    if (status == CLI_OK) {
        status = settle_scene(context, command, file.scene, options);
    }

    if (status == CLI_OK) {
        int32_t index = options->body ? sinew_scene_find_body(file.scene, options->body) : 0;
        if (index < 0) {
            status =
                cli_fail(command, CLI_USAGE, "%s has no body called '%s'", path, options->body);
        } else {
            // Frame bodies show their modes on their surface.
            sinew_body *body = sinew_scene_get_body(file.scene, index);
            const sinew_mesh *mesh = sinew_scene_get_body_mesh(file.scene, index);
            mesh = mesh ? mesh : sinew_scene_get_surface(file.scene, index);
            status = report_modes(context, command, body, mesh, options, NULL);
        }
    }

    cli_scene_close(&file);
    return status;
}

// A mesh made of the default material, held nowhere.
static int run_mesh(sinew_context *context, const cli_command *command, const char *path,
                    const modes_options *options) {
    cli_mesh_file file;
    int status = cli_mesh_open(context, command, path, 0, &file);
    if (status == CLI_OK) {
        // A world with this one body.
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
        status = made == SINEW_OK ? report_modes(context, command, body, &mesh, options, path)
                                  : cli_fail_file(command, context, path);

        sinew_world_destroy(world);
    }

    cli_mesh_close(&file);
    return status;
}

static int run(const cli_command *command, int argc, char **argv) {
    modes_options o = {.count = 10};
    const cli_option table[] = {
        {"count", 'n', CLI_INTEGER, &o.count, "N", "number of modes, from the lowest (default: 10)",
         1, MOST_MODES},
        {"body", 'b', CLI_TEXT, &o.body, "NAME", "body of the scene (default: the first)", 0, 0},
        {"static", 0, CLI_FLAG, &o.in_place, NULL,
         "about the equilibrium, with contact and attachments", 0, 0},
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

    // A scene has materials and supports of its own.
    bool scene = sinew_name_has_ending(path, ".json");
    if (o.in_place && !scene) {
        sinew_context_destroy(context);
        return cli_fail(command, CLI_USAGE, "--static needs a scene; %s is a mesh", path);
    }

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
        "the default material. Rigid modes come first, with frequency 0. With --static, a scene is "
        "first\n"
        "brought to rest, and the modes are those of the body as it then stands, together with "
        "what\n"
        "it touches or is attached to.",
    .run = run,
};
