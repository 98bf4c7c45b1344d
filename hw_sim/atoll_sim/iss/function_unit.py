"""The function unit of a core on the instruction-set simulator, by its model."""

import ctypes
from collections.abc import Callable, Iterable
from typing import Any

import numpy as np

from atoll.errors import AtollError
from atoll.isa.function_unit import WORD_MASK, FunctionUnit, Instruction
from atoll.unit_models import UnitModels
from atoll_sim.iss.emulator import Emulator
from atoll_sim.iss.native import CoreState

_BYTES = 4
_MODEL = ctypes.CFUNCTYPE(ctypes.c_uint32, ctypes.c_uint32, ctypes.c_uint32)


class Custom(ctypes.Structure):
    """`Custom` in function_unit.cpp."""

    _fields_ = (
        ("core", ctypes.POINTER(CoreState)),
        ("model", _MODEL),
        *((name, ctypes.c_int32) for name in ("a", "b", "to", "pc")),
        ("stall", ctypes.c_uint32),
    )


class CoreUnit:
    """What a core hands its custom instructions to."""

    def __init__(self, unit: FunctionUnit | None, emulator: Emulator) -> None:
        """Make the unit's model, in the state that it has at reset.

        Raises:
            AtollError: E041, E110; the model cannot be loaded or is not what it must be.
        """
        self._failed: AtollError | None = None
        self._emulator = emulator
        self._models: dict[int, tuple[Instruction, Any]] = {}
        if unit:
            models = UnitModels(unit.places.get("model"))
            for each in unit.instructions:
                self._models[each.word] = each, _MODEL(self._guarded(models.function(each)))

    def attach(self, texts: Iterable[tuple[range, bytes]], core: CoreState, execute: Any) -> None:
        """Have the C function `execute` take what may be instructions of the unit in `texts`."""
        if not self._models:
            return
        for span, data in texts:
            words = np.frombuffer(data[: len(data) // _BYTES * _BYTES], "<u4")
            for index in np.flatnonzero(np.isin(words & WORD_MASK, [*self._models])):
                what = self._custom(int(words[index]), core)
                self._emulator.execute_elsewhere(span.start + _BYTES * int(index), what, execute)

    def raise_any(self) -> None:
        """Raise what the model raised, if it did."""
        if self._failed:
            raise self._failed

    def _custom(self, word: int, core: CoreState) -> Custom:
        each, model = self._models[word & WORD_MASK]
        to, a, b = (word >> shift & 31 for shift in (7, 15, 20))
        numbers = self._emulator.numbers
        return Custom(
            core=ctypes.pointer(core),
            model=model,
            a=numbers[a],
            b=numbers[b],
            to=numbers[to] if to else -1,
            pc=self._emulator.pc_number,
            stall=max(0, each.latency - 1),
        )

    def _guarded(self, words: Callable[[int, int], int]) -> Callable[[int, int], int]:
        """Return a function that C may call: what the model raises stops the core."""

        def called(a: int, b: int) -> int:
            try:
                return words(a, b)
            except AtollError as failed:
                self._failed = self._failed or failed
                self._emulator.stop()
                return 0

        return called
