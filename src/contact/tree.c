// Trees, and the vertices around which a surface cannot fold over.
//
// The star of a vertex (the triangles around it, a closed fan) is calm if a direction d exists with
// N . d > 0 for the area vectors N of all its triangles, wherever in their boxes the corners are.
// Then the star projects along d without overlap: its triangles are oriented alike and wind once
// around the vertex, now (or they would intersect) and, since the orientation never changes, for
// ever. So no two features of a calm star meet, except where they are joined.
#include "contact/tree.h"

sinew_status sn_contact_tree_build(sn_arena *arena, const sn_contact_shape *shape,
                                   const double *rest, const sn_quick_box *outer,
                                   const sn_quick_box *inner, sn_contact_tree *tree) {
    int32_t count = shape->triangle_count;
    tree->leaves = SN_PUSH(arena, sn_contact_leaf, count);
    tree->calm = SN_PUSH(arena, uint8_t, shape->vertex_count);
    tree->areas = SN_PUSH(arena, sn_contact_area, count);
    tree->bunch = SN_PUSH(arena, int32_t, count);
    tree->outer.vertices = outer;
    tree->inner.vertices = inner;
    for (int i = 0; i < 2; i++) {
        sn_contact_fit *fit = i ? &tree->inner : &tree->outer;
        fit->triangles = SN_PUSH(arena, sn_quick_box, count);
        fit->nodes = SN_PUSH(arena, sn_quick_box, count);
        fit->edges = SN_PUSH(arena, sn_quick_box, shape->edge_count);
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

void sn_contact_tree_fit(const sn_contact_tree *tree, const sn_contact_shape *shape,
                         const sn_contact_fit *fit) {
    const sn_bvh *bvh = &tree->bvh;
    for (int32_t e = 0; e < shape->edge_count; e++) {
        const int32_t *ends = shape->edges + 2 * (size_t)e;
        fit->edges[e] = sn_quick_box_union(&fit->vertices[ends[0]], &fit->vertices[ends[1]]);
    }

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

// A triangle whose corners stay in their boxes has the area vector of their centres, A, and
// changes by d_0 x e_0 + d_1 x e_1 + d_2 x e_2 + (d_0 x d_1 + d_1 x d_2 + d_2 x d_0), where e_i is
// the edge opposite to corner i and d_i, the motion of that corner, at most half its box, a_i.
// Along n that is at most
//
//   sum_i |n x e_i| . a_i + 4 (|n_x| a_y a_z + |n_y| a_z a_x + |n_z| a_x a_y),   a the largest a_i
//
// with absolute values of components: the last term is the area of the largest box seen along n,
// which is at least twice that of a triangle inside of it.
static sn_contact_area bound_area(const sn_box *boxes, const int32_t *corner) {
    sn_contact_area bound;
    sn_vec3 center[3];
    sn_vec3 most = {0, 0, 0};
    for (int k = 0; k < 3; k++) {
        center[k] = sn_box_center(boxes[corner[k]]);
        bound.half[k] = sn_scale(0.5, sn_sub(boxes[corner[k]].upper, boxes[corner[k]].lower));
        most = sn_max3(most, bound.half[k]);
    }
    for (int k = 0; k < 3; k++) {
        bound.edge[k] = sn_sub(center[(k + 2) % 3], center[(k + 1) % 3]);
    }
    bound.area = sn_cross(bound.edge[2], sn_scale(-1, bound.edge[1]));
    bound.largest = sn_scale(4, sn_v3(most.y * most.z, most.z * most.x, most.x * most.y));
    return bound;
}

static double dot_absolute(sn_vec3 v, sn_vec3 a) {
    return fabs(v.x) * a.x + fabs(v.y) * a.y + fabs(v.z) * a.z;
}

// Whether the area vector of the triangle has a part along n wherever its corners are.
static bool faces(const sn_contact_area *bound, sn_vec3 n) {
    double error = dot_absolute(n, bound->largest);
    for (int k = 0; k < 3; k++) {
        error += dot_absolute(sn_cross(n, bound->edge[k]), bound->half[k]);
    }
    return sn_dot(bound->area, n) > 1.000001 * error; // a little more, for rounding
}

void sn_contact_tree_calm(const sn_contact_tree *tree, const sn_contact_shape *shape,
                          const sn_box *boxes) {
    for (int32_t t = 0; t < shape->triangle_count; t++) {
        tree->areas[t] = bound_area(boxes, sn_at3(shape->triangles, t));
    }

    for (int32_t v = 0; v < shape->vertex_count; v++) {
        const int32_t *slot = shape->fans.items + shape->fans.offsets[v];
        int32_t count = shape->fans.offsets[v + 1] - shape->fans.offsets[v];
        sn_vec3 sum = {0, 0, 0};
        for (int32_t i = 0; i < count; i++) {
            sum = sn_add(sum, tree->areas[slot[i] / 3].area);
        }

        tree->calm[v] = shape->disk[v];
        for (int32_t i = 0; i < count; i++) {
            if (!faces(&tree->areas[slot[i] / 3], sum)) {
                tree->calm[v] = 0;
                break;
            }
        }
    }

    for (int32_t i = 0; i < tree->bvh.item_count; i++) {
        sn_contact_leaf *leaf = &tree->leaves[i];
        leaf->calm = (uint8_t)(tree->calm[leaf->corner[0]] | tree->calm[leaf->corner[1]] << 1 |
                               tree->calm[leaf->corner[2]] << 2);
    }
}
