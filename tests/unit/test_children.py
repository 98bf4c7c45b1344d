# SPDX-License-Identifier: Apache-2.0
"""Programs that Atoll runs end with it, in time, and leave nothing behind."""

import ast
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path

import pytest
from tests.effort import in_gate

from atoll.diagnostics.errors import UsageError
from atoll.utils.children import TimeLimitError, end_all, run, start, time_limit
from atoll.utils.held import held_file, held_folder
from atoll.utils.scratch import scratch_folder, temporary_folder
from atoll.utils.workers import side_by_side

ROOT = Path(__file__).parents[2]
SECONDS_TO_END = 5.0

GRANDCHILDREN = """
import os, subprocess, sys, time
kinds = {"plain": {}, "group": {"process_group": 0}, "session": {"start_new_session": True}}
for kind, options in kinds.items():
    child = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(600)"], **options)
    open(os.path.join(sys.argv[1], kind), "w").write(str(child.pid))
open(os.path.join(sys.argv[1], "self"), "w").write(str(os.getpid()))
time.sleep(600)
"""
STUBBORN = "import signal, time; signal.signal(signal.SIGTERM, signal.SIG_IGN); time.sleep(600)"
PARENT = """
import sys
from pathlib import Path
from atoll.utils.children import run
from atoll.utils.scratch import temporary_folder
with temporary_folder() as folder:
    (folder / "work").write_text("half done")
    run([sys.executable, "-c", *sys.argv[1:]])
"""


def eventually(act: Callable[[], bool], seconds: float = 30.0) -> bool:
    end = time.monotonic() + seconds
    while not act():
        if time.monotonic() > end:
            return False
        time.sleep(0.05)
    return True


def lives(process: int) -> bool:
    try:
        state = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[0]
    except OSError:
        return False
    return state != "Z"


def numbers(folder: Path) -> list[int]:
    names = ("plain", "group", "session", "self")
    written = [folder / name for name in names]
    assert eventually(lambda: all(p.is_file() and p.read_text() for p in written))
    return [int(path.read_text()) for path in written]


@pytest.fixture
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("ATOLL_CACHE", str(tmp_path / "cache"))
    return tmp_path / "cache"


def test_a_program_says_how_it_ended(tmp_path: Path) -> None:
    program = "import os, sys; print(os.getcwd()); print('bad', file=sys.stderr); sys.exit(3)"
    done = run([sys.executable, "-c", program], folder=tmp_path)
    assert (done.returncode, done.stdout, done.stderr) == (3, f"{tmp_path}\n", "bad\n")
    killed = run([sys.executable, "-c", "import os; os.kill(os.getpid(), 11)"])
    assert killed.returncode == -signal.SIGSEGV


def test_a_program_that_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError, match="no-such-program"):
        run(["no-such-program"])
    (tmp_path / "text").write_text("no program")
    with pytest.raises(PermissionError):
        run([str(tmp_path / "text")])
    with pytest.raises(FileNotFoundError):
        run(["true"], folder=tmp_path / "nowhere")


def test_bytes_that_are_no_text_are_no_error() -> None:
    assert run(["printf", r"a\377b"]).stdout == "a\ufffdb"


@pytest.mark.parametrize("program", in_gate([GRANDCHILDREN, STUBBORN], 1))
def test_a_time_limit_ends_all(program: str, tmp_path: Path) -> None:
    with pytest.raises(TimeLimitError) as caught:
        run([sys.executable, "-c", program, str(tmp_path)], folder=tmp_path, seconds=3.0)
    (fault,) = caught.value.faults
    assert fault.code == "E100"
    name = Path(sys.executable).name
    assert fault.message.startswith(f"'{name}' did not end within 3 s and was stopped; it ran in")
    assert str(tmp_path) in fault.message
    assert "ATOLL_TIME_LIMIT=6" in (fault.remedy or "")
    if program is GRANDCHILDREN:
        assert not any(map(lives, numbers(tmp_path)))


def test_the_remedy_of_a_time_limit_works(monkeypatch: pytest.MonkeyPatch) -> None:
    command = [sys.executable, "-c", "import time; time.sleep(1)"]
    with pytest.raises(TimeLimitError):
        run(command, seconds=0.2)
    monkeypatch.setenv("ATOLL_TIME_LIMIT", "60")
    assert run(command, seconds=0.2).returncode == 0


