// Stiffness of touches in the matrix of an island.
//
// The first feature of a touch moves against the second by sum_r G_r d(row r), G_r = sum_i b_i J_ir
// over the vertices i. So the stiffness S of a touch adds G_a' S G_b to the block of rows a and b:
// S is p n n' where the touch presses, and the stiffness of friction; both are positive
// semi-definite. Rows that move several vertices of a touch, as frames do, are added up first.
//
// Where every G_r is a multiple g_r of the identity and rows are few (affine and quadratic frames),
// the products g_a g_b S of all touches are summed in six dense arrays, one for each entry of S,
// and then added to the matrix at once.
#include "dynamics/contact_gram.h"
#include "dynamics/contact_touch.h"

#include <string.h>

int32_t sn_contact_find_block(const sn_island *island, int32_t row, int32_t column) {
    const sn_island_contact *own = island->contact;
    if (own->block_of) {
        return own->block_of[(size_t)row * (size_t)island->rows + (size_t)column];
    }
    return row == column ? island->pattern->diagonal[row]
                         : sn_bsr_find(island->pattern, row, column);
}

// Adds a block. One that the pattern has no room for goes to both diagonals by its size, which
// bounds it from above: the solve is then stiffer, its solution the same in the limit.
static void add_block(const sn_island *island, double *matrix, int32_t row, int32_t column,
                      double weight, const sn_mat3 *block) {
    int32_t place = sn_contact_find_block(island, row, column);
    if (place < 0) {
        double size = sn_mat3_norm(*block) * fabs(weight);
        sn_mat3 unit = sn_mat3_identity();
        island->contact->cramped = true;
        add_block(island, matrix, row, row, size, &unit);
        add_block(island, matrix, column, column, size, &unit);
        return;
    }

    double *out = matrix + 9 * (size_t)place;
    const double *in = &block->m[0][0];
    for (int e = 0; e < 9; e++) {
        out[e] += weight * in[e];
    }
}

// The rows of a touch, each once, with G_r in own->merged_J or, where all of them are multiples of
// the identity, g_r in own->merged_weight. Returns their number.
static int32_t merge_terms(sn_island_contact *own, const sn_touch *touch, bool *plain) {
    // Are all Jacobians multiples of the identity?
    *plain = true;
    for (int k = 0; k < touch->count; k++) {
        *plain = *plain && sn_touch_slot(own, touch, k)->plain;
    }

    int32_t count = 0;
    for (int k = 0; k < touch->count; k++) {
        const sn_contact_slot *slot = sn_touch_slot(own, touch, k);
        for (int32_t t = slot->first_term; t < slot->first_term + slot->term_count; t++) {
            // The row's entry, made when it occurs first.
            int32_t row = own->term_row[t];
            int32_t at = own->merged_place[row];
            if (at < 0) {
                at = own->merged_place[row] = count++;
                own->merged_row[at] = row;
                own->merged_weight[at] = 0;
                own->merged_J[at] = (sn_mat3){{{0}}};
            }
            if (*plain) {
                own->merged_weight[at] += touch->b[k] * own->term_J[t].m[0][0];
                continue;
            }
            own->merged_J[at] =
                sn_mat3_add(own->merged_J[at], sn_mat3_scale(touch->b[k], own->term_J[t]));
        }
    }

    // The table is empty again for the next touch.
    for (int32_t i = 0; i < count; i++) {
        own->merged_place[own->merged_row[i]] = -1;
    }
    return count;
}

// matrix += sign times the stiffness S of a touch with the merged terms.
static void add_merged(const sn_island *island, double *matrix, int32_t count, bool plain,
                       double sign, const sn_mat3 *S) {
    const sn_island_contact *own = island->contact;
    for (int32_t s = 0; s < count; s++) {
        int32_t row = own->merged_row[s];
        sn_mat3 left = *S;
        if (!plain) {
            left = sn_mat3_mul(sn_mat3_transpose(own->merged_J[s]), *S);
        }

        for (int32_t t = 0; t < count; t++) {
            int32_t column = own->merged_row[t];
            if (column > row) {
                continue;
            }
            if (plain) {
                double weight = sign * own->merged_weight[s] * own->merged_weight[t];
                add_block(island, matrix, row, column, weight, S);
            } else {
                sn_mat3 block = sn_mat3_mul(left, own->merged_J[t]);
                add_block(island, matrix, row, column, sign, &block);
            }
        }
    }
}

