// Frame bodies in scenes: built from every kind of shape, held, moved, loaded, attached, probed.
#include "support/points.h"
#include "scene/frame_scene.h"

#include "io/scene/build_frames.h"
#include "io/volume/volume.h"

#include <math.h>
#include <stdio.h>

static void test_bar_bends(void **state) {
    (void)state;
    const char *settings[] = {"gravity=[0,0,-9.81]", "bodies[0].position=[1,2,3]"};
    fixture f;

    make(&f, settings, 2);
    const sn_scene_member *member = &f.world->members[0];

    assert_int_equal(sinew_frame_body_get_node_count(member->body), 3);
    assert_int_equal(member->frame_count, 3);
    step(&f, 5);

    sn_probe_state tip;
    sn_scene_world_read_probe(f.world, 0, &tip);

    double fallen = tip.position[2] - 3;
    if (!(fallen < -1e-3 && fallen > -0.1)) {
        fail_msg("the tip is %g m below", -fallen);
    }

    test_close("behind the last frame nothing strains", tip.element.von_mises, 0, 1e-3);
    sinew_element_state middle;

    assert_int_equal(test_get_state(member->body, (const double[3]){-0.2, 0, 0.09}, NULL, &middle),
                     SINEW_OK);
    assert_true(middle.von_mises > 10); // [Pa]
    sn_scene_world_update_surfaces(f.world);

    double lowest = INFINITY;
    for (int32_t i = 0; i < member->surface.mesh->point_count; i++) {
        lowest = fmin(lowest, member->surface.points[3 * i + 2]);
    }

    test_close("the surface is where the tip is", lowest, tip.position[2] - 0.1, 5e-3);
    destroy(&f);
}

// A motion turns the held frame about itself and moves it; what is partly held follows in part.
static void test_motions(void **state) {
    (void)state;
    const char *settings[] = {
        ("bodies[0].frames.nodes[0].motion={\"translate\": [0, {\"keys\": [[0, 0], [1, 1]]}, 0], "
         "\"rotate\": "
         "{\"axis\": [1, 0, 0], \"degrees\": {\"keys\": [[0, 0], [1, 90]]}}}")};
    fixture f;

    make(&f, settings, 1);
    step(&f, 10);

    double x[3], r[4];
    assert_int_equal(sinew_frame_body_get_node(f.world->members[0].body, 0, x, r), SINEW_OK);
    test_close("y", x[1], 0.1, 1e-12);
    test_close("x stays", x[0], -0.45, 1e-12);
    test_close("turn", r[0], sin(0.05 * acos(-1) / 2), 1e-12);
    destroy(&f);

    const char *partly[] = {settings[0], "bodies[0].frames.nodes[0].hold=\"translation\""};
    fixture g;

    make(&g, partly, 2);
    step(&g, 10);
    assert_int_equal(sinew_frame_body_get_node(g.world->members[0].body, 0, x, r), SINEW_OK);
    test_close("y", x[1], 0.1, 1e-12);
    assert_true(fabs(r[0]) < 0.01); // free to turn, and nothing turns it about x
    destroy(&g);
}

static void test_supports_pick_frames(void **state) {
    (void)state;
    const char *settings[] = {"bodies[0].frames.nodes[0].hold=nothing",
                              "bodies[0].fixed=[{\"nodes\": [1]}]",
                              ("bodies[0].scripted=[{\"where\": {\"box\": {\"lower\": [0.4, -1, "
                               "-1]}}, \"motion\": {\"translate\": "
                               "[{\"keys\": [[0, 0], [1, 1]]}, 0, 0]}}]")};
    fixture f;

    make(&f, settings, 3);
    step(&f, 10);

    double x[3];
    assert_int_equal(sinew_frame_body_get_node(f.world->members[0].body, 1, x, NULL), SINEW_OK);
    test_close("fixed", x[0], 0, 0);
    assert_int_equal(sinew_frame_body_get_node(f.world->members[0].body, 2, x, NULL), SINEW_OK);
    test_close("scripted", x[0], 0.55, 2e-3); // the surface around it is, by springs
    destroy(&f);
}

