// Shadow maps; see shadow.h. The warp of the key light's map is exp(c d), where d in [0, 1] is the
// depth from the light: c is large enough that little light leaks through a surface, and small
// enough for squares in single precision.
#include "io/picture/shadow.h"

#include "base/threads.h"
#include "math/mat3.h"

#include <math.h>
#include <string.h>

enum {
    KEY_SIZE = 384,              // cells along the side of the key light's map
    MOMENTS_SIZE = KEY_SIZE / 2, // of its blurred form
    SKY_SIZE = 80,               // of the maps of the sky
    MOST_KERNEL = 24,            // reach of the blur
    SMOOTHINGS = 3,              // of the ground's lattice
    BATCH = 8,                   // directions of the sky drawn side by side
    ROWS = 16,                   // of a map, and
    CHUNK = 512                  // vertices handled at a time
};

static const float wanted_sharpness = 36; // c for the depths of the casters
static const float most_sharpness = 42;   // c for all depths
static const float nothing = -1e30f;      // the height where there is nothing

// Values of the sky that mark vertices of open and of closed meshes to be computed.
static const float open_mark = 0, closed_mark = 0.5f;

// ---- height maps ----

static bool casts(const sn_picture_mesh *mesh) {
    return !mesh->no_shadow && mesh->opacity >= 1;
}

static sn_shadow_map make_map(const sn_shadow_region *region, sn_vec3 direction, int32_t size,
                              sn_arena *arena) {
    SN_ASSERT(region->radius > 0 && size > 1);
    sn_mat3 basis = sn_mat3_basis(sn_normalize(direction));
    sn_shadow_map map = {.x = sn_float3_of(sn_mat3_column(basis, 0)),
                         .y = sn_float3_of(sn_mat3_column(basis, 1)),
                         .z = sn_float3_of(sn_mat3_column(basis, 2)),
                         .size = size};
    float radius = region->radius * 1.08f; // a border for the blur

    map.left = sn_dot_f(map.x, region->center) - radius;
    map.top = sn_dot_f(map.y, region->center) - radius;
    map.scale = (float)size / (2 * radius);
    map.low = sn_dot_f(map.z, region->center) - radius;
    map.range = 2 * radius;
    map.sharpness = wanted_sharpness;
    map.heights = SN_PUSH(arena, float, (size_t)size *(size_t)size);

    return map;
}

static int32_t clamp_index(int32_t i, int32_t size) {
    return i < 0 ? 0 : i >= size ? size - 1 : i;
}

static sn_float3 scaled(float s, sn_float3 a) {
    return (sn_float3){s * a.x, s * a.y, s * a.z};
}

// Plain comparisons, because fminf and fmaxf are function calls on old processors.
static float least(float a, float b) {
    return a < b ? a : b;
}

static float most(float a, float b) {
    return a > b ? a : b;
}

// The first cell whose middle is not to the left of a grid coordinate, clipped to [0, size].
static int32_t first_cell(float value, int32_t size) {
    if (!(value > 0)) {
        return 0;
    }
    if (value >= (float)size) {
        return size;
    }

    int32_t cell = (int32_t)value;
    return cell + ((float)cell < value);
}

// Raises the heights under one triangle, at the middles of cells. Corners are in grid coordinates;
// z is the height.
static void raise_triangle(const sn_shadow_map *map, sn_float3 p, sn_float3 q, sn_float3 r,
                           bool fronts_only) {
    // Twice the signed area: its sign distinguishes fronts from backs.
    float dx1 = q.x - p.x;
    float dy1 = q.y - p.y;
    float dx2 = r.x - p.x;
    float dy2 = r.y - p.y;
    float area = dx1 * dy2 - dy1 * dx2;

    if (fronts_only && area < 0) {
        return; // covered by a front
    }

    // The cells that the triangle can cover.
    int32_t left = first_cell(least(least(p.x, q.x), r.x), map->size);
    int32_t right = first_cell(most(most(p.x, q.x), r.x), map->size);
    if (left == right) {
        return;
    }

    int32_t top = first_cell(least(least(p.y, q.y), r.y), map->size);
    int32_t bottom = first_cell(most(most(p.y, q.y), r.y), map->size);
    if (top == bottom || !((area < 0 ? -area : area) > 1e-12f)) {
        return; // including edge on and not finite
    }

    // Barycentric coordinates of each cell's middle decide, and interpolate the height.
    float inverse = 1 / area;
    for (int32_t j = top; j < bottom; j++) {
        float py = (float)j - p.y;
        for (int32_t i = left; i < right; i++) {
            float px = (float)i - p.x;
            float b1 = (px * dy2 - py * dx2) * inverse;
            float b2 = (py * dx1 - px * dy1) * inverse;
            if (b1 < 0 || b2 < 0 || b1 + b2 > 1) {
                continue;
            }

            float *height = &map->heights[j * map->size + i];
            float at = p.z + b1 * (q.z - p.z) + b2 * (r.z - p.z);
            if (at > *height) {
                *height = at;
            }
        }
    }
}

