// Detection and commit of contact on one core: two plates pressed together, with a given number of
// candidate pairs; and the cost of a whole search as the surfaces get finer.
#include "bench/bench.h"
#include "machine.h"

#include "contact/commit.h"

#include "sinew/sinew.h"

#include "base/random.h"

#include <math.h>
#include <stdio.h>

enum { REPEATS = 15, SIZES = 4 };

typedef struct specimen {
    sinew_context *context;
    sn_arena arena;
    sn_contact_shape shapes[2];
    sn_contact_scene *scene;
    double *x, *y, *share;
    double part_share[2];
    sn_vec3 shift[2];
    int32_t vertex_count;
} specimen;

typedef struct times {
    double find[REPEATS], commit[REPEATS];
    sn_contact_limit_report report;
} times;

static void specimen_destroy(specimen *s) {
    sn_contact_scene_destroy(s->scene);
    sn_arena_destroy(&s->arena);
}

static sinew_status add_surface(specimen *s, int32_t number, const sinew_shape_def *def,
                                sn_vec3 offset) {
    sinew_mesh *mesh = NULL;
    SN_TRY(sinew_mesh_create_shape(s->context, def, &mesh));
    sinew_status status = sn_contact_shape_build(&s->arena, mesh, &s->shapes[number]);
    double *x = SN_PUSH(&s->arena, double, 3 * (size_t)(s->vertex_count + mesh->point_count));

    if (status == SINEW_OK && x) {
        for (int32_t i = 0; i < 3 * s->vertex_count; i++) {
            x[i] = s->x[i];
        }
        for (int32_t v = 0; v < mesh->point_count; v++) {
            sn_vec3 p = sn_load3(sn_at3(mesh->points, v));
            sn_store3(sn_at3(x, s->vertex_count + v), sn_add(p, offset));
        }
        s->x = x;
        s->vertex_count += mesh->point_count;
    }

    sinew_mesh_destroy(mesh);
    return status == SINEW_OK ? sn_arena_status(&s->arena) : status;
}

static bool others_only(void *user, int32_t a, int32_t b) {
    (void)user;
    return a != b;
}

// Surfaces that fall onto each other by `fall`, with a noise of the same size.
static sinew_status finish(specimen *s, double gap, double fall) {
    const sn_contact_shape *shapes[2] = {&s->shapes[0], &s->shapes[1]};
    SN_TRY(sn_contact_scene_create(s->context, shapes, 2, s->x, &s->scene));
    s->y = SN_PUSH(&s->arena, double, 3 * (size_t)s->vertex_count);
    s->share = SN_PUSH(&s->arena, double, s->vertex_count);
    SN_TRY(sn_arena_status(&s->arena));

    sn_random random = sn_random_seed(1);
    for (int32_t v = 0; v < s->vertex_count; v++) {
        bool upper = s->scene->vertex_part[v] == 1;
        for (int k = 0; k < 3; k++) {
            double noise = sn_random_range(&random, -0.5, 0.5) * fall;
            s->y[3 * v + k] = s->x[3 * v + k] + noise - (upper && k == 2 ? fall : 0);
        }
    }

    s->scene->parts[0].thickness = s->scene->parts[1].thickness = 0.5 * gap;
    return SINEW_OK;
}

static sinew_status measure(specimen *s, double reach, times *t) {
    for (int i = -2; i < REPEATS; i++) {
        double start = cli_measured_seconds(s->context);
        SN_TRY(sn_contact_find(s->scene, s->x, s->y, reach));
        double found = cli_measured_seconds(s->context);
        sn_contact_measure(s->scene, s->x);
        sn_contact_motion motion = {.x = s->x, .target = s->y};
        sn_contact_shares shares = {s->shift, s->share, s->part_share};
        sn_contact_limit(s->scene, &motion, &shares, &t->report);

        if (i >= 0) {
            t->find[i] = found - start;
            t->commit[i] = cli_measured_seconds(s->context) - found;
        }
    }
    return SINEW_OK;
}

