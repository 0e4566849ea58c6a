"""Loads a scene from a file, for example what `sinew rig` wrote, steps it for a second and reports where its bodies are.

    python3 load.py dragon/scene.json
"""
import math
import sys

import sinew

scene = sinew.load(sys.argv[1])
for _ in range(math.ceil(1 / scene.info.step)):
    scene.step()

for index, name in enumerate(scene.bodies):
    points = scene.compute_surface(index)
    middle = [0.0, 0.0, 0.0]
    for k in range(3):
        for point in points:
            middle[k] += point[k] / len(points)
    print(f"after {scene.world.time:g} s {name} is at {middle[0]:.4f} {middle[1]:.4f} {middle[2]:.4f} m")
