// Moving surfaces as .glb: a node, a mesh and a material for each, morph targets for its images,
// and one animation that shows them one after the other.
//
// Surfaces without normals get smooth ones, split at creases of the first image: a vertex at a
// crease is repeated at the end of the list, once for each further normal, so that the vertices of
// the surface keep their numbers. Later images have the normals of their own shape, with the same
// splits, as displacements of the first ones.
#include "io/gltf/gltf.h"
#include "io/picture/normals.h"

#include <math.h>
#include <string.h>

enum { MOST_TARGETS = 46339 }; // n (n + 1) weights must fit in an int32_t

static const double crease = 40 * (3.14159265358979 / 180); // as in pictures [rad]

// A surface as it is written.
typedef struct written {
    sn_gltf_primitive primitive;
    int32_t *source;  // [point] the vertex that it repeats
    int32_t *corners; // three per triangle
    double *normals;  // image after image
} written;

static sinew_status compute_corners(const sn_glb_frames *f, const double *points, float *positions,
                                    float *corners, sn_arena *arena) {
    // Relative to the first point: floats have seven digits.
    for (size_t i = 0; i < 3 * (size_t)f->point_count; i++) {
        positions[i] = (float)(points[i] - points[i % 3]);
    }
    return sn_compute_corner_normals(corners, positions, f->point_count, f->indices,
                                     f->index_count / 3, crease, arena);
}

// Whether two normals are the same up to rounding.
static bool agree(const float *a, const float *b) {
    return fabsf(a[0] - b[0]) + fabsf(a[1] - b[1]) + fabsf(a[2] - b[2]) < 1e-4F;
}

// Gives each corner a point: that of its vertex, or one that repeats it with another normal.
// Returns the number of points.
static int32_t split(const sn_glb_frames *f, const float *corners, int32_t *last, int32_t *first,
                     written *w) {
    int32_t count = f->point_count;
    for (int32_t i = 0; i < count; i++) {
        w->source[i] = i;
        first[i] = last[i] = -1; // the corner whose normal the point has; the next repetition
    }

    for (int32_t c = 0; c < f->index_count; c++) {
        int32_t point = f->indices[c];
        while (first[point] >= 0 && !agree(corners + 3 * (size_t)first[point], corners + 3 * c)) {
            if (last[point] < 0) {
                // A new repetition, at the end of the vertex's list.
                w->source[count] = f->indices[c];
                first[count] = last[count] = -1;
                last[point] = count++;
            }
            point = last[point];
        }
        first[point] = first[point] < 0 ? c : first[point];
        w->corners[c] = point;
    }
    return count;
}

// The normals of all points in an image: means over their corners.
static void average(const sn_glb_frames *f, const float *corners, const written *w,
                    double *normals) {
    size_t count = (size_t)w->primitive.point_count;
    memset(normals, 0, 3 * count * sizeof *normals);
    for (int32_t c = 0; c < f->index_count; c++) {
        for (int k = 0; k < 3; k++) {
            normals[3 * w->corners[c] + k] += (double)corners[3 * c + k];
        }
    }
    for (size_t i = 0; i < count; i++) {
        double *n = normals + 3 * i, length = sqrt(n[0] * n[0] + n[1] * n[1] + n[2] * n[2]);
        for (int k = 0; k < 3; k++) {
            n[k] = length > 0 ? n[k] / length : (double)(k == 2);
        }
    }
}

static sinew_status add_normals(const sn_glb_frames *f, written *w, sn_arena *arena) {
    size_t corner_count = (size_t)f->index_count, most = (size_t)f->point_count + corner_count;
    float *positions = SN_PUSH(arena, float, 3 * (size_t)f->point_count);
    float *corners = SN_PUSH(arena, float, 3 * corner_count);
    int32_t *last = SN_PUSH(arena, int32_t, most), *first = SN_PUSH(arena, int32_t, most);
    w->source = SN_PUSH(arena, int32_t, most);
    w->corners = SN_PUSH(arena, int32_t, corner_count);
    SN_TRY(sn_arena_status(arena));

    SN_TRY(compute_corners(f, f->frames[0], positions, corners, arena));
    size_t count = (size_t)split(f, corners, last, first, w);
    w->primitive.point_count = (int32_t)count;
    w->primitive.indices = w->corners;
    w->normals = SN_PUSH(arena, double, 3 * count * (size_t)f->frame_count);
    SN_TRY(sn_arena_status(arena));

    average(f, corners, w, w->normals);
    for (int32_t k = 1; k < f->frame_count; k++) {
        double *normals = w->normals + 3 * count * (size_t)k;
        SN_TRY(compute_corners(f, f->frames[k], positions, corners, arena));
        average(f, corners, w, normals);
        for (size_t i = 0; i < 3 * count; i++) {
            normals[i] -= w->normals[i];
        }
    }
    w->primitive.normals = w->normals;
    return SINEW_OK;
}

