// A body of tets under strain-based position dynamics: checks, rest data, masses, blocks.
#include "pbd/pbd.h"

#include "geom/mesh/mesh.h"

#include <string.h>

sinew_pbd_material sinew_default_pbd_material(void) {
    return (sinew_pbd_material){{0.8, 0.8, 0.8}, {0.5, 0.5, 0.5}, 0.5, 1000};
}

sinew_pbd_material sinew_isotropic_pbd_material(double young, double poisson, double density) {
    double mu = young / (2 * (1 + poisson));
    double lambda = young * poisson / ((1 + poisson) * (1 - 2 * poisson));
    return (sinew_pbd_material){{2 * mu, 2 * mu, 2 * mu}, {mu, mu, mu}, lambda, density};
}

sinew_pbd_def sinew_default_pbd_def(void) {
    return (sinew_pbd_def){.filled = SN_DEF_FILLED,
                           .iterations = 10,
                           .consolidating = 2,
                           .consolidation = 100,
                           .gravity = {0, 0, -9.81},
                           .damping = 1};
}

static sinew_status check_number(sinew_context *context, const char *what, double value, double low,
                                 double high) {
    if (value >= low && value <= high) {
        return SINEW_OK;
    }
    return sn_fail(context, SINEW_INVALID_ARGUMENT, "%s is %g; it must be in [%g, %g]", what, value,
                   low, high);
}

static sinew_status check_material(sinew_context *context, const sinew_pbd_material *material,
                                   int32_t index, sinew_pbd_mode mode) {
    // Stiffnesses, or moduli.
    double high = mode == SINEW_PBD_STIFFNESS ? 1 : 1e18;
    for (int k = 0; k < SN_PBD_CONSTRAINTS; k++) {
        double value = k < 3   ? material->stretch[k]
                       : k < 6 ? material->shear[k - 3]
                               : material->volume;
        if (value >= 0 && value <= high) {
            continue;
        }

        return sn_fail(
            context, SINEW_INVALID_ARGUMENT, "material %d: %s %g must be in [0, %g]%s", index,
            k < 3   ? "stretch"
            : k < 6 ? "shear"
                    : "volume",
            value, high,
            mode == SINEW_PBD_STIFFNESS ? "; moduli in pascals need the compliance mode" : " Pa");
    }

    if (material->density > 0 && material->density <= 1e12) {
        return SINEW_OK;
    }

    return sn_fail(context, SINEW_INVALID_ARGUMENT,
                   "material %d: density %g must be in (0, 1e12] kg/m^3", index, material->density);
}

static sinew_status check_settings(sinew_context *context, const sinew_pbd_def *def) {
    SN_TRY(SN_CHECK_DEF(context, def, "sinew_default_pbd_def"));

    // Numbers.
    SN_TRY(check_number(context, "iterations", def->iterations, 1, 10000));
    SN_TRY(check_number(context, "consolidating", def->consolidating, 0, def->iterations));
    SN_TRY(check_number(context, "consolidation", def->consolidation, 1, 1e9));
    SN_TRY(check_number(context, "drag", def->drag, 0, 1e9));
    SN_TRY(check_number(context, "damping", def->damping, 0, 1e9));

    for (int k = 0; k < 3; k++) {
        SN_TRY(check_number(context, "gravity", def->gravity[k], -1e9, 1e9));
    }

    // Materials.
    if (def->material_count < 0 || (def->material_count > 0) != (def->materials != NULL)) {
        return sn_fail(context, SINEW_INVALID_ARGUMENT,
                       "%d materials: the array and its count must both be given or neither",
                       def->material_count);
    }

    for (int32_t i = 0; i < def->material_count; i++) {
        SN_TRY(check_material(context, &def->materials[i], i, def->mode));
    }

    if (def->mode == SINEW_PBD_COMPLIANCE && def->material_count == 0) {
        return sn_fail(context, SINEW_INVALID_ARGUMENT,
                       "the compliance mode needs a material: there is no default modulus");
    }

    return SINEW_OK;
}

// The columns of a material frame are orthonormal and right-handed.
static sinew_status check_frame(sinew_context *context, const double *frame, int32_t tet) {
    sn_mat3 Q;
    memcpy(Q.m, frame, sizeof Q.m);
    sn_mat3 error = sn_mat3_sub(sn_mat3_mul(sn_mat3_transpose(Q), Q), sn_mat3_identity());
    if (sn_mat3_norm(error) < 1e-6 && sn_mat3_det(Q) > 0) {
        return SINEW_OK;
    }

    return sn_fail(context, SINEW_INVALID_DATA, "the frame of tet %d is not a rotation", tet);
}

