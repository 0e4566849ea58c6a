// The flesh of a character: bones from the skin, a lattice of tets around them, and its motion law.
#include "io/soften/softener.h"

#include <math.h>
#include <string.h>

static const double least_softness = 1e-3;

// Where a joint was when the mesh was bound. [m]
static sn_vec3 find_joint(const sn_softener *s, const double *world, int32_t joint) {
    if (!s->skin->inverse_bind) {
        const double *m = world + 16 * (size_t)s->skin->joints[joint];
        return sn_scale(s->unit, sn_v3(m[12], m[13], m[14]));
    }

    const double *m = s->skin->inverse_bind + 16 * (size_t)joint;
    sn_mat3 A;
    for (int r = 0; r < 3; r++) {
        for (int c = 0; c < 3; c++) {
            A.m[r][c] = m[4 * c + r];
        }
    }

    sn_vec3 origin = sn_mat3_apply(sn_mat3_inverse(A), sn_v3(-m[12], -m[13], -m[14]));
    return sn_scale(s->unit, origin);
}

// The end of a last joint's bone: glTF does not know it. Three quarters of the way through the
// vertices that follow the joint, as their mean position is half of it.
static sn_vec3 find_tip(const sn_softener *s, int32_t joint, sn_vec3 from) {
    sn_vec3 sum = {0, 0, 0};
    double total = 0;
    for (int32_t i = 0; i < s->point_count; i++) {
        double weight = s->weights[(size_t)i * (size_t)s->skin->joint_count + (size_t)joint];
        sum = sn_madd(sum, weight, sn_load3(s->rest + 3 * (size_t)i));
        total += weight;
    }
    return total > 0 ? sn_madd(from, 1.5, sn_sub(sn_scale(1 / total, sum), from)) : from;
}

// A bone from each joint to each of its children, and one from each last joint.
static sinew_status collect_bones(const sn_softener *s, int32_t **parents, sn_soft_bone **bones,
                                  int32_t *count) {
    int32_t joints = s->skin->joint_count;
    int32_t *joint_of = SN_PUSH(s->arena, int32_t, s->gltf->node_count);
    bool *has_child = SN_PUSH(s->arena, bool, joints);
    *bones = SN_PUSH(s->arena, sn_soft_bone, 2 * joints);
    *parents = SN_PUSH(s->arena, int32_t, joints);
    double *world;
    SN_TRY(sn_arena_status(s->arena));
    SN_TRY(sn_gltf_compute_matrices(s->gltf, s->arena, &world));

    // From nodes of the file to joints of the skin.
    for (int32_t i = 0; i < s->gltf->node_count; i++) {
        joint_of[i] = -1;
    }
    for (int32_t i = 0; i < joints; i++) {
        joint_of[s->skin->joints[i]] = i;
    }

    *count = 0;
    for (int pass = 0; pass < 2; pass++) { // bones to children first, then tips
        for (int32_t i = 0; i < joints; i++) {
            // The nearest ancestor that is a joint: nodes between joints only transform.
            int32_t node = s->gltf->nodes[s->skin->joints[i]].parent;
            while (node >= 0 && joint_of[node] < 0) {
                node = s->gltf->nodes[node].parent;
            }
            int32_t parent = (*parents)[i] = node < 0 ? -1 : joint_of[node];
            if (parent < 0 || (pass == 1 && has_child[i])) {
                continue;
            }

            // A bone to this joint, or in the second pass a tip beyond it.
            sn_vec3 here = find_joint(s, world, i), before = find_joint(s, world, parent);
            sn_soft_bone bone = {parent, before, here};
            if (pass == 1) {
                bone = (sn_soft_bone){i, here, find_tip(s, i, here)};
            }
            if (sn_finite3(bone.from) && sn_finite3(bone.to)) {
                (*bones)[(*count)++] = bone;
            }
            has_child[parent] = has_child[parent] || pass == 0;
        }
    }

    return SINEW_OK;
}

