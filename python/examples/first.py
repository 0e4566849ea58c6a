"""A rubber bar, held at one end, bends under its own weight: a mesh, a world, a body, some steps."""
import sinew

# 1 m long, 0.2 m by 0.2 m thick, in cells of 0.05 m.
mesh = sinew.box(size=(1, 0.2, 0.2), cell_size=0.05)
world = sinew.World()
bar = world.add_body(mesh, young=5e5, density=1000, stiffness_damping=0.02)

# Hold the end at x = -0.5, and remember a node at the other one.
bar.fix(lambda x, y, z: x < -0.499)
tip = bar.select(lambda x, y, z: x > 0.499)[-1]

print(f"sinew {sinew.__version__}: a bar of {bar.element_count} tetrahedra")
for step in range(1, 101):
    world.step()
    if step % 20 == 0:
        lower = bar.rest_positions[tip][2] - bar.positions[tip][2]
        print(f"after {world.time:.1f} s the free end is {1000 * lower:.0f} mm lower")
