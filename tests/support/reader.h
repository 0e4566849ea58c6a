// Tests file readers with files that are truncated, damaged, or invalid in a known way.
#ifndef SN_TESTS_SUPPORT_READER_H
#define SN_TESTS_SUPPORT_READER_H

#include "support/test.h"

#include "io/bytes/buffer.h"
#include "io/bytes/source.h"

// Reads a source and frees the result.
typedef sinew_status test_reader(sinew_context *context, const sn_source *source);

// Reads every prefix of the file, and the file with `trials` bytes changed one after the other,
// half of them to characters of the format; some of the damage accumulates. Any result is accepted
// except a crash, a leak, or a failure without a message.
void test_damage(test_reader *read, const char *name, sn_buffer *file, const char *letters,
                 int trials);

// A file that must be refused, and words of the message.
typedef struct test_bad_file {
    const char *name, *text;
    sinew_status status;
    const char *message;
} test_bad_file;

void test_bad_files(test_reader *read, const test_bad_file *cases, size_t count);

#endif
