# SPDX-License-Identifier: Apache-2.0
"""Counts the models of chips that other processes build, by the commands that they start.

It does not ask Atoll: a hook in each process sees Verilator being called.
"""

import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

_WATCH = """
import os, sys

def note(event, words):
    if event == "subprocess.Popen" and "--top-module" in map(str, words[1]):
        with open(os.environ["ATOLL_TEST_BUILDS"], "a") as file:
            file.write(os.environ["ATOLL_CACHE"] + "\\n")

sys.addaudithook(note)
"""


@dataclass(frozen=True)
class CountedBuilds:
    """Watches processes that are started with `environment`; `folder` is made."""

    folder: Path

    def environment(self, cache: Path) -> Mapping[str, str]:
        """Return what to start a process with that has this cache alone, and is watched."""
        site = self.folder / "site"
        site.mkdir(parents=True, exist_ok=True)
        (site / "sitecustomize.py").write_text(_WATCH)
        others = filter(None, [os.environ.get("PYTHONPATH")])
        return {
            "ATOLL_CACHE": str(cache),
            "XDG_CACHE_HOME": str(cache),
            "ATOLL_TEST_BUILDS": str(self._log),
            "PYTHONPATH": os.pathsep.join([str(site), *others]),
        }

    def caches(self) -> list[Path]:
        """Return for each build so far the cache of the process that made it."""
        lines = self._log.read_text().splitlines() if self._log.exists() else []
        return list(map(Path, lines))

    @property
    def _log(self) -> Path:
        return self.folder / "builds"