// Raises the heights under everything that casts shadows. `grid` has room for the vertices in grid
// coordinates.
static void raise_stage(const sn_shadow_map *map, const sn_stage *stage, sn_float3 *grid) {
    for (int32_t k = 0; k < map->size * map->size; k++) {
        map->heights[k] = nothing;
    }

    sn_float3 across = scaled(map->scale, map->x);
    sn_float3 down = scaled(map->scale, map->y);
    float left = map->left * map->scale + 0.5f;
    float top = map->top * map->scale + 0.5f;

    for (int32_t i = 0; i < stage->object_count; i++) {
        const sn_stage_object *object = &stage->objects[i];
        if (!casts(&object->mesh)) {
            continue;
        }

        // Vertices in grid coordinates.
        int32_t end = object->first_vertex + object->mesh.vertex_count;
        for (int32_t v = object->first_vertex; v < end; v++) {
            sn_float3 p = stage->positions[v];
            grid[v] = (sn_float3){sn_dot_f(across, p) - left, sn_dot_f(down, p) - top,
                                  sn_dot_f(map->z, p)};
        }

        for (int32_t t = 0; t < object->mesh.triangle_count; t++) {
            const int32_t *v = stage->triangles + 3 * (size_t)(object->first_triangle + t);
            raise_triangle(map, grid[v[0]], grid[v[1]], grid[v[2]], object->mesh.closed);
        }
    }
}

// The height of the ground under a grid coordinate, along the light.
static float ground_under(const sn_shadow_map *map, sn_float3 up, float ground_height, float i,
                          float j) {
    float x = map->left + i / map->scale;
    float y = map->top + j / map->scale;
    return (ground_height - sn_dot_f(up, map->x) * x - sn_dot_f(up, map->y) * y) /
           sn_dot_f(up, map->z);
}

// Sets the ground as height where there is nothing else, so that the blur mixes each shadow's
// edge with the surface it falls on.
static void raise_ground(sn_shadow_map *map, sn_float3 up, float ground_height) {
    SN_ASSERT(map->size == KEY_SIZE && map->range > 0);
    if (sn_dot_f(up, map->z) < 0.05f) {
        return;
    }

    for (int32_t j = 0; j < map->size; j++) {
        for (int32_t i = 0; i < map->size; i++) {
            float *height = &map->heights[j * map->size + i];
            if (*height == nothing) {
                *height = ground_under(map, up, ground_height, (float)i + 0.5f, (float)j + 0.5f);
            }
        }
    }

    // The depths must include the ground in all four corners.
    float low = map->low;
    float size = (float)map->size;
    for (int k = 0; k < 4; k++) {
        low = least(low, ground_under(map, up, ground_height, k % 2 ? size : 0, k / 2 ? size : 0));
    }

    low = most(low, map->low - 2 * map->range);
    float longer = map->range + map->low - low;

    map->sharpness = least(map->sharpness * longer / map->range, most_sharpness);
    map->range = longer;
    map->low = low;
}

// ---- the key light ----

// Warped depths are stored as four numbers: exp(c d), its square, exp(-c d), its square. The
// first pair separates an occluder from surfaces close beneath it, the second from those deep
// beneath it. Each is an upper bound of the light, so the smaller one counts.
enum { MOMENTS = 4 };

typedef struct blur_job {
    const float *source;
    float *result;
    int32_t reach;
    float kernel[2 * MOST_KERNEL + 1];
    bool columns;
} blur_job;

