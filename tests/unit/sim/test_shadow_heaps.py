# SPDX-License-Identifier: Apache-2.0
"""W1: blocks of a heap are for the operators that take them, while they are under way."""

from dataclasses import replace
from types import ModuleType
from typing import Any

import pytest

from atoll.contract.contract import Span
from atoll_sim.protocol.records import AccessKind

READ, WRITE, _ = AccessKind

SIZE = 64


@pytest.fixture
def heap(shadow: ModuleType) -> Span:
    """Bytes beside the buffers of the pool of the core."""
    end = shadow.CHIP.pool("only_cpu").region.end
    return Span(buffer="heap", pool="only_cpu", address=end - SIZE, size=SIZE)


@pytest.fixture
def bench(shadow: ModuleType, heap: Span) -> Any:
    """A shadow memory of a program whose operator 4, on the core, takes blocks."""
    plain = shadow.contract()
    taking = replace(plain.phases[4], heaps=(heap,))
    return shadow.Bench(replace(plain, phases={**plain.phases, 4: taking}))


def test_w1_the_operator_that_takes_blocks_may_touch_all_of_its_heap(
    shadow: ModuleType, bench: Any, heap: Span
) -> None:
    bench.up_to(4)
    bench.event(shadow.BEGUN, 4)
    bench.at(shadow.CPU, WRITE, heap.address, SIZE)
    bench.at(shadow.CPU, READ, heap.address, SIZE)
    bench.body(4)
    bench.event(shadow.ENDED, 4)
    assert bench.found() == ()


@pytest.mark.parametrize("done", [3, 5])
def test_w1_nobody_touches_a_heap_at_other_times(
    shadow: ModuleType, bench: Any, heap: Span, done: int
) -> None:
    bench.up_to(done)
    bench.at(shadow.CPU, WRITE, heap.address + 4, 4)
    found = bench.only("outside any live buffer")
    assert (found.device, found.buffer, found.offset, found.pool) == ("cpu", "heap", 4, "only_cpu")


def test_w1_another_device_never_touches_it(shadow: ModuleType, bench: Any, heap: Span) -> None:
    bench.up_to(4)
    bench.event(shadow.BEGUN, 4)
    bench.at(shadow.DMA, WRITE, heap.address, 4)
    found = bench.only("outside any live buffer")
    assert (found.device, found.operator, found.buffer) == ("dma", "op_4", "heap")
