"""Each way in which an access can break the plan, on a recorded run with one thing changed."""

from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path

import pytest

from atoll.memory.contract import Span
from atoll.pipeline import Compiled, compile_file, with_plan
from atoll.report.result import Violation
from atoll.resolve import load_soc
from atoll_sim.native_run import run_native
from atoll_sim.placement import check_placement, count_accesses
from atoll_sim.samples import random_sample
from atoll_sim.simulation import AccessKind, BlockedAccess, SimResult, Touched

DIGITS = Path(__file__).parents[3] / "examples" / "01_digits" / "digits_int8.tflite"


@pytest.fixture(scope="module")
def compiled() -> Compiled:
    return compile_file(load_soc("lagoon"), DIGITS)


@pytest.fixture(scope="module")
def good(compiled: Compiled) -> SimResult:
    return run_native(compiled, random_sample(compiled.graph))


def touch(master: str, kind: AccessKind, span: range) -> Touched:
    return Touched(master=master, kind=kind, accesses=1, transferred=len(span), spans=(span,))


def with_touch(good: SimResult, operator: int | None, *touched: Touched) -> SimResult:
    """Return the run with more touched in the phase of `operator`, or in a phase of its own."""
    if operator is None:
        phase = replace(good.phases[0], operators=(), touched=touched)
        return replace(good, phases=(phase, *good.phases))
    phases = tuple(
        replace(phase, touched=(*phase.touched, *touched)) if operator in phase.operators else phase
        for phase in good.phases
    )
    return replace(good, phases=phases)


def violations(compiled: Compiled, result: SimResult) -> tuple[Violation, ...]:
    return check_placement(compiled, result)


def without(touched: Iterable[Touched], master: str, kind: AccessKind) -> tuple[Touched, ...]:
    return tuple(t for t in touched if (t.master, t.kind) != (master, kind))


def test_a_good_run_has_none(compiled: Compiled, good: SimResult) -> None:
    assert violations(compiled, good) == ()
    assert count_accesses(good) > 0


def test_a_write_one_byte_past_the_buffer(compiled: Compiled, good: SimResult) -> None:
    phase = compiled.contract.phases[0]
    end = phase.writes[0].end
    bad = with_touch(good, 0, touch("npu", AccessKind.WRITE, range(end - 1, end + 1)))
    (found,) = violations(compiled, bad)
    assert (found.rule, found.device, found.operator) == ("out-of-plan write", "npu", "conv_2d_0")
    assert (found.address, found.size, found.pool) == (end, 1, "shared")


