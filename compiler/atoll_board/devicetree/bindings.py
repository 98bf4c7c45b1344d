# SPDX-License-Identifier: Apache-2.0
"""Bindings of what is in a devicetree, for dt-schema.

Source: dt-schema (https://github.com/devicetree-org/dt-schema), meta-schema ``core``.
"""

from collections.abc import Iterator, Mapping
from functools import partial

from atoll_board.devicetree.node import Node, compatible, compatibles, to_dashes
from atoll_board.devicetree.shared_nodes import SHARED_MAILBOX, names_of
from atoll_board.package import Board, Entry, generated_entry
from atoll_board.render import render

_PLAIN = {
    "mmio-sram": ("memory", "RAM of the chip, with its regions"),
    "atoll,rom": ("memory", "Read-only memory of the chip, with its regions"),
    "atoll,pool": ("region", "A pool, in which buffers of networks are planned"),
    "atoll,code": ("region", "Instructions and read-only data of a core"),
    "atoll,load": ("region", "Start-up code of a core, and what it copies to RAM"),
    "atoll,data": ("region", "Static data of a core"),
    "atoll,stack": ("region", "A stack of a core"),
    "atoll,mailbox": ("registers", "Registers through which a core runs operators for the host"),
    SHARED_MAILBOX: ("registers", "Memory through which a core runs operators for the host"),
    "atoll,console": ("registers", "Text, trace, requests and results of the test bench"),
    "atoll,guard": ("registers", "What firewalls kept back and the bus failed; the watchdog"),
    "atoll,core-local": ("registers", "A core's timer, at the offsets of a CLINT"),
    "riscv,cpu-intc": ("controller", "Interrupts of a RISC-V core, by their bit of mip"),
}
"""Template and title of what needs no more than that."""


def binding_files(board: Board, root: Node) -> Mapping[str, Entry]:
    """Return ``devicetree/bindings/``: a binding for each thing in a tree."""
    found = compatibles(root)
    return {
        f"devicetree/bindings/{name}.yaml": generated_entry(text)
        for name, text in _bindings(board, root)
        if name in found
    }


def _bindings(board: Board, root: Node) -> Iterator[tuple[str, str]]:
    soc = board.soc
    core = next(node for node in root.walk() if node.name.startswith("cpu@"))
    names = compatible(core)
    isa = "riscv,isa" if "riscv,isa" in core.properties else "atoll,isa"
    write = partial(_render_binding, board)
    yield f"atoll,{soc.name}", write("chip", f"atoll,{soc.name}", f"The chip {soc.name}")
    yield names[0], write("core", names[0], "The host", names=names, isa=isa)
    for name, (template, title) in _PLAIN.items():
        yield name, write(template, name, title)
    for version in ("6", "7", "8", "8.1"):
        name = f"arm,v{version}m-nvic"
        yield name, write("nvic", name, "The interrupt controller of a Cortex-M")
    kind = soc.host_cpu.spec.controller
    title = "Interrupts of a core, by their line"
    yield f"atoll,intc-{kind}", write("controller", f"atoll,intc-{kind}", title)
    for engine in {engine.spec.name: engine for engine in soc.engines}.values():
        name = f"atoll,engine-{to_dashes(engine.spec.name)}"
        title = f"The engine {engine.spec.name}"
        yield name, write("engine", name, title, parameters=names_of(engine))


def _render_binding(board: Board, template: str, name: str, title: str, **values: object) -> str:
    file = f"binding_{template}.yaml"
    return render(file, board, compatible=name, title=title, **values)
