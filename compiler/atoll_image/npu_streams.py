# SPDX-License-Identifier: Apache-2.0
"""What an image tells an Ethos-U: each start with its commands, held against the chip."""

from collections.abc import Iterator
from itertools import combinations

from atoll.diagnostics.errors import Fault
from atoll.npu_stream.judge import Role
from atoll.npu_stream.start import MAGIC, PAYLOAD, Start, is_payload, read_start
from atoll.resolve.soc import Access, Engine, Pool, ResolvedSoc
from atoll_image.elf import ElfImage

DRIVER = "ethos_u"
_STEP = 16
"""Starts and payloads begin at multiples of so many bytes, as the NPU wants it."""

_LARGEST = 128


def stream_faults(soc: ResolvedSoc, image: ElfImage) -> Iterator[Fault]:
    """Yield what the Ethos-U of a chip, as the core sees it, would touch and may not.

    Each start in a pool of constants is whole, its commands keep to its regions, and each region is
    in pools that the NPU reaches for it; all commands are some start's.
    """
    engine = next((each for each in soc.engines if each.spec.driver == DRIVER), None)
    if engine is None:
        return
    named = set[int]()
    for address, data in _candidates(soc, image, engine, MAGIC):
        if (start := read_start(data)) is None:
            yield _fault(engine, f"the start at {address:#010x} is damaged")
            continue
        named.add(start.payload[0])
        for wrong in _wrong(soc, image, engine, start):
            yield _fault(engine, f"the start at {address:#010x} is wrong: {wrong}")
    for address, data in _candidates(soc, image, engine, PAYLOAD):
        if is_payload(data) and address not in named:
            yield _fault(engine, f"no start has the commands at {address:#010x}")


def _candidates(
    soc: ResolvedSoc, image: ElfImage, engine: Engine, begins: bytes
) -> Iterator[tuple[int, bytes]]:
    """Yield what may be a start or a payload where the NPU reads: its address, bytes from there."""
    for section in image.sections:
        at = section.data.find(begins)
        while at >= 0:
            address = section.begin + at
            if address % _STEP == 0 and any(
                _reaches(pool, engine, Access.READ, address, _STEP) for pool in soc.pools
            ):
                yield address, section.data[at : at + _LARGEST]
            at = section.data.find(begins, at + 1)


def _wrong(soc: ResolvedSoc, image: ElfImage, engine: Engine, start: Start) -> Iterator[str]:
    payload = image.read_loaded(*start.payload)
    if payload is None:
        yield f"no {start.payload[1]} bytes of commands are loaded at {start.payload[0]:#010x}"
        return
    yield from start.check(payload)
    for number, (address, size) in enumerate(start.regions):
        role = start.role(number)
        what = f"region {number} of {size} bytes at {address:#010x}"
        if role is Role.CONSTANT:
            if image.read_loaded(address, size) is None:
                yield f"{what} is not loaded"
            need = Access.READ
        else:
            need = Access.READ if role is Role.INPUT else Access.WRITE
        if not any(_reaches(pool, engine, need, address, size) for pool in soc.pools):
            yield f"{what} is in no pool that '{engine.name}' may {need.name.lower()}"
    spans = [(address, address + size) for address, size in start.regions]
    for (one, first), (other, second) in combinations(enumerate(spans), 2):
        if start.written & {one, other} and first[0] < second[1] and second[0] < first[1]:
            yield f"regions {one} and {other} share bytes, and one is written"


def _reaches(pool: Pool, engine: Engine, need: Access, address: int, size: int) -> bool:
    region = pool.region
    inside = region.origin <= address <= region.end - size
    return inside and pool.reach[engine.name] in (Access.WRITE, need)


def _fault(engine: Engine, message: str) -> Fault:
    return Fault(
        code="E172",
        message=f"'{engine.name}': {message}",
        at=engine.at,
        remedy="build the image again, and let no tool change what is in its pools",
    )
