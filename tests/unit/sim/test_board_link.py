# SPDX-License-Identifier: Apache-2.0
"""Requests to a board: done once and answered right on a line that damages and loses bytes.

The board is a thread at a pseudo-terminal, with framing of its own after RFC 1662.
"""

import os
import random
import select
import threading
import tty
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pytest

from atoll.diagnostics.errors import SimulationError, UsageError
from atoll.protocol import SerialMessage
from atoll_image.elf import ElfImage, Span
from atoll_sim.board import link as link_module
from atoll_sim.board.frames import Deframer, frame_of
from atoll_sim.board.link import Answer, Link
from atoll_sim.board.port import Port
from atoll_sim.board.session import _greet
from atoll_sim.runs import board_run

Reply = Callable[[int, bytes], bytes]
GOOD = 0xDEBB20E3
DIGEST = "0123456789ab" + 52 * "f"


def fcs(data: bytes) -> int:
    """Return the 32-bit FCS before it is complemented, bit by bit (RFC 1662, C.3)."""
    found = 0xFFFFFFFF
    for byte in data:
        for bit in range(8):
            odd = (found ^ byte >> bit) & 1
            found = found >> 1 ^ (0xEDB88320 if odd else 0)
    return found


def on_the_line(message: bytes) -> bytes:
    data = message + (fcs(message) ^ 0xFFFFFFFF).to_bytes(4, "little")
    return b"~" + data.replace(b"}", b"}]").replace(b"~", b"}^") + b"~"


class Board(threading.Thread):
    """Answers requests, and repeats its last answer; `done` are those that it has done."""

    def __init__(self, reply: Reply, share: float = 0.0, seed: int = 7) -> None:
        super().__init__()
        self.done: list[tuple[int, bytes]] = []
        self._file, self._port = os.openpty()
        self._quit, self._asked = os.pipe()
        tty.setraw(self._port)
        self.path = os.ttyname(self._port)
        self._reply, self._share, self._dice = reply, share, random.Random(seed)
        self._last: tuple[bytes, bytes] = b"", b""

    def run(self) -> None:
        frame = b""
        while self._quit not in select.select([self._file, self._quit], [], [])[0]:
            frame += self._harmed(os.read(self._file, 1))
            if not frame.endswith(b"~"):
                continue
            message = frame[:-1].replace(b"}^", b"~").replace(b"}]", b"}")
            frame = b""
            if message and fcs(message) == GOOD:
                self._answer(message[:-4])
            elif message:
                self._send(b"\0\0" + bytes([SerialMessage.REPEAT]))

    def _answer(self, message: bytes) -> None:
        head, body = message[:3], message[3:]
        if head != self._last[0]:
            self.done.append((head[2], body))
            answer = head[:2] + bytes([head[2] | 0x80]) + self._reply(head[2], body)
            self._last = head, answer
        self._send(self._last[1])

    def _send(self, message: bytes) -> None:
        os.write(self._file, self._harmed(on_the_line(message)))

    def _harmed(self, data: bytes) -> bytes:
        """Change or lose bytes."""
        made = bytearray()
        for byte in data:
            if self._dice.random() >= self._share:
                made.append(byte)
            elif self._dice.random() < 0.5:
                made.append(byte ^ self._dice.randrange(1, 256))
        return bytes(made)

    def end(self) -> None:
        os.write(self._asked, b"x")
        self.join()
        for file in (self._file, self._port, self._quit, self._asked):
            os.close(file)


@contextmanager
def board(reply: Reply, share: float = 0.0) -> Iterator[Board]:
    made = Board(reply, share)
    made.start()
    try:
        yield made
    finally:
        made.end()


def echo(kind: int, body: bytes) -> bytes:
    return bytes(4) + body


def bodies(count: int) -> Sequence[bytes]:
    dice = random.Random(3)
    plain = b"~}\x5e\x5d"
    return [plain + dice.randbytes(60) for _ in range(count)]


