# SPDX-License-Identifier: Apache-2.0
"""What trials came to, noted as they end: a campaign that was interrupted goes on after them."""

import json
from collections.abc import Callable, Mapping
from pathlib import Path
from threading import Lock
from typing import Any

import atoll
import atoll_sim
from atoll.utils.cache import cache_folder
from atoll.utils.files import unwritable
from atoll.utils.kept import name_of

Noted = Mapping[str, Any] | str


class Journal:
    """Results of one campaign's trials, by what was tried; lines of JSON in the cache."""

    def __init__(self, *campaign: bytes | str, resume: bool) -> None:
        """Open the journal of a campaign.

        Args:
            campaign: all that its results depend on, but Atoll's own code, which always counts.
            resume: believe what is noted; else begin anew.

        Raises:
            UsageError: E092, the cache is not writable.
        """
        self._path = cache_folder() / "campaigns" / name_of(_own_code(), *campaign)
        self._noted = _read(self._path) if resume else {}
        self._lock = Lock()
        try:
            self._path.parent.mkdir(parents=True, exist_ok=True)
            self._path.write_text("".join(map(_line, self._noted.items())), encoding="utf-8")
        except OSError as fault:
            raise unwritable(self._path.parent, fault) from fault

    def recall(self, subject: str, make: Callable[[], Noted]) -> Any:
        """Return what is noted of a trial, else what `make` returns, and note that."""
        if subject in self._noted:
            return self._noted[subject]
        found = make()
        with self._lock, self._path.open("a", encoding="utf-8") as file:
            file.write(_line((subject, found)))
        return found

    def close(self) -> None:
        """Forget all: the campaign is over."""
        self._path.unlink(missing_ok=True)


def _line(entry: tuple[str, Noted]) -> str:
    return json.dumps(entry) + "\n"


def _read(path: Path) -> dict[str, Any]:
    """Return the whole lines of a journal; the last one may be cut."""
    try:
        lines = path.read_text(encoding="utf-8").splitlines(keepends=True)
    except OSError:
        return {}
    return dict(json.loads(line) for line in lines if line.endswith("\n"))


def _own_code() -> str:
    """Return a name for Atoll's Python; what it builds is told apart by the campaign."""
    roots = [Path(str(package.__file__)).parent for package in (atoll, atoll_sim)]
    paths = sorted(path for root in roots for path in root.rglob("*.py"))
    return name_of(*(path.read_bytes() for path in paths))
