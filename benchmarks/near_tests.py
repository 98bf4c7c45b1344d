# SPDX-License-Identifier: Apache-2.0
"""Which test files are near a source: by imports, and by names for what is not Python."""

import ast
import re
from collections.abc import Iterator
from pathlib import Path

from benchmarks.planted_edits import NATIVE

PLACES = ("compiler", "hw_sim", "tests", "benchmarks")
LATER = 2
"""Steps by which tests that take longer are further away."""
_FILE, _WORD = re.compile(r"\w+\.\w+(?:\.\w+)*"), re.compile(r"\w+")


class Nearness:
    """The files of a checkout, and who uses whom."""

    def __init__(self, root: Path) -> None:
        self.root = root
        python = [p.relative_to(root) for place in PLACES for p in (root / place).rglob("*.py")]
        self._modules = {_module(path): path for path in python}
        self._texts = {path: (root / path).read_text(encoding="utf-8") for path in python}
        self._users: dict[Path, set[Path]] = {}
        for path in python:
            for used in self._imports(path):
                self._users.setdefault(used, set()).add(path)
        native = [
            path.relative_to(root)
            for place in PLACES[:2]
            for path in (root / place).rglob("*")
            if path.suffix in NATIVE
        ]
        texts = self._texts | {path: (root / path).read_text(encoding="utf-8") for path in native}
        self._mention: dict[str, set[Path]] = {}
        for path, text in texts.items():
            for word in {*_FILE.findall(text), *_WORD.findall(text)}:
                self._mention.setdefault(word, set()).add(path)

    def tests(self, path: Path) -> list[Path]:
        """Return test files by their distance from `path`, the nearest first.

        Those that share a word of the name come first, then those of the room, and runs of whole
        chips and of campaigns later.
        """
        words = {*path.name.split(".")[0].split("_")}
        package = path.parts[1].removeprefix("atoll_")
        room = Path("tests", "unit", path.parts[2] if package == "atoll" else package)
        seen, edge, distance, found = {path}, {path}, 0, list[tuple[int, bool, bool, Path]]()
        while edge:
            edge = {user for each in edge for user in self._who_uses(each)} - seen
            seen |= edge
            distance += 1
            for each in edge:
                if each.name.startswith("test_"):
                    further = LATER if each.parts[1] in ("e2e", "property") else 0
                    named = bool(words & {*each.stem.split("_")})
                    in_room = each.is_relative_to(room)
                    further -= named and in_room
                    found.append((distance + further, not named, not in_room, each))
        return [each for *_, each in sorted(found)]

    def _who_uses(self, path: Path) -> set[Path]:
        if path.name == "conftest.py":
            return {p for p in self._texts if p.is_relative_to(path.parent) and p != path}
        if path in self._users and "benches" not in path.parts:
            return self._users[path]
        name = path.stem if path.suffix in (".sv", ".py") else path.name
        users = self._mention.get(name, set()) - {path}
        folder = path.parent
        while not users and folder.parts:
            users = {p for p in self._texts if p.parent == folder and p.name != "__init__.py"}
            folder = folder.parent
        return users

    def _imports(self, path: Path) -> Iterator[Path]:
        for node in ast.walk(ast.parse(self._texts[path])):
            names = []
            if isinstance(node, ast.Import):
                names = [alias.name for alias in node.names]
            elif isinstance(node, ast.ImportFrom) and node.module:
                names = [f"{node.module}.{alias.name}" for alias in node.names]
            for name in names:
                if found := self._modules.get(name) or self._modules.get(name.rpartition(".")[0]):
                    yield found


def _module(path: Path) -> str:
    parts = path.parts if path.parts[0] in PLACES[2:] else path.parts[1:]
    return ".".join(parts).removesuffix(".py").removesuffix(".__init__")
