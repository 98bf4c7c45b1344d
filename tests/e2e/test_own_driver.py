# SPDX-License-Identifier: Apache-2.0
"""A C driver that the author of an accelerator wrote brings it up and runs it."""

from pathlib import Path

import pytest

from atoll.cli import main

ROOT = Path(__file__).parents[2]
SHIPPED = ROOT / "compiler" / "atoll" / "bsp" / "drivers"
DIGITS = str(ROOT / "examples" / "01_digits" / "digits_int8.tflite")
IDEA = """accelerator: idea
version: 1
operators: {CONV_2D: {}, FULLY_CONNECTED: {}}
driver: ./mine.c
"""


@pytest.fixture
def chip(tmp_path: Path) -> str:
    """lagoon with an accelerator that has a driver of its own: another name for the shipped one."""
    for end in (".c", ".h"):
        text = (SHIPPED / f"command_list{end}").read_text()
        text = text.replace("command_list", "mine").replace("COMMAND_LIST", "MINE")
        (tmp_path / f"mine{end}").write_text(text)
    (tmp_path / "idea.yaml").write_text(IDEA)
    lagoon = (ROOT / "socs" / "lagoon.yaml").read_text()
    params = "    params: {input_lanes: 8, output_lanes: 8, vector: 2}\n"
    assert params in lagoon
    text = lagoon.replace(params, "").replace("accelerator: reef", "accelerator: ./idea.yaml")
    (tmp_path / "chip.yaml").write_text(text)
    return str(tmp_path / "chip.yaml")


def test_it_runs(chip: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["run", chip, DIGITS, "--cpu", "iss"]) == 0
    assert "10 of 10 layers bit-exact" in capsys.readouterr().out
    source = tmp_path / "mine.c"
    begin = source.read_text().index("{", source.read_text().index("int32_t atoll_mine_open("))
    text = source.read_text()
    source.write_text(f"{text[: begin + 1]} return ATOLL_ERROR_ORDER;{text[begin + 1 :]}")
    assert main(["run", chip, DIGITS, "--cpu", "iss"]) == 1, "it is the driver that runs"
    capsys.readouterr()


MISTAKES = {
    "no driver": ("mine.c", "is not there"),
    "no header": ("mine.h", "is not there"),
}


@pytest.mark.parametrize("name", MISTAKES)
def test_a_mistake_is_one_error(
    name: str, chip: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file, told = MISTAKES[name]
    (tmp_path / file).unlink()
    assert main(["run", chip, DIGITS, "--cpu", "iss"]) == 1
    said = capsys.readouterr().err
    assert said.count("error[") == 1
    assert "idea.yaml:4:9: error[E071]" in said
    assert told in said


def test_a_name_of_ours_is_taken(
    chip: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for end in (".c", ".h"):
        (tmp_path / f"mailbox{end}").write_text("")
    (tmp_path / "idea.yaml").write_text(IDEA.replace("mine.c", "mailbox.c"))
    assert main(["run", chip, DIGITS, "--cpu", "iss"]) == 1
    assert "is called 'mailbox', as one of Atoll's" in capsys.readouterr().err
