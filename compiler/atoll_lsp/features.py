# SPDX-License-Identifier: Apache-2.0
"""What an editor can ask, each question answered by another module of this package."""

import sys
from collections.abc import Iterator
from pathlib import Path

from lsprotocol import types
from pygls.exceptions import JsonRpcInvalidParams

from atoll.description.edits import sentence
from atoll.description.fields import is_name
from atoll.description.identifiers import identifier
from atoll.description.text_places import TextPlaces
from atoll.description.tree import Table
from atoll.description.yaml_text import scalar
from atoll.diagnostics.edit import Edit
from atoll.diagnostics.errors import Fault, SourceLoc
from atoll_lsp.analysis import Analysis, absolute, places_in, text_of
from atoll_lsp.completion import offers
from atoll_lsp.cursor import Cursor, cursor_at
from atoll_lsp.desk import OpenFile
from atoll_lsp.fixes import changes_of
from atoll_lsp.names import TABLES, Name, Use, definition_of, name_at, uses_of
from atoll_lsp.server import AtollServer, path_of
from atoll_lsp.values import bytes_left, hover_text

SWITCH_SECONDS = 0.001
"""How long a verdict may keep an answer waiting."""

_SORTS = {
    "key": types.CompletionItemKind.Property,
    "name": types.CompletionItemKind.Reference,
    "word": types.CompletionItemKind.EnumMember,
    "unit": types.CompletionItemKind.Unit,
}

_CANNOT_RENAME = "E233"
_NOTHING = Table({}, None)

server = AtollServer()
sys.setswitchinterval(SWITCH_SECONDS)


@server.feature(types.TEXT_DOCUMENT_DID_OPEN)
async def did_open(ls: AtollServer, params: types.DidOpenTextDocumentParams) -> None:
    """Take the text of a file."""
    take(ls, params.text_document.uri)


@server.feature(types.TEXT_DOCUMENT_DID_CHANGE)
async def did_change(ls: AtollServer, params: types.DidChangeTextDocumentParams) -> None:
    """Take the new text of a file."""
    take(ls, params.text_document.uri)


def take(ls: AtollServer, uri: str) -> None:
    """Take the text of a file as it is now."""
    document = ls.workspace.get_text_document(uri)
    ls.desk.put(path_of(uri), uri, document.source, document.version or 0)


@server.feature(types.TEXT_DOCUMENT_DID_CLOSE)
async def did_close(ls: AtollServer, params: types.DidCloseTextDocumentParams) -> None:
    """Forget a file."""
    ls.desk.drop(path_of(params.text_document.uri))
    ls.publish()


@server.feature(types.TEXT_DOCUMENT_DID_SAVE)
async def did_save(ls: AtollServer, params: types.DidSaveTextDocumentParams) -> None:
    """Judge what is open again: the saved file may be a part that no open file is made of yet."""
    ls.desk.forget_disk()


@server.feature(
    types.TEXT_DOCUMENT_COMPLETION, types.CompletionOptions(trigger_characters=[" ", "{", "["])
)
def completion(ls: AtollServer, params: types.CompletionParams) -> list[types.CompletionItem]:
    """Offer keys, names, words and units."""
    if (found := ls.find_open(params.text_document.uri)) is None:
        return []
    file, kind = found[1], found[1].kind
    assert kind is not None, "an opened file has one"
    index = ls.index_in(file.text, params.position)
    cursor = cursor_at(file.text, index)
    is_key = cursor.writes_key and not cursor.writes_value
    span = ls.span_of(file.text, (index - len(cursor.word), index))
    return [
        types.CompletionItem(
            label=each.text,
            kind=_SORTS[each.sort],
            documentation=each.about or None,
            text_edit=types.TextEdit(span, f"{each.text}: " if is_key else each.text),
        )
        for each in offers(kind, cursor, file.good, _own_keys(file, cursor))
    ]


