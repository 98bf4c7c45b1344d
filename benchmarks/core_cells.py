# SPDX-License-Identifier: Apache-2.0
"""The cells of a row of `benchmarks.cores`: what a core can do with a network, done."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from io import BytesIO
from pathlib import Path

from elftools.elf.elffile import ELFFile

from atoll.artifacts.build_tree import Emit, build
from atoll.artifacts.samples import random_sample
from atoll.bsp.interface import Firmware
from atoll.bsp.model_source import compile_model
from atoll.codegen.c.source import emit_sources
from atoll.codegen.llvm import emit_objects
from atoll.diagnostics.errors import AtollError, Fault
from atoll.diagnostics.progress import Progress, silent
from atoll.driver.pipeline import Compiled, compile_file
from atoll.resolve import load_soc
from atoll.resolve.soc import ResolvedSoc
from atoll_sim.inputs.build_folder import Image
from atoll_sim.runs.checked_run import AcceleratorKind, CpuKind, run_image
from benchmarks.host_program import compare, runs_here

CHIP = "lagoon"
ALONE = "devices.npu=null"
MACHINES = Path(__file__).parents[1] / "examples" / "08_qemu_machines"
STRICT = "".join(
    f'#pragma GCC diagnostic error "-W{each}"\n' for each in ("conversion", "pedantic")
)
"""In front of C: what the toolchain of every core is not told anyway, in words of all of them."""

ABSENT = {"E070", "E071", "E080", "E102", "E103"}
"""What says that a cell does not exist; all else is a failure."""

_ALLOCATED, _EXECUTED = 2, 4
"""Flags of an ELF section."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Cell:
    """What came of one column.

    Attributes:
        numbers: by unit, such as ``code_bytes``.
        equal: whether every byte of every layer is the reference's; None where nothing ran.
        where: what ran it.
        fault: why there is nothing, in the program's words.
    """

    numbers: Mapping[str, int] = field(default_factory=dict)
    equal: bool | None = None
    where: str = ""
    fault: Fault | None = None

    @property
    def good(self) -> bool:
        """Whether it is as it should be, or does not exist."""
        return self.equal is not False and (not self.fault or self.fault.code in ABSENT)

    def as_json(self) -> dict[str, object]:
        """Return what is there."""
        ran = {} if self.equal is None else {"equal": self.equal, "where": self.where}
        fault = {"absent": self.fault.to_json()} if self.fault else {}
        return {**self.numbers, **ran, **fault}


