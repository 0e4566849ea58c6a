#!/usr/bin/env python3
"""Usage: generate.py INCLUDE GENERATED.C [STUBS.PYI]

Writes the tables and wrappers of the Python module from the public headers in the folder INCLUDE, and its type stubs. Everything that
is public gets a counterpart: functions become methods of their first argument, definitions and reports become classes with a
keyword for each field, enumerations become IntEnum. What C's types do not say is in lengths.py.
"""
import keyword
import os
import re
import sys

import lengths
from headers import read_headers

NUMBERS = {"double": ("d", "float"), "int32_t": ("i", "int"), "int64_t": ("q", "int"), "uint16_t": ("H", "int"), "uint8_t": ("B", "int")}
SCALARS = {"double": "DOUBLE", "int32_t": "INT32", "int64_t": "INT64", "uint32_t": "UINT32", "unsigned": "UINT32", "size_t": "SIZE", "bool": "BOOL"}
IN_AND_OUT = {("sinew_material_set_law", "def"), ("sinew_material_set_preset", "def")}
ALWAYS_GIVEN = "mistakes"  # an argument that receives text, and may be None

headers = None


def quote(text):
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"') + '"'


def camel(name):
    """sinew_body_def -> BodyDef"""
    return "".join(word.capitalize() for word in name.replace("sinew_", "", 1).split("_"))


def singular(name):
    return {"vertices": "vertex", "series": "series"}.get(name, name[:-1] if name.endswith("s") else name)


def python_name(name):
    return name + "_" if keyword.iskeyword(name) else name


def base_of(kind):
    return kind.replace("const", "").replace("*", "").strip()


def stars_of(kind):
    return kind.count("*")


def unit_of(comment):
    match = re.search(r"\[([^\]\d,][^\]]*)\]", comment)
    return match.group(1) if match else None


# Enumerations ----------------------------------------------------------------------------------


def enum_items(enum):
    """Names without the prefix that all of them share."""
    names = [name for name, _ in enum.constants]
    prefix = os.path.commonprefix(names)
    prefix = prefix[:prefix.rindex("_") + 1] if len(names) > 1 else "SINEW_"
    short = [name[len(prefix):] for name in names]
    return [(name if not name[0].isdigit() else "_" + name, full) for name, full in zip(short, names)]


def write_enum(out, enum):
    items = ", ".join(f"{{{quote(short)}, {full}}}" for short, full in enum_items(enum))
    out.append(f"static const enum_item items_{enum.name}[] = {{{items}}};")
    out.append(f"static enum_type enum_{enum.name} = {{{quote(camel(enum.name))}, {quote(enum.comment)}, items_{enum.name}, "
               f"{len(enum.constants)}, NULL}};")


# Structs ---------------------------------------------------------------------------------------


def public_fields(struct):
    left_out = lengths.LEFT_OUT.get(struct.name, ())
    return [f for f in struct.fields if f.name not in left_out]


def describe_field(struct, field):
    """The initialiser of a record_field."""
    base, stars = base_of(field.type), stars_of(field.type)
    key = (struct.name, field.name)
    values = {"name": quote(python_name(field.name)), "doc": quote(field.comment), "unit": quote(unit_of(field.comment)) if unit_of(field.comment) else "NULL",
              "offset": f"offsetof({struct.name}, {field.name})", "columns": "1"}
    counted = None
    if key in lengths.CALLBACKS:
        trampoline, user = lengths.CALLBACKS[key]
        values.update(kind="FIELD_CALLBACK", trampoline=f"(void *){trampoline}", user_offset=f"offsetof({struct.name}, {user})")
    elif stars == 0 and base == "char" and field.dimensions:
        values.update(kind="FIELD_TEXT")
    elif stars == 0 and base in SCALARS:
        values.update(kind=f"FIELD_{SCALARS[base]}", item_size=f"sizeof({base})")
    elif stars == 0 and base in headers.enums:
        values.update(kind="FIELD_ENUM", words=f"&enum_{base}", item_size="sizeof(int32_t)")
    elif stars == 0 and base in headers.structs and not field.dimensions:
        values.update(kind="FIELD_RECORD", record=f"&record_{base}")
    elif stars == 1 and base == "char":
        values.update(kind="FIELD_STRING")
    elif stars == 2 and base == "char":
        values.update(kind="FIELD_STRINGS")
        counted = lengths.LISTS.get(key, singular(field.name) + "_count")
    elif stars == 2 and base in NUMBERS:
        columns, counted, need = lengths.FIELDS[key]
        values.update(kind="FIELD_ARRAYS", format=quote(NUMBERS[base][0]), item_size=f"sizeof({base})", columns=str(columns))
        values["need"] = f"need_{struct.name}_{field.name}"
        counted = "image_count"
    elif stars == 1 and base == "void":
        values.update(kind="FIELD_BYTES", count_offset=f"offsetof({struct.name}, size)", has_count="true")
    elif stars == 1 and base in NUMBERS:
        if key not in lengths.FIELDS:
            raise SystemExit(f"lengths.py: FIELDS has no entry for {key}")
        columns, counted, need = lengths.FIELDS[key]
        values.update(kind="FIELD_NUMBERS", format=quote(NUMBERS[base][0]), item_size=f"sizeof({base})", columns=str(columns))
        if need:
            values["need"] = f"need_{struct.name}_{field.name}"
    elif stars == 1 and base in headers.opaque:
        values.update(kind="FIELD_HANDLE", handle=f"&kind_{base}")
    elif stars == 1 and base in headers.structs:
        names = {f.name for f in struct.fields}
        counted = lengths.LISTS.get(key, singular(field.name) + "_count")
        if key in lengths.LISTS or counted in names:
            values.update(kind="FIELD_RECORDS", record=f"&record_{base}")
            if key in lengths.FIELDS:
                values["need"] = f"need_{struct.name}_{field.name}"
        else:
            values.update(kind="FIELD_RECORD_POINTER", record=f"&record_{base}")
            counted = None
    else:
        raise SystemExit(f"{struct.header}: no rule for {field.type} {field.name} of {struct.name}")
    if counted:
        values.update(count_offset=f"offsetof({struct.name}, {counted})", has_count="true")
    if field.dimensions and values["kind"] != "FIELD_TEXT":
        values["count"] = " * ".join(field.dimensions)
    return "{" + ", ".join(f".{name} = {value}" for name, value in values.items()) + "}"


