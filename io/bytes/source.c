// Fetches files that a source references, and reports failures with their position in a file.
#include "io/bytes/source.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

enum { MESSAGE_SIZE = 800, NAME_SIZE = 2048 };

sinew_status sn_fetch(sinew_context *context, sn_fetch_fn *fetch, void *user, const char *name,
                      const void **data, size_t *size) {
    context->message[0] = '\0';
    if (fetch && fetch(user, name, data, size)) {
        return SINEW_OK;
    }
    if (context->message[0] == '\0') {
        return sn_fail(context, SINEW_NOT_FOUND, "the file \"%.400s\" cannot be read", name);
    }

    char reason[MESSAGE_SIZE];
    snprintf(reason, sizeof reason, "%.*s", MESSAGE_SIZE - 1, context->message);
    return sn_fail(context, context->status, "the file \"%.400s\" cannot be read: %s", name,
                   reason);
}

sinew_status sn_fetch_beside(sinew_context *context, const sn_source *source, const char *name,
                             const void **data, size_t *size) {
    char joined[NAME_SIZE];
    const char *slash = source->nested ? strrchr(source->name, '/') : NULL;
    int folder = slash && name[0] != '/' ? (int)(slash - source->name) + 1 : 0;
    int length = snprintf(joined, sizeof joined, "%.*s%s", folder, source->name, name);
    if (length < 0 || (size_t)length >= sizeof joined) {
        return sn_fail(context, SINEW_INVALID_DATA, "the name of the file \"%.40s...\" is too long",
                       name);
    }

    return sn_fetch(context, source->fetch, source->fetch_user, joined, data, size);
}

sinew_status sn_source_fetch(sinew_context *context, const sn_source *source, const char *name,
                             const void **data, size_t *size) {
    sinew_status status = sn_fetch_beside(context, source, name, data, size);
    if (status == SINEW_OK) {
        return SINEW_OK;
    }
    return sn_source_fail(context, source, status, "%s", context->message);
}

sinew_status sn_source_fail_at(sinew_context *context, const sn_source *source, sinew_status status,
                               const char *at, const char *format, ...) {
    char message[MESSAGE_SIZE];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(message, sizeof message, format, arguments);
    va_end(arguments);
    sn_text_position position = sn_text_find_position(source->data, at);

    return sn_fail(context, status, "%s:%d:%d: %s", source->name, position.line, position.column,
                   message);
}

sinew_status sn_source_fail_byte(sinew_context *context, const sn_source *source,
                                 sinew_status status, const void *at, const char *format, ...) {
    char message[MESSAGE_SIZE];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(message, sizeof message, format, arguments);
    va_end(arguments);
    size_t offset = (size_t)((const char *)at - (const char *)source->data);

    return sn_fail(context, status, "%s: byte %zu: %s", source->name, offset, message);
}

sinew_status sn_source_fail(sinew_context *context, const sn_source *source, sinew_status status,
                            const char *format, ...) {
    char message[MESSAGE_SIZE];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(message, sizeof message, format, arguments);
    va_end(arguments);
    return sn_fail(context, status, "%s: %s", source->name, message);
}
