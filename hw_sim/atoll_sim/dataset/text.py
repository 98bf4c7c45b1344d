# SPDX-License-Identifier: Apache-2.0
"""Accuracy as a person reads it in a terminal."""

from collections.abc import Iterator

import numpy as np
from rich.console import Group

from atoll.report.grid import Grid, Sentence
from atoll_sim.dataset.accuracy import MOST_CLASSES, Accuracy

MOST_PAIRS = 10
"""Pairs of classes that are printed of a network with many."""


def render_accuracy(found: Accuracy) -> Group:
    """Lay out which classes were taken for which, and the sentences below."""
    few = len(found.confusion) <= MOST_CLASSES
    table = _every_pair(found) if few else _frequent_pairs(found)
    return Group(table, *_sentences(found))


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
