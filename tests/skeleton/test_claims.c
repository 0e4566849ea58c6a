// What Cai 2016, chapter 6, claims, measured: the layered order against an unordered one (figure 6.6), volume at a bent and at
// a twisted joint against skinning (6.4, 6.5), resolutions against each other (6.7), and compliances on two meshes.
#include "support/test.h"

#include "skeleton/puppet.h"

#include "math/mat3.h"

#include <stdlib.h>

static sn_puppet make(sinew_context *context, sinew_character_kind kind, int32_t tets, double angle,
                      const sinew_pbd_def *flesh) {
    sinew_character_def def = sinew_default_character_def();
    def.kind = kind;
    def.tet_count = tets;
    def.angle = angle;
    sn_puppet puppet;
    if (sn_puppet_create(context, &def, flesh, &puppet) != SINEW_OK) fail_msg("%s", sinew_context_message(context));
    return puppet;
}

// The places of the skin in every frame, and the mean residual.
typedef struct take {
    size_t count; // numbers
    double *points;
    double residual;
} take;

static take record(sinew_context *context, int32_t tets, sinew_pbd_order order, int32_t iterations, int32_t consolidating,
                   int frames) {
    sinew_pbd_def flesh = sinew_default_pbd_def();
    flesh.order = order;
    flesh.iterations = iterations;
    flesh.consolidating = consolidating;
    sn_puppet puppet = make(context, SINEW_CHARACTER_LEG, tets, 0, &flesh);
    sinew_embedding *embedding = NULL;
    assert_int_equal(sinew_embedding_create(context, puppet.character.skin, puppet.character.flesh, &embedding), SINEW_OK);
    size_t size = 3 * (size_t)puppet.character.skin->point_count;
    take made = {size * (size_t)frames, malloc(size * (size_t)frames * sizeof(double)), 0};
    for (int frame = 0; frame < frames; frame++) {
        assert_int_equal(sn_puppet_step(&puppet, 1.0 / 30, 1, SINEW_MOTION_HOLD), SINEW_OK);
        sinew_embedding_compute_points(embedding, puppet.positions, made.points + (size_t)frame * size);
        sinew_pbd_report report;
        sinew_pbd_measure(puppet.pbd, &report);
        made.residual += report.residual / frames;
    }
    print_message("%6d tets, %s, %2d iterations, %d consolidating: mean residual %.4f\n",
                  puppet.character.flesh->element_count, order == SINEW_PBD_LAYERED ? "layered  " : "unordered", iterations,
                  consolidating, made.residual);
    sinew_embedding_destroy(embedding);
    sn_puppet_destroy(&puppet);
    return made;
}

// Root of the mean squared distance. [m]
static double difference(take a, take b) {
    assert_int_equal(a.count, b.count);
    double sum = 0;
    for (size_t i = 0; i < a.count; i++) sum += (a.points[i] - b.points[i]) * (a.points[i] - b.points[i]);
    return sqrt(3 * sum / (double)a.count);
}

// A jump of a leg on a fine and on a coarse mesh; `sinew validate` does it with the paper's counts.
static void test_layers_and_resolution(void **state) {
    (void)state;
    sinew_context *context = test_context(1);
    enum { FRAMES = TEST_SANITIZED ? 2 : 18, HIGH = TEST_SANITIZED ? 1500 : 8000, LOW = TEST_SANITIZED ? 700 : 1500 };
    take high = record(context, HIGH, SINEW_PBD_LAYERED, 10, 6, FRAMES);
    take high_long = record(context, HIGH, SINEW_PBD_SEQUENCE, 50, 0, FRAMES);
    take high_plain = record(context, HIGH, SINEW_PBD_SEQUENCE, 10, 0, FRAMES);
    take low_two = record(context, LOW, SINEW_PBD_LAYERED, 10, 2, FRAMES);
    take low_six = record(context, LOW, SINEW_PBD_LAYERED, 10, 6, FRAMES);
    take low_plain = record(context, LOW, SINEW_PBD_SEQUENCE, 10, 0, FRAMES);
    double two = difference(high, low_two), six = difference(high, low_six), plain = difference(high_plain, low_plain);
    print_message("high (6 consolidating) against low: %.1f mm (2), %.1f mm (6); unordered: %.1f mm\n", 1e3 * two, 1e3 * six,
                  1e3 * plain);
    if (!TEST_SANITIZED) {
        // Figure 6.6: ten iterations in layers are at least as good as fifty without.
        assert_true(high.residual <= high_long.residual);
        assert_true(high.residual < 0.5 * high_plain.residual);
        // Figure 6.7: both resolutions move alike, which the unordered ones do not.
        assert_true(two < 0.015);
        assert_true(two < 1.1 * six);
        assert_true(two < 0.3 * plain);
    }
    take all[] = {high, high_long, high_plain, low_two, low_six, low_plain};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) free(all[i].points);
    sinew_context_destroy(context);
}

