// The preview of a motion; see preview.h. A stored moment is one block of numbers: positions and
// values of each mesh, then the frames and the dots.
#include "io/picture/preview.h"

#include "io/picture/render.h"
#include "io/picture/ticks.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

typedef struct kept_moment {
    double time;
    bool has_values;
    double *numbers;
} kept_moment;

struct sn_preview {
    sn_arena arena;
    sn_preview_def def;
    sn_picture_mesh *meshes; // as in the definition
    size_t *position_at;     // start of each mesh's positions and values in a stored moment
    size_t *value_at;
    size_t *color_at;          // and of its colours, if it has any
    size_t frames_at, dots_at; // start of the frames and of the dots
    size_t numbers;            // the length of a block
    kept_moment *kept;
    int32_t kept_count, capacity;
    int64_t added, stride; // moments so far; every stride-th is kept
    kept_moment last;      // the newest moment, which may not be among the stored ones
    sn_colormap map;
    bool film_ready;
    sn_camera film_camera;
    double film_low, film_high;
};

static const double field_of_view = 0.55;

sn_preview_def sn_preview_def_default(void) {
    return (sn_preview_def){.map = SN_COLORMAP_EMBER,
                            .up = {0, 0, 1},
                            .azimuth = -1.1,
                            .elevation = 0.3,
                            .ground_height = NAN,
                            .ghost = true,
                            .pictures = 6,
                            .cell_width = 400,
                            .cell_height = 300};
}

// ---- keeping moments ----

static size_t value_count(const sn_picture_mesh *mesh) {
    return (size_t)(mesh->values_per_triangle ? mesh->triangle_count : mesh->vertex_count);
}

static size_t color_count(const sn_picture_mesh *mesh) {
    return mesh->colors ? 3 * (size_t)mesh->vertex_count : 0;
}

static sinew_status check_def(sinew_context *context, const sn_preview_def *def) {
    if (def->pictures < 1 || def->pictures > 100 || def->mesh_count < 0 || def->frame_count < 0 ||
        !(sn_length(def->up) > 0) || !sn_finite3(def->up)) {
        return sn_fail(context, SINEW_INVALID_ARGUMENT,
                       "a preview of %d pictures, %d meshes, %d frames, up of length %g: valid [1, "
                       "100], >= 0, >= 0, > 0",
                       def->pictures, def->mesh_count, def->frame_count, sn_length(def->up));
    }

    return SINEW_OK;
}

static sinew_status allocate_parts(sn_preview *preview, const sn_preview_def *def) {
    sn_arena *arena = &preview->arena;
    preview->meshes = SN_PUSH(arena, sn_picture_mesh, def->mesh_count);
    preview->position_at = SN_PUSH(arena, size_t, def->mesh_count);
    preview->value_at = SN_PUSH(arena, size_t, def->mesh_count);
    preview->color_at = SN_PUSH(arena, size_t, def->mesh_count);
    preview->capacity = 2 * def->pictures;
    preview->kept = SN_PUSH(arena, kept_moment, preview->capacity);
    SN_TRY(sn_arena_status(arena));

    // A moment is one array; these are the offsets of its parts.
    for (int32_t i = 0; i < def->mesh_count; i++) {
        preview->meshes[i] = def->meshes[i];
        preview->position_at[i] = preview->numbers;
        preview->numbers += 3 * (size_t)def->meshes[i].vertex_count;
        preview->value_at[i] = preview->numbers;
        preview->numbers += value_count(&def->meshes[i]);
        preview->color_at[i] = preview->numbers;
        preview->numbers += color_count(&def->meshes[i]);
    }

    preview->frames_at = preview->numbers;
    preview->numbers += 12 * (size_t)def->frame_count;
    preview->dots_at = preview->numbers;
    preview->numbers += 3 * (size_t)def->dot_count;
    preview->last.numbers = SN_PUSH(arena, double, preview->numbers);

    return sn_arena_status(arena);
}

sinew_status sn_preview_create(sinew_context *context, const sn_preview_def *def,
                               sn_preview **result) {
    *result = NULL;
    SN_TRY(check_def(context, def));

    sn_preview *preview = sn_allocate(context, 1, sizeof *preview);
    if (!preview) {
        return SINEW_OUT_OF_MEMORY;
    }

    *preview = (sn_preview){.arena = sn_arena_create(context), .def = *def, .stride = 1};
    preview->def.up = sn_normalize(def->up);
    sn_colormap_init(&preview->map, def->map);

    sinew_status status = allocate_parts(preview, def);
    if (status != SINEW_OK) {
        sn_preview_destroy(preview);
        return status;
    }

    *result = preview;
    return SINEW_OK;
}

