// The search for pairs: boxes of the vertices, pairs of parts whose boxes overlap, tasks for their
// subtrees, and the list of pairs in the order of the tasks.
//
// Cost: linear in the number of triangles, for the boxes, plus that of the pairs found.
#include "contact/find.h"

#include "base/threads.h"

// Subtrees with more triangles than this, both together, are split into several tasks.
enum { TASK_SIZE = 2048, CHUNK = 2048 };

// Bits of sn_contact_search.fitted.
enum { FITS_VERTICES = 1, FITS_OUTER = 2, FITS_INNER = 4 };

// A search gives up above this many pairs for each vertex and a few more, and takes shorter
// motions.
enum { PAIRS_PER_VERTEX = 64, MORE_PAIRS = 1 << 14 };
static const double shorter = 0.25;
static const double shortest = 1e-3; // below this the boxes cover no motion at all

// The drift of each group. Up to this share of the reach it is 0: the boxes hardly grow.
static const double slow = 1;

static void find_drifts(sn_contact_scene *scene, const double *x, const double *y, double reach) {
    sn_contact_search *search = scene->search;
    for (int32_t p = 0; p < scene->part_count; p++) {
        search->drift_sum[p] = sn_v3(0, 0, 0);
        search->drift_count[p] = 0;
    }

    // The mean motion of each group; a group with a held vertex or an anchored part has none.
    for (int32_t p = 0; p < scene->part_count; p++) {
        sn_contact_part *part = &scene->parts[p];
        sn_vec3 sum = {0, 0, 0};
        part->held_count = 0;
        for (int32_t i = 0; i < part->shape->vertex_count; i++) {
            int32_t v = part->first_vertex + i;
            sum = sn_add(sum, sn_sub(sn_load3(sn_at3(y, v)), sn_load3(sn_at3(x, v))));
            part->held_count += scene->held[v] != 0;
        }

        SN_ASSERT(part->group >= 0 && part->group < scene->part_count);
        int32_t *count = &search->drift_count[part->group];
        sn_vec3 *total = &search->drift_sum[part->group];
        *total = sn_add(*total, sum);
        bool stays = part->held_count > 0 || part->anchored;
        *count = *count < 0 || stays ? -1 : *count + part->shape->vertex_count;
    }

    // Slow drifts are not worth separating.
    for (int32_t p = 0; p < scene->part_count; p++) {
        sn_contact_part *part = &scene->parts[p];
        int32_t count = search->drift_count[part->group];
        sn_vec3 sum = search->drift_sum[part->group];
        part->shift = sn_v3(0, 0, 0);
        part->drift = count > 0 ? sn_scale(1.0 / count, sum) : part->shift;
        if (!(sn_length(part->drift) > slow * reach) || !sn_finite3(part->drift)) {
            part->drift = part->shift;
        }
    }
}

typedef struct fitting {
    sn_contact_scene *scene;
    const double *x, *y;
    double reach;
} fitting;

// Around the segment from `from` along d.
static sn_box motion_box(sn_vec3 from, sn_vec3 d, double reach) {
    double margin = 0.5 * reach + 0.1 * sn_length(d);
    sn_box box;
    box.lower = sn_v3(from.x + (d.x < 0 ? d.x : 0) - margin, from.y + (d.y < 0 ? d.y : 0) - margin,
                      from.z + (d.z < 0 ? d.z : 0) - margin);
    box.upper = sn_v3(from.x + (d.x > 0 ? d.x : 0) + margin, from.y + (d.y > 0 ? d.y : 0) + margin,
                      from.z + (d.z > 0 ? d.z : 0) + margin);
    return box;
}

static void fit_vertices(void *data, int32_t begin, int32_t end, int32_t chunk) {
    (void)chunk;
    const fitting *job = data;
    sn_contact_scene *scene = job->scene;
    sn_contact_search *search = scene->search;

    for (int32_t v = begin; v < end; v++) {
        int32_t part = scene->vertex_part[v];
        if (search->fitted[part]) {
            continue;
        }

        sn_vec3 from = sn_load3(sn_at3(job->x, v));
        sn_vec3 move = sn_sub(sn_load3(sn_at3(job->y, v)), from);
        sn_vec3 inner = sn_sub(move, scene->parts[part].drift);
        scene->boxes[v] = motion_box(from, sn_scale(scene->covered, move), job->reach);
        scene->inner_boxes[v] = motion_box(from, sn_scale(scene->covered, inner), job->reach);
        search->quick[v] = sn_quick_box_of(scene->boxes[v]);
        search->inner_quick[v] = sn_quick_box_of(scene->inner_boxes[v]);
    }
}

