// Messages about a place in a file.
#include "io/bytes/source.h"

#include <stdarg.h>
#include <stdio.h>

enum { MESSAGE_SIZE = 800 };

sinew_status sn_source_fail_at(sinew_context *context, const sn_source *source, sinew_status status,
                               const char *at, const char *format, ...) {
    char message[MESSAGE_SIZE];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(message, sizeof message, format, arguments);
    va_end(arguments);
    sn_place place = sn_text_place(source->data, at);

    return sn_fail(context, status, "%s:%d:%d: %s", source->name, place.line, place.column,
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
