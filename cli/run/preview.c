// Pictures of a run: what is shown in colour, and the moments handed to the preview.
#include "run/run.h"

#include "io/picture/png.h"
#include "math/mat3.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static const char *value_title(const sn_scene *scene) {
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
    sinew_element_state *states = SN_PUSH(scratch, sinew_element_state, member->mesh->element_count);
    SN_TRY(sn_arena_status(scratch));
    const double *x = sinew_body_get_positions(member->body), *v = sinew_body_get_velocities(member->body);
    if (color == SN_COLOR_DISPLACEMENT || color == SN_COLOR_SPEED) {
        for (int32_t i = 0; i < nodes; i++) {
            sn_vec3 rest = sn_load3(member->mesh->points + 3 * (size_t)i);
            values[i] = color == SN_COLOR_SPEED ? sn_length(sn_load3(v + 3 * (size_t)i))
                                                : sn_distance(sn_load3(x + 3 * (size_t)i), rest);
        }
    } else {
        sinew_body_compute_element_states(member->body, states);
        for (int32_t e = 0; e < member->mesh->element_count; e++) {
            double value = element_value(&states[e], color);
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

static sinew_status compute_values(run_state *run, int32_t body, double *values) {
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

sinew_status run_begin_preview(run_state *run) {
    const sn_scene_preview *scene = &run->scene->preview;
    int32_t bodies = run->scene->body_count;
    sn_picture_mesh *meshes = SN_PUSH(&run->arena, sn_picture_mesh, bodies);
    run->values = SN_PUSH(&run->arena, double *, bodies);
    run->surfaces = SN_PUSH(&run->arena, double *, bodies);
    SN_TRY(sn_arena_status(&run->arena));
    for (int32_t i = 0; i < bodies; i++) {
        const sn_scene_surface *surface = &run->world->members[i].surface;
        meshes[i] = sn_picture_mesh_default();
        meshes[i].vertex_count = surface->mesh->point_count;
        meshes[i].triangles = surface->mesh->indices;
        meshes[i].triangle_count = surface->mesh->element_count;
        meshes[i].positions = surface->points;
        if (scene->color == SN_COLOR_NONE) meshes[i].color = sn_palette(i);
        run->values[i] = SN_PUSH(&run->arena, double, surface->mesh->point_count);
        run->surfaces[i] = surface->points;
    }
    sn_preview_def def = sn_preview_def_default();
    def.title = run->scene->title;
    def.value_label = value_title(run->scene);
    def.high = scene->largest;
    def.azimuth = atan2(scene->direction[1], scene->direction[0]);
    def.elevation = asin(fmax(-1, fmin(1, scene->direction[2])));
    def.no_ground = !scene->ground;
    def.pictures = scene->count;
    def.cell_width = scene->width;
    def.cell_height = scene->height;
    def.meshes = meshes;
    def.mesh_count = bodies;
    SN_TRY(sn_arena_status(&run->arena));
    return sn_preview_create(run->context, &def, &run->preview);
}

static sinew_status write_film_picture(run_state *run, const sn_preview_moment *moment) {
    sn_image image;
    SN_TRY(sn_image_create(run->context, 2 * run->scene->preview.width, 2 * run->scene->preview.height, &image));
    char name[64];
    snprintf(name, sizeof name, "film_%05d.png", run->film_count++);
    sinew_status status = sn_preview_film(run->preview, moment, image);
    sn_buffer_clear(&run->buffer);
    if (status == SINEW_OK) status = sn_png_write(run->context, image, &run->buffer);
    if (status == SINEW_OK) status = run_write(run, name, &run->buffer);
    sn_image_destroy(run->context, &image);
    return status;
}

sinew_status run_add_moment(run_state *run, bool film) {
    bool colored = run->scene->preview.color != SN_COLOR_NONE;
    for (int32_t i = 0; colored && i < run->scene->body_count; i++) SN_TRY(compute_values(run, i, run->values[i]));
    sn_preview_moment moment = {.time = sinew_world_get_time(run->world->world),
                                .positions = (const double *const *)run->surfaces,
                                .values = colored ? (const double *const *)run->values : NULL};
    if (film) return write_film_picture(run, &moment);
    return sn_preview_add(run->preview, &moment);
}

sinew_status run_write_preview(run_state *run) {
    sn_sheet sheet;
    SN_TRY(sn_preview_draw(run->preview, &sheet));
    sn_buffer_clear(&run->buffer);
    sinew_status status = sn_png_write(run->context, sheet.image, &run->buffer);
    if (status == SINEW_OK) status = run_write(run, "preview.png", &run->buffer);
    sn_sheet_destroy(run->context, &sheet);
    return status;
}
