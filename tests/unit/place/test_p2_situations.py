# SPDX-License-Identifier: Apache-2.0
"""P2: each situation of SEMANTICS annex A as text in, text out.

A file of tests/golden/place holds the pools of a chip with a host ``cpu``, a default device ``gpu``
and another core ``dsp``; what the user asks for; a graph; and, after `PLANNED`, the planned graph.
"""

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from tests.requests import load_requests

from atoll.ir.graph import Graph
from atoll.ir.read_graph import parse_graph
from atoll.ops.registry import COPY
from atoll.place.plan_devices import plan_devices
from atoll.reach.candidates import candidate_pools, needs_of
from atoll.report.scopes import scopes_of
from atoll.resolve.se_scope import ScopeTable, join
from atoll.resolve.soc import ResolvedSoc

SITUATIONS = sorted((Path(__file__).parents[2] / "golden" / "place").glob("*.txt"))
PLANNED = "planned: "


def asked(text: str, key: str) -> list[str]:
    return re.findall(rf"^{key} (.*)$", text, re.M)


class Situation:
    """What one file says."""

    def __init__(self, path: Path, make_soc: Callable[..., ResolvedSoc]) -> None:
        self.path = path
        self.given = path.read_text().partition(PLANNED)[0].rstrip("\n")
        self.limit = int(re.findall(r"^at most (\d+) cop", self.given, re.M)[0])
        pools = "\n".join(asked(self.given, "pool"))
        self.soc = make_soc(pools, cores=("gpu", "dsp"), default_device="gpu")
        self.requests = load_requests(
            None, asked(self.given, "place"), asked(self.given, "pin"), asked(self.given, "free")
        )
        self.graph = parse_graph(self.given[self.given.index("graph m(") :])


@pytest.fixture(params=SITUATIONS, ids=lambda path: path.stem)
def situation(request: Any, make_soc: Callable[..., ResolvedSoc]) -> Situation:
    return Situation(request.param, make_soc)


def copies(graph: Graph) -> int:
    return sum(op.kind == COPY for op in graph.operators)


def test_p2_every_situation_has_its_text() -> None:
    assert [path.stem[:2] for path in SITUATIONS] == sorted(
        [f"{number:02}" for number in range(1, 35)] + ["21"]
    )


def test_p2_same_devices_and_no_more_copies(
    situation: Situation, golden: Callable[[Path, str], None]
) -> None:
    planned = plan_devices(situation.graph, situation.soc, situation.requests).graph
    count = copies(planned)
    assert count <= situation.limit
    word = "copy" if count == 1 else "copies"
    golden(situation.path, f"{situation.given}\n\n{PLANNED}{count} {word}\n{planned}")


def test_p2_s2_what_was_asked_joins_and_settles(situation: Situation) -> None:
    """Each operator's joined scope holds its device, and what nobody wrote is a copy, of which
    there are no more than the situation allows.

    Each tensor is in the first pool that it may be in.
    """
    plan = plan_devices(situation.graph, situation.soc, situation.requests)
    homes = candidate_pools(plan.graph, situation.soc)
    pools = {name: each[0] for name, each in homes.items() if each}
    rules = {name: f"the first of {', '.join(homes[name])}" for name in pools}
    told = scopes_of(plan.graph, plan.decisions, plan.log, pools, rules, situation.soc)
    devices = {op.name: op.device for op in plan.graph.operators}
    table = ScopeTable(situation.soc)
    for story in told.operators:
        if story.name in devices:
            assert story.device == devices[story.name]
        assert join(story.joined, table.of(story.device)) is not None
        assert join(story.settled, story.joined) == story.settled
    for tensor in told.tensors:
        scopes = {each.scope.memory_scope for each in tensor.asked} - {""}
        assert scopes <= {tensor.settled.memory_scope}
    written = {op.name for op in situation.graph.operators}
    assert sum(story.name not in written for story in told.operators) <= situation.limit


def test_p2_every_tensor_has_a_pool(situation: Situation) -> None:
    planned = plan_devices(situation.graph, situation.soc, situation.requests).graph
    pools = candidate_pools(planned, situation.soc)
    needs = needs_of(planned, situation.soc)
    assert all(pools[name] for name in planned.by_name if needs[name])
    asked_for = {pin.pools[0] for pins in situation.requests.model.pin.values() for pin in pins}
    assert asked_for <= {tensor.pool for tensor in planned.tensors}


def test_p3_planning_again_changes_nothing(situation: Situation) -> None:
    planned = plan_devices(situation.graph, situation.soc, situation.requests).graph
    assert plan_devices(planned, situation.soc).graph == planned
    names = {tensor.name for tensor in planned.tensors}
    if names >= set(situation.requests.model.pin):
        again = plan_devices(planned, situation.soc, situation.requests).graph
        assert str(again) == str(planned)


def test_p2_the_text_of_a_graph_reads_back(situation: Situation) -> None:
    planned = plan_devices(situation.graph, situation.soc, situation.requests).graph
    assert parse_graph(str(planned)) == planned


def test_p2_the_table_of_the_documentation_is_current() -> None:
    rows = (SITUATIONS[0].parents[3] / "docs" / "placement.md").read_text()
    for path in SITUATIONS:
        text = path.read_text()
        title = text.partition("\n")[0].removeprefix("# ").rstrip(".")
        counts = [re.findall(rf"{words} (\d+) cop", text)[0] for words in ("at most", "planned:")]
        link = f"[{path.stem}](../tests/golden/place/{path.name})"
        told = f"[told](../tests/golden/place_scopes/{path.name})"
        row = f"| {int(path.stem[:2])} | {title} | {link} | {told} | {' | '.join(counts)} |"
        assert row in rows
