# SPDX-License-Identifier: Apache-2.0
"""Give each input and output of a command stream a base address of its own.

Vela has one base address for all inputs of an operator and one for all outputs, and Atoll plans
each tensor by itself. A stream has no jumps, so the registers that name a region and an address in
it are set anew before the operations that use them; all else stays as it was. That the result
touches the same bytes is judged by another reader (`atoll.npu_stream`).

A command is a word: its number in bits 0 to 9, in bits 14 and 15 how many words follow (0 or 1), a
parameter in bits 16 to 31. The numbers are those of the register interface that Vela and Arm's
driver share (ethos_u55_regs.py of ethos-u-vela, Apache-2.0).
"""

from collections.abc import Iterator, Sequence
from dataclasses import field

from atoll.diagnostics.errors import ModelError
from atoll.npu_stream.judge import Place
from atoll.records import dataclass

_STOP, _DMA, _KERNELS = 0x000, 0x010, (0x002, 0x003, 0x005, 0x006, 0x007)
_FOLLOWED = 1 << 14
_CHAINED = 14
"""Bits of a U85's precision: an operand that is no memory."""


@dataclass(frozen=True, slots=True)
class _Operand:
    """The registers that say where an operand is."""

    region: int
    bases: tuple[int, ...]
    precision: int = 0
    writes: bool = False


_OPERANDS = {
    **dict.fromkeys(
        _KERNELS,
        (
            _Operand(0x10F, tuple(_FOLLOWED | n for n in range(0x000, 0x004)), 0x105),
            _Operand(0x18F, tuple(_FOLLOWED | n for n in range(0x080, 0x084)), 0x185),
            _Operand(0x11F, tuple(_FOLLOWED | n for n in range(0x010, 0x014)), 0x114, writes=True),
        ),
    ),
    _DMA: (
        _Operand(0x130, (_FOLLOWED | 0x030,)),
        _Operand(0x131, (_FOLLOWED | 0x031,), writes=True),
    ),
}
_MOVED = {n for each in _OPERANDS.values() for of in each for n in (of.region, *of.bases)}
_INTERNAL = 1 << 8
"""Of a DMA's region: memory of the NPU itself."""


def commands(stream: Sequence[int]) -> Iterator[tuple[int, int, int]]:
    """Yield number, parameter and the word that follows (0 if none) of each command.

    Raises:
        ModelError: E143, the stream does not end with its end.
    """
    at = 0
    while at < len(stream):
        word = stream[at]
        number, parameter = word & 0xC3FF, word >> 16
        follows = number >> 14
        if follows > 1 or at + follows >= len(stream):
            raise _damage(f"the word {word:#010x} at {at}")
        yield number, parameter, stream[at + 1] if follows else 0
        at += 1 + follows
        if number == _STOP:
            break
    if at != len(stream) or not stream or number != _STOP:
        raise _damage(f"{len(stream) - at} words behind its end, or no end")


def with_own_regions(
    stream: Sequence[int], inputs: Sequence[Place], outputs: Sequence[Place], *, chains: bool
) -> tuple[int, ...]:
    """Return `stream` with a region for each input and output.

    Args:
        stream: as Vela writes it.
        inputs: where it has them; one that is dead may share bytes with an output.
        outputs: likewise.
        chains: whether operands may be passed on inside of the NPU, as the U85 does.

    Raises:
        ModelError: E143, it is no command stream.
    """
    writer = _Writer(tuple(inputs), tuple(outputs), chains)
    for command in commands(stream):
        writer.add(*command)
    return tuple(writer.words)


@dataclass(slots=True)
class _Writer:
    """Writes a stream anew; `state` is what the old one has set, `told` what the new one has."""

    inputs: tuple[Place, ...]
    outputs: tuple[Place, ...]
    chains: bool
    words: list[int] = field(default_factory=list)
    state: dict[int, int] = field(default_factory=dict)
    told: dict[int, int] = field(default_factory=dict)
    made: set[int] = field(default_factory=set)

    def add(self, number: int, parameter: int, word: int) -> None:
        """Write a command, before an operation the registers of its operands."""
        self.state[number] = word | parameter << 32 if number & _FOLLOWED else parameter
        if number in _MOVED:
            return
        for operand in _OPERANDS.get(number, ()):
            self._operand(operand)
        self._write(number, self.state[number])

    def _operand(self, of: _Operand) -> None:
        values = {n: self.state[n] for n in (of.region, *of.bases) if n in self.state}
        if place := self._place(of):
            values[of.region] = place.becomes
            for base in of.bases:
                if place.begin <= values.get(base, -1) < place.end:
                    values[base] -= place.begin
            if of.writes:
                self.made.add(place.becomes)
        for number, value in values.items():
            if self.told.get(number) != value:
                self.told[number] = value
                self._write(number, value)

    def _place(self, of: _Operand) -> Place | None:
        """Return the tensor that an operand is; None if it is none of the edges."""
        region, base = self.state.get(of.region, 0), self.state.get(of.bases[0], 0)
        inside = of.precision and self.chains and self.state.get(of.precision, 0) >> _CHAINED
        if inside or (not of.precision and region & _INTERNAL):
            return None
        places = self.outputs if of.writes else (*self.outputs, *self.inputs)
        found = [p for p in places if p.region == region and p.begin <= base < p.end]
        known = [p for p in found if p in self.inputs or of.writes or p.becomes in self.made]
        return next(iter((*known, *found)), None)

    def _write(self, number: int, value: int) -> None:
        if number & _FOLLOWED:
            self.words += (number | value >> 32 << 16, value & 0xFFFF_FFFF)
        else:
            self.words.append(number | value << 16)


def _damage(what: str) -> ModelError:
    return ModelError(
        "E143",
        f"Vela's command stream is none that Atoll can read: {what}",
        remedy="install the version of ethos-u-vela that Atoll names: pip install 'atoll[ethos-u]'",
    )
