# SPDX-License-Identifier: Apache-2.0
"""Sizes, frequencies and durations as people write them; conversions are exact or refused."""

import re

_SIZES = {"B": 1, "KiB": 2**10, "MiB": 2**20, "GiB": 2**30}
_FREQUENCIES = {"Hz": 1, "kHz": 10**3, "MHz": 10**6, "GHz": 10**9}
_DURATIONS = {"ms": 1, "s": 1000, "min": 60_000}
_BYTES = re.compile(r"0[xX][0-9a-fA-F_]{1,20}|[0-9][0-9_]*")
_QUANTITY = re.compile(r"([0-9][0-9_]*(?:\.[0-9]+)?)\s*([A-Za-z]+)")


def parse_size(text: str) -> int:
    """Turn ``"64 KiB"``, ``"65536"`` or ``"0x1_0000"`` into 65536 bytes.

    Raises:
        ValueError: another unit than B, KiB, MiB, GiB, or not a whole number of bytes.
    """
    if _BYTES.fullmatch(plain := text.strip()):
        digits = plain.replace("_", "")
        return int(digits, 16 if digits[1:2] in ("x", "X") else 10)
    return _parse(text, _SIZES)


def parse_frequency(text: str) -> int:
    """Turn ``"100 MHz"`` into 100000000 hertz.

    Raises:
        ValueError: no unit of Hz, kHz, MHz, GHz, or not a whole number of hertz.
    """
    return _parse(text, _FREQUENCIES)


def parse_duration(text: str) -> float:
    """Turn ``"1.5 s"`` into 1.5 seconds.

    Raises:
        ValueError: no unit of ms, s, min, or not a whole number of milliseconds.
    """
    return _parse(text, _DURATIONS) / 1000


def format_size(size: int) -> str:
    """Write bytes in the largest unit that is exact: ``"64 KiB"``, ``"1000 B"``."""
    unit = max(
        (u for u in _SIZES if size and size % _SIZES[u] == 0), key=lambda u: _SIZES[u], default="B"
    )
    return f"{size // _SIZES[unit]} {unit}"


def format_frequency(hertz: int) -> str:
    """Write hertz in the largest unit that is exact: ``"100 MHz"``, ``"1500 Hz"``."""
    unit = max(
        (u for u in _FREQUENCIES if hertz and hertz % _FREQUENCIES[u] == 0),
        key=lambda u: _FREQUENCIES[u],
        default="Hz",
    )
    return f"{hertz // _FREQUENCIES[unit]} {unit}"


def _parse(text: str, units: dict[str, int]) -> int:
    found = _QUANTITY.fullmatch(text.strip())
    if found is None or found[2] not in units:
        raise ValueError(f"'{text}' is not a number with a unit of {', '.join(units)}")
    whole, _, fraction = found[1].replace("_", "").partition(".")
    scaled = int(whole + fraction) * units[found[2]]
    shift: int = 10 ** len(fraction)
    value, rest = divmod(scaled, shift)
    if rest:
        raise ValueError(f"'{text}' is not a whole number of {next(iter(units))}")
    return value


def nanoseconds(cycles: int, hertz: int) -> int:
    """Return how long cycles of a clock take, rounded to the nearest."""
    return round(cycles * 10**9 / hertz)
