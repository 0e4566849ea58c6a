// Bars of tets under implicit Euler: time of a step, assembly and memory over size, and the bars of
// the papers' tables.
#include "bench/bench.h"
#include "bench/peak.h"
#include "machine.h"
#include "validate/bar.h"

#include "base/context.h"
#include "body/body.h"
#include "linalg/ic.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { WARM_UP = 3, STEPS = 15, LARGEST = BENCH_REPEATS, KERNEL_REPEATS = BENCH_REPEATS };

typedef struct timing {
    double total[LARGEST], assemble[LARGEST];
    // Kernels of the solver: product with the matrix, and sweeps of the incomplete factor.
    double product[LARGEST], sweeps[LARGEST];
    double product_bytes, sweeps_bytes; // the least that these read and write
    double iterations;                  // mean of the linear solver
    double bytes;                       // used by world, body and solver
    double edges;
    int32_t tets, nodes, steps;
    uint64_t hash;
} timing;

// Edges of the mesh: the additional nodes of a ten-node mesh.
static sinew_status count_edges(bar *b, double *edges) {
    sinew_mesh *quadratic;
    SN_TRY(sinew_mesh_create_quadratic(b->context, b->mesh, &quadratic));
    *edges = quadratic->point_count - b->mesh->point_count;
    sinew_mesh_destroy(quadratic);
    return SINEW_OK;
}

// Times the kernels of a solver iteration by themselves, with the matrix of a step.
static sinew_status time_iteration(bench_run *run, bar *b, double *matrix, timing *t) {
    sinew_body *body = b->body;
    double step = sinew_world_get_def(b->world).step;
    sn_packed packed;
    sn_ic ic;

    // The matrix of an implicit step, and its incomplete factor.
    sn_body_add_mass(body, &body->pattern, matrix, 1 / (step * step), body->q);
    SN_TRY(sn_packed_build(&b->arena, &body->pattern, &packed));
    SN_TRY(sn_ic_build(&b->arena, &packed, &ic));
    sn_packed_update(body->context, &packed, matrix);

    if (sn_ic_update(body->context, &ic).row >= 0) {
        return SINEW_OK; // not positive definite: the rows stay empty
    }

    // Every fourth entry is padding and stays zero.
    int32_t rows = packed.rows;
    double *x = SN_PUSH(&b->arena, double, 4 * (size_t)rows);
    double *y = SN_PUSH(&b->arena, double, 4 * (size_t)rows);

    SN_TRY(sn_arena_status(&b->arena));
    for (int32_t i = 0; i < 4 * rows; i++) {
        x[i] = i % 4 < 3 ? 1 + i % 7 : 0;
    }

    // Product and sweeps in turn, as a solver runs them.
    for (int i = 0; i < KERNEL_REPEATS; i++) {
        double start = cli_measured_seconds(run->context);
        sn_packed_multiply(body->context, y, &packed, x);
        t->product[i] = cli_measured_seconds(run->context) - start;
        start += t->product[i];
        sn_ic_apply(body->context, y, &ic, x);
        t->sweeps[i] = cli_measured_seconds(run->context) - start;
    }

    // What each must read and write at least.
    t->product_bytes = 76.0 * packed.starts[rows] + 2 * 32.0 * rows;
    t->sweeps_bytes = 2 * (40.0 * ic.starts[rows] + 96.0 * rows) + 4 * 32.0 * rows;

    return SINEW_OK;
}

// Times the assembly of forces and stiffness of the whole body, which a step does once, and then
// the solver's kernels.
static sinew_status time_assembly(bench_run *run, bar *b, timing *t) {
    sinew_body *body = b->body;
    double *matrix = sn_bsr_push_values(&b->arena, &body->pattern);
    double *force = SN_PUSH(&b->arena, double, sn_body_size(body));

    SN_TRY(sn_arena_status(&b->arena));
    for (int i = 0; i < KERNEL_REPEATS; i++) {
        double start = cli_measured_seconds(run->context);
        sn_bsr_set_zero_lower(body->context, &body->pattern, matrix);
        sn_evaluation evaluation = {
            .q = body->q, .want_energy = true, .force = force, .matrix = matrix, .projected = true};
        body->ops->elasticity.evaluate(body, &evaluation);
        t->assemble[i] = cli_measured_seconds(run->context) - start;
    }

    return time_iteration(run, b, matrix, t);
}

