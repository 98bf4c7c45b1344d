# SPDX-License-Identifier: Apache-2.0
"""Memory-pool files of ST Edge AI Core (``.mpool``): the windows in which its compilers place data.

Sources: the files of STMicroelectronics' STM32N6-GettingStarted projects, and what the Neural-ART
compiler writes of them: its ``855360 KBYTES`` is ``0x34350000``, and its keys are in camel case.
"""

import json
import math
from collections.abc import Iterator, Mapping, Sequence
from copy import deepcopy
from fractions import Fraction
from pathlib import Path
from typing import Any, NoReturn

from atoll.diagnostics.errors import SourceLoc, UsageError
from atoll.records import dataclass
from atoll.resolve.memory_views import as_seen_by
from atoll.resolve.soc import Access, Pool, ResolvedSoc
from atoll.utils.vendor_text import MOST_CHARACTERS, vendor_text

MOST_POOLS = 256
_MOST_DIGITS = 40
_UNITS = {"BYTES": 1, "KBYTES": 2**10, "MBYTES": 2**20, "GBYTES": 2**30}
_RIGHTS = {"ACC_READ": False, "ACC_WRITE": True}
_MOST_WIDTH = 256
_SAME_RATIO = Fraction(1, 200)
RANKS = ("LOW", "MID", "HIGH")
_POWERS = ("read_power", "write_power", "readPower", "writePower")
_PREFERS = ("constants_preferred", "constantsPreferred")


@dataclass(frozen=True, slots=True, kw_only=True)
class Window:
    """A pool as such a file has it.

    Attributes:
        name: of the pool.
        memory: of the memory that it lies in, which the file calls ``fname``.
        origin: address of the first byte, as the NPU sees it.
        size: bytes; 0 turns the pool off.
        writable: the NPU stores to it.
        width: bytes in a cycle of the memory.
        ratio: cycles of the NPU in one of the memory; more than 1 is a slower memory.
        latency, throughput: ranks, 0 (``LOW``) to 2 (``HIGH``).
        constants: the compiler places constants there by preference.
        is_placed: the file says where it is; else a linker does.
        line: where the file says so, from 1.
    """

    name: str
    memory: str = ""
    origin: int
    size: int
    writable: bool
    width: int
    ratio: Fraction
    latency: int = 0
    throughput: int = 0
    constants: bool = False
    is_placed: bool = True
    line: int = 1

    @property
    def is_used(self) -> bool:
        """Return whether the file gives bytes to it, and says which."""
        return self.is_placed and self.size > 0

    @property
    def speed(self) -> Fraction:
        """Return the bytes in a cycle of the NPU."""
        return self.width / self.ratio


@dataclass(frozen=True, slots=True, kw_only=True)
class PoolFile:
    """A memory-pool file.

    Attributes:
        document: all of it, as JSON has it.
        windows: its pools, in its order.
    """

    document: Mapping[str, Any]
    windows: tuple[Window, ...]


def pool_file_of(soc: ResolvedSoc) -> PoolFile | None:
    """Return the vendor's memory-pool file that goes with a chip, None if there is none.

    Raises:
        UsageError: E138; it cannot be read, or is damaged.
    """
    if soc.mpool is None:
        return None
    path = soc.mpool.path
    text = vendor_text(path, soc.mpool.at, "name the file of ST Edge AI")
    return parse_pool_file(text, path)


def parse_pool_file(text: str, path: Path) -> PoolFile:
    """Return the memory-pool file of this text; `path` is for messages.

    Raises:
        UsageError: E138; it is damaged.
    """
    if len(text) > MOST_CHARACTERS:
        _refuse(path, 0, f"the file is longer than {MOST_CHARACTERS:,} characters")
    try:
        document = json.loads(text, parse_constant=_no_number, parse_float=_finite)
    except json.JSONDecodeError as fault:
        _refuse(path, fault.lineno, f"not valid JSON: {fault.msg}")
    except (ValueError, RecursionError):
        _refuse(path, 0, "not valid JSON: it has a number that is none, or is nested too deep")
    memory = document.get("memory") if isinstance(document, dict) else None
    pools = memory.get("mempools") if isinstance(memory, dict) else None
    if not isinstance(pools, list):
        _refuse(path, 0, "no memory-pool file of ST Edge AI: it has no list 'memory.mempools'")
    if len(pools) > MOST_POOLS:
        _refuse(path, 0, f"the file has more than {MOST_POOLS} pools")
    windows = tuple(_windows(text, path, pools))
    names: dict[str, str] = {}
    for number, each in enumerate(windows, 1):
        other = names.setdefault(plain_name(each.name), each.name)
        if len(names) < number:
            what = f"'{other}' and '{each.name}' are one name in a description"
            _refuse(path, each.line, what, "rename one of the pools")
    return PoolFile(document=document, windows=windows)


