// The checks of a mesh from outside. Each stops at the first offender and reports it, its value and
// what is valid.
#include "geom/mesh/mesh.h"
#include "base/tuples.h"

#include <string.h>

static sinew_status check_indices(sinew_context *context, const sinew_mesh *mesh) {
    const sn_element_info *info = sn_element_info_of(mesh->element);
    for (int32_t e = 0; e < mesh->element_count; e++) {
        const int32_t *nodes = sn_mesh_nodes(mesh, e);
        for (int32_t i = 0; i < info->nodes; i++) {
            if (nodes[i] < 0 || nodes[i] >= mesh->point_count) {
                return sn_fail(context, SINEW_INVALID_DATA,
                               "element %d names node %d at place %d; valid are 0 to %d", e,
                               nodes[i], i, mesh->point_count - 1);
            }
        }
    }

    return SINEW_OK;
}

sinew_status sn_check_arrays(sinew_context *context, const sinew_mesh *mesh) {
    if (!mesh) {
        return sn_fail(context, SINEW_INVALID_ARGUMENT, "the mesh is NULL");
    }

    // Kind and counts.
    int32_t node_count = sinew_element_node_count(mesh->element);
    if (node_count == 0) {
        return sn_fail(context, SINEW_INVALID_ARGUMENT, "the mesh has the unknown element kind %d",
                       (int)mesh->element);
    }

    if (mesh->point_count < 1 || mesh->element_count < 0 ||
        mesh->element_count > INT32_MAX / node_count) {
        return sn_fail(
            context, SINEW_INVALID_ARGUMENT,
            "the mesh has %d points and %d elements; valid are 1 to %d points and 0 to %d elements",
            mesh->point_count, mesh->element_count, INT32_MAX, INT32_MAX / node_count);
    }

    // Arrays and what is in them.
    if (!mesh->points || (!mesh->indices && mesh->element_count > 0)) {
        return sn_fail(context, SINEW_INVALID_ARGUMENT, "the mesh has no array of %s",
                       mesh->points ? "indices" : "points");
    }

    for (int32_t i = 0; i < mesh->point_count; i++) {
        sn_vec3 p = sn_mesh_point(mesh, i);
        if (!sn_finite3(p)) {
            return sn_fail(context, SINEW_INVALID_DATA,
                           "point %d is (%g, %g, %g); coordinates must be finite", i, p.x, p.y,
                           p.z);
        }
    }

    return check_indices(context, mesh);
}

// The largest distance of an element's corners from the first: the scale below which a volume is
// rounding error.
static double element_size(const sinew_mesh *mesh, int32_t element) {
    const int32_t *nodes = sn_mesh_nodes(mesh, element);
    double size = 0;
    for (int32_t i = 1; i < sn_element_info_of(mesh->element)->corners; i++) {
        size =
            fmax(size, sn_distance(sn_mesh_point(mesh, nodes[0]), sn_mesh_point(mesh, nodes[i])));
    }

    return size;
}

// The index of a local node that repeats an earlier one, or 0.
static int32_t repeated_node(const sinew_mesh *mesh, int32_t element) {
    const int32_t *nodes = sn_mesh_nodes(mesh, element);
    for (int32_t i = 1; i < sn_element_info_of(mesh->element)->nodes; i++) {
        for (int32_t k = 0; k < i; k++) {
            if (nodes[k] == nodes[i]) {
                return i;
            }
        }
    }

    return 0;
}

