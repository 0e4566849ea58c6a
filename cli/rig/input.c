// What sinew rig reads: surfaces by the mesh readers, label volumes by the volume readers,
// specimens by name; all become voxels.
#include "rig/rig.h"

#include "mesh_file.h"
#include "rig/specimen.h"

#include "sinew/io/volume_file.h"

#include "geom/mesh/mesh.h"
#include "io/volume/volume.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static const char specimen_prefix[] = "specimen:";

typedef enum input_kind { INPUT_SPECIMEN, INPUT_VOLUME, INPUT_SURFACE, INPUT_KINDS } input_kind;

static int refuse_specimen(const rig_run *rig, const char *name) {
    const char *names[16];
    char valid[160];
    int32_t count = sinew_specimen_count() < 16 ? sinew_specimen_count() : 16;

    for (int32_t i = 0; i < count; i++) {
        names[i] = sinew_specimen_name((sinew_specimen)i);
    }

    cli_join_words(valid, sizeof valid, names, count);
    return cli_fail(rig->command, CLI_BAD_INPUT, "there is no specimen '%s'%s; valid: %s", name,
                    cli_did_you_mean(name, names, count), valid);
}

static int read_specimen(rig_run *rig, const char *name, const rig_reading *reading) {
    int32_t specimen = sinew_specimen_find(name);
    if (specimen < 0) {
        return refuse_specimen(rig, name);
    }

    sinew_specimen kind = (sinew_specimen)specimen;
    int32_t count =
        reading->specimen_voxels ? reading->specimen_voxels : sinew_specimen_voxel_count(kind);
    sinew_status status = sinew_voxels_create_specimen(rig->context, kind, count,
                                                       reading->memory_limit, &rig->voxels);

    if (status != SINEW_OK) {
        return rig_fail(rig);
    }

    rig->specimen = sinew_specimen_name(kind);
    rig->specimen_voxels = count;

    const sinew_specimen_tissue *table = sinew_specimen_tissues(kind, &count);
    rig->tissue_count = rig_specimen_tissues(kind, rig->tissues);
    for (int32_t i = 0; i < count; i++) {
        snprintf(rig->tissue_names[i], RIG_NAME, "%s", table[i].name);
    }

    return CLI_OK;
}

static int read_volume(rig_run *rig, const sn_source *source, const rig_reading *reading) {
    sn_volume_file file;
    sn_volume_options options = {.unit = reading->unit, .memory_limit = reading->memory_limit};
    sinew_status status = sn_volume_read(rig->context, source, &options, &file);

    rig->askew = status == SINEW_OK && file.askew;
    int result = status == SINEW_OK ? CLI_OK : rig_fail(rig);
    if (status == SINEW_OK &&
        sinew_voxels_create_from_labels(rig->context, &file.grid, reading->memory_limit,
                                        &rig->voxels) != SINEW_OK) {
        result = cli_fail_file(rig->command, rig->context, source->name);
    }

    sn_volume_file_destroy(&file);
    return result;
}

// glTF has y up by its standard, OBJ by custom.
static bool has_y_up(const rig_reading *reading, const char *path) {
    if (reading->up) {
        return reading->up == 'y';
    }
    const char *ending = strrchr(path, '.');
    return ending && (strcmp(ending, ".obj") == 0 || strcmp(ending, ".glb") == 0 ||
                      strcmp(ending, ".gltf") == 0);
}

// The triangles of a file, or the boundary of its solid elements, in metres, z up.
static int read_surface(rig_run *rig, const char *path, const rig_reading *reading,
                        sinew_mesh **surface) {
    cli_mesh_file file;
    int status = cli_mesh_open(rig->context, rig->command, path, &file);
    if (status == CLI_OK) {
        sinew_mesh best = sinew_mesh_file_get_best(file.mesh);
        sinew_status made = best.element == SINEW_ELEMENT_TRIANGLE
                                ? sinew_mesh_copy(rig->context, &best, surface)
                                : sinew_mesh_create_surface(rig->context, &best, surface, NULL);

        if (made != SINEW_OK) {
            status = rig_fail(rig);
        }
    }

    cli_mesh_close(&file);
    if (status != CLI_OK) {
        return status;
    }

    sn_owned_mesh *mesh =
        (sn_owned_mesh *)(void *)*surface; // made by the library: the view is its first member
    double unit = reading->unit > 0 ? reading->unit : 1;

    for (int32_t i = 0; i < mesh->view.point_count; i++) {
        double *x = mesh->points + 3 * (size_t)i;
        sn_vec3 turned = has_y_up(reading, path) ? (sn_vec3){x[0], -x[2], x[1]} : sn_load3(x);
        sn_store3(x, sn_scale(unit, turned));
    }

    return CLI_OK;
}

