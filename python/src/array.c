// Arrays: numbers in C memory, for numpy, memoryview and everything else that takes a buffer.
//
// SPDX-License-Identifier: Apache-2.0
#include "core.h"

#include <string.h>

static PyObject *array_python_type;

/// The handle whose memory an array looks at, or NULL if the memory is its own.
static handle *find_source(const array *self) {
    if (self->owner && record_check(self->owner)) {
        return ((record *)self->owner)->source;
    }
    return (handle *)self->owner;
}

static bool check_use(const array *self) {
    const handle *source = find_source(self);
    if (source && !handle_is_alive(source)) {
        PyErr_Format(PyExc_ValueError, "the %s that this array belonged to has been destroyed",
                     source->kind->name);
        return false;
    }
    return true;
}

Py_ssize_t array_length(const array *self) {
    return self->shape[0] * (self->dimensions == 2 ? self->shape[1] : 1);
}

// Creation --------------------------------------------------------------------------------------

static array *make(Py_ssize_t rows, int32_t columns, const char *format, Py_ssize_t item_size) {
    PyTypeObject *type = (PyTypeObject *)array_python_type;
    allocfunc allocate = (allocfunc)PyType_GetSlot(type, Py_tp_alloc);
    array *self = (array *)allocate(type, 0);
    if (!self) {
        return NULL;
    }
    self->format = format;
    self->item_size = item_size;
    self->dimensions = columns > 0 ? 2 : 1;
    self->shape[0] = rows;
    self->shape[1] = columns > 0 ? columns : 1;
    self->strides[0] = self->shape[1] * item_size;
    self->strides[1] = item_size;
    return self;
}

array *array_new(Py_ssize_t rows, int32_t columns, const char *format, Py_ssize_t item_size) {
    // A negative number is the library's to refuse, with a message.
    array *self = make(rows > 0 ? rows : 0, columns, format, item_size);
    if (!self) {
        return NULL;
    }
    size_t size = (size_t)(array_length(self) * item_size);
    self->memory = PyMem_Calloc(1, size > 0 ? size : 1);
    self->pointer = self->memory;
    if (!self->memory) {
        Py_DECREF((PyObject *)self);
        PyErr_NoMemory();
        return NULL;
    }
    return self;
}

PyObject *array_view(const void *pointer, Py_ssize_t rows, int32_t columns, const char *format,
                     Py_ssize_t item_size, PyObject *owner) {
    if (!pointer) {
        Py_RETURN_NONE;
    }
    array *self = make(rows, columns, format, item_size);
    if (!self) {
        return NULL;
    }
    self->pointer = (void *)(uintptr_t)pointer;
    self->read_only = true;
    self->owner = Py_NewRef(owner);
    return (PyObject *)self;
}

PyObject *array_copy(const void *pointer, Py_ssize_t rows, int32_t columns, const char *format,
                     Py_ssize_t item_size) {
    if (!pointer) {
        Py_RETURN_NONE;
    }
    array *self = array_new(rows, columns, format, item_size);
    if (self && rows > 0) {
        memcpy(self->memory, pointer, (size_t)(array_length(self) * item_size));
    }
    return (PyObject *)self;
}

// From Python -----------------------------------------------------------------------------------

/// Whether a buffer has numbers of a format. Platforms name the same integer differently.
static bool has_format(const Py_buffer *view, const char *format, Py_ssize_t item_size) {
    const char *given = view->format ? view->format : "B";
    given += *given == '@' || *given == '=' || *given == '<';
    if (view->itemsize != item_size) {
        return false;
    }
    static const char *const families[] = {"d", "ilq", "ILQ", "hH", "bB?c"};
    for (size_t i = 0; i < sizeof families / sizeof *families; i++) {
        if (strchr(families[i], *format) && *given) {
            return strchr(families[i], *given) != NULL;
        }
    }
    return strcmp(given, format) == 0;
}

