# SPDX-License-Identifier: Apache-2.0
"""How often a network names the right class, and which classes it takes for which."""

import os
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from threading import local

import numpy as np
from numpy.typing import NDArray

from atoll.artifacts.samples import Sample
from atoll.diagnostics.progress import Progress, left
from atoll.driver.pipeline import Compiled
from atoll.utils.workers import side_by_side
from atoll_sim.dataset.host_network import HostNetwork
from atoll_sim.dataset.labelled import Labelled, classes_of

BATCH = 64
"""Samples that a thread takes at a time."""

MOST_CLASSES = 20
"""Classes of which all pairs are printed."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Accuracy:
    """What a network made of labelled samples.

    Attributes:
        confusion: int64 [C, C]: samples by right class, then by the class that was named.
        seconds: that the samples took on this computer.
        compared: samples that ran on the chip as well.
        equal: those of them whose outputs have the same bytes.
    """

    confusion: NDArray[np.int64]
    seconds: float
    compared: int = 0
    equal: int = 0

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

    def as_json(self) -> dict[str, object]:
        """Return the same for machines."""
        return {
            "samples": self.samples,
            "right": self.right,
            "accuracy": self.right / self.samples,
            "confusion": self.confusion.tolist(),
            "compared_samples": self.compared,
            "equal_samples": self.equal,
            "wall_seconds": {"samples": self.seconds},
        }


@dataclass(frozen=True, slots=True)
class Evaluated:
    """Accuracy, and the outputs of all samples in their order."""

    accuracy: Accuracy
    outputs: tuple[Sample, ...]


def evaluate(compiled: Compiled, labelled: Labelled, progress: Progress) -> Evaluated:
    """Run all samples on this computer, on all its cores; the class of greatest output counts."""
    network, own = HostNetwork(compiled.graph, compiled.soc), local()
    begin = time.perf_counter()

    def run(numbers: range) -> list[Sample]:
        if not hasattr(own, "workspace"):
            own.workspace = network.workspace()
        return [network.run(labelled.sample(number), own.workspace) for number in numbers]

    outputs = tuple(_in_order(run, len(labelled), progress, begin))
    seconds = time.perf_counter() - begin
    confusion = _confusion(compiled, labelled, outputs)
    return Evaluated(Accuracy(confusion=confusion, seconds=seconds), outputs)


def _in_order(
    run: Callable[[range], list[Sample]], count: int, progress: Progress, begin: float
) -> Iterator[Sample]:
    batches = [range(at, min(at + BATCH, count)) for at in range(0, count, BATCH)]
    done = 0
    for outputs in side_by_side(run, batches, os.cpu_count() or 1):
        yield from outputs
        done += len(outputs)
        rest = left(done, count, time.perf_counter() - begin)
        progress(f"sample {done:,} of {count:,} on this computer{rest}")


def _confusion(
    compiled: Compiled, labelled: Labelled, outputs: Sequence[Sample]
) -> NDArray[np.int64]:
    classes, first = classes_of(compiled.graph), compiled.graph.outputs[0]
    named = [int(np.argmax(each[first].reshape(-1))) for each in outputs]
    found = np.zeros((classes, classes), np.int64)
    np.add.at(found, (labelled.labels, np.array(named)), 1)
    return found
