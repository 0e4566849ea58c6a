// Enumerations as Python's IntEnum. Arguments may be members, numbers or names in any case.
//
// SPDX-License-Identifier: Apache-2.0
#include "core.h"

#include <ctype.h>
#include <string.h>

PyObject *enum_wrap(const enum_type *type, int32_t value) {
    PyObject *member = PyObject_CallFunction(type->type, "i", (int)value);
    if (!member) {
        PyErr_Clear();
        return PyLong_FromLong(value);
    }
    return member;
}

/// Compares "iteration-limit", "Iteration limit" and "ITERATION_LIMIT" as equal.
static bool is_same(const char *a, const char *b) {
    for (; *a && *b; a++, b++) {
        int x = *a == '-' || *a == ' ' ? '_' : toupper((unsigned char)*a);
        if (x != *b) {
            return false;
        }
    }
    return *a == *b;
}

static bool find_name(const enum_type *type, PyObject *text, int32_t *value) {
    PyObject *bytes = PyUnicode_AsUTF8String(text);
    const char *name = bytes ? PyBytes_AsString(bytes) : NULL;
    bool found = false;
    for (int32_t i = 0; name && i < type->count; i++) {
        if (is_same(name, type->items[i].name)) {
            *value = type->items[i].value;
            found = true;
        }
    }
    Py_XDECREF(bytes);
    return found;
}

static void refuse(const enum_type *type, PyObject *object, const char *what) {
    char names[512] = "";
    for (int32_t i = 0; i < type->count; i++) {
        size_t used = strlen(names);
        PyOS_snprintf(names + used, sizeof names - used, "%s%s", i > 0 ? ", " : "",
                      type->items[i].name);
    }
    PyErr_Format(PyExc_ValueError, "%s: %R is no %s; valid are %s", what, object, type->name,
                 names);
}

bool enum_get(PyObject *object, const enum_type *type, const char *what, int32_t *value) {
    if (PyUnicode_Check(object)) {
        if (find_name(type, object, value)) {
            return true;
        }
        refuse(type, object, what);
        return false;
    }

    int64_t number = 0;
    if (!call_get_int64(object, what, INT32_MIN, INT32_MAX, &number)) {
        return false;
    }
    for (int32_t i = 0; i < type->count; i++) {
        if (type->items[i].value == number) {
            *value = (int32_t)number;
            return true;
        }
    }
    refuse(type, object, what);
    return false;
}

static PyObject *make_type(PyObject *int_enum, const enum_type *type) {
    PyObject *items = PyList_New(0);
    for (int32_t i = 0; items && i < type->count; i++) {
        PyObject *pair = Py_BuildValue("(si)", type->items[i].name, (int)type->items[i].value);
        if (!pair || PyList_Append(items, pair) != 0) {
            Py_CLEAR(items);
        }
        Py_XDECREF(pair);
    }
    PyObject *made = items ? PyObject_CallFunction(int_enum, "sO", type->name, items) : NULL;
    PyObject *doc = made ? PyUnicode_FromString(type->doc) : NULL;
    PyObject *home = doc ? PyUnicode_FromString("sinew._core") : NULL;
    bool done = home && PyObject_SetAttrString(made, "__doc__", doc) == 0 &&
                PyObject_SetAttrString(made, "__module__", home) == 0;
    Py_XDECREF(items);
    Py_XDECREF(doc);
    Py_XDECREF(home);
    return done ? made : NULL;
}

bool enum_types_add(PyObject *module, enum_type *const *types, int32_t count) {
    PyObject *library = PyImport_ImportModule("enum");
    PyObject *int_enum = library ? PyObject_GetAttrString(library, "IntEnum") : NULL;
    Py_XDECREF(library);
    bool done = int_enum != NULL;
    for (int32_t i = 0; done && i < count; i++) {
        types[i]->type = make_type(int_enum, types[i]);
        done = types[i]->type && PyModule_AddObjectRef(module, types[i]->name, types[i]->type) == 0;
    }
    Py_XDECREF(int_enum);
    return done;
}
