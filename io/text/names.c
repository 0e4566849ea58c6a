// A hash table of words: FNV-1a with linear probing, at most half full.
#include "io/text/names.h"

#include <string.h>

sn_names sn_names_create(sn_arena *arena) {
    return (sn_names){.arena = arena,
                      .words = sn_buffer_create(arena->context),
                      .slots = sn_buffer_create(arena->context)};
}

void sn_names_destroy(sn_names *names) {
    sn_buffer_destroy(&names->words);
    sn_buffer_destroy(&names->slots);
    names->count = 0;
}

static uint32_t hash_word(sn_word word) {
    uint32_t hash = 2166136261u;
    for (size_t i = 0; i < word.size; i++) {
        hash = (hash ^ (uint8_t)word.at[i]) * 16777619u;
    }
    return hash ^ (hash >> 15);
}

static size_t slot_count(const sn_names *names) {
    return names->slots.size / sizeof(int32_t);
}

// The slot that holds the word, or the free one where it belongs. There must be a free slot.
static int32_t *find_slot(const sn_names *names, sn_word word) {
    int32_t *slots = (int32_t *)(void *)names->slots.data;
    size_t mask = slot_count(names) - 1;
    for (size_t i = hash_word(word) & mask;; i = (i + 1) & mask) {
        if (slots[i] == 0) {
            return &slots[i];
        }

        sn_word other = sn_names_get(names, slots[i] - 1);
        if (other.size == word.size && memcmp(other.at, word.at, word.size) == 0) {
            return &slots[i];
        }
    }
}

static bool grow_slots(sn_names *names) {
    size_t count = slot_count(names) ? 2 * slot_count(names) : 64;
    sn_buffer_clear(&names->slots);
    sn_buffer_add_zeros(&names->slots, count * sizeof(int32_t));
    if (names->slots.failed) {
        return false;
    }

    for (int32_t i = 0; i < names->count; i++) {
        *find_slot(names, sn_names_get(names, i)) = i + 1;
    }

    return true;
}

int32_t sn_names_find(const sn_names *names, sn_word word) {
    return slot_count(names) ? *find_slot(names, word) - 1 : -1;
}

int32_t sn_names_add(sn_names *names, sn_word word) {
    int32_t found = sn_names_find(names, word);
    if (found >= 0) {
        return found;
    }

    // At most half of the slots are used, so that searches stay short.
    if (2 * ((size_t)names->count + 1) > slot_count(names) && !grow_slots(names)) {
        return -1;
    }

    // Keep a copy of the word, and note its number in the slot.
    char *copy = SN_PUSH(names->arena, char, word.size + 1);
    if (!copy) {
        return -1;
    }
    if (word.size) {
        memcpy(copy, word.at, word.size);
    }

    sn_word kept = {copy, word.size};
    int32_t *slot = find_slot(names, word);

    sn_buffer_add(&names->words, &kept, sizeof kept);
    if (names->words.failed) {
        return -1;
    }

    *slot = ++names->count;
    return names->count - 1;
}
