"""sinew soften: the flesh swings, and everything else in the file stays as it was."""
import math
import os
import re

import program
from replay import read, read_pc2, rows, skinned
from characters import png
from tail import JOINTS, RING, RINGS, TARGET, tail


def numbers(content, index):
    return [x for row in rows(content, index) for x in row]


def soften(folder, file, *options, expect=0):
    file.save(os.path.join(folder, "in.glb"))
    result = program.run("soften", os.path.join(folder, "in.glb"), "-o", os.path.join(folder, "out.glb"), "-n", "3000", *options)
    assert result.returncode == expect, (result.returncode, result.stdout, result.stderr)
    return result


def displacements(content, animation):
    """Of the new targets, key after key, the displacement of every point."""
    document, _ = content
    channel = [c for c in document["animations"][animation]["channels"] if c["target"]["path"] == "weights"][0]
    sampler = document["animations"][animation]["samplers"][channel["sampler"]]
    times, weights = numbers(content, sampler["input"]), numbers(content, sampler["output"])
    shapes = [numbers(content, t["POSITION"]) for t in document["meshes"][0]["primitives"][0]["targets"]]
    width = len(shapes)
    assert len(weights) == width * len(times)
    return times, [[sum(weights[k * width + t] * shapes[t][i] for t in range(TARGET, width)) for i in range(len(shapes[0]))]
                   for k in range(len(times))]


def test_the_rest_of_the_file_stays():
    with program.folder() as out:
        soften(out, tail(0.8))
        (before, old), (after, new) = read(out + "/in.glb"), read(out + "/out.glb")
        assert new[:len(old)] == old, "the bytes of the file come first, unchanged"
        for key in ("asset", "skins", "scenes", "scene", "cameras", "images", "textures", "materials"):
            assert after[key] == before[key], key
        for key in ("accessors", "bufferViews"):
            assert after[key][:len(before[key])] == before[key], key
        assert after["nodes"] == before["nodes"] and after["meshes"][1] == before["meshes"][1]
        mesh, was = after["meshes"][0], before["meshes"][0]
        count = len(mesh["primitives"][0]["targets"]) - TARGET
        assert count > 0 and mesh["weights"] == [0.25] + [0] * count and mesh["extras"] == was["extras"]
        assert mesh["primitives"][0]["targets"][:TARGET] == was["primitives"][0]["targets"]
        assert mesh["primitives"][0]["attributes"] == was["primitives"][0]["attributes"]
        swing, smile = after["animations"]
        assert swing["channels"][0] == before["animations"][0]["channels"][0] and len(swing["channels"]) == 2
        assert len(smile["channels"]) == 1, "the weights of another animation are widened, not doubled"
        weights = numbers((after, new), smile["samplers"][smile["channels"][0]["sampler"]]["output"])
        assert weights == [0.0] + [0.0] * count + [1.0] + [0.0] * count


