# SPDX-License-Identifier: Apache-2.0
"""Models of function units: what their instructions compute, in Python."""

from collections.abc import Callable

from atoll.diagnostics.errors import AtollError, SourceLoc
from atoll.isa.function_unit import Instruction
from atoll.plugins.loading import foreign_code, make_part

Words = Callable[[int, int], int]
"""Two words in, one word out, all without sign."""

_MOST = 2**32 - 1


class UnitModels:
    """The models of a run: one object for each class, which keeps its state."""

    def __init__(self, at: SourceLoc | None = None) -> None:
        """Begin without a model; `at` is where a description names those that are asked for."""
        self._at = at
        self._parts: dict[str, object] = {}
        self._failed: AtollError | None = None
        self._functions: dict[Instruction, Words] = {}

    def function(self, instruction: Instruction) -> Words:
        """Return what computes an instruction.

        Raises:
            AtollError: E041, E110; the model cannot be loaded, or lacks the instruction.
        """
        if (found := self._functions.get(instruction)) is None:
            found = self._functions[instruction] = self._make(instruction)
        return found

    def guard(self, instruction: Instruction, stop: Callable[[], None]) -> Words:
        """Return what machine code may call: what the model raises is kept, and `stop` called.

        Raises:
            AtollError: see `function`.
        """
        words = self.function(instruction)

        def call(a: int, b: int) -> int:
            try:
                return words(a, b)
            except AtollError as failed:
                self._failed = self._failed or failed
                stop()
                return 0

        return call

    def raise_any(self) -> None:
        """Raise what a guarded model raised, if one did."""
        if self._failed:
            raise self._failed

    def _make(self, instruction: Instruction) -> Words:
        name, who = instruction.name, f"model '{instruction.model}' of a function unit"
        methods = {name: ("a", "b")}
        part = make_part(instruction.model, who, methods, at=self._at)
        method = getattr(self._parts.setdefault(instruction.model, part.value), name)

        def words(a: int, b: int) -> int:
            with foreign_code(f"{who} failed in '{name}'", remedy="correct the method"):
                result = method(a, b)
            if not isinstance(result, int) or not 0 <= result <= _MOST:
                raise AtollError(
                    "E112",
                    f"{who}: '{name}' returned {result!r}, which is no word of 32 bits",
                    remedy="return '... & 0xFFFF_FFFF'",
                )
            return result

        return words
