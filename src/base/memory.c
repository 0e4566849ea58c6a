// Allocation through the context, and arenas. An arena is a chain of blocks; each block is twice as
// large as the one before, up to a limit, or as large as a single push needs.
#include "base/memory.h"

#include <string.h>

struct sn_arena_block {
    sn_arena_block *older;
    size_t size; // of the payload
    size_t used;
};

enum { FIRST_BLOCK = 1 << 12, LARGEST_BLOCK = 1 << 16 };

// The payload starts at the first aligned address after the header.
static const size_t header_size =
    (sizeof(sn_arena_block) + SN_ALIGNMENT - 1) / SN_ALIGNMENT * SN_ALIGNMENT;

static void *allocate_bytes(sinew_context *context, size_t bytes) {
    void *memory = context->allocator.allocate(context->allocator.user, bytes, SN_ALIGNMENT);
    context->allocations++;
    if (!memory) {
        sn_fail(context, SINEW_OUT_OF_MEMORY,
                "out of memory: %zu bytes were refused, with %lld in use", bytes,
                (long long)context->bytes_in_use);
        return NULL;
    }

    context->bytes_in_use += (int64_t)bytes;
    return memory;
}

static void release_bytes(sinew_context *context, void *memory, size_t bytes) {
    context->bytes_in_use -= (int64_t)bytes;
    context->allocator.release(context->allocator.user, memory, bytes);
}

// The bytes of `count` items, at least 1, or 0 if the product overflows a size_t.
static size_t checked_bytes(size_t count, size_t size) {
    SN_ASSERT(size > 0);
    if (count > (SIZE_MAX / 2 - header_size) / size) {
        return 0;
    }
    return count ? count * size : 1;
}

void *sn_allocate(sinew_context *context, size_t count, size_t size) {
    size_t bytes = checked_bytes(count, size);
    if (!bytes) {
        sn_fail(context, SINEW_OUT_OF_MEMORY,
                "out of memory: %zu items of %zu bytes exceed the address space", count, size);
        return NULL;
    }

    void *memory = allocate_bytes(context, bytes);
    if (memory) {
        memset(memory, 0, bytes);
    }

    return memory;
}

void sn_release(sinew_context *context, void *memory, size_t count, size_t size) {
    if (memory) {
        release_bytes(context, memory, checked_bytes(count, size));
    }
}

sinew_status sn_grow(sinew_context *context, void **array, size_t *capacity, size_t used,
                     size_t needed, size_t size) {
    SN_ASSERT(used <= *capacity);
    if (needed <= *capacity) {
        return SINEW_OK;
    }

    // Double the capacity, so that n pushes cost O(n).
    size_t larger = *capacity ? *capacity * 2 : 16;
    if (larger < needed) {
        larger = needed;
    }

    void *moved = sn_allocate(context, larger, size);
    if (!moved) {
        return SINEW_OUT_OF_MEMORY;
    }
    if (used) {
        memcpy(moved, *array, used * size);
    }

    sn_release(context, *array, *capacity, size);
    *array = moved;
    *capacity = larger;

    return SINEW_OK;
}

sn_arena sn_arena_create(sinew_context *context) {
    return (sn_arena){.context = context};
}

void sn_arena_destroy(sn_arena *arena) {
    sn_arena_rewind(arena, (sn_arena_mark){0});
}

static sn_arena_block *push_block(sn_arena *arena, size_t bytes) {
    size_t size = arena->blocks ? arena->blocks->size * 2 : FIRST_BLOCK;
    if (size > LARGEST_BLOCK) {
        size = LARGEST_BLOCK;
    }
    if (size < bytes) {
        size = bytes;
    }

    sn_arena_block *block = allocate_bytes(arena->context, header_size + size);
    if (!block) {
        return NULL;
    }

    *block = (sn_arena_block){.older = arena->blocks, .size = size};
    arena->blocks = block;

    return block;
}

void *sn_arena_push(sn_arena *arena, size_t count, size_t size) {
    void *memory = sn_arena_reserve(arena, count, size);
    if (memory) {
        memset(memory, 0, checked_bytes(count, size));
    }
    return memory;
}

void *sn_arena_reserve(sn_arena *arena, size_t count, size_t size) {
    size_t bytes = checked_bytes(count, size);
    if (!bytes) {
        sn_fail(arena->context, SINEW_OUT_OF_MEMORY,
                "out of memory: %zu items of %zu bytes exceed the address space", count, size);
        arena->failed = true;
        return NULL;
    }

    // Every push keeps the next one aligned.
    bytes = (bytes + SN_ALIGNMENT - 1) / SN_ALIGNMENT * SN_ALIGNMENT;
    sn_arena_block *block = arena->blocks;
    if (!block || block->size - block->used < bytes) {
        block = push_block(arena, bytes);
    }

    if (!block) {
        arena->failed = true;
        return NULL;
    }

    void *memory = (char *)block + header_size + block->used;
    block->used += bytes;

    return memory;
}

sinew_status sn_arena_status(const sn_arena *arena) {
    return arena->failed ? SINEW_OUT_OF_MEMORY : SINEW_OK;
}

sn_arena_mark sn_arena_get_mark(const sn_arena *arena) {
    return (sn_arena_mark){.block = arena->blocks, .used = arena->blocks ? arena->blocks->used : 0};
}

void sn_arena_rewind(sn_arena *arena, sn_arena_mark mark) {
    while (arena->blocks != mark.block) {
        sn_arena_block *block = arena->blocks;
        arena->blocks = block->older;
        release_bytes(arena->context, block, header_size + block->size);
    }

    if (mark.block) {
        mark.block->used = mark.used;
    }

    arena->failed = false; // what failed came after the mark, or the mark could not be used
}
