// Round shapes from mapped blocks of hexahedra. A disc or a ball is a bulged square or cube in the
// middle, with layers from its sides to the circle or sphere, so that no cell is flattened; a tube
// is in polar coordinates.
//
// With N cells across, N/4 on either side are layers. The middle block's half width and bulge were
// chosen for the best smallest angle of the tets cut from the cells (the shapes test checks a lower
// bound).
#include "geom/shapes/shapes.h"

static const double pi = 3.14159265358979323846;

// The number of layers on either side of the middle, for `across` cells.
static int32_t count_layers(int32_t across) {
    SN_ASSERT(across >= 3);
    int32_t layers = (across + 1) / 5;
    return layers < 1 ? 1 : layers;
}

// The coordinate, -1 to 1, in the middle block of lattice index i of n.
static double lattice_coordinate(int32_t i, int32_t n) {
    return (2.0 * i - n) / n;
}

// A point of the boundary of [-1, 1]^3 (or ^2 with z = 0) mapped to the unit sphere (circle), at
// equal angles.
static sn_vec3 project_to_sphere(sn_vec3 p) {
    return sn_normalize(sn_v3(tan(p.x * pi / 4), tan(p.y * pi / 4), tan(p.z * pi / 4)));
}

// The middle block: `width` times the cube, moved outwards along rays by the fraction `bulge` of
// the distance to a sphere around it. Scaling with the largest coordinate keeps concentric cubes
// concentric.
static sn_vec3 map_middle(sn_vec3 p, double width, double bulge) {
    double level = fmax(fabs(p.x), fmax(fabs(p.y), fabs(p.z)));
    if (level == 0) {
        return sn_v3(0, 0, 0);
    }

    sn_vec3 rim = sn_scale(level, project_to_sphere(sn_scale(1 / level, p)));

    // The bulge grows with the level, so that the centre stays a grid of squares.
    double share = bulge * level;

    return sn_scale(width, sn_add(sn_scale(1 - share, p), sn_scale(share * 1.16, rim)));
}

// Nodes of a disc: the middle (n + 1)^2, row by row, then rings of 4 n, each starting at the corner
// (-1, -1).
typedef struct disc {
    int32_t n, layers, nodes;
} disc;

// The lattice indices of the p-th point around the square, counter-clockwise.
static void ring_index(int32_t n, int32_t p, int32_t index[2]) {
    int32_t side = p / n;
    int32_t along = p % n;
    static const int8_t start[4][2] = {{0, 0}, {1, 0}, {1, 1}, {0, 1}};
    static const int8_t step[4][2] = {{1, 0}, {0, 1}, {-1, 0}, {0, -1}};
    index[0] = start[side][0] * n + step[side][0] * along;
    index[1] = start[side][1] * n + step[side][1] * along;
}

static int32_t disc_node(const disc *d, int32_t layer, int32_t p) {
    SN_ASSERT(layer >= 0 && layer <= d->layers && p >= 0);
    p %= 4 * d->n;
    if (layer > 0) {
        return (d->n + 1) * (d->n + 1) + (layer - 1) * 4 * d->n + p;
    }

    int32_t index[2];
    ring_index(d->n, p, index);

    return index[0] + (d->n + 1) * index[1];
}

static void compute_disc_points(const disc *d, double *points, double z) {
    const double width = 0.03 + 0.8 * d->n / (d->n + 2 * d->layers);
    const double bulge = 0.43;

    // The bulged square in the middle.
    for (int32_t j = 0; j <= d->n; j++) {
        for (int32_t i = 0; i <= d->n; i++, points += 3) {
            sn_vec3 p = map_middle(
                sn_v3(lattice_coordinate(i, d->n), lattice_coordinate(j, d->n), 0), width, bulge);
            sn_store3(points, sn_v3(p.x, p.y, z));
        }
    }

    // Rings that blend from the square to the circle.
    for (int32_t layer = 1; layer <= d->layers; layer++) {
        for (int32_t p = 0; p < 4 * d->n; p++, points += 3) {
            int32_t index[2];
            ring_index(d->n, p, index);
            sn_vec3 square =
                sn_v3(lattice_coordinate(index[0], d->n), lattice_coordinate(index[1], d->n), 0);
            double share = (double)layer / d->layers;
            sn_vec3 inner = map_middle(square, width, bulge);
            sn_vec3 outer = project_to_sphere(square);
            sn_vec3 q = sn_add(sn_scale(1 - share, inner), sn_scale(share, outer));
            sn_store3(points, sn_v3(q.x, q.y, z));
        }
    }
}

