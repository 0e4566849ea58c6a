// Variants of finite elements: the scene is built again with another mesh, law or model, and
// stepped as `sinew run` would.
#include "io/variant/variant.h"

#include <math.h>

typedef struct elements {
    sn_arena arena; // holds this struct too
    sn_scene scene;
    sn_scene_body body;
    sn_mistakes mistakes;
    sn_scene_world *world;
    sinew_embedding *embedding;
} elements;

static void destroy(void *self) {
    elements *e = self;
    sinew_embedding_destroy(e->embedding);
    sn_scene_world_destroy(e->world);
    sn_mistakes_destroy(&e->mistakes);
    sn_arena arena = e->arena;
    sn_arena_destroy(&arena);
}

static sinew_status step(void *self, double time) {
    elements *e = self;
    return time > 0 ? sn_scene_world_step(e->world, NULL)
                    : sn_scene_world_solve_static(e->world, NULL);
}

static sinew_status read(void *self, double *points) {
    elements *e = self;
    sinew_embedding_compute_points(e->embedding,
                                   sinew_body_get_positions(e->world->members[0].body), points);
    return SINEW_OK;
}

// Finer or coarser, with or without middle nodes. Meshes from files keep their cells.
static sinew_status change_shape(sinew_context *context, sn_scene_shape *shape,
                                 const sinew_variant_def *def) {
    sinew_element element = def->quadratic ? SINEW_ELEMENT_TET10 : SINEW_ELEMENT_TET4;

    // Generated meshes: scale the number of cells. A tube needs an even number around.
    if (shape->generated) {
        shape->shape.element = element;
        shape->shape.cell_size /= def->refine;
        for (int c = 0; c < 3; c++) {
            if (shape->shape.cells[c] == 0) {
                continue;
            }

            int32_t cells = (int32_t)lround(shape->shape.cells[c] * def->refine);
            if (shape->shape.shape == SINEW_SHAPE_TUBE && c == 1) {
                cells += cells & 1;
            }

            shape->shape.cells[c] = cells > 1 ? cells : 1;
        }

        return SINEW_OK;
    }

    // Filled surfaces: scale the number of tets.
    if (shape->tetrahedralize) {
        shape->tets.element = element;
        shape->tets.cell_size /= def->refine;
        shape->tets.tet_count = (int32_t)fmax(1, shape->tets.tet_count * pow(def->refine, 3));
        return SINEW_OK;
    }

    shape->quadratic = def->quadratic;
    if (def->refine == 1) {
        return SINEW_OK;
    }

    return sn_fail(context, SINEW_UNSUPPORTED, "a mesh from a file is not refined");
}

static sinew_status change_materials(elements *e, sinew_context *context, const char *law) {
    if (!law) {
        return SINEW_OK;
    }

    sn_scene_material *materials = SN_PUSH(&e->arena, sn_scene_material, e->scene.material_count);
    SN_TRY(sn_arena_status(&e->arena));
    for (int32_t i = 0; i < e->scene.material_count; i++) {
        materials[i] = e->scene.materials[i];
        SN_TRY(sinew_material_set_law(context, law, &materials[i].def));
    }

    e->scene.materials = materials;
    return SINEW_OK;
}

static sinew_status fill(elements *e, sinew_variants *variants, const sinew_variant_def *def) {
    if (def->law || def->model != SINEW_MODEL_ELASTIC) {
        SN_TRY(sn_variants_check_plain(variants));
    }

    e->scene = variants->scene;
    e->body = variants->body;
    e->scene.bodies = &e->body;
    e->body.def.model =
        def->law || def->model != SINEW_MODEL_ELASTIC ? def->model : variants->body.def.model;

    bool as_given = def->refine == 1 && !def->quadratic &&
                    variants->given->members[0].mesh->element == SINEW_ELEMENT_TET4;
    if (!as_given) {
        SN_TRY(change_shape(variants->context, &e->body.shape, def));
    }
    SN_TRY(change_materials(e, variants->context, def->law));
    SN_TRY(sn_scene_build(variants->context, &e->scene, variants->source.fetch,
                          variants->source.fetch_user, &e->mistakes, &e->world));

    sinew_mesh points = sn_variants_point_mesh(variants);
    return sinew_embedding_create(variants->context, &points, e->world->members[0].mesh,
                                  &e->embedding);
}

static const sn_variant_ops ops = {step, read, destroy};

sinew_status sn_variant_create_elements(sinew_variants *variants, const sinew_variant_def *def,
                                        sinew_variant *variant) {
    sn_arena arena = sn_arena_create(variants->context);
    elements *e = SN_PUSH(&arena, elements, 1);
    SN_TRY(sn_arena_status(&arena));
    e->arena = arena;
    e->mistakes = sn_mistakes_create(variants->context);
    variant->ops = &ops;
    variant->self = e;

    SN_TRY(fill(e, variants, def));
    variant->unknowns = 3 * sinew_body_get_node_count(e->world->members[0].body);
    return SINEW_OK;
}
