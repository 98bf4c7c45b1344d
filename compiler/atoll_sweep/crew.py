# SPDX-License-Identifier: Apache-2.0
"""Who asks points: this process alone, or the workers of a Dask cluster, here or elsewhere.

Points go to workers in batches that take about a second. A batch whose worker dies goes to another
one. If several die, each of its points is tried alone when all others are done, since a scheduler
blames all batches that wait at a worker; what then fails again is the result of that point.
"""

import gc
import logging
import pickle
import signal
import threading
import time
from collections import deque
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager, nullcontext
from multiprocessing import resource_tracker
from typing import Any, Protocol

import cloudpickle
import dask
import distributed
from distributed.comm import CommClosedError
from distributed.scheduler import KilledWorker

from atoll.description.sweep import RUNS
from atoll.diagnostics.errors import ToolchainError, UsageError
from atoll.diagnostics.shown import printable
from atoll.records import dataclass
from atoll_sweep.asker import CRASHED, KILLED, Asker, Row
from atoll_sweep.question import Question, chips_of, digest_of

SECONDS_OF_A_BATCH = 1.0
_FIRST_BATCH = 4
_OBJECTS_BETWEEN_COLLECTIONS = 300_000
"""On a worker: points leave little garbage, and looking for it took a fifth of their time."""

_AHEAD = 2
"""Batches that wait at each worker, so that none is idle."""


_GONE = (OSError, TimeoutError, CommClosedError, distributed.CancelledError)
"""What is raised where a scheduler is not there, or goes away."""


class Askers(Protocol):
    """Ask points."""

    def ask(self, points: Sequence[int], stage: str) -> Iterator[list[Row]]:
        """Yield rows as they come, in any order, one for each point."""
        ...


@dataclass(frozen=True)
class Alone:
    """Asks in this process."""

    asker: Asker

    def ask(self, points: Sequence[int], stage: str) -> Iterator[list[Row]]:
        """Yield the row of each point in turn."""
        for point in points:
            yield [self.asker.answer(point, stage)]


class AskerOnWorker(distributed.WorkerPlugin):  # type: ignore[misc]
    """Puts the question where a worker's batches find it."""

    def __init__(self, question: Question) -> None:
        self.name = plugin_name(question)
        self._question = question

    def setup(self, worker: Any) -> None:
        """Make ready to answer.

        Raises:
            RuntimeError: the worker came late, and would not answer as the others do.
        """
        if _look(self._question) != (self._question.version, self._question.digest):
            raise RuntimeError(f"{worker.address} has another Atoll or other packages")
        gc.set_threshold(_OBJECTS_BETWEEN_COLLECTIONS)
        self.asker = Asker(self._question)


def plugin_name(question: Question) -> str:
    """Return the name under which a worker has a question."""
    return f"atoll-sweep-{question.digest[:16]}"


def _answer(name: str, points: Sequence[int], stage: str) -> tuple[list[Row], float]:
    """Ask points on a worker; return their rows and how long that took."""
    asker = distributed.get_worker().plugins[name].asker
    begin = time.monotonic()
    return [asker.answer(point, stage) for point in points], time.monotonic() - begin


def _look(question: Question) -> tuple[str, str]:
    """Return the version of Atoll, and the digest of a question, as they are on a worker."""
    import atoll

    with question.open_texts():
        sweep = question.sweep()
        return atoll.__version__, digest_of(sweep, question.networks, [*chips_of(sweep)])


