// The search for candidates: boxes of the vertices, then a descent into two trees at once for each
// pair of parts whose boxes overlap, then the features that the triangles of two leaves own.
//
// Cost: linear in the number of triangles, for the boxes, plus that of the pairs found.
#include "contact/find.h"

// A pair on the list, before it is filled in.
struct sn_contact_candidate {
    int32_t feature[2]; // in the numbering of the parts
    int32_t part[2];
    sn_contact_kind kind;
};

typedef struct sn_contact_candidate candidate;

enum { STACK = 256 };

// Two parts of which one searches, and what was found.
typedef struct search {
    sn_contact_scene *scene;
    int32_t a, b;
    int32_t count; // candidates so far
    sinew_status status;
} search;

// A box overlap of two vertices' hulls is tested for features; this is the box of an edge.
static sn_box box_of_edge(const sn_contact_scene *scene, const sn_contact_part *part,
                          int32_t edge) {
    const int32_t *ends = part->shape->edges + 2 * (size_t)edge;
    const sn_box *own = scene->boxes + part->first_vertex;
    return sn_box_union(own[ends[0]], own[ends[1]]);
}

static void add(search *s, sn_contact_kind kind, int32_t first, int32_t first_part, int32_t second,
                int32_t second_part) {
    sn_contact_scene *scene = s->scene;
    if (s->status != SINEW_OK) {
        return;
    }

    s->status = sn_grow(scene->context, (void **)&scene->candidates, &scene->candidate_capacity,
                        (size_t)s->count, (size_t)s->count + 1, sizeof(candidate));
    if (s->status == SINEW_OK) {
        scene->candidates[s->count++] =
            (candidate){{first, second}, {first_part, second_part}, kind};
    }
}

static void try_vertex(search *s, int32_t vertex_part, int32_t vertex, int32_t triangle_part,
                       int32_t triangle) {
    const sn_contact_scene *scene = s->scene;
    const sn_contact_part *p = &scene->parts[vertex_part];
    const sn_contact_part *q = &scene->parts[triangle_part];
    const int32_t *corners = sn_at3(q->shape->triangles, triangle);
    const uint8_t *held = scene->held + q->first_vertex;

    bool all_held = scene->held[p->first_vertex + vertex] && held[corners[0]] && held[corners[1]] &&
                    held[corners[2]];
    bool shared = vertex_part == triangle_part &&
                  (vertex == corners[0] || vertex == corners[1] || vertex == corners[2]);
    if (all_held || shared) {
        return;
    }

    if (sn_box_overlaps(scene->boxes[p->first_vertex + vertex], q->boxes[triangle])) {
        add(s, SN_CONTACT_VERTEX_TRIANGLE, vertex, vertex_part, triangle, triangle_part);
    }
}

static void try_edges(search *s, int32_t first, int32_t second) {
    const sn_contact_scene *scene = s->scene;
    const sn_contact_part *p = &scene->parts[s->a];
    const sn_contact_part *q = &scene->parts[s->b];
    const int32_t *e = p->shape->edges + 2 * (size_t)first;
    const int32_t *f = q->shape->edges + 2 * (size_t)second;
    const uint8_t *held_e = scene->held + p->first_vertex;
    const uint8_t *held_f = scene->held + q->first_vertex;

    bool all_held = held_e[e[0]] && held_e[e[1]] && held_f[f[0]] && held_f[f[1]];
    bool shared = s->a == s->b && (e[0] == f[0] || e[0] == f[1] || e[1] == f[0] || e[1] == f[1]);
    if (all_held || shared) {
        return;
    }

    if (!sn_box_overlaps(box_of_edge(scene, p, first), box_of_edge(scene, q, second))) {
        return;
    }

    bool swap = s->a == s->b && first > second;
    add(s, SN_CONTACT_EDGE_EDGE, swap ? second : first, s->a, swap ? first : second, s->b);
}

