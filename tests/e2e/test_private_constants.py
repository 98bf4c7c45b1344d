# SPDX-License-Identifier: Apache-2.0
"""Packed constants are copied to private memory, to multiples of what their function asks for."""

from pathlib import Path

import pytest

from atoll.artifacts.samples import random_sample
from atoll.driver.pipeline import Compiled, compile_file
from atoll.resolve import load_soc
from atoll_sim.backends.session import AcceleratorKind, CpuKind
from atoll_sim.runs.checked_run import run_models

DIGITS = Path(__file__).parents[2] / "examples" / "01_digits" / "digits_int8.tflite"
IDEA = """\
accelerator: idea
version: 1
ports: {control: apb, data: {m: {protocol: obi, bytes: 4}}}
registers: {size: 4 KiB, map: {CONTROL: 0x00, STATUS: 0x04, WEIGHTS: 0x08, IN: 0x0C, OUT: 0x10}}
operators:
  CONV_2D:
    cost: 100 + macs // 64
    constants: {weights: {pack: ./idea.py:pack, alignment: ALIGNMENT}}
program:
  run:
    - {write: WEIGHTS, value: weights.address}
    - {write: IN, value: input.address}
    - {write: OUT, value: output.address}
    - {write: CONTROL, value: 1}
    - {wait: STATUS, mask: 1, equals: 0}
  clear: [{write: CONTROL, value: 4}]
  abort: [{write: CONTROL, value: 2}]
"""
PACK = """\
def pack(op, graph, npu):
    return b"".join(graph.tensor(name).data for name in op.inputs[1:])
"""
CHIP = """\
soc: chip
version: 1
devices:
  cpu: {kind: cpu, isa: rv32imc, stack: {memory: sram, size: 8 KiB}}
  npu: {kind: npu, accelerator: ./idea.yaml, registers: 0x4000_0000, irq: 3}
  dma:
    kind: dma
    engine: ripple
    registers: 0x4001_0000
    irq: 4
    moves: [[sram, bank], [flash, bank], [bank, sram]]
memories:
  flash: {origin: 0x0000_0000, size: 1 MiB, kind: rom, width: 4}
  sram: {origin: 0x2000_0000, size: 64 KiB, kind: ram, width: 8}
  bank: {origin: 0x3000_0000, size: 64 KiB, kind: ram, width: 8}
pools:
  weights: {memory: flash, role: constants, reach: {cpu: ro, npu: none, dma: ro}}
  shared: {memory: sram, role: workspace, reach: {cpu: rw, npu: none, dma: rw}}
  private: {memory: bank, role: workspace, reach: {cpu: none, npu: rw, dma: rw}}
host: cpu
"""


def compiled(folder: Path, alignment: int) -> Compiled:
    (folder / "idea.yaml").write_text(IDEA.replace("ALIGNMENT", str(alignment)))
    (folder / "idea.py").write_text(PACK)
    (folder / "chip.yaml").write_text(CHIP)
    return compile_file(load_soc(folder / "chip.yaml"), DIGITS)


@pytest.mark.parametrize("alignment", [4, 64, 1024])
def test_they_begin_where_they_shall(alignment: int, tmp_path: Path) -> None:
    made = compiled(tmp_path, alignment)
    packed = [name for op in made.graph.operators for name in op.packed]
    assert packed
    for name in packed:
        assert made.plan.placements[name].pool == "private"
        assert made.plan.address(name) % alignment == 0
    sample = random_sample(made.graph)
    kind = AcceleratorKind.MODEL
    (outcome,) = run_models([made], [sample], cpu=CpuKind.NATIVE, accelerator=kind)
    assert outcome.report.passed
