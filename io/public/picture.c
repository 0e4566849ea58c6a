// Pictures for users of the library.
#include "io/public/picture.h"

#include "io/picture/png.h"
#include "io/picture/render.h"
#include "io/public/bytes.h"
#include "io/public/scene.h"

#include <math.h>
#include <string.h>

struct sinew_picture {
    sinew_context *context;
    sn_image image; // rows without gaps
};

void sinew_picture_destroy(sinew_picture *picture) {
    if (!picture) {
        return;
    }
    sn_image_destroy(picture->context, &picture->image);
    sn_release(picture->context, picture, 1, sizeof *picture);
}

sinew_status sn_picture_take(sinew_context *context, sn_image *image, sinew_picture **picture) {
    sinew_picture *made = sn_allocate(context, 1, sizeof *made);
    if (!made) {
        return SINEW_OUT_OF_MEMORY;
    }
    *made = (sinew_picture){context, *image};
    *image = (sn_image){0};
    *picture = made;
    return SINEW_OK;
}

int32_t sinew_picture_get_width(const sinew_picture *picture) {
    SN_NEED_OR(0, picture);
    return picture->image.width;
}

int32_t sinew_picture_get_height(const sinew_picture *picture) {
    SN_NEED_OR(0, picture);
    return picture->image.height;
}

const uint8_t *sinew_picture_get_pixels(const sinew_picture *picture) {
    SN_NEED_OR(NULL, picture);
    return picture->image.pixels;
}

sinew_status sinew_picture_write(const sinew_picture *picture, sinew_bytes *out) {
    SN_NEED(NULL, picture && out);
    SN_TRY(sn_png_write(picture->context, picture->image, &out->buffer));
    return sn_buffer_status(&out->buffer);
}

sinew_status sinew_picture_save(const sinew_picture *picture, const char *path) {
    SN_NEED(NULL, picture && path);
    sn_buffer out = sn_buffer_create(picture->context);
    return sn_save_buffer(sn_png_write(picture->context, picture->image, &out), &out, path);
}

sinew_picture_surface sinew_default_picture_surface(void) {
    return (sinew_picture_surface){.high = 1, .opacity = 1};
}

sinew_picture_def sinew_default_picture_def(void) {
    return (sinew_picture_def){.width = 800,
                               .height = 600,
                               .direction = {0.45, -0.75, 0.35},
                               .up = {0, 0, 1},
                               .ground = true,
                               .filled = SN_DEF_FILLED};
}

// Where the camera stands, as angles about `up` the way the fit takes them.
static sinew_status begin_fit(sinew_context *context, const sinew_picture_def *def,
                              sn_camera_fit *fit) {
    sn_vec3 up = sn_load3(def->up);
    sn_vec3 direction = sn_load3(def->direction);
    double sine = sn_dot(up, direction) / (sn_length(up) * sn_length(direction));
    if (!(fabs(sine) < 1 - 1e-9)) {
        return sn_fail(context, SINEW_INVALID_ARGUMENT,
                       "the direction towards the camera and up must not be zero nor parallel");
    }

    // Azimuths count from an axis that depends on `up` alone: measure it, then turn to the
    // direction.
    double aspect = (double)def->width / def->height;
    up = sn_normalize(up);
    sn_camera_fit probe = sn_camera_fit_begin(up, 0, 0, 0.5, aspect, 0.08);
    sn_vec3 zero = probe.axes.z;
    double azimuth = atan2(sn_dot(sn_cross(zero, direction), up), sn_dot(zero, direction));
    *fit = sn_camera_fit_begin(up, azimuth, asin(sine), 0.5, aspect, 0.08);

    return SINEW_OK;
}

// Meshes for the renderer; the lowest point along `up` comes along.
static double add_surfaces(const sinew_picture_surface *surfaces, int32_t count,
                           const sn_colormap *map, sn_vec3 up, sn_picture_mesh *meshes,
                           sn_camera_fit *fit) {
    double lowest = INFINITY;
    for (int32_t i = 0; i < count; i++) {
        const sinew_picture_surface *from = &surfaces[i];
        sn_picture_mesh *mesh = &meshes[i];
        *mesh = sn_picture_mesh_default();

        // Shape and appearance.
        mesh->positions = from->points ? from->points : from->mesh->points;
        mesh->vertex_count = from->mesh->point_count;
        mesh->triangles = from->mesh->indices;
        mesh->triangle_count = from->mesh->element_count;
        mesh->color = from->has_color ? sn_color_hex(from->color) : sn_palette(i);
        mesh->opacity = from->opacity;
        mesh->values = from->values;
        mesh->map = map;
        mesh->low = from->low;
        mesh->high = from->high > from->low ? from->high : from->low + 1;

        // What the camera must show, and where the ground can be at most.
        if (fit) {
            sn_camera_fit_add(fit, mesh->positions, mesh->vertex_count);
        }
        for (int32_t k = 0; k < mesh->vertex_count; k++) {
            double height = sn_dot(sn_load3(mesh->positions + 3 * (size_t)k), up);
            lowest = height < lowest ? height : lowest;
        }
    }

    return isfinite(lowest) ? lowest : 0;
}

