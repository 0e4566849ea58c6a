// The headers of NRRD (Teem's format, versions 1 to 5) and MetaImage: lines with a name and a
// value.
#include "io/volume/raw.h"
#include "io/text/units.h"

#include <string.h>

typedef struct reader {
    sinew_context *context;
    const sn_source *source;
    sn_arena *arena;
    sn_volume_header *header;
    sn_text text;
    int64_t dimensions;
    int64_t sizes[4]; // as many as `dimensions`
    double spacing[4];
    double directions[4][3]; // the first three numbers of each
    bool has_directions[4], has_spacing, has_type, has_order;
    double sign[3];    // of the world's axes relative to NIfTI's
    sn_word data_file; // empty: after the header
    int64_t skip_lines, skip_bytes;
    double origin[3];
    int64_t channels; // of a MetaImage
} reader;

#define FAIL(r, at, ...)                                                                           \
    sn_source_fail_at((r)->context, (r)->source, SINEW_INVALID_DATA, (at), __VA_ARGS__)

static sn_word trim(const char *begin, const char *end) {
    while (begin < end && sn_text_is_space(*begin)) {
        begin++;
    }

    while (end > begin && sn_text_is_space(end[-1])) {
        end--;
    }

    return (sn_word){begin, (size_t)(end - begin)};
}

static sinew_status read_integers(reader *r, sn_word value, int count, int64_t *out) {
    const char *at = value.at;
    const char *end = value.at + value.size;
    for (int i = 0; i < count; i++) {
        while (at < end && sn_text_is_space(*at)) {
            at++;
        }
        if (sn_text_integer(&at, end, &out[i]) != SN_NUMBER_OK) {
            return FAIL(r, at, "expected %d whole numbers", count);
        }
    }

    return SINEW_OK;
}

static sinew_status read_doubles(reader *r, sn_word value, int count, double *out) {
    const char *at = value.at;
    const char *end = value.at + value.size;
    for (int i = 0; i < count; i++) {
        while (at < end && sn_text_is_space(*at)) {
            at++;
        }

        if (sn_text_double(&at, end, &out[i]) == SN_NUMBER_OK) {
            continue;
        }
        if (end - at >= 3 &&
            (memcmp(at, "nan", 3) == 0 || memcmp(at, "NaN", 3) == 0)) { // NRRD's "none"
            out[i] = 0;

            at += 3;
            continue;
        }

        return FAIL(r, at, "expected %d finite numbers", count);
    }

    return SINEW_OK;
}

typedef struct type_name {
    const char *name;
    sn_number_type type;
} type_name;

static sinew_status choose_type(reader *r, sn_word value, const type_name *names, size_t count) {
    for (size_t i = 0; i < count; i++) {
        if (!sn_word_is_like(value, names[i].name)) {
            continue;
        }
        r->header->type = names[i].type;
        r->has_type = true;
        return SINEW_OK;
    }

    char shown[SN_TEXT_FOUND_SIZE];
    return FAIL(r, value.at, "unknown type %s; integers of 8 to 64 bits, float and double are read",
                sn_text_found(value.at, value.at + value.size, shown));
}

// "(1,0,0)" or "none"
static sinew_status read_vector(reader *r, const char **at, const char *end, double out[3],
                                bool *given) {
    while (*at < end && sn_text_is_space(**at)) {
        (*at)++;
    }

    *given = false;
    if (end - *at >= 4 && memcmp(*at, "none", 4) == 0) {
        *at += 4;
        return SINEW_OK;
    }

    if (*at >= end || *(*at)++ != '(') {
        return FAIL(r, *at, "expected a vector such as (1,0,0), or none");
    }

    // Three numbers, separated by commas.
    for (int k = 0; k < 3; k++) {
        while (*at < end && sn_text_is_space(**at)) {
            (*at)++;
        }

        if (sn_text_double(at, end, &out[k]) != SN_NUMBER_OK) {
            return FAIL(r, *at, "expected three numbers in a vector");
        }

        while (*at < end && sn_text_is_space(**at)) {
            (*at)++;
        }

        if (*at >= end || *(*at)++ != (k < 2 ? ',' : ')')) {
            return FAIL(r, *at, "expected three numbers in a vector");
        }
    }

    *given = true;
    return SINEW_OK;
}

