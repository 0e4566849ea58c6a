// Fields in scenes: curves, strokes, files, one rotation; mistakes with their places; fibres that
// contract over time.
#include "support/test.h"

#include "io/field/field_file.h"
#include "io/scene/build.h"
#include "io/scene/read.h"

#include <math.h>
#include <stdio.h>

typedef struct fixture {
    sinew_context *context;
    sn_mistakes mistakes;
    sn_scene scene;
    sn_scene_world *world;
    sinew_status status;
} fixture;

static const char *const bar =
    "{ \"version\": 1, \"step\": 0.02, \"gravity\": [0, 0, 0],\n"
    "  \"materials\": {\"muscle\": {\"law\": \"transverse\", \"young_fibre\": 2e5, "
    "\"young_plane\": 1e5, \"shear_fibre\": "
    "4e4}},\n"
    "  \"bodies\": [{\"name\": \"bar\", \"material\": \"muscle\", \"damping\": {\"mass\": 20},\n"
    "    \"shape\": {\"kind\": \"box\", \"size\": [0.4, 0.1, 0.1], \"cells\": [8, 2, 2]},\n"
    "    \"field\": {\"curves\": [{\"name\": \"spine\", \"points\": [[-0.2, 0, 0], [0, 0, 0], "
    "[0.2, 0, 0.02]]}]}}] }\n";

static void make(fixture *f, const char *const *settings, int32_t count, sn_fetch_fn *fetch,
                 void *user) {
    *f = (fixture){.context = test_context(1)};
    f->mistakes = sn_mistakes_create(f->context);
    f->status = sn_scene_read(f->context, "scene.json", bar, strlen(bar), settings, count,
                              &f->mistakes, &f->scene);

    if (f->status == SINEW_OK) {
        f->status = sn_scene_build(f->context, &f->scene, fetch, user, &f->mistakes, &f->world);
    }
}

static void expect_good(const fixture *f) {
    for (int32_t i = 0; i < f->mistakes.count; i++) {
        print_message("%s\n", f->mistakes.items[i].message);
    }
    assert_int_equal(f->status, SINEW_OK);
}

static void destroy(fixture *f) {
    sn_scene_world_destroy(f->world);
    sn_scene_destroy(&f->scene);
    sn_mistakes_destroy(&f->mistakes);
    assert_int_equal(f->context->bytes_in_use, 0);
    sinew_context_destroy(f->context);
}

static void test_ways(void **state) {
    (void)state;
    fixture f;

    make(&f, NULL, 0, NULL, NULL);
    expect_good(&f);

    const double *axes = sinew_field_get_axes(f.world->members[0].field);
    assert_true(fabs(axes[6]) > 0.99); // along the spine
    destroy(&f);

    const char *strokes[] = {
        "bodies[0].field={\"strokes\": [[[0, -0.05, 0], [0, 0.05, 0]]], \"by\": \"vertex\"}"};

    make(&f, strokes, 1, NULL, NULL);
    expect_good(&f);
    assert_int_equal(sinew_field_get_kind(f.world->members[0].field), SINEW_FIELD_FIBRES);
    assert_true(fabs(sinew_field_get_axes(f.world->members[0].field)[7]) > 0.999);
    destroy(&f);

    const char *rotation[] = {
        "bodies[0].field={\"rotation\": {\"axis\": [0, 1, 0], \"degrees\": 90}}"};

    make(&f, rotation, 1, NULL, NULL);
    expect_good(&f);
    test_close("the third axis along x", sinew_field_get_axes(f.world->members[0].field)[6], 1,
               1e-12);
    destroy(&f);
}

typedef struct one_file {
    const char *data;
    size_t size;
} one_file;

static bool fetch_one(void *user, const char *name, const void **data, size_t *size) {
    one_file *file = user;
    if (strcmp(name, "bar.field") != 0) {
        return false;
    }

    *data = file->data;
    *size = file->size;

    return true;
}

// A saved field is the same field.
static void test_file_round_trip(void **state) {
    (void)state;
    fixture f, g;
    const char *from_file[] = {"bodies[0].field={\"file\": \"bar.field\"}"};

    for (int kind = 0; kind < 2; kind++) {
        const char *fibres[] = {"bodies[0].field.kind=\"fibres\""};
        make(&f, fibres, kind, NULL, NULL);
        expect_good(&f);

        sn_buffer buffer = sn_buffer_create(f.context);
        assert_int_equal(sn_field_write(f.world->members[0].field, &buffer), SINEW_OK);

        one_file file = {buffer.data, buffer.size};
        make(&g, from_file, 1, fetch_one, &file);
        expect_good(&g);

        const double *a = sinew_field_get_axes(f.world->members[0].field);
        const double *b = sinew_field_get_axes(g.world->members[0].field);
        for (int32_t e = 0; e < f.world->members[0].mesh->element_count; e++) {
            for (int k = kind == 0 ? 0 : 6; k < 9; k++) {
                test_close("axis", b[9 * e + k], a[9 * e + k], 1e-12);
            }
        }

        destroy(&g);

        // Cut before its last line it is refused.
        for (size_t size = 0; size + 100 < buffer.size; size += buffer.size / 23) {
            one_file cut = {buffer.data, size};
            make(&g, from_file, 1, fetch_one, &cut);
            assert_int_not_equal(g.status, SINEW_OK);
            destroy(&g);
        }

        sn_buffer_destroy(&buffer);
        destroy(&f);
    }

    one_file other = {"sinew-field 1\nkind frames\nelements 1\n0 0 0 1\n", 45};
    make(&g, from_file, 1, fetch_one, &other);
    assert_true(g.mistakes.count == 1 &&
                strstr(g.mistakes.items[0].message, "field of 1 elements") != NULL);
    destroy(&g);
}

