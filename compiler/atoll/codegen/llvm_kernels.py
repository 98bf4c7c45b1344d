"""Loop programs as LLVM IR: the same functions for the core and for the host."""

from collections.abc import Iterable, Mapping
from types import MappingProxyType

from llvmlite import ir

from atoll.codegen.llvm_dot import dot
from atoll.codegen.llvm_heap import POINTER, HeapBlocks
from atoll.ir.tir import (
    Allocate,
    Binary,
    BufferParam,
    Call,
    Cast,
    Const,
    Conversion,
    Dot,
    Expr,
    For,
    If,
    Let,
    Load,
    Operation,
    PrimFunc,
    Return,
    RuntimeAllocate,
    Select,
    Stmt,
    Store,
    Type,
    Var,
)
from atoll.ir.walk import runtime_allocations
from atoll.isa.instruction_set import Vectors
from atoll.resolve.storage_scope import LOCAL, ON_STACK

STACK_SCOPES = (LOCAL, ON_STACK)

APART: Mapping[str, frozenset[str]] = MappingProxyType({})

_ARITHMETIC = {
    Operation.ADD: ir.IRBuilder.add,
    Operation.SUB: ir.IRBuilder.sub,
    Operation.MUL: ir.IRBuilder.mul,
    Operation.DIV: ir.IRBuilder.sdiv,
    Operation.REM: ir.IRBuilder.srem,
    Operation.AND: ir.IRBuilder.and_,
    Operation.OR: ir.IRBuilder.or_,
    Operation.XOR: ir.IRBuilder.xor,
}
_SHIFTS = {Operation.SHL: ir.IRBuilder.shl, Operation.SHR: ir.IRBuilder.ashr}
_CASTS = {
    Conversion.SEXT: ir.IRBuilder.sext,
    Conversion.ZEXT: ir.IRBuilder.zext,
    Conversion.TRUNC: ir.IRBuilder.trunc,
}


def integer(type: Type) -> ir.IntType:
    """Return the LLVM type."""
    return ir.IntType(type.bits)


def emit_functions(
    module: ir.Module,
    functions: Iterable[PrimFunc],
    linkage: str,
    overlapping: Mapping[str, frozenset[str]] = APART,
    vectors: Vectors = Vectors.NONE,
) -> None:
    """Add functions, callees first; kernels get `linkage`, scalar functions are inlined.

    Kernels are never inlined: every operator has a frame and a symbol of its own. One with
    buffers that are sized at run time returns a status, 0 or a negative code. Buffers are apart
    in memory, but for the parameters in `overlapping`. `vectors` are those of the core.
    """
    for function in functions:
        declared = _declare(module, function, overlapping.get(function.name, frozenset()))
        declared.linkage = "internal" if function.result else linkage
        declared.section = f".text.{function.name}"
        _Emitter(module, function, declared, vectors).run()


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
        self, module: ir.Module, function: PrimFunc, declared: ir.Function, vectors: Vectors
    ) -> None:
        self._module = module
        self._function = function
        self._vectors = vectors
        self._builder = ir.IRBuilder(declared.append_basic_block("entry"))
        self._values: dict[str, ir.Value] = {}
        self._buffers: dict[str, tuple[ir.Value, Type]] = {}
        self._heap = HeapBlocks(module, self._builder)
        for argument, parameter in zip(declared.args, function.parameters, strict=True):
            if isinstance(parameter, BufferParam):
                self._buffers[parameter.name] = argument, parameter.type
            else:
                self._values[parameter.name] = argument

    def run(self) -> None:
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
            case For():
                self._loop(statement)
            case Store():
                value = self._value(statement.value)
                self._builder.store(value, self._address(statement.buffer, statement.index))
            case Let():
                self._values[statement.variable] = self._value(statement.value)
            case If():
                self._branch(statement)
            case Return():
                self._builder.ret(self._value(statement.value))
            case Allocate():
                self._allocate(statement)
            case RuntimeAllocate():
                block = self._heap.take(statement, self._value(statement.elements))
                self._buffers[statement.buffer] = block, statement.type

    def _loop(self, loop: For) -> None:
        """Test at the bottom: the increment never passes `end` and so cannot overflow."""
        builder = self._builder
        begin, end = self._value(loop.begin), self._value(loop.end)
        before = builder.block
        body = builder.append_basic_block(loop.variable)
        after = builder.append_basic_block(f"{loop.variable}.end")
        builder.cbranch(builder.icmp_signed("<", begin, end), body, after)
        builder.position_at_end(body)
        counter = builder.phi(integer(Type.I32), loop.variable)
        counter.add_incoming(begin, before)
        self._values[loop.variable] = counter
        self._block(loop.body)
        following = builder.add(counter, integer(Type.I32)(1), flags=("nsw",))
        counter.add_incoming(following, builder.block)
        builder.cbranch(builder.icmp_signed("<", following, end), body, after)
        builder.position_at_end(after)

    def _branch(self, branch: If) -> None:
        with self._builder.if_else(self._value(branch.condition)) as (then, otherwise):
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

    def _address(self, buffer: str, index: Expr) -> ir.Value:
        address, type = self._buffers[buffer]
        place = [self._value(index)]
        return self._builder.gep(address, place, inbounds=True, source_etype=integer(type))

    def _value(self, expr: Expr) -> ir.Value:
        builder = self._builder
        match expr:
            case Const():
                return integer(expr.type)(expr.value)
            case Var():
                return self._values[expr.name]
            case Load():
                return builder.load(self._address(expr.buffer, expr.index), typ=integer(expr.type))
            case Binary():
                return self._binary(expr)
            case Select():
                chosen = (self._value(e) for e in (expr.condition, expr.then, expr.otherwise))
                return builder.select(*chosen)
            case Cast():
                return _CASTS[expr.conversion](builder, self._value(expr.value), integer(expr.type))
            case Call():
                callee = self._module.get_global(expr.function)
                return builder.call(callee, [self._value(argument) for argument in expr.arguments])
            case Dot(start, left, right, length):
                total = self._value(start)
                addresses = [self._address(each.buffer, each.index) for each in (left, right)]
                return dot(builder, self._vectors, total, addresses, length)

    def _binary(self, expr: Binary) -> ir.Value:
        builder, operation = self._builder, expr.operation
        left, right = self._value(expr.left), self._value(expr.right)
        if operation in _ARITHMETIC:
            return _ARITHMETIC[operation](builder, left, right)
        if operation in _SHIFTS:
            amount = builder.and_(right, right.type(expr.type.bits - 1))
            return _SHIFTS[operation](builder, left, amount)
        if operation.compares:
            return builder.icmp_signed(operation.value, left, right)
        order = "<" if operation is Operation.MIN else ">"
        return builder.select(builder.icmp_signed(order, left, right), left, right)
