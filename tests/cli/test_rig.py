"""sinew rig: a scene that runs, a report that adds up, surfaces and volumes as input, tables of tissues, bad input."""
import json
import math
import os
import random
import re
import struct
import subprocess

from program import folder, main, run

CUBE_POINTS = [(x, y, z) for x in (0, 1) for y in (0, 1) for z in (0, 1)]
CUBE_FACES = [(1, 3, 4), (1, 4, 2), (5, 6, 8), (5, 8, 7), (1, 2, 6), (1, 6, 5), (3, 7, 8), (3, 8, 4), (1, 5, 7), (1, 7, 3),
              (2, 4, 8), (2, 8, 6)]


def write_cube(path, low, high):
    with open(path, "w") as file:
        for point in CUBE_POINTS:
            print("v", *(low[k] + (high[k] - low[k]) * point[k] for k in range(3)), file=file)
        for face in CUBE_FACES:
            print("f", *face, file=file)


def write_volume(path, cells, label_of, units='"mm" "mm" "mm"', directions="(2,0,0) (0,2,0) (0,0,2)", kind="uint8"):
    data = [label_of(x, y, z) for z in range(cells[2]) for y in range(cells[1]) for x in range(cells[0])]
    header = (f"NRRD0004\ntype: {kind}\nendian: little\ndimension: 3\nsizes: {cells[0]} {cells[1]} {cells[2]}\nencoding: raw\n"
              f"space: right-anterior-superior\nspace units: {units}\nspace directions: {directions}\nspace origin: (0,0,0)\n\n")
    with open(path, "wb") as file:
        file.write(header.encode() + struct.pack(f"<{len(data)}{dict(uint8='B', uint16='H')[kind]}", *data))


def rig(place, *arguments):
    result = run("rig", *arguments, "-o", place, "--json")
    assert result.returncode == 0, result.stderr
    return json.loads(result.stdout)


def rerun(place, *arguments):
    result = run("run", os.path.join(place, "scene.json"), "-o", os.path.join(place, "out"), "-n", 3, "--json", *arguments)
    assert result.returncode == 0, result.stderr
    return json.loads(result.stdout)


def test_example_loads_what_rig_wrote():
    with folder() as place:
        write_cube(os.path.join(place, "cube.obj"), (0, 0, 0), (0.1, 0.1, 0.2))
        rig(os.path.join(place, "rig"), os.path.join(place, "cube.obj"), "-n", 2, "-r", 8)
        program = os.path.join(os.environ["SINEW_BUILD"], "examples", "load")
        result = subprocess.run([program, os.path.join(place, "rig", "scene.json")], capture_output=True, text=True)
        assert result.returncode == 0 and "cube is at" in result.stdout, result.stderr


def test_specimen():
    with folder() as place:
        report = rig(place, "specimen:steak", "--voxels", 5000, "-n", 4, "--kind", "affine")
        assert report["nodes"] == 4 and report["rigid_nodes"] == 1, report
        assert report["unknowns"] == 6 + 3 * 12
        assert report["mean_fit_error"] < 0.05
        assert report["young"] == [12000, 60000]
        assert 0 < report["stable_step"] < report["advised_step"] <= 1 / 30
        assert {"labels.nrrd", "report.json", "scene.json", "skin.glb"} <= set(os.listdir(place))
        with open(os.path.join(place, "report.json")) as file:
            assert json.load(file)["voxels"] == report["voxels"]
        checked = run("check", os.path.join(place, "scene.json"))
        assert checked.returncode == 0, checked.stderr
        with open(os.path.join(place, "scene.json")) as file:
            scene = json.load(file)
        assert 0.02 < scene["step"] * scene["output"]["every"] < 0.08, scene  # a moment, not each step
        rerun(place)


