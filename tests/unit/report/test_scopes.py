# SPDX-License-Identifier: Apache-2.0
"""`atoll explain --scopes`: what each operator and tensor was asked, and by whom."""

import json
from pathlib import Path
from typing import Any

import pytest

from atoll.cli import main

DIGITS = Path(__file__).parents[3] / "examples" / "01_digits" / "digits_int8.tflite"


def explained(
    capsys: pytest.CaptureFixture[str], *options: str, soc: str = "lagoon"
) -> dict[str, dict[str, Any]]:
    assert main(["explain", soc, str(DIGITS), "--json", *options]) == 0
    told = json.loads(capsys.readouterr().out)["scopes"]
    return {
        key: {each["name"]: each for each in told[key]}
        for key in ("devices", "operators", "tensors")
    }


def test_s2_explain_tells_scopes_and_who_asked(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    build = tmp_path / "build.yaml"
    build.write_text(
        "on_device:\n"
        "  - {from: conv_2d_0, to: conv_2d_2, scope: {device_type: cpu, memory_scope: shared}}\n"
        "pin: {softmax_9_out: shared}\n"
    )
    options = ("--build", str(build), "--on-device", "soft*=cpu")
    told = explained(capsys, *options)
    assert list(told["devices"]) == ["cpu", "npu"]
    operator = told["operators"]["conv_2d_2"]
    free = dict.fromkeys(("virtual_device_id", "target"))
    assert operator["joined"] == {
        "device_type": "cpu",
        **free,
        "memory_scope": "global.shared",
    }
    assert operator["asked"] == [
        {
            "scope": operator["joined"],
            "source": "asked for by 'on_device' of 'conv_2d_0..conv_2d_2'",
            "place": f"{build}:2:5",
            "at": {"path": str(build), "line": 2, "column": 5},
        }
    ]
    assert operator["default"] == {
        **told["devices"]["cpu"]["scope"],
        "memory_scope": "global.shared",
    }
    places = [each["place"] for each in told["operators"]["softmax_9"]["asked"]]
    assert places == ["command line"]
    sources = [each["source"] for each in told["tensors"]["softmax_9_out"]["asked"]]
    assert sources == [
        "operator 'softmax_9' on 'cpu' writes it",
        "'cpu' reads it (exit placement)",
        "asked for by 'pin.softmax_9_out'",
    ]
    (entry,) = told["tensors"]["image"]["asked"]
    assert entry["source"] == "'cpu' fills it (entry placement)"
    assert "lagoon.yaml:" in entry["place"]
    assert main(["explain", "lagoon", str(DIGITS), "--scopes", *options]) == 0
    text = capsys.readouterr().out
    asked = "SEScope(device_type=cpu, memory_scope=global.shared)"
    source = f"asked for by 'on_device' of 'conv_2d_0..conv_2d_2' ({build}:2:5)"
    assert f"  conv_2d_0\n    asked    {asked}: {source}\n    joined   {asked}\n" in text


def test_s4_what_nobody_asks_for_is_the_default_and_says_why(
    capsys: pytest.CaptureFixture[str],
) -> None:
    told = explained(capsys)
    operator = told["operators"]["add_3"]
    assert operator["asked"] == []
    assert set(operator["joined"].values()) == {None}
    assert operator["default"] == told["devices"]["npu"]["scope"]
    assert "cycles" in str(operator["rule"])
    tensor = told["tensors"]["add_3_out"]
    assert tensor["default"]["memory_scope"] == "global.shared"
    assert "C3" in str(tensor["rule"])
