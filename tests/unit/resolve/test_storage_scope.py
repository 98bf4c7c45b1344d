# SPDX-License-Identifier: Apache-2.0
"""C1, C2: scopes are choice sets, and narrowing is a partial order on them."""

from itertools import product
from typing import Any

import pytest

from atoll.diagnostics.errors import UsageError
from atoll.ir.narrowing import verify_scopes
from atoll.ir.read_module import parse_module
from atoll.resolve import load_soc
from atoll.resolve.storage_scope import ScopeNames, narrows, parse_scope, scope_of_pool

NAMES = ScopeNames(pools=("sram", "dtcm"), stacks=("cpu.stack", "cpu.io.stack", "dsp.stack"))
MODULE = """module m

entry [] -> [] {
  allocate x: i8[4] align 16 in global.srom [sram]
}
"""


@pytest.mark.parametrize(
    ("scope", "places"),
    [
        ("global", {"stack", "workspace"}),
        ("global.workspace", {"workspace"}),
        ("global.stack", {"stack"}),
        ("global.sram", {"sram"}),
        ("cpu.stack", {"cpu.stack"}),
        ("cpu.io.stack", {"cpu.io.stack"}),
        ("local", {"registers", "stack"}),
    ],
)
def test_c1_a_scope_is_a_choice_set(scope: str, places: set[str]) -> None:
    assert parse_scope(scope, NAMES).places == places
    assert str(parse_scope(scope)) == scope


@pytest.mark.parametrize(
    ("scope", "nearest"),
    [
        ("global.srm", "global.sram"),
        ("globl", "global"),
        ("global.stak", "global.stack"),
        ("cpu.oi.stack", "cpu.io.stack"),
        ("dps.stack", "dsp.stack"),
        ("Local", "local"),
    ],
)
def test_c1_an_unknown_scope_is_an_error_with_the_nearest_name(scope: str, nearest: str) -> None:
    with pytest.raises(UsageError) as caught:
        parse_scope(scope, NAMES)
    (fault,) = caught.value.faults
    assert (fault.code, fault.message) == ("E029", f"no storage scope '{scope}'")
    assert fault.remedy is not None
    assert f"did you mean '{nearest}'?" in fault.remedy


@pytest.mark.parametrize("scope", ["", "global.", "global.a.b", "stack", "a.b.c.stack", "local.x"])
def test_c1_a_malformed_scope_is_refused_without_a_chip(scope: str) -> None:
    with pytest.raises(UsageError):
        parse_scope(scope)


def test_c1_the_names_of_a_chip_are_its_pools_and_stacks() -> None:
    names = ScopeNames.of(load_soc("lagoon"))
    assert names.stacks == ("cpu.stack",)
    assert sorted(names.pools) == ["private", "shared", "weights"]


@pytest.mark.parametrize("pool", ["stack", "workspace", "registers"])
def test_c1_a_pool_is_not_named_like_another_place(refused: Any, pool: str) -> None:
    reach = {"cpu": "rw", "npu": "rw"}
    faults = refused({f"pools.{pool}": {"memory": "sram", "role": "workspace", "reach": reach}})
    assert f"E014 'pools.{pool}': '{pool}' is a word of storage scopes and no name" in faults


def test_c1_a_program_names_only_what_the_chip_has() -> None:
    with pytest.raises(UsageError, match=r"no storage scope 'global\.srom'"):
        verify_scopes(parse_module(MODULE), NAMES)
    verify_scopes(parse_module(MODULE.replace("srom", "sram")), NAMES)


CHAINS = (
    ("global", "global.workspace", "global.sram"),
    ("global", "global.stack", "cpu.stack"),
    ("global", "global.stack", "cpu.io.stack"),
    ("local", "global.stack", "dsp.stack"),
)


@pytest.mark.parametrize("chain", CHAINS)
def test_c2_each_scope_narrows_those_before_it_and_never_widens(chain: tuple[str, ...]) -> None:
    for (early, wide), (late, narrow) in product(enumerate(chain), repeat=2):
        assert narrows(narrow, wide) is (late >= early)


def test_c2_narrowing_is_a_partial_order() -> None:
    scopes = NAMES.scopes
    for one, other in product(scopes, repeat=2):
        assert narrows(one, one)
        assert not (one != other and narrows(one, other) and narrows(other, one))
        for third in scopes:
            if narrows(one, other) and narrows(other, third):
                assert narrows(one, third)


@pytest.mark.parametrize(
    ("scope", "before"),
    [
        ("global.sram", "global.dtcm"),
        ("cpu.io.stack", "cpu.stack"),
        ("global.sram", "global.stack"),
        ("cpu.stack", "global.workspace"),
        ("local", "global"),
        ("nonsense", "global"),
    ],
)
def test_c2_siblings_do_not_narrow_each_other(scope: str, before: str) -> None:
    assert not narrows(scope, before)


def test_c2_a_planned_pool_narrows_the_workspace() -> None:
    assert scope_of_pool("sram").within(parse_scope("global.workspace"))
    assert scope_of_pool("sram") == parse_scope("global.sram")
