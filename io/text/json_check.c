// Typed reading of a JSON tree; see io/text/json_check.h.
#include "io/text/json_check.h"

#include "io/text/json_source.h"
#include "io/text/suggest.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

static void add_mistake(sn_mistakes *mistakes, const sn_json *value, sn_text_position position,
                        const char *format, va_list arguments) {
    char path[SN_JSON_PATH_SIZE], message[800];
    vsnprintf(message, sizeof message, format, arguments);
    sn_mistakes_add(mistakes, value->source->name, position, sn_json_path(value, path, sizeof path),
                    "%s", message);
}

void sn_json_mistake(sn_mistakes *mistakes, const sn_json *value, const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    add_mistake(mistakes, value, sn_json_position(value), format, arguments);
    va_end(arguments);
}

void sn_json_key_mistake(sn_mistakes *mistakes, const sn_json *value, const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    add_mistake(mistakes, value, sn_json_key_position(value), format, arguments);
    va_end(arguments);
}

static const char *format_number(double value, char out[SN_TEXT_NUMBER_SIZE + 1]) {
    out[sn_text_write_double(out, value)] = 0;
    return out;
}

const char *sn_json_found(const sn_json *value, char out[SN_JSON_FOUND_SIZE]) {
    char number[SN_TEXT_NUMBER_SIZE + 1];
    switch (value->kind) {
    case SN_JSON_NULL: return "null";
    case SN_JSON_BOOLEAN: return value->boolean ? "true" : "false";
    case SN_JSON_NUMBER: return strcpy(out, format_number(value->number, number));
    case SN_JSON_STRING: {
        bool cut = value->count > 40;
        int shown = cut ? 40 : value->count;
        while (cut && shown > 0 && ((unsigned char)value->string[shown] & 0xC0) == 0x80) {
            shown--; // do not cut a character
        }
        snprintf(out, SN_JSON_FOUND_SIZE, "the string \"%.*s%s\"", shown, value->string,
                 cut ? "..." : "");
        return out;
    }
    case SN_JSON_ARRAY:
        snprintf(out, SN_JSON_FOUND_SIZE, "an array of %d", value->count);
        return out;
    case SN_JSON_OBJECT:
        snprintf(out, SN_JSON_FOUND_SIZE, "an object of %d", value->count);
        return out;
    }
    return "nothing";
}

sn_json *sn_json_require(sn_mistakes *mistakes, const sn_json *object, const char *key) {
    if (!object || object->kind != SN_JSON_OBJECT) {
        return NULL; // noted where the object was asked for
    }

    sn_json *value = sn_json_get(object, key);
    if (!value) {
        sn_json_mistake(mistakes, object, "\"%s\" is missing here", key);
    }

    return value;
}

bool sn_json_is(sn_mistakes *mistakes, const sn_json *value, sn_json_kind kind) {
    if (!value || value->kind == kind) {
        return true;
    }

    char found[SN_JSON_FOUND_SIZE];
    sn_json_mistake(mistakes, value, "found %s, expected %s", sn_json_found(value, found),
                    sn_json_kind_name(kind));

    return false;
}

const char *sn_json_list_words(const char *const *words, int32_t count, char *out, size_t size) {
    SN_ASSERT(size >= 8);
    size_t used = 0;

    out[0] = 0;
    for (int32_t i = 0; i < count; i++) {
        int length = snprintf(out + used, size - used, "%s%s", i ? ", " : "", words[i]);
        if (length < 0 || (size_t)length + 5 >= size - used) {
            strcpy(out + (used + 5 < size ? used : size - 6), ", ...");
            return out;
        }
        used += (size_t)length;
    }

    return out;
}

bool sn_json_check_keys(sn_mistakes *mistakes, const sn_json *object, const char *const *words,
                        int32_t count) {
    if (!object) {
        return true;
    }
    if (!sn_json_is(mistakes, object, SN_JSON_OBJECT)) {
        return false;
    }

    bool good = true;

    // "$schema" and keys that start like a comment are always allowed.
    for (int32_t i = 0; i < object->count; i++) {
        const sn_json *member = &object->items[i];
        bool known = strcmp(member->key, "$schema") == 0 || strncmp(member->key, "//", 2) == 0;
        for (int32_t w = 0; w < count && !known; w++) {
            known = strcmp(member->key, words[w]) == 0;
        }

        if (known) {
            continue;
        }

        good = false;
        char list[512];

        sn_json_list_words(words, count, list, sizeof list);

        // Suggest the most similar key, and list the valid ones.
        int32_t nearest = sn_suggest(member->key, words, count);
        if (nearest >= 0) {
            sn_json_key_mistake(mistakes, member,
                                "unknown key \"%.60s\"; did you mean \"%s\"? Valid here: %s",
                                member->key, words[nearest], list);
        } else {
            sn_json_key_mistake(mistakes, member, "unknown key \"%.60s\"; valid here: %s",
                                member->key, list);
        }
    }

    return good;
}

