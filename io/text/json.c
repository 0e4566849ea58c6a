// The JSON reader: recursive descent in one pass. The values of an open container wait on a stack.
// When it closes they are copied to the arena one after the other, so that a finished array is
// indexed in constant time.
#include "io/text/json.h"

#include "io/text/json_source.h"
#include "io/text/suggest.h"

#include <stdio.h>
#include <string.h>

enum { LARGEST_TEXT = 1 << 30, LARGEST_COUNT = 4 << 20, KEY_SHOWN = 40 };

typedef struct parser {
    sn_arena *arena;
    sn_json_source *source;
    sn_mistakes *mistakes;
    bool comments;
    bool dead; // reading cannot continue: an error has been recorded, or memory is short
    const char *at, *end;
    sn_json *stack; // finished values of the containers that are open
    size_t stack_count, stack_capacity;
    int64_t value_count;
    sn_json_step steps[SN_JSON_DEPTH]; // the open containers
    int32_t depth;
} parser;

// Records an error at `at`; `...` is the message.
#define NOTE(p, place_at, ...)                                                                     \
    do {                                                                                           \
        char path_text[SN_JSON_PATH_SIZE];                                                         \
        sn_mistakes_add(                                                                           \
            (p)->mistakes, (p)->source->name,                                                      \
            sn_json_source_position((p)->source, (size_t)((place_at) - (p)->source->text)),        \
            sn_json_path_from_steps((p)->steps, (p)->depth, path_text, sizeof path_text),          \
            __VA_ARGS__);                                                                          \
        if ((p)->mistakes->total >= SN_MISTAKES_KEPT)                                              \
            (p)->dead = true;                                                                      \
    } while (0)

#define STOP(p, place_at, ...)                                                                     \
    do {                                                                                           \
        NOTE(p, place_at, __VA_ARGS__);                                                            \
        (p)->dead = true;                                                                          \
    } while (0)

static bool is_letter(char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}

static bool is_digit(char c) {
    return c >= '0' && c <= '9';
}

// The text at the cursor for a message: a word, a sign, or the end.
static const char *found(const parser *p, char out[SN_TEXT_FOUND_SIZE]) {
    if (p->at >= p->end) {
        return "the end of the text";
    }

    const char *c = p->at;
    while (c < p->end && (is_letter(*c) || is_digit(*c))) {
        c++;
    }

    if (c == p->at) {
        c++;
    }

    return sn_text_found(p->at, c, out);
}

static void skip_comment(parser *p) {
    const char *begin = p->at;
    if (!p->comments) {
        STOP(p, begin, "comments are not allowed in this file");
        return;
    }

    if (p->at[1] == '/') {
        while (p->at < p->end && *p->at != '\n') {
            p->at++;
        }
        return;
    }

    for (p->at += 2; p->at < p->end; p->at++) {
        if (*p->at == '*' && p->at + 1 < p->end && p->at[1] == '/') {
            p->at += 2;
            return;
        }
    }

    STOP(p, begin, "this comment is never closed; */ is missing");
}

static void skip(parser *p) {
    while (!p->dead && p->at < p->end) {
        char c = *p->at;
        if (c == ' ' || c == '\n' || c == '\t' || c == '\r') {
            p->at++;
        } else if (c == '/' && p->at + 1 < p->end && (p->at[1] == '/' || p->at[1] == '*')) {
            skip_comment(p);
        } else {
            return;
        }
    }
}

static int hexadecimal(char c) {
    if (is_digit(c)) {
        return c - '0';
    }
    if (c >= 'a' && c <= 'f') {
        return c - 'a' + 10;
    }
    if (c >= 'A' && c <= 'F') {
        return c - 'A' + 10;
    }

    return -1;
}

// The four hexadecimal digits after \u, or -1.
static int32_t read_unit(const char *at, const char *end) {
    if (end - at < 4) {
        return -1;
    }

    int32_t unit = 0;
    for (int i = 0; i < 4; i++) {
        int digit = hexadecimal(at[i]);
        if (digit < 0) {
            return -1;
        }
        unit = unit * 16 + digit;
    }

    return unit;
}

