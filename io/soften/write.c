// Writes the motion of the flesh: as morph targets, as joints below those of the skin, and as point
// caches.
#include "sinew/io/animation_file.h"

#include "io/gltf/amend.h"
#include "io/gltf/skin.h"
#include "io/public/bytes.h"
#include "io/soften/softener.h"
#include "math/quat.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

// The requested accuracy, in the units of the mesh.
static double find_tolerance(const sn_softener *s) {
    double tolerance = s->def->tolerance;
    if (!(tolerance > 0)) {
        double low[3] = {INFINITY, INFINITY, INFINITY}, high[3] = {-INFINITY, -INFINITY, -INFINITY};
        for (size_t i = 0; i < 3 * (size_t)s->point_count; i++) {
            low[i % 3] = fmin(low[i % 3], s->rest[i]);
            high[i % 3] = fmax(high[i % 3], s->rest[i]);
        }
        tolerance = 1e-3 * fmax(high[0] - low[0], fmax(high[1] - low[1], high[2] - low[2]));
    }
    return tolerance / s->unit;
}

// What is common to all amendments: the animation, which is new if it came from another file.
static sn_gltf_amendment begin_amendment(const sn_softener *s) {
    sn_gltf_amendment amendment = {.animation = s->borrowed ? -1 : s->animation,
                                   .name = "motion",
                                   .key_count = s->image_count,
                                   .times = s->times};
    if (s->borrowed) {
        amendment.channels = s->gltf->animations[s->animation].channels;
        amendment.channel_count = s->gltf->animations[s->animation].channel_count;
    }
    return amendment;
}

static const sn_gltf_primitive *primitive_of(const sn_softener *s, const sn_soft_part *part) {
    return &s->file->meshes[part->mesh].primitives[part->primitive];
}

// Targets of one part: its rows of the shapes.
static sinew_status copy_shapes(const sn_softener *s, const sn_soft_shapes *shapes, int32_t targets,
                                const sn_soft_part *part, size_t offset, double **out) {
    size_t size = 3 * (size_t)primitive_of(s, part)->point_count;
    *out = SN_PUSH(s->arena, double, size *(size_t)targets);
    SN_TRY(sn_arena_status(s->arena));
    for (size_t k = 0; k < (size_t)targets; k++) {
        const double *shape = shapes->shapes + k * sn_softener_image_size(s);
        memcpy(*out + k * size, shape + offset + 3 * (size_t)part->first, size * sizeof **out);
    }
    return SINEW_OK;
}

static sinew_status write_targets(sn_softener *s, sn_buffer *out) {
    // Each of three coordinates may be off by a third of a distance's square.
    SN_TRY(sn_report_progress(s->context, "finding the shapes", -1));
    sn_soft_shapes shapes;
    size_t moved = 3 * (size_t)s->point_count;
    SN_TRY(sn_soft_shapes_create(s->arena, s->images, s->image_count, moved,
                                 sn_softener_image_size(s) - moved, s->def->targets,
                                 find_tolerance(s) / sqrt(3.0), &shapes));
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

    // The shapes go to the parts of the meshes they belong to.
    for (int32_t i = 0; i < s->part_count; i++) {
        const sn_soft_part *part = &s->parts[i];
        double *points, *normals = NULL;
        SN_TRY(copy_shapes(s, &shapes, targets, part, 0, &points));
        if (s->def->normals && primitive_of(s, part)->normals) {
            SN_TRY(copy_shapes(s, &shapes, targets, part, moved, &normals));
        }
        parts[i] = (sn_gltf_added_shapes){part->mesh, part->primitive,
                                          primitive_of(s, part)->point_count, points, normals};
    }

    sn_gltf_amendment amendment = begin_amendment(s);
    amendment.target_count = targets;
    amendment.part_count = s->part_count;
    amendment.parts = parts;
    amendment.weights = weights;
    return sn_gltf_amend(s->context, s->source, s->file, &amendment, out);
}