// Held along single axes; a torque on a frame; a frame that begins with a motion.
static void test_single_axes_and_torques(void **state) {
    (void)state;
    const char *loads = "bodies[0].loads=[{\"node\": 0, \"torque\": [2, 0, 0]}, "
                        "{\"node\": 1, \"force\": [0, 0, -5]}]";
    const char *settings[] = {
        // A hinge about x.
        "bodies[0].frames.nodes[0].hold=[\"translation\", \"turn-y\", \"turn-z\"]",
        "bodies[0].fixed=[{\"where\": {\"nodes\": [1]}, \"axes\": \"z\"}]", loads,
        "bodies[0].frames.nodes[2].initial={\"velocity\": [0, 0.3, 0], \"spin\": [0, 0, 1]}"};
    fixture f;

    make(&f, settings, 4);
    double velocity[3], spin[3], x[3], r[4];

    assert_int_equal(sinew_frame_body_get_velocity(f.world->members[0].body, 2, velocity, spin),
                     SINEW_OK);
    test_close("velocity", velocity[1], 0.3, 1e-12);
    test_close("spin", spin[2], 1, 1e-12);
    step(&f, 5);
    assert_int_equal(sinew_frame_body_get_node(f.world->members[0].body, 0, x, r), SINEW_OK);
    test_close("held", x[1], 0, 0);
    assert_true(r[0] > 1e-4); // turned by the torque
    test_close("a hinge", fabs(r[1]) + fabs(r[2]), 0, 1e-9);
    assert_int_equal(sinew_frame_body_get_node(f.world->members[0].body, 1, x, NULL), SINEW_OK);
    test_close("held along z", x[2], 0, 1e-12);
    assert_true(fabs(x[1]) > 1e-5); // but not along y, where the third frame pulls
    destroy(&f);
}

static double tip_after(const char *load, int32_t axis) {
    const char *settings[] = {load};
    fixture f;
    make(&f, settings, 1);
    step(&f, 5);
    sn_probe_state tip;
    sn_scene_world_read_probe(f.world, 0, &tip);
    destroy(&f);

    return tip.displacement[axis];
}

// The same total at a point, shared by points, as a traction on the end's area, and as a pressure
// there.
static void test_loads(void **state) {
    (void)state;
    double at_point =
        tip_after("bodies[0].loads=[{\"point\": [0.5, 0, 0], \"force\": [-4, 0, 0]}]", 0);

    assert_true(at_point < -1e-5);
    double shared = tip_after("bodies[0].loads=[{\"where\": {\"plane\": {\"point\": [0.5, 0, 0], "
                              "\"normal\": [1, 0, 0]}}, "
                              "\"force\": [-4, 0, 0]}]",
                              0);
    double traction = tip_after("bodies[0].loads=[{\"where\": {\"plane\": {\"point\": [0.5, 0, 0], "
                                "\"normal\": [1, 0, 0]}}, "
                                "\"traction\": [-100, 0, 0]}]",
                                0);
    double pressure = tip_after("bodies[0].loads=[{\"where\": {\"plane\": {\"point\": [0.5, 0, 0], "
                                "\"normal\": [1, 0, 0]}}, "
                                "\"pressure\": 100}]",
                                0);

    test_close("shared by points", shared, at_point, 1e-12);
    test_close("traction", traction, at_point, 1e-12);
    test_close("pressure", pressure, at_point,
               1e-3 * fabs(at_point)); // follows the surface, which hardly moves

    double half = tip_after(
        "bodies[0].loads=[{\"point\": [0.5, 0, 0], \"force\": [-4, 0, 0], \"scale\": 0.5}]", 0);

    test_close("half", half, 0.5 * at_point, 0.05 * fabs(at_point));
}

static void test_a_frame_begins_elsewhere(void **state) {
    (void)state;
    const char *settings[] = {("bodies[0].frames.nodes[2].initial={\"translate\": [0.1, 0, 0], "
                               "\"rotation\": {\"axis\": [1, 0, 0], "
                               "\"degrees\": 30}}")};
    fixture f;

    make(&f, settings, 1);
    sn_probe_state tip;

    sn_scene_world_read_probe(f.world, 0, &tip);
    test_close("moved", tip.displacement[0], 0.1, 1e-12);
    step(&f, 3);
    sn_scene_world_read_probe(f.world, 0, &tip);
    assert_true(tip.displacement[0] < 0.1 - 1e-4); // springs back
    destroy(&f);
}

static void test_frames_are_placed(void **state) {
    (void)state;
    const char *settings[] = {"bodies[0].frames.count=6", "bodies[0].frames.kind=affine",
                              "bodies[0].frames.weights={\"kind\": \"voronoi\"}"};
    fixture f;

    make(&f, settings, 3);
    const sn_member_frames *frames = sn_frames_of(&f.world->members[0]);

    assert_int_equal(frames->node_count, 6);
    test_close("what is written down stays", frames->rest[0], -0.45, 1e-12);
    for (int32_t i = 0; i < 6; i++) {
        for (int32_t k = 0; k < i; k++) {
            double apart =
                sn_distance(sn_load3(frames->rest + 3 * i), sn_load3(frames->rest + 3 * k));
            if (apart < 0.05) {
                fail_msg("frames %d and %d are %g m apart", i, k, apart);
            }
        }
    }

    destroy(&f);
}

