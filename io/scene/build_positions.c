// Bodies under position dynamics: what a scene says of materials, labels, cores and axes, as
// constraints.
#include "io/scene/build_skeleton.h"

#include <math.h>
#include <string.h>

// Materials become constraints: their density, and with compliances their moduli, scaled along the
// axes of orthotropic ones.
static sinew_pbd_material material_of(const sn_scene_positions *positions,
                                      const sinew_material_def *material) {
    sinew_pbd_material made = positions->stiffness;
    made.density = material->density;
    if (positions->def.mode == SINEW_PBD_STIFFNESS || positions->has_moduli) {
        return made;
    }

    double poisson = fmax(material->poisson, 0);
    if (material->law != SINEW_MATERIAL_ORTHOTROPIC) {
        return sinew_isotropic_pbd_material(material->young, poisson, material->density);
    }

    double E[3] = {material->orthotropic.young_1, material->orthotropic.young_2,
                   material->orthotropic.young_3};

    made = sinew_isotropic_pbd_material(cbrt(E[0] * E[1] * E[2]), poisson, material->density);
    for (int k = 0; k < 3; k++) {
        made.stretch[k] = E[k] / (1 + poisson);
        made.shear[k] = sqrt(E[(k + 1) % 3] * E[(k + 2) % 3]) / (2 * (1 + poisson));
    }

    return made;
}

static sinew_status choose_materials(const sn_scene_member *member, const sinew_body_def *def,
                                     int32_t *choice) {
    const sinew_mesh *mesh = member->mesh;
    for (int32_t t = 0; t < mesh->element_count; t++) {
        int32_t label = mesh->labels ? mesh->labels[t] : 0;
        while (choice[t] < def->material_count && def->material_labels[choice[t]] != label) {
            choice[t]++;
        }

        if (choice[t] < def->material_count) {
            continue;
        }

        return SINEW_INVALID_DATA;
    }

    return SINEW_OK;
}

// The number of the core of each tet, by its label.
static void number_cores(const sn_scene_member *member, int32_t *cores) {
    const sn_scene_positions *positions = &member->scene->positions;
    for (int32_t t = 0; t < member->mesh->element_count; t++) {
        cores[t] = -1;
        if (member->mesh->labels) {
            for (int32_t i = 0; i < positions->core_count; i++) {
                if (member->mesh->labels[t] == positions->cores[i]) {
                    cores[t] = i;
                }
            }
        }
    }
}

// Rows of a matrix whose columns are the axes, from axes one after the other.
static void transpose_axes(double *frames, const double *axes, int32_t count) {
    for (int32_t t = 0; t < count; t++) {
        for (int k = 0; k < 9; k++) {
            frames[9 * (size_t)t + (size_t)(3 * (k % 3) + k / 3)] = axes[9 * (size_t)t + (size_t)k];
        }
    }
}

static sinew_status fill_positions(sn_builder *b, sn_scene_member *member,
                                   const sinew_body_def *def, sinew_pbd_def *pbd,
                                   sn_arena *scratch) {
    const sn_scene_positions *positions = &member->scene->positions;
    int32_t tets = member->mesh->element_count;
    sinew_pbd_material *materials = SN_PUSH(scratch, sinew_pbd_material, def->material_count);
    int32_t *choice = SN_PUSH(scratch, int32_t, tets);
    int32_t *cores = SN_PUSH(scratch, int32_t, tets);
    double *frames = def->material_axes ? SN_PUSH(scratch, double, 9 * (size_t)tets) : NULL;

    SN_TRY(sn_arena_status(scratch));
    *pbd = positions->def;

    // Materials, chosen by the labels of the elements.
    for (int32_t i = 0; i < def->material_count; i++) {
        materials[i] = material_of(positions, &def->materials[i]);
    }

    pbd->materials = materials;
    pbd->material_count = def->material_count;
    if (def->material_labels) {
        if (choose_materials(member, def, choice) != SINEW_OK) {
            return sn_fail(b->context, SINEW_INVALID_DATA,
                           "body \"%s\" has elements with a label for which no material is given",
                           def->name);
        }
        pbd->tet_materials = choice;
    }

    // Rigid cores, and the axes of the material by columns.
    if (positions->core_count > 0) {
        number_cores(member, cores);
        pbd->cores = cores;
    }

    if (frames) {
        transpose_axes(frames, def->material_axes, tets);
    }

    pbd->frames = frames;
    return SINEW_OK;
}

sinew_status sn_builder_make_positions(sn_builder *b, sn_scene_member *member,
                                       const sinew_body_def *def) {
    sinew_pbd_body_def made = sinew_default_pbd_body_def();
    made.name = def->name;
    made.mesh = member->mesh;
    made.surface = def->surface;
    memcpy(made.position, def->position, sizeof made.position);
    memcpy(made.rotation, def->rotation, sizeof made.rotation);
    memcpy(made.velocity, def->velocity, sizeof made.velocity);
    memcpy(made.angular_velocity, def->angular_velocity, sizeof made.angular_velocity);

    sn_arena scratch = sn_arena_create(b->context);
    sinew_status status = fill_positions(b, member, def, &made.pbd, &scratch);
    if (status == SINEW_OK) {
        status = sinew_pbd_body_create(b->world->world, &made, &member->body);
    }

    sn_arena_destroy(&scratch);
    return status;
}
