// The core of the studio, natively: what the page relies on.
#include "support/test.h"

#include "studio.h"

#include <math.h>
#include <string.h>

static const char bar[] =
    "{ \"version\": 1, \"step\": 0.01,"
    "  \"materials\": { \"gel\": { \"law\": \"corotational\", \"young\": 1e5, \"poisson\": 0.3, "
    "\"density\": 1000 } },"
    "  \"bodies\": [{ \"name\": \"bar\", \"material\": \"gel\","
    "    \"shape\": { \"kind\": \"box\", \"size\": [1, 0.25, 0.25], \"cells\": [8, 2, 2] },"
    "    \"damping\": { \"mass\": 2, \"stiffness\": 0.02 },"
    "    \"fixed\": [{ \"box\": { \"upper\": [-0.49, 1, 1] } }] }] }";

static studio *load_bar(const char *settings) {
    studio *s = studio_create(1);
    assert_non_null(s);
    assert_int_equal(studio_add_file(s, "bar.json", bar, sizeof bar - 1), SINEW_OK);
    assert_int_equal(studio_load(s, "bar.json", settings, 0), SINEW_OK);
    return s;
}

static void run(studio *s, int steps) {
    for (int i = 0; i < steps; i++) {
        assert_int_equal(studio_step(s), SINEW_OK);
    }
}

// The mean height of all vertices of a body.
static double mean_height(studio *s, int32_t body) {
    assert_int_equal(studio_update(s, STUDIO_COLOR_BODY), SINEW_OK);
    int32_t first = 0;
    for (int32_t i = 0; i < body; i++) {
        first += studio_get_body_vertex_count(s, i);
    }

    int32_t count = studio_get_body_vertex_count(s, body);
    double sum = 0;
    for (int32_t i = first; i < first + count; i++) {
        sum += studio_get_positions(s)[3 * i + 2];
    }
    return sum / count;
}

static void keep_hash(studio *s, char hash[17]) {
    const char *found = strstr(studio_report(s), "\"hash\"");
    assert_non_null(found);
    const char *digits = strchr(found + 6, '"') + 1;
    memcpy(hash, digits, 16);
    hash[16] = 0;
}

static void hand_pulls_and_lets_go(void **state) {
    (void)state;
    studio *s = load_bar("gravity=[0,0,0]");
    double rest = mean_height(s, 0);

    // Beside the bar there is nothing to hold.
    assert_int_equal(studio_grab(s, 0.4, 5, 5, 0, 0, -1, 0), -1);
    assert_int_equal(studio_grab(s, 0.4, 0.01, 5, 0, 0, -1, 0), 0);
    assert_int_equal(studio_drag(s, 0.4, 0.01, 0.4), SINEW_OK);
    run(s, 60);
    double pulled = mean_height(s, 0);
    assert_true(pulled > rest + 0.02);

    // The force is the stiffness times the distance.
    const double *hand = studio_get_hand(s);
    assert_true(hand[8] > 0 && hand[9] > 0);
    assert_true(fabs(hand[8] - hand[9] * (hand[5] - hand[2])) <= 1e-9 * hand[8]);

    studio_release(s);
    run(s, 400);
    assert_true(fabs(mean_height(s, 0) - rest) < 0.02 * (pulled - rest));
    studio_destroy(s);
}

// However stiff the spring is, the step stays stable, and the point follows.
static void hand_is_stable_at_any_stiffness(void **state) {
    (void)state;
    const double stiffnesses[] = {1e-3, 1, 1e3, 1e6, 1e9};
    for (size_t i = 0; i < sizeof stiffnesses / sizeof *stiffnesses; i++) {
        studio *s = load_bar("");
        assert_int_equal(studio_grab(s, 0.4, 0.01, 5, 0, 0, -1, stiffnesses[i]), 0);
        for (int k = 0; k < 40; k++) {
            assert_int_equal(studio_drag(s, 0.4, 0.01, 0.125 + 0.1 * sin(0.5 * k)), SINEW_OK);
            run(s, 1);
        }

        const double *hand = studio_get_hand(s);
        assert_true(isfinite(hand[6]) && isfinite(hand[8]));
        if (stiffnesses[i] >= 1e9) { // some kN of inertia move it by micrometres
            assert_true(fabs(hand[2] - hand[5]) < 1e-3);
        }
        studio_destroy(s);
    }
}

