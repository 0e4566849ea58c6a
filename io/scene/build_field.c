// Fields of bodies: from curves, from a file, or the same everywhere.
#include "io/scene/field.h"

#include "io/field/field_file.h"
#include "math/quat.h"

static sinew_status make_uniform(const sn_builder *b, const sn_scene_field *scene,
                                 const sinew_mesh *mesh, sn_arena *scratch, sinew_field **field) {
    double *axes = SN_PUSH(scratch, double, 9 * (size_t)mesh->element_count);
    SN_TRY(sn_arena_status(scratch));
    const double *r = scene->rotation;
    sn_mat3 Q = sn_quat_to_mat3(sn_quat_normalize((sn_quat){r[0], r[1], r[2], r[3]}));

    for (int32_t k = 0; k < 3 * mesh->element_count; k++) {
        sn_store3(axes + 3 * (size_t)k, sn_mat3_column(Q, k % 3));
    }

    return sinew_field_create_from_axes(b->context, mesh, scene->def.kind, axes, field);
}

static sinew_status make_from_file(const sn_builder *b, const sn_scene_field *scene,
                                   const sinew_mesh *mesh, sn_arena *scratch, sinew_field **field) {
    const void *data;
    size_t size;
    SN_TRY(sn_fetch(b->context, b->fetch, b->fetch_user, scene->file, &data, &size));

    sn_source source = {scene->file, data, size, b->fetch, b->fetch_user, true};
    sn_field_file file;

    SN_TRY(sn_field_read(scratch, &source, &file));
    if (file.element_count != mesh->element_count) {
        return sn_fail(b->context, SINEW_INVALID_DATA,
                       "%s is the field of %d elements; the body has %d", scene->file,
                       (int)file.element_count, (int)mesh->element_count);
    }

    return sinew_field_create_from_axes(b->context, mesh, file.kind, file.axes, field);
}

// The curves that an organism brings along.
static sinew_status make_own(const sn_builder *b, const sn_scene_body *body, const sinew_mesh *mesh,
                             sinew_field **field) {
    sn_organism *organism;
    SN_TRY(sn_organism_create(b->context, body->shape.organism, 0, &organism));

    sinew_field_def def = body->field->def;
    def.mesh = mesh;
    if (!body->field->kind_given) {
        def.kind = sn_organism_get_field_kind(organism);
    }

    def.curves = sn_organism_get_curves(organism, &def.curve_count);
    sinew_status status = sinew_field_create(b->context, &def, field);

    sn_organism_destroy(organism);
    return status;
}

sinew_status sn_builder_make_organism(const sn_builder *b, const sn_scene_shape *shape,
                                      sinew_mesh **mesh) {
    sn_organism *organism;
    SN_TRY(sn_organism_create(b->context, shape->organism, shape->organism_tets, &organism));
    sinew_status status = sinew_mesh_copy(b->context, sn_organism_get_mesh(organism), mesh);
    sn_organism_destroy(organism);
    return status;
}

sinew_status sn_builder_make_organism_skin(const sn_builder *b, const sn_scene_shape *shape,
                                           sinew_mesh **skin) {
    sn_organism *organism;
    SN_TRY(sn_organism_create(b->context, shape->organism, 0, &organism));
    sinew_status status = sinew_mesh_copy(b->context, sn_organism_get_skin(organism), skin);
    sn_organism_destroy(organism);
    return status;
}

sinew_status sn_builder_make_field(const sn_builder *b, const sn_scene_body *body,
                                   const sinew_mesh *mesh, sinew_field **field) {
    const sn_scene_field *scene = body->field;
    if (!scene) {
        return SINEW_OK;
    }

    sn_arena scratch = sn_arena_create(b->context);
    sinew_status status;
    if (scene->uniform) {
        status = make_uniform(b, scene, mesh, &scratch, field);
    } else if (scene->file) {
        status = make_from_file(b, scene, mesh, &scratch, field);
    } else if (scene->own) {
        status = make_own(b, body, mesh, field);
    } else {
        sinew_field_def def = scene->def;
        def.mesh = mesh;
        status = sinew_field_create(b->context, &def, field);
    }

    sn_arena_destroy(&scratch);
    return sn_builder_note(b, scene->json, status);
}
