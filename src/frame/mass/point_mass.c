// The consistent mass of smooth weights, from their values and gradients at the centres of voxels.
//
//   G_(ia)(jb) = sum over voxels of rho V (f_ia f_jb + sum over axes of h^2 / 12 d f_ia d f_jb),
//   f_ia = w_i m_a,   d f_ia = m_a d w_i + w_i d m_a
//
// which is exact for functions that are linear in each voxel. Frames with smooth weights can
// represent the zero function nearly in many ways. Mass, weight and stiffness must agree about
// these, or spurious soft motions appear: so all are built from the same weights and gradients, and
// not from moments that take the weights as constant in a voxel.
//
// Cost: the voxels times the square of the number of controls.
#include "frame/mass/mass.h"

#include "base/threads.h"

#include <string.h>

enum { MOST_CHUNKS = 64, FEWEST_VOXELS = 2048 };

typedef struct point_job {
    const sn_mass_source *source;
    const sn_nodes *nodes;
    double *partial; // [chunk][controls][controls + 1]: G and shares
} point_job;

static sn_shape_point *weights_at(const sn_mass_source *source, int32_t voxel,
                                  sn_shape_point *point) {
    if (source->insertion_count == 0) {
        sn_shape_at_voxel(source->shape, voxel, point);
    } else {
        sn_insertions_weights_at(source->shape, source->insertions, source->insertion_count,
                                 sn_voxel_center(source->shape->voxels, voxel), point);
    }
    return point;
}

// Lists f and its scaled gradient for all controls of a point's nodes. Returns their number.
static int32_t list_functions(const sn_nodes *nodes, const sn_shape_point *point, sn_vec3 X,
                              const double h[3], int32_t *control, double (*f)[4]) {
    int32_t count = 0;
    sn_rest_point at = sn_rest_point_at(X);
    for (int32_t k = 0; k < point->count; k++) {
        const sn_node *node = &nodes->items[point->node[k]];
        double m[SN_NODE_MAX_CONTROLS];
        sn_vec3 dm[SN_NODE_MAX_CONTROLS];
        double w = point->weight[k];
        sn_vec3 dw = sn_load3(point->gradient[k]);

        sn_node_monomials(node, &at, m, dm);
        for (int32_t a = 0; a < node->control_count; a++) {
            sn_vec3 g = sn_madd(sn_scale(m[a], dw), w, dm[a]);
            control[count] = node->control + a;
            f[count][0] = w * m[a];
            f[count][1] = h[0] * g.x;
            f[count][2] = h[1] * g.y;
            f[count][3] = h[2] * g.z;
            count++;
        }
    }

    return count;
}

static void sum_range(void *data, int32_t begin, int32_t end, int32_t chunk) {
    const point_job *job = data;
    const sn_shape *shape = job->source->shape;
    const sinew_voxels *voxels = shape->voxels;
    int32_t controls = job->nodes->control_count;
    double *G = job->partial + (size_t)chunk * (size_t)controls * (size_t)(controls + 1);
    double *share = G + (size_t)controls * (size_t)controls;
    sn_shape_point point;
    int32_t control[SN_POINT_NODES * SN_NODE_MAX_CONTROLS];
    double f[SN_POINT_NODES * SN_NODE_MAX_CONTROLS][4];
    double h[3];

    // Half a cell over the root of 3: the mean square distance from the centre.
    for (int a = 0; a < 3; a++) {
        h[a] = voxels->spacing[a] / sqrt(12);
    }

    for (int32_t v = begin; v < end; v++) {
        double mass = sn_shape_density(shape, v) * sn_voxel_volume(voxels, v);
        weights_at(job->source, v, &point);
        int32_t count =
            list_functions(job->nodes, &point, sn_voxel_center(voxels, v), h, control, f);

        for (int32_t i = 0; i < count; i++) {
            double *row = G + (size_t)control[i] * (size_t)controls;
            double a0 = mass * f[i][0], a1 = mass * f[i][1];
            double a2 = mass * f[i][2], a3 = mass * f[i][3];
            share[control[i]] += a0;
            for (int32_t j = 0; j <= i; j++) {
                row[control[j]] += a0 * f[j][0] + a1 * f[j][1] + a2 * f[j][2] + a3 * f[j][3];
            }
        }
    }
}

