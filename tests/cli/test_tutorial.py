# Labels: slow
"""The scenes and commands of docs/tutorial.md, one after the other; long runs are cut to two steps."""
import os
import re
import shlex
import shutil

import program

PAGE = os.path.join(program.ROOT, "docs", "tutorial.md")


def blocks(page):
    """The fenced blocks in their order: ("json", the file's name in the text above, scene) or ("", "", commands)."""
    for match in re.finditer(r"^```(json|)\n(.*?)^```$", page, flags=re.M | re.S):
        names = re.findall(r"`(\w+\.json)`", page[: match.start()])
        yield match.group(1), names[-1] if names else "", match.group(2)


def test_tutorial():
    with open(PAGE, encoding="utf-8") as file:
        page = file.read()
    ran = written = 0
    with program.folder() as out:
        shutil.copytree(program.EXAMPLES, os.path.join(out, "examples"))  # a link would lead outside
        for kind, name, text in blocks(page):
            if kind == "json":
                written += 1
                with open(os.path.join(out, name), "w", encoding="utf-8") as file:
                    file.write(text)
                result = program.run("check", name, cwd=out)
                assert result.returncode == 0, (name, result.stderr)
                continue
            for command in re.findall(r"^build/sinew ([^\n]*)$", text, flags=re.M):
                words = shlex.split(command)
                if words[0] in ("run", "ladder") and words[-1] != "0" and "--steps 0" not in command:
                    words += ["--steps", "2"]
                result = program.run(*words, cwd=out)
                assert result.returncode == 0, (command, result.stderr)
                ran += 1
        for name in ("bar/scene.glb", "frames/bar_skin.glb", "ladder/ladder.svg", "steak/scene.json", "character/scene.glb"):
            assert os.path.exists(os.path.join(out, name)), name
    assert written == 3 and ran >= 12, (written, ran)


program.main([value for name, value in list(globals().items()) if name.startswith("test_")])
