# SPDX-License-Identifier: Apache-2.0
"""Adapters of cores keep what their descriptions promise; planted faults in one are found."""

from collections.abc import Sequence
from pathlib import Path

import pytest
from tests.cores import ADAPTERS, WITH_RTL

from atoll.description.core_files import find_core
from atoll.diagnostics.errors import SimulationError
from atoll_sim.build import lint
from atoll_sim.chip.sources import RTL
from atoll_sim.core_test import core_kit
from atoll_sim.core_test.core_kit import Outcome, run_core_test

pytestmark = [pytest.mark.rtl, pytest.mark.slow]

ISAS = {"vexriscv": "rv32im", "vexriscv_cfu": "rv32im"}

CUSTOM = Path(__file__).parents[2] / "examples" / "09_custom_instruction" / "chip.yaml"


@pytest.mark.parametrize("core", ADAPTERS)
def test_adapters_that_ship(core: str) -> None:
    outcome = run_core_test(core, ISAS.get(core, "rv32imc"), seed=3)
    assert [fault for _, faults in outcome.trials for fault in faults] == []
    assert len(outcome.trials) == 21


@pytest.mark.parametrize("beat", [32, 64])
@pytest.mark.parametrize("core", WITH_RTL)
def test_adapters_at_a_wide_bus(core: str, beat: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(core_kit, "BEAT", beat)
    outcome = core_kit.run_core_test(core, ISAS.get(core, "rv32imc"), seed=3)
    assert [fault for _, faults in outcome.trials for fault in faults] == []


def faults_with(folder: Path, description: Sequence[str], adapter: Sequence[str]) -> Outcome:
    """Test PicoRV32 with a line of its description, and one of its adapter, exchanged."""
    texts = {
        "core.yaml": (find_core("picorv32", "", folder, None), description),
        "atoll_picorv32.sv": (RTL / "atoll_picorv32.sv", adapter),
    }
    for name, (path, change) in texts.items():
        text = path.read_text()
        if change:
            old, new = change
            assert text.count(old) == 1
            text = text.replace(old, new)
        (folder / name).write_text(text.replace("sources: [atoll_", "sources: [./atoll_"))
    return run_core_test(str(folder / "core.yaml"), "rv32imc")


LOADED = ("mem_instr ? 4'hf : bytes_q", "mem_instr || mem_wstrb == '0 ? 4'hf : bytes_q")


@pytest.mark.parametrize(
    ("description", "adapter", "check", "said"),
    [
        ((), LOADED, "loads and stores", "access 1 is load, 4 B"),
        ((), ("ResetAddress + 32'h10", "ResetAddress"), "interrupts", "result"),
        ((), ("(irq_i)", "({irq_i[30:0], 1'b0})"), "interrupts", "result 0 is 0x0, not 0x1"),
        (("startup:", "bus_errors: traps\nstartup:"), (), "failed load", "the core goes on"),
    ],
    ids=["lanes", "handler", "lines", "promise"],
)
def test_planted_faults(
    description: Sequence[str], adapter: Sequence[str], check: str, said: str, tmp_path: Path
) -> None:
    wrong = {
        trial.name: faults for trial, faults in faults_with(tmp_path, description, adapter).trials
    }
    assert any(said in fault for fault in wrong[check])


def test_a_failed_assertion_of_the_adapter_ends_the_test(tmp_path: Path) -> None:
    early = ("else if (rvalid_i) issued_q", "else if (rvalid_i || ready_i) issued_q")
    with pytest.raises(SimulationError, match="OnlyAwaitedAnswers failed"):
        faults_with(tmp_path, (), early)


@pytest.mark.parametrize("core", ADAPTERS)
def test_adapters_are_clean(core: str, tmp_path: Path) -> None:
    isa = ISAS.get(core, "rv32imc")
    text = f"extends: lagoon\ndevices: {{cpu: {{core: {core}, isa: {isa}}}}}\n"
    if core == "vexriscv_cfu":  # its memories lie elsewhere
        text = f"extends: {CUSTOM}\n"
    (tmp_path / "chip.yaml").write_text(text)
    command = lint.verilator(tmp_path / "chip.yaml", tmp_path / "made")
    name, done = lint.lint((core, command))
    assert lint.clean(name, done)