// The pairs of features owned by two triangles, the first of part a and the second of part b.
static void try_triangles(search *s, int32_t first, int32_t second) {
    const sn_contact_shape *p = s->scene->parts[s->a].shape;
    const sn_contact_shape *q = s->scene->parts[s->b].shape;

    for (int k = 0; k < 3; k++) {
        if (p->owns[first] & SN_CONTACT_OWNS_CORNER << k) {
            try_vertex(s, s->a, sn_at3(p->triangles, first)[k], s->b, second);
        }
        if (q->owns[second] & SN_CONTACT_OWNS_CORNER << k) {
            try_vertex(s, s->b, sn_at3(q->triangles, second)[k], s->a, first);
        }
    }

    for (int k = 0; k < 3; k++) {
        if (!(p->owns[first] & SN_CONTACT_OWNS_EDGE << k)) {
            continue;
        }
        for (int l = 0; l < 3; l++) {
            if (q->owns[second] & SN_CONTACT_OWNS_EDGE << l) {
                try_edges(s, sn_at3(p->triangle_edges, first)[k],
                          sn_at3(q->triangle_edges, second)[l]);
            }
        }
    }
}

static void try_leaves(search *s, int32_t node_a, int32_t node_b) {
    const sn_contact_part *p = &s->scene->parts[s->a];
    const sn_contact_part *q = &s->scene->parts[s->b];
    const sn_bvh_node *a = &p->bvh.nodes[node_a];
    const sn_bvh_node *b = &q->bvh.nodes[node_b];
    bool same = s->a == s->b && node_a == node_b;

    for (int32_t i = a->first; i < a->last; i++) {
        int32_t first = p->bvh.items[i];
        for (int32_t k = same ? i + 1 : b->first; k < b->last; k++) {
            int32_t second = q->bvh.items[k];
            if (sn_box_overlaps(p->boxes[first], q->boxes[second])) {
                try_triangles(s, first, second);
            }
        }
    }
}

typedef struct node_pair {
    int32_t a, b;
} node_pair;

// The pairs of nodes below a pair; of a node and itself each unordered pair once.
static int split(const search *s, node_pair pair, node_pair below[3]) {
    const sn_bvh_node *nodes_a = s->scene->parts[s->a].bvh.nodes;
    const sn_bvh_node *nodes_b = s->scene->parts[s->b].bvh.nodes;
    const sn_bvh_node *a = &nodes_a[pair.a];
    const sn_bvh_node *b = &nodes_b[pair.b];

    if (s->a == s->b && pair.a == pair.b) {
        below[0] = (node_pair){pair.a + 1, pair.a + 1};
        below[1] = (node_pair){pair.a + 1, a->right};
        below[2] = (node_pair){a->right, a->right};
        return a->right ? 3 : 0;
    }

    // The larger of the two is split.
    bool split_a = a->right && (!b->right || a->last - a->first >= b->last - b->first);
    if (split_a) {
        below[0] = (node_pair){pair.a + 1, pair.b};
        below[1] = (node_pair){a->right, pair.b};
        return 2;
    }

    below[0] = (node_pair){pair.a, pair.b + 1};
    below[1] = (node_pair){pair.a, b->right};
    return b->right ? 2 : 0;
}

static void descend(search *s, node_pair root) {
    const sn_bvh_node *nodes_a = s->scene->parts[s->a].bvh.nodes;
    const sn_bvh_node *nodes_b = s->scene->parts[s->b].bvh.nodes;
    node_pair stack[STACK] = {root};
    int32_t depth = 1;

    while (depth > 0) {
        node_pair pair = stack[--depth];
        if (!sn_box_overlaps(nodes_a[pair.a].box, nodes_b[pair.b].box)) {
            continue;
        }

        node_pair below[3];
        int count = split(s, pair, below);
        if (count == 0) {
            try_leaves(s, pair.a, pair.b);
        }

        SN_ASSERT(depth + count <= STACK);
        for (int i = count - 1; i >= 0; i--) {
            stack[depth++] = below[i];
        }
    }
}

// Compares one part with another, or with itself, if the filter lets it.
static void compare_parts(search *s, int32_t a, int32_t b) {
    const sn_contact_scene *scene = s->scene;
    if (scene->filter && !scene->filter(scene->filter_user, a, b)) {
        return;
    }

    s->a = a < b ? a : b;
    s->b = a < b ? b : a;
    descend(s, (node_pair){0, 0});
}

typedef struct part_query {
    search *s;
    int32_t part;
} part_query;

static bool visit_part(void *data, int32_t item) {
    part_query *query = data;
    search *s = query->s;
    const sn_box *boxes = s->scene->part_boxes;
    if (item >= query->part && sn_box_overlaps(boxes[item], boxes[query->part])) {
        compare_parts(s, query->part, item);
    }
    return true;
}

