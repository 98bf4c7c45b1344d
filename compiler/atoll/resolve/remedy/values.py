# SPDX-License-Identifier: Apache-2.0
"""Candidates for values that are not of the kind or in the range that their keys take."""

import math
import re
from collections.abc import Callable, Iterator, Mapping
from functools import partial
from types import MappingProxyType
from typing import Any

from atoll.description.edits import Candidate, Edit, hexadecimal, set_key
from atoll.diagnostics.units import format_size, parse_size
from atoll.resolve.address_map import LARGEST_MEMORY
from atoll.resolve.remedy.case import Case, by_likeness, number_in
from atoll.resolve.remedy.keys import add_key, clean_name

WORDS: Mapping[str, Mapping[str, str]] = MappingProxyType(
    {
        "rom": {
            "rom": "flash nvm nor mram rram eeprom otp xip readonly read_only ro rodata norflash",
            "ram": "memory mem dram sdram sram psram ddr tcm itcm dtcm cache scratchpad rw",
        },
        "workspace": {
            "constants": "constant const weights weight parameters params rodata data code",
            "workspace": "activations activation arena scratch work tensors buffers heap ram",
            "both": "any all mixed shared",
            "state": "states variable variables retention persistent kept",
        },
        "rw": {
            "rw": "wr write w readwrite read_write read-write full yes true all rwx wo",
            "ro": "r read readonly read_only read-only rx",
            "none": "no n false never null nothing - off empty",
        },
        "npu": {
            "cpu": "core mcu processor host riscv risc-v arm cortex",
            "dsp": "vector coprocessor signal",
            "npu": "gpu tpu accelerator accel nna mpu ethos cnn neural",
            "dma": "engine copy copier mover dmac",
            "master": "bus_master peripheral initiator ethernet usb camera",
        },
        "xip": {
            "xip": "flash rom inplace in-place execute_in_place",
            "external": "bootloader boot debugger probe jtag",
        },
        "zig": {"zig": "clang llvm lld", "gcc": "gnu riscv-gcc ld"},
        "internal": {
            "internal": "image firmware atoll static",
            "application": "app user external caller dynamic",
        },
    }
)
"""For each enumeration, known by one of its values, other words that people write."""

_UNITS = {"k": "KiB", "m": "MiB", "g": "GiB", "b": "B"}
_CLOCKS = {"k": "kHz", "m": "MHz", "g": "GHz", "h": "Hz"}
_CHOICE = re.compile(r"'([^']+)'")


def bad_value(case: Case) -> Iterator[Candidate]:
    """Yield what somebody may have meant who wrote a value that its key cannot have."""
    old = case.at(*case.key)
    expected = case.fault.message.partition(" must be ")[2].rpartition(", not ")[0]
    yield from ((set_key(case.key, value),) for value in _likely_values(expected, old, case))
    yield from add_key(case)
    example = re.match(r"write '\S+: (.*)', for example", case.fault.remedy or "")
    if example:
        yield (Edit(case.key, example[1]),)
    yield (Edit(case.key),)


def _likely_values(expected: str, old: Any, case: Case) -> Iterator[Any]:
    if isinstance(old, float) and not math.isfinite(old):
        return
    if choices := _CHOICE.findall(expected):
        yield from _choices(choices, old)
    elif expected.startswith("a size"):
        sizes = (*_sizes(old), format_size(LARGEST_MEMORY))
        yield from filter(partial(_is_size, expected), sizes)
    elif expected.startswith("a frequency"):
        yield from _frequencies(old)
    elif expected.startswith("an address"):
        yield from _addresses(old, case)
    elif expected.startswith(("a whole number", "a power of two")):
        yield from _numbers(expected, old)
    elif expected.startswith("a name"):
        yield from _names(old)
    elif expected.startswith("true or false"):
        yield str(old).lower() in ("yes", "on", "1", "true", "y")
    elif expected.startswith("a list"):
        yield [old]
    elif expected.startswith("a pair"):
        yield from case.memories("ram")


def _choices(choices: list[str], old: Any) -> Iterator[str]:
    word = str("none" if old is None else old).lower()
    for known in WORDS.values():
        for value, others in known.items():
            if set(choices) >= known.keys() & set(choices) and value in choices:
                yield from [value] * (
                    word in others.split() and not known.keys().isdisjoint(choices)
                )
    yield from by_likeness(word, choices)


def _sizes(old: Any) -> Iterator[str | int]:
    if isinstance(old, (int, float)) and not isinstance(old, bool):
        yield max(1, abs(round(old)))
        return
    if isinstance(old, str) and (number := number_in(old)):
        letter = re.sub(r"[0-9_.\s-]", "", old)[:1].lower()
        unit = _UNITS.get(letter, "KiB")
        yield f"{number} {unit}"
        yield f"{max(1, round(float(number.replace('_', ''))))} {unit}"


def _is_size(expected: str, value: str | int) -> bool:
    """Tell whether a size is one, and in the range that is expected."""
    try:
        size = parse_size(value) if isinstance(value, str) else value
    except ValueError:
        return False
    low, high = (re.search(rf"at {end} (\d+ \w+)", expected) for end in ("least", "most"))
    return (not low or size >= parse_size(low[1])) and (not high or size <= parse_size(high[1]))


def _frequencies(old: Any) -> Iterator[str | int]:
    if isinstance(old, (int, float)) and not isinstance(old, bool):
        yield f"{max(1, abs(round(old)))} MHz" if abs(old) < 10_000 else abs(round(old))
        return
    if isinstance(old, str) and (number := number_in(old)):
        letter = re.sub(r"[0-9_.\s-]", "", old)[:1].lower()
        yield f"{number} {_CLOCKS.get(letter, 'MHz')}"
        yield f"{max(1, round(float(number.replace('_', ''))))} MHz"


def _addresses(old: Any, case: Case) -> Iterator[str]:
    near = 0x4000_0000
    if isinstance(old, str):
        digits = re.sub(r"[^0-9a-f]", "", re.sub(r"^0x|h$", "", old.lower().strip()))
        near = int(digits[:8] or "0", 16)
    elif isinstance(old, (int, float)) and old > 0:
        near = int(old) % (1 << 32)
    if case.key[0] == "memories":
        size = case.size(*case.key[:-1], "size") or 4096
        yield from map(hexadecimal, case.free_spans(size, near, case.key[1])[:3])
    else:
        yield from map(hexadecimal, case.free_pages(near)[:3])


def _numbers(expected: str, old: Any) -> Iterator[int]:
    low, high = (int(found) for found in re.findall(r"at (?:least|most) (-?\d+)", expected)[:2])
    text = str(old).lower()
    number = number_in(text)
    if number is None:
        return
    value = round(float(number.replace("_", "")))
    value = min(max(value, low), high)
    if "power of two" in expected:
        powers = [1 << shift for shift in range(13) if low <= 1 << shift <= high]
        yield from sorted(powers, key=lambda power: (abs(power - value), power))
        return
    yield value


def _names(old: Any) -> Iterator[str]:
    if isinstance(old, list) and old:
        yield from (str(each) for each in old)
    elif isinstance(old, str):
        yield clean_name(old)
        yield f"my_{clean_name(old)}"[:32]


VALUES: Mapping[str, Callable[[Case], Iterator[Candidate]]] = {"E012": bad_value}
