# SPDX-License-Identifier: Apache-2.0
"""Files that a sweep is made of: found by their names, and laid out in another folder."""

import importlib
import json
import pickle
import sys
import time
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest
from tests.unit.sweep.sweeps import DIGITS, small

from atoll_sweep import crew, on_worker
from atoll_sweep.api import sweep_of
from atoll_sweep.asker import Asker
from atoll_sweep.crew import Pace
from atoll_sweep.files import files_of, lay_out, named_below
from atoll_sweep.installed import difference, names_in
from atoll_sweep.question import question_of


def found(folder: Path, **keys: Any) -> list[str]:
    files = files_of(sweep_of(small(**keys), folder), [])
    return sorted(str(Path(path).relative_to(folder)) for path in files)


def write(folder: Path, texts: dict[str, str]) -> None:
    for name, text in texts.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)


def test_files_that_name_each_other(tmp_path: Path) -> None:
    write(
        tmp_path,
        {
            "score.py": "import helper, os\nfrom beside.inner import one\nT = 'data/table.csv'\n",
            "helper.py": "from score import price\n",
            "beside/__init__.py": "",
            "beside/inner.py": "",
            "data/table.csv": "/etc/hostname, score.log",
            "score.log": "is no file of the sweep",
            "own.yaml": "{rtl: {sources: [rtl/files.f, includes/]}, driver: ./driver.c, no: no.c}",
            "rtl/files.f": "+incdir+headers one.sv -f more.f",
            "rtl/more.f": "two.sv",
            "rtl/one.sv": '`include "one.svh"\n// "two.txt"',
            "rtl/two.sv": "",
            "rtl/one.svh": "",
            "includes/any.svh": "",
            "driver.c": '#include "driver.h"\n#include <stdio.h>\n',
            "driver.h": "",
        },
    )
    keys = {
        "axes": {"devices.npu.accelerator": ["reef", "{kind: npu, accelerator: ./own.yaml}"]},
        "objectives": ["./score.py:price"],
    }
    assert found(tmp_path, **keys) == [
        *("beside/__init__.py", "beside/inner.py", "data/table.csv", "driver.c", "driver.h"),
        *("helper.py", "includes/any.svh", "own.yaml", "rtl/files.f", "rtl/more.f", "rtl/one.sv"),
        *("rtl/one.svh", "rtl/two.sv", "score.py"),
    ]


def test_networks_travel_once(tmp_path: Path) -> None:
    (tmp_path / "digits.tflite").write_bytes(DIGITS.read_bytes())
    for networks in (["digits.tflite"], {"it": "digits.tflite"}):
        assert found(tmp_path, networks=networks) == []


def test_absolute_names_in_another_folder(tmp_path: Path) -> None:
    files = {
        "/a/b.yaml": b"{x: /a/b.yaml, y: '/a/c.py:f', z: /a/b.yaml.old}",
        "/a/c.py": b"/a/c.py",
    }
    lay_out(files, tmp_path)
    text = (tmp_path / "a" / "b.yaml").read_text()
    assert text == f"{{x: {tmp_path}/a/b.yaml, y: '{tmp_path}/a/c.py:f', z: /a/b.yaml.old}}"
    assert (tmp_path / "a" / "c.py").read_text() == "/a/c.py"
    assert named_below("see /x/a/b.yaml, /a/b.yaml.", files, Path("/t")) == (
        "see /x/a/b.yaml, /t/a/b.yaml."
    )


def test_a_question_elsewhere_reads_nothing_of_its_author(tmp_path: Path) -> None:
    here, there = tmp_path / "here", tmp_path / "there"
    here.mkdir()
    write(here, {"chip.yaml": "{extends: ../base.yaml, soc: mine}"})
    write(tmp_path, {"base.yaml": "extends: lagoon\nsoc: base\n"})
    question = question_of(sweep_of(small(soc=f"{here}/chip.yaml"), here), {})
    moved = question.lay_out(there)
    (here / "chip.yaml").unlink()
    (tmp_path / "base.yaml").unlink()
    sweep = moved.sweep()
    assert sweep.model.soc == f"{there}{here}/chip.yaml"
    assert sweep.folder == Path(f"{there}{here}")
    with moved.open_texts():
        assert question_of(sweep, {}).networks == question.networks


def test_what_must_be_installed() -> None:
    words = [("emitter", "mine.emitters:Emitter"), ("pack", "./own.py:pack"), ("packages", "cells")]
    assert {"cells", "mine"} <= set(names_in([*words, ("emitter", "atoll_sim.x:Y")]))
    assert not {"own", "atoll_sim", "./own"} & set(names_in(words))
    assert difference({"a": "1", "b": "2"}, {"a": "1", "b": "2", "c": "3"}) == ""
    assert difference({"a": "1"}, {"a": "2"}) == "has a 2, and this is 1"
    assert difference({"a": "1"}, {}) == "lacks a"
    assert difference({"a": "0" * 64}, {"a": "1" * 64}) == "has a in another version"


