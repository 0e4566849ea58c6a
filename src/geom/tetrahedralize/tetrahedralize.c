// Fills a closed surface with tets: repairs the surface, chooses a cell size, fills the lattice and
// measures the result.
#include "geom/mesh/mesh.h"
#include "geom/tetrahedralize/lattice.h"
#include "geom/repair/repair.h"

#include "base/threads.h"

#include <string.h>

sinew_tetrahedralize_def sinew_default_tetrahedralize_def(void) {
    return (sinew_tetrahedralize_def){
        .tet_count = 10000, .element = SINEW_ELEMENT_TET4, .filled = SN_DEF_FILLED};
}

static sinew_status check_def(sinew_context *context, const sinew_mesh *surface,
                              const sinew_tetrahedralize_def *def) {
    SN_TRY(SN_CHECK_DEF(context, def, "sinew_default_tetrahedralize_def"));

    // The size or the number of tets, and their kind.
    if (!(def->cell_size >= 0) || !isfinite(def->cell_size)) {
        return sn_fail(context, SINEW_INVALID_ARGUMENT,
                       "cell_size is %g m; it must be finite and at least 0", def->cell_size);
    }

    if (def->cell_size == 0 && (def->tet_count < 1 || def->tet_count > 50000000)) {
        return sn_fail(context, SINEW_INVALID_ARGUMENT, "tet_count is %d; valid are 1 to 50000000",
                       def->tet_count);
    }

    if (def->element != SINEW_ELEMENT_TET4 && def->element != SINEW_ELEMENT_TET10) {
        return sn_fail(context, SINEW_INVALID_ARGUMENT,
                       "the requested element kind is %d; valid are tet4 and tet10",
                       (int)def->element);
    }

    // The surface.
    SN_TRY(sn_check_arrays(context, surface));
    if (surface->element != SINEW_ELEMENT_TRIANGLE) {
        return sn_fail(context, SINEW_INVALID_ARGUMENT,
                       "the surface is made of %s; it must be triangles",
                       sn_element_info_of(surface->element)->name);
    }

    return SINEW_OK;
}

// The edge length of the lattice's cubes for a number of tets: 12 per cube inside, and about 2 per
// square of the surface, where cut ones are split (0.9 to 4.2 measured on cubes, spheres, tori and
// bars). The number decreases with h: found by bisection.
static double estimate_cell_size(const sn_repaired_surface *surface, double tets) {
    SN_ASSERT(surface->volume > 0 && tets >= 1);
    double low = 0;
    double high = 10 * cbrt(surface->volume) + 10 * sqrt(surface->area);

    for (int step = 0; step < 60; step++) {
        double h = (low + high) / 2;
        if (12 * surface->volume / (h * h * h) + 2 * surface->area / (h * h) > tets) {
            low = h;
        } else {
            high = h;
        }
    }

    return high;
}

static sinew_status check_repaired(sinew_context *context, const sn_repaired_surface *surface,
                                   sn_box box, double h) {
    if (surface->triangle_count == 0 || !(surface->volume > 0) || !isfinite(surface->volume)) {
        return sn_fail(context, SINEW_INVALID_DATA,
                       "the surface encloses a volume of %g m3 with %d usable triangles and %d "
                       "open edges; it must be closed and the volume above 0",
                       surface->volume, surface->triangle_count, surface->open_edges);
    }

    double cells = sn_lattice_cell_count(box, h);
    if (!(cells <= SN_LATTICE_MAX_CELLS)) {
        return sn_fail(context, SINEW_INVALID_ARGUMENT,
                       "a cell size of %g m needs a lattice of %g cells; at most %d, so choose a "
                       "larger size or fewer tets",
                       h, cells, SN_LATTICE_MAX_CELLS);
    }

    return SINEW_OK;
}

