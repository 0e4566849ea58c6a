// Converts a header and raw numbers to a grid along x, y and z.
#include "io/volume/raw.h"

#include "io/bytes/inflate.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static const size_t default_limit =
    SIZE_MAX / 2 < (UINT64_C(4) << 30) ? SIZE_MAX / 2 : (size_t)(UINT64_C(4) << 30);

const char *sn_volume_format_name(sn_volume_format format) {
    static const char *const names[] = {"unknown", "NIfTI", "NRRD", "MetaImage"};
    return names[format];
}

static bool ends_like(const char *name, const char *end) {
    size_t size = strlen(name);
    size_t end_size = strlen(end);
    return size > end_size && sn_word_is_like((sn_word){name + size - end_size, end_size}, end);
}

static bool is_gzip(const sn_source *source) {
    const uint8_t *bytes = source->data;
    return source->size >= 2 && bytes[0] == 0x1F && bytes[1] == 0x8B;
}

sn_volume_format sn_volume_detect(const sn_source *source) {
    sn_word start = {source->data, source->size};

    // By content.
    if (sn_word_starts(start, "NRRD000")) {
        return SN_VOLUME_NRRD;
    }

    if (source->size >= 348) {
        uint32_t little = sn_load_u32(source->data, false);
        uint32_t big = sn_load_u32(source->data, true);
        if (little == 348 || big == 348 || little == 540 || big == 540) {
            return SN_VOLUME_NIFTI;
        }
    }

    // By name.
    if (ends_like(source->name, ".nii") || ends_like(source->name, ".nii.gz") ||
        ends_like(source->name, ".hdr")) {
        return SN_VOLUME_NIFTI;
    }

    if (ends_like(source->name, ".mha") || ends_like(source->name, ".mhd")) {
        return SN_VOLUME_META;
    }
    if (ends_like(source->name, ".nrrd") || ends_like(source->name, ".nhdr")) {
        return SN_VOLUME_NRRD;
    }

    return is_gzip(source) ? SN_VOLUME_NIFTI : SN_VOLUME_UNKNOWN;
}

sinew_status sn_volume_fetch(sinew_context *context, const sn_source *source, sn_arena *arena,
                             sn_word name, sn_source *out) {
    char *copy = SN_PUSH(arena, char, name.size + 1);
    if (!copy) {
        return SINEW_OUT_OF_MEMORY;
    }

    memcpy(copy, name.at, name.size);
    const void *data = NULL;
    size_t size = 0;

    SN_TRY(sn_source_fetch(context, source, copy, &data, &size));

    *out = (sn_source){.name = copy, .data = data, .size = size};
    return SINEW_OK;
}

static sinew_status inflate(sinew_context *context, const sn_source *source, size_t offset,
                            sn_volume_encoding encoding, size_t limit, sn_buffer *out) {
    const char *data = (const char *)source->data + offset;
    size_t size = source->size - offset;
    sn_inflate_result result = encoding == SN_VOLUME_ZLIB ? sn_inflate_zlib(data, size, limit, out)
                                                          : sn_inflate_gzip(data, size, limit, out);

    if (result == SN_INFLATE_OK) {
        return SINEW_OK;
    }
    if (result == SN_INFLATE_MEMORY) {
        return SINEW_OUT_OF_MEMORY;
    }

    return sn_source_fail(context, source, SINEW_INVALID_DATA, "its compressed data %s",
                          sn_inflate_message(result));
}

