// All errors found in a file, each with its position: readers add them, the program prints them.
#ifndef SN_IO_TEXT_MISTAKES_H
#define SN_IO_TEXT_MISTAKES_H

#include "base/memory.h"
#include "io/bytes/buffer.h"
#include "io/text/text.h"

typedef struct sn_mistake {
    const char *file;          // the name the reader was given
    sn_text_position position; // 0, 0 if the error has no position in a text
    const char *path;          // e.g. "bodies[0].material.young"; empty for the whole file
    const char *message;       // what was found, what is valid, the most similar known word
} sn_mistake;

enum { SN_MISTAKES_KEPT = 100 }; // further ones are counted but not kept

typedef struct sn_mistakes {
    sn_arena arena;
    sn_mistake *items;
    int32_t count; // kept in `items`
    int64_t total; // found
} sn_mistakes;

sn_mistakes sn_mistakes_create(sinew_context *context);
void sn_mistakes_destroy(sn_mistakes *mistakes);

// Copies its arguments. If memory is short the error is counted but not kept.
#if defined(__GNUC__)
__attribute__((format(printf, 5, 6)))
#endif
void sn_mistakes_add(sn_mistakes *mistakes, const char *file, sn_text_position position,
                     const char *path, const char *format, ...);

// In the order of the text, by line, then column; those without a position last.
void sn_mistakes_sort(sn_mistakes *mistakes);

// Prints "file:line:column: path: message", one per line, and a last line if more were found than
// kept.
void sn_mistakes_print(const sn_mistakes *mistakes, sn_buffer *out);

// SINEW_OK if there are none. Otherwise stores the first one and the number of the others in the
// context's message and returns SINEW_INVALID_DATA (SINEW_OUT_OF_MEMORY if the list ran out of
// memory).
sinew_status sn_mistakes_status(const sn_mistakes *mistakes);

#endif
