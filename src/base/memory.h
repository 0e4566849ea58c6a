// Memory comes from the context's allocator, zeroed and aligned to 64 bytes (a cache line, the
// widest SIMD register).
//
// An arena owns everything that one object needs. Pushing never returns half an object: a failure
// sticks, so a constructor pushes all its arrays and asks once, and freeing the arena frees a
// partial construction as well as a whole one.
#ifndef SN_BASE_MEMORY_H
#define SN_BASE_MEMORY_H

#include "base/context.h"

enum { SN_ALIGNMENT = 64 };

// Plain allocations, for what lives alone or must grow. `size` is given back on release. NULL on
// failure (message set).
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

// `count` zeroed items of `size` bytes, or NULL (then arena->failed). Zero items give a valid
// pointer.
void *sn_arena_push(sn_arena *arena, size_t count, size_t size);

#define SN_PUSH(arena, type, count) ((type *)sn_arena_push((arena), (size_t)(count), sizeof(type)))

// The same without zeros, for buffers of which little may ever be touched: what is not costs no
// time, and with the usual allocators no memory.
void *sn_arena_reserve(sn_arena *arena, size_t count, size_t size);

#define SN_RESERVE(arena, type, count)                                                             \
    ((type *)sn_arena_reserve((arena), (size_t)(count), sizeof(type)))

// SINEW_OK, or SINEW_OUT_OF_MEMORY if any push has failed.
sinew_status sn_arena_status(const sn_arena *arena);

// Everything pushed after a mark can be dropped at once, a failure included: scratch memory, or a
// change that did not work out.
typedef struct sn_arena_mark {
    sn_arena_block *block;
    size_t used;
} sn_arena_mark;

sn_arena_mark sn_arena_get_mark(const sn_arena *arena);
void sn_arena_rewind(sn_arena *arena, sn_arena_mark mark);

#endif