static void test_shapes(void **state) {
    (void)state;
    const char *const shapes[] = {
        "bodies[0].shape={\"kind\": \"cylinder\", \"size\": [1, 0.3, 0.3]}",
        "bodies[0].shape={\"kind\": \"tube\", \"size\": [1, 0.8, 0.5], \"thickness\": 0.15}",
        "bodies[0].shape={\"kind\": \"t\", \"size\": [1, 1, 0.3], \"thickness\": 0.3}",
        ("bodies[0].shape={\"solids\": [{\"size\": [1, 0.2, 0.2]}, {\"kind\": \"sphere\", "
         "\"size\": [0.4, 0.4, 0.4], "
         "\"label\": 7}]}"),
    };

    for (int i = 0; i < 4; i++) {
        const char *settings[] = {shapes[i], "bodies[0].frames.weights.adopt_outside=true"};
        fixture f;
        make(&f, settings, 2);
        assert_true(f.world->members[0].surface.mesh->element_count > 100);
        assert_int_equal(f.world->members[0].surface.mesh->element, SINEW_ELEMENT_TRIANGLE);
        step(&f, 1);
        destroy(&f);
    }
}

// Solids filled with tets, which keep the labels.
static void test_solids_of_tets(void **state) {
    (void)state;
    static const char *const scene =
        "{\"version\": 1, \"bodies\": [{\"shape\": {\"solids\": [{\"size\": [1, 0.4, 0.4]}, "
        "{\"operation\": \"paint\", "
        "\"center\": [0.25, 0, 0], \"size\": [0.5, 1, 1], \"label\": 2}], \"tets\": 1500}, "
        "\"materials\": {\"1\": {\"density\": 1000}, \"2\": {\"density\": 3000}}}]}";

    fixture f = {.context = test_context(1)};
    f.mistakes = sn_mistakes_create(f.context);
    f.status = sn_scene_read(f.context, "scene.json", scene, strlen(scene), NULL, 0, &f.mistakes,
                             &f.scene);
    build(&f, NULL, NULL);

    if (f.status != SINEW_OK) {
        fail_msg("%s", sinew_context_message(f.context));
    }

    sinew_measures measures;
    sinew_world_get_measures(f.world->world, &measures);
    test_close("volume", measures.rest_volume, 0.16, 0.01);
    // The smoothed surface of the voxels cuts the edges, of 26 cells across, by about a cell.
    test_close("mass", measures.mass, 0.08 * 4000, 0.08 * 4000 * 0.08);
    destroy(&f);
}

// The same pull stretches a bar less whose stiff axis lies along it.
static void test_fields(void **state) {
    (void)state;
    double way[2];
    for (int turned = 0; turned < 2; turned++) {
        const char *settings[] = {
            ("materials.gel={\"law\": \"orthotropic\", \"young_1\": 1e6, \"young_2\": 1e5, "
             "\"young_3\": 1e5, "
             "\"poisson\": 0.3}"),
            "bodies[0].loads=[{\"point\": [0.45, 0, 0], \"force\": [20, 0, 0]}]",
            "bodies[0].damping={\"mass\": 5}",
            "bodies[0].field={\"rotation\": {\"axis\": [0, 0, 1], \"degrees\": 90}}"};
        fixture f;

        make(&f, settings, turned ? 4 : 3);
        step(&f, 40);

        sn_probe_state tip;
        sn_scene_world_read_probe(f.world, 0, &tip);
        way[turned] = tip.position[0] - 0.5;
        destroy(&f);
    }

    if (!(way[0] > 0 && way[1] > 4 * way[0])) {
        fail_msg("%g m along the stiff axis, %g m across", way[0], way[1]);
    }
}

// A volume of labels in memory, and a surface beside it.
typedef struct files {
    sn_buffer volume, surface;
} files;

static bool fetch(void *user, const char *name, const void **data, size_t *size) {
    const files *all = user;
    const sn_buffer *buffer = strcmp(name, "a.nrrd") == 0  ? &all->volume
                              : strcmp(name, "a.obj") == 0 ? &all->surface
                                                           : NULL;

    if (!buffer) {
        return false;
    }

    *data = buffer->data;
    *size = buffer->size;

    return true;
}

