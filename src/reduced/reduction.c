// Computing a reduction, and storing it: see reduction.h.
#include "reduced/reduction.h"

#include "base/hash.h"
#include "body/elastic.h"
#include "math/svd.h"
#include "reduced/cubature.h"
#include "reduced/placement.h"

#include <math.h>
#include <string.h>

static const double two_pi = 6.28318530717958647692;

enum {
    LEAST_MODES = 3,
    MOST_MODES = 200,
    MOST_SIZE = 300,
    MOST_POSES = 1000,
    POINTS_PER_COORDINATE = 6
};

sinew_reduction_def sinew_default_reduction_def(void) {
    return (sinew_reduction_def){
        .modes = 20, .extent = 0.4, .poses = 100, .tolerance = 0.01, .filled = SN_DEF_FILLED};
}

int32_t sn_reduction_size(const sinew_reduction_def *def) {
    int32_t size = def->size;
    if (size == 0) {
        size = def->kind == SINEW_REDUCTION_DERIVATIVES ? def->modes * 3 / 2 : def->modes;
    }
    return (size + 2) / 3 * 3;
}

static sinew_status check_counts(sinew_context *context, const sinew_reduction_def *def) {
    if ((int)def->kind < 0 || def->kind > SINEW_REDUCTION_WARPED) {
        return sn_fail(context, SINEW_INVALID_ARGUMENT, "kind is %d; valid are 0 to %d",
                       (int)def->kind, (int)SINEW_REDUCTION_WARPED);
    }
    if (def->modes < LEAST_MODES || def->modes > MOST_MODES) {
        return sn_fail(context, SINEW_INVALID_ARGUMENT, "modes is %d; valid are %d to %d",
                       def->modes, LEAST_MODES, MOST_MODES);
    }
    if (def->size < 0 || def->size > MOST_SIZE) {
        return sn_fail(context, SINEW_INVALID_ARGUMENT,
                       "size is %d; valid are 1 to %d, or 0 to follow the modes", def->size,
                       MOST_SIZE);
    }
    if (def->poses < 1 || def->poses > MOST_POSES) {
        return sn_fail(context, SINEW_INVALID_ARGUMENT, "poses is %d; valid are 1 to %d",
                       def->poses, MOST_POSES);
    }
    if (def->points < 0) {
        return sn_fail(context, SINEW_INVALID_ARGUMENT,
                       "points is %d; it must be at least 1, or 0 for as many as needed",
                       def->points);
    }
    return SINEW_OK;
}

static sinew_status check_def(sinew_context *context, const sinew_reduction_def *def) {
    SN_TRY(check_counts(context, def));
    if (!(def->extent > 0 && def->extent <= 2)) {
        return sn_fail(context, SINEW_INVALID_ARGUMENT, "extent is %g; it must be in (0, 2]",
                       def->extent);
    }
    if (!(def->tolerance > 0 && def->tolerance < 1)) {
        return sn_fail(context, SINEW_INVALID_ARGUMENT, "tolerance is %g; it must be in (0, 1)",
                       def->tolerance);
    }
    return SINEW_OK;
}

// What cannot be reduced, with the reason.
static sinew_status check_model(const sinew_body *body) {
    const sn_sample_groups *groups = sn_elastic_groups(body);
    if (!groups) {
        return sn_fail(body->context, SINEW_UNSUPPORTED,
                       "body \"%s\" cannot be reduced: only bodies of elements with the elastic "
                       "model can",
                       body->name);
    }
    if (body->mesh.element == SINEW_ELEMENT_TRIANGLE) {
        return sn_fail(body->context, SINEW_UNSUPPORTED,
                       "body \"%s\" cannot be reduced: it is made of triangles", body->name);
    }

    for (int32_t g = 0; g < groups->count; g++) {
        if (sn_sample_group_averages(&groups->items[g])) {
            return sn_fail(body->context, SINEW_UNSUPPORTED,
                           "body \"%s\" cannot be reduced: its dilatation is averaged over several "
                           "samples; choose the standard volume",
                           body->name);
        }
    }
    return SINEW_OK;
}

static sinew_status check_count(const sinew_body *body, const sinew_reduction_def *def) {
    int32_t free_count = 0;
    for (int32_t i = 0; i < sn_body_size(body); i++) {
        free_count += !body->mask[i];
    }

    // The rigid motions are no modes, and Lanczos needs a vector more.
    int32_t most = free_count - 7;
    int32_t wanted = sn_reduction_size(def);
    if (wanted <= most) {
        return SINEW_OK;
    }
    return sn_fail(body->context, SINEW_INVALID_ARGUMENT,
                   "%d coordinates of body \"%s\" were asked for, which has %d free unknowns; at "
                   "most %d are possible",
                   wanted, body->name, free_count, most > 0 ? most : 0);
}

uint64_t sn_reduction_hash_source(const sinew_body *body) {
    uint64_t hash = sn_hash_bytes(SN_HASH_START, &body->origin, sizeof body->origin);
    for (int32_t i = 0; i < sn_body_size(body); i++) {
        hash = sn_hash_integer(hash, body->mask[i] != 0);
    }
    return hash;
}

