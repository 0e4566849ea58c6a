#!/usr/bin/env python3
"""Usage: PYTHONPATH=build/python bench/python.py [--json FILE]

Measures what the Python module costs: a getter, a step, an array, objects, and a batch on several threads. Each figure is the minimum
and the median of seven repeats.
"""
import gc
import json
import os
import statistics
import sys
import time
import tracemalloc

import sinew


def repeat(run, count=7):
    times = []
    for _ in range(count):
        start = time.perf_counter()
        run()
        times.append(time.perf_counter() - start)
    return min(times), statistics.median(times)


def make_frames(index=0, context=None):
    """Five affine frames: a step of about 20 microseconds."""
    context = context or sinew.default_context()
    voxels = sinew.Voxels.from_solids(sinew.SolidDef(size=(1, 0.2, 0.2)), resolution=16, context=context)
    world = sinew.World(context=context)
    body = world.add_frames(voxels, [(x / 5 - 0.4, 0, 0) for x in range(5)], young=1e5 * (1 + index))
    body.frame_hold(0, sinew.HOLD_ALL)
    return world


def main():
    rows = []

    def add(name, unit, least, median, target=None):
        rows.append({"name": name, "unit": unit, "minimum": least, "median": median, "target": target})

    # A getter, without the loop around it.
    world = make_frames()
    count = 200000
    empty = repeat(lambda: [None for _ in range(count)])[0]
    least, median = repeat(lambda: [world.time for _ in range(count)])
    add("getter (world.time)", "us", 1e6 * (least - empty) / count, 1e6 * (median - empty) / count, 0.3)

    # A step from Python, and the same steps in C without returning.
    steps = 2000
    python = repeat(lambda: [world.step() for _ in range(steps)])
    inside = repeat(lambda: sinew._core.step_all([world], steps, 1))
    add("step of 5 frames from Python", "us", 1e6 * python[0] / steps, 1e6 * python[1] / steps)
    add("share of the step that is Python", "%", 100 * (python[0] / inside[0] - 1), 100 * (python[1] / inside[1] - 1), 2)

    # An array of a million numbers and more.
    mesh = sinew.box(cells=(70, 70, 70), element="hex8")
    block = sinew.World().add_body(mesh)
    least, median = repeat(lambda: memoryview(block.positions))
    add(f"view of {3 * block.node_count} numbers", "us", 1e6 * least, 1e6 * median)

    # Objects that come and go.
    tracemalloc.start()
    memory = sinew.default_context().memory
    for _ in range(1000):
        sinew.World()
    gc.collect()
    before = tracemalloc.get_traced_memory()[0]
    for _ in range(100000):
        sinew.World()
    gc.collect()
    grown = tracemalloc.get_traced_memory()[0] - before
    tracemalloc.stop()
    add("growth over 100000 worlds, Python", "byte", grown, grown, 0)
    add("growth over 100000 worlds, library", "byte", sinew.default_context().memory - memory, sinew.default_context().memory - memory, 0)

    # A batch.
    threads = os.cpu_count() or 1
    one, all_of_them = sinew.Batch(make_frames, 64, threads=1), sinew.Batch(make_frames, 64, threads=threads)
    single = repeat(lambda: one.step(100))
    many = repeat(lambda: all_of_them.step(100))
    same = [world.hash for world in one] == [world.hash for world in all_of_them]
    add(f"batch of 64 frame bodies, {threads} threads against 1{'' if same else ' (OTHER BITS)'}", "times", single[0] / many[0],
        single[1] / many[1], 1.8 if threads == 2 else None)

    for row in rows:
        print(f"{row['name']:56} {row['minimum']:12.4g} {row['median']:12.4g} {row['unit']:6}" + (f" (target {row['target']:g})" if row["target"] is not None else ""))
    if len(sys.argv) == 3 and sys.argv[1] == "--json":
        with open(sys.argv[2], "w") as file:
            json.dump(rows, file, indent=2)


main()
