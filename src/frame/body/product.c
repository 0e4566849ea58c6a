// Products with the stiffness of a frame body without its matrix, for bodies whose samples have
// many controls. The blocks between rows of one node, and of nodes that share mass, are stored (the
// local part: a preconditioner needs them); everything else is multiplied sample by sample.
//
// Cost of a product: 18 multiply-adds for each control at each sample.
#include "frame/body/product.h"

#include <string.h>

// A matrix takes 27 multiply-adds for each pair of controls at a sample, a product 18 for each
// control: with so many controls at a sample fifty products cost less than a matrix (`sinew-proof
// bench products`). Those of rigid frames cost more, and small systems are solved directly.
bool sn_frame_prefers_products(const sinew_body *body) {
    enum { LEAST_CONTROLS = 64, LEAST_ROWS = 128 };
    const sn_frame_model *model = body->model;
    if (model->springs || model->blend.is_rigid || body->rows <= LEAST_ROWS) {
        return false;
    }

    return sn_layers_mean_controls(&model->layers) >= LEAST_CONTROLS;
}

static sinew_status push_row_sets(sn_arena *arena, const sn_nodes *nodes, sn_local_part *local,
                                  sn_bsr_sets *sets) {
    int32_t *starts = SN_PUSH(arena, int32_t, nodes->count + 1);
    int32_t *members = SN_PUSH(arena, int32_t, nodes->row_count);

    SN_TRY(sn_arena_status(arena));
    for (int32_t i = 0; i < nodes->count; i++) {
        SN_ASSERT(nodes->items[i].row == starts[i]);
        starts[i + 1] = starts[i] + nodes->items[i].row_count;
    }

    for (int32_t row = 0; row < nodes->row_count; row++) {
        members[row] = row;
    }

    local->set_count = nodes->count;
    local->set_starts = starts;
    *sets = (sn_bsr_sets){.count = nodes->count, .offsets = starts, .members = members};

    return SINEW_OK;
}

static sinew_status push_local(sinew_body *body, sn_local_part *local) {
    sn_frame_model *model = body->model;
    sn_arena scratch = sn_arena_create(body->context);
    sn_bsr_sets sets[2];
    sinew_status status = push_row_sets(&model->arena, &model->nodes, local, &sets[0]);

    if (status == SINEW_OK) {
        status = sn_frame_mass_row_sets(&scratch, &model->nodes, model->mass, &sets[1]);
    }
    if (status == SINEW_OK) {
        status = sn_bsr_build(&model->arena, body->rows, sets, 2, &local->pattern);
    }

    sn_arena_destroy(&scratch);
    return status;
}

static sinew_status push_products(sinew_body *body) {
    sn_frame_model *model = body->model;
    sn_frame_products *products = SN_PUSH(&model->arena, sn_frame_products, 1);

    SN_TRY(sn_arena_status(&model->arena));
    SN_TRY(push_local(body, &products->local));
    products->now = sn_bsr_push_values(&model->arena, &products->local.pattern);
    products->whole = SN_PUSH(&model->arena, double, sn_body_size(body));
    products->covered = SN_PUSH(&model->arena, double, sn_body_size(body));
    SN_TRY(sn_arena_status(&model->arena));
    model->products = products;

    return SINEW_OK;
}

static sinew_status push_all(sinew_body *body, bool kept) {
    sn_frame_model *model = body->model;
    if (!model->products) {
        SN_TRY(push_products(body));
    }
    if (kept && !model->products->kept) {
        model->products->kept = sn_bsr_push_values(&model->arena, &model->products->local.pattern);
    }

    return sn_arena_status(&model->arena);
}

sinew_status sn_frame_prepare_products(sinew_body *body, bool kept, const sn_local_part **local) {
    sn_frame_model *model = body->model;
    *local = NULL;
    if (model->springs) {
        return SINEW_OK; // they are few, and have a matrix of their own
    }

    SN_TRY(sn_layers_prepare_products(&model->layers, kept));
    sn_arena_mark mark = sn_arena_get_mark(&model->arena);
    sn_frame_products *before = model->products;
    sinew_status status = push_all(body, kept);
    if (status != SINEW_OK) { // as before
        model->products = before;

        sn_arena_rewind(&model->arena, mark);
        return status;
    }
    *local = &model->products->local;

    return SINEW_OK;
}

const sn_bsr *sn_frame_local_pattern(const sn_frame_model *model) {
    return &model->products->local.pattern;
}

void sn_frame_take_local(sinew_body *body, const double *matrix) {
    const sn_frame_model *model = body->model;
    const sn_bsr *pattern = &model->products->local.pattern;
    memcpy(model->products->now, matrix, sn_bsr_value_count(pattern) * sizeof *matrix);
    sn_bsr_mirror(body->context, pattern, model->products->now);
}

void sn_frame_keep_tangent(sinew_body *body) {
    const sn_frame_model *model = body->model;
    const sn_frame_products *products = model->products;
    memcpy(products->kept, products->now,
           sn_bsr_value_count(&products->local.pattern) * sizeof *products->kept);

    sn_layers_keep_tangent(&model->layers);
}

void sn_frame_add_remote_product(sinew_body *body, double s, bool kept, double *y,
                                 const double *x) {
    const sn_frame_model *model = body->model;
    const sn_frame_products *products = model->products;

    memset(products->whole, 0, (size_t)sn_body_size(body) * sizeof(double));
    sn_layers_add_product(body->context, &model->layers, kept, products->whole, x);
    sn_face_supports_add_product(body, products->whole, x);
    sn_bsr_multiply(body->context, &products->local.pattern, products->covered,
                    kept ? products->kept : products->now, x);
    for (int32_t i = 0; i < sn_body_size(body); i++) {
        y[i] += s * (products->whole[i] - products->covered[i]);
    }
}
