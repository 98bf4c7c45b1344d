# SPDX-License-Identifier: Apache-2.0
"""Which bytes commands touch, of streams made by hand."""

import numpy as np
import pytest

from atoll.npu_stream.judge import (
    Place,
    Region,
    Role,
    differences,
    faults,
    find_unused,
    unread_inputs,
)
from atoll.npu_stream.reader import Access, Operation, StreamError, operations
from atoll.npu_stream.spans import box, join_spans, move_spans

STOP = 0xFFFF_0000
KERNEL = {0x100: 0, 0x101: 0, 0x102: 0, 0x103: 0, 0x107: 0, 0x120: 0, 0x121: 0, 0x122: 0}
CONV, POOL, ELEMENTWISE, RESIZE, COPY = 2, 5, 6, 7, 16


def stream(
    narrow: dict[int, int], wide: dict[int, int], number: int, parameter: int = 0
) -> list[int]:
    """Return the words that set registers, then an operation and the end."""
    words = [key | value << 16 for key, value in narrow.items()]
    for key, value in wide.items():
        words += [key | 1 << 14 | (value >> 32 & 0xFFFF) << 16, value & 0xFFFF_FFFF]
    return [*words, number | parameter << 16, STOP]


def feature_map(
    first: int,
    *,
    region: int,
    base: int,
    extents: tuple[int, int],
    strides: tuple[int, int, int],
    precision: int = 0,
) -> tuple[dict[int, int], dict[int, int]]:
    """Return the registers of a feature map in one tile; `first` is 0x100, 0x110 or 0x180."""
    rows, columns = extents
    down, right, deep = strides
    short = 4 if first == 0x110 else 5
    narrow = {
        first + short: precision,
        first + 0xF: region,
        first + 0xA: columns - 1,
        first + 0xB: rows - 1,
        first + 0xC: rows - 1,
    }
    at = first & 0xFF
    wide = {at + n: base if n == 0 else 0 for n in range(4)}
    return narrow, wide | {at + 4: right, at + 5: down, at + 6: deep}


def pooled(product: int = 55, **changes: int) -> dict[str, Access]:
    """Read a pooling of [8, 6, 4] by windows of 2 x 2 without padding, every second one."""
    ifm = feature_map(0x100, region=2, base=16, extents=(8, 6), strides=(24, 4, 1))
    ofm = feature_map(0x110, region=3, base=0, extents=(4, 3), strides=(12, 4, 1))
    narrow = {
        **KERNEL,
        0x120: 1,
        0x121: 1,
        0x122: 3,
        0x104: 3,
        0x111: 2,
        0x112: 3,
        0x113: 3,
        0x124: 0,
    }
    narrow |= ifm[0] | ofm[0] | {int(key[1:], 16): value for key, value in changes.items()}
    (step,) = operations(stream(narrow, ifm[1] | ofm[1], POOL, 1), product)
    return {access.what: access for access in step.accesses}


def test_a_pooling_reads_its_windows_and_writes_its_result() -> None:
    found = pooled()
    assert found == {
        "ifm": Access("ifm", 2, False, ((16, 16 + 8 * 24),)),
        "ofm": Access("ofm", 3, True, ((0, 48),)),
    }


def test_padding_upscaling_and_rows_count() -> None:
    assert pooled(r100=1)["ifm"].spans == ((16, 16 + 7 * 24),)
    assert pooled(r107=1)["ifm"].spans == tuple((16 + 24 * y, 28 + 24 * y) for y in range(4))
    assert pooled(r112=1)["ifm"].spans == ((16, 16 + 4 * 24),)


def test_elements_of_16_bits_and_bricks() -> None:
    assert pooled(r105=4)["ifm"].spans == ((16, 16 + 7 * 24 + 28),)
    assert pooled(r114=2)["ofm"].spans == ((0, 52),)
    assert box(0, (64, 16, 256), (2, 3, 20), 1, bricks=True) == (
        *((0, 48), (64, 112), (256, 304), (320, 368)),
    )


