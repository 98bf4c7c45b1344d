# SPDX-License-Identifier: Apache-2.0
"""S2: join is commutative, associative and idempotent, undefined results included."""

import random

from atoll.resolve.se_scope import SEScope, Target, default, join

TRIPLES = 10_000
TARGETS = [Target("llvm", 1), Target("llvm", 1, (("isa", "rv32im"),)), Target("reef", 12)]


def scope(chance: random.Random) -> SEScope:
    """Return a scope in which about half of the fields are free."""
    target = chance.choice([None, None, *TARGETS])
    types = [-1, target.device_type] if target else [-1, -1, 1, 12]
    number, memory_scope = chance.choice([-1, -1, 0, 1]), chance.choice(["", "", "global", "local"])
    return SEScope(chance.choice(types), number, target, memory_scope)


def test_s2_join_is_a_semilattice() -> None:
    chance = random.Random("semilattice")
    undefined = 0
    for _ in range(TRIPLES):
        one, two, three = scope(chance), scope(chance), scope(chance)
        joined = join(one, two)
        assert joined == join(two, one)
        assert join(joined, three) == join(one, join(two, three))
        assert join(one, one) == join(one, SEScope()) == one
        if joined is None:
            undefined += 1
            continue
        assert join(joined, one) == joined
        assert default(one, two) == joined
    assert TRIPLES // 10 < undefined < TRIPLES * 9 // 10


def test_s4_default_keeps_what_is_there() -> None:
    chance = random.Random("default")
    for _ in range(TRIPLES):
        left, right = scope(chance), scope(chance)
        result = default(left, right)
        assert join(result, left) == result
        assert default(result, right) == result
