# Labels: foreign
"""VTK's reader of NIfTI and Teem, the home of NRRD, find the labels where test_write_files.c put them."""
import shutil
import subprocess

import foreign


def check_label(name, i, found):
    x, y, z = i % 5, i // 5 % 4, i // 20
    foreign.check_close(f"{name}: label of cell {i}", float(found), 0 if x == y else 1 + x + 5 * y + 20 * z, 0)


vtk, = foreign.need_modules("vtk")
samples = foreign.write_samples()
reader = vtk.vtkNIFTIImageReader()
reader.SetFileName(str(samples / "labels.nii"))
reader.Update()
image = reader.GetOutput()
foreign.check("labels.nii: 5 x 4 x 3 cells", image.GetDimensions() == (5, 4, 3))
for found, expected in zip(image.GetSpacing(), (1, 2, 3)):
    foreign.check_close("labels.nii: spacing in mm", found, expected, 1e-6)
for i in range(60):
    check_label("labels.nii", i, image.GetScalarComponentAsDouble(i % 5, i // 5 % 4, i // 20, 0))
for row, expected in enumerate((10.5, 21, 31.5)):
    foreign.check_close("labels.nii: middle of the first cell", reader.GetSFormMatrix().GetElement(row, 3), expected, 1e-5)

teem = shutil.which("teem-unu") or shutil.which("unu")
if teem:
    result = subprocess.run([teem, "save", "-f", "nrrd", "-e", "ascii", "-i", samples / "labels.nrrd"], capture_output=True, text=True)
    foreign.check(f"Teem reads labels.nrrd: {result.stderr}", result.returncode == 0)
    head, data = result.stdout.split("\n\n", 1)
    foreign.check("labels.nrrd: 5 x 4 x 3 cells", "sizes: 5 4 3" in head and "space directions: (1,0,0) (0,2,0) (0,0,3)" in head)
    for i, found in enumerate(data.split()):
        check_label("labels.nrrd", i, found)
    foreign.check("labels.nrrd: all labels", len(data.split()) == 60)
else:
    print("skipped NRRD: teem-unu is not installed")
shutil.rmtree(samples)
print("the volumes that were written are read by others")