// Blurs along the rows or across them. A direct sum, a whole line at a time: running sums would
// lose small values.
static void blur_rows(void *data, int32_t begin, int32_t end, int32_t chunk) {
    (void)chunk;
    const blur_job *job = data;

    SN_ASSERT(job->reach >= 0 && job->reach <= MOST_KERNEL && job->source != job->result);
    enum { LINE = MOMENTS * MOMENTS_SIZE };

    float line[LINE + 2 * MOMENTS * MOST_KERNEL];
    for (int32_t j = begin; j < end; j++) {
        float *result = job->result + j * LINE;
        // The row, extended at both ends.
        for (int32_t i = 0; i < MOMENTS_SIZE + 2 * job->reach; i++) {
            int32_t at = clamp_index(i - job->reach, MOMENTS_SIZE);
            for (int c = 0; c < MOMENTS; c++) {
                line[MOMENTS * i + c] = job->source[j * LINE + MOMENTS * at + c];
            }
        }

        for (int32_t i = 0; i < LINE; i++) {
            result[i] = 0;
        }

        for (int32_t k = 0; k <= 2 * job->reach; k++) {
            int32_t row = clamp_index(j + k - job->reach, MOMENTS_SIZE);
            const float *source = job->columns ? job->source + row * LINE : line + MOMENTS * k;
            float weight = job->kernel[k];
            for (int32_t i = 0; i < LINE; i++) {
                result[i] += weight * source[i];
            }
        }
    }
}

// exp(x) for x in [0, 60] to five digits: 2^i from the exponent's bits, 2^f with f in [0, 1)
// from its series. The maps only require that it increases and is the same on all machines.
static float warp(float x) {
    float y = 1.44269504f * x;
    int32_t i = (int32_t)y;
    float f = 0.69314718f * (y - (float)i);
    float power;
    uint32_t bits = (uint32_t)(i + 127) << 23;
    memcpy(&power, &bits, sizeof power);

    return power *
           (1 + f * (1 + f * (0.5f + f * (1.0f / 6 +
                                          f * (1.0f / 24 + f * (1.0f / 120 + f * (1.0f / 720)))))));
}

static float warped_depth(const sn_shadow_map *map, float height) {
    float depth = 1 - (height - map->low) / map->range;
    return warp(map->sharpness * (depth > 0 ? depth < 1 ? depth : 1 : 0));
}

// Means over two by two heights.
static void compute_moments(void *data, int32_t begin, int32_t end, int32_t chunk) {
    (void)chunk;
    sn_shadow_map *map = data;
    float empty = warp(map->sharpness);

    for (int32_t j = begin; j < end; j++) {
        for (int32_t i = 0; i < MOMENTS_SIZE; i++) {
            float *m = map->moments + MOMENTS * (j * MOMENTS_SIZE + i);
            for (int k = 0; k < 4; k++) {
                float height = map->heights[(2 * j + k / 2) * map->size + 2 * i + k % 2];
                float warped = height == nothing ? empty : warped_depth(map, height);
                float inverse = 1 / warped;
                m[0] += 0.25f * warped;
                m[1] += 0.25f * warped * warped;
                m[2] += 0.25f * inverse;
                m[3] += 0.25f * inverse * inverse;
            }
        }
    }
}

// The map of the key light: heights, warped moments, and a Gaussian blur with the given
// standard deviation [cells of moments].
static sinew_status build_key(sn_illumination *light, const sn_stage *stage, double deviation,
                              sn_arena *arena) {
    sn_shadow_map *map = &light->key;
    const int32_t numbers = MOMENTS_SIZE * MOMENTS_SIZE * MOMENTS;

    map->moments = SN_PUSH(arena, float, numbers);
    float *half_way = SN_PUSH(arena, float, numbers);
    sn_float3 *grid = SN_PUSH(arena, sn_float3, stage->vertex_count);

    SN_TRY(sn_arena_status(arena));
    raise_stage(map, stage, grid);
    if (light->has_ground) {
        raise_ground(map, stage->view.up, light->ground_height);
    }

    sn_parallel_for(arena->context, MOMENTS_SIZE, ROWS, compute_moments, map);

    // A separable Gaussian: rows first, then columns.
    blur_job job = {.source = map->moments, .result = half_way};

    deviation = fmin(fmax(deviation, 0.5), MOST_KERNEL / 2.5);
    job.reach = (int32_t)(2.5 * deviation);

    double sum = 0;
    for (int k = -job.reach; k <= job.reach; k++) {
        sum += exp(-0.5 * k * k / (deviation * deviation));
    }

    for (int k = -job.reach; k <= job.reach; k++) {
        job.kernel[k + job.reach] = (float)(exp(-0.5 * k * k / (deviation * deviation)) / sum);
    }

    sn_parallel_for(arena->context, MOMENTS_SIZE, ROWS, blur_rows, &job);
    job.source = half_way;
    job.result = map->moments;
    job.columns = true;
    sn_parallel_for(arena->context, MOMENTS_SIZE, ROWS, blur_rows, &job);

    return SINEW_OK;
}

