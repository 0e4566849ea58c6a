// Pictures of a run: what is shown in colour, and the moments handed to the preview.
#include "run/run.h"

#include "io/picture/png.h"
#include "io/scene/build_frames.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static const char *value_title(const sn_scene *scene) {
    switch (scene->preview.color) {
    case SN_COLOR_STRAIN: return "strain (norm of Green-Lagrange)";
    case SN_COLOR_STRESS: return "von Mises stress [Pa]";
    case SN_COLOR_DISPLACEMENT: return "displacement [m]";
    case SN_COLOR_SPEED: return "speed [m/s]";
    case SN_COLOR_NONE:
    case SN_COLOR_WEIGHTS: return NULL;
    }

    return NULL;
}

// One hue for each frame of a body, blended by the present weights at each point of its surface.
static sinew_status color_by_weights(run_state *run, int32_t body, float *colors) {
    const sn_scene_member *member = &run->world->members[body];
    const int32_t *starts, *frames;
    const double *present;
    int32_t nodes = sinew_frame_body_get_node_count(member->body);
    sn_arena scratch = sn_arena_create(run->context);
    double *weights = SN_PUSH(&scratch, double, nodes);
    sinew_status status = sn_arena_status(&scratch);

    sinew_frame_points_get_weights(member->frames->points, &starts, &frames, &present);
    for (int32_t i = 0; status == SINEW_OK && i < member->surface.mesh->point_count; i++) {
        memset(weights, 0, (size_t)nodes * sizeof *weights);
        for (int32_t k = starts[i]; k < starts[i + 1]; k++) {
            weights[frames[k]] = present[k];
        }

        sn_color color = sn_palette_blend(weights, nodes);
        colors[3 * (size_t)i] = color.r;
        colors[3 * (size_t)i + 1] = color.g;
        colors[3 * (size_t)i + 2] = color.b;
    }

    sn_arena_destroy(&scratch);
    return status;
}

// The look of one body's surface.
static sinew_status make_mesh(run_state *run, int32_t body, sn_picture_mesh *mesh) {
    const sn_scene_surface *surface = &run->world->members[body].surface;
    sn_scene_color color = run->scene->preview.color;

    *mesh = sn_picture_mesh_default();
    mesh->vertex_count = surface->mesh->point_count;
    mesh->triangles = surface->mesh->indices;
    mesh->triangle_count = surface->mesh->element_count;
    mesh->positions = surface->points;

    if (color == SN_COLOR_NONE || color == SN_COLOR_WEIGHTS) {
        mesh->color = sn_palette(body);
    }
    if (color != SN_COLOR_WEIGHTS || !run->world->members[body].frames) {
        return SINEW_OK;
    }

    float *colors = SN_PUSH(&run->arena, float, 3 * (size_t)surface->mesh->point_count);
    SN_TRY(sn_arena_status(&run->arena));
    mesh->colors = run->colors[body] = colors;

    return color_by_weights(run, body, colors);
}

// Where the frames of all bodies are and their axes; what is not there yet is not finite, and so
// not drawn.
static void update_frames(run_state *run) {
    int32_t next = 0;
    for (int32_t i = 0; i < run->scene->body_count; i++) {
        const sn_scene_member *member = &run->world->members[i];
        int32_t room = member->frame_count;
        int32_t there = sinew_frame_body_get_node_count(member->body);

        for (int32_t k = 0; k < room; k++, next++) {
            double *point = run->frame_points_now + 3 * (size_t)next;
            double *matrix = run->frame_matrices_now + 9 * (size_t)next;
            point[0] = NAN;
            if (k >= there) {
                continue;
            }

            sinew_frame_body_get_node(member->body, k, point, NULL);
            sinew_frame_body_get_matrix(member->body, k, matrix);
        }

        next += run_update_field(run, i, run->frame_points_now + 3 * (size_t)next,
                                 run->frame_matrices_now + 9 * (size_t)next);
    }

    SN_ASSERT(next == run->frame_glyphs);
}

