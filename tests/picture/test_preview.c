// Previews: the sheet is spread over the whole motion whatever its length, all of it is in the
// picture, and nothing leaks.
#include "support/test.h"

#include "io/picture/preview.h"
#include "picture/shapes.h"

enum { CELL_WIDTH = 80, CELL_HEIGHT = 60 };

static sphere ball;
static double moved[3 * SPHERE_VERTICES], values[SPHERE_VERTICES];

static sn_preview_def small_def(sn_picture_mesh *mesh) {
    make_sphere(&ball, sn_v3(0, 0, 0), 1);
    *mesh = sphere_mesh(&ball);
    sn_preview_def def = sn_preview_def_default();
    def.meshes = mesh;
    def.mesh_count = 1;
    def.pictures = 4;
    def.cell_width = CELL_WIDTH;
    def.cell_height = CELL_HEIGHT;

    return def;
}

// Adds a moment at which the sphere has moved by `shift` and all values are `shift`.
static sinew_status add(sn_preview *preview, double time, double shift) {
    for (int i = 0; i < SPHERE_VERTICES; i++) {
        sn_store3(moved + 3 * i, sn_add(sn_load3(ball.positions + 3 * i), sn_v3(shift, 0, 0)));
        values[i] = shift;
    }

    const double *positions = moved;
    const double *numbers = values;

    return sn_preview_add(
        preview, &(sn_preview_moment){.time = time, .positions = &positions, .values = &numbers});
}

// How much a picture differs from the backdrop's left column, in a column of pixels.
static bool column_is_empty(sn_image image, int32_t x) {
    for (int32_t y = 0; y < image.height; y++) {
        const uint8_t *a = sn_image_at(image, x, y);
        const uint8_t *b = sn_image_at(image, 0, y);
        for (int c = 0; c < 3; c++) {
            if (a[c] > b[c] + 12 || a[c] + 12 < b[c]) {
                return false;
            }
        }
    }

    return true;
}

static double first_column(sn_image image) {
    for (int32_t x = 0; x < image.width; x++) {
        if (!column_is_empty(image, x)) {
            return x;
        }
    }
    return -1;
}

static void test_spread_over_the_motion(void **state) {
    (void)state;
    sinew_context *context = test_context(1);
    const int lengths[] = {1, 2, 3, 4, 7, 8, 9, 50, 333};

    for (size_t k = 0; k < sizeof lengths / sizeof lengths[0]; k++) {
        sn_picture_mesh mesh;
        sn_preview_def def = small_def(&mesh);

        def.ghost = false;
        def.no_ground = true;
        def.azimuth = -1.5707963;
        def.elevation = 0; // x to the right

        sn_preview *preview;
        assert_int_equal(sn_preview_create(context, &def, &preview), SINEW_OK);

        int n = lengths[k];
        for (int i = 0; i < n; i++) {
            assert_int_equal(add(preview, 0.1 * i, n > 1 ? 6.0 * i / (n - 1) : 0), SINEW_OK);
        }

        sn_sheet sheet;
        assert_int_equal(sn_preview_draw(preview, &sheet), SINEW_OK);
        assert_int_equal(sheet.count, n < 4 ? n : 4);

        // The sphere moves evenly: so does its left edge from picture to picture, within the
        // thinning.
        double first = first_column(sn_sheet_cell(&sheet, 0));
        double last = first_column(sn_sheet_cell(&sheet, sheet.count - 1));

        for (int32_t i = 1; i + 1 < sheet.count; i++) {
            double expected = first + (last - first) * i / (sheet.count - 1);
            double found = first_column(sn_sheet_cell(&sheet, i));
            test_close("where the sphere is", found, expected, 0.2 * (last - first) + 2);
        }

        if (n > 1) {
            assert_true(first >= 3 && last > first + 20 && last < CELL_WIDTH - 10);
        }

        sn_sheet_destroy(context, &sheet);
        sn_preview_destroy(preview);
        assert_int_equal(context->bytes_in_use, 0);
    }

    sinew_context_destroy(context);
}

