# SPDX-License-Identifier: Apache-2.0
"""Machine code that was made before; LLVM is loaded for no other reason."""

from collections.abc import Callable
from functools import cache
from pathlib import Path

import llvmlite
from llvmlite import ir

from atoll.utils.kept import keep_made, name_of

_MACHINE = Path(__file__).with_name("llvm_machine.py")


def compile_cached(
    module: ir.Module | str, target: str, level: int, make: Callable[[], bytes]
) -> bytes:
    """Return the object file of a module, from the cache if it was made before.

    Args:
        module: complete, or its text.
        target: tells processor, features and ABI apart.
        level: of optimisation.
        make: compiles `module`.
    """
    name = name_of(llvmlite.__version__, _pipeline(), target, str(level), str(module))
    return keep_made(f"machine_code/{name}", make)


@cache
def _pipeline() -> bytes:
    return _MACHINE.read_bytes()
