# SPDX-License-Identifier: Apache-2.0
"""Each fault planted behind the checker's back is caught, and the message leads to it.

A message names device, operator, buffer, pool and address.
"""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import pytest

from atoll.artifacts.build_tree import build
from atoll.artifacts.samples import random_sample
from atoll.contract.contract import Span
from atoll.diagnostics.errors import PlanError
from atoll.driver.pipeline import Compiled, compile_file, with_plan
from atoll.ir.tir import KernelCall
from atoll.memory.checker import check
from atoll.memory.problem import Placement
from atoll.report.result import Violation
from atoll.resolve import load_soc
from atoll.resolve.soc import ResolvedSoc
from atoll_sim.build.model import build_model
from atoll_sim.chip.memory_map import windows_of
from atoll_sim.host.native_run import run_native
from atoll_sim.simulate.rtl_run import request_for
from atoll_sim.simulate.session import simulate
from atoll_sim.trace.findings import violations
from atoll_sim.trace.simulation import SimResult

DATA = Path(__file__).parents[1] / "data"
DIGITS = Path(__file__).parents[2] / "examples" / "01_digits" / "digits_int8.tflite"

CORE_SOFTMAX = "devices.npu.params.vector=1"
"""reef has no unit for SOFTMAX, so that a core has something to do."""


def moved(compiled: Compiled, buffer: str, pool: str, offset: int) -> Compiled:
    """Return the program with one buffer elsewhere, its commands and contract likewise."""
    place = Placement(buffer=buffer, pool=pool, offset=offset)
    return with_plan(
        compiled,
        replace(compiled.plan, placements={**compiled.plan.placements, buffer: place}),
    )


def in_rtl(
    compiled: Compiled, folder: Path, hardware: ResolvedSoc, max_cycles: int = 10**9
) -> SimResult:
    """Simulate the firmware of `compiled` on another chip's RTL."""
    tree = build((compiled,), folder / "build")
    samples = random_sample(compiled.graph)
    request = request_for(
        compiled, (tree.firmware.elf,), samples, build_model(hardware), folder / "run"
    )
    return simulate(replace(request, max_cycles=max_cycles, windows=windows_of(hardware)))


def first(violations: Sequence[Violation]) -> Violation:
    """Return the first violation, once it says all that a message must say."""
    assert violations
    found = violations[0]
    text = str(found)
    for part in (found.device, found.operator, found.buffer, found.pool, f"{found.address:#010x}"):
        assert part, text
        assert part in text
    return found


def span(compiled: Compiled, operator: str) -> Span:
    """Return the output buffer of `operator`."""
    phases = compiled.contract.phases.values()
    return next(phase.writes[0] for phase in phases if phase.operator == operator)


@pytest.fixture(scope="module")
def lagoon() -> Compiled:
    return compile_file(load_soc("lagoon", (CORE_SOFTMAX,)), DIGITS)


@pytest.fixture(scope="module")
def islands() -> Compiled:
    return compile_file(load_soc(DATA / "islands.yaml"), DIGITS)


def accelerated(compiled: Compiled, kind: str) -> str:
    """Name the first operator of a kind that an accelerator runs."""
    host = compiled.soc.host
    return next(o.name for o in compiled.graph.operators if o.kind == kind and o.device != host)


@pytest.mark.rtl
def test_a_tensor_in_memory_that_only_the_cpu_reaches(lagoon: Compiled, tmp_path: Path) -> None:
    operator = accelerated(lagoon, "conv_2d")
    buffer = span(lagoon, operator).buffer
    wrong = moved(lagoon, buffer, "private", 0)
    with pytest.raises(PlanError, match=buffer):
        check(wrong.plan)
    result = in_rtl(wrong, tmp_path, lagoon.soc)
    found = first(violations(result))
    assert (found.rule, found.device, found.operator) == ("device without reach", "npu", operator)
    assert "firewall" in found.detail
    assert found.key == "pools.private.reach.npu"
    assert found.at.startswith("socs/lagoon.yaml:")
    assert (found.buffer, found.pool) == (buffer, "private")
    assert found.address == lagoon.soc.pool("private").region.origin
    assert result.results[0] != 0


