"""The search kernel as machine code, where code generation is there."""

from functools import cache
from typing import Any

from atoll import plugins
from atoll.errors import AtollError
from atoll.memory.search import Arrays, Engine, Interpreted, Runner, Steps
from atoll.memory.search_kernel import search_kernel
from atoll.memory.search_layout import (
    BUFFERS,
    NODES,
    RUNNING,
    SOLVED,
    STATUS,
    STEPS,
)
from atoll.memory.skyline_engines import CompiledSkylines
from atoll.memory.skyline_plans import Skylines

_LOADER = "atoll.codegen.llvm_cached:cached_kernel"


_WARM = 400
"""Nodes that are interpreted before anything is compiled: small problems end earlier."""


class Compiled:
    """Runs the kernel as machine code of the host."""

    def __init__(self) -> None:
        """Compile the kernel, or load it.

        Raises:
            AtollError: E041; there is no code generation.
        """
        self._kernel = plugins.load(_LOADER)(search_kernel())

    def load(self, tables: Arrays) -> Runner:
        """Take the parameters that stay the same."""
        memory: dict[str, Any] = {name: self._kernel.memory(name) for name, *_ in BUFFERS}
        for name, values in tables.items():
            memory[name][: len(values)] = values

        def run(work: Arrays, steps: Steps) -> None:
            for name, values in work.items():
                memory[name][: len(values)] = values
            state = memory["state"]
            while state[STATUS] == RUNNING and (more := steps(int(state[NODES]))):
                state[STEPS] = more
                self._kernel(memory)
            work["state"] = state.tolist()
            if state[STATUS] == SOLVED:
                for name in ("low", "chosen"):
                    work[name] = memory[name][: len(work[name])].tolist()

        return run

    def skylines(self) -> Skylines:
        """Return the kernel of the skyline search."""
        return CompiledSkylines()


@cache
def _compiled() -> Engine:
    """Return the compiled kernel, or the interpreted one where nothing can be compiled."""
    try:
        return Compiled()
    except AtollError:
        return Interpreted()


class FastEngine:
    """Interprets the first nodes and compiles for the others; the answers are the same."""

    def __init__(self) -> None:
        self._cold = _WARM

    def load(self, tables: Arrays) -> Runner:
        """Take the parameters that stay the same."""
        slow = Interpreted().load(tables)
        fast: Runner | None = None

        def run(work: Arrays, steps: Steps) -> None:
            nonlocal fast

            def first_steps(done: int) -> int:
                return min(steps(done), max(0, self._cold - done))

            slow(work, first_steps)
            self._cold = max(0, self._cold - work["state"][NODES])
            if work["state"][STATUS] == RUNNING and steps(work["state"][NODES]):
                fast = fast or _compiled().load(tables)
                fast(work, steps)

        return run

    def skylines(self) -> Skylines:
        """Return the kernel of the skyline search."""
        return _compiled().skylines()