// The quadrilaterals of a disc, counter-clockwise. Returns their number; with NULL it only counts.
static int32_t collect_disc_cells(const disc *d, int32_t (*cells)[4]) {
    int32_t count = d->n * d->n + 4 * d->n * d->layers;
    int32_t next = 0;
    if (!cells) {
        return count;
    }

    // Cells of the middle, then of the rings.
    for (int32_t j = 0; j < d->n; j++) {
        for (int32_t i = 0; i < d->n; i++, next++) {
            int32_t a = i + (d->n + 1) * j;
            cells[next][0] = a;
            cells[next][1] = a + 1;
            cells[next][2] = a + d->n + 2;
            cells[next][3] = a + d->n + 1;
        }
    }

    for (int32_t layer = 0; layer < d->layers; layer++) {
        for (int32_t p = 0; p < 4 * d->n; p++, next++) {
            cells[next][0] = disc_node(d, layer, p);
            cells[next][1] = disc_node(d, layer + 1, p);
            cells[next][2] = disc_node(d, layer + 1, p + 1);
            cells[next][3] = disc_node(d, layer, p + 1);
        }
    }

    SN_ASSERT(next == count);
    return count;
}

// Stacks quadrilaterals over `nodes` points along z: the points of layer k have k * nodes added.
static void extrude_cells(const int32_t (*cells)[4], int32_t cell_count, int32_t nodes,
                          int32_t along, int32_t *indices) {
    for (int32_t k = 0; k < along; k++) {
        for (int32_t c = 0; c < cell_count; c++, indices += 8) {
            for (int i = 0; i < 8; i++) {
                indices[i] = cells[c][i % 4] + nodes * (k + i / 4);
            }
        }
    }
}

sinew_status sn_create_cylinder_hexes(sinew_context *context, int32_t across, int32_t along,
                                      sn_owned_mesh **hexes) {
    int32_t layers = count_layers(across);
    disc d = {.n = across - 2 * layers, .layers = layers};

    d.nodes = (d.n + 1) * (d.n + 1) + 4 * d.n * layers;
    int32_t cell_count = collect_disc_cells(&d, NULL);

    int32_t(*cells)[4] = sn_allocate(context, (size_t)cell_count, sizeof *cells);
    if (!cells) {
        return SINEW_OUT_OF_MEMORY;
    }

    collect_disc_cells(&d, cells);
    sinew_status status =
        sn_owned_mesh_create(context, SINEW_ELEMENT_HEX8, (int64_t)d.nodes * (along + 1),
                             (int64_t)cell_count * along, false, hexes);

    // Stack copies of the disc along z.
    if (status == SINEW_OK) {
        for (int32_t k = 0; k <= along; k++) {
            compute_disc_points(&d, (*hexes)->points + 3 * (size_t)d.nodes * (size_t)k,
                                lattice_coordinate(k, along));
        }
        extrude_cells((const int32_t(*)[4])cells, cell_count, d.nodes, along, (*hexes)->indices);
    }

    sn_release(context, cells, (size_t)cell_count, sizeof *cells);
    return status;
}

sinew_status sn_create_tube_hexes(sinew_context *context, const double inner[2], int32_t through,
                                  int32_t around, int32_t along, sn_owned_mesh **hexes) {
    SN_ASSERT(through >= 1 && around >= 3 && along >= 1 && inner[0] > 0 && inner[1] > 0);
    int64_t ring = (int64_t)(through + 1) * around;

    SN_TRY(sn_owned_mesh_create(context, SINEW_ELEMENT_HEX8, ring * (along + 1),
                                (int64_t)through * around * along, false, hexes));

    double *points = (*hexes)->points;
    int32_t *indices = (*hexes)->indices;

    // Points in polar coordinates.
    for (int32_t k = 0; k <= along; k++) {
        for (int32_t j = 0; j < around; j++) {
            for (int32_t i = 0; i <= through; i++, points += 3) {
                double angle = 2 * pi * j / around;
                double share = (double)i / through;
                double a = inner[0] + share * (1 - inner[0]);
                double b = inner[1] + share * (1 - inner[1]);
                sn_store3(points,
                          sn_v3(a * cos(angle), b * sin(angle), lattice_coordinate(k, along)));
            }
        }
    }

    // Cells; the last one around is closed with the first.
    for (int32_t k = 0; k < along; k++) {
        for (int32_t j = 0; j < around; j++) {
            for (int32_t i = 0; i < through; i++, indices += 8) {
                int32_t here = i + (through + 1) * j;
                int32_t next = i + (through + 1) * ((j + 1) % around);
                int32_t quad[4] = {here, here + 1, next + 1, next};
                for (int c = 0; c < 8; c++) {
                    indices[c] = quad[c % 4] + (int32_t)ring * (k + c / 4);
                }
            }
        }
    }

    return SINEW_OK;
}

// Nodes of a ball: the middle (n + 1)^3, then shells over the cube's surface points.
typedef struct ball {
    int32_t n, layers;
    int32_t shell;    // points of a shell: 6 n^2 + 2
    int32_t *surface; // for each lattice point of the cube its number on the surface, or -1
} ball;

static int32_t lattice_index(const ball *b, const int32_t index[3]) {
    return index[0] + (b->n + 1) * (index[1] + (b->n + 1) * index[2]);
}

