// Frame bodies: extension of axis-weighted frames, cantilevers of few frames.
#include "points.h"
#include "validate/validate.h"
#include "validate/album.h"
#include "validate/bar.h"
#include "validate/frame_bar.h"

#include <math.h>
#include <stdio.h>

static const double length = 1, width = 0.2; // of the default bar

// --- A1: extension follows E A (e + 3/2 e^2 + 1/2 e^3) with any number of frames

static sinew_status extension(validate_run *v, int32_t count, sinew_blend blend, double force,
                              double *e) {
    sinew_material_def material = sinew_default_material_def();
    material.strain = SINEW_STRAIN_GREEN;
    material.poisson = 0;

    // Without lateral contraction the strain is uniform.
    frame_bar_def def = frame_bar_default_def();
    def.count = count;
    def.material = &material;
    def.blend = blend;
    def.geometric_stiffness = true;

    frame_bar b;
    SN_TRY(frame_bar_create(v->context, &def, &b));

    // Pull at the end.
    const double end[3] = {length, 0, 0};
    const double pull[3] = {force, 0, 0};
    double position[3] = {0};
    sinew_status status = sinew_frame_body_hold(b.body, 0, SINEW_HOLD_ALL);

    if (status == SINEW_OK) {
        status = proof_add_force(b.body, end, pull);
    }
    if (status == SINEW_OK) {
        status = frame_bar_solve(&b, 1e-10);
    }
    if (status == SINEW_OK) {
        status = proof_get_position(b.body, end, position);
    }

    *e = position[0] / length - 1;
    frame_bar_destroy(&b);

    return status;
}

sinew_status validate_axis_frames(validate_run *v) {
    static const int32_t counts[4] = {2, 3, 5, 9};
    static const double strains[5] = {0.01, 0.1, 0.3, 0.6, 1};

    // The exact force for each extension, by Green strain.
    double E = sinew_default_material_def().young;
    double A = width * width;
    double force[5], got[4][5];

    for (int k = 0; k < 4; k++) {
        double worst = 0;
        for (int i = 0; i < 5; i++) {
            double e = strains[i];
            force[i] = E * A * (e + 1.5 * e * e + 0.5 * e * e * e);
            SN_TRY(extension(v, counts[k], SINEW_BLEND_LINEAR, force[i], &got[k][i]));
            worst = fmax(worst, fabs(got[k][i] / e - 1));
        }

        char claim[160];
        snprintf(claim, sizeof claim,
                 "extension of %d frames up to 100 %%: relative error of the extension", counts[k]);
        validate_at_most(v, claim, 1e-6, worst, "-");
    }

    // Dual quaternions stretch too.
    double dual;
    SN_TRY(extension(v, 5, SINEW_BLEND_DUAL_QUATERNION, force[4], &dual));
    validate_at_most(v, "extension of 5 dual quaternion frames by 100 %: relative error", 1e-6,
                     fabs(dual / strains[4] - 1), "-");

    // The same numbers as a picture.
    sinew_plot_series series[2] = {sinew_default_plot_series(), sinew_default_plot_series()};
    series[0].label = "E A (e + 3/2 e^2 + 1/2 e^3)";
    series[0].x = strains;
    series[0].y = force;
    series[1].label = "9 frames";
    series[1].x = got[3];
    series[1].y = force;
    series[0].count = series[1].count = 5;
    series[0].style = SINEW_PLOT_LINE;
    series[1].style = SINEW_PLOT_MARKERS;

    sinew_plot_panel panel = {.title = "Force over extension",
                              .x = {.label = "extension"},
                              .y = {.label = "force [N]"},
                              .series = series,
                              .series_count = 2};

    return validate_draw(v, "extension", &(sinew_plot){.panels = &panel, .panel_count = 1});
}

// --- A4: a cantilever of 2, 3, 5, 9 affine frames against elements

static const double sag_gravity = 5; // sags by a fifth of its length

enum { LINE_POINTS = 17 };

// The middle of the bar's section, seen from the side.
typedef struct centerline {
    double x[LINE_POINTS], z[LINE_POINTS];
} centerline;

// Sag of the free end of a bar held at the other end, and its centreline.
static sinew_status sag_of(validate_run *v, const frame_bar_def *def, double *sag,
                           centerline *line) {
    frame_bar b;
    SN_TRY(frame_bar_create(v->context, def, &b));

    // Equilibrium under gravity.
    sinew_status status = sinew_frame_body_hold(b.body, 0, SINEW_HOLD_ALL);
    if (status == SINEW_OK) {
        status = frame_bar_sag(&b, length, sag);
    }

    // The centreline for the picture.
    if (line) {
        double position[3];
        for (int i = 0; i < LINE_POINTS && status == SINEW_OK; i++) {
            const double rest[3] = {length * i / (LINE_POINTS - 1), 0, 0};
            status = proof_get_position(b.body, rest, position);
            line->x[i] = position[0];
            line->z[i] = position[2];
        }
    }

    frame_bar_destroy(&b);
    return status;
}

