// Mechanics of frame bodies: springs, inverse skinning, mass, iterations to equilibrium.
#include "points.h"
#include "validate/validate.h"
#include "validate/bar.h"
#include "validate/frame_bar.h"

#include "base/context.h"
#include "base/random.h"
#include "body/body.h"
#include "frame/body/frame_body.h"
#include "math/quat.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

enum { FRAMES = 5, POINTS = 10000, QUICK_POINTS = 2000 };

static const double length = 1, width = 0.2; // of the default bar

// Bends and twists the bar: every frame is rotated further than the previous one, plus a small
// random displacement.
static void bend(sinew_body *body, sn_random *random) {
    const sn_frame_model *model = body->model;
    sn_vec3 place = sn_v3(0, 0, 0);
    double angle = sn_random_range(random, -0.5, 0.5);

    for (int32_t i = 0; i < model->nodes.count; i++) {
        const sn_node *node = &model->nodes.items[i];
        double *q = body->q + node->config;
        double jitter[3];

        for (int k = 0; k < 3; k++) {
            jitter[k] = sn_random_range(random, -0.02, 0.02);
        }

        // The chain of frames keeps its lengths, up to the jitter.
        sn_quat R = sn_quat_exp(sn_v3(0.3 * i, angle * i, 0.2 * jitter[0]));
        if (i > 0) {
            place = sn_add(place, sn_quat_rotate(R, sn_v3(length / (FRAMES - 1), 0, 0)));
        }

        q[0] = R.x;
        q[1] = R.y;
        q[2] = R.z;
        q[3] = R.w;
        sn_store3(q + 4, sn_add(place, sn_load3(jitter)));
    }
}

// --- A8: springs

// Compares the stiffness at rest of a body's samples with that of the springs made from them: the
// largest difference over the largest entry.
static sinew_status stiffness_difference(validate_run *v, const frame_bar_def *def, double *error,
                                         double *lost) {
    // One body of samples, one of springs.
    frame_bar_def other = *def;
    other.springs = true;

    frame_bar b[2];
    SN_TRY(frame_bar_create(v->context, def, &b[0]));

    sinew_status status = frame_bar_create(v->context, &other, &b[1]);
    if (status != SINEW_OK) {
        frame_bar_destroy(&b[0]);
        return status;
    }

    // Both matrices at rest have the same pattern.
    double *A[2] = {0}, largest = 0;
    *error = 0;
    for (int k = 0; k < 2; k++) {
        A[k] = calloc(sn_bsr_value_count(&b[k].body->pattern), sizeof(double));
        if (!A[k]) {
            status = SINEW_OUT_OF_MEMORY;
        }

        sn_evaluation evaluation = {.q = b[k].body->rest, .matrix = A[k]};
        if (A[k]) {
            b[k].body->ops->elasticity.evaluate(b[k].body, &evaluation);
        }
    }

    // Compare entry by entry.
    if (status == SINEW_OK) {
        for (size_t i = 0; i < sn_bsr_value_count(&b[0].body->pattern); i++) {
            largest = fmax(largest, fabs(A[0][i]));
            *error = fmax(*error, fabs(A[1][i] - A[0][i]));
        }
    }

    *error /= largest;
    if (status == SINEW_OK) {
        status = sinew_frame_body_get_springs(b[1].body, NULL, lost);
    }

    for (int k = 0; k < 2; k++) {
        free(A[k]);
        frame_bar_destroy(&b[k]);
    }

    return status;
}

// Net force and torque of the springs of a bent bar, relative to the largest force in it.
static sinew_status net_force(validate_run *v, const frame_bar_def *def, double *error) {
    frame_bar b;
    SN_TRY(frame_bar_create(v->context, def, &b));

    const sn_frame_model *model = b.body->model;

    // Any configuration will do.
    sn_random random = sn_random_seed(8);

    bend(b.body, &random);
    double force[6 * FRAMES] = {0}, largest = 0;
    sn_evaluation evaluation = {.q = b.body->q, .force = force};

    b.body->ops->elasticity.evaluate(b.body, &evaluation);

    // Torques about the origin.
    sn_vec3 sum = sn_v3(0, 0, 0);
    sn_vec3 torque = sum;

    for (int32_t i = 0; i < model->nodes.count; i++) {
        const sn_node *node = &model->nodes.items[i];
        sn_vec3 f = sn_load3(force + 3 * node->row + 3);
        sn_vec3 x = sn_load3(sn_node_translation(node, b.body->q));
        sum = sn_add(sum, f);
        torque = sn_add(torque, sn_add(sn_load3(force + 3 * node->row), sn_cross(x, f)));
        largest = fmax(largest, sn_length(f));
    }

    *error = (sn_length(sum) + sn_length(torque) / length) / largest;
    frame_bar_destroy(&b);

    return SINEW_OK;
}

