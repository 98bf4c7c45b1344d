# SPDX-License-Identifier: Apache-2.0
"""The memory protection of a Cortex-M33, on somebody else's model of it: QEMU's mps2-an505.

The machine has neither Atoll's console nor its firewalls: the console's registers are plain memory
here, in which a wish for runs stands from the beginning. No device is asked what was kept back.
"""

import re
import shutil
import subprocess
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple

import pytest
from elftools.elf.elffile import ELFFile
from elftools.elf.sections import SymbolTableSection

from atoll.artifacts.build_tree import build
from atoll.driver.pipeline import BuildOptions, Compiled, compile_file, with_plan
from atoll.memory.problem import Placement
from atoll.protocol import ConsoleRegister, Request, Trace
from atoll.resolve import load_soc
from atoll.resolve.protection.record import FaultRecord, record_of
from atoll_sim.check.protection_traps import blocked_accesses
from atoll_sim.trace.simulation import Phase, SimResult, Stop

DIGITS = Path(__file__).parents[2] / "examples" / "01_digits" / "digits_int8.tflite"
CHIP = """\
soc: an505
version: 1
devices:
  cpu:
    kind: cpu
    core: cortex_m33
    isa: armv8-m.main+dsp
    protection: true
    stack: {memory: sram, size: 8 KiB}
  other: {kind: cpu, core: cortex_m0plus, isa: armv6-m, stack: {memory: sram, size: 1 KiB}}
memories:
  flash: {origin: 0x1000_0000, size: 1 MiB, kind: rom}
  sram: {origin: 0x3800_0000, size: 256 KiB, kind: ram}
pools:
  weights: {memory: flash, role: constants, reach: {cpu: ro, other: none}}
  open: {memory: sram, role: workspace, size: 64 KiB, reach: {cpu: rw, other: none}}
  closed: {memory: sram, role: workspace, size: 64 KiB, reach: {cpu: ACCESS, other: rw}}
console: 0x3810_0000
host: cpu
"""
CONSOLE = 0x3810_0000
OPERATOR = "add_3"
ACCESS_VIOLATION, ADDRESS_VALID = 1 << 1, 1 << 7
"""Bits of MMFSR, the low byte of CFSR."""

TRIES = 2000
RETURN = b"\x70\x47"
"""``bx lr``"""

QEMU = shutil.which("qemu-system-arm")

pytestmark = pytest.mark.skipif(QEMU is None, reason="qemu-system-arm is not installed")


class Machine:
    """A machine that runs, asked through its monitor."""

    def __init__(self, process: "subprocess.Popen[str]") -> None:
        self._process = process

    def words(self, address: int, count: int) -> list[int]:
        """Read words of its memory."""
        assert self._process.stdin
        assert self._process.stdout
        self._process.stdin.write(f"xp /{count}xw {address:#x}\n")
        self._process.stdin.flush()
        found: list[int] = []
        while len(found) < count:
            line = self._process.stdout.readline()
            assert line, "QEMU has ended"
            if match := re.match(r"^0*[0-9a-f]+: (.*)", line):
                found += [int(word, 16) for word in match[1].split()]
        return found


@contextmanager
def running(elf: Path, preset: Sequence[tuple[int, int]]) -> Iterator[Machine]:
    assert QEMU
    command = [QEMU, "-M", "mps2-an505", "-display", "none", "-serial", "null"]
    command += ["-monitor", "stdio", "-kernel", str(elf)]
    for address, value in preset:
        command += ["-device", f"loader,addr={address:#x},data={value:#x},data-len=4"]
    with subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as process:
        try:
            yield Machine(process)
        finally:
            process.kill()


