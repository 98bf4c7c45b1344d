# SPDX-License-Identifier: Apache-2.0
"""Read a file as bounded UTF-8 text."""

from pathlib import Path

from atoll.diagnostics.errors import DescriptionError, SourceLoc

MAX_BYTES = 2**20


def read_text(path: Path, named_at: SourceLoc | None = None) -> str:
    """Return the text of the file at `path`, which another file names at `named_at`.

    Raises:
        DescriptionError: it cannot be read, is larger than `MAX_BYTES`, or is no UTF-8.
    """
    return _decode(path, _read_bytes(path, named_at))


def place_in(path: Path, text: str, position: int) -> SourceLoc:
    """Return the place of the character at index `position` of `text`."""
    lines = (text[:position] + "|").splitlines()
    return SourceLoc(path, len(lines), len(lines[-1]))


def _read_bytes(path: Path, at: SourceLoc | None) -> bytes:
    try:
        if path.exists() and not path.is_file():
            raise DescriptionError("E001", f"'{path}' is no file", at=at, remedy="name a YAML file")
        with path.open("rb") as stream:
            data = stream.read(MAX_BYTES + 1)
    except (OSError, ValueError) as fault:
        reason = fault.strerror if isinstance(fault, OSError) else str(fault)
        raise DescriptionError(
            "E001",
            f"cannot read '{path}': {reason}",
            at=at,
            remedy="check the name and its permissions",
        ) from fault
    if len(data) > MAX_BYTES:
        raise DescriptionError(
            "E006",
            f"'{path}' is larger than 1 MiB",
            at=at,
            remedy="name a SoC description in YAML",
        )
    return data


def _decode(path: Path, data: bytes) -> str:
    if data[4:8] == b"TFL3":
        raise DescriptionError(
            "E190",
            f"'{path}' is a TFLite model, and no description",
            at=SourceLoc(path, 1, 1),
            remedy="give the chip first, then the model: atoll COMMAND SOC MODEL",
        )
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as fault:
        before = fault.object[: fault.start].decode()
        raise DescriptionError(
            "E002",
            f"byte 0x{fault.object[fault.start]:02X} is not UTF-8",
            at=place_in(path, before, len(before)),
            remedy="save the file as UTF-8",
        ) from fault