static sinew_status time_bar(bench_run *run, const bar_def *def, int32_t steps, timing *t) {
    bar b;
    *t = (timing){.steps = steps};

    int64_t before = run->context->bytes_in_use;
    SN_TRY(bar_create(run->context, def, &b));

    sinew_status status = bar_clamp(&b);
    t->tets = b.mesh->element_count;
    t->nodes = b.mesh->point_count;

    // The caller's mesh is not the body's memory.
    int64_t mesh_bytes = (int64_t)t->nodes * 24 + (int64_t)t->tets * 16;

    // The first steps allocate, and are not counted.
    for (int32_t i = -WARM_UP; i < steps && status == SINEW_OK; i++) {
        sinew_step_report report;
        double start = cli_measured_seconds(run->context);
        status = sinew_world_step(b.world, &report);
        if (i < 0) {
            continue;
        }

        t->total[i] = cli_measured_seconds(run->context) - start;
        t->iterations += (double)report.solver_iterations / steps;
    }

    // Memory, the state's hash, and kernels by themselves.
    t->bytes = (double)(run->context->bytes_in_use - before - mesh_bytes);
    t->hash = sinew_world_get_hash(b.world);
    if (status == SINEW_OK) {
        status = count_edges(&b, &t->edges);
    }
    if (status == SINEW_OK) {
        status = time_assembly(run, &b, t);
    }

    bar_destroy(&b);
    return status;
}

// The solver's flops over the time of the whole step, as a share of the machine's peak. A conjugate
// gradient iteration multiplies by the matrix, 3 x 3 numbers for each node and each end of an edge,
// and applies a preconditioner of about that size.
static double solver_share(const bench_run *b, const timing *t, double seconds) {
    double flops = 2 * 18 * (t->nodes + 2 * t->edges) * t->iterations;
    return flops / seconds / b->flops;
}

static bar_def dynamic_bar(int32_t along, int32_t across) {
    bar_def def = bar_default_def();
    def.size[1] = def.size[2] = (double)across / along;
    def.cells[0] = along;
    def.cells[1] = def.cells[2] = across;
    def.element = SINEW_ELEMENT_TET4;
    def.material.poisson = 0.3;
    def.world.gravity[2] = -9.81;
    def.world.solver = SINEW_SOLVER_AUTO;
    def.world.solver_tolerance = 1e-6;

    return def;
}

// Fused operations for force and stiffness of a corotational tet: F 36, polar decomposition 120,
// spectrum of S 110, stress and tangent 60, force 60, six blocks of stiffness 370.
enum { TET_OPERATIONS = 756 };

// The kernels of a step, each compared with the limit of the machine that binds it.
static void add_kernels(bench_run *b, timing *t) {
    bench_result *r = bench_add(b, "force and stiffness assembly", t->tets, "ns/tet");
    if (!r) {
        return;
    }

    // Assembly is bound by arithmetic.
    bench_take(r, t->assemble, KERNEL_REPEATS, 1e9 / t->tets);
    snprintf(r->note, sizeof r->note,
             "by itself: clearing, forces and projected stiffness; the solver needs one triangle; "
             "share of the peak, at %d multiply-adds per tet",
             TET_OPERATIONS);
    r->target = 100;
    r->limit_share = 2e9 * TET_OPERATIONS / r->min / b->flops;

    if (t->product_bytes == 0) {
        return;
    }

    // Products and sweeps are bound by memory.
    const char *note = "share of the bandwidth; above 100 % where the caches hold the data";
    r = bench_add(b, "product with the matrix", t->tets, "ns/tet");
    if (!r) {
        return;
    }

    bench_take(r, t->product, KERNEL_REPEATS, 1e9 / t->tets);
    r->limit_share = t->product_bytes / (1e-9 * r->min * t->tets) / b->bandwidth;
    snprintf(r->note, sizeof r->note, "%s", note);
    r = bench_add(b, "both sweeps of the incomplete factor", t->tets, "ns/tet");

    if (!r) {
        return;
    }

    bench_take(r, t->sweeps, KERNEL_REPEATS, 1e9 / t->tets);
    r->limit_share = t->sweeps_bytes / (1e-9 * r->min * t->tets) / b->bandwidth;
    snprintf(r->note, sizeof r->note, "%s", note);
}

