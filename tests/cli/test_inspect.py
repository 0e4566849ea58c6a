"""sinew inspect: every kind of file, as text and as JSON, and files that are none of them."""
import json
import os

import program

CUBE = """v 0 0 0
v 2 0 0
v 2 1 0
v 0 1 0
v 0 0 1
v 2 0 1
v 2 1 1
v 0 1 1
f 4 3 2 1
f 5 6 7 8
f 1 2 6 5
f 2 3 7 6
f 3 4 8 7
f 4 1 5 8
"""

TWO_TETS = """$MeshFormat
2.2 0 8
$EndMeshFormat
$PhysicalNames
2
3 7 "bone"
3 9 "fat"
$EndPhysicalNames
$Nodes
5
1 0 0 0
2 1 0 0
3 0 1 0
4 0 0 1
5 1 1 1
$EndNodes
$Elements
2
1 4 2 7 1 1 2 3 4
2 4 2 9 1 2 3 4 5
$EndElements
"""

MOTION = """HIERARCHY
ROOT hip
{
  OFFSET 0 0 0
  CHANNELS 6 Xposition Yposition Zposition Zrotation Xrotation Yrotation
  JOINT knee
  {
    OFFSET 0 -4 0
    CHANNELS 3 Zrotation Xrotation Yrotation
    End Site
    {
      OFFSET 0 -3 0
    }
  }
}
MOTION
Frames: 3
Frame Time: 0.5
0 0 0 0 0 0 0 0 0
0 1 0 0 0 0 10 0 0
0 2 0 0 0 0 20 0 0
"""

VOLUME = b"""NRRD0004
type: uint8
dimension: 3
sizes: 4 3 2
spacings: 1 2 3
units: "mm" "mm" "mm"
encoding: raw

""" + bytes([0] * 12 + [1, 1, 2, 0] * 3)


def facts(out, name, content):
    """What inspect says about a file of that content, as JSON; the text form must name the same facts."""
    path = os.path.join(out, name)
    with open(path, "wb") as file:
        file.write(content if isinstance(content, bytes) else content.encode())
    result = program.run("inspect", "--json", path)
    assert result.returncode == 0, result.stderr
    found = json.loads(result.stdout)
    text = program.run("inspect", path).stdout
    for key in found:
        assert any(line.startswith(key + ": ") for line in text.splitlines()), (key, text)
    return found


def test_surface():
    with program.folder() as out:
        found = facts(out, "cube.obj", CUBE)
        assert (found["kind"], found["format"], found["points"], found["triangles"]) == ("mesh", "OBJ", 8, 12), found
        assert found["size"] == [2, 1, 1] and abs(found["area"] - 10) < 1e-12 and abs(found["enclosed_volume"] - 2) < 1e-12
        assert found["open_edges"] == 0 and found["parts"] == 1 and "warning" not in found
        opened = facts(out, "open.obj", CUBE.replace("f 4 1 5 8\n", ""))
        assert opened["open_edges"] == 4 and "enclosed_volume" not in opened, opened
        bad = facts(out, "repeated.obj", CUBE + "f 4 3 2\n")
        assert bad["useless_triangles"] == 1 and "warning" in bad, bad


def test_solid_with_labels():
    with program.folder() as out:
        found = facts(out, "two.msh", TWO_TETS)
        assert found["tet4"] == 2 and abs(found["volume"] - 0.5) < 1e-12, found
        assert found["labels"] == [{"label": 7, "elements": 1, "name": "bone"}, {"label": 9, "elements": 1, "name": "fat"}], found
        isolated = facts(out, "isolated.msh", TWO_TETS.replace("$Nodes\n5", "$Nodes\n6").replace("$EndNodes", "6 9 9 9\n$EndNodes"))
        assert "warning" in isolated, isolated


def test_motion():
    with program.folder() as out:
        found = facts(out, "walk.bvh", MOTION)
        assert (found["joints"], found["frames"], found["duration"], found["height"]) == (2, 3, 1.5, 7), found
        assert found["root"] == "hip"


def test_scene_and_what_it_writes():
    scene = os.path.join(program.EXAMPLES, "bar.json")
    with program.folder() as out:
        found = json.loads(program.run("inspect", scene, "--json").stdout)
        assert found["kind"] == "scene" and found["bodies"][0]["elements"] > 100 and found["probes"][0]["name"] == "tip", found
        assert program.run("run", scene, "--steps", 4, "-o", out, "-q", "--format", "glb,vtu").returncode == 0
        moving = json.loads(program.run("inspect", os.path.join(out, "scene.glb"), "--json").stdout)
        assert moving["kind"] == "glTF" and moving["meshes"][0]["triangles"] > 100, moving
        assert abs(moving["animations"][0]["duration"] - 0.04) < 1e-6, moving
        solid = json.loads(program.run("inspect", os.path.join(out, "bar_00000.vtu"), "--json").stdout)
        assert solid["tet4"] == found["bodies"][0]["elements"], solid


def test_hostile_names_do_no_harm():
    with program.folder() as out:
        found = facts(out, "two.msh", TWO_TETS.encode().replace(b"bone", b"b\x1b[2J\xff"))
        assert found["labels"][0]["name"] == "b?[2J?", found


def test_label_volume():
    with program.folder() as out:
        found = facts(out, "labels.nrrd", VOLUME)
        assert found["kind"] == "label volume" and found["cells"] == [4, 3, 2] and found["voxels"] == 9, found
        assert found["labels"] == [{"label": 1, "voxels": 6, "volume": 3.6e-08}, {"label": 2, "voxels": 3, "volume": 1.8e-08}], found
        unstated = os.path.join(out, "unstated.nrrd")
        with open(unstated, "wb") as file:
            file.write(VOLUME.replace(b'units: "mm" "mm" "mm"\n', b""))
        refused = program.run("inspect", unstated)
        assert refused.returncode == 2 and "unit" in refused.stderr, refused.stderr
        for unit in ("1e-3", "mm"):
            named = program.run("inspect", unstated, "--unit", unit, "--json")
            assert json.loads(named.stdout)["spacing"] == [0.001, 0.002, 0.003], named.stdout


def test_what_is_no_such_file_is_refused():
    garbage = bytes((7 * i * i + 31 * i) % 256 for i in range(3000))
    endings = ("obj", "ply", "stl", "glb", "gltf", "msh", "mesh", "node", "vtu", "bvh", "nii", "nrrd", "mha", "json", "txt", "pc2")
    with program.folder() as out:
        paths = [out, os.path.join(out, "missing.obj")]
        for ending in endings:
            for name, content in (("empty", b""), ("garbage", garbage)):
                paths.append(os.path.join(out, f"{name}.{ending}"))
                with open(paths[-1], "wb") as file:
                    file.write(content)
        whole = {"two.msh": TWO_TETS, "walk.bvh": MOTION}
        for name, content in whole.items():
            paths.append(os.path.join(out, name))
            with open(paths[-1], "w") as file:
                file.write(content[: 2 * len(content) // 3])
        for path in paths:
            result = program.run("inspect", path)
            assert result.returncode == 2 and result.stdout == "", (path, result.returncode, result.stdout)
            assert result.stderr.startswith("sinew inspect: ") or path.endswith(".json"), (path, result.stderr)
            assert result.stderr.count("\n") == 1 or path.endswith(".json"), (path, result.stderr)


program.main([value for name, value in list(globals().items()) if name.startswith("test_")])
