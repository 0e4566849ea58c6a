// Materials with their own axes in every element, compared with sums over elements that rotate the
// constants instead of the gradients: energy, forces, both matrices, states of elements, recovery
// from an inverted state, and changes of material and axes.
#include "support/test.h"

#include "sinew/sinew.h"

#include "body/body.h"
#include "material/material.h"
#include "math/quat.h"

#include <stdio.h>
#include <stdlib.h>

typedef struct bar {
    sinew_context *context;
    sinew_mesh *mesh;
    sinew_world *world;
    sinew_body *body;
    double *axes, *q; // q is strongly deformed and rotated
    size_t n;
} bar;

static sn_mat3 random_axes(sn_random *random, bool left_handed) {
    sn_quat q = {sn_random_range(random, 0.1, 1), sn_random_range(random, -1, 1),
                 sn_random_range(random, -1, 1), sn_random_range(random, -1, 1)};
    sn_mat3 Q = sn_quat_to_mat3(sn_quat_normalize(q));

    if (left_handed) {
        for (int i = 0; i < 3; i++) {
            Q.m[i][1] = -Q.m[i][1];
        }
    }

    return Q;
}

static bar make_bar(const sinew_material_def *material) {
    bar b = {.context = test_context(1)};
    sinew_shape_def shape = sinew_default_shape_def();
    sinew_world_def world = sinew_default_world_def();

    shape.element = SINEW_ELEMENT_TET4;
    shape.cells[0] = 3;
    shape.cells[1] = shape.cells[2] = 2;
    assert_int_equal(sinew_mesh_create_shape(b.context, &shape, &b.mesh), SINEW_OK);
    assert_int_equal(sinew_world_create(b.context, &world, &b.world), SINEW_OK);

    sn_random random = sn_random_seed(31);
    b.axes = calloc(9 * (size_t)b.mesh->element_count, sizeof *b.axes);
    for (int32_t e = 0; e < b.mesh->element_count; e++) {
        sn_mat3 Q = random_axes(&random, e % 3 == 0);
        for (int k = 0; k < 3; k++) {
            sn_store3(b.axes + 9 * (size_t)e + 3 * k, sn_mat3_column(Q, k));
        }
    }

    sinew_body_def def = sinew_default_body_def();
    def.mesh = b.mesh;
    def.materials = material;
    def.material_count = 1;
    def.material_axes = b.axes;
    assert_int_equal(sinew_body_create(b.world, &def, &b.body), SINEW_OK);
    b.n = (size_t)sn_body_size(b.body);
    b.q = calloc(b.n, sizeof *b.q);

    sn_mat3 R = random_axes(&random, false);
    for (size_t i = 0; i < b.n; i += 3) {
        sn_vec3 x = sn_load3(b.body->rest + i);
        x = sn_add(x, sn_v3(sn_random_range(&random, -1, 1) * 0.08,
                            sn_random_range(&random, -1, 1) * 0.08, 0.1 * x.x));
        sn_store3(b.q + i, sn_mat3_apply(R, x));
    }

    return b;
}

static void free_bar(bar *b) {
    free(b->axes);
    free(b->q);
    sinew_world_destroy(b->world);
    sinew_mesh_destroy(b->mesh);
    sinew_context_destroy(b->context);
}

typedef struct sums {
    double energy, *force, *matrix; // the matrix is dense; only its lower triangle is used
} sums;

static sums push_sums(size_t n) {
    return (sums){0, calloc(n, sizeof(double)), calloc(n * n, sizeof(double))};
}

static void free_sums(sums *s) {
    free(s->force);
    free(s->matrix);
}

