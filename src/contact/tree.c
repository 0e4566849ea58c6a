// Trees, and the vertices around which a surface cannot fold over.
//
// The star of a vertex (the triangles around it, a closed fan) is calm if a direction d exists with
// N . d > 0 for the area vectors N of all its triangles, wherever in their boxes the corners are.
// Then the star projects along d without overlap: its triangles are oriented alike and wind once
// around the vertex, now (or they would intersect) and, since the orientation never changes, for
// ever. So no two features of a calm star meet, except where they are joined.
//
// With corners c_i + e_i, |e_i| <= r_i, u = c_1 - c_0, w = c_2 - c_0:
//
//   |N - u x w| <= |u| (r_0 + r_2) + |w| (r_0 + r_1) + (r_0 + r_1) (r_0 + r_2)
#include "contact/tree.h"

sinew_status sn_contact_tree_build(sn_arena *arena, const sn_contact_shape *shape,
                                   const double *rest, const sn_quick_box *outer,
                                   const sn_quick_box *inner, sn_contact_tree *tree) {
    int32_t count = shape->triangle_count;
    tree->leaves = SN_PUSH(arena, sn_contact_leaf, count);
    tree->calm = SN_PUSH(arena, uint8_t, shape->vertex_count);
    tree->areas = SN_PUSH(arena, double, 4 * (size_t)count);
    tree->bunch = SN_PUSH(arena, int32_t, count);
    tree->outer.vertices = outer;
    tree->inner.vertices = inner;
    for (int i = 0; i < 2; i++) {
        sn_contact_fit *fit = i ? &tree->inner : &tree->outer;
        fit->triangles = SN_PUSH(arena, sn_quick_box, count);
        fit->nodes = SN_PUSH(arena, sn_quick_box, count);
    }

    // The form of the tree from the boxes at rest.
    sn_arena scratch = sn_arena_create(arena->context);
    sn_box *boxes = SN_PUSH(&scratch, sn_box, count);
    sinew_status status = arena->failed || !boxes ? SINEW_OUT_OF_MEMORY : SINEW_OK;
    if (status == SINEW_OK) {
        for (int32_t t = 0; t < count; t++) {
            boxes[t] = sn_box_empty();
            for (int k = 0; k < 3; k++) {
                int32_t vertex = sn_at3(shape->triangles, t)[k];
                boxes[t] = sn_box_with_point(boxes[t], sn_load3(sn_at3(rest, vertex)));
            }
        }
        status = sn_bvh_build(arena, boxes, count, &tree->bvh);
    }
    sn_arena_destroy(&scratch);
    SN_TRY(status);

    for (int32_t i = 0; i < count; i++) {
        int32_t t = tree->bvh.items[i];
        tree->leaves[i] = (sn_contact_leaf){.triangle = t, .owns = shape->owns[t]};
        for (int k = 0; k < 3; k++) {
            tree->leaves[i].corner[k] = sn_at3(shape->triangles, t)[k];
            tree->leaves[i].edge[k] = sn_at3(shape->triangle_edges, t)[k];
        }
    }

    // Nodes above a bunch have more triangles; those below one are never visited.
    for (int32_t n = 0; n < tree->bvh.node_count; n++) {
        const sn_bvh_node *node = &tree->bvh.nodes[n];
        bool small = node->last - node->first <= SN_CONTACT_BUNCH;
        tree->bunch[n] = small ? tree->bunch_count++ : -1;
    }
    tree->outer.bunches = SN_PUSH(arena, sn_contact_bunch, tree->bunch_count);
    tree->inner.bunches = SN_PUSH(arena, sn_contact_bunch, tree->bunch_count);
    return sn_arena_status(arena);
}

static void fill_bunch(sn_contact_bunch *bunch, const sn_quick_box *boxes, int32_t count) {
    const sn_quick_box empty = sn_quick_box_empty();
    for (int32_t i = 0; i < SN_CONTACT_BUNCH; i++) {
        const sn_quick_box *box = i < count ? &boxes[i] : &empty;
        for (int k = 0; k < 3; k++) {
            bunch->lower[k][i] = box->lower[k];
            bunch->upper[k][i] = box->upper[k];
        }
    }
}

void sn_contact_tree_fit(const sn_contact_tree *tree, const sn_contact_fit *fit) {
    const sn_bvh *bvh = &tree->bvh;

    // Boxes of the triangles from those of their corners.
    for (int32_t i = 0; i < bvh->item_count; i++) {
        const int32_t *corner = tree->leaves[i].corner;
        sn_quick_box two = sn_quick_box_union(&fit->vertices[corner[0]], &fit->vertices[corner[1]]);
        fit->triangles[i] = sn_quick_box_union(&two, &fit->vertices[corner[2]]);
    }

    // Children have higher numbers than their parents, so one pass upwards is enough.
    for (int32_t n = bvh->node_count - 1; n >= 0; n--) {
        const sn_bvh_node *node = &bvh->nodes[n];
        if (tree->bunch[n] >= 0) {
            fill_bunch(&fit->bunches[tree->bunch[n]], &fit->triangles[node->first],
                       node->last - node->first);
        }
        if (node->right) {
            fit->nodes[n] = sn_quick_box_union(&fit->nodes[n + 1], &fit->nodes[node->right]);
            continue;
        }

        sn_quick_box box = fit->triangles[node->first];
        for (int32_t i = node->first + 1; i < node->last; i++) {
            box = sn_quick_box_union(&box, &fit->triangles[i]);
        }
        fit->nodes[n] = box;
    }
}

// The area vector of a triangle for the centres of its corners' boxes, and a bound of its error.
static sn_vec3 bounded_area(const sn_box *boxes, const int32_t *corner, double *error) {
    sn_vec3 center[3];
    double radius[3];
    for (int k = 0; k < 3; k++) {
        center[k] = sn_box_center(boxes[corner[k]]);
        radius[k] = 0.5 * sn_box_diagonal(boxes[corner[k]]);
    }

    sn_vec3 u = sn_sub(center[1], center[0]);
    sn_vec3 w = sn_sub(center[2], center[0]);
    double ru = radius[0] + radius[1];
    double rw = radius[0] + radius[2];
    *error = sn_length(u) * rw + sn_length(w) * ru + ru * rw;
    return sn_cross(u, w);
}

void sn_contact_tree_calm(const sn_contact_tree *tree, const sn_contact_shape *shape,
                          const sn_box *boxes) {
    for (int32_t t = 0; t < shape->triangle_count; t++) {
        double *area = tree->areas + 4 * (size_t)t;
        sn_store3(area, bounded_area(boxes, sn_at3(shape->triangles, t), &area[3]));
    }

    for (int32_t v = 0; v < shape->vertex_count; v++) {
        const int32_t *slot = shape->fans.items + shape->fans.offsets[v];
        int32_t count = shape->fans.offsets[v + 1] - shape->fans.offsets[v];
        sn_vec3 sum = {0, 0, 0};
        for (int32_t i = 0; i < count; i++) {
            sum = sn_add(sum, sn_load3(tree->areas + 4 * (size_t)(slot[i] / 3)));
        }

        bool calm = shape->disk[v];
        double length = 1.000001 * sn_length(sum); // a little more, for rounding
        for (int32_t i = 0; i < count; i++) {
            const double *area = tree->areas + 4 * (size_t)(slot[i] / 3);
            calm = calm && sn_dot(sn_load3(area), sum) > area[3] * length;
        }
        tree->calm[v] = calm;
    }
}
