// Generalised winding numbers: local triangles by their solid angles, remote ones through the
// expansion of their node.
//
// The winding number at the origin is the integral of n . x / |x|^3 over the surface, divided by 4
// pi. About a node's centre r, with x = r + d, to third order (Barill et al. 2018):
//
//   n . r / |r|^3
//   + d ⊗ n : (I / |r|^3 - 3 r r' / |r|^5)
//   + d ⊗ d ⊗ n : (-3 (I ⊗ r, symmetrised) / |r|^5 + 15 r ⊗ r ⊗ r / |r|^7) / 2
//
// O(log n) per query; the expansions cost O(n log n) once.
#include "geom/search/search.h"

static sn_vec3 area_normal(const sn_vec3 p[3]) {
    return sn_scale(0.5, sn_cross(sn_sub(p[1], p[0]), sn_sub(p[2], p[0])));
}

// Adds the integral of d ⊗ d ⊗ n, where D is that of d ⊗ d over the triangle for unit area and n
// its area normal.
static void add_third_order(sn_far_field *field, sn_mat3 D, sn_vec3 n) {
    sn_vec3 Dn = sn_mat3_apply(D, n);
    field->trace = sn_add(field->trace, sn_madd(sn_scale(2, Dn), sn_mat3_trace(D), n));
    const double(*d)[3] = (const double(*)[3])D.m;

    const double cubic[10] = {d[0][0] * n.x,
                              d[1][1] * n.y,
                              d[2][2] * n.z,
                              d[0][0] * n.y + 2 * d[0][1] * n.x,
                              d[0][0] * n.z + 2 * d[0][2] * n.x,
                              d[1][1] * n.x + 2 * d[0][1] * n.y,
                              d[1][1] * n.z + 2 * d[1][2] * n.y,
                              d[2][2] * n.x + 2 * d[0][2] * n.z,
                              d[2][2] * n.y + 2 * d[1][2] * n.z,
                              2 * (d[0][1] * n.z + d[1][2] * n.x + d[0][2] * n.y)};

    for (int i = 0; i < 10; i++) {
        field->cubic[i] += cubic[i];
    }
}

static sn_far_field compute_far_field(const sn_triangle_tree *tree, const sn_bvh_node *node) {
    // The centre: mean of the triangles, weighted by area.
    sn_far_field field = {.center = sn_v3(0, 0, 0)};
    double area = 0;
    for (int32_t i = node->first; i < node->last; i++) {
        sn_vec3 p[3];
        sn_triangle_tree_corners(tree, tree->bvh.items[i], p);
        double size = sn_length(area_normal(p));
        area += size;
        field.center = sn_madd(field.center, size / 3, sn_add(p[0], sn_add(p[1], p[2])));
    }

    field.center = area > 0 ? sn_scale(1 / area, field.center) : sn_box_center(node->box);

    // Moments about it, integrated exactly over each triangle.
    for (int32_t i = node->first; i < node->last; i++) {
        sn_vec3 p[3];
        sn_vec3 sum = sn_v3(0, 0, 0);

        sn_triangle_tree_corners(tree, tree->bvh.items[i], p);
        sn_vec3 n = area_normal(p);
        sn_mat3 squares = {0};

        for (int k = 0; k < 3; k++) {
            sn_vec3 d = sn_sub(p[k], field.center);
            field.radius = fmax(field.radius, sn_length(d));
            squares = sn_mat3_add(squares, sn_outer(d, d));
            sum = sn_add(sum, d);
        }

        field.area = sn_add(field.area, n);
        field.moment = sn_mat3_add(field.moment, sn_outer(sn_scale(1.0 / 3, sum), n));
        add_third_order(&field, sn_mat3_scale(1.0 / 12, sn_mat3_add(squares, sn_outer(sum, sum))),
                        n);
    }

    return field;
}

sinew_status sn_far_fields_build(sn_arena *arena, sn_triangle_tree *tree) {
    tree->far_fields = SN_PUSH(arena, sn_far_field, tree->bvh.node_count);
    SN_TRY(sn_arena_status(arena));
    for (int32_t n = 0; n < tree->bvh.node_count; n++) {
        tree->far_fields[n] = compute_far_field(tree, &tree->bvh.nodes[n]);
    }
    return SINEW_OK;
}

double sn_solid_angle(sn_vec3 a, sn_vec3 b, sn_vec3 c) {
    double la = sn_length(a);
    double lb = sn_length(b);
    double lc = sn_length(c);
    double det = sn_dot(a, sn_cross(b, c));
    double cosine = la * lb * lc + sn_dot(a, b) * lc + sn_dot(b, c) * la + sn_dot(c, a) * lb;
    return det == 0 ? 0 : 2 * atan2(det, cosine);
}

static double remote_solid_angle(const sn_far_field *field, sn_vec3 r) {
    SN_ASSERT(sn_dot(r, r) > 0); // farther than the radius
    double r2 = sn_dot(r, r);
    double r3 = r2 * sqrt(r2);
    double r5 = r3 * r2;
    double first = sn_dot(field->area, r) / r3;
    double second =
        sn_mat3_trace(field->moment) / r3 - 3 * sn_dot(r, sn_mat3_apply(field->moment, r)) / r5;
    const double *c = field->cubic;
    double cubic = r.x * r.x * (c[0] * r.x + c[3] * r.y + c[4] * r.z) +
                   r.y * r.y * (c[1] * r.y + c[5] * r.x + c[6] * r.z) +
                   r.z * r.z * (c[2] * r.z + c[7] * r.x + c[8] * r.y) + c[9] * r.x * r.y * r.z;
    double third = -1.5 * sn_dot(field->trace, r) / r5 + 7.5 * cubic / (r5 * r2);

    return first + second + third;
}

double sn_triangle_tree_winding(const sn_triangle_tree *tree, sn_vec3 p, double accuracy) {
    int32_t stack[SN_BVH_STACK], depth = 0;
    double sum = 0;
    if (tree->bvh.node_count > 0) {
        stack[depth++] = 0;
    }

    // Remote nodes by their expansion, others by descending to the triangles.
    while (depth > 0) {
        int32_t n = stack[--depth];
        const sn_bvh_node *node = &tree->bvh.nodes[n];
        const sn_far_field *field = &tree->far_fields[n];
        sn_vec3 r = sn_sub(field->center, p);

        if (accuracy > 0 && sn_length(r) > accuracy * field->radius) {
            sum += remote_solid_angle(field, r);
        } else if (node->right) {
            SN_ASSERT(depth + 2 <= SN_BVH_STACK);
            stack[depth++] = node->right;
            stack[depth++] = n + 1;
        } else {
            for (int32_t i = node->first; i < node->last; i++) {
                sn_vec3 corner[3];
                sn_triangle_tree_corners(tree, tree->bvh.items[i], corner);
                sum += sn_solid_angle(sn_sub(corner[0], p), sn_sub(corner[1], p),
                                      sn_sub(corner[2], p));
            }
        }
    }

    return sum / (4 * 3.14159265358979323846);
}
