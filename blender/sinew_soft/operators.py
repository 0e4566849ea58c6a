"""Make soft, Simulate, Cancel, Rig with frames."""
# SPDX-License-Identifier: Apache-2.0
import os
import shutil

import bpy

from . import character, job, result, solid


def find_armature(object):
    """The armature that deforms a mesh, or None."""
    for modifier in object.modifiers:
        if modifier.type == "ARMATURE" and modifier.object:
            return modifier.object
    return None


def find_mesh(context):
    """The active mesh, or the first mesh of the active armature."""
    active = context.active_object
    if active and active.type == "ARMATURE":
        for object in context.scene.objects:
            if object.type == "MESH" and find_armature(object) == active:
                return object
    return active if active and active.type == "MESH" else None


def find_program():
    addon = bpy.context.preferences.addons.get(__package__)
    name = os.environ.get("SINEW") or (addon.preferences.program if addon else "sinew")
    path = shutil.which(bpy.path.abspath(name)) or shutil.which(name)
    if not path:
        raise RuntimeError(f'the program "{name}" is not found; its path is in the preferences of the add-on')
    return path


def thread_options():
    addon = bpy.context.preferences.addons.get(__package__)
    threads = (addon.preferences.threads if addon else 0) or os.cpu_count() or 1
    return ["--threads", str(min(threads, 64))]


def stop():
    if job.current():
        job.current().cancel()


class Operator(bpy.types.Operator):
    bl_options = {"REGISTER", "UNDO"}

    @classmethod
    def poll(cls, context):
        return find_mesh(context) is not None and not job.current()

    def begin(self, made):
        try:
            made.program = find_program()
        except RuntimeError as error:
            made.cancel()
            self.report({"ERROR"}, str(error))
            return {"CANCELLED"}
        job.start(made)
        if made.error:
            self.report({"ERROR"}, made.error)
            return {"CANCELLED"}
        return {"FINISHED"}


class SINEW_OT_make_soft(Operator):
    """Make the mesh soft, or firm again"""
    bl_idname = "sinew.make_soft"
    bl_label = "Make soft"

    def execute(self, context):
        settings = find_mesh(context).sinew
        settings.soft = not settings.soft
        return {"FINISHED"}


class SINEW_OT_simulate(Operator):
    """Simulate the soft mesh over the images of the scene, in the background"""
    bl_idname = "sinew.simulate"
    bl_label = "Simulate"

    def execute(self, context):
        object = find_mesh(context)
        if not object.sinew.soft:
            self.report({"ERROR"}, "the mesh is not soft")
            return {"CANCELLED"}
        armature = find_armature(object)
        if armature:
            steps = character.steps(context, object, armature, thread_options())
        else:
            steps = solid.steps(context, object, thread_options())
        return self.begin(job.Job("Simulating", steps))


class SINEW_OT_rig(Operator):
    """Make an armature with weights: coordinate frames that the solid's stiffness chooses"""
    bl_idname = "sinew.rig"
    bl_label = "Rig with frames"

    def execute(self, context):
        return self.begin(job.Job("Rigging", result.rig_steps(context, find_mesh(context), thread_options())))


class SINEW_OT_cancel(bpy.types.Operator):
    """Stop the program"""
    bl_idname = "sinew.cancel"
    bl_label = "Cancel"

    @classmethod
    def poll(cls, _context):
        return job.current() is not None

    def execute(self, _context):
        stop()
        return {"FINISHED"}


CLASSES = (SINEW_OT_make_soft, SINEW_OT_simulate, SINEW_OT_rig, SINEW_OT_cancel)
