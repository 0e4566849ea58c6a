// Reads and writes fields of material axes as text; see field_file.h.
#include "io/field/field_file.h"

#include "math/quat.h"

#include <math.h>

sinew_status sn_field_write(const sinew_field *field, sn_buffer *out) {
    int32_t count = sinew_field_get_element_count(field);
    bool fibres = sinew_field_get_kind(field) == SINEW_FIELD_FIBRES;
    const double *axes = sinew_field_get_axes(field);

    sn_buffer_print(out, "sinew-field 1\nkind %s\nelements %d\n", fibres ? "fibres" : "frames",
                    (int)count);
    for (int32_t e = 0; e < count; e++, axes += 9) {
        sn_mat3 Q = sn_mat3_columns(sn_load3(axes), sn_load3(axes + 3), sn_load3(axes + 6));
        sn_quat q = sn_quat_from_mat3(Q);
        double numbers[4] = {fibres ? axes[6] : q.x, fibres ? axes[7] : q.y, fibres ? axes[8] : q.z,
                             q.w};

        for (int k = 0; k < (fibres ? 3 : 4); k++) {
            if (k > 0) {
                sn_buffer_add_text(out, " ");
            }
            sn_buffer_add_double(out, numbers[k]);
        }

        sn_buffer_add_text(out, "\n");
    }

    return sn_buffer_status(out);
}

static sinew_status expect_word(sinew_context *context, const sn_source *source, sn_text *text,
                                const char *expected) {
    sn_text_skip_comments(text, '#');
    const char *at = text->at;
    if (sn_word_is(sn_text_word(text), expected)) {
        return SINEW_OK;
    }
    return sn_source_fail_at(context, source, SINEW_INVALID_DATA, at, "expected \"%s\"", expected);
}

static sinew_status read_head(sinew_context *context, const sn_source *source, sn_text *text,
                              sn_field_file *file) {
    int64_t version = 0, count = 0;
    SN_TRY(expect_word(context, source, text, "sinew-field"));
    sn_text_skip_blanks(text);

    const char *at = text->at;
    if (sn_text_integer(&text->at, text->end, &version) != SN_NUMBER_OK || version != 1) {
        return sn_source_fail_at(context, source, SINEW_UNSUPPORTED, at,
                                 "only version 1 of the format is supported");
    }

    SN_TRY(expect_word(context, source, text, "kind"));
    sn_text_skip_blanks(text);
    at = text->at;

    sn_word kind = sn_text_word(text);
    if (!sn_word_is(kind, "frames") && !sn_word_is(kind, "fibres")) {
        return sn_source_fail_at(context, source, SINEW_INVALID_DATA, at,
                                 "the kind is frames or fibres");
    }

    file->kind = sn_word_is(kind, "fibres") ? SINEW_FIELD_FIBRES : SINEW_FIELD_FRAMES;
    SN_TRY(expect_word(context, source, text, "elements"));
    sn_text_skip_blanks(text);
    at = text->at;

    // An element takes at least six bytes. A count that the file cannot hold must not allocate
    // memory.
    if (sn_text_integer(&text->at, text->end, &count) != SN_NUMBER_OK || count < 1 ||
        count > (int64_t)(source->size / 6)) {
        return sn_source_fail_at(context, source, SINEW_INVALID_DATA, at,
                                 "expected the number of elements that follow");
    }

    file->element_count = (int32_t)count;
    return SINEW_OK;
}

// Scales numbers so that their squares neither overflow nor underflow. False if they are all zero
// or not finite.
static bool scale(double *numbers, int32_t count) {
    double largest = 0;
    for (int32_t k = 0; k < count; k++) {
        if (!isfinite(numbers[k])) {
            return false;
        }
        largest = fmax(largest, fabs(numbers[k]));
    }

    if (largest > 0) {
        for (int32_t k = 0; k < count; k++) {
            numbers[k] /= largest;
        }
    }

    return largest > 0;
}

// Reads the numbers of one line, three or four; returns how many there were.
static int32_t read_numbers(sn_text *text, double numbers[4]) {
    int32_t count = 0;
    for (; count < 4; count++) {
        sn_text_skip_blanks(text);
        if (sn_text_double(&text->at, text->end, &numbers[count]) != SN_NUMBER_OK) {
            break;
        }
    }

    return count;
}

static bool line_ends(sn_text *text) {
    sn_text_skip_blanks(text);
    return sn_text_at_end(text) || *text->at == '\n' || *text->at == '\r' || *text->at == '#';
}

sinew_status sn_field_read(sn_arena *arena, const sn_source *source, sn_field_file *file) {
    sinew_context *context = arena->context;
    sn_text text = sn_source_text(source);

    *file = (sn_field_file){0};
    SN_TRY(read_head(context, source, &text, file));
    file->axes = SN_PUSH(arena, double, 9 * (size_t)file->element_count);
    SN_TRY(sn_arena_status(arena));

    for (int32_t e = 0; e < file->element_count; e++) {
        sn_text_skip_comments(&text, '#');
        const char *at = text.at;
        double x[4] = {0};
        int32_t count = read_numbers(&text, x);
        bool fits = count >= (file->kind == SINEW_FIELD_FIBRES ? 3 : 4) && line_ends(&text);

        if (!fits || !scale(x, count)) {
            return sn_source_fail_at(context, source, SINEW_INVALID_DATA, at,
                                     "element %d of %d: expected a quaternion x y z w%s, not all "
                                     "zero, on a line of its own",
                                     (int)e, (int)file->element_count,
                                     file->kind == SINEW_FIELD_FIBRES ? ", or a direction x y z"
                                                                      : "");
        }

        // A quaternion, or a direction completed to a basis.
        sn_mat3 Q = count == 4
                        ? sn_quat_to_mat3(sn_quat_normalize((sn_quat){x[0], x[1], x[2], x[3]}))
                        : sn_mat3_basis(sn_normalize(sn_load3(x)));

        for (int j = 0; j < 3; j++) {
            sn_store3(file->axes + 9 * (size_t)e + 3 * j, sn_mat3_column(Q, j));
        }
    }

    sn_text_skip_comments(&text, '#');
    if (sn_text_at_end(&text)) {
        return SINEW_OK;
    }

    return sn_source_fail_at(context, source, SINEW_INVALID_DATA, text.at,
                             "more follows after the last of %d elements",
                             (int)file->element_count);
}
