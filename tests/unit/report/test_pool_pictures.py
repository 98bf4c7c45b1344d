# SPDX-License-Identifier: Apache-2.0
"""Pictures of pools: the right blocks, valid XML without references, 80 columns in a terminal."""

from dataclasses import replace
from xml.etree import ElementTree

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.console import Console

from atoll.memory.problem import Buffer, MemoryPlan, PoolSpace, Problem
from atoll.memory.solve import plan_memory
from atoll.report.plan_table import plan_table
from atoll.report.pool_picture import PoolPicture, pool_pictures
from atoll.report.pool_svg import svg_of
from atoll.report.pool_terminal import draw

SVG = "{http://www.w3.org/2000/svg}"
NAMES = st.text(st.characters(codec="utf-8", categories=["L", "N", "P", "S"]), min_size=1)


def plan_of(*buffers: tuple[str, int, tuple[int, int]]) -> MemoryPlan:
    pools = tuple(
        PoolSpace(name=name, origin=0x1000_0000 * n, size=1 << 16, alignment=8)
        for n, name in enumerate(("fast", "slow"))
    )
    listed = tuple(
        Buffer(name=name, size=size, alignment=8, live=(life,), pools=("fast",))
        for name, size, life in buffers
    )
    return plan_memory(Problem(pools=pools, buffers=listed))


@pytest.fixture
def plan() -> MemoryPlan:
    """Two that overlap in time, and one that comes after the first."""
    return plan_of(("first", 64, (0, 2)), ("second", 32, (1, 4)), ("third", 48, (2, 4)))


def elements(picture: str, kind: str) -> list[ElementTree.Element]:
    return list(ElementTree.fromstring(picture).iter(f"{SVG}{kind}"))


def printed(pictures: list[PoolPicture], *, color: bool = False) -> str:
    console = Console(width=80, force_terminal=color, color_system="256" if color else None)
    with console.capture() as capture:
        for part in draw(pictures):
            console.print(part)
    return capture.get()


def test_only_pools_that_hold_something_are_drawn(plan: MemoryPlan) -> None:
    (picture,) = pool_pictures(plan)
    assert (picture.pool, picture.used, picture.bound) == ("fast", 96, 96)
    assert (picture.begin, picture.end) == (0, 4)
    assert [str(block) for block in picture.blocks] == [
        "first: 64 B at 0, steps 0 to 1",
        "second: 32 B at 64, steps 1 to 3",
        "third: 48 B at 0, steps 2 to 3",
    ]


def test_rectangles_are_to_scale(plan: MemoryPlan) -> None:
    picture = svg_of("a plan", pool_pictures(plan))
    first, second, third = (
        {key: float(block.attrib[key]) for key in ("x", "y", "width", "height")}
        for block in elements(picture, "rect")
        if block.get("class") == "block"
    )
    assert second["width"] == pytest.approx(1.5 * first["width"])
    assert second["height"] == pytest.approx(0.5 * first["height"], abs=0.02)
    assert second["y"] + second["height"] == pytest.approx(first["y"], abs=0.02)
    assert third["x"] == pytest.approx(first["x"] + first["width"], abs=0.02)
    assert third["y"] + third["height"] == pytest.approx(first["y"] + first["height"], abs=0.02)


def test_peak_and_bound_are_marked(plan: MemoryPlan) -> None:
    words = [text.text for text in elements(svg_of("t", pool_pictures(plan)), "text")]
    assert "peak = bound 96 B" in words
    assert {"first", "second", "third"} <= set(words)
    lines = printed(list(pool_pictures(plan))).splitlines()
    assert lines[0] == "fast: 96 B used, optimal"
    assert lines[1].endswith("| peak bound")


@pytest.mark.parametrize(("bound", "apart"), [(32, True), (95, False)])
def test_words_on_peak_and_bound_do_not_meet(plan: MemoryPlan, bound: int, apart: bool) -> None:
    (picture,) = pool_pictures(plan)
    texts = elements(svg_of("t", [replace(picture, bound=bound)]), "text")
    heights = {text.text: float(text.attrib["y"]) for text in texts}
    distance = heights[f"bound {bound} B"] - heights["peak 96 B"]
    assert distance >= 12
    assert (distance > 100) == apart


@given(st.lists(NAMES, min_size=1, max_size=40, unique=True))
def test_any_names_make_valid_xml_without_references(names: list[str]) -> None:
    plan = plan_of(*((name, 8 + n, (n, n + 3)) for n, name in enumerate(names)))
    picture = svg_of(names[0], pool_pictures(plan))
    assert picture == svg_of(names[0], pool_pictures(plan))
    titles = {title.text for title in elements(picture, "title")}
    assert len(titles - {names[0]}) >= len(names) - 1
    for element in ElementTree.fromstring(picture).iter():
        assert not [key for key in element.attrib if "href" in key or "src" in key]
        assert "url(" not in "".join(element.attrib.values())


def test_80_columns_are_enough() -> None:
    plan = plan_of(*((f"buffer_{n}", 1000 + n, (n, n + 9)) for n in range(40)))
    text = printed(list(pool_pictures(plan)))
    assert max(map(len, text.splitlines())) <= 80
    assert "  # 14 smaller buffers\n" in text
    assert "a buffer_14" in text


def test_colors_only_where_the_terminal_has_them(plan: MemoryPlan) -> None:
    pictures = list(pool_pictures(plan))
    assert "\x1b[" not in printed(pictures)
    assert "\x1b[" in printed(pictures, color=True)


def test_the_table_says_what_is_proven(plan: MemoryPlan) -> None:
    assert plan_table(plan) == (
        "pool    size  used  bound  gap  proof\n"
        "fast  65,536    96     96    0  optimal\n"
        "3 buffers, planned by auto\n"
    )
