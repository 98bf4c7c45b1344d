# SPDX-License-Identifier: Apache-2.0
"""Samples for a run, as callers give them: files, arrays, or nothing for random ones."""

from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from atoll.api.driver import Compiled
from atoll.artifacts.samples import Sample, load_samples, random_samples, samples_in
from atoll.description.faults import nearest
from atoll.diagnostics.errors import UsageError
from atoll.ir.graph import Graph

Array = NDArray[np.generic]
SampleSource = Path | str | Array | Mapping[str, Array] | Sequence[Mapping[str, Array]]
"""Samples of one network: a file (.npy, .npz), an array, or arrays by the name of an input."""

Samples = SampleSource | Mapping[str, SampleSource] | None
"""Of a sole network its samples; of several, those of some of them by network."""

_GIVEN = Path("samples")


def samples_for(models: Sequence[Compiled], given: Samples) -> tuple[tuple[Sample, ...], ...]:
    """Return as many samples of each network; where none are given, random ones.

    Raises:
        UsageError: E093, they do not fit the inputs, or are not equally many; E151, there is no
            such network.
    """
    graphs = {each.graph.name: each.graph for each in models}
    found = {
        name: _read(each, graphs[name]) for name, each in _by_network([*graphs], given).items()
    }
    counts = sorted({len(each) for each in found.values()}) or [1]
    if len(counts) > 1:
        raise UsageError(
            "E093",
            f"the networks run in turn, and there are {' and '.join(map(str, counts))} samples",
            remedy="give every network the same number of samples",
        )
    return tuple(
        found.get(name) or random_samples(graph, counts[0]) for name, graph in graphs.items()
    )


def _by_network(names: Sequence[str], given: Samples) -> Mapping[str, SampleSource]:
    if given is None:
        return {}
    if len(names) == 1:
        return {names[0]: given}  # type: ignore[dict-item]
    if not isinstance(given, Mapping):
        remedy = f"give a mapping such as {{'{names[0]}': samples}}"
        raise UsageError("E093", "samples of several networks name none of them", remedy=remedy)
    for name in given:
        if name not in names:
            remedy = nearest(name, names)
            raise UsageError("E151", f"samples name network '{name}'", remedy=remedy)
    return given


def _read(given: SampleSource, graph: Graph) -> tuple[Sample, ...]:
    if isinstance(given, str | Path):
        return load_samples(Path(given), graph)
    if isinstance(given, np.ndarray | Mapping):
        return samples_in(given, graph, _GIVEN)
    return tuple(one for each in given for one in samples_in(each, graph, _GIVEN))
