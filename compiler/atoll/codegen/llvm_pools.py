# SPDX-License-Identifier: Apache-2.0
"""The pools that a model's buffers lie in, as symbols of its object files."""

from collections.abc import Callable, Mapping, Sequence

from llvmlite import ir

from atoll.codegen.llvm_heap import POINTER
from atoll.codegen.pool_images import (
    MODEL_ALIGNMENT,
    behind,
    far_pools,
    pool_symbol,
    section_of,
)
from atoll.ir.tir import BufferParam, Direction, IRModule, Load, PrimFunc, Step, Store
from atoll.ir.walk import statements
from atoll.memory.problem import MemoryPlan
from atoll.resolve.soc import ResolvedSoc

I8, I32 = ir.IntType(8), ir.IntType(32)


class Pools:
    """What the host's object has of each pool: a symbol, and a section for its constants.

    Their bytes are put into the object afterwards, by `pool_images.fill_pools`: code is the same
    with whatever weights, and LLVM need not read them as text.
    """

    def __init__(
        self,
        target: ir.Module,
        module: IRModule,
        plan: MemoryPlan,
        soc: ResolvedSoc,
        images: Mapping[str, bytes],
    ) -> None:
        self._plan = plan
        self._symbols: dict[str, ir.GlobalVariable] = {}
        self._starts: dict[str, int] = {}
        self._far = far_pools(soc, soc.host)
        for space in plan.problem.pools:
            image = images.get(space.name)
            name, start = f"atoll_pool_{space.name}", behind(space, soc)
            if image is not None and start:
                name, start = pool_symbol(module.name, space, soc), 0
            size = start + space.size if image is None else len(image)
            symbol = ir.GlobalVariable(target, ir.ArrayType(I8, size), name)
            least = space.alignment if name.startswith("atoll_") else MODEL_ALIGNMENT
            symbol.align = max([least, space.alignment, *self._alignments(space.name)])
            self._symbols[space.name] = symbol
            self._starts[space.name] = start
            if image is not None:
                symbol.initializer = ir.Constant(symbol.value_type, None)
                symbol.storage_class = "externally_initialized"
                symbol.section = section_of(space.name)
                memory = soc.memory(soc.pool(space.name).region.memory)
                symbol.global_constant = memory.kind == "rom"

    def _alignments(self, pool: str) -> list[int]:
        return [
            buffer.alignment
            for buffer in self._plan.problem.buffers
            if self._plan.placements[buffer.name].pool == pool
        ]

    def address(self, buffer: str) -> ir.Constant:
        """Return where `buffer` is, as an offset from its pool's symbol."""
        placement = self._plan.placements[buffer]
        offset = self._starts[placement.pool] + placement.offset
        if placement.pool in self._far:
            return _at(self._far[placement.pool] + offset)
        return self._symbols[placement.pool].gep([I32(0), I32(offset)])

    def pointers(
        self, builder: ir.IRBuilder, step: Step, names: Sequence[str], kernel: PrimFunc
    ) -> list[ir.Value]:
        """Return the addresses that a step's kernel is called with."""
        return _pointers(builder, self.address, step, names, kernel)

    def origin(self, pool: str) -> ir.GlobalVariable:
        """Return where `pool` begins."""
        return self._symbols[pool]

    def first(self, pool: str) -> ir.Constant:
        """Return where what the model has of `pool` begins."""
        return self._symbols[pool].gep([I32(0), I32(self._starts[pool])])


class ForeignPools:
    """What the object of another core than the host has of each pool: the name of its origin."""

    def __init__(self, target: ir.Module, plan: MemoryPlan, soc: ResolvedSoc, core: str) -> None:
        self._target = target
        self._far = far_pools(soc, core)
        self._plan = plan
        self._soc = soc
        self._symbols: dict[str, ir.GlobalVariable] = {}

    def address(self, buffer: str) -> ir.Constant:
        """Return where `buffer` is, as an offset from its pool's origin."""
        pool = self._soc.pool(self._plan.placements[buffer].pool)
        if pool.name in self._far:
            return _at(self._far[pool.name] + self._plan.address(buffer) - pool.region.origin)
        if pool.name not in self._symbols:
            kind = ir.ArrayType(I8, pool.region.size)
            symbol = ir.GlobalVariable(self._target, kind, f"atoll_pool_{pool.name}")
            self._symbols[pool.name] = symbol
        offset = self._plan.address(buffer) - pool.region.origin
        return self._symbols[pool.name].gep([I32(0), I32(offset)])

    def pointers(
        self, builder: ir.IRBuilder, step: Step, names: Sequence[str], kernel: PrimFunc
    ) -> list[ir.Value]:
        """Return the addresses that a step's kernel is called with."""
        return _pointers(builder, self.address, step, names, kernel)


def _at(address: int) -> ir.Constant:
    """Return an address that no relocation of a symbol reaches."""
    return ir.Constant(ir.IntType(64), address).inttoptr(POINTER)


def _pointers(
    builder: ir.IRBuilder,
    address: Callable[[str], ir.Constant],
    step: Step,
    names: Sequence[str],
    kernel: PrimFunc,
) -> list[ir.Value]:
    """Return addresses; the optimiser shall not know some of them.

    How far a copy lies below its operand: it would leave out the bytes that are in their place
    already, and whoever follows which bytes were written would miss them. Where scratch lies: it
    would make two instructions for each constant address in it, and none is as near as a register.
    """
    stores = (each for each in statements(kernel.body) if isinstance(each, Store))
    copies = any(isinstance(store.value, Load) for store in stores)
    over = {each.written for each in step.overlaps} if copies else set[str]()
    parameters = zip(names, kernel.parameters, strict=True)
    kept = over | {name for name, parameter in parameters if _is_scratch(parameter)}
    hidden = ir.FunctionType(POINTER, [POINTER])
    return [
        builder.asm(hidden, "", "=r,0", [address(name)], side_effect=False)
        if name in kept
        else address(name)
        for name in names
    ]


def _is_scratch(parameter: object) -> bool:
    return isinstance(parameter, BufferParam) and parameter.direction is Direction.BOTH
