// The context: validates its definition and holds the host's services (memory, log, threads).
#include "base/context.h"

#include "base/memory.h"
#include "base/threads.h"

#include <stdlib.h>
#include <string.h>

static void *default_allocate(void *user, size_t size, size_t alignment) {
    (void)user;
    // aligned_alloc requires a multiple of the alignment.
    size_t rounded = (size + alignment - 1) / alignment * alignment;
    return rounded < size ? NULL : aligned_alloc(alignment, rounded);
}

static void default_release(void *user, void *memory, size_t size) {
    (void)user;
    (void)size;
    free(memory);
}

#define TEXT_OF(number)                   #number
#define VERSION_TEXT(major, minor, patch) TEXT_OF(major) "." TEXT_OF(minor) "." TEXT_OF(patch)

const char *sinew_version(void) {
    return VERSION_TEXT(SINEW_VERSION_MAJOR, SINEW_VERSION_MINOR, SINEW_VERSION_PATCH);
}

const char *sinew_status_name(sinew_status status) {
    switch (status) {
    case SINEW_OK: return "ok";
    case SINEW_INVALID_ARGUMENT: return "invalid argument";
    case SINEW_INVALID_DATA: return "invalid data";
    case SINEW_OUT_OF_MEMORY: return "out of memory";
    case SINEW_UNSUPPORTED: return "unsupported";
    case SINEW_NOT_FOUND: return "not found";
    case SINEW_DIVERGED: return "diverged";
    case SINEW_IO_FAILED: return "input or output failed";
    case SINEW_CANCELLED: return "cancelled";
    }

    return "unknown status";
}

sinew_context_def sinew_default_context_def(void) {
    return (sinew_context_def){
        .threads = 1,
        .allocator = {.allocate = default_allocate, .release = default_release},
        .filled = SN_DEF_FILLED,
    };
}

sinew_context *sinew_context_create(const sinew_context_def *def) {
    if (!def || def->filled != SN_DEF_FILLED || def->threads < 1 || def->threads > 64 ||
        !def->allocator.allocate || !def->allocator.release) {
        return NULL;
    }

    sinew_context *context =
        def->allocator.allocate(def->allocator.user, sizeof *context, SN_ALIGNMENT);
    if (!context) {
        return NULL;
    }

    memset(context, 0, sizeof *context);
    context->allocator = def->allocator;
    context->logger = def->logger;
    context->tasks = def->tasks;
    context->progress = def->progress;
    context->isa = sn_isa_detect();

    // The host's task system, or a pool of our own.
    if (!def->tasks.run && sn_pool_create(context, def->threads) != SINEW_OK) {
        def->allocator.release(def->allocator.user, context, sizeof *context);
        return NULL;
    }

    return context;
}

void sinew_context_destroy(sinew_context *context) {
    if (!context) {
        return;
    }
    sn_pool_destroy(context);
    sinew_allocator allocator = context->allocator;
    allocator.release(allocator.user, context, sizeof *context);
}

int32_t sinew_context_get_thread_count(const sinew_context *context) {
    SN_NEED_OR(0, context);
    return sn_thread_count(context);
}

size_t sinew_context_get_memory(const sinew_context *context) {
    SN_NEED_OR(0, context);
    return (size_t)context->bytes_in_use;
}

const char *sinew_context_message(const sinew_context *context) {
    SN_NEED_OR("", context);
    return context->message;
}

sinew_status sinew_context_status(const sinew_context *context) {
    SN_NEED(NULL, context);
    return context->status;
}
