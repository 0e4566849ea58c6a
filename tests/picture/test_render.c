// Pictures: what is nearer hides what is behind, colours are where they should be, shadows fall,
// the same picture for any number of threads and any scale of the scene, and no input that can be
// thought of breaks anything.
#include "support/test.h"

#include "picture/project.h"
#include "picture/shapes.h"

#include <stdlib.h>

enum { WIDTH = 160, HEIGHT = 120 };

static uint8_t shots[4][WIDTH * HEIGHT * 3];

static sn_image target(int which) {
    return (sn_image){
        .width = WIDTH, .height = HEIGHT, .stride = WIDTH * 3, .pixels = shots[which]};
}

static void render(sinew_context *context, const sn_picture_scene *scene, int which) {
    sinew_status status = sn_picture_render(context, scene, target(which));
    if (status != SINEW_OK) {
        fail_msg("%s", sinew_context_message(context));
    }
}

// The pixel where a point of the scene appears.
static const uint8_t *pixel_of(const sn_camera *camera, sn_vec3 point, int which) {
    double x, y;
    assert_true(project(camera, WIDTH, HEIGHT, point, &x, &y));
    return sn_image_at(target(which), (int32_t)x, (int32_t)y);
}

static sphere ball, other_ball;

static void test_nearer_hides_farther(void **state) {
    (void)state;
    sinew_context *context = test_context(1);
    sn_camera camera = front_camera(10, 4);
    card red, green;

    make_card(&red, sn_v3(0, 1, 0), sn_v3(1.2, 0, 0), sn_v3(0, 0, 1.2));
    make_card(&green, sn_v3(0.6, -1, 0), sn_v3(0.9, 0, 0), sn_v3(0, 0, 0.6));
    for (int order = 0; order < 2; order++) {
        sn_picture_mesh meshes[2] = {card_mesh(order ? &red : &green),
                                     card_mesh(order ? &green : &red)};

        meshes[order ? 0 : 1].color = sn_color_hex(0xc02020);
        meshes[order ? 1 : 0].color = sn_color_hex(0x20a020);

        sn_picture_scene scene = sn_picture_scene_default(&camera);
        scene.meshes = meshes;
        scene.mesh_count = 2;
        render(context, &scene, 0);

        const uint8_t *front = pixel_of(&camera, sn_v3(0.6, -1, 0), 0);
        const uint8_t *behind = pixel_of(&camera, sn_v3(-0.8, 1, 0), 0);

        assert_true(front[1] > 2 * front[0] && behind[0] > 2 * behind[1]);
    }

    sinew_context_destroy(context);
}

static void test_values_take_the_maps_colors(void **state) {
    (void)state;
    sinew_context *context = test_context(1);
    sn_camera camera = front_camera(10, 4);
    card sheet;

    make_card(&sheet, sn_v3(0, 0, 0), sn_v3(2, 0, 0), sn_v3(0, 0, 1.2));
    double values[4] = {-5, 15, 15, -5}; // along x, as x * 5 + 5
    sn_colormap map;

    sn_colormap_init(&map, SN_COLORMAP_LAGOON);
    sn_picture_mesh mesh = card_mesh(&sheet);

    mesh.values = values;
    mesh.map = &map;
    mesh.low = 0;
    mesh.high = 10;
    mesh.gloss = 0;

    sn_picture_scene scene = sn_picture_scene_default(&camera);
    scene.meshes = &mesh;
    scene.mesh_count = 1;
    render(context, &scene, 0);

    // The light multiplies all colours alike: hues agree with the map's.
    for (int k = 1; k < 8; k++) {
        double x = -1 + 0.25 * k;
        const uint8_t *pixel = pixel_of(&camera, sn_v3(x, 0, 0), 0);
        sn_color expected = sn_colormap_at(&map, (x * 5 + 5) / 10);
        double rgb[3];
        double sum = 0;
        double expected_sum = expected.r + expected.g + expected.b;

        for (int c = 0; c < 3; c++) {
            sum += rgb[c] = sn_srgb_decode(pixel[c] / 255.0);
        }

        test_close("share of red", rgb[0] / sum, expected.r / expected_sum,
                   0.03); // the lights are a little coloured
        test_close("share of green", rgb[1] / sum, expected.g / expected_sum, 0.03);
    }

    sinew_context_destroy(context);
}

// A scene with everything: meshes, glass, wire, values, glyphs of all kinds, ground, grid.
typedef struct rich_scene {
    double values[SPHERE_TRIANGLES], points[12], vectors[36];
    sn_colormap map;
    sn_picture_mesh meshes[3];
    sn_picture_glyphs glyphs[4];
    sn_picture_scene scene;
} rich_scene;