// Whether two nodes share a voxel: then their translations do.
static bool are_coupled(const sn_nodes *nodes, const double *G, int32_t i, int32_t j) {
    const sn_node *row = &nodes->items[i];
    const sn_node *column = &nodes->items[j];
    for (int32_t a = 0; a < row->control_count; a++) {
        for (int32_t b = 0; b < column->control_count; b++) {
            if (G[(size_t)(row->control + a) * (size_t)nodes->control_count +
                  (size_t)(column->control + b)] != 0) {
                return true;
            }
        }
    }
    return false;
}

static sinew_status store_blocks(sn_arena *arena, const sn_nodes *nodes, const double *G,
                                 sn_frame_mass *mass) {
    size_t most = (size_t)nodes->count * (size_t)(nodes->count + 1) / 2;
    mass->blocks = SN_PUSH(arena, sn_mass_block, most);
    mass->rigid = SN_PUSH(arena, sn_rigid_mass, most);
    SN_TRY(sn_arena_status(arena));

    for (int32_t i = 0; i < nodes->count; i++) {
        for (int32_t j = 0; j <= i; j++) {
            // Pairs of nodes are stored if the mass is consistent and they share any point.
            bool wanted = i == j || mass->kind == SINEW_FRAME_MASS_CONSISTENT;
            if (!wanted || !are_coupled(nodes, G, i, j)) {
                continue;
            }

            const sn_node *row = &nodes->items[i];
            const sn_node *column = &nodes->items[j];
            sn_mass_block *block = &mass->blocks[mass->count++];
            *block = (sn_mass_block){
                i, j,
                SN_PUSH(arena, double, (size_t)row->control_count *(size_t)column->control_count)};
            SN_TRY(sn_arena_status(arena));

            // G is a lower triangle, and the order of the controls need not be that of the nodes.
            for (int32_t a = 0; a < row->control_count; a++) {
                for (int32_t b = 0; b < column->control_count; b++) {
                    int32_t r = row->control + a;
                    int32_t c = column->control + b;
                    int32_t low = r < c ? r : c;
                    int32_t high = r < c ? c : r;
                    block->G[a * column->control_count + b] =
                        G[(size_t)high * (size_t)nodes->control_count + (size_t)low];
                }
            }
        }
    }

    return SINEW_OK;
}

sinew_status sn_fill_point_mass(sn_arena *arena, const sn_mass_source *source,
                                const sn_nodes *nodes, sn_frame_mass *mass) {
    // Chunks depend on the number of voxels alone, so that sums are the same for any number of
    // threads.
    int32_t voxels = source->shape->voxels->count;
    size_t controls = (size_t)nodes->control_count;
    size_t size = controls * (controls + 1);
    int32_t chunk = voxels / MOST_CHUNKS + 1;
    chunk = chunk < FEWEST_VOXELS ? FEWEST_VOXELS : chunk;
    int32_t chunks = sn_chunk_count(voxels, chunk);

    mass->share = SN_PUSH(arena, double, controls);
    mass->controls = SN_PUSH(arena, double, 3 * controls);
    mass->velocity = SN_PUSH(arena, double, 3 * controls);
    mass->product = SN_PUSH(arena, double, 3 * controls);
    SN_TRY(sn_arena_status(arena));

    // Sum over the voxels of each chunk, then over the chunks in order.
    sn_arena scratch = sn_arena_create(arena->context);
    point_job job = {source, nodes, SN_PUSH(&scratch, double, (size_t)chunks *size)};
    sinew_status status = sn_arena_status(&scratch);
    if (status == SINEW_OK) {
        sn_parallel_for(arena->context, voxels, chunk, sum_range, &job);
        for (int32_t k = 1; k < chunks; k++) {
            for (size_t i = 0; i < size; i++) {
                job.partial[i] += job.partial[(size_t)k * size + i];
            }
        }

        memcpy(mass->share, job.partial + controls * controls, controls * sizeof *mass->share);
        status = store_blocks(arena, nodes, job.partial, mass);
    }

    sn_arena_destroy(&scratch);
    return status;
}
