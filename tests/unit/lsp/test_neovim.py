# SPDX-License-Identifier: Apache-2.0
"""Neovim with the set-up of docs/editor.md: diagnostics, a hover and a quick fix arrive."""

import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from atoll.description.template import starting_description

SCRIPT = Path(__file__).with_name("neovim.lua")
DOCUMENT = Path(__file__).parents[3] / "docs" / "editor.md"
SECONDS = 200
NVIM = shutil.which("nvim")


@pytest.mark.slow
@pytest.mark.skipif(NVIM is None, reason="nvim is not installed")
def test_neovim_shows_a_fault_and_takes_its_fix(tmp_path: Path) -> None:
    good = "# 😀\n" + starting_description("seen")
    chip, setup, answer = (tmp_path / name for name in ("seen.yaml", "setup.lua", "answer.json"))
    chip.write_text(good.replace("kind: rom", "knd: rom", 1))
    (lua,) = re.findall(r"```lua\n(.*?)```", DOCUMENT.read_text(), re.DOTALL)
    setup.write_text(lua)
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    done = subprocess.run(
        [str(NVIM), "--clean", "--headless", "-u", "NONE", "-S", SCRIPT],
        env={
            **os.environ,
            "PATH": path,
            "XDG_STATE_HOME": str(tmp_path),
            "CHIP": str(chip),
            "SETUP": str(setup),
            "ANSWER": str(answer),
        },
        capture_output=True,
        text=True,
        timeout=SECONDS,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    seen = json.loads(answer.read_text())
    code, line, column, message = seen["fault"]
    place = chip.read_text().splitlines()[line][column:]
    assert (code, place[:3]) == ("E011", "knd")
    assert message.startswith("'memories.flash' has no key 'knd'")
    assert "rom" in seen["hover"]
    assert seen["text"] == good