def test_error():
    """The fewest frames whose expected error is small enough; errors fall with the number of frames."""
    with folder() as place:
        write_cube(os.path.join(place, "bar.obj"), (0, 0, 0), (1, 0.2, 0.2))
        report = rig(place, os.path.join(place, "bar.obj"), "-r", 20, "--weights", "spectral", "--error", 0.15)
        errors = {entry["nodes"]: entry["error"] for entry in report["expected_errors"]}
        assert errors[2] > errors[4] > errors[8] > 0, errors
        assert report["nodes"] == min(nodes for nodes in errors if errors[nodes] <= 0.15), report
        assert report["expected_error"] == errors[report["nodes"]]
        result = run("rig", os.path.join(place, "bar.obj"), "-o", place, "--error", 0.1, "-n", 4)
        assert result.returncode != 0 and "--nodes" in result.stderr, result.stderr


def test_spectral():
    """Frames that bend, their kind chosen by the tissues; the scene asks for the same weights."""
    with folder() as place:
        report = rig(place, "specimen:steak", "--voxels", 8000)
        assert report["nodes"] == 6 and report["free_motions"] == 0, report
        with open(os.path.join(place, "scene.json")) as file:
            frames = json.load(file)["bodies"][0]["frames"]
        assert frames["weights"]["kind"] == "spectral"
        assert [node["kind"] for node in frames["nodes"]].count("compliant") == 5, frames["nodes"]
        rerun(place)
    with folder() as place:
        write_cube(os.path.join(place, "bar.obj"), (0, 0, 0), (1, 0.2, 0.2))
        report = rig(os.path.join(place, "rig"), os.path.join(place, "bar.obj"), "-r", 20)
        assert report["weights"] == "spectral" and report["kind"] == "quadratic", report
        assert report["nodes"] == 6 and report["unknowns"] == 6 * 30, report
    result = run("rig", "specimen:steak", "--weights", "spectrum")
    assert result.returncode == 1 and "spectral" in result.stderr, result.stderr


def pull(place, fixed, points):
    """Pulls the bar that was rigged there by 1 N, spread over its end x = 1; the displacements of points."""
    with open(os.path.join(place, "scene.json")) as file:
        scene = json.load(file)
    body = scene["bodies"][0]
    for node in body["frames"]["nodes"]:
        node.pop("hold", None)
    body["fixed"] = fixed
    body["loads"] = [{"where": {"box": {"lower": [1 - 1e-6, -1, -1]}}, "traction": [25, 0, 0]}]
    scene.pop("duration")
    scene.update(gravity=[0, 0, 0], steps=0, static=True,
                 probes=[{"name": f"p{i}", "body": body["name"], "point": point} for i, point in enumerate(points)])
    with open(os.path.join(place, "pull.json"), "w") as file:
        json.dump(scene, file)
    result = run("run", os.path.join(place, "pull.json"), "-o", os.path.join(place, "pull"), "--format", "csv", "--json")
    assert result.returncode == 0, result.stderr
    probes = json.loads(result.stdout)["probes"]
    return [[x - X for x, X in zip(probes[f"p{i}"]["position"], point)] for i, point in enumerate(points)]


def test_elastic_constants():
    young, poisson, width = 1e5, 0.3, 0.2
    with folder() as place:
        write_cube(os.path.join(place, "bar.obj"), (0, -width / 2, -width / 2), (1, width / 2, width / 2))
        with open(os.path.join(place, "tissues.json"), "w") as file:
            json.dump({"1": {"name": "gel", "material": {"young": young, "poisson": poisson}}}, file)
        for nodes in (3, 6, 8):
            there = os.path.join(place, str(nodes))
            report = rig(there, os.path.join(place, "bar.obj"), "--up", "z", "-n", nodes, "-r", 40,
                         "--tissues", os.path.join(place, "tissues.json"))
            for key in ("volume", "label_volume", "shape_volume"):
                assert abs(report[key] - width * width) < 1e-9, report

            # Three symmetry planes: the exact solution is a uniform strain, which all frames have. The file has
            # eight points; what rig adds to them spreads load and supports over the sides.
            assert report["refined_points"] > 100, report
            planes = [{"where": {"box": {"upper": [1e-6 if axis == "x" else 2,
                                                   1e-6 - width / 2 if axis == "y" else 2,
                                                   1e-6 - width / 2 if axis == "z" else 2]}}, "axes": axis} for axis in "xyz"]
            near, far, low, high = pull(there, planes, [(0, 0, 0), (1, 0, 0), (0.5, -width / 2, 0), (0.5, width / 2, 0)])
            strain = far[0] - near[0]
            across = (high[1] - low[1]) / width
            assert abs(1 / (width * width * strain) / young - 1) < 0.03, (nodes, strain)
            assert abs(-across / strain - poisson) < 0.05 * poisson, (nodes, across / strain)


