"""sinew bench: the machine's limits and a small row; fields, hashes, threads. Speed itself is not tested: machines differ."""
import json
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "cli"))
import program  # noqa: E402

FIELDS = ["id", "name", "threads", "size", "unit", "min", "median", "paper", "target", "pass", "limit_share", "hash"]


def test_rows_have_all_fields():
    result = program.run("bench", "S5", "S1", "--json")
    assert result.returncode == 0, result.stderr
    rows = json.loads(result.stdout)
    assert [row["id"] for row in rows] == ["machine", "machine", "S1", "S5", "S5", "S5"], rows
    for row in rows:
        assert list(row) == FIELDS, row
    for row in rows[3:]:
        assert 0 < row["min"] <= row["median"] and row["paper"] > 0 and len(row["hash"]) == 16, row
    assert rows[0]["min"] > 0.1 and rows[1]["min"] > 0.1, rows[:2]
    assert rows[2]["pass"] is False and rows[2]["min"] is None, rows[2]


def test_threads_do_not_change_the_state():
    hashes = {tuple(row["hash"] for row in json.loads(program.run("bench", "S6", "-t", n, "--json").stdout)) for n in (1, 2)}
    assert len(hashes) == 1, hashes


program.main([value for name, value in list(globals().items()) if name.startswith("test_")])
