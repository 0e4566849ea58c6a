// glTF: what is written reads back; small files by hand; refusals with their place; damage; memory
// shortage.
#include "support/reader.h"

#include "io/gltf/gltf.h"
#include "io/mesh/mesh.h"
#include "math/vec.h"

#include <math.h>

// A bent strip of four triangles on two joints, with one morph target and an animation of
// everything that can move.
static const double points[] = {0, 0, 0, 1, 0, 0, 0, 1, 0, 1, 1, 0.5, 0, 2, 0, 1, 2, 0.25};
static const double normals[] = {0, 0, 2, 0, 0, 1, 0, 0, 1, 0, 3, 4, 0, 0, 1, 0, 0, 0};
static const double uvs[] = {0, 0, 1, 0, 0, 0.5, 1, 0.5, 0, 1, 1, 1};
static const int32_t indices[] = {0, 1, 2, 2, 1, 3, 2, 3, 4, 4, 3, 5};
static const int32_t joints[] = {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0,
                                 0, 1, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0,
                                 1, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0};
static const double weights[] = {1,   0,   0, 0, 0, 0, 0, 0, 1,   0, 0, 0, 0,   0, 0, 0,
                                 0.5, 0.5, 0, 0, 0, 0, 0, 0, 1,   1, 0, 0, 0,   0, 0, 0,
                                 0.5, 0,   0, 0, 0, 0, 0, 0, 0.5, 0, 0, 0, 0.5, 0, 0, 0};
static const double target[] = {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0, -1};
static const double *const targets[] = {target};
static const double inverse_bind[] = {1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0, 0, 0,  0, 1,
                                      1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0, 0, -1, 0, 1};
static const int32_t skin_joints[] = {1, 2};
static const double times[] = {0, 0.5, 1};
static const double turns[] = {0, 0, 0, 1, 0, 0, 0.5, 0.5, 0, 0, 0, 2};
static const double moves[] = {0, 0, 0, 1, 2, 3, 0, 0, 0};
static const double shapes[] = {0, 1, 0.25};

typedef struct model {
    sn_gltf gltf;
    sn_gltf_primitive primitive;
    sn_gltf_mesh mesh;
    sn_gltf_node nodes[3];
    sn_gltf_skin skin;
    sn_gltf_channel channels[3];
    sn_gltf_animation animation;
    sn_gltf_material material;
} model;

static void make_model(model *m) {
    *m = (model){
        .primitive = {.point_count = 6,
                      .points = points,
                      .normals = normals,
                      .uvs = uvs,
                      .joint_sets = 2,
                      .joints = joints,
                      .weights = weights,
                      .index_count = 12,
                      .indices = indices,
                      .target_count = 1,
                      .targets = targets},
        .mesh = {"skin", 1, &m->primitive},
        .nodes = {sn_gltf_default_node("body"), sn_gltf_default_node("hip"),
                  sn_gltf_default_node("knee \"k\"")},
        .skin = {"bones", 2, skin_joints, inverse_bind},
        .channels = {{2, SN_GLTF_ROTATION, SN_GLTF_LINEAR, 3, 4, times, turns},
                     {1, SN_GLTF_TRANSLATION, SN_GLTF_STEP, 3, 3, times, moves},
                     {0, SN_GLTF_WEIGHTS, SN_GLTF_LINEAR, 3, 1, times, shapes}},
        .animation = {"walk", 3, m->channels},
        .material = {"flesh", {0.8, 0.4, 0.3, 1}, 0, 0.5, true},
    };
    m->nodes[0].mesh = 0;
    m->nodes[0].skin = 0;
    m->nodes[2].parent = 1;
    m->nodes[2].translation[1] = 1;
    m->nodes[2].rotation[2] = m->nodes[2].rotation[3] = sqrt(0.5);
    m->gltf = (sn_gltf){3, 1, 1, 1, 1, m->nodes, &m->mesh, &m->skin, &m->animation, &m->material};
}

