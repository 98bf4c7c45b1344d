# SPDX-License-Identifier: Apache-2.0
"""How a kernel is made that is for another target than the usual one of its core."""

from dataclasses import dataclass, replace

from llvmlite import ir

from atoll.ir.tir import PrimFunc
from atoll.isa.find import instruction_set
from atoll.isa.instruction_set import Vectors
from atoll.resolve.soc import Cpu


@dataclass(frozen=True, slots=True, kw_only=True)
class CodeWay:
    """What LLVM is told of one function, unlike of others of its core.

    Attributes:
        vectors: what multiplies several int8 numbers at once.
        branches: it branches where others choose one of two values.
        features: of the processor, all that there are.
    """

    vectors: Vectors
    branches: bool
    features: str

    def aim(self, function: ir.Function) -> None:
        """Tell LLVM; the linker sees one object of the whole core."""
        # llvmlite knows no attributes that are texts, and its set refuses what it does not know.
        set.add(function.attributes, f'"target-features"="{self.features}"')


def way_of(function: PrimFunc, core: Cpu) -> CodeWay | None:
    """Return how `core` has a kernel made, None for the usual way."""
    if not function.isa:
        return None
    instructions = instruction_set(function.isa, core.instructions.abi)
    return CodeWay(
        vectors=replace(core, instructions=instructions).vectors,
        branches=not instructions.selects,
        features=instructions.llvm.features,
    )
