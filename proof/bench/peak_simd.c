// Independent chains of multiply-adds that stay in registers: enough of them to hide the latency.
#include "bench/peak.h"

#include "math/simd.h"

enum { CHAINS = 12 };

// Two flops per lane, chain and round. The sum keeps the compiler from removing the work.
double SN_ISA_NAME(peak_multiply_add)(int64_t rounds) {
    sn_lanes a[CHAINS];
    sn_lanes factor = sn_lanes_all(0.999999);
    sn_lanes term = sn_lanes_all(1e-6);

    for (int k = 0; k < CHAINS; k++) {
        a[k] = sn_lanes_all(k);
    }

    for (int64_t i = 0; i < rounds; i++) {
        for (int k = 0; k < CHAINS; k++) {
            a[k] = sn_lanes_fma(a[k], factor, term);
        }
    }

    sn_lanes sum = a[0];
    for (int k = 1; k < CHAINS; k++) {
        sum += a[k];
    }

    double lanes[SN_LANES], total = 0;
    sn_lanes_store(lanes, sum);
    for (int l = 0; l < SN_LANES; l++) {
        total += lanes[l];
    }

    // Returns the number of flops as well, because the number of lanes is known only here.
    return total > -1 ? 2.0 * SN_LANES * CHAINS * (double)rounds : 0;
}
