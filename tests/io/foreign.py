"""What the scripts test_foreign_*.py share: samples to read, tools that may be missing, comparisons."""
import importlib
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile

BUILD = pathlib.Path(os.environ.get("SINEW_BUILD", pathlib.Path(__file__).resolve().parents[2] / "build"))


def skip(why):
    print(f"skipped: {why}")
    sys.exit(77)


def need_modules(*names):
    """Imports modules; if this Python lacks them but the system's has them, runs the script there."""
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


def check_close(what, found, expected, tolerance):
    if not abs(found - expected) <= tolerance:
        sys.exit(f"{what}: {found}, expected {expected} within {tolerance}")


def check(what, good):
    if not good:
        sys.exit(f"failed: {what}")
