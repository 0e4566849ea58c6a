// Collects views of bodies and draws them as one picture; see album.h.
#include "validate/album.h"
#include "files.h"

#include "io/picture/png.h"
#include "io/picture/render.h"
#include "io/picture/sheet.h"
#include "math/vec.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

void album_begin(validate_run *v, album *a) {
    *a = (album){.run = v, .arena = sn_arena_create(v->context)};
}

void album_add_surface(album *a, const char *caption, const sinew_mesh *rest,
                       const double *points) {
    if (!a->run->folder || a->count == ALBUM_CAPACITY) {
        return;
    }

    // Copies, because the body moves on or is destroyed.
    size_t numbers = 3 * (size_t)rest->point_count;
    size_t indices = 3 * (size_t)rest->element_count;
    album_view view = {.caption = caption,
                       .point_count = rest->point_count,
                       .triangle_count = rest->element_count};

    view.triangles = SN_PUSH(&a->arena, int32_t, indices);
    view.points = SN_PUSH(&a->arena, double, numbers);
    view.values = SN_PUSH(&a->arena, double, rest->point_count);
    if (sn_arena_status(&a->arena) != SINEW_OK) {
        return;
    }

    memcpy(view.triangles, rest->indices, indices * sizeof *view.triangles);
    memcpy(view.points, points, numbers * sizeof *points);

    // Coloured by displacement.
    for (size_t i = 0; i < numbers; i += 3) {
        view.values[i / 3] = sn_distance(sn_load3(points + i), sn_load3(rest->points + i));
    }

    a->views[a->count++] = view;
}

static void add_frame_body(album *a, const char *caption, sinew_body *body) {
    const sinew_mesh *surface = sinew_body_get_surface(body);
    int32_t frames = sinew_frame_body_get_node_count(body);
    double *points = SN_PUSH(&a->arena, double, 3 * (size_t)surface->point_count);
    double *origins = SN_PUSH(&a->arena, double, 3 * (size_t)frames);
    double *matrices = SN_PUSH(&a->arena, double, 9 * (size_t)frames);

    if (sn_arena_status(&a->arena) != SINEW_OK) {
        return;
    }

    // The surface, if there is room for another picture.
    sinew_body_compute_surface(body, points, NULL);
    int32_t before = a->count;

    album_add_surface(a, caption, surface, points);
    if (a->count == before) {
        return;
    }

    // The frames as they are now.
    for (int32_t i = 0; i < frames; i++) {
        sinew_frame_body_get_node(body, i, origins + 3 * (size_t)i, NULL);
        sinew_frame_body_get_matrix(body, i, matrices + 9 * (size_t)i);
    }

    album_view *view = &a->views[before];
    view->frame_points = origins;
    view->frame_matrices = matrices;
    view->frame_count = frames;
}

static void add_elements(album *a, const char *caption, sinew_body *body, const sinew_mesh *mesh) {
    sinew_mesh *surface;
    const int32_t *nodes;
    if (sinew_mesh_create_surface(a->run->context, mesh, &surface, &nodes) != SINEW_OK) {
        a->arena.failed = true;
        return;
    }

    double *points = SN_PUSH(&a->arena, double, 3 * (size_t)surface->point_count);
    const double *x = sinew_body_get_positions(body);
    if (points) {
        for (int32_t i = 0; i < surface->point_count; i++) {
            memcpy(points + 3 * (size_t)i, x + 3 * (size_t)nodes[i], 3 * sizeof *x);
        }

        album_add_surface(a, caption, surface, points);
    }

    sinew_mesh_destroy(surface);
}

void album_add_values(album *a, const char *caption, const sinew_mesh *surface,
                      const double *values) {
    int32_t before = a->count;
    album_add_surface(a, caption, surface, surface->points);
    if (a->count > before) {
        memcpy(a->views[before].values, values, (size_t)surface->point_count * sizeof *values);
    }
}

void album_add(album *a, const char *caption, sinew_body *body, const sinew_mesh *mesh) {
    if (!a->run->folder) {
        return;
    }

    if (mesh) {
        add_elements(a, caption, body, mesh);
    } else {
        add_frame_body(a, caption, body);
    }
}