// \uXXXX or a pair of surrogates; `at` points after the u. Returns where reading continues.
static const char *read_unicode(parser *p, const char *at, const char *end, char **out) {
    int32_t unit = read_unit(at, end);
    if (unit < 0) {
        NOTE(p, at - 2, "\\u must be followed by four hexadecimal digits");
        return at;
    }

    // A surrogate pair encodes one character.
    if (unit >= 0xD800 && unit < 0xDC00 && end - at >= 10 && at[4] == '\\' && at[5] == 'u') {
        int32_t second = read_unit(at + 6, end);
        if (second >= 0xDC00 && second < 0xE000) {
            *out += sn_utf8_write(
                *out, (uint32_t)(0x10000 + ((unit - 0xD800) << 10) + (second - 0xDC00)));
            return at + 10;
        }
    }

    if (unit >= 0xD800 && unit < 0xE000) {
        NOTE(p, at - 2, "\\u%04X is half of a surrogate pair; the other half is missing",
             (unsigned)unit);
        return at + 4;
    }

    *out += sn_utf8_write(*out, (uint32_t)unit);
    return at + 4;
}

// `at` points after the backslash.
static const char *read_escape(parser *p, const char *at, const char *end, char **out) {
    static const char names[] = "\"\\/bfnrt";
    static const char values[] = "\"\\/\b\f\n\r\t";
    const char *name = *at ? strchr(names, *at) : NULL;

    if (name) {
        *(*out)++ = values[name - names];
        return at + 1;
    }

    if (*at == 'u') {
        return read_unicode(p, at + 1, end, out);
    }

    char shown[SN_TEXT_FOUND_SIZE];
    NOTE(p, at - 1,
         "unknown escape, a backslash before %s; valid are \\\" \\\\ \\/ \\b \\f \\n \\r \\t "
         "\\uXXXX",
         sn_text_found(at, at + 1, shown));

    return at + 1;
}

// Reads the string whose opening quote is at the cursor. Returns NULL and a count of 0 if reading
// cannot continue.
static const char *read_string(parser *p, int32_t *count) {
    char quote = *p->at;
    const char *begin = p->at + 1;
    const char *close = begin;

    // Find the closing quote; strings do not span lines.
    while (close < p->end && *close != quote && *close != '\n') {
        close += *close == '\\' && close + 1 < p->end ? 2 : 1;
    }

    if (close >= p->end || *close != quote) {
        STOP(p, p->at, "this string is never closed; the second %c is missing", quote);
        return NULL;
    }

    // Copy and decode it.
    char *string = p->source->strings_end;
    char *out = string;
    for (const char *c = begin; c < close;) {
        int length = sn_utf8_length(c, close);
        if (*c == '\\') {
            c = read_escape(p, c + 1, close, &out);
        } else if (length == 0) {
            NOTE(p, c, "byte 0x%02X does not belong to valid UTF-8", (unsigned)(unsigned char)*c);
            c++;
        } else if ((unsigned char)*c < 0x20) {
            NOTE(p, c, "control character 0x%02X in a string; write it as \\u%04X", (unsigned)*c,
                 (unsigned)*c);
            c++;
        } else {
            memcpy(out, c, (size_t)length);
            out += length;
            c += length;
        }
    }

    *count = (int32_t)(out - string);
    *out = 0;

    // It fits: a string's quotes take two bytes of the text, its final zero takes one.
    p->source->strings_end = out + 1;
    SN_ASSERT(p->source->strings_end <= p->source->strings + p->source->size + 1);
    p->at = close + 1;

    return string;
}

static const char *number_mistake(const char *at, const char *end) {
    if (*at == '+') {
        return "a number must not start with +";
    }
    if (*at == '-') {
        at++;
    }
    if (at < end && *at == '.') {
        return "a digit must stand before the point";
    }
    if (end - at > 1 && at[0] == '0' && (at[1] == 'x' || at[1] == 'X')) {
        return "hexadecimal numbers are not valid";
    }
    if (end - at > 1 && at[0] == '0' && is_digit(at[1])) {
        return "a number must not start with a superfluous 0";
    }

    return "a number is digits, then perhaps a point and digits, then perhaps e and an exponent";
}

