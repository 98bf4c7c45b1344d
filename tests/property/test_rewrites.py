# SPDX-License-Identifier: Apache-2.0
"""Every pass over a network keeps all bytes of its outputs, on random networks."""

from functools import cache

import numpy as np
import pytest
from tests.differential.generator import COMMON, STEPS, random_model
from tests.effort import cases
from tests.tflite_builder import write

from atoll.artifacts.samples import random_samples
from atoll.diagnostics.errors import ModelError
from atoll.frontend.tflite.load import load_tflite
from atoll.ir.graph import Graph
from atoll.ops import reference
from atoll.rewrite.edit import Given
from atoll.rewrite.passes import PASSES, GraphPass, rewrite
from atoll.utils.scratch import temporary_folder

SEEDS = cases(1000, least=750)
DEVICES = Given()


@cache
def network_of(seed: int) -> Graph | None:
    """Return a random network, None if it is refused; one in three may have any operator."""
    with temporary_folder() as folder:
        path = folder / "network.tflite"
        path.write_bytes(write(random_model(seed, COMMON if seed % 3 else STEPS)))
        try:
            return load_tflite(path)
        except ModelError:
            return None


@cache
def expected(seed: int) -> list[bytes]:
    """Return the outputs of a network that is not refused."""
    graph = network_of(seed)
    assert graph is not None
    return outputs(graph)


def outputs(graph: Graph) -> list[bytes]:
    return [
        values[name].tobytes()
        for sample in random_samples(graph, 2)
        for values in [reference.run(graph, sample)]
        for name in graph.outputs
    ]


@pytest.mark.parametrize(
    "chosen",
    [*((each,) for each in PASSES), PASSES],
    ids=lambda each: f"{each[0].name} {len(each)}",
)
def test_outputs_stay(chosen: tuple[GraphPass, ...]) -> None:
    changed = 0
    for seed in range(SEEDS):
        graph = network_of(seed)
        if graph is None:
            continue
        made = rewrite(graph, DEVICES, passes=chosen).graph
        assert len(made.operators) <= len(graph.operators)
        if made is not graph:
            assert outputs(made) == expected(seed), f"seed {seed}\n{graph}\n{made}"
            changed += 1
    assert changed, "no network had anything to do for the pass"


def test_what_is_named_stays() -> None:
    """Requests for operators and tensors keep them; without accelerators nothing else counts."""
    kept = 0
    for seed in range(SEEDS):
        graph = network_of(seed)
        if graph is None:
            continue
        names = frozenset(op.name for op in graph.operators)
        made = rewrite(graph, Given(named=names)).graph
        assert {op.name for op in made.operators} == names
        assert np.all([op in made.operators for op in graph.operators])
        kept += 1
    assert kept
