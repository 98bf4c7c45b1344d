# SPDX-License-Identifier: Apache-2.0
"""What a page shows of a sweep is in its JSON, and what nothing decides is not drawn."""

import json
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any

from tests.unit.page.html_values import bare_numbers, read_page, shown_values, wrong_values
from tests.unit.sweep.sweeps import small

import atoll

STAGES = {"plan": "all", "build": 1}


@cache
def documents() -> Mapping[str, Any]:
    axes = {
        "devices.npu.params.output_lanes": [4, 5, 8],
        "memories.flash.read_latency": [1, 2],
        "pools.shared.size": ["4 KiB", "8 KiB"],
    }
    found = atoll.sweep(
        small(axes=axes, objectives=["cycles", "moved_bytes"], stages=STAGES),
        workers=0,
        objectives={"pool": lambda soc, made: soc.pool_size_bytes["shared"]},
    )
    return json.loads(json.dumps(atoll.make_report(found).to_json()))  # type: ignore[no-any-return]


def html(found: Mapping[str, Any]) -> str:
    return atoll.Report(found).to_html()


def test_every_number_is_that_of_the_json() -> None:
    page = read_page(html(documents()))
    assert wrong_values(page, documents()) == []
    assert bare_numbers(page) == []
    places = shown_values(page)
    assert "/sweep/front/0/objectives/cycles" in places
    assert "/sweep/failures/E045" in places
    assert "/sweep/front/0/stages/build/rom_bytes" in places


def test_pictures_have_each_point_and_name_it() -> None:
    found = documents()
    page = read_page(html(found))
    titles = [each.text for each in page.all("title")]
    for number, point in enumerate(found["sweep"]["drawn"]):
        lines = [each for each in titles if each.endswith(f"(/sweep/drawn/{number})")]
        assert len(lines) >= 2, "in the plot and in parallel coordinates"
        assert all(f"cycles {point['objectives']['cycles']:,}" in each for each in lines)
    heat = [each.attributes for each in page.all("rect") if each.attributes["class"] == "heat"]
    assert len(heat) >= 2 * 4
    assert any(each["fill-opacity"] == "0" for each in heat), "lanes that no chip has"


def test_the_lowest_of_each_pair_is_drawn() -> None:
    found = json.loads(json.dumps(documents()))
    page = read_page(html(found))
    (picture,) = (
        each
        for each in page.all("svg")
        if each.attributes["aria-label"].startswith("small: lowest cycles by")
    )
    words = {each.text for each in picture.all("text")}
    points = found["sweep"]["drawn"]
    by = picture.attributes["aria-label"].split(" by ")[1].split(" and ")
    names = list(found["sweep"]["axes"])
    cells: dict[tuple[int, ...], list[int]] = {}
    for each in points:
        key = tuple(each["values"][names.index(name)] for name in by)
        cells.setdefault(key, []).append(each["objectives"]["cycles"])
    assert {f"{min(values):,}" for values in cells.values()} <= words


def test_an_objective_that_does_not_vary_is_not_drawn() -> None:
    found = json.loads(json.dumps(documents()))
    for each in found["sweep"]["drawn"]:
        each["objectives"]["pool"] = 7
    page = read_page(html(found))
    labels = [each.attributes["aria-label"] for each in page.all("svg")]
    assert not [each for each in labels if "pool over" in each or "lowest pool" in each]
    assert [each for each in labels if "moved_bytes over cycles" in each]


def test_a_sweep_without_a_front_says_so() -> None:
    axes = {"pools.shared.size": ["512 KiB", "1 MiB"]}
    found = atoll.make_report(atoll.sweep(small(axes=axes), workers=0))
    page = read_page(found.to_html())
    assert "No point has all figures that are compared" in page.text
    assert not list(page.all("svg"))


def test_the_page_is_read_back(tmp_path: Path) -> None:
    path = atoll.Report(documents()).write(tmp_path / "sweep.html")
    assert atoll.make_report(path).to_json() == documents()
