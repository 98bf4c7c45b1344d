# SPDX-License-Identifier: Apache-2.0
"""A sweep: its front, its points in parallel coordinates, and the best of each pair of values."""

from collections.abc import Mapping, Sequence
from itertools import islice, pairwise
from xml.etree.ElementTree import Element, SubElement

from markupsafe import Markup

from atoll.diagnostics.shown import printable
from atoll.report.svg import figure, number, write
from atoll_report.figures import inline, write_within
from atoll_report.node import Node

_WIDTH, _HEIGHT, _TOP, _BOTTOM, _SIDE = 1100, 420, 44, 40, 90
_MOST_ROWS = 200
_CELL, _CELL_WIDTH, _LEFT = 26, 90, 190


def content(documents: Node) -> Mapping[str, object] | None:
    """Return what fills the page."""
    sweep = documents.get("sweep")
    if not sweep:
        return None
    objectives = [each.raw for each in sweep["objectives"]]
    drawn = [each for each in objectives if sweep["drawn"] and _varies(sweep, each)]
    return {
        "sweep": sweep,
        "front": list(islice(sweep["front"], _MOST_ROWS)),
        "stages": dict.fromkeys(
            (stage, name)
            for each in sweep["front"]
            for stage, figures in each["stages"].items()
            for name, value in figures.items()
            if value.known
        ),
        "bases": [
            name
            for name in ("energy_basis", "area_basis")
            if any(each[name].raw for each in sweep["front"])
        ],
        "logic": any(each["logic_basis"].raw for each in sweep["front"]),
        "objectives": objectives,
        "plots": [_plot(sweep, *two) for two in pairwise(drawn)],
        "parallel": _parallel(sweep, objectives) if sweep["drawn"] else None,
        "heat": [_heat(sweep, each) for each in drawn if _strongest(sweep, each)],
    }


def _plot(sweep: Node, across: str, up: str) -> Markup:
    """Draw points by two objectives, those of the front on top."""
    root = figure(f"{sweep['sweep']}: {up} over {across}", _WIDTH, _HEIGHT)
    spans = {name: _span(sweep, name) for name in (across, up)}
    left, right, bottom = _SIDE, _WIDTH - _SIDE, _HEIGHT - _BOTTOM
    for share in (0, 0.25, 0.5, 0.75, 1):
        x, y = left + share * (right - left), bottom - share * (bottom - _TOP)
        _line(root, "axis", [(x, _TOP), (x, bottom)])
        _line(root, "axis", [(left, y), (right, y)])
        write(root, x, bottom + 16, _at(spans[across], share), anchor="middle")
        write(root, left - 6, y + 4, _at(spans[up], share), anchor="end")
    write(root, right, _HEIGHT - 6, across, style="note", anchor="end")
    write(root, left, _TOP - 12, up, style="note")
    for each in sorted(sweep["drawn"], key=lambda one: bool(one["front"].raw)):
        x = left + _share(each["objectives"][across].raw, spans[across]) * (right - left)
        y = bottom - _share(each["objectives"][up].raw, spans[up]) * (bottom - _TOP)
        kind, size = ("dot c6 s6", 5) if each["front"].raw else ("dot c0 s0", 3)
        spot = {"class": kind, "cx": number(x), "cy": number(y), "r": str(size)}
        _title(SubElement(root, "circle", spot), _words(sweep, each))
    return inline(root, "plot")


def _parallel(sweep: Node, objectives: Sequence[str]) -> Markup:
    """Draw each point as a line through its values and objectives."""
    axes = [*sweep["axes"].raw, *objectives]
    root = figure(f"{sweep['sweep']}: points in parallel coordinates", _WIDTH, _HEIGHT)
    step = (_WIDTH - 2 * _SIDE) / max(1, len(axes) - 1)
    bottom = _HEIGHT - _BOTTOM
    spans = {name: _span(sweep, name) for name in objectives}
    for each in sorted(sweep["drawn"], key=lambda one: bool(one["front"].raw)):
        shares = [
            one / max(1, len(values) - 1)
            for one, values in zip(each["values"].raw, sweep["axes"].raw.values(), strict=True)
        ]
        shares += [_share(each["objectives"][name].raw, spans[name]) for name in objectives]
        points = [
            (_SIDE + place * step, bottom - share * (bottom - _TOP))
            for place, share in enumerate(shares)
        ]
        kind = "way s6" if each["front"].raw else "axis"
        _title(_line(root, kind, points), _words(sweep, each))
    for place, name in enumerate(axes):
        x = _SIDE + place * step
        _line(root, "block", [(x, _TOP), (x, bottom)])
        write_within(root, x, _TOP - 22, name, step - 8, style="head", anchor="middle")
        values = sweep["axes"].raw.get(name)
        ends = (values[0], values[-1]) if values else [_at(spans[name], each) for each in (0, 1)]
        write(root, x, bottom + 16, ends[0], anchor="middle")
        write(root, x, _TOP - 6, ends[-1], anchor="middle")
    return inline(root)


