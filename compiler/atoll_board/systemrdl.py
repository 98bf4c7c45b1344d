# SPDX-License-Identifier: Apache-2.0
"""The registers in SystemRDL, for generators of register files, headers and documents.

Source: SystemRDL 2.0 (Accellera, January 2018): clause 4 on identifiers, 10 on registers, 12 on
register files, 13 on address maps.
"""

from collections.abc import Mapping

from atoll_board.extension import NOT_HERE, devices_of, memories_of
from atoll_board.package import Board, Entry, generated_entry
from atoll_board.register_blocks import REGISTER_BYTES, Block, blocks_of
from atoll_board.render import render


def systemrdl_files(board: Board) -> Mapping[str, Entry]:
    """Return ``systemrdl/<chip>.rdl``: a register file for each kind of block, and the chip."""
    blocks = [block for block in blocks_of(board.soc) if block.registers]
    kinds: dict[str, Block] = {}
    for block in blocks:
        kinds.setdefault(block.kind, block)
    entries = [("device", each) for each in devices_of(board.soc)]
    entries += [("memory", each) for each in memories_of(board.soc)]
    text = render(
        "chip.rdl",
        board,
        blocks=blocks,
        kinds=kinds.values(),
        bits=8 * REGISTER_BYTES,
        identifier=_identifier,
        not_here=NOT_HERE,
        said=[f"{tag} {_values(entry)}" for tag, entry in entries],
    )
    return {f"systemrdl/{board.soc.name}.rdl": generated_entry(text)}


def _values(entry: Mapping[str, str]) -> str:
    return " ".join(f"{name}='{value}'" for name, value in entry.items())


def _identifier(name: str) -> str:
    """Return a name as the language has it; a word of the language, all in lower case, escaped."""
    return f"\\{name}" if name == name.lower() else name
