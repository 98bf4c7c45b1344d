# SPDX-License-Identifier: Apache-2.0
"""The host's memory map as a component of IP-XACT: its memories, and the registers.

Source: IEEE 1685-2014, clause 6.9 (memory maps), and Accellera's schema of that year.
"""

from collections.abc import Mapping
from xml.etree import ElementTree
from xml.etree.ElementTree import Element, SubElement

from atoll.resolve.memory_views import as_seen_by
from atoll.resolve.soc import Memory
from atoll_board.extension import NAMESPACE, add_extension
from atoll_board.package import Board, Entry, generated_entry
from atoll_board.register_blocks import REGISTER_BYTES, Block, blocks_of
from atoll_board.render import opening_sentence

_SCHEMA = "http://www.accellera.org/XMLSchema/IPXACT/1685-2014"
_IDENTITY = {"vendor": "atoll", "library": "soc"}
_ACCESS = {"rom": "read-only", "ram": "read-write"}
_BITS = str(8 * REGISTER_BYTES)


def ipxact_files(board: Board) -> Mapping[str, Entry]:
    """Return ``ipxact/<chip>.xml``."""
    ElementTree.register_namespace("ipxact", _SCHEMA)
    component = _component(board)
    ElementTree.indent(component)
    text = ElementTree.tostring(component, encoding="unicode")
    head = f'<?xml version="1.0" encoding="utf-8"?>\n<!-- {opening_sentence(board)} -->'
    return {f"ipxact/{board.soc.name}.xml": generated_entry(f"{head}\n{text}\n")}


def _component(board: Board) -> Element:
    """Return the component; elements are in the order that the schema wants."""
    soc = as_seen_by(board.soc, board.soc.host)
    component = Element(f"{{{_SCHEMA}}}component")
    _texts(component, **_IDENTITY, name=soc.name, version="1.0")
    space = _child(_child(component, "memoryMaps"), "memoryMap")
    _texts(space, name=soc.host, description=f"What {soc.host} sees of {soc.name}")
    for memory in soc.memories:
        _memory(space, memory)
    for block in blocks_of(soc):
        _registers(space, block)
    _texts(space, addressUnitBits="8")
    ElementTree.register_namespace("atoll", NAMESPACE)
    add_extension(component, f"{{{_SCHEMA}}}vendorExtensions", board.soc, memories=False)
    return component


def _memory(space: Element, memory: Memory) -> None:
    block = _child(space, "addressBlock")
    _texts(block, name=memory.name, baseAddress=f"{memory.origin:#010x}")
    _texts(block, range=f"{memory.size:#x}", width=str(8 * memory.width))
    _texts(block, usage="memory", access=_ACCESS[memory.kind])


def _registers(space: Element, found: Block) -> None:
    block = _child(space, "addressBlock")
    line = "" if found.line is None else f"; interrupt {found.line} of the host"
    _texts(block, name=found.name, description=f"{found.what}{line}")
    _texts(block, baseAddress=f"{found.origin:#010x}", typeIdentifier=found.kind)
    _texts(block, range=f"{found.size:#x}", width=_BITS, usage="register", access="read-write")
    for each in found.registers:
        register = _child(block, "register")
        _texts(register, name=each.name, addressOffset=f"{each.offset:#x}", size=_BITS)
        field = _child(register, "field")
        _texts(field, name="VALUE", bitOffset="0", bitWidth=_BITS)


def _child(parent: Element, tag: str) -> Element:
    return SubElement(parent, f"{{{_SCHEMA}}}{tag}")


def _texts(parent: Element, **texts: str) -> None:
    for tag, text in texts.items():
        _child(parent, tag).text = text
