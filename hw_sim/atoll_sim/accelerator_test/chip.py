# SPDX-License-Identifier: Apache-2.0
"""The chips on which the kit tries an accelerator: two instances, memories of several kinds."""

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from atoll.description.accelerator_files import AcceleratorDescription
from atoll.records import dataclass
from atoll.resolve import load_soc
from atoll.resolve.soc import Engine, ResolvedSoc
from atoll_sim.trace.simulation import Conditions

FIRST, SECOND = "first", "second"
"""The instances."""


@dataclass(frozen=True, slots=True)
class Memories:
    """How memories answer.

    Attributes:
        name: of the setting.
        latency: cycles of a read.
        width: bytes that a bank moves in a cycle.
        banks: of the shared memory.
        conditions: of an accelerator that a native host drives.
    """

    name: str
    latency: int
    width: int
    banks: int
    conditions: Conditions


SETTINGS = (
    Memories("without waits", 1, 16, 4, Conditions(seed=1)),
    Memories("usual", 2, 4, 2, Conditions(seed=2, hold=0.25)),
    Memories("slow", 9, 4, 1, Conditions(seed=3, hold=0.7)),
)

_CHIP = """
soc: kit
version: 1
devices:
  cpu: {{kind: cpu, isa: rv32imc, stack: {{memory: dtcm, size: 8 KiB}}}}
  first: {{kind: npu, accelerator: {path}, params: {params}, registers: 0x4000_0000{irqs[0]}}}
  second: {{kind: npu, accelerator: {path}, params: {params}, registers: 0x4000_1000{irqs[1]}}}
memories:
  flash: {{origin: 0x0000_0000, size: 1 MiB, kind: rom, read_latency: {memories.latency},
    width: {memories.width}}}
  dtcm: {{origin: 0x1000_0000, size: 64 KiB, kind: ram, width: 4}}
  sram: {{origin: 0x2000_0000, size: 256 KiB, kind: ram, read_latency: {memories.latency},
    width: {memories.width}, banks: {memories.banks}}}
pools:
  weights: {{memory: flash, role: constants, reach: {{cpu: ro{reads}}}}}
  shared: {{memory: sram, role: workspace, reach: {{cpu: rw{writes}}}}}
host: cpu
"""


_DMA_CHIP = """
soc: kit
version: 1
devices:
  cpu: {{kind: cpu, isa: rv32imc, stack: {{memory: dtcm, size: 8 KiB}}}}
  first: {{kind: dma, engine: {path}, params: {params}, registers: 0x4000_0000{irqs[0]},
    moves: {moves}}}
  second: {{kind: dma, engine: {path}, params: {params}, registers: 0x4000_1000{irqs[1]},
    moves: {moves}}}
memories:
  flash: {{origin: 0x0000_0000, size: 1 MiB, kind: rom, read_latency: {memories.latency},
    width: {memories.width}}}
  dtcm: {{origin: 0x1000_0000, size: 64 KiB, kind: ram, width: 4}}
  near: {{origin: 0x2000_0000, size: 128 KiB, kind: ram, read_latency: {memories.latency},
    width: {memories.width}, banks: {memories.banks}}}
  far: {{origin: 0x3000_0000, size: 128 KiB, kind: ram, width: 4}}
pools:
  weights: {{memory: flash, role: constants, reach: {{cpu: ro, first: ro, second: ro}}}}
  here: {{memory: near, role: workspace, reach: {{cpu: rw, first: rw, second: rw}}}}
  there: {{memory: far, role: workspace, reach: {{cpu: rw, first: rw, second: rw}}}}
host: cpu
"""
_MOVES = "[[near, far], [far, near], [flash, near], [flash, far]]"


