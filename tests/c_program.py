# SPDX-License-Identifier: Apache-2.0
"""The C of a model's functions, compiled for this machine and called as `NativeProgram` is."""

import ctypes
import os
import subprocess
from collections.abc import Sequence
from pathlib import Path

import atoll
from atoll.codegen.c.source import HEAD, functions_text
from atoll.codegen.core_steps import overlapping_parameters
from atoll.ir.tir import IRModule
from atoll.ir.walk import runtime_allocations

STRICT = ("-std=c99", "-pedantic", "-Wall", "-Wextra", "-Wconversion", "-Werror")
RUNTIME = Path(atoll.__file__).parent / "bsp" / "runtime"


class CProgram:
    """The kernels of a module from their C."""

    def __init__(
        self, module: IRModule, folder: Path, *flags: str, sources: Sequence[Path] = ()
    ) -> None:
        texts = functions_text(module.functions, overlapping_parameters(module), "")
        path = folder / f"{module.name}.c"
        path.write_text("\n".join((HEAD, *texts)))
        library = path.with_suffix(".so")
        compiler = os.environ.get("CC", "gcc")
        command = [compiler, *STRICT, "-O2", *flags, "-shared", "-fPIC", "-o", str(library)]
        subprocess.run([*command, str(path), *map(str, sources)], check=True)
        self._failing = {each.name for each in module.functions if runtime_allocations(each)}
        self.library = ctypes.CDLL(str(library))

    def call(self, function: str, pointers: Sequence[int]) -> int:
        """Run a kernel on buffers at these addresses."""
        kernel = self.library[function]
        kernel.restype = ctypes.c_int32 if function in self._failing else None
        return int(kernel(*map(ctypes.c_void_p, pointers)) or 0)
