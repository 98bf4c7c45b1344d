# SPDX-License-Identifier: Apache-2.0
"""S1 to S4: scopes, their join and their default."""

import gc
from typing import Any

import pytest

from atoll.diagnostics.errors import PlacementError
from atoll.resolve.se_scope import ScopeTable, SEScope, Target, default, join

CUDA, CPU = 2, 1
GPU_TARGET = Target("cuda", CUDA)
LLVM = Target("llvm", CPU)


def test_s1_all_free() -> None:
    assert str(SEScope()) == "SEScope(?)"


def test_s1_prints_what_is_given() -> None:
    scope = SEScope(CPU, 3, Target("llvm", CPU, (("isa", "rv32imc"),)), "local")
    assert str(scope) == (
        "SEScope(device_type=cpu, virtual_device_id=3, target=llvm -isa=rv32imc,"
        " memory_scope=local)"
    )
    assert str(SEScope(virtual_device_id=0)) == "SEScope(virtual_device_id=0)"


def test_s1_target_of_another_device_type_is_refused() -> None:
    with pytest.raises(PlacementError, match="for device type 2, not for cpu") as caught:
        SEScope(CPU, target=GPU_TARGET)
    assert caught.value.faults[0].code == "E047"


def test_s1_target_implies_its_device_type() -> None:
    assert SEScope(target=LLVM).device_type == CPU


@pytest.mark.parametrize(
    ("left", "right", "joined"),
    [
        (
            SEScope(CUDA, 3),
            SEScope(CUDA, -1, GPU_TARGET, "global"),
            SEScope(CUDA, 3, GPU_TARGET, "global"),
        ),
        (
            SEScope(CPU, -1, LLVM, ""),
            SEScope(-1, 3, None, "local"),
            SEScope(CPU, 3, LLVM, "local"),
        ),
        (SEScope(CUDA), SEScope(CPU), None),
        (SEScope(virtual_device_id=3), SEScope(virtual_device_id=4), None),
        (SEScope(memory_scope="local"), SEScope(memory_scope="global"), None),
        (SEScope(target=LLVM), SEScope(target=Target("c", CPU)), None),
        (SEScope(target=LLVM), SEScope(CUDA), None),
    ],
)
def test_s2_vectors(left: SEScope, right: SEScope, joined: SEScope | None) -> None:
    assert join(left, right) == joined
    assert join(right, left) == joined


def test_s3_targets_compare_by_what_they_say() -> None:
    one, other = Target("llvm", CPU, (("isa", "a"),)), Target("llvm", CPU, (("isa", "a"),))
    assert one is not other
    assert join(SEScope(target=one), SEScope(target=other)) == SEScope(target=one)


def test_s3_scopes_are_held_once_per_chip(chip: Any) -> None:
    table = ScopeTable(chip())
    assert table.of("cpu") is table.of("cpu")
    assert table.intern(SEScope(CPU, 0, table.of("cpu").target)) is table.of("cpu")
    assert table.of("cpu") is not table.of("cpu", "local")


def test_s3_a_thousand_builds_leave_nothing_behind(chip: Any) -> None:
    soc = chip()
    gc.collect()
    for number in range(1000):
        assert ScopeTable(soc).of("cpu", f"scope{number}").memory_scope
    gc.collect()
    held = (each for each in gc.get_objects() if type(each) is SEScope)
    assert sum(each.memory_scope.startswith("scope") for each in held) < 100


def test_s4_default_takes_a_target_only_for_its_device_type() -> None:
    assert default(SEScope(CPU), SEScope(target=GPU_TARGET)) == SEScope(CPU)
    assert default(SEScope(CPU), SEScope(CPU, 1, LLVM, "x")) == SEScope(CPU, 1, LLVM, "x")
    assert default(SEScope(), SEScope(CUDA, 2)) == SEScope(CUDA, 2)


def test_s1_devices_of_a_chip_have_full_scopes(chip: Any) -> None:
    scopes = ScopeTable(chip()).devices()
    assert str(scopes["cpu"]) == (
        "SEScope(device_type=cpu, virtual_device_id=0, target=llvm -isa=rv32imc)"
    )
    assert str(scopes["npu"]).startswith(
        "SEScope(device_type=ext_dev, virtual_device_id=0, target=reef"
    )
