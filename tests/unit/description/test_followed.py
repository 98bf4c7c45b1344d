# SPDX-License-Identifier: Apache-2.0
"""Remedies that once failed when somebody followed them."""

import re
from pathlib import Path

import pytest

from atoll.cli import main
from atoll.description.accelerator_files import load_accelerator
from atoll.diagnostics.errors import AtollError
from atoll.resolve import load_soc

MODEL = str(Path(__file__).parents[3] / "examples" / "01_digits" / "digits_int8.tflite")


def test_a_formula_with_a_comma_is_to_be_quoted(tmp_path: Path) -> None:
    path = tmp_path / "own.yaml"
    text = "accelerator: own\nversion: 1\noperators:\n  ADD: {cost: 100 + ceil(elements, 8)}\n"
    path.write_text(text)
    with pytest.raises(AtollError) as caught:
        load_accelerator(path, None)
    (fault,) = caught.value.faults
    found = re.fullmatch(r"quote it: write '(.*)'", fault.remedy or "")
    assert found
    path.write_text(text.replace("cost: 100 + ceil(elements, 8)", found[1]))
    assert load_accelerator(path, None).model.operators["ADD"].cost == "100 + ceil(elements, 8)"


def test_a_key_that_is_no_part_of_a_torn_formula_is_still_unknown(tmp_path: Path) -> None:
    path = tmp_path / "own.yaml"
    cost = "{cost: 100 + ceil(elements, 8), nothing: 3}"
    path.write_text(f"accelerator: own\nversion: 1\noperators:\n  ADD: {cost}\n")
    with pytest.raises(AtollError) as caught:
        load_accelerator(path, None)
    assert [fault.code for fault in caught.value.faults] == ["E012", "E011"]


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("run", MODEL, "lagoon"), "give the chip first, then the model"),
        (("check", MODEL), "is a TFLite model, and no description"),
        (("accelerator", "test", "CHIP"), "describes a chip, and not an accelerator"),
    ],
)
def test_files_in_each_others_place(
    words: tuple[str, ...], said: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    chip = tmp_path / "chip.yaml"
    chip.write_text("soc: own\nversion: 1\nhost: cpu\n")
    assert main([str(chip) if word == "CHIP" else word for word in words]) == 1
    told = capsys.readouterr().err
    assert said in told
    assert told.count("error[") == told.count("error[E190]") == 1


def test_a_memory_that_is_too_large_is_to_be_as_large_as_one_can_be(tmp_path: Path) -> None:
    """A smaller one would not hold the pools."""
    chip = tmp_path / "chip.yaml"
    chip.write_text(
        "extends: lagoon\nsoc: own\n"
        "memories: {dram: {origin: 0x8000_0000, size: 16 GiB, kind: ram}}\n"
        "pools: {big: {memory: dram, role: workspace, size: 64 MiB, others: rw}}\n"
    )
    with pytest.raises(AtollError) as caught:
        load_soc(chip)
    (fault,) = caught.value.faults
    assert str(fault.remedy).startswith("write 'size: 2 GiB'; 'origin' says which part")
    load_soc(chip, ("memories.dram.size=1 GiB",))


@pytest.mark.parametrize(
    "key", ["memories.sram.size", "pools.shared.size", "devices.cpu.stack.size", "pools.more.size"]
)
def test_no_remedy_repeats_a_size_that_is_refused(key: str) -> None:
    more = "pools.more={memory: sram, role: workspace, size: 1 KiB, others: rw}"
    with pytest.raises(AtollError) as caught:
        load_soc("lagoon", (more, f"{key}=16 GiB"))
    assert all("16 GiB" not in (fault.remedy or "") for fault in caught.value.faults)


def test_a_core_that_does_not_ship_is_not_to_be_left_out() -> None:
    with pytest.raises(AtollError) as caught:
        load_soc("lagoon", ("devices.cpu.core=cortex_m35p", "devices.cpu.isa=armv8-m.main"))
    assert "leave it out" not in str(caught.value)
    assert "describe it in a file of your own" in str(caught.value)
