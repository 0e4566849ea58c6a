// Bodies that touch themselves: a bar folded over a rod, a knot pulled tight, frame bodies folded
// over a rod. No intersection by the exact test after every step, the same bits for any number of
// threads and after a snapshot.
#include "support/hash.h"
#include "support/touch.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

typedef struct setting {
    sinew_context *context;
    sinew_world *world;
    sinew_body *body;
} setting;

static void check(const setting *s, sinew_status status) {
    if (status != SINEW_OK) {
        fail_msg("%s", sinew_context_message(s->context));
    }
}

static setting make_setting(sinew_context *context, sinew_contact_mode mode, double gravity) {
    sinew_contact_def contact = sinew_default_contact_def();
    contact.mode = mode;
    contact.self = true;
    contact.friction = 0.3;
    return (setting){.context = context, .world = test_touch_world(context, &contact, gravity)};
}

static void destroy_setting(setting *s) {
    sinew_world_destroy(s->world);
    sinew_context_destroy(s->context);
}

static sinew_material_def soft(double young) {
    sinew_material_def material = sinew_default_material_def();
    material.young = young;
    material.poisson = 0.3;
    return material;
}

// How many contacts of the body with itself the last step had.
static int32_t count_own_contacts(const setting *s) {
    const sinew_contact *contacts;
    int32_t count = sinew_world_get_contacts(s->world, &contacts);
    int32_t own = 0;
    for (int32_t i = 0; i < count; i++) {
        own += contacts[i].other == s->body;
    }
    return own;
}

static void step(setting *s) {
    check(s, sinew_world_step(s->world, NULL));
    int64_t crossings = test_count_body_crossings(&s->body, 1);
    if (crossings != 0) {
        fail_msg("%lld pairs of triangles intersect at %g s", (long long)crossings,
                 sinew_world_get_time(s->world));
    }
}

// A rod along y, below the middle of a bar.
static void add_rod(setting *s) {
    sinew_obstacle_def rod = sinew_default_obstacle_def();
    rod.kind = SINEW_OBSTACLE_CAPSULE;
    rod.radius = 0.01;
    rod.length = 1;
    rod.position[2] = -0.045;
    memcpy(rod.rotation, (double[]){sqrt(0.5), 0, 0, sqrt(0.5)}, sizeof rod.rotation);
    check(s, sinew_obstacle_create(s->world, &rod, NULL));
}

// A soft bar of tets that hangs over the rod.
static setting make_folding_bar(sinew_context *context, sinew_contact_mode mode) {
    setting s = make_setting(context, mode, -9.81);
    sinew_shape_def shape = sinew_default_shape_def();
    memcpy(shape.size, (double[]){1, 0.1, 0.06}, sizeof shape.size);
    memcpy(shape.cells, (int32_t[]){40, 3, 2}, sizeof shape.cells);
    sinew_mesh *mesh = NULL;
    check(&s, sinew_mesh_create_shape(s.context, &shape, &mesh));

    sinew_material_def material = soft(1e5);
    sinew_body_def def = sinew_default_body_def();
    def.mesh = mesh;
    def.materials = &material;
    def.material_count = 1;
    def.stiffness_damping = 0.01;
    check(&s, sinew_body_create(s.world, &def, &s.body));
    sinew_mesh_destroy(mesh);
    add_rod(&s);
    return s;
}

static void test_folding_bar(void **state) {
    (void)state;
    for (int mode = 0; mode < (TEST_SANITIZED ? 1 : 2); mode++) {
        setting s = make_folding_bar(test_context(1), (sinew_contact_mode)mode);
        int32_t most = 0;
        for (int i = 0; i < 70; i++) {
            step(&s);
            int32_t own = count_own_contacts(&s);
            most = own > most ? own : most;
        }
        assert_true(most > 10); // the halves did meet
        destroy_setting(&s);
    }
}

// An overhand knot as a spline through these points: alternately under and over itself. [dm]
static const double knot_points[][3] = {
    {-6, 0, 0},       {-4, 0, 0},      {-2, 0, 0},       {0, 0, 0},
    {2, 0.3, 0},      {3, 1.8, 0},     {1.5, 3, 0},      {-0.5, 2.2, 0.6},
    {-1, 0.8, 1},     {-0.8, -0.8, 1}, {0.4, -1.5, 0.1}, {1.2, -0.7, -0.9},
    {1.2, 0.8, -0.9}, {1.4, 2.4, 0.9}, {2, 4, 0.9},      {3, 6, 0.5},
};
enum { KNOT_SPANS = sizeof knot_points / sizeof *knot_points - 3 };

// The point of the spline (Catmull and Rom) at t in [0, KNOT_SPANS].
static void knot_point(double t, double x[3]) {
    int i = (int)fmin(fmax(floor(t), 0), KNOT_SPANS - 1);
    double u = t - i;
    const double *a = knot_points[i], *b = knot_points[i + 1];
    const double *c = knot_points[i + 2], *d = knot_points[i + 3];
    for (int k = 0; k < 3; k++) {
        double cubic = -a[k] + 3 * b[k] - 3 * c[k] + d[k];
        double square = 2 * a[k] - 5 * b[k] + 4 * c[k] - d[k];
        x[k] = 0.05 * (2 * b[k] + u * (c[k] - a[k]) + u * u * square + u * u * u * cubic);
    }
}

