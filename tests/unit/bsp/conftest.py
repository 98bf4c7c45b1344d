# SPDX-License-Identifier: Apache-2.0
"""A small chip of our own, so that the BSP is tested apart from the resolver."""

import ctypes
import importlib.util
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from types import ModuleType

import pytest
from tests.picorv32 import PICORV32

from atoll.bsp.drivers import protocol_headers
from atoll.bsp.emitters import write_bsp
from atoll.bsp.firmware import Part, link_firmware
from atoll.bsp.interface import Firmware, ModelInterface, PoolShare, Port
from atoll.bsp.render import FOLDER
from atoll.bsp.toolchain import find_toolchain
from atoll.isa.find import instruction_set
from atoll.resolve.soc import (
    AcceleratorSpec,
    Access,
    Cpu,
    Device,
    Memory,
    Npu,
    Pool,
    Region,
    RegionKind,
    Registers,
    ResolvedSoc,
    StackLimit,
)

RUNTIME = FOLDER / "runtime"
STRICT = ("-Wall", "-Wextra", "-Werror", "-pedantic")

REEF_REGISTERS = {
    "ID": 0x00,
    "PARAMS": 0x04,
    "WEIGHT_ROWS": 0x08,
    "CONTROL": 0x0C,
    "STATUS": 0x10,
    "ERROR": 0x14,
    "FAULT_ADDRESS": 0x18,
    "LIST_ADDRESS": 0x1C,
    "LIST_COUNT": 0x20,
    "COMPLETED": 0x24,
    "IRQ_ENABLE": 0x28,
    "IRQ_STATUS": 0x2C,
    "CYCLES": 0x30,
    "STALLS": 0x34,
    "WAIT_READ": 0x38,
    "WAIT_WRITE": 0x3C,
    "WAIT_WEIGHTS": 0x40,
}

REEF = AcceleratorSpec(
    name="reef",
    operators=(),
    registers=REEF_REGISTERS,
    rtl_module="reef",
    rtl_sources=(),
    emitter="atoll_sim.engines.reef.emitter:ReefEmitter",
    model="",
    driver="command_list",
    asynchronous=True,
)


def _region(name: str, kind: RegionKind, memory: str, origin: int, size: int) -> Region:
    return Region(name=name, kind=kind, memory=memory, origin=origin, size=size)


def _make_cpu(code_size: int = 0x1_0000, data_size: int = 0x1000, stack_size: int = 0x1000) -> Cpu:
    built_in = "built-in"
    return Cpu(
        name="cpu",
        kind="cpu",
        device_type=1,
        device_id=0,
        ordinal=0,
        clock=100_000_000,
        instructions=instruction_set("rv32imc"),
        spec=PICORV32,
        toolchain="zig",
        code=_region("cpu.code", RegionKind.CODE, "flash", 0, code_size),
        data=_region("cpu.data", RegionKind.DATA, "dtcm", 0x1000_0000, data_size),
        stack=_region("cpu.stack", RegionKind.STACK, "dtcm", 0x1000_2000, stack_size),
        interrupt_reserve=256,
        max_stack_alloca_size=StackLimit(value=1024, layer=built_in),
        max_stack_size=StackLimit(value=stack_size, layer=built_in),
    )


def _make_npu(name: str, ordinal: int, spec: AcceleratorSpec = REEF, irq: int = 3) -> Npu:
    return Npu(
        name=name,
        kind="npu",
        device_type=12,
        device_id=ordinal - 1,
        ordinal=ordinal,
        clock=100_000_000,
        spec=spec,
        params={
            "input_lanes": 8,
            "output_lanes": 8,
            "weight_rows": 256,
            "line_columns": 64,
            "vector": 1,
            "requantisers": 16,
            "data_bytes": 8,
        },
        registers=Registers(origin=0x4000_0000 + 0x1000 * (ordinal - 1), size=0x1000),
        irq=irq,
        runs=(),
    )


def _make_pool(
    name: str,
    memory: str,
    origin: int,
    size: int,
    role: str,
    host: Access,
    devices: tuple[str, ...],
) -> Pool:
    return Pool(
        name=name,
        region=_region(name, RegionKind.POOL, memory, origin, size),
        role=role,
        alignment=16,
        preference=0,
        reach={device: host if device == "cpu" else Access.WRITE for device in devices},
    )


