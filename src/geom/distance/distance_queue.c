// The priority queue of a front: a ring of buckets of which only the current one is ordered; see
// distance_queue.h.
#include "geom/distance/distance_queue.h"

#include "base/prefetch.h"

#include <math.h>

// Where an item is: in a list of the ring (0 .. SN_QUEUE_BUCKETS - 1), beyond the ring, in the
// current bucket, or nowhere.
enum {
    LIST_BEYOND = SN_QUEUE_BUCKETS,
    LIST_PRESENT,
    LIST_NONE,
    LISTS = SN_QUEUE_BUCKETS + 1,
    MOST_SORTED = 64
};

sinew_status sn_queue_create(sn_arena *arena, int32_t capacity, sn_front_queue **queue) {
    sn_front_queue *made = SN_PUSH(arena, sn_front_queue, 1);
    sn_queue_item *item = SN_RESERVE(arena, sn_queue_item, capacity);
    sn_queue_link *link = SN_RESERVE(arena, sn_queue_link, (size_t)capacity + LISTS);
    sn_queue_entry *present = SN_RESERVE(arena, sn_queue_entry, capacity);

    SN_TRY(sn_arena_status(arena));
    *made = (sn_front_queue){
        .item = item, .link = link + LISTS, .present = present, .capacity = capacity};
    sn_queue_reset(made, 1);
    *queue = made;

    return SINEW_OK;
}

static void empty_list(sn_front_queue *queue, int32_t list) {
    queue->link[-1 - list] = (sn_queue_link){-1 - list, -1 - list};
}

void sn_queue_reset(sn_front_queue *queue, double largest_step) {
    SN_ASSERT(largest_step > 0);
    for (int32_t list = 0; list < LISTS; list++) {
        empty_list(queue, list);
    }

    queue->fresh = 0;
    queue->spare = -1;
    queue->inverse = SN_QUEUE_BUCKETS / (2 * largest_step);
    queue->cursor = -1;
    queue->ring_count = queue->beyond_count = queue->present_count = 0;
    queue->beyond_first = INT64_MAX;
    queue->heaped = false;
}

int32_t sn_queue_take(sn_front_queue *queue, int32_t voxel) {
    int32_t item = queue->spare;
    if (item >= 0) {
        queue->spare = queue->item[item].position;
    } else {
        SN_ASSERT(queue->fresh < queue->capacity);
        item = queue->fresh++;
    }

    queue->item[item].voxel = voxel;
    queue->item[item].list = LIST_NONE;

    return item;
}

void sn_queue_give_back(sn_front_queue *queue, int32_t item) {
    SN_ASSERT(queue->item[item].list == LIST_NONE);
    queue->item[item].position = queue->spare;
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
    queue->present[position] = entry;
    queue->item[entry.item].position = position;
}

// Inserts an entry into the current bucket, which is sorted up to the free slot `position`.
static void sort_in(sn_front_queue *queue, int32_t position, sn_queue_entry entry) {
    for (; position > 0 && before(queue->present[position - 1], entry); position--) {
        put(queue, position, queue->present[position - 1]);
    }
    put(queue, position, entry);
}

// Moves an entry whose key has become smaller towards the end.
static void sort_back(sn_front_queue *queue, int32_t position, sn_queue_entry entry) {
    for (; position + 1 < queue->present_count && before(entry, queue->present[position + 1]);
         position++) {
        put(queue, position, queue->present[position + 1]);
    }
    put(queue, position, entry);
}

static void sift_up(sn_front_queue *queue, int32_t position, sn_queue_entry entry) {
    while (position > 0) {
        int32_t parent = (position - 1) / 2;
        if (!before(entry, queue->present[parent])) {
            break;
        }
        put(queue, position, queue->present[parent]);
        position = parent;
    }

    put(queue, position, entry);
}

static void sift_down(sn_front_queue *queue, int32_t position, sn_queue_entry entry) {
    int32_t count = queue->present_count;
    for (;;) {
        int32_t child = 2 * position + 1;
        if (child >= count) {
            break;
        }
        if (child + 1 < count) {
            child += before(queue->present[child + 1], queue->present[child]);
        }
        if (!before(queue->present[child], entry)) {
            break;
        }

        put(queue, position, queue->present[child]);
        position = child;
    }

    put(queue, position, entry);
}

static void remove_from_heap(sn_front_queue *queue, int32_t position) {
    sn_queue_entry last = queue->present[--queue->present_count];
    if (position == queue->present_count) {
        return;
    }

    if (position > 0 && before(last, queue->present[(position - 1) / 2])) {
        sift_up(queue, position, last);
    } else {
        sift_down(queue, position, last);
    }
}

static sn_queue_entry entry_of(const sn_front_queue *queue, int32_t item) {
    return (sn_queue_entry){queue->item[item].key, queue->item[item].voxel, item};
}

// Reverses the order: a sorted array is a heap.
static void make_heap(sn_front_queue *queue) {
    for (int32_t i = 0, k = queue->present_count - 1; i <= k; i++, k--) {
        sn_queue_entry first = queue->present[i];
        put(queue, i, queue->present[k]);
        put(queue, k, first);
    }
    queue->heaped = true;
}

static void insert_present(sn_front_queue *queue, int32_t item) {
    if (queue->present_count == 0) {
        queue->heaped = false;
    }
    if (queue->present_count == MOST_SORTED && !queue->heaped) {
        make_heap(queue);
    }

    queue->item[item].list = LIST_PRESENT;
    int32_t last = queue->present_count++;
    if (queue->heaped) {
        sift_up(queue, last, entry_of(queue, item));
    } else {
        sort_in(queue, last, entry_of(queue, item));
    }
}

