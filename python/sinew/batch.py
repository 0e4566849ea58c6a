"""Many copies of one simulation, stepped side by side."""
import os

from . import _core
from .context import Context
from .scene import load


class Batch:
    """`count` worlds or scenes with different parameters, stepped on all threads.

        def make(index, context):
            world = sinew.World(context=context)
            world.add_body(mesh, young=1e5 * (1 + index))
            return world

        batch = sinew.Batch(make, 64)
        batch.step(100)
        batch[3].bodies[0].positions

    `make` is called with the index of a copy and a context of its own, and returns a World or a Scene. Instead of `make`, the path of a
    scene may be given, with `settings`: for each copy a list of changes such as ["materials.gel.young=2e5"].

    Each copy is stepped by one thread, so the results have the same bits as one by one.
    """

    def __init__(self, make, count=None, threads=None, settings=None):
        if not callable(make):
            path = make
            settings = settings or [()] * (count or 1)
            count = len(settings)

            def make(index, context):
                return load(path, settings=settings[index], context=context)

        self.threads = min(threads or os.cpu_count() or 1, 64)
        self.items = [make(index, Context()) for index in range(count)]

    def step(self, count=1):
        """Advances every copy by `count` steps. If one fails, the others are still advanced; then its exception is raised."""
        _core.step_all(self.items, count, self.threads)

    def __len__(self):
        return len(self.items)

    def __getitem__(self, index):
        return self.items[index]

    def __iter__(self):
        return iter(self.items)
