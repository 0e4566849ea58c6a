// Mass properties by signed tets from a reference point to the triangles.
//
// For a tet with corners 0, a, b, c and volume V: the integral of x is V s / 4 with s = a + b + c,
// and that of x ⊗ x is V / 20 (a⊗a + b⊗b + c⊗c + s⊗s).
#include "geom/mesh/mesh.h"

// Inertia about the centroid from the second moments about a point at -centroid.
static sn_mat3 compute_inertia(sn_mat3 moment, double volume, sn_vec3 centroid) {
    moment = sn_mat3_sub(moment, sn_mat3_scale(volume, sn_outer(centroid, centroid)));
    return sn_mat3_sub(sn_mat3_scale(sn_mat3_trace(moment), sn_mat3_identity()), moment);
}

sn_mass_properties sn_surface_mass_properties(const double *points, const int32_t *triangles,
                                              int32_t triangle_count) {
    // A reference point inside the surface avoids cancellation if the solid is far from the origin.
    sn_box box = sn_box_empty();

    for (int32_t i = 0; i < 3 * triangle_count; i++) {
        box = sn_box_with_point(box, sn_load3(sn_at3(points, triangles[i])));
    }

    sn_vec3 reference = triangle_count > 0 ? sn_box_center(box) : sn_v3(0, 0, 0);
    sn_vec3 first = sn_v3(0, 0, 0);
    double volume = 0;
    sn_mat3 moment = {0};

    for (int32_t i = 0; i < triangle_count; i++) {
        sn_vec3 p[3];
        sn_vec3 sum = sn_v3(0, 0, 0);
        for (int k = 0; k < 3; k++) {
            p[k] =
                sn_sub(sn_load3(sn_at3(points, triangles[3 * (size_t)i + (size_t)k])), reference);
            sum = sn_add(sum, p[k]);
        }

        double V = sn_dot(p[0], sn_cross(p[1], p[2])) / 6;
        volume += V;
        first = sn_madd(first, V / 4, sum);

        sn_mat3 second = sn_outer(sum, sum);
        for (int k = 0; k < 3; k++) {
            second = sn_mat3_add(second, sn_outer(p[k], p[k]));
        }

        moment = sn_mat3_add(moment, sn_mat3_scale(V / 20, second));
    }

    sn_vec3 centroid = volume != 0 ? sn_scale(1 / volume, first) : sn_v3(0, 0, 0);
    return (sn_mass_properties){volume, sn_add(reference, centroid),
                                compute_inertia(moment, volume, centroid)};
}

sinew_status sn_mesh_mass_properties(sn_arena *scratch, const sinew_mesh *mesh,
                                     sn_mass_properties *properties) {
    SN_ASSERT(mesh->element != SINEW_ELEMENT_TRIANGLE);
    sn_arena_mark mark = sn_arena_get_mark(scratch);
    sn_surface surface;

    SN_TRY(sn_build_surface(scratch, mesh, &surface));
    for (int32_t i = 0; i < 3 * surface.triangle_count; i++) {
        surface.triangles[i] = surface.nodes[surface.triangles[i]];
    }

    *properties =
        sn_surface_mass_properties(mesh->points, surface.triangles, surface.triangle_count);
    sn_arena_rewind(scratch, mark);

    return SINEW_OK;
}
