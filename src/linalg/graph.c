// Reverse Cuthill-McKee in linear time: all adjacency lists are sorted by degree with one counting
// sort, then searched breadth-first.
#include "linalg/graph.h"

typedef struct search {
    const int32_t *starts, *neighbors; // by ascending degree
    int32_t *queue;                    // rows in the order they are reached
    int32_t *seen;                     // stamp of the search that has reached a row
    int32_t stamp;
} search;

// Fills `neighbors` so that each row's list ascends in (degree, index): rows are visited by
// ascending degree and appended to the lists of their neighbours. `by_degree` and `next` have
// `rows` entries, `bucket` rows + 2.
static void sort_neighbors(const sn_bsr *pattern, int32_t *neighbors, int32_t *by_degree,
                           int32_t *next, int32_t *bucket) {
    int32_t n = pattern->rows;

    // Counting sort of the rows by degree.
    for (int32_t i = 0; i < n; i++) {
        bucket[pattern->starts[i + 1] - pattern->starts[i] + 1]++;
    }

    for (int32_t d = 0; d <= n; d++) {
        bucket[d + 1] += bucket[d];
    }

    for (int32_t i = 0; i < n; i++) {
        by_degree[bucket[pattern->starts[i + 1] - pattern->starts[i]]++] = i;
    }

    // Append the rows in that order to the lists of their neighbours.
    for (int32_t i = 0; i < n; i++) {
        next[i] = pattern->starts[i];
    }

    for (int32_t s = 0; s < n; s++) {
        int32_t i = by_degree[s];
        for (int32_t k = pattern->starts[i]; k < pattern->starts[i + 1]; k++) {
            neighbors[next[pattern->columns[k]]++] = i;
        }
    }
}

// Visits everything connected to `root`; returns the number of rows and sets *last_level to the
// queue position at which the last level begins.
static int32_t run(search *s, int32_t root, int32_t *level, int32_t first_level, int32_t *depth,
                   int32_t *last_level) {
    int32_t head = 0, tail = 0, level_end = 1, distance = 0;

    // Breadth-first search. All rows of a level are in the queue when the previous level ends.
    s->stamp++;
    s->queue[tail++] = root;
    s->seen[root] = s->stamp;
    *last_level = 0;

    while (head < tail) {
        if (head == level_end) {
            *last_level = head;
            level_end = tail;
            distance++;
        }

        int32_t i = s->queue[head++];
        if (level) {
            level[i] = first_level + distance;
        }

        for (int32_t k = s->starts[i]; k < s->starts[i + 1]; k++) {
            int32_t j = s->neighbors[k];
            if (s->seen[j] == s->stamp) {
                continue;
            }
            s->seen[j] = s->stamp;
            s->queue[tail++] = j;
        }
    }

    *depth = distance + 1;
    return tail;
}

// A peripheral row of the component (George and Liu 1979): search, move to the row of least degree
// in the last level, and repeat while that deepens the search.
static int32_t peripheral_row(search *s, int32_t root) {
    int32_t depth = 0;
    for (;;) {
        int32_t deeper, last_level;
        int32_t count = run(s, root, NULL, 0, &deeper, &last_level);
        if (deeper <= depth) {
            return root;
        }

        // The row of least degree in the last level is the next root.
        depth = deeper;
        int32_t best = s->queue[last_level];
        for (int32_t q = last_level; q < count; q++) {
            int32_t i = s->queue[q];
            if (s->starts[i + 1] - s->starts[i] < s->starts[best + 1] - s->starts[best]) {
                best = i;
            }
        }

        root = best;
    }
}

sinew_status sn_graph_rcm(sinew_context *context, const sn_bsr *pattern, int32_t *order,
                          int32_t *level) {
    int32_t n = pattern->rows;
    sn_arena scratch = sn_arena_create(context);
    int32_t *neighbors = SN_PUSH(&scratch, int32_t, pattern->blocks);
    int32_t *queue = SN_PUSH(&scratch, int32_t, n);
    int32_t *seen = SN_PUSH(&scratch, int32_t, n);
    int32_t *bucket = SN_PUSH(&scratch, int32_t, (size_t)n + 2);
    uint8_t *placed = SN_PUSH(&scratch, uint8_t, n);

    if (scratch.failed) {
        sn_arena_destroy(&scratch);
        return SINEW_OUT_OF_MEMORY;
    }

    sort_neighbors(pattern, neighbors, order, queue, bucket);
    search s = {.starts = pattern->starts, .neighbors = neighbors, .queue = queue, .seen = seen};
    int32_t end = n;
    int32_t first_level = 0;

    // Number one component after another, from the end, which reverses the order.
    for (int32_t root = 0; root < n; root++) {
        if (placed[root]) {
            continue;
        }

        int32_t depth, last_level;
        int32_t count = run(&s, peripheral_row(&s, root), level, first_level, &depth, &last_level);
        for (int32_t q = 0; q < count; q++) {
            order[--end] = queue[q];
            placed[queue[q]] = 1;
        }

        first_level += depth;
    }

    SN_ASSERT(end == 0);
    sn_arena_destroy(&scratch);

    return SINEW_OK;
}
