// One task of the search: the descent into two subtrees at once, then the features that the
// triangles of two leaves own.
#include "contact/crossing.h"
#include "contact/find.h"

#include "math/simd.h"

enum { STACK = 256 };

typedef struct descent {
    const sn_contact_scene *scene;
    sn_contact_task *task;
    const sn_contact_part *p, *q;
    const sn_contact_tree *a, *b;
    const sn_contact_fit *fit_a, *fit_b;
    const uint8_t *held_p, *held_q; // NULL if no vertex of the part is held
    bool self;
    // Candidates of either kind that wait to be culled.
    sn_contact_candidate waiting[2][SN_BLOCK];
    int32_t waiting_count[2];
} descent;

static void append(const descent *d, int kind, const sn_contact_candidate *found) {
    sn_contact_search *search = d->scene->search;
    sn_contact_task *task = d->task;
    int32_t last = task->last[kind];
    bool full = task->count[kind] % SN_CONTACT_PAGE == 0;
    task->count[kind]++;

    // Pages come from a common pool; the order of the tasks, not of the pages, decides later.
    if (full) {
        int32_t page = atomic_fetch_add(&search->page_count, 1);
        if ((size_t)page >= search->page_capacity) {
            task->last[kind] = -1; // only counted from here on
            return;
        }
        search->pages[page].count = 0;
        search->pages[page].next = -1;
        if (last >= 0) {
            search->pages[last].next = page;
        } else {
            task->first[kind] = page;
        }
        task->last[kind] = last = page;
    }

    if (last >= 0) {
        search->pages[last].items[search->pages[last].count++] = *found;
    }
}

static void cull(descent *d, int kind) {
    const sn_contact_scene *scene = d->scene;
    int32_t count = d->waiting_count[kind];
    if (count == 0) {
        return;
    }

    const sn_box *boxes = d->task->inner ? scene->inner_boxes : scene->boxes;
    uint32_t kept = SN_ISA_PICK(scene->context->isa, sn_contact_cull_block)(
        d->waiting[kind], count, kind == SN_CONTACT_EDGE_EDGE, scene->search->x, boxes);
    for (int32_t i = 0; i < count; i++) {
        if (kept >> i & 1) {
            append(d, kind, &d->waiting[kind][i]);
        }
    }
    d->waiting_count[kind] = 0;
}

static sn_contact_candidate *push(descent *d, int kind) {
    if (d->waiting_count[kind] == SN_BLOCK) {
        cull(d, kind);
    }
    return &d->waiting[kind][d->waiting_count[kind]++];
}

// A vertex of one part, with its number in `from`, and a triangle of the other.
static void try_vertex(descent *d, bool from_q, int32_t vertex, const sn_contact_leaf *leaf,
                       const sn_quick_box *triangle_box) {
    const sn_contact_fit *fit = from_q ? d->fit_b : d->fit_a;
    if (!sn_quick_box_overlaps(&fit->vertices[vertex], triangle_box)) {
        return;
    }

    const int32_t *corner = leaf->corner;
    const uint8_t *held = from_q ? d->held_q : d->held_p;
    const uint8_t *other = from_q ? d->held_p : d->held_q;
    bool shared = d->self && (vertex == corner[0] || vertex == corner[1] || vertex == corner[2]);
    bool all_held =
        held && other && held[vertex] && other[corner[0]] && other[corner[1]] && other[corner[2]];
    if (shared || all_held) {
        return;
    }

    const sn_contact_part *part = from_q ? d->q : d->p;
    int32_t first = (from_q ? d->p : d->q)->first_vertex;
    *push(d, SN_CONTACT_VERTEX_TRIANGLE) =
        (sn_contact_candidate){.feature = {vertex, leaf->triangle},
                               .part = {d->task->part[from_q], d->task->part[!from_q]},
                               .vertex = {part->first_vertex + vertex, first + corner[0],
                                          first + corner[1], first + corner[2]}};
}