static sinew_status read_space(reader *r, sn_word value) {
    static const struct {
        const char *name;
        double sign[3];
    } spaces[] = {{"right-anterior-superior", {1, 1, 1}},
                  {"RAS", {1, 1, 1}},
                  {"left-anterior-superior", {-1, 1, 1}},
                  {"LAS", {-1, 1, 1}},
                  {"left-posterior-superior", {-1, -1, 1}},
                  {"LPS", {-1, -1, 1}},
                  {"scanner-xyz", {1, 1, 1}},
                  {"3D-right-handed", {1, 1, 1}}};

    // Each space is a choice of signs of right, anterior, superior.
    for (size_t i = 0; i < sizeof spaces / sizeof *spaces; i++) {
        if (!sn_word_is_like(value, spaces[i].name)) {
            continue;
        }
        memcpy(r->sign, spaces[i].sign, sizeof r->sign);
        return SINEW_OK;
    }

    char shown[SN_TEXT_FOUND_SIZE];
    return sn_source_fail_at(
        r->context, r->source, SINEW_UNSUPPORTED, value.at,
        "the space %s is not known; valid are right-anterior-superior, left-anterior-superior, "
        "left-posterior-superior, scanner-xyz, 3D-right-handed",
        sn_text_found(value.at, value.at + value.size, shown));
}

// Quoted names, one for each axis; the known ones must agree.
static sinew_status read_units(reader *r, sn_word value) {
    const char *at = value.at;
    const char *end = value.at + value.size;
    while (at < end) {
        // The next name in quotes.
        const char *open = memchr(at, '"', (size_t)(end - at));
        if (!open) {
            break;
        }

        const char *close = memchr(open + 1, '"', (size_t)(end - open - 1));
        if (!close) {
            return FAIL(r, open, "a unit's second quote is missing");
        }

        sn_word name = {open + 1, (size_t)(close - open - 1)};
        at = close + 1;

        // Axes may leave it open.
        if (name.size == 0 || sn_word_is(name, "???") || sn_word_is(name, "none")) {
            continue;
        }

        double unit = sn_unit_find(name);
        char shown[SN_TEXT_FOUND_SIZE];

        sn_text_found(name.at, close, shown);
        if (unit == 0) {
            return FAIL(r, open, "the unit %s is not known; valid are m, cm, mm, um and nm", shown);
        }

        if (r->header->unit > 0 && unit != r->header->unit) {
            return FAIL(r, open, "the unit %s differs from the other axes'; a grid has one unit",
                        shown);
        }

        r->header->unit = unit;
    }

    return SINEW_OK;
}