static sums evaluate(bar *b, bool projected, bool recovering) {
    sums s = push_sums(b->n);
    double *A = calloc(sn_bsr_value_count(&b->body->pattern), sizeof *A);
    sn_evaluation evaluation = {.q = b->q,
                                .want_energy = true,
                                .force = s.force,
                                .matrix = A,
                                .projected = projected,
                                .recovering = recovering};

    b->body->ops->elasticity.evaluate(b->body, &evaluation);
    s.energy = evaluation.energy;
    for (int32_t row = 0; row < b->body->rows; row++) {
        for (int32_t column = 0; column <= row; column++) {
            int32_t slot = sn_bsr_find(&b->body->pattern, row, column);
            if (slot >= 0) {
                for (int e = 0; e < 9; e++) {
                    s.matrix[(size_t)(3 * row + e / 3) * b->n + (size_t)(3 * column + e % 3)] =
                        A[9 * (size_t)slot + (size_t)e];
                }
            }
        }
    }

    free(A);
    return s;
}

typedef struct tet {
    const int32_t *nodes;
    sn_vec3 gradient[4];
    double volume;
    sn_mat3 F, axes;
} tet;

static tet tet_of(const bar *b, int32_t e) {
    tet t = {.nodes = b->mesh->indices + 4 * (size_t)e};
    sn_vec3 X[4], x[4];
    for (int a = 0; a < 4; a++) {
        X[a] = sn_load3(b->mesh->points + 3 * (size_t)t.nodes[a]);
        x[a] = sn_load3(b->q + 3 * (size_t)t.nodes[a]);
    }

    sn_mat3 Dm = sn_mat3_columns(sn_sub(X[1], X[0]), sn_sub(X[2], X[0]), sn_sub(X[3], X[0]));
    sn_mat3 Ds = sn_mat3_columns(sn_sub(x[1], x[0]), sn_sub(x[2], x[0]), sn_sub(x[3], x[0]));
    sn_mat3 inverse = sn_mat3_inverse(Dm);

    t.F = sn_mat3_mul(Ds, inverse);
    t.volume = sn_mat3_det(Dm) / 6;
    for (int a = 1; a < 4; a++) {
        t.gradient[a] = sn_v3(inverse.m[a - 1][0], inverse.m[a - 1][1], inverse.m[a - 1][2]);
        t.gradient[0] = sn_sub(t.gradient[0], t.gradient[a]);
    }

    const double *axes = b->axes + 9 * (size_t)e;
    t.axes = sn_mat3_columns(sn_load3(axes), sn_load3(axes + 3), sn_load3(axes + 6));

    return t;
}

static void add_tet(sums *s, const bar *b, const tet *t, const sinew_material_def *def,
                    bool projected) {
    sn_material material = sn_material_prepare(def, SN_PLANE_NONE, b->context->isa);
    double parameters[SN_MATERIAL_MAX_PARAMETERS], H[81];

    sn_material_parameters(parameters, &material, def, &t->axes);
    s->energy += t->volume * sn_material_energy(&material, parameters, t->F);

    sn_mat3 P = sn_material_stress(&material, parameters, t->F);
    sn_material_tangent(H, &material, parameters, t->F, projected);
    for (int c = 0; c < 4; c++) {
        double g[3], f[3];
        sn_store3(g, t->gradient[c]);
        sn_store3(f, sn_scale(-t->volume, sn_mat3_apply(P, t->gradient[c])));

        for (int i = 0; i < 3; i++) {
            s->force[3 * t->nodes[c] + i] += f[i];
        }

        for (int d = 0; d < 4; d++) {
            double h[3];
            sn_store3(h, t->gradient[d]);
            if (t->nodes[d] > t->nodes[c]) {
                continue;
            }

            for (int e = 0; e < 81; e++) {
                int i = e / 27;
                int j = e / 9 % 3;
                int k = e / 3 % 3;
                int l = e % 3;
                s->matrix[(size_t)(3 * t->nodes[c] + i) * b->n + (size_t)(3 * t->nodes[d] + k)] +=
                    t->volume * g[j] * H[9 * (3 * i + j) + 3 * k + l] * h[l];
            }
        }
    }
}