static sinew_status check_tets(sinew_context *context, const sinew_mesh *mesh,
                               const sinew_pbd_def *def) {
    if (mesh->element != SINEW_ELEMENT_TET4) {
        return sn_fail(context, SINEW_UNSUPPORTED,
                       "position dynamics needs a mesh of 4-node tets, not of %s",
                       sn_element_info_of(mesh->element)->name);
    }

    // The mesh.
    SN_TRY(sn_check_arrays(context, mesh));
    SN_TRY(sn_check_volumes(context, mesh));

    // What each tet refers to.
    int32_t material_count = def->materials ? def->material_count : 1;
    for (int32_t t = 0; t < mesh->element_count; t++) {
        if (def->frames) {
            SN_TRY(check_frame(context, def->frames + 9 * (size_t)t, t));
        }

        if (!def->tet_materials ||
            (def->tet_materials[t] >= 0 && def->tet_materials[t] < material_count)) {
            continue;
        }

        return sn_fail(context, SINEW_INVALID_DATA, "tet %d: material %d must be in [0, %d]", t,
                       def->tet_materials[t], material_count - 1);
    }

    return SINEW_OK;
}

static sinew_pbd_material material_of(const sinew_pbd_def *def, int32_t tet) {
    if (!def->materials) {
        return sinew_default_pbd_material();
    }
    return def->materials[def->tet_materials ? def->tet_materials[tet] : 0];
}

static void push_arrays(sinew_pbd *pbd, const sinew_mesh *mesh) {
    sn_arena *arena = &pbd->arena;
    size_t nodes = (size_t)mesh->point_count;
    size_t tets = (size_t)mesh->element_count;

    pbd->node_count = mesh->point_count;
    pbd->tet_count = mesh->element_count;
    pbd->tets = SN_PUSH(arena, int32_t, 4 * tets);
    pbd->rest = SN_PUSH(arena, sn_mat3, tets);
    pbd->volumes = SN_PUSH(arena, double, tets);
    pbd->masses = SN_PUSH(arena, double, nodes);
    pbd->inverse_masses = SN_PUSH(arena, double, nodes);
    pbd->nodes = SN_PUSH(arena, double, 4 * nodes);
    pbd->before = SN_PUSH(arena, double, 4 * nodes);
    pbd->velocities = SN_PUSH(arena, double, 4 * nodes);
    pbd->sums = SN_PUSH(arena, double, (nodes / SN_PBD_NODE_CHUNK + 1) * SN_PBD_SUMS);
    pbd->parts = SN_PUSH(arena, sn_pbd_part, tets / SN_PBD_TET_CHUNK + 1);
}

static void compute_rest(sinew_pbd *pbd, const sinew_mesh *mesh, const sinew_pbd_def *def) {
    memcpy(pbd->tets, mesh->indices, 4 * (size_t)mesh->element_count * sizeof *pbd->tets);
    double total = 0;
    int32_t used = 0;

    for (int32_t t = 0; t < mesh->element_count; t++) {
        const int32_t *tet = pbd->tets + 4 * (size_t)t;
        sn_vec3 X[4];
        for (int k = 0; k < 4; k++) {
            X[k] = sn_mesh_point(mesh, tet[k]);
        }

        sn_mat3 Q = sn_mat3_identity();
        if (def->frames) {
            memcpy(Q.m, def->frames + 9 * (size_t)t, sizeof Q.m);
        }

        pbd->rest[t] = sn_pbd_rest_matrix(X, Q);
        pbd->volumes[t] = sn_tet_volume6(X[0], X[1], X[2], X[3]) / 6;

        double mass = material_of(def, t).density * pbd->volumes[t];
        for (int k = 0; k < 4; k++) {
            pbd->masses[tet[k]] += mass / 4;
        }

        total += mass;
    }

    // Masses are expressed in units of their mean, so that floats suffice.
    for (int32_t i = 0; i < pbd->node_count; i++) {
        used += pbd->masses[i] > 0;
    }

    pbd->mass_unit = total / used;
    for (int32_t i = 0; i < pbd->node_count; i++) {
        // A node without a tet has no mass and does not move.
        bool moves = pbd->masses[i] > 0 && !(def->kinematic && def->kinematic[i]);
        pbd->inverse_masses[i] = moves ? pbd->mass_unit / pbd->masses[i] : 0;
        sn_store3(pbd->nodes + 4 * (size_t)i, sn_mesh_point(mesh, i));
    }
}

