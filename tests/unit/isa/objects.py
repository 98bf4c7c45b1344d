# SPDX-License-Identifier: Apache-2.0
"""A small object of an instruction set, by each compiler."""

import subprocess
import sys
from functools import cache
from io import BytesIO
from pathlib import Path
from tempfile import TemporaryDirectory

from elftools.elf.elffile import ELFFile
from llvmlite import ir

from atoll.codegen.llvm_machine import machine_code
from atoll.isa.instruction_set import InstructionSet
from atoll.utils.cache import cache_folder

SOURCE = "int load(const int *from) { return *from; }\n"


def of_llvm(instructions: InstructionSet) -> ELFFile:
    """Return what code generation makes."""
    return ELFFile(BytesIO(code_of(instructions)))


def code_of(instructions: InstructionSet) -> bytes:
    """Return the object of a function that loads a number."""
    word = ir.IntType(32)
    module = ir.Module("small")
    function = ir.Function(module, ir.FunctionType(word, [ir.PointerType()]), "load")
    builder = ir.IRBuilder(function.append_basic_block())
    builder.ret(builder.load(function.args[0], typ=word))
    return machine_code(module, instructions.llvm, 3)


@cache
def compiled_by_zig(instructions: InstructionSet) -> ELFFile:
    """Return what the default toolchain makes of C."""
    zig = instructions.zig
    cache = str(cache_folder() / "zig")
    with TemporaryDirectory() as folder:
        subprocess.run(
            [
                *(sys.executable, "-m", "ziglang", "cc", "-c", "-x", "c", "-", "-o", "small.o"),
                *("-target", zig.target, f"-mcpu={zig.cpu}", *zig.options, "-ffreestanding"),
            ],
            cwd=folder,
            input=SOURCE.encode(),
            check=True,
            env={"ZIG_GLOBAL_CACHE_DIR": cache, "ZIG_LOCAL_CACHE_DIR": cache, "PATH": "/usr/bin"},
        )
        return ELFFile(BytesIO(Path(folder, "small.o").read_bytes()))
