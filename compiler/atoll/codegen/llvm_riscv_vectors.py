# SPDX-License-Identifier: Apache-2.0
"""Instructions of RISC-V's vectors as LLVM IR, each of as many lanes as an instruction was set to.

They are those of the RISC-V vector extension, 1.0, that work on elements of 8, 16 and 32 bits: all
of Zve32x. A vector has `LANES` elements for every 64 bits of a register, whatever their size: four
registers for `I32`, one for `I8`; where nothing but bytes is moved, `BYTES`. Where registers have
32 bits, there are half as many.
"""

from llvmlite import ir

from atoll.ir.tir import Operation, Type

LANES, BYTES = 8, 64
_TERMS = {LANES: (2, 2), BYTES: (0, 3)}
"""Elements of 32 bits in four registers, and of 8 bits in eight, in the terms of VSETVLI."""
_AGNOSTIC = 3
"""What is behind the last lane may get any value."""

ROUND_UP, ROUND_DOWN = 0, 2
"""Modes of `vxrm`: to nearest with halves up, and down."""

_PLAIN = {
    Operation.ADD: "vadd",
    Operation.SUB: "vsub",
    Operation.MUL: "vmul",
    Operation.AND: "vand",
    Operation.OR: "vor",
    Operation.XOR: "vxor",
    Operation.MIN: "vmin",
    Operation.MAX: "vmax",
    Operation.SHL: "vsll",
    Operation.SHR: "vsra",
}
_COMPARES = {
    Operation.LT: "vmslt",
    Operation.LE: "vmsle",
    Operation.EQ: "vmseq",
    Operation.NE: "vmsne",
}
_SWAPS = frozenset(
    {
        *(Operation.ADD, Operation.MUL, Operation.AND, Operation.OR, Operation.XOR),
        *(Operation.MIN, Operation.MAX, Operation.EQ, Operation.NE),
    }
)
_SHIFTS = (Operation.SHL, Operation.SHR)
_INT = ir.IntType(32)


class ScalableType(ir.Type):  # type: ignore[misc]
    """A vector of `count` elements for every 64 bits of a register."""

    def __init__(self, element: ir.IntType, count: int) -> None:
        self.element = element
        self.count = count

    def _to_string(self) -> str:
        return f"<vscale x {self.count} x {self.element}>"

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, ScalableType):
            return False
        return bool(self.element == other.element and self.count == other.count)

    def __hash__(self) -> int:
        return hash((ScalableType, self.element, self.count))

    @property
    def mangled(self) -> str:
        """As names of intrinsics have it."""
        return f"nxv{self.count}{self.element}"


def is_vector(value: ir.Value) -> bool:
    """Tell whether a value has lanes."""
    return isinstance(value.type, ScalableType)


