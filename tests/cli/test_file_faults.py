"""Every operation on files fails once: nothing crashes, nothing is half written, what was promised is kept."""
import glob
import json
import os

import program
from complete import check_folder, memory_folder, whole_hash, write_scene
from tail import tail

SHIM = os.path.join(os.environ.get("SINEW_BUILD", os.path.join(program.ROOT, "build")), "tests", "fail_files.so")


def run_failing(n, arguments, onwards=False):
    environment = {**os.environ, "LD_PRELOAD": SHIM, "FAIL_AT": str(n)}
    if onwards:
        environment["FAIL_ONWARDS"] = "1"
    return program.run(*arguments, env=environment)


def fail_every_operation(make_arguments, check, onwards=False):
    """Runs a command once for each of its operations on files, which then fails; returns what they were."""
    if not os.path.exists(SHIM):
        print("skipped: fail_files.so is not built")
        return
    n, names = 0, []
    while True:
        n += 1
        with memory_folder() as out:
            result = run_failing(n, make_arguments(out), onwards)
            check_folder(out)
            if "fail_files:" not in result.stderr:
                assert result.returncode == 0, (n, result.stderr)
                break
            names.append(next(line for line in result.stderr.split("\n") if line.startswith("fail_files: "))[12:])
            assert result.returncode == 4, (n, result.returncode, result.stderr)
            lines = [line for line in result.stderr.split("\n") if line.startswith("sinew ")]
            assert lines, (n, "no message", result.stderr)
            check(out, result)
    assert n > 5, n
    return names


def check_run(whole):
    def check(out, result):
        # Once the simulation has begun, its state is saved, unless it is the state's own file that failed.
        state = os.path.join(out, "state")
        began = glob.glob(os.path.join(out, "*.vtu"))
        if began and "/state: cannot" not in result.stderr:
            rest = program.run("run", os.path.join(out, "scene.json"), "-o", out + "/more", "--resume", state, "--json")
            assert rest.returncode == 0 and json.loads(rest.stdout)["hash"] == whole, (result.stderr, rest.stderr)
        if began and "/summary.json: cannot" not in result.stderr:
            summary = json.load(open(os.path.join(out, "summary.json")))
            # The only failure that a summary cannot know of is that of the flush after it.
            assert summary["outcome"] == "failed" or "/.: cannot" in result.stderr, result.stderr
    return check


def run_arguments(out):
    return ["run", write_scene(out), "-o", out, "--checkpoint", out + "/state", "--json=" + out + "/summary.json", "-t", 1, "-f", "vtu,glb,csv,png"]


def test_run_survives_every_single_failure():
    names = fail_every_operation(run_arguments, check_run(whole_hash()))
    assert names is None or len(names) > 60, names
    # Images are flushed together at the end; only the state, the summary and their folder by themselves.
    assert names is None or (names.count("flush folder") == 1 and names.count("flush") <= 5 < names.count("rename")), names


def test_run_survives_a_disk_that_stays_full():
    fail_every_operation(run_arguments, lambda out, result: None, onwards=True)


def test_convert_survives_every_single_failure():
    with program.folder() as source:
        mesh = os.path.join(source, "mesh.obj")
        open(mesh, "w").write("v 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 3\n")
        fail_every_operation(lambda out: ["convert", mesh, out + "/a.ply"], lambda out, result: None)


def test_rig_survives_every_single_failure():
    fail_every_operation(lambda out: ["rig", "specimen:steak", "--voxels", 500, "-n", 3, "-o", out + "/rig", "--json=" + out + "/r.json"],
                         lambda out, result: None)


def test_soften_survives_every_single_failure():
    with program.folder() as source:
        character = os.path.join(source, "tail.glb")
        tail(0.4).save(character)
        fail_every_operation(lambda out: ["soften", character, "-o", out + "/soft.glb", "-n", 300, "-p", 0, "-r", 5, "-t", 1],
                             lambda out, result: None)


program.main([value for name, value in list(globals().items()) if name.startswith("test_")])
