# SPDX-License-Identifier: Apache-2.0
"""`atoll serve` draws again after each save, and answers its own page alone."""

import http.client
import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass
from email.message import Message
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest
from tests.effort import cases

from atoll.cli.options import PlacementOptions
from atoll.diagnostics.errors import AtollError
from atoll_serve.cli import serve

pytest.importorskip("starlette", reason="needs the extra serve")
pytest.importorskip("uvicorn", reason="needs the extra serve")

ROOT = Path(__file__).parents[3]
DIGITS = ROOT / "examples" / "01_digits" / "digits_int8.tflite"
SECONDS = 120
STATE = dict[str, Any]


@dataclass(frozen=True)
class Answer:
    """What a server answered."""

    status: int
    headers: Message
    body: bytes


@dataclass(frozen=True)
class Server:
    """A server that runs, and its address."""

    process: subprocess.Popen[str]
    address: str

    def ask(self, path: str = "", method: str = "GET", host: str = "", **headers: str) -> "Answer":
        """Ask for a path below the address, or for one of its own that begins with a slash."""
        with self.opened(path, method, host, **headers) as response:
            return Answer(response.status, response.headers, response.read())

    @contextmanager
    def opened(
        self, path: str, method: str = "GET", host: str = "", **headers: str
    ) -> Iterator[http.client.HTTPResponse]:
        """Ask likewise, and read as the answer comes."""
        parts = urlsplit(self.address)
        connection = http.client.HTTPConnection(parts.hostname or "", parts.port, timeout=SECONDS)
        connection.putrequest(method, path if path[:1] == "/" else parts.path + path, True, True)
        connection.putheader("Host", host or parts.netloc)
        for name, value in headers.items():
            connection.putheader(name.replace("_", "-"), value)
        connection.endheaders()
        with closing(connection), connection.getresponse() as response:
            yield response

    @contextmanager
    def states(self) -> Iterator[Iterator[STATE]]:
        """Let what the page is told be read one by one."""
        with self.opened("events") as events:
            yield (json.loads(line[6:]) for line in events if line.startswith(b"data: "))


@pytest.fixture
def chip(tmp_path: Path) -> Path:
    path = tmp_path / "chip.yaml"
    path.write_text((ROOT / "socs" / "lagoon.yaml").read_text())
    return path


