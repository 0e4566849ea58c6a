// Keeps BLAS on the calling thread: the engine's own pool does the parallel work, and results must
// not depend on a number of threads.
#ifndef SN_LINALG_BLAS_H
#define SN_LINALG_BLAS_H

#if defined(SN_WITH_OPENBLAS)
int openblas_get_num_threads(void);
void openblas_set_num_threads(int threads);

// Returns the value that sn_blas_leave needs to restore the host's setting.
static inline int sn_blas_enter(void) {
    int threads = openblas_get_num_threads();
    if (threads != 1) {
        openblas_set_num_threads(1);
    }
    return threads;
}

static inline void sn_blas_leave(int threads) {
    if (threads != 1) {
        openblas_set_num_threads(threads);
    }
}
#else
static inline int sn_blas_enter(void) {
    return 1;
}

static inline void sn_blas_leave(int threads) {
    (void)threads;
}
#endif

#endif
