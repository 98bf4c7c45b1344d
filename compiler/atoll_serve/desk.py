# SPDX-License-Identifier: Apache-2.0
"""The picture of now: draws it, draws it again after each save, and tells whoever listens."""

from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import ExitStack
from pathlib import Path
from time import monotonic
from traceback import format_exc
from typing import Any

import anyio
from anyio import from_thread, to_thread

from atoll.diagnostics.errors import AtollError
from atoll_serve.drawing import Asked, Marks, draw, mark, noting_files
from atoll_serve.running import run_apart

SECONDS_BETWEEN = 0.05
"""Between two looks at the files. There are few; a look works on every file system and editor."""

State = Mapping[str, Any]


class Desk:
    """What the page shows at the moment.

    Attributes:
        html: the last picture that could be drawn, "" before the first.
        state: all else: `picture` counts the pictures; `faults` are why there is no newer one;
            `busy` is what goes on; `seconds` the last picture took; `run` is why a run has no
            result; `runs` is whether there is something to run, `running` whether one goes on.
    """

    def __init__(self, asked: Asked) -> None:
        self.html = ""
        self.state: State = {
            "title": asked.title,
            "picture": 0,
            "faults": (),
            "busy": "",
            "seconds": 0.0,
            "run": "",
            "runs": bool(asked.models),
            "running": False,
        }
        self._asked = asked
        self._marks: Marks = {}
        self._result = ExitStack()
        self._results: Sequence[Path] = ()
        self._changed = anyio.Event()
        self._closed = False
        self._drawing = anyio.Lock()

    def tell(self, **news: object) -> None:
        """Change the state and let all listeners know."""
        self.state = {**self.state, **news}
        changed, self._changed = self._changed, anyio.Event()
        changed.set()

    async def states(self) -> AsyncIterator[State]:
        """Yield the state of now, and again after it changed; some between may be left out."""
        while not self._closed:
            changed = self._changed
            yield self.state
            await changed.wait()

    async def follow(self) -> None:
        """Draw now, and after each change of a file that was read."""
        while True:
            await self._draw()
            await self._wait_for_a_save()
            self._forget_results()

    async def run(self, cpu: str) -> None:
        """Run the networks beside this process and draw what came of it, if nothing was saved."""
        if self.state["running"] or not self._asked.models:
            return
        self.tell(running=True, run="")
        marks = dict(self._marks)
        with ExitStack() as kept:
            ended = await to_thread.run_sync(run_apart, self._asked, cpu, kept, self._tell_busy)
            self.tell(running=False, busy="", run=ended.why)
            if ended.result and _are_unchanged(marks):
                self._forget_results()
                self._result, self._results = kept.pop_all(), (ended.result,)
                await self._draw()
                if not _are_unchanged(marks):  # saved meanwhile: the run is of another chip
                    self._forget_results()
                    await self._draw()

    def close(self) -> None:
        """Let go of the listeners, and remove what runs left."""
        self._closed = True
        self._changed.set()
        self._forget_results()

    def _tell_busy(self, what: str) -> None:
        """Tell what goes on from another thread."""
        from_thread.run_sync(lambda: self.tell(busy=what))

    def _forget_results(self) -> None:
        self._result.close()
        self._results = ()

    async def _draw(self) -> None:
        async with self._drawing:
            begin = monotonic()
            self.tell(busy="drawing")
            faults: Sequence[str] = ()
            try:
                html = await to_thread.run_sync(
                    _draw_noting, self._marks, self._asked, self._results, self._tell_busy
                )
            except AtollError as error:
                faults = [fault.text() for fault in error.faults]
            except Exception:  # noqa: BLE001, the next save may be free of it
                faults = [f"this is a bug in Atoll\n{format_exc()}"]
            else:
                self.html = html
            busy = "" if not self.state["running"] else self.state["busy"]
            self.tell(
                busy=busy,
                faults=faults,
                picture=self.state["picture"] + (not faults),
                seconds=monotonic() - begin,
            )

    async def _wait_for_a_save(self) -> None:
        """Return once a file has changed and then stayed the same between two looks."""
        while (now := self._look()) == self._marks:
            await anyio.sleep(SECONDS_BETWEEN)
        while True:
            await anyio.sleep(SECONDS_BETWEEN)
            before, now = now, self._look()
            if now == before:
                return

    def _look(self) -> Marks:
        return {path: mark(path) for path in self._marks}


def _are_unchanged(marks: Marks) -> bool:
    return all(mark(path) == was for path, was in marks.items())


def _draw_noting(
    marks: Marks, asked: Asked, results: Sequence[Path], tell: Callable[[str], None]
) -> str:
    with noting_files(marks):
        return draw(asked, results, tell)
