// Results of the rows, and their output: lines of text, JSON, Markdown with plots.
#include "validate/validate.h"
#include "files.h"

#include "base/context.h"
#include "io/text/json_write.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

static const char *const verdicts[] = {"pass", "FAIL", "not available", "skipped"};

static void add(validate_run *v, validate_result result, const char *claim) {
    if (v->count == VALIDATE_CAPACITY) { // no claim is dropped silently
        v->results[v->count - 1].verdict = VALIDATE_FAIL;

        validate_note(v, "there are more than %d claims, the capacity of the table",
                      VALIDATE_CAPACITY);
        return;
    }
    result.id = v->id;
    snprintf(result.claim, sizeof result.claim, "%s", claim);
    v->results[v->count++] = result;
}

void validate_near(validate_run *v, const char *claim, double reference, double measured,
                   double tolerance, const char *unit) {
    bool pass = fabs(measured - reference) <= tolerance;
    add(v,
        (validate_result){.reference = reference,
                          .measured = measured,
                          .tolerance = tolerance,
                          .relation = VALIDATE_NEAR,
                          .unit = unit,
                          .verdict = pass ? VALIDATE_PASS : VALIDATE_FAIL},
        claim);
}

void validate_at_most(validate_run *v, const char *claim, double limit, double measured,
                      const char *unit) {
    add(v,
        (validate_result){.reference = limit,
                          .measured = measured,
                          .relation = VALIDATE_AT_MOST,
                          .unit = unit,
                          .verdict = measured <= limit ? VALIDATE_PASS : VALIDATE_FAIL},
        claim);
}

void validate_at_least(validate_run *v, const char *claim, double limit, double measured,
                       const char *unit) {
    add(v,
        (validate_result){.reference = limit,
                          .measured = measured,
                          .relation = VALIDATE_AT_LEAST,
                          .unit = unit,
                          .verdict = measured >= limit ? VALIDATE_PASS : VALIDATE_FAIL},
        claim);
}

static void add_without(validate_run *v, const char *claim, const char *reason,
                        validate_verdict verdict) {
    add(v,
        (validate_result){
            .reference = NAN, .measured = NAN, .tolerance = NAN, .unit = "-", .verdict = verdict},
        claim);
    validate_note(v, "%s", reason);
}

void validate_unavailable(validate_run *v, const char *claim, const char *reason) {
    add_without(v, claim, reason, VALIDATE_UNAVAILABLE);
}

void validate_skip(validate_run *v, const char *claim, const char *reason) {
    add_without(v, claim, reason, VALIDATE_SKIPPED);
}

void validate_note(validate_run *v, const char *format, ...) {
    if (v->count == 0) {
        return;
    }

    validate_result *result = &v->results[v->count - 1];
    size_t used = strlen(result->note);
    if (used && used + 3 < sizeof result->note) {
        used += (size_t)snprintf(result->note + used, 3, "; ");
    }

    va_list arguments;
    va_start(arguments, format);
    vsnprintf(result->note + used, sizeof result->note - used, format, arguments);
    va_end(arguments);
}

sinew_status validate_keep_picture(validate_run *v, const char *name, const char *ending,
                                   const sn_buffer *content) {
    if (!v->folder || v->plot_count == VALIDATE_PLOT_CAPACITY) {
        return SINEW_OK;
    }

    validate_plot *entry = &v->plots[v->plot_count];
    *entry = (validate_plot){.id = v->id};
    snprintf(entry->name, sizeof entry->name, "%s-%s.%s", v->id, name, ending);

    char path[4200];
    snprintf(path, sizeof path, "%s/validation/%s", v->folder, entry->name);
    SN_TRY(cli_write_file(v->context, path, content->data, content->size));
    v->plot_count++;

    return SINEW_OK;
}