def _make_soc(
    cpu: Cpu | None = None,
    npus: tuple[Npu, ...] = (_make_npu("npu", 1),),
    extra: tuple[Pool, ...] = (),
) -> ResolvedSoc:
    devices: tuple[Device, ...] = (cpu or _make_cpu(), *npus)
    names = tuple(device.name for device in devices)
    pools = (
        _make_pool("weights", "flash", 0x4_0000, 0xC_0000, "constants", Access.READ, names),
        _make_pool("shared", "sram", 0x2000_0000, 0x4_0000, "workspace", Access.WRITE, names),
    )
    return ResolvedSoc(
        name="islet",
        devices=devices,
        memories=(
            _memory("flash", 0, 0x10_0000, "rom"),
            _memory("dtcm", 0x1000_0000, 0x1_0000, "ram"),
            _memory("sram", 0x2000_0000, 0x4_0000, "ram"),
        ),
        pools=(*pools, *extra),
        host="cpu",
        default_device="cpu",
        console=Registers(origin=0x5000_0000, size=0x1000),
        layers={},
    )


def _memory(name: str, origin: int, size: int, kind: str) -> Memory:
    return Memory(name=name, origin=origin, size=size, kind=kind, width=4, banks=1, read_latency=1)


def _make_model(name: str = "digits") -> ModelInterface:
    return ModelInterface(
        name=name,
        inputs=(Port(name="image+", size=64, address=0x2000_0000),),
        outputs=(Port(name="scores", size=10, address=0x2000_0040),),
        shares=(PoolShare(pool="shared", workspace=0x100, constants=0),),
    )


@pytest.fixture(scope="session")
def make_cpu() -> Callable[..., Cpu]:
    return _make_cpu


@pytest.fixture(scope="session")
def make_npu() -> Callable[..., Npu]:
    return _make_npu


@pytest.fixture(scope="session")
def make_pool() -> Callable[..., Pool]:
    return _make_pool


@pytest.fixture(scope="session")
def make_soc() -> Callable[..., ResolvedSoc]:
    return _make_soc


@pytest.fixture(scope="session")
def make_model() -> Callable[..., ModelInterface]:
    return _make_model


@pytest.fixture(scope="session")
def platform() -> ModuleType:
    """The module of a core in Python and its devices: ``platform_model.py`` beside this file."""
    for name in ("operations", "machine"):
        _sibling(name)
    return _sibling("platform_model")


def _sibling(name: str) -> ModuleType:
    qualified = f"tests.unit.bsp.{name}"
    if qualified not in sys.modules:
        path = Path(__file__).with_name(f"{name}.py")
        spec = importlib.util.spec_from_file_location(qualified, path)
        assert spec is not None
        assert spec.loader is not None
        sys.modules[qualified] = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(sys.modules[qualified])
    return sys.modules[qualified]


@pytest.fixture(scope="session")
def host_library(tmp_path_factory: pytest.TempPathFactory) -> Callable[..., ctypes.CDLL]:
    """Compile C for this machine, every warning an error, and load it."""
    compiler = shutil.which("cc") or shutil.which("gcc")
    if compiler is None:
        pytest.skip("needs a C compiler for this machine")

    def load(*sources: Path, include: Path | None = None) -> ctypes.CDLL:
        folder = tmp_path_factory.mktemp("host")
        for name, text in protocol_headers().items():
            (folder / name).write_text(text)
        library = folder / "library.so"
        flags = ["-std=c99", "-O2", "-shared", "-fPIC", "-fno-builtin", *STRICT]
        flags += [f"-I{each}" for each in {RUNTIME, folder, include} if each is not None]
        command = [compiler, *flags, "-o", str(library), *map(str, sources)]
        subprocess.run(command, check=True)
        return ctypes.CDLL(str(library))

    return load


Build = Callable[..., Firmware]


@pytest.fixture
def build(tmp_path: Path) -> Build:
    """Build firmware around a model that is written in C."""

    def run(
        source: str,
        soc: ResolvedSoc | None = None,
        model: ModelInterface | None = None,
        folder: str = "build",
        link: Callable[..., Firmware] = link_firmware,
    ) -> Firmware:
        soc, model, out = soc or _make_soc(), model or _make_model(), tmp_path / folder
        scratch = tmp_path / "scratch"
        write_bsp(soc, (model,), scratch)
        (scratch / "model.c").write_text(_PROLOGUE.format(model=model.name) + source)
        code = tmp_path / "model.o"
        find_toolchain(soc.host_cpu).compile("model.c", code, folder=scratch)
        out.mkdir(exist_ok=True)
        codes = {soc.host: code.read_bytes()}
        return link(soc, (Part(interface=model, codes=lambda: codes),), out)

    return run


_PROLOGUE = """
#include "{model}.h"
#include "atoll_devices.h"
#include "atoll_runtime.h"
#define RUN int32_t {model}_run(const struct {model}_inputs *in, const struct {model}_outputs *out)
#define POOL(name) __attribute__((section(".atoll.pool." #name), aligned(64)))
"""


@pytest.fixture(scope="session")
def reef_spec() -> AcceleratorSpec:
    return REEF
