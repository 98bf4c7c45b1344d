# SPDX-License-Identifier: Apache-2.0
"""P10: a fault in the code that chains command lists is noticed by the contract, which shares none.

Each fault is planted in `atoll.lower.joined_lists`, which all who make code and lists use.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import cache
from pathlib import Path

import pytest

from atoll.codegen.commands import link_lists
from atoll.contract.contract import contract_of
from atoll.diagnostics.errors import PlanError
from atoll.driver.pipeline import BuildOptions, Compiled, compile_file
from atoll.ir.maintenance import Maintenance, Operation
from atoll.ir.tir import AcceleratorRun, IRModule, Step
from atoll.lower import joined_lists
from atoll.resolve import load_soc
from atoll.resolve.soc import ResolvedSoc

DIGITS = Path(__file__).parents[3] / "examples" / "01_digits" / "digits_int8.tflite"


@cache
def compiled() -> Compiled:
    return compile_file(load_soc("lagoon"), DIGITS, BuildOptions())


def with_upkeep() -> IRModule:
    """Return the program with cache maintenance between two runs of one engine."""
    module = compiled().module
    steps = module.entry.steps
    upkeep = Maintenance("cpu", Operation.CLEAN, steps[0].writes[0])
    changed = (*steps[:3], replace(steps[3], before=(upkeep,)), *steps[4:])
    return replace(module, entry=replace(module.entry, steps=changed))


def lists(module: IRModule) -> Mapping[str, bytes]:
    model = compiled()
    return link_lists(model.commands, module, model.plan, model.soc)


def successions(module: IRModule) -> list[tuple[int, int]]:
    model = compiled()
    found = contract_of(module, model.plan, model.graph, model.soc).successions
    return [(each.before, each.number) for each in found]


def forgets_upkeep(before: Step, step: Step, soc: ResolvedSoc) -> bool:
    return isinstance(before.action, AcceleratorRun) and isinstance(step.action, AcceleratorRun)


def never(before: Step, step: Step, soc: ResolvedSoc) -> bool:
    return False


@pytest.mark.parametrize(
    ("fault", "message"),
    [
        (forgets_upkeep, r"E197.*'conv_2d_2' on 'npu' do not end, as the steps"),
        (never, r"E197.*'conv_2d_0' on 'npu' do not go on with the \d+ of '\w+' at 0x[0-9a-f]{8},"),
    ],
)
def test_p10_a_wrong_chain_is_refused(
    monkeypatch: pytest.MonkeyPatch, fault: Callable[..., bool], message: str
) -> None:
    module = with_upkeep()
    right = successions(module)
    assert (2, 3) not in right
    assert lists(module)
    monkeypatch.setattr(joined_lists, "_follows", fault)
    assert successions(module) == right, "the contract does not ask the code that is wrong"
    with pytest.raises(PlanError, match=message):
        lists(module)


@pytest.mark.parametrize(("address", "count"), [(4, 0), (0, 1)])
def test_p10_a_wrong_link_is_refused(
    monkeypatch: pytest.MonkeyPatch, address: int, count: int
) -> None:
    right = joined_lists.link_command

    def wrong(emitter: object, at: int, number: int) -> bytes:
        return right(emitter, at + address, number + count)  # type: ignore[arg-type]

    monkeypatch.setattr(joined_lists, "link_command", wrong)
    with pytest.raises(PlanError, match=r"E197.*do not go on with"):
        lists(compiled().module)


def test_p10_steps_in_another_order_make_other_chains(monkeypatch: pytest.MonkeyPatch) -> None:
    right = joined_lists.join_lists

    def turned(steps: Sequence[Step], soc: ResolvedSoc) -> list[tuple[Step, ...]]:
        return [tuple(reversed(each)) for each in right(steps, soc)]

    monkeypatch.setattr(joined_lists, "join_lists", turned)
    with pytest.raises(PlanError, match="E197"):
        lists(compiled().module)
