# SPDX-License-Identifier: Apache-2.0
"""Who plays the cores of a chip, and what each kind of them promises."""

from collections.abc import Mapping, Sequence
from dataclasses import field
from enum import StrEnum
from pathlib import Path
from typing import Protocol, Self

from atoll.artifacts.samples import Sample
from atoll.diagnostics.errors import UsageError
from atoll.diagnostics.progress import Progress, silent
from atoll.driver.pipeline import Compiled
from atoll.plugins.loading import load
from atoll.records import dataclass
from atoll.resolve.soc import Engine, ResolvedSoc
from atoll_sim.trace.simulation import USUAL, Conditions, OwnBench, SimResult
from atoll_sim.waves.request import Waves


class AcceleratorKind(StrEnum):
    """Who plays the accelerators."""

    RTL = "rtl"
    MODEL = "model"
    NONE = "none"


@dataclass(frozen=True, slots=True)
class Backends:
    """Who plays each accelerator and DMA engine.

    Attributes:
        kind: of those that are not named.
        named: by the device's name.
        asked: somebody asked for `kind`: models do not stand in for RTL that there is not.
    """

    kind: AcceleratorKind = AcceleratorKind.RTL
    named: Mapping[str, AcceleratorKind] = field(default_factory=dict)
    asked: bool = False

    def models(self, soc: ResolvedSoc) -> frozenset[str]:
        """Return the engines that software models play: also those of which there is no RTL."""
        return frozenset(engine.name for engine in soc.engines if not self._in_rtl(engine))

    def _in_rtl(self, engine: Engine) -> bool:
        kind = self.named.get(engine.name, self.kind)
        return kind is AcceleratorKind.RTL and not _lacks_rtl(engine)

    def check(self, soc: ResolvedSoc) -> None:
        """Refuse names that are no engine's, and RTL that there is not.

        Raises:
            UsageError: E163.
        """
        names = [engine.name for engine in soc.engines]
        for name in self.named:
            if name not in names:
                listed = ", ".join(names) or "none"
                what = f"'{soc.name}' has no accelerator or DMA engine '{name}'"
                raise UsageError("E163", what, remedy=f"name one of its engines: {listed}")
        for engine in soc.engines:
            kind = self.named.get(engine.name, self.kind if self.asked else None)
            if kind is AcceleratorKind.RTL and (lacking := _lacks_rtl(engine)):
                what, helps = lacking
                remedy = f"use --accelerator {engine.name}=model{helps}"
                raise UsageError("E163", what, at=engine.at, remedy=remedy)

    def __str__(self) -> str:
        named = (f"{name}={kind}" for name, kind in sorted(self.named.items()))
        return ", ".join((self.kind, *named))


def _lacks_rtl(engine: Engine) -> tuple[str, str] | None:
    """Return of what of an engine there is no RTL, and what else helps than a model."""
    if not engine.spec.rtl_module:
        what = f"there is no RTL of accelerator '{engine.spec.name}', which '{engine.name}' is"
        return what, ", or write 'rtl' into its YAML"
    if engine.cache:
        return f"there is no RTL of the data cache of '{engine.name}'", ""
    return None


@dataclass(frozen=True, slots=True, kw_only=True)
class Written:
    """What a run in RTL writes beside its report.

    Attributes:
        waves: waveforms to record.
        coverage: folder to which what is reached is added.
    """

    waves: Waves | None = None
    coverage: Path | None = None


NOTHING_WRITTEN = Written()


@dataclass(frozen=True, slots=True, kw_only=True)
class Work:
    """What a session runs.

    Attributes:
        models: networks that run in turn, as one firmware; at least one.
        samples: of each network; all have the same number.
        elves: the firmware, the host's first; empty for a session that runs none.
        backends: who plays the accelerators.
        progress: told what goes on.
        written: what a run in RTL writes beside its report.
        conditions: under which RTL runs.
        bench: a user's test that runs beside the firmware, in RTL only.
    """

    models: Sequence[Compiled]
    samples: Sequence[Sequence[Sample]]
    elves: Sequence[Path] = ()
    backends: Backends = Backends()
    progress: Progress = silent
    written: Written = NOTHING_WRITTEN
    conditions: Conditions = USUAL
    bench: OwnBench | None = None

    @property
    def modelled(self) -> frozenset[str]:
        """The engines that software models play."""
        return self.backends.models(self.models[0].soc)

    @property
    def engines_in_rtl(self) -> bool:
        """Whether there are engines that RTL plays."""
        return any(engine.name not in self.modelled for engine in self.models[0].soc.engines)


class Session(Protocol):
    """A kind of cores: how networks run on it."""

    @property
    def runs_firmware(self) -> bool:
        """Whether it runs the linked image, which must then be built before."""
        ...

    def check(self, waves: Waves | None) -> None:
        """Refuse what cannot be combined with these cores.

        Raises:
            UsageError: E070, E089.
        """
        ...

    def run(self, work: Work) -> SimResult:
        """Run all samples, and tell what every operator wrote and every device accessed."""
        ...


class CpuKind(StrEnum):
    """Who plays the cores: the word of ``--cpu``, the class of the session, what refuses chips."""

    entry: str
    needs: str

    RTL = "rtl", "atoll_sim.simulate.rtl_run:RtlSession", "atoll_sim.chip.plan:check_chip"
    ISS = "iss", "atoll_sim.iss.iss_run:IssSession", "atoll_sim.iss.supported:check_chip"
    QEMU = "qemu", "atoll_sim.qemu.qemu_run:QemuSession", "atoll_sim.qemu.supported:check_chip"
    NATIVE = "native", "atoll_sim.host.native_run:NativeSession", ""

    def __new__(cls, word: str, entry: str, needs: str) -> Self:
        """Keep the session, and what it needs of a chip, beside the word."""
        made = str.__new__(cls, word)
        made._value_ = word
        made.entry, made.needs = entry, needs
        return made

    def check_chip(self, soc: ResolvedSoc) -> None:
        """Refuse a chip that these cores cannot be played on, before anything is built.

        No session is imported. A native core plays any chip that can be built.

        Raises:
            SimulationError: E080 to E083, E113; E102; E103.
            ToolchainError: E070; this machine lacks a tool.
        """
        if self.needs:
            load(self.needs)(soc)

    def session(self) -> Session:
        """Return the session; its room is imported only now."""
        session: Session = load(self.entry)()
        return session