def test_functions_of_own_modules_travel(tmp_path: Path, monkeypatch: Any) -> None:
    monkeypatch.syspath_prepend(tmp_path)
    text = "FACTOR = 3\ndef price(soc, made):\n    return FACTOR\n"
    write(tmp_path, {"of_author.py": text})
    price = importlib.import_module("of_author").price
    functions: dict[str, Any] = {"price": price, "dumps": json.dumps}
    near, far = crew._pack(functions, far=False), crew._pack(functions, far=True)
    del sys.modules["of_author"]
    (tmp_path / "of_author.py").unlink()
    importlib.invalidate_caches()
    with pytest.raises(ModuleNotFoundError):
        pickle.loads(near)
    assert pickle.loads(far)["price"](None, {}) == 3
    assert pickle.loads(far)["dumps"] is json.dumps


class Scheduler:
    """A client of a scheduler that has Dask's dashboard, or only says so, or none."""

    dashboard_link = "http://10.0.0.1:8787/status"

    def __init__(self, *services: str, bokeh: bool = False) -> None:
        self._services, self._bokeh = dict.fromkeys(services, 8787), bokeh

    def scheduler_info(self, n_workers: int) -> dict[str, Any]:
        return {"services": self._services}

    def run_on_scheduler(self, function: Any, name: str) -> object:
        assert name == "bokeh"
        return self if self._bokeh else None


def test_the_dashboard_is_named_where_there_is_one() -> None:
    assert crew._dashboard(Scheduler()) is None
    assert crew._dashboard(Scheduler("dashboard")) is None
    link = crew._dashboard(Scheduler("dashboard", bokeh=True))
    assert link == "http://10.0.0.1:8787/status"


class Importing:
    """A client whose workers need long for what they run first."""

    def __init__(self) -> None:
        self._seconds = [0.0, 0.3]

    def wait_for_workers(self, count: int, timeout: float) -> None:
        """They are there."""

    def run(self, function: Any) -> None:
        time.sleep(self._seconds.pop())

    def submit(self, function: Any, asked: object, key: str) -> object:
        return asked


def test_imports_of_workers_are_no_slow_messages(tmp_path: Path) -> None:
    cluster = crew.Cluster(Importing(), question_of(sweep_of(small(), tmp_path), {}), b"")
    cluster.prepare()
    assert cluster.trip < 0.2


def simulate(points: int, workers: int, seconds: float, trip: float) -> float:
    """Return the share of the time in which workers compute, if messages take so long."""
    pace, busy_until, now = Pace(5 * trip, 4), [0.0] * workers, 0.0
    coming: list[tuple[float, int]] = []
    waiting = points
    while waiting or coming:
        while waiting and len(coming) < 2 * workers:
            size = pace.size_of(waiting, workers)
            waiting -= size
            worker = min(range(workers), key=lambda one: busy_until[one])
            busy_until[worker] = max(busy_until[worker], now + trip) + size * seconds
            coming.append((busy_until[worker] + 2 * trip, size))
        now, size = min(coming)
        coming.remove((now, size))
        pace.learn(size, size * seconds)
    return points * seconds / workers / now


def test_batches_keep_workers_busy_where_messages_are_slow() -> None:
    for trip in (0.001, 0.05, 0.2, 0.5):
        seconds = 60 + 60 * trip
        assert simulate(round(seconds * 2 / 0.01), 2, 0.01, trip) > 0.9, trip
    assert simulate(200, 2, 0.01, 0.2) > 0.3, "the last batches are not many small ones"
    assert 2 * simulate(50, 2, 0.005, 0.2) > simulate(50, 1, 0.005, 0.2), "a few, on both"


def test_a_model_of_another_machine_is_not_built(tmp_path: Path, monkeypatch: Any) -> None:
    monkeypatch.setenv("ATOLL_CACHE", str(tmp_path))
    monkeypatch.setattr("atoll_sim.build.verilator._build", None)
    asker = Asker(question_of(sweep_of(small(), tmp_path), {}))
    name = asker.name_of_model(0, "rtl")
    assert name
    assert asker.name_of_model(0, "rtl") != asker.name_of_model(0, "iss")
    asked = on_worker.Asked("question", asker.question, b"", {})
    here = on_worker._Here(asker, TemporaryDirectory(dir=tmp_path))
    monkeypatch.setitem(on_worker._questions, "question", here)
    on_worker.answer(asked, [], "rtl", on_worker.Model(name, ("another", "system"), b"other"))
    assert not list(tmp_path.rglob("model"))
    on_worker.answer(asked, [], "rtl", on_worker.Model(name, on_worker.system(), b"a model"))
    found = on_worker.build_model(asked, 0, "rtl")
    assert found == on_worker.Model(name, on_worker.system(), b"a model")
    on_worker.forget("question")
    assert not Path(here.folder.name).exists()
