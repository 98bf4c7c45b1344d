# SPDX-License-Identifier: Apache-2.0
"""What does not fit is told all that it needs at once, in edits with which it fits."""

import json
import re
from dataclasses import replace
from pathlib import Path

import pytest
from tests.requests import load_requests

from atoll.artifacts.build_tree import build
from atoll.cli import main
from atoll.diagnostics.errors import AtollError, Fault
from atoll.driver.pipeline import BuildOptions, compile_file
from atoll.resolve import load_soc

DIGITS = Path(__file__).parents[2] / "examples" / "01_digits" / "digits_int8.tflite"
EDIT = re.compile(r"'([\w.]+)' to (0x\w+|[0-9]+(?: [KM]?i?B)?)")

CRAMPED: dict[str, tuple[str, tuple[str, ...]]] = {
    "a pool": ("lagoon", ("pools.shared.size=1 KiB", "pools.private.size=16")),
    "two pools": ("lagoon", ("pools.shared.size=1 KiB", "pools.weights.size=1 KiB")),
    "constants": ("lagoon", ("pools.weights.size=4 KiB",)),
    "a memory without another pool": (
        "lagoon",
        ("memories.sram.size=1 KiB", "pools.private.size=16"),
    ),
    "a memory before its neighbour": (
        "lagoon",
        (
            "memories.sram.size=1 KiB",
            "memories.dtcm.origin=0x20000400",
            "pools.private.size=16",
        ),
    ),
    "a pool that fills its memory": (
        "lagoon",
        ("memories.sram.size=1 KiB", "pools.shared.size=1 KiB", "pools.private.size=16"),
    ),
    "memories of accelerators and cores": (
        "twin",
        (
            "memories.large_sram.size=1 KiB",
            "memories.sram.size=1 KiB",
            "pools.cpu_local.size=16",
            "pools.dsp_local.size=16",
        ),
    ),
    "flash": ("lagoon", ("memories.flash.size=4 KiB", "devices.cpu.code.memory=flash")),
    "a stack": ("lagoon", ("devices.cpu.stack.size=1040",)),
    "a limit": ("lagoon", ("devices.cpu.limits.max_stack_size=1040",)),
}


LINKED = ("a stack", "a limit")
"""What the linked image alone tells."""


def refusal(chip: str, overrides: tuple[str, ...], built: Path | None = None) -> tuple[Fault, ...]:
    """Return why the digits network has no plan as it is on a chip, () if it has one.

    With a folder to be `built` in, also why it has no firmware.
    """
    asked = load_requests(None)
    whole = replace(asked, model=asked.model.model_copy(update={"tile": "never"}))
    try:
        found = compile_file(load_soc(chip, overrides), DIGITS, BuildOptions(requests=whole))
        if built:
            build((found,), built)
    except AtollError as error:
        return error.faults
    return ()


@pytest.mark.parametrize("name", CRAMPED)
def test_the_first_remedy_is_enough(name: str, tmp_path: Path) -> None:
    chip, overrides = CRAMPED[name]
    folder = tmp_path / "built" if name in LINKED else None
    faults = refusal(chip, overrides, folder)
    assert faults
    assert len({fault.remedy for fault in faults}) == 1
    edits = EDIT.findall(faults[0].remedy or "")
    assert edits, faults[0].remedy
    assert refusal(chip, (*overrides, *(f"{key}={value}" for key, value in edits)), folder) == ()


def test_c5_an_operator_that_a_pin_keeps_off_an_accelerator_says_so() -> None:
    pins = load_requests(None, (), ("conv_2d_0_out=private",), (), None)
    soc = load_soc("lagoon", ("devices.npu.params.vector=1",))
    compiled = compile_file(soc, DIGITS, BuildOptions(requests=pins))
    reasons = {each.operator: each.reason for each in compiled.decisions}
    assert reasons["conv_2d_0"] == "pins keep it off npu, which could run it"
    assert reasons["add_3"] == "pins keep it off npu, which could run it", "it reads that tensor"
    assert reasons["softmax_9"] == "no accelerator can run it"


def test_live_bytes_that_are_more_than_what_is_needed_are_explained() -> None:
    (fault,) = refusal("lagoon", ("pools.shared.size=2 KiB", "pools.private.size=16"))
    assert "lie over operands" in fault.message


def test_p1_c7_what_has_room_on_other_devices_runs_exactly(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Two convolutions leave the accelerator whose memory is too small, and others stay."""
    whole = tmp_path / "whole.yaml"
    whole.write_text("tile: never\n")
    small = ["--set", "memories.large_sram.size=1 KiB", "--build", str(whole), "--json"]
    assert main(["explain", "twin", str(DIGITS), *small]) == 0
    operators = json.loads(capsys.readouterr().out)["operators"]
    devices = {each["operator"]: each["device"] for each in operators}
    assert devices["conv_2d_0"] == devices["conv_2d_2"] == "cpu"
    assert devices["conv_2d_5"] == "npu_large"
    (first,) = (each for each in operators if each["operator"] == "conv_2d_0")
    assert "the search has it elsewhere" in str(first["rejected"])
    assert main(["run", "twin", str(DIGITS), *small, "--cpu", "iss"]) == 0
    report = json.loads(capsys.readouterr().out)
    assert report["bit_exact"]
    assert report["placement"]["violations"] == []
