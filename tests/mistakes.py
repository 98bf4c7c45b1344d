# SPDX-License-Identifier: Apache-2.0
"""Plant one mistake in the text of a valid description, chosen by a seed."""

import random
import re
from collections.abc import Callable, Iterator, Mapping
from typing import Any

import yaml

Data = dict[str, Any]
Path = tuple[str | int, ...]
Planter = Callable[[Data, random.Random], str]
"""Changes a description in place and says what it did."""

_DEEPEST = 4
_LETTERS = "abcdefghijklmnopqrstuvwxyz"
_UNIT = re.compile(r"([0-9.]+) ?([KMG]i?B|B|[kMG]?Hz)")
_UNITS = {
    "B": ("b", "byte", "Bytes", "KiB", "MiB"),
    "KiB": ("KB", "kB", "K", "kib", "k", "MiB", "GiB", "KBytes", "kilobytes"),
    "MiB": ("MB", "mb", "M", "Mib", "GiB", "MBytes"),
    "MHz": ("Mhz", "mhz", "MHZ", "M", "megahertz", "MHz."),
}


def load(text: str) -> Data:
    """Return the plain data of a description; addresses stay as they are written."""
    data: Data = yaml.load(text, Loader=yaml.BaseLoader)
    return data


def dump(data: Data, indent: str = "") -> str:
    """Return a description as text: devices, memories and pools by lines, the rest in braces."""
    lines = []
    for key, value in data.items():
        below = isinstance(value, dict) and len(indent) < _DEEPEST
        lines.append(f"{indent}{key}:\n{dump(value, indent + '  ')}" if below else "")
        lines[-1] = lines[-1] or f"{indent}{key}: {_flow(value)}\n"
    return "".join(lines)


def _flow(value: Any) -> str:
    if isinstance(value, dict):
        return "{" + ", ".join(f"{key}: {_flow(item)}" for key, item in value.items()) + "}"
    return "[" + ", ".join(map(_flow, value)) + "]" if isinstance(value, list) else str(value)


def misspelt(word: str, rng: random.Random) -> str:
    """Return `word` with one slip of the keyboard."""
    place = rng.randrange(len(word))
    match rng.randrange(4):
        case 0 if len(word) > 2:
            return word[:place] + word[place + 1 :]
        case 1:
            return word[:place] + word[place] + word[place:]
        case 2 if place + 1 < len(word):
            return word[:place] + word[place + 1] + word[place] + word[place + 2 :]
        case _:
            return word[:place] + rng.choice(_LETTERS) + word[place + 1 :]


def typo(data: Data, rng: random.Random) -> str:
    """Misspell a key, or a value that is a word."""
    key_or_value = [(path, key) for path, key, _ in _entries(data) if isinstance(key, str)]
    words = [(p, k) for p, k, v in _entries(data) if isinstance(v, str) and v[:1].isalpha()]
    if rng.random() < 0.5:
        path, key = rng.choice(key_or_value)
        table = _at(data, path)
        wrong = misspelt(str(key), rng)
        items = [(wrong if name == key else name, value) for name, value in table.items()]
        table.clear()
        table.update(items)
        return f"key {_dotted(path, key)} -> {wrong}"
    path, place = rng.choice(words)
    table = _at(data, path)
    table[place] = misspelt(table[place], rng)
    return f"{_dotted(path, place)}: {table[place]}"


def wrong_unit(data: Data, rng: random.Random) -> str:
    """Write a unit that is spelt wrong, or is another one."""
    found = [(p, k, v) for p, k, v in _entries(data) if isinstance(v, str) and _UNIT.fullmatch(v)]
    path, key, value = rng.choice(found)
    number, unit = _UNIT.fullmatch(value).groups()  # type: ignore[union-attr]
    _at(data, path)[key] = f"{number} {rng.choice(_UNITS[unit])}"
    return f"{_dotted(path, key)}: {value} -> {_at(data, path)[key]}"


def clash(data: Data, rng: random.Random) -> str:
    """Put two things at one place: addresses, interrupt lines, memories."""
    key = rng.choice(("registers", "irq", "origin"))
    group = data["memories" if key == "origin" else "devices"]
    owners = [name for name in group if key in group[name]]
    wrong = rng.choice(owners)
    others = [name for name in owners if name != wrong]
    if key == "irq" and others:
        group[wrong][key] = group[rng.choice(others)][key]
    elif key == "origin":
        group[wrong][key] = _inside(group[rng.choice(others)], rng)
    else:
        memories = data["memories"]
        place = _inside(memories[rng.choice(list(memories))], rng)
        devices = [group[name][key] for name in others] if key == "registers" else []
        group[wrong]["registers"] = rng.choice([place, *devices, "0xF000_0000"])
    return f"{wrong}: {group[wrong]}"


def missing_key(data: Data, rng: random.Random) -> str:
    """Leave a key out."""
    path, key = rng.choice([(p, k) for p, k, _ in _entries(data) if isinstance(k, str)])
    del _at(data, path)[key]
    return f"without {_dotted(path, key)}"


def wrong_reach(data: Data, rng: random.Random) -> str:
    """Give a device another access to a pool, or leave it out."""
    pool = rng.choice(list(data["pools"]))
    reach = data["pools"][pool]["reach"]
    device = rng.choice(list(reach))
    access = rng.choice(["rw", "ro", "none", "r", "write", "yes", "no", None])
    if access is None:
        del reach[device]
    else:
        reach[device] = access
    return f"pools.{pool}.reach.{device}: {access}"


def too_small(data: Data, rng: random.Random) -> str:
    """Divide the size of a memory, pool or stack, or give a pool one that is too small."""
    found = [(p, k) for p, k, v in _entries(data) if k == "size" and isinstance(v, str)]
    found += [(("pools", name), "size") for name in data["pools"]]
    path, key = rng.choice(found)
    table = _at(data, path)
    size = _bytes(table[key]) if key in table else 32768
    table[key] = str(max(16, size // rng.choice((4, 16, 64, 256, 1024)) // 16 * 16))
    return f"{_dotted(path, key)}: {table[key]}"


KINDS: Mapping[str, Planter] = {
    "typo": typo,
    "wrong unit": wrong_unit,
    "clash": clash,
    "missing key": missing_key,
    "wrong reach": wrong_reach,
    "too small": too_small,
}


def _entries(node: Any, path: Path = ()) -> Iterator[tuple[Path, str | int, Any]]:
    items: Any = node.items() if isinstance(node, dict) else enumerate(node)
    for key, value in list(items):
        yield path, key, value
        if isinstance(value, (dict, list)):
            yield from _entries(value, (*path, key))


def _at(data: Any, path: Path) -> Any:
    for key in path:
        data = data[key]
    return data


def _dotted(path: Path, key: str | int) -> str:
    return ".".join(map(str, (*path, key)))


def _inside(memory: Data, rng: random.Random) -> str:
    """Return an address inside a memory."""
    origin = int(memory["origin"].replace("_", ""), 0)
    return f"0x{origin + rng.randrange(0, _bytes(memory['size']), 4096):08X}"


def _bytes(text: str) -> int:
    unit = {"B": 1, "KiB": 2**10, "MiB": 2**20}
    number, _, word = text.partition(" ")
    return int(number) * unit[word or "B"]