static void test_mistakes(void **state) {
    (void)state;
    const char *const cases[][2] = {
        {"bodies[0].field={}", "comes from"},
        {"bodies[0].field={\"file\": \"x\", \"rotation\": [0, 0, 0, 1]}", "comes from"},
        {"bodies[0].field.curves[0].points=[[0, 0, 0]]", "at least 2 points"},
        {"bodies[0].field.curves[0].points=[[0, 0, 0], [0, 0, 0]]",
         "bodies[0].field.curves[0]: spine: points 0 and 1 are the"},
        {"bodies[0].field={\"strokes\": [[[0, 0, 0], [0.1, 0, 0]], [[0, 0, 0], [0.1, 0, 0], [0.1, "
         "0, 0]]]}",
         "bodies[0].field.strokes[1]: strokes[1]: points 1 and 2 are the same"},
        {"bodies[0].field={\"strokes\": [[[0, 0, 0], [0.1, 0, 0]], [[9, 0, 0], [8, 0, 0]]]}",
         "strokes[1] lies outside"},
        {"bodies[0].field={\"curves\": [{\"points\": [[0, 0, 0], [1e200, 0, 0]]}]}",
         "curves[0] has a length of inf"},
        {"bodies[0].field.curves[0].points=[[3, 0, 0], [4, 0, 0]]",
         "spine lies outside of the body"},
        {"bodies[0].field.curves[0].weights=[1]", "3 weights"},
        {"bodies[0].field.file=\"none.field\"", "comes from"},
        {"bodies[0].field={\"file\": \"none.field\"}", "cannot be read"},
        {"materials.muscle.fibre_stress={\"sine\": 2, \"offset\": 1}", "at least 0"},
        {"materials.muscle.fibre_stress=-3", "at least 0"},
    };

    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        fixture f;
        make(&f, &cases[i][0], 1, NULL, NULL);
        assert_int_not_equal(f.status, SINEW_OK);

        bool found = false;
        for (int32_t k = 0; k < f.mistakes.count; k++) {
            char text[1024];
            snprintf(text, sizeof text, "%s: %s", f.mistakes.items[k].path,
                     f.mistakes.items[k].message);
            found = found || strstr(text, cases[i][1]) != NULL;
        }

        if (!found) {
            fail_msg("\"%s\" is not among the mistakes of %s", cases[i][1], cases[i][0]);
        }

        destroy(&f);
    }
}

static double length_of(const sn_scene_world *world) {
    const sn_scene_member *member = &world->members[0];
    const double *x = sinew_body_get_positions(member->body);
    double low = INFINITY, high = -INFINITY;

    for (int32_t i = 0; i < member->mesh->point_count; i++) {
        low = fmin(low, x[3 * i]);
        high = fmax(high, x[3 * i]);
    }

    return high - low;
}

// Fibres that pull with T shorten a free bar by about T / E, and let go again.
static void test_contraction(void **state) {
    (void)state;
    const char *settings[] = {
        "materials.muscle.fibre_stress={\"keys\": [[0, 0], [0.2, 1e4], [0.6, 1e4], [0.8, 0]]}",
        "bodies[0].field={\"rotation\": {\"axis\": [0, 1, 0], \"degrees\": 90}}"};
    fixture f;

    make(&f, settings, 2, NULL, NULL);
    expect_good(&f);
    test_close("rest length", length_of(f.world), 0.4, 1e-12);

    for (int i = 0; i < 30; i++) {
        assert_int_equal(sn_scene_world_step(f.world, NULL), SINEW_OK);
    }

    // T acts along the deformed fibre: E e + T (1 + e) = 0.
    test_close("contracted", length_of(f.world), 0.4 * (1 - 1e4 / (2e5 + 1e4)), 5e-4);
    for (int i = 0; i < 50; i++) {
        assert_int_equal(sn_scene_world_step(f.world, NULL), SINEW_OK);
    }

    test_close("let go", length_of(f.world), 0.4, 1e-3);
    assert_int_equal(sinew_body_set_fibre_stress(f.world->members[0].body, 1, 1),
                     SINEW_INVALID_ARGUMENT);
    assert_int_equal(sinew_body_set_fibre_stress(f.world->members[0].body, 0, -1),
                     SINEW_INVALID_ARGUMENT);
    destroy(&f);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_ways),
        cmocka_unit_test(test_file_round_trip),
        cmocka_unit_test(test_mistakes),
        cmocka_unit_test(test_contraction),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
