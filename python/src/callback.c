// Exceptions for the statuses of the library, and functions of Python that the library calls.
//
// SPDX-License-Identifier: Apache-2.0
#include "core.h"

#include <math.h>
#include <string.h>

// Exceptions ------------------------------------------------------------------------------------

static struct {
    sinew_status status;
    const char *name;
    const char *base; // a builtin exception that fits, or NULL
    const char *doc;
    PyObject *type;
} errors[] = {
    {SINEW_INVALID_ARGUMENT, "InvalidArgument", "ValueError",
     "A value is outside its valid range, or two arguments contradict each other.", NULL},
    {SINEW_INVALID_DATA, "InvalidData", "ValueError", "A mesh, file or field is malformed.", NULL},
    {SINEW_OUT_OF_MEMORY, "OutOfMemory", "MemoryError",
     "Memory ran out, or a stated limit would be exceeded.", NULL},
    {SINEW_UNSUPPORTED, "Unsupported", "NotImplementedError",
     "Well formed, but this build or this combination does not offer it.", NULL},
    {SINEW_NOT_FOUND, "NotFound", "LookupError", "A name or label that does not exist.", NULL},
    {SINEW_DIVERGED, "Diverged", "ArithmeticError",
     "The state could not be advanced; the last accepted state is kept.", NULL},
    {SINEW_IO_FAILED, "IoFailed", "OSError", "The system could not read or write.", NULL},
    {SINEW_CANCELLED, "Cancelled", NULL, "A progress function cancelled the call.", NULL},
};
static PyObject *base_error;

static bool add_error(PyObject *module, const char *name, const char *base, const char *doc,
                      PyObject **made) {
    PyObject *builtins = base ? PyImport_ImportModule("builtins") : NULL;
    PyObject *other = base && builtins ? PyObject_GetAttrString(builtins, base) : NULL;
    PyObject *bases = other ? PyTuple_Pack(2, base_error, other) : Py_XNewRef(base_error);
    char full[80];
    PyOS_snprintf(full, sizeof full, "sinew.%s", name);
    *made = PyErr_NewExceptionWithDoc(full, doc, bases, NULL);
    Py_XDECREF(builtins);
    Py_XDECREF(other);
    Py_XDECREF(bases);
    return *made && PyModule_AddObjectRef(module, name, *made) == 0;
}

bool errors_add(PyObject *module) {
    PyObject *destroyed = NULL;
    bool done = add_error(module, "Error", NULL, "Base of all exceptions of Sinew.", &base_error) &&
                add_error(module, "DestroyedError", "ReferenceError",
                          "An object was used after its destruction.", &destroyed);
    for (size_t i = 0; done && i < sizeof errors / sizeof *errors; i++) {
        done = add_error(module, errors[i].name, errors[i].base, errors[i].doc, &errors[i].type);
    }
    Py_XDECREF(destroyed);
    return done;
}

void errors_raise(sinew_status status, const handle *root, const char *name) {
    const char *message = root && root->pointer ? sinew_context_message(root->pointer) : "";
    bool has_message = root && root->pointer && sinew_context_status(root->pointer) == status;
    if (!has_message || !*message) {
        message = sinew_status_name(status);
    }
    for (size_t i = 0; i < sizeof errors / sizeof *errors; i++) {
        if (errors[i].status == status) {
            PyErr_Format(errors[i].type, "%s: %s", name, message);
            return;
        }
    }
    PyErr_Format(base_error, "%s: %s", name, message);
}

// Exceptions inside callbacks -------------------------------------------------------------------

static PyObject *kept_error; // guarded by the interpreter lock

void callback_keep_error(void) {
    PyObject *type = NULL, *value = NULL, *trace = NULL;
    PyErr_Fetch(&type, &value, &trace);
    PyErr_NormalizeException(&type, &value, &trace);
    if (value && trace) {
        PyException_SetTraceback(value, trace);
    }
    if (!kept_error) {
        kept_error = Py_XNewRef(value); // the first one is the cause
    }
    Py_XDECREF(type);
    Py_XDECREF(value);
    Py_XDECREF(trace);
}

bool callback_raise_kept(void) {
    if (!kept_error) {
        return false;
    }
    PyObject *error = kept_error;
    kept_error = NULL;
    PyErr_SetObject((PyObject *)Py_TYPE(error), error);
    Py_DECREF(error);
    return true;
}

// Callbacks -------------------------------------------------------------------------------------

