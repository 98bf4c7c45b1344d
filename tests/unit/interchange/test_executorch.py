# SPDX-License-Identifier: Apache-2.0
"""Programs of ExecuTorch held against chips, and what it is told of a chip's pools."""

import json
import random
import subprocess
import sys
from collections import namedtuple
from functools import partial
from pathlib import Path
from struct import pack
from types import SimpleNamespace
from typing import Any
from unittest.mock import MagicMock

import pytest

from atoll.cli import main
from atoll.diagnostics.errors import AtollError
from atoll.interchange.executorch import Method, PlannedTensor, hold_program, read_program
from atoll.resolve import load_soc
from atoll.soc_checks import faults_of
from atoll_board.package import ONLY_IF_NAMED, Board, package_files

DATA = Path(__file__).parents[2] / "data" / "executorch"
TWO_POOLS, COUNTER = DATA / "two_pools.pte", DATA / "counter.pte"
"""Programs that `tests/executorch_networks.py` made with ExecuTorch 1.5.1."""

HEADER = """
#pragma once
#include <cstddef>
namespace executorch::runtime {
template <class T> struct Span {
  T *data;
  std::size_t size;
  Span(T *data, std::size_t size) : data(data), size(size) {}
  template <std::size_t N> Span(T (&all)[N]) : data(all), size(N) {}
};
struct HierarchicalAllocator { explicit HierarchicalAllocator(Span<Span<unsigned char>>) {} };
}
"""
"""What `memory.h` uses of ExecuTorch."""


def test_what_a_program_says() -> None:
    """A tensor with a `mem_id` of 1 lies in the first buffer."""
    (method,) = read_program(TWO_POOLS)
    assert (method.name, method.buffers, len(method.tensors)) == ("forward", (304, 304), 12)
    assert method.tensors[:2] == (
        PlannedTensor(value=1, buffer=1, offset=0, size=140, element=4),
        PlannedTensor(value=2, buffer=0, offset=288, size=4, element=4),
    )
    assert read_program(COUNTER)[0].buffers == (64,)


def test_buffers_are_pools_in_the_order_of_preference() -> None:
    held = hold_program(TWO_POOLS, load_soc("lagoon", ("pools.shared.preference=-1",)))
    assert [pool.name for pool in held.pools] == ["shared", "private"]
    assert held.text().splitlines()[:2] == [
        f"{TWO_POOLS}: forward: 304 B of the 262,144 B of pool 'shared'",
        f"{TWO_POOLS}: forward: 304 B of the 49,152 B of pool 'private'",
    ]


def test_programs_are_told_the_same(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["plan", "lagoon", str(TWO_POOLS), str(COUNTER), "--json"]) == 0
    first, second = json.loads(capsys.readouterr().out)
    assert first["methods"] == [
        {
            "method": "forward",
            "tensors": 12,
            "buffers": [
                {"pool": "private", "used_bytes": 304, "size_bytes": 49152},
                {"pool": "shared", "used_bytes": 304, "size_bytes": 262144},
            ],
        }
    ]
    assert second["not_checked"] == first["not_checked"] != []


def test_heaps_are_not_planned() -> None:
    with pytest.raises(AtollError, match="has 304 B in buffer 1, and pool 'private' has 288 B"):
        hold_program(TWO_POOLS, load_soc("lagoon", ("pools.private.heap=48864",)))


def test_a_tensor_stays_in_its_buffer(monkeypatch: pytest.MonkeyPatch) -> None:
    tensors = (
        PlannedTensor(value=3, buffer=0, offset=60, size=8, element=4),
        PlannedTensor(value=4, buffer=0, offset=60, size=None, element=None),
        PlannedTensor(value=5, buffer=2**32 - 1, offset=0, size=4, element=4),
    )
    wrong = (Method(name="forward", buffers=(64,), tensors=tensors),)
    monkeypatch.setattr("atoll.interchange.executorch.read_program", lambda _: wrong)
    with pytest.raises(AtollError) as refused:
        hold_program(COUNTER, load_soc("lagoon"))
    assert [each.message.partition(": ")[2] for each in refused.value.faults] == [
        "value 3 of method 'forward' ends at byte 68 of buffer 1, which has 64 B",
        "value 5 of method 'forward' ends at byte 4 of buffer 4294967296, which has 0 B",
    ]


def edited(tmp_path: Path, old: bytes, new: bytes) -> Path:
    """Write a copy of a program whose first `old` is `new`."""
    path = tmp_path / "edited.pte"
    path.write_bytes(TWO_POOLS.read_bytes().replace(old, new, 1))
    return path


def test_a_tensor_is_aligned_for_its_elements(tmp_path: Path) -> None:
    """A core may trap on a float that begins at an odd byte."""
    path = edited(tmp_path, pack("<I", 288), pack("<I", 285))
    with pytest.raises(AtollError) as refused:
        hold_program(path, load_soc("lagoon"))
    (fault,) = refused.value.faults
    assert fault.code == "E278"
    assert fault.message.endswith(
        "begins at byte 285 of buffer 1, which is no multiple of the 4 B of an element"
    )


