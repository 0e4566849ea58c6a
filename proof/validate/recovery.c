// Extreme motion of flesh: ten times the recorded speed, a start turned inside out, ten thousand
// images.
#include "validate/validate.h"

#include "support/puppet.h"

#include <math.h>
#include <string.h>

static const double frame_time = 1.0 / 30;

static sinew_status make(validate_run *v, sn_character_kind kind, int32_t tets, sn_puppet *puppet) {
    sn_character_def character = sn_default_character_def();
    character.kind = kind;
    character.tet_count = tets;
    sinew_pbd_def flesh = sinew_default_pbd_def();
    flesh.gravity[1] = -9.81;
    flesh.gravity[2] = 0;
    return sn_puppet_create(v->context, &character, &flesh, puppet);
}

static sinew_pbd_report measure(const sn_puppet *puppet) {
    sinew_pbd_report report;
    sinew_pbd_measure(puppet->pbd, &report);
    return report;
}

// One second of a jump at ten times its speed, then two seconds held in the rest pose.
static sinew_status throw_about(validate_run *v) {
    sn_puppet puppet;
    SN_TRY(make(v, SN_CHARACTER_LEG, 3452, &puppet));

    sinew_status status = SINEW_OK;
    double worst = 0;
    for (int frame = 0; frame < 90 && status == SINEW_OK; frame++) {
        if (frame == 30) {
            puppet.time = 0;
        }
        status = sn_puppet_step(&puppet, frame_time, frame < 30 ? 10 : 0, SINEW_MOTION_LOOP);
        worst = fmax(worst, measure(&puppet).residual);
    }

    if (status == SINEW_OK) {
        validate_at_most(
            v, "leg thrown about at ten times its speed, then held: residual two seconds later",
            0.02, measure(&puppet).residual, "-");
        validate_note(v, "at most %.3g before the end; %d tets inverted at the end", worst,
                      measure(&puppet).inverted);
    }

    sn_puppet_destroy(&puppet);
    return status;
}

// Mirrors every free node; the bones stay in place.
static sinew_status turn_inside_out(validate_run *v) {
    // The worst start there is: the flesh is mirrored.
    sn_puppet puppet;
    SN_TRY(make(v, SN_CHARACTER_LEG, 3452, &puppet));

    const sinew_mesh *flesh = puppet.character.flesh;
    for (int32_t i = 0; i < flesh->point_count; i++) {
        if (sinew_rig_node_joints(puppet.rig)[i] < 0) {
            puppet.positions[3 * (size_t)i] *= -1;
        }
    }

    sinew_status status = sinew_pbd_set_state(puppet.pbd, puppet.positions, NULL);

    // Count the steps that it takes to recover.
    int32_t inverted = measure(&puppet).inverted;
    int32_t frames = 0;

    while (status == SINEW_OK && frames < 200 &&
           (measure(&puppet).inverted > 0 || measure(&puppet).residual > 0.02)) {
        status = sn_puppet_step(&puppet, frame_time, 0, SINEW_MOTION_HOLD);
        frames++;
    }

    if (status == SINEW_OK) {
        validate_at_most(v,
                         "leg that starts inside out: frames until no tet is inverted and the "
                         "residual below 0.02",
                         30, frames, "frames");
        validate_note(v, "%d of %d tets inverted at the start", inverted, flesh->element_count);
    }

    sn_puppet_destroy(&puppet);
    return status;
}

// Repeats a wave of 61 images and compares the last period with an early one.
static sinew_status wave(validate_run *v) {
    enum { PERIOD = 61, EARLY = 4 };
    int32_t periods = v->quick ? 16 : 164;
    sn_puppet puppet;

    SN_TRY(make(v, SN_CHARACTER_ARM, 500, &puppet));

    // Let it settle into the loop, then keep a state.
    size_t size = 3 * (size_t)puppet.character.flesh->point_count;
    double *early = SN_PUSH(&puppet.arena, double, size);
    double drift = 0;
    sinew_status status = sn_arena_status(&puppet.arena);

    for (int32_t frame = 1; frame <= periods * PERIOD && status == SINEW_OK; frame++) {
        status = sn_puppet_step(&puppet, frame_time, 1, SINEW_MOTION_LOOP);
        if (frame == EARLY * PERIOD) {
            memcpy(early, puppet.positions, size * sizeof *early);
        }
    }

    if (status == SINEW_OK) {
        // The same phase, many periods later.
        for (size_t i = 0; i < size; i++) {
            drift = fmax(drift, fabs(puppet.positions[i] - early[i]));
        }

        validate_at_most(v,
                         "waving arm: drift over ten thousand frames of a loop (a tenth of them in "
                         "the quick form)",
                         1e-4, drift, "m");
        validate_note(v, "%d frames", periods * PERIOD);
    }

    sn_puppet_destroy(&puppet);
    return status;
}

sinew_status validate_recovery(validate_run *v) {
    SN_TRY(throw_about(v));
    SN_TRY(turn_inside_out(v));
    return wave(v);
}
