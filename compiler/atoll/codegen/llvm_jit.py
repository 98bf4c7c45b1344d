"""Kernels compiled for the host and run on real memory."""

from collections.abc import Sequence
from ctypes import CFUNCTYPE, c_void_p

from llvmlite import binding

from atoll.codegen.llvm_kernels import emit_functions, overlapping_parameters
from atoll.codegen.llvm_target import host_machine, new_module, optimized
from atoll.ir.tir import IRModule


class NativeProgram:
    """The kernels of a module as machine code of the host; the caller owns all memory."""

    def __init__(self, module: IRModule, level: int = 3) -> None:
        machine = host_machine()
        source = new_module(module.name, machine)
        emit_functions(source, module.functions, "", overlapping_parameters(module))
        self._engine = binding.create_mcjit_compiler(optimized(source, machine, level), machine)
        self._engine.finalize_object()
        self._kernels = {
            kernel.name: CFUNCTYPE(None, *[c_void_p] * len(kernel.parameters))(
                self._engine.get_function_address(kernel.name)
            )
            for kernel in module.functions
            if kernel.result is None
        }

    def call(self, function: str, pointers: Sequence[int]) -> None:
        """Run a kernel on buffers at these addresses, in the order of its parameters.

        The buffers are as large as the parameters say, aligned for their elements, and those
        that are written overlap no other but as the steps of the entry allow.
        """
        self._kernels[function](*pointers)
