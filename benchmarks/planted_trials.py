# SPDX-License-Identifier: Apache-2.0
"""Hardware with planted bugs: what `atoll run` and the conformance kits say of it."""

import re
import shutil
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from random import Random

from tests.rtl.planted import CHIP, RIGHT

from atoll.api.kits import AcceleratorCheck
from atoll.artifacts.samples import random_sample
from atoll.description.accelerator_files import load_accelerator
from atoll.description.build import Build, BuildRequests
from atoll.description.core_files import find_core
from atoll.diagnostics.errors import AtollError
from atoll.diagnostics.progress import silent
from atoll.driver.pipeline import BuildOptions, compile_graph
from atoll.resolve import load_soc
from atoll.utils.scratch import temporary_folder
from atoll_sim.accelerator_test.accelerator_kit import COUNTED, NOWHERE, run_accelerator_test
from atoll_sim.accelerator_test.draw import draw
from atoll_sim.accelerator_test.joined import join
from atoll_sim.accelerator_test.setbacks import try_registers, try_resets
from atoll_sim.accelerator_test.unit_kit import run_unit_test
from atoll_sim.chip.sources import RTL
from atoll_sim.core_test.core_kit import run_core_test
from atoll_sim.runs.checked_run import run_models
from atoll_sim.trace.simulation import Conditions

ROOT = Path(__file__).parents[1]
EXAMPLES = ROOT / "examples"
ENGINES = ROOT / "hw_sim" / "atoll_sim" / "engines"
SOURCES = {
    "reef": ENGINES / "reef",
    "ripple": ENGINES / "ripple",
    "widget": ROOT / "compiler" / "atoll" / "description" / "skeleton" / "widget",
    "loom": EXAMPLES / "11_systolic_array",
    "plover": EXAMPLES / "10_vector_engine",
    "tern": EXAMPLES / "07_own_accelerator",
}
SHARED = {
    "reef": [ENGINES / "common"],
    "ripple": [ENGINES / "common"],
    "tern": [ENGINES / "ripple", ENGINES / "common"],
}
"""Folders with more RTL of an engine: all of tern's work is done by ripple."""

LINES = {engine: engine != "plover" for engine in SOURCES}
"""Which engines have an interrupt."""

DMA = "ripple"
"""What no chip has as an accelerator, so that only the kit tries it."""

UNIT, CORE = "dot4", "picorv32"
"""A function unit, and a core, of which the adapter has the bugs."""

SEEDS = (1, 2, 3)
"""Values with which registers begin: what is not reset may begin rightly by chance."""

OPERATORS = {"reef": 2}
"""Of each kind, which the kit draws; of those of others, `MANY`."""

MANY = 16

_NUMBERED = re.compile(r"^(?P<name>[\w ]+) \((?P<number>[A-Z][0-9]+)\): ")
_NAMED = re.compile(r"\bdevice '?\w|\bcore \w|\bfunction unit '?\w|\bon \w+ (differs|was never)")
_NUMBER = re.compile(r"\(([A-Z][0-9]+)\)")


@dataclass(frozen=True, slots=True)
class Bug:
    """A change of RTL; `right` occurs once in its file.

    Attributes:
        equal: why no use within the documented contract can tell it; "" if one can.
    """

    engine: str
    name: str
    kind: str
    file: str
    right: str
    wrong: str
    equal: str = ""


@dataclass(frozen=True, slots=True)
class Said:
    """What is said of a bug first.

    Attributes:
        rule: number and name of the rule, or what else found it; "" if nothing did.
        message: the sentence a person reads.
    """

    rule: str = ""
    message: str = ""

    @property
    def finds(self) -> bool:
        """Whether it names a rule by number, and a device or core: less is not a find."""
        numbered = re.match(r"[A-Z][0-9]+ ", self.rule)
        return numbered is not None and _NAMED.search(self.message) is not None


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


def device(number: int) -> str:
    """Return the name of a chip's device: the right one is the first."""
    return f"npu{number}" if number else RIGHT


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


def try_run(chip: Path, name: str) -> Said:
    """Return what runs of two operators on one device of a chip say of it first."""
    soc = load_soc(chip)
    engine = next(each for each in soc.engines if each.name == name)
    random = Random(1)
    drawn = [draw(engine.spec.operators[0], engine, soc, random) for _ in range(2)]
    network = join([each for each in drawn if each is not None])
    place = {op.name: name for op in network.operators}
    requests = BuildRequests(model=Build(place=place))
    compiled = compile_graph(soc, network, NOWHERE, BuildOptions(requests=requests))
    samples = random_sample(compiled.graph)
    for seed in SEEDS:
        try:
            (outcome,) = run_models([compiled], [samples], conditions=Conditions(seed=seed))
        except AtollError as error:
            return read_error(error)
        report = outcome.report
        for found in report.violations:
            if found.device == name:
                return Said(f"{found.number} {found.rule}".strip(), str(found).splitlines()[0])
        for mismatch in report.mismatches:
            return Said(f"{mismatch.number} wrong element".strip(), str(mismatch))
    return Said()


