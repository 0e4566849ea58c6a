// Fuzz targets of the JSON reader and writer; included by targets.h, after its helpers.
#ifndef SN_TESTS_FUZZ_TARGETS_JSON_H
#define SN_TESTS_FUZZ_TARGETS_JSON_H

#include "io/text/json.h"
#include "io/text/json_write.h"

static inline sn_buffer fuzz_write_json(sinew_context *context, const sn_json *root, bool compact) {
    sn_buffer out = sn_buffer_create(context);
    sn_json_writer writer = sn_json_writer_create(&out, compact);
    sn_json_write_tree(&writer, root);
    FUZZ_REQUIRE(sn_buffer_status(&out) == SINEW_OK);
    return out;
}

// What is read, written and read again is written the same.
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

#endif
