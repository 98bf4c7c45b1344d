# SPDX-License-Identifier: Apache-2.0
"""The C of a board's serial protocol, on this machine, against the host's side of it.

Both run in one thread and nobody waits: a line with nothing on it is a time-out.
"""

import ctypes
import random
import subprocess
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, cast

import numpy as np
import pytest

from atoll.artifacts.build_tree import part_of
from atoll.artifacts.samples import Sample
from atoll.diagnostics.errors import AtollError, UsageError
from atoll.diagnostics.progress import silent
from atoll.driver.pipeline import Compiled, compile_file
from atoll.ops import reference
from atoll.protocol import SerialMessage, Status
from atoll.resolve import load_soc
from atoll_board.package import Board
from atoll_board.serial import serial_files
from atoll_board.uart import parse_uart
from atoll_sim.board.link import Link
from atoll_sim.board.session import run_samples
from atoll_sim.trace.simulation import SimResult

if TYPE_CHECKING:
    from atoll_sim.board.port import Port

ROOT = Path(__file__).parents[3]
EXAMPLE = ROOT / "examples" / "01_digits"
DIGEST = 4 * "0123456789abcdef"
SAMPLES = 100
PAINT = 0xA5A5A5A5


class Chip:
    """The C as a library, at the end of a line of which a share of bytes is changed or lost.

    Attributes:
        runs: how often a network ran.
        harmed: how many bytes were changed or lost.
    """

    path, baud = "line", 115200

    def __init__(self, library: Path, compiled: Compiled, share: float, seed: int = 2026) -> None:
        self.runs = self.harmed = 0
        self._graph, self._soc = compiled.graph, compiled.soc
        self._share, self._dice = share, random.Random(seed)
        self._sent = bytearray()
        self.c = ctypes.CDLL(str(library))
        self._calls = (
            ctypes.CFUNCTYPE(None, ctypes.c_uint8)(self._put),
            ctypes.CFUNCTYPE(ctypes.c_int32, ctypes.c_uint32)(self._run),
        )
        for name, call in zip(("test_put", "test_run"), self._calls, strict=True):
            ctypes.c_void_p.in_dll(self.c, name).value = ctypes.cast(call, ctypes.c_void_p).value
        (ctypes.c_uint32 * 64).in_dll(self.c, "test_stack")[:60] = [PAINT] * 60

    def write(self, data: bytes, deadline: float) -> None:
        for byte in self._harm(data):
            self.c.atoll_serial_take(ctypes.c_uint8(byte), ctypes.c_int32(0))

    def read(self, deadline: float) -> bytes:
        data, self._sent = self._harm(bytes(self._sent)), bytearray()
        return data

    def _put(self, byte: int) -> None:
        self._sent.append(byte)

    def _run(self, network: int) -> int:
        assert network == 0
        self.runs += 1
        [name], [output] = self._graph.inputs, self._graph.outputs
        given = np.frombuffer(bytes((ctypes.c_uint8 * 64).in_dll(self.c, "test_input")), np.int8)
        sample = {name: given.reshape(self._graph.tensor(name).shape)}
        made = reference.run(self._graph, sample, self._soc)[output].tobytes()
        (ctypes.c_uint8 * 64).in_dll(self.c, "test_output")[: len(made)] = list(made)
        for number in range(len(self._graph.operators)):
            self.c.atoll_serial_operator_begins(ctypes.c_int32(number))
            ctypes.c_uint32.in_dll(self.c, "test_time").value += 10 + number
            self.c.atoll_serial_operator_ends(ctypes.c_int32(number))
        return 0

    def _harm(self, data: bytes) -> bytes:
        made = bytearray()
        for byte in data:
            if self._dice.random() >= self._share:
                made.append(byte)
                continue
            self.harmed += 1
            if self._dice.random() < 0.5:
                made.append(byte ^ self._dice.randrange(1, 256))
        return bytes(made)


@pytest.fixture(scope="module")
def compiled() -> Compiled:
    return compile_file(load_soc("lagoon"), EXAMPLE / "digits_int8.tflite")


@pytest.fixture(scope="module")
def samples(compiled: Compiled) -> tuple[Sample, ...]:
    [name] = compiled.graph.inputs
    held_out = np.load(EXAMPLE / "digits_test.npz")["x"][:SAMPLES]
    return tuple({name: each[np.newaxis]} for each in held_out)


@pytest.fixture(scope="module")
def library(
    compiled: Compiled, tmp_path_factory: pytest.TempPathFactory
) -> Callable[[str, str], Path]:
    """Return what builds the protocol for this machine, with a fault if one is wanted."""
    part = replace(part_of(compiled), codes=lambda: {"cpu": b"object"})
    board = Board(
        soc=compiled.soc,
        parts=(part,),
        networks=(compiled,),
        uart=parse_uart("ns16550@0x1000_0000"),
    )
    texts = {path: entry.data.decode() for path, entry in serial_files(board).items()}
    header = board.texts["atoll_status.h"]

    def build(old: str = "", new: str = "") -> Path:
        folder = tmp_path_factory.mktemp("serial")
        source = texts["serial/protocol.c"]
        assert old in source
        (folder / "protocol.c").write_text(source.replace(old, new, 1) if old else source)
        (folder / "atoll_serial.h").write_text(texts["include/atoll_serial.h"])
        (folder / "atoll_status.h").write_text(header)
        library = folder / "board.so"
        flags: tuple[str, ...] = ("-std=c99", "-O1", "-Wall", "-Wextra", "-shared", "-fPIC")
        flags += () if old else ("-Werror", "-pedantic")
        sources = (folder / "protocol.c", ROOT / "tests" / "data" / "serial_board.c")
        command = ["gcc", *flags, f"-I{folder}", "-o", library, *sources]
        subprocess.run(list(map(str, command)), check=True)
        return library

    return build


