// Shared by the parts of the glTF reader: buffers and accessors (access.c), meshes (read_meshes.c)
// and everything else (read.c).
#ifndef SN_IO_GLTF_ACCESS_H
#define SN_IO_GLTF_ACCESS_H

#include "io/bytes/bytes.h"
#include "io/gltf/gltf.h"
#include "io/text/json.h"
#include "io/text/json_check.h"

typedef struct sn_gltf_bytes {
    const uint8_t *data;
    size_t size;
} sn_gltf_bytes;

// A decoded accessor is cached, because files share accessors between primitives.
typedef struct sn_gltf_decoded {
    const double *numbers;
    const int32_t *integers;
} sn_gltf_decoded;

typedef struct sn_gltf_reader {
    sinew_context *context;
    const sn_source *source;
    sn_gltf_file *file;
    sn_arena *arena; // of the file
    sn_mistakes mistakes;
    sn_json_document document;
    const sn_json *root;
    sn_gltf_bytes binary; // the second chunk of a .glb
    int32_t buffer_count;
    sn_gltf_bytes *buffers;
    int32_t accessor_count, view_count;
    const sn_json *accessors, *views; // arrays of objects
    sn_gltf_decoded *decoded;
    uint64_t budget; // bytes that may still be decoded, so that overlapping accessors cannot blow
                     // up a small file
} sn_gltf_reader;

// Fails with the first recorded error as the message.
sinew_status sn_gltf_fail(sn_gltf_reader *r);

// Records an error at a value and fails.
#define SN_GLTF_REFUSE(r, value, ...)                                                              \
    (sn_json_mistake(&(r)->mistakes, (value), __VA_ARGS__), sn_gltf_fail(r))

// An integer member in [low, high], or `fallback` if it is missing.
sinew_status sn_gltf_integer(sn_gltf_reader *r, const sn_json *object, const char *key, int64_t low,
                             int64_t high, int64_t fallback, int32_t *out);

// An index below `count`.
sinew_status sn_gltf_reference(sn_gltf_reader *r, const sn_json *value, int32_t count,
                               int32_t *out);

// object[key] as such an index, or -1 if it is missing.
sinew_status sn_gltf_refer(sn_gltf_reader *r, const sn_json *object, const char *key, int32_t count,
                           int32_t *out);

// Takes bytes from the budget.
sinew_status sn_gltf_spend(sn_gltf_reader *r, const sn_json *value, uint64_t bytes);

// A member of the root that is an array of objects; NULL (count 0) if it is missing.
sinew_status sn_gltf_array(sn_gltf_reader *r, const sn_json *object, const char *key,
                           const sn_json **out, int32_t *count);

// A copy of the member "name", or NULL.
const char *sn_gltf_name(sn_gltf_reader *r, const sn_json *object);

sinew_status sn_gltf_load_buffers(sn_gltf_reader *r);

// Opens the container, parses the JSON, checks the version and the extensions, loads the buffers.
sinew_status sn_gltf_open(sn_gltf_reader *r);

// The numbers of the accessor whose index is in object[key]. `components` is 1 (SCALAR), 2, 3, 4
// (VEC) or 16 (MAT4); *count is the number of elements. *out is NULL (count 0) if the key is
// missing.
sinew_status sn_gltf_numbers(sn_gltf_reader *r, const sn_json *object, const char *key,
                             int32_t components, int32_t *count, const double **out);
sinew_status sn_gltf_integers(sn_gltf_reader *r, const sn_json *object, const char *key,
                              int32_t components, int32_t *count, const int32_t **out);

sinew_status sn_gltf_read_meshes(sn_gltf_reader *r);

#endif
