"""Plays a .glb as a viewer does: the points of a skinned mesh at a time, from morph targets, joints and weights."""
import json
import struct

WIDTH = {"SCALAR": 1, "VEC2": 2, "VEC3": 3, "VEC4": 4, "MAT4": 16}
CODE = {5121: ("B", 1), 5123: ("H", 2), 5125: ("I", 4), 5126: ("f", 4)}


def read(path):
    data = open(path, "rb").read()
    size = struct.unpack_from("<I", data, 12)[0]
    return json.loads(data[20:20 + size]), data[28 + size:]


def rows(content, index):
    document, binary = content
    accessor = document["accessors"][index]
    width, (code, size) = WIDTH[accessor["type"]], CODE[accessor["componentType"]]
    if "bufferView" not in accessor:
        return [(0.0,) * width] * accessor["count"]
    view = document["bufferViews"][accessor["bufferView"]]
    offset, stride = view.get("byteOffset", 0) + accessor.get("byteOffset", 0), view.get("byteStride", width * size)
    return [struct.unpack_from(f"<{width}{code}", binary, offset + k * stride) for k in range(accessor["count"])]


def multiply(a, b):
    return [[sum(a[i][k] * b[k][j] for k in range(4)) for j in range(4)] for i in range(4)]


def matrix(translation, rotation, scale):
    x, y, z, w = rotation
    turn = [[1 - 2 * (y * y + z * z), 2 * (x * y - z * w), 2 * (x * z + y * w)],
            [2 * (x * y + z * w), 1 - 2 * (x * x + z * z), 2 * (y * z - x * w)],
            [2 * (x * z - y * w), 2 * (y * z + x * w), 1 - 2 * (x * x + y * y)]]
    return [[turn[i][j] * scale[j] for j in range(3)] + [translation[i]] for i in range(3)] + [[0, 0, 0, 1]]


def sample(content, sampler, time, width):
    """Linear, at keys exact; quaternions are not normalised, so ask at keys."""
    times = [row[0] for row in rows(content, sampler["input"])]
    values = [x for row in rows(content, sampler["output"]) for x in row]
    width = width or len(values) // len(times)
    key = max([k for k, t in enumerate(times) if t <= time + 1e-6] or [0])
    after = min(key + 1, len(times) - 1)
    share = 0 if after == key else max(0.0, (time - times[key]) / (times[after] - times[key]))
    return [(1 - share) * values[key * width + i] + share * values[after * width + i] for i in range(width)]


def skinned(content, node, animation, time):
    """The points of all primitives of a skinned node. `animation` None: the file at rest."""
    document = content[0]
    nodes = [{"translation": n.get("translation", [0, 0, 0]), "rotation": n.get("rotation", [0, 0, 0, 1]),
              "scale": n.get("scale", [1, 1, 1])} for n in document["nodes"]]
    weights = document["meshes"][document["nodes"][node]["mesh"]].get("weights", [])
    for channel in document["animations"][animation]["channels"] if animation is not None else []:
        path, at = channel["target"]["path"], channel["target"]["node"]
        width = {"translation": 3, "rotation": 4, "scale": 3, "weights": 0}[path]
        value = sample(content, document["animations"][animation]["samplers"][channel["sampler"]], time, width)
        if path != "weights":
            nodes[at][path] = value
        elif at == node:
            weights = value

    parents = {child: i for i, n in enumerate(document["nodes"]) for child in n.get("children", [])}

    def world(i):
        own = matrix(**nodes[i])
        return multiply(world(parents[i]), own) if i in parents else own

    skin = document["skins"][document["nodes"][node]["skin"]]
    binds = rows(content, skin["inverseBindMatrices"])
    joints = [multiply(world(j), [[bind[4 * c + r] for c in range(4)] for r in range(4)]) for j, bind in zip(skin["joints"], binds)]
    points = []
    for primitive in document["meshes"][document["nodes"][node]["mesh"]]["primitives"]:
        own = [list(p) for p in rows(content, primitive["attributes"]["POSITION"])]
        for weight, target in zip(weights, primitive.get("targets", [])):
            for p, d in zip(own, rows(content, target["POSITION"])) if weight else []:
                for k in range(3):
                    p[k] += weight * d[k]
        followed = rows(content, primitive["attributes"]["JOINTS_0"]), rows(content, primitive["attributes"]["WEIGHTS_0"])
        for p, which, how in zip(own, *followed):
            points.append([sum(w * (sum(joints[j][r][k] * p[k] for k in range(3)) + joints[j][r][3]) for j, w in zip(which, how) if w)
                           for r in range(3)])
    return points


def read_pc2(path):
    """Images of points."""
    data = open(path, "rb").read()
    assert data[:12] == b"POINTCACHE2\0"
    _, points, _, _, images = struct.unpack_from("<iiffi", data, 12)
    numbers = struct.unpack_from(f"<{3 * points * images}f", data, 32)
    return [[numbers[3 * (i * points + k):3 * (i * points + k) + 3] for k in range(points)] for i in range(images)]
