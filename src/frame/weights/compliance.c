// Compliance coordinates: for each axis the potential of a unit flux through the solid along it,
//
//   a(c_x, v) = sum over the faces of the surface of n_x area v,    for every v
//
// with the stiffness as conductivity, relative to that at the surface. In a solid of one material c
// is the rest position, up to a constant; in stiff parts it is nearly constant. Strains of motions
// that are linear in c follow the compliance of the solid as its own strains do under load.
//
// The operator has constants in its kernel, so it is solved with a small leak (conduction.h).
#include "frame/weights/conduction.h"
#include "frame/weights/table.h"

#include <string.h>

enum { LANES = 4, CHUNK = SN_MULTIGRID_CHUNK, MOST_ITERATIONS = 200 };

// Of the energy. Motions need the coordinates to a few digits only.
static const double tolerance = 1e-3;

typedef struct problem {
    const sinew_voxels *voxels;
    sn_conduction *conduction;
    double *x; // LANES for each voxel
} problem;

// Scales the stiffnesses so that their harmonic mean over the surface is 1.
static void scale_conductivity(const sn_shape *shape, double *out) {
    const sinew_voxels *voxels = shape->voxels;
    double sum = 0, faces = 0;
    for (int32_t v = 0; v < voxels->count; v++) {
        for (int d = 0; d < SN_VOXEL_FACES; d++) {
            if (voxels->neighbor[v][d] < 0) {
                sum += 1 / shape->relative_stiffness[v];
                faces++;
            }
        }
    }

    for (int32_t v = 0; v < voxels->count; v++) {
        out[v] = shape->relative_stiffness[v] * (sum / faces);
    }
}

// r = b - A x, where b is the flux through the surface.
static void residual_range(void *data, int32_t begin, int32_t end, int32_t chunk) {
    (void)chunk;
    const problem *p = data;
    const sinew_voxels *voxels = p->voxels;
    const double *h = voxels->spacing;
    double finest = fmin(h[0], fmin(h[1], h[2]));

    for (int32_t v = begin; v < end; v++) {
        const double *x = p->x + (size_t)v * LANES;
        double *r = p->conduction->r + (size_t)v * LANES;
        memset(r, 0, LANES * sizeof *r);

        // A unit flux enters through the surface; inside, neighbours exchange it.
        for (int d = 0; d < SN_VOXEL_FACES; d++) {
            int32_t u = voxels->neighbor[v][d];
            if (u < 0) {
                r[d / 2] += (d & 1 ? 1 : -1) * finest * finest / h[d / 2];
                continue;
            }
            double c = p->conduction->conductance[v][d];
            for (int a = 0; a < LANES; a++) {
                r[a] += c * (p->x[(size_t)u * LANES + (size_t)a] - x[a]);
            }
        }
    }
}

static bool is_uniform(const sinew_voxels *voxels, const double *conductivity) {
    for (int32_t v = 1; v < voxels->count; v++) {
        if (conductivity[v] != conductivity[0]) {
            return false;
        }
    }
    return true;
}

static sinew_status solve(const sn_shape *shape, const double *conductivity, sn_arena *scratch,
                          problem *p) {
    const sinew_voxels *voxels = p->voxels = shape->voxels;
    size_t numbers = (size_t)voxels->count * LANES;
    double length = 0;
    double finest = INFINITY;
    for (int a = 0; a < 3; a++) {
        length = fmax(length, voxels->cells[a] * voxels->spacing[a]);
        finest = fmin(finest, voxels->spacing[a]);
    }

    double leak = 1e-3 * finest * finest / (length * length);
    p->x = SN_PUSH(scratch, double, numbers);
    SN_TRY(sn_arena_status(scratch));

    sn_conduction_def def = {.voxels = voxels,
                             .conductivity = conductivity,
                             .count = voxels->count,
                             .leak = leak,
                             .lanes = LANES};
    SN_TRY(sn_conduction_create(scratch, &def, &p->conduction));
    sn_multigrid_set_lanes(p->conduction->multigrid, LANES);

    // Rest positions are the answer in one material; in several they would begin with large fluxes
    // through the stiff ones. Relative to a voxel, so that nothing is lost to rounding.
    sn_vec3 first = sn_voxel_center(voxels, 0);
    bool uniform = is_uniform(voxels, conductivity);
    for (int32_t v = 0; v < (uniform ? voxels->count : 0); v++) {
        sn_store3(p->x + (size_t)v * LANES, sn_sub(sn_voxel_center(voxels, v), first));
    }

    sn_conduction_report report = {0};
    sn_parallel_for(shape->context, voxels->count, CHUNK, residual_range, p);
    sn_conduction_solve(p->conduction, p->x, SN_CONDUCTION_ENERGY, tolerance, MOST_ITERATIONS,
                        &report);

    // Mean 0.
    double mean[LANES] = {0};
    for (int32_t v = 0; v < voxels->count; v++) {
        for (int a = 0; a < LANES; a++) {
            mean[a] += p->x[(size_t)v * LANES + (size_t)a] / voxels->count;
        }
    }
    for (size_t i = 0; i < numbers; i++) {
        p->x[i] -= mean[i % LANES];
    }

    return SINEW_OK;
}

