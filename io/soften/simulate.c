// The motion of the flesh.
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
#include "base/threads.h"
#include "io/soften/softener.h"

#include <math.h>
#include <string.h>

static const double longest_step = 1.0 / 60; // [s]

// Accelerations are differences over this time: animations have 24 to 30 keys a second, and are
// straight between them. [s]
static const double time_difference = 1.0 / 30;

// The rotation of a blend of joints, which is close to a rotation times a scale: a few steps of
// Newton's method (Higham 1986), R <- (R + R^-T) / 2. A blend that is nearly flat takes the slow
// way.
static sn_mat3 find_rotation(sn_mat3 S) {
    double det = sn_mat3_det(S), norm = sn_mat3_norm(S);
    if (!(det > 1e-3 * norm * norm * norm)) {
        return sn_polar3(NULL, S);
    }

    sn_mat3 R = sn_mat3_scale(1 / cbrt(det), S);
    for (int k = 0; k < 12; k++) {
        sn_mat3 next = sn_mat3_transpose(sn_mat3_inverse(R));
        next = sn_mat3_scale(0.5, sn_mat3_add(R, next));
        double change = sn_mat3_norm(sn_mat3_sub(next, R));
        R = next;
        if (change < 1e-7) {
            break; // quadratic: the next change is below 1e-14
        }
    }
    return R;
}

enum { CHUNK = 512 }; // of nodes and tets that a thread takes at once

// Where the skin has every node of the flesh at a time. [m]
typedef struct following {
    const sn_softener *s;
    const double *matrices;
    double *x;
    sn_mat3 *rotation; // or NULL
} following;

static void follow_range(void *user, int32_t begin, int32_t end, int32_t chunk) {
    (void)chunk;
    const following *f = user;
    const sn_softener *s = f->s;
    for (int32_t i = begin; i < end; i++) {
        sn_mat3 S;
        sn_vec3 t;
        int32_t first = s->first_weight[i];
        sn_soft_blend(f->matrices, s->first_weight[i + 1] - first, s->joint + first,
                      s->weight + first, &S, &t);
        sn_vec3 p = sn_scale(1 / s->unit, sn_load3(s->lattice.mesh.points + 3 * (size_t)i));
        sn_store3(f->x + 3 * (size_t)i, sn_scale(s->def->unit, sn_add(sn_mat3_apply(S, p), t)));
        if (f->rotation) {
            f->rotation[i] = find_rotation(S);
        }
    }
}

static sinew_status follow_skin(sn_softener *s, double time, double *x, sn_mat3 *rotation) {
    sn_arena_mark mark = sn_arena_get_mark(s->arena);
    double *matrices;
    SN_TRY(sn_soft_pose(s, time, &matrices));
    following f = {s, matrices, x, rotation};
    sn_parallel_for(s->context, s->lattice.mesh.point_count, CHUNK, follow_range, &f);
    sn_arena_rewind(s->arena, mark);
    return SINEW_OK;
}

// The time of the animation at a time of the run. A loop goes on for ever; otherwise the first pose
// holds while the flesh settles.
static double wrap(const sn_softener *s, double time) {
    double length = s->report->seconds;
    if (s->def->loop && length > 0) {
        return time - length * floor(time / length);
    }
    return fmin(fmax(time, 0), length);
}