static void compare(const char *what, const sums *a, const sums *b, size_t n) {
    test_close(what, a->energy, b->energy, 1e-12 * b->energy);
    test_close(what, test_relative_error(a->force, b->force, n), 0, 1e-11);
    test_close(what, test_relative_error(a->matrix, b->matrix, n * n), 0, 1e-10);
}

static void check_body(const char *what, bar *b, const sinew_material_def *def) {
    for (int projected = 0; projected < 2; projected++) {
        sums found = evaluate(b, projected, false);
        sums expected = push_sums(b->n);
        for (int32_t e = 0; e < b->mesh->element_count; e++) {
            tet t = tet_of(b, e);
            add_tet(&expected, b, &t, def, projected);
        }

        compare(what, &found, &expected, b->n);
        free_sums(&found);
        free_sums(&expected);
    }
}

// A law supplied by the caller, T/2 |F a|^2 along axis 1.
static void pull_along_axis(void *user, const double F[9], const double frame[9], double *energy,
                            double *P, double *H) {
    (void)user;
    double T = 1e5;
    double a[3] = {frame[0], frame[3], frame[6]};
    double Fa[3] = {0};

    for (int e = 0; e < 9; e++) {
        Fa[e / 3] += F[e] * a[e % 3];
    }

    if (energy) {
        *energy = 0.5 * T * (Fa[0] * Fa[0] + Fa[1] * Fa[1] + Fa[2] * Fa[2]);
    }

    if (P) {
        for (int e = 0; e < 9; e++) {
            P[e] = T * Fa[e / 3] * a[e % 3];
        }
    }

    if (H) {
        for (int e = 0; e < 81; e++) {
            H[e] = e / 27 == e / 3 % 3 ? T * a[e / 9 % 3] * a[e % 3] : 0;
        }
    }
}

enum { LAWS = 8 };

static sinew_material_def law(int index) {
    sinew_material_def def = sinew_default_material_def();
    def.law = index == 1  ? SINEW_MATERIAL_TRANSVERSE
              : index < 6 ? SINEW_MATERIAL_ORTHOTROPIC
                          : SINEW_MATERIAL_HOOKE;
    def.orthotropic = (sinew_orthotropic){2e6, 1e6, 4e6, false, 0.3, 0.2, 0.4, 9e5, 3e5, 5e5};
    def.exact_rotation = index != 2;

    if (index == 3) {
        def.strain = SINEW_STRAIN_GREEN;
    }
    if (index == 4) {
        def.strain = SINEW_STRAIN_INFINITESIMAL;
    }
    if (index == 5) {
        def.volume_stiffness = 1e6;
    }
    if (index >= 5) {
        def.fibre_stress = 2e5;
    }

    if (index == 7) {
        def.law = SINEW_MATERIAL_CUSTOM;
        def.custom.evaluate = pull_along_axis;
    }

    return def;
}

static void test_laws(void **state) {
    (void)state;
    for (int index = 0; index < LAWS; index++) {
        sinew_material_def def = law(index);
        bar b = make_bar(&def);
        char what[32];
        snprintf(what, sizeof what, "law %d", index);
        check_body(what, &b, &def);
        free_bar(&b);
    }
}

// Gradients are rotated and rotated back when laws change.
static void test_other_materials(void **state) {
    (void)state;
    static const int order[] = {7, 0, 4, 3, 7, 2};
    sinew_material_def def = law(0);
    bar b = make_bar(&def);

    for (size_t i = 0; i < sizeof order / sizeof *order; i++) {
        def = law(order[i]);
        assert_int_equal(sinew_body_set_material(b.body, 0, &def), SINEW_OK);
        check_body("another material", &b, &def);
        sinew_material_def wrong = law(order[(i + 1) % 6]);
        wrong.density = -1;
        assert_int_equal(sinew_body_set_material(b.body, 0, &wrong), SINEW_INVALID_ARGUMENT);
        check_body("a refused material", &b, &def);
    }

    free_bar(&b);
}

