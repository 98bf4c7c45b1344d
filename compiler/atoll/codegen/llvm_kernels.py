# SPDX-License-Identifier: Apache-2.0
"""Loop programs as LLVM IR: the same functions for the core and for the host."""

from collections.abc import Callable, Iterable, Mapping
from functools import partial
from types import MappingProxyType

from llvmlite import ir

from atoll.codegen.code_ways import CodeWay
from atoll.codegen.llvm_anchors import align_loop, keep_rolled
from atoll.codegen.llvm_arithmetic import binary, convert, integer
from atoll.codegen.llvm_clamp import ClampedStores, match_clamp
from atoll.codegen.llvm_dot import dot
from atoll.codegen.llvm_heap import POINTER, HeapBlocks
from atoll.codegen.llvm_lanes import Lanes
from atoll.codegen.llvm_riscv_vectors import BYTES, LANES, VectorBuilder
from atoll.codegen.llvm_strips import Strips, only_copies
from atoll.codegen.llvm_units import MODELS, WORD_BYTES, Units, word, words_dot
from atoll.ir.tir import (
    Allocate,
    Binary,
    BufferParam,
    Call,
    CallExtern,
    Cast,
    Const,
    Dot,
    Execute,
    Expr,
    For,
    If,
    Let,
    Load,
    PrimFunc,
    Return,
    RuntimeAllocate,
    Select,
    Stmt,
    Store,
    Type,
    Var,
    Word,
)
from atoll.ir.walk import runtime_allocations
from atoll.isa.instruction_set import Vectors
from atoll.resolve.c_functions import CFunction
from atoll.resolve.storage_scope import LOCAL, ON_STACK

STACK_SCOPES = (LOCAL, ON_STACK)

_MOST_LANES = 16
"""Of vectors of LLVM's that a core without any computes one by one."""

APART: Mapping[str, frozenset[str]] = MappingProxyType({})


def emit_functions(
    module: ir.Module,
    functions: Iterable[PrimFunc],
    linkage: str,
    overlapping: Mapping[str, frozenset[str]] = APART,
    vectors: Vectors = Vectors.NONE,
    units: Units = MODELS,
    *,
    branches: bool = False,
    ways: Mapping[str, CodeWay] = MappingProxyType({}),
    apart: Iterable[PrimFunc] = (),
) -> None:
    """Add functions, callees first; kernels get `linkage`, scalar functions are inlined.

    Kernels are never inlined: every operator has a frame and a symbol of its own. One with
    buffers that are sized at run time returns a status, 0 or a negative code. Buffers are apart
    in memory, but for the parameters in `overlapping`. `vectors` are those of the core, `units`
    what executes instructions of function units. A core that `branches` where others choose one
    of two values branches only where a weighted sum is beyond its limits. `ways` says of functions,
    by name, for what other target of the core they are made; those `apart` are in other objects.
    Where vectors are of any length, the module names its target.
    """
    for function in apart:
        _declare(module, function, overlapping.get(function.name, frozenset()))
    known = {function.name: function for function in functions}
    for function in known.values():
        declared = _declare(module, function, overlapping.get(function.name, frozenset()))
        declared.linkage = "internal" if function.result else linkage
        declared.section = f".text.{function.name}"
        way = ways.get(function.name)
        if way:
            way.aim(declared)
        lanes, forks = (way.vectors, way.branches) if way else (vectors, branches)
        own = way.units if way else units
        emitter = _Emitter(module, function, declared, lanes, known, own, forks)
        emitter.run(small=way is not None and way.small)


