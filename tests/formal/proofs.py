# SPDX-License-Identifier: Apache-2.0
"""The modules that are proven; `faults.yaml` has what their specifications must refute."""

import re
from collections.abc import Iterator
from pathlib import Path

import yaml

from atoll.records import dataclass
from atoll_sim.chip.sources import RTL
from atoll_sim.formal.prove import Design, Verdict, decide

FOLDER = Path(__file__).with_name("rtl")
FAULTS = Path(__file__).with_name("faults.yaml")
PROPERTY = re.compile(r"((?: *//[^\n]*\n)+) *(\w+) *: *(assert|assume)\b")
ASSERTED = re.compile(r"Asserted: (\w+)\.(\w+)")


@dataclass(frozen=True)
class Fault:
    """A change of the RTL that a proof must refute.

    Attributes:
        name: What is wrong then, in a few words.
        breaks: The property that breaks, maybe beside others.
        text: Stands once in the RTL of the proof.
        instead: What stands there then.
    """

    name: str
    breaks: str
    text: str
    instead: str


@dataclass(frozen=True)
class Proof:
    """A module and what is shown of it.

    Attributes:
        module: Its name without `atoll_`; the specification is the module `proof_NAME`.
        parts: The modules that it consists of, likewise.
        depth: Cycles from the first one, or None if the proof is unbounded.
        parameters: Of the specification; with them the proof has another name.
        several_clocks: It has more than one clock.
        models: Parts for which a model of the same name stands.
        others: Other modules of the specification.
        shared: Lists of faults, beside its own.
    """

    module: str
    parts: tuple[str, ...] = ()
    depth: int | None = None
    parameters: tuple[tuple[str, int], ...] = ()
    several_clocks: bool = False
    models: tuple[str, ...] = ()
    others: tuple[str, ...] = ()
    shared: tuple[str, ...] = ()

    @property
    def name(self) -> str:
        """What the proof is called: the module, with the parameters."""
        return "-".join((self.module, *(f"{name}={value}" for name, value in self.parameters)))

    @property
    def faults(self) -> tuple[Fault, ...]:
        """What it must refute."""
        lists = yaml.safe_load(FAULTS.read_text())
        return tuple(Fault(**each) for name in (*self.shared, self.name) for each in lists[name])

    @property
    def specifications(self) -> tuple[Path, ...]:
        """The files of the properties."""
        return tuple(FOLDER / f"{name}.sv" for name in (*self.others, f"proof_{self.module}"))

    @property
    def rtl(self) -> tuple[Path, ...]:
        """The files of the module and its parts."""
        return tuple(RTL / f"atoll_{name}.sv" for name in (*self.parts, self.module))

    @property
    def properties(self) -> dict[str, str]:
        """The labels of the specification's properties, and what each says."""
        return dict(self._statements("assert"))

    @property
    def assumptions(self) -> dict[str, str]:
        """The labels of its assumptions, and what each says, with where a simulation asserts it."""
        return dict(self._statements("assume"))

    def _statements(self, kind: str) -> Iterator[tuple[str, str]]:
        for file in self.specifications:
            for comment, label, which in PROPERTY.findall(file.read_text()):
                if which == kind:
                    yield label, " ".join(line.strip(" /") for line in comment.splitlines())

    def design(self, rtl: tuple[Path, ...] | None = None) -> Design:
        """Return what is proven, with other files of the RTL if they are given."""
        return Design(
            top=f"proof_{self.module}",
            sources=(
                RTL / "atoll_bus_pkg.sv",
                *(FOLDER / f"atoll_{name}.sv" for name in self.models),
                *(rtl or self.rtl),
                *self.specifications,
            ),
            includes=(FOLDER, RTL),
            parameters=self.parameters,
            several_clocks=self.several_clocks,
        )


def broken_by(verdict: Verdict) -> frozenset[str]:
    """Return the labels of the specification's properties that a verdict refutes."""
    own = (name for name in verdict.refuted if not name.startswith("u_dut."))
    return frozenset(name.rpartition(".")[2] for name in own)


def prove(proof: Proof) -> Verdict:
    """Prove a module as it is."""
    return decide(proof.design(), depth=proof.depth)


def refute(proof: Proof, fault: Fault, folder: Path) -> Verdict:
    """Plant a fault in a copy of the RTL in a folder, and try to prove that.

    Raises:
        ValueError: The text that the fault changes does not stand there once.
    """
    texts = {path: path.read_text() for path in proof.rtl}
    if (count := sum(text.count(fault.text) for text in texts.values())) != 1:
        raise ValueError(f"'{fault.text}' stands {count} times in the RTL of {proof.module}")
    for path, text in texts.items():
        (folder / path.name).write_text(text.replace(fault.text, fault.instead))
    copies = tuple(folder / path.name for path in proof.rtl)
    return decide(proof.design(copies), depth=proof.depth)


SERIAL = ("word_access",)
"""Where the faults are that the adapters share which make one access at a time."""
PROOFS = (
    Proof("arbiter"),
    Proof("firewall"),
    Proof("demux"),
    Proof("merge", parts=("arbiter", "fifo"), others=("watched_order",)),
    Proof("view"),
    Proof("bus_to_apb", parts=SERIAL, others=("register_access",), shared=SERIAL),
    Proof("bus_to_axil", parts=("rest_clock",), others=("register_access",)),
    Proof("bus_to_obi", parts=SERIAL, others=("register_access",), shared=SERIAL),
    Proof("bus_to_wishbone", parts=SERIAL, others=("register_access",), shared=SERIAL),
    Proof("obi_to_bus", parts=("fifo",), others=("watched_order",)),
    *(
        Proof(
            "wishbone_to_bus",
            parts=("fifo",),
            parameters=(("Pipelined", pipelined),),
            others=("watched_order",),
            shared=("wishbone_to_bus",),
        )
        for pipelined in (0, 1)
    ),
    Proof("axil_to_bus", parts=("fifo",), depth=12),
    Proof("axi_to_bus", parts=("rest_clock", "fifo", "axi_burst"), depth=12),
    Proof("fifo"),
    Proof("async_fifo", several_clocks=True, models=("synchroniser",)),
    Proof("bus_crossing", parts=("async_fifo",), several_clocks=True, models=("synchroniser",)),
)