def ran(chip: Chip, compiled: Compiled, samples: tuple[Sample, ...]) -> tuple[Link, SimResult]:
    link = Link(cast("Port", chip))
    return link, run_samples(link, (compiled,), (samples,), DIGEST, silent)


def wrong(result: SimResult, compiled: Compiled, samples: tuple[Sample, ...]) -> int:
    """Count outputs that differ from the reference."""
    [name] = compiled.graph.outputs
    right = [reference.run(compiled.graph, each, compiled.soc)[name].tobytes() for each in samples]
    return sum(each[name] != one for each, one in zip(result.outputs, right, strict=True))


def test_all_samples_are_right_on_a_bad_line(
    compiled: Compiled, samples: tuple[Sample, ...], library: Callable[..., Path]
) -> None:
    chip = Chip(library(), compiled, share=0.01)
    link, result = ran(chip, compiled, samples)
    assert (len(result.outputs), wrong(result, compiled, samples)) == (SAMPLES, 0)
    assert chip.runs == SAMPLES
    assert chip.harmed > SAMPLES
    assert link.repeated > SAMPLES
    labels = np.load(EXAMPLE / "digits_test.npz")["y"][:SAMPLES]
    [name] = compiled.graph.outputs
    classes = [int(np.argmax(np.frombuffer(each[name], np.int8))) for each in result.outputs]
    assert sum(map(int, np.equal(classes, labels))) >= SAMPLES * 9 // 10


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("!is_repeated()", "is_repeated() != 2"),
        ("fcs != FCS_GOOD", "request.count < HEAD + CHECK"),
        ("  fcs = ~fcs;\n", ""),
    ],
)
def test_faults_of_a_board_are_noticed(
    old: str,
    new: str,
    compiled: Compiled,
    samples: tuple[Sample, ...],
    library: Callable[..., Path],
) -> None:
    chip = Chip(library(old, new), compiled, share=0.01)
    try:
        _, result = ran(chip, compiled, samples)
    except (AtollError, IndexError):
        return
    assert chip.runs > SAMPLES or wrong(result, compiled, samples)


def test_cycles_and_stacks_arrive(
    compiled: Compiled, samples: tuple[Sample, ...], library: Callable[..., Path]
) -> None:
    chip = Chip(library(), compiled, share=0.0)
    link, result = ran(chip, compiled, samples[:2])
    assert link.repeated == 0
    count = len(compiled.graph.operators)
    length = sum(10 + number for number in range(count))
    assert result.cycles == 2 * length
    for sample in range(2):
        phases = [each for each in result.phases if each.sample == sample and each.operators]
        assert [(each.operators, each.end - each.begin) for each in phases] == [
            ((number,), 10 + number) for number in range(count)
        ]
    assert result.stacks["cpu"] == 240 * b"\xa5" + bytes(16)


@pytest.mark.parametrize(
    ("kind", "body"),
    [
        (SerialMessage.NAME, b"\3"),
        (SerialMessage.WRITE, b"\1\0\0\0\0\0x"),
        (SerialMessage.WRITE, b"\0\1\0\0\0\0x"),
        (SerialMessage.WRITE, b"\0\0\x40\0\0\0x"),
        (SerialMessage.WRITE, b"\0\0\xff\xff\xff\xffxx"),
        (SerialMessage.WRITE, b"\0\0\0"),
        (SerialMessage.RUN, b"\1"),
        (SerialMessage.READ, b"\0\0\0\0\0\0\x0b"),
        (SerialMessage.READ, b"\0\0\x0a\0\0\0\1"),
        (SerialMessage.READ, b"\0\0\0\0\0\0\xff"),
        (SerialMessage.STACKS, b"\1"),
        (SerialMessage.TEXT, b""),
    ],
)
def test_what_is_out_of_range_is_refused(
    kind: SerialMessage, body: bytes, compiled: Compiled, library: Callable[..., Path]
) -> None:
    chip = Chip(library(), compiled, share=0.0)
    answer = Link(cast("Port", chip)).ask(kind, body)
    assert answer.status == Status.ARGUMENT
    assert chip.runs == 0


@pytest.mark.parametrize("text", ["ns16550@0x1000_0000", "ns16550@268435456", "ns16550@0X10000000"])
def test_a_uart_and_its_address(text: str) -> None:
    assert parse_uart(text).address == 0x1000_0000


@pytest.mark.parametrize("text", ["", "ns16550", "ns16550@", "@0", "cmsdk@0x", "cmsdk@-1"])
def test_what_is_no_uart(text: str) -> None:
    with pytest.raises(UsageError, match="E270"):
        parse_uart(text)