@pytest.fixture
def impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(link_module, "WAIT", 0.05)


@pytest.mark.parametrize("message", [b"123456789", b"", b"~}~}", bytes(range(256))])
def test_frames_are_those_of_the_standard(message: bytes) -> None:
    frame = frame_of(message)
    assert frame == on_the_line(message)
    assert list(Deframer().feed(b"noise" + frame + frame)) == [None, message, message]
    assert fcs(b"123456789") ^ 0xFFFFFFFF == 0xCBF43926


@pytest.mark.parametrize("at", range(7))
def test_no_frame_with_a_wrong_byte_is_a_message(at: int) -> None:
    frame = frame_of(b"abc")[1:-1]
    for value in set(range(256)) - {frame[at]}:
        damaged = bytearray(frame)
        damaged[at] = value
        assert b"abc" not in list(Deframer().feed(b"~" + damaged + b"~"))


@pytest.mark.usefixtures("impatient")
def test_requests_are_done_once_on_a_bad_line() -> None:
    wanted = bodies(100)
    with board(echo, share=0.01) as far, Port(far.path, 115200) as port:
        link = Link(port)
        for body in wanted:
            answer = link.ask(SerialMessage.WRITE, body)
            assert answer == Answer(status=0, data=body)
        assert (link.requests, link.repeated > 30) == (100, True)
    assert far.done == [(SerialMessage.WRITE, body) for body in wanted]


def test_a_clean_line_repeats_nothing() -> None:
    with board(echo) as far, Port(far.path, 115200) as port:
        link = Link(port)
        for body in bodies(20):
            assert link.ask(SerialMessage.READ, body).data == body
    assert link.repeated == 0


def test_what_a_board_prints_is_kept_and_old_answers_are_not() -> None:
    def talk(kind: int, body: bytes) -> bytes:
        far._send(b"\0\0" + bytes([SerialMessage.TEXT]) + b"hot\n")
        far._send(far._last[1] or b"\0\0\0")
        return echo(kind, body)

    with board(talk) as far, Port(far.path, 115200) as port:
        link = Link(port)
        found = [link.ask(SerialMessage.READ, body).data for body in (b"one", b"two", b"six")]
    assert (found, link.text) == ([b"one", b"two", b"six"], "hot\nhot\nhot\n")


def test_a_status_is_signed() -> None:
    with board(lambda _kind, _body: b"\xf7\xff\xff\xff") as far, Port(far.path, 115200) as port:
        assert Link(port).ask(SerialMessage.RUN).status == -9


