"""sinew soften: the flesh swings, and everything else in the file stays as it was."""
import json
import math
import os
import struct

import program

JOINTS = 3
RING, RINGS = 12, 25
TARGET = 1  # morph targets that the character has already


class File:
    """A .glb under construction."""

    def __init__(self):
        self.json = {"asset": {"version": "2.0", "generator": "a test"}, "bufferViews": [], "accessors": []}
        self.binary = b""

    def view(self, data):
        self.json["bufferViews"].append({"buffer": 0, "byteOffset": len(self.binary), "byteLength": len(data)})
        self.binary += data + b"\0" * (-len(data) % 4)
        return len(self.json["bufferViews"]) - 1

    def add(self, rows, kind, code="f"):
        width = {"SCALAR": 1, "VEC2": 2, "VEC3": 3, "VEC4": 4, "MAT4": 16}[kind]
        flat = [x for row in rows for x in (row if width > 1 else [row])]
        view = self.view(struct.pack(f"<{len(flat)}{code}", *flat))
        accessor = {"bufferView": view, "componentType": {"f": 5126, "H": 5123, "B": 5121}[code], "count": len(rows), "type": kind}
        if kind in ("VEC3", "SCALAR"):
            columns = [flat[k::width] for k in range(width)]
            narrow = lambda x: struct.unpack("<f", struct.pack("<f", x))[0] if code == "f" else x
            accessor["min"], accessor["max"] = [narrow(min(c)) for c in columns], [narrow(max(c)) for c in columns]
        self.json["accessors"].append(accessor)
        return len(self.json["accessors"]) - 1

    def save(self, path):
        self.json["buffers"] = [{"byteLength": len(self.binary)}]
        text = json.dumps(self.json).encode()
        text += b" " * (-len(text) % 4)
        chunks = struct.pack("<II", len(text), 0x4E4F534A) + text + struct.pack("<II", len(self.binary), 0x004E4942) + self.binary
        with open(path, "wb") as out:
            out.write(struct.pack("<III", 0x46546C67, 2, 12 + len(chunks)) + chunks)


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


def tail(swing):
    """A tail of 1.2 m on three joints whose first one swings, with all that must stay: see test_the_rest_of_the_file_stays."""
    file = File()
    points, joints, weights, uvs = [], [], [], []
    for i in range(RINGS):
        x = 1.2 * i / (RINGS - 1)
        for k in range(RING):
            angle = 2 * math.pi * k / RING
            points.append((x, 0.15 * math.cos(angle), 0.15 * math.sin(angle)))
            at = min(x / 0.4, JOINTS - 1.0)
            a = min(int(at), JOINTS - 2)
            joints.append((a, a + 1, 0, 0))
            weights.append((1 - (at - a), at - a, 0, 0))
            uvs.append((x, k / RING))
    indices = []
    for i in range(RINGS - 1):
        for k in range(RING):
            a, b, c, d = i * RING + k, i * RING + (k + 1) % RING, (i + 1) * RING + k, (i + 1) * RING + (k + 1) % RING
            indices += [a, c, b, b, c, d]
    for first, flip in ((0, False), ((RINGS - 1) * RING, True)):
        for k in range(1, RING - 1):
            indices += [first, first + k + 1, first + k] if flip else [first, first + k, first + k + 1]

    attributes = {"POSITION": file.add(points, "VEC3"), "TEXCOORD_0": file.add(uvs, "VEC2"),
                  "JOINTS_0": file.add(joints, "VEC4", "B"), "WEIGHTS_0": file.add(weights, "VEC4")}
    smile = file.add([(0, 0.01 * (p[0] > 1), 0) for p in points], "VEC3")
    primitive = {"attributes": attributes, "indices": file.add(indices, "SCALAR", "H"), "material": 0, "targets": [{"POSITION": smile}]}
    file.json["meshes"] = [{"name": "tail", "primitives": [primitive], "weights": [0.25], "extras": {"targetNames": ["smile"]}},
                           {"name": "ribbon", "primitives": [{"attributes": {"POSITION": file.add(points[:3], "VEC3")}}]}]
    bind = [[1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0, -0.4 * j, 0, 0, 1] for j in range(JOINTS)]
    file.json["skins"] = [{"joints": [1, 2, 3], "inverseBindMatrices": file.add(bind, "MAT4"), "name": "bones"}]
    file.json["nodes"] = [{"mesh": 0, "skin": 0, "name": "body"}, {"name": "root", "children": [2]},
                          {"name": "middle", "translation": [0.4, 0, 0], "children": [3]},
                          {"name": "end", "translation": [0.4, 0, 0], "children": [4]}, {"mesh": 1, "name": "prop", "extras": {"note": "\u00fc\"\\"}},
                          {"camera": 0, "name": "eye"}]
    file.json["scenes"], file.json["scene"] = [{"nodes": [0, 1, 5]}], 0
    file.json["cameras"] = [{"type": "perspective", "perspective": {"yfov": 0.66, "znear": 0.1}}]
    picture = b"\x89PNG\r\n\x1a\n" + bytes(range(200))
    file.json["images"] = [{"bufferView": file.view(picture), "mimeType": "image/png"}]
    file.json["textures"] = [{"source": 0}]
    file.json["materials"] = [{"name": "skin", "pbrMetallicRoughness": {"baseColorTexture": {"index": 0}, "metallicFactor": 0.125}}]
    times = [k / 30 for k in range(31)]
    turns = [(0, 0, math.sin(0.5 * swing * math.sin(2 * math.pi * t)), math.cos(0.5 * swing * math.sin(2 * math.pi * t))) for t in times]
    clock, still = file.add(times, "SCALAR"), file.add([0.0, 1.0], "SCALAR")
    file.json["animations"] = [
        {"name": "swing", "samplers": [{"input": clock, "output": file.add(turns, "VEC4")}],
         "channels": [{"sampler": 0, "target": {"node": 1, "path": "rotation"}}]},
        {"name": "smile", "samplers": [{"input": still, "output": file.add([0.0, 1.0], "SCALAR")}],
         "channels": [{"sampler": 0, "target": {"node": 0, "path": "weights"}}]}]
    return file


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
