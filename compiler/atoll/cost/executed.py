# SPDX-License-Identifier: Apache-2.0
"""What a kernel executes: its loop program, counted as an optimiser leaves it.

An expression counts as often as its innermost variable changes, since what does not change in a
loop moves out of it; scalars live in registers; addresses that lie a constant apart share a pointer
which goes on with its loop; loops that fill or copy are counted by what they move. How often a loop
runs whose bounds rest on those around it follows from their values.
"""

import math
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import field
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from atoll.cost.data.assumed import TAKEN_SHARE
from atoll.ir.affine import Affine, affine
from atoll.ir.scalars import (
    Binary,
    Call,
    Cast,
    Const,
    Dot,
    Execute,
    Expr,
    Load,
    Operation,
    Select,
    Type,
    Var,
    Word,
    operands,
)
from atoll.ir.statements import (
    Allocate,
    CallExtern,
    Direction,
    For,
    If,
    Let,
    PrimFunc,
    Return,
    RuntimeAllocate,
    Stmt,
    Store,
)
from atoll.ir.walk import blocks_of, expressions_of, subexpressions
from atoll.records import dataclass
from atoll.resolve.storage_scope import LOCAL

MOST_VALUES, MOST_TOGETHER = 64, 65_536
"""Values of a loop's variable that are looked at where how often another loop runs rests on it, and
those of all such variables together."""

MOST_AXES = 30
"""Loops within each other whose values matter; arrays of numpy have at most 32 dimensions."""

UNROLLED = 265
"""Instructions of LLVM up to which it unrolls a loop whole: `llvm_machine.SMALL_LOOPS`."""

COPIED_BYTES, ALIKE, WORD = ("copied_8", "copied_any_8"), "alike_", 4
"""Copies of bytes; those that go by words have this before their name; and the bytes of a word."""

WORD_BITS = 32

HELD, SPILLED = 12, "spilled"
"""Values for which a loop has registers beside those that it needs itself; others are loaded again
in each round, and called so."""

BITS, ANY_SHIFTS = "bits", "any_shifts"
"""What shifts by distances that are known count beside their name, and others."""

Weight = NDArray[np.float64]
"""How often a block runs, for each value that outer loops give to variables which matter."""

Values = NDArray[np.int64]

ONCE: Weight = np.ones(())


class UncountableError(Exception):
    """How often something runs rests on data, or its code is none of ours."""


@dataclass(slots=True)
class Nest:
    """The code of a loop, or that of a whole kernel.

    Attributes:
        entered: how often what is around comes to it.
        rounds: how often it runs.
        depth: how many blocks there are around its body.
        held: values that were loaded before and are used in it.
        code: what there is to execute, as often as it is written; loops in it apart.
        inner: these.
    """

    entered: float = 1
    rounds: float = 1
    depth: int = 0
    held: int = 0
    code: defaultdict[str, float] = field(default_factory=lambda: defaultdict(float))
    inner: list["Nest"] = field(default_factory=list)


class Executed(NamedTuple):
    """What a kernel executes.

    Attributes:
        things: how many, by names that only the fit of instructions knows.
        reads: of these, those that read, by buffer and name.
        writes: likewise those that write.
        nest: its code, which executes these.
    """

    things: Mapping[str, float]
    reads: Mapping[tuple[str, str], float]
    writes: Mapping[tuple[str, str], float]
    nest: Nest


def count_executed(function: PrimFunc, library: Iterable[PrimFunc] = ()) -> Executed:
    """Count what a kernel executes.

    Args:
        function: a kernel.
        library: scalar functions that it may call.

    Raises:
        UncountableError: a loop's end rests on data, or the kernel calls C or takes from a heap.
    """
    count = Count({each.name: each for each in library})
    count.kept |= {each.name for each in function.buffers if each.direction is Direction.READ}
    count.block(function.body, ONCE)
    return Executed(dict(count.found), dict(count.reads), dict(count.writes), count.nests[0][0])


