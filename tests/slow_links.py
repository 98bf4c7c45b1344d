# SPDX-License-Identifier: Apache-2.0
"""TCP connections that take their time, and parts of a Dask cluster that talk over them."""

import asyncio
import os
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path

from tests.namespaces import HERE, Place, namespaces

CHUNK = 2**16


class Relay:
    """Passes connections on to a port, each piece of data after a delay, in both directions."""

    def __init__(self, target: tuple[str, int], delay: float, host: str = "127.0.0.1") -> None:
        self._target, self._delay, self._host = target, delay, host
        self.port = free_port(host)
        self._loop = asyncio.new_event_loop()
        self._writers: set[asyncio.StreamWriter] = set()
        self._cut = False
        self._started = threading.Event()
        self._thread = threading.Thread(target=self._run, daemon=True)
        self._thread.start()
        assert self._started.wait(10)

    @property
    def address(self) -> str:
        """What to connect to."""
        return f"tcp://{self._host}:{self.port}"

    def cut(self) -> None:
        """End all connections, and refuse others until `join`."""
        self._cut = True
        self._loop.call_soon_threadsafe(self._end)

    def join(self) -> None:
        """Take connections again."""
        self._cut = False

    def close(self) -> None:
        """End all connections for good."""
        self._cut = True
        self._loop.call_soon_threadsafe(self._finish)
        self._thread.join(10)

    def _finish(self) -> None:
        self._end()
        for task in asyncio.all_tasks(self._loop):
            task.cancel()
        self._server.close()
        self._loop.call_later(0.1, self._loop.stop)

    def _end(self) -> None:
        for writer in self._writers:
            writer.transport.abort()

    def _run(self) -> None:
        asyncio.set_event_loop(self._loop)
        serve = asyncio.start_server(self._accept, self._host, self.port)
        self._server = self._loop.run_until_complete(serve)
        self._started.set()
        self._loop.run_forever()
        self._loop.close()

    async def _accept(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._writers.add(writer)
        try:
            if self._cut:
                return
            theirs, there = await asyncio.open_connection(*self._target)
            self._writers.add(there)
            ways = self._pass(reader, there), self._pass(theirs, writer)
            await asyncio.gather(*ways, return_exceptions=True)
            self._writers.discard(there)
        except (OSError, asyncio.CancelledError):
            pass
        finally:
            self._writers.discard(writer)
            writer.close()

    async def _pass(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Pass data on as soon as each piece has waited; many pieces wait at once."""
        waiting: asyncio.Queue[tuple[float, bytes]] = asyncio.Queue()

        async def deliver() -> None:
            while True:
                at, data = await waiting.get()
                await asyncio.sleep(max(0.0, at - self._loop.time()))
                if not data:
                    break
                writer.write(data)
                await writer.drain()
            writer.close()

        delivering = asyncio.ensure_future(deliver())
        data = b"?"
        with suppress(OSError):
            while data:
                data = await reader.read(CHUNK)
                waiting.put_nowait((self._loop.time() + self._delay, data))
        waiting.put_nowait((0.0, b""))
        with suppress(OSError):
            await delivering


def free_port(host: str = "127.0.0.1") -> int:
    """Return a port that nobody has at the moment."""
    with socket.socket() as free:
        free.bind((host, 0))
        return int(free.getsockname()[1])


@contextmanager
def started(
    *words: str,
    folder: Path | None = None,
    environment: Mapping[str, str] | None = None,
    place: Place = HERE,
) -> Iterator[subprocess.Popen[bytes]]:
    """Start a part of a cluster, and end it with all that it started."""
    process = subprocess.Popen(
        place.command([sys.executable, "-m", "dask", *words]),
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
        cwd=folder,
        env={**os.environ, **(environment or {})},
    )
    try:
        yield process
    finally:
        with suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        process.wait()


@contextmanager
def scheduler(place: Place = HERE) -> Iterator[tuple[str, subprocess.Popen[bytes]]]:
    """Start a scheduler, and yield its address and process once it answers."""
    port = free_port()
    words = ("scheduler", "--host", place.address, "--port", str(port), "--no-dashboard")
    with started(*words, place=place) as process:
        for _ in range(600):
            with socket.socket() as trial:
                if trial.connect_ex((place.address, port)) == 0:
                    break
            time.sleep(0.1)
        yield f"tcp://{place.address}:{port}", process


@contextmanager
def worker(
    address: str,
    *words: str,
    folder: Path | None = None,
    environment: Mapping[str, str] | None = None,
    place: Place = HERE,
) -> Iterator[subprocess.Popen[bytes]]:
    """Start a worker."""
    asked = ["worker", address, "--nthreads", "1", "--nworkers", "1"]
    local = str(folder or os.environ.get("TMPDIR", "/tmp"))
    asked += ["--no-dashboard", "--local-directory", local]
    asked += words or ["--host", place.address]
    with started(*asked, folder=folder, environment=environment, place=place) as process:
        yield process


@contextmanager
def slow_cluster(workers: int, delay: float, *, apart: bool = False) -> Iterator[Relay]:
    """Start a cluster of which each part is so many seconds away; yield the way to it.

    If they are `apart`, each has a network namespace of its own, and reaches the others by relays
    alone.
    """
    with ExitStack() as ends:
        count = workers + 1
        places = ends.enter_context(namespaces(count)) if apart else [HERE] * count
        address, _ = ends.enter_context(scheduler(places[0]))

        def relay_to(place: Place, port: int) -> Relay:
            relay = Relay((place.address, port), delay, place.hub)
            ends.callback(relay.close)
            return relay

        relay = relay_to(places[0], int(address.rpartition(":")[2]))
        for place in places[1:]:
            port = free_port()
            way = relay_to(place, port)
            words = (
                "--listen-address",
                f"tcp://{place.address}:{port}",
                "--contact-address",
                way.address,
            )
            ends.enter_context(worker(relay.address, *words, "--no-nanny", place=place))
        yield relay
