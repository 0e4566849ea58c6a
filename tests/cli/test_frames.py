# Labels: slow
"""sinew run on bodies of frames: every format, checkpoints, threads, pictures, skins and their errors, mistakes."""
import csv
import glob
import json
import os

import program

BAR = {
    "version": 1, "step": 0.01, "steps": 12, "output": {"every": 2},
    "materials": {"gel": {"young": 2e5, "poisson": 0.3}},
    "bodies": [{"name": "bar", "model": "frames", "material": "gel", "shape": {"kind": "box", "size": [1, 0.2, 0.2]},
                "frames": {"resolution": 20, "weights": {"kind": "axis"}, "sampling": {"kind": "midpoint", "count": 100},
                           "nodes": [{"position": [-0.45, 0, 0], "hold": "all"}, {"position": [0, 0, 0]}, {"position": [0.45, 0, 0]}]}}],
    "probes": [{"name": "tip", "point": [0.5, 0, 0]}, {"name": "middle", "point": [-0.2, 0, 0.09]}]}


def write(out, scene, **changes):
    path = os.path.join(out, "scene.json")
    with open(path, "w") as file:
        json.dump({**scene, **changes}, file)
    return path


def run(out, path, *arguments):
    result = program.run("run", path, "-o", out, "--json", *arguments)
    assert result.returncode == 0, result.stderr
    return json.loads(result.stdout)


def test_all_formats_are_written():
    with program.folder() as out:
        summary = run(out, write(out, BAR), "--format", "vtu,ply,obj,glb,pc2,csv,png,skin")
        for name in ("bar.pvd", "bar_00002.vtu", "bar_frames.pvd", "bar_frames_00001.vtu", "bar_00001.ply", "bar_00000.obj",
                     "scene.glb", "bar.pc2", "bar_skin.glb", "probes.csv", "preview.png"):
            assert os.path.getsize(os.path.join(out, name)) > 100, name
        vtu = open(os.path.join(out, "bar_00002.vtu"), "rb").read()
        assert b'Name="weights"' in vtu and b'NumberOfComponents="3"' in vtu and b'Name="von_mises"' in vtu
        rows = list(csv.DictReader(open(os.path.join(out, "probes.csv"))))
        assert len(rows) == 13 and float(rows[-1]["tip_uz"]) < 0 and float(rows[-1]["middle_von_mises"]) > 10
        assert summary["probes"]["tip"]["displacement"][2] < 0


def test_rigid_frames_are_an_exact_skin_and_affine_ones_tell_their_error():
    with program.folder() as out:
        skin = run(out, write(out, BAR), "--format", "skin")["skins"]["bar"]
        assert skin["joints"] == 3 and skin["truncated_weight"] < 1e-12 and skin["fit_error"] < 1e-12
        assert skin["largest_error"] < 1e-6, skin  # floats in the file
        affine = run(out, write(out, BAR), "--format", "skin", "-s", "bodies[0].frames.kind=affine",
                     "-s", 'bodies[0].frames.nodes[2].motion={"translate": [{"keys": [[0, 0], [0.1, 0.2]]}, 0, 0]}')["skins"]["bar"]
        assert 1e-5 < affine["fit_error"] < 0.1 and abs(affine["largest_error"] - affine["fit_error"]) < 1e-6, affine


def test_dual_quaternions_tell_what_a_linear_skin_costs():
    with program.folder() as out:
        skin = run(out, write(out, BAR), "--format", "skin", "-s", "bodies[0].frames.blend=dual-quaternion", "-s",
                   'bodies[0].frames.nodes[2].motion={"rotate": {"axis": [1, 0, 0], "degrees": {"keys": [[0, 0], [0.12, 120]]}}}')["skins"]["bar"]
        # Half way between frames that are turned apart by a the linear blend shrinks by 1 - cos a/2; a is at most 120 degrees.
        assert 1e-3 < skin["largest_error"] < 0.5 * 0.1415 and skin["truncated_weight"] < 1e-12, skin


