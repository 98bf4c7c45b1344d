# SPDX-License-Identifier: Apache-2.0
"""How a kernel is made that is for another target than the usual one of its core."""

from llvmlite import ir

from atoll.codegen.llvm_units import CoreUnit
from atoll.ir.tir import PrimFunc
from atoll.isa.code_target import Optimise
from atoll.isa.function_unit import DOT4
from atoll.isa.instruction_set import Vectors
from atoll.records import dataclass
from atoll.resolve.se_scope import code_target
from atoll.resolve.soc import Cpu


@dataclass(frozen=True, slots=True, kw_only=True)
class CodeWay:
    """What LLVM is told of one function, unlike of others of its core.

    Attributes:
        vectors: what multiplies several int8 numbers at once.
        units: what executes instructions of function units.
        branches: it branches where others choose one of two values.
        features: of the processor, all that there are.
        small: it shall be small and not fast.
    """

    vectors: Vectors
    units: CoreUnit
    branches: bool
    features: str
    small: bool

    def aim(self, function: ir.Function) -> None:
        """Tell LLVM; the linker sees one object of the whole core."""
        # llvmlite knows no attributes that are texts, and its set refuses what it does not know.
        set.add(function.attributes, f'"target-features"="{self.features}"')
        if self.small:
            function.attributes.add("optsize")
            function.attributes.add("minsize")


def unit_of(core: Cpu) -> CoreUnit:
    """Return what executes instructions of the function unit of a core."""
    return CoreUnit(core.unit.meaning(DOT4) if core.unit else None)


def way_of(function: PrimFunc, core: Cpu) -> CodeWay | None:
    """Return how `core` has a kernel made, None for the usual way."""
    target = code_target(core, function.target)
    if target is None:
        return None
    aimed = core.for_target(target.name)
    return CodeWay(
        vectors=aimed.vectors,
        units=unit_of(aimed),
        branches=not aimed.instructions.selects,
        features=aimed.instructions.llvm.kernel_features,
        small=target.optimise is Optimise.SIZE,
    )
