// Pictures of a run: moments are kept while it goes, and drawn at its end with one camera and one colour scale for all.
#include "run/run.h"

#include "io/picture/camera.h"
#include "io/picture/colormap.h"
#include "io/picture/png.h"
#include "io/picture/render.h"
#include "io/picture/sheet.h"
#include "math/mat3.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

const char *run_value_title(const sn_scene *scene) {
    switch (scene->preview.color) {
    case SN_COLOR_STRAIN: return "strain (norm of Green-Lagrange)";
    case SN_COLOR_STRESS: return "von Mises stress [Pa]";
    case SN_COLOR_DISPLACEMENT: return "displacement [m]";
    case SN_COLOR_SPEED: return "speed [m/s]";
    case SN_COLOR_NONE: return NULL;
    }
    return NULL;
}

static double element_value(const sinew_element_state *state, sn_scene_color color) {
    if (color == SN_COLOR_STRESS) return state->von_mises;
    double sum = 0;
    for (int k = 0; k < 6; k++) sum += (k < 3 ? 1 : 0.5) * state->strain[k] * state->strain[k];
    return sqrt(sum);
}

// Means of the elements at each node, or the node's own motion.
static sinew_status node_values(const run_state *run, const sn_scene_member *member, sn_arena *scratch, double **out) {
    sn_scene_color color = run->scene->preview.color;
    int32_t nodes = member->mesh->point_count, width = sinew_element_node_count(member->mesh->element);
    double *values = SN_PUSH(scratch, double, nodes), *weights = SN_PUSH(scratch, double, nodes);
    SN_TRY(sn_arena_status(scratch));
    const double *x = sinew_body_get_positions(member->body), *v = sinew_body_get_velocities(member->body);
    if (color == SN_COLOR_DISPLACEMENT || color == SN_COLOR_SPEED) {
        for (int32_t i = 0; i < nodes; i++) {
            sn_vec3 rest = sn_load3(member->mesh->points + 3 * (size_t)i);
            values[i] = color == SN_COLOR_SPEED ? sn_length(sn_load3(v + 3 * (size_t)i))
                                                : sn_distance(sn_load3(x + 3 * (size_t)i), rest);
        }
    } else {
        for (int32_t e = 0; e < member->mesh->element_count; e++) {
            sinew_element_state state;
            sinew_body_get_element_state(member->body, e, &state);
            double value = element_value(&state, color);
            for (int32_t k = 0; k < width; k++) {
                values[member->mesh->indices[(size_t)e * (size_t)width + (size_t)k]] += value;
                weights[member->mesh->indices[(size_t)e * (size_t)width + (size_t)k]] += 1;
            }
        }
        for (int32_t i = 0; i < nodes; i++) values[i] /= fmax(weights[i], 1);
    }
    *out = values;
    return SINEW_OK;
}

// An embedded surface takes the value as it takes positions: as the x of points that carry it.
static sinew_status embed_values(const sn_scene_surface *surface, const double *node_values, int32_t nodes, sn_arena *scratch,
                                 double *values) {
    double *carried = SN_PUSH(scratch, double, 3 * (size_t)nodes);
    double *result = SN_PUSH(scratch, double, 3 * (size_t)surface->mesh->point_count);
    SN_TRY(sn_arena_status(scratch));
    for (int32_t i = 0; i < nodes; i++) carried[3 * (size_t)i] = node_values[i];
    sinew_embedding_compute_points(surface->embedding, carried, result);
    for (int32_t i = 0; i < surface->mesh->point_count; i++) values[i] = result[3 * (size_t)i];
    return SINEW_OK;
}

sinew_status run_compute_values(run_state *run, int32_t body, double *values) {
    const sn_scene_member *member = &run->world->members[body];
    const sn_scene_surface *surface = &member->surface;
    sn_arena scratch = sn_arena_create(run->context);
    double *at_nodes = NULL;
    sinew_status status = node_values(run, member, &scratch, &at_nodes);
    if (status == SINEW_OK && surface->embedding) {
        status = embed_values(surface, at_nodes, member->mesh->point_count, &scratch, values);
    } else if (status == SINEW_OK) {
        for (int32_t i = 0; i < surface->mesh->point_count; i++) values[i] = at_nodes[surface->nodes[i]];
    }
    sn_arena_destroy(&scratch);
    return status;
}

