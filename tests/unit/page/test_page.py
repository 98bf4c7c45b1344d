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
    for link in read_page(html(documents())).all("a"):
        name = link.attributes["href"][1:]
        assert any(
            each.attributes.get("id") == name for each in read_page(html(documents())).all()
        ), name


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
    assert value_at(documents(), "/run/0/cycles/total") == 0
    assert "/run/0/cycles/total" not in shown_values(page)


@pytest.mark.parametrize("text", ["", "{", "[]", '{"a": 1}', "soc: lagoon", "\x00"])
def test_other_files_are_refused(text: str, tmp_path: Path) -> None:
    path = tmp_path / "other.json"
    path.write_text(text)
    with pytest.raises(atoll.UsageError) as caught:
        atoll.make_report(path)
    assert caught.value.code == "E226"


def test_damaged_reports_are_refused(tmp_path: Path) -> None:
    path = atoll.Report(documents()).write(tmp_path / "report.html")
    path.write_text(path.read_text().replace('"used_bytes":', '"used":'))
    with pytest.raises(atoll.UsageError) as caught:
        atoll.make_report(path)
    assert caught.value.code == "E227"


def test_what_commands_print_is_read(tmp_path: Path) -> None:
    for key in ("check", "plan", "explanation", "estimate", "run"):
        path = tmp_path / f"{key}.json"
        found = documents()[key]
        path.write_text(json.dumps(found[0] if isinstance(found, list) else found))
        assert atoll.make_report(path).documents[key] == found
