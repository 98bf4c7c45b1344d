# SPDX-License-Identifier: Apache-2.0
"""The registers in the format of CMSIS-SVD, for debuggers and for crates that svd2rust makes.

Source: CMSIS-SVD, schema version 1.3 (https://open-cmsis-pack.github.io/svd-spec/).
"""

from collections.abc import Mapping
from xml.etree import ElementTree
from xml.etree.ElementTree import Element, SubElement

from atoll.resolve.soc import Cpu
from atoll_board.cortex_m import has_floats, is_cortex_m, priority_bits
from atoll_board.extension import NAMESPACE, add_extension
from atoll_board.package import Board, Entry, generated_entry
from atoll_board.register_blocks import REGISTER_BYTES, Block, blocks_of
from atoll_board.render import opening_sentence

_SCHEMA = "http://www.w3.org/2001/XMLSchema-instance"
_CORTEX_M = "cortex_m"
_CORES = frozenset(("0", "0PLUS", "1", "3", "4", "7", "23", "33", "35P", "52", "55", "85"))
"""What follows CM in the names that the format has."""


def svd_files(board: Board) -> Mapping[str, Entry]:
    """Return ``svd/<chip>.svd``."""
    text = ElementTree.tostring(_device(board), encoding="unicode")
    head = '<?xml version="1.0" encoding="utf-8"?>'
    return {f"svd/{board.soc.name}.svd": generated_entry(f"{head}\n{text}\n")}


def _device(board: Board) -> Element:
    soc = board.soc
    ElementTree.register_namespace("xs", _SCHEMA)
    device = Element(
        "device",
        {"schemaVersion": "1.3", f"{{{_SCHEMA}}}noNamespaceSchemaLocation": "CMSIS-SVD.xsd"},
    )
    _texts(
        device,
        name=soc.name,
        version="1.0",
        description=f"The chip {soc.name}. {opening_sentence(board)}",
    )
    _cpu(device, soc.host_cpu)
    bits = str(8 * REGISTER_BYTES)
    _texts(device, addressUnitBits="8", width=bits, size=bits, access="read-write")
    _texts(device, resetValue="0x00000000", resetMask="0x00000000")
    peripherals = SubElement(device, "peripherals")
    first: dict[str, Block] = {}
    for block in blocks_of(soc):
        _peripheral(peripherals, block, first.setdefault(block.kind, block))
    ElementTree.register_namespace("atoll", NAMESPACE)
    add_extension(device, "vendorExtensions", soc, memories=True)
    ElementTree.indent(device)
    return device


def _cpu(device: Element, core: Cpu) -> None:
    """Say what the host is, where the format has a word for it."""
    if not is_cortex_m(core):
        return
    number = core.spec.name.removeprefix(_CORTEX_M).upper()
    cpu = SubElement(device, "cpu")
    _texts(cpu, name=f"CM{number}" if number in _CORES else "other")
    _texts(cpu, revision="r0p0", endian="little")
    _texts(
        cpu, mpuPresent=_flag(core.spec.protection is not None), fpuPresent=_flag(has_floats(core))
    )
    _texts(cpu, nvicPrioBits=str(priority_bits(core)), vendorSystickConfig="false")


def _peripheral(peripherals: Element, block: Block, first: Block) -> None:
    """Add a block; one of a kind that was there before has that one's registers."""
    derived = {} if block is first else {"derivedFrom": first.name}
    peripheral = SubElement(peripherals, "peripheral", derived)
    _texts(peripheral, name=block.name, description=block.what)
    _texts(peripheral, groupName=block.kind, baseAddress=f"{block.origin:#010x}")
    area = SubElement(peripheral, "addressBlock")
    _texts(area, offset="0x0", size=f"{block.size:#x}", usage="registers")
    if block.line is not None:
        interrupt = SubElement(peripheral, "interrupt")
        _texts(interrupt, name=block.name, description=block.what, value=str(block.line))
    if derived or not block.registers:
        return
    registers = SubElement(peripheral, "registers")
    for register in block.registers:
        found = SubElement(registers, "register")
        _texts(found, name=register.name, description=f"{register.name} of {block.kind}")
        _texts(found, addressOffset=f"{register.offset:#x}")


def _texts(parent: Element, **texts: str) -> None:
    for name, text in texts.items():
        SubElement(parent, name).text = text


def _flag(value: bool) -> str:
    return str(value).lower()