sinew_status sn_check_volumes(sinew_context *context, const sinew_mesh *mesh) {
    const sn_element_info *info = sn_element_info_of(mesh->element);
    const char *quantity = info->dimension == 3 ? "volume" : "area";
    const char *unit = info->dimension == 3 ? "m3" : "m2";

    // A folded element can have a positive volume: check the Jacobian too.
    for (int32_t e = 0; e < mesh->element_count; e++) {
        double volume = sn_element_volume(mesh, e);
        double jacobian = sn_element_smallest_jacobian(mesh, e);
        double rounding = 1e-14 * pow(element_size(mesh, e), info->dimension);
        int32_t repeated = repeated_node(mesh, e);

        if (repeated > 0) {
            return sn_fail(context, SINEW_INVALID_DATA,
                           "element %d (%s) names node %d twice, the second time at place %d", e,
                           info->name, sn_mesh_nodes(mesh, e)[repeated], repeated);
        }

        if (volume > rounding && jacobian > rounding && isfinite(volume)) {
            continue;
        }

        if (volume > rounding && isfinite(volume)) {
            return sn_fail(context, SINEW_INVALID_DATA,
                           "element %d (%s) is folded: its volume is %g m3, but its smallest "
                           "Jacobian is %g; it must be positive",
                           e, info->name, volume, jacobian);
        }

        return sn_fail(context, SINEW_INVALID_DATA,
                       "element %d (%s) has the %s %g %s; it must be finite and above 0", e,
                       info->name, quantity, volume, unit);
    }

    return SINEW_OK;
}

sinew_status sn_check_used(sinew_context *context, const sinew_mesh *mesh) {
    uint8_t *used = sn_allocate(context, (size_t)mesh->point_count, 1);
    if (!used) {
        return SINEW_OUT_OF_MEMORY;
    }

    size_t count = (size_t)mesh->element_count * (size_t)sn_element_info_of(mesh->element)->nodes;
    for (size_t i = 0; i < count; i++) {
        used[mesh->indices[i]] = 1;
    }

    // The first node without an element, if any.
    const uint8_t *unused = memchr(used, 0, (size_t)mesh->point_count);
    int32_t node = unused ? (int32_t)(unused - used) : -1;

    sn_release(context, used, (size_t)mesh->point_count, 1);
    if (node < 0) {
        return SINEW_OK;
    }

    return sn_fail(context, SINEW_INVALID_DATA,
                   "node %d belongs to no element; remove it or connect it", node);
}

static sinew_status find_repeated(sn_arena *scratch, const sinew_mesh *mesh) {
    const sn_element_info *info = sn_element_info_of(mesh->element);
    int32_t width = info->corners;
    int32_t count = mesh->element_count;
    int32_t *tuples = SN_PUSH(scratch, int32_t, (size_t)count * (size_t)width);
    int32_t *order;

    SN_TRY(sn_arena_status(scratch));

    // Elements with the same set of corners become adjacent.
    for (int32_t e = 0; e < count; e++) {
        int32_t *tuple = tuples + (size_t)e * (size_t)width;
        memcpy(tuple, sn_mesh_nodes(mesh, e), (size_t)width * sizeof *tuple);
        sn_sort_tuple(tuple, width);
    }

    SN_TRY(sn_sort_tuples(scratch, tuples, width, count, mesh->point_count, &order));
    for (int32_t i = 0; i + 1 < count; i++) {
        if (sn_tuple_group_end(tuples, width, order, count, i) > i + 1) {
            return sn_fail(scratch->context, SINEW_INVALID_DATA,
                           "elements %d and %d have the same nodes", order[i], order[i + 1]);
        }
    }

    return SINEW_OK;
}

sinew_status sn_check_distinct(sinew_context *context, const sinew_mesh *mesh) {
    sn_arena scratch = sn_arena_create(context);
    int32_t *neighbors;
    sinew_status status = find_repeated(&scratch, mesh);
    if (status == SINEW_OK) {
        status = sn_build_element_neighbors(&scratch, mesh, &neighbors);
    }

    sn_arena_destroy(&scratch);
    return status;
}

sinew_status sinew_mesh_check(sinew_context *context, const sinew_mesh *mesh) {
    SN_NEED(NULL, context);
    SN_TRY(sn_check_arrays(context, mesh));
    if (mesh->element_count == 0) {
        return sn_fail(context, SINEW_INVALID_DATA, "the mesh has no elements");
    }

    SN_TRY(sn_check_volumes(context, mesh));
    SN_TRY(sn_check_used(context, mesh));

    return sn_check_distinct(context, mesh);
}
