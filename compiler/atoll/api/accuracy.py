# SPDX-License-Identifier: Apache-2.0
"""How often a network names the right class, and which classes it takes for which."""

from collections.abc import Iterator, Mapping
from dataclasses import field
from typing import Any

import numpy as np
from numpy.typing import NDArray
from rich.console import Group, RenderableType

from atoll.api.notebook import Row, html_table, plain_text
from atoll.api.samples import Array
from atoll.records import dataclass
from atoll.report.grid import Grid, Sentence

MOST_CLASSES = 20
"""Classes of which all pairs are printed."""

MOST_PAIRS = 10
"""Pairs of classes that are printed of a network with many."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Accuracy:
    """What a network made of labelled samples.

    Attributes:
        confusion: int64 [C, C]: samples by right class, then by the class that was named.
        seconds: that the samples took on this computer.
        compared: samples that ran on the chip as well.
        equal: those of them whose outputs have the same bytes.
        outputs: of each sample, by tensor, as this computer made them.
    """

    confusion: NDArray[np.int64]
    seconds: float
    compared: int = 0
    equal: int = 0
    outputs: tuple[Mapping[str, Array], ...] = field(default=(), repr=False)

    @property
    def samples(self) -> int:
        """Count of samples."""
        return int(self.confusion.sum())

    @property
    def right(self) -> int:
        """Count of samples whose class was named."""
        return int(np.trace(self.confusion))

    @property
    def passed(self) -> bool:
        """Tell whether the chip made the bytes that this computer did."""
        return self.equal == self.compared

    def rows(self) -> list[Row]:
        """Return how many samples of each class were taken for which."""
        pairs = np.argwhere(self.confusion)
        return [
            {"class": int(c), "taken_for": int(n), "samples": int(self.confusion[c, n])}
            for c, n in pairs
        ]

    def text(self, columns: int | None = None) -> str:
        """Return what ``atoll run --dataset`` prints of it."""
        return plain_text(self.rich(), columns)

    def rich(self) -> RenderableType:
        """Return the same for a console of the package `rich`."""
        table = _every_pair if len(self.confusion) <= MOST_CLASSES else _frequent_pairs
        return Group(table(self), *_sentences(self))

    def to_json(self) -> dict[str, Any]:
        """Return what ``atoll run --dataset --json`` prints below ``dataset``."""
        return {
            "samples": self.samples,
            "right": self.right,
            "accuracy": self.right / self.samples,
            "confusion": self.confusion.tolist(),
            "compared_samples": self.compared,
            "equal_samples": self.equal,
            "wall_seconds": {"samples": self.seconds},
        }

    def _repr_html_(self) -> str:
        return html_table(f"{self.right} of {self.samples} samples right", self.rows())


def _every_pair(found: Accuracy) -> Grid:
    classes = range(len(found.confusion))
    return Grid(
        title="samples by right class and by the class that was named",
        headings=("class", *map(str, classes), "right"),
        left=(),
        rows=[
            (str(c), *(f"{n:,}" if n else "." for n in found.confusion[c]), _share(found, c))
            for c in classes
        ],
    )


def _frequent_pairs(found: Accuracy) -> Grid:
    wrong = found.confusion.copy()
    np.fill_diagonal(wrong, 0)
    order = np.argsort(-wrong, axis=None, kind="stable")[:MOST_PAIRS]
    pairs = [divmod(int(at), len(wrong)) for at in order if wrong.flat[at]]
    return Grid(
        title=f"classes most often taken for others, of {len(wrong)}",
        headings=("class", "taken for", "samples", "right"),
        left=(),
        rows=[(str(c), str(n), f"{wrong[c, n]:,}", _share(found, c)) for c, n in pairs],
    )


def _share(found: Accuracy, number: int) -> str:
    of = int(found.confusion[number].sum())
    return f"{100 * int(found.confusion[number, number]) / of:.1f} %" if of else "-"


def _sentences(found: Accuracy) -> Iterator[Sentence]:
    share = 100 * found.right / found.samples
    speed = found.samples / found.seconds
    yield Sentence(
        f"accuracy {share:.2f} %: {found.right:,} of {found.samples:,} samples, "
        f"{speed:,.0f} samples a second on this computer"
    )
    if not found.compared:
        return
    if found.passed:
        words = f"{found.compared} of these samples ran on the chip and made the same bytes"
        yield Sentence(words, style="green")
    else:
        wrong = found.compared - found.equal
        words = f"{wrong} of {found.compared} samples made other bytes on the chip"
        yield Sentence(words, style="red")
