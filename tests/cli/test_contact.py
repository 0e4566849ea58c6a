"""Contact of a run: the summary, the table, the meshes and the picture report what touched; tables of friction; mistakes."""
import csv
import json
import os
import re

import program

BOX = {
    "version": 1, "step": 0.01, "steps": 150, "output": {"every": 150},
    "materials": {"rubber": {"young": 1e5, "density": 1000}},
    "contact": {"ground": True},
    "bodies": [{"name": "block", "material": "rubber", "shape": {"kind": "box", "size": [0.2, 0.2, 0.2], "cells": [2, 2, 2]},
                "position": [0, 0, 0.1005], "damping": {"mass": 0.5, "stiffness": 0.01}},
               {"name": "bar", "model": "frames", "material": "rubber", "shape": {"kind": "box", "size": [0.4, 0.1, 0.1]},
                "position": [0, 1, 0.0505], "damping": {"mass": 0.5, "stiffness": 0.01},
                "frames": {"resolution": 16, "nodes": [{"position": [-0.1, 0, 0]}, {"position": [0.1, 0, 0]}]}}],
    "preview": {"count": 1, "size": [120, 90]}}
WEIGHT = {"block": 8 * 9.81, "bar": 4 * 9.81}


def write(out, scene, **changes):
    path = os.path.join(out, "scene.json")
    with open(path, "w") as file:
        json.dump({**scene, **changes}, file)
    return path


def run(out, path, *arguments):
    result = program.run("run", path, "-o", out, "--json", *arguments)
    assert result.returncode == 0, result.stderr
    return json.loads(result.stdout)


def test_modes_in_contact():
    with program.folder() as out:
        path = write(out, BOX)
        free = program.run("modes", path, "-n", "7", "--json")
        assert free.returncode == 0 and "left out" in free.stderr, free
        assert max(json.loads(free.stdout)["frequencies"][:6]) == 0, free.stdout
        stands = program.run("modes", path, "-n", "7", "--json", "--static")
        frequencies = json.loads(stands.stdout)["frequencies"]
        assert stands.returncode == 0 and "left out" not in stands.stderr, stands
        assert min(frequencies) > 1, frequencies  # friction and the floor hold it
        assert program.run("modes", "mesh.obj", "--static").returncode == 1


def test_reports_agree():
    with program.folder() as out:
        contact = run(out, write(out, BOX), "--format", "csv,vtu")["contact"]
        last = list(csv.DictReader(open(os.path.join(out, "contact.csv"))))[-1]
        assert contact["touching_steps"] > 100 and contact["held_steps"] == 0
        assert contact["last_step"]["active"] == int(last["active"]) == sum(b["contacts"] for b in contact["bodies"])
        for body in contact["bodies"]:
            name = body["body"]
            assert abs(body["force"][2] / WEIGHT[name] - 1) < 0.02, body["force"]
            assert float(last[name + "_fz"]) == body["force"][2] and float(last[name + "_area"]) == body["area"] > 0
            assert len(body["positions"]) == body["contacts"] == int(last[name + "_contacts"])
            low, high = min(p[0] for p in body["positions"]), max(p[0] for p in body["positions"])
            assert low <= body["position"][0] <= high and 0 < body["position"][2] < 2e-3, body
        ground = contact["obstacles"][0]
        assert ground["obstacle"] == "ground"
        assert abs(ground["force"][2] + sum(b["force"][2] for b in contact["bodies"])) < 1e-9
        for name in ("block_00001.vtu", "bar_00001.vtu"):
            vtu = open(os.path.join(out, name), "rb").read()
            assert b'Name="contact_force"' in vtu and b'Name="contact_pressure"' in vtu, name


def test_no_contact_no_report():
    with program.folder() as out:
        scene = {key: value for key, value in BOX.items() if key != "contact"}
        summary = run(out, write(out, scene), "--steps", "2", "--format", "csv,vtu")
        assert "contact" not in summary and not os.path.exists(os.path.join(out, "contact.csv"))


def test_the_closing_lines_mention_contact():
    with program.folder() as out:
        text = program.run("run", write(out, BOX), "-o", out, "--format", "csv").stdout
        assert re.search(r"contact: forces in \d+ steps", text) and "contact.csv" in text, text
        scene = {**BOX, "contact": {"ground": {"height": -100}}}
        text = program.run("run", write(out, scene), "-o", out, "--steps", "2", "--format", "csv").stdout
        assert "contact: nothing touched" in text, text


def test_friction_of_a_pair():
    """On a slope of tangent 0.36 a body sticks at 0.5 and slides at 0.1; the other one has no entry."""
    with program.folder() as out:
        ramp = {"kind": "box", "name": "ramp", "size": [9, 9, 1], "position": [0, 0, -0.5]}
        scene = {**BOX, "gravity": [3.3, 0, -9.2], "obstacles": [ramp]}
        scene["bodies"][1]["contact"] = {"material": "cloth"}
        scene["contact"] = {"pairs": [{"between": ["ramp", "rubber"], "friction": 0.1}]}
        scene["probes"] = [{"name": b["name"], "body": b["name"], "point": [0, 0, 0]} for b in scene["bodies"]]
        probes = run(out, write(out, scene), "--steps", "100", "--format", "csv")["probes"]
        assert 0.8 < probes["block"]["displacement"][0] < 1.4, probes["block"]
        assert probes["bar"]["displacement"][0] < 0.01, probes["bar"]


def test_static_solves_rest_on_the_ground():
    """Nothing but the floor holds the block; on a slope without friction nothing does, and the program says so."""
    with program.folder() as out:
        scene = {**BOX, "bodies": [BOX["bodies"][0]], "static": True, "steps": 0, "contact": {"ground": True}}
        report = run(out, write(out, scene))
        weight = -report["contact"]["obstacles"][0]["force"][2]
        assert abs(weight / WEIGHT["block"] - 1) < 1e-5, report["contact"]
        slope = {**scene, "gravity": [3, 0, -9], "contact": {"friction": 0}, "obstacles": [{"kind": "plane"}]}
        result = program.run("run", write(out, slope), "-o", out)
        assert result.returncode == 3 and "did not converge" in result.stderr, result.stderr


def test_mistakes_are_explained():
    with program.folder() as out:
        for key, value, text in (("contact", {"pairs": [{"between": ["rubbr", "ground"], "friction": 1}], "ground": True}, 'did you mean "rubber"'),
                                 ("contact", {"pairs": [{"between": ["rubber"], "friction": 1}]}, "between two"),
                                 ("contact", {"friction": -1}, "contact.friction"),
                                 ("obstacles", [{"kind": "sphere", "color": "red"}], "hexadecimal"),
                                 ("obstacles", [{"kind": "sphere", "opacity": 2}], "opacity")):
            result = program.run("check", write(out, BOX, **{key: value}))
            assert result.returncode == 2 and text in result.stderr, (value, result.stderr)


def test_pictures_show_obstacles_and_contacts():
    with program.folder() as out:
        pictures = []
        ball = {"kind": "sphere", "radius": 0.1, "position": [0, 0.5, 0.3]}
        for changes in ({}, {"obstacles": [ball]}, {"preview": {**BOX["preview"], "contacts": True}}):
            run(out, write(out, BOX, **changes), "--steps", "20", "--format", "png")
            picture = os.path.join(out, "preview.png")
            if not os.path.exists(picture):
                return  # built without libpng
            pictures.append(open(picture, "rb").read())
        assert len(set(pictures)) == 3


program.main([value for name, value in list(globals().items()) if name.startswith("test_")])
