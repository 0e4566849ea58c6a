// Calls of the library: arguments from Python, the interpreter lock, results and errors.
//
// SPDX-License-Identifier: Apache-2.0
#include "core.h"

#include <string.h>

bool call_begin(call *self, const char *name, Py_ssize_t given, Py_ssize_t least, Py_ssize_t most) {
    *self = (call){.name = name};
    if (given >= least && given <= most) {
        return true;
    }
    if (least == most) {
        PyErr_Format(PyExc_TypeError, "%s takes %zd arguments, got %zd", name, most, given);
    } else {
        PyErr_Format(PyExc_TypeError, "%s takes %zd to %zd arguments, got %zd", name, least, most,
                     given);
    }
    return false;
}

/// Keeps a temporary object until the call ends; takes the reference.
static bool keep(call *self, PyObject *object) {
    if (!object || (!self->kept && !(self->kept = PyList_New(0)))) {
        Py_XDECREF(object);
        return false;
    }
    bool done = PyList_Append(self->kept, object) == 0;
    Py_DECREF(object);
    return done;
}

PyObject *call_end(call *self, PyObject *result) {
    Py_CLEAR(self->kept);
    return result;
}

// Arguments -------------------------------------------------------------------------------------

bool call_get_double(PyObject *object, const char *what, double *value) {
    *value = PyFloat_AsDouble(object);
    if (*value == -1.0 && PyErr_Occurred()) {
        PyErr_Format(PyExc_TypeError, "%s: expected a number, got %R", what, object);
        return false;
    }
    return true;
}

bool call_get_int64(PyObject *object, const char *what, int64_t low, int64_t high, int64_t *value) {
    PyObject *whole = PyNumber_Index(object);
    int overflow = 0;
    long long number = whole ? PyLong_AsLongLongAndOverflow(whole, &overflow) : 0;
    Py_XDECREF(whole);
    if (!whole) {
        PyErr_Format(PyExc_TypeError, "%s: expected a whole number, got %R", what, object);
        return false;
    }
    if (overflow || number < low || number > high) {
        PyErr_Format(PyExc_OverflowError, "%s: %R is not in [%lld, %lld]", what, object,
                     (long long)low, (long long)high);
        return false;
    }
    *value = number;
    return true;
}

bool call_get_bool(PyObject *object, const char *what, bool *value) {
    int truth = PyObject_IsTrue(object);
    if (truth < 0 || PyUnicode_Check(object)) {
        PyErr_Format(PyExc_TypeError, "%s: expected True or False, got %R", what, object);
        return false;
    }
    *value = truth != 0;
    return true;
}

bool call_get_string(call *self, PyObject *object, const char *what, const char **text) {
    if (object == Py_None) {
        *text = NULL;
        return true;
    }
    // Paths may be pathlib's.
    PyObject *plain = PyUnicode_Check(object) ? Py_NewRef(object) : PyOS_FSPath(object);
    PyObject *bytes = plain && PyUnicode_Check(plain) ? PyUnicode_AsUTF8String(plain) : NULL;
    Py_XDECREF(plain);
    if (!bytes) {
        PyErr_Format(PyExc_TypeError, "%s: expected a string, got %R", what, object);
        return false;
    }
    if ((size_t)PyBytes_Size(bytes) != strlen(PyBytes_AsString(bytes))) {
        PyErr_Format(PyExc_ValueError, "%s: the string contains a zero character", what);
        Py_DECREF(bytes);
        return false;
    }
    *text = PyBytes_AsString(bytes);
    return keep(self, bytes);
}

bool call_get_strings(call *self, PyObject *object, const char *what, const char *const **texts,
                      int32_t *count) {
    Py_ssize_t length = object == Py_None ? 0 : PySequence_Size(object);
    array *pointers = length < 0 ? NULL : array_new(length, 0, "B", sizeof(char *));
    if (!pointers) {
        return false;
    }
    *texts = (const char *const *)pointers->memory;
    *count = (int32_t)length;
    for (Py_ssize_t i = 0; i < length; i++) {
        PyObject *item = PySequence_GetItem(object, i);
        bool done =
            item && call_get_string(self, item, what, &((const char **)pointers->memory)[i]);
        Py_XDECREF(item);
        if (!done) {
            Py_DECREF((PyObject *)pointers);
            return false;
        }
    }
    return keep(self, (PyObject *)pointers);
}