def test_text_report():
    with folder() as place:
        result = run("rig", "specimen:ribbon", "--voxels", 2000, "-n", 3, "-o", place)
        assert result.returncode == 0, result.stderr
        assert "2 layers" in result.stderr, result.stderr  # the ribbon has one
        for word in ("3 nodes", "voronoi weights, affine frames", "% of the volume (33.3 % if even)", "samples", "linear fits", "kg", "Pa", "Hz", "condition",
                     "recommended step", "per second", "scene.json"):
            assert word in result.stdout, (word, result.stdout)
        result = run("rig", "specimen:ribbon", "--voxels", 2000, "-n", 1, "--kind", "rigid", "-o", place)
        assert "1 node " in result.stdout and "frequencies: none" in result.stdout and "recommended step" in result.stdout, result.stdout


def test_surfaces():
    with folder() as place:
        outer, inner, table = (os.path.join(place, name) for name in ("outer.obj", "inner.obj", "table.json"))
        write_cube(outer, (0, 0, 0), (100, 40, 40))
        write_cube(inner, (40, 10, 10), (60, 30, 30))
        with open(table, "w") as file:
            file.write("""{ // what is what
                "1": {"name": "gel", "material": {"young": 5e4, "poisson": 0.4, "density": 900}},
                "2": {"name": "stone", "material": {"preset": "bone"}, "rigid": true}}""")
        target = os.path.join(place, "rig")
        report = rig(target, outer, inner, "--unit", "1e-3", "-r", 20, "-n", 3, "--tissues", table)
        assert report["rigid_nodes"] == 1 and report["open_edges"] == 0, report
        assert abs(report["volume"] - 0.1 * 0.04 * 0.04) < 1e-9, report["volume"]
        stone = 0.02 ** 3
        expected = 900 * (report["volume"] - stone) + 1900 * stone
        assert abs(report["mass"] - expected) < 1e-6 * expected, (report["mass"], expected)
        assert os.path.exists(os.path.join(target, "surface.ply"))
        with open(os.path.join(target, "scene.json")) as file:
            scene = json.load(file)
        assert scene["materials"]["stone"] == {"preset": "bone"}
        rerun(target)


def test_surfaces_side_by_side():
    """What is drawn, and what an animator gets, is all of the surfaces, not the first of them."""
    with folder() as place:
        left, right = os.path.join(place, "left.obj"), os.path.join(place, "right.obj")
        write_cube(left, (0, 0, 0), (1, 1, 1))
        write_cube(right, (1, 0, 0), (3, 1, 1))
        rig(os.path.join(place, "rig"), left, right, "-r", 12, "-n", 2)
        found = json.loads(run("inspect", os.path.join(place, "rig", "surface.ply"), "--json").stdout)["size"]
        assert abs(max(found) - 3) < 1e-6, found


def test_gradient():
    """A specimen whose stiffness varies keeps it in its scene."""
    with folder() as place:
        report = rig(place, "specimen:gradient", "--voxels", 1000, "-n", 3)
        assert report["young"][1] > 9 * report["young"][0], report["young"]
        bodies = json.loads(run("inspect", os.path.join(place, "scene.json"), "--json").stdout)["bodies"]
        assert bodies[0]["samples"] == report["samples"] and bodies[0]["voxels"] == report["voxels"], bodies
        with open(os.path.join(place, "scene.json")) as file:
            scene = json.load(file)
        assert scene["bodies"][0]["shape"] == {"specimen": "gradient", "voxels": 1000}, scene["bodies"][0]["shape"]
        rerun(place)