static int32_t ball_node(const ball *b, int32_t layer, const int32_t index[3]) {
    int32_t lattice = lattice_index(b, index);
    if (layer == 0) {
        return lattice;
    }
    SN_ASSERT(b->surface[lattice] >= 0);
    return (b->n + 1) * (b->n + 1) * (b->n + 1) + (layer - 1) * b->shell + b->surface[lattice];
}

static void compute_ball_points(const ball *b, double *points) {
    const double width = 0.07 + 0.66 * b->n / (b->n + 2 * b->layers);
    const double bulge = 0.51;
    int32_t index[3];
    int32_t n = b->n;

    for (index[2] = 0; index[2] <= n; index[2]++) {
        for (index[1] = 0; index[1] <= n; index[1]++) {
            for (index[0] = 0; index[0] <= n; index[0]++) {
                // The bulged cube.
                sn_vec3 cube =
                    sn_v3(lattice_coordinate(index[0], n), lattice_coordinate(index[1], n),
                          lattice_coordinate(index[2], n));
                sn_vec3 inner = map_middle(cube, width, bulge);

                sn_store3(sn_at3(points, ball_node(b, 0, index)), inner);
                if (b->surface[lattice_index(b, index)] < 0) {
                    continue;
                }

                // Shells over its surface that blend to the sphere.
                sn_vec3 outer = project_to_sphere(cube);
                for (int32_t layer = 1; layer <= b->layers; layer++) {
                    double share = (double)layer / b->layers;
                    sn_store3(sn_at3(points, ball_node(b, layer, index)),
                              sn_add(sn_scale(1 - share, inner), sn_scale(share, outer)));
                }
            }
        }
    }
}

// The corners of cell (i, j) of side `face` of the cube, counter-clockwise as seen from outside.
static void side_cell(int32_t n, int32_t face, int32_t i, int32_t j, int32_t corners[4][3]) {
    int32_t axis = face / 2;
    int32_t u = (axis + 1) % 3;
    int32_t v = (axis + 2) % 3;
    bool upper = face % 2;
    static const int8_t around[4][2] = {{0, 0}, {1, 0}, {1, 1}, {0, 1}};

    for (int c = 0; c < 4; c++) {
        const int8_t *step = around[upper ? c : 3 - c];
        corners[c][axis] = upper ? n : 0;
        corners[c][u] = i + step[0];
        corners[c][v] = j + step[1];
    }
}

static void collect_ball_cells(const ball *b, int32_t *indices) {
    int32_t n = b->n;
    int32_t row = n + 1;

    // Cells of the cube.
    for (int32_t cell = 0; cell < n * n * n; cell++, indices += 8) {
        int32_t a = cell % n + row * (cell / n % n + row * (cell / n / n));
        int32_t quad[4] = {a, a + 1, a + 1 + row, a + row};
        for (int c = 0; c < 8; c++) {
            indices[c] = quad[c % 4] + row * row * (c / 4);
        }
    }

    // Cells of the shells, one layer over each side of the cube.
    for (int32_t layer = 0; layer < b->layers; layer++) {
        for (int32_t cell = 0; cell < 6 * n * n; cell++, indices += 8) {
            int32_t corners[4][3];
            side_cell(n, cell / (n * n), cell % n, cell / n % n, corners);
            for (int c = 0; c < 8; c++) {
                indices[c] = ball_node(b, layer + c / 4, corners[c % 4]);
            }
        }
    }
}

sinew_status sn_create_sphere_hexes(sinew_context *context, int32_t across, sn_owned_mesh **hexes) {
    ball b = {.layers = count_layers(across)};
    b.n = across - 2 * b.layers;
    SN_ASSERT(b.n >= 1);

    int64_t n = b.n;
    int64_t lattice = (n + 1) * (n + 1) * (n + 1);
    int64_t shell = 6 * n * n + 2;

    SN_TRY(sn_owned_mesh_create(context, SINEW_ELEMENT_HEX8, lattice + shell * b.layers,
                                n * n * n + 6 * n * n * b.layers, false, hexes));
    b.shell = (int32_t)shell;
    b.surface = sn_allocate(context, (size_t)lattice, sizeof *b.surface);

    if (!b.surface) {
        sinew_mesh_destroy(&(*hexes)->view);
        return SINEW_OUT_OF_MEMORY;
    }

    // Number the points of the cube's surface: shells repeat them.
    int32_t next = 0;
    for (int32_t i = 0; i < lattice; i++) {
        int64_t x = i % (n + 1);
        int64_t y = i / (n + 1) % (n + 1);
        int64_t z = i / (n + 1) / (n + 1);
        bool outer = x == 0 || x == n || y == 0 || y == n || z == 0 || z == n;
        b.surface[i] = outer ? next++ : -1;
    }

    SN_ASSERT(next == b.shell);
    compute_ball_points(&b, (*hexes)->points);
    collect_ball_cells(&b, (*hexes)->indices);
    sn_release(context, b.surface, (size_t)lattice, sizeof *b.surface);

    return SINEW_OK;
}