// -? (0 | [1-9] digits) (. digits)? ([eE] [+-]? digits)?
static bool is_number(const char *at, const char *end) {
    // Sign and whole part; no leading zeros.
    if (at < end && *at == '-') {
        at++;
    }
    if (at >= end || !is_digit(*at)) {
        return false;
    }

    if (*at == '0') {
        at++;
    } else {
        while (at < end && is_digit(*at)) {
            at++;
        }
    }

    // Fraction.
    if (at < end && *at == '.') {
        if (++at >= end || !is_digit(*at)) {
            return false;
        }
        while (at < end && is_digit(*at)) {
            at++;
        }
    }

    // Exponent.
    if (at < end && (*at == 'e' || *at == 'E')) {
        at++;
        if (at < end && (*at == '+' || *at == '-')) {
            at++;
        }
        if (at >= end || !is_digit(*at)) {
            return false;
        }

        while (at < end && is_digit(*at)) {
            at++;
        }
    }

    return at == end;
}

static bool is_not_finite(const char *at, const char *end) {
    if (at < end && (*at == '-' || *at == '+')) {
        at++;
    }
    sn_word word = {at, (size_t)(end - at)};
    return sn_word_is_like(word, "nan") || sn_word_is_like(word, "infinity") ||
           sn_word_is_like(word, "inf");
}

// A number, true, false or null, or a misspelling of one of them.
static void read_plain(parser *p, sn_json *out) {
    const char *begin = p->at;
    const char *c = begin;
    while (c < p->end && (is_letter(*c) || is_digit(*c) || *c == '+' || *c == '-' || *c == '.')) {
        c++;
    }

    char shown[SN_TEXT_FOUND_SIZE];
    sn_word word = {begin, (size_t)(c - begin)};
    if (word.size == 0) {
        STOP(p, begin, "found %s, expected a value", found(p, shown));
        return;
    }

    p->at = c;

    // A value, or the most helpful message about what stands in its place.
    if (is_number(begin, c)) {
        const char *at = begin;
        out->kind = SN_JSON_NUMBER;
        if (sn_text_double(&at, c, &out->number) != SN_NUMBER_OK) {
            out->number = 0;
            NOTE(p, begin, "%s is too large; the largest number is about 1.8e308",
                 sn_text_found(begin, c, shown));
        }
    } else if (sn_word_is(word, "true") || sn_word_is(word, "false")) {
        out->kind = SN_JSON_BOOLEAN;
        out->boolean = *begin == 't';
    } else if (sn_word_is(word, "null")) {
        out->kind = SN_JSON_NULL;
    } else if (is_not_finite(begin, c)) {
        out->kind = SN_JSON_NUMBER;
        NOTE(p, begin, "%s is not a number here; write a finite one",
             sn_text_found(begin, c, shown));
    } else if (is_letter(*begin)) {
        static const char *const words[] = {"true", "false", "null"};
        char name[16] = {0};

        memcpy(name, begin, word.size < 15 ? word.size : 15);
        int32_t nearest = sn_suggest(name, words, 3);

        sn_text_found(begin, c, shown);

        if (nearest >= 0) {
            NOTE(p, begin, "found %s; did you mean %s?", shown, words[nearest]);
        } else {
            NOTE(p, begin, "found %s without quotes; a string must be in double quotes", shown);
        }
    } else {
        out->kind = SN_JSON_NUMBER;
        NOTE(p, begin, "%s is not a valid number: %s", sn_text_found(begin, c, shown),
             number_mistake(begin, c));
    }
}

static bool push_value(parser *p, const sn_json *value) {
    void *stack = p->stack;
    sinew_status status = sn_grow(p->arena->context, &stack, &p->stack_capacity, p->stack_count,
                                  p->stack_count + 1, sizeof(sn_json));

    p->stack = stack;

    if (status != SINEW_OK) {
        p->dead = true;
        return false;
    }

    p->stack[p->stack_count++] = *value;
    return true;
}