static void normalise(double a[3]) {
    double length = sqrt(a[0] * a[0] + a[1] * a[1] + a[2] * a[2]);
    for (int k = 0; k < 3; k++) {
        a[k] /= length;
    }
}

// Cells along the knot and across it, and nodes at one of its ends.
enum { KNOT_CELLS = 120, KNOT_ACROSS = 2, KNOT_END = (KNOT_ACROSS + 1) * (KNOT_ACROSS + 1) };

// A bar of tets along the knot: a straight one bent, with a frame that rotates as little as
// possible.
static sinew_mesh *make_knot(const setting *s, double width) {
    sinew_shape_def shape = sinew_default_shape_def();
    memcpy(shape.size, (double[]){1, width, width}, sizeof shape.size);
    memcpy(shape.cells, (int32_t[]){KNOT_CELLS, KNOT_ACROSS, KNOT_ACROSS}, sizeof shape.cells);
    sinew_mesh *mesh = NULL;
    check(s, sinew_mesh_create_shape(s->context, &shape, &mesh));

    // Parameters of equal arc length.
    enum { FINE = 20000 };
    double *length = calloc(FINE + 1, sizeof *length);
    double last[3], here[3];
    knot_point(0, last);
    for (int i = 1; i <= FINE; i++) {
        knot_point((double)KNOT_SPANS * i / FINE, here);
        double d[3] = {here[0] - last[0], here[1] - last[1], here[2] - last[2]};
        length[i] = length[i - 1] + sqrt(d[0] * d[0] + d[1] * d[1] + d[2] * d[2]);
        memcpy(last, here, sizeof last);
    }

    double frames[KNOT_CELLS + 1][3][3]; // centre and two normals
    double normal[3] = {0, 0, 1};
    int at = 0;
    for (int i = 0; i <= KNOT_CELLS; i++) {
        while (at < FINE && length[at] < length[FINE] * i / KNOT_CELLS) {
            at++;
        }
        double t = (double)KNOT_SPANS * at / FINE, before[3], after[3], tangent[3];
        knot_point(t, frames[i][0]);
        knot_point(t - 1e-4, before);
        knot_point(t + 1e-4, after);
        for (int k = 0; k < 3; k++) {
            tangent[k] = after[k] - before[k];
        }
        normalise(tangent);
        double along = normal[0] * tangent[0] + normal[1] * tangent[1] + normal[2] * tangent[2];
        for (int k = 0; k < 3; k++) {
            normal[k] -= along * tangent[k];
        }
        normalise(normal);
        memcpy(frames[i][2], normal, sizeof normal);
        for (int k = 0; k < 3; k++) {
            int a = (k + 1) % 3, b = (k + 2) % 3;
            frames[i][1][k] = normal[a] * tangent[b] - normal[b] * tangent[a];
        }
    }
    free(length);

    double *points = (double *)(uintptr_t)mesh->points;
    for (int32_t v = 0; v < mesh->point_count; v++) {
        double *p = points + 3 * (size_t)v;
        int i = (int)lround((p[0] + 0.5) * KNOT_CELLS);
        double y = p[1], z = p[2];
        for (int k = 0; k < 3; k++) {
            p[k] = frames[i][0][k] + y * frames[i][1][k] + z * frames[i][2][k];
        }
    }
    return mesh;
}

typedef struct knot {
    setting s;
    int32_t nodes[2 * KNOT_END];
    double start[6 * KNOT_END]; // where they began
    double pull[6];             // unit vectors along which the ends are pulled
} knot;

// The knot with both ends held.
static knot make_knot_body(sinew_context *context, sinew_contact_mode mode) {
    knot k = {.s = make_setting(context, mode, 0)};
    sinew_mesh *mesh = make_knot(&k.s, 0.05);
    sinew_material_def material = soft(1e5);
    sinew_body_def def = sinew_default_body_def();
    def.mesh = mesh;
    def.materials = &material;
    def.material_count = 1;
    def.mass_damping = 2;
    def.stiffness_damping = 0.01;
    check(&k.s, sinew_body_create(k.s.world, &def, &k.s.body));

    // Nodes are numbered along x fastest: each row of the grid has both of its ends held.
    for (int32_t i = 0; i < KNOT_END; i++) {
        k.nodes[2 * i] = i * (KNOT_CELLS + 1);
        k.nodes[2 * i + 1] = i * (KNOT_CELLS + 1) + KNOT_CELLS;
        for (int end = 0; end < 2; end++) {
            const double *p = mesh->points + 3 * (size_t)k.nodes[2 * i + end];
            const double *next = end ? p - 3 : p + 3;
            memcpy(k.start + 3 * (2 * i + end), p, 3 * sizeof *p);
            for (int c = 0; c < 3; c++) {
                k.pull[3 * end + c] += p[c] - next[c];
            }
        }
    }
    normalise(k.pull);
    normalise(k.pull + 3);
    sinew_mesh_destroy(mesh);
    check(&k.s, sinew_body_fix_nodes(k.s.body, k.nodes, 2 * KNOT_END, SINEW_AXIS_ALL));
    return k;
}

