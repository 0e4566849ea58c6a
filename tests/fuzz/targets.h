// The fuzz targets. Each takes arbitrary bytes and must not crash, read past their end, or fail
// without a message. Accepted input must survive being written and read again. Included by each
// fuzz_NAME.c and by the test that replays the seeds.
#ifndef SN_TESTS_FUZZ_TARGETS_H
#define SN_TESTS_FUZZ_TARGETS_H

#include "sinew/skeleton.h"

#include "fuzz/mesh_targets.h"
#include "io/motion/read_bvh.h"
#include "io/gltf/skeleton.h"
#include "io/field/field_file.h"
#include "io/bytes/inflate.h"
#include "io/picture/read_png.h"
#include "io/text/json.h"
#include "io/text/json_write.h"
#include "io/scene/read.h"
#include "io/volume/volume.h"

#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

// A glTF skin as a skeleton with its motion.
static inline void fuzz_skeleton(const uint8_t *data, size_t size) {
    sinew_context *context = fuzz_context();
    sn_source source = {"in.glb", data, size, NULL, NULL, false};
    sn_gltf_file file;
    // A sample a minute, so that many inputs can be tried.
    sn_gltf_skeleton_def def = {.file = "in.glb", .unit = 1, .frame_time = 60};
    sinew_skeleton *skeleton = NULL;
    sinew_motion *motion = NULL;
    sinew_status status = sn_gltf_read(context, &source, &file);

    if (status == SINEW_OK) {
        status = sn_gltf_create_skeleton(context, &file.view, &def, &skeleton, &motion);
    }

    FUZZ_REQUIRE((status == SINEW_OK) == (skeleton != NULL) &&
                 (status == SINEW_OK) == (motion != NULL));
    sinew_skeleton_destroy(skeleton);
    sinew_motion_destroy(motion);
    sn_gltf_file_destroy(&file);
    fuzz_finish(context, status);
}

static inline sn_buffer fuzz_write_json(sinew_context *context, const sn_json *root, bool compact) {
    sn_buffer out = sn_buffer_create(context);
    sn_json_writer writer = sn_json_writer_create(&out, compact);
    sn_json_write_tree(&writer, root);
    FUZZ_REQUIRE(sn_buffer_status(&out) == SINEW_OK);
    return out;
}

// A document that is read, written and read again is written identically.
static inline void fuzz_check_json(sinew_context *context, const sn_json *root) {
    sn_json_options options = {.name = "again"};
    sn_buffer pretty = fuzz_write_json(context, root, false);
    sn_buffer compact = fuzz_write_json(context, root, true);
    sn_json_document again;

    FUZZ_REQUIRE(sn_json_parse(context, pretty.data, pretty.size, &options, NULL, &again) ==
                 SINEW_OK);

    sn_buffer other = fuzz_write_json(context, again.root, true);
    FUZZ_REQUIRE(other.size == compact.size && memcmp(other.data, compact.data, other.size) == 0);
    sn_json_document_destroy(&again);
    sn_buffer_destroy(&pretty);
    sn_buffer_destroy(&compact);
    sn_buffer_destroy(&other);
}

static inline void fuzz_json(const uint8_t *data, size_t size) {
    sinew_context *context = fuzz_context();
    sn_json_options options = {.name = "a.json", .comments = true};
    sn_json_document document;
    sinew_status status = sn_json_parse(context, data, size, &options, NULL, &document);

    if (status == SINEW_OK) {
        fuzz_check_json(context, document.root);
    }

    sn_json_document_destroy(&document);
    fuzz_finish(context, status);
}

// An assignment, a line of three dashes, the JSON it changes.
static inline void fuzz_json_set(const uint8_t *data, size_t size) {
    size_t first;
    size_t second = fuzz_split(data, size, &first);
    char *assignment = calloc(first + 1, 1);

    FUZZ_REQUIRE(assignment);
    memcpy(assignment, data, first);

    sinew_context *context = fuzz_context();
    sn_mistakes mistakes = sn_mistakes_create(context);
    sn_json_options options = {.name = "a.json", .comments = true};
    sn_json_document document;
    sinew_status status =
        sn_json_parse(context, data + second, size - second, &options, &mistakes, &document);

    if (status == SINEW_OK) {
        status = sn_json_set(&document, assignment, &mistakes);
    }
    if (status == SINEW_OK) {
        fuzz_check_json(context, document.root);
    }

    sn_json_document_destroy(&document);
    sn_mistakes_destroy(&mistakes);
    fuzz_finish(context, status);
    free(assignment);
}

static inline void fuzz_gzip(const uint8_t *data, size_t size) {
    sinew_context *context = fuzz_context();
    sn_buffer out = sn_buffer_create(context);
    size_t used;
    sn_inflate_gzip(data, size, 1 << 20, &out);
    sn_inflate_zlib(data, size, 1 << 20, &out);

    // Raw data has no checksum, which a fuzzer could not guess.
    sn_inflate_raw(data, size, 1 << 20, &out, &used);
    FUZZ_REQUIRE(used <= size);
    sn_buffer_destroy(&out);
    fuzz_finish(context, SINEW_OK);
}

