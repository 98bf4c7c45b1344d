# SPDX-License-Identifier: Apache-2.0
"""Sweeps by workers: the table of one process, whatever happens to them."""

import errno
import json
import os
import shutil
import signal
import socket
import subprocess
import sys
import threading
import time
from contextlib import ExitStack, suppress
from pathlib import Path
from typing import Any

import dask
import distributed
import pytest
from tests.counted_builds import CountedBuilds
from tests.namespaces import lack_of_namespaces
from tests.slow_links import Relay, scheduler, slow_cluster, worker
from tests.unit.sweep.sweeps import small

import atoll
from atoll_sweep import crew, on_worker

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


def python_path(first: Path) -> str:
    """Return where Python looks for modules, ``first`` before what the shell says, if anything."""
    return os.pathsep.join([str(first), *filter(None, [os.environ.get("PYTHONPATH")])])


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
    monkeypatch.setattr(crew.Pace, "size_of", lambda self, waiting, workers: min(4, waiting))
    atoll.sweep(SWEEP, tmp_path / "out", workers=2)
    assert killed
    assert table(tmp_path / "out") == expected


def dies_at_one_point(soc: atoll.Soc, made: object) -> float:
    if soc.pool_size_bytes["shared"] == 2**14:
        os.kill(os.getpid(), signal.SIGKILL)
    return 1.0


@pytest.mark.slow
def test_a_point_at_which_workers_die_is_a_row(tmp_path: Path) -> None:
    """Also where a worker needs longer to begin again than Dask would wait."""
    axes = {"pools.shared.size": ["8 KiB", "16 KiB", "32 KiB", "64 KiB"]}
    with dask.config.set({"distributed.deploy.lost-worker-timeout": "100ms"}):
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
    monkeypatch.setattr(crew.Pace, "size_of", lambda self, waiting, workers: min(2, waiting))
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

    def answer(asked: object, points: list[int], stage: str) -> Any:
        rows = [{"point": one, "status": "ok"} if one != 1 else [][one] for one in points]
        return on_worker.Answers(rows, 1.0)

    monkeypatch.setattr(on_worker, "answer", answer)
    found = atoll.sweep(small(axes=axes, stages={"estimate": "all"}), tmp_path / "out", workers=1)
    assert [row["status"] for row in found.rows()] == ["ok", "crashed", "ok", "ok"]
    assert "IndexError" in str(found.rows()[1]["fault"])


EXAMPLES = Path(__file__).parents[2] / "examples"

SCORE = """
import json
import prices
from pathlib import Path

def price(soc, compiled):
    table = json.loads(Path(__file__).with_name("table.json").read_text())
    if soc.pool_size_bytes["shared"] == 64 * 1024:
        raise ValueError("too large")
    return prices.of(soc) * table["factor"]
"""


@pytest.fixture
def far_sweep(tmp_path: Path) -> Path:
    """A sweep with all kinds of files: also a chip and an accelerator, named absolutely."""
    folder = tmp_path / "author" / "sweep"
    own = tmp_path / "author" / "own"
    folder.mkdir(parents=True)
    own.mkdir()
    for name in ("tern.sv", "tern.py"):
        shutil.copy(EXAMPLES / "07_own_accelerator" / name, own)
    text = (EXAMPLES / "07_own_accelerator" / "tern.yaml").read_text()
    (own / "tern.yaml").write_text(text.replace(": tern:", ": ./tern.py:"))
    (folder / "score.py").write_text(SCORE)
    (folder / "prices.py").write_text("def of(soc):\n    return soc.host_clock_hz\n")
    (folder / "table.json").write_text(json.dumps({"factor": 3}))
    chip = (EXAMPLES / "07_own_accelerator" / "chip.yaml").read_text()
    chip = chip.replace("../../socs/lagoon.yaml", "lagoon").replace(
        "./tern.yaml", f"{own}/tern.yaml"
    )
    (folder / "chip.yaml").write_text(chip)
    asked = small(
        soc=str(folder / "chip.yaml"),
        networks=[str(EXAMPLES / "07_own_accelerator" / "network.tflite")],
        axes={
            "pools.shared.size": ["32 KiB", "64 KiB"],
            "devices.npu.accelerator": ["reef", "./missing.yaml"],
        },
        objectives=["cycles", f"{folder}/score.py:price"],
    )
    (folder / "sweep.yaml").write_text(json.dumps(asked))
    return folder


