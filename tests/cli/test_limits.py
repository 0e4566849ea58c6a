"""Time and memory stay in proportion to what is asked for."""
import gzip
import json
import os
import struct
import time

import program
from complete import write_scene

CODE = "import resource, subprocess, sys; print(subprocess.run(sys.argv[1:], stdout=subprocess.DEVNULL).returncode, " \
       "resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss)"


def measure(*arguments):
    """Exit status, and peak memory in megabytes."""
    status, kilobytes = program.run_python(CODE, program.SINEW, *arguments).stdout.split()
    return int(status), int(kilobytes) / 1e3


def test_glb_is_linear_in_its_images():
    with program.folder() as out:
        body = {"name": "a", "shape": {"kind": "box", "size": [1, 1, 1], "cells": [1, 1, 1]}, "material": "gel"}
        scene = write_scene(out, bodies=[body], probes=[], output={"formats": ["glb"], "every": 1}, gravity=[0, 0, 0])
        sizes = []
        for steps in (1000, 4000):
            status, megabytes = measure("run", scene, "-o", out, "--steps", steps, "-q")
            assert status == 0 and megabytes < 60, (steps, megabytes)  # quadratic: 270 MB
            sizes.append(os.path.getsize(out + "/scene.glb"))
        assert sizes[1] < 4.2 * sizes[0], sizes
        result = program.run("inspect", out + "/scene.glb", "--json")
        assert result.returncode == 0 and json.loads(result.stdout), result.stderr


def test_check_is_linear_in_its_bodies():
    with program.folder() as out:
        used = []
        for count in (500, 2000):
            bodies = [{"name": f"b{i}", "shape": {"kind": "box", "cells": [1, 1, 1]}, "position": [3 * i, 0, 0]} for i in range(count)]
            status, megabytes = measure("check", write_scene(out, bodies=bodies, probes=[]))
            assert status == 0
            used.append(megabytes)
        assert used[1] < 4.2 * used[0], used  # quadratic: 11 times


def test_compressed_data_beyond_the_header_is_not_decompressed():
    header = bytearray(352)
    struct.pack_into("<i", header, 0, 348)
    struct.pack_into("<8h", header, 40, 3, 2, 2, 2, 1, 1, 1, 1)
    struct.pack_into("<2h", header, 70, 2, 8)
    struct.pack_into("<8f", header, 76, 1, 1, 1, 1, 1, 1, 1, 1)
    struct.pack_into("<f", header, 108, 352)
    header[123] = 2
    header[344:348] = b"n+1\0"
    good = bytes(header) + bytes([1] * 8)
    with program.folder() as out:
        path = os.path.join(out, "a.nii.gz")
        open(path, "wb").write(gzip.compress(good))
        status, small = measure("inspect", path)
        assert status == 0
        open(path, "wb").write(gzip.compress(good + bytes(400_000_000), 1))
        status, large = measure("inspect", path)
        assert status == 2 and large < small + 20, (status, small, large)

        text = "NRRD0004\ntype: uint8\ndimension: 3\nsizes: 2 2 2\nencoding: gzip\nspacings: 1 1 1\n\n"
        path = os.path.join(out, "a.nrrd")
        open(path, "wb").write(text.encode() + gzip.compress(bytes(400_000_000), 1))
        status, large = measure("inspect", path, "--unit", "mm")
        assert status == 2 and large < small + 20, (status, small, large)


def test_a_curve_that_ends_far_away_costs_seconds():
    material = {"law": "transverse", "young_fibre": 1e6, "young_plane": 1e5, "poisson_fibre": 0.3, "poisson_plane": 0.3,
                "shear_fibre": 4e4, "density": 1000}
    with program.folder() as out:
        seconds = []
        for end in (1, 1e19):
            body = {"name": "a", "shape": {"kind": "box", "size": [1, 1, 1], "cells": [6, 6, 6]}, "material": "gel",
                    "field": {"kind": "fibres", "curves": [{"points": [[0, 0, 0], [end, 0, 0.1]]}]}}
            scene = write_scene(out, materials={"gel": material}, bodies=[body], probes=[])
            begin = time.time()
            result = program.run("check", scene)
            seconds.append(time.time() - begin)
            assert result.returncode in (0, 2), result.stderr
        assert seconds[1] < 20 + 10 * seconds[0], seconds  # 2 s on a quiet machine; it was more than a minute


program.main([value for name, value in list(globals().items()) if name.startswith("test_")])