// The numbers of a text-encoded file as doubles.
static sinew_status read_text(sinew_context *context, const sn_volume_header *header, size_t count,
                              sn_buffer *out) {
    sn_text text = sn_source_text(&header->data);
    text.at += header->offset;

    // A number takes a digit and a space at least.
    if (count > (size_t)(text.end - text.at) / 2 + 1) {
        return sn_source_fail(context, &header->data, SINEW_INVALID_DATA,
                              "%zu cells are announced; %zu bytes cannot hold them", count,
                              (size_t)(text.end - text.at));
    }

    for (size_t i = 0; i < count; i++) {
        sn_text_skip_spaces(&text);
        const char *begin = text.at;
        double value;
        char shown[SN_TEXT_FOUND_SIZE];

        if (sn_text_double(&text.at, text.end, &value) != SN_NUMBER_OK) {
            return sn_source_fail_at(context, &header->data, SINEW_INVALID_DATA, begin,
                                     "found %s, expected a number",
                                     sn_text_found(begin, text.end, shown));
        }

        sn_buffer_add_f64(out, value);
    }

    return sn_buffer_status(out);
}

static double dot(const double *a, const double *b) {
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
}

// The orientation of the file's axes in the grid: axis k of the grid is axis `from[k]` of the file,
// reversed if `back[k]`.
typedef struct orientation {
    int from[3];
    bool back[3];
    double unit[3][3]; // directions of the grid's axes in the world
} orientation;

static double determinant(double m[3][3]) {
    return m[0][0] * (m[1][1] * m[2][2] - m[1][2] * m[2][1]) -
           m[0][1] * (m[1][0] * m[2][2] - m[1][2] * m[2][0]) +
           m[0][2] * (m[1][0] * m[2][1] - m[1][1] * m[2][0]);
}

// Finds the order of the file's axes that fits x, y, z best, and the signs that make them run
// forwards.
static void find_orientation(double direction[3][3], orientation *t) {
    static const int orders[6][3] = {{0, 1, 2}, {0, 2, 1}, {1, 0, 2},
                                     {1, 2, 0}, {2, 0, 1}, {2, 1, 0}};
    double best = -1;

    // Try all six orders.
    for (int i = 0; i < 6; i++) {
        double fit = 0;
        for (int k = 0; k < 3; k++) {
            fit += fabs(direction[orders[i][k]][k]);
        }

        if (fit <= best + 1e-12) {
            continue;
        }

        best = fit;
        memcpy(t->from, orders[i], sizeof t->from);
    }

    // Reverse the axes that run backwards.
    for (int k = 0; k < 3; k++) {
        t->back[k] = direction[t->from[k]][k] < 0;
        for (int c = 0; c < 3; c++) {
            t->unit[k][c] = (t->back[k] ? -1 : 1) * direction[t->from[k]][c];
        }
    }

    if (determinant(t->unit) > 0) {
        return;
    }

    // An oblique mirror: reverse the axis that fits worst.
    int weakest = 0;
    for (int k = 1; k < 3; k++) {
        if (t->unit[k][k] < t->unit[weakest][weakest]) {
            weakest = k;
        }
    }

    t->back[weakest] = !t->back[weakest];
    for (int c = 0; c < 3; c++) {
        t->unit[weakest][c] = -t->unit[weakest][c];
    }
}

static sinew_status set_frame(sinew_context *context, const sn_source *source,
                              const sn_volume_header *header, double unit, orientation *t,
                              sn_volume_file *file) {
    double direction[3][3], length[3], origin[3];
    for (int j = 0; j < 3; j++) {
        length[j] = sqrt(dot(header->step[j], header->step[j]));
        if (!(length[j] > 0) || !isfinite(length[j]) || !isfinite(header->origin[j])) {
            return sn_source_fail(
                context, source, SINEW_INVALID_DATA,
                "axis %d has cells of length %g and starts at %g; valid is above 0, and finite", j,
                length[j], header->origin[j]);
        }

        for (int c = 0; c < 3; c++) {
            direction[j][c] = header->step[j][c] / length[j];
        }
    }

    // The axes must be orthogonal.
    for (int j = 0; j < 3; j++) {
        if (fabs(dot(direction[j], direction[(j + 1) % 3])) < 1e-3) {
            continue;
        }
        return sn_source_fail(context, source, SINEW_UNSUPPORTED,
                              "axes %d and %d are not at right angles; sheared grids are not read",
                              j, (j + 1) % 3);
    }

    // Move the origin to the first cell of the reversed axes.
    find_orientation(direction, t);
    for (int c = 0; c < 3; c++) {
        origin[c] = header->origin[c];
        for (int k = 0; k < 3; k++) {
            if (t->back[k]) {
                origin[c] += (double)(header->size[t->from[k]] - 1) * header->step[t->from[k]][c];
            }
        }
    }

    // Is it aligned with the world, up to the rounding of floats?
    double off = 0;
    for (int k = 0; k < 3; k++) {
        for (int c = 0; c < 3; c++) {
            off = fmax(off, fabs(t->unit[k][c] - (k == c)));
        }
    }

    file->askew = off > 1e-4;
    for (int k = 0; k < 3; k++) {
        for (int c = 0; c < 3; c++) {
            file->axes[3 * k + c] = file->askew ? t->unit[k][c] : k == c;
        }

        file->grid.spacing[k] = unit * length[t->from[k]];
        file->grid.cells[k] = (int32_t)header->size[t->from[k]];
        double middle = file->askew ? dot(t->unit[k], origin) : origin[k];
        file->grid.lower[k] = header->has_origin ? unit * middle - file->grid.spacing[k] / 2 : 0;
    }

    return SINEW_OK;
}

