"""Three hundred random valid scenes, the same in every run unless SOAK_SEED names another seed, which is printed.

`make soak` runs other ones each time. The scenes that failed once are in tests/soak/found and run first.
"""
# Labels: slow
import glob
import json
import os
import sys
import tempfile

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import soak  # noqa: E402


def main():
    if not os.access(soak.SINEW, os.X_OK):
        print("skipped: the program is not built")
        return 77
    failed = 0
    with tempfile.TemporaryDirectory(prefix="sinew-soak-") as folder:
        for path in sorted(glob.glob(os.path.join(os.path.dirname(os.path.abspath(__file__)), "found", "*.json"))):
            with open(path) as file:
                verdict = soak.judge(json.load(file), folder, True)
            if verdict:
                failed += 1
                print(f"FAIL {os.path.basename(path)}: {verdict[0]}: {verdict[1]}")
    sys.argv[1:] = ["--seed", os.environ.get("SOAK_SEED", "7000")]
    return 1 if failed else soak.main()


sys.exit(main())
