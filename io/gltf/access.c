// Buffers and accessors of glTF: bytes from the binary chunk, from data URIs or from separate
// files, checked views of them, and decoded numbers.
#include "io/gltf/access.h"

#include "io/bytes/base64.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

sinew_status sn_gltf_fail(sn_gltf_reader *r) {
    sinew_status status = sn_mistakes_status(&r->mistakes);
    return status == SINEW_OK ? SINEW_INVALID_DATA : status;
}

sinew_status sn_gltf_integer(sn_gltf_reader *r, const sn_json *object, const char *key, int64_t low,
                             int64_t high, int64_t fallback, int32_t *out) {
    int64_t value = fallback;
    *out = (int32_t)fallback;
    if (!sn_json_integer(&r->mistakes, sn_json_get(object, key), low, high, &value)) {
        return sn_gltf_fail(r);
    }

    *out = (int32_t)value;
    return SINEW_OK;
}

sinew_status sn_gltf_reference(sn_gltf_reader *r, const sn_json *value, int32_t count,
                               int32_t *out) {
    int64_t index = -1;
    if (count == 0) {
        return SN_GLTF_REFUSE(r, value, "refers to something of which the file has none");
    }
    if (!sn_json_integer(&r->mistakes, value, 0, (int64_t)count - 1, &index)) {
        return sn_gltf_fail(r);
    }

    *out = (int32_t)index;
    return SINEW_OK;
}

sinew_status sn_gltf_refer(sn_gltf_reader *r, const sn_json *object, const char *key, int32_t count,
                           int32_t *out) {
    const sn_json *value = sn_json_get(object, key);
    *out = -1;
    return value ? sn_gltf_reference(r, value, count, out) : SINEW_OK;
}

sinew_status sn_gltf_spend(sn_gltf_reader *r, const sn_json *value, uint64_t bytes) {
    if (bytes > r->budget) {
        return SN_GLTF_REFUSE(r, value, "the accessors together are far larger than the buffers");
    }
    r->budget -= bytes;
    return SINEW_OK;
}

sinew_status sn_gltf_array(sn_gltf_reader *r, const sn_json *object, const char *key,
                           const sn_json **out, int32_t *count) {
    const sn_json *array = sn_json_get(object, key);
    *out = array;
    *count = 0;
    if (!array) {
        return SINEW_OK;
    }
    if (!sn_json_is(&r->mistakes, array, SN_JSON_ARRAY)) {
        return sn_gltf_fail(r);
    }

    for (int32_t i = 0; i < array->count; i++) {
        if (!sn_json_is(&r->mistakes, &array->items[i], SN_JSON_OBJECT)) {
            return sn_gltf_fail(r);
        }
    }

    *count = array->count;
    return SINEW_OK;
}

const char *sn_gltf_name(sn_gltf_reader *r, const sn_json *object) {
    const sn_json *name = sn_json_get(object, "name");
    if (!name || name->kind != SN_JSON_STRING || name->count == 0) {
        return NULL;
    }

    char *copy = SN_PUSH(r->arena, char, name->count + 1);
    if (copy) {
        memcpy(copy, name->string, (size_t)name->count);
    }

    return copy;
}

static sinew_status decode_uri(sn_gltf_reader *r, const sn_json *uri, sn_gltf_bytes *out) {
    const char *comma = strchr(uri->string, ',');
    if (!comma || comma - uri->string < 7 || memcmp(comma - 7, ";base64", 7) != 0) {
        return SN_GLTF_REFUSE(r, uri, "a data URI must be of the form data:...;base64,...");
    }

    const char *begin = comma + 1;
    const char *end = uri->string + uri->count;
    uint8_t *bytes = SN_PUSH(r->arena, uint8_t, (size_t)(end - begin) / 4 * 3 + 3);
    if (!bytes) {
        return SINEW_OUT_OF_MEMORY;
    }

    // The stream stops at the first invalid character.
    sn_base64 stream = sn_base64_create(begin, end);
    size_t size = 0;
    while (sn_base64_read(&stream, bytes + size, 1)) {
        size++;
    }

    if (stream.at < stream.end) {
        return SN_GLTF_REFUSE(r, uri, "the base64 data is malformed at character %zu",
                              (size_t)(stream.at - begin));
    }

    *out = (sn_gltf_bytes){bytes, size};
    return SINEW_OK;
}

