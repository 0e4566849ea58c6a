# Labels: slow
"""sinew run: every example at reduced length, outputs, checkpoints, settings, signals, exit statuses."""
import csv
import glob
import json
import os
import re
import signal
import subprocess
import time

import program

BAR = os.path.join(program.EXAMPLES, "bar.json")


def test_every_example_runs():
    names = sorted(glob.glob(os.path.join(program.EXAMPLES, "*.json")))
    assert len(names) >= 10, names
    for name in names:
        with program.folder() as out:
            result = program.run("run", name, "--steps", 2, "-o", out, "--json", "--format", "vtu,glb,png")
            assert result.returncode == 0, (name, result.stderr)
            summary = json.loads(result.stdout)
            assert summary["outcome"] == "completed", summary
            assert os.path.getsize(os.path.join(out, "preview.png")) > 5000, name
            assert glob.glob(os.path.join(out, "*.glb")) and glob.glob(os.path.join(out, "*.pvd")), name


def test_every_example_has_a_picture_and_a_line():
    readme = open(os.path.join(program.EXAMPLES, "README.md")).read()
    for name in glob.glob(os.path.join(program.EXAMPLES, "*.json")):
        name = os.path.basename(name)[:-5]
        assert f"{name}.json" in readme, name
        assert os.path.exists(os.path.join(program.ROOT, "docs", "images", name + ".png")), name


def test_all_formats_are_written():
    with program.folder() as out:
        result = program.run("run", BAR, "--steps", 2, "-o", out, "--format", "vtu,ply,obj,glb,pc2,csv,png")
        assert result.returncode == 0, result.stderr
        for name in ("bar.pvd", "bar_00002.vtu", "bar_00001.ply", "bar_00000.obj", "scene.glb", "bar.pc2", "probes.csv", "preview.png"):
            assert os.path.getsize(os.path.join(out, name)) > 100, name
        rows = list(csv.DictReader(open(os.path.join(out, "probes.csv"))))
        assert len(rows) == 3 and float(rows[2]["tip_uz"]) < 0, rows
        assert not glob.glob(os.path.join(out, "*.tmp"))


def test_checkpoint_continues_bitwise():
    with program.folder() as out:
        state = os.path.join(out, "state")
        whole = json.loads(program.run("run", BAR, "--steps", 8, "-o", out, "--json").stdout)
        assert program.run("run", BAR, "--steps", 3, "-o", out, "--checkpoint", state, "-q").returncode == 0
        rest = json.loads(program.run("run", BAR, "--steps", 8, "-o", out, "--resume", state, "--json").stdout)
        assert rest["steps"] == 5 and rest["hash"] == whole["hash"], (rest, whole)


def test_threads_do_not_change_the_result():
    with program.folder() as out:
        hashes = {json.loads(program.run("run", BAR, "--steps", 3, "-o", out, "-t", n, "--json").stdout)["hash"] for n in (1, 2, 4)}
        assert len(hashes) == 1, hashes


def test_settings_change_the_scene():
    with program.folder() as out:
        soft, stiff = (json.loads(program.run("run", BAR, "--steps", 20, "-o", out, "--json", "-s", f"materials.gel.young={young}").stdout)
                       for young in (1e5, 1e7))
        assert soft["probes"]["tip"]["displacement"][2] < 3 * stiff["probes"]["tip"]["displacement"][2] < 0


def test_residual_of_the_nonlinear_equations_is_reported():
    found = {}
    for integrator in ("implicit-euler", "newton-euler"):
        with program.folder() as out:
            result = program.run("run", BAR, "--steps", 40, "--json", "--format", "csv", "-o", out, "--set", f"integrator={integrator}")
            assert result.returncode == 0, result.stderr
            found[integrator] = json.loads(result.stdout)["iterations"]["largest_residual"]
    assert found["implicit-euler"] > 1e-3 and 0 < found["newton-euler"] < 1e-4, found


