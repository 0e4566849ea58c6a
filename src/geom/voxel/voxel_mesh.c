// The boundary of a label grid as a smooth triangle mesh, by surface nets (Gibson 1998). There is a
// vertex in each cube between eight cell centres that are not all inside or all outside, at the
// mean of the cube's crossed edges, and a quadrilateral for each pair of neighbouring cells of
// which one is inside, over the four cubes around it. Smoothing moves vertices towards the mean of
// their neighbours and then a little farther back (Taubin 1995), so that ripples vanish and the
// volume is kept, within half a cell.
//
// Cubes are numbered by corners of cells. Slabs of layers are processed in parallel, twice: first
// to count and then, once the numbers of vertices and faces of earlier slabs are known, to place
// and connect them. Each slab keeps two layers of corners.
#include "geom/mesh/mesh.h"
#include "geom/voxel/voxel.h"

#include "base/threads.h"

#include <string.h>

enum { CHUNK = 4096 };

typedef struct net {
    const sinew_voxels *voxels;
    int32_t corners[3]; // cells + 1 along each axis
    int32_t slab;       // layers of corners of each slab but the last
    struct part *parts; // of each slab
    int64_t vertex_count, quad_count;
    sn_owned_mesh *mesh; // NULL while counting
} net;

// A slab of layers while it is processed.
typedef struct part {
    const net *net;
    int32_t *layer[2]; // vertex of each corner of two layers; set only where there is one
    int64_t vertex_first, vertex_count; // vertices of the slabs before, and of this one
    int64_t quad_first, quad_count;
} part;

// Which of the cells 8 block .. 8 block + 7 of a row are inside, one bit each. Cells beyond the
// grid are not.
static uint32_t row_bits(const sinew_voxels *voxels, int32_t block, int32_t y, int32_t z) {
    const int32_t *cells = voxels->cells;
    const int32_t *bricks = voxels->bricks;
    if (y < 0 || z < 0 || y >= cells[1] || z >= cells[2] || block >= bricks[0]) {
        return 0;
    }

    const sn_brick *brick =
        &voxels->brick[((size_t)(z / SN_BRICK) * (size_t)bricks[1] + (size_t)(y / SN_BRICK)) *
                           (size_t)bricks[0] +
                       (size_t)block];

    return (uint32_t)(brick->layer[z % SN_BRICK] >> SN_BRICK * (y % SN_BRICK)) & 0xff;
}

// The cells of four rows at one position, one bit each.
static int column(const uint32_t rows[4], int bit) {
    return (int)((rows[0] >> bit & 1) | (rows[1] >> bit & 1) << 1 | (rows[2] >> bit & 1) << 2 |
                 (rows[3] >> bit & 1) << 3);
}

// The vertex of a cube between two columns of cells: the mean of the midpoints of its crossed
// edges, in cells from its corner.
static void compute_vertex(int before, int here, double offset[3]) {
    int in[8], edges = 0;
    double sum[3] = {0, 0, 0};

    // The eight cells of the cube.
    for (int i = 0; i < 8; i++) {
        in[i] = (i & 1 ? here : before) >> (i >> 1) & 1;
    }

    // Sum the midpoints of the crossed edges; along its own axis a midpoint is in the middle.
    for (int i = 0; i < 8; i++) {
        for (int a = 0; a < 3; a++) {
            int j = i | 1 << a;
            if (j == i || in[i] == in[j]) {
                continue;
            }

            edges++;
            for (int k = 0; k < 3; k++) {
                if (k != a) {
                    sum[k] += (i >> k & 1) - 0.5;
                }
            }
        }
    }

    for (int k = 0; k < 3; k++) {
        offset[k] = sum[k] / edges;
    }
}

// Of the cubes 8 block .. 8 block + 7 of a row, those whose eight cells are neither all inside nor
// all outside, one bit each. `before` holds the cells before the block, one bit per row.
static uint32_t mixed_cubes(const uint32_t rows[4], int before) {
    uint32_t any = 0;
    uint32_t all = 0xff;
    for (int i = 0; i < 4; i++) {
        uint32_t shifted = rows[i] << 1 | (uint32_t)(before >> i & 1);
        any |= rows[i] | shifted;
        all &= rows[i] & shifted;
    }

    return any & ~all & 0xff;
}

