// Handles: objects of the library, with who keeps whom alive.
//
// A handle keeps its owner alive: a body its world, a world its context. Bodies, obstacles,
// attachments and joints belong to their world and are destroyed with it; the other objects are
// destroyed with their last reference. Each handle checks on every use that it and its owners still
// exist, so that an object used after its destruction raises an exception.
//
// SPDX-License-Identifier: Apache-2.0
#include "core.h"

#include <string.h>
#include <structmember.h>

static PyObject *base_type;
static PyObject *destroyed_error;

bool handle_check(PyObject *object) {
    return PyObject_TypeCheck(object, (PyTypeObject *)base_type);
}

// Life ------------------------------------------------------------------------------------------

bool handle_is_alive(const handle *self) {
    for (const handle *h = self; h; h = h->owner) {
        if (!h->pointer) {
            return false;
        }
    }

    // An attachment ends with each of its bodies.
    Py_ssize_t count = self->partners ? PyTuple_Size(self->partners) : 0;
    for (Py_ssize_t i = 0; i < count; i++) {
        if (!handle_is_alive((const handle *)PyTuple_GetItem(self->partners, i))) {
            return false;
        }
    }
    return true;
}

static bool check_use(const handle *self) {
    if (!handle_is_alive(self)) {
        PyErr_Format(destroyed_error, "this %s, or the object it belonged to, has been destroyed",
                     self->kind->name);
        return false;
    }
    if (self->root->busy) {
        PyErr_Format(PyExc_RuntimeError,
                     "another thread is using the context of this %s; give each thread its own",
                     self->kind->name);
        return false;
    }
    return true;
}

bool handle_get_self(PyObject *self, void **pointer) {
    const handle *h = (const handle *)self;
    if (!check_use(h)) {
        return false;
    }
    *pointer = h->pointer;
    return true;
}

bool handle_get(PyObject *object, const handle_kind *kind, const char *what, void **pointer) {
    if (object == Py_None) {
        *pointer = NULL;
        return true;
    }
    const handle *h = (const handle *)object;
    if (!handle_check(object) || h->kind != kind) {
        PyErr_Format(PyExc_TypeError, "%s: expected a %s, got %R", what, kind->name,
                     (PyObject *)Py_TYPE(object));
        return false;
    }
    return handle_get_self(object, pointer);
}

void handle_export(handle *self, Py_ssize_t change) {
    for (handle *h = self; h; h = h->owner) {
        h->exports += change;
    }
}

// What children borrow --------------------------------------------------------------------------

/// Objects that must not be destroyed while another uses them.
static void count_dependents(PyObject *list, Py_ssize_t change) {
    Py_ssize_t count = list ? PyList_Size(list) : 0;
    for (Py_ssize_t i = 0; i < count; i++) {
        PyObject *item = PyList_GetItem(list, i);
        if (handle_check(item)) {
            ((handle *)item)->dependents += change;
        }
    }
}

bool handle_keep(handle *owner, void *child, PyObject *used) {
    if (!used || PyList_Size(used) == 0) {
        return true;
    }
    if (!owner->kept && !(owner->kept = PyDict_New())) {
        return false;
    }
    PyObject *key = PyLong_FromVoidPtr(child);
    if (!key) {
        return false;
    }

    // A child that borrowed something before, such as an earlier material, keeps that too.
    PyObject *before = PyDict_GetItemWithError(owner->kept, key);
    PyObject *all = before ? PySequence_Concat(before, used) : Py_NewRef(used);
    bool done = all && PyDict_SetItem(owner->kept, key, all) == 0;
    if (done) {
        count_dependents(used, 1);
    }
    Py_XDECREF(all);
    Py_DECREF(key);
    return done;
}

static void release_child(handle *owner, void *child) {
    if (!owner || !owner->kept) {
        return;
    }
    PyObject *key = PyLong_FromVoidPtr(child);
    PyObject *list = key ? PyDict_GetItemWithError(owner->kept, key) : NULL;
    if (list) {
        count_dependents(list, -1);
        PyDict_DelItem(owner->kept, key);
    }
    Py_XDECREF(key);
    PyErr_Clear();
}