// All names that the format allows.
static sinew_status read_nrrd_type(reader *r, sn_word value) {
    static const type_name names[] = {{"signed char", SN_TYPE_I8},
                                      {"int8", SN_TYPE_I8},
                                      {"int8_t", SN_TYPE_I8},
                                      {"uchar", SN_TYPE_U8},
                                      {"unsigned char", SN_TYPE_U8},
                                      {"uint8", SN_TYPE_U8},
                                      {"uint8_t", SN_TYPE_U8},
                                      {"short", SN_TYPE_I16},
                                      {"short int", SN_TYPE_I16},
                                      {"signed short", SN_TYPE_I16},
                                      {"signed short int", SN_TYPE_I16},
                                      {"int16", SN_TYPE_I16},
                                      {"int16_t", SN_TYPE_I16},
                                      {"ushort", SN_TYPE_U16},
                                      {"unsigned short", SN_TYPE_U16},
                                      {"unsigned short int", SN_TYPE_U16},
                                      {"uint16", SN_TYPE_U16},
                                      {"uint16_t", SN_TYPE_U16},
                                      {"int", SN_TYPE_I32},
                                      {"signed int", SN_TYPE_I32},
                                      {"int32", SN_TYPE_I32},
                                      {"int32_t", SN_TYPE_I32},
                                      {"uint", SN_TYPE_U32},
                                      {"unsigned int", SN_TYPE_U32},
                                      {"uint32", SN_TYPE_U32},
                                      {"uint32_t", SN_TYPE_U32},
                                      {"longlong", SN_TYPE_I64},
                                      {"long long", SN_TYPE_I64},
                                      {"long long int", SN_TYPE_I64},
                                      {"signed long long", SN_TYPE_I64},
                                      {"signed long long int", SN_TYPE_I64},
                                      {"int64", SN_TYPE_I64},
                                      {"int64_t", SN_TYPE_I64},
                                      {"ulonglong", SN_TYPE_U64},
                                      {"unsigned long long", SN_TYPE_U64},
                                      {"unsigned long long int", SN_TYPE_U64},
                                      {"uint64", SN_TYPE_U64},
                                      {"uint64_t", SN_TYPE_U64},
                                      {"float", SN_TYPE_F32},
                                      {"double", SN_TYPE_F64}};

    return choose_type(r, value, names, sizeof names / sizeof *names);
}

static sinew_status read_encoding(reader *r, sn_word value) {
    static const struct {
        const char *name;
        sn_volume_encoding encoding;
    } names[] = {{"raw", SN_VOLUME_RAW},   {"gzip", SN_VOLUME_GZIP}, {"gz", SN_VOLUME_GZIP},
                 {"text", SN_VOLUME_TEXT}, {"txt", SN_VOLUME_TEXT},  {"ascii", SN_VOLUME_TEXT}};

    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        if (!sn_word_is_like(value, names[i].name)) {
            continue;
        }
        r->header->encoding = names[i].encoding;
        return SINEW_OK;
    }

    char shown[SN_TEXT_FOUND_SIZE];
    return sn_source_fail_at(r->context, r->source, SINEW_UNSUPPORTED, value.at,
                             "the encoding %s is not read; raw, gzip and text are",
                             sn_text_found(value.at, value.at + value.size, shown));
}

static sinew_status need_dimension(reader *r, sn_word name) {
    return r->dimensions ? SINEW_OK
                         : FAIL(r, name.at, "the field dimension must come before this one");
}

static sinew_status read_directions(reader *r, sn_word value) {
    const char *at = value.at;
    for (int64_t i = 0; i < r->dimensions; i++) {
        SN_TRY(read_vector(r, &at, value.at + value.size, r->directions[i], &r->has_directions[i]));
    }
    return SINEW_OK;
}

