# SPDX-License-Identifier: Apache-2.0
"""The passes of placement: each is a stage, each result is verified, and a fault is noticed."""

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from atoll.diagnostics.errors import AtollError
from atoll.driver import stages
from atoll.driver.pipeline import STAGES, compile_file
from atoll.ir.faults import ProgramError
from atoll.ir.graph import Graph
from atoll.ir.read_graph import parse_graph
from atoll.ops.verify_graph import verify_graph
from atoll.place import passes
from atoll.place.passes import DEVICE_PASSES, STORAGE_PASSES, Placing
from atoll.resolve import load_soc

DIGITS = Path(__file__).parents[3] / "examples" / "01_digits" / "digits_int8.tflite"
NAMES = [each.name for each in (*DEVICE_PASSES, *STORAGE_PASSES)]
TEXT = """graph m(x) -> (y)
  %x: int8[1x4] scale (0.5) zero (0)
  %a: int8[1x4] scale (0.5) zero (0)
  %y: int8[1x4] scale (0.5) zero (0)

  %a = relu(%x) {} : cpu  # relu_0
  %y = relu(%a) {} : cpu  # relu_1
"""


def test_each_pass_is_a_stage_that_is_told_once_in_its_order() -> None:
    told: list[str] = []

    def observe(stage: str, result: object) -> None:
        told.append(stage)

    compile_file(load_soc("quad"), DIGITS, observe=observe)
    begin = told.index(NAMES[0])
    placing = [*NAMES, "stream-constants", "spread-operators", "place"]
    assert told[begin : begin + len(placing)] == placing
    assert set(told) == set(STAGES)
    assert all(told.count(name) == told.count("place") for name in placing)


def drop_first(graph: Graph) -> Graph:
    return graph.with_operators(graph.operators[1:])


def reverse(graph: Graph) -> Graph:
    return graph.with_operators(reversed(graph.operators))


def repeat(graph: Graph) -> Graph:
    return graph.with_operators((*graph.operators, graph.operators[-1]))


def rename(graph: Graph) -> Graph:
    return replace(graph, outputs=("a",))


def lose_an_operand(graph: Graph) -> Graph:
    first, *others = graph.operators
    return graph.with_operators((replace(first, inputs=()), *others))


FAULTS = (drop_first, reverse, repeat, rename, lose_an_operand)


@pytest.mark.parametrize("fault", FAULTS)
def test_a_wrong_graph_is_refused(fault: Callable[[Graph], Graph]) -> None:
    graph = parse_graph(TEXT)
    verify_graph(graph)
    with pytest.raises(AtollError, match=r"E078|E054"):
        verify_graph(fault(graph), graph)


@pytest.mark.parametrize("name", NAMES)
def test_a_fault_in_a_pass_is_noticed_behind_it(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    def wrong(each: passes.PlacePass) -> passes.PlacePass:
        def run(placing: Placing) -> Placing:
            made = each.run(placing)
            return replace(made, graph=reverse(made.graph))

        return replace(each, run=run) if each.name == name else each

    right = (*passes.DEVICE_PASSES,), (*passes.STORAGE_PASSES,)
    monkeypatch.setattr("atoll.place.plan_devices.DEVICE_PASSES", tuple(map(wrong, right[0])))
    monkeypatch.setattr(stages, "STORAGE_PASSES", tuple(map(wrong, right[1])))
    with pytest.raises(ProgramError, match=r"E078.*reads '\w+' before it is written"):
        compile_file(load_soc("twin"), DIGITS)
