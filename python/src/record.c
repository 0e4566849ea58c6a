// Records: C structs as Python objects, with one attribute for each field.
//
// A pointer in a struct points at memory of another Python object, which the record keeps in
// `refs`. Before a record goes to the library, record_get follows these once more: lists of structs
// are copied together, handles must still exist, and arrays must be as long as what will be read.
//
// SPDX-License-Identifier: Apache-2.0
#include "core.h"

#include <string.h>

static PyObject *record_base;

bool record_check(PyObject *object) {
    return PyObject_TypeCheck(object, (PyTypeObject *)record_base);
}

handle *record_get_source(PyObject *object) {
    return record_check(object) ? ((record *)object)->source : NULL;
}

// References ------------------------------------------------------------------------------------

static bool set_ref(record *self, const record_field *field, PyObject *object) {
    if (!self->refs && !(self->refs = PyDict_New())) {
        return false;
    }
    return PyDict_SetItemString(self->refs, field->name, object) == 0;
}

/// Keeps memory that a pointer points to, but that is not what the field shows in Python.
static bool keep_memory(record *self, const record_field *field, PyObject *object) {
    if (!self->refs && !(self->refs = PyDict_New())) {
        return false;
    }
    char key[80];
    PyOS_snprintf(key, sizeof key, "%s.", field->name); // no field has a name like this
    return PyDict_SetItemString(self->refs, key, object) == 0;
}

/// What is behind a pointer: a borrowed reference, or NULL.
static PyObject *get_ref(const record *self, const record_field *field) {
    return self->refs ? PyDict_GetItemString(self->refs, field->name) : NULL;
}

static void *at(const record *self, const record_field *field) {
    return (char *)self->data + field->offset;
}

/// Writes how many items a pointer points to.
static void set_count(const record *self, const record_field *field, Py_ssize_t count) {
    if (!field->has_count) {
        return;
    }
    void *to = (char *)self->data + field->count_offset;
    if (field->kind == FIELD_BYTES) {
        *(size_t *)to = (size_t)count;
    } else {
        *(int32_t *)to = (int32_t)count;
    }
}

static int32_t get_count(const record *self, const record_field *field) {
    return field->has_count ? *(int32_t *)(void *)((char *)self->data + field->count_offset) : 0;
}

// Reading fields --------------------------------------------------------------------------------

static PyObject *get_scalar(const record_field *field, const void *from) {
    switch (field->kind) {
    case FIELD_DOUBLE: return PyFloat_FromDouble(*(const double *)from);
    case FIELD_INT32: return PyLong_FromLong(*(const int32_t *)from);
    case FIELD_INT64: return PyLong_FromLongLong(*(const int64_t *)from);
    case FIELD_UINT32: return PyLong_FromUnsignedLong(*(const uint32_t *)from);
    case FIELD_SIZE: return PyLong_FromSize_t(*(const size_t *)from);
    case FIELD_BOOL: return PyBool_FromLong(*(const bool *)from);
    case FIELD_ENUM: return enum_wrap(field->words, *(const int32_t *)from);
    default: return NULL;
    }
}

static PyObject *get_tuple(const record_field *field, const char *from) {
    PyObject *tuple = PyTuple_New(field->count);
    for (int32_t i = 0; tuple && i < field->count; i++) {
        PyObject *item = get_scalar(field, from + (size_t)i * field->item_size);
        if (!item || PyTuple_SetItem(tuple, i, item) != 0) {
            Py_CLEAR(tuple);
        }
    }
    return tuple;
}

/// Numbers that the library points to, such as the points of a mesh it made.
static PyObject *view_numbers(record *self, const record_field *field) {
    const void *pointer = *(void *const *)at(self, field);
    if (!pointer || !(field->need || field->has_count)) {
        Py_RETURN_NONE;
    }
    Py_ssize_t rows = field->need ? (Py_ssize_t)field->need(self->data) : get_count(self, field);
    return array_view(pointer, rows, field->columns > 1 ? field->columns : 0, field->format,
                      (Py_ssize_t)field->item_size, (PyObject *)self);
}

