// The context: allocator, logger, thread pool and the message of the last failure. The handle is
// public; this is what is inside.
#ifndef SN_BASE_CONTEXT_H
#define SN_BASE_CONTEXT_H

#include "sinew/base.h"

#include "base/assert.h"
#include "base/isa.h"

typedef struct sn_pool sn_pool;

struct sinew_context {
    sinew_allocator allocator;
    sinew_logger logger;
    sinew_tasks tasks; // NULL `run`: use our own pool
    sinew_progress progress;
    sn_pool *pool;        // NULL with one thread or with host tasks
    sn_isa isa;           // the instruction set of the hot loops; set at creation
    int64_t allocations;  // calls to the allocator so far; the tests assert that a step makes none
    int64_t bytes_in_use; // bytes allocated and not yet released
    sinew_status status;  // of the last failure
    char message[1024];
};

// Stores the message and returns `status`, so that a check is one statement:
//   return sn_fail(context, SINEW_INVALID_ARGUMENT, "...", ...);
#if defined(__GNUC__)
__attribute__((format(printf, 3, 4)))
#endif
sinew_status
sn_fail(sinew_context *context, sinew_status status, const char *format, ...);

// What default-makers write into `filled` of a definition, and the check that one did: `maker` is
// its name. A definition that is NULL, zeroed or was never written is refused.
enum { SN_DEF_FILLED = 0x51e3d };
sinew_status sn_check_filled(sinew_context *context, const uint32_t *filled, const char *maker);
#define SN_CHECK_DEF(context, def, maker)                                                          \
    sn_check_filled((context), (def) ? &(def)->filled : NULL, (maker))

#if defined(__GNUC__)
__attribute__((format(printf, 3, 4)))
#endif
void sn_log(sinew_context *context, sinew_log_level level, const char *format, ...);

// Reports progress to the host, on the calling thread only. SINEW_CANCELLED (message set) if the
// host wants the call to end. `what` continues "cancelled while ...": static text such as "solving
// for equilibrium"; `share` is in [0, 1], or -1 if it is not known.
sinew_status sn_report_progress(sinew_context *context, const char *what, double share);

// Guards at the head of public functions: end the call if `pointers`, an expression such as
// `body && positions`, has a NULL. SN_NEED returns a status; its message is kept if there is a
// `context`, which may be NULL. SN_NEED_OR returns `value`, which is empty in void functions.
sinew_status sn_refuse_null(sinew_context *context, const char *function, const char *pointers);
#define SN_NEED(context, pointers)                                                                 \
    do {                                                                                           \
        if (!(pointers))                                                                           \
            return sn_refuse_null((context), __func__, #pointers);                                 \
    } while (0)
#define SN_NEED_OR(value, pointers)                                                                \
    do {                                                                                           \
        if (!(pointers))                                                                           \
            return value;                                                                          \
    } while (0)

// Returns from the calling function with the status of a call that failed.
#define SN_TRY(call)                                                                               \
    do {                                                                                           \
        sinew_status sn_try_status = (call);                                                       \
        if (sn_try_status != SINEW_OK)                                                             \
            return sn_try_status;                                                                  \
    } while (0)

#endif