static sinew_status check_surfaces(sinew_context *context, const sinew_picture_surface *surfaces,
                                   int32_t count) {
    for (int32_t i = 0; i < count; i++) {
        if (!surfaces[i].mesh || surfaces[i].mesh->element != SINEW_ELEMENT_TRIANGLE) {
            return sn_fail(context, SINEW_INVALID_ARGUMENT, "surface %d is not made of triangles",
                           (int)i);
        }
    }
    return SINEW_OK;
}

static sinew_status render(sinew_context *context, const sinew_picture_surface *surfaces,
                           int32_t count, const sinew_picture_def *def, sn_arena *scratch,
                           sn_image image) {
    sn_picture_mesh *meshes = SN_PUSH(scratch, sn_picture_mesh, count);
    sn_colormap *map = SN_PUSH(scratch, sn_colormap, 1);
    sn_camera_fit fit;

    SN_TRY(sn_arena_status(scratch));
    SN_TRY(begin_fit(context, def, &fit));
    sn_colormap_init(map, SN_COLORMAP_EMBER);

    // Frame a given box, or what is seen.
    bool boxed = sn_distance(sn_load3(def->lower), sn_load3(def->upper)) > 0;
    double lowest = add_surfaces(surfaces, count, map, fit.up, meshes, boxed ? NULL : &fit);
    if (boxed) {
        sn_camera_fit_add_box(&fit, sn_load3(def->lower), sn_load3(def->upper));
    }

    sn_camera camera = sn_camera_fit_end(&fit);
    sn_picture_scene scene = sn_picture_scene_default(&camera);
    scene.meshes = meshes;
    scene.mesh_count = count;
    scene.backdrop.ground = def->ground;
    scene.backdrop.ground_height = lowest;

    return sn_picture_render(context, &scene, image);
}

sinew_status sinew_picture_render(sinew_context *context, const sinew_picture_surface *surfaces,
                                  int32_t count, const sinew_picture_def *def,
                                  sinew_picture **picture) {
    SN_NEED(NULL, context);
    sinew_picture_def defaults = sinew_default_picture_def();
    def = def ? def : &defaults;
    SN_TRY(SN_CHECK_DEF(context, def, "sinew_default_picture_def"));
    SN_NEED(context, picture);
    SN_TRY(check_surfaces(context, surfaces, count));

    sinew_picture *made = sn_allocate(context, 1, sizeof *made);
    if (!made) {
        return SINEW_OUT_OF_MEMORY;
    }

    made->context = context;

    // Nothing is handed over unless all of it succeeded.
    sn_arena scratch = sn_arena_create(context);
    sinew_status status = sn_image_create(context, def->width, def->height, &made->image);
    if (status == SINEW_OK) {
        status = render(context, surfaces, count, def, &scratch, made->image);
    }

    sn_arena_destroy(&scratch);
    if (status != SINEW_OK) {
        sinew_picture_destroy(made);
        return status;
    }

    *picture = made;
    return SINEW_OK;
}

// --- scenes and worlds

static sinew_status check_color(sinew_context *context, sinew_scene_color color) {
    if ((int)color >= 0 && color < SINEW_SCENE_COLOR_NONE) {
        return SINEW_OK;
    }
    return sn_fail(context, SINEW_INVALID_ARGUMENT, "colour %d shows no values", (int)color);
}

sinew_status sinew_scene_compute_values(sinew_scene *scene, int32_t body, sinew_scene_color color,
                                        double *values) {
    SN_NEED(NULL, scene && values);
    sn_scene_member *member = sn_scene_get_member(scene, body);
    if (!member) {
        return sn_fail(scene->context, SINEW_INVALID_ARGUMENT,
                       "body %d: the scene has %d, once it is built", (int)body,
                       (int)scene->scene.body_count);
    }
    SN_TRY(check_color(scene->context, color));

    return sn_scene_member_compute_values(member, color, values);
}