static PyObject *view_records(record *self, const record_field *field) {
    char *pointer = *(char **)at(self, field);
    int32_t count = pointer ? get_count(self, field) : 0;
    PyObject *list = PyList_New(count);
    for (int32_t i = 0; list && i < count; i++) {
        PyObject *item = record_view(field->record, pointer + (size_t)i * field->record->size,
                                     (PyObject *)self, self->source);
        if (!item || PyList_SetItem(list, i, item) != 0) {
            Py_CLEAR(list);
        }
    }
    return list;
}

static PyObject *get_pointer(record *self, const record_field *field) {
    void *pointer = *(void **)at(self, field);
    switch (field->kind) {
    case FIELD_STRING: {
        const char *text = pointer;
        return text ? PyUnicode_DecodeUTF8(text, (Py_ssize_t)strlen(text), "replace")
                    : Py_NewRef(Py_None);
    }
    case FIELD_NUMBERS: return view_numbers(self, field);
    case FIELD_RECORDS: return view_records(self, field);
    case FIELD_RECORD_POINTER:
        return pointer ? record_view(field->record, pointer, (PyObject *)self, self->source)
                       : Py_NewRef(Py_None);
    case FIELD_HANDLE:
        return pointer && self->source ? handle_wrap(field->handle, pointer, self->source, NULL)
                                       : Py_NewRef(Py_None);
    default: Py_RETURN_NONE;
    }
}

static PyObject *get_field(PyObject *object, void *closure) {
    record *self = (record *)object;
    const record_field *field = closure;
    if (self->source && !handle_is_alive(self->source) && self->frozen) {
        PyErr_Format(PyExc_ValueError, "the %s that this %s came from has been destroyed",
                     self->source->kind->name, self->type->name);
        return NULL;
    }

    PyObject *ref = get_ref(self, field);
    if (ref) {
        return Py_NewRef(ref);
    }
    if (field->kind <= FIELD_ENUM) {
        return field->count > 0 ? get_tuple(field, at(self, field))
                                : get_scalar(field, at(self, field));
    }
    if (field->kind == FIELD_TEXT) {
        const char *text = at(self, field);
        return PyUnicode_DecodeUTF8(text, (Py_ssize_t)strlen(text), "replace");
    }
    if (field->kind == FIELD_RECORD) {
        // Kept, because what is set through the view is kept by the view.
        PyObject *view = record_view(field->record, at(self, field), object, self->source);
        return view && set_ref(self, field, view) ? view : (Py_XDECREF(view), NULL);
    }
    return get_pointer(self, field);
}

// Writing fields --------------------------------------------------------------------------------

static bool set_scalar(const record_field *field, PyObject *value, void *to) {
    int64_t whole = 0;
    switch (field->kind) {
    case FIELD_DOUBLE: return call_get_double(value, field->name, to);
    case FIELD_BOOL: return call_get_bool(value, field->name, to);
    case FIELD_ENUM: return enum_get(value, field->words, field->name, to);
    case FIELD_INT32:
        return call_get_int64(value, field->name, INT32_MIN, INT32_MAX, &whole) &&
               (*(int32_t *)to = (int32_t)whole, true);
    case FIELD_INT64: return call_get_int64(value, field->name, INT64_MIN, INT64_MAX, to);
    case FIELD_SIZE:
        return call_get_int64(value, field->name, 0, INT64_MAX, &whole) &&
               (*(size_t *)to = (size_t)whole, true);
    default: PyErr_Format(PyExc_AttributeError, "%s cannot be set", field->name); return false;
    }
}

static bool set_tuple(const record_field *field, PyObject *value, char *to) {
    Py_ssize_t count = PySequence_Check(value) ? PySequence_Size(value) : -1;
    if (count != field->count) {
        PyErr_Format(PyExc_ValueError, "%s: expected %d numbers, got %R", field->name,
                     (int)field->count, value);
        return false;
    }
    for (Py_ssize_t i = 0; i < count; i++) {
        PyObject *item = PySequence_GetItem(value, i);
        bool done = item && set_scalar(field, item, to + (size_t)i * field->item_size);
        Py_XDECREF(item);
        if (!done) {
            return false;
        }
    }
    return true;
}

