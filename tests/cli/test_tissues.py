"""Scenes of several tissues: layers, gradients, surfaces with labels, specimens; a knee that lifts its shin; bones that follow
recorded motion while the tail follows physics."""
import csv
import json
import os

import program

BOX = {"kind": "box", "size": [0.4, 0.1, 0.1]}


def run_scene(place, body, *arguments, steps=2):
    scene = {"version": 1, "step": 0.01, "gravity": [0, 0, 0],
             "materials": {"gel": {"young": 1e5, "poisson": 0.3}, "stone": {"young": 1e9}},
             "bodies": [dict({"name": "body", "model": "frames", "material": "gel"}, **body)],
             "probes": [{"name": "end", "point": [0.19, 0, 0]}]}
    path = os.path.join(place, "scene.json")
    with open(path, "w") as file:
        json.dump(scene, file)
    return program.run("run", path, "-o", place, "-n", steps, "-f", "csv", *arguments)


def last_row(place):
    with open(os.path.join(place, "probes.csv")) as file:
        return {key: float(value) for key, value in list(csv.DictReader(file))[-1].items()}


def frames(**more):
    return dict({"resolution": 20, "kind": "affine", "count": 3,
                 "nodes": [{"position": [-0.19, 0, 0], "hold": "all"}, {"position": [0.19, 0, 0]}]}, **more)


def pull(shape, **more):
    """How far the free end of a bar follows a pull of 1 N after a static solve."""
    with program.folder() as place:
        body = {"shape": shape, "frames": frames(**more), "loads": [{"point": [0.19, 0, 0], "force": [1, 0, 0]}]}
        result = run_scene(place, body, "-s", "static=true", steps=0)
        assert result.returncode == 0, result.stderr
        return last_row(place)["end_ux"]


def test_maps_make_it_stiffer():
    plain = pull(BOX)
    gradient = pull(dict(BOX, gradients=[{"from": [-0.2, 0, 0], "to": [0.2, 0, 0], "first": 1, "last": 9}]))
    layers = dict(BOX, layers=[{"start": [-0.05, 0, 0], "direction": [1, 0, 0], "thickness": [0.1], "labels": [2]}])
    rigid = pull(layers, tissues={"2": {"rigid": True}})
    assert plain > 0 and gradient < 0.6 * plain and rigid < 0.9 * plain, (plain, gradient, rigid)


def test_surfaces_with_labels():
    with program.folder() as place:
        for name, size in (("outer", 0.1), ("inner", 0.05)):
            with open(os.path.join(place, name + ".obj"), "w") as file:
                for x in (-2 * size, 2 * size):
                    for y in (-size / 2, size / 2):
                        for z in (-size / 2, size / 2):
                            print("v", x, y, z, file=file)
                file.write("f 1 2 4 3\nf 5 7 8 6\nf 1 5 6 2\nf 3 4 8 7\nf 1 3 7 5\nf 2 6 8 4\n")
        shape = {"surfaces": [{"file": "outer.obj"}, {"file": "inner.obj", "label": 7}]}
        result = run_scene(place, {"shape": shape, "frames": frames(tissues={"7": {"rigid": True}})})
        assert result.returncode == 0, result.stderr
        shape["surfaces"][1]["priority"] = -1  # now the outer one covers it
        result = run_scene(place, {"shape": shape, "frames": frames(tissues={"7": {"rigid": True}})})
        assert result.returncode == 2 and "no voxel has the label 7" in result.stderr, result.stderr


def test_mistakes():
    with program.folder() as place:
        for shape, words in (({"specimen": "stake"}, ["specimen", "steak"]),
                             (dict(BOX, voxels=100), ["voxels", "specimen"]),
                             ({"surfaces": []}, ["surface"]),
                             (dict(BOX, gradients=[{"from": [0, 0, 0]}]), ["to"]),
                             (dict(BOX, layers=[{"start": [0, 0, 0], "thickness": [1, 2], "labels": [1]}]), ["2 thicknesses"])):
            result = run_scene(place, {"shape": shape, "frames": frames()})
            assert result.returncode == 2, (shape, result.stderr)
            for word in words:
                assert word in result.stderr, (word, result.stderr)
        gradient = {"from": [0, 0, 0], "to": [1, 0, 0]}
        result = run_scene(place, {"model": "elastic", "shape": dict(BOX, gradients=[gradient])})
        assert result.returncode == 2 and "frames" in result.stderr, result.stderr


def run_example(place, name, duration, voxels):
    result = program.run("run", os.path.join(program.EXAMPLES, name), "-o", place, "-d", duration, "-f", "csv", "-s",
                         f"bodies[0].shape.voxels={voxels}", "-s", "output.every=1")
    assert result.returncode == 0, result.stderr
    with open(os.path.join(place, "probes.csv")) as file:
        return [{key: float(value) for key, value in row.items()} for row in csv.DictReader(file)]


def test_knee_lifts_the_shin():
    with program.folder() as place:
        last = run_example(place, "tissues-knee.json", 1.2, 20000)[-1]
        print("the foot moves by", last["foot_ux"], last["foot_uz"])
        # A lift that nobody overlooks: a tenth of the shin's 0.3 m, as the cap gives way to the pull of 0.04 m.
        assert last["cap_ux"] < -0.01 and last["foot_uz"] > 0.03, last


def test_bones_follow_motion_and_the_tail_physics():
    with program.folder() as place:
        rows = run_example(place, "tissues-animal.json", 1.0, 12000)
        start, half, end = rows[1], rows[len(rows) // 2], rows[-1]
        # The motion has a period of a second: the head is back where it was; the tail has fallen and swings.
        head = sum((end[f"head_u{k}"] - start[f"head_u{k}"]) ** 2 for k in "xyz") ** 0.5
        way = sum((half[f"head_u{k}"] - start[f"head_u{k}"]) ** 2 for k in "xyz") ** 0.5
        assert head < 0.1 * way, (head, way)
        assert end["tail_uz"] < -0.02, end


program.main([test_maps_make_it_stiffer, test_surfaces_with_labels, test_mistakes, test_knee_lifts_the_shin,
              test_bones_follow_motion_and_the_tail_physics])