def try_provoked(chip: Path, name: str) -> Said:
    """Return what the kit's checks of registers and resets say of one device of a chip first.

    A reset is one of the whole chip: what others do there does not count.
    """
    soc = load_soc(chip)
    engine = next(each for each in soc.engines if each.name == name)
    random = Random(1)
    drawn = [draw(support, engine, soc, random) for support in engine.spec.operators]
    network = join([each for each in drawn if each is not None])
    place = {op.name: name for op in network.operators}
    requests = BuildRequests(model=Build(place=place))
    compiled = compile_graph(soc, network, NOWHERE, BuildOptions(requests=requests))
    with temporary_folder() as folder:
        checks = {
            "registers": try_registers(compiled, COUNTED.conditions, folder / "registers"),
            "resets": try_resets(compiled, COUNTED.conditions, folder / "resets", Random(1)),
        }
        try:
            every = (read_fault(check, fault) for check, found in checks.items() for fault in found)
            return next((said for said in every if names(said, name)), Said())
        except AtollError as error:
            said = read_error(error)
            return said if names(said, name) else Said()


def names(said: Said, name: str) -> bool:
    """Tell whether something is said of a device."""
    return re.search(rf"\b(device|on) '?{name}\b", said.message) is not None


def try_engine(engine: str, bug: Bug | None) -> Said:
    """Return what `atoll accelerator test` says first of an engine with a bug, or without."""
    with temporary_folder() as folder:
        described = load_accelerator(copy_engine(engine, 0, folder, bug), None)
        try:
            count = OPERATORS.get(engine, MANY)
            done = run_accelerator_test(described, {}, operators=count, faults=0, mutants=0)
        except AtollError as error:
            return read_error(error)
    return read_trials(done)


def try_unit(bug: Bug | None) -> Said:
    """Return what `atoll accelerator test` says first of dot4 with a bug, or without."""
    with temporary_folder() as folder:
        path = folder / "unit" / "dot4.yaml"
        shutil.copytree(EXAMPLES / "09_custom_instruction", path.parent)
        if bug:
            plant(bug, path.parent)
        with _importing(path.parent, UNIT):
            try:
                done = run_unit_test(path, operands=4, seed=1, progress=silent)
            except AtollError as error:
                return read_error(error)
    return read_trials(done)


def try_core(bug: Bug | None) -> Said:
    """Return what `atoll core test` says first of PicoRV32 whose adapter has a bug, or none."""
    with temporary_folder() as folder:
        description = find_core(CORE, "", folder, None).read_text()
        (folder / "core.yaml").write_text(
            description.replace("sources: [atoll_", "sources: [./atoll_")
        )
        shutil.copy(RTL / "atoll_picorv32.sv", folder)
        if bug:
            plant(bug, folder)
        try:
            done = run_core_test(str(folder / "core.yaml"), "rv32imc")
        except AtollError as error:
            return read_error(error)
    for trial, faults in done.trials:
        for fault in faults:
            return read_fault(trial.name, fault)
    return Said()


def read_trials(done: AcceleratorCheck) -> Said:
    """Return the first thing that a kit found, with its rule if that has a number."""
    for trial in done.trials:
        for fault in trial.faults:
            return read_fault(trial.name, fault)
    return Said()


def read_fault(check: str, fault: str) -> Said:
    """Return what a kit's check says, with its rule if that has a number."""
    first = fault.splitlines()[0]
    if found := _NUMBERED.match(first):
        return Said(f"{found['number']} {found['name']}", first)
    if found := _NUMBER.search(first):
        return Said(f"{found[1]} {check}", first)
    return Said(f"kit: {check}", first)


def read_error(error: AtollError) -> Said:
    """Return what an error says that ended a run: a rule if it names one, or its code."""
    lines = error.faults[0].message.splitlines()
    line = next((each for each in lines if "Assertion failed" in each), lines[0])
    found = _NUMBER.search(line)
    return Said(f"{found[1]} ({error.code})" if found else error.code, line)


@contextmanager
def _importing(folder: Path, module: str) -> Iterator[None]:
    """Let Python find another module of a name."""
    sys.modules.pop(module, None)
    sys.path.insert(0, str(folder))
    try:
        yield
    finally:
        sys.path.remove(str(folder))