static bool set_string(record *self, const record_field *field, PyObject *value) {
    PyObject *text = PyUnicode_Check(value) ? PyUnicode_AsUTF8String(value) : NULL;
    if (!text) {
        PyErr_Format(PyExc_TypeError, "%s: expected a string, got %R", field->name, value);
        return false;
    }
    *(const char **)at(self, field) = PyBytes_AsString(text);
    bool done = keep_memory(self, field, text);
    Py_DECREF(text);
    return done;
}

static bool set_numbers(record *self, const record_field *field, PyObject *value) {
    array *numbers = array_from(value, field->format, (Py_ssize_t)field->item_size, field->name);
    if (!numbers) {
        return false;
    }
    Py_ssize_t length = array_length(numbers);
    if (length % field->columns != 0) {
        PyErr_Format(PyExc_ValueError, "%s: %zd numbers are no multiple of %d", field->name, length,
                     (int)field->columns);
        Py_DECREF((PyObject *)numbers);
        return false;
    }

    *(void **)at(self, field) = numbers->pointer;
    set_count(self, field, length / field->columns);
    bool done = set_ref(self, field, (PyObject *)numbers);
    Py_DECREF((PyObject *)numbers);
    return done;
}

/// A list of records, strings or arrays: kept as a list, and copied together when it is used.
static bool set_list(record *self, const record_field *field, PyObject *value) {
    bool one = field->kind == FIELD_RECORDS && record_check(value);
    PyObject *list = one ? PyList_New(0) : PySequence_List(value);
    bool done = list && (!one || PyList_Append(list, value) == 0);
    if (done) {
        set_count(self, field, PyList_Size(list));
        done = set_ref(self, field, list);
    }
    Py_XDECREF(list);
    return done;
}

static bool set_bytes(record *self, const record_field *field, PyObject *value) {
    array *bytes = array_from(value, "B", 1, field->name);
    if (!bytes) {
        return false;
    }
    *(void **)at(self, field) = bytes->pointer;
    set_count(self, field, array_length(bytes));
    bool done = set_ref(self, field, (PyObject *)bytes);
    Py_DECREF((PyObject *)bytes);
    return done;
}

static bool set_callback(record *self, const record_field *field, PyObject *value) {
    if (!PyCallable_Check(value)) {
        PyErr_Format(PyExc_TypeError, "%s: expected a callable, got %R", field->name, value);
        return false;
    }
    *(void **)at(self, field) = field->trampoline;
    *(void **)(void *)((char *)self->data + field->user_offset) = value;
    return set_ref(self, field, value);
}

static bool clear_pointer(record *self, const record_field *field) {
    *(void **)at(self, field) = NULL;
    set_count(self, field, 0);
    if (get_ref(self, field)) {
        return PyDict_DelItemString(self->refs, field->name) == 0;
    }
    return true;
}

static bool set_pointer(record *self, const record_field *field, PyObject *value) {
    if (value == Py_None) {
        return clear_pointer(self, field);
    }
    void *pointer = NULL;
    switch (field->kind) {
    case FIELD_STRING: return set_string(self, field, value);
    case FIELD_NUMBERS: return set_numbers(self, field, value);
    case FIELD_RECORDS:
    case FIELD_STRINGS:
    case FIELD_ARRAYS: return set_list(self, field, value);
    case FIELD_BYTES: return set_bytes(self, field, value);
    case FIELD_CALLBACK: return set_callback(self, field, value);
    case FIELD_RECORD_POINTER:
        if (!record_get(value, field->record, field->name, &pointer)) {
            return false;
        }
        break;
    default:
        if (!handle_get(value, field->handle, field->name, &pointer)) {
            return false;
        }
        break;
    }
    *(void **)at(self, field) = pointer;
    return set_ref(self, field, value);
}

static int set_field(PyObject *object, PyObject *value, void *closure) {
    record *self = (record *)object;
    const record_field *field = closure;
    if (!value || self->frozen || strcmp(field->name, "filled") == 0) {
        PyErr_Format(PyExc_AttributeError, "%s.%s cannot be set", self->type->name, field->name);
        return -1;
    }
    if (field->kind <= FIELD_ENUM) {
        bool done = field->count > 0 ? set_tuple(field, value, at(self, field))
                                     : set_scalar(field, value, at(self, field));
        return done ? 0 : -1;
    }
    if (field->kind == FIELD_RECORD) {
        void *data = NULL;
        if (value == Py_None || !record_get(value, field->record, field->name, &data)) {
            return -1;
        }
        memmove(at(self, field), data, field->record->size);
        return set_ref(self, field, value) ? 0 : -1;
    }
    return set_pointer(self, field, value) ? 0 : -1;
}

