"""A mesh with an armature as glTF, and `sinew soften` for its flesh."""
# SPDX-License-Identifier: Apache-2.0
import json
import os
import struct

from mathutils import Matrix

from . import result, solid

# Blender has z up, glTF y.
TO_GLTF = Matrix(((1, 0, 0, 0), (0, 0, 1, 0), (0, -1, 0, 0), (0, 0, 0, 1)))


class Glb:
    """A .glb under construction."""

    def __init__(self):
        self.json = {"asset": {"version": "2.0", "generator": "Sinew for Blender"}, "bufferViews": [], "accessors": []}
        self.binary = bytearray()

    def add(self, rows, kind, code="f"):
        width = {"SCALAR": 1, "VEC3": 3, "VEC4": 4, "MAT4": 16}[kind]
        flat = [x for row in rows for x in row] if width > 1 else list(rows)
        data = struct.pack(f"<{len(flat)}{code}", *flat)
        self.json["bufferViews"].append({"buffer": 0, "byteOffset": len(self.binary), "byteLength": len(data)})
        self.binary += data + b"\0" * (-len(data) % 4)
        accessor = {"bufferView": len(self.json["bufferViews"]) - 1, "componentType": {"f": 5126, "H": 5123, "I": 5125}[code],
                    "count": len(rows), "type": kind}
        if kind in ("VEC3", "SCALAR") and flat:
            floats = struct.unpack(f"<{len(flat)}{code}", data)
            accessor["min"] = [min(floats[k::width]) for k in range(width)]
            accessor["max"] = [max(floats[k::width]) for k in range(width)]
        self.json["accessors"].append(accessor)
        return len(self.json["accessors"]) - 1

    def save(self, path):
        self.json["buffers"] = [{"byteLength": len(self.binary)}]
        text = json.dumps(self.json).encode()
        text += b" " * (-len(text) % 4)
        with open(path, "wb") as file:
            file.write(struct.pack("<III", 0x46546C67, 2, 28 + len(text) + len(self.binary)))
            file.write(struct.pack("<II", len(text), 0x4E4F534A) + text + struct.pack("<II", len(self.binary), 0x004E4942))
            file.write(self.binary)


def to_gltf(matrix):
    return TO_GLTF @ matrix @ TO_GLTF.inverted()


def split(matrix):
    translation, rotation, scale = matrix.decompose()
    return list(translation), [rotation.x, rotation.y, rotation.z, rotation.w], list(scale)


def collect_weights(object, bones):
    """Four joints and weights for each vertex; a vertex without weights follows the first bone."""
    numbers = {group.index: bones.index(group.name) for group in object.vertex_groups if group.name in bones}
    joints, weights = [], []
    for vertex in object.data.vertices:
        found = sorted(((g.weight, numbers[g.group]) for g in vertex.groups if g.group in numbers and g.weight > 0), reverse=True)[:4]
        total = sum(w for w, _ in found)
        found = [(w / total, j) for w, j in found] or [(1.0, 0)]
        found += [(0.0, 0)] * (4 - len(found))
        joints.append([j for _, j in found])
        weights.append([w for w, _ in found])
    return joints, weights


def sample_bones(context, armature, bones):
    """Local transforms of the bones at every image of the scene."""
    scene, poses, kept = context.scene, [], context.scene.frame_current
    for frame in range(scene.frame_start, scene.frame_end + 1):
        scene.frame_set(frame)
        world = {b.name: to_gltf(armature.matrix_world @ b.matrix) for b in armature.pose.bones}
        row = []
        for name in bones:
            parent = armature.data.bones[name].parent
            row.append(split(world[parent.name].inverted() @ world[name] if parent else world[name]))
        poses.append(row)
    scene.frame_set(kept)
    return poses


def write_character(context, object, armature, path):
    """One vertex for each vertex of the mesh, in its order."""
    file, scene = Glb(), context.scene
    bones = [bone.name for bone in armature.data.bones]
    if not bones:
        raise ValueError("the armature has no bones")
    mesh = object.data
    mesh.calc_loop_triangles()

    # The surface in the rest pose, in the world. Pins and painted stiffness become softness.
    place = TO_GLTF @ object.matrix_world
    joints, weights = collect_weights(object, bones)
    pins = solid.group_weights(object, object.sinew.pins)
    painted = solid.group_weights(object, object.sinew.stiffness_group)
    softness = [(1 - min(p, 1)) * object.sinew.factor ** -w for p, w in zip(pins, painted)]
    attributes = {"POSITION": file.add([place @ v.co for v in mesh.vertices], "VEC3"), "JOINTS_0": file.add(joints, "VEC4", "H"),
                  "WEIGHTS_0": file.add(weights, "VEC4"), "_SOFTNESS": file.add(softness, "SCALAR")}
    indices = file.add([i for t in mesh.loop_triangles for i in t.vertices], "SCALAR", "I")
    file.json["meshes"] = [{"name": "soft", "primitives": [{"attributes": attributes, "indices": indices}]}]

    # Bones as joints.
    rest = {b.name: to_gltf(armature.matrix_world @ b.matrix_local) for b in armature.data.bones}
    binds = [[x for column in rest[name].inverted().transposed() for x in column] for name in bones]
    nodes = [{"name": "soft", "mesh": 0, "skin": 0}]
    for name in bones:
        bone = armature.data.bones[name]
        local = rest[bone.parent.name].inverted() @ rest[name] if bone.parent else rest[name]
        translation, rotation, scale = split(local)
        nodes.append({"name": name, "translation": translation, "rotation": rotation, "scale": scale})
        if bone.children:
            nodes[-1]["children"] = [1 + bones.index(child.name) for child in bone.children]
    file.json["nodes"] = nodes
    file.json["skins"] = [{"joints": list(range(1, 1 + len(bones))), "inverseBindMatrices": file.add(binds, "MAT4")}]
    roots = [1 + bones.index(b.name) for b in armature.data.bones if not b.parent]
    file.json["scenes"], file.json["scene"] = [{"nodes": [0, *roots]}], 0

    # The animation.
    fps, poses = scene.render.fps / scene.render.fps_base, sample_bones(context, armature, bones)
    clock = file.add([k / fps for k in range(len(poses))], "SCALAR")
    samplers, channels = [], []
    for k in range(len(bones)):
        for which, (name, kind) in enumerate((("translation", "VEC3"), ("rotation", "VEC4"), ("scale", "VEC3"))):
            samplers.append({"input": clock, "output": file.add([row[k][which] for row in poses], kind)})
            channels.append({"sampler": len(samplers) - 1, "target": {"node": 1 + k, "path": name}})
    file.json["animations"] = [{"name": "scene", "samplers": samplers, "channels": channels}]
    file.save(path)
    return fps


def steps(context, object, armature, options):
    """Of the job: write the character, soften it, read the cache."""

    def soften(job):
        fps = write_character(context, object, armature, job.path("in.glb"))
        settings = object.sinew
        return [job.program, "soften", "in.glb", "-o", "soft.glb", "--pc2", "--rate", str(fps), "--tets", str(settings.tets), "--young",
                str(settings.young), "--damping", str(300 * settings.damping), "--attribute", "_SOFTNESS", *options], 0

    def read(job):
        images = result.read_pc2(os.path.join(job.folder, "soft-soft.pc2"))
        result.show(context, object, images)

    return [soften, read]
