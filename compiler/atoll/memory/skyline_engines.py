"""Ways to run the skyline kernel: as machine code and as plain Python."""

from collections.abc import Callable
from functools import cache
from typing import Any

from atoll import plugins
from atoll.ir.python_source import python_function
from atoll.memory.skyline_kernel import skyline_kernel
from atoll.memory.skyline_layout import BUFFERS
from atoll.memory.skyline_plans import Arrays

_LOADER = "atoll.codegen.llvm_cached:cached_kernel"


@cache
def _function() -> Callable[..., None]:
    return python_function(skyline_kernel())


class InterpretedSkylines:
    """Runs the kernel as plain Python, on lists."""

    def zeros(self, name: str, elements: int) -> list[int]:
        """Return memory for a parameter."""
        return [0] * elements

    def __call__(self, arrays: Arrays) -> None:
        """Run on arrays by the name of the parameter."""
        _function()(*(arrays[name] for name, *_ in BUFFERS))


class CompiledSkylines:
    """Runs the kernel as machine code of the host."""

    def __init__(self) -> None:
        """Compile the kernel, or load it.

        Raises:
            AtollError: E041; there is no code generation.
        """
        self._kernel = plugins.load(_LOADER)(skyline_kernel())

    def zeros(self, name: str, elements: int) -> Any:
        """Return memory for a parameter."""
        return self._kernel.memory(name, elements)

    def __call__(self, arrays: Arrays) -> None:
        """Run on arrays by the name of the parameter."""
        self._kernel(arrays)
