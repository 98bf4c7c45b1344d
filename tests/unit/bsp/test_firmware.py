# SPDX-License-Identifier: Apache-2.0
import re
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from types import ModuleType

import pytest

from atoll.bsp.firmware import _headers_named
from atoll.bsp.interface import Firmware, ModelInterface
from atoll.bsp.zig import Zig
from atoll.diagnostics.errors import PlanError, ToolchainError
from atoll.diagnostics.units import parse_size
from atoll.resolve.soc import Access, Cpu, Npu, Pool, ResolvedSoc
from atoll.utils.cache import cache_folder

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


def test_k5_the_watermark_stays_below_the_bound(
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


TIMEOUT = 2000


def _impatient(make_soc: MakeSoc, make_cpu: Callable[..., Cpu]) -> ResolvedSoc:
    """Return a chip so slow that a tenth of a second is `TIMEOUT` cycles."""
    return make_soc(cpu=replace(make_cpu(), clock=10 * TIMEOUT))


def test_a_silent_accelerator_times_out_every_time(
    build: Build, make_soc: MakeSoc, make_cpu: Callable[..., Cpu], platform: ModuleType
) -> None:
    """The second run waits the full time again: the first timeout left nothing pending."""
    soc, reef = _impatient(make_soc, make_cpu), platform.Reef(pace=0)
    core, console = platform.power_on(soc, build(ACCELERATED, soc), [1, 1, 2], {3: reef})
    core.run()
    assert console.results == [-4, -4]
    assert console.text == "npu: no answer after 0 commands\n" * 2
    assert len(reef.waits) == 2
    assert all(TIMEOUT <= wait <= TIMEOUT + 100 for wait in reef.waits)


def test_a_lost_interrupt_costs_time_and_nothing_else(
    build: Build, make_soc: MakeSoc, make_cpu: Callable[..., Cpu], platform: ModuleType
) -> None:
    soc, reef = _impatient(make_soc, make_cpu), platform.Reef(mute=True)
    core, console = platform.power_on(soc, build(ACCELERATED, soc), [1, 1, 2], {3: reef})
    core.run()
    assert (console.results, console.text) == ([0, 0], "")
    assert reef.registers[platform.COMPLETED] == 3


def test_the_watchdog_watches_runs_alone_and_its_restart_is_said(
    build: Build, make_soc: MakeSoc, platform: ModuleType
) -> None:
    core, console = platform.power_on(make_soc(), build(SUM), [1, 1, 2], {3: platform.Reef()})
    console.restarted = True
    core.run()
    assert console.periods == [0xFFFF_FFFF, 0] * 2
    assert console.text == "watchdog: the host did not report, the chip was restarted\n"
    assert not console.restarted


def test_a_slow_accelerator_is_not_given_up(
    build: Build, make_soc: MakeSoc, make_cpu: Callable[..., Cpu], platform: ModuleType
) -> None:
    """Each of the three commands may take the whole time."""
    soc, reef = _impatient(make_soc, make_cpu), platform.Reef(pace=TIMEOUT - 200)
    core, console = platform.power_on(soc, build(ACCELERATED, soc), [1, 2], {3: reef})
    core.run()
    assert console.results == [0]
    assert reef.registers[platform.COMPLETED] == 3


@pytest.mark.parametrize(
    ("register", "value"), [("ID", 0x1234_5678), ("PARAMS", 0x0208_0804), ("WEIGHT_ROWS", 64)]
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


def test_m9_each_instance_has_its_own_context_and_interrupt(
    build: Build, make_soc: MakeSoc, make_npu: Callable[..., Npu], platform: ModuleType
) -> None:
    both = ACCELERATED.replace("return status;", "return status + RUN_SECOND;").replace(
        "RUN {", "#define RUN_SECOND atoll_npu_run(2, atoll_pool_weights, 1)\nRUN {"
    )
    soc = make_soc(npus=(make_npu("npu", 1), make_npu("other", 2, irq=9)))
    reefs = {3: platform.Reef(), 9: platform.Reef(error=5)}
    core, console = platform.power_on(soc, build(both, soc), [1, 2], reefs)
    core.run()
    assert console.results == [-5]
    assert console.text.startswith("other: error 5 (BAD_OPCODE)")
    assert [reef.registers[platform.COUNT] for reef in reefs.values()] == [3, 1]


def test_an_unknown_accelerator_is_an_error(
    build: Build, make_soc: MakeSoc, platform: ModuleType
) -> None:
    source = "RUN { (void)in; (void)out; return atoll_npu_run(0, 0, 1); }"
    core, console = platform.power_on(
        make_soc(npus=()), build(source, make_soc(npus=())), [1, 2], {}
    )
    core.run()
    assert console.results == [-1]


def test_m6_constants_in_ram_are_copied_at_start(
    build: Build, make_soc: MakeSoc, make_pool: Callable[..., Pool], platform: ModuleType
) -> None:
    tables = make_pool("tables", "dtcm", 0x1000_4000, 0x1000, "both", Access.WRITE, ("cpu", "npu"))
    soc = make_soc(extra=(tables,))
    firmware = build("uint8_t atoll_pool_tables[70] POOL(tables) = {9, 8, 7};" + SUM, soc)
    assert {use.region for use in firmware.use} >= {"tables", "cpu.code"}
    core, _ = platform.power_on(soc, firmware, [2], {3: platform.Reef()})
    core.run()
    assert [core.memory.read(0x1000_4000 + index, 1) for index in range(4)] == [9, 8, 7, 0]


def test_constants_in_ram_that_the_host_cannot_fill_are_refused(
    build: Build, make_soc: MakeSoc, make_pool: Callable[..., Pool]
) -> None:
    tables = make_pool("tables", "sram", 0x2002_0000, 0x1000, "both", Access.NONE, ("cpu", "npu"))
    source = "const uint8_t atoll_pool_tables[70] POOL(tables) = {9, 8, 7};" + SUM
    with pytest.raises(ToolchainError, match="pool 'tables' holds constants") as caught:
        build(source, make_soc(extra=(tables,)))
    (fault,) = caught.value.faults
    assert fault.remedy == "give 'cpu' rw in pools.tables.reach"
    build(SUM, make_soc(extra=(tables,)))


def test_m6_equal_input_makes_equal_bytes(build: Build) -> None:
    first, second = build(SUM, folder="one"), build(SUM, folder="two")
    assert first.elf.read_bytes() == second.elf.read_bytes()
    assert first.map.read_bytes() == second.map.read_bytes()
    assert str(first.folder).encode() not in first.elf.read_bytes() + first.map.read_bytes()


@pytest.mark.parametrize(
    ("sizes", "region", "key"),
    [({"code_size": 0x400}, "cpu.code", "code"), ({"data_size": 16}, "cpu.data", "data")],
)
def test_a_region_that_is_too_small_names_its_key_and_the_size_that_fits(
    build: Build,
    make_soc: MakeSoc,
    make_cpu: Callable[..., Cpu],
    sizes: dict[str, int],
    region: str,
    key: str,
) -> None:
    with pytest.raises(PlanError, match=f"region '{region}'") as caught:
        build(SUM, make_soc(cpu=make_cpu(**sizes)))
    (fault,) = caught.value.faults
    assert fault.code == "E074"
    assert fault.remedy is not None
    advice = re.fullmatch(r"set 'devices\.cpu\.(\w+)\.size' to (.+) or more", fault.remedy)
    assert advice is not None
    assert advice[1] == key
    size = parse_size(advice[2])
    build(SUM, make_soc(cpu=make_cpu(**{f"{key}_size": size})))
    with pytest.raises(PlanError):
        build(SUM, make_soc(cpu=make_cpu(**{f"{key}_size": size - 16})))


def test_a_file_is_compiled_again_only_if_it_reads_what_changed(
    build: Build,
    make_soc: MakeSoc,
    make_model: Callable[..., ModelInterface],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    cache = tmp_path / "cache"
    cache.mkdir()
    (cache / "zig").symlink_to(cache_folder() / "zig")  # what Zig itself keeps is no part of this
    monkeypatch.setenv("ATOLL_CACHE", str(cache))
    compiled: list[str] = []
    compile_one = Zig.compile

    def noted(self: Zig, source: str, target: Path, *, folder: Path) -> None:
        compiled.append(source)
        compile_one(self, source, target, folder=folder)

    def compiled_by(soc: ResolvedSoc, name: str) -> set[str]:
        compiled.clear()
        build(SUM, soc, make_model(name))
        return set(compiled) - {"model.c"}

    monkeypatch.setattr(Zig, "compile", noted)
    soc = make_soc()
    every = compiled_by(soc, "digits")
    assert {"main.c", "startup.S", "guard.c", "status.c"} < every
    assert compiled_by(soc, "letters") == {"main.c"}, "no other file names a network"
    moved = compiled_by(replace(soc, console=replace(soc.console, origin=0x6000_0000)), "letters")
    assert {"console.c", "main.c"} <= moved, "atoll_devices.h says where the console is"
    assert "status.c" not in moved


def test_a_header_is_read_through_another_one() -> None:
    headers = {"a.h": b'#include "b.h"', "b.h": b"#define B 1", "c.h": b""}
    assert _headers_named(b'#include "a.h"', headers) == {"a.h", "b.h"}


def test_an_undefined_symbol_is_named(build: Build) -> None:
    source = "int32_t nowhere(void); RUN { (void)in; (void)out; return nowhere(); }"
    with pytest.raises(ToolchainError, match="undefined: nowhere") as caught:
        build(source)
    assert caught.value.faults[0].code == "E073"


def test_the_compiler_library_serves_what_the_core_lacks(
    build: Build, make_soc: MakeSoc, platform: ModuleType
) -> None:
    source = """
    static volatile int64_t huge = -1234567890123;
    RUN { (void)in; (void)out; return (int32_t)(huge / 1000003); }
    """
    core, console = platform.power_on(make_soc(), build(source), [1, 2], {3: platform.Reef()})
    core.run()
    assert console.results == [-1234564]
