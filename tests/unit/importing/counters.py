# SPDX-License-Identifier: Apache-2.0
"""Count the memories of a file with libraries of others: what `atoll import` may not lose.

Nothing here is of `atoll_import`. A memory is a pair of name and address, the address as the
processors have it, or as the file has it where nothing maps it to theirs.
"""

import json
import re
from collections.abc import Callable, Iterator, Mapping
from itertools import chain
from math import prod
from pathlib import Path
from xml.etree import ElementTree

from cmsis_svd.parser import SVDParser
from devicetree import dtlib

Found = tuple[str, int]

_COMPATIBLE = re.compile(
    r"mmio-[sd]ram|mtd-r[ao]m|atoll,rom|(cfi|jedec|soc-nv|serial)-flash|sifive,([di]tim|s?ram)0"
    r"|sifive,(mask)?rom0|(arm|nxp,imx)[,-][id]tcm|arc,[idxy]ccm|st,stm32-(ccm|backup-sram)"
    r"|samsung,exynos4210-sysram|zephyr,memory-region|jedec,spi-nor|spi-nand|nordic,qspi-nor"
    r"|st,stm32-[qox]spi-nor|st,stm32-xspi-psram|nxp,imx-flexspi-(nor|hyperflash|hyperram)"
    r"|atmel,at(24|25|45)|xlnx,axi-bram-ctrl-[0-9.a]+|xlnx,zynq(mp)?-ocmc-[0-9.]+"
    r"|arm,pl353-nand-r2p1"
)
_NOUNS = (
    r"(i|boot|mask)?rom|(spi|hyper)?flash|otp|(s|i|d|sd|p|hyper|oc|b|f|m|r|nv|bb|sys)?ram|ccmram"
    r"|(lp)?ddr|lim|([diab])?tcm|[di]tim|mem(ory)?|ocm|nvm|xip|nor|nand|eeprom|spm|scratchpad|[id]ccm"
)
_WINDOWS = "sideband|mmap|mm|dirmap|window|memmap|wbuf"
_CONTROLLERS = r"(cache|flash|memory)-controller|[qox]?spi|(flex|f)spi|hyperbus"
_RENODE = r"Memory\.\w+Memory|Miscellaneous\.(?:BitBanding|Redirector)"


def memories_of(path: Path, device: str = "") -> set[Found]:
    """Return the memories of a file."""
    return {*_COUNTERS[path.suffix](path, device)}


