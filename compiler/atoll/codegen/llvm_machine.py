# SPDX-License-Identifier: Apache-2.0
"""LLVM target machines and the optimisation pipeline."""

from functools import cache

from llvmlite import binding, ir
from llvmlite.binding.ffi import ObjectRef

from atoll.codegen.arm_attributes import fits_both_conventions
from atoll.isa.instruction_set import LlvmTarget

_WIDE = ("avx512", "avx10")

SMALL_LOOPS = "-unroll-threshold=265"
"""Less than at -O3 (300): a short sum of products stays a loop, which registers hold."""

KEEP_ORDER = (
    "-enable-misched=0",
    "-pre-RA-sched=source",
    "-riscv-enable-machine-combiner=0",
    "-disable-machine-sink",
)
"""Keep the order of the loop programs: LLVM would make all products of a block of sums before it
adds the first, and the registers of a core do not hold them. The second option is for Arm, which
orders them once more, before registers are given out; the third one for RISC-V, where sums would be
added in another order. The last one: products of one pixel would move behind the branches that
clamp another one's sum, and what they are made of would be spilled until then."""

WORDS = "-align-all-nofallthru-blocks=2"
"""Code that nothing runs into begins with a word: cores that fetch words lose cycles else."""


@cache
def _initialize() -> None:
    binding.initialize_all_targets()
    binding.initialize_all_asmprinters()
    for option in (*KEEP_ORDER, SMALL_LOOPS, WORDS):
        binding.set_option("atoll", option)


def core_machine(target: LlvmTarget) -> binding.TargetMachine:
    """Return the code generator of a core."""
    _initialize()
    return binding.Target.from_triple(target.triple).create_target_machine(
        cpu=target.cpu,
        features=target.kernel_features,
        opt=3,
        reloc=target.relocation,
        codemodel=target.code_model,
        abiname=target.abi,
    )


def host_machine(level: int = 3) -> binding.TargetMachine:
    """Return the code generator of the machine that Atoll runs on, at -O`level`."""
    _initialize()
    return binding.Target.from_default_triple().create_target_machine(
        cpu=binding.get_host_cpu_name(),
        features=host_features(),
        opt=level,
        jit=True,
    )


@cache
def host_features() -> str:
    """Return what the host's processor has, without AVX-512, for LLVM.

    LLVM 22.1 makes a truncating store of one lane out of eight, as in the last round of a loop
    over nine channels, a store of the whole wide lane: it zeroes three bytes behind the buffer.
    Only AVX-512 and its successor have such stores.
    """
    found = binding.get_host_cpu_features()
    kept = {name: has and not name.startswith(_WIDE) for name, has in found.items()}
    return ",".join(f"{'+' if has else '-'}{name}" for name, has in sorted(kept.items()))


def machine_code(module: ir.Module, target: LlvmTarget, level: int) -> bytes:
    """Compile a module to an object file of a core, whose target it is given."""
    machine = core_machine(target)
    return fits_both_conventions(
        machine.emit_object(optimize(set_target(module, machine), machine, level))
    )


def new_module(name: str, machine: binding.TargetMachine) -> ir.Module:
    """Start a module for `machine`."""
    return set_target(ir.Module(name), machine)


def set_target(module: ir.Module, machine: binding.TargetMachine) -> ir.Module:
    """Have a module name its target."""
    module.triple = machine.triple
    module.data_layout = str(machine.target_data)
    return module


def optimize(
    module: ir.Module | str, machine: binding.TargetMachine, level: int
) -> binding.ModuleRef:
    """Parse, verify and optimise a module, or its text, at -O`level`."""
    parsed = binding.parse_assembly(str(module))
    parsed.verify()
    tuning = binding.create_pipeline_tuning_options(speed_level=level)
    tuning.loop_vectorization = tuning.slp_vectorization = level > 1
    passes = binding.create_pass_builder(machine, tuning)
    manager = passes.getModulePassManager()
    manager.run(parsed, passes)
    _free(manager)
    return parsed


def _free(manager: binding.ModulePassManager) -> None:
    """Free a pass manager, some 75 KB, where llvmlite does not: its 0.50 finds the wrong method."""
    if type(manager)._dispose is ObjectRef._dispose:
        binding.NewPassManager._dispose(manager)
