// sinew inspect: describes the contents of a file.
#include "command.h"
#include "inspect.h"
#include "progress.h"
#include "scene_file.h"

#include "sinew/io.h"

#include <stdio.h>
#include <string.h>

// Recognises the kind of a file by its first bytes, or by its name.
static int inspect_source(inspect_report *report, const sinew_source *source, double unit) {
    bool hierarchy = source->size >= 9 && memcmp(source->data, "HIERARCHY", 9) == 0;
    if (hierarchy || sinew_name_has_ending(source->name, ".bvh")) {
        return inspect_motion(report, source);
    }

    bool field = source->size >= 11 && memcmp(source->data, "sinew-field", 11) == 0;
    if (field || sinew_name_has_ending(source->name, ".field")) {
        return inspect_field(report, source);
    }
    if (sinew_volume_file_detect(source)) {
        return inspect_volume(report, source, unit);
    }
    if (!sinew_mesh_file_detect(source)) {
        return cli_fail(
            report->command, CLI_BAD_INPUT,
            "%s: unknown kind of file; known are meshes (.obj .ply .stl .glb .gltf .msh .mesh "
            ".node .vtu), "
            "volumes (.nii .nrrd .mha), motion (.bvh), fields (.field) and scenes (.json)",
            source->name);
    }

    bool gltf = sinew_gltf_file_detect(source);
    return gltf ? inspect_gltf(report, source) : inspect_mesh(report, source);
}

static int inspect_file(inspect_report *report, const char *path, double unit) {
    sinew_file *file = NULL;
    if (cli_file_open(report->context, path, &file) != SINEW_OK) {
        return inspect_fail(report);
    }

    int status = inspect_source(report, sinew_file_get_source(file), unit);
    cli_file_print_hint(report->command, file);
    sinew_file_close(file);

    return status;
}

static int run(const cli_command *command, int argc, char **argv) {
    bool json = false;
    const char *unit_name = NULL;
    double unit = 0;
    const cli_option table[] = {
        CLI_ALLOW_OUTSIDE,
        {"json", 0, CLI_FLAG, &json, NULL, "print JSON", 0, 0},
        {"unit", 'u', CLI_TEXT, &unit_name, "UNIT",
         "of a volume: {units} or metres (default: by its header)", 0, 0},
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
        return cli_fail(command, CLI_USAGE, "which file? usage: sinew inspect FILE");
    }
    if (unit_name && !cli_read_unit(command, unit_name, &unit)) {
        return CLI_USAGE;
    }

    sinew_context *context = cli_create_context(command, 1);
    if (!context) {
        return CLI_BAD_INPUT;
    }

    // The name decides: scenes are read as scenes, everything else is detected.
    inspect_report report;
    status = inspect_report_begin(&report, context, command, json);
    if (status != CLI_OK) {
        sinew_context_destroy(context);
        return status;
    }

    cli_activity activity;
    cli_activity_begin(&activity, "reading");
    status = sinew_name_has_ending(path, ".json") ? inspect_scene(&report, path)
                                                  : inspect_file(&report, path, unit);
    cli_activity_end(&activity);
    status = inspect_report_finish(&report, status);
    sinew_context_destroy(context);

    return status;
}

const cli_command cli_command_inspect = {
    .name = "inspect",
    .summary = "Describe the contents of a file.",
    .arguments = "FILE",
    .details =
        "Meshes (.obj .ply .stl .msh .mesh .node .vtu): elements, bounds, labels, quality, "
        "mistakes.\n"
        "Label volumes (.nii .nii.gz .nrrd .nhdr .mha .mhd): cells, bounds, labels; lengths in "
        "metres.\n"
        "glTF (.glb .gltf): meshes, skins, animations. Motion (.bvh): joints, images, duration.\n"
        "Fields of material axes (.field): elements, the main direction of the fibres.\n"
        "Scenes (.json): bodies, materials, probes, certainty of fields. Other lengths are in\n"
        "the unit of the file.",
    .run = run,
};