// Fractions to remove as they are; moduli as compliances 1/(modulus volume), in the unit of mass,
// limited to the range of floats.
static float block_stiffness(const sinew_pbd *pbd, sinew_pbd_material material, int32_t tet,
                             int constraint) {
    double value = constraint < 3   ? material.stretch[constraint]
                   : constraint < 6 ? material.shear[constraint - 3]
                                    : material.volume;
    if (pbd->settings.mode == SINEW_PBD_STIFFNESS) {
        return (float)value;
    }

    return (float)fmin(pbd->mass_unit / (value * pbd->volumes[tet] + 1e-300), 1e20);
}

static void fill_block(sinew_pbd *pbd, const sinew_pbd_def *def, int32_t b) {
    sn_pbd_block *block = &pbd->blocks[b];
    const int32_t *lanes = pbd->schedule.lanes + (size_t)b * SN_BLOCK;

    SN_ASSERT(lanes[0] >= 0);
    for (int l = 0; l < SN_BLOCK; l++) {
        int32_t tet = lanes[l] >= 0 ? lanes[l] : lanes[0];

        // Lanes without a tet repeat the nodes of lane 0 and move nothing.
        for (int k = 0; k < 4; k++) {
            block->nodes[k][l] = pbd->tets[4 * (size_t)tet + (size_t)k];
        }

        if (lanes[l] < 0) {
            continue;
        }

        for (int i = 0; i < 9; i++) {
            block->B[i][l] = (float)pbd->rest[tet].m[i / 3][i % 3];
        }

        for (int i = 0; i < SN_PBD_CONSTRAINTS; i++) {
            block->stiffness[i][l] = block_stiffness(pbd, material_of(def, tet), tet, i);
        }
    }
}

// `heavy_part` scales the inverse masses of the nodes on the inner side of a tet, which the
// previous layer has already moved.
static void fill_inertia(sinew_pbd *pbd, sn_pbd_inertia *inertia, int32_t b, double heavy_part) {
    const sn_pbd_block *block = &pbd->blocks[b];
    const sn_pbd_schedule *schedule = &pbd->schedule;
    double w[4][SN_BLOCK];

    for (int l = 0; l < SN_BLOCK; l++) {
        int32_t lane = schedule->lanes[(size_t)b * SN_BLOCK + (size_t)l];
        for (int k = 0; k < 4; k++) {
            int32_t node = block->nodes[k][l];
            bool heavy = lane >= 0 && schedule->node_layers[node] == schedule->tet_layers[lane];
            w[k][l] = pbd->inverse_masses[node] * (heavy ? heavy_part : 1);
        }
    }

    sn_pbd_compute_inertia(inertia, block, w);
}

// Tets whose nodes are all kinematic, or all of one core, never deform.
static void mark_still(const sinew_pbd *pbd, uint8_t *attached, uint8_t *still) {
    for (int32_t i = 0; i < pbd->node_count; i++) {
        attached[i] =
            pbd->masses[i] > 0 && (pbd->inverse_masses[i] == 0 || pbd->cores.node_cores[i] >= 0);
    }

    for (int32_t t = 0; t < pbd->tet_count; t++) {
        const int32_t *tet = pbd->tets + 4 * (size_t)t;
        int32_t core = pbd->cores.node_cores[tet[0]];
        bool kinematic = true;
        bool rigid = core >= 0;

        for (int k = 0; k < 4; k++) {
            kinematic = kinematic && pbd->inverse_masses[tet[k]] == 0;
            rigid = rigid && pbd->cores.node_cores[tet[k]] == core;
        }

        still[t] = kinematic || rigid;
    }
}

