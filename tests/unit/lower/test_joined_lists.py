# SPDX-License-Identifier: Apache-2.0
"""Lists of commands that an engine goes through by itself."""

from dataclasses import replace
from functools import cache
from pathlib import Path

import pytest

from atoll.codegen.commands import link_lists
from atoll.diagnostics.errors import AtollError
from atoll.driver.pipeline import BuildOptions, Compiled, compile_file
from atoll.ir.maintenance import Maintenance, Operation
from atoll.ir.tir import EngineAction, Step
from atoll.lower.joined_lists import join_lists
from atoll.resolve import load_soc
from atoll.resolve.memory_views import device_address
from atoll_sim.engines.common.decode import BYTES
from atoll_sim.engines.reef.decode import Command

ROOT = Path(__file__).parents[3]
DIGITS = ROOT / "examples" / "01_digits" / "digits_int8.tflite"
LINK = "atoll_sim.engines.reef.emitter.ReefEmitter.link"


@cache
def compiled(chip: str, *overrides: str) -> Compiled:
    return compile_file(load_soc(chip, overrides), DIGITS, BuildOptions())


def together(model: Compiled, steps: tuple[Step, ...] | None = None) -> list[list[str]]:
    """Return the operators of each list."""
    found = join_lists(steps or model.module.entry.steps, model.soc)
    return [[step.operator for step in each] for each in found]


def lists(model: Compiled) -> dict[str, bytes]:
    return dict(link_lists(model.commands, model.module, model.plan, model.soc))


def test_successive_operators_are_one_list() -> None:
    model = compiled("lagoon")
    names = [step.operator for step in model.module.entry.steps]
    assert together(model) == [names]
    model = compiled("lagoon", "devices.npu.params.vector=1")
    assert together(model) == [names[:-1], ["softmax_9"]], "which the core runs"


def test_what_goes_on_beside_the_host_is_a_list_of_its_own() -> None:
    model = compiled("twin")
    assert all(len(each) == 1 for each in together(model))
    assert lists(model) == model.commands


def test_nothing_is_joined_where_a_cache_has_to_be_maintained() -> None:
    steps = compiled("lagoon").module.entry.steps
    upkeep = Maintenance("cpu", Operation.CLEAN, steps[0].writes[0])
    before = (*steps[:3], replace(steps[3], before=(upkeep,)), *steps[4:])
    names = [step.operator for step in steps]
    expected = [names[:3], names[3:]]
    assert together(compiled("lagoon"), before) == expected
    after = (*steps[:2], replace(steps[2], after=(upkeep,)), *steps[3:])
    assert together(compiled("lagoon"), after) == expected


def test_an_engine_that_cannot_is_started_for_each_operator(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.delattr(LINK)
    assert all(len(each) == 1 for each in together(compiled("lagoon")))


def test_each_list_but_the_last_ends_with_a_link_to_the_next() -> None:
    """The count is that of the next list, its own link included."""
    model = compiled("lagoon")
    found, steps = lists(model), next(join_lists(model.module.entry.steps, model.soc))
    for place, step in enumerate(steps):
        assert isinstance(step.action, EngineAction)
        name, own = step.action.commands, step.action.count * BYTES
        data = found[name]
        assert data[:own] == model.commands[name][:own]
        assert len(data) == len(model.commands[name]) == own + BYTES
        if step is steps[-1]:
            assert data[own:] == bytes(BYTES)
            continue
        command, following = Command.from_bytes(data[own:]), steps[place + 1].action
        assert isinstance(following, EngineAction)
        goes_on = following is not steps[-1].action
        address = device_address(model.soc, "npu", model.plan.address(following.commands))
        assert command.links
        assert command.words[1:3] == (address, following.count + goes_on)
        assert command.error(load_soc("lagoon").engines[0].params) == 0


def test_p10_the_contract_says_which_read_ends_which_operator() -> None:
    model = compiled("lagoon")
    (steps,) = join_lists(model.module.entry.steps, model.soc)
    assert [(each.before, each.number) for each in model.contract.successions] == [
        (step.number, step.number + 1) for step in steps[:-1]
    ]
    addresses = [each.address for each in model.contract.successions]
    assert addresses == [
        model.plan.address(step.action.commands)
        for step in steps[1:]
        if isinstance(step.action, EngineAction)
    ]
    assert compiled("twin").contract.successions == ()


@pytest.mark.parametrize("made", [None, b"", 7])
def test_what_is_no_command_is_refused(monkeypatch: pytest.MonkeyPatch, made: object) -> None:
    monkeypatch.setattr(LINK, lambda self, address, count: made)
    with pytest.raises(AtollError, match=r"E112.*'link' returned .*no bytes of a command"):
        lists(compiled("lagoon"))


def test_a_mistake_in_the_code_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    def wrong(self: object, address: int, count: int) -> bytes:
        raise ValueError("no links today")

    monkeypatch.setattr(LINK, wrong)
    with pytest.raises(AtollError, match=r"E111.*no links today"):
        lists(compiled("lagoon"))


@pytest.mark.parametrize("size", [32, 128])
def test_a_link_is_as_large_as_a_command(monkeypatch: pytest.MonkeyPatch, size: int) -> None:
    monkeypatch.setattr(LINK, lambda self, address, count: bytes(size))
    message = rf"E112.*'link' for operator 'conv_2d_0'.* returned {size} bytes, where .* has 64"
    with pytest.raises(AtollError, match=message):
        compile_file(load_soc("lagoon"), DIGITS, BuildOptions())
