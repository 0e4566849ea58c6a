// Displacements of a surface as the motion of a few joints (smooth skinning decomposition after Le
// and Deng 2012, with the weights of an existing skin kept).
//
// A point that follows joint j of the skin with weight w_j may follow new joints below j instead,
// with weights u_m >= 0 whose sum over the joints below j is at most w_j; joint j keeps the rest.
// With the new joints at rest the skin is therefore exactly the old one. In the bind pose the
// displacement of a point is
//
//   d(t) = sum_m u_m (T_m(t) p - p),    T_m rigid.
//
// Clusters of points whose displacements are close to a rigid motion give the first T_m, the
// largest error is split until there are enough; then weights (coordinate descent on each point's
// quadratic problem) and motions (one polar decomposition per joint and image) are improved in
// turns, on at most `KEPT_IMAGES` images; finally every image gets its motions. Cost: rounds times
// points times kept images times candidates.
#include "io/soften/softener.h"

#include <math.h>
#include <string.h>

enum {
    KEPT_IMAGES = 40,
    CANDIDATES = 12, // new joints that a point may follow
    ROUNDS = 6,
    SWEEPS = 40, // of coordinate descent
    LLOYD = 3,
};

static const double least_weight = 0.02;

typedef struct rigid {
    double R[9];
    double t[3];
} rigid;

typedef struct decomposer {
    const sn_soft_joints_def *def;
    sn_arena *arena;
    sn_soft_joints *out;
    int32_t kept;     // images in use
    const double **d; // [kept] displacements
    rigid *T;         // [kept][most]
    int32_t *cluster; // [point] or -1
    int32_t *main;    // [point] the joint of the skin it mostly follows
    double *u;        // [point * most] weights of the new joints
} decomposer;

static void apply(const rigid *T, const double *p, double out[3]) {
    for (int r = 0; r < 3; r++) {
        out[r] = T->R[3 * r] * p[0] + T->R[3 * r + 1] * p[1] + T->R[3 * r + 2] * p[2] + T->t[r];
    }
}

// T p - p
static void displace(const rigid *T, const double *p, double out[3]) {
    apply(T, p, out);
    for (int r = 0; r < 3; r++) {
        out[r] -= p[r];
    }
}

typedef struct procrustes {
    double mass, p[3], q[3], pq[3][3], pp;
} procrustes;

// A point p that is to move to p + r / u, of weight u^2.
static void add_point(procrustes *f, const double *p, const double r[3], double u) {
    double mass = u * u;
    f->mass += mass;
    for (int i = 0; i < 3; i++) {
        double q = mass * p[i] + u * r[i];
        f->p[i] += mass * p[i];
        f->q[i] += q;
        f->pp += mass * p[i] * p[i];
        for (int k = 0; k < 3; k++) {
            f->pq[i][k] += q * p[k];
        }
    }
}

// The best rigid motion; a little of the identity keeps flat clusters from spinning.
static rigid fit(const procrustes *f) {
    rigid T = {{1, 0, 0, 0, 1, 0, 0, 0, 1}, {0, 0, 0}};
    if (!(f->mass > 0)) {
        return T;
    }

    // The covariance about the centres of mass.
    sn_mat3 H;
    double spread = f->pp;
    for (int i = 0; i < 3; i++) {
        spread -= f->p[i] * f->p[i] / f->mass;
        for (int k = 0; k < 3; k++) {
            H.m[i][k] = f->pq[i][k] - f->q[i] * f->p[k] / f->mass;
        }
    }
    for (int i = 0; i < 3; i++) {
        H.m[i][i] += 0.002 * spread + 1e-30;
    }

    // The rotation closest to it, and the translation that joins the centres.
    sn_mat3 R = sn_polar3(NULL, H);
    for (int i = 0; i < 3; i++) {
        T.t[i] = f->q[i] / f->mass;
        for (int k = 0; k < 3; k++) {
            T.R[3 * i + k] = R.m[i][k];
            T.t[i] -= R.m[i][k] * f->p[k] / f->mass;
        }
    }
    return T;
}

static const double *point_at(const decomposer *d, size_t i) {
    return d->def->points + 3 * i;
}