@dataclass
class Count:
    """Walks through a kernel: what was found, and what is known where the walk is.

    Attributes:
        reads, writes: what reads or writes a buffer, by buffer.
        calls: what scalar functions come to.
        times: how often each block around runs, the innermost last.
        nests: the loops whose code these are, and how often it is written there.
        depths: of variables: the block in whose rounds they change.
        lets: what named values are.
        linear: the same as sums over the variables of loops.
        values: of variables on which it rests how often a loop runs.
        axes: loops over whose values these arrays go.
        kept: buffers that do not change.
        scalars: buffers that live in registers.
        unrolled: variables of loops that are no more.
        seen: what was counted already, here and around.
        new: of these, what is new in each block around.
        ages: of parts of the statement where the walk is: what `depths` has of variables.
        sizes, controls: of blocks: see `_size` and `_controlling`.
    """

    functions: Mapping[str, PrimFunc]
    found: defaultdict[str, float] = field(default_factory=lambda: defaultdict(float))
    reads: defaultdict[tuple[str, str], float] = field(default_factory=lambda: defaultdict(float))
    writes: defaultdict[tuple[str, str], float] = field(default_factory=lambda: defaultdict(float))
    calls: dict[object, Mapping[str, float]] = field(default_factory=dict)
    times: list[float] = field(default_factory=lambda: [1.0])
    nests: list[tuple[Nest, float]] = field(default_factory=lambda: [(Nest(), 1.0)])
    depths: dict[str, int] = field(default_factory=dict)
    lets: dict[str, Expr] = field(default_factory=dict)
    linear: dict[str, Affine] = field(default_factory=dict)
    values: dict[str, Values] = field(default_factory=dict)
    axes: int = 0
    kept: set[str] = field(default_factory=set)
    scalars: set[str] = field(default_factory=set)
    unrolled: set[str] = field(default_factory=set)
    seen: set[object] = field(default_factory=set)
    new: list[list[object]] = field(default_factory=lambda: [[]])
    ages: dict[int, int] = field(default_factory=dict)
    sizes: dict[int, float] = field(default_factory=dict)
    controls: dict[int, set[str]] = field(default_factory=dict)

    def block(self, body: Sequence[Stmt], weight: Weight) -> None:
        """Count the statements of a block."""
        control = _controlling(body, self.controls)
        for statement in body:
            self.ages.clear()
            match statement:
                case Let():
                    self._name(statement, control)
                case Allocate():
                    if statement.scope == LOCAL:
                        self.scalars.add(statement.buffer)
                case Store(_, _, value):
                    self._evaluate(value)
                    what = f"store_{_width(value.type)}"
                    self._access(statement, what, len(self.times) - 1)
                case If():
                    self._branch(statement, weight)
                case For():
                    self._loop(statement, weight)
                case Return(value):
                    self._evaluate(value)
                case RuntimeAllocate() | CallExtern():
                    raise UncountableError

    def _name(self, let: Let, control: set[str]) -> None:
        name, value = let.variable, let.value
        self.lets[name], self.depths[name] = value, self._depth(value)
        self.linear[name] = affine(value, self.linear) or Affine(0, {name: 1})
        self.values.pop(name, None)
        known = self._value(value) if name in control else None
        if known is not None:
            self.values[name] = known
        parts = (each for each in subexpressions(value) if isinstance(each, Load))
        if any(each.buffer not in self.kept for each in parts):
            self._evaluate(Var(name))

    def _loop(self, loop: For, weight: Weight) -> None:
        begin, end = self._value(loop.begin), self._value(loop.end)
        if begin is None or end is None:
            raise UncountableError
        for bound in (loop.begin, loop.end):
            self._evaluate(bound)
        name, length, axes = loop.variable, np.maximum(end - begin, 0), self.axes
        self.depths[name], self.linear[name] = len(self.times), Affine(0, {name: 1})
        self.lets.pop(name, None)
        self.values.pop(name, None)
        inside = weight * length
        if inside.any() and name in _controlling(loop.body, self.controls):
            inside = self._spread(name, begin, length, weight)
        rounds, entered = float(inside.mean()), float(weight.mean())
        if not rounds:
            self.axes = axes
            return
        nest, copies = self.nests[-1]
        if moved := _moves(loop):
            nest.code[f"{moved}_loops"] += copies
            self._move(loop, moved, entered, rounds)
            return
        way = ""
        if _rounds(loop) * _size(loop.body, self.sizes) <= UNROLLED:
            way = "unrolled_"
            self.unrolled.add(name)
            nest.code["unrolled_loops"] += copies
            copies *= _rounds(loop)
        else:
            nest.inner.append(Nest(entered, rounds, len(self.times)))
            nest = nest.inner[-1]
            nest.code["loops"] += copies
        self.found[f"{way}loops"] += entered
        self.found[f"{way}rounds"] += rounds
        with self._inside(rounds, (nest, copies)):
            self.block(loop.body, inside)
        if not way and nest.held > HELD:
            self.found[SPILLED] += (nest.held - HELD) * rounds
        self.axes = axes

    def _move(self, loop: For, moved: str, entered: float, rounds: float) -> None:
        """Count a loop that only fills or copies."""
        alike = self._alike(loop) if moved in COPIED_BYTES else 0
        parts = ((f"{moved}_loops", entered), (moved, rounds * (1 - alike)))
        for what, count in (*parts, (f"{ALIKE}{moved}", rounds * alike)):
            if count:
                self.found[what] += count
                source, target = _source_and_target(loop.body)
                self.reads[source, what] += count
                self.writes[target, what] += count

    def _alike(self, loop: For) -> float:
        """Return how many of the copies of a loop go by words.

        Those do whose both addresses are as far from a word's.
        """
        *lets, store = loop.body
        assert isinstance(store, Store)
        assert isinstance(store.value, Load)
        known = _Known(self.linear)
        for each in lets:
            assert isinstance(each, Let)
            known[each.variable] = affine(each.value, known) or Affine(0, {each.variable: 1})
        target, source = (affine(each.index, known) for each in (store, store.value))
        assert target is not None
        assert source is not None
        apart = target.plus(source, -1)
        step = math.gcd(WORD, *apart.coefficients.values())
        return 0.0 if apart.constant % step else step / WORD

    def _spread(self, name: str, begin: Values, length: Values, weight: Weight) -> Weight:
        """Give a loop's variable some of its values, and return how often the body runs for each.

        The mean of what is returned is how often it runs in all.
        """
        if self.axes == MOST_AXES:
            raise UncountableError
        most = max(1, min(MOST_VALUES, MOST_TOGETHER // np.broadcast(length, weight).size))
        step = -(-int(length.max()) // most)
        offsets = np.arange(0, length.max(), step).reshape(-1, *(1,) * self.axes)
        self.axes += 1
        each = np.clip(length - offsets, 0, step)
        self.values[name] = begin + offsets + np.maximum(each - 1, 0) // 2
        found: Weight = weight * each * len(offsets)
        return found

    def _branch(self, branch: If, weight: Weight) -> None:
        self._evaluate(branch.condition)
        self._add("branches", len(self.times) - 1)
        known = self._value(branch.condition)
        share = np.asarray(TAKEN_SHARE if known is None else known, np.float64)
        for body, part in ((branch.then, share), (branch.otherwise, 1 - share)):
            inside = weight * part
            if body and inside.any():
                with self._inside(float(inside.mean()), self.nests[-1]):
                    self.block(body, inside)

    @contextmanager
    def _inside(self, times: float, nest: tuple[Nest, float]) -> Iterator[None]:
        self.times.append(times)
        self.nests.append(nest)
        self.new.append([])
        yield
        self.seen.difference_update(self.new.pop())
        self.nests.pop()
        self.times.pop()

    def _add(self, what: str, depth: int, count: float = 1) -> None:
        depth = min(depth, len(self.times) - 1)
        self.found[what] += count * self.times[depth]
        nest, copies = self.nests[depth]
        nest.code[what] += count * copies

    def _depth(self, expr: Expr) -> int:
        """Return the block in whose rounds the value of an expression may change."""
        match expr:
            case Const():
                return 0
            case Var(name):
                return self.depths.get(name, 0)
            case Load(buffer) if buffer not in self.kept:
                return len(self.times) - 1
        if (age := self.ages.get(id(expr))) is None:
            age = max((self._depth(each) for each in operands(expr)), default=0)
            self.ages[id(expr)] = age
        return age

    def _evaluate(self, expr: Expr) -> None:
        """Count what it takes to know an expression's value, unless it is known already."""
        match expr:
            case Const():
                return
            case Var(name):
                if name in self.lets and not self._again(expr):
                    self._evaluate(self.lets[name])
                return
        if self._again(expr):
            return
        depth = self._depth(expr)
        match expr:
            case Load():
                nest, _ = self.nests[-1]
                nest.held += depth < nest.depth
                self._access(expr, f"load_{_width(expr.type)}", depth)
            case Word(first):
                self._access(first, "load_32", depth)
            case Dot(start, left, right, length):
                self._evaluate(start)
                self._add("dots", depth)
                self._add("products", depth, length)
                for place in (left, right):
                    self._point(place)
                    self._touch(place, "products", depth, length / 2)
            case _:
                for each in operands(expr):
                    self._evaluate(each)
                if isinstance(expr, Call):
                    self._call(expr, depth)
                elif what := _operation(expr):
                    self._add(what, depth)
                    self._shift(expr, what, depth)

    def _shift(self, expr: Expr, what: str, depth: int) -> None:
        """Count the bits by which words are shifted, or that nobody knows how many these are.

        Two words are shifted apart and into each other, unless one falls away.
        """
        match expr:
            case Binary(Operation.SHL | Operation.SHR, _, right):
                bits = self._value(right)
                if bits is None:
                    self._add(f"{what}_{ANY_SHIFTS}", depth)
                    return
                if expr.type is Type.I64:
                    bits = np.where(bits < WORD_BITS, bits + WORD_BITS, bits - WORD_BITS)
                self._add(f"{what}_{BITS}", depth, float(bits.mean()))

    def _call(self, call: Call, depth: int) -> None:
        """Count a scalar function, whose body stands in place of the call."""
        function = self.functions.get(call.function)
        if function is None or len(function.parameters) != len(call.arguments):
            raise UncountableError  # the verifier of kernels says what is wrong
        names = (each.name for each in function.parameters)
        given = dict(zip(names, call.arguments, strict=True))
        known = {name: each.value for name, each in given.items() if isinstance(each, Const)}
        key = (call.function, *known.items())
        if key not in self.calls:
            inner = Count(self.functions)
            inner.values |= {name: np.asarray(value, np.int64) for name, value in known.items()}
            inner.block(function.body, ONCE)
            self.calls[key] = inner.found
        for what, count in self.calls[key].items():
            self._add(what, depth, count)

    def _access(self, place: Load | Store, what: str, depth: int) -> None:
        if not (place.buffer in self.scalars and isinstance(place.index, Const)):
            self._add(what, depth)
            self._point(place)
            self._touch(place, what, depth)

    def _touch(self, place: Load | Store, what: str, depth: int, count: float = 1) -> None:
        touched = self.reads if isinstance(place, Load) else self.writes
        touched[place.buffer, what] += count * self.times[min(depth, len(self.times) - 1)]

    def _point(self, access: Load | Store) -> None:
        """Count the pointer of an access, one for all that lie a constant apart."""
        place = affine(access.index, self.linear)
        if place is None:
            self._evaluate(access.index)
            self._add("scattered", self._depth(access.index))
            return
        steps = tuple(each for each in place.coefficients.items() if each[0] not in self.unrolled)
        for name, _ in steps:
            self._evaluate(Var(name))
        if steps and not self._again((access.buffer, steps)):
            self._add("pointers", max(self.depths.get(name, 0) for name, _ in steps))

    def _value(self, expr: Expr) -> Values | None:
        """Return the values of an expression over those of outer loops, None if nobody knows."""
        match expr:
            case Const(value):
                return np.asarray(value, np.int64)
            case Var(name):
                return self.values.get(name)
            case Cast(_, inner):
                return self._value(inner)
        parts = [self._value(each) for each in operands(expr)]
        known = [each for each in parts if each is not None]
        if len(known) < len(parts):
            return None
        match expr:
            case Binary(operation):
                return _apply(operation, *known)
            case Select():
                condition, then, otherwise = known
                return np.where(condition != 0, then, otherwise)
        return None

    def _again(self, what: object) -> bool:
        """Tell whether something was counted already where the walk is; if not, it is now."""
        before = len(self.seen)
        self.seen.add(what)
        if len(self.seen) > before:
            self.new[-1].append(what)
            return False
        return not isinstance(what, Load) or what.buffer in self.kept


def _apply(operation: Operation, a: Values, b: Values) -> Values | None:
    if operation in _ARRAYS:
        return np.asarray(_ARRAYS[operation](a, b), np.int64)
    if operation not in (Operation.DIV, Operation.REM) or not (b != 0).all():
        return None
    quotient = np.asarray(np.abs(a) // np.abs(b) * np.sign(a) * np.sign(b), np.int64)
    return quotient if operation is Operation.DIV else a - quotient * b


_ARRAYS: Mapping[Operation, np.ufunc] = {
    Operation.ADD: np.add,
    Operation.SUB: np.subtract,
    Operation.MUL: np.multiply,
    Operation.MIN: np.minimum,
    Operation.MAX: np.maximum,
    Operation.LT: np.less,
    Operation.LE: np.less_equal,
    Operation.EQ: np.equal,
    Operation.NE: np.not_equal,
    Operation.SHL: np.left_shift,
    Operation.SHR: np.right_shift,
}
"""Operations whose values can be followed, as numpy has them."""

_OPERATIONS = {
    Operation.MIN: "extremes",
    Operation.MAX: "extremes",
    Operation.LT: "compares",
    Operation.LE: "compares",
    Operation.EQ: "compares",
    Operation.NE: "compares",
    Operation.DIV: "quotients",
    Operation.REM: "quotients",
    Operation.MUL: "multiplies",
}


def _operation(expr: Expr) -> str:
    """Return as what an expression counts besides its operands; "" for what costs nothing.

    Accesses widen and narrow what they move, and products of 64 bits are made of 32 each.
    """
    match expr:
        case Select():
            return "selects"
        case Execute():
            return "executes"
        case Cast(_, value, type):
            free = isinstance(value, Load) or type.bits < value.type.bits or type is Type.I64
            return "" if free else "alu"
        case Binary(operation, left, right):
            name = _OPERATIONS.get(operation, "alu")
            if name == "multiplies" and isinstance(right, Const) and right.value.bit_count() == 1:
                name = "alu"
            return f"wide_{name}" if left.type is Type.I64 else name
    return ""


def _controlling(body: Sequence[Stmt], known: dict[int, set[str]]) -> set[str]:
    """Return the variables on which it rests how often loops and branches of a block run.

    Of each block it is found once, and `known` by the block's identity.
    """
    if (names := known.get(id(body))) is None:
        names = known[id(body)] = set()
        lets = {each.variable: each.value for each in body if isinstance(each, Let)}
        for each in body:
            for block in blocks_of(each):
                names |= _controlling(block, known)
            if isinstance(each, For | If):
                names |= _names(expressions_of(each))
        new = names
        while new := _names(lets[name] for name in new if name in lets) - names:
            names |= new
    return names


def _names(expressions: Iterable[Expr]) -> set[str]:
    parts = (part for each in expressions for part in subexpressions(each))
    return {each.name for each in parts if isinstance(each, Var)}


def _moves(loop: For) -> str:
    """Return as what a loop counts that only fills or copies elements one after the other."""
    *lets, store = loop.body
    if not isinstance(store, Store):
        return ""
    known = {loop.variable: Affine(0, {loop.variable: 1})}
    for each in lets:
        if not isinstance(each, Let):
            return ""
        known[each.variable] = affine(each.value, _Known(known)) or Affine(0, {each.variable: 1})
    indices = [store.index]
    match store.value:
        case Load(_, index):
            what = "copied"
            indices.append(index)
        case Const():
            what = "filled"
        case _:
            return ""
    places = [affine(index, _Known(known)) for index in indices]
    if any(place is None or place.coefficients.get(loop.variable) != 1 for place in places):
        return ""
    long = "" if _rounds(loop) < math.inf else "_any"
    return f"{what}{long}_{_width(store.value.type)}"


def _source_and_target(body: Sequence[Stmt]) -> tuple[str, str]:
    """Return from where and to where a loop moves elements: "" if it fills."""
    store = body[-1]
    assert isinstance(store, Store)
    return (store.value.buffer if isinstance(store.value, Load) else ""), store.buffer


class _Known(dict[str, Affine]):
    """Variables as sums; any other one stands for itself."""

    def get(self, name: str, default: object = None) -> Affine:
        return self[name] if name in self else Affine(0, {name: 1})


def _rounds(loop: For) -> float:
    """Return how often a loop runs, infinitely often if its bounds are no literals."""
    match loop.begin, loop.end:
        case Const(begin), Const(end):
            return max(end - begin, 0)
    return math.inf


def _size(body: Sequence[Stmt], known: dict[int, float]) -> float:
    """Return about how many instructions of LLVM a block is, its short loops unrolled.

    Of each block it is found once, and `known` by the block's identity.
    """
    if (size := known.get(id(body))) is None:
        size = known[id(body)] = sum(_size_of(each, known) for each in body)
    return size


def _size_of(statement: Stmt, known: dict[int, float]) -> float:
    parts = (part for expr in expressions_of(statement) for part in subexpressions(expr))
    own = sum(not isinstance(part, Const | Var) for part in parts) + isinstance(statement, Store)
    inside = sum(_size(block, known) for block in blocks_of(statement))
    if isinstance(statement, For):
        whole = _rounds(statement) * inside
        inside = whole if whole <= UNROLLED else inside + 3
    return own + inside


def _width(type: Type) -> str:
    return "8" if type.bits <= 16 else str(type.bits)
