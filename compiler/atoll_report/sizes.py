# SPDX-License-Identifier: Apache-2.0
"""Bytes: of constants and buffers by pool, of operators in each memory, of stacks and images."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any
from xml.etree.ElementTree import SubElement

from markupsafe import Markup

from atoll.report.svg import figure, number, write
from atoll_report.figures import inline
from atoll_report.heat import heat_maps
from atoll_report.node import Node

_WIDTH, _LEFT, _RIGHT, _ROW = 1200, 150, 190, 30


def content(documents: Node) -> Mapping[str, object] | None:
    """Return what fills the page."""
    if not (documents["plan"] or documents["run"] or documents["estimate"]):
        return None
    return {
        "pools": [(plan, _use(plan)) for plan in documents["plan"] if plan["buffers"]],
        "constants": [(plan, list(_constants(documents, plan))) for plan in documents["plan"]],
        "traffic": [(each, _memories(each)) for each in documents["estimate"]],
        "heat": list(heat_maps(documents)),
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
