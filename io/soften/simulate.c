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

// Where the skin has every node of the flesh at a time, and how it rotates them if asked. [m]
static sinew_status follow_skin(sn_softener *s, double time, double *x, sn_mat3 *rotation) {
    sn_arena_mark mark = sn_arena_get_mark(s->arena);
    double *matrices;
    SN_TRY(sn_soft_pose(s, time, &matrices));
    for (int32_t i = 0; i < s->lattice.mesh.point_count; i++) {
        sn_mat3 S;
        sn_vec3 t;
        int32_t first = s->first_weight[i];
        sn_soft_blend(matrices, s->first_weight[i + 1] - first, s->joint + first, s->weight + first,
                      &S, &t);
        sn_vec3 p = sn_scale(1 / s->unit, sn_load3(s->lattice.mesh.points + 3 * (size_t)i));
        sn_store3(x + 3 * (size_t)i, sn_scale(s->def->unit, sn_add(sn_mat3_apply(S, p), t)));
        if (rotation) {
            rotation[i] = find_rotation(S);
        }
    }

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

static sinew_status advance(sn_softener *s, double from, double to) {
    int32_t steps = (int32_t)ceil((to - from) / longest_step - 1e-9);
    for (int32_t i = 1; i <= steps; i++) {
        double time = from + (to - from) * i / steps;
        bool rests = time <= 0 && !s->def->loop;
        if (!rests) {
            SN_TRY(find_forces(s, time));
        }
        SN_TRY(sinew_pbd_step(s->pbd, (to - from) / steps, NULL, rests ? NULL : s->forces));
        if (s->def->floor) {
            SN_TRY(sn_soft_lift(s, wrap(s, time), (to - from) / steps));
        }
    }
    return SINEW_OK;
}

// The gradient of the displacement at each node of the flesh: the mean over its tets, by volume.
static void find_gradients(sn_softener *s) {
    const sinew_mesh *mesh = &s->lattice.mesh;
    memset(s->gradients, 0, (size_t)mesh->point_count * sizeof *s->gradients);

    for (int32_t e = 0; e < mesh->element_count; e++) {
        const int32_t *node = mesh->indices + 4 * (size_t)e;

        // The edges of the tet, at rest and now.
        sn_vec3 X0 = sn_load3(mesh->points + 3 * (size_t)node[0]);
        sn_vec3 x0 = sn_load3(s->flesh + 3 * (size_t)node[0]);
        sn_vec3 rest[3], now[3];
        for (int k = 0; k < 3; k++) {
            size_t at = 3 * (size_t)node[k + 1];
            rest[k] = sn_sub(sn_load3(mesh->points + at), X0);
            now[k] = sn_sub(sn_load3(s->flesh + at), x0);
        }

        // F - 1, shared by the corners.
        sn_mat3 X = sn_mat3_columns(rest[0], rest[1], rest[2]);
        sn_mat3 F = sn_mat3_mul(sn_mat3_columns(now[0], now[1], now[2]), sn_mat3_inverse(X));
        double volume = fabs(sn_mat3_det(X)) / 24; // a quarter of the tet
        for (int k = 0; k < 4; k++) {
            for (int i = 0; i < 9; i++) {
                s->gradients[node[k]].m[i / 3][i % 3] +=
                    volume * (F.m[i / 3][i % 3] - (i % 4 == 0 ? 1 : 0));
            }
        }
    }

    // Sums over volumes become means.
    for (int32_t i = 0; i < mesh->point_count; i++) {
        for (int k = 0; k < 9; k++) {
            s->gradients[i].m[k / 3][k % 3] *= s->def->density / s->mass[i];
        }
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
    sinew_pbd_get_positions(s->pbd, s->flesh);
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
    find_gradients(s);
    for (size_t i = 0; i < (size_t)s->point_count; i++) {
        sn_vec3 n = sn_load3(s->normals + 3 * i);
        sn_store3(out + 3 * ((size_t)s->point_count + i), rotate_normal(s, i, n));
    }
}

static void measure(sn_softener *s, double rest_volume) {
    sinew_pbd_report now;
    sinew_pbd_measure(s->pbd, &now);
    s->report->inverted = now.inverted > s->report->inverted ? now.inverted : s->report->inverted;
    s->report->largest_volume_change =
        fmax(s->report->largest_volume_change, fabs(now.volume / rest_volume - 1));
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
