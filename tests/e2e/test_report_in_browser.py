# SPDX-License-Identifier: Apache-2.0
"""Reports in a browser: nothing fails, nothing is loaded, keys work, figures are the JSON's."""

import json
import os
import shutil
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from benchmarks.reports import SUBJECTS, make
from tests.effort import in_gate
from tests.unit.page.html_values import agrees, value_at

import atoll

sync_api = pytest.importorskip("playwright.sync_api")
axe_playwright = pytest.importorskip("axe_playwright_python.sync_playwright")

CHROMIUM = shutil.which("chromium")
pytestmark = pytest.mark.skipif(CHROMIUM is None, reason="no chromium")

DIGITS = "examples/01_digits/digits_int8.tflite"
FIGURES = 30
PATIENCE = 120_000
"""Milliseconds, on a machine that is busy with other tests."""

WIDTHS = (400, 1280, 2560)
SLOW = [name for name in SUBJECTS if name != "digits on lagoon"]


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    with sync_api.sync_playwright() as play:
        boxed = [] if os.geteuid() else ["--no-sandbox"]
        started = play.chromium.launch(executable_path=CHROMIUM, args=boxed)
        yield started
        started.close()


@dataclass
class Opened:
    """A page with what went wrong and what was asked for while it was open."""

    page: Any
    said: list[str]
    asked: list[str]


def opened(browser: Any, path: Path, **settings: Any) -> Opened:
    page = browser.new_context(**settings).new_page()
    found = Opened(page, [], [])
    page.on("console", lambda message: found.said.append(message.text))
    page.on("pageerror", lambda error: found.said.append(str(error)))
    page.on("request", lambda request: found.asked.append(request.url))
    page.goto(path.as_uri(), timeout=PATIENCE)
    return found


@pytest.fixture(scope="module")
def digits(tmp_path_factory: pytest.TempPathFactory) -> Path:
    made = atoll.compile("lagoon", DIGITS)
    run = atoll.run(made, cpu="native", accelerator="model")
    before = atoll.make_report(atoll.compile("lagoon", DIGITS, accelerators=False), try_seconds=0)
    found = atoll.make_report(made, run, before=before)
    return found.write(tmp_path_factory.mktemp("report") / "digits.html")


def judge(browser: Any, path: Path, documents: Mapping[str, Any]) -> None:
    found = opened(browser, path)
    page = found.page
    assert found.said == []
    assert found.asked == [path.as_uri()]
    shown = page.eval_on_selector_all(
        "data[data-json]", "all => all.map(each => [each.dataset.json, each.textContent])"
    )
    figures = dict(shown)
    assert len(figures) >= FIGURES
    step = len(figures) // FIGURES
    for pointer in list(figures)[:: max(1, step)]:
        assert agrees(figures[pointer], value_at(documents, pointer)), pointer
    drawn = page.eval_on_selector_all(
        "figure.chart svg", "all => all.map(each => each.querySelectorAll('rect, path').length)"
    )
    assert drawn
    assert all(drawn)


def test_digits(browser: Any, digits: Path) -> None:
    judge(browser, digits, atoll.make_report(digits).to_json())


@pytest.mark.slow
@pytest.mark.parametrize("name", SLOW)
def test_subjects(name: str, browser: Any, tmp_path: Path, shared_models: Path) -> None:
    if "Ethos" in name:
        pytest.importorskip("ethosu.vela")
    made = make(name, shared_models)
    path = tmp_path / "report.html"
    path.write_text(made.html, encoding="utf-8")
    assert path.stat().st_size <= 4 * 2**20
    judge(browser, path, json.loads(json.dumps(made.report.to_json())))


@pytest.mark.parametrize("scheme", in_gate(["light", "dark"], 1))
def test_accessible(scheme: str, browser: Any, digits: Path) -> None:
    page = opened(browser, digits, color_scheme=scheme, bypass_csp=True).page
    found = axe_playwright.Axe().run(page).response["violations"]
    assert [each["id"] for each in found if each["impact"] in ("serious", "critical")] == []


@pytest.mark.parametrize("width", WIDTHS)
def test_the_page_is_as_wide_as_the_window(width: int, browser: Any, digits: Path) -> None:
    page = opened(browser, digits, viewport={"width": width, "height": 900}).page
    assert page.evaluate("document.documentElement.scrollWidth") == width


def test_keys(browser: Any, digits: Path) -> None:
    page = opened(browser, digits).page
    first = page.locator("#memory figure.zoom svg a").first
    first.focus()
    page.keyboard.press("ArrowDown")
    name = page.evaluate("document.activeElement.querySelector('title').textContent").split(":")[0]
    assert name != first.locator("title").text_content().split(":")[0]
    page.keyboard.press("Enter")
    story = page.locator("#story")
    assert story.is_visible()
    assert page.locator("#story-title").text_content() == name
    assert "why here" in story.text_content()
    page.keyboard.press("Escape")
    assert not story.is_visible()
    svg = page.locator("#memory figure.zoom svg").first
    before = svg.bounding_box()["width"]
    page.keyboard.press("+")
    assert svg.bounding_box()["width"] == pytest.approx(2 * before)


def test_search(browser: Any, digits: Path) -> None:
    page = opened(browser, digits).page
    page.get_by_label("Find a buffer").fill("softmax")
    left = page.locator("details.story:not([hidden])")
    assert left.count() == 3
    assert page.locator("output.found").text_content().startswith("3 of ")
    assert page.locator("#memory figure a:not(.dim)").count() == 3


def test_a_device_lights_up_its_ways(browser: Any, digits: Path) -> None:
    page = opened(browser, digits).page
    page.get_by_role("link", name="device npu").focus()
    lit = page.locator("#chip path.way:not(.unlit) title").all_text_contents()
    assert sorted(lit) == ["npu to shared: rw", "npu to weights: ro"]


def test_all_is_there_without_a_script(browser: Any, digits: Path) -> None:
    page = opened(browser, digits, java_script_enabled=False).page
    with_script = opened(browser, digits).page
    for what in ("figure svg", "table", "details.story"):
        assert page.locator(what).count() == with_script.locator(what).count()
    page.locator("#memory figure svg a").first.click()
    assert page.url.partition("#")[2].startswith("b0-")


def test_the_theme_can_be_chosen(browser: Any, digits: Path) -> None:
    page = opened(browser, digits, color_scheme="light").page
    paper = "getComputedStyle(document.body).backgroundColor"
    light = page.evaluate(paper)
    page.get_by_role("button", name="Dark").click()
    assert page.evaluate(paper) != light
    assert page.get_by_role("button", name="Light").is_visible()


def test_printed(browser: Any, digits: Path, tmp_path: Path) -> None:
    page = opened(browser, digits).page
    page.emulate_media(media="print")
    assert not page.locator("nav").is_visible()
    assert len(page.pdf(path=tmp_path / "report.pdf")) > 10_000
