// Plots are well-formed SVG, show what they were given, at the right places, and are the same in
// every locale.
#include "support/test.h"

#include "io/picture/plot.h"

#include <locale.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

enum { POINTS = 40, MOST_DEPTH = 32 };

typedef struct example {
    double x[POINTS], y[POINTS], log_y[POINTS], error[POINTS];
    sinew_plot_series series[3][3];
    sinew_plot_panel panels[3];
    sinew_plot plot;
} example;

static const char *const names[3] = {"springs", "tets & <frames>", "\"all\""};

static void make_example(example *e) {
    memset(e, 0, sizeof *e);
    for (int i = 0; i < POINTS; i++) {
        e->x[i] = 0.25 * i;
        e->y[i] = sin(e->x[i]);
        e->log_y[i] = pow(10, -0.2 * i);
        e->error[i] = 0.05 * e->log_y[i];
    }

    for (int p = 0; p < 3; p++) {
        for (int s = 0; s < 3; s++) {
            e->series[p][s] = sinew_default_plot_series();
            e->series[p][s].x = e->x;
            e->series[p][s].y = p == 1 ? e->log_y : e->y;
            e->series[p][s].count = POINTS;
            e->series[p][s].label = names[s];
        }

        e->panels[p] = (sinew_plot_panel){.title = "A < B & C",
                                          .x.label = "time [s]",
                                          .y.label = "\xcf\x83 [kPa]",
                                          .series = e->series[p],
                                          .series_count = 3};
    }

    e->series[0][1].style = SINEW_PLOT_LINE | SINEW_PLOT_DASHED;
    e->series[0][2].style = SINEW_PLOT_MARKERS;
    e->panels[1].y.logarithmic = true;
    e->series[1][0].error = e->error;
    e->series[1][1].style = SINEW_PLOT_LINE | SINEW_PLOT_MARKERS;

    for (int s = 0; s < 2; s++) {
        e->series[2][s].style = SINEW_PLOT_BARS;
        e->series[2][s].x = NULL;
        e->series[2][s].count = 3;
    }

    e->panels[2].x.names = names;
    e->panels[2].x.name_count = 3;
    e->panels[2].series_count = 2;
    e->plot = (sinew_plot){.title = "Everything", .panels = e->panels, .panel_count = 3};
}

static sn_buffer write_plot(sinew_context *context, const sinew_plot *plot) {
    sn_buffer buffer = sn_buffer_create(context);
    sinew_status status = sn_plot_write(context, plot, &buffer);
    if (status != SINEW_OK) {
        fail_msg("%s", sinew_context_message(context));
    }

    sn_buffer_add(&buffer, "", 1);
    return buffer;
}

// Tags nest, attributes are quoted, text holds no bare < or &. Returns the number of elements.
static int check_well_formed(const char *text) {
    char stack[MOST_DEPTH][32];
    int depth = 0, elements = 0;
    while (*text) {
        if (*text == '&') {
            const char *end = strchr(text, ';');
            assert_true(end && end - text < 8);
        }

        if (*text++ != '<') {
            continue;
        }

        bool closing = *text == '/';
        char name[32] = {0};

        sscanf(text + closing, "%31[a-zA-Z]", name);
        assert_true(strlen(name) > 0);

        const char *last = text;
        for (bool quoted = false; *text && (quoted || *text != '>'); text++) {
            if (*text == '"') {
                quoted = !quoted;
            }
            if (*text == '<') {
                fail_msg("a bare < near %.30s", last);
            }

            last = text;
        }

        assert_int_equal(*text, '>');
        if (closing) {
            assert_true(depth > 0);
            assert_string_equal(stack[--depth], name);
        } else {
            elements++;
            if (*last != '/') {
                assert_true(depth < MOST_DEPTH);
                strcpy(stack[depth++], name);
            }
        }
    }

    assert_int_equal(depth, 0);
    return elements;
}

static void test_well_formed(void **state) {
    (void)state;
    sinew_context *context = test_context(1);
    example e;

    make_example(&e);
    sn_buffer svg = write_plot(context, &e.plot);

    assert_true(check_well_formed(svg.data) > 150);
    assert_non_null(strstr(svg.data, "tets &amp; &lt;frames&gt;"));
    assert_non_null(strstr(svg.data, "viewBox=\"0 0 "));
    assert_null(strstr(svg.data, "nan"));
    assert_null(strstr(svg.data, "inf"));
    sn_buffer_destroy(&svg);
    sinew_context_destroy(context);
}

static void test_read_by_xmllint(void **state) {
    (void)state;
    if (system("xmllint --version >/dev/null 2>&1") != 0) {
        print_message("skipped: xmllint is not installed\n");
        skip();
    }

    sinew_context *context = test_context(1);
    example e;

    make_example(&e);
    sn_buffer svg = write_plot(context, &e.plot);
    FILE *file = fopen(TEST_OUTPUT_DIR "/plot.svg", "wb");

    assert_non_null(file);
    fwrite(svg.data, 1, svg.size - 1, file);
    fclose(file);
    assert_int_equal(system("xmllint --noout '" TEST_OUTPUT_DIR "/plot.svg'"), 0);
    sn_buffer_destroy(&svg);
    sinew_context_destroy(context);
}