// Keeps only the elements of the largest part, by volume, with their nodes. Parts that touch at a
// node or an edge are separate: they would be connected as by a hinge.
static sinew_status keep_largest(sn_arena *scratch, sn_owned_mesh **tets) {
    const sinew_mesh *mesh = &(*tets)->view;
    SN_ASSERT(mesh->element == SINEW_ELEMENT_TET4);

    int32_t *parts, count, largest = 0, kept = 0, nodes = 0;
    SN_TRY(sn_build_face_components(scratch, mesh, &parts, &count));
    if (count == 1) {
        return SINEW_OK;
    }

    double *volumes = SN_PUSH(scratch, double, count);
    int32_t *numbers = SN_PUSH(scratch, int32_t, mesh->point_count);

    SN_TRY(sn_arena_status(scratch));

    // The part of largest volume.
    for (int32_t e = 0; e < mesh->element_count; e++) {
        volumes[parts[e]] += sn_element_volume(mesh, e);
    }

    for (int32_t i = 1; i < count; i++) {
        largest = volumes[i] > volumes[largest] ? i : largest;
    }

    // Number its nodes in the order of first use.
    for (int32_t e = 0; e < mesh->element_count; e++) {
        if (parts[e] != largest) {
            continue;
        }

        kept++;
        for (int32_t i = 0; i < 4; i++) {
            int32_t *number = &numbers[sn_mesh_nodes(mesh, e)[i]];
            if (*number == 0) {
                *number = ++nodes;
            }
        }
    }

    // Copy it.
    sn_owned_mesh *made;
    SN_TRY(sn_owned_mesh_create(scratch->context, SINEW_ELEMENT_TET4, nodes, kept, false, &made));
    for (int32_t e = 0, next = 0; e < mesh->element_count; e++) {
        if (parts[e] != largest) {
            continue;
        }

        for (int32_t i = 0; i < 4; i++, next++) {
            int32_t node = sn_mesh_nodes(mesh, e)[i];
            made->indices[next] = numbers[node] - 1;
            sn_store3(made->points + 3 * (size_t)(numbers[node] - 1), sn_mesh_point(mesh, node));
        }
    }

    sinew_mesh_destroy(&(*tets)->view);
    *tets = made;

    return SINEW_OK;
}

typedef struct distance_job {
    const sn_triangle_tree *tree;
    const double *points;
    double *largest; // of each chunk
} distance_job;

enum { DISTANCE_CHUNK = 256 };

static void distance_chunk(void *data, int32_t begin, int32_t end, int32_t chunk) {
    distance_job *job = data;
    double largest = 0;
    for (int32_t i = begin; i < end; i++) {
        largest = fmax(
            largest, sn_triangle_tree_closest(job->tree, sn_load3(sn_at3(job->points, i)), INFINITY)
                         .distance);
    }

    job->largest[chunk] = largest;
}

// The largest distance of the given surface's points from the tets' surface.
static sinew_status measure_distance(sn_arena *scratch, const sinew_mesh *surface,
                                     const sinew_mesh *tets, double *distance) {
    sn_surface boundary;
    sn_triangle_tree tree;

    SN_TRY(sn_build_surface(scratch, tets, &boundary));

    // The boundary's triangles in terms of the mesh's own points.
    for (int32_t i = 0; i < 3 * boundary.triangle_count; i++) {
        boundary.triangles[i] = boundary.nodes[boundary.triangles[i]];
    }

    SN_TRY(sn_triangle_tree_build(scratch, tets->points, boundary.triangles,
                                  boundary.triangle_count, &tree));

    // Largest distance over fixed chunks of points.
    int32_t chunks = sn_chunk_count(surface->point_count, DISTANCE_CHUNK);
    distance_job job = {&tree, surface->points, SN_PUSH(scratch, double, chunks)};

    SN_TRY(sn_arena_status(scratch));
    sn_parallel_for(scratch->context, surface->point_count, DISTANCE_CHUNK, distance_chunk, &job);
    *distance = 0;

    for (int32_t i = 0; i < chunks; i++) {
        *distance = fmax(*distance, job.largest[i]);
    }

    return SINEW_OK;
}

static sinew_status fill_report(sn_arena *scratch, const sinew_mesh *surface,
                                const sn_repaired_surface *repaired, double h,
                                const sinew_mesh *tets, sinew_tetrahedralize_report *report) {
    *report = (sinew_tetrahedralize_report){.cell_size = h,
                                            .merged_points = repaired->merged_points,
                                            .dropped_triangles = repaired->dropped_triangles,
                                            .flipped_triangles = repaired->flipped_triangles,
                                            .open_edges = repaired->open_edges,
                                            .crowded_edges = repaired->crowded_edges,
                                            .surface_volume = repaired->volume};
    SN_TRY(measure_distance(scratch, surface, tets, &report->surface_distance));

    return sinew_mesh_compute_quality(scratch->context, tets, &report->quality);
}

