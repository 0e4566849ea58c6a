"""A chain of programs that runs in the background: one job at a time, with progress, and a way to cancel it."""
# SPDX-License-Identifier: Apache-2.0
import os
import shutil
import subprocess
import tempfile
import time

import bpy

_current = None
last_message = ""


def current():
    return _current


class Job:
    """Steps are functions of the job. Each returns a command to run and the number of its images (0: unknown), or None.

    The next step begins when the command has ended well. The folder of the job is removed at its end.
    """

    def __init__(self, title, steps):
        self.title, self.steps = title, list(steps)
        self.folder = tempfile.mkdtemp(prefix="sinew-")
        self.process, self.images, self.begin, self.error = None, 0, time.time(), ""

    def path(self, name):
        return os.path.join(self.folder, name)

    def progress(self):
        """The share that is done, or None if it is not known."""
        if not self.images or not os.path.isdir(self.path("out")):
            return None
        done = sum(name.endswith(".ply") for name in os.listdir(self.path("out")))
        return min(done / self.images, 1.0)

    def describe(self):
        share = self.progress()
        return f"{self.title}: {100 * share:.0f} %" if share is not None else f"{self.title}: {time.time() - self.begin:.0f} s"

    def _finish(self, message):
        global _current, last_message
        if self.process and self.process.poll() is None:
            self.process.terminate()
            self.process.wait()
        shutil.rmtree(self.folder, ignore_errors=True)
        self.error, last_message = message, message
        self.steps, self.process, _current = [], None, None

    def cancel(self):
        self._finish(f"{self.title}: cancelled")

    def poll(self):
        """Goes on if a command has ended; False once the job is over."""
        try:
            while not self.process or self.process.poll() is not None:
                if self.process and self.process.returncode != 0:
                    with open(self.path("log.txt"), encoding="utf-8", errors="replace") as log:
                        raise RuntimeError(log.read().strip().splitlines()[-1:] or f"exit status {self.process.returncode}")
                if not self.steps:
                    self._finish("")
                    return False
                self.process = None
                made = self.steps.pop(0)(self)
                if made:
                    command, self.images = made
                    with open(self.path("log.txt"), "w", encoding="utf-8") as log:
                        self.process = subprocess.Popen(command, cwd=self.folder, stdout=log, stderr=subprocess.STDOUT)
        except (OSError, RuntimeError, ValueError) as error:
            what = error.args[0] if error.args else error
            self._finish(f"{self.title}: {what[0] if isinstance(what, list) else error}")
            return False
        return True


def _tick():
    if not _current:
        return None
    _current.poll()
    for window in bpy.context.window_manager.windows:
        for area in window.screen.areas:
            if area.type == "VIEW_3D":
                area.tag_redraw()
    return 0.2


def start(made):
    """Begins a job. Without a window it is completed before this returns, for scripts."""
    global _current, last_message
    _current, last_message = made, ""
    if bpy.app.background:
        while made.poll():
            time.sleep(0.02)
    else:
        bpy.app.timers.register(_tick)