// Chebyshev's bound of the fraction of occluders that are not above a receiver whose warped
// depth exceeds their mean by `excess`; an excess below `slack` counts as none.
static float chebyshev(float mean, float square, float excess, float slack) {
    SN_ASSERT(slack > 0);
    if (excess <= 0) {
        return 1;
    }
    float variance = most(square - mean * mean, slack * slack);
    return variance / (variance + excess * excess);
}

float sn_shadow_lit(const sn_shadow_map *map, sn_float3 p, sn_float3 n) {
    if (!map->moments) {
        return 1;
    }

    float scale = 0.5f * map->scale;
    float limit = MOMENTS_SIZE - 1;

    // Start above the surface itself.
    p = sn_madd_f(p, 0.75f / scale, n);
    float gx = (sn_dot_f(map->x, p) - map->left) * scale - 0.5f;
    float gy = (sn_dot_f(map->y, p) - map->top) * scale - 0.5f;
    if (!(gx >= 0 && gy >= 0 && gx < limit && gy < limit)) {
        return 1;
    }

    // Interpolate the moments.
    int32_t i = (int32_t)gx;
    int32_t j = (int32_t)gy;
    float fx = gx - (float)i;
    float fy = gy - (float)j;
    const float *a = map->moments + MOMENTS * (j * MOMENTS_SIZE + i);
    const float *b = a + MOMENTS * MOMENTS_SIZE;
    float m[MOMENTS];

    for (int c = 0; c < MOMENTS; c++) {
        m[c] = (1 - fy) * ((1 - fx) * a[c] + fx * a[MOMENTS + c]) +
               fy * ((1 - fx) * b[c] + fx * b[MOMENTS + c]);
    }

    float warped = warped_depth(map, sn_dot_f(map->z, p));
    float inverse = 1 / warped;
    float slack = 0.01f * map->sharpness;
    float share = chebyshev(m[0], m[1], warped - m[0], slack * warped);

    share = least(share, chebyshev(m[2], m[3], m[2] - inverse, slack * inverse));

    // The bound lets some light leak, and a slope under the blur loses some.
    share = (share - 0.2f) / 0.75f;
    share = share < 0 ? 0 : share > 1 ? 1 : share;

    // Everything beyond the map is lit; fade to that.
    float border = least(least(gx, limit - gx), least(gy, limit - gy)) / 8;

    return border < 1 ? 1 + border * (share - 1) : share;
}

// ---- the sky ----

typedef struct sky_job {
    const sn_stage *stage;
    sn_illumination *light;
    const sn_shadow_map *maps;
    int32_t directions, first; // all directions, and the first of the batch
    sn_float3 *grids;          // scratch of the batch
    sn_float3 up;
} sky_job;

static void raise_sky(void *data, int32_t begin, int32_t end, int32_t chunk) {
    (void)chunk;
    const sky_job *job = data;
    for (int32_t k = begin; k < end; k++) {
        raise_stage(&job->maps[job->first + k], job->stage,
                    job->grids + (size_t)k * (size_t)job->stage->vertex_count);
    }
}

