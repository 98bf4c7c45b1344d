# SPDX-License-Identifier: Apache-2.0
"""The state of the server, and its words: texts, places and faults as editors have them."""

import re
from bisect import bisect_right
from functools import lru_cache
from itertools import accumulate
from pathlib import Path
from urllib.parse import unquote, urlparse

from lsprotocol import types
from pygls.lsp.server import LanguageServer
from pygls.uris import from_fs_path

from atoll.diagnostics.errors import Fault, SourceLoc
from atoll.version import __version__
from atoll_lsp.analysis import absolute, normal, text_of
from atoll_lsp.cursor import lines_of
from atoll_lsp.desk import Desk, OpenFile
from atoll_lsp.fixes import Change
from atoll_lsp.names import is_shipped

_WORD = re.compile(r"[^\s,:{}\[\]#]*")


class AtollServer(LanguageServer):
    """A server with the files that its editor has open."""

    def __init__(self) -> None:
        super().__init__(
            "atoll",
            __version__,
            # by parts pygls 2.1 breaks lines of a text at U+2028, which no editor does
            text_document_sync_kind=types.TextDocumentSyncKind.Full,
        )
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
        text = text_of(absolute(at), self.desk.texts) or ""
        lines = text.splitlines(keepends=True)
        line = lines[at.line - 1].rstrip("\r\n") if at.line <= len(lines) else ""
        begin = sum(map(len, lines[: at.line - 1])) + min(at.column - 1, len(line))
        word = _WORD.match(text, begin)
        return self.span_of(text, (begin, max(word.end() if word else begin, begin + 1)))

    def span_of(self, text: str, span: tuple[int, int]) -> types.Range:
        """Return the range of characters by index in the client's units."""
        return types.Range(*(self._position(text, index) for index in span))

    def _position(self, text: str, index: int) -> types.Position:
        starts = _starts(text)
        line = bisect_right(starts, min(index, len(text))) - 1
        place = types.Position(line, index - starts[line])
        return self.workspace.position_codec.position_to_client_units(_lines(text), place)

    def find_open(self, uri: str) -> tuple[Path, OpenFile] | None:
        """Return an open file that is a description."""
        path = path_of(uri)
        file = self.desk.files.get(path)
        return (path, file) if file and file.kind else None

    def index_in(self, text: str, position: types.Position) -> int:
        """Return the index of a character."""
        lines = _lines(text)
        if position.line >= len(lines):
            return len(text)
        found = self.workspace.position_codec.position_from_client_units(lines, position)
        line = lines[found.line].rstrip("\r\n")
        return _starts(text)[found.line] + min(found.character, len(line))

    def edit_of(self, path: Path, change: Change) -> types.TextEdit:
        """Return a change of a text as the editor takes it."""
        text = text_of(path, self.desk.texts) or ""
        return types.TextEdit(self.span_of(text, change.span), change.text)


def path_of(uri: str) -> Path:
    """Return the absolute path of a file's URI."""
    return normal(Path(unquote(urlparse(uri).path)))


_lines = lru_cache(maxsize=32)(lines_of)


@lru_cache(maxsize=32)
def _starts(text: str) -> list[int]:
    return [0, *accumulate(map(len, _lines(text)[:-1]))]
