"""Checkpoints: damaged ones and those of other scenes are refused, whatever byte is wrong; interrupted runs leave good ones."""
import json
import os
import random
import signal
import subprocess
import time

import program
from complete import whole_hash, write_scene


def save(out, *options):
    state = os.path.join(out, "state")
    result = program.run("run", write_scene(out), "-o", out, "--steps", 2, "--checkpoint", state, "-q", *options)
    assert result.returncode == 0, result.stderr
    return state


def resume(scene, state, *options):
    return program.run("run", scene, "-o", os.path.dirname(state) + "/out", "--resume", state, "--json", "-f", "csv", *options)


def test_a_checkpoint_continues_bit_for_bit():
    with program.folder() as out:
        state = save(out)
        scene = os.path.join(out, "scene.json")
        rest = resume(scene, state)
        assert rest.returncode == 0 and json.loads(rest.stdout)["hash"] == whole_hash(), rest.stderr
        for change in ("output.every=1", "title=other", "preview.count=2", "steps=7"):
            assert resume(scene, state, "-s", change).returncode == 0, change


def test_damage_is_refused():
    """Flipped bits, cuts and additions, everywhere; the seed is fixed."""
    draw = random.Random(7)
    with program.folder() as out:
        state = save(out)
        good = open(state, "rb").read()
        places = list(range(0, 64)) + [draw.randrange(len(good)) for _ in range(60)]
        for place in places:
            bad = bytearray(good)
            bad[place] ^= 1 << draw.randrange(8)
            open(state, "wb").write(bad)
            result = resume(out + "/scene.json", state)
            assert result.returncode == 2 and "checkpoint" in result.stderr, (place, result)
        for bad in (b"", good[:20], good[:48], good[:-1], good + b"x", b"x" * len(good)):
            open(state, "wb").write(bad)
            result = resume(out + "/scene.json", state)
            assert result.returncode == 2 and "checkpoint" in result.stderr, (len(bad), result)


def test_another_scene_is_refused():
    with program.folder() as out:
        state = save(out)
        for change in ("materials.gel.young=2e5", "bodies[0].shape.cells[0]=5", "step=0.02", "gravity[2]=-1", "bodies[1].name=c"):
            result = resume(out + "/scene.json", state, "-s", change)
            assert result.returncode == 2 and "another scene" in result.stderr, (change, result)


def test_a_changed_file_is_another_scene():
    with program.folder() as out:
        def write_nodes(height):
            open(out + "/x.node", "w").write(f"4 3 0 0\n1 0 0 0\n2 1 0 0\n3 0 1 0\n4 0 0 {height}\n")
        write_nodes(1)
        open(out + "/x.ele", "w").write("1 4 0\n1 1 2 3 4\n")
        scene = write_scene(out, bodies=[{"name": "a", "shape": {"file": "x.node"}, "material": "gel"}], probes=[])
        state = out + "/state"
        assert program.run("run", scene, "-o", out, "--steps", 1, "--checkpoint", state, "-q").returncode == 0
        assert resume(scene, state).returncode == 0
        write_nodes(1.5)
        result = resume(scene, state)
        assert result.returncode == 2 and "another scene" in result.stderr, result


def test_interrupts_end_everything_promptly():
    """During set-up and static solves too; how soon is measured from the signal."""
    with program.folder() as out:
        body = {"name": "a", "shape": {"kind": "box", "size": [1, 1, 1], "cells": [60, 60, 60]}, "material": "gel",
                "fixed": [{"box": {"upper": [-0.5, 9, 9]}}]}
        for static in (False, True):
            changes = {"static": {"load_steps": 50}} if static else {}
            scene = write_scene(out, bodies=[body], probes=[], **changes)
            for wait in (0.3, 1.5, 4):
                process = subprocess.Popen([program.SINEW, "run", scene, "-o", out + "/out", "--json=" + out + "/s.json"],
                                           stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
                time.sleep(wait)
                begin = time.time()
                process.send_signal(signal.SIGINT)
                try:
                    status = process.wait(timeout=60)
                finally:
                    process.kill()
                assert status in (-signal.SIGINT, 130, 0), (static, wait, status, process.stderr.read())
                assert time.time() - begin < 30, (static, wait, time.time() - begin)
                assert not [name for name in os.listdir(out) if name.endswith("tmp")]


program.main([value for name, value in list(globals().items()) if name.startswith("test_")])
