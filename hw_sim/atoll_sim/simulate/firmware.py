# SPDX-License-Identifier: Apache-2.0
"""Turn ELF files into the image that the simulator loads."""

import struct
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from itertools import pairwise
from pathlib import Path

from elftools.common.exceptions import ELFError
from elftools.elf.constants import SH_FLAGS
from elftools.elf.elffile import ELFFile

from atoll.bsp.core_images import image_cores
from atoll.diagnostics.errors import Fault, SimulationError
from atoll.records import dataclass
from atoll.resolve.memory_views import addresses_of, core_as_it_sees, on_bus
from atoll.resolve.soc import Cpu, ResolvedSoc


@dataclass(frozen=True, slots=True)
class Segment:
    """Bytes that a file puts into memory."""

    elf: Path
    address: int
    data: bytes

    @property
    def end(self) -> int:
        """First address past the bytes."""
        return self.address + len(self.data)


def write_image(elves: Sequence[Path], soc: ResolvedSoc, image: Path) -> tuple[Cpu, ...]:
    """Write the loadable bytes of `elves` as records (address, size, bytes) to `image`.

    A core other than the host for which there is no firmware gets a program that sleeps.

    Returns:
        The cores for which there is firmware.

    Raises:
        SimulationError: no ELF file, or some bytes lie outside the chip's memories or twice
            in the same place.
    """
    segments = load_images(elves, soc)
    started = started_cores(segments, soc, held_cores(elves, soc))
    write_segments(segments, soc, started, image)
    return started


def image_records(elves: Sequence[Path], soc: ResolvedSoc) -> tuple[tuple[int, bytes], ...]:
    """Return what `write_image` writes: addresses on the bus, and bytes; errors likewise."""
    segments = load_images(elves, soc)
    return _records(segments, soc, started_cores(segments, soc, held_cores(elves, soc)))


def load_images(elves: Sequence[Path], soc: ResolvedSoc) -> tuple[Segment, ...]:
    """Return all that the images of cores, the host's first, put where on the bus.

    That of a core that its host loads puts nothing anywhere: the host's has it.

    Raises:
        SimulationError: a file is missing, or no ELF file, or it has bytes for where its core does
            not see the memory that the bus has there.
    """
    found, faults = [], []
    held = held_cores(elves, soc)
    for viewer, elf in _by_viewer(elves, soc):
        for segment in load_segments(elf):
            byte = on_bus(soc, viewer, segment.address)
            if viewer not in held:
                found.append(replace(segment, address=byte))
            seen = addresses_of(soc, viewer, range(byte, byte + 1))
            if segment.address not in (first.start for first in seen):
                faults.append(_nowhere(segment, f"'{viewer}' of '{soc.name}' sees"))
    if faults:
        raise SimulationError.all(faults)
    return tuple(found)


def start_copies(elves: Sequence[Path], soc: ResolvedSoc) -> Iterator[tuple[range, int]]:
    """Yield what start-up code copies: where on the bus it is loaded, and where it runs."""
    for viewer, elf in _by_viewer(elves, soc):
        for span, runs in start_copies_of(elf):
            load = on_bus(soc, viewer, span.start)
            yield range(load, load + len(span)), on_bus(soc, viewer, runs)


def _by_viewer(elves: Sequence[Path], soc: ResolvedSoc) -> Iterator[tuple[str, Path]]:
    """Yield each image with the core whose addresses it has; the host's, if there are too many."""
    cores = [core.name for core in image_cores(soc)]
    for number, elf in enumerate(elves):
        yield cores[number] if number < len(cores) else soc.host, elf


def held_cores(elves: Sequence[Path], soc: ResolvedSoc) -> tuple[str, ...]:
    """Return the cores with an image that the host's image has, and loads."""
    with_image = {viewer for viewer, _ in _by_viewer(elves, soc)}
    return tuple(cpu.name for cpu in soc.cpus if cpu.is_held and cpu.name in with_image)


def started_cores(
    segments: Sequence[Segment], soc: ResolvedSoc, held: Sequence[str] = ()
) -> tuple[Cpu, ...]:
    """Return the cores whose first instruction is among `segments`, and those that are `held`."""
    return tuple(
        cpu for cpu in soc.cpus if cpu.name in held or _covers(segments, cpu.reset_address)
    )


def write_segments(
    segments: Sequence[Segment], soc: ResolvedSoc, started: Sequence[Cpu], image: Path
) -> None:
    """Write what ELF files load, as `write_image`; cores that are not `started` sleep.

    Raises:
        SimulationError: some bytes lie outside the chip's memories or twice in the same place.
    """
    records = _records(segments, soc, started)
    image.write_bytes(
        b"".join(struct.pack("<II", address, len(data)) + data for address, data in records)
    )


def _records(
    segments: Sequence[Segment], soc: ResolvedSoc, started: Sequence[Cpu]
) -> tuple[tuple[int, bytes], ...]:
    faults = [*_homeless(segments, soc), *_find_overlaps(segments)]
    if faults:
        raise SimulationError.all(faults)
    absent = (cpu for cpu in soc.cpus if cpu not in started and not cpu.is_held)
    asleep = [cpu for cpu in absent if cpu.name != soc.host]
    return (
        *((segment.address, segment.data) for segment in segments),
        *((cpu.reset_address, asleep_program(cpu)) for cpu in asleep),
    )


