// Rendering: sets up all triangles, lists the outlines of each layer and tile, then renders the
// tiles.
#include "io/picture/render.h"

#include "base/memory.h"
#include "base/threads.h"
#include "io/picture/shade.h"

#include <math.h>

enum { TILE = SN_RASTER_TILE, SAMPLES = SN_RASTER_SAMPLES, CHUNK = 1024 };

static const double near_plane = 0.01; // relative to the distance of the camera from its target

typedef struct renderer {
    const sn_stage *stage;
    sn_raster_planes *planes;    // of each triangle
    uint8_t *backs;              // of each triangle
    uint8_t *outline_counts;     // of each triangle
    sn_raster_outline *outlines; // one per triangle, then the others of clipped ones
    int32_t outline_count;
    int32_t tiles_x, tiles_y;
    int32_t *first;  // start of each list in `listed`; lists are ordered by layer, then by tile
    int32_t *listed; // outlines
    sn_shader shader;
    sn_srgb_encoder encoder;
    sn_image image;
} renderer;

// ---- set-up ----

static void set_up_triangle(const renderer *r, int32_t triangle, sn_raster_setup *setup) {
    const sn_stage_view *view = &r->stage->view;
    sn_raster_vertex vertices[3];
    for (int i = 0; i < 3; i++) {
        sn_float3 p = r->stage->positions[r->stage->triangles[3 * (size_t)triangle + (size_t)i]];
        double w = 1 - (double)sn_dot_f(p, view->z); // the eye is at z
        vertices[i].x = view->focal * sn_dot_f(p, view->x) + 0.5 * view->width * w;
        vertices[i].y = -view->focal * sn_dot_f(p, view->y) + 0.5 * view->height * w;
        vertices[i].w = w;
    }

    bool closed = r->stage->objects[r->stage->object_of[triangle]].mesh.closed;
    sn_raster_setup_triangle(setup, vertices, near_plane, closed, triangle);
}

static void set_up_triangles(void *data, int32_t begin, int32_t end, int32_t chunk) {
    (void)chunk;
    renderer *r = data;
    for (int32_t t = begin; t < end; t++) {
        sn_raster_setup setup;
        set_up_triangle(r, t, &setup);
        r->outline_counts[t] = (uint8_t)setup.count;
        if (setup.count == 0) {
            continue;
        }

        r->planes[t] = setup.planes;
        r->backs[t] = setup.back;
        r->outlines[t] = setup.outlines[0];
    }
}

// Adds the other outlines of the few triangles that were clipped.
static sinew_status set_up_clipped(renderer *r, sn_arena *arena) {
    int32_t triangles = r->stage->triangle_count;
    int64_t more = 0;
    for (int32_t t = 0; t < triangles; t++) {
        more += r->outline_counts[t] > 1 ? r->outline_counts[t] - 1 : 0;
    }

    r->outline_count = triangles;
    if (more == 0) {
        return SINEW_OK;
    }

    if (more > INT32_MAX - triangles) {
        return sn_fail(arena->context, SINEW_OUT_OF_MEMORY, "a picture with %lld clipped triangles",
                       (long long)more);
    }

    // The first outline of every triangle stays where it is; the others follow at the end.
    sn_raster_outline *all = SN_PUSH(arena, sn_raster_outline, (size_t)triangles + (size_t)more);
    SN_TRY(sn_arena_status(arena));
    for (int32_t t = 0; t < triangles; t++) {
        all[t] = r->outlines[t];
    }

    for (int32_t t = 0; t < triangles; t++) {
        if (r->outline_counts[t] < 2) {
            continue;
        }

        sn_raster_setup setup;
        set_up_triangle(r, t, &setup);
        for (int i = 1; i < setup.count; i++) {
            all[r->outline_count++] = setup.outlines[i];
        }
    }

    SN_ASSERT(r->outline_count == triangles + more);
    r->outlines = all;

    return SINEW_OK;
}

// ---- lists of outlines ----

typedef struct tile_range {
    int32_t left, right, top, bottom; // inclusive; empty if right < left
} tile_range;

static int32_t tile_of(int32_t coordinate) {
    const int32_t unit = SN_RASTER_UNIT * TILE;
    return coordinate >= 0 ? coordinate / unit : -1 - (-1 - coordinate) / unit;
}