static void close_all(const char *what, const double *a, const double *b, size_t count) {
    for (size_t i = 0; i < count; i++) {
        test_close(what, a[i], b[i], 1e-7); // floats in the file
    }
}

static void test_round_trip(void **state) {
    (void)state;
    sinew_context *context = test_context(1);
    model m;

    make_model(&m);
    sn_buffer out = sn_buffer_create(context);

    assert_int_equal(sn_write_glb(&m.gltf, &out), SINEW_OK);
    assert_int_equal(out.size % 4, 0);

    sn_source source = {.name = "a.glb", .data = out.data, .size = out.size};
    sn_gltf_file file;
    if (sn_gltf_read(context, &source, &file) != SINEW_OK) {
        fail_msg("%s", sinew_context_message(context));
    }

    const sn_gltf *g = &file.view;
    assert_int_equal(g->node_count, 3);
    assert_string_equal(g->nodes[2].name, "knee \"k\"");
    assert_int_equal(g->nodes[2].parent, 1);
    assert_int_equal(g->nodes[0].parent, -1);
    assert_int_equal(g->nodes[0].skin, 0);
    close_all("rotation", g->nodes[2].rotation, m.nodes[2].rotation, 4);

    const sn_gltf_primitive *p = &g->meshes[0].primitives[0];
    assert_int_equal(p->point_count, 6);
    close_all("points", p->points, points, 18);
    close_all("uvs", p->uvs, uvs, 12);
    close_all("the normal of point 3", p->normals + 9, (double[]){0, 0.6, 0.8}, 3);
    close_all("a normal that was zero", p->normals + 15, (double[]){0, 0, 1}, 3);
    assert_int_equal(p->joint_sets, 2);

    for (int i = 0; i < 48; i++) {
        if (weights[i] > 0) {
            assert_int_equal(p->joints[i], joints[i]);
        }
    }

    close_all("weights that summed to 2", p->weights + 24, (double[]){0.5, 0.5}, 2);
    close_all("a single weight of a half", p->weights + 32, (double[]){1}, 1);
    assert_memory_equal(p->indices, indices, sizeof indices);
    close_all("target", p->targets[0], target, 18);
    close_all("inverse bind", g->skins[0].inverse_bind, inverse_bind, 32);
    assert_int_equal(g->animations[0].channel_count, 3);

    const sn_gltf_channel *c = g->animations[0].channels;
    assert_int_equal(c[1].interpolation, SN_GLTF_STEP);
    close_all("times", c[0].times, times, 3);
    close_all("a turn made unit", c[0].values + 4, (double[]){0, 0, sqrt(0.5), sqrt(0.5)}, 4);
    close_all("moves", c[1].values, moves, 9);
    close_all("shapes", c[2].values, shapes, 3);
    assert_true(g->materials[0].double_sided);
    sn_gltf_file_destroy(&file);
    sn_buffer_destroy(&out);
    assert_int_equal(context->bytes_in_use, 0);
    sinew_context_destroy(context);
}

// What has z up in the points has y up where the file shows them.
static void expect_upright(const sn_gltf_file *file) {
    sn_arena scratch = sn_arena_create(file->arena.context);
    double *matrices;
    assert_int_equal(sn_gltf_compute_matrices(&file->view, &scratch, &matrices), SINEW_OK);
    close_all("up", matrices + 8, (const double[]){0, 1, 0}, 3); // the third column
    close_all("across", matrices, (const double[]){1, 0, 0}, 3);
    sn_arena_destroy(&scratch);
}