sinew_status validate_draw(validate_run *v, const char *name, const sinew_plot *plot) {
    if (!v->folder) {
        return SINEW_OK;
    }

    sn_buffer buffer = sn_buffer_create(v->context);
    sinew_status status = sn_plot_write(v->context, plot, &buffer);
    if (status == SINEW_OK) {
        status = validate_keep_picture(v, name, "svg", &buffer);
    }

    sn_buffer_destroy(&buffer);
    return status;
}

// "0.30172 +- 0.003", "at most 1e-06"
static void describe_reference(const validate_result *r, char *text, size_t size) {
    if (isnan(r->reference)) {
        snprintf(text, size, "-");
    } else if (r->relation == VALIDATE_NEAR) {
        snprintf(text, size, "%.6g +- %.3g", r->reference, r->tolerance);
    } else {
        snprintf(text, size, "%s %.6g", r->relation == VALIDATE_AT_MOST ? "at most" : "at least",
                 r->reference);
    }
}

void validate_print(const validate_result *r) {
    char reference[64];
    char measured[32] = "-";

    describe_reference(r, reference, sizeof reference);
    if (!isnan(r->measured)) {
        snprintf(measured, sizeof measured, "%.6g", r->measured);
    }

    printf("%-12s %-72s reference %-22s measured %-12s %-6s %s", r->id, r->claim, reference,
           measured, r->unit, verdicts[r->verdict]);
    if (r->note[0]) {
        printf(": %s", r->note);
    }

    printf("\n");
    fflush(stdout);
}

// Writes the claim as numbers, such that it passes if |measured - reference| is at most the
// tolerance. An upper limit is written as a tolerance around zero; a lower limit as the reference
// itself, with a tolerance of 0.
void validate_write_json(const validate_run *v, sn_buffer *out) {
    sn_json_writer json = sn_json_writer_create(out, false);
    sn_json_begin_array(&json);
    for (int32_t i = 0; i < v->count; i++) {
        const validate_result *r = &v->results[i];

        // An upper limit, as the comment above describes.
        bool limit = r->relation == VALIDATE_AT_MOST;

        sn_json_begin_object(&json);
        sn_json_write_key(&json, "id");
        sn_json_write_string(&json, r->id);
        sn_json_write_key(&json, "claim");
        sn_json_write_string(&json, r->claim);
        sn_json_write_key(&json, "reference");
        sn_json_write_number(&json, limit ? 0 : r->reference);
        sn_json_write_key(&json, "measured");
        sn_json_write_number(&json, r->measured);
        sn_json_write_key(&json, "tolerance");
        sn_json_write_number(&json, limit ? r->reference : r->tolerance);
        sn_json_write_key(&json, "unit");
        sn_json_write_string(&json, r->unit);
        sn_json_write_key(&json, "pass");

        if (r->verdict == VALIDATE_SKIPPED) {
            sn_json_write_null(&json);
        } else {
            sn_json_write_boolean(&json, r->verdict == VALIDATE_PASS);
        }

        sn_json_end_object(&json);
    }

    sn_json_end_array(&json);
    sn_buffer_add_text(out, "\n");
}

void validate_write_page(const validate_run *v, sn_buffer *out) {
    sn_buffer_add_text(out, "| id | claim | reference | measured | unit | verdict |\n| --- | --- | "
                            "--- | --- | --- | --- |\n");
    for (int32_t i = 0; i < v->count; i++) {
        const validate_result *r = &v->results[i];
        char reference[64];
        char measured[32] = "-";

        describe_reference(r, reference, sizeof reference);

        if (!isnan(r->measured)) {
            snprintf(measured, sizeof measured, "%.6g", r->measured);
        }

        sn_buffer_print(out, "| %s | %s | %s | %s | %s | %s%s%s |\n", r->id, r->claim, reference,
                        measured, r->unit, verdicts[r->verdict], r->note[0] ? ": " : "", r->note);
    }

    for (int32_t i = 0; i < v->plot_count; i++) {
        sn_buffer_print(out, "\n![%s](validation/%s)\n", v->plots[i].id, v->plots[i].name);
    }
}
