"""Writes a C program that calls every public function with NULL, for each of its pointers in turn.

    python3 tests/public/null_calls.py OUTPUT.c

All other arguments are valid: objects that tests/support/null_calls.h makes, definitions from their
default-makers, and room for what is returned. The program, test_null_calls, makes each call in a
process of its own. A call must not crash; and one that returns a status must not return SINEW_OK,
unless the comment of the function mentions NULL or the pointer may be that of an array without items.
"""
import glob
import os
import re
import sys

INCLUDE = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "include", "sinew")


def read_headers():
    """(return type, name, parameters, comment) of every public function, and the names of all opaque types."""
    functions, opaque = [], set()
    for path in sorted(glob.glob(os.path.join(INCLUDE, "*.h")) + glob.glob(os.path.join(INCLUDE, "io", "*.h"))):
        text = open(path).read()
        opaque |= set(re.findall(r"typedef struct (\w+) \1;", text))
        for match in re.finditer(r"((?:^///[^\n]*\n)*)^SINEW_API\s+([^;(]*?)(\w+)\s*\(([^;]*?)\)\s*;", text, re.M):
            comment, kind, name, parameters = match.groups()
            parameters = [re.sub(r"\s+", " ", p).strip() for p in re.sub(r"///?[^\n]*", "", parameters).split(",")]
            functions.append((kind.strip(), name, [p for p in parameters if p not in ("void", "...")], comment))
    return functions, opaque


def split(parameter):
    """Type and name; arrays count as pointers."""
    match = re.match(r"(.*?)(\w+)(\[[^\]]*\])?$", parameter)
    kind, name, array = match.groups()
    return kind.strip() + (" *" if array else ""), name


def is_pointer(kind):
    return "*" in kind or kind.endswith("_fn")


def value(kind, makers, opaque):
    """An expression for a valid argument of this type."""
    if not is_pointer(kind):
        return "0" if kind in ("double", "float", "size_t", "bool", "char") or kind.startswith(("int", "uint")) else f"({kind})0"
    base = re.sub(r"\bconst\b|\*", "", kind).strip()
    if kind.count("*") > 1:
        return f"({kind})null_room()"
    if base == "char":
        return '"a"' if "const" in kind else "(char *)null_room()"
    if base in opaque or base in ("sinew_mesh", "sinew_source"):
        return f"null_{base[6:]}()"
    if base in makers:
        return f"&(({base}[]){{{makers[base]}()}})[0]"
    return f"({kind})null_room()"


def main():
    functions, opaque = read_headers()
    makers = {kind: name for kind, name, parameters, _ in functions if name.startswith("sinew_default_") and not parameters}
    cases, lines = [], []
    for kind, name, parameters, comment in functions:
        pairs = [split(p) for p in parameters]
        for i, (type_of, word) in enumerate(pairs):
            if not is_pointer(type_of):
                continue
            arguments = ", ".join("NULL" if k == i else value(t, makers, opaque) for k, (t, _) in enumerate(pairs))
            has_status = kind == "sinew_status"
            call = f"return {name}({arguments});" if has_status else f"(void){name}({arguments}); return SINEW_INVALID_ARGUMENT;"
            if kind == "void":
                call = call.replace("(void)", "")
            lines.append(f"static sinew_status call_{len(cases)}(void) {{ {call} }}")
            allowed = "NULL" in comment or any(other.endswith("count") for _, other in pairs)  # which is 0 here
            cases.append(f'{{"{name}", "{word}", {"true" if allowed else "false"}, call_{len(cases)}}},')
    with open(sys.argv[1], "w") as file:
        file.write('#include "support/null_calls.h"\n\n' + "\n".join(lines) + "\n\nconst null_case null_cases[] = {\n    " +
                   "\n    ".join(cases) + f"\n}};\nconst int null_case_count = {len(cases)};\n")


main()
