// A coarse space of splines for the smoothing system. Input: positions and the graph; output: a
// factored Galerkin matrix.
//
// Method: the cells of a regular grid are at least twice as long as the longest edge of the graph,
// so that a row of L P has entries for at most 4 x 4 x 4 splines. Rows with the same lowest cell
// are summed in one dense matrix of 64 rows, which fits the first cache, before they are added to
// K. Cost: linear in the unknowns, plus the factor for a few thousand splines.
#include "field/splines.h"

#include "field/smoothing.h"
#include "math/box.h"

#include <math.h>
#include <string.h>

enum {
    SUPPORT = SN_SPLINE_SUPPORT,
    BOX = 64,        // splines that a row may have entries for, 4 x 4 x 4
    REACH = 3,       // splines up to so many apart share a row
    LINES = 49,      // pairs of x and y within that reach
    STENCIL = 343,   // 7 x 7 x 7
    CELL_CHUNK = 64, // of parallel loops
    SPLINE_CHUNK = 512,
    MAX_POINTS = 1 << 22, // of the grid
    MAX_SPLINES = 8000,   // more take longer to solve for than they save iterations
    UNKNOWNS_EACH = 32,   // at least
    RELAXATIONS = 4,      // of the positions
    LEAST_SPLINES = 8,
};

// Splines that are nowhere this large (0.42 at their centre) are left out: they would nearly repeat
// others.
static const double MIN_WEIGHT = 0.02;
// Added to the diagonal, relative to it, so that splines that are still nearly dependent do not
// make K singular.
static const double SHIFT = 1e-8;
// Weight of each relaxation: D^-1 G has eigenvalues up to 2; components from 1 on, which differ
// between neighbours, are reduced to a third.
static const double DAMPING = 2.0 / 3;

// ---- Relaxed positions --------------------------------------------------------------------------

// Y = (1 - w D^-1 G)^RELAXATIONS X
static sinew_status relax_positions(sn_arena *arena, const sn_sparse *G,
                                    const double *inverse_degrees, const sn_vec3 *positions,
                                    sn_splines *splines) {
    size_t size = (size_t)splines->n * sizeof(sn_vec3);
    splines->positions = SN_PUSH(arena, sn_vec3, splines->n);

    // A sweep reads the positions of the sweep before.
    sn_arena scratch = sn_arena_create(arena->context);
    sn_vec3 *before = SN_PUSH(&scratch, sn_vec3, splines->n);
    sinew_status status = sn_arena_status(arena);
    if (status == SINEW_OK) {
        status = sn_arena_status(&scratch);
    }
    if (status == SINEW_OK) {
        memcpy(splines->positions, positions, size);
    }

    if (status == SINEW_OK) {
        for (int sweep = 0; sweep < RELAXATIONS; sweep++) {
            memcpy(before, splines->positions, size);
            for (int32_t i = 0; i < splines->n; i++) {
                sn_vec3 sum = {0};
                for (int32_t k = G->starts[i]; k < G->starts[i + 1]; k++) {
                    sum = sn_madd(sum, G->values[k], before[G->indices[k]]);
                }
                splines->positions[i] = sn_madd(before[i], -DAMPING * inverse_degrees[i], sum);
            }
        }
    }

    sn_arena_destroy(&scratch);
    return status;
}

// ---- The grid -----------------------------------------------------------------------------------

typedef struct spot {
    int32_t cell[3];
    float t[3]; // in the cell, as the loops read it
} spot;

static spot locate(const sn_splines *splines, sn_vec3 p) {
    spot at;
    sn_vec3 d = sn_sub(p, splines->origin);
    double u[3] = {d.x * splines->inverse_spacing.x, d.y * splines->inverse_spacing.y,
                   d.z * splines->inverse_spacing.z};

    for (int a = 0; a < 3; a++) {
        int32_t cell = (int32_t)floor(u[a]);
        cell = cell < 0 ? 0 : cell >= splines->cells[a] ? splines->cells[a] - 1 : cell;
        at.cell[a] = cell;
        at.t[a] = (float)(u[a] - cell);
    }

    return at;
}

static size_t grid_index(const sn_splines *splines, int32_t x, int32_t y, int32_t z) {
    return ((size_t)x * (size_t)(splines->cells[1] + 2) + (size_t)y) *
               (size_t)(splines->cells[2] + 2) +
           (size_t)z;
}

