// JSON (RFC 8259) as a tree that knows where in the text each value and key stands.
//
// Strict: a duplicate key, a number that is none in JSON (NaN, Infinity, +1, .5, 01) or none in
// double precision (1e999), a raw control character, malformed UTF-8 and anything behind the value
// are mistakes; a mistake from which reading can go on is noted and reading goes on, so that a
// file's mistakes come out together. Comments (// to the end of the line, /* ... */) are accepted
// where the options allow them: scenes do, glTF does not. A byte order mark at the start is
// skipped. Limits: 1 GB of text, a depth of 100, 4 million values. Time and memory are linear in
// the text.
#ifndef SN_IO_TEXT_JSON_H
#define SN_IO_TEXT_JSON_H

#include "base/memory.h"
#include "io/text/mistakes.h"

typedef enum sn_json_kind {
    SN_JSON_NULL,
    SN_JSON_BOOLEAN,
    SN_JSON_NUMBER,
    SN_JSON_STRING,
    SN_JSON_ARRAY,
    SN_JSON_OBJECT,
} sn_json_kind;

typedef struct sn_json_source sn_json_source; // a text that values came from

typedef struct sn_json sn_json;
struct sn_json {
    sn_json_kind kind;
    int32_t count;       // items of an array, members of an object, bytes of a string
    uint32_t offset;     // of the value in its source
    uint32_t key_offset; // of the key in its source
    const char *key;     // the name in the object it belongs to (UTF-8, zero at the end), or NULL
    sn_json *parent;     // NULL for the root
    const sn_json_source *source;
    union {
        bool boolean;
        double number;
        const char *string; // UTF-8, zero at the end; may hold zeros before `count`
        sn_json *items;     // values of an array or object, in the order of the text
    };
};

typedef struct sn_json_options {
    const char *name; // of the file, for messages
    bool comments;    // accept comments
} sn_json_options;

typedef struct sn_json_document {
    sn_arena arena;
    sn_json *root;
} sn_json_document;

// Reads a text into a tree (the text is copied). Mistakes go to `mistakes`, which may be NULL; if
// there are any the document still holds what could be read, or a NULL root, and SINEW_INVALID_DATA
// is returned with the first in the context's message. The document must be destroyed in every
// case.
sinew_status sn_json_parse(sinew_context *context, const void *text, size_t size,
                           const sn_json_options *options, sn_mistakes *mistakes,
                           sn_json_document *document);
void sn_json_document_destroy(sn_json_document *document);

// The member of an object with this key, or NULL (also if `object` is NULL or no object).
sn_json *sn_json_get(const sn_json *object, const char *key);

// The item of an array, or NULL.
sn_json *sn_json_at(const sn_json *array, int32_t index);

// "an object", "a number", ...
const char *sn_json_kind_name(sn_json_kind kind);

// Line and column of a value, or of its key.
sn_place sn_json_place(const sn_json *value);
sn_place sn_json_key_place(const sn_json *value);

// The path from the root: "bodies[0].material.young"; keys that are no plain words are quoted: ["a
// b"]. Cut with "..." if it does not fit. Returns `out`.
const char *sn_json_path(const sn_json *value, char *out, size_t size);

// Sets the value at a path, e.g. "bodies[0].material.young=2e5" or "outputs[1].name=film". Behind
// the first '=' stands JSON; a text that is none and does not start like an object, array or string
// is taken as a string. Missing members are created on the way, and an index equal to the number of
// items appends. What is set knows where it came from: messages about it name the assignment
// instead of the file.
sinew_status sn_json_set(sn_json_document *document, const char *assignment, sn_mistakes *mistakes);

#endif
