# SPDX-License-Identifier: Apache-2.0
"""The comparison with TFLM can fail: planted faults end as differences or false findings."""

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import pytest
from tests.differential.__main__ import main
from tests.differential.campaign import alike, explained
from tests.differential.case import Case, Ending, Verdict, case_of
from tests.differential.compare import verdict_on
from tests.differential.setting import Setting
from tests.differential.shrink import shrunk
from tests.tflite_builder import Model, Tensor
from tests.tflite_builder import Operator as FileOperator

from atoll.contract.contract import Contract
from atoll.frontend.tflite import reader
from atoll.frontend.tflite.forms import Forms
from atoll.ir.graph import Graph, Operator
from atoll.ops.elements import elementwise
from atoll.ops.elements.rescaling import Quantize
from atoll.report.result import Violation
from atoll.resolve.soc import Access, ResolvedSoc
from atoll_sim.runs import checked_run as run
from atoll_sim.trace.findings import unreachable_ports

pytest.importorskip("tflite_micro", reason="needs the wheel tflite-micro")


def quantize_once(**output: Any) -> Case:
    """Make a case of one QUANTIZE, whose result is as `output` says."""
    fields = {"scales": (0.1,), "zero_points": (7,)} | output
    source = Tensor(shape=(2, 5), scales=(0.05,), zero_points=(-3,))
    op = FileOperator(code="QUANTIZE", inputs=(0,), outputs=(1,))
    model = Model(
        tensors=(source, Tensor(shape=(2, 5), **fields)), operators=(op,), inputs=(0,), outputs=(1,)
    )
    return Case(seed=0, model=model, setting=Setting(chip="lagoon"))


def test_a_right_network_is_the_same() -> None:
    assert verdict_on(quantize_once()).ending is Ending.SAME


def forgotten_zero_point(self: Quantize, op: Operator, graph: Graph) -> Any:
    """Lower a QUANTIZE as if the scales were equal."""
    centring = elementwise.compute_centred(op, graph, lambda terms: terms[0])
    return elementwise.lower_elements(op, graph, centring)


def test_a_wrong_loop_program_is_a_difference(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Quantize, "lower", forgotten_zero_point)
    verdict = verdict_on(quantize_once())
    assert verdict.ending is Ending.DIFFERENCE
    assert "quantize_0 on cpu is wrong" in verdict.detail


