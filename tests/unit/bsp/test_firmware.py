from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from types import ModuleType

import pytest

from atoll.bsp.interface import Firmware, ModelInterface
from atoll.errors import PlanError, ToolchainError
from atoll.resolve.soc import Access, Npu, Pool, ResolvedSoc

Build = Callable[..., Firmware]
MakeSoc = Callable[..., ResolvedSoc]

SUM = """
extern uint8_t atoll_pool_shared[];
static int32_t calls;
static int32_t kept = 41;
const uint8_t atoll_pool_weights[128] POOL(weights) = {1, 2, 3, 4};
RUN {
  atoll_trace_begin(ATOLL_DEVICE_CPU, 0);
  for (int i = 0; i < 10; i++) out->scores[i] = (int8_t)(in->image_[i] + atoll_pool_weights[i & 3]);
  atoll_trace_end(ATOLL_DEVICE_CPU, 0);
  out->scores[9] = (int8_t)(kept + ++calls);
  return 0;
}
"""

ACCELERATED = """
const uint8_t atoll_pool_weights[128] POOL(weights) = {0};
RUN {
  (void)in; (void)out;
  atoll_trace_begin(ATOLL_DEVICE_NPU, 7);
  const int32_t status = atoll_npu_run(ATOLL_DEVICE_NPU, &atoll_pool_weights[64], 3);
  atoll_trace_end(ATOLL_DEVICE_NPU, 7);
  return status;
}
"""


def test_a_run_reads_and_writes_the_planned_buffers(
    build: Build, make_soc: MakeSoc, platform: ModuleType
) -> None:
    soc = make_soc()
    firmware = build(SUM)
    core, console = platform.power_on(soc, firmware, [0, 0, 1, 0, 1, 2], {3: platform.Reef()})
    for offset in range(64):
        core.memory.write(0x2000_0000 + offset, offset, 1)
    core.run()
    assert console.status == 0
    assert console.results == [0, 0]
    scores = [core.memory.read(0x2000_0040 + index, 1) for index in range(10)]
    assert scores == [1, 3, 5, 7, 5, 7, 9, 11, 9, 43], "data is copied, bss is zero, both persist"
    run = [(4, 0, 0), (1, 0, 0), (2, 0, 0), (5, 0, 0)]
    assert console.trace == [(3, 0, 0), *run, (3, 0, 0), *run, (3, 0, 0)]


def test_the_watermark_stays_below_the_bound(
    build: Build, make_soc: MakeSoc, platform: ModuleType
) -> None:
    """K5, with the deepest path of the image: an accelerator that stops with an error."""
    soc = make_soc()
    firmware = build(ACCELERATED)
    core, _ = platform.power_on(soc, firmware, [1, 2], {3: platform.Reef(error=2)})
    core.run()
    used = platform.watermark(soc, core)
    assert 0 < used <= firmware.stack.bytes
    assert firmware.stack.bytes - used <= 16, "the error path is the deepest one"


def test_commands_run_on_the_accelerator(
    build: Build, make_soc: MakeSoc, platform: ModuleType
) -> None:
    soc, reef = make_soc(), platform.Reef()
    firmware = build(ACCELERATED)
    core, console = platform.power_on(soc, firmware, [1, 2], {3: reef})
    core.run()
    assert (console.status, console.results, console.text) == (0, [0], "")
    origin = soc.pool("weights").region.origin
    started = [
        (platform.LIST, origin + 64),
        (platform.COUNT, 3),
        (platform.CONTROL, 1),
    ]
    assert [write for write in reef.log if write[0] in dict(started)] == started
    assert reef.registers[platform.IRQ_ENABLE] == 0, "closed after the run"
    assert reef.registers[platform.IRQ_STATUS] == 0, "acknowledged"
    assert (1, 1, 7) in console.trace


def test_an_accelerator_that_stops_with_an_error_says_so(
    build: Build, make_soc: MakeSoc, platform: ModuleType
) -> None:
    core, console = platform.power_on(
        make_soc(), build(ACCELERATED), [1, 2], {3: platform.Reef(error=2)}
    )
    core.run()
    assert console.results == [-5]
    assert console.text == "npu: error 2 (READ_DECODE) at 0xDEAD0000\n"


def test_a_silent_accelerator_times_out_every_time(
    build: Build, make_soc: MakeSoc, platform: ModuleType
) -> None:
    """The second run waits the full time again: the first timeout left nothing pending."""
    soc, reef = make_soc(npus=(_quick(make_soc()),)), platform.Reef(pace=0)
    core, console = platform.power_on(soc, build(ACCELERATED, soc), [1, 1, 2], {3: reef})
    reef.registers[platform.STATUS] = 0
    times = []

    def watched(offset: int, value: int) -> None:
        if offset == platform.CONTROL:
            times.append((value, reef.clock))
            value = 0
        reef.registers[offset] = value

    reef.write = watched
    core.run()
    assert console.results == [-4, -4]
    assert console.text == "npu: no answer after 0 commands\n" * 2
    (_, start1), (_, abort1), (_, start2), (_, abort2) = times
    assert abs((abort1 - start1) - (abort2 - start2)) <= 2


def _quick(soc: ResolvedSoc) -> Npu:
    return soc.npus[0]


def test_a_slow_accelerator_is_not_given_up(
    build: Build, make_soc: MakeSoc, platform: ModuleType
) -> None:
    """Each command may take the whole time: three commands outlast one timeout."""


@pytest.mark.parametrize(
    ("register", "value"), [("ID", 0x1234_5678), ("PARAMS", 0x0108_0804), ("WEIGHT_ROWS", 64)]
)
def test_another_device_is_refused_at_start(
    build: Build, make_soc: MakeSoc, platform: ModuleType, register: str, value: int
) -> None:
    reef = platform.Reef()
    reef.registers[getattr(platform, register)] = value
    core, console = platform.power_on(make_soc(), build(ACCELERATED), [], {3: reef})
    core.run()
    assert console.status == 1
    assert f"found 0x{value:08X}" in console.text
    assert console.text.endswith("cannot start: the registers belong to another device\n")
