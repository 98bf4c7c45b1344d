# SPDX-License-Identifier: Apache-2.0
"""Read a loop program from the text that its nodes print."""

from collections.abc import Iterable

from tests.ir.function_text import FunctionReader, read_allocate
from tests.ir.tokens import Tokens

from atoll.ir.maintenance import Maintenance, Operation
from atoll.ir.tir import (
    AcceleratorRun,
    AcceleratorStart,
    AcceleratorWait,
    Action,
    Allocate,
    BufferPart,
    CallSpread,
    CallStart,
    Constant,
    CoreCall,
    Entry,
    IRModule,
    KernelCall,
    PrimFunc,
    SafeOverlap,
    Step,
    Type,
)
from atoll.isa.function_unit import Instruction


def parse_module(text: str, instructions: Iterable[Instruction] = ()) -> IRModule:
    """Return the module whose `str` is `text`, white space aside; it is not yet verified.

    It may execute `instructions` of a function unit.

    Raises:
        ProgramError: E079; the text is no module.
    """
    tokens = Tokens(text)
    tokens.expect("module")
    name = tokens.name()
    functions: list[PrimFunc] = []
    results: dict[str, Type] = {}
    named = {each.name: each for each in instructions}
    while tokens.next == "function":
        function = FunctionReader(tokens, results, named).read()
        functions.append(function)
        if function.result:
            results[function.name] = function.result
    entry = _entry(tokens)
    if not tokens.finished():
        raise tokens.fault("the end of the module")
    return IRModule(name, tuple(functions), entry)


def _entry(tokens: Tokens) -> Entry:
    tokens.expect("entry")
    inputs = _names(tokens)
    tokens.expect("->")
    outputs = _names(tokens)
    tokens.expect("{")
    allocations: list[Allocate] = []
    parts: list[BufferPart] = []
    constants: list[Constant] = []
    steps: list[Step] = []
    while tokens.next == "allocate":
        allocations.append(read_allocate(tokens))
    while tokens.next == "part":
        parts.append(_buffer_part(tokens))
    while tokens.next == "constant":
        constants.append(_constant(tokens))
    while tokens.next == "step":
        steps.append(_step(tokens))
    after = _maintenance(tokens, "after")
    tokens.expect("}")
    return Entry(
        inputs,
        outputs,
        tuple(allocations),
        tuple(constants),
        tuple(steps),
        after=after,
        parts=tuple(parts),
    )


def _names(tokens: Tokens) -> tuple[str, ...]:
    return tokens.nests(tokens.name, "[", "]")


def _buffer_part(tokens: Tokens) -> BufferPart:
    """Read ``part name: size of buffer from offset``."""
    tokens.expect("part")
    name = tokens.name()
    tokens.expect(":")
    size = tokens.number()
    tokens.expect("of")
    buffer = tokens.name()
    tokens.expect("from")
    return BufferPart(name=name, buffer=buffer, offset=tokens.number(), size=size)


def _constant(tokens: Tokens) -> Constant:
    tokens.expect("constant")
    name = tokens.name()
    tokens.expect(":")
    size = tokens.number()
    tokens.expect("align")
    align, pools = tokens.number(), _names(tokens)
    tokens.expect("=")
    data = None if tokens.accept("later") else tokens.data()
    return Constant(name=name, size=size, align=align, pools=pools, data=data)


def _step(tokens: Tokens) -> Step:
    tokens.expect("step")
    number, operator = tokens.number(), tokens.name()
    tokens.expect("on")
    device = tokens.name()
    tokens.expect(":")
    action = _action(tokens)
    tokens.expect("reads")
    reads = _names(tokens)
    tokens.expect("writes")
    writes = _names(tokens)
    over = tokens.accept("over")
    overlaps = tokens.nests(lambda: _overlap(tokens), "[", "]") if over else ()
    return Step(
        operator=operator,
        number=number,
        device=device,
        reads=reads,
        writes=writes,
        action=action,
        overlaps=overlaps,
        before=_maintenance(tokens, "before"),
        after=_maintenance(tokens, "after"),
    )


def _maintenance(tokens: Tokens, word: str) -> tuple[Maintenance, ...]:
    """Read what follows `word`: ``[core operation buffer, ...]``, or nothing."""

    def one() -> Maintenance:
        return Maintenance(tokens.name(), Operation(tokens.name()), tokens.name())

    return tokens.nests(one, "[", "]") if tokens.accept(word) else ()


def _overlap(tokens: Tokens) -> SafeOverlap:
    """Read ``written + distance <= read``."""
    written = tokens.name()
    tokens.expect("+")
    distance = tokens.number()
    tokens.expect("<=")
    return SafeOverlap(written, tokens.name(), distance)


def _part(tokens: Tokens) -> CoreCall:
    """Read ``core @kernel(buffers)``."""
    device = tokens.name()
    tokens.expect("@")
    return CoreCall(device, tokens.name(), tokens.nests(tokens.name, "(", ")"))


def _action(tokens: Tokens) -> Action:
    if tokens.accept("call"):
        tokens.expect("@")
        return KernelCall(tokens.name(), tokens.nests(tokens.name, "(", ")"))
    if tokens.accept("begin"):
        tokens.expect("@")
        return CallStart(tokens.name(), tokens.nests(tokens.name, "(", ")"))
    if tokens.accept("spread"):
        parts = [_part(tokens)]
        while tokens.accept(","):
            parts.append(_part(tokens))
        return CallSpread(tuple(parts))
    if tokens.accept("wait"):
        return AcceleratorWait(tokens.name())
    starts = tokens.accept("start")
    if not starts:
        tokens.expect("run")
    device = tokens.name()
    tokens.expect("(")
    commands = tokens.name()
    tokens.expect(",")
    count = tokens.number()
    tokens.expect(")")
    return (AcceleratorStart if starts else AcceleratorRun)(device, commands, count)