def number_format(struct):
    """The fields as one item of an array of numpy, or None if there is more than numbers."""
    parts = []
    for field in struct.fields:
        base = base_of(field.type)
        if stars_of(field.type) or base not in ("double", "int32_t") or len(field.dimensions) > 1:
            return None
        size = f"({field.dimensions[0]})" if field.dimensions else ""
        if field.dimensions and not field.dimensions[0].isdigit():
            return None
        parts.append(f"{size}{NUMBERS[base][0]}:{field.name}:")
    return "T{" + "".join(parts) + "}"


def write_struct(out, struct):
    fields = public_fields(struct)
    for field in fields:
        entry = lengths.FIELDS.get((struct.name, field.name))
        if entry and entry[2]:
            out.append(f"static int64_t need_{struct.name}_{field.name}(const void *data) {{ const {struct.name} *s = data; "
                       f"(void)s; return {entry[2]}; }}")
    out.append(f"static const record_field fields_{struct.name}[] = {{")
    out.extend(f"    {describe_field(struct, field)}," for field in fields)
    out.append("};")

    maker = f"sinew_default_{struct.name[6:]}"
    make = "NULL"
    if maker in headers.functions and not headers.functions[maker].parameters:
        make = f"make_{struct.name}"
        out.append(f"static void {make}(void *data) {{ *({struct.name} *)data = {maker}(); }}")
    destroy = "NULL"
    if struct.name in lengths.DESTROY:
        destroy = f"destroy_{struct.name}"
        out.append(f"static void {destroy}(void *memory) {{ {lengths.DESTROY[struct.name]}(memory); }}")
    number = number_format(struct)
    out.append(f"static record_type record_{struct.name} = {{.name = {quote(camel(struct.name))}, .doc = {quote(struct.comment)}, "
               f".size = sizeof({struct.name}), .fields = fields_{struct.name}, .field_count = {len(fields)}, .make = {make}, "
               f".destroy = {destroy}, .format = {quote(number) if number else 'NULL'}}};")


# Functions -------------------------------------------------------------------------------------

SLOW = re.compile(r"_(step|solve|create|load|read|write|save|render|compute|build|retarget|place|estimate|insert|remove|drive|set_pose|"
                  r"take_snapshot|restore|insert|add|examine|sample|finish)|^sinew_(soften|tetrahedralize|place_nodes)")


