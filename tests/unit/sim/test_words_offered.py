# SPDX-License-Identifier: Apache-2.0
"""What help and remedies offer is taken by the command that offers it."""

from itertools import product
from pathlib import Path

import pytest

from atoll.cli.app import main
from atoll.diagnostics.errors import UsageError
from atoll_sim.backends.choice import backends_of

DIGITS = Path(__file__).parents[3] / "examples" / "01_digits" / "digits_int8.tflite"


@pytest.mark.parametrize("chip", ["stm32h747", "rp2040"])
@pytest.mark.parametrize("plan", [(), ("--mutants", "2"), ("--faults", "2", "--caches")])
def test_validate_offers_no_option_of_other_commands(
    chip: str, plan: tuple[str, ...], capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["validate", chip, str(DIGITS), *plan]) == 1
    said = capsys.readouterr().err
    assert "has no RTL" in said
    assert "--cpu" not in said
    assert ("--caches alone" in said) == (chip == "stm32h747")


def test_help_offers_the_words_that_accelerators_take(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["run", "--help"]) == 0
    assert "--accelerator none|[NAME=]rtl|model" in capsys.readouterr().out
    for name, kind in product(("", "npu="), ("rtl", "model")):
        assert backends_of([name + kind])
    assert backends_of(["none"])
    with pytest.raises(UsageError, match="takes no 'npu=none'"):
        backends_of(["npu=none"])


def test_an_accelerator_is_named_in_either_spelling() -> None:
    asked = backends_of(["npu.conv-0=model"])
    assert asked is not None
    assert list(asked.named) == ["npu_conv_0"]
