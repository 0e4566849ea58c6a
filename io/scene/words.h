// The words of scenes, one table for each choice. Readers hand SN_WORDS(list) to sn_json_word; the
// order is that of the enumeration that the index becomes.
#ifndef SN_IO_SCENE_WORDS_H
#define SN_IO_SCENE_WORDS_H

#include "sinew/io/words.h"

typedef struct sn_word_table {
    const char *name;
    const char *const *words; // NULL: the library lists them
    int32_t count;
} sn_word_table;

extern const sn_word_table sn_word_tables[SINEW_WORD_LISTS];

#define SN_WORDS(list) sn_word_tables[list].words, sn_word_tables[list].count

#endif
