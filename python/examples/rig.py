"""From a solid of several tissues to a model that runs, in one call: a tail of muscle with a bone in its root and a tendon along one
side. The frames are placed, their reach follows the stiffness, and the report says what came out and which step to take."""
import math

import sinew

MUSCLE, TENDON, BONE = 1, 2, 3


def cylinder(label, diameter, length, x, z):
    """A cylinder along z: added, or painted over what is there already."""
    return sinew.SolidDef(solid="cylinder", operation="add" if label == MUSCLE else "paint", label=label, size=(diameter, diameter, length),
                          center=(x, 0, z))


def tissue(label, young, density, rigid):
    made = sinew.AutorigTissue(label=label, rigid=rigid)
    made.material.young, made.material.density = young, density
    return made


voxels = sinew.Voxels.from_solids(cylinder(MUSCLE, 0.1, 0.4, 0, -0.2), cylinder(TENDON, 0.02, 0.4, 0.03, -0.2),
                                  cylinder(BONE, 0.06, 0.1, 0, -0.05))
world = sinew.World()
tissues = [tissue(MUSCLE, 3e4, 1060, False), tissue(TENDON, 3e5, 1100, False), tissue(BONE, 1e9, 1900, True)]
report, tail = world.autorig_create(sinew.AutorigDef(name="tail", voxels=voxels, tissues=tissues, stiffness_damping=0.005))

print(f"{report.voxel_count} voxels, {report.mass:.2f} kg, on {tail.frame_node_count} frames ({report.rigid_node_count} in bone): "
      f"{report.unknown_count} unknowns, {report.sampling.sample_count} samples")
print(f"a frame holds {100 * report.coverage[0]:.0f} to {100 * report.coverage[1]:.0f} % of the volume; lowest frequency "
      f"{report.frequency[0]:.1f} Hz; advised step {1000 * report.advised_step:.1f} ms")
world.change(step=report.advised_step)

# The first frame is that of the bone. It swings to and fro by 20 mm, twice a second, and the tail follows.
tail.frame_hold(0, sinew.HOLD_ALL)
bone = list(tail.frame_get_node(0)[0])
point = tail.point_create((0, 0, -0.4))
x, leftmost, rightmost = bone[0], 0.0, 0.0
while world.time < 1:
    t = world.time + report.advised_step
    bone[0] = x + 0.02 * math.sin(2 * 3.14159265358979 * 2 * t)
    tail.frame_move(0, bone)
    world.step()
    at = point.position
    leftmost, rightmost = min(leftmost, at[0]), max(rightmost, at[0])

measures = world.measures
print(f"while the bone swings by 20 mm the tip swings from {1000 * leftmost:.0f} to {1000 * rightmost:.0f} mm; "
      f"volume {100 * measures.volume / measures.rest_volume:.1f} %")
