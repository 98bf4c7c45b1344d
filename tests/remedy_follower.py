# SPDX-License-Identifier: Apache-2.0
"""Follow the first remedy of a fault to the letter, as somebody would who knows nothing else.

The sentences that it understands are those of docs/errors.md. It edits the YAML by its nodes, so it
sees places and repeated keys as the reader of descriptions does, and writes the file again.
"""

import re
from collections.abc import Iterator
from pathlib import Path

import yaml

from atoll.diagnostics.errors import Fault, SourceLoc

Pairs = list[tuple[yaml.Node, yaml.Node]]

_PAIRS = r"add '(\w+: [^']+)'(?: to '([\w.]+)')?(?: if it does| \(.*)?"
_PATH = r"'([A-Za-z0-9_.\-]+)'"
_VALUE = r"(\{[^}]*\}|\[\[.*?\]\]|\[[^\]]*\]|.+?)"
_SETTING = re.compile(rf"{_PATH} to (?:at most |at least )?{_VALUE}(?= and '|, '|$)")
_ALTERNATIVE = re.compile(r"[;,] or |\? If not|; |, for example| or more$")


class NotMechanicalError(Exception):
    """The remedy is no sentence that can be followed without thinking."""


def follow(fault: Fault, path: Path) -> None:
    """Edit the description at `path`, or the file that holds the fault, as the remedy says.

    Raises:
        NotMechanicalError: the remedy cannot be followed to the letter.
    """
    remedy = fault.remedy or ""
    first = _ALTERNATIVE.split(remedy, maxsplit=1)[0]
    at = fault.at
    target = at.path if at and not remedy.startswith("set ") else path
    root = yaml.compose(target.read_text(encoding="utf-8"), Loader=yaml.SafeLoader)
    assert root is not None, f"{target} is empty"
    for order in first.split(", then "):
        _Editor(root, at, re.findall("'([^']+)'", fault.message)).obey(order)
    target.write_text(yaml.serialize(root, Dumper=yaml.SafeDumper), encoding="utf-8")


