// Pulls at an angle to the grain, as a patch test: on an irregular mesh whose boundary follows the
// strain that the formulas of Lekhnitskii (1963) give for a pull along x, inner nodes find that
// strain, and the stress of every element is that of the pull alone.
#include "support/test.h"

#include "sinew/sinew.h"

#include "math/mat3.h"

#include <math.h>
#include <stdlib.h>

static const double PULL = 1; // [Pa], for strains of 1e-6 at most

// The compliances in the plane of two of the axes, the first of which is rotated from x, and out of
// that plane.
typedef struct lamina {
    double S11, S22, S12, S66, S13, S23;
} lamina;

static sinew_material_def orthotropic(bool four_parameters, lamina *s) {
    sinew_material_def def = sinew_default_material_def();
    def.law = SINEW_MATERIAL_ORTHOTROPIC;
    def.poisson = 0.3;
    def.orthotropic =
        (sinew_orthotropic){8e6, 1e6, 2e6, four_parameters, 0.4, 0.2, 0.1, 6e5, 4e5, 5e5};

    const sinew_orthotropic *o = &def.orthotropic;
    *s = (lamina){1 / o->young_1,
                  1 / o->young_2,
                  -o->poisson_12 / o->young_1,
                  1 / o->shear_12,
                  -o->poisson_31 / o->young_3,
                  -o->poisson_23 / o->young_2};

    if (!four_parameters) {
        return def;
    }

    s->S12 = -0.3 / sqrt(o->young_1 * o->young_2);
    s->S66 = 2.6 / sqrt(o->young_1 * o->young_2);
    s->S13 = -0.3 / sqrt(o->young_1 * o->young_3);
    s->S23 = -0.3 / sqrt(o->young_2 * o->young_3);

    return def;
}

// The fibres first, then a direction across.
static sinew_material_def transverse(lamina *s) {
    sinew_material_def def = sinew_default_material_def();
    def.law = SINEW_MATERIAL_TRANSVERSE;
    def.transverse = (sinew_transverse){9e6, 1e6, 0.35, 0.25, 7e5};

    const sinew_transverse *t = &def.transverse;
    *s = (lamina){1 / t->young_fibre,
                  1 / t->young_plane,
                  -t->poisson_fibre / t->young_fibre,
                  1 / t->shear_fibre,
                  -t->poisson_fibre / t->young_fibre,
                  -t->poisson_plane / t->young_plane};

    return def;
}

// The gradient of the displacement under a pull along x, with the first axis rotated from x by
// `angle` about z.
static sn_mat3 strain_of(const lamina *s, double angle) {
    double c = cos(angle);
    double n = sin(angle);
    double c2 = c * c;
    double n2 = n * n;
    double along = s->S11 * c2 * c2 + (2 * s->S12 + s->S66) * n2 * c2 + s->S22 * n2 * n2;
    double across = s->S12 * (n2 * n2 + c2 * c2) + (s->S11 + s->S22 - s->S66) * n2 * c2;
    double shear = (2 * s->S11 - 2 * s->S12 - s->S66) * n * c2 * c -
                   (2 * s->S22 - 2 * s->S12 - s->S66) * n2 * n * c;
    double out = c2 * s->S13 + n2 * s->S23;

    return sn_mat3_scale(
        PULL, (sn_mat3){{{along, 0.5 * shear, 0}, {0.5 * shear, across, 0}, {0, 0, out}}});
}

typedef struct block {
    sinew_context *context;
    sinew_mesh *mesh;
    sinew_world *world;
    sinew_body *body;
} block;

static bool is_inner(const double *X) {
    return fabs(X[0]) < 0.499 && fabs(X[1]) < 0.499 && fabs(X[2]) < 0.499;
}

