# SPDX-License-Identifier: Apache-2.0
"""The unit of examples/09_custom_instruction as hardware: equal to its model, and clean."""

from pathlib import Path

import pytest
from tests.benches.runner import BenchError, run_bench

from atoll_sim.build import lint

ROOT = Path(__file__).parents[2]
EXAMPLE = ROOT / "examples" / "09_custom_instruction"
RTL = (EXAMPLE / "dot4.sv").read_text()

pytestmark = pytest.mark.rtl


@pytest.fixture(autouse=True)
def importable(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(EXAMPLE)


def test_the_unit_equals_its_model() -> None:
    run_bench("function_unit", "dot4", (), generated={"dot4.sv": RTL})


@pytest.mark.slow
@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("i < 4;", "i < 3;"),
        ("16'($signed(b_i[8*i+:8]))", "16'(b_i[8*i+:8])"),
        ("!rvalid_q || rready_i", "1'b1"),
        ("else if (ready_o) begin", "else begin"),
        ("rvalid_q <= valid_i", "rvalid_q <= 1'b1"),
    ],
)
def test_a_wrong_unit_is_found(old: str, new: str) -> None:
    assert RTL.count(old) == 1
    with pytest.raises(BenchError):
        run_bench("function_unit", "dot4", (), generated={"dot4.sv": RTL.replace(old, new)})


def test_the_chip_is_clean(tmp_path: Path) -> None:
    command = lint.verilator(EXAMPLE / "chip.yaml", tmp_path / "chip")
    assert lint.clean("dotted", lint.lint(("dotted", command))[1])
    verible = (*lint.VERIBLE, str(EXAMPLE / "dot4.sv"))
    assert lint.clean("verible", lint.lint(("verible", verible))[1])
