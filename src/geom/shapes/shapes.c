// The shapes: the definition is checked, a resolution chosen, and the grid built and scaled.
#include "geom/shapes/shapes.h"

#include "geom/mesh/mesh.h"

enum { LARGEST_CELLS = 20000 };

sinew_shape_def sinew_default_shape_def(void) {
    return (sinew_shape_def){.shape = SINEW_SHAPE_BOX,
                             .element = SINEW_ELEMENT_TET4,
                             .size = {1, 1, 1},
                             .thickness = 0.25,
                             .cell_size = 0.1,
                             .tets_per_cell = 5,
                             .filled = SN_DEF_FILLED};
}

static bool has_thickness(sinew_shape shape) {
    return shape >= SINEW_SHAPE_TUBE;
}

// The thickness at which the hollow closes.
static double largest_thickness(const sinew_shape_def *def) {
    double x = def->size[0];
    double y = def->size[1];
    switch (def->shape) {
    case SINEW_SHAPE_TUBE: return fmin(x, y) / 2;
    case SINEW_SHAPE_U: return fmin(x / 2, y);
    default: return fmin(x, y);
    }
}

static sinew_status check_numbers(sinew_context *context, const sinew_shape_def *def) {
    for (int k = 0; k < 3; k++) {
        // A rectangle has no depth.
        bool used = def->shape != SINEW_SHAPE_RECTANGLE || k < 2;
        if (!isfinite(def->center[k])) {
            return sn_fail(context, SINEW_INVALID_ARGUMENT, "center[%d] is %g m; it must be finite",
                           k, def->center[k]);
        }

        if (used && (!(def->size[k] > 0) || !isfinite(def->size[k]))) {
            return sn_fail(context, SINEW_INVALID_ARGUMENT,
                           "size[%d] is %g m; it must be finite and above 0", k, def->size[k]);
        }

        if (def->cells[k] < 0 || def->cells[k] > LARGEST_CELLS) {
            return sn_fail(context, SINEW_INVALID_ARGUMENT,
                           "cells[%d] is %d; valid are 0 (by cell_size) to %d", k, def->cells[k],
                           LARGEST_CELLS);
        }
    }

    if (!(def->cell_size > 0) || !isfinite(def->cell_size)) {
        return sn_fail(context, SINEW_INVALID_ARGUMENT,
                       "cell_size is %g m; it must be finite and above 0", def->cell_size);
    }

    return SINEW_OK;
}

static sinew_status check_def(sinew_context *context, const sinew_shape_def *def) {
    SN_TRY(SN_CHECK_DEF(context, def, "sinew_default_shape_def"));
    if (def->shape < SINEW_SHAPE_RECTANGLE || def->shape > SINEW_SHAPE_U) {
        return sn_fail(context, SINEW_INVALID_ARGUMENT, "unknown shape %d", (int)def->shape);
    }

    SN_TRY(sn_check_cutting(context, def->element, def->tets_per_cell));
    if (def->shape == SINEW_SHAPE_RECTANGLE && def->element != SINEW_ELEMENT_TRIANGLE) {
        return sn_fail(context, SINEW_INVALID_ARGUMENT,
                       "a rectangle is made of triangles, not of %s",
                       sn_element_info_of(def->element)->name);
    }

    SN_TRY(check_numbers(context, def));
    if (has_thickness(def->shape) &&
        !(def->thickness > 0 && def->thickness < largest_thickness(def))) {
        return sn_fail(context, SINEW_INVALID_ARGUMENT,
                       "thickness is %g m; valid are values above 0 and below %g", def->thickness,
                       largest_thickness(def));
    }

    return SINEW_OK;
}

// The requested number of cells along a length, at least `fewest`.
static sinew_status choose_cells(sinew_context *context, const sinew_shape_def *def, int axis,
                                 double length, int32_t fewest, int32_t *cells) {
    *cells = def->cells[axis];
    if (*cells == 0) {
        double wanted = round(length / def->cell_size);
        if (!(wanted <= LARGEST_CELLS)) {
            return sn_fail(context, SINEW_INVALID_ARGUMENT,
                           "cell_size is %g m, which gives %g cells along axis %d; at most %d",
                           def->cell_size, wanted, axis, LARGEST_CELLS);
        }

        *cells = wanted < fewest ? fewest : (int32_t)wanted;
    }

    if (*cells >= fewest) {
        return SINEW_OK;
    }

    return sn_fail(context, SINEW_INVALID_ARGUMENT, "cells[%d] is %d; this shape needs at least %d",
                   axis, *cells, fewest);
}

// One axis of a box-like shape: segments between breaks, each with at least one cell.
typedef struct axis_breaks {
    int32_t segments;
    double at[4];
} axis_breaks;