static const char *name_format(const char *format) {
    switch (*format) {
    case 'd': return "float64";
    case 'i': return "int32";
    case 'q': return "int64";
    case 'H': return "uint16";
    case 'B': return "uint8";
    default: return format;
    }
}

static array *from_buffer(PyObject *object, const char *format, Py_ssize_t item_size,
                          const char *what) {
    array *self = make(0, 0, format, item_size);
    if (!self) {
        return NULL;
    }
    if (PyObject_GetBuffer(object, &self->view, PyBUF_FORMAT | PyBUF_STRIDES) != 0) {
        Py_DECREF((PyObject *)self);
        return NULL;
    }

    const Py_buffer *view = &self->view;
    if (!has_format(view, format, item_size)) {
        PyErr_Format(PyExc_TypeError, "%s: expected numbers of type %s, got the format '%s'", what,
                     name_format(format), view->format ? view->format : "B");
        Py_DECREF((PyObject *)self);
        return NULL;
    }
    if (!PyBuffer_IsContiguous(view, 'C')) {
        PyErr_Format(PyExc_ValueError,
                     "%s: the array is not contiguous; use numpy.ascontiguousarray", what);
        Py_DECREF((PyObject *)self);
        return NULL;
    }
    self->pointer = view->buf;
    self->read_only = view->readonly;
    self->shape[0] = view->len / item_size;
    return self;
}

static bool store(PyObject *item, const char *format, void *to, const char *what) {
    double number = *format == 'd' ? PyFloat_AsDouble(item) : 0;
    long long whole = *format == 'd' ? 0 : PyLong_AsLongLong(item);
    if (PyErr_Occurred()) {
        PyErr_Format(PyExc_TypeError, "%s: expected numbers of type %s, got %R", what,
                     name_format(format), item);
        return false;
    }

    bool fits = true;
    switch (*format) {
    case 'd': *(double *)to = number; break;
    case 'q': *(int64_t *)to = whole; break;
    case 'i': *(int32_t *)to = (int32_t)whole, fits = whole == (int32_t)whole; break;
    case 'H': *(uint16_t *)to = (uint16_t)whole, fits = whole == (uint16_t)whole; break;
    default: *(uint8_t *)to = (uint8_t)whole, fits = whole == (uint8_t)whole; break;
    }
    if (!fits) {
        PyErr_Format(PyExc_OverflowError, "%s: %R does not fit into %s", what, item,
                     name_format(format));
    }
    return fits;
}

/// Appends all numbers of a sequence, nested or not, to a list.
static bool flatten(PyObject *object, PyObject *list, int depth) {
    bool is_sequence = PySequence_Check(object) && !PyUnicode_Check(object);
    if (!is_sequence || depth > 3) {
        return PyList_Append(list, object) == 0;
    }
    Py_ssize_t count = PySequence_Size(object);
    for (Py_ssize_t i = 0; i < count; i++) {
        PyObject *item = PySequence_GetItem(object, i);
        bool done = item && flatten(item, list, depth + 1);
        Py_XDECREF(item);
        if (!done) {
            return false;
        }
    }
    return count >= 0;
}

static array *from_sequence(PyObject *object, const char *format, Py_ssize_t item_size,
                            const char *what) {
    PyObject *list = PyList_New(0);
    if (!list || !flatten(object, list, 0)) {
        Py_XDECREF(list);
        return NULL;
    }
    Py_ssize_t count = PyList_Size(list);
    array *self = array_new(count, 0, format, item_size);
    for (Py_ssize_t i = 0; self && i < count; i++) {
        if (!store(PyList_GetItem(list, i), format, (char *)self->memory + i * item_size, what)) {
            Py_CLEAR(self);
        }
    }
    Py_DECREF(list);
    return self;
}

array *array_from(PyObject *object, const char *format, Py_ssize_t item_size, const char *what) {
    if (PyObject_CheckBuffer(object)) {
        return from_buffer(object, format, item_size, what);
    }
    return from_sequence(object, format, item_size, what);
}

