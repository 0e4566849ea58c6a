// One body of a scene, ready to be simulated by several models.
#include "io/variant/variant.h"

#include <math.h>
#include <string.h>

sinew_variant_def sinew_default_variant_def(void) {
    return (sinew_variant_def){.refine = 1,
                               .node_kind = SINEW_NODE_AFFINE,
                               .node_count = 10,
                               .iterations = 20,
                               .modes = 20,
                               .filled = SN_DEF_FILLED};
}

// --- The body

static sinew_status isolate_body(sinew_variants *variants, const sinew_scene *scene, int32_t body) {
    variants->scene = scene->scene;
    variants->body = scene->scene.bodies[body];
    if (variants->body.frames || variants->body.skeleton >= 0) {
        return sn_fail(
            variants->context, SINEW_UNSUPPORTED,
            "the body \"%s\" %s; the ladder needs one of elements, held and loaded at its nodes",
            variants->body.name, variants->body.frames ? "is one of frames" : "follows a skeleton");
    }

    variants->body.positions.used = false;
    variants->body.reduced = false;
    variants->body.surface = NULL;
    variants->scene.bodies = &variants->body;
    variants->scene.body_count = 1;
    variants->scene.attachment_count = variants->scene.probe_count = 0;

    const double *r = variants->body.def.rotation;
    variants->rotation = sn_quat_normalize((sn_quat){r[0], r[1], r[2], r[3]});
    variants->position = sn_load3(variants->body.def.position);
    return sn_scene_build(variants->context, &variants->scene, variants->source.fetch,
                          variants->source.fetch_user, &variants->mistakes, &variants->given);
}

sinew_status sinew_variants_create(sinew_scene *scene, int32_t body, sinew_variants **variants) {
    SN_NEED(NULL, scene && variants);

    if (body < 0 || body >= scene->scene.body_count) {
        return sn_scene_fail_index(scene, "body", body, scene->scene.body_count);
    }

    sn_arena arena = sn_arena_create(scene->context);
    sinew_variants *made = SN_PUSH(&arena, sinew_variants, 1);
    if (!made) {
        sn_arena_destroy(&arena);
        return SINEW_OUT_OF_MEMORY;
    }

    made->arena = arena;
    made->context = scene->context;
    made->source = scene->source;
    made->mistakes = sn_mistakes_create(scene->context);
    sinew_status status = isolate_body(made, scene, body);

    // Mistakes in files and selections have a message of their own.
    if (status != SINEW_OK && status != SINEW_OUT_OF_MEMORY && made->mistakes.total > 0) {
        status = sn_mistakes_status(&made->mistakes);
    }
    if (status != SINEW_OK) {
        sinew_variants_destroy(made);
        return status;
    }

    *variants = made;
    return SINEW_OK;
}

void sinew_variants_destroy(sinew_variants *variants) {
    if (!variants) {
        return;
    }
    sn_scene_world_destroy(variants->given);
    sn_mistakes_destroy(&variants->mistakes);
    sn_arena arena = variants->arena; // a copy: the arena holds the struct
    sn_arena_destroy(&arena);
}

const sinew_body *sinew_variants_get_body(const sinew_variants *variants) {
    SN_NEED_OR(NULL, variants);
    return variants->given->members[0].body;
}

bool sinew_variants_can_refine(const sinew_variants *variants) {
    SN_NEED_OR(false, variants);
    return variants->body.shape.generated || variants->body.shape.tetrahedralize;
}

sinew_status sinew_variants_set_points(sinew_variants *variants, const double *points,
                                       int32_t count) {
    SN_NEED(NULL, variants && (points || count == 0));

    if (count < 0) {
        return sn_fail(variants->context, SINEW_INVALID_ARGUMENT, "%d points: at least 0",
                       (int)count);
    }

    double *copy = SN_PUSH(&variants->arena, double, 3 * (size_t)count);
    SN_TRY(sn_arena_status(&variants->arena));
    if (count > 0) {
        memcpy(copy, points, 3 * (size_t)count * sizeof *copy);
    }
    variants->points = copy;
    variants->point_count = count;

    return SINEW_OK;
}

// --- What the models share

sn_vec3 sn_variants_to_body(const sinew_variants *variants, const double vector[3]) {
    return sn_quat_rotate(sn_quat_conjugate(variants->rotation), sn_load3(vector));
}

void sn_variants_to_world(const sinew_variants *variants, double *points) {
    for (int32_t i = 0; i < variants->point_count; i++) {
        double *p = points + 3 * (size_t)i;
        sn_store3(p, sn_add(variants->position, sn_quat_rotate(variants->rotation, sn_load3(p))));
    }
}

