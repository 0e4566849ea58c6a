// Readers of files against files that are cut short, damaged, or wrong in a known way.
#ifndef SN_TESTS_SUPPORT_READER_H
#define SN_TESTS_SUPPORT_READER_H

#include "support/test.h"

#include "io/bytes/buffer.h"
#include "io/bytes/source.h"

// Reads a source and lets go of what it made.
typedef sinew_status test_reader(sinew_context *context, const sn_source *source);

// Every beginning of the file, and the file with `trials` bytes changed one after the other, half
// of them to letters the format uses; some damage stays and adds up. Any result will do that is no
// crash, no leak and no failure without a message.
void test_damage(test_reader *read, const char *name, sn_buffer *file, const char *letters,
                 int trials);

// A file that is to be refused, and words of the message.
typedef struct test_bad_file {
    const char *name, *text;
    sinew_status status;
    const char *message;
} test_bad_file;

void test_bad_files(test_reader *read, const test_bad_file *cases, size_t count);

#endif