// The inverse bind matrix of a joint, as matrix and translation.
static void load_bind(const sn_softener *s, int32_t joint, sn_mat3 *A, sn_vec3 *t) {
    *A = sn_mat3_identity();
    *t = sn_v3(0, 0, 0);
    if (s->skin->inverse_bind) {
        sn_soft_blend(s->skin->inverse_bind, 1, &joint, &(double){1}, A, t);
    }
}

// A new joint below joint j of the skin, whose inverse bind matrix is B: at rest a translation to
// c = B center; in motion the conjugate of T, so that it moves points of the bind pose by T before
// j does:
//
//   L(t) L^-1 B = B T(t),    L = translation to c.
//
// B may scale: its rotation turns that of T, and translations are scaled.
static void fill_joint(const sn_softener *s, const sn_soft_joints *joints, int32_t m,
                       sn_gltf_added_joint *joint, char name[32]) {
    sn_mat3 A;
    sn_vec3 t;
    load_bind(s, joints->parents[m], &A, &t);
    sn_vec3 c = sn_add(sn_mat3_apply(A, sn_load3(joints->centers + 3 * (size_t)m)), t);

    snprintf(name, 32, "soft.%d", (int)m + 1);
    *joint = (sn_gltf_added_joint){.name = name, .parent = s->skin->joints[joints->parents[m]]};
    sn_store3(joint->translation, c);
    for (int i = 0; i < 9; i++) {
        joint->inverse_bind[4 * (i % 3) + i / 3] = A.m[i / 3][i % 3];
    }
    sn_store3(joint->inverse_bind + 12, sn_sub(t, c));
    joint->inverse_bind[15] = 1;
}

static void fill_key(const sn_softener *s, const sn_soft_joints *joints, int32_t m, int32_t image,
                     double translation[3], double rotation[4]) {
    const double *pose = joints->poses + 12 * ((size_t)image * (size_t)s->def->joints + (size_t)m);
    sn_mat3 A, R;
    sn_vec3 t;
    load_bind(s, joints->parents[m], &A, &t);
    memcpy(R.m, pose, 9 * sizeof *pose);

    // The center moves to T c; the rotation is seen from the joint.
    sn_vec3 center = sn_load3(joints->centers + 3 * (size_t)m);
    sn_vec3 moved = sn_add(sn_mat3_apply(R, center), sn_load3(pose + 9));
    sn_store3(translation, sn_add(sn_mat3_apply(A, moved), t));
    sn_quat q =
        sn_quat_from_mat3(sn_polar3(NULL, sn_mat3_mul(sn_mat3_mul(A, R), sn_mat3_inverse(A))));
    memcpy(rotation, (double[4]){q.x, q.y, q.z, q.w}, 4 * sizeof *rotation);
}

// Two channels for each new joint, whose nodes follow those of the file.
static sinew_status make_channels(const sn_softener *s, const sn_soft_joints *joints,
                                  sn_gltf_channel *channels) {
    size_t keys = (size_t)s->image_count;
    double *values = SN_PUSH(s->arena, double, 7 * keys * (size_t)joints->count);
    SN_TRY(sn_arena_status(s->arena));

    for (int32_t m = 0; m < joints->count; m++) {
        double *translations = values + 7 * keys * (size_t)m, *rotations = translations + 3 * keys;
        for (size_t i = 0; i < keys; i++) {
            double *q = rotations + 4 * i;
            fill_key(s, joints, m, (int32_t)i, translations + 3 * i, q);

            // q and -q are the same rotation: keep the sign of the key before.
            double dot = 0;
            for (int k = 0; k < 4; k++) {
                dot += i > 0 ? q[k] * q[k - 4] : 0;
            }
            for (int k = 0; k < 4 && dot < 0; k++) {
                q[k] = -q[k];
            }
        }

        sn_gltf_channel channel = {.node = s->file->node_count + m,
                                   .path = SN_GLTF_TRANSLATION,
                                   .key_count = s->image_count,
                                   .components = 3,
                                   .times = s->times,
                                   .values = translations};
        channels[2 * m] = channel;
        channel.path = SN_GLTF_ROTATION;
        channel.components = 4;
        channel.values = rotations;
        channels[2 * m + 1] = channel;
    }

    return SINEW_OK;
}

