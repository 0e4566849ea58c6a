"""Grain as a user meets it: fields drawn, saved, loaded again and from outside, their axes in VTU, reports and refusals."""
import json
import math
import os
import struct
import xml.etree.ElementTree
import zlib

import program

BAR = {
    "version": 1, "step": 0.01, "steps": 6, "gravity": [0, 0, -9.81],
    "materials": {"wood": {"law": "orthotropic", "young_1": 1e5, "young_2": 2e5, "young_3": 2e6, "poisson": 0.3}},
    "bodies": [{"name": "bar", "material": "wood", "shape": {"kind": "box", "size": [1, 0.2, 0.2], "cells": [10, 2, 2]},
                "rotation": {"axis": [0, 0, 1], "degrees": 90}, "position": [1, 2, 3],
                "fixed": [{"box": {"upper": [-0.499, 1, 1]}}],
                "field": {"curves": [{"name": "vein", "points": [[-0.5, 0, -0.05], [0, 0, 0.05], [0.5, 0, -0.05]]}]}}]}
CURVE = BAR["bodies"][0]["field"]["curves"][0]


def scene(out, field=None, name="scene.json", **changes):
    """Writes the bar with another field or other entries of its body; returns the path."""
    body = {**BAR["bodies"][0], **({"field": field} if field else {}), **changes}
    path = os.path.join(out, name)
    with open(path, "w") as file:
        json.dump({**BAR, "bodies": [body]}, file)
    return path


def run(path, out, *arguments):
    result = program.run("run", path, "-o", out, "--format", "vtu", "--json", *arguments)
    assert result.returncode == 0, result.stderr
    return json.loads(result.stdout)


def read_array(raw, offset, compressor):
    """The bytes of an appended array: plain behind their size, or in blocks behind the number of blocks, the size of
    a block, the size of the last one (0: a whole block) and the compressed size of each."""
    if not compressor:
        size = struct.unpack_from("<Q", raw, offset)[0]
        return raw[offset + 8:offset + 8 + size]
    count, _, _ = struct.unpack_from("<3Q", raw, offset)
    sizes = struct.unpack_from(f"<{count}Q", raw, offset + 24)
    data, start = b"", offset + 24 + 8 * count
    for size in sizes:
        data += zlib.decompress(raw[start:start + size])
        start += size
    return data


def read_vtu(path):
    """The arrays of a file by (section, name), each a list of tuples: a reader that knows the format alone."""
    sizes = {"Float32": "f", "Float64": "d", "Int32": "i", "Int64": "q", "UInt8": "B"}
    raw = open(path, "rb").read()
    begin = raw.index(b"<AppendedData")
    start = raw.index(b"_", begin) + 1
    root = xml.etree.ElementTree.fromstring(raw[:begin] + b"</VTKFile>")
    assert root.get("header_type") == "UInt64" and root.get("byte_order") == "LittleEndian"
    arrays = {}
    for section in ("Points", "PointData", "CellData", "Cells"):
        for array in root.findall(f".//{section}/DataArray"):
            offset, letter = start + int(array.get("offset")), sizes[array.get("type")]
            data = read_array(raw, offset, root.get("compressor"))
            values = struct.unpack(f"<{len(data) // struct.calcsize(letter)}{letter}", data)
            width = int(array.get("NumberOfComponents"))
            arrays[section, array.get("Name")] = [values[i:i + width] for i in range(0, len(values), width)]
    return arrays


def read_field(path):
    lines = [line.split("#")[0].split() for line in open(path)]
    assert lines[0] == ["sinew-field", "1"] and lines[1][0] == "kind" and lines[2] == ["elements", str(len(lines) - 3)]
    return [[float(word) for word in line] for line in lines[3:]]


def turn(q, v):
    """v turned by the quaternion x y z w."""
    x, y, z, w = q
    t = [2 * (y * v[2] - z * v[1]), 2 * (z * v[0] - x * v[2]), 2 * (x * v[1] - y * v[0])]
    return [v[0] + w * t[0] + y * t[2] - z * t[1], v[1] + w * t[1] + z * t[0] - x * t[2], v[2] + w * t[2] + x * t[1] - y * t[0]]


def difference(a, b):
    return max(abs(x - y) for p, q in zip(a, b) for x, y in zip(p, q))


