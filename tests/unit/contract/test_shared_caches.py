# SPDX-License-Identifier: Apache-2.0
"""Maintenance of a data cache of several cores: what it takes, and what the check refuses."""

from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path
from types import ModuleType

import pytest
from tests import tflite_samples
from tests.cached_chips import (
    APART,
    NOT_OF_THE_HOST,
    SHARED_BY_INSTRUCTIONS,
    SHARED_BY_REGISTERS,
)
from tests.requests import load_requests

from atoll.contract.maintenance_check import maintenance_faults
from atoll.driver.pipeline import BuildOptions, Compiled, compile_file
from atoll.ir.maintenance import Maintenance, Operation
from atoll.ir.tir import CallSpread, CallStart, Entry, Step
from atoll.resolve import load_soc
from atoll_sim.mutate.caches import cache_omissions

DIGITS = Path(__file__).parents[3] / "examples" / "01_digits" / "digits_int8.tflite"
ON_THE_SECOND = ("add_3=cpu_1", "softmax_9=cpu_1")
WITHOUT_REEF = "devices.npu=null"


def compiled(
    chip: Path, *settings: str, placed: Iterable[str] = ON_THE_SECOND, model: Path = DIGITS
) -> Compiled:
    options = BuildOptions(requests=load_requests(None, list(placed)))
    return compile_file(load_soc(chip, settings), model, options)


def operations(program: Compiled) -> list[str]:
    entry = program.module.entry
    steps = (each for step in entry.steps for each in (*step.before, *step.after))
    return [str(each) for each in (*steps, *entry.after)]


def with_entry(program: Compiled, entry: Entry) -> Compiled:
    return replace(program, module=replace(program.module, entry=entry))


def faults(program: Compiled) -> list[str]:
    found = maintenance_faults(program.module, program.plan, program.soc)
    return [each.message for each in found]


@pytest.fixture
def branches(tflite_builder: ModuleType, tmp_path: Path) -> Path:
    """Three chains of operators over one input, which may run at the same time."""
    path = tmp_path / "branches.tflite"
    path.write_bytes(tflite_builder.write(tflite_samples.branches(tflite_builder)))
    return path


@pytest.mark.parametrize("chip", [SHARED_BY_REGISTERS, SHARED_BY_INSTRUCTIONS])
def test_the_host_maintains_what_another_core_loads_and_stores(chip: Path) -> None:
    program = compiled(chip)
    (add,) = (step for step in program.module.entry.steps if step.operator == "add_3")
    assert add.device == "cpu_1"
    assert list(map(str, add.before)) == [
        "cpu_0 invalidate conv_2d_0_out",
        "cpu_0 invalidate conv_2d_2_out",
    ]
    assert add.after == ()
    assert {each.split()[0] for each in operations(program)} == {"cpu_0"}
    assert len(operations(program)) == 8
    assert program.module.entry.after == (), "the result is in the host's cache, too"


@pytest.mark.parametrize("chip", [SHARED_BY_REGISTERS, SHARED_BY_INSTRUCTIONS])
def test_two_caches_take_more_operations(chip: Path) -> None:
    assert len(operations(compiled(chip, *APART))) == 10


def test_between_such_cores_nothing_is_done() -> None:
    together, apart = (
        compiled(SHARED_BY_REGISTERS, WITHOUT_REEF, *settings) for settings in ((), APART)
    )
    assert operations(together) == []
    assert len(operations(apart)) == 10


def test_their_buffers_need_no_lines_for_themselves() -> None:
    """With caches of their own the same network takes more, as its buffers end at lines."""
    together, apart = (
        compiled(SHARED_BY_REGISTERS, WITHOUT_REEF, *settings) for settings in ((), APART)
    )
    sizes = together.module.entry.sizes
    assert all(each.size == sizes[each.name] for each in together.plan.problem.buffers)
    aligned = {each.name: each.size for each in apart.plan.problem.buffers}
    assert aligned["softmax_9_out"] == 64 > sizes["softmax_9_out"]


def test_operators_are_spread_over_cores_of_the_host_s_cache() -> None:
    def spread(*settings: str) -> set[tuple[str, ...]]:
        program = compiled(SHARED_BY_INSTRUCTIONS, WITHOUT_REEF, *settings, placed=())
        steps = program.module.entry.steps
        return {step.devices for step in steps if isinstance(step.action, CallSpread)}

    assert spread() == {("cpu_0", "cpu_1")}
    assert spread(*APART) == set()
    assert spread(*NOT_OF_THE_HOST, "default_device=cpu_0") == set(), "nobody maintains it before"


def test_a_core_of_the_host_s_cache_does_not_maintain_it() -> None:
    program = compiled(SHARED_BY_INSTRUCTIONS)
    entry = program.module.entry

    def by_the_second(step: Step) -> Step:
        if step.device != "cpu_1":
            return step
        return replace(step, before=tuple(replace(each, device="cpu_1") for each in step.before))

    changed = replace(entry, steps=tuple(map(by_the_second, entry.steps)))
    assert faults(with_entry(program, changed)) == [
        f"'cpu_1 invalidate {name}' is what the host does, which has the same cache"
        for name in ("conv_2d_0_out", "conv_2d_2_out", "fully_connected_8_out")
    ]


def test_what_a_core_forgets_the_others_forget_when_its_step_has_ended(branches: Path) -> None:
    """Two cores that begin at once each forget the input; one that begins later need not."""
    placed = [f"conv_2d_{number}=cpu_{number // 2}" for number in range(4)]
    placed += ["max_pool_2d_5=cpu_0", "max_pool_2d_6=cpu_1", "add_7=cpu_1"]
    settings = (WITHOUT_REEF, *NOT_OF_THE_HOST)
    program = compiled(SHARED_BY_INSTRUCTIONS, *settings, placed=placed, model=branches)
    entry = program.module.entry
    starts = {step.operator: step for step in entry.steps if isinstance(step.action, CallStart)}
    for operator, core in (("conv_2d_0", "cpu_0"), ("conv_2d_2", "cpu_1")):
        assert Maintenance(core, Operation.INVALIDATE, "act") in starts[operator].before
    assert starts["max_pool_2d_5"].before == ()
    assert not faults(program)
    for each in cache_omissions(program):
        needed = each.operation.device == "dsp" or each.operation.operation is Operation.INVALIDATE
        assert faults(each.built) or not needed, str(each)


def test_a_line_that_another_cache_may_write_back_later_is_not_sure(branches: Path) -> None:
    """What a core stored and cleaned may come back from memory, where the host's cache wrote."""
    placed = ["conv_2d_0=cpu_0", "conv_2d_1=cpu_0", "conv_2d_2=cpu_1", "conv_2d_3=cpu_1"]
    settings = (WITHOUT_REEF, *NOT_OF_THE_HOST)
    program = compiled(SHARED_BY_INSTRUCTIONS, *settings, placed=placed, model=branches)
    (left,) = (
        each
        for each in cache_omissions(program)
        if each.operation == Maintenance("dsp", Operation.CLEAN, "conv_2d_0_out")
    )
    assert "'conv_2d_0_out' is read by 'conv_2d_1' on 'cpu_0', which may find old bytes" in faults(
        left.built
    )
