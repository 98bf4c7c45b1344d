# SPDX-License-Identifier: Apache-2.0
"""Inputs and outputs of a command stream get regions of their own; streams are made by hand."""

import pytest

from atoll.diagnostics.errors import ModelError
from atoll.npu_stream.judge import Place
from atoll.vela.stream import commands, with_own_regions

STOP = 0xFFFF_0000
IFM, OFM, IFM2 = 0x10F, 0x11F, 0x18F
ADD, POOL, COPY = (0x006, 1), (0x005, 1), (0x010, 0)


def word(number: int, parameter: int = 0) -> int:
    return number | parameter << 16


def long(number: int, payload: int) -> tuple[int, int]:
    return number | 1 << 14, payload


def told(stream: tuple[int, ...]) -> list[dict[int, int]]:
    """Return what is set, registers with an address by their number alone, at each operation."""
    state: dict[int, int] = {}
    found = []
    for number, parameter, payload in commands(stream):
        state[number & 0x3FF] = payload if number >> 14 else parameter
        if number in (ADD[0], POOL[0], COPY[0]):
            found.append(dict(state))
    return found


def own(stream: tuple[int, ...], *, chains: bool = False) -> tuple[int, ...]:
    """Give two inputs of region 3, and an input and an output of region 4, regions 2 to 5."""
    inputs = (Place(3, 0, 64, 2), Place(3, 64, 80, 3), Place(4, 0, 16, 4))
    return with_own_regions(stream, inputs, (Place(4, 0, 64, 5),), chains=chains)


def test_two_inputs_of_one_region_become_two_regions() -> None:
    stream = (
        *(word(IFM, 3), word(IFM2, 3), word(OFM, 4), *long(0x000, 16), *long(0x080, 72)),
        *(*long(0x010, 0), word(*ADD), STOP),
    )
    (state,) = told(own(stream))
    assert (state[IFM], state[0x000]) == (2, 16)
    assert (state[IFM2], state[0x080]) == (3, 8)
    assert (state[OFM], state[0x010]) == (5, 0)


def test_an_input_is_read_until_its_place_is_an_outputs() -> None:
    """Of two tensors in the same bytes, the output is there from its first write on."""
    first = (word(IFM, 4), word(OFM, 1), *long(0x000, 0), *long(0x010, 0), word(*POOL))
    second = (word(OFM, 4), word(*POOL), word(OFM, 1), word(*POOL), STOP)
    before, writing, after = told(own((*first, *second)))
    assert (before[IFM], before[OFM]) == (4, 1)
    assert (writing[IFM], writing[OFM]) == (4, 5)
    assert (after[IFM], after[OFM]) == (5, 1)


def test_copies_move_too_and_the_npus_own_memory_does_not() -> None:
    stream = (
        *(word(0x130, 3), word(0x131, 0x103), *long(0x030, 64), *long(0x031, 0x40)),
        *(*long(0x032, 16), word(*COPY), STOP),
    )
    (state,) = told(own(stream))
    assert (state[0x130], state[0x030]) == (3, 0)
    assert (state[0x131], state[0x031]) == (0x103, 0x40)


@pytest.mark.parametrize("chains", [False, True])
def test_what_the_u85_passes_on_inside_is_no_region(chains: bool) -> None:
    stream = (word(IFM, 3), word(0x105, 0x8001), *long(0x000, 64), word(*POOL), STOP)
    (state,) = told(own(stream, chains=chains))
    assert (state[IFM], state[0x000]) == ((3, 64) if chains else (3, 0))


def test_nothing_else_of_a_stream_changes() -> None:
    stream = (word(0x104, 7), word(IFM, 1), *long(0x000, 0x123), word(*POOL), STOP)
    assert own(stream) == stream


@pytest.mark.parametrize(
    "stream", [(), (word(0x010),), (STOP, 0), (*long(0x000, 1),), (word(0x002 | 2 << 14), STOP)]
)
def test_what_is_no_stream_is_refused(stream: tuple[int, ...]) -> None:
    with pytest.raises(ModelError, match="E143"):
        tuple(commands(stream))
