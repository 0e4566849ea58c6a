"""Compares the results of `sinew validate --json` with the list of known gaps: nothing gets worse unseen, nothing mended stays
on the list. As a program: gaps.py RESULTS.json, for what `make validate` found."""
import json
import os
import sys

LIST = os.path.join(os.path.dirname(os.path.abspath(__file__)), "known_gaps.json")


def compare(rows):
    """What is wrong with the rows as a list of sentences, empty if they are as the list says."""
    with open(LIST) as file:
        known = {(gap["id"], gap["claim"]) for gap in json.load(file)}
    ids = {row["id"] for row in rows}
    failing = {(row["id"], row["claim"]) for row in rows if row["pass"] is False}
    worse = [f"worse than before: {id}: {claim}" for id, claim in sorted(failing - known)]
    mended = [f"mended; take it off the list: {id}: {claim}" for id, claim in sorted(known - failing) if id in ids]
    return worse + mended


def main():
    with open(sys.argv[1]) as file:
        rows = json.load(file)
    for row in rows:
        if row["pass"] is None:
            print("skipped:", row["id"], row["claim"])
    wrong = compare(rows)
    print("\n".join(wrong) or f"{len(rows)} claims; those that fail are the known gaps (tests/proof/known_gaps.json)")
    sys.exit(1 if wrong else 0)


if __name__ == "__main__":
    main()