static size_t grid_point_count(const sn_splines *splines) {
    return grid_index(splines, splines->cells[0] + 2, 0, 0);
}

static void weigh(const spot *at, double w[SUPPORT]) {
    double axis[3][3];
    for (int a = 0; a < 3; a++) {
        double t = (double)at->t[a];
        axis[a][0] = 0.5 * (1 - t) * (1 - t);
        axis[a][2] = 0.5 * t * t;
        axis[a][1] = 1 - axis[a][0] - axis[a][2];
    }

    for (int k = 0; k < SUPPORT; k++) {
        w[k] = axis[0][k / 9] * axis[1][k / 3 % 3] * axis[2][k % 3];
    }
}

static double longest_edge(const sn_sparse *G, const sn_vec3 *positions) {
    double longest = 0;
    for (int32_t i = 0; i < G->rows; i++) {
        for (int32_t k = G->starts[i]; k < G->starts[i + 1]; k++) {
            longest = fmax(longest, sn_distance(positions[i], positions[G->indices[k]]));
        }
    }

    return longest;
}

// Cells at least about `spacing` long, a whole number of them in the box.
static void set_grid(sn_splines *splines, sn_box box, double spacing) {
    sn_vec3 size = sn_box_size(box);
    double sizes[3] = {size.x, size.y, size.z};
    double inverse[3];

    for (int a = 0; a < 3; a++) {
        splines->cells[a] = (int32_t)fmax(1, fmin(floor(sizes[a] / spacing), MAX_POINTS));
        inverse[a] = sizes[a] > spacing ? splines->cells[a] / sizes[a] : 1 / spacing;
    }

    splines->origin = box.lower;
    splines->inverse_spacing = sn_v3(inverse[0], inverse[1], inverse[2]);
}

// The largest weight of each grid point at any unknown; returns how many are in use.
static int32_t find_used(const sn_splines *splines, float *largest) {
    memset(largest, 0, grid_point_count(splines) * sizeof(float));

    // The splines that are not zero at this unknown.
    for (int32_t i = 0; i < splines->n; i++) {
        spot at = locate(splines, splines->positions[i]);
        double w[SUPPORT];
        weigh(&at, w);

        for (int k = 0; k < SUPPORT; k++) {
            float *value = &largest[grid_index(splines, at.cell[0] + k / 9, at.cell[1] + k / 3 % 3,
                                               at.cell[2] + k % 3)];
            *value = fmaxf(*value, (float)w[k]);
        }
    }

    int32_t used = 0;
    for (size_t k = 0; k < grid_point_count(splines); k++) {
        used += largest[k] >= (float)MIN_WEIGHT;
    }

    return used;
}

// The finest grid with at most `most` splines in use, and their numbers.
static sinew_status choose_grid(sn_arena *arena, sn_splines *splines, double spacing,
                                int32_t most) {
    // The bounding box of the unknowns.
    sn_box box = sn_box_empty();
    for (int32_t i = 0; i < splines->n; i++) {
        box = sn_box_with_point(box, splines->positions[i]);
    }

    sn_arena scratch = sn_arena_create(arena->context);
    float *largest = SN_RESERVE(&scratch, float, MAX_POINTS);
    sinew_status status = sn_arena_status(&scratch);

    // Enlarge the cells until the number of splines is within the limit.
    for (bool done = false; status == SINEW_OK && !done;) {
        set_grid(splines, box, spacing);
        double points = 1;
        for (int a = 0; a < 3; a++) {
            points *= splines->cells[a] + 2;
        }

        double excess = points > MAX_POINTS ? points / MAX_POINTS : 1;
        if (excess <= 1) {
            excess = (double)find_used(splines, largest) / most;
        }

        done = excess <= 1;
        spacing *= fmax(1.04, cbrt(excess));
        if (done) {
            splines->numbers = SN_PUSH(arena, int32_t, grid_point_count(splines));
            status = sn_arena_status(arena);
        }
    }

    // Number the splines in use; all others share the number `count`.
    size_t points = status == SINEW_OK ? grid_point_count(splines) : 0;
    for (size_t k = 0; k < points; k++) {
        splines->numbers[k] = largest[k] >= (float)MIN_WEIGHT ? splines->count++ : -1;
    }

    for (size_t k = 0; k < points; k++) {
        if (splines->numbers[k] < 0) {
            splines->numbers[k] = splines->count;
        }
    }

    sn_arena_destroy(&scratch);
    return status;
}

