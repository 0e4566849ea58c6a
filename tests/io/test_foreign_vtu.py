# Labels: foreign
"""VTK itself reads our VTU files: counts, volumes, fields and labels follow from the formulas in test_write_files.c."""
import json
import shutil
import subprocess
import xml.etree.ElementTree

import foreign

vtk, = foreign.need_modules("vtk")


def read(path):
    reader = vtk.vtkXMLUnstructuredGridReader()
    reader.SetFileName(str(path))
    errors = []
    reader.AddObserver("ErrorEvent", lambda *_: errors.append(1))
    reader.Update()
    foreign.check(f"{path.name} reads without errors", not errors)
    return reader.GetOutput()


def check_volume(grid, expected):
    size = vtk.vtkMeshQuality()
    size.SetInputData(grid)
    size.SetTetQualityMeasureToVolume()
    size.SetHexQualityMeasureToVolume()
    size.Update()
    quality = size.GetOutput().GetCellData().GetArray("Quality")
    volumes = [quality.GetValue(i) for i in range(quality.GetNumberOfTuples())]
    foreign.check("every cell has a positive volume", min(volumes) > 0)
    foreign.check_close("volume", sum(volumes), expected, 1e-6)


def check_grid(path, tolerance):
    grid = read(path)
    n, tets = 4, 6 * 27
    foreign.check(f"{path.name} has 64 points and {tets} tets",
                  grid.GetNumberOfPoints() == n**3 and grid.GetNumberOfCells() == tets)
    moved = grid.GetPointData().GetArray("displacement")
    foreign.check("the displacement is a vector", moved.GetNumberOfComponents() == 3)
    for i in range(n**3):
        x, y, z = i % n / (n - 1), i // n % n / (n - 1), i // n // n / (n - 1)
        for found, expected in zip(grid.GetPoint(i), (x, y, z)):
            foreign.check_close(f"point {i}", found, expected, tolerance)
        for found, expected in zip(moved.GetTuple(i), (0.1 * y, -0.2 * x, z / 3)):
            foreign.check_close(f"displacement {i}", found, expected, tolerance)
    cells = grid.GetCellData()
    for i in range(tets):
        foreign.check_close("energy", cells.GetArray("strain energy").GetValue(i), 1 / (i + 1), tolerance)
        for k, found in enumerate(cells.GetArray("stress").GetTuple(i)):
            foreign.check_close("stress", found, i + 0.125 * k, tolerance * 1000)
        foreign.check("label", cells.GetArray("label").GetValue(i) == (1 if i < tets // 3 else 2))
    check_volume(grid, 1)


samples = foreign.write_samples()
check_grid(samples / "plain.vtu", 0)
check_grid(samples / "compressed.vtu", 0)
check_grid(samples / "single.vtu", 1e-7)
kinds = read(samples / "kinds.vtu")
foreign.check("a quadratic tet and a hexahedron", [kinds.GetCellType(i) for i in range(2)] == [24, 12])
tet = kinds.GetCell(0)
for corner, (a, b) in zip(range(4, 10), ((0, 1), (1, 2), (2, 0), (0, 3), (1, 3), (2, 3))):
    for k in range(3):
        middle = (tet.GetPoints().GetPoint(a)[k] + tet.GetPoints().GetPoint(b)[k]) / 2
        foreign.check_close("middle of an edge", tet.GetPoints().GetPoint(corner)[k], middle, 0)
names = [d.attrib["file"] for d in xml.etree.ElementTree.parse(samples / "series.pvd").iter("DataSet")]
foreign.check("the series lists its files", names == ["plain.vtu", "compressed.vtu", "single.vtu"])


def check_tensors():
    """A bar pulled at its end: stress XX is the traction, the reactions add up to the force."""
    names = ["XX", "YY", "ZZ", "XY", "YZ", "XZ"]
    scene = {
        "version": 1,
        "gravity": [0, 0, 0],
        "static": True,
        "step": 0.01,
        "duration": 0,
        "materials": {"gel": {"law": "linear", "young": 1e6, "poisson": 0, "density": 1000}},
        "bodies": [{
            "name": "bar",
            "shape": {"kind": "box", "size": [1, 0.2, 0.2], "cells": [5, 1, 1], "element": "tet10"},
            "material": "gel",
            "fixed": [{"box": {"upper": [-0.499, 1, 1]}}],
            "loads": [{"where": {"box": {"lower": [0.499, -1, -1]}}, "traction": [10, 0, 0]}],
        }],
    }
    (samples / "pull.json").write_text(json.dumps(scene))
    program = foreign.BUILD / "sinew"
    subprocess.run([program, "run", samples / "pull.json", "-o", samples / "out", "--format", "vtu"], check=True)
    grid = read(sorted((samples / "out").glob("bar_*.vtu"))[-1])
    for data in grid.GetPointData(), grid.GetCellData():
        stress = data.GetArray("stress")
        foreign.check("the components of the stress have names",
                      [stress.GetComponentName(k) for k in range(6)] == names)
        for i in range(stress.GetNumberOfTuples()):
            for found, expected in zip(stress.GetTuple(i), (10, 0, 0, 0, 0, 0)):
                foreign.check_close("stress", found, expected, 1e-3)
    reaction = grid.GetPointData().GetArray("reaction")
    foreign.check("the reaction is a vector", reaction.GetNumberOfComponents() == 3)
    total = [sum(reaction.GetTuple(i)[k] for i in range(grid.GetNumberOfPoints())) for k in range(3)]
    for found, expected in zip(total, (-0.4, 0, 0)):
        foreign.check_close("sum of the reactions", found, expected, 1e-5)


check_tensors()
shutil.rmtree(samples)
print("VTK", vtk.vtkVersion().GetVTKVersion(), "reads what was written")