@pytest.mark.parametrize("text", ["0", "-1", "soon", "inf", "nan", "1e12"])
def test_a_time_limit_that_is_none(text: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ATOLL_TIME_LIMIT", text)
    with pytest.raises(UsageError, match=f"'{text}', which is not a number of seconds") as caught:
        time_limit(1.0)
    assert caught.value.faults[0].code == "E101"


def test_what_a_program_leaves_behind_ends_with_it(tmp_path: Path) -> None:
    program = GRANDCHILDREN.replace("time.sleep(600)\n", "")
    assert run([sys.executable, "-c", program, str(tmp_path)]).returncode == 0
    assert not any(map(lives, numbers(tmp_path)))


def test_leaving_the_block_ends_the_program(tmp_path: Path) -> None:
    with start([sys.executable, "-c", GRANDCHILDREN, str(tmp_path)]):
        processes = numbers(tmp_path)
    assert not any(map(lives, processes))


@pytest.mark.parametrize("ending", [signal.SIGKILL, signal.SIGTERM])
def test_a_killed_parent_takes_all_children_along(
    ending: signal.Signals, tmp_path: Path, cache: Path
) -> None:
    arguments = [sys.executable, "-c", PARENT, GRANDCHILDREN, str(tmp_path)]
    with subprocess.Popen(arguments) as parent:
        processes = numbers(tmp_path)
        assert all(map(lives, processes))
        parent.send_signal(ending)
    assert eventually(lambda: not any(map(lives, processes)), SECONDS_TO_END)
    (left,) = (cache / "scratch").iterdir()
    assert list(left.rglob("work")) != []
    with temporary_folder():
        (own,) = (cache / "scratch").iterdir()
        assert own == scratch_folder() != left


def test_a_program_that_is_ended_was_killed(tmp_path: Path) -> None:
    with start([sys.executable, "-c", GRANDCHILDREN, str(tmp_path)]) as child:
        numbers(tmp_path)
        child.end()
        assert child.wait() == -signal.SIGKILL
        assert not child.over


def test_all_can_be_ended_at_once() -> None:
    ends = []

    def sleep() -> None:
        ends.append(run(["sleep", "600"]).returncode)

    threads = [threading.Thread(target=sleep) for _ in range(3)]
    for thread in threads:
        thread.start()

    def ended() -> bool:
        end_all()
        return len(ends) == 3

    assert eventually(ended)
    for thread in threads:
        thread.join()
    assert ends == [-signal.SIGKILL] * 3


def test_an_interruption_ends_work_that_threads_share() -> None:
    begun: list[int] = []

    def act(number: int) -> int:
        begun.append(number)
        return run(["sleep", "600"] if number else ["true"]).returncode

    results = side_by_side(act, range(9), 2)
    assert next(results) == 0
    began = time.monotonic()
    with pytest.raises(KeyboardInterrupt):
        results.throw(KeyboardInterrupt)  # type: ignore[attr-defined]
    assert time.monotonic() - began < SECONDS_TO_END
    assert len(begun) <= 4, "what had not begun never begins"


def test_what_is_held_stays_and_what_is_not_goes(tmp_path: Path) -> None:
    (tmp_path / ".a.atoll-left").mkdir()
    (tmp_path / ".a.atoll-left" / "file").write_text("x")
    (tmp_path / ".a.atoll-file").write_text("x")
    for name in (".ab.atoll-other", ".a.txt", "a"):
        (tmp_path / name).write_text("not ours")
    with held_folder(tmp_path, ".a") as first, held_file(tmp_path, ".a") as second:
        first.joinpath("inside").write_text("x")
        began = time.monotonic()
        with held_folder(first, ".b"), held_file(first, ".c"):
            assert time.monotonic() - began < 1.0, "a held folder is no obstacle to its holder"
        with held_folder(tmp_path, ".a") as third:
            assert first.is_dir()
            assert second.is_file()
            assert third.is_dir()
    assert {path.name for path in tmp_path.iterdir()} == {".ab.atoll-other", ".a.txt", "a"}


def test_temporary_files_of_programs_are_in_the_scratch_folder(cache: Path) -> None:
    done = run([sys.executable, "-c", "import tempfile; print(tempfile.gettempdir())"])
    assert Path(done.stdout.strip()) == scratch_folder()
    assert scratch_folder().parent == cache / "scratch"


def test_nothing_else_starts_processes() -> None:
    starters = {"subprocess", "multiprocessing", "pty", "posix_spawn", "popen", "fork", "system"}
    allowed = {"children.py", "child_guard.py", "crew.py"}  # Dask starts the workers of a sweep
    folders = [ROOT / name for name in ("compiler", "hw_sim", "examples")]
    for path in (path for folder in folders for path in folder.rglob("*.py")):
        text = path.read_text()
        if not any(word in text for word in starters):
            continue
        tree = ast.parse(text)
        names = {each.name for n in ast.walk(tree) if isinstance(n, ast.Import) for each in n.names}
        names |= {n.module or "" for n in ast.walk(tree) if isinstance(n, ast.ImportFrom)}
        names |= {
            n.attr
            for n in ast.walk(tree)
            if isinstance(n, ast.Attribute) and isinstance(n.value, ast.Name) and n.value.id == "os"
        }
        is_users = "skeleton" in path.parts  # tests of a package that a user begins with
        assert is_users or path.name in allowed or not names & starters, path


def test_no_file_of_the_parent_reaches_a_program(tmp_path: Path) -> None:
    with (tmp_path / "open").open("w") as file:
        os.set_inheritable(file.fileno(), True)
        listed = run(["ls", "-l", "/proc/self/fd"]).stdout
    assert str(tmp_path) not in listed
    assert "socket" not in listed
