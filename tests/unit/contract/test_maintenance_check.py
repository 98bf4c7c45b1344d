# SPDX-License-Identifier: Apache-2.0
"""Maintenance of data caches: what the pass writes, and what the check refuses."""

from dataclasses import replace
from pathlib import Path

import pytest
from tests.cached_chips import cached_lagoon, cached_quad, cached_twin
from tests.requests import load_requests

from atoll.contract.maintenance_check import check_maintenance, maintenance_faults
from atoll.diagnostics.errors import Fault, PlanError
from atoll.driver.pipeline import BuildOptions, Compiled, compile_file
from atoll.ir.maintenance import Operation
from atoll.ir.read_module import parse_module
from atoll.memory.problem import Placement
from atoll.resolve import load_soc
from atoll_sim.mutate.caches import cache_omissions

DIGITS = Path(__file__).parents[3] / "examples" / "01_digits" / "digits_int8.tflite"


@pytest.fixture(scope="module")
def lagoon() -> Compiled:
    return compile_file(cached_lagoon(), DIGITS)


@pytest.fixture(scope="module")
def twin() -> Compiled:
    requests = load_requests(None, ("add_3=dsp", "softmax_9=dsp"))
    return compile_file(cached_twin(), DIGITS, BuildOptions(requests=requests))


def operations(compiled: Compiled) -> list[str]:
    steps = compiled.module.entry.steps
    lists = [each for step in steps for each in (step.before, step.after)]
    return [str(one) for each in (*lists, compiled.module.entry.after) for one in each]


def test_the_host_cleans_what_it_wrote_and_forgets_what_others_wrote(lagoon: Compiled) -> None:
    by_step = {step.operator: list(map(str, step.before)) for step in lagoon.module.entry.steps}
    assert by_step["depthwise_conv_2d_4"] == ["cpu clean add_3_out"]
    assert by_step["add_3"] == ["cpu invalidate conv_2d_0_out", "cpu invalidate conv_2d_2_out"]
    assert by_step["conv_2d_5"] == [], "the accelerator's own result, over lines that are clean"


def test_nothing_is_done_for_what_the_accelerator_adds() -> None:
    """It reads and writes memory beside the caches; the host only clears what it had there."""
    compiled = compile_file(cached_lagoon("devices.npu.params.vector=1"), DIGITS)
    (add,) = (step for step in compiled.module.entry.steps if step.operator == "add_3")
    assert (add.device, add.before, add.after) == ("npu", (), ())
    assert [each for each in operations(compiled) if "invalidate" in each] == [
        "cpu invalidate fully_connected_8_out"
    ]


def test_another_core_cleans_at_once_and_the_caller_forgets(twin: Compiled) -> None:
    (add,) = (step for step in twin.module.entry.steps if step.operator == "add_3")
    assert [each.device for each in add.before] == ["dsp", "dsp"]
    assert list(map(str, add.after)) == ["dsp clean add_3_out"]
    assert list(map(str, twin.module.entry.after)) == ["cpu invalidate softmax_9_out"]


def test_the_text_is_read_back(twin: Compiled) -> None:
    assert parse_module(str(twin.module)).entry == twin.module.entry


@pytest.mark.parametrize("chip", ["lagoon", "twin"])
def test_each_operation_that_is_left_out_is_refused(
    chip: str, request: pytest.FixtureRequest
) -> None:
    compiled: Compiled = request.getfixturevalue(chip)
    missing = list(cache_omissions(compiled))
    assert len(missing) == len(operations(compiled)) >= 8
    for each in missing:
        with pytest.raises(PlanError) as caught:
            check_maintenance(each.built.module, compiled.plan, compiled.soc)
        assert {fault.code for fault in caught.value.faults} == {"E108"}, str(each)


def test_a_line_with_two_owners_is_refused(lagoon: Compiled) -> None:
    """The host stores beside what the accelerator wrote, which the caller reads at the end."""
    entry, kept = lagoon.module.entry, "conv_2d_2_out"
    (add,) = (step for step in entry.steps if step.operator == "add_3")
    other = replace(add, reads=("conv_2d_0_out",), before=add.before[:1])
    changed = replace(
        entry,
        steps=tuple(other if step is add else step for step in entry.steps),
        outputs=(kept,),
        after=(add.before[1],),
    )

    def faults(offset: int) -> list[Fault]:
        places = {kept: offset, "add_3_out": offset + entry.sizes[kept]}
        moved = {
            name: Placement(buffer=name, pool="shared", offset=at) for name, at in places.items()
        }
        plan = replace(lagoon.plan, placements={**lagoon.plan.placements, **moved})
        module = replace(lagoon.module, entry=changed)
        return list(maintenance_faults(module, plan, lagoon.soc))

    assert not faults(8192)
    assert any(kept in fault.message for fault in faults(8192 + 16))


def test_shared_buffers_have_lines_for_themselves(twin: Compiled) -> None:
    buffers = {buffer.name: buffer for buffer in twin.plan.problem.buffers}
    assert (buffers["add_3_out"].size, buffers["softmax_9_out"].size) == (1536, 64)
    assert buffers["image"].alignment == 64
    assert buffers["conv_2d_0_out"].alignment == 16, "in a pool that no core reaches"


def test_a_cache_that_writes_through_is_only_invalidated() -> None:
    compiled = compile_file(cached_lagoon("devices.cpu.cache.write_back=false"), DIGITS)
    assert operations(compiled)
    assert all(Operation.INVALIDATE in each for each in operations(compiled))


def test_no_operator_is_spread_over_cores_with_caches() -> None:
    """Their parts of a result would share lines; without caches `quad` spreads."""
    cached, plain = (compile_file(soc, DIGITS) for soc in (cached_quad(), load_soc("quad")))
    assert not any(op.helpers for op in cached.graph.operators)
    assert any(op.helpers for op in plain.graph.operators)


@pytest.mark.parametrize("settings", [(), ("memories.sram.cached=false",)])
def test_nothing_is_done_where_no_cache_works(settings: tuple[str, ...]) -> None:
    soc = cached_lagoon(*settings) if settings else load_soc("lagoon")
    compiled = compile_file(soc, DIGITS)
    assert operations(compiled) == []
    assert " before [" not in str(compiled.module)
    sizes = compiled.module.entry.sizes
    assert all(each.size == sizes[each.name] for each in compiled.plan.problem.buffers)
