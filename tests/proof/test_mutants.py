"""Programs with one wrong constant in the library: the rows of `sinew-proof validate` that depend on it must fail, and pass in the original program."""
import json
import os
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(os.path.dirname(HERE), "cli"))
import program  # noqa: E402

program.SINEW = program.PROOF

# The rows that must fail, and rows that do not depend on the constant and must pass: a mutant that fails everything shows little.
MUTANTS = {
    "law": (["uniaxial", "cantilever"], ["integrators"]),
    "rotation": (["A17"], ["cantilever"]),
    "gradient": (["cantilever"], ["integrators", "A17"]),
    "integrator": (["integrators"], ["cantilever", "momentum"]),
    "weights": (["A6"], ["A18"]),
    "springs": (["A8"], ["A1"]),
    "mass": (["A19"], ["A1"]),
}


def failing(path, ids):
    """The rows of these ids that fail; the exit status must say so."""
    product, program.SINEW = program.SINEW, path
    result = program.run("validate", "--quick", *ids, "--json")
    program.SINEW = product
    rows = json.loads(result.stdout)
    assert {row["id"] for row in rows} == set(ids), rows
    found = {(row["id"], row["claim"]) for row in rows if row["pass"] is False}
    assert result.returncode == (1 if found else 0), result.returncode
    return found


def test_mutants_are_noticed():
    folder = os.path.join(os.path.dirname(program.SINEW), "mutants")
    for name, (noticed, others) in MUTANTS.items():
        known = failing(program.SINEW, noticed + others)
        found = failing(os.path.join(folder, name), noticed + others)
        worse = {id for id, _ in found - known}
        assert worse == set(noticed), f"{name}: {sorted(worse)} get worse, not {noticed}; does its sed still fit the source?"


program.main([value for name, value in list(globals().items()) if name.startswith("test_")])
