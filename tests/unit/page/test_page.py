# SPDX-License-Identifier: Apache-2.0
"""The page of a report: every figure is one of its JSON, and nothing in it is loaded or obeyed."""

import base64
import hashlib
import json
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from tests.unit.page.html_values import (
    bare_numbers,
    read_page,
    shown_values,
    value_at,
    wrong_values,
)

import atoll

DIGITS = "examples/01_digits/digits_int8.tflite"
TAG = "<img src=x onerror=alert(1)></script><script>alert(2)</script>&lt;'\""


@cache
def documents() -> Mapping[str, Any]:
    made = atoll.compile("lagoon", DIGITS)
    run = atoll.run(made, cpu="native", accelerator="model")
    return json.loads(json.dumps(atoll.make_report(made, run).to_json()))  # type: ignore[no-any-return]


def html(found: Mapping[str, Any]) -> str:
    return atoll.Report(found).to_html()


def test_every_number_is_that_of_the_json() -> None:
    page = read_page(html(documents()))
    assert len(shown_values(page)) >= 30
    assert wrong_values(page, documents()) == []
    assert bare_numbers(page) == []


def test_estimates_have_their_bands() -> None:
    found = json.loads(json.dumps(documents()))
    layers = found["estimate"][0]["cycles"]["by_layer"]
    found["estimate"][0]["cycles"] |= {"band": None, "weakest": "stand-in"}
    layers[0]["band"], layers[1]["band"] = None, {"low": 0.042, "high": 0.5}
    page = read_page(html(found))
    assert wrong_values(page, found) == []
    cells = {
        caption.text: [[cell.text for cell in row.all()] for row in table.all("tr")]
        for table in page.all("table")
        for caption in table.all("caption")
    }
    (network,) = (rows for name, rows in cells.items() if name.endswith(": cycles of the host"))
    heads, estimated = network[0], network[-1]
    assert estimated[heads.index("weakest of these") - len(heads)] == "stand-in"
    assert "not known" in estimated
    (operators,) = (rows for name, rows in cells.items() if "operators, cycles of" in name)
    assert "not known" in operators[1]
    assert "-4 to +50 %" in operators[2]
    titles = [each.text for each in page.all("title") if "expected to work" in each.text]
    assert titles[0].endswith("(band not known)")
    assert titles[1].endswith("(-4 to +50 %)")
    assert "How far the estimated cycles of 1 operator may be off is not known." in page.text


def with_energy(**changes: object) -> dict[str, Any]:
    """Return documents of a chip that states all that its energy needs, with changes."""
    device = {"source": "own measurement", "active_pj_per_cycle": 10, "idle_pj_per_cycle": 1}
    memory = {"source": "own run", "read_pj_per_byte": 2, "write_pj_per_byte": 3}
    stated = {f"devices.{name}.energy": device for name in ("cpu", "npu")}
    stated |= {f"memories.{name}.energy": memory for name in ("flash", "sram")}
    soc = atoll.load_soc("lagoon").with_(stated | changes)
    found = atoll.make_report(atoll.estimate(atoll.compile("lagoon", DIGITS), soc=soc)).to_json()
    return json.loads(json.dumps(found))  # type: ignore[no-any-return]


def test_energy_and_area_are_those_of_the_json() -> None:
    area = {"devices.npu.area": {"source": "own synthesis", "um2": 500}}
    found = with_energy(**area)
    page = read_page(html(found))
    assert wrong_values(page, found) == []
    assert bare_numbers(page) == []
    places = shown_values(page)
    for place in ("total_pj", "by_device/0/idle_pj", "by_memory/1/operators_pj"):
        assert f"/estimate/0/energy/{place}" in places
    assert places["/estimate/0/area/parts_um2/devices.npu"][0] == "500 µm²"
    assert "Area of devices and memories: not known" in page.text
    assert "Nothing states devices.cpu.area, memories.flash.area" in page.text
    assert "nothing states devices.cpu.energy.leakage_mw" in page.text
    lost = with_energy(**area, **{"devices.npu.energy.idle_pj_per_cycle": None})
    page = read_page(html(lost))
    assert "From the first operator to the last: not known" in page.text
    assert "Nothing states devices.npu.energy.idle_pj_per_cycle" in page.text
    assert "Energy: not known" in read_page(html(documents())).text