// One picture: the body coloured by its displacement, its frames drawn as axes. The axes are a
// tenth as long as the extent of all bodies.
static sinew_status render(album *a, const album_view *view, const sn_camera *camera,
                           const sn_legend *scale, double extent, sn_image cell) {
    // The body, coloured by the shared scale.
    sn_picture_scene scene = sn_picture_scene_default(camera);
    sn_picture_mesh mesh = sn_picture_mesh_default();

    mesh.positions = view->points;
    mesh.vertex_count = view->point_count;
    mesh.triangles = view->triangles;
    mesh.triangle_count = view->triangle_count;
    mesh.values = view->values;
    mesh.map = scale->map;
    mesh.low = scale->low;
    mesh.high = scale->high;

    // Its frames, drawn as axes.
    sn_picture_glyphs frames = sn_picture_glyphs_default(SN_GLYPH_FRAMES);
    frames.points = view->frame_points;
    frames.vectors = view->frame_matrices;
    frames.count = view->frame_count;
    frames.scale = 0.1 * extent;
    scene.meshes = &mesh;
    scene.mesh_count = 1;
    scene.glyphs = &frames;
    scene.glyph_count = view->frame_count > 0;

    return sn_picture_render(a->run->context, &scene, cell);
}

static sinew_status draw(album *a, const album_look *look, sn_sheet *sheet) {
    sn_sheet_def def = sn_sheet_def_default();
    sn_camera_fit fit = sn_camera_fit_begin(sn_v3(0, 0, 1), look->azimuth, look->elevation, 0.5,
                                            (double)def.cell_width / def.cell_height, 0.06);
    const char *captions[ALBUM_CAPACITY];
    double largest = 0;
    sn_vec3 low = {INFINITY, INFINITY, INFINITY};
    sn_vec3 high = {-INFINITY, -INFINITY, -INFINITY};

    // Fit the camera to all views; find the largest value and the bounding box.
    for (int32_t i = 0; i < a->count; i++) {
        const album_view *view = &a->views[i];
        captions[i] = view->caption;
        sn_camera_fit_add(&fit, view->points, view->point_count);

        for (int32_t k = 0; k < view->point_count; k++) {
            largest = fmax(largest, view->values[k]);
            low = sn_min3(low, sn_load3(view->points + 3 * (size_t)k));
            high = sn_max3(high, sn_load3(view->points + 3 * (size_t)k));
        }
    }

    // One legend for all views.
    sn_colormap map;
    sn_colormap_init(&map, SN_COLORMAP_EMBER);

    sn_legend legend = {.title = look->values ? look->values : "displacement [m]",
                        .map = &map,
                        .low = 0,
                        .high = fmax(largest, 1e-12)};

    def.count = a->count;
    def.columns = a->count > 4 ? 3 : a->count;
    def.title = look->title;
    def.captions = captions;
    def.legend = &legend;

    sn_camera camera = sn_camera_fit_end(&fit);
    SN_TRY(sn_sheet_create(a->run->context, &def, sheet));

    // Draw the views into their cells.
    sinew_status status = SINEW_OK;
    for (int32_t i = 0; i < a->count && status == SINEW_OK; i++) {
        status = render(a, &a->views[i], &camera, &legend, sn_distance(low, high),
                        sn_sheet_cell(sheet, i));
    }

    if (status != SINEW_OK) {
        sn_sheet_destroy(a->run->context, sheet);
    }

    return status;
}

sinew_status album_end(album *a, const char *name, const album_look *look, sinew_status status) {
    validate_run *v = a->run;
    if (status == SINEW_OK) {
        status = sn_arena_status(&a->arena);
    }

    // Draw all views on one sheet.
    if (status == SINEW_OK && a->count > 0) {
        sn_sheet sheet;
        sn_buffer png = sn_buffer_create(v->context);

        status = draw(a, look, &sheet);
        if (status == SINEW_OK) {
            status = sn_png_write(v->context, sheet.image, &png);
            sn_sheet_destroy(v->context, &sheet);
        }

        if (status == SINEW_OK) {
            status = validate_keep_picture(v, name, "png", &png);
        }
        if (status == SINEW_UNSUPPORTED) {
            status = SINEW_OK; // built without libpng
        }

        sn_buffer_destroy(&png);
    }

    sn_arena_destroy(&a->arena);
    return status;
}
