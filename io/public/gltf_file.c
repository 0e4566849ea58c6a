// The content of glTF files, for users of the library.
#include "sinew/io/gltf_file.h"

#include "io/gltf/gltf.h"

#include <math.h>
#include <string.h>

struct sinew_gltf_file {
    sinew_context *context;
    sn_gltf_file file;
};

sinew_status sinew_gltf_file_read(sinew_context *context, const sinew_source *source,
                                  sinew_gltf_file **file) {
    SN_NEED(NULL, context);
    SN_NEED(context, source);

    sinew_gltf_file *made = sn_allocate(context, 1, sizeof *made);
    if (!made) {
        return SINEW_OUT_OF_MEMORY;
    }

    made->context = context;
    sinew_status status = sn_gltf_read(context, source, &made->file);
    if (status != SINEW_OK) {
        sinew_gltf_file_destroy(made);
        return status;
    }

    *file = made;
    return SINEW_OK;
}

sinew_status sinew_gltf_file_load(sinew_context *context, const char *path,
                                  sinew_gltf_file **file) {
    SN_NEED(NULL, context);
    sinew_file *opened;
    SN_TRY(sinew_file_open(context, path, 0, &opened));
    sinew_status status = sinew_gltf_file_read(context, sinew_file_get_source(opened), file);
    sinew_file_close(opened);
    return status;
}

void sinew_gltf_file_destroy(sinew_gltf_file *file) {
    if (!file) {
        return;
    }
    sn_gltf_file_destroy(&file->file);
    sn_release(file->context, file, 1, sizeof *file);
}

bool sinew_gltf_file_detect(const sinew_source *source) {
    SN_NEED_OR(false, source);
    return (source->size >= 4 && memcmp(source->data, "glTF", 4) == 0) ||
           sinew_name_has_ending(source->name, ".glb") ||
           sinew_name_has_ending(source->name, ".gltf");
}

sinew_gltf_counts sinew_gltf_file_get_counts(const sinew_gltf_file *file) {
    SN_NEED_OR(((sinew_gltf_counts){0}), file);
    const sn_gltf *gltf = &file->file.view;
    return (sinew_gltf_counts){.nodes = gltf->node_count,
                               .materials = gltf->material_count,
                               .meshes = gltf->mesh_count,
                               .skins = gltf->skin_count,
                               .animations = gltf->animation_count};
}

sinew_gltf_mesh_info sinew_gltf_file_get_mesh(const sinew_gltf_file *file, int32_t index) {
    SN_NEED_OR(((sinew_gltf_mesh_info){0}), file);

    SN_ASSERT(index >= 0 && index < file->file.view.mesh_count);
    const sn_gltf_mesh *mesh = &file->file.view.meshes[index];
    sinew_gltf_mesh_info info = {.name = mesh->name};

    for (int32_t i = 0; i < mesh->primitive_count; i++) {
        const sn_gltf_primitive *primitive = &mesh->primitives[i];
        info.point_count += primitive->point_count;
        info.triangle_count += primitive->index_count / 3;
        if (primitive->target_count > info.target_count) {
            info.target_count = primitive->target_count;
        }
    }

    return info;
}

sinew_gltf_skin_info sinew_gltf_file_get_skin(const sinew_gltf_file *file, int32_t index) {
    SN_NEED_OR(((sinew_gltf_skin_info){0}), file);
    SN_ASSERT(index >= 0 && index < file->file.view.skin_count);
    const sn_gltf_skin *skin = &file->file.view.skins[index];
    return (sinew_gltf_skin_info){.name = skin->name, .joint_count = skin->joint_count};
}

sinew_gltf_material_info sinew_gltf_file_get_material(const sinew_gltf_file *file, int32_t index) {
    SN_NEED_OR(((sinew_gltf_material_info){0}), file);

    const sn_gltf *gltf = &file->file.view;
    SN_ASSERT(index >= 0 && index < gltf->material_count);
    sinew_gltf_material_info info = {.name = gltf->materials[index].name};

    for (int32_t i = 0; i < gltf->mesh_count; i++) {
        for (int32_t k = 0; k < gltf->meshes[i].primitive_count; k++) {
            const sn_gltf_primitive *primitive = &gltf->meshes[i].primitives[k];
            info.triangle_count += primitive->material == index ? primitive->index_count / 3 : 0;
        }
    }

    return info;
}

sinew_gltf_joint_info sinew_gltf_file_get_joint(const sinew_gltf_file *file, int32_t skin,
                                                int32_t joint) {
    SN_NEED_OR(((sinew_gltf_joint_info){0}), file);

    const sn_gltf *gltf = &file->file.view;
    SN_ASSERT(skin >= 0 && skin < gltf->skin_count);
    const sn_gltf_skin *view = &gltf->skins[skin];
    SN_ASSERT(joint >= 0 && joint < view->joint_count);

    // The nearest node above that is a joint of the skin.
    sinew_gltf_joint_info info = {.name = gltf->nodes[view->joints[joint]].name};
    int32_t node = gltf->nodes[view->joints[joint]].parent;
    for (; node >= 0 && !info.parent; node = gltf->nodes[node].parent) {
        for (int32_t i = 0; i < view->joint_count; i++) {
            if (view->joints[i] == node) {
                info.parent = gltf->nodes[node].name;
            }
        }
    }

    return info;
}

sinew_gltf_animation_info sinew_gltf_file_get_animation(const sinew_gltf_file *file,
                                                        int32_t index) {
    SN_NEED_OR(((sinew_gltf_animation_info){0}), file);

    SN_ASSERT(index >= 0 && index < file->file.view.animation_count);
    const sn_gltf_animation *animation = &file->file.view.animations[index];
    sinew_gltf_animation_info info = {.name = animation->name,
                                      .channel_count = animation->channel_count};

    for (int32_t i = 0; i < animation->channel_count; i++) {
        const sn_gltf_channel *channel = &animation->channels[i];
        if (channel->key_count > 0) {
            info.duration = fmax(info.duration, channel->times[channel->key_count - 1]);
        }
    }

    return info;
}