void sn_preview_destroy(sn_preview *preview) {
    if (!preview) {
        return;
    }
    sinew_context *context = preview->arena.context;
    sn_arena_destroy(&preview->arena);
    sn_release(context, preview, 1, sizeof *preview);
}

static void copy_moment(const sn_preview *preview, kept_moment *kept,
                        const sn_preview_moment *moment) {
    SN_ASSERT(kept->numbers);
    kept->time = moment->time;
    kept->has_values = false;

    // Missing positions and values are stored as NaN.
    for (int32_t i = 0; i < preview->def.mesh_count; i++) {
        const sn_picture_mesh *mesh = &preview->meshes[i];
        const double *positions =
            moment->positions && moment->positions[i] ? moment->positions[i] : mesh->positions;
        const double *values = moment->values ? moment->values[i] : NULL;

        for (size_t k = 0; k < 3 * (size_t)mesh->vertex_count; k++) {
            kept->numbers[preview->position_at[i] + k] = positions ? positions[k] : NAN;
        }

        for (size_t k = 0; k < value_count(mesh); k++) {
            kept->numbers[preview->value_at[i] + k] = values ? values[k] : NAN;
        }

        kept->has_values |= values != NULL;
        const float *colors =
            moment->colors && moment->colors[i] ? moment->colors[i] : mesh->colors;

        for (size_t k = 0; k < color_count(mesh); k++) {
            kept->numbers[preview->color_at[i] + k] = (double)colors[k];
        }
    }

    double *frames = kept->numbers + preview->frames_at;
    size_t count = (size_t)preview->def.frame_count;
    for (size_t k = 0; k < 3 * count; k++) {
        frames[k] = moment->frame_points ? moment->frame_points[k] : NAN;
    }

    for (size_t k = 0; k < 9 * count; k++) {
        frames[3 * count + k] = moment->frame_matrices ? moment->frame_matrices[k] : NAN;
    }

    for (size_t k = 0; k < 3 * (size_t)preview->def.dot_count; k++) {
        kept->numbers[preview->dots_at + k] = moment->dots ? moment->dots[k] : NAN;
    }
}

// Drops every other stored moment; their blocks move to the end for reuse.
static void thin_out(sn_preview *preview) {
    SN_ASSERT(preview->kept_count == preview->capacity && preview->capacity % 2 == 0);
    for (int32_t i = 1; 2 * i < preview->kept_count; i++) {
        kept_moment dropped = preview->kept[i];
        preview->kept[i] = preview->kept[2 * i];
        preview->kept[2 * i] = dropped;
    }

    preview->kept_count = (preview->kept_count + 1) / 2;
    preview->stride *= 2;
}

sinew_status sn_preview_add(sn_preview *preview, const sn_preview_moment *moment) {
    int64_t number = preview->added;

    // When the room is used up, every other moment is dropped.
    bool keep = number % preview->stride == 0;
    if (keep && preview->kept_count == preview->capacity) {
        thin_out(preview);
        keep = number % preview->stride == 0;
    }

    if (keep) {
        SN_ASSERT(preview->kept_count < preview->capacity);
        kept_moment *place = &preview->kept[preview->kept_count];
        if (!place->numbers) {
            place->numbers = SN_PUSH(&preview->arena, double, preview->numbers);
        }
        if (!place->numbers) {
            return SINEW_OUT_OF_MEMORY;
        }

        copy_moment(preview, place, moment);
        preview->kept_count++;
    }

    // The last one is always kept.
    copy_moment(preview, &preview->last, moment);
    preview->added++;

    return SINEW_OK;
}

// ---- what all pictures share ----

static int compare_numbers(const void *a, const void *b) {
    double x = *(const double *)a;
    double y = *(const double *)b;
    return (x > y) - (x < y);
}

