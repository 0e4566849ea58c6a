"""Sinew: elastic solids, fast enough to touch and accurate enough to trust.

    import sinew

    bar = sinew.box(size=(1, 0.2, 0.2), cell_size=0.05)
    world = sinew.World(step=0.01)
    body = world.add_body(bar, young=5e5, stiffness_damping=0.02)
    body.fix(lambda x, y, z: x < -0.499)
    world.run(1.0)
    print(body.positions)

The classes below are thin: every function, definition and enumeration of the C interface is in `sinew._core` under its C name, as a
method of its first argument, and the classes here inherit from those. Arrays are views of C memory; numpy.asarray(body.positions)
makes no copy. Numpy itself is not needed.
"""
from . import _core
from ._core import *  # noqa: F401,F403  every definition, report and enumeration
from ._core import Array, Cancelled, DestroyedError, Diverged, Error, InvalidArgument, InvalidData, IoFailed, NotFound, OutOfMemory, Unsupported
from .batch import Batch
from .context import Context, default_context
from .environment import Environment
from .materials import check_law, material
from .mesh import Mesh, box, cylinder, load_mesh, mesh, shape, sphere, tetrahedralize
from .picture import Picture
from .scene import Scene, load
from .voxels import Voxels
from .world import Body, World

__version__ = _core.version()
