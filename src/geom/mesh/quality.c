// Quality of elements: mean ratio and angles, collected over fixed chunks and merged in order.
//
//   tet         12 (3 V)^(2/3) / sum of squared edges             (Liu and Joe 1994)
//   triangle    4 sqrt(3) A / sum of squared edges
//   hexahedron  the smallest of 3 det(J)^(2/3) / |J|^2 over its corners with edges J = [a b c]
//               (Knupp 2003)
#include "geom/mesh/mesh.h"

#include "base/threads.h"

enum { CHUNK = 2048 };

static const double degrees = 57.295779513082320877;

static void add_angle(sinew_quality *quality, double radians) {
    SN_ASSERT(radians >= 0);
    double angle = radians * degrees;
    quality->smallest_angle = fmin(quality->smallest_angle, angle);
    quality->largest_angle = fmax(quality->largest_angle, angle);
    int bin = (int)(angle * SINEW_QUALITY_BINS / 180);
    quality->angle_histogram[bin < SINEW_QUALITY_BINS ? bin : SINEW_QUALITY_BINS - 1]++;
}

// The angle between two vectors, accurate near 0 and pi.
static double angle_between(sn_vec3 a, sn_vec3 b) {
    return atan2(sn_length(sn_cross(a, b)), sn_dot(a, b));
}

// Angle at the edge along `axis` between the half planes towards a and b.
static double dihedral_angle(sn_vec3 axis, sn_vec3 a, sn_vec3 b) {
    return angle_between(sn_cross(axis, a), sn_cross(axis, b));
}

static double mean_ratio_3d(double volume6, double squares) {
    double root = cbrt(fmax(volume6, 0) / 2);
    return squares > 0 ? 12 * root * root / squares : 0;
}

static double judge_tet(sinew_quality *quality, const sn_vec3 p[4]) {
    double squares = 0;
    for (int i = 0; i < 6; i++) {
        int a = sn_tet_edges[i][0];
        int b = sn_tet_edges[i][1];

        // The two other corners c and d.
        int c = 0;

        while (c == a || c == b) {
            c++;
        }

        int d = 6 - a - b - c;
        SN_ASSERT(d > c && d != a && d != b);

        // Dihedral angle at the edge ab.
        sn_vec3 edge = sn_sub(p[b], p[a]);
        squares += sn_dot(edge, edge);
        add_angle(quality, dihedral_angle(edge, sn_sub(p[c], p[a]), sn_sub(p[d], p[a])));
    }

    return mean_ratio_3d(sn_tet_volume6(p[0], p[1], p[2], p[3]), squares);
}

static double judge_triangle(sinew_quality *quality, const sn_vec3 p[3]) {
    double squares = 0;
    for (int i = 0; i < 3; i++) {
        sn_vec3 a = sn_sub(p[(i + 1) % 3], p[i]);
        sn_vec3 b = sn_sub(p[(i + 2) % 3], p[i]);
        squares += sn_dot(a, a);
        add_angle(quality, angle_between(a, b));
    }

    double area2 = sn_length(sn_cross(sn_sub(p[1], p[0]), sn_sub(p[2], p[0])));
    return squares > 0 ? 2 * sqrt(3) * area2 / squares : 0;
}

static double judge_hex(sinew_quality *quality, const sn_vec3 p[8]) {
    // The neighbours of each corner, in an order whose edges form a right-handed frame.
    static const int8_t neighbors[8][3] = {{1, 3, 4}, {2, 0, 5}, {3, 1, 6}, {0, 2, 7},
                                           {7, 5, 0}, {4, 6, 1}, {5, 7, 2}, {6, 4, 3}};
    double worst = 1;

    for (int i = 0; i < 8; i++) {
        sn_vec3 edge[3];
        double squares = 0;
        for (int k = 0; k < 3; k++) {
            edge[k] = sn_sub(p[neighbors[i][k]], p[i]);
            squares += sn_dot(edge[k], edge[k]);
        }

        // Dihedral angles, and the mean ratio of the corner.
        for (int k = 0; k < 3; k++) {
            add_angle(quality, dihedral_angle(edge[k], edge[(k + 1) % 3], edge[(k + 2) % 3]));
        }

        double root = cbrt(fmax(sn_dot(sn_cross(edge[0], edge[1]), edge[2]), 0));
        worst = fmin(worst, squares > 0 ? 3 * root * root / squares : 0);
    }

    return worst;
}