// All surfaces as one: parts of a later one may lie outside the first.
static sinew_status join_surfaces(rig_run *rig, sinew_mesh *const *meshes, int count) {
    int64_t points = 0, triangles = 0;
    for (int i = 0; i < count; i++) {
        points += meshes[i]->point_count;
        triangles += meshes[i]->element_count;
    }

    sn_owned_mesh *all = NULL;
    SN_TRY(
        sn_owned_mesh_create(rig->context, SINEW_ELEMENT_TRIANGLE, points, triangles, false, &all));
    rig->surface = &all->view;

    double *point = all->points;
    int32_t *index = all->indices;
    int32_t first = 0;

    for (int i = 0; i < count; i++) {
        size_t coordinates = 3 * (size_t)meshes[i]->point_count;
        memcpy(point, meshes[i]->points, coordinates * sizeof *point);
        point += coordinates;

        for (int32_t k = 0; k < 3 * meshes[i]->element_count; k++) {
            *index++ = first + meshes[i]->indices[k];
        }

        first += meshes[i]->point_count;
    }

    return SINEW_OK;
}

static int read_surfaces(rig_run *rig, const char *const *paths, int count,
                         const rig_reading *reading) {
    sinew_mesh *meshes[RIG_INPUTS] = {NULL};
    sinew_labelled_surface surfaces[RIG_INPUTS];
    sinew_voxel_def grid = sinew_default_voxel_def();
    if (reading->resolution > 0) {
        grid.resolution = reading->resolution;
    }

    for (int k = 0; k < 3; k++) {
        grid.spacing[k] = reading->spacing;
    }

    grid.memory_limit = reading->memory_limit;
    int status = CLI_OK;
    for (int i = 0; i < count && status == CLI_OK; i++) {
        status = read_surface(rig, paths[i], reading, &meshes[i]);
        surfaces[i] = (sinew_labelled_surface){meshes[i], i + 1, i};
    }

    if (status == CLI_OK &&
        sinew_voxels_create_from_surfaces(rig->context, surfaces, count, &grid, &rig->voxels,
                                          &rig->voxel_report) != SINEW_OK) {
        status = count == 1 ? cli_fail_file(rig->command, rig->context, paths[0]) : rig_fail(rig);
    }

    rig->from_surfaces = true;
    if (status == CLI_OK && join_surfaces(rig, meshes, count) != SINEW_OK) {
        status = rig_fail(rig);
    }

    for (int i = 0; i < count; i++) {
        sinew_mesh_destroy(meshes[i]);
    }

    return status;
}

// An option that an input of this kind has no use for is a misunderstanding.
static int check_options(const rig_run *rig, const rig_reading *reading, const char *path,
                         input_kind kind) {
    static const char *const kinds[] = {"a specimen", "a label volume", "a surface"};
    static const struct {
        const char *option, *purpose;
        bool suits[INPUT_KINDS];
    } options[] = {
        {"resolution", "sets the voxel size for surfaces", {false, false, true}},
        {"spacing", "sets the voxel size for surfaces", {false, false, true}},
        {"up", "sets the up axis of surfaces", {false, false, true}},
        {"unit", "sets the unit of files", {false, true, true}},
        {"voxels", "sets the size of specimens", {true, false, false}},
    };

    const bool given[] = {reading->resolution > 0, reading->spacing > 0, reading->up != 0,
                          reading->unit > 0, reading->specimen_voxels > 0};
    for (size_t i = 0; i < sizeof options / sizeof *options; i++) {
        if (!given[i] || options[i].suits[kind]) {
            continue;
        }
        return cli_fail(rig->command, CLI_USAGE, "--%s %s; %s is %s", options[i].option,
                        options[i].purpose, path, kinds[kind]);
    }

    return CLI_OK;
}

// Names that no reader of meshes will know either.
static bool is_unknown(const sn_source *source) {
    return !sinew_volume_file_detect(source) && !sinew_mesh_file_detect(source);
}

int rig_read_inputs(rig_run *rig, const char *const *paths, int count, const rig_reading *reading) {
    size_t prefix = strlen(specimen_prefix);
    if (count == 1 && strncmp(paths[0], specimen_prefix, prefix) == 0) {
        int status = check_options(rig, reading, paths[0], INPUT_SPECIMEN);
        return status == CLI_OK ? read_specimen(rig, paths[0] + prefix, reading) : status;
    }

    sinew_file *file = NULL;
    if (cli_file_open(rig->context, paths[0], &file) != SINEW_OK) {
        return rig_fail(rig);
    }

    const sinew_source *source = sinew_file_get_source(file);
    bool volume = sinew_volume_file_detect(source);
    int status = check_options(rig, reading, paths[0], volume ? INPUT_VOLUME : INPUT_SURFACE);

    if (status == CLI_OK && is_unknown(source)) {
        status = cli_fail(
            rig->command, CLI_BAD_INPUT,
            "%s: neither a surface (.obj .ply .stl .glb) nor a label volume (.nii .nii.gz .nrrd "
            ".nhdr .mha .mhd); "
            "raw data needs a header, such as a short .mhd text file that names it",
            paths[0]);
    }

    if (status == CLI_OK && volume && count > 1) {
        status = cli_fail(rig->command, CLI_USAGE,
                          "a label volume must be the only input; several surfaces are possible");
    }

    if (status == CLI_OK && volume) {
        status = read_volume(rig, source, reading);
    }

    cli_file_print_hint(rig->command, file);
    sinew_file_close(file);
    return volume || status != CLI_OK ? status : read_surfaces(rig, paths, count, reading);
}
