// What the generated tables and wrappers of the Python module are made of.
//
// The module has three sorts of objects:
//   handle   an object of the library behind a pointer: a world, a body, a voxel grid
//   record   a C struct: a definition, a report, a mesh
//   array    numbers in C memory, which numpy can use without a copy
// generate.py reads the public headers and writes, for each type, a table of its fields and, for
// each function, a wrapper that uses the calls below.
//
// SPDX-License-Identifier: Apache-2.0
#ifndef SINEW_PYTHON_CORE_H
#define SINEW_PYTHON_CORE_H

#define PY_SSIZE_T_CLEAN
#define Py_LIMITED_API 0x030B0000
#include <Python.h>

#include <stdbool.h>
#include <stdint.h>

#include "sinew/io.h"
#include "sinew/sinew.h"

// Types ----------------------------------------------------------------------------------------

typedef struct handle_kind {
    const char *name; ///< Of the Python type, e.g. "World".
    const char *doc;
    void (*destroy)(void *); ///< NULL: never destroyed from Python.
    bool owned;              ///< Destroyed with its last reference; others belong to their world.
    bool dies_with_bodies;   ///< Is only valid as long as the bodies it was made of.
    PyMethodDef *methods;
    PyGetSetDef *properties;
    PyObject *type;         ///< The Python type, filled in by the module.
    PyObject *python_class; ///< A subclass registered from Python, or NULL.
} handle_kind;

/// What a field of a struct is, and how it appears in Python.
typedef enum field_kind {
    FIELD_DOUBLE,
    FIELD_INT32,
    FIELD_INT64,
    FIELD_UINT32,
    FIELD_SIZE,
    FIELD_BOOL,
    FIELD_ENUM,
    FIELD_TEXT,           ///< char[n]: str.
    FIELD_STRING,         ///< const char *: str or None.
    FIELD_NUMBERS,        ///< A pointer to numbers: an array or None.
    FIELD_RECORD,         ///< A struct by value.
    FIELD_RECORD_POINTER, ///< A pointer to one struct.
    FIELD_RECORDS,        ///< A pointer to several structs: a list.
    FIELD_STRINGS,        ///< A pointer to several strings: a list.
    FIELD_ARRAYS,         ///< A pointer to several arrays of numbers: a list.
    FIELD_HANDLE,         ///< A pointer to an object of the library.
    FIELD_BYTES,          ///< A pointer to bytes with their size.
    FIELD_CALLBACK,       ///< A function and its user pointer: a callable or None.
} field_kind;

typedef struct enum_type enum_type;
typedef struct record_type record_type;

typedef struct record_field {
    const char *name;
    const char *doc;
    const char *unit; ///< As written in the header, or NULL.
    field_kind kind;
    size_t offset;
    int32_t count;      ///< Items of an array in the struct; 0: a single value.
    const char *format; ///< Of the numbers behind a pointer, as in Python's struct module.
    size_t item_size;
    int32_t columns;     ///< Numbers that belong together, such as 3 of a point.
    size_t count_offset; ///< Where the number of items goes that a pointer points to...
    bool has_count;      ///< ... if the struct has one (an int32_t; a size_t for bytes).
    int64_t (*need)(const void *data); ///< Rows that the library will read; NULL: as many as given.
    record_type *record;
    handle_kind *handle;
    enum_type *words;
    void *trampoline;   ///< Of a callback: the C function that calls Python.
    size_t user_offset; ///< Of a callback: its user pointer.
} record_field;

struct record_type {
    const char *name;
    const char *doc;
    size_t size;
    const record_field *fields;
    int32_t field_count;
    void (*make)(void *data);      ///< Fills in the defaults; NULL: zeros.
    void (*destroy)(void *memory); ///< For a struct that the library allocates: a mesh.
    const char *format; ///< As an item of an array, for structs of numbers only, or NULL.
    PyObject *type;
    PyObject *python_class;
};

typedef struct enum_item {
    const char *name;
    int32_t value;
} enum_item;

struct enum_type {
    const char *name;
    const char *doc;
    const enum_item *items;
    int32_t count;
    PyObject *type;
};

// Handles ---------------------------------------------------------------------------------------

