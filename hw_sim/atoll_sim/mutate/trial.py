# SPDX-License-Identifier: Apache-2.0
"""Run one mutant in RTL up to the first thing that is wrong with it."""

import json
import os
import struct
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

from atoll.artifacts.samples import Sample
from atoll.driver.pipeline import Compiled
from atoll.ops import reference
from atoll.records import dataclass
from atoll.report.result import Violation
from atoll.utils.children import TimeLimitError, run
from atoll_sim.chip.memory_map import write_map
from atoll_sim.chip.sources import read_folders
from atoll_sim.model.process import reading_from
from atoll_sim.mutate.mutant import Mutant, Right
from atoll_sim.protocol.records import AFTER_RUN
from atoll_sim.shadow.table import bus_masters, shadow_table
from atoll_sim.simulate.firmware import Segment, started_cores, write_segments
from atoll_sim.trace.contents import contents_of
from atoll_sim.trace.findings import name_findings, unreachable_ports
from atoll_sim.trace.run_files import IMAGE, SHADOW

PATIENCE = 3
"""A run is stopped after so many times the cycles of the right one."""
MAX_SECONDS = 300.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Verdict:
    """Who noticed a fault first.

    Attributes:
        by: rule of the shadow memory, or what else told; empty if nothing did.
        shadow: the shadow memory noticed it.
        number: promise of docs/semantics.md that was broken, if it did.
        detail: one sentence.
        equivalent: why it is no fault, if it was not noticed and that is proven.
    """

    by: str
    shadow: bool = False
    number: str = ""
    detail: str = ""
    equivalent: str = ""

    @property
    def caught(self) -> bool:
        """Something noticed."""
        return bool(self.by)


def try_image(
    right: Right,
    mutant: Mutant,
    segments: tuple[Segment, ...],
    folder: Path,
) -> Verdict:
    """Run the image of a mutant.

    What made wrong commands would say that they are right, so at first their contents are taken
    from the mutant; if nothing else notices, they are compared with the right ones.

    Args:
        right: the model to run on, and how long a run takes.
        mutant: its judge's contract holds, and its inputs are filled and its results compared.
        segments: what is loaded.
        folder: takes the files of the trial.

    Raises:
        SimulationError: E084; the image does not fit the chip.
    """
    judged = mutant.judged
    started = started_cores(right.segments, judged.soc, tuple(right.code))
    write_segments(segments, judged.soc, started, folder / IMAGE)
    _write_task(right, mutant, folder)
    mapped = write_map(right.compiled.soc, folder, mutant.windows)
    for found in unreachable_ports(judged.soc, judged.contract):
        return _by_rule(found)
    verdict = Verdict(by="")
    believed, true = ({**contents_of(each)} for each in (mutant.built, judged))
    for contents in (believed, true) if believed != true else (true,):
        table = shadow_table(judged.soc, [judged.contract], [contents], right.data, right.code)
        (folder / SHADOW).write_bytes(table.words)
        command = [str(right.executable), *mapped, "--shadow", str(folder / SHADOW)]
        told = _run(command, folder, read_folders(right.compiled.soc))
        if told["stop"] == "finding":
            finding = bytes.fromhex(told["finding"])
            return _by_rule(name_findings(finding, table, judged.soc)[0].violation)
        verdict = _other(told, judged)
        if verdict.caught:
            break
    return verdict


def expected_bytes(compiled: Compiled, sample: Sample) -> Iterator[tuple[int, str, bytes]]:
    """Yield what each operator must have written when it ends, and the outputs after the run."""
    values: Mapping[str, Any] = reference.run(compiled.graph, sample, compiled.soc)
    written = {step.number: step.writes for step in compiled.module.entry.steps}
    for number, operator in enumerate(compiled.graph.operators):
        for name in operator.outputs:
            if (buffer := compiled.graph.buffer(name)) in written.get(number, ()):
                yield number, buffer, compiled.graph.tensor(name).bytes_of(values[name])
    for name in compiled.graph.outputs:
        yield AFTER_RUN, name, values[name].tobytes()


def _write_task(right: Right, mutant: Mutant, folder: Path) -> None:
    """Write what judge.h describes, but the image."""
    judged = mutant.judged
    address = judged.plan.address
    inputs = ((address(name), values.tobytes()) for name, values in right.sample.items())
    (folder / "sample.bin").write_bytes(
        b"".join(struct.pack("<II", at, len(data)) + data for at, data in inputs)
    )
    (folder / "expected.bin").write_bytes(
        b"".join(
            struct.pack("<III", number, address(name), len(data)) + data
            for number, name, data in expected_bytes(judged, right.sample)
        )
    )
    (folder / "task.txt").write_text(f"cycles {PATIENCE * right.cycles}\n")


def _run(command: list[str], folder: Path, reads: Iterable[Path]) -> Mapping[str, Any]:
    """Return what the model says; an assertion in RTL ends its process."""
    try:
        done = run(
            [*command, "--judge", str(folder)],
            folder=folder,
            environment={**os.environ, **reading_from(reads)},
            seconds=MAX_SECONDS,
        )
    except TimeLimitError:
        return {"stop": "limit", "cycle": 0}
    lines = done.stdout.splitlines()
    if done.returncode or not lines or not lines[-1].startswith("{"):
        said = [line for line in (done.stdout + done.stderr).splitlines() if line.strip()]
        said = [line for line in said if "%Error" in line] or said
        return {"stop": "assertion", "said": said[0] if said else f"status {done.returncode}"}
    told: Mapping[str, Any] = json.loads(lines[-1])
    return told


def _by_rule(found: Violation) -> Verdict:
    return Verdict(by=found.rule, shadow=True, number=found.number, detail=str(found))


def _other(told: Mapping[str, Any], judged: Compiled) -> Verdict:
    """Return what else than the shadow memory noticed."""
    value = told.get("value", 0)
    match told["stop"]:
        case "bytes":
            number = told["operator"]
            names = {step.number: step.operator for step in judged.module.entry.steps}
            where = names.get(number, "the end of the run")
            detail = f"after {where} a result differs at {told['address']:#010x}"
            return Verdict(by="wrong bytes", detail=detail)
        case "early":
            return Verdict(by="early end", detail="the firmware ends before the run does")
        case "status":
            status = value - 2**32 if value >= 2**31 else value
            return Verdict(by="error code", detail=f"the run function returns {status}")
        case "trap":
            core = bus_masters(judged.soc)[value].name
            return Verdict(by="trap", detail=f"{core} met an illegal instruction or address")
        case "limit":
            return Verdict(by="no end", detail="the firmware does not end")
        case "assertion":
            return Verdict(by="assertion in RTL", detail=told["said"])
        case "exit" if value:
            return Verdict(by="error code", detail=f"the firmware ends with {value}")
    return Verdict(by="")
