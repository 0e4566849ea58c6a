"""Three people for tests: rigged, animated, each with what files of its kind have besides. Parts overlap, as in many game characters."""
import math
import struct
import zlib

from tail import File

# Joint, parent, position of a person of 1.75 m in T-pose, y up; radius of the flesh around the bone to its end.
BONES = [
    ("Hips", None, (0, 0.95, 0), None, 0), ("Spine", "Hips", (0, 1.05, 0), (0, 1.22, 0), 0.15), ("Chest", "Spine", (0, 1.22, 0), (0, 1.42, 0), 0.16),
    ("Neck", "Chest", (0, 1.48, 0), (0, 1.55, 0), 0.06), ("Head", "Neck", (0, 1.56, 0), (0, 1.70, 0), 0.11)] + [
    bone for side, s in (("Left", 1), ("Right", -1)) for bone in (
        (side + "Shoulder", "Chest", (0.06 * s, 1.42, 0), (0.14 * s, 1.42, 0), 0.07),
        (side + "Arm", side + "Shoulder", (0.18 * s, 1.42, 0), (0.42 * s, 1.42, 0), 0.055),
        (side + "ForeArm", side + "Arm", (0.44 * s, 1.42, 0), (0.66 * s, 1.42, 0), 0.045),
        (side + "Hand", side + "ForeArm", (0.68 * s, 1.42, 0), (0.80 * s, 1.42, 0), 0.04),
        (side + "UpLeg", "Hips", (0.11 * s, 0.92, 0), (0.11 * s, 0.56, 0), 0.09),
        (side + "Leg", side + "UpLeg", (0.11 * s, 0.51, 0), (0.11 * s, 0.14, 0), 0.06),
        (side + "Foot", side + "Leg", (0.11 * s, 0.09, 0), (0.11 * s, 0.05, 0.14), 0.045))]
BELLY = ("Hips", (0, 0.95, 0), (0, 1.05, 0), 0.155)
RIGIFY = {"Hips": "pelvis", "Spine": "spine", "Chest": "chest", "Neck": "neck", "Head": "head", "Shoulder": "shoulder", "Arm": "upper_arm",
          "ForeArm": "forearm", "Hand": "hand", "UpLeg": "thigh", "Leg": "shin", "Foot": "foot"}


def png(width, height, pixel):
    """A picture; `pixel` gives red, green, blue of a position."""
    rows = b"".join(b"\0" + bytes(c for x in range(width) for c in pixel(x, y)) for y in range(height))
    chunk = lambda name, data: struct.pack(">I", len(data)) + name + data + struct.pack(">I", zlib.crc32(name + data))
    return (b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)) +
            chunk(b"IDAT", zlib.compress(rows)) + chunk(b"IEND", b""))


def capsule(a, b, radius, around=10, along=7):
    """Points, normals, texture coordinates, shares of the length, triangles."""
    axis = [y - x for x, y in zip(a, b)]
    length = math.dist(a, b)
    axis = [x / length for x in axis]
    side = (0, 0, 1) if abs(axis[2]) < 0.5 else (1, 0, 0)
    u = [axis[1] * side[2] - axis[2] * side[1], axis[2] * side[0] - axis[0] * side[2], axis[0] * side[1] - axis[1] * side[0]]
    size = math.dist((0, 0, 0), u)
    u = [x / size for x in u]
    v = [axis[1] * u[2] - axis[2] * u[1], axis[2] * u[0] - axis[0] * u[2], axis[0] * u[1] - axis[1] * u[0]]
    points, normals, uvs, shares, triangles = [], [], [], [], []
    rings = 2 * along
    for i in range(rings + 1):
        angle = -0.5 * math.pi + math.pi * i / rings
        out, up = math.cos(angle), math.sin(angle)
        base = 0.0 if i < along else length if i > along else 0.5 * length
        for k in range(around + 1):
            phi = 2 * math.pi * k / around
            n = [out * (math.cos(phi) * u[c] + math.sin(phi) * v[c]) + up * axis[c] for c in range(3)]
            points.append([a[c] + axis[c] * base + radius * n[c] for c in range(3)])
            normals.append(n)
            uvs.append((k / around, i / rings))
            shares.append(base / length)
    for i in range(rings):
        for k in range(around):
            p = i * (around + 1) + k
            q = p + around + 1
            triangles += ([p, p + 1, q] if i > 0 else []) + ([p + 1, q + 1, q] if i < rings - 1 else [])
    return points, normals, uvs, shares, triangles


