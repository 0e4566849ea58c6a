"""Voxels: solids on a grid, from which bodies of frames are made."""
from . import _core
from .context import default_context


@_core.register
class Voxels(_core.Voxels):
    """A solid as equal voxels with labels."""

    @classmethod
    def from_surface(cls, surface, label=1, context=None, **fields):
        """Fills a closed surface; see VoxelDef for resolution and spacing."""
        context = context or default_context()
        labelled = _core.LabelledSurface(mesh=surface, label=label)
        voxels, _ = context.voxels_create_from_surfaces([labelled], _core.VoxelDef(**fields))
        return voxels

    @classmethod
    def from_solids(cls, *solids, context=None, **fields):
        """From SolidDef objects, processed in order; see VoxelDef for resolution and spacing."""
        return (context or default_context()).voxels_create_from_solids(list(solids), _core.VoxelDef(**fields))

    @classmethod
    def from_labels(cls, labels, spacing, lower=(0, 0, 0), context=None):
        """From a three-dimensional array of uint8 or uint16 labels, indexed [z, y, x]; 0 is outside."""
        depth, height, width = labels.shape
        grid = _core.LabelGrid(cells=(width, height, depth), spacing=spacing, lower=lower)
        setattr(grid, "labels8" if labels.itemsize == 1 else "labels16", labels)
        return (context or default_context()).voxels_create_from_labels(grid, 4 << 30)

    def surface(self, smoothing=2):
        """The smoothed boundary as triangles."""
        return self.create_surface(smoothing)

    def __repr__(self):
        return f"<sinew.Voxels: {self.count}>" if self.alive else super().__repr__()
