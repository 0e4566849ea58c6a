// The list of errors; their text lives in an arena, at most SN_MISTAKES_KEPT of them.
#include "io/text/mistakes.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

sn_mistakes sn_mistakes_create(sinew_context *context) {
    return (sn_mistakes){.arena = sn_arena_create(context)};
}

void sn_mistakes_destroy(sn_mistakes *mistakes) {
    sn_arena_destroy(&mistakes->arena);
    mistakes->items = NULL;
    mistakes->count = 0;
    mistakes->total = 0;
}

static const char *copy_text(sn_arena *arena, const char *text) {
    size_t size = strlen(text) + 1;
    char *copy = SN_PUSH(arena, char, size);
    if (copy) {
        memcpy(copy, text, size);
    }
    return copy;
}

void sn_mistakes_add(sn_mistakes *mistakes, const char *file, sn_text_position position,
                     const char *path, const char *format, ...) {
    mistakes->total++;
    if (mistakes->count == SN_MISTAKES_KEPT) {
        return;
    }
    if (!mistakes->items) {
        mistakes->items = SN_PUSH(&mistakes->arena, sn_mistake, SN_MISTAKES_KEPT);
    }

    char message[1024];
    va_list arguments;

    va_start(arguments, format);
    vsnprintf(message, sizeof message, format, arguments);
    va_end(arguments);

    sn_mistake mistake = {copy_text(&mistakes->arena, file ? file : ""), position,
                          copy_text(&mistakes->arena, path ? path : ""),
                          copy_text(&mistakes->arena, message)};
    if (mistakes->items && mistake.file && mistake.path && mistake.message) {
        mistakes->items[mistakes->count++] = mistake;
    }
}

static bool is_before(const sn_mistake *a, const sn_mistake *b) {
    int32_t last = INT32_MAX;
    int32_t line_a = a->position.line ? a->position.line : last;
    int32_t line_b = b->position.line ? b->position.line : last;
    return line_a != line_b ? line_a < line_b : a->position.column < b->position.column;
}

void sn_mistakes_sort(sn_mistakes *mistakes) {
    for (int32_t i = 1; i < mistakes->count; i++) { // few and nearly sorted
        sn_mistake mistake = mistakes->items[i];

        int32_t j = i;
        for (; j > 0 && is_before(&mistake, &mistakes->items[j - 1]); j--) {
            mistakes->items[j] = mistakes->items[j - 1];
        }
        mistakes->items[j] = mistake;
    }
}

static void print_one(const sn_mistake *mistake, sn_buffer *out) {
    if (*mistake->file) {
        sn_buffer_print(out, "%s:", mistake->file);
    }
    if (mistake->position.line) {
        sn_buffer_print(out, "%d:%d:", mistake->position.line, mistake->position.column);
    }
    if (*mistake->file || mistake->position.line) {
        sn_buffer_add_text(out, " ");
    }
    if (*mistake->path) {
        sn_buffer_print(out, "%s: ", mistake->path);
    }

    sn_buffer_add_text(out, mistake->message);
}

void sn_mistakes_print(const sn_mistakes *mistakes, sn_buffer *out) {
    for (int32_t i = 0; i < mistakes->count; i++) {
        print_one(&mistakes->items[i], out);
        sn_buffer_add_text(out, "\n");
    }

    int64_t more = mistakes->total - mistakes->count;
    if (more > 0) {
        sn_buffer_print(out, "and %lld more\n", (long long)more);
    }
}

sinew_status sn_mistakes_status(const sn_mistakes *mistakes) {
    sinew_context *context = mistakes->arena.context;
    if (mistakes->total == 0) {
        return SINEW_OK;
    }
    if (mistakes->count == 0) {
        return SINEW_OUT_OF_MEMORY;
    }

    sn_buffer line = sn_buffer_create(context);
    print_one(&mistakes->items[0], &line);
    if (mistakes->total > 1) {
        sn_buffer_print(&line, " (and %lld more mistakes)", (long long)(mistakes->total - 1));
    }

    sinew_status status = sn_buffer_status(&line);
    if (status == SINEW_OK) {
        int length = line.size < 1000 ? (int)line.size : 1000;
        status = sn_fail(context, SINEW_INVALID_DATA, "%.*s", length, line.data);
    }

    sn_buffer_destroy(&line);
    return status;
}