def test_a_wrong_number_would_be_noticed() -> None:
    page = read_page(html(documents()))
    changed = json.loads(json.dumps(documents()))
    changed["plan"][0]["pools"]["shared"]["used_bytes"] += 1
    assert wrong_values(page, changed) == ["/plan/0/pools/shared/used_bytes: shown as 4,608 B"]


def test_the_documents_are_read_back(tmp_path: Path) -> None:
    path = atoll.Report(documents()).write(tmp_path / "report.html")
    assert atoll.make_report(path).to_json() == documents()


def test_many_documents_are_packed_and_read_back(tmp_path: Path) -> None:
    many = {**documents(), "explanation": documents()["explanation"] * 20}
    path = atoll.Report(many).write(tmp_path / "report.html")
    assert 'type="application/json+gzip"' in path.read_text()
    assert atoll.make_report(path).to_json() == many


def test_nothing_is_loaded_and_only_its_own_script_runs() -> None:
    page = read_page(html(documents()))
    (policy,) = (
        each.attributes["content"]
        for each in page.all("meta")
        if each.attributes.get("http-equiv") == "Content-Security-Policy"
    )
    rules = dict(rule.strip().split(" ", 1) for rule in policy.split(";"))
    assert rules["default-src"] == "'none'"
    scripts = [each for each in page.all("script") if not each.attributes]
    for kind, (element,) in {"script": scripts, "style": list(page.all("style"))}.items():
        digest = base64.b64encode(hashlib.sha256(element.text.encode()).digest()).decode()
        assert rules[f"{kind}-src"] == f"'sha256-{digest}'"
    for each in page.all():
        assert each.tag not in ("link", "img", "iframe", "object", "embed", "base")
        assert not {"src", "style", "xlink:href"} & each.attributes.keys()
        assert not any(name.startswith("on") for name in each.attributes)
        assert each.attributes.get("href", "#").startswith("#")


def tainted(data: Any) -> Any:
    """Return documents whose every text ends with what a browser would obey."""
    match data:
        case str():
            return data + TAG
        case dict():
            return {key: tainted(value) for key, value in data.items()}
        case list():
            return [tainted(each) for each in data]
    return data


def test_texts_are_escaped() -> None:
    clean, page = read_page(html(documents())), read_page(html(tainted(documents())))
    for tag in ("img", "script"):
        assert len(list(page.all(tag))) == len(list(clean.all(tag)))
    (body,) = page.all("body")
    assert TAG in body.text


def test_keys_are_escaped() -> None:
    found = json.loads(json.dumps(documents()))
    pools = found["plan"][0]["pools"]
    pools[TAG + "/~"] = pools.pop("private")
    page = read_page(html(found))
    assert not list(page.all("img"))
    assert wrong_values(page, found) == []


def test_places_lead_to_their_values() -> None:
    page = read_page(html(documents()))
    names = {each.attributes.get("id") for each in page.all()}
    places = {link.attributes["href"][1:] for link in page.all("a")}
    assert places
    assert places <= names


@pytest.mark.parametrize("key", ["chip", "check", "plan", "explanation", "estimate", "run"])
def test_a_document_alone_makes_a_page(key: str) -> None:
    nothing = atoll.make_report().to_json()
    page = read_page(html({**nothing, key: documents()[key]}))
    assert not [each for each in page.all("data") if "None" in each.text]
    assert read_page(html({**documents(), key: nothing[key]}))


def test_what_is_not_known_is_no_number() -> None:
    page = read_page(html(documents()))
    words = [each.text for each in page.all("span") if each.attributes.get("class") == "unknown"]
    assert "not measured" in words
    assert value_at(documents(), "/run/0/cycles/total") is None
    assert "/run/0/cycles/total" not in shown_values(page)


