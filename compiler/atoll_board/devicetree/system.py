# SPDX-License-Identifier: Apache-2.0
"""The System Devicetree: every core with its own address map, over one bus.

Source: System Devicetree Specification, chapters 2 and 3 (https://github.com/devicetree-org/lopper).
"""

from collections.abc import Iterator, Mapping

from atoll.resolve.mailbox import LINE
from atoll.resolve.memory_views import device_address
from atoll.resolve.soc import Cpu, Region, ResolvedSoc
from atoll_board.devicetree.core_nodes import (
    controller_label,
    core_node,
    interrupt,
    private_nodes,
    private_span,
)
from atoll_board.devicetree.node import NOT_HERE, Cell, Node, Reference, Value, source, to_dashes
from atoll_board.devicetree.shared_nodes import Parts, block_label, label_of
from atoll_board.package import Board, Entry, generated_entry
from atoll_board.register_blocks import blocks_on_bus
from atoll_board.render import opening_sentence

_BUS = "bus"
_FIRST_CPU = 1
_NO_LEVEL = 0
_NO_FLAGS = 0
"""Lopper 1.6 takes a cell of flags for granted."""


def system_files(board: Board) -> Mapping[str, Entry]:
    """Return ``devicetree/<chip>_system.dts``."""
    text = source(system_tree(board.soc), opening_sentence(board), NOT_HERE)
    return {f"devicetree/{board.soc.name}_system.dts": generated_entry(text)}


def system_tree(soc: ResolvedSoc) -> Node:
    """Return the tree: a cluster for each core, the bus with all that is on it, the domains."""
    parts = Parts(soc=soc)
    return Node(
        name="/",
        properties={"compatible": f"atoll,{soc.name}", "model": soc.name, **parts.widths},
        children=(
            *(_cluster(parts, core) for core in soc.cpus),
            Node(
                name="bus",
                label=_BUS,
                properties={"compatible": "indirect-bus", **parts.widths, "ranges": True},
                children=(_on_bus(parts),),
            ),
            *_private_buses(parts),
            Node(name="reserved-memory", properties={**parts.widths, "ranges": True}),
            Node(
                name="domains",
                children=tuple(_domain(soc, core) for core in soc.cpus),
            ),
        ),
    )


def _on_bus(parts: Parts) -> Node:
    """Return all that is on the bus; Lopper takes from a simple bus what a domain does not have."""
    return Node(
        name="soc",
        properties={"compatible": "simple-bus", **parts.widths, "ranges": True},
        children=(*parts.memories(), *parts.registers(_lines(parts.soc))),
    )


def _cluster(parts: Parts, core: Cpu) -> Node:
    """Return a core alone: no two reach the same, so that none share a map."""
    cells = (parts.address_cells,)
    return Node(
        name=f"cpus-{to_dashes(core.name)}",
        label=f"cluster_{core.name}",
        properties={
            "compatible": "cpus,cluster",
            "#address-cells": (1,),
            "#size-cells": (0,),
            "#ranges-address-cells": cells,
            "#ranges-size-cells": cells,
            "address-map": tuple(_map(parts, core)),
        },
        children=(core_node(core),),
    )


def _map(parts: Parts, core: Cpu) -> Iterator[tuple[Cell, ...]]:
    """Yield where the core sees what, on which bus, where that has it, and its bytes."""
    windows = [
        (device_address(parts.soc, core.name, each.origin), _BUS, each)
        for each, _ in parts.soc.windows(core)
        if each.size
    ]
    for seen, bus, each in sorted(windows, key=lambda window: window[0]):
        origin = parts.number(each.origin)
        yield (*parts.number(seen), Reference(bus), *origin, *parts.number(each.size))
    if private := private_span(core):
        start, size = parts.number(private.start), parts.number(len(private))
        yield (*start, Reference(_private_label(core)), *start, *size)


def _private_buses(parts: Parts) -> Iterator[Node]:
    for core in parts.soc.cpus:
        if registers := tuple(private_nodes(core, parts.span)):
            yield Node(
                name=f"{to_dashes(core.name)}-private-bus",
                label=_private_label(core),
                properties={"compatible": "indirect-bus", **parts.widths},
                children=registers,
            )


def _domain(soc: ResolvedSoc, core: Cpu) -> Node:
    """Return the programs of a core: the regions and registers that they may touch."""
    windows = [each for each, _ in soc.windows(core)]
    labels = [label_of(each) for each in windows if isinstance(each, Region) and each.size]
    labels += [block_label(soc, name) for name in _blocks(soc, core)]
    return Node(
        name=to_dashes(core.name),
        label=f"domain_{core.name}",
        properties={
            "compatible": "openamp,domain-v1",
            "cpus": (Reference(f"cluster_{core.name}"), _FIRST_CPU, _NO_LEVEL),
            "#access-flags-cells": (1,),
            "access": tuple((Reference(label), _NO_FLAGS) for label in labels),
            "id": (core.ordinal,),
        },
    )


def _blocks(soc: ResolvedSoc, core: Cpu) -> Iterator[str]:
    """Yield the names of the blocks of registers that a core may touch."""
    if core.name == soc.host:
        yield from (block.name for block in blocks_on_bus(soc))
    elif core.mailbox:
        yield core.name


def _lines(soc: ResolvedSoc) -> Mapping[str, Mapping[str, Value]]:
    """Return where interrupts go, by the name of their block; a mailbox has one at each side."""
    host = soc.host_cpu
    lines = {**soc.irqs, "atoll_guard": host.spec.bus_error_line}
    found: dict[str, Mapping[str, Value]] = {}
    for name, line in lines.items():
        ends = [(host, line), *((core, LINE) for core in soc.remote_cpus if core.name == name)]
        if known := [end for end in ends if end[0].spec.controller is not None]:
            found[name] = {"interrupts-extended": tuple(_end(*end) for end in known)}
    return found


def _end(core: Cpu, line: int) -> tuple[Cell, ...]:
    return (Reference(controller_label(core)), *interrupt(core, line))


def _private_label(core: Cpu) -> str:
    return f"private_{core.name}"
