// The core under Node: what the page in the browser relies on works without threads and without the
// optional libraries.
#include <sinew/io.h>
#include <sinew/sinew.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int failures;

static void check(bool condition, const char *what) {
    printf("%s: %s\n", condition ? "ok" : "FAILED", what);
    if (!condition) {
        failures++;
    }
}

static void check_bad_input(void) {
    sinew_context_def def = sinew_default_context_def();
    def.threads = 0;
    check(sinew_context_create(&def) == NULL, "zero threads are refused");
    def.threads = 1;

    sinew_context *context = sinew_context_create(&def);
    check(context != NULL && strcmp(sinew_context_message(context), "") == 0,
          "a context without a message");

    sinew_shape_def shape = sinew_default_shape_def();
    shape.size[1] = -1;

    sinew_mesh *mesh = NULL;
    check(sinew_mesh_create_shape(context, &shape, &mesh) != SINEW_OK && !mesh,
          "a negative size is refused");
    check(strlen(sinew_context_message(context)) > 0, "with a message");
    sinew_context_destroy(context);
}

// A bar of 1 m by 0.25 m by 0.25 m, held at one end; returns it, or NULL.
static sinew_body *make_bar(sinew_context *context, sinew_world *world, sinew_element element) {
    sinew_shape_def shape = sinew_default_shape_def();
    shape.element = element;
    shape.size[1] = shape.size[2] = 0.25;
    shape.cell_size = 0.125;

    sinew_mesh *mesh = NULL;
    check(sinew_mesh_create_shape(context, &shape, &mesh) == SINEW_OK, "a mesh");

    sinew_material_def material = sinew_default_material_def();
    material.young = 1e6;
    material.poisson = 0.3;
    material.density = 1000;

    sinew_body_def def = sinew_default_body_def();
    def.mesh = mesh;
    def.materials = &material;
    def.material_count = 1;

    sinew_body *bar = NULL;
    check(sinew_body_create(world, &def, &bar) == SINEW_OK, "a body");
    sinew_mesh_destroy(mesh);

    for (int32_t node = 0; bar && node < sinew_body_get_node_count(bar); node++) {
        if (sinew_body_get_rest_positions(bar)[3 * node] > -0.499) {
            continue;
        }
        if (sinew_body_fix_nodes(bar, &node, 1, SINEW_AXIS_ALL) != SINEW_OK) {
            return NULL;
        }
    }

    return bar;
}

static double lowest(const sinew_body *body) {
    double z = 0;
    for (int32_t node = 0; node < sinew_body_get_node_count(body); node++) {
        z = fmin(z, sinew_body_get_positions(body)[3 * node + 2]);
    }
    return z;
}

// Beam theory: the end sinks by w L^4 / (8 E I), here 0.235 m; ten-node tets at this coarseness and
// this large a deflection come within a tenth.
static void check_static_bar(sinew_context *context) {
    sinew_world_def def = sinew_default_world_def();
    sinew_world *world = NULL;

    check(sinew_world_create(context, &def, &world) == SINEW_OK, "a world");
    sinew_body *bar = make_bar(context, world, SINEW_ELEMENT_TET10);
    sinew_static_def static_def = sinew_default_static_def();
    sinew_step_report report = {0};

    check(bar && sinew_world_solve_static(world, &static_def, &report) == SINEW_OK,
          "a static solve");
    check(report.outcome == SINEW_OUTCOME_CONVERGED, "which converges");

    double sunk = bar ? -0.125 - lowest(bar) : 0;
    printf("the end sinks by %.4f m\n", sunk);
    check(fabs(sunk - 0.235) < 0.03, "as beam theory says");
    sinew_world_destroy(world);
}

