# SPDX-License-Identifier: Apache-2.0
"""K7: sizes beyond 32 and 64 bits are exact or refused, never wrapped."""

import pytest

from atoll.diagnostics.errors import PlanError
from atoll.diagnostics.units import format_size
from atoll.ir.faults import ProgramError
from atoll.ir.tir import Allocate, Entry, IRModule, PrimFunc, Type
from atoll.ir.verify import verify
from atoll.memory.problem import Buffer, PoolSpace, Problem
from atoll.memory.solve import plan_memory
from atoll.stack.stack_frames import FRAME_ALLOWANCE, FrameDepths

FLOATS = 822_083_584
SIZES = (4 * FLOATS, 2**32 + 1, 2**63)


def allocate(elements: int, type: Type = Type.I8) -> Allocate:
    return Allocate(
        buffer="t", type=type, elements=elements, align=16, scope="global.stack", pools=()
    )


def test_k7_a_buffer_of_822_083_584_words_has_its_exact_size() -> None:
    assert allocate(FLOATS, Type.I32).size == 3_288_334_336


@pytest.mark.parametrize("size", SIZES)
def test_k7_frames_add_up_exactly(size: int) -> None:
    depths = FrameDepths([PrimFunc(name="k", parameters=(), body=(allocate(size),))])
    assert depths.of("k") == FRAME_ALLOWANCE + -(-size // 16) * 16


@pytest.mark.parametrize("size", SIZES)
def test_k7_a_kernel_with_a_buffer_beyond_31_bits_is_refused(size: int) -> None:
    kernel = PrimFunc(name="k", parameters=(), body=(allocate(size),))
    entry = Entry(inputs=(), outputs=(), allocations=(), constants=(), steps=())
    with pytest.raises(ProgramError, match=f"has {size} bytes instead of 1 to"):
        verify(IRModule("m", (kernel,), entry))


@pytest.mark.parametrize("size", SIZES)
def test_k7_a_plan_is_exact_or_an_error_that_names_the_size(size: int) -> None:
    buffer = Buffer(name="t", size=size, alignment=16, live=((0, 1),), pools=("s",))
    small = PoolSpace(name="s", origin=0, size=2**32, alignment=16)
    large = PoolSpace(name="s", origin=0, size=2**64, alignment=16)
    assert plan_memory(Problem(pools=(large,), buffers=(buffer,))).use["s"].used == size
    if size > small.size:
        with pytest.raises(PlanError) as caught:
            plan_memory(Problem(pools=(small,), buffers=(buffer,)))
        assert caught.value.faults[0].code == "E061"
        assert str(size) in str(caught.value) or format_size(size) in str(caught.value)
