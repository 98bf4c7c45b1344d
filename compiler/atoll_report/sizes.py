# SPDX-License-Identifier: Apache-2.0
"""Bytes: of constants and buffers by pool, of operators in each memory, of stacks and images."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any
from xml.etree.ElementTree import SubElement

from markupsafe import Markup

from atoll.diagnostics.shown import printable
from atoll.report.svg import figure, number, write
from atoll_report.figures import inline
from atoll_report.node import Node

_WIDTH, _LEFT, _RIGHT, _ROW = 1200, 150, 190, 30
_COLUMNS = 96
_CELL, _MAP_LEFT, _MAP_WIDTH = 22, 150, 1000


def content(documents: Node) -> Mapping[str, object] | None:
    """Return what fills the page."""
    if not (documents["plan"] or documents["run"] or documents["estimate"]):
        return None
    return {
        "pools": [(plan, _use(plan)) for plan in documents["plan"] if plan["buffers"]],
        "constants": [(plan, list(_constants(documents, plan))) for plan in documents["plan"]],
        "traffic": [(each, _memories(each)) for each in documents["estimate"]],
        "heat": [(each, _heat(each)) for each in documents["explanation"]],
        "stacks": [run for run in documents["run"] if run["stack"]],
        "limits": documents["chip"].get("stacks"),
        "regions": documents["chip"].get("address_map"),
    }


def _use(plan: Node) -> Markup:
    """Draw how full each pool is: used, and what no plan goes below, of its size."""
    pools = [(name, use) for name, use in plan["pools"].items()]
    root = figure(f"{plan['model']}: how full each pool is", _WIDTH, len(pools) * _ROW + 24)
    for row, (name, use) in enumerate(pools):
        top = 8 + row * _ROW
        size = use["size_bytes"].raw
        write(root, _LEFT - 8, top + 15, name, anchor="end", style="head")
        room = _WIDTH - _LEFT - _RIGHT
        place = {"x": str(_LEFT), "y": number(top), "height": "20"}
        SubElement(root, "rect", {"class": "box", **place, "width": number(room)})
        if size:
            wide = room * min(1.0, use["used_bytes"].raw / size)
            SubElement(root, "rect", {"class": "bar work", **place, "width": number(wide)})
            x = number(_LEFT + room * min(1.0, use["bound_bytes"].raw / size))
            line = {"class": "bound", "x1": x, "x2": x, "y1": number(top), "y2": number(top + 20)}
            SubElement(root, "line", line)
        words = f"{use['used_bytes']} of {use['size_bytes'] if size else 'no limit'}"
        write(root, _LEFT + room + 8, top + 15, words)
    return inline(root)


def _constants(documents: Node, plan: Node) -> Iterator[Mapping[str, object]]:
    """Yield the constants of a network that are in its plan, the greatest first."""
    told = {
        buffer["name"].raw: buffer
        for each in documents["explanation"]
        if each["model"].raw == plan["model"].raw
        for buffer in each["buffers"]
    }
    found: list[dict[str, Any]] = [
        {"name": name, "buffer": buffer, "what": told[name]["what"]}
        for name, buffer in plan["buffers"].items()
        if name in told and told[name]["what"].raw in ("constant", "commands")
    ]
    yield from sorted(found, key=lambda each: -each["buffer"]["size_bytes"].raw)


def _memories(estimate: Node) -> Sequence[str]:
    return [each["memory"].raw for each in estimate["cycles"]["by_memory"]]


def _heat(explanation: Node) -> Markup:
    """Draw which addresses are touched how often: accesses of operators to buffers, by pool."""
    pools: dict[str, list[Node]] = {}
    for buffer in explanation["buffers"]:
        if buffer["address"].known and buffer["size_bytes"]:
            pools.setdefault(buffer["place"].raw, []).append(buffer)
    height = 30 + len(pools) * (_CELL + 26)
    root = figure(f"{explanation['model']}: uses of addresses", _MAP_LEFT + _MAP_WIDTH + 20, height)
    for row, (pool, buffers) in enumerate(pools.items()):
        top = 20 + row * (_CELL + 26)
        write(root, _MAP_LEFT - 8, top + 15, pool, anchor="end", style="head")
        first = min(each["address"].raw for each in buffers)
        last = max(each["address"].raw + each["size_bytes"].raw for each in buffers)
        heats = [0] * _COLUMNS
        step = max(1, -(-(last - first) // _COLUMNS))
        for each in buffers:
            begin = (each["address"].raw - first) // step
            end = (each["address"].raw + each["size_bytes"].raw - 1 - first) // step
            for column in range(begin, min(end, _COLUMNS - 1) + 1):
                heats[column] += len(each["uses"])
        most = max(heats)
        for column, heat in enumerate(heats):
            place = {"x": number(_MAP_LEFT + column * _MAP_WIDTH / _COLUMNS), "y": str(top)}
            opacity = number(0.06 + 0.94 * heat / most) if heat else "0"
            cell = SubElement(
                root,
                "rect",
                {
                    **{"class": "heat", **place, "height": str(_CELL)},
                    "width": number(_MAP_WIDTH / _COLUMNS),
                    "fill-opacity": opacity,
                },
            )
            words = f"{first + column * step:#010x}: {heat} uses"
            SubElement(cell, "title").text = printable(words)
        write(root, _MAP_LEFT, top + _CELL + 13, f"{first:#010x}", style="note")
        words = f"{last - 1:#010x}"
        write(root, _MAP_LEFT + _MAP_WIDTH, top + _CELL + 13, words, style="note", anchor="end")
    return inline(root) if pools else Markup("")