// The fraction of a direction's light that arrives at p: that of the four nearest cells that
// are not above it.
static float sky_visible(const sn_shadow_map *map, sn_float3 p) {
    float gx = (sn_dot_f(map->x, p) - map->left) * map->scale - 0.5f;
    float gy = (sn_dot_f(map->y, p) - map->top) * map->scale - 0.5f;
    float limit = (float)(map->size - 1);
    float height = sn_dot_f(map->z, p) + 0.75f / map->scale;

    if (!(gx >= 0 && gy >= 0 && gx < limit && gy < limit)) {
        return 1;
    }

    int32_t i = (int32_t)gx;
    int32_t j = (int32_t)gy;
    float fx = gx - (float)i;
    float fy = gy - (float)j;
    const float *h = map->heights + j * map->size + i;
    const float *below = h + map->size;
    float upper = (1 - fx) * (h[0] <= height ? 1.0f : 0.0f) + fx * (h[1] <= height ? 1.0f : 0.0f);
    float lower =
        (1 - fx) * (below[0] <= height ? 1.0f : 0.0f) + fx * (below[1] <= height ? 1.0f : 0.0f);

    return (1 - fy) * upper + fy * lower;
}

// The sky's light on a surface with normal n, relative to a surface in the open.
static float sky_share(const sky_job *job, sn_float3 p, sn_float3 n) {
    float seen = 0.05f;
    float all = 0.05f; // a surface that looks down sees little sky, open or not
    for (int32_t k = 0; k < job->directions; k++) {
        float cosine = sn_dot_f(n, job->maps[k].z);
        if (cosine <= 0) {
            continue;
        }
        seen += cosine * sky_visible(&job->maps[k], sn_madd_f(p, 1.2f / job->maps[k].scale, n));
        all += cosine;
    }

    return seen / all;
}

static sn_float3 lattice_point(const sn_illumination *light, sn_float3 up, int32_t i, int32_t j) {
    float x = light->lattice_left + ((float)i + 0.5f) / light->lattice_scale;
    float y = light->lattice_top + ((float)j + 0.5f) / light->lattice_scale;
    sn_float3 p = {light->ground_height * up.x, light->ground_height * up.y,
                   light->ground_height * up.z};
    return sn_madd_f(sn_madd_f(p, x, light->ground_x), y, light->ground_y);
}

static void light_ground(void *data, int32_t begin, int32_t end, int32_t chunk) {
    (void)chunk;
    const sky_job *job = data;
    for (int32_t j = begin; j < end; j++) {
        for (int32_t i = 0; i < SN_SHADOW_LATTICE; i++) {
            job->light->lattice[j * SN_SHADOW_LATTICE + i] =
                sky_share(job, lattice_point(job->light, job->up, i, j), job->up);
        }
    }
}

// A binomial blur that merges the shadows of single directions.
static void smooth_lattice(float *lattice) {
    enum { N = SN_SHADOW_LATTICE };
    float line[N];
    for (int pass = 0; pass < 2 * SMOOTHINGS; pass++) {
        int along = pass % 2 ? N : 1;
        int across = pass % 2 ? 1 : N;
        for (int j = 0; j < N; j++) {
            for (int i = 0; i < N; i++) {
                line[i] = lattice[j * across + i * along];
            }

            for (int i = 1; i < N - 1; i++) {
                lattice[j * across + i * along] =
                    0.25f * line[i - 1] + 0.5f * line[i] + 0.25f * line[i + 1];
            }
        }
    }
}

// Direction k of n, evenly distributed over the upper hemisphere: a spiral with the golden
// angle.
static sn_vec3 sky_direction(sn_mat3 upright, int32_t k, int32_t n) {
    SN_ASSERT(k >= 0 && k < n);
    double height = 1 - (k + 0.5) / n * 0.97;
    double radius = sqrt(1 - height * height);
    double angle = 2.399963229728653 * k;
    return sn_mat3_apply(upright, sn_v3(radius * cos(angle), radius * sin(angle), height));
}