static void try_edges(descent *d, int32_t first, int32_t second) {
    if (!sn_quick_box_overlaps(&d->fit_a->edges[first], &d->fit_b->edges[second])) {
        return;
    }

    const int32_t *e = d->p->shape->edges + 2 * (size_t)first;
    const int32_t *f = d->q->shape->edges + 2 * (size_t)second;
    bool shared = d->self && (e[0] == f[0] || e[0] == f[1] || e[1] == f[0] || e[1] == f[1]);
    bool all_held = d->held_p && d->held_q && d->held_p[e[0]] && d->held_p[e[1]] &&
                    d->held_q[f[0]] && d->held_q[f[1]];
    if (shared || all_held) {
        return;
    }

    // Of two edges of one part the lower comes first.
    bool swap = d->self && first > second;
    if (swap) {
        const int32_t *ends = e;
        int32_t number = first;
        e = f;
        f = ends;
        first = second;
        second = number;
    }
    int32_t p = d->p->first_vertex, q = d->q->first_vertex;
    *push(d, SN_CONTACT_EDGE_EDGE) =
        (sn_contact_candidate){.feature = {first, second},
                               .part = {d->task->part[0], d->task->part[1]},
                               .vertex = {p + e[0], p + e[1], q + f[0], q + f[1]}};
}

// Whether two triangles of one part lie around a vertex whose star is calm. Without branches.
static bool share_calm(const sn_contact_leaf *first, const sn_contact_leaf *second) {
    const int32_t *s = first->corner, *t = second->corner;
    int shared = (s[0] == t[0]) | (s[0] == t[1]) | (s[0] == t[2]);
    shared |= ((s[1] == t[0]) | (s[1] == t[1]) | (s[1] == t[2])) << 1;
    shared |= ((s[2] == t[0]) | (s[2] == t[1]) | (s[2] == t[2])) << 2;
    return shared & first->calm;
}

// Notes two triangles that intersect.
static void try_crossing(descent *d, const sn_contact_leaf *first, const sn_contact_leaf *second) {
    sn_contact_candidate found = {.feature = {first->triangle, second->triangle},
                                  .part = {d->task->part[0], d->task->part[1]}};
    int32_t a[3], b[3];
    for (int k = 0; k < 3; k++) {
        a[k] = d->p->first_vertex + first->corner[k];
        b[k] = d->q->first_vertex + second->corner[k];
    }
    if (sn_contact_triangles_cross(d->scene->search->x, a, b, d->self)) {
        append(d, 0, &found);
    }
}

// The pairs of features owned by two triangles, numbers of leaves.
static void try_triangles(descent *d, int32_t i, int32_t k) {
    const sn_contact_leaf *first = &d->a->leaves[i], *second = &d->b->leaves[k];
    if (d->scene->search->crossings) {
        try_crossing(d, first, second);
        return;
    }
    if (d->self && share_calm(first, second)) {
        return;
    }

    // Each feature is owned by one of its triangles, so that a pair is found once.
    for (int c = 0; c < 3; c++) {
        if (first->owns & SN_CONTACT_OWNS_CORNER << c) {
            try_vertex(d, false, first->corner[c], second, &d->fit_b->triangles[k]);
        }
        if (second->owns & SN_CONTACT_OWNS_CORNER << c) {
            try_vertex(d, true, second->corner[c], first, &d->fit_a->triangles[i]);
        }
    }

    for (int c = 0; c < 3; c++) {
        if (!(first->owns & SN_CONTACT_OWNS_EDGE << c)) {
            continue;
        }
        for (int e = 0; e < 3; e++) {
            if (second->owns & SN_CONTACT_OWNS_EDGE << e) {
                try_edges(d, first->edge[c], second->edge[e]);
            }
        }
    }
}

// The number of the lowest of eight bits that is set, by halving.
static int32_t lowest_bit(uint32_t bits) {
    uint32_t lowest = bits & (0 - bits);
    return (lowest & 0xf0 ? 4 : 0) | (lowest & 0xcc ? 2 : 0) | (lowest & 0xaa ? 1 : 0);
}

