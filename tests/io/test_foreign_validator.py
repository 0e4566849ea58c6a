# Labels: foreign
"""The Khronos glTF validator finds neither errors nor warnings in our GLB files."""
import json
import os
import shutil
import subprocess
import pathlib

import foreign

node, npm = foreign.need_program("node"), foreign.need_program("npm")
source = pathlib.Path(__file__).resolve().parent / "validator"
installed = foreign.BUILD / "gltf-validator"
if not (installed / "node_modules" / "gltf-validator").exists():
    installed.mkdir(exist_ok=True)
    for name in ("package.json", "package-lock.json"):
        shutil.copy(source / name, installed)
    result = subprocess.run([npm, "ci", "--no-audit", "--no-fund"], cwd=installed, capture_output=True, text=True)
    if result.returncode:
        foreign.skip("npm cannot install gltf-validator: " + result.stderr.strip().splitlines()[-1])
script = """
const validator = require('gltf-validator'), fs = require('fs');
validator.validateBytes(new Uint8Array(fs.readFileSync(process.argv[1])), {maxIssues: 20})
  .then(report => console.log(JSON.stringify(report)), error => { console.error(error); process.exit(1); });
"""
samples = foreign.write_samples()
for name in ("still.glb", "frames.glb", "skin.glb"):
    result = subprocess.run([node, "-e", script, samples / name], cwd=installed, capture_output=True, text=True,
                            env={**os.environ, "NODE_PATH": str(installed / "node_modules")})
    foreign.check(f"the validator runs: {result.stderr}", result.returncode == 0)
    issues = json.loads(result.stdout)["issues"]
    foreign.check(f"{name}: {issues['messages']}", issues["numErrors"] == 0 and issues["numWarnings"] == 0)
shutil.rmtree(samples)
print("the validator has nothing to say against what was written")
