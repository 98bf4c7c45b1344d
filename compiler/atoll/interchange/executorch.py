# SPDX-License-Identifier: Apache-2.0
"""Memory plans of ExecuTorch: what a program (``.pte``) needs of memory, held against a chip.

A program is a FlatBuffer (identifier ``ET12``) by the schema `schema/program.fbs` of ExecuTorch
1.5.1. Each of its methods has buffers for tensors that are no constants, and says at which byte of
which buffer each tensor lies. The runtime gets the memory of the buffers from the application.
"""

from collections.abc import Iterator, Mapping, Sequence
from math import prod
from pathlib import Path
from struct import calcsize, unpack_from

from atoll.diagnostics.errors import Fault, ModelError, SourceLoc
from atoll.frontend.file_bytes import file_bytes
from atoll.frontend.tflite.flatbuffer import Child, Children, Scalar, Schema, Union, Vector, verify
from atoll.records import dataclass
from atoll.resolve.memory_views import as_seen_by
from atoll.resolve.soc import Access, ResolvedSoc

SUFFIX = ".pte"
ALIGNMENT = 16
"""Bytes to a multiple of which ExecuTorch places tensors, unless it is told otherwise."""

_IDENTIFIER = b"ET12"
_TENSOR = 5
_SCHEMA: Schema = {
    "program": {0: Scalar(4), 1: Children("method", "method")},
    "method": {
        0: Vector(1),
        2: Children("value", "value"),
        8: Vector(8),
    },
    "value": {0: Scalar(1), 1: Union(0, {_TENSOR: "tensor"})},
    "tensor": {0: Scalar(1), 2: Vector(4), 6: Child("allocation")},
    "allocation": {0: Scalar(4), 1: Scalar(4), 2: Scalar(4)},
}
_BYTES: Mapping[int, int] = {
    **dict.fromkeys((0, 1, 11, 12, 13, 23, 24, 25, 26), 1),
    **dict.fromkeys((2, 5, 15, 22, 27), 2),
    **dict.fromkeys((3, 6, 14, 28), 4),
    **dict.fromkeys((4, 7, 29), 8),
}
"""Of an element, by the number of its type in `schema/scalar_type.fbs`; none of packed ones."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PlannedTensor:
    """A tensor that a program has placed.

    Attributes:
        value: its number among the method's values.
        buffer: the number of its buffer, from 0.
        offset: in the buffer, bytes.
        size: bytes, of its largest shape; None where the type is not known.
        element: bytes of one element, likewise.
    """

    value: int
    buffer: int
    offset: int
    size: int | None
    element: int | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Method:
    """What a method of a program needs.

    Attributes:
        name: such as ``forward``.
        buffers: bytes of each.
        tensors: those that lie in them.
    """

    name: str
    buffers: tuple[int, ...]
    tensors: tuple[PlannedTensor, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class PlannedPool:
    """A pool in which ExecuTorch may have tensors; `origin` is its address at the host."""

    name: str
    origin: int
    size: int
    alignment: int
    at: SourceLoc | None


def planned_pools(soc: ResolvedSoc) -> tuple[PlannedPool, ...]:
    """Return the pools that ExecuTorch plans on the host, in the order of their buffers."""
    return tuple(
        PlannedPool(
            name=pool.name,
            origin=pool.region.origin,
            size=pool.room,
            alignment=pool.alignment,
            at=pool.at,
        )
        for pool in as_seen_by(soc, soc.host).preferred_pools
        if pool.role in ("workspace", "both") and pool.reach[soc.host] is Access.WRITE
    )


def read_program(path: Path) -> tuple[Method, ...]:
    """Return the methods of a program.

    Raises:
        ModelError: E050, it cannot be read; E051, it is damaged; E277, it is no such program.
    """
    try:
        data = file_bytes(path, SUFFIX)
        if data[4:8] != _IDENTIFIER:
            raise ModelError(
                "E277",
                f"is no program of ExecuTorch that is known here: bytes 4 to 7 are not"
                f" '{_IDENTIFIER.decode()}'",
                remedy="export it with a version of ExecuTorch that writes this format, such as"
                " 1.5.1",
            )
        verify(data, _SCHEMA, "program")
        return tuple(map(_method, _Table(data, unpack_from("<I", data)[0]).tables(1)))
    except ModelError as error:
        raise error.about(str(path)) from error


def check_program(methods: Sequence[Method], soc: ResolvedSoc, path: Path) -> None:
    """Accept methods whose buffers fit the chip's pools, each by itself.

    Raises:
        ModelError: E278.
    """
    pools = planned_pools(soc)
    if faults := [fault for each in methods for fault in _faults(each, pools)]:
        raise ModelError.all(faults).about(str(path))


def _faults(method: Method, pools: Sequence[PlannedPool]) -> Iterator[Fault]:
    again = "plan the program again with memory_planning.py of 'atoll bsp SOC --only executorch'"
    where = f"method '{method.name}'"
    for number, size in enumerate(method.buffers):
        if number >= len(pools) and size:
            told = f"has {len(pools)} pool{'s' * (len(pools) != 1)} for tensors"
            message = f"{where} has {size:,} B in a buffer {number + 1}, and the chip {told}"
            yield Fault(code="E278", message=message, remedy=again)
        elif number < len(pools) and size > pools[number].size:
            pool = pools[number]
            message = (
                f"{where} has {size:,} B in buffer {number + 1}, and pool '{pool.name}' has"
                f" {pool.size:,} B"
            )
            yield Fault(code="E278", message=message, at=pool.at, remedy=again)
    for each in method.tensors:
        inside = 0 <= each.buffer < len(method.buffers)
        held, end = method.buffers[each.buffer] if inside else 0, each.offset + (each.size or 0)
        if end > held:
            message = (
                f"value {each.value} of {where} ends at byte {end:,} of buffer"
                f" {each.buffer + 1}, which has {held:,} B"
            )
            yield Fault(code="E278", message=message, remedy="export the program again")
        if each.element and each.offset % each.element:
            message = (
                f"value {each.value} of {where} begins at byte {each.offset:,} of buffer"
                f" {each.buffer + 1}, which is no multiple of the {each.element} B of an element"
            )
            yield Fault(code="E278", message=message, remedy=again)


class _Table:
    """A table of a file that `verify` has accepted."""

    def __init__(self, data: bytes, position: int) -> None:
        self._data, self._position = data, position

    def number(self, slot: int, form: str) -> int:
        """Return a number, 0 if it is absent."""
        at = self._at(slot)
        return int(unpack_from(f"<{form}", self._data, at)[0]) if at else 0

    def table(self, slot: int) -> "_Table | None":
        """Return a table, None if it is absent."""
        at = self._at(slot)
        return _Table(self._data, self._target(at)) if at else None

    def tables(self, slot: int) -> list["_Table"]:
        """Return a list of tables, empty if it is absent."""
        start, count = self._list(slot)
        return [_Table(self._data, self._target(start + 4 * index)) for index in range(count)]

    def numbers(self, slot: int, form: str) -> tuple[int, ...]:
        """Return a list of numbers, empty if it is absent."""
        start, count = self._list(slot)
        step = calcsize(f"<{form}")
        places = range(start, start + count * step, step)
        return tuple(int(unpack_from(f"<{form}", self._data, at)[0]) for at in places)

    def _list(self, slot: int) -> tuple[int, int]:
        at = self._at(slot)
        if not at:
            return 0, 0
        start = self._target(at)
        return start + 4, int(unpack_from("<I", self._data, start)[0])

    def _target(self, at: int) -> int:
        return at + int(unpack_from("<I", self._data, at)[0])

    def _at(self, slot: int) -> int:
        """Return where a field is, 0 if it is absent."""
        vtable = self._position - int(unpack_from("<i", self._data, self._position)[0])
        size = int(unpack_from("<H", self._data, vtable)[0])
        place = 4 + 2 * slot
        offset = int(unpack_from("<H", self._data, vtable + place)[0]) if place < size else 0
        return self._position + offset if offset else 0


def _method(table: _Table) -> Method:
    name, buffers = bytes(table.numbers(0, "B")).decode(errors="replace"), table.numbers(8, "q")[1:]
    if any(size < 0 for size in buffers):
        raise ModelError(
            "E051",
            f"a buffer has a size below 0 in method '{name}', so the file is damaged",
            remedy="copy or export it again",
        )
    return Method(name=name, buffers=buffers, tensors=tuple(_tensors(table.tables(2))))


def _tensors(values: Sequence[_Table]) -> Iterator[PlannedTensor]:
    for number, value in enumerate(values):
        tensor = value.table(1) if value.number(0, "B") == _TENSOR else None
        place = tensor.table(6) if tensor else None
        if tensor is None or place is None:
            continue
        element, shape = _BYTES.get(tensor.number(0, "b")), tensor.numbers(2, "i")
        if any(extent < 0 for extent in shape):
            raise ModelError(
                "E051",
                f"value {number} has a dimension below 0, so the file is damaged",
                remedy="copy or export it again",
            )
        yield PlannedTensor(
            value=number,
            buffer=place.number(0, "I") - 1,
            offset=place.number(2, "I") << 32 | place.number(1, "I"),
            size=prod(shape) * element if element else None,
            element=element,
        )


NOT_CHECKED = (
    "which tensors are alive at once, since a program does not say which share bytes on purpose",
    "alignment of pools beyond that of elements, since a tensor may be a part of another",
    "what methods and their delegates take of the method allocator",
)


@dataclass(frozen=True, slots=True, kw_only=True)
class HeldProgram:
    """A program whose buffers fit a chip.

    Attributes:
        pools: of the chip, in the order of its buffers.
    """

    soc: str
    path: Path
    methods: tuple[Method, ...]
    pools: tuple[PlannedPool, ...]

    def text(self) -> str:
        """Return a line for each buffer, and what is not known."""
        lines = [
            f"{self.path}: {each.name}: {size:,} B of the {pool.size:,} B of pool '{pool.name}'"
            for each in self.methods
            for pool, size in zip(self.pools, each.buffers, strict=False)
            if size
        ]
        return "\n".join((*lines, *(f"not checked: {what}" for what in NOT_CHECKED)))

    def as_json(self) -> dict[str, object]:
        """Return what machines read."""
        methods = [
            {
                "method": each.name,
                "tensors": len(each.tensors),
                "buffers": [
                    {"pool": pool.name, "used_bytes": size, "size_bytes": pool.size}
                    for pool, size in zip(self.pools, each.buffers, strict=False)
                ],
            }
            for each in self.methods
        ]
        named = {"soc": self.soc, "program": str(self.path), "methods": methods}
        return {**named, "not_checked": list(NOT_CHECKED)}


def hold_program(path: Path, soc: ResolvedSoc) -> HeldProgram:
    """Read a program and accept it on a chip.

    Raises:
        ModelError: as `read_program` and `check_program`.
    """
    methods = read_program(path)
    check_program(methods, soc, path)
    return HeldProgram(soc=soc.name, path=path, methods=methods, pools=planned_pools(soc))
