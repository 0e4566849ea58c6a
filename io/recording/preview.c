// Pictures of a run: what is shown in colour, and the moments handed to the preview.
#include "io/recording/recording.h"

#include "io/picture/png.h"
#include "io/scene/build_frames.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static const char *value_title(sinew_scene_color color) {
    switch (color) {
    case SINEW_SCENE_COLOR_STRAIN: return "strain (norm of Green-Lagrange)";
    case SINEW_SCENE_COLOR_STRESS: return "von Mises stress [Pa]";
    case SINEW_SCENE_COLOR_DISPLACEMENT: return "displacement [m]";
    case SINEW_SCENE_COLOR_SPEED: return "speed [m/s]";
    case SINEW_SCENE_COLOR_NONE:
    case SINEW_SCENE_COLOR_WEIGHTS: return NULL;
    }

    return NULL;
}

// One hue for each frame of a body, blended by the present weights at each point of its surface.
static sinew_status color_by_weights(sinew_recording *recording, int32_t body, float *colors) {
    const sn_scene_member *member = &recording->world->members[body];
    const int32_t *starts, *frames;
    const double *present;
    int32_t nodes = sinew_frame_body_get_node_count(member->body);
    sn_arena scratch = sn_arena_create(recording->context);
    double *weights = SN_PUSH(&scratch, double, nodes);
    sinew_status status = sn_arena_status(&scratch);
    if (status == SINEW_OK) {
        status = sinew_frame_body_get_surface_weights(member->body, &starts, &frames, &present);
    }

    if (status == SINEW_OK) {
        for (int32_t i = 0; i < member->surface.mesh->point_count; i++) {
            // The row of weights in full, for blending the palette.
            memset(weights, 0, (size_t)nodes * sizeof *weights);
            for (int32_t k = starts[i]; k < starts[i + 1]; k++) {
                weights[frames[k]] = present[k];
            }

            sn_color color = sn_palette_blend(weights, nodes);
            colors[3 * (size_t)i] = color.r;
            colors[3 * (size_t)i + 1] = color.g;
            colors[3 * (size_t)i + 2] = color.b;
        }
    }

    sn_arena_destroy(&scratch);
    return status;
}

// The look of one body's surface.
static sinew_status make_mesh(sinew_recording *recording, int32_t body, sn_picture_mesh *mesh) {
    const sn_scene_surface *surface = &recording->world->members[body].surface;
    sinew_scene_color color = recording->def.color;

    *mesh = sn_picture_mesh_default();
    mesh->vertex_count = surface->mesh->point_count;
    mesh->triangles = surface->mesh->indices;
    mesh->triangle_count = surface->mesh->element_count;
    mesh->positions = surface->points;

    if (color == SINEW_SCENE_COLOR_NONE || color == SINEW_SCENE_COLOR_WEIGHTS) {
        const sn_scene_body *from = &recording->scene->bodies[body];
        mesh->color = from->color_given ? sn_color_hex(from->color) : sn_palette(body);
    }
    if (color != SINEW_SCENE_COLOR_WEIGHTS || recording->world->members[body].frame_count == 0) {
        return SINEW_OK;
    }

    float *colors = SN_PUSH(&recording->arena, float, 3 * (size_t)surface->mesh->point_count);
    SN_TRY(sn_arena_status(&recording->arena));
    mesh->colors = recording->colors[body] = colors;

    return color_by_weights(recording, body, colors);
}

// Where the frames of all bodies are and their axes; what is not there yet is not finite, and so
// not drawn.
static void update_frames(sinew_recording *recording) {
    int32_t next = 0;
    for (int32_t i = 0; i < recording->scene->body_count; i++) {
        const sn_scene_member *member = &recording->world->members[i];
        int32_t room = recording->def.frames ? member->frame_count : 0;
        int32_t there = sinew_frame_body_get_node_count(member->body);

        for (int32_t k = 0; k < room; k++, next++) {
            double *point = recording->glyph_points + 3 * (size_t)next;
            double *matrix = recording->glyph_matrices + 9 * (size_t)next;
            point[0] = NAN;
            if (k >= there) {
                continue;
            }

            sinew_frame_body_get_node(member->body, k, point, NULL);
            sinew_frame_body_get_matrix(member->body, k, matrix);
        }

        next += sn_recording_update_field(recording, i, recording->glyph_points + 3 * (size_t)next,
                                          recording->glyph_matrices + 9 * (size_t)next);
    }

    SN_ASSERT(next == recording->glyph_count);
}

