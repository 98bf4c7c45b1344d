# SPDX-License-Identifier: Apache-2.0
"""What a command prints, beside what a function returns."""

import json
from typing import Any

import pytest

from atoll.cli import main


def printed(capsys: pytest.CaptureFixture[str], *arguments: str, status: int = 0) -> Any:
    """Return the JSON that a command prints."""
    assert main([*arguments, "--json"]) == status
    return json.loads(capsys.readouterr().out)


def plain(data: object) -> Any:
    """Return what JSON makes of data, so that tuples and lists are alike."""
    return json.loads(json.dumps(data))