typedef struct handle {
    PyObject_HEAD handle_kind *kind;
    void *pointer;        ///< NULL once destroyed.
    void *address;        ///< The same, and stays: under this the context knows it.
    struct handle *owner; ///< What it was made with; NULL for a context.
    struct handle *root;  ///< The context; itself for a context.
    PyObject *partners;   ///< Tuple of bodies without which it is not valid, or NULL.
    PyObject *kept;       ///< Dict: address of a child -> list of what that child borrows, or NULL.
    PyObject *known;      ///< Of a context, dict: address -> weak reference to the handle, or NULL.
    PyObject *weak_list;
    Py_ssize_t dependents; ///< Objects that must be destroyed before it.
    Py_ssize_t exports;    ///< Arrays in use that look at its memory, its children's included.
    int64_t sizes[3];      ///< Lengths that the library has no call for; see lengths.py.
    bool owned;
    bool busy; ///< Of a context: a call is under way without the interpreter lock.
} handle;

/// Creates the base type and the type of each kind.
bool handle_types_add(PyObject *module, handle_kind *const *kinds, int32_t count);

/// Whether an object is a handle of any kind.
bool handle_check(PyObject *object);
/// The pointer behind a Python object; None gives NULL. Fails for other types, for what was
/// destroyed and while another thread uses the context.
bool handle_get(PyObject *object, const handle_kind *kind, const char *what, void **pointer);
/// The same for `self` of a method, without the check of its type.
bool handle_get_self(PyObject *self, void **pointer);
/// Whether it and everything it depends on still exists.
bool handle_is_alive(const handle *self);

/// The Python object for a pointer: the one that exists already, or a new one. NULL gives None.
/// `used` is a list of other objects that the call was given (call_collect), or NULL.
PyObject *handle_wrap(handle_kind *kind, void *pointer, handle *owner, PyObject *used);
/// A new handle for a context.
PyObject *handle_wrap_root(handle_kind *kind, void *pointer, PyObject *used);
/// Remembers objects that a child of `owner` borrows from now on.
bool handle_keep(handle *owner, void *child, PyObject *used);

/// An array in use looks at memory of this handle, or does not any more.
void handle_export(handle *self, Py_ssize_t change);

// Records ---------------------------------------------------------------------------------------

typedef struct record {
    PyObject_HEAD record_type *type;
    void *data;
    void *memory;     ///< What `type->destroy` takes back, or NULL.
    PyObject *parent; ///< Owns `data`; NULL: the record itself.
    PyObject *refs;   ///< Dict: name of a field -> the object behind its pointer, or NULL.
    handle *source;   ///< What it came from; pointers in it are of that world. Or NULL.
    bool frozen;      ///< Its arrays belong to the library; fields cannot be set.
} record;

bool record_types_add(PyObject *module, record_type *const *types, int32_t count);
bool enum_types_add(PyObject *module, enum_type *const *types, int32_t count);

/// Whether an object is a record of any type.
bool record_check(PyObject *object);
/// What a record came from, or NULL; also if it is something else.
handle *record_get_source(PyObject *object);
/// A new record with a copy of `data`.
PyObject *record_wrap(record_type *type, const void *data, handle *source);
/// A record that looks at memory of `parent`, which it keeps.
PyObject *record_view(record_type *type, const void *data, PyObject *parent, handle *source);
/// A record for a struct that the library allocated, and that is destroyed with the record.
PyObject *record_take(record_type *type, void *memory, handle *source);
/// The struct behind a Python object, with all pointers up to date and arrays of sufficient length.
/// None gives NULL.
bool record_get(PyObject *object, record_type *type, const char *what, void **data);

/// Fails unless an array behind "field", "field.field" or each item of a list "fields.field" has
/// `rows` times `columns` numbers (or times the number in the field `per` of the item). NULL is
/// fine.
bool record_check_length(PyObject *object, const char *path, Py_ssize_t rows, Py_ssize_t columns,
                         const char *per);
/// Appends the handles and callables behind the pointers of a record to a list.
bool record_collect(PyObject *object, PyObject *list);

PyObject *enum_wrap(const enum_type *type, int32_t value);
bool enum_get(PyObject *object, const enum_type *type, const char *what, int32_t *value);

// Arrays ----------------------------------------------------------------------------------------

typedef struct array {
    PyObject_HEAD void *pointer;
    Py_ssize_t shape[2];
    Py_ssize_t strides[2];
    int dimensions;
    const char *format;
    Py_ssize_t item_size;
    record_type *record; ///< Of the items, if these are structs.
    bool read_only;
    PyObject *owner; ///< A handle or record whose memory this is, or NULL.
    void *memory;    ///< Its own memory, or NULL.
    Py_buffer view;  ///< Of another object's memory, if view.obj is set.
} array;