def solve(columns, right):
    """The coefficients of three columns that make up a vector."""
    def det(a, b, c):
        return (a[0] * (b[1] * c[2] - b[2] * c[1]) - b[0] * (a[1] * c[2] - a[2] * c[1]) + c[0] * (a[1] * b[2] - a[2] * b[1]))
    a, b, c = columns
    whole = det(a, b, c)
    return det(right, b, c) / whole, det(a, right, c) / whole, det(a, b, right) / whole


def edges(points, cell):
    return [[points[cell[k]][i] - points[cell[0]][i] for i in range(3)] for k in (1, 2, 3)]


def check_deformed(rest, now):
    """Axes are vectors of the material: they have the same coefficients along the edges of their tet before and after."""
    cells = [value[0] for value in rest["Cells", "connectivity"]]
    cells = [cells[i:i + 4] for i in range(0, len(cells), 4)]
    moved = 0
    for e, cell in enumerate(cells):
        for axis in ("axis_1", "axis_2", "axis_3"):
            before, after = rest["CellData", axis][e], now["CellData", axis][e]
            coefficients = solve(edges(rest["Points", "Points"], cell), before)
            new = edges(now["Points", "Points"], cell)
            carried = [sum(c * edge[i] for c, edge in zip(coefficients, new)) for i in range(3)]
            assert difference([carried], [after]) < 2e-4, (e, axis, carried, after)  # edges of 0.1 m at 3 m in single precision
            moved = max(moved, difference([before], [after]))
    assert moved > 0.02, moved


def test_axes_in_vtu():
    with program.folder() as out:
        summary = run(scene(out), out)
        rest, now = (read_vtu(os.path.join(out, f"bar_0000{i}.vtu")) for i in (0, 6))
        quaternions = read_field(os.path.join(out, "bar.field"))
        assert len(quaternions) == len(rest["CellData", "axis_3"]) == summary["fields"]["bar"]["unknowns"] == 200
        # At rest they are unit vectors, the field's, turned with the body by 90 degrees about z.
        for k, axis in enumerate(("axis_1", "axis_2", "axis_3")):
            for q, found in zip(quaternions, rest["CellData", axis]):
                a = turn(q, [float(k == i) for i in range(3)])
                assert difference([found], [[-a[1], a[0], a[2]]]) < 1e-6, (axis, found, a)
        check_deformed(rest, now)


def test_fibres_have_one_axis():
    with program.folder() as out:
        run(scene(out, {"kind": "fibres", "curves": [CURVE]}), out)
        arrays = read_vtu(os.path.join(out, "bar_00000.vtu"))
        assert ("CellData", "axis_3") in arrays and ("CellData", "axis_1") not in arrays
        directions = read_field(os.path.join(out, "bar.field"))
        found = [[v[1], -v[0], v[2]] for v in arrays["CellData", "axis_3"]]
        assert all(len(d) == 3 for d in directions) and difference(found, directions) < 1e-6


def test_bodies_of_frames_show_axes():
    frames = {"resolution": 20, "weights": {"kind": "axis"}, "sampling": {"kind": "midpoint", "count": 100},
              "nodes": [{"position": [-0.45, 0, 0], "hold": "all"}, {"position": [0.45, 0, 0]}]}
    for strain in ("corotational", "green"):
        with program.folder() as out:
            body = {"model": "frames", "frames": frames, "fixed": []}
            path = scene(out, {"rotation": {"axis": [0, 1, 0], "degrees": 90}}, **body)
            run(path, out, "-s", f'materials.wood.strain="{strain}"')
            for step in (0, 6):
                arrays = read_vtu(os.path.join(out, f"bar_0000{step}.vtu"))
                axes = arrays["PointData", "axis_3"]
                assert len(axes) == len(arrays["Points", "Points"])
                # x turned by 90 degrees about z; the bar sags a little.
                assert all(a[1] > (1 - 1e-6 if step == 0 else 0.5) for a in axes), axes[0]
                assert any(a[2] < -1e-3 for a in axes) == (step == 6)