static void make_rich_scene(rich_scene *rich, double scale) {
    make_sphere(&ball, sn_v3(0, 0, 0), scale);
    make_sphere(&other_ball, sn_v3(1.5 * scale, 0.3 * scale, -0.2 * scale), 0.8 * scale);

    sn_camera_fit fit =
        sn_camera_fit_begin(sn_v3(0, 0, 1), -1.2, 0.35, 0.6, (double)WIDTH / HEIGHT, 0.08);

    sn_camera_fit_add(&fit, ball.positions, SPHERE_VERTICES);
    sn_camera_fit_add(&fit, other_ball.positions, SPHERE_VERTICES);

    sn_camera camera = sn_camera_fit_end(&fit);
    rich->scene = sn_picture_scene_default(&camera);
    sn_colormap_init(&rich->map, SN_COLORMAP_EMBER);

    for (int i = 0; i < SPHERE_TRIANGLES; i++) {
        rich->values[i] = i % 7;
    }

    for (int i = 0; i < 12; i++) {
        rich->points[i] = scale * (0.3 * (i % 5) - 0.6);
    }

    for (int i = 0; i < 36; i++) {
        rich->vectors[i] = scale * (i % 9 % 4 == 0 ? 0.8 : 0.1);
    }

    rich->meshes[0] = sphere_mesh(&ball);
    rich->meshes[0].values = rich->values;
    rich->meshes[0].values_per_triangle = true;
    rich->meshes[0].map = &rich->map;
    rich->meshes[0].high = 6;
    rich->meshes[0].closed = true;
    rich->meshes[1] = sphere_mesh(&other_ball);
    rich->meshes[1].opacity = 0.4;
    rich->meshes[2] = sphere_mesh(&other_ball);
    rich->meshes[2].wire = 0.5;

    for (int kind = 0; kind < 4; kind++) {
        rich->glyphs[kind] = sn_picture_glyphs_default((sn_glyph_kind)kind);
        rich->glyphs[kind].points = rich->points;
        rich->glyphs[kind].count = 4;
        rich->glyphs[kind].vectors = rich->vectors;
    }

    rich->glyphs[SN_GLYPH_LINES].shadows = true;
    rich->scene.meshes = rich->meshes;
    rich->scene.mesh_count = 3;
    rich->scene.glyphs = rich->glyphs;
    rich->scene.glyph_count = 4;
    rich->scene.backdrop.ground = true;
    rich->scene.backdrop.ground_height = -scale;
    rich->scene.backdrop.grid_spacing = 0.5 * scale;
}

static void test_any_number_of_threads(void **state) {
    (void)state;
    rich_scene rich;

    make_rich_scene(&rich, 1);
    for (int k = 0; k < 3; k++) {
        sinew_context *context = test_context(1 << k);
        int64_t in_use = context->bytes_in_use;
        render(context, &rich.scene, k);
        assert_int_equal(context->bytes_in_use, in_use);
        assert_memory_equal(shots[k], shots[0], sizeof shots[0]);
        sinew_context_destroy(context);
    }
}

static void test_any_scale(void **state) {
    (void)state;
    sinew_context *context = test_context(1);
    const double scales[3] = {1, 1024, 1.0 / (1 << 30)}; // powers of two: the same to the last bit

    for (int k = 0; k < 3; k++) {
        rich_scene rich;
        make_rich_scene(&rich, scales[k]);
        render(context, &rich.scene, k);
        int differ = 0;

        for (size_t i = 0; i < sizeof shots[0]; i++) {
            differ += abs(shots[k][i] - shots[0][i]) > 2;
        }

        assert_true(differ == 0);
    }

    sinew_context_destroy(context);
}

static void test_a_view_stays_inside(void **state) {
    (void)state;
    sinew_context *context = test_context(1);
    rich_scene rich;

    make_rich_scene(&rich, 1);
    memset(shots[0], 77, sizeof shots[0]);

    sn_image whole = target(0);
    sn_image view = sn_image_view(whole, 13, 7, 101, 67);

    assert_int_equal(sn_picture_render(context, &rich.scene, view), SINEW_OK);
    for (int y = 0; y < HEIGHT; y++) {
        for (int x = 0; x < WIDTH; x++) {
            bool inside = x >= 13 && x < 114 && y >= 7 && y < 74;
            const uint8_t *pixel = sn_image_at(whole, x, y);
            if (!inside) {
                assert_true(pixel[0] == 77 && pixel[1] == 77 && pixel[2] == 77);
            }
        }
    }

    sinew_context_destroy(context);
}

