# SPDX-License-Identifier: Apache-2.0
"""The program of an accelerator in its description: what the host does with its registers."""

from typing import Annotated, Any

from pydantic import BeforeValidator, Field, WithJsonSchema

from atoll.description.fields import (
    MAX_ENTRIES,
    ConstantName,
    Described,
    Integer,
    Name,
    RegisterPlace,
    must_be,
)
from atoll.program.expressions import LONGEST, ExpressionError, parse


def _formula(value: Any) -> str:
    text = str(value) if isinstance(value, int) and not isinstance(value, bool) else value
    if not isinstance(text, str):
        raise must_be("a formula such as 40 + 3 * elements")
    try:
        if len(text) > LONGEST:
            raise ExpressionError(f"is longer than {LONGEST} characters")
        parse(text)
    except ExpressionError as fault:
        raise must_be(f"a formula such as 40 + 3 * elements (this one {fault})") from fault
    return text


Formula = Annotated[
    str,
    BeforeValidator(_formula),
    WithJsonSchema({"anyOf": [{"type": "integer"}, {"type": "string"}]}),
]


class Step(Described):
    """One thing that the host does: it has one of write, wait, push, pop and repeat."""

    write: RegisterPlace | None = Field(
        default=None, description="Register, or field of one, to write 'value' to."
    )
    value: Formula | None = None
    wait: RegisterPlace | None = Field(
        default=None,
        description="Register to read until its bits under 'mask' are 'equals', or field of one.",
    )
    mask: Integer | None = None
    equals: Integer | None = None
    push: ConstantName | None = Field(
        default=None, description="Window to write bytes of 'buffer' to, word by word."
    )
    pop: ConstantName | None = Field(
        default=None, description="Window to read bytes of 'buffer' from, word by word."
    )
    buffer: Name | None = Field(
        default=None, description="input, input1, ..., output, or a constant of the operator."
    )
    offset: Formula | None = Field(default=None, description="Its first byte; 0 if not said.")
    bytes: Formula | None = Field(default=None, description="How many; all of it if not said.")
    rises: bool = Field(
        default=False,
        strict=True,
        description="The window is memory: each word has the address behind that of the one before;"
        " else all words have one address.",
    )
    repeat: Name | None = Field(default=None, description="Name of a count, from 0 to 'times' - 1.")
    times: Formula | None = None
    do: tuple["Step", ...] | None = Field(default=None, max_length=MAX_ENTRIES)


Steps = tuple[Step, ...]


class Failure(Described):
    """Bits of a register that are not 0 when something went wrong."""

    read: RegisterPlace
    mask: Integer | None = None
    means: str = Field(max_length=100, description="What the driver prints.")


class Program(Described):
    """What the host does to have the accelerator run an operator."""

    identity: dict[ConstantName, Integer] = Field(
        default={}, max_length=MAX_ENTRIES, description="What registers hold that tell what it is."
    )
    open: Steps = Field(default=(), max_length=MAX_ENTRIES, description="Before an operator.")
    run: Steps = Field(default=(), max_length=MAX_ENTRIES, description="For each operator.")
    clear: Steps = Field(
        default=(), max_length=MAX_ENTRIES, description="What takes the interrupt back."
    )
    close: Steps = Field(default=(), max_length=MAX_ENTRIES, description="After an operator.")
    abort: Steps = Field(
        default=(), max_length=MAX_ENTRIES, description="Once it has not ended in time."
    )
    errors: tuple[Failure, ...] = Field(
        default=(), max_length=MAX_ENTRIES, description="What its end may mean, looked at in order."
    )
