# SPDX-License-Identifier: Apache-2.0
"""What is wrong with a description after some edits: the proof of a remedy."""

from collections.abc import Sequence
from dataclasses import field
from functools import partial
from pathlib import Path

from atoll.description.edits import Edit, apply_edits
from atoll.description.faults import Faults
from atoll.description.loader import describe
from atoll.description.tree import Node
from atoll.diagnostics.errors import AtollError, Fault, attempt_edit
from atoll.records import dataclass
from atoll.resolve.resolver import resolve
from atoll.resolve.soc import ResolvedSoc

MOST = 100
"""Trials for all faults of one description."""


@dataclass(slots=True)
class Trial:
    """Tries edits of one description.

    Attributes:
        root: the description as it is.
        folder: that its accelerators' paths are relative to.
        left: how often more it may try.
    """

    root: Node
    folder: Path
    left: int = MOST
    _known: dict[tuple[Edit, ...], tuple[Fault, ...]] = field(default_factory=dict)

    def faults(self, edits: Sequence[Edit]) -> tuple[Fault, ...]:
        """Return what is wrong after `edits`."""
        asked = tuple(edits)
        if asked not in self._known:
            self.left -= 1
            self._known[asked] = self._try(asked)
        return self._known[asked]

    def chip(self, edits: Sequence[Edit]) -> ResolvedSoc:
        """Return the chip after `edits`.

        Raises:
            AtollError: they do not make one.
        """
        return resolve(describe(apply_edits(self.root, edits), self.folder, Faults()))

    def _try(self, edits: tuple[Edit, ...]) -> tuple[Fault, ...]:
        made = attempt_edit(partial(self.chip, edits))
        return made.faults if isinstance(made, AtollError) else ()
