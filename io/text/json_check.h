// Typed reading of a JSON tree. Each call checks one value. If it is invalid, the call records
// where it is, what was found and what would be valid, and the caller continues, so that all errors
// of a file are reported together.
//
// `value` may be NULL (a missing member): then nothing is written and true is returned, so that the
// default stays. Use sn_json_require for members that must exist.
#ifndef SN_IO_TEXT_JSON_CHECK_H
#define SN_IO_TEXT_JSON_CHECK_H

#include "io/text/json.h"

// Records an error at a value or at its key; path and position are filled in.
#if defined(__GNUC__)
__attribute__((format(printf, 3, 4)))
#endif
void sn_json_mistake(sn_mistakes *mistakes, const sn_json *value, const char *format, ...);
#if defined(__GNUC__)
__attribute__((format(printf, 3, 4)))
#endif
void sn_json_key_mistake(sn_mistakes *mistakes, const sn_json *value, const char *format, ...);

// "the number 3", "the string \"abc\"", "an array of 4": a value in a message. Lives in `out`.
enum { SN_JSON_FOUND_SIZE = 64 };
const char *sn_json_found(const sn_json *value, char out[SN_JSON_FOUND_SIZE]);

// The member of an object; a mistake and NULL if it is missing.
sn_json *sn_json_require(sn_mistakes *mistakes, const sn_json *object, const char *key);

// Checks the kind of a value.
bool sn_json_is(sn_mistakes *mistakes, const sn_json *value, sn_json_kind kind);

// Every key of the object must be one of `words`; for any other, the most similar word is
// suggested. "$schema" and keys that start with "//" are always accepted.
bool sn_json_check_keys(sn_mistakes *mistakes, const sn_json *object, const char *const *words,
                        int32_t count);

// A number in [low, high]; either bound may be infinite, `unit` (may be "") is shown in the
// message.
bool sn_json_number(sn_mistakes *mistakes, const sn_json *value, double low, double high,
                    const char *unit, double *out);

// A number in the open interval (low, high).
bool sn_json_number_inside(sn_mistakes *mistakes, const sn_json *value, double low, double high,
                           const char *unit, double *out);

// A whole number in [low, high].
bool sn_json_integer(sn_mistakes *mistakes, const sn_json *value, int64_t low, int64_t high,
                     int64_t *out);

bool sn_json_boolean(sn_mistakes *mistakes, const sn_json *value, bool *out);

// A string of at least one character without a zero inside. It lives as long as the document.
bool sn_json_string(sn_mistakes *mistakes, const sn_json *value, const char **out);

// A string that is one of `words`; *out is its index.
bool sn_json_word(sn_mistakes *mistakes, const sn_json *value, const char *const *words,
                  int32_t count, int32_t *out);

// An array of exactly `count` numbers.
bool sn_json_numbers(sn_mistakes *mistakes, const sn_json *value, int32_t count, double *out);

// "a, b, c" of a list of words, cut with "..." if it does not fit. Lives in `out`.
const char *sn_json_list_words(const char *const *words, int32_t count, char *out, size_t size);

#endif
