// C4: nothing intersects. After every step of the examples with contact and of random scenes, an
// exact test with a search of its own (tests/support/crossings.h) looks for triangles that
// intersect. And the examples give the same bits for any number of threads.
//
// `--whole` takes all steps of the examples and WHOLE_SCENES random scenes, which takes hours. A
// random scene is a function of its number: 2 to 5 bodies of all models that fly at each other, at
// a floor and at an obstacle, tumbling, with random stiffness, friction, mode and step.
#include "validate/validate.h"

#include "support/scene_crossings.h"

#include "base/context.h"
#include "base/random.h"
#include "io/bytes/buffer.h"

#include <math.h>
#include <stdio.h>

enum { QUICK_SCENES = 12, FULL_SCENES = 100, WHOLE_SCENES = 10000, SCENE_STEPS = 15 };
enum { QUICK_STEPS = 1, FULL_STEPS = 5, THREAD_STEPS = 2 };
enum { GRID = 3, MOST_THREADS = 4 };

// --- Random scenes

static int32_t pick(sn_random *random, int32_t count) {
    return (int32_t)(sn_random_u32(random) % (uint32_t)count);
}

static double log_range(sn_random *random, double low, double high) {
    return exp(sn_random_range(random, log(low), log(high)));
}

static void add_vector(sn_buffer *out, const char *key, const double v[3]) {
    sn_buffer_print(out, ", \"%s\": [%.4f, %.4f, %.4f]", key, v[0], v[1], v[2]);
}

// The shape, and what is particular to the model.
static void add_model(sn_buffer *out, sn_random *random) {
    static const char *const elements[] = {"tet4", "tet4", "tet10", "hex8"};
    static const char *const frames[] = {
        "\"kind\": \"affine\", \"count\": 3", "\"kind\": \"rigid\", \"count\": 2",
        "\"kind\": \"quadratic\", \"count\": 1",
        "\"kind\": \"rigid\", \"count\": 3, \"blend\": \"dual-quaternion\"",
        "\"kind\": \"rigid\", \"count\": 3, \"springs\": true"};
    static const char *const models[] = {"elastic", "elastic", "frames",
                                         "warped",  "rigid",   "positions"};
    int32_t model = pick(random, 6);
    const char *element = model < 2 ? elements[pick(random, 4)] : "tet4";
    bool ball = model < 2 && pick(random, 4) == 0;

    double size[3];
    for (int k = 0; k < 3; k++) {
        size[k] = sn_random_range(random, 0.08, 0.22);
    }
    sn_buffer_print(out, "\"model\": \"%s\", \"shape\": {\"kind\": \"%s\"", models[model],
                    ball ? "sphere" : "box");
    add_vector(out, "size", size);
    if (model != 2) {
        sn_buffer_add_text(out, ", \"cell\": 0.12");
    }
    if (model != 2 && model != 4) {
        sn_buffer_print(out, ", \"element\": \"%s\"", element);
    }
    sn_buffer_add_text(out, "}");
    if (model == 2) {
        sn_buffer_print(out,
                        ", \"frames\": {\"resolution\": 8, %s, \"weights\": {\"kind\": "
                        "\"voronoi\", \"adopt_unreached\": true, \"adopt_outside\": true}}",
                        frames[pick(random, 5)]);
    }
    if (model == 5) {
        sn_buffer_add_text(out, ", \"positions\": {\"iterations\": 10}");
    }
}