static void test_frames(void **state) {
    (void)state;
    sinew_context *context = test_context(1);
    double second[18], third[18];

    for (int i = 0; i < 18; i++) {
        second[i] = points[i] + 0.25;
        third[i] = points[i] * 2;
    }

    sn_glb_frames frames = {.name = "jelly",
                            .point_count = 6,
                            .index_count = 12,
                            .frame_count = 3,
                            .indices = indices,
                            .frames = (const double *const[]){points, second, third},
                            .times = times,
                            .z_up = true,
                            .material = {"jelly", {1, 0, 0, 1}, 0, 1, false}};

    for (frames.frame_count = 1; frames.frame_count <= 3; frames.frame_count += 2) {
        sn_buffer out = sn_buffer_create(context);
        assert_int_equal(sn_write_glb_frames(&frames, 1, &out), SINEW_OK);

        sn_source source = {.name = "a.glb", .data = out.data, .size = out.size};
        sn_gltf_file file;
        if (sn_gltf_read(context, &source, &file) != SINEW_OK) {
            fail_msg("%s", sinew_context_message(context));
        }

        const sn_gltf_primitive *p = &file.view.meshes[0].primitives[0];
        assert_int_equal(p->target_count, frames.frame_count - 1);
        assert_int_equal(file.view.animation_count, frames.frame_count > 1);

        for (int k = 1; k < frames.frame_count; k++) {
            const double *values = file.view.animations[0].channels[0].values;
            double shown[18];
            for (int i = 0; i < 18; i++) {
                shown[i] = p->points[i];
                for (int t = 0; t < 2; t++) {
                    shown[i] += values[2 * k + t] * p->targets[t][i];
                }
            }

            close_all("frame", shown, frames.frames[k], 18);
        }

        expect_upright(&file);
        sn_gltf_file_destroy(&file);
        sn_buffer_destroy(&out);
    }

    sinew_context_destroy(context);
}

// A cube that a second image rotates by 90 degrees about z, and another body: each has a node.
// Every vertex of the cube has three normals along the axes, which rotate with it.
static void test_creases_and_bodies(void **state) {
    (void)state;
    sinew_context *context = test_context(1);
    double cube[24], rotated[24];
    for (int i = 0; i < 8; i++) {
        for (int c = 0; c < 3; c++) {
            cube[3 * i + c] = i >> c & 1;
        }
        rotated[3 * i] = -cube[3 * i + 1];
        rotated[3 * i + 1] = cube[3 * i];
        rotated[3 * i + 2] = cube[3 * i + 2];
    }
    static const int32_t faces[36] = {0, 2, 1, 1, 2, 3, 4, 5, 6, 5, 7, 6, 0, 1, 4, 1, 5, 4,
                                      2, 6, 3, 3, 6, 7, 0, 4, 2, 2, 4, 6, 1, 3, 5, 3, 7, 5};
    const double *const images[] = {cube, rotated};
    sn_glb_frames bodies[2];
    for (int k = 0; k < 2; k++) {
        bodies[k] = (sn_glb_frames){.name = k ? "second" : "first",
                                    .point_count = 8,
                                    .index_count = 36,
                                    .frame_count = 2,
                                    .indices = faces,
                                    .frames = images,
                                    .times = times,
                                    .material = {"cube", {1, 0, 0, 1}, 0, 1, false}};
    }

    sn_buffer out = sn_buffer_create(context);
    assert_int_equal(sn_write_glb_frames(bodies, 2, &out), SINEW_OK);
    sn_source source = {.name = "a.glb", .data = out.data, .size = out.size};
    sn_gltf_file file;
    assert_int_equal(sn_gltf_read(context, &source, &file), SINEW_OK);
    assert_int_equal(file.view.node_count, 2);
    assert_string_equal(file.view.nodes[1].name, "second");
    assert_int_equal(file.view.animation_count, 1);
    assert_int_equal(file.view.animations[0].channel_count, 2);

    const sn_gltf_primitive *p = &file.view.meshes[1].primitives[0];
    assert_int_equal(p->point_count, 24);
    close_all("vertices keep their numbers", p->points, cube, 24);
    for (int i = 0; i < p->index_count; i += 3) {
        sn_vec3 a = sn_load3(p->points + 3 * p->indices[i]);
        sn_vec3 n = sn_cross(sn_sub(sn_load3(p->points + 3 * p->indices[i + 1]), a),
                             sn_sub(sn_load3(p->points + 3 * p->indices[i + 2]), a));
        for (int c = 0; c < 3; c++) {
            sn_vec3 own = sn_load3(p->normals + 3 * p->indices[i + c]);
            test_close("normal of the face", sn_dot(own, n), 1, 1e-6);
        }
    }

    sn_gltf_file_destroy(&file);
    sn_buffer_destroy(&out);
    sinew_context_destroy(context);
}