static void make_files(sinew_context *context, files *all) {
    enum { NX = 20, N = 4 };
    uint8_t labels[NX * N * N];
    for (int i = 0; i < NX * N * N; i++) {
        labels[i] = i % NX < 10 ? 1 : 2;
    }

    sinew_label_grid grid = {.cells = {NX, N, N},
                             .spacing = {0.05, 0.05, 0.05},
                             .lower = {-0.5, -0.1, -0.1},
                             .labels8 = labels};

    *all = (files){sn_buffer_create(context), sn_buffer_create(context)};
    assert_int_equal(sn_write_nrrd(&grid, &all->volume), SINEW_OK);
    const char *const box =
        "v -.5 -.1 -.1\nv .5 -.1 -.1\nv -.5 .1 -.1\nv .5 .1 -.1\nv -.5 -.1 .1\nv .5 -.1 .1\nv -.5 "
        ".1 .1\n"
        "v .5 .1 .1\nf 1 3 4 2\nf 5 6 8 7\nf 1 2 6 5\nf 3 7 8 4\nf 1 5 7 3\nf 2 4 8 6\n";
    sn_buffer_add_text(&all->surface, box);
}

static void test_files(void **state) {
    (void)state;
    const char *const shapes[] = {"bodies[0].shape={\"volume\": \"a.nrrd\"}",
                                  "bodies[0].shape={\"file\": \"a.obj\"}",
                                  "bodies[0].shape={\"file\": \"b.obj\"}"};

    for (int i = 0; i < 3; i++) {
        fixture f;
        read_with(&f, test_context(1), &shapes[i], 1);

        files all;
        make_files(f.context, &all);
        build(&f, fetch, &all);

        if (i == 2) {
            assert_int_equal(f.status, SINEW_NOT_FOUND);
        } else {
            if (f.status != SINEW_OK) {
                fail_msg("%s", sinew_context_message(f.context));
            }

            sinew_measures measures;
            sinew_world_get_measures(f.world->world, &measures);
            test_close("mass", measures.mass, 40, 1e-9);
            step(&f, 1);
        }

        sn_buffer_destroy(&all.volume);
        sn_buffer_destroy(&all.surface);
        destroy(&f);
    }
}

// Labels have materials; a rigid one hardly strains.
static void test_tissues(void **state) {
    (void)state;
    const char *settings[] = {("bodies[0].shape={\"solids\": [{\"size\": [1, 0.2, 0.2]}, "
                               "{\"operation\": \"paint\", \"center\": [0.25, 0, 0], "
                               "\"size\": [0.5, 1, 1], \"label\": 2}]}"),
                              "bodies[0].materials={\"2\": {\"young\": 2e5, \"density\": 3000}}",
                              "bodies[0].frames.tissues={\"2\": {\"rigid\": true, \"node\": 2}}",
                              "gravity=[0,0,-9.81]"};
    fixture f;

    make(&f, settings, 4);
    sinew_measures measures;

    sinew_world_get_measures(f.world->world, &measures);
    test_close("mass", measures.mass, 0.04 * (500 + 1500), 1e-9);
    step(&f, 5);

    sn_probe_state tip;
    sn_scene_world_read_probe(f.world, 0, &tip);
    assert_true(tip.displacement[2] < -1e-3);
    test_close("strain of the rigid part", tip.element.strain[0], 0, 1e-12);
    destroy(&f);
}

// Weights go by the stiffness of the tissues, of those with axes too: one that is stiff alike along
// all three is as good as an isotropic one.
static void test_tissues_with_axes(void **state) {
    (void)state;
    const char *const materials[] = {
        "bodies[0].materials={\"2\": {\"young\": 4e6, \"poisson\": 0.3}}",
        "bodies[0].materials={\"2\": {\"law\": \"orthotropic\", \"young_1\": 4e6, \"young_2\": "
        "4e6, \"young_3\": 4e6, "
        "\"poisson\": 0.3}}",
        "bodies[0].materials={\"2\": {\"law\": \"transverse\", \"young_fibre\": 4e6, "
        "\"young_plane\": 4e6, "
        "\"poisson_fibre\": 0.3, \"poisson_plane\": 0.3, \"shear_fibre\": 1538461.5384615385}}"};

    double sag[3];
    for (int i = 0; i < 3; i++) {
        const char *settings[] = {("bodies[0].shape={\"solids\": [{\"size\": [1, 0.2, 0.2]}, "
                                   "{\"operation\": \"paint\", \"center\": [0.25, 0, 0], "
                                   "\"size\": [0.5, 1, 1], \"label\": 2}]}"),
                                  materials[i], "bodies[0].frames.weights={\"kind\": \"voronoi\"}",
                                  "gravity=[0,0,-9.81]"};
        fixture f;

        make(&f, settings, 4);
        step(&f, 10);

        sn_probe_state tip;
        sn_scene_world_read_probe(f.world, 0, &tip);
        sag[i] = tip.displacement[2];
        destroy(&f);
    }

    assert_true(sag[0] < -1e-3);
    for (int i = 1; i < 3; i++) {
        test_close("sag over that of the isotropic tissue", sag[i] / sag[0], 1, 1e-6);
    }
}