// Numbers the vertices of a layer starting at `first`, unless they are only counted, and writes
// their positions to the mesh if `write` is set. Returns how many there are.
static int64_t visit_layer(const net *net, int32_t z, int64_t first, bool write, int32_t *layer) {
    const sinew_voxels *voxels = net->voxels;
    int64_t next = first;
    for (int32_t y = 0; y < net->corners[1]; y++) {
        int before = 0;
        int32_t *row = layer + (size_t)y * (size_t)net->corners[0];
        for (int32_t block = 0; SN_BRICK * block < net->corners[0]; block++) {
            const uint32_t rows[4] = {
                row_bits(voxels, block, y - 1, z - 1), row_bits(voxels, block, y, z - 1),
                row_bits(voxels, block, y - 1, z), row_bits(voxels, block, y, z)};
            uint32_t mixed = mixed_cubes(rows, before);

            // Counting needs the number of vertices only.
            if (!net->mesh) {
                next += sn_count_bits(mixed);
                mixed = 0;
            }

            for (int k = 0; mixed >> k; k++) {
                if (!(mixed >> k & 1)) {
                    continue;
                }

                const int32_t c[3] = {SN_BRICK * block + k, y, z};
                row[c[0]] = (int32_t)next++;
                if (!write) {
                    continue;
                }

                // Position of the vertex.
                double offset[3];
                double *point = sn_at3(net->mesh->points, row[c[0]]);

                compute_vertex(k ? column(rows, k - 1) : before, column(rows, k), offset);
                for (int a = 0; a < 3; a++) {
                    point[a] = voxels->lower[a] + (c[a] + offset[a]) * voxels->spacing[a];
                }
            }

            before = column(rows, SN_BRICK - 1);
        }
    }

    return next - first;
}

// Two triangles over four corners given around the face, as seen from outside.
static void put_quad(part *part, const int32_t q[4], int32_t label) {
    sn_owned_mesh *mesh = part->net->mesh;
    int64_t quad = part->quad_first + part->quad_count++;
    const int32_t split[6] = {q[0], q[1], q[2], q[0], q[2], q[3]};
    memcpy(mesh->indices + 6 * quad, split, sizeof split);
    mesh->labels[2 * quad] = mesh->labels[2 * quad + 1] = label;
}

static int32_t vertex_at(const part *part, const int32_t c[3]) {
    return part->layer[c[2] & 1][(size_t)c[1] * (size_t)part->net->corners[0] + (size_t)c[0]];
}

// The face between cell c and the one before it along the axis, of which exactly one is inside.
static void visit_face(part *part, const int32_t c[3], int axis) {
    const sinew_voxels *voxels = part->net->voxels;
    int32_t before[3] = {c[0], c[1], c[2]};

    before[axis]--;
    int32_t in = sn_voxel_at(voxels, c[0], c[1], c[2]);
    int32_t out = sn_voxel_at(voxels, before[0], before[1], before[2]);

    SN_ASSERT((in >= 0) != (out >= 0));
    int u = (axis + 1) % 3;
    int v = (axis + 2) % 3;
    int32_t q[4];

    for (int k = 0; k < 4; k++) {
        // Around the face, counter-clockwise as seen from the axis' positive end; reversed if the
        // outside is at the negative one.
        int step_around = out >= 0 ? k : 3 - k;
        int32_t corner[3] = {c[0], c[1], c[2]};
        corner[u] += step_around == 1 || step_around == 2;
        corner[v] += step_around >= 2;
        q[k] = vertex_at(part, corner);
    }

    put_quad(part, q, voxels->label[in >= 0 ? in : out]);
}

// Faces between the corner layers z and z + 1 (across x and y), and those in layer z (across z).
static void visit_faces(part *part, int32_t z) {
    const sinew_voxels *voxels = part->net->voxels;
    for (int32_t y = 0; y <= voxels->cells[1]; y++) {
        uint32_t last = 0; // whether the cell before the block is inside
        for (int32_t block = 0; SN_BRICK * block <= voxels->cells[0]; block++) {
            uint32_t here = row_bits(voxels, block, y, z);
            uint32_t across[3];

            // Cells that differ from the one before them along x, y and z.
            across[0] = (here ^ (here << 1 | last)) & 0xff;
            across[1] = z < voxels->cells[2] ? here ^ row_bits(voxels, block, y - 1, z) : 0;
            across[2] = here ^ row_bits(voxels, block, y, z - 1);
            last = here >> (SN_BRICK - 1);

            uint32_t any = across[0] | across[1] | across[2];
            if (!part->net->mesh) {
                for (int a = 0; a < 3; a++) {
                    part->quad_count += sn_count_bits(across[a]);
                }
                continue;
            }

            // One quadrilateral for each such pair.
            for (int k = 0; any >> k; k++) {
                const int32_t c[3] = {SN_BRICK * block + k, y, z};
                if (across[2] >> k & 1) {
                    visit_face(part, c, 2);
                }
                if (across[0] >> k & 1) {
                    visit_face(part, c, 0);
                }
                if (across[1] >> k & 1) {
                    visit_face(part, c, 1);
                }
            }
        }
    }
}