@pytest.mark.usefixtures("impatient")
def test_nothing_answers(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(link_module, "FIRST_TRIES", 2)
    near, far = os.openpty()
    tty.setraw(far)
    path = os.ttyname(far)
    try:
        with Port(path, 115200) as port, pytest.raises(SimulationError) as caught:
            Link(port).ask(SerialMessage.HELLO)
    finally:
        os.close(near)
        os.close(far)
    assert str(caught.value).replace(path, "PORT") == (
        "error[E272]: nothing answers at 'PORT' to HELLO after 0 requests\n"
        "  help: flash firmware.serial.elf (docs/board.md), and check port, wires and --baud"
    )


def test_a_port_that_goes() -> None:
    near, far = os.openpty()
    path = os.ttyname(far)
    os.close(far)
    with Port(path, 115200) as port:
        os.close(near)
        with pytest.raises(SimulationError, match=r"E272.*the serial port '.*' is gone: "):
            Link(port).ask(SerialMessage.HELLO)


def test_ports_that_are_none(tmp_path: Path) -> None:
    near, far = os.openpty()
    path = os.ttyname(far)
    try:
        for name, baud, said in (
            (str(tmp_path / "ttyUSB0"), 9600, "cannot open the serial port '.*': No such file"),
            ("/dev/null", 9600, "'/dev/null' is no serial port with 9600 baud: Inappropriate"),
            (path, 12345, "no serial port has 12345 baud"),
        ):
            with pytest.raises(UsageError, match=f"E271.*{said}"):
                Port(name, baud)
    finally:
        os.close(near)
        os.close(far)


class Told:
    """A link to a board that tells names and nothing else."""

    def __init__(self, version: int, status: int, *names: str) -> None:
        self._hello = Answer(status=status, data=bytes([version, len(names) - 2]))
        self._names = names

    def ask(self, kind: SerialMessage, body: bytes = b"", *, seconds: float = 0.0) -> Answer:
        if kind is SerialMessage.HELLO:
            return self._hello
        return Answer(status=0, data=self._names[body[0]].encode())


REMEDY = (
    "\n  help: flash firmware.serial.elf of the package that `atoll bsp --serial` writes for this"
    " chip and these networks, with the same options of placement"
)
WRONG: Sequence[tuple[Told, str]] = (
    (Told(2, 0, "reef", DIGEST, "digits"), "the board speaks version 2 of the protocol, not 1"),
    (
        Told(1, 0, "twin", DIGEST, "digits"),
        "the board runs an image of chip 'twin', not of 'lagoon'",
    ),
    (Told(1, 0, "lagoon", DIGEST, "kws"), "the board runs 'kws', not 'digits'"),
    (
        Told(1, 0, "lagoon", DIGEST, "digits", "kws"),
        "the board runs 'digits' and 'kws', not 'digits'",
    ),
    (Told(1, 0, "lagoon", DIGEST), "the board runs no network, not 'digits'"),
    (
        Told(1, 0, "lagoon", "e" * 64, "digits"),
        "the board runs build eeeeeeeeeeee of 'digits', not 0123456789ab",
    ),
)


def greet(told: Told) -> None:
    model = SimpleNamespace(
        soc=SimpleNamespace(name="lagoon"), graph=SimpleNamespace(name="digits")
    )
    _greet(cast("Link", told), cast("Any", [model]), DIGEST)


@pytest.mark.parametrize(("told", "said"), WRONG)
def test_a_board_with_another_image_is_refused(told: Told, said: str) -> None:
    with pytest.raises(UsageError) as caught:
        greet(told)
    assert str(caught.value) == f"error[E273]: {said}{REMEDY}"


def test_a_board_that_did_not_start() -> None:
    greet(Told(1, 0, "lagoon", DIGEST, "digits"))
    with pytest.raises(SimulationError) as caught:
        greet(Told(1, -1, "lagoon", DIGEST, "digits"))
    assert str(caught.value) == (
        "error[E272]: the board could not start its devices: no such device\n"
        "  help: see what app/guard.c and app/serial.c do, and whether all devices are there"
    )


@pytest.mark.parametrize(
    ("symbols", "said"),
    [
        ({}, "'it.elf' does not have the serial protocol"),
        (
            {"atoll_serial_build": 0x100},
            "'it.elf' is build eeeeeeeeeeee of its networks, "
            "and those named are build 0123456789ab",
        ),
    ],
)
def test_an_image_of_another_build_is_refused(
    symbols: dict[str, int], said: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    text = Span(
        name=".rodata",
        begin=0x100,
        end=0x140,
        writable=False,
        executable=False,
        load=0x100,
        align=1,
        data=b"e" * 64,
    )
    image = ElfImage(
        machine="EM_RISCV",
        bits=32,
        flags=0,
        entry=0,
        sections=(text,),
        symbols=symbols,
        attributes={},
    )
    monkeypatch.setattr(board_run, "read_image", lambda _path: image)
    with pytest.raises(UsageError) as caught:
        board_run._require_build(Path("it.elf"), DIGEST)
    assert str(caught.value).startswith(f"error[E273]: {said}\n  help: ")
    if symbols:
        board_run._require_build(Path("it.elf"), "e" * 64)