def test_tiles_lie_apart() -> None:
    """Two rows of the first tile, the rest below it at another address."""
    ifm = feature_map(0x100, region=1, base=96, extents=(2, 4), strides=(16, 4, 1))
    ofm = feature_map(0x110, region=1, base=200, extents=(4, 4), strides=(16, 4, 1))
    narrow = {**KERNEL, 0x104: 3, 0x111: 3, 0x112: 3, 0x113: 3, **ifm[0], **ofm[0]}
    (step,) = operations(stream(narrow, ifm[1] | ofm[1] | {0x002: 0}, POOL), 55)
    assert step.accesses[0].spans == ((0, 32), (96, 128))


def test_strides_may_be_negative() -> None:
    ofm = feature_map(0x110, region=3, base=32, extents=(3, 4), strides=((1 << 40) - 16, 4, 1))
    ifm = feature_map(0x100, region=2, base=0, extents=(3, 4), strides=(16, 4, 1))
    narrow = {**KERNEL, 0x104: 3, 0x111: 3, 0x112: 2, 0x113: 3, **ifm[0], **ofm[0]}
    (step,) = operations(stream(narrow, ifm[1] | ofm[1], POOL), 55)
    assert step.accesses[1].spans == ((0, 48),)


def added(broadcast: int, operation: int = 1, product: int = 55, first: int = 0) -> list[Access]:
    """Read an elementwise operation on [2, 3, 4] with a second operand."""
    maps = [
        feature_map(at, region=region, base=0, extents=(2, 3), strides=(12, 4, 1))
        for at, region in ((0x100, 2), (0x180, 3), (0x110, 4))
    ]
    narrow = {0x111: 2, 0x112: 1, 0x113: 3, 0x180: broadcast, 0x108: first}
    wide: dict[int, int] = {}
    for each in maps:
        narrow |= each[0]
        wide |= each[1]
    (step,) = operations(stream(narrow, wide, ELEMENTWISE, operation), product)
    return list(step.accesses)


@pytest.mark.parametrize(
    ("broadcast", "operation", "product", "first", "sizes"),
    [
        (0, 1, 55, 0, [24, 24, 24]),
        (1, 1, 55, 0, [24, 12, 24]),
        (2, 1, 65, 0, [24, 16, 24]),
        (7, 1, 55, 0, [24, 1, 24]),
        (0x80, 1, 55, 0, [24, 24]),
        (0, 7, 55, 0, [24, 24]),
        (8, 1, 85, 0, [24, 24]),
        (0, 1, 85, 3, [4, 24, 24]),
        (0, 33, 85, 0, [24, 24, 24]),
    ],
)
def test_an_operand_may_have_one_element_along_an_axis(
    broadcast: int, operation: int, product: int, first: int, sizes: list[int]
) -> None:
    found = added(broadcast, operation, product, first)
    assert [each.spans[-1][1] for each in found] == sizes


def test_weights_scales_and_copies_count_whole() -> None:
    ifm = feature_map(0x100, region=2, base=0, extents=(1, 1), strides=(4, 4, 1))
    ofm = feature_map(0x110, region=3, base=0, extents=(1, 1), strides=(4, 4, 1))
    narrow = {
        **KERNEL,
        0x104: 3,
        0x111: 0,
        0x112: 0,
        0x113: 3,
        0x128: 1,
        0x129: 0,
        **ifm[0],
        **ofm[0],
    }
    wide = {**ifm[1], **ofm[1], 0x020: 0x200, 0x021: 0x30, 0x022: 0x40, 0x023: 0x10}
    (step,) = operations(stream(narrow, wide, CONV), 55)
    found = {each.what: (each.region, each.spans) for each in step.accesses}
    assert found["weights"] == (1, ((0x200, 0x230),))
    assert found["scales"] == (0, ((0x40, 0x50),))
    copied = stream({0x130: 0, 0x131: 0x101}, {0x030: 8, 0x031: 0, 0x032: 32}, COPY)
    (step,) = operations(copied, 55)
    assert step.accesses == (Access("source", 0, False, ((8, 40),)),)


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ([], "no end"),
        ([STOP, 0], "1 words are behind its end"),
        ([0x8000_8000, STOP], "is no command"),
        ([0x0C00, STOP], "is no command"),
        ([0x0004, STOP], "the operation 0x004 at 0 is not known"),
        ([0x4100, 0, STOP], "the command 0x100 at 0 is not known"),
        ([POOL, STOP], "is used before it is set"),
        (stream({0x130: 0x200, 0x131: 0}, {0x032: 1}, COPY), "strides or an index"),
    ],
)
def test_what_cannot_be_followed_is_said(words: list[int], said: str) -> None:
    with pytest.raises(StreamError, match=said):
        operations(words, 85)