static block make_block(sinew_element element, const sinew_material_def *material,
                        const double axes[9]) {
    block b = {.context = test_context(1)};
    sinew_shape_def shape = sinew_default_shape_def();

    shape.element = element;
    for (int k = 0; k < 3; k++) {
        shape.cells[k] = 3;
    }

    sinew_mesh *regular;
    assert_int_equal(sinew_mesh_create_shape(b.context, &shape, &regular), SINEW_OK);

    size_t points = 3 * (size_t)regular->point_count;
    size_t elements = (size_t)regular->element_count;
    double *moved = malloc(points * sizeof *moved);
    double *all = malloc(9 * elements * sizeof *all);
    sn_random random = sn_random_seed(83);

    for (size_t i = 0; i < points; i++) {
        moved[i] =
            regular->points[i] +
            (is_inner(regular->points + i - i % 3) ? sn_random_range(&random, -0.06, 0.06) : 0);
    }

    for (size_t e = 0; e < elements; e++) {
        memcpy(all + 9 * e, axes, 9 * sizeof *all);
    }

    sinew_mesh irregular = *regular;
    irregular.points = moved;
    assert_int_equal(sinew_mesh_copy(b.context, &irregular, &b.mesh), SINEW_OK);
    sinew_mesh_destroy(regular);

    sinew_world_def world = sinew_default_world_def();
    world.gravity[2] = 0;
    assert_int_equal(sinew_world_create(b.context, &world, &b.world), SINEW_OK);

    sinew_body_def def = sinew_default_body_def();
    def.mesh = b.mesh;
    def.materials = material;
    def.material_count = 1;
    def.material_axes = all;
    assert_int_equal(sinew_body_create(b.world, &def, &b.body), SINEW_OK);
    free(moved);
    free(all);

    return b;
}

static void check_pull(sinew_element element, const sinew_material_def *material,
                       const double axes[9], sn_mat3 G) {
    block b = make_block(element, material, axes);
    const double *X = b.mesh->points;
    for (int32_t i = 0; i < b.mesh->point_count; i++) {
        if (is_inner(X + 3 * i)) {
            continue;
        }

        double target[3];
        sn_store3(target, sn_add(sn_load3(X + 3 * i), sn_mat3_apply(G, sn_load3(X + 3 * i))));
        assert_int_equal(sinew_body_fix_nodes(b.body, &i, 1, SINEW_AXIS_ALL), SINEW_OK);
        assert_int_equal(sinew_body_move_nodes(b.body, &i, 1, target), SINEW_OK);
    }

    sinew_static_def statics = sinew_default_static_def();
    statics.newton_tolerance = 1e-13;
    statics.newton_iterations = 30;

    sinew_step_report report;
    assert_int_equal(sinew_world_solve_static(b.world, &statics, &report), SINEW_OK);

    const double *x = sinew_body_get_positions(b.body);
    for (int32_t i = 0; i < b.mesh->point_count; i++) {
        sn_vec3 expected = sn_add(sn_load3(X + 3 * i), sn_mat3_apply(G, sn_load3(X + 3 * i)));
        // Displacements are about 1e-6.
        assert_true(sn_distance(expected, sn_load3(x + 3 * i)) < 1e-13);
    }

    for (int32_t e = 0; e < b.mesh->element_count; e++) {
        sinew_element_state state;
        assert_int_equal(sinew_body_get_element_state(b.body, e, &state), SINEW_OK);
        // The strain is 1e-6; its square and rounding by the stiffest modulus remain.
        for (int k = 0; k < 6; k++) {
            test_close("stress", state.stress[k], k == 0 ? PULL : 0, 3e-5 * PULL);
        }
    }

    sinew_world_destroy(b.world);
    sinew_mesh_destroy(b.mesh);
    sinew_context_destroy(b.context);
}

static void test_pulls(void **state) {
    (void)state;
    static const sinew_element elements[] = {SINEW_ELEMENT_TET4, SINEW_ELEMENT_HEX8};
    for (int law = 0; law < 3; law++) {
        lamina s;
        sinew_material_def def = law < 2 ? orthotropic(law == 0, &s) : transverse(&s);
        for (int strain = SINEW_STRAIN_GREEN; strain <= SINEW_STRAIN_COROTATIONAL; strain++) {
            for (int degrees = 0; degrees <= 90; degrees += 15) {
                double angle = degrees * acos(-1) / 180;
                double c = cos(angle);
                double n = sin(angle);
                const double first[9] = {c, n, 0, -n, c, 0, 0, 0, 1};
                const double third[9] = {-n, c, 0, 0, 0, 1, c, n, 0};
                def.strain = (sinew_strain)strain;

                for (int e = 0; e < 2; e++) {
                    check_pull(elements[e], &def, law < 2 ? first : third, strain_of(&s, angle));
                }
            }
        }
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_pulls)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
