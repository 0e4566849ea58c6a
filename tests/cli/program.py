"""Runs the program for the tests of the command line."""
import os
import subprocess
import sys
import tempfile

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
SINEW = os.environ.get("SINEW", os.path.join(ROOT, "build", "sinew"))
PROOF = os.environ.get("SINEW_PROOF", os.path.join(ROOT, "build", "sinew-proof"))
EXAMPLES = os.path.join(ROOT, "examples")


def run(*arguments, **options):
    """The finished process of `sinew ARGUMENTS`."""
    return subprocess.run([SINEW, *map(str, arguments)], capture_output=True, text=True, timeout=100, **options)


def run_python(code, *arguments):
    """The finished process of a short Python program."""
    return subprocess.run([sys.executable, "-c", code, *map(str, arguments)], capture_output=True, text=True, timeout=100)


def folder():
    """A folder that goes away with the returned object."""
    return tempfile.TemporaryDirectory(prefix="sinew-")


def main(tests):
    """Runs the functions one after the other; the exit status says whether all passed."""
    if not os.access(SINEW, os.X_OK):
        print("skipped: the program is not built")
        sys.exit(77)
    failed = 0
    for test in tests:
        try:
            test()
            print("ok  ", test.__name__)
        except AssertionError as error:
            failed += 1
            print("FAIL", test.__name__, error)
    sys.exit(1 if failed else 0)