// Distributes the cells one by one, each to the segment whose cells are largest.
static void distribute_cells(const axis_breaks *breaks, int32_t cells, int32_t counts[3]) {
    SN_ASSERT(cells >= breaks->segments);
    for (int32_t s = 0; s < breaks->segments; s++) {
        counts[s] = 1;
    }

    for (int32_t left = cells - breaks->segments; left > 0; left--) {
        int32_t coarsest = 0;
        double largest = 0;
        for (int32_t s = 0; s < breaks->segments; s++) {
            double size = (breaks->at[s + 1] - breaks->at[s]) / counts[s];
            if (size > largest * (1 + 1e-12)) { // equal up to rounding: the first
                largest = size;
                coarsest = s;
            }
        }

        counts[coarsest]++;
    }
}

static void compute_breaks(const sinew_shape_def *def, axis_breaks breaks[3]) {
    double x = def->size[0];
    double y = def->size[1];
    double t = def->thickness;

    for (int k = 0; k < 3; k++) {
        breaks[k] = (axis_breaks){1, {0, def->size[k]}};
    }

    switch (def->shape) {
    case SINEW_SHAPE_L:
        breaks[0] = (axis_breaks){2, {0, t, x}};
        breaks[1] = (axis_breaks){2, {0, t, y}};
        break;
    case SINEW_SHAPE_T:
        breaks[0] = (axis_breaks){3, {0, (x - t) / 2, (x + t) / 2, x}};
        breaks[1] = (axis_breaks){2, {0, y - t, y}};
        break;
    case SINEW_SHAPE_U:
        breaks[0] = (axis_breaks){3, {0, t, x - t, x}};
        breaks[1] = (axis_breaks){2, {0, t, y}};
        break;
    default: break;
    }
}

// Whether the shape fills the segment (i, j) of its breaks along x and y.
static bool fills_segment(sinew_shape shape, int32_t i, int32_t j) {
    switch (shape) {
    case SINEW_SHAPE_L: return i == 0 || j == 0;
    case SINEW_SHAPE_T: return i == 1 || j == 1;
    case SINEW_SHAPE_U: return i != 1 || j == 0;
    default: return true;
    }
}

static int32_t segment_of(const int32_t counts[3], int32_t cell) {
    SN_ASSERT(cell >= 0);
    int32_t segment = 0;
    while (cell >= counts[segment]) {
        cell -= counts[segment++];
    }
    return segment;
}

static sinew_status build_lines(sn_arena *scratch, const sinew_shape_def *def, sn_grid_lines *grid,
                                int32_t counts[3][3]) {
    axis_breaks breaks[3];
    compute_breaks(def, breaks);
    for (int k = 0; k < 3; k++) {
        SN_TRY(choose_cells(scratch->context, def, k, def->size[k], breaks[k].segments,
                            &grid->cells[k]));
        distribute_cells(&breaks[k], grid->cells[k], counts[k]);

        double *line = grid->lines[k] = SN_PUSH(scratch, double, (size_t)grid->cells[k] + 1);
        if (!line) {
            return SINEW_OUT_OF_MEMORY;
        }

        // Equal cells within each segment.
        for (int32_t s = 0; s < breaks[k].segments; s++) {
            double from = breaks[k].at[s];
            double to = breaks[k].at[s + 1];
            for (int32_t i = 0; i < counts[k][s]; i++) {
                *line++ = from + (to - from) * i / counts[k][s];
            }
        }

        SN_ASSERT(line == grid->lines[k] + grid->cells[k]);
        *line = def->size[k];

        // The lower corner is at center - size / 2; both ends are as exact as the sum.
        for (int32_t i = 0; i <= grid->cells[k]; i++) {
            grid->lines[k][i] += def->center[k] - def->size[k] / 2;
        }
    }

    return SINEW_OK;
}

static sinew_status create_box_like(sn_arena *scratch, const sinew_shape_def *def,
                                    sn_owned_mesh **hexes) {
    sn_grid_lines grid;
    int32_t counts[3][3];

    SN_TRY(build_lines(scratch, def, &grid, counts));
    size_t layer = (size_t)grid.cells[0] * (size_t)grid.cells[1];
    uint8_t *mask = NULL;

    // Mask the cells that an L, T or U leaves empty.
    if (def->shape != SINEW_SHAPE_BOX) {
        mask = SN_PUSH(scratch, uint8_t, layer * (size_t)grid.cells[2]);
        if (!mask) {
            return SINEW_OUT_OF_MEMORY;
        }

        for (size_t i = 0; i < layer * (size_t)grid.cells[2]; i++) {
            int32_t x = (int32_t)(i % layer) % grid.cells[0];
            int32_t y = (int32_t)(i % layer) / grid.cells[0];
            mask[i] = fills_segment(def->shape, segment_of(counts[0], x), segment_of(counts[1], y));
        }
    }

    return sn_create_grid_hexes(scratch->context, &grid, mask, false, hexes);
}

