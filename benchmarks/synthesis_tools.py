# SPDX-License-Identifier: Apache-2.0
"""Yosys and nextpnr, which come as WebAssembly from PyPI: checks, cells and the longest path."""

import json
import re
import shutil
import subprocess
import sys
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from hashlib import sha256
from importlib.metadata import version
from pathlib import Path
from typing import Any, ClassVar

from atoll.utils.cache import cache_folder, only_builder
from atoll_sim.chip.sources import RTL

# Any warning is an error. Casts that only some parameters need stay, and so does a default beside
# all cases, which is the style. PicoRV32 is taken as its authors publish it.
READ = """
read_slang -j 1 -D SYNTHESIS -Wextra -Wno-useless-cast -Wno-case-redundant-default -Werror \\
  --suppress-warnings picorv32.v --blackboxed-module picorv32 --top {top} {files}
"""
READ_ANY = """
read_slang -j 1 -D SYNTHESIS -I . --best-effort-hierarchy --top {top} {files}
"""
CHECK = """
proc
opt
check -assert
select -assert-none t:$dlatch t:$adlatch t:$dlatchsr
select -assert-none t:$aldff t:$aldffe
dump -o netlist
"""
MAP = """
synth_ecp5 -top {top} -json mapped.json
check -assert
tee -q -o cells.json stat -json
"""
# A signal that nothing drives.
UNDRIVEN = re.compile(r"^  connect .*'[01]*x", re.MULTILINE)

DEVICE = ("--85k", "--package", "CABGA756", "--speed", "6")
"""The largest ECP5."""

PLACE = (
    *DEVICE,
    *("--json", "mapped.json", "--out-of-context", "--freq", "50", "--timing-allow-fail"),
    *("--report", "timing.json", "--seed", "1"),
)


TOO_LARGE = "does not fit"


class Faulty(Exception):  # noqa: N818
    """A design has a latch, a loop, or an undriven signal, or a tool refused it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Cost:
    """What a design takes of an ECP5.

    Attributes:
        cells: how many, by kind.
        path_ns: the longest path, placed and routed; 0 where there is none.
        ends: where it begins and ends, or why there is none.
    """

    CELLS: ClassVar = ("LUT4", "TRELLIS_FF", "DP16KD", "TRELLIS_DPR16X4", "MULT18X18D")

    cells: Mapping[str, int]
    path_ns: float = 0
    ends: str = "not placed"


class Synthesis:
    """The tools in a folder of its own: they do not see /tmp."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        folder.mkdir(parents=True, exist_ok=True)
        with only_builder(cache_folder() / "yosys"):
            self.call("yosys", "-V")

    def call(self, tool: str, *arguments: str) -> str:
        """Return what a tool printed; it is compiled when it is called for the first time."""
        program = Path(sys.executable).with_name(f"yowasp-{tool}")
        done = subprocess.run(
            [str(program), *arguments],
            cwd=self.folder,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            check=False,
        )
        return done.stdout if done.returncode == 0 else f"failed:\n{done.stdout}"

    def faults(
        self, top: str, rtl: Sequence[Path], parameters: Mapping[str, int] = {}, more: str = ""
    ) -> str:
        """Return what is wrong with `top`, nothing if it is fine; `more` are steps if it is."""
        said = self._yosys(READ + CHECK + more, top, rtl, parameters)
        if said.startswith("failed"):
            return said
        undriven = UNDRIVEN.search((self.folder / "netlist").read_text())
        return f"undriven: {undriven[0]}" if undriven else ""

    def cost(
        self, top: str, rtl: Sequence[Path], parameters: Mapping[str, int], *, place: bool = True
    ) -> Cost:
        """Return what `top` takes, and leave the tools' files in the folder.

        Raises:
            Faulty: it cannot be made.
        """
        counted = self.folder / "cells.json"
        if not counted.exists() and (fault := self.faults(top, rtl, parameters, MAP)):
            raise Faulty(fault)
        (module,) = json.loads(counted.read_text())["modules"].values()
        cells = {kind: module["num_cells_by_type"].get(kind, 0) for kind in Cost.CELLS}
        return Cost(cells=cells, **(self._place() if place else {}))

    def _place(self) -> dict[str, Any]:
        """Place and route what was mapped; return its longest path."""
        report = self.folder / "timing.json"
        report.unlink(missing_ok=True)
        with only_builder(cache_folder() / "nextpnr"):
            self.call("nextpnr-ecp5", "-V")
        said = self.call("nextpnr-ecp5", *PLACE)
        if report.exists():
            return longest(json.loads(report.read_text()))
        if "no bels remaining" not in said.lower():
            raise Faulty(said)
        return {"ends": TOO_LARGE}

    def read(
        self,
        top: str,
        rtl: Sequence[Path],
        parameters: Mapping[str, int],
        steps: str,
        included: Iterable[Path] = (),
    ) -> None:
        """Read `top` with its hierarchy and without warnings, and do `steps`.

        Raises:
            Faulty: a tool refused it.
        """
        for path in included:
            shutil.copy(path, self.folder)
        said = self._yosys(READ_ANY + steps, top, rtl, parameters)
        if said.startswith("failed"):
            raise Faulty(said)

    def _yosys(
        self, steps: str, top: str, rtl: Sequence[Path], parameters: Mapping[str, int]
    ) -> str:
        for path in (*rtl, *RTL.glob("*.svh")):
            shutil.copy(path, self.folder)
        given = (f"-G {name}={value}" for name, value in parameters.items())
        files = " ".join((*given, *(path.name for path in rtl)))
        (self.folder / "steps").write_text(steps.format(top=top, files=files))
        return self.call("yosys", "-e", ".", "-s", "steps")