// The sky's light on the ground. It blends to 1 towards the border of the lattice, beyond which
// the ground is open.
float sn_illumination_ground_sky(const sn_illumination *light, sn_float3 p) {
    if (!light->lattice) {
        return 1;
    }

    float gx = (sn_dot_f(light->ground_x, p) - light->lattice_left) * light->lattice_scale - 0.5f;
    float gy = (sn_dot_f(light->ground_y, p) - light->lattice_top) * light->lattice_scale - 0.5f;
    float limit = (float)(SN_SHADOW_LATTICE - 1);
    if (!(gx >= 0 && gy >= 0 && gx < limit && gy < limit)) {
        return 1;
    }

    int32_t i = (int32_t)gx;
    int32_t j = (int32_t)gy;
    float fx = gx - (float)i;
    float fy = gy - (float)j;
    const float *a = light->lattice + j * SN_SHADOW_LATTICE + i;
    const float *b = a + SN_SHADOW_LATTICE;
    float value = (1 - fy) * ((1 - fx) * a[0] + fx * a[1]) + fy * ((1 - fx) * b[0] + fx * b[1]);
    float border = least(least(gx, limit - gx), least(gy, limit - gy)) / 8;

    return border < 1 ? 1 + border * (value - 1) : value;
}

// The openness of the ground beneath a point; high above the ground it is 1.
static float ground_share(const sn_illumination *light, sn_float3 up, sn_float3 p) {
    SN_ASSERT(light->lattice && light->region.radius > 0);
    float height = (sn_dot_f(p, up) - light->ground_height) / (0.6f * light->region.radius);
    float open = sn_illumination_ground_sky(light, p);
    return height > 1 ? 1 : height < 0 ? open : open + (1 - open) * height;
}

// The light of the sky and the ground on each vertex. A surface that is seen from its back gets
// the light of the visible side, unless it is closed, so that its back is never visible.
static void light_vertices(void *data, int32_t begin, int32_t end, int32_t chunk) {
    (void)chunk;
    const sky_job *job = data;
    const sn_stage *stage = job->stage;

    for (int32_t i = begin; i < end; i++) {
        if (job->light->sky[i] == 1) {
            continue; // receives no shadows
        }

        // Does the vertex show its back?
        sn_float3 n = stage->vertex_normals[i];
        sn_float3 p = stage->positions[i];
        sn_float3 eye = stage->view.eye;
        sn_float3 to_eye = {eye.x - p.x, eye.y - p.y, eye.z - p.z};
        bool away = sn_dot_f(n, to_eye) < -0.5f * sqrtf(sn_dot_f(to_eye, to_eye));

        if (away && job->light->sky[i] == closed_mark) {
            continue;
        }
        if (away) {
            n = scaled(-1, n);
        }

        job->light->sky[i] = sky_share(job, p, n);
        if (job->light->lattice) {
            job->light->bounce[i] = ground_share(job->light, job->up, p);
        }
    }
}

static sinew_status build_sky(sn_illumination *light, const sn_stage *stage, int32_t directions,
                              sn_vec3 up, sn_arena *arena) {
    sn_arena_mark mark = sn_arena_get_mark(arena);
    sn_shadow_map *maps = SN_PUSH(arena, sn_shadow_map, directions);

    SN_TRY(sn_arena_status(arena));
    sn_mat3 upright = sn_mat3_basis(up);
    for (int32_t k = 0; k < directions; k++) {
        maps[k] = make_map(&light->region, sky_direction(upright, k, directions), SKY_SIZE, arena);
    }

    // A batch of directions at a time, to bound the memory.
    sky_job job = {.stage = stage,
                   .light = light,
                   .maps = maps,
                   .directions = directions,
                   .up = sn_float3_of(up)};

    job.grids = SN_PUSH(arena, sn_float3, (size_t)BATCH * (size_t)stage->vertex_count);
    SN_TRY(sn_arena_status(arena));
    for (; job.first < directions; job.first += BATCH) {
        int32_t batch = directions - job.first < BATCH ? directions - job.first : BATCH;
        sn_parallel_for(arena->context, batch, 1, raise_sky, &job);
    }

    if (light->lattice) {
        sn_parallel_for(arena->context, SN_SHADOW_LATTICE, 4, light_ground, &job);
        smooth_lattice(light->lattice);
    }

    sn_parallel_for(arena->context, stage->vertex_count, CHUNK, light_vertices, &job);
    sn_arena_rewind(arena, mark);

    return SINEW_OK;
}

// ---- the whole ----

