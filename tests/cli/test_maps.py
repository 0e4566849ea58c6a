"""Continuous maps of stiffness and density, from NRRD, NIfTI and MetaImage: masses are sums over the cells, and a bar whose stiffness
is linear stretches as the closed form says."""
import json
import math
import os
import struct

from program import folder, main, run

CELLS, EDGE = (64, 4, 4), 0.005  # [m]: a bar of 0.32 x 0.02 x 0.02 m
LENGTH, AREA = CELLS[0] * EDGE, (CELLS[1] * EDGE) ** 2


def numbers(value):
    """The value at the centre of each cell, x fastest."""
    return [value((x + 0.5) * EDGE) for _ in range(CELLS[1] * CELLS[2]) for x in range(CELLS[0])]


def write_nrrd(path, data, code="f"):
    kind = {"B": "uint8", "f": "float"}[code]
    header = (f"NRRD0004\ntype: {kind}\nendian: little\ndimension: 3\nsizes: {CELLS[0]} {CELLS[1]} {CELLS[2]}\nencoding: raw\n"
              'space: right-anterior-superior\nspace units: "mm" "mm" "mm"\nspace directions: (5,0,0) (0,5,0) (0,0,5)\n'
              "space origin: (2.5,2.5,2.5)\n\n")
    with open(path, "wb") as file:
        file.write(header.encode() + struct.pack(f"<{len(data)}{code}", *data))


def write_meta(path, data):
    """Its x and y run to the left and to the back."""
    header = (f"ObjectType = Image\nNDims = 3\nDimSize = {CELLS[0]} {CELLS[1]} {CELLS[2]}\nElementSpacing = 5 5 5\nOffset = -2.5 -2.5 2.5\n"
              "TransformMatrix = -1 0 0 0 -1 0 0 0 1\nElementType = MET_FLOAT\nElementByteOrderMSB = False\nElementDataFile = LOCAL\n")
    with open(path, "wb") as file:
        file.write(header.encode() + struct.pack(f"<{len(data)}f", *data))


def write_nifti(path, data):
    header = bytearray(352)
    struct.pack_into("<i", header, 0, 348)
    struct.pack_into("<8h", header, 40, 3, *CELLS, 1, 1, 1, 1)
    struct.pack_into("<2h", header, 70, 16, 32)  # float
    struct.pack_into("<8f", header, 76, 1, 5, 5, 5, 1, 1, 1, 1)
    struct.pack_into("<3f", header, 108, 352, 1, 0)
    header[123] = 2  # mm
    struct.pack_into("<2h", header, 252, 0, 1)  # sform
    for k in range(3):
        row = [0.0] * 4
        row[k], row[3] = 5, 2.5
        struct.pack_into("<4f", header, 280 + 16 * k, *row)
    header[344:348] = b"n+1\0"
    with open(path, "wb") as file:
        file.write(bytes(header) + struct.pack(f"<{len(data)}f", *data))


WRITERS = {".nrrd": write_nrrd, ".nii": write_nifti, ".mha": write_meta}


def rig(place, *arguments, expect=0):
    write_nrrd(place + "/labels.nrrd", [1] * math.prod(CELLS), "B")
    result = run("rig", place + "/labels.nrrd", "-o", place + "/rig", "-n", 3, "--json", *arguments)
    assert result.returncode == expect, result.stderr
    return json.loads(result.stdout) if expect == 0 else result.stderr


def test_mass_is_the_sum_over_the_cells():
    """Numbers that a float holds exactly, so that only rounding of the sum remains."""
    density = lambda x: 512 + 16 * round((x / EDGE) - 0.5)
    exact = sum(numbers(density)) * EDGE ** 3
    with folder() as place:
        for ending, write in WRITERS.items():
            write(place + "/density" + ending, numbers(density))
            report = rig(place, "--density", place + "/density" + ending, "--unit", "mm")  # MetaImage has no unit
            assert abs(report["mass"] / exact - 1) < 1e-9, (ending, report["mass"], exact)
            result = run("run", place + "/rig/scene.json", "-o", place + "/out", "-n", 1, "--json")
            assert result.returncode == 0, result.stderr
            mass = json.loads(result.stdout)["mass"]
            assert abs(mass / exact - 1) < 1e-9, (ending, mass, exact)
        plain = rig(place)["mass"]
        assert abs(plain / (1000 * LENGTH * AREA) - 1) < 1e-9