// The motion of a cluster.
static void fit_cluster(decomposer *d, int32_t cluster) {
    for (int32_t t = 0; t < d->kept; t++) {
        procrustes f = {0};
        for (size_t i = 0; i < (size_t)d->def->point_count; i++) {
            if (d->cluster[i] == cluster) {
                add_point(&f, point_at(d, i), d->d[t] + 3 * i, 1);
            }
        }
        d->T[(size_t)t * (size_t)d->def->most + (size_t)cluster] = fit(&f);
    }
}

// Squares of the error of a point, if it followed a cluster alone.
static double find_error(const decomposer *d, size_t point, int32_t cluster) {
    double sum = 0;
    for (int32_t t = 0; t < d->kept; t++) {
        double g[3];
        displace(&d->T[(size_t)t * (size_t)d->def->most + (size_t)cluster], point_at(d, point), g);
        for (int k = 0; k < 3; k++) {
            double e = g[k] - d->d[t][3 * point + (size_t)k];
            sum += e * e;
        }
    }
    return sum;
}

static double find_motion(const decomposer *d, size_t point) {
    double sum = 0;
    for (int32_t t = 0; t < d->kept; t++) {
        for (size_t k = 3 * point; k < 3 * point + 3; k++) {
            sum += d->d[t][k] * d->d[t][k];
        }
    }
    return sum;
}

// One cluster for each joint whose points move, those that move most first.
static sinew_status begin_clusters(decomposer *d) {
    int32_t joints = d->def->joint_count;
    double *motion = SN_PUSH(d->arena, double, joints);
    SN_TRY(sn_arena_status(d->arena));

    // The joint that each point follows most, and how much the points of a joint move.
    double total = 0;
    for (size_t i = 0; i < (size_t)d->def->point_count; i++) {
        const double *row = d->def->weights + i * (size_t)joints;
        d->cluster[i] = -1;
        for (int32_t j = 1; j < joints; j++) {
            d->main[i] = row[j] > row[d->main[i]] ? j : d->main[i];
        }
        double own = find_motion(d, i);
        motion[d->main[i]] += own;
        total += own;
    }

    while (d->out->count < d->def->most) {
        // The joint whose points move most becomes a cluster.
        int32_t best = 0;
        for (int32_t j = 1; j < joints; j++) {
            best = motion[j] > motion[best] ? j : best;
        }
        if (!(motion[best] > 1e-6 * total)) {
            return SINEW_OK;
        }
        for (int32_t i = 0; i < d->def->point_count; i++) {
            d->cluster[i] = d->main[i] == best ? d->out->count : d->cluster[i];
        }
        d->out->parents[d->out->count] = best;
        fit_cluster(d, d->out->count++);
        motion[best] = 0;
    }

    return SINEW_OK;
}

// Points go to the cluster below their joint that fits them best.
static void assign_points(decomposer *d, int32_t parent) {
    for (size_t i = 0; i < (size_t)d->def->point_count; i++) {
        double least = INFINITY;
        if (d->main[i] != parent || d->cluster[i] < 0) {
            continue;
        }
        for (int32_t c = 0; c < d->out->count; c++) {
            double error = d->out->parents[c] == parent ? find_error(d, i, c) : INFINITY;
            if (error < least) {
                least = error;
                d->cluster[i] = c;
            }
        }
    }
}