// One step in which the ends come to be pulled out by `distance`.
static void pull_knot(knot *k, double distance) {
    double targets[6 * KNOT_END];
    for (int32_t i = 0; i < 2 * KNOT_END; i++) {
        for (int c = 0; c < 3; c++) {
            targets[3 * i + c] = k->start[3 * i + c] + distance * k->pull[3 * (i % 2) + c];
        }
    }
    check(&k->s, sinew_body_move_nodes(k->s.body, k->nodes, 2 * KNOT_END, targets));
    step(&k->s);
}

static void test_knot(void **state) {
    (void)state;
    knot k = make_knot_body(test_context(1), SINEW_CONTACT_INTERACTIVE);
    assert_int_equal(test_count_body_crossings(&k.s.body, 1), 0);
    int32_t most = 0;
    for (int i = 0; i < (TEST_SANITIZED ? 15 : 200); i++) {
        pull_knot(&k, 0.004 * (i + 1));
        int32_t own = count_own_contacts(&k.s);
        most = own > most ? own : most;
    }
    assert_true(TEST_SANITIZED || most > 20); // it is tight

    // The ends would be free of each other's pull if the knot had slipped through itself.
    sinew_measures measures;
    sinew_world_get_measures(k.s.world, &measures);
    assert_true(TEST_SANITIZED || measures.elastic_energy > 10);
    destroy_setting(&k.s);
}

// A bar of frames over the rod.
static setting make_folding_frames(sinew_context *context, sinew_node_kind kind) {
    setting s = make_setting(context, SINEW_CONTACT_INTERACTIVE, -9.81);
    sinew_solid_def solid = sinew_default_solid_def();
    memcpy(solid.size, (double[]){1, 0.1, 0.06}, sizeof solid.size);
    sinew_voxel_def grid = sinew_default_voxel_def();
    grid.spacing[0] = grid.spacing[1] = grid.spacing[2] = 0.02;
    sinew_voxels *voxels = NULL;
    check(&s, sinew_voxels_create_from_solids(s.context, &solid, 1, &grid, &voxels));

    sinew_material_def material = soft(2e4);
    enum { NODES = 9 };
    sinew_frame_node nodes[NODES];
    for (int i = 0; i < NODES; i++) {
        nodes[i] = (sinew_frame_node){kind, {-0.48 + 0.12 * i, 0, 0}};
    }
    sinew_frame_body_def def = sinew_default_frame_body_def();
    def.voxels = voxels;
    def.materials = &material;
    def.material_count = 1;
    def.nodes = nodes;
    def.node_count = NODES;
    def.stiffness_damping = 0.01;
    check(&s, sinew_frame_body_create(s.world, &def, &s.body));
    sinew_voxels_destroy(voxels);
    add_rod(&s);
    return s;
}

static void test_folding_frames(void **state) {
    (void)state;
    const sinew_node_kind kinds[] = {SINEW_NODE_AFFINE, SINEW_NODE_QUADRATIC, SINEW_NODE_RIGID};
    for (int k = 0; k < (TEST_SANITIZED ? 1 : 3); k++) {
        setting s = make_folding_frames(test_context(1), kinds[k]);
        int32_t most = 0;
        for (int i = 0; i < 55; i++) {
            step(&s);
            int32_t own = count_own_contacts(&s);
            most = own > most ? own : most;
        }
        assert_true(most > 10);
        destroy_setting(&s);
    }
}

static uint64_t hash_bar(sinew_context *context, void *user) {
    (void)user;
    setting s = make_folding_bar(context, SINEW_CONTACT_INTERACTIVE);
    for (int i = 0; i < 45; i++) {
        check(&s, sinew_world_step(s.world, NULL));
    }

    assert_true(count_own_contacts(&s) > 10);
    uint64_t hash = sinew_world_get_hash(s.world);
    sinew_world_destroy(s.world);
    return hash;
}

static void test_threads(void **state) {
    (void)state;
    test_over_threads("folding bar", hash_bar, NULL);
}

// The same bits from a snapshot taken as the halves of the bar meet.
static void test_snapshot(void **state) {
    (void)state;
    setting s = make_folding_bar(test_context(1), SINEW_CONTACT_INTERACTIVE);
    setting other = make_folding_bar(s.context, SINEW_CONTACT_INTERACTIVE);
    for (int i = 0; i < 44; i++) {
        step(&s);
    }

    assert_true(count_own_contacts(&s) > 0);
    test_touch_snapshot(s.context, s.world, other.world, 10);
    sinew_world_destroy(other.world);
    destroy_setting(&s);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_folding_bar),    cmocka_unit_test(test_knot),
        cmocka_unit_test(test_folding_frames), cmocka_unit_test(test_threads),
        cmocka_unit_test(test_snapshot),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
