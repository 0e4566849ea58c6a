// The nearest known word to a mistyped one.
#ifndef SN_IO_TEXT_SUGGEST_H
#define SN_IO_TEXT_SUGGEST_H

#include <stdint.h>

// Edits (insert, delete, replace a letter, swap two neighbours; the case of letters does not
// matter) from one word to the other: Damerau-Levenshtein distance in its optimal string alignment
// form. Words are compared over their first 64 bytes.
int32_t sn_word_distance(const char *a, const char *b);

// The index of the word nearest to `word`, or -1 if none is near enough to be meant: at most a
// third of its letters away (one for words of two and three letters, two from four on), or one
// holds the other, or half of the word is a common beginning.
int32_t sn_suggest(const char *word, const char *const *words, int32_t count);

#endif