static void test_shadows_fall(void **state) {
    (void)state;
    sinew_context *context = test_context(1);

    make_sphere(&ball, sn_v3(0, 0, 1), 1);
    sn_camera camera = {.eye = {0, -8, 6}, .target = {0, 0, 0.5}, .up = {0, 0, 1}, .field = 0.7};
    sn_picture_mesh mesh = sphere_mesh(&ball);
    sn_picture_scene scene = sn_picture_scene_default(&camera);

    scene.meshes = &mesh;
    scene.mesh_count = 1;
    scene.lights.key =
        sn_v3(-1, 0, 1); // from the left: the shadow lies to the right, centred at x = 1
    scene.backdrop.ground = true;
    scene.backdrop.top = scene.backdrop.bottom;

    for (int directions = 0; directions <= 24; directions += 24) {
        scene.lights.sky_directions = directions;
        render(context, &scene, 0);

        int lit = pixel_of(&camera, sn_v3(-2.2, 0, 0), 0)[1];
        int shadow = pixel_of(&camera, sn_v3(1.6, 0, 0), 0)[1];

        assert_true(shadow < lit - 40);

        // The edge is soft: on the way out of the shadow there are values between.
        int between = 0;
        for (int k = 0; k < 100; k++) {
            int value = pixel_of(&camera, sn_v3(1.6 + 0.012 * k, 0, 0), 0)[1];
            between += value > shadow + 10 && value < lit - 10;
        }

        assert_true(between > 5);
    }

    mesh.no_shadow = true;
    render(context, &scene, 1);
    assert_true(pixel_of(&camera, sn_v3(1.6, 0, 0), 1)[1] >
                pixel_of(&camera, sn_v3(1.6, 0, 0), 0)[1] + 40);
    sinew_context_destroy(context);
}

static void test_glass_shows_what_is_behind(void **state) {
    (void)state;
    sinew_context *context = test_context(1);
    sn_camera camera = front_camera(10, 4);
    card red, glass;

    make_card(&red, sn_v3(0, 1, 0), sn_v3(1, 0, 0), sn_v3(0, 0, 1));
    make_card(&glass, sn_v3(0, -1, 0), sn_v3(1, 0, 0), sn_v3(0, 0, 1));

    sn_picture_mesh meshes[2] = {card_mesh(&red), card_mesh(&glass)};
    meshes[0].color = sn_color_hex(0xc02020);
    meshes[1].color = sn_color_hex(0x2020c0);

    sn_picture_scene scene = sn_picture_scene_default(&camera);
    scene.meshes = meshes;
    scene.mesh_count = 2;

    int blue[3], red_part[3];
    for (int k = 0; k < 3; k++) {
        meshes[1].opacity = 0.5 * k;
        render(context, &scene, 0);
        const uint8_t *pixel = pixel_of(&camera, sn_v3(0, 0, 0), 0);
        blue[k] = pixel[2];
        red_part[k] = pixel[0];
    }

    assert_true(blue[0] < blue[1] && blue[1] < blue[2]);
    assert_true(red_part[0] > red_part[1] && red_part[1] > red_part[2]);
    sinew_context_destroy(context);
}

static void test_frames_shine_through(void **state) {
    (void)state;
    sinew_context *context = test_context(1);
    sn_camera camera = {.eye = {6, -8, 5}, .target = {0, 0, 0}, .up = {0, 0, 1}, .field = 0.6};

    make_sphere(&ball, sn_v3(0, 0, 0), 0.9);
    sn_picture_mesh mesh = sphere_mesh(&ball);

    mesh.color = sn_color_hex(0x808080);
    double origin[3] = {0, 0, 0};
    double axes[9] = {1.8, 0, 0, 0, -1.8, 0, 0, 0, 1.8}; // y towards the camera
    sn_picture_glyphs frame = sn_picture_glyphs_default(SN_GLYPH_FRAMES);

    frame.points = origin;
    frame.vectors = axes;
    frame.count = 1;
    frame.width = 6;

    sn_picture_scene scene = sn_picture_scene_default(&camera);
    scene.meshes = &mesh;
    scene.mesh_count = 1;
    scene.glyphs = &frame;
    scene.glyph_count = 1;
    render(context, &scene, 0);

    const sn_vec3 outside[3] = {{1.3, 0, 0}, {0, -1.3, 0}, {0, 0, 1.3}};
    const sn_vec3 inside[3] = {{0.5, 0, 0}, {0, -0.5, 0}, {0, 0, 0.5}};
    for (int axis = 0; axis < 3; axis++) {
        const uint8_t *out = pixel_of(&camera, outside[axis], 0);
        const uint8_t *in = pixel_of(&camera, inside[axis], 0);
        for (int c = 0; c < 3; c++) {
            if (c == axis) {
                continue;
            }
            assert_true(out[axis] > out[c] + 60); // red, green, blue
            assert_true(in[axis] > in[c] + 8);
        }
    }

    frame.hidden_opacity = 0;
    render(context, &scene, 1);

    const uint8_t *in = pixel_of(&camera, inside[0], 1);
    assert_true(abs(in[0] - in[1]) < 8 && abs(in[0] - in[2]) < 20); // the sphere's grey
    sinew_context_destroy(context);
}