// A picture; all values are between 0 and 1.
static inline void fuzz_png(const uint8_t *data, size_t size) {
    sinew_context *context = fuzz_context();
    sn_arena arena = sn_arena_create(context);
    sn_source source = {.name = "in.png", .data = data, .size = size};
    sn_png_map map = {0};
    sinew_status status = sn_png_read(context, &source, &arena, &map);

    FUZZ_REQUIRE((status == SINEW_OK) == (map.values != NULL));
    for (int32_t i = 0; map.values && i < map.width * map.height; i++) {
        FUZZ_REQUIRE(map.values[i] >= 0 && map.values[i] <= 1);
    }
    sn_arena_destroy(&arena);
    fuzz_finish(context, status);
}

// A volume; the format is recognised by the first bytes or the name.
static inline void fuzz_volume(const char *name, const uint8_t *data, size_t size) {
    sinew_context *context = fuzz_context();
    sn_volume_options options = {.memory_limit = 1 << 26};
    sn_source source = {.name = name, .data = data, .size = size};
    sn_volume_file file;
    sinew_status status = sn_volume_read(context, &source, &options, &file);

    if (status == SINEW_OK) {
        sn_buffer out = sn_buffer_create(context);
        FUZZ_REQUIRE(sn_write_nrrd(&file.grid, &out) == SINEW_OK);

        sn_volume_file again;
        source = (sn_source){.name = "again.nrrd", .data = out.data, .size = out.size};

        sinew_status second = sn_volume_read(context, &source, &options, &again);
        // Lengths beyond the range of doubles are refused.
        if (second == SINEW_OK) {
            size_t cells = (size_t)file.grid.cells[0] * (size_t)file.grid.cells[1] *
                           (size_t)file.grid.cells[2];

            FUZZ_REQUIRE(
                memcmp(file.grid.labels16, again.grid.labels16, cells * sizeof(uint16_t)) == 0);
        }
        sn_volume_file_destroy(&again);
        sn_buffer_destroy(&out);
    }

    sn_volume_file_destroy(&file);
    fuzz_finish(context, status);
}

static inline void fuzz_nifti(const uint8_t *data, size_t size) {
    fuzz_volume("a.nii", data, size);
}

static inline void fuzz_nrrd(const uint8_t *data, size_t size) {
    fuzz_volume("a.nrrd", data, size);
}

static inline void fuzz_meta(const uint8_t *data, size_t size) {
    fuzz_volume("a.mha", data, size);
}

static inline void fuzz_bvh(const uint8_t *data, size_t size) {
    sinew_context *context = fuzz_context();
    sinew_skeleton *skeleton = NULL;
    sinew_motion *motion = NULL;
    sinew_status status =
        sn_bvh_read(context, "a.bvh", (const char *)data, size, 1, &skeleton, &motion);

    if (status == SINEW_OK) {
        sinew_transform *pose = calloc((size_t)sinew_motion_joint_count(motion), sizeof *pose);
        FUZZ_REQUIRE(pose);
        sinew_motion_sample(motion, 0.3, SINEW_MOTION_LOOP, pose);
        (void)sinew_skeleton_compute_world(skeleton, pose, pose);
        free(pose);
    }

    sinew_motion_destroy(motion);
    sinew_skeleton_destroy(skeleton);
    fuzz_finish(context, status);
}

// The scene is read but not built: the objects it describes may be of any size.
static inline void fuzz_scene(const uint8_t *data, size_t size) {
    sinew_context *context = fuzz_context();
    sn_mistakes mistakes = sn_mistakes_create(context);
    sn_scene scene;
    sinew_status status = sn_scene_read(context, "a.json", data, size, NULL, 0, &mistakes, &scene);
    FUZZ_REQUIRE((status == SINEW_OK) == (mistakes.total == 0));
    sn_scene_destroy(&scene);
    sn_mistakes_destroy(&mistakes);
    fuzz_finish(context, status);
}

static inline void fuzz_field(const uint8_t *data, size_t size) {
    sinew_context *context = fuzz_context();
    sn_arena arena = sn_arena_create(context);
    sn_source source = {.name = "a.field", .data = data, .size = size};
    sn_field_file file;
    sinew_status status = sn_field_read(&arena, &source, &file);

    if (status == SINEW_OK) {
        for (int64_t i = 0; i < 9 * (int64_t)file.element_count; i++) {
            FUZZ_REQUIRE(isfinite(file.axes[i]));
        }
    }

    sn_arena_destroy(&arena);
    fuzz_finish(context, status);
}

static const struct {
    const char *name;
    void (*run)(const uint8_t *data, size_t size);
} fuzz_targets[] = {{"obj", fuzz_obj},           {"ply", fuzz_ply},       {"stl", fuzz_stl},
                    {"gltf", fuzz_gltf},         {"gmsh", fuzz_gmsh},     {"medit", fuzz_medit},
                    {"vtu", fuzz_vtu},           {"tetgen", fuzz_tetgen}, {"json", fuzz_json},
                    {"json_set", fuzz_json_set}, {"gzip", fuzz_gzip},     {"png", fuzz_png},
                    {"bvh", fuzz_bvh},           {"nifti", fuzz_nifti},   {"nrrd", fuzz_nrrd},
                    {"meta", fuzz_meta},         {"scene", fuzz_scene},   {"field", fuzz_field},
                    {"skeleton", fuzz_skeleton}};

// The entry point of a fuzz_NAME.c.
#define FUZZ_MAIN(name)                                                                            \
    int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);                                  \
    int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {                                 \
        (void)fuzz_targets;                                                                        \
        fuzz_##name(data, size);                                                                   \
        return 0;                                                                                  \
    }

#endif