static sn_box box_of_part(const sn_contact_scene *scene, const sn_contact_part *part) {
    sn_quick_box box = sn_quick_box_empty();
    for (int32_t v = 0; v < part->shape->vertex_count; v++) {
        if (part->shape->vertex_owner[v] >= 0) {
            box = sn_quick_box_union(&scene->search->quick[part->first_vertex + v], &box);
        }
    }
    return (sn_box){{box.lower[0], box.lower[1], box.lower[2]},
                    {-box.upper[0], -box.upper[1], -box.upper[2]}};
}

static void fit_boxes(sn_contact_scene *scene, const double *x, const double *y, double reach) {
    sn_contact_search *search = scene->search;
    fitting job = {scene, x, y, reach};

    // Parts that stand still keep what they have.
    for (int32_t p = 0; p < scene->part_count; p++) {
        if (!scene->parts[p].still || search->fitted_reach[p] != reach) {
            search->fitted[p] = 0;
        }
        search->fitted_reach[p] = reach;
    }

    sn_parallel_for(scene->context, scene->vertex_count, CHUNK, fit_vertices, &job);
    for (int32_t p = 0; p < scene->part_count; p++) {
        if (!search->fitted[p]) {
            search->part_boxes[p] = box_of_part(scene, &scene->parts[p]);
            search->fitted[p] = FITS_VERTICES;
        }
    }
    sn_bvh_rebuild(&search->part_bvh, search->part_boxes, search->centers);
}

// Makes the tree of a part that a task needs fit.
static void fit_tree(sn_contact_scene *scene, int32_t number, bool inner) {
    uint8_t bit = inner ? FITS_INNER : FITS_OUTER;
    const sn_contact_part *part = &scene->parts[number];
    if (scene->search->fitted[number] & bit) {
        return;
    }

    scene->search->fitted[number] |= bit;
    sn_contact_tree_fit(part->tree, part->shape, inner ? &part->tree->inner : &part->tree->outer);
    if (inner) {
        sn_contact_tree_calm(part->tree, part->shape, scene->inner_boxes + part->first_vertex);
    }
}

static sinew_status add_task(sn_contact_scene *scene, const sn_contact_task *task) {
    sn_contact_search *search = scene->search;
    SN_TRY(sn_grow(scene->context, (void **)&search->tasks, &search->task_capacity,
                   (size_t)search->task_count, (size_t)search->task_count + 1, sizeof *task));
    search->tasks[search->task_count++] = *task;
    return SINEW_OK;
}

// Adds a task, or those of the subtrees if it is large. Halving limits the depth.
static sinew_status split_task(sn_contact_scene *scene, const sn_contact_task *task) {
    const sn_contact_tree *a = scene->parts[task->part[0]].tree;
    const sn_contact_tree *b = scene->parts[task->part[1]].tree;
    const sn_bvh_node *node_a = &a->bvh.nodes[task->node[0]];
    const sn_bvh_node *node_b = &b->bvh.nodes[task->node[1]];
    const sn_quick_box *box_a = (task->inner ? &a->inner : &a->outer)->nodes + task->node[0];
    const sn_quick_box *box_b = (task->inner ? &b->inner : &b->outer)->nodes + task->node[1];
    bool self = a == b && task->node[0] == task->node[1];
    if (!sn_quick_box_overlaps(box_a, box_b)) {
        return SINEW_OK;
    }

    // Small enough for one task?
    int32_t size_a = node_a->last - node_a->first;
    int32_t size_b = self ? 0 : node_b->last - node_b->first;
    if (size_a + size_b <= TASK_SIZE) {
        return add_task(scene, task);
    }

    // A tree against itself: both halves, and one half against the other.
    sn_contact_task left = *task, right = *task, across = *task;
    if (self) {
        left.node[0] = left.node[1] = across.node[0] = task->node[0] + 1;
        right.node[0] = right.node[1] = across.node[1] = node_a->right;
        SN_TRY(split_task(scene, &left));
        SN_TRY(split_task(scene, &across));
        return split_task(scene, &right);
    }

    // Two trees: split the larger node.
    int which = node_a->right && (!node_b->right || size_a >= size_b) ? 0 : 1;
    left.node[which] = task->node[which] + 1;
    right.node[which] = which ? node_b->right : node_a->right;
    SN_TRY(split_task(scene, &left));
    return split_task(scene, &right);
}

