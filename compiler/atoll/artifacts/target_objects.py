# SPDX-License-Identifier: Apache-2.0
"""The object of a network for each core, whatever targets and generators its operators have."""

from collections.abc import Iterator, Mapping
from pathlib import Path

from atoll.bsp.core_images import image_cores
from atoll.bsp.float_convention import adapt_float_convention
from atoll.bsp.model_source import compile_model
from atoll.bsp.toolchain import SIZE, SPEED
from atoll.codegen.apart import Apart, apart_on, kernels_of, name_apart
from atoll.codegen.llvm import emit_apart, emit_objects
from atoll.diagnostics.errors import ToolchainError
from atoll.driver.pipeline import Compiled
from atoll.ir.tir import IRModule
from atoll.isa.code_target import Generator, Optimise
from atoll.records import dataclass
from atoll.resolve.soc import Cpu
from atoll.utils.join_objects import join_objects

MODEL_SOURCE = "model.c"


def objects_of(
    compiled: Compiled,
    position: int,
    generator: Generator,
    folder: Path | None = None,
    toolchain: str | None = None,
) -> dict[str, bytes]:
    """Return an object of a network for every core that has an image, by name, host first.

    Args:
        compiled: the network.
        position: of it in the firmware.
        generator: makes all code of which no target says otherwise.
        folder: gets the C that was made; None leaves none.
        toolchain: compiles C, None for each core's own.

    Raises:
        ToolchainError: E070 to E072, a compiler is missing or refuses C; E124, what it made has
            another calling convention; E196, floats cross between two; E203, a compiler of the
            user's would make code for another target; E217, LLVM is asked for in a build as C.
    """
    soc, module = compiled.soc, name_apart(compiled.module, compiled.soc, generator)
    made = _Made(compiled, module, generator, folder, toolchain)
    codes = made.as_c(position) if generator is Generator.C else made.by_llvm(position)
    return {
        core.name: join_objects(codes[core.name], *made.apart(core)) for core in image_cores(soc)
    }


def kernel_names(
    compiled: Compiled, generator: Generator
) -> Mapping[str, Mapping[str, tuple[str, ...]]]:
    """Return by core and target what the kernels of a network are called in objects."""
    module = name_apart(compiled.module, compiled.soc, generator)
    return {
        core.name: {
            target: tuple(kernel.name for kernel in kernels)
            for target, kernels in kernels_of(module, core).items()
        }
        for core in image_cores(compiled.soc)
    }


@dataclass(frozen=True)
class _Made:
    compiled: Compiled
    module: IRModule
    generator: Generator
    folder: Path | None
    toolchain: str | None

    def by_llvm(self, position: int) -> Mapping[str, bytes]:
        """Return what LLVM makes together for each core."""
        compiled = self.compiled
        return emit_objects(self.module, compiled.plan, compiled.soc, compiled.commands, position)

    def as_c(self, position: int) -> Mapping[str, bytes]:
        """Return what is made together as C."""
        from atoll.codegen.c.source import emit_sources  # most builds have no C

        compiled, soc = self.compiled, self.compiled.soc
        for op in compiled.graph.operators:
            core = soc.device(op.device)
            if isinstance(core, Cpu) and any(
                each.name == op.target and each.generator is Generator.LLVM for each in core.targets
            ):
                raise ToolchainError(
                    "E217",
                    f"LLVM makes target '{op.target}' of '{core.name}', which '{op.name}' has, "
                    "and '--emit c' asks for C",
                    remedy=f"delete 'devices.{core.name}.targets.{op.target}.generator', or leave "
                    "out '--emit c'",
                )
        sources = emit_sources(self.module, compiled.plan, soc, compiled.commands, position)
        codes = {}
        for core in image_cores(soc):
            self._write("" if core.name == soc.host else f"{core.name}_", sources[core.name])
            codes[core.name] = compile_model(sources[core.name], core, self.toolchain)
        return codes

    def apart(self, core: Cpu) -> Iterator[bytes]:
        """Yield the objects of what a core has apart."""
        for each in apart_on(self.module, core, self.generator):
            if each.in_c:
                code, source = self._compile(each, core), f"{each.target.name}_{MODEL_SOURCE}"
            else:
                code, source = emit_apart(self.module, each, core), each.target.name
            yield adapt_float_convention(code, source, each.target, each.core, core)

    def _compile(self, apart: Apart, core: Cpu) -> bytes:
        from atoll.codegen.c.source import apart_source

        target, own = apart.target, core.commands and not self.toolchain
        if own and target.instructions != core.instructions:
            raise ToolchainError(
                "E203",
                f"'commands' of '{core.name}' compile for {core.isa} with "
                f"{core.instructions.abi}, and C for target '{target.name}' is for "
                f"{target.instructions.name} with {target.instructions.abi}",
                at=core.at,
                remedy=f"leave 'isa' and 'abi' out of 'devices.{core.name}.targets.{target.name}', "
                "or link firmware with '--toolchain'",
            )
        text = apart_source(self.module, apart)
        self._write(f"{core.name}_{target.name}_", text)
        level = SIZE if target.optimise is Optimise.SIZE else SPEED
        return compile_model(text, apart.core, self.toolchain, level)

    def _write(self, prefix: str, text: str) -> None:
        if self.folder:
            (self.folder / f"{prefix}{MODEL_SOURCE}").write_text(text, encoding="utf-8")