// The numbers of a file, by the cells of the grid.
typedef struct numbers {
    const uint8_t *data;
    sn_number_type type;
    bool big, plain;
    double slope, intercept;
    size_t stride[3]; // along the grid's axes, in numbers
    bool back[3];
    const int32_t *cells;
} numbers;

static numbers numbers_of(const sn_volume_header *header, const orientation *t, const uint8_t *data,
                          const int32_t *cells) {
    size_t stride[3] = {1, (size_t)header->size[0],
                        (size_t)header->size[0] * (size_t)header->size[1]};
    bool text = header->encoding == SN_VOLUME_TEXT; // read as doubles, little-endian
    numbers n = {.data = data,
                 .type = text ? SN_TYPE_F64 : header->type,
                 .big = !text && header->big,
                 .plain = header->slope == 1 && header->intercept == 0,
                 .slope = header->slope,
                 .intercept = header->intercept,
                 .cells = cells};
    for (int k = 0; k < 3; k++) {
        n.stride[k] = stride[t->from[k]];
        n.back[k] = t->back[k];
    }
    return n;
}

static double number_at(const numbers *n, const int32_t c[3]) {
    size_t from = 0;
    for (int k = 0; k < 3; k++) {
        from += n->stride[k] * (size_t)(n->back[k] ? n->cells[k] - 1 - c[k] : c[k]);
    }
    double value = sn_load_number(n->data + from * sn_type_size(n->type), n->type, n->big);
    return n->plain ? value : value * n->slope + n->intercept;
}

// Goes to the next cell, x first; false after the last.
static bool next_cell(const int32_t cells[3], int32_t c[3]) {
    for (int k = 0; k < 3; k++) {
        if (++c[k] < cells[k]) {
            return true;
        }
        c[k] = 0;
    }
    return false;
}

// The value that separates dark from bright cells best: the one that makes the variance between the
// two classes largest (Otsu 1979).
static double suggest_threshold(const numbers *n) {
    enum { BINS = 256 };

    // The range of values.
    double low = INFINITY, high = -INFINITY;
    int32_t c[3] = {0};
    do {
        double value = number_at(n, c);
        if (isfinite(value)) {
            low = fmin(low, value);
            high = fmax(high, value);
        }
    } while (next_cell(n->cells, c));

    // A histogram, its total and first moment.
    double count[BINS] = {0}, total = 0, moment = 0;
    double width = (high - low) / BINS;
    do {
        double value = number_at(n, c);
        if (isfinite(value) && width > 0) {
            int bin = (int)fmin((value - low) / width, BINS - 1);
            count[bin]++;
            total++;
            moment += bin;
        }
    } while (next_cell(n->cells, c));

    // The variance between the classes for every border between two bins.
    double below = 0, below_moment = 0, best = -1;
    int chosen = BINS / 2;
    for (int i = 0; i + 1 < BINS; i++) {
        below += count[i];
        below_moment += i * count[i];
        double difference = moment * below - below_moment * total;
        double variance = difference * difference / fmax(below * (total - below), 1);
        if (variance > best) {
            best = variance;
            chosen = i + 1;
        }
    }
    return low + chosen * width;
}

