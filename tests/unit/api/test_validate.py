# SPDX-License-Identifier: Apache-2.0
"""Faults are planted where they are asked for, and shared among networks."""

from types import SimpleNamespace
from typing import Any

import pytest

from atoll_sim.api import compiled_networks
from atoll_sim.api.compiled_networks import Findings, validate_compiled
from atoll_sim.faults import campaign as faults_of
from atoll_sim.mutate import campaign as mutants_of

ONE, OTHER = (SimpleNamespace(soc="chip", graph=name) for name in ("one", "other"))

ALONE = [("one", 0, 0), ("other", 0, 0)]
"""The right builds run, and nothing else."""


@pytest.mark.parametrize(
    ("asked", "planted", "broken", "cached"),
    [
        ({}, [("one", 0, 0), ("other", 0, 0)], [], []),
        ({"mutants": 3}, [("one", 0, 2), ("other", 2, 1)], [], []),
        ({"faults": 3}, [], [("one", 0, 2), ("other", 2, 1)], []),
        ({"faults": 1}, [], [("one", 0, 1)], []),
        ({"caches": True}, [], [], ["one", "other"]),
        ({"faults": 1, "coverage": "reached"}, ALONE, [("one", 0, 1)], []),
        ({"caches": True, "coverage": "reached"}, ALONE, [], ["one", "other"]),
        (
            {"mutants": 2, "faults": 1, "caches": True},
            [("one", 0, 1), ("other", 1, 1)],
            [("one", 0, 1)],
            ["one", "other"],
        ),
    ],
)
def test_each_network_gets_its_share_of_what_is_asked(
    asked: dict[str, Any],
    planted: list[Any],
    broken: list[Any],
    cached: list[Any],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    refused = []
    monkeypatch.setattr(
        compiled_networks, "check_validation", lambda soc, *, planted: refused.append(planted)
    )
    monkeypatch.setattr(compiled_networks, "prepare_folder", lambda folder: None)
    monkeypatch.setattr(compiled_networks, "random_sample", lambda graph: (graph,))
    monkeypatch.setattr(
        mutants_of,
        "plant",
        lambda network, count, *, first, **_: (network.graph, first, count),
    )
    monkeypatch.setattr(
        faults_of,
        "run_campaign",
        lambda network, sample, count, *, first, **_: (sample, first, count),
    )
    monkeypatch.setattr(
        compiled_networks, "plant_cache_omissions", lambda network, **_: network.graph
    )
    found: Any = validate_compiled((ONE, OTHER), **asked)  # type: ignore[arg-type]
    assert found == Findings(planted=planted, broken=broken, cached=cached)
    assert refused == [bool(planted or broken)]
