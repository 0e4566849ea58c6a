// Corner normals: lists of the corners at each vertex, then a sum over each corner's vertex.
#include "io/picture/normals.h"

#include "base/threads.h"

#include <math.h>

enum { CHUNK = 2048 };

typedef struct normals_job {
    float *normals;
    const float *positions;
    const int32_t *triangles;
    float *faces;         // unit normal of each triangle, or zero
    float *weighted;      // for each corner: the face normal times Max's weight
    const int32_t *first; // of each vertex's list in `corners`
    const int32_t *corners;
    float crease_cosine;
} normals_job;

// Face normals and, for each corner with edges a and b, the weight |a x b| / (|a|^2 |b|^2).
static void compute_faces(void *data, int32_t begin, int32_t end, int32_t chunk) {
    (void)chunk;
    const normals_job *job = data;
    for (int32_t t = begin; t < end; t++) {
        // Corners and edges.
        const float *p[3];
        for (int i = 0; i < 3; i++) {
            p[i] = job->positions + 3 * (size_t)job->triangles[3 * t + i];
        }

        float e[3][3], squared[3]; // edge i runs from corner i to the next
        for (int i = 0; i < 3; i++) {
            for (int c = 0; c < 3; c++) {
                e[i][c] = p[(i + 1) % 3][c] - p[i][c];
            }
            squared[i] = e[i][0] * e[i][0] + e[i][1] * e[i][1] + e[i][2] * e[i][2];
        }

        // The normal; a triangle without area has none.
        float n[3] = {e[0][1] * e[1][2] - e[0][2] * e[1][1], e[0][2] * e[1][0] - e[0][0] * e[1][2],
                      e[0][0] * e[1][1] - e[0][1] * e[1][0]};
        float area = sqrtf(n[0] * n[0] + n[1] * n[1] + n[2] * n[2]);
        bool good = area > 0 && isfinite(area);

        for (int i = 0; i < 3; i++) {
            float weight = squared[i] * squared[(i + 2) % 3];
            weight = good && weight > 0 ? 1 / weight : 0;
            job->faces[3 * t + i] = good ? n[i] / area : 0;
            for (int c = 0; c < 3; c++) {
                job->weighted[9 * (size_t)t + (size_t)(3 * i + c)] = good ? n[c] * weight : 0;
            }
        }
    }
}

static void compute_corners(void *data, int32_t begin, int32_t end, int32_t chunk) {
    (void)chunk;
    const normals_job *job = data;
    for (int32_t t = begin; t < end; t++) {
        const float *own = job->faces + 3 * (size_t)t;
        for (int i = 0; i < 3; i++) {
            int32_t vertex = job->triangles[3 * t + i];
            float sum[3] = {0, 0, 0};

            // Triangles on the other side of a crease do not count.
            for (int32_t k = job->first[vertex]; k < job->first[vertex + 1]; k++) {
                int32_t corner = job->corners[k];
                const float *face = job->faces + 3 * (size_t)(corner / 3);
                const float *add = job->weighted + 3 * (size_t)corner;
                if (face[0] * own[0] + face[1] * own[1] + face[2] * own[2] < job->crease_cosine) {
                    continue;
                }

                for (int c = 0; c < 3; c++) {
                    sum[c] += add[c];
                }
            }

            float length = sqrtf(sum[0] * sum[0] + sum[1] * sum[1] + sum[2] * sum[2]);
            bool good = length > 0 && isfinite(length); // the weights of tiny edges can overflow
            for (int c = 0; c < 3; c++) {
                job->normals[9 * (size_t)t + (size_t)(3 * i + c)] = good ? sum[c] / length : own[c];
            }
        }
    }
}

// Lists, for each vertex, the corners (3 triangle + index) that meet there, in ascending order.
static void list_corners(int32_t *first, int32_t *corners, const int32_t *triangles,
                         int32_t vertex_count, int32_t corner_count) {
    for (int32_t k = 0; k < corner_count; k++) {
        SN_ASSERT(triangles[k] >= 0 && triangles[k] < vertex_count);
        first[triangles[k] + 1]++;
    }

    for (int32_t v = 0; v < vertex_count; v++) {
        first[v + 1] += first[v];
    }

    for (int32_t k = corner_count - 1; k >= 0; k--) {
        corners[--first[triangles[k] + 1]] = k;
    }

    // Each entry has moved to the start of its own list: one index too far.
    for (int32_t v = 0; v < vertex_count; v++) {
        first[v] = first[v + 1];
    }

    SN_ASSERT(first[0] == 0 || vertex_count == 0);
    first[vertex_count] = corner_count;
}

sinew_status sn_compute_corner_normals(float *normals, const float *positions, int32_t vertex_count,
                                       const int32_t *triangles, int32_t triangle_count,
                                       double crease_angle, sn_arena *arena) {
    SN_ASSERT(triangle_count <= INT32_MAX / 9 && vertex_count >= 0);
    sn_arena_mark mark = sn_arena_get_mark(arena);
    int32_t *first = SN_PUSH(arena, int32_t, vertex_count + 1);
    int32_t *corners = SN_PUSH(arena, int32_t, 3 * triangle_count);
    normals_job job = {.normals = normals,
                       .positions = positions,
                       .triangles = triangles,
                       .faces = SN_PUSH(arena, float, 3 * triangle_count),
                       .weighted = SN_PUSH(arena, float, 9 * triangle_count),
                       .first = first,
                       .corners = corners,
                       .crease_cosine = (float)cos(crease_angle)};

    SN_TRY(sn_arena_status(arena));
    list_corners(first, corners, triangles, vertex_count, 3 * triangle_count);
    sn_parallel_for(arena->context, triangle_count, CHUNK, compute_faces, &job);
    sn_parallel_for(arena->context, triangle_count, CHUNK, compute_corners, &job);
    sn_arena_rewind(arena, mark);

    return SINEW_OK;
}
