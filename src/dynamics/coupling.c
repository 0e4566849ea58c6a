// A tied row s with x_s = sum_m w_m x_m stands for its carriers T(s) = {(m, w_m)}; an ordinary row
// stands for itself. The block A_ij of a body then adds w_a w_b A_ij at (a, b) for all a in T(i), b
// in T(j), folded to the lower triangle.
#include "dynamics/coupling.h"

#include "dynamics/contact.h"
#include "dynamics/link.h"

#include <string.h>

static const sn_island_body *member_of(const sn_island *island, const sinew_body *body) {
    for (int32_t i = 0; i < island->body_count; i++) {
        if (island->bodies[i].body == body) {
            return &island->bodies[i];
        }
    }
    return NULL;
}

sinew_status sn_coupling_collect_ties(sn_island *island) {
    const sinew_world *world = island->world;
    island->ties = SN_PUSH(&island->arena, sn_tie, world->attachment_count);
    SN_TRY(sn_arena_status(&island->arena));

    for (size_t i = 0; i < world->attachment_count; i++) {
        const sinew_attachment *attachment = world->attachments[i];
        const sn_island_body *body = member_of(island, attachment->tied.body);
        if (!body || !sn_attachment_eliminates(attachment)) {
            continue;
        }

        // The tied row is the weighted sum of the rows that carry it, all in the island's numbers.
        const sn_island_body *target = member_of(island, attachment->target.body);
        SN_ASSERT(target);

        sn_tie *tie = &island->ties[island->tie_count++];
        const sn_point *point = &attachment->target.point;
        SN_ASSERT(point->count <= SN_MAX_ELEMENT_NODES);

        *tie = (sn_tie){.row = body->first_row + attachment->tied.point.row[0],
                        .point.count = point->count};
        for (int32_t k = 0; k < point->count; k++) {
            tie->point.row[k] = target->first_row + point->row[k];
            tie->point.weight[k] = point->weight[k];
        }
    }

    return SINEW_OK;
}

// What a row stands for.
static sn_carriers carriers_of(const sn_island *island, const int32_t *tie_of_row, int32_t row) {
    if (tie_of_row[row] >= 0) {
        return island->ties[tie_of_row[row]].point;
    }
    return (sn_carriers){.count = 1, .row = {row}, .weight = {1}};
}

static sinew_status push_tie_of_row(sn_island *island, sn_arena *arena, int32_t **tie_of_row) {
    *tie_of_row = SN_PUSH(arena, int32_t, island->rows);
    SN_TRY(sn_arena_status(arena));
    for (int32_t row = 0; row < island->rows; row++) {
        (*tie_of_row)[row] = -1;
    }

    for (int32_t i = 0; i < island->tie_count; i++) {
        (*tie_of_row)[island->ties[i].row] = i;
    }

    return SINEW_OK;
}

// Appends a row that is not yet in the set that starts at `first`.
static int32_t append_row(int32_t *members, int32_t first, int32_t count, int32_t row) {
    for (int32_t i = first; i < count; i++) {
        if (members[i] == row) {
            return count;
        }
    }

    members[count] = row;
    return count + 1;
}

static int32_t append_rows(int32_t *members, int32_t first, int32_t count,
                           const sn_carriers *point) {
    for (int32_t k = 0; k < point->count; k++) {
        count = append_row(members, first, count, point->row[k]);
    }
    return count;
}

typedef struct set_list {
    int32_t *offsets, *members;
    int32_t count;
} set_list;

// One set for each lower block of a body, holding what its row and column stand for.
static sinew_status push_body_sets(const sn_island *island, const sn_island_body *member,
                                   const int32_t *tie_of_row, sn_arena *arena, set_list *sets) {
    const sn_bsr *pattern = member->pattern;
    sets->offsets = SN_PUSH(arena, int32_t, pattern->blocks + 1);
    sets->members = SN_PUSH(arena, int32_t, 2 * SN_MAX_ELEMENT_NODES * (size_t)pattern->blocks);
    SN_TRY(sn_arena_status(arena));

    int32_t used = 0;
    for (int32_t i = 0; i < pattern->rows; i++) {
        for (int32_t k = pattern->starts[i]; k <= pattern->diagonal[i]; k++) {
            sn_carriers row = carriers_of(island, tie_of_row, member->first_row + i);
            sn_carriers column =
                carriers_of(island, tie_of_row, member->first_row + pattern->columns[k]);
            int32_t first = used;
            used = append_rows(sets->members, first, used, &row);
            used = append_rows(sets->members, first, used, &column);
            sets->offsets[++sets->count] = used;
        }
    }

    return SINEW_OK;
}

static sinew_status push_link_sets(const sn_island *island, sn_arena *arena, set_list *sets) {
    size_t total = 0;
    for (int32_t i = 0; i < island->link_count; i++) {
        total += (size_t)island->links[i].count;
    }

    sets->offsets = SN_PUSH(arena, int32_t, island->link_count + 1);
    sets->members = SN_PUSH(arena, int32_t, total);
    SN_TRY(sn_arena_status(arena));

    int32_t used = 0;
    for (int32_t i = 0; i < island->link_count; i++) {
        const sn_link *link = &island->links[i];
        int32_t first = used;
        for (int32_t k = 0; k < link->count; k++) {
            used = append_row(sets->members, first, used, link->row[k]);
        }
        sets->offsets[++sets->count] = used;
    }

    return SINEW_OK;
}