// "at least 0 Pa", "in [0, 1]", "above 0", ...
static void describe_range(double low, double high, bool inside, const char *unit, char *out,
                           size_t size) {
    char a[SN_TEXT_NUMBER_SIZE + 1], b[SN_TEXT_NUMBER_SIZE + 1];
    if (isfinite(low)) {
        format_number(low, a);
    }
    if (isfinite(high)) {
        format_number(high, b);
    }

    const char *space = *unit ? " " : "";
    if (isfinite(low) && isfinite(high)) {
        snprintf(out, size, "a number %s %s and %s%s%s", inside ? "strictly between" : "between", a,
                 b, space, unit);
    } else if (isfinite(low)) {
        snprintf(out, size, "a number %s %s%s%s", inside ? "above" : "of at least", a, space, unit);
    } else if (isfinite(high)) {
        snprintf(out, size, "a number %s %s%s%s", inside ? "below" : "of at most", b, space, unit);
    } else {
        snprintf(out, size, "a number%s%s%s", *unit ? " (" : "", unit, *unit ? ")" : "");
    }
}

static bool read_number(sn_mistakes *mistakes, const sn_json *value, double low, double high,
                        bool inside, const char *unit, double *out) {
    SN_ASSERT(low <= high);
    if (!value) {
        return true;
    }

    if (value->kind == SN_JSON_NUMBER) {
        double x = value->number;
        if (inside ? x > low && x < high : x >= low && x <= high) {
            *out = x;
            return true;
        }
    }

    char found[SN_JSON_FOUND_SIZE], range[160];
    describe_range(low, high, inside, unit, range, sizeof range);
    sn_json_mistake(mistakes, value, "found %s, expected %s", sn_json_found(value, found), range);

    return false;
}

bool sn_json_number(sn_mistakes *mistakes, const sn_json *value, double low, double high,
                    const char *unit, double *out) {
    return read_number(mistakes, value, low, high, false, unit, out);
}

bool sn_json_number_inside(sn_mistakes *mistakes, const sn_json *value, double low, double high,
                           const char *unit, double *out) {
    return read_number(mistakes, value, low, high, true, unit, out);
}

bool sn_json_integer(sn_mistakes *mistakes, const sn_json *value, int64_t low, int64_t high,
                     int64_t *out) {
    SN_ASSERT(low <= high);
    if (!value) {
        return true;
    }

    // Whole numbers up to 2^53 are exact in double precision.
    if (value->kind == SN_JSON_NUMBER && value->number == floor(value->number) &&
        fabs(value->number) <= 9007199254740992.0) {
        int64_t x = (int64_t)value->number;
        if (x >= low && x <= high) {
            *out = x;
            return true;
        }
    }

    char found[SN_JSON_FOUND_SIZE];
    const char *shown = sn_json_found(value, found);
    if (high >= INT32_MAX) {
        sn_json_mistake(mistakes, value, "found %s, expected a whole number of at least %lld",
                        shown, (long long)low);
    } else {
        sn_json_mistake(mistakes, value, "found %s, expected a whole number from %lld to %lld",
                        shown, (long long)low, (long long)high);
    }

    return false;
}

bool sn_json_boolean(sn_mistakes *mistakes, const sn_json *value, bool *out) {
    if (!value) {
        return true;
    }
    if (!sn_json_is(mistakes, value, SN_JSON_BOOLEAN)) {
        return false;
    }

    *out = value->boolean;
    return true;
}

bool sn_json_string(sn_mistakes *mistakes, const sn_json *value, const char **out) {
    if (!value) {
        return true;
    }
    if (!sn_json_is(mistakes, value, SN_JSON_STRING)) {
        return false;
    }

    if (value->count == 0) {
        sn_json_mistake(mistakes, value, "found an empty string, expected at least one character");
        return false;
    }

    if (strlen(value->string) != (size_t)value->count) {
        sn_json_mistake(mistakes, value, "the string must not hold a zero character");
        return false;
    }

    *out = value->string;
    return true;
}

bool sn_json_word(sn_mistakes *mistakes, const sn_json *value, const char *const *words,
                  int32_t count, int32_t *out) {
    if (!value) {
        return true;
    }

    char list[512], found[SN_JSON_FOUND_SIZE];
    sn_json_list_words(words, count, list, sizeof list);
    if (value->kind != SN_JSON_STRING) {
        sn_json_mistake(mistakes, value, "found %s, expected one of the words: %s",
                        sn_json_found(value, found), list);
        return false;
    }

    for (int32_t i = 0; i < count; i++) {
        if (strcmp(words[i], value->string) != 0) {
            continue;
        }
        *out = i;
        return true;
    }

    // Suggest the most similar word.
    int32_t nearest = sn_suggest(value->string, words, count);
    if (nearest >= 0) {
        sn_json_mistake(mistakes, value,
                        "unknown word \"%.60s\"; did you mean \"%s\"? Valid here: %s",
                        value->string, words[nearest], list);
    } else {
        sn_json_mistake(mistakes, value, "unknown word \"%.60s\"; valid here: %s", value->string,
                        list);
    }

    return false;
}

bool sn_json_numbers(sn_mistakes *mistakes, const sn_json *value, int32_t count, double *out) {
    if (!value) {
        return true;
    }

    char found[SN_JSON_FOUND_SIZE];
    if (value->kind != SN_JSON_ARRAY || value->count != count) {
        sn_json_mistake(mistakes, value, "found %s, expected an array of %d numbers",
                        sn_json_found(value, found), count);
        return false;
    }

    bool good = true;
    for (int32_t i = 0; i < count; i++) {
        if (!sn_json_number(mistakes, &value->items[i], -INFINITY, INFINITY, "", &out[i])) {
            good = false;
        }
    }

    return good;
}