static sinew_status build(sinew_pbd *pbd, const sinew_mesh *mesh, const sinew_pbd_def *def) {
    sn_arena *arena = &pbd->arena;

    // Rest shape, masses and cores.
    push_arrays(pbd, mesh);
    SN_TRY(sn_arena_status(arena));
    compute_rest(pbd, mesh, def);
    SN_TRY(sn_pbd_build_cores(arena, mesh, def->cores, def->kinematic, pbd->masses, &pbd->cores));

    uint8_t *attached = SN_PUSH(arena, uint8_t, pbd->node_count);
    uint8_t *still = SN_PUSH(arena, uint8_t, pbd->tet_count);

    SN_TRY(sn_arena_status(arena));
    mark_still(pbd, attached, still);

    // The order of projection, and the blocks it needs.
    sn_pbd_schedule_def order = {mesh, attached, still, def->order};
    SN_TRY(sn_pbd_build_schedule(arena, &order, &pbd->schedule));
    pbd->blocks = SN_PUSH(arena, sn_pbd_block, pbd->schedule.block_count);
    pbd->inertias = SN_PUSH(arena, sn_pbd_inertia, pbd->schedule.block_count);

    if (def->mode == SINEW_PBD_COMPLIANCE) {
        pbd->multipliers = SN_PUSH(arena, sn_pbd_multipliers, pbd->schedule.block_count);
    } else if (def->order == SINEW_PBD_LAYERED) {
        pbd->heavy_inertias = SN_PUSH(arena, sn_pbd_inertia, pbd->schedule.block_count);
    }

    SN_TRY(sn_arena_status(arena));
    for (int32_t b = 0; b < pbd->schedule.block_count; b++) {
        fill_block(pbd, def, b);
        fill_inertia(pbd, &pbd->inertias[b], b, 1);
        if (pbd->heavy_inertias) {
            fill_inertia(pbd, &pbd->heavy_inertias[b], b, 1 / def->consolidation);
        }
    }

    return SINEW_OK;
}

sinew_status sinew_pbd_create(sinew_context *context, const sinew_mesh *mesh,
                              const sinew_pbd_def *def, sinew_pbd **pbd) {
    SN_NEED(NULL, context);
    SN_NEED(context, mesh && pbd);

    SN_ASSERT(context && mesh && pbd);
    SN_TRY(check_settings(context, def));
    SN_TRY(check_tets(context, mesh, def));

    sinew_pbd *made = sn_allocate(context, 1, sizeof *made);
    if (!made) {
        return SINEW_OUT_OF_MEMORY;
    }

    made->arena = sn_arena_create(context);
    made->settings = *def;
    made->project = SN_ISA_PICK(sn_isa_detect(), sn_pbd_project_blocks);

    sinew_status status = build(made, mesh, def);
    if (status != SINEW_OK) {
        sinew_pbd_destroy(made);
        return status;
    }

    // The arrays of the definition were borrowed.
    made->settings.materials = NULL;
    made->settings.tet_materials = NULL;
    made->settings.frames = NULL;
    made->settings.kinematic = NULL;
    made->settings.cores = NULL;
    *pbd = made;

    return SINEW_OK;
}

void sinew_pbd_destroy(sinew_pbd *pbd) {
    if (!pbd) {
        return;
    }
    sinew_context *context = pbd->arena.context;
    sn_arena_destroy(&pbd->arena);
    sn_release(context, pbd, 1, sizeof *pbd);
}

static void copy_rows(double *out, const double *rows, int32_t count) {
    for (int32_t i = 0; i < count; i++) {
        memcpy(sn_at3(out, i), rows + 4 * (size_t)i, 3 * sizeof(double));
    }
}

void sinew_pbd_get_positions(const sinew_pbd *pbd, double *positions) {
    SN_NEED_OR(, pbd && positions);
    copy_rows(positions, pbd->nodes, pbd->node_count);
}

void sinew_pbd_get_velocities(const sinew_pbd *pbd, double *velocities) {
    SN_NEED_OR(, pbd && velocities);
    copy_rows(velocities, pbd->velocities, pbd->node_count);
}

sinew_status sinew_pbd_set_state(sinew_pbd *pbd, const double *positions,
                                 const double *velocities) {
    SN_NEED(NULL, pbd && positions);

    for (int32_t i = 0; i < pbd->node_count; i++) {
        const double *x = sn_at3(positions, i);
        if (!sn_finite3(sn_load3(x)) ||
            (velocities && !sn_finite3(sn_load3(sn_at3(velocities, i))))) {
            return sn_fail(pbd->arena.context, SINEW_INVALID_ARGUMENT,
                           "node %d: position and velocity must be finite", i);
        }
    }

    for (int32_t i = 0; i < pbd->node_count; i++) {
        sn_store3(pbd->nodes + 4 * (size_t)i, sn_load3(sn_at3(positions, i)));
        sn_store3(pbd->velocities + 4 * (size_t)i,
                  velocities ? sn_load3(sn_at3(velocities, i)) : sn_v3(0, 0, 0));
    }

    return SINEW_OK;
}

const int32_t *sinew_pbd_layers(const sinew_pbd *pbd, int32_t *layer_count) {
    SN_NEED_OR(NULL, pbd && layer_count);
    *layer_count = pbd->schedule.layer_count;
    return pbd->schedule.tet_layers;
}