// Swinging: a snapshot in the middle, restored, leads to the same bits.
static void check_moving_bar(sinew_context *context) {
    sinew_world_def def = sinew_default_world_def();
    sinew_world *world = NULL;

    check(sinew_world_create(context, &def, &world) == SINEW_OK, "a world");
    sinew_body *bar = make_bar(context, world, SINEW_ELEMENT_TET4);
    bool stepped = bar != NULL;

    for (int step = 0; stepped && step < 10; step++) {
        stepped = sinew_world_step(world, NULL) == SINEW_OK;
    }

    check(stepped, "ten steps");
    size_t size = sinew_world_get_snapshot_size(world);
    void *snapshot = malloc(size);

    check(snapshot && sinew_world_take_snapshot(world, snapshot, size) == SINEW_OK, "a snapshot");
    for (int step = 0; step < 10; step++) {
        sinew_world_step(world, NULL);
    }

    uint64_t first = sinew_world_get_hash(world);
    check(sinew_world_restore_snapshot(world, snapshot, size) == SINEW_OK, "restored");
    for (int step = 0; step < 10; step++) {
        sinew_world_step(world, NULL);
    }

    check(sinew_world_get_hash(world) == first, "leads to the same bits");
    sinew_measures measures;

    sinew_world_get_measures(world, &measures);
    check(isfinite(measures.elastic_energy) && measures.elastic_energy > 0 &&
              measures.smallest_J > 0.5,
          "sound measures");
    free(snapshot);
    sinew_world_destroy(world);
}

// A scene from a buffer: what the page does with a scene that someone drops on it.
static void check_scene(sinew_context *context) {
    static const char text[] =
        "{ \"version\": 1, \"step\": 0.01,"
        "  \"bodies\": [{ \"name\": \"bar\","
        "    \"shape\": { \"kind\": \"box\", \"size\": [1, 0.25, 0.25], \"cell\": 0.125 },"
        "    \"fixed\": [{ \"box\": { \"upper\": [-0.49, 1, 1] } }] }],"
        "  \"probes\": [{ \"name\": \"tip\", \"body\": \"bar\", \"point\": [0.5, 0, 0] }] }";
    const sinew_source source = {.name = "bar.json", .data = text, .size = sizeof text - 1};
    sinew_scene *scene = NULL;
    check(sinew_scene_read(context, &source, NULL, NULL, &scene) == SINEW_OK,
          "a scene from a buffer");
    check(scene && sinew_scene_build(scene, NULL) == SINEW_OK, "is built");

    bool stepped = scene && sinew_scene_get_world(scene);
    for (int step = 0; stepped && step < 10; step++) {
        stepped = sinew_scene_step(scene, NULL) == SINEW_OK;
    }
    check(stepped, "and stepped");

    // In free fall it would sink by 0.054 m; hinged at the other end, a rod's tip falls with 3/2 g.
    sinew_probe_state tip = {0};
    check(stepped &&
              sinew_scene_read_probe(scene, sinew_scene_find_probe(scene, "tip"), &tip) == SINEW_OK,
          "its probe is found by name");
    printf("the tip sinks by %.4f m\n", -tip.displacement[2]);
    check(tip.displacement[2] < -1e-5 && tip.displacement[2] > -0.081, "and sinks");

    sinew_picture_def def = sinew_default_picture_def();
    sinew_picture *picture = NULL;
    def.width = def.height = 64;
    check(stepped && sinew_scene_render(scene, SINEW_SCENE_COLOR_DISPLACEMENT, 0, &def, &picture) ==
                         SINEW_OK,
          "and is rendered into pixels");
    sinew_picture_destroy(picture);
    sinew_scene_destroy(scene);
}

int main(void) {
    check_bad_input();
    sinew_context_def def = sinew_default_context_def();
    sinew_context *context = sinew_context_create(&def);
    if (!context) {
        return 1;
    }

    check_static_bar(context);
    check_moving_bar(context);
    check_scene(context);
    if (failures) {
        printf("last message: %s\n", sinew_context_message(context));
    }

    sinew_context_destroy(context);
    return failures > 0;
}
