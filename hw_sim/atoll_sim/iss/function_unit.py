"""The function unit of a core on the instruction-set simulator, by its model."""

import ctypes
from collections.abc import Callable, Iterable, Iterator

import numpy as np

from atoll.errors import AtollError
from atoll.isa.function_unit import WORD_MASK, FunctionUnit, Instruction
from atoll.unit_models import UnitModels
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
    """What a core hands its custom instructions to.

    Attributes:
        failed: what the model raised, if it did.
    """

    def __init__(self, unit: FunctionUnit, stop: Callable[[], None]) -> None:
        """Make the unit's model, in the state that it has at reset; `stop` stops the core.

        Raises:
            AtollError: E041, E110; the model cannot be loaded or is not what it must be.
        """
        self.failed: AtollError | None = None
        self._stop = stop
        models = UnitModels(unit.places.get("model"))
        self._by_word = {each.word: each for each in unit.instructions}
        self._models = {
            each: _MODEL(self._guarded(models.function(each))) for each in unit.instructions
        }

    def found(
        self,
        texts: Iterable[tuple[range, bytes]],
        core: CoreState,
        registers: tuple[int, ...],
        pc: int,
    ) -> Iterator[tuple[int, Custom]]:
        """Yield where instructions of the unit may lie, and what they are.

        Args:
            texts: spans of code.
            core: whose they are.
            registers: Unicorn's numbers of x0 to x31.
            pc: likewise of the program counter.
        """
        for span, data in texts:
            words = np.frombuffer(data[: len(data) // _BYTES * _BYTES], "<u4")
            for index in np.flatnonzero(np.isin(words & WORD_MASK, [*self._by_word])):
                word = int(words[index])
                each = self._by_word[word & WORD_MASK]
                to, a, b = (word >> shift & 31 for shift in (7, 15, 20))
                yield (
                    span.start + _BYTES * int(index),
                    Custom(
                        core=ctypes.pointer(core),
                        model=self._models[each],
                        a=registers[a],
                        b=registers[b],
                        to=registers[to] if to else -1,
                        pc=pc,
                        stall=_stall(each),
                    ),
                )

    def _guarded(self, words: Callable[[int, int], int]) -> Callable[[int, int], int]:
        """Return a function that C may call: what the model raises stops the core."""

        def called(a: int, b: int) -> int:
            try:
                return words(a, b)
            except AtollError as failed:
                self.failed = self.failed or failed
                self._stop()
                return 0

        return called


def _stall(instruction: Instruction) -> int:
    return max(0, instruction.latency - 1)