// The key of an item has become smaller.
static void lower_present(sn_front_queue *queue, int32_t item) {
    if (queue->heaped) {
        sift_up(queue, queue->item[item].position, entry_of(queue, item));
    } else {
        sort_back(queue, queue->item[item].position, entry_of(queue, item));
    }
}

static void remove_present(sn_front_queue *queue, int32_t position) {
    if (queue->heaped) {
        remove_from_heap(queue, position);
        return;
    }

    queue->present_count--;
    for (; position < queue->present_count; position++) {
        put(queue, position, queue->present[position + 1]);
    }
}

static void link_item(sn_front_queue *queue, int32_t item, int32_t list) {
    int32_t first = queue->link[-1 - list].next;
    queue->link[item] = (sn_queue_link){first, -1 - list};
    queue->link[first].previous = item;
    queue->link[-1 - list].next = item;
    queue->item[item].list = (int16_t)list;
}

static void insert(sn_front_queue *queue, int32_t item) {
    int64_t bucket = bucket_of(queue, queue->item[item].key);
    if (bucket <= queue->cursor) {
        insert_present(queue, item);
    } else if (bucket - queue->cursor < SN_QUEUE_BUCKETS) {
        link_item(queue, item, (int32_t)(bucket % SN_QUEUE_BUCKETS));
        queue->ring_count++;
    } else {
        link_item(queue, item, LIST_BEYOND);
        queue->beyond_count++;
        if (bucket < queue->beyond_first) {
            queue->beyond_first = bucket;
        }
    }
}

static void unlink_item(sn_front_queue *queue, int32_t item) {
    sn_queue_link link = queue->link[item];
    queue->link[link.next].previous = link.previous;
    queue->link[link.previous].next = link.next;
}

void sn_queue_remove(sn_front_queue *queue, int32_t item) {
    int16_t list = queue->item[item].list;
    if (list == LIST_NONE) {
        return;
    }

    queue->item[item].list = LIST_NONE;
    if (list == LIST_PRESENT) {
        remove_present(queue, queue->item[item].position);
        return;
    }

    unlink_item(queue, item);
    if (list == LIST_BEYOND) {
        queue->beyond_count--; // beyond_first may now be too low: harmless
    } else {
        queue->ring_count--;
    }
}

void sn_queue_push(sn_front_queue *queue, int32_t item, double key) {
    SN_ASSERT(key >= 0 && isfinite(key));
    int16_t list = queue->item[item].list;
    if (list == LIST_NONE) {
        queue->item[item].key = key;
        insert(queue, item);
        return;
    }

    SN_ASSERT(key <= queue->item[item].key);
    queue->item[item].key = key;
    if (list == LIST_PRESENT) {
        lower_present(queue, item);
    } else if (list == LIST_BEYOND || bucket_of(queue, key) % SN_QUEUE_BUCKETS != list) {
        sn_queue_remove(queue, item);
        insert(queue, item);
    }
}

// Moves items that are now within the ring's range from the list beyond it into the ring.
static void fetch_beyond(sn_front_queue *queue) {
    int32_t item = queue->link[-1 - LIST_BEYOND].next;
    empty_list(queue, LIST_BEYOND);
    queue->beyond_count = 0;
    queue->beyond_first = INT64_MAX;

    while (item >= 0) {
        int32_t next = queue->link[item].next;
        insert(queue, item);
        item = next;
    }
}

static int64_t lowest_beyond(const sn_front_queue *queue) {
    int64_t lowest = INT64_MAX;
    for (int32_t i = queue->link[-1 - LIST_BEYOND].next; i >= 0; i = queue->link[i].next) {
        int64_t bucket = bucket_of(queue, queue->item[i].key);
        if (bucket < lowest) {
            lowest = bucket;
        }
    }

    return lowest;
}

// Makes the lowest non-empty bucket the current one. Returns false if there is none.
static bool advance(sn_front_queue *queue) {
    while (queue->present_count == 0) {
        // The ring is empty: jump to the lowest key beyond it.
        if (queue->ring_count == 0) {
            if (queue->beyond_count == 0) {
                return false;
            }
            queue->cursor = lowest_beyond(queue) - 1;
            fetch_beyond(queue);
            SN_ASSERT(queue->ring_count > 0);
        }

        queue->cursor++;
        if (queue->beyond_first <= queue->cursor) {
            fetch_beyond(queue);
        }

        // Order the items of the next bucket, and prefetch those of the one after it.
        int32_t list = (int32_t)(queue->cursor % SN_QUEUE_BUCKETS);
        int32_t soon = (list + 1) % SN_QUEUE_BUCKETS;
        for (int32_t item = queue->link[-1 - list].next; item >= 0; item = queue->link[item].next) {
            insert_present(queue, item);
            queue->ring_count--;
        }

        empty_list(queue, list);
        for (int32_t item = queue->link[-1 - soon].next; item >= 0; item = queue->link[item].next) {
            SN_PREFETCH(&queue->item[item]);
        }
    }

    queue->advanced = true;
    return true;
}

int32_t sn_queue_pop(sn_front_queue *queue) {
    if (queue->present_count == 0 && !advance(queue)) {
        return -1;
    }

    int32_t position = queue->heaped ? 0 : queue->present_count - 1;
    int32_t item = queue->present[position].item;
    remove_present(queue, position);
    queue->item[item].list = LIST_NONE;

    return item;
}