static sinew_status frames_sag(validate_run *v, int32_t count, sinew_node_kind kind, double poisson,
                               bool regions, double *sag, centerline *line) {
    sinew_material_def material = sinew_default_material_def();
    material.poisson = poisson;

    frame_bar_def def = frame_bar_default_def();
    def.count = count;
    def.kind = kind;
    def.material = &material;
    def.cells[1] = def.cells[2] = 8;
    def.regions = regions;
    def.gravity = sag_gravity;
    def.geometric_stiffness = true;

    return sag_of(v, &def, sag, line);
}

static sinew_status elements_sag(validate_run *v, double poisson, double *sag, centerline *line) {
    bar_def def = bar_default_def();
    def.size[1] = def.size[2] = width;
    def.cells[0] = 16;
    def.cells[1] = def.cells[2] = 3;
    def.material.poisson = poisson;
    def.world.gravity[2] = -sag_gravity;

    bar b;
    double tip[3] = {0};

    SN_TRY(bar_create(v->context, &def, &b));

    // Equilibrium under gravity.
    sinew_status status = bar_clamp(&b);
    if (status == SINEW_OK) {
        status = bar_solve(&b, 1, 1e-8);
    }
    if (status == SINEW_OK) {
        status = bar_get_displacement(&b, length, tip);
    }

    *sag = -tip[2];

    // The centreline for the picture.
    if (line) {
        for (int i = 0; i < LINE_POINTS && status == SINEW_OK; i++) {
            double x = length * i / (LINE_POINTS - 1);
            status = bar_get_displacement(&b, x, tip);
            line->x[i] = x + tip[0];
            line->z[i] = tip[2];
        }
    }

    bar_destroy(&b);
    return status;
}

sinew_status validate_frame_cantilever(validate_run *v) {
    static const int32_t counts[4] = {2, 3, 5, 9};
    double sag, reference, x[4], ratio[4];
    centerline lines[5];

    SN_TRY(elements_sag(v, 0, &reference, &lines[4]));
    int rising = 0;
    for (int k = 0; k < 4; k++) {
        SN_TRY(frames_sag(v, counts[k], SINEW_NODE_AFFINE, 0, false, &sag, &lines[k]));
        x[k] = counts[k];
        ratio[k] = sag / reference;
        if (k) {
            rising += ratio[k] > ratio[k - 1];
        }
    }

    validate_near(v, "cantilever of 2, 3, 5, 9 affine frames: refinements that sag more", 3, rising,
                  0, "-");
    validate_note(v, "sag over that of ten-node tets %.4f, %.4f, %.4f, %.4f", ratio[0], ratio[1],
                  ratio[2], ratio[3]);
    validate_near(v, "cantilever of 9 affine frames: sag over that of ten-node tets", 1, ratio[3],
                  0.02, "-");
    SN_TRY(elements_sag(v, 0.3, &reference, NULL));
    // A bent bar widens where it is compressed and narrows where it is stretched, quadratically in
    // the height. Sections that stay affine cannot, and resist with the modulus of laterally
    // constrained material instead of Young's modulus. Regions that span the section have internal
    // modes for that.
    const double nu = 0.3;
    const double modulus = (1 - nu) / ((1 + nu) * (1 - 2 * nu));
    double locked;

    SN_TRY(frames_sag(v, 9, SINEW_NODE_AFFINE, nu, false, &locked, NULL));
    SN_TRY(frames_sag(v, 9, SINEW_NODE_AFFINE, nu, true, &sag, NULL));
    validate_near(v, "the same with a Poisson ratio of 0.3", 1, sag / reference, 0.02, "-");
    validate_note(v,
                  "regions with assumed transverse strain; one sample per voxel without it %.4f, "
                  "as if laterally "
                  "constrained: %.3f by beam theory",
                  locked / reference, 1 / modulus);
    SN_TRY(frames_sag(v, 9, SINEW_NODE_QUADRATIC, nu, false, &sag, NULL));
    validate_near(v, "and with 9 quadratic frames, which can", 1, sag / reference, 0.02, "-");
    static const char *const names[5] = {"2 frames", "3 frames", "5 frames", "9 frames",
                                         "ten-node tets"};

    sinew_plot_series sags = sinew_default_plot_series();
    sinew_plot_series series[5];

    sags.x = x;
    sags.y = ratio;
    sags.count = 4;
    sags.style = SINEW_PLOT_LINE | SINEW_PLOT_MARKERS;

    for (int k = 0; k < 5; k++) {
        series[k] = sinew_default_plot_series();
        series[k].label = names[k];
        series[k].x = lines[k].x;
        series[k].y = lines[k].z;
        series[k].count = LINE_POINTS;
        series[k].style = k < 4 ? SINEW_PLOT_LINE : SINEW_PLOT_MARKERS;
        series[k].color = k;
    }

    sinew_plot_panel panels[2] = {{.title = "Centrelines of affine frames over elements",
                                   .x = {.label = "x [m]"},
                                   .y = {.label = "z [m]"},
                                   .series = series,
                                   .series_count = 5},
                                  {.title = "Cantilever of affine frames",
                                   .x = {.label = "frames"},
                                   .y = {.label = "sag / sag of ten-node tets"},
                                   .series = &sags,
                                   .series_count = 1}};

    return validate_draw(v, "sag", &(sinew_plot){.panels = panels, .panel_count = 2});
}

