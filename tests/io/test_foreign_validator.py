# Labels: foreign
"""The Khronos glTF validator finds neither errors nor warnings in our GLB files."""
import shutil

import foreign

validate = foreign.need_validator()
samples = foreign.write_samples()
for name in ("still.glb", "frames.glb", "skin.glb"):
    validate(samples / name)
shutil.rmtree(samples)
print("the validator has nothing to say against what was written")