// The value that 99 % of a moment's values do not exceed; NaN if there is none. Sorts into
// `scratch`.
static double nearly_largest(const sn_preview *preview, const kept_moment *moment, double *scratch,
                             double *smallest) {
    size_t count = 0;
    for (int32_t i = 0; i < preview->def.mesh_count; i++) {
        const double *values = moment->numbers + preview->value_at[i];
        for (size_t k = 0; k < value_count(&preview->meshes[i]); k++) {
            if (isfinite(values[k])) {
                scratch[count++] = values[k];
            }
        }
    }

    SN_ASSERT(count <= preview->numbers);
    if (count == 0) {
        return NAN;
    }

    qsort(scratch, count, sizeof *scratch, compare_numbers);
    *smallest = scratch[count / 100];

    return scratch[count - 1 - count / 100];
}

// The colour scale: from zero, or the smallest value if that is negative, to a round number.
static sinew_status find_scale(sn_preview *preview, const kept_moment *moments, int32_t count,
                               double *low, double *high) {
    *low = preview->def.low, *high = preview->def.high;
    if (*low != *high) {
        return SINEW_OK;
    }

    sn_arena_mark mark = sn_arena_get_mark(&preview->arena);
    double *scratch = SN_PUSH(&preview->arena, double, preview->numbers);
    if (!scratch) {
        return SINEW_OUT_OF_MEMORY;
    }

    double least = 0, most = 0;
    for (int32_t i = 0; i < count; i++) {
        double smallest = 0;
        double largest =
            moments[i].has_values ? nearly_largest(preview, &moments[i], scratch, &smallest) : NAN;
        least = fmin(least, smallest);
        most = fmax(most, largest); // fmax ignores NaN
    }

    sn_arena_rewind(&preview->arena, mark);
    if (!(most > least)) {
        most = least + 1;
    }

    // Round outwards to ticks.
    double step = sn_ticks_linear(least, most, 8).step;
    *low = step > 0 ? floor(least / step) * step : least;
    *high = step > 0 ? ceil(most / step) * step : most;

    return SINEW_OK;
}

static void add_to_fit(const sn_preview *preview, sn_camera_fit *fit, const kept_moment *moment) {
    for (int32_t i = 0; i < preview->def.mesh_count - preview->def.backdrop_count; i++) {
        sn_camera_fit_add(fit, moment->numbers + preview->position_at[i],
                          preview->meshes[i].vertex_count);
    }
    sn_camera_fit_add(fit, moment->numbers + preview->frames_at, preview->def.frame_count);
}

static sn_camera find_camera(const sn_preview *preview, const kept_moment *moments, int32_t count,
                             double aspect, double margin) {
    const sn_preview_def *def = &preview->def;
    sn_camera_fit fit =
        sn_camera_fit_begin(def->up, def->azimuth, def->elevation, field_of_view, aspect, margin);

    for (int32_t i = 0; i < count; i++) {
        add_to_fit(preview, &fit, &moments[i]);
    }

    return sn_camera_fit_end(&fit);
}

static double find_ground(const sn_preview *preview, const kept_moment *moments, int32_t count) {
    if (!isnan(preview->def.ground_height)) {
        return preview->def.ground_height;
    }

    double lowest = INFINITY;
    for (int32_t i = 0; i < count; i++) {
        for (int32_t m = 0; m < preview->def.mesh_count; m++) {
            const double *positions = moments[i].numbers + preview->position_at[m];
            for (int32_t v = 0; v < preview->meshes[m].vertex_count; v++) {
                double height = sn_dot(preview->def.up, sn_load3(positions + 3 * (size_t)v));
                if (height < lowest) {
                    lowest = height;
                }
            }
        }
    }

    return isfinite(lowest) ? lowest : 0;
}

// ---- drawing ----

typedef struct look {
    sn_camera camera;
    double low, high, ground;
} look;

static sinew_status push_colors(sn_preview *preview, const kept_moment *moment, int32_t mesh,
                                const float **out) {
    size_t count = color_count(&preview->meshes[mesh]);
    float *colors = SN_PUSH(&preview->arena, float, count);
    if (!colors) {
        return SINEW_OUT_OF_MEMORY;
    }

    for (size_t k = 0; k < count; k++) {
        colors[k] = (float)moment->numbers[preview->color_at[mesh] + k];
    }

    *out = colors;
    return SINEW_OK;
}

static bool has_number(const double *values, size_t count) {
    for (size_t k = 0; k < count; k++) {
        if (!isnan(values[k])) {
            return true;
        }
    }

    return false;
}

