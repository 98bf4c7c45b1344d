# SPDX-License-Identifier: Apache-2.0
"""Chips and graphs from a few lines of text."""

import re
from collections.abc import Callable

import pytest
from tests.picorv32 import PICORV32

from atoll.ir.graph import Graph, Operator, Tensor
from atoll.isa.find import instruction_set
from atoll.resolve.soc import (
    AcceleratorSpec,
    Access,
    Cpu,
    Device,
    Memory,
    Npu,
    OperatorSupport,
    Pool,
    Region,
    RegionKind,
    Registers,
    ResolvedSoc,
    StackLimit,
)

MakeSoc = Callable[..., ResolvedSoc]
MakeGraph = Callable[..., Graph]

MEMORY = Memory(name="ram", origin=0, size=2**20, kind="ram", width=4, banks=1, read_latency=1)

_POOL = re.compile(r"(?P<name>\w+) (?P<size>\d+) (?P<role>\w+): (?P<reach>.*)")
_OPERATOR = re.compile(r"(?P<out>\w+) = (?P<kind>\w+)\((?P<ins>[\w ]*)\)(?: on (?P<device>\w+))?")


def _region(name: str, size: int, kind: RegionKind = RegionKind.POOL) -> Region:
    return Region(name=name, kind=kind, memory="ram", origin=0, size=size)


def _cpu(name: str, ordinal: int) -> Cpu:
    limit = StackLimit(value=4096, layer="built-in")
    obeys = ordinal > 0
    return Cpu(
        name=name,
        kind="cpu",
        device_type=1,
        device_id=ordinal,
        ordinal=ordinal,
        clock=1,
        instructions=instruction_set("rv32imc"),
        spec=PICORV32,
        toolchain="zig",
        code=_region(f"{name}.code", 4096, RegionKind.CODE),
        data=_region(f"{name}.data", 4096, RegionKind.DATA),
        stack=_region(f"{name}.stack", 4096, RegionKind.STACK),
        interrupt_reserve=0,
        max_stack_alloca_size=limit,
        max_stack_size=limit,
        mailbox=Registers(origin=0, size=4096) if obeys else None,
        irq=1 if obeys else None,
    )


def _npu(name: str, ordinal: int, lanes: int, runs: tuple[str, ...]) -> Npu:
    spec = AcceleratorSpec(
        name="reef",
        operators=(
            OperatorSupport(kind="conv_2d", limits={"kernel_h": (1, 4), "int8": (1, None)}),
            OperatorSupport(kind="fully_connected", limits={"depth": (None, 9)}),
        ),
        registers={},
        rtl_module="reef",
        rtl_sources=(),
        emitter="atoll_sim.engines.reef.emitter:ReefEmitter",
        model="atoll_sim.engines.reef.model:ReefModel",
        driver="command_list",
        asynchronous=True,
    )
    return Npu(
        name=name,
        kind="npu",
        device_type=12,
        device_id=ordinal,
        ordinal=ordinal,
        clock=1,
        spec=spec,
        params={
            "input_lanes": lanes,
            "output_lanes": lanes,
            "requantisers": lanes,
            "weight_rows": 64,
            "data_bytes": 16,
        },
        registers=Registers(origin=0, size=4096),
        irq=1,
        runs=runs,
    )


def _pool(line: str, preference: int, devices: tuple[Device, ...]) -> Pool:
    found = _POOL.fullmatch(line.strip())
    assert found, line
    reach = dict.fromkeys((device.name for device in devices), Access.NONE)
    reach |= {name: Access(access) for name, access in re.findall(r"(\w+) (\w+)", found["reach"])}
    return Pool(
        name=found["name"],
        region=_region(found["name"], int(found["size"])),
        role=found["role"],
        alignment=16,
        preference=preference,
        reach=reach,
    )


@pytest.fixture
def make_soc() -> MakeSoc:
    """Make a chip whose host is ``cpu``.

    Other cores are `cores`, accelerators ``name=lanes``; pools are lines
    ``NAME SIZE ROLE: DEVICE ACCESS, ...`` in the order of preference.
    """

    def make(
        pools: str,
        runs: tuple[str, ...] = ("conv_2d", "fully_connected"),
        cores: tuple[str, ...] = (),
        default_device: str = "cpu",
        **npus: int,
    ) -> ResolvedSoc:
        accelerators = (
            _npu(name, number, lanes, runs)
            for number, (name, lanes) in enumerate(npus.items(), 1 + len(cores))
        )
        processors = (_cpu(name, number) for number, name in enumerate(("cpu", *cores)))
        devices: tuple[Device, ...] = (*processors, *accelerators)
        lines = pools.strip().splitlines()
        return ResolvedSoc(
            name="chip",
            devices=devices,
            memories=(MEMORY,),
            pools=tuple(_pool(line, number, devices) for number, line in enumerate(lines)),
            host="cpu",
            default_device=default_device,
            console=Registers(origin=0, size=4096),
            layers={},
        )

    return make


@pytest.fixture
def make_graph() -> MakeGraph:
    """Make a graph from lines ``y = add(a b) on npu``; names in capitals are constants.

    Every tensor has 16 bytes. Inputs are what no line writes, outputs what no line reads.
    """

    def make(text: str, size: int = 16) -> Graph:
        operators = tuple(
            _operator(number, line.strip()) for number, line in enumerate(text.strip().splitlines())
        )
        read = list(dict.fromkeys(name for op in operators for name in op.inputs))
        written = dict.fromkeys(name for op in operators for name in op.outputs)
        names, used = dict.fromkeys((*read, *written)), set(read)
        tensors = (
            Tensor(
                name=name, shape=(size,), dtype="int8", data=bytes(size) if name.isupper() else None
            )
            for name in names
        )
        return Graph(
            name="m",
            tensors=tuple(tensors),
            operators=operators,
            inputs=tuple(n for n in read if n not in written and not n.isupper()),
            outputs=tuple(n for n in written if n not in used),
        )

    return make


def _operator(number: int, line: str) -> Operator:
    found = _OPERATOR.fullmatch(line)
    assert found, line
    return Operator(
        name=f"{found['kind']}_{number}",
        kind=found["kind"],
        inputs=tuple(found["ins"].split()),
        outputs=(found["out"],),
        attributes={},
        device=found["device"] or "",
    )
