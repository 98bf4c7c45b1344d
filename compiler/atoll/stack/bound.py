# SPDX-License-Identifier: Apache-2.0
"""The bound of a linked image's stack, as data."""

from atoll.records import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class StackBound:
    """The deepest chain of calls from an entry.

    Attributes:
        bytes: sum of the frames of `path`.
        others: (name of its region, bytes) of stacks of other threads that it has calls run on.
        path: (function, bytes it holds while the next one runs), entry first.
    """

    bytes: int
    path: tuple[tuple[str, int], ...]
    others: tuple[tuple[str, int], ...] = ()

    def __str__(self) -> str:
        chain = " > ".join(f"{function} {size}" for function, size in self.path)
        return f"{self.bytes} B: {chain}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Cause:
    """Something for which nothing bounds a stack.

    Attributes:
        function: that does it.
        message: what it does.
        remedy: what makes the stack bounded.
        options: likewise, by an option of `atoll check-image`; "" if none does.
        resumes: it is a return from an exception, which is the end of what handles one.
        ends: it goes to what a call left in the link register, which is how start-up code ends.
    """

    function: str
    message: str
    remedy: str
    options: str = ""
    resumes: bool = False
    ends: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Depth:
    """What a function, with all it calls, uses of the stack.

    Attributes:
        bound: the deepest chain of calls; it bounds the stack where there are no causes.
        causes: for which nothing bounds it.
    """

    bound: StackBound
    causes: tuple[Cause, ...]
