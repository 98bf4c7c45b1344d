# SPDX-License-Identifier: Apache-2.0
"""File lists of RTL, as simulators and synthesis tools take them with ``-f``."""

import os
import re
from collections.abc import Iterator, Mapping
from dataclasses import field
from pathlib import Path

from atoll.diagnostics.errors import AtollError, Fault, SourceLoc
from atoll.records import dataclass

_VARIABLE = re.compile(r"\$(?:\{(\w+)\}|\((\w+)\)|(\w+))")
_COMMENT = re.compile(r"(?:^|\s)(?://|#).*")
_DEEPEST = 16
_FILES = ("-f", "-F", "-v", "-y")
_READS = "files, -f, -F, -v, -y, +incdir+, -I, +define+ and -D"
_WORDS = {"file": "", "include": "+incdir+", "list": "-f"}
"""How lines of other lists begin, which name one thing each, and what that means here."""

_IDLE = re.compile(r"-sv|-sverilog|\+v2k|-Wall|-W(no|warn)-[\w-]+|\+libext\+\S*|--?timescale=\S+")
"""Options of other tools that change nothing here."""


@dataclass(frozen=True, slots=True)
class FileList:
    """What a list names.

    Attributes:
        sources: files in compile order, and where the list names each.
        includes: folders, and where the list names each.
        defines: macros and their values.
    """

    sources: Mapping[Path, SourceLoc] = field(default_factory=dict)
    includes: Mapping[Path, SourceLoc] = field(default_factory=dict)
    defines: Mapping[str, str] = field(default_factory=dict)


def read_list(path: Path, at: SourceLoc | None = None, depth: int = 0) -> FileList:
    """Read a list; names in it are relative to its own folder.

    Args:
        path: of the list.
        at: where it is named.
        depth: of lists around it.

    Raises:
        AtollError: E146; it cannot be read, or has a line that means nothing here.
    """
    try:
        lines = path.read_text(encoding="utf-8").splitlines()
    except (OSError, UnicodeDecodeError) as fault:
        reason = getattr(fault, "strerror", None) or "it is no text"
        what = f"the file list {path} cannot be read: {reason}"
        named = at or SourceLoc(path, 1, 1)
        raise _wrong(what, named.path, named.line, "correct the path", named.column) from None
    sources: dict[Path, SourceLoc] = {}
    includes: dict[Path, SourceLoc] = {}
    defines: dict[str, str] = {}
    for number, line in enumerate(lines, start=1):
        words = iter(_as_options(_words(line, path, number)))
        for word in words:
            if _IDLE.fullmatch(word):
                continue
            kind, value = _parse_word(word, words, path, number)
            if kind in ("-f", "-F"):
                if depth >= _DEEPEST:
                    remedy = f"remove the line '-f {value}'"
                    raise _wrong("file lists name each other", path, number, remedy)
                inner = read_list(path.parent / value, SourceLoc(path, number, 1), depth + 1)
                sources |= inner.sources
                includes |= inner.includes
                defines |= inner.defines
            elif kind in ("+incdir+", "-I", "-y"):
                for each in filter(None, value.split("+")):
                    includes.setdefault(path.parent / each, SourceLoc(path, number, 1))
            elif kind in ("+define+", "-D"):
                for each in filter(None, value.split("+")):
                    name, _, text = each.partition("=")
                    defines[name] = text or "1"
            else:
                source = (path.parent / value).resolve()
                sources.setdefault(source, SourceLoc(path, number, 1))
    return FileList(sources, includes, defines)


def _as_options(words: list[str]) -> list[str]:
    """Return the words of a line such as ``include rtl`` as simulators know them."""
    match words:
        case [kind, name] if kind in _WORDS:
            return [_WORDS[kind] + name]
        case _:
            return words


def _words(line: str, path: Path, number: int) -> list[str]:
    text = _COMMENT.sub("", line)

    def expand(found: re.Match[str]) -> str:
        name = next(filter(None, found.groups()))
        if name not in os.environ:
            what = f"the environment has no variable '{name}'"
            raise _wrong(what, path, number, f"set {name}, or write the path")
        return os.environ[name]

    return [word.strip("\"'") for word in _VARIABLE.sub(expand, text).split()]


def _parse_word(word: str, rest: Iterator[str], path: Path, number: int) -> tuple[str, str]:
    """Return what a word is, and its value, which may be the next one.

    What begins as ``-f`` and names no file, such as ``-full64``, is an option of another tool.
    """
    for kind in ("+incdir+", "+define+", "-f", "-F", "-v", "-y", "-I", "-D"):
        value = word.removeprefix(kind)
        if word == kind and kind.startswith("-"):
            value = next(rest, "")
        elif value == word or (kind in _FILES and value and not (path.parent / value).exists()):
            continue
        if value:
            return kind, value
        raise _wrong(f"'{kind}' names nothing", path, number, "remove the line")
    if word.startswith(("-", "+")):
        what = f"'{word}' means nothing to Atoll, which reads {_READS}"
        raise _wrong(what, path, number, "remove the line, or list the files one by one")
    return "", word


def _wrong(what: str, path: Path, line: int, remedy: str, column: int = 1) -> AtollError:
    at = SourceLoc(path, line, column)
    return AtollError.all([Fault(code="E146", message=what, at=at, remedy=remedy)])


def include_files(folders: tuple[Path, ...]) -> Iterator[Path]:
    """Yield the files that sources may include from folders, in a fixed order."""
    for folder in folders:
        for path in sorted(folder.glob("*")):
            if path.suffix in (".vh", ".svh", ".h", ".inc", ".v", ".sv") and path.is_file():
                yield path