sinew_status sn_recording_begin_preview(sinew_recording *recording) {
    const sinew_recording_def *look = &recording->def;
    int32_t bodies = recording->scene->body_count;

    // Bodies and obstacles are drawn alike; only bodies have values.
    SN_TRY(sn_recording_begin_obstacles(recording));
    int32_t obstacles = recording->obstacle_count;
    sn_picture_mesh *meshes = SN_PUSH(&recording->arena, sn_picture_mesh, bodies + obstacles);

    recording->values = SN_PUSH(&recording->arena, double *, bodies + obstacles);
    recording->surfaces = SN_PUSH(&recording->arena, double *, bodies + obstacles);
    recording->colors = SN_PUSH(&recording->arena, float *, bodies + obstacles);
    SN_TRY(sn_arena_status(&recording->arena));
    for (int32_t i = 0; i < obstacles; i++) {
        meshes[bodies + i] = recording->obstacles[i].mesh;
        recording->surfaces[bodies + i] = recording->obstacles[i].points;
    }

    for (int32_t i = 0; i < bodies; i++) {
        SN_TRY(make_mesh(recording, i, &meshes[i]));
        recording->values[i] = SN_PUSH(&recording->arena, double, meshes[i].vertex_count);
        recording->surfaces[i] = recording->world->members[i].surface.points;
        recording->glyph_count += look->frames ? recording->world->members[i].frame_count : 0;
    }

    // Frames and material axes are glyphs, whose number is known from here on.
    SN_TRY(sn_recording_begin_fields(recording));
    recording->glyph_points =
        SN_PUSH(&recording->arena, double, 3 * (size_t)recording->glyph_count);
    recording->glyph_matrices =
        SN_PUSH(&recording->arena, double, 9 * (size_t)recording->glyph_count);

    // What the pictures look like.
    sn_preview_def def = sn_preview_def_default();
    def.title = recording->scene->title;
    def.value_label = value_title(look->color);
    def.high = look->largest;
    def.azimuth = atan2(look->direction[1], look->direction[0]);
    def.elevation = asin(fmax(-1, fmin(1, look->direction[2])));
    def.no_ground = !(look->ground && recording->scene->contact.ground);
    def.ground_height = recording->scene->preview.ground_height;
    def.ghost = look->ghost;
    def.pictures = look->pictures;
    def.cell_width = look->width;
    def.cell_height = look->height;
    def.meshes = meshes;
    def.mesh_count = bodies + obstacles;
    def.obstacle_count = obstacles;
    def.backdrop_count = recording->backdrop_count;
    def.dot_count = look->contacts ? SN_MOST_DOTS : 0;
    def.frame_count = recording->glyph_count;
    SN_TRY(sn_arena_status(&recording->arena));

    return sn_preview_create(recording->context, &def, &recording->preview);
}

static sinew_status write_film_picture(sinew_recording *recording,
                                       const sn_preview_moment *moment) {
    sn_image image;
    SN_TRY(sn_image_create(recording->context, 2 * recording->def.width, 2 * recording->def.height,
                           &image));

    char name[64];
    snprintf(name, sizeof name, "film_%05d.png", recording->film_images++);

    sinew_status status = sn_preview_film(recording->preview, moment, image);
    sn_buffer_clear(&recording->buffer);
    if (status == SINEW_OK) {
        status = sn_png_write(recording->context, image, &recording->buffer);
    }
    if (status == SINEW_OK) {
        status = sn_recording_write(recording, name, &recording->buffer);
    }

    sn_image_destroy(recording->context, &image);
    return status;
}

sinew_status sn_recording_add_moment(sinew_recording *recording, bool film) {
    sinew_scene_color color = recording->def.color;

    // Values or colours of the bodies now.
    bool colored = color != SINEW_SCENE_COLOR_NONE && color != SINEW_SCENE_COLOR_WEIGHTS;
    if (colored) {
        for (int32_t i = 0; i < recording->scene->body_count; i++) {
            sn_scene_member *member = &recording->world->members[i];
            SN_TRY(sn_scene_member_compute_values(member, color, recording->values[i]));
        }
    }

    for (int32_t i = 0; i < recording->scene->body_count; i++) {
        if (recording->colors[i]) {
            SN_TRY(color_by_weights(recording, i, recording->colors[i]));
        }
    }

    // Everything else that moves.
    update_frames(recording);
    sn_recording_update_obstacles(recording);
    sn_recording_update_dots(recording);
    sn_preview_moment moment = {.time = sinew_world_get_time(recording->world->world),
                                .positions = (const double *const *)recording->surfaces,
                                .values = colored ? (const double *const *)recording->values : NULL,
                                .colors = (const float *const *)recording->colors,
                                .frame_points = recording->glyph_points,
                                .frame_matrices = recording->glyph_matrices,
                                .dots = recording->dots};

    if (film) {
        return write_film_picture(recording, &moment);
    }

    return sn_preview_add(recording->preview, &moment);
}

sinew_status sn_recording_write_preview(sinew_recording *recording) {
    sn_sheet sheet;
    SN_TRY(sn_preview_draw(recording->preview, &sheet));
    sn_buffer_clear(&recording->buffer);

    sinew_status status = sn_png_write(recording->context, sheet.image, &recording->buffer);

    if (status == SINEW_OK) {
        status = sn_recording_write(recording, "preview.png", &recording->buffer);
    }

    sn_sheet_destroy(recording->context, &sheet);
    return status;
}
