// Soft characters, for users of the library: see sinew/io/soften.h.
//
// The flesh moves in the pose that the mesh was bound in, where the bones stand still. What the
// joints do to it there are forces of inertia: a node of mass m that the skin carries along a path
// X(t), rotated by R(t), feels
//
//   f = -m R' (X'' - g) - m R0' g,    R0 at the start of the animation,
//
// so that flesh at rest is exactly the artist's skin, however its joints are bent. (The rotation of
// the displacement itself, Coriolis and centrifugal, is left out: it is of second order. X'' is
// scaled by 1 / (1 + |X''| / limit): animated characters stop at once, flesh cannot.) Morph
// targets act before the skin does, and are therefore the displacements as they are.
#include "sinew/io/soften.h"

#include "sinew/pbd.h"

#include "io/bytes/source.h"
#include "io/gltf/amend.h"
#include "io/gltf/skin.h"
#include "io/public/bytes.h"
#include "io/soften/soften.h"
#include "math/svd.h"

#include <math.h>
#include <string.h>

static const double longest_step = 1.0 / 60; // of the simulation [s]

// Accelerations are differences over this time: animations have 24 to 30 keys a second, and are
// straight between them. [s]
static const double time_difference = 1.0 / 30;

// A primitive of a mesh that follows the skin.
typedef struct soft_part {
    int32_t mesh, primitive;
    int32_t first; // of its points among all
} soft_part;

typedef struct softener {
    sinew_context *context;
    const sinew_source *source;
    const sinew_soften_def *def;
    const sn_gltf *gltf;
    sn_arena *arena;
    sinew_soften_report *report;

    const sn_gltf_skin *skin;
    int32_t animation; // -1: none
    double unit;       // metres in a unit of the mesh: that of the file, times the joints' scale

    int32_t part_count, point_count, index_count;
    soft_part *parts;
    double *points;  // as they were bound, in the units of the mesh
    double *rest;    // the same in metres
    double *weights; // [point * joint_count + joint]
    int32_t *indices;

    sn_lattice lattice;
    sinew_pbd *pbd;
    sn_gltf_node *nodes;           // as the animation has them
    double *mass;                  // [node of the flesh] [kg]
    int32_t *first_weight, *joint; // [node + 1], [weight]: the joints that each node follows
    double *weight;                // [weight]
    double *path[3];               // where the skin has the nodes before, at and after a time [m]
    sn_mat3 *rotation;             // [node] of the skin at that time
    sn_vec3 *sag;                  // [node] R0' g [m/s^2]
    double *forces, *flesh;

    int32_t image_count;
    double *times;
    double *images; // what the flesh adds to the points, image after image
} softener;

sinew_soften_def sinew_default_soften_def(void) {
    return (sinew_soften_def){.tets = 20000,
                              .young = 5e4,
                              .poisson = 0.45,
                              .density = 1000,
                              .damping = 3,
                              .core = 0.6,
                              .gravity = {0, -9.81, 0},
                              .limit = 50,
                              .unit = 1,
                              .rate = 30,
                              .preroll = 1,
                              .targets = 48,
                              .filled = SN_DEF_FILLED};
}

static sinew_status check_range(sinew_context *context, const char *name, double value, double low,
                                double high) {
    if (value >= low && value <= high) {
        return SINEW_OK;
    }
    return sn_fail(context, SINEW_INVALID_ARGUMENT, "%s is %g; it must lie between %g and %g", name,
                   value, low, high);
}

