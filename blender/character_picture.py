"""Makes docs/images/complementary.png: blender --background --factory-startup --python blender/character_picture.py

A generated person with a texture in the middle of a hop: as skinned, with soft flesh, and with complementary dynamics. The files
are read here, because the glTF importer of Debian's Blender does not work with its numpy. SINEW names the program.
"""
import math
import os
import pathlib
import subprocess
import sys
import tempfile

import bpy
from mathutils import Vector

ROOT = pathlib.Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT / "tests" / "cli"))
import characters  # noqa: E402
import replay  # noqa: E402

YOUNG, STEP = "1e4", 1.9
SINEW = os.environ.get("SINEW", str(ROOT / "build" / "sinew"))


def stripes(x, y):
    """Bands around each limb, with a line along it."""
    dark = (x // 8 + y // 8) % 2
    return (190, 70, 50) if x in (0, 1) else (60, 105, 130) if dark else (235, 205, 160)


def soften(folder, *options):
    """The points of the body at all keys, with the options."""
    out = os.path.join(folder, "out.glb")
    subprocess.run([SINEW, "soften", folder + "/in.glb", "-a", "jump", "--loop", "--pc2", "-n", "20000", "-o", out, *options], check=True)
    return replay.read_pc2(os.path.join(folder, "out-body.0.pc2"))


def texture(content, folder):
    document, binary = content
    view = document["bufferViews"][document["images"][0]["bufferView"]]
    path = os.path.join(folder, "texture.png")
    with open(path, "wb") as file:
        file.write(binary[view["byteOffset"]:view["byteOffset"] + view["byteLength"]])
    made = bpy.data.materials.new("skin")
    made.use_nodes = True
    image = made.node_tree.nodes.new("ShaderNodeTexImage")
    image.image = bpy.data.images.load(path)
    image.image.pack()
    shader = made.node_tree.nodes["Principled BSDF"]
    made.node_tree.links.new(image.outputs["Color"], shader.inputs["Base Color"])
    shader.inputs["Roughness"].default_value = 0.6
    return made


def add_body(content, points, material, x):
    """An object of the first mesh with the given points; y up becomes z up, and v runs upwards."""
    primitive = content[0]["meshes"][0]["primitives"][0]
    corners = [row[0] for row in replay.rows(content, primitive["indices"])]
    uvs = replay.rows(content, primitive["attributes"]["TEXCOORD_0"])
    mesh = bpy.data.meshes.new("body")
    mesh.from_pydata([(p[0], -p[2], p[1]) for p in points], [], [corners[i:i + 3] for i in range(0, len(corners), 3)])
    layer = mesh.uv_layers.new()
    for loop in mesh.loops:
        u, v = uvs[loop.vertex_index]
        layer.data[loop.index].uv = (u, 1 - v)
    for polygon in mesh.polygons:
        polygon.use_smooth = True
    mesh.materials.append(material)
    made = bpy.data.objects.new("body", mesh)
    made.location.x = x
    bpy.context.collection.objects.link(made)


def light(scene):
    bpy.ops.mesh.primitive_plane_add(size=200)
    floor = bpy.data.materials.new("floor")
    floor.diffuse_color = (0.75, 0.76, 0.74, 1)
    bpy.context.active_object.data.materials.append(floor)
    sun = bpy.data.lights.new("sun", "SUN")
    sun.energy, sun.angle = 2.2, 0.15
    made = bpy.data.objects.new("sun", sun)
    made.rotation_euler = (math.radians(40), math.radians(15), math.radians(20))
    scene.collection.objects.link(made)
    scene.world = bpy.data.worlds.new("sky")
    scene.world.use_nodes = True
    scene.world.node_tree.nodes["Background"].inputs[0].default_value = (0.8, 0.88, 1, 1)
    scene.world.node_tree.nodes["Background"].inputs[1].default_value = 0.5


def aim(scene):
    center, away = Vector((STEP, 0, 1.02)), Vector((0.1, -1, 0.12)).normalized()
    camera = bpy.data.cameras.new("camera")
    camera.type, camera.ortho_scale = "ORTHO", 3 * STEP + 0.1
    made = bpy.data.objects.new("camera", camera)
    made.location, made.rotation_euler = center + 30 * away, (-away).to_track_quat("-Z", "Y").to_euler()
    scene.collection.objects.link(made)
    scene.camera = made


bpy.ops.wm.read_factory_settings(use_empty=True)
with tempfile.TemporaryDirectory() as folder:
    characters.person("stout", characters.png(64, 64, stripes)).save(folder + "/in.glb")
    content = replay.read(folder + "/in.glb")
    plain, complementary = soften(folder, "--young", YOUNG), soften(folder, "--young", YOUNG, "--complementary")
    node = [i for i, n in enumerate(content[0]["nodes"]) if n.get("mesh") == 0][0]
    skins = [replay.skinned(content, node, 0, key / 30) for key in range(len(plain))]
    key = max(range(len(plain)), key=lambda k: max(math.dist(p, q) for p, q in zip(plain[k], skins[k])))
    look = texture(content, folder)
    for k, points in enumerate((skins[key], plain[key], complementary[key])):
        add_body(content, points, look, STEP * k)
scene = bpy.context.scene
light(scene)
aim(scene)
scene.render.engine, scene.cycles.samples, scene.cycles.use_denoising = "CYCLES", 24, False
scene.view_settings.view_transform = "Standard"
scene.render.resolution_x, scene.render.resolution_y = 1200, 470
scene.render.filepath = os.environ.get("PICTURE", str(ROOT / "docs" / "images" / "complementary.png"))
bpy.ops.render.render(write_still=True)