def _declare(module: ir.Module, function: PrimFunc, overlapping: frozenset[str]) -> ir.Function:
    types = [integer(p.type) if isinstance(p, Var) else POINTER for p in function.parameters]
    result = integer(function.result) if function.result else ir.VoidType()
    if runtime_allocations(function):
        result = integer(Type.I32)
    declared = ir.Function(module, ir.FunctionType(result, types), function.name)
    declared.attributes.add("nounwind")
    declared.attributes.add("alwaysinline" if function.result else "noinline")
    for argument, parameter in zip(declared.args, function.parameters, strict=True):
        argument.name = parameter.name
        if isinstance(parameter, BufferParam):
            for attribute in ("captures(none)", "nofree", "nonnull"):
                argument.add_attribute(attribute)
            if parameter.name not in overlapping:
                argument.add_attribute("noalias")
            argument.attributes.dereferenceable = parameter.elements * parameter.type.bytes
    return declared


class _Emitter:
    """Emits the body of one verified function."""

    def __init__(
        self,
        module: ir.Module,
        function: PrimFunc,
        declared: ir.Function,
        vectors: Vectors,
        functions: Mapping[str, PrimFunc],
        units: Units,
        branches: bool,
    ) -> None:
        self._units = units
        self._branches = branches
        self._small = False
        self._module = module
        self._function = function
        self._vectors = vectors
        self._functions = functions
        self._builder = ir.IRBuilder(declared.append_basic_block("entry"))
        self._values: dict[str, ir.Value] = {}
        self._buffers: dict[str, tuple[ir.Value, Type]] = {}
        self._heap = HeapBlocks(module, self._builder)
        self._clamped = ClampedStores(self._builder)
        for argument, parameter in zip(declared.args, function.parameters, strict=True):
            if isinstance(parameter, BufferParam):
                self._buffers[parameter.name] = argument, parameter.type
            else:
                self._values[parameter.name] = argument

    def run(self, *, small: bool) -> None:
        """Emit it; a `small` one keeps its loops."""
        self._small = small
        self._block(self._function.body)
        if runtime_allocations(self._function):
            self._builder.ret(integer(Type.I32)(0))
        elif self._function.result is None:
            self._builder.ret_void()

    def _block(self, body: Iterable[Stmt]) -> None:
        taken = self._heap.taken
        for statement in body:
            self._statement(statement)
        self._heap.give_back(taken)

    def _statement(self, statement: Stmt) -> None:
        match statement:
            case For(vectorized=True):
                self._lanes(statement)
            case For():
                self.loop(statement, partial(self._block, statement.body))
            case Store(value=value) if self._branches and (limited := match_clamp(value)):
                place = self.address(statement.buffer, statement.index)
                self._clamped.emit(limited, self.value(limited.value), place)
            case Store():
                value = self.value(statement.value)
                self._builder.store(value, self.address(statement.buffer, statement.index))
            case Let(variable, value):
                self.name(variable, value)
            case If():
                self._branch(statement)
            case Return():
                self._builder.ret(self.value(statement.value))
            case Allocate():
                self._allocate(statement)
            case RuntimeAllocate():
                block = self._heap.take(statement, self.value(statement.elements))
                self._buffers[statement.buffer] = block, statement.type
            case CallExtern(function, buffers, numbers):
                addresses = [self._buffers[name][0] for name in buffers]
                given = [*addresses, *map(integer(Type.I32), numbers)]
                self._builder.call(self._extern(function), given)

    def _extern(self, function: CFunction) -> ir.Function:
        """Declare a function of C, which is linked beside the kernels."""
        symbol = function.symbol(self._module.name)
        pointers = [POINTER if kind.endswith("*") else integer(Type.I32) for kind in function.types]
        declared = self._module.globals.get(symbol)
        return declared or ir.Function(
            self._module, ir.FunctionType(ir.VoidType(), pointers), symbol
        )

    def loop(self, loop: For, emit_body: Callable[[], None]) -> None:
        """Test at the bottom: the increment never passes `end` and so cannot overflow."""
        builder = self._builder
        begin, end = self.value(loop.begin), self.value(loop.end)
        before = builder.block
        body = builder.append_basic_block(loop.variable)
        after = builder.append_basic_block(f"{loop.variable}.end")
        builder.cbranch(builder.icmp_signed("<", begin, end), body, after)
        builder.position_at_end(body)
        counter = builder.phi(integer(Type.I32), loop.variable)
        counter.add_incoming(begin, before)
        self._values[loop.variable] = counter
        emit_body()
        following = builder.add(counter, integer(Type.I32)(1), flags=("nsw",))
        counter.add_incoming(following, builder.block)
        again = builder.cbranch(builder.icmp_signed("<", following, end), body, after)
        if self._small:
            keep_rolled(again)
        elif self._branches:
            align_loop(again)
        builder.position_at_end(after)

    def _lanes(self, loop: For) -> None:
        """Emit vectors; a core without them goes through what computes nothing, or has loops."""
        match loop:
            case For(begin=Const(begin), end=Const(end)):
                count = end - begin
            case _:
                count = 0
        if self._vectors is Vectors.RVV:
            elements = BYTES if only_copies(loop) else LANES
            vectors = VectorBuilder(self._builder, elements)
            Strips(self._builder, vectors, self._functions, self).emit(loop)
        elif (
            not 0 < count <= _MOST_LANES
            or only_copies(loop)
            or any(isinstance(each, For) for each in loop.body)
        ):
            self.loop(loop, partial(self._block, loop.body))
        else:
            Lanes(self._builder, self._vectors, self._functions, count, self).emit(loop)

    def _branch(self, branch: If) -> None:
        with self._builder.if_else(self.value(branch.condition)) as (then, otherwise):
            with then:
                self._block(branch.then)
            with otherwise:
                self._block(branch.otherwise)

    def _allocate(self, allocate: Allocate) -> None:
        assert allocate.scope in STACK_SCOPES, f"{allocate} was not given a place"
        with self._builder.goto_entry_block():
            array = ir.ArrayType(integer(allocate.type), allocate.elements)
            storage = self._builder.alloca(array, name=allocate.buffer)
            storage.align = allocate.align
            zero = integer(Type.I32)(0)
            first = self._builder.gep(storage, [zero, zero], inbounds=True)
        self._buffers[allocate.buffer] = first, allocate.type

    def set(self, variable: str, value: ir.Value) -> None:
        """Bind a variable."""
        self._values[variable] = value

    def name(self, variable: str, value: Expr) -> None:
        """Compute a variable."""
        self._values[variable] = self.value(value)

    def address(self, buffer: str, index: Expr) -> ir.Value:
        """Compute where an element is."""
        address, type = self._buffers[buffer]
        place = [self.value(index)]
        return self._builder.gep(address, place, inbounds=True, source_etype=integer(type))

    def value(self, expr: Expr) -> ir.Value:
        """Compute an expression."""
        builder = self._builder
        match expr:
            case Const():
                return integer(expr.type)(expr.value)
            case Var():
                return self._values[expr.name]
            case Load():
                return builder.load(self.address(expr.buffer, expr.index), typ=integer(expr.type))
            case Binary(operation, left, right):
                return binary(builder, operation, self.value(left), self.value(right))
            case Select():
                chosen = (self.value(e) for e in (expr.condition, expr.then, expr.otherwise))
                return builder.select(*chosen)
            case Cast():
                return convert(builder, expr.conversion, self.value(expr.value), integer(expr.type))
            case Call():
                callee = self._module.get_global(expr.function)
                return builder.call(callee, [self.value(argument) for argument in expr.arguments])
            case Dot(start, left, right, length):
                total = self.value(start)
                addresses = [self.address(each.buffer, each.index) for each in (left, right)]
                if expr.align >= WORD_BYTES and (four := self._units.four):
                    return words_dot(builder, four, total, addresses, length)
                return dot(builder, self._vectors, total, addresses, length)
            case Word(first):
                return word(builder, self.address(first.buffer, first.index))
            case Execute(instruction, a, b):
                return self._units.execute(builder, instruction, [self.value(a), self.value(b)])