static sinew_status load_buffer(sn_gltf_reader *r, const sn_json *buffer, bool first,
                                sn_gltf_bytes *out) {
    const sn_json *uri = sn_json_get(buffer, "uri");
    const char *name = NULL;
    int32_t length;

    SN_TRY(sn_gltf_integer(r, buffer, "byteLength", 1, INT32_MAX, -1, &length));
    if (length < 0) {
        return SN_GLTF_REFUSE(r, buffer, "\"byteLength\" is missing here");
    }

    // From the binary chunk, from a data URI, or from a separate file.
    if (!uri) {
        if (!first || !r->binary.data) {
            return SN_GLTF_REFUSE(r, buffer,
                                  "a buffer without uri, and no binary chunk to go with it");
        }
        *out = r->binary;
    } else if (!sn_json_string(&r->mistakes, uri, &name)) {
        return sn_gltf_fail(r);
    } else if (strncmp(name, "data:", 5) == 0) {
        SN_TRY(decode_uri(r, uri, out));
    } else {
        const void *data = NULL;
        size_t size = 0;
        if (sn_fetch_beside(r->context, r->source, name, &data, &size) != SINEW_OK) {
            char reason[512];
            snprintf(reason, sizeof reason, "%.500s", sinew_context_message(r->context));
            return SN_GLTF_REFUSE(r, uri, "%s", reason);
        }
        *out = (sn_gltf_bytes){data, size};
    }

    if (out->size < (size_t)length) {
        return SN_GLTF_REFUSE(r, buffer, "the buffer has %zu bytes; byteLength is %d", out->size,
                              length);
    }

    out->size = (size_t)length;
    return SINEW_OK;
}

sinew_status sn_gltf_load_buffers(sn_gltf_reader *r) {
    const sn_json *buffers;
    SN_TRY(sn_gltf_array(r, r->root, "buffers", &buffers, &r->buffer_count));
    SN_TRY(sn_gltf_array(r, r->root, "accessors", &r->accessors, &r->accessor_count));
    SN_TRY(sn_gltf_array(r, r->root, "bufferViews", &r->views, &r->view_count));
    r->buffers = SN_PUSH(r->arena, sn_gltf_bytes, r->buffer_count);
    r->decoded = SN_PUSH(r->arena, sn_gltf_decoded, r->accessor_count);
    SN_TRY(sn_arena_status(r->arena));
    r->budget = 1 << 27; // sparse accessors may be large by themselves: 4000 images of a run

    for (int32_t i = 0; i < r->buffer_count; i++) {
        SN_TRY(load_buffer(r, &buffers->items[i], i == 0, &r->buffers[i]));
        r->budget += 64 * (uint64_t)r->buffers[i].size;
    }

    return SINEW_OK;
}

// Finds the bytes of a view that holds `count` elements of an accessor; *stride is its byteStride,
// or the size of an element.
static sinew_status find_view(sn_gltf_reader *r, const sn_json *accessor, const char *key,
                              size_t element, int32_t count, const uint8_t **out, size_t *stride) {
    int32_t index, buffer, view_offset, length, offset, step;
    SN_TRY(sn_gltf_refer(r, accessor, key, r->view_count, &index));
    if (index < 0) {
        return SN_GLTF_REFUSE(r, accessor, "\"%s\" is missing here", key);
    }

    const sn_json *view = &r->views->items[index];
    SN_TRY(sn_gltf_refer(r, view, "buffer", r->buffer_count, &buffer));
    if (buffer < 0) {
        return SN_GLTF_REFUSE(r, view, "\"buffer\" is missing here");
    }

    SN_TRY(sn_gltf_integer(r, view, "byteOffset", 0, INT32_MAX, 0, &view_offset));
    SN_TRY(sn_gltf_integer(r, view, "byteLength", 1, INT32_MAX, -1, &length));
    SN_TRY(sn_gltf_integer(r, view, "byteStride", 4, 252, 0, &step));
    SN_TRY(sn_gltf_integer(r, accessor, "byteOffset", 0, INT32_MAX, 0, &offset));

    if (length < 0) {
        return SN_GLTF_REFUSE(r, view, "\"byteLength\" is missing here");
    }

    // The view must lie in its buffer, and the elements in the view.
    size_t size = r->buffers[buffer].size;
    if ((size_t)view_offset > size || (size_t)length > size - (size_t)view_offset) {
        return SN_GLTF_REFUSE(r, view, "the view ends at byte %lld of a buffer of %zu",
                              (long long)view_offset + length, size);
    }

    *stride = step ? (size_t)step : element;
    uint64_t needed = count ? (uint64_t)offset + (uint64_t)(count - 1) * *stride + element : 0;
    if (needed > (uint64_t)length) {
        return SN_GLTF_REFUSE(r, accessor, "%d elements need %llu bytes; the buffer view has %d",
                              count, (unsigned long long)needed, length);
    }

    *out = r->buffers[buffer].data + view_offset + offset;
    return SINEW_OK;
}