def test_no_dimension_is_below_zero(tmp_path: Path) -> None:
    path = edited(tmp_path, pack("<2i", 5, 7), pack("<2i", 5, -7))
    (fault,) = faults_of(partial(hold_program, path, load_soc("lagoon")))
    assert (fault.code, "has a dimension below 0" in fault.message) == ("E051", True)
    assert str(path) in fault.message


@pytest.mark.parametrize("program", [TWO_POOLS, COUNTER])
def test_damaged_programs(program: Path, tmp_path: Path) -> None:
    chance, whole, soc = random.Random(1), program.read_bytes(), load_soc("lagoon")
    path, refused = tmp_path / "damaged.pte", 0
    for number in range(400):
        data = bytearray(whole[: chance.randrange(len(whole))] if number % 4 == 0 else whole)
        for _ in range(chance.randrange(1, 6)):
            if data:
                data[chance.randrange(len(data))] = chance.choice((0, 1, 0x7F, 0x80, 0xFF))
        path.write_bytes(data)
        faults = faults_of(partial(hold_program, path, soc))
        refused += bool(faults)
        assert {fault.code for fault in faults} <= {"E051", "E277", "E278"}
        assert all(str(path) in fault.message for fault in faults)
    assert refused > 100


def test_packages_have_them_only_if_asked(tmp_path: Path) -> None:
    board = Board(soc=load_soc("lagoon"))
    assert not {*ONLY_IF_NAMED} & package_files(board).keys()
    files = package_files(board, ["executorch"])["executorch"]
    assert sorted(files) == ["executorch/memory.h", "executorch/memory_planning.py"]
    compile(files["executorch/memory_planning.py"].data, "memory_planning.py", "exec")
    for name, data in {
        "executorch/runtime/core/hierarchical_allocator.h": HEADER.encode(),
        "memory.h": files["executorch/memory.h"].data,
        "main.cpp": b'#include "memory.h"\nint main() { atoll_pools::planned_allocator(); }\n',
    }.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_bytes(data)
    strict = ["-std=c++17", "-Wall", "-Wextra", "-Wpedantic", "-Werror", "-fsyntax-only"]
    subprocess.run(["c++", *strict, f"-I{tmp_path}", str(tmp_path / "main.cpp")], check=True)


def test_a_negative_size_is_damage(tmp_path: Path) -> None:
    data = bytearray(COUNTER.read_bytes())
    at = data.index((64).to_bytes(8, "little"))
    data[at : at + 8] = (-64).to_bytes(8, "little", signed=True)
    (tmp_path / "negative.pte").write_bytes(data)
    with pytest.raises(AtollError, match=r"E051.*a buffer has"):
        read_program(tmp_path / "negative.pte")


def test_a_tensor_that_others_placed_stays_in_its_pool(monkeypatch: pytest.MonkeyPatch) -> None:
    """The generated pass, with stand-ins for ExecuTorch's records."""
    names = ("executorch.exir.memory_planning", "executorch.exir.passes", "executorch.exir.tensor")
    for name in ("executorch", "executorch.exir", *names):
        monkeypatch.setitem(sys.modules, name, MagicMock())
    sys.modules[names[0]].MemoryAlgoResult = lambda spec_dict, bufsizes: SimpleNamespace(  # type: ignore[attr-defined]
        spec_dict=spec_dict, bufsizes=bufsizes
    )
    place = namedtuple("place", ("mem_id", "mem_obj_id", "mem_offset"))
    sys.modules[names[0]].SpecAllocResult = place  # type: ignore[attr-defined]
    files = package_files(Board(soc=load_soc("lagoon")), ["executorch"])["executorch"]
    room: dict[str, Any] = {"__name__": "memory_planning"}
    exec(files["executorch/memory_planning.py"].data, room)  # what the package has

    def tensor(size: int, mem_id: int | None, lifetime: tuple[int, int]) -> Any:
        made = MagicMock(allocated_memory=size, mem_id=mem_id, lifetime=lifetime, alignment=16)
        made.storage_base, made.shape = None, (size,)
        return made

    large, small, fixed = (
        tensor(49152, None, (0, 2)),
        tensor(64, None, (2, 3)),
        tensor(64, 2, (0, 9)),
    )
    found = room["plan_pools"](16, [large, small, fixed], SimpleNamespace(), None)
    assert [found.spec_dict[each] for each in (large, small, fixed)] == [
        (1, None, 0),
        (2, None, 0),
        (2, None, 64),
    ]
    assert found.bufsizes == [0, 49152, 128]
    with pytest.raises(ValueError, match="there is no pool for mem_id 3: 1 to 2 are"):
        room["plan_pools"](16, [tensor(64, 3, (0, 1))], SimpleNamespace(), None)
    with pytest.raises(ValueError, match="no room for a tensor of 400000 B"):
        room["plan_pools"](16, [tensor(400_000, None, (0, 1))], SimpleNamespace(), None)