static sinew_status read_nrrd_field(reader *r, sn_word name, sn_word value) {
    if (sn_word_is_like(name, "dimension")) {
        SN_TRY(read_integers(r, value, 1, &r->dimensions));
        if (r->dimensions >= 3 && r->dimensions <= 4) {
            return SINEW_OK;
        }

        r->dimensions = 0;
        return sn_source_fail_at(r->context, r->source, SINEW_UNSUPPORTED, value.at,
                                 "a label volume has three dimensions");
    }

    if (sn_word_is_like(name, "type")) {
        return read_nrrd_type(r, value);
    }
    if (sn_word_is_like(name, "encoding")) {
        return read_encoding(r, value);
    }

    if (sn_word_is_like(name, "endian")) {
        r->header->big = sn_word_is_like(value, "big");
        r->has_order = true;
        return r->header->big || sn_word_is_like(value, "little")
                   ? SINEW_OK
                   : FAIL(r, value.at, "endian must be little or big");
    }

    if (sn_word_is_like(name, "space")) {
        return read_space(r, value);
    }
    if (sn_word_is_like(name, "space units") || sn_word_is_like(name, "units")) {
        return read_units(r, value);
    }

    if (sn_word_is_like(name, "space origin")) {
        const char *at = value.at;
        return read_vector(r, &at, value.at + value.size, r->origin, &r->header->has_origin);
    }

    if (sn_word_is_like(name, "data file") || sn_word_is_like(name, "datafile")) {
        r->data_file = value;
        return SINEW_OK;
    }

    if (sn_word_is_like(name, "line skip") || sn_word_is_like(name, "lineskip")) {
        return read_integers(r, value, 1, &r->skip_lines);
    }
    if (sn_word_is_like(name, "byte skip") || sn_word_is_like(name, "byteskip")) {
        return read_integers(r, value, 1, &r->skip_bytes);
    }

    // Fields that need the dimension first.
    bool sizes = sn_word_is_like(name, "sizes");
    bool spacings = sn_word_is_like(name, "spacings");
    bool directions = sn_word_is_like(name, "space directions");
    if (sizes || spacings || directions) {
        SN_TRY(need_dimension(r, name));
    }
    if (sizes) {
        return read_integers(r, value, (int)r->dimensions, r->sizes);
    }
    if (directions) {
        return read_directions(r, value);
    }
    if (!spacings) {
        return SINEW_OK; // kinds, centers, content and others are not needed
    }

    r->has_spacing = true;
    return read_doubles(r, value, (int)r->dimensions, r->spacing);
}

// Of four axes, one must have a single entry, such as the list of layers of a segmentation; it is
// dropped.
static sinew_status set_axes(reader *r) {
    int64_t dropped = -1;
    if (r->dimensions == 4) {
        for (int64_t i = 0; i < r->dimensions; i++) {
            if (r->sizes[i] == 1 && (dropped < 0 || !r->has_directions[i])) {
                dropped = i;
            }
        }
    }

    if (r->dimensions == 4 && dropped < 0) {
        return sn_source_fail(r->context, r->source, SINEW_UNSUPPORTED,
                              "four dimensions of several entries each; a label volume has three");
    }

    // Sizes and steps of the three axes, in NIfTI's coordinates.
    int j = 0;
    for (int64_t i = 0; i < r->dimensions; i++) {
        if (i == dropped) {
            continue;
        }

        r->header->size[j] = r->sizes[i];
        for (int k = 0; k < 3; k++) {
            double step = r->has_directions[i] ? r->directions[i][k]
                          : k == j             ? (r->has_spacing ? r->spacing[i] : 1)
                                               : 0;
            r->header->step[j][k] = r->sign[k] * step;
        }

        j++;
    }

    for (int k = 0; k < 3; k++) {
        r->header->origin[k] = r->sign[k] * r->origin[k];
    }

    return SINEW_OK;
}

// Finds the start of the numbers: after the header or in another file, then lines and bytes are
// skipped.
static sinew_status find_data(reader *r) {
    sn_volume_header *h = r->header;
    if (r->data_file.size && !sn_word_is(r->data_file, "LOCAL")) {
        if (sn_word_starts(r->data_file, "LIST") ||
            memchr(r->data_file.at, '%', r->data_file.size)) {
            return sn_source_fail_at(r->context, r->source, SINEW_UNSUPPORTED, r->data_file.at,
                                     "data in several files is not read");
        }

        SN_TRY(sn_volume_fetch(r->context, r->source, r->arena, r->data_file, &h->data));
        h->offset = 0;
    } else {
        h->offset = (size_t)(r->text.at - r->text.begin);
    }

    sn_text data = sn_source_text(&h->data);
    data.at += h->offset;
    for (int64_t i = 0; i < r->skip_lines && !sn_text_at_end(&data); i++) {
        sn_text_skip_line(&data);
    }

    int64_t left = data.end - data.at;
    int64_t cells = 1;

    // A negative skip means that the data is at the end of the file.
    if (r->skip_bytes < 0 && h->encoding == SN_VOLUME_RAW) {
        for (int k = 0; k < 3; k++) {
            cells = h->size[k] > 0 && h->size[k] < INT32_MAX && cells < INT32_MAX
                        ? cells * h->size[k]
                        : INT64_MAX / 16;
        }
        int64_t needed = cells * (int64_t)sn_type_size(h->type);
        r->skip_bytes = needed <= left ? left - needed : 0;
    }

    if (r->skip_bytes < 0 || r->skip_bytes > left) {
        return sn_source_fail(r->context, r->source, SINEW_INVALID_DATA,
                              "%lld bytes should be skipped; the data has %lld",
                              (long long)r->skip_bytes, (long long)left);
    }

    h->offset = (size_t)(data.at - data.begin) + (size_t)r->skip_bytes;
    return SINEW_OK;
}

