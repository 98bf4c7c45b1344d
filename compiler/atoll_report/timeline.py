# SPDX-License-Identifier: Apache-2.0
"""Time: what each device does when, measured and estimated, and what would make it faster."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from xml.etree.ElementTree import Element, SubElement

from markupsafe import Markup

from atoll.diagnostics.shown import printable
from atoll.records import dataclass
from atoll.report.svg import figure, number, write
from atoll_report.figures import inline, write_within
from atoll_report.node import Node
from atoll_report.roofline import rooflines

_WIDTH, _LEFT, _RIGHT, _TOP = 1200, 130, 20, 34
_LANE, _BAR, _GAP = 46, 17, 12
_TICKS = 8
_CHARACTER = 6.6
_LEAST = {False: 0.6, True: 2}
"""Width of a bar, and of one of a line, which is high for a moment."""
_ON = {"iss": "the ISS", "qemu": "QEMU"}
_RAISES = " → "
_SHOWN = 400
"""Operators whose bars are drawn one by one; all are in the table."""


@dataclass(frozen=True, slots=True, kw_only=True)
class _Span:
    """A time of a device or interrupt line; `kind` is ``work``, ``wait``, ``plan`` or ``line``.

    `band` says how far an estimate may be off.
    """

    lane: str
    kind: str
    begin: int
    end: int
    name: str
    link: str
    band: str = ""


def how_known(run: Node) -> str:
    """Say how the cycles of a run came to be: only RTL has the time of the cores."""
    cpu = run["cpu"].raw
    return "measured" if cpu == "rtl" else f"counted on {_ON.get(cpu, cpu)}"


def content(documents: Node) -> Mapping[str, object] | None:
    """Return what fills the page."""
    if not (documents["run"] or documents["estimate"]):
        return None
    runs = {each["model"].raw: each for each in documents["run"]}
    estimates = {each["model"].raw: each for each in documents["estimate"]}
    names = list(dict.fromkeys((*runs, *estimates)))
    return {
        "networks": [
            _network(number, name, runs.get(name), estimates.get(name))
            for number, name in enumerate(names)
        ],
        "tried": _rank_changes(documents),
    }


def _rank_changes(documents: Node) -> Mapping[str, Mapping[str, object]]:
    """Return, by network, the changes of the chip that make it faster, best first, and the others.

    `slower` counts those that were tried and make it no faster, `untold` those of which no total
    is known; a change that was tried for two operators counts once.
    """
    rows: dict[str, list[Node]] = {}
    for row in documents["tried"]:
        rows.setdefault(row["model"].raw, []).append(row)
    return {model: _split(found) for model, found in rows.items()}


def _split(rows: Sequence[Node]) -> Mapping[str, object]:
    told = [each for each in rows if each["total_then_ns"].known]
    helps = [each for each in told if each["total_then_ns"].raw < each["total_ns"].raw]
    changes = [each for each in rows if each["changes"]]
    others = [each for each in changes if each not in helps]
    return {
        "helps": sorted(helps, key=lambda each: each["total_then_ns"].raw),
        "others": others,
        "slower": _distinct(each for each in others if each["total_then_ns"].known),
        "untold": _distinct(each for each in others if not each["total_then_ns"].known),
        "without": [each for each in rows if not each["changes"]],
    }


def _distinct(rows: Iterable[Node]) -> int:
    return len({tuple(each["changes"].raw.items()) for each in rows})


def _network(
    number: int, name: str, run: Node | None, estimate: Node | None
) -> Mapping[str, object]:
    clocked = run if run and run["cycles"]["total"] else None
    ran = {each["operator"].raw: each for each in clocked["cycles"]["by_layer"]} if clocked else {}
    planned = (
        {each["operator"].raw: each for each in estimate["cycles"]["by_layer"]} if estimate else {}
    )
    rows = [
        {"id": f"t{number}-{row}", "name": each, "ran": ran.get(each), "planned": planned.get(each)}
        for row, each in enumerate(dict.fromkeys((*ran, *planned)))
    ]
    how = how_known(clocked) if clocked else "measured"
    links = {str(row["name"]): f"#{row['id']}" for row in rows}
    lines = clocked["cycles"].get("interrupts") if clocked else Node(None)
    pulses = sorted(
        ((line, pulse) for line in lines for pulse in line["pulses"]),
        key=lambda each: each[1]["rise"].raw,
    )
    spans = [
        *_run_spans(clocked, links),
        *_estimate_spans(estimate, clocked, links),
        *_interrupt_spans(clocked, pulses, f"#t{number}-lines"),
    ]
    return {
        "id": f"t{number}",
        "name": name,
        "run": run,
        "clocked": clocked,
        "how": how,
        "estimate": estimate,
        "rows": rows,
        "picture": _picture(name, how, spans) if spans else Markup(""),
        "chain": _chain(list(planned.values())),
        "roofs": list(rooflines(estimate, clocked, links, how)) if estimate else [],
        "shown": min(len(rows), _SHOWN),
        "lines": lines,
        "pulses": pulses,
        "silent": [each for each in lines if not each["raised"].raw],
        "counted": [each for each in ran.values() if each.get("memories").known],
        "moved": _bytes_by_memory(ran.values()),
    }


def _bytes_by_memory(layers: Iterable[Node]) -> Mapping[str, Mapping[str, int]]:
    """Return the bytes that operators read and wrote in a run, by memory: sums."""
    found: dict[str, dict[str, int]] = {}
    for moved in (each for layer in layers for each in layer.get("memories")):
        total = found.setdefault(moved["memory"].raw, {"read_bytes": 0, "written_bytes": 0})
        for key in total:
            total[key] += moved[key].raw
    return found


def _run_spans(run: Node | None, links: Mapping[str, str]) -> Iterator[_Span]:
    """Yield when each device worked, and when the host still waited for it."""
    for layer in list(run["cycles"]["by_layer"])[:_SHOWN] if run else ():
        name, begin, end = layer["operator"].raw, layer["begin"].raw, layer["end"].raw
        done = begin + layer["worked"].raw
        link = links[name]
        yield _Span(
            lane=layer["device"].raw, kind="work", begin=begin, end=done, name=name, link=link
        )
        if done < end:
            yield _Span(
                lane=layer["device"].raw, kind="wait", begin=done, end=end, name=name, link=link
            )
        for helper, worked in layer["helpers"].items():
            yield _Span(
                lane=helper, kind="work", begin=begin, end=begin + worked.raw, name=name, link=link
            )


def _estimate_spans(
    estimate: Node | None, run: Node | None, links: Mapping[str, str]
) -> Iterator[_Span]:
    """Yield when each device should work, from the first operator of the run on."""
    if not estimate:
        return
    first = min((each["begin"].raw for each in run["cycles"]["by_layer"]), default=0) if run else 0
    for layer in list(estimate["cycles"]["by_layer"])[:_SHOWN]:
        for lane in (layer["device"].raw, *layer["helpers"].raw):
            yield _Span(
                lane=lane,
                kind="plan",
                begin=first + layer["begin"].raw,
                end=first + layer["end"].raw,
                name=layer["operator"].raw,
                link=links[layer["operator"].raw],
                band=f" ({layer['band'] if layer['band'].known else 'band not known'})",
            )


def _interrupt_spans(
    run: Node | None, pulses: Sequence[tuple[Node, Node]], link: str
) -> Iterator[_Span]:
    """Yield when interrupt lines were high."""
    for line, pulse in pulses[:_SHOWN]:
        assert run is not None
        fall = pulse["fall"] if pulse["fall"].known else run["cycles"]["total"]
        yield _Span(
            lane=f"{line['source']}{_RAISES}{line['core']}",
            kind="line",
            begin=pulse["rise"].raw,
            end=fall.raw,
            name=f"line {line['line']}" if line["line"].known else "software interrupt",
            link=link,
        )


def _chain(layers: Sequence[Node]) -> list[Node]:
    """Return operators of which each begins when the one before it ends, up to the last one."""
    chain: list[Node] = []
    for layer in sorted(layers, key=lambda each: (each["end"].raw, each["cycles"].raw))[::-1]:
        if not chain or layer["end"].raw <= chain[-1]["begin"].raw:
            chain.append(layer)
    return chain[::-1]


def _picture(name: str, how: str, spans: Sequence[_Span]) -> Markup:
    lanes = list(dict.fromkeys(each.lane for each in spans))
    begin, end = min(each.begin for each in spans), max(each.end for each in spans)
    height = _TOP + len(lanes) * (_LANE + _GAP) + 30
    root = figure(f"{name}: what each device does when", _WIDTH, height)
    wide = (_WIDTH - _LEFT - _RIGHT) / max(1, end - begin)
    for tick in _ticks(begin, end):
        x = _LEFT + (tick - begin) * wide
        line = {"class": "axis", "x1": number(x), "x2": number(x)}
        SubElement(root, "line", {**line, "y1": str(_TOP), "y2": str(height - 26)})
        write(root, x, height - 10, f"{tick:,}", anchor="middle")
    since = "the first operator" if all(each.kind == "plan" for each in spans) else "reset"
    write(root, _LEFT, 16, f"cycles of the host, from {since}", style="note")
    for row, lane in enumerate(lanes):
        top = _TOP + row * (_LANE + _GAP)
        name, _, core = lane.partition(_RAISES)
        write_within(root, _LEFT - 8, top + 14, name, _LEFT - 12, style="head", anchor="end")
        kinds = {each.kind for each in spans if each.lane == lane}
        if kinds & {"work", "wait"}:
            write(root, _LEFT - 8, top + 28, f"above: {how.split()[0]}", style="note", anchor="end")
        if "line" in kinds:
            words, room = f"interrupts {core}", _LEFT - 12
            write_within(root, _LEFT - 8, top + 28, words, room, style="note", anchor="end")
        if "plan" in kinds:
            write(root, _LEFT - 8, top + 41, "below: estimate", style="note", anchor="end")
    for span in spans:
        top = _TOP + lanes.index(span.lane) * (_LANE + _GAP) + (span.kind == "plan") * (_BAR + 8)
        _bar(root, span, _LEFT + (span.begin - begin) * wide, top, (span.end - span.begin) * wide)
    return inline(root, "zoom")


def _bar(root: Element, span: _Span, left: float, top: float, width: float) -> None:
    words = {
        "work": "works",
        "wait": "is done, the host waits",
        "plan": "is expected to work",
        "line": "is high",
    }
    text = f"{span.name}: {span.lane} {words[span.kind]}, {span.begin:,} to {span.end:,}{span.band}"
    group = SubElement(root, "a", href=span.link)
    SubElement(group, "title").text = printable(text)
    place = {
        "x": number(left),
        "y": number(top),
        "width": number(max(width, _LEAST[span.kind == "line"])),
    }
    SubElement(group, "rect", {"class": f"bar {span.kind}", **place, "height": str(_BAR)})
    room = int((width - 6) / _CHARACTER)
    if room >= min(4, len(span.name)) and span.kind != "wait":
        name = span.name if len(span.name) <= room else f"{span.name[: room - 1]}…"
        write(group, left + 3, top + 12, name)


def _ticks(begin: int, end: int) -> Iterator[int]:
    step = 1
    while (end - begin) // step > _TICKS:
        step *= 10 if (end - begin) // step > 10 * _TICKS else 2
    return iter(range(-(-begin // step) * step, end + 1, step))