def _strongest(sweep: Node, objective: str) -> list[str]:
    """Return the two axes that decide most of an objective; nothing if there are none."""
    shares = {each["axis"].raw: each["shares"][objective].raw or 0 for each in sweep["sensitivity"]}
    known = sorted(
        (name for name in shares if len(sweep["axes"][name]) > 1), key=lambda name: -shares[name]
    )
    return known[:2] if len(known) > 1 else []


def _heat(sweep: Node, objective: str) -> Markup:
    """Draw the lowest value of an objective for each pair of values of two axes."""
    down, across = _strongest(sweep, objective)
    names = list(sweep["axes"].raw)
    rows, columns = names.index(down), names.index(across)
    best: dict[tuple[int, int], Node] = {}
    for each in sweep["drawn"]:
        cell = each["values"].raw[rows], each["values"].raw[columns]
        if cell not in best or _value(each, objective) < _value(best[cell], objective):
            best[cell] = each
    low, high = _span(sweep, objective)
    high_labels, wide_labels = sweep["axes"][down].raw, sweep["axes"][across].raw
    width = max(_WIDTH, _LEFT + len(wide_labels) * _CELL_WIDTH + 20)
    title = f"{sweep['sweep']}: lowest {objective} by {down} and {across}"
    root = figure(title, width, 70 + len(high_labels) * _CELL)
    write(root, 8, 16, f"lowest {objective}", style="head")
    write(root, _LEFT, 16, across, style="note")
    write_within(root, _LEFT - 8, 34, down, _LEFT - 12, style="note", anchor="end")
    for column, label in enumerate(wide_labels):
        write(root, _LEFT + (column + 0.5) * _CELL_WIDTH, 34, label, anchor="middle")
    for row, label in enumerate(high_labels):
        top = 42 + row * _CELL
        write_within(root, _LEFT - 8, top + 17, label, _LEFT - 12, style="head", anchor="end")
        for column in range(len(wide_labels)):
            found = best.get((row, column))
            x = _LEFT + column * _CELL_WIDTH
            heat = 0.06 + 0.6 * (1 - _share(_value(found, objective), (low, high))) if found else 0
            place = {"x": number(x), "y": number(top), "width": str(_CELL_WIDTH)}
            style = {"class": "heat", "height": str(_CELL), "fill-opacity": number(heat)}
            cell_of = SubElement(root, "rect", place | style)
            _title(cell_of, _words(sweep, found) if found else "no point that is compared")
            words = _short(_value(found, objective)) if found else "-"
            write(root, x + _CELL_WIDTH / 2, top + 17, words, anchor="middle")
    return inline(root)


def _value(point: Node, objective: str) -> float:
    found: float = point["objectives"][objective].raw
    return found


def _span(sweep: Node, objective: str) -> tuple[float, float]:
    values = [_value(each, objective) for each in sweep["drawn"]]
    return min(values), max(values)


def _varies(sweep: Node, objective: str) -> bool:
    low, high = _span(sweep, objective)
    return low < high


def _share(value: float, span: tuple[float, float]) -> float:
    low, high = span
    return (value - low) / (high - low) if high > low else 0.5


def _at(span: tuple[float, float], share: float) -> str:
    return _short(span[0] + share * (span[1] - span[0]))


def _short(value: float) -> str:
    return f"{value:,.0f}" if abs(value) >= 100 or value == int(value) else f"{value:.3g}"


def _words(sweep: Node, point: Node) -> str:
    """Return what a point is and has, with the place of it."""
    axes = zip(sweep["axes"].raw.items(), point["values"].raw, strict=True)
    values = ", ".join(f"{name} {labels[one]}" for (name, labels), one in axes)
    found = ", ".join(f"{name} {_short(value)}" for name, value in point["objectives"].raw.items())
    return f"point {point['point'].raw}: {values}; {found} ({point.pointer})"


def _line(root: Element, kind: str, points: Sequence[tuple[float, float]]) -> Element:
    way = " L ".join(f"{number(x)} {number(y)}" for x, y in points)
    return SubElement(root, "path", {"class": kind, "d": f"M {way}", "fill": "none"})


def _title(element: Element, words: str) -> None:
    SubElement(element, "title").text = printable(words)