static double distance_to_bones(sn_vec3 p, const sn_puppet *puppet, bool posed) {
    int32_t count = 0;
    const sinew_bone *bones = sinew_skeleton_bones(puppet->character.skeleton, &count);
    double nearest = INFINITY;
    for (int32_t b = 0; b < count; b++) {
        const sinew_transform *rest = &sinew_skeleton_rest_world(puppet->character.skeleton)[bones[b].joint];
        sn_vec3 ends[2] = {sn_load3(bones[b].from), sn_load3(bones[b].to)};
        for (int k = 0; k < 2 && posed; k++) {
            const double *q = puppet->world[bones[b].joint].rotation;
            sn_vec3 own = sn_sub(ends[k], sn_load3(rest->translation)), u = {q[0], q[1], q[2]}; // no rotation at rest
            sn_vec3 t = sn_scale(2, sn_cross(u, own));
            sn_vec3 turned = sn_add(sn_madd(own, q[3], t), sn_cross(u, t));
            ends[k] = sn_add(turned, sn_load3(puppet->world[bones[b].joint].translation));
        }
        sn_vec3 ab = sn_sub(ends[1], ends[0]), ap = sn_sub(p, ends[0]);
        double s = fmin(fmax(sn_dot(ap, ab) / sn_dot(ab, ab), 0), 1);
        nearest = fmin(nearest, sn_length(sn_madd(ap, -s, ab)));
    }
    return nearest;
}

// Smallest and largest distance of the surface at the joint from the bones, over that at rest.
static void find_girth(double girth[2], const sn_puppet *puppet, const double *positions) {
    const sinew_mesh *flesh = puppet->character.flesh;
    girth[0] = INFINITY;
    girth[1] = 0;
    for (int32_t i = 0; i < flesh->point_count; i++) {
        sn_vec3 X = sn_load3(flesh->points + 3 * i);
        if (fabs(X.y) > 0.15 || hypot(X.x, X.z) < 0.145) continue;
        double ratio = distance_to_bones(sn_load3(positions + 3 * i), puppet, true) / distance_to_bones(X, puppet, false);
        girth[0] = fmin(girth[0], ratio);
        girth[1] = fmax(girth[1], ratio);
    }
}

// Bent by 90 and twisted by 180 degrees, and settled. The joint's region is one radius up and down from it.
static void test_joint_volume(void **state) {
    (void)state;
    sinew_context *context = test_context(1);
    sinew_pbd_material material = sinew_default_pbd_material();
    for (int k = 0; k < 3; k++) {
        material.stretch[k] = 0.02;
        material.shear[k] = 0.01;
    }
    material.volume = 1;
    sinew_pbd_def flesh = sinew_default_pbd_def();
    flesh.gravity[1] = 0;
    flesh.materials = &material;
    flesh.material_count = 1;
    sn_box region = {{-1, -0.15, -1}, {1, 0.15, 1}};
    for (int kind = SINEW_CHARACTER_BENDING; kind <= SINEW_CHARACTER_TWISTING; kind++) {
        double angle = kind == SINEW_CHARACTER_BENDING ? acos(0) : 2 * acos(0);
        sn_puppet puppet = make(context, (sinew_character_kind)kind, TEST_SANITIZED ? 1000 : 8000, angle, &flesh);
        for (int frame = 0; frame < (TEST_SANITIZED ? 3 : 45); frame++) {
            assert_int_equal(sn_puppet_step(&puppet, 1.0 / 30, 1, SINEW_MOTION_HOLD), SINEW_OK);
        }
        const sinew_mesh *mesh = puppet.character.flesh;
        double rest = sn_region_volume(mesh, mesh->points, region), volume[3], girth[3][2];
        volume[0] = sn_region_volume(mesh, puppet.positions, region) / rest;
        find_girth(girth[0], &puppet, puppet.positions);
        sinew_skin *skin = NULL;
        assert_int_equal(sinew_skin_create(context, puppet.character.skeleton, mesh->points, mesh->point_count, &skin),
                         SINEW_OK);
        double *skinned = malloc(3 * (size_t)mesh->point_count * sizeof *skinned);
        for (int method = 0; method < 2; method++) {
            sinew_skin_compute(skin, puppet.world, (sinew_skin_method)method, skinned);
            volume[1 + method] = sn_region_volume(mesh, skinned, region) / rest;
            find_girth(girth[1 + method], &puppet, skinned);
        }
        static const char *const names[3] = {"position dynamics", "linear blend", "dual quaternions"};
        for (int k = 0; k < 3; k++) {
            print_message("%s, %s: volume %.3f, surface at %.2f to %.2f of its distance\n", kind ? "twisted" : "bent",
                          names[k], volume[k], girth[k][0], girth[k][1]);
        }
        if (!TEST_SANITIZED) test_close("volume of the joint", volume[0], 1, 0.03);
        if (!TEST_SANITIZED) assert_true(volume[1] < 0.75);
        free(skinned);
        sinew_skin_destroy(skin);
        sn_puppet_destroy(&puppet);
    }
    sinew_context_destroy(context);
}