// Relative difference between the springs' stiffness at rest times a random motion and finite
// differences of their forces.
static sinew_status derivative_error(validate_run *v, const frame_bar_def *def, double *error) {
    enum { SIZE = 6 * FRAMES, CONFIG = 8 * FRAMES };
    frame_bar b;

    SN_TRY(frame_bar_create(v->context, def, &b));
    double *A = calloc(sn_bsr_value_count(&b.body->pattern), sizeof(double));
    sinew_status status = A ? SINEW_OK : SINEW_OUT_OF_MEMORY;
    double xi[SIZE], step[SIZE], product[SIZE];
    double force[2][SIZE] = {{0}};
    double q[CONFIG];
    double largest = 0;
    const double h = 1e-5;
    sn_random random = sn_random_seed(4);

    for (int i = 0; i < SIZE; i++) {
        xi[i] = sn_random_range(&random, -1, 1);
    }

    sn_evaluation at_rest = {.q = b.body->rest, .matrix = A};
    if (A) {
        b.body->ops->elasticity.evaluate(b.body, &at_rest);
    }
    if (A) {
        sn_bsr_mirror(v->context, &b.body->pattern, A);
    }
    if (A) {
        sn_bsr_multiply(v->context, &b.body->pattern, product, A, xi);
    }

    for (int side = 0; side < 2; side++) {
        for (int i = 0; i < SIZE; i++) {
            step[i] = (side ? h : -h) * xi[i];
        }
        sn_body_retract(b.body, q, b.body->rest, step);
        sn_evaluation beside = {.q = q, .force = force[side]};
        b.body->ops->elasticity.evaluate(b.body, &beside);
    }

    *error = 0;
    if (A) {
        // The matrix is that of the solvers: the negative derivative of the force.
        for (int i = 0; i < SIZE; i++) {
            largest = fmax(largest, fabs(product[i]));

            *error = fmax(*error, fabs((force[1][i] - force[0][i]) / (2 * h) + product[i]));
        }
    }
    *error /= largest;
    free(A);
    frame_bar_destroy(&b);

    return status;
}

// Displacement of the free end of a bar under a small transverse force.
static sinew_status small_sag(validate_run *v, const frame_bar_def *def, double *sag) {
    frame_bar b;
    SN_TRY(frame_bar_create(v->context, def, &b));

    const double end[3] = {length, 0, 0};
    const double push[3] = {0, 0, 0.5};
    double position[3] = {0};
    sinew_static_def statics = sinew_default_static_def();
    sinew_status status = sinew_frame_body_hold(b.body, 0, SINEW_HOLD_ALL);

    if (status == SINEW_OK) {
        status = proof_add_force(b.body, end, push);
    }
    if (status == SINEW_OK) {
        status = sinew_world_solve_static(b.world, &statics, NULL);
    }
    if (status == SINEW_OK) {
        status = proof_get_position(b.body, end, position);
    }

    *sag = position[2];
    frame_bar_destroy(&b);

    return status;
}

