#include "geom/distance_queue.h"

#include "base/prefetch.h"

#include <math.h>
#include <string.h>

// Where an item is: in a list of the ring (0 .. SN_QUEUE_BUCKETS - 1), beyond it, in the heap, or nowhere.
enum { PLACE_BEYOND = SN_QUEUE_BUCKETS, PLACE_HEAP, PLACE_NONE };

sinew_status sn_queue_create(sn_arena *arena, int32_t capacity, sn_front_queue **queue) {
    sn_front_queue *made = SN_PUSH(arena, sn_front_queue, 1);
    sn_queue_item *item = SN_RESERVE(arena, sn_queue_item, capacity);
    sn_queue_entry *heap = SN_RESERVE(arena, sn_queue_entry, capacity);
    SN_TRY(sn_arena_status(arena));
    *made = (sn_front_queue){.item = item, .heap = heap, .capacity = capacity};
    sn_queue_reset(made, 1);
    *queue = made;
    return SINEW_OK;
}

void sn_queue_reset(sn_front_queue *queue, double largest_step) {
    SN_ASSERT(largest_step > 0);
    memset(queue->head, -1, sizeof queue->head);
    queue->fresh = 0;
    queue->spare = -1;
    queue->inverse = SN_QUEUE_BUCKETS / (2 * largest_step);
    queue->cursor = -1;
    queue->ring_count = queue->beyond_count = queue->heap_count = 0;
    queue->beyond_first = INT64_MAX;
}

int32_t sn_queue_take(sn_front_queue *queue, int32_t voxel) {
    int32_t item = queue->spare;
    if (item >= 0) {
        queue->spare = queue->item[item].next;
    } else {
        SN_ASSERT(queue->fresh < queue->capacity);
        item = queue->fresh++;
    }
    queue->item[item].voxel = voxel;
    queue->item[item].place = PLACE_NONE;
    return item;
}

void sn_queue_give_back(sn_front_queue *queue, int32_t item) {
    SN_ASSERT(queue->item[item].place == PLACE_NONE);
    queue->item[item].next = queue->spare;
    queue->spare = item;
}

static int64_t bucket_of(const sn_front_queue *queue, double key) {
    double bucket = key * queue->inverse;
    return bucket < 4e18 ? (int64_t)bucket : (int64_t)4e18;
}

static bool before(sn_queue_entry a, sn_queue_entry b) {
    return a.key < b.key || (a.key == b.key && a.voxel < b.voxel);
}

static void put(sn_front_queue *queue, int32_t position, sn_queue_entry entry) {
    queue->heap[position] = entry;
    queue->item[entry.item].previous = position;
}

static void sift_up(sn_front_queue *queue, int32_t position, sn_queue_entry entry) {
    while (position > 0) {
        int32_t parent = (position - 1) / 2;
        if (!before(entry, queue->heap[parent])) break;
        put(queue, position, queue->heap[parent]);
        position = parent;
    }
    put(queue, position, entry);
}

static void sift_down(sn_front_queue *queue, int32_t position, sn_queue_entry entry) {
    int32_t count = queue->heap_count;
    for (;;) {
        int32_t child = 2 * position + 1;
        if (child >= count) break;
        if (child + 1 < count && before(queue->heap[child + 1], queue->heap[child])) child++;
        if (!before(queue->heap[child], entry)) break;
        put(queue, position, queue->heap[child]);
        position = child;
    }
    put(queue, position, entry);
}

static sn_queue_entry entry_of(const sn_front_queue *queue, int32_t item) {
    return (sn_queue_entry){queue->item[item].key, queue->item[item].voxel, item};
}

static void heap_insert(sn_front_queue *queue, int32_t item) {
    queue->item[item].place = PLACE_HEAP;
    sift_up(queue, queue->heap_count++, entry_of(queue, item));
}

static void heap_remove(sn_front_queue *queue, int32_t position) {
    sn_queue_entry last = queue->heap[--queue->heap_count];
    if (position == queue->heap_count) return;
    if (position > 0 && before(last, queue->heap[(position - 1) / 2])) {
        sift_up(queue, position, last);
    } else {
        sift_down(queue, position, last);
    }
}

static void link_item(sn_front_queue *queue, int32_t item, int32_t list) {
    int32_t first = queue->head[list];
    queue->item[item].next = first;
    queue->item[item].previous = -1;
    if (first >= 0) queue->item[first].previous = item;
    queue->head[list] = item;
    queue->item[item].place = (int16_t)list;
}