sinew_status run_begin_preview(run_state *run) {
    const sn_scene_preview *scene = &run->scene->preview;
    int32_t bodies = run->scene->body_count;
    sn_picture_mesh *meshes = SN_PUSH(&run->arena, sn_picture_mesh, bodies);

    run->values = SN_PUSH(&run->arena, double *, bodies);
    run->surfaces = SN_PUSH(&run->arena, double *, bodies);
    run->colors = SN_PUSH(&run->arena, float *, bodies);
    SN_TRY(sn_arena_status(&run->arena));

    for (int32_t i = 0; i < bodies; i++) {
        SN_TRY(make_mesh(run, i, &meshes[i]));
        run->values[i] = SN_PUSH(&run->arena, double, meshes[i].vertex_count);
        run->surfaces[i] = run->world->members[i].surface.points;
        run->frame_glyphs += run->world->members[i].frame_count;
    }

    SN_TRY(run_begin_fields(run));
    run->frame_points_now = SN_PUSH(&run->arena, double, 3 * (size_t)run->frame_glyphs);
    run->frame_matrices_now = SN_PUSH(&run->arena, double, 9 * (size_t)run->frame_glyphs);

    sn_preview_def def = sn_preview_def_default();
    def.title = run->scene->title;
    def.value_label = value_title(run->scene);
    def.high = scene->largest;
    def.azimuth = atan2(scene->direction[1], scene->direction[0]);
    def.elevation = asin(fmax(-1, fmin(1, scene->direction[2])));
    def.no_ground = !scene->ground;
    def.ghost = scene->ghost;
    def.pictures = scene->count;
    def.cell_width = scene->width;
    def.cell_height = scene->height;
    def.meshes = meshes;
    def.mesh_count = bodies;
    def.frame_count = run->frame_glyphs;
    SN_TRY(sn_arena_status(&run->arena));

    return sn_preview_create(run->context, &def, &run->preview);
}

static sinew_status write_film_picture(run_state *run, const sn_preview_moment *moment) {
    sn_image image;
    SN_TRY(sn_image_create(run->context, 2 * run->scene->preview.width,
                           2 * run->scene->preview.height, &image));

    char name[64];
    snprintf(name, sizeof name, "film_%05d.png", run->film_count++);

    sinew_status status = sn_preview_film(run->preview, moment, image);
    sn_buffer_clear(&run->buffer);
    if (status == SINEW_OK) {
        status = sn_png_write(run->context, image, &run->buffer);
    }
    if (status == SINEW_OK) {
        status = run_write(run, name, &run->buffer);
    }

    sn_image_destroy(run->context, &image);
    return status;
}

sinew_status run_add_moment(run_state *run, bool film) {
    sn_scene_color color = run->scene->preview.color;
    bool colored = color != SN_COLOR_NONE && color != SN_COLOR_WEIGHTS;
    for (int32_t i = 0; colored && i < run->scene->body_count; i++) {
        sn_scene_member *member = &run->world->members[i];
        SN_TRY(sn_scene_member_compute_values(member, color, run->values[i]));
    }

    for (int32_t i = 0; i < run->scene->body_count; i++) {
        if (run->colors[i]) {
            SN_TRY(color_by_weights(run, i, run->colors[i]));
        }
    }

    update_frames(run);
    sn_preview_moment moment = {.time = sinew_world_get_time(run->world->world),
                                .positions = (const double *const *)run->surfaces,
                                .values = colored ? (const double *const *)run->values : NULL,
                                .colors = (const float *const *)run->colors,
                                .frame_points = run->frame_points_now,
                                .frame_matrices = run->frame_matrices_now};

    if (film) {
        return write_film_picture(run, &moment);
    }

    return sn_preview_add(run->preview, &moment);
}

sinew_status run_write_preview(run_state *run) {
    sn_sheet sheet;
    SN_TRY(sn_preview_draw(run->preview, &sheet));
    sn_buffer_clear(&run->buffer);

    sinew_status status = sn_png_write(run->context, sheet.image, &run->buffer);

    if (status == SINEW_OK) {
        status = run_write(run, "preview.png", &run->buffer);
    }

    sn_sheet_destroy(run->context, &sheet);
    return status;
}