// Fills a lattice of one cell size and frees its memory.
static sinew_status fill_lattice(sn_arena *scratch, const sn_repaired_surface *repaired,
                                 const sn_triangle_tree *tree, sn_box box, double h,
                                 sn_owned_mesh **tets) {
    SN_TRY(check_repaired(scratch->context, repaired, box, h));
    sn_arena_mark mark = sn_arena_get_mark(scratch);
    sn_lattice lattice;
    bool closed = repaired->open_edges == 0 && repaired->crowded_edges == 0;
    SN_TRY(sn_lattice_build(scratch, tree, closed, box, h, &lattice));
    SN_TRY(sn_lattice_fill(scratch->context, &lattice, tets));
    sn_arena_rewind(scratch, mark);

    return SINEW_OK;
}

// Tries up to three cell sizes until the number of tets is within a tenth of the requested one, and
// keeps the best.
static sinew_status fill_by_count(sn_arena *scratch, const sn_repaired_surface *repaired,
                                  const sn_triangle_tree *tree, sn_box box, double wanted,
                                  double *h, sn_owned_mesh **tets) {
    double trial = estimate_cell_size(repaired, wanted);
    double best = INFINITY;
    for (int trials = 0; trials < 3 && best > log(1.1); trials++) {
        sn_owned_mesh *made;
        SN_TRY(fill_lattice(scratch, repaired, tree, box, trial, &made));

        // Keep the better of the two meshes.
        double surplus = log(made->view.element_count / wanted);
        if (fabs(surplus) < best) {
            if (*tets) {
                sinew_mesh_destroy(&(*tets)->view);
            }
            best = fabs(surplus);
            *h = trial;
            *tets = made;
        } else {
            sinew_mesh_destroy(&made->view);
        }

        // The number of tets grows with h^-3.
        trial *= exp(surplus / 3);
    }

    return SINEW_OK;
}

static sinew_status fill_surface(sn_arena *scratch, const sinew_mesh *surface,
                                 const sinew_tetrahedralize_def *def, sn_repaired_surface *repaired,
                                 double *h, sn_owned_mesh **tets) {
    SN_TRY(sn_report_progress(scratch->context, "repairing the surface", -1));
    SN_TRY(sn_repair_surface(scratch, surface, repaired));
    SN_TRY(sn_report_progress(scratch->context, "filling the surface", -1));
    sn_box box = sn_mesh_box(surface);

    SN_TRY(check_repaired(scratch->context, repaired, box,
                          def->cell_size > 0 ? def->cell_size : INFINITY));

    sn_triangle_tree tree;
    SN_TRY(sn_triangle_tree_build(scratch, repaired->points, repaired->triangles,
                                  repaired->triangle_count, &tree));
    if (def->cell_size == 0) {
        return fill_by_count(scratch, repaired, &tree, box, def->tet_count, h, tets);
    }

    *h = def->cell_size;
    return fill_lattice(scratch, repaired, &tree, box, *h, tets);
}

static sinew_status make_quadratic(sinew_context *context, sn_owned_mesh **tets) {
    sn_owned_mesh *quadratic;
    SN_TRY(sn_add_middle_nodes(context, &(*tets)->view, &quadratic));
    sinew_mesh_destroy(&(*tets)->view);
    *tets = quadratic;
    return SINEW_OK;
}

sinew_status sinew_tetrahedralize(sinew_context *context, const sinew_mesh *surface,
                                  const sinew_tetrahedralize_def *def, sinew_mesh **tets,
                                  sinew_tetrahedralize_report *report) {
    SN_NEED(NULL, context);

    SN_TRY(check_def(context, surface, def));
    sn_arena scratch = sn_arena_create(context);
    sn_repaired_surface repaired;
    sn_owned_mesh *made = NULL;
    double h = 0;
    sinew_status status = fill_surface(&scratch, surface, def, &repaired, &h, &made);

    // What follows the tets themselves.
    if (status == SINEW_OK) {
        status = sn_report_progress(context, "checking the tetrahedra", -1);
    }
    if (status == SINEW_OK && def->largest_component) {
        status = keep_largest(&scratch, &made);
    }
    if (status == SINEW_OK && report) {
        status = fill_report(&scratch, surface, &repaired, h, &made->view, report);
    }
    if (status == SINEW_OK && def->element == SINEW_ELEMENT_TET10) {
        status = make_quadratic(context, &made);
    }

    sn_arena_destroy(&scratch);
    if (status != SINEW_OK) {
        if (made) {
            sinew_mesh_destroy(&made->view);
        }
        return status;
    }

    *tets = &made->view;
    return SINEW_OK;
}
