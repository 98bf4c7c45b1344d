# SPDX-License-Identifier: Apache-2.0
"""What somebody asks of an operator or of a tensor holds for its stripes, and cuts nothing off."""

import json
from pathlib import Path
from typing import Any

import pytest

from atoll.cli import main

DIGITS = str(Path(__file__).parents[3] / "examples" / "01_digits" / "digits_int8.tflite")
SMALL = ["--set", "pools.shared.size=3072"]
CUT = "conv_2d_2_out_stripe0"


def explained(capsys: pytest.CaptureFixture[str], *words: str) -> dict[str, dict[str, Any]]:
    assert main(["explain", "lagoon", DIGITS, *SMALL, "--json", *words]) == 0
    return {each["name"]: each for each in json.loads(capsys.readouterr().out)["buffers"]}


@pytest.mark.parametrize(
    "asked",
    [
        ["--set-scope", "depthwise_conv_2d_1=global"],
        ["--set-scope", "*=global"],
        ["--set-scope", "conv_2d_0..add_3=global.shared"],
        ["--scope", "*_out=global.shared"],
        ["--pin", "conv_2d_2_out=shared", "--pin", "conv_2d_2_weights=weights"],
        ["--place", "conv_2d_2=npu", "--free", "conv_2d_2_out"],
        ["--on-device", "conv_2d_2=memory_scope:shared"],
        ["--pin", "conv_2d_2_out=shared@3KiB"],
    ],
    ids=" ".join,
)
def test_a_request_leaves_what_it_names_free_to_be_cut(
    asked: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    assert CUT in explained(capsys, *asked)


def test_stripes_and_what_is_made_of_them_inherit_requests(
    capsys: pytest.CaptureFixture[str],
) -> None:
    words = ["--pin", "conv_2d_2_out=shared@3KiB", "--pin", "conv_2d_2_weights=weights"]
    buffers = explained(capsys, *words)
    asked = {name: [each["request"] for each in story["asked"]] for name, story in buffers.items()}
    assert asked[CUT] == ["pin 'shared@3KiB' of 'conv_2d_2_out'"]
    assert asked["conv_2d_2_stripe0_weights"] == ["pin 'weights'"]


def test_a_kernel_of_stripes_is_asked_by_the_name_of_its_operator(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    build = tmp_path / "build.yaml"
    build.write_text(
        "place: {depthwise_conv_2d_1: cpu}\n"
        "scopes: {depthwise_conv_2d_1.rows: global.workspace}\n"
        "cuts: [{first: conv_2d_0, last: depthwise_conv_2d_1, stripes: 2}]\n"
    )
    buffers = explained(capsys, "--build", str(build), "--set", "pools.shared.size=16384")
    for name in ("depthwise_conv_2d_1_stripe0_rows", "depthwise_conv_2d_1_stripe1_rows"):
        assert "scope 'global.workspace'" in str(buffers[name]["asked"])


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("tile: never\n", "'tile: never' of the build options keeps it from being cut"),
        (
            "cuts: [{first: conv_2d_5, last: conv_2d_5, stripes: 2}]\n",
            "'cuts' of the build options keeps it from being cut further",
        ),
    ],
)
def test_what_keeps_a_network_from_being_cut_is_told(
    text: str, said: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    build = tmp_path / "build.yaml"
    build.write_text(text)
    words = [*SMALL, "--set", "pools.private.size=16", "--json", "--build", str(build)]
    assert main(["explain", "lagoon", DIGITS, *words]) == 1
    (fault,) = json.loads(capsys.readouterr().out)["faults"]
    assert (fault["code"], said in fault["message"]) == ("E062", True)


def test_role_pins_hold_for_what_lies_apart_in_stripes(capsys: pytest.CaptureFixture[str]) -> None:
    """The rows of a tensor in another pool would contradict the role; --scopes tells all joined."""
    words = ["--set", "pools.shared.size=2048", "--pin-role", "workspace=shared", "--scopes"]
    buffers = explained(capsys, *words)
    made = [each for each in buffers.values() if each["what"] in ("activation", "input", "output")]
    assert {each["place"] for each in made} == {"shared"}