// Before a record goes to the library ------------------------------------------------------------

/// Copies the items of a list into one block of memory, which the record keeps under another name.
static bool gather(record *self, const record_field *field, PyObject *list) {
    Py_ssize_t count = PyList_Size(list);
    size_t size = field->kind == FIELD_RECORDS ? field->record->size : sizeof(void *);
    array *block = array_new(count, 0, "B", (Py_ssize_t)size);
    PyObject *items = PyList_New(0);
    bool done = block && items;

    for (Py_ssize_t i = 0; done && i < count; i++) {
        PyObject *item = PyList_GetItem(list, i);
        char *to = (char *)block->memory + (size_t)i * size;
        if (field->kind == FIELD_RECORDS) {
            void *data = NULL;
            done = record_get(item, field->record, field->name, &data) && data;
            if (done) {
                memcpy(to, data, size);
            }
        } else if (field->kind == FIELD_STRINGS) {
            PyObject *text = PyUnicode_AsUTF8String(item);
            done = text && PyList_Append(items, text) == 0;
            *(const char **)(void *)to = done ? PyBytes_AsString(text) : NULL;
            Py_XDECREF(text);
        } else {
            array *numbers =
                array_from(item, field->format, (Py_ssize_t)field->item_size, field->name);
            done = numbers && PyList_Append(items, (PyObject *)numbers) == 0;
            *(void **)(void *)to = done ? numbers->pointer : NULL;
            Py_XDECREF((PyObject *)numbers);
        }
    }

    if (done) {
        *(void **)at(self, field) = count > 0 ? block->memory : NULL;
        set_count(self, field, count);
        PyObject *pair = PyTuple_Pack(2, (PyObject *)block, items);
        done = pair && keep_memory(self, field, pair);
        Py_XDECREF(pair);
    } else if (!PyErr_Occurred()) {
        PyErr_Format(PyExc_TypeError, "%s: an item is None", field->name);
    }
    Py_XDECREF(items);
    Py_XDECREF((PyObject *)block);
    return done;
}

static bool prepare_field(record *self, const record_field *field) {
    PyObject *ref = get_ref(self, field);
    if (!ref) {
        return true;
    }
    void *pointer = NULL;
    switch (field->kind) {
    case FIELD_RECORDS:
    case FIELD_STRINGS:
    case FIELD_ARRAYS: return gather(self, field, ref);
    case FIELD_RECORD:
        if (!record_get(ref, field->record, field->name, &pointer)) {
            return false;
        }
        memmove(at(self, field), pointer, field->record->size);
        return true;
    case FIELD_RECORD_POINTER:
        if (!record_get(ref, field->record, field->name, &pointer)) {
            return false;
        }
        *(void **)at(self, field) = pointer;
        return true;
    case FIELD_HANDLE:
        if (!handle_get(ref, field->handle, field->name, &pointer)) {
            return false;
        }
        *(void **)at(self, field) = pointer;
        return true;
    default: return true;
    }
}

static bool check_lengths(const record *self) {
    for (int32_t i = 0; i < self->type->field_count; i++) {
        const record_field *field = &self->type->fields[i];
        PyObject *ref = field->need ? get_ref(self, field) : NULL;
        if (!ref || field->kind != FIELD_NUMBERS) {
            continue;
        }
        int64_t need = field->need(self->data) * field->columns;
        if (array_length((const array *)ref) < need) {
            PyErr_Format(PyExc_ValueError, "%s.%s: %zd numbers are too few; %lld are needed",
                         self->type->name, field->name, array_length((const array *)ref),
                         (long long)need);
            return false;
        }
    }
    return true;
}