// ---- Cells --------------------------------------------------------------------------------------

// Sorts items by `keys` below `key_count`; starts has key_count + 1 entries and becomes the first
// item of each key.
static void sort_by_key(int32_t *order, int32_t *starts, const int32_t *keys, int32_t count,
                        int32_t key_count) {
    for (int32_t i = 0; i < count; i++) {
        starts[keys[i] + 1]++;
    }

    for (int32_t k = 0; k < key_count; k++) {
        starts[k + 1] += starts[k];
    }

    for (int32_t i = 0; i < count; i++) {
        order[starts[keys[i]]++] = i;
    }

    for (int32_t k = key_count; k > 0; k--) {
        starts[k] = starts[k - 1];
    }

    starts[0] = 0;
}

// Lists the cells that contribute to each spline.
static sinew_status list_uses(sn_arena *arena, sn_splines *splines) {
    sn_spline_job *job = &splines->job;
    int32_t count = SUPPORT * splines->cell_count;
    int32_t *uses = SN_PUSH(arena, int32_t, count);
    int32_t *starts = SN_PUSH(arena, int32_t, splines->count + 2);
    SN_TRY(sn_arena_status(arena));
    sort_by_key(uses, starts, job->splines, count, splines->count + 1);
    job->uses = uses;
    job->use_starts = starts;

    return SINEW_OK;
}

static sinew_status list_cells(sn_arena *arena, sn_splines *splines, sn_arena *scratch) {
    size_t points = grid_point_count(splines);
    size_t n = (size_t)splines->n;
    int32_t *keys = SN_PUSH(scratch, int32_t, n);
    int32_t *starts = SN_PUSH(scratch, int32_t, points + 1);
    int32_t *order = SN_PUSH(arena, int32_t, n);
    float *t = SN_PUSH(arena, float, 3 * n);

    SN_TRY(sn_arena_status(scratch));
    SN_TRY(sn_arena_status(arena));

    // Sort the unknowns by cell.
    for (size_t i = 0; i < n; i++) {
        spot at = locate(splines, splines->positions[i]);
        keys[i] = (int32_t)grid_index(splines, at.cell[0], at.cell[1], at.cell[2]);
    }

    sort_by_key(order, starts, keys, splines->n, (int32_t)points);
    for (size_t k = 0; k < points; k++) {
        splines->cell_count += starts[k + 1] > starts[k];
    }

    // Cells in use, with the positions of their unknowns and their splines.
    size_t cells = (size_t)splines->cell_count;
    int32_t *cell_starts = SN_PUSH(arena, int32_t, cells + 1);
    int32_t *list = SN_PUSH(arena, int32_t, SUPPORT * cells);

    SN_TRY(sn_arena_status(arena));
    for (size_t k = 0; k < n; k++) {
        memcpy(t + 3 * k, locate(splines, splines->positions[order[k]]).t, 3 * sizeof(float));
    }

    size_t cell = 0;
    for (size_t k = 0; k < points; k++) {
        if (starts[k + 1] == starts[k]) {
            continue;
        }

        spot at = locate(splines, splines->positions[order[starts[k]]]);
        for (int s = 0; s < SUPPORT; s++) {
            list[SUPPORT * cell + (size_t)s] = splines->numbers[grid_index(
                splines, at.cell[0] + s / 9, at.cell[1] + s / 3 % 3, at.cell[2] + s % 3)];
        }

        cell_starts[++cell] = starts[k + 1];
    }

    splines->job.cell_starts = cell_starts;
    splines->job.unknowns = order;
    splines->job.offsets = t;
    splines->job.splines = list;

    return list_uses(arena, splines);
}

// ---- The Galerkin matrix ------------------------------------------------------------------------

// A row of L P or C P: a box of splines starting at `base`.
typedef struct spline_row {
    int32_t base[3];
    double values[BOX];
    uint64_t touched; // entries that may differ from 0
} spline_row;

