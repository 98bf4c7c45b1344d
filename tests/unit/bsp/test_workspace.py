# SPDX-License-Identifier: Apache-2.0
"""W2: the LIFO allocator, compiled for this machine."""

import ctypes
import random
from collections.abc import Callable

import pytest
from tests.effort import cases

from atoll.bsp.render import FOLDER
from atoll.ir import heap
from atoll.protocol import Status

OK, ARGUMENT, NO_MEMORY, ORDER = 0, -6, -7, -8
NOTE = 4


class Workspace(ctypes.Structure):
    _fields_ = (
        ("base", ctypes.c_void_p),
        ("capacity", ctypes.c_uint32),
        ("used", ctypes.c_uint32),
        ("blocks", ctypes.c_uint32),
    )


class Allocator:
    """The C functions over one buffer that starts `skew` bytes past a multiple of 16."""

    def __init__(self, library: ctypes.CDLL, size: int, skew: int = 0) -> None:
        self.library = library
        self.buffer = ctypes.create_string_buffer(size + 48)
        self.start = -(-ctypes.addressof(self.buffer) // 16) * 16 + skew
        self.space = Workspace()
        self.status = library.atoll_workspace_init(
            ctypes.byref(self.space), ctypes.c_void_p(self.start), ctypes.c_uint32(size)
        )

    def allocate(self, size: int) -> int | tuple[int, None]:
        """Return the offset of the block from the base, or (error, None)."""
        block = ctypes.c_void_p()
        status = self.library.atoll_workspace_allocate(
            ctypes.byref(self.space), ctypes.c_uint32(size), ctypes.byref(block)
        )
        assert (status == OK) == (block.value is not None)
        return (block.value or 0) - self.space.base if status == OK else (status, None)

    def free(self, offset: int) -> int:
        block = ctypes.c_void_p(self.space.base + offset)
        status: int = self.library.atoll_workspace_free(ctypes.byref(self.space), block)
        return status

    def state(self) -> tuple[int, int]:
        return self.space.used, self.space.blocks


@pytest.fixture(scope="module")
def library(host_library: Callable[..., ctypes.CDLL]) -> ctypes.CDLL:
    return host_library(FOLDER / "runtime" / "workspace.c")


def test_w2_small_blocks_land_on_multiples_of_16(library: ctypes.CDLL) -> None:
    space = Allocator(library, 1024)
    assert [space.allocate(size) for size in (1, 2, 24, 1)] == [0, 16, 32, 64]


@pytest.mark.parametrize("skew", range(16))
def test_w2_the_base_is_rounded_up_and_the_capacity_down(library: ctypes.CDLL, skew: int) -> None:
    space = Allocator(library, 256, skew)
    assert space.space.base % 16 == 0
    assert 0 <= space.space.base - space.start < 16
    assert space.space.capacity % 16 == 0
    assert space.space.base + space.space.capacity <= space.start + 256


def test_w2_only_the_latest_block_can_be_freed(library: ctypes.CDLL) -> None:
    space = Allocator(library, 256)
    assert [space.allocate(20), space.allocate(5)] == [0, 32]
    before = space.state()
    assert [space.free(0), space.free(16), space.free(48)] == [ORDER] * 3
    assert space.state() == before
    assert [space.free(32), space.free(0), space.free(0)] == [OK, OK, ORDER]
    assert space.state() == (0, 0)


def test_w2_too_much_is_refused_and_changes_nothing(library: ctypes.CDLL) -> None:
    space = Allocator(library, 64)
    assert space.allocate(64 - NOTE + 1) == (NO_MEMORY, None)
    assert space.state() == (0, 0)
    assert space.allocate(64 - NOTE) == 0
    before = space.state()
    assert space.allocate(1) == (NO_MEMORY, None)
    assert space.state() == before
    assert space.free(0) == OK


@pytest.mark.parametrize("size", [0xFFFF_FFFF, 0xFFFF_FFF0, 0x8000_0000])
def test_w2_sizes_near_the_end_of_the_address_space_do_not_wrap(
    library: ctypes.CDLL, size: int
) -> None:
    space = Allocator(library, 256)
    assert space.allocate(size) == (NO_MEMORY, None)


def test_nothing_is_refused(library: ctypes.CDLL) -> None:
    assert Allocator(library, 256).allocate(0) == (ARGUMENT, None)
    assert Allocator(library, 3, skew=1).status == ARGUMENT


def test_blocks_never_reach_the_notes(library: ctypes.CDLL) -> None:
    """Fill each block with ones; all blocks can still be freed in order."""
    space = Allocator(library, 256)
    offsets = []
    while isinstance(offset := space.allocate(12), int):
        ctypes.memset(space.space.base + offset, 0xFF, 12)
        offsets.append(offset)
    assert len(offsets) > 8
    assert [space.free(offset) for offset in reversed(offsets)] == [OK] * len(offsets)


@pytest.mark.parametrize("seed", range(cases(20)))
def test_w2_runs_without_the_c_code_use_an_allocator_that_does_the_same(
    library: ctypes.CDLL, seed: int
) -> None:
    choice = random.Random(seed)
    size = choice.randrange(16, 600)
    space, model = Allocator(library, size), heap.Heap(size)
    offsets: list[int] = []
    for _ in range(200):
        if choice.random() < 0.55:
            wanted = choice.choice([0, 1, 2, 16, 24, 60, 100, 0x7FFF_FFFF])
            given = space.allocate(wanted)
            assert model.allocate(wanted) == (given if isinstance(given, int) else given[0])
            offsets += [given] if isinstance(given, int) else []
        else:
            offset = choice.choice([0, 16, *offsets[-2:]])
            status = space.free(offset)
            assert model.free(offset) == status
            offsets = offsets[:-1] if status == OK else offsets
        assert model.blocks == space.space.blocks
    assert (Status.ARGUMENT, Status.NO_MEMORY, Status.ORDER) == (-6, -7, -8)