// Renders surfaces whose values share one scale, which ends at `largest` or at the largest value.
static sinew_status render_values(sinew_context *context, sinew_picture_surface *surfaces,
                                  int32_t count, double largest, const sinew_picture_def *def,
                                  sinew_picture **picture) {
    double top = largest;
    for (int32_t i = 0; i < count; i++) {
        if (largest != 0 || !surfaces[i].values) {
            continue;
        }
        for (int32_t k = 0; k < surfaces[i].mesh->point_count; k++) {
            top = fmax(top, surfaces[i].values[k]);
        }
    }

    for (int32_t i = 0; i < count; i++) {
        surfaces[i].high = top;
    }
    return sinew_picture_render(context, surfaces, count, def, picture);
}

static sinew_status fill_surface(sinew_scene *scene, int32_t body, sinew_scene_color color,
                                 sn_arena *scratch, sinew_picture_surface *surface) {
    *surface = sinew_default_picture_surface();
    surface->mesh = sinew_scene_get_surface(scene, body);
    surface->points = sinew_scene_compute_surface(scene, body);
    if (color == SINEW_SCENE_COLOR_NONE) {
        return SINEW_OK;
    }

    double *values = SN_PUSH(scratch, double, surface->mesh->point_count);
    SN_TRY(sn_arena_status(scratch));
    surface->values = values;

    return sinew_scene_compute_values(scene, body, color, values);
}

sinew_status sinew_scene_render(sinew_scene *scene, sinew_scene_color color, double largest,
                                const sinew_picture_def *def, sinew_picture **picture) {
    SN_NEED(NULL, scene && picture);

    if (!scene->world) {
        return sn_fail(scene->context, SINEW_INVALID_ARGUMENT, "the scene is not built yet");
    }

    int32_t count = scene->scene.body_count;
    sn_arena scratch = sn_arena_create(scene->context);
    sinew_picture_surface *surfaces = SN_PUSH(&scratch, sinew_picture_surface, count);
    sinew_status status = sn_arena_status(&scratch);
    for (int32_t i = 0; i < count && status == SINEW_OK; i++) {
        status = fill_surface(scene, i, color, &scratch, &surfaces[i]);
    }
    if (status == SINEW_OK) {
        status = render_values(scene->context, surfaces, count, largest, def, picture);
    }

    sn_arena_destroy(&scratch);
    return status;
}

static sinew_status fill_body(sinew_context *context, sinew_body *body, sinew_scene_color color,
                              sn_arena *scratch, sinew_picture_surface *surface) {
    *surface = sinew_default_picture_surface();
    surface->mesh = sinew_body_get_surface(body);

    bool valued = color != SINEW_SCENE_COLOR_NONE;
    double *points = SN_PUSH(scratch, double, 3 * (size_t)surface->mesh->point_count);
    double *values = SN_PUSH(scratch, double, valued ? surface->mesh->point_count : 0);
    SN_TRY(sn_arena_status(scratch));

    sinew_body_compute_surface(body, points, NULL);
    surface->points = points;
    if (!valued) {
        return SINEW_OK;
    }
    surface->values = values;
    return sn_body_compute_values(context, body, color, values);
}

sinew_status sinew_picture_render_world(sinew_context *context, sinew_world *world,
                                        sinew_scene_color color, double largest,
                                        const sinew_picture_def *def, sinew_picture **picture) {
    SN_NEED(NULL, context);
    SN_NEED(context, world && picture);

    if (color == SINEW_SCENE_COLOR_DISPLACEMENT) {
        return sn_fail(context, SINEW_UNSUPPORTED,
                       "a world does not know where its bodies were placed, and so no "
                       "displacements; choose strain, stress, speed or none");
    }
    if (color != SINEW_SCENE_COLOR_NONE) {
        SN_TRY(check_color(context, color));
    }

    // One surface for each body, coloured by its values.
    int32_t count = sinew_world_get_body_count(world);
    sn_arena scratch = sn_arena_create(context);
    sinew_picture_surface *surfaces = SN_PUSH(&scratch, sinew_picture_surface, count);
    sinew_status status = sn_arena_status(&scratch);
    for (int32_t i = 0; i < count && status == SINEW_OK; i++) {
        status = fill_body(context, sinew_world_get_body(world, i), color, &scratch, &surfaces[i]);
    }
    if (status == SINEW_OK) {
        status = render_values(context, surfaces, count, largest, def, picture);
    }

    sn_arena_destroy(&scratch);
    return status;
}
