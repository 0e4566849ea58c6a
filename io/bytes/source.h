// A file as the readers see it: a name and bytes in memory, possibly with other files that it
// references, and functions that report failures in it.
#ifndef SN_IO_BYTES_SOURCE_H
#define SN_IO_BYTES_SOURCE_H

#include "sinew/io/bytes.h"

#include "base/memory.h"
#include "io/text/text.h"

typedef sinew_fetch_fn sn_fetch_fn;
typedef sinew_source sn_source;

// Fetches a file that `source` references, relative to the folder of `source`. The message of a
// failure includes the reason if the host left one in the context.
sinew_status sn_source_fetch(sinew_context *context, const sn_source *source, const char *name,
                             const void **data, size_t *size);

// The same, without the name of `source` at the start of the message.
sinew_status sn_fetch_beside(sinew_context *context, const sn_source *source, const char *name,
                             const void **data, size_t *size);

// Fetches a file that no other file references.
sinew_status sn_fetch(sinew_context *context, sn_fetch_fn *fetch, void *user, const char *name,
                      const void **data, size_t *size);

// The text of a source.
static inline sn_text sn_source_text(const sn_source *source) {
    return sn_text_create(source->data, source->size);
}

// "name:line:column: message", for text; `at` points into the source.
#if defined(__GNUC__)
__attribute__((format(printf, 5, 6)))
#endif
sinew_status
sn_source_fail_at(sinew_context *context, const sn_source *source, sinew_status status,
                  const char *at, const char *format, ...);

// "name: byte 123: message", for binary data.
#if defined(__GNUC__)
__attribute__((format(printf, 5, 6)))
#endif
sinew_status
sn_source_fail_byte(sinew_context *context, const sn_source *source, sinew_status status,
                    const void *at, const char *format, ...);

// "name: message".
#if defined(__GNUC__)
__attribute__((format(printf, 4, 5)))
#endif
sinew_status
sn_source_fail(sinew_context *context, const sn_source *source, sinew_status status,
               const char *format, ...);

#endif
