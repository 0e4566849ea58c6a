// Navigation in the JSON tree: members, items, positions, paths.
#include "io/text/json.h"

#include "io/text/json_source.h"

#include <stdio.h>
#include <string.h>

sn_json_source *sn_json_source_create(sn_arena *arena, const char *name, const void *text,
                                      size_t size) {
    if (!name) {
        name = "";
    }

    sn_json_source *source = SN_PUSH(arena, sn_json_source, 1);
    char *copy = SN_PUSH(arena, char, size + 1);
    char *strings = SN_PUSH(arena, char, size + 1);
    char *name_copy = SN_PUSH(arena, char, strlen(name) + 1);

    if (!source || !copy || !strings || !name_copy) {
        return NULL;
    }
    if (size) {
        memcpy(copy, text, size);
    }

    memcpy(name_copy, name, strlen(name) + 1);
    *source = (sn_json_source){
        .name = name_copy, .text = copy, .size = size, .strings = strings, .strings_end = strings};

    return source;
}

sn_text_position sn_json_source_position(const sn_json_source *source, size_t offset) {
    SN_ASSERT(offset <= source->size);
    return sn_text_find_position(source->text, source->text + offset);
}

sn_json *sn_json_get(const sn_json *object, const char *key) {
    if (!object || object->kind != SN_JSON_OBJECT) {
        return NULL;
    }

    for (int32_t i = 0; i < object->count; i++) {
        if (strcmp(object->items[i].key, key) == 0) {
            return &object->items[i];
        }
    }

    return NULL;
}

sn_json *sn_json_at(const sn_json *array, int32_t index) {
    if (!array || array->kind != SN_JSON_ARRAY || index < 0 || index >= array->count) {
        return NULL;
    }
    return &array->items[index];
}

const char *sn_json_kind_name(sn_json_kind kind) {
    static const char *const names[] = {"null",     "true or false", "a number",
                                        "a string", "an array",      "an object"};
    return names[kind];
}

sn_text_position sn_json_position(const sn_json *value) {
    return sn_json_source_position(value->source, value->offset);
}

sn_text_position sn_json_key_position(const sn_json *value) {
    return sn_json_source_position(value->source, value->key ? value->key_offset : value->offset);
}

static bool is_plain_key(const char *key) {
    if (!*key || (*key >= '0' && *key <= '9')) {
        return false;
    }

    for (; *key; key++) {
        bool letter = (*key >= 'a' && *key <= 'z') || (*key >= 'A' && *key <= 'Z') || *key == '_' ||
                      *key == '-';
        if (!letter && !(*key >= '0' && *key <= '9')) {
            return false;
        }
    }

    return true;
}

const char *sn_json_path_from_steps(const sn_json_step *steps, int32_t count, char *out,
                                    size_t size) {
    SN_ASSERT(size >= 8);
    size_t used = 0;

    out[0] = 0;
    for (int32_t i = 0; i < count; i++) {
        const char *key = steps[i].key;
        int length;
        if (!key && steps[i].index < 0) {
            continue; // an object whose key is not read yet
        }

        // An index, a plain key after a point, or a quoted key.
        if (!key) {
            length = snprintf(out + used, size - used, "[%d]", steps[i].index);
        } else if (is_plain_key(key)) {
            length = snprintf(out + used, size - used, "%s%s", used ? "." : "", key);
        } else {
            length = snprintf(out + used, size - used, "[\"%s\"]", key);
        }

        // A path that does not fit ends in dots.
        if (length < 0 || (size_t)length >= size - used) {
            memcpy(out + size - 4, "...", 4);
            return out;
        }

        used += (size_t)length;
    }

    return out;
}

const char *sn_json_path(const sn_json *value, char *out, size_t size) {
    sn_json_step steps[SN_JSON_DEPTH];
    int32_t depth = 0;
    for (const sn_json *v = value; v->parent; v = v->parent) {
        depth++;
    }

    SN_ASSERT(depth <= SN_JSON_DEPTH);
    int32_t i = depth;
    for (const sn_json *v = value; v->parent; v = v->parent) {
        steps[--i] = (sn_json_step){v->key, v->key ? 0 : (int32_t)(v - v->parent->items)};
    }

    return sn_json_path_from_steps(steps, depth, out, size);
}
