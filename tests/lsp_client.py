# SPDX-License-Identifier: Apache-2.0
"""An editor, played by the client of pygls: it starts `atoll lsp` and talks to it by its pipes."""

import asyncio
import re
import sys
from functools import partial
from pathlib import Path
from typing import Any

from lsprotocol import types
from pygls.lsp.client import LanguageClient

SECONDS = 120


class Editor:
    """One editor with a workspace folder; all positions count lines and characters from 0."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.client = LanguageClient("editor", "1")
        self.texts: dict[str, str] = {}
        self.versions: dict[str, int] = {}
        self.shown: dict[str, types.PublishDiagnosticsParams] = {}
        self.complaints: list[str] = []
        self._news = asyncio.Event()

        for news, take in (
            (types.TEXT_DOCUMENT_PUBLISH_DIAGNOSTICS, self._show),
            (types.WINDOW_SHOW_MESSAGE, self._complain),
            (types.WINDOW_LOG_MESSAGE, self._complain),
        ):
            self.client.feature(news)(partial(take))  # pygls sets attributes, which methods lack

    def _complain(self, params: types.ShowMessageParams | types.LogMessageParams) -> None:
        self.complaints.append(params.message)

    def _show(self, params: types.PublishDiagnosticsParams) -> None:
        self.shown[params.uri] = params
        self._news.set()

    async def start(self) -> None:
        """Start the server."""
        await self.client.start_io(sys.executable, "-m", "atoll", "lsp", cwd=str(self.folder))
        await self.client.initialize_async(
            types.InitializeParams(
                capabilities=types.ClientCapabilities(),
                root_uri=self.folder.as_uri(),
                workspace_folders=[types.WorkspaceFolder(self.folder.as_uri(), "chips")],
            )
        )
        self.client.initialized(types.InitializedParams())

    async def stop(self) -> None:
        """Stop the server, which has not complained."""
        await self.client.shutdown_async(None)
        self.client.exit(None)
        await self.client.stop()  # type: ignore[no-untyped-call]
        assert not self.complaints, self.complaints

    def open(self, path: Path, text: str | None = None) -> str:
        """Open a file, or a text in its place; return its URI."""
        self.shown.pop(path.as_uri(), None)
        uri = path.as_uri()
        self.texts[uri] = path.read_text() if text is None else text
        self.versions[uri] = 1
        self.client.text_document_did_open(
            types.DidOpenTextDocumentParams(types.TextDocumentItem(uri, "yaml", 1, self.texts[uri]))
        )
        return uri

    def close(self, uri: str) -> None:
        """Close a file."""
        del self.texts[uri]
        self.client.text_document_did_close(
            types.DidCloseTextDocumentParams(types.TextDocumentIdentifier(uri))
        )

    def change(self, uri: str, text: str) -> None:
        """Write another text in the place of a file's."""
        self.texts[uri] = text
        self.versions[uri] += 1
        self.client.text_document_did_change(
            types.DidChangeTextDocumentParams(
                types.VersionedTextDocumentIdentifier(self.versions[uri], uri),
                [types.TextDocumentContentChangeWholeDocument(text)],
            )
        )

    async def diagnostics(self, uri: str) -> list[types.Diagnostic]:
        """Return what is shown of the present text of a file."""
        async with asyncio.timeout(SECONDS):
            while uri not in self.shown or self.shown[uri].version != self.versions[uri]:
                self._news.clear()
                await self._news.wait()
        return list(self.shown[uri].diagnostics)

    async def emptied(self) -> None:
        """Wait until no file is shown with diagnostics, as when all are closed."""
        async with asyncio.timeout(SECONDS):
            while any(each.diagnostics for each in self.shown.values()):
                self._news.clear()
                await self._news.wait()

    async def complete(self, uri: str, at: tuple[int, int]) -> list[types.CompletionItem]:
        """Return what can be written at a place."""
        found = await self.client.text_document_completion_async(
            types.CompletionParams(_document(uri), types.Position(*at))
        )
        assert isinstance(found, list)
        return found

    async def hover(self, uri: str, at: tuple[int, int]) -> str:
        """Return what is said of a place."""
        found = await self.client.text_document_hover_async(
            types.HoverParams(_document(uri), types.Position(*at))
        )
        if found is None:
            return ""
        assert isinstance(found.contents, types.MarkupContent)
        return found.contents.value

    async def definition(self, uri: str, at: tuple[int, int]) -> types.Location | None:
        """Return where what is named at a place is described."""
        found = await self.client.text_document_definition_async(
            types.DefinitionParams(_document(uri), types.Position(*at))
        )
        assert found is None or isinstance(found, types.Location)
        return found

    async def references(self, uri: str, at: tuple[int, int]) -> list[types.Location]:
        """Return all uses of a name."""
        context = types.ReferenceContext(include_declaration=True)
        found = await self.client.text_document_references_async(
            types.ReferenceParams(context, _document(uri), types.Position(*at))
        )
        return list(found or ())

    async def rename(self, uri: str, at: tuple[int, int], name: str) -> types.WorkspaceEdit | None:
        """Return the changes that rename what is named at a place."""
        return await self.client.text_document_rename_async(
            types.RenameParams(_document(uri), types.Position(*at), name)
        )

    async def actions(self, uri: str, span: types.Range) -> list[types.CodeAction]:
        """Return the quick fixes at a range."""
        found = await self.client.text_document_code_action_async(
            types.CodeActionParams(_document(uri), span, types.CodeActionContext([]))
        )
        return [each for each in found or () if isinstance(each, types.CodeAction)]

    async def hints(self, uri: str) -> list[types.InlayHint]:
        """Return all hints in a file."""
        end = types.Position(self.texts[uri].count("\n") + 1, 0)
        found = await self.client.text_document_inlay_hint_async(
            types.InlayHintParams(_document(uri), types.Range(types.Position(0, 0), end))
        )
        return list(found or ())

    def apply(self, edit: types.WorkspaceEdit) -> None:
        """Change all texts that an edit is about; files that are not open change on disk."""
        for uri, edits in (edit.changes or {}).items():
            path = Path(uri.removeprefix("file://"))
            changed = edited(self.texts[uri] if uri in self.texts else path.read_text(), edits)
            if uri in self.texts:
                self.change(uri, changed)
            else:
                path.write_text(changed)


def edited(text: str, edits: list[types.TextEdit] | Any) -> str:
    """Return a text after edits that do not overlap."""
    starts = [0, *(end.end() for end in re.finditer(r"\r\n|\n|\r", text))]

    def index(at: types.Position) -> int:
        if at.line >= len(starts):
            return len(text)
        line = text[starts[at.line] :].encode("utf-16-le")[: 2 * at.character]
        return starts[at.line] + len(line.decode("utf-16-le"))

    spans = [(index(each.range.start), index(each.range.end), each.new_text) for each in edits]
    for begin, end, new in sorted(spans, reverse=True):
        text = text[:begin] + new + text[end:]
    return text


def position(text: str, index: int) -> tuple[int, int]:
    """Return line and character of an index, as editors count: characters in units of UTF-16."""
    *before, last = re.split(r"\r\n|\n|\r", text[:index])
    return len(before), len(last.encode("utf-16-le")) // 2


def find(text: str, word: str, number: int = 0) -> tuple[int, int]:
    """Return line and character of a word in a text, of its occurrence of that number."""
    at = -1
    for _ in range(number + 1):
        at = text.index(word, at + 1)
    before = text[:at]
    return before.count("\n"), at - (before.rfind("\n") + 1)


def _document(uri: str) -> types.TextDocumentIdentifier:
    return types.TextDocumentIdentifier(uri)