array *array_from_records(PyObject *object, record_type *type, const char *what) {
    // A buffer with exactly the bytes of the structs: an array of the library, or rows of numbers.
    if (PyObject_CheckBuffer(object)) {
        array *self = make(0, 0, type->format ? type->format : "B", (Py_ssize_t)type->size);
        if (!self || PyObject_GetBuffer(object, &self->view, PyBUF_FORMAT | PyBUF_STRIDES) != 0) {
            Py_XDECREF((PyObject *)self);
            return NULL;
        }
        Py_ssize_t size = (Py_ssize_t)type->size;
        if (!type->format || !PyBuffer_IsContiguous(&self->view, 'C') || self->view.len % size) {
            PyErr_Format(PyExc_TypeError, "%s: expected a sequence of %s", what, type->name);
            Py_DECREF((PyObject *)self);
            return NULL;
        }
        self->pointer = self->view.buf;
        self->shape[0] = self->view.len / size;
        return self;
    }

    Py_ssize_t count = PySequence_Size(object);
    if (count < 0) {
        PyErr_Format(PyExc_TypeError, "%s: expected a sequence of %s, got %R", what, type->name,
                     (PyObject *)Py_TYPE(object));
        return NULL;
    }
    array *self = array_new(count, 0, "B", (Py_ssize_t)type->size);
    for (Py_ssize_t i = 0; self && i < count; i++) {
        PyObject *item = PySequence_GetItem(object, i);
        void *data = NULL;
        bool done = item && record_get(item, type, what, &data) && data;
        if (done) {
            memcpy((char *)self->memory + (size_t)i * type->size, data, type->size);
        } else {
            if (!PyErr_Occurred()) {
                PyErr_Format(PyExc_TypeError, "%s: item %zd is None", what, i);
            }
            Py_CLEAR(self);
        }
        Py_XDECREF(item);
    }
    return self;
}

// The type --------------------------------------------------------------------------------------

static void array_dealloc(PyObject *object) {
    array *self = (array *)object;
    PyTypeObject *type = Py_TYPE(object);
    if (self->view.obj) {
        PyBuffer_Release(&self->view);
    }
    PyMem_Free(self->memory);
    Py_XDECREF(self->owner);
    freefunc release = (freefunc)PyType_GetSlot(type, Py_tp_free);
    release(object);
    Py_DECREF((PyObject *)type);
}

static int array_get_buffer(PyObject *object, Py_buffer *view, int flags) {
    array *self = (array *)object;
    if ((flags & PyBUF_WRITABLE) == PyBUF_WRITABLE && self->read_only) {
        PyErr_SetString(PyExc_BufferError,
                        "this array is read-only; the object has calls to set it");
        return -1;
    }
    if (!check_use(self)) {
        return -1;
    }

    view->buf = self->pointer;
    view->obj = Py_NewRef(object);
    view->len = array_length(self) * self->item_size;
    view->itemsize = self->item_size;
    view->readonly = self->read_only;
    view->ndim = self->dimensions;
    view->format = flags & PyBUF_FORMAT ? (char *)(uintptr_t)self->format : NULL;
    view->shape = flags & PyBUF_ND ? self->shape : NULL;
    view->strides = (flags & PyBUF_STRIDES) == PyBUF_STRIDES ? self->strides : NULL;
    view->suboffsets = NULL;
    view->internal = find_source(self);
    if (view->internal) {
        handle_export((handle *)view->internal, 1);
    }
    return 0;
}

static void array_release_buffer(PyObject *object, Py_buffer *view) {
    (void)object;
    if (view->internal) {
        handle_export((handle *)view->internal, -1);
    }
}

static Py_ssize_t array_size(PyObject *object) {
    return ((array *)object)->shape[0];
}