// Each body has a cell of the grid to itself at first, and flies towards the middle.
static void add_body(sn_buffer *out, sn_random *random, int32_t index, const int32_t cell[3]) {
    const double pitch = 0.4;
    double position[3], velocity[3], spin[3], axis[3];
    double speed = sn_random_range(random, 2, 8);
    for (int k = 0; k < 3; k++) {
        position[k] = pitch * (cell[k] + (k == 2 ? 0.55 : -0.5 * (GRID - 1)));
        velocity[k] = -speed * (cell[k] - 0.5 * (GRID - 1)) + sn_random_range(random, -1, 1);
        spin[k] = sn_random_range(random, -8, 8);
        axis[k] = sn_random_range(random, 0.1, 1);
    }

    sn_buffer_print(out, "%s{\"name\": \"body%d\", ", index ? ",\n" : "", (int)index);
    add_model(out, random);
    sn_buffer_print(out,
                    ", \"material\": {\"law\": \"corotational\", \"young\": %.4g, \"poisson\": "
                    "0.35, \"density\": %.4g}",
                    log_range(random, 1e4, 1e7), log_range(random, 200, 4000));
    add_vector(out, "position", position);
    add_vector(out, "velocity", velocity);
    add_vector(out, "angular_velocity", spin);
    sn_buffer_print(out, ", \"rotation\": {\"axis\": [%.4f, %.4f, %.4f], \"degrees\": %.2f}}",
                    axis[0], axis[1], axis[2], sn_random_range(random, -180, 180));
}

// Something that stands in the way, below the bodies or beside them.
static void add_obstacle(sn_buffer *out, sn_random *random) {
    double x = sn_random_range(random, 0.75, 0.9);
    switch (pick(random, 4)) {
    case 0:
        sn_buffer_print(out,
                        "{\"kind\": \"box\", \"size\": [0.2, 1, 1], \"position\": "
                        "[%.4f, 0, 0.6]}",
                        x);
        return;
    case 1:
        sn_buffer_print(out,
                        "{\"kind\": \"sphere\", \"radius\": 0.2, \"position\": "
                        "[%.4f, 0, 0.5]}",
                        x + 0.1);
        return;
    case 2:
        sn_buffer_print(out,
                        "{\"kind\": \"capsule\", \"radius\": 0.1, \"length\": 0.6, "
                        "\"position\": [%.4f, 0, 0.5]}",
                        x);
        return;
    default:
        // Pushes all of them.
        sn_buffer_print(out,
                        "{\"kind\": \"box\", \"size\": [0.1, 2, 1.4], \"position\": "
                        "[-0.8, 0, 0.75], \"motion\": {\"translate\": [{\"sine\": 0.3, "
                        "\"period\": %.4f}, 0, 0]}}",
                        sn_random_range(random, 0.5, 2));
    }
}

static void write_scene(sn_buffer *out, int32_t number) {
    static const char *const integrators[] = {"implicit-euler", "newton-euler", "bdf2"};
    sn_random random = sn_random_seed((uint64_t)number + 1);
    sn_buffer_print(out,
                    "{\"version\": 1, \"step\": %.5f, \"steps\": %d, \"integrator\": \"%s\",\n",
                    log_range(&random, 0.004, 0.02), SCENE_STEPS, integrators[pick(&random, 3)]);
    sn_buffer_print(out,
                    "\"contact\": {\"ground\": true, \"mode\": \"%s\", \"self\": %s, "
                    "\"friction\": %.2f},\n\"obstacles\": [",
                    pick(&random, 3) ? "interactive" : "reliable",
                    pick(&random, 4) ? "false" : "true", sn_random_range(&random, 0, 1));
    add_obstacle(out, &random);
    sn_buffer_add_text(out, "],\n\"bodies\": [");

    int32_t count = 2 + pick(&random, 4);
    bool taken[GRID * GRID * GRID] = {false};
    for (int32_t i = 0; i < count; i++) {
        int32_t at = pick(&random, GRID * GRID * GRID);
        while (taken[at]) {
            at = (at + 1) % (GRID * GRID * GRID);
        }
        taken[at] = true;
        add_body(out, &random, i, (int32_t[3]){at % GRID, at / GRID % GRID, at / (GRID * GRID)});
    }
    sn_buffer_add_text(out, "]}\n");
}