// The points of an image, less those of another if given.
static void take_points(const written *w, const double *points, const double *less, double *out) {
    for (size_t i = 0; i < 3 * (size_t)w->primitive.point_count; i++) {
        size_t from = 3 * (size_t)(w->source ? w->source[i / 3] : (int32_t)(i / 3)) + i % 3;
        out[i] = points[from] - (less ? less[from] : 0);
    }
}

static sinew_status fill_primitive(const sn_glb_frames *f, written *w, sn_arena *arena) {
    int32_t targets = f->frame_count - 1; // the first image is the mesh itself
    if (targets > MOST_TARGETS) {
        return sn_fail(arena->context, SINEW_UNSUPPORTED,
                       "a GLB holds at most %d images, not %d; write fewer, or a pc2",
                       MOST_TARGETS + 1, f->frame_count);
    }
    w->primitive = (sn_gltf_primitive){.point_count = f->point_count,
                                       .normals = f->normals,
                                       .uvs = f->uvs,
                                       .index_count = f->index_count,
                                       .indices = f->indices,
                                       .target_count = targets};
    if (!f->plain && !f->normals && !f->uvs && f->index_count > 0) {
        SN_TRY(add_normals(f, w, arena));
    }

    size_t numbers = 3 * (size_t)w->primitive.point_count;
    double *points = SN_PUSH(arena, double, numbers *(size_t)f->frame_count);
    const double **moved = SN_PUSH(arena, const double *, targets);
    const double **rotated = SN_PUSH(arena, const double *, targets);
    SN_TRY(sn_arena_status(arena));
    take_points(w, f->frames[0], NULL, points);
    for (int32_t k = 0; k < targets; k++) {
        double *out = points + numbers * ((size_t)k + 1);
        take_points(w, f->frames[k + 1], f->frames[0], out);
        moved[k] = out;
        rotated[k] = w->normals ? w->normals + numbers * ((size_t)k + 1) : NULL;
    }

    w->primitive.points = points;
    w->primitive.targets = moved;
    w->primitive.target_normals = w->normals ? rotated : NULL;
    return SINEW_OK;
}

static sinew_status write_scene(const sn_glb_frames *surfaces, int32_t count, sn_arena *arena,
                                sn_buffer *out) {
    written *all = SN_PUSH(arena, written, count);
    sn_gltf_mesh *meshes = SN_PUSH(arena, sn_gltf_mesh, count);
    sn_gltf_node *nodes = SN_PUSH(arena, sn_gltf_node, count);
    sn_gltf_material *materials = SN_PUSH(arena, sn_gltf_material, count);
    sn_gltf_channel *channels = SN_PUSH(arena, sn_gltf_channel, count);
    SN_TRY(sn_arena_status(arena));

    for (int32_t i = 0; i < count; i++) {
        const sn_glb_frames *f = &surfaces[i];
        SN_ASSERT(f->frame_count >= 1 && f->frame_count == surfaces[0].frame_count);
        SN_TRY(fill_primitive(f, &all[i], arena));
        all[i].primitive.material = i;
        meshes[i] = (sn_gltf_mesh){f->name, 1, &all[i].primitive};
        materials[i] = f->material;
        nodes[i] = f->z_up ? sn_gltf_upright_node(f->name) : sn_gltf_default_node(f->name);
        nodes[i].mesh = i;
        channels[i] = (sn_gltf_channel){.node = i,
                                        .path = SN_GLTF_WEIGHTS,
                                        .key_count = f->frame_count,
                                        .components = f->frame_count - 1,
                                        .times = f->times};
    }

    sn_gltf_animation animation = {"simulation", count, channels};
    sn_gltf gltf = {.node_count = count,
                    .nodes = nodes,
                    .mesh_count = count,
                    .meshes = meshes,
                    .material_count = count,
                    .materials = materials,
                    .animation_count = surfaces[0].frame_count > 1,
                    .animations = &animation};
    return sn_write_glb(&gltf, out);
}

sinew_status sn_write_glb_frames(const sn_glb_frames *surfaces, int32_t count, sn_buffer *out) {
    SN_ASSERT(count >= 1);
    sn_arena arena = sn_arena_create(out->context);
    sinew_status status = write_scene(surfaces, count, &arena, out);
    sn_arena_destroy(&arena);
    return status;
}
