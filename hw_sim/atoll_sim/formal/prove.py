# SPDX-License-Identifier: Apache-2.0
"""Prove properties of RTL by Yosys and ABC, or find a run that breaks one.

Properties are labelled immediate assertions in clocked processes, assumptions likewise. A proof is
unbounded, by property directed reachability, unless a depth is stated: then no run of that many
cycles from the first one breaks a property.
"""

import json
import re
import sys
from collections.abc import Iterator, Mapping, Sequence
from importlib.util import find_spec
from pathlib import Path
from types import MappingProxyType
from typing import Any

from atoll.api.proofs import SECONDS
from atoll.records import dataclass
from atoll.utils.children import TOOL_SECONDS, Done, start, too_long
from atoll.utils.scratch import temporary_folder
from atoll_sim.build.tools import failure

MACROS = Path(__file__).parent
"""Where the assertions of the RTL are those of proofs."""
REMEDY = "install what proofs need, with: pip install 'atoll[formal]'"
BEYOND, BRIEFLY = 8, 5
"""Cycles after the first failure, and seconds for each, in which others are sought."""
LOAD = "read_aiger model.aig; fold; strash"
NEXT = "next"
PROVEN = "Property proved"
BOUNDED = "No output asserted in {} frames"


@dataclass(frozen=True, kw_only=True)
class Design:
    """RTL with properties.

    Attributes:
        top: Its module; inputs of it are free in each cycle.
        sources: Files in SystemVerilog, packages first.
        includes: Folders of what they include.
        parameters: Of this module, by name.
        several_clocks: It has more than one clock. Each is an input whose edges come in any
            pattern, and a cycle is a step in which any of them may have one.
        reset: An input that is low before the first cycle and high from then on; if "", none is.
            The clock is `clk_i` then.
        own: Assertions of the RTL are properties, too.
    """

    top: str
    sources: tuple[Path, ...]
    includes: tuple[Path, ...] = ()
    parameters: tuple[tuple[str, int], ...] = ()
    several_clocks: bool = False
    reset: str = ""
    own: bool = True


@dataclass(frozen=True, kw_only=True)
class Verdict:
    """What came out.

    Attributes:
        properties: What was asked, as `instance.label`; assertions of the RTL are among them.
        assumptions: What was assumed, likewise.
        refuted: The properties that some run breaks, none if all hold or nothing is decided: the
            first one in time, and others that break soon after.
        cycle: In which cycle the shortest run that was found breaks one, else None.
        inputs: The values of the top module's inputs in this run, one a cycle.
        decided: False if the time was too short.
        seconds: Of a processor, with elaboration.
    """

    properties: tuple[str, ...]
    assumptions: tuple[str, ...]
    refuted: tuple[str, ...]
    cycle: int | None
    inputs: Mapping[str, tuple[int, ...]]
    decided: bool
    seconds: float

    @property
    def proven(self) -> bool:
        """There are properties, and all hold."""
        return self.decided and bool(self.properties) and not self.refuted


