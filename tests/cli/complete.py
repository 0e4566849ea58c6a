"""What the tests of files share: a small scene, and whether the files in a folder are complete."""
import json
import os
import struct
import tempfile
import xml.etree.ElementTree

import program

SCENE = {
    "version": 1, "gravity": [0, 0, -9.81], "step": 0.01, "steps": 4,
    "materials": {"gel": {"law": "corotational", "young": 1e5, "poisson": 0.4, "density": 1000}},
    "bodies": [{"name": name, "shape": {"kind": "box", "size": [1, 0.2, 0.2], "cells": [4, 1, 1]}, "material": "gel",
                "position": [0, offset, 0], "fixed": [{"box": {"upper": [-0.5, 9, 9]}}]} for name, offset in (("a", 0), ("b", 1))],
    "probes": [{"name": "tip", "body": "a", "point": [0.5, 0, 0]}],
    "output": {"formats": ["vtu", "glb", "pc2", "csv"], "every": 2},
}


def memory_folder():
    """A folder in memory where there is one: hundreds of runs, each of which flushes every file."""
    return tempfile.TemporaryDirectory(prefix="sinew-", dir="/dev/shm" if os.access("/dev/shm", os.W_OK) else None)


def write_scene(folder, **changes):
    path = os.path.join(folder, "scene.json")
    with open(path, "w") as file:
        json.dump({**SCENE, **changes}, file)
    return path


def check_file(path):
    """A file is complete: its format's own end is there."""
    data = open(path, "rb").read()
    ending = os.path.splitext(path)[1]
    if ending in (".vtu", ".pvd"):
        xml.etree.ElementTree.fromstring(data[:data.find(b"<AppendedData")] + b"</VTKFile>" if b"<AppendedData" in data else data)
        assert data.rstrip().endswith(b"</VTKFile>"), path
    elif ending == ".glb":
        assert data[:4] == b"glTF" and struct.unpack("<I", data[8:12])[0] == len(data), path
    elif ending == ".png":
        assert data[:4] == b"\x89PNG" and data[-8:-4] == b"IEND", path
    elif ending == ".json":
        json.loads(data)
    elif ending == ".pc2":
        points, images = struct.unpack("<i", data[16:20])[0], struct.unpack("<i", data[28:32])[0]
        assert len(data) == 32 + 12 * points * images, path
    elif ending in (".csv", ".ply", ".obj", ".nrrd", ".msh"):
        assert data and (ending in (".ply", ".nrrd") or data.endswith(b"\n")), path


def check_folder(folder):
    """Nothing half written, nothing temporary."""
    for place, _, names in os.walk(folder):
        for name in names:
            assert not name.endswith("tmp"), name
            check_file(os.path.join(place, name))


def whole_hash():
    with program.folder() as out:
        return json.loads(program.run("run", write_scene(out), "-o", out, "--json").stdout)["hash"]