def test_interrupt_leaves_everything_valid():
    with program.folder() as out:
        process = subprocess.Popen([program.SINEW, "run", BAR, "--steps", "1000000", "-o", out, "--json=" + out + "/summary.json",
                                    "-s", "output.every=1000"], stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        time.sleep(1.5)
        process.send_signal(signal.SIGINT)
        assert process.wait(timeout=60) == 0, process.stderr.read()
        assert json.load(open(out + "/summary.json"))["outcome"] == "stopped"
        assert os.path.getsize(out + "/preview.png") > 1000 and os.path.getsize(out + "/scene.glb") > 1000


def test_mistakes_have_a_place_and_status_2():
    with program.folder() as out:
        scene = os.path.join(out, "bad.json")
        open(scene, "w").write('{ "version": 1,\n  "stepp": 3,\n  "bodies": [ { "shape": { "kind": "bx" } } ] }')
        result = program.run("run", scene, "-o", out)
        assert result.returncode == 2
        assert "bad.json:2:3: stepp" in result.stderr and 'did you mean "step"' in result.stderr, result.stderr
        assert "bad.json:3:" in result.stderr and '"box"' in result.stderr, result.stderr
        for text in ("", "{", "[]", "null", '{"version": 1e999}', "[" * 10000, "\x00\xff", '{"version": 1, "bodies": []}'):
            open(scene, "w", encoding="latin-1").write(text)
            assert program.run("run", scene, "-o", out).returncode == 2, text
        assert program.run("run", os.path.join(out, "nowhere.json")).returncode == 2


def test_wrong_usage_is_status_1():
    result = program.run("rum")
    assert result.returncode == 1 and "run" in result.stderr
    result = program.run("run", BAR, "--stps", 3)
    assert result.returncode == 1 and "steps" in result.stderr
    assert program.run("run", BAR, "--format", "vtx").returncode == 1
    assert program.run("run", BAR, "--steps", "many").returncode == 1


def test_divergence_is_status_3_and_keeps_the_state():
    with program.folder() as out:
        result = program.run("run", BAR, "-o", out, "--steps", 4000, "-s", "integrator=symplectic-euler", "-s", "step=0.05",
                             "-s", "output.every=1000")
        assert result.returncode == 3, (result.returncode, result.stderr)
        assert "unstable" in result.stderr, result.stderr
        assert os.path.getsize(os.path.join(out, "last.state")) > 1000
        assert os.path.getsize(os.path.join(out, "preview.png")) > 1000


def test_static_solves_say_how_they_converged():
    scene = os.path.join(program.EXAMPLES, "cantilever-static.json")
    with program.folder() as out:
        text = program.run("run", scene, "-o", out, "--format", "csv", "-n", 0).stdout
        iterations, residual = re.search(r"equilibrium after (\d+) iterations, relative residual (\S+)", text).groups()
        assert int(iterations) >= 4 and float(residual) < 1e-8, text  # four load steps; the scene's tolerance


def test_static_solves_that_fail_say_why():
    scene = os.path.join(program.EXAMPLES, "cantilever-static.json")
    with program.folder() as out:
        result = program.run("run", scene, "-o", out, "--json", "--format", "csv", "-n", 0, "-s", "static.iterations=2")
        assert result.returncode == 3, (result.returncode, result.stderr)
        summary = json.loads(result.stdout)
        assert summary["outcome"] == "diverged" and "did not converge" in summary["reason"], summary
        assert summary["static"]["outcome"] == "iteration limit" and summary["static"]["residual"] > 1e-8, summary
        assert summary["static"]["iterations"] == 8, summary
        result = program.run("run", scene, "-o", out, "--format", "csv", "-n", 0, "-s", "bodies[0].fixed=[]")
        assert result.returncode == 2 and "translate along x" in result.stderr, (result.returncode, result.stderr)


def test_help_of_a_command():
    """`sinew help COMMAND` is the same as `sinew COMMAND --help`, and an unknown command is refused by name."""
    assert program.run("help", "run").stdout == program.run("run", "--help").stdout
    refused = program.run("help", "rnu")
    assert refused.returncode == 1 and "'run'" in refused.stderr, refused.stderr


def test_help_fits_a_screen():
    for command in ("", "run", "new", "check", "list", "inspect", "convert", "modes", "tetrahedralize"):
        result = program.run(*([command] if command else []), "--help")
        lines = result.stdout.split("\n")
        assert result.returncode == 0 and len(lines) <= 26 and max(map(len, lines)) <= 100, (command, len(lines))


program.main([value for name, value in list(globals().items()) if name.startswith("test_")])
