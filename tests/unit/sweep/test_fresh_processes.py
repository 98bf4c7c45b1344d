# SPDX-License-Identifier: Apache-2.0
"""Random pairs of points, over all chips and all keys: a warm process says what fresh ones do.

Fresh processes are forked off one that has imported modules and done nothing else.
"""

import functools
import gc
import json
import multiprocessing
import random
from collections.abc import Iterator, Sequence
from typing import Any

import pytest
from pydantic import BaseModel
from tests.unit.sweep.sweeps import DIGITS
from tests.unit.sweep.test_every_key import answer, values_of

import atoll
from atoll.description.share import shared_folder, shipped_names
from atoll.diagnostics.errors import AtollError
from atoll.utils.remember import count_results

PAIRS, PARTS = 500, 20
Point = tuple[str, ...]
Pair = tuple[str, Point, Point]


def changes_of(value: Any, key: tuple[str, ...] = ()) -> Iterator[str]:
    """Yield each key below a model with other values: what it may be, or its examples."""
    if isinstance(value, BaseModel):
        for name, field in type(value).model_fields.items():
            found = getattr(value, name)
            if found is None:
                yield from (f"{'.'.join((*key, name))}={each}" for each in field.examples or ())
            elif key or name not in ("soc", "version", "extends"):
                yield from changes_of(found, (*key, name))
    elif isinstance(value, dict):
        for name, item in value.items():
            yield from changes_of(item, (*key, name))
    else:
        yield from (f"{'.'.join(key)}={json.dumps(each)}" for each in values_of(value))


def draw(soc: atoll.Soc, changes: Sequence[str], drawn: random.Random) -> str:
    """Return a change, mostly one that the chip can have."""
    while True:
        change = drawn.choice(changes)
        try:
            soc.with_([change])
        except AtollError:
            if drawn.random() < 0.9:
                continue
        return change


def pairs(part: int) -> list[Pair]:
    """Return a share of the pairs: two points of a chip, which have some changes in common."""
    drawn, found = random.Random(part), list[Pair]()
    for _ in range(PAIRS // PARTS):
        chip = drawn.choice(shipped_names(shared_folder("socs")))
        soc = atoll.load_soc(chip)
        source = soc._resolved.source
        assert source is not None
        changes = sorted(changes_of(source.soc))
        first, second, third = (draw(soc, changes, drawn) for _ in range(3))
        other = (first, second, third) if drawn.random() < 0.5 else (third,)
        found.append((chip, (first, second), other))
    return found


def estimate_elsewhere(pair: Pair, network: atoll.Network) -> object:
    """Return what the program of the first point takes on the chip of the second one."""
    chip, *points = pair
    try:
        one, other = (atoll.load_soc(chip).with_(list(each)) for each in points)
        return atoll.estimate(atoll.compile(one, network), soc=other).network.to_json()
    except (AtollError, ValueError) as error:
        return str(error)


def ask(pair: Pair, number: int) -> object:
    """Return what a pair's points are, or what the program of one takes on the other."""
    network = atoll.load_network(DIGITS)
    if number == 2:
        return estimate_elsewhere(pair, network)
    return answer(atoll.load_soc(pair[0]), network, list(pair[1 + number]))


def count_cached() -> int:
    """Return how many results the caches of functions hold."""
    caches = [each for each in gc.get_objects() if isinstance(each, functools._lru_cache_wrapper)]
    own = [each for each in caches if str(each.__module__).startswith("atoll")]
    assert own, "there are caches to look into"
    return sum(each.cache_info().currsize for each in own)


CACHED_AT_IMPORT = count_cached()


def ask_first(asked: tuple[Pair, int]) -> object:
    """Return the same as the first thing that a process does after imports."""
    assert not count_results(), "no table has anything"
    assert count_cached() == CACHED_AT_IMPORT, "nothing but imports has happened"
    return ask(*asked)


def fresh(asked: Sequence[tuple[Pair, int]]) -> list[object]:
    """Return answers, each of a process of its own."""
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload([__name__, "atoll.soc_checks"])
    with context.Pool(1, maxtasksperchild=1) as processes:
        return processes.map(ask_first, asked, chunksize=1)


@pytest.mark.slow
@pytest.mark.parametrize("part", range(PARTS))
def test_pairs_of_points_are_as_in_fresh_processes(part: int) -> None:
    asked = [(pair, number) for pair in pairs(part) for number in (0, 1, 2)]
    warm = [ask(*each) for each in asked]
    assert not all(isinstance(each, str) for each in warm), "some are chips"
    for each, one, other in zip(asked, warm, fresh(asked), strict=True):
        assert one == other, each


def test_keys_are_those_of_the_model() -> None:
    source = atoll.load_soc("lagoon")._resolved.source
    assert source is not None
    keys = {each.partition("=")[0] for each in changes_of(source.soc)}
    assert {"devices.npu.clock", "memories.flash.read_latency", "pools.shared.preference"} <= keys
    assert len(keys) > 50