@contextmanager
def served(*words: object) -> Iterator[Server]:
    command = [sys.executable, "-m", "atoll", "serve", *map(str, words)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        try:
            yield Server(process, process.stdout.readline().strip())
        finally:
            process.send_signal(signal.SIGINT)
            assert process.wait(SECONDS) == 0


def drawn(states: Iterator[STATE], number: int) -> STATE:
    """Return the first state that is at rest and has this picture."""
    return next(each for each in states if each["picture"] >= number and not each["busy"])


def test_a_save_draws_again_and_a_fault_keeps_the_picture(chip: Path) -> None:
    with served(chip, DIGITS) as server, server.states() as states:
        assert drawn(states, 1)["faults"] == []
        before = server.ask("report").body
        text = chip.read_text()
        chip.write_text(text.replace("size: 48 KiB", "size: 32 KiB"))
        drawn(states, 2)
        assert server.ask("report").body != before
        chip.write_text(text + "pools: [\n")
        broken = next(each for each in states if each["faults"])
        assert "E001" in broken["faults"][0] or "chip.yaml" in broken["faults"][0]
        assert b"Memory over time" in server.ask("report").body
        chip.unlink()
        next(each for each in states if "E0" in each["faults"][0] and each != broken)
        chip.write_text(text)
        assert drawn(states, 3)["faults"] == []
        assert server.ask("report").body == before


def test_files_that_a_chip_extends_are_followed(chip: Path, tmp_path: Path) -> None:
    top = tmp_path / "top.yaml"
    top.write_text("extends: chip.yaml\nsoc: top\n")
    with served(top) as server, server.states() as states:
        drawn(states, 1)
        chip.write_text(chip.read_text().replace("size: 48 KiB", "size: 32 KiB"))
        drawn(states, 2)


def test_a_run_ends_in_the_picture(chip: Path) -> None:
    with served(chip, DIGITS) as server, server.states() as states:
        drawn(states, 1)
        assert server.ask("run?cpu=none", "POST").status == 400
        assert server.ask("run?cpu=native", "GET").status == 405
        assert b'"bit_exact"' not in server.ask("report").body
        assert server.ask("run?cpu=native", "POST").status == 202
        assert any(each["running"] for each in states)
        assert drawn(states, 2)["run"] == ""
        assert b'"bit_exact"' in server.ask("report").body


def test_only_its_own_page_is_answered(chip: Path) -> None:
    with served(chip) as server, server.states() as states:
        drawn(states, 1)
        parts = urlsplit(server.address)
        port = parts.port
        own = f"http://{parts.netloc}"
        for headers in (
            {"Origin": "http://other.example"},
            {"Origin": "null"},
            {"Origin": f"https://{parts.netloc}"},
            {"Sec_Fetch_Site": "cross-site"},
            {"Sec_Fetch_Site": "same-site"},
        ):
            assert server.ask(**headers).status == 403, headers
        for host in ("other.example", f"other.example:{port}", "127.0.0.1", f"127.0.0.1:{port}.x"):
            assert server.ask(host=host).status == 403, host
        assert server.ask(Origin=own, Sec_Fetch_Site="same-origin").status == 200
        assert server.ask(host=f"localhost:{port}").status == 200
        for path in ("/", "/report", f"{parts.path[:-2]}/", f"{parts.path[:-1]}x/", "//report"):
            assert server.ask(path).status == 404, path
        tricks = ("../x/report", "%2e%2e/chip.yaml", "page.html", "static/page.js", "/etc/passwd")
        for path in (*tricks, "..%2fchip.yaml", "report/", "./report", "report%00"):
            assert server.ask(path).status == 404, path
        for name, kind in (("", "html"), ("page.js", "javascript"), ("page.css", "css")):
            answer = server.ask(name)
            assert kind in (answer.headers.get("Content-Type") or "")
            assert "default-src 'none'" in (answer.headers.get("Content-Security-Policy") or "")
            assert answer.headers.get("Referrer-Policy") == "no-referrer"
            assert answer.headers.get("Access-Control-Allow-Origin") is None


def test_packages_that_are_absent_are_named(monkeypatch: pytest.MonkeyPatch, chip: Path) -> None:
    monkeypatch.setattr("atoll_serve.cli.find_spec", lambda name: None)
    with pytest.raises(AtollError) as caught:
        serve(chip, placement=PlacementOptions())
    assert caught.value.code == "E236"
    assert "pip install 'atoll[serve]'" in str(caught.value)


def test_a_chip_that_is_not_there_is_refused() -> None:
    with pytest.raises(AtollError) as caught:
        serve(Path("absent.yaml"), placement=PlacementOptions())
    assert caught.value.code == "E001"


def test_a_port_that_is_taken_is_refused(chip: Path) -> None:
    with served(chip) as server, pytest.raises(AtollError) as caught:
        serve(chip, placement=PlacementOptions(), port=urlsplit(server.address).port or 0)
    assert caught.value.code == "E237"


def test_an_interrupt_that_comes_with_the_address_ends_it(chip: Path) -> None:
    """A shell has processes in the background ignore interrupts until they ask for them."""
    before = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        with served(chip) as server:
            pass
    finally:
        signal.signal(signal.SIGINT, before)
    assert server.process.returncode == 0


def used_by(process: int) -> tuple[int, int, int]:
    """Return MiB of memory, open files and threads of a process."""
    folder = Path("/proc") / str(process)
    pages = int((folder / "statm").read_text().split()[1])
    mib = pages * os.sysconf("SC_PAGE_SIZE") // 2**20
    return mib, len(list((folder / "fd").iterdir())), len(list((folder / "task").iterdir()))


@pytest.mark.skipif(not Path("/proc/self/statm").exists(), reason="needs /proc of Linux")
@pytest.mark.slow
def test_saves_in_a_row_leak_nothing(chip: Path) -> None:
    text = chip.read_text()
    with served(chip, DIGITS) as server, server.states() as states:
        warm, many = 10, 10 + cases(200, 20)
        for number in range(many):
            drawn(states, number + 1)
            if number == warm:
                before = used_by(server.process.pid)
            chip.write_text(f"{text}\n# save {number}\n")
        drawn(states, many + 1)
        after = used_by(server.process.pid)
    assert after[0] <= before[0] + 12, (before, after)
    assert after[1:] == before[1:], (before, after)