static tile_range outline_tiles(const renderer *r, int32_t index) {
    const sn_raster_outline *o = &r->outlines[index];
    if (index < r->stage->triangle_count && r->outline_counts[index] == 0) {
        return (tile_range){0, -1, 0, -1};
    }

    // Bounding box in tiles, clipped to the picture.
    int32_t x0 = o->x[0];
    int32_t x1 = x0;
    int32_t y0 = o->y[0];
    int32_t y1 = y0;

    for (int i = 1; i < 3; i++) {
        x0 = o->x[i] < x0 ? o->x[i] : x0;
        x1 = o->x[i] > x1 ? o->x[i] : x1;
        y0 = o->y[i] < y0 ? o->y[i] : y0;
        y1 = o->y[i] > y1 ? o->y[i] : y1;
    }

    tile_range range = {tile_of(x0), tile_of(x1), tile_of(y0), tile_of(y1)};
    if (range.left < 0) {
        range.left = 0;
    }
    if (range.top < 0) {
        range.top = 0;
    }
    if (range.right >= r->tiles_x) {
        range.right = r->tiles_x - 1;
    }
    if (range.bottom >= r->tiles_y) {
        range.bottom = r->tiles_y - 1;
    }

    return range;
}

static int32_t outline_layer(const renderer *r, int32_t index) {
    return r->stage->objects[r->stage->object_of[r->outlines[index].face]].layer;
}

// Lists the outlines that touch each tile, in ascending order.
static sinew_status list_outlines(renderer *r, sn_arena *arena) {
    int32_t tiles = r->tiles_x * r->tiles_y;
    int32_t lists = tiles * r->stage->layer_count;

    r->first = SN_PUSH(arena, int32_t, (size_t)lists + 1);
    SN_TRY(sn_arena_status(arena));

    // Count.
    int64_t total = 0;
    for (int32_t k = 0; k < r->outline_count; k++) {
        tile_range range = outline_tiles(r, k);
        if (range.right < range.left || range.bottom < range.top) {
            continue;
        }

        int32_t layer = outline_layer(r, k);
        for (int32_t y = range.top; y <= range.bottom; y++) {
            for (int32_t x = range.left; x <= range.right; x++) {
                r->first[layer * tiles + y * r->tiles_x + x + 1]++;
            }
        }

        total += (int64_t)(range.right - range.left + 1) * (range.bottom - range.top + 1);
        if (total > INT32_MAX) {
            return sn_fail(arena->context, SINEW_OUT_OF_MEMORY,
                           "too many large triangles for one picture");
        }
    }

    for (int32_t i = 0; i < lists; i++) {
        r->first[i + 1] += r->first[i];
    }

    r->listed = SN_PUSH(arena, int32_t, total);
    SN_TRY(sn_arena_status(arena));

    // Fill backwards: each end moves to the start of its list.
    for (int32_t k = r->outline_count - 1; k >= 0; k--) {
        tile_range range = outline_tiles(r, k);

        for (int32_t y = range.top; y <= range.bottom; y++) {
            for (int32_t x = range.left; x <= range.right; x++) {
                r->listed[--r->first[outline_layer(r, k) * tiles + y * r->tiles_x + x + 1]] = k;
            }
        }
    }

    // Shift by one, so that first[i] is the start of list i.
    for (int32_t i = 0; i < lists; i++) {
        r->first[i] = r->first[i + 1];
    }

    r->first[lists] = (int32_t)total;
    return SINEW_OK;
}

// ---- tiles ----

static sn_color backdrop_pixel(const renderer *r, float x, float y) {
    return sn_shade_backdrop(&r->shader, x, y, sn_shade_ground(&r->shader, x, y));
}

// A tile without anything opaque: the shadows on the ground are computed at every other pixel and
// interpolated.
static void backdrop_tile(const renderer *r, sn_color pixels[TILE * TILE], int32_t x0, int32_t y0) {
    enum { COARSE = TILE / 2 + 1 };
    sn_color ground[COARSE * COARSE];
    for (int32_t k = 0; k < COARSE * COARSE; k++) {
        int32_t x = x0 + k % COARSE * 2;
        int32_t y = y0 + k / COARSE * 2;
        ground[k] = sn_shade_ground(&r->shader, (float)x + 0.5f, (float)y + 0.5f);
    }

    for (int32_t j = 0; j < TILE; j++) {
        for (int32_t i = 0; i < TILE; i++) {
            const sn_color *a = &ground[j / 2 * COARSE + i / 2];
            const sn_color *b = a + j % 2 * COARSE;
            sn_color above = sn_color_mix(a[0], a[1], 0.5f * (float)(i % 2));
            sn_color below = sn_color_mix(b[0], b[1], 0.5f * (float)(i % 2));
            pixels[j * TILE + i] =
                sn_shade_backdrop(&r->shader, (float)(x0 + i) + 0.5f, (float)(y0 + j) + 0.5f,
                                  sn_color_mix(above, below, 0.5f));
        }
    }
}

static bool all_same(const int32_t face[SAMPLES]) {
    int32_t differ = 0;
    for (int s = 1; s < SAMPLES; s++) {
        differ |= face[s] ^ face[0];
    }
    return differ == 0;
}