// A quarter of each tet's mass at each of its nodes.
static sinew_status collect_masses(sn_softener *s) {
    const sinew_mesh *mesh = &s->lattice.mesh;
    s->mass = SN_PUSH(s->arena, double, mesh->point_count);
    SN_TRY(sn_arena_status(s->arena));
    for (int32_t i = 0; i < 4 * mesh->element_count; i++) {
        s->mass[mesh->indices[i]] += 0.25 * s->def->density * s->lattice.volumes[i / 4];
    }
    return SINEW_OK;
}

// The weights of the lattice without zeros: most nodes follow two or three joints.
static sinew_status collect_weights(sn_softener *s) {
    size_t nodes = (size_t)s->lattice.mesh.point_count, joints = (size_t)s->skin->joint_count;

    // Count the weights that matter.
    size_t count = 0;
    for (size_t i = 0; i < nodes * joints; i++) {
        count += s->lattice.weights[i] > 1e-4F;
    }

    s->first_weight = SN_PUSH(s->arena, int32_t, nodes + 1);
    s->joint = SN_PUSH(s->arena, int32_t, count);
    s->weight = SN_PUSH(s->arena, double, count);
    s->rotation = SN_PUSH(s->arena, sn_mat3, nodes);
    s->sag = SN_PUSH(s->arena, sn_vec3, nodes);
    s->forces = SN_PUSH(s->arena, double, 3 * nodes);
    s->flesh = SN_PUSH(s->arena, double, 3 * nodes);
    s->velocities = SN_PUSH(s->arena, double, 3 * nodes);
    s->gradients = SN_PUSH(s->arena, sn_mat3, nodes);
    for (int k = 0; k < 3; k++) {
        s->path[k] = SN_PUSH(s->arena, double, 3 * nodes);
    }
    SN_TRY(sn_arena_status(s->arena));

    // Keep, and normalize what is left.
    for (size_t i = 0; i < nodes; i++) {
        int32_t at = s->first_weight[i];
        double sum = 0;
        for (size_t j = 0; j < joints; j++) {
            double weight = (double)s->lattice.weights[i * joints + j];
            if (weight > 1e-4F) {
                s->joint[at] = (int32_t)j;
                s->weight[at++] = weight;
                sum += weight;
            }
        }
        for (int32_t k = s->first_weight[i]; k < at; k++) {
            s->weight[k] /= sum;
        }
        s->first_weight[i + 1] = at;
    }

    return SINEW_OK;
}

// The softness of the nodes of the flesh: that of the surface around them, continued into the
// solid.
static sinew_status spread_softness(const sn_softener *s, double *soft) {
    const sinew_mesh *mesh = &s->lattice.mesh;
    double *share = SN_PUSH(s->arena, double, mesh->point_count);
    double *sum = SN_PUSH(s->arena, double, 2 * (size_t)mesh->point_count);
    SN_TRY(sn_arena_status(s->arena));

    // Nodes around the surface.
    for (size_t i = 0; i < 8 * (size_t)s->point_count; i++) {
        int32_t node = s->lattice.point_nodes[i];
        soft[node] += s->lattice.point_shares[i] * s->soft[i / 8];
        share[node] += s->lattice.point_shares[i];
    }
    int32_t left = 0, before = -1;
    for (int32_t i = 0; i < mesh->point_count; i++) {
        soft[i] = share[i] > 1e-3 ? soft[i] / share[i] : -1;
        left += soft[i] < 0;
    }

    // The others take the mean of their neighbours, layer by layer.
    while (left > 0 && left != before) {
        memset(sum, 0, 2 * (size_t)mesh->point_count * sizeof *sum);
        for (int32_t e = 0; e < 16 * mesh->element_count; e++) {
            int32_t to = mesh->indices[e / 4], from = mesh->indices[e / 16 * 4 + e % 4];
            if (soft[to] < 0 && soft[from] >= 0) {
                sum[2 * (size_t)to] += soft[from];
                sum[2 * (size_t)to + 1] += 1;
            }
        }
        before = left;
        for (size_t i = 0; i < (size_t)mesh->point_count; i++) {
            if (soft[i] < 0 && sum[2 * i + 1] > 0) {
                soft[i] = sum[2 * i] / sum[2 * i + 1];
                left--;
            }
        }
    }

    return SINEW_OK;
}