void callback_log(void *user, sinew_log_level level, const char *line) {
    PyGILState_STATE state = PyGILState_Ensure();
    PyObject *result = PyObject_CallFunction(user, "is", (int)level, line);
    if (!result) {
        callback_keep_error();
    }
    Py_XDECREF(result);
    PyGILState_Release(state);
}

/// Returning None goes on, as does everything else that is not false.
bool callback_progress(void *user, const char *what, double share) {
    PyGILState_STATE state = PyGILState_Ensure();
    PyObject *result = PyObject_CallFunction(user, "sd", what, share);
    bool goes_on = result && (result == Py_None || PyObject_IsTrue(result) == 1);
    if (!result || PyErr_CheckSignals() != 0) {
        callback_keep_error();
        goes_on = false;
    }
    Py_XDECREF(result);
    PyGILState_Release(state);
    return goes_on;
}

/// Copies `count` numbers of a result; None leaves zeros.
static bool copy_numbers(PyObject *object, double *to, Py_ssize_t count, const char *what) {
    memset(to, 0, (size_t)count * sizeof *to);
    if (!object || object == Py_None) {
        return object != NULL;
    }
    bool given = false;
    return call_get_fixed(object, what, "d", to, count, &given);
}

void callback_evaluate(void *user, const double F[9], const double frame[9], double *energy,
                       double *P, double *H) {
    PyGILState_STATE state = PyGILState_Ensure();
    PyObject *gradient = array_copy(F, 3, 3, "d", sizeof *F);
    PyObject *axes = array_copy(frame, 3, 3, "d", sizeof *frame);
    PyObject *result = gradient && axes ? PyObject_CallFunction(user, "OOi", gradient, axes,
                                                                H   ? 2
                                                                : P ? 1
                                                                    : 0)
                                        : NULL;
    PyObject *parts = result ? PySequence_Tuple(result) : NULL;

    // (energy, stress, tangent), where what was not asked for may be None.
    bool done = parts && PyTuple_Size(parts) == 3;
    if (parts && !done) {
        PyErr_SetString(PyExc_TypeError, "a law returns (energy, stress, tangent)");
    }
    done = done && (!energy || call_get_double(PyTuple_GetItem(parts, 0), "energy", energy)) &&
           (!P || copy_numbers(PyTuple_GetItem(parts, 1), P, 9, "stress")) &&
           (!H || copy_numbers(PyTuple_GetItem(parts, 2), H, 81, "tangent"));
    if (!done) {
        callback_keep_error();
        if (energy) {
            *energy = NAN; // ends the call that asked; the exception is raised there
        }
    }
    Py_XDECREF(parts);
    Py_XDECREF(result);
    Py_XDECREF(axes);
    Py_XDECREF(gradient);
    PyGILState_Release(state);
}

/// The bytes live in the callable's attribute list, because the library uses them after the call.
bool callback_fetch(void *user, const char *name, const void **data, size_t *size) {
    PyGILState_STATE state = PyGILState_Ensure();
    PyObject *result = PyObject_CallFunction(user, "s", name);
    bool found = result && PyBytes_Check(result);
    if (result && result != Py_None && !found) {
        PyErr_SetString(PyExc_TypeError, "fetch returns bytes, or None if there is no such file");
    }
    if (PyErr_Occurred()) {
        callback_keep_error();
    }
    if (found) {
        *data = PyBytes_AsString(result);
        *size = (size_t)PyBytes_Size(result);
        PyObject *files = PyObject_GetAttrString(user, "files");
        found = files && PyList_Check(files) && PyList_Append(files, result) == 0;
        if (!found) {
            PyErr_SetString(PyExc_TypeError,
                            "fetch needs an attribute `files`, a list that keeps the bytes");
            callback_keep_error();
        }
        Py_XDECREF(files);
    }
    Py_XDECREF(result);
    PyGILState_Release(state);
    return found;
}

static sinew_status call_with_bytes(void *user, const char *name, const void *data, size_t size) {
    PyGILState_STATE state = PyGILState_Ensure();
    PyObject *result = PyObject_CallFunction(user, "sy#", name, data, (Py_ssize_t)size);
    if (!result) {
        callback_keep_error();
    }
    Py_XDECREF(result);
    PyGILState_Release(state);
    return result ? SINEW_OK : SINEW_CANCELLED;
}

sinew_status callback_write(void *user, const char *name, const void *data, size_t size) {
    return call_with_bytes(user, name, data, size);
}

sinew_status callback_cache(void *user, const char *name, const sinew_bytes *cache) {
    return call_with_bytes(user, name, sinew_bytes_get_data(cache), sinew_bytes_get_size(cache));
}
