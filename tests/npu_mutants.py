# SPDX-License-Identifier: Apache-2.0
"""Faults in what an Ethos-U is told: bases that moved, regions that were swapped, commands lost."""

import struct
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from itertools import pairwise
from pathlib import Path
from typing import Any
from unittest.mock import patch

from atoll.diagnostics.errors import AtollError
from atoll.ir.graph import Graph
from atoll.npu_stream.reader import StreamError, operations
from atoll.resolve.soc import ResolvedSoc
from atoll.vela import regions, subgraphs
from atoll.vela.optimised import NpuCall
from atoll.vela.stream import with_own_regions
from atoll_image.check import disagreements
from atoll_image.elf import read_image

BASES = frozenset({0x000, 0x010, 0x080, 0x020, 0x022, 0x030, 0x031})
"""Registers of an address that follows, by number: maps, weights, scales, copies."""

REGIONS = frozenset({0x10F, 0x11F, 0x18F, 0x128, 0x129, 0x131, 0x130})


@dataclass(slots=True)
class Judged:
    """A part that Vela compiled, and its stream with regions of its own."""

    body: Graph
    call: NpuCall
    stream: tuple[int, ...] = ()
    accepted: bool = False

    def refuses(self, stream: tuple[int, ...]) -> bool:
        """Tell whether another stream in its place is E170."""
        with patch.object(regions, "with_own_regions", lambda *_, **__: stream):
            try:
                regions.judge_stream(self.body, self.call)
            except AtollError as error:
                return {fault.code for fault in error.faults} == {"E170"}
        return False


def commands_of(stream: Sequence[int]) -> Iterator[tuple[int, int]]:
    """Yield place and words of each command."""
    at = 0
    while at < len(stream):
        size = 1 + (stream[at] >> 14 & 1)
        yield at, size
        at += size


def stream_mutants(
    stream: tuple[int, ...], product: int = 55
) -> Iterator[tuple[str, tuple[int, ...]]]:
    """Yield streams with one register of a place wrong, of which the NPU would use another."""
    right = touched(stream, product)
    for name, mutant in _stream_mutants(stream):
        if touched(mutant, product) != right:
            yield name, mutant


def touched(stream: Sequence[int], product: int) -> object:
    """Return what a stream touches, in words that compare; None if it cannot be read."""
    try:
        return [[*each.accesses] for each in operations(stream, product)]
    except StreamError:
        return None


@contextmanager
def judged() -> Iterator[list[Judged]]:
    """Collect what is judged while networks are compiled, accepted or not."""
    found: list[Judged] = []
    judge, move = regions.judge_stream, with_own_regions

    def moved(*given: Any, **options: Any) -> tuple[int, ...]:
        found[-1].stream = move(*given, **options)
        return found[-1].stream

    def recorded(body: Graph, call: NpuCall) -> tuple[int, ...]:
        found.append(Judged(body, call))
        stream = judge(body, call)
        found[-1].accepted = True
        return stream

    with (
        patch.object(regions, "with_own_regions", moved),
        patch.object(subgraphs, "judge_stream", recorded),
    ):
        yield found


def _stream_mutants(stream: tuple[int, ...]) -> Iterator[tuple[str, tuple[int, ...]]]:
    regions = [at for at, _ in commands_of(stream) if stream[at] & 0xFFFF in REGIONS]
    for at, size in commands_of(stream):
        number = stream[at] & 0xFFFF
        if size == 2 and number & 0x3FF in BASES:
            for step in (1, 16, -16):
                word = (stream[at + 1] + step) & 0xFFFF_FFFF
                yield f"base at {at} moved by {step}", _with(stream, at + 1, word)
            yield f"offset at {at} dropped", stream[:at] + stream[at + 2 :]
        elif number in REGIONS and not stream[at] >> 24:
            for region in range(8):
                if region != stream[at] >> 16 & 7:
                    word = number | region << 16
                    yield f"region at {at} is {region}", _with(stream, at, word)
            yield f"region at {at} dropped", stream[:at] + stream[at + 1 :]
    for one, two in pairwise(regions):
        swapped = _with(stream, one, stream[one] & 0xFFFF | stream[two] & 0xFFFF_0000)
        other = _with(swapped, two, stream[two] & 0xFFFF | stream[one] & 0xFFFF_0000)
        yield f"regions at {one} and {two} swapped", other


def _with(stream: tuple[int, ...], at: int, word: int) -> tuple[int, ...]:
    return (*stream[:at], word, *stream[at + 1 :])


def block_mutants() -> Iterator[tuple[str, Callable[[bytes], bytes]]]:
    """Yield changes of a block, by what they change."""
    for word in (1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 20, 21):
        yield f"word {word}", partial(_plus, word=word)
    for one, two in ((4, 6), (4, 8), (6, 8), (8, 10)):
        yield f"regions {one} and {two} swapped", partial(_swapped, one=one, two=two)


def _plus(data: bytes, word: int) -> bytes:
    words = [*struct.unpack(f"<{len(data) // 4}I", data)]
    words[word] = (words[word] + 16) & 0xFFFF_FFFF
    return struct.pack(f"<{len(words)}I", *words)


def _swapped(data: bytes, one: int, two: int) -> bytes:
    words = [*struct.unpack(f"<{len(data) // 4}I", data)]
    words[one : one + 2], words[two : two + 2] = words[two : two + 2], words[one : one + 2]
    return struct.pack(f"<{len(words)}I", *words)


def image_mutants(elf: bytes) -> Iterator[tuple[str, bytes]]:
    """Yield images with a block or a stream that was changed, in place."""
    block = elf.find(b"ETHU")
    for name, change in block_mutants():
        data = change(elf[block : block + 128])
        if data != elf[block : block + 128]:
            yield f"block: {name}", elf[:block] + data + elf[block + 128 :]
    yield "block: no magic", elf[:block] + b"?" + elf[block + 1 :]
    payload = elf.find(b"COP1")
    (action,) = struct.unpack_from("<I", elf, payload + 28)
    words = action >> 16 | (action >> 8 & 0xFF) << 16
    stream = struct.unpack_from(f"<{words}I", elf, payload + 32)
    for name, mutant in _stream_mutants(stream):
        if len(mutant) == len(stream) and mutant != stream:
            data = struct.pack(f"<{words}I", *mutant)
            yield f"stream: {name}", elf[: payload + 32] + data + elf[payload + 32 + 4 * words :]


def noticed_in_image(soc: ResolvedSoc, elf: bytes, folder: Path) -> set[str]:
    """Return the codes of what disagrees in an image."""
    path = folder / "mutant.elf"
    path.write_bytes(elf)
    return {fault.code for fault in disagreements(soc, soc.host, read_image(path))}