// Whether two faces that meet in a pixel may be shaded as one: neighbours on a smooth surface at
// about the same depth.
static bool look_alike(const renderer *r, int32_t face, int32_t other, float depth,
                       float other_depth) {
    if (face == other) {
        return true;
    }
    if (face == SN_RASTER_NOTHING || other == SN_RASTER_NOTHING) {
        return false;
    }

    // Flat values and wires have edges that must stay sharp.
    const sn_stage *stage = r->stage;
    const sn_picture_mesh *mesh = &stage->objects[stage->object_of[face]].mesh;
    if (stage->object_of[face] != stage->object_of[other] || mesh->values_per_triangle ||
        mesh->wire > 0) {
        return false;
    }

    // About the same depth.
    float gap = depth - other_depth;
    if ((gap < 0 ? -gap : gap) > 0.01f * depth) {
        return false;
    }

    // About the same normal.
    const float *n = stage->normals + 9 * (size_t)face;
    const float *m = stage->normals + 9 * (size_t)other;

    return n[0] * m[0] + n[1] * m[1] + n[2] * m[2] > 0.9f;
}

// The samples in `left` that look like the first of them: its face, their bits, and their mean
// position.
static unsigned same_face(const renderer *r, const int32_t face[SAMPLES],
                          const float depth[SAMPLES], unsigned left, int32_t *which, float *x,
                          float *y) {
    SN_ASSERT(left != 0 && left < 1u << SAMPLES);

    // The first sample decides.
    int first = 0;
    while (!(left >> first & 1)) {
        first++;
    }

    *which = face[first];

    // Collect those like it.
    unsigned mask = 0;
    int sum_x = 0, sum_y = 0, count = 0;

    for (int s = first; s < SAMPLES; s++) {
        if (!(left >> s & 1) || !look_alike(r, *which, face[s], depth[first], depth[s])) {
            continue;
        }

        mask |= 1u << s;
        sum_x += sn_raster_offsets[s][0];
        sum_y += sn_raster_offsets[s][1];
        count++;
    }

    SN_ASSERT(count > 0 && (mask & ~left) == 0);
    *x = (float)sum_x / (16.0f * (float)count), *y = (float)sum_y / (16.0f * (float)count);

    return mask;
}

static int bit_count(unsigned mask) {
    int count = 0;
    for (; mask; mask &= mask - 1) {
        count++;
    }
    return count;
}

static sn_color opaque_pixel(const renderer *r, const int32_t face[SAMPLES],
                             const float depth[SAMPLES], float x, float y) {
    sn_color sum = {0, 0, 0};
    float dx, dy, opacity;
    if (all_same(face)) {
        return face[0] == SN_RASTER_NOTHING ? backdrop_pixel(r, x, y)
                                            : sn_shade_face(&r->shader, face[0], x, y, &opacity);
    }

    for (unsigned left = 255; left;) {
        int32_t which;
        unsigned mask = same_face(r, face, depth, left, &which, &dx, &dy);
        left &= ~mask;
        sn_color color = which == SN_RASTER_NOTHING
                             ? backdrop_pixel(r, x, y)
                             : sn_shade_face(&r->shader, which, x + dx, y + dy, &opacity);
        sum = sn_color_madd(sum, (float)bit_count(mask) / SAMPLES, color);
    }

    return sum;
}

// Blends one see-through layer over a pixel. Samples behind opaque things count by their hidden
// opacity.
static sn_color layered_pixel(const renderer *r, const int32_t face[SAMPLES],
                              const float depth[SAMPLES], const float opaque_depth[SAMPLES],
                              float x, float y, sn_color below) {
    sn_color sum = {0, 0, 0};
    float covered = 0;
    for (unsigned left = 255; left;) {
        int32_t which;
        float dx, dy, opacity;
        unsigned mask = same_face(r, face, depth, left, &which, &dx, &dy);

        left &= ~mask;
        if (which == SN_RASTER_NOTHING) {
            continue;
        }

        const sn_picture_mesh *mesh = &r->stage->objects[r->stage->object_of[which]].mesh;

        // Glass that coincides with something opaque, as a rest shape may, is hidden by it.
        float hidden = (float)mesh->hidden_opacity;
        float bias = mesh->opacity < 1 ? 1.003f : 1;
        float share = 0;

        for (int s = 0; s < SAMPLES; s++) {
            if (mask >> s & 1) {
                share += (depth[s] > bias * opaque_depth[s] ? 1 : hidden) / SAMPLES;
            }
        }

        if (share == 0) {
            continue;
        }

        sn_color color = sn_shade_face(&r->shader, which, x + dx, y + dy, &opacity);
        sum = sn_color_madd(sum, share * opacity, color);
        covered += share * opacity;
    }

    SN_ASSERT(covered >= 0 && covered <= 1.001f);
    return sn_color_madd(sum, 1 - covered, below);
}

