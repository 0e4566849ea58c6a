"""A hand touches two bodies, one of tetrahedra and one of frames, with the same code: a ray finds a point of the surface, a spring grabs
it, drags it up and lets go."""
import sinew


def make_bar(world):
    """A bar of tetrahedra along y, held at one end."""
    bar = world.add_body(sinew.box(size=(0.1, 0.4, 0.1), cell_size=0.05), young=5e4, stiffness_damping=0.05)
    bar.fix(lambda x, y, z: y < -0.199)
    return bar


def make_egg(world):
    """An ellipsoid beside it, driven by two frames, one of them held."""
    solid = sinew.SolidDef(solid="sphere", size=(0.2, 0.4, 0.2), center=(0.5, 0, 0))
    voxels = sinew.Voxels.from_solids(solid, resolution=30)
    egg = world.add_frames(voxels, [(0.5, -0.1, 0), (0.5, 0.1, 0)], young=5e4, stiffness_damping=0.05)
    egg.frame_hold(0, sinew.HOLD_ALL)
    return egg


def find_top(body):
    """The highest vertex of a body's surface as it is now. [m]"""
    positions, _ = body.compute_surface()
    return max(point[2] for point in positions)


def drag(world, point):
    """Drags a point up by 5 cm in half a second, and lets go. Returns how high it was lifted, and what the hand felt at last."""
    start = point.position
    hand = world.attach(sinew.AttachmentDef(body=point.body, rest=point.rest, stiffness=500))
    for i in range(1, 51):
        hand.set_target((start[0], start[1], start[2] + 0.001 * i))
        world.step()
    force, height = hand.force, point.position[2] - start[2]
    hand.destroy()
    return height, force[2]


def touch(world, body, name, x):
    # A ray from above, near the free end. All bodies are in its way; it must find this one.
    hit = world.cast((x + 0.01, 0.16, 1), (0, 0, -1))
    point = body.point_create_at(hit.position)
    before = find_top(body)
    height, force = drag(world, point)
    lifted = find_top(body)
    world.run(2.0)  # nobody holds it any more
    after = find_top(body)
    print(f"{name}: the hand lifts the point by {1000 * height:.1f} mm with {force:.2f} N, the surface by {1000 * (lifted - before):.1f} mm; "
          f"released, {1000 * abs(after - before):.1f} mm remain")


# Without gravity only the hand moves the bodies.
world = sinew.World(gravity=(0, 0, 0))
bar, egg = make_bar(world), make_egg(world)
touch(world, bar, "bar", 0)
touch(world, egg, "egg", 0.5)
