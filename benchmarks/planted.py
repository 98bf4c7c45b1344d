# SPDX-License-Identifier: Apache-2.0
"""Planted bugs: which of those in planted_bugs.yaml a run finds, and by which rule."""

import argparse
import re
import shutil
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from random import Random

import yaml
from tests.rtl.planted import CHIP, RIGHT

from atoll.artifacts.samples import random_sample
from atoll.description.build import Build, BuildRequests
from atoll.diagnostics.errors import AtollError
from atoll.driver.pipeline import BuildOptions, compile_graph
from atoll.resolve import load_soc
from atoll.utils.scratch import temporary_folder
from atoll_sim.accelerator_test.accelerator_kit import NOWHERE
from atoll_sim.accelerator_test.draw import draw
from atoll_sim.accelerator_test.joined import join
from atoll_sim.runs.checked_run import run_models

ROOT = Path(__file__).parents[1]
BUGS = Path(__file__).with_name("planted_bugs.yaml")
SOURCES = {
    "widget": ROOT / "compiler" / "atoll" / "description" / "skeleton" / "widget",
    "loom": ROOT / "examples" / "11_systolic_array",
    "plover": ROOT / "examples" / "10_vector_engine",
    "tern": ROOT / "examples" / "07_own_accelerator",
}
SHARED = {
    "tern": [ROOT / "hw_sim" / "atoll_sim" / "engines" / name for name in ("ripple", "common")]
}
"""Folders with more RTL of an engine: all of tern's work is done by ripple."""

LINES = {"widget": True, "loom": True, "plover": False, "tern": True}
"""Which engines have an interrupt."""

IDENTITY = "identity"
SEEDS = (1, 2, 3)
"""Values with which registers begin: what is not reset may begin rightly by chance."""


@dataclass(frozen=True, slots=True)
class Bug:
    """A change of one engine's RTL; `right` occurs once in its file."""

    engine: str
    name: str
    kind: str
    file: str
    right: str
    wrong: str


@dataclass(frozen=True, slots=True)
class Verdict:
    """What a run says about a bug.

    Attributes:
        rule: number and name of the first rule, or what else found it; "" if nothing did.
        message: the sentence a person reads.
    """

    bug: Bug
    rule: str
    message: str


def read_bugs(path: Path = BUGS) -> Iterator[Bug]:
    """Return the bugs of a table, in its order."""
    for engine, bugs in yaml.safe_load(path.read_text()).items():
        for each in bugs:
            yield Bug(engine, *each)


def plant(bug: Bug, folder: Path) -> None:
    """Change the copy of an engine; raise ValueError if the text is not there just once."""
    path = folder / bug.file
    text = path.read_text()
    if text.count(bug.right) != 1:
        raise ValueError(
            f"{bug.engine}, {bug.name}: {bug.file} has its text {text.count(bug.right)} times"
        )
    path.write_text(text.replace(bug.right, bug.wrong))


def copy_engine(engine: str, number: int, folder: Path, bug: Bug | None) -> Path:
    """Copy an engine under a name of its own, with a bug or without; return its description."""
    target = folder / f"{engine}{number}"
    shutil.copytree(SOURCES[engine], target)
    for source in SHARED.get(engine, ()):
        for path in source.glob("*.sv"):
            if not path.stem.endswith("_pkg"):
                shutil.copy(path, target)
    if bug:
        plant(bug, target)
    prefixes = "|".join(sorted({path.stem.split("_")[0] for path in target.glob("*.sv")}))
    own = r"(?!_pkg\b)" if engine in SHARED else ""
    name = re.compile(rf"\b({prefixes}){own}(?=\b|_)")
    for path in sorted(target.glob("*.sv")):
        text = name.sub(rf"\g<1>{number}", path.read_text())
        path.with_name(name.sub(rf"\g<1>{number}", path.name)).write_text(text)
        path.unlink()
    description = target / f"{engine}.yaml"
    text = description.read_text()
    text = re.sub(rf"^accelerator: {engine}$", rf"\g<0>{number}", text, flags=re.M)
    text = re.sub(rf"(module: ){engine}\b", rf"\g<1>{engine}{number}", text)
    text = re.sub(rf"(?:\./)?\b({prefixes}){own}((?:_\w+)?\.sv)\b", rf"./\g<1>{number}\g<2>", text)
    description.write_text(text.replace(f" {engine}:", f" ./{engine}.py:"))
    return description