class Wrapper:
    """The C code of one function."""

    def __init__(self, function):
        self.function = function
        self.declarations, self.conversions, self.checks, self.after, self.values = [], [], [], [], []
        self.arguments, self.results = [], []  # of Python: (name, type), and of C: what the call is given
        self.call = []
        first = function.parameters[0] if function.parameters else None
        self.handle = base_of(first.type) if first and base_of(first.type) in headers.opaque else None
        if function.name == "sinew_context_create":
            self.handle = None
        self.creates = False
        self.hidden = {}
        for index, parameter in enumerate(function.parameters):
            self.add_parameter(index, parameter)
        self.add_result()

    # Python's arguments, in order; the handle of a method is `self`.
    def take(self, parameter, python_type):
        self.arguments.append((parameter.name, python_type))
        return f"ARGUMENT({len(self.arguments) - 1})"

    def convert(self, text):
        self.conversions.append(f"    if (!{text}) {{\n        return call_end(&c, NULL);\n    }}")

    def add_parameter(self, index, p):
        f, base, stars = self.function, base_of(p.type), stars_of(p.type)
        is_const = p.type.startswith("const")
        key = (f.name, p.name)
        if p.name in self.hidden:
            self.call.append(self.hidden[p.name])
        elif index == 0 and self.handle and stars == 1:
            self.declarations.append(f"    {base} *{p.name} = NULL;")
            self.convert(f"handle_get_self(self, (void **)&{p.name})")
            self.call.append(p.name)
        elif index == 0 and self.handle:  # replaced by the call
            self.declarations.append(f"    {base} *{p.name} = NULL;")
            self.convert(f"handle_get_self(self, (void **)&{p.name})")
            self.after.append(f"    self_handle->pointer = {p.name};")
            self.call.append(f"&{p.name}")
        elif p.dimensions:
            self.add_fixed(p, base, is_const)
        elif stars == 0:
            self.add_scalar(p, base)
        elif base == "char" and stars == 1:
            self.declarations.append(f"    const char *{p.name} = NULL;")
            self.convert(f"call_get_string(&c, {self.take(p, 'str')}, {quote(p.name)}, &{p.name})")
            self.call.append(p.name)
        elif base == "char":
            self.declarations.append(f"    const char *const *{p.name} = NULL;\n    int32_t {p.name}_number = 0;")
            self.convert(f"call_get_strings(&c, {self.take(p, 'list[str]')}, {quote(p.name)}, &{p.name}, &{p.name}_number)")
            self.hidden["count"] = f"{p.name}_number"
            self.call.append(p.name)
        elif base == "void":
            self.add_bytes(p, is_const)
        elif base in headers.opaque:
            self.add_handle(p, base, stars)
        elif base in headers.structs:
            self.add_record(p, base, stars, is_const, key)
        elif base in NUMBERS or base in headers.enums:
            self.add_numbers(p, base, stars, is_const, key)
        else:
            raise SystemExit(f"{f.header}: no rule for {p.type} {p.name} of {f.name}")

    def add_scalar(self, p, base):
        at = None
        if base in headers.enums:
            at = self.take(p, camel(base))
            self.declarations.append(f"    int32_t {p.name} = 0;")
            self.convert(f"enum_get({at}, &enum_{base}, {quote(p.name)}, &{p.name})")
            self.call.append(f"({base}){p.name}")
        elif base in ("double", "bool"):
            at = self.take(p, "float" if base == "double" else "bool")
            self.declarations.append(f"    {base} {p.name} = 0;")
            self.convert(f"call_get_{base}({at}, {quote(p.name)}, &{p.name})")
            self.call.append(p.name)
        elif base == "char":
            at = self.take(p, "str")
            self.declarations.append(f"    const char *{p.name} = NULL;")
            self.convert(f"call_get_string(&c, {at}, {quote(p.name)}, &{p.name})")
            self.call.append(f"{p.name} ? {p.name}[0] : 0")
        else:
            low, high = {"int32_t": ("INT32_MIN", "INT32_MAX"), "int64_t": ("INT64_MIN", "INT64_MAX"), "size_t": ("0", "INT64_MAX")}[base]
            at = self.take(p, "int")
            self.declarations.append(f"    int64_t {p.name} = 0;")
            self.convert(f"call_get_int64({at}, {quote(p.name)}, {low}, {high}, &{p.name})")
            self.call.append(f"({base}){p.name}")

    def add_fixed(self, p, base, is_const):
        size = p.dimensions[0]
        if not is_const:
            self.declarations.append(f"    {base} {p.name}[{size}] = {{0}};")
            self.call.append(p.name)
            self.results.append((f"fixed_tuple({p.name}, {size}, {quote(NUMBERS[base][0])})", "tuple[float, ...]"))
            return
        self.declarations.append(f"    {base} {p.name}[{size}] = {{0}};\n    bool has_{p.name} = false;")
        at = self.take(p, "Sequence[float]")
        self.convert(f"call_get_fixed({at}, {quote(p.name)}, {quote(NUMBERS[base][0])}, {p.name}, {size}, &has_{p.name})")
        self.call.append(f"has_{p.name} ? {p.name} : NULL")

    def add_bytes(self, p, is_const):
        if is_const:
            self.declarations.append(f"    const void *{p.name} = NULL;\n    size_t {p.name}_size = 0;")
            self.convert(f"call_get_bytes(&c, {self.take(p, 'bytes')}, {quote(p.name)}, &{p.name}, &{p.name}_size)")
        else:
            rows, _ = lengths.ARRAYS[(self.function.name, p.name)]
            self.declarations.append(f"    PyObject *{p.name}_object = NULL;")
            self.checks.append(f"    size_t {p.name}_size = (size_t)({rows});\n"
                               f"    if (!({p.name}_object = PyBytes_FromStringAndSize(NULL, (Py_ssize_t){p.name}_size))) {{\n"
                               f"        return call_end(&c, NULL);\n    }}\n    void *{p.name} = PyBytes_AsString({p.name}_object);")
            self.results.append((f"{p.name}_object", "bytes"))
            self.values.append(f"{p.name}_object")
        self.hidden["size"] = f"{p.name}_size"
        self.call.append(p.name)

    def add_handle(self, p, base, stars):
        if stars == 2:
            self.declarations.append(f"    {base} *{p.name} = NULL;")
            self.call.append(f"&{p.name}")
            self.creates = True
            self.results.append((f"handle_wrap(&kind_{base}, {p.name}, self_handle, used)", camel(base)))
            return
        self.declarations.append(f"    {base} *{p.name} = NULL;")
        self.convert(f"handle_get({self.take(p, camel(base))}, &kind_{base}, {quote(p.name)}, (void **)&{p.name})")
        self.call.append(p.name)

    def add_record(self, p, base, stars, is_const, key):
        f = self.function
        record = f"&record_{base}"
        counted = next(((name, per) for (function, array, name), per in lengths.COUNTED.items() if (function, array) == key), None)
        if stars == 2 and not is_const:  # allocated by the library: a mesh
            self.declarations.append(f"    {base} *{p.name} = NULL;")
            self.call.append(f"&{p.name}")
            self.results.append((f"record_take({record}, {p.name}, self_handle)", camel(base)))
        elif stars == 2:
            rows, _ = lengths.ARRAYS[key]
            self.declarations.append(f"    const {base} *{p.name} = NULL;")
            self.call.append(f"&{p.name}")
            self.results.append((f"record_list({record}, {p.name}, {rows}, self_handle)", f"list[{camel(base)}]"))
        elif counted or is_const and key in lengths.ARRAYS:
            self.declarations.append(f"    const {base} *{p.name} = NULL;\n    Py_ssize_t {p.name}_length = 0;")
            at = self.take(p, f"Sequence[{camel(base)}]")
            self.convert(f"call_get_records(&c, {at}, {quote(p.name)}, {record}, (const void **)&{p.name}, &{p.name}_length)")
            self.call.append(p.name)
            if counted:
                self.hidden[counted[0]] = f"(int32_t){p.name}_length"
            else:
                rows, _ = lengths.ARRAYS[key]
                self.check(f"{p.name} && !call_check_length({quote(p.name)}, {p.name}_length, (Py_ssize_t)({rows}), 1)")
        elif key in lengths.ARRAYS:
            rows, _ = lengths.ARRAYS[key]
            self.allocate(p, f"array_new((Py_ssize_t)({rows}), 0, record_{base}.format ? record_{base}.format : \"B\", sizeof({base}))",
                          f"    {p.name}_array->record = {record};\n", f"Array[{camel(base)}]")
        elif is_const or key in IN_AND_OUT or p.name == ALWAYS_GIVEN:
            self.declarations.append(f"    {base} *{p.name} = NULL;")
            self.convert(f"record_get({self.take(p, camel(base))}, {record}, {quote(p.name)}, (void **)&{p.name})")
            self.call.append(p.name)
            for (function, argument, path), (rows, columns) in lengths.CHECKS.items():
                if (function, argument) == key:
                    at = len(self.arguments) - 1
                    per = quote(columns) if columns == "components" else "NULL"
                    number = 0 if columns == "components" else columns
                    self.check(f"{p.name} && !record_check_length(ARGUMENT({at}), {quote(path)}, (Py_ssize_t)({rows}), {number}, {per})")
        else:
            self.declarations.append(f"    {base} {p.name};\n    memset(&{p.name}, 0, sizeof {p.name});")
            self.call.append(f"&{p.name}")
            self.results.append((f"record_wrap({record}, &{p.name}, self_handle)", camel(base)))

    def check(self, condition):
        self.checks.append(f"    if ({condition}) {{\n        return call_end(&c, NULL);\n    }}")

    def allocate(self, p, expression, extra, python_type):
        self.declarations.append(f"    array *{p.name}_array = NULL;")
        self.checks.append(f"    if (!({p.name}_array = {expression})) {{\n        return call_end(&c, NULL);\n    }}\n{extra}".rstrip())
        self.call.append(f"{p.name}_array->memory")
        self.values.append(f"{p.name}_array")
        self.results.append((f"(PyObject *){p.name}_array", python_type))

    def add_numbers(self, p, base, stars, is_const, key):
        f = self.function
        returned = lengths.RETURNED.get(f.name)
        if base in headers.enums:
            self.declarations.append(f"    {base} {p.name} = 0;")
            self.call.append(f"&{p.name}")
            self.results.append((f"enum_wrap(&enum_{base}, (int32_t){p.name})", camel(base)))
            return
        form, python = NUMBERS[base]
        counted = next(((name, per) for (function, array, name), per in lengths.COUNTED.items() if (function, array) == key), None)
        if stars == 2:
            if key not in lengths.ARRAYS:
                raise SystemExit(f"lengths.py: ARRAYS has no entry for {key}")
            rows, columns = lengths.ARRAYS[key]
            self.declarations.append(f"    const {base} *{p.name} = NULL;")
            self.call.append(f"&{p.name}")
            self.results.append((f"array_copy({p.name}, (Py_ssize_t)({rows}), {columns}, {quote(form)}, sizeof({base}))", "Array"))
        elif counted:
            name, per = counted
            self.declarations.append(f"    const {base} *{p.name} = NULL;\n    Py_ssize_t {p.name}_length = 0;")
            at = self.take(p, "ArrayLike")
            self.convert(f"call_get_numbers(&c, {at}, {quote(p.name)}, {quote(form)}, sizeof({base}), (const void **)&{p.name}, &{p.name}_length)")
            if per > 1:
                self.check(f"{p.name}_length % {per} && !call_check_length({quote(p.name)}, {p.name}_length, {p.name}_length / {per} + 1, {per})")
            self.declarations.append(f"    int32_t {name} = 0;")
            self.checks.append(f"    {name} = (int32_t)({p.name}_length / {per});")
            self.hidden[name] = name
            self.call.append(p.name)
        elif is_const:
            if key not in lengths.ARRAYS:
                raise SystemExit(f"lengths.py: ARRAYS has no entry for {key}")
            rows, columns = lengths.ARRAYS[key]
            self.declarations.append(f"    const {base} *{p.name} = NULL;\n    Py_ssize_t {p.name}_length = 0;")
            at = self.take(p, "ArrayLike")
            self.convert(f"call_get_numbers(&c, {at}, {quote(p.name)}, {quote(form)}, sizeof({base}), (const void **)&{p.name}, &{p.name}_length)")
            self.check(f"{p.name} && !call_check_length({quote(p.name)}, {p.name}_length, (Py_ssize_t)({rows}), {max(columns, 1)})")
            self.call.append(p.name)
        elif key in lengths.ARRAYS:
            rows, columns = lengths.ARRAYS[key]
            self.allocate(p, f"array_new((Py_ssize_t)({rows}), {columns}, {quote(form)}, sizeof({base}))", "", "Array")
        elif p.name.endswith("s") and p.name not in ("part_nodes", "largest_loss"):
            raise SystemExit(f"lengths.py: ARRAYS has no entry for {key}, which looks like an array")
        else:
            self.declarations.append(f"    {base} {p.name} = 0;")
            self.call.append(f"&{p.name}")
            if not (returned and returned[0] == p.name):
                make = f"PyFloat_FromDouble({p.name})" if form == "d" else f"PyLong_FromLongLong({p.name})"
                self.results.append((make, python))

    def add_result(self):
        f, kind = self.function, self.function.result
        base, stars = base_of(kind), stars_of(kind)
        self.status = kind == "sinew_status" and f.name not in ("sinew_context_status", "sinew_bytes_get_status", "sinew_file_get_status")
        if self.status or kind == "void":
            return
        self.declarations.append(f"    {kind} result;".replace("* result", "*result") if stars else f"    {kind} result;")
        if kind == "const char *":
            made = ("text_or_none(result)", "str | None")
        elif f.name == "sinew_context_create":
            made = ("handle_wrap_root(&kind_sinew_context, result, used)", "Context")
            self.creates = True
        elif f.name == "sinew_bytes_get_data":
            made = ("PyBytes_FromStringAndSize(result, (Py_ssize_t)sinew_bytes_get_size(bytes))", "bytes")
        elif f.name in lengths.RETURNED:
            rows, columns = lengths.RETURNED[f.name]
            if base in headers.structs:
                made = (f"record_list(&record_{base}, result, {rows}, self_handle)", f"list[{camel(base)}]")
            else:
                form = NUMBERS[base][0]
                how, owner = ("view", ", self") if f.name in lengths.VIEWS else ("copy", "")
                made = (f"array_{how}(result, (Py_ssize_t)({rows}), {columns}, {quote(form)}, sizeof({base}){owner})", "Array | None")
        elif stars and base in headers.opaque:
            made = (f"handle_wrap(&kind_{base}, ({base} *)(uintptr_t)result, self_handle, NULL)", f"{camel(base)} | None")
        elif stars and base in headers.structs:
            made = (f"(result ? record_view(&record_{base}, result, self, self_handle) : Py_NewRef(Py_None))", f"{camel(base)} | None")
        elif stars:
            raise SystemExit(f"lengths.py: RETURNED has no entry for {f.name}")
        elif base in headers.structs:
            made = (f"record_wrap(&record_{base}, &result, self_handle)", camel(base))
        elif base in headers.enums:
            made = (f"enum_wrap(&enum_{base}, (int32_t)result)", camel(base))
        elif base == "bool":
            made = ("PyBool_FromLong(result)", "bool")
        elif base == "double":
            made = ("PyFloat_FromDouble(result)", "float")
        elif base in ("uint64_t", "size_t"):
            made = ("PyLong_FromUnsignedLongLong(result)", "int")
        else:
            made = ("PyLong_FromLongLong(result)", "int")
        self.results.insert(0, made)

    # Names.
    def name(self):
        rest = self.function.name[6:]
        if not self.handle:
            return rest
        own = self.handle[6:] + "_"
        if rest.startswith(own):
            return rest[len(own):]
        if own == "body_":
            return re.sub(r"^(frame|rigid|reduced)_body_", r"\1_", rest)
        return rest

    def is_property(self):
        f = self.function
        return bool(self.handle and not self.arguments and not self.status and f.result != "void" and not SLOW.search(f.name)
                    or self.handle and not self.arguments and re.match(r"(frame_|rigid_|reduced_)?get_", self.name()) and not SLOW.search(f.name))

    def property_name(self):
        return python_name(re.sub(r"(^|_)get_", r"\1", self.name(), 1))

    def least(self):
        """Arguments that may not be left out: up to the last one that is no pointer."""
        pointers = {p.name for p in self.function.parameters if stars_of(p.type) or p.dimensions}
        needed = [i for i, (name, _) in enumerate(self.arguments) if name not in pointers]
        optional = re.findall(r"`(\w+)`[^.`]* may be NULL", self.function.comment)
        if re.search(r"\b(Either|Each|One of the) [^.]*(may|can) be NULL|[Ee]ither [^.]*NULL", self.function.comment):
            optional += pointers
        needed += [i for i, (name, kind) in enumerate(self.arguments) if name in pointers and name not in optional]
        return max(needed) + 1 if needed else 0

    def python_type(self):
        types = [kind for _, kind in self.results]
        return "None" if not types else types[0] if len(types) == 1 else f"tuple[{', '.join(types)}]"

    def write(self, out):
        f = self.function
        is_slow = bool(SLOW.search(f.name))
        full = f"{camel(self.handle)}.{self.name()}" if self.handle else self.name()
        lines = [f"static PyObject *call_{f.name}(PyObject *self, PyObject *const *arguments, Py_ssize_t given) {{", "    call c;"]
        lines.append(f"    if (!call_begin(&c, {quote(full)}, given, {self.least()}, {len(self.arguments)})) {{\n        return NULL;\n    }}")
        owner = "(handle *)self" if self.handle else "NULL"
        uses_handle = self.handle or any("self_handle" in text for text, _ in self.results)
        lines.append("    (void)self;\n    (void)arguments;")
        if uses_handle and not self.handle and self.arguments:
            owner = "record_get_source(ARGUMENT(0))"  # what a ray hit knows its world
        if uses_handle:
            lines.append(f"    handle *self_handle = {owner};\n    (void)self_handle;\n    c.owner = self_handle;")
        lines += self.declarations + self.conversions + self.checks
        if self.creates:
            lines.append("    PyObject *used = call_collect(arguments, given);\n    if (!used) {\n        return call_end(&c, NULL);\n    }")
        assign = "sinew_status status = " if self.status else "" if f.result == "void" else "result = "
        if is_slow:
            lines.append("    call_release(&c);")
        lines.append(f"    {assign}{f.name}({', '.join(self.call)});")
        if is_slow:
            lines.append("    call_restore(&c);")
        drop = "".join(f"\n        Py_XDECREF((PyObject *){value});" for value in self.values + (["used"] if self.creates else []))
        lines.append(f"    if (!call_check(&c, {'status' if self.status else 'SINEW_OK'})) {{{drop}\n        return call_end(&c, NULL);\n    }}")
        lines += self.after
        if f.name == "sinew_body_set_material":
            lines.append("    PyObject *laws = call_collect(arguments, given);\n    bool kept = laws && handle_keep(self_handle->owner, body, laws);\n"
                         "    Py_XDECREF(laws);\n    if (!kept) {\n        return call_end(&c, NULL);\n    }")
        if not self.results:
            lines.append("    return call_end(&c, Py_NewRef(Py_None));")
        elif len(self.results) == 1:
            lines.append(f"    PyObject *made = {self.results[0][0]};")
        else:
            items = ", ".join(text for text, _ in self.results)
            lines.append(f"    PyObject *parts[] = {{{items}}};\n    PyObject *made = pack(parts, {len(self.results)});")
        if self.results:
            remembered = lengths.REMEMBERED.get(f.name)
            if remembered:
                which = "made" if len(self.results) == 1 else f"PyTuple_GetItem(made, {len(self.results) - 1})"
                lines.append(f"    if (made) {{\n        handle *fresh = (handle *){which};\n        if ((PyObject *)fresh != Py_None) {{")
                lines += [f"            fresh->sizes[{i}] = {size};" for i, size in enumerate(remembered)]
                lines.append("        }\n    }")
            if self.creates:
                lines.append("    Py_DECREF(used);")
            lines.append("    return call_end(&c, made);")
        if f.name == "sinew_variants_set_points":
            lines[-1] = "    self_handle->sizes[0] = count;\n" + lines[-1]
        out.append("\n".join(lines) + "\n}\n")
        if self.is_property():
            out.append(f"static PyObject *get_{f.name}(PyObject *self, void *unused) {{\n    (void)unused;\n"
                       f"    return call_{f.name}(self, NULL, 0);\n}}\n")


