# SPDX-License-Identifier: Apache-2.0
"""Maintenance of the data cache of an accelerator, which the host does."""

from dataclasses import replace
from pathlib import Path

import pytest
from tests.cached_chips import CORTEX_M7, IN_RAM, NPU

from atoll.codegen.c.source import emit_sources
from atoll.contract.maintenance_check import maintenance_faults
from atoll.driver.pipeline import Compiled, compile_file
from atoll.ir.maintenance import Maintenance, Operation
from atoll.ir.read_module import parse_module
from atoll.ir.tir import AcceleratorRun, AcceleratorStart, AcceleratorWait
from atoll.resolve import load_soc

DIGITS = Path(__file__).parents[3] / "examples" / "01_digits" / "digits_int8.tflite"
BY_THE_HOST = "devices.npu.params.vector=0"
"""The host adds."""


def build(*settings: str) -> Compiled:
    return compile_file(load_soc(NPU, (BY_THE_HOST, *settings)), DIGITS)


@pytest.fixture(scope="module")
def plain() -> Compiled:
    return build()


def operations(compiled: Compiled) -> dict[str, list[str]]:
    steps = compiled.module.entry.steps
    return {step.operator: list(map(str, step.before)) for step in steps if step.before}


def test_it_is_cleaned_before_others_read_and_forgets_what_they_wrote(plain: Compiled) -> None:
    assert operations(plain) == {
        "conv_2d_0": ["npu invalidate image"],
        "add_3": ["npu clean conv_2d_0_out", "npu clean conv_2d_2_out"],
        "depthwise_conv_2d_4": ["npu invalidate add_3_out"],
        "softmax_9": ["npu clean fully_connected_8_out"],
    }
    assert not any(step.after for step in plain.module.entry.steps)


def test_nothing_stays_in_it_when_a_run_ends(plain: Compiled) -> None:
    """Nobody reads these any more; later they would be written over what is there then."""
    left = list(map(str, plain.module.entry.after))
    assert left == [
        "npu clean average_pool_2d_6_out",
        "npu clean conv_2d_5_out",
        "npu clean depthwise_conv_2d_1_out",
    ]
    for place in range(len(left)):
        after = tuple(each for at, each in enumerate(plain.module.entry.after) if at != place)
        entry = replace(plain.module.entry, after=after)
        (fault,) = maintenance_faults(replace(plain.module, entry=entry), plain.plan, plain.soc)
        assert fault.message == "'npu' may write back lines when the run has ended"


def test_what_is_written_through_is_not_cleaned() -> None:
    compiled = build("devices.npu.cache.write_back=false")
    told = [each for list_ in operations(compiled).values() for each in list_]
    assert told == ["npu invalidate image", "npu invalidate add_3_out"]
    assert compiled.module.entry.after == ()


def test_constants_in_ram_are_read_anew() -> None:
    compiled = build(*IN_RAM)
    found = operations(compiled)["depthwise_conv_2d_1"]
    assert found == [
        f"npu invalidate depthwise_conv_2d_1_{part}"
        for part in ("weights", "parameters", "commands")
    ]


def test_memories_that_it_does_not_keep_need_nothing() -> None:
    compiled = build("devices.npu.cache.memories=[dtcm]")
    assert (operations(compiled), compiled.module.entry.after) == ({}, ())


def test_its_lines_reach_memory_before_the_host_s_cache_takes_them_in() -> None:
    compiled = build(*CORTEX_M7[:4])
    assert operations(compiled)["add_3"] == [
        "npu clean conv_2d_0_out",
        "npu clean conv_2d_2_out",
        "cpu invalidate conv_2d_0_out",
        "cpu invalidate conv_2d_2_out",
    ]


def test_a_dirty_line_of_another_cache_is_a_danger_to_what_it_holds() -> None:
    """What leaves its cache for lack of room is overwritten, and comes back so."""
    compiled = build(*CORTEX_M7[:4])
    entry = compiled.module.entry
    steps = tuple(
        replace(step, before=()) if step.operator == "depthwise_conv_2d_1" else step
        for step in entry.steps
    )
    assert steps != entry.steps
    wrong = replace(compiled.module, entry=replace(entry, steps=steps))
    found = [each.message for each in maintenance_faults(wrong, compiled.plan, compiled.soc)]
    assert found[0] == (
        "'depthwise_conv_2d_1_out' is read by 'conv_2d_2' on 'npu', which may find old bytes"
    )


def test_what_it_is_writing_is_left_alone(plain: Compiled) -> None:
    entry = plain.module.entry
    first, *others = entry.steps
    assert isinstance(first.action, AcceleratorRun)
    run = first.action
    start = replace(first, action=AcceleratorStart(run.device, run.commands, run.count))
    upkeep = (Maintenance("npu", Operation.CLEAN, first.writes[0]),)
    wait = replace(first, action=AcceleratorWait("npu"), before=upkeep, reads=())
    steps = (start, wait, *others)
    wrong = replace(plain.module, entry=replace(entry, steps=steps))
    messages = [each.message for each in maintenance_faults(wrong, plain.plan, plain.soc)]
    assert messages == [f"'npu clean {first.writes[0]}' is of a buffer that 'npu' is writing"]


def test_the_text_is_read_back(plain: Compiled) -> None:
    assert parse_module(str(plain.module)).entry == plain.module.entry


def test_c_names_the_accelerator(plain: Compiled) -> None:
    sources = emit_sources(plain.module, plain.plan, plain.soc, plain.commands)
    text = sources["cpu"]
    assert "void atoll_npu_cache_clean(int32_t device, const void *address, uint32_t size);" in text
    assert text.count("  atoll_npu_cache_clean(devices->npu, ") == 6
    assert text.count("  atoll_npu_cache_invalidate(devices->npu, ") == 2
    assert "atoll_cache_clean" not in text