def test_up():
    """A slab that is thin along y in its file is thin along the axis that --up names, which is z in the rig."""
    with folder() as place:
        slab = os.path.join(place, "slab.obj")
        write_cube(slab, (0, 0, 0), (1, 0.25, 0.5))
        for arguments, sizes in (((), (1, 0.5, 0.25)), (("--up", "y"), (1, 0.5, 0.25)), (("--up", "z"), (1, 0.25, 0.5))):
            rig(os.path.join(place, "rig"), slab, "-r", 16, "-n", 2, *arguments)
            found = json.loads(run("inspect", os.path.join(place, "rig", "surface.ply"), "--json").stdout)["size"]
            assert all(abs(a - b) < 1e-6 for a, b in zip(found, sizes)), (arguments, found)


def test_volume():
    with folder() as place:
        path, table, target = (os.path.join(place, name) for name in ("v.nrrd", "t.json", "rig"))
        write_volume(path, (16, 6, 6), lambda x, y, z: 1 + (6 <= x < 10))
        with open(table, "w") as file:
            file.write('{"1": {"name": "soft", "material": {"young": 2e4}}, "2": {"material": {"young": 2e6}}}')
        report = rig(target, path, "--tissues", table, "-n", 2, "--kind", "rigid")
        assert report["voxels"] == 16 * 6 * 6 and report["unknowns"] == 12
        assert abs(report["volume"] - 0.032 * 0.012 * 0.012) < 1e-12
        rerun(target)


def test_units():
    """The unit of a file by name or number, over that of its header."""
    with folder() as place:
        path = os.path.join(place, "v.nrrd")
        write_volume(path, (4, 4, 4), lambda x, y, z: 1, units='"" "" ""')
        for unit, metres in (("mm", 1e-3), ("um", 1e-6), ("0.5", 0.5)):
            report = rig(os.path.join(place, "rig"), path, "-n", 1, "--unit", unit)
            expected = 64 * (2 * metres) ** 3
            assert abs(report["volume"] - expected) < 1e-9 * expected, (unit, report)
            for frequency, of_metres in zip(report["frequency"], (1.808, 6.89)):  # as the inverse of its size
                assert abs(frequency * metres / of_metres - 1) < 0.01, (unit, report)


def test_absent_label():
    """A tissue that no voxel has is reported, and the scene runs."""
    with folder() as place:
        path, table, target = (os.path.join(place, name) for name in ("v.nrrd", "t.json", "rig"))
        write_volume(path, (8, 4, 4), lambda x, y, z: 1)
        with open(table, "w") as file:
            file.write('{"1": {"name": "soft"}, "9": {"name": "horn", "rigid": true}}')
        result = run("rig", path, "--tissues", table, "-n", 2, "-o", target)
        assert result.returncode == 0 and "no voxel has the label 9 (horn)" in result.stdout, result
        rerun(target)


def test_unreached():
    """Voxels that no kernel reaches follow the nearest frame, which is reported, and in the scene too."""
    with folder() as place:
        report = rig(place, "specimen:knee", "--voxels", 600, "-n", 12, "--levels", 1)
        assert report["adopted_voxels"] > 0, report
        rerun(place)


def test_places():
    """Frames asked for at places are there, first and unmoved."""
    with folder() as place:
        path, target = os.path.join(place, "v.nrrd"), os.path.join(place, "rig")
        write_volume(path, (16, 6, 6), lambda x, y, z: 1)
        rig(target, path, "-n", 4, "--at", "0.003,0.006,0.006", "--at=0.029,0.006,0.006")
        with open(os.path.join(target, "scene.json")) as file:
            nodes = json.load(file)["bodies"][0]["frames"]["nodes"]
        found = [node["position"] for node in nodes]
        assert len(found) == 4 and found[:2] == [[0.003, 0.006, 0.006], [0.029, 0.006, 0.006]], found


