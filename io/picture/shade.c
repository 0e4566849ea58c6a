// Shading in linear light. Diffuse after Lambert, the highlight after Blinn (1977), the wire from
// the barycentric coordinates' distance to an edge in pixels (Bærentzen et al. 2006).
#include "io/picture/shade.h"

#include <math.h>

// The part along `axis` of the ray -z + x (px - width/2) / focal - y (py - height/2) / focal
// through a pixel position.
static void set_rays(float ray[3], const sn_stage_view *view, sn_float3 axis) {
    ray[1] = sn_dot_f(view->x, axis) / (float)view->focal;
    ray[2] = -sn_dot_f(view->y, axis) / (float)view->focal;
    ray[0] = -sn_dot_f(view->z, axis) - 0.5f * (float)view->width * ray[1] -
             0.5f * (float)view->height * ray[2];
}

sn_shader sn_shader_create(const sn_stage *stage, const sn_illumination *light,
                           const sn_picture_scene *scene, const sn_raster_planes *planes,
                           const uint8_t *backs) {
    sn_shader shader = {
        .stage = stage, .light = light, .scene = scene, .planes = planes, .backs = backs};

    shader.key = sn_float3_of(sn_normalize(scene->lights.key));
    shader.fill = sn_float3_of(sn_normalize(scene->lights.fill));

    // Shares of key and sky light on the ground.
    sn_color key =
        sn_color_scale(fmaxf(sn_dot_f(shader.key, stage->view.up), 0), scene->lights.key_color);
    sn_color sky = scene->lights.sky;

    shader.ground_key = (sn_color){key.r / (key.r + sky.r + 1e-9f), key.g / (key.g + sky.g + 1e-9f),
                                   key.b / (key.b + sky.b + 1e-9f)};
    shader.ground_sky =
        (sn_color){1 - shader.ground_key.r, 1 - shader.ground_key.g, 1 - shader.ground_key.b};
    set_rays(shader.ray_up, &stage->view, stage->view.up);
    set_rays(shader.ray_x, &stage->view, light->ground_x);
    set_rays(shader.ray_y, &stage->view, light->ground_y);

    double spacing = scene->backdrop.grid_spacing;

    // The grid, unless it is so fine that it would look grey.
    if (spacing > 0 && stage->view.unit / spacing < 1e4) {
        sn_vec3 o = stage->view.origin;

        sn_float3 gx = light->ground_x;
        sn_float3 gy = light->ground_y;
        shader.grid_scale = (float)(stage->view.unit / spacing);
        shader.grid_x = (float)fmod((gx.x * o.x + gx.y * o.y + gx.z * o.z) / spacing, 1);
        shader.grid_y = (float)fmod((gy.x * o.x + gy.y * o.y + gy.z * o.z) / spacing, 1);
    }

    return shader;
}

static float clamp_unit(float value) {
    return value > 0 ? value < 1 ? value : 1 : 0;
}

// ---- faces ----

static sn_float3 blend3(const float b[3], const sn_float3 *p0, const sn_float3 *p1,
                        const sn_float3 *p2) {
    return (sn_float3){b[0] * p0->x + b[1] * p1->x + b[2] * p2->x,
                       b[0] * p0->y + b[1] * p1->y + b[2] * p2->y,
                       b[0] * p0->z + b[1] * p1->z + b[2] * p2->z};
}

// The colour of the surface in white light.
static sn_color surface_color(const sn_picture_mesh *mesh, int32_t triangle, const float b[3]) {
    SN_ASSERT(triangle >= 0 && triangle < mesh->triangle_count && (!mesh->values || mesh->map));

    // Values, through a colour map.
    const int32_t *v = mesh->triangles + 3 * (size_t)triangle;
    if (mesh->values) {
        double value = mesh->values_per_triangle
                           ? mesh->values[triangle]
                           : (double)b[0] * mesh->values[v[0]] + (double)b[1] * mesh->values[v[1]] +
                                 (double)b[2] * mesh->values[v[2]];
        double range = mesh->high - mesh->low;

        return sn_colormap_at(mesh->map,
                              range != 0 ? (value - mesh->low) / range : value - mesh->low + 0.5);
    }

    // One colour, or one at each vertex.
    if (!mesh->colors) {
        return mesh->color;
    }

    const float *c0 = mesh->colors + 3 * (size_t)v[0];
    const float *c1 = mesh->colors + 3 * (size_t)v[1];
    const float *c2 = mesh->colors + 3 * (size_t)v[2];

    return (sn_color){b[0] * c0[0] + b[1] * c1[0] + b[2] * c2[0],
                      b[0] * c0[1] + b[1] * c1[1] + b[2] * c2[1],
                      b[0] * c0[2] + b[1] * c1[2] + b[2] * c2[2]};
}

