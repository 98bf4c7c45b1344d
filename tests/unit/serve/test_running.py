# SPDX-License-Identifier: Apache-2.0
"""A run in a process of its own says why there is no result."""

from contextlib import ExitStack
from pathlib import Path

from atoll.cli.options import PlacementOptions
from atoll_serve.drawing import Asked
from atoll_serve.running import run_apart


def test_faults_of_a_run_are_told(tmp_path: Path) -> None:
    chip, model = tmp_path / "chip.yaml", Path("examples/01_digits/digits_int8.tflite")
    chip.write_text("extends: lagoon\nsoc: own\nmemories: {dram: {size: 0}}\n")
    asked = Asked(
        soc=chip, models=(model,), placement=PlacementOptions(), overrides=(), accelerators=True
    )
    with ExitStack() as kept:
        ended = run_apart(asked, "native", kept, lambda _: None)
        assert ended.result is None
        assert "dram" in ended.why