sinew_status sn_reduction_begin(sinew_context *context, sinew_reduction_kind kind, int32_t nodes,
                                int32_t size, int32_t points, sinew_reduction **out) {
    sn_arena arena = sn_arena_create(context);
    size_t fields = 3 * (size_t)nodes * (size_t)size;
    sinew_reduction *made = SN_PUSH(&arena, sinew_reduction, 1);
    double *omega_squared = SN_PUSH(&arena, double, size);
    double *U = SN_PUSH(&arena, double, fields);
    double *turn = kind == SINEW_REDUCTION_WARPED ? SN_PUSH(&arena, double, fields) : NULL;
    sn_reduced_point *list = SN_PUSH(&arena, sn_reduced_point, points);
    sinew_status status = sn_arena_status(&arena);
    if (status != SINEW_OK) {
        sn_arena_destroy(&arena);
        return status;
    }

    *made = (sinew_reduction){.context = context,
                              .arena = arena,
                              .kind = kind,
                              .nodes = nodes,
                              .size = size,
                              .omega_squared = omega_squared,
                              .U = U,
                              .turn = turn,
                              .points = list};
    *out = made;
    return SINEW_OK;
}

void sinew_reduction_destroy(sinew_reduction *reduction) {
    if (!reduction) {
        return;
    }
    sn_arena arena = reduction->arena; // the reduction lives in it
    sn_arena_destroy(&arena);
}

sinew_status sinew_reduction_get_report(const sinew_reduction *reduction,
                                        sinew_reduction_report *report) {
    SN_NEED(NULL, reduction);
    SN_NEED(reduction->context, report);
    *report = reduction->report;
    return SINEW_OK;
}

// From one field after the other to one node after the other.
static void take_fields(sinew_reduction *reduction, const sn_reduced_basis *basis) {
    size_t size = (size_t)basis->size;
    for (size_t k = 0; k < size; k++) {
        const double *field = basis->U + k * 3 * (size_t)reduction->nodes;
        for (size_t i = 0; i < (size_t)reduction->nodes; i++) {
            memcpy(reduction->U + 3 * (i * size + k), field + 3 * i, 3 * sizeof *field);
        }
    }
    memcpy(reduction->omega_squared, basis->omega_squared, size * sizeof(double));
}

static sinew_status fill(sinew_body *body, const sinew_reduction_def *def,
                         const sn_reduced_basis *basis, int32_t most, sinew_reduction *reduction) {
    const sn_sample_groups *groups = sn_elastic_groups(body);
    sinew_reduction_report *report = &reduction->report;
    take_fields(reduction, basis);
    reduction->source = sn_reduction_hash_source(body);
    report->size = basis->size;
    report->free = basis->free;
    report->lowest = sqrt(fmax(basis->omega_squared[0], 0)) / two_pi;
    report->highest = sqrt(fmax(basis->omega_squared[basis->size - 1], 0)) / two_pi;
    for (int32_t g = 0; g < groups->count; g++) {
        report->samples += groups->items[g].samples.count;
    }

    if (reduction->turn) {
        return sn_reduced_compute_turns(body->context, groups, body->rest, reduction->U,
                                        reduction->nodes, reduction->size, reduction->turn);
    }

    sn_training training;
    SN_TRY(sn_reduced_train(body, def, basis, reduction->U, most, reduction->points, &training));
    report->points = training.count;
    report->training_error = training.training_error;
    report->check_error = training.check_error;
    return SINEW_OK;
}

static sinew_status create(sinew_body *body, const sinew_reduction_def *def, sn_arena *arena,
                           sinew_reduction **out) {
    sn_reduced_basis basis;
    SN_TRY(sn_reduced_basis_compute(body, def, arena, &basis));
    int32_t most = def->points > 0 ? def->points : POINTS_PER_COORDINATE * basis.size;
    if (def->kind == SINEW_REDUCTION_WARPED) {
        most = 0;
    }

    sinew_reduction *reduction;
    SN_TRY(sn_reduction_begin(body->context, def->kind, body->mesh.point_count, basis.size, most,
                              &reduction));
    sinew_status status = fill(body, def, &basis, most, reduction);
    if (status != SINEW_OK) {
        sinew_reduction_destroy(reduction);
        return status;
    }
    *out = reduction;
    return SINEW_OK;
}

sinew_status sinew_reduction_create(sinew_body *body, const sinew_reduction_def *def,
                                    sinew_reduction **reduction) {
    SN_NEED(NULL, body);
    SN_NEED(body->context, reduction);
    SN_TRY(SN_CHECK_DEF(body->context, def, "sinew_default_reduction_def"));
    SN_TRY(check_def(body->context, def));
    SN_TRY(check_model(body));
    SN_TRY(check_count(body, def));
    sn_reduced_placement placement;
    SN_TRY(sn_reduced_find_placement(body, &placement));

    sn_arena arena = sn_arena_create(body->context);
    sinew_status status = create(body, def, &arena, reduction);
    sn_arena_destroy(&arena);
    return status;
}

