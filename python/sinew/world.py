"""Worlds and bodies."""
import sys
import time

from . import _core
from .context import default_context
from .materials import material as make_material

_MATERIAL_FIELDS = set(_core.MaterialDef.FIELDS)


def _take_materials(fields):
    """The materials of a body: given as such, or by constants among the other fields."""
    constants = {name: fields.pop(name) for name in list(fields) if name in _MATERIAL_FIELDS}
    given = fields.pop("material", None)
    if given is None or isinstance(given, str) or callable(given):
        return [make_material(given, **constants)]
    if constants:
        raise TypeError(f"{', '.join(constants)}: give them to the material, not to the body")
    return given if isinstance(given, (list, tuple)) else [given]


@_core.register
class World(_core.World):
    """Bodies that move together.

        world = sinew.World(gravity=(0, 0, -9.81), step=0.01, integrator="implicit_euler")

    Keywords are the fields of WorldDef.
    """

    def __new__(cls, context=None, **fields):
        return (context or default_context()).world_create(_core.WorldDef(**fields))

    # Bodies.

    def add_body(self, mesh, **fields):
        """Adds a body of finite elements. Keywords are the fields of BodyDef, and `material` or the constants of one."""
        materials = _take_materials(fields)
        return self.body_create(_core.BodyDef(mesh=mesh, materials=materials, **fields))

    def add_frames(self, voxels, frames=4, kind="affine", **fields):
        """Adds a body of frames in a solid of voxels.

        `frames` is their number, placed where they cover the solid well, or a list of positions. `kind` is that of NodeKind. The other
        keywords are the fields of FrameBodyDef, and `material` or the constants of one.
        """
        materials = _take_materials(fields)
        if isinstance(frames, int):
            context = self.owner
            frames, _ = context.place_nodes(voxels, None, _core.PlacementDef(count=frames))
        nodes = [_core.FrameNode(kind=kind, position=position) for position in frames]
        return self.frame_body_create(_core.FrameBodyDef(voxels=voxels, nodes=nodes, materials=materials, **fields))

    def add_rigid(self, surface, **fields):
        """Adds a rigid body with a closed surface. Keywords are the fields of RigidBodyDef."""
        return self.rigid_body_create(_core.RigidBodyDef(surface=surface, **fields))

    def add_obstacle(self, kind="plane", **fields):
        """Adds an obstacle. Keywords are the fields of ObstacleDef. Needs contact: see enable_contact."""
        return self.obstacle_create(_core.ObstacleDef(kind=kind, **fields))

    def enable_contact(self, **fields):
        """Bodies touch from now on. Keywords are the fields of ContactDef."""
        self.set_contact(_core.ContactDef(**fields))

    @property
    def bodies(self):
        """A list of all bodies, in the order of their creation."""
        return [self.get_body(index) for index in range(self.body_count)]

    # Motion.

    def run(self, seconds, progress=False, each=None):
        """Steps until `seconds` more have passed and returns the report of the last step.

        `each` is called with the report after every step. `progress` shows a bar, if standard error is a terminal.
        """
        count = max(1, round(seconds / self.def_.step)) if seconds > 0 else 0
        shows, shown, report = progress and sys.stderr.isatty(), 0.0, None
        for index in range(count):
            report = self.step()
            if each:
                each(report)
            if shows and time.monotonic() - shown > 0.1:
                shown = time.monotonic()
                done = 30 * (index + 1) // count
                sys.stderr.write(f"\r[{'#' * done}{' ' * (30 - done)}] {self.time:.2f} s")
        if shows:
            sys.stderr.write("\n")
        return report

    def solve(self, **fields):
        """Static equilibrium. Keywords are the fields of StaticDef."""
        return self.solve_static(_core.StaticDef(**fields))

    def change(self, **fields):
        """Changes gravity, step, integrator, solver or tolerances from the next step on. Keywords are the fields of WorldDef."""
        definition = self.def_
        for name, value in fields.items():
            setattr(definition, name, value)
        self.set_def(definition)

    def cast(self, origin, direction, reach=float("inf")):
        """The first point of a surface along a ray, or None."""
        hit = self.cast_ray(origin, direction, reach)
        return hit if hit.body is not None else None

    def render(self, color="none", largest=0.0, **fields):
        """A picture of the surfaces. Keywords are the fields of PictureDef."""
        return self.owner.picture_render_world(self, color, largest, _core.PictureDef(**fields))

    def __repr__(self):
        return f"<sinew.World: {self.body_count} bodies at {self.time:g} s>" if self.alive else super().__repr__()


@_core.register
class Body(_core.Body):
    """A body of any kind."""

    def fix(self, where, axes=_core.AXIS_ALL):
        """Fixes nodes at their present positions: those of a list, or those at whose rest position where(x, y, z) is true."""
        self.fix_nodes(self.select(where), axes)

    def select(self, where):
        """The nodes at whose rest position where(x, y, z) is true. A list is returned as it is."""
        if not callable(where):
            return where
        return [node for node, point in enumerate(self.rest_positions) if where(*point)]

    def add_traction(self, where, traction):
        """A traction [Pa] on the faces whose nodes are all selected; see `select`. Returns the number of the load."""
        return self.add_load(_core.LoadDef(kind="traction", nodes=self.select(where), traction=traction))

    def modes(self, count):
        """The lowest natural frequencies [Hz] and their shapes, one row per mode."""
        return self.compute_modes(count)

    def plot(self, ax=None):
        """Draws the surface with matplotlib and returns the axes."""
        import matplotlib.pyplot
        import numpy
        ax = ax or matplotlib.pyplot.figure().add_subplot(projection="3d")
        positions, _ = self.compute_surface()
        points = numpy.asarray(positions)
        triangles = numpy.asarray(self.surface.indices).reshape(-1, 3)
        ax.plot_trisurf(points[:, 0], points[:, 1], points[:, 2], triangles=triangles, edgecolor="none")
        ax.set_aspect("equal")
        return ax

    def __repr__(self):
        return f"<sinew.Body {self.name!r}>" if self.alive else super().__repr__()