static void add_target(sn_block_target *targets, int32_t *count, const sn_bsr *pattern, int32_t row,
                       int32_t column, double weight) {
    bool transposed = column > row;
    int32_t slot =
        transposed ? sn_bsr_find(pattern, column, row) : sn_bsr_find(pattern, row, column);
    SN_ASSERT(slot >= 0);
    targets[(*count)++] = (sn_block_target){slot, transposed, weight};
}

// The targets of the block (i, j) of a body, i >= j, in the island's rows.
static int32_t find_targets(sn_block_target *targets, const sn_bsr *pattern, const sn_carriers *row,
                            const sn_carriers *column, bool diagonal) {
    int32_t count = 0;
    for (int32_t a = 0; a < row->count; a++) {
        for (int32_t b = 0; b < column->count; b++) {
            int32_t r = row->row[a];
            int32_t c = column->row[b];
            double weight = row->weight[a] * column->weight[b];
            if (diagonal && r < c) {
                continue; // the block is symmetric: (c, r) stands for both
            }

            add_target(targets, &count, pattern, r, c, weight);

            // Off the diagonal the block stands for its transpose too, and on a common carrier both
            // count.
            if (diagonal || r != c) {
                continue;
            }

            targets[count] = (sn_block_target){targets[count - 1].slot, true, weight};
            count++;
        }
    }

    return count;
}

static sinew_status map_body(sn_island *island, sn_island_body *member, const int32_t *tie_of_row) {
    const sn_bsr *pattern = member->pattern;
    member->target_starts = SN_PUSH(&island->arena, int32_t, pattern->blocks + 1);
    SN_TRY(sn_arena_status(&island->arena));

    // Two passes: count, then fill.
    for (int pass = 0; pass < 2; pass++) {
        int32_t total = 0;
        for (int32_t i = 0; i < pattern->rows; i++) {
            for (int32_t k = pattern->starts[i]; k < pattern->starts[i + 1]; k++) {
                sn_block_target found[2 * SN_MAX_ELEMENT_NODES * SN_MAX_ELEMENT_NODES];
                int32_t count = 0;
                int32_t j = pattern->columns[k];

                if (j <= i) {
                    sn_carriers row = carriers_of(island, tie_of_row, member->first_row + i);
                    sn_carriers column = carriers_of(island, tie_of_row, member->first_row + j);
                    count = find_targets(found, island->pattern, &row, &column, i == j);
                }

                if (pass == 1) {
                    memcpy(member->targets + total, found, (size_t)count * sizeof *found);
                }

                member->target_starts[k] = total;
                total += count;
            }
        }

        member->target_starts[pattern->blocks] = total;
        if (pass == 0) {
            member->targets = SN_PUSH(&island->arena, sn_block_target, total);
        }

        SN_TRY(sn_arena_status(&island->arena));
    }

    return SINEW_OK;
}

static sinew_status build_pattern(sn_island *island, sn_arena *scratch) {
    int32_t *tie_of_row;
    SN_TRY(push_tie_of_row(island, scratch, &tie_of_row));

    // Rows that are coupled: within each body, by links, and by contact.
    int32_t list_count = island->body_count + 2;
    sn_bsr_sets *lists = SN_PUSH(scratch, sn_bsr_sets, list_count);
    SN_TRY(sn_arena_status(scratch));
    for (int32_t i = 0; i < list_count; i++) {
        set_list sets = {0};
        if (i < island->body_count) {
            SN_TRY(push_body_sets(island, &island->bodies[i], tie_of_row, scratch, &sets));
        } else if (i == island->body_count) {
            SN_TRY(push_link_sets(island, scratch, &sets));
        }

        lists[i] =
            (sn_bsr_sets){.count = sets.count, .offsets = sets.offsets, .members = sets.members};
    }

    if (island->contact) {
        lists[list_count - 1] = island->contact->sets;
    }

    // One pattern for all, and where the blocks of each body go in it.
    SN_TRY(sn_bsr_build(&island->arena, island->rows, lists, list_count, &island->own_pattern));
    island->pattern = &island->own_pattern;

    for (int32_t i = 0; i < island->body_count; i++) {
        SN_TRY(map_body(island, &island->bodies[i], tie_of_row));
    }

    return SINEW_OK;
}

sinew_status sn_coupling_build_pattern(sn_island *island) {
    sn_arena scratch = sn_arena_create(island->world->context);
    sinew_status status = build_pattern(island, &scratch);
    sn_arena_destroy(&scratch);
    return status;
}

void sn_coupling_add_matrix(sn_island *island, const sn_island_body *member) {
    const sn_bsr *pattern = member->pattern;
    for (int32_t k = 0; k < pattern->blocks; k++) {
        const double *block = member->matrix + 9 * (size_t)k;
        for (int32_t t = member->target_starts[k]; t < member->target_starts[k + 1]; t++) {
            sn_block_target target = member->targets[t];
            double *out = island->A + 9 * (size_t)target.slot;
            for (int i = 0; i < 3; i++) {
                for (int j = 0; j < 3; j++) {
                    out[3 * i + j] +=
                        target.weight * block[target.transposed ? 3 * j + i : 3 * i + j];
                }
            }
        }
    }
}