// The head of a stored reduction, followed by the arrays and a hash of everything before it.
typedef struct stored_head {
    char magic[8];
    uint64_t source;
    sinew_reduction_report report;
    int32_t kind, nodes, size, head_size;
} stored_head;

static const char magic[8] = "SNREDUC1";

// The size of the arrays and the hash; 0 if the counts are impossible.
static size_t arrays_size(const stored_head *head) {
    size_t fields = 3 * (size_t)head->nodes * (size_t)head->size;
    size_t doubles = (size_t)head->size + fields * (head->kind == SINEW_REDUCTION_WARPED ? 2 : 1);
    return doubles * sizeof(double) + (size_t)head->report.points * sizeof(sn_reduced_point) +
           sizeof(uint64_t);
}

static stored_head head_of(const sinew_reduction *reduction) {
    stored_head head;
    memset(&head, 0, sizeof head);
    memcpy(head.magic, magic, sizeof magic);
    head.source = reduction->source;
    head.report = reduction->report;
    head.kind = (int32_t)reduction->kind;
    head.nodes = reduction->nodes;
    head.size = reduction->size;
    head.head_size = (int32_t)sizeof head;
    return head;
}

size_t sinew_reduction_get_stored_size(const sinew_reduction *reduction) {
    SN_NEED_OR(0, reduction);
    stored_head head = head_of(reduction);
    return sizeof head + arrays_size(&head);
}

// The arrays of a reduction, in the order of a file.
typedef struct stored_array {
    void *data;
    size_t size;
} stored_array;

static void list_arrays(const sinew_reduction *reduction, stored_array arrays[4]) {
    size_t fields = 3 * (size_t)reduction->nodes * (size_t)reduction->size * sizeof(double);
    arrays[0] = (stored_array){reduction->omega_squared, (size_t)reduction->size * sizeof(double)};
    arrays[1] = (stored_array){reduction->U, fields};
    arrays[2] = (stored_array){reduction->turn, reduction->turn ? fields : 0};
    arrays[3] = (stored_array){reduction->points,
                               (size_t)reduction->report.points * sizeof(sn_reduced_point)};
}

sinew_status sinew_reduction_store(const sinew_reduction *reduction, void *bytes, size_t size) {
    SN_NEED(NULL, reduction);
    SN_NEED(reduction->context, bytes);
    size_t needed = sinew_reduction_get_stored_size(reduction);
    if (size < needed) {
        return sn_fail(reduction->context, SINEW_INVALID_ARGUMENT,
                       "%zu bytes are too few for a reduction of %zu", size, needed);
    }

    char *next = bytes;
    stored_head head = head_of(reduction);
    memcpy(next, &head, sizeof head);
    next += sizeof head;

    stored_array arrays[4];
    list_arrays(reduction, arrays);
    for (int i = 0; i < 4; i++) {
        if (arrays[i].size > 0) {
            memcpy(next, arrays[i].data, arrays[i].size);
        }
        next += arrays[i].size;
    }

    uint64_t hash = sn_hash_bytes(SN_HASH_START, bytes, (size_t)(next - (char *)bytes));
    memcpy(next, &hash, sizeof hash);
    return SINEW_OK;
}

static bool is_plausible(const stored_head *head) {
    bool counts = head->nodes > 0 && head->size > 0 && head->size <= MOST_SIZE &&
                  head->size % 3 == 0 && head->report.size == head->size &&
                  head->report.points >= 0;
    return memcmp(head->magic, magic, sizeof magic) == 0 && counts && head->kind >= 0 &&
           head->kind <= SINEW_REDUCTION_WARPED && head->head_size == (int32_t)sizeof *head;
}

sinew_status sinew_reduction_restore(sinew_context *context, const void *bytes, size_t size,
                                     sinew_reduction **reduction) {
    SN_NEED(NULL, context);
    SN_NEED(context, bytes && reduction);
    stored_head head;
    memset(&head, 0, sizeof head);
    if (size >= sizeof head) {
        memcpy(&head, bytes, sizeof head);
    }
    if (!is_plausible(&head) || size != sizeof head + arrays_size(&head)) {
        return sn_fail(context, SINEW_INVALID_DATA,
                       "%zu bytes are not a reduction that this version stored", size);
    }

    uint64_t hash;
    size_t hashed = size - sizeof hash;
    memcpy(&hash, (const char *)bytes + hashed, sizeof hash);
    if (hash != sn_hash_bytes(SN_HASH_START, bytes, hashed)) {
        return sn_fail(context, SINEW_INVALID_DATA, "the stored reduction is damaged");
    }

    sinew_reduction *made;
    SN_TRY(sn_reduction_begin(context, (sinew_reduction_kind)head.kind, head.nodes, head.size,
                              head.report.points, &made));
    made->source = head.source;
    made->report = head.report;

    const char *next = (const char *)bytes + sizeof head;
    stored_array arrays[4];
    list_arrays(made, arrays);
    for (int i = 0; i < 4; i++) {
        if (arrays[i].size > 0) {
            memcpy(arrays[i].data, next, arrays[i].size);
        }
        next += arrays[i].size;
    }
    *reduction = made;
    return SINEW_OK;
}
