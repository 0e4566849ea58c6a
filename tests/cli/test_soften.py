"""sinew soften: the flesh swings, and everything else in the file stays as it was."""
import json
import math
import os
import struct

import program
from tail import JOINTS, RING, RINGS, TARGET, tail

def read(path):
    data = open(path, "rb").read()
    size = struct.unpack_from("<I", data, 12)[0]
    return json.loads(data[20:20 + size]), data[28 + size:]


def numbers(content, index):
    document, binary = content
    accessor = document["accessors"][index]
    width = {"SCALAR": 1, "VEC3": 3}[accessor["type"]]
    if "bufferView" not in accessor:
        return [0.0] * (width * accessor["count"])
    view = document["bufferViews"][accessor["bufferView"]]
    return list(struct.unpack_from(f"<{width * accessor['count']}f", binary, view.get("byteOffset", 0) + accessor.get("byteOffset", 0)))


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
        assert "tets" in soften(out, tail(0.8), "-n", "7", expect=1).stderr
        assert not os.path.exists(out + "/out.glb")


program.main([value for name, value in list(globals().items()) if name.startswith("test_")])
