"""Results: point caches and shape keys on the mesh, and armatures from `sinew rig`."""
# SPDX-License-Identifier: Apache-2.0
import json
import os
import struct

import bpy
from mathutils import Vector, kdtree

from . import solid

NAME = "Sinew"


def read_pc2(path):
    """Images of points in the world, turned from y up to z up."""
    with open(path, "rb") as file:
        data = file.read()
    if data[:11] != b"POINTCACHE2":
        raise ValueError(f"{path} is no point cache")
    _, points, _, _, images = struct.unpack_from("<iiffi", data, 12)
    numbers = struct.unpack_from(f"<{3 * points * images}f", data, 32)
    return [[Vector((numbers[k], -numbers[k + 2], numbers[k + 1])) for k in range(3 * points * i, 3 * points * (i + 1), 3)]
            for i in range(images)]


def write_pc2(path, images):
    with open(path, "wb") as file:
        file.write(struct.pack("<12siiffi", b"POINTCACHE2\0", 1, len(images[0]), 0.0, 1.0, len(images)))
        for points in images:
            file.write(struct.pack(f"<{3 * len(points)}f", *(x for p in points for x in p)))


def clear(object):
    """Removes what an earlier run has left."""
    for modifier in [m for m in object.modifiers if m.name == NAME]:
        object.modifiers.remove(modifier)
    keys = object.data.shape_keys
    for key in [k for k in keys.key_blocks if k.name.startswith(NAME + " ")] if keys else []:
        object.shape_key_remove(key)


def cache_path(object):
    """Beside the file, or among the temporary files of a file that is not saved."""
    folder = bpy.path.abspath("//") or bpy.app.tempdir
    name = "".join(c if c.isalnum() or c in "-_." else "_" for c in object.name)
    return os.path.join(folder, f"{name}-sinew.pc2")


def add_cache(object, images, start):
    path = cache_path(object)
    write_pc2(path, images)
    modifier = object.modifiers.new(NAME, "MESH_CACHE")
    modifier.cache_format, modifier.filepath, modifier.frame_start = "PC2", path, start
    modifier.forward_axis, modifier.up_axis = "POS_Y", "POS_Z"
    while object.modifiers.find(NAME) > 0:  # before subdivision, after nothing
        with bpy.context.temp_override(object=object, active_object=object):
            bpy.ops.object.modifier_move_up(modifier=NAME)


def add_keys(object, images, start):
    if not object.data.shape_keys:
        object.shape_key_add(name="Basis", from_mix=False)
    for i, points in enumerate(images):
        key = object.shape_key_add(name=f"{NAME} {i}", from_mix=False)
        for k, p in enumerate(points):
            key.data[k].co = p
        key.value = 0
        for frame, value in ((start + i - 1, 0.0), (start + i, 1.0), (start + i + 1, 0.0)):
            if value or start <= frame <= start + len(images) - 1:
                key.value = value
                key.keyframe_insert("value", frame=frame)
    for curve in object.data.shape_keys.animation_data.action.fcurves:
        for point in curve.keyframe_points:
            point.interpolation = "LINEAR"


def show(context, object, images):
    """Puts a motion in the world on the mesh; the result contains what an armature did, which is switched off."""
    if len(images[0]) != len(object.data.vertices):
        raise ValueError(f"the result has {len(images[0])} vertices, the mesh {len(object.data.vertices)}")
    back = object.matrix_world.inverted()
    local = [[back @ p for p in points] for points in images]
    clear(object)
    for modifier in object.modifiers:
        if modifier.type == "ARMATURE":
            modifier.show_viewport = modifier.show_render = False
    add = add_cache if object.sinew.result == "CACHE" else add_keys
    add(object, local, context.scene.frame_start)


def read_skin(path):
    """Joints and weights of `sinew rig`: rest positions of points and joints, and weights, with z up as in the file's mesh."""
    with open(path, "rb") as file:
        data = file.read()
    size = struct.unpack_from("<I", data, 12)[0]
    document, binary = json.loads(data[20:20 + size]), data[28 + size:]

    def rows(index):
        accessor = document["accessors"][index]
        width = {"SCALAR": 1, "VEC3": 3, "VEC4": 4}[accessor["type"]]
        code = {5121: "B", 5123: "H", 5125: "I", 5126: "f"}[accessor["componentType"]]
        view = document["bufferViews"][accessor["bufferView"]]
        offset, step = view.get("byteOffset", 0) + accessor.get("byteOffset", 0), view.get("byteStride", struct.calcsize(f"{width}{code}"))
        return [struct.unpack_from(f"<{width}{code}", binary, offset + k * step) for k in range(accessor["count"])]

    attributes = document["meshes"][0]["primitives"][0]["attributes"]
    joints = document["skins"][0]["joints"]
    rest = [Vector(document["nodes"][j].get("translation", (0, 0, 0))) for j in joints]
    return [Vector(p) for p in rows(attributes["POSITION"])], rest, rows(attributes["JOINTS_0"]), rows(attributes["WEIGHTS_0"])


def make_armature(context, object, rest):
    """A bone for each frame, upwards, a tenth of the object long."""
    data = bpy.data.armatures.new(f"{object.name} frames")
    armature = bpy.data.objects.new(data.name, data)
    context.collection.objects.link(armature)
    length = 0.1 * max(max(object.dimensions), 1e-6)
    with context.temp_override(object=armature, active_object=armature, selected_objects=[armature]):
        context.view_layer.objects.active = armature
        bpy.ops.object.mode_set(mode="EDIT")
        for k, p in enumerate(rest):
            bone = data.edit_bones.new(f"frame{k}")
            bone.head, bone.tail = p, p + Vector((0, 0, length))
        bpy.ops.object.mode_set(mode="OBJECT")
    return armature


def apply_skin(context, object, path):
    points, rest, joints, weights = read_skin(path)
    tree = kdtree.KDTree(len(points))
    for i, p in enumerate(points):
        tree.insert(p, i)
    tree.balance()

    armature = make_armature(context, object, rest)
    groups = []
    for k in range(len(rest)):
        old = object.vertex_groups.get(f"frame{k}")
        if old:
            object.vertex_groups.remove(old)
        groups.append(object.vertex_groups.new(name=f"frame{k}"))
    for vertex in object.data.vertices:
        nearest = tree.find(object.matrix_world @ vertex.co)[1]
        for joint, weight in zip(joints[nearest], weights[nearest]):
            if weight > 0:
                groups[joint].add([vertex.index], weight, "ADD")
    modifier = object.modifiers.new("Frames", "ARMATURE")
    modifier.object = armature


def rig_steps(context, object, options):
    """Of the job: rig the surface, make the armature."""

    def rig(job):
        solid.write_surface(object, job.path("surface.ply"))
        return [job.program, "rig", "surface.ply", "-o", "rig", "--nodes", str(object.sinew.nodes), *options], 0

    def read(job):
        apply_skin(context, object, job.path("rig/skin.glb"))

    return [rig, read]
