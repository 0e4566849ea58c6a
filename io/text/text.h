// Text in memory: a cursor, words, positions, and strict numbers that do not depend on the locale.
//
// Numbers are correctly rounded. A number with few digits and a small exponent, as files usually
// contain, takes one multiplication or division (Clinger 1990). All others are converted by strtod
// from bare digits and an exponent, a form that reads the same in every locale. Lines and columns
// are counted only for messages, so reading pays nothing for them.
#ifndef SN_IO_TEXT_TEXT_H
#define SN_IO_TEXT_TEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { SN_TEXT_NUMBER_SIZE = 32 }; // bytes that any written number fits in

typedef struct sn_text {
    const char *begin, *at, *end;
} sn_text;

typedef struct sn_word {
    const char *at;
    size_t size;
} sn_word;

typedef struct sn_text_position {
    int32_t line, column; // both from 1; columns count characters of UTF-8, not bytes
} sn_text_position;

typedef enum sn_number_result {
    SN_NUMBER_OK,
    SN_NUMBER_NONE,      // there is no number here; the cursor has not moved
    SN_NUMBER_TOO_LARGE, // beyond the largest double or integer; the cursor is after it
} sn_number_result;

static inline sn_text sn_text_create(const void *data, size_t size) {
    const char *begin = (const char *)data;
    return (sn_text){begin, begin, begin ? begin + size : begin};
}

// The line and column of `at`.
sn_text_position sn_text_find_position(const char *begin, const char *at);

// [+-] digits [. digits] [e [+-] digits], with at least one digit before or after the point. NaN,
// Infinity and hexadecimal forms are not accepted.
sn_number_result sn_text_double(const char **at, const char *end, double *value);

// [+-] digits.
sn_number_result sn_text_integer(const char **at, const char *end, int64_t *value);

static inline bool sn_text_is_blank(char c) {
    return c == ' ' || c == '\t' || c == '\r' || c == '\v' || c == '\f';
}

static inline bool sn_text_is_space(char c) {
    return c == '\n' || sn_text_is_blank(c);
}

static inline bool sn_text_at_end(const sn_text *text) {
    return text->at >= text->end;
}

// Skips spaces within the line, or all white space.
static inline void sn_text_skip_blanks(sn_text *text) {
    while (text->at < text->end && sn_text_is_blank(*text->at)) {
        text->at++;
    }
}

static inline void sn_text_skip_spaces(sn_text *text) {
    while (text->at < text->end && sn_text_is_space(*text->at)) {
        text->at++;
    }
}

// To the first character of the next line.
void sn_text_skip_line(sn_text *text);

// Skips white space and comments from `mark` to the end of the line.
void sn_text_skip_comments(sn_text *text, char mark);

// The characters up to the next white space; empty at the end of the text (sn_text_line_word: of
// the line).
sn_word sn_text_word(sn_text *text);
sn_word sn_text_line_word(sn_text *text);

// The rest of the line without the white space around it; moves to the next line.
sn_word sn_text_rest_of_line(sn_text *text);

bool sn_word_is(sn_word word, const char *other);
bool sn_word_is_like(sn_word word, const char *other); // ignores case
bool sn_word_starts(sn_word word, const char *start);

// The text at the cursor for a message: the next word in quotes, shortened and with unprintable
// bytes shown as '?', or "the end of the file". Lives in `out`.
enum { SN_TEXT_FOUND_SIZE = 48 };
const char *sn_text_found(const char *at, const char *end, char out[SN_TEXT_FOUND_SIZE]);

// Writes the decimal digits of a value to `out` (SN_TEXT_NUMBER_SIZE bytes, without a closing zero)
// and returns the length. A double gets the fewest digits that read back as the same double, a
// float likewise. Values that are not finite become nan, inf or -inf.
size_t sn_text_write_integer(char *out, int64_t value);
size_t sn_text_write_double(char *out, double value);
size_t sn_text_write_float(char *out, double value);

// The length of the valid UTF-8 sequence at `at`, or 0 if it is truncated, overlong, a surrogate or
// beyond U+10FFFF.
int sn_utf8_length(const char *at, const char *end);

// Writes a code point (below 0x110000, no surrogate) as 1 to 4 bytes.
int sn_utf8_write(char *out, uint32_t code);

#endif
