# SPDX-License-Identifier: Apache-2.0
"""Reads a VCD file strictly: what IEEE 1364 does not allow is an error."""

import re
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

VARIABLE = re.compile(r"\$var (wire|reg) (\d+) (\S+) (\S+)(?: \[(\d+):(\d+)\])? \$end")
VECTOR = re.compile(r"b([01xz]+) (\S+)")


@dataclass(frozen=True)
class Vcd:
    """Signals by their path, with index range if they have one, and their changes by time."""

    codes: dict[str, str]
    bits: dict[str, int]
    changes: dict[str, list[tuple[int, int]]]
    times: tuple[int, int]

    def of(self, path: str) -> list[tuple[int, int]]:
        """Return the times and values of a signal's changes."""
        return self.changes[self.codes[path]]

    def texts(self, path: str) -> list[tuple[int, str]]:
        """Return a signal's values as ASCII text."""
        return [
            (at, value.to_bytes(64, "big").strip(b"\0").decode()) for at, value in self.of(path)
        ]


def read_vcd(path: Path) -> Vcd:
    with path.open() as file:
        lines = (line.strip() for line in file)
        codes, bits = _header(lines)
        changes: dict[str, list[tuple[int, int]]] = defaultdict(list)
        first = time = -1
        for line in filter(None, lines):
            if line[0] == "#":
                assert int(line[1:]) > time
                time = int(line[1:])
                first = time if first < 0 else first
                continue
            code, value, width = _change(line)
            assert time >= 0
            assert width <= bits[code]
            changes[code].append((time, value))
    return Vcd(codes, bits, changes, (first, time))


def _header(lines: Iterator[str]) -> tuple[dict[str, str], dict[str, int]]:
    codes: dict[str, str] = {}
    bits: dict[str, int] = {}
    scopes: list[str] = []
    for line in lines:
        word, *rest = line.split()
        if word == "$scope":
            scopes.append(rest[1])
        elif word == "$upscope":
            scopes.pop()
        elif word == "$var":
            found = VARIABLE.fullmatch(line)
            assert found, line
            _, width, code, name, high, low = found.groups()
            codes[".".join((*scopes, name)) + (f"[{high}:{low}]" if high else "")] = code
            assert (
                bits.setdefault(code, int(width))
                == int(width)
                == int(high or 0) - int(low or 0) + 1
            )
        elif word == "$timescale":
            assert rest == ["1ps", "$end"]
        elif word == "$enddefinitions":
            assert not scopes
            return codes, bits
        else:
            assert word == "$version", line
    raise AssertionError("the header does not end")


def _change(line: str) -> tuple[str, int, int]:
    if line[0] in "01":
        return line[1:], int(line[0]), 1
    found = VECTOR.fullmatch(line)
    assert found, line
    return found[2], int(found[1], 2), len(found[1])
