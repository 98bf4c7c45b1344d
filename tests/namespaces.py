# SPDX-License-Identifier: Apache-2.0
"""Network namespaces of Linux: other machines, as far as a network can tell.

Each reaches this one, the hub, by a cable of its own, and none of the others.
"""

import os
import shutil
import subprocess
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass

_NETWORK = "198.18"
"""Of RFC 2544, for measurements: nobody has such addresses."""


@dataclass(frozen=True, slots=True)
class Place:
    """Where a process runs.

    Attributes:
        name: of its namespace; None for the one that we are in.
        address: its own.
        hub: ours, as it is seen from there.
    """

    name: str | None
    address: str
    hub: str

    def command(self, words: Sequence[str]) -> list[str]:
        """Return what runs a command there, as the process that is started."""
        return [*(("ip", "netns", "exec", self.name) if self.name else ()), *words]


HERE = Place(None, "127.0.0.1", "127.0.0.1")


def lack_of_namespaces() -> str | None:
    """Return why there can be no namespaces, or None if there can."""
    if not shutil.which("ip"):
        return "ip is not installed"
    try:
        with namespaces(1):
            return None
    except subprocess.CalledProcessError as fault:
        return str(fault.stderr).strip()


@contextmanager
def namespaces(count: int) -> Iterator[list[Place]]:
    """Make namespaces for this block, each with a cable to this one.

    Raises:
        CalledProcessError: the kernel or our rights do not allow it.
    """
    net = f"{_NETWORK}.{os.getpid() % 256}"
    hub = f"{net}.1"
    with ExitStack() as ends:
        found = []
        for number in range(count):
            place = Place(f"atoll{os.getpid()}n{number}", f"{net}.{number + 2}", hub)
            ends.enter_context(_namespace(place))
            found.append(place)
        yield found


@contextmanager
def _namespace(place: Place) -> Iterator[None]:
    name = str(place.name)
    inside = ("-n", name)
    _ip("netns", "add", name)
    try:
        _ip("link", "add", name, "type", "veth", "peer", "name", "cable", "netns", name)
        _ip("address", "add", place.hub, "peer", f"{place.address}/32", "dev", name)
        _ip("link", "set", name, "up")
        _ip(*inside, "address", "add", place.address, "peer", f"{place.hub}/32", "dev", "cable")
        _ip(*inside, "link", "set", "cable", "up")
        _ip(*inside, "link", "set", "lo", "up")
        yield
    finally:
        subprocess.run(["ip", "link", "delete", name], capture_output=True)
        _ip("netns", "delete", name)


def _ip(*words: str) -> None:
    subprocess.run(["ip", *words], check=True, capture_output=True, text=True)
