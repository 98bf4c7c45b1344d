# SPDX-License-Identifier: Apache-2.0
"""The function unit of a core on the instruction-set simulator, by its model."""

import ctypes
from collections.abc import Iterable
from typing import Any

import numpy as np

from atoll.isa.function_unit import WORD_MASK, FunctionUnit, Instruction
from atoll.resolve.unit_models import UnitModels
from atoll_sim.iss.emulator import Emulator
from atoll_sim.iss.native import CoreState
from atoll_sim.iss.systems import words_at_halves

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
        self._emulator = emulator
        self._models: dict[int, tuple[Instruction, Any]] = {}
        self._unit = UnitModels(unit.places.get("model") if unit else None)
        for each in unit.instructions if unit else ():
            self._models[each.word] = each, _MODEL(self._unit.guard(each, emulator.stop))

    def attach(
        self, texts: Iterable[tuple[range, bytes]], core: CoreState, execute: Any
    ) -> "CoreUnit":
        """Have the C function `execute` take what may be instructions of the unit in `texts`."""
        for span, words in ((span, words_at_halves(data)) for span, data in texts if self._models):
            for index in np.flatnonzero(np.isin(words & WORD_MASK, [*self._models])):
                what = self._custom(int(words[index]), core)
                self._emulator.execute_elsewhere(span.start + 2 * int(index), what, execute)
        return self

    def raise_any(self) -> None:
        """Raise what the model raised, if it did."""
        self._unit.raise_any()

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