void sn_json_adopt(sn_json *value) {
    if (value->kind != SN_JSON_ARRAY && value->kind != SN_JSON_OBJECT) {
        return;
    }
    for (int32_t i = 0; i < value->count; i++) {
        value->items[i].parent = value;
    }
}

// Moves the values above `base` from the stack into the container.
static void close_container(parser *p, sn_json *out, size_t base) {
    size_t count = p->stack_count - base;
    out->items = SN_PUSH(p->arena, sn_json, count);
    p->stack_count = base;

    if (!out->items) {
        p->dead = true;
        return;
    }

    if (count) {
        memcpy(out->items, p->stack + base, count * sizeof(sn_json));
    }

    out->count = (int32_t)count;
    for (size_t i = 0; i < count; i++) {
        sn_json_adopt(&out->items[i]);
    }
}

static void read_value(parser *p, sn_json *out);

// Reads one item. Returns true if another one follows; otherwise consumes the closing bracket.
static bool read_item(parser *p, sn_json *item, const char *open, char close) {
    read_value(p, item);
    if (p->dead || !push_value(p, item)) {
        return false;
    }

    skip(p);
    if (p->dead) {
        return false;
    }

    char shown[SN_TEXT_FOUND_SIZE];
    const char *container = close == ']' ? "array" : "object";
    if (p->at < p->end && *p->at == close) {
        p->at++;
        return false;
    }

    // A comma must be followed by another item.
    if (p->at < p->end && *p->at == ',') {
        const char *comma = p->at++;
        skip(p);
        if (p->dead || p->at >= p->end || *p->at != close) {
            return !p->dead;
        }

        NOTE(p, comma, "the last %s of the %s is followed by a comma; remove it",
             close == ']' ? "item" : "member", container);
        p->at++;

        return false;
    }

    // A missing comma is reported, and reading continues.
    if (p->at < p->end && (*p->at == '"' || is_letter(*p->at) || is_digit(*p->at) ||
                           *p->at == '{' || *p->at == '[')) {
        NOTE(p, p->at, "found %s; a comma is missing before it", found(p, shown));
        return true;
    }

    // Anything else ends the reading.
    sn_text_position position =
        sn_json_source_position(p->source, (size_t)(open - p->source->text));
    STOP(p, p->at, "found %s, expected , or %c in the %s that starts at line %d, column %d",
         found(p, shown), close, container, position.line, position.column);

    return false;
}

static void read_array(parser *p, sn_json *out) {
    const char *open = p->at++;
    size_t base = p->stack_count;
    sn_json_step *step = &p->steps[p->depth++];

    *step = (sn_json_step){NULL, 0};
    skip(p);
    if (!p->dead && p->at < p->end && *p->at == ']') {
        p->at++;
    } else {
        bool more = !p->dead;
        for (; more; step->index++) {
            sn_json item = {.source = p->source};
            more = read_item(p, &item, open, ']');
            skip(p);
        }
    }

    p->depth--;
    out->kind = SN_JSON_ARRAY;
    close_container(p, out, base);
}

static void read_bare_key(parser *p, sn_json *member) {
    const char *begin = p->at;
    while (p->at < p->end && (is_letter(*p->at) || is_digit(*p->at))) {
        p->at++;
    }

    size_t length = (size_t)(p->at - begin);
    if (p->at == p->end) {
        STOP(p, p->at, "found the end of the text, expected : behind a key");
        return;
    }

    char *key = p->source->strings_end;
    memcpy(key, begin, length);
    key[length] = 0;
    p->source->strings_end = key + length + 1; // fits: something follows the word
    member->key = key;
}