def add_limb(mesh, joints, own, neighbors, a, b, radius):
    """A capsule that follows its bone, and at its ends half the neighbours."""
    points, normals, uvs, shares, triangles = capsule(a, b, radius)
    first = len(mesh["points"])
    mesh["points"] += points
    mesh["normals"] += normals
    mesh["uvs"] += uvs
    mesh["triangles"] += [first + t for t in triangles]
    before, after = neighbors
    for s in shares:
        w = [(own, 1.0)]
        if s < 0.25 and before is not None:
            w = [(own, 0.6), (before, 0.4)]
        if s > 0.75 and after is not None:
            w = [(own, 0.6), (after, 0.4)]
        mesh["weights"].append([(joints[name], value) for name, value in w])


def person(kind, picture=None):
    """`picture`: a PNG file for the texture. `lean`: metres. `stout`: centimetres, z up below a node that stands it up, a texture, a hat that no bone of the skin holds, Rigify's names.
    `child`: eight joints a vertex, vertex colours, a morph target, two meshes, Mixamo's names, other proportions."""
    file = File()
    scale = {"lean": 1.0, "stout": 100.0, "child": 1.0}[kind]
    girth = {"lean": 1.0, "stout": 1.5, "child": 1.1}[kind]
    height = {"lean": 1.0, "stout": 1.0, "child": 0.6}[kind]
    lie = kind == "stout"

    def place(p):
        p = [x * scale * height for x in p]
        return [p[0], -p[2], p[1]] if lie else p

    def named(name):
        if kind == "child":
            return "mixamorig:" + name
        if kind == "stout":
            side = ".L" if name.startswith("Left") else ".R" if name.startswith("Right") else ""
            return RIGIFY[name.replace("Left", "").replace("Right", "")] + side
        return name

    names = [bone[0] for bone in BONES]
    joints = {name: i for i, name in enumerate(names)}
    where = {bone[0]: place(bone[2]) for bone in BONES}
    children = {name: [bone[0] for bone in BONES if bone[1] == name] for name in names}
    meshes = [{"points": [], "normals": [], "uvs": [], "triangles": [], "weights": []} for _ in range(2 if kind == "child" else 1)]
    for name, parent, start, end, radius in BONES:
        if not end:
            continue
        mesh = meshes[-1] if "Leg" in name or "Foot" in name else meshes[0]
        follower = children[name][0] if len(children[name]) == 1 else None
        add_limb(mesh, joints, name, (parent, follower), place(start), place(end), radius * scale * height * girth)
    add_limb(meshes[0], joints, BELLY[0], (None, "Spine"), place(BELLY[1]), place(BELLY[2]), BELLY[3] * scale * height * girth)

    file.json["meshes"] = []
    for number, mesh in enumerate(meshes):
        sets = 2 if kind == "child" else 1
        slots = [(w + [(0, 0.0)] * 8)[:4 * sets] for w in mesh["weights"]]
        attributes = {"POSITION": file.add(mesh["points"], "VEC3"), "NORMAL": file.add(mesh["normals"], "VEC3"),
                      "TEXCOORD_0": file.add(mesh["uvs"], "VEC2")}
        for k in range(sets):
            attributes[f"JOINTS_{k}"] = file.add([[j for j, _ in w[4 * k:4 * k + 4]] for w in slots], "VEC4", "B")
            attributes[f"WEIGHTS_{k}"] = file.add([[x for _, x in w[4 * k:4 * k + 4]] for w in slots], "VEC4")
        primitive = {"attributes": attributes, "indices": file.add(mesh["triangles"], "SCALAR", "H"), "material": 0}
        entry = {"name": f"body.{number}", "primitives": [primitive]}
        if kind == "child":
            attributes["COLOR_0"] = file.add([(1.0, 0.5, 0.25, 1.0)] * len(mesh["points"]), "VEC4")
            primitive["targets"] = [{"POSITION": file.add([(0.0, 0.01, 0.0)] * len(mesh["points"]), "VEC3")}]
            entry["weights"] = [0.0]
        file.json["meshes"].append(entry)

    add_nodes(file, kind, named, where, children, scale, place)
    add_looks(file, kind, picture or png(16, 16, lambda x, y: (200, 100 + 8 * x, 12 * y)))
    add_animations(file, kind, joints)
    return file


