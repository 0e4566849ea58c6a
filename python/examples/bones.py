"""Soft flesh on a skeleton: an upper arm and a forearm of bone, a bar of tetrahedra around them, and an elbow that bends by 90 degrees in
half a second. Nodes of elements that one bone cuts follow it; the flesh between is simulated and keeps its volume."""
import math
import sys

import sinew

SHOULDER, ELBOW = 0, 1
context = sinew.default_context()

# Two bones of 30 cm along x, the elbow at the origin.
shoulder = sinew.JointDef(name="shoulder", rest=sinew.Transform(rotation=(0, 0, 0, 1), translation=(-0.3, 0, 0)))
elbow = sinew.JointDef(name="elbow", parent=SHOULDER, rest=sinew.Transform(rotation=(0, 0, 0, 1), translation=(0.3, 0, 0)), has_tip=True,
                       tip=(0.3, 0, 0))
skeleton = context.skeleton_create([shoulder, elbow])

world = sinew.World()
flesh = world.add_body(sinew.box(size=(0.6, 0.12, 0.12), cell_size=0.03), name="arm", material="stable-neo-hookean", young=3e4, poisson=0.45,
                       stiffness_damping=0.01)
report, binding = flesh.binding_create(skeleton, sinew.BindingDef())
print(f"{report.bound_count} of {flesh.node_count} nodes follow a bone")


def pose_at(time):
    """The elbow has bent by up to 90 degrees about y, forearm upwards."""
    angle = -0.5 * 3.14159265358979 * min(time / 0.5, 1)
    pose = skeleton.rest_local
    rest = pose[ELBOW].rotation
    pose[ELBOW].rotation = (rest[0], math.sin(0.5 * angle), rest[2], math.cos(0.5 * angle))
    return skeleton.compute_world(pose)


# Before each step the skeleton takes the pose in which the step is to end.
for _ in range(100):
    binding.drive(pose_at(world.get_time_after(1)))
    world.step()

# The hand, at rest 30 cm from the elbow along x, is now above it.
hand = flesh.point_create((0.3, 0, 0)).position
measures = flesh.measures
print(f"the hand is at ({hand[0]:.3f}, {hand[1]:.3f}, {hand[2]:.3f}) m; the flesh has "
      f"{100 * measures.volume / measures.rest_volume:.1f} % of its volume")
if len(sys.argv) > 1:
    world.render("strain").save(sys.argv[1])