// The largest distance between the flesh and what a viewer of the file shows, at any key. [m]
static sinew_status measure_joints(sn_softener *s, const sn_soft_joints *joints) {
    size_t slots = (size_t)joints->slots;
    for (int32_t i = 0; i < s->image_count; i++) {
        sn_arena_mark mark = sn_arena_get_mark(s->arena);
        const double *image = s->images + (size_t)i * sn_softener_image_size(s);
        double *matrices;
        SN_TRY(sn_soft_pose(s, s->times[i], &matrices));
        for (size_t p = 0; p < (size_t)s->point_count; p++) {
            // What the flesh adds to the skin.
            sn_mat3 S;
            sn_vec3 t, X = sn_load3(s->points + 3 * p);
            sn_soft_blend_point(s, matrices, (int32_t)p, &S, &t);
            sn_vec3 off = sn_mat3_apply(S, sn_load3(image + 3 * p));

            for (size_t k = p * slots; k < (p + 1) * slots; k++) {
                // Subtract what the new joints show of it.
                int32_t m = joints->joints[k] - s->skin->joint_count;
                if (m < 0 || !(joints->weights[k] > 0)) {
                    continue;
                }
                const double *pose =
                    joints->poses + 12 * ((size_t)i * (size_t)s->def->joints + (size_t)m);
                sn_mat3 R;
                memcpy(R.m, pose, 9 * sizeof *pose);
                sn_vec3 d = sn_sub(sn_add(sn_mat3_apply(R, X), sn_load3(pose + 9)), X);
                sn_soft_blend(matrices, 1, &joints->parents[m], &(double){1}, &S, &t);
                off = sn_madd(off, -joints->weights[k], sn_mat3_apply(S, d));
            }
            s->report->error = fmax(s->report->error, s->def->unit * sn_length(off));
        }
        sn_arena_rewind(s->arena, mark);
    }
    return SINEW_OK;
}

static sinew_status write_joints(sn_softener *s, sn_buffer *out) {
    // Four joints at a point, or eight if the skin has eight.
    int32_t sets = 1;
    for (int32_t i = 0; i < s->part_count; i++) {
        int32_t own = primitive_of(s, &s->parts[i])->joint_sets;
        sets = own > sets ? own : sets;
    }

    sn_soft_joints joints;
    sn_soft_joints_def def = {.points = s->points,
                              .point_count = s->point_count,
                              .weights = s->weights,
                              .joint_count = s->skin->joint_count,
                              .images = s->images,
                              .image_count = s->image_count,
                              .stride = sn_softener_image_size(s),
                              .most = s->def->joints,
                              .slots = 4 * sets};
    SN_TRY(sn_soft_joints_create(s->arena, &def, &joints));
    SN_TRY(measure_joints(s, &joints));
    s->report->new_joints = joints.count;

    // Joints, their motion, and the weights of all parts.
    sn_gltf_amendment amendment = begin_amendment(s);
    int32_t own = amendment.channel_count;
    size_t total = (size_t)own + 2 * (size_t)joints.count;
    sn_gltf_channel *channels = SN_PUSH(s->arena, sn_gltf_channel, total);
    sn_gltf_added_joint *added = SN_PUSH(s->arena, sn_gltf_added_joint, joints.count);
    char(*names)[32] = sn_arena_push(s->arena, (size_t)joints.count, sizeof *names);
    sn_gltf_new_weights *parts = SN_PUSH(s->arena, sn_gltf_new_weights, s->part_count);
    SN_TRY(sn_arena_status(s->arena));
    if (own > 0) {
        memcpy(channels, amendment.channels, (size_t)own * sizeof *channels);
    }
    for (int32_t m = 0; m < joints.count; m++) {
        fill_joint(s, &joints, m, &added[m], names[m]);
    }
    SN_TRY(make_channels(s, &joints, channels + own));
    for (int32_t i = 0; i < s->part_count; i++) {
        const sn_soft_part *part = &s->parts[i];
        size_t first = (size_t)joints.slots * (size_t)part->first;
        parts[i] = (sn_gltf_new_weights){
            part->mesh, part->primitive,       primitive_of(s, part)->point_count,
            sets,       joints.joints + first, joints.weights + first};
    }

    amendment.channels = channels;
    amendment.channel_count = (int32_t)total;
    amendment.skin = 0;
    amendment.joint_count = joints.count;
    amendment.joints = added;
    amendment.weighted_count = joints.count > 0 ? s->part_count : 0;
    amendment.weighted = parts;
    return sn_gltf_amend(s->context, s->source, s->file, &amendment, out);
}