static sinew_status refuse_image(sinew_context *context, const sn_source *source, const numbers *n,
                                 const char *reason) {
    return sn_source_fail(context, source, SINEW_INVALID_DATA,
                          "%s. If this is an image rather than labels, a threshold makes it a "
                          "solid (--threshold %.4g, or \"threshold\" in a scene)",
                          reason, suggest_threshold(n));
}

// In an image nearly every cell differs from its neighbours; labels come in regions.
static bool looks_like_image(const uint16_t *labels, const int32_t cells[3]) {
    enum { LABELS = 65536, MOST_CERTAIN = 64 };
    size_t count = (size_t)cells[0] * (size_t)cells[1] * (size_t)cells[2];
    size_t pairs = 0, different = 0;
    uint64_t used[LABELS / 64] = {0};
    for (size_t i = 0; i < count; i++) {
        used[labels[i] / 64] |= (uint64_t)1 << labels[i] % 64;
        if (i % (size_t)cells[0] != 0 && labels[i] && labels[i - 1]) {
            pairs++;
            different += labels[i] != labels[i - 1];
        }
    }

    int distinct = 0;
    for (int i = 0; i < LABELS / 64; i++) {
        for (uint64_t bits = used[i]; bits; bits &= bits - 1) {
            distinct++;
        }
    }
    return distinct > MOST_CERTAIN && different > pairs / 2;
}

// Copies the labels in the order of the grid, checking each; or makes them by a threshold.
static sinew_status copy_labels(sinew_context *context, const sn_source *source, const numbers *n,
                                const sn_volume_options *options, sn_volume_file *file) {
    const int32_t *cells = file->grid.cells;
    size_t count = (size_t)cells[0] * (size_t)cells[1] * (size_t)cells[2];
    uint16_t *labels = sn_buffer_push(&file->labels, count, sizeof *labels);
    if (!labels) {
        return SINEW_OUT_OF_MEMORY;
    }

    int32_t c[3] = {0};
    size_t at = 0;
    do {
        double value = number_at(n, c);
        double label = floor(value + 0.5);

        // A threshold makes any number a label; otherwise it must be one.
        if (options && options->use_threshold) {
            label = value >= options->threshold;
        } else if (!(value >= 0 && value <= 65535) || fabs(value - label) > 1e-6) {
            char reason[160];
            snprintf(reason, sizeof reason,
                     "cell %d %d %d has the value %g; labels are whole numbers from 0 to 65535",
                     c[0], c[1], c[2], value);
            return refuse_image(context, source, n, reason);
        }

        labels[at] = (uint16_t)label;
        file->inside_count += labels[at] != 0;
        if (labels[at] > file->largest_label) {
            file->largest_label = labels[at];
        }
        at++;
    } while (next_cell(cells, c));

    // Whole numbers may still be an image.
    if (looks_like_image(labels, cells)) {
        return refuse_image(context, source, n,
                            "there are more than 64 different labels, and most cells differ from "
                            "their neighbours");
    }

    file->grid.labels16 = labels;
    return SINEW_OK;
}

// A map: the numbers as they are. All must be finite.
static sinew_status copy_values(sinew_context *context, const sn_source *source, const numbers *n,
                                sn_volume_file *file) {
    const int32_t *cells = file->grid.cells;
    size_t count = (size_t)cells[0] * (size_t)cells[1] * (size_t)cells[2], at = 0;
    double *values = sn_buffer_push(&file->labels, count, sizeof *values);
    if (!values) {
        return SINEW_OUT_OF_MEMORY;
    }

    int32_t c[3] = {0, 0, 0};
    do {
        values[at] = number_at(n, c);
        if (!isfinite(values[at])) {
            return sn_source_fail(context, source, SINEW_INVALID_DATA,
                                  "cell %d %d %d of the map is not a finite number", c[0], c[1],
                                  c[2]);
        }
        at++;
    } while (next_cell(cells, c));

    file->values = values;
    return SINEW_OK;
}

