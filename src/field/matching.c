// Half turns between neighbours. Input: estimated frames; output: ghosts for those neighbours that
// need a half turn; see matching.h. Cost: linear.
#include "field/matching.h"

#include <string.h>

sn_quat sn_nearest_half_turn(sn_quat q, sn_quat wanted) {
    // wanted . (q g) = (q* wanted) . g: the components of q* wanted are the four products.
    sn_quat p = sn_quat_mul(sn_quat_conjugate(q), wanted);
    double ax = fabs(p.x);
    double ay = fabs(p.y);
    double az = fabs(p.z);
    double aw = fabs(p.w);

    // The largest component decides.
    if (aw >= ax && aw >= ay && aw >= az) {
        return (sn_quat){0, 0, 0, copysign(1, p.w)};
    }
    if (az >= ax && az >= ay) {
        return (sn_quat){0, 0, copysign(1, p.z), 0};
    }
    if (ay >= ax) {
        return (sn_quat){0, copysign(1, p.y), 0, 0};
    }

    return (sn_quat){copysign(1, p.x), 0, 0, 0};
}

static sn_quat load(const double *x) {
    return (sn_quat){x[0], x[1], x[2], x[3]};
}

static void store(double *x, sn_quat q) {
    memcpy(x, &q, sizeof q);
}

// ---- Construction -------------------------------------------------------------------------------

// For each unknown, the equivalent frame that is nearest to that of the neighbour from which it is
// first reached.
static sinew_status choose_frames(const sn_sparse *G, sn_quat *frames, sn_arena *scratch) {
    int32_t n = G->rows;
    int32_t *queue = SN_PUSH(scratch, int32_t, n);
    bool *reached = SN_PUSH(scratch, bool, n);

    SN_TRY(sn_arena_status(scratch));
    for (int32_t seed = 0; seed < n; seed++) {
        if (reached[seed]) {
            continue;
        }

        // Breadth-first search; each unknown adapts to the neighbour that reaches it.
        int32_t head = 0, tail = 0;
        queue[tail++] = seed;
        reached[seed] = true;

        while (head < tail) {
            int32_t i = queue[head++];
            for (int32_t k = G->starts[i]; k < G->starts[i + 1]; k++) {
                int32_t j = G->indices[k];
                if (reached[j]) {
                    continue;
                }

                reached[j] = true;
                frames[j] = sn_quat_mul(frames[j], sn_nearest_half_turn(frames[j], frames[i]));
                queue[tail++] = j;
            }
        }
    }

    return SINEW_OK;
}

static bool is_one(sn_quat h) {
    return h.w > 0.5;
}

// Assigns a ghost to each entry of G that needs a half turn; if matching->sources == NULL it only
// counts them.
static void assign_ghosts(const sn_sparse *G, sn_matching *matching) {
    matching->ghost_count = 0;
    for (int32_t i = 0; i < G->rows; i++) {
        for (int32_t k = G->starts[i]; k < G->starts[i + 1]; k++) {
            int32_t j = G->indices[k];
            sn_quat h = sn_nearest_half_turn(matching->frames[j], matching->frames[i]);
            if (is_one(h)) {
                continue;
            }

            if (matching->sources != NULL) {
                matching->sources[matching->ghost_count] = j;
                matching->half_turns[matching->ghost_count] = h;
                matching->G.indices[k] = matching->n + matching->ghost_count;
            }

            matching->ghost_count++;
        }
    }
}

// The column that row `row` of G has for `unknown`, a neighbour or itself.
static int32_t find_column(const sn_sparse *G, const sn_matching *matching, int32_t row,
                           int32_t unknown) {
    int32_t k = G->starts[row];
    while (G->indices[k] != unknown) {
        k++;
    }
    SN_ASSERT(k < G->starts[row + 1]);
    return matching->G.indices[k];
}

static void match_rows(const sn_sparse *G, const sn_constraints *rows, sn_matching *matching) {
    for (int32_t r = 0; r < rows->count; r++) {
        int32_t first = rows->unknowns[rows->starts[r]];
        matching->row_frames[r] = matching->frames[first];
        for (int32_t k = rows->starts[r]; k < rows->starts[r + 1]; k++) {
            matching->rows.unknowns[k] = find_column(G, matching, first, rows->unknowns[k]);
        }
    }
}