class _Editor:
    def __init__(self, root: yaml.Node, at: SourceLoc | None, said: list[str]) -> None:
        self._root = root
        self._said = said
        self._at = at

    def obey(self, order: str) -> None:
        """Do what one sentence says."""
        if order.startswith("set "):
            self._set(order.removeprefix("set "))
        elif found := re.fullmatch(_PAIRS, order):
            self._add(found[1], found[2] or "")
        elif found := re.fullmatch(r"write '([\w.]+: [^']+)'.*", order):
            self._put(self._mapping_around(), found[1])
        elif found := re.fullmatch(r"write '([^']+)'", order):
            self._word().value = found[1]
        elif found := re.fullmatch(r"did you mean '([^']+)'", order):
            self._replace_word(found[1])
        elif found := re.fullmatch(rf"rename {_PATH} to '(\w+)' wherever it is used", order):
            self._rename(found[1].rpartition(".")[2], found[2])
        elif found := re.fullmatch(rf"rename {_PATH} to '(\w+)'", order):
            self._rename_key(found[1], found[2])
        elif found := re.fullmatch(rf"remove {_PATH}", order):
            self._remove(found[1])
        elif order in ("remove the second one", "remove 'extends' here", "delete it"):
            self._remove_here()
        else:
            raise NotMechanicalError(order)

    def _set(self, settings: str) -> None:
        found = list(_SETTING.finditer(settings))
        joined = re.sub(r" and (?=')|, (?=')", "|", settings)
        if "|".join(each[0] for each in found) != joined:
            raise NotMechanicalError(settings)
        for each in found:
            *parents, key = each[1].split(".")
            self._replace(self._below(parents), key, _node(each[2]))

    def _below(self, names: list[str]) -> yaml.Node:
        node = self._root
        for name in names:
            inside = dict(_children(node))
            if name not in inside and isinstance(node, yaml.MappingNode):
                fresh = yaml.MappingNode("tag:yaml.org,2002:map", [])
                node.value.append((_word(name), fresh))
                inside[name] = fresh
            node = inside[name]
        return node

    def _replace(self, parent: yaml.Node, key: str, value: yaml.Node) -> None:
        if isinstance(parent, yaml.SequenceNode):
            parent.value[int(key)] = value
            return
        pairs: Pairs = parent.value
        for number, (name, _) in enumerate(pairs):
            if name.value == key:
                pairs[number] = (name, value)
                return
        pairs.append((_word(key), value))

    def _put(self, mapping: yaml.Node, text: str) -> None:
        key, _, value = text.partition(": ")
        self._replace(mapping, key, _node(value))

    def _add(self, pairs: str, path: str) -> None:
        """Put one entry, or several without braces, into the mapping at a path or the place."""
        mapping = self._below(path.split(".")) if "." in path else self._mapping_at()
        for pair in [pairs] if re.search(r"[{[]", pairs) else pairs.split(", "):
            self._put(mapping, pair)

    def _mapping_at(self) -> yaml.Node:
        """Return the mapping whose key or first character is at the place; the root if none is."""
        found = [value for _, name, value in _entries(self._root) if self._is_here(name)]
        found += [value for _, _, value in _entries(self._root) if self._is_here(value)]
        return next((node for node in found if isinstance(node, yaml.MappingNode)), self._root)

    def _mapping_around(self) -> yaml.Node:
        """Return the mapping that holds the key or value at the place."""
        for own in (True, False):
            for parent, name, value in _entries(self._root):
                if self._is_here(name if own else value):
                    return parent
        raise NotMechanicalError(f"nothing at {self._at}")

    def _word(self) -> yaml.Node:
        for _, name, value in _entries(self._root):
            for node in (name, value):
                if self._is_here(node) and isinstance(node, yaml.ScalarNode):
                    return node
        raise NotMechanicalError(f"no word at {self._at}")

    def _replace_word(self, new: str) -> None:
        """Write another word in the place of the one that the message quotes, or of all."""
        node = self._word()
        names = (rf"(?<![\w.]){re.escape(each)}(?![\w.])" for each in self._said)
        wrong = next((each for each in names if re.search(each, node.value)), ".*")
        node.value = re.sub(wrong, new, node.value, count=1)

    def _rename(self, old: str, new: str) -> None:
        for _, name, value in list(_entries(self._root)):
            for node in (name, value):
                if isinstance(node, yaml.ScalarNode) and node.value == old:
                    node.value, node.tag = new, "tag:yaml.org,2002:str"

    def _rename_key(self, path: str, new: str) -> None:
        *parents, old = path.split(".")
        for name, _ in self._below(parents).value:
            name.value = new if name.value == old else name.value

    def _remove(self, path: str) -> None:
        *parents, key = path.split(".")
        parent = self._below(parents)
        if isinstance(parent, yaml.SequenceNode):
            del parent.value[int(key)]
        else:
            parent.value = [pair for pair in parent.value if pair[0].value != key]

    def _remove_here(self) -> None:
        for parent, name, value in list(_entries(self._root)):
            if isinstance(parent, yaml.MappingNode) and (
                self._is_here(name) or (name.value == "extends" and self._is_here(value))
            ):
                parent.value = [pair for pair in parent.value if pair[0] is not name]

    def _is_here(self, node: yaml.Node) -> bool:
        mark, at = node.start_mark, self._at
        return bool(at and mark and (mark.line + 1, mark.column + 1) == (at.line, at.column))


def _entries(node: yaml.Node) -> Iterator[tuple[yaml.Node, yaml.Node, yaml.Node]]:
    """Yield (collection, key or item, value or item) of all collections, outer ones first."""
    if isinstance(node, yaml.MappingNode):
        yield from ((node, name, value) for name, value in node.value)
        below = [value for _, value in node.value]
    elif isinstance(node, yaml.SequenceNode):
        yield from ((node, item, item) for item in node.value)
        below = list(node.value)
    else:
        return
    for child in below:
        yield from _entries(child)


def _children(node: yaml.Node) -> Iterator[tuple[str, yaml.Node]]:
    if isinstance(node, yaml.MappingNode):
        yield from ((name.value, value) for name, value in node.value)
    elif isinstance(node, yaml.SequenceNode):
        yield from ((str(number), item) for number, item in enumerate(node.value))


def _word(text: str) -> yaml.Node:
    return yaml.ScalarNode("tag:yaml.org,2002:str", text)


def _node(text: str) -> yaml.Node:
    node = yaml.compose(text, Loader=yaml.SafeLoader)
    assert node is not None, text
    return node
