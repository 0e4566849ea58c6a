// Smooth weights inside a voxel, from the values at the voxels around it.
//
// In a block of 27 voxels of one material the weights are quadratic B-splines with the voxels'
// values as coefficients: smooth, with exact gradients. Beside a surface or another material they
// are quadratic in each voxel, given by 27 values: at its corners, the middles of its edges and
// faces, and its centre. Voxels that share such a point compute the same value for it, so the
// weights are continuous everywhere and kink only where the material changes. A jump would make the
// solid too soft.
//
//   point value = sum_t c_t s_t / sum_t c_t
//
// over the voxels t that touch the point, c their conductivity, s the B-spline along those axes on
// which the point lies in the middle of t. In the interior this is the B-spline itself. Across a
// flat border it is the value for which the flux on both sides is the same.
//
// Cost: 27 rows of the table in the interior, up to 125 beside a border.
#include "frame/weights/table.h"

#include <stdlib.h>
#include <string.h>

// A block of 5 x 5 x 5 voxels around one.
enum { SIDE = 5, BLOCK = SIDE * SIDE * SIDE, MIDDLE = BLOCK / 2 };

typedef struct stencil {
    const sn_shape *shape;
    int32_t voxel[BLOCK];    // -1 where there is none
    int32_t label[BLOCK];    // of the voxels, -1 where there is none
    double factor[BLOCK][4]; // of each voxel, for the weights and their gradients
    double shift[3][4];      // of compliance coordinates: what the surface adds
} stencil;

// The index in the block of a voxel by its offset from the middle, -2 to 2 along each axis.
static int block_index(int x, int y, int z) {
    return MIDDLE + x + SIDE * (y + SIDE * z);
}

static const int along[3] = {1, SIDE, SIDE *SIDE};

static void block_offset(int index, int offset[3]) {
    for (int a = 0; a < 3; a++) {
        offset[a] = index / along[a] % SIDE - SIDE / 2;
    }
}

static bool is_same(const stencil *s, int i, int k) {
    return s->label[i] >= 0 && s->label[i] == s->label[k];
}

static void add_factor(stencil *s, int i, double scale, const double f[4]) {
    for (int a = 0; a < 4; a++) {
        s->factor[i][a] += scale * f[a];
    }
}

// Adds the coefficient of a cell that is missing, or of another material than its neighbour `own`,
// to those of the cells around `own` that are of the same material, the ones nearest to the cell.
// Seen from such a cell m the value beyond the border is u_m + 2 c / (c_m + c) (u - u_m), with u
// and c those of the cell: the slope that has the same flux on both sides. Beyond the surface
// c = 0. `to` leads from `own` to the cell.
static void share_coefficient(stencil *s, int own, int cell, const int to[3], const double f[4]) {
    const double *conductivity = s->shape->conductivity;
    bool missing = s->voxel[cell] < 0;
    double c = missing ? 0 : conductivity[s->voxel[cell]];
    int near[27], from[27][3], count = 0, nearest = 4;

    // Cells that touch both, by their offsets from `own`.
    int low[3], high[3];
    for (int a = 0; a < 3; a++) {
        low[a] = to[a] > 0 ? 0 : -1;
        high[a] = to[a] < 0 ? 0 : 1;
    }

    for (int z = low[2]; z <= high[2]; z++) {
        for (int y = low[1]; y <= high[1]; y++) {
            int distance_yz = abs(y - to[1]) + abs(z - to[2]);
            for (int x = low[0]; x <= high[0]; x++) {
                int distance = abs(x - to[0]) + distance_yz;
                int k = own + x * along[0] + y * along[1] + z * along[2];
                if (distance > nearest || !is_same(s, own, k)) {
                    continue;
                }
                count = distance < nearest ? 0 : count;
                nearest = distance;
                from[count][0] = x;
                from[count][1] = y;
                from[count][2] = z;
                near[count++] = k;
            }
        }
    }

    if (missing && !s->shape->is_compliance) {
        for (int k = 0; k < count; k++) {
            add_factor(s, near[k], 1.0 / count, f);
        }
        return;
    }

    for (int k = 0; k < count; k++) {
        double beside = conductivity[s->voxel[near[k]]];
        double beyond = 2 * c / (beside + c);
        add_factor(s, near[k], (1 - beyond) / count, f);
        if (!missing) {
            add_factor(s, cell, beyond / count, f);
            continue;
        }

        // A unit flux leaves the solid: beyond the surface the coordinates go on by 1 / c.
        for (int a = 0; a < 3; a++) {
            double step = (to[a] - from[k][a]) * s->shape->voxels->spacing[a] / beside / count;
            for (int i = 0; i < 4; i++) {
                s->shift[a][i] += step * f[i];
            }
        }
    }
}

