# SPDX-License-Identifier: Apache-2.0
"""What Dask runs on a worker: it lays out the files of a question, and answers points of it."""

import platform
import sys
import threading
import time
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import cloudpickle
import distributed

from atoll.diagnostics.shown import printable
from atoll.records import dataclass
from atoll.utils.garbage import collect_seldom
from atoll_sweep.asker import Asker, Row
from atoll_sweep.installed import difference, signs_of
from atoll_sweep.question import Question

_MOST_QUESTIONS = 4
"""That a worker keeps; of more, the first is of a client that is gone."""


@dataclass(frozen=True, slots=True)
class Asked:
    """A question as workers get it.

    Attributes:
        name: that no other one has.
        question: as it is asked by the client, without functions.
        functions: these, as cloudpickle writes them.
        signs: of what must be installed; empty if workers are of the client's installation.
    """

    name: str
    question: Question
    functions: bytes
    signs: Mapping[str, str]


@dataclass(frozen=True, slots=True)
class Answers:
    """Rows, and the seconds that they took."""

    rows: list[Row]
    seconds: float


@dataclass(frozen=True, slots=True)
class Unable:
    """Which worker cannot answer at all, and why."""

    why: str


@dataclass(frozen=True, slots=True)
class Model:
    """An executable model of chips.

    Attributes:
        name: of its content and the tools that built it.
        system: that it runs on.
        data: the file.
    """

    name: str
    system: tuple[str, ...]
    data: bytes


@dataclass(frozen=True, slots=True)
class _Here:
    """Who answers a question, and the folder of its files."""

    asker: Asker
    folder: TemporaryDirectory[str]

    def answer(self, point: int, stage: str) -> Row:
        """Return the row of a point, which names files as the client knows them."""
        row = self.asker.answer(point, stage)
        return {self._clean(name): self._clean(value) for name, value in row.items()}

    def _clean(self, value: Any) -> Any:
        return value.replace(self.folder.name, "") if isinstance(value, str) else value


_questions: dict[str, _Here] = {}
_one = threading.RLock()
"""A worker may have several threads, and points share what is remembered."""


def keep(asked: Asked) -> Asked:
    """Return a question: as the result of a task, workers hand it to each other."""
    return asked


def answer(asked: Asked, points: Sequence[int], stage: str, *models: Model) -> Answers | Unable:
    """Return the rows of points; `models` need not be built for them."""
    with _one:
        if isinstance(here := _begin(asked), Unable):
            return here
        for model in models:
            if model.system == system():
                here.asker.keep_model(model.name, model.data)
        begin = time.monotonic()
        rows = [here.answer(point, stage) for point in points]
        return Answers(rows, time.monotonic() - begin)


def name_models(asked: Asked, points: Sequence[int], stage: str) -> dict[int, str]:
    """Return the names of the models that points need; a worker that is not able says none."""
    with _one:
        if isinstance(here := _begin(asked), Unable):
            return {}
        names = {point: here.asker.name_of_model(point, stage) for point in points}
        return {point: name for point, name in names.items() if name}


def build_model(asked: Asked, point: int, stage: str) -> Model | None:
    """Return the model that a point needs; None if there can be none, which its row will say."""
    with _one:
        if isinstance(here := _begin(asked), Unable):
            return None
        built = here.asker.build_model(point, stage)
        return Model(built[0], system(), built[1]) if built else None


def forget(name: str) -> None:
    """Forget a question, its files and the modules among them."""
    if here := _questions.pop(name, None):
        folder = here.folder.name
        for module, found in [*sys.modules.items()]:
            if (getattr(found, "__file__", None) or "").startswith(folder):
                del sys.modules[module]
        here.folder.cleanup()


def system() -> tuple[str, ...]:
    """Return what two machines have in common where a program of one runs on the other."""
    return platform.system(), platform.machine(), *platform.libc_ver()


def _begin(asked: Asked) -> _Here | Unable:
    """Return who answers a question here."""
    if asked.name not in _questions:
        worker = distributed.get_worker()
        if asked.signs and (why := difference(asked.signs, signs_of(asked.question.packages))):
            return Unable(f"{worker.address} {why}")
        while len(_questions) >= _MOST_QUESTIONS:
            forget(next(iter(_questions)))
        collect_seldom()
        try:
            place = Path(worker.local_directory).resolve()
            folder = TemporaryDirectory(dir=place, prefix="sweep-", ignore_cleanup_errors=True)
            question = asked.question.lay_out(Path(folder.name))
        except OSError as fault:
            words = printable(str(fault))
            return Unable(f"{worker.address} cannot write the files of the sweep: {words}")
        question = replace(question, functions=cloudpickle.loads(asked.functions))
        _questions[asked.name] = _Here(Asker(question), folder)
    return _questions[asked.name]