// Two triangles as a strip in a data URI, with a sparse accessor and a node that scales, turns a
// quarter about z and moves.
#define ASSET "{\"asset\":{\"version\":\"2.0\"},"
#define DATA                                                                                       \
    "\"buffers\":[{\"byteLength\":80,\"uri\":\"data:application/octet-stream;base64,"              \
    "AAAAAAAAAAAAAAAAAACAPwAAAAAAAAAAAAAAAAAAgD8AAAAAAACAPwAAgD8AAAAAAQAAAAAAAEAAAAAAAAAAAAAAAAAA" \
    "AQIDAAAAAAAAAAA=\"}],"
static const char strip[] =
    ASSET "\"scene\":0,\"scenes\":[{\"nodes\":[0]}],\"nodes\":[{\"children\":[1],\"translation\":["
          "10,0,0]},"
          "{\"mesh\":0,\"matrix\":[0,2,0,0,-2,0,0,0,0,0,2,0,1,0,0,1]},{\"mesh\":0}],"
          "\"meshes\":[{\"primitives\":[{\"mode\":5,\"attributes\":{\"POSITION\":0},\"indices\":1,"
          "\"material\":0}]}],"
          "\"materials\":[{\"name\":\"m\"}],"
          "\"accessors\":[{\"bufferView\":0,\"componentType\":5126,\"count\":4,\"type\":\"VEC3\","
          "\"sparse\":{\"count\":1,"
          "\"indices\":{\"bufferView\":1,\"componentType\":5123},\"values\":{\"bufferView\":2}}},"
          "{\"bufferView\":3,\"componentType\":5121,\"count\":4,\"type\":\"SCALAR\"}]," DATA
          "\"bufferViews\":[{\"buffer\":0,\"byteLength\":48},{\"buffer\":0,\"byteOffset\":48,"
          "\"byteLength\":4},"
          "{\"buffer\":0,\"byteOffset\":52,\"byteLength\":12},{\"buffer\":0,\"byteOffset\":68,"
          "\"byteLength\":4}]}";

static void test_by_hand(void **state) {
    (void)state;
    sinew_context *context = test_context(1);
    sn_source source = {.name = "strip.gltf", .data = strip, .size = strlen(strip)};
    sn_mesh_file file;

    if (sn_mesh_read(context, &source, &file) != SINEW_OK) {
        fail_msg("%s", sinew_context_message(context));
    }

    assert_int_equal(file.format, SN_MESH_GLTF);
    assert_int_equal(file.view.point_count, 4); // the third node is not in the scene

    static const int32_t expected[] = {0, 1, 2, 1, 3, 2};
    assert_int_equal(file.view.cells[SINEW_ELEMENT_TRIANGLE].count, 2);
    assert_memory_equal(file.view.cells[SINEW_ELEMENT_TRIANGLE].nodes, expected, sizeof expected);
    assert_int_equal(file.view.cells[SINEW_ELEMENT_TRIANGLE].labels[0], 1);
    assert_string_equal(file.view.groups[0].name, "m");

    // (x, y) -> (-2 y, 2 x) + (11, 0); the sparse accessor moves point 1 to (2, 0).
    close_all("point 0", file.view.points, (double[]){11, 0, 0}, 3);
    close_all("point 1", file.view.points + 3, (double[]){11, 4, 0}, 3);
    close_all("point 3", file.view.points + 9, (double[]){9, 2, 0}, 3);
    sn_mesh_file_destroy(&file);
    sinew_context_destroy(context);
}

static bool fetch_bytes(void *user, const char *name, const void **data, size_t *size) {
    if (strcmp(name, "points.bin") != 0) {
        return false;
    }
    *data = user;
    *size = 36;
    return true;
}