// Adds the B-spline through the middle of voxel `own` along the axes marked.
static void add_middle(stencil *s, int own, const bool marked[3], const double f[4]) {
    static const double spline[3] = {0.125, 0.75, 0.125}, none[3] = {0, 1, 0};
    const double *B[3];
    int reach[3];
    for (int a = 0; a < 3; a++) {
        B[a] = marked[a] ? spline : none;
        reach[a] = marked[a] ? 1 : 0;
    }

    for (int z = -reach[2]; z <= reach[2]; z++) {
        for (int y = -reach[1]; y <= reach[1]; y++) {
            for (int x = -reach[0]; x <= reach[0]; x++) {
                int cell = own + x * along[0] + y * along[1] + z * along[2];
                double share = B[0][x + 1] * B[1][y + 1] * B[2][z + 1];
                if (is_same(s, own, cell)) {
                    add_factor(s, cell, share, f);
                    continue;
                }

                const int to[3] = {x, y, z};
                const double part[4] = {share * f[0], share * f[1], share * f[2], share * f[3]};
                share_coefficient(s, own, cell, to, part);
            }
        }
    }
}

// Adds the value at a point of the voxel in the middle, `side` -1, 0 or 1 along each axis, times f.
static void add_point(stencil *s, const int side[3], const double f[4]) {
    const sn_shape *shape = s->shape;
    const bool middle[3] = {side[0] == 0, side[1] == 0, side[2] == 0};
    int touching[8], count = 0;
    double total = 0;

    // The voxels that touch the point.
    for (int i = 0; i < 8; i++) {
        const int o[3] = {i & 1, i >> 1 & 1, i >> 2 & 1};
        if ((o[0] && middle[0]) || (o[1] && middle[1]) || (o[2] && middle[2])) {
            continue;
        }
        int k = block_index(o[0] * side[0], o[1] * side[1], o[2] * side[2]);
        if (s->voxel[k] >= 0) {
            touching[count++] = k;
            total += shape->conductivity[s->voxel[k]];
        }
    }

    for (int i = 0; i < count; i++) {
        double c = shape->conductivity[s->voxel[touching[i]]];
        const double part[4] = {c / total * f[0], c / total * f[1], c / total * f[2],
                                c / total * f[3]};
        add_middle(s, touching[i], middle, part);
        if (!shape->is_compliance) {
            continue;
        }

        // From the middle of the voxel to the surface, at a unit flux.
        int o[3];
        block_offset(touching[i], o);
        for (int a = 0; a < 3; a++) {
            int direction = o[a] == 0 ? side[a] : -side[a];
            if (direction == 0 || s->voxel[touching[i] + direction * along[a]] >= 0) {
                continue;
            }
            for (int k = 0; k < 4; k++) {
                s->shift[a][k] += 0.5 * direction * shape->voxels->spacing[a] / c * part[k];
            }
        }
    }
}

