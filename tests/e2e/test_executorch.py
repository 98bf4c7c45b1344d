# SPDX-License-Identifier: Apache-2.0
"""ExecuTorch plans the pools of chips, and runs what it planned so.

`ATOLL_EXECUTORCH=PYTHON pytest -m slow tests/e2e/test_executorch.py` takes a Python that has
ExecuTorch 1.5.1 and PyTorch.
"""

import json
import os
import subprocess
from pathlib import Path
from typing import Any

import pytest

from atoll.cli import main
from atoll.diagnostics.errors import AtollError
from atoll.interchange.executorch import hold_program, read_program
from atoll.resolve import load_soc

PYTHON = os.environ.get("ATOLL_EXECUTORCH", "")
NETWORKS = Path(__file__).parents[1] / "executorch_networks.py"
CHIPS: dict[str, tuple[str, tuple[str, ...]]] = {
    "rp2350": ("rp2350", ()),
    "stm32h747": ("stm32h747", ()),
    "spread": ("lagoon", ("pools.private.size=44 KiB", "pools.shared.size=16 KiB")),
    "small": ("lagoon", ("pools.private.size=304", "pools.shared.size=480")),
}
REFUSED = {"small": {"convolutions", "recurrent"}}

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(not PYTHON, reason="ATOLL_EXECUTORCH names no Python with ExecuTorch"),
]


def export(chip: str, folder: Path) -> list[dict[str, Any]]:
    """Return what ExecuTorch says of each network that it exports with the pools of a chip."""
    name, settings = CHIPS[chip]
    words = [word for each in settings for word in ("--set", each)]
    assert main(["bsp", name, *words, "--only", "executorch", "-o", str(folder / "bsp")]) == 0
    (folder / "made").mkdir()
    command = [PYTHON, str(NETWORKS), str(folder / "bsp" / "executorch"), str(folder / "made")]
    environment = {key: value for key, value in os.environ.items() if key != "PYTHONPATH"}
    ran = subprocess.run(command, check=True, capture_output=True, text=True, env=environment)
    return [json.loads(line) for line in ran.stdout.splitlines() if line.startswith("{")]


@pytest.mark.parametrize("chip", CHIPS)
def test_its_runtime_runs_what_is_planned_in_pools(chip: str, tmp_path: Path) -> None:
    told = export(chip, tmp_path)
    assert len(told) == 4
    soc = load_soc(*CHIPS[chip])
    for each in told:
        if each["network"] in REFUSED.get(chip, ()):
            assert "no room for a tensor of" in each["refused"]
            continue
        assert each["equal"], each
        assert each["right"], each
        assert sum(each["atoll"]) <= sum(each["own"]) or chip in ("spread", "small"), each
        assert each["own"][0] == 0
        assert len(each["own"]) == 2, "its own algorithm has one buffer"
        held = hold_program(tmp_path / "made" / f"{each['network']}_atoll.pte", soc)
        assert [0, *held.methods[0].buffers] == each["atoll"]
    if chip == "spread":
        (used,) = (each["atoll"] for each in told if each["network"] == "convolutions")
        assert min(used[1:]) > 0, "two pools are in use"


def test_what_it_plans_by_itself_may_not_fit(tmp_path: Path) -> None:
    export("spread", tmp_path)
    program = tmp_path / "made" / "convolutions_own.pte"
    assert read_program(program)[0].buffers == (45104,)
    with pytest.raises(
        AtollError, match="has 45,104 B in buffer 1, and pool 'private' has 45,056 B"
    ):
        hold_program(program, load_soc(*CHIPS["spread"]))


def test_its_headers_take_the_spans(tmp_path: Path) -> None:
    export("rp2350", tmp_path)
    command = [PYTHON, "-c", "import executorch; print(list(executorch.__path__)[0])"]
    found = subprocess.run(command, check=True, capture_output=True, text=True)
    include = Path(found.stdout.strip()) / "include"
    (tmp_path / "main.cpp").write_text(
        '#include "bsp/executorch/memory.h"\nint main() { atoll_pools::planned_allocator(); }\n'
    )
    inner = include / "executorch" / "runtime" / "core" / "portable_type" / "c10"
    flags = [f"-I{include}", f"-I{inner}", "-DC10_USING_CUSTOM_GENERATED_MACROS", "-std=c++17"]
    subprocess.run(["c++", "-fsyntax-only", *flags, str(tmp_path / "main.cpp")], check=True)
