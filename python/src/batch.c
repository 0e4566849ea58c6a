// Many worlds or scenes, each with a context of its own, stepped by several threads.
//
// SPDX-License-Identifier: Apache-2.0
#include "core.h"

#include <pthread.h>
#include <stdatomic.h>
#include <string.h>

enum { MOST_THREADS = 64 };

/// One world or scene of a batch, and how its last step ended.
typedef struct batch_item {
    handle *owner;
    bool is_scene;
    sinew_status status;
} batch_item;

typedef struct batch {
    batch_item *items;
    Py_ssize_t count;
    int64_t steps;
    atomic_llong next; ///< The next item that nobody has begun.
} batch;

static void step_item(batch_item *item, int64_t steps) {
    void *pointer = item->owner->pointer;
    for (int64_t i = 0; i < steps; i++) {
        item->status =
            item->is_scene ? sinew_scene_step(pointer, NULL) : sinew_world_step(pointer, NULL);
        if (item->status != SINEW_OK) {
            return;
        }
    }
}

/// Takes items until none is left. Each is stepped by one thread, so the bits are those of one
/// thread.
static void *work(void *data) {
    batch *self = data;
    for (;;) {
        long long i = atomic_fetch_add(&self->next, 1);
        if (i >= self->count) {
            return NULL;
        }
        step_item(&self->items[i], self->steps);
    }
}

static void run(batch *self, int threads) {
    pthread_t others[MOST_THREADS];
    int started = 0;
    while (started + 1 < threads && pthread_create(&others[started], NULL, work, self) == 0) {
        started++;
    }
    work(self);
    for (int i = 0; i < started; i++) {
        pthread_join(others[i], NULL);
    }
}

/// Checks one object and marks its context as in use, which finds contexts that occur twice.
static bool take_item(PyObject *object, Py_ssize_t index, batch_item *item) {
    bool is_scene = handle_check(object) && strcmp(((handle *)object)->kind->name, "Scene") == 0;
    bool is_world = handle_check(object) && strcmp(((handle *)object)->kind->name, "World") == 0;
    if (!is_scene && !is_world) {
        PyErr_Format(PyExc_TypeError, "item %zd: expected a World or a Scene, got %R", index,
                     (PyObject *)Py_TYPE(object));
        return false;
    }
    handle *owner = (handle *)object;
    void *pointer = NULL;
    if (owner->root->busy && handle_is_alive(owner)) {
        PyErr_Format(PyExc_ValueError,
                     "item %zd has the same context as another one, or its context is in use; give "
                     "each its own",
                     index);
        return false;
    }
    if (!handle_get_self(object, &pointer)) {
        return false;
    }
    owner->root->busy = true;
    *item = (batch_item){owner, is_scene, SINEW_OK};
    return true;
}

/// step_all(worlds, steps, threads): advances all of them. Raises what the first one that failed
/// says.
PyObject *batch_step_all(PyObject *module, PyObject *arguments) {
    (void)module;
    PyObject *list = NULL;
    long long steps = 0;
    int threads = 0;
    if (!PyArg_ParseTuple(arguments, "O!Li", &PyList_Type, &list, &steps, &threads)) {
        return NULL;
    }
    if (steps < 0 || threads < 1 || threads > MOST_THREADS) {
        PyErr_Format(PyExc_ValueError, "steps must be at least 0, threads in [1, %d]",
                     MOST_THREADS);
        return NULL;
    }

    batch self = {.count = PyList_Size(list), .steps = steps};
    self.items = PyMem_Calloc((size_t)self.count + 1, sizeof *self.items);
    if (!self.items) {
        return PyErr_NoMemory();
    }
    Py_ssize_t taken = 0;
    while (taken < self.count &&
           take_item(PyList_GetItem(list, taken), taken, &self.items[taken])) {
        Py_INCREF((PyObject *)self.items[taken].owner);
        taken++;
    }

    if (taken == self.count) {
        Py_BEGIN_ALLOW_THREADS;
        run(&self, threads);
        Py_END_ALLOW_THREADS;
    }

    // The first failure is raised; the others keep their last accepted state.
    bool failed = taken < self.count || callback_raise_kept();
    for (Py_ssize_t i = 0; i < taken; i++) {
        const batch_item *item = &self.items[i];
        item->owner->root->busy = false;
        if (!failed && item->status != SINEW_OK) {
            char name[48];
            PyOS_snprintf(name, sizeof name, "item %lld", (long long)i);
            errors_raise(item->status, item->owner->root, name);
            failed = true;
        }
        Py_DECREF((PyObject *)item->owner);
    }
    PyMem_Free(self.items);
    return failed ? NULL : Py_NewRef(Py_None);
}
