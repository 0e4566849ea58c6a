// Shared by the parts of the JSON code: the text behind the values, and paths under construction.
#ifndef SN_IO_TEXT_JSON_SOURCE_H
#define SN_IO_TEXT_JSON_SOURCE_H

#include "io/text/json.h"

enum { SN_JSON_DEPTH = 100, SN_JSON_PATH_SIZE = 256 };

struct sn_json_source {
    const char *name; // of the file or "--set path=value"
    const char *text;
    size_t size;
    char *strings; // room for all strings of the text, `size` bytes, filled up to `strings_end`
    char *strings_end;
};

// One step of a path: into a member, or into an item if the key is NULL.
typedef struct sn_json_step {
    const char *key;
    int32_t index;
} sn_json_step;

// Copies a text (and its name) into the arena, with room for its strings. NULL if memory is short.
sn_json_source *sn_json_source_create(sn_arena *arena, const char *name, const void *text,
                                      size_t size);

sn_text_position sn_json_source_position(const sn_json_source *source, size_t offset);

const char *sn_json_path_from_steps(const sn_json_step *steps, int32_t count, char *out,
                                    size_t size);

// Reads the value that starts at `start` in a source, below `steps` in the tree. It has no parent
// yet. NULL if memory is short.
sn_json *sn_json_parse_source(sn_arena *arena, sn_json_source *source, size_t start,
                              const sn_json_step *steps, int32_t depth, bool comments,
                              sn_mistakes *mistakes);

// Updates the parent pointers of the children of a container that was moved.
void sn_json_adopt(sn_json *value);

#endif
