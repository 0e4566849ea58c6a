// Variants of modal coordinates: the scene's tetrahedra, reduced.
#include "io/variant/variant.h"

typedef struct reduced {
    sn_arena arena; // holds this struct too
    sn_scene scene;
    sn_scene_body body;
    sn_mistakes mistakes;
    sn_scene_world *world;
    sinew_point **points; // the body owns them
    int32_t count;
} reduced;

static void destroy(void *self) {
    reduced *r = self;
    sn_scene_world_destroy(r->world);
    sn_mistakes_destroy(&r->mistakes);
    sn_arena arena = r->arena;
    sn_arena_destroy(&arena);
}

static sinew_status step(void *self, double time) {
    reduced *r = self;
    return time > 0 ? sn_scene_world_step(r->world, NULL)
                    : sn_scene_world_solve_static(r->world, NULL);
}

static sinew_status read(void *self, double *points) {
    reduced *r = self;
    for (int32_t i = 0; i < r->count; i++) {
        SN_TRY(sinew_point_get_position(r->points[i], points + 3 * (size_t)i));
    }
    return SINEW_OK;
}

static sinew_status check_supported(const sinew_variants *variants) {
    const sn_scene_body *body = &variants->body;
    if (body->load_count > 0) {
        return sn_fail(variants->context, SINEW_UNSUPPORTED, "a reduced body has no loads");
    }
    for (int32_t i = 0; i < body->support_count; i++) {
        if (body->supports[i].scripted) {
            return sn_fail(variants->context, SINEW_UNSUPPORTED,
                           "the supports of a reduced body do not move");
        }
    }
    return SINEW_OK;
}

static sinew_status fill(reduced *r, sinew_variants *variants, const sinew_variant_def *def) {
    SN_TRY(check_supported(variants));
    r->scene = variants->scene;
    r->body = variants->body;
    r->scene.bodies = &r->body;
    r->body.reduced = true;
    r->body.reduction = sinew_default_reduction_def();
    r->body.reduction.kind = def->reduction;
    r->body.reduction.modes = def->modes;
    SN_TRY(sn_scene_build(variants->context, &r->scene, variants->source.fetch,
                          variants->source.fetch_user, &r->mistakes, &r->world));

    r->points = SN_PUSH(&r->arena, sinew_point *, variants->point_count);
    SN_TRY(sn_arena_status(&r->arena));
    for (; r->count < variants->point_count; r->count++) {
        SN_TRY(sinew_point_create(r->world->members[0].body,
                                  variants->points + 3 * (size_t)r->count, &r->points[r->count]));
    }
    return SINEW_OK;
}

static const sn_variant_ops ops = {step, read, destroy};

sinew_status sn_variant_create_reduced(sinew_variants *variants, const sinew_variant_def *def,
                                       sinew_variant *variant) {
    sn_arena arena = sn_arena_create(variants->context);
    reduced *r = SN_PUSH(&arena, reduced, 1);
    SN_TRY(sn_arena_status(&arena));
    r->arena = arena;
    r->mistakes = sn_mistakes_create(variants->context);
    variant->ops = &ops;
    variant->self = r;

    SN_TRY(fill(r, variants, def));
    variant->unknowns = sinew_reduced_body_get_size(r->world->members[0].body);
    return SINEW_OK;
}
