// Finds the known word that is most similar to a misspelled one.
#ifndef SN_IO_TEXT_SUGGEST_H
#define SN_IO_TEXT_SUGGEST_H

#include <stdint.h>

// The number of edits (insert, delete or replace a letter, swap two neighbours; case is ignored)
// from one word to the other: the Damerau-Levenshtein distance in its optimal string alignment
// form. Compares the first 64 bytes.
int32_t sn_word_distance(const char *a, const char *b);

// The index of the word most similar to `word`, or -1 if none is similar enough. Similar are words
// whose distance is at most a third of the letters (one for words of two and three letters, two
// from four on), that contain one another, or that share half of the word as a prefix.
int32_t sn_suggest(const char *word, const char *const *words, int32_t count);

#endif
