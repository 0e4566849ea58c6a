// Automatic frames, which have spectral weights, against ten-node tets of the same solids: W1
// statics, W2 frequencies.
#include "validate/solids.h"
#include "validate/validate.h"

#include "base/context.h"

#include <math.h>
#include <stdio.h>

// A solid, its frames, and the errors that are allowed.
typedef struct spectral_case {
    solid_kind kind;
    int32_t frames; // 0: automatic
    double poisson;
    double statics, twist, frequency;
} spectral_case;

// Quadratic frames have no warping, so twist is stiffer; near-incompressible flesh around a corner
// or a bone is too.
static const spectral_case cases[] = {
    {SOLID_BAR, 0, 0.3, 0.05, 0.2, 0.05},  {SOLID_SLAB, 0, 0.3, 0.05, 0.2, 0.05},
    {SOLID_TEE, 0, 0.3, 0.05, 0.2, 0.1},   {SOLID_STEAK, 0, 0.3, 0.05, 0.2, 0.1},
    {SOLID_CORE, 0, 0.3, 0.05, 0.2, 0.1},  {SOLID_BAR, 0, 0, 0.05, 0.2, 0.05},
    {SOLID_SLAB, 0, 0, 0.05, 0.2, 0.05},   {SOLID_TEE, 0, 0, 0.05, 0.2, 0.1},
    {SOLID_STEAK, 0, 0, 0.05, 0.2, 0.1},   {SOLID_BAR, 0, 0.45, 0.05, 0.2, 0.05},
    {SOLID_SLAB, 0, 0.45, 0.05, 0.2, 0.1}, {SOLID_TEE, 0, 0.45, 0.1, 0.2, 0.12},
    {SOLID_STEAK, 0, 0.45, 0.1, 0.2, 0.1},
};

enum { CASES = sizeof cases / sizeof *cases, QUICK = 1 };

static sinew_autorig_def define(const spectral_case *c) {
    sinew_autorig_def def = sinew_default_autorig_def();
    def.placement.count = c->frames;
    return def;
}

static sinew_status measure(validate_run *v, const spectral_case *c, solid_response *truth,
                            solid_response *frames) {
    sinew_autorig_def def = define(c);
    SN_TRY(solid_measure_tets(v->context, c->kind, c->poisson, SOLID_FIXED, truth));
    return solid_measure_frames(v->context, c->kind, c->poisson, &def, frames);
}

// The largest error of tip load, weight and pull.
static double worst_of(const solid_response *frames, const solid_response *truth) {
    double worst = 0;
    for (int k = 0; k < SOLID_TWIST; k++) {
        worst = fmax(worst, solid_load_error(frames, truth, (solid_load)k));
    }
    return worst;
}

// Against tets on the same springs, which leaves only what the frames miss, more frames are better.
static sinew_status add_frames(validate_run *v) {
    static const int32_t counts[3] = {3, 6, 8};
    for (int i = 0; i < (v->quick ? QUICK : SOLID_KINDS); i++) {
        solid_response truth, frames;
        double error[3];
        SN_TRY(solid_measure_tets(v->context, (solid_kind)i, 0.3, SOLID_SPRINGS, &truth));
        for (int k = 0; k < 3; k++) {
            spectral_case c = {.kind = (solid_kind)i, .frames = counts[k]};
            sinew_autorig_def def = define(&c);
            SN_TRY(solid_measure_frames(v->context, c.kind, 0.3, &def, &frames));
            error[k] = worst_of(&frames, &truth);
        }

        char claim[160];
        snprintf(claim, sizeof claim, "%s of 6 frames: statics against tets on the same springs",
                 solid_names[i]);
        validate_at_most(v, claim, 0.05, error[1], "-");
        snprintf(claim, sizeof claim, "%s: largest ratio of the errors of 6 to 3 and 8 to 6 frames",
                 solid_names[i]);
        validate_at_most(v, claim, 1, fmax(error[1] / error[0], error[2] / error[1]), "-");
        validate_note(v, "%.1f, %.1f, %.1f %%", 100 * error[0], 100 * error[1], 100 * error[2]);
    }
    return SINEW_OK;
}

sinew_status validate_spectral_statics(validate_run *v) {
    for (int i = 0; i < (v->quick ? QUICK : CASES); i++) {
        const spectral_case *c = &cases[i];
        solid_response truth, frames;
        SN_TRY(measure(v, c, &truth, &frames));

        double error[SOLID_LOADS];
        for (int k = 0; k < SOLID_LOADS; k++) {
            error[k] = solid_load_error(&frames, &truth, (solid_load)k);
        }

        char claim[160];
        snprintf(claim, sizeof claim,
                 "%s of automatic frames, nu = %g: tip load, weight and pull against tets",
                 solid_names[c->kind], c->poisson);
        validate_at_most(v, claim, c->statics, worst_of(&frames, &truth), "-");
        validate_note(v, "%.1f, %.1f, %.1f %%; %d points", 100 * error[SOLID_TIP],
                      100 * error[SOLID_WEIGHT], 100 * error[SOLID_PULL], frames.samples);
        snprintf(claim, sizeof claim, "%s of automatic frames, nu = %g: twist against tets",
                 solid_names[c->kind], c->poisson);
        validate_at_most(v, claim, c->twist, error[SOLID_TWIST], "-");
    }
    return add_frames(v);
}

sinew_status validate_spectral_frequencies(validate_run *v) {
    for (int i = 0; i < (v->quick ? QUICK : CASES); i++) {
        const spectral_case *c = &cases[i];
        solid_response truth, frames;
        char claim[160];
        SN_TRY(measure(v, c, &truth, &frames));
        snprintf(claim, sizeof claim,
                 "%s of automatic frames, nu = %g: worst of six frequencies against tets",
                 solid_names[c->kind], c->poisson);
        validate_at_most(v, claim, c->frequency, solid_frequency_error(&frames, &truth), "-");
    }
    return SINEW_OK;
}

// The error that is expected without knowing the truth, over the true one.
sinew_status validate_expected_error(validate_run *v) {
    static const int32_t frames[2] = {3, 6};
    for (int i = 0; i < (v->quick ? QUICK : SOLID_KINDS); i++) {
        for (int k = 0; k < 2; k++) {
            spectral_case c = {.kind = (solid_kind)i, .frames = frames[k], .poisson = 0.3};
            solid_response truth, measured;
            sinew_autorig_def def = define(&c);
            double expected;
            char claim[160];
            SN_TRY(measure(v, &c, &truth, &measured));
            SN_TRY(solid_estimate_error(v->context, c.kind, c.poisson, &def, &expected));

            double error = solid_frequency_error(&measured, &truth);
            double factor = fmax(expected / error, error / expected);
            snprintf(claim, sizeof claim,
                     "%s of %d spectral frames: factor between expected and true error of "
                     "frequencies",
                     solid_names[c.kind], c.frames);
            validate_at_most(v, claim, 2.5, factor, "-");
            validate_note(v, "expected %.1f %%, true %.1f %%", 100 * expected, 100 * error);
        }
    }
    return SINEW_OK;
}