sinew_status validate_springs(validate_run *v) {
    // Two frames: springs reproduce the samples.
    frame_bar_def def = frame_bar_default_def();
    def.count = 2;

    double error, lost, sag[2];
    SN_TRY(stiffness_difference(v, &def, &error, &lost));
    validate_at_most(v, "two frames as springs: stiffness at rest against the samples', relative",
                     1e-9, error, "-");

    for (int k = 0; k < 2; k++) {
        def.springs = k;
        SN_TRY(small_sag(v, &def, &sag[k]));
    }

    validate_near(v, "two frames as springs: small deflection over that of the samples", 1,
                  sag[1] / sag[0], 0.02, "-");
    SN_TRY(net_force(v, &def, &error));
    validate_at_most(v, "two frames as springs, bent: net force and torque, relative", 1e-12, error,
                     "-");

    // Several frames in a row.
    def.count = FRAMES;
    SN_TRY(net_force(v, &def, &error));
    validate_at_most(v, "five frames as springs, strongly bent: net force and torque, relative",
                     1e-12, error, "-");

    for (int k = 0; k < 2; k++) {
        def.springs = k;
        SN_TRY(small_sag(v, &def, &sag[k]));
    }

    validate_near(v, "five frames as springs: small deflection over that of the samples", 1,
                  sag[1] / sag[0], 0.02, "-");

    // Frames that all act on every sample.
    def.weights = SINEW_WEIGHTS_RADIAL;
    SN_TRY(derivative_error(v, &def, &error));
    validate_at_most(v,
                     "five frames that all reach everywhere, as springs: stiffness at rest against "
                     "differences of forces",
                     1e-6, error, "-");
    def.springs = false;
    SN_TRY(stiffness_difference(v, &def, &error, &lost));
    validate_note(v,
                  "it differs from the samples' stiffness by %.3g %%: springs between pairs of "
                  "frames drop a skew part",
                  100 * lost);

    return SINEW_OK;
}

// --- A9: inverse skinning

static int compare(const void *a, const void *b) {
    return *(const int32_t *)a - *(const int32_t *)b;
}

static sinew_status inverse_case(validate_run *v, sinew_weights weights, const char *name) {
    frame_bar_def def = frame_bar_default_def();
    def.weights = weights;

    frame_bar b;
    SN_TRY(frame_bar_create(v->context, &def, &b));

    // Random points of bars that are bent again every 500 points.
    static const double half[3] = {0.5, 0.1, 0.1};
    int32_t count = v->quick ? QUICK_POINTS : POINTS;
    int32_t failures = 0;
    int32_t iterations[POINTS];
    sn_random random = sn_random_seed(9);

    for (int32_t i = 0; i < count; i++) {
        if (i % 500 == 0) {
            bend(b.body, &random);
        }

        double X[3], x[3];
        for (int k = 0; k < 3; k++) {
            X[k] = sn_random_range(&random, -half[k], half[k]) + (k == 0 ? length / 2 : 0);
        }

        proof_get_position(b.body, X, x);
        sn_vec3 found;

        failures +=
            !sn_frame_find_point(b.body, sn_load3(x), 1e-5 * length, &found, &iterations[i]);
    }

    // Median and tail.
    qsort(iterations, (size_t)count, sizeof *iterations, compare);
    char claim[160];

    snprintf(claim, sizeof claim,
             "inverse skinning of random points of a bent bar, %s weights: failures", name);
    validate_near(v, claim, 0, failures, 0, "-");
    snprintf(claim, sizeof claim, "iterations to 1e-5 of the length, %s weights: median", name);
    validate_at_most(v, claim, 4, iterations[count / 2], "-");
    validate_note(v, "%d points; 99 of 100 need at most %d, the hardest %d", count,
                  iterations[count * 99 / 100], iterations[count - 1]);
    frame_bar_destroy(&b);

    return SINEW_OK;
}

sinew_status validate_inverse_skinning(validate_run *v) {
    SN_TRY(inverse_case(v, SINEW_WEIGHTS_AXIS_LINEAR, "linear axis"));
    return inverse_case(v, SINEW_WEIGHTS_HARMONIC, "harmonic");
}

// --- A19: mass

// Gives every node the velocity of a rigid motion, v + w x X.
static void set_rigid_velocity(sinew_body *body, sn_vec3 v, sn_vec3 w) {
    const sn_frame_model *model = body->model;
    for (int32_t i = 0; i < model->nodes.count; i++) {
        const sn_node *node = &model->nodes.items[i];
        double *out = body->v + 3 * node->row;
        sn_vec3 at = sn_add(v, sn_cross(w, node->origin));

        if (node->kind == SINEW_NODE_RIGID) {
            sn_store3(out, w);
            sn_store3(out + 3, at);
            continue;
        }

        sn_store3(out, at);
        sn_mat3 W = sn_cross_matrix(w);
        for (int k = 0; k < 3; k++) {
            sn_store3(out + 3 + 3 * k, sn_mat3_column(W, k));
        }
    }
}