def add_nodes(file, kind, named, where, children, scale, place):
    names = [bone[0] for bone in BONES]
    nodes = []
    for name, parent, *_ in BONES:
        offset = where[name] if not parent else [x - y for x, y in zip(where[name], where[parent])]
        node = {"name": named(name), "translation": offset}
        if children[name]:
            node["children"] = [names.index(child) for child in children[name]]
        nodes.append(node)
    bodies = [{"name": f"skin.{i}", "mesh": i, "skin": 0} for i in range(len(file.json["meshes"]))]
    roots = [0] + list(range(len(nodes), len(nodes) + len(bodies)))
    nodes += bodies
    if kind == "stout":
        hat = [place(p) for p in ((-0.1, 0.2, -0.1), (0.1, 0.2, -0.1), (0, 0.35, 0))]
        file.json["meshes"].append({"name": "hat", "primitives": [{"attributes": {"POSITION": file.add(hat, "VEC3")}}]})
        nodes[names.index("Head")]["children"] = [len(nodes)]
        nodes.append({"name": "hat", "mesh": len(file.json["meshes"]) - 1})
        # Centimetres with z up become metres with y up.
        nodes.append({"name": "Z_UP", "scale": [0.01] * 3, "rotation": [-math.sqrt(0.5), 0, 0, math.sqrt(0.5)], "children": [0]})
        roots = [len(nodes) - 1] + roots[1:]
    bind = [[1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0] + [-x for x in where[name]] + [1] for name in names]
    file.json["skins"] = [{"joints": list(range(len(names))), "inverseBindMatrices": file.add(bind, "MAT4"), "name": "bones"}]
    file.json["nodes"], file.json["scenes"], file.json["scene"] = nodes, [{"nodes": roots}], 0


def add_looks(file, kind, picture):
    file.json["materials"] = [{"name": "skin", "pbrMetallicRoughness": {"baseColorFactor": [0.8, 0.6, 0.5, 1], "roughnessFactor": 0.75}}]
    if kind != "lean":
        file.json["images"] = [{"bufferView": file.view(picture), "mimeType": "image/png"}]
        file.json["samplers"] = [{"wrapS": 10497}]
        file.json["textures"] = [{"source": 0, "sampler": 0}]
        file.json["materials"][0]["pbrMetallicRoughness"]["baseColorTexture"] = {"index": 0}


def add_animations(file, kind, joints):
    """A jump with waving arms, and a nod."""
    times = [k / 30 for k in range(46)]
    clock = file.add(times, "SCALAR")
    axis = (0, 0, 1) if kind != "stout" else (0, -1, 0)

    def turn(angle, about):
        return [math.sin(0.5 * angle) * x for x in about] + [math.cos(0.5 * angle)]

    jump = {"samplers": [], "channels": [], "name": "jump"}
    for name, size in (("LeftArm", 0.6), ("RightArm", -0.6), ("Spine", 0.15)):
        values = [turn(size * math.sin(4 * math.pi * t / 1.5), axis) for t in times]
        jump["channels"].append({"sampler": len(jump["samplers"]), "target": {"node": joints[name], "path": "rotation"}})
        jump["samplers"].append({"input": clock, "output": file.add(values, "VEC4")})
    up = 1 if kind != "stout" else 2
    start = file.json["nodes"][0]["translation"]
    hop = [[x + (c == up) * 0.06 * start[up] * (1 - math.cos(4 * math.pi * t / 1.5)) for c, x in enumerate(start)] for t in times]
    jump["channels"].append({"sampler": len(jump["samplers"]), "target": {"node": 0, "path": "translation"}})
    jump["samplers"].append({"input": clock, "output": file.add(hop, "VEC3")})

    nod = {"name": "nod", "samplers": [{"input": clock, "output": file.add([turn(0.2 * math.sin(6 * t), (1, 0, 0)) for t in times], "VEC4")}],
           "channels": [{"sampler": 0, "target": {"node": joints["Head"], "path": "rotation"}}]}
    file.json["animations"] = [jump, nod]
