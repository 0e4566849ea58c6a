// One body of every kind, all of the same bar, made with public headers only.
#ifndef SN_TESTS_SUPPORT_KINDS_H
#define SN_TESTS_SUPPORT_KINDS_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "sinew/sinew.h"

typedef enum test_kind {
    TEST_TET4,
    TEST_TET10,
    TEST_HEX8,
    TEST_WARPED,
    TEST_EMBEDDED, // tets with a surface of their own
    TEST_RIGID_FRAMES,
    TEST_AFFINE_FRAMES,
    TEST_QUADRATIC_FRAMES,
    TEST_DUAL_FRAMES,
    TEST_SPRINGS,
    TEST_POSITIONS, // position dynamics
    TEST_REDUCED,   // modes of tets, with derivatives
    TEST_MODAL_WARPING,
    TEST_KINDS
} test_kind;

const char *test_kind_name(test_kind kind);

// The tolerated relative change of momentum in a few steps: the solver's tolerance. Warped
// stiffness conserves momentum only roughly, because its Jacobian is an approximation.
static inline double test_kind_loss(test_kind kind) {
    return kind == TEST_WARPED ? 1e-2 : 1e-4;
}

static inline bool test_kind_is_reduced(test_kind kind) {
    return kind == TEST_REDUCED || kind == TEST_MODAL_WARPING;
}

static inline bool test_kind_has_frames(test_kind kind) {
    return kind >= TEST_RIGID_FRAMES && kind <= TEST_SPRINGS;
}

// A world without gravity and the bar in it: 1 m along x, 0.2 m across, centred at the origin.
typedef struct test_kinds {
    sinew_context *context;
    sinew_world *world;
    sinew_voxels *voxels; // of bodies of frames
    sinew_body *body;
} test_kinds;

test_kinds test_kinds_create(test_kind kind);
// The same without a body; add some with test_kinds_add, which fills in `voxels` where needed.
test_kinds test_kinds_create_world(void);
sinew_body *test_kinds_add(test_kinds *t, test_kind kind, const double position[3]);
void test_kinds_destroy(test_kinds *t);

// Stretches, bends and twists the body by forces on its surface for a few steps, so that nothing is
// at rest.
void test_kinds_deform(test_kinds *t, test_kind kind);

// |actual - expected| <= tolerance, or a failure that says which kind and what.
void test_kind_close(test_kind kind, const char *what, double actual, double expected,
                     double tolerance);

#endif
