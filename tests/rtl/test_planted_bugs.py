# SPDX-License-Identifier: Apache-2.0
"""Bugs planted in engines, a function unit and a core's adapter are named by their kits."""

from pathlib import Path

import pytest
from benchmarks.planted import Verdict, read_bugs, run_together, summary
from benchmarks.planted_trials import (
    Bug,
    Said,
    plant,
    read_error,
    try_core,
    try_engine,
    try_unit,
)

from atoll.diagnostics.errors import SimulationError

BUGS = {(bug.engine, bug.name): bug for bug in read_bugs()}
FOUND = {
    ("widget", "failed after reset"): ("A5 ", "STATUS of first reads 0x4"),
    ("widget", "request withdrawn"): ("A7 ", "at m_obi_req"),
    ("widget", "bytes over the end"): ("M3 ", "goes on past the end of"),
    ("plover", "end before the last word"): ("A5 ", "answers a read of OUT with an error"),
    ("tern", "counts two for one"): ("A8 ", "COMPLETED of first counts"),
    ("tern", "address not held"): ("A10 ", "device 'first' breaks an assertion of its RTL"),
}
"""What only a native host in the kit sees, and the rule that names it."""

AFTERWARDS = {
    ("widget", "stop left over"): ("A11 ", "after an abort: sample 0: y_0"),
    ("loom", "ends at once after a fault"): ("A1 ", "of its requests is not answered"),
    ("widget", "unmapped answered well"): ("A5 ", "answers a read of register 0x00c without"),
    ("widget", "status takes writes"): ("A5 ", "answers a write of STATUS without an error"),
    ("widget", "identity changes after work"): ("A5 ", "ID of first reads"),
    ("widget", "initial values instead of reset"): ("A4 ", "and nothing was started since"),
    ("tern", "enable ignored"): ("A4 ", "which the host has not enabled"),
    ("tern", "done kept over starts"): ("A1 ", "STATUS of first reads 0x3"),
}
"""What shows only after failed accesses, aborts, resets, or what no register allows."""

ALONE = {
    ("dot4", "answers nothing"): "call 1: it never answers (A9)",
    ("dot4", "result moves"): "the answer changes before it is taken (A7)",
    ("dot4", "answers twice"): "an answer that nobody asked for (A4)",
    ("picorv32", "loads name all bytes"): "WritesNameTheirBytes failed",
    ("picorv32", "handler elsewhere"): "core picorv32: result 30 is 0x1, not 0x0 (A14)",
    ("picorv32", "ends when taken"): "core picorv32: the core stands still (A14)",
}


@pytest.mark.rtl
@pytest.mark.slow
@pytest.mark.parametrize("key", FOUND, ids=lambda key: " ".join(key))
def test_the_kit_of_an_engine_names_a_planted_bug(key: tuple[str, str]) -> None:
    said = try_engine(key[0], BUGS[key])
    rule, message = FOUND[key]
    assert said.rule.startswith(rule), said
    assert message in said.message


@pytest.mark.rtl
@pytest.mark.slow
@pytest.mark.parametrize("key", AFTERWARDS, ids=lambda key: " ".join(key))
def test_a1_a4_a5_a11_what_a_kit_has_to_provoke_is_named(key: tuple[str, str]) -> None:
    said = try_engine(key[0], BUGS[key])
    rule, message = AFTERWARDS[key]
    assert said.finds
    assert said.rule.startswith(rule), said
    assert message in said.message


@pytest.mark.rtl
@pytest.mark.slow
def test_a11_an_engine_that_keeps_a_failure_to_itself_is_named() -> None:
    silent = Bug(
        *("widget", "failures untold", "completion", "widget.sv"),
        "s_apb_prdata_o = {29'b0, error_q, done_q, busy_q};",
        "s_apb_prdata_o = {30'b0, done_q, busy_q};",
    )
    said = try_engine("widget", silent)
    assert said.rule == "A11 failure not told"
    assert "where input.address is 0x10000000" in said.message


@pytest.mark.rtl
@pytest.mark.slow
@pytest.mark.parametrize("key", ALONE, ids=lambda key: " ".join(key))
def test_a14_the_kit_of_a_unit_or_core_names_a_planted_bug(key: tuple[str, str]) -> None:
    try_bug = try_unit if key[0] == "dot4" else try_core
    said = try_bug(BUGS[key])
    assert said.finds or said.rule == "E087"  # an assertion of a core's adapter has no number
    assert ALONE[key] in said.message


@pytest.mark.rtl
@pytest.mark.slow
def test_without_a_bug_nothing_is_said() -> None:
    assert (try_unit(None), try_core(None)) == (Said(), Said())


@pytest.mark.rtl
@pytest.mark.slow
def test_a_bug_that_stops_the_chip_stands_alone() -> None:
    names = ("done when it starts", "no interrupt")
    verdicts = run_together([BUGS["tern", name] for name in names])
    rules = {each.bug.name: each.said.rule.partition(" ")[0] for each in verdicts}
    assert rules == {"done when it starts": "A10", "no interrupt": "A2"}


def test_a_bug_whose_text_is_gone_is_an_error(tmp_path: Path) -> None:
    (tmp_path / "dot4.sv").write_text("module other; endmodule")
    with pytest.raises(ValueError, match="has its text 0 times"):
        plant(BUGS["dot4", "answers nothing"], tmp_path)


def test_an_error_without_a_number_is_its_code() -> None:
    said = read_error(SimulationError("E088", "device 'npu' did not end its commands (A9)"))
    assert said == Said("A9 (E088)", "device 'npu' did not end its commands (A9)")
    assert read_error(SimulationError("E087", "it broke off\nlog")).rule == "E087"


def test_what_makes_no_difference_counts_only_where_it_is_found() -> None:
    one, other = (Bug("loom", name, "length", "", "", "", "same") for name in "ab")
    missed = Bug("loom", "c", "count", "", "", "")
    verdicts = [
        Verdict(one, "", Said()),
        Verdict(other, "run", Said("A1 done too early", "done too early (A1): device npu")),
        Verdict(missed, "", Said()),
    ]
    text = "\n".join(summary(verdicts))
    assert "| loom | 1 | 2 |" in text
    assert "| count | 0 | 1 |" in text
    assert "1 of 2 found, 1 by run and 0 by a kit; 1 more make no difference" in text


@pytest.mark.parametrize(
    ("rule", "message", "finds"),
    [
        ("A5 register takes", "register takes (A5): device npu, operator q_0", True),
        ("A12 wrong element", "sample 0: y of q_0 on npu differs in 1 elements (A12)", True),
        ("A14 interrupts", "core picorv32: result 30 is 0x1, not 0x0 (A14)", True),
        ("A5 register takes", "STATUS reads 0x1", False),
        ("kit: hardware: reset", "device npu, hardware: reset: restarted, status 0", False),
        ("E087", "device 'npu' is gone", False),
    ],
)
def test_a_find_names_a_rule_by_number_and_a_device(
    rule: str, message: str, *, finds: bool
) -> None:
    assert Said(rule, message).finds is finds