static void test_both_sides_are_lit(void **state) {
    (void)state;
    sinew_context *context = test_context(1);
    sn_camera camera = front_camera(10, 4);
    card sheet;
    int brightness[2];

    for (int side = 0; side < 2; side++) {
        make_card(&sheet, sn_v3(0, 0, 0), sn_v3(side ? 1 : -1, 0, 0), sn_v3(0, 0, 1));
        sn_picture_mesh mesh = card_mesh(&sheet);
        sn_picture_scene scene = sn_picture_scene_default(&camera);
        scene.meshes = &mesh;
        scene.mesh_count = 1;
        render(context, &scene, side);
        brightness[side] = pixel_of(&camera, sn_v3(0.3, 0, 0.2), side)[1];
    }

    assert_true(abs(brightness[0] - brightness[1]) <= 2);
    assert_true(brightness[0] > 100);
    sinew_context_destroy(context);
}

static bool is_plain_backdrop(int which) {
    for (int y = 0; y < HEIGHT; y++) {
        for (int x = 1; x < WIDTH; x++) {
            if (memcmp(sn_image_at(target(which), x, y), sn_image_at(target(which), 0, y), 3) !=
                0) {
                return false;
            }
        }
    }

    return true;
}

static void test_degenerate_scenes(void **state) {
    (void)state;
    sinew_context *context = test_context(1);
    sn_camera camera = front_camera(10, 4);
    sn_picture_scene scene = sn_picture_scene_default(&camera);

    scene.backdrop.ground = true;
    scene.backdrop.ground_height = -1e6;
    render(context, &scene, 0);
    assert_true(is_plain_backdrop(0)); // nothing at all

    double positions[] = {NAN, 0, 0, 1,     0,      0,     0,        0, 1, 0,    0,    0,
                          0,   0, 0, 1e300, -1e300, 1e300, INFINITY, 0, 0, 1e30, 1e30, -1e30};
    int32_t triangles[] = {0, 1, 2, 3, 3, 1, 3, 4, 1, 6, 1, 2};
    sn_picture_mesh mesh = sn_picture_mesh_default();

    mesh.positions = positions;
    mesh.vertex_count = 8;
    mesh.triangles = triangles;
    mesh.triangle_count = 4;
    scene.meshes = &mesh;
    scene.mesh_count = 1;
    render(context, &scene, 0);
    assert_true(is_plain_backdrop(0)); // a NaN, no area, infinite

    int32_t huge[] = {5, 1, 2, 7, 1, 2, 5, 7, 3};
    mesh.triangles = huge;
    mesh.triangle_count = 3;
    render(context, &scene, 0); // must only end

    make_sphere(&ball, sn_v3(0, -30, 0), 3);
    mesh = sphere_mesh(&ball);
    render(context, &scene, 0);
    assert_true(is_plain_backdrop(0)); // all behind the camera

    make_sphere(&ball, sn_v3(0, -10, 0), 1); // the camera inside of a sphere: all of it is seen
    render(context, &scene, 0);
    assert_false(is_plain_backdrop(0));

    double values[SPHERE_VERTICES];
    sn_colormap map;

    sn_colormap_init(&map, SN_COLORMAP_EMBER);
    make_sphere(&ball, sn_v3(0, 0, 0), 1);
    for (int i = 0; i < SPHERE_VERTICES; i++) {
        values[i] = i % 3 ? NAN : INFINITY;
    }

    mesh.values = values;
    mesh.map = &map;
    mesh.low = mesh.high = 0;
    render(context, &scene, 0);
    sinew_context_destroy(context);
}

