# SPDX-License-Identifier: Apache-2.0
"""Who asks points: this process alone, or the workers of a Dask cluster, here or elsewhere.

Points go to workers in batches. A batch takes about a second, or longer where messages are slow,
so that a worker has the next one before it ends. A batch whose worker dies goes to another one. If
several die, each of its points is tried alone when all others are done, since a scheduler blames
all batches that wait at a worker; what then fails again is the result of that point.
"""

import logging
import pickle
import signal
import sys
import threading
import time
import uuid
from collections import deque
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager, nullcontext, suppress
from dataclasses import field, replace
from importlib.util import find_spec
from multiprocessing import resource_tracker
from typing import Any, Protocol

import cloudpickle
import dask
import distributed
from distributed.comm import CommClosedError
from distributed.scheduler import KilledWorker

from atoll.description.sweep import CONFIRMED, RUNS
from atoll.diagnostics.errors import ToolchainError, UsageError
from atoll.diagnostics.progress import announce, tell
from atoll.diagnostics.shown import printable
from atoll.records import dataclass
from atoll_sweep import on_worker
from atoll_sweep.asker import CRASHED, KILLED, Asker, Row
from atoll_sweep.installed import difference, is_installed, signs_of
from atoll_sweep.question import Function, Question

SECONDS_OF_A_BATCH = 1.0
_FIRST_BATCH = 4
_TRIPS_OF_A_BATCH = 5
"""To report a batch, to fetch its rows, and to bring the next one to the worker."""

_AHEAD = 2
"""Batches that wait at each worker, so that none is idle."""

_SECONDS_OF_SILENCE = 10.0
"""After which it is asked whether there are workers at all."""

_PATIENCE = 300.0
"""Seconds without any worker."""

_SECONDS_BETWEEN_COUNTS = 2.0
"""Of workers, which come and go."""

_GONE = (OSError, TimeoutError, CommClosedError, distributed.CancelledError)
"""What is raised where a scheduler is not there, or goes away."""


_NOT_PICKLED = (TypeError, AttributeError, pickle.PicklingError)


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


