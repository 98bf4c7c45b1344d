"""The bound of a linked image's stack, as data."""

from dataclasses import dataclass


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
