// The search for pairs, as far as its files share it: tasks, and the pages that hold their results.
//
// A task compares two subtrees. The list of tasks depends on the trees and boxes alone. Tasks run
// in any order, on any thread, and each appends to pages of its own; the pages needed in all do not
// depend on the order either. If they run out the search counts what it needs, gets it and starts
// again.
#ifndef SN_CONTACT_FIND_H
#define SN_CONTACT_FIND_H

#include "contact/tree.h"

#include "base/isa.h"

#include <stdatomic.h>

// A pair on the list, before it is filled in: features in the numbering of their parts.
typedef struct sn_contact_candidate {
    int32_t feature[2], part[2];
    int32_t vertex[4]; // in the scene's numbering
} sn_contact_candidate;

enum { SN_CONTACT_PAGE = 64 };

typedef struct sn_contact_page {
    sn_contact_candidate items[SN_CONTACT_PAGE];
    int32_t count;
    int32_t next; // of the same task and kind; -1: none
} sn_contact_page;

typedef struct sn_contact_task {
    int32_t part[2], node[2];
    bool inner;                 // the parts are of one group
    int32_t first[2], last[2];  // pages of either kind; -1: none
    int32_t count[2], start[2]; // pairs of either kind, and the number of the first in the list
} sn_contact_task;

// Whether a run compares two parts, a <= b.
typedef bool sn_contact_wanted_fn(const void *user, int32_t a, int32_t b);

typedef struct sn_contact_search {
    sn_quick_box *quick, *inner_quick; // boxes of all vertices
    sn_box *part_boxes;
    sn_bvh part_bvh;
    sn_vec3 *centers;     // scratch of its rebuilding
    sn_vec3 *drift_sum;   // of each group
    int32_t *drift_count; // vertices of each group; -1: one of them is held
    uint8_t *fitted;      // of each part: which of its boxes and trees fit
    double *fitted_reach; // of each part: the reach that its boxes were made for; -1: none yet

    sn_contact_task *tasks;
    size_t task_capacity;
    int32_t task_count;
    sn_contact_page *pages;
    size_t page_capacity;
    atomic_int page_count; // more than the capacity if there were too few
    int32_t page_budget;   // with more than this a run gives up
    const double *x;
    sn_contact_wanted_fn *wanted; // of this run; NULL: all
    const void *wanted_user;
    bool crossings; // look for triangles that intersect at x instead of pairs of features
} sn_contact_search;

// Fits the boxes and runs the tasks of all pairs of parts that the filter and `wanted` allow. The
// results are in the pages of the tasks.
sinew_status sn_contact_search_run(sn_contact_scene *scene, const double *x, const double *y,
                                   double reach, sn_contact_wanted_fn *wanted, const void *user);

// Runs one task: descends into both subtrees and appends what it finds to its pages.
void sn_contact_run_task(const sn_contact_scene *scene, sn_contact_task *task);

// Which of up to eight candidates of one kind, all within a group or all not, can touch while their
// vertices stay in their boxes: bit i is set for candidate i unless the closest direction at x
// separates the boxes of its sides.
SN_ISA_DECLARE(uint32_t, sn_contact_cull_block,
               (const sn_contact_candidate *candidates, int32_t count, bool edges, const double *x,
                const sn_box *boxes));

#endif
