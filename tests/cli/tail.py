"""A skinned and animated character for tests: a tail."""
import json
import math
import struct

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


def tail(swing):
    """A tail of 1.2 m on three joints whose first one swings, with all that must stay: see test_the_rest_of_the_file_stays."""
    file = File()
    points, normals, joints, weights, uvs = [], [], [], [], []
    for i in range(RINGS):
        x = 1.2 * i / (RINGS - 1)
        for k in range(RING):
            angle = 2 * math.pi * k / RING
            points.append((x, 0.15 * math.cos(angle), 0.15 * math.sin(angle)))
            normals.append((0, math.cos(angle), math.sin(angle)))
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

    attributes = {"POSITION": file.add(points, "VEC3"), "NORMAL": file.add(normals, "VEC3"), "TEXCOORD_0": file.add(uvs, "VEC2"),
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
