# Labels: foreign
"""Gmsh and TetGen: Gmsh reads our .msh and .mesh files and writes them in every version, and those read as the same mesh."""
import shutil
import subprocess

import foreign

gmsh = foreign.need_program("gmsh")
samples = foreign.write_samples()
for name in ("grid_22.msh", "grid_22_binary.msh", "grid_41.msh", "grid_41_binary.msh", "grid.mesh", "kinds_22.msh", "kinds_41.msh"):
    out = samples / (name + ".msh")
    everything = ["-save_all"] if name == "grid.mesh" or name.startswith("kinds") else []  # these have no physical groups
    result = subprocess.run([gmsh, samples / name, "-save", "-format", "msh22", "-o", out, *everything], capture_output=True,
                            text=True)
    complaints = [line for line in (result.stdout + result.stderr).splitlines() if line.startswith(("Error", "Warning"))]
    foreign.check(f"{name}: {complaints}", result.returncode == 0 and not complaints)
    lines = out.read_text().splitlines()
    nodes = int(lines[lines.index("$Nodes") + 1])
    elements = [line.split() for line in lines[lines.index("$Elements") + 2:lines.index("$EndElements")]]
    solids = [e for e in elements if e[1] in ("4", "5", "11")]
    if name.startswith("grid"):
        foreign.check(f"{name}: 64 nodes and 162 tets", nodes == 64 and len(solids) == 162)
        label = 4 if name == "grid.mesh" else 3
        foreign.check(f"{name}: a third of the tets has label 1", sum(e[label] == "1" for e in solids) == 54)
    else:
        foreign.check(f"{name}: a tet of 10 nodes and a hexahedron", [e[1] for e in solids] == ["11", "5"])
shutil.rmtree(samples)
print("Gmsh reads what was written")
