# SPDX-License-Identifier: Apache-2.0
"""A labelled set on this computer, and some of its samples on the chip."""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from atoll.api.accuracy import Accuracy
from atoll.artifacts.samples import Sample
from atoll.diagnostics.progress import Progress
from atoll.driver.pipeline import Compiled
from atoll.records import dataclass
from atoll_sim.dataset.accuracy import evaluate
from atoll_sim.dataset.host_network import outputs_equal
from atoll_sim.dataset.labelled import Labelled, load_labelled

ON_CHIP = 2
"""Samples that run on the chip too: the first one and one of the middle."""


@dataclass(frozen=True, slots=True)
class Judged:
    """What this computer made of a labelled set.

    Attributes:
        found: accuracy, and outputs of all samples.
        numbers: those that shall run on the chip.
    """

    labelled: Labelled
    found: Accuracy
    numbers: tuple[int, ...]

    @classmethod
    def of(cls, compiled: Compiled, path: Path, progress: Progress) -> "Judged":
        """Run all samples of a file.

        Raises:
            UsageError: E093, as `load_labelled`.
        """
        labelled = load_labelled(path, compiled.graph)
        found = evaluate(compiled, labelled, progress)
        count = min(ON_CHIP, len(labelled))
        return cls(labelled, found, tuple(at * len(labelled) // count for at in range(count)))

    @property
    def samples(self) -> tuple[Sample, ...]:
        """The samples for the chip."""
        return tuple(map(self.labelled.sample, self.numbers))

    def compare(self, outputs: Sequence[Sample]) -> Accuracy:
        """Return the accuracy with how many samples the chip made the same bytes of."""
        pairs = zip(self.numbers, outputs, strict=False)
        equal = sum(outputs_equal(self.found.outputs[number], each) for number, each in pairs)
        return replace(self.found, compared=len(self.numbers), equal=equal)
