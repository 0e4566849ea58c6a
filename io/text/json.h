// JSON (RFC 8259) as a tree in which every value and key knows its position in the text.
//
// The reader is strict. These are errors: duplicate keys, numbers that JSON does not allow (NaN,
// Infinity, +1, .5, 01) or that exceed double precision (1e999), raw control characters, malformed
// UTF-8, and text after the value. Reading continues after an error where possible, so that all
// errors of a file are reported together. Comments (// to the end of the line, /* ... */) are
// accepted if the options allow them: scenes do, glTF does not. A byte order mark at the start is
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
    const char *key;     // the name in the enclosing object (UTF-8, zero at the end), or NULL
    sn_json *parent;     // NULL for the root
    const sn_json_source *source;
    union {
        bool boolean;
        double number;
        const char *string; // UTF-8, zero at the end; may also contain zeros
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

// Reads a text into a tree (the text is copied). Errors go to `mistakes`, which may be NULL. If
// there are any, SINEW_INVALID_DATA is returned with the first one in the context's message, and
// the document holds whatever could be read, or a NULL root. The document must be destroyed in
// every case.
sinew_status sn_json_parse(sinew_context *context, const void *text, size_t size,
                           const sn_json_options *options, sn_mistakes *mistakes,
                           sn_json_document *document);
void sn_json_document_destroy(sn_json_document *document);

// The member of an object with this key, or NULL (also if `object` is NULL or not an object).
sn_json *sn_json_get(const sn_json *object, const char *key);

// The item of an array, or NULL.
sn_json *sn_json_at(const sn_json *array, int32_t index);

// "an object", "a number", ...
const char *sn_json_kind_name(sn_json_kind kind);

// Line and column of a value or of its key.
sn_text_position sn_json_position(const sn_json *value);
sn_text_position sn_json_key_position(const sn_json *value);

// The path from the root, e.g. "bodies[0].material.young"; keys that are not plain words are
// quoted, as in ["a b"]. Cut with "..." if it does not fit. Returns `out`.
const char *sn_json_path(const sn_json *value, char *out, size_t size);

// Sets the value at a path, e.g. "bodies[0].material.young=2e5" or "outputs[1].name=film". The text
// after the first '=' is JSON; text that is not valid JSON and does not start like an object, array
// or string is used as a string. Missing members are created, and an index equal to the number of
// items appends. Messages about a value that was set this way name the assignment instead of the
// file.
sinew_status sn_json_set(sn_json_document *document, const char *assignment, sn_mistakes *mistakes);

#endif
