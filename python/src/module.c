// The module sinew._core.
//
// SPDX-License-Identifier: Apache-2.0
#include "core.h"

/// register(cls): objects that the library returns are of this subclass from now on.
static PyObject *module_register(PyObject *module, PyObject *cls) {
    (void)module;
    if (!PyType_Check(cls)) {
        PyErr_SetString(PyExc_TypeError, "expected a class");
        return NULL;
    }
    for (int32_t i = 0; i < handle_kind_count; i++) {
        if (PyType_IsSubtype((PyTypeObject *)cls, (PyTypeObject *)handle_kinds[i]->type)) {
            handle_kinds[i]->python_class = Py_NewRef(cls);
            return Py_NewRef(cls);
        }
    }
    for (int32_t i = 0; i < record_type_count; i++) {
        if (PyType_IsSubtype((PyTypeObject *)cls, (PyTypeObject *)record_types[i]->type)) {
            record_types[i]->python_class = Py_NewRef(cls);
            return Py_NewRef(cls);
        }
    }
    PyErr_SetString(PyExc_TypeError, "expected a subclass of a type of this module");
    return NULL;
}

static PyMethodDef own_functions[] = {
    {"register", module_register, METH_O,
     "Makes objects that the library returns instances of this subclass. Usable as a decorator."},
    {"step_all", batch_step_all, METH_VARARGS,
     "step_all(worlds, steps, threads)\n\nAdvances worlds or scenes with contexts of their own."},
    {NULL, NULL, 0, NULL},
};

static struct PyModuleDef definition = {
    PyModuleDef_HEAD_INIT,
    "_core",
    "The C interface of Sinew, generated from its headers.",
    -1,
    own_functions,
    NULL,
    NULL,
    NULL,
    NULL,
};

PyMODINIT_FUNC PyInit__core(void);

PyMODINIT_FUNC PyInit__core(void) {
    PyObject *module = PyModule_Create(&definition);
    bool done = module && PyModule_AddFunctions(module, module_functions) == 0 &&
                constants_add(module) && errors_add(module) && array_type_add(module) &&
                enum_types_add(module, enum_types, enum_type_count) &&
                record_types_add(module, record_types, record_type_count) &&
                handle_types_add(module, handle_kinds, handle_kind_count);
    if (!done) {
        Py_CLEAR(module);
    }
    return module;
}
