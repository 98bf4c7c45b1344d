# SPDX-License-Identifier: Apache-2.0
"""Arm's names of cores, also of such as a user described."""

from pathlib import Path

import pytest

from atoll.cli import main
from atoll.resolve import load_soc
from atoll_board.cortex_m import model


def test_a_core_of_ones_own_is_like_the_first_of_its_architecture(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    assert main(["core", "new", "mine", "--cpu", "cortex-m23"]) == 0
    assert main(["new", "chip", "--core", "./mine.yaml"]) == 0
    assert model(load_soc("chip.yaml").host_cpu) == "m23"