def test_truncation_is_reported():
    with program.folder() as out:
        many = ["-s", 'bodies[0].frames={"resolution": 16, "count": 10, "weights": {"kind": "harmonic"}}', "--format", "skin"]
        four = run(out, write(out, BAR), *many)["skins"]["bar"]
        eight = run(out, write(out, BAR), *many, "-s", "output.skin_joints=8")["skins"]["bar"]
        reported = run(out, write(out, BAR), *many, "--steps", 1)["frames"]["bar"]
        assert reported["frames"] == 10 and reported["samples"] > 0 and 0 < reported["residual"] < 1e-9, reported
        assert four["truncated_weight"] > eight["truncated_weight"], (four, eight)
        assert four["largest_error"] == four["error_with_4_joints"] and eight["largest_error"] == eight["error_with_8_joints"]
        assert four["error_with_8_joints"] == eight["error_with_8_joints"], (four, eight)


def test_what_a_skin_loses_is_printed():
    with program.folder() as out:
        path = write(out, BAR)
        rigid = program.run("run", path, "-o", out, "--format", "skin").stdout
        assert "replays the surface within" in rigid and "shear" not in rigid and "joints at a point" not in rigid, rigid
        affine = program.run("run", path, "-o", out, "--format", "skin", "-s", "bodies[0].frames.kind=affine").stdout
        assert "cannot shear" in affine and "glb and pc2 are exact" in affine, affine
        many = program.run("run", path, "-o", out, "--format", "skin", "-s",
                           'bodies[0].frames={"resolution": 16, "count": 14, "weights": {"kind": "radial"}, '
                           '"nodes": [{"position": [-0.4, 0, 0], "hold": "all"}]}').stdout
        assert "with 8 joints at a point" in many, many


def test_probes_fade():
    """A frame joins a bent bar. Without a fade the probe beside it jumps at once, with one it begins where it was."""
    with program.folder() as out:
        bend = ["-s", 'bodies[0].frames.nodes[2]={"position": [0.45, 0, 0], "hold": "all", "motion": {"translate": '
                      '[0, 0, {"keys": [[0, 0], [0.05, 0.3]]}], "rotate": {"axis": [0, 1, 0], "degrees": {"keys": [[0, 0], [0.05, -60]]}}}}',
                "-s", 'probes=[{"name": "p", "point": [0.22, 0.05, 0.1]}]', "-s", "output.every=1", "--format", "csv"]

        def heights(fade):
            joins = [] if fade is None else ["-s", 'bodies[0].frames.insertions=[{"time": 0.07, "position": [0.22, 0, 0], '
                                                   '"range": 0.3, "hold": "all", "fade": %g}]' % fade]
            run(out, write(out, BAR), *bend, *joins, "-s", "bodies[0].frames.nodes[1].hold=all")
            return [float(row["p_uz"]) for row in csv.DictReader(open(os.path.join(out, "probes.csv")))]

        still, sudden, slow = heights(None), heights(0), heights(0.05)
        assert still[7] == sudden[7] == slow[7], (still, sudden, slow)
        jump, begins, ends = (abs(a[8] - still[8]) for a in (sudden, slow, slow))
        ends = abs(slow[12] - sudden[12])
        assert jump > 1e-3 and begins < 0.2 * jump and ends < 0.3 * jump, (still, sudden, slow)


def test_skins_that_cannot_be_are_refused():
    with program.folder() as out:
        path = write(out, BAR)
        result = program.run("run", path, "-o", out, "--format", "skin",
                             "-s", 'bodies[0].frames.insertions=[{"time": 0.05, "position": [0.2, 0, 0], "range": 0.2}]')
        assert result.returncode == 2 and "skin" in result.stderr, result.stderr
        result = program.run("run", os.path.join(program.EXAMPLES, "bar.json"), "-o", out, "--steps", 1, "--format", "skin")
        assert result.returncode == 2 and "needs a frame body" in result.stderr, result.stderr


def test_checkpoints_continue_bitwise():
    with program.folder() as out:
        path, state = write(out, BAR), os.path.join(out, "state")
        joining = ["-s", 'bodies[0].frames.insertions=[{"time": 0.02, "position": [0.2, 0, 0], "range": 0.2, "fade": 0.02}]', "--format", "csv"]
        for more in (["--format", "csv"], joining):
            whole = run(out, path, *more)
            run(out, path, *more, "--steps", 8, "--checkpoint", state)
            rest = run(out, path, *more, "--resume", state)
            assert rest["steps"] == 4 and rest["hash"] == whole["hash"], (rest, whole)