static PyObject *get_number(const array *self, Py_ssize_t index) {
    const char *at = (const char *)self->pointer + index * self->item_size;
    switch (*self->format) {
    case 'd': return PyFloat_FromDouble(*(const double *)(const void *)at);
    case 'i': return PyLong_FromLong(*(const int32_t *)(const void *)at);
    case 'q': return PyLong_FromLongLong(*(const int64_t *)(const void *)at);
    case 'H': return PyLong_FromLong(*(const uint16_t *)(const void *)at);
    default: return PyLong_FromLong(*(const uint8_t *)at);
    }
}

static PyObject *array_item(PyObject *object, Py_ssize_t index) {
    array *self = (array *)object;
    if (!check_use(self)) {
        return NULL;
    }
    if (index < 0 || index >= self->shape[0]) {
        PyErr_Format(PyExc_IndexError, "index %zd of an array of %zd", index, self->shape[0]);
        return NULL;
    }
    if (self->record) {
        return record_wrap(self->record, (char *)self->pointer + index * self->item_size, NULL);
    }
    if (self->dimensions == 1) {
        return get_number(self, index);
    }

    PyObject *row = PyTuple_New(self->shape[1]);
    for (Py_ssize_t k = 0; row && k < self->shape[1]; k++) {
        PyObject *number = get_number(self, index * self->shape[1] + k);
        if (!number || PyTuple_SetItem(row, k, number) != 0) {
            Py_CLEAR(row);
        }
    }
    return row;
}

static PyObject *array_repr(PyObject *object) {
    const array *self = (const array *)object;
    const char *kind = self->record ? self->record->name : name_format(self->format);
    if (self->dimensions == 1) {
        return PyUnicode_FromFormat("<sinew.Array of %zd %s>", self->shape[0], kind);
    }
    return PyUnicode_FromFormat("<sinew.Array of %zd x %zd %s>", self->shape[0], self->shape[1],
                                kind);
}

static PyObject *array_get_shape(PyObject *object, void *unused) {
    (void)unused;
    const array *self = (const array *)object;
    return self->dimensions == 1 ? Py_BuildValue("(n)", self->shape[0])
                                 : Py_BuildValue("(nn)", self->shape[0], self->shape[1]);
}

static PyObject *array_to_list(PyObject *object, PyObject *unused) {
    (void)unused;
    return PySequence_List(object);
}

static PyGetSetDef array_properties[] = {
    {"shape", array_get_shape, NULL, "Rows, or rows and columns.", NULL},
    {NULL, NULL, NULL, NULL, NULL},
};

static PyMethodDef array_methods[] = {
    {"tolist", array_to_list, METH_NOARGS, "A list of numbers, or of tuples for several columns."},
    {NULL, NULL, 0, NULL},
};

bool array_type_add(PyObject *module) {
    static const char doc[] =
        "Numbers in memory of the library, which numpy.asarray uses without a copy.\n\nThe object "
        "they belong to stays alive as long as the array, and cannot be destroyed meanwhile.";
    PyType_Slot slots[] = {
        {Py_tp_doc, (void *)doc},
        {Py_tp_dealloc, (void *)array_dealloc},
        {Py_tp_repr, (void *)array_repr},
        {Py_sq_length, (void *)array_size},
        {Py_sq_item, (void *)array_item},
        {Py_tp_getset, array_properties},
        {Py_tp_methods, array_methods},
        {Py_bf_getbuffer, (void *)array_get_buffer},
        {Py_bf_releasebuffer, (void *)array_release_buffer},
        {0, NULL},
    };
    PyType_Spec spec = {"sinew._core.Array", sizeof(array), 0,
                        Py_TPFLAGS_DEFAULT | Py_TPFLAGS_DISALLOW_INSTANTIATION, slots};
    array_python_type = PyType_FromSpec(&spec);
    return array_python_type && PyModule_AddObjectRef(module, "Array", array_python_type) == 0;
}
