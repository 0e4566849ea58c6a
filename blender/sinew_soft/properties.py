"""What a soft object remembers, and where the program is."""
# SPDX-License-Identifier: Apache-2.0
import bpy

# Young's modulus [Pa], Poisson's ratio, density [kg/m3]: presets of `sinew list presets`.
PRESETS = {
    "jelly": (5e3, 0.45, 1000), "fat": (1.2e4, 0.45, 920), "muscle": (6e4, 0.45, 1060), "gelatine": (1e4, 0.45, 1000),
    "foam": (5e4, 0.2, 60), "silicone": (5e5, 0.45, 1100), "rubber": (1.5e6, 0.45, 1100),
}


def set_preset(settings, _context):
    settings.young, settings.poisson, settings.density = PRESETS[settings.preset]


class SinewPreferences(bpy.types.AddonPreferences):
    bl_idname = __package__
    program: bpy.props.StringProperty(
        name="Program", subtype="FILE_PATH", default="sinew",
        description="Path of the program sinew; the name alone if it is on the path for programs")
    threads: bpy.props.IntProperty(name="Threads", default=0, min=0, max=64, description="0: one for each core")

    def draw(self, _context):
        self.layout.prop(self, "program")
        self.layout.prop(self, "threads")


class SinewObject(bpy.types.PropertyGroup):
    soft: bpy.props.BoolProperty(name="Soft", description="The object takes part in the simulation as a soft body")
    collides: bpy.props.BoolProperty(
        name="Obstacle", description="Soft bodies cannot enter this object; it stands still and encloses a volume")
    preset: bpy.props.EnumProperty(
        name="Material", items=[(name, name.capitalize(), "") for name in PRESETS], default="muscle", update=set_preset)
    young: bpy.props.FloatProperty(name="Stiffness", default=6e4, min=1, max=1e12, description="Young's modulus [Pa]")
    poisson: bpy.props.FloatProperty(name="Poisson's ratio", default=0.45, min=0, max=0.49)
    density: bpy.props.FloatProperty(name="Density", default=1060, min=1, max=1e5, description="[kg/m3]")
    damping: bpy.props.FloatProperty(name="Damping", default=0.01, min=0, max=10, description="How fast the wobble decays")
    tets: bpy.props.IntProperty(name="Tetrahedra", default=5000, min=100, max=1000000)
    substeps: bpy.props.IntProperty(name="Steps per image", default=2, min=1, max=100)
    pins: bpy.props.StringProperty(name="Pins", description="Vertex group that is held, or that follows the bones exactly")
    stiffness_group: bpy.props.StringProperty(
        name="Painted", description="Vertex group: weight 0 has the stiffness above, weight 1 is stiffer by the factor below")
    factor: bpy.props.FloatProperty(name="Factor", default=20, min=1, max=1e6, description="Stiffness where the weight is 1")
    ground: bpy.props.BoolProperty(name="Ground", default=True, description="A floor at height 0")
    friction: bpy.props.FloatProperty(name="Friction", default=0.5, min=0, max=10)
    result: bpy.props.EnumProperty(name="Result", default="CACHE", items=[
        ("CACHE", "Mesh Cache", "A modifier that plays a point cache (PC2)"), ("KEYS", "Shape keys", "One shape key for each image")])
    nodes: bpy.props.IntProperty(name="Frames", default=8, min=1, max=200, description="Bones of the armature")


CLASSES = (SinewPreferences, SinewObject)
