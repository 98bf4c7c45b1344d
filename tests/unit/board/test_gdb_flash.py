# SPDX-License-Identifier: Apache-2.0
"""The memory maps for stubs: gdb gets them from one, and has the chip's flash."""

import re
import shutil
import socket
import subprocess
from pathlib import Path
from threading import Thread

import pytest
from tests.unit.board.test_gdb import reached

from atoll.resolve import load_soc
from atoll_board.package import Board, package_files

ROOT = Path(__file__).parents[3]
OWN = ROOT / "tests" / "data" / "bay.yaml"
ROW = re.compile(r"^\d+\s+y\s+(0x\w+)\s+(0x\w+)\s+(.*?) nocache\s*$", re.M)
CHUNK = 0x100
"""Bytes of a map in one answer, so that gdb asks more than once."""


def answer(request: str, memory_map: str) -> str:
    """Return what a stub of a chip that does not run says.

    Source: GDB manual, "Remote Serial Protocol", for ``W``, ``qSupported`` and ``qXfer``.
    """
    if request.startswith("qSupported"):
        return "PacketSize=1000;qXfer:memory-map:read+"
    if asked := re.fullmatch(r"qXfer:memory-map:read::(\w+),(\w+)", request):
        begin, size = (int(word, 16) for word in asked.groups())
        part = memory_map[begin : begin + min(size, CHUNK)]
        return ("l" if begin + len(part) == len(memory_map) else "m") + part
    return "W00" if request == "?" else ""


def serve(listening: socket.socket, memory_map: str) -> None:
    """Be the stub of one connection, until gdb ends it."""
    connection, _ = listening.accept()
    with connection:
        text = ""
        while data := connection.recv(4096):
            text += data.decode("latin-1")
            while found := re.search(r"\$([^#]*)#..", text):
                text = text[found.end() :]
                said = answer(found[1], memory_map)
                check = sum(said.encode("latin-1")) % 256
                connection.sendall(f"+${said}#{check:02x}".encode("latin-1"))


def regions(memory_map: str) -> list[tuple[int, int, str]]:
    """Return what gdb knows when a stub has handed it a map: address, end and attributes."""
    with socket.create_server(("127.0.0.1", 0)) as listening:
        Thread(target=serve, args=(listening, memory_map), daemon=True).start()
        target = f"target extended-remote 127.0.0.1:{listening.getsockname()[1]}"
        command = ["gdb", "-nx", "-batch", "-ex", target, "-ex", "info mem"]
        done = subprocess.run(command, capture_output=True, text=True, check=True, timeout=60)
    assert "rror" not in done.stderr, done.stderr
    assert "warning" not in done.stderr, done.stderr
    assert "regions provided by the target" in done.stdout
    return [(int(one, 16), int(end, 16), what) for one, end, what in ROW.findall(done.stdout)]


@pytest.mark.skipif(not shutil.which("gdb"), reason="gdb is not installed")
@pytest.mark.parametrize("chip", ["lagoon", "stm32h747", "rp2040", str(OWN)])
def test_gdb_has_the_core_s_flash(chip: str) -> None:
    soc = load_soc(chip)
    board = Board(soc=soc)
    files = package_files(board, ["gdb"])["gdb"]
    for core in board.cores:
        wanted = set()
        for begin, end, mode in reached(soc, core):
            sectors = [each.sector for each in soc.memories if each.origin == begin and each.sector]
            what = f"flash blocksize {sectors[0]:#x}" if sectors else mode.removesuffix(" 32")
            wanted.add((begin, end, what))
        found = regions(files[f"gdb/{core.name}.xml"].data.decode())
        assert len(found) == len(wanted)
        assert {*found} == wanted
        assert any("flash" in what for *_, what in found) == any(m.sector for m in soc.memories)
