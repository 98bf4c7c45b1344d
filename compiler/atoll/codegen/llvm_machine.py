"""LLVM target machines and the optimisation pipeline."""

import re
from functools import cache

from llvmlite import binding, ir

from atoll.errors import ToolchainError

_ISA = re.compile(r"rv32([ie])([a-z]*)((?:_[a-z0-9]+)*)")
_SUPPORTED = frozenset("mac")
_WIDE = ("avx512", "avx10")


@cache
def _initialize() -> None:
    binding.initialize_all_targets()
    binding.initialize_all_asmprinters()


def core_machine(isa: str) -> binding.TargetMachine:
    """Return the code generator of a core.

    Args:
        isa: RISC-V base and extensions such as ``rv32imc`` or ``rv32imc_zba``.

    Raises:
        ToolchainError: no code can be made for `isa`.
    """
    found = _ISA.fullmatch(isa)
    if found is None or not set(found[2]) <= _SUPPORTED:
        raise ToolchainError(
            "E040",
            f"no code can be generated for isa '{isa}'",
            remedy="use rv32i or rv32e with any of the extensions m, a and c, such as rv32imc",
        )
    _initialize()
    extensions = [*found[2], *found[3].split("_")[1:], *(["e"] if found[1] == "e" else [])]
    return binding.Target.from_triple("riscv32-unknown-none-elf").create_target_machine(
        cpu="generic-rv32",
        features=",".join(f"+{extension}" for extension in extensions),
        opt=3,
        reloc="static",
        codemodel="medium",
        abiname="ilp32e" if found[1] == "e" else "ilp32",
    )


def host_machine() -> binding.TargetMachine:
    """Return the code generator of the machine that Atoll runs on."""
    _initialize()
    return binding.Target.from_default_triple().create_target_machine(
        cpu=binding.get_host_cpu_name(),
        features=host_features(),
        opt=3,
        jit=True,
    )


def host_features() -> str:
    """Return what the host's processor has, without AVX-512, for LLVM.

    LLVM 22.1 makes a truncating store of one lane out of eight, as in the last round of a loop
    over nine channels, a store of the whole wide lane: it zeroes three bytes behind the buffer.
    Only AVX-512 and its successor have such stores.
    """
    found = binding.get_host_cpu_features()
    kept = {name: has and not name.startswith(_WIDE) for name, has in found.items()}
    return ",".join(f"{'+' if has else '-'}{name}" for name, has in sorted(kept.items()))


def new_module(name: str, machine: binding.TargetMachine) -> ir.Module:
    """Start a module for `machine`."""
    module = ir.Module(name)
    module.triple = machine.triple
    module.data_layout = str(machine.target_data)
    return module


def optimized(module: ir.Module, machine: binding.TargetMachine, level: int) -> binding.ModuleRef:
    """Parse, verify and optimise at -O`level`."""
    parsed = binding.parse_assembly(str(module))
    parsed.verify()
    tuning = binding.create_pipeline_tuning_options(speed_level=level)
    tuning.loop_vectorization = tuning.slp_vectorization = level > 1
    passes = binding.create_pass_builder(machine, tuning)
    passes.getModulePassManager().run(parsed, passes)
    return parsed
