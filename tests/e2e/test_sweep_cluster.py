# SPDX-License-Identifier: Apache-2.0
"""Sweeps by workers: the table of one process, whatever happens to them."""

import json
import os
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from tests.unit.sweep.sweeps import small

import atoll
from atoll_sweep import crew

AXES = {
    "devices.npu.params.output_lanes": [4, 5, 8],
    "memories.flash.read_latency": {"from": 1, "to": 8, "step": 1},
    "pools.shared.size": ["4 KiB", "16 KiB", "64 KiB"],
}
SWEEP = small(axes=AXES)


@pytest.fixture(scope="module")
def expected(tmp_path_factory: pytest.TempPathFactory) -> bytes:
    folder = tmp_path_factory.mktemp("alone") / "out"
    atoll.sweep(SWEEP, folder, workers=0)
    return table(folder)


def table(folder: Path) -> bytes:
    return (folder / "results.parquet").read_bytes()


@contextmanager
def started(*words: str) -> Iterator[subprocess.Popen[bytes]]:
    """Start a part of a cluster, and end it with all that it started."""
    process = subprocess.Popen(
        [sys.executable, "-m", "dask", *words],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
    )
    try:
        yield process
    finally:
        os.killpg(process.pid, signal.SIGKILL)
        process.wait()


@contextmanager
def scheduler() -> Iterator[tuple[str, subprocess.Popen[bytes]]]:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    address = f"tcp://127.0.0.1:{port}"
    words = ("scheduler", "--host", "127.0.0.1", "--port", str(port), "--no-dashboard")
    with started(*words) as process:
        for _ in range(300):
            with socket.socket() as trial:
                if trial.connect_ex(("127.0.0.1", port)) == 0:
                    break
            time.sleep(0.1)
        yield address, process


def worker(address: str) -> Any:
    return started(
        *("worker", address, "--host", "127.0.0.1", "--nthreads", "1", "--nworkers", "1"),
        *("--no-dashboard", "--local-directory", os.environ.get("TMPDIR", "/tmp")),
    )


