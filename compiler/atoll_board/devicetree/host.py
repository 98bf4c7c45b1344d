# SPDX-License-Identifier: Apache-2.0
"""The devicetree of the host: what its programs reach, at the addresses that they use."""

from collections.abc import Mapping

from atoll.resolve.memory_views import as_seen_by
from atoll.resolve.soc import Region, ResolvedSoc
from atoll_board.devicetree.bindings import binding_files
from atoll_board.devicetree.core_nodes import controller_label, core_node, interrupt, private_nodes
from atoll_board.devicetree.node import NOT_HERE, Node, Reference, Value, source
from atoll_board.devicetree.shared_nodes import Parts
from atoll_board.package import Board, Entry, generated_entry
from atoll_board.render import opening_sentence


def devicetree_files(board: Board) -> Mapping[str, Entry]:
    """Return ``devicetree/<chip>.dts`` and the bindings of what is in it."""
    root = host_tree(board.soc)
    return {
        f"devicetree/{board.soc.name}.dts": generated_entry(
            source(root, opening_sentence(board), NOT_HERE)
        ),
        **binding_files(board, root),
    }


def host_tree(soc: ResolvedSoc) -> Node:
    """Return the tree of the host: one core, its memories, and all registers."""
    seen = as_seen_by(soc, soc.host)
    host = seen.host_cpu
    windows = seen.windows(host)
    parts = Parts(
        soc=seen,
        access={each.name: access for each, access in windows if isinstance(each, Region)},
    )
    registers = parts.registers(_lines(seen))
    return Node(
        name="/",
        properties={
            "compatible": f"atoll,{soc.name}",
            "model": soc.name,
            **parts.widths,
            **_parent(seen),
        },
        children=(
            Node(
                name="cpus",
                properties={"#address-cells": (1,), "#size-cells": (0,)},
                children=(core_node(host),),
            ),
            Node(
                name="soc",
                properties={"compatible": "simple-bus", **parts.widths, "ranges": True},
                children=(*parts.memories(), *private_nodes(host, parts.span), *registers),
            ),
        ),
    )


def _parent(soc: ResolvedSoc) -> dict[str, Value]:
    """Name the controller of all lines, if the core says how it sees them."""
    if soc.host_cpu.spec.controller is None:
        return {}
    return {"interrupt-parent": (Reference(controller_label(soc.host_cpu)),)}


def _lines(soc: ResolvedSoc) -> Mapping[str, Mapping[str, Value]]:
    """Return where interrupts go, by the name of their block."""
    host = soc.host_cpu
    if host.spec.controller is None:
        return {}
    lines = {**soc.irqs, "atoll_guard": host.spec.bus_error_line}
    return {name: {"interrupts": interrupt(host, line)} for name, line in lines.items()}
