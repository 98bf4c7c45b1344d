# SPDX-License-Identifier: Apache-2.0
"""The folder to which runs add what they reached.

It has the counts of each chip's RTL as Verilator writes them (``<chip>.dat``), those of all chips
for lcov (``coverage.info``), and sums and holes as text and as data (``coverage.md``,
``coverage.json``).
"""

import json
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, Self

from atoll.diagnostics.errors import UsageError
from atoll.diagnostics.shown import json_text
from atoll.driver.pipeline import Compiled
from atoll.records import dataclass
from atoll.utils.cache import only_builder
from atoll.utils.files import require_writable, unwritable, write_text
from atoll_sim.coverage.bins import Group, Hits, add_hits, count_run
from atoll_sim.coverage.points import (
    Counts,
    Point,
    add_counts,
    lcov_text,
    read_counts,
    write_counts,
)
from atoll_sim.coverage.summary import Summary, summarise
from atoll_sim.trace.simulation import SimResult

COUNTS = "coverage.dat"
"""What a model writes as it ends."""

_SAID = "coverage: "

INFO, TEXT, DATA = "coverage.info", "coverage.md", "coverage.json"


@dataclass(frozen=True, slots=True, kw_only=True)
class Sums:
    """What the runs of a chip reached.

    Attributes:
        devices: of the chip.
        counts: of its RTL.
    """

    devices: Sequence[str]
    runs: int
    hits: Mapping[Group, Hits]
    counts: Counts

    @classmethod
    def of_json(cls, plain: Mapping[str, Any], counts: Counts) -> Self:
        """Read what `as_json` returned."""
        hits = {Group(group): dict(found) for group, found in plain["hits"].items()}
        return cls(devices=plain["devices"], runs=plain["runs"], hits=hits, counts=counts)

    def summary(self, soc: str) -> Summary:
        """Sum them up."""
        return summarise(soc, self.devices, self.runs, self.hits, self.counts)

    def as_json(self, soc: str) -> dict[str, Any]:
        """Return what is kept, and what follows from it."""
        kept = {"devices": list(self.devices), "runs": self.runs, "hits": self.hits}
        return {**kept, **self.summary(soc).as_json()}


def prepare_folder(folder: Path) -> None:
    """Make a folder, and refuse one to which nothing can be added, before the work for it.

    Raises:
        UsageError: E092, it cannot be written; E258, it has something else.
    """
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as fault:
        raise unwritable(folder, fault) from fault
    for name in (INFO, TEXT, DATA):
        require_writable(folder / name)
    read_sums(folder)


def add_run(
    folder: Path,
    models: Sequence[Compiled],
    in_rtl: frozenset[str],
    result: SimResult,
    counts: str,
) -> str:
    """Add what a run reached, and say what all runs of its chip did.

    Args:
        folder: takes the sums.
        models: the networks that ran in turn.
        in_rtl: engines of which hardware ran.
        result: what the run did.
        counts: those that its model wrote.

    Raises:
        UsageError: E092, the folder cannot be written; E258, it has counts of other RTL.
    """
    soc = models[0].soc
    new = Sums(
        devices=tuple(device.name for device in soc.devices),
        runs=1,
        hits=count_run(soc, models, in_rtl, result),
        counts=read_counts(counts),
    )
    return add_sums(folder, soc.name, new)


def add_sums(folder: Path, name: str, new: Sums) -> str:
    """Add what was reached of a chip, or of an accelerator, and say what all runs of it did.

    Where nothing was counted in RTL, nothing of that is compared.

    Raises:
        UsageError: E092, the folder cannot be written; E258, it has counts of other RTL.
    """
    with only_builder(folder / DATA):
        every = read_sums(folder)
        before = every.get(name)
        both = before and before.counts and new.counts
        if before and both and before.counts.keys() != new.counts.keys():
            raise _refusal(folder, f"has runs of '{name}' with other RTL")
        every[name] = total = _add(before, new) if before else new
        _write_sums(folder, every, name)
    return f"{_SAID}{folder / TEXT}: {total.summary(name)}"


def is_said(note: str) -> bool:
    """Tell whether a note is what `add_run` said."""
    return note.startswith(_SAID)


def _add(one: Sums, other: Sums) -> Sums:
    return replace(
        other,
        runs=one.runs + other.runs,
        hits=add_hits(one.hits, other.hits),
        counts=add_counts(one.counts, other.counts),
    )


def read_sums(folder: Path) -> dict[str, Sums]:
    """Return what was added to a folder, by name; nothing if that is new.

    Raises:
        UsageError: E258; it has something else.
    """
    try:
        plain = json.loads((folder / DATA).read_text(encoding="utf-8"))
        return {
            name: Sums.of_json(each, read_counts(_counts_of(folder, name).read_text("utf-8")))
            for name, each in plain["chips"].items()
        }
    except FileNotFoundError as fault:
        if fault.filename == str(folder / DATA):
            return {}
        raise _refusal(folder, f"lacks '{fault.filename}'") from fault
    except (OSError, ValueError, KeyError, TypeError, AttributeError) as fault:
        raise _refusal(folder, f"has a '{DATA}' that is none of this command") from fault


def _counts_of(folder: Path, soc: str) -> Path:
    return folder / f"{soc}.dat"


def _write_sums(folder: Path, chips: Mapping[str, Sums], changed: str) -> None:
    write_text(_counts_of(folder, changed), write_counts(chips[changed].counts))
    points = (
        (Point.of(fields), count)
        for each in chips.values()
        for fields, count in each.counts.items()
    )
    write_text(folder / INFO, lcov_text(points))
    texts = (each.summary(name).text() for name, each in sorted(chips.items()))
    write_text(folder / TEXT, "\n".join(texts))
    data = {name: each.as_json(name) for name, each in sorted(chips.items())}
    write_text(folder / DATA, json_text({"version": 1, "chips": data}))


def _refusal(folder: Path, what: str) -> UsageError:
    return UsageError(
        "E258",
        f"coverage cannot be added to {folder}, which {what}",
        remedy="name another folder, or delete this one",
    )