def write_chip(engine: str, bugs: Sequence[Bug], folder: Path) -> Path:
    """Write a chip with an engine that is right, and one with each bug."""
    devices = []
    for number, bug in enumerate([None, *bugs]):
        path = copy_engine(engine, number, folder, bug)
        line = f", irq: {3 + number}" if LINES[engine] else ""
        devices.append(
            f"  {device(number)}: {{kind: npu, accelerator: ./{path.relative_to(folder)},"
            f" registers: {0x4000_0000 + 0x1000 * number:#x}{line}}}"
        )
    names = [device(number) for number in range(len(devices))] if LINES[engine] else []
    chip = folder / "chip.yaml"
    chip.write_text(
        CHIP.format(
            devices="\n".join(devices),
            reads=", ".join(f"{name}: ro" for name in names),
            writes=", ".join(f"{name}: rw" for name in names),
        )
    )
    return chip


def device(number: int) -> str:
    """Return the name of a chip's device: the right one is the first."""
    return f"npu{number}" if number else RIGHT


def judge(chip: Path, name: str) -> tuple[str, str]:
    """Run two operators on one device of a chip; return rule and message of the first finding."""
    soc = load_soc(chip)
    engine = next(each for each in soc.engines if each.name == name)
    random = Random(1)
    drawn = [draw(engine.spec.operators[0], engine, soc, random) for _ in range(2)]
    network = join([each for each in drawn if each is not None])
    place = {op.name: name for op in network.operators}
    requests = BuildRequests(model=Build(place=place))
    compiled = compile_graph(soc, network, NOWHERE, BuildOptions(requests=requests))
    for seed in SEEDS:
        try:
            (outcome,) = run_models([compiled], [random_sample(compiled.graph)], start_seed=seed)
        except AtollError as error:
            return "stopped", " ".join(str(error).split())
        report = outcome.report
        for found in report.violations:
            if found.device == name:
                return f"{found.number} {found.rule}".strip(), found.detail
        for mismatch in report.mismatches:
            return "wrong element", str(mismatch)
    return "", ""


def judge_all(bugs: Iterable[Bug], at_once: int) -> Iterator[Verdict]:
    """Run each bug on a chip that it shares with others: hardware is built once for them."""
    for some in group(bugs, at_once):
        engine = some[0].engine
        with temporary_folder() as folder:
            chip = write_chip(engine, some, folder)
            rule, message = judge(chip, RIGHT)
            if rule and some[0].kind != IDENTITY:
                raise ValueError(f"{engine} without a bug: {rule}: {message}")
            for number, bug in enumerate(some, start=1):
                yield Verdict(bug, *judge(chip, device(number)))


def group(bugs: Iterable[Bug], at_once: int) -> Iterator[list[Bug]]:
    """Return bugs that may share a chip; firmware stops where any identity is wrong."""
    groups: dict[tuple[str, bool], list[Bug]] = {}
    for bug in bugs:
        groups.setdefault((bug.engine, bug.kind == IDENTITY), []).append(bug)
    for (_, alone), members in groups.items():
        size = 1 if alone else at_once
        for first in range(0, len(members), size):
            yield members[first : first + size]


def main() -> None:
    """Print a row for each bug, and how many were found."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--engine", choices=SOURCES, help="only bugs of this one")
    parser.add_argument("--bug", help="only the bug of this name")
    parser.add_argument("--at-once", type=int, default=13, help="bugs that share a chip")
    chosen = parser.parse_args()
    bugs = [
        bug
        for bug in read_bugs()
        if chosen.engine in (None, bug.engine) and chosen.bug in (None, bug.name)
    ]
    found: Counter[bool] = Counter()
    print("| engine | bug | kind | found by | message |\n|---|---|---|---|---|")
    for each in judge_all(bugs, chosen.at_once):
        found[bool(each.rule)] += 1
        bug = each.bug
        rule = each.rule or "**nothing**"
        print(f"| {bug.engine} | {bug.name} | {bug.kind} | {rule} | {each.message} |", flush=True)
    print(f"\n{found[True]} of {found.total()} found")


if __name__ == "__main__":
    main()