def leave_out(elf: Path, function: str) -> None:
    """Let a function of an image return at once: plain memory is no guard register."""
    with elf.open("rb") as file:
        image = ELFFile(file)
        symbols = image.get_section_by_name(".symtab")
        assert isinstance(symbols, SymbolTableSection)
        found = symbols.get_symbol_by_name(function)
        assert found
        [symbol] = found
        section = image.get_section(symbol["st_shndx"])
        at = section["sh_offset"] + (symbol["st_value"] & ~1) - section["sh_addr"]
    data = bytearray(elf.read_bytes())
    data[at : at + 2] = RETURN
    elf.write_bytes(data)


class End(NamedTuple):
    """How a run ended.

    Attributes:
        status: of the first run, 1 if none has ended.
        record: what a trap left behind.
        trace: the last trace event.
    """

    status: int
    record: FaultRecord
    trace: int


def outcome(compiled: Compiled, folder: Path) -> End:
    """Run firmware until its first run ends or a fault ends it."""
    elf = build((compiled,), folder / "build").firmware.elf
    leave_out(elf, "atoll_guard_start")
    preset = (
        (CONSOLE + ConsoleRegister.REQUEST, Request.RUN),
        (CONSOLE + ConsoleRegister.RESULT, 1),
    )
    record = record_of(compiled.soc.host_cpu)
    with running(elf, preset) as machine:
        for _ in range(TRIES):
            found = FaultRecord(*machine.words(record.origin, 3))
            [status] = machine.words(CONSOLE + ConsoleRegister.RESULT, 1)
            if found.instruction or status != 1:
                [trace] = machine.words(CONSOLE + ConsoleRegister.TRACE, 1)
                return End(status, found, trace)
    raise AssertionError("the firmware neither ends a run nor faults")


def chip(access: str, folder: Path) -> Compiled:
    path = folder / "an505.yaml"
    path.write_text(CHIP.replace("ACCESS", access))
    return compile_file(load_soc(path), DIGITS, BuildOptions(accelerators=False))


def test_a_network_runs_within_its_regions(tmp_path: Path) -> None:
    end = outcome(chip("none", tmp_path), tmp_path)
    assert (end.status, end.record) == (0, FaultRecord(0, 0, 0))


@pytest.mark.parametrize(
    ("access", "rule"), [("none", "device without reach"), ("ro", "write to read-only")]
)
def test_a_stray_pointer_faults(access: str, rule: str, tmp_path: Path) -> None:
    right = chip(access, tmp_path)
    phases = right.contract.phases.values()
    buffer = next(phase.writes[0].buffer for phase in phases if phase.operator == OPERATOR)
    place = Placement(buffer=buffer, pool="closed", offset=0)
    plan = replace(right.plan, placements={**right.plan.placements, buffer: place})
    wrong = with_plan(right, plan)
    end = outcome(wrong, tmp_path)
    assert end.status == 1
    assert end.record.cause == ACCESS_VIOLATION | ADDRESS_VALID
    code = wrong.soc.host_cpu.code
    assert code.origin <= end.record.instruction < code.end
    [found] = blocked_accesses(wrong.soc, wrong.contract, as_result(wrong, end))
    assert (found.rule, found.device, found.operator) == (rule, "cpu", OPERATOR)
    assert (found.buffer, found.offset, found.pool) == (buffer, 0, "closed")
    assert found.address == wrong.plan.address(buffer)
    assert found.at.endswith("an505.yaml:17:70")


def as_result(compiled: Compiled, end: End) -> SimResult:
    """Return what a simulation of ours would have told."""
    record = record_of(compiled.soc.host_cpu)
    words = (end.record.cause, end.record.address, end.record.instruction)
    operator = Trace.of(end.trace).operator
    running = Phase(sample=0, operators=(operator,), begin=0, end=0, touched=())
    return SimResult(
        stop=Stop.TRAP,
        exit_status=None,
        results=(),
        outputs=(),
        layers=(),
        phases=(running,),
        findings=(),
        findings_total=0,
        stacks={record.name: b"".join(word.to_bytes(4, "little") for word in words)},
        text="",
        trapped="cpu",
        cycles=0,
        wall_seconds=0.0,
    )
