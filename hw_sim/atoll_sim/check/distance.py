# SPDX-License-Identifier: Apache-2.0
"""How far a network is from TensorFlow Lite for Microcontrollers where accelerators round."""

from collections.abc import Iterator, Sequence

import numpy as np

from atoll.artifacts.samples import Sample
from atoll.driver.pipeline import Compiled
from atoll.ops import reference
from atoll.resolve.soc import Engine


def own_rounding(compiled: Compiled, samples: Sequence[Sample]) -> Iterator[str]:
    """Yield how far each output is from the exact one, if a device rounds in a way of its own."""
    graph, soc = compiled.graph, compiled.soc
    devices = {
        device.name
        for op in graph.operators
        if isinstance(device := soc.device(op.device), Engine)
        and device.spec.support(op.kind).reference
    }
    if not devices:
        return
    apart: dict[str, list[np.ndarray]] = {name: [] for name in graph.outputs}
    both = (reference.run_in_turn(graph, samples, each) for each in (soc, None))
    for own, exact in zip(*both, strict=True):
        for name in graph.outputs:
            difference = own[name].astype(np.int64) - exact[name].astype(np.int64)
            apart[name].append(np.abs(difference))
    for name, found in apart.items():
        differences = np.concatenate([each.reshape(-1) for each in found])
        yield (
            f"{', '.join(sorted(devices))} computes by a reference of its own: '{name}' differs "
            f"from TensorFlow Lite for Microcontrollers in {np.count_nonzero(differences):,} of "
            f"{differences.size:,} values, by {differences.max()} at most"
        )
