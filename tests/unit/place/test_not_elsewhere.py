"""`explain` says of every device, cores included, why an operator does not run there."""

import json
import re
from pathlib import Path

import pytest

from atoll.cli import main

DIGITS = str(Path(__file__).parents[3] / "examples" / "01_digits" / "digits_int8.tflite")
CHIP = """
soc: own
version: 1
host: cpu
devices:
  cpu: {kind: cpu, isa: rv32imc, clock: 50 MHz, stack: {memory: tcm, size: 8 KiB}}
  quick: {kind: dsp, isa: rv32imc, clock: 200 MHz, mailbox: 0x4000_0000, irq: 3,
          code: {memory: flash, size: 64 KiB}, stack: {memory: quick_tcm, size: 8 KiB}}
  mute: {kind: dsp, isa: rv32imc, clock: 50 MHz,
         code: {memory: flash, size: 64 KiB}, stack: {memory: mute_tcm, size: 8 KiB}}
  far: {kind: dsp, isa: rv32imc, clock: 50 MHz, mailbox: 0x4000_1000, irq: 4,
        code: {memory: flash, size: 64 KiB}, stack: {memory: far_tcm, size: 8 KiB}}
memories:
  flash: {origin: 0x0, size: 1 MiB, kind: rom, read_latency: 2}
  tcm: {origin: 0x1000_0000, size: 64 KiB, kind: ram}
  quick_tcm: {origin: 0x1100_0000, size: 64 KiB, kind: ram}
  mute_tcm: {origin: 0x1200_0000, size: 64 KiB, kind: ram}
  far_tcm: {origin: 0x1300_0000, size: 64 KiB, kind: ram}
  sram: {origin: 0x2000_0000, size: 64 KiB, kind: ram}
  far_sram: {origin: 0x2100_0000, size: 64 KiB, kind: ram}
pools:
  weights: {memory: flash, role: constants, others: ro}
  shared: {memory: sram, role: workspace, reach: {far: none}, others: rw}
  lonely: {memory: far_sram, role: workspace, reach: {far: rw}, others: none}
"""


def rejected(
    capsys: pytest.CaptureFixture[str], chip: str, *words: str
) -> dict[str, dict[str, str]]:
    assert main(["explain", chip, DIGITS, *words, "--json"]) == 0
    found = json.loads(capsys.readouterr().out)["operators"]
    return {each["operator"]: each["rejected"] | {each["device"]: "runs it"} for each in found}


def test_every_device_has_a_reason(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "own.yaml"
    path.write_text(CHIP)
    told = rejected(capsys, str(path), "--on-device", "*=cpu")
    told.pop("reshape_7")
    assert all(set(each) == {"cpu", "quick", "mute", "far"} for each in told.values())
    assert told["conv_2d_0"]["mute"].startswith("has no mailbox")


@pytest.mark.parametrize("chip", ["twin", "quad"])
def test_cores_of_shipped_chips_cost_what_their_mailbox_takes(
    chip: str, capsys: pytest.CaptureFixture[str]
) -> None:
    for operator, others in rejected(capsys, chip, "--no-spread").items():
        if operator == "reshape_7":
            continue
        assert len(others) == {"twin": 5, "quad": 4}[chip]
        for device, why in others.items():
            if device in ("dsp", "cpu1", "cpu2", "cpu3"):
                more = re.search(r"about \d+ cycles( and \d+ for copies)?, (\d+) more", why)
                assert more, (operator, device, why)
                assert int(more[2]) >= 900


def test_helpers_are_not_called_slower(capsys: pytest.CaptureFixture[str]) -> None:
    assert rejected(capsys, "quad")["conv_2d_0"] == {"cpu0": "runs it"}


def test_devices_with_one_reason_share_a_line(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["explain", "quad", DIGITS]) == 0
    assert "cpu1, cpu2, cpu3: about 3400 cycles, 900 more" in capsys.readouterr().out