sinew_status bench_bars(bench_run *b) {
    // 5 tets a cell: 4140, 10 240, 25 410, 70 875; about four times as long as thick.
    static const int32_t cells[4][2] = {{23, 6}, {32, 8}, {42, 11}, {63, 15}};
    double size[4], step[4];
    timing t;

    for (int i = 0; i < 4; i++) {
        bar_def def = dynamic_bar(cells[i][0], cells[i][1]);
        // Short steps are repeated more often because of noise.
        SN_TRY(time_bar(b, &def, i == 3 ? STEPS : 3 * STEPS, &t));

        bench_result *r =
            bench_add(b, "corotational bar, implicit Euler, residual 1e-6: step", t.tets, "ms");
        if (!r) {
            return SINEW_OK;
        }

        bench_take(r, t.total, t.steps, 1e3);
        if (i == 1) {
            r->target = 10;
        }

        r->hash = t.hash;
        r->limit_share = solver_share(b, &t, 1e-3 * r->min);
        snprintf(r->note, sizeof r->note,
                 "%.0f solver iterations per step; share of the peak: the solver's flops over the "
                 "time of the whole step",
                 t.iterations);
        size[i] = t.tets;
        step[i] = r->min / t.iterations;
        add_kernels(b, &t);
        r = bench_add(b, "memory of world, body and solver", t.tets, "byte/tet");

        if (!r) {
            return SINEW_OK;
        }

        r->min = r->median = t.bytes / t.tets;
        r->target = 1500;
    }

    bench_result *r =
        bench_add(b, "exponent of the step's time for each solver iteration over tets", 4, "-");
    if (!r) {
        return SINEW_OK;
    }

    r->min = r->median = bench_fit_exponent(size, step, 4);
    r->target = 1.05; // linear, with an allowance for noise

    return SINEW_OK;
}

// One row of a paper's table: the time of a step of a bar with the same number of tets.
static sinew_status add_step(bench_run *b, const char *name, const bar_def *def, double paper) {
    timing t;
    SN_TRY(time_bar(b, def, STEPS, &t));

    bench_result *r = bench_add(b, name, t.tets, "ms");
    if (!r) {
        return SINEW_OK;
    }

    bench_take(r, t.total, t.steps, 1e3);
    r->paper = r->target = paper;
    r->hash = t.hash;
    if (t.iterations > 0) {
        r->limit_share = solver_share(b, &t, 1e-3 * r->min);
        snprintf(r->note, sizeof r->note, "%.0f solver iterations per step", t.iterations);
    } else {
        snprintf(r->note, sizeof r->note, "factored once, for all steps");
    }

    return SINEW_OK;
}

// The same model at four sizes, of which the `own`-th is the paper's, and the exponent of the time.
typedef struct sizes_def {
    int32_t cells[4][2]; // along, across
    int own;
    double paper; // [ms]
} sizes_def;

static sinew_status add_sizes(bench_run *b, const char *name, const sizes_def *sizes,
                              const bar_def *model) {
    double size[4], cost[4];
    for (int i = 0; i < 4; i++) {
        bar_def def = dynamic_bar(sizes->cells[i][0], sizes->cells[i][1]);
        def.model = model->model;
        def.material = model->material;
        SN_TRY(add_step(b, name, &def, i == sizes->own ? sizes->paper : NAN));
        size[i] = b->results[b->count - 1].size;
        cost[i] = b->results[b->count - 1].min;
    }

    char text[120];
    snprintf(text, sizeof text, "%s: exponent of the step over tets", name);

    bench_result *r = bench_add(b, text, 4, "-");
    if (r) {
        r->min = r->median = bench_fit_exponent(size, cost, 4);
    }

    return SINEW_OK;
}

static void add_ratio(bench_run *b, const char *name, double size, double ratio, double target) {
    bench_result *r = bench_add(b, name, size, "-");
    if (r) {
        r->min = r->median = ratio;
        r->target = target;
    }
}