static void snapshots_bring_back_the_same_bits(void **state) {
    (void)state;
    static unsigned char bytes[1 << 20];
    studio *s = load_bar("");
    char first[17], second[17];
    run(s, 10);
    size_t size = studio_get_snapshot_size(s);
    assert_true(size <= sizeof bytes);
    assert_int_equal(studio_take_snapshot(s, bytes), SINEW_OK);
    run(s, 10);
    keep_hash(s, first);

    // Pulled and let go in between.
    assert_int_equal(studio_grab(s, 0.4, 0.01, 5, 0, 0, -1, 0), 0);
    assert_int_equal(studio_drag(s, 0.4, 0.3, 0.4), SINEW_OK);
    run(s, 5);
    studio_release(s);
    assert_int_equal(studio_restore_snapshot(s, bytes, size), SINEW_OK);
    run(s, 10);
    keep_hash(s, second);
    assert_string_equal(first, second);

    bytes[size / 2] ^= 1;
    assert_int_not_equal(studio_restore_snapshot(s, bytes, size), SINEW_OK);
    assert_true(strlen(studio_get_message(s)) > 0);
    studio_destroy(s);
}

// A cube dropped onto a floor below the bar comes to rest with its lower side on it.
static void dropped_cube_rests(void **state) {
    (void)state;
    studio *s = load_bar("");
    assert_int_equal(studio_set_floor(s, 1, -1), SINEW_OK);
    assert_int_equal(studio_add_solid(s, "cube", 0.2, 0.2, 1, -0.7), SINEW_OK);
    assert_int_equal(studio_get_body_count(s), 2);
    run(s, 150);
    double height = mean_height(s, 1);
    assert_true(height > -0.92 && height < -0.88);
    run(s, 20);
    assert_true(fabs(mean_height(s, 1) - height) < 2e-3);

    assert_int_equal(studio_remove_solid(s), SINEW_OK);
    assert_int_equal(studio_get_body_count(s), 1);
    assert_int_not_equal(studio_remove_solid(s), SINEW_OK);
    assert_int_equal(studio_set_floor(s, 0, 0), SINEW_OK);
    run(s, 2);
    studio_destroy(s);
}

static void materials_change_while_it_runs(void **state) {
    (void)state;
    studio *s = load_bar("");
    run(s, 300);
    double soft = mean_height(s, 0);
    assert_int_equal(studio_set_material(s, 0, 0, "young", 1e7, ""), SINEW_OK);
    run(s, 300);
    assert_true(mean_height(s, 0) > soft + 0.05);
    assert_non_null(strstr(studio_describe(s), "\"young\":10000000"));

    // What is not possible leaves everything as it was.
    assert_int_not_equal(studio_set_material(s, 0, 0, "poisson", 0.7, ""), SINEW_OK);
    assert_int_not_equal(studio_set_material(s, 0, 3, "young", 1e5, ""), SINEW_OK);
    assert_int_not_equal(studio_set_integrator(s, "magic"), SINEW_OK);
    assert_int_not_equal(studio_set_step(s, -1), SINEW_OK);
    assert_int_equal(studio_set_integrator(s, "bdf2"), SINEW_OK);
    assert_int_equal(studio_set_gravity(s, 9.81, 0, 0), SINEW_OK);
    run(s, 5);
    studio_destroy(s);
}

