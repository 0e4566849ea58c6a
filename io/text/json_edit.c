// Sets one value of a tree by its path: the option `--set path=value`.
#include "io/text/json.h"

#include "io/text/json_source.h"

#include <stdio.h>
#include <string.h>

typedef struct edit {
    sn_json_document *document;
    sn_json_source *source; // the whole assignment
    sn_mistakes *mistakes;
    const char *at, *end; // the rest of the path
} edit;

static sn_text_position place_of(const edit *e, const char *at) {
    return sn_json_source_position(e->source, (size_t)(at - e->source->text));
}

#define REFUSE(e, at, ...)                                                                         \
    sn_mistakes_add((e)->mistakes, (e)->source->name, place_of(e, at), "", __VA_ARGS__)

// Copies a name from the path to the source's strings.
static bool keep_name(edit *e, const char *name, size_t length, sn_json_step *step) {
    for (const char *c = name; c < name + length; c += sn_utf8_length(c, name + length)) {
        if (sn_utf8_length(c, name + length) > 0) {
            continue;
        }
        REFUSE(e, c, "byte 0x%02X does not belong to valid UTF-8", (unsigned)(unsigned char)*c);
        return false;
    }

    memcpy(e->source->strings_end, name, length);
    step->key = e->source->strings_end;
    e->source->strings_end += length + 1; // the room was zero, and so is the end

    return true;
}

// The next step of the path: .name, name at the start, [3] or ["any name"].
static bool read_step(edit *e, bool first, sn_json_step *step) {
    const char *begin = e->at;
    *step = (sn_json_step){NULL, -1};
    if (*e->at == '[') {

        // A quoted name, or an index.
        e->at++;
        if (e->at < e->end && *e->at == '"') {
            const char *name = ++e->at;
            while (e->at < e->end && *e->at != '"') {
                e->at++;
            }

            size_t length = (size_t)(e->at - name);
            if (e->at >= e->end || length == 0) {
                REFUSE(e, begin, "a name in brackets must stand between two double quotes");
                return false;
            }

            e->at++;
            if (!keep_name(e, name, length, step)) {
                return false;
            }
        } else {
            int64_t index = -1;
            if (sn_text_integer(&e->at, e->end, &index) != SN_NUMBER_OK || index < 0 ||
                index >= INT32_MAX) {
                REFUSE(e, begin,
                       "the brackets must hold an index of 0 or more, or a name in double quotes");
                return false;
            }

            step->index = (int32_t)index;
        }

        if (e->at >= e->end || *e->at != ']') {
            REFUSE(e, begin, "this bracket is never closed; ] is missing");
            return false;
        }

        e->at++;
        return true;
    }

    // A plain name, after a point unless it is the first.
    if (!first) {
        if (*e->at != '.') {
            REFUSE(e, e->at, "expected . or [ or =");
            return false;
        }
        e->at++;
    }

    const char *name = e->at;
    while (e->at < e->end && *e->at != '.' && *e->at != '[') {
        e->at++;
    }

    size_t length = (size_t)(e->at - name);
    if (length == 0) {
        REFUSE(e, name, "a name is missing here");
        return false;
    }

    return keep_name(e, name, length, step);
}

// Appends a value to a container; NULL if memory is short.
static sn_json *append(edit *e, sn_json *container) {
    sn_json *items = SN_PUSH(&e->document->arena, sn_json, container->count + 1);
    if (!items) {
        return NULL;
    }
    if (container->count) {
        memcpy(items, container->items, (size_t)container->count * sizeof(sn_json));
    }

    for (int32_t i = 0; i < container->count; i++) {
        sn_json_adopt(&items[i]);
    }

    container->items = items;
    sn_json *added = &items[container->count++];

    *added = (sn_json){.parent = container, .source = e->source};
    return added;
}