typedef struct part_query {
    sn_contact_scene *scene;
    int32_t part;
    sinew_status status;
} part_query;

static bool visit_part(void *data, int32_t item) {
    part_query *query = data;
    sn_contact_scene *scene = query->scene;
    const sn_contact_part *p = &scene->parts[query->part], *q = &scene->parts[item];
    const sn_box *boxes = scene->search->part_boxes;
    bool all_held =
        p->held_count == p->shape->vertex_count && q->held_count == q->shape->vertex_count;

    if (item < query->part || all_held || !sn_box_overlaps(boxes[item], boxes[query->part])) {
        return true;
    }
    if (scene->filter && !scene->filter(scene->filter_user, query->part, item)) {
        return true;
    }
    const sn_contact_search *search = scene->search;
    if (search->wanted && !search->wanted(search->wanted_user, query->part, item)) {
        return true;
    }

    sn_contact_task task = {.part = {query->part, item}, .inner = p->group == q->group};
    fit_tree(scene, query->part, task.inner);
    fit_tree(scene, item, task.inner);
    // Intersections take one task for two parts, also where nothing overlaps: one may be inside.
    query->status = search->crossings ? add_task(scene, &task) : split_task(scene, &task);
    return query->status == SINEW_OK;
}

static sinew_status list_tasks(sn_contact_scene *scene) {
    sn_contact_search *search = scene->search;
    search->task_count = 0;
    for (int32_t p = 0; p < scene->part_count; p++) {
        if (scene->parts[p].tree->bvh.node_count == 0) {
            continue;
        }
        part_query query = {.scene = scene, .part = p};
        sn_bvh_overlap(&search->part_bvh, search->part_boxes[p], visit_part, &query);
        SN_TRY(query.status);
    }
    return SINEW_OK;
}

static void run_range(void *data, int32_t begin, int32_t end, int32_t chunk) {
    (void)chunk;
    const sn_contact_scene *scene = data;
    for (int32_t i = begin; i < end; i++) {
        sn_contact_run_task(scene, &scene->search->tasks[i]);
    }
}

// Runs all tasks, a second time if the pages did not suffice. *done is false if there are more than
// the budget.
static sinew_status run_tasks(sn_contact_scene *scene, bool *done) {
    sn_contact_search *search = scene->search;
    for (int round = 0; round < 2; round++) {
        atomic_store(&search->page_count, 0);
        sn_parallel_for(scene->context, search->task_count, 1, run_range, scene);

        int32_t needed = atomic_load(&search->page_count);
        *done = needed <= search->page_budget;
        if (!*done || (size_t)needed <= search->page_capacity) {
            return SINEW_OK;
        }
        SN_TRY(sn_grow(scene->context, (void **)&search->pages, &search->page_capacity, 0,
                       (size_t)needed, sizeof *search->pages));
    }
    SN_ASSERT(false); // the second run needs as many as the first
    return SINEW_OK;
}

static void fill_pair(const sn_contact_scene *scene, const sn_contact_candidate *found, int kind,
                      sn_contact_pair *pair) {
    const sn_contact_part *p = &scene->parts[found->part[0]];
    const sn_contact_part *q = &scene->parts[found->part[1]];
    bool edges = kind == SN_CONTACT_EDGE_EDGE;

    pair->kind = (sn_contact_kind)kind;
    pair->usable = pair->exempt = pair->held = pair->joint = false;
    pair->feature[0] = found->feature[0] + (edges ? p->first_edge : p->first_vertex);
    pair->feature[1] = found->feature[1] + (edges ? q->first_edge : q->first_triangle);
    for (int k = 0; k < 2; k++) {
        pair->part[k] = found->part[k];
    }
    for (int k = 0; k < 4; k++) {
        pair->vertex[k] = found->vertex[k];
    }
}

static void fill_range(void *data, int32_t begin, int32_t end, int32_t chunk) {
    (void)chunk;
    const sn_contact_scene *scene = data;
    const sn_contact_search *search = scene->search;
    for (int32_t i = begin; i < end; i++) {
        const sn_contact_task *task = &search->tasks[i];
        for (int kind = 0; kind < 2; kind++) {
            int32_t next = task->start[kind];
            for (int32_t page = task->first[kind]; page >= 0; page = search->pages[page].next) {
                for (int32_t k = 0; k < search->pages[page].count; k++) {
                    fill_pair(scene, &search->pages[page].items[k], kind, &scene->pairs[next++]);
                }
            }
        }
    }
}

