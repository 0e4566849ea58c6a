"""A ball rolls down a slope and pushes a door open, which hangs on a hinge."""
import math

import sinew

world = sinew.World()

# The slope, across x.
angle = 0.15
world.add_obstacle("plane", rotation=(0, math.sin(angle / 2), 0, math.cos(angle / 2)))


def add(kind, size, position):
    cell_size = size[0] / 16 if kind == "sphere" else size[2]
    surface = sinew.shape(kind, element="triangle", cell_size=cell_size, size=size)
    return world.add_rigid(surface, density=700, position=position)


# A ball of 0.2 m, and a door 0.6 m further down, on a hinge along z, at its edge.
ball = add("sphere", (0.2, 0.2, 0.2), (0, 0.1, 0.1013))
door = add("box", (0.03, 0.4, 0.4), (0.6, 0, 0.13))
joint = world.rigid_joint_create(sinew.RigidJointDef(kind="hinge", body=door, position=(0.6, -0.2, 0.13)))

largest = 0.0
for step in range(1, 201):
    world.step()
    force, _ = joint.force
    x, _ = ball.frame_get_node(0)
    largest = max(largest, abs(force[0]))
    if step % 25 == 0:
        print(f"{0.01 * step:4.2f} s: ball at x = {x[0]:5.2f} m, door at {joint.angle * 57.29578:5.1f} degrees, {force[0]:6.1f} N along x")

_, gap = joint.position
print(f"the hinge is open by {gap:.1e} m; its largest force was {largest:.0f} N")