static void release_children(handle *self) {
    PyObject *values = self->kept ? PyDict_Values(self->kept) : NULL;
    Py_ssize_t count = values ? PyList_Size(values) : 0;
    for (Py_ssize_t i = 0; i < count; i++) {
        count_dependents(PyList_GetItem(values, i), -1);
    }
    Py_XDECREF(values);
    Py_CLEAR(self->kept);
}

// Creation --------------------------------------------------------------------------------------

/// The living handle of a pointer, if Python has one: a new reference, or NULL.
static PyObject *find_known(const handle *root, const handle_kind *kind, PyObject *key) {
    PyObject *weak = root->known ? PyDict_GetItemWithError(root->known, key) : NULL;
    PyObject *found = weak ? PyWeakref_GetObject(weak) : NULL;
    if (!found || found == Py_None) {
        return NULL;
    }
    const handle *h = (const handle *)found;
    return h->kind == kind && handle_is_alive(h) ? Py_NewRef(found) : NULL;
}

static bool make_known(handle *root, PyObject *key, PyObject *self) {
    if (!root->known && !(root->known = PyDict_New())) {
        return false;
    }
    PyObject *weak = PyWeakref_NewRef(self, NULL);
    bool done = weak && PyDict_SetItem(root->known, key, weak) == 0;
    Py_XDECREF(weak);
    return done;
}

/// The context forgets an address, unless another object has it by now.
static void forget(const handle *self) {
    PyObject *known = self->root->known;
    PyObject *key = known ? PyLong_FromVoidPtr(self->address) : NULL;
    PyObject *weak = key ? PyDict_GetItemWithError(known, key) : NULL;
    if (weak && PyWeakref_GetObject(weak) == Py_None) {
        PyDict_DelItem(known, key);
    }
    Py_XDECREF(key);
    PyErr_Clear();
}

static handle *make_handle(handle_kind *kind, void *pointer, handle *owner) {
    PyTypeObject *type = (PyTypeObject *)(kind->python_class ? kind->python_class : kind->type);
    allocfunc allocate = (allocfunc)PyType_GetSlot(type, Py_tp_alloc);
    handle *self = (handle *)allocate(type, 0);
    if (!self) {
        return NULL;
    }
    self->kind = kind;
    self->pointer = pointer;
    self->address = pointer;
    self->owner = (handle *)Py_XNewRef((PyObject *)owner);
    self->root = owner ? owner->root : self;
    return self;
}

/// The bodies among the objects of a call, without which an attachment is not valid.
static PyObject *list_partners(PyObject *used) {
    PyObject *bodies = PyList_New(0);
    Py_ssize_t count = used ? PyList_Size(used) : 0;
    for (Py_ssize_t i = 0; bodies && i < count; i++) {
        PyObject *item = PyList_GetItem(used, i);
        bool is_body = handle_check(item) && strcmp(((handle *)item)->kind->name, "Body") == 0;
        if (is_body && PyList_Append(bodies, item) != 0) {
            Py_CLEAR(bodies);
        }
    }
    PyObject *tuple = bodies ? PyList_AsTuple(bodies) : NULL;
    Py_XDECREF(bodies);
    return tuple;
}

PyObject *handle_wrap(handle_kind *kind, void *pointer, handle *owner, PyObject *used) {
    if (!pointer) {
        Py_RETURN_NONE;
    }
    if (!owner) {
        PyErr_Format(PyExc_ValueError, "this %s would belong to nothing", kind->name);
        return NULL;
    }
    PyObject *key = PyLong_FromVoidPtr(pointer);
    PyObject *known = key ? find_known(owner->root, kind, key) : NULL;
    if (known || !key) {
        Py_XDECREF(key);
        return known;
    }

    handle *self = make_handle(kind, pointer, owner);
    bool done = self && make_known(owner->root, key, (PyObject *)self);
    Py_DECREF(key);
    if (!done) {
        Py_XDECREF((PyObject *)self);
        return NULL;
    }

    // `used` is given where the call created the object.
    if (used && kind->dies_with_bodies) {
        self->partners = list_partners(used);
        return self->partners ? (PyObject *)self : (Py_DECREF((PyObject *)self), NULL);
    }
    if (used) {
        self->owned = kind->owned;
        owner->dependents += self->owned;
        handle *keeper = self->owned ? self : owner;
        if (!handle_keep(keeper, pointer, used)) {
            Py_DECREF((PyObject *)self);
            return NULL;
        }
    }
    return (PyObject *)self;
}

