// Specks: small parts that voxelisation cuts off from the rest, such as the tip of an ear that
// hangs on by a corner. They would need frames of their own, so they are dropped, or joined to the
// rest.
//
// Joining searches outwards from a speck, cell by cell, until it meets a part that stays, and fills
// the cells on the way back with the speck's label. The search visits cells in a fixed order.
#include "geom/voxel/voxel.h"

#include <string.h>

typedef struct specks {
    const sinew_voxels *voxels;
    const int32_t *part; // of each voxel
    const int32_t *size; // voxels of each part
    const bool *speck;   // of each part
    uint16_t *labels;    // of each cell of the new grid
    int32_t *from;       // of each cell: where the search came from; -1: not visited
    int32_t *queue;      // cells in the order of the search
} specks;

static int32_t part_of_cell(const specks *s, int32_t cell) {
    int32_t c[3];
    sn_cell_coordinates(s->voxels->cells, cell, c);
    int32_t voxel = sn_voxel_at(s->voxels, c[0], c[1], c[2]);
    return voxel < 0 ? -1 : s->part[voxel];
}

// The cell on the other side of a face, or -1 at the border of the grid.
static int32_t next_cell(const int32_t cells[3], int32_t cell, int face) {
    int32_t c[3];
    sn_cell_coordinates(cells, cell, c);
    int axis = face / 2;
    c[axis] += face % 2 ? 1 : -1;
    if (c[axis] < 0 || c[axis] >= cells[axis]) {
        return -1;
    }
    return (c[2] * cells[1] + c[1]) * cells[0] + c[0];
}

// Joins one speck, whose voxels begin the queue. Returns the number of cells that were filled.
static int32_t join_speck(specks *s, int32_t speck, uint16_t label) {
    int32_t end = s->size[speck];
    int32_t met = -1;
    for (int32_t i = 0; i < end; i++) {
        s->from[s->queue[i]] = s->queue[i];
    }

    // Breadth first, until a part that stays is met.
    for (int32_t begin = 0; begin < end && met < 0; begin++) {
        for (int face = 0; face < SN_VOXEL_FACES && met < 0; face++) {
            int32_t cell = next_cell(s->voxels->cells, s->queue[begin], face);
            if (cell < 0 || s->from[cell] >= 0) {
                continue;
            }

            s->from[cell] = s->queue[begin];
            s->queue[end++] = cell;
            int32_t part = part_of_cell(s, cell);
            if (part >= 0 && !s->speck[part]) {
                met = cell;
            }
        }
    }

    // The way back. Cells of other specks on it keep their labels.
    int32_t filled = 0;
    if (met >= 0) {
        for (int32_t cell = s->from[met]; s->from[cell] != cell; cell = s->from[cell]) {
            if (s->labels[cell] == 0) {
                s->labels[cell] = label;
                filled++;
            }
        }
    }

    for (int32_t i = 0; i < end; i++) {
        s->from[s->queue[i]] = -1;
    }
    return filled;
}

static sinew_status join_specks(specks *s, int32_t part_count, sn_arena *scratch, int32_t *filled) {
    // The voxels of all specks, speck by speck.
    int32_t *end = SN_PUSH(scratch, int32_t, part_count);
    int32_t total = 0;
    if (end) {
        for (int32_t i = 0; i < part_count; i++) {
            end[i] = total;
            total += s->speck[i] ? s->size[i] : 0;
        }
    }

    int32_t *member = SN_RESERVE(scratch, int32_t, total);
    SN_TRY(sn_arena_status(scratch));
    for (int32_t v = 0; v < s->voxels->count; v++) {
        if (s->speck[s->part[v]]) {
            member[end[s->part[v]]++] = v;
        }
    }

    *filled = 0;
    for (int32_t i = 0; i < part_count; i++) {
        if (!s->speck[i]) {
            continue;
        }

        const int32_t *first = member + end[i] - s->size[i];
        for (int32_t k = 0; k < s->size[i]; k++) {
            s->queue[k] = s->voxels->cell[first[k]];
        }
        *filled += join_speck(s, i, s->voxels->label[first[0]]);
    }
    return SINEW_OK;
}