static void test_external_buffer(void **state) {
    (void)state;
    const char *text =
        ASSET "\"nodes\":[{\"mesh\":0}],\"meshes\":[{\"primitives\":[{\"attributes\":{\"POSITION\":"
              "0}}]}],\"accessors\":[{"
              "\"bufferView\":0,\"componentType\":5126,\"count\":3,\"type\":\"VEC3\"}],"
              "\"bufferViews\":[{\"buffer\":0,"
              "\"byteLength\":36}],\"buffers\":[{\"byteLength\":36,\"uri\":\"points.bin\"}]}";
    float bytes[9] = {0, 0, 0, 1, 0,
                      0, 0, 1, 0}; // a little-endian machine, as all that run this are
    sinew_context *context = test_context(1);
    sn_source source = {"a.gltf", text, strlen(text), fetch_bytes, bytes, false};
    sn_mesh_file file;

    if (sn_mesh_read(context, &source, &file) != SINEW_OK) {
        fail_msg("%s", sinew_context_message(context));
    }

    assert_int_equal(file.view.cells[0].count, 1);
    sn_mesh_file_destroy(&file);
    source.fetch = NULL;
    assert_int_equal(sn_mesh_read(context, &source, &file), SINEW_INVALID_DATA);
    assert_non_null(strstr(sinew_context_message(context),
                           "buffers[0].uri: the file \"points.bin\" cannot be read"));
    sn_mesh_file_destroy(&file);
    sinew_context_destroy(context);
}

static void test_refusals(void **state) {
    (void)state;
    const struct {
        const char *text, *message;
    } cases[] = {
        {"[]", "a.gltf:1:1: found an array of 0, expected an object"},
        {"{}", "\"asset\" is missing here"},
        {"{\"asset\":{\"version\":\"1.0\"}}", "asset.version: glTF version \"1.0\""},
        {ASSET "\"extensionsRequired\":[\"KHR_draco_mesh_compression\"]}",
         "extensionsRequired[0]: the file needs the extension KHR_draco"},
        {ASSET "\"nodes\":[{\"children\":[1]},{\"children\":[0]}]}", "is its own ancestor"},
        {ASSET "\"nodes\":[{\"children\":[1,1]},{}]}",
         "nodes[0].children[1]: node 1 has a parent already"},
        {ASSET "\"nodes\":[{\"mesh\":0}]}",
         "nodes[0].mesh: refers to something of which the file has none"},
        {ASSET "\"nodes\":[{\"rotation\":[0,0,0,0]}]}", "must be a unit quaternion"},
        {ASSET "\"nodes\":[{\"matrix\":[0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0]}]}",
         "the matrix has no inverse"},
        {ASSET "\"meshes\":[{\"primitives\":[{\"attributes\":{}}]}]}",
         "\"POSITION\" is missing here"},
        {ASSET "\"meshes\":[{\"primitives\":[{\"attributes\":{\"POSITION\":0}}]}]," DATA
               "\"bufferViews\":[{\"buffer\":0,\"byteLength\":81}],\"accessors\":[{\"bufferView\":"
               "0,\"componentType\":5126,"
               "\"count\":1,"
               "\"type\":\"VEC3\"}]}",
         "bufferViews[0]: the view ends at byte 81 of a buffer of 80"},
        {ASSET "\"meshes\":[{\"primitives\":[{\"attributes\":{\"POSITION\":0}}]}]," DATA
               "\"bufferViews\":[{\"buffer\":0,\"byteLength\":80}],\"accessors\":[{\"bufferView\":"
               "0,\"componentType\":5126,"
               "\"count\":100000000,\"type\":\"VEC3\"}]}",
         "100000000 elements need 1200000000 bytes; the buffer view has 80"},
        {ASSET "\"meshes\":[{\"primitives\":[{\"attributes\":{\"POSITION\":0}}]}],\"accessors\":[{"
               "\"componentType\":5126,"
               "\"count\":100000000,\"type\":\"VEC3\"}]}",
         "the accessors together are far larger than the buffers"},
        {ASSET "\"buffers\":[{\"byteLength\":3,\"uri\":\"data:;base64,AA!A\"}]}",
         "the base64 data is malformed at character 2"},
        {ASSET "\"buffers\":[{\"byteLength\":4,\"uri\":\"data:;base64,AAAA\"}]}",
         "the buffer has 3 bytes; byteLength is 4"},
        {ASSET "\"buffers\":[{\"byteLength\":4}]}", "no binary chunk"},
        {ASSET "\"animations\":[{\"channels\":[{\"sampler\":0,\"target\":{\"path\":\"rotate\"}}],"
               "\"samplers\":[{}]}]}",
         "unknown word \"rotate\"; did you mean \"rotation\"?"},
        {ASSET "\"nodes\":[NaN]}", "\"NaN\" is not a number here"},
    };

    sinew_context *context = test_context(1);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        sn_source source = {.name = "a.gltf", .data = cases[i].text, .size = strlen(cases[i].text)};
        sn_gltf_file file;
        sinew_status status = sn_gltf_read(context, &source, &file);
        sn_gltf_file_destroy(&file);

        if (status != SINEW_INVALID_DATA ||
            !strstr(sinew_context_message(context), cases[i].message)) {
            fail_msg("case %zu: %s: %s", i, sinew_status_name(status),
                     sinew_context_message(context));
        }
    }

    assert_int_equal(context->bytes_in_use, 0);
    sinew_context_destroy(context);
}

