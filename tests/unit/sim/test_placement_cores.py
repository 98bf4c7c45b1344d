"""What a core that is not the host may touch, and when: on a recorded run with one thing added."""

from dataclasses import replace
from pathlib import Path

import pytest

from atoll.description.build import load_requests
from atoll.memory.contract import Phase as Planned
from atoll.pipeline import BuildOptions, Compiled, compile_file
from atoll.resolve import load_soc
from atoll.resolve.soc import Cpu
from atoll_sim.native_run import run_native
from atoll_sim.placement import check_placement
from atoll_sim.samples import random_sample
from atoll_sim.simulation import AccessKind, SimResult, Touched

DIGITS = Path(__file__).parents[3] / "examples" / "01_digits" / "digits_int8.tflite"
READ, WRITE, FETCH = AccessKind.READ, AccessKind.WRITE, AccessKind.FETCH


@pytest.fixture(scope="module")
def compiled() -> Compiled:
    requests = load_requests(None, ["softmax_9=dsp"])
    return compile_file(load_soc("twin"), DIGITS, BuildOptions(requests=requests))


@pytest.fixture(scope="module")
def good(compiled: Compiled) -> SimResult:
    return run_native(compiled, random_sample(compiled.graph))


@pytest.fixture(scope="module")
def step(compiled: Compiled) -> Planned:
    """What the plan says of the dsp's only operator."""
    (found,) = (each for each in compiled.contract.phases.values() if each.device == "dsp")
    return found


def dsp(compiled: Compiled) -> Cpu:
    core = compiled.soc.device("dsp")
    assert isinstance(core, Cpu)
    return core


def violations(
    compiled: Compiled, good: SimResult, at: int | None, kind: AccessKind, span: range, *, by: str
) -> list[tuple[str, str, int, int]]:
    """Return rule, device, address and size of the faults once `by` also touches `span`.

    `at` is the number of an operator that is under way, or None before the first sample.
    """
    more = Touched(master=by, kind=kind, accesses=1, transferred=len(span), spans=(span,))
    before = replace(good.phases[0], sample=None, operators=(), touched=(more,))
    phases = tuple(
        replace(phase, touched=(*phase.touched, more)) if at in phase.operators else phase
        for phase in good.phases
    )
    bad = replace(good, phases=(before, *phases) if at is None else phases)
    return [(v.rule, v.device, v.address, v.size) for v in check_placement(compiled, bad)]


def test_the_dsp_runs_one_operator_and_nothing_is_wrong(
    compiled: Compiled, good: SimResult, step: Planned
) -> None:
    assert step.operator == "softmax_9"
    assert check_placement(compiled, good) == ()


@pytest.mark.parametrize("at", [None, 0])
def test_its_own_regions_are_its_own_at_any_time(
    compiled: Compiled, good: SimResult, at: int | None
) -> None:
    core = dsp(compiled)
    assert core.mailbox is not None
    box = range(core.mailbox.origin, core.mailbox.origin + 16)
    stack, data, code = (
        range(region.origin, region.end) for region in (core.stack, core.data, core.code)
    )
    for kind, span in ((WRITE, stack), (READ, data), (FETCH, code), (READ, code), (WRITE, box)):
        assert violations(compiled, good, at, kind, span, by="dsp") == []
    assert violations(compiled, good, at, WRITE, box, by="cpu") == []


@pytest.mark.parametrize("kind", [READ, WRITE, FETCH])
def test_the_hosts_regions_are_not(compiled: Compiled, good: SimResult, kind: AccessKind) -> None:
    host = compiled.soc.host_cpu
    for region in (host.stack, host.data, host.code):
        span = range(region.origin, region.origin + 4)
        expected = [(f"out-of-plan {kind}", "dsp", region.origin, 4)]
        assert violations(compiled, good, None, kind, span, by="dsp") == expected


def test_nor_are_its_regions_the_hosts(compiled: Compiled, good: SimResult, step: Planned) -> None:
    stack = dsp(compiled).stack
    span = range(stack.end - 4, stack.end)
    expected = [("out-of-plan write", "cpu", stack.end - 4, 4)]
    assert violations(compiled, good, step.number, WRITE, span, by="cpu") == expected


def test_its_buffers_are_its_own_while_its_operator_is_under_way(
    compiled: Compiled, good: SimResult, step: Planned
) -> None:
    source = next(span for span in step.reads if span.buffer not in compiled.commands)
    span = range(source.address, source.end)
    assert violations(compiled, good, step.number, READ, span, by="dsp") == []
    for when, by in ((None, "dsp"), (0, "dsp"), (step.number, "cpu")):
        expected = [("out-of-plan read", by, source.address, source.size)]
        assert violations(compiled, good, when, READ, span, by=by) == expected


def test_it_is_held_to_the_byte(compiled: Compiled, good: SimResult, step: Planned) -> None:
    source = next(span for span in step.reads if span.size % 8)
    beyond = range(source.address, source.end + 1)
    found = violations(compiled, good, step.number, READ, beyond, by="dsp")
    assert found == [("out-of-plan read", "dsp", source.end, 1)]
