// Variants by position dynamics: the scene's tets with compliances from its moduli, in the body's
// own coordinates.
#include "io/variant/variant.h"

#include "sinew/pbd.h"

#include <string.h>

typedef struct positions {
    sn_arena arena; // holds this struct too
    sinew_variants *variants;
    const sn_scene_member *member;
    sinew_pbd *pbd;
    double *x, *targets, *forces;
    sinew_embedding *embedding;
} positions;

static void destroy(void *self) {
    positions *p = self;
    sinew_embedding_destroy(p->embedding);
    sinew_pbd_destroy(p->pbd);
    sn_arena arena = p->arena;
    sn_arena_destroy(&arena);
}

static sinew_status step(void *self, double time) {
    positions *p = self;
    if (time == 0) {
        return sn_fail(p->variants->context, SINEW_UNSUPPORTED,
                       "position dynamics has no static solve");
    }

    // Targets of scripted nodes.
    const sn_scene_body *scene = p->member->scene;
    for (int32_t i = 0; i < scene->support_count; i++) {
        const sn_picked *picked = &p->member->supports[i];
        if (scene->supports[i].scripted) {
            for (int32_t k = 0; k < picked->count; k++) {
                size_t at = 3 * (size_t)picked->nodes[k];
                sn_vec3 X = sn_load3(p->member->mesh->points + at);
                sn_store3(p->targets + at, sn_scene_motion_at(&scene->supports[i].motion, X, time));
            }
        }
    }

    // A force is shared equally by its nodes.
    memset(p->forces, 0, 3 * (size_t)p->member->mesh->point_count * sizeof(double));
    for (int32_t i = 0; i < scene->load_count; i++) {
        const sn_picked *picked = &p->member->loads[i];
        sn_vec3 share = sn_scale(sn_curve_at(&scene->loads[i].scale, time) / picked->count,
                                 sn_variants_to_body(p->variants, scene->loads[i].vector));
        for (int32_t k = 0; k < picked->count; k++) {
            sn_add_to3(p->forces + 3 * (size_t)picked->nodes[k], share);
        }
    }

    return sinew_pbd_step(p->pbd, p->variants->scene.world.step, p->targets, p->forces);
}

static sinew_status read(void *self, double *points) {
    positions *p = self;
    sinew_pbd_get_positions(p->pbd, p->x);
    sinew_embedding_compute_points(p->embedding, p->x, points);
    sn_variants_to_world(p->variants, points);
    return SINEW_OK;
}

static sinew_pbd_material material_of(const sn_scene *scene, int32_t index) {
    const sinew_material_def *def = &scene->materials[index].def;
    return sinew_isotropic_pbd_material(def->young, def->poisson < 0 ? 0 : def->poisson,
                                        def->density);
}

// One material for each of the scene's, and which of them each tet has.
static sinew_status set_materials(positions *p, sinew_pbd_def *def) {
    const sn_scene *scene = &p->variants->scene;
    const sn_scene_body *body = p->member->scene;
    const sinew_mesh *mesh = p->member->mesh;
    sinew_pbd_material *materials = SN_PUSH(&p->arena, sinew_pbd_material, scene->material_count);
    int32_t *of_tet = SN_PUSH(&p->arena, int32_t, mesh->element_count);

    SN_TRY(sn_arena_status(&p->arena));
    for (int32_t i = 0; i < scene->material_count; i++) {
        materials[i] = material_of(scene, i);
    }

    // Later labels win, as in the scene.
    for (int32_t i = 0; i < mesh->element_count; i++) {
        of_tet[i] = body->label_count ? body->labels[0].material : body->material;
        if (mesh->labels) {
            for (int32_t k = 0; k < body->label_count; k++) {
                if (body->labels[k].label == mesh->labels[i]) {
                    of_tet[i] = body->labels[k].material;
                }
            }
        }
    }

    def->materials = materials;
    def->material_count = scene->material_count;
    def->tet_materials = of_tet;

    return SINEW_OK;
}

// The body's velocity in its own coordinates: v + w x X.
static sinew_status set_velocities(positions *p) {
    const sinew_body_def *def = &p->member->scene->def;
    sn_vec3 v = sn_variants_to_body(p->variants, def->velocity);
    sn_vec3 w = sn_variants_to_body(p->variants, def->angular_velocity);
    const sinew_mesh *mesh = p->member->mesh;

    for (int32_t i = 0; i < mesh->point_count; i++) {
        sn_store3(p->forces + 3 * (size_t)i,
                  sn_add(v, sn_cross(w, sn_load3(mesh->points + 3 * (size_t)i))));
    }

    return sinew_pbd_set_state(p->pbd, mesh->points, p->forces);
}

static sinew_status fill(positions *p, int32_t iterations) {
    sinew_variants *variants = p->variants;
    const sinew_mesh *mesh = p->member->mesh;

    SN_TRY(sn_variants_check_plain(variants));
    if (mesh->element != SINEW_ELEMENT_TET4) {
        return sn_fail(variants->context, SINEW_UNSUPPORTED,
                       "position dynamics needs four-node tetrahedra");
    }

    sinew_pbd_def def = sinew_default_pbd_def();
    uint8_t *kinematic = SN_PUSH(&p->arena, uint8_t, mesh->point_count);

    p->x = SN_PUSH(&p->arena, double, 3 * (size_t)mesh->point_count);
    p->targets = SN_PUSH(&p->arena, double, 3 * (size_t)mesh->point_count);
    p->forces = SN_PUSH(&p->arena, double, 3 * (size_t)mesh->point_count);
    SN_TRY(sn_arena_status(&p->arena));
    SN_TRY(set_materials(p, &def));

    // Held nodes are kinematic.
    memcpy(p->targets, mesh->points, 3 * (size_t)mesh->point_count * sizeof(double));

    for (int32_t i = 0; i < p->member->scene->support_count; i++) {
        const sn_picked *picked = &p->member->supports[i];
        for (int32_t k = 0; k < picked->count; k++) {
            kinematic[picked->nodes[k]] = 1;
        }
    }

    // Moduli, so that the result does not depend on the iterations alone.
    def.mode = SINEW_PBD_COMPLIANCE;
    def.iterations = iterations;
    def.kinematic = kinematic;
    def.drag = p->member->scene->def.mass_damping;
    def.damping = 0;
    sn_store3(def.gravity, sn_variants_to_body(variants, variants->scene.world.gravity));
    SN_TRY(sinew_pbd_create(variants->context, mesh, &def, &p->pbd));
    SN_TRY(set_velocities(p));

    sinew_mesh points = sn_variants_point_mesh(variants);
    return sinew_embedding_create(variants->context, &points, mesh, &p->embedding);
}

static const sn_variant_ops ops = {step, read, destroy};

sinew_status sn_variant_create_positions(sinew_variants *variants, const sinew_variant_def *def,
                                         sinew_variant *variant) {
    sn_arena arena = sn_arena_create(variants->context);
    positions *p = SN_PUSH(&arena, positions, 1);
    SN_TRY(sn_arena_status(&arena));
    p->arena = arena;
    p->variants = variants;
    p->member = &variants->given->members[0];
    variant->ops = &ops;
    variant->self = p;

    SN_TRY(fill(p, def->iterations));
    variant->unknowns = 3 * p->member->mesh->point_count;
    return SINEW_OK;
}