def read_png(path):
    """Rows of (red, green, blue), of a picture of eight bits a channel without interlace."""
    raw, at, data = open(path, "rb").read(), 8, b""
    while at < len(raw):
        size, kind = struct.unpack_from(">I4s", raw, at)
        if kind == b"IHDR":
            width, height, depth, colour, _, _, interlace = struct.unpack_from(">IIBBBBB", raw, at + 8)
            assert depth == 8 and colour in (2, 6) and interlace == 0
        data += raw[at + 8:at + 8 + size] if kind == b"IDAT" else b""
        at += 12 + size
    channels = 3 if colour == 2 else 4
    data, stride, above, rows = zlib.decompress(data), channels * width, bytes(channels * width), []
    for y in range(height):
        method, line = data[y * (stride + 1)], bytearray(data[y * (stride + 1) + 1:(y + 1) * (stride + 1)])
        for i in range(stride if method else 0):
            left, up = line[i - channels] if i >= channels else 0, above[i]
            corner = above[i - channels] if i >= channels else 0
            nearest = min((left, up, corner), key=lambda value: abs(left + up - corner - value))
            line[i] = (line[i] + (0, left, up, (left + up) // 2, nearest)[method]) & 255
        above = bytes(line)
        rows.append([tuple(line[i:i + 3]) for i in range(0, stride, channels)])
    return rows


def test_axes_in_the_preview():
    """Three coloured axes for frames, blue ones for fibres: what differs from the picture without."""
    settings = ["-s", 'preview={"count":1,"size":[320,240],"largest":1}', "--steps", "0", "--format", "png"]
    for kind, colours in (("frames", {0, 1, 2}), ("fibres", {2})):
        with program.folder() as out:
            path, pictures = scene(out, {"kind": kind, "curves": [CURVE]}), []
            for shown in ("true", "false"):
                result = program.run("run", path, "-o", out, *settings, "-s", "preview.field=" + shown)
                assert result.returncode == 0, result.stderr
                if "no preview.png" in result.stdout:
                    return  # built without libpng
                pictures.append(sum(read_png(os.path.join(out, "preview.png")), []))
            counts = [0, 0, 0]
            for pixel, without in zip(*pictures):
                strongest = max(range(3), key=lambda k: pixel[k])
                counts[strongest] += pixel != without and pixel[strongest] > 1.6 * sorted(pixel)[1]
            assert {k for k in range(3) if counts[k] > 20} == colours, (kind, counts)


def test_saved_fields_are_the_same():
    with program.folder() as out:
        run(scene(out), out)
        again = os.path.join(out, "again")
        summary = run(scene(out, {"file": "bar.field"}, "again.json"), again)
        assert summary["fields"]["bar"]["least_certainty"] == 1 and not os.path.exists(os.path.join(again, "bar.field"))
        a, b = (read_vtu(os.path.join(folder, "bar_00006.vtu")) for folder in (out, again))
        for key in (("Points", "Points"), ("CellData", "axis_1"), ("CellData", "axis_3")):
            assert difference(a[key], b[key]) < 1e-5, key
        shown = program.run("inspect", "--json", os.path.join(out, "bar.field"))
        found = json.loads(shown.stdout)
        assert found["elements"] == 200 and found["axes"] == "frames" and abs(found["main_direction"][0]) > 0.99, found


def test_fields_from_outside():
    """Quaternions or directions of any length, with comments, as another program writes them."""
    with program.folder() as out:
        lines = ["sinew-field 1  # by hand", "kind fibres", "elements 200"] + ["3 0 4 # a direction", "0 0 0 -2"] * 100
        with open(os.path.join(out, "mine.field"), "w") as file:
            file.write("\n".join(lines) + "\n")
        run(scene(out, {"file": "mine.field"}), out)
        axes = read_vtu(os.path.join(out, "bar_00000.vtu"))["CellData", "axis_3"]
        assert difference([axes[0], axes[1]], [[0, 0.6, 0.8], [0, 0, 1]]) < 1e-6, axes[:2]
        with open(os.path.join(out, "mine.field"), "w") as file:
            file.write("\n".join(lines[:3] + ["3e-200 0 4e-200", "0 0 0 -1e300"] * 100) + "\n")
        run(os.path.join(out, "scene.json"), out)
        axes = read_vtu(os.path.join(out, "bar_00000.vtu"))["CellData", "axis_3"]
        assert difference([axes[0], axes[1]], [[0, 0.6, 0.8], [0, 0, 1]]) < 1e-6, axes[:2]
        for wrong, words in ((lines[:-1], "element 199"), (lines[:3] + ["0 0 0"] * 200, "element 0"),
                             (["sinew-field 1", "kind frames", "elements 200"] + ["1 0 0"] * 200, "quaternion"),
                             (lines + ["0 0 1"], "more follows after the last of 200"),
                             (lines[:3] + ["1 0 0 0 1 0 0"] * 100, "element 0 of 200"), (["sinew-field 2"] + lines[1:], "version 1"), (lines[:3] + ["nan 0 1"] * 200, "element 0"),
                             (["sinew-field 1", "kind frames", "elements 1", "0 0 0 1"], "field of 1 elements; the body has 200")):
            with open(os.path.join(out, "mine.field"), "w") as file:
                file.write("\n".join(wrong) + "\n")
            result = program.run("check", os.path.join(out, "scene.json"))
            assert result.returncode == 2 and words in result.stderr, (words, result.stderr)


def test_certainty_is_reported():
    crossing = {"strokes": [[[-0.5, 0.05, 0.02], [0.5, 0.05, 0.02]], [[0.02, -0.1, 0.02], [0.02, 0.1, 0.02]]]}
    with program.folder() as out:
        path = scene(out, crossing)
        for report in (program.run("check", path).stdout, program.run("run", path, "-o", out, "--format", "png").stdout):
            line = next(line for line in report.splitlines() if "fibres from 2 curves" in line)
            assert line.startswith("bar: ") and "least near [" in line, line
        summary = run(path, out)["fields"]["bar"]
        place = summary["least_certain_at"]
        assert summary["least_certainty"] < 0.5 and math.dist(place, [0.02, 0.05, 0.02]) < 0.15, summary  # where they cross
        certainty = [value[0] for value in read_vtu(os.path.join(out, "bar_00000.vtu"))["CellData", "axis_certainty"]]
        assert abs(min(certainty) - summary["least_certainty"]) < 1e-6 and max(certainty) > 0.8, (min(certainty), max(certainty))
        body = json.loads(program.run("inspect", "--json", path).stdout)["bodies"][0]
        assert body["field"] == "fibres" and abs(body["least certainty"] - summary["least_certainty"]) < 1e-12, body
        calm = program.run("check", scene(out)).stdout
        assert "frames from 1 curve;" in calm and "least near" not in calm, calm


def test_parts_without_a_curve_are_named():
    with program.folder() as out:
        with open(os.path.join(out, "two.mesh"), "w") as file:
            file.write("MeshVersionFormatted 1\nDimension 3\nVertices 8\n0 0 0 0\n1 0 0 0\n0 1 0 0\n0 0 1 0\n"
                       "5 0 0 0\n6 0 0 0\n5 1 0 0\n5 0 1 0\nTetrahedra 2\n1 2 3 4 1\n5 6 7 8 1\nEnd\n")
        path = scene(out, {"curves": [{"name": "vein", "points": [[0.1, 0.1, 0.1], [0.3, 0.2, 0.2]]}]},
                     shape={"file": "two.mesh"}, fixed=[])
        result = program.run("check", path)
        assert result.returncode == 0, result.stderr
        assert "the part of 1 element from number 1 on, near [5.25, 0.25, 0.25] m" in result.stderr and "vein" in result.stderr, result.stderr
        assert run(path, out)["fields"]["bar"]["parts_without_curve"] == 1


MUSCLES = {"muscle": {"young": 1e5, "fibre_stress": {"keys": [[0, 0], [0.05, 3e4]]}}, "fat": {"young": 1e5}}


def shortened(out, body):
    """By how much the ends at -0.5 and 0.5 of a bar along x have moved inwards."""
    path = os.path.join(out, "labels.json")
    with open(path, "w") as file:
        json.dump({**BAR, "gravity": [0, 0, 0], "steps": 20, "materials": MUSCLES, "bodies": [{"name": "bar", **body}]}, file)
    run(path, out)
    x = [point[0] for point in read_vtu(os.path.join(out, "bar_00020.vtu"))["Points", "Points"]]
    return min(x) + 0.5, 0.5 - max(x)


def test_fibres_of_labels_contract():
    """The muscle pulls, whichever way its label is named, in bodies of frames and of elements."""
    frames = {"model": "frames", "damping": {"mass": 20}, "field": {"strokes": [[[-0.5, 0, 0], [0.5, 0, 0]]]},
              "shape": {"kind": "box", "size": [1, 0.2, 0.2],
                        "layers": [{"start": [-0.5, 0, 0], "direction": [1, 0, 0], "thickness": [0.5, 0.5], "labels": [1, 2]}]},
              "frames": {"resolution": 20, "weights": {"kind": "axis", "adopt_outside": True}, "sampling": {"kind": "midpoint", "count": 400},
                         "nodes": [{"position": [-0.4, 0, 0]}, {"position": [0, 0, 0], "hold": "all"}, {"position": [0.4, 0, 0]}]}}
    tets = {"shape": {"file": "two.mesh"}, "damping": {"mass": 20}, "field": {"rotation": {"axis": [0, 1, 0], "degrees": 90}},
            "fixed": [{"box": {"lower": [-0.3, -1, -1], "upper": [0.3, 1, 1]}}]}
    with program.folder() as out:
        with open(os.path.join(out, "two.mesh"), "w") as file:
            file.write("MeshVersionFormatted 1\nDimension 3\nVertices 8\n-0.5 0 0 0\n-0.2 0 0 0\n-0.2 0.3 0 0\n-0.2 0 0.3 0\n"
                       "0.5 0 0 0\n0.2 0 0 0\n0.2 0.3 0 0\n0.2 0 0.3 0\nTetrahedra 2\n1 2 3 4 1\n5 6 8 7 2\nEnd\n")
        for body in (frames, tets):
            for materials, muscle in (({"1": "muscle", "2": "fat"}, 0), ({"2": "fat", "1": "muscle"}, 0), ({"1": "fat", "2": "muscle"}, 1),
                                      ({"2": "muscle", "1": "fat"}, 1), ({"2": "muscle"}, 1), ({"1": "muscle"}, 0)):
                ends = shortened(out, {**body, "materials": materials, "material": "fat"})
                assert ends[muscle] > 0.01 and abs(ends[1 - muscle]) < 0.003, (materials, ends)
            result = program.run("check", os.path.join(out, "labels.json"), "-s", 'bodies[0].materials={"1": "muscle", "7": "fat"}')
            assert result.returncode == 0 and "names a material for label 7, which nothing of it has" in result.stderr, result.stderr
        for model in ("warped", "warped-edges", "positions"):
            path = scene(out, material={"young": 1e5, "fibre_stress": 1e4}, model=model)
            for setting in ("1e4", '{"keys": [[0, 0], [1, 1e4]]}'):
                result = program.run("check", path, "-s", "bodies[0].material.fibre_stress=" + setting)
                assert result.returncode == 2 and 'bodies[0]: the fibre_stress of material "inline"' in result.stderr, result.stderr
        shortened(out, {**frames, "materials": {"2": "muscle"}, "material": "fat"})
        result = program.run("check", os.path.join(out, "labels.json"), "-s", "bodies[0].frames.springs=true",
                             "-s", 'bodies[0].frames.kind="rigid"')
        assert result.returncode == 2 and 'the fibre_stress of material "muscle"' in result.stderr, result.stderr
        shortened(out, {**tets, "materials": {"1": "muscle"}, "material": "fat"})
        path = os.path.join(out, "labels.json")  # of tets, with a material for one of its labels
        document = json.load(open(path))
        del document["bodies"][0]["material"]
        with open(path, "w") as file:
            json.dump(document, file)
        result = program.run("check", path)
        assert result.returncode == 2 and "element 1 has label 2, for which no material is given" in result.stderr, result.stderr


def test_the_heart_beats():
    """What docs/grain.md says of examples/grain-heart.json: how far the tip turns, how much shorter it gets, and back again."""
    turns, heights = {}, {}
    with program.folder() as out:
        result = program.run("run", os.path.join(program.EXAMPLES, "grain-heart.json"), "-o", out, "--format", "vtu")
        assert result.returncode == 0, result.stderr
        for name, middle in (("plain", -0.14), ("straight", 0), ("winding", 0.14)):
            for step in (34, 80):
                arrays = read_vtu(os.path.join(out, f"{name}_{step:05}.vtu"))
                now = [[x - middle, y, z] for x, y, z in arrays["Points", "Points"]]
                rest = [[a - b for a, b in zip(p, u)] for p, u in zip(now, arrays["PointData", "displacement"])]
                low, high = min(p[2] for p in rest), max(p[2] for p in rest)
                tip = [(a, b) for a, b in zip(rest, now) if a[2] < low + 0.005 and math.hypot(a[0], a[1]) > 0.008]
                angles = [math.degrees(math.atan2(a[0] * b[1] - a[1] * b[0], a[0] * b[0] + a[1] * b[1])) for a, b in tip]
                assert len(tip) > 5
                turns[name, step] = sum(angles) / len(angles)
                heights[name, step] = (max(p[2] for p in now) - min(p[2] for p in now)) / (high - low)
    for name, turn in (("plain", 90), ("straight", 0), ("winding", 49)):
        assert abs(abs(turns[name, 34]) - turn) < 2, (name, turns)
        assert abs(turns[name, 80]) < 2 and abs(heights[name, 80] - 1) < 0.01, (name, turns, heights)  # at rest again
    assert abs(heights["straight", 34] - 0.85) < 0.01, heights


def test_mistakes():
    cases = (("field.curves[0].points=[[0,0,0]]", "at least 2 points"), ("field.curves[0].points=[[0,0,0],[0,0,0]]", "no length"),
             ("field.curves[0].points=[[0,0,0],[0.1,0,0],[0.1,0,0],[0.2,0,0]]", "points 1 and 2 are the same"),
             ("field.curves[0].points=[[9,0,0],[8,0,0]]", "vein lies outside"), ("field.curves[0].tur=3", 'did you mean "turn"'),
             ("field.knd=\"fibres\"", 'did you mean "kind"'), ("field.kind=\"fibers\"", 'did you mean "fibres"'),
             ("field.curves[0].knots=[1,2]", "6 knots"), ("field.curves[0].weights=[1,-1,1]", "weight 1 is -1"),
             ("field.reach=-1", "reach of -1 m"), ("field.spacing=-1", "spacing of -1 m"), ("field={\"own\":true}", "organism"),
             ("field={\"file\":\"x.field\",\"kind\":\"fibres\"}", "the file says"),
             ("field={\"rotation\":[0,0,0,1],\"by\":\"vertex\"}", "there are no curves"),
             ("field={\"rotation\":[0,0,0,1],\"reach\":1}", "there are no curves"),
             ("field.curves[0]={\"kind\":\"stroke\",\"points\":[[0,0,0],[1,0,0]],\"weights\":[1,1]}", "a stroke has none"))
    with program.folder() as out:
        path = scene(out)
        for setting, words in cases:
            result = program.run("check", path, "-s", "bodies[0]." + setting)
            assert result.returncode == 2 and words in result.stderr, (setting, result.stderr)
        for setting, words in (("young_2=-1", "> 0"), ("poisson=0.7", "below 0.5"),
                               ("shear_12=1e5", '"shear_31" is missing')):
            result = program.run("check", path, "-s", "materials.wood." + setting)
            assert result.returncode == 2 and words in result.stderr, (setting, result.stderr)
        four = BAR["materials"]["wood"]
        nine = {"young_1": 1e6, "young_2": 2e6, "young_3": 4e6, "poisson_12": 0.3, "poisson_23": 0.2, "poisson_31": 0.4,
                "shear_12": 4e5, "shear_23": 5e5, "shear_31": 6e5, "law": "orthotropic"}
        five = {"young_fibre": 1e6, "young_plane": 1e5, "poisson_fibre": 0.3, "poisson_plane": 0.3, "shear_fibre": 5e4,
                "law": "transverse"}
        for material, words in (({key: four[key] for key in four if key != "law"}, 'young_1: has no effect without "law": "orthotropic"'),
                                ({**five, "law": "orthotropic"}, 'young_fibre: has no effect without "law": "transverse"'),
                                ({**five, "young": 1e5}, "young: has no effect: this law has young_fibre"),
                                ({**five, "poisson": 0.3}, "poisson: has no effect"), ({**nine, "poisson": 0.3}, "poisson_12"),
                                ({**four, "young": 1e5}, "young: has no effect: this law has young_1")):
            result = program.run("check", path, "-s", "materials.wood=" + json.dumps(material))
            assert result.returncode == 2 and words in result.stderr, (material, result.stderr)
        for good, key, value, words in ((nine, "poisson_12", 0.8, "|nu_12| < sqrt(E_1/E_2) = 0.707107"),
                                        (nine, "poisson_31", 1.9, "2 nu_12 nu_23 nu_31 > 0"),
                                        (five, "poisson_plane", 1, "|nu_plane| < 1 ("),
                                        (five, "poisson_fibre", 2, "|nu_fibre| < sqrt((1 - nu_plane) E_fibre / (2 E_plane))")):
            for material, status in ((good, 0), ({**good, key: value}, 2)):
                result = program.run("check", path, "-s", "materials.wood=" + json.dumps(material))
                assert result.returncode == status, (material, result.stderr)
            assert words in result.stderr and "nearest valid value" in result.stderr, result.stderr


program.main([value for name, value in list(globals().items()) if name.startswith("test_")])