def test_flesh_lags_behind_and_bones_hold_it():
    with program.folder() as out:
        soften(out, tail(0.8), "--loop")
        content = read(out + "/out.glb")
        times, moved = displacements(content, 0)
        points = numbers(content, content[0]["meshes"][0]["primitives"][0]["attributes"]["POSITION"])
        size = [max(math.dist((0, 0, 0), d[3 * i:3 * i + 3]) for d in moved) for i in range(len(points) // 3)]
        assert len(times) == 31 and 1e-3 < max(size) < 0.15, max(size)  # no more than its radius

        # The first joint turns about z: at its largest angle the tip is accelerated back, and flesh goes on.
        quarter = min(range(31), key=lambda k: abs(times[k] - 0.25))
        tip = [i for i in range(len(size)) if points[3 * i] > 1.0]
        assert sum(moved[quarter][3 * i + 1] for i in tip) / len(tip) > 2e-4


def test_a_character_that_rests_looks_as_it_did():
    with program.folder() as out:
        soften(out, tail(0.0))
        _, moved = displacements(read(out + "/out.glb"), 0)
        assert max(abs(x) for d in moved for x in d) < 1e-9


def test_the_same_bits_for_any_number_of_threads():
    with program.folder() as out:
        results = []
        for threads in "1", "2", "3":
            soften(out, tail(0.8), "-t", threads)
            results.append(open(out + "/out.glb", "rb").read())
        assert results[0] == results[1] == results[2]


def farthest(a, b):
    return max(math.dist(p, q) for p, q in zip(a, b))


def accuracy(result):
    return float(re.search(r"accurate to (\S+) m", result.stdout).group(1))


def test_viewers_show_the_flesh():
    """Morph targets and joints, replayed, are where the point cache says, up to the accuracy that is reported."""
    with program.folder() as out:
        for form in "targets", "joints":
            result = soften(out, tail(0.8), "--loop", "--pc2", "--as", form)
            content, cache = read(out + "/out.glb"), read_pc2(out + "/out-tail.pc2")
            # Keys are floats; the printed accuracy has two digits. The base weight of the file's own target is not animated.
            allowed = 1.06 * accuracy(result) + 1e-5 + 0.25 * 0.01
            rest, errors, swings = read(out + "/in.glb"), [], []
            for key in range(0, 31, 5):
                errors.append(farthest(skinned(content, 0, 0, key / 30), cache[key]))
                swings.append(farthest(skinned(rest, 0, 0, key / 30), cache[key]))
            assert max(errors) < allowed, (form, max(errors), allowed)
            assert max(swings) > 3 * max(errors) or form == "joints", (form, max(swings), max(errors))


def test_new_joints_leave_the_skin_as_it_was():
    with program.folder() as out:
        soften(out, tail(0.8), "--as", "joints", "--bones", "6")
        (before, old), (after, new) = read(out + "/in.glb"), read(out + "/out.glb")
        assert new[:len(old)] == old and after["meshes"][0]["primitives"][0]["targets"] == before["meshes"][0]["primitives"][0]["targets"]
        assert after["skins"][0]["joints"][:JOINTS] == before["skins"][0]["joints"]
        assert 1 <= len(after["skins"][0]["joints"]) - JOINTS <= 6
        # At rest, and in the other animation, every point is where it was: weights are floats.
        for animation in None, 1:
            moved = farthest(skinned((before, old), 0, animation, 0.5), skinned((after, new), 0, animation, 0.5))
            assert moved < 2e-6, (animation, moved)
        for row in rows((after, new), after["meshes"][0]["primitives"][0]["attributes"]["WEIGHTS_0"]):
            assert abs(sum(row) - 1) < 1e-6 and min(row) >= 0


BVH = """HIERARCHY
ROOT Tail_Root
{
 OFFSET 0 0 0
 CHANNELS 6 Xposition Yposition Zposition Zrotation Xrotation Yrotation
 JOINT middle
 {
  OFFSET 40 0 0
  CHANNELS 3 Zrotation Xrotation Yrotation
  JOINT end
  {
   OFFSET 40 0 0
   CHANNELS 3 Zrotation Xrotation Yrotation
   End Site
   {
    OFFSET 40 0 0
   }
  }
 }
}
MOTION
Frames: 21
Frame Time: 0.05
"""


def test_the_motion_of_another_file():
    with program.folder() as out:
        with open(out + "/swing.bvh", "w") as file:
            file.write(BVH + "".join(f"0 500 0 {20 * math.sin(0.3 * k)} 0 0 {10 * math.sin(0.3 * k)} 0 0 0 0 0\n" for k in range(21)))
        result = soften(out, tail(0.8), "--motion", out + "/swing.bvh", "--name", "Tail_Root=root", "--joint", "*=0")
        assert "3 joints follow it, lengths times 0.01" in result.stdout, result.stdout
        (before, old), (after, new) = read(out + "/in.glb"), read(out + "/out.glb")
        assert new[:len(old)] == old and after["skins"] == before["skins"] and after["nodes"] == before["nodes"]
        assert after["animations"][0] == before["animations"][0], "animations of the file stay"
        animation = after["animations"][2]
        turns = {c["target"]["node"]: animation["samplers"][c["sampler"]] for c in animation["channels"] if c["target"]["path"] == "rotation"}
        for node, degrees in (1, 20), (2, 10), (3, 0):
            for k, q in enumerate(rows((after, new), turns[node]["output"])):
                half = math.radians(0.5 * degrees * math.sin(0.3 * k))
                assert math.dist(q, (0, 0, math.sin(half), math.cos(half))) < 1e-6, (node, k, q)
        # It stands where it stood: the lowest point of the motion is as low as the file.
        lowest = min(p[1] for k in range(21) for p in skinned((after, new), 0, 2, 0.05 * k))
        assert abs(lowest - min(p[1] for p in skinned((before, old), 0, None, 0))) < 1e-2
        # Nothing in common.
        with open(out + "/other.bvh", "w") as file:
            file.write((BVH + "0 0 0 0 0 0 0 0 0 0 0 0\n" * 21).replace("middle", "a").replace("end\n", "b\n"))
        assert "names" in soften(out, tail(0.8), "--motion", out + "/other.bvh", expect=2).stderr


def test_softness_by_joint_material_and_attribute():
    def largest(*options, change=None):
        file = tail(0.8)
        if change:
            change(file)
        result = soften(out, file, *options)
        return float(re.search(r"up to (\S+) m from", result.stdout).group(1))

    def paint(file, value):
        colors = file.add([(value, 0, 0)] * (RING * RINGS), "VEC3")
        file.json["meshes"][0]["primitives"][0]["attributes"]["COLOR_0"] = colors

    with program.folder() as out:
        plain = largest()
        assert largest("--joint", "*=0") == 0
        assert largest("--material", "skin=0") == 0
        assert largest("--joint", "*=4") > 1.5 * plain
        assert largest("--joint", "e*d=0") < plain
        assert largest("--attribute", "COLOR_0", change=lambda file: paint(file, 0.0)) == 0
        assert largest("--attribute", "COLOR_0", change=lambda file: paint(file, 1.0)) == plain
        assert 'joint of its skin is called "arm"' in soften(out, tail(0.8), "--joint", "arm=2", expect=2).stderr
        assert "attribute" in soften(out, tail(0.8), "--attribute", "_SOFT", expect=2).stderr
        assert soften(out, tail(0.8), "--joint", "end=-1", expect=1).stderr


def test_softness_by_texture():
    """Texture coordinates run from 0 to 1.2 along the tail: black, then white from the middle of the picture on."""
    with program.folder() as out:
        plain = soften(out, tail(0.8)).stdout
        for name, pixel in ("white", lambda x, y: (255, 0, 0)), ("black", lambda x, y: (0, 255, 255)), ("half", lambda x, y: (255 * (8 <= x), 0, 0)):
            with open(f"{out}/{name}.png", "wb") as file:
                file.write(png(16, 4, pixel))
        assert soften(out, tail(0.8), "--texture", out + "/white.png").stdout == plain
        black = soften(out, tail(0.8), "--texture", out + "/black.png")
        assert "moves by up to 0 m" in black.stdout, black.stdout

        soften(out, tail(0.8), "--texture", out + "/half.png")
        content = read(out + "/out.glb")
        _, moved = displacements(content, 0)
        points = numbers(content, content[0]["meshes"][0]["primitives"][0]["attributes"]["POSITION"])
        size = lambda i: max(math.dist((0, 0, 0), d[3 * i:3 * i + 3]) for d in moved)
        # A cell is about 3 cm wide, and the pixels next to the border are blended.
        assert max(size(i) for i in range(len(points) // 3) if 0.1 < points[3 * i] < 0.35) < 1e-9
        assert max(size(i) for i in range(len(points) // 3) if 0.7 < points[3 * i] < 0.9) > 1e-4
        assert "not a PNG" in soften(out, tail(0.8), "--texture", out + "/in.glb", expect=2).stderr


def test_physics_leaves_to_the_joints_what_they_control():
    """The mean displacement of the flesh of a joint is among what the joint can do: it nearly vanishes on the surface too."""
    def mean(*options):
        soften(out, tail(0.8), "--loop", "--core", "0", "--young", "2e4", "--tolerance", "1e-5", *options)
        content = read(out + "/out.glb")
        _, moved = displacements(content, 0)
        weights = rows(content, content[0]["meshes"][0]["primitives"][0]["attributes"]["WEIGHTS_0"])
        joints = rows(content, content[0]["meshes"][0]["primitives"][0]["attributes"]["JOINTS_0"])
        share = [sum(w for w, j in zip(a, b) if j == 1) for a, b in zip(weights, joints)]
        total = sum(share)
        means = [math.dist((0, 0, 0), [sum(s * d[3 * i + c] for i, s in enumerate(share)) / total for c in range(3)]) for d in moved]
        return max(means), max(abs(x) for d in moved for x in d)

    with program.folder() as out:
        (plain, _), (complement, largest) = mean(), mean("--complementary")
        assert complement < 0.2 * plain and largest > 1e-4, (plain, complement, largest)


def test_flesh_rests_on_the_floor():
    """The tail hits a floor: flesh gives way, and what the bones press through is reported."""
    with program.folder() as out:
        floor = -0.3
        result = soften(out, tail(0.4), "--loop", "--pc2", "--core", "0.2", "--floor", str(floor), "--young", "2e4")
        depth = float(re.search(r"press the skin up to (\S+) m below", result.stdout).group(1))
        lowest = min(p[1] for image in read_pc2(out + "/out-tail.pc2") for p in image)
        skin = min(p[1] for k in range(31) for p in skinned(read(out + "/in.glb"), 0, 0, k / 30))
        assert skin < floor - 0.05, "without the floor the tail goes through"
        assert lowest > floor - 1.06 * depth - 1e-6 and lowest > skin + 0.02, (lowest, skin, depth)


def test_normals_rotate_with_the_flesh():
    with program.folder() as out:
        soften(out, tail(0.8))
        content = read(out + "/out.glb")
        primitive = content[0]["meshes"][0]["primitives"][0]
        normals = rows(content, primitive["attributes"]["NORMAL"])
        largest = 0
        for target in primitive["targets"][TARGET:]:
            for n, d in zip(normals, rows(content, target["NORMAL"])):
                assert abs(sum(a * b for a, b in zip(n, d))) < 1e-6
                largest = max(largest, math.dist((0, 0, 0), d))
        assert 1e-3 < largest < 1, largest


def test_what_cannot_be_softened_is_refused():
    with program.folder() as out:
        bad = tail(0.8)
        del bad.json["skins"], bad.json["nodes"][0]["skin"]
        assert "no skin" in soften(out, bad, expect=2).stderr
        bad = tail(0.8)
        del bad.json["animations"]
        assert "no animation" in soften(out, bad, expect=2).stderr
        assert 'called "walk"' in soften(out, tail(0.8), "-a", "walk", expect=2).stderr
        bad = tail(0.8)
        bad.json["nodes"][1]["scale"] = [0, 0, 0]
        assert "scale" in soften(out, bad, expect=2).stderr
        bad = tail(0.8)
        bad.json["nodes"][3]["children"] = [1]
        assert soften(out, bad, expect=2).stderr
        bad = tail(0.8)
        bad.json["skins"].append(dict(bad.json["skins"][0]))
        bad.json["nodes"].append({"mesh": 0, "skin": 1})
        bad.json["scenes"][0]["nodes"].append(6)
        assert "a mesh of its own" in soften(out, bad, expect=2).stderr
        bad = tail(0.8)
        count = 1000000
        bad.json["nodes"] += [{} for _ in range(count)]
        bad.json["skins"][0] = {"joints": list(range(6, 6 + count))}
        assert soften(out, bad, expect=2).stderr
        assert "tets" in soften(out, tail(0.8), "-n", "7", expect=1).stderr
        assert not os.path.exists(out + "/out.glb")


program.main([value for name, value in list(globals().items()) if name.startswith("test_")])
