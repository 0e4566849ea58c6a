"""The checks of the soak test for intersections, which must be able to fail: surfaces that cross are found, others are not."""
import os
import sys
import tempfile

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import soak  # noqa: E402

CORNERS = [(x, y, z) for x in (0, 1) for y in (0, 1) for z in (0, 1)]
FACES = [(1, 2, 4), (1, 4, 3), (5, 7, 8), (5, 8, 6), (1, 5, 6), (1, 6, 2), (3, 4, 8), (3, 8, 7), (1, 3, 7), (1, 7, 5), (2, 6, 8), (2, 8, 4)]


def write_boxes(folder, name, places):
    """Boxes of edge 1 at these places as one surface; y is up."""
    lines = []
    for i, place in enumerate(places):
        lines += ["v " + " ".join(str(c + d) for c, d in zip(corner, place)) for corner in CORNERS]
        lines += ["f " + " ".join(str(8 * i + n) for n in face) for face in FACES]
    os.makedirs(os.path.join(folder, "out"), exist_ok=True)
    with open(os.path.join(folder, "out", name + "_00003.obj"), "w") as file:
        file.write("\n".join(lines) + "\n")


def judge(contact, **bodies):
    with tempfile.TemporaryDirectory(prefix="sinew-crossings-") as folder:
        for name, places in bodies.items():
            write_boxes(folder, name, places)
        scene = {"contact": contact, "bodies": [{"name": name, "model": "elastic"} for name in bodies]}
        return soak.find_intersections(scene, folder)


def main():
    if not os.access(soak.CROSSINGS, os.X_OK):
        print("skipped: soak_crossings is not built")
        return 77
    # Between bodies: a corner in the other box, one box inside the other's faces, then a gap of a millionth.
    assert "different bodies" in judge({}, a=[(0, 0, 0)], b=[(0.9, 0.8, 0.7)])
    assert "different bodies" in judge({}, a=[(0, 0, 0)], b=[(0.3, 0.999999, 0.2)])
    assert judge({}, a=[(0, 0, 0)], b=[(0.3, 1.000001, 0.2)]) is None
    assert judge({"bodies": False}, a=[(0, 0, 0)], b=[(0.9, 0.8, 0.7)]) is None

    # Within a body.
    assert "one body" in judge({"self": True}, a=[(0, 0, 0), (0.9, 0.8, 0.7)])
    assert judge({}, a=[(0, 0, 0), (0.9, 0.8, 0.7)]) is None
    assert judge({"self": True}, a=[(0, 0, 0), (1.5, 0, 0)]) is None

    # The ground, which is at 0.
    assert "below the ground" in judge({"ground": True}, a=[(0, -0.001, 0)])
    assert judge({"ground": True}, a=[(0, 0.001, 0)]) is None
    print("ok")
    return 0


sys.exit(main())
