// Default looks, and checks of a scene.
#include "io/picture/scene.h"

sn_picture_mesh sn_picture_mesh_default(void) {
    return (sn_picture_mesh){.color = sn_color_hex(0xd8cfc2),
                             .high = 1,
                             .crease_angle = 40 * (3.14159265358979 / 180),
                             .opacity = 1,
                             .gloss = 0.25};
}

sn_picture_glyphs sn_picture_glyphs_default(sn_glyph_kind kind) {
    return (sn_picture_glyphs){.kind = kind,
                               .scale = 1,
                               .width = kind == SN_GLYPH_POINTS ? 9 : 3,
                               .color = sn_color_hex(kind == SN_GLYPH_FRAMES ? 0xffffff : 0x39424e),
                               .hidden_opacity = kind == SN_GLYPH_LINES ? 0 : 0.5};
}

sn_picture_lights sn_picture_lights_default(const sn_camera *camera) {
    sn_camera_axes axes = sn_camera_get_axes(camera);

    // The camera's own axes lean with its elevation; lights stand upright.
    sn_vec3 up = camera->up;
    sn_vec3 right = axes.x;
    sn_vec3 back = sn_cross(right, up);
    sn_vec3 key = sn_add(sn_scale(1.15, up), sn_add(sn_scale(-0.62, right), sn_scale(0.55, back)));
    sn_vec3 fill = sn_add(sn_scale(0.25, up), sn_add(sn_scale(0.9, right), sn_scale(0.6, back)));

    return (sn_picture_lights){.key = sn_normalize(key),
                               .key_color = {0.86f, 0.83f, 0.78f},
                               .fill = sn_normalize(fill),
                               .fill_color = {0.07f, 0.08f, 0.095f},
                               .sky = {0.40f, 0.42f, 0.45f},
                               .bounce = {0.21f, 0.20f, 0.185f},
                               .softness = 0.016,
                               .sky_directions = 16};
}

sn_picture_backdrop sn_picture_backdrop_default(void) {
    return (sn_picture_backdrop){.top = sn_color_hex(0xdfe5eb), .bottom = sn_color_hex(0xf4f3f0)};
}

sn_picture_scene sn_picture_scene_default(const sn_camera *camera) {
    return (sn_picture_scene){.camera = *camera,
                              .lights = sn_picture_lights_default(camera),
                              .backdrop = sn_picture_backdrop_default()};
}

static bool in_unit_range(double value) {
    return value >= 0 && value <= 1;
}

static sinew_status check_mesh(sinew_context *context, const sn_picture_mesh *mesh, int32_t index) {
    if (mesh->vertex_count < 0 || mesh->triangle_count < 0) {
        return sn_fail(
            context, SINEW_INVALID_ARGUMENT,
            "mesh %d of the picture has %d vertices and %d triangles: none may be negative", index,
            mesh->vertex_count, mesh->triangle_count);
    }

    // Arrays that the counts promise.
    if ((mesh->vertex_count && !mesh->positions) || (mesh->triangle_count && !mesh->triangles) ||
        (mesh->values && !mesh->map)) {
        return sn_fail(context, SINEW_INVALID_ARGUMENT,
                       "mesh %d of the picture has no positions, triangles or colour map", index);
    }

    // Looks.
    if (!in_unit_range(mesh->opacity) || !in_unit_range(mesh->wire) ||
        !in_unit_range(mesh->gloss) || !in_unit_range(mesh->hidden_opacity)) {
        return sn_fail(context, SINEW_INVALID_ARGUMENT,
                       "mesh %d of the picture: opacity %g, wire %g, gloss %g, hidden opacity %g "
                       "must be in [0, 1]",
                       index, mesh->opacity, mesh->wire, mesh->gloss, mesh->hidden_opacity);
    }

    // Indices.
    for (size_t k = 0; k < 3 * (size_t)mesh->triangle_count; k++) {
        if (mesh->triangles[k] < 0 || mesh->triangles[k] >= mesh->vertex_count) {
            return sn_fail(context, SINEW_INVALID_DATA,
                           "mesh %d of the picture: triangle %zu names vertex %d of %d", index,
                           k / 3, mesh->triangles[k], mesh->vertex_count);
        }
    }

    return SINEW_OK;
}

