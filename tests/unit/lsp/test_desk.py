# SPDX-License-Identifier: Apache-2.0
"""While somebody types, files are judged after the last key, not after each."""

import asyncio
from pathlib import Path

from atoll_lsp.desk import Desk


def test_each_change_puts_off_the_verdict() -> None:
    async def typed() -> list[bool]:
        desk, due = Desk(lambda: None), []
        for version, text in enumerate(("s", "so", "soc")):
            desk.put(Path("chip.yaml"), "file:///chip.yaml", text, version)
            due.append(desk._due)
        return [each is None or each.cancelled() for each in due]

    assert asyncio.run(typed()) == [True, True, False]
