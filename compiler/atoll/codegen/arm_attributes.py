# SPDX-License-Identifier: Apache-2.0
"""Objects for Arm that fit code of either floating-point convention.

Operators pass pointers and integers only, so `Tag_ABI_VFP_args` of their objects may say
"compatible with both" (Addenda to the ABI for the Arm Architecture, 3.3.6). LLVM says "base", which
linkers do not let meet code of the hard-float convention.
"""

import struct
from io import BytesIO

from elftools.elf.elffile import ELFFile

VFP_ARGS, COMPATIBLE_WITH_BOTH = 28, 3
_TEXTS, _COMPATIBILITY = (4, 5), 32
_SECTION = ".ARM.attributes"
_VENDOR = b"aeabi\0"


def fits_both_conventions(code: bytes) -> bytes:
    """Return an object file of 32-bit Arm with its attributes completed; any other as it is."""
    elf = ELFFile(BytesIO(code))
    number = elf.get_section_index(_SECTION)
    if number is None:
        return code
    section = elf.get_section(number)
    changed = _add_attribute(section.data())
    header = elf["e_shoff"] + number * elf["e_shentsize"]
    offset = len(code)
    whole = bytearray(code + changed)
    # sh_offset and sh_size of Elf32_Shdr
    struct.pack_into("<II", whole, header + 16, offset, len(changed))
    return bytes(whole)


def _add_attribute(data: bytes) -> bytes:
    """Add the attribute: after 'A' come a length, the vendor, a tag and the length from it on."""
    assert data[:1] == b"A", "the attributes are of another version"
    (whole,) = struct.unpack_from("<I", data, 1)
    assert data[5 : 5 + len(_VENDOR)] == _VENDOR, "the attributes are of another vendor"
    assert whole == len(data) - 1, "there is more than one vendor"
    inner = 5 + len(_VENDOR) + 1
    (size,) = struct.unpack_from("<I", data, inner)
    assert inner - 1 + size == len(data), "there is more than one scope"
    if at := _value_of(VFP_ARGS, data, inner + 4):
        return data[:at] + bytes((COMPATIBLE_WITH_BOTH,)) + data[at + 1 :]
    more = bytes((VFP_ARGS, COMPATIBLE_WITH_BOTH))
    changed = bytearray(data + more)
    struct.pack_into("<I", changed, 1, whole + len(more))
    struct.pack_into("<I", changed, inner, size + len(more))
    return bytes(changed)


def _value_of(wanted: int, data: bytes, at: int) -> int | None:
    """Return where the value of a tag of one byte is, None if the attributes do not have it.

    Values are ULEB128 numbers, and texts behind `_TEXTS` and odd tags above 32 (Addenda, 3.2).
    """
    while at < len(data):
        tag, at = _number(data, at)
        if tag == wanted:
            return at
        if tag not in _TEXTS and (tag <= _COMPATIBILITY or tag % 2 == 0):
            _, at = _number(data, at)
        if tag in (*_TEXTS, _COMPATIBILITY) or (tag > _COMPATIBILITY and tag % 2):
            at = data.index(0, at) + 1
    return None


def _number(data: bytes, at: int) -> tuple[int, int]:
    value, shift = 0, 0
    while True:
        value |= (data[at] & 0x7F) << shift
        at, shift = at + 1, shift + 7
        if data[at - 1] < 0x80:
            return value, at