static const char *const joining =
    ("bodies[0].frames.insertions=[{\"time\": 0.05, \"position\": [0.2, 0.05, 0], \"range\": 0.15, "
     "\"fade\": 0.02, \"leave\": "
     "0.2}, "
     "{\"time\": 0.1, \"position\": [-0.2, 0, 0], \"range\": 0.2, \"fade\": 0.02, \"kind\": "
     "\"affine\", \"motion\": "
     "{\"translate\": [0, 0, {\"keys\": [[0.1, 0], [0.3, 0.05]]}]}}]");

// Frames join and leave at their times; a run taken up from a snapshot goes on bit for bit. Out of
// a fade only the scene that is or was last in it can continue.
static void test_frames_join_and_leave(void **state) {
    (void)state;
    const char *settings[] = {
        joining, "bodies[0].loads=[{\"point\": [0.2, 0, 0.1], \"force\": [0, 0, -3]}]"};
    fixture f;

    make(&f, settings, 2);
    const sn_member_frames *frames = sn_frames_of(&f.world->members[0]);

    assert_int_equal(f.world->members[0].frame_count, 5);
    const int32_t counts[30] = {3, 3, 3, 3, 3, 4, 4, 4, 4, 4, 5, 5, 5, 5, 5,
                                5, 5, 5, 5, 5, 4, 4, 4, 4, 4, 4, 4, 4, 4, 4};
    static unsigned char bytes[2][65536];
    size_t sizes[2] = {0, 0};

    for (int i = 0; i < 30; i++) {
        step(&f, 1);
        assert_int_equal(sinew_frame_body_get_node_count(f.world->members[0].body), counts[i]);
        assert_int_equal(frames->node_count, counts[i]);
        if (i == 15) {
            uint64_t once = sinew_world_get_hash(f.world->world);
            assert_int_equal(sn_scene_world_restore(f.world, bytes[0], sizes[0]), SINEW_OK);
            step(&f, 4);
            assert_true(sinew_world_get_hash(f.world->world) == once);
        }
        if (i != 11 && i != 25) {
            continue;
        }

        int k = i == 25;
        sizes[k] = sinew_world_get_snapshot_size(f.world->world);
        assert_true(sizes[k] <= sizeof bytes[k]);
        assert_int_equal(sinew_world_take_snapshot(f.world->world, bytes[k], sizes[k]), SINEW_OK);
    }

    double x[3];
    assert_int_equal(sinew_frame_body_get_node(f.world->members[0].body, 3, x, NULL), SINEW_OK);
    test_close("the one that stays follows its motion", x[2], 0.05, 1e-12);

    uint64_t hash = sinew_world_get_hash(f.world->world);
    destroy(&f);

    fixture g;
    make(&g, settings, 2);
    assert_int_equal(sn_scene_world_restore(g.world, bytes[0], sizes[0]), SINEW_UNSUPPORTED);
    if (sn_scene_world_restore(g.world, bytes[1], sizes[1]) != SINEW_OK) {
        fail_msg("%s", sinew_context_message(g.context));
    }

    step(&g, 4);
    assert_true(sinew_world_get_hash(g.world->world) == hash);
    destroy(&g);
}

