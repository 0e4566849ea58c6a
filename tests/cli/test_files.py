"""Files that cannot be read or written: a full disk, a pipe, a lost terminal, a killed run."""
import glob
import json
import os
import resource
import signal
import subprocess
import time

import program
from complete import check_folder, whole_hash, write_scene

BAR = os.path.join(program.EXAMPLES, "bar.json")


def test_a_full_disk_loses_neither_state_nor_summary():
    """A small disk of its own, of every size from too small to start with to large enough."""
    whole = whole_hash()
    with program.folder() as out:
        disk = os.path.join(out, "disk")
        os.mkdir(disk)
        if subprocess.run(["mount", "-t", "tmpfs", "-o", "size=1m", "none", disk], capture_output=True).returncode != 0:
            print("skipped: a disk can only be mounted by root")
            return
        try:
            outcomes = set()
            for pages in list(range(16, 80, 2)) + [400]:
                subprocess.run(["mount", "-o", f"remount,size={4 * pages}k", disk], check=True)
                scene = write_scene(out)
                result = program.run("run", scene, "-o", disk + "/out", "--checkpoint", disk + "/state", "--json=" + disk + "/summary.json")
                check_folder(disk)
                assert result.returncode in (0, 4), (pages, result.stderr)
                if "What was written before" in result.stderr or result.returncode == 0:
                    summary = json.load(open(disk + "/summary.json"))
                    rest = program.run("run", scene, "-o", out + "/rest", "--resume", disk + "/state", "--json")
                    assert rest.returncode == 0 and json.loads(rest.stdout)["hash"] == whole, (pages, rest.stderr)
                    outcomes.add(summary["outcome"])
                else:
                    outcomes.add("not started" if not os.path.exists(disk + "/state") else "end")
                subprocess.run(f"rm -rf {disk}/*", shell=True, check=True)
            assert {"not started", "failed", "completed"} <= outcomes, outcomes
        finally:
            subprocess.run(["umount", disk], check=True)


def test_a_limit_on_file_sizes_is_a_message():
    with program.folder() as out:
        result = program.run("run", BAR, "--steps", 3, "-o", out,
                             preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (50000, 50000)))
        assert result.returncode == 4 and "File too large" in result.stderr, (result.returncode, result.stderr)
        check_folder(out)


def test_standard_output_is_checked():
    with program.folder() as out, open("/dev/full", "w") as full:
        for arguments in (["run", BAR, "--steps", 1, "-o", out, "--json"], ["list"], ["--help"], ["run", "--help"],
                          ["inspect", BAR], ["check", BAR]):
            result = subprocess.run([program.SINEW, *map(str, arguments)], stdout=full, stderr=subprocess.PIPE, text=True)
            assert result.returncode == 4 and "standard output" in result.stderr, (arguments, result)
        assert glob.glob(out + "/*.glb")


def test_only_regular_files_are_read():
    with program.folder() as out:
        pipe = os.path.join(out, "pipe.obj")
        os.mkfifo(pipe)
        for path, kind in ((pipe, "named pipe"), ("/dev/zero", "device"), (out, "folder")):
            for command in (["run", path], ["check", path], ["inspect", path], ["convert", path, out + "/x.ply"], ["rig", path]):
                result = program.run(*command, cwd=out)
                assert result.returncode == 2 and kind in result.stderr, (command, result)


def test_what_is_no_file_is_written_directly():
    with program.folder() as out:
        link, target = os.path.join(out, "link.json"), os.path.join(out, "target.json")
        open(target, "w").close()
        os.symlink("target.json", link)
        assert program.run("run", BAR, "--steps", 1, "-o", out, "--json=/dev/null").returncode == 0
        assert not os.path.isfile("/dev/null")
        assert program.run("run", BAR, "--steps", 1, "-o", out, "--json=" + link).returncode == 0
        assert os.path.islink(link) and json.load(open(target))["outcome"] == "completed"


def test_a_killed_run_leaves_nothing_in_the_way():
    with program.folder() as out:
        state = os.path.join(out, "state")
        arguments = [program.SINEW, "run", BAR, "-o", out, "--steps", "1000000", "--checkpoint", state, "-s", "output.every=1", "-f", "vtu,glb"]
        process = subprocess.Popen(arguments, stdout=subprocess.DEVNULL)
        while len(glob.glob(out + "/*.vtu")) < 3:
            time.sleep(0.02)
        process.send_signal(signal.SIGKILL)
        process.wait()
        assert glob.glob(out + "/*.sinew-tmp"), "the state has its room from the start"
        assert program.run("run", BAR, "--steps", 3, "-o", out, "--checkpoint", state).returncode == 0
        assert not glob.glob(state + "*tmp") and os.path.exists(state)

    for number in (signal.SIGTERM, signal.SIGHUP):
        with program.folder() as out:
            process = subprocess.Popen([*arguments[:4], out, *arguments[5:7], "-s", "output.every=1", "-f", "vtu,glb"], stdout=subprocess.DEVNULL)
            while len(glob.glob(out + "/*.vtu")) < 3:
                time.sleep(0.02)
            process.send_signal(number)
            assert process.wait(timeout=60) == 0, number
            assert not glob.glob(out + "/*tmp"), number


def test_two_programs_do_not_write_one_file_at_once():
    with program.folder() as out:
        state = os.path.join(out, "state")
        process = subprocess.Popen([program.SINEW, "run", BAR, "--steps", "1000000", "-o", out, "--checkpoint", state,
                                    "-s", "output.every=1000"], stdout=subprocess.DEVNULL)
        while not os.path.exists(state + ".sinew-tmp"):
            time.sleep(0.02)
        result = program.run("run", BAR, "--steps", 3, "-o", out + "/other", "--checkpoint", state)
        process.send_signal(signal.SIGINT)
        assert result.returncode == 4 and "busy" in result.stderr, result.stderr
        assert process.wait(timeout=30) == 0 and os.path.exists(state)


program.main([value for name, value in list(globals().items()) if name.startswith("test_")])