static void test_degenerate_glyphs(void **state) {
    (void)state;
    sinew_context *context = test_context(1);
    sn_camera camera = front_camera(10, 4);
    sn_picture_scene scene = sn_picture_scene_default(&camera);
    double points[] = {NAN, 0, 0, 0, 0, 0, 0, 0, 0, 1e300, 0, 0, 0, -20, 0};
    double vectors[45] = {0};

    vectors[3] = NAN;
    vectors[9] = INFINITY;
    vectors[12] = 1e300;
    vectors[40] = -1e-300;

    for (int kind = 0; kind < 4; kind++) {
        sn_picture_glyphs glyphs = sn_picture_glyphs_default((sn_glyph_kind)kind);
        glyphs.points = points;
        glyphs.vectors = vectors;
        glyphs.count = 5;
        scene.glyphs = &glyphs;
        scene.glyph_count = 1;
        render(context, &scene, 0);
        glyphs.points = points + 3;
        glyphs.count = 2; // one point twice
        render(context, &scene, 0);
        glyphs.count = 0;
        render(context, &scene, 0);
        assert_true(is_plain_backdrop(0));
    }

    sn_picture_glyphs lines = sn_picture_glyphs_default(SN_GLYPH_LINES);
    double zigzag[] = {-1, 0, 0, 1, 0, 0, -1, 0, 0.1, 1, 0, 0.1, -1, 0, 0};

    lines.points = zigzag;
    lines.count = 5;
    lines.line_lengths = (int32_t[3]){0, 1, 4};
    lines.line_count = 3;
    scene.glyphs = &lines;
    render(context, &scene, 0);
    assert_false(is_plain_backdrop(0));
    sinew_context_destroy(context);
}

static void test_bad_arguments(void **state) {
    (void)state;
    sinew_context *context = test_context(1);
    rich_scene rich;

    make_rich_scene(&rich, 1);
    int32_t wrong[3] = {0, 1, SPHERE_VERTICES};

    rich.meshes[2].triangles = wrong;
    rich.meshes[2].triangle_count = 1;
    assert_int_equal(sn_picture_render(context, &rich.scene, target(0)), SINEW_INVALID_DATA);
    assert_non_null(strstr(sinew_context_message(context), "mesh 2"));
    make_rich_scene(&rich, 1);
    rich.meshes[0].opacity = 1.5;
    assert_int_equal(sn_picture_render(context, &rich.scene, target(0)), SINEW_INVALID_ARGUMENT);
    make_rich_scene(&rich, 1);
    rich.meshes[0].map = NULL;
    assert_int_equal(sn_picture_render(context, &rich.scene, target(0)), SINEW_INVALID_ARGUMENT);
    make_rich_scene(&rich, 1);
    rich.glyphs[3].line_lengths = (int32_t[2]){1, 2};
    rich.glyphs[3].line_count = 2;
    assert_int_equal(sn_picture_render(context, &rich.scene, target(0)), SINEW_INVALID_ARGUMENT);
    make_rich_scene(&rich, 1);
    rich.scene.camera.eye = rich.scene.camera.target;
    assert_int_equal(sn_picture_render(context, &rich.scene, target(0)), SINEW_INVALID_ARGUMENT);
    make_rich_scene(&rich, 1);
    rich.scene.lights.key = sn_v3(0, 0, 0);
    assert_int_equal(sn_picture_render(context, &rich.scene, target(0)), SINEW_INVALID_ARGUMENT);
    sinew_context_destroy(context);
}

static void test_memory_shortage(void **state) {
    (void)state;
    rich_scene rich;

    make_rich_scene(&rich, 1);
    bool done = false;
    for (int64_t n = 1; !done; n++) { // the first allocation is the context's own
        test_allocator allocator = {.fail_at = n};

        sinew_context *context = test_context_failing(&allocator);
        assert_non_null(context);
        memset(shots[0], 9, sizeof shots[0]);
        sinew_status status = sn_picture_render(context, &rich.scene, target(0));
        assert_int_equal(context->bytes_in_use, 0);
        done = status == SINEW_OK;
        if (!done) {
            assert_int_equal(status, SINEW_OUT_OF_MEMORY);
            for (size_t i = 0; i < sizeof shots[0]; i++) {
                assert_int_equal(shots[0][i], 9);
            }
        }
        sinew_context_destroy(context);
        assert_int_equal(allocator.live, 0);
        assert_true(n < 200);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_nearer_hides_farther),
        cmocka_unit_test(test_values_take_the_maps_colors),
        cmocka_unit_test(test_any_number_of_threads),
        cmocka_unit_test(test_any_scale),
        cmocka_unit_test(test_a_view_stays_inside),
        cmocka_unit_test(test_shadows_fall),
        cmocka_unit_test(test_glass_shows_what_is_behind),
        cmocka_unit_test(test_frames_shine_through),
        cmocka_unit_test(test_both_sides_are_lit),
        cmocka_unit_test(test_degenerate_scenes),
        cmocka_unit_test(test_degenerate_glyphs),
        cmocka_unit_test(test_bad_arguments),
        cmocka_unit_test(test_memory_shortage),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
