// Affine frames along an axis and in a sheet: assumed transverse strain against ten-node tets, and
// coarse voxels against fine ones.
#include "points.h"
#include "validate/bar.h"
#include "validate/frame_bar.h"
#include "validate/validate.h"

#include "base/context.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

// Deflects by about a fiftieth of the length: bending stiffness, without large rotations.
static const double weight = 0.5;

typedef struct slab {
    double size[3];
    double poisson;
} slab;

static sinew_status elements_sag(validate_run *v, const slab *s, double *sag) {
    bar_def def = bar_default_def();
    bool sheet = s->size[1] > 2 * s->size[2];
    for (int c = 0; c < 3; c++) {
        def.size[c] = s->size[c];
    }
    def.cells[0] = sheet ? 14 : 20;
    def.cells[1] = sheet ? 14 : 4;
    def.cells[2] = sheet ? 2 : 4;
    def.material.poisson = s->poisson;
    def.world.gravity[2] = -weight;

    // Clamp, solve, and read the tip.
    bar b;
    double tip[3] = {0};
    SN_TRY(bar_create(v->context, &def, &b));
    sinew_status status = bar_clamp(&b);
    if (status == SINEW_OK) {
        status = bar_solve(&b, 1, 1e-8);
    }
    if (status == SINEW_OK) {
        status = bar_get_displacement(&b, s->size[0], tip);
    }

    *sag = -tip[2];
    bar_destroy(&b);
    return status;
}

// --- A rod of frames along its axis, the first of which is held

static sinew_status solve_rod(validate_run *v, const frame_bar_def *def, double *sag) {
    frame_bar b;
    SN_TRY(frame_bar_create(v->context, def, &b));
    sinew_status status = sinew_frame_body_hold(b.body, 0, SINEW_HOLD_ALL);
    if (status == SINEW_OK) {
        status = frame_bar_sag(&b, def->length, sag);
    }

    frame_bar_destroy(&b);
    return status;
}

static sinew_status rod_sag(validate_run *v, const slab *s, int32_t frames, double *sag) {
    sinew_material_def material = sinew_default_material_def();
    material.poisson = s->poisson;

    frame_bar_def def = frame_bar_default_def();
    def.kind = SINEW_NODE_AFFINE;
    def.count = frames;
    def.material = &material;
    def.length = s->size[0];
    def.width = s->size[1];
    def.cells[1] = def.cells[2] = 8;
    def.regions = true;
    def.gravity = weight;

    return solve_rod(v, &def, sag);
}

// --- A sheet of a grid of frames with bilinear weights, the first row of which is held

enum { SIDE = 5, NODES = SIDE * SIDE };

// The hat function of node i on [0, 1].
static double hat(int i, double t) {
    return fmax(0, 1 - fabs(t * (SIDE - 1) - i));
}