bool array_type_add(PyObject *module);
/// An array with memory of its own, set to zero. `columns` 0 gives one dimension.
array *array_new(Py_ssize_t rows, int32_t columns, const char *format, Py_ssize_t item_size);
/// An array that looks at memory of the owner (a handle or a record). NULL gives None.
PyObject *array_view(const void *pointer, Py_ssize_t rows, int32_t columns, const char *format,
                     Py_ssize_t item_size, PyObject *owner);
/// An array with a copy of the numbers. NULL gives None.
PyObject *array_copy(const void *pointer, Py_ssize_t rows, int32_t columns, const char *format,
                     Py_ssize_t item_size);
/// Numbers from an object with a buffer (without a copy) or from a sequence, nested or not.
array *array_from(PyObject *object, const char *format, Py_ssize_t item_size, const char *what);
/// Structs from a sequence of records, or from a buffer of as many bytes.
array *array_from_records(PyObject *object, record_type *type, const char *what);
/// Items in all rows and columns.
Py_ssize_t array_length(const array *self);

// Calls -----------------------------------------------------------------------------------------

/// One call of the library from Python: what it has to release at its end.
typedef struct call {
    const char *name;
    handle *owner;  ///< The first handle among the arguments, or NULL.
    PyObject *kept; ///< List of temporary objects, or NULL.
    PyThreadState *thread;
} call;

/// The next calls convert arguments; `what` names the argument. They set an exception and return
/// false if it does not fit.
bool call_begin(call *self, const char *name, Py_ssize_t given, Py_ssize_t least, Py_ssize_t most);
bool call_get_double(PyObject *object, const char *what, double *value);
bool call_get_int64(PyObject *object, const char *what, int64_t low, int64_t high, int64_t *value);
bool call_get_bool(PyObject *object, const char *what, bool *value);
bool call_get_string(call *self, PyObject *object, const char *what, const char **text);
bool call_get_strings(call *self, PyObject *object, const char *what, const char *const **texts,
                      int32_t *count);
bool call_get_fixed(PyObject *object, const char *what, const char *format, void *values,
                    Py_ssize_t count, bool *given);
/// Numbers in a temporary array; None gives NULL. `length` may be NULL.
bool call_get_numbers(call *self, PyObject *object, const char *what, const char *format,
                      Py_ssize_t item_size, const void **values, Py_ssize_t *length);
bool call_get_records(call *self, PyObject *object, const char *what, record_type *type,
                      const void **values, Py_ssize_t *length);
bool call_get_bytes(call *self, PyObject *object, const char *what, const void **data,
                    size_t *size);
/// Fails unless an argument has the length that the library will read.
bool call_check_length(const char *what, Py_ssize_t length, Py_ssize_t rows, Py_ssize_t columns);
/// Lists handles and callables in the arguments, which the result may borrow.
PyObject *call_collect(PyObject *const *arguments, Py_ssize_t count);

/// Around a call that takes time: lets other threads of Python run.
void call_release(call *self);
void call_restore(call *self);
/// Raises what a callback raised during the call, or the exception of a status.
bool call_check(call *self, sinew_status status);
/// Drops the temporary objects and returns `result`.
PyObject *call_end(call *self, PyObject *result);

// Errors and callbacks ----------------------------------------------------------------------------

bool errors_add(PyObject *module);
/// Sets the exception of a status with the message of the context (a handle, or NULL).
void errors_raise(sinew_status status, const handle *root, const char *name);

/// An exception was set inside a callback: keeps it until the call ends.
void callback_keep_error(void);
/// Sets the exception that a callback raised during the call. False if none did.
bool callback_raise_kept(void);

void callback_log(void *user, sinew_log_level level, const char *line);
bool callback_progress(void *user, const char *what, double share);
void callback_evaluate(void *user, const double F[9], const double frame[9], double *energy,
                       double *P, double *H);
bool callback_fetch(void *user, const char *name, const void **data, size_t *size);
sinew_status callback_write(void *user, const char *name, const void *data, size_t size);
sinew_status callback_cache(void *user, const char *name, const sinew_bytes *cache);

/// Steps many worlds by several threads; see batch.c.
PyObject *batch_step_all(PyObject *module, PyObject *arguments);

// The generated tables.
extern handle_kind *const handle_kinds[];
extern const int32_t handle_kind_count;
extern record_type *const record_types[];
extern const int32_t record_type_count;
extern enum_type *const enum_types[];
extern const int32_t enum_type_count;
extern PyMethodDef module_functions[];
bool constants_add(PyObject *module);
extern handle_kind kind_sinew_context;

#endif