class Row:
    """A core with an instruction set and a network."""

    def __init__(
        self, core: str, isa: str, network: Path, folder: Path, toolchain: str | None = None
    ) -> None:
        """Name what is measured.

        Args:
            core: one that ships.
            isa: one of its instruction sets.
            network: a quantised network.
            folder: takes what is built.
            toolchain: see `atoll.artifacts.build_tree.build`.
        """
        self.core, self.isa, self.network = core, isa, network
        self._folder, self._toolchain = folder, toolchain
        self._built: dict[tuple[str, Emit], tuple[Compiled, Firmware]] = {}

    def cells(self, columns: Mapping[str, str], tell: Progress = silent) -> Iterator[Cell]:
        """Yield the cells of some of `COLUMNS`."""
        for column, title in columns.items():
            tell(f"{self.core} ({self.isa}), {self.network.stem}: {title}")
            try:
                yield _MAKE[column](self)
            except AtollError as error:
                yield Cell(fault=error.faults[0])

    def compile(self) -> Cell:
        """Make the object, and run it if this machine can."""
        compiled = self._compiled
        given = (compiled.module, compiled.plan, compiled.soc, compiled.commands)
        return self._object(emit_objects(*given)[compiled.soc.host])

    def link(self) -> Cell:
        """Link the firmware: its bytes in the core's code, pools of constants, and data."""
        _, firmware = self._firmware(self._chip, Emit.OBJECT)
        used = {use.region: use.used for use in firmware.host.use}
        host = self._chip.host
        code, data = (used.pop(f"{host}.{region}", 0) for region in ("code", "data"))
        numbers = {"code_bytes": code, "constants_bytes": sum(used.values()), "data_bytes": data}
        return Cell(numbers=numbers)

    def stack(self) -> Cell:
        """Read the bound of the stack from the image, interrupts apart."""
        _, firmware = self._firmware(self._chip, Emit.OBJECT)
        return Cell(numbers={"stack_bytes": firmware.stack.bytes})

    def c(self) -> Cell:
        """Compile the C without a warning, and run it on what runs the core soonest."""
        compiled = self._compiled
        given = (compiled.module, compiled.plan, compiled.soc, compiled.commands)
        text, core = emit_sources(*given)[compiled.soc.host], compiled.soc.host_cpu
        made = self._object(compile_model(STRICT + text, core, self._toolchain))
        for cpu in (CpuKind.ISS, CpuKind.QEMU):
            try:
                ran = self._run(cpu, Emit.C)
            except AtollError as error:
                if error.faults[0].code not in ABSENT:
                    raise
            else:
                return Cell(numbers=made.numbers, equal=ran.equal, where=ran.where)
        return made

    def simulate(self, cpu: CpuKind) -> Cell:
        """Run the firmware on a kind of cores."""
        return self._run(cpu, Emit.OBJECT)

    @property
    def _settings(self) -> tuple[str, ...]:
        return (f"devices.cpu.core={self.core}", f"devices.cpu.isa={self.isa}")

    @cached_property
    def _chip(self) -> ResolvedSoc:
        return load_soc(CHIP, (ALONE, *self._settings))

    @cached_property
    def _compiled(self) -> Compiled:
        return compile_file(self._chip, self.network)

    @property
    def _machine(self) -> ResolvedSoc:
        """Return the machine of QEMU of this core, else the first one of its kind."""
        kind = self._chip.host_cpu.instructions
        chips = {path: load_soc(path).host_cpu for path in sorted(MACHINES.glob("*.yaml"))}
        alike = [
            path
            for path, host in chips.items()
            if (host.instructions.family, host.instructions.bits) == (kind.family, kind.bits)
        ]
        own = [path for path in alike if chips[path].spec.name == self.core]
        found = own or alike
        return load_soc(found[0], self._settings) if found else self._chip

    def _firmware(self, soc: ResolvedSoc, emit: Emit) -> tuple[Compiled, Firmware]:
        """Build the firmware for a chip, once."""
        key = (soc.name, emit)
        if key not in self._built:
            compiled = self._compiled if soc is self._chip else compile_file(soc, self.network)
            folder = self._folder / f"{soc.name}_{emit}"
            tree = build((compiled,), folder, toolchain=self._toolchain, emit=emit)
            self._built[key] = compiled, tree.firmware
        return self._built[key]

    def _object(self, code: bytes) -> Cell:
        """Measure an object; run it in this process where that is the core's instruction set."""
        numbers = dict.fromkeys(("code_bytes", "constants_bytes"), 0)
        for section in ELFFile(BytesIO(code)).iter_sections():
            if section["sh_flags"] & _ALLOCATED:
                executed = section["sh_flags"] & _EXECUTED
                numbers["code_bytes" if executed else "constants_bytes"] += section["sh_size"]
        if not runs_here(self._chip):
            return Cell(numbers=numbers)
        (sample,) = random_sample(self._compiled.graph)
        layers = compare(self._compiled, code, sample, self._folder)
        return Cell(numbers=numbers, equal=not layers.mismatches, where="this machine")

    def _run(self, cpu: CpuKind, emit: Emit) -> Cell:
        soc = self._machine if cpu is CpuKind.QEMU else self._chip
        cpu.session().check(None)
        cpu.check_chip(soc)
        compiled, firmware = self._firmware(soc, emit)
        samples = (random_sample(compiled.graph),)
        image = Image(models=(compiled,), elves=firmware.elves)
        (outcome,) = run_image(image, samples, cpu=cpu, accelerator=AcceleratorKind.NONE)
        report = outcome.report
        counts = [layer.instructions for layer in report.by_layer]
        counted = [count for count in counts if count is not None]
        numbers = {"instructions": sum(counted)} if counted else {"cycles": report.total_cycles}
        where = soc.qemu_machine if cpu is CpuKind.QEMU else cpu.value
        return Cell(numbers=numbers, equal=report.passed, where=where)


_MAKE: Mapping[str, Callable[[Row], Cell]] = {
    "compile": Row.compile,
    "link": Row.link,
    "stack": Row.stack,
    "c": Row.c,
    "rtl": lambda row: row.simulate(CpuKind.RTL),
    "iss": lambda row: row.simulate(CpuKind.ISS),
    "qemu": lambda row: row.simulate(CpuKind.QEMU),
}
COLUMNS = {
    "compile": "compile",
    "link": "link",
    "stack": "stack bound",
    "c": "C back end",
    "rtl": "RTL",
    "iss": "ISS",
    "qemu": "QEMU",
}
"""Titles of the columns."""
