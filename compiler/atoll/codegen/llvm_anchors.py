# SPDX-License-Identifier: Apache-2.0
"""What the optimiser shall not know, and where loops shall begin."""

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
            pointers[0] = hide_origin(self._builder, first)
        near = (at for at in pointers if abs(distance - at) <= _REACH)
        anchor = next(near, distance + _REACH)
        if anchor not in pointers:
            pointers[anchor] = hide_origin(self._builder, self._past(pointers[0], anchor))
        return self._past(pointers[anchor], distance - anchor)

    def _past(self, pointer: ir.Value, distance: int) -> ir.Value:
        return self._builder.gep(pointer, [_WORD(distance)], source_etype=_BYTE)


def hide_origin(builder: ir.IRBuilder, value: ir.Value) -> ir.Value:
    """Return the same value from assembly without an instruction, which hides its origin."""
    type = ir.FunctionType(value.type, [value.type])
    return builder.asm(type, "", "=r,0", [value], side_effect=False)


def align_loop(branch: ir.instructions.Instruction) -> None:
    """Have the loop whose branch this is begin with a word."""
    _add_loop_metadata(branch, "llvm.loop.align", _WORD(4))


def keep_rolled(branch: ir.instructions.Instruction) -> None:
    """Have the loop whose branch this is stay a loop of one round."""
    _add_loop_metadata(branch, "llvm.loop.unroll.disable")


def _add_loop_metadata(branch: ir.instructions.Instruction, *property: object) -> None:
    module = branch.function.module
    what = module.add_metadata([*property])
    loop = ir.values.MDValue(module, (), name=str(len(module.metadata)))
    loop.operands = (loop, what)
    branch.set_metadata("llvm.loop", loop)