static sinew_status make_sheet(validate_run *v, const slab *s, frame_bar *b) {
    sinew_solid_def solid = sinew_default_solid_def();
    sinew_voxel_def grid = sinew_default_voxel_def();
    solid.center[0] = s->size[0] / 2;
    for (int c = 0; c < 3; c++) {
        solid.size[c] = s->size[c];
        grid.spacing[c] = s->size[c] / (c < 2 ? 32 : 6);
    }
    SN_TRY(sinew_voxels_create_from_solids(v->context, &solid, 1, &grid, &b->voxels));

    // Node i + SIDE j at column i along x and row j along y.
    sinew_frame_node nodes[NODES];
    for (int i = 0; i < NODES; i++) {
        nodes[i] = (sinew_frame_node){
            .kind = SINEW_NODE_AFFINE,
            .position = {s->size[0] * (i % SIDE) / (SIDE - 1),
                         s->size[1] * ((double)(i / SIDE) / (SIDE - 1) - 0.5), 0}};
    }

    int32_t count = sinew_voxels_get_count(b->voxels);
    double *values = malloc((size_t)count * NODES * sizeof *values);
    if (!values) {
        return sn_fail(v->context, SINEW_OUT_OF_MEMORY, "no memory for the weights of a sheet");
    }
    for (int32_t k = 0; k < count; k++) {
        double x[3];
        sinew_voxels_get_center(b->voxels, k, x);
        for (int i = 0; i < NODES; i++) {
            values[(size_t)k * NODES + (size_t)i] =
                hat(i % SIDE, x[0] / s->size[0]) * hat(i / SIDE, x[1] / s->size[1] + 0.5);
        }
    }

    sinew_world_def world = sinew_default_world_def();
    sinew_material_def material = sinew_default_material_def();
    sinew_frame_body_def body = sinew_default_frame_body_def();
    world.gravity[2] = -weight;
    material.poisson = s->poisson;
    body.voxels = b->voxels;
    body.nodes = nodes;
    body.node_count = NODES;
    body.materials = &material;
    body.material_count = 1;
    body.weights.kind = SINEW_WEIGHTS_USER;
    body.weights.adopt_outside = true;
    body.weights.values = values;

    sinew_status status = sinew_world_create(v->context, &world, &b->world);
    if (status == SINEW_OK) {
        status = sinew_frame_body_create(b->world, &body, &b->body);
    }
    free(values);
    return status;
}

static sinew_status sheet_sag(validate_run *v, const slab *s, double *sag) {
    frame_bar b = {.context = v->context};
    sinew_status status = make_sheet(v, s, &b);

    for (int j = 0; j < SIDE && status == SINEW_OK; j++) {
        status = sinew_frame_body_hold(b.body, SIDE * j, SINEW_HOLD_ALL);
    }
    if (status == SINEW_OK) {
        status = frame_bar_sag(&b, s->size[0], sag);
    }

    frame_bar_destroy(&b);
    return status;
}

sinew_status validate_transverse(validate_run *v) {
    static const double ratios[2] = {0.3, 0.45};
    for (int k = 0; k < 4; k++) {
        // A rod or a sheet, at two Poisson ratios.
        bool sheet = k >= 2;
        slab s = {{1, 0.2, 0.2}, ratios[k % 2]};
        if (sheet) {
            s.size[0] = s.size[1] = 0.7;
            s.size[2] = 0.1;
        }

        // Frames against ten-node tets.
        double sag, finer, reference;
        SN_TRY(elements_sag(v, &s, &reference));
        SN_TRY(sheet ? sheet_sag(v, &s, &sag) : rod_sag(v, &s, 5, &sag));

        char claim[160];
        snprintf(claim, sizeof claim,
                 "%s affine frames, Poisson ratio %g: sag over that of ten-node tets",
                 sheet ? "sheet of 5 x 5" : "rod of 5", s.poisson);
        validate_near(v, claim, 1, sag / reference, 0.03, "-");
        if (!sheet) {
            SN_TRY(rod_sag(v, &s, 9, &finer));
            validate_note(v,
                          "9 frames %.4f: the section at the held frame is free to widen, that of "
                          "the tets is not",
                          finer / reference);
        }
    }
    return SINEW_OK;
}

// --- W5: voxels have a size, so that bending does not depend on their number

sinew_status validate_voxel_size(validate_run *v) {
    for (int k = 0; k < 4; k++) {
        frame_bar_def def = frame_bar_default_def();
        int32_t across = k % 2 ? 8 : 4;
        double coarse, fine;
        def.kind = SINEW_NODE_AFFINE;
        def.regions = true;
        def.gravity = weight;
        def.round = k >= 2;

        def.cells[1] = def.cells[2] = 32;
        SN_TRY(solve_rod(v, &def, &fine));
        def.cells[1] = def.cells[2] = across;
        SN_TRY(solve_rod(v, &def, &coarse));

        char claim[160];
        snprintf(claim, sizeof claim, "%s rod of %d voxels across: sag over that of 32 across",
                 def.round ? "round" : "square", (int)across);
        validate_near(v, claim, 1, coarse / fine, def.round ? 0.02 : 0.005, "-");
    }
    return SINEW_OK;
}