static sinew_status read_type(sn_gltf_reader *r, const sn_json *object, const char *key,
                              sn_number_type *type) {
    int32_t number;
    SN_TRY(sn_gltf_integer(r, object, key, 5120, 5126, -1, &number));

    static const sn_number_type types[] = {SN_TYPE_I8,  SN_TYPE_U8,  SN_TYPE_I16, SN_TYPE_U16,
                                           SN_TYPE_F64, SN_TYPE_U32, SN_TYPE_F32};

    if (number < 5120 || types[number - 5120] == SN_TYPE_F64) {
        return SN_GLTF_REFUSE(r, object, "\"%s\" must be 5120, 5121, 5122, 5123, 5125 or 5126",
                              key);
    }

    *type = types[number - 5120];
    return SINEW_OK;
}

// Normalised integers represent [0, 1] or [-1, 1] (glTF 2.0, 3.6.2.2).
static double normalize(double value, sn_number_type type) {
    switch (type) {
    case SN_TYPE_I8: return fmax(value / 127, -1);
    case SN_TYPE_U8: return value / 255;
    case SN_TYPE_I16: return fmax(value / 32767, -1);
    case SN_TYPE_U16: return value / 65535;
    default: return value;
    }
}

typedef struct accessor {
    const sn_json *json;
    int32_t index, count, components;
    sn_number_type type;
    bool normalized;
} accessor;

static void decode_element(const accessor *a, const uint8_t *at, double *out) {
    size_t size = sn_type_size(a->type);
    for (int32_t k = 0; k < a->components; k++) {
        double value = sn_load_number(at + (size_t)k * size, a->type, false);
        out[k] = a->normalized ? normalize(value, a->type) : value;
    }
}

// Replaces the elements of the base accessor that a sparse accessor lists.
static sinew_status apply_sparse(sn_gltf_reader *r, const accessor *a, const sn_json *sparse,
                                 double *out) {
    const sn_json *indices = sn_json_get(sparse, "indices");
    const sn_json *values = sn_json_get(sparse, "values");
    int32_t count;

    SN_TRY(sn_gltf_integer(r, sparse, "count", 1, a->count, -1, &count));
    if (count < 0 || !indices || !values) {
        return SN_GLTF_REFUSE(r, sparse, "\"count\", \"indices\" and \"values\" are needed here");
    }

    sn_number_type type;
    SN_TRY(read_type(r, indices, "componentType", &type));

    size_t element = sn_type_size(a->type) * (size_t)a->components;
    size_t index_stride, value_stride;
    const uint8_t *index_at, *value_at;
    if (type != SN_TYPE_U8 && type != SN_TYPE_U16 && type != SN_TYPE_U32) {
        return SN_GLTF_REFUSE(r, indices, "indices must be unsigned integers (5121, 5123 or 5125)");
    }

    SN_TRY(
        find_view(r, indices, "bufferView", sn_type_size(type), count, &index_at, &index_stride));
    SN_TRY(find_view(r, values, "bufferView", element, count, &value_at, &value_stride));

    // Overwrite the listed elements.
    for (int32_t i = 0; i < count; i++) {
        int64_t index = sn_load_integer(index_at + (size_t)i * index_stride, type, false);
        if (index >= a->count) {
            return SN_GLTF_REFUSE(r, indices, "index %lld is not below %d", (long long)index,
                                  a->count);
        }

        decode_element(a, value_at + (size_t)i * value_stride,
                       out + (size_t)index * (size_t)a->components);
    }

    return SINEW_OK;
}

static sinew_status find_accessor(sn_gltf_reader *r, const sn_json *object, const char *key,
                                  int32_t components, accessor *a) {
    static const char *const names[] = {"SCALAR", "VEC2", "VEC3", "VEC4", "MAT4"};
    SN_TRY(sn_gltf_refer(r, object, key, r->accessor_count, &a->index));
    if (a->index < 0) {
        return SINEW_OK;
    }

    a->json = &r->accessors->items[a->index];
    a->components = components;

    // The type must match the number of components.
    const char *wanted = names[components == 16 ? 4 : components - 1];
    const char *type = NULL;
    const sn_json *type_json = sn_json_require(&r->mistakes, a->json, "type");
    if (!type_json || !sn_json_string(&r->mistakes, type_json, &type)) {
        return sn_gltf_fail(r);
    }

    if (strcmp(type, wanted) != 0) {
        return SN_GLTF_REFUSE(r, type_json, "found \"%.20s\", expected \"%s\" for %s", type, wanted,
                              key);
    }

    SN_TRY(sn_gltf_integer(r, a->json, "count", 1, INT32_MAX / 16, -1, &a->count));
    if (a->count < 0) {
        return SN_GLTF_REFUSE(r, a->json, "\"count\" is missing here");
    }
    if (!sn_json_boolean(&r->mistakes, sn_json_get(a->json, "normalized"), &a->normalized)) {
        return sn_gltf_fail(r);
    }

    return read_type(r, a->json, "componentType", &a->type);
}