// The layers begin .. end - 1 and the faces that start there. The layer after them belongs to the
// next slab, but its numbers are needed, and follow this slab's.
static void walk_slab(void *data, int32_t begin, int32_t end, int32_t chunk) {
    net *net = data;
    part *part = &net->parts[chunk];

    part->vertex_count = part->quad_count = 0;
    int64_t vertex = part->vertex_first;

    vertex += visit_layer(net, begin, vertex, true, part->layer[begin & 1]);
    for (int32_t z = begin; z < end; z++) {
        bool own = z + 1 < end;
        if (own || z + 1 < net->corners[2]) {
            int64_t count = visit_layer(net, z + 1, vertex, own, part->layer[(z + 1) & 1]);
            if (own) {
                vertex += count;
            }
        }

        visit_faces(part, z);
    }

    part->vertex_count = vertex - part->vertex_first;
}

static void walk(net *net) {
    sn_parallel_for(net->voxels->context, net->corners[2], net->slab, walk_slab, net);
    net->vertex_count = net->quad_count = 0;
    for (int32_t i = 0; i < sn_chunk_count(net->corners[2], net->slab); i++) {
        part *part = &net->parts[i];
        part->vertex_first = net->vertex_count;
        part->quad_first = net->quad_count;
        net->vertex_count += part->vertex_count;
        net->quad_count += part->quad_count;
    }
}

// At most this many slabs, each with two layers of its own.
enum { SLABS = 32 };

static sinew_status push_parts(sn_arena *arena, net *net) {
    size_t layer = (size_t)net->corners[0] * (size_t)net->corners[1];
    net->slab = (net->corners[2] + SLABS - 1) / SLABS;

    int32_t count = sn_chunk_count(net->corners[2], net->slab);
    net->parts = SN_PUSH(arena, part, count);
    SN_TRY(sn_arena_status(arena));

    for (int32_t i = 0; i < count; i++) {
        net->parts[i].net = net;
        for (int k = 0; k < 2; k++) {
            net->parts[i].layer[k] = SN_RESERVE(arena, int32_t, layer);
        }
    }

    return sn_arena_status(arena);
}

// Steps towards the neighbours' mean and back, as fractions. Waves longer than
// 1 / forth + 1 / back = 0.11 (of the umbrella operator's spectrum, 0 to 2) are kept.
static const double steps[2] = {0.5, -0.53};

typedef struct smooth_job {
    const net *net;
    double step;
    const double *home, *from;
    double *to;
    const int32_t *start, *neighbor; // of each vertex
} smooth_job;

static void smooth_range(void *data, int32_t begin, int32_t end, int32_t chunk) {
    (void)chunk;
    const smooth_job *job = data;
    const double *spacing = job->net->voxels->spacing;
    const double reach[3] = {0.5 * spacing[0], 0.5 * spacing[1], 0.5 * spacing[2]};

    // Mean of the neighbours.
    for (int32_t i = begin; i < end; i++) {
        double sum[3] = {0, 0, 0};
        double degree = job->start[i + 1] - job->start[i];
        for (int32_t k = job->start[i]; k < job->start[i + 1]; k++) {
            const double *x = sn_at3(job->from, job->neighbor[k]);
            for (int a = 0; a < 3; a++) {
                sum[a] += x[a];
            }
        }

        // Move, but stay within half a cell of the original position.
        for (int a = 0; a < 3; a++) {
            size_t k = 3 * (size_t)i + (size_t)a;
            double x = job->from[k];
            double low = job->home[k] - reach[a];
            double high = job->home[k] + reach[a];
            double moved = x + job->step * (sum[a] / degree - x);
            job->to[k] = moved < low ? low : moved > high ? high : moved;
        }
    }
}

