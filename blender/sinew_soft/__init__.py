"""Soft bodies and soft characters: the panel "Sinew" in the sidebar of the 3D view.

The add-on is a thin layer over the program `sinew`. It writes the mesh and a scene, or the mesh with its armature as glTF, runs the
program in the background, and reads the result back as a Mesh Cache or as shape keys.
"""
# SPDX-License-Identifier: Apache-2.0
bl_info = {
    "name": "Sinew",
    "author": "The Sinew authors",
    "version": (0, 1, 0),
    "blender": (3, 4, 0),
    "location": "View3D > Sidebar > Sinew",
    "description": "Soft bodies and soft characters by the program sinew",
    "category": "Physics",
}

import bpy

from . import operators, panel, properties

CLASSES = properties.CLASSES + operators.CLASSES + panel.CLASSES


def register():
    for item in CLASSES:
        bpy.utils.register_class(item)
    bpy.types.Object.sinew = bpy.props.PointerProperty(type=properties.SinewObject)


def unregister():
    operators.stop()
    del bpy.types.Object.sinew
    for item in reversed(CLASSES):
        bpy.utils.unregister_class(item)
