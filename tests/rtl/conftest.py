# SPDX-License-Identifier: Apache-2.0
"""A chip whose accelerator is a small copier, and firmware for it."""

import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from tests.picorv32 import PICORV32

from atoll.isa.find import instruction_set
from atoll.resolve.soc import (
    AcceleratorSpec,
    Access,
    Cpu,
    Memory,
    Npu,
    Pool,
    Region,
    RegionKind,
    Registers,
    ResolvedSoc,
    StackLimit,
)

DATA = Path(__file__).parent / "data"
CLOCK = 100_000_000
READ, WRITE, NONE = Access.READ, Access.WRITE, Access.NONE

FirmwareBuilder = Callable[..., Path]


def _region(name: str, memory: str, origin: int, size: int) -> Region:
    kinds = {
        "cpu.code": RegionKind.CODE,
        "cpu.data": RegionKind.DATA,
        "cpu.stack": RegionKind.STACK,
    }
    kind = kinds.get(name, RegionKind.POOL)
    return Region(name=name, kind=kind, memory=memory, origin=origin, size=size)


def _memory(name: str, origin: int, size: int, width: int, banks: int, latency: int) -> Memory:
    kind = "rom" if name == "flash" else "ram"
    return Memory(
        name=name,
        origin=origin,
        size=size,
        kind=kind,
        width=width,
        banks=banks,
        read_latency=latency,
    )


def _pool(region: Region, npu: Access) -> Pool:
    rom = region.memory == "flash"
    return Pool(
        name=region.name,
        region=region,
        role="constants" if rom else "workspace",
        alignment=16,
        preference=0,
        reach={"cpu": READ if rom else WRITE, "npu": npu},
    )


def _cpu() -> Cpu:
    limit = StackLimit(value=8192, layer="built-in")
    return Cpu(
        name="cpu",
        kind="cpu",
        device_type=1,
        device_id=0,
        ordinal=0,
        clock=CLOCK,
        instructions=instruction_set("rv32imc"),
        spec=PICORV32,
        toolchain="zig",
        code=_region("cpu.code", "flash", 0, 0x8000),
        data=_region("cpu.data", "dtcm", 0x1000_C000, 0x2000),
        stack=_region("cpu.stack", "dtcm", 0x1000_E000, 0x2000),
        interrupt_reserve=1024,
        max_stack_alloca_size=limit,
        max_stack_size=limit,
    )


def _npu() -> Npu:
    spec = AcceleratorSpec(
        name="copier",
        operators=(),
        registers={},
        rtl_module="test_copier",
        rtl_sources=(str(DATA / "test_copier.sv"),),
        emitter="",
        model="",
        driver="",
        asynchronous=True,
    )
    return Npu(
        name="npu",
        kind="npu",
        device_type=12,
        device_id=0,
        ordinal=1,
        clock=CLOCK,
        spec=spec,
        params={"data_bytes": 8},
        registers=Registers(origin=0x4000_0000, size=4096),
        irq=3,
        runs=(),
    )


@pytest.fixture(scope="session")
def tiny() -> ResolvedSoc:
    """A core and a copier around a flash, a private and a shared memory."""
    return ResolvedSoc(
        name="tiny",
        devices=(_cpu(), _npu()),
        memories=(
            _memory("flash", 0, 2**16, 4, 1, 2),
            _memory("dtcm", 0x1000_0000, 2**16, 4, 1, 1),
            _memory("sram", 0x2000_0000, 2**15, 8, 4, 1),
        ),
        pools=(
            _pool(_region("private", "dtcm", 0x1000_0000, 0xC000), NONE),
            _pool(_region("shared", "sram", 0x2000_0000, 2**15), WRITE),
            _pool(_region("weights", "flash", 0x8000, 0x8000), READ),
        ),
        host="cpu",
        default_device="cpu",
        console=Registers(origin=0x5000_0000, size=4096),
        layers={},
    )


@pytest.fixture(scope="session")
def firmware(tmp_path_factory: pytest.TempPathFactory) -> FirmwareBuilder:
    """Compile data/protocol.c with one of its endings; return the ELF file."""

    def build(ending: str, beats: int = 8) -> Path:
        elf = tmp_path_factory.mktemp("firmware") / f"{ending.lower()}.elf"
        command = [sys.executable, "-m", "ziglang", "cc", "-O2", "-nostdlib", "-ffreestanding"]
        command += ["-target", "riscv32-freestanding-none", "-mcpu=generic_rv32+m+c"]
        command += [f"-DENDING={ending}", f"-DBEATS={beats}"]
        command += [f"-Wl,-T,{DATA / 'link.ld'}", "-Wl,-e,_start"]
        command += ["-Wl,-z,max-page-size=4", str(DATA / "start.S"), str(DATA / "protocol.c")]
        subprocess.run([*command, "-o", str(elf)], check=True, capture_output=True)
        return elf

    return build
