# SPDX-License-Identifier: Apache-2.0
"""Plant mutants on several chips, and write the tables of docs/mutation.md.

Run as ``python -m benchmarks.mutants NETWORK.tflite... [--chip NAME] [--count N] [--write]``. It
takes minutes for each chip. The status is 0 only if no fault stays unnoticed.
"""

import argparse
import json
import sys
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from atoll.cli.output import as_command
from atoll.utils.children import run

DOCUMENT = Path(__file__).parents[1] / "docs" / "mutation.md"
CHIPS = ("lagoon", "atoll2", "twin")
Mutant = Mapping[str, Any]
Rows = Iterable[Sequence[object]]


def main() -> int:
    """Print the tables."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("networks", type=Path, nargs="+", help="TFLite files")
    parser.add_argument("--chip", action="append", help=f"default: {', '.join(CHIPS)}")
    parser.add_argument("--count", type=int, default=520, help="of mutants on each chip")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--write", action="store_true", help="put them into docs/mutation.md")
    arguments = parser.parse_args()
    chips = tuple(arguments.chip or CHIPS)
    if arguments.write and chips != CHIPS:
        parser.error(f"--write needs all of {', '.join(CHIPS)}: leave --chip out")
    told = {
        chip: validate(chip, arguments.networks, arguments.count, arguments.seed) for chip in chips
    }
    found = {chip: [*mutants_of(each)] for chip, each in told.items()}
    tables = [
        table(("", *chips), summary(told, found)),
        table(
            ("planted", "mutants", "by the shadow memory", "by something else", "no fault"),
            by_kind([each for mutants in found.values() for each in mutants]),
        ),
    ]
    for lines in tables:
        print(*lines, "", sep="\n")
    if arguments.write:
        DOCUMENT.write_text(with_tables(DOCUMENT.read_text("utf-8"), tables), "utf-8")
    return 0 if all(each["passed"] for each in told.values()) else 1


def validate(chip: str, networks: Sequence[Path], count: int, seed: int) -> dict[str, Any]:
    """Return what `atoll validate` says of a chip."""
    atoll = Path(sys.executable).with_name("atoll")
    numbers = ("--mutants", str(count), "--seed", str(seed))
    command = (str(atoll), "validate", chip, *map(str, networks), *numbers, "--json")
    print(f"{chip}: {count} mutants", file=sys.stderr)
    told: dict[str, Any] = json.loads(run(command).stdout)
    return told


def mutants_of(told: Mapping[str, Any]) -> Iterator[Mutant]:
    """Yield the mutants of all networks."""
    for network in told["networks"]:
        yield from network["mutants"]


def summary(told: Mapping[str, Any], found: Mapping[str, Sequence[Mutant]]) -> Rows:
    """Yield rows of sums, a column for each chip."""
    right = [[each["right_build"] for each in chip["networks"]] for chip in told.values()]
    planted = [*found.values()]
    placed = [[each["placement"] for each in builds] for builds in right]
    proven = [sum(bool(each["equivalent"]) for each in mutants) for mutants in planted]
    caught = [[each for each in mutants if each["caught"]] for mutants in planted]
    faults = [len(mutants) - none for mutants, none in zip(planted, proven, strict=True)]
    missed = [total - len(seen) for total, seen in zip(faults, caught, strict=True)]
    yield "findings in the right builds", *(sum(len(b["violations"]) for b in p) for p in placed)
    yield "accesses judged in them", *(sum(each["accesses"] for each in p) for p in placed)
    yield "mutants", *map(len, planted)
    yield "proven to be no fault", *proven
    yield "faults", *faults
    yield "noticed", *map(len, caught)
    yield "of them by the shadow memory", *(sum(each["shadow"] for each in seen) for seen in caught)
    yield "unnoticed", *missed


def by_kind(mutants: Sequence[Mutant]) -> Rows:
    """Yield for each kind, area by area, how many there are, and who noticed how many of them."""
    areas = [*dict.fromkeys(each["area"] for each in mutants)]
    kinds: dict[str, list[Mutant]] = {}
    for mutant in sorted(mutants, key=lambda each: areas.index(each["area"])):
        kinds.setdefault(mutant["kind"], []).append(mutant)
    for kind, planted in kinds.items():
        caught = [each for each in planted if each["caught"]]
        shadow = sum(bool(each["shadow"]) for each in caught)
        others = Counter(each["by"] for each in caught if not each["shadow"])
        told = ", ".join(f"{by} {count}" for by, count in others.items())
        harmless = sum(bool(each["equivalent"]) for each in planted)
        yield kind, len(planted), shadow or "", told, harmless or ""


def table(head: Sequence[str], rows: Rows) -> list[str]:
    """Return the lines of a table."""
    lines = [f"| {' | '.join(map(_cell, row))} |" for row in (head, *rows)]
    return [lines[0], "|---" * len(head) + "|", *lines[1:]]


def _cell(value: object) -> str:
    return f"{value:,}" if isinstance(value, int) else str(value)


def with_tables(text: str, tables: Sequence[Sequence[str]]) -> str:
    """Return the document with these tables in the place of those of the same columns."""
    lines = text.splitlines()
    for made in tables:
        begin = lines.index(made[0])
        end = next(n for n in range(begin, len(lines)) if not lines[n].startswith("|"))
        lines[begin:end] = made
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    sys.exit(as_command(main))
