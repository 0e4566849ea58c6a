# Labels: foreign
"""A run's skin: the Khronos validator accepts it, and Blender replays the surface that was simulated within the error that the run
reports."""
import json
import os
import pathlib
import subprocess
import tempfile

import foreign

SINEW = os.environ.get("SINEW", str(foreign.BUILD / "sinew"))
SCENE = {
    "version": 1, "step": 0.0125, "steps": 60, "output": {"every": 10},
    "bodies": [{"name": "bar", "model": "frames", "material": {"young": 1e5, "poisson": 0.3},
                "shape": {"kind": "box", "size": [1, 0.2, 0.2]},
                "frames": {"resolution": 15, "weights": {"kind": "axis"}, "sampling": {"kind": "midpoint"},
                           "nodes": [{"position": [-0.45, 0, 0], "hold": "all"}, {"position": [-0.1, 0, 0]},
                                     {"position": [0.4, 0, 0], "hold": "rotation", "motion": {"rotate": {
                                         "axis": [1, 0, 0], "degrees": {"keys": [[0, 0], [0.75, 90]]}}}}]}}]}
BLENDER_SCRIPT = r'''
import json, struct
written = json.load(open(os.path.join(folder, "written.json")))
bpy.ops.wm.read_factory_settings(use_empty=True)
bpy.ops.import_scene.gltf(filepath=os.path.join(folder, "bar_skin.glb"))
bar = max((o for o in bpy.data.objects if o.type == "MESH"), key=lambda o: len(o.data.vertices))
rate = bpy.context.scene.render.fps
data = open(os.path.join(folder, "bar.pc2"), "rb").read()
count, frames = struct.unpack("<i", data[16:20])[0], struct.unpack("<i", data[28:32])[0]
worst = 0
for frame in range(frames):
    at = written["times"][frame] * rate
    bpy.context.scene.frame_set(math.floor(at), subframe=at - math.floor(at))
    shown = bar.evaluated_get(bpy.context.evaluated_depsgraph_get())
    points = [shown.matrix_world @ v.co for v in shown.to_mesh().vertices]
    if len(points) != count:
        print("FAILED:", len(points), "points, expected", count)
        sys.stdout.flush()
        os._exit(1)
    expected = struct.unpack(f"<{3 * count}f", data[32 + 12 * count * frame:32 + 12 * count * (frame + 1)])
    for i, p in enumerate(points):  # z is up in Blender, y in the cache
        worst = max(worst, math.dist((p.x, p.z, -p.y), expected[3 * i:3 * i + 3]))
print("Blender is off by", worst)
print("ALL WELL" if worst < written["error"] + 2e-5 else "FAILED")  # Blender's own matrices are floats
sys.stdout.flush()
os._exit(0)
'''

with tempfile.TemporaryDirectory(prefix="sinew-") as folder:
    (pathlib.Path(folder) / "scene.json").write_text(json.dumps(SCENE))
    result = subprocess.run([SINEW, "run", folder + "/scene.json", "-o", folder, "--format", "skin,pc2", "--json"],
                            capture_output=True, text=True)
    foreign.check(result.stderr, result.returncode == 0)
    error = json.loads(result.stdout)["skins"]["bar"]["largest_error"]
    foreign.check(f"rigid frames make an exact skin, not one off by {error}", error < 1e-6)
    foreign.need_validator()(folder + "/bar_skin.glb")
    times = [0.125 * i for i in range(7)]
    (pathlib.Path(folder) / "written.json").write_text(json.dumps({"error": error, "times": times}))
    foreign.run_blender(BLENDER_SCRIPT, folder)
print("the validator accepts the skin, and Blender replays it")
