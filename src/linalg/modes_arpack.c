// Modes by ARPACK: shift and invert (mode 3) through its reverse communication.
#include "linalg/modes_problem.h"

#if defined(SN_WITH_LAPACK)

#include "linalg/blas.h"

#include "base/random.h"

#include <arpack/arpack.h>

#include <pthread.h>
#include <string.h>

// ARPACK keeps its state between calls in variables of its own, one set for the whole process, so
// that only one thread may be in it. The lock is no state of this library: it guards theirs.
static pthread_mutex_t arpack_lock = PTHREAD_MUTEX_INITIALIZER;

typedef struct workspace {
    int32_t vectors; // of the basis
    double *basis, *residual, *work, *small_work, *values;
    a_int *select;
    int32_t small_size;
} workspace;

static sinew_status allocate(sn_arena *arena, const sn_modes_problem *p, workspace *w) {
    int32_t wanted = 2 * p->def->count + 20;
    w->vectors = wanted < p->free ? wanted : p->free;
    w->small_size = w->vectors * (w->vectors + 8);
    w->basis = SN_PUSH(arena, double, (size_t)p->n *(size_t)w->vectors);
    w->residual = SN_PUSH(arena, double, p->n);
    w->work = SN_PUSH(arena, double, 3 * (size_t)p->n);
    w->small_work = SN_PUSH(arena, double, w->small_size);
    w->values = SN_PUSH(arena, double, w->vectors);
    w->select = SN_PUSH(arena, a_int, w->vectors);

    return sn_arena_status(arena);
}

// Runs the iteration and extracts what has converged; returns how many. ARPACK's own start vector
// would depend on earlier calls.
static int32_t iterate(sn_modes_problem *p, workspace *w, double *vectors) {
    enum { START_GIVEN = 1, SHIFT_INVERT = 3, MAX_RESTARTS = 300 };
    a_int request = 0;
    a_int info = START_GIVEN;
    a_int place[14] = {0};
    a_int parameters[11] = {[0] = 1, [2] = MAX_RESTARTS, [3] = 1, [6] = SHIFT_INVERT};
    sn_random random = sn_random_seed(1);

    for (int32_t k = 0; k < p->n; k++) {
        double start = sn_random_range(&random, -1, 1);
        w->residual[k] = p->def->mask && p->def->mask[k] ? 0 : start;
    }

    for (;;) {
        dsaupd_c(&request, "G", p->n, "LM", p->def->count, p->tolerance, w->residual, w->vectors,
                 w->basis, p->n, parameters, place, w->work, w->small_work, w->small_size, &info);

        double *x = w->work + place[0] - 1;
        double *y = w->work + place[1] - 1;
        if (request == 2) {
            sn_modes_apply_mass(p, y, x);
        } else if (request == 1 || request == -1) {
            sn_modes_apply(p, y, x);
        } else {
            break;
        }
    }

    if (info < 0 || parameters[4] < 1) {
        return 0;
    }

    int32_t found = parameters[4] < p->def->count ? parameters[4] : p->def->count;
    dseupd_c(1, "A", w->select, w->values, w->basis, p->n, p->sigma, "G", p->n, "LM", p->def->count,
             p->tolerance, w->residual, w->vectors, w->basis, p->n, parameters, place, w->work,
             w->small_work, w->small_size, &info);

    if (info != 0) {
        return 0;
    }

    memcpy(vectors, w->basis, (size_t)found * (size_t)p->n * sizeof(double));
    return found;
}

sinew_status sn_modes_arpack(sn_modes_problem *problem, double *vectors, int32_t *found) {
    *found = 0;
    sn_arena arena = sn_arena_create(problem->context);
    workspace w;
    sinew_status status = allocate(&arena, problem, &w);

    // ARPACK wants room in its basis; the smallest problems have none and are left to the other
    // method.
    if (status == SINEW_OK && w.vectors > problem->def->count + 1) {
        pthread_mutex_lock(&arpack_lock);
        int threads = sn_blas_enter();
        *found = iterate(problem, &w, vectors);
        sn_blas_leave(threads);
        pthread_mutex_unlock(&arpack_lock);
    }

    sn_arena_destroy(&arena);
    return status;
}

#endif
