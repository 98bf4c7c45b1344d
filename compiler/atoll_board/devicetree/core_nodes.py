# SPDX-License-Identifier: Apache-2.0
"""The nodes of cores, their interrupt controllers and the registers that they answer themselves."""

from collections.abc import Callable, Iterator

from atoll.isa.instruction_set import Family
from atoll.resolve.soc import Cpu, Device
from atoll_board.core_words import core_words
from atoll_board.cortex_m import architecture, is_cortex_m, model, priority_bits
from atoll_board.devicetree.node import Cell, Node, Reference, Value, quantity, to_dashes

_NVIC = range(0xE000_E100, 0xE000_ED00)
"""Registers of the interrupt controller of each Cortex-M (Armv7-M Architecture Reference Manual,
B3.4)."""

_LOCAL_BYTES = 0x1_0000
_FAST_SHIFT = 14
_MACHINE_TIMER = 7
"""Bit of ``mip`` (RISC-V Privileged Architecture, 3.1.9)."""

_CORTEX = "cortex_"


Registers = Callable[[int, int], tuple[int, ...]]


def core_node(core: Cpu) -> Node:
    """Return a core; that of RISC-V has its interrupt controller inside."""
    properties: dict[str, Value] = {
        "device_type": "cpu",
        "compatible": core_compatible(core),
        "reg": (0,),
        "label": core.shown,
        **device_properties(core),
        "clock-frequency": quantity(core.clock),
    }
    is_riscv = core.instructions.family is Family.RISCV
    properties["riscv,isa" if is_riscv else "atoll,isa"] = core.isa
    if core.cache:
        properties["d-cache-line-size"] = (core.cache.line,)
    inside = core.spec.controller not in (None, "nvic")
    return Node(
        name="cpu@0",
        label=f"device_{core.name}",
        properties=properties,
        children=(_controller(core),) if inside else (),
    )


def device_properties(device: Device) -> dict[str, Value]:
    """Return what the one table of devices says of a device beside its name."""
    words = dict(core_words(device)) if isinstance(device, Cpu) else {}
    if isinstance(device, Cpu) and device.cache and device.cache.shared:
        words["shared-cache"] = device.cache.shared
    return {
        "atoll,kind": device.kind,
        "atoll,ordinal": (device.ordinal,),
        "atoll,loader": device.loader,
        **{f"atoll,{name}": text for name, text in words.items()},
    }


def private_nodes(core: Cpu, reg: Registers) -> Iterator[Node]:
    """Yield the node of the registers that a core answers itself, if it has any.

    Args:
        core: the core.
        reg: returns the cells of an address and a size.
    """
    span = private_span(core)
    if core.spec.controller == "nvic":
        yield _nvic(core, reg)
    elif span:
        interrupt: dict[str, Value] = {}
        if core.spec.controller == "fast":
            target = (Reference(controller_label(core)), _MACHINE_TIMER)
            interrupt["interrupts-extended"] = target
        yield Node(
            name=f"timer@{span.start:x}",
            properties={
                "compatible": "atoll,core-local",
                "reg": reg(span.start, len(span)),
                **interrupt,
            },
        )


def _nvic(core: Cpu, reg: Registers) -> Node:
    architecture_word = architecture(core).removeprefix("arm").partition("-")[0]
    short = architecture_word.removesuffix("e")
    return Node(
        name=f"interrupt-controller@{_NVIC.start:x}",
        label=controller_label(core),
        properties={
            "compatible": f"arm,{short}m-nvic",
            "reg": reg(_NVIC.start, len(_NVIC)),
            "interrupt-controller": True,
            "#address-cells": (0,),
            "#interrupt-cells": (2,),
            "arm,num-irq-priority-bits": (priority_bits(core),),
        },
    )


def private_span(core: Cpu) -> range | None:
    """Return the registers that a core answers itself and that have a place in the tree."""
    if core.spec.controller == "nvic":
        return _NVIC
    if core.spec.local is None:
        return None
    return range(core.spec.local, core.spec.local + _LOCAL_BYTES)


def controller_label(core: Cpu) -> str:
    """Return the label of a core's interrupt controller."""
    return f"interrupts_{core.name}"


def interrupt(core: Cpu, line: int) -> tuple[Cell, ...]:
    """Return the cells with which a device names a core's interrupt line."""
    if core.spec.controller == "nvic":
        return (line, 0)
    return (line + _FAST_SHIFT if core.spec.controller == "fast" else line,)


def core_compatible(core: Cpu) -> str | tuple[str, ...]:
    """Return what a core is compatible with."""
    name = core.spec.name
    if name.startswith(_CORTEX):
        return f"arm,{to_dashes(name)}"
    own = f"atoll,{to_dashes(name)}"
    if is_cortex_m(core):
        return (own, f"arm,cortex-{model(core)}")
    is_plain = core.instructions.family is not Family.RISCV
    return own if is_plain else (own, "riscv")


def _controller(core: Cpu) -> Node:
    kind = core.spec.controller
    return Node(
        name="interrupt-controller",
        label=controller_label(core),
        properties={
            "compatible": "riscv,cpu-intc" if kind == "fast" else f"atoll,intc-{kind}",
            "interrupt-controller": True,
            "#address-cells": (0,),
            "#interrupt-cells": (1,),
        },
    )