// Reads the key and the colon after it. False if reading cannot continue.
static bool read_key(parser *p, sn_json *member) {
    char shown[SN_TEXT_FOUND_SIZE];
    int32_t count = 0;

    member->key_offset = (uint32_t)(p->at - p->source->text);

    // The key. One without double quotes is a mistake, but reading continues.
    if (p->at < p->end && *p->at == '"') {
        const char *begin = p->at;
        member->key = read_string(p, &count);
        if (member->key && strlen(member->key) != (size_t)count) {
            STOP(p, begin, "a key must not hold a zero character");
        }
    } else if (p->at < p->end && (is_letter(*p->at) || *p->at == '\'')) {
        NOTE(p, p->at, "found %s; a key must be in double quotes", found(p, shown));
        if (*p->at == '\'') {
            member->key = read_string(p, &count);
        } else {
            read_bare_key(p, member);
        }
    } else {
        STOP(p, p->at, "found %s, expected a key in double quotes", found(p, shown));
    }

    if (p->dead) {
        return false;
    }

    // The colon.
    skip(p);
    if (p->dead) {
        return false;
    }

    if (p->at < p->end && *p->at == ':') {
        p->at++;
    } else {
        STOP(p, p->at, "found %s, expected : after the key \"%.*s\"", found(p, shown), KEY_SHOWN,
             member->key);
    }

    return !p->dead;
}

// Indices sorted by key, equal keys in the order of the text, by merge sort.
static int32_t *sort_keys(sn_arena *arena, const sn_json *items, int32_t count) {
    int32_t *from = SN_PUSH(arena, int32_t, count);
    int32_t *to = SN_PUSH(arena, int32_t, count);
    if (!from || !to) {
        return NULL;
    }

    for (int32_t i = 0; i < count; i++) {
        from[i] = i;
    }

    // Merge neighbouring runs of `width` from one array into the other.
    for (int32_t width = 1; width < count; width *= 2) {
        for (int32_t begin = 0; begin < count; begin += 2 * width) {
            int32_t middle = begin + width < count ? begin + width : count;
            int32_t end = begin + 2 * width < count ? begin + 2 * width : count;
            int32_t i = begin;
            int32_t j = middle;

            for (int32_t k = begin; k < end; k++) {
                bool left =
                    i < middle && (j >= end || strcmp(items[from[i]].key, items[from[j]].key) <= 0);
                to[k] = left ? from[i++] : from[j++];
            }
        }

        int32_t *swap = from;
        from = to;
        to = swap;
    }

    return from;
}

static void refuse_duplicates(parser *p, const sn_json *object) {
    if (p->dead || object->count < 2) {
        return;
    }

    // Equal keys are adjacent after sorting.
    sn_arena_mark mark = sn_arena_get_mark(p->arena);
    const int32_t *order = sort_keys(p->arena, object->items, object->count);
    if (!order) {
        p->dead = true;
    }

    for (int32_t i = 1; i < object->count && !p->dead; i++) {
        const sn_json *first = &object->items[order[i - 1]];
        const sn_json *second = &object->items[order[i]];
        if (strcmp(first->key, second->key) != 0) {
            continue;
        }

        sn_text_position position = sn_json_key_position(first);
        NOTE(p, p->source->text + second->key_offset,
             "duplicate key \"%.*s\"; it is already used at line %d, column %d", KEY_SHOWN,
             second->key, position.line, position.column);
    }

    sn_arena_rewind(p->arena, mark);
}

static void read_object(parser *p, sn_json *out) {
    const char *open = p->at++;
    size_t base = p->stack_count;
    sn_json_step *step = &p->steps[p->depth++];

    *step = (sn_json_step){NULL, -1};

    // Members; the step names the one being read, for messages.
    skip(p);
    if (!p->dead && p->at < p->end && *p->at == '}') {
        p->at++;
    } else {
        bool more = !p->dead;
        while (more) {
            sn_json member = {.source = p->source};
            if (!read_key(p, &member)) {
                break;
            }

            step->key = member.key;
            more = read_item(p, &member, open, '}');
            *step = (sn_json_step){NULL, -1};
            skip(p);
        }
    }

    out->kind = SN_JSON_OBJECT;
    close_container(p, out, base);
    refuse_duplicates(p, out);
    p->depth--;
}

