# SPDX-License-Identifier: Apache-2.0
"""Functions of C that operators are given: compiled for a core beside its kernels, or for the host.

The clang of ziglang compiles them, as it does the BSP; they have no C library.
"""

import ctypes
from collections.abc import Sequence
from hashlib import sha256
from pathlib import Path
from typing import Any

from atoll.diagnostics.errors import ModelError
from atoll.isa.instruction_set import InstructionSet
from atoll.records import dataclass
from atoll.utils.join_objects import join_objects
from atoll.utils.kept import keep_made, name_of
from atoll.utils.scratch import temporary_folder
from atoll.utils.tools import cache_file, run_zig, tail

_FLAGS = (
    *("-std=c99", "-O2", "-ffreestanding", "-fno-builtin", "-fno-sanitize=all", "-g0"),
    *("-fno-unwind-tables", "-fno-asynchronous-unwind-tables", "-fno-stack-protector"),
    *("-ffunction-sections", "-fdata-sections", "-fno-jump-tables", "-fomit-frame-pointer"),
)


@dataclass(frozen=True, slots=True, kw_only=True)
class CSource:
    """A file of C99.

    Attributes:
        name: of the file, for messages.
        text: what is in it; it includes no file but those of a freestanding C.
    """

    name: str
    text: str

    @property
    def digest(self) -> str:
        """What tells it from other files of one network."""
        return sha256(self.text.encode()).hexdigest()[:8]


@dataclass(frozen=True, slots=True, kw_only=True)
class CFunction:
    """A function of a file that kernels call.

    Attributes:
        types: of its arguments in C, such as ``const int8_t *``.
    """

    source: CSource
    name: str
    types: tuple[str, ...]

    def symbol(self, network: str) -> str:
        """Return what it is called where it is linked: of each network apart."""
        return f"atoll_c_{network}_{self.source.digest}_{self.name}"


def translation(functions: Sequence[CFunction], network: str, *, lines: bool = False) -> str:
    """Return C that defines functions under their symbols, and holds their types against the calls.

    Each file is there once, as it is. With `lines`, messages of a compiler name it and its lines.
    """
    parts = ["#include <stdint.h>\n"]
    for source in dict.fromkeys(each.source for each in functions):
        own = [each for each in dict.fromkeys(functions) if each.source == source]
        parts += (f"#define {each.name} {each.symbol(network)}\n" for each in own)
        parts.append(f'#line 1 "{source.name}"\n' * lines + f"{source.text.rstrip()}\n")
        parts += (
            f'#line 1 "{each.name} as it is called"\n' * lines
            + f"void {each.name}({', '.join(each.types)});\n#undef {each.name}\n"
            for each in own
        )
    return "".join(parts)


def with_functions(
    code: bytes, functions: Sequence[CFunction], network: str, instructions: InstructionSet
) -> bytes:
    """Return an object file of a core that also has the functions that its code calls.

    Raises:
        ModelError: E152; the compiler refuses a file.
        ToolchainError: E070; ziglang is not installed.
    """
    zig = instructions.zig
    machine = ("-target", zig.target, f"-mcpu={zig.cpu}", *zig.options)
    text = translation(functions, network, lines=True)

    def compile_functions() -> bytes:
        with temporary_folder() as folder:
            (folder / "functions.c").write_text(text, encoding="utf-8")
            _compile_source(
                "functions.c", *machine, *_FLAGS, "-c", "-o", "functions.o", folder=folder
            )
            return (folder / "functions.o").read_bytes()

    return join_objects(
        code, keep_made(f"machine_code/{name_of(*machine, *_FLAGS, text)}", compile_functions)
    )


def on_host(function: CFunction, network: str) -> Any:
    """Return a function that runs in this process, to call with addresses and numbers.

    Raises:
        ModelError: E152; the compiler refuses the file, or it does not define the function.
        ToolchainError: E070; ziglang is not installed.
    """
    text = translation([function], network, lines=True)
    library = ("-shared", "-fPIC", *_FLAGS)

    def build(target: Path) -> None:
        with temporary_folder() as folder:
            (folder / "functions.c").write_text(text, encoding="utf-8")
            _compile_source("functions.c", *library, "-o", str(target), folder=folder)

    path = cache_file(f"libraries/{name_of(*library, text)}.so", build)
    try:
        found = getattr(ctypes.CDLL(str(path)), function.symbol(network))
    except AttributeError as fault:
        what = f"'{function.source.name}' does not define the function '{function.name}'"
        raise ModelError("E152", what, remedy="correct its name in the operator's kind") from fault
    found.restype = None
    found.argtypes = [
        ctypes.c_void_p if kind.endswith("*") else ctypes.c_int32 for kind in function.types
    ]
    return found


def _compile_source(source: str, *flags: str, folder: Path) -> None:
    done = run_zig("cc", *flags, source, folder=folder)
    if done.returncode:
        what = f"the compiler refuses a function of C:\n{tail(done.stderr)}"
        raise ModelError("E152", what, remedy="correct the file at the line that it names")
