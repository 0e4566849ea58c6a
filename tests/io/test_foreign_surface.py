# Labels: foreign
"""assimp reads our OBJ, PLY and STL files: an octahedron with half axes 1, 2 and 3, eight faces; y up in OBJ."""
import re
import shutil
import subprocess

import foreign

assimp = foreign.need_program("assimp")
samples = foreign.write_samples()
for name in ("octahedron.obj", "octahedron.ply", "octahedron.stl", "still.glb"):
    report = subprocess.run([assimp, "info", samples / name], capture_output=True, text=True)
    foreign.check(f"assimp accepts {name}: {report.stdout}{report.stderr}", report.returncode == 0)
    faces = re.search(r"^Faces:\s+(\d+)", report.stdout, re.M)
    foreign.check(f"{name} has 8 faces", faces and int(faces.group(1)) == 8)
    for word, sign in (("Minimum", -1), ("Maximum", 1)):
        numbers = re.search(rf"^{word} point\s+\(([^)]*)\)", report.stdout, re.M).group(1).split()
        for found, expected in zip(map(float, numbers), (1, 3, 2) if name.endswith("obj") else (1, 2, 3)):
            foreign.check_close(f"{name}: {word}", found, sign * expected, 1e-6)
    # Through assimp's own model into text: every vertex must be a corner of the octahedron.
    out = samples / f"{name}.assimp.obj"
    subprocess.run([assimp, "export", samples / name, out], check=True, capture_output=True)
    vertices = {tuple(round(float(x), 5) + 0.0 for x in line.split()[1:4])
                for line in out.read_text().splitlines() if line.startswith("v ")}
    if name.endswith("obj"):  # y up in the file
        vertices = {(x, -z + 0.0, y) for x, y, z in vertices}
    foreign.check(f"{name} has the six corners: {vertices}",
                  vertices == {(1, 0, 0), (-1, 0, 0), (0, 2, 0), (0, -2, 0), (0, 0, 3), (0, 0, -3)})
shutil.rmtree(samples)
print("assimp reads what was written")