// The lowest cell along each axis.
static void find_base(const sn_splines *splines, const int32_t *unknowns, int32_t count,
                      int32_t base[3]) {
    for (int a = 0; a < 3; a++) {
        base[a] = INT32_MAX;
    }

    for (int32_t j = 0; j < count; j++) {
        spot at = locate(splines, splines->positions[unknowns[j]]);
        for (int a = 0; a < 3; a++) {
            base[a] = at.cell[a] < base[a] ? at.cell[a] : base[a];
        }
    }
}

static void compute_row(spline_row *row, const sn_splines *splines, const int32_t *unknowns,
                        const double *weights, int32_t count) {
    memset(row, 0, sizeof *row);
    find_base(splines, unknowns, count, row->base);
    for (int32_t j = 0; j < count; j++) {
        spot at = locate(splines, splines->positions[unknowns[j]]);
        double w[SUPPORT];

        weigh(&at, w);
        int32_t x = at.cell[0] - row->base[0];
        int32_t y = at.cell[1] - row->base[1];
        int32_t z = at.cell[2] - row->base[2];

        SN_ASSERT(x <= 1 && y <= 1 && z <= 1);
        for (int k = 0; k < SUPPORT; k++) {
            int32_t entry = ((x + k / 9) * 4 + y + k / 3 % 3) * 4 + z + k % 3;
            row->values[entry] += weights[j] * w[k];
            row->touched |= (uint64_t)1 << entry;
        }
    }
}

// The numbers of the splines of a box; `count` for those that are not in use or outside the grid.
static void list_box(const sn_splines *splines, const int32_t base[3], int32_t numbers[BOX]) {
    for (int k = 0; k < BOX; k++) {
        int32_t at[3] = {base[0] + k / 16, base[1] + k / 4 % 4, base[2] + k % 4};
        bool inside = at[0] < splines->cells[0] + 2 && at[1] < splines->cells[1] + 2 &&
                      at[2] < splines->cells[2] + 2;
        numbers[k] =
            inside ? splines->numbers[grid_index(splines, at[0], at[1], at[2])] : splines->count;
    }
}

// K while it is assembled: for each spline the entries for its neighbours within REACH, and which
// of them exist.
typedef struct stencil_set {
    double *values;   // STENCIL for each spline
    uint8_t *present; // LINES for each spline, a bit for each z
} stencil_set;

static void add_box(const sn_splines *splines, stencil_set *stencils, const int32_t base[3],
                    const double *sums, const uint64_t *touched) {
    int32_t numbers[BOX];
    list_box(splines, base, numbers);
    for (int a = 0; a < BOX; a++) {
        if (touched[a] == 0 || numbers[a] == splines->count) {
            continue;
        }

        double *values = stencils->values + STENCIL * (size_t)numbers[a];
        uint8_t *present = stencils->present + LINES * (size_t)numbers[a];
        for (int b = 0; b < BOX; b++) {
            if (!(touched[a] >> b & 1) || numbers[b] == splines->count) {
                continue;
            }

            // Offset of spline b from spline a in the stencil.
            int line = (b / 16 - a / 16 + REACH) * 7 + b / 4 % 4 - a / 4 % 4 + REACH;
            int z = b % 4 - a % 4 + REACH;
            values[7 * line + z] += sums[BOX * a + b];
            present[line] |= (uint8_t)(1 << z);
        }
    }
}

// sums += the outer products of several rows of L P, all with the same base, which is returned in
// `base`.
static void add_rows(const sn_splines *splines, const sn_sparse *G, const double *inverse_degrees,
                     const int32_t *list, int32_t count, int32_t base[3], double *sums,
                     uint64_t *touched) {
    for (int32_t item = 0; item < count; item++) {
        int32_t i = list[item];
        int32_t begin = G->starts[i];
        spline_row row;

        compute_row(&row, splines, G->indices + begin, G->values + begin, G->starts[i + 1] - begin);
        memcpy(base, row.base, sizeof row.base);

        double scale = inverse_degrees[i] * inverse_degrees[i];

        // Outer product of the entries that are not zero.
        for (int a = 0; a < BOX; a++) {
            if (!(row.touched >> a & 1)) {
                continue;
            }

            double value = scale * row.values[a];
            touched[a] |= row.touched;
            for (int b = 0; b < BOX; b++) {
                sums[BOX * a + b] += value * row.values[b];
            }
        }
    }
}

