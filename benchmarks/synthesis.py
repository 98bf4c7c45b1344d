# SPDX-License-Identifier: Apache-2.0
"""Synthesise engines for Lattice ECP5: cells, memories, multipliers and the longest path.

Run as ``python -m benchmarks.synthesis``; `make synth` does, and writes the table of docs/reef.md.
It takes minutes for each row. A latch or a combinational loop ends it with status 1. What was
made of the same RTL with the same tools is kept in ``build/synth``. With ``--fit FOLDER`` it fits
the model of areas in their place: see `benchmarks.areas`.
"""

import argparse
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from atoll.description.accelerator_files import find_accelerator, load_accelerator
from atoll_sim.chip.sources import find_source
from benchmarks.areas import fit
from benchmarks.synthesis_tools import Cost, Faulty, kept_cost

ROOT = Path(__file__).parents[1]
KEPT = ROOT / "build" / "synth"
DOCUMENT = ROOT / "docs" / "reef.md"
COLUMNS = ("design", "LUT4", "FF", "DP16KD", "DPR16X4", "MULT18X18D", "longest path", "from, to")
HEAD = f"| {' | '.join(COLUMNS)} |"
RULE = "|---" * len(COLUMNS) + "|"

LANES = ((4, 4, 4), (8, 8, 8), (16, 8, 8), (16, 16, 16))
"""Input lanes, output lanes, and as many requantisers."""

FEW = {4: 1, 8: 2, 16: 4}
"""Requantisers of a small reef, by output lanes."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Design:
    """A module with its parameters.

    Attributes:
        name: what the table calls it.
        top: the module.
        sources: names of files, in order.
    """

    name: str
    top: str
    sources: tuple[str, ...]
    parameters: Mapping[str, int]

    def paths(self) -> list[Path]:
        """Return where the files are."""
        return [find_source(name) for name in self.sources]


def designs() -> Iterator[Design]:
    """Yield all rows of the table."""
    for inputs, outputs, every in LANES:
        for requantisers in (every, FEW[outputs]):
            yield reef(inputs, outputs, requantisers)
    yield Design(
        name="reef's unit for SOFTMAX, 8 bytes",
        top="reef_softmax",
        sources=("reef_pkg.sv", "reef_packer.sv", "reef_softmax.sv"),
        parameters={"InputLanes": 8, "DataBytes": 8},
    )
    yield Design(
        name="ripple, 8 bytes", top="ripple", sources=_engine("ripple"), parameters={"DataBytes": 8}
    )
    bus = ("atoll_bus_pkg.sv", "atoll_fifo.sv", "atoll_arbiter.sv", "atoll_merge.sv")
    yield Design(
        name="bus of 3 ports, 8 bytes",
        top="atoll_merge",
        sources=bus,
        parameters={"DataBytes": 8, "NumPorts": 3},
    )
    yield Design(
        name="firewall of 2 + 2 windows",
        top="atoll_firewall",
        sources=("atoll_bus_pkg.sv", "atoll_firewall.sv"),
        parameters={"DataBytes": 8, "NumReadable": 2, "NumWritable": 2},
    )


def reef(inputs: int, outputs: int, requantisers: int) -> Design:
    """Return a reef of some lanes, with the port that they need."""
    return Design(
        name=f"reef {inputs}x{outputs}, {requantisers} of `requantisers`",
        top="reef",
        sources=_engine("reef"),
        parameters={
            "InputLanes": inputs,
            "OutputLanes": outputs,
            "Requantisers": requantisers,
            "WeightRows": 256,
            "DataBytes": max(8, inputs, outputs),
        },
    )


def _engine(name: str) -> tuple[str, ...]:
    rtl = load_accelerator(find_accelerator(name, Path(), None), None).model.rtl
    assert rtl
    return tuple(rtl.sources)


def row(design: Design, cost: Cost) -> str:
    """Return a row of the table."""
    path = f"{cost.path_ns:.1f} ns" if cost.path_ns else ""
    numbers = (f"{cost.cells.get(cell, 0):,}" for cell in Cost.CELLS)
    return f"| {' | '.join((design.name, *numbers, path, cost.ends))} |"


def with_rows(document: str, made: Mapping[str, str]) -> str:
    """Return a document with rows, by name of the design, in its table; it keeps its others."""
    before, rest = document.split(f"{HEAD}\n{RULE}\n")
    table, blank, after = rest.partition("\n\n")
    kept = {line.split(" | ")[0].removeprefix("| "): line for line in table.splitlines()}
    rows = {**kept, **made}
    lines = [rows[design.name] for design in designs() if design.name in rows]
    return "\n".join((before + HEAD, RULE, *lines)) + (blank + after if blank else "\n")


def main(words: Sequence[str] | None = None) -> int:
    """Print the table; the status is 1 if a design has a latch or a loop."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--only", metavar="TEXT", default="", help="rows whose name has this")
    parser.add_argument("--write", action="store_true", help="write the table of docs/reef.md")
    parser.add_argument(
        "--no-place", dest="place", action="store_false", help="count cells only, where not kept"
    )
    parser.add_argument(
        "--fit",
        type=Path,
        metavar="FOLDER",
        help="fit areas to this checkout of a library of cells",
    )
    arguments = parser.parse_args(words)
    if arguments.fit:
        fit(arguments.fit, KEPT, lambda line: print(line, flush=True))
        return 0
    chosen = [design for design in designs() if arguments.only in design.name]
    rows: dict[str, str] = {}
    print(HEAD, RULE, sep="\n")
    for design in chosen:
        try:
            given = (design.top, design.paths(), design.parameters)
            cost = kept_cost(KEPT, *given, place=arguments.place)
        except Faulty as fault:
            print(f"{design.name}: {fault}", file=sys.stderr)
            return 1
        rows[design.name] = row(design, cost)
        print(rows[design.name], flush=True)
    if arguments.write:
        DOCUMENT.write_text(with_rows(DOCUMENT.read_text(), rows))
    return 0


if __name__ == "__main__":
    sys.exit(main())