// What equilibrium a turning force leads to: a moment arm that is where the frame is.
static void test_static_loads_agree_with_the_shape(void **state) {
    (void)state;
    const char *settings[] = {
        "bodies[0].loads=[{\"point\": [0.5, 0, 0.1], \"force\": [0, 0, -4]}]"};
    fixture f;

    make(&f, settings, 1);
    sinew_step_report report;
    if (sn_scene_world_solve_static(f.world, &report) != SINEW_OK) {
        fail_msg("%s", sinew_context_message(f.context));
    }

    assert_int_equal(report.outcome, SINEW_OUTCOME_CONVERGED);
    sn_probe_state once, again;

    sn_scene_world_read_probe(f.world, 0, &once);
    assert_true(once.displacement[2] < -0.01);
    assert_int_equal(sn_scene_world_apply(f.world, 0), SINEW_OK);
    assert_int_equal(sinew_world_solve_static(f.world->world, &f.scene.static_def, &report),
                     SINEW_OK);
    sn_scene_world_read_probe(f.world, 0, &again);
    test_close("solved once more", again.displacement[2], once.displacement[2], 1e-6);
    destroy(&f);
}

static void test_the_same_bits_for_all_threads(void **state) {
    (void)state;
    uint64_t hash = 0;
    for (int32_t threads = 1; threads <= 4; threads *= 2) {
        const char *settings[] = {"gravity=[0,0,-9.81]",
                                  ("bodies[0].loads=[{\"where\": \"surface\", \"pressure\": 100}, "
                                   "{\"point\": [0, 0, 0], \"force\": "
                                   "[0, 1, 0]}]")};
        fixture f;

        read_with(&f, test_context(threads), settings, 2);
        build(&f, NULL, NULL);
        assert_int_equal(f.status, SINEW_OK);
        step(&f, 5);

        if (threads == 1) {
            hash = sinew_world_get_hash(f.world->world);
        }

        assert_true(sinew_world_get_hash(f.world->world) == hash);
        destroy(&f);
    }
}

// A point of the bar is tied to a fixed position, in the scene's unit of length, and its end by a
// spring to another.
static void test_attachments(void **state) {
    (void)state;
    const char *tied =
        "attachments=[{\"body\": \"bar\", \"point\": [-0.45, 0, 0]}, "
        "{\"body\": \"bar\", \"point\": [0.45, 0, 0], \"at\": [0.45, 0, 0.1], \"stiffness\": 500}]";
    const char *settings[] = {"gravity=[0, 0, -9.81]", "bodies[0].frames.nodes[0].hold=nothing",
                              tied};
    fixture f;

    make(&f, settings, 3);
    step(&f, 300);

    double rest[2][3] = {{-0.45, 0, 0}, {0.45, 0, 0}};
    double x[2][3];
    for (int i = 0; i < 2; i++) {
        assert_int_equal(test_get_position(f.world->members[0].body, rest[i], x[i]), SINEW_OK);
    }

    for (int k = 0; k < 3; k++) {
        assert_true(fabs(x[0][k] - rest[0][k]) < 1e-9);
    }

    assert_true(x[1][2] < 0 && x[1][2] > -0.6); // half of 392 N on 500 N/m, from 0.1 m above
    destroy(&f);
}

static void test_memory_shortage(void **state) {
    (void)state;
    int64_t most = TEST_SANITIZED ? 60 : 400;
    int64_t stride = TEST_SANITIZED ? 7 : 3;

    for (int64_t n = 0; n < most; n += stride) {
        test_allocator allocator = {.fail_at = n};
        sinew_context *context = test_context_failing(&allocator);
        if (!context) {
            continue;
        }

        const char *settings[] = {"bodies[0].frames.resolution=8"};
        fixture f;

        read_with(&f, context, settings, 1);
        build(&f, NULL, NULL);

        bool done = f.status == SINEW_OK;
        if (!done) {
            assert_int_equal(f.status, SINEW_OUT_OF_MEMORY);
        }

        destroy(&f);
        assert_int_equal(allocator.live, 0);
        if (done) {
            break;
        }
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_bar_bends),
        cmocka_unit_test(test_motions),
        cmocka_unit_test(test_supports_pick_frames),
        cmocka_unit_test(test_single_axes_and_torques),
        cmocka_unit_test(test_loads),
        cmocka_unit_test(test_a_frame_begins_elsewhere),
        cmocka_unit_test(test_frames_are_placed),
        cmocka_unit_test(test_shapes),
        cmocka_unit_test(test_solids_of_tets),
        cmocka_unit_test(test_fields),
        cmocka_unit_test(test_files),
        cmocka_unit_test(test_tissues),
        cmocka_unit_test(test_tissues_with_axes),
        cmocka_unit_test(test_frames_join_and_leave),
        cmocka_unit_test(test_static_loads_agree_with_the_shape),
        cmocka_unit_test(test_the_same_bits_for_all_threads),
        cmocka_unit_test(test_attachments),
        cmocka_unit_test(test_memory_shortage),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