static sinew_status check_random(sinew_context *context, int32_t number,
                                 test_crossing_count *count) {
    char name[40];
    snprintf(name, sizeof name, "random scene %d", (int)number);
    sn_buffer text = sn_buffer_create(context);
    write_scene(&text, number);
    sinew_source source = {.name = name, .data = text.data, .size = text.size};
    sinew_scene *scene = NULL;
    sinew_status status = sn_buffer_status(&text);
    if (status == SINEW_OK) {
        status = sinew_scene_read(context, &source, NULL, NULL, &scene);
    }
    if (status == SINEW_OK) {
        status = test_check_scene(context, scene, name, SCENE_STEPS, count);
    }
    sinew_scene_destroy(scene);
    sn_buffer_destroy(&text);
    return status;
}

static void report(validate_run *v, const char *what, const test_crossing_count *count) {
    char claim[120];
    snprintf(claim, sizeof claim, "%s: intersections after any step", what);
    validate_at_most(v, claim, 0, (double)count->faults, "-");
    validate_note(v, "%lld scenes, %lld steps, contact in %lld of them", (long long)count->scenes,
                  (long long)count->steps, (long long)count->touching);
    if (count->unstable > 0) {
        validate_note(v, "%lld scenes ended early with a step that was refused as unstable",
                      (long long)count->unstable);
    }
    if (count->first[0]) {
        validate_note(v, "first: %s", count->first);
    }
}

// --- Threads

// The first random scenes and the examples with another number of threads.
static sinew_status check_threads(validate_run *v, int threads, test_crossing_count *count) {
    sinew_context_def def = sinew_default_context_def();
    def.threads = threads;
    sinew_context *context = sinew_context_create(&def);
    if (!context) {
        return sn_fail(v->context, SINEW_OUT_OF_MEMORY, "out of memory");
    }

    sinew_status status = SINEW_OK;
    for (int32_t i = 0; i < QUICK_SCENES && status == SINEW_OK; i++) {
        status = check_random(context, i, count);
    }
    if (status == SINEW_OK) {
        int32_t steps = v->whole ? INT32_MAX : THREAD_STEPS;
        status = test_check_examples(context, SINEW_EXAMPLE_DIR, steps, count);
    }
    if (status != SINEW_OK) {
        sn_fail(v->context, status, "%s", sinew_context_message(context));
    }
    sinew_context_destroy(context);
    return status;
}

static sinew_status compare_threads(validate_run *v) {
    test_crossing_count one = {0};
    int differing = 0;
    SN_TRY(check_threads(v, 1, &one));
    for (int threads = 2; threads <= MOST_THREADS; threads++) {
        test_crossing_count many = {0};
        SN_TRY(check_threads(v, threads, &many));
        differing += many.hash != one.hash;
    }

    validate_at_most(v, "numbers of threads, 2 to 4, with other bits than one thread", 0, differing,
                     "-");
    validate_note(v, "examples with contact and random scenes: %lld scenes, %lld steps",
                  (long long)one.scenes, (long long)one.steps);
    return SINEW_OK;
}

sinew_status validate_intersections(validate_run *v) {
    test_crossing_count examples = {0}, random = {0};
    int32_t scenes = v->whole ? WHOLE_SCENES : v->quick ? QUICK_SCENES : FULL_SCENES;
    for (int32_t i = 0; i < scenes; i++) {
        SN_TRY(check_random(v->context, i, &random));
        if (v->whole && i % 100 == 99) {
            fprintf(stderr, "%d scenes, %lld intersections\n", (int)i + 1,
                    (long long)random.faults);
        }
    }
    report(v, "random scenes", &random);

    int32_t steps = v->whole ? INT32_MAX : v->quick ? QUICK_STEPS : FULL_STEPS;
    SN_TRY(test_check_examples(v->context, SINEW_EXAMPLE_DIR, steps, &examples));
    report(v, "examples with contact", &examples);
    return v->quick ? SINEW_OK : compare_threads(v);
}