// Maps the unit shape in [-1, 1]^3 to its final position and size.
static void place_points(const sinew_shape_def *def, sn_owned_mesh *mesh) {
    for (int32_t i = 0; i < mesh->view.point_count; i++) {
        double *p = sn_at3(mesh->points, i);
        for (int k = 0; k < 3; k++) {
            p[k] = def->center[k] + p[k] * (def->size[k] / 2);
        }
    }
}

static sinew_status create_tube(sinew_context *context, const sinew_shape_def *def,
                                sn_owned_mesh **hexes) {
    double a = def->size[0] / 2;
    double b = def->size[1] / 2;
    double t = def->thickness;
    int32_t through, around, along;

    SN_TRY(choose_cells(context, def, 0, t, 1, &through));
    SN_TRY(choose_cells(context, def, 1, 3.14159265358979 * (a + b - t), 3, &around));
    SN_TRY(choose_cells(context, def, 2, def->size[2], 1, &along));
    if (def->cells[1] == 0) {
        around = (around + 2) / 4 * 4; // symmetric, and even: five tets fit in a cell
    }

    const double inner[2] = {1 - t / a, 1 - t / b};
    return sn_create_tube_hexes(context, inner, through, around, along, hexes);
}

static sinew_status create_round(sinew_context *context, const sinew_shape_def *def,
                                 sn_owned_mesh **hexes) {
    int32_t across, along;
    double diameter = fmax(def->size[0], def->size[1]);
    if (def->shape == SINEW_SHAPE_CYLINDER) {
        SN_TRY(choose_cells(context, def, 0, diameter, 3, &across));
        SN_TRY(choose_cells(context, def, 2, def->size[2], 1, &along));
        SN_TRY(sn_create_cylinder_hexes(context, across, along, hexes));
    } else if (def->shape == SINEW_SHAPE_SPHERE) {
        SN_TRY(choose_cells(context, def, 0, fmax(diameter, def->size[2]), 3, &across));
        SN_TRY(sn_create_sphere_hexes(context, across, hexes));
    } else {
        SN_TRY(create_tube(context, def, hexes));
    }

    place_points(def, *hexes);
    return SINEW_OK;
}

// Triangles in a plane; the diagonals alternate, so that no direction is preferred.
static sinew_status create_rectangle(sinew_context *context, const sinew_shape_def *def,
                                     sinew_mesh **mesh) {
    int32_t nx, ny;
    SN_TRY(choose_cells(context, def, 0, def->size[0], 1, &nx));
    SN_TRY(choose_cells(context, def, 1, def->size[1], 1, &ny));

    sn_owned_mesh *made;
    SN_TRY(sn_owned_mesh_create(context, SINEW_ELEMENT_TRIANGLE,
                                ((int64_t)nx + 1) * ((int64_t)ny + 1), 2 * (int64_t)nx * ny, false,
                                &made));

    // Points row by row.
    double *points = made->points;
    int32_t *indices = made->indices;
    for (int32_t j = 0; j <= ny; j++) {
        for (int32_t i = 0; i <= nx; i++, points += 3) {
            points[0] = def->center[0] + ((double)i / nx - 0.5) * def->size[0];
            points[1] = def->center[1] + ((double)j / ny - 0.5) * def->size[1];
            points[2] = def->center[2];
        }
    }

    // Two triangles for each cell.
    for (int32_t j = 0; j < ny; j++) {
        for (int32_t i = 0; i < nx; i++, indices += 6) {
            int32_t a = i + (nx + 1) * j;
            int32_t quad[4] = {a, a + 1, a + nx + 2, a + nx + 1};
            static const int8_t cut[2][6] = {{0, 1, 2, 0, 2, 3}, {1, 2, 3, 1, 3, 0}};
            for (int k = 0; k < 6; k++) {
                indices[k] = quad[cut[(i + j) % 2][k]];
            }
        }
    }

    *mesh = &made->view;
    return SINEW_OK;
}

sinew_status sinew_mesh_create_shape(sinew_context *context, const sinew_shape_def *def,
                                     sinew_mesh **mesh) {
    SN_NEED(NULL, context);
    SN_NEED(context, mesh);

    SN_TRY(check_def(context, def));
    if (def->shape == SINEW_SHAPE_RECTANGLE) {
        return create_rectangle(context, def, mesh);
    }

    sn_owned_mesh *hexes = NULL;
    if (def->shape == SINEW_SHAPE_CYLINDER || def->shape == SINEW_SHAPE_SPHERE ||
        def->shape == SINEW_SHAPE_TUBE) {
        SN_TRY(create_round(context, def, &hexes));
    } else {
        sn_arena scratch = sn_arena_create(context);
        sinew_status status = create_box_like(&scratch, def, &hexes);
        sn_arena_destroy(&scratch);
        SN_TRY(status);
    }

    return sn_finish_hexes(context, hexes, def->element, def->tets_per_cell, mesh);
}
