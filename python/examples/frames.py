"""A body of four frames from a closed surface, and a finger that pokes it: where it touches, a frame joins the running body, presses a
dent, and leaves again."""
import sinew

# Triangles from anywhere will do, if they are closed; here an egg, 0.4 m long. Voxels fill it.
egg = sinew.sphere(element="triangle", size=(0.4, 0.3, 0.3), cell_size=0.02)
voxels = sinew.Voxels.from_surface(egg, resolution=40)

# Frames are placed where they cover the solid well. The surface that was given follows them.
world = sinew.World()
body = world.add_frames(voxels, frames=4, surface=egg, young=1e5, stiffness_damping=0.02)

# The lowest frame is held; the others sag under the weight.
lowest = min(range(4), key=lambda node: body.frame_get_rest(node)[2])
body.frame_hold(lowest, sinew.HOLD_ALL)
world.run(1.0)

# A finger touches the highest point of the surface as it is now.
points, _ = body.compute_surface()
top = max(range(len(points)), key=lambda i: points[i][2])
x, y, z = points[top]
print(f"4 frames carry {voxels.count} voxels; the top is at {1000 * z:.1f} mm")

# A frame joins there, just below the surface. It reaches 0.12 m, so that the rest of the body hardly feels it.
node = body.frame_insert(sinew.FrameInsertDef(position=(x, y, z - 0.02), deformed=True, range=0.12))
change = body.frame_last_change
print(f"a frame that touches {change.voxel_count} voxels and {change.vertex_count} points of the surface joins")
body.frame_hold(node, sinew.HOLD_TRANSLATION)

at, _ = body.frame_get_node(node)
at = list(at)
for _ in range(40):
    at[2] -= 0.001  # 1 mm a step: 0.1 m/s
    body.frame_move(node, at)
    world.step()

force, _ = body.frame_get_reaction(node)
points, _ = body.compute_surface()
print(f"pressed 40 mm down with {abs(force[2]):.2f} N; the top is {1000 * (z - points[top][2]):.1f} mm lower")

# The finger lets go, and its frame leaves.
body.frame_remove(node, 0.2)
world.run(2.0)
points, _ = body.compute_surface()
print(f"two seconds after it is {1000 * (z - points[top][2]):.1f} mm lower")
