// Which faces of the surface of a frame body a traction or a pressure loads, and how large they
// are.
//
// The surface of voxels is smoothed, which rounds its edges: corners of its triangles leave the
// planes that a scene selects, and areas are not those of the sides. Each pair of its triangles
// stands for the face of a voxel, however. A face is selected by its centre, or a point half a
// voxel outside of it, and if all selected faces look the same way, a flat side, the loaded area is
// theirs. Surfaces that come from a file or a shape are taken as they are: a triangle is selected
// if its centre is, or all its corners are.
#include "io/scene/build_frames.h"

#include "io/text/json_check.h"

#include <math.h>
#include <string.h>

static bool test_point(const sn_select *where, sn_vec3 p, const int32_t *label, int32_t node) {
    sn_select_node tested = {
        .node = node, .surface = true, .label_count = label ? 1 : 0, .labels = label};
    sn_store3(tested.position, p);
    return sn_select_test(where, &tested);
}

static sn_vec3 corner_of(const sinew_mesh *surface, int32_t triangle, int k) {
    int32_t node = surface->indices[3 * (size_t)triangle + (size_t)k];
    return sn_load3(surface->points + 3 * (size_t)node);
}

static sn_vec3 area_of(const sinew_mesh *surface, int32_t triangle) {
    sn_vec3 a = corner_of(surface, triangle, 0);
    sn_vec3 b = sn_sub(corner_of(surface, triangle, 1), a);
    return sn_scale(0.5, sn_cross(b, sn_sub(corner_of(surface, triangle, 2), a)));
}

static bool test_triangle(const sn_select *where, const sinew_mesh *surface, int32_t triangle) {
    const int32_t *label = surface->labels ? &surface->labels[triangle] : NULL;
    sn_vec3 sum = {0, 0, 0};
    bool all = true;
    for (int k = 0; k < 3; k++) {
        int32_t node = surface->indices[3 * (size_t)triangle + (size_t)k];
        sn_vec3 p = corner_of(surface, triangle, k);
        sum = sn_add(sum, p);
        all = all && test_point(where, p, label, node);
    }
    return all || test_point(where, sn_scale(1.0 / 3, sum), label, -1);
}

// The side of a voxel that a pair of triangles stands for: 0 to 5 for -x, +x, -y, +y, -z, +z.
static int side_of(const sinew_mesh *net, int32_t quad) {
    double n[3];
    sn_store3(n, sn_add(area_of(net, 2 * quad), area_of(net, 2 * quad + 1)));
    int axis = 0;
    for (int k = 1; k < 3; k++) {
        axis = fabs(n[k]) > fabs(n[axis]) ? k : axis;
    }
    return 2 * axis + (n[axis] > 0);
}

static bool test_face(const sn_select *where, const sinew_mesh *net, int32_t quad,
                      const double spacing[3]) {
    int side = side_of(net, quad);
    double out[3] = {0, 0, 0};
    out[side / 2] = side % 2 ? 0.5 * spacing[side / 2] : -0.5 * spacing[side / 2];

    sn_vec3 sum = {0, 0, 0};
    for (int k = 0; k < 6; k++) {
        sum = sn_add(sum, corner_of(net, 2 * quad + k / 3, k % 3));
    }
    sn_vec3 center = sn_scale(1.0 / 6, sum);
    const int32_t *label = net->labels ? &net->labels[2 * (size_t)quad] : NULL;
    return test_point(where, center, label, -1) ||
           test_point(where, sn_add(center, sn_load3(out)), label, -1);
}

// The area of the picked faces of voxels if they are one flat side, else 0.
static double flat_area(const sinew_mesh *net, const sn_picked *picked, const double spacing[3]) {
    double total = 0;
    int first = side_of(net, picked->nodes[0] / 2);
    for (int32_t i = 0; i < picked->count; i++) {
        int side = side_of(net, picked->nodes[i] / 2);
        if (side != first) {
            return 0;
        }
        int axis = side / 2;
        total += 0.5 * spacing[(axis + 1) % 3] * spacing[(axis + 2) % 3];
    }
    return total;
}

// Areas of the triangles, as a sum and as a vector.
static void sum_areas(const sinew_mesh *surface, const sn_picked *picked, double *sum,
                      sn_vec3 *vector) {
    *sum = 0;
    *vector = sn_v3(0, 0, 0);
    for (int32_t i = 0; i < picked->count; i++) {
        sn_vec3 area = area_of(surface, picked->nodes[i]);
        *sum += sn_length(area);
        *vector = sn_add(*vector, area);
    }
}

static void pick_triangles(const sn_scene_member *member, const sn_scene_load *load,
                           const sinew_mesh *net, const double spacing[3], sn_picked *picked) {
    const sinew_mesh *surface = member->surface.mesh;
    for (int32_t e = 0; e < surface->element_count; e++) {
        bool inside = net ? test_face(&load->where, net, e / 2, spacing)
                          : test_triangle(&load->where, surface, e);
        if (inside) {
            picked->nodes[picked->count++] = e;
        }
    }
}

sinew_status sn_builder_pick_area(sn_builder *b, sn_scene_member *member, int32_t index,
                                  const sinew_voxels *voxels, const sinew_mesh *net) {
    const sn_scene_load *load = &member->scene->loads[index];
    const sinew_mesh *surface = member->surface.mesh;
    sn_picked *picked = &member->loads[index];

    // The triangles of the surface that the selection contains.
    picked->nodes = SN_PUSH(&b->world->arena, int32_t, surface->element_count);
    SN_TRY(sn_arena_status(&b->world->arena));
    double spacing[3];
    sinew_voxels_get_grid(voxels, NULL, spacing, NULL);
    pick_triangles(member, load, net, spacing, picked);
    if (picked->count == 0) {
        sn_json_mistake(b->mistakes, load->where.json,
                        "no face of the body's surface is here, so nothing is loaded");
        return SINEW_INVALID_DATA;
    }

    // The smooth surface of a flat side has another area than the side: scale to the side's.
    double sum;
    sn_vec3 vector;
    sum_areas(surface, picked, &sum, &vector);
    picked->area = sum;
    picked->factor = 1;

    double flat = net ? flat_area(net, picked, spacing) : 0;
    if (flat > 0) {
        picked->area = flat;
        picked->factor = flat / (load->kind == SN_LOAD_PRESSURE ? sn_length(vector) : sum);
    }
    return SINEW_OK;
}
