# SPDX-License-Identifier: Apache-2.0
"""What cores that make parts of one operator may touch, and what they may not."""

from dataclasses import replace
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
from tests.requests import load_requests

from atoll.artifacts.samples import random_sample
from atoll.contract.contract import Phase, Span
from atoll.driver.pipeline import BuildOptions, Compiled, compile_file
from atoll.resolve import load_soc
from atoll_sim.host.native_run import run_native
from atoll_sim.protocol.records import AccessKind
from atoll_sim.trace.findings import violations

READ, WRITE, _ = AccessKind

DIGITS = Path(__file__).parents[3] / "examples" / "01_digits" / "digits_int8.tflite"
CORES = ("cpu0", "cpu1", "cpu2", "cpu3")
CPU0, CPU1, CPU2, CPU3 = range(4)
UNDER_WAY = "touched while under way"


@pytest.fixture(scope="module")
def compiled() -> Compiled:
    """Every kernel's buffers are in pools, so that each part has scratch of its own."""
    limits = [f"devices.{core}.limits.max_stack_alloca_size=0" for core in CORES]
    requests = load_requests(None, overlap="none")
    return compile_file(load_soc("quad", limits), DIGITS, BuildOptions(requests=requests))


@pytest.fixture
def phase(compiled: Compiled) -> Phase:
    """The first operator, of which all four cores make a part."""
    return compiled.contract.phases[0]


@pytest.fixture
def bench(shadow: ModuleType, compiled: Compiled) -> Any:
    """A shadow memory in which the first operator is under way."""
    made = shadow.Bench(compiled.contract, chip=compiled.soc)
    made.start()
    made.event(1, 0)
    return made


def scratch(part: Phase) -> Span:
    (found,) = (span for span in part.writes if span in part.reads)
    return found


def result(part: Phase) -> Span:
    (found,) = (span for span in part.writes if span not in part.reads)
    return found


def rules(bench: Any) -> list[tuple[str, str]]:
    return [(each.rule, each.device) for each in bench.found()]


def test_each_part_has_its_own_scratch_and_they_share_the_result(
    compiled: Compiled, phase: Phase
) -> None:
    parts = (phase, *phase.parts)
    assert tuple(part.device for part in parts) == CORES
    assert len({scratch(part) for part in parts}) == 4
    assert len({result(part) for part in parts}) == 1
    step = compiled.module.entry.steps[0]
    assert {span.buffer for part in parts for span in part.writes} == {*step.writes}


def test_parts_that_write_bytes_of_their_own_have_no_finding(bench: Any, phase: Phase) -> None:
    quarter = result(phase).size // 4
    for turn in range(2):
        for master, part in enumerate((phase, *phase.parts)):
            for span in part.reads:
                if span != scratch(part):
                    bench.read(master, span.buffer)
            bench.write(master, scratch(part).buffer)
            bench.read(master, scratch(part).buffer)
            begin = master * quarter + turn * quarter // 2
            bench.write(master, result(part).buffer, begin, begin + quarter // 2)
    bench.event(2, 0)
    bench.event(1, 1)
    bench.read(CPU2, result(phase).buffer)
    assert bench.found() == ()


def test_a_byte_that_another_part_has_written_is_found(bench: Any, phase: Phase) -> None:
    name = result(phase).buffer
    bench.write(CPU1, name, 0, 100)
    bench.write(CPU1, name, 0, 100)
    assert bench.found() == ()
    bench.write(CPU3, name, 99, 200)
    (found,) = bench.found()
    assert (found.device, found.buffer, found.rule) == ("cpu3", name, UNDER_WAY)
    assert found.count == 1


def test_reading_what_another_part_has_written_is_found(bench: Any, phase: Phase) -> None:
    name = result(phase).buffer
    bench.write(CPU1, name, 0, 100)
    bench.read(CPU1, name, 0, 100)
    assert bench.found() == ()
    bench.read(CPU0, name, 0, 4)
    assert rules(bench) == [(UNDER_WAY, "cpu0")]


@pytest.mark.parametrize("kind", [READ, WRITE])
def test_the_scratch_of_another_part_is_not_its_own(
    bench: Any, phase: Phase, kind: AccessKind
) -> None:
    span = scratch(phase.parts[0])
    bench.write(CPU1, span.buffer)
    bench.at(CPU2, kind, span.address, 4)
    assert [device for _, device in rules(bench)] == ["cpu2"]


def test_when_the_operator_has_ended_no_part_may_go_on(bench: Any, phase: Phase) -> None:
    name = result(phase).buffer
    bench.write(CPU0, name)
    bench.event(2, 0)
    assert bench.found() == ()
    bench.write(CPU2, name, 0, 4)
    assert [device for _, device in rules(bench)] == ["cpu2"]


def test_a_native_run_follows_every_part(compiled: Compiled) -> None:
    sample = random_sample(compiled.graph)
    assert violations(run_native((compiled,), (sample,))) == ()
    phases = dict(compiled.contract.phases)
    *others, last = phases[0].parts
    phases[0] = replace(phases[0], parts=(*others, replace(last, writes=(result(last),))))
    wrong = replace(compiled, contract=replace(compiled.contract, phases=phases))
    first, *_ = violations(run_native((wrong,), (sample,)))
    assert (first.device, first.operator) == ("cpu3", "conv_2d_0")
