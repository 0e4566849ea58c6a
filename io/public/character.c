// Skinned characters from glTF: the first node that has a mesh and a skin, its primitives as one
// mesh, and the four heaviest joints at each vertex.
#include "io/gltf/skeleton.h"
#include "io/gltf/skin.h"
#include "io/public/motion.h"

#include <string.h>

struct sinew_character {
    sinew_context *context;
    sinew_mesh *mesh;
    sinew_skeleton *skeleton;
    sinew_motion *motion;
    sinew_skin *skin;
};

// The arrays of the mesh under construction.
typedef struct parts {
    int32_t point_count, index_count;
    double *points;
    int32_t *indices;
    int32_t *joints; // SINEW_SKIN_INFLUENCES a point, in the order of the skeleton
    double *weights;
} parts;

static const sn_gltf_mesh *find_mesh(const sn_gltf *gltf) {
    for (int32_t i = 0; i < gltf->node_count; i++) {
        if (gltf->nodes[i].skin == 0 && gltf->nodes[i].mesh >= 0) {
            return &gltf->meshes[gltf->nodes[i].mesh];
        }
    }
    return NULL;
}

static sinew_status make_room(sn_arena *arena, const sn_gltf_mesh *mesh, parts *made) {
    int64_t points = 0, indices = 0;
    for (int32_t i = 0; i < mesh->primitive_count; i++) {
        points += mesh->primitives[i].point_count;
        indices += mesh->primitives[i].index_count;
    }

    if (points > INT32_MAX / 4 || indices > INT32_MAX / 4) {
        return sn_fail(arena->context, SINEW_UNSUPPORTED, "the mesh has too many points");
    }

    made->points = SN_PUSH(arena, double, 3 * points);
    made->indices = SN_PUSH(arena, int32_t, indices);
    made->joints = SN_PUSH(arena, int32_t, SINEW_SKIN_INFLUENCES * points);
    made->weights = SN_PUSH(arena, double, SINEW_SKIN_INFLUENCES *points);

    return sn_arena_status(arena);
}

// The heaviest joints of one point.
static void take_joints(const sn_gltf_primitive *primitive, int32_t point, const int32_t *order,
                        int32_t *joints, double *weights) {
    int32_t width = 4 * primitive->joint_sets;
    const int32_t *from = primitive->joints + (size_t)point * (size_t)width;
    const double *weight = primitive->weights + (size_t)point * (size_t)width;
    bool taken[8] = {false};

    for (int k = 0; k < SINEW_SKIN_INFLUENCES; k++) {
        int32_t heaviest = -1;
        for (int32_t i = 0; i < width; i++) {
            if (!taken[i] && (heaviest < 0 || weight[i] > weight[heaviest])) {
                heaviest = i;
            }
        }

        taken[heaviest] = true;
        joints[k] = order[from[heaviest]];
        weights[k] = weight[heaviest];
    }
}

static sinew_status add_primitive(const sinew_source *source, sinew_context *context,
                                  const sn_gltf_primitive *primitive, const int32_t *order,
                                  double unit, const double bind[16], parts *made) {
    if (primitive->joint_sets == 0 || !primitive->joints || !primitive->weights) {
        return sn_source_fail(context, source, SINEW_INVALID_DATA,
                              "a part of the skinned mesh has no joints");
    }

    // Points in the bind pose, in metres, and the joints they follow.
    int32_t first = made->point_count;
    for (int32_t i = 0; i < primitive->point_count; i++) {
        size_t at = (size_t)(first + i);
        const double *p = primitive->points + 3 * (size_t)i;
        for (int k = 0; k < 3; k++) {
            double x = bind[k] * p[0] + bind[4 + k] * p[1] + bind[8 + k] * p[2] + bind[12 + k];
            made->points[3 * at + (size_t)k] = unit * x;
        }
        take_joints(primitive, i, order, made->joints + SINEW_SKIN_INFLUENCES * at,
                    made->weights + SINEW_SKIN_INFLUENCES * at);
    }

    // Triangles, numbered after those of the primitives before.
    for (int32_t i = 0; i < primitive->index_count; i++) {
        made->indices[made->index_count + i] = first + primitive->indices[i];
    }
    made->point_count += primitive->point_count;
    made->index_count += primitive->index_count;

    return SINEW_OK;
}

