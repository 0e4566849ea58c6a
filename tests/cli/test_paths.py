"""Names and paths in files stay where they belong: bodies write into the output folder, references stay inside the input's."""
import json
import os

import program
from complete import write_scene

BODY = {"shape": {"kind": "box", "size": [1, 1, 1], "cells": [1, 1, 1]}, "material": "gel"}
RAW = bytes([0, 1] * 4)
NRRD = "NRRD0004\ntype: uint8\ndimension: 3\nsizes: 2 2 2\nencoding: raw\nspacings: 1 1 1\ndata file: %s\n\n"
META = "ObjectType = Image\nNDims = 3\nDimSize = 2 2 2\nElementType = MET_UCHAR\nElementSpacing = 1 1 1\nElementDataFile = %s\n"
GLTF = json.dumps({"asset": {"version": "2.0"}, "buffers": [{"uri": "URI", "byteLength": 36}],
                   "bufferViews": [{"buffer": 0, "byteLength": 36}],
                   "accessors": [{"bufferView": 0, "componentType": 5126, "count": 3, "type": "VEC3", "min": [0, 0, 0], "max": [0, 0, 0]}],
                   "meshes": [{"primitives": [{"attributes": {"POSITION": 0}}]}], "nodes": [{"mesh": 0}], "scenes": [{"nodes": [0]}], "scene": 0})


def write(path, text):
    with open(path, "wb") as file:
        file.write(text if isinstance(text, bytes) else text.encode())


def test_names_of_bodies_are_plain():
    with program.folder() as out:
        for name in ("../../evil", "/tmp/evil", "a/b", ".hidden", " a", "a\nb", "a\x7f", "x" * 101, "a:b", "a\\b"):
            scene = write_scene(out, bodies=[{**BODY, "name": name}], probes=[])
            result = program.run("run", scene, "-o", out + "/a/b/out")
            assert result.returncode == 2 and "letters, digits, spaces" in result.stderr, (name, result)
        assert not os.path.exists(out + "/a") and os.listdir(out) == ["scene.json"], os.listdir(out)
        for name in ("left hand", "a.b", "x_1-2", "Knöchel", "x" * 100):
            scene = write_scene(out, bodies=[{**BODY, "name": name}], probes=[])
            result = program.run("run", scene, "-o", out + "/out", "--format", "ply", "--steps", 1)
            assert result.returncode == 0 and os.path.exists(f"{out}/out/{name}_00001.ply"), (name, result.stderr)
        scene = write_scene(out, bodies=[{**BODY, "name": "a"}, {**BODY, "name": "a"}], probes=[])
        assert program.run("check", scene).returncode == 2


def test_names_of_probes_are_plain_and_unique():
    """They become columns of a table and keys of the summary."""
    with program.folder() as out:
        body = {**BODY, "name": "a"}
        for name in ("a,b", 'a"b', "a\nb", "", ".x", " x", "x" * 101):
            scene = write_scene(out, bodies=[body], probes=[{"name": name, "point": [0, 0, 0]}])
            result = program.run("check", scene)
            assert result.returncode == 2 and "probes[0].name" in result.stderr, (name, result)
        twice = [{"name": "tip", "point": [0, 0, 0]}, {"name": "tip", "point": [0.1, 0, 0]}]
        result = program.run("check", write_scene(out, bodies=[body], probes=twice))
        assert result.returncode == 2 and "another probe" in result.stderr, result
        scene = write_scene(out, bodies=[body], probes=[{"name": "Spitze µ 1.5-x_2", "point": [0, 0, 0]}])
        assert program.run("check", scene).returncode == 0