static sinew_status check_def(sinew_context *context, const sinew_soften_def *def) {
    SN_TRY(SN_CHECK_DEF(context, def, "sinew_default_soften_def"));
    SN_TRY(check_range(context, "tets", def->tets, 100, 1e7));
    SN_TRY(check_range(context, "young", def->young, 1e-6, 1e15));
    SN_TRY(check_range(context, "poisson", def->poisson, 0, 0.4999));
    SN_TRY(check_range(context, "density", def->density, 1e-6, 1e9));
    SN_TRY(check_range(context, "damping", def->damping, 0, 1e9));
    SN_TRY(check_range(context, "core", def->core, 0, 1));
    SN_TRY(check_range(context, "limit", def->limit, 1e-3, 1e9));
    SN_TRY(check_range(context, "unit", def->unit, 1e-9, 1e9));
    SN_TRY(check_range(context, "rate", def->rate, 1, 240));
    SN_TRY(check_range(context, "preroll", def->preroll, 0, 60));
    SN_TRY(check_range(context, "tolerance", def->tolerance, 0, 1e9));
    SN_TRY(check_range(context, "targets", def->targets, 1, 1000));
    for (int k = 0; k < 3; k++) {
        SN_TRY(check_range(context, "gravity", def->gravity[k], -1e6, 1e6));
    }
    return SINEW_OK;
}

static sinew_status choose_animation(softener *s) {
    s->animation = s->gltf->animation_count > 0 ? 0 : -1;
    if (s->def->animation) {
        for (int32_t i = 0; i < s->gltf->animation_count; i++) {
            const char *name = s->gltf->animations[i].name;
            if (name && strcmp(name, s->def->animation) == 0) {
                s->animation = i;
                return SINEW_OK;
            }
        }
    }

    if (s->def->animation) {
        return sn_source_fail(s->context, s->source, SINEW_NOT_FOUND,
                              "none of its %d animations is called \"%s\"",
                              (int)s->gltf->animation_count, s->def->animation);
    }
    if (s->animation < 0) {
        return sn_source_fail(s->context, s->source, SINEW_NOT_FOUND,
                              "it has no animation, so that its flesh would not move");
    }

    return SINEW_OK;
}

// Whether a node shows a mesh by the first skin, and is the first to show it.
static bool is_soft(const softener *s, int32_t node) {
    const sn_gltf_node *nodes = s->gltf->nodes;
    if (nodes[node].skin != 0 || nodes[node].mesh < 0) {
        return false;
    }
    for (int32_t i = 0; i < node; i++) {
        if (nodes[i].skin == 0 && nodes[i].mesh == nodes[node].mesh) {
            return false;
        }
    }
    return true;
}

static bool follows_joints(const sn_gltf_primitive *primitive) {
    return primitive->joint_sets > 0 && primitive->joints && primitive->weights &&
           primitive->point_count > 0;
}

static sinew_status count_parts(softener *s) {
    int64_t points = 0, indices = 0;

    // Primitives that follow the first skin; others stay as they are.
    for (int32_t i = 0; i < s->gltf->node_count; i++) {
        if (!is_soft(s, i)) {
            continue;
        }
        const sn_gltf_mesh *mesh = &s->gltf->meshes[s->gltf->nodes[i].mesh];
        s->report->meshes++;
        for (int32_t k = 0; k < mesh->primitive_count; k++) {
            if (follows_joints(&mesh->primitives[k])) {
                s->part_count++;
                points += mesh->primitives[k].point_count;
                indices += mesh->primitives[k].index_count;
            }
        }
    }

    if (s->part_count == 0) {
        return sn_source_fail(
            s->context, s->source, SINEW_NOT_FOUND,
            "it has no skinned mesh; `sinew rig` makes one soft that has no skin");
    }
    if (points > INT32_MAX / 8 || indices > INT32_MAX / 8 ||
        points * s->skin->joint_count > INT32_MAX) {
        return sn_source_fail(s->context, s->source, SINEW_UNSUPPORTED,
                              "%lld points that follow %d joints are too many", (long long)points,
                              (int)s->skin->joint_count);
    }

    // Room for all of them.
    s->parts = SN_PUSH(s->arena, soft_part, s->part_count);
    s->points = SN_PUSH(s->arena, double, 3 * points);
    s->rest = SN_PUSH(s->arena, double, 3 * points);
    s->weights = SN_PUSH(s->arena, double, points * s->skin->joint_count);
    s->indices = SN_PUSH(s->arena, int32_t, indices);

    return sn_arena_status(s->arena);
}

