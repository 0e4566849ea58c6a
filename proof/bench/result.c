// Results of the rows, and their output: lines of text, JSON, Markdown.
#include "bench/bench.h"

#include "io/text/json_write.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

bench_result *bench_add(bench_run *b, const char *name, double size, const char *unit) {
    if (b->count == BENCH_CAPACITY) { // no result is dropped silently
        bench_result *last = &b->results[b->count - 1];

        last->unavailable = true;
        snprintf(last->note, sizeof last->note,
                 "there are more than %d results, the capacity of the table", BENCH_CAPACITY);
        return NULL;
    }

    bench_result *result = &b->results[b->count++];
    *result = (bench_result){.id = b->id, .size = size, .unit = unit, .min = NAN, .median = NAN};
    result->paper = result->target = result->limit_share = NAN;
    snprintf(result->name, sizeof result->name, "%s", name);

    return result;
}

static int compare(const void *a, const void *b) {
    double x = *(const double *)a;
    double y = *(const double *)b;
    return (x > y) - (x < y);
}

void bench_take(bench_result *result, double *seconds, int32_t count, double scale) {
    qsort(seconds, (size_t)count, sizeof *seconds, compare);
    result->min = scale * seconds[0];
    result->median = scale * seconds[count / 2];
}

double bench_fit_exponent(const double *x, const double *y, int32_t count) {
    double sx = 0, sy = 0, sxx = 0, sxy = 0;
    for (int32_t i = 0; i < count; i++) {
        double a = log(x[i]);
        double c = log(y[i]);
        sx += a;
        sy += c;
        sxx += a * a;
        sxy += a * c;
    }

    return (count * sxy - sx * sy) / (count * sxx - sx * sx);
}

uint64_t bench_hash(const double *values, size_t count) {
    const unsigned char *bytes = (const unsigned char *)values;
    uint64_t hash = 14695981039346656037u; // FNV-1a
    for (size_t i = 0; i < count * sizeof *values; i++) {
        hash = (hash ^ bytes[i]) * 1099511628211u;
    }
    return hash;
}

bool bench_passes(const bench_result *r) {
    if (r->unavailable) {
        return false;
    }
    return isnan(r->target) || (r->at_least ? r->min >= r->target : r->min <= r->target);
}

static const char *verdict(const bench_result *r) {
    if (r->unavailable) {
        return "not available";
    }
    return isnan(r->target) ? "" : bench_passes(r) ? "pass" : "FAIL";
}

// Items per second, if the result is the time for `size` items.
static double work_rate(const bench_result *r) {
    static const struct {
        const char *unit;
        double seconds;
    } times[] = {{"s", 1}, {"ms", 1e-3}, {"us", 1e-6}};

    for (size_t i = 0; i < sizeof times / sizeof *times; i++) {
        if (strcmp(r->unit, times[i].unit) == 0 && r->size > 0) {
            return r->size / (r->min * times[i].seconds);
        }
    }

    return NAN;
}

static void number(char text[24], double value) {
    snprintf(text, 24, isnan(value) ? "-" : "%.4g", value);
}

void bench_print(const bench_result *r) {
    char size[24], min[24], median[24], rate[24], paper[24], target[24], share[24];
    number(size, r->size);
    number(min, r->min);
    number(median, r->median);
    number(paper, r->paper);
    number(target, r->target);
    number(share, 100 * r->limit_share);
    number(rate, work_rate(r));
    printf("%-9s %-58s size %-9s min %-9s median %-9s %-8s rate %-9s 1/s paper %-7s target %-7s "
           "limit %5s %% %s",
           r->id, r->name, size, min, median, r->unit, rate, paper, target, share, verdict(r));

    if (r->hash) {
        printf(" %016" PRIx64, r->hash);
    }

    printf("%s%s\n", r->note[0] ? " : " : "", r->note);
    fflush(stdout);
}

void bench_write_json(const bench_run *b, sn_buffer *out) {
    sn_json_writer json = sn_json_writer_create(out, false);
    sn_json_begin_array(&json);
    for (int32_t i = 0; i < b->count; i++) {
        const bench_result *r = &b->results[i];

        // Numbers that are not known are written as null.
        const struct {
            const char *key;
            double value;
        } numbers[] = {
            {"min", r->min}, {"median", r->median}, {"paper", r->paper}, {"target", r->target}};

        char hash[20];
        snprintf(hash, sizeof hash, "%016" PRIx64, r->hash);
        sn_json_begin_object(&json);
        sn_json_write_key(&json, "id");
        sn_json_write_string(&json, r->id);
        sn_json_write_key(&json, "name");
        sn_json_write_string(&json, r->name);
        sn_json_write_key(&json, "threads");
        sn_json_write_integer(&json, b->threads);
        sn_json_write_key(&json, "size");
        sn_json_write_number(&json, r->size);
        sn_json_write_key(&json, "unit");
        sn_json_write_string(&json, r->unit);

        for (int k = 0; k < 4; k++) {
            sn_json_write_key(&json, numbers[k].key);
            sn_json_write_number(&json, numbers[k].value);
        }

        sn_json_write_key(&json, "pass");
        sn_json_write_boolean(&json, bench_passes(r));
        sn_json_write_key(&json, "limit_share");
        sn_json_write_number(&json, r->limit_share);
        sn_json_write_key(&json, "hash");

        if (r->hash) {
            sn_json_write_string(&json, hash);
        } else {
            sn_json_write_null(&json);
        }

        sn_json_end_object(&json);
    }

    sn_json_end_array(&json);
    sn_buffer_add_text(out, "\n");
}

void bench_write_page(const bench_run *b, sn_buffer *out) {
    sn_buffer_add_text(out,
                       "| id | what | size | min | median | unit | items per second | paper "
                       "(another machine) | target | share of the limit | verdict |\n"
                       "| --- | --- | --- | --- | --- | --- | --- | --- | --- | --- | --- |\n");

    for (int32_t i = 0; i < b->count; i++) {
        const bench_result *r = &b->results[i];
        char size[24], min[24], median[24], rate[24], paper[24], target[24], share[24];

        number(size, r->size);
        number(min, r->min);
        number(median, r->median);
        number(paper, r->paper);
        number(target, r->target);
        number(share, 100 * r->limit_share);
        number(rate, work_rate(r));
        sn_buffer_print(out, "| %s | %s | %s | %s | %s | %s | %s | %s | %s | %s%s | %s%s%s |\n",
                        r->id, r->name, size, min, median, r->unit, rate, paper, target, share,
                        isnan(r->limit_share) ? "" : " %", verdict(r), r->note[0] ? " " : "",
                        r->note);
    }
}