// Relative error of the kinetic energy of a rigid motion of the rest shape.
static sinew_status rigid_energy_error(validate_run *run, const frame_bar_def *def, double *error) {
    frame_bar b;
    SN_TRY(frame_bar_create(run->context, def, &b));

    sn_vec3 v = {0.3, -1, 2};
    sn_vec3 w = {2, 1, -3};

    set_rigid_velocity(b.body, v, w);
    sinew_measures m;

    sinew_body_get_measures(b.body, &m);

    // About the middle of the bar: inertia m/12 (b^2 + c^2).
    double mass = sinew_default_tissue().density * length * width * width;
    double I1 = mass / 6 * width * width;
    double I2 = mass / 12 * (length * length + width * width);
    sn_vec3 middle = sn_add(v, sn_cross(w, sn_v3(length / 2, 0, 0)));
    double exact =
        0.5 * mass * sn_dot(middle, middle) + 0.5 * (I1 * w.x * w.x + I2 * (w.y * w.y + w.z * w.z));

    *error = fabs(m.kinetic_energy / exact - 1);
    frame_bar_destroy(&b);

    return SINEW_OK;
}

// Relative error of g, from the change of momentum of a bent and stretched free bar in one step.
static sinew_status fall_error(validate_run *run, frame_bar_def def, double *error) {
    def.gravity = 9.81;
    def.integrator = SINEW_INTEGRATOR_MIDPOINT;

    frame_bar b;
    SN_TRY(frame_bar_create(run->context, &def, &b));

    sn_random random = sn_random_seed(19);
    for (int32_t i = 0; i < b.body->config_count; i++) {
        b.body->q[i] += sn_random_range(&random, -0.01, 0.01);
    }

    sinew_measures before, after;
    sinew_body_get_measures(b.body, &before);

    sinew_status status = sinew_world_step(b.world, NULL);
    sinew_body_get_measures(b.body, &after);
    *error = fabs((after.momentum[2] - before.momentum[2]) / (-9.81 * 0.01 * after.mass) - 1);
    frame_bar_destroy(&b);

    return status;
}

// Initial acceleration of the middle frame of a bar at rest, relative to g.
static sinew_status first_fall(validate_run *run, frame_bar_def def, double *ratio) {
    def.gravity = 9.81;
    def.integrator = SINEW_INTEGRATOR_SYMPLECTIC_EULER;

    frame_bar b;
    SN_TRY(frame_bar_create(run->context, &def, &b));

    const sn_frame_model *model = b.body->model;
    sinew_status status = sinew_world_step(b.world, NULL);

    *ratio = b.body->v[3 * sn_node_translation_row(&model->nodes.items[FRAMES / 2]) + 2] /
             (-9.81 * 0.01);
    frame_bar_destroy(&b);

    return status;
}

sinew_status validate_frame_mass(validate_run *v) {
    static const struct {
        const char *name;
        sinew_weights weights;
        sinew_frame_mass mass;
    } cases[3] = {
        {"row-sum mass", SINEW_WEIGHTS_AXIS_LINEAR, SINEW_FRAME_MASS_ROW_SUM},
        {"consistent mass", SINEW_WEIGHTS_AXIS_LINEAR, SINEW_FRAME_MASS_CONSISTENT},
        {"negative weights, consistent mass", SINEW_WEIGHTS_AXIS_CUBIC, SINEW_FRAME_MASS_AUTO}};

    // Masses that are right.
    double error, ratio;
    for (int k = 0; k < 3; k++) {
        char claim[160];
        double worst = 0;
        frame_bar_def def = frame_bar_default_def();

        def.kind = SINEW_NODE_AFFINE;
        def.weights = cases[k].weights;
        def.mass = cases[k].mass;
        SN_TRY(fall_error(v, def, &error));
        snprintf(claim, sizeof claim, "free fall of a deformed frame body, %s: relative error of g",
                 cases[k].name);
        validate_at_most(v, claim, 1e-12, error, "-");

        for (int kind = SINEW_NODE_RIGID; kind <= SINEW_NODE_QUADRATIC; kind++) {
            def.kind = (sinew_node_kind)kind;
            SN_TRY(rigid_energy_error(v, &def, &error));
            worst = fmax(worst, error);
        }

        snprintf(claim, sizeof claim,
                 "kinetic energy of a rigid motion of the rest shape, %s: relative error",
                 cases[k].name);
        validate_at_most(v, claim, 1e-12, worst, "-");
        validate_note(v, "the worst of rigid, affine and quadratic frames");
    }

    frame_bar_def def = frame_bar_default_def();
    def.kind = SINEW_NODE_AFFINE;

    // The lumping that is wrong.
    def.mass = SINEW_FRAME_MASS_DIAGONAL;
    SN_TRY(first_fall(v, def, &ratio));
    validate_at_least(v, "for comparison, the lumping of the papers: a body falls faster than g",
                      1.4, ratio, "-");
    SN_TRY(rigid_energy_error(v, &def, &error));
    validate_note(v, "it loses %.0f %% of the kinetic energy of a rigid motion", 100 * error);

    return SINEW_OK;
}