def _own_keys(file: OpenFile, cursor: Cursor) -> frozenset[str]:
    """Return the keys that the mapping around a cursor has, but the one that is being written."""
    before = cursor.before
    for name in cursor.path:
        inner = before.get(name)
        before = inner if isinstance(inner, dict) else {}
    written = file.places.key_as_written(cursor.path) if file.places else None
    after = file.places.children(written) if file.places and written is not None else []
    return frozenset({*before, *(key[-1] for key, _ in after)} - {cursor.word})


@server.feature(types.TEXT_DOCUMENT_HOVER)
async def hover(ls: AtollServer, params: types.HoverParams) -> types.Hover | None:
    """Say what a value comes to, and which layer set it."""
    if (found := await _current_analysis(ls, params.text_document.uri)) is None:
        return None
    known, places = found
    here = places.at(ls.index_in(known.text, params.position))
    text = hover_text(known, here[0]) if here and here[0] else None
    if here is None or text is None:
        return None
    span = here[1].name if here[2] and here[1].name else (here[1].begin, here[1].end)
    markup = types.MarkupContent(types.MarkupKind.Markdown, text)
    return types.Hover(markup, ls.span_of(known.text, span))


async def _current_analysis(ls: AtollServer, uri: str) -> tuple[Analysis, TextPlaces] | None:
    """Return what is known of the present text of an open file, if it is YAML, and its places."""
    if (found := ls.find_open(uri)) is None:
        return None
    path, file = found
    known = await ls.desk.verdict(path)
    places = places_in(path, ls.desk.texts)
    return (known, places) if known and places and known.text == file.text else None


@server.feature(types.TEXT_DOCUMENT_INLAY_HINT)
async def inlay_hints(ls: AtollServer, params: types.InlayHintParams) -> list[types.InlayHint]:
    """Say how many bytes are left in each memory and pool."""
    if (found := await _current_analysis(ls, params.text_document.uri)) is None:
        return []
    hints = [
        types.InlayHint(ls.span_of(found[0].text, (index, index)).start, words, padding_left=True)
        for index, words in bytes_left(*found)
    ]
    lines = range(params.range.start.line, params.range.end.line + 1)
    return [each for each in hints if each.position.line in lines]


@server.feature(types.TEXT_DOCUMENT_DEFINITION)
def definition(ls: AtollServer, params: types.DefinitionParams) -> types.Location | None:
    """Find where a name is described first, or the file that is named."""
    if (found := ls.find_open(params.text_document.uri)) is None:
        return None
    path, file = found
    target = definition_of(path, ls.index_in(file.text, params.position), ls.desk.texts)
    return _location(ls, *target) if target else None


def _location(ls: AtollServer, path: Path, span: tuple[int, int]) -> types.Location:
    text = text_of(path, ls.desk.texts) or ""
    return types.Location(ls.uri_of(path), ls.span_of(text, span))


def _name(ls: AtollServer, uri: str, position: types.Position) -> tuple[Path, Use] | None:
    """Return the name at a place of a chip, and the chip's file."""
    found = ls.find_open(uri)
    places = places_in(found[0], ls.desk.texts) if found and found[1].kind == "soc" else None
    if found is None or places is None:
        return None
    use = name_at(found[0], places, ls.index_in(found[1].text, position))
    return (found[0], use) if use else None


@server.feature(types.TEXT_DOCUMENT_REFERENCES)
def references(ls: AtollServer, params: types.ReferenceParams) -> list[types.Location]:
    """Find all uses of a name."""
    if (found := _name(ls, params.text_document.uri, params.position)) is None:
        return []
    path, use = found
    uses = uses_of(use.name, path, ls.desk.texts, ls.folders)
    with_declaration = params.context.include_declaration
    return [
        _location(ls, each.path, each.span)
        for each in uses
        if with_declaration or not each.describes
    ]


@server.feature(types.TEXT_DOCUMENT_PREPARE_RENAME)
def prepare_rename(ls: AtollServer, params: types.PrepareRenameParams) -> types.Range | None:
    """Tell which word would be renamed."""
    found = _name(ls, params.text_document.uri, params.position)
    if found is None or found[1].name.table not in TABLES:
        return None
    return ls.span_of(text_of(found[0], ls.desk.texts) or "", found[1].span)


