# SPDX-License-Identifier: Apache-2.0
"""A fault with the description around it, as far as it can be read: what candidates are made of."""

import re
from collections.abc import Iterator, Mapping
from difflib import get_close_matches
from typing import Any

from atoll.description.chip import CONSOLE
from atoll.description.core import LINES
from atoll.description.fields import ADDRESS_SPACE
from atoll.description.tree import Key
from atoll.diagnostics.errors import Fault
from atoll.diagnostics.units import parse_size
from atoll.records import dataclass
from atoll.resolve.address_map import REGISTER_PAGE
from atoll.resolve.remedy.trial import Trial

_REGISTERS = 0x4000_0000
"""Where control ports are by custom."""

_ROUND = 1 << 16
"""What origins of memories are multiples of, if there is a choice."""

ACCESS = {"constants": "ro", "workspace": "rw", "both": "rw", "state": "rw"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Case:
    """One fault of a description.

    Attributes:
        fault: what is wrong.
        key: of the wrong value, the missing key or the unknown one.
        data: the description as plain data, perhaps ill-typed.
        trial: tries edits.
        faults: all that is wrong with the description.
    """

    fault: Fault
    key: Key
    data: Mapping[str, Any]
    trial: Trial
    faults: tuple[Fault, ...]

    def at(self, *key: str) -> Any:
        """Return the value at `key`, None if there is none."""
        value: Any = self.data
        for name in key:
            if isinstance(value, dict):
                value = value.get(name)
            elif isinstance(value, list) and name.isdigit() and int(name) < len(value):
                value = value[int(name)]
            else:
                return None
        return value

    def table(self, *key: str) -> dict[str, Any]:
        """Return the mapping at `key`, empty if there is none."""
        value = self.at(*key)
        return value if isinstance(value, dict) else {}

    def size(self, *key: str) -> int:
        """Return a size in bytes, 0 if it cannot be read."""
        return size_of(self.at(*key))

    def memories(self, *kinds: str) -> list[str]:
        """Return the memories of some kinds, those first that no pool uses."""
        used = [pool.get("memory") for pool in self.table("pools").values() if _is_table(pool)]
        names = [
            name
            for name, memory in self.table("memories").items()
            if _is_table(memory) and memory.get("kind") in kinds
        ]
        return sorted(names, key=used.count)

    def devices(self, *kinds: str) -> list[str]:
        """Return the devices of some kinds."""
        devices = self.table("devices")
        return [
            n for n, device in devices.items() if _is_table(device) and device.get("kind") in kinds
        ]

    def free_lines(self) -> Iterator[int]:
        """Yield interrupt lines that no device uses; those that cores often keep come last."""
        taken = [self.at("devices", name, "irq") for name in self.table("devices")]
        yield from (line for line in (*range(3, LINES), *range(3)) if line not in taken)

    def free_pages(self, near: int = _REGISTERS) -> list[int]:
        """Return addresses of free register pages: `near`, behind other blocks, the usual ones."""
        taken = list(self.spans())
        blocks = [address // REGISTER_PAGE * REGISTER_PAGE for address in self._addresses()]
        behind = sorted((block + REGISTER_PAGE for block in blocks), key=lambda p: abs(p - near))
        usual = range(_REGISTERS, _REGISTERS + 64 * REGISTER_PAGE, REGISTER_PAGE)
        pages = dict.fromkeys([near // REGISTER_PAGE * REGISTER_PAGE, *behind, *usual])
        return [page for page in pages if _is_free(page, REGISTER_PAGE, taken)]

    def free_spans(self, size: int, near: int, besides: str) -> list[int]:
        """Return addresses at which a memory may begin, the next ones to `near` first."""
        taken = list(self.spans(besides))
        step = _ROUND if size > REGISTER_PAGE else REGISTER_PAGE
        ends = [0, ADDRESS_SPACE - size, near, *(end for _, end in taken)]
        below = {(begin - size) // step * step for begin, _ in taken}
        above = {-(-end // step) * step for end in ends}
        pages = {*above, *below, near // step * step, near // REGISTER_PAGE * REGISTER_PAGE}
        free = {page for page in pages if page >= 0 and _is_free(page, size, taken)}
        return sorted(free, key=lambda page: (abs(page - near), page))

    def spans(self, besides: str = "") -> Iterator[tuple[int, int]]:
        """Yield begin and end of what is on the bus but one memory."""
        for name in self.table("memories"):
            origin, size = self.at("memories", name, "origin"), self.size("memories", name, "size")
            if isinstance(origin, int) and name != besides:
                yield origin, origin + size
        yield from self._blocks()

    def _addresses(self) -> Iterator[int]:
        for name in self.table("devices"):
            for key in ("registers", "mailbox"):
                address = self.at("devices", name, key)
                if isinstance(address, int):
                    yield address

    def _blocks(self) -> Iterator[tuple[int, int]]:
        for address in self._addresses():
            yield address, address + REGISTER_PAGE
        console = self.at("console")
        console = console if isinstance(console, int) else CONSOLE
        yield console, console + REGISTER_PAGE


def nearest_word(word: str, choices: Iterator[str] | list[str], cutoff: float = 0.6) -> str | None:
    """Return the choice that is most similar to `word`, if one is."""
    return next(iter(get_close_matches(word.lower(), list(choices), n=1, cutoff=cutoff)), None)


def by_likeness(word: str, choices: list[str]) -> list[str]:
    """Return all choices, the most similar to `word` first."""
    close = get_close_matches(word.lower(), choices, n=len(choices), cutoff=0.3) if choices else []
    return [*close, *(each for each in choices if each not in close)]


def size_of(value: object) -> int:
    """Return a size in bytes, 0 if it cannot be read."""
    if isinstance(value, int) and not isinstance(value, bool):
        return value
    try:
        return parse_size(value) if isinstance(value, str) else 0
    except ValueError:
        return 0


def number_in(text: str) -> str | None:
    """Return the first number of a text, of which the first digits count."""
    found = re.search(r"[0-9][0-9_]{0,18}(?:\.[0-9]{1,18})?", text)
    return found[0] if found else None


def _is_free(begin: int, size: int, taken: list[tuple[int, int]]) -> bool:
    end = begin + size
    return end <= ADDRESS_SPACE and all(end <= low or high <= begin for low, high in taken)


def _is_table(value: object) -> bool:
    return isinstance(value, dict)
