# SPDX-License-Identifier: Apache-2.0
"""Operators that a function of C computes, for the kinds of other packages."""

import ctypes
from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import ClassVar

import numpy as np

from atoll.diagnostics.errors import ModelError
from atoll.ir.graph import Graph, Operator
from atoll.ir.tir import CallExtern, Lowered
from atoll.ops.kernel_builder import KernelBuilder
from atoll.ops.kind import Array, OperatorKind
from atoll.resolve.c_functions import CSource, on_host

GUARD = 64
"""Bytes around each buffer of the reference that the function must leave alone."""

_FILL = 0xA5


class InC(OperatorKind):
    """A kind whose operators a function of C computes, on cores and as their reference.

    The function returns nothing. Its arguments are pointers to the inputs that there are, in
    their order, to ``const int8_t`` or what they are; pointers to the results; and an ``int32_t``
    for each of `numbers`. No two of these buffers overlap. It runs without a C library, calls no
    function by a pointer, does not recurse and keeps no state.

    Attributes:
        source: path of the file, whose name appears in messages.
        function: its name.
    """

    source: ClassVar[Path]
    function: ClassVar[str]

    def numbers(self, op: Operator, graph: Graph) -> Sequence[int]:
        """Return what the function gets after its buffers, such as extents: none if not said."""
        return ()

    def reference(
        self, op: Operator, graph: Graph, inputs: Sequence[Array | None]
    ) -> tuple[Array, ...]:
        """Call the function in this process.

        Raises:
            ModelError: E152; it cannot be compiled, or writes past a buffer.
        """
        call = self._call(op, graph)
        results = graph.results(op)
        given = [x for x in inputs if x is not None]
        made = [np.zeros(each.shape, each.dtype) for each in results]
        guarded = [_guard(np.ascontiguousarray(each)) for each in (*given, *made)]
        addresses = [ctypes.addressof(each) + GUARD for each in guarded]
        on_host(call.function, "reference")(*addresses, *call.numbers)
        for number, each in enumerate(guarded):
            if any(byte != _FILL for byte in (*each[:GUARD], *each[-GUARD:])):
                which = f"input {number}" if number < len(given) else "its result"
                what = f"'{self.function}' of '{self.source.name}' writes past {which}"
                remedy = f"correct it for operator '{op.name}'"
                raise ModelError("E152", what, remedy=remedy)
        return tuple(
            np.frombuffer(bytes(each[GUARD:-GUARD]), tensor.dtype).reshape(tensor.shape)
            for each, tensor in zip(guarded[len(given) :], results, strict=True)
        )

    def lower(self, op: Operator, graph: Graph) -> Lowered:
        """Return a kernel that calls the function."""
        builder = KernelBuilder(op, graph)
        for number in range(len(op.inputs)):
            if builder.has_input(number):
                builder.input(number, f"x{number}")
        for number in range(len(op.outputs)):
            builder.output(f"y{number}", number)
        builder.call_c(_read(self.source), self.function, self.numbers(op, graph))
        return builder.lowered()

    def _call(self, op: Operator, graph: Graph) -> CallExtern:
        (call,) = self.lower(op, graph).function.body
        assert isinstance(call, CallExtern)
        return call


def _guard(values: Array) -> "ctypes.Array[ctypes.c_ubyte]":
    """Return the bytes of an array between guards."""
    guard = bytes([_FILL]) * GUARD
    data = guard + values.tobytes() + guard
    return (ctypes.c_ubyte * len(data)).from_buffer_copy(data)


@cache
def _read(path: Path) -> CSource:
    try:
        return CSource(name=path.name, text=path.read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError) as fault:
        what = f"cannot read the C of an operator from '{path}': {fault}"
        raise ModelError("E152", what, remedy="correct 'source' in the operator's kind") from fault
