# SPDX-License-Identifier: Apache-2.0
"""The words of a report: no more is said than its documents show."""

import json
from typing import Any

import pytest
from tests.unit.page.html_values import Element, bare_numbers, read_page, wrong_values
from tests.unit.page.test_page import documents, html

from atoll.soc_checks import ALWAYS_LEFT_OUT, ELABORATES, FITS, SIMULATED
from atoll_report.figures import shorten

NAME = "the_neural_processing_unit_of_the_second_cluster"
GAIN = "would be live at a step"
NO_GAIN = "No single buffer lowers the peak"


def copied() -> Any:
    return json.loads(json.dumps(documents()))


def section(found: Any, name: str) -> Element:
    page = read_page(html(found))
    assert wrong_values(page, found) == []
    assert bare_numbers(page) == []
    return next(each for each in page.all("section") if each.attributes["id"] == name)


def run_by(cpu: str) -> Any:
    """Return documents in which `cpu` played the cores and a clock ran."""
    found = copied()
    run = found["run"][0]
    run["cpu"] = cpu
    run["cycles"] |= {"total": 5000, "total_ns": 50000, "at_once": 0, "overlapped": 0}
    for row, layer in enumerate(run["cycles"]["by_layer"]):
        begin = 100 * row
        layer |= {"begin": begin, "end": begin + 100, "cycles": 100, "worked": 90}
    return found


@pytest.mark.parametrize(("cpu", "where"), [("iss", "the ISS"), ("qemu", "QEMU")])
def test_counted_cycles_are_not_called_measured(cpu: str, where: str) -> None:
    found = run_by(cpu)
    time = section(found, "time")
    assert f"counted on {where}" in [each.text for each in time.all("th")]
    assert f"counted on {where} begin" in [each.text for each in time.all("th")]
    assert "not the core's time" in time.text
    assert "above: counted" in time.text
    assert "above: measured" not in time.text
    proof = section(found, "proof")
    assert f"5,000 cycles, counted on {where}" in proof.text
    assert "not the core's time" in proof.text
    both = section(found | {"before": run_by(cpu) | {"before": None}}, "difference")
    assert f"cycles from reset to exit, counted on {where}" in both.text
    assert "measured" not in both.text


def test_cycles_of_rtl_are_called_measured() -> None:
    time = section(run_by("rtl"), "time")
    assert "measured" in [each.text for each in time.all("th")]
    assert "above: measured" in time.text
    assert "not the core's time" not in time.text


def not_checked(found: Any) -> list[str]:
    items = (each.text for each in section(found, "proof").all("li"))
    return [each.partition("Not checked: ")[2] for each in items if "Not checked: " in each]


def test_bytes_that_a_run_moved_are_added_up_where_they_were_counted() -> None:
    found = run_by("rtl")
    layers = found["run"][0]["cycles"]["by_layer"]
    for layer in layers:
        layer["memories"] = None
    time = section(found, "time")
    assert "bytes through each memory's port" not in time.text
    assert "The measured load of ports: not in these documents" in time.text
    for layer, read in zip(layers[:2], (100, 1000), strict=True):
        layer["memories"] = [{"memory": "sram", "read_bytes": read, "written_bytes": 7}]
    time = section(found, "time")
    (table,) = (each for each in time.all("table") if "bytes through each" in each.text)
    assert [each.text for each in table.all("td")] == ["1,100", "14", f"2 of {len(layers)}"]
    assert "The measured load of ports" not in time.text


def test_interrupts_are_told_as_the_run_has_them() -> None:
    found = run_by("rtl")
    cycles = found["run"][0]["cycles"]
    assert cycles["interrupts"] is None
    assert "Interrupts\nNot in these documents" in section(found, "time").text
    guard = {"source": "guard", "core": "cpu", "line": 2, "raised": 0, "pulses": []}
    cycles["interrupts"] = [guard]
    alone = section(found, "time").text
    assert "No line rose in the first sample: guard to cpu (line 2)." in alone
    assert "No device of this chip has an interrupt line of its own" in alone
    pulses = [{"rise": 1234, "fall": 1300}, {"rise": 1500, "fall": None}]
    npu = {"source": "npu", "core": "cpu", "line": 3, "raised": 7, "pulses": pulses}
    cycles["interrupts"] = [guard, npu]
    time = section(found, "time")
    (table,) = (each for each in time.all("table") if "interrupt lines" in each.text)
    assert [each.text for each in table.all("td")] == [
        *("cpu", "3", "7", "1,234", "1,300"),
        *("cpu", "3", "7", "1,500", "the end"),
    ]
    assert "Never raised: guard to cpu (line 2)." in time.text
    titles = [each.text for each in time.all("title")]
    assert "line 3: npu → cpu is high, 1,234 to 1,300" in titles


