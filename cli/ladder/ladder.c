// Runs every model beside the reference: steps are timed one by one, points compared at the same
// moments.
#include "ladder/ladder.h"
#include "machine.h"

#include "sinew/surface.h"

#include <assert.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { REFERENCE_TETS = 8000 };

// --- One model

// Sums over the points of a record: squared distance from the reference, and of the reference from
// the positions at rest.
static void compare(const ladder *l, int32_t record, double *distance, double *motion) {
    const double *there = l->reference + 3 * (size_t)l->point_count * (size_t)record;
    for (size_t i = 0; i < 3 * (size_t)l->point_count; i++) {
        double off = l->now[i] - there[i];
        double displacement = there[i] - l->rest[i];
        *distance += off * off;
        *motion += displacement * displacement;
    }
}

static int by_size(const void *a, const void *b) {
    double x = *(const double *)a;
    double y = *(const double *)b;
    return (x > y) - (x < y);
}

typedef struct rung_run {
    ladder *l;
    sinew_variant *variant;
    bool is_reference;
    double *seconds; // of each step
    int32_t count;   // of them
    size_t bytes;    // in use before the model was made
    size_t most;     // used by it
    double distance, motion, last_distance, last_motion;
} rung_run;

static void note_memory(rung_run *run) {
    size_t used = sinew_context_get_memory(run->l->context) - run->bytes;
    run->most = used > run->most ? used : run->most;
}

static sinew_status timed(rung_run *run, sinew_status (*advance)(sinew_variant *variant)) {
    double start = cli_measured_seconds(run->l->context);
    sinew_status status = advance(run->variant);
    run->seconds[run->count++] = cli_measured_seconds(run->l->context) - start;
    note_memory(run);
    return status;
}

static sinew_status take_record(rung_run *run, int32_t record) {
    ladder *l = run->l;
    CLI_TRY(sinew_variant_compute_points(run->variant, l->now));
    if (run->is_reference) {
        size_t size = 3 * (size_t)l->point_count;
        memcpy(l->reference + size * (size_t)record, l->now, size * sizeof(double));
    }

    run->last_distance = run->last_motion = 0;
    compare(l, record, &run->last_distance, &run->last_motion);
    run->distance += run->last_distance;
    run->motion += run->last_motion;

    return SINEW_OK;
}

static sinew_status step_rung(rung_run *run) {
    const ladder *l = run->l;
    int32_t record = 0;
    if (l->is_static) {
        CLI_TRY(timed(run, sinew_variant_solve_static));
        if (l->steps > 0) {
            run->count = 0; // the steps are what is compared
        }
        CLI_TRY(take_record(run, record++));
    }

    for (int32_t i = 1; i <= l->steps; i++) {
        CLI_TRY(timed(run, sinew_variant_step));
        if (i % l->every == 0 || i == l->steps) {
            CLI_TRY(take_record(run, record++));
        }
    }

    assert(record == l->record_count);
    return SINEW_OK;
}

static sinew_status measure(rung_run *run, ladder_result *result) {
    ladder *l = run->l;
    run->seconds = calloc((size_t)l->steps + 1, sizeof(double));
    if (!run->seconds) {
        return SINEW_OUT_OF_MEMORY;
    }

    // The reference says where the points of comparison start.
    note_memory(run);
    sinew_status status = SINEW_OK;
    if (run->is_reference) {
        status = sinew_variant_compute_points(run->variant, l->rest);
    }
    if (status == SINEW_OK) {
        status = step_rung(run);
    }

    if (status == SINEW_OK) {
        // The median step, and errors relative to the motion of the reference.
        qsort(run->seconds, (size_t)run->count, sizeof(double), by_size);
        result->seconds = run->seconds[run->count / 2];
        result->error = sqrt(run->distance / run->motion);
        result->last_error = sqrt(run->last_distance / run->last_motion);
        result->bytes = (double)run->most;
        result->unknowns = sinew_variant_get_unknown_count(run->variant);
        result->available = true;
        if (run->is_reference) {
            l->motion = sqrt(run->motion / l->record_count / l->point_count);
        }
    }

    free(run->seconds);
    return status;
}

