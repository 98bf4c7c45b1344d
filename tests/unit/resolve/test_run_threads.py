# SPDX-License-Identifier: Apache-2.0
"""K4: networks on threads that build options choose, each with the limits of its thread."""

import pytest
from tests.requests import load_requests

from atoll.diagnostics.errors import PlacementError
from atoll.resolve import load_soc
from atoll.resolve.run_threads import on_threads
from atoll.resolve.soc import Cpu

OVERRIDES = (
    "devices.dsp.stack.threads={thread0: 2 KiB, thread1: 1 KiB}",
    "devices.dsp.stack.runs=thread0",
    "devices.dsp.limits.max_stack_size=1536",
    "devices.dsp.limits.threads={thread0: {max_stack_alloca_size: 128}}",
)


def dsp(*thread: str) -> Cpu:
    soc = on_threads(load_soc("twin", OVERRIDES), load_requests(None, thread=thread))
    core = soc.device("dsp")
    assert isinstance(core, Cpu)
    return core


@pytest.mark.parametrize(
    ("thread", "stack", "alloca", "total", "key"),
    [
        ((), "dsp.thread0.stack", 128, 1536, "devices.dsp.limits.max_stack_size"),
        (("dsp=thread1",), "dsp.thread1.stack", 1024, 1024, "devices.dsp.stack.threads.thread1"),
        (("dsp=main",), "dsp.stack", 1024, 1536, "devices.dsp.limits.max_stack_size"),
    ],
)
def test_k4_each_thread_has_limits_of_its_own(
    thread: tuple[str, ...], stack: str, alloca: int, total: int, key: str
) -> None:
    """The core's 1,536 B do not count on a stack of 1 KiB, which only build options choose."""
    core = dsp(*thread)
    assert core.run_stack.name == stack
    assert core.max_stack_alloca_size.value == alloca
    assert (core.max_stack_size.value, core.max_stack_size.key) == (total, key)


def test_k1_a_thread_or_core_that_is_not_there_is_refused() -> None:
    with pytest.raises(PlacementError) as caught:
        dsp("dsp=thread2", "dma=main")
    assert [(fault.code, fault.remedy) for fault in caught.value.faults] == [
        ("E200", "did you mean 'thread1'? If not, add it to devices.dsp.stack.threads with a size"),
        ("E200", "use one of cpu, dsp, or delete it"),
    ]