static void test_film_stands_still(void **state) {
    (void)state;
    sinew_context *context = test_context(1);
    sn_picture_mesh mesh;
    sn_preview_def def = small_def(&mesh);

    def.low = 0;
    def.high = 1;

    sn_preview *preview;
    assert_int_equal(sn_preview_create(context, &def, &preview), SINEW_OK);

    sn_image image;
    assert_int_equal(sn_image_create(context, CELL_WIDTH, CELL_HEIGHT, &image), SINEW_OK);

    double left[2];
    for (int k = 0; k < 2; k++) {
        assert_int_equal(add(preview, k, 0.5 * k), SINEW_OK);
        const double *positions = moved;
        assert_int_equal(sn_preview_film(preview,
                                         &(sn_preview_moment){.time = k, .positions = &positions},
                                         image),
                         SINEW_OK);
        left[k] = first_column(
            sn_image_view(image, 0, 0, CELL_WIDTH, CELL_HEIGHT / 2)); // the time stands below
    }

    assert_true(left[1] > left[0]); // the sphere moves in the picture: the camera does not follow
    sn_image_destroy(context, &image);
    sn_preview_destroy(preview);
    sinew_context_destroy(context);
}

static void test_bad_data(void **state) {
    (void)state;
    sinew_context *context = test_context(1);
    sn_picture_mesh mesh;
    sn_preview_def def = small_def(&mesh);
    sn_preview *preview;
    sn_sheet sheet;

    def.pictures = 101;
    assert_int_equal(sn_preview_create(context, &def, &preview), SINEW_INVALID_ARGUMENT);
    assert_null(preview);
    def = small_def(&mesh);
    def.frame_count = 1;
    assert_int_equal(sn_preview_create(context, &def, &preview), SINEW_OK);
    assert_int_equal(sn_preview_draw(preview, &sheet), SINEW_INVALID_ARGUMENT); // no moment yet
    assert_int_equal(sn_preview_add(preview, &(sn_preview_moment){.time = 0}),
                     SINEW_OK);                         // stands where it was defined
    assert_int_equal(add(preview, NAN, NAN), SINEW_OK); // a simulation that blew up
    assert_int_equal(add(preview, 1, INFINITY), SINEW_OK);
    assert_int_equal(add(preview, 1e300, 1e300), SINEW_OK);
    assert_int_equal(sn_preview_draw(preview, &sheet), SINEW_OK);
    sn_sheet_destroy(context, &sheet);
    sn_preview_destroy(preview);
    sn_preview_destroy(NULL);
    assert_int_equal(context->bytes_in_use, 0);
    sinew_context_destroy(context);
}

static sinew_status whole_preview(sinew_context *context) {
    sn_picture_mesh mesh;
    sn_preview_def def = small_def(&mesh);

    def.pictures = 2;
    sn_preview *preview;

    SN_TRY(sn_preview_create(context, &def, &preview));
    sinew_status status = SINEW_OK;
    for (int i = 0; i < 5 && status == SINEW_OK; i++) {
        status = add(preview, i, 0.1 * i);
    }

    sn_sheet sheet = {0};
    if (status == SINEW_OK) {
        status = sn_preview_draw(preview, &sheet);
    }

    if (status == SINEW_OK) {
        sn_sheet_destroy(context, &sheet);
    } else {
        assert_null(sheet.image.pixels);
    }

    sn_preview_destroy(preview);
    return status;
}

static void test_memory_shortage(void **state) {
    (void)state;
    bool done = false;
    for (int64_t n = 1; !done; n++) {
        test_allocator allocator = {.fail_at = n};
        sinew_context *context = test_context_failing(&allocator);
        sinew_status status = whole_preview(context);

        done = status == SINEW_OK;
        if (!done) {
            assert_int_equal(status, SINEW_OUT_OF_MEMORY);
        }

        assert_int_equal(context->bytes_in_use, 0);
        sinew_context_destroy(context);
        assert_int_equal(allocator.live, 0);
        assert_true(n < 300);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_spread_over_the_motion),
        cmocka_unit_test(test_film_stands_still),
        cmocka_unit_test(test_bad_data),
        cmocka_unit_test(test_memory_shortage),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
