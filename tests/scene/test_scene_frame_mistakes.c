// Mistakes in the frame bodies of a scene: each is reported with its path and a helpful message.
#include "scene/frame_scene.h"

static void expect_mistake(const char *setting, const char *path, const char *words) {
    fixture f;
    read_with(&f, test_context(1), &setting, 1);
    build(&f, NULL, NULL);
    assert_int_not_equal(f.status, SINEW_OK);

    bool found = false;
    for (int32_t i = 0; i < f.mistakes.count; i++) {
        const sn_mistake *m = &f.mistakes.items[i];
        found = found || (strcmp(m->path, path) == 0 && strstr(m->message, words));
    }

    if (!found) {
        for (int32_t i = 0; i < f.mistakes.count; i++) {
            print_message("%s: %s\n", f.mistakes.items[i].path, f.mistakes.items[i].message);
        }
        fail_msg("%s: no mistake at %s with \"%s\"", setting, path, words);
    }

    destroy(&f);
}

static void test_mistakes(void **state) {
    (void)state;
    expect_mistake("bodies[0].frames.nodes[1].kind=afine", "bodies[0].frames.nodes[1].kind",
                   "affine");
    expect_mistake("bodies[0].frames.nodes[0].hold=al", "bodies[0].frames.nodes[0].hold", "all");
    expect_mistake("bodies[0].frames.weigths={}", "bodies[0].frames.weigths", "weights");
    expect_mistake("bodies[0].frames.nodes=[]", "bodies[0].frames.nodes", "at least one frame");
    expect_mistake("bodies[0].frames.count=2", "bodies[0].frames.count",
                   "3 frames are written down");
    expect_mistake("bodies[0].frames.cell=0.1", "bodies[0].frames.cell", "resolution");
    expect_mistake("bodies[0].frames.weights.range=-1", "bodies[0].frames.weights.range",
                   "at least 0");
    expect_mistake("bodies[0].frames.tissues={\"x\": {}}", "bodies[0].frames.tissues.x",
                   "whole number in quotes");
    expect_mistake("bodies[0].frames.tissues={\"5\": {}}", "bodies[0].frames.tissues[\"5\"]",
                   "no voxel has the label 5");
    expect_mistake("bodies[0].frames.tissues={\"1\": {\"node\": 3}}",
                   "bodies[0].frames.tissues[\"1\"].node", "2");
    expect_mistake("bodies[0].model=elastic", "bodies[0].frames", "belongs to");
    expect_mistake("bodies[0].mass=lumped", "bodies[0].mass", "elements");
    expect_mistake("bodies[0].frames.nodes[1]={\"position\": [0, 0, 0], \"hold\": \"nothing\", "
                   "\"motion\": {}}",
                   "bodies[0].frames.nodes[1].motion", "held");
    expect_mistake("bodies[0].fixed=[{\"box\": {\"lower\": [5, 5, 5]}}]", "bodies[0].fixed[0]",
                   "no point of the body's surface and no frame is here");
    expect_mistake("bodies[0].loads=[{\"point\": [0, 0, 0], \"pressure\": 1}]",
                   "bodies[0].loads[0]", "force");
    expect_mistake("bodies[0].loads=[{\"node\": 3, \"force\": [0, 0, 1]}]", "bodies[0].loads[0]",
                   "there are 3");
    expect_mistake("bodies[0].loads=[{\"point\": [0, 0, 0], \"torque\": [0, 0, 1]}]",
                   "bodies[0].loads[0].torque", "node");
    expect_mistake("bodies[0].frames.nodes[0].hold=[\"x\", \"turn\"]",
                   "bodies[0].frames.nodes[0].hold[1]", "turn-");
    expect_mistake("bodies[0].loads=[{\"where\": {\"sphere\": {\"center\": [9, 9, 9], \"radius\": "
                   "1}}, \"force\": [0, 0, 1]}]",
                   "bodies[0].loads[0].where", "no point of the body's surface");
    expect_mistake("bodies[0].shape={\"kind\": \"rectangle\"}", "bodies[0]", "flat");
    expect_mistake("bodies[0].shape.size[1]=-1", "bodies[0]", "size");
    expect_mistake("attachments=[{\"body\": \"bar\"}]", "attachments[0]", "one of");
    expect_mistake("attachments=[{\"body\": \"bar\", \"point\": [0, 0]}]", "attachments[0].point",
                   "3 numbers");
    expect_mistake(
        "attachments=[{\"body\": \"bar\", \"where\": {\"box\": {\"lower\": [5, 5, 5]}}}]",
        "attachments[0].where", "no point of the body's surface");
    expect_mistake(
        "bodies[0].frames.insertions=[{\"time\": 0, \"position\": [0, 5, 0], \"range\": 0.1}]",
        "bodies[0].frames.insertions[0].position", "outside");
    expect_mistake(
        "bodies[0].frames.insertions=[{\"time\": 0, \"position\": [0.1, 0, 0], \"range\": 0.01}]",
        "bodies[0].frames.insertions[0].range", "voxel");
    expect_mistake("bodies[0].frames.insertions=[{\"time\": 0, \"position\": [0.1, 0, 0], "
                   "\"range\": 0.1}, {\"time\": 1, "
                   "\"position\": [0.1, 0, 0], \"range\": 0.2}]",
                   "bodies[0].frames.insertions[1].position", "insertion 0 is there");
    expect_mistake("bodies[0].frames.insertions=[{\"time\": 2, \"position\": [0.1, 0, 0], "
                   "\"range\": 0.1, \"leave\": 1}]",
                   "bodies[0].frames.insertions[0].leave", "later");

    // What the library refuses: a frame outside, two in one place, what no frame reaches, a grid
    // beyond the limit.
    expect_mistake(
        "bodies[0].frames.insertions=[{\"time\": 0, \"position\": [0.45, 0, 0], \"range\": 0.2}]",
        "bodies[0].frames.insertions[0].position", "frame 2 is there");
    expect_mistake("bodies[0].frames.nodes[1].position=[0, 9, 0]", "bodies[0].frames",
                   "adopt_outside");
    expect_mistake("bodies[0].frames.nodes[1].position=[0.45, 0, 0]", "bodies[0].frames",
                   "nodes 1 and 2 coincide");
    expect_mistake("bodies[0].frames.weights={\"kind\": \"geodesic\", \"range\": 0.1}",
                   "bodies[0].frames", "adopt_unreached");
    expect_mistake("bodies[0].frames.springs=true", "bodies[0].frames", "make all frames rigid");
    expect_mistake("bodies[0].shape={\"solids\": [{\"kind\": \"box\", \"size\": [1, 1, 1]}, "
                   "{\"kind\": \"box\", \"size\": [3, 3, "
                   "3], \"operation\": \"cut\"}]}",
                   "bodies[0]", "smaller cells");
    expect_mistake("bodies[0].frames.nodes[1].position=[-0.45, 0, 0]", "bodies[0].frames",
                   "coincide");
    expect_mistake("bodies[0].frames.weights={\"kind\": \"radial\", \"range\": 0.1}",
                   "bodies[0].frames", "reach");
}

static void test_a_grid_beyond_the_limit(void **state) {
    (void)state;
    const char *settings[] = {"bodies[0].frames.resolution=3000"};
    fixture f;
    read_with(&f, test_context(1), settings, 1);
    build(&f, NULL, NULL);
    assert_int_equal(f.status, SINEW_OUT_OF_MEMORY);
    assert_non_null(strstr(sinew_context_message(f.context), "MB"));
    destroy(&f);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_mistakes),
        cmocka_unit_test(test_a_grid_beyond_the_limit),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
