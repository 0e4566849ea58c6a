// The animation that a character performs: one of its own, or that of another file.
//
// The motion of another file is transferred joint by joint (sinew_motion_retarget) to the skeleton
// in the bind pose. With the transforms O_j of the joints since then, P_j the matrices of their
// nodes in the bind pose, and A_j those of their parent nodes, the nodes get the local transforms
//
//   A_j^-1 O_j P_j,
//
// as an animation. A first sample that shows the rest pose, from which the motion jumps, is left
// out. The character starts where it was bound, and its lowest point during the motion
// is as high as it was then: motion files have their own ground.
#include "sinew/io/motion_file.h"

#include "io/gltf/skeleton.h"
#include "io/gltf/skin.h"
#include "io/motion/pair_names.h"
#include "io/soften/softener.h"
#include "math/rigid.h"

#include <math.h>
#include <string.h>

typedef struct affine {
    sn_mat3 A;
    sn_vec3 t;
} affine;

typedef struct borrower {
    sn_softener *s;
    sinew_skeleton *source, *target;
    sinew_motion *given, *unused, *motion;
    int32_t count;          // joints
    int32_t *order;         // [joint of the skin] its joint of the skeleton
    affine *bound;          // [joint of the skin] P_j
    affine *above;          // [joint of the skin] from its joint above, or from the world, to A_j
    int32_t *parents;       // [joint of the skin] the joint above, or -1
    sinew_transform *moved; // [joint of the skeleton] O_j
    affine *world;          // [joint of the skin] O_j P_j
    sn_vec3 shift;          // of the whole motion
    int32_t first;          // sample that counts: many files begin with the rest pose
} borrower;

sinew_status sn_soft_choose_animation(sn_softener *s) {
    if (s->def->motion) {
        return sn_soft_borrow_motion(s);
    }

    s->animation = s->gltf->animation_count > 0 ? 0 : -1;

    // By name.
    if (s->def->animation) {
        for (int32_t i = 0; i < s->gltf->animation_count; i++) {
            const char *name = s->gltf->animations[i].name;
            if (name && strcmp(name, s->def->animation) == 0) {
                s->animation = i;
                return SINEW_OK;
            }
        }
        return sn_source_fail(s->context, s->source, SINEW_NOT_FOUND,
                              "none of its %d animations is called \"%s\"",
                              (int)s->gltf->animation_count, s->def->animation);
    }

    // Otherwise the first one.
    if (s->animation < 0) {
        return sn_source_fail(s->context, s->source, SINEW_NOT_FOUND,
                              "it has no animation, so that its flesh would not move; take the "
                              "motion of another file");
    }

    return SINEW_OK;
}

