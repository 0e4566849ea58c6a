// The PCG32 random numbers of O'Neill (2014): small, fast, and the same sequence on every machine.
// For tests, jitter and starting vectors.
#ifndef SN_BASE_RANDOM_H
#define SN_BASE_RANDOM_H

#include <stdint.h>

typedef struct sn_random {
    uint64_t state;
} sn_random;

static inline sn_random sn_random_seed(uint64_t seed) {
    return (sn_random){seed * 6364136223846793005u + 1442695040888963407u};
}

static inline uint32_t sn_random_u32(sn_random *random) {
    uint64_t old = random->state;
    random->state = old * 6364136223846793005u + 1442695040888963407u;
    uint32_t shifted = (uint32_t)(((old >> 18) ^ old) >> 27);
    uint32_t rotation = (uint32_t)(old >> 59);
    return (shifted >> rotation) | (shifted << ((32u - rotation) & 31u));
}

// Uniform in [0, 1).
static inline double sn_random_unit(sn_random *random) {
    return (double)sn_random_u32(random) * (1.0 / 4294967296.0);
}

// Uniform in [low, high).
static inline double sn_random_range(sn_random *random, double low, double high) {
    return low + (high - low) * sn_random_unit(random);
}

#endif
