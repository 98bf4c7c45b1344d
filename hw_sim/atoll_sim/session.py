"""Who plays the cores of a chip, and what each kind of them promises."""

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import Protocol, Self

from atoll.pipeline import Compiled
from atoll.plugins import load
from atoll.progress import Progress, silent
from atoll.resolve.soc import ResolvedSoc
from atoll.samples import Sample
from atoll_sim.trace.simulation import SimResult
from atoll_sim.waves.request import Waves


class AcceleratorKind(StrEnum):
    """Who plays the accelerators."""

    RTL = "rtl"
    MODEL = "model"
    NONE = "none"


@dataclass(frozen=True, slots=True, kw_only=True)
class Work:
    """What a session runs.

    Attributes:
        models: networks that run in turn, as one firmware; at least one.
        samples: of each network; all have the same number.
        elves: the firmware, the host's first; empty for a session that runs none.
        accelerator: who plays the accelerators.
        progress: told what goes on.
        waves: waveforms to record.
    """

    models: Sequence[Compiled]
    samples: Sequence[Sequence[Sample]]
    elves: Sequence[Path] = ()
    accelerator: AcceleratorKind
    progress: Progress = silent
    waves: Waves | None = None

    @property
    def engines_in_rtl(self) -> bool:
        """Whether there are engines that RTL plays."""
        return self.accelerator is AcceleratorKind.RTL and bool(self.models[0].soc.engines)


class Session(Protocol):
    """A kind of cores: how networks run on it."""

    @property
    def runs_firmware(self) -> bool:
        """Whether it runs the linked image, which must then be built before."""
        ...

    def check(self, accelerator: AcceleratorKind, waves: Waves | None) -> None:
        """Refuse what cannot be combined with these cores.

        Raises:
            UsageError: E089, E095.
        """
        ...

    def check_chip(self, soc: ResolvedSoc) -> None:
        """Refuse a chip that these cores cannot be played on, before anything is built.

        Raises:
            SimulationError: E070; E080 to E083, E113; E102; E103.
        """
        ...

    def run(self, work: Work) -> SimResult:
        """Run all samples, and tell what every operator wrote and every device accessed."""
        ...


class CpuKind(StrEnum):
    """Who plays the cores: the word of ``--cpu``, and the class of the session."""

    entry: str

    RTL = "rtl", "atoll_sim.simulate.run:RtlSession"
    ISS = "iss", "atoll_sim.iss.run:IssSession"
    QEMU = "qemu", "atoll_sim.qemu.run:QemuSession"
    NATIVE = "native", "atoll_sim.host.run:NativeSession"

    def __new__(cls, word: str, entry: str) -> Self:
        """Keep the session beside the word."""
        made = str.__new__(cls, word)
        made._value_ = word
        made.entry = entry
        return made

    def session(self) -> Session:
        """Return the session; its room is imported only now."""
        session: Session = load(self.entry)()
        return session
