# SPDX-License-Identifier: Apache-2.0
"""RTL of an accelerator that does not fit the chip is an error at the accelerator's description."""

from typing import Any

import pytest
from tests.effort import in_gate

pytestmark = pytest.mark.rtl

SOURCES = "[\n    reef_pkg.sv,"
BROKEN = {
    "module": (
        {"module: reef": "module: absent"},
        "error[E114]: the RTL of accelerator 'mine' has no module 'absent'",
    ),
    "ports": (
        {"module: reef": "module: mine", SOURCES: "[./mine.sv, reef_pkg.sv,"},
        "has no port 'm_axi_araddr_o' in module 'mine'",
    ),
    "parameter": (
        {"parameters:\n": "parameters:\n  more_lanes: {default: 1}\n"},
        "has no parameter 'MoreLanes' in module 'reef'",
    ),
    "syntax": (
        {SOURCES: "[./broken.sv, reef_pkg.sv,"},
        "broken.sv:2:14: error[E114]: the RTL of accelerator 'mine' is refused by Verilator: ",
    ),
}
MINE = """module mine #(
  parameter int InputLanes = 8, OutputLanes = 8, WeightRows = 256, DataBytes = 8
) (
  input logic clk_i, rst_ni, output logic irq_o
);
  assign irq_o = 1'b0;
endmodule
"""


@pytest.mark.parametrize("name", BROKEN)
def test_rtl_that_does_not_fit(name: str, bench: Any) -> None:
    edits, message = BROKEN[name]
    (bench.folder / "mine.sv").write_text(MINE)
    (bench.folder / "broken.sv").write_text("module broken;\n  assign x = ;\nendmodule\n")
    bench.accelerator(*edits.items())
    said = bench.refusal("check", "chip.yaml", "--simulate")
    assert message in said
    if name == "module":
        place = bench.place("module: (absent)")
        assert said.startswith(f"{place}: ")
    assert "whether the RTL elaborates" in bench.accepted("check", "chip.yaml")


def test_what_check_refuses_run_refuses_alike(bench: Any) -> None:
    edits, message = BROKEN["module"]
    bench.accelerator(*edits.items())
    assert message in bench.refusal("run", "chip.yaml", "digits.tflite")


@pytest.mark.parametrize("command", ["check", "run"])
def test_a_source_that_is_not_there(command: str, bench: Any, commands: Any) -> None:
    bench.accelerator(("reef_pkg.sv,", "absent.sv,"))
    arguments = ("run", "chip.yaml", "digits.tflite") if command == "run" else commands[command]
    said = bench.refusal(*arguments)
    place = bench.place("(absent.sv)")
    assert said.startswith(f"{place}: error[E113]")


@pytest.mark.parametrize("chip", in_gate(["lagoon", "atoll2", "twin"], -1))
def test_shipped_chips_elaborate(chip: str, bench: Any) -> None:
    assert "elaborates" not in bench.accepted("check", chip, "--simulate")


def test_own_sources_are_found_beside_the_description(bench: Any) -> None:
    from atoll_sim.chip.sources import find_source

    (bench.folder / "rtl").mkdir()
    package = find_source("reef_pkg.sv").read_text()
    (bench.folder / "rtl" / "own_pkg.sv").write_text(package)
    bench.accelerator(("reef_pkg.sv,", "rtl/own_pkg.sv,"))
    bench.accepted("check", "chip.yaml", "--simulate")


def test_check_asks_for_the_model_of_a_description_that_names_atoll_s_own(bench: Any) -> None:
    """A part of the wrong kind is refused by `check` as by `run`, wherever the class is."""
    bench.accelerator(("reef.model:ReefModel", "reef.emitter:ReefEmitter"))
    assert "error[E110]: model 'atoll_sim.engines.reef.emitter:" in bench.refusal(
        "check", "chip.yaml"
    )