static sinew_status add_part(softener *s, int32_t mesh, int32_t number) {
    const sn_gltf_primitive *primitive = &s->gltf->meshes[mesh].primitives[number];
    size_t joints = (size_t)s->skin->joint_count;
    size_t each = 4 * (size_t)primitive->joint_sets;
    int32_t first = s->point_count;

    s->parts[s->part_count++] = (soft_part){mesh, number, first};

    // Points and triangles.
    memcpy(s->points + 3 * (size_t)first, primitive->points,
           3 * (size_t)primitive->point_count * sizeof(double));
    for (int32_t i = 0; i < primitive->index_count; i++) {
        s->indices[s->index_count++] = first + primitive->indices[i];
    }

    // Weights as full rows, normalized: files round them.
    for (int32_t i = 0; i < primitive->point_count; i++) {
        double *row = s->weights + (size_t)(first + i) * joints;
        double sum = 0;
        for (size_t k = (size_t)i * each; k < (size_t)(i + 1) * each; k++) {
            row[primitive->joints[k]] += primitive->weights[k];
            sum += primitive->weights[k];
        }
        if (!(sum > 0)) {
            return sn_source_fail(s->context, s->source, SINEW_INVALID_DATA,
                                  "vertex %d of mesh %d has no weights", (int)i, (int)mesh);
        }
        for (size_t j = 0; j < joints; j++) {
            row[j] /= sum;
        }
    }

    s->point_count += primitive->point_count;
    return SINEW_OK;
}

// S = sum_k w_k M_k, as matrix and translation.
static void blend(const double *matrices, int32_t count, const int32_t *joints,
                  const double *weights, sn_mat3 *S, sn_vec3 *t) {
    *S = (sn_mat3){{{0}}};
    *t = sn_v3(0, 0, 0);
    for (int32_t k = 0; k < count; k++) {
        const double *m = matrices + 16 * (size_t)joints[k];
        for (int r = 0; r < 3; r++) {
            for (int c = 0; c < 3; c++) {
                S->m[r][c] += weights[k] * m[4 * c + r];
            }
        }
        *t = sn_madd(*t, weights[k], sn_v3(m[12], m[13], m[14]));
    }
}

static sinew_status pose(softener *s, double time, double **matrices) {
    sn_gltf_pose(s->gltf, s->animation, time, s->nodes);
    return sn_gltf_compute_joints(s->gltf, s->nodes, 0, s->arena, matrices);
}

// The scale from the mesh to the scene, by the joints as they stand without an animation.
static sinew_status find_unit(softener *s) {
    double *matrices;
    sn_arena_mark mark = sn_arena_get_mark(s->arena);
    SN_TRY(sn_gltf_compute_joints(s->gltf, s->gltf->nodes, 0, s->arena, &matrices));

    // Joints may scale the mesh; volume is what the flesh feels.
    double smallest = INFINITY, largest = 0;
    for (int32_t j = 0; j < s->skin->joint_count; j++) {
        sn_mat3 S;
        sn_vec3 t;
        blend(matrices, 1, &j, &(double){1}, &S, &t);
        double scale = cbrt(fabs(sn_mat3_det(S)));
        smallest = fmin(smallest, scale);
        largest = fmax(largest, scale);
    }
    sn_arena_rewind(s->arena, mark);

    if (!(smallest > 1e-9) || !isfinite(largest)) {
        return sn_source_fail(s->context, s->source, SINEW_INVALID_DATA,
                              "its joints have a scale of %g; it must be above 0", smallest);
    }

    // The flesh lives in metres.
    s->unit = s->def->unit * largest;
    for (int32_t i = 0; i < 3 * s->point_count; i++) {
        s->rest[i] = s->unit * s->points[i];
        if (!isfinite(s->rest[i])) {
            return sn_source_fail(s->context, s->source, SINEW_INVALID_DATA,
                                  "vertex %d is not finite", (int)(i / 3));
        }
    }

    return SINEW_OK;
}