// --- A20: dual quaternion beams get stiffer with fewer frames (Gilles et al. 2011, figure 6)

sinew_status validate_few_frames(validate_run *v) {
    static const int32_t counts[3] = {2, 3, 5};

    // More frames are softer.
    double sag[3];
    for (int k = 0; k < 3; k++) {
        sinew_material_def material = sinew_default_material_def();
        material.poisson = 0;
        material.strain = SINEW_STRAIN_GREEN;
        frame_bar_def def = frame_bar_default_def();
        def.count = counts[k];
        def.material = &material;
        def.blend = SINEW_BLEND_DUAL_QUATERNION;
        def.gravity = sag_gravity;
        def.geometric_stiffness = true;
        SN_TRY(sag_of(v, &def, &sag[k], NULL));
    }

    validate_at_least(v, "dual quaternion beam: sag of 3 frames over that of 2", 1, sag[1] / sag[0],
                      "-");
    validate_at_least(v, "dual quaternion beam: sag of 5 frames over that of 3", 1, sag[2] / sag[1],
                      "-");

    // How close they come.
    double reference;
    SN_TRY(elements_sag(v, 0, &reference, NULL));
    validate_note(v, "sag over that of ten-node tets %.4f, %.4f, %.4f", sag[0] / reference,
                  sag[1] / reference, sag[2] / reference);

    return SINEW_OK;
}

// --- A25: the motions of two frames (Gilles et al. 2013, figure 1.2)

sinew_status validate_two_frames(validate_run *v) {
    double c = cos(0.25);
    double s = sin(0.25);

    const struct {
        const char *name;
        double position[3], rotation[4]; // of the second frame
    } moves[4] = {{"stretch", {1.3 * length, 0, 0}, {0, 0, 0, 1}},
                  {"shear", {length, 0, 0.3 * length}, {0, 0, 0, 1}},
                  {"bend", {length, 0, 0}, {0, s, 0, c}},
                  {"twist", {length, 0, 0}, {s, 0, 0, c}}};

    album pictures;
    album_begin(v, &pictures);

    sinew_status status = SINEW_OK;
    for (int k = 0; k < 4 && status == SINEW_OK; k++) {
        sinew_material_def material = sinew_default_material_def();
        material.poisson = 0.3;

        frame_bar_def def = frame_bar_default_def();
        def.count = 2;
        def.material = &material;
        def.integrator = SINEW_INTEGRATOR_MIDPOINT;

        frame_bar b;
        status = frame_bar_create(v->context, &def, &b);
        if (status != SINEW_OK) {
            break;
        }

        // Hold both frames, move the second and take one step.
        sinew_measures measures = {0};
        status = sinew_frame_body_hold(b.body, 0, SINEW_HOLD_ALL);
        if (status == SINEW_OK) {
            status = sinew_frame_body_hold(b.body, 1, SINEW_HOLD_ALL);
        }
        if (status == SINEW_OK) {
            status = sinew_frame_body_move(b.body, 1, moves[k].position, moves[k].rotation);
        }
        if (status == SINEW_OK) {
            status = sinew_world_step(b.world, NULL);
        }
        if (status == SINEW_OK) {
            sinew_body_get_measures(b.body, &measures);
        }
        if (status == SINEW_OK) {
            album_add(&pictures, moves[k].name, b.body, NULL);
        }

        frame_bar_destroy(&b);
        if (status != SINEW_OK) {
            break;
        }

        // Every motion costs energy.
        char claim[160];
        snprintf(claim, sizeof claim, "two frames, %s: elastic energy", moves[k].name);
        validate_at_least(v, claim, 1e-3, measures.elastic_energy, "J");
    }

    album_look look = {.title = "Motions of two frames", .azimuth = -1.2, .elevation = 0.35};
    return album_end(&pictures, "deformations", &look, status);
}