def step(*accesses: Access) -> Operation:
    return Operation(0, "pooling", accesses)


REGIONS = {
    0: Region(Role.CONSTANT, 64),
    1: Region(Role.SCRATCH, 32),
    2: Region(Role.INPUT, 16),
    3: Region(Role.OUTPUT, 16),
}


@pytest.mark.parametrize(
    ("access", "said"),
    [
        (Access("ifm", 2, False, ((0, 17),)), "bytes 0 to 17 of region 2, which has 16"),
        (Access("ifm", 2, False, ((-4, 1),)), "bytes -4 to 1 of region 2"),
        (Access("ifm", 5, False, ((0, 1),)), "of region 5, which has 0"),
        (Access("ofm", 2, True, ((0, 4),)), "written to region 2, which is an input"),
        (Access("ofm", 0, True, ((0, 4),)), "written to region 0, which is constants"),
        (Access("ifm", 1, False, ((0, 4),)), "read of region 1 before it is written"),
        (Access("ofm", 3, True, ((0, 12),)), "byte 12 of region 3, an output, is never written"),
    ],
)
def test_bytes_that_are_not_given_are_noticed(access: Access, said: str) -> None:
    assert said in next(faults((step(access),), REGIONS))


def test_right_bytes_are_no_fault() -> None:
    written = Access("ofm", 1, True, ((0, 9),))
    copied = (Access("source", 1, False, ((0, 16),)), Access("target", 3, True, ((0, 16),)))
    assert [*faults((step(written), step(*copied)), REGIONS)] == []


def test_what_is_left_unread_is_noticed() -> None:
    written = step(Access("ofm", 1, True, ((0, 16),)))
    part, rest = (step(Access("ifm", 1, False, (span,))) for span in ((0, 8), (8, 16)))
    assert [*find_unused((written, part, rest), REGIONS)] == []
    for steps in ((written, part), (written, part, written, part, rest)):
        (said,) = find_unused(steps, REGIONS)
        assert said == "no operation reads all that the pooling at word 0 writes to the scratch"
    (found,) = unread_inputs((step(Access("ifm", 2, False, ((0, 4), (6, 16)))),), REGIONS).items()
    assert (found[0], np.flatnonzero(found[1]).tolist()) == (2, [4, 5])


def test_another_reading_of_a_moved_stream_is_noticed() -> None:
    before = (step(Access("ifm", 3, False, ((64, 80),))),)
    places = (Place(3, 0, 64, 2), Place(3, 64, 80, 3))
    for region, spans, same in (
        (3, ((0, 16),), True),
        (3, ((1, 17),), False),
        (2, ((0, 16),), False),
    ):
        after = (step(Access("ifm", region, False, spans)),)
        assert (not [*differences(before, after, places)]) == same
    assert [*differences(before, (), places)]


def test_runs_are_joined() -> None:
    assert join_spans([((0, 4), (8, 12)), ((4, 8),), ((20, 21),)]) == ((0, 12), (20, 21))
    assert join_spans([]) == ()
    assert move_spans(((0, 4),), 3) == ((3, 7),)
