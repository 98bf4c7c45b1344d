# SPDX-License-Identifier: Apache-2.0
"""The devicetree of a core for Zephyr: what the core reaches, each node with a binding.

Zephyr's own bindings have memories, interrupt controllers and timers; ``zephyr/dts/bindings`` has
the others. Nodes are flat below ``/soc``, since Zephyr asks for a memory by its own address.
Source: Zephyr 4.1, "Devicetree versus Linux" and ``dts/bindings``.
"""

from collections.abc import Iterator, Mapping

from atoll.resolve.mailbox import LINE
from atoll.resolve.memory_views import as_seen_by
from atoll.resolve.soc import Access, Cpu, Pool, Region, ResolvedSoc
from atoll_board.cortex_m import architecture, is_cortex_m
from atoll_board.devicetree.core_nodes import (
    controller_label,
    core_compatible,
    interrupt,
    private_nodes,
)
from atoll_board.devicetree.node import Node, Reference, Value, quantity
from atoll_board.devicetree.shared_nodes import Parts, block_label, label_of
from atoll_board.zephyr.zephyr_cores import code_of, ram_of

_SYSTICK = range(0xE000_E010, 0xE000_E020)
"""Registers of SysTick (Armv7-M Architecture Reference Manual, B3.3)."""

_MTIME, _MTIMECMP = 0xBFF8, 0x4000
_TIME_BYTES = 8
_MACHINE_TIMER = 7
"""Registers and interrupt of a core-local interruptor's timer, see docs/cores.md."""

_RAM, _CODE = "/soc/ram@{:x}", "/soc/code@{:x}"


def core_tree(soc: ResolvedSoc, core: Cpu) -> Node:
    """Return the tree of a core, with the addresses that it sees."""
    seen = as_seen_by(soc, core.name)
    parts = Parts(soc=seen)
    start, size = ram_of(soc, core)
    code = code_of(soc, core)
    rom = seen.memory(code.memory).kind == "rom"
    own = (
        _memory(parts, "code", code.origin, code.size, "soc-nv-flash" if rom else "mmio-sram"),
        _memory(parts, "ram", start, size, "mmio-sram"),
    )
    return Node(
        name="/",
        properties={
            "compatible": f"atoll,{soc.name}",
            "model": soc.name,
            **parts.widths,
            "interrupt-parent": (Reference(controller_label(core)),),
        },
        children=(
            Node(
                name="chosen",
                properties={
                    "zephyr,sram": _RAM.format(start),
                    "zephyr,flash": _CODE.format(code.origin),
                },
            ),
            Node(
                name="cpus",
                properties={"#address-cells": (1,), "#size-cells": (0,)},
                children=(_core(core),),
            ),
            Node(
                name="soc",
                properties={"compatible": "simple-bus", **parts.widths, "ranges": True},
                children=(
                    *own,
                    *_pools(parts, core),
                    *_private(parts, core),
                    *_blocks(parts, core),
                ),
            ),
        ),
    )


def region_name(pool: Pool) -> str:
    """Return what Zephyr's linker script calls the memory of a pool."""
    return f"POOL_{pool.name.upper()}"


def _core(core: Cpu) -> Node:
    properties: dict[str, Value] = {
        "device_type": "cpu",
        "compatible": core_compatible(core),
        "reg": (0,),
        "clock-frequency": quantity(core.clock),
    }
    if is_cortex_m(core):
        return Node(name="cpu@0", properties=properties)
    controller = Node(
        name="interrupt-controller",
        label=controller_label(core),
        properties={
            "compatible": "riscv,cpu-intc",
            "interrupt-controller": True,
            "#address-cells": (0,),
            "#interrupt-cells": (1,),
        },
    )
    properties["riscv,isa"] = core.isa
    return Node(name="cpu@0", properties=properties, children=(controller,))


def _memory(parts: Parts, name: str, origin: int, size: int, kind: str) -> Node:
    return Node(
        name=f"{name}@{origin:x}",
        properties={"compatible": kind, "reg": parts.span(origin, size)},
    )


def _pools(parts: Parts, core: Cpu) -> Iterator[Node]:
    """Yield every pool: the image of a host holds constants that others alone may read."""
    for pool in (pool for pool in parts.soc.pools if pool.region.size):
        access = pool.reach[core.name]
        region: Region = pool.region
        yield Node(
            name=f"pool@{region.origin:x}",
            label=label_of(region),
            properties={
                "compatible": ("atoll,pool", "zephyr,memory-region"),
                "reg": parts.span(region.origin, region.size),
                "zephyr,memory-region": region_name(pool),
                "zephyr,memory-region-flags": "rw" if access is Access.WRITE else "r",
                "atoll,role": pool.role,
                **({"atoll,no-access": True} if access is Access.NONE else {}),
            },
        )


def _private(parts: Parts, core: Cpu) -> Iterator[Node]:
    """Yield interrupt controller and timer."""
    if is_cortex_m(core):
        yield from private_nodes(core, parts.span)
        short = architecture(core).removeprefix("arm").partition("-")[0].removesuffix("e")
        yield Node(
            name=f"timer@{_SYSTICK.start:x}",
            properties={
                "compatible": f"arm,arm{short}m-systick",
                "reg": parts.span(_SYSTICK.start, len(_SYSTICK)),
            },
        )
        return
    assert core.spec.local is not None
    registers = (core.spec.local + _MTIME, core.spec.local + _MTIMECMP)
    yield Node(
        name=f"timer@{registers[0]:x}",
        properties={
            "compatible": "riscv,machine-timer",
            "reg": tuple(parts.span(each, _TIME_BYTES) for each in registers),
            "reg-names": ("mtime", "mtimecmp"),
            "interrupts-extended": (Reference(controller_label(core)), _MACHINE_TIMER),
        },
    )


def _blocks(parts: Parts, core: Cpu) -> Iterator[Node]:
    """Yield the registers that programs of the core may touch: all, or its mailbox."""
    soc = parts.soc
    is_host = core.name == soc.host
    own = block_label(soc, core.name)
    nodes = parts.registers(_lines(soc, core))
    yield from (node for node in nodes if is_host or node.label == own)


def _lines(soc: ResolvedSoc, core: Cpu) -> Mapping[str, Mapping[str, Value]]:
    """Return the property of each interrupt at a core, by the name of its block."""
    lines = {core.name: LINE}
    if core.name == soc.host:
        lines = {**soc.irqs, "atoll_guard": core.spec.bus_error_line}
    return {name: {"interrupts": interrupt(core, line)} for name, line in lines.items()}