static void try_bunches(descent *d, int32_t node_a, int32_t node_b) {
    const sn_bvh_node *a = &d->a->bvh.nodes[node_a];
    const sn_bvh_node *b = &d->b->bvh.nodes[node_b];
    const sn_contact_bunch *bunch = &d->fit_b->bunches[d->b->bunch[node_b]];
    bool same = d->self && node_a == node_b;

    for (int32_t i = a->first; i < a->last; i++) {
        uint32_t bits = sn_contact_bunch_overlaps(bunch, &d->fit_a->triangles[i]);
        if (same) {
            bits &= ~UINT32_C(0) << (i - a->first) << 1; // each pair once
        }
        while (bits) {
            try_triangles(d, i, b->first + lowest_bit(bits));
            bits &= bits - 1;
        }
    }
}

typedef struct node_pair {
    int32_t a, b;
} node_pair;

// The pairs of nodes below a pair; of a node and itself each unordered pair once. None of two
// bunches.
static int split(const descent *d, node_pair pair, node_pair below[3]) {
    const sn_bvh_node *a = &d->a->bvh.nodes[pair.a];
    const sn_bvh_node *b = &d->b->bvh.nodes[pair.b];
    bool bunch_a = d->a->bunch[pair.a] >= 0;
    bool bunch_b = d->b->bunch[pair.b] >= 0;
    if (bunch_a && bunch_b) {
        return 0;
    }

    if (d->self && pair.a == pair.b) {
        below[0] = (node_pair){pair.a + 1, pair.a + 1};
        below[1] = (node_pair){pair.a + 1, a->right};
        below[2] = (node_pair){a->right, a->right};
        return 3;
    }

    // The larger of the two is split.
    if (a->last - a->first >= b->last - b->first) {
        below[0] = (node_pair){pair.a + 1, pair.b};
        below[1] = (node_pair){a->right, pair.b};
        return 2;
    }

    below[0] = (node_pair){pair.a, pair.b + 1};
    below[1] = (node_pair){pair.a, b->right};
    return 2;
}

static void descend(descent *d, node_pair root) {
    node_pair stack[STACK];
    stack[0] = root;
    int32_t depth = 1;

    const sn_contact_search *search = d->scene->search;
    while (depth > 0 && atomic_load(&search->page_count) <= search->page_budget) {
        node_pair pair = stack[--depth];
        node_pair below[3];
        int count = split(d, pair, below);
        if (count == 0) {
            try_bunches(d, pair.a, pair.b);
        }

        SN_ASSERT(depth + count <= STACK);
        for (int i = count - 1; i >= 0; i--) {
            const sn_quick_box *box_a = &d->fit_a->nodes[below[i].a];
            const sn_quick_box *box_b = &d->fit_b->nodes[below[i].b];
            if (sn_quick_box_overlaps(box_a, box_b)) {
                stack[depth++] = below[i];
            }
        }
    }
}

void sn_contact_run_task(const sn_contact_scene *scene, sn_contact_task *task) {
    const sn_contact_part *p = &scene->parts[task->part[0]];
    const sn_contact_part *q = &scene->parts[task->part[1]];
    descent d = {.scene = scene, .task = task, .p = p, .q = q, .a = p->tree, .b = q->tree};
    d.fit_a = task->inner ? &p->tree->inner : &p->tree->outer;
    d.fit_b = task->inner ? &q->tree->inner : &q->tree->outer;
    d.held_p = p->held_count ? scene->held + p->first_vertex : NULL;
    d.held_q = q->held_count ? scene->held + q->first_vertex : NULL;
    d.self = p == q;

    for (int kind = 0; kind < 2; kind++) {
        task->first[kind] = task->last[kind] = -1;
        task->count[kind] = 0;
    }
    descend(&d, (node_pair){task->node[0], task->node[1]});
    cull(&d, SN_CONTACT_VERTEX_TRIANGLE);
    cull(&d, SN_CONTACT_EDGE_EDGE);
}
