# SPDX-License-Identifier: Apache-2.0
"""`atoll plan`: what it prints and writes is one plan."""

import csv
import json
from pathlib import Path
from xml.etree import ElementTree

import pytest

from atoll.cli import main

DIGITS = str(Path(__file__).parents[2] / "examples" / "01_digits" / "digits_int8.tflite")
NETWORK = ["plan", "lagoon", DIGITS]


def printed(arguments: list[str], capsys: pytest.CaptureFixture[str]) -> str:
    capsys.readouterr()
    assert main(arguments) == 0
    return capsys.readouterr().out


def test_all_forms_tell_the_same_of_a_network(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    plan = json.loads(printed([*NETWORK, "--json"], capsys))
    assert json.loads(printed([*NETWORK, "--export", "json"], capsys)) == plan
    assert (plan["soc"], plan["model"], plan["gap_bytes"]) == ("lagoon", "digits_int8", 0)
    rows = list(csv.DictReader(printed([*NETWORK, "--export", "csv"], capsys).splitlines()))
    assert {row["id"] for row in rows} == plan["buffers"].keys()
    for row in rows:
        buffer = plan["buffers"][row["id"]]
        assert (row["pool"], int(row["offset"])) == (buffer["pool"], buffer["offset_bytes"])
    figure = tmp_path / "figure.svg"
    table = printed([*NETWORK, "--figure", str(figure), "--picture"], capsys)
    lines = {line.split()[0]: line.split() for line in table.splitlines() if line}
    for pool, use in plan["pools"].items():
        assert (pool in lines) == (use["used_bytes"] > 0)
        if pool not in lines:
            continue
        assert lines[pool][1:4] == [f"{use[f'{key}_bytes']:,}" for key in ("size", "used", "bound")]
        assert f"\n{pool}: {use['used_bytes']:,} B used" in table
    titles = {element.text for element in ElementTree.parse(figure).iter() if element.text}
    assert "digits_int8 on lagoon" in titles
    for name in plan["buffers"]:
        assert any(title.startswith(f"{name}: ") for title in titles), name


def test_the_plan_is_the_one_of_a_build(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    wishes = ["--overlap", "all", "--place", "conv_2d_0=cpu"]
    plan = json.loads(printed([*NETWORK, *wishes, "--json"], capsys))
    assert main(["build", *NETWORK[1:], *wishes, "-o", str(tmp_path / "out")]) == 0
    built = json.loads((tmp_path / "out" / "plan.json").read_text())
    assert {key: plan[key] for key in built} == built


def test_an_exported_solution_is_an_instance(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    solution = tmp_path / "solution.csv"
    assert main([*NETWORK, "--export", "csv", "-o", str(solution)]) == 0
    text = solution.read_text()
    plan = json.loads(printed(["plan", "--instance", str(solution), "--json"], capsys))
    assert (plan["instance"], len(plan["buffers"])) == ("solution.csv", text.count("\n") - 1)
