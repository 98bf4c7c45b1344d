"""Addresses of straight code by a few pointers, each of which short offsets reach from."""

from collections.abc import Hashable

from llvmlite import ir

_REACH = 124
"""Bytes before and after a pointer that an offset may be: MVE has seven bits; whole words."""

_BYTE, _WORD = ir.IntType(8), ir.IntType(32)


class Anchors:
    """Pointers that accesses of a few buffers share.

    LLVM is not told how they hang together. If it were, it would keep a register for each address
    of a loop, spill most of them, and move all of them on in each round.
    """

    def __init__(self, builder: ir.IRBuilder) -> None:
        self._builder = builder
        self._pointers: dict[Hashable, dict[int, ir.Value]] = {}

    def address(self, start: Hashable, first: ir.Value, distance: int) -> ir.Value:
        """Return the address `distance` bytes behind `first`, which is the same for one start."""
        pointers = self._pointers.setdefault(start, {})
        if not pointers:
            pointers[0] = self._opaque(first)
        near = (at for at in pointers if abs(distance - at) <= _REACH)
        anchor = next(near, distance + _REACH)
        if anchor not in pointers:
            pointers[anchor] = self._opaque(self._past(pointers[0], anchor))
        return self._past(pointers[anchor], distance - anchor)

    def _past(self, pointer: ir.Value, distance: int) -> ir.Value:
        return self._builder.gep(pointer, [_WORD(distance)], source_etype=_BYTE)

    def _opaque(self, pointer: ir.Value) -> ir.Value:
        """Return the same pointer from assembly without an instruction, which hides its origin."""
        type = ir.FunctionType(pointer.type, [pointer.type])
        return self._builder.asm(type, "", "=r,0", [pointer], side_effect=False)
