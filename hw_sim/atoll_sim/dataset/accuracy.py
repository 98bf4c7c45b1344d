# SPDX-License-Identifier: Apache-2.0
"""How often a network names the right class, and which classes it takes for which."""

import os
import time
from collections.abc import Callable, Iterator, Sequence
from threading import local

import numpy as np
from numpy.typing import NDArray

from atoll.api.accuracy import Accuracy
from atoll.artifacts.samples import Sample
from atoll.diagnostics.progress import Progress, Steps
from atoll.driver.pipeline import Compiled
from atoll.utils.workers import side_by_side
from atoll_sim.dataset.host_network import HostNetwork
from atoll_sim.dataset.labelled import Labelled, classes_of

BATCH = 64
"""Samples that a thread takes at a time."""


def evaluate(compiled: Compiled, labelled: Labelled, progress: Progress) -> Accuracy:
    """Run all samples on this computer, on all its cores; the class of greatest output counts."""
    network, own = HostNetwork(compiled.graph, compiled.soc), local()
    begin = time.perf_counter()

    def run(numbers: range) -> list[Sample]:
        if not hasattr(own, "workspace"):
            own.workspace = network.workspace()
        return [network.run(labelled.sample(number), own.workspace) for number in numbers]

    outputs = tuple(_in_order(run, len(labelled), progress))
    seconds = time.perf_counter() - begin
    confusion = _confusion(compiled, labelled, outputs)
    return Accuracy(confusion=confusion, seconds=seconds, outputs=outputs)


def _in_order(
    run: Callable[[range], list[Sample]], count: int, progress: Progress
) -> Iterator[Sample]:
    batches = [range(at, min(at + BATCH, count)) for at in range(0, count, BATCH)]
    done, steps = 0, Steps(count, progress)
    for outputs in side_by_side(run, batches, os.cpu_count() or 1):
        yield from outputs
        done += len(outputs)
        steps.tell(done, f"sample {done:,} of {count:,} on this computer")


def _confusion(
    compiled: Compiled, labelled: Labelled, outputs: Sequence[Sample]
) -> NDArray[np.int64]:
    classes, first = classes_of(compiled.graph), compiled.graph.outputs[0]
    named = [int(np.argmax(each[first].reshape(-1))) for each in outputs]
    found = np.zeros((classes, classes), np.int64)
    np.add.at(found, (labelled.labels, np.array(named)), 1)
    return found
