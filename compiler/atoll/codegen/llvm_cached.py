"""A kernel as machine code of the host, compiled once and kept on disk."""

from collections.abc import Mapping
from ctypes import CFUNCTYPE, c_void_p
from functools import cache
from hashlib import sha256
from typing import Any

import llvmlite
import numpy as np
from llvmlite import binding

from atoll.cache import cache_folder, only_builder
from atoll.codegen.llvm_kernels import emit_functions
from atoll.codegen.llvm_target import host_features, host_machine, new_module, optimized
from atoll.errors import UsageError
from atoll.files import write_bytes
from atoll.ir.tir import PrimFunc, Type

LEVEL = 3
_SEAL = 32
"""Bytes before the code that tell whether the file is whole."""

_TYPES = {Type.I8: np.int8, Type.I16: np.int16, Type.I32: np.int32, Type.I64: np.int64}


class CachedKernel:
    """One kernel that is called on numpy arrays, which the caller keeps."""

    def __init__(self, kernel: PrimFunc) -> None:
        """Load the machine code, or make it.

        A cache that cannot be written costs time, nothing else.
        """
        self._kernel = kernel
        machine = host_machine()
        empty = new_module(f"{kernel.name}.loader", machine)
        self._engine = binding.create_mcjit_compiler(binding.parse_assembly(str(empty)), machine)
        code = binding.ObjectFileRef.from_data(_machine_code(kernel, machine))
        self._engine.add_object_file(code)
        self._engine.finalize_object()
        pointers = [c_void_p] * len(kernel.parameters)
        address = self._engine.get_function_address(kernel.name)
        self._call = CFUNCTYPE(None, *pointers)(address)

    def memory(self, name: str, elements: int | None = None) -> np.ndarray[Any, Any]:
        """Return zeroed memory for a parameter: all of it, or as much as a run reaches."""
        (buffer,) = (each for each in self._kernel.buffers if each.name == name)
        return np.zeros(elements or buffer.elements, _TYPES[buffer.type])

    def __call__(self, arrays: Mapping[str, np.ndarray[Any, Any]]) -> None:
        """Run on arrays by parameter name, each as large as what is reached."""
        self._call(*(arrays[buffer.name].ctypes.data for buffer in self._kernel.buffers))


@cache
def cached_kernel(kernel: PrimFunc) -> CachedKernel:
    """Return `kernel` compiled; each process loads it once."""
    return CachedKernel(kernel)


def _machine_code(kernel: PrimFunc, machine: binding.TargetMachine) -> bytes:
    features = host_features()
    host = (llvmlite.__version__, machine.triple, binding.get_host_cpu_name(), features, LEVEL)
    digest = sha256(repr((str(kernel), host)).encode()).hexdigest()[:16]
    target = cache_folder() / "kernels" / f"{kernel.name}-{digest}.o"
    try:
        with only_builder(target):
            sealed = target.read_bytes() if target.is_file() else b""
            seal, code = sealed[:_SEAL], sealed[_SEAL:]
            if seal != sha256(code).digest():
                code = _compiled(kernel, machine)
                write_bytes(target, sha256(code).digest() + code)
            return code
    except (OSError, UsageError):
        return _compiled(kernel, machine)


def _compiled(kernel: PrimFunc, machine: binding.TargetMachine) -> bytes:
    module = new_module(kernel.name, machine)
    emit_functions(module, [kernel], linkage="")
    code: bytes = machine.emit_object(optimized(module, machine, LEVEL))
    return code
