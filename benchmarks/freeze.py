# SPDX-License-Identifier: Apache-2.0
"""Freeze what the compiler chooses, and compare two such tables.

Run as ``python -m benchmarks.freeze write TABLE.jsonl [NETWORK.tflite ...]`` before and after a
change of the compiler, then as ``python -m benchmarks.freeze compare BEFORE.jsonl AFTER.jsonl``.
A row is one network on one chip with some options. The status of ``compare`` is 1 if any is worse.

The chips, networks and options are those of `benchmarks.freeze_set`.
"""

import argparse
import hashlib
import json
import re
import sys
import time
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from atoll.cli.output import as_command
from atoll.diagnostics.errors import AtollError
from atoll.driver.compiled import Compiled, expected_length
from atoll.driver.pipeline import compile_graph
from atoll.report.estimates import estimates_of
from atoll.report.explanation import explanation
from atoll.utils.scratch import temporary_folder
from benchmarks.freeze_set import OPTIONS, Case, cases

Row = Mapping[str, Any]

PRICE = ("cycles", "bytes")
"""What decides which of two plans is better, in this order."""

UNWEIGHED = ("seconds",)


def row_of(case: Case) -> Row:
    """Compile a case; return what came of it."""
    begin = time.perf_counter()
    try:
        found = facts(compile_graph(*case.arguments))
    except AtollError as error:
        faults = error.faults
        found = {"refused": [[each.code, each.wants, _placeless(each.text())] for each in faults]}
    return {**case.key, **found, "seconds": round(time.perf_counter() - begin, 3)}


def facts(made: Compiled) -> Row:
    """Return what was chosen for a network and what that costs."""
    plan, streams = made.plan, made.streaming.streams
    peaks = {name: use.used for name, use in plan.use.items() if use.used}
    return {
        "cycles": expected_length(made),
        "bytes": sum(peaks.values()),
        "peaks": peaks,
        "constants": sum(each.size for each in made.module.entry.constants),
        "commands": sum(map(len, made.commands.values())),
        "plan": _digest(str(sorted(plan.placements.items()))),
        "program": _digest(str(made.module)),
        "command_bytes": _digest(str(sorted(made.commands.items()))),
        "tiling": str(made.tiling),
        "streams": [f"{each.operator}/{each.parts}" for each in streams],
        "splits": made.splits,
        "devices": Counter("+".join(op.devices) for op in made.graph.operators),
        "operators": len(made.graph.operators),
        "estimate": _digest(json.dumps([each.as_json() for each in estimates_of((made,))])),
        "told": _digest(_placeless(json.dumps(explanation(made).as_json(), default=str))),
    }


def _placeless(text: str) -> str:
    """Return a text without the folders of files, which differ from run to run."""
    return re.sub(r"(/[^/\s:\"']+)+/", "", text)


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()[:16]


def verdict(before: Row, after: Row) -> str:
    """Return ``same``, ``better``, ``worse``, or what else became of a row.

    Streams that are asked for count more than cycles, as they do for the compiler.
    """
    if _weighed_values(before) == _weighed_values(after):
        return "same"
    if "refused" in before and "refused" in after:
        return "another refusal"
    if "refused" in before or "refused" in after:
        return "better" if "refused" in before else "worse"
    if OPTIONS[before["options"]].get("stream") == "always":
        obeyed = [bool(row["streams"]) for row in (before, after)]
        if obeyed != sorted(obeyed):
            return "worse"
        if obeyed[0] < obeyed[1]:
            return "streams as asked"
    old, new = ([row[name] for name in PRICE] for row in (before, after))
    if old == new:
        return "another plan" if before["plan"] != after["plan"] else "another text"
    return "better" if new < old else "worse"


def _weighed_values(row: Row) -> Row:
    return {name: value for name, value in row.items() if name not in UNWEIGHED}


def differences(before: Row, after: Row) -> Iterator[str]:
    """Yield what differs between two rows."""
    for name in dict.fromkeys((*before, *after)):
        if name not in UNWEIGHED and before.get(name) != after.get(name):
            yield f"{name}: {before.get(name)} -> {after.get(name)}"


def _read(path: Path) -> Mapping[tuple[str, ...], Row]:
    rows = map(json.loads, path.read_text(encoding="utf-8").splitlines())
    return {(row["chip"], row["network"], row["options"]): row for row in rows}


def compare(before: Path, after: Path) -> int:
    """Print each row that differs, then how many are of which kind; 1 if one is worse."""
    old, new = _read(before), _read(after)
    counts: Counter[str] = Counter()
    for key in sorted(old.keys() & new.keys()):
        found = verdict(old[key], new[key])
        counts[found] += 1
        if found != "same":
            print(f"{found}: {' '.join(key)}")
            print("".join(f"    {line}\n" for line in differences(old[key], new[key])), end="")
    print(", ".join(f"{count} {found}" for found, count in counts.most_common()))
    print(f"{len(old.keys() - new.keys())} rows are gone, {len(new.keys() - old.keys())} are new")
    for name, rows in (("before", old), ("after", new)):
        print(f"{name}: {sum(row['seconds'] for row in rows.values()):.0f} s")
    return int(counts["worse"] > 0)


def freeze(table: Path, networks: Sequence[Path]) -> int:
    """Write a row for each case."""
    with temporary_folder() as folder, table.open("w", encoding="utf-8") as file:
        for case in cases(folder, networks):
            print(json.dumps(row_of(case)), file=file, flush=True)
    return 0


def main() -> int:
    """Write a table, or compare two."""
    parser = argparse.ArgumentParser(description=__doc__)
    kinds = parser.add_subparsers(required=True, dest="kind")
    writing, comparing = kinds.add_parser("write"), kinds.add_parser("compare")
    writing.add_argument("table", type=Path)
    writing.add_argument("networks", type=Path, nargs="*", help="TFLite files besides its own")
    comparing.add_argument("before", type=Path)
    comparing.add_argument("after", type=Path)
    asked = parser.parse_args()
    if asked.kind == "write":
        return freeze(asked.table, asked.networks)
    return compare(asked.before, asked.after)


if __name__ == "__main__":
    sys.exit(as_command(main))
