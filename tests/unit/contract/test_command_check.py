# SPDX-License-Identifier: Apache-2.0
"""Commands are held against the addresses at which their engine sees what the operator touches."""

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

import pytest
from tests.misled import misled

from atoll.codegen.commands import encode_commands
from atoll.contract.command_check import check_commands, command_faults
from atoll.diagnostics.errors import PlanError
from atoll.driver.pipeline import Compiled, compile_file
from atoll.resolve import load_soc
from atoll.resolve.soc import ResolvedSoc

ROOT = Path(__file__).parents[3]
SHORE = ROOT / "tests" / "data" / "shore.yaml"
DIGITS = ROOT / "examples" / "01_digits" / "digits_int8.tflite"


@pytest.fixture(scope="module")
def shore() -> Compiled:
    return compile_file(load_soc(SHORE), DIGITS)


def encoded(compiled: Compiled, soc: ResolvedSoc) -> Mapping[str, bytes]:
    """Return the lists that engines of `soc` would get."""
    given = (compiled.jobs, compiled.copies, compiled.plan, compiled.splits)
    return encode_commands(compiled.graph, soc, *given)


def test_the_commands_of_each_engine_are_accepted(shore: Compiled) -> None:
    check_commands(shore.module, shore.contract, encoded(shore, shore.soc), shore.soc)


@pytest.mark.parametrize(("device", "memory"), [("npu", "flash"), ("npu", "sram"), ("dma", "dtcm")])
def test_a_translation_that_leaves_a_view_out(shore: Compiled, device: str, memory: str) -> None:
    """What the address of each operand should be is not asked of whoever encodes it."""
    memories = tuple(
        replace(each, views={d: at for d, at in each.views.items() if d != device})
        if each.name == memory
        else each
        for each in shore.soc.memories
    )
    forgetful = encoded(shore, replace(shore.soc, memories=memories))
    faults = tuple(command_faults(shore.module, shore.contract, forgetful, shore.soc))
    assert {fault.code for fault in faults} == {"E121"}
    assert all(f"'{device}' sees nothing" in fault.message for fault in faults)


def test_each_mutant_with_the_address_of_another_device_is_refused(shore: Compiled) -> None:
    builds = misled(shore, 40, seed=7)
    assert len(builds) == 40
    right_lists = encoded(shore, shore.soc)
    for built in builds:
        lists = {name: built.commands[name][: len(data)] for name, data in right_lists.items()}
        with pytest.raises(PlanError, match="E121"):
            check_commands(shore.module, shore.contract, lists, shore.soc)
