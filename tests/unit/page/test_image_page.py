# SPDX-License-Identifier: Apache-2.0
"""The page about a linked image: sections in regions, stacks with their calls, what is wrong."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from tests.unit.page.html_values import Element, bare_numbers, read_page, wrong_values
from tests.unit.page.test_page import documents

import atoll


def region(name: str, memory: str, first: int, size: int, used: int | None) -> dict[str, Any]:
    known: dict[str, Any] = {"used_bytes": used, "free_bytes": None, "used_share": None}
    if used is not None:
        known |= {"free_bytes": size - used, "used_share": round(used / size, 4)}
    place = {"first_address": first, "size_bytes": size}
    return {"memory": memory, "region": name, **place, **known}


def section(name: str, first: int, size: int, copied_from: int | None = None) -> dict[str, Any]:
    place = {"first_address": first, "size_bytes": size, "loaded_bytes": size}
    return {"section": name, **place, "copied_from_address": copied_from}


def chain(*calls: tuple[str, int], begun_by: str = "entry", pushed: int = 0) -> dict[str, Any]:
    return {
        **{"function": calls[0][0], "begun_by": begun_by, "pushed_bytes": pushed},
        "handles_exception": begun_by != "entry",
        "bytes": pushed + sum(size for _, size in calls),
        "path": [{"function": name, "bytes": size} for name, size in calls],
        "not_bounded": [],
    }


CALLS = chain(("reset", 0), ("main", 32), ("run", 480))


def image(**changes: Any) -> dict[str, Any]:
    return {
        **{"soc": "lagoon", "core": "cpu", "image": "out/firmware.elf"},
        "usage": [
            region("cpu.code", "flash", 0, 0x2_0000, 0x8030),
            region("cpu.stack", "dtcm", 0x1000_0000, 8192, 1536),
            region("cpu.data", "dtcm", 0x1000_2000, 4096, 48),
        ],
        "sections": [
            section(".text", 0, 0x8000),
            section(".data", 0x1000_2000, 48, copied_from=0x8000),
        ],
        **{"stack_bytes": 548, "entry_bytes": 512, "interrupt_bytes": 36},
        "stack": [chain(("tick", 0), begun_by="vector 2", pushed=36), CALLS],
        "other_stacks": [
            {
                **{"function": "worker", "thread": "w", "top_address": 0x1000_3000},
                **{"room_bytes": 1024, "bytes": 200, "path": [{"function": "w", "bytes": 200}]},
            }
        ],
        **{"assumes": ["no handler interrupts another one"], "disagreements": []},
        **{"parameters_known": True, "not_known": [], **changes},
    }


def report_of(*images: Mapping[str, Any], run: bool = False) -> dict[str, Any]:
    runs = documents()["run"] if run else []
    return {**atoll.make_report().to_json(), "image": list(images), "run": runs}


def page_of(found: Mapping[str, Any], name: str = "image") -> Element:
    page = read_page(atoll.Report(found).to_html())
    assert wrong_values(page, json.loads(json.dumps(found))) == []
    assert bare_numbers(page) == []
    return next(each for each in page.all("section") if each.attributes["id"] == name)


def titles(page: Element) -> list[str]:
    return [each.text for each in page.all("title")]


def test_sections_lie_where_they_run_and_where_they_are_copied_from() -> None:
    found = titles(page_of(report_of(image())))
    (text,) = (each for each in found if each.startswith(".text"))
    assert "/image/0/sections/0/size_bytes" in text
    data = [each for each in found if each.startswith(".data")]
    assert [each.partition(":")[0] for each in data] == [
        ".data is copied from here",
        ".data is here",
    ]


def test_regions_say_how_much_room_is_left() -> None:
    page = page_of(report_of(image()))
    assert "32,816 B of 131,072 B, 98,256 B free" in page.text


def test_the_worst_path_is_drawn_call_by_call() -> None:
    page = page_of(report_of(image()))
    assert "main: 32 B (/image/0/stack/1/path/1/bytes)" in titles(page)
    assert "run: 480 B (/image/0/stack/1/path/2/bytes)" in titles(page)
    assert "reset 0 > main 32 > run 480" in page.text


def test_a_stack_has_bound_watermark_limit_and_path() -> None:
    found = report_of(image(), run=True)
    found["run"] = json.loads(json.dumps(found["run"]))
    found["run"][0]["stack"] = {
        "cpu": {
            **{"bound_bytes": 548, "watermark_bytes": 444, "limit_bytes": 8192},
            **{"layer": "chip", "unmeasured": ""},
        }
    }
    tables = {
        each.attributes["aria-label"]: each
        for each in page_of(found).all("div")
        if each.attributes.get("class") == "scroll"
    }
    rows = [
        [cell.text for cell in row.all("td")] for row in tables["firmware.elf: stacks"].all("tr")
    ][1:]
    assert rows[0][:3] == ["548 B", "444 B", "8,192 B"]
    assert rows[1] == ["200 B", "not measured", "1,024 B", "w 200"]


def test_what_is_not_bounded_is_no_number() -> None:
    loose = CALLS | {"bytes": None, "path": []}
    loose["not_bounded"] = [{"function": "run", "why": "run calls itself"}]
    usage = [region("cpu.stack", "dtcm", 0x1000_0000, 8192, None)]
    found = report_of(image(stack=[loose], stack_bytes=None, entry_bytes=None, usage=usage))
    assert "not bounded, of 8,192 B" in page_of(found).text
    assert "The stack of 'reset' is not bounded: run calls itself." in page_of(found, "proof").text


def test_a_disagreement_is_on_top() -> None:
    wrong = [{"message": "the entry 0x00000010 is in no section", "at": "chip.yaml:3"}]
    found = report_of(image(disagreements=wrong))
    page = read_page(atoll.Report(found).to_html())
    (verdict,) = (each for each in page.all("p") if "verdict" in each.attributes.get("class", ""))
    assert verdict.text == "1 disagreement of the image: see Image"
    assert "the entry 0x00000010 is in no section (chip.yaml:3)" in page_of(found).text


def test_an_image_without_a_chip_shows_its_stack() -> None:
    alone = {
        key: value
        for key, value in image().items()
        if key not in ("soc", "core", "usage", "sections", "parameters_known", "not_known")
    }
    page = page_of(report_of(alone))
    assert "its regions are not known" in page.text
    assert "the first stack" in page.text


def test_images_of_several_cores_are_shown_together(tmp_path: Path) -> None:
    paths = []
    for core, name in (("cpu", "old.elf"), ("dsp", "dsp.elf"), ("cpu", "new.elf")):
        paths.append(tmp_path / f"{name}.json")
        paths[-1].write_text(json.dumps(image(core=core, image=name)))
    found = atoll.make_report(*paths).documents["image"]
    assert [each["image"] for each in found] == ["dsp.elf", "new.elf"]


def test_a_region_without_a_size_is_drawn() -> None:
    usage = [region("cpu.stack", "dtcm", 0x1000_0000, 8192, 1536) | {"size_bytes": 0}]
    assert "cpu.stack" in page_of(report_of(image(usage=usage))).text


def test_the_place_that_differs_is_the_one_that_is_wrong(tmp_path: Path) -> None:
    """A schema has two kinds of such objects: with a chip and without."""
    wrong = image()
    wrong["sections"][0]["size_bytes"] = -1
    (tmp_path / "image.json").write_text(json.dumps(wrong))
    with pytest.raises(atoll.UsageError, match="it differs at '/sections/0/size_bytes'"):
        atoll.make_report(tmp_path / "image.json")


def test_an_image_of_another_chip_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "image.json"
    path.write_text(json.dumps(image(soc="twin")))
    plan = tmp_path / "plan.json"
    plan.write_text(json.dumps(documents()["plan"][0]))
    with pytest.raises(atoll.UsageError, match="E228"):
        atoll.make_report(plan, path)
