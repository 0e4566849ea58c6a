// Characters in motion: all kinds can be created and moved; ten times the recorded speed; ten
// thousand images; fully inverted initial states.
#include "support/hash.h"
#include "support/test.h"

#include "support/puppet.h"

#include <stdlib.h>

static sn_character_def character_of(sn_character_kind kind, int32_t tets) {
    sn_character_def def = sn_default_character_def();
    def.kind = kind;
    def.tet_count = tets;
    return def;
}

static sn_puppet make(sinew_context *context, sn_character_kind kind, int32_t tets,
                      const sinew_pbd_def *flesh) {
    sn_character_def def = character_of(kind, tets);
    sinew_pbd_def standard = sinew_default_pbd_def();
    standard.gravity[1] = -9.81;
    standard.gravity[2] = 0;
    sn_puppet puppet;
    if (sn_puppet_create(context, &def, flesh ? flesh : &standard, &puppet) != SINEW_OK) {
        fail_msg("%s", sinew_context_message(context));
    }

    return puppet;
}

static sinew_pbd_report measure(sn_puppet *puppet) {
    sinew_pbd_report report;
    sinew_pbd_measure(puppet->pbd, &report);
    return report;
}

static void test_all_kinds(void **state) {
    (void)state;
    sinew_context *context = test_context(1);
    for (int kind = SN_CHARACTER_BENDING; kind <= SN_CHARACTER_FAT; kind++) {
        sn_puppet puppet = make(context, (sn_character_kind)kind,
                                kind == SN_CHARACTER_FAT     ? 9000
                                : kind == SN_CHARACTER_BIPED ? 6000
                                                             : 1500,
                                NULL);
        sinew_quality quality;

        assert_int_equal(sinew_mesh_compute_quality(context, puppet.character.flesh, &quality),
                         SINEW_OK);
        print_message("kind %d: %d tets, mean ratio %.2f, %d bound, %d shared, %d idle bones\n",
                      kind, puppet.character.flesh->element_count, quality.mean_ratio,
                      puppet.rig_report.bound_elements, puppet.rig_report.shared_elements,
                      puppet.rig_report.idle_bones);
        assert_int_equal(puppet.rig_report.idle_bones, 0);
        assert_int_equal(quality.component_count, 1);
        assert_true(puppet.rig_report.bound_elements > 20);

        // The motion starts from rest, so the first step hardly strains anything.
        double rest = measure(&puppet).volume;
        for (int frame = 0; frame < (TEST_SANITIZED ? 3 : 24); frame++) {
            assert_int_equal(sn_puppet_step(&puppet, 1.0 / 30, 1, SINEW_MOTION_HOLD), SINEW_OK);
            if (frame == 0) {
                assert_true(measure(&puppet).residual < 0.05);
            }
        }

        sinew_pbd_report report = measure(&puppet);
        assert_true(report.residual > 1e-5 && report.residual < 0.6);
        test_close("volume", report.volume / rest, 1, 0.15);
        sn_puppet_destroy(&puppet);
    }

    sn_character_def bad = character_of((sn_character_kind)17, 3000);
    sn_character character;

    assert_int_equal(sn_character_create(context, &bad, &character), SINEW_INVALID_ARGUMENT);
    bad = character_of(SN_CHARACTER_LEG, 5);
    assert_int_equal(sn_character_create(context, &bad, &character), SINEW_INVALID_ARGUMENT);
    bad = character_of(SN_CHARACTER_LEG, 3000);
    bad.frame_time = 0;
    assert_int_equal(sn_character_create(context, &bad, &character), SINEW_INVALID_ARGUMENT);
    sinew_context_destroy(context);
}

// Moved at ten times the recorded speed, then held: always finite, and back in shape two seconds
// later.
static void test_fast_motion(void **state) {
    (void)state;
    sinew_context *context = test_context(1);
    for (int kind = SN_CHARACTER_LEG; kind <= SN_CHARACTER_BIPED; kind++) {
        sn_puppet puppet =
            make(context, (sn_character_kind)kind, TEST_SANITIZED ? 1000 : 2000, NULL);
        double worst = 0;

        for (int frame = 0; frame < 30; frame++) {
            assert_int_equal(sn_puppet_step(&puppet, 1.0 / 30, 10, SINEW_MOTION_LOOP), SINEW_OK);
            worst = fmax(worst, measure(&puppet).residual);
        }

        // Back to the rest pose at once, and held there.
        puppet.time = 0;
        for (int frame = 0; frame < 60; frame++) {
            assert_int_equal(sn_puppet_step(&puppet, 1.0 / 30, 0, SINEW_MOTION_HOLD), SINEW_OK);
        }

        sinew_pbd_report report = measure(&puppet);
        print_message("kind %d: residual at most %.3g while thrown, %.3g afterwards, %d inverted\n",
                      kind, worst, report.residual, report.inverted);
        assert_true(worst > 0.1);
        assert_true(report.residual < 0.02);
        assert_int_equal(report.inverted, 0);
        sn_puppet_destroy(&puppet);
    }

    sinew_context_destroy(context);
}

