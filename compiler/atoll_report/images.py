# SPDX-License-Identifier: Apache-2.0
"""Linked images: their sections in the regions of memory, and what calls take of their stacks."""

from collections.abc import Iterator, Mapping, Sequence
from xml.etree.ElementTree import Element, SubElement

from markupsafe import Markup

from atoll.diagnostics.shown import printable
from atoll.records import dataclass
from atoll.report.svg import figure, number
from atoll_report.figures import inline, write_within
from atoll_report.node import Node

_WIDTH, _LEFT, _RIGHT, _TOP = 1200, 190, 300, 8
_BAR, _ROW, _LEAST, _WORTH = 22, 34, 1.5, 30
_SHOWN = 12
"""Chains of calls that are drawn, the deepest first; all are in a table."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Stack:
    """A stack of the core.

    Attributes:
        name: of its region, or of who sets it.
        bound: most bytes of calls.
        watermark: most bytes of a run, None if none was measured.
        limit: its size.
        path: the calls that take most of it.
    """

    name: str
    bound: Node
    watermark: Node | None
    limit: Node
    path: Node


def content(documents: Node) -> Mapping[str, object] | None:
    """Return what fills the page."""
    if not documents["image"]:
        return None
    return {"images": [_image(image, documents["run"]) for image in documents["image"]]}


def title_of(image: Node) -> str:
    """Return the name of an image without its folders."""
    return str(image["image"]).replace("\\", "/").rpartition("/")[2]


def _image(image: Node, runs: Node) -> Mapping[str, object]:
    roots = sorted(image["stack"], key=lambda each: -(each["bytes"].raw or 0))
    chains = [each for each in roots if each["path"]]
    return {
        "image": image,
        "name": title_of(image),
        "map": _map(image) if image.get("usage") else None,
        "stacks": list(_stacks(image, chains, runs)),
        "chains": _chains(image, chains[:_SHOWN]) if chains else None,
        "roots": roots,
        "left": len(chains[_SHOWN:]),
    }


def _stacks(image: Node, chains: Sequence[Node], runs: Node) -> Iterator[Stack]:
    """Yield the stack on which the image begins, and the others."""
    core = image.get("core").raw
    regions = {each["region"].raw: each for each in image.get("usage")}
    main = regions.get(f"{core}.stack")
    ran = [
        run["stack"][core]["watermark_bytes"]
        for run in runs
        if run["soc"].raw == image.get("soc").raw and core in run["stack"].raw
    ]
    known = [each for each in ran if each.known]
    entries = [each for each in chains if not each["handles_exception"]]
    yield Stack(
        name=f"{core}.stack" if core else "the first stack",
        bound=image["stack_bytes"],
        watermark=max(known, key=lambda each: each.raw, default=None),
        limit=main["size_bytes"] if main else Node(None),
        path=entries[0]["path"] if entries else Node([]),
    )
    for each in image["other_stacks"]:
        yield Stack(
            name=str(each["thread"] or each["function"]),
            bound=each["bytes"],
            watermark=None,
            limit=each["room_bytes"],
            path=each["path"],
        )


def _map(image: Node) -> Markup:
    """Draw each region with the sections that are in it, or that are copied from it."""
    regions = list(image["usage"])
    root = figure(f"{title_of(image)}: sections in regions", _WIDTH, _TOP + len(regions) * _ROW)
    for row, region in enumerate(regions):
        top = _TOP + row * _ROW
        name = f"{region['region']} in {region['memory']}"
        write_within(root, _LEFT - 8, top + 15, name, _LEFT - 12, style="head", anchor="end")
        room = _WIDTH - _LEFT - _RIGHT
        _rect(root, "box", _LEFT, top, room)
        used = region["used_bytes"]
        words = (
            f"{used} of {region['size_bytes']}, {region['free_bytes']} free"
            if used.known
            else f"not bounded, of {region['size_bytes']}"
        )
        write_within(root, _LEFT + room + 8, top + 15, words, _RIGHT - 12)
        for colour, section in enumerate(image["sections"]):
            _section(root, region, section, top, colour % 10)
        if used.known and _is_stack(region, image):
            wide = room * min(1.0, used.raw / max(1, region["size_bytes"].raw))
            mark = _rect(root, "bar wait", _LEFT + room - wide, top, wide)
            words = f"{region['region']}: calls and what is kept for interrupts, {used}"
            _tell(mark, f"{words} ({used.pointer})")
    return inline(root)


def _section(root: Element, region: Node, section: Node, top: float, colour: int) -> None:
    """Draw what a section has in a region."""
    begin, size = region["first_address"].raw, max(1, region["size_bytes"].raw)
    scale = (_WIDTH - _LEFT - _RIGHT) / size
    for first, length, how in _places(section):
        low, high = max(begin, first), min(begin + size, first + length)
        if low >= high:
            continue
        left, wide = _LEFT + (low - begin) * scale, (high - low) * scale
        words = (
            f"{section['section']} {how}: {section['size_bytes']} ({section.pointer}/size_bytes)"
            f", runs at {section['first_address']} ({section.pointer}/first_address)"
        )
        _tell(_rect(root, f"block c{colour}", left, top, wide), words)
        if wide > _WORTH:
            write_within(root, left + 3, top + 15, str(section["section"]), wide - 5)


def _is_stack(region: Node, image: Node) -> bool:
    """Tell whether a region has a stack, which grows from its end."""
    name = region["region"].raw
    return bool(name.startswith(f"{image['core']}.") and name.endswith("stack"))


def _places(section: Node) -> Iterator[tuple[int, int, str]]:
    """Yield (first address, bytes, words) of where a section runs, and of where it is loaded."""
    yield section["first_address"].raw, section["size_bytes"].raw, "is here"
    if section["copied_from_address"].known:
        yield section["copied_from_address"].raw, section["loaded_bytes"].raw, "is copied from here"


def _chains(image: Node, chains: Sequence[Node]) -> Markup:
    """Draw calls from left to right, each as wide as what it takes of the stack."""
    most = max(1, *(each["bytes"].raw or 0 for each in chains))
    root = figure(f"{title_of(image)}: deepest calls", _WIDTH, _TOP + len(chains) * _ROW)
    room = _WIDTH - _LEFT - _RIGHT
    for row, chain in enumerate(chains):
        top, x = _TOP + row * _ROW, float(_LEFT)
        name = str(chain["function"])
        write_within(root, _LEFT - 8, top + 15, name, _LEFT - 12, style="head", anchor="end")
        if pushed := chain["pushed_bytes"].raw:
            x = _frame(root, "hardware", chain["pushed_bytes"], x, top, room * pushed / most, 9)
        for number_, call in enumerate(chain["path"]):
            wide = room * call["bytes"].raw / most
            x = _frame(root, str(call["function"]), call["bytes"], x, top, wide, number_ % 9)
        words = f"{chain['bytes']} B, begun by {chain['begun_by']}"
        write_within(root, _LEFT + room + 8, top + 15, words, _RIGHT - 12)
    return inline(root)


def _frame(
    root: Element, name: str, size: Node, x: float, top: float, wide: float, colour: int
) -> float:
    if wide:
        mark = _rect(root, f"block c{colour}", x, top, wide)
        _tell(mark, f"{name}: {size} B ({size.pointer})")
        if wide > _WORTH:
            write_within(root, x + 3, top + 15, name, wide - 5)
    return x + wide


def _rect(root: Element, style: str, x: float, top: float, wide: float) -> Element:
    place = {"x": number(x), "y": number(top), "width": number(max(_LEAST, wide))}
    return SubElement(root, "rect", {"class": style, **place, "height": str(_BAR)})


def _tell(mark: Element, words: str) -> None:
    SubElement(mark, "title").text = printable(words)
