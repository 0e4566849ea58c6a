// Estimates how much of a large grid is inside, from a coarse grid over the same box; see
// voxel_coarse.h.
#include "geom/voxel/voxel_coarse.h"

#include "base/memory.h"

enum { COARSE = 64, SMALL = 1 << 24 };

// Whether a cell and all that touch it are inside.
static bool is_deep(const sn_grid_frame *frame, const uint16_t *labels, int32_t x, int32_t y,
                    int32_t z) {
    const int32_t *n = frame->cells;
    for (int32_t k = z - 1; k <= z + 1; k++) {
        for (int32_t j = y - 1; j <= y + 1; j++) {
            for (int32_t i = x - 1; i <= x + 1; i++) {
                if (i < 0 || j < 0 || k < 0 || i >= n[0] || j >= n[1] || k >= n[2]) {
                    return false;
                }
                if (!labels[((size_t)k * (size_t)n[1] + (size_t)j) * (size_t)n[0] + (size_t)i]) {
                    return false;
                }
            }
        }
    }

    return true;
}

static double deep_share(const sn_grid_frame *frame, const uint16_t *labels) {
    const int32_t *n = frame->cells;
    int32_t deep = 0;
    for (int32_t z = 0; z < n[2]; z++) {
        for (int32_t y = 0; y < n[1]; y++) {
            for (int32_t x = 0; x < n[0]; x++) {
                deep += is_deep(frame, labels, x, y, z);
            }
        }
    }

    return deep / ((double)n[0] * n[1] * n[2]);
}

sinew_status sn_check_inside(sinew_context *context, const sn_grid_frame *frame,
                             size_t memory_limit, sn_fill_grid *fill, void *data) {
    // A coarse grid over the same box.
    sn_grid_frame coarse = *frame;
    int64_t cells[3];
    for (int a = 0; a < 3; a++) {
        cells[a] = frame->cells[a];
        if (frame->cells[a] > COARSE) {
            coarse.cells[a] = COARSE;
        }
        coarse.spacing[a] = frame->spacing[a] * frame->cells[a] / coarse.cells[a];
    }

    if (cells[0] * cells[1] * cells[2] < SMALL) {
        return SINEW_OK;
    }

    // Fill it and extrapolate the share of inside cells.
    size_t count = (size_t)coarse.cells[0] * (size_t)coarse.cells[1] * (size_t)coarse.cells[2];
    uint16_t *labels = sn_allocate(context, count, sizeof *labels);
    if (!labels) {
        return SINEW_OUT_OF_MEMORY;
    }

    sinew_status status = fill(data, &coarse, labels);
    double inside = status == SINEW_OK ? deep_share(&coarse, labels) : 0;

    sn_release(context, labels, count, sizeof *labels);
    return status == SINEW_OK ? sn_check_cells(context, cells, inside, memory_limit) : status;
}
