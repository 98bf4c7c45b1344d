# SPDX-License-Identifier: Apache-2.0
"""What the description of an alias leaves out is as the memory has it whose bytes it shows."""

import re
from typing import Any

from atoll.diagnostics.units import parse_size

NO_ALIAS = "none"
"""Says of a memory that it has bytes of its own, whatever its name is like."""

INHERITED = ("size", "kind", "width", "banks", "read_latency", "cached", "sector", "reach")
_NOTHING_KNOWN = {"size": 16, "kind": "ram"}
_BUSES = frozenset(
    (
        *("cbus", "sbus", "dbus", "ibus", "sysbus", "codebus", "icode", "dcode", "axis", "axim"),
        *("ahb", "ahbs", "tcmbus", "backdoor"),
    )
)
"""Buses on which vendors' headers have a memory once more."""

_MARKS = frozenset(
    (
        *("secure", "nonsecure", "unsecure", "insecure", "nonsec", "nsec"),
        *("cached", "uncached", "noncached", "cacheable", "uncacheable", "noncacheable"),
        *("nocache", "noalloc", "bypass", "bypassed"),
        *("alias", "aliased", "mirror", "mirrored", "shadow", "remap", "remapped"),
    )
)
"""Words that vendors give to one of several addresses of one memory, anywhere in its name."""

WORDS_OF_ONE = _BUSES | _MARKS | {"s", "ns", "sec", "nsc", "non", "nc", "cache", "kseg0", "kseg1"}
"""Those that they give before or behind its name."""

_BEHIND = WORDS_OF_ONE | {
    *("c", "itcm", "dma", "iram", "dram", "code", "sys", "system", "local", "global", "xip"),
    *("uc", "unc", "wb", "wc", "wcb", "wt"),
}
"""Those that they give behind it, which before other words, or alone, name a memory.

``code`` and ``system`` are buses of one memory, or, of an i.MX RT1176, halves of one.
"""

_SPLIT = re.compile(r"(?:(?<=_)|^)(no|non|un)_(?=cach|sec)")
_SWITCHED = re.compile(r"(?<=cache)_(?:on|off|enabled?|disabled?)(?=_|$)")
_GLUED = re.compile(
    r"(?:(un|non)cached|no[nt]?cache|(non)?secure)?([a-z0-9]{3,}?)"
    r"(?:(un|non)?cached|no[nt]?cache|(non)?secure|alias|mirror)?"
)
_NUMBERED = re.compile(r"([a-z]+)([0-9]+)")


def complete_aliases(data: Any) -> Any:
    """Return the tree of a chip in which each alias has all that its memory says."""
    memories = data.get("memories") if isinstance(data, dict) else None
    if not isinstance(memories, dict):
        return data
    return data | {"memories": {name: _complete(it, memories) for name, it in memories.items()}}


def _complete(alias: Any, memories: dict[str, Any]) -> Any:
    if not isinstance(alias, dict) or alias.get("alias_of") in (None, NO_ALIAS):
        return alias
    name = alias["alias_of"]
    real = memories.get(name) if isinstance(name, str) else None
    known = real if isinstance(real, dict) else {}
    inherited = {key: known[key] for key in INHERITED if key in known}
    if "size" in inherited and "offset" in alias:
        inherited["size"] = _rest(inherited["size"], alias["offset"])
    return _NOTHING_KNOWN | inherited | alias


def _rest(size: Any, offset: Any) -> Any:
    """Return what of a memory is left behind an offset; its size if that is nothing."""
    try:
        begin, end = (
            each if isinstance(each, int) else parse_size(each) for each in (offset, size)
        )
    except (TypeError, ValueError, AttributeError):
        return size
    return end - begin if begin < end else size


def stem_of(name: str) -> str:
    """Return a name without the words that tell the addresses of one memory apart.

    Of several words one stays, unless it is no more than a bus; so does the number at the end.
    """
    words = _SWITCHED.sub("", _SPLIT.sub(r"\1", name)).split("_")
    number = words.pop() if len(words) > 1 and words[-1].isdigit() else ""
    last = _NUMBERED.fullmatch(words[-1])
    if last and last[1] in WORDS_OF_ONE and len(words) > 1 and not number:
        words[-1], number = last.groups()
    while len(words) > 1 and words[-1] in _BEHIND:
        words.pop()
    while len(words) > 1 and words[0] in WORDS_OF_ONE:
        words.pop(0)
    words = [each for each in words if each not in _MARKS] or words
    glued = _GLUED.fullmatch(words[0]) if len(words) == 1 else None
    stem = "" if words[0] in _BUSES and len(words) == 1 else "_".join(words)
    return f"{glued[3] if glued and stem else stem}_{number}".rstrip("_")