bool record_get(PyObject *object, record_type *type, const char *what, void **data) {
    if (object == Py_None) {
        *data = NULL;
        return true;
    }
    record *self = (record *)object;
    if (!record_check(object) || self->type != type) {
        PyErr_Format(PyExc_TypeError, "%s: expected a %s, got %R", what, type->name,
                     (PyObject *)Py_TYPE(object));
        return false;
    }
    if (self->frozen && self->source && !handle_is_alive(self->source)) {
        PyErr_Format(PyExc_ValueError, "%s: the %s it came from has been destroyed", what,
                     self->source->kind->name);
        return false;
    }
    for (int32_t i = 0; self->refs && i < type->field_count; i++) {
        if (!prepare_field(self, &type->fields[i])) {
            return false;
        }
    }
    *data = self->data;
    return !self->refs || check_lengths(self);
}

static bool check_array(PyObject *object, const char *path, const char *name, Py_ssize_t rows,
                        Py_ssize_t columns, const char *per) {
    PyObject *numbers = PyObject_GetAttrString(object, name);
    PyObject *width = numbers && per ? PyObject_GetAttrString(object, per) : NULL;
    Py_ssize_t wanted = rows * (width ? (Py_ssize_t)PyLong_AsLongLong(width) : columns);
    Py_ssize_t length = numbers && numbers != Py_None ? array_length((array *)numbers) : -1;
    bool done = numbers && (numbers == Py_None || length == wanted);
    if (numbers && !done) {
        PyErr_Format(PyExc_ValueError, "%s: expected %zd numbers, got %zd", path, wanted, length);
    }
    Py_XDECREF(width);
    Py_XDECREF((PyObject *)numbers);
    return done;
}

bool record_check_length(PyObject *object, const char *path, Py_ssize_t rows, Py_ssize_t columns,
                         const char *per) {
    const char *dot = strchr(path, '.');
    if (!dot) {
        return check_array(object, path, path, rows, columns, per);
    }

    // The part before the dot is a record, or a list of records.
    char first[64];
    PyOS_snprintf(first, sizeof first, "%.*s", (int)(dot - path), path);
    PyObject *inner = PyObject_GetAttrString(object, first);
    bool done = inner != NULL;
    if (done && PyList_Check(inner)) {
        for (Py_ssize_t i = 0; done && i < PyList_Size(inner); i++) {
            done = check_array(PyList_GetItem(inner, i), path, dot + 1, rows, columns, per);
        }
    } else if (done && inner != Py_None) {
        done = check_array(inner, path, dot + 1, rows, columns, per);
    }
    Py_XDECREF(inner);
    return done;
}

/// Lists what is behind a reference, whatever it is.
static bool collect(PyObject *object, PyObject *list) {
    if (handle_check(object) || PyCallable_Check(object)) {
        return PyList_Append(list, object) == 0;
    }
    if (record_check(object)) {
        return record_collect(object, list);
    }
    Py_ssize_t count = PyList_Check(object) ? PyList_Size(object) : 0;
    for (Py_ssize_t i = 0; i < count; i++) {
        if (!collect(PyList_GetItem(object, i), list)) {
            return false;
        }
    }
    return true;
}

bool record_collect(PyObject *object, PyObject *list) {
    record *self = (record *)object;
    for (int32_t i = 0; i < self->type->field_count; i++) {
        const record_field *field = &self->type->fields[i];
        PyObject *ref = get_ref(self, field);
        if (ref && !collect(ref, list)) {
            return false;
        }
        if (ref || field->kind != FIELD_HANDLE) {
            continue;
        }

        // A pointer that the library wrote, such as the body that a ray hit.
        PyObject *found = get_pointer(self, field);
        bool done = found && (found == Py_None || PyList_Append(list, found) == 0);
        Py_XDECREF(found);
        if (!done) {
            return false;
        }
    }
    return true;
}

// Creation --------------------------------------------------------------------------------------

static record *make(record_type *type) {
    PyTypeObject *python = (PyTypeObject *)(type->python_class ? type->python_class : type->type);
    allocfunc allocate = (allocfunc)PyType_GetSlot(python, Py_tp_alloc);
    record *self = (record *)allocate(python, 0);
    if (self) {
        self->type = type;
    }
    return self;
}

static record *make_with_memory(record_type *type) {
    record *self = make(type);
    if (self && !(self->data = PyMem_Calloc(1, type->size))) {
        Py_CLEAR(self);
        PyErr_NoMemory();
    }
    return self;
}

