// Tets from the lattice, by stencils (Labelle and Shewchuk 2007, figure 3).
//
// A lattice tet joins two long edges of different kinds: two neighbouring centres, and an edge of
// the face between their cells. Its corners are inside (P), on the surface (Z) or outside (N).
// Without N it is kept whole. With one P it shrinks to a tet. Otherwise a pyramid or a prism
// remains, whose quadrilaterals lie in faces PPN and are cut so that both neighbours agree: through
// the cut on the long edge if one of the two cut edges is long, otherwise through the even one of
// the two P.
#include "geom/tetrahedralize/lattice.h"

typedef struct filler {
    const sn_lattice *lattice;
    sinew_context *context;
    int32_t *tets; // corners: lattice points, or 2 cell_count + cut
    size_t capacity, count;
    sinew_status status;
} filler;

static sn_vec3 corner_position(const sn_lattice *lattice, int32_t corner) {
    int32_t cut = corner - 2 * lattice->cell_count;
    return cut < 0 ? sn_lattice_point(lattice, corner) : sn_load3(sn_at3(lattice->points, cut));
}

static void add_tet(filler *f, int32_t a, int32_t b, int32_t c, int32_t d) {
    if (f->status == SINEW_OK) {
        f->status = sn_grow(f->context, (void **)&f->tets, &f->capacity, f->count, f->count + 1,
                            4 * sizeof *f->tets);
    }

    if (f->status != SINEW_OK) {
        return;
    }

    // Orient the tet so that its volume is positive.
    const sn_lattice *lattice = f->lattice;
    bool positive = sn_tet_volume6(corner_position(lattice, a), corner_position(lattice, b),
                                   corner_position(lattice, c), corner_position(lattice, d)) > 0;
    int32_t *tet = f->tets + 4 * f->count++;

    tet[0] = a;
    tet[1] = positive ? b : c;
    tet[2] = positive ? c : b;
    tet[3] = d;
}

static int32_t cut_corner(const sn_lattice *lattice, int32_t inside, int32_t outside) {
    SN_ASSERT(lattice->signs[inside] > 0 && lattice->signs[outside] < 0);
    return 2 * lattice->cell_count + sn_lattice_cut_between(lattice, inside, outside);
}

// Whether the quadrilateral p, q, cut(q, n), cut(p, n) is cut from p to cut(q, n), not from q to
// cut(p, n).
static bool cut_from_first(const sn_lattice *lattice, int32_t p, int32_t q, int32_t n) {
    bool long_p = p % 2 == n % 2;
    bool long_q = q % 2 == n % 2;
    SN_ASSERT(!long_p || !long_q);
    if (long_p != long_q) {
        return long_q;
    }

    return sn_lattice_parity(lattice, p) == 0;
}

// A prism between the triangles A and B. across[i] says whether the side A_i A_i+1 B_i+1 B_i is cut
// from A_i to B_i+1. Some corner is on two of these diagonals unless they form a cycle: the prism
// is the cone from it over the faces that do not contain it.
static void add_prism(filler *f, const int32_t A[3], const int32_t B[3], const bool across[3]) {
    for (int i = 0; i < 3; i++) {
        int next = (i + 1) % 3;
        int last = (i + 2) % 3;
        bool from_A = across[i] && !across[last];
        bool from_B = !across[i] && across[last];

        if (!from_A && !from_B) {
            continue;
        }

        // The cone from the apex over the triangle at the other end.
        const int32_t *opposite = from_A ? B : A;
        int32_t apex = from_A ? A[i] : B[i];

        add_tet(f, apex, opposite[0], opposite[1], opposite[2]);

        // The side that does not contain the apex, from A_next to B_last or from B_next to A_last.
        add_tet(f, apex, A[next], A[last], across[next] ? B[last] : B[next]);
        add_tet(f, apex, B[next], B[last], across[next] ? A[next] : A[last]);

        return;
    }

    SN_ASSERT(false && "the diagonals run around the prism");
}

static double corner_distance(const sn_lattice *lattice, int32_t a, int32_t b) {
    return sn_distance(corner_position(lattice, a), corner_position(lattice, b));
}

// Two inside, two outside: a prism from one inside corner with its cuts to the other with its own.
static void add_wedge(filler *f, const int32_t P[2], const int32_t N[2]) {
    const sn_lattice *lattice = f->lattice;
    int32_t A[3] = {P[0], cut_corner(lattice, P[0], N[0]), cut_corner(lattice, P[0], N[1])};
    int32_t B[3] = {P[1], cut_corner(lattice, P[1], N[0]), cut_corner(lattice, P[1], N[1])};
    bool first = cut_from_first(lattice, P[0], P[1], N[0]);
    bool second = cut_from_first(lattice, P[0], P[1], N[1]);

    // The side of the four cuts is the surface, so its diagonal is free: the shorter one, unless
    // the diagonals would then form a cycle.
    bool shorter = corner_distance(lattice, A[1], B[2]) < corner_distance(lattice, B[1], A[2]);
    bool across[3] = {first, first == second ? shorter : second, !second};

    add_prism(f, A, B, across);
}

