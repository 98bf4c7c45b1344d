# SPDX-License-Identifier: Apache-2.0
"""The proofs of modules hold, refute their faults, and assume only what simulations assert."""

import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.formal.proofs import ASSERTED, PROOFS, Fault, Proof, broken_by, prove, refute

from atoll_sim.chip.sources import RTL
from atoll_sim.formal.prove import Design, available, decide

DOCUMENT = Path(__file__).parents[2] / "docs/formal.md"
needs_pyosys = pytest.mark.skipif(not available(), reason="pyosys is not installed")
QUICK = "arbiter"
"""The module whose proof belongs to the gate."""
MODULES = [
    pytest.param(proof, id=proof.name, marks=[] if proof.name == QUICK else pytest.mark.slow)
    for proof in PROOFS
]
FAULTS = [
    pytest.param(proof, fault, id=f"{proof.name}-{fault.name}", marks=pytest.mark.slow)
    for proof in PROOFS
    for fault in proof.faults
]


@needs_pyosys
@pytest.mark.parametrize("proof", MODULES)
def test_a_module_is_proven(proof: Proof) -> None:
    verdict = prove(proof)
    assert verdict.refuted == ()
    assert verdict.proven
    # Nothing that the specification says was lost on the way.
    own = [name for name in verdict.properties if not name.startswith("u_dut.")]
    assert sorted(proof.properties) == sorted(name.rpartition(".")[2] for name in own)
    assert sorted(proof.assumptions) == sorted(
        name.rpartition(".")[2] for name in verdict.assumptions
    )


@needs_pyosys
@pytest.mark.parametrize(("proof", "fault"), FAULTS)
def test_a_planted_fault_is_refuted(proof: Proof, fault: Fault, tmp_path: Path) -> None:
    assert fault.breaks in broken_by(refute(proof, fault, tmp_path))


@needs_pyosys
def test_the_run_that_breaks_a_property_is_shown(tmp_path: Path) -> None:
    proof = next(proof for proof in PROOFS if proof.name == QUICK)
    fault = next(fault for fault in proof.faults if fault.breaks == "nobody_idle")
    verdict = refute(proof, fault, tmp_path)
    assert verdict.cycle == 1
    assert set(verdict.inputs) == {"clk_i", "request_i", "taken_i", "watched_i"}
    assert verdict.inputs["request_i"][verdict.cycle] != 0


@pytest.mark.parametrize("proof", PROOFS, ids=lambda proof: proof.name)
def test_each_property_can_fail(proof: Proof) -> None:
    assert {fault.breaks for fault in proof.faults} == {*proof.properties}
    assert len(proof.faults) >= 5


@pytest.mark.parametrize("proof", PROOFS, ids=lambda proof: proof.name)
def test_assumptions_are_assertions_of_the_rtl(proof: Proof) -> None:
    for label, said in proof.assumptions.items():
        found = ASSERTED.search(said)
        assert found, f"{label} does not say where it is asserted"
        text = (RTL / f"{found[1]}.sv").read_text()
        # A monitor tells the simulator by a function instead.
        named = rf"`ATOLL_ASSERT\w*\({found[2]},|import .* {found[2]}\("
        assert re.search(named, text), f"{label}: no {found[0]}"


@pytest.mark.parametrize("proof", PROOFS, ids=lambda proof: proof.name)
def test_the_document_lists_each_proof(proof: Proof) -> None:
    bound = "unbounded" if proof.depth is None else f"{proof.depth} cycles"
    row = re.compile(
        rf"\| {proof.name} \| {len(proof.properties)} \+ [0-9]+ \| {len(proof.assumptions)} "
        rf"\| {bound} \| [0-9.]+ \| {len(proof.faults)} of {len(proof.faults)} \|"
    )
    assert row.search(DOCUMENT.read_text())


def test_the_document_lists_each_assumption() -> None:
    text = DOCUMENT.read_text()
    assert not [row for row in assumption_rows() if row not in text]


def assumption_rows() -> Iterator[str]:
    """Yield the rows of the document's table of assumptions."""
    for proof in PROOFS:
        for said in proof.assumptions.values():
            sentence, _, place = said.partition(" Asserted: ")
            yield f"| {sentence.rstrip('.')} | {proof.name} | `{place}` |"


@needs_pyosys
def test_nothing_is_proven_of_a_design_that_says_nothing(tmp_path: Path) -> None:
    source = tmp_path / "mute.sv"
    source.write_text("module mute (input logic clk_i, input logic a);\nendmodule\n")
    verdict = decide(Design(top="mute", sources=(source,)))
    assert verdict.properties == ()
    assert not verdict.proven