@dataclass
class Cluster:
    """Workers of a scheduler."""

    client: distributed.Client
    question: Question

    @property
    def workers(self) -> int:
        """How many there are at the moment, at least one."""
        return max(1, len(self.client.scheduler_info(n_workers=-1)["workers"]))

    def prepare(self) -> None:
        """Check all workers, and give them the question.

        Raises:
            ToolchainError: E229; one of them would not answer as we do.
        """
        self.client.wait_for_workers(1, timeout=60)
        for address, (version, digest) in self.client.run(_look, self.question).items():
            if version != self.question.version:
                raise _unusable(
                    f"worker {address} has Atoll {version}, and this is {self.question.version}",
                    "install the same version there",
                )
            if digest != self.question.digest:
                raise _unusable(
                    f"on worker {address}, installed descriptions or objectives say something else",
                    "install the same packages there, and copy the files of objectives",
                )
        self.client.register_plugin(AskerOnWorker(self.question))

    def ask(self, points: Sequence[int], stage: str) -> Iterator[list[Row]]:
        """Yield the rows of a batch as soon as it is done."""
        waiting, left = deque(points), len(points)
        coming = distributed.as_completed(loop=self.client.loop)
        sent: dict[str, list[int]] = {}

        def send(batch: list[int]) -> None:
            future = self.client.submit(
                _answer, plugin_name(self.question), batch, stage, pure=False
            )
            sent[future.key] = batch
            coming.add(future)

        most, suspects = 1 if stage in RUNS else _FIRST_BATCH, list[int]()
        while left:
            ahead = _AHEAD * self.workers
            while waiting and len(sent) < ahead:
                size = min(most, -(-len(waiting) // ahead))
                send([waiting.popleft() for _ in range(size)])
            if alone := not sent:
                send([suspects.pop()])
            future = next(coming)
            batch = sent.pop(future.key)
            if future.status == "finished":
                rows, seconds = future.result()
                most = _next_size(most, len(batch), seconds)
            elif future.status != "error":
                raise CommClosedError("it went away")
            elif alone:
                rows = [_failure(batch[0], future.exception())]
            else:
                suspects += batch
                continue
            left -= len(rows)
            yield rows


def _next_size(size: int, points: int, seconds: float) -> int:
    """Return how many points the next batch has, to take about a second."""
    wanted = SECONDS_OF_A_BATCH * points / max(seconds, 1e-3)
    return max(1, min(2 * size, round(wanted)))


def _failure(point: int, fault: BaseException) -> Row:
    """Return the row of a point at which something breaks that is no fault of the chip."""
    if isinstance(fault, KilledWorker):
        words = "several workers died at this point"
        return {"point": point, "status": KILLED, "fault": words}
    words = printable(f"an error of Atoll, please report it: {type(fault).__name__}: {fault}")
    return {"point": point, "status": CRASHED, "fault": words}


def _unusable(what: str, remedy: str) -> ToolchainError:
    return ToolchainError("E229", what, remedy=remedy)


@dataclass(frozen=True, slots=True)
class Crew:
    """Who shall ask points.

    Attributes:
        workers: processes on this computer; 0 for this one alone, None for all processors.
        scheduler: the address of a Dask scheduler whose workers do it in their place.
    """

    workers: int | None = None
    scheduler: str | None = None

    @contextmanager
    def ready(self, question: Question) -> Iterator[Askers]:
        """Yield those who ask the points of a question, until the block ends.

        Raises:
            UsageError: E244; an objective cannot go to workers.
            ToolchainError: E229; workers are not as this process, or the scheduler goes away.
        """
        if self.workers == 0 and self.scheduler is None:
            yield Alone(Asker(question))
            return
        try:
            pickle.loads(cloudpickle.dumps(question.functions))
        except (TypeError, AttributeError, pickle.PicklingError) as fault:
            raise UsageError(
                "E244",
                f"an objective cannot go to workers: {printable(str(fault))}",
                remedy="use workers=0, or a function that holds nothing of this process",
            ) from fault
        with ExitStack() as ends:
            try:
                client = ends.enter_context(self._client())
            except (*_GONE, ValueError, TypeError, ImportError, RuntimeError) as fault:
                raise self._error_of(fault) from fault
            try:
                cluster = Cluster(client, question)
                with nullcontext() if self.scheduler else _interrupts_later():
                    cluster.prepare()
                yield cluster
            except _GONE as fault:
                raise self._error_of(fault) from fault

    def _error_of(self, fault: BaseException) -> ToolchainError:
        where = f"the scheduler {self.scheduler}" if self.scheduler else "the workers"
        words = printable(str(fault).partition("\n")[0])
        return _unusable(
            f"{where} cannot be used: {words or 'nobody answers'}",
            "give an address such as tcp://HOST:8786 of one that runs; --resume goes on"
            if self.scheduler
            else "call atoll.sweep below 'if __name__ == \"__main__\":', or give workers=0",
        )

    @contextmanager
    def _client(self) -> Iterator[distributed.Client]:
        if self.scheduler is not None:
            with distributed.Client(self.scheduler, timeout=10, set_as_default=False) as client:
                yield client
            return
        settings = {"distributed.scheduler.allowed-failures": 1}
        with ExitStack() as ends:
            with dask.config.set(settings), _interrupts_later():
                cluster = ends.enter_context(
                    distributed.LocalCluster(
                        n_workers=self.workers,
                        threads_per_worker=1,
                        host="127.0.0.1",
                        dashboard_address="127.0.0.1:0",
                        silence_logs=logging.CRITICAL,
                    )
                )
                client = ends.enter_context(distributed.Client(cluster, set_as_default=False))
            yield client


@contextmanager
def _interrupts_later() -> Iterator[None]:
    """Keep Ctrl-C waiting until the block ends; processes that begin in it never hear of one.

    Other threads may take the signal, which is why there is a handler beside the mask. The tracker
    of multiprocessing, which unblocks it in the thread that starts it, is there beforehand.
    """
    resource_tracker.ensure_running()
    heard: list[bool] = []
    ours = threading.current_thread() is threading.main_thread()
    handler = signal.signal(signal.SIGINT, lambda *_: heard.append(True)) if ours else None
    mask = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, mask)
        if ours:
            signal.signal(signal.SIGINT, handler)
    if heard:
        raise KeyboardInterrupt
