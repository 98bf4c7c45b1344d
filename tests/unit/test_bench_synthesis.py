# SPDX-License-Identifier: Apache-2.0
"""What `make synth` reads out of nextpnr's report, and the table of docs/reef.md."""

import re
from pathlib import Path
from typing import Any

from benchmarks.synthesis import DOCUMENT, HEAD, RULE, designs, row, with_rows
from benchmarks.synthesis_tools import TOO_LARGE, Cost, longest

PLACE = r"`[\w.\[\]]+`"
ENDS = rf"\d+\.\d ns \| {PLACE}, {PLACE}| \| (does not fit|not placed)"
ROW = re.compile(rf"\| [^|]+ \|( [\d,]+ \|){{{len(Cost.CELLS)}}} ({ENDS}) \|")


def path(start: str, end: str, *steps: tuple[str, float]) -> dict[str, Any]:
    cells = [cell for cell, _ in steps]
    walk = [
        {"from": {"cell": left}, "to": {"cell": right}, "delay": delay}
        for (left, delay), right in zip(steps, [*cells[1:], cells[-1]], strict=True)
    ]
    return {"from": start, "to": end, "path": walk}


def test_the_longest_path_is_between_registers() -> None:
    clock = "posedge clk_i"
    short = path(clock, clock, ("u_a.b_q_TRELLIS_FF_Q", 3.0), ("u_a.c", 0.5))
    long = path(clock, clock, ("u_a.u_b.u_c.u_d.e_q_TRELLIS_FF_Q_3", 2.25), ("u_a.rows.0.1", 2.0))
    outside = path("async", clock, ("u_z.g_LUT4_Z", 9.0), ("u_z.h", 1.0))
    found = longest({"critical_paths": [short, long, outside]})
    assert found == {"path_ns": 4.2, "ends": "`u_a.u_b.e_q`, `u_a.rows`"}


def test_a_row_says_what_does_not_fit() -> None:
    cost = Cost(cells={"LUT4": 12345}, ends=TOO_LARGE)
    made = row(next(designs()), cost)
    assert made.endswith("| 12,345 | 0 | 0 | 0 | 0 |  | does not fit |")
    assert ROW.fullmatch(made)


def test_only_rows_that_were_made_are_written_anew() -> None:
    small, large = (design.name for design in [*designs()][:2])
    table = f"{HEAD}\n{RULE}\n"
    old = f"a\n\n{table}| {large} | old |\n| no design | old |\n\nb\n"
    new = with_rows(old, {small: f"| {small} | new |"})
    assert new == f"a\n\n{table}| {small} | new |\n| {large} | old |\n\nb\n"
    assert with_rows(f"a\n\n{table}", {small: "| x |"}) == f"a\n\n{table}| x |\n"


def test_rows_of_the_document_are_of_designs() -> None:
    text = Path(DOCUMENT).read_text()
    rows = text.split(f"{HEAD}\n{RULE}\n")[1].split("\n\n")[0].splitlines()
    names = [each.split(" | ")[0].removeprefix("| ") for each in rows]
    assert names == [design.name for design in designs() if design.name in names]
    assert len(names) >= 4
    assert [each for each in rows if not ROW.fullmatch(each)] == []