// The posed points of one part at all keys.
static sinew_status pose_part(sn_softener *s, const sn_soft_part *part, double **images) {
    int32_t count = primitive_of(s, part)->point_count;
    for (int32_t i = 0; i < s->image_count; i++) {
        sn_arena_mark mark = sn_arena_get_mark(s->arena);
        const double *image = s->images + (size_t)i * sn_softener_image_size(s);
        double *matrices;
        SN_TRY(sn_soft_pose(s, s->times[i], &matrices));
        for (int32_t k = 0; k < count; k++) {
            size_t p = 3 * (size_t)(part->first + k);
            sn_mat3 S;
            sn_vec3 t, X = sn_add(sn_load3(s->points + p), sn_load3(image + p));
            sn_soft_blend_point(s, matrices, part->first + k, &S, &t);
            sn_store3(images[i] + 3 * (size_t)k, sn_add(sn_mat3_apply(S, X), t));
        }
        sn_arena_rewind(s->arena, mark);
    }
    return SINEW_OK;
}

// A cache for each part, with the name of its mesh; a mesh of several materials has several.
static sinew_status write_cache(sn_softener *s, const sn_soft_part *part) {
    sn_arena_mark mark = sn_arena_get_mark(s->arena);
    int32_t count = primitive_of(s, part)->point_count;
    double **images = SN_PUSH(s->arena, double *, s->image_count);
    double *all = SN_PUSH(s->arena, double, 3 * (size_t)count * (size_t)s->image_count);
    SN_TRY(sn_arena_status(s->arena));

    // The positions in all images.
    for (int32_t i = 0; i < s->image_count; i++) {
        images[i] = all + 3 * (size_t)count * (size_t)i;
    }
    SN_TRY(pose_part(s, part, images));

    // The name.
    const sn_gltf_mesh *mesh = &s->file->meshes[part->mesh];
    char name[300];
    int length = snprintf(name, sizeof name, "%.255s", mesh->name ? mesh->name : "mesh");
    if (part->primitive > 0) {
        snprintf(name + length, sizeof name - (size_t)length, ".%d", (int)part->primitive);
    }

    // The cache, for the caller to save.
    sinew_mesh surface = {.points = images[0],
                          .point_count = count,
                          .element = SINEW_ELEMENT_TRIANGLE,
                          .indices = primitive_of(s, part)->indices,
                          .element_count = primitive_of(s, part)->index_count / 3};
    sinew_animation_def def = sinew_default_animation_def();
    def.surface = &surface;
    def.image_count = s->image_count;
    def.times = s->times;
    def.points = (const double *const *)images;
    def.z_up = false;

    sinew_bytes *bytes;
    SN_TRY(sinew_bytes_create(s->context, &bytes));
    sinew_status status = sinew_animation_write(s->context, &def, "cache.pc2", bytes);
    if (status == SINEW_OK) {
        status = s->def->cache(s->def->cache_user, name, bytes);
    }
    sinew_bytes_destroy(bytes);
    sn_arena_rewind(s->arena, mark);
    return status;
}

sinew_status sn_soft_write(sn_softener *s, sn_buffer *out) {
    if (s->def->cache) {
        for (int32_t i = 0; i < s->part_count; i++) {
            SN_TRY(write_cache(s, &s->parts[i]));
        }
    }
    return s->def->output == SINEW_SOFTEN_JOINTS ? write_joints(s, out) : write_targets(s, out);
}