def kept_cost(
    folder: Path, top: str, rtl: Sequence[Path], parameters: Mapping[str, int], *, place: bool
) -> Cost:
    """Return what `top` takes, from `folder` if the same RTL was made before.

    Raises:
        Faulty: it cannot be made.
    """
    texts = [path.read_text() for path in (*rtl, *sorted(RTL.glob("*.svh")))]
    tools = [version(f"yowasp-{name}") for name in ("yosys", "nextpnr-ecp5")]
    told = repr((texts, sorted(parameters.items()), tools, READ, CHECK, MAP, PLACE))
    made = folder / f"{top}_{sha256(told.encode()).hexdigest()[:16]}"
    kept = made / "cost.json"
    if not kept.exists():
        cost = Synthesis(made).cost(top, rtl, parameters, place=place)
        if not place:
            return cost
        kept.write_text(json.dumps(asdict(cost), indent=2))
    return Cost(**json.loads(kept.read_text()))


def longest(report: Any) -> dict[str, Any]:
    """Return the longest path from one clock edge to the next of a report of nextpnr."""
    paths = [each["path"] for each in report["critical_paths"] if _within_clock(each)]
    path = max(paths, key=_delay)
    ends = _place(path[0]["from"]["cell"]), _place(path[-1]["to"]["cell"])
    return {"path_ns": round(_delay(path), 1), "ends": f"{ends[0]}, {ends[1]}"}


def _within_clock(path: Any) -> bool:
    return all(str(path[end]).startswith("posedge") for end in ("from", "to"))


def _delay(path: Sequence[Any]) -> float:
    return sum(float(step["delay"]) for step in path)


def _place(cell: str) -> str:
    """Return the instances in which a cell is, and the signal that it is named for."""
    parts = [part for part in cell.split(".") if not part.isdigit()]
    named = [part for part in parts[:-1] if part.startswith("u_")]
    signal = re.split(r"_(?:TRELLIS|LUT4|CCU2C|PFUMX|L6MUX21|D[IO]_)", parts[-1])[0]
    return f"`{'.'.join((*named[:2], signal))}`"