def windows_of(soc: ResolvedSoc) -> tuple[Window, ...]:
    """Return the pools that the NPU of a chip's memory-pool file reaches, where that sees them."""
    assert soc.mpool is not None, "only such chips have a file"
    seen, npu = as_seen_by(soc, soc.mpool.device), soc.device(soc.mpool.device)
    pools = [pool for pool in seen.pools if pool.reach[npu.name] is not Access.NONE]
    return tuple(_window_of(soc, npu.clock, pool) for pool in pools)


def _window_of(soc: ResolvedSoc, clock: int, pool: Pool) -> Window:
    """Return a pool as a window of an NPU with this clock, in hertz."""
    speed = pool.speed
    assert speed is not None, "a chip that was described says so"
    return Window(
        name=pool.name,
        memory=pool.region.memory,
        origin=pool.region.origin,
        size=pool.room,
        writable=pool.reach[soc.mpool.device] is Access.WRITE if soc.mpool else False,
        width=speed.read_bandwidth,
        ratio=Fraction(clock, speed.clock),
    )


def pool_file_text(file: PoolFile, windows: Sequence[Window]) -> str:
    """Return the file with these windows for those that it has; all else stays as it is.

    A pool keeps how it is written where that says the same. Pools of the file that are turned off,
    or that a linker places, stay; others without a window are gone. A window that the file lacks is
    at the end, and has the words of the pool that is nearest in speed.
    """
    document = deepcopy(dict(file.document))
    entries = document["memory"]["mempools"]
    named = {plain_name(each.name): each for each in windows}
    kept = [
        _with_window(entry, named.pop(key)) if (key := plain_name(known.name)) in named else entry
        for entry, known in zip(entries, file.windows, strict=True)
        if plain_name(known.name) in named or not known.is_used
    ]
    nearest = [(known, entry) for known, entry in zip(file.windows, entries, strict=True)]
    document["memory"]["mempools"] = [
        *kept,
        *(_new_entry(nearest, each) for each in named.values()),
    ]
    return json.dumps(document, indent=2, ensure_ascii=False) + "\n"


def plain_name(name: str) -> str:
    """Return a name as a description may write it: in small letters, digits and ``_``."""
    return "".join(c if c.isascii() and c.isalnum() else "_" for c in name.lower()).strip("_")


def _windows(text: str, path: Path, pools: Sequence[object]) -> Iterator[Window]:
    begin = max(text.find('"mempools"'), 0)
    for entry in pools:
        name = entry.get("name") if isinstance(entry, dict) else None
        if not isinstance(entry, dict) or not isinstance(name, str) or not plain_name(name):
            line = text.count("\n", 0, begin) + 1
            _refuse(path, line, "a pool has no 'name' with a letter or digit")
        begin = max(text.find(json.dumps(name, ensure_ascii=False), begin), begin)
        yield _window(entry, name, path, text.count("\n", 0, begin) + 1)


