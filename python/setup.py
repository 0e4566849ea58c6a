"""Builds the extension with CMake. The package needs the project around it: `pip install --no-build-isolation ./python`."""
import os
import re
import shutil
import subprocess

from setuptools import Extension, setup
from setuptools.command.build_ext import build_ext

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(HERE)


def read_version():
    text = open(os.path.join(ROOT, "include", "sinew", "base.h"), encoding="utf-8").read()
    return ".".join(re.findall(r"^#define SINEW_VERSION_(?:MAJOR|MINOR|PATCH) (\d+)", text, re.M))


class Build(build_ext):
    def build_extension(self, extension):
        # A build of the project that exists already (scripts/python has one), or one of its own with the libraries alone.
        folder, options = os.environ.get("SINEW_BUILD"), ["-DSINEW_PYTHON=ON"]
        if not folder:
            folder = os.path.abspath(os.path.join(self.build_temp, "cmake"))
            options += ["-DCMAKE_BUILD_TYPE=Release"] + [f"-DSINEW_{part}=OFF" for part in ("PROGRAM", "PROOF", "EXAMPLES", "PEERS", "INSTALL")]
        subprocess.run(["cmake", "-S", ROOT, "-B", folder, *options], check=True)
        subprocess.run(["cmake", "--build", folder, "--target", "sinew_python", "--parallel", str(os.cpu_count())], check=True)
        target = self.get_ext_fullpath(extension.name)
        os.makedirs(os.path.dirname(target), exist_ok=True)
        built = os.path.join(folder, "python", "sinew")
        shutil.copy(os.path.join(built, "_core.abi3.so"), target)
        shutil.copy(os.path.join(built, "_core.pyi"), os.path.dirname(target))


setup(version=read_version(), ext_modules=[Extension("sinew._core", [], py_limited_api=True)], cmdclass={"build_ext": Build},
      options={"bdist_wheel": {"py_limited_api": "cp311"}})