static void add_pyramid(filler *f, const int32_t P[2], int32_t n, int32_t apex) {
    const sn_lattice *lattice = f->lattice;
    int32_t cuts[2] = {cut_corner(lattice, P[0], n), cut_corner(lattice, P[1], n)};
    int first = cut_from_first(lattice, P[0], P[1], n) ? 0 : 1;
    add_tet(f, P[first], P[1 - first], cuts[1 - first], apex);
    add_tet(f, P[first], cuts[1 - first], cuts[first], apex);
}

static void add_whole_prism(filler *f, const int32_t P[3], int32_t n) {
    int32_t cuts[3];
    bool across[3];
    for (int i = 0; i < 3; i++) {
        cuts[i] = cut_corner(f->lattice, P[i], n);
        across[i] = cut_from_first(f->lattice, P[i], P[(i + 1) % 3], n);
    }

    add_prism(f, P, cuts, across);
}

static void fill_lattice_tet(filler *f, const int32_t points[4]) {
    // Sort the corners: inside (P), on the surface (Z), outside (N).
    int32_t P[4], Z[4], N[4], p = 0, z = 0, n = 0;
    for (int i = 0; i < 4; i++) {
        int8_t sign = f->lattice->signs[points[i]];
        if (sign > 0) {
            P[p++] = points[i];
        }
        if (sign == 0) {
            Z[z++] = points[i];
        }
        if (sign < 0) {
            N[n++] = points[i];
        }
    }

    SN_ASSERT(p + z + n == 4);
    if (p == 0) {
        return;
    }

    // Choose the stencil.
    if (n == 0) {
        add_tet(f, points[0], points[1], points[2], points[3]);
    } else if (p == 1) {
        int32_t corners[3], count = 0;
        for (int i = 0; i < z; i++) {
            corners[count++] = Z[i];
        }

        for (int i = 0; i < n; i++) {
            corners[count++] = cut_corner(f->lattice, P[0], N[i]);
        }

        add_tet(f, P[0], corners[0], corners[1], corners[2]);
    } else if (p == 2 && n == 1) {
        SN_ASSERT(z == 1);
        add_pyramid(f, P, N[0], Z[0]);
    } else if (p == 2) {
        add_wedge(f, P, N);
    } else {
        SN_ASSERT(p == 3 && n == 1);
        add_whole_prism(f, P, N[0]);
    }
}

// The twelve tets that a cell owns: around the edges between its centre and the next ones.
static void fill_cell(filler *f, int32_t cell) {
    const sn_lattice *lattice = f->lattice;
    for (int axis = 0; axis < 3; axis++) {
        int32_t next = cell + lattice->strides[axis];
        int32_t u = lattice->strides[(axis + 1) % 3];
        int32_t v = lattice->strides[(axis + 2) % 3];
        const int32_t ring[4] = {next, next + u, next + u + v, next + v};

        for (int i = 0; i < 4; i++) {
            const int32_t points[4] = {2 * cell + 1, 2 * next + 1, 2 * ring[i],
                                       2 * ring[(i + 1) % 4]};
            fill_lattice_tet(f, points);
        }
    }
}

static sinew_status fill_cells(filler *f) {
    const sn_lattice *lattice = f->lattice;
    int32_t last = lattice->cell_count - lattice->corner_stride[7];
    for (int32_t cell = 0; cell < last && f->status == SINEW_OK; cell++) {
        fill_cell(f, cell);
    }
    return f->status;
}

// Replaces the corners by nodes, numbered in the order of first use, and writes their positions.
static sinew_status number_nodes(const filler *f, int32_t *numbers, sn_owned_mesh **tets) {
    int32_t nodes = 0;
    for (size_t i = 0; i < 4 * f->count; i++) {
        int32_t *number = &numbers[f->tets[i]];
        if (*number == 0) {
            *number = ++nodes;
        }
    }

    SN_TRY(sn_owned_mesh_create(f->context, SINEW_ELEMENT_TET4, nodes, (int64_t)f->count, false,
                                tets));
    for (size_t i = 0; i < 4 * f->count; i++) {
        int32_t node = numbers[f->tets[i]] - 1;
        (*tets)->indices[i] = node;
        sn_store3(sn_at3((*tets)->points, node), corner_position(f->lattice, f->tets[i]));
    }

    return SINEW_OK;
}

sinew_status sn_lattice_fill(sinew_context *context, const sn_lattice *lattice,
                             sn_owned_mesh **tets) {
    filler f = {.lattice = lattice, .context = context};
    size_t corners = 2 * (size_t)lattice->cell_count + (size_t)lattice->cut_count;
    int32_t *numbers = sn_allocate(context, corners, sizeof *numbers);
    sinew_status status = numbers ? fill_cells(&f) : SINEW_OUT_OF_MEMORY;

    if (status == SINEW_OK && f.count == 0) {
        status = sn_fail(context, SINEW_INVALID_DATA,
                         "nothing lies inside the surface at a cell size of %g m: it is open, or "
                         "too thin for that size",
                         lattice->h);
    }

    if (status == SINEW_OK) {
        status = number_nodes(&f, numbers, tets);
    }

    sn_release(context, f.tets, f.capacity, 4 * sizeof *f.tets);
    sn_release(context, numbers, corners, sizeof *numbers);

    return status;
}