static sn_mat3 stiffness_of(const sn_island_contact *own, const sn_touch *touch, double smoothing) {
    sn_friction friction = sn_touch_friction(touch, sn_touch_slip(own, touch, own->hat), smoothing);
    sn_mat3 normal = sn_outer(touch->normal, touch->normal);
    sn_mat3 S = sn_mat3_scale(friction.k, sn_mat3_sub(sn_mat3_identity(), normal));
    if (touch->pressing) {
        S = sn_mat3_add(S, sn_mat3_scale(touch->penalty, normal));
    }
    if (friction.k_along != friction.k) {
        sn_mat3 along = sn_outer(friction.direction, friction.direction);
        S = sn_mat3_add(S, sn_mat3_scale(friction.k_along - friction.k, along));
    }
    return S;
}

// Adds g_a g_b S for all rows a and b of a touch to the dense sums.
static void add_to_gram(const sn_island *island, int32_t count, const sn_mat3 *S) {
    const sn_island_contact *own = island->contact;
    for (int32_t i = 0; i < count; i++) {
        own->gram_weight[own->merged_row[i]] = own->merged_weight[i];
    }
    SN_ISA_PICK(island->world->context->isa, sn_contact_add_gram)
    (own->gram, island->rows, own->gram_weight, own->merged_row, count, S);
    for (int32_t i = 0; i < count; i++) {
        own->gram_weight[own->merged_row[i]] = 0;
    }
}

// Adds the dense sums to the matrix.
static void scatter_gram(sn_island *island) {
    const sn_island_contact *own = island->contact;
    for (int32_t row = 0; row < island->rows; row++) {
        for (int32_t column = 0; column <= row; column++) {
            sn_mat3 block = sn_contact_get_gram(own->gram, island->rows, row, column);
            if (block.m[0][0] != 0 || block.m[1][1] != 0 || block.m[2][2] != 0) {
                add_block(island, island->A, row, column, 1, &block);
            }
        }
    }
}

void sn_contact_add_matrix(sn_island *island) {
    sn_island_contact *own = island->contact;
    double smoothing = sn_contact_smoothing(island);
    bool summed = false;
    for (int32_t i = 0; i < own->touch_count; i++) {
        const sn_touch *touch = &own->touches[i];
        bool rubs = touch->friction * touch->pressure > 0;
        if (touch->penalty == 0 || (!touch->pressing && !rubs)) {
            continue;
        }

        // G' S G of this touch.
        bool plain;
        int32_t count = merge_terms(own, touch, &plain);
        sn_mat3 S = stiffness_of(own, touch, smoothing);
        if (!plain || !own->gram) {
            add_merged(island, island->A, count, plain, 1, &S);
            continue;
        }

        // Touches of many plain rows are summed in one dense matrix first.
        if (!summed) {
            memset(own->gram, 0, sn_contact_gram_size(island->rows) * sizeof *own->gram);
            summed = true;
        }
        add_to_gram(island, count, &S);
    }

    if (summed) {
        scatter_gram(island);
    }
}

bool sn_contact_keep_matrix(sn_island *island) {
    sn_island_contact *own = island->contact;
    if (!own->kept_matrix || own->touch_count == 0) {
        return false;
    }
    size_t bytes = sn_bsr_value_count(island->pattern) * sizeof(double);
    memcpy(own->kept_matrix, island->A, bytes);
    return true;
}

void sn_contact_exchange_stiffness(sn_island *island, const sn_touch *touch) {
    sn_island_contact *own = island->contact;
    bool plain;
    int32_t count = merge_terms(own, touch, &plain);
    sn_mat3 S = sn_mat3_scale(touch->penalty, sn_outer(touch->normal, touch->normal));
    add_merged(island, own->kept_matrix, count, plain, touch->pressing ? 1 : -1, &S);
}

void sn_contact_restore_matrix(sn_island *island) {
    size_t bytes = sn_bsr_value_count(island->pattern) * sizeof(double);
    memcpy(island->A, island->contact->kept_matrix, bytes);
}