static void bad_scenes_are_explained(void **state) {
    (void)state;
    static const char broken[] = "{ \"version\": 1, \"bodies\": [{ \"shape\": 3 }] }";
    static const char incomplete[] =
        "{ \"version\": 1, \"bodies\": [{ \"shape\": { \"file\": \"mesh.obj\" } }] }";
    studio *s = load_bar("");
    run(s, 1);

    assert_int_equal(studio_add_file(s, "broken.json", broken, sizeof broken - 1), SINEW_OK);
    assert_int_not_equal(studio_load(s, "broken.json", "", 0), SINEW_OK);
    assert_non_null(strstr(studio_get_message(s), "shape"));
    assert_string_equal(studio_get_missing_file(s), "");

    assert_int_equal(studio_add_file(s, "incomplete.json", incomplete, sizeof incomplete - 1),
                     SINEW_OK);
    assert_int_not_equal(studio_load(s, "incomplete.json", "", 0), SINEW_OK);
    assert_string_equal(studio_get_missing_file(s), "mesh.obj");

    // The scene before stays.
    run(s, 1);
    assert_int_equal(studio_get_body_count(s), 1);
    studio_destroy(s);
}

// The lowest and highest x of all vertices.
static void find_range(studio *s, double range[2]) {
    assert_int_equal(studio_update(s, STUDIO_COLOR_BODY), SINEW_OK);
    range[0] = INFINITY;
    range[1] = -INFINITY;
    for (int32_t i = 0; i < studio_get_vertex_count(s); i++) {
        range[0] = fmin(range[0], studio_get_positions(s)[3 * i]);
        range[1] = fmax(range[1], studio_get_positions(s)[3 * i]);
    }
}

// From elements to frames and back: the bent bar stays where it is. Ten affine frames follow a
// cantilever that sags by a third of its length to about a twentieth of that.
static void models_change_while_it_moves(void **state) {
    (void)state;
    studio *s = load_bar("");
    run(s, 60);
    double sagged = mean_height(s, 0);
    assert_true(sagged < -0.05);

    assert_int_equal(studio_load(s, "bar.json",
                                 "bodies[0].model=frames\n"
                                 "bodies[0].frames={\"count\":10,\"kind\":\"affine\"}",
                                 1),
                     SINEW_OK);
    assert_true(fabs(mean_height(s, 0) - sagged) < 0.05 * fabs(sagged));
    run(s, 5);

    assert_int_equal(studio_load(s, "bar.json", "", 1), SINEW_OK);
    double before = mean_height(s, 0);
    assert_true(before < 0.5 * sagged);
    run(s, 5);
    studio_destroy(s);
}

// Curves guide the grain of a stretched cube, whose strain follows it while it runs.
static void grain_changes_while_it_runs(void **state) {
    (void)state;
    studio *s = load_bar("materials.gel={\"law\":\"transverse\"}\n"
                         "bodies[0].field={\"rotation\":{\"axis\":[0,1,0],\"degrees\":90}}");
    run(s, 40);
    double along = mean_height(s, 0);

    // The fibres turn from along the bar to across it, and it sags further.
    static const double across[] = {0, -0.1, 0, 0, 0.1, 0}, normal[3] = {0};
    assert_int_equal(studio_begin_field(s, 0, 1), SINEW_OK);
    assert_int_equal(studio_add_curve(s, 0, across, 2, normal, 0), SINEW_OK);
    assert_int_equal(studio_make_field(s), SINEW_OK);
    run(s, 60);
    double sagged = mean_height(s, 0);
    assert_true(sagged < 2 * along);

    // Moved back along the bar, they lift it again.
    static const double back[] = {-0.4, 0, 0, 0.4, 0, 0};
    assert_int_equal(studio_move_curve(s, 0, back, 2), SINEW_OK);
    assert_int_equal(studio_turn_curve(s, 0, 0.3), SINEW_OK);
    run(s, 100);
    assert_true(mean_height(s, 0) > 0.6 * sagged);

    // Segments to draw, two points each.
    studio_show_fields(s, 1);
    int32_t count = studio_compute_points(s, STUDIO_POINTS_FIELD);
    assert_true(count > 0 && count % 2 == 0);
    assert_int_equal(studio_get_point_tags(s, STUDIO_POINTS_FIELD)[0], 2);
    studio_destroy(s);
}