sinew_status run_keep_moment(run_state *run) {
    run_moment *moment = &run->moments[run->moment_count];
    int32_t bodies = run->scene->body_count;
    moment->time = sinew_world_get_time(run->world->world);
    moment->points = SN_PUSH(&run->arena, double *, bodies);
    moment->values = SN_PUSH(&run->arena, double *, bodies);
    SN_TRY(sn_arena_status(&run->arena));
    for (int32_t i = 0; i < bodies; i++) {
        const sn_scene_surface *surface = &run->world->members[i].surface;
        size_t count = (size_t)surface->mesh->point_count;
        moment->points[i] = SN_PUSH(&run->arena, double, 3 * count);
        moment->values[i] = SN_PUSH(&run->arena, double, count);
        SN_TRY(sn_arena_status(&run->arena));
        memcpy(moment->points[i], surface->points, 3 * count * sizeof(double));
        SN_TRY(run_compute_values(run, i, moment->values[i]));
    }
    run->moment_count++;
    return SINEW_OK;
}

// The value that 99 of 100 points stay below, over all moments: one hot corner must not darken the rest.
static double color_scale(const run_state *run) {
    double largest = 0;
    if (run->scene->preview.largest > 0) return run->scene->preview.largest;
    for (int32_t m = 0; m < run->moment_count; m++) {
        for (int32_t b = 0; b < run->scene->body_count; b++) {
            int32_t count = run->world->members[b].surface.mesh->point_count;
            for (int32_t i = 0; i < count; i++) {
                if (isfinite(run->moments[m].values[b][i])) largest = fmax(largest, run->moments[m].values[b][i]);
            }
        }
    }
    enum { BINS = 1000 };
    int64_t histogram[BINS] = {0}, total = 0, below = 0;
    for (int32_t m = 0; largest > 0 && m < run->moment_count; m++) {
        for (int32_t b = 0; b < run->scene->body_count; b++) {
            int32_t count = run->world->members[b].surface.mesh->point_count;
            for (int32_t i = 0; i < count; i++) {
                double value = run->moments[m].values[b][i];
                if (!isfinite(value)) continue;
                int32_t bin = (int32_t)(value / largest * BINS);
                histogram[bin < BINS ? bin : BINS - 1]++;
                total++;
            }
        }
    }
    for (int32_t i = 0; i < BINS; i++) {
        below += histogram[i];
        if (below >= total - total / 100) return largest * (i + 1) / BINS;
    }
    return 1;
}

static sn_camera frame_camera(const run_state *run, double *lowest) {
    const sn_scene_preview *preview = &run->scene->preview;
    const double *d = preview->direction;
    double azimuth = atan2(d[1], d[0]), elevation = asin(fmax(-1, fmin(1, d[2])));
    sn_camera_fit fit =
        sn_camera_fit_begin(sn_v3(0, 0, 1), azimuth, elevation, 0.5, (double)preview->width / preview->height, 0.06);
    *lowest = INFINITY;
    for (int32_t m = 0; m < run->moment_count; m++) {
        for (int32_t b = 0; b < run->scene->body_count; b++) {
            int32_t count = run->world->members[b].surface.mesh->point_count;
            sn_camera_fit_add(&fit, run->moments[m].points[b], count);
            for (int32_t i = 0; i < count; i++) *lowest = fmin(*lowest, run->moments[m].points[b][3 * i + 2]);
        }
    }
    return sn_camera_fit_end(&fit);
}

typedef struct look {
    sn_camera camera;
    sn_colormap map;
    double scale, lowest;
} look;

