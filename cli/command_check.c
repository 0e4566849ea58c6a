// sinew check: reads and builds a scene without running it.
#include "command.h"
#include "scene_file.h"

#include "sinew/frame_body.h"
#include "sinew/frame_support.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

// The Poisson ratio above which standard elements, and linear tets in any case, are noticeably too
// stiff.
static const double LOCKING = 0.45;

// Recommends what does not lock where a material is nearly incompressible.
static void recommend_elements(sinew_scene *scene, int32_t index) {
    sinew_scene_body_info body;
    sinew_scene_get_body_info(scene, index, &body);
    const sinew_mesh *mesh = sinew_scene_get_body_mesh(scene, index);

    // Linear tets lock; so do other elements without averaged dilatation.
    bool linear = mesh && mesh->element == SINEW_ELEMENT_TET4;
    bool standard = body.volume == SINEW_VOLUME_STANDARD;
    if (strcmp(body.model, "elastic") != 0 || !(linear || standard)) {
        return;
    }

    for (int32_t k = 0; k < body.material_count; k++) {
        int32_t label;
        sinew_material_def def;
        sinew_scene_get_material(scene, sinew_scene_get_body_material(scene, index, k, &label),
                                 &def);
        double poisson = sinew_material_get_poisson(&def);
        if (!(poisson > LOCKING)) {
            continue;
        }

        printf("%s: with a Poisson ratio of %g %s are too stiff; consider %s\n", body.name, poisson,
               linear ? "linear tets" : "these elements",
               linear ? "ten-node tets or hexahedra" : "\"volume\": \"averaged\"");
        return;
    }
}

// How well the voxels of a body driven by frames represent its shape.
static void print_voxels(const sinew_body *body, const char *name) {
    const sinew_voxels *voxels = sinew_frame_body_get_voxels(body);
    sinew_sampling_report sampling;
    int32_t cells[3];
    double shape;
    if (!voxels) {
        return;
    }

    double volume = sinew_voxels_get_volume(voxels, &shape);
    sinew_frame_body_get_report(body, NULL, &sampling);
    sinew_voxels_get_grid(voxels, cells, NULL, NULL);

    printf("%s: %d voxels in %d x %d x %d cells, volume %.4g m3, mass %.4g kg", name,
           sinew_voxels_get_count(voxels), cells[0], cells[1], cells[2], volume, sampling.mass);
    if (shape > 0) {
        printf(", both %.2f %% off the shape", 100 * fabs(volume / shape - 1));
    }
    printf("\n");
}

// What holds a body driven by frames, and what that means.
static void print_supports(sinew_body *body, const char *name, int32_t held) {
    for (int32_t i = 0; i < sinew_frame_body_get_support_count(body); i++) {
        sinew_frame_support_state state;
        if (sinew_frame_body_get_support(body, i, &state) == SINEW_OK) {
            printf("%s: %.4g m2 of the surface are held by springs, as firm as a layer of %.3g m "
                   "of the same material\n",
                   name, state.area, state.softness);
        }
    }

    if (held > 0) {
        printf("%s: %d frame%s held; holding a frame is no clamp: the solid around it moves with "
               "the other frames. To clamp a face, select it in \"fixed\"\n",
               name, (int)held, held == 1 ? " is" : "s are");
    }
}

// Values that are rarely meant: units are the usual mistake.
static void print_unit_hints(sinew_scene *scene, int32_t index) {
    static const double softest = 500, largest = 100; // [Pa], [m]
    sinew_scene_body_info body;
    sinew_scene_get_body_info(scene, index, &body);
    for (int32_t k = 0; k < body.material_count; k++) {
        sinew_material_def def;
        int32_t label;
        sinew_scene_get_material(scene, sinew_scene_get_body_material(scene, index, k, &label),
                                 &def);
        double young = sinew_material_get_young(&def);
        if (young < softest) {
            printf("%s: a Young's modulus of %g Pa is softer than any tissue (fat: about 1e4 Pa); "
                   "if it is in kPa, write %g\n",
                   body.name, young, 1000 * young);
            break;
        }
    }

    const sinew_mesh *mesh = sinew_scene_get_body_mesh(scene, index);
    double lower[3] = {INFINITY, INFINITY, INFINITY}, upper[3] = {-INFINITY, -INFINITY, -INFINITY};
    for (int32_t i = 0; mesh && i < 3 * mesh->point_count; i++) {
        lower[i % 3] = fmin(lower[i % 3], mesh->points[i]);
        upper[i % 3] = fmax(upper[i % 3], mesh->points[i]);
    }
    double size = fmax(upper[0] - lower[0], fmax(upper[1] - lower[1], upper[2] - lower[2]));
    if (isfinite(size) && size > largest) {
        printf("%s: it is %.4g m long; if its file is in centimetres or millimetres, write "
               "\"scale\": 0.01 or 0.001 in its shape\n",
               body.name, size);
    }
}

static void print_scene(sinew_scene *scene) {
    int32_t bodies = sinew_scene_get_body_count(scene);
    sinew_scene_info info;
    sinew_scene_get_info(scene, &info);

    // Totals over all bodies.
    int64_t elements = 0, frames = 0;
    for (int32_t i = 0; i < bodies; i++) {
        const sinew_mesh *mesh = sinew_scene_get_body_mesh(scene, i);
        sinew_scene_body_info body;
        sinew_scene_get_body_info(scene, i, &body);
        elements += mesh ? mesh->element_count : 0;
        frames += body.frame_capacity;
    }

    printf("%s: no mistakes; %d bod%s, %lld elements, ", info.name, (int)bodies,
           bodies == 1 ? "y" : "ies", (long long)elements);
    if (frames > 0) {
        printf("%lld frames, ", (long long)frames);
    }
    printf("%d steps of %g s\n", (int)info.steps, info.step);

    // Details, body by body.
    for (int32_t i = 0; i < bodies; i++) {
        sinew_body *body = sinew_scene_get_body(scene, i);
        sinew_scene_body_info info_of_body;
        sinew_scene_get_body_info(scene, i, &info_of_body);
        print_voxels(body, info_of_body.name);
        print_supports(body, info_of_body.name, info_of_body.held_frame_count);
    }

    cli_scene_print_loads(scene);
    for (int32_t i = 0; i < bodies; i++) {
        recommend_elements(scene, i);
        print_unit_hints(scene, i);
    }
    cli_scene_print_fields(scene);
}

static int check(sinew_context *context, const cli_command *command, const char *path,
                 const cli_list *settings) {
    cli_scene_file file;
    int status = cli_scene_open(context, command, path, settings, &file);
    if (status == CLI_OK) {
        status = cli_scene_build(context, command, &file);
    }
    if (status == CLI_OK) {
        print_scene(file.scene);
    }

    cli_scene_close(&file);
    return status;
}

static int run(const cli_command *command, int argc, char **argv) {
    cli_list settings = {0};
    const cli_option table[] = {
        {"set", 's', CLI_LIST, &settings, "PATH=VALUE", "change the scene before checking it", 0,
         0},
        CLI_ALLOW_OUTSIDE,
    };

    // The command line.
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

    // The check itself.
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
