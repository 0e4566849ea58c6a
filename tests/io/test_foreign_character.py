# Labels: foreign
"""The skin of a simulated leg as GLB: the Khronos validator accepts it, and Blender shows at each output the points that were
written as OBJ beside it; its PC2 cache drives the OBJ to the same places."""
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
import math, os, sys
import bpy
try:
    import numpy
except ImportError:
    print("NO NUMPY")
    os._exit(1)
if "bool" not in vars(numpy):  # Debian 12's Blender 3.4 still asks for a name that its numpy 1.24 has dropped
    numpy.bool = bool
folder = sys.argv[sys.argv.index("--") + 1]

def fail(what):
    print("FAILED:", what)
    sys.stdout.flush()
    os._exit(1)

def read_obj(frame):
    with open(os.path.join(folder, f"leg_{frame:05d}.obj")) as file:
        return numpy.array([[float(x) for x in line.split()[1:4]] for line in file if line.startswith("v ")])

def shown(object):
    evaluated = object.evaluated_get(bpy.context.evaluated_depsgraph_get())
    return numpy.array([evaluated.matrix_world @ v.co for v in evaluated.to_mesh().vertices])

def compare(what, found, expected):
    if found.shape != expected.shape:
        fail(f"{what}: {found.shape} numbers, expected {expected.shape}")
    if abs(found - expected).max() > 1e-4:
        fail(f"{what}: off by {abs(found - expected).max()}")

bpy.ops.wm.read_factory_settings(use_empty=True)
bpy.ops.import_scene.gltf(filepath=os.path.join(folder, "leg.glb"))
leg = [o for o in bpy.data.objects if o.type == "MESH" and len(o.data.vertices) > 100][0]
rate = bpy.context.scene.render.fps
for k in range(OUTPUTS):
    frame = k * EVERY / 60 * rate
    bpy.context.scene.frame_set(math.floor(frame), subframe=frame - math.floor(frame))
    points = shown(leg)
    compare(f"leg.glb, output {k}", numpy.stack([points[:, 0], points[:, 2], -points[:, 1]], axis=1), read_obj(k))
if abs(read_obj(OUTPUTS - 1) - read_obj(0)).max() < 0.05:
    fail("the leg has hardly moved")

mesh = bpy.data.meshes.new("leg")
mesh.from_pydata([tuple(p) for p in read_obj(0)], [], [(0, 1, 2)])
cached = bpy.data.objects.new("cached", mesh)
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


def main():
    out = pathlib.Path(tempfile.mkdtemp(prefix="character-", dir=foreign.BUILD))
    program = os.environ.get("SINEW", foreign.BUILD / "sinew")
    subprocess.run([program, "run", ROOT / "examples" / "bones-leg.json", "--steps", str(EVERY * (OUTPUTS - 1)), "-q", "-o", out,
                    "--format", "glb,obj,pc2", "-s", "bodies[0].shape.tets=1500", "-s", f"output.every={EVERY}"], check=True)
    foreign.need_validator()(out / "leg.glb")
    foreign.need_program("blender")
    foreign.run_blender(BLENDER_SCRIPT, out)
    shutil.rmtree(out)
    print("the validator accepts and Blender plays the leg")


main()