static sinew_status render_moment(run_state *run, const run_moment *moment, const look *l, sn_image image) {
    sn_arena scratch = sn_arena_create(run->context);
    sn_picture_mesh *meshes = SN_PUSH(&scratch, sn_picture_mesh, run->scene->body_count);
    sinew_status status = sn_arena_status(&scratch);
    for (int32_t b = 0; status == SINEW_OK && b < run->scene->body_count; b++) {
        const sinew_mesh *surface = run->world->members[b].surface.mesh;
        meshes[b] = sn_picture_mesh_default();
        meshes[b].positions = moment->points[b];
        meshes[b].vertex_count = surface->point_count;
        meshes[b].triangles = surface->indices;
        meshes[b].triangle_count = surface->element_count;
        if (run->scene->preview.color != SN_COLOR_NONE) {
            meshes[b].values = moment->values[b];
            meshes[b].map = &l->map;
            meshes[b].high = l->scale;
        } else {
            meshes[b].color = sn_palette(b);
        }
    }
    if (status == SINEW_OK) {
        sn_picture_scene scene = sn_picture_scene_default(&l->camera);
        scene.meshes = meshes;
        scene.mesh_count = run->scene->body_count;
        scene.backdrop.ground = run->scene->preview.ground;
        scene.backdrop.ground_height = l->lowest;
        status = sn_picture_render(run->context, &scene, image);
    }
    sn_arena_destroy(&scratch);
    return status;
}

static sinew_status write_sheet(run_state *run, const look *l) {
    sn_sheet_def def = sn_sheet_def_default();
    sn_legend legend = {.title = run_value_title(run->scene), .map = &l->map, .high = l->scale};
    char(*texts)[SN_SHEET_CAPTION_SIZE] = sn_arena_push(&run->arena, (size_t)run->moment_count, sizeof *texts);
    const char **captions = SN_PUSH(&run->arena, const char *, run->moment_count);
    SN_TRY(sn_arena_status(&run->arena));
    double span = run->moments[run->moment_count - 1].time - run->moments[0].time;
    for (int32_t i = 0; i < run->moment_count; i++) {
        sn_sheet_time_caption(texts[i], run->moments[i].time, span / fmax(run->moment_count - 1, 1));
        captions[i] = texts[i];
    }
    def.count = run->moment_count;
    def.cell_width = run->scene->preview.width;
    def.cell_height = run->scene->preview.height;
    def.title = run->scene->title;
    def.captions = captions;
    def.legend = run->scene->preview.color == SN_COLOR_NONE ? NULL : &legend;
    sn_sheet sheet;
    SN_TRY(sn_sheet_create(run->context, &def, &sheet));
    sinew_status status = SINEW_OK;
    for (int32_t i = 0; status == SINEW_OK && i < run->moment_count; i++) {
        status = render_moment(run, &run->moments[i], l, sn_sheet_cell(&sheet, i));
    }
    sn_buffer_clear(&run->buffer);
    if (status == SINEW_OK) status = sn_png_write(run->context, sheet.image, &run->buffer);
    if (status == SINEW_OK) status = run_write(run, "preview.png", &run->buffer);
    sn_sheet_destroy(run->context, &sheet);
    return status;
}

static sinew_status write_film(run_state *run, const look *l) {
    sn_image image;
    SN_TRY(sn_image_create(run->context, 2 * run->scene->preview.width, 2 * run->scene->preview.height, &image));
    sinew_status status = SINEW_OK;
    for (int32_t i = 0; status == SINEW_OK && i < run->moment_count; i++) {
        char name[64];
        snprintf(name, sizeof name, "film_%05d.png", i);
        status = render_moment(run, &run->moments[i], l, image);
        sn_buffer_clear(&run->buffer);
        if (status == SINEW_OK) status = sn_png_write(run->context, image, &run->buffer);
        if (status == SINEW_OK) status = run_write(run, name, &run->buffer);
    }
    sn_image_destroy(run->context, &image);
    return status;
}

sinew_status run_write_preview(run_state *run) {
    if (run->moment_count == 0) return SINEW_OK;
    look l;
    sn_colormap_init(&l.map, SN_COLORMAP_EMBER);
    l.scale = color_scale(run);
    l.camera = frame_camera(run, &l.lowest);
    if (run->film) return write_film(run, &l);
    return write_sheet(run, &l);
}