def test_parts():
    """Two equal pieces float separately: twelve motions without frequency, and the frequencies of one piece."""
    with folder() as place:
        one, two = os.path.join(place, "one.nrrd"), os.path.join(place, "two.nrrd")
        write_volume(one, (6, 4, 4), lambda x, y, z: 1)
        write_volume(two, (13, 4, 4), lambda x, y, z: x != 6)
        alone = rig(os.path.join(place, "rig"), one, "-n", 1)
        both = rig(os.path.join(place, "rig"), two, "-n", 3, "--at", "0.003,0.003,0.003", "--at", "0.009,0.005,0.005")
        with open(os.path.join(place, "rig", "scene.json")) as file:
            nodes = json.load(file)["bodies"][0]["frames"]["nodes"]
        assert [node.get("hold") for node in nodes] == ["all", None, "all"], nodes  # the first of each piece
        both = rig(os.path.join(place, "rig"), two, "-n", 2)
        for k in (0, 1):
            assert abs(both["frequency"][k] - alone["frequency"][k]) < 1e-5 * alone["frequency"][k], (alone, both)
        for name in ("condition", "advised_step", "stable_step"):
            assert abs(both[name] - alone[name]) < 1e-5 * alone[name], (name, alone[name], both[name])


def test_specks():
    """A voxel that hangs on by an edge is dropped, joined, or kept with a frame of its own."""
    with folder() as place:
        path, target = os.path.join(place, "v.nrrd"), os.path.join(place, "rig")
        write_volume(path, (14, 10, 10), lambda x, y, z: x < 12 or (x == 12 and y == 3 and z == 3) or (x, y, z) == (13, 4, 3))
        dropped = rig(target, path, "-n", 2)
        assert (dropped["voxels"], dropped["specks"], dropped["speck_voxels"]) == (1201, 1, 1), dropped
        joined = rig(target, path, "-n", 2, "--specks", "join")
        assert (joined["voxels"], joined["specks"]) == (1203, 1), joined
        kept = rig(target, path, "-n", 2, "--specks", "keep")
        assert (kept["voxels"], kept["nodes"], kept["specks"]) == (1202, 2, 0), kept
        result = run("rig", path, "-n", 2, "-o", target)
        assert "1 disconnected speck of 1 voxel dropped (--specks)" in result.stdout, result.stdout


def test_images():
    """A scan is no label volume: a sphere in noise is refused with a threshold between the two, which makes a sphere."""
    with folder() as place:
        path, target = os.path.join(place, "scan.nrrd"), os.path.join(place, "rig")
        noise = random.Random(5)
        write_volume(path, (24, 24, 24), lambda x, y, z: (900 if (x - 11.5) ** 2 + (y - 11.5) ** 2 + (z - 11.5) ** 2 < 64 else 300) + noise.randrange(100),
                     kind="uint16")
        refused = run("rig", path, "-n", 2, "-o", target)
        assert refused.returncode == 2 and "more than 64 different labels" in refused.stderr, refused
        threshold = float(re.search(r"--threshold ([0-9.]+)", refused.stderr).group(1))
        assert 400 <= threshold <= 900, threshold
        made = rig(target, path, "-n", 2, "--threshold", threshold)
        assert abs(made["voxels"] / (4 / 3 * math.pi * 8 ** 3) - 1) < 0.02, made
        expect(1, ["makes a solid of an image"], "specimen:steak", "--threshold", 1, "-o", target)


def expect(code, words, *arguments):
    result = run("rig", *arguments)
    assert result.returncode == code, (result.returncode, result.stderr)
    for word in words:
        assert word in result.stderr, (word, result.stderr)