// Splits the cluster with the largest error around the point that is farthest off.
static bool split_worst(decomposer *d, double *errors) {
    memset(errors, 0, (size_t)d->def->most * sizeof *errors);
    for (size_t i = 0; i < (size_t)d->def->point_count; i++) {
        if (d->cluster[i] >= 0) {
            errors[d->cluster[i]] += find_error(d, i, d->cluster[i]);
        }
    }

    int32_t worst = 0, count = d->out->count++;
    for (int32_t c = 1; c < count; c++) {
        worst = errors[c] > errors[worst] ? c : worst;
    }

    size_t seed = 0;
    double most = 0;
    for (size_t i = 0; i < (size_t)d->def->point_count; i++) {
        double error = d->cluster[i] == worst ? find_error(d, i, worst) : 0;
        if (error > most) {
            most = error;
            seed = i;
        }
    }
    if (!(most > 0)) {
        d->out->count = count;
        return false;
    }

    // Points that are closer to the seed than to the middle begin the new cluster.
    sn_vec3 middle = {0, 0, 0}, at = sn_load3(point_at(d, seed));
    int32_t members = 0;
    for (size_t i = 0; i < (size_t)d->def->point_count; i++) {
        if (d->cluster[i] == worst) {
            middle = sn_add(middle, sn_load3(point_at(d, i)));
            members++;
        }
    }
    middle = sn_scale(1.0 / members, middle);
    for (size_t i = 0; i < (size_t)d->def->point_count; i++) {
        sn_vec3 p = sn_load3(point_at(d, i));
        if (d->cluster[i] == worst && sn_distance(p, at) <= sn_distance(p, middle)) {
            d->cluster[i] = count;
        }
    }

    d->out->parents[count] = d->out->parents[worst];
    for (int k = 0; k < LLOYD; k++) {
        for (int32_t c = 0; c < d->out->count; c++) {
            if (d->out->parents[c] == d->out->parents[worst]) {
                fit_cluster(d, c);
            }
        }
        assign_points(d, d->out->parents[worst]);
    }
    return true;
}

// The quadratic problem of a point: |sum_m u_m g_m - d|^2 over all kept images.
typedef struct point_problem {
    int32_t count;
    int32_t joint[CANDIDATES]; // new joints
    double G[CANDIDATES][CANDIDATES], b[CANDIDATES], u[CANDIDATES];
} point_problem;

// Candidates: the new joints below the point's joints, those that fit best alone.
static void choose_candidates(const decomposer *d, size_t point, point_problem *p) {
    const double *row = d->def->weights + point * (size_t)d->def->joint_count;
    double errors[CANDIDATES];
    p->count = 0;
    for (int32_t m = 0; m < d->out->count; m++) {
        if (!(row[d->out->parents[m]] >= least_weight)) {
            continue;
        }
        double error = find_error(d, point, m);
        int32_t at = p->count < CANDIDATES ? p->count++ : CANDIDATES;
        for (; at > 0 && error < errors[at - 1]; at--) {
            if (at < CANDIDATES) {
                errors[at] = errors[at - 1];
                p->joint[at] = p->joint[at - 1];
            }
        }
        if (at < CANDIDATES) {
            errors[at] = error;
            p->joint[at] = m;
        }
    }
}

static void fill_problem(const decomposer *d, size_t point, point_problem *p) {
    memset(p->G, 0, sizeof p->G);
    memset(p->b, 0, sizeof p->b);
    for (int32_t t = 0; t < d->kept; t++) {
        double g[CANDIDATES][3];
        const double *target = d->d[t] + 3 * point;
        for (int32_t m = 0; m < p->count; m++) {
            displace(&d->T[(size_t)t * (size_t)d->def->most + (size_t)p->joint[m]],
                     point_at(d, point), g[m]);
            for (int32_t n = 0; n <= m; n++) {
                p->G[m][n] += g[m][0] * g[n][0] + g[m][1] * g[n][1] + g[m][2] * g[n][2];
            }
            p->b[m] += g[m][0] * target[0] + g[m][1] * target[1] + g[m][2] * target[2];
        }
    }
    for (int32_t m = 0; m < p->count; m++) {
        for (int32_t n = 0; n < m; n++) {
            p->G[n][m] = p->G[m][n];
        }
    }
}

// What is left for a candidate of the weight of its joint.
static double find_room(const decomposer *d, const double *row, const point_problem *p, int32_t m) {
    double room = row[d->out->parents[p->joint[m]]];
    for (int32_t n = 0; n < p->count; n++) {
        if (n != m && d->out->parents[p->joint[n]] == d->out->parents[p->joint[m]]) {
            room -= p->u[n];
        }
    }
    return fmax(room, 0);
}

