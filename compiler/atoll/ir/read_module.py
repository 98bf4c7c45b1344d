# SPDX-License-Identifier: Apache-2.0
"""Read a loop program from the text that its nodes print."""

from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path

from atoll.ir.maintenance import Maintenance, Operation
from atoll.ir.read_function import Declared, FunctionReader, read_allocate
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
from atoll.ir.tokens import Tokens
from atoll.isa.function_unit import Instruction
from atoll.resolve.c_functions import CFunction, CSource

_OPERATIONS = {str(operation): operation for operation in Operation}


def parse_module(
    text: str, instructions: Iterable[Instruction] = (), path: Path | None = None
) -> IRModule:
    """Return the module whose `str` is `text`, white space aside; it is not yet verified.

    Args:
        text: all of it.
        instructions: of a function unit, which the module may execute besides those of the text.
        path: the file that the text is from, for messages.

    Raises:
        ProgramError: E222, the text is no module; E198, it is one for people.
    """
    tokens = Tokens(text, "loop program", path)
    name = tokens.name("module")
    functions: list[PrimFunc] = []
    results: dict[str, Type] = {}
    declared = _read_declarations(tokens, instructions)
    while tokens.next == "function":
        function = FunctionReader(tokens, results, declared).read()
        functions.append(function)
        if function.result:
            results[function.name] = function.result
    entry = _entry(tokens)
    if not tokens.at_end():
        tokens.refuse("the end of the module")
    return IRModule(name, tuple(functions), entry)


def _read_declarations(tokens: Tokens, instructions: Iterable[Instruction]) -> Declared:
    """Read sources and functions of C, and instructions."""
    sources: dict[tuple[str, str], CSource] = {}
    functions: dict[tuple[str, str, str], CFunction] = {}
    executed = {each.name: each for each in instructions}
    while tokens.accept("source"):
        source = CSource(name=tokens.take_quoted(), text=tokens.take_quoted())
        sources[source.name, f"0x{source.digest}"] = source
    while tokens.accept("external"):
        key = (tokens.take_quoted(), tokens.take("hex"))
        if key not in sources:
            tokens.refuse(f"a function of a source above, which '{key[0]}' {key[1]} is not")
        name, types = tokens.name(), tokens.nests(tokens.take_quoted, "(", ")")
        functions[*key, name] = CFunction(source=sources[key], name=name, types=types)
    while tokens.accept("instruction"):
        instruction = _instruction(tokens)
        executed[instruction.name] = instruction
    return Declared(instructions=executed, functions=functions)


def _instruction(tokens: Tokens) -> Instruction:
    """Read what `str(instruction)` prints behind its first word."""
    name = tokens.name()
    keys = ("opcode", "funct3", "funct7", "latency")
    numbers = {key: tokens.number(key) for key in keys}
    meaning = tokens.take_quoted("meaning")
    model = tokens.take_quoted("model")
    return Instruction(
        name=name, meaning=meaning, model=model, state=tokens.accept("state"), **numbers
    )


def _entry(tokens: Tokens) -> Entry:
    tokens.expect("entry")
    inputs = tokens.names()
    tokens.expect("->")
    outputs = tokens.names()
    tokens.expect("{")
    allocations: list[Allocate] = []
    parts: list[BufferPart] = []
    constants: list[Constant] = []
    steps: list[Step] = []
    while tokens.next == "allocate":
        allocations.append(_state_or_not(tokens))
    while tokens.next == "part":
        parts.append(_buffer_part(tokens))
    while tokens.next == "constant":
        constants.append(_constant(tokens))
    while tokens.next == "step":
        steps.append(_step(tokens))
    after = _maintenance(tokens, "end")
    reset = _maintenance(tokens, "reset")
    tokens.expect("}")
    return Entry(
        inputs,
        outputs,
        tuple(allocations),
        tuple(constants),
        tuple(steps),
        after=after,
        parts=tuple(parts),
        reset=reset,
    )


def _state_or_not(tokens: Tokens) -> Allocate:
    allocate = read_allocate(tokens)
    if not tokens.accept("kept"):
        return allocate
    return replace(allocate, initial=tokens.data(allocate.buffer, allocate.size))


def _buffer_part(tokens: Tokens) -> BufferPart:
    """Read ``part name: size of buffer from offset``."""
    name = tokens.name("part")
    size = tokens.number(":")
    buffer = tokens.name("of")
    return BufferPart(name=name, buffer=buffer, offset=tokens.number("from"), size=size)


def _constant(tokens: Tokens) -> Constant:
    name = tokens.name("constant")
    size = tokens.number(":")
    align, pools = tokens.number("align"), tokens.names()
    tokens.expect("=")
    data = None if tokens.accept("later") else tokens.data(name, size)
    return Constant(name=name, size=size, align=align, pools=pools, data=data)


def _step(tokens: Tokens) -> Step:
    number, operator = tokens.number("step"), tokens.name()
    device = tokens.name("on")
    tokens.expect(":")
    action = _action(tokens)
    tokens.expect("reads")
    reads = tokens.names()
    tokens.expect("writes")
    writes = tokens.names()
    driver = record = ""
    if tokens.accept("driven"):
        driver = tokens.name("by")
    if tokens.accept("with"):
        record = tokens.name()
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
        driver=driver,
        record=record,
        before=_maintenance(tokens, "before"),
        after=_maintenance(tokens, "after"),
    )


def _maintenance(tokens: Tokens, word: str) -> tuple[Maintenance, ...]:
    """Read what follows `word`: ``[device operation buffer, ...]``, or nothing."""

    def one() -> Maintenance:
        device, operation = tokens.name(), tokens.choose(_OPERATIONS, "an operation of a cache")
        return Maintenance(device, operation, tokens.name())

    return tokens.nests(one, "[", "]") if tokens.accept(word) else ()


def _overlap(tokens: Tokens) -> SafeOverlap:
    """Read ``written + distance <= read``."""
    written = tokens.name()
    distance = tokens.number("+")
    tokens.expect("<=")
    return SafeOverlap(written, tokens.name(), distance)


def _part(tokens: Tokens) -> CoreCall:
    """Read ``core @kernel(buffers)``."""
    return CoreCall(tokens.name(), *_kernel(tokens))


def _kernel(tokens: Tokens) -> tuple[str, tuple[str, ...]]:
    """Read ``@kernel(buffers)``."""
    return tokens.name("@"), tokens.names("(", ")")


def _action(tokens: Tokens) -> Action:
    if tokens.accept("call"):
        return KernelCall(*_kernel(tokens))
    if tokens.accept("begin"):
        return CallStart(*_kernel(tokens))
    if tokens.accept("spread"):
        parts = [_part(tokens)]
        while tokens.accept(","):
            parts.append(_part(tokens))
        return CallSpread(tuple(parts))
    if tokens.accept("wait"):
        return AcceleratorWait(tokens.name())
    starts = tokens.accept("start")
    device = tokens.name() if starts else tokens.name("run")
    commands = tokens.name("(")
    count = tokens.number(",")
    tokens.expect(")")
    return (AcceleratorStart if starts else AcceleratorRun)(device, commands, count)