sinew_status bench_warp(bench_run *b) {
    enum { ROWS = 4, LINEAR = 0, WARPED = 1, COROTATIONAL = 3 };
    static const sizes_def sizes = {
        {{10, 3}, {16, 5}, {23, 7}, {40, 16}}, 0, 5}; // 450 tets to 51 200
    double cost[ROWS][4], tets[4];

    static const struct {
        const char *name;
        sinew_model model;
        sinew_strain strain;
        double paper;
    } rows[ROWS] = {{"bar, linear", SINEW_MODEL_ELASTIC, SINEW_STRAIN_INFINITESIMAL, 5},
                    {"bar, warped", SINEW_MODEL_WARPED, SINEW_STRAIN_COROTATIONAL, 6},
                    {"bar, nonlinear (Green)", SINEW_MODEL_ELASTIC, SINEW_STRAIN_GREEN, 12},
                    {"bar, corotational", SINEW_MODEL_ELASTIC, SINEW_STRAIN_COROTATIONAL, NAN}};

    for (int k = 0; k < ROWS; k++) {
        sizes_def own = sizes;
        own.paper = rows[k].paper;
        bar_def def = dynamic_bar(10, 3);
        def.model = rows[k].model;
        def.material.strain = rows[k].strain;
        SN_TRY(add_sizes(b, rows[k].name, &own, &def));
        for (int i = 0; i < 4; i++) {
            const bench_result *size = &b->results[b->count - 5 + i]; // the exponent follows them
            cost[k][i] = size->min;
            tets[i] = size->size;
        }
    }

    // What warping costs beside the linear model, and what it saves.
    for (int i = 0; i < 4; i++) {
        add_ratio(b, "warped over linear", tets[i], cost[WARPED][i] / cost[LINEAR][i], 1.2);
        add_ratio(b, "warped over corotational", tets[i], cost[WARPED][i] / cost[COROTATIONAL][i],
                  0.5);
    }

    return SINEW_OK;
}

// Bars of about as many tets as the palm, 5664, and of other sizes; 15 images per second.
sinew_status bench_palm(bench_run *b) {
    static const sizes_def sizes = {{{12, 4}, {16, 5}, {23, 7}, {33, 10}}, 2, 1000.0 / 15};
    bar_def def = dynamic_bar(23, 7);
    SN_TRY(add_sizes(b, "bar for the palm, isotropic", &sizes, &def));
    def.material.law = SINEW_MATERIAL_TRANSVERSE;
    return add_sizes(b, "bar for the palm, with fibres", &sizes, &def);
}

// Both laws on one bar with the papers' constants, which need more iterations, and the ratio of
// their times. Adds three results: isotropic, orthotropic, ratio.
static sinew_status add_orthotropic(bench_run *b, const char *what, bar_def *def, double young_1,
                                    double paper) {
    // The same bar by both laws.
    char name[120];
    snprintf(name, sizeof name, "bar %s, isotropic", what);
    SN_TRY(add_step(b, name, def, paper));
    def->material.law = SINEW_MATERIAL_ORTHOTROPIC;
    def->material.orthotropic.young_1 = young_1;
    def->material.orthotropic.young_3 = 1e7;
    snprintf(name, sizeof name, "bar %s, orthotropic", what);
    SN_TRY(add_step(b, name, def, paper));

    if (b->count < 2 || b->count == BENCH_CAPACITY) {
        return SINEW_OK;
    }

    // Their ratio.
    const bench_result *law = &b->results[b->count - 1];
    const bench_result *plain = law - 1;
    bench_result *r =
        bench_add(b, "orthotropic over isotropic, the paper: no slower", law->size, "-");

    r->min = law->min / plain->min;
    r->median = law->median / plain->median;
    r->paper = r->target = 1;
    snprintf(r->note, sizeof r->note,
             "with the papers' constants: other systems, other iterations; the cost of the form "
             "itself is below");

    return SINEW_OK;
}

// The cost of a form of the law by itself: three bodies with the same constants, which differ in
// nothing else, are stepped alternately.
enum { ISOTROPIC, HELD, EXACT, FORMS, FORM_STEPS = LARGEST };

static sinew_status time_forms(bench_run *run, bar bars[FORMS], timing t[FORMS]) {
    for (int32_t i = -WARM_UP; i < FORM_STEPS; i++) {
        for (int form = 0; form < FORMS; form++) {
            sinew_step_report report;
            double start = cli_measured_seconds(run->context);
            SN_TRY(sinew_world_step(bars[form].world, &report));
            if (i < 0) {
                continue;
            }

            t[form].total[i] = cli_measured_seconds(run->context) - start;
            t[form].iterations += (double)report.solver_iterations / FORM_STEPS;
        }
    }

    return SINEW_OK;
}

static sinew_status create_forms(bench_run *run, bar_def def, bar bars[FORMS]) {
    sinew_orthotropic *constants = &def.material.orthotropic;
    constants->young_1 = constants->young_2 = constants->young_3 = def.material.young;
    constants->four_parameters = true;

    for (int form = 0; form < FORMS; form++) {
        def.material.law = form == ISOTROPIC ? SINEW_MATERIAL_HOOKE : SINEW_MATERIAL_ORTHOTROPIC;
        def.material.exact_rotation = form != HELD;
        SN_TRY(bar_create(run->context, &def, &bars[form]));
        SN_TRY(bar_clamp(&bars[form]));
    }

    return SINEW_OK;
}

