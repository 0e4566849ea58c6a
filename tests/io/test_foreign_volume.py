# Labels: foreign
"""VTK's reader of NIfTI and Teem, the home of NRRD, find the labels where test_write_files.c put them; what VTK and Teem write
is read here, labels and places."""
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


# The other way round: an arm that is alike from no two sides, 12 x 9 x 7 cells of 2 x 1.5 x 3 mm.
CELLS, SPACING, ORIGIN = (12, 9, 7), (2, 1.5, 3), (5, -6, 7)


def label_of(x, y, z):
    if not 1 <= z < 6:
        return 0
    return 2 if 1 <= x < 4 and 1 <= y < 8 else 1 if 1 <= x < 11 and 1 <= y < 4 else 0


def check_read(path, origin=ORIGIN, signs=(1, 1, 1)):
    """The volume's report, and the middle of each label in metres after a rig, which writes the labels it understood."""
    program = foreign.BUILD / "sinew"
    rig = subprocess.run([program, "rig", path, "-n", "2", "-o", samples / "rig"], capture_output=True, text=True)
    foreign.check(f"{path.name} is read: {rig.stderr}", rig.returncode == 0)
    head, data = (samples / "rig" / "labels.nrrd").read_bytes().split(b"\n\n", 1)
    fields = dict(line.split(": ", 1) for line in head.decode().splitlines() if ": " in line)
    sizes = [int(word) for word in fields["sizes"].split()]
    lower = [float(word) for word in fields["space origin"].strip("()").split(",")]
    step = [float(vector.strip("()").split(",")[k]) for k, vector in enumerate(fields["space directions"].split())]
    width = len(data) // (sizes[0] * sizes[1] * sizes[2])
    found, expected = {}, {}
    for z in range(sizes[2]):
        for y in range(sizes[1]):
            for x in range(sizes[0]):
                at = width * ((z * sizes[1] + y) * sizes[0] + x)
                place = [lower[k] + step[k] * (x, y, z)[k] for k in range(3)]
                found.setdefault(int.from_bytes(data[at:at + width], "little"), []).append(place)
    for z in range(CELLS[2]):
        for y in range(CELLS[1]):
            for x in range(CELLS[0]):
                place = [signs[k] * (origin[k] + SPACING[k] * (x, y, z)[k]) for k in range(3)]
                expected.setdefault(label_of(x, y, z), []).append(place)
    for label in (1, 2):
        foreign.check(f"{path.name}: as many voxels of label {label}", len(found.get(label, ())) == len(expected[label]))
        for k in range(3):
            middles = [sum(place[k] for place in places) / len(places) for places in (found[label], expected[label])]
            foreign.check_close(f"{path.name}: middle of label {label} along {k} in mm", *middles, 1e-4)


def make_image(kind):
    image = vtk.vtkImageData()
    image.SetDimensions(*CELLS)
    image.SetSpacing(*SPACING)
    image.SetOrigin(*ORIGIN)
    image.AllocateScalars(kind, 1)
    for z in range(CELLS[2]):
        for y in range(CELLS[1]):
            for x in range(CELLS[0]):
                image.SetScalarComponentFromDouble(x, y, z, 0, label_of(x, y, z))
    return image


for name, kind in (("short.nii", vtk.VTK_SHORT), ("byte.nii.gz", vtk.VTK_UNSIGNED_CHAR), ("double.nii", vtk.VTK_DOUBLE)):
    for version in (1, 2):
        writer = vtk.vtkNIFTIImageWriter()
        writer.SetInputData(make_image(kind))
        writer.SetNIFTIVersion(version)
        header = vtk.vtkNIFTIImageHeader()
        header.SetXYZTUnits(vtk.vtkNIFTIImageHeader.UnitsMM)
        writer.SetNIFTIHeader(header)
        writer.SetFileName(str(samples / name))
        writer.Write()
        check_read(samples / name)

if teem:
    text = " ".join(str(label_of(x, y, z)) for z in range(CELLS[2]) for y in range(CELLS[1]) for x in range(CELLS[0]))
    start = samples / "start.nrrd"
    start.write_text("NRRD0004\ntype: ushort\ndimension: 3\nspace: left-posterior-superior\nsizes: 12 9 7\n"
                     "space directions: (2,0,0) (0,1.5,0) (0,0,3)\nspace origin: (5,-6,7)\nspace units: \"mm\" \"mm\" \"mm\"\n"
                     f"encoding: ascii\n\n{text}\n")
    written = [(["save", "-f", "nrrd", "-e", encoding, *order], name)
               for name, encoding, order in (("raw.nrrd", "raw", ["-en", "little"]), ("big.nrrd", "raw", ["-en", "big"]),
                                             ("packed.nrrd", "gzip", []), ("apart.nhdr", "raw", []), ("apart-packed.nhdr", "gzip", []),
                                             ("text.nrrd", "ascii", []))]
    written += [(["convert", "-t", kind], kind + ".nrrd") for kind in ("uchar", "int", "longlong", "ulonglong", "float", "double")]
    written += [(["flip", "-a", "0"], "mirrored.nrrd"), (["swap", "-a", "0", "2"], "swapped.nrrd")]
    for arguments, name in [([], start.name)] + written:
        if arguments:
            result = subprocess.run([teem, *arguments, "-i", start, "-o", samples / name], capture_output=True, text=True)
            foreign.check(f"Teem writes {name}: {result.stderr}", result.returncode == 0)
        check_read(samples / name, signs=(-1, -1, 1))  # x to the left and y to the back in that space
shutil.rmtree(samples)
print("the volumes that were written are read by others, and theirs here")
