// Memory from the context's allocator, aligned to 64 bytes: a cache line and the widest SIMD
// register.
//
// An arena owns everything that one object needs. A failed push is remembered, so a constructor
// pushes all its arrays and checks once; destroying the arena releases a partial construction as
// well as a complete one.
#ifndef SN_BASE_MEMORY_H
#define SN_BASE_MEMORY_H

#include "base/context.h"

enum { SN_ALIGNMENT = 64 };

// Single allocations, zeroed, for arrays that live alone or grow. Release takes the same count and
// size as the allocation. NULL on failure, with the message set.
void *sn_allocate(sinew_context *context, size_t count, size_t size);
void sn_release(sinew_context *context, void *memory, size_t count, size_t size);

// Grows an array to hold at least `needed` items, keeping the first `used`. The array stays valid
// if this fails.
sinew_status sn_grow(sinew_context *context, void **array, size_t *capacity, size_t used,
                     size_t needed, size_t size);

typedef struct sn_arena_block sn_arena_block;

typedef struct sn_arena {
    sinew_context *context;
    sn_arena_block *blocks; // newest first
    bool failed;            // a push has failed since creation or the last rewind
} sn_arena;

sn_arena sn_arena_create(sinew_context *context);
void sn_arena_destroy(sn_arena *arena);

// `count` zeroed items of `size` bytes, or NULL (then arena->failed is set). Zero items give a
// valid pointer.
void *sn_arena_push(sn_arena *arena, size_t count, size_t size);

#define SN_PUSH(arena, type, count) ((type *)sn_arena_push((arena), (size_t)(count), sizeof(type)))

// The same without clearing, for large buffers of which only a part may be used: with the usual
// allocators the untouched rest costs neither time nor memory.
void *sn_arena_reserve(sn_arena *arena, size_t count, size_t size);

#define SN_RESERVE(arena, type, count)                                                             \
    ((type *)sn_arena_reserve((arena), (size_t)(count), sizeof(type)))

// SINEW_OK, or SINEW_OUT_OF_MEMORY if any push has failed.
sinew_status sn_arena_status(const sn_arena *arena);

// A mark remembers the arena's fill level. Rewinding to it releases everything pushed since, and
// forgets a failure since: for scratch memory, or to undo a change that did not succeed.
typedef struct sn_arena_mark {
    sn_arena_block *block;
    size_t used;
} sn_arena_mark;

sn_arena_mark sn_arena_get_mark(const sn_arena *arena);
void sn_arena_rewind(sn_arena *arena, sn_arena_mark mark);

#endif
