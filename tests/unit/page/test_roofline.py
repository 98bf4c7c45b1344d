# SPDX-License-Identifier: Apache-2.0
"""Rooflines: each point is where its figures put it, and below what nothing can exceed."""

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from tests.unit.page.html_values import Element, bare_numbers, read_page, value_at, wrong_values

import atoll
from atoll.description.accelerator_files import load_accelerator
from atoll_report.node import Node
from atoll_report.roofline import Point, rooflines

DIGITS = "examples/01_digits/digits_int8.tflite"
LOOM = "examples/11_systolic_array"


def estimated(chip: Any, model: str = DIGITS, **options: Any) -> Any:
    made = atoll.compile(chip, model, **options)
    return json.loads(json.dumps(atoll.estimate(made).network.to_json()))


def page_of(estimate: Any) -> Element:
    found = {**atoll.make_report().to_json(), "estimate": [estimate]}
    page = read_page(atoll.Report(found).to_html())
    assert wrong_values(page, found) == []
    assert bare_numbers(page) == []
    return next(each for each in page.all("section") if each.attributes["id"] == "time")


def points(estimate: Any) -> Iterator[Point]:
    links = {each["operator"]: "#" for each in estimate["cycles"]["by_layer"]}
    for one in rooflines(Node(estimate), None, links, "measured"):
        yield from one.points


@pytest.mark.parametrize("chip", ["lagoon", "twin", "atoll2", "quad", "corstone300_u55"])
def test_no_point_is_above_its_roof(chip: str) -> None:
    if "u55" in chip:
        pytest.importorskip("ethosu.vela")
    found = list(points(estimated(chip)))
    assert found
    for each in found:
        assert each.rate <= each.roof_macs, each.layer["operator"].raw


def test_places_in_the_json_are_on_the_marks() -> None:
    estimate = estimated("lagoon")
    page = page_of(estimate)
    titles = [each.text for each in page.all("title") if "multiply-accumulates (" in each.text]
    assert len(titles) == 6
    for title in titles:
        for shown, pointer in re.findall(r"([0-9,]+)[A-Za-z -]*? \((/[^)]*)\)", title):
            value = value_at({"estimate": [estimate]}, pointer)
            assert int(shown.replace(",", "")) == value, title


def test_the_grid_spans_the_plot() -> None:
    grid = [each for each in page_of(estimated("lagoon")).all("path") if is_grid(each)]
    ends = [tuple(map(float, re.findall(r"[\d.-]+", each.attributes["d"]))) for each in grid]
    rows = {(left, right) for left, y, right, end in ends if y == end}
    columns = {(top, bottom) for x, top, end, bottom in ends if x == end}
    ((left, right),), ((top, bottom),) = rows, columns
    assert left == min(x for x, *_ in ends) < right == max(x for _, _, x, _ in ends)
    assert top == min(y for _, y, *_ in ends) < bottom == max(y for *_, y in ends)


def is_grid(element: Element) -> bool:
    return element.attributes.get("class") == "axis"


def test_a_device_with_a_slower_clock_has_a_lower_roof() -> None:
    chip = atoll.load_soc("lagoon")
    half = estimated(chip.with_({"devices.npu.clock": "50 MHz"}))
    (roof,) = half["roofs"]["devices"]
    assert (roof["macs_per_cycle"], roof["clock_hz"]) == (64, 50_000_000)
    assert max(each.roof_macs for each in points(half)) <= 32


def test_lanes_decide_the_roof() -> None:
    chip = atoll.load_soc("lagoon").with_({"devices.npu.params.input_lanes": 4})
    (roof,) = estimated(chip)["roofs"]["devices"]
    assert roof["macs_per_cycle"] == 32


def test_what_is_not_known_has_words_and_no_line() -> None:
    page = page_of(estimated("lagoon", accelerators=False))
    assert "What cpu multiplies at most in a cycle is not known" in page.text
    titles = [each.text for each in page.all("title")]
    assert not [each for each in titles if "macs_per_cycle" in each]
    assert [each for each in titles if "bytes_per_cycle" in each]


def test_a_formula_without_a_value_is_refused(tmp_path: Path) -> None:
    reef = Path("hw_sim/atoll_sim/engines/reef/reef.yaml").read_text()
    own = reef.replace(
        "macs_per_cycle: input_lanes * output_lanes", "macs_per_cycle: input_lanes - input_lanes"
    )
    (tmp_path / "reef.yaml").write_text(own)
    chip = Path("socs/lagoon.yaml").read_text()
    (tmp_path / "chip.yaml").write_text(
        chip.replace("accelerator: reef", "accelerator: ./reef.yaml")
    )
    with pytest.raises(atoll.AtollError) as caught:
        atoll.load_soc(tmp_path / "chip.yaml")
    assert caught.value.code == "E162"
    assert "'macs_per_cycle' of accelerator 'reef' is 0" in caught.value.faults[0].message


def test_the_remedy_of_an_unknown_name_is_no_roof_of_0(tmp_path: Path) -> None:
    loom = Path(f"{LOOM}/loom.yaml").read_text()
    (tmp_path / "loom.yaml").write_text(loom.replace("macs_per_cycle: 64", "macs_per_cycle: wide"))
    with pytest.raises(atoll.AtollError) as caught:
        load_accelerator(tmp_path / "loom.yaml", None)
    assert "'wide' is not defined here" in caught.value.faults[0].message
    assert caught.value.faults[0].remedy == "remove 'macs_per_cycle'"


def test_what_is_above_its_roof_is_told(tmp_path: Path) -> None:
    estimate = estimated("lagoon")
    assert "must be wrong" not in page_of(estimate).text
    (roof,) = estimate["roofs"]["devices"]
    roof["macs_per_cycle"] = 1
    above = [each for each in points(estimate) if each.impossible]
    names = ", ".join(each.layer["operator"].raw for each in above[:3])
    told = f"One figure must be wrong: {names} and {len(above) - 3} more lie above a line"
    assert told in page_of(estimate).text