@pytest.mark.rtl
def test_two_live_buffers_overlap(lagoon: Compiled, tmp_path: Path) -> None:
    operator = accelerated(lagoon, "depthwise_conv_2d")
    target = span(lagoon, operator)
    source = next(
        phase.reads[0] for phase in lagoon.contract.phases.values() if phase.operator == operator
    )
    place = lagoon.plan.placements[source.buffer]
    wrong = moved(lagoon, target.buffer, place.pool, place.offset)
    with pytest.raises(PlanError, match=target.buffer):
        check(wrong.plan)
    found = first(violations(in_rtl(wrong, tmp_path, lagoon.soc)))
    assert found.rule == "overlap clobber"
    assert (found.operator, found.buffer) == (operator, source.buffer)
    assert f"'{target.buffer}'" in found.detail


@pytest.mark.rtl
def test_a_firewall_window_one_byte_short(lagoon: Compiled, tmp_path: Path) -> None:
    touched = [s for p in lagoon.contract.phases.values() for s in p.writes if p.device == "npu"]
    last = max(touched, key=lambda span: span.end)
    pools = tuple(
        replace(pool, region=replace(pool.region, size=last.end - 1 - pool.region.origin))
        if pool.name == last.pool
        else pool
        for pool in lagoon.soc.pools
    )
    result = in_rtl(lagoon, tmp_path, replace(lagoon.soc, pools=pools))
    found = first(violations(result))
    assert (found.rule, found.device) == ("blocked by the firewall", "npu")
    assert found.buffer == last.buffer
    assert found.address <= last.end - 1 < found.address + found.size


@pytest.mark.parametrize(
    "cpu", ["native", pytest.param("rtl", marks=[pytest.mark.rtl, pytest.mark.slow])]
)
def test_a_copy_left_out_between_private_memories(
    islands: Compiled, cpu: str, tmp_path: Path
) -> None:
    steps = islands.module.entry.steps
    copy = next(s for s in steps if s.operator.startswith("copy") and s.number > 0)
    assert isinstance(copy.action, KernelCall)
    kept = tuple(step for step in steps if step is not copy)
    entry = replace(islands.module.entry, steps=kept)
    wrong = replace(islands, module=replace(islands.module, entry=entry))
    reader = next(
        phase
        for phase in islands.contract.phases.values()
        if copy.writes[0] in [s.buffer for s in phase.reads] and phase.operator != copy.operator
    )
    if cpu == "rtl":
        result = in_rtl(wrong, tmp_path, wrong.soc)
    else:
        result = run_native((wrong,), (random_sample(wrong.graph),))
    found = first(violations(result))
    assert found.rule in ("read before write", "overwritten before read")
    assert (found.device, found.operator) == (reader.device, reader.operator)
    assert found.buffer == copy.writes[0]


@pytest.mark.rtl
def test_a_stack_below_need(lagoon: Compiled, tmp_path: Path) -> None:
    with pytest.raises(PlanError) as caught:
        build(
            (
                compile_file(
                    load_soc("lagoon", ("devices.cpu.limits.max_stack_size=1040", CORE_SOFTMAX)),
                    DIGITS,
                ),
            ),
            tmp_path / "refused",
        )
    message = str(caught.value)
    for part in (
        "'cpu'",
        "'cpu.stack'",
        "digits_int8_run",
        "0x10000000",
        "max_stack_size",
    ):
        assert part in message
    cpu = lagoon.soc.host_cpu
    short = replace(cpu, stack=replace(cpu.stack, origin=cpu.stack.end - 32, size=32))
    devices = tuple(short if device is cpu else device for device in lagoon.soc.devices)
    hardware = replace(lagoon.soc, devices=devices)
    result = in_rtl(lagoon, tmp_path, hardware, max_cycles=100_000)
    found = violations(result)[0]
    assert (found.rule, found.device) == ("blocked by the firewall", "cpu")
    assert found.pool == "cpu.stack"
    assert cpu.stack.origin <= found.address < short.stack.origin
