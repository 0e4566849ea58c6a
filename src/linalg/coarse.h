// The coarse level of pcg-multigrid: a few dozen frames, each a rigid translation and rotation,
// that move the whole body.
//
// Rows are gathered around seeds that are far apart in the graph. Averaging over neighbours turns
// the membership into smooth weights w that sum to one, so every rigid motion of the whole body
// lies in the coarse space. Frame a moves row i by
//
//   u_i = sum_a w_ia (t_a + omega_a x (x_i - c_a))       (u = P c)
//
// Added to an incomplete factor, P (P'AP)^-1 P'r removes the long-wave part of the error, which the
// factor hardly reduces. Components whose rows in A are decoupled (prescribed values) do not move.
#ifndef SN_LINALG_COARSE_H
#define SN_LINALG_COARSE_H

#include "linalg/packed.h"

// A fourth frame per row would save one iteration in fifteen, and cost more than that.
enum { SN_COARSE_SLOTS = 3, SN_COARSE_STRIDE = 4, SN_COARSE_MAX_FRAMES = 128 };

// The rows of a chunk over which P'BP is summed, and the range of pairs of frames they involve.
// Chunks are consecutive rows, so each involves few pairs.
typedef struct sn_coarse_chunk {
    int32_t first_pair, pairs;
    double *partial; // pairs x 48: six rows of eight (translation, 0, rotation, 0)
} sn_coarse_chunk;

typedef struct sn_coarse {
    const sn_packed *packed;
    int32_t frames; // 0: the matrix is too small for a coarse level
    // By packed row.
    double *row_position; // four per row, relative to the middle
    float *position;      // the same
    uint8_t *free;        // the free components as bits
    uint8_t *frame;       // three slots per row, from four to four
    float *weight;        // as `frame`; zero in empty slots, which come last
    // P'AP = P'BP + (P'BP)' with B the lower triangle of A and half its diagonal. For each row
    // there is a list of the frames that have a weight in the row or in a neighbour below the
    // diagonal, and for each of these frames the blocks of the row whose columns have a weight for
    // it.
    int32_t *row_starts; // rows + 1
    uint8_t *row_frames;
    int32_t *entry_starts; // one for each of the above, and one
    uint16_t *entry_block; // counted from the first block below the diagonal
    float *entry_weight;
    int32_t pairs;    // ordered pairs of frames that are coupled
    int32_t *pair;    // frames x frames: index of the pair (a, b), -1 if none
    double *sum;      // pairs x 48
    double *products; // chunks x longest row x 24
    sn_coarse_chunk *chunk;
    int32_t chunks, chunk_rows, longest;
    // The coarse system.
    double *center; // four per frame
    double *matrix; // Cholesky factor of P'AP about the centres, 6 frames square
    double *motion; // frames x 8: sums of forces, then the motion
    double *vector; // 6 frames
    bool usable;    // of the last update
} sn_coarse;

// Symbolic phase.
sinew_status sn_coarse_build(sn_arena *arena, const sn_bsr *pattern, const sn_packed *packed,
                             sn_coarse *coarse);

// Forms and factors P'AP for the values in the packed matrix. `positions` are three per row in the
// original order; if NULL, frames only translate.
void sn_coarse_update(sinew_context *context, sn_coarse *coarse, const double *positions);

// The first half of z += P (P'AP)^-1 P'r in the packed order: computes the motion of the frames, on
// the calling thread. Returns the contribution to r'z.
double sn_coarse_solve(const sn_coarse *coarse, const double *r);

// The second half: adds the motion to z.
void sn_coarse_move(sinew_context *context, double *z, const sn_coarse *coarse);

#endif
