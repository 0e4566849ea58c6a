// What sinew rig reads: surfaces by the mesh readers, label volumes by the volume readers,
// specimens by name; all become voxels.
#include "rig/rig.h"

#include "mesh_file.h"

#include "sinew/io/volume_file.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const char specimen_prefix[] = "specimen:";

// The longest edge that a surface keeps, as a share of the solid's longest side.
static const double COARSE_EDGE = 1.0 / 16;

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
    if (status == SINEW_OK) {
        status = sinew_tissue_table_create_specimen(rig->context, kind, &rig->tissues);
    }

    rig->specimen = sinew_specimen_name(kind);
    rig->specimen_voxels = count;
    return status == SINEW_OK ? CLI_OK : rig_fail(rig);
}

static int read_volume(rig_run *rig, const sinew_source *source, const rig_reading *reading) {
    sinew_volume_file *file = NULL;
    sinew_volume_read_def def = sinew_default_volume_read_def();
    def.unit = reading->unit;
    def.memory_limit = reading->memory_limit;
    def.use_threshold = reading->use_threshold;
    def.threshold = reading->threshold;
    if (sinew_volume_file_read(rig->context, source, &def, &file) != SINEW_OK) {
        return rig_fail(rig);
    }

    double axes[9];
    rig->askew = sinew_volume_file_get_axes(file, axes);
    sinew_status status = sinew_voxels_create_from_labels(
        rig->context, sinew_volume_file_get_grid(file), reading->memory_limit, &rig->voxels);
    sinew_volume_file_destroy(file);
    return status == SINEW_OK ? CLI_OK : cli_fail_file(rig->command, rig->context, source->name);
}

// Copies a surface in metres.
static sinew_status scale_surface(rig_run *rig, const sinew_mesh *from, double unit,
                                  sinew_mesh **surface) {
    double *points = malloc(3 * (size_t)from->point_count * sizeof *points);
    if (!points) {
        return SINEW_OUT_OF_MEMORY;
    }

    for (size_t i = 0; i < 3 * (size_t)from->point_count; i++) {
        points[i] = unit * from->points[i];
    }

    sinew_mesh scaled = *from;
    scaled.points = points;
    sinew_status status = sinew_mesh_copy(rig->context, &scaled, surface);
    free(points);
    return status;
}

// The triangles of a file, or the boundary of its solid elements, in metres, z up.
static int read_surface(rig_run *rig, const char *path, const rig_reading *reading,
                        sinew_mesh **surface) {
    cli_mesh_file file;
    int status = cli_mesh_open(rig->context, rig->command, path, reading->up, &file);
    if (status == CLI_OK) {
        sinew_mesh best = sinew_mesh_file_get_best(file.mesh);
        sinew_mesh *boundary = NULL;
        sinew_status made = SINEW_OK;
        if (best.element != SINEW_ELEMENT_TRIANGLE) {
            made = sinew_mesh_create_surface(rig->context, &best, &boundary, NULL);
        }
        if (made == SINEW_OK) {
            made = scale_surface(rig, boundary ? boundary : &best,
                                 reading->unit > 0 ? reading->unit : 1, surface);
        }
        sinew_mesh_destroy(boundary);
        status = made == SINEW_OK ? CLI_OK : rig_fail(rig);
    }

    cli_mesh_close(&file);
    return status;
}

// All surfaces as one: parts of a later one may lie outside the first.
static sinew_status join_surfaces(rig_run *rig, sinew_mesh *const *meshes, int count) {
    // How much there is of each.
    size_t coordinates = 0, corners = 0;
    for (int i = 0; i < count; i++) {
        coordinates += 3 * (size_t)meshes[i]->point_count;
        corners += 3 * (size_t)meshes[i]->element_count;
    }

    // Points and triangles, numbered after those of the surfaces before.
    double *points = malloc(coordinates * sizeof *points);
    int32_t *indices = malloc(corners * sizeof *indices);
    sinew_status status = SINEW_OUT_OF_MEMORY;
    if (points && indices) {
        double *point = points;
        int32_t *index = indices;
        int32_t first = 0;
        for (int i = 0; i < count; i++) {
            size_t own = 3 * (size_t)meshes[i]->point_count;
            memcpy(point, meshes[i]->points, own * sizeof *point);
            point += own;
            for (int32_t k = 0; k < 3 * meshes[i]->element_count; k++) {
                *index++ = first + meshes[i]->indices[k];
            }
            first += meshes[i]->point_count;
        }

        sinew_mesh all = {.points = points,
                          .point_count = first,
                          .indices = indices,
                          .element_count = (int32_t)(corners / 3),
                          .element = SINEW_ELEMENT_TRIANGLE};
        status = sinew_mesh_copy(rig->context, &all, &rig->surface);
    }

    free(points);
    free(indices);
    return status;
}

