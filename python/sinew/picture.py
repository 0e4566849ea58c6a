"""Pictures as arrays and files."""
from . import _core


@_core.register
class Picture(_core.Picture):
    """Red, green and blue of each pixel."""

    @property
    def array(self):
        """The pixels as an array of numpy: height by width by 3, without a copy."""
        import numpy
        return numpy.asarray(self.pixels).reshape(self.height, self.width, 3)

    def _repr_png_(self):
        """How a notebook shows it."""
        file = self.owner.bytes_create()
        self.write(file)
        return file.data