static sinew_status take_budget(sn_gltf_reader *r, const accessor *a, size_t size) {
    return sn_gltf_spend(r, a->json, (uint64_t)a->count * (uint64_t)a->components * size);
}

sinew_status sn_gltf_numbers(sn_gltf_reader *r, const sn_json *object, const char *key,
                             int32_t components, int32_t *count, const double **out) {
    accessor a = {.index = -1};
    *out = NULL;
    *count = 0;
    SN_TRY(find_accessor(r, object, key, components, &a));

    if (a.index < 0) {
        return SINEW_OK;
    }

    *count = a.count;
    *out = r->decoded[a.index].numbers;
    if (*out) {
        return SINEW_OK;
    }

    // The bytes are checked before memory is allocated; an accessor without a view is all zeros.
    size_t element = sn_type_size(a.type) * (size_t)components;
    size_t stride = element;
    const uint8_t *at = NULL;

    if (sn_json_get(a.json, "bufferView")) {
        SN_TRY(find_view(r, a.json, "bufferView", element, a.count, &at, &stride));
    }

    SN_TRY(take_budget(r, &a, sizeof(double)));
    double *numbers = SN_PUSH(r->arena, double, (size_t)a.count *(size_t)components);
    if (!numbers) {
        return SINEW_OUT_OF_MEMORY;
    }

    // Decode, then apply sparse replacements.
    if (at) {
        for (int32_t i = 0; i < a.count; i++) {
            decode_element(&a, at + (size_t)i * stride, numbers + (size_t)i * (size_t)components);
        }
    }

    const sn_json *sparse = sn_json_get(a.json, "sparse");
    if (sparse) {
        SN_TRY(apply_sparse(r, &a, sparse, numbers));
    }

    for (size_t i = 0; i < (size_t)a.count * (size_t)components; i++) {
        if (isfinite(numbers[i])) {
            continue;
        }
        return SN_GLTF_REFUSE(r, a.json, "element %zu is not finite", i / (size_t)components);
    }

    r->decoded[a.index].numbers = numbers;
    *out = numbers;

    return SINEW_OK;
}

sinew_status sn_gltf_integers(sn_gltf_reader *r, const sn_json *object, const char *key,
                              int32_t components, int32_t *count, const int32_t **out) {
    accessor a = {.index = -1};
    *out = NULL;
    *count = 0;
    SN_TRY(find_accessor(r, object, key, components, &a));

    if (a.index < 0) {
        return SINEW_OK;
    }

    *count = a.count;
    *out = r->decoded[a.index].integers;
    if (*out) {
        return SINEW_OK;
    }
    if (a.type != SN_TYPE_U8 && a.type != SN_TYPE_U16 && a.type != SN_TYPE_U32) {
        return SN_GLTF_REFUSE(r, a.json, "indices must be unsigned integers (5121, 5123 or 5125)");
    }
    if (sn_json_get(a.json, "sparse") || !sn_json_get(a.json, "bufferView")) {
        return SN_GLTF_REFUSE(r, a.json, "indices need a bufferView and must not be sparse");
    }

    size_t size = sn_type_size(a.type);
    size_t stride;
    const uint8_t *at;

    SN_TRY(find_view(r, a.json, "bufferView", size * (size_t)components, a.count, &at, &stride));
    SN_TRY(take_budget(r, &a, sizeof(int32_t)));

    int32_t *integers = SN_PUSH(r->arena, int32_t, (size_t)a.count * (size_t)components);
    if (!integers) {
        return SINEW_OUT_OF_MEMORY;
    }

    // Indices that do not fit become -1, which the caller reports.
    for (int32_t i = 0; i < a.count; i++) {
        for (int32_t k = 0; k < components; k++) {
            int64_t value =
                sn_load_integer(at + (size_t)i * stride + (size_t)k * size, a.type, false);
            integers[(size_t)i * (size_t)components + (size_t)k] =
                value > INT32_MAX ? -1 : (int32_t)value;
        }
    }

    r->decoded[a.index].integers = integers;
    *out = integers;

    return SINEW_OK;
}