// Draws the meshes of a moment into an image, and those of `ghost`, if given, as glass.
static sinew_status draw_moment(sn_preview *preview, const look *look, const kept_moment *moment,
                                const kept_moment *ghost, sn_image image) {
    const sn_preview_def *def = &preview->def;
    sn_arena_mark mark = sn_arena_get_mark(&preview->arena);
    sn_picture_mesh *meshes =
        SN_PUSH(&preview->arena, sn_picture_mesh, 2 * (size_t)def->mesh_count);

    if (!meshes) {
        return SINEW_OUT_OF_MEMORY;
    }

    sn_picture_scene scene = sn_picture_scene_default(&look->camera);
    for (int32_t i = 0; i < def->mesh_count; i++) {
        sn_picture_mesh mesh = preview->meshes[i];
        sn_picture_mesh glass = mesh;

        mesh.positions = moment->numbers + preview->position_at[i];
        mesh.values = NULL;
        if (mesh.colors) {
            SN_TRY(push_colors(preview, moment, i, &mesh.colors));
        }

        // A mesh whose values are all missing keeps its own colour.
        const double *values = moment->numbers + preview->value_at[i];
        if (moment->has_values && has_number(values, value_count(&mesh))) {
            mesh.values = values;
            mesh.map = &preview->map;
            mesh.low = look->low;
            mesh.high = look->high;
        }

        meshes[scene.mesh_count++] = mesh;
        if (!ghost || mesh.opacity < 1 || i >= def->mesh_count - def->obstacle_count) {
            continue;
        }

        // The ghost, unless the mesh has not moved.
        glass.positions = ghost->numbers + preview->position_at[i];
        if (memcmp(glass.positions, mesh.positions,
                   3 * sizeof(double) * (size_t)mesh.vertex_count) == 0) {
            continue;
        }

        glass.values = NULL;
        glass.colors = NULL;
        glass.wire = 0;
        glass.color = sn_color_hex(0x8297b8);
        glass.opacity = 0.12;
        meshes[scene.mesh_count++] = glass;
    }

    SN_ASSERT(scene.mesh_count <= 2 * def->mesh_count);
    scene.meshes = meshes;

    // Frames and backdrop.
    sn_picture_glyphs frames = sn_picture_glyphs_default(SN_GLYPH_FRAMES);
    frames.points = moment->numbers + preview->frames_at;
    frames.vectors = frames.points + 3 * (size_t)def->frame_count;
    frames.count = def->frame_count;

    double extent =
        sn_distance(look->camera.eye, look->camera.target) * 2 * tan(0.5 * field_of_view);

    frames.scale = def->frame_scale > 0 ? def->frame_scale : extent / 12;
    frames.width = fmax(0.009 * image.height, 2.5);

    sn_picture_glyphs dots = sn_picture_glyphs_default(SN_GLYPH_POINTS);
    dots.points = moment->numbers + preview->dots_at;
    dots.count = def->dot_count;
    dots.color = sn_color_hex(0xc1121f);
    dots.width = fmax(0.014 * image.height, 3.5);

    const sn_picture_glyphs glyphs[] = {frames, dots};
    scene.glyphs = glyphs;
    scene.glyph_count = 2;
    scene.backdrop.ground = !def->no_ground;
    scene.backdrop.ground_height = look->ground;
    scene.backdrop.grid_spacing = sn_ticks_linear(0, extent, 8).step;

    sinew_status status = sn_picture_render(preview->arena.context, &scene, image);
    sn_arena_rewind(&preview->arena, mark);

    return status;
}

static bool has_values(const kept_moment *moments, int32_t count) {
    for (int32_t i = 0; i < count; i++) {
        if (moments[i].has_values) {
            return true;
        }
    }
    return false;
}

// Chooses `count` of the stored moments, evenly spaced, the last one being the newest of all.
static int32_t choose_moments(const sn_preview *preview, kept_moment *chosen) {
    int32_t all = preview->kept_count;
    int32_t wanted = preview->def.pictures;
    bool newest_is_kept = all > 0 && preview->kept[all - 1].time == preview->last.time;
    int32_t whole = newest_is_kept || all == 0 ? all : all + 1;
    int32_t count = whole < wanted ? whole : wanted;

    for (int32_t i = 0; i < count; i++) {
        SN_ASSERT(whole >= count);
        int32_t k = count > 1
                        ? (int32_t)(((int64_t)i * (whole - 1) + (count - 1) / 2) / (count - 1))
                        : whole - 1;
        chosen[i] = k < all ? preview->kept[k] : preview->last;
    }

    return count;
}