PyObject *handle_wrap_root(handle_kind *kind, void *pointer, PyObject *used) {
    if (!pointer) {
        PyErr_SetString(PyExc_ValueError, "the definition of the context is not valid");
        return NULL;
    }
    handle *self = make_handle(kind, pointer, NULL);
    if (!self) {
        return NULL;
    }
    self->owned = true;
    return handle_keep(self, pointer, used) ? (PyObject *)self
                                            : (Py_DECREF((PyObject *)self), NULL);
}

// Destruction -----------------------------------------------------------------------------------

static void destroy(handle *self) {
    void *pointer = self->pointer;
    self->pointer = NULL;

    bool has_owner = self->owner && handle_is_alive(self->owner);
    if (!self->owner || has_owner) {
        self->kind->destroy(pointer);
    }
    if (self->owner && self->owned) {
        self->owner->dependents--;
    }
    release_child(self->owner, pointer);
    release_children(self);
}

static PyObject *handle_destroy(PyObject *object, PyObject *unused) {
    (void)unused;
    handle *self = (handle *)object;
    if (!self->pointer) {
        Py_RETURN_NONE; // a second time, like closing a file twice
    }
    if (!check_use(self)) {
        return NULL;
    }
    if (!self->kind->destroy || (self->kind->owned && !self->owned)) {
        PyErr_Format(PyExc_RuntimeError, "this %s belongs to a %s and cannot be destroyed alone",
                     self->kind->name, self->owner->kind->name);
        return NULL;
    }
    if (self->exports > 0) {
        PyErr_Format(PyExc_BufferError,
                     "%zd arrays still use the memory of this %s; delete or copy them first",
                     self->exports, self->kind->name);
        return NULL;
    }
    if (self->dependents > 0) {
        PyErr_Format(PyExc_RuntimeError, "%zd objects still need this %s; destroy them first",
                     self->dependents, self->kind->name);
        return NULL;
    }
    destroy(self);
    Py_RETURN_NONE;
}

static void handle_dealloc(PyObject *object) {
    handle *self = (handle *)object;
    PyTypeObject *type = Py_TYPE(object);
    PyObject_GC_UnTrack(object);

    if (self->weak_list) {
        PyObject_ClearWeakRefs(object);
    }
    if (self->pointer && self->owned) {
        destroy(self);
    }
    release_children(self);
    if (self->owner) {
        forget(self);
    }
    Py_CLEAR(self->partners);
    Py_CLEAR(self->known);
    handle *owner = self->owner;
    self->owner = NULL;

    freefunc release = (freefunc)PyType_GetSlot(type, Py_tp_free);
    release(object);
    Py_XDECREF((PyObject *)owner);
    Py_DECREF((PyObject *)type);
}

static int handle_traverse(PyObject *object, visitproc visit, void *arg) {
    handle *self = (handle *)object;
    Py_VISIT(Py_TYPE(object));
    Py_VISIT((PyObject *)self->owner);
    Py_VISIT(self->partners);
    Py_VISIT(self->kept);
    return 0;
}

/// Breaks cycles through callables; owners stay, because destruction needs them.
static int handle_clear(PyObject *object) {
    release_children((handle *)object);
    return 0;
}

// The types -------------------------------------------------------------------------------------

static PyObject *handle_repr(PyObject *object) {
    const handle *self = (const handle *)object;
    if (!handle_is_alive(self)) {
        return PyUnicode_FromFormat("<sinew.%s, destroyed>", self->kind->name);
    }
    return PyUnicode_FromFormat("<sinew.%s at %p>", self->kind->name, self->pointer);
}

static PyObject *handle_enter(PyObject *self, PyObject *unused) {
    (void)unused;
    return Py_NewRef(self);
}

