# Labels: foreign
"""The skin of a simulated leg as GLB: the Khronos validator accepts it, and Blender shows at each output the points that were
written as OBJ beside it; its PC2 cache drives the OBJ to the same places. The other way round, an armature that Blender exports
bends a bar."""
import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
import foreign  # noqa: E402

ROOT = pathlib.Path(__file__).resolve().parents[2]
EVERY, OUTPUTS = 6, 4

BLENDER_SCRIPT = r'''
def read_obj(frame):  # y up in the file, z here
    with open(os.path.join(folder, f"leg_{frame:05d}.obj")) as file:
        points = numpy.array([[float(x) for x in line.split()[1:4]] for line in file if line.startswith("v ")])
    return numpy.stack([points[:, 0], -points[:, 2], points[:, 1]], axis=1)

def shown(object):
    evaluated = object.evaluated_get(bpy.context.evaluated_depsgraph_get())
    return numpy.array([evaluated.matrix_world @ v.co for v in evaluated.to_mesh().vertices])

def compare(what, found, expected):
    if found.shape != expected.shape:
        fail(f"{what}: {found.shape} numbers, expected {expected.shape}")
    if abs(found - expected).max() > 1e-4:
        fail(f"{what}: off by {abs(found - expected).max()}")

bpy.ops.wm.read_factory_settings(use_empty=True)
bpy.ops.import_scene.gltf(filepath=os.path.join(folder, "scene.glb"))
leg = [o for o in bpy.data.objects if o.type == "MESH" and len(o.data.vertices) > 100][0]
rate = bpy.context.scene.render.fps
for k in range(OUTPUTS):
    frame = k * EVERY / 60 * rate
    bpy.context.scene.frame_set(math.floor(frame), subframe=frame - math.floor(frame))
    points = shown(leg)
    compare(f"scene.glb, output {k}", points, read_obj(k))
if abs(read_obj(OUTPUTS - 1) - read_obj(0)).max() < 0.05:
    fail("the leg has hardly moved")

mesh = bpy.data.meshes.new("leg")
mesh.from_pydata([tuple(p) for p in read_obj(0)], [], [(0, 1, 2)])
cached = bpy.data.objects.new("cached", mesh)
cached.rotation_euler = (math.pi / 2, 0, 0)  # as the importer of OBJ does
bpy.context.collection.objects.link(cached)
modifier = cached.modifiers.new("cache", "MESH_CACHE")
modifier.cache_format = "PC2"
modifier.filepath = os.path.join(folder, "leg.pc2")
modifier.frame_start = 0
for k in range(OUTPUTS):
    bpy.context.scene.frame_set(k)
    compare(f"leg.pc2, sample {k}", shown(cached), read_obj(k))
print("ALL WELL")
sys.stdout.flush()
os._exit(0)
'''.replace("EVERY", str(EVERY)).replace("OUTPUTS", str(OUTPUTS))


EXPORT_SCRIPT = r'''
bpy.ops.wm.read_factory_settings(use_empty=True)
bpy.ops.object.armature_add(enter_editmode=True)
armature = bpy.context.object
lower = armature.data.edit_bones[0]
lower.name, lower.head, lower.tail = "lower", (0, 0, 0), (0, 0, 1)
upper = armature.data.edit_bones.new("upper")
upper.head, upper.tail, upper.parent, upper.use_connect = (0, 0, 1), (0, 0, 2), lower, True
bpy.ops.object.mode_set(mode="OBJECT")
bpy.ops.mesh.primitive_cube_add(size=1)
bar = bpy.context.object
bar.scale, bar.location = (0.3, 0.3, 2.2), (0, 0, 1)
bpy.ops.object.transform_apply(location=True, scale=True)
bar.parent = armature
bar.modifiers.new("armature", "ARMATURE").object = armature
for name in ("lower", "upper"):
    group = bar.vertex_groups.new(name=name)
    group.add([v.index for v in bar.data.vertices if (v.co.z > 1) == (name == "upper")], 1, "REPLACE")
pose = armature.pose.bones["upper"]
pose.rotation_mode = "XYZ"
for frame, degrees in ((1, 0), (13, 45), (25, 90)):
    pose.rotation_euler = (math.radians(degrees), 0, 0)
    pose.keyframe_insert("rotation_euler", frame=frame)
bpy.context.scene.frame_end = 25
bpy.ops.export_scene.gltf(filepath=os.path.join(sys.argv[sys.argv.index("--") + 1], "armature.glb"))
print("ALL WELL")
sys.stdout.flush()
os._exit(0)
'''

# The mesh of the same file is filled with tets and follows the armature.
BAR = {"version": 1, "step": 0.02, "duration": 1.5, "gravity": [0, 0, 0], "skeletons": {"bar": {"file": "armature.glb"}},
       "bodies": [{"name": "bar", "shape": {"file": "armature.glb", "tets": 1500}, "model": "positions", "skeleton": "bar"}],
       "probes": [{"name": "top", "point": [0, 2, 0]}]}


def bend_bar(program, out):
    foreign.run_blender(EXPORT_SCRIPT, out)
    (out / "bar.json").write_text(json.dumps(BAR))
    result = subprocess.run([program, "run", out / "bar.json", "-o", out, "--format", "csv", "--json"], check=True, capture_output=True,
                            text=True)
    foreign.check(result.stderr, not result.stderr)
    summary = json.loads(result.stdout)
    x, y, z = summary["probes"]["top"]["position"]
    foreign.check(f"the top of the bar is at {x}, {y}, {z}", max(abs(x), abs(y - 1), abs(abs(z) - 1)) < 0.02)
    foreign.check(f"{summary['rigging']}", summary["rigging"]["bar"]["idle_bones"] == 0)


def main():
    out = pathlib.Path(tempfile.mkdtemp(prefix="character-", dir=foreign.BUILD))
    program = os.environ.get("SINEW", foreign.BUILD / "sinew")
    subprocess.run([program, "run", ROOT / "examples" / "bones-leg.json", "--steps", str(EVERY * (OUTPUTS - 1)), "-q", "-o", out,
                    "--format", "glb,obj,pc2", "-s", "bodies[0].shape.tets=1500", "-s", f"output.every={EVERY}"], check=True)
    foreign.need_validator()(out / "scene.glb")
    foreign.need_program("blender")
    foreign.run_blender(BLENDER_SCRIPT, out)
    bend_bar(program, out)
    shutil.rmtree(out)
    print("the validator accepts and Blender plays the leg; Blender's armature bends a bar")


main()
