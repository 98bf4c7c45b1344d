# SPDX-License-Identifier: Apache-2.0
"""The chip: who is on it, what reaches what, and what lies where."""

from collections.abc import Iterator, Mapping
from xml.etree.ElementTree import Element, SubElement

from atoll.diagnostics.shown import printable
from atoll.diagnostics.units import format_size
from atoll.report.svg import figure, number
from atoll_report.figures import inline, write_within
from atoll_report.node import Node, value_text

_WIDTH, _LEFT, _RIGHT = 1000, 250, 520
_HEAD, _ROW, _GAP, _TOP = 42, 24, 14, 16


def content(documents: Node) -> Mapping[str, object] | None:
    """Return what fills the page."""
    chip = documents["chip"]
    if not chip.known:
        return None
    devices = [each["device"].raw for each in chip["devices"]]
    return {
        "chip": chip,
        "picture": inline(_Diagram(chip).draw(), "lights"),
        "devices": devices,
        "pools": [each["pool"].raw for each in chip["pools"]],
        "reached": [
            {"device": name, "rows": list(_reachable_pools(chip, name))} for name in devices
        ],
    }


def _reachable_pools(chip: Node, device: str) -> Iterator[Mapping[str, object]]:
    """Yield the pools that a device may touch, with the window through which it sees each."""
    access = {row["pool"].raw: row["access"].get(device) for row in chip["reach"]}
    for pool in chip["pools"]:
        how = access[pool["pool"].raw]
        if how.known and how.raw != "none":
            window = next(
                (
                    view
                    for view in chip["views"]
                    if view["what"].raw == pool["memory"].raw and view["device"].raw == device
                ),
                None,
            )
            yield {"pool": pool, "access": how, "window": window}


class _Diagram:
    """Devices to the left, memories with their pools to the right, a line for each way."""

    def __init__(self, chip: Node) -> None:
        self._chip = chip
        self._pools = {each["pool"].raw: row for row, each in enumerate(chip["pools"])}
        self._ways = {
            (row["pool"].raw, device): how.raw
            for row in chip["reach"]
            for device, how in row["access"].items()
            if how.raw != "none"
        }
        self._middle: dict[str, float] = {}

    def draw(self) -> Element:
        """Return the picture."""
        boxes = [
            (memory, list(self._rows(memory["memory"].raw))) for memory in self._chip["memories"]
        ]
        heights = [_HEAD + len(rows) * _ROW + _GAP for _, rows in boxes]
        devices = list(self._chip["devices"])
        tall = max(sum(heights), len(devices) * (_HEAD + 24 + _GAP)) + 2 * _TOP
        root = figure(f"{self._chip['soc']}: devices, memories and ways between them", _WIDTH, tall)
        ways = SubElement(root, "g")
        top = _TOP
        for (memory, rows), height in zip(boxes, heights, strict=True):
            self._memory(root, memory, rows, top)
            top += height
        step = (tall - 2 * _TOP) / max(1, len(devices))
        for row, device in enumerate(devices):
            self._device(root, ways, row, device, _TOP + (row + 0.5) * step)
        return root

    def _rows(self, memory: str) -> Iterator[tuple[str, str]]:
        """Yield what lies in a memory: the name of a pool or "", and words."""
        for part in self._chip["address_map"]:
            kind, _, place = part["kind"].raw.partition(" in ")
            if place == memory:
                words = f"{part['what']}: {kind}, {format_size(part['size_bytes'].raw)}"
                yield (part["what"].raw if kind == "pool" else ""), words
        for alias in self._chip["aliases"]:
            if alias["memory"].raw == memory:
                yield "", f"{alias['alias']}: alias at {alias['first_address']}"

    def _memory(self, root: Element, memory: Node, rows: list[tuple[str, str]], top: float) -> None:
        group = SubElement(root, "g", {"class": "memory"})
        _box(group, _RIGHT, top, _WIDTH - _RIGHT - 10, _HEAD + len(rows) * _ROW, "box")
        room, name = _WIDTH - _RIGHT - 30, f"{memory['memory']}: {memory['kind']}"
        write_within(group, _RIGHT + 10, top + 17, name, room, style="head")
        words = (
            f"{format_size(memory['size_bytes'].raw)} at {memory['first_address']}, "
            f"{memory['width_bytes_per_cycle']} B a cycle, {_banks(memory['banks'].raw)}, "
            f"latency {memory['read_latency_cycles']}"
        )
        write_within(group, _RIGHT + 10, top + 33, words, room, style="note")
        for row, (pool, text) in enumerate(rows):
            y = top + _HEAD + row * _ROW
            parent = self._pool(group, pool) if pool in self._pools else group
            style = "pool" if pool in self._pools else "part"
            _box(parent, _RIGHT + 8, y, _WIDTH - _RIGHT - 26, _ROW - 4, style)
            write_within(parent, _RIGHT + 16, y + 14, text, room - 12)
            if pool:
                self._middle[pool] = y + (_ROW - 4) / 2

    def _pool(self, group: Element, pool: str) -> Element:
        lights = " ".join(
            f"d{row}"
            for row, device in enumerate(self._chip["devices"])
            if (pool, device["device"].raw) in self._ways
        )
        own = f"p{self._pools[pool]}"
        told = {"href": f"#{own}", "data-own": own, "data-lights": f"{own} {lights}"}
        return SubElement(group, "a", {**told, "aria-label": printable(f"pool {pool}")})

    def _device(self, root: Element, ways: Element, row: int, device: Node, middle: float) -> None:
        name, own = device["device"].raw, f"d{row}"
        reached = [pool for pool in self._pools if (pool, name) in self._ways]
        lights = " ".join(f"p{self._pools[pool]}" for pool in reached)
        link = {"href": f"#{own}", "data-own": own, "data-lights": f"{own} {lights}"}
        group = SubElement(root, "a", {**link, "aria-label": printable(f"device {name}")})
        _box(group, 10, middle - 32, _LEFT - 10, 64, f"device c{row % 10}")
        kind = f"{device['kind']}, {device['clock_hz']}"
        write_within(group, 20, middle - 13, name, _LEFT - 28, style="head")
        write_within(group, 20, middle + 3, kind, _LEFT - 28, style="note")
        write_within(group, 20, middle + 18, str(device["is"]), _LEFT - 28, style="note")
        for pool in reached:
            end = self._middle.get(pool)
            if end is None:
                continue
            curve = f"M {_LEFT} {number(middle)} C {_LEFT + 130} {number(middle)}, "
            curve += f"{_RIGHT - 130} {number(end)}, {_RIGHT + 8} {number(end)}"
            how = self._ways[pool, name]
            told = {"class": f"way {how} s{row % 10}", "d": curve}
            told["data-lights"] = f"{own} p{self._pools[pool]}"
            path = SubElement(ways, "path", told)
            SubElement(path, "title").text = printable(f"{name} to {pool}: {how}")


def _banks(count: int) -> str:
    return "1 bank" if count == 1 else f"{value_text(count)} banks"


def _box(parent: Element, x: float, y: float, width: float, height: float, style: str) -> None:
    place = {"x": number(x), "y": number(y), "width": number(width), "height": number(height)}
    SubElement(parent, "rect", {"class": style, "rx": "5", **place})
