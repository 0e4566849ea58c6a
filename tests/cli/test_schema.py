"""The schema: every example and the starter scene satisfy it, and it knows the same words as the reader."""
import glob
import json
import os
import re
import runpy

import program

SCHEMA = json.load(open(os.path.join(program.ROOT, "schema", "scene.schema.json")))


def without_comments(text):
    return re.sub(r'("(?:[^"\\]|\\.)*")|//[^\n]*|/\*.*?\*/', lambda match: match.group(1) or "", text, flags=re.S)


def test_examples_satisfy_the_schema():
    try:
        import jsonschema
    except ImportError:
        print("skipped: python3-jsonschema is not installed")
        return
    validator = jsonschema.Draft202012Validator(SCHEMA)
    for name in glob.glob(os.path.join(program.EXAMPLES, "*.json")):
        errors = list(validator.iter_errors(json.load(open(name))))
        assert not errors, (name, errors[0].message)
    with program.folder() as out:
        assert program.run("new", os.path.join(out, "starter")).returncode == 0
        starter = json.loads(without_comments(open(os.path.join(out, "starter.json")).read()))
        errors = list(validator.iter_errors(starter))
        assert not errors, errors[0].message
        assert list(validator.iter_errors({"version": 1, "bodies": []})), "an empty scene must not pass"


def find_enums(node):
    """Every list of words in the schema."""
    if isinstance(node, dict):
        if "enum" in node:
            yield node["enum"]
        for value in node.values():
            yield from find_enums(value)
    if isinstance(node, list):
        for value in node:
            yield from find_enums(value)


def test_schema_has_the_words_of_the_reader():
    enums = [set(map(str, words)) for words in find_enums(SCHEMA)]
    for name in ("laws", "models", "shapes", "solids", "elements", "integrators", "solvers", "formats", "colors", "weights",
                 "metrics", "blends", "node-kinds", "specimens", "organisms", "characters", "units"):
        listed = program.run("list", name)
        assert listed.returncode == 0, listed.stderr
        words = set(listed.stdout.split())
        assert len(words) > 1 and words in enums, (name, words)


def test_unknown_list():
    result = program.run("list", "integrator")
    assert result.returncode == 1 and "integrators" in result.stderr, result.stderr


BODY = {"shape": {}}
DEFS = SCHEMA["$defs"]


def frames(section):
    return {"version": 1, "bodies": [{"shape": {}, "model": "frames", "frames": {"count": 1, **section}}]}


# A scene with a wrong key in each kind of object, and the object's place in the schema.
PLACES = {
    "": ({"version": 1, "bodies": [BODY], "?": 1}, SCHEMA),
    "solver": ({"version": 1, "bodies": [BODY], "solver": {"?": 1}}, SCHEMA["properties"]["solver"]),
    "static": ({"version": 1, "bodies": [BODY], "static": {"?": 1}}, SCHEMA["properties"]["static"]["oneOf"][1]),
    "materials": ({"version": 1, "bodies": [BODY], "materials": {"a": {"?": 1}}}, DEFS["material"]),
    "body": ({"version": 1, "bodies": [{"shape": {}, "?": 1}]}, DEFS["body"]),
    "shape": ({"version": 1, "bodies": [{"shape": {"?": 1}}]}, DEFS["shape"]),
    "damping": ({"version": 1, "bodies": [{"shape": {}, "damping": {"?": 1}}]}, DEFS["body"]["properties"]["damping"]),
    "select": ({"version": 1, "bodies": [{"shape": {}, "fixed": [{"?": 1}]}]}, DEFS["select"]["oneOf"][1]),
    "box": ({"version": 1, "bodies": [{"shape": {}, "fixed": [{"box": {"?": 1}}]}]}, DEFS["select"]["oneOf"][1]["properties"]["box"]),
    "load": ({"version": 1, "bodies": [{"shape": {}, "loads": [{"where": "all", "?": 1}]}]}, DEFS["body"]["properties"]["loads"]["items"]),
    "curve": ({"version": 1, "bodies": [{"shape": {}, "loads": [{"where": "all", "force": [0, 0, 0], "scale": {"?": 1}}]}]},
              DEFS["curve"]["oneOf"][1]),
    "motion": ({"version": 1, "bodies": [{"shape": {}, "scripted": [{"where": "all", "motion": {"?": 1}}]}]},
               DEFS["motion"]),
    "solid": ({"version": 1, "bodies": [{"shape": {"solids": [{"?": 1}]}}]}, DEFS["solid"]),
    "frames": (frames({"?": 1}), DEFS["frames"]),
    "frame": (frames({"nodes": [{"?": 1}]}), DEFS["frame"]),
    "initial": (frames({"nodes": [{"position": [0, 0, 0], "initial": {"?": 1}}]}), DEFS["frame"]["properties"]["initial"]),
    "placement": (frames({"placement": {"?": 1}}), DEFS["frames"]["properties"]["placement"]),
    "weights": (frames({"weights": {"?": 1}}), DEFS["frames"]["properties"]["weights"]),
    "sampling": (frames({"sampling": {"?": 1}}), DEFS["frames"]["properties"]["sampling"]),
    "tissue": (frames({"tissues": {"1": {"?": 1}}}), DEFS["tissue"]),
    "insertion": (frames({"insertions": [{"?": 1}]}), DEFS["insertion"]),
    "attachment": ({"version": 1, "bodies": [BODY], "attachments": [{"?": 1}]}, SCHEMA["properties"]["attachments"]["items"]),
    "skeleton": ({"version": 1, "bodies": [BODY], "skeletons": {"a": {"?": 1}}}, DEFS["skeleton"]),
    "retargeted": ({"version": 1, "bodies": [BODY], "skeletons": {"a": {"motion": {"?": 1}}}}, DEFS["skeleton"]["properties"]["motion"]),
    "positions": ({"version": 1, "bodies": [{"shape": {}, "model": "positions", "positions": {"?": 1}}]},
                  DEFS["body"]["properties"]["positions"]),
    "field": ({"version": 1, "bodies": [{"shape": {}, "field": {"?": 1}}]}, DEFS["field"]),
    "guide": ({"version": 1, "bodies": [{"shape": {}, "field": {"curves": [{"?": 1}]}}]}, DEFS["guide"]),
    "probe": ({"version": 1, "bodies": [BODY], "probes": [{"?": 1}]}, SCHEMA["properties"]["probes"]["items"]),
    "output": ({"version": 1, "bodies": [BODY], "output": {"?": 1}}, SCHEMA["properties"]["output"]),
    "preview": ({"version": 1, "bodies": [BODY], "preview": {"?": 1}}, SCHEMA["properties"]["preview"]),
}


def test_schema_and_reader_know_the_same_keys():
    with program.folder() as out:
        for name, (scene, place) in PLACES.items():
            path = os.path.join(out, "scene.json")
            json.dump(scene, open(path, "w"))
            message = program.run("check", path).stderr
            found = re.search(r'unknown key "\?".*?[Vv]alid here: ([^\n]*)', message)
            assert found, (name, message)
            words = set(found.group(1).strip().split(", "))
            assert words == set(place["properties"]) - {"$schema"}, (name, words ^ set(place["properties"]))


def test_reference_is_up_to_date():
    script = runpy.run_path(os.path.join(program.ROOT, "scripts", "scene_reference"))
    with open(os.path.join(program.ROOT, "docs", "scene.md"), encoding="utf-8") as file:
        assert script["page"](SCHEMA) == file.read(), "docs/scene.md is out of date: call scripts/scene_reference"


program.main([value for name, value in list(globals().items()) if name.startswith("test_")])
