# Labels: foreign
"""Blender imports our GLB files without a display and plays them: morph targets, a skin on nine joints, and a PC2 cache."""
import pathlib
import shutil
import sys

BLENDER_SCRIPT = r'''
def load(name):
    bpy.ops.wm.read_factory_settings(use_empty=True)
    bpy.ops.import_scene.gltf(filepath=os.path.join(folder, name))
    meshes = [o for o in bpy.data.objects if o.type == "MESH" and len(o.data.vertices) > 1 and not o.name.startswith("Ico")]
    if len(meshes) != 1:
        fail(f"{name}: {len(meshes)} meshes")
    return meshes[0]

def shown(object, frame):
    """World positions at a frame, in glTF's axes (Blender turns y up into z up)."""
    whole = math.floor(frame)
    bpy.context.scene.frame_set(whole, subframe=frame - whole)
    evaluated = object.evaluated_get(bpy.context.evaluated_depsgraph_get())
    mesh = evaluated.to_mesh()
    points = [evaluated.matrix_world @ v.co for v in mesh.vertices]
    return [(p.x, p.z, -p.y) for p in points]

def compare(what, found, expected):
    if len(found) != len(expected):
        fail(f"{what}: {len(found)} points, expected {len(expected)}")
    for i, (a, b) in enumerate(zip(found, expected)):
        if max(abs(x - y) for x, y in zip(a, b)) > 1e-4:
            fail(f"{what}: point {i} is {a}, expected {b}")

octahedron = [(1, 0, 0), (-1, 0, 0), (0, 2, 0), (0, -2, 0), (0, 0, 3), (0, 0, -3)]
scaled = lambda s: [tuple(s * x for x in p) for p in octahedron]
compare("still.glb", shown(load("still.glb"), 0), octahedron)

film = load("frames.glb")
rate = bpy.context.scene.render.fps
for time in (0, 0.5, 0.75, 1, 1.5):
    compare(f"frames.glb at {time} s", shown(film, time * rate), scaled(1 + 2 * time))

bar = load("skin.glb")
rate = bpy.context.scene.render.fps
rest = [((-0.1, 0.1, 0.1, -0.1)[k], 0.25 * ring, (-0.1, -0.1, 0.1, 0.1)[k]) for ring in range(9) for k in range(4)]
for time in (0, 0.5, 1):
    angle, c, s = math.pi / 2 * time, math.cos(math.pi / 2 * time), math.sin(math.pi / 2 * time)
    bent = []
    for x, y, z in rest:
        if y >= 1:  # joint 4 at y = 1 turns all that hangs on it
            x, y = c * x - s * (y - 1), 1 + s * x + c * (y - 1)
        bent.append((x + 2 * time, y, z))
    compare(f"skin.glb at {time} s", shown(bar, time * rate), bent)

bpy.ops.wm.read_factory_settings(use_empty=True)
bpy.ops.wm.obj_import(filepath=os.path.join(folder, "octahedron.obj"))  # y up, as the importer assumes
cached = bpy.context.selected_objects[0]
modifier = cached.modifiers.new("cache", "MESH_CACHE")
modifier.cache_format = "PC2"
modifier.filepath = os.path.join(folder, "octahedron.pc2")
modifier.frame_start = 1
for frame in (1, 2, 4):
    bpy.context.scene.frame_set(frame)
    points = [(cached.matrix_world @ v.co)[:] for v in cached.evaluated_get(bpy.context.evaluated_depsgraph_get()).to_mesh().vertices]
    compare(f"octahedron.pc2 at frame {frame}", points, scaled(frame))
print("ALL WELL")
sys.stdout.flush()
os._exit(0)
'''


def main():
    import foreign
    foreign.need_program("blender")
    samples = foreign.write_samples()
    foreign.run_blender(BLENDER_SCRIPT, samples)
    shutil.rmtree(samples)
    print("Blender plays what was written")


sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
main()
