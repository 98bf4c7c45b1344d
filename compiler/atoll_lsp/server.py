# SPDX-License-Identifier: Apache-2.0
"""The state of the server, and its words: texts, places and faults as editors have them."""

from collections.abc import Iterable
from functools import lru_cache
from pathlib import Path
from urllib.parse import unquote, urlparse

from lsprotocol import types
from pygls.lsp.server import LanguageServer
from pygls.uris import from_fs_path

from atoll.diagnostics.errors import Fault, SourceLoc
from atoll.version import __version__
from atoll_lsp.analysis import absolute, normal, text_of
from atoll_lsp.desk import Desk, OpenFile
from atoll_lsp.fixes import Change
from atoll_lsp.names import is_shipped


class AtollServer(LanguageServer):
    """A server with the files that its editor has open."""

    def __init__(self) -> None:
        super().__init__("atoll", __version__)
        self.desk = Desk(self.publish)
        self._shown: set[str] = set()

    @property
    def folders(self) -> list[Path]:
        """The folders of the workspace; those of the open files if there is none."""
        named = [path_of(uri) for uri in self.workspace.folders]
        root = self.workspace.root_uri
        named += [path_of(root)] if root and not named else []
        return named or list({path.parent for path in self.desk.files})

    def may_edit(self, path: Path) -> bool:
        """Tell whether a file is the user's: open or in the workspace, and not shipped."""
        is_theirs = path in self.desk.files or any(map(path.is_relative_to, self.folders))
        return is_theirs and not is_shipped(path)

    def publish(self) -> None:
        """Show the faults of all open files, each where it was written."""
        by_uri: dict[str, list[types.Diagnostic]] = {}
        for path, file in self.desk.files.items():
            for fault in file.known.faults if file.known else ():
                at = fault.at or SourceLoc(path, 1, 1)
                shown = self.diagnostic(fault, at)
                if shown not in (others := by_uri.setdefault(self.uri_of(absolute(at)), [])):
                    others.append(shown)
        versions = {each.uri: each.version for each in self.desk.files.values()}
        judged = [each.uri for each in self.desk.files.values() if each.judged >= 0]
        elsewhere = [
            uri for uri in (*by_uri, *(self._shown - by_uri.keys())) if uri not in versions
        ]
        for uri in (*elsewhere, *judged):
            diagnostics = by_uri.get(uri, [])
            self.text_document_publish_diagnostics(
                types.PublishDiagnosticsParams(uri, diagnostics, versions.get(uri))
            )
        self._shown = {uri for uri, each in by_uri.items() if each}

    def diagnostic(self, fault: Fault, at: SourceLoc) -> types.Diagnostic:
        """Return a fault as editors show it."""
        note = fault.other
        return types.Diagnostic(
            range=self.word_at(at),
            message=fault.message + (f"\nhelp: {fault.remedy}" if fault.remedy else ""),
            severity=types.DiagnosticSeverity.Error,
            code=fault.code,
            source="atoll",
            related_information=[
                types.DiagnosticRelatedInformation(
                    types.Location(self.uri_of(absolute(note[0])), self.word_at(note[0])), note[1]
                )
            ]
            if note
            else None,
        )

    def uri_of(self, path: Path) -> str:
        """Return what the editor calls a file."""
        file = self.desk.files.get(path)
        return file.uri if file else from_fs_path(str(path)) or ""

    def word_at(self, at: SourceLoc) -> types.Range:
        """Return the range of the word at a place."""
        path = absolute(at)
        text = text_of(path, self.desk.texts) or ""
        lines = text.splitlines()
        line = lines[at.line - 1] if at.line <= len(lines) else ""
        begin = min(at.column - 1, len(line))
        end = begin + next(
            (n for n, mark in enumerate(line[begin:]) if mark in " \t,:{}[]#"), len(line) - begin
        )
        return self.range_of(text, (at.line - 1, begin), (at.line - 1, max(end, begin + 1)))

    def range_of(self, text: str, begin: tuple[int, int], end: tuple[int, int]) -> types.Range:
        """Return a range of lines and characters in the client's units."""
        given = types.Range(types.Position(*begin), types.Position(*end))
        lines = _lines(text)
        codec = self.workspace.position_codec
        return types.Range(
            codec.position_to_client_units(lines, given.start)
            if begin[0] < len(lines)
            else given.start,
            codec.position_to_client_units(lines, given.end) if end[0] < len(lines) else given.end,
        )

    def span_of(self, text: str, span: tuple[int, int]) -> types.Range:
        """Return the range of characters by index."""
        return self.range_of(text, _line_and_column(text, span[0]), _line_and_column(text, span[1]))

    def opened(self, uri: str) -> tuple[Path, OpenFile] | None:
        """Return an open file that is a description."""
        path = path_of(uri)
        file = self.desk.files.get(path)
        return (path, file) if file and file.kind else None

    def place_in(self, text: str, position: types.Position) -> tuple[int, int]:
        """Return line and column in characters."""
        lines = _lines(text)
        if position.line >= len(lines):
            return position.line, 0
        found = self.workspace.position_codec.position_from_client_units(lines, position)
        return found.line, found.character

    def index_in(self, text: str, position: types.Position) -> int:
        """Return the index of a character."""
        line, column = self.place_in(text, position)
        lines = _lines(text)
        return sum(map(len, lines[:line])) + column

    def edits_of(self, path: Path, changes: Iterable[Change]) -> list[types.TextEdit]:
        """Return changes of lines as the editor takes them."""
        text = text_of(path, self.desk.texts) or ""
        count = len(_lines(text))

        def place(line: int) -> tuple[int, int]:
            last = _lines(text)[-1] if count else ""
            return (line, 0) if line < count or last.endswith("\n") else (count - 1, len(last))

        return [
            types.TextEdit(self.range_of(text, place(each.first), place(each.last)), each.text)
            for each in changes
        ]


def path_of(uri: str) -> Path:
    """Return the absolute path of a file's URI."""
    return normal(Path(unquote(urlparse(uri).path)))


@lru_cache(maxsize=32)
def _lines(text: str) -> tuple[str, ...]:
    return tuple(text.splitlines(keepends=True))


def _line_and_column(text: str, index: int) -> tuple[int, int]:
    lines = (text[:index] + "|").splitlines()
    return len(lines) - 1, len(lines[-1]) - 1