// Copies what voxels carry beside their label to the new grid; cells that were filled are full.
static sinew_status copy_values(const sinew_voxels *from, sinew_voxels *to) {
    double *const sources[] = {from->stiffness, from->density, from->fill};
    double **const targets[] = {&to->stiffness, &to->density, &to->fill};
    for (int k = 0; k < 3; k++) {
        if (!sources[k]) {
            continue;
        }

        double *values = SN_RESERVE(&to->arena, double, to->count);
        SN_TRY(sn_arena_status(&to->arena));
        for (int32_t v = 0; v < to->count; v++) {
            int32_t c[3];
            sn_cell_coordinates(to->cells, to->cell[v], c);
            int32_t old = sn_voxel_at(from, c[0], c[1], c[2]);
            values[v] = old < 0 ? 1 : sources[k][old];
        }
        *targets[k] = values;
    }

    to->shape_volume = from->shape_volume;
    return SINEW_OK;
}

// Marks the parts below the share; the largest part is never a speck.
static void mark_specks(const int32_t *size, int32_t part_count, double least, bool *speck,
                        sinew_speck_report *report) {
    int32_t largest = 0;
    for (int32_t i = 1; i < part_count; i++) {
        if (size[i] > size[largest]) {
            largest = i;
        }
    }

    for (int32_t i = 0; i < part_count; i++) {
        speck[i] = i != largest && size[i] < least;
        if (speck[i]) {
            report->count++;
            report->voxels += size[i];
        }
    }
}

static sinew_status make_grid(specks *s, sinew_specks how, int32_t part_count, sn_arena *scratch,
                              sinew_speck_report *report, sinew_voxels **made) {
    const sinew_voxels *voxels = s->voxels;
    size_t cells = (size_t)voxels->cells[0] * (size_t)voxels->cells[1] * (size_t)voxels->cells[2];
    s->labels = SN_PUSH(scratch, uint16_t, cells);
    if (how == SINEW_SPECKS_JOIN) {
        s->from = SN_RESERVE(scratch, int32_t, cells);
        s->queue = SN_RESERVE(scratch, int32_t, cells);
    }
    SN_TRY(sn_arena_status(scratch));

    // The labels without specks, or with all of them.
    for (int32_t v = 0; v < voxels->count; v++) {
        bool keep = how == SINEW_SPECKS_JOIN || !s->speck[s->part[v]];
        s->labels[voxels->cell[v]] = keep ? voxels->label[v] : 0;
    }
    if (how == SINEW_SPECKS_JOIN) {
        memset(s->from, -1, cells * sizeof *s->from);
        SN_TRY(join_specks(s, part_count, scratch, &report->added));
    }

    // A new grid that keeps the values of the voxels it shares with the old one.
    SN_TRY(sn_voxels_create(voxels->context, voxels->cells, voxels->spacing, voxels->lower,
                            s->labels, SIZE_MAX, made));
    sinew_status status = copy_values(voxels, *made);
    if (status != SINEW_OK) {
        sinew_voxels_destroy(*made);
    }
    return status;
}

sinew_status sinew_voxels_settle_specks(sinew_voxels **voxels, sinew_specks how, double share,
                                        sinew_speck_report *report) {
    SN_NEED(NULL, voxels && *voxels);

    sinew_context *context = (*voxels)->context;
    if (how != SINEW_SPECKS_DROP && how != SINEW_SPECKS_JOIN) {
        return sn_fail(context, SINEW_INVALID_ARGUMENT,
                       "specks are dropped (0) or joined (1), not %d", (int)how);
    }
    if (!(share >= 0 && share <= 1)) {
        return sn_fail(context, SINEW_INVALID_ARGUMENT,
                       "specks below a share of %g of the voxels; valid: 0 to 1", share);
    }

    // The parts and their sizes.
    sn_arena scratch = sn_arena_create(context);
    int32_t *part = NULL, part_count = 0;
    sinew_status status = sn_voxel_parts(*voxels, &scratch, NULL, &part, &part_count);
    int32_t *size = SN_PUSH(&scratch, int32_t, part_count);
    bool *speck = SN_PUSH(&scratch, bool, part_count);
    if (status == SINEW_OK) {
        status = sn_arena_status(&scratch);
    }

    sinew_speck_report found = {0};
    if (status == SINEW_OK) {
        for (int32_t v = 0; v < (*voxels)->count; v++) {
            size[part[v]]++;
        }
        mark_specks(size, part_count, share * (*voxels)->count, speck, &found);
    }

    // A new grid in place of the old one, if there is anything to do.
    if (status == SINEW_OK && found.count > 0) {
        specks s = {.voxels = *voxels, .part = part, .size = size, .speck = speck};
        sinew_voxels *made;
        status = make_grid(&s, how, part_count, &scratch, &found, &made);
        if (status == SINEW_OK) {
            sinew_voxels_destroy(*voxels);
            *voxels = made;
        }
    }

    sn_arena_destroy(&scratch);
    if (status == SINEW_OK && report) {
        *report = found;
    }
    return status;
}