// The three functions along an axis at t in [0, 1] and their derivatives: quadratic B-splines of
// the voxels, or the quadratic polynomials that are 1 at one of 0, 1/2 and 1 and 0 at the others.
static void list_functions(bool splines, double t, double h, double f[3], double d[3]) {
    f[0] = splines ? 0.5 * (1 - t) * (1 - t) : (1 - t) * (1 - 2 * t);
    f[1] = splines ? 0.5 + t * (1 - t) : 4 * t * (1 - t);
    f[2] = splines ? 0.5 * t * t : t * (2 * t - 1);
    d[0] = (splines ? t - 1 : 4 * t - 3) / h;
    d[1] = (splines ? 1 - 2 * t : 4 - 8 * t) / h;
    d[2] = (splines ? t : 4 * t - 1) / h;
}

// Lists the 27 voxels around one, x fastest. Returns whether all exist and are of its material.
static bool find_pure(const sinew_voxels *voxels, int32_t voxel, int32_t around[27]) {
    int32_t(*neighbor)[6] = voxels->neighbor;
    uint16_t label = voxels->label[voxel];

    // Along z, then y, then x.
    static const int step[3] = {1, 3, 9};
    around[13] = voxel;
    for (int a = 2; a >= 0; a--) {
        int first = a == 2 ? 13 : a == 1 ? 4 : 1;
        int stride = a == 2 ? 27 : 3 * step[a];
        for (int k = first; k < 27; k += stride) {
            int32_t below = neighbor[around[k]][2 * a];
            int32_t above = neighbor[around[k]][2 * a + 1];
            if (below < 0 || above < 0 || voxels->label[below] != label ||
                voxels->label[above] != label) {
                return false;
            }
            around[k - step[a]] = below;
            around[k + step[a]] = above;
        }
    }
    return true;
}

// Looks up the voxels of the block.
static void find_block(stencil *s, const int32_t center[3]) {
    const sinew_voxels *voxels = s->shape->voxels;
    int i = 0;
    for (int z = -2; z <= 2; z++) {
        for (int y = -2; y <= 2; y++) {
            for (int x = -2; x <= 2; x++, i++) {
                int32_t v = sn_voxel_at(voxels, center[0] + x, center[1] + y, center[2] + z);
                s->voxel[i] = v;
                s->label[i] = v >= 0 ? voxels->label[v] : -1;
            }
        }
    }
}

// Adds the row of a voxel with factors for the weights and each component of their gradients.
static void add_row(const sn_shape *shape, int32_t voxel, const double factor[4],
                    sn_shape_point *result) {
    const sn_weight_table *table = &shape->table;
    int32_t place = 0;
    for (int64_t k = table->start[voxel]; k < table->start[voxel + 1]; k++) {
        place = sn_point_entry_from(result, place, table->node[k]);
        result->weight[place] += factor[0] * table->weight[k];
        for (int a = 0; a < 3; a++) {
            result->gradient[place][a] += factor[1 + a] * table->weight[k];
        }
    }
}

// A voxel with its factors for the weights and each component of their gradients.
typedef struct weighted_row {
    int32_t voxel;
    double factor[4];
} weighted_row;

// Whether all rows have the same nodes, as with weights that reach every voxel.
static bool share_nodes(const sn_weight_table *table, const weighted_row *rows, int32_t count) {
    const int64_t *start = table->start;
    int64_t first = start[rows[0].voxel];
    int64_t length = start[rows[0].voxel + 1] - first;
    if (length > SN_VOXEL_NODES) {
        return false;
    }

    for (int32_t r = 1; r < count; r++) {
        int64_t other = start[rows[r].voxel];
        if (start[rows[r].voxel + 1] - other != length ||
            memcmp(table->node + other, table->node + first,
                   (size_t)length * sizeof *table->node) != 0) {
            return false;
        }
    }
    return true;
}

