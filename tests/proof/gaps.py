"""Compares the results of `sinew-proof validate --json` and `sinew-proof bench --json` with the lists of known gaps: a new gap is
reported, and so is a closed gap that is still listed. Usage: gaps.py RESULTS.json for accuracy, where any difference is a failure;
gaps.py --speed RESULTS.json for speed, which varies between runs and machines, so that only the reasons are printed."""
import json
import os
import sys

FOLDER = os.path.dirname(os.path.abspath(__file__))
LIST, SPEED_LIST = (os.path.join(FOLDER, name) for name in ("known_gaps.json", "known_speed_gaps.json"))


def compare(rows):
    """What is wrong with the rows as a list of sentences, empty if they are as the list says."""
    with open(LIST) as file:
        known = {(gap["id"], gap["claim"]) for gap in json.load(file)}
    ids = {row["id"] for row in rows}
    failing = {(row["id"], row["claim"]) for row in rows if row["pass"] is False}
    worse = [f"worse than before: {id}: {claim}" for id, claim in sorted(failing - known)]
    mended = [f"mended; take it off the list: {id}: {claim}" for id, claim in sorted(known - failing) if id in ids]
    return worse + mended


def print_speed(rows):
    with open(SPEED_LIST) as file:
        gaps = json.load(file)
    reasons = {(gap["id"], gap["name"]): gap["reason"] for gap in gaps}
    failing = {(row["id"], row["name"]): None for row in rows if row["pass"] is False}
    for id, name in failing:
        print(f"falls short: {id}: {name}: {reasons.get((id, name), 'not known before; look into it, or measure again')}")


def main():
    with open(sys.argv[-1]) as file:
        rows = json.load(file)
    if sys.argv[1] == "--speed":
        print_speed(rows)
        return
    for row in rows:
        if row["pass"] is None:
            print("skipped:", row["id"], row["claim"])
    wrong = compare(rows)
    print("\n".join(wrong) or f"{len(rows)} claims; those that fail are the known gaps (tests/proof/known_gaps.json)")
    sys.exit(1 if wrong else 0)


if __name__ == "__main__":
    main()