sinew_mesh sn_variants_point_mesh(const sinew_variants *variants) {
    return (sinew_mesh){.points = variants->points,
                        .point_count = variants->point_count,
                        .element = SINEW_ELEMENT_TRIANGLE};
}

sinew_status sn_variants_check_plain(const sinew_variants *variants) {
    const sn_scene_body *body = &variants->body;

    // Loads, supports and materials that only elements have.
    for (int32_t i = 0; i < body->load_count; i++) {
        if (body->loads[i].kind != SN_LOAD_FORCE || body->loads[i].at_point) {
            return sn_fail(variants->context, SINEW_UNSUPPORTED,
                           "this model does not support tractions or pressures");
        }
    }

    for (int32_t i = 0; i < body->support_count; i++) {
        if (body->supports[i].axes != SINEW_AXIS_ALL) {
            return sn_fail(variants->context, SINEW_UNSUPPORTED,
                           "this model cannot hold nodes along single axes");
        }
    }

    for (int32_t i = 0; i < variants->scene.material_count; i++) {
        sinew_material_law law = variants->scene.materials[i].def.law;
        if (law == SINEW_MATERIAL_ORTHOTROPIC || law == SINEW_MATERIAL_TRANSVERSE ||
            law == SINEW_MATERIAL_CUSTOM) {
            return sn_fail(variants->context, SINEW_UNSUPPORTED,
                           "this model needs an isotropic material");
        }
    }

    return SINEW_OK;
}

// --- Variants

static sinew_status check_def(sinew_context *context, const sinew_variant_def *def) {
    SN_TRY(SN_CHECK_DEF(context, def, "sinew_default_variant_def"));
    if ((int)def->node_kind < 0 || def->node_kind > SINEW_NODE_QUADRATIC) {
        return sn_fail(context, SINEW_INVALID_ARGUMENT, "variant: there is no kind of frame %d",
                       (int)def->node_kind);
    }
    if (!(def->refine > 0 && isfinite(def->refine)) || def->node_count < 1 || def->iterations < 1) {
        return sn_fail(context, SINEW_INVALID_ARGUMENT,
                       "variant: refine (%g) must be above 0, node_count (%d) and iterations (%d) "
                       "at least 1",
                       def->refine, (int)def->node_count, (int)def->iterations);
    }
    return SINEW_OK;
}

static sinew_status create(sinew_variants *variants, const sinew_variant_def *def,
                           sinew_variant *variant) {
    switch (def->kind) {
    case SINEW_VARIANT_ELEMENTS: return sn_variant_create_elements(variants, def, variant);
    case SINEW_VARIANT_FRAMES: return sn_variant_create_frames(variants, def, variant);
    case SINEW_VARIANT_REDUCED: return sn_variant_create_reduced(variants, def, variant);
    case SINEW_VARIANT_POSITIONS: return sn_variant_create_positions(variants, def, variant);
    }
    return sn_fail(variants->context, SINEW_INVALID_ARGUMENT, "variant: there is no kind %d",
                   (int)def->kind);
}

sinew_status sinew_variant_create(sinew_variants *variants, const sinew_variant_def *def,
                                  sinew_variant **variant) {
    SN_NEED(NULL, variants && def && variant);

    SN_TRY(check_def(variants->context, def));
    sinew_variant *made = sn_allocate(variants->context, 1, sizeof *made);
    if (!made) {
        return SINEW_OUT_OF_MEMORY;
    }

    made->variants = variants;
    sinew_status status = create(variants, def, made);
    if (status != SINEW_OK) {
        sinew_variant_destroy(made);
        return status;
    }

    *variant = made;
    return SINEW_OK;
}

void sinew_variant_destroy(sinew_variant *variant) {
    if (!variant) {
        return;
    }
    if (variant->self) {
        variant->ops->destroy(variant->self);
    }
    sn_release(variant->variants->context, variant, 1, sizeof *variant);
}

int32_t sinew_variant_get_unknown_count(const sinew_variant *variant) {
    SN_NEED_OR(0, variant);
    return variant->unknowns;
}

sinew_status sinew_variant_solve_static(sinew_variant *variant) {
    SN_NEED(NULL, variant);
    return variant->ops->step(variant->self, 0);
}

sinew_status sinew_variant_step(sinew_variant *variant) {
    SN_NEED(NULL, variant);
    double time = (double)(variant->steps + 1) * variant->variants->scene.world.step;
    SN_TRY(variant->ops->step(variant->self, time));
    variant->steps++;
    return SINEW_OK;
}

sinew_status sinew_variant_compute_points(sinew_variant *variant, double *points) {
    SN_NEED(NULL, variant && points);
    return variant->ops->read(variant->self, points);
}
