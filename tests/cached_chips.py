# SPDX-License-Identifier: Apache-2.0
"""Chips whose cores have data caches."""

from pathlib import Path

from atoll.resolve import load_soc
from atoll.resolve.soc import ResolvedSoc

FOLDER = Path(__file__).parent / "data" / "caches"
CORE = FOLDER / "write_back.yaml"
CORTEX_M7 = (
    "devices.cpu.core=cortex_m7",
    "devices.cpu.isa=armv7e-m",
    "devices.cpu.cache.line=32",
    "memories.dtcm.cached=false",
    "devices.npu.params.vector=0",
)
"""A core with a cache on lagoon; it adds between operators of the accelerator."""


def cached_lagoon(*settings: str) -> ResolvedSoc:
    """Return lagoon with a Cortex-M7."""
    return load_soc("lagoon", (*CORTEX_M7, *settings))


def cached_quad() -> ResolvedSoc:
    """Return quad, four cores of one kind, with RISC-V cores that have caches."""
    names = [f"devices.cpu{number}" for number in range(4)]
    given = [f"{name}.core={CORE}" for name in names] + [f"{name}.cache.line=32" for name in names]
    return load_soc("quad", tuple(given))


def cached_twin(cpu: int = 64, dsp: int = 32, *settings: str) -> ResolvedSoc:
    """Return twin with RISC-V cores whose caches have lines of `cpu` and `dsp` bytes; 0 is none."""
    given = ["devices.dsp.isa=rv32imc"]
    for name, line in (("cpu", cpu), ("dsp", dsp)):
        given += [f"devices.{name}.core={CORE}", f"memories.{name}_tcm.cached=false"]
        given += [f"devices.{name}.cache.line={line}"] if line else []
    return load_soc("twin", (*given, *settings))


NPU = FOLDER / "npu.yaml"
"""lagoon, whose accelerator has a cache that the host maintains by registers."""

IN_RAM = ("pools.weights.memory=sram", "pools.weights.size=96 KiB", "pools.weights.reach.cpu=rw")
"""Its constants are in RAM."""

SHARED_BY_REGISTERS = FOLDER / "shared_by_registers.yaml"
SHARED_BY_INSTRUCTIONS = FOLDER / "shared_by_instructions.yaml"
APART = ("devices.cpu.cache.shared=null",)
"""Both cores of such a chip have a cache of their own."""

NOT_OF_THE_HOST = ("host=dsp", "devices.dsp.mailbox=null")
"""The two cores of the second chip have one cache, and its host another."""
