"""The files of packages, kind by kind and chip by chip; those of `tests/golden/bsp` apart.

What is the same for all chips is held once, in `all`. Sums of machine code are left out.
"""

import re
from collections.abc import Callable, Iterator, Mapping
from functools import cache
from pathlib import Path

import pytest
from tests.golden.bsp.test_bsp_files import model_for

from atoll.bsp.core_images import image_cores
from atoll.bsp.firmware import Part
from atoll.resolve import load_soc
from atoll_board.ethos_u import ethos_u_files
from atoll_board.package import EMITTERS, Board, package_files
from atoll_board.uart import Uart

GOLDEN = Path(__file__).parent / "board" / "files"
CHIPS: Mapping[str, tuple[str, tuple[str, ...]]] = {
    **{name: (name, ()) for name in ("lagoon", "twin", "rp2040")},
    "guarded": ("lagoon", ("devices.cpu.core=ibex", "devices.cpu.protection=true")),
}
ALL = "all"
ELSEWHERE = ("linker", "startup", "headers", "drivers", "application", "models")
"""Emitters whose files `tests/golden/bsp` has, or that write objects."""

LEFT_OUT = re.compile(r"lib/.*|selftest/constants\.c")
SUMS = re.compile(r"\b([0-9a-f]{16}|[0-9a-f]{40}|[0-9a-f]{64})\b")


def board_of(chip: str) -> Board:
    """Return a chip with a small network, a self-test and a UART; nothing is compiled."""
    name, overrides = CHIPS[chip]
    soc = load_soc(name, overrides)
    codes = {core.name: b"object" for core in image_cores(soc)}
    part = Part(interface=model_for(soc), codes=lambda: codes)
    uart = Uart(kind="ns16550", address=0x1000_0000)
    return Board(soc=soc, parts=(part,), selftest=True, uart=uart)


@cache
def texts() -> Mapping[str, Mapping[str, str]]:
    """Return the texts of each chip by path; of `ALL` those that no chip changes."""
    wanted = [name for name in EMITTERS.own if name not in ELSEWHERE]
    made = {
        chip: {
            path: SUMS.sub("<sum>", entry.data.decode())
            for files in package_files(board_of(chip), wanted).values()
            for path, entry in files.items()
            if not LEFT_OUT.fullmatch(path)
        }
        for chip in CHIPS
    }
    paths = {
        path: [chip for chip in CHIPS if path in made[chip]] for path in set().union(*made.values())
    }
    common = {
        path: made[chips[0]][path]
        for path, chips in paths.items()
        if len(chips) > 1 and len({made[chip][path] for chip in chips}) == 1
    }
    own = {
        chip: {path: text for path, text in files.items() if path not in common}
        for chip, files in made.items()
    }
    return {ALL: common, **own}


def held(folder: Path) -> Iterator[str]:
    """Yield the paths of golden files below a folder."""
    for path in folder.rglob("*"):
        if path.is_file():
            yield path.relative_to(folder).as_posix()


@pytest.mark.parametrize("chip", [ALL, *CHIPS])
def test_files_of_a_package(chip: str, golden: Callable[[Path, str], None]) -> None:
    files = texts()[chip]
    for path, text in files.items():
        (GOLDEN / chip / path).parent.mkdir(parents=True, exist_ok=True)
        golden(GOLDEN / chip / path, text)
    assert set(held(GOLDEN / chip)) == set(files), "stale golden files"


def test_files_for_the_driver_of_arm(golden: Callable[[Path, str], None]) -> None:
    """What builds Arm's driver is the same for every network, so it is held without one."""
    folder = GOLDEN.parent / "ethos_u"
    files = ethos_u_files(Board(soc=load_soc("corstone300_u55")))
    for path, entry in files.items():
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        golden(folder / path, SUMS.sub("<sum>", entry.data.decode()))
    assert set(held(folder)) == set(files), "stale golden files"
