# SPDX-License-Identifier: Apache-2.0
"""Planted bugs: which of those in planted_bugs.yaml a run or a kit finds, and by which rule."""

import argparse
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import yaml
from tests.rtl.planted import RIGHT

from atoll.utils.scratch import temporary_folder
from benchmarks.planted_trials import (
    CORE,
    DMA,
    SOURCES,
    UNIT,
    Bug,
    Said,
    device,
    try_core,
    try_engine,
    try_provoked,
    try_run,
    try_unit,
    write_chip,
)

BUGS = Path(__file__).with_name("planted_bugs.yaml")
IDENTITY = "identity"
RUN, KIT = "run", "kit"
ALONE = {UNIT: try_unit, CORE: try_core}
"""What only a kit tries."""


@dataclass(frozen=True, slots=True)
class Verdict:
    """What finds a bug first, `RUN` or `KIT`, and what it says."""

    bug: Bug
    by: str
    said: Said


def read_bugs(path: Path = BUGS) -> Iterator[Bug]:
    """Return the bugs of a table, in its order."""
    for engine, bugs in yaml.safe_load(path.read_text()).items():
        for each in bugs:
            yield Bug(engine, *each)


def judge(bugs: Iterable[Bug], at_once: int) -> Iterator[Verdict]:
    """Say of each bug what finds it: a run, or where that does not, a kit."""
    kept = tuple(bugs)
    for engine, try_bug in ALONE.items():
        if mine := [bug for bug in kept if bug.engine == engine]:
            refuse_false(engine, try_bug(None))
            yield from (Verdict(bug, KIT, try_bug(bug)) for bug in mine)
    left: dict[str, list[Bug]] = defaultdict(list)
    left[DMA] += [bug for bug in kept if bug.engine == DMA]
    run = [bug for bug in kept if bug.engine in SOURCES and bug.engine != DMA]
    for some in group(run, at_once):
        for verdict in run_together(some):
            if verdict.said.finds:
                yield verdict
            else:
                left[verdict.bug.engine].append(verdict.bug)
    for engine, mine in left.items():
        if not mine:
            continue
        refuse_false(engine, try_engine(engine, None))
        yield from (Verdict(bug, KIT, try_engine(engine, bug)) for bug in mine)


def group(bugs: Iterable[Bug], at_once: int) -> Iterator[list[Bug]]:
    """Return bugs that may share a chip; firmware stops where any identity is wrong."""
    groups: dict[tuple[str, bool], list[Bug]] = {}
    for bug in bugs:
        groups.setdefault((bug.engine, bug.kind == IDENTITY), []).append(bug)
    for (_, alone), members in groups.items():
        size = 1 if alone else at_once
        for first in range(0, len(members), size):
            yield members[first : first + size]


def run_together(bugs: Sequence[Bug]) -> Iterator[Verdict]:
    """Run each bug on a chip that it shares with others: hardware is built once for them.

    Where that does not find it, the kit's checks of registers and resets try it there, too. One
    that stops the chip whatever runs on it is taken out, and the others run without it.
    """
    with temporary_folder() as folder:
        chip = write_chip(bugs[0].engine, bugs, folder)
        right = try_run(chip, RIGHT)
        stops = [n for n in range(1, len(bugs) + 1) if f"'{device(n)}'" in right.message]
        if right.rule and bugs[0].kind != IDENTITY and not stops:
            refuse_false(bugs[0].engine, right)
        if not stops:
            refuse_false(bugs[0].engine, try_provoked(chip, RIGHT))
            for number, bug in enumerate(bugs, start=1):
                said = try_run(chip, device(number))
                found = said if said.finds else try_provoked(chip, device(number))
                yield Verdict(bug, RUN if said.finds else KIT, found)
            return
    yield Verdict(bugs[stops[0] - 1], RUN, right)
    if others := [bug for number, bug in enumerate(bugs, start=1) if number != stops[0]]:
        yield from run_together(others)


def refuse_false(engine: str, said: Said) -> None:
    """Raise ValueError if something is said of an engine without a bug."""
    if said.rule:
        raise ValueError(f"{engine} without a bug: {said.rule}: {said.message}")


def summary(verdicts: Sequence[Verdict]) -> Iterator[str]:
    """Yield tables of how many bugs were found, by engine and by kind.

    What does not name a device, and a rule by its number, found nothing. Bugs that nothing can tell
    do not count, unless they were found.
    """
    counted = [each for each in verdicts if each.said.finds or not each.bug.equal]
    columns: Mapping[str, list[str]] = {
        "engine": [each.bug.engine for each in counted],
        "kind": [each.bug.kind for each in counted],
    }
    found = [each.said.finds for each in counted]
    for title, names in columns.items():
        totals = Counter(names)
        right = Counter(name for name, each in zip(names, found, strict=True) if each)
        yield f"\n| {title} | found | of |\n|---|---|---|"
        yield from (f"| {name} | {right[name]} | {total} |" for name, total in totals.items())
    by = Counter(each.by for each in counted if each.said.finds)
    yield (
        f"\n{sum(found)} of {len(found)} found, {by[RUN]} by run and {by[KIT]} by a kit;"
        f" {len(verdicts) - len(counted)} more make no difference"
    )


def main() -> None:
    """Print a row for each bug, and how many were found."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--engine", choices=(*SOURCES, *ALONE), help="only bugs of this one")
    parser.add_argument("--bug", help="only the bug of this name")
    parser.add_argument("--at-once", type=int, default=13, help="bugs that share a chip")
    chosen = parser.parse_args()
    bugs = [
        bug
        for bug in read_bugs()
        if chosen.engine in (None, bug.engine) and chosen.bug in (None, bug.name)
    ]
    verdicts = []
    print("| RTL | bug | kind | found by | rule | message |\n|---|---|---|---|---|---|", flush=True)
    for each in judge(bugs, chosen.at_once):
        verdicts.append(each)
        bug, said = each.bug, each.said
        less = ("**nothing**", said.rule, said.message or bug.equal)
        by = (each.by, said.rule, said.message) if said.finds else less
        print(f"| {' | '.join((bug.engine, bug.name, bug.kind, *by))} |", flush=True)
    print(*summary(verdicts), sep="\n")


if __name__ == "__main__":
    main()
