// Variants of modal coordinates: the scene's tetrahedra, reduced.
#include "io/variant/variant.h"

typedef struct reduced {
    sn_arena arena; // holds this struct too
    sn_scene scene;
    sn_scene_body body;
    sn_mistakes mistakes;
    sn_scene_world *world;
    const sinew_variants *variants;
    sinew_point **points; // the body owns them
    int32_t count;
    sinew_point ***loaded; // of each load, one for each of its nodes
} reduced;

static void destroy(void *self) {
    reduced *r = self;
    sn_scene_world_destroy(r->world);
    sn_mistakes_destroy(&r->mistakes);
    sn_arena arena = r->arena;
    sn_arena_destroy(&arena);
}

// A force is shared equally by the nodes that the scene gives it to.
static sinew_status apply_loads(reduced *r, double time) {
    const sn_scene_member *given = &r->variants->given->members[0];
    for (int32_t i = 0; i < r->variants->body.load_count; i++) {
        const sn_scene_load *load = &r->variants->body.loads[i];
        double share = sn_curve_at(&load->scale, time) / given->loads[i].count;
        double force[3];
        sn_store3(force, sn_scale(share, sn_load3(load->vector)));
        for (int32_t k = 0; k < given->loads[i].count; k++) {
            SN_TRY(sinew_point_set_force(r->loaded[i][k], force));
        }
    }
    return SINEW_OK;
}

static sinew_status step(void *self, double time) {
    reduced *r = self;
    SN_TRY(apply_loads(r, time));
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
    for (int32_t i = 0; i < body->load_count; i++) {
        if (body->loads[i].kind != SN_LOAD_FORCE || body->loads[i].at_point) {
            return sn_fail(variants->context, SINEW_UNSUPPORTED,
                           "this model does not support tractions or pressures");
        }
    }
    for (int32_t i = 0; i < body->support_count; i++) {
        if (body->supports[i].scripted) {
            return sn_fail(variants->context, SINEW_UNSUPPORTED,
                           "the supports of a reduced body do not move");
        }
    }
    return SINEW_OK;
}

// Points of the reduced body at the nodes that the scene loads.
static sinew_status push_loaded(reduced *r) {
    const sn_scene_member *given = &r->variants->given->members[0];
    int32_t loads = r->variants->body.load_count;
    r->loaded = SN_PUSH(&r->arena, sinew_point **, loads);
    SN_TRY(sn_arena_status(&r->arena));
    for (int32_t i = 0; i < loads; i++) {
        const sn_picked *picked = &given->loads[i];
        r->loaded[i] = SN_PUSH(&r->arena, sinew_point *, picked->count);
        SN_TRY(sn_arena_status(&r->arena));
        for (int32_t k = 0; k < picked->count; k++) {
            const double *rest = given->mesh->points + 3 * (size_t)picked->nodes[k];
            SN_TRY(sinew_point_create(r->world->members[0].body, rest, &r->loaded[i][k]));
        }
    }
    return SINEW_OK;
}

static sinew_status fill(reduced *r, sinew_variants *variants, const sinew_variant_def *def) {
    SN_TRY(check_supported(variants));
    r->variants = variants;
    r->scene = variants->scene;
    r->body = variants->body;
    r->scene.bodies = &r->body;
    r->body.reduced = true;
    r->body.load_count = 0; // its points take them
    r->body.reduction = sinew_default_reduction_def();
    r->body.reduction.kind = def->reduction;
    r->body.reduction.modes = def->modes;
    SN_TRY(sn_scene_build(variants->context, &r->scene, variants->source.fetch,
                          variants->source.fetch_user, &r->mistakes, &r->world));

    SN_TRY(push_loaded(r));
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