// The other ends of the sides that meet at each vertex. A side belongs to two quadrilaterals and is
// listed twice.
static sinew_status list_neighbors(const net *net, sn_arena *arena, int32_t **start,
                                   int32_t **neighbor) {
    if (net->quad_count > INT32_MAX / 8) {
        return sn_fail(arena->context, SINEW_OUT_OF_MEMORY,
                       "a boundary of %lld faces is too large to be smoothed",
                       (long long)net->quad_count);
    }

    int32_t count = (int32_t)net->vertex_count;
    int32_t *next = *start = SN_PUSH(arena, int32_t, (size_t)count + 2);
    int32_t *list = *neighbor = SN_RESERVE(arena, int32_t, 8 * (size_t)net->quad_count);

    SN_TRY(sn_arena_status(arena));

    // Count the sides at each vertex.
    for (int64_t quad = 0; quad < net->quad_count; quad++) {
        const int32_t *t = net->mesh->indices + 6 * quad;
        const int32_t q[4] = {t[0], t[1], t[2], t[5]};
        for (int k = 0; k < 4; k++) {
            next[q[k] + 2] += 2;
        }
    }

    for (int32_t i = 0; i <= count; i++) {
        next[i + 1] += next[i];
    }

    // Fill the lists: next[i + 1] is the end of the part of list i that is filled.
    for (int64_t quad = 0; quad < net->quad_count; quad++) {
        const int32_t *t = net->mesh->indices + 6 * quad;
        const int32_t q[4] = {t[0], t[1], t[2], t[5]};
        for (int k = 0; k < 4; k++) {
            int32_t a = q[k];
            int32_t b = q[(k + 1) % 4];
            list[next[a + 1]++] = b;
            list[next[b + 1]++] = a;
        }
    }

    return SINEW_OK;
}

// Sweeps of averaging over the sides of the quadrilaterals.
static sinew_status smooth(net *net, int32_t sweeps) {
    int32_t count = (int32_t)net->vertex_count;
    int32_t *start = NULL;
    int32_t *neighbor = NULL;
    size_t size = 3 * (size_t)count * sizeof(double);
    sn_arena arena = sn_arena_create(net->voxels->context);
    double *home = SN_RESERVE(&arena, double, 3 * (size_t)count);
    double *other = SN_RESERVE(&arena, double, 3 * (size_t)count);
    sinew_status status = list_neighbors(net, &arena, &start, &neighbor);

    if (status == SINEW_OK) {
        memcpy(home, net->mesh->points, size);
    }

    double *from = net->mesh->points;
    double *to = other;

    // An even number of half sweeps, so that the result ends up in the mesh.
    if (status == SINEW_OK) {
        for (int64_t half = 0; half < 2 * (int64_t)sweeps; half++) {
            smooth_job job = {net, steps[half & 1], home, from, to, start, neighbor};
            sn_parallel_for(net->voxels->context, count, CHUNK, smooth_range, &job);
            double *swap = from;
            from = to;
            to = swap;
        }
    }

    sn_arena_destroy(&arena);

    return status;
}

sinew_status sinew_voxels_create_surface(const sinew_voxels *voxels, int32_t smoothing,
                                         sinew_mesh **surface) {
    SN_NEED(NULL, voxels && surface);

    sinew_context *context = voxels->context;
    if (smoothing < 0) {
        return sn_fail(context, SINEW_INVALID_ARGUMENT, "%d sweeps of smoothing; at least 0",
                       smoothing);
    }

    net net = {.voxels = voxels};
    for (int a = 0; a < 3; a++) {
        net.corners[a] = voxels->cells[a] + 1;
    }

    // First walk: count. Second walk: write.
    sn_arena arena = sn_arena_create(context);
    sinew_status status = push_parts(&arena, &net);
    if (status == SINEW_OK) {
        walk(&net);
        status = sn_owned_mesh_create(context, SINEW_ELEMENT_TRIANGLE, net.vertex_count,
                                      2 * net.quad_count, true, &net.mesh);
    }

    if (status == SINEW_OK) {
        walk(&net);
        status = smoothing > 0 ? smooth(&net, smoothing) : SINEW_OK;
        if (status != SINEW_OK) {
            sinew_mesh_destroy(&net.mesh->view);
        }
    }

    sn_arena_destroy(&arena);
    if (status == SINEW_OK) {
        *surface = &net.mesh->view;
    }

    return status;
}