HELPERS = """
#define ARGUMENT(i) ((i) < given ? arguments[i] : Py_None)
#define SIZE(handle, i) ((handle)->sizes[i])

static PyObject *text_or_none(const char *text) {
    return text ? PyUnicode_DecodeUTF8(text, (Py_ssize_t)strlen(text), "replace") : Py_NewRef(Py_None);
}

static PyObject *fixed_tuple(const void *values, Py_ssize_t count, const char *format) {
    PyObject *tuple = PyTuple_New(count);
    for (Py_ssize_t i = 0; tuple && i < count; i++) {
        PyObject *item = *format == 'd' ? PyFloat_FromDouble(((const double *)values)[i])
                                        : PyLong_FromLong(((const int32_t *)values)[i]);
        if (!item || PyTuple_SetItem(tuple, i, item) != 0) {
            Py_CLEAR(tuple);
        }
    }
    return tuple;
}

static PyObject *pack(PyObject **parts, Py_ssize_t count) {
    bool done = true;
    for (Py_ssize_t i = 0; i < count; i++) {
        done = done && parts[i];
    }
    PyObject *tuple = done ? PyTuple_New(count) : NULL;
    for (Py_ssize_t i = 0; i < count; i++) {
        if (tuple) {
            PyTuple_SetItem(tuple, i, parts[i]);
        } else {
            Py_XDECREF(parts[i]);
        }
    }
    return tuple;
}

static PyObject *record_list(record_type *type, const void *items, int64_t count, handle *source) {
    PyObject *list = PyList_New(items ? (Py_ssize_t)count : 0);
    for (int64_t i = 0; list && items && i < count; i++) {
        PyObject *item = record_wrap(type, (const char *)items + (size_t)i * type->size, source);
        if (!item || PyList_SetItem(list, (Py_ssize_t)i, item) != 0) {
            Py_CLEAR(list);
        }
    }
    return list;
}

static inline int64_t surface_points(const sinew_body *body) {
    const sinew_mesh *surface = sinew_body_get_surface(body);
    return surface ? surface->point_count : 0;
}

static inline int64_t mode_size(const sinew_body *body) {
    int32_t nodes = sinew_body_get_node_count(body);
    return 3 * (nodes > 0 ? nodes : surface_points(body));
}

static inline int64_t scene_points(const sinew_scene *scene, int64_t body) {
    const sinew_mesh *surface = sinew_scene_get_surface(scene, (int32_t)body);
    return surface ? surface->point_count : 0;
}

static inline int64_t scene_supports(const sinew_scene *scene, int64_t body) {
    sinew_scene_body_info info;
    return sinew_scene_get_body_info(scene, (int32_t)body, &info) == SINEW_OK ? info.support_count : 0;
}

static inline int64_t bound_count(const sinew_binding *binding) {
    int32_t count = 0;
    sinew_binding_get_bound(binding, &count);
    return count;
}

static inline int64_t isolated_count(const sinew_field *field) {
    sinew_field_report report = {0};
    sinew_field_get_report(field, &report);
    return report.isolated_part_count;
}

static inline int64_t unknown_count(const sinew_field *field) {
    sinew_field_report report = {0};
    sinew_field_get_report(field, &report);
    return report.unknown_count;
}
"""


