# Labels: foreign
"""The Khronos validator and Assimp accept what soften makes of three generated characters."""
import os
import pathlib
import subprocess
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "cli"))
import foreign  # noqa: E402
from characters import person  # noqa: E402

validate = foreign.need_validator()
assimp = foreign.need_program("assimp")
with tempfile.TemporaryDirectory() as folder:
    for kind in "lean", "stout", "child":
        source = os.path.join(folder, f"{kind}.glb")
        person(kind).save(source)
        validate(source)
        for options in (), ("--motion", str(foreign.ROOT / "examples" / "walk.bvh")), ("--as", "joints"):
            out = os.path.join(folder, "out.glb")
            result = subprocess.run([str(foreign.BUILD / "sinew"), "soften", source, "-n", "2000", "-r", "10", "-o", out, *options],
                                    capture_output=True, text=True)
            foreign.check(f"soften {kind} {options}: {result.stderr}", result.returncode == 0)
            validate(out)
            read = subprocess.run([assimp, "info", out], capture_output=True, text=True)
            foreign.check(f"Assimp reads {kind} {options}: {read.stdout[-500:]}", read.returncode == 0 and "Animations:" in read.stdout)
print("nobody objects to softened characters")