static void read_value(parser *p, sn_json *out) {
    skip(p);
    if (p->dead) {
        return;
    }

    out->offset = (uint32_t)(p->at - p->source->text);
    if (p->at >= p->end) {
        STOP(p, p->at, "found the end of the text, expected a value");
        return;
    }

    // Limits of what the reader accepts.
    if (++p->value_count > LARGEST_COUNT) {
        STOP(p, p->at, "more than %d values; that is beyond what this reader accepts",
             LARGEST_COUNT);
        return;
    }

    // The first character decides.
    char c = *p->at;
    if ((c == '[' || c == '{') && p->depth == SN_JSON_DEPTH) {
        STOP(p, p->at, "nested deeper than %d levels", SN_JSON_DEPTH);
    } else if (c == '[') {
        read_array(p, out);
    } else if (c == '{') {
        read_object(p, out);
    } else if (c == '"' || c == '\'') {
        if (c == '\'') {
            NOTE(p, p->at, "a string must be in double quotes");
        }
        out->string = read_string(p, &out->count);
        out->kind = out->string ? SN_JSON_STRING : SN_JSON_NULL;
    } else {
        read_plain(p, out);
    }
}

sn_json *sn_json_parse_source(sn_arena *arena, sn_json_source *source, size_t start,
                              const sn_json_step *steps, int32_t depth, bool comments,
                              sn_mistakes *mistakes) {
    SN_ASSERT(start <= source->size && depth < SN_JSON_DEPTH);
    parser p = {.arena = arena,
                .source = source,
                .mistakes = mistakes,
                .comments = comments,
                .depth = depth,
                .at = source->text + start,
                .end = source->text + source->size};

    if (depth) {
        memcpy(p.steps, steps, (size_t)depth * sizeof *steps);
    }

    // Skip a byte order mark.
    if (source->size - start >= 3 && memcmp(p.at, "\xEF\xBB\xBF", 3) == 0) {
        p.at += 3;
    }

    sn_json value = {.source = source};
    read_value(&p, &value);
    skip(&p);

    // Only white space may follow the value.
    char shown[SN_TEXT_FOUND_SIZE];
    if (!p.dead && p.at < p.end) {
        STOP(&p, p.at, "found %s after the end of the value", found(&p, shown));
    }

    sn_release(arena->context, p.stack, p.stack_capacity, sizeof(sn_json));
    sn_json *root = SN_PUSH(arena, sn_json, 1);
    if (!root) {
        return NULL;
    }

    *root = value;
    sn_json_adopt(root);

    return root;
}

sinew_status sn_json_parse(sinew_context *context, const void *text, size_t size,
                           const sn_json_options *options, sn_mistakes *mistakes,
                           sn_json_document *document) {
    *document = (sn_json_document){.arena = sn_arena_create(context)};
    if (size > LARGEST_TEXT) {
        return sn_fail(context, SINEW_OUT_OF_MEMORY, "%s: %zu bytes of JSON; at most %d are read",
                       options->name, size, LARGEST_TEXT);
    }

    sn_json_source *source = sn_json_source_create(&document->arena, options->name, text, size);
    if (!source) {
        return SINEW_OUT_OF_MEMORY;
    }

    // Errors of this text only.
    sn_mistakes own = sn_mistakes_create(context);
    sn_mistakes *list = mistakes ? mistakes : &own;
    int64_t before = list->total;

    document->root =
        sn_json_parse_source(&document->arena, source, 0, NULL, 0, options->comments, list);

    sinew_status status = sn_arena_status(&document->arena);
    if (status == SINEW_OK && !document->root) {
        status = SINEW_OUT_OF_MEMORY;
    }
    if (status == SINEW_OK && list->total > before) {
        status = sn_mistakes_status(list);
    }

    sn_mistakes_destroy(&own);
    return status;
}

void sn_json_document_destroy(sn_json_document *document) {
    sn_arena_destroy(&document->arena);
    document->root = NULL;
}