FAILED = {"code": "E141", "message": "no image", "at": None, "other": None}
INSTANCE = {"instance": "a", "cost": 0, "gap_bytes": 0, "optimal": True, "pools": {}, "buffers": {}}
FAILED |= {"remedy": None, "tried": None}


@pytest.mark.parametrize(
    ("text", "code", "words"),
    [
        ("", "E223", "is empty"),
        (" \n", "E223", "is empty"),
        ("{", "E223", "ends in the middle"),
        ('{"soc": "lag', "E223", "ends in the middle"),
        ("soc: lagoon", "E223", "is no JSON: Expecting value"),
        ("{} {}", "E223", "more than one JSON text"),
        ("[" * 200_000, "E223", "nested too deep"),
        (f"[{'9' * 21}]", "E223", "a number of more than 20 digits"),
        (f"[{'9' * 9000}]", "E223", "a number of more than 20 digits"),
        ("\x00", "E223", "is no JSON"),
        (json.dumps({"faults": [FAILED]}), "E224", "that failed: E141, no image"),
        ("[]", "E226", "holds nothing that a report shows"),
        ('{"a": 1}', "E226", "holds nothing that a report shows"),
        ('"text"', "E226", "holds nothing that a report shows"),
        ('{"wrote": ["chip.yaml"]}', "E226", "is of atoll new"),
        (json.dumps(INSTANCE), "E226", "is of atoll plan without a network on a chip"),
        ("<html></html>", "E226", "is a page, and no report"),
    ],
)
def test_other_files_are_refused(text: str, code: str, words: str, tmp_path: Path) -> None:
    path = tmp_path / "other.json"
    path.write_text(text)
    with pytest.raises(atoll.UsageError) as caught:
        atoll.make_report(path)
    assert caught.value.code == code
    assert words in caught.value.faults[0].message
    assert caught.value.faults[0].remedy


def test_bytes_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "network.json"
    path.write_bytes(b"\xff\xfe\x00TFL3")
    with pytest.raises(atoll.UsageError, match=r"E223.*is no text"):
        atoll.make_report(path)