// Two plates of 1 m, cells of 1 / across, one gap apart.
static sinew_status press_plates(bench_run *b, sinew_context *context, int32_t across) {
    // Cells of both plates are shifted against each other, so that no pair is special.
    specimen s = {.context = context, .arena = sn_arena_create(context)};
    sinew_shape_def def = sinew_default_shape_def();
    double gap = 0.1 / across;
    def.element = SINEW_ELEMENT_TRIANGLE;
    def.size[2] = 0.1;
    def.cells[0] = def.cells[1] = across;
    def.cells[2] = 1;

    times t;
    sinew_status status = add_surface(&s, 0, &def, sn_v3(0, 0, 0));
    if (status == SINEW_OK) {
        status = add_surface(&s, 1, &def, sn_v3(0.37 / across, 0.21 / across, 0.1 + gap));
    }
    if (status == SINEW_OK) {
        status = finish(&s, gap, gap);
    }
    if (status == SINEW_OK) {
        s.scene->filter = others_only;
        status = measure(&s, 2 * gap, &t);
    }

    // Times are scaled to the 20 000 pairs of the target.
    bench_result *r = NULL;
    if (status == SINEW_OK) {
        int32_t pairs = s.scene->pair_count;
        r = bench_add(b, "plates: closest points, cones and commit, for 20 000 pairs", pairs, "ms");
        if (r) {
            bench_take(r, t.commit, REPEATS, 2e7 / pairs);
            r->target = 2;
            r->hash = bench_hash(s.share, (size_t)s.vertex_count);
            snprintf(r->note, sizeof r->note,
                     "size: pairs; one thread; %d of %d vertices stopped, %d pairs held",
                     t.report.truncated, s.vertex_count, t.report.held);
        }
        r = bench_add(b, "plates: search for the pairs", pairs, "ms");
        if (r) {
            bench_take(r, t.find, REPEATS, 1e3);
            snprintf(r->note, sizeof r->note, "size: pairs; one thread; %d vertices",
                     s.vertex_count);
        }
    }

    specimen_destroy(&s);
    return status;
}

// A ball on a plate, both of them finer and finer, with contact of each with itself.
static sinew_status drop_ball(bench_run *b, sinew_context *context, int32_t across, double *size,
                              double *cost) {
    // The gap shrinks with the cells, so that each vertex has about as many neighbours.
    specimen s = {.context = context, .arena = sn_arena_create(context)};
    sinew_shape_def ball = sinew_default_shape_def(), plate = ball;
    ball.shape = SINEW_SHAPE_SPHERE;
    ball.element = plate.element = SINEW_ELEMENT_TRIANGLE;
    ball.cells[0] = plate.cells[0] = plate.cells[1] = across;
    plate.size[2] = 0.1;
    plate.cells[2] = 1;
    double gap = 0.1 / across;

    times t;
    sinew_status status = add_surface(&s, 0, &plate, sn_v3(0, 0, 0));
    if (status == SINEW_OK) {
        status = add_surface(&s, 1, &ball, sn_v3(0.003, 0.002, 0.55 + gap));
    }
    if (status == SINEW_OK) {
        status = finish(&s, gap, gap);
    }
    if (status == SINEW_OK) {
        status = measure(&s, gap, &t);
    }

    bench_result *r = status == SINEW_OK
                          ? bench_add(b, "ball on a plate with self contact: search and commit",
                                      s.vertex_count, "ms")
                          : NULL;
    if (r) {
        // Search and commit together; the note has the search alone.
        double total[REPEATS];
        for (int i = 0; i < REPEATS; i++) {
            total[i] = t.find[i] + t.commit[i];
        }
        bench_take(r, total, REPEATS, 1e3);
        *size = s.vertex_count;
        *cost = r->min;

        double find = t.find[0];
        for (int i = 1; i < REPEATS; i++) {
            find = fmin(find, t.find[i]);
        }
        snprintf(r->note, sizeof r->note, "size: vertices; one thread; %d pairs; search %.3g ms",
                 s.scene->pair_count, 1e3 * find);
    }

    specimen_destroy(&s);
    return status;
}

sinew_status bench_contact(bench_run *b) {
    // One thread, whatever the other rows use.
    sinew_context_def def = sinew_default_context_def();
    def.threads = 1;
    sinew_context *context = sinew_context_create(&def);
    if (!context) {
        return sn_fail(b->context, SINEW_OUT_OF_MEMORY, "no memory for a context");
    }

    double size[SIZES] = {1, 1, 1, 1}, cost[SIZES] = {1, 1, 1, 1};
    const int32_t across[SIZES] = {20, 48, 110, 225};
    sinew_status status = press_plates(b, context, 34);
    for (int i = 0; i < SIZES && status == SINEW_OK; i++) {
        status = drop_ball(b, context, across[i], &size[i], &cost[i]);
    }
    if (status == SINEW_OK) {
        status = bench_contact_steps(b, context);
    }

    if (status != SINEW_OK) {
        status = sn_fail(b->context, status, "%s", sinew_context_message(context));
    }
    sinew_context_destroy(context);
    SN_TRY(status);

    // Linear cost has the exponent 1.
    bench_result *r = bench_add(b, "ball on a plate: exponent of the time over the vertices",
                                size[SIZES - 1], "-");
    if (r) {
        r->min = r->median = bench_fit_exponent(size, cost, SIZES);
        r->target = 1.1;
    }
    return SINEW_OK;
}
