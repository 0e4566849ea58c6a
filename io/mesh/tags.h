// Maps the numbers (tags) that a file gives its nodes to indices from 0. Consecutive tags, as most
// files have them, only need a subtraction. Tags with gaps use a table or, if they are widely
// scattered, a binary search.
#ifndef SN_IO_MESH_TAGS_H
#define SN_IO_MESH_TAGS_H

#include "base/memory.h"

typedef struct sn_tags {
    sinew_context *context;
    int64_t first, last; // smallest and largest tag
    int32_t count;
    int32_t *table; // range entries, index + 1 or 0; NULL if the tags are consecutive and in order
    size_t table_count;
    int64_t *sorted; // tags in order, if they are scattered; `order` holds their indices
    int32_t *order;
} sn_tags;

// Prepares the map tags[i] -> i. If a tag occurs twice, *twice is the second index and
// SINEW_INVALID_DATA is returned without a message. The map must be destroyed in every case.
sinew_status sn_tags_create(sinew_context *context, const int64_t *tags, int32_t count,
                            sn_tags *out, int32_t *twice);
void sn_tags_destroy(sn_tags *tags);

int32_t sn_tags_search(const sn_tags *tags, int64_t tag);

// The index of a tag, or -1. Zeroed tags contain none.
static inline int32_t sn_tags_find(const sn_tags *tags, int64_t tag) {
    if (tags->count == 0 || tag < tags->first || tag > tags->last) {
        return -1;
    }
    if (tags->table) {
        return tags->table[tag - tags->first] - 1;
    }
    if (tags->sorted) {
        return sn_tags_search(tags, tag);
    }

    return (int32_t)(tag - tags->first);
}

#endif