// Makes and runs a model; one that cannot run stays in the table with the reason.
static sinew_status climb(ladder *l, const char *family, const char *name,
                          const sinew_variant_def *def) {
    assert(l->count < LADDER_CAPACITY);
    rung_run run = {.l = l, .is_reference = l->count == 0};

    // Memory is what the model adds.
    run.bytes = sinew_context_get_memory(l->context);
    sinew_status status = sinew_variant_create(l->variants, def, &run.variant);
    if (status == SINEW_OUT_OF_MEMORY) {
        return status;
    }

    // A row, whatever happens.
    ladder_result *result = &l->results[l->count++];
    *result = (ladder_result){
        .family = family, .error = NAN, .last_error = NAN, .seconds = NAN, .bytes = NAN};
    snprintf(result->name, sizeof result->name, "%s", name);
    if (status == SINEW_OK) {
        status = measure(&run, result);
    }
    if (status != SINEW_OK) {
        snprintf(result->note, sizeof result->note, "%s", sinew_context_message(l->context));
    }

    sinew_variant_destroy(run.variant);
    if (l->show) {
        l->show(result);
    }
    return status == SINEW_OUT_OF_MEMORY ? status : SINEW_OK;
}

// --- All models

static sinew_status climb_elements(ladder *l) {
    static const struct {
        const char *family, *name;
        double refine;
        bool quadratic;
        sinew_model model;
        const char *law;
    } rungs[] = {
        {"scene's law", "tets, the scene's law, half the cells", 0.5, false, SINEW_MODEL_ELASTIC,
         NULL},
        {"scene's law", "tets, the scene's law", 1, false, SINEW_MODEL_ELASTIC, NULL},
        {"scene's law", "tets, the scene's law, 1.5 times the cells", 1.5, false,
         SINEW_MODEL_ELASTIC, NULL},
        {"ten-node tets", "ten-node tets, half the cells", 0.5, true, SINEW_MODEL_ELASTIC, NULL},
        {"ten-node tets", "ten-node tets", 1, true, SINEW_MODEL_ELASTIC, NULL},
        {"linear tets", "tets, linear", 1, false, SINEW_MODEL_ELASTIC, "linear"},
        {"warped tets", "tets, warped", 1, false, SINEW_MODEL_WARPED, "corotational"},
        {"corotational tets", "tets, corotational", 1, false, SINEW_MODEL_ELASTIC, "corotational"},
        {"neo-Hookean tets", "tets, stable neo-Hookean", 1, false, SINEW_MODEL_ELASTIC,
         "stable-neo-hookean"},
    };

    // All rungs share the scene's supports, loads and integrator.
    for (size_t i = 0; i < sizeof rungs / sizeof *rungs; i++) {
        sinew_variant_def def = sinew_default_variant_def();
        def.refine = rungs[i].refine;
        def.quadratic = rungs[i].quadratic;
        def.model = rungs[i].model;
        def.law = rungs[i].law;
        CLI_TRY(climb(l, rungs[i].family, rungs[i].name, &def));
    }

    return SINEW_OK;
}

static sinew_status climb_frames(ladder *l) {
    static const int32_t counts[] = {3, 5, 9, 17};
    static const struct {
        const char *family;
        sinew_node_kind kind;
        bool springs;
    } kinds[] = {{"rigid frames", SINEW_NODE_RIGID, false},
                 {"affine frames", SINEW_NODE_AFFINE, false},
                 {"quadratic frames", SINEW_NODE_QUADRATIC, false},
                 {"frames with springs", SINEW_NODE_RIGID, true}};

    for (int k = 0; k < 4; k++) {
        for (int i = 0; i < 4; i++) {
            // Every kind at every count.
            char name[80];
            snprintf(name, sizeof name, "%d %s", counts[i], kinds[k].family);
            sinew_variant_def def = sinew_default_variant_def();
            def.kind = SINEW_VARIANT_FRAMES;
            def.node_kind = kinds[k].kind;
            def.node_count = counts[i];
            def.springs = kinds[k].springs;
            CLI_TRY(climb(l, kinds[k].family, name, &def));
        }
    }

    return SINEW_OK;
}

static sinew_status climb_spectral(ladder *l) {
    static const int32_t counts[] = {3, 4, 6, 8};
    for (int i = 0; i < 4; i++) {
        char name[80];
        snprintf(name, sizeof name, "%d spectral frames", counts[i]);
        sinew_variant_def def = sinew_default_variant_def();
        def.kind = SINEW_VARIANT_FRAMES;
        def.node_kind = SINEW_NODE_QUADRATIC;
        def.node_count = counts[i];
        def.spectral = true;
        CLI_TRY(climb(l, "spectral frames", name, &def));
    }

    return SINEW_OK;
}

static sinew_status climb_positions(ladder *l) {
    static const int32_t iterations[] = {5, 20, 80};
    for (int i = 0; i < 3; i++) {
        char name[80];
        snprintf(name, sizeof name, "position dynamics, %d iterations", iterations[i]);
        sinew_variant_def def = sinew_default_variant_def();
        def.kind = SINEW_VARIANT_POSITIONS;
        def.iterations = iterations[i];
        CLI_TRY(climb(l, "position dynamics", name, &def));
    }

    return SINEW_OK;
}