static sinew_status check_glyphs(sinew_context *context, const sn_picture_glyphs *glyphs,
                                 int32_t index) {
    // Arrays.
    bool needs_vectors = glyphs->kind == SN_GLYPH_ARROWS || glyphs->kind == SN_GLYPH_FRAMES;
    if (glyphs->count < 0 ||
        (glyphs->count && (!glyphs->points || (needs_vectors && !glyphs->vectors)))) {
        return sn_fail(context, SINEW_INVALID_ARGUMENT,
                       "glyphs %d of the picture: count %d, or points or vectors missing", index,
                       glyphs->count);
    }

    // Looks.
    if (!in_unit_range(glyphs->hidden_opacity) || !in_unit_range(glyphs->tint) ||
        !(glyphs->width > 0 && glyphs->width <= 1000)) {
        return sn_fail(context, SINEW_INVALID_ARGUMENT,
                       "glyphs %d of the picture: hidden opacity %g and tint %g must be in [0, 1], "
                       "width %g in (0, 1000]",
                       index, glyphs->hidden_opacity, glyphs->tint, glyphs->width);
    }

    // Lines.
    if (glyphs->kind != SN_GLYPH_LINES || !glyphs->line_lengths) {
        return SINEW_OK;
    }

    int64_t sum = 0;
    for (int32_t i = 0; i < glyphs->line_count && sum >= 0 && sum <= glyphs->count; i++) {
        sum = glyphs->line_lengths[i] < 0 ? -1 : sum + glyphs->line_lengths[i];
    }

    if (sum == glyphs->count) {
        return SINEW_OK;
    }

    return sn_fail(context, SINEW_INVALID_ARGUMENT,
                   "glyphs %d of the picture: the %d line lengths do not sum up to %d points",
                   index, glyphs->line_count, glyphs->count);
}

sinew_status sn_picture_check(sinew_context *context, const sn_picture_scene *scene) {
    // Camera.
    const sn_camera *camera = &scene->camera;
    double distance = sn_distance(camera->eye, camera->target);
    if (!(distance > 0) || !isfinite(distance) || !(camera->field > 0 && camera->field < 3) ||
        !(fabs(sn_length(camera->up) - 1) < 1e-6)) {
        return sn_fail(context, SINEW_INVALID_ARGUMENT,
                       "the picture's camera: distance %g must be positive, field %g in (0, 3), "
                       "the length of up %g be 1",
                       distance, camera->field, sn_length(camera->up));
    }

    // Lights.
    if (scene->lights.sky_directions < 0 || scene->lights.sky_directions > 256 ||
        !(scene->lights.softness >= 0)) {
        return sn_fail(context, SINEW_INVALID_ARGUMENT,
                       "the picture's lights: %d sky directions, softness %g; valid [0, 256], >= 0",
                       scene->lights.sky_directions, scene->lights.softness);
    }

    double key = sn_length(scene->lights.key);
    double fill = sn_length(scene->lights.fill);
    if (!(key > 0) || !isfinite(key) || !isfinite(fill)) {
        return sn_fail(context, SINEW_INVALID_ARGUMENT,
                       "the picture's key light points nowhere: its direction has length %g", key);
    }

    // Objects.
    if (scene->mesh_count < 0 || scene->glyph_count < 0 || (scene->mesh_count && !scene->meshes) ||
        (scene->glyph_count && !scene->glyphs)) {
        return sn_fail(context, SINEW_INVALID_ARGUMENT,
                       "a picture of %d meshes and %d glyphs: an array is missing",
                       scene->mesh_count, scene->glyph_count);
    }

    for (int32_t i = 0; i < scene->mesh_count; i++) {
        SN_TRY(check_mesh(context, &scene->meshes[i], i));
    }

    for (int32_t i = 0; i < scene->glyph_count; i++) {
        SN_TRY(check_glyphs(context, &scene->glyphs[i], i));
    }

    return SINEW_OK;
}