// The part of a pixel that is covered by the edges of the triangle, drawn about one pixel wide and
// fading where triangles become that small. The slopes sum to the inverse of the inscribed circle's
// radius.
static float wire_cover(const sn_raster_planes *planes, const float b[3], float w) {
    float slope[3][2];
    for (int c = 0; c < 2; c++) {
        float depth = planes->depth[c + 1];
        slope[1][c] = w * (planes->b1[c + 1] - b[1] * depth);
        slope[2][c] = w * (planes->b2[c + 1] - b[2] * depth);
        slope[0][c] = -slope[1][c] - slope[2][c];
    }

    float nearest = 1e30f;
    float sum = 1e-20f;
    for (int i = 0; i < 3; i++) {
        float steepness = sqrtf(slope[i][0] * slope[i][0] + slope[i][1] * slope[i][1]) + 1e-20f;
        nearest = b[i] < nearest * steepness ? b[i] / steepness : nearest;
        sum += steepness;
    }

    return clamp_unit(1 - nearest) * clamp_unit(0.5f * (1 / sum - 0.5f));
}

// Compresses values that are too bright for the screen to below 1.
static float shoulder(float value) {
    const float knee = 0.78f;
    if (value <= knee) {
        return value;
    }
    float over = (value - knee) / (1 - knee);
    return knee + (1 - knee) * over / (1 + over);
}

static float fifth_power(float x) {
    return x * x * x * x * x;
}

static float highlight(sn_float3 n, sn_float3 key, sn_float3 view) {
    float h =
        sn_dot_f(n, sn_normalize_f((sn_float3){key.x + view.x, key.y + view.y, key.z + view.z}));
    if (h <= 0) {
        return 0;
    }

    float h2 = h * h;
    float h4 = h2 * h2;
    float h8 = h4 * h4;
    float h16 = h8 * h8;

    return h16 * h16 * h8;
}

// A point of a surface to be lit.
typedef struct surface_point {
    sn_float3 p, n, view; // position, normal, direction to the eye
    float sky, bounce;    // fractions of the light from above and from below
} surface_point;

static sn_color lit_color(const sn_shader *shader, const sn_picture_mesh *mesh, sn_color surface,
                          const surface_point *at) {
    const sn_picture_lights *lights = &shader->scene->lights;
    // The light has some width, so it reaches slightly beyond the terminator.
    float facing = clamp_unit((sn_dot_f(at->n, shader->key) + 0.06f) / 1.06f);
    float arrives = mesh->no_shadow ? 1
                    : facing > 0    ? sn_shadow_lit(&shader->light->key, at->p, at->n)
                                    : 0;

    // Ambient light from sky and ground, then key and fill light.
    float upward = 0.5f + 0.5f * sn_dot_f(at->n, shader->stage->view.up);
    float below = (1 - upward) * at->bounce * (0.5f + 0.5f * at->sky);
    sn_color light =
        sn_color_madd(sn_color_scale(below, lights->bounce), upward * at->sky, lights->sky);

    light = sn_color_madd(light, facing * arrives, lights->key_color);
    light =
        sn_color_madd(light, clamp_unit(sn_dot_f(at->n, shader->fill)) * (0.4f + 0.6f * at->sky),
                      lights->fill_color);

    sn_color color = sn_color_mul(surface, light);

    // Rim and highlight.
    float gloss = (float)mesh->gloss;
    if (gloss > 0) {
        float rim = fifth_power(1 - clamp_unit(sn_dot_f(at->n, at->view)));
        color = sn_color_madd(color, 0.5f * gloss * rim * at->sky, lights->sky);
        if (arrives > 0) {
            color = sn_color_madd(color, gloss * arrives * highlight(at->n, shader->key, at->view),
                                  lights->key_color);
        }
    }

    return (sn_color){shoulder(color.r), shoulder(color.g), shoulder(color.b)};
}

static surface_point find_point(const sn_shader *shader, int32_t face, const float b[3]) {
    const sn_stage *stage = shader->stage;
    const sn_illumination *light = shader->light;
    const int32_t *v = stage->triangles + 3 * (size_t)face;
    const sn_float3 *normals = (const sn_float3 *)(stage->normals + 9 * (size_t)face);
    surface_point at = {
        .p = blend3(b, &stage->positions[v[0]], &stage->positions[v[1]], &stage->positions[v[2]]),
        .n = sn_normalize_f(blend3(b, &normals[0], &normals[1], &normals[2])),
        .sky = b[0] * light->sky[v[0]] + b[1] * light->sky[v[1]] + b[2] * light->sky[v[2]],
        .bounce =
            b[0] * light->bounce[v[0]] + b[1] * light->bounce[v[1]] + b[2] * light->bounce[v[2]]};

    if (shader->backs[face]) {
        at.n = (sn_float3){-at.n.x, -at.n.y, -at.n.z};
    }

    at.view = sn_normalize_f((sn_float3){stage->view.eye.x - at.p.x, stage->view.eye.y - at.p.y,
                                         stage->view.eye.z - at.p.z});

    return at;
}