static sinew_status collect_surface(softener *s) {
    SN_TRY(count_parts(s));

    // Fill what was counted, in the same order.
    s->part_count = 0;
    for (int32_t i = 0; i < s->gltf->node_count; i++) {
        if (!is_soft(s, i)) {
            continue;
        }
        int32_t mesh = s->gltf->nodes[i].mesh;
        for (int32_t k = 0; k < s->gltf->meshes[mesh].primitive_count; k++) {
            if (follows_joints(&s->gltf->meshes[mesh].primitives[k])) {
                SN_TRY(add_part(s, mesh, k));
            }
        }
    }

    s->report->points = s->point_count;
    s->report->joints = s->skin->joint_count;
    s->report->other_skins = s->gltf->skin_count - 1;

    // Joints without any vertex are worth a word to the user.
    for (int32_t j = 0; j < s->skin->joint_count; j++) {
        bool bare = true;
        for (int32_t i = 0; i < s->point_count && bare; i++) {
            bare = s->weights[(size_t)i * (size_t)s->skin->joint_count + (size_t)j] == 0;
        }
        s->report->bare_joints += bare;
    }

    return find_unit(s);
}

// Where a joint was when the mesh was bound. [m]
static sn_vec3 find_joint(const softener *s, const double *world, int32_t joint) {
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
static sn_vec3 find_tip(const softener *s, int32_t joint, sn_vec3 from) {
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
static sinew_status collect_bones(const softener *s, int32_t **parents, sn_soft_bone **bones,
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
static sinew_status collect_masses(softener *s) {
    const sinew_mesh *mesh = &s->lattice.mesh;
    s->mass = SN_PUSH(s->arena, double, mesh->point_count);
    SN_TRY(sn_arena_status(s->arena));
    double h = s->lattice.cell;
    for (int32_t i = 0; i < 4 * mesh->element_count; i++) {
        // Of the five tets in a cell, the last has a third of its volume.
        double volume = h * h * h / (i / 4 % 5 == 4 ? 3 : 6);
        s->mass[mesh->indices[i]] += 0.25 * s->def->density * volume;
    }
    return SINEW_OK;
}

// The weights of the lattice without zeros: most nodes follow two or three joints.
static sinew_status collect_weights(softener *s) {
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

static sinew_status build_flesh(softener *s) {
    sn_lattice_def def = {.points = s->rest,
                          .point_count = s->point_count,
                          .indices = s->indices,
                          .index_count = s->index_count,
                          .weights = s->weights,
                          .joint_count = s->skin->joint_count,
                          .tets = s->def->tets,
                          .core = s->def->core};

    // A lattice of tets around the bones, with weights from the skin.
    int32_t *parents;
    sn_soft_bone *bones;
    SN_TRY(collect_bones(s, &parents, &bones, &def.bone_count));
    def.parents = parents;
    def.bones = bones;
    SN_TRY(sn_report_progress(s->context, "filling the character", -1));
    SN_TRY(sn_lattice_create(s->arena, &def, &s->lattice));

    // Position dynamics in the bind pose, moved by forces of inertia.
    sinew_pbd_material material =
        sinew_isotropic_pbd_material(s->def->young, s->def->poisson, s->def->density);
    sinew_pbd_def pbd = sinew_default_pbd_def();
    pbd.mode = SINEW_PBD_COMPLIANCE;
    pbd.damping = s->def->damping;
    pbd.materials = &material;
    pbd.material_count = 1;
    pbd.kinematic = s->lattice.held;
    memset(pbd.gravity, 0, sizeof pbd.gravity); // it is among the forces
    SN_TRY(sinew_pbd_create(s->context, &s->lattice.mesh, &pbd, &s->pbd));

    // Figures, masses and weights.
    s->report->nodes = s->lattice.mesh.point_count;
    s->report->held_nodes = s->lattice.held_count;
    s->report->tets = s->lattice.mesh.element_count;
    SN_TRY(collect_masses(s));
    return collect_weights(s);
}

// Where the skin has every node of the flesh at a time, and how it rotates them if asked. [m]
static sinew_status follow_skin(softener *s, double time, double *x, sn_mat3 *rotation) {
    sn_arena_mark mark = sn_arena_get_mark(s->arena);
    double *matrices;
    SN_TRY(pose(s, time, &matrices));
    for (int32_t i = 0; i < s->lattice.mesh.point_count; i++) {
        sn_mat3 S;
        sn_vec3 t;
        int32_t first = s->first_weight[i];
        blend(matrices, s->first_weight[i + 1] - first, s->joint + first, s->weight + first, &S,
              &t);
        sn_vec3 p = sn_scale(1 / s->unit, sn_load3(s->lattice.mesh.points + 3 * (size_t)i));
        sn_store3(x + 3 * (size_t)i, sn_scale(s->def->unit, sn_add(sn_mat3_apply(S, p), t)));
        if (rotation) {
            rotation[i] = sn_polar3(NULL, S);
        }
    }

    sn_arena_rewind(s->arena, mark);
    return SINEW_OK;
}

// The time of the animation at a time of the run. A loop goes on for ever; otherwise the first pose
// holds while the flesh settles.
static double wrap(const softener *s, double time) {
    double length = s->report->seconds;
    if (s->def->loop && length > 0) {
        return time - length * floor(time / length);
    }
    return fmin(fmax(time, 0), length);
}

// The forces of inertia at a time of the run. At the ends of an animation that is no loop the skin
// is taken to move on as it does: a character that begins in the middle of a step is not jolted.
static sinew_status find_forces(softener *s, double time) {
    double dt = time_difference;
    if (!s->def->loop) {
        time = fmin(fmax(time, dt), s->report->seconds - dt);
    }

    SN_TRY(follow_skin(s, wrap(s, time - dt), s->path[0], NULL));
    SN_TRY(follow_skin(s, wrap(s, time), s->path[1], s->rotation));
    SN_TRY(follow_skin(s, wrap(s, time + dt), s->path[2], NULL));
    sn_vec3 g = sn_load3(s->def->gravity);
    for (int32_t i = 0; i < s->lattice.mesh.point_count; i++) {
        size_t at = 3 * (size_t)i;
        sn_vec3 sum = sn_add(sn_load3(s->path[0] + at), sn_load3(s->path[2] + at));
        sn_vec3 a = sn_scale(1 / (dt * dt), sn_madd(sum, -2, sn_load3(s->path[1] + at)));
        a = sn_scale(1 / (1 + sn_length(a) / s->def->limit), a);
        sn_vec3 felt = sn_mat3_apply_transposed(s->rotation[i], sn_sub(g, a));
        sn_store3(s->forces + at, sn_scale(s->mass[i], sn_sub(felt, s->sag[i])));
    }

    return SINEW_OK;
}

static sinew_status advance(softener *s, double from, double to) {
    int32_t steps = (int32_t)ceil((to - from) / longest_step - 1e-9);
    for (int32_t i = 1; i <= steps; i++) {
        double time = from + (to - from) * i / steps;
        bool rests = time <= 0 && !s->def->loop;
        if (!rests) {
            SN_TRY(find_forces(s, time));
        }
        SN_TRY(sinew_pbd_step(s->pbd, (to - from) / steps, NULL, rests ? NULL : s->forces));
    }
    return SINEW_OK;
}

// The displacements of the surface at a key, in the units of the mesh.
static void keep_image(softener *s, int32_t image) {
    sinew_pbd_get_positions(s->pbd, s->flesh);
    double *out = s->images + 3 * (size_t)image * (size_t)s->point_count;
    for (size_t i = 0; i < (size_t)s->point_count; i++) {
        sn_vec3 d = {0, 0, 0};
        for (size_t k = 8 * i; k < 8 * (i + 1); k++) {
            size_t node = 3 * (size_t)s->lattice.point_nodes[k];
            d = sn_madd(d, s->lattice.point_shares[k],
                        sn_sub(sn_load3(s->flesh + node), sn_load3(s->lattice.mesh.points + node)));
        }
        sn_store3(out + 3 * i, sn_scale(1 / s->unit, d));
        s->report->largest_displacement = fmax(s->report->largest_displacement, sn_length(d));
    }
}

static void measure(softener *s, double rest_volume) {
    sinew_pbd_report now;
    sinew_pbd_measure(s->pbd, &now);
    s->report->inverted = now.inverted > s->report->inverted ? now.inverted : s->report->inverted;
    s->report->largest_volume_change =
        fmax(s->report->largest_volume_change, fabs(now.volume / rest_volume - 1));
}

static double animation_length(const softener *s) {
    const sn_gltf_animation *animation = &s->gltf->animations[s->animation];
    double last = 0;
    for (int32_t i = 0; i < animation->channel_count; i++) {
        const sn_gltf_channel *channel = &animation->channels[i];
        if (channel->key_count > 0) {
            last = fmax(last, channel->times[channel->key_count - 1]);
        }
    }
    return last;
}

static sinew_status make_keys(softener *s) {
    double length = animation_length(s);
    double keys = floor(length * s->def->rate + 1e-6) + 1;
    if (keys * 3 * s->point_count > 1 << 28) {
        return sn_source_fail(s->context, s->source, SINEW_UNSUPPORTED,
                              "%.0f keys of %d vertices are too many; a lower rate needs fewer",
                              keys, (int)s->point_count);
    }

    s->report->seconds = length;
    s->image_count = (int32_t)keys;
    s->report->images = s->image_count;
    s->times = SN_PUSH(s->arena, double, s->image_count);
    s->images = SN_PUSH(s->arena, double, 3 * (size_t)s->image_count * (size_t)s->point_count);
    if (s->times) {
        for (int32_t i = 0; i < s->image_count; i++) {
            s->times[i] = i / s->def->rate;
        }
    }

    return sn_arena_status(s->arena);
}

// R0' g: what gravity does at the start belongs to the shape in the file.
static sinew_status find_sag(softener *s) {
    SN_TRY(follow_skin(s, 0, s->path[0], s->rotation));
    for (int32_t i = 0; i < s->lattice.mesh.point_count; i++) {
        s->sag[i] = sn_mat3_apply_transposed(s->rotation[i], sn_load3(s->def->gravity));
    }
    return SINEW_OK;
}

static sinew_status simulate(softener *s) {
    SN_TRY(make_keys(s));
    SN_TRY(find_sag(s));
    sinew_pbd_report rest;
    sinew_pbd_measure(s->pbd, &rest);

    // Run the motion before the first key, so that the flesh does not start with a jerk.
    double settled = 0, share = s->def->preroll / (s->def->preroll + s->report->seconds + 1e-9);
    int32_t parts = (int32_t)ceil(s->def->preroll * s->def->rate - 1e-9);
    for (int32_t i = 0; i < parts; i++) {
        SN_TRY(sn_report_progress(s->context, "letting the flesh settle", share * i / parts));
        double next = s->def->preroll * (i + 1) / parts;
        SN_TRY(advance(s, settled - s->def->preroll, next - s->def->preroll));
        settled = next;
    }

    // Record an image at each key.
    for (int32_t i = 0; i < s->image_count; i++) {
        SN_TRY(sn_report_progress(s->context, "moving the flesh",
                                  share + (1 - share) * i / s->image_count));
        if (i > 0) {
            SN_TRY(advance(s, s->times[i - 1], s->times[i]));
        }
        keep_image(s, i);
        measure(s, rest.volume);
    }

    return SINEW_OK;
}

// The shapes go to the parts of the meshes they belong to.
static sinew_status write(softener *s, sn_buffer *out) {
    size_t size = 3 * (size_t)s->point_count;
    double tolerance = s->def->tolerance;
    if (!(tolerance > 0)) {
        double low[3] = {INFINITY, INFINITY, INFINITY}, high[3] = {-INFINITY, -INFINITY, -INFINITY};
        for (size_t i = 0; i < size; i++) {
            low[i % 3] = fmin(low[i % 3], s->rest[i]);
            high[i % 3] = fmax(high[i % 3], s->rest[i]);
        }
        tolerance = 1e-3 * fmax(high[0] - low[0], fmax(high[1] - low[1], high[2] - low[2]));
    }

    // Each of three coordinates may be off by a third of a distance's square.
    SN_TRY(sn_report_progress(s->context, "finding the shapes", -1));
    sn_soft_shapes shapes;
    SN_TRY(sn_soft_shapes_create(s->arena, s->images, s->image_count, size, s->def->targets,
                                 tolerance / s->unit / sqrt(3.0), &shapes));
    s->report->targets = shapes.count;
    s->report->error = sqrt(3.0) * s->unit * shapes.error;
    int32_t targets = shapes.count > 0 ? shapes.count : 1; // flesh that never moved: one of zeros

    double *weights = SN_PUSH(s->arena, double, (size_t)s->image_count *(size_t)targets);
    sn_gltf_added_shapes *parts = SN_PUSH(s->arena, sn_gltf_added_shapes, s->part_count);
    SN_TRY(sn_arena_status(s->arena));
    for (int32_t i = 0; i < s->image_count; i++) {
        memcpy(weights + (size_t)i * (size_t)targets,
               shapes.weights + (size_t)i * (size_t)s->def->targets,
               (size_t)targets * sizeof *weights);
    }

    for (int32_t i = 0; i < s->part_count; i++) {
        const soft_part *part = &s->parts[i];
        int32_t count = s->gltf->meshes[part->mesh].primitives[part->primitive].point_count;
        double *own = SN_PUSH(s->arena, double, 3 * (size_t)count * (size_t)targets);
        SN_TRY(sn_arena_status(s->arena));
        for (int32_t k = 0; k < targets; k++) {
            memcpy(own + 3 * (size_t)k * (size_t)count,
                   shapes.shapes + (size_t)k * size + 3 * (size_t)part->first,
                   3 * (size_t)count * sizeof *own);
        }
        parts[i] = (sn_gltf_added_shapes){part->mesh, part->primitive, count, own};
    }

    sn_gltf_amendment amendment = {.target_count = targets,
                                   .part_count = s->part_count,
                                   .parts = parts,
                                   .animation = s->animation,
                                   .key_count = s->image_count,
                                   .times = s->times,
                                   .weights = weights};
    return sn_gltf_amend(s->context, s->source, s->gltf, &amendment, out);
}

static sinew_status soften(softener *s, sn_buffer *out) {
    if (s->gltf->skin_count == 0 || s->gltf->skins[0].joint_count == 0) {
        return sn_source_fail(s->context, s->source, SINEW_NOT_FOUND,
                              "it has no skin; `sinew rig` makes a mesh soft that has none");
    }
    s->skin = &s->gltf->skins[0];
    s->nodes = SN_PUSH(s->arena, sn_gltf_node, s->gltf->node_count);
    SN_TRY(sn_arena_status(s->arena));

    SN_TRY(choose_animation(s));
    SN_TRY(collect_surface(s));
    SN_TRY(build_flesh(s));
    SN_TRY(simulate(s));
    return write(s, out);
}

sinew_status sinew_soften(sinew_context *context, const sinew_source *source,
                          const sinew_soften_def *def, sinew_bytes *out,
                          sinew_soften_report *report) {
    SN_TRY(check_def(context, def));
    if (!source || !out) {
        return sn_fail(context, SINEW_INVALID_ARGUMENT, "%s is NULL", source ? "out" : "source");
    }

    sinew_soften_report own;
    sn_arena arena = sn_arena_create(context);
    sn_gltf_file file;
    softener s = {.context = context,
                  .source = source,
                  .def = def,
                  .arena = &arena,
                  .report = report ? report : &own};
    *s.report = (sinew_soften_report){0};

    // A failure leaves the output as it was.
    size_t size = out->buffer.size;
    sinew_status status = sn_gltf_read(context, source, &file);
    if (status == SINEW_OK) {
        s.gltf = &file.view;
        status = soften(&s, &out->buffer);
    }
    if (status != SINEW_OK) {
        out->buffer.size = size;
    }

    sinew_pbd_destroy(s.pbd);
    sn_gltf_file_destroy(&file);
    sn_arena_destroy(&arena);

    return status;
}
