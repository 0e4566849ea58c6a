// A scene from memory: built, stepped, its body, probe and load found by name, the load changed, a
// picture rendered, and the result written as VTU and as an animation.
#include <sinew/io.h>
#include <sinew/sinew.h>

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { IMAGES = 5, STEPS_PER_IMAGE = 10 };

static const char text[] =
    "{"
    "  \"version\": 1, \"step\": 0.01, \"gravity\": [0, 0, 0],"
    "  \"materials\": { \"gel\": { \"young\": 2e5, \"poisson\": 0.4, \"density\": 1000 } },"
    "  \"bodies\": [{"
    "    \"name\": \"bar\", \"material\": \"gel\","
    "    \"shape\": { \"kind\": \"box\", \"size\": [1, 0.2, 0.2], \"cell\": 0.1 },"
    "    \"fixed\": [{ \"box\": { \"upper\": [-0.49, 1, 1] } }],"
    "    \"loads\": [{ \"name\": \"lift\", \"force\": [0, 0, 100],"
    "                \"where\": { \"box\": { \"lower\": [0.49, -1, -1] } } }]"
    "  }],"
    "  \"probes\": [{ \"name\": \"tip\", \"body\": \"bar\", \"point\": [0.5, 0, 0] }]"
    "}";

static int fail(sinew_context *context, const char *what) {
    fprintf(stderr, "%s: %s\n", what, sinew_context_message(context));
    return 1;
}

// The present shape for ParaView, with the displacement of every node.
static sinew_status write_vtu(sinew_context *context, sinew_scene *scene, const char *path) {
    static double moved[3 * 2000];
    sinew_mesh mesh = *sinew_scene_get_body_mesh(scene, 0);
    const double *rest = mesh.points;
    mesh.points = sinew_body_get_positions(sinew_scene_get_body(scene, 0));
    for (int32_t i = 0; i < 3 * mesh.point_count && i < 3 * 2000; i++) {
        moved[i] = mesh.points[i] - rest[i];
    }

    sinew_values displacement = {.name = "displacement", .components = 3, .values = moved};
    sinew_mesh_write_def def = sinew_default_mesh_write_def();
    def.point_values = &displacement;
    def.point_value_count = 1;

    return sinew_mesh_save(context, &mesh, path, &def);
}

// A picture, where the build can write one.
static sinew_status draw(sinew_scene *scene, const char *path) {
    sinew_picture *picture = NULL;
    sinew_status status = sinew_scene_render(scene, SINEW_SCENE_COLOR_STRAIN, 0, NULL, &picture);
    if (status == SINEW_OK) {
        status = sinew_picture_save(picture, path);
    }
    sinew_picture_destroy(picture);
    return status == SINEW_UNSUPPORTED ? SINEW_OK : status;
}

int main(void) {
    sinew_context_def context_def = sinew_default_context_def();
    sinew_context *context = sinew_context_create(&context_def);
    if (!context) {
        return 1;
    }

    sinew_source source = {.name = "bar", .data = text, .size = sizeof text - 1};
    sinew_scene *scene = NULL;
    if (sinew_scene_read(context, &source, NULL, NULL, &scene) || sinew_scene_build(scene, NULL)) {
        return fail(context, "scene");
    }

    // Half the force that the scene names.
    int32_t lift = sinew_scene_find_load(scene, "lift");
    if (sinew_scene_set_load_scale(scene, lift, 0.5)) {
        return fail(context, "load");
    }

    // Step, and keep some images of the surface.
    static double images[IMAGES][3 * 2000];
    const double *points[IMAGES];
    double times[IMAGES];
    int32_t bar = sinew_scene_find_body(scene, "bar");
    const sinew_mesh *surface = sinew_scene_get_surface(scene, bar);
    if (surface->point_count > 2000) {
        return 1;
    }

    for (int image = 0; image < IMAGES; image++) {
        for (int step = 0; step < STEPS_PER_IMAGE; step++) {
            if (sinew_scene_step(scene, NULL)) {
                return fail(context, "step");
            }
        }

        memcpy(images[image], sinew_scene_compute_surface(scene, bar),
               3 * (size_t)surface->point_count * sizeof(double));
        points[image] = images[image];
        times[image] = sinew_world_get_time(sinew_scene_get_world(scene));
    }

    sinew_probe_state tip;
    if (sinew_scene_read_probe(scene, sinew_scene_find_probe(scene, "tip"), &tip)) {
        return fail(context, "probe");
    }
    printf("the tip has moved by %.4f m along z\n", tip.displacement[2]);

    // Out: a picture, a mesh with values, an animation and a point cache.
    sinew_animation_def animation = sinew_default_animation_def();
    animation.name = "bar";
    animation.surface = surface;
    animation.image_count = IMAGES;
    animation.times = times;
    animation.points = points;
    if (draw(scene, "bar.png") || write_vtu(context, scene, "bar.vtu") ||
        sinew_animation_save(context, &animation, "bar.glb") ||
        sinew_animation_save(context, &animation, "bar.pc2")) {
        return fail(context, "writing");
    }

    sinew_scene_destroy(scene);
    sinew_context_destroy(context);
    return isfinite(tip.displacement[2]) && fabs(tip.displacement[2]) > 1e-4 ? 0 : 1;
}