_PRIVATE_CHIP = """
soc: kit
version: 1
devices:
  cpu: {{kind: cpu, isa: rv32imc, stack: {{memory: dtcm, size: 8 KiB}}}}
  first: {{kind: npu, accelerator: {path}, params: {params}, registers: 0x4000_0000{irqs[0]}}}
  dma: {{kind: dma, engine: ripple, registers: 0x4000_1000, irq: 4,
    moves: [[sram, near], [near, sram], [flash, near]]}}
memories:
  flash: {{origin: 0x0000_0000, size: 1 MiB, kind: rom, read_latency: 2, width: 4}}
  dtcm: {{origin: 0x1000_0000, size: 64 KiB, kind: ram, width: 4}}
  sram: {{origin: 0x2000_0000, size: 256 KiB, kind: ram, width: 8}}
  near: {{origin: 0x3000_0000, size: 256 KiB, kind: ram, width: 8}}
pools:
  weights: {{memory: flash, role: constants, reach: {{cpu: ro, dma: ro, first: {reads}}}}}
  shared: {{memory: sram, role: workspace, reach: {{cpu: rw, dma: rw, first: none}}}}
  private: {{memory: near, role: workspace, reach: {{cpu: none, first: rw, dma: rw}}}}
host: cpu
"""


def private_chip(
    described: AcceleratorDescription, params: Mapping[str, int], folder: Path
) -> ResolvedSoc | None:
    """Return a chip whose accelerator has a memory of its own, which a DMA engine fills.

    It also reads the constants there if it can do without another memory. None for an engine that
    reads and writes no memory, or only copies.
    """
    model = described.model
    if not model.ports.data or is_dma(described):
        return None
    packed = all(operator.constants for operator in model.operators.values())
    alone = packed and model.program is not None and model.emitter is None
    path = folder / "kit_private.yaml"
    path.write_text(
        _PRIVATE_CHIP.format(
            path=described.path.resolve(),
            params=_words(params),
            irqs=("",) if model.ports.interrupt == "none" else (", irq: 3",),
            reads="none" if alone else "ro",
        )
    )
    return load_soc(path)


def _words(params: Mapping[str, int]) -> str:
    return "{" + ", ".join(f"{name}: {value}" for name, value in params.items()) + "}"


def is_dma(described: AcceleratorDescription) -> bool:
    """Tell whether an engine only moves bytes."""
    return described.model.operators.keys() <= {"COPY", "RELAYOUT"}


def kit_chip(
    described: AcceleratorDescription,
    params: Mapping[str, int],
    memories: Memories,
    folder: Path,
) -> ResolvedSoc:
    """Return a chip with two instances of an accelerator.

    Args:
        described: the accelerator.
        params: of both instances.
        memories: how they answer.
        folder: takes the description of the chip.

    Raises:
        DescriptionError: the instances cannot have these parameters.
    """
    ports = described.model.ports
    silent, fed = ports.interrupt == "none", not ports.data
    path = folder / f"kit_{memories.name.replace(' ', '_')}.yaml"
    path.write_text(
        (_DMA_CHIP if is_dma(described) else _CHIP).format(
            moves=_MOVES,
            path=described.path.resolve(),
            params=_words(params),
            irqs=("", "") if silent else (", irq: 3", ", irq: 4"),
            memories=memories,
            reads="" if fed else ", first: ro, second: ro",
            writes="" if fed else ", first: rw, second: rw",
        )
    )
    return load_soc(path)


def one_at_a_time(soc: ResolvedSoc) -> ResolvedSoc:
    """Return the chip as one whose host waits for each operator of an accelerator at once."""
    return _with_engines(soc, asynchronous=False)


def without_timing(soc: ResolvedSoc) -> ResolvedSoc:
    """Return the chip as one of whose engines nothing was measured."""
    return _with_engines(soc, timing={})


def _with_engines(soc: ResolvedSoc, **changes: Any) -> ResolvedSoc:
    devices = tuple(
        replace(device, spec=replace(device.spec, **changes))
        if isinstance(device, Engine)
        else device
        for device in soc.devices
    )
    return replace(soc, devices=devices)