sinew_status sn_read_nrrd_header(sinew_context *context, const sn_source *source, sn_arena *arena,
                                 sn_volume_header *header) {
    reader r = {.context = context,
                .source = source,
                .arena = arena,
                .header = header,
                .text = sn_source_text(source),
                .sign = {1, 1, 1}};
    sn_word magic = sn_text_rest_of_line(&r.text);

    if (!sn_word_starts(magic, "NRRD000")) {
        return FAIL(&r, magic.at, "an NRRD file starts with NRRD0001 to NRRD0005");
    }

    // Fields, one a line.
    while (!sn_text_at_end(&r.text)) {
        const char *begin = r.text.at;
        sn_text_skip_line(&r.text);

        sn_word line = trim(begin, r.text.at);
        if (line.size == 0) {
            break; // the header ends with an empty line
        }

        const char *colon = memchr(line.at, ':', line.size);
        const char *end = line.at + line.size;
        if (line.at[0] == '#' || (colon && colon + 1 < end && colon[1] == '=')) {
            continue; // comments, and keys of the user
        }
        if (!colon) {
            return FAIL(&r, line.at, "expected a line of the form name: value");
        }

        SN_TRY(read_nrrd_field(&r, trim(line.at, colon), trim(colon + 1, end)));
    }

    // Is everything there that the data needs?
    if (!r.dimensions || !r.has_type) {
        return sn_source_fail(context, source, SINEW_INVALID_DATA,
                              "the header has no dimension, sizes or type");
    }

    if (!r.has_order && header->encoding != SN_VOLUME_TEXT && sn_type_size(header->type) > 1) {
        return sn_source_fail(context, source, SINEW_INVALID_DATA,
                              "the header has no endian, which numbers of several bytes need");
    }

    SN_TRY(set_axes(&r));
    return find_data(&r);
}

static sinew_status read_meta_type(reader *r, sn_word value) {
    static const type_name names[] = {
        {"MET_CHAR", SN_TYPE_I8},       {"MET_UCHAR", SN_TYPE_U8},       {"MET_SHORT", SN_TYPE_I16},
        {"MET_USHORT", SN_TYPE_U16},    {"MET_INT", SN_TYPE_I32},        {"MET_UINT", SN_TYPE_U32},
        {"MET_LONG_LONG", SN_TYPE_I64}, {"MET_ULONG_LONG", SN_TYPE_U64}, {"MET_FLOAT", SN_TYPE_F32},
        {"MET_DOUBLE", SN_TYPE_F64}};
    return choose_type(r, value, names, sizeof names / sizeof *names);
}

