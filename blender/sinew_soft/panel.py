"""The panel."""
# SPDX-License-Identifier: Apache-2.0
import bpy

from . import job, operators


class SINEW_PT_panel(bpy.types.Panel):
    bl_label = "Sinew"
    bl_idname = "SINEW_PT_panel"
    bl_space_type = "VIEW_3D"
    bl_region_type = "UI"
    bl_category = "Sinew"

    def draw(self, context):
        layout, object = self.layout, operators.find_mesh(context)
        running = job.current()
        if running:
            layout.label(text=running.describe())
            layout.operator("sinew.cancel", icon="CANCEL")
            return
        if job.last_message:
            layout.label(text=job.last_message, icon="INFO")
        if not object:
            layout.label(text="Select a mesh or its armature")
            return

        settings = object.sinew
        layout.operator("sinew.make_soft", text="Make firm" if settings.soft else "Make soft", icon="MOD_SOFT")
        if not settings.soft:
            layout.prop(settings, "collides")
            self.draw_rig(layout, settings)
            return
        self.draw_material(layout, object, settings)
        if not operators.find_armature(object):
            layout.prop(settings, "ground")
            layout.prop(settings, "friction")
            layout.prop(settings, "substeps")
        layout.prop(settings, "result")
        layout.operator("sinew.simulate", icon="PLAY")
        self.draw_rig(layout, settings)

    @staticmethod
    def draw_material(layout, object, settings):
        column = layout.column(align=True)
        for name in "preset", "young", "poisson", "density", "damping", "tets":
            column.prop(settings, name)
        column = layout.column(align=True)
        column.prop_search(settings, "pins", object, "vertex_groups")
        column.prop_search(settings, "stiffness_group", object, "vertex_groups")
        if settings.stiffness_group:
            column.prop(settings, "factor")

    @staticmethod
    def draw_rig(layout, settings):
        column = layout.column(align=True)
        column.prop(settings, "nodes")
        column.operator("sinew.rig", icon="ARMATURE_DATA")


CLASSES = (SINEW_PT_panel,)
