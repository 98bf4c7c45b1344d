# SPDX-License-Identifier: Apache-2.0
"""The files that an editor has open, and what is known of each.

Files are judged beside the answers, one after the other, so that an answer which needs no verdict
never waits for one.
"""

import asyncio
from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import field
from pathlib import Path

from atoll.description.text_places import TextPlaces
from atoll.description.yaml_text import is_too_large
from atoll.records import dataclass
from atoll_lsp.analysis import Analysis, Kind, analyse, kind_of, places_in

PAUSE = 0.15
"""Seconds without a change after which a file is judged."""


@dataclass(slots=True)
class OpenFile:
    """One open file.

    Attributes:
        text: as it is.
        uri: as the editor calls it.
        version: of the text.
        known: the last verdict, None if there is none or the file is not Atoll's.
        good: the last verdict on a text that was YAML.
        places: of the last text that was YAML.
        judged: how many changes the last verdict has seen.
    """

    uri: str
    text: str
    version: int
    known: Analysis | None = None
    good: Analysis | None = None
    places: TextPlaces | None = None
    judged: int = -1

    @property
    def kind(self) -> Kind | None:
        """What it describes; None if it is not Atoll's, or too large to be read."""
        if is_too_large(self.text):
            return None
        return kind_of(self.text) or (self.good.kind if self.good else None)


@dataclass
class Desk:
    """All open files.

    Attributes:
        publish: called after each verdict.
    """

    publish: Callable[[], None]
    files: dict[Path, OpenFile] = field(default_factory=dict)
    changes: int = 0
    _due: asyncio.TimerHandle | None = None
    _work: asyncio.Task[None] | None = None
    _judge: ThreadPoolExecutor = field(default_factory=lambda: ThreadPoolExecutor(1))

    @property
    def texts(self) -> Mapping[Path, str]:
        """The texts of all open files."""
        return {path: each.text for path, each in self.files.items()}

    def put(self, path: Path, uri: str, text: str, version: int) -> None:
        """Take the new text of a file, and judge it after a pause."""
        file = self.files.setdefault(path, OpenFile(uri, text, version))
        file.text, file.version = text, version
        self.changes += 1
        for each in self.files.values():
            if each.known is None or path in each.known.files:
                each.judged = -1
        file.judged = -1
        file.places = places_in(path, {path: text}) or file.places
        self._later()

    def drop(self, path: Path) -> None:
        """Forget a file; those that are made of it are judged again, with what is on disk."""
        self.files.pop(path, None)
        for each in self.files.values():
            if each.known and path in each.known.files:
                each.judged = -1
        self._later()

    def forget_disk(self) -> None:
        """Judge all files again, as a file on disk has changed."""
        for each in self.files.values():
            each.judged = -1
        self._later()

    async def verdict(self, path: Path) -> Analysis | None:
        """Return what is known of the present text of a file."""
        while path in self.files and self.files[path].judged < 0:
            await self._await_verdicts()
        return self.files[path].known if path in self.files else None

    def _later(self) -> None:
        if self._due:
            self._due.cancel()
        self._due = asyncio.get_running_loop().call_later(PAUSE, self._start)

    def _start(self) -> asyncio.Task[None]:
        if self._work is None or self._work.done():
            self._work = asyncio.get_running_loop().create_task(self._judge_all())
        return self._work

    async def _await_verdicts(self) -> None:
        await asyncio.shield(self._start())

    async def _judge_all(self) -> None:
        while waiting := [path for path, each in self.files.items() if each.judged < 0]:
            path, seen = waiting[0], self.changes
            text = self.files[path].text
            loop = asyncio.get_running_loop()
            known = await loop.run_in_executor(self._judge, analyse, path, self.texts)
            file = self.files.get(path)
            if file is None or file.text != text:
                continue
            file.known, file.judged = known, seen
            if known and known.root is not None:
                file.good = known
            self.publish()
