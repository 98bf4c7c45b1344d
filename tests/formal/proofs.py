# SPDX-License-Identifier: Apache-2.0
"""The modules that are proven, and the faults that their specifications must refute."""

import re
from collections.abc import Iterator
from pathlib import Path

from atoll.records import dataclass
from atoll_sim.chip.sources import RTL
from atoll_sim.formal.prove import Design, Verdict, decide

FOLDER = Path(__file__).with_name("rtl")
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
        faults: What is refuted.
        parts: The modules that it consists of, likewise.
        depth: Cycles from the first one, or None if the proof is unbounded.
        several_clocks: It has more than one clock.
        others: Files of the specification, beside its own.
        unbroken: Properties that no planted fault breaks, with the reason.
    """

    module: str
    faults: tuple[Fault, ...]
    parts: tuple[str, ...] = ()
    depth: int | None = None
    several_clocks: bool = False
    others: tuple[str, ...] = ()
    unbroken: tuple[str, ...] = ()

    @property
    def specification(self) -> Path:
        """The file of the properties."""
        return FOLDER / f"proof_{self.module}.sv"

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
        for file in (self.specification, *(FOLDER / f"{name}.svh" for name in self.others)):
            for comment, label, which in PROPERTY.findall(file.read_text()):
                if which == kind:
                    yield label, " ".join(line.strip(" /") for line in comment.splitlines())

    def design(self, rtl: tuple[Path, ...] | None = None) -> Design:
        """Return what is proven, with other files of the RTL if they are given."""
        return Design(
            top=f"proof_{self.module}",
            sources=(RTL / "atoll_bus_pkg.sv", *(rtl or self.rtl), self.specification),
            includes=(FOLDER, RTL),
            several_clocks=self.several_clocks,
        )


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


ARBITER = Proof(
    "arbiter",
    (
        Fault("served again", "in_turn", "after_q <= ~(grant_o |", "after_q <= ~('0 |"),
        Fault(
            "the turn skips",
            "fair",
            "~(grant_o | (grant_o - NumPorts'(1)))",
            "~grant_o",
        ),
        Fault("fixed priority", "fair", "else if (taken_i) after_q", "else if (1'b0) after_q"),
        Fault("several grants", "one_grant", "first & (~first + NumPorts'(1))", "first"),
        Fault(
            "the turn ends without service",
            "in_turn",
            "else if (taken_i) after_q",
            "else if (|request_i) after_q",
        ),
        Fault(
            "an idle port is granted", "only_requesters", "? request_i & after_q :", "? after_q :"
        ),
        Fault("no second round", "nobody_idle", "after_q : request_i;", "after_q : '0;"),
    ),
)

FIREWALL = Proof(
    "firewall",
    (
        Fault(
            "a byte past the window",
            "only_reachable",
            "last <= readable_i[i].last",
            "first <= readable_i[i].last",
        ),
        Fault(
            "writes by permission to read",
            "only_reachable",
            "mst_we_i ? |writable : |readable;\n  assign busy",
            "|readable;\n  assign busy",
        ),
        Fault(
            "a place is not asked for",
            "only_mapped",
            "writable[i] = mst_mapped_i && ",
            "writable[i] = ",
        ),
        Fault(
            "the last byte is outside",
            "reachable_passes",
            "last <= writable_i[i].last",
            "last < writable_i[i].last",
        ),
        Fault("denials overtake", "denied_waits", "!hit && !busy && !deny_q", "!hit && !deny_q"),
        Fault(
            "denials follow each other", "denied_waits", "!hit && !busy && !deny_q", "!hit && !busy"
        ),
        Fault(
            "a denial waits for ever",
            "denied_is_taken",
            "if (!asked && bus_rvalid_i)",
            "if (!asked && bus_rvalid_i && !failed)",
        ),
        Fault(
            "a denied read sees the bus",
            "denied_leaks_nothing",
            "deny_q || failed ? '0",
            "failed ? '0",
        ),
        Fault(
            "a denial looks right",
            "denied_leaks_nothing",
            "deny_q ? RespDecode : bus_resp_i",
            "bus_resp_i",
        ),
        Fault(
            "an answer is lost",
            "answers_pass",
            "bus_rvalid_i || deny_q;",
            "(bus_rvalid_i && !mst_valid_i) || deny_q;",
        ),
        Fault("a failed read shows data", "data_pass", "deny_q || failed ? '0", "deny_q ? '0"),
        Fault(
            "a denial is not told",
            "denials_told",
            "hit ? bus_ready_i : blocked_o",
            "hit ? bus_ready_i : !busy",
        ),
        Fault(
            "a later denial is kept",
            "kept_as_it_was",
            "(blocked_o || failed) && (!violated_o || clear_i)",
            "(blocked_o || failed)",
        ),
        Fault(
            "clearing wins over a denial",
            "first_is_kept",
            "(!violated_o || clear_i)",
            "!clear_i && !violated_o",
        ),
    ),
)

PROOFS = (ARBITER, FIREWALL)