// Finds or decodes the bytes of the numbers.
static sinew_status open_data(sinew_context *context, const sn_volume_header *header, size_t count,
                              size_t limit, sn_buffer *scratch, const uint8_t **data,
                              size_t *size) {
    size_t needed = count * sn_type_size(header->type);
    const sn_source *source = &header->data;
    if (header->encoding == SN_VOLUME_TEXT) {
        SN_TRY(read_text(context, header, count, scratch));
    } else if (header->encoding == SN_VOLUME_GZIP || header->encoding == SN_VOLUME_ZLIB) {
        if (needed / SN_INFLATE_RATIO > source->size) {
            return sn_source_fail(context, source, SINEW_INVALID_DATA,
                                  "%zu cells are announced; %zu compressed bytes cannot hold them",
                                  count, source->size);
        }
        // Decompress at most what the header announces.
        size_t most = needed < limit ? needed : limit;
        SN_TRY(inflate(context, source, header->offset, header->encoding, most, scratch));
    } else {
        *data = (const uint8_t *)source->data + header->offset;
        *size = source->size - header->offset;
    }

    if (header->encoding != SN_VOLUME_RAW) {
        *data = (const uint8_t *)scratch->data;
        *size = scratch->size;
    }

    if (header->encoding == SN_VOLUME_TEXT || *size >= needed) {
        return SINEW_OK;
    }

    return sn_source_fail(context, source, SINEW_INVALID_DATA,
                          "the data ends too early: %zu bytes for %zu cells, %zu are needed", *size,
                          count, needed);
}

sinew_status sn_volume_finish(sinew_context *context, const sn_source *source,
                              const sn_volume_header *header, const sn_volume_options *options,
                              sn_volume_file *file) {
    double unit = options && options->unit > 0 ? options->unit : header->unit;
    size_t limit = options && options->memory_limit ? options->memory_limit : default_limit;
    const int64_t *n = header->size;

    for (int k = 0; k < 3; k++) {
        if (n[k] >= 1 && n[k] <= INT32_MAX) {
            continue;
        }
        return sn_source_fail(context, source, SINEW_INVALID_DATA,
                              "%lld cells along axis %d; valid is 1 to %d", (long long)n[k], k,
                              INT32_MAX);
    }

    // Memory: labels, and the voxels made from them.
    double total = (double)n[0] * (double)n[1] * (double)n[2];
    if (total > INT32_MAX || total * 8 > (double)limit) {
        return sn_source_fail(
            context, source, SINEW_OUT_OF_MEMORY,
            "%lld x %lld x %lld cells need about %.4g MB, more than the limit of %.4g MB: take "
            "larger cells, or only the part of the volume that matters",
            (long long)n[0], (long long)n[1], (long long)n[2], total * 8e-6, (double)limit * 1e-6);
    }

    if (!(unit > 0)) {
        return sn_source_fail(context, source, SINEW_INVALID_DATA,
                              "the header does not say in which unit its lengths are; name one "
                              "(--unit mm, or \"scale\": 1e-3 in a scene of metres)");
    }

    if (header->offset > header->data.size) {
        return sn_source_fail(context, source, SINEW_INVALID_DATA,
                              "the data should start at byte %zu, after the end of the file",
                              header->offset);
    }

    size_t count = (size_t)n[0] * (size_t)n[1] * (size_t)n[2];
    size_t size = 0;
    orientation t;

    SN_TRY(set_frame(context, source, header, unit, &t, file));
    sn_buffer scratch = sn_buffer_create(context);
    const uint8_t *data = NULL;
    sinew_status status = open_data(context, header, count, limit, &scratch, &data, &size);
    if (status == SINEW_OK) {
        numbers numbers = numbers_of(header, &t, data, file->grid.cells);
        bool values = options && options->use_values;
        status = values ? copy_values(context, source, &numbers, file)
                        : copy_labels(context, source, &numbers, options, file);
    }

    sn_buffer_destroy(&scratch);
    return status;
}