sinew_status sn_matching_build(sn_arena *arena, const sn_smoothing *smoothing,
                               const sn_constraints *rows, sn_quat *frames, sn_matching *matching) {
    const sn_sparse *G = &smoothing->G;
    size_t n = (size_t)G->rows;
    size_t entries = (size_t)sn_sparse_entry_count(G);
    size_t uses = (size_t)rows->starts[rows->count];

    // Choose the frames, then count the ghosts they need.
    *matching = (sn_matching){.n = G->rows, .frames = frames, .G = *G, .rows = *rows};
    sn_arena scratch = sn_arena_create(arena->context);
    sinew_status status = choose_frames(G, frames, &scratch);

    sn_arena_destroy(&scratch);
    SN_TRY(status);
    assign_ghosts(G, matching);

    // Allocate and assign the ghosts.
    size_t ghosts = (size_t)matching->ghost_count;
    matching->G.columns += matching->ghost_count;
    matching->G.indices = SN_PUSH(arena, int32_t, entries);
    matching->sources = SN_PUSH(arena, int32_t, ghosts);
    matching->half_turns = SN_PUSH(arena, sn_quat, ghosts);
    matching->positions = SN_PUSH(arena, sn_vec3, n + ghosts);
    matching->rows.unknowns = SN_PUSH(arena, int32_t, uses);
    matching->row_frames = SN_PUSH(arena, sn_quat, rows->count);
    SN_TRY(sn_arena_status(arena));
    memcpy(matching->G.indices, G->indices, entries * sizeof(int32_t));
    memcpy(matching->positions, smoothing->positions, n * sizeof(sn_vec3));
    assign_ghosts(G, matching);

    // A ghost has the position of its unknown.
    for (size_t g = 0; g < ghosts; g++) {
        matching->positions[n + g] = matching->positions[matching->sources[g]];
    }

    match_rows(G, rows, matching);
    return SINEW_OK;
}

int32_t sn_matching_count_changes(const sn_matching *matching, double *x) {
    const sn_sparse *G = &matching->G;
    int32_t changes = 0;

    sn_matching_fill(matching, x, 4);
    for (int32_t i = 0; i < G->rows; i++) {
        for (int32_t k = G->starts[i]; k < G->starts[i + 1]; k++) {
            int32_t j = G->indices[k];
            int32_t unknown = j < matching->n ? j : matching->sources[j - matching->n];
            if (unknown > i) {
                changes +=
                    !is_one(sn_nearest_half_turn(load(x + 4 * (size_t)j), load(x + 4 * (size_t)i)));
            }
        }
    }

    return changes;
}

// |target - sum of weights x|^2
static double squared_rest(sn_quat target, const double *x, const int32_t *columns,
                           const double *weights, int32_t count) {
    for (int32_t k = 0; k < count; k++) {
        target = sn_quat_add(target, sn_quat_scale(-weights[k], load(x + 4 * (size_t)columns[k])));
    }
    return sn_quat_dot(target, target);
}

double sn_matching_energy(const sn_smoothing *smoothing, const sn_matching *matching,
                          const double *values, double *x) {
    const sn_sparse *G = &matching->G;
    const sn_constraints *rows = &matching->rows;
    double energy = 0;

    sn_matching_fill(matching, x, 4);

    // |D^-1 G x|^2
    for (int32_t i = 0; i < G->rows; i++) {
        int32_t begin = G->starts[i];
        int32_t count = G->starts[i + 1] - begin;
        double scale = smoothing->inverse_degrees[i];
        energy += scale * scale *
                  squared_rest((sn_quat){0}, x, G->indices + begin, G->values + begin, count);
    }

    // |C x - c|^2
    for (int32_t r = 0; r < rows->count; r++) {
        int32_t begin = rows->starts[r];
        int32_t count = rows->starts[r + 1] - begin;
        energy += squared_rest(load(values + 4 * (size_t)r), x, rows->unknowns + begin,
                               rows->weights + begin, count);
    }

    return energy;
}

// ---- Ghosts -------------------------------------------------------------------------------------

void sn_matching_fill(const sn_matching *matching, double *x, size_t width) {
    if (matching == NULL) {
        return;
    }

    for (int32_t g = 0; g < matching->ghost_count; g++) {
        const double *from = x + width * (size_t)matching->sources[g];
        double *to = x + width * (size_t)(matching->n + g);
        for (size_t c = 0; c < width; c += 4) {
            store(to + c, sn_quat_mul(load(from + c), matching->half_turns[g]));
        }
    }
}

void sn_matching_clear(const sn_matching *matching, double *x, size_t width) {
    if (matching == NULL) {
        return;
    }
    memset(x + width * (size_t)matching->n, 0,
           width * (size_t)matching->ghost_count * sizeof(double));
}

void sn_matching_fold(const sn_matching *matching, double *x, size_t width) {
    if (matching == NULL) {
        return;
    }

    for (int32_t g = 0; g < matching->ghost_count; g++) {
        const double *from = x + width * (size_t)(matching->n + g);
        double *to = x + width * (size_t)matching->sources[g];
        sn_quat back = sn_quat_conjugate(matching->half_turns[g]);
        for (size_t c = 0; c < width; c += 4) {
            store(to + c, sn_quat_add(load(to + c), sn_quat_mul(load(from + c), back)));
        }
    }
}

void sn_matching_enter(const sn_matching *matching, double *z, const double *r) {
    for (size_t i = 0; i < (size_t)matching->n; i++) {
        store(z + 4 * i, sn_quat_mul(load(r + 4 * i), sn_quat_conjugate(matching->frames[i])));
    }
}

void sn_matching_leave(const sn_matching *matching, double *z) {
    for (size_t i = 0; i < (size_t)matching->n; i++) {
        store(z + 4 * i, sn_quat_mul(load(z + 4 * i), matching->frames[i]));
    }
}
