# SPDX-License-Identifier: Apache-2.0
"""The caller fills inputs before a run, and reads outputs when it has ended."""

from dataclasses import replace
from types import ModuleType

from atoll.contract.contract import UNREAD, Contract


def held_by_the_caller(shadow: ModuleType, name: str, last: int | None) -> Contract:
    """Return the contract with `name` among the outputs, and another end of its life."""
    contract: Contract = shadow.contract()
    lifetimes = tuple(
        replace(each, last=last) if each.span.buffer == name else each
        for each in contract.lifetimes
    )
    kept = (shadow.span(name),) if last is None else ()
    return replace(contract, outputs=(*contract.outputs, *kept), lifetimes=lifetimes)


def test_m3_the_caller_reads_outputs_when_the_run_has_ended(shadow: ModuleType) -> None:
    bench = shadow.Bench(held_by_the_caller(shadow, "image", None))
    bench.up_to(5)
    assert bench.found() == ()
    bench.operator(5)
    assert [each.rule for each in bench.found()] == ["overlap clobber"]
    bench.event(shadow.RUN_ENDED)
    _, found = bench.found()
    assert (found.rule, found.number, found.where) == ("overwritten before read", "M3", "image+0x0")
    assert (found.device, found.operator, found.size) == ("cpu", "none", 96)
    assert found.detail == "the bytes hold 'late', which npu_a wrote"


def test_m2_an_output_that_was_not_written_to_its_end(shadow: ModuleType) -> None:
    bench = shadow.Bench()
    bench.up_to(4)
    bench.event(shadow.BEGUN, 4)
    bench.read(shadow.CPU, "score")
    bench.write(shadow.CPU, "out", 0, 7)
    bench.event(shadow.ENDED, 4)
    bench.operator(5)
    assert bench.found() == ()
    bench.event(shadow.RUN_ENDED)
    found = bench.only("read before write")
    assert (found.where, found.size, found.operator) == ("out+0x7", 1, "none")


def test_m2_nobody_reads_the_outputs_of_a_run_that_failed(shadow: ModuleType) -> None:
    bench = shadow.Bench()
    bench.up_to(4)
    bench.event(shadow.BEGUN, 4)
    bench.event(shadow.RUN_ENDED)
    assert bench.found() == ()


def test_m3_what_the_caller_fills_and_nobody_reads_is_dead_as_the_run_begins(
    shadow: ModuleType,
) -> None:
    over = replace(shadow.span("late"), address=shadow.span("x").address)
    held = held_by_the_caller(shadow, "image", UNREAD)
    phase = replace(held.phases[0], reads=(shadow.span("weights"),))
    bench = shadow.Bench(replace(held, phases={**held.phases, 0: phase}))
    for _ in range(2):
        bench.up_to(6)
        bench.event(shadow.RUN_ENDED)
    assert bench.found() == ()
    # Over an input that somebody reads it is one too many, whichever the caller fills first.
    unread = replace(held.lifetimes[0], span=replace(over, buffer="unread"), last=UNREAD)
    read = replace(held.lifetimes[1], first=None)
    both = replace(held, inputs=(unread.span, read.span), lifetimes=(unread, read))
    both = replace(both, outputs=(), copies=(), phases={0: replace(phase, reads=(read.span,))})
    both = replace(both, phases={0: replace(both.phases[0], writes=())})
    bench = shadow.Bench(both)
    bench.start()
    bench.event(shadow.BEGUN, 0)
    bench.read(shadow.NPU_A, "x")
    found = bench.only("overwritten before read")
    assert (found.where, found.detail) == ("x+0x0", "the bytes hold 'unread'")
