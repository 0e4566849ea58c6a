// The basis of all other public headers: status codes, and the context that carries memory,
// threads, log and the last error.
//
// In all headers a pointer must not be NULL unless the comment says that it may be; arrays without
// items may be. A call that is given NULL for anything else does nothing: it returns
// SINEW_INVALID_ARGUMENT, or zero (NULL, false, or -1 where -1 stands for "none").
//
// SPDX-License-Identifier: Apache-2.0
#ifndef SINEW_BASE_H
#define SINEW_BASE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#if defined(_WIN32)
#define SINEW_API
#else
#define SINEW_API __attribute__((visibility("default")))
#endif

#define SINEW_VERSION_MAJOR 0
#define SINEW_VERSION_MINOR 1
#define SINEW_VERSION_PATCH 0

/// Whether a call succeeded. A call that fails leaves its objects as they were; the
/// message is in the context. Numerical outcomes (not converged, inverted elements) are not
/// failures: the report of a step contains them.
typedef enum sinew_status {
    SINEW_OK = 0,
    SINEW_INVALID_ARGUMENT, ///< A value is outside its valid range, or two arguments contradict
                            ///< each other.
    SINEW_INVALID_DATA,     ///< A mesh, file or field is malformed: an index out of range, a flat
                            ///< element, truncated text.
    SINEW_OUT_OF_MEMORY,    ///< The allocator returned NULL, or a stated limit would be exceeded.
    SINEW_UNSUPPORTED,      ///< Well formed, but this build or this combination does not offer it.
    SINEW_NOT_FOUND,        ///< A name or label that does not exist.
    SINEW_DIVERGED,         ///< The state could not be advanced; the last accepted state is kept.
    SINEW_IO_FAILED, ///< The system could not read or write: a full disk, a missing permission.
    SINEW_CANCELLED, ///< The host's `sinew_progress` cancelled the call.
} sinew_status;

/// The name of a status, e.g. "invalid argument". Static text.
SINEW_API const char *sinew_status_name(sinew_status status);

/// The version of the library at run time, e.g. "0.1.0". Static text.
SINEW_API const char *sinew_version(void);

/// Memory functions of the host program. They are called only from threads that call the library,
/// never from its worker threads. Steps after the first allocate nothing.
typedef struct sinew_allocator {
    /// Returns `size` bytes aligned to `alignment` (a power of two, at most 64), or NULL.
    void *(*allocate)(void *user, size_t size, size_t alignment);
    /// Takes back memory from `allocate`; `size` is the size that was requested.
    void (*release)(void *user, void *memory, size_t size);
    void *user;
} sinew_allocator;

typedef enum sinew_log_level { SINEW_LOG_DEBUG, SINEW_LOG_INFO, SINEW_LOG_WARNING } sinew_log_level;

/// Receives one line of text without a line break. The library never prints by itself.
typedef struct sinew_logger {
    void (*write)(void *user, sinew_log_level level, const char *line);
    void *user;
} sinew_logger;

/// The task system of the host program. `run` calls `task(data, i)` once for every i in [0, count),
/// on any thread, and returns when all are done. Results do not depend on the order or the number
/// of threads.
typedef struct sinew_tasks {
    void (*run)(void *user, void (*task)(void *data, int32_t index), void *data, int32_t count);
    void *user;
} sinew_tasks;

/// Progress and cancellation of long calls. The library calls `report` on the calling thread before
/// each iteration of Newton's method (in steps and static solves), every 16 iterations of a linear
/// solve by conjugate gradients (a direct solve is not interrupted), between the stages of
/// `sinew_tetrahedralize`, and while the weights of a frame body are computed. It has no effect on
/// results.
typedef struct sinew_progress {
    /// `what` names the work (static text, e.g. "computing weights"); `share` is the part of it
    /// that is done, in [0, 1], or -1 if unknown. Return true to continue. Return false to
    /// cancel: the call then fails with SINEW_CANCELLED and leaves its objects as they were (a
    /// static solve keeps the bodies that it has brought to rest so far). Must not call the
    /// library.
    bool (*report)(void *user, const char *what, double share);
    void *user;
} sinew_progress;

/// Opaque: memory, threads, log, and the message of the last failed call. One context serves one
/// calling thread at a time; different contexts are independent.
typedef struct sinew_context sinew_context;

typedef struct sinew_context_def {
    /// Threads that share the work, the caller included. [count] In [1, 64]. Default 1. Ignored if
    /// `tasks.run` is set.
    int32_t threads;
    /// The host's allocator. Default: aligned_alloc and free.
    sinew_allocator allocator;
    /// The host's log. Default: silent.
    sinew_logger logger;
    /// The host's task system. Default: a pool of `threads` - 1 workers.
    sinew_tasks tasks;
    /// Reports progress and may cancel long calls. Default: none, `report` is NULL.
    sinew_progress progress;
    /// Set by the default function, to detect definitions that were not initialised. Do not
    /// change it.
    uint32_t filled;
} sinew_context_def;

/// One thread, the memory of the C library, no log.
SINEW_API sinew_context_def sinew_default_context_def(void);

/// Creates a context. Returns NULL if `def` is invalid or memory runs out (there is no context yet
/// to hold a message).
SINEW_API sinew_context *sinew_context_create(const sinew_context_def *def);

/// Destroys a context; every object made with it must have been destroyed before. NULL is allowed.
SINEW_API void sinew_context_destroy(sinew_context *context);

/// Number of threads that share the work of a context, the caller included. [count] With a task
/// system of the host, whose number of threads is unknown, this is a guess.
SINEW_API int32_t sinew_context_get_thread_count(const sinew_context *context);

/// Memory that the objects of a context hold now. [byte]
SINEW_API size_t sinew_context_get_memory(const sinew_context *context);

/// What went wrong in the last failed call with this context: which item, its value, what would be
/// valid. Empty if nothing has failed yet. Valid until the next call.
SINEW_API const char *sinew_context_message(const sinew_context *context);

/// The status of the last failed call with this context; SINEW_OK if nothing has failed yet.
SINEW_API sinew_status sinew_context_status(const sinew_context *context);

#ifdef __cplusplus
}
#endif

#endif