bool call_get_fixed(PyObject *object, const char *what, const char *format, void *values,
                    Py_ssize_t count, bool *given) {
    *given = object != Py_None;
    if (!*given) {
        return true;
    }
    Py_ssize_t item_size =
        *format == 'd' ? (Py_ssize_t)sizeof(double) : (Py_ssize_t)sizeof(int32_t);
    array *numbers = array_from(object, format, item_size, what);
    if (!numbers) {
        return false;
    }
    bool done = array_length(numbers) == count;
    if (done) {
        memcpy(values, numbers->pointer, (size_t)(count * item_size));
    } else {
        PyErr_Format(PyExc_ValueError, "%s: expected %zd numbers, got %zd", what, count,
                     array_length(numbers));
    }
    Py_DECREF((PyObject *)numbers);
    return done;
}

bool call_get_numbers(call *self, PyObject *object, const char *what, const char *format,
                      Py_ssize_t item_size, const void **values, Py_ssize_t *length) {
    *values = NULL;
    *length = 0;
    if (object == Py_None) {
        return true;
    }
    array *numbers = array_from(object, format, item_size, what);
    if (!numbers) {
        return false;
    }
    *values = numbers->pointer;
    *length = array_length(numbers);
    return keep(self, (PyObject *)numbers);
}

bool call_get_records(call *self, PyObject *object, const char *what, record_type *type,
                      const void **values, Py_ssize_t *length) {
    *values = NULL;
    *length = 0;
    if (object == Py_None) {
        return true;
    }
    array *records = array_from_records(object, type, what);
    if (!records) {
        return false;
    }
    *values = records->pointer;
    *length = records->shape[0];
    return keep(self, (PyObject *)records);
}

bool call_get_bytes(call *self, PyObject *object, const char *what, const void **data,
                    size_t *size) {
    *data = NULL;
    *size = 0;
    if (object == Py_None) {
        return true;
    }
    if (!PyObject_CheckBuffer(object)) {
        PyErr_Format(PyExc_TypeError, "%s: expected bytes, got %R", what,
                     (PyObject *)Py_TYPE(object));
        return false;
    }
    PyObject *bytes = PyBytes_FromObject(object);
    if (!bytes) {
        return false;
    }
    *data = PyBytes_AsString(bytes);
    *size = (size_t)PyBytes_Size(bytes);
    return keep(self, bytes);
}

bool call_check_length(const char *what, Py_ssize_t length, Py_ssize_t rows, Py_ssize_t columns) {
    if (length == rows * columns) {
        return true;
    }
    PyErr_Format(PyExc_ValueError, "%s: expected %zd numbers (%zd times %zd), got %zd", what,
                 rows * columns, rows, columns, length);
    return false;
}

PyObject *call_collect(PyObject *const *arguments, Py_ssize_t count) {
    PyObject *list = PyList_New(0);
    bool done = list != NULL;
    for (Py_ssize_t i = 0; done && i < count; i++) {
        PyObject *object = arguments[i];
        if (handle_check(object)) {
            done = PyList_Append(list, object) == 0;
        } else if (record_check(object)) {
            done = record_collect(object, list);
        }
    }
    return done ? list : (Py_XDECREF(list), NULL);
}

// Around the call -------------------------------------------------------------------------------

void call_release(call *self) {
    if (self->owner) {
        self->owner->root->busy = true;
    }
    self->thread = PyEval_SaveThread();
}

void call_restore(call *self) {
    PyEval_RestoreThread(self->thread);
    if (self->owner) {
        self->owner->root->busy = false;
    }
}

bool call_check(call *self, sinew_status status) {
    if (callback_raise_kept()) {
        return false;
    }
    if (status == SINEW_OK) {
        return true;
    }
    errors_raise(status, self->owner ? self->owner->root : NULL, self->name);
    return false;
}