// Room for the pairs, and for what sn_contact_limit writes for each.
static sinew_status grow_pairs(sn_contact_scene *scene, int64_t count) {
    if (count > INT32_MAX) {
        return sn_fail(scene->context, SINEW_OUT_OF_MEMORY,
                       "%lld pairs of surface features may touch; at most %d are possible",
                       (long long)count, INT32_MAX);
    }
    if ((size_t)count <= scene->pair_capacity) {
        return SINEW_OK;
    }

    // Both arrays or none, so that they always have the same capacity.
    size_t larger =
        2 * scene->pair_capacity > (size_t)count ? 2 * scene->pair_capacity : (size_t)count;
    sn_contact_pair *pairs = sn_allocate(scene->context, larger, sizeof *pairs);
    double *shares = sn_allocate(scene->context, 4 * larger, sizeof *shares);
    if (!pairs || !shares) {
        sn_release(scene->context, pairs, larger, sizeof *pairs);
        sn_release(scene->context, shares, 4 * larger, sizeof *shares);
        return SINEW_OUT_OF_MEMORY;
    }

    sn_release(scene->context, scene->pairs, scene->pair_capacity, sizeof *pairs);
    sn_release(scene->context, scene->shares, 4 * scene->pair_capacity, sizeof *shares);
    scene->pairs = pairs;
    scene->shares = shares;
    scene->pair_capacity = larger;
    return SINEW_OK;
}

// Vertices and triangles first, then edges, each in the order of the tasks.
static sinew_status list_pairs(sn_contact_scene *scene) {
    sn_contact_search *search = scene->search;
    int64_t total[2] = {0, 0};
    for (int kind = 0; kind < 2; kind++) {
        for (int32_t i = 0; i < search->task_count; i++) {
            total[kind] += search->tasks[i].count[kind];
        }
    }
    SN_TRY(grow_pairs(scene, total[0] + total[1]));

    int32_t next = 0;
    for (int kind = 0; kind < 2; kind++) {
        for (int32_t i = 0; i < search->task_count; i++) {
            search->tasks[i].start[kind] = next;
            next += search->tasks[i].count[kind];
        }
    }
    sn_parallel_for(scene->context, search->task_count, 1, fill_range, scene);
    scene->pair_count = next;
    scene->vertex_triangle_count = (int32_t)total[0];
    return SINEW_OK;
}

// One run with the share scene->covered of the motions.
static sinew_status run_once(sn_contact_scene *scene, const double *x, const double *y,
                             double reach, bool *done) {
    sn_contact_search *search = scene->search;
    fit_boxes(scene, x, y, reach);
    SN_TRY(list_tasks(scene));

    // Each task may leave two pages partly filled. Without motion there is no budget.
    int64_t pairs = PAIRS_PER_VERTEX * (int64_t)scene->vertex_count + MORE_PAIRS;
    int64_t pages = pairs / SN_CONTACT_PAGE + 2 * (int64_t)search->task_count;
    bool limited = scene->covered > 0 && pages < INT32_MAX / 2;
    search->page_budget = limited ? (int32_t)pages : INT32_MAX / 2;
    return run_tasks(scene, done);
}

sinew_status sn_contact_search_run(sn_contact_scene *scene, const double *x, const double *y,
                                   double reach, sn_contact_wanted_fn *wanted, const void *user) {
    scene->pair_count = scene->vertex_triangle_count = 0;
    scene->search->x = x;
    scene->search->wanted = wanted;
    scene->search->wanted_user = user;
    scene->covered = 1;
    find_drifts(scene, x, y, reach);

    bool done = false;
    SN_TRY(run_once(scene, x, y, reach, &done));
    while (!done && scene->covered > 0) {
        scene->covered = scene->covered > shortest ? shorter * scene->covered : 0;
        SN_TRY(run_once(scene, x, y, reach, &done));
    }
    if (!done) {
        return sn_fail(scene->context, SINEW_OUT_OF_MEMORY,
                       "too many pairs of surface features are closer than %g m", reach);
    }
    return SINEW_OK;
}

sinew_status sn_contact_find(sn_contact_scene *scene, const double *x, const double *y,
                             double reach) {
    SN_ASSERT(reach >= 0);
    scene->search->crossings = false;
    SN_TRY(sn_contact_search_run(scene, x, y, reach, NULL, NULL));
    return list_pairs(scene);
}
