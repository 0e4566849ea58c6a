# The code of docs/python.md runs as printed.
import contextlib
import io
import os
import re
import sys
import tempfile
import unittest

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
BUILD = os.environ.get("SINEW_BUILD", os.path.join(ROOT, "build"))
sys.path.insert(0, os.path.join(BUILD, "python"))

try:
    import sinew
except ImportError as error:
    print(f"skipped: the Python module is not built here ({error})")
    sys.exit(77)


class Guide(unittest.TestCase):
    def test_every_block(self):
        with open(os.path.join(ROOT, "docs", "python.md"), encoding="utf-8") as file:
            blocks = re.findall(r"^```python\n(.*?)^```", file.read(), re.M | re.S)
        self.assertGreater(len(blocks), 5)

        with tempfile.TemporaryDirectory() as folder:
            os.symlink(os.path.join(ROOT, "examples"), os.path.join(folder, "examples"))
            before = os.getcwd()
            os.chdir(folder)
            self.addCleanup(os.chdir, before)
            sinew.sphere(element="triangle").save("body.obj")
            names, printed = {"help": lambda thing: None}, io.StringIO()
            with contextlib.redirect_stdout(printed):
                for block in blocks:
                    exec(compile(block, "python.md", "exec"), names)
            os.chdir(before)

        # Two of the comments are claims.
        self.assertIn("Young's modulus", printed.getvalue())
        self.assertIn("True", printed.getvalue())


if __name__ == "__main__":
    unittest.main()