static void insert(sn_front_queue *queue, int32_t item) {
    int64_t bucket = bucket_of(queue, queue->item[item].key);
    if (bucket <= queue->cursor) {
        heap_insert(queue, item);
    } else if (bucket - queue->cursor < SN_QUEUE_BUCKETS) {
        link_item(queue, item, (int32_t)(bucket % SN_QUEUE_BUCKETS));
        queue->ring_count++;
    } else {
        link_item(queue, item, PLACE_BEYOND);
        queue->beyond_count++;
        if (bucket < queue->beyond_first) queue->beyond_first = bucket;
    }
}

void sn_queue_remove(sn_front_queue *queue, int32_t item) {
    int16_t place = queue->item[item].place;
    if (place == PLACE_NONE) return;
    queue->item[item].place = PLACE_NONE;
    if (place == PLACE_HEAP) {
        heap_remove(queue, queue->item[item].previous);
        return;
    }
    int32_t next = queue->item[item].next, previous = queue->item[item].previous;
    if (next >= 0) queue->item[next].previous = previous;
    if (previous >= 0) {
        queue->item[previous].next = next;
    } else {
        queue->head[place] = next;
    }
    if (place == PLACE_BEYOND) {
        queue->beyond_count--; // beyond_first may now be too low, which costs a look, not an error
    } else {
        queue->ring_count--;
    }
}

void sn_queue_push(sn_front_queue *queue, int32_t item, double key) {
    SN_ASSERT(key >= 0 && isfinite(key));
    int16_t place = queue->item[item].place;
    if (place == PLACE_NONE) {
        queue->item[item].key = key;
        insert(queue, item);
        return;
    }
    SN_ASSERT(key <= queue->item[item].key);
    queue->item[item].key = key;
    if (place == PLACE_HEAP) {
        sift_up(queue, queue->item[item].previous, entry_of(queue, item));
    } else if (place == PLACE_BEYOND || bucket_of(queue, key) % SN_QUEUE_BUCKETS != place) {
        sn_queue_remove(queue, item);
        insert(queue, item);
    }
}

// Moves what the ring has come near enough to from the list beyond into the ring.
static void fetch_beyond(sn_front_queue *queue) {
    int32_t item = queue->head[PLACE_BEYOND];
    queue->head[PLACE_BEYOND] = -1;
    queue->beyond_count = 0;
    queue->beyond_first = INT64_MAX;
    while (item >= 0) {
        int32_t next = queue->item[item].next;
        insert(queue, item);
        item = next;
    }
}

static int64_t lowest_beyond(const sn_front_queue *queue) {
    int64_t lowest = INT64_MAX;
    for (int32_t i = queue->head[PLACE_BEYOND]; i >= 0; i = queue->item[i].next) {
        int64_t bucket = bucket_of(queue, queue->item[i].key);
        if (bucket < lowest) lowest = bucket;
    }
    return lowest;
}

// Makes the lowest bucket with items the heap. Returns false if there is none.
static bool advance(sn_front_queue *queue) {
    while (queue->heap_count == 0) {
        if (queue->ring_count == 0) {
            if (queue->beyond_count == 0) return false;
            queue->cursor = lowest_beyond(queue) - 1;
            fetch_beyond(queue);
            SN_ASSERT(queue->ring_count > 0);
        }
        queue->cursor++;
        if (queue->beyond_first <= queue->cursor) fetch_beyond(queue);
        int32_t list = (int32_t)(queue->cursor % SN_QUEUE_BUCKETS);
        for (int32_t item = queue->head[list]; item >= 0;) {
            int32_t next = queue->item[item].next;
            heap_insert(queue, item);
            queue->ring_count--;
            item = next;
        }
        queue->head[list] = -1;
        int32_t soon = queue->head[(list + 1) % SN_QUEUE_BUCKETS];
        if (soon >= 0) SN_PREFETCH(&queue->item[soon]);
    }
    queue->turned = true;
    return true;
}

int32_t sn_queue_pop(sn_front_queue *queue) {
    if (queue->heap_count == 0 && !advance(queue)) return -1;
    int32_t item = queue->heap[0].item;
    heap_remove(queue, 0);
    queue->item[item].place = PLACE_NONE;
    return item;
}