// *last is set by ElementDataFile, after which the data starts.
static sinew_status read_meta_field(reader *r, sn_word name, sn_word value, bool *last) {
    double matrix[9];

    // The grid.
    if (sn_word_is_like(name, "NDims")) {
        SN_TRY(read_integers(r, value, 1, &r->dimensions));
        return r->dimensions == 3 ? SINEW_OK
                                  : FAIL(r, value.at, "a label volume has three dimensions");
    }

    if (sn_word_is_like(name, "DimSize")) {
        return read_integers(r, value, 3, r->sizes);
    }
    if (sn_word_is_like(name, "ElementType")) {
        return read_meta_type(r, value);
    }

    if (sn_word_is_like(name, "ElementSpacing")) {
        r->has_spacing = true;
        return read_doubles(r, value, 3, r->spacing);
    }

    // The encoding.
    if (sn_word_is_like(name, "ElementByteOrderMSB") ||
        sn_word_is_like(name, "BinaryDataByteOrderMSB")) {
        r->header->big = sn_word_is_like(value, "True");
        return SINEW_OK;
    }

    if (sn_word_is_like(name, "CompressedData") && sn_word_is_like(value, "True")) {
        r->header->encoding = SN_VOLUME_ZLIB;
    }
    if (sn_word_is_like(name, "BinaryData") && sn_word_is_like(value, "False")) {
        r->header->encoding = SN_VOLUME_TEXT;
    }

    // Unit and channels.
    if (sn_word_is_like(name, "DistanceUnits")) {
        r->header->unit = sn_unit_find(value);
        return SINEW_OK;
    }

    if (sn_word_is_like(name, "ElementNumberOfChannels")) {
        SN_TRY(read_integers(r, value, 1, &r->channels));
        return r->channels == 1 ? SINEW_OK : FAIL(r, value.at, "a label volume has one channel");
    }

    // Position and orientation.
    if (sn_word_is_like(name, "Offset") || sn_word_is_like(name, "Position") ||
        sn_word_is_like(name, "Origin")) {
        r->header->has_origin = true;
        return read_doubles(r, value, 3, r->origin);
    }

    if (sn_word_is_like(name, "TransformMatrix") || sn_word_is_like(name, "Rotation") ||
        sn_word_is_like(name, "Orientation")) {
        SN_TRY(read_doubles(r, value, 9, matrix));
        for (int j = 0; j < 3; j++) {
            r->has_directions[j] = true;
            memcpy(r->directions[j], matrix + 3 * j, 3 * sizeof(double));
        }
        return SINEW_OK;
    }

    // Where the data is.
    if (sn_word_is_like(name, "HeaderSize")) {
        return read_integers(r, value, 1, &r->skip_bytes);
    }

    if (sn_word_is_like(name, "ElementDataFile")) {
        r->data_file = value;
        *last = true;
    }

    return SINEW_OK;
}

sinew_status sn_read_meta_header(sinew_context *context, const sn_source *source, sn_arena *arena,
                                 sn_volume_header *header) {
    // MetaImages use the coordinates of DICOM: x to the left, y to the back.
    reader r = {.context = context,
                .source = source,
                .arena = arena,
                .header = header,
                .text = sn_source_text(source),
                .sign = {-1, -1, 1},
                .spacing = {1, 1, 1, 1}};
    bool last = false;

    while (!last) {
        const char *begin = r.text.at;
        if (sn_text_at_end(&r.text)) {
            return FAIL(&r, begin, "the header ends without ElementDataFile");
        }

        sn_text_skip_line(&r.text);
        sn_word line = trim(begin, r.text.at);
        if (line.size == 0) {
            continue;
        }

        const char *equals = memchr(line.at, '=', line.size);
        if (!equals) {
            return FAIL(&r, line.at, "expected a line of the form name = value");
        }

        SN_TRY(read_meta_field(&r, trim(line.at, equals), trim(equals + 1, line.at + line.size),
                               &last));
    }

    if (r.dimensions != 3 || !r.has_type) {
        return sn_source_fail(context, source, SINEW_INVALID_DATA,
                              "the header has no NDims, DimSize or ElementType");
    }

    // Directions have length 1; the spacing scales them.
    for (int j = 0; j < 3; j++) {
        for (int k = 0; k < 3; k++) {
            r.directions[j][k] = r.spacing[j] * (r.has_directions[j] ? r.directions[j][k] : j == k);
        }
        r.has_directions[j] = true;
    }

    SN_TRY(set_axes(&r));
    return find_data(&r);
}
