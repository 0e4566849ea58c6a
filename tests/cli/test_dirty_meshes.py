"""Meshes as people have them: scripts/try_meshes makes a running model of each."""
import json
import math
import os
import pathlib
import random
import subprocess
import sys

from program import folder, main

ROOT = pathlib.Path(__file__).resolve().parents[2]


def ball(rings=12, around=18, radius=0.1, center=(0.0, 0.0, 0.0)):
    """A sphere as points and triangles that face outwards."""
    points = [(center[0], center[1], center[2] + radius)]
    for i in range(1, rings):
        for k in range(around):
            a, b = math.pi * i / rings, 2 * math.pi * k / around
            points.append((center[0] + radius * math.sin(a) * math.cos(b), center[1] + radius * math.sin(a) * math.sin(b),
                           center[2] + radius * math.cos(a)))
    points.append((center[0], center[1], center[2] - radius))
    faces = [(0, 1 + k, 1 + (k + 1) % around) for k in range(around)]
    for i in range(rings - 2):
        for k in range(around):
            a, b = 1 + i * around + k, 1 + i * around + (k + 1) % around
            faces += [(a, a + around, b), (b, a + around, b + around)]
    last = len(points) - 1
    faces += [(last, last - around + (k + 1) % around, last - around + k) for k in range(around)]
    return points, faces


def join(*parts):
    points, faces = [], []
    for more, triangles in parts:
        faces += [tuple(i + len(points) for i in t) for t in triangles]
        points += more
    return points, faces


def holes(random_):
    points, faces = ball()
    return points, [t for t in faces if random_.random() > 0.1]


def open_base(_):
    points, faces = ball()
    return points, [t for t in faces if not all(points[i][2] < -0.07 for i in t)]


def flipped(random_):
    points, faces = ball()
    return points, [t[::-1] if random_.random() < 0.3 else t for t in faces]


def duplicated(random_):
    points, faces = ball()
    return points, faces + [t for t in faces if random_.random() < 0.4] + [(0, 0, 1), (2, 3, 2)]


def soup(random_):
    """No two triangles share a point, and the points are slightly off."""
    points, faces = ball()
    made = [tuple(x + random_.uniform(-1e-5, 1e-5) for x in points[i]) for t in faces for i in t]
    return made, [(3 * k, 3 * k + 1, 3 * k + 2) for k in range(len(faces))]


def specks(random_):
    dust = [ball(4, 6, 0.002, tuple(random_.choice((-1, 1)) * random_.uniform(0.1, 0.15) for _ in range(3))) for _ in range(12)]
    return join(ball(), *dust)


def shells(_):
    inner = ball(radius=0.06)
    return join(ball(), inner, ball(radius=0.03), (inner[0], [t[::-1] for t in inner[1]]))


def crossing(_):
    return join(ball(), ball(center=(0.08, 0.05, 0)), ball(center=(-0.05, 0.07, 0.06), radius=0.07))


def slivers(random_):
    points, faces = ball()
    needles = [(t[0], t[1], len(points)) for t in faces[:40]]
    points = points + [tuple(0.5 * (a + b) for a, b in zip(points[faces[0][0]], points[faces[0][1]]))]
    return points, faces + needles[:1]


def unused(_):
    """Points that no triangle uses, one far away."""
    points, faces = ball()
    return points + [(5.0, 5.0, 5.0), (0.0, 0.0, 0.0)], faces


DIRTY = {f.__name__: f for f in (holes, open_base, flipped, duplicated, soup, specks, shells, crossing, slivers, unused)}


def write_obj(path, mesh):
    with open(path, "w") as file:
        for p in mesh[0]:
            print("v", *(f"{x:.9g}" for x in p), file=file)
        for t in mesh[1]:
            print("f", *(i + 1 for i in t), file=file)


def write_stl(path, mesh):
    with open(path, "w") as file:
        print("solid dirty", file=file)
        for t in mesh[1]:
            print("facet normal 0 0 0\nouter loop", *("vertex " + " ".join(f"{x:.9g}" for x in mesh[0][i]) for i in t),
                  "endloop\nendfacet", sep="\n", file=file)
        print("endsolid dirty", file=file)


def try_meshes(place):
    result = subprocess.run([sys.executable, ROOT / "scripts" / "try_meshes", place, "--steps", "3", "--json", place + "/report.json"],
                            capture_output=True, text=True)
    with open(place + "/report.json") as file:
        return result, json.load(file)


def test_dirty_meshes_become_models():
    seed = 7
    with folder() as place:
        for k, (name, make) in enumerate(DIRTY.items()):
            (write_obj if k % 2 else write_stl)(f"{place}/{name}{'.obj' if k % 2 else '.stl'}", make(random.Random(seed)))
        result, report = try_meshes(place)
        assert result.returncode == 0, (seed, result.stdout, result.stderr)
        assert f"{len(DIRTY)} of {len(DIRTY)} meshes became running models" in result.stdout
        assert all(entry["frames"] == 12 for entry in report), result.stdout


def test_what_has_no_inside_is_reported():
    with folder() as place:
        write_obj(place + "/flat.obj", ([(0, 0, 0), (1, 0, 0), (0, 1, 0)], [(0, 1, 2)]))
        write_obj(place + "/good.obj", ball())
        result, report = try_meshes(place)
        assert result.returncode == 1 and "1 of 2 meshes" in result.stdout, result.stdout
        assert [entry["stage"] for entry in report] == ["rig", "runs"] and report[0]["message"]


main([value for name, value in list(globals().items()) if name.startswith("test_")])