// The coordinates of a path of the given colour.
static int read_path(const char *svg, const char *color, double *x, double *y, int most) {
    const char *style = strstr(svg, color);
    assert_non_null(style);

    const char *at = style;
    while (strncmp(at, "d=\"M", 4) != 0) {
        at--;
    }

    int count = 0;
    for (at += 4; count < most && sscanf(at, "%lf %lf", &x[count], &y[count]) == 2; count++) {
        at = strpbrk(at, "L\"");
        if (*at++ == '"') {
            return count + 1;
        }
    }

    return count;
}

static void test_points_are_where_they_belong(void **state) {
    (void)state;
    sinew_context *context = test_context(1);
    double x[3] = {0, 5, 10};
    double y[3] = {1e-4, 1e-2, 1};
    sinew_plot_series series = sinew_default_plot_series();

    series.x = x;
    series.y = y;
    series.count = 3;
    series.color = 3;

    sinew_plot_panel panel = {.x = {.low = 0, .high = 10},
                              .y = {.logarithmic = true, .low = 1e-4, .high = 1},
                              .series = &series,
                              .series_count = 1};
    sn_buffer svg = write_plot(context, &(sinew_plot){.panels = &panel, .panel_count = 1});
    double px[4], py[4];

    assert_int_equal(read_path(svg.data, "stroke=\"#c93c58\"", px, py, 4), 3);
    test_close("middle in x", px[1], 0.5 * (px[0] + px[2]), 0.011); // two decimals
    test_close("middle in log y", py[1], 0.5 * (py[0] + py[2]), 0.011);
    assert_true(py[0] > py[2] && px[0] < px[2]); // y upwards
    sn_buffer_destroy(&svg);
    sinew_context_destroy(context);
}

static void test_locale_does_not_matter(void **state) {
    (void)state;
    sinew_context *context = test_context(1);
    example e;

    make_example(&e);
    sn_buffer plain = write_plot(context, &e.plot);

    setlocale(LC_ALL, "de_DE.UTF-8");
    sn_buffer german = write_plot(context, &e.plot);

    setlocale(LC_ALL, "C");
    assert_string_equal(plain.data, german.data);
    sn_buffer_destroy(&plain);
    sn_buffer_destroy(&german);
    sinew_context_destroy(context);
}

static void test_hostile_numbers(void **state) {
    (void)state;
    sinew_context *context = test_context(1);
    const double odd[] = {NAN, INFINITY, -INFINITY, 0, -1, 1e308, -1e308, 1e-320, 5};
    example e;

    for (size_t k = 0; k < 9 * 9; k++) {
        make_example(&e);
        for (int i = 0; i < POINTS; i += 3) {
            e.x[i] = odd[k % 9];
            e.y[i] = e.log_y[i] = odd[k / 9];
            e.error[i] = odd[(size_t)i % 9];
        }

        e.panels[0].y.low = odd[k % 9];
        e.panels[0].y.high = odd[k / 9];
        e.panels[1].x.logarithmic = true;

        sn_buffer svg = write_plot(context, &e.plot);
        check_well_formed(svg.data);
        assert_null(strstr(svg.data, "nan"));
        sn_buffer_destroy(&svg);
    }

    make_example(&e);
    e.panels[1].series_count = 0;
    e.series[0][0].count = 0;
    e.series[0][1].count = 1;

    sn_buffer svg = write_plot(context, &e.plot);
    check_well_formed(svg.data);
    sn_buffer_destroy(&svg);
    sinew_context_destroy(context);
}

static void test_failures(void **state) {
    (void)state;
    example e;

    make_example(&e);
    sinew_context *context = test_context(1);
    sn_buffer buffer = sn_buffer_create(context);

    e.plot.panel_count = 0;
    assert_int_equal(sn_plot_write(context, &e.plot, &buffer), SINEW_INVALID_ARGUMENT);
    e.plot.panel_count = 3;
    e.series[1][2].y = NULL;
    assert_int_equal(sn_plot_write(context, &e.plot, &buffer), SINEW_INVALID_ARGUMENT);
    assert_non_null(strstr(sinew_context_message(context), "series 2 of panel 1"));
    sn_buffer_destroy(&buffer);
    sinew_context_destroy(context);
    make_example(&e);

    for (int64_t n = 1; n < 8; n++) {
        test_allocator allocator = {.fail_at = n};
        context = test_context_failing(&allocator);
        buffer = sn_buffer_create(context);
        assert_int_equal(sn_plot_write(context, &e.plot, &buffer), SINEW_OUT_OF_MEMORY);
        assert_int_equal(buffer.size, 0);
        sn_buffer_destroy(&buffer);
        sinew_context_destroy(context);
        assert_int_equal(allocator.live, 0);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_well_formed),
        cmocka_unit_test(test_read_by_xmllint),
        cmocka_unit_test(test_points_are_where_they_belong),
        cmocka_unit_test(test_locale_does_not_matter),
        cmocka_unit_test(test_hostile_numbers),
        cmocka_unit_test(test_failures),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
