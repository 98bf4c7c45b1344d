# SPDX-License-Identifier: Apache-2.0
"""Descriptions of accelerators are found by name or path and checked in themselves."""

from pathlib import Path

import pytest

from atoll.description.accelerator import Parameter
from atoll.description.accelerator_files import find_accelerator, load_accelerator
from atoll.description.share import shared_folder
from atoll.diagnostics.errors import AtollError
from atoll.resolve import load_soc

REEF = find_accelerator("reef", Path(), None)


def faults(text: str, folder: Path) -> list[str]:
    """Return ``code message`` of every fault of an accelerator's YAML."""
    path = folder / "mine.yaml"
    path.write_text(text)
    with pytest.raises(AtollError) as caught:
        load_accelerator(path, None)
    assert all(fault.remedy for fault in caught.value.faults)
    return [f"{fault.code} {fault.message}" for fault in caught.value.faults]


@pytest.mark.parametrize(
    ("old", "new", "start"),
    [
        ("STATUS: 0x10", "STATUS: 0x0C", "E031 registers 'CONTROL' and 'STATUS'"),
        ("STATUS: 0x10", "STATUS: 0x12", "E038 register 'STATUS' at 0x12"),
        ("STATUS: 0x10", "STATUS: 0x1000", "E038 register 'STATUS' at 0x1000"),
        ("size: 4 KiB", "size: 8 KiB", "E038 a register block of 8 KiB"),
        ("{default: 8, choices: [4, 8, 16]}", "{default: 5, choices: [4, 8]}", "E045 the default"),
        ("at_least: [input_lanes,", "at_least: [input_lane,", "E024 parameter 'data_bytes'"),
        ("in_width: {max: 65535}", "in_width: {min: 3, max: 2}", "E045 no CONV_2D"),
        ("emitter: atoll", "emitter: no entry", "E012 'emitter' must be an entry point"),
        ("CONV_2D:", "conv:", "E014 'conv' in 'operators'"),
    ],
)
def test_contradictions(old: str, new: str, start: str, tmp_path: Path) -> None:
    text = REEF.read_text()
    assert old in text
    (found,) = faults(text.replace(old, new, 1), tmp_path)
    assert found.startswith(start)


@pytest.mark.parametrize(
    ("limits", "value", "allowed"),
    [
        ({"choices": (4, 8)}, 8, True),
        ({"choices": (4, 8)}, 6, False),
        ({"min": 4}, 4, True),
        ({"min": 4}, 3, False),
        ({"max": 4}, 4, True),
        ({"max": 4}, 5, False),
        ({"power_of_two": True}, 16, True),
        ({"power_of_two": True}, 12, False),
        ({"power_of_two": True}, -4, False),
        ({"at_least": ("a", "b")}, 16, True),
        ({"at_least": ("a", "b")}, 15, False),
    ],
)
def test_objections(limits: dict[str, object], value: int, allowed: bool) -> None:
    parameter = Parameter.model_validate({"default": 8, **limits})
    assert (parameter.objection(value, {"a": 4, "b": 16}) is None) == allowed


def test_paths_are_relative_to_the_file_that_names_them(tmp_path: Path) -> None:
    (tmp_path / "parts").mkdir()
    text = REEF.read_text().replace("accelerator: reef", "accelerator: mine", 1)
    (tmp_path / "parts" / "mine.yaml").write_text(text)
    lagoon = (shared_folder("socs") / "lagoon.yaml").read_text()
    base = lagoon.replace("accelerator: reef", "accelerator: ./mine.yaml")
    (tmp_path / "parts" / "base.yaml").write_text(base)
    top = tmp_path / "top.yaml"
    top.write_text("extends: parts/base.yaml\nsoc: derived\n")
    soc = load_soc(top)
    assert (soc.name, soc.npus[0].spec.name) == ("derived", "mine")


def test_a_broken_accelerator_is_reported_once(tmp_path: Path) -> None:
    (tmp_path / "mine.yaml").write_text("accelerator: mine\n")
    atoll2 = (shared_folder("socs") / "atoll2.yaml").read_text()
    top = tmp_path / "top.yaml"
    top.write_text(atoll2.replace("accelerator: reef", "accelerator: ./mine.yaml"))
    with pytest.raises(AtollError) as caught:
        load_soc(top)
    messages = [fault.message for fault in caught.value.faults]
    assert len(messages) == len(set(messages)) == 2


def test_unknown_names_offer_the_shipped_ones() -> None:
    with pytest.raises(AtollError) as caught:
        find_accelerator("riff", Path(), None)
    (fault,) = caught.value.faults
    assert (fault.code, "reef" in (fault.remedy or "")) == ("E022", True)