// Materials whose stiffness falls by the root of 2 from one to the next, and one for each tet.
// Nodes without softness follow the bones.
static sinew_status choose_materials(sn_softener *s, sn_soft_materials *materials) {
    const sinew_mesh *mesh = &s->lattice.mesh;
    double *soft = SN_PUSH(s->arena, double, mesh->point_count);
    materials->of_tet = SN_PUSH(s->arena, int32_t, mesh->element_count);
    SN_TRY(sn_arena_status(s->arena));
    SN_TRY(spread_softness(s, soft));

    // The materials.
    for (int32_t i = 0; i < SN_SOFT_LEVELS; i++) {
        materials->young[i] = s->def->young * pow(2, 0.5 * (SN_SOFT_LEVELS / 2 - i));
    }

    // Nodes that are not soft.
    for (int32_t i = 0; i < mesh->point_count; i++) {
        bool hard = soft[i] >= 0 && soft[i] < least_softness;
        s->lattice.held_count += hard && !s->lattice.held[i];
        s->lattice.held[i] = s->lattice.held[i] || hard;
    }
    for (int32_t e = 0; e < mesh->element_count; e++) {
        // The level of a tet is that of the mean softness of its corners.
        double sum = 0;
        for (int32_t k = 4 * e; k < 4 * (e + 1); k++) {
            double own = soft[mesh->indices[k]];
            sum += own < 0 ? 1 : own;
        }
        double step = round(2 * log2(fmax(0.25 * sum, least_softness)));
        int32_t middle = SN_SOFT_LEVELS / 2;
        materials->of_tet[e] = middle + (int32_t)fmin(fmax(step, -middle), middle);
    }

    return SINEW_OK;
}

static sinew_status prepare_complement(sn_softener *s) {
    sn_complement_def def = {.points = s->lattice.mesh.points,
                             .node_count = s->lattice.mesh.point_count,
                             .joint_count = s->skin->joint_count,
                             .first_weight = s->first_weight,
                             .joints = s->joint,
                             .weights = s->weight,
                             .masses = s->mass,
                             .held = s->lattice.held};
    return sn_complement_create(s->arena, &def, &s->complement);
}

sinew_status sn_soft_build_flesh(sn_softener *s) {
    sn_lattice_def def = {.points = s->rest,
                          .point_count = s->point_count,
                          .indices = s->indices,
                          .index_count = s->index_count,
                          .weights = s->weights,
                          .joint_count = s->skin->joint_count,
                          .tets = s->def->tets,
                          .glued = s->def->model != SINEW_SOFTEN_POSITIONS,
                          .core = s->def->complementary ? 0 : s->def->core};

    // A lattice of tets around the bones, with weights from the skin.
    int32_t *parents;
    sn_soft_bone *bones;
    SN_TRY(collect_bones(s, &parents, &bones, &def.bone_count));
    def.parents = parents;
    def.bones = bones;
    SN_TRY(sn_report_progress(s->context, "filling the character", -1));
    SN_TRY(sn_lattice_create(s->arena, &def, &s->lattice));

    // Its motion law in the bind pose, driven by forces of inertia.
    sn_soft_materials materials;
    SN_TRY(choose_materials(s, &materials));
    SN_TRY(collect_masses(s));
    SN_TRY(collect_weights(s));
    SN_TRY(sn_soft_model_create(s, &materials));

    s->report->nodes = s->lattice.mesh.point_count;
    s->report->held_nodes = s->lattice.held_count;
    s->report->tets = s->lattice.mesh.element_count;
    return s->def->complementary ? prepare_complement(s) : SINEW_OK;
}