// A ball around everything that casts shadows; vertices far outside the camera's view do not
// count.
static sn_shadow_region find_region(const sn_stage *stage) {
    float reach = 4;

    // The box of all vertices that cast shadows.
    sn_float3 low = {reach, reach, reach};
    sn_float3 high = {-reach, -reach, -reach};
    bool any = false;

    for (int32_t i = 0; i < stage->object_count; i++) {
        const sn_stage_object *object = &stage->objects[i];
        if (!casts(&object->mesh)) {
            continue;
        }

        for (int32_t v = 0; v < object->mesh.vertex_count; v++) {
            sn_float3 p = stage->positions[object->first_vertex + v];
            if (!(sn_dot_f(p, p) < reach * reach)) {
                continue;
            }

            low = (sn_float3){least(low.x, p.x), least(low.y, p.y), least(low.z, p.z)};
            high = (sn_float3){most(high.x, p.x), most(high.y, p.y), most(high.z, p.z)};
            any = true;
        }
    }

    if (!any) {
        return (sn_shadow_region){0};
    }

    // The ball around the box.
    sn_float3 half = {0.5f * (high.x - low.x), 0.5f * (high.y - low.y), 0.5f * (high.z - low.z)};
    return (sn_shadow_region){.center = {low.x + half.x, low.y + half.y, low.z + half.z},
                              .radius = most(sqrtf(sn_dot_f(half, half)), 1e-6f)};
}

static void set_up_ground(sn_illumination *light, const sn_stage *stage,
                          const sn_picture_scene *scene, sn_arena *arena) {
    sn_vec3 up = scene->camera.up;
    light->has_ground = scene->backdrop.ground;
    light->ground_height =
        (float)((scene->backdrop.ground_height - sn_dot(up, stage->view.origin)) /
                stage->view.unit);

    sn_mat3 basis = sn_mat3_basis(up);
    light->ground_x = sn_float3_of(sn_mat3_column(basis, 0));
    light->ground_y = sn_float3_of(sn_mat3_column(basis, 1));

    float half = 1.7f * light->region.radius; // the sky's shadow reaches beyond the thing itself
    light->lattice_left = sn_dot_f(light->ground_x, light->region.center) - half;
    light->lattice_top = sn_dot_f(light->ground_y, light->region.center) - half;
    light->lattice_scale = SN_SHADOW_LATTICE / (2 * half);

    if (light->has_ground && light->region.radius > 0 && scene->lights.sky_directions > 0) {
        light->lattice = SN_PUSH(arena, float, SN_SHADOW_LATTICE *SN_SHADOW_LATTICE);
    }
}

sinew_status sn_illumination_create(sn_illumination *light, const sn_stage *stage,
                                    const sn_picture_scene *scene, sn_arena *arena) {
    *light = (sn_illumination){.region = find_region(stage),
                               .sky = SN_PUSH(arena, float, stage->vertex_count),
                               .bounce = SN_PUSH(arena, float, stage->vertex_count)};
    set_up_ground(light, stage, scene, arena);
    SN_TRY(sn_arena_status(arena));

    bool sky = light->region.radius > 0 && scene->lights.sky_directions > 0;
    for (int32_t k = 0; k < stage->object_count; k++) {
        const sn_stage_object *object = &stage->objects[k];
        float share = !sky || object->mesh.no_shadow ? 1
                      : object->mesh.closed          ? closed_mark
                                                     : open_mark;

        int32_t end = object->first_vertex + object->mesh.vertex_count;
        for (int32_t i = object->first_vertex; i < end; i++) {
            light->sky[i] = share;
            light->bounce[i] = 1;
        }
    }

    if (!(light->region.radius > 0)) {
        return SINEW_OK;
    }

    light->key = make_map(&light->region, scene->lights.key, KEY_SIZE, arena);
    SN_TRY(sn_arena_status(arena));

    // The blur is relative to the height of the picture, which is 2 tan(field / 2) at the
    // distance of the target. A shadow that falls from high above is softer.
    double deviation =
        scene->lights.softness * 2 * tan(0.5 * scene->camera.field) * 0.5 * light->key.scale;
    double height = (sn_dot_f(light->region.center, stage->view.up) - light->ground_height) /
                    light->region.radius;

    if (light->has_ground) {
        deviation *= 1 + fmin(fmax(height - 0.4, 0), 1.5);
    }

    SN_TRY(build_key(light, stage, deviation, arena));
    if (!sky) {
        return SINEW_OK;
    }

    return build_sky(light, stage, scene->lights.sky_directions, scene->camera.up, arena);
}
