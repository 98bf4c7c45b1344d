# SPDX-License-Identifier: Apache-2.0
"""Registers of an accelerator that are described in SystemRDL (Accellera SystemRDL 2.0)."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from atoll.description.accelerator import Accelerator, RegisterBlock
from atoll.description.faults import Faults
from atoll.description.tree import SourceMap
from atoll.diagnostics.errors import SourceLoc

WORD_BYTES = 4
INSTALL = "install it: pip install 'atoll[systemrdl]'"


def with_register_file(
    accelerator: Accelerator, folder: Path, where: SourceMap, faults: Faults
) -> Accelerator | None:
    """Return the accelerator with the registers of the SystemRDL file that it names, if any.

    A register is called by its path below the top, in capitals, with ``_`` between the parts.

    Returns:
        None if nobody can say what the registers are: `faults` has why.
    """
    if accelerator.systemrdl is None:
        return accelerator
    at = where.at("systemrdl")
    path = folder / accelerator.systemrdl
    if "registers" in accelerator.model_fields_set:
        what = "the registers are described here and in SystemRDL"
        place = where.key_at("registers")
        faults.add("E148", what, at=place, remedy="remove 'registers', or remove 'systemrdl'")
        return None
    try:
        top, said = compile_rdl(path)
    except ImportError:
        what = "the Python package 'systemrdl-compiler' is not installed"
        faults.add("E148", what, at=at, remedy=INSTALL)
        return None
    if top is None:
        message, line = said or ("it cannot be read", None)
        what = f"'{path.name}' is refused as SystemRDL: {message}"
        faults.add("E148", what, at=line or at, remedy="correct the file, or name another one")
        return None
    offsets: dict[str, int] = {}
    for name, offset, width in _registers(top):
        if width != 8 * WORD_BYTES:
            what = f"register {name} has {width} bits, not {8 * WORD_BYTES}"
            faults.add("E148", what, at=at, remedy="make it a word, or name another file")
        offsets[name] = offset
    size = -(-top.size // WORD_BYTES) * WORD_BYTES
    block = RegisterBlock.model_construct(size=size, map=offsets, fields=dict(_fields(top)))
    return accelerator.model_copy(update={"registers": block})


def compile_rdl(path: Path) -> tuple[Any, tuple[str, SourceLoc | None] | None]:
    """Return the top of a file, None with the first error if it is wrong.

    Raises:
        ImportError: systemrdl-compiler is not installed.
    """
    from systemrdl.compiler import RDLCompiler
    from systemrdl.messages import MessagePrinter, RDLCompileError, Severity
    from systemrdl.source_ref import DetailedFileSourceRef

    said: list[tuple[str, SourceLoc | None]] = []

    class Kept(MessagePrinter):
        def print_message(self, severity: Any, text: str, src_ref: Any) -> None:
            if severity >= Severity.ERROR:
                line = None
                if isinstance(src_ref, DetailedFileSourceRef):
                    column = src_ref.line_selection[0] + 1
                    line = SourceLoc(Path(src_ref.path), src_ref.line, column)
                said.append((text, line))

    if not path.is_file():
        return None, ("there is no such file", None)
    try:
        compiler = RDLCompiler(message_printer=Kept())
        compiler.compile_file(str(path))
        return compiler.elaborate().top, None
    except (RDLCompileError, OSError, UnicodeDecodeError, RecursionError):
        return None, said[0] if said else None


def _registers(top: Any) -> Iterator[tuple[str, int, int]]:
    """Yield name, offset and bits of each register; those of an array are numbered."""
    for name, node in _nodes(top):
        yield name, node.absolute_address - top.absolute_address, node.size * 8


def _fields(top: Any) -> Iterator[tuple[str, dict[str, tuple[int, int]]]]:
    """Yield name and fields of each register: name, lowest and highest bit."""
    for name, node in _nodes(top):
        yield name, {each.inst_name.upper(): (each.low, each.high) for each in node.fields()}


def _nodes(top: Any) -> Iterator[tuple[str, Any]]:
    from systemrdl.node import RegNode

    for node in top.descendants(unroll=True):
        if isinstance(node, RegNode):
            path = node.get_rel_path(top, hier_separator="_", array_suffix="{index:d}")
            yield path.upper(), node