@server.feature(types.TEXT_DOCUMENT_RENAME, types.RenameOptions(prepare_provider=True))
def rename(ls: AtollServer, params: types.RenameParams) -> types.WorkspaceEdit | None:
    """Rename a device, a memory or a pool in all files that have it."""
    found = _name(ls, params.text_document.uri, params.position)
    if found is None or found[1].name.table not in TABLES:
        return None
    path, use = found
    uses = uses_of(use.name, path, ls.desk.texts, ls.folders)
    _require_free(params.new_name, use.name, path, ls, uses)
    changes: dict[str, list[types.TextEdit]] = {}
    for each in uses:
        place = _location(ls, each.path, each.span)
        changes.setdefault(place.uri, []).append(types.TextEdit(place.range, params.new_name))
    return types.WorkspaceEdit(changes=changes)


def _require_free(new: str, name: Name, path: Path, ls: AtollServer, uses: list[Use]) -> None:
    """Refuse a new name that cannot be one, or is taken, or is described where nobody edits."""
    why = None
    if not is_name(identifier(new)) or scalar(new) != new:
        why = f"'{new}' is no name: at most 32 of a-z, 0-9, '_', '-' and '.', a letter first"
    for use in uses:
        if not ls.may_edit(use.path):
            why = f"'{name.word}' is described in '{use.path.name}', which is not yours to edit"
    others = {use.path for use in uses}
    for other in others:
        places = places_in(other, ls.desk.texts)
        if places and places.find((name.table, new)) and identifier(new) != name.word:
            why = f"'{new}' is described in '{other.name}' already"
    if why:
        raise JsonRpcInvalidParams(message=f"error[{_CANNOT_RENAME}]: {why}")


@server.feature(
    types.TEXT_DOCUMENT_CODE_ACTION,
    types.CodeActionOptions(code_action_kinds=[types.CodeActionKind.QuickFix]),
)
async def code_actions(ls: AtollServer, params: types.CodeActionParams) -> list[types.CodeAction]:
    """Offer the remedies of the faults at a place."""
    if (found := ls.find_open(params.text_document.uri)) is None:
        return []
    await ls.desk.verdict(found[0])
    return [
        action
        for path, fault, at in _faults_shown(ls, found[0], params.range)
        for action in _actions(ls, path, fault, at)
    ]


def _faults_shown(
    ls: AtollServer, file: Path, here: types.Range
) -> Iterator[tuple[Path, Fault, SourceLoc]]:
    """Yield the faults that touch a range of a file, each with the file that was judged."""
    for path, each in ls.desk.files.items():
        for fault in each.known.faults if each.known else ():
            at = fault.at or SourceLoc(path, 1, 1)
            shown = ls.word_at(at)
            if absolute(at) == file and shown.start <= here.end and here.start <= shown.end:
                yield path, fault, at


def _actions(
    ls: AtollServer, path: Path, fault: Fault, at: SourceLoc
) -> Iterator[types.CodeAction]:
    """Yield what a remedy says: in its own words if it says one thing, else each by itself."""
    for fix in fault.fixes:
        changed = changes_of(fix, fault, path, ls.desk.texts, ls.may_edit)
        edits = [each for each in fix if isinstance(each, Edit)]
        alone = len(fault.fixes) == 1 or len(edits) < len(fix)
        if changed:
            yield types.CodeAction(
                title=fault.remedy or fault.message if alone else sentence(edits, (), _NOTHING),
                kind=types.CodeActionKind.QuickFix,
                diagnostics=[ls.diagnostic(fault, at)],
                is_preferred=fix == fault.fixes[0],
                edit=types.WorkspaceEdit(
                    changes={
                        ls.uri_of(file): [ls.edit_of(file, each)] for file, each in changed.items()
                    }
                ),
            )