def test_workers_of_this_computer_make_the_same_table_and_may_die(
    expected: bytes, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    killed: list[int] = []
    real = crew.Cluster.ask

    def ask(self: Any, points: Any, stage: str) -> Any:
        workers = [*self.client.run(os.getpid).values()]
        for rows in real(self, points, stage):
            if not killed:
                os.kill(workers[0], signal.SIGKILL)
                killed.append(workers[0])
            yield rows

    monkeypatch.setattr(crew.Cluster, "ask", ask)
    monkeypatch.setattr(crew, "_next_size", lambda size, points, seconds: 4)
    atoll.sweep(SWEEP, tmp_path / "out", workers=2)
    assert killed
    assert table(tmp_path / "out") == expected


def dies_at_one_point(soc: atoll.Soc, made: object) -> float:
    if soc.pool_size_bytes["shared"] == 2**14:
        os.kill(os.getpid(), signal.SIGKILL)
    return 1.0


@pytest.mark.slow
def test_a_point_at_which_workers_die_is_a_row(tmp_path: Path) -> None:
    axes = {"pools.shared.size": ["8 KiB", "16 KiB", "32 KiB", "64 KiB"]}
    found = atoll.sweep(
        small(axes=axes),
        tmp_path / "out",
        workers=1,
        objectives={"dies": dies_at_one_point},
    )
    assert [row["status"] for row in found.rows()] == ["ok", "E234", "ok", "ok"]


def test_a_cluster_that_others_started(
    expected: bytes, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(crew, "_next_size", lambda size, points, seconds: 2)
    with scheduler() as (address, process), worker(address), worker(address):
        atoll.sweep(SWEEP, tmp_path / "whole", scheduler=address)
        assert table(tmp_path / "whole") == expected
        real = crew.Cluster.ask

        def ask(self: Any, points: Any, stage: str) -> Any:
            for number, rows in enumerate(real(self, points, stage)):
                if number == 3:
                    process.kill()
                yield rows

        monkeypatch.setattr(crew.Cluster, "ask", ask)
        with pytest.raises(atoll.ToolchainError) as caught:
            atoll.sweep(SWEEP, tmp_path / "part", scheduler=address)
    (fault,) = caught.value.faults
    assert fault.code == "E229"
    assert "--resume" in str(fault.remedy)
    monkeypatch.setattr(crew.Cluster, "ask", real)
    assert atoll.load_sweep(tmp_path / "part").computed >= 6, "what was finished is kept"
    atoll.sweep(SWEEP, tmp_path / "part", workers=0, resume=True)
    assert table(tmp_path / "part") == expected


@pytest.mark.slow
def test_an_error_of_atoll_is_a_row_of_its_point(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    axes = {"pools.shared.size": ["8 KiB", "16 KiB", "32 KiB", "64 KiB"]}

    def answer(name: str, points: list[int], stage: str) -> Any:
        return [{"point": one, "status": "ok"} if one != 1 else [][one] for one in points], 1.0

    monkeypatch.setattr(crew, "_answer", answer)
    found = atoll.sweep(small(axes=axes, stages={"estimate": "all"}), tmp_path / "out", workers=1)
    assert [row["status"] for row in found.rows()] == ["ok", "crashed", "ok", "ok"]
    assert "IndexError" in str(found.rows()[1]["fault"])


def test_workers_that_would_answer_otherwise_are_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    found = {"tcp://other": ("0.0.1", "")}
    monkeypatch.setattr("distributed.Client.run", lambda *words: found)
    with pytest.raises(atoll.ToolchainError, match=r"worker tcp://other has Atoll 0\.0\.1"):
        atoll.sweep(SWEEP, tmp_path / "out", workers=1)
    found["tcp://other"] = (atoll.__version__, "other files")
    with pytest.raises(atoll.ToolchainError, match="installed descriptions or objectives"):
        atoll.sweep(SWEEP, tmp_path / "out", workers=1, resume=True)


def test_an_objective_that_cannot_go_to_workers(tmp_path: Path) -> None:
    lock = threading.Lock()

    def locked(soc: atoll.Soc, made: object) -> float:
        with lock:
            return 1.0

    with pytest.raises(atoll.UsageError, match="cannot go to workers") as caught:
        atoll.sweep(SWEEP, tmp_path / "out", workers=1, objectives={"locked": locked})
    assert caught.value.faults[0].code == "E244"
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize("address", ["foo", "", "http://x:1", "inproc://x"])
def test_addresses_that_are_none(tmp_path: Path, address: str) -> None:
    with pytest.raises(atoll.ToolchainError, match="cannot be used") as caught:
        atoll.sweep(SWEEP, tmp_path / "out", scheduler=address)
    assert caught.value.faults[0].code == "E229"
    assert not (tmp_path / "out").exists(), "the next try needs no --resume"


@pytest.mark.slow
@pytest.mark.parametrize("seconds", [1.2, 1.6, 2, 4])
def test_ctrl_c_ends_a_sweep_and_loses_nothing(tmp_path: Path, seconds: float) -> None:
    """Also while workers begin, which never hear of it."""
    axes = AXES | {"memories.flash.read_latency": {"from": 1, "to": 64, "step": 1}}
    (tmp_path / "sweep.yaml").write_text(json.dumps(small(axes=axes)))
    words = ["sweep", str(tmp_path / "sweep.yaml"), "-o", str(tmp_path / "out"), "--workers", "2"]
    process = subprocess.Popen(
        [sys.executable, "-m", "atoll", *words],
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        start_new_session=True,
    )
    time.sleep(seconds)
    os.killpg(process.pid, signal.SIGINT)
    said = process.communicate(timeout=60)[0].decode()
    assert process.returncode == 130
    assert "Traceback" not in said
    assert said.endswith("go on with --resume\ninterrupted\n")
    found = atoll.sweep(tmp_path / "sweep.yaml", tmp_path / "out", workers=0, resume=True)
    assert found.finished
    assert len(found.rows()) == 3 * 64 * 3


@pytest.mark.slow
def test_no_scheduler_there(tmp_path: Path) -> None:
    with pytest.raises(atoll.ToolchainError) as caught:
        atoll.sweep(SWEEP, tmp_path / "out", scheduler="tcp://127.0.0.1:9")
    assert caught.value.faults[0].code == "E229"
