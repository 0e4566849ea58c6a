# Labels: foreign
"""The skin that sinew rig makes for animators: the Khronos validator accepts it, Blender gives it a bone for each frame, where
bones go the skin goes, and one bone moves what is near it and no more."""
import json
import os
import pathlib
import subprocess
import tempfile

import foreign

SINEW = os.environ.get("SINEW", str(foreign.BUILD / "sinew"))
NODES = 4
BLENDER_SCRIPT = r'''
import json
from mathutils import Matrix, Vector
places = json.load(open(os.path.join(folder, "places.json")))
bpy.ops.wm.read_factory_settings(use_empty=True)
bpy.ops.import_scene.gltf(filepath=os.path.join(folder, "skin.glb"))
skin = max((o for o in bpy.data.objects if o.type == "MESH"), key=lambda o: len(o.data.vertices))
armature = skin.find_armature()
bones = [b for b in armature.pose.bones if any(g.name == b.name for g in skin.vertex_groups)]

def shown():
    bpy.context.view_layer.update()
    evaluated = skin.evaluated_get(bpy.context.evaluated_depsgraph_get())
    return [evaluated.matrix_world @ v.co for v in evaluated.to_mesh().vertices]

def shift(moved, way):
    for bone in moved:
        bone.matrix = Matrix.Translation(armature.matrix_world.to_3x3().inverted() @ way) @ bone.matrix

def fail(*words):
    print("FAILED:", *words)
    sys.stdout.flush()
    os._exit(1)

if len(bones) != len(places): fail(len(bones), "bones for", len(places), "frames")
for place in places:
    nearest = min((armature.matrix_world @ b.head - Vector(place)).length for b in bones)
    if nearest > 1e-6: fail("no bone at", place, "but", nearest, "m off")
rest, way = shown(), Vector((0.01, 0.02, -0.03))
shift(bones, way)
error = max((b - a - way).length for a, b in zip(rest, shown()))
if error > 1e-6: fail("all bones move, the skin is off by", error)
shift(bones, -way)
shift(bones[-1:], way)
moves = [(b - a).length / way.length for a, b in zip(rest, shown())]
print("one bone moves its skin by", min(moves), "to", max(moves), "of its way")
if not (max(moves) > 0.9 and min(moves) < 1e-4): fail("from", min(moves), "to", max(moves))
print("ALL WELL")
sys.stdout.flush()
os._exit(0)
'''

with tempfile.TemporaryDirectory(prefix="sinew-") as folder:
    result = subprocess.run([SINEW, "rig", "specimen:steak", "--voxels", "4000", "-n", str(NODES), "-o", folder],
                            capture_output=True, text=True)
    foreign.check(result.stderr, result.returncode == 0)
    scene = json.loads((pathlib.Path(folder) / "scene.json").read_text())
    places = [node["position"] for node in scene["bodies"][0]["frames"]["nodes"]]
    foreign.check(f"{len(places)} frames", len(places) == NODES)
    (pathlib.Path(folder) / "places.json").write_text(json.dumps(places))
    foreign.run_blender(BLENDER_SCRIPT, folder)
    foreign.need_validator()(folder + "/skin.glb")
print("Blender poses the skin of a rig, and the validator accepts it")
