# SPDX-License-Identifier: Apache-2.0
"""How RTL is written, where Verible's rules say nothing."""

import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from atoll_sim.chip.sources import FOLDERS, RTL

TESTS = Path(__file__).parents[2]
WRITTEN = (
    *FOLDERS,
    RTL.with_name("chip") / "templates",
    TESTS / "benches/rtl",
    TESTS / "rtl/data",
    TESTS / "formal/rtl",
)
COLUMNS = 120


def long_lines(path: Path) -> Iterator[str]:
    for number, line in enumerate(path.read_text().splitlines(), start=1):
        if len(line) > COLUMNS:
            yield f"{path.name}:{number}"


@pytest.mark.parametrize("folder", WRITTEN, ids=lambda folder: folder.name)
def test_no_line_is_long_comments_included(folder: Path) -> None:
    paths = [path for path in folder.iterdir() if {".sv", ".svh", ".vlt"} & {*path.suffixes}]
    assert not [line for path in sorted(paths) for line in long_lines(path)]


def test_every_long_line_is_found(tmp_path: Path) -> None:
    path = tmp_path / "long.sv"
    path.write_text(f"//{'x' * 118}\n//{'x' * 119}\n")
    assert [*long_lines(path)] == ["long.sv:2"]


def test_every_assertion_is_one_of_the_macros() -> None:
    """So synthesis sees none, and what checks parameters is seen by every tool."""
    texts = {path: path.read_text() for folder in FOLDERS for path in folder.glob("*.sv")}
    assert not [path.name for path, text in texts.items() if "assert property" in text]


NOT_AT_REST = {
    "engine_check": {"check_q <= Start"},
    "engine_clock": {"tail_q <= '1"},
    "engine_control": {"fault_q <= '{valid: 1'b0, error: ErrNone, address: '0}"},
    "reef_softmax": {"greatest_q <= 8'h80"},
    "reef_writer": {"opens_q <= '1"},
    "atoll_axi_to_bus": {"read_credit_q <= CountBits'(Depth)"},
    "atoll_axil_to_bus": {
        "read_credit_q <= CountBits'(Depth)",
        "write_credit_q <= CountBits'(Depth)",
    },
    "atoll_core_local": {"compare_q <= '1"},
    "atoll_device_monitor": {"reset_q <= 1'b1"},
    "atoll_mailbox": {"run_q <= !Holds"},
    "atoll_throttle": {"draw_q <= FirstDraw"},
    "atoll_reset_sync": {"stages_q <= {stages_q[Stages-2:0], 1'b1}"},
    "atoll_watchdog": {"running_q <= 1'b1"},
}
"""Registers that a reset sets to neither 0, nor the first state, nor an answer without an error."""

RESET = re.compile(r"if \(!\w*rst\w*\) (?:begin\n(.*?)\n\s*end\b|([^;]*;))", re.DOTALL)
ASSIGNED = re.compile(r"(\S+)\s*<=\s*([^;]+);")


def reset_values(text: str) -> Iterator[tuple[str, str]]:
    """Yield the registers that a module resets, and to what."""
    for block in RESET.finditer(text):
        for found in ASSIGNED.finditer(block[1] or block[2]):
            yield found[1], found[2]


def test_after_a_reset_nothing_is_under_way() -> None:
    """A register that begins with something else hangs a port, which only a whole chip shows."""
    texts = {path.stem: path.read_text() for folder in FOLDERS for path in folder.glob("*.sv")}
    values = {name: [*reset_values(text)] for name, text in texts.items()}
    assert sum(map(len, values.values())) > 200
    rest = {"'0", "1'b0", "StIdle", "StGreatest", "Okay", "RespOkay"}
    found = {
        name: {f"{register} <= {value}" for register, value in pairs if value not in rest}
        for name, pairs in values.items()
    }
    assert {name: odd for name, odd in found.items() if odd} == NOT_AT_REST