static void solve_problem(const decomposer *d, const double *row, point_problem *p,
                          const bool *banned) {
    for (int32_t m = 0; m < p->count; m++) {
        p->u[m] = 0;
    }
    for (int sweep = 0; sweep < SWEEPS; sweep++) {
        for (int32_t m = 0; m < p->count; m++) {
            if (banned[m] || !(p->G[m][m] > 0)) {
                continue;
            }
            double right = p->b[m];
            for (int32_t n = 0; n < p->count; n++) {
                right -= n == m ? 0 : p->G[m][n] * p->u[n];
            }
            p->u[m] = fmin(fmax(right / p->G[m][m], 0), find_room(d, row, p, m));
        }
    }
}

// Joints at a point: new ones with weight, and those of the skin that keep some.
static int32_t count_slots(const decomposer *d, const double *row, const point_problem *p) {
    int32_t slots = 0;
    for (int32_t m = 0; m < p->count; m++) {
        slots += p->u[m] > 0;
    }
    for (int32_t j = 0; j < d->def->joint_count; j++) {
        double left = row[j];
        for (int32_t m = 0; m < p->count && left > 0; m++) {
            left -= d->out->parents[p->joint[m]] == j ? p->u[m] : 0;
        }
        slots += left > 1e-9;
    }
    return slots;
}

// Drops the smallest weights until the point has room for all.
static void fit_point(decomposer *d, size_t point) {
    const double *row = d->def->weights + point * (size_t)d->def->joint_count;
    double *u = d->u + point * (size_t)d->def->most;
    point_problem p;
    bool banned[CANDIDATES] = {false};
    choose_candidates(d, point, &p);
    fill_problem(d, point, &p);

    for (int32_t left = p.count; left >= 0; left--) {
        // The best weights of those that are left.
        solve_problem(d, row, &p, banned);
        int32_t smallest = -1;
        for (int32_t m = 0; m < p.count; m++) {
            p.u[m] = p.u[m] < least_weight ? 0 : p.u[m];
            if (p.u[m] > 0 && (smallest < 0 || p.u[m] < p.u[smallest])) {
                smallest = m;
            }
        }

        // Too many: ban the smallest, and solve again.
        if (smallest < 0 || count_slots(d, row, &p) <= d->out->slots) {
            break;
        }
        banned[smallest] = true;
        p.u[smallest] = 0;
    }

    // Keep what was found.
    memset(u, 0, (size_t)d->def->most * sizeof *u);
    for (int32_t m = 0; m < p.count; m++) {
        u[p.joint[m]] = p.u[m];
    }
}

// Improves the motions of all new joints in one image, one after the other.
static void fit_image(const decomposer *d, const double *image, rigid *T) {
    const size_t most = (size_t)d->def->most;
    for (int32_t m = 0; m < d->out->count; m++) {
        procrustes f = {0};
        for (size_t i = 0; i < (size_t)d->def->point_count; i++) {
            const double *u = d->u + i * most;
            if (!(u[m] > 0)) {
                continue;
            }
            double r[3] = {image[3 * i], image[3 * i + 1], image[3 * i + 2]};
            for (int32_t n = 0; n < d->out->count; n++) {
                double g[3];
                if (n == m || !(u[n] > 0)) {
                    continue;
                }
                displace(&T[n], point_at(d, i), g);
                for (int k = 0; k < 3; k++) {
                    r[k] -= u[n] * g[k];
                }
            }
            add_point(&f, point_at(d, i), r, u[m]);
        }
        T[m] = fit(&f);
    }
}

static sinew_status find_joints(decomposer *d) {
    double *errors = SN_PUSH(d->arena, double, d->def->most);
    SN_TRY(sn_arena_status(d->arena));
    SN_TRY(begin_clusters(d));
    while (d->out->count > 0 && d->out->count < d->def->most && split_worst(d, errors)) {
        SN_TRY(sn_report_progress(d->arena->context, "finding the joints", -1));
    }

    for (int round = 0; round < ROUNDS; round++) {
        SN_TRY(sn_report_progress(d->arena->context, "fitting the joints", -1));
        for (size_t i = 0; i < (size_t)d->def->point_count; i++) {
            fit_point(d, i);
        }
        for (int32_t t = 0; t < d->kept; t++) {
            fit_image(d, d->d[t], d->T + (size_t)t * (size_t)d->def->most);
        }
    }

    return SINEW_OK;
}

