"""Requests on a chip with all that one can ask of: what they allow, and remedies that work."""

import json
import re
from pathlib import Path
from typing import Any

import pytest

from atoll.cli import main

ROOT = Path(__file__).parents[2]
CRAB = str(ROOT / "tests" / "data" / "crab.yaml")
DIGITS = str(ROOT / "examples" / "01_digits" / "digits_int8.tflite")

Captured = pytest.CaptureFixture[str]


def explain(capsys: Captured, *words: str) -> dict[str, Any]:
    main(["explain", CRAB, DIGITS, "--json", *words])
    told: dict[str, Any] = json.loads(capsys.readouterr().out)
    return told


def asking(tmp_path: Path, text: str) -> list[str]:
    build = tmp_path / "build.yaml"
    build.write_text(text)
    return ["--build", str(build)]


def places(told: dict[str, Any]) -> dict[str, str]:
    return {each["name"]: each["place"] for each in told["buffers"]}


@pytest.mark.parametrize("name", ["conv_2d_0_weights=w@384B", "softmax_9_out=lp@10B"])
def test_a_buffer_lies_in_front_if_its_hint_has_its_size(name: str, capsys: Captured) -> None:
    buffer, _, pin = name.partition("=")
    (found,) = (e for e in explain(capsys, "--pin", name)["buffers"] if e["name"] == buffer)
    assert (found["place"], found["offset_bytes"]) == (pin.partition("@")[0], 0)


def test_a_hint_that_leaves_no_room_has_its_place(tmp_path: Path, capsys: Captured) -> None:
    asked = "pin: {conv_2d_0_weights: 'w@6208B', conv_2d_2_weights: 'w@100B'}\n"
    (fault,) = explain(capsys, *asking(tmp_path, asked))["faults"]
    assert (fault["code"], fault["at"]["column"]) == ("E206", asked.index("'w@100B'") + 1)
    assert "'conv_2d_2_weights' (576 B)" in fault["message"]
    mended = asked.replace("100B", fault["remedy"].rpartition("to ")[2].replace(" ", ""))
    assert "w" in places(explain(capsys, *asking(tmp_path, mended)))["conv_2d_2_weights"]


@pytest.mark.parametrize("pool", ["rp", "lp"])
@pytest.mark.parametrize("key", ["scopes: {add_3_out: global.", "pin: {add_3_out: "])
def test_what_is_free_is_copied_for_who_does_not_reach_its_scope(
    key: str, pool: str, tmp_path: Path, capsys: Captured
) -> None:
    told = explain(capsys, *asking(tmp_path, f"{key}{pool}}}\nfree: [add_3_out]\n"))
    found = places(told)
    assert pool in (found["add_3_out"], found["add_3_out_copy1"])


def test_what_is_free_is_still_where_somebody_reaches_it(tmp_path: Path, capsys: Captured) -> None:
    for key, code in (
        ("scopes: {add_3_out: global.near}", "E205"),
        ("pin: {add_3_out: near}", "E049"),
    ):
        (fault, *_) = explain(capsys, *asking(tmp_path, f"{key}\nfree: [add_3_out]\n"))["faults"]
        assert fault["code"] == code
        assert "'free'" not in fault["remedy"]


def test_freeing_what_the_remedies_name_is_enough(tmp_path: Path, capsys: Captured) -> None:
    pin = "pin: {conv_2d_*_out: 'rp,near'}\n"
    faults = explain(capsys, *asking(tmp_path, pin))["faults"]
    named = [re.findall(r"add '(\w+)' to 'free'", fault["remedy"])[0] for fault in faults]
    freed = f"{pin}free: [{', '.join(named)}]\n"
    assert "buffers" in explain(capsys, *asking(tmp_path, freed))