def _window(entry: Mapping[str, Any], name: str, path: Path, line: int) -> Window:
    properties = entry.get("prop")
    if not isinstance(properties, dict):
        _refuse(path, line, f"pool '{name}' has no 'prop'")
    rights, file_name = properties.get("rights"), entry.get("fname")
    if not isinstance(rights, str) or rights not in _RIGHTS:
        said = " or ".join(_RIGHTS)
        _refuse(path, line, f"'rights' of pool '{name}' is not {said}", f"write {said}")
    amounts = {key: _bytes(entry.get(key)) for key in ("offset", "size")}
    for key, amount in amounts.items():
        if amount is None:
            form = '{"value": "0x1000", "magnitude": "BYTES"}'
            _refuse(path, line, f"'{key}' of pool '{name}' is no amount of bytes", f"write {form}")
    width, ratio = properties.get("byteWidth"), _ratio(properties.get("freqRatio"))
    if not isinstance(width, int) or isinstance(width, bool) or not 1 <= width <= _MOST_WIDTH:
        _refuse(path, line, f"'byteWidth' of pool '{name}' is no number from 1 to {_MOST_WIDTH}")
    if ratio is None:
        _refuse(path, line, f"'freqRatio' of pool '{name}' is no number above 0")
    origin, size = amounts["offset"] or 0, amounts["size"] or 0
    return Window(
        name=name,
        memory=file_name if isinstance(file_name, str) and plain_name(file_name) else name,
        origin=origin,
        size=size,
        writable=_RIGHTS[rights],
        width=width,
        ratio=ratio,
        latency=_rank(properties.get("latency")),
        throughput=_rank(properties.get("throughput")),
        constants=any(str(properties.get(key)).lower() == "true" for key in _PREFERS),
        is_placed=entry.get("mode") != "USEMODE_RELATIVE" or origin > 0,
        line=line,
    )


def _bytes(amount: object) -> int | None:
    """Return the bytes of a value with a magnitude, None if it is none."""
    if not isinstance(amount, dict) or amount.get("magnitude") not in _UNITS:
        return None
    value = amount.get("value")
    text = value.strip() if isinstance(value, str) else str(value)
    if isinstance(value, bool) or len(text) > _MOST_DIGITS or not text[:1].isdigit():
        return None
    try:
        number = int(text, 16 if text[:2].lower() == "0x" else 10)
    except ValueError:
        return None
    return number * _UNITS[amount["magnitude"]]


def _ratio(value: object) -> Fraction | None:
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    return Fraction(str(value)) if Fraction(1, 1000) <= value <= 1000 else None


def _rank(word: object) -> int:
    return RANKS.index(word) if word in RANKS else 1


def _with_window(entry: Mapping[str, Any], window: Window) -> dict[str, Any]:
    """Return an entry of a file with what a window says, and the rest as it is."""
    old = entry["prop"]
    new: dict[str, Any] = {"rights": "ACC_WRITE" if window.writable else "ACC_READ"}
    new["byteWidth"] = window.width
    if abs(Fraction(str(old["freqRatio"])) - window.ratio) > _SAME_RATIO:
        new["freqRatio"] = round(float(window.ratio), 4)
    changed = {**entry, "prop": {**old, **new}}
    for key, amount in (("offset", window.origin), ("size", window.size)):
        if _bytes(entry[key]) != amount:
            changed[key] = _amount(amount, entry[key]["magnitude"])
    return changed


def _amount(amount: int, magnitude: str) -> dict[str, str]:
    """Return bytes in the unit that is wanted, if they are a whole number of it."""
    unit = _UNITS[magnitude]
    if unit > 1 and amount % unit == 0:
        return {"value": str(amount // unit), "magnitude": magnitude}
    return {"value": hex(amount), "magnitude": "BYTES"}


def _new_entry(known: Sequence[tuple[Window, Mapping[str, Any]]], window: Window) -> dict[str, Any]:
    """Return an entry for a window that the file lacks."""

    def distance(pair: tuple[Window, Mapping[str, Any]]) -> tuple[bool, bool, Fraction]:
        other = pair[0]
        factor = max(other.speed / window.speed, window.speed / other.speed)
        return not other.is_placed, other.writable != window.writable, factor

    words = min(known, key=distance)[1]["prop"] if known else {"freqRatio": 0}
    prop = {key: value for key, value in words.items() if key not in _POWERS}
    entry = {
        "fname": window.name.upper(),
        "name": window.name,
        "fformat": "FORMAT_RAW",
        "prop": prop,
        "offset": _amount(window.origin, "BYTES"),
        "size": _amount(window.size, "KBYTES"),
    }
    return _with_window(entry, window)


def _finite(word: str) -> float:
    number = float(word)
    return number if math.isfinite(number) else _no_number(word)


def _no_number(word: str) -> NoReturn:
    raise ValueError(word)


def _refuse(path: Path, line: int, what: str, remedy: str = "") -> NoReturn:
    at = SourceLoc(path, line, 1) if line else None
    message = what if at else f"'{path}': {what}"
    remedy = remedy or "get the file again from where it comes from"
    raise UsageError("E138", message, at=at, remedy=remedy)