def scene(place, stiffness):
    write_nrrd(place + "/labels.nrrd", [1] * math.prod(CELLS), "B")
    middle = 0.5 * CELLS[1] * EDGE
    points = {"a": 0.25 * LENGTH, "b": 0.75 * LENGTH}
    return {"version": 1, "gravity": [0, 0, 0], "steps": 0, "static": True,
            "materials": {"flesh": {"young": 3e5, "poisson": 0, "density": 1000, "law": "linear"}},
            "bodies": [{"name": "bar", "model": "frames", "material": "flesh", "shape": {"volume": "labels.nrrd", "scale": 1e-3, "stiffness": stiffness},
                        "frames": {"kind": "affine", "weights": {"kind": "axis"}, "sampling": {"kind": "regions", "count": 64},
                                   "nodes": [{"position": [LENGTH * k / 16, middle, middle]} for k in range(17)]},
                        "fixed": [{"plane": {"point": [1e-6, 0, 0], "normal": [-1, 0, 0]}}],
                        "loads": [{"where": {"plane": {"point": [LENGTH - 1e-6, 0, 0], "normal": [1, 0, 0]}}, "force": [0.4, 0, 0]}]}],
            "probes": [{"name": name, "point": [x, middle, middle]} for name, x in points.items()], "output": {"formats": ["csv"]}}


def stretch(place, made):
    """The displacement of the second probe relative to the first."""
    with open(place + "/scene.json", "w") as file:
        json.dump(made, file)
    result = run("run", place + "/scene.json", "-o", place + "/out")
    assert result.returncode == 0, result.stderr
    with open(place + "/out/probes.csv") as file:
        names, *rows = [line.strip().split(",") for line in file if not line.startswith("#")]
    last = dict(zip(names, map(float, rows[-1])))
    return last["b_ux"] - last["a_ux"]


def test_a_bar_of_linear_stiffness():
    """u' = F / (A E), E = E0 + b x: u(x2) - u(x1) = F / (A b) ln(E(x2) / E(x1)). Between two frames u is linear, which is off by
    (b h / E)^2 / 12 with their distance h, here 0.1 %; regions of four cells have the mean stiffness, which costs as much."""
    young = lambda x: 1e5 + 3e5 * x / LENGTH
    slope = 3e5 / LENGTH
    exact = 0.4 / (AREA * slope) * math.log(young(0.75 * LENGTH) / young(0.25 * LENGTH))
    with folder() as place:
        for ending, write in WRITERS.items():
            write(place + "/young" + ending, numbers(young))
            made = scene(place, "young" + ending)
            found = stretch(place, made)
            plain = stretch(place, {**made, "bodies": [{**made["bodies"][0], "shape": {"volume": "labels.nrrd"}}]})
            assert abs(found / exact - 1) < 0.005, (ending, found, exact)
            assert abs(plain / (0.4 * 0.5 * LENGTH / (AREA * 3e5)) - 1) < 0.005, plain


def test_maps_that_do_not_fit_are_refused():
    with folder() as place:
        write_nrrd(place + "/zero.nrrd", numbers(lambda x: 0 if x > 0.1 else 1e5))
        assert "above 0" in rig(place, "--stiffness", place + "/zero.nrrd", expect=2)
        write_nrrd(place + "/nan.nrrd", numbers(lambda x: math.nan))
        assert "finite" in rig(place, "--density", place + "/nan.nrrd", expect=2)
        assert rig(place, "--density", place + "/missing.nrrd", expect=2)
        write_nrrd(place + "/small.nrrd", numbers(lambda x: 1e5))
        with open(place + "/small.nrrd", "rb") as file:
            data = file.read()
        with open(place + "/small.nrrd", "wb") as file:
            file.write(data.replace(b"(5,0,0)", b"(4,0,0)"))
        assert "cover" in rig(place, "--stiffness", place + "/small.nrrd", expect=2)
        made = scene(place, "young.nrrd")
        made["bodies"][0].pop("frames")
        made["bodies"][0]["model"] = "elastic"
        write_nrrd(place + "/young.nrrd", numbers(lambda x: 1e5))
        with open(place + "/scene.json", "w") as file:
            json.dump(made, file)
        result = run("run", place + "/scene.json", "-o", place + "/out")
        assert result.returncode == 2 and "frames" in result.stderr, result.stderr


main([value for name, value in list(globals().items()) if name.startswith("test_")])
