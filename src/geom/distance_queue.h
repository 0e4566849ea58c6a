// The queue of a front: the voxel with the smallest key first, equal keys by index.
//
// Keys are sorted into buckets of equal width, a ring of them around the present one; only the present bucket is kept as a
// heap (the hot queue of Cherkassky, Goldberg and Silverstein 1999). Keys beyond the ring wait in a list of their own. All
// links are arrays over voxels, so that nothing is allocated while a front runs.
#ifndef SN_GEOM_DISTANCE_QUEUE_H
#define SN_GEOM_DISTANCE_QUEUE_H

#include "base/memory.h"

enum { SN_QUEUE_BUCKETS = 1024 };

// What the queue and its owner know of an item: one cache line, because it is all used together.
typedef struct sn_queue_item {
    double key;
    int32_t next, previous; // in its list; `previous` is the position for items in the heap
    int16_t place;          // list, heap or none
    uint8_t state, axes;    // the owner's, like all that follows
    int32_t source, first_source;
    double base, S0, S1, S2;
} sn_queue_item;

typedef struct sn_front_queue {
    sn_queue_item *item;
    double inverse; // 1 / width of a bucket
    int64_t cursor; // bucket of the heap; every key in the ring or beyond has a higher bucket
    int32_t ring_count, beyond_count, heap_count;
    int64_t beyond_first;               // lowest bucket in the list beyond the ring
    int32_t head[SN_QUEUE_BUCKETS + 1]; // first item of each list; the last list is beyond the ring
    int32_t *heap;
    bool turned; // a new bucket became the heap; for the owner to clear
} sn_front_queue;

sinew_status sn_queue_create(sn_arena *arena, int32_t capacity, sn_front_queue **queue);

// Empties the queue and sets the width of a bucket: a fraction of the largest step a key can grow by.
void sn_queue_reset(sn_front_queue *queue, double largest_step);

// Puts an item in, or moves it to a smaller key.
void sn_queue_push(sn_front_queue *queue, int32_t item, double key);

// Takes out the item with the smallest key, or returns -1.
int32_t sn_queue_pop(sn_front_queue *queue);

// Takes out an item wherever it is; nothing happens if it is not in.
void sn_queue_remove(sn_front_queue *queue, int32_t item);

#endif