def test_wrong_arithmetic_of_all_our_sides_is_a_difference(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Reference and loop program agree; only the oracle knows better."""
    monkeypatch.setattr(Quantize, "real", lambda self, op, graph: 0.25)
    verdict = verdict_on(quantize_once())
    assert verdict.ending is Ending.DIFFERENCE
    assert "the reference is wrong" in verdict.detail


def test_a_traceback_is_a_false_finding(monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(self: Quantize, op: Operator, graph: Graph) -> Any:
        raise KeyError("stride_h")

    monkeypatch.setattr(Quantize, "lower", broken)
    verdict = verdict_on(quantize_once())
    assert verdict.ending is Ending.FALSE_FINDING
    assert "KeyError" in verdict.detail


def test_a_violation_of_a_right_run_is_a_false_finding(monkeypatch: pytest.MonkeyPatch) -> None:
    """No byte is wrong, but the checks hold a port to be out of the host's reach."""

    def out_of_reach(soc: ResolvedSoc, contract: Contract) -> Iterator[Violation]:
        pools = tuple(
            replace(pool, reach={**pool.reach, soc.host: Access.NONE}) for pool in soc.pools
        )
        return unreachable_ports(replace(soc, pools=pools), contract)

    monkeypatch.setattr(run, "unreachable_ports", out_of_reach)
    verdict = verdict_on(quantize_once())
    assert verdict.ending is Ending.FALSE_FINDING
    assert "by cpu" in verdict.detail


def test_a_run_that_ends_early_is_a_false_finding(monkeypatch: pytest.MonkeyPatch) -> None:
    ended = run.judge

    def early(*given: Any) -> run.Outcome:
        outcome = ended(*given)
        report = replace(outcome.report, notes=("the simulation was stopped: stall",))
        return replace(outcome, report=report, outputs=outcome.outputs[:-1])

    monkeypatch.setattr(run, "judge", early)
    verdict = verdict_on(quantize_once())
    assert verdict.ending is Ending.FALSE_FINDING
    assert "ended early: the simulation was stopped: stall" in verdict.detail


def test_a_refusal_without_a_documented_reason_is_a_false_finding(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(reader, "forms_for", lambda codes: Forms({}))
    verdict = verdict_on(quantize_once())
    assert verdict.ending is Ending.FALSE_FINDING
    assert "E053" in verdict.detail


def test_a_refusal_with_a_documented_reason_is_none() -> None:
    """The factor 0.05 / 1e-20 leaves what a multiplier and a shift can hold."""
    verdict = verdict_on(quantize_once(scales=(1e-20,)))
    assert verdict.ending is Ending.REFUSED
    assert "E054" in verdict.detail


def test_a_network_that_is_too_large_is_counted_apart() -> None:
    case = quantize_once()
    tensors = tuple(
        Tensor(shape=(600, 1000), scales=each.scales, zero_points=each.zero_points)
        for each in case.model.tensors
    )
    model = Model(tensors=tensors, operators=case.model.operators, inputs=(0,), outputs=(1,))
    assert verdict_on(Case(seed=0, model=model, setting=case.setting)).ending is Ending.NO_ROOM


def first_with(code: str) -> Case:
    """Return the first case of several operators, one of them of this kind."""
    cases = map(case_of, range(1000))
    return next(
        case
        for case in cases
        if len(case.model.operators) > 3 and code in [op.code for op in case.model.operators[1:]]
    )


def test_a_failure_is_shrunk_to_what_fails() -> None:
    case = first_with("QUANTIZE")

    def fails(each: Case) -> bool:
        return "QUANTIZE" in [op.code for op in each.model.operators]

    small = shrunk(case, fails)
    assert [op.code for op in small.model.operators] == ["QUANTIZE"]
    assert len(small.model.outputs) == 1
    assert small.setting == Setting(chip="lagoon", accelerators=False, overlap=case.setting.overlap)


def test_a_failure_is_explained(monkeypatch: pytest.MonkeyPatch) -> None:
    case = quantize_once()
    monkeypatch.setattr(Quantize, "lower", forgotten_zero_point)
    text = explained(case, verdict_on(case))
    assert "different from TFLM" in text
    assert "%1: int8[2x5] scale 0.1 zero 7 = QUANTIZE(%0)" in text
    assert "python -m tests.differential --seed 0" in text
    monkeypatch.undo()
    assert verdict_on(case).ending is Ending.SAME


def test_refusals_are_alike_by_their_codes() -> None:
    first, same, other, none = (
        Verdict(Ending.FALSE_FINDING, text)
        for text in ("refused: error[E078]: a", "refused: error[E078]: b", "error[E055]: a", "a")
    )
    assert alike(first, same)
    assert not alike(first, other)
    assert not alike(first, none)
    assert not alike(none, Verdict(Ending.DIFFERENCE, "a"))


def test_the_command_line(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["--seed", "3", "--count", "2", "--show"]) == 0
    out = capsys.readouterr().out
    assert "seed 3 on" in out
    assert "seed 4 on" in out
    monkeypatch.setattr(reader, "forms_for", lambda codes: Forms({}))
    assert main(["--seed", "4"]) == 1
    assert "false finding" in capsys.readouterr().out


def test_kinds_are_counted(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--seed", "7", "--count", "1", "--kinds"]) == 0
    *rows, last = capsys.readouterr().out.splitlines()
    operators = case_of(7).model.operators
    assert {row.split()[1] for row in rows} == {op.code for op in operators}
    assert last.endswith(f"have 5 operators to {len(operators)}")


@pytest.mark.rtl
def test_two_networks_in_full_rtl(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--seed", "4", "--count", "2", "--rtl", "lagoon"]) == 0
    assert "2 same as TFLM" in capsys.readouterr().out