def test_reads_of_accelerators_cover_whole_beats_and_those_of_cores_do_not(
    compiled: Compiled, good: SimResult
) -> None:
    phases = compiled.contract.phases.values()
    span, number = next(
        (span, phase.number) for phase in phases for span in phase.writes if span.size % 8
    )
    assert compiled.contract.phases[number].device == "npu"
    beat = range(span.address, -(-span.end // 8) * 8)
    assert violations(compiled, with_touch(good, number, touch("npu", AccessKind.READ, beat))) == ()
    reader = next(phase for phase in phases if span in phase.reads)
    assert reader.device == "cpu"
    bad = with_touch(good, reader.number, touch("cpu", AccessKind.READ, beat))
    (found,) = violations(compiled, bad)
    assert (found.address, found.size) == (span.end, beat.stop - span.end)


def test_a_core_that_looks_on_while_an_accelerator_runs(
    compiled: Compiled, good: SimResult
) -> None:
    span = compiled.contract.phases[0].writes[0]
    bad = with_touch(good, 0, touch("cpu", AccessKind.READ, range(span.address, span.address + 4)))
    (found,) = violations(compiled, bad)
    assert (found.rule, found.device, found.buffer) == ("out-of-plan read", "cpu", span.buffer)


def test_between_operators_only_inputs_and_outputs(compiled: Compiled, good: SimResult) -> None:
    image = compiled.contract.inputs[0]
    fill = touch("cpu", AccessKind.WRITE, range(image.address, image.end))
    assert violations(compiled, with_touch(good, None, fill)) == ()
    weights = compiled.contract.constants[0]
    peek = touch("cpu", AccessKind.READ, range(weights.address, weights.end))
    (found,) = violations(compiled, with_touch(good, None, peek))
    assert (found.operator, found.buffer, found.pool) == ("none", weights.buffer, "weights")


def test_code_is_fetched_from_the_code_region_alone(compiled: Compiled, good: SimResult) -> None:
    cpu = compiled.soc.host_cpu
    fetch = touch("cpu", AccessKind.FETCH, range(cpu.code.origin, cpu.code.origin + 4))
    assert violations(compiled, with_touch(good, None, fetch)) == ()
    wild = touch("cpu", AccessKind.FETCH, range(cpu.data.origin, cpu.data.origin + 4))
    (found,) = violations(compiled, with_touch(good, None, wild))
    assert (found.rule, found.pool) == ("out-of-plan fetch", "cpu.data")


def test_the_stack_ends_where_it_ends(compiled: Compiled, good: SimResult) -> None:
    stack = compiled.soc.host_cpu.stack
    inside = touch("cpu", AccessKind.WRITE, range(stack.origin, stack.end))
    assert violations(compiled, with_touch(good, 0, inside)) == ()
    code = touch("cpu", AccessKind.WRITE, range(compiled.soc.host_cpu.code.origin, 4))
    (found,) = violations(compiled, with_touch(good, 0, code))
    assert (found.rule, found.pool) == ("out-of-plan write", "cpu.code")


def test_a_tensor_that_nobody_wrote(compiled: Compiled, good: SimResult) -> None:
    phases = tuple(
        replace(phase, touched=without(phase.touched, "npu", AccessKind.WRITE))
        if 0 in phase.operators
        else phase
        for phase in good.phases
    )
    found = violations(compiled, replace(good, phases=phases))
    buffer = compiled.contract.phases[0].writes[0].buffer
    assert {violation.buffer for violation in found} == {buffer}
    assert {violation.rule for violation in found} == {"read before write"}


def test_values_of_the_last_sample_do_not_count(compiled: Compiled) -> None:
    two = run_native(compiled, random_sample(compiled.graph) * 2)
    assert violations(compiled, two) == ()
    phases = tuple(
        replace(phase, touched=()) if (phase.sample, phase.operators) == (1, (0,)) else phase
        for phase in two.phases
    )
    found = violations(compiled, replace(two, phases=phases))
    assert {violation.rule for violation in found} == {"read before write"}


def test_a_refused_access_names_all(compiled: Compiled, good: SimResult) -> None:
    span = compiled.contract.phases[2].writes[0]
    refused = BlockedAccess(
        cycle=77, phase=2, master="npu", kind=AccessKind.WRITE, address=span.address, size=8
    )
    (found,) = violations(compiled, replace(good, blocked=(refused,), blocked_total=1))
    assert str(found) == (
        f"blocked by the firewall: device npu, operator conv_2d_2, {span.buffer} in shared, "
        f"address {span.address:#010x} (8 B) at cycle 77: npu has no window for this write"
    )


@pytest.fixture(scope="module")
def in_place(compiled: Compiled) -> Compiled:
    """The network with the result of the softmax over its operand."""
    return softmax_at(compiled, above=0)


def softmax_of(compiled: Compiled) -> int:
    """Return the number of the softmax."""
    phases = compiled.contract.phases.values()
    return next(phase.number for phase in phases if phase.operator == "softmax_9")


def softmax_at(compiled: Compiled, above: int) -> Compiled:
    """Return the network with the result of softmax some bytes above its operand."""
    operand = compiled.plan.placements["fully_connected_8_out"]
    place = replace(operand, buffer="softmax_9_out", offset=operand.offset + above)
    placements = {**compiled.plan.placements, "softmax_9_out": place}
    return with_plan(compiled, replace(compiled.plan, placements=placements))


def operands_of(compiled: Compiled) -> list[Span]:
    """Return what the result of softmax lies over."""
    phase = compiled.contract.phases[softmax_of(compiled)]
    over = [read for written, read in phase.overlaps if written == "softmax_9_out"]
    return [span for span in phase.reads if span.buffer in over]


def test_an_operand_may_be_overwritten_as_it_is_read(in_place: Compiled) -> None:
    number = softmax_of(in_place)
    (operand,) = operands_of(in_place)
    good = run_native(in_place, random_sample(in_place.graph) * 2)
    look = touch("cpu", AccessKind.READ, range(operand.address, operand.end))
    assert violations(in_place, with_touch(good, number, look)) == ()
    phases = tuple(
        replace(phase, touched=()) if number - 1 in phase.operators else phase
        for phase in good.phases
    )
    unwritten = with_touch(replace(good, phases=phases), number, look)
    assert {found.buffer for found in violations(in_place, unwritten)} == {operand.buffer}


def test_a_distance_that_is_not_kept_is_a_violation(compiled: Compiled) -> None:
    above = softmax_at(compiled, above=1)
    number = softmax_of(above)
    assert above.contract.phases[number].overlaps == ()
    (operand,) = above.contract.phases[number].reads
    good = run_native(above, random_sample(above.graph))
    look = touch("cpu", AccessKind.READ, range(operand.address, operand.end))
    found = violations(above, with_touch(good, number, look))
    assert {violation.rule for violation in found} == {"overwritten before read"}
