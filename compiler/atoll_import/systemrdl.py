# SPDX-License-Identifier: Apache-2.0
"""Memories, engines and DMA controllers out of SystemRDL, read by systemrdl-compiler.

Source: SystemRDL 2.0 (Accellera, January 2018): clause 11 on memories, 13 on address maps, 15 on
user-defined properties. The format has no cores and no interrupts; our own exports have them in the
property ``atoll_chip``.
"""

import re
from collections.abc import Iterator
from typing import Any

from atoll.description.register_files import INSTALL, compile_rdl
from atoll.diagnostics.errors import ToolchainError
from atoll.diagnostics.units import format_size
from atoll_import.engines import engine_of
from atoll_import.extension import Entry, extend_facts
from atoll_import.facts import (
    Engine,
    Facts,
    LeftOut,
    Master,
    Memory,
    Source,
    memory_left_out,
)
from atoll_import.reader import Given, Importer
from atoll_import.vendor_values import count_phrase, is_dma

_BEGIN = re.compile(r"^\s*addrmap\b[^;{]*\{", re.M)
_PROPERTY = "atoll_chip"
_WRITABLE = {"r": False, "rw": True, "w": True, "rw1": True, "w1": True}


class SystemRdl(Importer):
    """Reads ``.rdl``."""

    suffixes = (".rdl",)

    def recognises(self, given: Given) -> bool:
        """Tell by the name and an address map, or by one that is no definition of C or XML."""
        named = given.path.suffix.lower() in self.suffixes
        return named or bool(_BEGIN.search(given.head))

    def read(self, given: Given) -> Facts:
        """Return what the last address map of the file holds.

        Raises:
            ToolchainError: E070; systemrdl-compiler is not installed.
            UsageError: E138; the file is no SystemRDL.
        """
        try:
            top, said = compile_rdl(given.path)
        except ImportError as fault:
            raise ToolchainError(
                "E070",
                f"the Python package 'systemrdl-compiler', which reads '{given.path}', is not"
                " installed",
                remedy=INSTALL,
            ) from fault
        if top is None:
            message, line = said or ("it cannot be read", None)
            given.refuse(message, line.line if line else 0, "correct the file")
        return _facts(given, top)


IMPORTER = SystemRdl()


def _facts(given: Given, top: Any) -> Facts:
    found = [*_blocks(given, top)]
    left_out = [each for each in found if isinstance(each, LeftOut)]
    if others := sum(each is None for each in found):
        why = "a description has no place for them"
        left_out.append(LeftOut(count_phrase(others), why, given.source(_line(top))))
    facts = Facts(
        name=top.inst_name,
        memories=tuple(each for each in found if isinstance(each, Memory)),
        engines=tuple(each for each in found if isinstance(each, Engine)),
        masters=tuple(each for each in found if isinstance(each, Master)),
        left_out=tuple(left_out),
        console=next((at for name, at in _consoles(top)), None),
    )
    return extend_facts(facts, _entries(given, top))


def _blocks(given: Given, top: Any) -> Iterator[Memory | Engine | Master | LeftOut | None]:
    """Yield what each block is, None for other registers; maps of maps are gone through."""
    from systemrdl.node import AddressableNode, AddrmapNode, MemNode, RegNode

    for node in top.children(unroll=True):
        if not isinstance(node, AddressableNode) or isinstance(node, RegNode):
            continue
        name, at = _name(node), node.absolute_address
        source = given.source(_line(node), f"{type(node).__name__[:-4].lower()} {name}")
        if isinstance(node, MemNode):
            yield _memory(node, name, source)
            continue
        registers = {
            each.inst_name: each.address_offset
            for each in node.children(unroll=True)
            if isinstance(each, RegNode)
        }
        if isinstance(node, AddrmapNode) and not registers:
            yield from _blocks(given, node)
        elif engine := engine_of(name, registers, at, None, source):
            yield engine
        elif is_dma(name):
            yield Master(name=name, what=f"at {at:#x}", source=source)
        else:
            yield None
            yield from _memories_inside(given, node)


def _memories_inside(given: Given, block: Any) -> Iterator[LeftOut]:
    """Yield the memories of a block that has registers too."""
    from systemrdl.node import MemNode

    for node in block.descendants(unroll=True):
        if isinstance(node, MemNode):
            why = f"{format_size(node.size)} of '{_name(block)}', which has registers too"
            source = given.source(_line(node), f"mem {_name(node)}")
            yield memory_left_out(
                _name(node), node.absolute_address, f"{why}; describe it by hand", source
            )


def _memory(node: Any, name: str, source: Source) -> Memory:
    access = node.get_property("sw").name
    return Memory(
        name=name,
        origin=node.absolute_address,
        size=node.size,
        writable=_WRITABLE.get(access),
        why=f"its software access is {access}",
        source=source,
    )


def _consoles(top: Any) -> Iterator[tuple[str, int]]:
    """Yield Atoll's console, which our own exports have."""
    for node in top.children():
        if node.inst_name == "atoll_console":
            yield node.inst_name, node.absolute_address


def _entries(given: Given, top: Any) -> Iterator[tuple[str, Entry, Source]]:
    """Yield what our own exports say: ``device`` or ``memory``, then ``name=value`` in quotes."""
    if _PROPERTY not in top.list_properties(list_all=False):
        return
    said = top.get_property(_PROPERTY)
    for line in said if isinstance(said, list) else ():
        tag, _, rest = str(line).partition(" ")
        values = dict(re.findall(r"(\w+)='([^']*)'", rest))
        yield tag, values, given.source(_line(top), f"{_PROPERTY} {values.get('name', '')}")


def _name(node: Any) -> str:
    return str(node.get_path_segment(array_suffix="_{index:d}"))


def _line(node: Any) -> int:
    """Return the line of an instance, 0 if it has none."""
    place = node.inst_src_ref or node.def_src_ref
    line = getattr(place, "line", None)
    return line if isinstance(line, int) else 0
