// Node tags; see io/mesh/tags.h.
#include "io/mesh/tags.h"

// A table may be larger than the number of tags by this factor and this number.
enum { TABLE_FACTOR = 4, TABLE_EXTRA = 4096 };

// Merge sort of indices by tag, bottom up.
static sinew_status sort_tags(sinew_context *context, const int64_t *tags, int32_t count,
                              int32_t *order) {
    int32_t *scratch = sn_allocate(context, (size_t)count, sizeof *scratch);
    if (!scratch) {
        return SINEW_OUT_OF_MEMORY;
    }

    int32_t *from = order;
    int32_t *to = scratch;
    for (int32_t i = 0; i < count; i++) {
        order[i] = i;
    }

    // Merge neighbouring runs of `width` from one array into the other.
    for (int64_t width = 1; width < count; width *= 2) {
        for (int64_t begin = 0; begin < count; begin += 2 * width) {
            int64_t middle = begin + width < count ? begin + width : count;
            int64_t end = begin + 2 * width < count ? begin + 2 * width : count;
            int64_t i = begin;
            int64_t j = middle;

            for (int64_t k = begin; k < end; k++) {
                bool left = i < middle && (j >= end || tags[from[i]] <= tags[from[j]]);
                to[k] = left ? from[i++] : from[j++];
            }
        }

        // The next pass runs in the opposite direction.
        int32_t *swap = from;
        from = to;
        to = swap;
    }

    // The result must be in the caller's array.
    if (from != order) {
        for (int32_t i = 0; i < count; i++) {
            order[i] = from[i];
        }
    }

    sn_release(context, scratch, (size_t)count, sizeof *scratch);
    return SINEW_OK;
}

static sinew_status create_table(sn_tags *out, const int64_t *tags, int32_t *twice) {
    out->table_count = (size_t)(out->last - out->first) + 1;
    out->table = sn_allocate(out->context, out->table_count, sizeof *out->table);
    if (!out->table) {
        return SINEW_OUT_OF_MEMORY;
    }

    for (int32_t i = 0; i < out->count; i++) {
        int32_t *entry = &out->table[tags[i] - out->first];
        if (*entry) {
            *twice = i;
            return SINEW_INVALID_DATA;
        }
        *entry = i + 1;
    }

    return SINEW_OK;
}

static sinew_status create_sorted(sn_tags *out, const int64_t *tags, int32_t *twice) {
    out->order = sn_allocate(out->context, (size_t)out->count, sizeof *out->order);
    out->sorted = sn_allocate(out->context, (size_t)out->count, sizeof *out->sorted);
    if (!out->order || !out->sorted) {
        return SINEW_OUT_OF_MEMORY;
    }

    SN_TRY(sort_tags(out->context, tags, out->count, out->order));
    for (int32_t i = 0; i < out->count; i++) {
        out->sorted[i] = tags[out->order[i]];
        if (i == 0 || out->sorted[i] != out->sorted[i - 1]) {
            continue;
        }
        *twice = out->order[i];
        return SINEW_INVALID_DATA;
    }

    return SINEW_OK;
}

sinew_status sn_tags_create(sinew_context *context, const int64_t *tags, int32_t count,
                            sn_tags *out, int32_t *twice) {
    *out = (sn_tags){.context = context, .count = count, .last = -1};
    if (count == 0) {
        return SINEW_OK;
    }

    // Range of the tags, and whether they are consecutive.
    int64_t smallest = tags[0];
    int64_t largest = tags[0];
    bool consecutive = true;

    for (int32_t i = 0; i < count; i++) {
        if (tags[i] < smallest) {
            smallest = tags[i];
        }
        if (tags[i] > largest) {
            largest = tags[i];
        }

        consecutive = consecutive && tags[i] - i == tags[0];
    }

    SN_ASSERT(smallest > INT64_MIN / 2 && largest < INT64_MAX / 2);
    out->first = smallest;
    out->last = largest;

    // Choose the cheapest representation.
    if (consecutive) {
        return SINEW_OK;
    }
    if (largest - smallest < (int64_t)TABLE_FACTOR * count + TABLE_EXTRA) {
        return create_table(out, tags, twice);
    }

    return create_sorted(out, tags, twice);
}

void sn_tags_destroy(sn_tags *tags) {
    if (!tags->context) {
        return;
    }

    sn_release(tags->context, tags->table, tags->table_count, sizeof *tags->table);
    sn_release(tags->context, tags->sorted, (size_t)tags->count, sizeof *tags->sorted);
    sn_release(tags->context, tags->order, (size_t)tags->count, sizeof *tags->order);
    *tags = (sn_tags){0};
}

int32_t sn_tags_search(const sn_tags *tags, int64_t tag) {
    int32_t low = 0;
    int32_t high = tags->count;
    while (low < high) {
        int32_t middle = low + (high - low) / 2;
        if (tags->sorted[middle] < tag) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }

    return low < tags->count && tags->sorted[low] == tag ? tags->order[low] : -1;
}
