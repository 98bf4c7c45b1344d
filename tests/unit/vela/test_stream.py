"""What a command stream reaches, of streams made by hand."""

import pytest

from atoll.errors import ModelError
from atoll.vela.stream import commands, reached

STOP = 0xFFFF_0000


def word(number: int, parameter: int = 0) -> int:
    return number | parameter << 16


def long(number: int, payload: int) -> tuple[int, int]:
    return number | 1 << 14, payload


def test_a_dma_from_weights_to_scratch_counts_whole() -> None:
    stream = (
        *(word(0x130, 0), word(0x131, 1)),
        *(*long(0x030, 0x100), *long(0x031, 0x40), *long(0x032, 0x80)),
        *(word(0x010), STOP),
    )
    assert reached(stream) == {0: 0x180, 1: 0xC0}


def test_a_dma_to_the_npus_own_memory_reaches_the_source_alone() -> None:
    stream = (word(0x130, 0), word(0x131, 0x103), *long(0x032, 0x80), word(0x010), STOP)
    assert reached(stream) == {0: 0x80}


def test_a_convolution_reaches_feature_maps_weights_and_scales() -> None:
    stream = (
        *(word(0x10F, 3), word(0x11F, 4), word(0x128, 1), word(0x129, 0)),
        *(*long(0x000, 8), *long(0x010, 0), *long(0x020, 0x200), *long(0x021, 0x10)),
        *(*long(0x022, 0x30), *long(0x023, 0xA), word(0x002), STOP),
    )
    assert reached(stream) == {3: 9, 4: 1, 1: 0x210, 0: 0x3A}


@pytest.mark.parametrize(("operation", "broadcast", "second"), [(1, 0, 2), (1, 0x80, 0), (7, 0, 0)])
def test_an_elementwise_operation_has_a_second_map_where_it_needs_one(
    operation: int, broadcast: int, second: int
) -> None:
    stream = (
        *(word(0x10F, 1), word(0x11F, 1), word(0x18F, 2), word(0x180, broadcast)),
        *(*long(0x080, second - 1 if second else 99), word(0x006, operation), STOP),
    )
    assert reached(stream).get(2, 0) == second


@pytest.mark.parametrize(
    "stream", [(), (word(0x010),), (STOP, 0), (*long(0x000, 1),), (word(0x002 | 2 << 14), STOP)]
)
def test_what_is_no_stream_is_refused(stream: tuple[int, ...]) -> None:
    with pytest.raises(ModelError, match="E143"):
        tuple(commands(stream))