static void frames_join_weights_show_and_skins_are_written(void **state) {
    (void)state;
    studio *s = load_bar("bodies[0].model=frames\n"
                         "bodies[0].frames={\"count\":4,\"kind\":\"affine\"}");
    run(s, 3);

    // One more frame, and back.
    assert_int_equal(studio_compute_frames(s), 4);
    assert_int_equal(studio_insert_frame(s, 0, 0.3, 0, 0.05, 0.2), SINEW_OK);
    assert_int_equal(studio_compute_frames(s), 5);
    run(s, 20);
    assert_int_equal(studio_remove_frame(s, 0), SINEW_OK);
    run(s, 20);
    assert_int_equal(studio_compute_frames(s), 4);

    // Both ends belong to different frames.
    assert_int_equal(studio_update(s, STUDIO_COLOR_WEIGHTS), SINEW_OK);
    const float *tints = studio_get_tints(s), *positions = studio_get_positions(s);
    int32_t first = 0, last = 0;
    for (int32_t i = 0; i < studio_get_vertex_count(s); i++) {
        first = positions[3 * i] < positions[3 * first] ? i : first;
        last = positions[3 * i] > positions[3 * last] ? i : last;
    }
    assert_true(memcmp(tints + 3 * first, tints + 3 * last, 3 * sizeof *tints) != 0);

    // A skin: binary glTF.
    assert_int_equal(studio_begin_export(s, "skin"), SINEW_OK);
    assert_int_equal(studio_add_to_export(s), SINEW_OK);
    run(s, 1);
    assert_int_equal(studio_add_to_export(s), SINEW_OK);
    assert_int_equal(studio_finish_export(s), SINEW_OK);
    assert_int_equal(studio_get_export_count(s), 1);
    assert_string_equal(studio_get_export_name(s, 0), "bar_skin.glb");
    size_t size = 0;
    assert_memory_equal(studio_get_export_data(s, 0, &size), "glTF", 4);
    assert_true(size > 1000);
    studio_destroy(s);
}

// A point of one bar is held by its rest position, as the copies in a comparison are.
static void points_are_held_by_their_rest_position(void **state) {
    (void)state;
    studio *s = load_bar("gravity=[0,0,0]");
    double before[2], after[2];
    find_range(s, before);

    int32_t body = -1;
    const double *picked = studio_pick(s, 0.3, 0.01, 5, 0, 0, -1, &body);
    assert_non_null(picked);
    assert_int_equal(body, 0);
    assert_true(fabs(picked[0] - 0.3) < 1e-9 && fabs(picked[5] - 1) < 1e-9);
    assert_null(studio_pick(s, 5, 5, 5, 0, 0, -1, &body));

    assert_int_equal(studio_grab_at(s, 0, 0.5, 0, 0, 1e4), 0);
    assert_int_equal(studio_drag(s, 0.7, 0, 0), SINEW_OK);
    run(s, 20);
    find_range(s, after);
    assert_true(after[1] > before[1] + 0.02);
    studio_destroy(s);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(hand_pulls_and_lets_go),
        cmocka_unit_test(hand_is_stable_at_any_stiffness),
        cmocka_unit_test(snapshots_bring_back_the_same_bits),
        cmocka_unit_test(dropped_cube_rests),
        cmocka_unit_test(materials_change_while_it_runs),
        cmocka_unit_test(bad_scenes_are_explained),
        cmocka_unit_test(models_change_while_it_moves),
        cmocka_unit_test(grain_changes_while_it_runs),
        cmocka_unit_test(frames_join_weights_show_and_skins_are_written),
        cmocka_unit_test(points_are_held_by_their_rest_position),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