// --- A23: iterations to equilibrium (Gilles et al. 2011, 5.2 and 5.4)

static const double bend_gravity = 5; // the end sinks by a fifth of the length

static sinew_status solve_counted(sinew_context *context, sinew_world *world,
                                  sinew_step_report *report) {
    sinew_static_def statics = sinew_default_static_def();
    statics.newton_tolerance = 1e-6;
    SN_TRY(sinew_world_solve_static(world, &statics, report));
    if (report->outcome == SINEW_OUTCOME_CONVERGED) {
        return SINEW_OK;
    }

    return sn_fail(context, SINEW_DIVERGED, "the static solve ended with '%s' at a residual of %g",
                   sinew_outcome_name(report->outcome), report->newton_residual);
}

static sinew_status count_elements(validate_run *v, sinew_step_report *report) {
    bar_def def = bar_default_def();
    def.size[1] = def.size[2] = width;
    def.cells[0] = 8;
    def.cells[1] = def.cells[2] = 9; // 9 x 10 x 10 nodes
    def.element = SINEW_ELEMENT_HEX8;
    def.material.strain = SINEW_STRAIN_GREEN;
    def.world.gravity[2] = -bend_gravity;
    def.world.solver = SINEW_SOLVER_JACOBI;

    bar b;
    SN_TRY(bar_create(v->context, &def, &b));

    sinew_status status = bar_clamp(&b);
    if (status == SINEW_OK) {
        status = solve_counted(v->context, b.world, report);
    }

    bar_destroy(&b);
    return status;
}

static sinew_status count_frames(validate_run *v, sinew_step_report *report) {
    sinew_material_def material = sinew_default_material_def();
    material.strain = SINEW_STRAIN_GREEN;

    frame_bar_def def = frame_bar_default_def();
    def.material = &material;
    def.blend = SINEW_BLEND_DUAL_QUATERNION;
    def.gravity = bend_gravity;
    def.solver = SINEW_SOLVER_JACOBI;

    frame_bar b;
    SN_TRY(frame_bar_create(v->context, &def, &b));

    sinew_status status = sinew_frame_body_hold(b.body, 0, SINEW_HOLD_ALL);
    if (status == SINEW_OK) {
        status = solve_counted(v->context, b.world, report);
    }

    frame_bar_destroy(&b);
    return status;
}

sinew_status validate_frame_iterations(validate_run *v) {
    sinew_step_report elements, frames;
    SN_TRY(count_elements(v, &elements));
    SN_TRY(count_frames(v, &frames));
    validate_at_least(v,
                      "bar bent by its weight: iterations to equilibrium of 900 nodes of hexahedra "
                      "over those of 5 frames",
                      20, (double)elements.solver_iterations / frames.solver_iterations, "-");
    validate_note(
        v,
        "%d and %d conjugate gradient iterations in %d and %d Newton steps, both with block Jacobi",
        elements.solver_iterations, frames.solver_iterations, elements.newton_iterations,
        frames.newton_iterations);
    validate_at_least(v, "the same counted in Newton steps alone", 20,
                      (double)elements.newton_iterations / frames.newton_iterations, "-");
    validate_note(v, "Newton's method converges quadratically with any number of unknowns; few "
                     "frames save work within each step only");

    return SINEW_OK;
}
