# SPDX-License-Identifier: Apache-2.0
"""The SystemRDL, read by its reference compiler: the registers that the headers have."""

import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from peakrdl_cheader.exporter import CHeaderExporter
from systemrdl.compiler import RDLCompiler
from systemrdl.messages import MessagePrinter
from systemrdl.node import RegfileNode, RegNode, RootNode

from atoll.resolve import load_soc
from atoll.resolve.soc import ResolvedSoc
from atoll_board.package import Board, package_files
from atoll_board.register_blocks import blocks_of

ROOT = Path(__file__).parents[3]
OWN = [ROOT / "tests" / "data" / name for name in ("shore.yaml", "bay.yaml")]
CHIPS = sorted(map(str, [*(ROOT / "socs").glob("*.yaml"), *OWN]))


class Messages(MessagePrinter):
    """Keeps the compiler's messages."""

    def __init__(self) -> None:
        self.lines: list[str] = []

    def emit_message(self, lines: list[str]) -> None:
        self.lines += lines


def write(soc: ResolvedSoc, emitter: str, folder: Path) -> None:
    """Write the files of an emitter into one folder."""
    for path, entry in package_files(Board(soc=soc), [emitter])[emitter].items():
        (folder / Path(path).name).write_bytes(entry.data)


def compiled(soc: ResolvedSoc, folder: Path) -> RootNode:
    """Return what the compiler reads, without a message."""
    write(soc, "systemrdl", folder)
    messages = Messages()
    compiler = RDLCompiler(message_printer=messages)
    compiler.compile_file(str(folder / f"{soc.name}.rdl"))
    root = compiler.elaborate()
    assert messages.lines == []
    return root


@pytest.mark.parametrize("path", CHIPS, ids=lambda path: Path(path).stem)
def test_registers_are_the_chip_s(path: str, tmp_path: Path) -> None:
    soc = load_soc(path)
    top = compiled(soc, tmp_path).top
    assert top.inst_name == soc.name
    found: dict[str, Any] = {}
    for block in top.children():
        assert isinstance(block, RegfileNode)
        registers = [each for each in block.children() if isinstance(each, RegNode)]
        assert {each.get_property("regwidth") for each in registers} == {32}
        offsets = {each.inst_name: each.address_offset for each in registers}
        found[block.inst_name] = (block.absolute_address, offsets)
        line = next(each.line for each in blocks_of(soc) if each.name == block.inst_name)
        told = f"; interrupt {line} of {soc.host}" in (block.get_property("desc") or "")
        assert told == (line is not None)
    assert found == {each.name: (each.origin, dict(each.offsets)) for each in blocks_of(soc)}


@pytest.mark.skipif(not shutil.which("gcc"), reason="gcc is not installed")
@pytest.mark.parametrize("name", ["lagoon", "twin"])
def test_a_header_made_from_it_is_equal_to_ours(name: str, tmp_path: Path) -> None:
    """PeakRDL's structures have each register where our macros have it: one program has both."""
    soc = load_soc(name)
    write(soc, "headers", tmp_path)
    CHeaderExporter().export(compiled(soc, tmp_path).top, str(tmp_path / "peakrdl.h"))
    equal = [
        f'_Static_assert({expected} == offsetof({soc.name}_t, {path}), "{path}");'
        for path, expected in macros(soc)
    ]
    assert len(equal) == sum(1 + len(each.offsets) for each in blocks_of(soc))
    headers = ["stddef.h", *sorted(each.name for each in tmp_path.glob("*.h"))]
    program = tmp_path / "both.c"
    program.write_text("\n".join([*(f'#include "{each}"' for each in headers), *equal, ""]))
    command = ["gcc", "-std=gnu11", "-fsyntax-only", "-I", str(tmp_path), str(program)]
    result = subprocess.run(command, capture_output=True, text=True, check=False)
    assert result.returncode == 0, result.stderr


def macros(soc: ResolvedSoc) -> Iterator[tuple[str, str]]:
    """Yield the members of PeakRDL's structure, each with our address of it in C."""
    for block in blocks_of(soc):
        device = f"ATOLL_DEVICE_{block.name.upper()}_REGISTERS"
        bench = block.kind in ("console", "guard")
        origin = f"ATOLL_{block.kind.upper()}_ORIGIN" if bench else device
        prefix = f"ATOLL_{block.kind.upper()}_{'' if bench else 'REGISTER_'}"
        yield block.name, origin
        for register in block.offsets:
            yield f"{block.name}.{register}", f"{origin} + {prefix}{register}"