PyObject *record_wrap(record_type *type, const void *data, handle *source) {
    record *self = make_with_memory(type);
    if (!self) {
        return NULL;
    }
    memcpy(self->data, data, type->size);
    self->source = (handle *)Py_XNewRef((PyObject *)source);
    return (PyObject *)self;
}

PyObject *record_view(record_type *type, const void *data, PyObject *parent, handle *source) {
    record *self = make(type);
    if (!self) {
        return NULL;
    }
    self->data = (void *)(uintptr_t)data;
    self->parent = Py_NewRef(parent);
    self->source = (handle *)Py_XNewRef((PyObject *)source);
    self->frozen = !record_check(parent) || ((record *)parent)->frozen;
    return (PyObject *)self;
}

PyObject *record_take(record_type *type, void *memory, handle *source) {
    if (!memory) {
        Py_RETURN_NONE;
    }
    record *self = make(type);
    if (!self) {
        type->destroy(memory);
        return NULL;
    }
    self->data = memory;
    self->memory = memory;
    self->frozen = true;
    if (source) {
        self->source = (handle *)Py_NewRef((PyObject *)source->root);
        self->source->dependents++;
    }
    return (PyObject *)self;
}

static void record_dealloc(PyObject *object) {
    record *self = (record *)object;
    PyTypeObject *type = Py_TYPE(object);
    PyObject_GC_UnTrack(object);
    if (self->memory) {
        self->type->destroy(self->memory);
        if (self->source) {
            self->source->dependents--;
        }
    } else if (!self->parent) {
        PyMem_Free(self->data);
    }
    Py_XDECREF(self->parent);
    Py_XDECREF(self->refs);
    Py_XDECREF((PyObject *)self->source);

    freefunc release = (freefunc)PyType_GetSlot(type, Py_tp_free);
    release(object);
    Py_DECREF((PyObject *)type);
}

static int record_traverse(PyObject *object, visitproc visit, void *arg) {
    record *self = (record *)object;
    Py_VISIT(Py_TYPE(object));
    Py_VISIT(self->parent);
    Py_VISIT(self->refs);
    Py_VISIT((PyObject *)self->source);
    return 0;
}

static int record_clear(PyObject *object) {
    Py_CLEAR(((record *)object)->refs);
    return 0;
}

// The types -------------------------------------------------------------------------------------

static record_type *find_type(PyTypeObject *python) {
    for (int32_t i = 0; i < record_type_count; i++) {
        if (PyType_IsSubtype(python, (PyTypeObject *)record_types[i]->type)) {
            return record_types[i];
        }
    }
    PyErr_SetString(PyExc_TypeError, "this type has no struct");
    return NULL;
}

static PyObject *record_new(PyTypeObject *python, PyObject *args, PyObject *keywords) {
    (void)keywords;
    record_type *type = find_type(python);
    if (!type) {
        return NULL;
    }
    if (PyTuple_Size(args) > 0) {
        PyErr_Format(PyExc_TypeError, "%s takes the names of its fields: %s(name=value, ...)",
                     type->name, type->name);
        return NULL;
    }
    allocfunc allocate = (allocfunc)PyType_GetSlot(python, Py_tp_alloc);
    record *self = (record *)allocate(python, 0);
    if (!self) {
        return NULL;
    }
    self->type = type;
    self->data = PyMem_Calloc(1, type->size);
    if (!self->data) {
        Py_DECREF((PyObject *)self);
        return PyErr_NoMemory();
    }
    if (type->make) {
        type->make(self->data);
    }
    return (PyObject *)self;
}

static int record_init(PyObject *self, PyObject *args, PyObject *keywords) {
    (void)args;
    PyObject *key = NULL, *value = NULL;
    Py_ssize_t position = 0;
    while (keywords && PyDict_Next(keywords, &position, &key, &value)) {
        if (PyObject_SetAttr(self, key, value) != 0) {
            return -1;
        }
    }
    return 0;
}