@dataclass
class Cluster:
    """Workers of a scheduler.

    Attributes:
        client: of the scheduler.
        question: what is asked.
        functions: its functions as bytes.
        signs: of what must be installed on workers; empty if they are of this installation.
        trip: seconds from here to a worker and back.
    """

    client: distributed.Client
    question: Question
    functions: bytes
    signs: Mapping[str, str] = field(default_factory=dict)
    trip: float = 0.0
    _name: str = field(default_factory=lambda: f"atoll-sweep-{uuid.uuid4().hex}")
    _asked: Any = None
    _count: tuple[int, float] = 0, 0.0

    def prepare(self) -> None:
        """Check all workers, and give them the question.

        Raises:
            ToolchainError: E229; one of them would not answer as we do.
        """
        self.client.wait_for_workers(1, timeout=60)
        if self.signs:
            packages = self.question.packages
            for address, found in self.client.run(signs_of, packages, on_error="return").items():
                if isinstance(found, BaseException):
                    words = printable(str(found).partition("\n")[0])
                    raise _unable(f"{address} does not run Atoll: {words}")
                if why := difference(self.signs, found):
                    raise _unable(f"{address} {why}")
        for _ in range(2):  # the first time, workers import what they run
            begin = time.monotonic()
            self.client.run(on_worker.system)
            self.trip = time.monotonic() - begin
        question = replace(self.question, functions={})
        asked = on_worker.Asked(self._name, question, self.functions, self.signs)
        self._asked = self.client.submit(on_worker.keep, asked, key=self._name)

    def end(self) -> None:
        """Let workers that are still there forget the question."""
        if self.signs and self.client.status == "running":
            with suppress(*_GONE):
                self.client.run(on_worker.forget, self._name, on_error="ignore")

    @property
    def workers(self) -> int:
        """How many there were a moment ago, at least one."""
        known, at = self._count
        now = time.monotonic()
        if not known or now - at > _SECONDS_BETWEEN_COUNTS:
            known = max(1, self.client.scheduler_info(n_workers=0)["n_workers"])
            self._count = known, now
        return known

    def ask(self, points: Sequence[int], stage: str) -> Iterator[list[Row]]:
        """Yield the rows of a batch as soon as it is done."""
        waiting, left = deque(points), len(points)
        coming = _as_completed(self.client)
        sent: dict[str, list[int]] = {}
        models = self._models(points, stage) if stage in RUNS and left else {}

        def send(batch: list[int], *, alone: bool = False) -> None:
            needed = [] if alone else [models[point] for point in batch if point in models]
            future = self.client.submit(
                on_worker.answer, self._asked, batch, stage, *needed, pure=False
            )
            sent[future.key] = batch
            coming.add(future)

        pace = Pace(_TRIPS_OF_A_BATCH * self.trip, 1 if stage in CONFIRMED else _FIRST_BATCH)
        suspects: list[int] = []
        while left:
            while waiting and len(sent) < _AHEAD * self.workers:
                size = pace.size_of(len(waiting), self.workers)
                send([waiting.popleft() for _ in range(size)])
            if alone := not sent:
                send([suspects.pop()], alone=True)
            future, found = self._next(coming)
            batch = sent.pop(future.key)
            if isinstance(found, on_worker.Unable):
                raise _unable(found.why)
            if future.status == "finished":
                rows = found.rows
                pace.learn(len(batch), found.seconds)
            elif future.status != "error":
                raise CommClosedError("it went away")
            elif alone:
                rows = [_failure(batch[0], future.exception())]
            else:
                suspects += batch
                continue
            left -= len(rows)
            yield rows

    def _next(self, coming: Any) -> tuple[distributed.Future, Any]:
        """Return the next task that is done; say so, and at last give up, where no worker is left.

        Raises:
            TimeoutError: all workers are gone.
        """
        begin = seen = time.monotonic()
        while not coming.has_ready():
            with coming.thread_condition:
                coming.thread_condition.wait(0.1)
            now = time.monotonic()
            if now - max(begin, seen) < _SECONDS_OF_SILENCE:
                continue
            begin = now
            if self.client.scheduler_info(n_workers=0)["n_workers"]:
                seen = now
            elif now - seen > _PATIENCE:
                raise TimeoutError("no worker is left")
            else:
                tell("no worker is left, waiting for one")
        found: tuple[distributed.Future, Any] = next(coming)
        return found

    def _models(self, points: Sequence[int], stage: str) -> dict[int, Any]:
        """Have each model that points need built once, and return it, or what it will be."""
        tell("asking which models are to be built")
        share = -(-len(points) // self.workers)
        parts = [points[begin : begin + share] for begin in range(0, len(points), share)]
        submit = self.client.submit
        futures = [
            submit(on_worker.name_models, self._asked, part, stage, pure=False) for part in parts
        ]
        names: dict[int, str] = {}
        for found in self.client.gather(futures, errors="skip"):
            names |= found
        builds: dict[str, Any] = {}
        for point, name in sorted(names.items()):
            if name not in builds:
                key = f"atoll-model-{name}"
                builds[name] = submit(on_worker.build_model, self._asked, point, stage, key=key)
        tell(f"building {len(builds)} models, or fetching them")
        return {point: builds[name] for point, name in names.items()}


def _as_completed(client: distributed.Client) -> Any:
    """Return what yields tasks with their results, fetched while others are waited for."""
    return distributed.as_completed(loop=client.loop, with_results=True, raise_errors=False)


@dataclass
class Pace:
    """How many points a batch has, by how long those before took.

    Attributes:
        shortest: seconds that a batch takes at least, so that its worker has the next one in time.
        most: points of the next batch.
        seconds: of a point; None as long as nobody knows.
    """

    shortest: float
    most: int
    seconds: float | None = None

    def size_of(self, waiting: int, workers: int) -> int:
        """Return how many of the points that wait are a batch, so that all workers have some."""
        enough = 1 if self.seconds is None else round(self.shortest / self.seconds)
        fair, least = -(-waiting // (_AHEAD * workers)), -(-waiting // workers)
        return min(self.most, max(fair, min(enough, least)))

    def learn(self, points: int, seconds: float) -> None:
        """Take into account how long a batch took."""
        self.seconds = max(seconds, 1e-3) / points
        wanted = max(SECONDS_OF_A_BATCH, self.shortest) / self.seconds
        self.most = max(1, min(2 * self.most, round(wanted)))


def _failure(point: int, fault: BaseException) -> Row:
    """Return the row of a point at which something breaks that is no fault of the chip."""
    if isinstance(fault, KilledWorker):
        words = "several workers died at this point"
        return {"point": point, "status": KILLED, "fault": words}
    words = printable(f"an error of Atoll, please report it: {type(fault).__name__}: {fault}")
    return {"point": point, "status": CRASHED, "fault": words}


def _unable(what: str) -> ToolchainError:
    return _unusable(f"worker {what}", "install the same there, or leave that worker out")


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
        functions = _pack(question.functions, far=self.scheduler is not None)
        with ExitStack() as ends:
            try:
                client = ends.enter_context(self._client())
            except (*_GONE, ValueError, TypeError, ImportError, RuntimeError) as fault:
                raise self._error_of(fault) from fault
            try:
                signs = signs_of(question.packages) if self.scheduler else {}
                cluster = Cluster(client, question, functions, signs)
                ends.callback(cluster.end)
                with nullcontext() if self.scheduler else _interrupts_later():
                    cluster.prepare()
                if link := _dashboard(client):
                    announce(f"what the workers do: {link}")
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
        settings = {
            "distributed.scheduler.allowed-failures": 1,
            # After which a worker that begins again would be given up, on a busy machine as well.
            "distributed.deploy.lost-worker-timeout": _PATIENCE,
        }
        with ExitStack() as ends:
            ends.enter_context(dask.config.set(settings))
            with _interrupts_later():
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


def _pack(functions: Mapping[str, Function], *, far: bool) -> bytes:
    """Return functions as bytes; far away, also what their modules define, if it can travel.

    Raises:
        UsageError: E244; one of them holds what is of this process alone.
    """
    names = {str(getattr(each, "__module__", "")) for each in functions.values()}
    modules = [sys.modules[name] for name in sorted(names & sys.modules.keys())]
    own = [each for each in modules if far and not is_installed(each)]
    for module in own:
        cloudpickle.register_pickle_by_value(module)
    try:
        with suppress(*_NOT_PICKLED):
            return _try_pickling(functions)
    finally:
        for module in own:
            cloudpickle.unregister_pickle_by_value(module)
    try:
        return _try_pickling(functions)
    except _NOT_PICKLED as fault:
        raise UsageError(
            "E244",
            f"an objective cannot go to workers: {printable(str(fault))}",
            remedy="use workers=0, or a function that holds nothing of this process",
        ) from fault


def _try_pickling(functions: Mapping[str, Function]) -> bytes:
    data: bytes = cloudpickle.dumps(functions)
    pickle.loads(data)
    return data


def _dashboard(client: distributed.Client) -> str | None:
    """Return the address of Dask's dashboard, None if the scheduler has none."""
    if "dashboard" not in client.scheduler_info(n_workers=0)["services"]:
        return None
    return str(client.dashboard_link) if client.run_on_scheduler(find_spec, "bokeh") else None


@contextmanager
def _interrupts_later() -> Iterator[None]:
    """Keep Ctrl-C waiting until the block ends; processes that begin in it never hear of one.

    Where Ctrl-C is ignored, as in the background of a script, it stays so.
    Other threads may take the signal, which is why there is a handler beside the mask. The tracker
    of multiprocessing, which unblocks it in the thread that starts it, is there beforehand.
    """
    resource_tracker.ensure_running()
    heard: list[bool] = []
    ignored = signal.getsignal(signal.SIGINT) is signal.SIG_IGN
    ours = threading.current_thread() is threading.main_thread() and not ignored
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
