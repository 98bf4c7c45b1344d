# SPDX-License-Identifier: Apache-2.0
"""Machine code with instructions that LLVM does not know, which the clang of ziglang assembles.

LLVM in this process optimises; it has no assembler for other machines than the host.
"""

from llvmlite import ir

from atoll.codegen.llvm_machine import KEEP_ORDER, WORDS, core_machine, optimize, set_target
from atoll.diagnostics.errors import ToolchainError
from atoll.isa.instruction_set import InstructionSet
from atoll.utils.scratch import temporary_folder
from atoll.utils.tools import run_zig, tail


def machine_code_by_zig(module: ir.Module, instructions: InstructionSet, level: int) -> bytes:
    """Compile a module to an object file of a core, whose target it is given.

    Raises:
        ToolchainError: E072; clang refuses the module, or ziglang is not installed.
    """
    machine = core_machine(instructions.llvm)
    text = str(optimize(set_target(module, machine), machine, level))
    options = [word for option in (*KEEP_ORDER, WORDS) for word in ("-mllvm", option)]
    zig = instructions.zig
    with temporary_folder() as folder:
        (folder / "module.ll").write_text(text, encoding="utf-8")
        command = (
            *("cc", "-target", zig.target, f"-mcpu={zig.cpu}"),
            *(*zig.options, f"-O{level}", "-Xclang", "-disable-llvm-passes", *options),
            *("-ffunction-sections", "-fno-unwind-tables", "-fno-asynchronous-unwind-tables"),
            *("-g0", "-c", "module.ll", "-o", "module.o"),
        )
        done = run_zig(*command, folder=folder)
        if done.returncode:
            raise ToolchainError(
                "E072",
                f"the compiler refused the instructions of a function unit:\n{tail(done.stderr)}",
                remedy="install ziglang, and run `atoll doctor`",
            )
        return (folder / "module.o").read_bytes()
