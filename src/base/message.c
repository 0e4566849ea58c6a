// Messages: the last failure, kept in the context, progress and the log.
#include "base/context.h"

#include <stdarg.h>
#include <stdio.h>

sinew_status sn_fail(sinew_context *context, sinew_status status, const char *format, ...) {
    SN_ASSERT(status != SINEW_OK);
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(context->message, sizeof context->message, format, arguments);
    va_end(arguments);
    context->status = status;

    return status;
}

sinew_status sn_refuse_null(sinew_context *context, const char *function, const char *pointers) {
    if (!context) {
        return SINEW_INVALID_ARGUMENT;
    }
    return sn_fail(context, SINEW_INVALID_ARGUMENT, "%s: NULL is not allowed for %s", function,
                   pointers);
}

sinew_status sn_report_progress(sinew_context *context, const char *what, double share) {
    if (!context->progress.report ||
        context->progress.report(context->progress.user, what, share)) {
        return SINEW_OK;
    }
    return sn_fail(context, SINEW_CANCELLED, "cancelled while %s", what);
}

void sn_log(sinew_context *context, sinew_log_level level, const char *format, ...) {
    if (!context->logger.write) {
        return;
    }

    char line[1024];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(line, sizeof line, format, arguments);
    va_end(arguments);
    context->logger.write(context->logger.user, level, line);
}

sinew_status sn_check_filled(sinew_context *context, const uint32_t *filled, const char *maker) {
    if (!filled) {
        return sn_fail(context, SINEW_INVALID_ARGUMENT,
                       "the definition is NULL: make one with %s()", maker);
    }
    if (*filled == SN_DEF_FILLED) {
        return SINEW_OK;
    }
    return sn_fail(context, SINEW_INVALID_ARGUMENT,
                   "the definition was not filled in: begin with %s(), then set what differs",
                   maker);
}