static sinew_status climb_reduced(ladder *l) {
    static const struct {
        const char *name;
        sinew_reduction_kind kind;
        int32_t modes;
    } rungs[] = {
        {"8 modes and derivatives", SINEW_REDUCTION_DERIVATIVES, 8},
        {"20 modes and derivatives", SINEW_REDUCTION_DERIVATIVES, 20},
        {"20 modes", SINEW_REDUCTION_LINEAR, 20},
        {"20 warped modes", SINEW_REDUCTION_WARPED, 20},
    };
    for (size_t i = 0; i < sizeof rungs / sizeof *rungs; i++) {
        sinew_variant_def def = sinew_default_variant_def();
        def.kind = SINEW_VARIANT_REDUCED;
        def.reduction = rungs[i].kind;
        def.modes = rungs[i].modes;
        CLI_TRY(climb(l, "modal coordinates", rungs[i].name, &def));
    }

    return SINEW_OK;
}

// Ten-node tets, as many as can be borne.
static sinew_status climb_reference(ladder *l) {
    sinew_variant_def def = sinew_default_variant_def();
    def.quadratic = true;
    if (sinew_variants_can_refine(l->variants)) {
        double count = sinew_body_get_element_count(sinew_variants_get_body(l->variants));
        def.refine = fmax(1, fmin(2, cbrt(REFERENCE_TETS / count)));
    }

    char name[80];
    snprintf(name, sizeof name, "reference: ten-node tets, %.3g times the cells", def.refine);
    return climb(l, "reference", name, &def);
}

// The points that are compared: boundary nodes of the scene's mesh, evenly left out if there are
// many.
static sinew_status choose_points(ladder *l) {
    const sinew_mesh *surface = sinew_body_get_surface(sinew_variants_get_body(l->variants));
    int32_t stride = (surface->point_count + LADDER_POINTS - 1) / LADDER_POINTS;
    l->point_count = (surface->point_count + stride - 1) / stride;

    size_t size = 3 * (size_t)l->point_count;
    l->rest = calloc(size, sizeof(double));
    l->now = calloc(size, sizeof(double));
    l->reference = calloc(size * (size_t)l->record_count, sizeof(double));
    if (!l->rest || !l->now || !l->reference) {
        return SINEW_OUT_OF_MEMORY;
    }

    for (int32_t i = 0; i < l->point_count; i++) {
        memcpy(l->now + 3 * (size_t)i, surface->points + 3 * (size_t)(i * stride),
               3 * sizeof(double));
    }
    return sinew_variants_set_points(l->variants, l->now, l->point_count);
}

static sinew_status climb_all(ladder *l) {
    CLI_TRY(climb_elements(l));
    CLI_TRY(climb_frames(l));
    CLI_TRY(climb_spectral(l));
    CLI_TRY(climb_reduced(l));
    return climb_positions(l);
}

int ladder_run(ladder *l, const cli_command *command, sinew_scene *scene, int32_t body,
               int32_t steps) {
    // What is compared, and when.
    sinew_scene_info info;
    sinew_scene_get_info(scene, &info);
    l->scene_name = info.name;
    l->body_name = sinew_scene_get_body_name(scene, body);
    l->step = info.step;
    l->is_static = info.is_static;
    l->steps = steps >= 0 ? steps : info.steps;
    l->every = (l->steps + LADDER_RECORDS - 1) / LADDER_RECORDS;
    l->every = l->every > 0 ? l->every : 1;
    l->record_count = (l->steps + l->every - 1) / l->every + l->is_static;

    if (sinew_variants_create(scene, body, &l->variants) != SINEW_OK) {
        return cli_fail_call(command, l->context);
    }
    if (l->record_count == 0) {
        return cli_fail(command, CLI_BAD_INPUT,
                        "the scene has no steps and no static solve to compare");
    }

    if (choose_points(l) != SINEW_OK || climb_reference(l) != SINEW_OK) {
        return cli_fail(command, CLI_BAD_INPUT, "out of memory");
    }
    if (!l->results[0].available) {
        return cli_fail(command, CLI_BAD_INPUT, "the reference cannot be computed: %s",
                        l->results[0].note);
    }

    return climb_all(l) == SINEW_OK ? CLI_OK : cli_fail(command, CLI_BAD_INPUT, "out of memory");
}

void ladder_destroy(ladder *l) {
    sinew_variants_destroy(l->variants);
    free(l->rest);
    free(l->now);
    free(l->reference);
}