def test_bad_input():
    with folder() as place:
        path, table, apart = (os.path.join(place, name) for name in ("v.nrrd", "t.json", "a.nrrd"))
        write_volume(path, (8, 4, 4), lambda x, y, z: 1 + (x >= 4))
        out = ("-o", os.path.join(place, "rig"))
        expect(1, ["an input is needed"])
        expect(1, ["affine"], path, "--kind", "afine", *out)
        expect(1, ["valid: rigid, affine, quadratic"], path, "--kind", "point", *out)
        bad = os.path.join(place, "open.obj")
        write_cube(bad, (0, 0, 0), (1, 1, 1))
        with open(bad) as file:
            lines = file.readlines()
        with open(bad, "w") as file:
            file.writelines(lines[:-2])  # one side is missing
        closed = run("rig", bad, "-n", "2", *out)
        assert closed.returncode == 0 and "4 open edges around 1 holes, the largest 1.41 m wide" in closed.stdout, closed
        with open(bad, "w") as file:
            file.writelines(lines[:9])  # one triangle
        expect(2, ["open.obj", "0 x 1 x 1 m; a solid has extent"], bad, *out)
        expect(2, ["nothing.obj"], os.path.join(place, "nothing.obj"), *out)
        expect(2, ["did you mean 'steak'", "valid: steak, gradient"], "specimen:stake", *out)
        with open(table, "w") as file:
            file.write('{"1": {"name": "soft"}}')
        expect(2, ["label 2 is not in the table", "64 voxels", "the first at", "add the label"], path, "--tissues", table, *out)
        with open(table, "w") as file:
            file.write('{\n "1": {"name": "soft", "matrial": {}},\n "2": {"material": {"young": -1}}}')
        expect(2, [":2:", "material", ":3:", "young", "2 mistakes"], path, "--tissues", table, *out)
        write_volume(apart, (9, 4, 4), lambda x, y, z: x != 4)
        expect(2, ["1 nodes are not enough, at least 2 are needed", "the disconnected part of 64 voxels"], apart, "-n", 1, *out)
        expect(1, ["'eat'", "drop, join, keep"], apart, "--specks", "eat", *out)
        expect(1, ["three numbers", "1,2"], apart, "--at", "1,2", *out)
        expect(1, ["2 positions", "1 frames"], apart, "-n", 1, "--at", "0,0,0", "--at", "0.1,0,0", *out)
        expect(2, ["outside the solid", "would be inside"], apart, "--at", "1,2,3", *out)
        expect(2, ["the limit is 1", "times as large"], "specimen:steak", "--memory", 1, *out)
        assert rig(os.path.join(place, "parts"), apart, "-n", 2)["nodes"] == 2
        write_volume(apart, (4, 4, 4), lambda x, y, z: 0)
        expect(2, ["a.nrrd: ", "no voxel", "Labels above 0"], apart, *out)
        write_volume(apart, (4, 4, 4), lambda x, y, z: 1, units='"" "" ""')
        expect(2, ["--unit mm", '"scale": 1e-3'], apart, *out)
        expect(1, ["mm, um", "'inches'"], apart, "--unit", "inches", *out)
        for option, value, word in (("--resolution", 8, "surfaces"), ("--spacing", 1, "surfaces"), ("--up", "z", "surfaces"),
                                    ("--voxels", 8, "specimens")):
            expect(1, [option, word, "a.nrrd is a label volume"], apart, option, value, *out)
        expect(1, ["--unit", "is a specimen"], "specimen:steak", "--unit", "mm", *out)
        expect(1, ["--samples and --fit"], path, "--samples", 9, "--fit", 0.1, *out)
        with open(table, "w") as file:
            file.write('{"1": {"rigid": true}, "2": {"rigid": true}}')
        expect(2, ["3 nodes are too many", "rigid"], path, "--tissues", table, "-n", 3, *out)
        raw = os.path.join(place, "v.raw")
        with open(raw, "wb") as file:
            file.write(bytes(64))
        expect(2, ["v.raw", ".nii", ".obj", "header"], raw, *out)
        write_volume(apart, (8, 4, 4), lambda x, y, z: 1, directions="(-2,0,0) (0,2,0) (0,0,3)")
        report = rig(os.path.join(place, "flipped"), apart, "-n", 2)
        assert abs(report["volume"] - 128 * 12e-9) < 1e-15


main([value for name, value in list(globals().items()) if name.startswith("test_")])
