# SPDX-License-Identifier: Apache-2.0
"""What a refused command says, without what differs between machines and their loads."""

import re
from pathlib import Path

import pytest

from atoll.cli import main
from atoll.cli import working as progress

ROOT = Path(__file__).parents[1]


def refusal(arguments: list[str], capsys: pytest.CaptureFixture[str]) -> str:
    """Run a command that must be refused; return its message without progress and paths."""
    capsys.readouterr()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(progress, "SECONDS_BETWEEN", 1e9)
        assert main(arguments) == 1
    printed = capsys.readouterr()
    assert printed.out == ""
    assert "Traceback" not in printed.err
    assert printed.err.count("error[E") == printed.err.count("  help: ") > 0
    said = re.sub(r", line [0-9]+\)", ", line N)", printed.err)
    return said.replace(f"{ROOT}/", "").replace(f"{Path.cwd()}/", "")
