// The priority queue of a front: the voxel with the smallest key first, equal keys by voxel.
//
// Keys are sorted into buckets of equal width, a ring of them around the current one; only the
// current bucket is kept in order (the hot queue of Cherkassky, Goldberg and Silverstein 1999). It
// is a sorted array while it is small, which is faster, and a heap once it has grown, as it does
// with flat fronts or material much stiffer than the softest. Keys beyond the ring wait in a
// separate list.
//
// The data of a queued voxel is an item, taken from a pool and returned when the voxel is accepted:
// a front is a surface, so its items are few compared with the voxels and stay in the cache.
// Nothing is allocated while a front runs.
#ifndef SN_GEOM_DISTANCE_DISTANCE_QUEUE_H
#define SN_GEOM_DISTANCE_DISTANCE_QUEUE_H

#include "base/memory.h"

enum { SN_QUEUE_BUCKETS = 1024 };

// Sums of a marching stencil: over the weights p of its terms, and over p t and p t^2 with the
// terms' values t relative to `base`.
typedef struct sn_stencil {
    double base, S0, S1, S2;
} sn_stencil;

// One cache line, because it is all used together.
typedef struct sn_queue_item {
    double key;
    int32_t voxel;
    int32_t position;   // in the current bucket; of items in the pool, the next one
    int16_t list;       // a bucket of the ring, LIST_BEYOND, LIST_PRESENT or LIST_NONE
    uint8_t held, axes; // used by the front, as are all members below
    int32_t source, first_source;
    sn_stencil stencil;
} sn_queue_item;

// Links of a list, closed to a ring by its head, so that removing an item needs no branch.
typedef struct sn_queue_link {
    int32_t next, previous; // items, or heads: -1 - list
} sn_queue_link;

typedef struct sn_queue_entry {
    double key;
    int32_t voxel, item;
} sn_queue_entry;

typedef struct sn_front_queue {
    sn_queue_item *item;
    int32_t capacity; // items
    int32_t fresh;    // the first item that has never been taken
    int32_t spare;    // the first item of the pool of returned ones
    double inverse;   // 1 / width of a bucket
    int64_t cursor;   // the current bucket; every key in the ring or beyond has a higher one
    int32_t ring_count, beyond_count, present_count;
    int64_t beyond_first;    // lowest bucket in the list beyond the ring
    sn_queue_link *link;     // of the items; before them the heads, the last list beyond the ring
    sn_queue_entry *present; // the current bucket: sorted with the smallest key last, or a heap
    bool heaped;             // `present` is a heap, smallest key first
    bool advanced;           // a new bucket has become the current one; the owner clears it
} sn_front_queue;

// Allocates a queue for up to `capacity` voxels at once.
sinew_status sn_queue_create(sn_arena *arena, int32_t capacity, sn_front_queue **queue);

// Empties the queue, reclaims all items, and sets the width of a bucket to a fraction of the
// largest step by which a key can grow.
void sn_queue_reset(sn_front_queue *queue, double largest_step);

// An item for a voxel that has none; it is not in the queue yet.
int32_t sn_queue_take(sn_front_queue *queue, int32_t voxel);

// Returns an item that is not in the queue to the pool.
void sn_queue_give_back(sn_front_queue *queue, int32_t item);

// Inserts an item, or moves it to a smaller key.
void sn_queue_push(sn_front_queue *queue, int32_t item, double key);

// Removes the item with the smallest key and returns it, or returns -1.
int32_t sn_queue_pop(sn_front_queue *queue);

// Removes an item from wherever it is; does nothing if it is not queued.
void sn_queue_remove(sn_front_queue *queue, int32_t item);

#endif