def test_references_stay_inside_the_folder():
    """A header names its data: inside the folder it is read; outside, by a link or absolutely, only when that is allowed."""
    with program.folder() as out:
        inside = os.path.join(out, "in", "sub")
        os.makedirs(inside)
        for name, data in (("data.raw", RAW), ("data.bin", bytes(36))):
            write(os.path.join(out, name), data)
            write(os.path.join(inside, name), data)
        os.symlink(out, os.path.join(out, "in", "link"))
        for file, text, data in (("a.nhdr", NRRD, "data.raw"), ("a.mhd", META, "data.raw"), ("a.gltf", GLTF.replace("%", "%%").replace("URI", "%s"), "data.bin")):
            path = os.path.join(out, "in", file)
            unit = [] if file == "a.gltf" else ["--unit", "mm"]
            write(path, text % ("sub/" + data))
            result = program.run("inspect", path, *unit)
            assert result.returncode == 0, (file, result.stderr)
            for reference in (f"../{data}", f"sub/../../{data}", f"{out}/{data}", f"link/{data}"):
                write(path, text % reference)
                refused = program.run("inspect", path, *unit)
                assert refused.returncode == 2 and "--allow-outside" in refused.stderr, (file, reference, refused.stderr)
                allowed = program.run("inspect", path, *unit, "--allow-outside")
                assert allowed.returncode == 0, (file, reference, allowed.stderr)


def test_scenes_stay_inside_their_folder():
    mesh = "4 3 0 0\n1 0 0 0\n2 1 0 0\n3 0 1 0\n4 0 0 1\n"
    with program.folder() as out:
        for folder in ("meshes", "scenes/meshes"):
            os.makedirs(os.path.join(out, folder))
            write(os.path.join(out, folder, "x.node"), mesh)
            write(os.path.join(out, folder, "x.ele"), "1 4 0\n1 1 2 3 4\n")
        for name, status in (("meshes/x.node", 0), ("../meshes/x.node", 2), (out + "/meshes/x.node", 2)):
            scene = write_scene(out + "/scenes", bodies=[{"name": "a", "shape": {"file": name}, "material": "gel"}], probes=[])
            result = program.run("check", scene)
            assert result.returncode == status and (status == 0 or "--allow-outside" in result.stderr), (name, result.stderr)
            allowed = program.run("check", scene, "--allow-outside")
            assert allowed.returncode == 0, (name, allowed.stderr)


def test_files_beside_a_file_are_found_from_anywhere():
    with program.folder() as out:
        os.mkdir(out + "/sub")
        write(out + "/sub/x.node", "4 3 0 0\n1 0 0 0\n2 1 0 0\n3 0 1 0\n4 0 0 1\n")
        write(out + "/sub/x.ele", "1 4 0\n1 1 2 3 4\n")
        for path in ("sub/x.node", "./sub/../sub/x.node", out + "/sub/x.node"):
            result = program.run("convert", path, "y.vtu", cwd=out)
            assert result.returncode == 0, (path, result.stderr)
        assert program.run("convert", "x.node", "y.vtu", cwd=out + "/sub").returncode == 0


def test_a_pipe_in_a_scene_is_refused():
    with program.folder() as out:
        os.mkfifo(out + "/pipe.obj")
        scene = write_scene(out, bodies=[{"name": "a", "shape": {"file": "pipe.obj"}, "material": "gel"}], probes=[])
        result = program.run("check", scene)
        assert result.returncode == 2 and "named pipe" in result.stderr, result.stderr


def test_the_memory_of_many_bodies_is_linear():
    """Each body with a material of its own; quadratic, 4000 took 2.5 GB."""
    with program.folder() as out:
        peaks = []
        for count in (500, 4000):
            bodies = [{**BODY, "name": f"b{i}", "material": {"young": 1e5}, "position": [2 * i, 0, 0]} for i in range(count)]
            scene = write_scene(out, bodies=bodies, probes=[])
            code = "import resource, subprocess, sys; subprocess.run(sys.argv[1:], check=True, stdout=subprocess.DEVNULL); " \
                   "print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss)"
            peaks.append(int(program.run_python(code, program.SINEW, "check", scene).stdout))
        assert peaks[1] < 12 * peaks[0] and peaks[1] < 400e3, peaks


program.main([value for name, value in list(globals().items()) if name.startswith("test_")])