// Descends one step from `at`, which becomes an object or array if it was null. Creates missing
// values.
static sn_json *descend(edit *e, sn_json *at, const sn_json_step *step, const char *begin) {
    char path[SN_JSON_PATH_SIZE];
    sn_json_kind wanted = step->key ? SN_JSON_OBJECT : SN_JSON_ARRAY;
    if (at->kind == SN_JSON_NULL) {
        at->kind = wanted;
        at->count = 0;
        at->items = NULL;
    }

    if (at->kind != wanted) {
        sn_json_path(at, path, sizeof path);
        REFUSE(e, begin, "%s is %s, not %s", *path ? path : "the file", sn_json_kind_name(at->kind),
               sn_json_kind_name(wanted));
        return NULL;
    }

    sn_json *next = step->key ? sn_json_get(at, step->key) : sn_json_at(at, step->index);
    if (next) {
        return next;
    }

    // An array may only grow by one item at its end.
    if (!step->key && step->index != at->count) {
        sn_json_path(at, path, sizeof path);
        REFUSE(e, begin, "%s has %d items; index %d is beyond the next one",
               *path ? path : "the file", at->count, step->index);
        return NULL;
    }

    next = append(e, at);
    if (!next) {
        return NULL;
    }

    next->key = step->key;
    next->key_offset = (uint32_t)(begin - e->source->text);
    next->offset = next->key_offset;

    return next;
}

// The value after '=': JSON, or a bare string. NULL if an error was recorded or memory is short.
static sn_json *read_assigned(edit *e, const char *value, const sn_json_step *steps,
                              int32_t depth) {
    sn_arena *arena = &e->document->arena;
    size_t start = (size_t)(value - e->source->text);
    char *strings_end = e->source->strings_end;
    sn_mistakes tried = sn_mistakes_create(arena->context);
    sn_json *read = sn_json_parse_source(arena, e->source, start, steps, depth, false, &tried);
    bool good = tried.total == 0;

    sn_mistakes_destroy(&tried);
    if (good || !read) {
        return read;
    }

    // A value that starts like JSON is not a bare string: record its errors.
    if (*value == '{' || *value == '[' || *value == '"') {
        e->source->strings_end = strings_end;
        sn_json_parse_source(arena, e->source, start, steps, depth, false, e->mistakes);
        return NULL;
    }

    // A bare string must be valid UTF-8.
    const char *end = e->source->text + e->source->size;
    for (const char *c = value; c < end; c += sn_utf8_length(c, end)) {
        if (sn_utf8_length(c, end) > 0) {
            continue;
        }
        REFUSE(e, c, "byte 0x%02X does not belong to valid UTF-8", (unsigned)(unsigned char)*c);
        return NULL;
    }

    *read = (sn_json){.kind = SN_JSON_STRING,
                      .count = (int32_t)(end - value),
                      .offset = (uint32_t)start,
                      .source = e->source,
                      .string = value};

    return read;
}

static void set_value(edit *e, const char *value) {
    sn_json *at = e->document->root;
    sn_json_step steps[SN_JSON_DEPTH];
    int32_t depth = 0;

    // Walk the path, creating what is missing.
    for (; e->at < e->end; depth++) {
        const char *begin = e->at;
        if (depth >= SN_JSON_DEPTH - 1) {
            REFUSE(e, begin, "the path is deeper than %d levels", SN_JSON_DEPTH - 1);
            return;
        }

        if (!read_step(e, depth == 0, &steps[depth])) {
            return;
        }

        at = descend(e, at, &steps[depth], begin);
        if (!at) {
            return;
        }
    }

    // Replace the value but keep its key.
    sn_json *read = read_assigned(e, value, steps, depth);
    if (!read) {
        return;
    }

    bool created = at->source == e->source;
    read->key = at->key;
    read->key_offset = created ? at->key_offset : read->offset;
    read->parent = at->parent;
    *at = *read;
    sn_json_adopt(at);
}

sinew_status sn_json_set(sn_json_document *document, const char *assignment,
                         sn_mistakes *mistakes) {
    SN_ASSERT(document->root);
    sinew_context *context = document->arena.context;
    size_t size = strlen(assignment);

    if (size > 1 << 20) {
        return sn_fail(context, SINEW_INVALID_ARGUMENT,
                       "an assignment of %zu bytes; at most 1 MB is read", size);
    }

    // A copy of the text lives as long as the document, whose values refer to it.
    sn_json_source *source = sn_json_source_create(&document->arena, "--set", assignment, size);
    if (!source) {
        return SINEW_OUT_OF_MEMORY;
    }

    // Set the value, or note why it cannot be set.
    const char *equals = memchr(source->text, '=', size);
    int64_t before = mistakes->total;
    edit e = {document, source, mistakes, source->text, equals};

    if (!equals || equals == source->text) {
        REFUSE(&e, source->text, "expected path=value, e.g. bodies[0].material.young=2e5");
    } else {
        set_value(&e, equals + 1);
    }

    SN_TRY(sn_arena_status(&document->arena));
    return mistakes->total > before ? sn_mistakes_status(mistakes) : SINEW_OK;
}
