# SPDX-License-Identifier: Apache-2.0
"""A run is shown beside the chip that ran, and no other."""

from collections.abc import Callable, Sequence
from pathlib import Path

import pytest

anyio = pytest.importorskip("anyio", reason="needs the extra serve")

from atoll.cli.options import PlacementOptions  # noqa: E402
from atoll_serve import desk  # noqa: E402
from atoll_serve.drawing import Asked  # noqa: E402
from atoll_serve.running import Ended  # noqa: E402


@pytest.mark.parametrize("saved", [False, True])
def test_what_is_saved_while_a_run_is_drawn_forgets_the_run(
    saved: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    chip, result = tmp_path / "chip.yaml", tmp_path / "run.json"
    chip.write_text("old")
    asked = Asked(
        soc=chip, models=(chip,), placement=PlacementOptions(), overrides=(), accelerators=True
    )
    drawn = []

    def draw(_: Asked, results: Sequence[Path], tell: Callable[[str], None]) -> str:
        drawn.append([*results])
        if results and saved:
            chip.write_text("newer")  # after the run, before the chip is read
        return chip.read_text()

    monkeypatch.setattr(desk, "draw", draw)
    monkeypatch.setattr(desk, "run_apart", lambda *_: Ended(result))

    async def used() -> None:
        table = desk.Desk(asked)
        await table._draw()
        await table.run("native")

    anyio.run(used)
    assert drawn == ([[], [result], []] if saved else [[], [result]])
