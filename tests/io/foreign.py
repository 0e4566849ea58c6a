"""What the scripts test_foreign_*.py share: samples to read, tools that may be missing, comparisons."""
import importlib
import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
BUILD = pathlib.Path(os.environ.get("SINEW_BUILD", ROOT / "build"))


def skip(why):
    print(f"skipped: {why}")
    sys.exit(77)


def need_modules(*names):
    """Imports modules; if this Python does not have them but the system's does, runs the script there."""
    try:
        return [importlib.import_module(name) for name in names]
    except ImportError as error:
        system = "/usr/bin/python3"
        if os.path.exists(system) and os.environ.get("SINEW_FOREIGN_PYTHON") != "1":
            os.environ["SINEW_FOREIGN_PYTHON"] = "1"
            os.execv(system, [system, *sys.argv])
        skip(f"Python has no module {error.name}")


def need_program(name):
    path = shutil.which(name)
    if not path:
        skip(f"{name} is not installed")
    return path


def write_samples():
    """A fresh folder of samples, one for each test, so that tests can run side by side."""
    folder = pathlib.Path(tempfile.mkdtemp(prefix="samples-", dir=BUILD))
    program = BUILD / "tests" / "test_write_files"
    subprocess.run([program, folder], check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    return folder


VALIDATOR_SCRIPT = """
const validator = require('gltf-validator'), fs = require('fs');
validator.validateBytes(new Uint8Array(fs.readFileSync(process.argv[1])), {maxIssues: 20})
  .then(report => console.log(JSON.stringify(report)), error => { console.error(error); process.exit(1); });
"""


def need_validator():
    """A function that fails unless the Khronos validator finds neither errors nor warnings in a GLB file."""
    node, modules = need_program("node"), ROOT / "build" / "tools" / "node_modules"
    if not (modules / "gltf-validator" / "package.json").exists():
        skip("gltf-validator is not installed (scripts/setup test)")

    def validate(path):
        result = subprocess.run([node, "-e", VALIDATOR_SCRIPT, path], capture_output=True, text=True,
                                env={**os.environ, "NODE_PATH": str(modules)})
        check(f"the validator runs: {result.stderr}", result.returncode == 0)
        issues = json.loads(result.stdout)["issues"]
        check(f"{path}: {issues['messages']}", issues["numErrors"] == 0 and issues["numWarnings"] == 0)

    return validate


BLENDER_BEGIN = """import math, os, sys
import bpy
try:
    import numpy
except ImportError:
    print("NO NUMPY")
    os._exit(1)
if "bool" not in vars(numpy):  # Debian 12's Blender 3.4 still asks for a name that its numpy 1.24 has dropped
    numpy.bool = bool
folder = sys.argv[sys.argv.index("--") + 1]

def fail(what):
    print("FAILED:", what)
    sys.stdout.flush()
    os._exit(1)

"""


def run_blender(script, folder):
    """Runs a script in Blender without a display, after BLENDER_BEGIN; it must print ALL WELL."""
    blender = need_program("blender")
    path = pathlib.Path(folder) / "check.py"
    path.write_text(BLENDER_BEGIN + script)
    # Blender looks for its Python along the path; another one there would be taken instead of the system's.
    result = subprocess.run([blender, "--background", "--factory-startup", "--python", path, "--", folder], capture_output=True,
                            text=True, env={**os.environ, "PATH": "/usr/bin:/bin"})
    output = result.stdout + result.stderr
    if "NO NUMPY" in output.splitlines():
        skip("Blender finds no numpy (python3-numpy)")
    check(output, result.returncode == 0 and "ALL WELL" in output)


def check_close(what, found, expected, tolerance):
    if not abs(found - expected) <= tolerance:
        sys.exit(f"{what}: {found}, expected {expected} within {tolerance}")


def check(what, good):
    if not good:
        sys.exit(f"failed: {what}")
