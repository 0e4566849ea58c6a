"""Makes docs/images/blender.png: blender --background --factory-startup --python blender/picture.py

A monkey's head of jelly falls on the ground, simulated by the add-on and rendered by Cycles, at four images side by side.
SINEW names the program.
"""
import math
import pathlib
import sys

import bpy
from mathutils import Vector

ROOT = pathlib.Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT / "blender"))
import sinew_soft  # noqa: E402

IMAGES, STEP = (1, 11, 14, 19), 3.0


def material(name, color, roughness):
    made = bpy.data.materials.new(name)
    made.use_nodes = True
    shader = made.node_tree.nodes["Principled BSDF"]
    shader.inputs["Base Color"].default_value, shader.inputs["Roughness"].default_value = (*color, 1), roughness
    return made


def smooth(object, subdivided):
    for polygon in object.data.polygons:
        polygon.use_smooth = True
    if subdivided:
        object.modifiers.new("Subdivision", "SUBSURF").render_levels = 2


def simulate():
    bpy.ops.mesh.primitive_monkey_add(location=(0, 0, 1.75), rotation=(math.radians(-15), math.radians(12), 0))
    head = bpy.context.active_object
    smooth(head, True)
    settings = head.sinew
    settings.soft, settings.preset, settings.young, settings.tets, settings.damping = True, "jelly", 1.2e4, 2500, 0.004
    bpy.context.scene.frame_end = IMAGES[-1]
    bpy.context.view_layer.objects.active = head
    bpy.ops.sinew.simulate()
    return head


def copy_images(head):
    """A copy for every image; the original is hidden."""
    jelly = material("jelly", (0.9, 0.28, 0.12), 0.25)
    for k, image in enumerate(IMAGES):
        bpy.context.scene.frame_set(image)
        mesh = bpy.data.meshes.new_from_object(head.evaluated_get(bpy.context.evaluated_depsgraph_get()))
        mesh.materials.clear()
        mesh.materials.append(jelly)
        made = bpy.data.objects.new("image", mesh)
        made.matrix_world = head.matrix_world.copy()
        made.location.x += STEP * k
        bpy.context.collection.objects.link(made)
        smooth(made, True)
    head.hide_render = True


def light(scene):
    bpy.ops.mesh.primitive_plane_add(size=200)
    bpy.context.active_object.data.materials.append(material("floor", (0.75, 0.76, 0.74), 0.9))
    sun = bpy.data.lights.new("sun", "SUN")
    sun.energy, sun.angle = 1.6, 0.15
    made = bpy.data.objects.new("sun", sun)
    made.rotation_euler = (math.radians(40), math.radians(15), math.radians(20))
    scene.collection.objects.link(made)
    world = bpy.data.worlds.new("sky")
    world.use_nodes = True
    world.node_tree.nodes["Background"].inputs[0].default_value = (0.8, 0.88, 1, 1)
    world.node_tree.nodes["Background"].inputs[1].default_value = 0.45
    scene.world = world


def aim(scene):
    center, away = Vector((0.5 * STEP * (len(IMAGES) - 1), 0, 1.15)), Vector((0.05, -1, 0.22)).normalized()
    camera = bpy.data.cameras.new("camera")
    camera.type, camera.ortho_scale = "ORTHO", STEP * len(IMAGES) + 0.3
    made = bpy.data.objects.new("camera", camera)
    made.location, made.rotation_euler = center + 30 * away, (-away).to_track_quat("-Z", "Y").to_euler()
    scene.collection.objects.link(made)
    scene.camera = made


bpy.ops.wm.read_factory_settings(use_empty=True)
sinew_soft.register()
copy_images(simulate())
scene = bpy.context.scene
light(scene)
aim(scene)
scene.render.engine, scene.cycles.samples, scene.cycles.use_denoising = "CYCLES", 24, False
scene.view_settings.view_transform = "Standard"
scene.render.resolution_x, scene.render.resolution_y = 1200, 380
scene.render.filepath = str(ROOT / "docs" / "images" / "blender.png")
bpy.ops.render.render(write_still=True)