static void fit_boxes(sn_contact_scene *scene, const double *x, const double *y, double reach) {
    for (int32_t v = 0; v < scene->vertex_count; v++) {
        sn_vec3 from = sn_load3(sn_at3(x, v));
        sn_vec3 to = sn_load3(sn_at3(y, v));
        sn_box box = {sn_min3(from, to), sn_max3(from, to)};
        scene->boxes[v] = sn_box_grown(box, 0.5 * reach + 0.1 * sn_distance(from, to));
    }

    for (int32_t p = 0; p < scene->part_count; p++) {
        sn_contact_fit_part(scene, p);
    }
    sn_bvh_rebuild(&scene->part_bvh, scene->part_boxes, scene->centers);
}

static void fill_pair(const sn_contact_scene *scene, const candidate *found,
                      sn_contact_pair *pair) {
    const sn_contact_part *p = &scene->parts[found->part[0]];
    const sn_contact_part *q = &scene->parts[found->part[1]];
    *pair = (sn_contact_pair){.kind = found->kind, .part = {found->part[0], found->part[1]}};

    if (found->kind == SN_CONTACT_VERTEX_TRIANGLE) {
        const int32_t *corners = sn_at3(q->shape->triangles, found->feature[1]);
        pair->feature[0] = pair->vertex[0] = p->first_vertex + found->feature[0];
        pair->feature[1] = q->first_triangle + found->feature[1];
        for (int k = 0; k < 3; k++) {
            pair->vertex[1 + k] = q->first_vertex + corners[k];
        }
        return;
    }

    pair->feature[0] = p->first_edge + found->feature[0];
    pair->feature[1] = q->first_edge + found->feature[1];
    for (int k = 0; k < 2; k++) {
        pair->vertex[k] =
            p->first_vertex + p->shape->edges[2 * (size_t)found->feature[0] + (size_t)k];
        pair->vertex[2 + k] =
            q->first_vertex + q->shape->edges[2 * (size_t)found->feature[1] + (size_t)k];
    }
}

// Vertices and triangles first, then edges, each in the order in which they were found.
static sinew_status fill_pairs(sn_contact_scene *scene, int32_t count) {
    size_t capacity = scene->pair_capacity;
    SN_TRY(sn_grow(scene->context, (void **)&scene->pairs, &scene->pair_capacity, 0, (size_t)count,
                   sizeof *scene->pairs));
    if (scene->pair_capacity > capacity) {
        sn_release(scene->context, scene->shares, 4 * capacity, sizeof *scene->shares);
        scene->shares =
            sn_allocate(scene->context, 4 * scene->pair_capacity, sizeof *scene->shares);
    }
    if (!scene->shares && count > 0) {
        return SINEW_OUT_OF_MEMORY;
    }

    int32_t vertices = 0;
    for (int32_t i = 0; i < count; i++) {
        vertices += scene->candidates[i].kind == SN_CONTACT_VERTEX_TRIANGLE;
    }

    int32_t next[2] = {0, vertices};
    for (int32_t i = 0; i < count; i++) {
        const candidate *found = &scene->candidates[i];
        fill_pair(scene, found, &scene->pairs[next[found->kind]++]);
    }

    scene->pair_count = count;
    scene->vertex_triangle_count = vertices;
    return SINEW_OK;
}

sinew_status sn_contact_find(sn_contact_scene *scene, const double *x, const double *y,
                             double reach) {
    SN_ASSERT(reach >= 0);
    scene->pair_count = scene->vertex_triangle_count = 0;
    fit_boxes(scene, x, y, reach);

    search s = {.scene = scene};
    for (int32_t p = 0; p < scene->part_count; p++) {
        if (scene->parts[p].bvh.node_count > 0) {
            part_query query = {&s, p};
            sn_bvh_overlap(&scene->part_bvh, scene->part_boxes[p], visit_part, &query);
        }
    }

    SN_TRY(s.status);
    return fill_pairs(scene, s.count);
}

void sn_contact_release_pairs(sn_contact_scene *scene) {
    sn_release(scene->context, scene->candidates, scene->candidate_capacity, sizeof(candidate));
    sn_release(scene->context, scene->pairs, scene->pair_capacity, sizeof *scene->pairs);
    sn_release(scene->context, scene->shares, 4 * scene->pair_capacity, sizeof *scene->shares);
}
