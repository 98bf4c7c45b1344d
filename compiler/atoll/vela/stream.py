"""The command stream of an Ethos-U55 or U65, read as far as it says which bytes it touches.

A command is a word: its number in bits 0 to 9, in bits 14 and 15 how many words follow (0 or 1), a
parameter in bits 16 to 31. The numbers are those of the register interface that Vela and Arm's
driver share (ethos_u55_regs.py of ethos-u-vela, Apache-2.0). The stream is Vela's: nothing here
judges what it computes.
"""

from collections.abc import Iterator, Mapping, Sequence

from atoll.errors import ModelError

_STOP, _CONV, _DEPTHWISE, _POOL, _ELEMENTWISE, _DMA = 0x000, 0x002, 0x003, 0x005, 0x006, 0x010
_IFM_REGION, _OFM_REGION, _IFM2_REGION = 0x10F, 0x11F, 0x18F
_WEIGHT_REGION, _SCALE_REGION = 0x128, 0x129
_SOURCE_REGION, _TARGET_REGION = 0x130, 0x131
_FOLLOWED = 1 << 14
_IFM_BASE, _OFM_BASE, _IFM2_BASE = (_FOLLOWED | n for n in (0x000, 0x010, 0x080))
_WEIGHT_BASE, _WEIGHT_LENGTH = (_FOLLOWED | n for n in (0x020, 0x021))
_SCALE_BASE, _SCALE_LENGTH = (_FOLLOWED | n for n in (0x022, 0x023))
_SOURCE, _TARGET, _LENGTH = (_FOLLOWED | n for n in (0x030, 0x031, 0x032))
_INTERNAL = 1 << 8
"""Of a DMA's region: memory of the NPU itself."""
_SCALAR = 1 << 7
"""Of an elementwise operation's broadcast: the second operand is a number."""
_IFM2_BROADCAST = 0x180
_ONE_OPERAND = frozenset({5, 6, 7})
"""Elementwise operations without a second operand: LRELU, ABS, CLZ."""


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
            raise _damaged(f"the word {word:#010x} at {at}")
        yield number, parameter, stream[at + 1] if follows else 0
        at += 1 + follows
        if number == _STOP:
            break
    if at != len(stream) or not stream or number != _STOP:
        raise _damaged(f"{len(stream) - at} words behind its end, or no end")


def reached(stream: Sequence[int]) -> Mapping[int, int]:
    """Return how many bytes of each region the stream is sure to reach, by region.

    Operands of DMA, weights and scales count whole, feature maps by their first byte.

    Raises:
        ModelError: E143, it is no command stream.
    """
    state: dict[int, int] = {}
    ends: dict[int, int] = {}
    for number, parameter, word in commands(stream):
        state[number] = word | parameter << 32 if number & _FOLLOWED else parameter
        for region, end in _touched(number, parameter, state):
            ends[region] = max(ends.get(region, 0), end)
    return ends


def _touched(number: int, parameter: int, state: Mapping[int, int]) -> Iterator[tuple[int, int]]:
    def part(region: int, base: int, length: int | None = None) -> tuple[int, int]:
        size = 1 if length is None else state.get(length, 0) & 0xFFFF_FFFF
        return state.get(region, 0) & 7, (state.get(base, 0) & 0xFF_FFFF_FFFF) + size

    if number == _DMA:
        for region, base in ((_SOURCE_REGION, _SOURCE), (_TARGET_REGION, _TARGET)):
            if not state.get(region, 0) & _INTERNAL:
                yield part(region, base, _LENGTH)
    if number in (_CONV, _DEPTHWISE, _POOL, _ELEMENTWISE):
        yield part(_IFM_REGION, _IFM_BASE)
        yield part(_OFM_REGION, _OFM_BASE)
    if number in (_CONV, _DEPTHWISE):
        yield part(_WEIGHT_REGION, _WEIGHT_BASE, _WEIGHT_LENGTH)
        yield part(_SCALE_REGION, _SCALE_BASE, _SCALE_LENGTH)
    two = number == _ELEMENTWISE and parameter not in _ONE_OPERAND
    if two and not state.get(_IFM2_BROADCAST, 0) & _SCALAR:
        yield part(_IFM2_REGION, _IFM2_BASE)


def _damaged(what: str) -> ModelError:
    message = f"Vela's command stream is none that Atoll can read: {what}"
    return ModelError("E143", message, remedy="install another version of ethos-u-vela")