class VectorBuilder:
    """Emits vector instructions for the lanes of one strip.

    Where an instruction takes a scalar, either operand may be one.
    """

    def __init__(self, builder: ir.IRBuilder, count: int = LANES) -> None:
        """Start without a strip.

        Args:
            builder: in a module that names its target.
            count: elements of a vector for every 64 bits of a register, `LANES` or `BYTES`.
        """
        self._builder = builder
        self._count = count
        self._register = ir.IntType(64 if builder.module.triple.startswith("riscv64") else 32)
        self._lanes: ir.Value = self._register(0)

    @property
    def register(self) -> ir.IntType:
        """The type of numbers of lanes."""
        return self._register

    def vector_of(self, type: Type) -> ScalableType:
        """Return the type of a vector with an element in each lane."""
        return ScalableType(ir.IntType(type.bits), self._count)

    def set_lanes(self, wanted: ir.Value) -> ir.Value:
        """Let what follows have as many lanes as the core takes at once, and return how many."""
        codes = [self._register(each) for each in _TERMS[self._count]]
        self._lanes = self._call("vsetvli", self._register, [wanted, *codes], [self._register])
        return self._lanes

    def load(self, address: ir.Value, type: Type) -> ir.Value:
        """Load elements that lie side by side."""
        result = self.vector_of(type)
        return self._make("vle", result, [address], [result, "p0", self._register])

    def store(self, value: ir.Value, address: ir.Value) -> None:
        """Store elements side by side."""
        kinds = [value.type, "p0", self._register]
        self._call("vse", ir.VoidType(), [value, address, self._lanes], kinds)

    def splat(self, value: ir.Value) -> ir.Value:
        """Return a vector of equal elements."""
        result = ScalableType(value.type, self._count)
        return self._make("vmv.v.x", result, [value], [result, self._register])

    def count_up(self, first: ir.Value, step: int) -> ir.Value:
        """Return first, first + step and so on."""
        numbers = self.vector_of(Type.I32)
        lane = self._make("vid", numbers, [], [numbers, self._register])
        return self.binary(Operation.ADD, self.binary(Operation.MUL, lane, _INT(step)), first)

    def binary(self, operation: Operation, left: ir.Value, right: ir.Value) -> ir.Value:
        """Apply `operation` lane by lane; one of the two is a vector."""
        if not is_vector(left) and operation in _SWAPS:
            left, right = right, left
        elif not is_vector(left) and operation is Operation.SUB:
            kinds = [right.type, left.type, self._register]
            return self._make("vrsub", right.type, [right, left], kinds)
        elif not is_vector(left):
            left = self.splat(left)
        kind = right.type
        if operation in _SHIFTS and not is_vector(right):
            right, kind = self.as_register(right), self._register
        if operation in _COMPARES:
            kinds = [left.type, kind, self._register]
            mask = self.vector_of(Type.I1)
            return self._call(_COMPARES[operation], mask, [left, right, self._lanes], kinds)
        kinds = [left.type, kind, self._register]
        return self._make(_PLAIN[operation], left.type, [left, right], kinds)

    def choose(self, mask: ir.Value, then: ir.Value, otherwise: ir.Value) -> ir.Value:
        """Return `then` in lanes where `mask` is set."""
        if not is_vector(otherwise):
            otherwise = self.splat(otherwise)
        kinds = [otherwise.type, then.type, self._register]
        return self._make("vmerge", otherwise.type, [otherwise, then, mask], kinds)

    def extend(self, value: ir.Value, type: Type) -> ir.Value:
        """Widen signed elements."""
        result = self.vector_of(type)
        return self._make("vsext", result, [value], [result, value.type, self._register])

    def truncate(self, value: ir.Value, type: Type) -> ir.Value:
        """Keep the low bits of elements, a half at a time."""
        while value.type.element.width > type.bits:
            half = ScalableType(ir.IntType(value.type.element.width // 2), self._count)
            kinds = [half, value.type, self._register, self._register]
            value = self._make("vnsrl", half, [value, self._register(0)], kinds)
        return value

    def multiply(self, left: ir.Value, right: ir.Value) -> ir.Value:
        """Return products of `I16`, as `I32`; one of the two is a vector."""
        if not is_vector(left):
            left, right = right, left
        result = self.vector_of(Type.I32)
        kinds = [result, left.type, right.type, self._register]
        return self._make("vwmul", result, [left, right], kinds)

    def multiply_add(self, total: ir.Value, left: ir.Value, right: ir.Value) -> ir.Value:
        """Add products of `I16` to sums of `I32`; one of the two is a vector."""
        if not is_vector(right):
            left, right = right, left
        kinds = [total.type, left.type, right.type, self._register]
        operands = [total, left, right, self._lanes, self._register(_AGNOSTIC)]
        return self._call("vwmacc", total.type, operands, kinds)

    def multiply_high(self, left: ir.Value, right: ir.Value, mode: int) -> ir.Value:
        """Return (left * right) >> 31, rounded by `mode`; MIN * MIN saturates."""
        if not is_vector(left):
            left, right = right, left
        if not is_vector(left):
            left = self.splat(left)
        operands = [left, right, self._register(mode)]
        return self._make("vsmul", left.type, operands, [left.type, right.type, self._register])

    def shift_right(self, value: ir.Value, amount: ir.Value) -> ir.Value:
        """Return value / 2^amount, halves away from zero.

        The instruction rounds halves up: what is negative and shifted at all gets one less first.
        """
        nothing = _INT(0)
        negated = (
            self.binary(Operation.SUB, nothing, amount)
            if is_vector(amount)
            else self._builder.sub(nothing, amount)
        )
        fix = self.binary(Operation.SHR, self.binary(Operation.AND, value, negated), _INT(31))
        kinds = [value.type, value.type, self._register]
        moved = self._make("vsadd", value.type, [value, fix], kinds)
        kind = amount.type if is_vector(amount) else self._register
        amount = amount if is_vector(amount) else self.as_register(amount)
        operands = [moved, amount, self._register(ROUND_UP)]
        return self._make("vssra", value.type, operands, [value.type, kind, self._register])

    def as_register(self, amount: ir.Value) -> ir.Value:
        """Return a number that is not negative, or whose low bits count, in a register."""
        if amount.type == self._register:
            return amount
        return self._builder.zext(amount, self._register)

    def _make(
        self, name: str, type: ScalableType, operands: list[ir.Value], kinds: list[ir.Type | str]
    ) -> ir.Value:
        """Call an instruction that makes a vector; lanes behind the last one may be anything."""
        anything = ir.Constant(type, "poison")
        return self._call(name, type, [anything, *operands, self._lanes], kinds)

    def _call(
        self, name: str, type: ir.Type, operands: list[ir.Value], kinds: list[ir.Type | str]
    ) -> ir.Value:
        words = (each.mangled if isinstance(each, ScalableType) else str(each) for each in kinds)
        full = ".".join(("llvm.riscv", name, *words))
        module = self._builder.module
        signature = ir.FunctionType(type, [each.type for each in operands])
        declared = module.globals.get(full) or ir.Function(module, signature, full)
        return self._builder.call(declared, operands)