static double judge_element(sinew_quality *quality, const sinew_mesh *mesh, int32_t element) {
    const int32_t *nodes = sn_mesh_nodes(mesh, element);
    sn_vec3 p[8];
    for (int32_t i = 0; i < sn_element_info_of(mesh->element)->corners; i++) {
        p[i] = sn_mesh_point(mesh, nodes[i]);
    }

    switch (mesh->element) {
    case SINEW_ELEMENT_TRIANGLE: return judge_triangle(quality, p);
    case SINEW_ELEMENT_HEX8: return judge_hex(quality, p);
    default: return judge_tet(quality, p);
    }
}

static sinew_quality empty_quality(void) {
    return (sinew_quality){.smallest_ratio = INFINITY,
                           .worst_element = -1,
                           .smallest_angle = INFINITY,
                           .largest_angle = -INFINITY,
                           .smallest_volume = INFINITY,
                           .largest_volume = -INFINITY};
}

typedef struct quality_job {
    const sinew_mesh *mesh;
    sinew_quality *parts; // one for each chunk; mean_ratio holds the sum
} quality_job;

static void judge_chunk(void *data, int32_t begin, int32_t end, int32_t chunk) {
    quality_job *job = data;
    sinew_quality *part = &job->parts[chunk];

    *part = empty_quality();
    for (int32_t e = begin; e < end; e++) {
        double ratio = judge_element(part, job->mesh, e);
        double volume = sn_element_volume(job->mesh, e);
        if (ratio < part->smallest_ratio) {
            part->smallest_ratio = ratio;
            part->worst_element = e;
        }

        part->mean_ratio += ratio;
        part->volume += volume;
        part->smallest_volume = fmin(part->smallest_volume, volume);
        part->largest_volume = fmax(part->largest_volume, volume);
    }
}

static void merge_quality(sinew_quality *total, const sinew_quality *part) {
    if (part->smallest_ratio < total->smallest_ratio) {
        total->smallest_ratio = part->smallest_ratio;
        total->worst_element = part->worst_element;
    }

    total->mean_ratio += part->mean_ratio;
    total->smallest_angle = fmin(total->smallest_angle, part->smallest_angle);
    total->largest_angle = fmax(total->largest_angle, part->largest_angle);

    for (int i = 0; i < SINEW_QUALITY_BINS; i++) {
        total->angle_histogram[i] += part->angle_histogram[i];
    }

    total->volume += part->volume;
    total->smallest_volume = fmin(total->smallest_volume, part->smallest_volume);
    total->largest_volume = fmax(total->largest_volume, part->largest_volume);
}

static sinew_status judge_mesh(sn_arena *scratch, const sinew_mesh *mesh, sinew_quality *quality) {
    SN_ASSERT(mesh->element_count > 0);
    int32_t chunks = sn_chunk_count(mesh->element_count, CHUNK);
    int32_t *parts;
    quality_job job = {mesh, SN_PUSH(scratch, sinew_quality, chunks)};

    SN_TRY(sn_arena_status(scratch));
    sn_parallel_for(scratch->context, mesh->element_count, CHUNK, judge_chunk, &job);
    *quality = empty_quality();

    for (int32_t i = 0; i < chunks; i++) {
        merge_quality(quality, &job.parts[i]);
    }

    quality->mean_ratio /= mesh->element_count;
    SN_TRY(sn_build_components(scratch, mesh, &parts, &quality->component_count));

    return sn_build_face_components(scratch, mesh, &parts, &quality->face_component_count);
}

sinew_status sinew_mesh_compute_quality(sinew_context *context, const sinew_mesh *mesh,
                                        sinew_quality *quality) {
    SN_NEED(NULL, context);
    SN_NEED(context, quality);
    SN_TRY(sn_check_arrays(context, mesh));
    if (mesh->element_count == 0) {
        return sn_fail(context, SINEW_INVALID_DATA, "the mesh has no elements");
    }

    sn_arena scratch = sn_arena_create(context);
    sinew_status status = judge_mesh(&scratch, mesh, quality);
    sn_arena_destroy(&scratch);

    return status;
}
