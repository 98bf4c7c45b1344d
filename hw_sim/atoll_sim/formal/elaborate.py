# SPDX-License-Identifier: Apache-2.0
"""Turn RTL with its properties into an and-inverter graph, with Yosys; a process of its own.

Run as ``python -m atoll_sim.formal.elaborate TOP CLOCKS [RESET]`` in a folder whose file
``sources.f`` names what slang reads. Writes there ``model.aig``, ``map.json``, which names its
inputs and outputs, and ``properties``, one name a line. Inputs of the top module are free in each
cycle, registers begin with any value, but those with an initial value. CLOCKS is ``one`` or
``several``; several clocks are inputs that may have an edge, or not, in each step. RESET is an
input that was low for some cycles before the first one, and is high from then on.
"""

import sys
from pathlib import Path

from pyosys import libyosys

READ = "read_slang --no-default-translate-off-format --incdir-first -f sources.f"
PREPARE = (
    *("hierarchy", "proc", "flatten", "cutpoint -blackbox", "setundef -undriven -anyseq"),
    *("prep", "delete -output", "memory_map"),
)
"""A signal that nobody drives has any value in each step."""
CLOCKS = {
    "one": ("async2sync", "chformal -lower"),
    "several": ("clk2fflogic",),
}
RESET = (
    "sim -q -w -clock clk_i -resetn {reset} -rstlen 6 -n 8",
    *("delete -input {reset}", "connect -set {reset} 1'1"),
)
"""Registers begin with what reset leaves in them; what it leaves unknown is any value."""
LOWER = (
    *("formalff -clk2ff -ff2anyinit", "setattr -set keep 1 t:$assert t:$assume"),
    *("setundef -undriven -anyseq", "opt -full -nodffe -nosdff", "techmap"),
    *("opt -full -nodffe -nosdff", "simplemap", "abc -g AND", "opt_clean"),
    "write_aiger -I -B -zinit -ywmap map.json model.aig",
)
"""From gates to the graph. What follows `-ff2anyinit` may not choose a register's first value, and
`keep` keeps two properties that say the same apart."""


def elaborate(top: str, clocks: str, reset: str | None = None) -> None:
    """Write the graph of a module, in the current folder."""
    design = libyosys.Design()
    begin = [line.format(reset=reset) for line in RESET] if reset else []
    for line in (f"{READ} --top {top}", *PREPARE, *CLOCKS[clocks], *begin):
        libyosys.run_pass(line, design)
    libyosys.run_pass("tee -q -o listed select -list t:$assert", design)
    names = [line.partition("/")[2] for line in Path("listed").read_text().split()]
    Path("properties").write_text("\n".join(names))
    for line in LOWER:
        libyosys.run_pass(line, design)


if __name__ == "__main__":
    elaborate(*sys.argv[1:])
