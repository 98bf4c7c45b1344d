# SPDX-License-Identifier: Apache-2.0
"""D5, M6: code is fetched once it has arrived, and nobody writes it later."""

from pathlib import Path

import pytest

from atoll.driver.pipeline import Compiled, compile_file
from atoll.protocol import TraceEvent
from atoll.resolve import load_soc
from atoll_sim.protocol.records import AccessKind
from atoll_sim.shadow.memory import HostShadow
from atoll_sim.shadow.table import ShadowTable, shadow_table
from atoll_sim.trace.findings import name_findings

ROOT = Path(__file__).parents[3]
LOADERS = ROOT / "tests" / "data" / "loaders"
MODEL = ROOT / "examples" / "01_digits" / "digits_int8.tflite"
IMAGE = bytes(range(64))
WRITE, FETCH = AccessKind.WRITE, AccessKind.FETCH
READY = TraceEvent.READY


@pytest.fixture(scope="module", params=("copied", "hosted"))
def chip(request: pytest.FixtureRequest) -> Compiled:
    return compile_file(load_soc(LOADERS / f"{request.param}.yaml"), MODEL)


class Watched:
    """A chip whose core `owner` gets its code from `writer`."""

    def __init__(self, compiled: Compiled) -> None:
        soc = self.soc = compiled.soc
        self.owner = next(cpu for cpu in soc.cpus if cpu.load or cpu.is_held)
        self.writer = soc.host
        self.origin = self.owner.code.origin
        self.memory = bytearray(b"\xdb" * 256)
        code = {self.owner.name: IMAGE}
        self.table: ShadowTable = shadow_table(soc, [compiled.contract], code=code)
        self.shadow = HostShadow()
        assert self.shadow.load(self.table.words)
        self.shadow.look_with(self._look)

    def _look(self, address: int, size: int) -> bytes:
        at = address - self.origin
        return bytes(self.memory[at : at + size]) if 0 <= at < 256 else bytes(size)

    def touch(self, device: str, kind: AccessKind, offset: int, size: int = 4) -> None:
        if kind is WRITE:
            self.memory[offset : offset + size] = IMAGE[offset : offset + size].ljust(size, b"?")
        self.shadow.touch(
            self.table.masters.index(device), kind, self.origin + offset, size, beat=4
        )

    def found(self) -> list[tuple[str, str, str, int]]:
        named = name_findings(self.shadow.findings()[0], self.table, self.soc)
        each = [finding.violation for finding in named]
        return [(it.rule, it.device, it.pool, it.address - self.origin) for it in each]


def test_d5_m6_code_is_written_once_and_then_fetched(chip: Compiled) -> None:
    watched = Watched(chip)
    watched.touch(watched.writer, WRITE, 0, 64)
    watched.touch(watched.owner.name, FETCH, 0)
    watched.touch(watched.owner.name, FETCH, 60)
    watched.shadow.trace(READY)
    watched.touch(watched.owner.name, FETCH, 0)
    assert watched.found() == []


def test_d5_m6_what_has_not_arrived_is_not_fetched(chip: Compiled) -> None:
    watched = Watched(chip)
    place = watched.owner.code.name
    watched.touch(watched.writer, WRITE, 0, 60)
    watched.touch(watched.owner.name, FETCH, 60)
    assert watched.found() == [("read before write", watched.owner.name, place, 60)]


def test_d5_m6_code_that_is_not_the_images_is_noticed(chip: Compiled) -> None:
    watched = Watched(chip)
    watched.touch(watched.writer, WRITE, 0, 60)
    watched.shadow.trace(READY)
    place = watched.owner.code.name
    assert watched.found() == [("constant differs", watched.writer, place, 0)]


@pytest.mark.parametrize("event", ["nothing", "ready"])
def test_d5_m6_nobody_else_writes_code_and_nobody_later(chip: Compiled, event: str) -> None:
    watched = Watched(chip)
    watched.touch(watched.writer, WRITE, 0, 64)
    if event == "ready":
        watched.shadow.trace(READY)
        watched.touch(watched.writer, WRITE, 8)
    else:
        watched.touch("npu", WRITE, 8)
    (found,) = watched.found()
    assert found[0] in ("write to read-only", "device without reach")
    assert found[2:] == (watched.owner.code.name, 8)


def test_d5_m6_what_is_behind_the_image_is_not_written(chip: Compiled) -> None:
    watched = Watched(chip)
    watched.touch(watched.writer, WRITE, 64)
    assert watched.found()[0][3] == 64
