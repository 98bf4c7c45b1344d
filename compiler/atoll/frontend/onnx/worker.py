# SPDX-License-Identifier: Apache-2.0
"""Settle ONNX files in a process of its own, which may fail without harm.

The process is ``python -m atoll.frontend.onnx.worker FD``. FD is an end of a pair of sockets on
which messages go both ways, each behind its length: files in; settled files or faults out.
"""

import json
import os
import resource
import socket
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress

from atoll.diagnostics.errors import Fault, ModelError, ToolchainError
from atoll.utils.children import UNREAD, start

SECONDS = 8.0
"""What a file may take."""

MOST_BYTES = 2 * 2**30
"""Addresses that the process may have."""

_LENGTH = 8
_GOOD, _BAD = b"+", b"-"


@contextmanager
def settler() -> Iterator[Callable[[bytes], bytes]]:
    """Give a function that does as `settling.settle_file`; its process ends with the block.

    Raises:
        ToolchainError: E070, the process does not start.
    """
    ours, theirs = socket.socketpair()
    command = (sys.executable, "-m", __name__, str(theirs.fileno()))
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))}
    with ours, theirs:
        try:
            with start(
                command,
                environment=environment,
                files=[theirs.fileno()],
                stdout=UNREAD,
                stderr=UNREAD,
            ):
                theirs.close()
                ours.settimeout(SECONDS)
                yield lambda data: _ask(ours, data)
        except OSError as fault:
            message = f"cannot run '{sys.executable}': {fault.strerror or fault}"
            raise ToolchainError("E070", message, remedy="run `atoll doctor`") from fault


def _ask(channel: socket.socket, data: bytes) -> bytes:
    """Return the answer about a file.

    Raises:
        ModelError: what the process found; E052, it ended; E055, it took too long.
    """
    try:
        _send(channel, data)
        answer = _receive(channel)
    except TimeoutError as fault:
        message = f"takes the package 'onnx' more than {SECONDS:g} s to check"
        raise ModelError("E055", message, remedy="give a smaller or simpler model") from fault
    except OSError:
        answer = b""
    if answer[:1] == _GOOD:
        return answer[1:]
    if answer[:1] == _BAD:
        raise ModelError.all(Fault(**each) for each in json.loads(answer[1:]))
    message = "is damaged so that the package 'onnx' crashes on it"
    remedy = "look for extents, pads or axes that cannot be, and export it again"
    raise ModelError("E052", message, remedy=remedy)


def main(number: int) -> None:
    """Answer until nobody asks any more."""
    from atoll.frontend.onnx.settling import settle_file

    with suppress(ValueError, OSError):
        resource.setrlimit(resource.RLIMIT_AS, (MOST_BYTES, MOST_BYTES))
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    with socket.socket(fileno=number) as channel:
        while data := _receive(channel):
            try:
                answer = _GOOD + settle_file(data)
            except ModelError as error:
                faults = [
                    {"code": each.code, "message": each.message, "remedy": each.remedy}
                    for each in error.faults
                ]
                answer = _BAD + json.dumps(faults).encode()
            _send(channel, answer)


def _send(channel: socket.socket, data: bytes) -> None:
    channel.sendall(len(data).to_bytes(_LENGTH, "little") + data)


def _receive(channel: socket.socket) -> bytes:
    """Return the next message; nothing where the other side is gone."""
    length = int.from_bytes(_bytes(channel, _LENGTH), "little")
    return _bytes(channel, length)


def _bytes(channel: socket.socket, count: int) -> bytes:
    parts, left = list[bytes](), count
    while left and (part := channel.recv(min(left, 2**20))):
        parts.append(part)
        left -= len(part)
    return b"".join(parts) if not left else b""


if __name__ == "__main__":
    main(int(sys.argv[1]))