def test_checkpoints_continue_bitwise_while_frames_fade():
    """At every step: before, between and after changes whose fades overlap, also with one frame held and one gone."""
    insertions = [{"time": 0.02, "position": [0.2, 0, 0], "range": 0.2, "fade": 0.03},
                  {"time": 0.04, "position": [-0.2, 0.02, 0], "range": 0.2, "fade": 0.02, "leave": 0.08},
                  {"time": 0.06, "position": [0, 0, 0.03], "range": 0.15, "fade": 0, "hold": "all"}]
    with program.folder() as out:
        path, state = write(out, BAR), os.path.join(out, "state")
        more = ["-s", "bodies[0].frames.insertions=" + json.dumps(insertions), "--format", "csv"]
        whole = run(out, path, *more)
        sizes = []
        for steps in range(1, 12):
            run(out, path, *more, "--steps", steps, "--checkpoint", state)
            sizes.append(os.path.getsize(state))
            rest = run(out, path, *more, "--resume", state)
            assert rest["hash"] == whole["hash"], (steps, rest, whole)
            # A second checkpoint is as good as the first.
            run(out, path, *more, "--resume", state, "--steps", min(steps + 1, 12), "--checkpoint", state)
            assert run(out, path, *more, "--resume", state)["hash"] == whole["hash"], steps
        assert sizes[4] > 3 * sizes[0], sizes  # the states before the changes that fade


def test_checkpoints_continue_bitwise_while_frames_join_at_contacts():
    """Steps 29, 34 and 45 lie before, within and after fades; frames join from step 26 on."""
    with program.folder() as out:
        path, state = os.path.join(program.EXAMPLES, "contact-finger.json"), os.path.join(out, "state")
        more = ["-s", "bodies[1].frames.resolution=16", "-s", "bodies[0].frames.resolution=16", "--format", "csv"]
        whole = run(out, path, *more, "--steps", 50)
        assert whole["frames"]["with"]["frames"] > 2 and whole["frames"]["without"]["frames"] == 2, whole["frames"]
        for steps in (29, 34, 45):
            run(out, path, *more, "--steps", steps, "--checkpoint", state)
            rest = run(out, path, *more, "--resume", state, "--steps", 50)
            assert rest["hash"] == whole["hash"], (steps, rest, whole)


def test_threads_do_not_change_the_result():
    with program.folder() as out:
        hashes = {run(out, write(out, BAR), "-t", n, "--format", "csv")["hash"] for n in (1, 2, 4)}
        assert len(hashes) == 1, hashes


def test_weights_are_drawn():
    with program.folder() as out:
        sizes = []
        for color in ("none", "weights", "speed", "displacement", "stress"):
            run(out, write(out, BAR, preview={"color": color, "size": [160, 120]}), "--format", "png", "--steps", 4)
            sizes.append(open(os.path.join(out, "preview.png"), "rb").read())
        assert len(set(sizes)) == len(sizes)


def test_inspect_and_modes_know_frames():
    with program.folder() as out:
        path = write(out, BAR)
        result = program.run("inspect", path)
        assert result.returncode == 0 and "voxels: 320" in result.stdout and "frames: 3" in result.stdout, result.stdout
        result = program.run("modes", path)
        assert result.returncode == 0 and "Hz" in result.stdout, (result.stdout, result.stderr)


def test_frames_are_held_along_single_axes():
    with program.folder() as out:
        key, path = "bodies[0].frames.nodes[0].hold=", write(out, BAR)
        tips = [run(out, path, "--format", "csv", "-s", key + hold)["probes"]["tip"]["displacement"][2]
                for hold in ('"all"', '["translation", "rotation"]', '["translation", "turn-x", "turn-z"]', '["x", "y"]')]
        assert tips[0] == tips[1] and len(set(tips)) == 3, tips  # fixed, on a hinge, falling
        assert abs(tips[3] + 78 * 9.81e-4) < 1e-9, tips  # freely: 1 + 2 + ... + 12 steps of g h^2
        result = program.run("check", path, "-s", key + '["turn-w"]')
        assert result.returncode == 2 and "turn-z" in result.stderr, result.stderr


def test_mistakes_have_their_place():
    with program.folder() as out:
        path = os.path.join(out, "bad.json")
        open(path, "w").write('{ "version": 1,\n "bodies": [{"shape": {}, "model": "frames",\n  "frames": {"count": 2,\n'
                              '   "weights": {"kind": "harmonik"}, "blend": "dual"}}] }')
        result = program.run("check", path)
        assert result.returncode == 2
        assert "bad.json:4:" in result.stderr and "harmonic" in result.stderr and "dual-quaternion" in result.stderr, result.stderr


program.main([value for name, value in list(globals().items()) if name.startswith("test_")])
