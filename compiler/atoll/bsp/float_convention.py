# SPDX-License-Identifier: Apache-2.0
"""Objects of a target that passes floats otherwise than the image of its core.

Operators pass integers and addresses, which both conventions have in the same registers. Such an
object may therefore say that it has the convention of the image, unless it calls what may take or
return a float.
"""

import re
import struct
from io import BytesIO

from elftools.elf.elffile import ELFFile
from elftools.elf.sections import SymbolTableSection

from atoll.bsp.calling_convention import RISCV_FLOATS, check_convention
from atoll.codegen.arm_attributes import fits_both_conventions
from atoll.diagnostics.errors import ToolchainError
from atoll.isa.code_target import CodeTarget
from atoll.isa.instruction_set import Family
from atoll.resolve.soc import Cpu

_WITHOUT_FLOATS = re.compile(
    r"atoll_\w+|mem(cpy|move|set|cmp)|__riscv_(save|restore)_\d+"
    r"|__(u?div|u?mod|u?divmod|mul|ashl|ashr|lshr|neg|clz|ctz|cmp|ucmp|ffs|popcount|bswap)[sd]i\d?"
    r"|__aeabi_(u?idiv(mod)?|u?ldivmod|lmul|llsl|llsr|lasr|u?lcmp|mem(cpy|move|set|clr)[48]?)"
)
"""What is known to pass no float: the firmware's own, C's, and the compilers' for integers."""

_FLAGS_AT = {32: 0x24, 64: 0x30}


def adapt_float_convention(
    code: bytes, source: str, target: CodeTarget, aimed: Cpu, core: Cpu
) -> bytes:
    """Return the object of a target as the rest of the core's image may call it.

    Args:
        code: the object.
        source: what it was made from.
        target: of `core`.
        aimed: the core as the target sees it.
        core: whose image it becomes a part of.

    Raises:
        ToolchainError: E124, it has not the calling convention of its target; E196, floats cross
            between two conventions.
    """
    check_convention(code, source, aimed)
    own, image = aimed.instructions.abi, core.instructions.abi
    if own == image:
        return code
    for symbol in _needs(code):
        if not _WITHOUT_FLOATS.fullmatch(symbol):
            raise ToolchainError(
                "E196",
                f"code of '{core.name}' for target '{target.name}' calls '{symbol}', which may "
                f"pass floats: the target does by '{own}', the image by '{image}'",
                at=core.at,
                remedy=f"set 'devices.{core.name}.targets.{target.name}.abi' to {image}"
                if image in aimed.instructions.abis
                else f"give the target an 'isa' that has '{image}'",
            )
    if core.instructions.family is Family.RISCV:
        return _with_flags(code, image, core.instructions.bits)
    return fits_both_conventions(code)


def _needs(code: bytes) -> list[str]:
    table = ELFFile(BytesIO(code)).get_section_by_name(".symtab")
    assert isinstance(table, SymbolTableSection)
    undefined = (each for each in table.iter_symbols() if each["st_shndx"] == "SHN_UNDEF")
    return sorted(each.name for each in undefined if each.name)


def _with_flags(code: bytes, abi: str, bits: int) -> bytes:
    """Return an object of RISC-V whose `e_flags` say where floats are passed."""
    changed, at = bytearray(code), _FLAGS_AT[bits]
    (flags,) = struct.unpack_from("<I", changed, at)
    (floats,) = (
        bit
        for bit, letter in RISCV_FLOATS.items()
        if abi.endswith(("32", "64")[bits == 64] + letter)
    )
    struct.pack_into("<I", changed, at, (flags & ~max(RISCV_FLOATS)) | floats)
    return bytes(changed)
