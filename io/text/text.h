// Text in a memory buffer: a cursor, words, strict numbers that do not depend on the locale, and
// where in the text one stands.
//
// Numbers are correctly rounded. A number of at most 15 to 19 significant digits and a small
// exponent, which is what files hold, takes a multiplication or a division (Clinger 1990); any
// other goes to strtod as bare digits and an exponent, a form that reads alike in every locale.
// Lines and columns are counted only when somebody asks: a message costs a walk through the text,
// reading costs nothing.
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

typedef struct sn_place {
    int32_t line, column; // both from 1; columns count characters of UTF-8, not bytes
} sn_place;

typedef enum sn_number_result {
    SN_NUMBER_OK,
    SN_NUMBER_NONE,      // no number stands here; the cursor has not moved
    SN_NUMBER_TOO_LARGE, // beyond the largest double or integer; the cursor is behind it
} sn_number_result;

static inline sn_text sn_text_create(const void *data, size_t size) {
    const char *begin = (const char *)data;
    return (sn_text){begin, begin, begin ? begin + size : begin};
}

// Where `at` stands in [begin, end].
sn_place sn_text_place(const char *begin, const char *at);

// [+-] digits [. digits] [e [+-] digits], at least one digit before or behind the point. NaN,
// Infinity and hexadecimal forms are no numbers here.
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

// Spaces within the line; all white space.
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
bool sn_word_is_like(sn_word word, const char *other); // the case of letters does not matter
bool sn_word_starts(sn_word word, const char *start);

// What stands at the cursor, for a message: the next word, shortened and with unprintable bytes
// shown as '?', in quotes, or "the end of the file". Lives in `out`.
enum { SN_TEXT_FOUND_SIZE = 48 };
const char *sn_text_found(const char *at, const char *end, char out[SN_TEXT_FOUND_SIZE]);

// The decimal digits of a value into `out` (SN_TEXT_NUMBER_SIZE bytes, without a closing zero);
// returns the length. A double is written with the fewest digits that read back as the same double,
// a float as the same float. What is not finite becomes nan, inf or -inf.
size_t sn_text_write_integer(char *out, int64_t value);
size_t sn_text_write_double(char *out, double value);
size_t sn_text_write_float(char *out, double value);

// Length of the valid UTF-8 sequence at `at`, or 0: truncated, overlong, a surrogate or beyond
// U+10FFFF.
int sn_utf8_length(const char *at, const char *end);

// Writes a code point (below 0x110000, no surrogate) as 1 to 4 bytes.
int sn_utf8_write(char *out, uint32_t code);

#endif