def test_files_travel_to_workers_that_see_none_of_them(
    far_sweep: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    away = far_sweep.parents[1] / "away"
    real = crew.Cluster.prepare

    def prepare(self: crew.Cluster) -> None:
        real(self)
        far_sweep.parent.rename(away)

    there = tmp_path / "there"
    there.mkdir()
    with scheduler() as (address, _), worker(address, folder=there):
        alone = atoll.sweep(far_sweep / "sweep.yaml", tmp_path / "alone", workers=0)
        monkeypatch.setattr(crew.Cluster, "prepare", prepare)
        far = atoll.sweep(far_sweep / "sweep.yaml", tmp_path / "far", scheduler=address)
        assert not list(there.rglob("sweep-*")), "files go when the sweep ends"
    assert [row["status"] for row in alone.rows()] == ["ok", "E001", "ok", "E001"]
    assert [row[f"{far_sweep}/score.py:price"] is None for row in alone.rows()] == [
        False,
        *[True] * 3,
    ]
    assert f"({far_sweep}/score.py, line" in alone.rows()[2]["fault"]
    assert far.rows() == alone.rows()
    assert table(tmp_path / "far") == table(tmp_path / "alone")


def test_what_cannot_travel_is_named(far_sweep: Path, tmp_path: Path) -> None:
    plug_in = tmp_path / "plug_in"
    plug_in.mkdir()
    (plug_in / "of_a_plug_in.py").write_text("def price(soc, compiled):\n    return 1.0\n")
    asked = small(objectives=["of_a_plug_in:price"])
    here = {**os.environ, "PYTHONPATH": python_path(plug_in)}
    (tmp_path / "sweep.yaml").write_text(json.dumps(asked))
    with scheduler() as (address, _), worker(address):
        words = ["sweep", "sweep.yaml", "-o", "out", "--scheduler", address]
        done = subprocess.run(
            [sys.executable, "-m", "atoll", *words],
            cwd=tmp_path,
            env=here,
            capture_output=True,
            text=True,
            timeout=120,
        )
    assert done.returncode == 1
    assert "lacks the package 'of_a_plug_in'" in done.stderr
    assert "E229" in done.stderr
    assert not (tmp_path / "out").exists()


@pytest.mark.slow
def test_slow_messages_change_nothing(expected: bytes, tmp_path: Path) -> None:
    with slow_cluster(2, delay=0.03) as way:
        atoll.sweep(SWEEP, tmp_path / "out", scheduler=way.address)
    assert table(tmp_path / "out") == expected


@pytest.mark.slow
def test_workers_in_other_network_namespaces_change_nothing(
    expected: bytes, tmp_path: Path
) -> None:
    """None of them reaches another but by relays, each of which delays what it passes on."""
    if why := lack_of_namespaces():
        pytest.skip(f"no network namespace can be made: {why}")
    with slow_cluster(2, delay=0.03, apart=True) as way:
        atoll.sweep(SWEEP, tmp_path / "out", scheduler=way.address)
        with distributed.Client(way.address, set_as_default=False) as client:
            link = Path("/proc/self/ns/net")
            networks = {link.readlink(), client.run_on_scheduler(link.readlink)}
            networks |= {*client.run(link.readlink).values()}
            host, _, port = client.scheduler_info()["address"].rpartition("//")[2].partition(":")
            direct = client.run(lambda: socket.socket().connect_ex((host, int(port)))).values()
    assert len(networks) == 4
    assert [*direct] == [errno.ENETUNREACH] * 2, "relays are the only way"
    assert table(tmp_path / "out") == expected


@pytest.mark.slow
def test_a_connection_that_breaks_and_comes_back(
    expected: bytes, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    real = crew.Cluster.ask
    with scheduler() as (address, _), worker(address):
        way = Relay(("127.0.0.1", int(address.rpartition(":")[2])), 0.0)

        def ask(self: Any, points: Any, stage: str) -> Any:
            for number, rows in enumerate(real(self, points, stage)):
                yield rows
                if number == 2:
                    way.cut()

        monkeypatch.setattr(crew.Cluster, "ask", ask)
        with pytest.raises(atoll.ToolchainError, match="cannot be used"):
            atoll.sweep(SWEEP, tmp_path / "out", scheduler=way.address)
        monkeypatch.setattr(crew.Cluster, "ask", real)
        way.join()
        assert not atoll.load_sweep(tmp_path / "out").finished
        atoll.sweep(SWEEP, tmp_path / "out", scheduler=way.address, resume=True)
        way.close()
    assert table(tmp_path / "out") == expected


def processes_of(session: int) -> list[int]:
    """Return the processes of a session that are not zombies."""
    found = []
    for status in Path("/proc").glob("[0-9]*/stat"):
        with suppress(OSError):
            words = status.read_text().rpartition(")")[2].split()
            if int(words[3]) == session and words[0] != "Z":
                found.append(int(status.parent.name))
    return found


@pytest.mark.slow
def test_a_killed_command_leaves_no_process_and_all_finished_points(
    expected: bytes, tmp_path: Path
) -> None:
    (tmp_path / "sweep.yaml").write_text(json.dumps(SWEEP))
    words = ["sweep", str(tmp_path / "sweep.yaml"), "-o", str(tmp_path / "out"), "--workers", "2"]
    process = subprocess.Popen(
        [sys.executable, "-m", "atoll", *words], stderr=subprocess.DEVNULL, start_new_session=True
    )
    while process.poll() is None and not list(tmp_path.glob("out/sweep.json")):
        time.sleep(0.1)
    process.kill()
    process.wait()
    deadline = time.monotonic() + 120
    while processes_of(process.pid) and time.monotonic() < deadline:
        time.sleep(0.2)
    assert not processes_of(process.pid)
    atoll.sweep(tmp_path / "sweep.yaml", tmp_path / "out", workers=0, resume=True)
    assert table(tmp_path / "out") == expected


def size_of_pool(soc: atoll.Soc, made: object) -> float:
    return soc.pool_size_bytes["shared"]


@pytest.mark.slow
@pytest.mark.rtl
def test_each_model_is_built_once_for_all_machines(tmp_path: Path) -> None:
    """Each worker has a cache of its own, as on machines of their own."""
    builds = CountedBuilds(tmp_path / "watched")
    asked = small(
        axes={
            "devices.npu.params.output_lanes": [4, 8],
            "pools.shared.size": ["16 KiB", "20 KiB"],
        },
        stages={"plan": "all", "rtl": 4},
    )
    with scheduler() as (address, _), ExitStack() as ends:
        for number in range(2):
            folder = tmp_path / f"machine{number}"
            folder.mkdir()
            environment = builds.environment(cache=folder)
            ends.enter_context(worker(address, folder=folder, environment=environment))
        apart = {"pool": size_of_pool}
        found = atoll.sweep(asked, tmp_path / "out", scheduler=address, objectives=apart)
    assert [row["rtl.status"] for row in found.rows()] == ["ok"] * 4
    assert len(builds.caches()) == 2


def test_workers_that_would_answer_otherwise_are_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    real = crew.Cluster.prepare

    def prepare_with(signs: dict[str, str]) -> Any:
        def prepare(self: crew.Cluster) -> None:
            self.signs = {**self.signs, **signs}
            real(self)

        return prepare

    with scheduler() as (address, _), worker(address):
        for what, sign, words in (
            ("Atoll", "0.0.1", r"has Atoll .*, and this is 0\.0\.1"),
            ("the files of Atoll", "0" * 64, "has the files of Atoll in another version"),
            ("the package 'numpy'", "1.0", r"has the package 'numpy' .*, and this is 1\.0"),
        ):
            monkeypatch.setattr(crew.Cluster, "prepare", prepare_with({what: sign}))
            with pytest.raises(atoll.ToolchainError, match=words):
                atoll.sweep(SWEEP, tmp_path / "out", scheduler=address)
    assert not (tmp_path / "out").exists()


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


def begin_sweep(folder: Path, handler: Any = signal.default_int_handler) -> subprocess.Popen[bytes]:
    """Begin the command in a group of its own, which handles Ctrl-C as given."""
    words = ["sweep", str(folder / "sweep.yaml"), "-o", str(folder / "out"), "--workers", "2"]
    return subprocess.Popen(
        [sys.executable, "-m", "atoll", *words],
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        start_new_session=True,
        preexec_fn=lambda: signal.signal(signal.SIGINT, handler),
    )


@pytest.mark.slow
@pytest.mark.parametrize("seconds", [1.2, 1.6, 2, 4])
def test_ctrl_c_ends_a_sweep_and_loses_nothing(tmp_path: Path, seconds: float) -> None:
    """Also while workers begin, which never hear of it."""
    axes = AXES | {"memories.flash.read_latency": {"from": 1, "to": 64, "step": 1}}
    (tmp_path / "slow.py").write_text(
        "import time\ndef wait(soc, compiled):\n    time.sleep(0.03)\n    return 1\n"
    )
    asked = small(axes=axes, objectives=["cycles", "./slow.py:wait"])
    (tmp_path / "sweep.yaml").write_text(json.dumps(asked))
    process = begin_sweep(tmp_path)
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
def test_ctrl_c_stays_ignored_where_it_is(tmp_path: Path) -> None:
    """As a shell has it for what a script starts in the background."""
    (tmp_path / "sweep.yaml").write_text(json.dumps(SWEEP))
    process = begin_sweep(tmp_path, signal.SIG_IGN)
    while process.poll() is None:
        os.killpg(process.pid, signal.SIGINT)
        time.sleep(0.05)
    process.communicate()
    assert process.returncode == 0
    assert atoll.load_sweep(tmp_path / "out").finished


@pytest.mark.slow
def test_no_scheduler_there(tmp_path: Path) -> None:
    with pytest.raises(atoll.ToolchainError) as caught:
        atoll.sweep(SWEEP, tmp_path / "out", scheduler="tcp://127.0.0.1:9")
    assert caught.value.faults[0].code == "E229"