// The centers: means of the points by weight.
static void find_centers(decomposer *d) {
    for (int32_t m = 0; m < d->out->count; m++) {
        sn_vec3 sum = {0, 0, 0};
        double mass = 0;
        for (size_t i = 0; i < (size_t)d->def->point_count; i++) {
            double u = d->u[i * (size_t)d->def->most + (size_t)m];
            sum = sn_madd(sum, u, sn_load3(point_at(d, i)));
            mass += u;
        }
        sn_store3(d->out->centers + 3 * (size_t)m, sn_scale(mass > 0 ? 1 / mass : 0, sum));
    }
}

// Every image begins with the motions of the one before.
static void fit_all(decomposer *d) {
    size_t most = (size_t)d->def->most, count = (size_t)d->out->count;
    rigid *T = d->T;
    for (int32_t t = 0; t < d->def->image_count; t++) {
        const double *image = d->def->images + (size_t)t * d->def->stride;
        for (int k = 0; k < 3; k++) {
            fit_image(d, image, T);
        }
        for (size_t m = 0; m < count; m++) {
            double *out = d->out->poses + 12 * ((size_t)t * most + m);
            memcpy(out, T[m].R, sizeof T[m].R);
            memcpy(out + 9, T[m].t, sizeof T[m].t);
        }
    }
}

static void fill_slots(decomposer *d) {
    size_t slots = (size_t)d->out->slots, joints = (size_t)d->def->joint_count;
    for (size_t i = 0; i < (size_t)d->def->point_count; i++) {
        const double *u = d->u + i * (size_t)d->def->most;
        size_t used = slots * i;
        for (size_t j = 0; j < joints; j++) {
            double left = d->def->weights[i * joints + j];
            for (int32_t m = 0; m < d->out->count && left > 0; m++) {
                left -= d->out->parents[m] == (int32_t)j ? u[m] : 0;
            }
            if (left > 1e-9 && used < slots * (i + 1)) {
                d->out->joints[used] = (int32_t)j;
                d->out->weights[used++] = left;
            }
        }
        for (int32_t m = 0; m < d->out->count; m++) {
            if (u[m] > 0 && used < slots * (i + 1)) {
                d->out->joints[used] = d->def->joint_count + m;
                d->out->weights[used++] = u[m];
            }
        }
    }
}

sinew_status sn_soft_joints_create(sn_arena *arena, const sn_soft_joints_def *def,
                                   sn_soft_joints *joints) {
    size_t most = (size_t)def->most, points = (size_t)def->point_count;
    decomposer d = {.def = def, .arena = arena, .out = joints};
    d.kept = def->image_count < KEPT_IMAGES ? def->image_count : KEPT_IMAGES;
    d.d = SN_PUSH(arena, const double *, d.kept);
    d.T = SN_PUSH(arena, rigid, most * (size_t)d.kept);
    d.cluster = SN_PUSH(arena, int32_t, points);
    d.main = SN_PUSH(arena, int32_t, points);
    d.u = SN_PUSH(arena, double, points *most);
    *joints =
        (sn_soft_joints){.slots = def->slots,
                         .parents = SN_PUSH(arena, int32_t, most),
                         .centers = SN_PUSH(arena, double, 3 * most),
                         .poses = SN_PUSH(arena, double, 12 * most * (size_t)def->image_count),
                         .joints = SN_PUSH(arena, int32_t, points * (size_t)def->slots),
                         .weights = SN_PUSH(arena, double, points *(size_t)def->slots)};
    SN_TRY(sn_arena_status(arena));

    // Images at equal distances, the last one among them.
    for (int32_t t = 0; t < d.kept; t++) {
        int32_t image =
            d.kept > 1 ? (int32_t)((int64_t)t * (def->image_count - 1) / (d.kept - 1)) : 0;
        d.d[t] = def->images + (size_t)image * def->stride;
    }

    SN_TRY(find_joints(&d));
    find_centers(&d);
    fit_all(&d);
    fill_slots(&d);
    return SINEW_OK;
}