double sn_soft_animation_length(const sn_softener *s) {
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

static affine load_affine(const double m[16]) {
    affine a = {.t = sn_v3(m[12], m[13], m[14])};
    for (int i = 0; i < 9; i++) {
        a.A.m[i / 3][i % 3] = m[4 * (i % 3) + i / 3];
    }
    return a;
}

// First b, then a.
static affine multiply(affine a, affine b) {
    return (affine){sn_mat3_mul(a.A, b.A), sn_add(sn_mat3_apply(a.A, b.t), a.t)};
}

static affine invert(affine a) {
    sn_mat3 inverse = sn_mat3_inverse(a.A);
    return (affine){inverse, sn_scale(-1, sn_mat3_apply(inverse, a.t))};
}

static affine identity(void) {
    return (affine){sn_mat3_identity(), {0, 0, 0}};
}

// P_j, and what is between a joint and the joint above it.
static sinew_status find_bound(borrower *b) {
    sn_softener *s = b->s;
    double *world, bind[16];
    SN_TRY(sn_gltf_compute_matrices(s->file, s->arena, &world));
    sn_gltf_bind_matrix(s->file, 0, world, bind);

    int32_t *joint_of = SN_PUSH(s->arena, int32_t, s->file->node_count);
    SN_TRY(sn_arena_status(s->arena));
    for (int32_t i = 0; i < s->file->node_count; i++) {
        joint_of[i] = -1;
    }
    for (int32_t j = 0; j < b->count; j++) {
        joint_of[s->skin->joints[j]] = j;
    }

    for (int32_t j = 0; j < b->count; j++) {
        int32_t node = s->skin->joints[j];
        b->bound[j] = s->skin->inverse_bind
                          ? multiply(load_affine(bind),
                                     invert(load_affine(s->skin->inverse_bind + 16 * (size_t)j)))
                          : load_affine(world + 16 * (size_t)node);

        // Nodes between joints keep their transforms.
        int32_t parent = s->file->nodes[node].parent, above = parent;
        while (above >= 0 && joint_of[above] < 0) {
            above = s->file->nodes[above].parent;
        }
        b->parents[j] = above < 0 ? -1 : joint_of[above];
        b->above[j] = parent < 0 ? identity() : load_affine(world + 16 * (size_t)parent);
        if (above >= 0) {
            b->above[j] = multiply(invert(load_affine(world + 16 * (size_t)above)), b->above[j]);
        }
    }

    return SINEW_OK;
}

// O_j P_j at a sample of the motion.
static sinew_status find_world(borrower *b, int32_t sample) {
    const sinew_transform *local = sinew_motion_frame(b->motion, sample);
    SN_TRY(sinew_skeleton_compute_world(b->target, local, b->moved));
    sinew_skeleton_compute_offsets(b->target, b->moved, b->moved);
    for (int32_t j = 0; j < b->count; j++) {
        sn_rigid rigid = sn_rigid_load(&b->moved[b->order[j]]);
        affine offset = {sn_quat_to_mat3(rigid.q), sn_add(rigid.t, b->shift)};
        b->world[j] = multiply(offset, b->bound[j]);
    }
    return SINEW_OK;
}

// The height of the lowest vertex at a sample, with the joints at O_j or at rest. In the units of
// the file.
static double find_lowest(const borrower *b, bool moved, const affine *placed) {
    const sn_softener *s = b->s;
    double lowest = INFINITY;
    for (int32_t i = 0; i < s->point_count; i++) {
        sn_vec3 p = sn_load3(s->points + 3 * (size_t)i);
        sn_vec3 X = sn_add(sn_mat3_apply(placed->A, p), placed->t), x = {0, 0, 0};
        const double *row = s->weights + (size_t)i * (size_t)b->count;
        for (int32_t j = 0; j < b->count; j++) {
            if (row[j] > 0) {
                sn_rigid rigid = sn_rigid_load_unit(&b->moved[b->order[j]]);
                x = sn_madd(x, row[j], moved ? sn_rigid_apply(rigid, X) : X);
            }
        }
        lowest = fmin(lowest, x.y);
    }
    return lowest;
}

// The largest angle by which a joint has rotated since the rest pose. [rad]
static double find_rotation(const borrower *b) {
    double largest = 0;
    for (int32_t j = 0; j < b->count; j++) {
        double w = fmin(fabs(b->moved[j].rotation[3]), 1);
        largest = fmax(largest, 2 * acos(w));
    }
    return largest;
}

// Motion capture often begins with one sample of the rest pose and then jumps.
static sinew_status skip_rest(borrower *b) {
    if (sinew_motion_frame_count(b->motion) < 3) {
        return SINEW_OK;
    }
    SN_TRY(find_world(b, 0));
    double before = find_rotation(b);
    SN_TRY(find_world(b, 1));
    b->first = before < 0.02 && find_rotation(b) > 0.35;
    return SINEW_OK;
}

// Puts the motion where the character was bound.
static sinew_status find_shift(borrower *b) {
    sn_softener *s = b->s;
    double *world, bind[16];
    SN_TRY(sn_gltf_compute_matrices(s->file, s->arena, &world));
    sn_gltf_bind_matrix(s->file, 0, world, bind);
    affine placed = load_affine(bind);

    int32_t root = 0;
    while (b->parents[root] >= 0) {
        root = b->parents[root];
    }

    double rest = find_lowest(b, false, &placed), lowest = INFINITY;
    sn_vec3 start = {0, 0, 0};
    for (int32_t i = b->first; i < sinew_motion_frame_count(b->motion); i++) {
        SN_TRY(find_world(b, i));
        lowest = fmin(lowest, find_lowest(b, true, &placed));
        start = i == b->first ? b->world[root].t : start;
    }
    b->shift = sn_v3(b->bound[root].t.x - start.x, rest - lowest, b->bound[root].t.z - start.z);

    return SINEW_OK;
}

// The local transform of a joint's node: translation, rotation, scale.
static void find_local(const borrower *b, int32_t j, double translation[3], double rotation[4]) {
    affine above = b->above[j];
    if (b->parents[j] >= 0) {
        above = multiply(b->world[b->parents[j]], above);
    }
    affine local = multiply(invert(above), b->world[j]);

    sn_quat q = sn_quat_from_mat3(sn_polar3(NULL, local.A));
    sn_store3(translation, local.t);
    memcpy(rotation, (double[4]){q.x, q.y, q.z, q.w}, 4 * sizeof *rotation);
}

// Two channels for each joint.
static sinew_status make_channels(borrower *b, sn_gltf_animation *animation) {
    sn_softener *s = b->s;
    int32_t keys = sinew_motion_frame_count(b->motion) - b->first;
    size_t count = (size_t)b->count;
    sn_gltf_channel *channels = SN_PUSH(s->arena, sn_gltf_channel, 2 * count);
    double *times = SN_PUSH(s->arena, double, keys);
    double *values = SN_PUSH(s->arena, double, 7 * (size_t)keys * count);
    SN_TRY(sn_arena_status(s->arena));

    for (int32_t i = 0; i < keys; i++) {
        times[i] = i * sinew_motion_frame_time(b->motion);
        SN_TRY(find_world(b, b->first + i));
        for (size_t j = 0; j < count; j++) {
            double *translation = values + (j * (size_t)keys + (size_t)i) * 3;
            double *rotation = values + (3 * count + 4 * j) * (size_t)keys + 4 * (size_t)i;
            find_local(b, (int32_t)j, translation, rotation);

            // q and -q are the same rotation: keep the sign of the key before.
            double dot = 0;
            for (int k = 0; k < 4; k++) {
                dot += i > 0 ? rotation[k] * rotation[k - 4] : 0;
            }
            for (int k = 0; k < 4 && dot < 0; k++) {
                rotation[k] = -rotation[k];
            }
        }
    }

    for (size_t j = 0; j < count; j++) {
        sn_gltf_channel channel = {.node = s->skin->joints[j],
                                   .path = SN_GLTF_TRANSLATION,
                                   .key_count = keys,
                                   .components = 3,
                                   .times = times,
                                   .values = values + 3 * j * (size_t)keys};
        channels[2 * j] = channel;
        channel.path = SN_GLTF_ROTATION;
        channel.components = 4;
        channel.values = values + (3 * count + 4 * j) * (size_t)keys;
        channels[2 * j + 1] = channel;
    }

    *animation = (sn_gltf_animation){"", 2 * b->count, channels};
    return SINEW_OK;
}

// Reads the motion and the skeleton, and transfers one to the other.
static sinew_status transfer(borrower *b) {
    sn_softener *s = b->s;
    SN_TRY(sinew_motion_read(s->context, s->def->motion, NULL, &b->source, &b->given));

    sn_gltf_skeleton_def skeleton = {
        .file = s->source->name, .unit = 1, .frame_time = 1, .order = b->order};
    sn_gltf still = *s->file;
    still.animation_count = 0;
    SN_TRY(sn_gltf_create_skeleton(s->context, &still, &skeleton, &b->target, &b->unused));

    sinew_retarget_def def = sinew_default_retarget_def();
    sinew_name_pair *pairs;
    SN_TRY(sn_motion_pair_names(s->arena, b->source, b->target, s->def->pairs, s->def->pair_count,
                                &pairs, &def.pair_count));
    def.pairs = pairs;
    def.scale = s->def->scale;

    sinew_retarget_report report;
    SN_TRY(sinew_motion_retarget(s->context, b->source, b->given, b->target, &def, &report,
                                 &b->motion));
    s->report->matched_joints = report.matched;
    s->report->motion_scale = def.scale > 0 ? def.scale : report.fitting_scale;

    return SINEW_OK;
}

static sinew_status borrow(borrower *b) {
    sn_softener *s = b->s;
    b->order = SN_PUSH(s->arena, int32_t, b->count);
    b->bound = SN_PUSH(s->arena, affine, b->count);
    b->above = SN_PUSH(s->arena, affine, b->count);
    b->parents = SN_PUSH(s->arena, int32_t, b->count);
    b->moved = SN_PUSH(s->arena, sinew_transform,
                       (size_t)b->count + 1); // one may be added above the roots
    b->world = SN_PUSH(s->arena, affine, b->count);
    sn_gltf_animation *all =
        SN_PUSH(s->arena, sn_gltf_animation, (size_t)s->file->animation_count + 1);
    SN_TRY(sn_arena_status(s->arena));

    // The motion, from the other skeleton to this one.
    SN_TRY(transfer(b));
    SN_TRY(find_bound(b));
    SN_TRY(skip_rest(b));
    SN_TRY(find_shift(b));

    // It is appended to the animations of the file.
    if (s->file->animation_count > 0) {
        memcpy(all, s->file->animations, (size_t)s->file->animation_count * sizeof *all);
    }
    SN_TRY(make_channels(b, &all[s->file->animation_count]));

    s->view.animations = all;
    s->view.animation_count = s->file->animation_count + 1;
    s->animation = s->file->animation_count;
    s->borrowed = true;
    return SINEW_OK;
}

sinew_status sn_soft_borrow_motion(sn_softener *s) {
    borrower b = {.s = s, .count = s->skin->joint_count};
    sinew_status status = borrow(&b);
    sinew_skeleton_destroy(b.source);
    sinew_skeleton_destroy(b.target);
    sinew_motion_destroy(b.given);
    sinew_motion_destroy(b.unused);
    sinew_motion_destroy(b.motion);
    return status;
}
