# SPDX-License-Identifier: Apache-2.0
"""Standard output in which a chip's names are as its files write them."""

import re
import sys
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, redirect_stdout
from pathlib import Path
from typing import Any, TextIO, cast

from atoll.description.spelling import speller, spellings
from atoll.ir.graph import Graph

_COLOURS = re.compile(r"(\x1b\[[0-9;]*m)")


@contextmanager
def names_as_written(soc: Path | str | None, graphs: Iterable[Graph] = ()) -> Iterator[None]:
    """Print names of a chip on standard output as its files write them.

    Identifiers that are also names in a network stay. A name is as long as its identifier, so
    tables stay aligned.
    """
    parts = (part for graph in graphs for part in (graph.operators, graph.tensors))
    taken = {each.name for part in parts for each in part}
    names = spellings(soc) if soc is not None else {}
    own = {name: written for name, written in names.items() if name not in taken}
    if not own:
        yield
        return
    with redirect_stdout(cast("TextIO", _Respelled(sys.stdout, speller(own)))):
        yield


class _Respelled:
    """Standard output that spells what is written to it."""

    def __init__(self, stream: TextIO, spell: Callable[[str], str]) -> None:
        self._stream, self._spell = stream, spell

    def __getattr__(self, name: str) -> Any:
        return getattr(self._stream, name)

    def write(self, text: str) -> int:
        """Write a text, between the colours of a terminal."""
        return self._stream.write("".join(map(self._spell, _COLOURS.split(text))))
