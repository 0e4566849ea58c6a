# Labels: slow
"""The commands of docs/getting-started.md, docs/frames.md, docs/grain.md and docs/tissues.md do what the pages say; long runs are cut to two steps."""
import os
import re
import shlex

import program

PAGE = os.path.join(program.ROOT, "docs", "getting-started.md")


def test_getting_started():
    with open(PAGE, encoding="utf-8") as file:
        page = file.read()
    commands = re.findall(r"^build/sinew ([^\n]*)$", page, flags=re.M)
    assert len(commands) >= 8, commands
    with program.folder() as out:
        os.symlink(program.EXAMPLES, os.path.join(out, "examples"))
        for command in commands:
            words = shlex.split(command)
            if words[0] == "run" and "--steps" not in words:
                words += ["--steps", "2"]
            result = program.run(*words, cwd=out)
            assert result.returncode == 0, (command, result.stderr)
        for name in ("preview.png", "scene.glb", "bar.pvd", "bar_00000.vtu", "probes.csv"):
            assert os.path.exists(os.path.join(out, "out", name)), name
        (scene,) = re.findall(r"^```json\n(.*?)^```", page, flags=re.M | re.S)
        with open(os.path.join(out, "solid.json"), "w", encoding="utf-8") as file:
            file.write(scene)
        assert program.run("check", "solid.json", cwd=out).returncode == 0
        shape = re.search(r'`"shape": (\{[^`]*\})`', page).group(1)
        result = program.run("check", "solid.json", "--set", "bodies[0].shape=" + shape, cwd=out)
        assert result.returncode == 0, result.stderr


def test_frames():
    with open(os.path.join(program.ROOT, "docs", "frames.md"), encoding="utf-8") as file:
        page = file.read()
    with program.folder() as out:
        os.symlink(program.EXAMPLES, os.path.join(out, "examples"))
        for command in re.findall(r"^build/sinew ([^\n]*)$", page, flags=re.M):
            words = shlex.split(command)
            result = program.run(*words, *(["--steps", "2"] if words[0] == "run" else []), cwd=out)
            assert result.returncode == 0, (command, result.stderr)
        for name in ("preview.png", "three.pvd", "three_frames.pvd", "three_skin.glb"):
            assert os.path.exists(os.path.join(out, "out", name)), name
        scenes = re.findall(r"^```json\n(.*?)^```", page, flags=re.M | re.S)
        assert len(scenes) == 2
        for scene in scenes:
            with open(os.path.join(out, "scene.json"), "w", encoding="utf-8") as file:
                file.write(scene)
            result = program.run("run", "scene.json", "-o", "scene", "--steps", "5", cwd=out)
            assert result.returncode == 0, result.stderr


def test_grain():
    with open(os.path.join(program.ROOT, "docs", "grain.md"), encoding="utf-8") as file:
        page = file.read()
    with program.folder() as out:
        os.symlink(program.EXAMPLES, os.path.join(out, "examples"))
        (scene,) = re.findall(r"^```json\n(.*?)^```", page, flags=re.M | re.S)
        with open(os.path.join(out, "grain.json"), "w", encoding="utf-8") as file:
            file.write(scene)
        commands = re.findall(r"^build/sinew ([^\n]*)$", page, flags=re.M)
        examples = [name for name in os.listdir(program.EXAMPLES) if name.startswith("grain-")]
        assert len(commands) == 1 + len(examples) and all(name in page for name in examples), commands
        for command in commands:
            result = program.run(*shlex.split(command), "--steps", "2", cwd=out)
            assert result.returncode == 0, (command, result.stderr)
        with open(os.path.join(out, "hand.field"), "w", encoding="utf-8") as file:
            file.write(re.search(r"^```\n(sinew-field.*?)^```", page, flags=re.M | re.S).group(1))
        for command in ("inspect hand.field", re.search(r"`build/sinew (inspect [^`]*)`", page).group(1)):
            result = program.run(*shlex.split(command), cwd=out)
            assert result.returncode == 0 and "axes: fibres" in result.stdout, (command, result.stderr)
        again = "bodies[0].field=" + re.search(r'`"field": (\{ "file"[^`]*\})`', page).group(1).replace("bar.", "out/bar.")
        turned = "bodies[0].field=" + re.search(r'`"field": (\{ "rotation"[^`]*\})`', page).group(1)
        for setting in (again, turned):
            result = program.run("run", "grain.json", "-o", "again", "--steps", "2", "--set", setting, cwd=out)
            assert result.returncode == 0, (setting, result.stderr)


def test_tissues():
    with open(os.path.join(program.ROOT, "docs", "tissues.md"), encoding="utf-8") as file:
        page = file.read()
    with program.folder() as out:
        os.symlink(program.EXAMPLES, os.path.join(out, "examples"))
        (table,) = re.findall(r"^```json\n(.*?)^```", page, flags=re.M | re.S)
        with open(os.path.join(out, "table.json"), "w", encoding="utf-8") as file:
            file.write(table)
        for command in re.findall(r"^build/sinew ([^\n]*)$", page, flags=re.M):
            words = shlex.split(command)
            result = program.run(*words, *(["--steps", "2"] if words[0] == "run" else ["--tissues", "table.json"]), cwd=out)
            assert result.returncode == 0, (command, result.stderr)
        files = re.findall(r"^\| `([a-z.]+)` \|", page, flags=re.M)
        assert len(files) == 6, files
        for name in set(files) - {"surface.ply"}:
            assert os.path.exists(os.path.join(out, "steak", name)), name


program.main([value for name, value in list(globals().items()) if name.startswith("test_")])
