"""Three generated characters with their own animation and with a walk: what soften must not touch comes out byte for byte, the flesh keeps
its volume, and no tet inverts."""
import os
import re

import program
from characters import person
from replay import read

WALK = os.path.join(os.path.dirname(__file__), "..", "..", "examples", "walk.bvh")
KINDS = "lean", "stout", "child"


def soften(folder, kind, *options):
    person(kind).save(f"{folder}/{kind}.glb")
    result = program.run("soften", f"{folder}/{kind}.glb", "-o", f"{folder}/out.glb", "-n", "4000", "-r", "20", *options)
    assert result.returncode == 0, (kind, options, result.stderr)
    volume = float(re.search(r"volume within (\S+) %", result.stdout).group(1))
    inverted = int(re.search(r"inverted tets: (\d+)", result.stdout).group(1))
    assert volume < 3 and inverted == 0, (kind, options, result.stdout)
    return read(f"{folder}/{kind}.glb"), read(f"{folder}/out.glb")


def without_targets(document):
    """The meshes without the morph targets that soften adds."""
    meshes = []
    for mesh in document["meshes"]:
        primitives = [{key: value for key, value in p.items() if key != "targets"} for p in mesh["primitives"]]
        meshes.append({"name": mesh["name"], "primitives": primitives})
    return meshes


def check_untouched(before, after, walks):
    (was, old), (now, new) = before, after
    assert new[:len(old)] == old, "the bytes of the file come first, unchanged"
    for key in was:
        if key not in ("buffers", "bufferViews", "accessors", "meshes", "animations"):
            assert now[key] == was[key], key
    assert set(now) == set(was)
    for key in "bufferViews", "accessors":
        assert now[key][:len(was[key])] == was[key], key
    assert without_targets(now) == without_targets(was)
    for old_mesh, mesh in zip(was["meshes"], now["meshes"]):
        for p, q in zip(old_mesh["primitives"], mesh["primitives"]):
            own = p.get("targets", [])
            assert q.get("targets", [])[:len(own)] == own

    # The walk is added; an animation of the file gets at most a channel of weights.
    assert len(now["animations"]) == len(was["animations"]) + walks
    for p, q in zip(was["animations"], now["animations"]):
        assert q["name"] == p["name"] and q["channels"][:len(p["channels"])] == p["channels"]
        assert q["samplers"][:len(p["samplers"])] == p["samplers"]
        assert all(c["target"]["path"] == "weights" for c in q["channels"][len(p["channels"]):])


def test_their_own_animation():
    with program.folder() as out:
        for kind in KINDS:
            check_untouched(*soften(out, kind, "--animation", "jump", "--loop"), 0)


def test_a_walk():
    with program.folder() as out:
        for kind in KINDS:
            check_untouched(*soften(out, kind, "--motion", WALK), 1)


def test_every_model():
    with program.folder() as out:
        for options in ("--model", "tets"), ("--model", "frames"), ("--complementary",), ("--model", "tets", "--complementary"):
            check_untouched(*soften(out, "stout", "--animation", "jump", *options), 0)


program.main([value for name, value in list(globals().items()) if name.startswith("test_")])
