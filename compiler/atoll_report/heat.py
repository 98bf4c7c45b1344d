# SPDX-License-Identifier: Apache-2.0
"""Which addresses are used how often: as a run counted it, else as the plan has it."""

from collections.abc import Iterator, Mapping, Sequence
from xml.etree.ElementTree import Element, SubElement

from markupsafe import Markup

from atoll.diagnostics.shown import printable
from atoll.records import dataclass
from atoll.report.svg import figure, number, write
from atoll_report.figures import inline, write_within
from atoll_report.node import Node

_COLUMNS = 96
_CELL, _LEFT, _WIDTH, _TOP = 22, 150, 1000, 20
_ROW = _CELL + 26


@dataclass(frozen=True, slots=True)
class _Touched:
    """Bytes that are used so often; `words` say of what the number is."""

    first: int
    size: int
    count: float
    words: str


@dataclass(frozen=True, slots=True, kw_only=True)
class HeatMap:
    """What the page shows of a network; `measured` is of a run, and not of the plan."""

    name: str
    measured: bool
    picture: Markup


def heat_maps(documents: Node) -> Iterator[HeatMap]:
    """Yield a map of each network of which anything is known."""
    runs = {each["model"].raw: each for each in documents["run"] if each["touched"]}
    told = {each["model"].raw: each for each in documents["explanation"]}
    for name in dict.fromkeys((*runs, *told)):
        pools = _measured_use(runs[name]) if name in runs else _planned_use(told[name])
        if pools:
            yield HeatMap(name=name, measured=name in runs, picture=_picture(name, pools))


def _measured_use(run: Node) -> Mapping[str, Sequence[_Touched]]:
    pools: dict[str, list[_Touched]] = {}
    for each in run["touched"]:
        size, read, written = (each[f"{key}_bytes"].raw for key in ("size", "read", "written"))
        count, words = 0.0, "not known, since another region has part of these 64 bytes"
        if read is not None and written is not None:
            count = (read + written) / size
            words = (
                f"at most read {read / size:,.1f} and written {written / size:,.1f} times a byte"
            )
        touched = _Touched(each["first_address"].raw, size, count, words)
        pools.setdefault(each["pool"].raw, []).append(touched)
    return pools


def _planned_use(explanation: Node) -> Mapping[str, Sequence[_Touched]]:
    """Return how many operators use each byte: buffers that share an address add up."""
    buffers: dict[str, list[tuple[int, int, int]]] = {}
    for each in explanation["buffers"]:
        if each["address"].known and each["size_bytes"]:
            first = each["address"].raw
            span = (first, first + each["size_bytes"].raw, len(each["uses"]))
            buffers.setdefault(each["place"].raw, []).append(span)
    return {pool: list(_add_up(spans)) for pool, spans in buffers.items()}


def _add_up(spans: Sequence[tuple[int, int, int]]) -> Iterator[_Touched]:
    changes: dict[int, int] = {}
    for begin, end, count in spans:
        changes[begin] = changes.get(begin, 0) + count
        changes[end] = changes.get(end, 0) - count
    first = count = 0
    for address in sorted(changes):
        if count:
            yield _Touched(first, address - first, count, f"at most {count:,} uses")
        first, count = address, count + changes[address]


def _picture(name: str, pools: Mapping[str, Sequence[_Touched]]) -> Markup:
    height = 30 + len(pools) * _ROW
    root = figure(f"{name}: how often addresses are used", _LEFT + _WIDTH + 20, height)
    for row, (pool, ranges) in enumerate(pools.items()):
        _row(root, _TOP + row * _ROW, pool, ranges)
    return inline(root)


def _row(root: Element, top: int, pool: str, ranges: Sequence[_Touched]) -> None:
    write_within(root, _LEFT - 8, top + 15, pool, _LEFT - 12, style="head", anchor="end")
    first = min(each.first for each in ranges)
    last = max(each.first + each.size for each in ranges) - 1
    step = max(1, -(-(last + 1 - first) // _COLUMNS))
    most = max(each.count for each in ranges) or 1
    wide = _WIDTH / _COLUMNS
    for column in range(-(-(last + 1 - first) // step)):
        begin = first + column * step
        inside = [
            each for each in ranges if each.first < begin + step and each.first + each.size > begin
        ]
        hottest = max(inside, key=lambda each: each.count, default=None)
        place = {"x": number(_LEFT + column * wide), "y": str(top), "width": number(wide)}
        heat = number(0.06 + 0.94 * hottest.count / most) if hottest else "0"
        style = {"class": "heat", "height": str(_CELL), "fill-opacity": heat}
        cell = SubElement(root, "rect", {**place, **style})
        words = hottest.words if hottest else "never"
        end = min(begin + step - 1, last)
        SubElement(cell, "title").text = printable(f"{begin:#010x} to {end:#010x}: {words}")
    write(root, _LEFT, top + _CELL + 13, f"{first:#010x}", style="note")
    right = _LEFT + wide * -(-(last + 1 - first) // step)
    write(root, right, top + _CELL + 13, f"{last:#010x}", style="note", anchor="end")
