"""Runs random valid scenes and checks what must hold for every one of them.

    python3 tests/soak/soak.py [--scenes N | --seconds S] [--seed SEED] [--keep FOLDER] [SEED...]

A run must be accepted, end by itself, and be either completed or diverged with exit status 3; in both
cases what it keeps has finite numbers and a bounded energy, and with contact no two bodies intersect and none is below the ground. The same scene on one and on three threads has the same hash. Each
failure is minimised: keys are removed while it still fails, and the rest is saved and printed.
"""
import argparse
import copy
import glob
import json
import math
import os
import random
import shutil
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import scenes  # noqa: E402

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
SINEW = os.environ.get("SINEW", os.path.join(ROOT, "build", "sinew"))
CROSSINGS = os.path.join(os.environ.get("SINEW_BUILD", os.path.dirname(SINEW)), "tests", "soak_crossings")
TIMEOUT = float(os.environ.get("SOAK_TIMEOUT", "60"))
COMPLETED, DIVERGED = 0, 3


def run(scene, folder, threads):
    """(exit status, summary, messages) of one run; a status of None means that it did not end."""
    path = os.path.join(folder, "scene.json")
    with open(path, "w") as file:
        json.dump(scene, file)
    shutil.rmtree(os.path.join(folder, "out"), ignore_errors=True)
    command = [SINEW, "run", path, "-q", "-t", str(threads), "-o", os.path.join(folder, "out"), "--json"]
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=TIMEOUT)
    except subprocess.TimeoutExpired:
        return None, {}, f"still running after {TIMEOUT} s"
    try:
        summary = json.loads(done.stdout) if done.stdout.strip() else {}
    except ValueError:
        return done.returncode, None, "the summary is not JSON"
    return done.returncode, summary, done.stderr.strip()


def numbers(value):
    if isinstance(value, dict):
        for item in value.values():
            yield from numbers(item)
    elif isinstance(value, list):
        for item in value:
            yield from numbers(item)
    elif isinstance(value, (int, float)) and not isinstance(value, bool):
        yield value


def judge(scene, folder, both):
    """What is wrong with a run of the scene, as (kind, text); None if nothing is. A run that diverges
    and says so is no failure, but is counted."""
    status, summary, messages = run(scene, folder, 1)
    if status is None:
        return "hang", messages
    if status < 0 or status > 4:
        return "crash", f"exit status {status}: {messages}"
    if status not in (COMPLETED, DIVERGED):
        return "refused", messages
    if summary is None:
        return "summary", messages
    ended = "diverged, keeping" if status == DIVERGED else "completed with"
    if not all(math.isfinite(x) for x in numbers(summary)):
        return "not finite", f"{ended} numbers that are not finite"
    energy = sum(abs(summary["energy"][k] or 0) for k in ("kinetic", "elastic"))
    bound = scenes.energy_bound(scene)
    if energy > bound:
        return "explosion", f"{ended} {energy:.3g} J, where {bound:.3g} J is already too much"
    if status == DIVERGED:
        judge.diverged += 1
        return None
    crossing = find_intersections(scene, folder)
    if crossing:
        return "intersection", crossing
    if both:
        other = run(scene, folder, 3)[1]
        if other and other["hash"] != summary["hash"]:
            return "threads", f"hash {summary['hash']} on one thread, {other['hash']} on three"
    return None


judge.diverged = 0


def find_intersections(scene, folder):
    """What of the last surfaces is where it must not be; None if nothing is."""
    contact = scene.get("contact")
    taking_part = [b for b in scene["bodies"] if contact is not None and b["model"] != "positions"]
    paths = [sorted(glob.glob(os.path.join(folder, "out", glob.escape(b["name"]) + "_*.obj")))[-1:] for b in taking_part]
    paths = [path[0] for path in paths if path]
    if not paths:
        return None
    if contact.get("ground"):  # y is up in these files
        for path in paths:
            with open(path) as file:
                lowest = min((float(line.split()[2]) for line in file if line.startswith("v ")), default=0)
            if lowest < -1e-6:
                return f"{os.path.basename(path)} reaches {-lowest:.3g} m below the ground"
    if not os.access(CROSSINGS, os.X_OK):
        return None
    between, within = map(int, subprocess.run([CROSSINGS, *paths], capture_output=True, text=True, check=True).stdout.split())
    if between and contact.get("bodies", True):
        return f"{between} pairs of triangles of different bodies intersect"
    if within and contact.get("self"):
        return f"{within} pairs of triangles of one body intersect"
    return None


def paths(value, path=()):
    """All keys and list entries of a scene, deepest last."""
    items = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, item in items:
        yield path + (key,)
        yield from paths(item, path + (key,))


def without(scene, path):
    smaller = copy.deepcopy(scene)
    target = smaller
    for key in path[:-1]:
        target = target[key]
    del target[path[-1]]
    return smaller


def minimise(scene, kind, folder):
    """Removes whatever can go while a run fails in the same way."""
    shrinking = True
    while shrinking:
        shrinking = False
        tried = set()
        while True:
            path = next((p for p in paths(scene) if p not in tried), None)
            if path is None:
                break
            tried.add(path)
            smaller = without(scene, path)
            try:
                verdict = judge(smaller, folder, kind == "threads")
            except (KeyError, IndexError, TypeError, ValueError):
                continue  # the bound needs what was removed
            if verdict and verdict[0] == kind:
                scene, shrinking = smaller, True
    return scene


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("seeds", nargs="*", type=int)
    parser.add_argument("--scenes", type=int, default=300)
    parser.add_argument("--seconds", type=float)
    parser.add_argument("--seed", type=int, default=random.randrange(10**9))
    parser.add_argument("--keep", help="folder for the minimised scenes of failures")
    options = parser.parse_args()
    if not os.access(SINEW, os.X_OK):
        sys.exit(f"soak: there is no program {SINEW}; build it first (make)")

    seeds = options.seeds or range(options.seed, options.seed + (10**9 if options.seconds else options.scenes))
    print(f"seed {options.seed}", flush=True)
    begin, counts, failures = time.monotonic(), {}, 0
    with tempfile.TemporaryDirectory(prefix="sinew-soak-") as folder:
        for number, seed in enumerate(seeds):
            if options.seconds and time.monotonic() - begin > options.seconds:
                break
            scene = scenes.make_scene(seed)
            verdict = judge(scene, folder, number % 8 == 0)
            kind = verdict[0] if verdict else "fine"
            counts[kind] = counts.get(kind, 0) + 1
            if not verdict:
                continue
            failures += 1
            print(f"seed {seed}: {verdict[0]}: {verdict[1]}", flush=True)
            if options.keep:
                os.makedirs(options.keep, exist_ok=True)
                with open(os.path.join(options.keep, f"{kind.replace(' ', '-')}-{seed}.json"), "w") as file:
                    json.dump(scene if kind == "hang" else minimise(scene, kind, folder), file, indent=2)
    print(", ".join(f"{count} {kind}" for kind, count in sorted(counts.items())), f"({judge.diverged} diverged and said so) in {time.monotonic() - begin:.0f} s")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
