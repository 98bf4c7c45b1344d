# SPDX-License-Identifier: Apache-2.0
"""What the shadow memory says of results that lie over operands: by bytes and by beats."""

from dataclasses import replace
from types import ModuleType
from typing import Any

import pytest


def in_place(shadow: ModuleType) -> Any:
    """Return the contract with x over image, and the plan saying so."""
    on_top = replace(shadow.span("x"), address=shadow.span("image").address)
    held = shadow.contract(x=on_top)
    first = replace(held.phases[0], overlaps=(("x", "image"),))
    return replace(held, phases={**held.phases, 0: first})


def test_m2_a_declared_overlap_is_legal(shadow: ModuleType) -> None:
    bench = shadow.Bench(in_place(shadow))
    bench.up_to(0)
    bench.event(shadow.BEGUN, 0)
    for at in range(0, 96, 8):
        bench.read(shadow.NPU_A, "image", at, at + 8)
        bench.write(shadow.NPU_A, "x", at, at + 8)
    assert bench.found() == ()


def test_m3_a_byte_that_the_output_has_taken_is_no_input_any_more(shadow: ModuleType) -> None:
    bench = shadow.Bench(in_place(shadow))
    bench.up_to(0)
    bench.event(shadow.BEGUN, 0)
    bench.write(shadow.NPU_A, "x", 0, 8)
    bench.read(shadow.NPU_A, "image", 0, 16)
    found = bench.only("overwritten before read")
    assert (found.number, found.where) == ("M3", "image+0x0")
    assert "'x'" in found.detail


@pytest.mark.parametrize("beats", [True, False])
@pytest.mark.parametrize("written", [4, 8, 12])
def test_m3_a_beat_with_a_byte_left_may_show_what_the_result_has_taken(
    shadow: ModuleType, written: int, beats: bool
) -> None:
    """Whole beats are forgiven only what their own operator's result took, and a byte must be left.

    The second beat, bytes 8 to 16, has 4 bytes of the result if 12 are written: no finding. The
    first one has nothing else from 8 on: a finding. Without beats every byte counts.
    """
    bench = shadow.Bench(in_place(shadow), beats=beats)
    bench.up_to(0)
    bench.event(shadow.BEGUN, 0)
    bench.write(shadow.NPU_A, "x", 0, written)
    bench.read(shadow.NPU_A, "image", 0, 16)
    lost = written // 8 * 8 if beats else written
    if lost == 0:
        assert bench.found() == ()
    else:
        found = bench.only("overwritten before read")
        assert (found.where, found.size) == ("image+0x0", min(lost, 8))


def test_m3_a_beat_shows_no_other_buffer_over_the_operand(shadow: ModuleType) -> None:
    """What another buffer took counts, even if the rest of the beat is there."""
    on_top = replace(shadow.span("late"), address=shadow.span("image").address)
    bench = shadow.Bench(shadow.contract(late=on_top))
    bench.up_to(0)
    bench.event(shadow.BEGUN, 5)
    bench.write(shadow.NPU_A, "late", 0, 4)
    bench.event(shadow.ENDED, 5)
    bench.event(shadow.BEGUN, 0)
    bench.read(shadow.NPU_A, "image", 0, 8)
    rules = [(each.rule, each.size) for each in bench.found()]
    assert ("overwritten before read", 4) in rules


@pytest.mark.parametrize("above", [0, 4])
def test_m2_a_result_in_the_place_of_its_operand_may_keep_its_bytes(
    shadow: ModuleType, above: int
) -> None:
    """A compiler leaves out stores of what is there already, but only at the very same place."""
    held = in_place(shadow)
    image = replace(shadow.span("image"), address=shadow.span("image").address + above)
    moved = [replace(each, address=image.address) for each in held.inputs]
    lives = [
        replace(each, span=image, alignment=4) if each.span.buffer == "image" else each
        for each in held.lifetimes
    ]
    reads = tuple(image if each.buffer == "image" else each for each in held.phases[0].reads)
    phases = {**held.phases, 0: replace(held.phases[0], reads=reads)}
    bench = shadow.Bench(replace(held, inputs=tuple(moved), lifetimes=tuple(lives), phases=phases))
    bench.up_to(0)
    bench.event(shadow.BEGUN, 0)
    bench.write(shadow.NPU_A, "x", 100 if not above else 104)
    bench.event(shadow.ENDED, 0)
    bench.event(shadow.BEGUN, 1)
    bench.read(shadow.DMA, "x")
    rules = {each.rule for each in bench.found()}
    assert rules == ({"read before write"} if above else set())