def _devicetree(path: Path, _device: str) -> Iterator[Found]:
    tree = dtlib.DT(str(path))
    kept = [(begin, size) for _, begin, size in tree.memreserves]
    yield from (("memreserve", begin) for begin, _ in kept)
    for node in tree.node_iter():
        if node.parent and node.parent.name == "reserved-memory" and not _is_disabled(node):
            yield from ((name, seen) for name, seen, _ in _spans(node))
            if "no-map" in node.props:
                kept += ((begin, size) for _, begin, size in _spans(node))
    for node in tree.node_iter():
        yield from _windows(node)
        for name, begin, size in _spans(node) if _is_memory(node) else ():
            cuts = [(at, at + many) for at, many in kept if begin < at + many and at < begin + size]
            if not cuts or not size or _is_disabled(node):
                yield name, begin
                continue
            edges = (begin, *(-(-stop // 16) * 16 for _, stop in cuts))
            for edge in edges:
                covered = any(at <= edge < -(-stop // 16) * 16 for at, stop in cuts)
                if edge < begin + size and not covered:
                    yield name, edge


def _windows(node: dtlib.Node) -> Iterator[Found]:
    """Yield what of several parts of ``reg`` is a memory's by its name, or behind the first."""
    if _is_memory(node) or _is_disabled(node) or _text(node, "device_type") == "cpu":
        return
    if node.parent is None or node.parent.name == "reserved-memory":
        return
    names = node.props["reg-names"].to_strings() if "reg-names" in node.props else []
    spans = [*_spans(node)]
    for index, (name, begin, _) in enumerate(spans if len(spans) > 1 else ()):
        word = names[index].lower() if index < len(names) else ""
        like = re.search(rf"(^|[^a-z])(({_NOUNS})[^a-z]*|{_WINDOWS})$", word)
        behind = not word and index and re.fullmatch(_CONTROLLERS, node.name.partition("@")[0])
        if like or behind:
            yield name, begin


def _spans(node: dtlib.Node) -> Iterator[tuple[str, int, int]]:
    """Yield name, address at the processors and size of each part; else its own, and 0."""
    name = _text(node, "label") or node.name.partition("@")[0]
    own, size = _cells(node.parent)
    numbers = node.props["reg"].to_nums() if "reg" in node.props else []
    for at in range(0, len(numbers) - own - size + 1, own + size):
        address = _number(numbers[at : at + own])
        seen = _seen(node.parent, address)
        many = 0 if seen is None else _number(numbers[at + own : at + own + size])
        yield name, address if seen is None else seen, many


def _is_disabled(node: dtlib.Node | None) -> bool:
    while node is not None:
        if _text(node, "status") not in ("", "okay", "ok"):
            return True
        node = node.parent
    return False


def _is_memory(node: dtlib.Node) -> bool:
    if node.parent is None or "reg" not in node.props or node.parent.name == "reserved-memory":
        return False
    if _text(node, "device_type") == "memory":
        return True
    kinds = node.props["compatible"].to_strings() if "compatible" in node.props else []
    if any(_COMPATIBLE.fullmatch(kind) for kind in kinds):
        return True
    models = (re.sub(r"-(v?[0-9.]*\.[0-9]+[a-z]?|r[0-9]+p[0-9]+)$", "", kind) for kind in kinds)
    names = (node.name.partition("@")[0], *models)
    return any(re.search(rf"(^|[^a-z])({_NOUNS})[^a-z]*$", name.lower()) for name in names)


def _text(node: dtlib.Node, name: str) -> str:
    return node.props[name].to_string() if name in node.props else ""


def _cells(node: dtlib.Node) -> tuple[int, int]:
    values = [
        node.props[f"#{what}-cells"].to_num() if f"#{what}-cells" in node.props else default
        for what, default in (("address", 2), ("size", 1))
    ]
    return values[0], values[1]


def _number(cells: list[int]) -> int:
    return int("".join(f"{cell:08x}" for cell in cells) or "0", 16)


def _seen(node: dtlib.Node, address: int) -> int | None:
    """Return what the root calls an address of the children of a node; None if it has none."""
    while node.parent is not None:
        if "ranges" not in node.props:
            return None
        if node.props["ranges"].value:
            (own, size), (above, _) = _cells(node), _cells(node.parent)
            numbers = node.props["ranges"].to_nums()
            for at in range(0, len(numbers), own + above + size):
                row = numbers[at : at + own + above + size]
                child, parent = _number(row[:own]), _number(row[own : own + above])
                if child <= address < child + _number(row[own + above :]):
                    address += parent - child
                    break
            else:
                return None
        node = node.parent
    return address


def _svd(path: Path, _device: str) -> Iterator[Found]:
    device = SVDParser.for_xml_file(str(path)).get_device()
    known = (getattr(each, "peripherals", (each,)) for each in device.peripherals)
    for each in chain.from_iterable(known):
        for block in each.address_blocks or ():
            if block.usage is not None and block.usage.value == "buffer":
                yield each.name, each.base_address + block.offset


def _pdsc(path: Path, device: str) -> Iterator[Found]:
    """Yield the memories of a device, of one name the innermost, and what is only programmed."""
    root = ElementTree.parse(path).getroot()
    above = {child: parent for parent in root.iter() for child in parent}
    level: ElementTree.Element | None = next(
        each for each in root.iter() if device in (each.get("Dname"), each.get("Dvariant"))
    )
    inner: dict[tuple[str, str], list[tuple[str, range]]] = {}
    programmed: list[int] = []
    while level is not None:
        programmed += [int(each.get("start", ""), 0) for each in level.findall("algorithm")]
        here: dict[tuple[str, str], list[tuple[str, range]]] = {}
        for each in level.findall("memory"):
            name = each.get("name") or each.get("id") or "memory"
            start, size = (int(each.get(key, ""), 0) for key in ("start", "size"))
            same = here.setdefault((name, each.get("Pname", "")), [])
            same.append((name, range(start, start + size)))
        inner = here | inner
        level = above.get(level)
    found = [*chain.from_iterable(inner.values())]
    yield from ((name, span.start) for name, span in found)
    for start in programmed:
        if not any(start in span for _, span in found):
            yield "flash", start


def _litex(path: Path, _device: str) -> Iterator[Found]:
    for name, each in json.loads(path.read_text())["memories"].items():
        yield name, each["base"]


def _renode(path: Path, _device: str) -> Iterator[Found]:
    """Yield by lines: a peripheral begins at the margin, its first number behind ``sysbus``.

    Places that a later entry has are in the place of those before.
    """
    text = re.sub(r"/\*.*?\*/|//[^\n]*", "", path.read_text(), flags=re.DOTALL)
    places: dict[str, list[int]] = {}
    for block in re.split(r"\n(?=\S)", re.sub(r"\n(?=[}\])])", " ", text)):
        head = re.match(rf"(\w+)\s*:\s*({_RENODE})?\s*@(.*)", block, re.DOTALL)
        if head is None or not (head[2] or head[1] in places):
            continue
        where = head[3] if head[3].lstrip().startswith("{") else head[3].partition("\n")[0]
        parts = (
            each.partition("address")[2] or each for each in re.split(r"\bsysbus\b", where)[1:]
        )
        numbers = (re.match(r"[\s<:]*(0x[0-9A-Fa-f_]+|\d+)", each) for each in parts)
        places[head[1]] = [int(each[1].replace("_", ""), 0) for each in numbers if each]
    yield from ((name, at) for name, each in places.items() for at in each)


def _ipxact(path: Path, _device: str) -> Iterator[Found]:
    root = ElementTree.parse(path).getroot()
    for each in root.iter():
        each.tag = each.tag.rpartition("}")[2]
    values = {
        each.get("parameterId", ""): each.findtext("value", "") for each in root.iter("parameter")
    }
    maps = (*root.iter("memoryMap"), *root.iter("localMemoryMap"))
    for one in maps:
        bits = _verilog(_unit(root, one), values)
        for part in (one, *one.findall("memoryRemap")):
            for name, base in _mapped(part, values):
                yield name, base if bits % 8 else base * bits // 8


def _mapped(one: ElementTree.Element, values: Mapping[str, str]) -> Iterator[Found]:
    """Yield name and address, in units, of the memories of a map."""
    for block in one.findall("addressBlock"):
        if (block.findtext("usage") or "").strip() == "memory":
            base = _verilog(block.findtext("baseAddress", ""), values)
            name = (block.findtext("name") or "").strip()
            yield from ((name + index, base + at) for index, at in _repeated(block, values))
    for window in one.findall("subspaceMap"):
        base = _verilog(window.findtext("baseAddress", ""), values)
        yield (window.findtext("name") or "").strip(), base
    for bank in one.findall("bank"):
        base = _verilog(bank.findtext("baseAddress", ""), values)
        yield from ((name, at) for name, at, _ in _banked(bank, base, "", values))


def _repeated(block: ElementTree.Element, values: Mapping[str, str]) -> Iterator[tuple[str, int]]:
    """Yield index and offset of the elements of an array, the last index counting fastest."""
    dims = [_verilog(each.text or "", values) for each in block.findall("array/dim")]
    step = _verilog(block.findtext("array/stride", block.findtext("range", "")), values)
    for number in range(prod(dims)):
        left, index = number, ""
        for dim in reversed(dims):
            left, own = divmod(left, dim)
            index = f"[{own}]{index}"
        yield index, number * step


def _banked(
    bank: ElementTree.Element, base: int, usage: str, values: Mapping[str, str]
) -> Iterator[tuple[str, int, int]]:
    """Yield name, address and size of the memories of a bank."""
    usage = bank.findtext("usage") or usage
    for block in bank:
        if block.tag == "addressBlock":
            size = _verilog(block.findtext("range", ""), values)
            spots = [*_repeated(block, values)]
            if (block.findtext("usage") or usage) == "memory":
                name = (block.findtext("name") or "").strip()
                yield from ((name + index, base + at, size) for index, at in spots)
            size += spots[-1][1]
        elif block.tag == "bank":
            inner = [*_banked(block, base, usage, values)]
            yield from inner
            size = sum(each[2] for each in inner)
        else:
            continue
        there = _verilog(block.findtext("isPresent", "1"), values)
        if bank.get("bankAlignment") == "serial" and there:
            base += size


def _unit(root: ElementTree.Element, one: ElementTree.Element) -> str:
    for space in root.iter("addressSpace"):
        if space.find("localMemoryMap") is one:
            return space.findtext("addressUnitBits") or "8"
    return one.findtext("addressUnitBits") or "8"


def _verilog(text: str, values: Mapping[str, str]) -> int:
    """Return the value of an expression, by Python's own arithmetic."""
    for name, value in values.items():
        if name:
            text = re.sub(rf"\b{re.escape(name)}\b", f"({value})", text)
    text = text.replace("&&", " and ").replace("||", " or ").replace("!false", "True")
    text = re.sub(r"\d*'h([0-9a-fA-F_]+)", r"0x\1", text).replace("/", "//").replace("$", "")
    text = re.sub(r"\b(\d+)([KkMG])\b", lambda m: str(int(m[1]) << _SHIFTS[m[2].lower()]), text)
    return int(eval(text, {"__builtins__": {}, "pow": pow}))


_SHIFTS = {"k": 10, "m": 20, "g": 30}
_COUNTERS: dict[str, Callable[[Path, str], Iterator[Found]]] = {
    ".dts": _devicetree,
    ".svd": _svd,
    ".pdsc": _pdsc,
    ".json": _litex,
    ".repl": _renode,
    ".xml": _ipxact,
}
SUFFIXES = tuple(_COUNTERS)