// The flesh of a leg turned inside out by mirroring every free node, while its bones stay.
static void test_inverted_start(void **state) {
    (void)state;
    sinew_context *context = test_context(1);
    sn_puppet puppet = make(context, SN_CHARACTER_LEG, TEST_SANITIZED ? 1000 : 3000, NULL);
    const sinew_mesh *flesh = puppet.character.flesh;

    for (int32_t i = 0; i < flesh->point_count; i++) {
        if (sinew_rig_node_joints(puppet.rig)[i] < 0) {
            puppet.positions[3 * i] *= -1;
        }
    }

    assert_int_equal(sinew_pbd_set_state(puppet.pbd, puppet.positions, NULL), SINEW_OK);
    int32_t inverted = measure(&puppet).inverted;

    assert_true(inverted > 0.8 * flesh->element_count);
    int frames = 0;
    while (frames < 200 &&
           (frames == 0 || measure(&puppet).inverted > 0 || measure(&puppet).residual > 0.02)) {
        assert_int_equal(sn_puppet_step(&puppet, 1.0 / 30, 0, SINEW_MOTION_HOLD), SINEW_OK);
        frames++;
    }

    print_message("%d of %d tets inverted; upright after %d frames\n", inverted,
                  flesh->element_count, frames);
    assert_true(frames < 200);
    sn_puppet_destroy(&puppet);
    sinew_context_destroy(context);
}

// Ten thousand images of a wave that repeats every second: the last period equals an early one. The
// arm starts from rest in its first half second, so periods are compared from the second one on,
// modulo the motion's loop.
static void test_ten_thousand_frames(void **state) {
    (void)state;
    sinew_context *context = test_context(1);
    sn_puppet puppet = make(context, SN_CHARACTER_ARM, 250, NULL);

    // The motion has 61 images; it is looped with its own period of 61 / 30 s.
    size_t size = 3 * (size_t)puppet.character.flesh->point_count;
    double *early = malloc(size * sizeof *early);

    enum { FRAMES = TEST_SANITIZED ? 300 : 10000, PERIODS = TEST_SANITIZED ? 3 : 160 };
    for (int frame = 1; frame <= FRAMES; frame++) {
        assert_int_equal(sn_puppet_step(&puppet, 1.0 / 30, 1, SINEW_MOTION_LOOP), SINEW_OK);
        if (frame == FRAMES - 61 * PERIODS) {
            memcpy(early, puppet.positions, size * sizeof *early);
        }
    }

    double drift = 0;
    for (size_t i = 0; i < size; i++) {
        drift = fmax(drift, fabs(puppet.positions[i] - early[i]));
    }

    print_message("%d tets: %g m away from where they were 160 periods before\n",
                  puppet.character.flesh->element_count, drift);
    assert_true(drift < 1e-4);
    free(early);
    sn_puppet_destroy(&puppet);
    sinew_context_destroy(context);
}

static uint64_t simulate(sinew_context *context, void *user) {
    (void)user;
    sn_puppet puppet = make(context, SN_CHARACTER_LEG, TEST_SANITIZED ? 2500 : 5000, NULL);
    uint64_t hash = TEST_HASH_START;

    for (int frame = 0; frame < 6; frame++) {
        assert_int_equal(sn_puppet_step(&puppet, 1.0 / 30, 3, SINEW_MOTION_LOOP), SINEW_OK);
        hash = test_hash(hash, puppet.positions,
                         3 * (size_t)puppet.character.flesh->point_count * sizeof(double));
    }

    sn_puppet_destroy(&puppet);
    return hash;
}

static void test_threads(void **state) {
    (void)state;
    test_over_threads("a jumping leg", simulate, NULL);
}

int main(void) {
    if (TEST_WATCHES_THREADS) {
        cmocka_set_test_filter("test_threads*");
    }

    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_all_kinds),      cmocka_unit_test(test_fast_motion),
        cmocka_unit_test(test_inverted_start), cmocka_unit_test(test_ten_thousand_frames),
        cmocka_unit_test(test_threads),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