// The fourth field is 1, so that no row is empty.
static void fill_row(const void *data, int32_t voxel, sn_row *row) {
    const problem *p = data;
    for (int a = 0; a < 3; a++) {
        sn_row_add(row, a, p->x[(size_t)voxel * LANES + (size_t)a]);
    }
    sn_row_add(row, 3, 1);
}

sinew_status sn_shape_build_compliance(sn_shape *shape) {
    SN_ASSERT(sn_shape_is_smooth(shape) && !shape->compliance);
    sn_shape *field = SN_PUSH(&shape->arena, sn_shape, 1);
    double *conductivity = SN_RESERVE(&shape->arena, double, shape->voxels->count);
    SN_TRY(sn_arena_status(&shape->arena));

    // A field of three values on the same voxels, evaluated like weights.
    SN_TRY(sn_shape_create_field(shape, LANES, &shape->arena, field));
    scale_conductivity(shape, conductivity);
    field->conductivity = conductivity;
    field->is_compliance = true;

    // Solve, then store it in a table of its own.
    problem p = {0};
    sn_arena scratch = sn_arena_create(shape->context);
    sinew_status status = solve(shape, conductivity, &scratch, &p);
    if (status == SINEW_OK) {
        status = sn_build_table(field, fill_row, &p);
    }

    sn_arena_destroy(&scratch);
    if (status != SINEW_OK) {
        sn_arena_destroy(&field->arena);
        return status;
    }

    shape->compliance = field;
    return SINEW_OK;
}

typedef struct vertex_job {
    const sn_shape *compliance;
    const double *points;
    double *out;
} vertex_job;

static void look_up_vertices(void *data, int32_t begin, int32_t end, int32_t chunk) {
    (void)chunk;
    const vertex_job *job = data;
    sn_vec3 unused[3];
    for (int32_t i = begin; i < end; i++) {
        sn_shape_compliance_at(job->compliance, sn_load3(sn_at3(job->points, i)),
                               sn_at3(job->out, i), unused);
    }
}

sinew_status sn_shape_compute_vertex_compliance(const sn_shape *shape, sn_arena *arena,
                                                const double *points, sn_vertex_weights *vertices) {
    SN_ASSERT(shape->compliance);
    vertices->compliance = SN_RESERVE(arena, double, 3 * (size_t)vertices->count);
    SN_TRY(sn_arena_status(arena));

    vertex_job job = {shape->compliance, points, vertices->compliance};
    sn_parallel_for(shape->context, vertices->count, 256, look_up_vertices, &job);
    return SINEW_OK;
}

void sn_shape_compliance_at(const sn_shape *compliance, sn_vec3 X, double c[3], sn_vec3 dc[3]) {
    sn_shape_point point;
    sn_shape_at_point(compliance, X, &point);
    for (int a = 0; a < 3; a++) {
        c[a] = 0;
        dc[a] = sn_v3(0, 0, 0);
    }
    for (int32_t k = 0; k < point.count; k++) {
        if (point.node[k] < 3) {
            c[point.node[k]] = point.weight[k];
            dc[point.node[k]] = sn_load3(point.gradient[k]);
        }
    }
}