@pytest.mark.parametrize("key", ["check", "plan", "explanation", "estimate", "run"])
def test_an_output_cut_anywhere_is_told_with_its_end(key: str, tmp_path: Path) -> None:
    found = documents()[key]
    text = json.dumps(found[0] if isinstance(found, list) else found, indent=2)
    path = tmp_path / "cut.json"
    for length in range(1, len(text), len(text) // 40):
        path.write_text(text[:length])
        with pytest.raises(atoll.UsageError) as caught:
            atoll.make_report(path)
        assert caught.value.code == "E223"
        (fault,) = caught.value.faults
        assert fault.at is not None
        last = text[:length].rstrip().count("\n") + 1
        assert last - 1 <= fault.at.line <= last + 1


@pytest.mark.parametrize("key", ["check", "plan", "explanation", "estimate", "run"])
def test_an_output_of_another_version_names_command_and_place(key: str, tmp_path: Path) -> None:
    found = documents()[key]
    data = json.loads(json.dumps(found[0] if isinstance(found, list) else found))
    data["notes"] = 7
    path = tmp_path / "old.json"
    path.write_text(json.dumps([data, data] if key == "run" else data))
    with pytest.raises(atoll.UsageError) as caught:
        atoll.make_report(path)
    assert caught.value.code == "E224"
    command = {"explanation": "explain"}.get(key, key)
    place = "/0/notes" if key == "run" else "/notes"
    message = caught.value.faults[0].message
    assert f"this version's atoll {command} prints: it differs at '{place}'" in message


def test_damaged_reports_are_refused(tmp_path: Path) -> None:
    path = atoll.Report(documents()).write(tmp_path / "report.html")
    path.write_text(path.read_text().replace('"used_bytes":', '"used":'))
    with pytest.raises(atoll.UsageError) as caught:
        atoll.make_report(path)
    assert caught.value.code == "E227"


def test_what_commands_print_is_read(tmp_path: Path) -> None:
    for key in ("chip", "check", "plan", "explanation", "candidates", "estimate", "run"):
        path = tmp_path / f"{key}.json"
        found = documents()[key]
        path.write_text(json.dumps(found[0] if isinstance(found, list) else found))
        report = atoll.make_report(path)
        assert report.documents[key] == found
        read_page(report.to_html())


def test_a_planted_finding_is_on_top_and_in_a_frame() -> None:
    found = json.loads(json.dumps(documents()))
    found["run"][0]["placement"]["violations"].append(
        {
            **dict.fromkeys(("key", "at", "remedy"), ""),
            **{"rule": "read before write", "number": "S4", "device": "npu", "cycle": 4242},
            **{"operator": "conv_2d_2", "buffer": "add_3_out", "pool": "shared", "count": 3},
            **{"offset_bytes": 16, "address": 0x2000_0010, "size_bytes": 4},
            "detail": "bytes that nobody wrote",
        }
    )
    page = read_page(html(found))
    verdict = [each for each in page.all("p") if "verdict" in each.attributes.get("class", "")]
    assert [each.text for each in verdict] == ["1 finding: see Proof"]
    assert verdict[0].attributes["class"] == "verdict bad"
    (frame,) = (each for each in page.all("div") if each.attributes.get("class") == "finding")
    for words in ("read before write", "npu", "conv_2d_2", "add_3_out", "0x20000010", "4,242"):
        assert words in frame.text


def test_a_planted_alias_is_in_the_picture_and_in_a_table() -> None:
    alias = {"alias_of": "sram", "origin": 0x3000_0000, "size": "256 KiB"}
    chip = atoll.load_soc("lagoon").with_({"memories.mirror": alias})
    page = read_page(atoll.make_report(chip).to_html())
    (section,) = (each for each in page.all("section") if each.attributes["id"] == "chip")
    (picture,) = section.all("svg")
    assert "mirror: alias at 0x30000000" in picture.text
    assert any(each.text == "mirror" for each in section.all("th"))


def test_a_planted_bottleneck_is_ranked_and_what_helps_was_tried() -> None:
    chip = atoll.load_soc("twin")
    report = atoll.make_report(atoll.compile(chip, DIGITS), try_seconds=60)
    tried = report.documents["tried"]
    slowest = max(
        report.documents["estimate"][0]["cycles"]["by_layer"], key=lambda each: each["cycles"]
    )
    assert tried[0]["operator"] == slowest["operator"]
    assert list(tried[0]["changes"]) == ["devices.npu_large.runs"], "no engine may run ADD"
    faster = atoll.estimate(atoll.compile(chip.with_(tried[0]["changes"]), DIGITS)).network
    assert tried[0]["total_then_ns"] == faster.to_json()["cycles"]["total_ns"]
    assert tried[0]["total_then_ns"] < tried[0]["total_ns"]
    (section,) = (
        each
        for each in read_page(report.to_html()).all("section")
        if each.attributes["id"] == "time"
    )
    assert "npu_large runs add" in section.text


def test_tries_end_in_time() -> None:
    tried = atoll.make_report(atoll.compile("lagoon", DIGITS), try_seconds=1e-9).documents["tried"]
    assert {each["why_not"] for each in tried} == {"not tried: the time was up"}
    assert {each["total_then_ns"] for each in tried} == {None}


def test_two_reports_side_by_side() -> None:
    made = atoll.compile("lagoon", DIGITS)
    wide = atoll.compile(atoll.load_soc("lagoon").with_({"memories.flash.width": 8}), DIGITS)
    report = atoll.make_report(wide, before=atoll.make_report(made, try_seconds=0), try_seconds=0)
    found = json.loads(json.dumps(report.to_json()))
    page = read_page(report.to_html())
    assert wrong_values(page, found) == []
    values = shown_values(page)
    for side in ("", "/before"):
        assert f"{side}/estimate/0/cycles/total" in values
        assert f"{side}/chip/memories/0/width_bytes_per_cycle" in values
