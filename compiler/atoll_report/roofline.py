# SPDX-License-Identifier: Apache-2.0
"""Rooflines: what operators multiply in a cycle, below what device and memory can do at most."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from math import ceil, floor, log2
from xml.etree.ElementTree import Element, SubElement

from markupsafe import Markup

from atoll.diagnostics.shown import printable
from atoll.records import dataclass
from atoll.report.svg import figure, number, write
from atoll_report.figures import inline, text_width
from atoll_report.node import Node, count_text

_WIDTH, _HEIGHT = 760, 440
_LEFT, _RIGHT, _TOP, _BOTTOM = 64, 20, 20, 48
_RADIUS, _LINE = 5, 13
_TICKS = 10


@dataclass(frozen=True, slots=True, kw_only=True)
class Point:
    """An operator, held against the port of the memory that it keeps busy longest.

    Attributes:
        link: to the row of the operator.
        layer: what the estimate says of it.
        cycles: of the host, measured or estimated.
        traffic: of that memory.
        roof: that memory's.
        roof_macs: the most multiply-accumulates in a cycle of the host, for the bytes that it moves
            and on its device.
    """

    link: str
    layer: Node
    cycles: Node
    traffic: Node
    roof: Node
    roof_macs: float

    @property
    def intensity(self) -> float:
        """Multiply-accumulates for each byte."""
        macs: int = self.layer["macs"].raw
        return macs / _bytes(self.traffic)

    @property
    def rate(self) -> float:
        """Multiply-accumulates in a cycle of the host."""
        macs: int = self.layer["macs"].raw
        cycles: int = self.cycles.raw
        return macs / max(1, cycles)

    @property
    def impossible(self) -> bool:
        """It is above its roof, so that one of the figures is wrong."""
        return self.rate > self.roof_macs


@dataclass(frozen=True, slots=True, kw_only=True)
class Roofline:
    """What the page shows of a device.

    Attributes:
        device: its roof.
        points: operators that multiply, the slowest first.
        idle: how many of its operators do not.
    """

    device: Node
    points: Sequence[Point]
    idle: int
    picture: Markup


def rooflines(
    estimate: Node, run: Node | None, links: Mapping[str, str], how: str
) -> Iterator[Roofline]:
    """Yield the rooflines of the devices that multiply.

    Args:
        estimate: of a network.
        run: of the same, if its clock ran: its cycles are then shown.
        links: to the rows of operators.
        how: the cycles are known.
    """
    ran = {each["operator"].raw: each for each in run["cycles"]["by_layer"]} if run else {}
    host = estimate["cycles"]["clock_hz"].raw
    memories = {each["memory"].raw: each for each in estimate["roofs"]["memories"]}
    for device in estimate["roofs"]["devices"]:
        layers = [
            each
            for each in estimate["cycles"]["by_layer"]
            if each["device"].raw == device["device"].raw
        ]
        found = [
            _point(layer, ran.get(layer["operator"].raw, layer), device, memories, host, links)
            for layer in layers
            if layer["macs"] and any(map(_bytes, layer["memories"]))
        ]
        points = sorted(found, key=lambda each: -each.cycles.raw)
        if points:
            yield Roofline(
                device=device,
                points=points,
                idle=len(layers) - len(points),
                picture=_Picture(estimate, device, points, how if run else "estimated").draw(),
            )


def _bytes(traffic: Node) -> int:
    """Return what is read and written."""
    total: int = traffic["read_bytes"].raw + traffic["written_bytes"].raw
    return total


def _point(
    layer: Node,
    measured: Node,
    device: Node,
    memories: Mapping[str, Node],
    host: int,
    links: Mapping[str, str],
) -> Point:
    touched = [each for each in layer["memories"] if _bytes(each)]
    traffic = max(touched, key=lambda each: each["cycles"].raw)
    memory = memories[traffic["memory"].raw]
    moved = layer["macs"].raw / _bytes(traffic) * of_host(memory, "bytes_per_cycle", host)
    most = of_host(device, "macs_per_cycle", host)
    return Point(
        link=links[layer["operator"].raw],
        layer=layer,
        cycles=measured["cycles"],
        traffic=traffic,
        roof=memory,
        roof_macs=min(moved, most or moved),
    )


def of_host(roof: Node, key: str, host: int) -> float:
    """Return what a roof is in a cycle of the host; 0 if that is not known."""
    return (roof[key].raw or 0) * float(roof["clock_hz"].raw) / host


class _Picture:
    """Both axes are logarithmic: a line for each memory, up to that of the device."""

    def __init__(self, estimate: Node, device: Node, points: Sequence[Point], how: str) -> None:
        self._name, self._device, self._how = estimate["model"].raw, device, how
        self._points = points
        host = estimate["cycles"]["clock_hz"].raw
        self._most = of_host(device, "macs_per_cycle", host)
        self._ways: dict[float, dict[str, Node]] = {}
        for each in points:
            rate = of_host(each.roof, "bytes_per_cycle", host)
            self._ways.setdefault(rate, {})[each.roof["memory"].raw] = each.roof
        ridges = [self._most / rate for rate in self._ways if self._most]
        self._x = _span([*(each.intensity for each in points), *ridges])
        self._y = _span([*(each.rate for each in points), *filter(None, [self._most])])
        self._taken: list[tuple[float, float, float, float]] = []

    def draw(self) -> Markup:
        """Return the picture."""
        title = f"{self._name}: roofline of {self._device['device'].raw}"
        root = figure(title, _WIDTH, _HEIGHT)
        self._axes(root)
        spots: dict[tuple[int, int], list[Point]] = {}
        for point in self._points:
            x, y = map(round, self._place(point.intensity, point.rate))
            spots.setdefault((x, y), []).append(point)
        self._taken += [(x - _RADIUS, y - _RADIUS, x + _RADIUS, y + _RADIUS) for x, y in spots]
        self._roofs(root)
        for (x, y), points in spots.items():
            self._spot(root, x, y, points)
        return inline(root, "plot")

    def _place(self, intensity: float, rate: float) -> tuple[float, float]:
        wide, high = _WIDTH - _LEFT - _RIGHT, _HEIGHT - _TOP - _BOTTOM
        x = _LEFT + wide * _part(intensity, self._x)
        return x, _HEIGHT - _BOTTOM - high * _part(rate, self._y)

    def _axes(self, root: Element) -> None:
        left, bottom = self._place(2.0 ** self._x[0], 2.0 ** self._y[0])
        right, top = self._place(2.0 ** self._x[1], 2.0 ** self._y[1])
        for power in _ticks(self._x):
            x, _ = self._place(2.0**power, 1)
            _line(root, "axis", (x, top), (x, bottom))
            write(root, x, bottom + 15, _power(power), anchor="middle")
        for power in _ticks(self._y):
            _, y = self._place(1, 2.0**power)
            _line(root, "axis", (left, y), (right, y))
            write(root, left - 6, y + 4, _power(power), anchor="end")
        words = "multiply-accumulates for a byte of the memory"
        write(root, right, _HEIGHT - 12, words, style="note", anchor="end")
        words = f"multiply-accumulates in a cycle of the host, {self._how}"
        write(root, left, _TOP - 8, words, style="note")

    def _roofs(self, root: Element) -> None:
        """Draw the way up of each memory as far as the device, and the device's own height."""
        right = 2.0 ** self._x[1]
        highest = self._most or 2.0 ** self._y[1]
        for row, (rate, memories) in enumerate(self._ways.items()):
            first = max(2.0 ** self._x[0], 2.0 ** self._y[0] / rate)
            last = min(right, highest / rate)
            if first < last:
                roof = next(iter(memories.values()))
                name = f"{', '.join(memories)}: {roof['bytes_per_cycle']} B a cycle"
                begin, end = self._place(first, first * rate), self._place(last, last * rate)
                places = ", ".join(f"{each.pointer}/bytes_per_cycle" for each in memories.values())
                way = _line(root, f"roof s{row % 10}", begin, end)
                _add_title(way, f"{name} ({places})")
                self._label_way(root, begin, end, name)
        if self._most:
            first = min(self._most / rate for rate in self._ways)
            begin, end = self._place(first, self._most), self._place(right, self._most)
            name = f"{self._device['device']}: {self._device['macs_per_cycle']} a cycle"
            told = f"{name} of its own ({self._device.pointer}/macs_per_cycle)"
            _add_title(_line(root, "roof", begin, end), told)
            self._label(root, end[0] - text_width(name, "head") - 4, end[1] - 6, name, "head")

    def _label_way(
        self, root: Element, begin: tuple[float, float], end: tuple[float, float], name: str
    ) -> None:
        """Write the name of a memory below its line, near where it begins if there is room."""
        for part in (0.04, 0.2, 0.35, 0.5, 0.65):
            x, y = (first + part * (last - first) for first, last in zip(begin, end, strict=True))
            if self._label(root, x + 10, y + _LINE, name, "head"):
                return

    def _spot(self, root: Element, x: int, y: int, points: Sequence[Point]) -> None:
        """Draw operators that have one place, which is that of the slowest of them."""
        layer, moved, cycles = points[0].layer, points[0].traffic, points[0].cycles
        words = (
            f"{layer['operator']}: {layer['macs']} multiply-accumulates ({layer.pointer}/macs), "
            f"{cycles} cycles ({cycles.pointer}), {moved['read_bytes']} read "
            f"({moved.pointer}/read_bytes) and {moved['written_bytes']} written "
            f"({moved.pointer}/written_bytes) of {moved['memory']}"
        )
        name = str(layer["operator"])
        if others := len(points) - 1:
            words += f"; {count_text(others, 'other operator')} with the same place"
            name += f" and {others:,} more"
        group = SubElement(root, "a", href=points[0].link)
        _add_title(group, words)
        memory = moved["memory"].raw
        row = next(row for row, each in enumerate(self._ways.values()) if memory in each) % 10
        place = {"cx": str(x), "cy": str(y), "r": str(_RADIUS)}
        SubElement(group, "circle", {"class": f"dot c{row} s{row}", **place})
        wide = text_width(name)
        for left, base in (
            (x + _RADIUS + 3, y + 4),
            (x - _RADIUS - 3 - wide, y + 4),
            (x - wide / 2, y - _RADIUS - 4),
            (x - wide / 2, y + _RADIUS + 11),
        ):
            if self._label(group, left, base, name):
                return

    def _label(
        self, parent: Element, left: float, base: float, words: str, style: str = ""
    ) -> bool:
        """Write words where nothing else is; tell whether there was room."""
        box = (left, base - 10, left + text_width(words, style), base - 10 + _LINE)
        inside = box[0] >= _LEFT and box[2] <= _WIDTH and box[1] >= 0
        if not inside or any(_overlaps(box, each) for each in self._taken):
            return False
        self._taken.append(box)
        write(parent, left, base, words, style=style)
        return True


def _span(values: Iterable[float]) -> tuple[int, int]:
    """Return powers of two that lie around values, a step from them."""
    powers = [log2(each) for each in values]
    return floor(min(powers)) - 1, ceil(max(powers)) + 1


def _part(value: float, span: tuple[int, int]) -> float:
    return (log2(value) - span[0]) / (span[1] - span[0])


def _power(power: int) -> str:
    return f"{2**power:,}" if power >= 0 else f"1/{2**-power:,}"


def _ticks(span: tuple[int, int]) -> range:
    return range(span[0], span[1] + 1, max(1, ceil((span[1] - span[0]) / _TICKS)))


def _line(
    root: Element, style: str, begin: tuple[float, float], end: tuple[float, float]
) -> Element:
    way = f"M {number(begin[0])} {number(begin[1])} L {number(end[0])} {number(end[1])}"
    return SubElement(root, "path", {"class": style, "d": way})


def _add_title(element: Element, words: str) -> None:
    SubElement(element, "title").text = printable(words)


def _overlaps(one: tuple[float, ...], two: tuple[float, ...]) -> bool:
    return one[0] < two[2] and two[0] < one[2] and one[1] < two[3] and two[1] < one[3]