// The forces of inertia at a time of the run. At the ends of an animation that is no loop the skin
// is taken to move on as it does: a character that begins in the middle of a step is not jolted.
static sinew_status find_forces(sn_softener *s, double time) {
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

// Physics moves nothing that the joints control.
static sinew_status complement(sn_softener *s) {
    SN_TRY(sn_soft_model_read(s));
    size_t count = 3 * (size_t)s->lattice.mesh.point_count;
    const double *rest = s->lattice.mesh.points;
    for (size_t i = 0; i < count; i++) {
        s->flesh[i] -= rest[i];
    }
    sn_complement_project(&s->complement, s->flesh);
    sn_complement_project(&s->complement, s->velocities);
    for (size_t i = 0; i < count; i++) {
        s->flesh[i] += rest[i];
    }
    return sn_soft_model_write(s);
}

static sinew_status advance(sn_softener *s, double from, double to) {
    int32_t steps = (int32_t)ceil((to - from) / longest_step - 1e-9);
    for (int32_t i = 1; i <= steps; i++) {
        double time = from + (to - from) * i / steps, h = (to - from) / steps;
        bool rests = time <= 0 && !s->def->loop;
        if (!rests) {
            SN_TRY(find_forces(s, time));
        }
        SN_TRY(sn_soft_model_step(s, h, rests ? NULL : s->forces));
        if (s->def->complementary) {
            SN_TRY(complement(s));
        }
        if (s->def->floor) {
            SN_TRY(sn_soft_lift(s, wrap(s, time), h));
        }
    }
    return SINEW_OK;
}

// Inverse edge matrices of the tets at rest, and the tets at each node.
static sinew_status prepare_gradients(sn_softener *s) {
    const sinew_mesh *mesh = &s->lattice.mesh;
    s->tet_inverses = SN_PUSH(s->arena, sn_mat3, mesh->element_count);
    s->tet_gradients = SN_PUSH(s->arena, sn_mat3, mesh->element_count);
    s->first_tet = SN_PUSH(s->arena, int32_t, (size_t)mesh->point_count + 1);
    s->tets_at = SN_PUSH(s->arena, int32_t, 4 * (size_t)mesh->element_count);
    SN_TRY(sn_arena_status(s->arena));

    for (int32_t e = 0; e < mesh->element_count; e++) {
        const int32_t *node = mesh->indices + 4 * (size_t)e;
        sn_vec3 X[4];
        for (int k = 0; k < 4; k++) {
            X[k] = sn_load3(mesh->points + 3 * (size_t)node[k]);
            s->first_tet[node[k] + 1]++;
        }
        s->tet_inverses[e] = sn_mat3_inverse(
            sn_mat3_columns(sn_sub(X[1], X[0]), sn_sub(X[2], X[0]), sn_sub(X[3], X[0])));
    }

    for (int32_t i = 0; i < mesh->point_count; i++) {
        s->first_tet[i + 1] += s->first_tet[i];
    }
    for (int32_t k = 0; k < 4 * mesh->element_count; k++) {
        s->tets_at[s->first_tet[mesh->indices[k]]++] = k / 4;
    }

    // Filling moved each start to the next one.
    for (int32_t i = mesh->point_count; i > 0; i--) {
        s->first_tet[i] = s->first_tet[i - 1];
    }
    s->first_tet[0] = 0;

    return SINEW_OK;
}

// F of each tet.
static void deform_range(void *user, int32_t begin, int32_t end, int32_t chunk) {
    (void)chunk;
    sn_softener *s = user;
    for (int32_t e = begin; e < end; e++) {
        const int32_t *node = s->lattice.mesh.indices + 4 * (size_t)e;
        sn_vec3 x[4];
        for (int k = 0; k < 4; k++) {
            x[k] = sn_load3(s->flesh + 3 * (size_t)node[k]);
        }
        sn_mat3 now = sn_mat3_columns(sn_sub(x[1], x[0]), sn_sub(x[2], x[0]), sn_sub(x[3], x[0]));
        s->tet_gradients[e] = sn_mat3_mul(now, s->tet_inverses[e]);
    }
}

// The gradient of the displacement at each node of the flesh: the mean over its tets, by volume.
static void average_range(void *user, int32_t begin, int32_t end, int32_t chunk) {
    (void)chunk;
    sn_softener *s = user;
    for (int32_t i = begin; i < end; i++) {
        sn_mat3 sum = {{{0}}};
        double total = 0;
        for (int32_t k = s->first_tet[i]; k < s->first_tet[i + 1]; k++) {
            double volume = s->lattice.volumes[s->tets_at[k]];
            sum = sn_mat3_add(sum, sn_mat3_scale(volume, s->tet_gradients[s->tets_at[k]]));
            total += volume;
        }
        s->gradients[i] = sn_mat3_sub(sn_mat3_scale(1 / total, sum), sn_mat3_identity());
    }
}

// What a displacement with gradient G adds to a unit normal: the part of -G'n across n, to first
// order.
static sn_vec3 rotate_normal(const sn_softener *s, size_t point, sn_vec3 n) {
    sn_vec3 d = {0, 0, 0};
    for (size_t k = 8 * point; k < 8 * (point + 1); k++) {
        sn_vec3 part = sn_mat3_apply_transposed(s->gradients[s->lattice.point_nodes[k]], n);
        d = sn_madd(d, -s->lattice.point_shares[k], part);
    }
    return sn_madd(d, -sn_dot(d, n), n);
}

// The displacements of the surface at a key, in the units of the mesh, and of its normals.
static void keep_image(sn_softener *s, int32_t image) {
    double *out = s->images + (size_t)image * sn_softener_image_size(s);
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

    if (!s->def->normals) {
        return;
    }
    sn_parallel_for(s->context, s->lattice.mesh.point_count, CHUNK, average_range, s);
    for (size_t i = 0; i < (size_t)s->point_count; i++) {
        sn_vec3 n = sn_load3(s->normals + 3 * i);
        sn_store3(out + 3 * ((size_t)s->point_count + i), rotate_normal(s, i, n));
    }
}

// Volume and inverted tets of the flesh as it stands.
static void measure(sn_softener *s) {
    double rest = 0, now = 0;
    int32_t inverted = 0;
    for (int32_t e = 0; e < s->lattice.mesh.element_count; e++) {
        double J = sn_mat3_det(s->tet_gradients[e]), volume = s->lattice.volumes[e];
        rest += volume;
        now += J * volume;
        inverted += J < 0;
    }
    s->report->inverted = inverted > s->report->inverted ? inverted : s->report->inverted;
    s->report->largest_volume_change = fmax(s->report->largest_volume_change, fabs(now / rest - 1));
}

static sinew_status make_keys(sn_softener *s) {
    double length = sn_soft_animation_length(s);
    double keys = floor(length * s->def->rate + 1e-6) + 1;
    if (keys * (double)sn_softener_image_size(s) > 1 << 28) {
        return sn_source_fail(s->context, s->source, SINEW_UNSUPPORTED,
                              "%.0f keys of %d vertices are too many; a lower rate needs fewer",
                              keys, (int)s->point_count);
    }

    s->report->seconds = length;
    s->image_count = (int32_t)keys;
    s->report->images = s->image_count;
    s->times = SN_PUSH(s->arena, double, s->image_count);
    s->images = SN_PUSH(s->arena, double, (size_t)s->image_count *sn_softener_image_size(s));
    if (s->times) {
        for (int32_t i = 0; i < s->image_count; i++) {
            s->times[i] = i / s->def->rate;
        }
    }

    return sn_arena_status(s->arena);
}

// R0' g: what gravity does at the start belongs to the shape in the file.
static sinew_status find_sag(sn_softener *s) {
    SN_TRY(follow_skin(s, 0, s->path[0], s->rotation));
    for (int32_t i = 0; i < s->lattice.mesh.point_count; i++) {
        s->sag[i] = sn_mat3_apply_transposed(s->rotation[i], sn_load3(s->def->gravity));
    }
    return SINEW_OK;
}

sinew_status sn_soft_simulate(sn_softener *s) {
    SN_TRY(make_keys(s));
    SN_TRY(find_sag(s));
    SN_TRY(prepare_gradients(s));

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
        SN_TRY(sn_soft_model_read(s));
        sn_parallel_for(s->context, s->lattice.mesh.element_count, CHUNK, deform_range, s);
        keep_image(s, i);
        measure(s);
    }

    return SINEW_OK;
}