def test_what_plan_and_run_show_is_not_called_unchecked() -> None:
    tools = ALWAYS_LEFT_OUT[1]
    found = run_by("iss")
    found["check"]["not_checked"] = [SIMULATED, ELABORATES, FITS, tools]
    emitters = "what emitters make of a network (atoll run)"
    assert not_checked(found) == [f"{each}." for each in (ELABORATES, tools)]
    found["run"][0] |= {"cpu": "rtl", "accelerator": "rtl"}
    assert not_checked(found) == [f"{tools}."]
    found["run"][0] |= {"cpu": "native", "accelerator": "model"}
    assert not_checked(found) == [f"{each}." for each in (SIMULATED, ELABORATES, tools)]
    found["run"] = []
    assert not_checked(found) == [f"{each}." for each in (SIMULATED, ELABORATES, emitters, tools)]
    found["plan"] = []
    assert not_checked(found) == [f"{each}." for each in (SIMULATED, ELABORATES, FITS, tools)]


def test_the_plan_and_run_of_another_chip_show_nothing() -> None:
    found = run_by("rtl")
    found["check"]["soc"] = "another"
    assert not_checked(found) == [f"{each}." for each in found["check"]["not_checked"]]


def tried(what: str, total: int | None, why_not: str = "") -> dict[str, Any]:
    words = {"operator": "conv_2d_0", "device": "npu", "bound": "compute", "what": what}
    return {
        **{**words, "model": documents()["plan"][0]["model"], "why_not": why_not},
        **{"changes": {what: 1}, "operator_ns": 10, "operator_then_ns": None},
        **{"total_ns": 100, "total_then_ns": total},
    }


def test_only_what_makes_the_network_faster_is_said_to_help() -> None:
    found = copied()
    found["tried"] = [
        *(tried("less", 90), tried("slower", 120), tried("same", 100)),
        *(tried("best", 80), tried("late", None, "not tried: the time was up")),
    ]
    time = section(found, "time")
    tables = {
        each.attributes["aria-label"]: each
        for each in time.all("div")
        if "scroll" in each.attributes["class"]
    }
    (helps,) = (each for name, each in tables.items() if name.endswith(": changes that help"))
    rows = [next(each.all("th")).text for each in list(helps.all("tr"))[1:]]
    assert [each.partition(":")[0] for each in rows] == ["best", "less"]
    (others,) = (each for each in time.all("details") if each.attributes.get("class") == "others")
    assert next(others.all("summary")).text == (
        "2 other changes were tried and made it no faster; of 1 change it is not known"
    )
    assert "slower" in others.text
    assert "not tried: the time was up" in others.text


def test_where_nothing_helps_nothing_is_promised() -> None:
    found = copied()
    found["tried"] = [tried("slower", 120)]
    time = section(found, "time")
    assert "No change of the chip that was tried makes the network faster." in time.text
    assert "1 change was tried and made it no faster" in time.text
    assert "changes that help" not in time.text


def pool_of(*sizes_and_lives: tuple[int, list[list[int]]]) -> Any:
    """Return documents whose plan has such buffers in a pool, and no others."""
    found = copied()
    plan = found["plan"][0]
    some = next(each for each in plan["buffers"].values() if each["pool"] == "shared")
    plan["buffers"], offset = {}, 0
    for row, (size, live) in enumerate(sizes_and_lives):
        own = {"size_bytes": size, "live_steps": live, "offset_bytes": offset}
        plan["buffers"][f"b{row}"] = some | own
        offset += size
    peak = max(
        sum(size for size, live in sizes_and_lives if any(a <= step < b for a, b in live))
        for step in range(10)
    )
    plan["pools"]["shared"] |= {"peak_bytes": peak, "used_bytes": offset, "bound_bytes": peak}
    return found


def test_a_buffer_that_lowers_the_peak_is_named() -> None:
    memory = section(pool_of((64, [[0, 4]]), (32, [[0, 2]])), "memory")
    assert f"Without b0 here, at most 32 B {GAIN}" in memory.text
    assert NO_GAIN not in memory.text


