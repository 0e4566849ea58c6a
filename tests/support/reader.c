// Feeds truncated and damaged files to a reader; see reader.h.
#include "support/reader.h"

#include "base/context.h"
#include "base/random.h"

#include <stdlib.h>

// A copy that ends where its memory ends, so that the sanitizer detects reads past the end.
static void read_copy(sinew_context *context, test_reader *read, const char *name, const char *data,
                      size_t size) {
    char *copy = malloc(size ? size : 1);
    memcpy(copy, data, size);

    sn_source source = {.name = name, .data = copy, .size = size};
    context->message[0] = 0;

    sinew_status status = read(context, &source);

    if (status != SINEW_OK && !*sinew_context_message(context)) {
        fail_msg("%s: a failure without a message", name);
    }

    free(copy);
}

void test_damage(test_reader *read, const char *name, sn_buffer *file, const char *letters,
                 int trials) {
    sinew_context *context = test_context(1);
    sn_random random = sn_random_seed(17);
    for (size_t size = 0; size < file->size; size++) {
        read_copy(context, read, name, file->data, size);
    }

    for (int trial = 0; trial < trials; trial++) {
        size_t at = sn_random_u32(&random) % file->size;
        char old = file->data[at];
        uint32_t any = sn_random_u32(&random);
        file->data[at] = trial % 2 ? (char)any : letters[any % strlen(letters)];
        read_copy(context, read, name, file->data, file->size);

        if (trial % 5) {
            file->data[at] = old;
        }
    }

    assert_int_equal(context->bytes_in_use, 0);
    sinew_context_destroy(context);
}

void test_bad_files(test_reader *read, const test_bad_file *cases, size_t count) {
    sinew_context *context = test_context(1);
    for (size_t i = 0; i < count; i++) {
        sn_source source = {
            .name = cases[i].name, .data = cases[i].text, .size = strlen(cases[i].text)};
        sinew_status status = read(context, &source);

        if (status != cases[i].status ||
            !strstr(sinew_context_message(context), cases[i].message)) {
            fail_msg("case %zu: %s: %s", i, sinew_status_name(status),
                     sinew_context_message(context));
        }
    }

    assert_int_equal(context->bytes_in_use, 0);
    sinew_context_destroy(context);
}
