# SPDX-License-Identifier: Apache-2.0
"""`engine_reader` and `reef_aligner`: runs of any alignment become the right steps."""

from dataclasses import dataclass
from random import Random
from typing import Any

import cocotb
from cocotb.triggers import FallingEdge, ReadOnly
from cocotbext.axi import AxiRamRead, AxiReadBus
from tests.benches.reef_axi import pause_all, start
from tests.benches.reef_system import parameter

INPUT, KINDS = 2, (0, 1, 2)
MEMORY = 1 << 16


@dataclass(frozen=True, slots=True)
class Run:
    """A run of bytes and what it is for; the fields are those of run_t."""

    kind: int
    address: int
    size: int
    phase: int = 0
    unit: int = 0
    first: int = 0
    last: int = 0

    def steps(self, data: bytes, width: int) -> list[tuple[object, ...]]:
        """Return what must come out: (unit, first, last, mask, masked bytes) of each step."""
        if self.size == 0:
            return [(self.unit, self.first, self.last, 0, bytes(width))]
        line = bytes(self.phase) + data[self.address : self.address + self.size]
        mask = ((1 << self.size) - 1) << self.phase
        count = -(-len(line) // width)
        return [
            (
                *(self.unit + i, self.first and i == 0, self.last and i == count - 1),
                mask >> i * width & ((1 << width) - 1),
                line[i * width :][:width].ljust(width, b"\0"),
            )
            for i in range(count)
        ]

    def beats(self, data: bytes, beat: int) -> list[tuple[int, int, bytes]]:
        """Return the beats of a run that is not input: (kind, number, bytes)."""
        first, last = self.address // beat, -(-(self.address + self.size) // beat)
        return [(self.kind, i - first, data[i * beat :][:beat]) for i in range(first, last)]


def random_run(random: Random, depthwise: bool, width: int, beat: int) -> Run:
    """Make a run of any kind, often near a page's end."""
    address = random.choice((random.randrange(MEMORY // 2), 4096 - random.randint(1, 200)))
    kind = random.choice((INPUT, INPUT, INPUT, *KINDS))
    if kind != INPUT:
        count = random.choice((1, 2, 8, 40))
        return Run(kind, address // beat * beat, count * beat)
    size = random.randint(1, width) if depthwise else random.choice((1, 3, 9, 33, 150))
    flags = random.getrandbits(1), random.getrandbits(1)
    if random.random() < 0.1:
        return Run(kind, 0, 0, 0, 3, *flags)
    phase = 0 if depthwise else random.randrange(width)
    return Run(kind, address, size, phase, random.randrange(9999), *flags)


async def feed(dut: Any, runs: list[Run]) -> None:
    """Hand the runs over one after the other."""
    for run in runs:
        dut.run_valid_i.value = 1
        dut.bytes_i.value = run.size
        for name in ("kind", "address", "phase", "unit", "first", "last"):
            getattr(dut, f"{name}_i").value = getattr(run, name)
        await ReadOnly()
        while dut.run_ready_o.value == 0:
            await FallingEdge(dut.clk_i)
            await ReadOnly()
        await FallingEdge(dut.clk_i)
    dut.run_valid_i.value = 0


async def collect(
    dut: Any, random: Random, width: int, beat: int, count: int, depthwise: bool
) -> list[object]:
    """Take `count` steps and loaded beats, with random pauses."""
    seen: list[object] = []
    while len(seen) < count:
        dut.step_ready_i.value = random.random() < 0.7
        await ReadOnly()
        if dut.load_valid_o.value == 1:
            data = int(dut.load_data_o.value).to_bytes(beat, "little")
            seen.append((int(dut.load_kind_o.value), int(dut.load_beat_o.value), data))
        if dut.step_valid_o.value == 1 and dut.step_ready_i.value == 1:
            mask = int(dut.step_mask_o.value) & ((1 << width) - 1)
            data = int(dut.step_data_o.value).to_bytes(64, "little")[:width]
            kept = bytes(value * (mask >> i & 1) for i, value in enumerate(data))
            assert int(dut.step_depthwise_o.value) == depthwise
            unit, first, last = dut.step_unit_o, dut.step_first_o, dut.step_last_o
            seen.append((int(unit.value), int(first.value), int(last.value), mask, kept))
        await FallingEdge(dut.clk_i)
    return seen


@cocotb.test()
@cocotb.parametrize(depthwise=[False, True], share=[0.0, 0.5])
async def cuts_runs_into_steps(dut: Any, depthwise: bool, share: float) -> None:
    """Loads and steps come out in order and complete, whatever the alignment."""
    random = Random(f"{cocotb.RANDOM_SEED} {depthwise} {share}")
    beat = parameter("DataBytes", 8)
    width = parameter("OutputLanes", 8) if depthwise else parameter("InputLanes", 8)
    memory = AxiRamRead(
        AxiReadBus.from_prefix(dut, "m_axi"), dut.clk_i, dut.rst_ni, False, size=MEMORY
    )
    data = random.randbytes(MEMORY)
    memory.write(0, data)
    pause_all(random, share, memory.ar_channel, memory.r_channel)
    await start(dut, run_valid_i=0, step_ready_i=0, depthwise_i=int(depthwise))
    await FallingEdge(dut.clk_i)
    runs = [random_run(random, depthwise, width, beat) for _ in range(150)]
    expected: list[object] = []
    for run in runs:
        expected += run.steps(data, width) if run.kind == INPUT else run.beats(data, beat)
    cocotb.start_soon(feed(dut, runs))
    assert await collect(dut, random, width, beat, len(expected), depthwise) == expected
    assert dut.idle_o.value == 1
