"""sinew ladder: every model of a tiny bar, the reference first; what it writes, and what it refuses."""
import json
import os

import program

SCENE = """{
  "version": 1, "step": 0.02, "duration": 0.3,
  "materials": { "gel": { "law": "corotational", "young": 2e5, "poisson": 0.3, "density": 1000 } },
  "bodies": [ {
    "name": "bar", "material": "gel", "rotation": { "axis": [0, 0, 1], "degrees": 30 }, "position": [1, 2, 3],
    "shape": { "kind": "box", "size": [1, 0.2, 0.2], "center": [0.5, 0, 0], "cells": [8, 2, 2] },
    "fixed": [ { "box": { "upper": [0, 1, 1] } } ], %s
    "loads": [ { "where": { "box": { "lower": [0.99, -1, -1] } }, %s } ]
  } ]
}"""


def climb(out, *options, more="", load='"force": [0, 10, 0]'):
    scene = os.path.join(out, "bar.json")
    with open(scene, "w") as file:
        file.write(SCENE % (more, load))
    return program.run("ladder", scene, "-o", out, *options)


def test_all_models_are_compared():
    with program.folder() as out:
        result = climb(out, "--json")
        assert result.returncode == 0, result.stderr
        rows = json.loads(result.stdout)
        by_name = {row["name"]: row for row in rows}
        assert all(row["available"] for row in rows), [row for row in rows if not row["available"]]
        assert rows[0]["family"] == "reference" and rows[0]["error"] == 0, rows[0]
        for row in rows[1:]:
            assert row["error"] > 0 and row["step_seconds"] > 0 and row["bytes"] > 1000 and row["unknowns"] > 0, row
        families = {row["family"] for row in rows}
        assert families >= {"rigid frames", "affine frames", "quadratic frames", "spectral frames", "frames with springs", "scene's law", "position dynamics"}, families
        # The same law on the same mesh is the same; ten-node tets and more cells are better; nothing is off the mark.
        assert by_name["tets, corotational"]["error"] == by_name["tets, the scene's law"]["error"]
        assert by_name["ten-node tets"]["error"] < 0.3 * by_name["tets, the scene's law"]["error"]
        assert by_name["tets, the scene's law"]["error"] < by_name["tets, the scene's law, half the cells"]["error"]
        assert by_name["9 quadratic frames"]["error"] < 0.2, by_name["9 quadratic frames"]
        # Six spectral frames are within a few percent (the springs of their support and their voxels included), far closer than
        # linear tets of the scene's own coarse mesh.
        assert by_name["6 spectral frames"]["error"] < 0.08, by_name["6 spectral frames"]
        assert by_name["6 spectral frames"]["error"] < 0.5 * by_name["tets, the scene's law"]["error"]
        assert by_name["position dynamics, 80 iterations"]["error"] < 1.2 * by_name["tets, the scene's law"]["error"]
        assert "<svg" in open(os.path.join(out, "ladder.svg")).read()
        assert "| 9 quadratic frames |" in open(os.path.join(out, "ladder.md")).read()


def test_what_a_model_cannot_show_is_reported():
    with program.folder() as out:
        result = climb(out, "-n", "2", load='"traction": [0, 0, 100]')
        assert result.returncode == 0, result.stderr
        assert "3 rigid frames" in result.stdout and "not available: this model does not support tractions" in result.stdout, result.stdout
        unknown = climb(out, "--body", "bra")
        assert unknown.returncode == 1 and "did you mean 'bar'" in unknown.stderr, unknown.stderr
        still = climb(out, "-n", "0")
        assert still.returncode == 2 and "no steps" in still.stderr, still.stderr


program.main([value for name, value in list(globals().items()) if name.startswith("test_")])