static PyObject *handle_exit(PyObject *self, PyObject *unused) {
    (void)unused;
    return handle_destroy(self, NULL);
}

static PyObject *handle_get_alive(PyObject *self, void *unused) {
    (void)unused;
    return PyBool_FromLong(handle_is_alive((const handle *)self));
}

static PyObject *handle_get_owner(PyObject *self, void *unused) {
    (void)unused;
    PyObject *owner = (PyObject *)((handle *)self)->owner;
    return Py_NewRef(owner ? owner : Py_None);
}

static PyObject *handle_refuse_copy(PyObject *self, PyObject *unused) {
    (void)unused;
    PyErr_Format(PyExc_TypeError, "a %s cannot be copied or pickled; a snapshot's bytes can",
                 ((handle *)self)->kind->name);
    return NULL;
}

static PyObject *handle_refuse_new(PyTypeObject *type, PyObject *args, PyObject *keywords) {
    (void)args;
    (void)keywords;
    PyErr_Format(PyExc_TypeError, "%R objects are made by the functions that return them", type);
    return NULL;
}

static PyMethodDef base_methods[] = {
    {"destroy", handle_destroy, METH_NOARGS,
     "Destroys the object now. Later uses of it raise DestroyedError."},
    {"__enter__", handle_enter, METH_NOARGS, NULL},
    {"__exit__", handle_exit, METH_VARARGS, NULL},
    {"__reduce__", handle_refuse_copy, METH_NOARGS, NULL},
    {NULL, NULL, 0, NULL},
};

static PyGetSetDef base_properties[] = {
    {"alive", handle_get_alive, NULL, "Whether it still exists.", NULL},
    {"owner", handle_get_owner, NULL, "What it belongs to: the world of a body, say.", NULL},
    {NULL, NULL, NULL, NULL, NULL},
};

static PyMemberDef base_members[] = {
    {"__weaklistoffset__", T_PYSSIZET, offsetof(handle, weak_list), READONLY, NULL},
    {NULL, 0, 0, 0, NULL},
};

static PyObject *make_base_type(void) {
    PyType_Slot slots[] = {
        {Py_tp_doc, (void *)"An object of the library."},
        {Py_tp_new, (void *)handle_refuse_new},
        {Py_tp_dealloc, (void *)handle_dealloc},
        {Py_tp_traverse, (void *)handle_traverse},
        {Py_tp_clear, (void *)handle_clear},
        {Py_tp_repr, (void *)handle_repr},
        {Py_tp_methods, base_methods},
        {Py_tp_getset, base_properties},
        {Py_tp_members, base_members},
        {0, NULL},
    };
    PyType_Spec spec = {"sinew._core.Handle", sizeof(handle), 0,
                        Py_TPFLAGS_DEFAULT | Py_TPFLAGS_BASETYPE | Py_TPFLAGS_HAVE_GC, slots};
    return PyType_FromSpec(&spec);
}

static bool add_type(PyObject *module, handle_kind *kind) {
    PyType_Slot slots[] = {
        {Py_tp_doc, (void *)kind->doc},
        {Py_tp_methods, kind->methods},
        {Py_tp_getset, kind->properties},
        {0, NULL},
    };
    char name[80];
    PyOS_snprintf(name, sizeof name, "sinew._core.%s", kind->name);
    PyType_Spec spec = {name, sizeof(handle), 0, Py_TPFLAGS_DEFAULT | Py_TPFLAGS_BASETYPE, slots};
    kind->type = PyType_FromSpecWithBases(&spec, base_type);
    return kind->type && PyModule_AddObjectRef(module, kind->name, kind->type) == 0;
}

bool handle_types_add(PyObject *module, handle_kind *const *kinds, int32_t count) {
    base_type = make_base_type();
    destroyed_error = PyObject_GetAttrString(module, "DestroyedError");
    if (!base_type || !destroyed_error || PyModule_AddObjectRef(module, "Handle", base_type) != 0) {
        return false;
    }
    for (int32_t i = 0; i < count; i++) {
        if (!add_type(module, kinds[i])) {
            return false;
        }
    }
    return true;
}
