// The words of scenes and of the program: one list for each choice, from which the reader, the
// help, the completion of the shell and the schema take them.
//
// SPDX-License-Identifier: Apache-2.0
#ifndef SINEW_IO_WORDS_H
#define SINEW_IO_WORDS_H

#include "sinew/base.h"

#ifdef __cplusplus
extern "C" {
#endif

/// The choices that have a list of words.
typedef enum sinew_word_list {
    SINEW_WORDS_LAWS,
    SINEW_WORDS_PRESETS,
    SINEW_WORDS_MODELS,
    SINEW_WORDS_SHAPES,
    SINEW_WORDS_SOLIDS,
    SINEW_WORDS_ELEMENTS,
    SINEW_WORDS_INTEGRATORS,
    SINEW_WORDS_SOLVERS,
    SINEW_WORDS_FORMATS,
    SINEW_WORDS_COLORS,
    SINEW_WORDS_WEIGHTS,
    SINEW_WORDS_METRICS,
    SINEW_WORDS_BLENDS,
    SINEW_WORDS_NODE_KINDS,
    SINEW_WORDS_SPECIMENS,
    SINEW_WORDS_ORGANISMS,
    SINEW_WORDS_CHARACTERS,
    SINEW_WORDS_UNITS,
    SINEW_WORD_LISTS ///< How many lists there are.
} sinew_word_list;

/// The name of a list, e.g. "integrators". Static text.
SINEW_API const char *sinew_words_get_name(sinew_word_list list);
/// How many words a list has. [count]
SINEW_API int32_t sinew_words_get_count(sinew_word_list list);
/// A word of a list; NULL if the index is out of range. Static text.
SINEW_API const char *sinew_words_get(sinew_word_list list, int32_t index);
/// The index of a word in a list, or -1.
SINEW_API int32_t sinew_words_find(sinew_word_list list, const char *word);

/// The index of the word that is most similar to a mistyped one, or -1 if none is similar enough.
SINEW_API int32_t sinew_words_suggest(const char *word, const char *const *words, int32_t count);

#ifdef __cplusplus
}
#endif

#endif
