# SPDX-License-Identifier: Apache-2.0
"""Read a graph or a loop program."""

import re
import sys
from pathlib import Path

from atoll.diagnostics.errors import AtollError, UsageError
from atoll.frontend.registry import FRONT_ENDS, load_network
from atoll.ir.graph import Graph
from atoll.ir.narrowing import verify_scopes
from atoll.ir.read_graph import parse_graph
from atoll.ir.read_module import parse_module
from atoll.ir.tokens import Tokens
from atoll.ir.verify import verify
from atoll.ops.verify_graph import verify_graph
from atoll.opt.text_pass import Kind, Program
from atoll.resolve.soc import ResolvedSoc
from atoll.resolve.storage_scope import ScopeNames

STANDARD_INPUT = "-"
_FIRST_WORD = re.compile(r"\s*(\w*)")


def read_program(source: Path | str, *, verified: bool = True) -> Program:
    """Return what a file holds: the text of a graph or a loop program, or a network.

    Args:
        source: the file, `STANDARD_INPUT`, or the text itself, of several lines.
        verified: the program is to be well-formed.

    Raises:
        UsageError: E001, E002, it cannot be read; AtollError: E078, E222, E198 and those of front
            ends, it holds none of these.
    """
    if isinstance(source, str) and "\n" in source:
        program, where = _parse(source, None), "the text"
    elif str(source) == STANDARD_INPUT:
        program, where = _parse(sys.stdin.read(), None), "standard input"
    else:
        path, where = Path(source), str(source)
        model = path.is_file() and _is_model(path)
        program = load_network(path) if model else _parse(_text(path), path)
    try:
        if verified:
            verify_program(program, None)
    except AtollError as error:
        raise error.about(where) from error
    return program


def _is_model(path: Path) -> bool:
    """Tell whether a front end takes a file."""
    names = (*FRONT_ENDS.own, *FRONT_ENDS.others())
    return any(FRONT_ENDS.get(name).recognises(path) for name in names)


def _text(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8")
    except OSError as fault:
        what = f"cannot read '{path}': {fault.strerror}"
        raise UsageError("E001", what, remedy="check its name and permissions") from fault
    except UnicodeDecodeError as fault:
        what = f"'{path}' is neither a network nor text in UTF-8"
        remedy = "name a file that 'atoll opt' or 'atoll build --dump-to' wrote, or a network"
        raise UsageError("E002", what, remedy=remedy) from fault


def _parse(text: str, path: Path | None) -> Program:
    match _FIRST_WORD.match(text):
        case found if found and found[1] == Kind.GRAPH:
            return parse_graph(text, path)
        case found if found and found[1] == Kind.MODULE:
            return parse_module(text, path=path)
    Tokens(text, "text", path).refuse("'graph' or 'module'")


def verify_program(program: Program, soc: ResolvedSoc | None) -> None:
    """Accept a well-formed program.

    Raises:
        AtollError: E078 and the codes of front ends.
    """
    if isinstance(program, Graph):
        verify_graph(program)
        return
    verify(program)
    if soc:
        verify_scopes(program, ScopeNames.of(soc))


def read_graph(path: str) -> Graph:
    """Return the graph in a file.

    Raises:
        ValueError: it holds a loop program; else as `read_program`.
    """
    program = read_program(Path(path))
    if not isinstance(program, Graph):
        raise ValueError("a file with the text of a graph")
    return program