// (L P)'(L P)
static sinew_status add_stencils(const sn_splines *splines, const sn_sparse *G,
                                 const double *inverse_degrees, stencil_set *stencils,
                                 sn_arena *scratch) {
    size_t n = (size_t)splines->n;
    size_t points = grid_point_count(splines);
    int32_t *keys = SN_PUSH(scratch, int32_t, n);
    int32_t *order = SN_PUSH(scratch, int32_t, n);
    int32_t *starts = SN_PUSH(scratch, int32_t, points + 1);
    double *sums = SN_PUSH(scratch, double, BOX *BOX);

    SN_TRY(sn_arena_status(scratch));

    // Sort the rows by their lowest cell.
    for (int32_t i = 0; i < splines->n; i++) {
        int32_t base[3];
        find_base(splines, G->indices + G->starts[i], G->starts[i + 1] - G->starts[i], base);
        keys[i] = (int32_t)grid_index(splines, base[0], base[1], base[2]);
    }

    sort_by_key(order, starts, keys, splines->n, (int32_t)points);

    // Sum the rows of each cell in one dense matrix, then add that to the stencils.
    for (size_t key = 0; key < points; key++) {
        int32_t base[3];
        int32_t count = starts[key + 1] - starts[key];
        if (count == 0) {
            continue;
        }

        uint64_t touched[BOX] = {0};
        memset(sums, 0, BOX * BOX * sizeof(double));
        add_rows(splines, G, inverse_degrees, order + starts[key], count, base, sums, touched);
        add_box(splines, stencils, base, sums, touched);
    }

    return SINEW_OK;
}

// K from its stencils. Splines are numbered by position, z fastest, so columns ascend.
static sinew_status fill_matrix(sn_arena *arena, sn_splines *splines, const stencil_set *stencils) {
    sn_sparse *K = &splines->K;
    size_t count = (size_t)splines->count;
    size_t entries = 0;

    // Count the entries.
    for (size_t k = 0; k < LINES * count; k++) {
        for (int z = 0; z < 7; z++) {
            entries += stencils->present[k] >> z & 1;
        }
    }

    *K = (sn_sparse){.rows = splines->count, .columns = splines->count};
    K->starts = SN_PUSH(arena, int32_t, count + 1);
    K->indices = SN_PUSH(arena, int32_t, entries);
    K->values = SN_PUSH(arena, double, entries);
    splines->LL = SN_PUSH(arena, double, entries);
    SN_TRY(sn_arena_status(arena));

    // Grid points in order, and their stencils in order.
    int32_t entry = 0;
    for (int32_t x = 0; x < splines->cells[0] + 2; x++) {
        for (int32_t y = 0; y < splines->cells[1] + 2; y++) {
            for (int32_t z = 0; z < splines->cells[2] + 2; z++) {
                int32_t a = splines->numbers[grid_index(splines, x, y, z)];
                if (a == splines->count) {
                    continue;
                }

                for (int s = 0; s < STENCIL; s++) {
                    if (!(stencils->present[LINES * (size_t)a + (size_t)(s / 7)] >> s % 7 & 1)) {
                        continue;
                    }
                    K->indices[entry] = splines->numbers[grid_index(
                        splines, x + s / 49 - REACH, y + s / 7 % 7 - REACH, z + s % 7 - REACH)];
                    splines->LL[entry++] = stencils->values[STENCIL * (size_t)a + (size_t)s];
                }

                K->starts[a + 1] = entry;
            }
        }
    }

    return SINEW_OK;
}

static sinew_status build_matrix(sn_arena *arena, const sn_sparse *G, const double *inverse_degrees,
                                 sn_splines *splines, sn_arena *scratch) {
    size_t count = (size_t)splines->count;
    stencil_set stencils = {SN_PUSH(scratch, double, STENCIL *count),
                            SN_PUSH(scratch, uint8_t, LINES * count)};
    double *positions = SN_PUSH(scratch, double, 3 * count);

    SN_TRY(sn_arena_status(scratch));
    SN_TRY(add_stencils(splines, G, inverse_degrees, &stencils, scratch));
    SN_TRY(fill_matrix(arena, splines, &stencils));

    // Positions on the grid, for the order of the factor.
    for (int32_t x = 0; x < splines->cells[0] + 2; x++) {
        for (int32_t y = 0; y < splines->cells[1] + 2; y++) {
            for (int32_t z = 0; z < splines->cells[2] + 2; z++) {
                int32_t a = splines->numbers[grid_index(splines, x, y, z)];
                if (a == splines->count) {
                    continue;
                }
                sn_store3(sn_at3(positions, a), sn_v3(x, y, z));
            }
        }
    }

    return sn_factor_create(splines->context, &splines->K, positions, &splines->factor);
}