class Tools:
    """Programs that work in one folder.

    Attributes:
        folder: Where they run.
        seconds: Of a processor, that they have taken.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.seconds = 0.0

    def run(self, command: Sequence[str]) -> Done:
        """Run a program to its end; errors as `atoll.utils.children.run`."""
        with start(command, folder=self.folder) as child:
            out, err = child.communicate()
            status = child.wait()
        if child.over:
            raise too_long(command, TOOL_SECONDS, self.folder)
        self.seconds += child.processor_seconds
        return Done(list(command), status, out, err)


def available() -> bool:
    """Say whether the extra `formal` is installed."""
    return find_spec("pyosys") is not None


def decide(design: Design, *, depth: int | None = None, seconds: int = SECONDS) -> Verdict:
    """Prove or refute all properties of a design together.

    Args:
        design: with at least one property.
        depth: cycles from the first one, or None for an unbounded proof.
        seconds: what ABC may take for one question.

    Raises:
        ToolchainError: E077, Yosys or ABC failed; E100, it did not end.
        UsageError: E092, the cache is not writable.
    """
    with temporary_folder() as folder:
        tools = Tools(folder)
        _elaborate(design, tools)
        names = json.loads((folder / "map.json").read_text())
        asserted = [_label(path) for path in names["asserts"]]
        # A limit of ABC counts frames; a check of a clock is seen in the frame after.
        engine = "pdr" if depth is None else f"bmc3 -F {depth + 1}"
        said = _ask(tools, f"{engine} -T {seconds}; write_cex -n run.txt") if asserted else PROVEN
        broken = re.search(r"Output (\d+) of miter .* was asserted in frame (\d+)", said)
        refuted: tuple[str, ...] = ()
        inputs: Mapping[str, tuple[int, ...]] = MappingProxyType({})
        if broken:
            inputs = _inputs((folder / "run.txt").read_text(), names["inputs"])
            limits = f"-F {int(broken[2]) + BEYOND} -T {BRIEFLY}"
            also = _find_broken(tools, asserted, f"bmc3 {limits}")
            refuted = tuple(dict.fromkeys((asserted[int(broken[1])], *also)))
        return Verdict(
            properties=tuple(sorted(map(_label, _properties(folder)))),
            assumptions=tuple(sorted(map(_label, names["assumes"]))),
            refuted=refuted,
            cycle=int(broken[2]) - 1 if broken else None,
            inputs=inputs,
            decided=bool(broken) or (BOUNDED.format(depth + 1) if depth else PROVEN) in said,
            seconds=tools.seconds,
        )


def _elaborate(design: Design, tools: Tools) -> None:
    folders = (*((MACROS,) if design.own else ()), *design.includes)
    read = (
        *(f'-I "{path.resolve()}"' for path in folders),
        *(f"-G {name}={value}" for name, value in design.parameters),
        *(f'"{path.resolve()}"' for path in design.sources),
    )
    (tools.folder / "sources.f").write_text("\n".join(read))
    clocks = "several" if design.several_clocks else "one"
    reset = (design.reset,) if design.reset else ()
    command = (sys.executable, "-m", "atoll_sim.formal.elaborate", design.top, clocks, *reset)
    done = tools.run(command)
    if done.returncode:
        said = [line for line in done.stdout.splitlines() if "error" in line.lower()]
        said += done.stderr.splitlines()
        raise failure(("pyosys",), f"the model of '{design.top}'", done.returncode, said)


def _properties(folder: Path) -> list[list[str]]:
    return [[line] for line in (folder / "properties").read_text().split()]


def _label(path: Sequence[str]) -> str:
    """Return a property's name without the blocks that its macro makes."""
    parts = path[-1].lstrip("\\").split(".")
    return ".".join(part for part in parts if part != f"gen_{parts[-1]}")


def _find_broken(tools: Tools, asserted: Sequence[str], engine: str) -> Iterator[str]:
    """Yield the properties that an engine breaks, each on its own: `bmc3 -a` crashes."""
    each = (f"&get; &cone -O {number} -R 1; &put; {engine}" for number in range(len(asserted)))
    said = _ask(tools, f"; echo {NEXT}; {LOAD}; ".join(each))
    for name, part in zip(asserted, said.split(NEXT), strict=True):
        if "was asserted" in part:
            yield name


def _ask(tools: Tools, engine: str) -> str:
    """Return what ABC says of a model."""
    spec = find_spec("pyosys")
    assert spec is not None
    assert spec.origin is not None
    program = str(Path(spec.origin).with_name("yosys-abc"))
    command = (program, "-q", f"{LOAD}; {engine}")
    done = tools.run(command)
    if done.returncode:
        raise failure(command, "a proof", done.returncode, (done.stdout + done.stderr).splitlines())
    return done.stdout


def _inputs(run_text: str, named: Sequence[Mapping[str, Any]]) -> Mapping[str, tuple[int, ...]]:
    """Return the values of the top module's inputs in the run that ABC wrote, one a cycle."""
    bits = {
        (int(number), int(frame)): int(value)
        for number, frame, value in re.findall(r"pi0*(\d+)@(\d+)=(\d)", run_text)
    }
    frames = 1 + max((frame for _, frame in bits), default=0)
    values: dict[str, list[int]] = {}
    for each in named:
        name = str(each["path"][-1]).lstrip("\\")
        row = values.setdefault(name, [0] * frames)
        for frame in range(frames):
            row[frame] |= bits.get((each["input"], frame), 0) << each["offset"]
    return MappingProxyType({name: tuple(row) for name, row in values.items()})
