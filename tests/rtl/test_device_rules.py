# SPDX-License-Identifier: Apache-2.0
"""Faults of completion, interrupt, reset and handshake in RTL are found by rule."""

import shutil
from pathlib import Path

import pytest
from tests.rtl.planted import RIGHT, found, plant, run_on, write_chip

from atoll_sim.backends.session import CpuKind
from atoll_sim.trace.simulation import Conditions

pytestmark = pytest.mark.rtl

SKELETON = Path(__file__).parents[2] / "compiler" / "atoll" / "description" / "skeleton" / "widget"
FOUND = {
    "early": ("A1", "done too early"),
    "held": ("A1", "done too early"),
    "mute": ("A2", "no interrupt"),
    "stays": ("A3", "interrupt not cleared"),
    "falls": ("A3", "interrupt dropped"),
    "idle": ("A4", "spurious interrupt"),
    "asks": ("A6", "request without work"),
    "wavers": ("A7", "unstable request"),
}
"""The rule that each plant breaks."""

UNUSED = {"unreset": ("A4", "spurious interrupt")}
"""Likewise, of an instance that runs nothing: what is not reset begins with random values."""

HOSTED = {
    "failed": ("A5", "wrong value after reset"),
    "lets_go": ("A7", "unstable request"),
}
"""Likewise, which only a native host finds: it reads registers after reset, and holds requests."""

PLANTS = (*FOUND, *UNUSED, *HOSTED)
EDITS = {
    "module widget (": "module widget #(parameter int unsigned Plant = 0) (",
    "assign irq_o         = done_q;": "assign irq_o = (done_q && !@mute)"
    " || (@idle && count_q == '0);",
    "if (clear) done_q <= 1'b0;": "if ((clear && !@stays) || (@falls && done_q)) done_q <= 1'b0;",
    "StWrite: if (m_obi_gnt_i) state_q <= StStore;": "StWrite: if (m_obi_gnt_i) begin"
    " state_q <= StStore; if (@early && left <= 16'd4) {busy_q, done_q} <= 2'b01; end",
    "state_q <= lane_q == last ? StWrite : StMultiply;": "state_q <= lane_q == last ? StWrite"
    " : StMultiply; if (@held && lane_q == last && left <= 16'd4) {busy_q, done_q} <= 2'b01;",
    "assign m_obi_req_o   = state_q == StRead || state_q == StWrite;": "logic paused_q;"
    " always_ff @(posedge clk_i) paused_q <= m_obi_req_o && !m_obi_gnt_i;"
    " assign m_obi_req_o = (state_q == StRead || state_q == StWrite"
    " || ((@asks || @wavers) && done_q))"
    " && !((@wavers || @lets_go) && paused_q);",
    "{busy_q, done_q, error_q} <= '0;": "if (!@unreset) {busy_q, done_q, error_q} <= 3'(@failed);",
}


@pytest.fixture(scope="module")
def chip(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A chip with the accelerator that one starts from, and one for each plant."""
    folder = tmp_path_factory.mktemp("planted")
    shutil.copytree(SKELETON, folder / "widget")
    rtl, yaml = folder / "widget" / "widget.sv", folder / "widget" / "widget.yaml"
    rtl.write_text(plant(rtl.read_text(), EDITS, PLANTS))
    text = yaml.read_text().replace("max: 65535", "max: 64")
    parameters = "parameters: {plant: {default: 0, min: 0, max: 99}}\n\nregisters:"
    yaml.write_text(text.replace("registers:", parameters, 1))
    return write_chip(folder, "widget/widget.yaml", PLANTS)


def test_a1_a2_a3_a4_a6_a7_each_plant_breaks_its_rule(chip: Path) -> None:
    report = run_on(chip, RIGHT, *FOUND)
    rules = {name: found(report, name) for name in (RIGHT, *PLANTS)}
    assert report.bit_exact
    assert rules.pop(RIGHT) == set()
    wanted = FOUND | UNUSED
    assert {name: rule for name, rule in wanted.items() if rule not in rules[name]} == {}


@pytest.mark.slow
def test_a5_a7_a_native_host_finds_what_no_run_shows(chip: Path) -> None:
    plain = run_on(chip, RIGHT, *HOSTED)
    assert plain.bit_exact
    assert not any(found(plain, name) for name in HOSTED), "a start clears it, none is held"
    held = run_on(chip, RIGHT, *HOSTED, cpu=CpuKind.NATIVE, conditions=Conditions(hold=0.5))
    assert held.bit_exact
    rules = {name: found(held, name) for name in (RIGHT, *HOSTED)}
    assert rules == {RIGHT: set(), **{name: {rule} for name, rule in HOSTED.items()}}
    (early,) = (each for each in held.violations if each.device == "failed")
    assert early.operator != "none"
