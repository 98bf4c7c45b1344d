# SPDX-License-Identifier: Apache-2.0
"""Kernels of nearly all kinds are counted; what is not takes usual cycles, and says so."""

from pathlib import Path

import pytest
from tests import tflite_builder
from tests.differential.case import case_of

from atoll.cost import basis, core_costs
from atoll.cost.basis import basis_of_operator
from atoll.cost.core_costs import CoreCost
from atoll.cost.counted import core_to_count
from atoll.diagnostics.errors import AtollError
from atoll.driver.pipeline import BuildOptions, compile_file
from atoll.ops.registry import kind_of
from atoll.resolve import load_soc

DIGITS = Path(__file__).parents[3] / "examples" / "01_digits" / "digits_int8.tflite"
ALONE = BuildOptions(accelerators=False)
UNMEASURED = ("devices.cpu.core=riscv", "devices.cpu.isa=rv32e")


@pytest.mark.parametrize("first", range(0, 60, 15))
def test_kernels_of_nearly_all_kinds_are_counted(first: int, tmp_path: Path) -> None:
    """On the measured core as itself, and on others as that."""
    measured, other = load_soc("lagoon"), load_soc("lagoon", UNMEASURED)
    kinds: set[str] = set()
    left = 0
    for seed in range(first, first + 15):
        path = tmp_path / "network.tflite"
        path.write_bytes(tflite_builder.write(case_of(seed).model))
        try:
            graph = compile_file(measured, path, ALONE).graph
        except AtollError:  # some are refused on purpose
            continue
        for op in graph.operators:
            known = core_to_count(op, graph, measured.host_cpu)
            left += known is None
            kinds |= {op.kind} if known else set()
            assert known in (measured.host_cpu, None)
            like = core_to_count(op, graph, other.host_cpu)
            assert (like is None) is (known is None)
            assert like is None or (like.spec, like.isa) == (measured.host_cpu.spec, "rv32imc")
    assert len(kinds) > 15
    assert left <= 2


@pytest.mark.parametrize(("told", "rests"), [(None, "assumed"), (4321, "told")])
def test_what_nobody_counted_takes_usual_cycles(
    told: int | None, rests: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Or what its kind says."""
    soc = load_soc("lagoon")
    compiled = compile_file(soc, DIGITS, ALONE)
    op, graph = compiled.graph.operators[0], compiled.graph
    for module in (core_costs, basis):
        monkeypatch.setattr(module, "core_to_count", lambda *_: None)
    monkeypatch.setattr(type(kind_of(op)), "cycles", lambda *_: told)
    results = graph.results(op)[0].elements
    usual = 36 * kind_of(op).features(op, graph)["macs"] + 80 * results
    assert CoreCost(soc.host_cpu, soc).alone(op, graph) == (told or usual)
    assert basis_of_operator(op, graph, soc) == rests