static PyObject *record_repr(PyObject *object) {
    const record *self = (const record *)object;
    PyObject *parts = PyList_New(0);
    for (int32_t i = 0; parts && i < self->type->field_count; i++) {
        const record_field *field = &self->type->fields[i];
        PyObject *value = PyObject_GetAttrString(object, field->name);
        PyObject *part = value ? PyUnicode_FromFormat("%s=%R", field->name, value) : NULL;
        bool is_empty = value == Py_None || strcmp(field->name, "filled") == 0;
        if (!part || (!is_empty && PyList_Append(parts, part) != 0)) {
            Py_CLEAR(parts);
        }
        Py_XDECREF(value);
        Py_XDECREF(part);
    }
    PyObject *comma = PyUnicode_FromString(", ");
    PyObject *joined = parts && comma ? PyUnicode_Join(comma, parts) : NULL;
    PyObject *text = joined ? PyUnicode_FromFormat("%s(%U)", self->type->name, joined) : NULL;
    Py_XDECREF(comma);
    Py_XDECREF(parts);
    Py_XDECREF(joined);
    return text;
}

static PyObject *record_get_owner(PyObject *self, void *unused) {
    (void)unused;
    PyObject *source = (PyObject *)((record *)self)->source;
    return Py_NewRef(source ? source : Py_None);
}

static PyGetSetDef base_properties[] = {
    {"source", record_get_owner, NULL, "The object of the library that it came from, or None.",
     NULL},
    {NULL, NULL, NULL, NULL, NULL},
};

static PyObject *make_base(void) {
    PyType_Slot slots[] = {
        {Py_tp_doc, (void *)"A struct of the library."},
        {Py_tp_new, (void *)record_new},
        {Py_tp_init, (void *)record_init},
        {Py_tp_dealloc, (void *)record_dealloc},
        {Py_tp_traverse, (void *)record_traverse},
        {Py_tp_clear, (void *)record_clear},
        {Py_tp_repr, (void *)record_repr},
        {Py_tp_getset, base_properties},
        {0, NULL},
    };
    PyType_Spec spec = {"sinew._core.Record", sizeof(record), 0,
                        Py_TPFLAGS_DEFAULT | Py_TPFLAGS_BASETYPE | Py_TPFLAGS_HAVE_GC, slots};
    return PyType_FromSpec(&spec);
}

/// {"young": ("[Pa]", "Young's modulus. ..."), ...}: what the headers say about each field.
static PyObject *describe(const record_type *type) {
    PyObject *fields = PyDict_New();
    for (int32_t i = 0; fields && i < type->field_count; i++) {
        const record_field *field = &type->fields[i];
        PyObject *pair = Py_BuildValue("(zs)", field->unit, field->doc);
        if (!pair || PyDict_SetItemString(fields, field->name, pair) != 0) {
            Py_CLEAR(fields);
        }
        Py_XDECREF(pair);
    }
    return fields;
}

static bool add_type(PyObject *module, record_type *type) {
    // Lives as long as the type, which is as long as the process.
    PyGetSetDef *properties = PyMem_Calloc((size_t)type->field_count + 1, sizeof *properties);
    if (!properties) {
        return false;
    }
    for (int32_t i = 0; i < type->field_count; i++) {
        const record_field *field = &type->fields[i];
        properties[i] =
            (PyGetSetDef){field->name, get_field, set_field, field->doc, (void *)(uintptr_t)field};
    }
    PyType_Slot slots[] = {
        {Py_tp_doc, (void *)(uintptr_t)type->doc},
        {Py_tp_getset, properties},
        {0, NULL},
    };
    char name[80];
    PyOS_snprintf(name, sizeof name, "sinew._core.%s", type->name);
    PyType_Spec spec = {name, sizeof(record), 0, Py_TPFLAGS_DEFAULT | Py_TPFLAGS_BASETYPE, slots};
    type->type = PyType_FromSpecWithBases(&spec, record_base);

    PyObject *fields = type->type ? describe(type) : NULL;
    bool done = fields && PyObject_SetAttrString(type->type, "FIELDS", fields) == 0 &&
                PyModule_AddObjectRef(module, type->name, type->type) == 0;
    Py_XDECREF(fields);
    return done;
}

bool record_types_add(PyObject *module, record_type *const *types, int32_t count) {
    record_base = make_base();
    if (!record_base || PyModule_AddObjectRef(module, "Record", record_base) != 0) {
        return false;
    }
    for (int32_t i = 0; i < count; i++) {
        if (!add_type(module, types[i])) {
            return false;
        }
    }
    return true;
}
