// The mistakes found in a file, all of them, each with its place: a reader adds, the program
// prints.
#ifndef SN_IO_TEXT_MISTAKES_H
#define SN_IO_TEXT_MISTAKES_H

#include "base/memory.h"
#include "io/bytes/buffer.h"
#include "io/text/text.h"

typedef struct sn_mistake {
    const char *file;    // the name the reader was given
    sn_place place;      // 0, 0 if the mistake has no place in a text
    const char *path;    // e.g. "bodies[0].material.young"; empty for the whole file
    const char *message; // what was found, what is valid, the nearest known word
} sn_mistake;

enum { SN_MISTAKES_KEPT = 100 }; // more are counted, not kept

typedef struct sn_mistakes {
    sn_arena arena;
    sn_mistake *items;
    int32_t count; // kept in `items`
    int64_t total; // found
} sn_mistakes;

sn_mistakes sn_mistakes_create(sinew_context *context);
void sn_mistakes_destroy(sn_mistakes *mistakes);

// Copies what it is given. In a shortage of memory the mistake is counted but not kept.
#if defined(__GNUC__)
__attribute__((format(printf, 5, 6)))
#endif
void sn_mistakes_add(sn_mistakes *mistakes, const char *file, sn_place place, const char *path, const char *format, ...);

// In the order of the text: by line, then column; those without a place last.
void sn_mistakes_sort(sn_mistakes *mistakes);

// "file:line:column: path: message", one a line, and a last line if more were found than kept.
void sn_mistakes_print(const sn_mistakes *mistakes, sn_buffer *out);

// SINEW_OK if there are none; otherwise stores the first with the number of the others in the
// context's message and returns SINEW_INVALID_DATA (SINEW_OUT_OF_MEMORY if the list itself ran
// short).
sinew_status sn_mistakes_status(const sn_mistakes *mistakes);

#endif
