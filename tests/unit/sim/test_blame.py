# SPDX-License-Identifier: Apache-2.0
"""Whose fault a wrong access is told to be: Atoll's plan, or an accelerator of the user's own."""

from pathlib import Path

import pytest

from atoll.resolve import load_soc
from atoll_sim.shadow.rules import PLAN, RULES
from atoll_sim.trace.findings import find_cause

WORDS = {"device": "npu", "kind": "read", "buffer": "image", "other": "", "pool": "shared"}
WORDS |= {"size": "4", "alignment": "16", "instead": "", "writer": ""}
OWN = "accelerator: own\nversion: 1\noperators:\n  CONV_2D: {cost: 100}\n"
RTL = "rtl: {module: own, sources: [./own.sv]}\n"


@pytest.mark.parametrize("rule", [each for each in RULES if PLAN in each.remedy], ids=str)
@pytest.mark.parametrize(("rtl", "part"), [(RTL, "RTL"), ("", "model")])
def test_an_own_accelerator_is_not_atolls_plan(
    rule: object, rtl: str, part: str, tmp_path: Path
) -> None:
    (tmp_path / "own.yaml").write_text(OWN + rtl)
    (tmp_path / "own.sv").write_text("module own; endmodule\n")
    (tmp_path / "chip.yaml").write_text(
        "extends: lagoon\nsoc: own\ndevices: {npu: {accelerator: ./own.yaml, params: null}}\n"
    )
    soc = load_soc(tmp_path / "chip.yaml")
    _, at, remedy = find_cause(soc, rule, WORDS)  # type: ignore[arg-type]
    assert at.startswith(f"{tmp_path}/own.yaml:")
    assert f"correct the {part} or the commands of accelerator 'own': it reads bytes" in remedy
    assert "report" not in remedy
    _, _, host = find_cause(soc, rule, {**WORDS, "device": "cpu"})  # type: ignore[arg-type]
    assert "if Atoll made this plan, report it" in host
    _, _, shipped = find_cause(load_soc("lagoon"), rule, WORDS)  # type: ignore[arg-type]
    assert "if Atoll made this plan, report it" in shipped
