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
    """

    name: str
    latency: int
    width: int
    banks: int


SETTINGS = (
    Memories("without waits", 1, 16, 4),
    Memories("usual", 2, 4, 2),
    Memories("slow", 9, 4, 1),
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
        _CHIP.format(
            path=described.path.resolve(),
            params="{" + ", ".join(f"{name}: {value}" for name, value in params.items()) + "}",
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