def asleep_program(cpu: Cpu) -> bytes:
    """Return the program of a core for which there is no firmware."""
    words = cpu.spec.asleep
    return struct.pack(f"<{len(words)}I", *words)


def load_segments(elf: Path) -> tuple[Segment, ...]:
    """Return all that `elf` puts into memory, at the addresses of its core.

    Raises:
        SimulationError: the file is missing, or no ELF file.
    """
    with _open(elf) as file:
        return tuple(
            Segment(elf, segment["p_paddr"], segment.data())
            for segment in file.iter_segments("PT_LOAD")
            if segment["p_filesz"]
        )


@contextmanager
def _open(elf: Path) -> Iterator[ELFFile]:
    try:
        with elf.open("rb") as stream:
            yield ELFFile(stream)
    except (OSError, ELFError) as fault:
        raise SimulationError(
            "E084",
            f"cannot read the firmware '{elf}': {fault}",
            remedy="build it again",
        ) from fault


def data_taken(elves: Sequence[Path], soc: ResolvedSoc) -> Mapping[str, int]:
    """Return how many bytes of its data region the image of each core takes.

    Args:
        elves: of the cores that have an image, the host's first; those without are left out.
        soc: the chip.

    Raises:
        SimulationError: a file is missing, or no ELF file.
    """
    taken = {}
    for core, elf in zip(image_cores(soc), elves, strict=False):
        data = core_as_it_sees(soc, core).data
        with _open(elf) as file:
            sections = [
                section["sh_addr"] + section["sh_size"]
                for section in file.iter_sections()
                if section["sh_flags"] & SH_FLAGS.SHF_ALLOC
                and data.origin <= section["sh_addr"] < data.end
            ]
        taken[core.name] = max(sections, default=data.origin) - data.origin
    return taken


def code_brought(elves: Sequence[Path], soc: ResolvedSoc) -> Mapping[str, bytes]:
    """Return what the code region of each core must hold once start-up code has filled it.

    A core that copies its code holds what runs there; one that its host loads, all that is loaded.

    Raises:
        SimulationError: a file is missing, or no ELF file.
    """
    found = {}
    for viewer, elf in _by_viewer(elves, soc):
        core = soc.device(viewer)
        assert isinstance(core, Cpu)
        if not (core.load or core.is_held):
            continue
        region = core_as_it_sees(soc, core).code
        address = "p_vaddr" if core.load else "p_paddr"
        found[viewer] = _join_segments(elf, address, range(region.origin, region.end))
    return found


def _join_segments(elf: Path, address: str, region: range) -> bytes:
    """Return the bytes of segments in a region from its begin on; what lies between them is 0."""
    joined = bytearray()
    with _open(elf) as file:
        for segment in file.iter_segments("PT_LOAD"):
            if segment["p_filesz"] and segment[address] in region:
                at = segment[address] - region.start
                joined.extend(bytes(max(0, at + segment["p_filesz"] - len(joined))))
                joined[at : at + segment["p_filesz"]] = segment.data()
    return bytes(joined)


@dataclass(frozen=True, slots=True)
class Text:
    """Instructions of an image.

    Attributes:
        span: where they lie when they run.
        load: where the first byte is at reset.
    """

    span: range
    load: int


def executable_texts(elf: Path) -> tuple[Text, ...]:
    """Return where the instructions of `elf` lie when it runs, and at reset."""
    with _open(elf) as file:
        shifts = {
            segment["p_vaddr"]: segment["p_paddr"] - segment["p_vaddr"]
            for segment in file.iter_segments("PT_LOAD")
        }
        texts = []
        for section in file.iter_sections():
            if section["sh_flags"] & SH_FLAGS.SHF_EXECINSTR and section["sh_size"]:
                begin = section["sh_addr"]
                below = max((first for first in shifts if first <= begin), default=begin)
                span = range(begin, begin + section["sh_size"])
                texts.append(Text(span, begin + shifts.get(below, 0)))
        return tuple(texts)


def start_copies_of(elf: Path) -> Iterator[tuple[range, int]]:
    """Yield what the start-up code of `elf` copies: where it is loaded, and where it runs."""
    with _open(elf) as file:
        for segment in file.iter_segments("PT_LOAD"):
            if segment["p_filesz"] and segment["p_paddr"] != segment["p_vaddr"]:
                load = segment["p_paddr"]
                yield range(load, load + segment["p_filesz"]), segment["p_vaddr"]


def _covers(segments: Sequence[Segment], address: int) -> bool:
    return any(segment.address <= address < segment.end for segment in segments)


def _homeless(segments: Sequence[Segment], soc: ResolvedSoc) -> Iterator[Fault]:
    for segment in segments:
        if any(m.origin <= segment.address and segment.end <= m.end for m in soc.memories):
            continue
        yield _nowhere(segment, f"'{soc.name}' has")


def _nowhere(segment: Segment, who: str) -> Fault:
    return Fault(
        code="E084",
        message=f"'{segment.elf}' has {len(segment.data)} bytes for {segment.address:#010x},"
        f" where {who} no memory for them",
        remedy="build the firmware again for this chip",
    )


def _find_overlaps(segments: Sequence[Segment]) -> Iterator[Fault]:
    ordered = sorted(segments, key=lambda segment: (segment.address, segment.end))
    for low, high in pairwise(ordered):
        if high.address < low.end:
            yield Fault(
                code="E084",
                message=f"'{low.elf}' and '{high.elf}' both have bytes for {high.address:#010x}",
                remedy="give each core its own firmware, built for this chip",
            )
