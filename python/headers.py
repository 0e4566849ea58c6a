"""Reads Sinew's public headers: enumerations, structs, opaque types and functions, each with its comment.

The headers are written in one style, so that a few regular expressions are enough; what they do not understand is an error.
"""
import collections
import glob
import os
import re

Enum = collections.namedtuple("Enum", "name constants comment")             # constants: [(name, comment)]
Field = collections.namedtuple("Field", "type name dimensions comment")     # dimensions: ("3",) for double x[3]
Struct = collections.namedtuple("Struct", "name fields comment header")
Function = collections.namedtuple("Function", "result name parameters comment header")
Headers = collections.namedtuple("Headers", "enums constants structs opaque functions")


def strip_comment(text):
    """The words of a `///` or `///<` comment on one line."""
    lines = [re.sub(r"^\s*///<?\s?", "", line).strip() for line in text.strip().splitlines()]
    return " ".join(line for line in lines if line)


def split_items(body, end):
    """(code, comment) of each item of an enumeration or a struct; an item ends with `end`. Comments stand before it or behind it."""
    items, before, code = [], [], ""
    for line in body.splitlines():
        statement, mark, comment = line.partition("///")
        if not statement.strip() and mark:
            if comment.startswith("<"):  # goes on behind the last item
                items[-1][1].append(comment[1:])
            else:
                before.append(comment)
            continue
        code += " " + statement.split("//")[0].strip()
        if mark:
            before.append(comment.lstrip("<"))
        if code.rstrip().endswith(end):
            items.append((code.strip(), before))
            before, code = [], ""
    if code.strip():
        items.append((code.strip(), before))
    return [(code.rstrip(end).strip(), " ".join(words.strip() for words in comment if words.strip())) for code, comment in items]


def read_enum(body):
    return [(re.match(r"\w+", code).group(), comment) for code, comment in split_items(re.sub(r", (?=SINEW_)", ",\n", body), ",")]


def read_fields(body, where):
    """The fields of a struct; `double a, b[3];` gives two. A function pointer has the type "callback"."""
    fields, last = [], ""
    for code, comment in split_items(body, ";"):
        comment = comment or last  # `/// First, second.` above two lines
        last = comment
        if "(" in code:
            fields.append(Field("callback", re.search(r"\(\*(\w+)\)", code).group(1), (), comment))
            continue
        words = code.split(",")
        head = re.match(r"(.*?)(\**)(\w+)((?:\[\w+\])*)$", words[0].strip())
        if not head:
            raise SystemExit(f"{where}: cannot read '{code}'")
        base, stars, name, array = head.groups()
        base = base.strip()
        fields.append(Field((base + " " + stars).strip(), name, tuple(re.findall(r"\[(\w+)\]", array)), comment))
        for word in words[1:]:
            more = re.match(r"(\**)(\w+)((?:\[\w+\])*)$", word.strip())
            fields.append(Field((base + " " + more.group(1)).strip(), more.group(2), tuple(re.findall(r"\[(\w+)\]", more.group(3))), comment))
    return fields


def read_parameter(text):
    match = re.match(r"(.*?)(\w+)(?:\[(\w+)\])?$", re.sub(r"\s+", " ", text).strip())
    kind, name, dimension = match.groups()
    kind = re.sub(r"\s*\*\s*", "*", kind.strip()).replace("*const*", "*const *")
    return Field(re.sub(r"(\w)\*", r"\1 *", kind), name, (dimension,) if dimension else (), "")


def read_headers(folder):
    """Everything that is public, in the order of the headers."""
    enums, constants, structs, opaque, functions = {}, {}, {}, {}, {}
    for path in sorted(glob.glob(os.path.join(folder, "*.h")) + glob.glob(os.path.join(folder, "io", "*.h"))):
        text = open(path, encoding="utf-8").read()
        header = os.path.relpath(path, os.path.dirname(folder))
        comment = r"((?:^///[^\n]*\n)*)"
        for match in re.finditer(comment + r"^typedef enum (\w+) \{(.*?)\} \2;", text, re.M | re.S):
            enums[match.group(2)] = Enum(match.group(2), read_enum(match.group(3)), strip_comment(match.group(1)))
        for match in re.finditer(comment + r"^enum \{(.*?)\};", text, re.M | re.S):
            for name, note in read_enum(match.group(2)):
                constants[name] = note or strip_comment(match.group(1))
        for match in re.finditer(comment + r"^typedef struct (\w+) \{(.*?)^\} \2;", text, re.M | re.S):
            structs[match.group(2)] = Struct(match.group(2), read_fields(match.group(3), header), strip_comment(match.group(1)), header)
        for match in re.finditer(comment + r"^typedef struct (\w+) \2;", text, re.M):
            opaque[match.group(2)] = strip_comment(match.group(1))
        last = ("", 0)
        for match in re.finditer(comment + r"^SINEW_API\s+([^;(]*?)(\w+)\s*\(([^;]*?)\)\s*;([^\n]*)", text, re.M):
            note, result, name, parameters, behind = match.groups()
            note = strip_comment(note) or (last[0] if match.start() - last[1] <= 2 else "")
            last = (note, match.end())
            parameters = [read_parameter(p) for p in re.sub(r"///?[^\n]*", "", parameters).split(",") if p.strip() != "void"]
            result = re.sub(r"(\w)\*", r"\1 *", re.sub(r"\s*\*\s*", "*", result.strip()))
            functions[name] = Function(result, name, parameters, (note + " " + strip_comment(behind)).strip(), header)
    return Headers(enums, constants, structs, opaque, functions)