sn_color sn_shade_face(const sn_shader *shader, int32_t face, float x, float y, float *opacity) {
    SN_ASSERT(face >= 0 && face < shader->stage->triangle_count);
    const sn_stage_object *object = &shader->stage->objects[shader->stage->object_of[face]];
    const sn_picture_mesh *mesh = &object->mesh;

    // The point that is seen, and its own colour.
    float b[3];
    float w = sn_raster_barycentric(b, &shader->planes[face], x, y);
    float see = (float)mesh->opacity;
    surface_point at = find_point(shader, face, b);
    sn_color surface = surface_color(mesh, face - object->first_triangle, b);

    // Wires are darker, and opaque even on glass.
    if (mesh->wire > 0) {
        float cover = (float)mesh->wire * wire_cover(&shader->planes[face], b, w);
        surface = sn_color_scale(1 - 0.75f * cover, surface);
        see += (1 - see) * cover;
    }

    if (see < 1) { // glass looks denser where it is seen at a slant
        float slant = 1 - clamp_unit(sn_dot_f(at.n, at.view));

        see += (1 - see) * 0.75f * slant * slant * slant;
    }
    *opacity = see;

    sn_color lit = lit_color(shader, mesh, surface, &at);
    return mesh->opacity < 1 ? sn_color_mix(lit, surface, 0.6f) : lit; // light goes through glass
}

// ---- the backdrop ----

// The point at which the ray of a pixel position meets the ground.
typedef struct ground_hit {
    float slope, far; // of the ray along up, and how many rays it is away
    sn_float3 p;
} ground_hit;

static bool hit_ground(const sn_shader *shader, float x, float y, ground_hit *hit) {
    const sn_stage_view *view = &shader->stage->view;
    const sn_illumination *light = shader->light;
    float drop = light->ground_height - sn_dot_f(view->eye, view->up);

    hit->slope = shader->ray_up[0] + x * shader->ray_up[1] + y * shader->ray_up[2];
    if (!(drop < 0 && hit->slope < -1e-4f)) {
        return false; // the ground is seen from above only
    }

    hit->far = drop / hit->slope;
    float gx = shader->ray_x[0] + x * shader->ray_x[1] + y * shader->ray_x[2];
    float gy = shader->ray_y[0] + x * shader->ray_y[1] + y * shader->ray_y[2];

    hit->p =
        sn_madd_f(sn_madd_f(sn_madd_f(view->eye, drop, view->up), hit->far * gx, light->ground_x),
                  hit->far * gy, light->ground_y);

    return hit->far < 60;
}

// How much of the pixel a grid line across one of the ground's axes covers. With the ray g along
// the axis and s along up, the coordinate is drop g / s, its slope on the screen
// far (g' - g s' / s).
static float line_cover(const sn_shader *shader, const ground_hit *hit, const float ray[3],
                        sn_float3 axis, float offset) {
    float g = (sn_dot_f(axis, hit->p) - sn_dot_f(axis, shader->stage->view.eye)) / hit->far;
    float step = 0;
    for (int c = 1; c < 3; c++) {
        float slope = hit->far * (ray[c] - g * shader->ray_up[c] / hit->slope);
        step += slope < 0 ? -slope : slope;
    }

    step *= shader->grid_scale;
    float place = sn_dot_f(axis, hit->p) * shader->grid_scale + offset;

    place -= (float)(int32_t)place;
    if (place < 0) {
        place += 1;
    }

    float pixels = (place < 0.5f ? place : 1 - place) / (step + 1e-12f);
    return clamp_unit(1.1f - pixels) *
           clamp_unit(2 - 4 * step); // lines closer than a few pixels fade away
}

static float grid_cover(const sn_shader *shader, const ground_hit *hit) {
    float cover = line_cover(shader, hit, shader->ray_x, shader->light->ground_x, shader->grid_x);
    float other = line_cover(shader, hit, shader->ray_y, shader->light->ground_y, shader->grid_y);
    float away = sqrtf(sn_dot_f(hit->p, hit->p));
    return (cover > other ? cover : other) * clamp_unit(1 - away / 1.6f);
}

sn_color sn_shade_ground(const sn_shader *shader, float x, float y) {
    ground_hit hit;
    if (!shader->light->has_ground || !hit_ground(shader, x, y, &hit)) {
        return (sn_color){1, 1, 1};
    }

    float arrives = sn_shadow_lit(&shader->light->key, hit.p, shader->stage->view.up);
    float open = sn_illumination_ground_sky(shader->light, hit.p);

    return sn_color_madd(sn_color_scale(arrives, shader->ground_key), open, shader->ground_sky);
}

sn_color sn_shade_backdrop(const sn_shader *shader, float x, float y, sn_color ground) {
    const sn_picture_backdrop *backdrop = &shader->scene->backdrop;
    sn_color color = sn_color_mix(backdrop->top, backdrop->bottom,
                                  clamp_unit(y / (float)shader->stage->view.height));
    ground_hit hit;

    if (shader->grid_scale > 0 && shader->light->has_ground && hit_ground(shader, x, y, &hit)) {
        color = sn_color_scale(1 - 0.22f * grid_cover(shader, &hit), color);
    }

    return sn_color_mul(color, ground);
}
