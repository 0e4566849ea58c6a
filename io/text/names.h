// A list of distinct words in order of insertion, with lookup by hash.
#ifndef SN_IO_TEXT_NAMES_H
#define SN_IO_TEXT_NAMES_H

#include "io/bytes/buffer.h"
#include "io/text/text.h"

typedef struct sn_names {
    sn_arena *arena; // of the copies
    sn_buffer words; // of sn_word
    sn_buffer slots; // open addressing: index + 1, or 0
    int32_t count;
} sn_names;

sn_names sn_names_create(sn_arena *arena);
void sn_names_destroy(sn_names *names); // the copies stay in the arena

// The index of a word, which is added if it is new. -1 if memory is short.
int32_t sn_names_add(sn_names *names, sn_word word);

// The index of a word, or -1.
int32_t sn_names_find(const sn_names *names, sn_word word);

// The copy of a word, with a zero at its end.
static inline sn_word sn_names_get(const sn_names *names, int32_t index) {
    return ((const sn_word *)(const void *)names->words.data)[index];
}

#endif
