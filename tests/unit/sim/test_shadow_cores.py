# SPDX-License-Identifier: Apache-2.0
"""What a core that is not the host may touch, and when."""

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
from tests.requests import load_requests

from atoll.artifacts.samples import random_sample
from atoll.contract.contract import Phase
from atoll.driver.pipeline import BuildOptions, Compiled, compile_file
from atoll.ir.tir import AcceleratorWait, CallStart, Step
from atoll.resolve import load_soc
from atoll.resolve.soc import Cpu
from atoll_sim.host.native_run import run_native
from atoll_sim.protocol.records import AccessKind
from atoll_sim.trace.findings import violations

READ, WRITE, FETCH = AccessKind

DIGITS = Path(__file__).parents[3] / "examples" / "01_digits" / "digits_int8.tflite"
CPU, DSP = range(2)
FOREIGN, UNREACHED = "stack of another device", "device without reach"


@pytest.fixture(scope="module")
def compiled() -> Compiled:
    requests = load_requests(None, ["softmax_9=dsp"], overlap="none")
    return compile_file(load_soc("twin"), DIGITS, BuildOptions(requests=requests))


def phase_of(device: str, compiled: Compiled) -> Phase:
    (found,) = (each for each in compiled.contract.phases.values() if each.device == device)
    return found


@pytest.fixture
def step(compiled: Compiled) -> Phase:
    """What the plan says of the dsp's only operator."""
    return phase_of("dsp", compiled)


@pytest.fixture
def bench(shadow: ModuleType, compiled: Compiled) -> Any:
    """A shadow memory that has seen nothing yet."""
    return shadow.Bench(compiled.contract, chip=compiled.soc)


def dsp(compiled: Compiled) -> Cpu:
    core = compiled.soc.device("dsp")
    assert isinstance(core, Cpu)
    return core


def steps_before(compiled: Compiled, number: int) -> Iterator[Step]:
    """Yield what begins before an operator does."""
    for step in compiled.module.entry.steps:
        if step.number == number:
            return
        if not isinstance(step.action, AcceleratorWait):
            yield step


def go_to(bench: Any, compiled: Compiled, number: int) -> None:
    """Do all before an operator, and begin it."""
    bench.start()
    for step in steps_before(compiled, number):
        bench.operator(step.number)
    bench.event(1, number)


def rules(bench: Any) -> list[tuple[str, str]]:
    return [(each.rule, each.device) for each in bench.found()]


def test_a_run_with_an_operator_on_the_dsp_has_no_finding(
    compiled: Compiled, bench: Any, step: Phase
) -> None:
    assert step.operator == "softmax_9"
    go_to(bench, compiled, step.number)
    bench.body(step.number)
    bench.event(2, step.number)
    assert bench.found() == ()
    assert violations(run_native((compiled,), (random_sample(compiled.graph),))) == ()


def test_a_call_that_is_under_way_beside_others_is_followed_natively(
    tmp_path: Path, tflite_builder: ModuleType, every_operator: Any
) -> None:
    path = tmp_path / "every.tflite"
    path.write_bytes(tflite_builder.write(every_operator))
    options = BuildOptions(
        requests=load_requests(None, ["average_pool_2d_7=dsp"]), accelerators=False
    )
    found = compile_file(load_soc("twin"), path, options)
    (started,) = (s for s in found.module.entry.steps if isinstance(s.action, CallStart))
    assert violations(run_native((found,), (random_sample(found.graph),))) == ()
    phases = dict(found.contract.phases)
    phases[started.number] = replace(phases[started.number], writes=())
    wrong = replace(found, contract=replace(found.contract, phases=phases))
    first, *_ = violations(run_native((wrong,), (random_sample(wrong.graph),)))
    assert (first.device, first.operator) == ("dsp", started.operator)


@pytest.mark.parametrize("under_way", [False, True])
def test_its_own_regions_are_its_own_at_any_time(
    compiled: Compiled, bench: Any, step: Phase, under_way: bool
) -> None:
    core = dsp(compiled)
    assert core.mailbox is not None
    if under_way:
        go_to(bench, compiled, step.number)
    own = core.stack.end - core.max_stack_size.value
    for kind, begin, end in (
        (WRITE, own, core.stack.end),
        (READ, core.data.origin, core.data.end),
        (WRITE, core.data.origin, core.data.end),
        (FETCH, core.code.origin, core.code.end),
        (READ, core.code.origin, core.code.end),
        (WRITE, core.mailbox.origin, core.mailbox.origin + 16),
    ):
        bench.at(DSP, kind, begin, end - begin)
    bench.at(CPU, WRITE, core.mailbox.origin, 16)
    assert bench.found() == ()


def test_its_stack_has_a_limit_of_its_own(shadow: ModuleType, compiled: Compiled) -> None:
    chip = load_soc("twin", ("devices.dsp.limits.max_stack_size=4096",))
    bench = shadow.Bench(compiled.contract, chip=chip)
    core, step = dsp(compiled), phase_of("dsp", compiled)
    own = core.stack.end - 4096
    bench.at(DSP, WRITE, core.stack.origin, core.stack.size)
    assert bench.found() == (), "painted before its first work"
    go_to(bench, compiled, step.number)
    bench.at(DSP, WRITE, own - 4, 4)
    found = bench.only("stack below its limit")
    assert (found.device, found.pool, found.number) == ("dsp", "dsp.stack", "K1")


def test_the_hosts_regions_are_not(compiled: Compiled, bench: Any, step: Phase) -> None:
    host = compiled.soc.host_cpu
    go_to(bench, compiled, step.number)
    regions = (host.stack, host.data, host.code)
    for kind in (READ, WRITE, FETCH):
        for region in regions:
            bench.at(DSP, kind, region.end - 4, 4)
    assert {(each.rule, each.pool) for each in bench.found()} == {
        (FOREIGN, host.stack.name),
        (UNREACHED, host.data.name),
        (UNREACHED, host.code.name),
        *(("fetch outside code", region.name) for region in regions),
    }


def test_nor_are_its_regions_the_hosts(compiled: Compiled, bench: Any, step: Phase) -> None:
    go_to(bench, compiled, step.number)
    bench.at(CPU, WRITE, dsp(compiled).stack.end - 4, 4)
    assert bench.only(FOREIGN).device == "cpu"


def test_its_buffers_are_its_own_while_its_operator_is_under_way(
    compiled: Compiled, bench: Any, step: Phase
) -> None:
    source = next(each for each in step.reads if each.buffer not in compiled.commands)
    bench.read(DSP, source.buffer)
    assert rules(bench) == [("outside any live buffer", "dsp")]
    go_to(bench, compiled, step.number)
    bench.read(DSP, source.buffer)
    assert len(bench.found()) == 1
    bench.read(CPU, source.buffer)
    bench.write(CPU, source.buffer)
    assert rules(bench)[1:] == [("wrong operator", "cpu"), ("touched while under way", "cpu")]
    bench.body(step.number)
    bench.event(2, step.number)
    bench.read(DSP, source.buffer)
    assert rules(bench)[3:] == [("stale read", "dsp")]


def test_it_is_held_to_the_byte(compiled: Compiled, bench: Any, step: Phase) -> None:
    source = next(each for each in step.reads if each.size % 8)
    go_to(bench, compiled, step.number)
    bench.at(DSP, READ, source.address, source.size + 1)
    found = bench.only("past the end of a buffer")
    assert (found.device, found.address, found.size) == ("dsp", source.end, 1)