// Cuts triangles that are large compared with the solid, such as the sides of a box. The surface
// carries loads and supports at its points, and a side without any inside would stay flat.
static sinew_status refine_surface(rig_run *rig) {
    int32_t cells[3];
    double spacing[3];
    double longest = 0;
    sinew_voxels_get_grid(rig->voxels, cells, spacing, NULL);
    for (int k = 0; k < 3; k++) {
        longest = fmax(longest, cells[k] * spacing[k]);
    }

    sinew_mesh *refined = NULL;
    CLI_TRY(sinew_mesh_create_refined(rig->context, rig->surface, COARSE_EDGE * longest, &refined));
    rig->refined_points = refined->point_count - rig->surface->point_count;
    sinew_mesh_destroy(rig->surface);
    rig->surface = refined;
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

    // Each file is a tissue of its own; where they overlap the later one wins.
    grid.memory_limit = reading->memory_limit;
    int status = CLI_OK;
    for (int i = 0; i < count && status == CLI_OK; i++) {
        status = read_surface(rig, paths[i], reading, &meshes[i]);
        surfaces[i] = (sinew_labelled_surface){meshes[i], i + 1, i};
    }

    // Fill them together.
    if (status == CLI_OK &&
        sinew_voxels_create_from_surfaces(rig->context, surfaces, count, &grid, &rig->voxels,
                                          &rig->voxel_report) != SINEW_OK) {
        status = count == 1 ? cli_fail_file(rig->command, rig->context, paths[0]) : rig_fail(rig);
    }

    rig->from_surfaces = true;
    if (status == CLI_OK &&
        (join_surfaces(rig, meshes, count) != SINEW_OK || refine_surface(rig) != SINEW_OK)) {
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
        {"threshold", "makes a solid of an image", {false, true, false}},
    };

    const bool given[] = {
        reading->resolution > 0, reading->spacing > 0,         reading->up != 0,
        reading->unit > 0,       reading->specimen_voxels > 0, reading->use_threshold};

    // The first option that does not suit.
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
static bool is_unknown(const sinew_source *source) {
    return !sinew_volume_file_detect(source) && !sinew_mesh_file_detect(source);
}

// Parts with less than this share of the voxels are specks.
static const double speck_share = 1e-3;

static int settle_specks(rig_run *rig, const char *how) {
    if (strcmp(how, "keep") == 0) {
        return CLI_OK;
    }
    rig->specks_joined = strcmp(how, "join") == 0;
    sinew_status status = sinew_voxels_settle_specks(
        &rig->voxels, rig->specks_joined ? SINEW_SPECKS_JOIN : SINEW_SPECKS_DROP, speck_share,
        &rig->speck_report);
    return status == SINEW_OK ? CLI_OK : rig_fail(rig);
}

int rig_read_inputs(rig_run *rig, const char *const *paths, int count, const rig_reading *reading) {
    // A specimen is generated, not read.
    size_t prefix = strlen(specimen_prefix);
    if (count == 1 && strncmp(paths[0], specimen_prefix, prefix) == 0) {
        int status = check_options(rig, reading, paths[0], INPUT_SPECIMEN);
        return status == CLI_OK ? read_specimen(rig, paths[0] + prefix, reading) : status;
    }

    // The content decides between volume and surface, not the name.
    sinew_file *file = NULL;
    if (cli_file_open(rig->context, paths[0], &file) != SINEW_OK) {
        return rig_fail(rig);
    }

    const sinew_source *source = sinew_file_get_source(file);
    bool volume = sinew_volume_file_detect(source);
    int status = check_options(rig, reading, paths[0], volume ? INPUT_VOLUME : INPUT_SURFACE);

    // What cannot be used.
    if (status == CLI_OK && is_unknown(source)) {
        status = cli_fail(
            rig->command, CLI_BAD_INPUT,
            "%s: neither a surface (.obj .ply .stl .glb) or mesh (.msh .mesh .vtu .node) nor a "
            "label volume (.nii .nii.gz .nrrd .nhdr .mha .mhd); "
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
    if (status == CLI_OK && !volume) {
        status = read_surfaces(rig, paths, count, reading);
    }
    return status == CLI_OK ? settle_specks(rig, reading->specks) : status;
}