def test_no_buffer_is_named_that_lowers_nothing() -> None:
    memory = section(pool_of((64, [[0, 1]]), (64, [[2, 3]])), "memory")
    assert GAIN not in memory.text
    assert NO_GAIN in memory.text


def test_a_smaller_buffer_may_lower_what_the_greatest_does_not() -> None:
    memory = section(pool_of((64, [[0, 1]]), (16, [[0, 4]]), (64, [[2, 3]])), "memory")
    assert f"Without b1 here, at most 64 B {GAIN}" in memory.text


def test_long_names_stay_in_their_boxes() -> None:
    found = json.loads(json.dumps(documents()).replace('"npu"', f'"{NAME}"'))
    (picture,) = section(found, "chip").all("svg")
    group = next(
        each for each in picture.all("a") if each.attributes["aria-label"] == f"device {NAME}"
    )
    name = next(group.all("text"))
    (title,) = name.all("title")
    assert title.text == NAME
    seen = name.parts[0]
    assert seen.endswith("…")
    assert NAME.startswith(seen[:-1])
    assert 15 <= len(seen) <= 30


def test_what_fits_is_not_cut() -> None:
    assert shorten("npu", 222, "head") == "npu"
    assert len(shorten("W" * 99, 222, "head")) < len(shorten("i" * 99, 222, "head"))


def test_costs_of_placement_are_told_from_the_estimate() -> None:
    decisions = section(copied(), "decisions")
    row = next(each for each in decisions.all("tr") if each.text.startswith("conv_2d_0npu"))
    shown = [each.text for each in row.all("td")][:4]
    assert shown == ["npu", "1,258", "± 15 %", "about 1,816 cycles ± 15 %"]
    told = "cpu: about 395,094 cycles -21 to +26 % (basis: counted x measured), 393,278 more"
    assert told in row.text
    heads = [each.text for each in decisions.all("th")]
    assert "cycles in the plan (estimate)" in heads
    assert "why (cycles alone)" in heads


def heat(found: Any) -> tuple[str, list[str]]:
    """Return what the page says of addresses that are used, and the titles of the cells."""
    text = section(found, "bytes")
    titles = [
        next(each.all("title")).text
        for each in text.all("rect")
        if each.attributes.get("class") == "heat"
    ]
    return text.text, titles


def test_what_a_run_moved_is_shown_as_it_says() -> None:
    found = copied()
    found["run"][0]["touched"] = [
        {
            "pool": "shared",
            "first_address": 0x2000_0000,
            "size_bytes": 96,
            "read_bytes": 1152,
            "written_bytes": 48,
        },
        {
            "pool": "shared",
            "first_address": 0x2000_0080,
            "size_bytes": 64,
            "read_bytes": 0,
            "written_bytes": 128,
        },
    ]
    text, titles = heat(found)
    assert "As the run of the first sample counted it" in text
    assert "not accesses of a run" not in text
    assert titles[0] == "0x20000000 to 0x20000001: at most read 12.0 and written 0.5 times a byte"
    assert titles[48] == "0x20000060 to 0x20000061: never"
    assert titles[-1] == "0x200000be to 0x200000bf: at most read 0.0 and written 2.0 times a byte"


def test_bytes_that_are_perhaps_not_the_pools_are_not_counted_as_its() -> None:
    found = copied()
    place = {"pool": "private", "first_address": 0x1000_0010, "size_bytes": 16}
    found["run"][0]["touched"] = [{**place, "read_bytes": None, "written_bytes": None}]
    _, titles = heat(found)
    assert titles
    assert all("not known, since another region has part" in each for each in titles)


def test_without_a_run_uses_of_the_plan_are_counted_and_called_so() -> None:
    found = copied()
    assert found["run"][0]["touched"] is None
    text, titles = heat(found)
    assert "not accesses of a run" in text
    buffers = [each for each in found["explanation"][0]["buffers"] if each["place"] == "weights"]
    first = min(each["address"] for each in buffers)
    uses = sum(
        len(each["uses"])
        for each in buffers
        if each["address"] <= first < each["address"] + each["size_bytes"]
    )
    assert any(each.startswith(f"{first:#010x} ") and f"{uses} uses" in each for each in titles)