def doc_of(wrapper):
    names = ", ".join(name for name, _ in wrapper.arguments)
    sentence = re.sub(r"\bsinew_(\w+)\b", lambda m: camel(m.group(0)) if m.group(0) in headers.structs else m.group(1), wrapper.function.comment)
    return f"({names}) -> {wrapper.python_type()}\\n\\n" + quote(sentence)[1:-1] if not wrapper.is_property() else quote(sentence)[1:-1]


def write_module(out, stubs):
    structs = [s for s in headers.structs.values() if s.name not in lengths.STRUCTS_LEFT_OUT]
    out.append("// Generated by generate.py from the public headers. Do not edit.\n#include \"core.h\"\n\n#include <stddef.h>\n#include <string.h>\n")
    for name in headers.opaque:
        out.append(f"{'' if name == 'sinew_context' else 'static '}handle_kind kind_{name};")
    for struct in structs:
        out.append(f"static record_type record_{struct.name};")
    for enum in headers.enums.values():
        write_enum(out, enum)
    for struct in structs:
        write_struct(out, struct)
    out.append(HELPERS)

    wrappers = []
    for function in headers.functions.values():
        rest = function.name[6:]
        if function.name in lengths.FUNCTIONS_LEFT_OUT or function.name.startswith("sinew_default_") and not function.parameters:
            continue
        if rest.endswith(("_destroy", "_close")):
            continue
        wrapper = Wrapper(function)
        wrapper.write(out)
        wrappers.append(wrapper)

    entry = '{{{name}, (PyCFunction)(void (*)(void))call_{function}, METH_FASTCALL, "{doc}"}},'
    for name, comment in headers.opaque.items():
        own = [w for w in wrappers if w.handle == name]
        out.append(f"static PyMethodDef methods_{name}[] = {{")
        out += ["    " + entry.format(name=quote(w.name()), function=w.function.name, doc=doc_of(w)) for w in own if not w.is_property()]
        out.append("    {NULL, NULL, 0, NULL},\n};")
        out.append(f"static PyGetSetDef properties_{name}[] = {{")
        out += [f'    {{{quote(w.property_name())}, get_{w.function.name}, NULL, "{doc_of(w)}", NULL}},' for w in own if w.is_property()]
        out.append("    {NULL, NULL, NULL, NULL, NULL},\n};")
        destroy = lengths.DESTROY.get(name, f"{name}_destroy")
        if destroy in headers.functions:
            out.append(f"static void destroy_{name}(void *pointer) {{ {destroy}(pointer); }}")
        out.append(f"{'' if name == 'sinew_context' else 'static '}handle_kind kind_{name} = {{.name = {quote(camel(name))}, .doc = {quote(comment)}, "
                   f".destroy = {'destroy_' + name if destroy in headers.functions else 'NULL'}, "
                   f".owned = {'false' if name in lengths.BELONG_TO_WORLD else 'true'}, "
                   f".dies_with_bodies = {'true' if name in lengths.DIE_WITH_BODIES else 'false'}, "
                   f".methods = methods_{name}, .properties = properties_{name}}};")

    out.append("PyMethodDef module_functions[] = {")
    out += ["    " + entry.format(name=quote(w.name()), function=w.function.name, doc=doc_of(w)) for w in wrappers if not w.handle]
    out.append("    {NULL, NULL, 0, NULL},\n};")
    for table, kind, names in (("handle_kinds", "handle_kind", [f"kind_{n}" for n in headers.opaque]),
                               ("record_types", "record_type", [f"record_{s.name}" for s in structs]),
                               ("enum_types", "enum_type", [f"enum_{n}" for n in headers.enums])):
        out.append(f"{kind} *const {table}[] = {{" + ", ".join("&" + n for n in names) + "};")
        out.append(f"const int32_t {table[:-1]}_count = {len(names)};")
    out.append("bool constants_add(PyObject *module) {\n    return " + " &&\n           ".join(
        f"PyModule_AddIntConstant(module, {quote(name[6:])}, {name}) == 0" for name in headers.constants) + ";\n}")
    write_stubs(stubs, structs, wrappers)