static sinew_status draw_sheet(sn_preview *preview, const kept_moment *moments, int32_t count,
                               sn_sheet *sheet) {
    SN_ASSERT(count >= 1 && count <= 100);
    const sn_preview_def *def = &preview->def;

    // One camera, one ground and one colour scale for all pictures.
    look look = {.camera = find_camera(preview, moments, count,
                                       (double)def->cell_width / def->cell_height, 0.09),
                 .ground = find_ground(preview, moments, count)};

    SN_TRY(find_scale(preview, moments, count, &look.low, &look.high));
    sn_legend legend = {
        .title = def->value_label, .map = &preview->map, .low = look.low, .high = look.high};
    char texts[100][SN_SHEET_CAPTION_SIZE];
    const char *captions[100];

    for (int32_t i = 0; i < count; i++) {
        sn_sheet_time_caption(texts[i], moments[i].time,
                              (moments[count - 1].time - moments[0].time) / (10 * count));
        captions[i] = texts[i];
    }

    sn_sheet_def sheet_def = sn_sheet_def_default();
    sheet_def.count = count;
    sheet_def.title = def->title;
    sheet_def.captions = captions;
    sheet_def.cell_width = def->cell_width;
    sheet_def.cell_height = def->cell_height;
    sheet_def.legend = has_values(moments, count) ? &legend : NULL;
    SN_TRY(sn_sheet_create(preview->arena.context, &sheet_def, sheet));

    for (int32_t i = 0; i < count; i++) {
        const kept_moment *ghost = def->ghost && i > 0 ? &moments[0] : NULL;
        sinew_status status =
            draw_moment(preview, &look, &moments[i], ghost, sn_sheet_cell(sheet, i));
        if (status == SINEW_OK) {
            continue;
        }

        sn_sheet_destroy(preview->arena.context, sheet);
        return status;
    }

    return SINEW_OK;
}

sinew_status sn_preview_draw(sn_preview *preview, sn_sheet *sheet) {
    *sheet = (sn_sheet){0};
    kept_moment chosen[100];
    int32_t count = choose_moments(preview, chosen);

    if (count == 0) {
        return sn_fail(preview->arena.context, SINEW_INVALID_ARGUMENT,
                       "a preview of no moments: add at least one");
    }

    return draw_sheet(preview, chosen, count, sheet);
}

sinew_status sn_preview_film(sn_preview *preview, const sn_preview_moment *moment, sn_image image) {
    if (image.width < 1 || image.height < 1) {
        return SINEW_OK;
    }

    sn_arena_mark mark = sn_arena_get_mark(&preview->arena);
    kept_moment now = {.numbers = SN_PUSH(&preview->arena, double, preview->numbers)};
    if (!now.numbers) {
        return SINEW_OUT_OF_MEMORY;
    }

    copy_moment(preview, &now, moment);
    const kept_moment *seen = preview->kept_count ? preview->kept : &now;
    int32_t count = preview->kept_count ? preview->kept_count : 1;
    sinew_status status = SINEW_OK;

    // Camera and colour scale are fixed with the first image of the film.
    if (!preview->film_ready) {
        preview->film_camera =
            find_camera(preview, seen, count, (double)image.width / image.height, 0.2);
        status = find_scale(preview, seen, count, &preview->film_low, &preview->film_high);
        preview->film_ready = status == SINEW_OK;
    }

    look look = {preview->film_camera, preview->film_low, preview->film_high,
                 find_ground(preview, seen, count)};
    if (status == SINEW_OK) {
        status = draw_moment(preview, &look, &now, NULL, image);
    }

    sn_arena_rewind(&preview->arena, mark);
    if (status != SINEW_OK) {
        return status;
    }

    // Time and legend.
    double size = fmax(12, image.height / 36.0);
    sn_text_style style = sn_text_style_default(size);
    char caption[SN_SHEET_CAPTION_SIZE];

    sn_sheet_time_caption(caption, moment->time, 1e-3);
    sn_text_draw(image, size, image.height - size, &style, caption);
    if (!now.has_values) {
        return SINEW_OK;
    }

    sn_legend legend = {.title = preview->def.value_label,
                        .map = &preview->map,
                        .low = look.low,
                        .high = look.high,
                        .text_size = size};
    double width = fmin(sn_legend_width(&legend), image.width - 2 * size);

    sn_legend_draw(image, image.width - width - 1.5 * size, size, width, &legend);
    return SINEW_OK;
}
