"""Meshes: generated shapes, files, numpy arrays and meshio."""
from . import _core
from .context import default_context

_MESHIO = {"triangle": "triangle", "tetra": "tet4", "tetra10": "tet10", "hexahedron": "hex8"}


@_core.register
class Mesh(_core.Mesh):
    """Points and elements of one kind. `points` has three numbers per point, `cells` the nodes of each element."""

    @property
    def cells(self):
        """The nodes of each element: an array of numpy with one row per element if numpy is there, otherwise a list of tuples."""
        width = _core.element_node_count(self.element)
        try:
            import numpy
        except ImportError:
            flat = list(self.indices)
            return [tuple(flat[i:i + width]) for i in range(0, len(flat), width)]
        return numpy.asarray(self.indices).reshape(-1, width)

    def surface(self, context=None):
        """The boundary as triangles, and the node of each of its points."""
        return (context or default_context()).mesh_create_surface(self)

    def quadratic(self, context=None):
        """Ten-node tets from four-node ones."""
        return (context or default_context()).mesh_create_quadratic(self)

    def quality(self, context=None):
        return (context or default_context()).mesh_compute_quality(self)

    def save(self, path, context=None):
        """Writes a file; the ending chooses the format: .obj .ply .stl .msh .vtu .node ..."""
        (context or default_context()).mesh_save(self, path)

    def to_meshio(self):
        import meshio
        import numpy
        kind = {value: key for key, value in _MESHIO.items()}[_core.Element(self.element).name.lower()]
        return meshio.Mesh(numpy.array(self.points), [(kind, numpy.array(self.cells))])

    def __repr__(self):
        return f"<sinew.Mesh of {self.point_count} points and {self.element_count} {_core.Element(self.element).name.lower()}>"


def mesh(points, cells, element=None, labels=None):
    """A mesh from points and the nodes of each element. The kind of element follows from the number of nodes of each."""
    rows = len(cells)
    width = len(cells[0]) if rows else 4
    element = element or {3: "triangle", 4: "tet4", 8: "hex8", 10: "tet10"}[width]
    made = Mesh(element=element, points=points, indices=cells, element_count=rows)
    if labels is not None:
        made.labels = labels
    return made


def shape(kind="box", context=None, **fields):
    """A generated shape; see ShapeDef for size, cell_size, cells, element and the rest."""
    return (context or default_context()).mesh_create_shape(_core.ShapeDef(shape=kind, **fields))


def box(**fields):
    """A block of tets: sinew.box(size=(1, 0.2, 0.2), cell_size=0.05)."""
    return shape("box", **fields)


def sphere(**fields):
    return shape("sphere", **fields)


def cylinder(**fields):
    return shape("cylinder", **fields)


def load_mesh(path, context=None):
    """Reads a mesh from a file of any format that Sinew knows."""
    context = context or default_context()
    file = context.mesh_file_load(path)
    best = file.best
    labels = best.labels
    return mesh_of(best, list(labels) if labels is not None else None)


def mesh_of(other, labels=None):
    """A copy of a mesh that belongs to something else."""
    made = Mesh(element=other.element, points=list(other.points), indices=list(other.indices), element_count=other.element_count)
    if labels is not None:
        made.labels = labels
    return made


def tetrahedralize(surface, context=None, **fields):
    """Fills a closed surface with tets; see TetrahedralizeDef for tet_count, cell_size and element."""
    tets, _ = (context or default_context()).tetrahedralize(surface, _core.TetrahedralizeDef(**fields))
    return tets