// The sum of some rows: entry by entry if they have the same nodes.
static void sum_rows(const sn_shape *shape, const weighted_row *rows, int32_t count,
                     sn_shape_point *result) {
    const sn_weight_table *table = &shape->table;
    result->count = 0;
    if (!share_nodes(table, rows, count)) {
        for (int32_t r = 0; r < count; r++) {
            add_row(shape, rows[r].voxel, rows[r].factor, result);
        }
        return;
    }

    double sum[4][SN_VOXEL_NODES];
    int64_t first = table->start[rows[0].voxel];
    int32_t length = (int32_t)(table->start[rows[0].voxel + 1] - first);
    for (int a = 0; a < 4; a++) {
        memset(sum[a], 0, (size_t)length * sizeof(double));
    }

    for (int32_t r = 0; r < count; r++) {
        const double *weight = table->weight + table->start[rows[r].voxel];
        for (int a = 0; a < 4; a++) {
            for (int32_t k = 0; k < length; k++) {
                sum[a][k] += rows[r].factor[a] * weight[k];
            }
        }
    }

    result->count = length;
    for (int32_t k = 0; k < length; k++) {
        result->node[k] = table->node[first + k];
        result->weight[k] = sum[0][k];
        for (int a = 0; a < 3; a++) {
            result->gradient[k][a] = sum[1 + a][k];
        }
    }
}

// The products of the functions along the axes for one of 27 voxels or points, and their gradient.
static void multiply_functions(double F[3][3], double D[3][3], int i, double f[4]) {
    int x = i % 3;
    int y = i / 3 % 3;
    int z = i / 9;
    f[0] = F[0][x] * F[1][y] * F[2][z];
    f[1] = D[0][x] * F[1][y] * F[2][z];
    f[2] = F[0][x] * D[1][y] * F[2][z];
    f[3] = F[0][x] * F[1][y] * D[2][z];
}

// Evaluates beside a border, from the 27 points of the voxel.
static void evaluate_border(const sn_shape *shape, int32_t voxel, double F[3][3], double D[3][3],
                            sn_shape_point *result) {
    stencil s = {.shape = shape};
    int32_t center[3];
    sn_cell_coordinates(shape->voxels->cells, shape->voxels->cell[voxel], center);
    find_block(&s, center);

    for (int i = 0; i < 27; i++) {
        const int side[3] = {i % 3 - 1, i / 3 % 3 - 1, i / 9 - 1};
        double f[4];
        multiply_functions(F, D, i, f);
        if (f[0] != 0 || f[1] != 0 || f[2] != 0 || f[3] != 0) {
            add_point(&s, side, f);
        }
    }

    weighted_row rows[BLOCK];
    int32_t count = 0;
    for (int i = 0; i < BLOCK; i++) {
        const double *f = s.factor[i];
        if (f[0] != 0 || f[1] != 0 || f[2] != 0 || f[3] != 0) {
            rows[count].voxel = s.voxel[i];
            memcpy(rows[count++].factor, f, sizeof rows->factor);
        }
    }
    sum_rows(shape, rows, count, result);

    if (!shape->is_compliance) {
        return;
    }

    // The compliance coordinates also have the constant part of the flux condition.
    for (int a = 0; a < 3; a++) {
        int32_t place = sn_point_entry(result, a);
        result->weight[place] += s.shift[a][0];
        for (int k = 0; k < 3; k++) {
            result->gradient[place][k] += s.shift[a][1 + k];
        }
    }
}

void sn_evaluate_smooth(const sn_shape *shape, int32_t voxel, const double at[3],
                        sn_shape_point *result) {
    double F[3][3], D[3][3];
    int32_t around[27];
    bool pure = find_pure(shape->voxels, voxel, around);
    for (int a = 0; a < 3; a++) {
        list_functions(pure, at[a], shape->voxels->spacing[a], F[a], D[a]);
    }

    if (!pure) {
        evaluate_border(shape, voxel, F, D, result);
        return;
    }

    weighted_row rows[27];
    for (int i = 0; i < 27; i++) {
        rows[i].voxel = around[i];
        multiply_functions(F, D, i, rows[i].factor);
    }
    sum_rows(shape, rows, 27, result);
}