# Stubs -----------------------------------------------------------------------------------------


def field_stub(struct, field):
    base, stars = base_of(field.type), stars_of(field.type)
    key = (struct.name, field.name)
    if key in lengths.CALLBACKS:
        return "Callable[..., Any] | None"
    if base == "char":
        return "str" if field.dimensions else "list[str] | None" if stars == 2 else "str | None"
    if base in headers.opaque:
        return f"{camel(base)} | None"
    if base in headers.structs:
        if not stars:
            return camel(base)
        is_list = "FIELD_RECORDS" in describe_field(struct, field)
        return f"list[{camel(base)}] | None" if is_list else f"{camel(base)} | None"
    if base in headers.enums:
        return camel(base)
    single = {"bool": "bool", "double": "float"}.get(base, "int")
    if stars or base == "void":
        return "Array | None"
    return f"tuple[{single}, ...]" if field.dimensions else single


def write_stubs(out, structs, wrappers):
    out.append('"""The C interface of Sinew. Generated by generate.py from the public headers."""')
    out.append("from collections.abc import Callable, Sequence\nfrom enum import IntEnum\nfrom typing import Any\n\nArrayLike = Any\n")
    out += [f"{name[6:]}: int" for name in headers.constants]
    out.append("\nclass Error(Exception): ...\nclass DestroyedError(Error, ReferenceError): ...")
    for name, base in (("InvalidArgument", "ValueError"), ("InvalidData", "ValueError"), ("OutOfMemory", "MemoryError"),
                       ("Unsupported", "NotImplementedError"), ("NotFound", "LookupError"), ("Diverged", "ArithmeticError"),
                       ("IoFailed", "OSError")):
        out.append(f"class {name}(Error, {base}): ...")
    out.append("class Cancelled(Error): ...\n")
    out.append("class Array(Sequence):\n    shape: tuple[int, ...]\n    def tolist(self) -> list: ...\n    def __buffer__(self, flags: int, /) -> memoryview: ...\n")
    out.append("class Handle:\n    alive: bool\n    owner: Handle | None\n    def destroy(self) -> None: ...\n    def __enter__(self) -> Any: ...\n    def __exit__(self, *args: Any) -> None: ...\n")
    out.append("class Record:\n    FIELDS: dict[str, tuple[str | None, str]]\n    source: Handle | None\n")
    for enum in headers.enums.values():
        out.append(f"class {camel(enum.name)}(IntEnum):")
        out += [f"    {short}: int" for short, _ in enum_items(enum)]
        out.append("")
    for struct in structs:
        out.append(f"class {camel(struct.name)}(Record):")
        fields = public_fields(struct)
        out += [f"    {python_name(f.name)}: {field_stub(struct, f)}" for f in fields]
        out.append("    def __init__(self, **fields: Any) -> None: ...\n")
    for name in headers.opaque:
        out.append(f"class {camel(name)}(Handle):")
        own = [w for w in wrappers if w.handle == name]
        for w in own:
            if w.is_property():
                out.append(f"    @property\n    def {w.property_name()}(self) -> {w.python_type()}: ...")
            else:
                out.append(f"    def {w.name()}({stub_arguments(w, ['self'])}) -> {w.python_type()}: ...")
        out.append("    ...\n")
    for w in wrappers:
        if not w.handle:
            out.append(f"def {w.name()}({stub_arguments(w, [])}) -> {w.python_type()}: ...")


def stub_arguments(wrapper, first):
    words = list(first)
    for i, (name, kind) in enumerate(wrapper.arguments):
        words.append(f"{python_name(name)}: {kind}" + ("" if i < wrapper.least() else " | None = None"))
    return ", ".join(words + (["/"] if wrapper.arguments else []))


def main():
    global headers
    headers = read_headers(os.path.abspath(sys.argv[1]))
    code, stubs = [], []
    write_module(code, stubs)
    with open(sys.argv[2], "w", encoding="utf-8") as file:
        file.write("\n".join(code) + "\n")
    if len(sys.argv) > 3:
        with open(sys.argv[3], "w", encoding="utf-8") as file:
            file.write("\n".join(stubs) + "\n")


main()
