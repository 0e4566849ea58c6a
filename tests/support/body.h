// Bodies for tests: a box of elements in a world of its own, and nodes picked by position.
#ifndef SN_TESTS_SUPPORT_BODY_H
#define SN_TESTS_SUPPORT_BODY_H

#include "sinew/sinew.h"

typedef struct test_beam {
    sinew_context *context;
    sinew_world *world;
    sinew_body *body;
    sinew_mesh *mesh;
} test_beam;

// Length along x, square section, one end at x = 0, centred in y and z.
typedef struct test_beam_def {
    double length, thickness;
    int32_t cells_along, cells_across;
    sinew_element element;
    sinew_material_def material;
    sinew_world_def world;
    sinew_model model;
    sinew_mass_kind mass;
    double mass_damping, stiffness_damping;
    int32_t threads;
} test_beam_def;

test_beam_def test_default_beam_def(void);
test_beam test_beam_create(const test_beam_def *def);
void test_beam_destroy(test_beam *bar);

// All laws by name, then the anisotropic ones with the other strain.
int32_t test_law_count(void);
sinew_material_def test_law(sinew_context *context, int32_t index);

// Nodes with lower <= rest coordinate `axis` <= upper; returns how many (at least one, or the test
// fails).
int32_t test_pick_nodes(const sinew_body *body, int axis, double lower, double upper,
                        int32_t *nodes, int32_t capacity);

// Holds the nodes of the end at x = 0 in all directions.
void test_clamp(sinew_body *body);

// The mean displacement of the nodes at x = length.
void test_tip_displacement(const sinew_body *body, double length, double displacement[3]);

// Rotates and moves all positions: x <- R x + t with R about a fixed oblique axis.
void test_rotate_positions(double *positions, int32_t count, double angle);

#endif
