# SPDX-License-Identifier: Apache-2.0
"""The list of passes drives verification, `--dump-after` and the documents."""

import re
from dataclasses import replace
from pathlib import Path

import pytest

from atoll.diagnostics.errors import AtollError
from atoll.driver.pipeline import STAGES, compile_file
from atoll.ir.tir import IRModule
from atoll.lower import passes
from atoll.lower.passes import PASSES, Pass, Program
from atoll.resolve import load_soc

ROOT = Path(__file__).parents[3]
DIGITS = ROOT / "examples" / "01_digits" / "digits_int8.tflite"


def test_stages_are_shown_in_their_order_and_documented() -> None:
    shown: dict[str, object] = {}
    compile_file(load_soc("lagoon"), DIGITS, observe=shown.__setitem__)
    assert tuple(shown) == STAGES
    assert all(isinstance(shown[each.name], IRModule) for each in PASSES)
    text = (ROOT / "docs" / "architecture.md").read_text()
    assert (
        tuple(re.findall(r"^\| `([\w-]+)` \|", text.split("--dump-after")[1], re.M))[: len(STAGES)]
        == STAGES
    )


@pytest.mark.parametrize("name", [each.name for each in PASSES])
def test_the_result_of_each_pass_is_verified(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(one: Pass) -> Pass:
        def run(program: Program) -> Program:
            made = one.run(program)
            entry = replace(made.module.entry, inputs=("nothing",))
            return replace(made, module=replace(made.module, entry=entry))

        return replace(one, run=run) if one.name == name else one

    monkeypatch.setattr(passes, "PASSES", tuple(map(broken, PASSES)))
    with pytest.raises(AtollError, match="nothing"):
        compile_file(load_soc("lagoon"), DIGITS)
