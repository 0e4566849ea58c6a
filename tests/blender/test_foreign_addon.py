# Labels: foreign
"""The add-on in Debian's Blender, without a display: solids fall, pins hold, painted parts are stiffer, obstacles stop, characters
wobble, rigs deform, jobs are cancelled, and mistakes are reported."""
import os
import pathlib
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests" / "io"))
import foreign  # noqa: E402

SCRIPT = f'''
import time
from math import radians
sys.path.insert(0, {str(ROOT / "blender")!r})
''' + r'''
import sinew_soft
from mathutils import Vector
sinew_soft.register()
context = bpy.context

def begin(last):
    """An empty scene with this number of images."""
    bpy.ops.wm.read_factory_settings(use_empty=True)
    context.scene.frame_start, context.scene.frame_end = 1, last

def expect(what, good):
    if not good:
        fail(what)

def run(object):
    context.view_layer.objects.active = object
    object.sinew.soft = True
    expect(f"simulate: {sinew_soft.job.last_message}", bpy.ops.sinew.simulate() == {"FINISHED"})

def shown(object, frame):
    context.scene.frame_set(frame)
    evaluated = object.evaluated_get(context.evaluated_depsgraph_get())
    return [object.matrix_world @ v.co for v in evaluated.to_mesh().vertices]

def bar(location):
    """A bar of 2 m along x, clamped at its lower end by the group "pins"."""
    bpy.ops.mesh.primitive_cube_add(location=location)
    object = context.active_object
    object.scale = (1, 0.2, 0.2)
    bpy.ops.object.transform_apply(location=False, rotation=False, scale=True)
    with context.temp_override(object=object, active_object=object):
        bpy.ops.object.mode_set(mode="EDIT")
        bpy.ops.mesh.subdivide(number_cuts=8)
        bpy.ops.object.mode_set(mode="OBJECT")
    pins = object.vertex_groups.new(name="pins")
    pins.add([v.index for v in object.data.vertices if v.co.x < -0.9], 1, "ADD")
    settings = object.sinew
    settings.pins, settings.ground, settings.tets, settings.young = "pins", False, 800, 2e5
    return object

def tip(object, frame):
    points = shown(object, frame)
    ends = [points[v.index].z for v in object.data.vertices if v.co.x > 0.9]
    return sum(ends) / len(ends) - object.location.z

# Pins hold, gravity bends, painted stiffness bends less. The cache and shape keys show the same.
begin(12)
soft = bar((0, 0, 3))
run(soft)
held = [v.index for v in soft.data.vertices if v.co.x < -0.99]
moved = shown(soft, 12)
expect("pins hold", max((moved[i] - soft.matrix_world @ soft.data.vertices[i].co).length for i in held) < 1e-3)
sag = tip(soft, 12)
expect(f"the free end falls: {sag}", -1.5 < sag < -0.02)
cached = shown(soft, 9)
soft.sinew.result = "KEYS"
run(soft)
keyed = shown(soft, 9)
expect("shape keys are the cache", max((a - b).length for a, b in zip(cached, keyed)) < 1e-5)
expect("one result at a time", not [m for m in soft.modifiers if m.type == "MESH_CACHE"])
soft.sinew.result = "CACHE"
painted = soft.vertex_groups.new(name="stiff")
painted.add(list(range(len(soft.data.vertices))), 1, "ADD")
soft.sinew.stiffness_group = "stiff"
run(soft)
expect("painted parts are stiffer", tip(soft, 12) > 0.5 * sag)

# A ball comes to rest on an obstacle.
begin(20)
bpy.ops.mesh.primitive_cube_add(location=(0, 0, 0.5), size=1)
context.active_object.sinew.collides = True
bpy.ops.mesh.primitive_uv_sphere_add(radius=0.3, location=(0, 0, 1.5), segments=12, ring_count=6)
ball = context.active_object
ball.sinew.tets, ball.sinew.young = 600, 1e5
run(ball)
lowest = min(p.z for p in shown(ball, 20))
expect(f"the obstacle stops the ball: {lowest}", 0.99 < lowest < 1.2)

# An armature that bends its mesh: at the first image the flesh is where the armature has it, later it lags.
begin(15)
limb = bar((0, 0, 0))
limb.sinew.pins = ""
data = bpy.data.armatures.new("bones")
armature = bpy.data.objects.new("bones", data)
context.collection.objects.link(armature)
context.view_layer.objects.active = armature
bpy.ops.object.mode_set(mode="EDIT")
bones = []
for k, (a, b) in enumerate(((-1, 0), (0, 1))):
    bone = data.edit_bones.new(f"bone{k}")
    bone.head, bone.tail = (a, 0, 0), (b, 0, 0)
    bone.parent = bones[-1] if bones else None
    bones.append(bone)
bpy.ops.object.mode_set(mode="OBJECT")
for k in range(2):
    group = limb.vertex_groups.new(name=f"bone{k}")
    for v in limb.data.vertices:
        share = min(max(0.5 + 2 * v.co.x, 0), 1)
        group.add([v.index], share if k else 1 - share, "ADD")
modifier = limb.modifiers.new("Armature", "ARMATURE")
modifier.object = armature
pose = armature.pose.bones["bone1"]
pose.rotation_mode = "XYZ"
for frame, degrees in (1, 0), (5, 0), (9, 60), (15, 60):
    pose.rotation_euler = (0, 0, radians(degrees))
    pose.keyframe_insert("rotation_euler", frame=frame)
skinned = {frame: shown(limb, frame) for frame in (1, 9)}
limb.sinew.young = 2e4
run(armature.sinew and limb)
expect("the flesh starts at the skin", max((a - b).length for a, b in zip(shown(limb, 1), skinned[1])) < 1e-3)
lag = max((a - b).length for a, b in zip(shown(limb, 9), skinned[9]))
expect(f"the flesh lags behind: {lag}", 1e-3 < lag < 0.5)

# Frames as an armature: weights sum to 1, and a moved bone moves the mesh.
begin(5)
block = bar((0, 0, 0))
context.view_layer.objects.active = block
block.sinew.nodes = 3
expect(f"rig: {sinew_soft.job.last_message}", bpy.ops.sinew.rig() == {"FINISHED"})
frames = [g for g in block.vertex_groups if g.name.startswith("frame")]
expect("three frames", len(frames) == 3)
for v in block.data.vertices:
    total = sum(g.weight for g in v.groups if block.vertex_groups[g.group].name.startswith("frame"))
    expect(f"weights sum to {total}", abs(total - 1) < 1e-4)
before = shown(block, 1)
rig = [o for o in bpy.data.objects if o.type == "ARMATURE"][0]
rig.pose.bones["frame0"].location = (0, 1, 0)
expect("bones move the mesh", max((a - b).length for a, b in zip(before, shown(block, 2))) > 0.5)

# A job can be cancelled, and its folder goes away. A program that is missing is reported.
from sinew_soft import job
waiting = job.Job("Waiting", [lambda made: ([sys.executable, "-c", "import time; time.sleep(60)"], 0), lambda made: fail("cancelled jobs end")])
job._current = waiting
expect("the job runs", waiting.poll() and job.current() is waiting and os.path.isdir(waiting.folder))
process = waiting.process
expect("cancel", bpy.ops.sinew.cancel() == {"FINISHED"})
expect("cancelled", job.current() is None and process.poll() is not None and not os.path.exists(waiting.folder))
os.environ["SINEW"] = "/nowhere/sinew"
context.view_layer.objects.active = block
block.sinew.soft = True
for modifier in list(block.modifiers):
    block.modifiers.remove(modifier)
try:
    bpy.ops.sinew.simulate()
    fail("a missing program is an error")
except RuntimeError as error:
    expect(str(error), "is not found" in str(error))
sinew_soft.unregister()
print("ALL WELL")
sys.stdout.flush()
os._exit(0)
'''

with tempfile.TemporaryDirectory() as folder:
    os.environ.setdefault("SINEW", str(foreign.BUILD / "sinew"))
    foreign.run_blender(SCRIPT, folder)
print("the add-on works in Blender")
