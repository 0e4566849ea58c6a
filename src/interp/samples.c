// Packs samples into blocks, and maps pairs of controls to matrix blocks. Linear in samples x
// width^2.
#include "interp/samples.h"

// Copies one sample into a lane, controls ascending (insertion sort: a dozen items at most for
// elements).
static void pack_lane(sn_samples *samples, int32_t block, int32_t lane,
                      const sn_samples_input *input, int32_t sample) {
    int32_t width = input->width;
    const int32_t *control = input->control + (size_t)sample * (size_t)width;
    const sn_vec3 *gradient = input->gradient + (size_t)sample * (size_t)width;
    int32_t *packed_control = samples->control + (size_t)block * (size_t)width * SN_BLOCK;
    double *packed_gradient = samples->gradient + (size_t)block * (size_t)width * 3 * SN_BLOCK;

    // The rank of each control among those of the sample.
    for (int32_t c = 0; c < width; c++) {
        int32_t rank = 0;
        for (int32_t other = 0; other < width; other++) {
            rank += control[other] < control[c];
        }

        SN_ASSERT(control[c] >= 0 && control[c] < input->control_count);
        packed_control[rank * SN_BLOCK + lane] = control[c];
        packed_gradient[(3 * rank + 0) * SN_BLOCK + lane] = gradient[c].x;
        packed_gradient[(3 * rank + 1) * SN_BLOCK + lane] = gradient[c].y;
        packed_gradient[(3 * rank + 2) * SN_BLOCK + lane] = gradient[c].z;
    }
}

static bool have_same_controls(const sn_samples *samples, const int32_t *control, int32_t lane,
                               int32_t other) {
    for (int32_t c = 0; c < samples->width; c++) {
        if (control[c * SN_BLOCK + lane] != control[c * SN_BLOCK + other]) {
            return false;
        }
    }
    return true;
}

// Runs pay off if on average at least two samples share their controls.
static void find_runs(sn_samples *samples, int32_t block) {
    const int32_t *control = samples->control + (size_t)block * (size_t)samples->width * SN_BLOCK;
    int8_t *end = samples->run_end + (size_t)block * SN_BLOCK;
    int32_t left = samples->count - block * SN_BLOCK;
    int32_t real = left < SN_BLOCK ? left : SN_BLOCK;
    int32_t runs = 0;

    if (samples->tets || samples->width > SN_SAMPLE_RUN_WIDTH) {
        return;
    }

    // Runs of consecutive samples with the same controls.
    for (int32_t begin = 0, next; begin < real; begin = next, runs++) {
        for (next = begin + 1; next < real && have_same_controls(samples, control, begin, next);) {
            next++;
        }
        end[begin] = (int8_t)next;
    }

    if (2 * runs > real) {
        end[0] = 0;
    }
}

sinew_status sn_samples_pack(sn_arena *arena, const sn_samples_input *input, sn_samples *samples) {
    SN_ASSERT(input->count > 0 && input->width > 0);
    int32_t blocks = (input->count + SN_BLOCK - 1) / SN_BLOCK;

    *samples = (sn_samples){
        .count = input->count, .blocks = blocks, .width = input->width, .plane = input->plane};
    SN_ASSERT(!input->tets || input->width == 4);
    samples->tets = input->tets;

    size_t lanes = (size_t)blocks * SN_BLOCK;
    samples->control = SN_PUSH(arena, int32_t, lanes * (size_t)input->width);
    samples->gradient = SN_PUSH(arena, double, lanes *(size_t)input->width * 3);
    samples->volume = SN_PUSH(arena, double, lanes);
    samples->run_end = SN_PUSH(arena, int8_t, lanes);
    SN_TRY(sn_arena_status(arena));

    // Padding lanes repeat the last sample, with volume 0.
    for (int32_t lane = 0; lane < blocks * SN_BLOCK; lane++) {
        int32_t sample = lane < input->count ? lane : input->count - 1;
        pack_lane(samples, lane / SN_BLOCK, lane % SN_BLOCK, input, sample);
        if (lane < input->count) {
            samples->volume[lane] = input->volume[sample];
        }
    }

    for (int32_t block = 0; block < blocks; block++) {
        find_runs(samples, block);
    }

    // A block is one "element" of width x SN_BLOCK nodes to the colouring.
    return sn_build_coloring(arena, samples->control, input->width * SN_BLOCK, blocks,
                             input->control_count, SN_SAMPLE_CHUNK, &samples->coloring);
}

sinew_status sn_samples_map(sn_arena *arena, sn_samples *samples, const sn_bsr *pattern) {
    int32_t pairs = sn_samples_slot_count(samples);
    if (pattern->blocks > INT32_MAX / 9) {
        return sn_fail(arena->context, SINEW_OUT_OF_MEMORY,
                       "%d matrix blocks exceed the index range", pattern->blocks);
    }

    // Blocks of a matrix that exceeds the cache are prefetched.
    enum { CACHED_BLOCKS = 60000 }; // four megabytes
    samples->prefetch = pattern->blocks > CACHED_BLOCKS;
    samples->slots = SN_PUSH(arena, int32_t, (size_t)samples->blocks * (size_t)pairs * SN_BLOCK);
    SN_TRY(sn_arena_status(arena));

    // Where each pair of controls goes; tets skip the diagonal.
    for (int32_t block = 0; block < samples->blocks; block++) {
        const int32_t *control =
            samples->control + (size_t)block * (size_t)samples->width * SN_BLOCK;
        int32_t *slots = samples->slots + (size_t)block * (size_t)pairs * SN_BLOCK;

        for (int32_t c = 0, pair = 0; c < samples->width; c++) {
            for (int32_t d = 0; d <= c - samples->tets; d++, pair++) {
                for (int32_t lane = 0; lane < SN_BLOCK; lane++) {
                    int32_t slot = sn_bsr_find(pattern, control[c * SN_BLOCK + lane],
                                               control[d * SN_BLOCK + lane]);
                    SN_ASSERT(slot >= 0);
                    slots[pair * SN_BLOCK + lane] = 9 * slot;
                }
            }
        }
    }

    return SINEW_OK;
}
