"""What LLVM must know of a core; none of it loads LLVM."""

import re
from dataclasses import dataclass

from atoll.errors import ToolchainError

_ISA = re.compile(r"rv32([ie])([a-z]*)((?:_[a-z0-9]+)*)")
_SUPPORTED = frozenset("mac")


@dataclass(frozen=True, slots=True)
class CoreTarget:
    """Triple, processor, features and ABI in LLVM's terms."""

    triple: str
    cpu: str
    features: str
    abi: str


def core_target(isa: str) -> CoreTarget:
    """Return the target of a core.

    Args:
        isa: RISC-V base and extensions such as ``rv32imc`` or ``rv32imc_zba``.

    Raises:
        ToolchainError: E040; no code can be made for `isa`.
    """
    found = _ISA.fullmatch(isa)
    if found is None or not set(found[2]) <= _SUPPORTED:
        raise ToolchainError(
            "E040",
            f"no code can be generated for isa '{isa}'",
            remedy="use rv32i or rv32e with any of the extensions m, a and c, such as rv32imc",
        )
    extensions = [*found[2], *found[3].split("_")[1:], *(["e"] if found[1] == "e" else [])]
    return CoreTarget(
        triple="riscv32-unknown-none-elf",
        cpu="generic-rv32",
        features=",".join(f"+{extension}" for extension in extensions),
        abi="ilp32e" if found[1] == "e" else "ilp32",
    )
