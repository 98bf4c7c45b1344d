# SPDX-License-Identifier: Apache-2.0
"""Native runs are held against the plan as well: wrong plans are found without any RTL."""

from dataclasses import replace
from pathlib import Path

import pytest

from atoll.artifacts.samples import random_sample
from atoll.driver.pipeline import Compiled, compile_file, with_plan
from atoll.memory.problem import Placement
from atoll.report.result import Violation
from atoll.resolve import load_soc
from atoll_sim.host.native_run import run_native
from atoll_sim.trace.findings import count_accesses, violations

ROOT = Path(__file__).parents[3]
DIGITS = ROOT / "examples" / "01_digits" / "digits_int8.tflite"
ISLANDS = ROOT / "tests" / "data" / "islands_dma.yaml"


@pytest.fixture(scope="module")
def lagoon() -> Compiled:
    """Return a network of which the core runs an operator."""
    return compile_file(load_soc("lagoon", ("devices.npu.params.vector=1",)), DIGITS)


def moved(compiled: Compiled, buffer: str, pool: str, offset: int) -> Compiled:
    place = Placement(buffer=buffer, pool=pool, offset=offset)
    plan = replace(compiled.plan, placements={**compiled.plan.placements, buffer: place})
    return with_plan(compiled, plan)


def found(compiled: Compiled) -> tuple[Violation, ...]:
    return violations(run_native((compiled,), (random_sample(compiled.graph),)))


@pytest.mark.parametrize("chip", ["lagoon", "atoll2", str(ISLANDS)])
def test_m2_right_plans_have_no_finding(chip: str) -> None:
    compiled = compile_file(load_soc(chip), DIGITS)
    result = run_native((compiled,), (random_sample(compiled.graph) * 2,))
    assert violations(result) == ()
    assert count_accesses(result) > 0


def test_c3_a_buffer_where_the_accelerator_does_not_reach(lagoon: Compiled) -> None:
    buffer = lagoon.contract.phases[0].writes[0].buffer
    (violation,) = found(moved(lagoon, buffer, "private", 0))
    assert (violation.rule, violation.device) == ("device without reach", "npu")
    assert (violation.buffer, violation.cycle) == (buffer, None)
    assert "firewall" in violation.detail


def test_m3_two_live_buffers_on_one_place(lagoon: Compiled) -> None:
    phase = lagoon.contract.phases[1]
    source, target = phase.reads[0], phase.writes[0]
    place = lagoon.plan.placements[source.buffer]
    first, *_ = found(moved(lagoon, target.buffer, place.pool, place.offset))
    assert (first.rule, first.operator) == ("overlap clobber", phase.operator)
    assert first.buffer == source.buffer


def test_m2_an_operator_left_out_natively(lagoon: Compiled) -> None:
    entry = lagoon.module.entry
    missing, *_ = entry.steps[1:]
    steps = tuple(step for step in entry.steps if step is not missing)
    module = replace(lagoon.module, entry=replace(entry, steps=steps))
    first, *_ = found(replace(lagoon, module=module))
    assert (first.rule, first.buffer) == ("read before write", missing.writes[0])


def test_m2_a_core_that_reads_what_was_never_written(lagoon: Compiled) -> None:
    entry = lagoon.module.entry
    host = lagoon.soc.host
    written = {buffer: step for step in entry.steps for buffer in step.writes}
    reader = next(step for step in entry.steps if step.device == host and step.reads[0] in written)
    missing = written[reader.reads[0]]
    steps = tuple(step for step in entry.steps if step is not missing)
    module = replace(lagoon.module, entry=replace(entry, steps=steps))
    told = {(v.rule, v.device, v.operator, v.buffer) for v in found(replace(lagoon, module=module))}
    assert ("read before write", host, reader.operator, reader.reads[0]) in told