static bool draw_list(const renderer *r, sn_raster_tile *tile, int32_t list, int32_t x, int32_t y) {
    SN_ASSERT(r->first[list] <= r->first[list + 1]);
    if (r->first[list] == r->first[list + 1]) {
        return false;
    }

    sn_raster_clear(tile, x, y);
    for (int32_t k = r->first[list]; k < r->first[list + 1]; k++) {
        const sn_raster_outline *outline = &r->outlines[r->listed[k]];
        sn_raster_draw(tile, outline, &r->planes[outline->face]);
    }

    return true;
}

static void render_tile(const renderer *r, int32_t index) {
    SN_ASSERT(index >= 0 && index < r->tiles_x * r->tiles_y);
    int32_t x0 = index % r->tiles_x * TILE;
    int32_t y0 = index / r->tiles_x * TILE;
    int32_t width = r->image.width - x0 < TILE ? r->image.width - x0 : TILE;
    int32_t height = r->image.height - y0 < TILE ? r->image.height - y0 : TILE;
    sn_raster_tile opaque, over;
    sn_color pixels[TILE * TILE];
    bool empty = !draw_list(r, &opaque, index, x0, y0);
    bool cleared = !empty;

    if (empty) {
        backdrop_tile(r, pixels, x0, y0);
    }

    // Opaque things first, then see-through layers from far to near.
    for (int32_t layer = empty ? 1 : 0; layer < r->stage->layer_count; layer++) {
        if (layer > 0 && !draw_list(r, &over, layer * r->tiles_x * r->tiles_y + index, x0, y0)) {
            continue;
        }

        if (!cleared) {
            sn_raster_clear(&opaque, x0, y0);
            cleared = true;
        }

        for (int32_t k = 0; k < TILE * height; k++) {
            int32_t i = k % TILE;
            int32_t j = k / TILE;
            float x = (float)(x0 + i) + 0.5f;
            float y = (float)(y0 + j) + 0.5f;

            if (i >= width) {
                continue;
            }

            pixels[k] = layer == 0 ? opaque_pixel(r, opaque.face[k], opaque.depth[k], x, y)
                                   : layered_pixel(r, over.face[k], over.depth[k], opaque.depth[k],
                                                   x, y, pixels[k]);
        }
    }

    // Encode the pixels.
    for (int32_t j = 0; j < height; j++) {
        for (int32_t i = 0; i < width; i++) {
            sn_srgb_encode_color(&r->encoder, pixels[j * TILE + i],
                                 sn_image_at(r->image, x0 + i, y0 + j));
        }
    }
}

static void render_tiles(void *data, int32_t begin, int32_t end, int32_t chunk) {
    (void)chunk;
    for (int32_t k = begin; k < end; k++) {
        render_tile(data, k);
    }
}

// ---- the whole ----

static sinew_status render_in(sn_arena *arena, const sn_picture_scene *scene, sn_image image) {
    sn_stage stage;
    sn_illumination light;

    SN_TRY(sn_stage_create(&stage, scene, image.width, image.height, arena));
    SN_TRY(sn_illumination_create(&light, &stage, scene, arena));

    // Room for one outline of each triangle.
    renderer *r = SN_PUSH(arena, renderer, 1);
    SN_TRY(sn_arena_status(arena));
    r->stage = &stage;
    r->image = image;
    r->tiles_x = (image.width + TILE - 1) / TILE;
    r->tiles_y = (image.height + TILE - 1) / TILE;
    r->planes = SN_PUSH(arena, sn_raster_planes, stage.triangle_count);
    r->backs = SN_PUSH(arena, uint8_t, stage.triangle_count);
    r->outline_counts = SN_PUSH(arena, uint8_t, stage.triangle_count);
    r->outlines = SN_PUSH(arena, sn_raster_outline, stage.triangle_count);
    SN_TRY(sn_arena_status(arena));

    // Project and clip the triangles, and list them by tile.
    sn_parallel_for(arena->context, stage.triangle_count, CHUNK, set_up_triangles, r);
    SN_TRY(set_up_clipped(r, arena));
    SN_TRY(list_outlines(r, arena));

    // Draw the tiles.
    r->shader = sn_shader_create(&stage, &light, scene, r->planes, r->backs);
    sn_srgb_encoder_init(&r->encoder);
    sn_parallel_for(arena->context, r->tiles_x * r->tiles_y, 1, render_tiles, r);

    return SINEW_OK;
}

sinew_status sn_picture_render(sinew_context *context, const sn_picture_scene *scene,
                               sn_image image) {
    SN_TRY(sn_picture_check(context, scene));
    if (image.width < 1 || image.height < 1 || !image.pixels) {
        return SINEW_OK;
    }

    sn_arena arena = sn_arena_create(context);
    sinew_status status = render_in(&arena, scene, image);
    sn_arena_destroy(&arena);

    return status;
}
