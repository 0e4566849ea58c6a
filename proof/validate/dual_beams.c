// Beams of dual quaternion frames against St. Venant-Kirchhoff elements at the papers' counts
// (Gilles et al. 2011, figures 6 and 10).
//
// The paper does not state the proportions, load and constants of its beam. Ours is four times as
// long as thick, has a Poisson ratio of 0 (rigid sections cannot show any other), is held at one
// end and bends under its own weight until the free end has sunk by half the length. Elements at
// the paper's coarse counts then have about the errors that the paper reports: 23 and 46 % here, 25
// and 42 % there.
#include "points.h"
#include "validate/validate.h"
#include "validate/bar.h"
#include "validate/frame_bar.h"

#include "sinew/sinew.h"

#include "base/context.h"
#include "math/vec.h"

#include <math.h>
#include <stdio.h>

static const double own_width = 0.25, gravity = 25;

static sinew_material_def beam_material(void) {
    sinew_material_def material = sinew_default_material_def();
    material.young = 1e6;
    material.poisson = 0;
    material.strain = SINEW_STRAIN_GREEN;
    return material;
}

static sinew_status solve(sinew_context *context, sinew_world *world) {
    sinew_static_def statics = sinew_default_static_def();
    statics.load_steps = 4;

    sinew_step_report report;
    SN_TRY(sinew_world_solve_static(world, &statics, &report));

    if (report.outcome == SINEW_OUTCOME_CONVERGED || report.newton_residual < 1e-5) {
        return SINEW_OK;
    }

    return sn_fail(context, SINEW_DIVERGED, "the static solve ended with '%s' at a residual of %g",
                   sinew_outcome_name(report.outcome), report.newton_residual);
}

// The position of the middle of the free end of a beam of frames; `cells` counts the samples.
static sinew_status frame_tip(validate_run *v, double width, int32_t frames, const int32_t cells[3],
                              double tip[3]) {
    sinew_material_def material = beam_material();

    // Linear weights along the axis; the cells are the samples.
    frame_bar_def def = frame_bar_default_def();

    def.count = frames;
    def.material = &material;
    def.blend = SINEW_BLEND_DUAL_QUATERNION;
    def.geometric_stiffness = true;
    def.width = width;

    for (int c = 0; c < 3; c++) {
        def.cells[c] = cells[c];
    }

    def.gravity = gravity;
    frame_bar b;

    SN_TRY(frame_bar_create(v->context, &def, &b));

    // Solve for the equilibrium under gravity.
    sinew_status status = sinew_frame_body_hold(b.body, 0, SINEW_HOLD_ALL);
    if (status == SINEW_OK) {
        status = solve(v->context, b.world);
    }
    if (status == SINEW_OK) {
        status = proof_get_position(b.body, (const double[]){1, 0, 0}, tip);
    }

    frame_bar_destroy(&b);
    return status;
}

// The same for elements: the mean of the end's nodes.
static sinew_status element_tip(validate_run *v, double width, sinew_element element,
                                const int32_t cells[3], double tip[3]) {
    // The same beam.
    bar_def def = bar_default_def();
    def.size[1] = def.size[2] = width;
    for (int c = 0; c < 3; c++) {
        def.cells[c] = cells[c];
    }

    def.element = element;
    def.material = beam_material();
    def.world.gravity[2] = -gravity;

    bar b;
    SN_TRY(bar_create(v->context, &def, &b));

    // The displacement, made a position.
    sinew_status status = bar_clamp(&b);
    if (status == SINEW_OK) {
        status = solve(v->context, b.world);
    }
    if (status == SINEW_OK) {
        status = bar_get_displacement(&b, 1, tip);
    }

    tip[0] += 1;
    bar_destroy(&b);

    return status;
}

// Distance between two ends, relative to the length, which is 1.
static double apart(const double a[3], const double b[3]) {
    return sn_distance(sn_load3(a), sn_load3(b));
}

sinew_status validate_dual_beam(validate_run *v) {
    double frames[3], elements[3], fine[3], slender_frames[3], slender_elements[3];
    SN_TRY(frame_tip(v, 0.2, 5, (const int32_t[]){10, 10, 9}, slender_frames));
    SN_TRY(element_tip(v, 0.2, SINEW_ELEMENT_HEX8, (const int32_t[]){9, 9, 8}, slender_elements));
    SN_TRY(frame_tip(v, own_width, 5, (const int32_t[]){10, 10, 9}, frames));
    SN_TRY(element_tip(v, own_width, SINEW_ELEMENT_HEX8, (const int32_t[]){9, 9, 8}, elements));
    SN_TRY(element_tip(v, own_width, SINEW_ELEMENT_TET10, (const int32_t[]){16, 4, 4}, fine));
    validate_at_most(v,
                     "5 dual quaternion frames, 10 x 10 x 9 samples, against 10 x 10 x 9 nodes of "
                     "St. Venant-Kirchhoff elements: end points, over the length",
                     0.025, apart(frames, elements), "-");
    validate_note(v, "from fine ten-node tets, whose end sinks by %.3f: frames %.4f, elements %.4f",
                  -fine[2], apart(frames, fine), apart(elements, fine));
    validate_note(
        v,
        "a beam five times as long as thick under the same load: %.4f; few rigid frames lock "
        "more in thinner beams",
        apart(slender_frames, slender_elements));

    return SINEW_OK;
}

sinew_status validate_coarse_beams(validate_run *v) {
    static const struct {
        int32_t frames, points; // points: samples, or nodes of elements, along each side
        double paper;
    } rows[2] = {{5, 4, 0.13}, {3, 2, 0.15}};

    // The references.
    double fine[3], many[3], frames[2][3], elements[2][3];
    SN_TRY(element_tip(v, own_width, SINEW_ELEMENT_TET10, (const int32_t[]){16, 4, 4}, fine));
    SN_TRY(frame_tip(v, own_width, 5, (const int32_t[]){10, 10, 9}, many));

    for (int k = 0; k < 2; k++) {
        // As few points as the paper, by frames and by elements.
        int32_t n = rows[k].points;
        char claim[160];

        SN_TRY(frame_tip(v, own_width, rows[k].frames, (const int32_t[]){n, n, n}, frames[k]));
        SN_TRY(element_tip(v, own_width, SINEW_ELEMENT_HEX8, (const int32_t[]){n - 1, n - 1, n - 1},
                           elements[k]));
        snprintf(claim, sizeof claim,
                 "%d dual quaternion frames, %d x %d x %d samples: end from that of fine elements, "
                 "no worse than the paper",
                 rows[k].frames, n, n, n);
        validate_at_most(v, claim, rows[k].paper, apart(frames[k], fine), "-");
        snprintf(claim, sizeof claim,
                 "the same over that of %d x %d x %d nodes of elements: closer", n, n, n);
        validate_at_most(v, claim, 1, apart(frames[k], fine) / apart(elements[k], fine), "-");
        validate_note(v, "elements %.3f", apart(elements[k], fine));
    }

    // The trends that the paper describes.
    validate_at_least(v,
                      "5 frames with 4 x 4 x 4 samples over the same with 10 x 10 x 9: softer with "
                      "fewer points (sag)",
                      1, frames[0][2] / many[2], "-");
    validate_at_most(v, "2 x 2 x 2 over 4 x 4 x 4 nodes of elements: stiffer with fewer (sag)", 1,
                     elements[1][2] / elements[0][2], "-");

    return SINEW_OK;
}