static sinew_status finish(sinew_character *character, const parts *made) {
    sinew_mesh view = {.points = made->points,
                       .point_count = made->point_count,
                       .element = SINEW_ELEMENT_TRIANGLE,
                       .indices = made->indices,
                       .element_count = made->index_count / 3};

    SN_TRY(sinew_mesh_copy(character->context, &view, &character->mesh));
    return sinew_skin_create_from_weights(character->context, character->skeleton, made->points,
                                          made->point_count, made->joints, made->weights,
                                          &character->skin);
}

static sinew_status build(sinew_character *character, const sinew_source *source,
                          const sn_gltf *gltf, const sinew_motion_read_def *def,
                          sn_arena *scratch) {
    const sn_gltf_mesh *mesh = find_mesh(gltf);
    if (!mesh || gltf->skin_count == 0) {
        return sn_source_fail(character->context, source, SINEW_NOT_FOUND,
                              "no node has both a mesh and the file's first skin");
    }

    // The skeleton may sort its joints; `order` translates the skin's numbers.
    int32_t *order = SN_PUSH(scratch, int32_t, gltf->skins[0].joint_count);
    SN_TRY(sn_arena_status(scratch));
    sn_gltf_skeleton_def how = {.file = source->name,
                                .unit = def->unit,
                                .frame_time = def->frame_time,
                                .animation = def->animation,
                                .order = order};
    SN_TRY(sn_gltf_create_skeleton(character->context, gltf, &how, &character->skeleton,
                                   &character->motion));

    // The mesh is defined where the bind matrix puts it, not where its node is.
    double *matrices, bind[16];
    SN_TRY(sn_gltf_compute_matrices(gltf, scratch, &matrices));
    sn_gltf_bind_matrix(gltf, 0, matrices, bind);

    // One mesh from all primitives.
    parts made = {0};
    SN_TRY(make_room(scratch, mesh, &made));
    for (int32_t i = 0; i < mesh->primitive_count; i++) {
        SN_TRY(add_primitive(source, character->context, &mesh->primitives[i], order, def->unit,
                             bind, &made));
    }

    return finish(character, &made);
}

sinew_status sinew_character_read(sinew_context *context, const sinew_source *source,
                                  const sinew_motion_read_def *def, sinew_character **character) {
    SN_NEED(NULL, context);
    SN_NEED(context, source);

    sinew_motion_read_def defaults = sinew_default_motion_read_def();
    def = def ? def : &defaults;
    SN_TRY(sn_check_motion_read_def(context, source, def));

    // Everything that the file owns is copied into the character.
    sn_gltf_file file;
    sinew_character *made = NULL;
    sn_arena scratch = sn_arena_create(context);
    sinew_status status = sn_gltf_read(context, source, &file);

    if (status == SINEW_OK) {
        made = sn_allocate(context, 1, sizeof *made);
        status = made ? SINEW_OK : SINEW_OUT_OF_MEMORY;
    }
    if (status == SINEW_OK) {
        made->context = context;
        status = build(made, source, &file.view, def, &scratch);
    }

    sn_arena_destroy(&scratch);
    sn_gltf_file_destroy(&file);
    if (status != SINEW_OK) {
        sinew_character_destroy(made);
        return status;
    }

    *character = made;
    return SINEW_OK;
}

sinew_status sinew_character_load(sinew_context *context, const char *path,
                                  const sinew_motion_read_def *def, sinew_character **character) {
    SN_NEED(NULL, context);
    sinew_file *opened;
    SN_TRY(sinew_file_open(context, path, 0, &opened));
    sinew_status status =
        sinew_character_read(context, sinew_file_get_source(opened), def, character);
    sinew_file_close(opened);
    return status;
}

void sinew_character_destroy(sinew_character *character) {
    if (!character) {
        return;
    }

    sinew_skin_destroy(character->skin);
    sinew_mesh_destroy(character->mesh);
    sinew_motion_destroy(character->motion);
    sinew_skeleton_destroy(character->skeleton);
    sn_release(character->context, character, 1, sizeof *character);
}

const sinew_mesh *sinew_character_get_mesh(const sinew_character *character) {
    SN_NEED_OR(NULL, character);
    return character->mesh;
}

const sinew_skeleton *sinew_character_get_skeleton(const sinew_character *character) {
    SN_NEED_OR(NULL, character);
    return character->skeleton;
}

const sinew_motion *sinew_character_get_motion(const sinew_character *character) {
    SN_NEED_OR(NULL, character);
    return character->motion;
}

sinew_skin *sinew_character_get_skin(const sinew_character *character) {
    SN_NEED_OR(NULL, character);
    return character->skin;
}