// The median of the ratios of consecutive steps: a machine that slows down for a while slows both.
static double paired_ratio(const double *above, const double *below, int32_t count) {
    double ratios[LARGEST];
    bench_result middle;
    for (int32_t i = 0; i < count; i++) {
        ratios[i] = above[i] / below[i];
    }

    bench_take(&middle, ratios, count, 1);
    return middle.median;
}

static void add_forms(bench_run *b, timing t[FORMS], int32_t tets) {
    static const char *names[FORMS] = {"isotropic, to compare with",
                                       "orthotropic, the same constants, rotation held",
                                       "orthotropic, the same constants, exact"};
    static const char *ratios[FORMS] = {NULL, "rotation held over isotropic",
                                        "exact over isotropic"};
    static const double targets[FORMS] = {NAN, 1.05,
                                          1.1}; // equal, with an allowance for noise; a tenth more

    // Ratios of neighbouring steps, which other programs disturb alike.
    double cost[FORMS];

    for (int form = 0; form < FORMS; form++) {
        cost[form] = paired_ratio(t[form].total, t[ISOTROPIC].total, FORM_STEPS);
    }

    for (int form = 0; form < FORMS; form++) {
        bench_result *r = bench_add(b, names[form], tets, "ms");
        if (!r) {
            return;
        }

        bench_take(r, t[form].total, FORM_STEPS, 1e3);
        snprintf(r->note, sizeof r->note, "%.0f solver iterations per step", t[form].iterations);
        if (form == ISOTROPIC) {
            continue;
        }

        bench_result *ratio = bench_add(b, ratios[form], tets, "-");
        if (!ratio) {
            return;
        }

        ratio->min = ratio->median = cost[form];
        ratio->target = targets[form];
        snprintf(ratio->note, sizeof ratio->note, "median of the ratios of %d pairs of steps",
                 FORM_STEPS);
    }
}

static sinew_status add_cost_of_forms(bench_run *b, const bar_def *def) {
    bar bars[FORMS] = {{0}};
    timing t[FORMS] = {{.steps = FORM_STEPS}, {.steps = FORM_STEPS}, {.steps = FORM_STEPS}};
    sinew_status status = create_forms(b, *def, bars);
    if (status == SINEW_OK) {
        status = time_forms(b, bars, t);
    }
    if (status == SINEW_OK) {
        add_forms(b, t, bars[0].mesh->element_count);
    }

    for (int form = 0; form < FORMS; form++) {
        bar_destroy(&bars[form]);
    }

    return status;
}

sinew_status bench_orthotropic(bench_run *b) {
    static const struct {
        const char *name;
        int32_t along, across;
        double young_1, fps;
    } rows[4] = {{"for the fish", 23, 6, 1e5, 40},
                 {"for the raptor", 26, 8, 1e6, 21},
                 {"for the hosta leaf", 30, 8, 2e5, 18},
                 {"of a larger size", 41, 11, 1e6, NAN}};

    // The papers' sizes, and a larger one.
    double size[4], plain[4], law[4];
    for (int i = 0; i < 4; i++) {
        bar_def def = dynamic_bar(rows[i].along, rows[i].across);
        SN_TRY(add_orthotropic(b, rows[i].name, &def, rows[i].young_1, 1000 / rows[i].fps));
        if (b->count < 3) {
            return SINEW_OK;
        }

        size[i] = b->results[b->count - 2].size;
        plain[i] = b->results[b->count - 3].min;
        law[i] = b->results[b->count - 2].min;
    }

    // Growth with the size.
    bench_result *r = bench_add(b, "isotropic: exponent of the step over tets", 4, "-");
    if (r) {
        r->min = r->median = bench_fit_exponent(size, plain, 4);
    }

    r = bench_add(b, "orthotropic: exponent of the step over tets", 4, "-");
    if (r) {
        r->min = r->median = bench_fit_exponent(size, law, 4);
    }

    // The cost of the form alone, with equal constants.
    for (int i = 0; i < 4; i++) {
        bar_def def = dynamic_bar(rows[i].along, rows[i].across);
        SN_TRY(add_cost_of_forms(b, &def));
    }

    return SINEW_OK;
}
