# SPDX-License-Identifier: Apache-2.0
"""Parts of buffers: a program prints and reads them, and checks know each of their bytes."""

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from atoll.contract.program_check import program_faults
from atoll.description.build import CutRequest
from atoll.diagnostics.errors import AtollError
from atoll.driver.pipeline import BuildOptions, Compiled, compile_file
from atoll.ir.read_module import parse_module
from atoll.ir.tir import IRModule, Step
from atoll.ir.verify import verify
from atoll.resolve import load_soc
from atoll_sim.mutate.mutant import move_buffers
from atoll_sim.shadow.pieces import Pieces, cuts_of

DIGITS = Path(__file__).parents[3] / "examples" / "01_digits" / "digits_int8.tflite"


@pytest.fixture(scope="module")
def striped() -> Compiled:
    """Digits, its first four operators in three stripes."""
    options = BuildOptions()
    cut = CutRequest(first="conv_2d_0", last="add_3", stripes=3)
    model = options.requests.model.model_copy(update={"cuts": (cut,)})
    asked = replace(options, requests=replace(options.requests, model=model))
    return compile_file(load_soc("lagoon"), DIGITS, asked)


def with_steps(module: IRModule, keep: Callable[[Step], bool]) -> IRModule:
    steps = tuple(step for step in module.entry.steps if keep(step))
    return replace(module, entry=replace(module.entry, steps=steps))


def test_text_holds_parts(striped: Compiled) -> None:
    entry, read = striped.module.entry, parse_module(str(striped.module)).entry
    assert entry.parts
    assert (read.parts, read.allocations) == (entry.parts, entry.allocations)


def test_parts_of_one_buffer_meet_where_they_share_bytes(striped: Compiled) -> None:
    entry = striped.module.entry
    assert entry.meet("image_stripe0", "image_stripe1")
    assert not entry.meet("image_stripe0", "add_3_out_stripe0")
    assert not entry.meet("add_3_out_stripe0", "add_3_out_stripe1")
    assert entry.meet("add_3_out", "add_3_out_stripe1")


def test_a_buffer_of_which_a_part_is_missing_is_not_written(striped: Compiled) -> None:
    verify(striped.module)
    missing = with_steps(striped.module, lambda step: step.operator != "add_3_stripe1")
    with pytest.raises(AtollError, match="reads 'add_3_out' before it is written"):
        verify(missing)


def test_a_part_that_is_elsewhere_is_refused(striped: Compiled) -> None:
    assert not [*program_faults(striped.module, striped.plan)]
    place = striped.plan.placements["add_3_out_stripe1"]
    moved = move_buffers(striped, [replace(place, offset=place.offset + 192)])
    told = [fault.message for fault in program_faults(moved.module, moved.plan)]
    assert any(message.startswith("'add_3_out_stripe1' is at ") for message in told)
    assert any("buffer 'add_3_out' is read by 'depthwise_conv_2d_4'" in each for each in told)


def test_an_operator_is_granted_the_bytes_of_its_part_alone(striped: Compiled) -> None:
    contract = striped.contract
    number = next(s.number for s in striped.module.entry.steps if s.operator == "add_3_stripe1")
    (written,) = contract.phases[number].writes
    assert (written.buffer, written.size) == ("add_3_out", 576)
    pieces = Pieces(contract, cuts_of(contract), 0)
    granted = [pieces.spans[each] for each in pieces.of(written)]
    assert sum(span.size for span in granted) == written.size
    assert {span.buffer for span in granted} == {"add_3_out"}
