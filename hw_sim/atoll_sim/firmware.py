"""Turn an ELF file into the image that the simulator loads."""

import struct
from pathlib import Path

from elftools.common.exceptions import ELFError
from elftools.elf.elffile import ELFFile

from atoll.errors import Fault, SimulationError
from atoll.resolve.soc import ResolvedSoc


def write_image(elf: Path, soc: ResolvedSoc, image: Path) -> None:
    """Write the loadable bytes of `elf` as records (address, size, bytes) to `image`.

    Raises:
        SimulationError: no ELF file, or some bytes lie outside the chip's memories.
    """
    segments = load_segments(elf)
    faults = [
        Fault(
            code="E084",
            message=f"'{elf}' has {len(data)} bytes for {address:#010x}, where '{soc.name}'"
            " has no memory for them",
            remedy="build the firmware again for this chip",
        )
        for address, data in segments
        if not any(m.origin <= address and address + len(data) <= m.end for m in soc.memories)
    ]
    if faults:
        raise SimulationError.all(faults)
    image.write_bytes(
        b"".join(struct.pack("<II", address, len(data)) + data for address, data in segments)
    )


def load_segments(elf: Path) -> tuple[tuple[int, bytes], ...]:
    """Return (load address, bytes) of all that `elf` puts into memory.

    Raises:
        SimulationError: the file is missing, or no ELF file.
    """
    try:
        with elf.open("rb") as stream:
            return tuple(
                (segment["p_paddr"], segment.data())
                for segment in ELFFile(stream).iter_segments("PT_LOAD")
                if segment["p_filesz"]
            )
    except (OSError, ELFError) as fault:
        raise SimulationError(
            "E084",
            f"cannot read the firmware '{elf}': {fault}",
            remedy="build it again",
        ) from fault