// F and the stress of elements are reported in world coordinates.
static void test_states(void **state) {
    (void)state;
    sinew_material_def def = law(0);
    bar b = make_bar(&def);

    assert_int_equal(sinew_body_set_positions(b.body, b.q), SINEW_OK);
    for (int32_t e = 0; e < b.mesh->element_count; e++) {
        tet t = tet_of(&b, e);
        sn_material material = sn_material_prepare(&def, SN_PLANE_NONE, b.context->isa);
        double parameters[SN_MATERIAL_MAX_PARAMETERS];

        sn_material_parameters(parameters, &material, &def, &t.axes);
        sn_mat3 P = sn_material_stress(&material, parameters, t.F);
        sn_mat3 sigma = sn_mat3_scale(1 / sn_mat3_det(t.F), sn_mat3_mul(P, sn_mat3_transpose(t.F)));
        const double expected[6] = {sigma.m[0][0], sigma.m[1][1], sigma.m[2][2],
                                    sigma.m[1][2], sigma.m[2][0], sigma.m[0][1]};
        sinew_element_state found;

        assert_int_equal(sinew_body_get_element_state(b.body, e, &found), SINEW_OK);
        test_close("F", test_relative_error(found.F, &t.F.m[0][0], 9), 0, 1e-13);
        test_close("stress", test_relative_error(found.stress, expected, 6), 0, 1e-11);
    }

    free_bar(&b);
}

// Recovery ignores the axes: with equal constants it is that of a body without axes.
static void test_recovery(void **state) {
    (void)state;
    sinew_material_def def = law(6);
    sinew_material_def isotropic = def;

    def.law = SINEW_MATERIAL_ORTHOTROPIC;
    def.orthotropic = sinew_default_material_def().orthotropic;
    def.fibre_stress = isotropic.fibre_stress = 0;

    bar b = make_bar(&def);
    bar plain = make_bar(&isotropic);
    for (size_t i = 0; i < b.n; i += 3) {
        b.q[i] = plain.q[i] = -b.q[i]; // mirrored
    }

    sums found = evaluate(&b, true, true);
    sums expected = evaluate(&plain, true, true);

    assert_true(expected.energy > 1);
    compare("recovery", &found, &expected, b.n);
    free_sums(&found);
    free_sums(&expected);
    free_bar(&b);
    free_bar(&plain);
}

// A body whose axes were replaced is like one made with them, for laws that rotate their gradients
// (0) and laws that do not. The last digits of rotated gradients differ: 1e-12.
static void test_new_axes(void **state) {
    (void)state;
    sinew_material_def rotated = law(0), unrotated = law(0);
    unrotated.strain = SINEW_STRAIN_INFINITESIMAL;
    const sinew_material_def defs[] = {rotated, unrotated};

    for (size_t i = 0; i < 2; i++) {
        bar b = make_bar(&defs[i]);
        sums expected = evaluate(&b, true, false);

        // Other axes give other forces; the old ones bring them back.
        size_t size = 9 * (size_t)b.mesh->element_count;
        double *other = calloc(size, sizeof *other);
        for (size_t k = 0; k < size; k++) {
            other[k] = b.axes[(k + 9) % size];
        }
        assert_int_equal(sinew_body_set_material_axes(b.body, other), SINEW_OK);
        sums changed = evaluate(&b, true, false);
        assert_true(test_relative_error(changed.force, expected.force, b.n) > 1e-3);
        assert_int_equal(sinew_body_set_material_axes(b.body, b.axes), SINEW_OK);
        sums found = evaluate(&b, true, false);
        compare("axes", &found, &expected, b.n);

        // Axes that are not orthonormal are refused, and nothing changes.
        other[4] += 0.1;
        assert_int_equal(sinew_body_set_material_axes(b.body, other), SINEW_INVALID_DATA);

        free(other);
        free_sums(&expected);
        free_sums(&changed);
        free_sums(&found);
        free_bar(&b);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_laws), cmocka_unit_test(test_other_materials),
        cmocka_unit_test(test_states), cmocka_unit_test(test_recovery),
        cmocka_unit_test(test_new_axes)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