sinew_status sn_splines_build(sn_arena *arena, const sn_sparse *G, const double *inverse_degrees,
                              const sn_vec3 *positions, sn_splines *splines) {
    *splines = (sn_splines){.context = arena->context, .n = G->rows};
    splines->kernels = SN_ISA_PICK(arena->context->isa, sn_spline_get_kernels)();

    // Too few unknowns for a coarse space.
    int32_t limit = G->rows / UNKNOWNS_EACH;
    int32_t most = limit < MAX_SPLINES ? limit : MAX_SPLINES;
    if (most < LEAST_SPLINES) {
        return SINEW_OK;
    }

    SN_TRY(relax_positions(arena, G, inverse_degrees, positions, splines));
    double edge = longest_edge(G, splines->positions);
    if (!(edge > 0)) {
        return SINEW_OK;
    }

    // Cells at least twice as long as the longest edge.
    SN_TRY(choose_grid(arena, splines, 2.01 * edge, most));
    sn_arena scratch = sn_arena_create(arena->context);
    sinew_status status = list_cells(arena, splines, &scratch);
    if (status == SINEW_OK) {
        status = build_matrix(arena, G, inverse_degrees, splines, &scratch);
    }

    sn_arena_destroy(&scratch);
    return status;
}

void sn_splines_destroy(sn_splines *splines) {
    sn_factor_destroy(splines->factor);
    splines->factor = NULL;
}

// ---- Constraints --------------------------------------------------------------------------------

void sn_splines_update(sn_splines *splines, const sn_constraints *rows) {
    if (splines->count == 0) {
        return;
    }

    // K = (L P)'(L P) + (C P)'(C P)
    sn_sparse *K = &splines->K;
    memcpy(K->values, splines->LL, (size_t)sn_sparse_entry_count(K) * sizeof(double));
    for (int32_t r = 0; r < rows->count; r++) {
        int32_t begin = rows->starts[r];
        int32_t numbers[BOX];
        spline_row row;

        compute_row(&row, splines, rows->unknowns + begin, rows->weights + begin,
                    rows->starts[r + 1] - begin);
        list_box(splines, row.base, numbers);

        for (int a = 0; a < BOX; a++) {
            if (!(row.touched >> a & 1) || numbers[a] == splines->count) {
                continue;
            }

            for (int b = 0; b < BOX; b++) {
                if (!(row.touched >> b & 1) || numbers[b] == splines->count) {
                    continue;
                }
                *sn_smoothing_find_entry(K, numbers[a], numbers[b]) +=
                    row.values[a] * row.values[b];
            }
        }
    }

    // Regularise and factor.
    for (int32_t a = 0; a < K->rows; a++) {
        *sn_smoothing_find_entry(K, a, a) *= 1 + SHIFT;
    }

    splines->usable = sn_factor_update(splines->factor, K) < 0;
}

// ---- Solving ------------------------------------------------------------------------------------

sinew_status sn_splines_prepare(sn_arena *arena, const sn_splines *splines, int32_t quads,
                                sn_spline_job *job) {
    size_t width = SN_ROW_WIDTH * (size_t)quads;
    *job = splines->job;
    job->quads = quads;
    job->shares = SN_PUSH(arena, double, SUPPORT *width *(size_t)splines->cell_count);
    job->coefficients = SN_PUSH(arena, double, width *((size_t)splines->count + 1));
    return sn_arena_status(arena);
}

void sn_splines_add(const sn_splines *splines, sn_spline_job *job, double *y, const double *x) {
    SN_ASSERT(splines->usable);
    job->x = x;
    job->y = y;
    sn_parallel_for(splines->context, splines->cell_count, CELL_CHUNK, splines->kernels->gather,
                    job);
    sn_parallel_for(splines->context, splines->count, SPLINE_CHUNK, splines->kernels->collect, job);
    sn_factor_solve(splines->factor, job->coefficients, SN_ROW_WIDTH * job->quads);
    sn_parallel_for(splines->context, splines->cell_count, CELL_CHUNK, splines->kernels->spread,
                    job);
}
