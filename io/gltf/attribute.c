// Reads one vertex attribute; the file has been read and checked before.
#include "io/gltf/attribute.h"

#include "io/gltf/access.h"

#include <string.h>

static int32_t find_components(const sn_gltf_reader *r, const sn_json *attribute) {
    static const char *const types[] = {"SCALAR", "VEC2", "VEC3", "VEC4"};
    const sn_json *accessor = sn_json_at(r->accessors, (int32_t)attribute->number);
    const sn_json *type = sn_json_get(accessor, "type");
    for (int32_t i = 0; i < 4 && type && type->kind == SN_JSON_STRING; i++) {
        if (strcmp(type->string, types[i]) == 0) {
            return i + 1;
        }
    }
    return 1;
}

static sinew_status read(sn_gltf_reader *r, int32_t mesh, int32_t primitive, const char *name,
                         int32_t count, sn_arena *arena, const double **values) {
    SN_TRY(sn_gltf_open(r));

    // A primitive without the attribute has no values.
    const sn_json *meshes = sn_json_get(r->root, "meshes");
    const sn_json *primitives = sn_json_get(sn_json_at(meshes, mesh), "primitives");
    const sn_json *attributes = sn_json_get(sn_json_at(primitives, primitive), "attributes");
    const sn_json *attribute = sn_json_get(attributes, name);
    if (!attribute || attribute->kind != SN_JSON_NUMBER) {
        return SINEW_OK;
    }

    // One value for each vertex.
    int32_t components = find_components(r, attribute), found;
    const double *numbers;
    SN_TRY(sn_gltf_numbers(r, attributes, name, components, &found, &numbers));
    if (found != count) {
        return SN_GLTF_REFUSE(r, attribute, "%s has %d elements; POSITION has %d", name, found,
                              count);
    }

    // The first component, in the caller's arena.
    double *kept = SN_PUSH(arena, double, count);
    SN_TRY(sn_arena_status(arena));
    for (int32_t i = 0; i < count; i++) {
        kept[i] = numbers[(size_t)i * (size_t)components];
    }
    *values = kept;
    return SINEW_OK;
}

sinew_status sn_gltf_read_attribute(sinew_context *context, const sn_source *source, int32_t mesh,
                                    int32_t primitive, const char *name, int32_t count,
                                    sn_arena *arena, const double **values) {
    sn_gltf_file kept = {.arena = sn_arena_create(context)};
    sn_gltf_reader r = {.context = context,
                        .source = source,
                        .file = &kept,
                        .arena = &kept.arena,
                        .mistakes = sn_mistakes_create(context),
                        .document = {.arena = sn_arena_create(context)}};

    *values = NULL;
    sinew_status status = read(&r, mesh, primitive, name, count, arena, values);
    sn_json_document_destroy(&r.document);
    sn_mistakes_destroy(&r.mistakes);
    sn_gltf_file_destroy(&kept);
    return status;
}