// How far the free end of a held box has sunk after 1.2 s.
static double sink(sinew_context *context, int32_t cells, sinew_pbd_mode mode, sinew_pbd_order order, int32_t iterations) {
    sinew_shape_def shape = sinew_default_shape_def();
    shape.size[2] = 3;
    shape.cells[0] = shape.cells[1] = cells;
    shape.cells[2] = 3 * cells;
    sinew_mesh *mesh = NULL;
    assert_int_equal(sinew_mesh_create_shape(context, &shape, &mesh), SINEW_OK);
    uint8_t *kinematic = calloc((size_t)mesh->point_count, 1);
    for (int32_t i = 0; i < mesh->point_count; i++) kinematic[i] = mesh->points[3 * i + 2] < -1.499;
    sinew_pbd_material material = sinew_default_pbd_material();
    if (mode == SINEW_PBD_COMPLIANCE) material = sinew_isotropic_pbd_material(1e5, 0.3, 1000);
    sinew_pbd_def def = sinew_default_pbd_def();
    def.mode = mode;
    def.order = order;
    def.iterations = iterations;
    def.consolidating = 2;
    def.materials = &material;
    def.material_count = 1;
    def.kinematic = kinematic;
    def.gravity[1] = mode == SINEW_PBD_COMPLIANCE ? -1 : -9.81;
    def.damping = 0;
    sinew_pbd *pbd = NULL;
    assert_int_equal(sinew_pbd_create(context, mesh, &def, &pbd), SINEW_OK);
    for (int step = 0; step < 24; step++) assert_int_equal(sinew_pbd_step(pbd, 0.05, NULL, NULL), SINEW_OK);
    double *positions = malloc(3 * (size_t)mesh->point_count * sizeof *positions), sunk = 0;
    sinew_pbd_get_positions(pbd, positions);
    int count = 0;
    for (int32_t i = 0; i < mesh->point_count; i++) {
        if (mesh->points[3 * i + 2] < 1.499) continue;
        sunk += mesh->points[3 * i + 1] - positions[3 * i + 1];
        count++;
    }
    free(positions);
    free(kinematic);
    sinew_pbd_destroy(pbd);
    sinew_mesh_destroy(mesh);
    return sunk / count;
}

// Compliances mean the same on 960 and on 7680 tets, given iterations enough; stiffnesses do not, less so in layers.
static void test_two_meshes(void **state) {
    (void)state;
    sinew_context *context = test_context(1);
    enum { COARSE = TEST_SANITIZED ? 2 : 4, FINE = TEST_SANITIZED ? 3 : 8 };
    double coarse = sink(context, COARSE, SINEW_PBD_COMPLIANCE, SINEW_PBD_COLOURED, 60);
    double fine = sink(context, FINE, SINEW_PBD_COMPLIANCE, SINEW_PBD_COLOURED, 80);
    print_message("compliant: sinks %.4f m with 960 tets, %.4f m with 7680\n", coarse, fine);
    if (!TEST_SANITIZED) test_close("compliant", coarse / fine, 1, 0.1);
    assert_true(coarse > 0.1);
    for (int order = SINEW_PBD_LAYERED; order <= SINEW_PBD_COLOURED; order++) {
        double stiff_coarse = sink(context, COARSE, SINEW_PBD_STIFFNESS, (sinew_pbd_order)order, 10);
        double stiff_fine = sink(context, FINE, SINEW_PBD_STIFFNESS, (sinew_pbd_order)order, 10);
        print_message("stiffness, %s: sinks %.4f m with 960 tets, %.4f m with 7680\n",
                      order == SINEW_PBD_LAYERED ? "in layers" : "without", stiff_coarse, stiff_fine);
    }
    sinew_context_destroy(context);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_layers_and_resolution),
        cmocka_unit_test(test_joint_volume),
        cmocka_unit_test(test_two_meshes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