static sinew_status read_gltf_mesh(sinew_context *context, const sn_source *source) {
    sn_mesh_file file;
    sinew_status status = sn_mesh_read_format(context, source, SN_MESH_GLTF, &file);
    if (status == SINEW_OUT_OF_MEMORY) {
        fail_msg("%s", sinew_context_message(context));
    }

    sn_mesh_file_destroy(&file);
    return status;
}

static void test_truncated_and_damaged(void **state) {
    (void)state;
    sinew_context *context = test_context(1);
    model m;

    make_model(&m);
    sn_buffer files[2] = {sn_buffer_create(context), sn_buffer_create(context)};

    assert_int_equal(sn_write_glb(&m.gltf, &files[0]), SINEW_OK);
    sn_buffer_add_text(&files[1], strip);
    for (int f = 0; f < 2; f++) {
        test_damage(read_gltf_mesh, "a", &files[f], "0123456789,-", 5000);
        sn_buffer_destroy(&files[f]);
    }

    sinew_context_destroy(context);
}

static void test_memory_shortage(void **state) {
    (void)state;
    for (int64_t n = 1;; n++) {
        test_allocator allocator = {.fail_at = n};
        sinew_context *context = test_context_failing(&allocator);
        sinew_status status = SINEW_OUT_OF_MEMORY;

        if (context) {
            model m;
            make_model(&m);

            sn_buffer out = sn_buffer_create(context);
            status = sn_write_glb(&m.gltf, &out);
            if (status == SINEW_OK) {
                sn_source source = {.name = "a.glb", .data = out.data, .size = out.size};
                sn_mesh_file file;
                status = sn_mesh_read(context, &source, &file);
                sn_mesh_file_destroy(&file);
            }

            sn_buffer_destroy(&out);
            assert_int_equal(context->bytes_in_use, 0);
        }

        sinew_context_destroy(context);
        assert_int_equal(allocator.live, 0);
        if (status == SINEW_OK) {
            return;
        }

        assert_int_equal(status, SINEW_OUT_OF_MEMORY);
        assert_true(n < 300);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_round_trip),      cmocka_unit_test(test_frames),
        cmocka_unit_test(test_by_hand),         cmocka_unit_test(test_external_buffer),
        cmocka_unit_test(test_refusals),        cmocka_unit_test(test_truncated_and_damaged),
        cmocka_unit_test(test_memory_shortage), cmocka_unit_test(test_creases_and_bodies),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