static sinew_status read_header(sinew_context *context, const sn_source *source, sn_arena *arena,
                                sn_volume_file *file, sn_volume_header *header) {
    *header = (sn_volume_header){.slope = 1};
    for (int k = 0; k < 3; k++) {
        header->step[k][k] = 1;
    }

    header->data = *source;
    switch (file->format) {
    case SN_VOLUME_NIFTI: return sn_read_nifti_header(context, source, header);
    case SN_VOLUME_NRRD: return sn_read_nrrd_header(context, source, arena, header);
    case SN_VOLUME_META: return sn_read_meta_header(context, source, arena, header);
    case SN_VOLUME_UNKNOWN: break;
    }

    return sn_source_fail(context, source, SINEW_UNSUPPORTED,
                          "this is no volume file that is known here; valid are .nii, .nii.gz, "
                          ".hdr, .nrrd, .nhdr, .mha and .mhd");
}

// The size of an uncompressed file with this header; SIZE_MAX if it is too large.
static size_t plain_size(const sn_volume_header *header) {
    double size = (double)sn_type_size(header->type);
    for (int k = 0; k < 3; k++) {
        size *= (double)header->size[k];
    }

    bool fits = size >= 0 && size < 9e15;
    return fits ? header->offset + (size_t)size : SIZE_MAX;
}

// .nii.gz: the whole file is compressed. The header states its size; no more is decompressed.
static sinew_status open_packed(sinew_context *context, const sn_source *source, sn_arena *arena,
                                size_t limit, sn_volume_file *file, sn_buffer *plain,
                                sn_source *opened) {
    enum { HEADER_SIZE = 1 << 16 };
    size_t most = HEADER_SIZE < limit ? HEADER_SIZE : limit;
    bool small = sn_inflate_gzip(source->data, source->size, most, plain) == SN_INFLATE_OK;
    *opened = *source;
    opened->data = plain->data ? plain->data : "";
    opened->size = plain->size;

    sn_volume_header header;
    file->format = sn_volume_detect(opened);
    SN_TRY(read_header(context, opened, arena, file, &header));
    if (small) {
        return SINEW_OK;
    }

    most = plain_size(&header) < limit ? plain_size(&header) : limit;
    sn_buffer_clear(plain);
    SN_TRY(inflate(context, source, 0, SN_VOLUME_GZIP, most, plain));
    opened->data = plain->data ? plain->data : "";
    opened->size = plain->size;

    return SINEW_OK;
}

sinew_status sn_volume_read(sinew_context *context, const sn_source *source,
                            const sn_volume_options *options, sn_volume_file *file) {
    *file =
        (sn_volume_file){.format = sn_volume_detect(source), .labels = sn_buffer_create(context)};

    sn_arena arena = sn_arena_create(context);
    sn_buffer plain = sn_buffer_create(context);
    sn_source opened = *source;
    sn_volume_header header;
    sinew_status status = SINEW_OK;

    // Decompress, read the header, then the data.
    if (is_gzip(source)) {
        size_t limit = options && options->memory_limit ? options->memory_limit : default_limit;
        status = open_packed(context, source, &arena, limit, file, &plain, &opened);
    }
    if (status == SINEW_OK) {
        status = read_header(context, &opened, &arena, file, &header);
    }
    if (status == SINEW_OK) {
        status = sn_volume_finish(context, &opened, &header, options, file);
    }

    sn_buffer_destroy(&plain);
    sn_arena_destroy(&arena);

    return status;
}

void sn_volume_file_destroy(sn_volume_file *file) {
    sn_buffer_destroy(&file->labels);
    file->grid.labels16 = NULL;
    file->values = NULL;
}
